// SPDX-License-Identifier: MIT
// What a server shows besides the page: a scene that the program simulates, or a run on disk. An
// engine runs in a thread of its own until its mailbox is stopped.
#ifndef YW_APP_SERVER_ENGINE_H
#define YW_APP_SERVER_ENGINE_H

#include "core.h"
#include "server/mailbox.h"

typedef struct engine_def {
  core* core;           ///< with the scene or the run open; keeps_arrays is set
  const char* name;     ///< of the scene
  const char* path;     ///< of the scene file, or of the run folder
  const char* text;     ///< of the scene
  const char* changes;  ///< to the scene, as for core_open
  mailbox* mail;
} engine_def;

/// Simulates while somebody watches. Viewers share one world: each can pause, step, restart, change
/// parameters and grab, but only one can hold something at a time.
void engine_simulate(const engine_def* def);
/// Sends each viewer the frames that it asks for, and says how many there are while a run grows.
void engine_play(const engine_def* def);

#endif
