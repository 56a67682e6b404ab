// SPDX-License-Identifier: MIT
// Serves the page, and over a WebSocket what an engine shows. Needs libwebsockets.
#ifndef YW_APP_SERVER_SERVER_H
#define YW_APP_SERVER_SERVER_H

#include "server/engine.h"
#include "server/scene_files.h"

typedef struct server_def {
  const char* page;   ///< folder of the page
  const char* host;   ///< address to listen at; NULL: loopback only
  int32_t port;       ///< 0: any free one
  const char* query;  ///< of the address that is printed, e.g. "view=live"; "" for none
  bool open;          ///< opens a browser, where there is one

  const char* scene;         ///< JSON for the page: the scene to run there; NULL: none
  const scene_files* files;  ///< that it reads

  void (*engine)(const engine_def* def);  ///< runs in a thread of its own; NULL: none
  engine_def settings;                    ///< of the engine, without its mailbox
} server_def;

/// True if the program was built with libwebsockets.
bool server_is_built(void);
/// Prints the address and serves until interrupted. Returns the exit code.
int server_run(const server_def* def);

#endif
