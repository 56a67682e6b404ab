// SPDX-License-Identifier: MIT
// The files that a scene names, for a page that runs the scene itself.
#ifndef YW_APP_SERVER_SCENE_FILES_H
#define YW_APP_SERVER_SCENE_FILES_H

#include "yawara/base.h"

#define SCENE_FILES_MAX 256

typedef struct scene_file {
  char* path;  ///< on disk
  char* name;  ///< as the scene says it
} scene_file;

/// Zero-initialised: empty.
typedef struct scene_files {
  scene_file items[SCENE_FILES_MAX];
  int32_t count;
} scene_files;

/// Adds every file that a text of the scene names, relative to the folder of `path`, and what these
/// files name in turn: the other half of a TetGen mesh, the buffers of a glTF file. Nothing is read
/// of other files. YW_ERR_LIMIT if there are too many.
yw_status scene_files_find(scene_files* out, const char* path, const char* scene, yw_error* error);
void scene_files_free(scene_files* files);

#endif
