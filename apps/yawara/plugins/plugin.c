// SPDX-License-Identifier: MIT
#include "plugins/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "yawara/extend/error.h"

// From the folder of the program to that of libraries, as installed.
#ifndef YW_LIBRARY_FOLDER
#define YW_LIBRARY_FOLDER "../lib"
#endif

void* plugin_open(const char* file, bool global) {
  static const char* const folders[] = {"", "../", YW_LIBRARY_FOLDER "/"};
  int flags = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  char* end = strrchr(path, '/');
  for (size_t i = 0; end && i < sizeof folders / sizeof *folders; ++i) {
    char* name = end + 1;
    snprintf(name, sizeof path - (size_t)(name - path), "%s%s", folders[i], file);
    if (access(path, R_OK) == 0) return dlopen(path, flags);
  }
  return dlopen(file, flags);
}

yw_status plugin_find(const char* file, const char* function, void* out, yw_error* error) {
  void* library = plugin_open(file, false);
  if (!library) {
    return yw_fail(error, YW_ERR_IO, "%s, which lies beside the program, cannot be opened: %s",
                   file, dlerror());
  }
  void* symbol = dlsym(library, function);
  if (!symbol) {
    return yw_fail(error, YW_ERR_INVALID, "%s is of another version of yawara; build both together",
                   file);
  }
  memcpy(out, &symbol, sizeof symbol);
  return YW_OK;
}
