// SPDX-License-Identifier: MIT
// Poses and paint in the world that the program simulates. One viewer at a time makes them; the
// others look on.
#ifndef YW_APP_SERVER_WORKBENCH_H
#define YW_APP_SERVER_WORKBENCH_H

#include "server/audience.h"

/// Zero-initialised: nobody makes anything.
typedef struct workbench {
  uint32_t viewer;      ///< who does; 0: nobody
  int32_t last_handle;  ///< the handle of the pose that was made last
} workbench;

bool workbench_is_tool(command_kind kind);
/// Does what a tool asks for, and answers its viewer: nobody else is making anything. Failures are
/// told to the viewer too.
void workbench_obey(workbench* w, audience* a, const viewer_command* c);
/// Ends what is being made, and starts the scene again if something was.
void workbench_clear(workbench* w, audience* a);

#endif
