// SPDX-License-Identifier: MIT
#include "playback/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"

#define MAX_PATH 1400

static const char frame_magic[8] = {'Y', 'W', 'F', 'R', 'A', 'M', 'E', '2'};
static const char snapshot_magic[8] = {'Y', 'W', 'R', 'U', 'N', '0', '0', '1'};

// Folders and names
// -----------------------------------------------------------------------------------

static void frame_path(const char* dir, int32_t frame, char out[MAX_PATH]) {
  snprintf(out, MAX_PATH, "%s/frames/%06d.ywf", dir, frame);
}

// mkdir -p
yw_status cache_make_folders(const char* path, yw_error* error) {
  char partial[MAX_PATH];
  if (strlen(path) >= sizeof partial - 64) {
    return yw_fail(error, YW_ERR_IO, "the path of the output folder is too long");
  }
  size_t length = strlen(path);
  for (size_t i = 1; i <= length; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    memcpy(partial, path, i);
    partial[i] = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
      return yw_fail(error, YW_ERR_IO, "%s: cannot make this folder: %s", partial, strerror(errno));
    }
  }
  return YW_OK;
}

yw_status cache_make_folder(const char* dir, yw_error* error) {
  char frames[MAX_PATH];
  snprintf(frames, sizeof frames, "%s/frames", dir);
  yw_status status = cache_make_folders(frames, error);
  if (status < 0) return status;
  if (access(frames, W_OK) != 0) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot write to this folder: %s", frames,
                   strerror(errno));
  }
  return YW_OK;
}

bool cache_exists(const char* dir) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/run.json", dir);
  return access(path, F_OK) == 0;
}

bool cache_has_frame(const char* dir, int32_t frame) {
  char path[MAX_PATH];
  frame_path(dir, frame, path);
  return access(path, F_OK) == 0;
}

void cache_remove_snapshot(const char* dir) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/snapshot.yws", dir);
  unlink(path);
}

void cache_remove_frames(const char* dir, int32_t first) {
  char path[MAX_PATH];
  for (int32_t frame = first;; ++frame) {
    frame_path(dir, frame, path);
    if (unlink(path) != 0) return;
  }
}

// run.json
// --------------------------------------------------------------------------------------------

static void write_json_string(yw_file_writer* writer, const char* text) {
  yw_file_write(writer, "\"", 1);
  for (const char* c = text; *c; ++c) {
    if (*c == '"' || *c == '\\') yw_file_write(writer, "\\", 1);
    if ((unsigned char)*c < 0x20) {
      yw_file_printf(writer, "\\u%04x", (unsigned)*c);
    } else {
      yw_file_write(writer, c, 1);
    }
  }
  yw_file_write(writer, "\"", 1);
}

yw_status cache_write_index(const char* dir, const cache_index* index, yw_error* error) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/run.json", dir);
  yw_file_writer writer;
  yw_status status = yw_file_writer_open(&writer, path, NULL, error);
  if (status < 0) return status;
  yw_file_printf(&writer, "{\n  \"yawara\": \"%s\",\n  \"scene\": ", yw_version());
  write_json_string(&writer, index->scene);
  yw_file_printf(&writer, ",\n  \"scene_hash\": \"%016llx\",\n  \"fps\": ",
                 (unsigned long long)index->scene_hash);
  yw_file_write_float(&writer, index->fps);
  yw_file_printf(&writer, ",\n  \"substeps\": %d,\n  \"frames\": %d,\n  \"frames_done\": %d,\n",
                 index->substeps, index->frames, index->frames_done);
  yw_file_printf(&writer, "  \"seconds\": ");
  yw_file_write_double(&writer, index->seconds);
  yw_file_printf(&writer, ",\n  \"state_hash\": \"%016llx\",\n  \"set\": [",
                 (unsigned long long)index->state_hash);
  for (int32_t i = 0; i < index->num_overrides; ++i) {
    if (i > 0) yw_file_printf(&writer, ", ");
    write_json_string(&writer, index->overrides[i]);
  }
  yw_file_printf(&writer, "],\n  \"fields\": ");
  write_json_string(&writer, index->fields);
  yw_file_printf(&writer, "\n}\n");
  return yw_file_writer_commit(&writer, error);
}

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
  if (!node || node->type != YW_JSON_STRING) {
    *bad = true;
    return 0;
  }
  return strtoull(node->string, NULL, 16);
}

static bool copy_string(const yw_json* node, char* out, size_t capacity) {
  if (!node || node->type != YW_JSON_STRING || (size_t)node->count >= capacity) return false;
  memcpy(out, node->string, (size_t)node->count + 1);
  return true;
}

static bool read_index_tree(const yw_json* root, cache_index* out) {
  bool bad = !copy_string(yw_json_get(root, "scene"), out->scene, sizeof out->scene);
  out->scene_hash = hash_of(root, "scene_hash", &bad);
  out->state_hash = hash_of(root, "state_hash", &bad);
  out->fps = (float)number_of(root, "fps", 1e-3, 1e6, &bad);
  out->substeps = (int32_t)number_of(root, "substeps", 1, 10000, &bad);
  out->frames = (int32_t)number_of(root, "frames", 0, 1e9, &bad);
  out->frames_done = (int32_t)number_of(root, "frames_done", 0, 1e9, &bad);
  out->seconds = number_of(root, "seconds", 0, 1e12, &bad);
  bad |= !copy_string(yw_json_get(root, "fields"), out->fields, sizeof out->fields);
  const yw_json* set = yw_json_get(root, "set");
  if (!set || set->type != YW_JSON_ARRAY || set->count > 64) return false;
  out->num_overrides = set->count;
  for (int32_t i = 0; i < set->count; ++i) {
    bad |= !copy_string(set->items[i], out->overrides[i], sizeof out->overrides[i]);
  }
  return !bad;
}

yw_status cache_read_index(const char* dir, cache_index* out, yw_error* error) {
  *out = (cache_index){0};
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/run.json", dir);
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status < 0) return status;
  yw_json_doc* doc = NULL;
  status = yw_json_parse(NULL, path, data.bytes, data.size, &doc, error);
  yw_file_data_free(&data);
  if (status < 0) return status;
  if (!read_index_tree(yw_json_root(doc), out)) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: is not the run.json of a yawara cache", path);
  }
  yw_json_free(doc);
  return status;
}

yw_status cache_hash_scene(const char* path, int32_t num_overrides, const char* const* overrides,
                           uint64_t* out, yw_error* error) {
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status < 0) return status;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, data.bytes, data.size);
  for (int32_t i = 0; i < num_overrides; ++i) {
    hash = yw_hash_bytes(hash, overrides[i], strlen(overrides[i]));
  }
  yw_file_data_free(&data);
  *out = hash;
  return YW_OK;
}

yw_status cache_read_scene(const char* dir, const cache_index* index, yw_scene** out,
                           yw_error* error) {
  const char* texts[64];
  char paths[64][256];
  yw_scene_override overrides[64];
  for (int32_t i = 0; i < index->num_overrides; ++i) {
    texts[i] = index->overrides[i];
    const char* equals = strchr(texts[i], '=');
    if (!equals) return yw_fail(error, YW_ERR_FORMAT, "%s/run.json: \"set\" is damaged", dir);
    size_t length = (size_t)(equals - texts[i]);
    memcpy(paths[i], texts[i], length);
    paths[i][length] = '\0';
    overrides[i] = (yw_scene_override){paths[i], equals + 1};
  }
  uint64_t hash = 0;
  yw_status status = cache_hash_scene(index->scene, index->num_overrides, texts, &hash, error);
  if (status < 0) return status;
  if (hash != index->scene_hash) {
    return yw_fail(error, YW_ERR_FORMAT,
                   "%s: the scene %s has changed since this cache was made; run it again", dir,
                   index->scene);
  }
  yw_scene_def def = yw_default_scene_def();
  def.path = index->scene;
  def.overrides = overrides;
  def.num_overrides = index->num_overrides;
  return yw_scene_read(&def, out, NULL, error);
}

// Frames
// ----------------------------------------------------------------------------------------------

// Bytes and their hash in one file.
static yw_status write_sealed(const char* path, const yw_writer* body, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_write(&file, body->data, body->size);
  unsigned char seal[8];
  yw_writer tail = {.data = seal, .capacity = sizeof seal};
  yw_write_u64(&tail, yw_hash_bytes(YW_HASH_SEED, body->data, body->size));
  yw_file_write(&file, seal, sizeof seal);
  return yw_file_writer_commit(&file, error);
}

static yw_status read_sealed(const char* path, const char* magic, yw_file_data* data,
                             yw_reader* reader, yw_error* error) {
  yw_status status = yw_file_read_all(path, 0, NULL, data, error);
  if (status < 0) return status;
  bool whole = data->size >= 16 && memcmp(data->bytes, magic, 8) == 0;
  if (whole) {
    yw_reader tail = {.data = (const unsigned char*)data->bytes + data->size - 8, .size = 8};
    whole = yw_read_u64(&tail) == yw_hash_bytes(YW_HASH_SEED, data->bytes, data->size - 8);
  }
  if (!whole) {
    yw_file_data_free(data);
    return yw_fail(error, YW_ERR_FORMAT, "%s: is damaged or not a file of this version of yawara",
                   path);
  }
  *reader =
      (yw_reader){.data = (const unsigned char*)data->bytes, .size = data->size - 8, .offset = 8};
  return YW_OK;
}

yw_status cache_write_frame(const char* dir, const frame_data* frame, yw_error* error) {
  char path[MAX_PATH];
  frame_path(dir, frame->number, path);
  yw_writer counter = {0};
  frame_write(frame, &counter);
  size_t size = sizeof frame_magic + counter.size;
  yw_writer writer = {.data = yw_mem_alloc(NULL, size, 1), .capacity = size};
  if (!writer.data) return yw_fail_memory(error, "a frame");
  yw_write_bytes(&writer, frame_magic, sizeof frame_magic);
  frame_write(frame, &writer);
  yw_status status = write_sealed(path, &writer, error);
  yw_mem_free(NULL, writer.data);
  return status;
}

yw_status cache_read_frame(const char* dir, int32_t frame, frame_data* out, yw_error* error) {
  *out = (frame_data){0};
  char path[MAX_PATH];
  frame_path(dir, frame, path);
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status = read_sealed(path, frame_magic, &data, &reader, error);
  if (status < 0) return status;
  if (!frame_read(&reader, out) || out->number != frame) {
    frame_free(out);
    status = yw_fail(error, YW_ERR_FORMAT, "%s: is not frame %d of a cache", path, frame);
  }
  yw_file_data_free(&data);
  return status;
}

// Snapshots
// -------------------------------------------------------------------------------------------

yw_status cache_write_snapshot(const char* dir, int32_t frame, const yw_world* world,
                               yw_error* error) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/snapshot.yws", dir);
  size_t size = yw_world_snapshot_size(world);
  yw_writer writer = {.data = yw_mem_alloc(NULL, size + 16, 1), .capacity = size + 16};
  if (!writer.data) return yw_fail_memory(error, "a snapshot");
  yw_write_bytes(&writer, snapshot_magic, sizeof snapshot_magic);
  yw_write_u32(&writer, (uint32_t)frame);
  yw_write_u32(&writer, 0);
  size_t written = 0;
  yw_status status = yw_world_save(world, writer.data + 16, size, &written);
  writer.size = 16 + written;
  status = status < 0 ? yw_fail(error, status, "the snapshot cannot be made")
                      : write_sealed(path, &writer, error);
  yw_mem_free(NULL, writer.data);
  return status;
}

yw_status cache_read_snapshot(const char* dir, yw_world* world, int32_t* frame, yw_error* error) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/snapshot.yws", dir);
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status = read_sealed(path, snapshot_magic, &data, &reader, error);
  if (status < 0) return status;
  uint32_t number = yw_read_u32(&reader);
  yw_read_u32(&reader);
  if (reader.failed || number > INT32_MAX) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: is damaged", path);
  } else {
    yw_error inner = {0};
    status = yw_world_load(world, reader.data + reader.offset, reader.size - reader.offset, &inner);
    if (status < 0) yw_fail(error, status, "%s: %s", path, inner.message);
    *frame = (int32_t)number;
  }
  yw_file_data_free(&data);
  return status;
}

yw_status cache_snapshot_info_of(const char* path, cache_snapshot_info* out, yw_error* error) {
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status = read_sealed(path, snapshot_magic, &data, &reader, error);
  if (status < 0) return status;
  *out = (cache_snapshot_info){.frame = (int32_t)yw_read_u32(&reader), .bytes = data.size};
  // The world's own magic and fingerprint stand before its time and step count.
  yw_read_u32(&reader);
  yw_read_u64(&reader);
  yw_read_u64(&reader);
  out->time = yw_read_f64(&reader);
  out->steps = yw_read_u64(&reader);
  if (reader.failed) status = yw_fail(error, YW_ERR_FORMAT, "%s: is damaged", path);
  yw_file_data_free(&data);
  return status;
}
