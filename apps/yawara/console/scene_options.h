// SPDX-License-Identifier: MIT
// Options of every command that opens a scene: --set, --threads, --simd, --device.
#ifndef YW_APP_CONSOLE_SCENE_OPTIONS_H
#define YW_APP_CONSOLE_SCENE_OPTIONS_H

#include "console/options.h"
#include "console/starter.h"
#include "yawara/yawara.h"

typedef struct scene_options {
  option_list set;
  int32_t threads;
  const char* simd;
  const char* device;
  starter_options model;  ///< for models instead of scenes
} scene_options;

#define SCENE_OPTIONS(target)                                                                    \
  {"set",                                                                                        \
   's',                                                                                          \
   OPTION_LIST,                                                                                  \
   &(target)->set,                                                                               \
   "PATH=VALUE",                                                                                 \
   "change a value of the scene, e.g. bodies[0].velocity[1]=3",                                  \
   0,                                                                                            \
   0},                                                                                           \
      {"threads", 't', OPTION_INT, &(target)->threads, "N", "threads (default: one per core)",   \
       0,         256},                                                                          \
      {"device",                                                                                 \
       0,                                                                                        \
       OPTION_TEXT,                                                                              \
       &(target)->device,                                                                        \
       "NAME",                                                                                   \
       "cuda: bodies of match, plastic and fem on an NVIDIA GPU, same bits (default: cpu)",      \
       0,                                                                                        \
       0},                                                                                       \
  {                                                                                              \
    "simd", 0, OPTION_TEXT, &(target)->simd, "LEVEL", "plain, avx2, avx512 (default: the best)", \
        0, 0                                                                                     \
  }

/// Checks the options and reads the scene, or makes one of a model. *text (may be NULL) gets the
/// text of a scene made here, freed with yw_mem_free(NULL, ...), or NULL. Returns -1 to continue,
/// or the exit code.
int scene_options_read(const scene_options* options, const char* path, yw_scene** out, char** text,
                       yw_error* warning, yw_error* error);

#define CACHE_FOLDER_MAX 1024
/// $XDG_CACHE_HOME/yawara or ~/.cache/yawara, where results of long computations are kept; NULL if
/// neither is known.
const char* cache_folder(char out[CACHE_FOLDER_MAX]);
yw_simd scene_options_simd(const scene_options* options);

#endif
