// SPDX-License-Identifier: MIT
// Which scenes viewers may send: what a scene reads is up to whoever started the program.
#ifndef YW_APP_SERVER_SCENE_GUARD_H
#define YW_APP_SERVER_SCENE_GUARD_H

#include "yawara/base.h"

/// YW_OK if a viewer's scene can name no file that `own`, the scene that the program was started
/// with, does not name.
yw_status scene_guard_check(const char* own, const char* scene, yw_error* error);

#endif
