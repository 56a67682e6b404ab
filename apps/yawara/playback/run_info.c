// SPDX-License-Identifier: MIT
#include "playback/run_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "playback/disk.h"
#include "playback/json_text.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"

// Version of the format of run folders.
#define FORMAT 1

static void path_of(const char* dir, char out[RUN_MAX_PATH + 16]) {
  snprintf(out, RUN_MAX_PATH + 16, "%s/run.json", dir);
}

void run_info_free(run_info* info) {
  yw_mem_free(NULL, info->files);
  info->files = NULL;
  info->num_files = 0;
}

// Files -------------------------------------------------------------------------------------------

yw_status run_info_take_files(const yw_scene* scene, run_info* out, yw_error* error) {
  int32_t count = yw_scene_num_files(scene);
  const char* own = yw_scene_file_at(scene, 0).path;
  const char* slash = strrchr(own, '/');
  size_t folder = slash ? (size_t)(slash - own) + 1 : 0;
  out->files = YW_NEW_ARRAY(NULL, run_file, count);
  if (!out->files) return yw_fail_memory(error, "the files of a scene");
  out->num_files = count;
  for (int32_t i = 0; i < count; ++i) {
    yw_scene_file file = yw_scene_file_at(scene, i);
    const char* path = file.path + (strncmp(file.path, own, folder) == 0 ? folder : 0);
    if (strlen(path) >= RUN_MAX_PATH) {
      return yw_fail(error, YW_ERR_LIMIT, "%s: the name is longer than %d characters",
                     yw_file_short_name(path), RUN_MAX_PATH - 1);
    }
    snprintf(out->files[i].path, RUN_MAX_PATH, "%s", path);
    out->files[i].bytes = file.size;
    out->files[i].hash = file.hash;
  }
  return YW_OK;
}

yw_status run_info_compare(const char* dir, const run_info* old, const run_info* fresh,
                           yw_error* error) {
  bool same = old->num_overrides == fresh->num_overrides;
  for (int32_t i = 0; same && i < old->num_overrides; ++i) {
    same = strcmp(old->overrides[i], fresh->overrides[i]) == 0;
  }
  if (!same) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: the --set values differ from those of the run in this folder; start again "
                   "without --resume",
                   dir);
  }
  for (int32_t i = 0; i < old->num_files || i < fresh->num_files; ++i) {
    const run_file* a = i < old->num_files ? &old->files[i] : NULL;
    const run_file* b = i < fresh->num_files ? &fresh->files[i] : NULL;
    // The scene may have been renamed; only its text counts.
    bool named = a && b && (i == 0 || strcmp(a->path, b->path) == 0);
    if (named && a->bytes == b->bytes && a->hash == b->hash) continue;
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: %s has changed since this run was made, so it cannot go on; start again "
                   "without --resume",
                   dir, yw_file_short_name(b ? b->path : a->path));
  }
  return YW_OK;
}

// Writing -----------------------------------------------------------------------------------------

static void write_text_value(yw_file_writer* writer, const char* key, const char* text) {
  yw_file_printf(writer, "  \"%s\": ", key);
  json_write_string(writer, text);
  yw_file_printf(writer, ",\n");
}

static void write_hash(yw_file_writer* writer, const char* key, uint64_t hash) {
  yw_file_printf(writer, "  \"%s\": \"%016llx\",\n", key, (unsigned long long)hash);
}

static void write_sources(yw_file_writer* writer, const run_info* info) {
  write_text_value(writer, "scene", info->scene);
  yw_file_printf(writer, "  \"set\": [");
  for (int32_t i = 0; i < info->num_overrides; ++i) {
    if (i > 0) yw_file_printf(writer, ", ");
    json_write_string(writer, info->overrides[i]);
  }
  yw_file_printf(writer, "],\n  \"files\": [");
  for (int32_t i = 0; i < info->num_files; ++i) {
    const run_file* file = &info->files[i];
    yw_file_printf(writer, "%s\n    {\"path\": ", i > 0 ? "," : "");
    json_write_string(writer, file->path);
    yw_file_printf(writer, ", \"bytes\": %llu, \"hash\": \"%016llx\"}",
                   (unsigned long long)file->bytes, (unsigned long long)file->hash);
  }
  yw_file_printf(writer, "\n  ],\n");
}

static void write_faults(yw_file_writer* writer, const run_info* info) {
  if (info->num_faults == 0) return;
  yw_file_printf(writer, ",\n  \"faults\": [");
  for (int32_t i = 0; i < info->num_faults; ++i) {
    const run_fault* fault = &info->faults[i];
    yw_file_printf(writer, "%s\n    {\"frame\": %d, \"time\": ", i > 0 ? "," : "", fault->frame);
    yw_file_write_double(writer, fault->time);
    yw_file_printf(writer, ", \"bodies\": %d, \"substeps\": %d, \"body\": ", fault->bodies,
                   fault->substeps);
    json_write_string(writer, fault->body);
    yw_file_printf(writer, "}");
  }
  yw_file_printf(writer, "\n  ]");
}

yw_status run_info_write(const char* dir, const run_info* info, yw_error* error) {
  char path[RUN_MAX_PATH + 16];
  path_of(dir, path);
  yw_file_writer writer;
  yw_status status = yw_file_writer_open(&writer, path, NULL, error);
  if (status < 0) return status;
  // Without it a run is none: after a power failure there is the old one or the new one.
  writer.durable = !disk_is_spared();
  yw_file_printf(&writer, "{\n  \"yawara_run\": %d,\n", FORMAT);
  write_text_value(&writer, "made_by", info->made_by);
  write_sources(&writer, info);
  write_text_value(&writer, "fields", info->fields);
  if (info->packed) yw_file_printf(&writer, "  \"packed\": true,\n");
  yw_file_printf(&writer, "  \"fps\": ");
  yw_file_write_float(&writer, info->fps);
  yw_file_printf(&writer, ",\n  \"substeps\": %d,\n  \"frames\": %d,\n  \"frames_done\": %d,\n",
                 info->substeps, info->frames, info->frames_done);
  write_hash(&writer, "shown_hash", info->shown_hash);
  write_hash(&writer, "state_hash", info->state_hash);
  yw_file_printf(&writer, "  \"seconds\": ");
  yw_file_write_double(&writer, info->seconds);
  write_faults(&writer, info);
  yw_file_printf(&writer, "\n}\n");
  return yw_file_writer_commit(&writer, error);
}

// Reading -----------------------------------------------------------------------------------------

static double number_of(const yw_json* root, const char* key, double low, double high, bool* bad) {
  const yw_json* node = yw_json_get(root, key);
  if (!node || node->type != YW_JSON_NUMBER || node->number < low || node->number > high) {
    *bad = true;
    return low;
  }
  return node->number;
}

static uint64_t hash_of(const yw_json* root, const char* key, bool* bad) {
  const yw_json* node = yw_json_get(root, key);
  bool good = node && node->type == YW_JSON_STRING && node->count == 16 &&
              strspn(node->string, "0123456789abcdef") == 16;
  if (!good) *bad = true;
  return good ? strtoull(node->string, NULL, 16) : 0;
}

static bool copy_string(const yw_json* node, char* out, size_t capacity) {
  if (!node || node->type != YW_JSON_STRING || (size_t)node->count >= capacity) return false;
  memcpy(out, node->string, (size_t)node->count + 1);
  return true;
}

static bool read_files(const yw_json* list, run_info* out) {
  if (!list || list->type != YW_JSON_ARRAY || list->count < 1) return false;
  out->files = YW_NEW_ARRAY(NULL, run_file, list->count);
  if (!out->files) return false;
  out->num_files = list->count;
  bool bad = false;
  for (int32_t i = 0; i < list->count; ++i) {
    run_file* file = &out->files[i];
    bad |= !copy_string(yw_json_get(list->items[i], "path"), file->path, sizeof file->path);
    file->bytes = (uint64_t)number_of(list->items[i], "bytes", 0, 1e15, &bad);
    file->hash = hash_of(list->items[i], "hash", &bad);
  }
  return !bad;
}

// The list may be missing: nothing diverged.
static bool read_faults(const yw_json* list, run_info* out) {
  if (!list) return true;
  if (list->type != YW_JSON_ARRAY || list->count > RUN_MAX_FAULTS) return false;
  bool bad = false;
  out->num_faults = list->count;
  for (int32_t i = 0; i < list->count; ++i) {
    run_fault* fault = &out->faults[i];
    fault->frame = (int32_t)number_of(list->items[i], "frame", 0, 1e9, &bad);
    fault->time = number_of(list->items[i], "time", 0, 1e12, &bad);
    fault->bodies = (int32_t)number_of(list->items[i], "bodies", 1, 1e9, &bad);
    // Earlier versions have no retries.
    if (yw_json_get(list->items[i], "substeps")) {
      fault->substeps = (int32_t)number_of(list->items[i], "substeps", 0, 1e9, &bad);
    }
    bad |= !copy_string(yw_json_get(list->items[i], "body"), fault->body, sizeof fault->body);
  }
  return !bad;
}

static bool read_tree(const yw_json* root, run_info* out) {
  bool bad = !copy_string(yw_json_get(root, "made_by"), out->made_by, sizeof out->made_by);
  bad |= !copy_string(yw_json_get(root, "scene"), out->scene, sizeof out->scene);
  bad |= !copy_string(yw_json_get(root, "fields"), out->fields, sizeof out->fields);
  out->shown_hash = hash_of(root, "shown_hash", &bad);
  out->state_hash = hash_of(root, "state_hash", &bad);
  out->fps = (float)number_of(root, "fps", 1e-3, 1e6, &bad);
  out->substeps = (int32_t)number_of(root, "substeps", 1, 10000, &bad);
  out->frames = (int32_t)number_of(root, "frames", 0, 1e9, &bad);
  out->frames_done = (int32_t)number_of(root, "frames_done", 0, 1e9, &bad);
  out->seconds = number_of(root, "seconds", 0, 1e12, &bad);
  // Without it, frames are files of their own.
  const yw_json* packed = yw_json_get(root, "packed");
  out->packed = packed && packed->type == YW_JSON_BOOL && packed->boolean;
  bad |= packed && packed->type != YW_JSON_BOOL;
  const yw_json* set = yw_json_get(root, "set");
  if (!set || set->type != YW_JSON_ARRAY || set->count > RUN_MAX_OVERRIDES) return false;
  out->num_overrides = set->count;
  for (int32_t i = 0; i < set->count; ++i) {
    bad |= !copy_string(set->items[i], out->overrides[i], sizeof out->overrides[i]);
  }
  return read_files(yw_json_get(root, "files"), out) &&
         read_faults(yw_json_get(root, "faults"), out) && !bad;
}

// A different version gets an error message of its own.
static yw_status check_version(const char* path, const yw_json* root, yw_error* error) {
  bool missing = false;
  double version = number_of(root, "yawara_run", 1, 1e9, &missing);
  if (!missing && version == FORMAT) return YW_OK;
  if (!missing) {
    return yw_fail(error, YW_ERR_FORMAT,
                   "%s: has version %.0f of the format, but this program reads version %d", path,
                   version, FORMAT);
  }
  return yw_fail(error, YW_ERR_FORMAT,
                 "%s: is not that of a run, or of an older version of yawara; run the scene again "
                 "into another folder",
                 path);
}

yw_status run_info_read(const char* dir, run_info* out, yw_error* error) {
  *out = (run_info){0};
  char path[RUN_MAX_PATH + 16];
  path_of(dir, path);
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status < 0) return status;
  yw_json_doc* doc = NULL;
  status = yw_json_parse(NULL, path, data.bytes, data.size, &doc, error);
  yw_file_data_free(&data);
  if (status < 0) return status;
  status = check_version(path, yw_json_root(doc), error);
  if (status >= 0 && !read_tree(yw_json_root(doc), out)) {
    status =
        yw_fail(error, YW_ERR_FORMAT, "%s: is damaged: a value is missing or out of range", path);
  }
  yw_json_free(doc);
  return status;
}
