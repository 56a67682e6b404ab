// SPDX-License-Identifier: MIT
// Parts of the program in libraries of their own, opened where they are needed: what they are
// linked with takes longer to load than most commands take.
#ifndef YW_APP_PLUGINS_PLUGIN_H
#define YW_APP_PLUGINS_PLUGIN_H

#include <stdbool.h>

#include "yawara/base.h"

// Names of their functions end with the version of the program that they belong to.
#define PLUGIN_NAME_OF(name, major, minor, patch) name##_##major##_##minor##_##patch
#define PLUGIN_NAME_WITH(name, major, minor, patch) PLUGIN_NAME_OF(name, major, minor, patch)
#define PLUGIN_NAME(name) \
  PLUGIN_NAME_WITH(name, YW_VERSION_MAJOR, YW_VERSION_MINOR, YW_VERSION_PATCH)
#define PLUGIN_TEXT_OF(text) #text
#define PLUGIN_TEXT(text) PLUGIN_TEXT_OF(text)
/// What defines such a function is compiled with everything else hidden.
#define PLUGIN_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// Opens a library by the name of its file: beside the program or in the folder above (tests),
/// where libraries are installed, or where the system looks. global: others that it opens may use
/// its symbols. NULL: dlerror says why.
void* plugin_open(const char* file, bool global);

/// Puts the address of a function of a library (its name as PLUGIN_TEXT(PLUGIN_NAME(name))) into
/// `out`, a pointer to a pointer to that kind of function. The library stays open.
yw_status plugin_find(const char* file, const char* function, void* out, yw_error* error);

#ifdef __cplusplus
}
#endif
#endif
