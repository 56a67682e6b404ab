// SPDX-License-Identifier: MIT
#include "server/scene_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/json.h"

#define MAX_PATH 4096

/// Where names are looked up.
typedef struct place {
  scene_files* out;
  const char* folder;  // with its slash, or ""
  const char* before;  // of names, as the scene would say them
  yw_error* error;
} place;

static yw_status walk(const place* at, const yw_json* node);

static bool ends_with(const char* text, const char* ending) {
  size_t length = strlen(text), size = strlen(ending);
  return length >= size && strcmp(text + length - size, ending) == 0;
}

static bool is_known(const scene_files* files, const char* path) {
  for (int32_t i = 0; i < files->count; ++i) {
    if (strcmp(files->items[i].path, path) == 0) return true;
  }
  return false;
}

// Names in a glTF file are relative to it.
static yw_status walk_gltf(const place* at, const char* path, const char* name) {
  yw_file_data data = {0};
  yw_json_doc* doc = NULL;
  yw_error ignored = {0};
  char folder[MAX_PATH], before[MAX_PATH];
  const char *slash = strrchr(path, '/'), *cut = strrchr(name, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
  snprintf(before, sizeof before, "%.*s", cut ? (int)(cut + 1 - name) : 0, name);
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, &ignored);
  // One that cannot be read is the reader's to complain about.
  if (status >= 0) status = yw_json_parse(NULL, path, data.bytes, data.size, &doc, &ignored);
  yw_file_data_free(&data);
  if (status < 0) return YW_OK;
  place there = {at->out, folder, before, at->error};
  status = walk(&there, yw_json_root(doc));
  yw_json_free(doc);
  return status;
}

static yw_status add(const place* at, const char* name) {
  static const char* const halves[][2] = {{".node", ".ele"}, {".ele", ".node"}};
  char path[MAX_PATH], full[MAX_PATH];
  struct stat about;
  bool absolute = name[0] == '/';
  int size = snprintf(path, sizeof path, "%s%s", absolute ? "" : at->folder, name);
  int length = snprintf(full, sizeof full, "%s%s", absolute ? "" : at->before, name);
  if (size >= MAX_PATH || length >= MAX_PATH || name[0] == '\0') return YW_OK;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || is_known(at->out, path)) return YW_OK;
  if (at->out->count == SCENE_FILES_MAX) {
    return yw_fail(at->error, YW_ERR_LIMIT,
                   "the scene names more than %d files; with --live the page needs none of them",
                   SCENE_FILES_MAX);
  }
  scene_file* file = &at->out->items[at->out->count++];
  *file = (scene_file){strdup(path), strdup(full)};
  if (!file->path || !file->name) return yw_fail_memory(at->error, "the files of the scene");
  yw_status status = ends_with(name, ".gltf") ? walk_gltf(at, path, full) : YW_OK;
  for (int i = 0; i < 2 && status >= 0; ++i) {
    if (!ends_with(name, halves[i][0])) continue;
    snprintf(full, sizeof full, "%.*s%s", (int)(strlen(name) - strlen(halves[i][0])), name,
             halves[i][1]);
    status = add(at, full);
  }
  return status;
}

static yw_status walk(const place* at, const yw_json* node) {
  yw_status status = YW_OK;
  if (node->type == YW_JSON_STRING) return node->count < MAX_PATH ? add(at, node->string) : YW_OK;
  if (node->type != YW_JSON_ARRAY && node->type != YW_JSON_OBJECT) return YW_OK;
  for (int32_t i = 0; i < node->count && status >= 0; ++i) status = walk(at, node->items[i]);
  return status;
}

yw_status scene_files_find(scene_files* out, const char* path, const char* scene, yw_error* error) {
  yw_json_doc* doc = NULL;
  yw_status status = yw_json_parse(NULL, path, scene, strlen(scene), &doc, error);
  if (status < 0) return status;
  char folder[MAX_PATH];
  const char* slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
  place at = {out, folder, "", error};
  status = walk(&at, yw_json_root(doc));
  yw_json_free(doc);
  return status;
}

void scene_files_free(scene_files* files) {
  for (int32_t i = 0; i < files->count; ++i) {
    free(files->items[i].path);
    free(files->items[i].name);
  }
  *files = (scene_files){0};
}
