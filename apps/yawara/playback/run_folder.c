// SPDX-License-Identifier: MIT
#include "playback/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "playback/disk.h"
#include "playback/sealed.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/ranks.h"

#define MAX_FILE (RUN_MAX_PATH + 32)

static const char shown_magic[] = "YWSHOWN3";
static const char frame_magic[] = "YWFRAME4";
static const char snapshot_magic[] = "YWRUN001";
static const char fresh_snapshot[] = "snapshot-new.yws";
static const char pack_name[] = "frames.ywp";
static const char newest_snapshot[] = "snapshot.yws";
static const char snapshot_before[] = "snapshot-before.yws";

static void file_in(const char* dir, const char* name, char out[MAX_FILE]) {
  snprintf(out, MAX_FILE, "%s/%s", dir, name);
}

static void frame_path(const char* dir, int32_t frame, char out[MAX_FILE]) {
  snprintf(out, MAX_FILE, "%s/frames/%06d.ywf", dir, frame);
}

static bool has_frame(const char* dir, int32_t frame) {
  char path[MAX_FILE];
  frame_path(dir, frame, path);
  return access(path, F_OK) == 0;
}

static bool has_file(const char* dir, const char* name) {
  char path[MAX_FILE];
  file_in(dir, name, path);
  return access(path, F_OK) == 0;
}

// Reading a run -----------------------------------------------------------------------------------

static yw_status read_shown(run_folder* run, yw_error* error) {
  char path[MAX_FILE];
  file_in(run->dir, "shown.ywr", path);
  yw_file_data data = {0};
  yw_reader reader;
  uint64_t hash;
  yw_status status = sealed_read(path, shown_magic, &data, &reader, &hash, error);
  if (status < 0) return status;
  if (hash != run->info.shown_hash) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: belongs to another run than run.json", path);
  } else if ((status = shown_read(&reader, &run->shown)) == YW_ERR_MEMORY) {
    yw_fail_memory(error, path);
  } else if (status < 0) {
    yw_fail(error, status, "%s: is damaged", path);
  }
  yw_file_data_free(&data);
  return status;
}

yw_status run_folder_open(const char* dir, run_folder* out, yw_error* error) {
  *out = (run_folder){0};
  if (strlen(dir) >= sizeof out->dir) {
    return yw_fail(error, YW_ERR_INVALID, "the name of the run folder is longer than %d characters",
                   RUN_MAX_PATH - 1);
  }
  snprintf(out->dir, sizeof out->dir, "%s", dir);
  yw_status status = run_info_read(dir, &out->info, error);
  if (status >= 0) status = read_shown(out, error);
  if (status >= 0) {
    out->cells = YW_NEW_ARRAY(NULL, run_cells, out->shown->num_bodies);
    if (!out->cells) status = yw_fail_memory(error, "a run");
  }
  if (status < 0) run_folder_close(out);
  return status;
}

void run_folder_close(run_folder* run) {
  for (int32_t i = 0; run->cells && i < run->shown->num_bodies; ++i) {
    yw_mem_free(NULL, run->cells[i].corners);
  }
  yw_mem_free(NULL, run->cells);
  frame_pack_index_free(&run->pack);
  shown_destroy(run->shown);
  run_info_free(&run->info);
  *run = (run_folder){0};
}

static yw_status read_packed(run_folder* run, const char* path, int32_t number, yw_file_data* data,
                             yw_reader* reader, yw_error* error) {
  yw_status status = YW_OK;
  for (int attempt = 0; attempt < 2; ++attempt) {
    status = frame_pack_read(path, &run->pack, number, data, error);
    if (status >= 0) status = sealed_open(path, frame_magic, data, reader, NULL, error);
    if (status >= 0) break;
    // A run that was started again may have its frames elsewhere in the file.
    frame_pack_index_free(&run->pack);
  }
  return status;
}

// A frame as stored.
static yw_status read_frame_file(run_folder* run, int32_t number, frame_data* out,
                                 yw_error* error) {
  char path[MAX_FILE];
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status;
  *out = (frame_data){0};
  if (run->info.packed) {
    file_in(run->dir, pack_name, path);
    status = read_packed(run, path, number, &data, &reader, error);
  } else {
    frame_path(run->dir, number, path);
    status = sealed_read(path, frame_magic, &data, &reader, NULL, error);
  }
  if (status < 0) return status;
  bool foreign = yw_read_u64(&reader) != run->info.shown_hash;
  if (!foreign) status = frame_read(&reader, out);
  yw_file_data_free(&data);
  if (foreign) {
    return yw_fail(error, YW_ERR_FORMAT, "%s: belongs to another run than run.json", path);
  }
  if (status < 0 || out->number != number || !frame_fits(out, run->shown)) {
    frame_free(out);
    return yw_fail(error, YW_ERR_FORMAT, "%s: is not frame %d of this run", path, number);
  }
  return YW_OK;
}

// Keeps the cells of a body from the frame that stores them.
static bool keep_cells(run_cells* cells, const frame_data* holder, int32_t index) {
  const frame_body* body = &holder->bodies[index];
  yw_mem_free(NULL, cells->corners);
  *cells = (run_cells){holder->number, body->num_particles, body->num_cells, NULL};
  size_t corners = 4 * (size_t)body->num_cells;
  cells->corners = YW_NEW_ARRAY(NULL, int32_t, corners);
  if (cells->corners && corners > 0) {
    memcpy(cells->corners, body->cells, sizeof(int32_t) * corners);
  }
  return cells->corners != NULL;
}

// Reads the cells of all bodies that are stored in frame `number`.
static yw_status load_cells(run_folder* run, const frame_data* frame, int32_t number,
                            yw_error* error) {
  frame_data holder;
  yw_status status = read_frame_file(run, number, &holder, error);
  if (status < 0) return status;
  for (int32_t i = 0; i < frame->num_bodies && status >= 0; ++i) {
    if (frame->bodies[i].cells_frame != number) continue;
    if (!holder.bodies[i].cells) {
      status = yw_fail(error, YW_ERR_FORMAT,
                       "%s: frame %d does not hold the cells that frame %d refers to", run->dir,
                       number, frame->number);
    } else if (!keep_cells(&run->cells[i], &holder, i)) {
      status = yw_fail_memory(error, "the cells of a frame");
    }
  }
  frame_free(&holder);
  return status;
}

static yw_status find_cells(run_folder* run, frame_data* frame, yw_error* error) {
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    frame_body* body = &frame->bodies[i];
    run_cells* cells = &run->cells[i];
    if (body->cells || body->cells_frame < 0) continue;
    if (!cells->corners || cells->frame != body->cells_frame) {
      yw_status status = load_cells(run, frame, body->cells_frame, error);
      if (status < 0) return status;
    }
    if (cells->num_cells != body->num_cells || cells->num_particles != body->num_particles) {
      return yw_fail(error, YW_ERR_FORMAT, "%s: the cells of frame %d do not fit frame %d",
                     run->dir, cells->frame, frame->number);
    }
    body->cells = cells->corners;
  }
  return YW_OK;
}

yw_status run_folder_read_frame(run_folder* run, int32_t number, frame_data* out, yw_error* error) {
  yw_status status = read_frame_file(run, number, out, error);
  if (status >= 0) status = find_cells(run, out, error);
  if (status < 0) frame_free(out);
  return status;
}

int32_t run_folder_last_frame(run_folder* run, int32_t known) {
  char path[MAX_FILE];
  file_in(run->dir, pack_name, path);
  if (run->info.packed) return frame_pack_count(path, &run->pack) - 1;
  // A run that was started again has fewer frames than it had.
  int32_t frame = known >= 0 && has_frame(run->dir, known) ? known : -1;
  while (has_frame(run->dir, frame + 1)) ++frame;
  return frame;
}

yw_status run_folder_check_frames(run_folder* run, yw_error* error) {
  int32_t last = run_folder_last_frame(run, -1);
  if (last >= run->info.frames_done) return YW_OK;
  return yw_fail(error, YW_ERR_FORMAT, "%s: run.json speaks of %d frames, but frame %d is missing",
                 run->dir, run->info.frames_done, last + 1);
}

// Writing a run -----------------------------------------------------------------------------------

bool run_folder_exists(const char* dir) { return has_file(dir, "run.json"); }

static void remove_leftovers(const char* dir) {
  char path[MAX_FILE];
  file_in(dir, "frames", path);
  disk_remove_leftovers(path);
  disk_remove_leftovers(dir);
  file_in(dir, fresh_snapshot, path);
  unlink(path);
}

void run_folder_remove_later(const char* dir, int32_t first) {
  char path[MAX_FILE];
  remove_leftovers(dir);
  for (int32_t frame = first;; ++frame) {
    frame_path(dir, frame, path);
    if (unlink(path) != 0) return;
  }
}

yw_status run_folder_make(const char* dir, bool packed, yw_error* error) {
  char path[MAX_FILE];
  snprintf(path, sizeof path, packed ? "%s" : "%s/frames", dir);
  yw_status status = yw_make_folders(path, error);
  if (status < 0 || access(path, W_OK) == 0) return status;
  return yw_fail(error, YW_ERR_IO, "%s: cannot write to this folder: %s", path, strerror(errno));
}

void run_folder_clear(const char* dir) {
  // First of all run.json: without it, what is left is no run.
  const char* old[] = {"run.json", newest_snapshot, snapshot_before, pack_name};
  for (int i = 0; i < 4; ++i) {
    char path[MAX_FILE];
    file_in(dir, old[i], path);
    unlink(path);
  }
  run_folder_remove_later(dir, 0);
}

int64_t run_folder_frame_bytes(const char* dir, int32_t frame) {
  char path[MAX_FILE];
  struct stat info;
  frame_path(dir, frame, path);
  return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

int64_t run_folder_frames_bytes(const char* dir) {
  char path[MAX_FILE];
  file_in(dir, "frames", path);
  return disk_bytes(path);
}

// The text of the scene at the time when the scene was read; text NULL: of its file.
static yw_status copy_scene(const char* dir, const yw_scene* scene, const char* text,
                            yw_error* error) {
  yw_scene_file own = yw_scene_file_at(scene, 0);
  yw_file_data data = {0};
  yw_status status = YW_OK;
  if (!text) status = yw_file_read_all(own.path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status < 0) return status;
  if (!text && yw_hash_bytes(YW_HASH_SEED, data.bytes, data.size) != own.hash) {
    status = yw_fail(error, YW_ERR_IO, "%s: was changed while the scene was being made",
                     yw_file_short_name(own.path));
  }
  char path[MAX_FILE];
  file_in(dir, "scene.json", path);
  yw_file_writer writer = {0};
  if (status >= 0) status = yw_file_writer_open(&writer, path, NULL, error);
  if (status >= 0) {
    yw_file_write(&writer, text ? text : data.bytes, text ? strlen(text) : data.size);
    status = yw_file_writer_commit(&writer, error);
  }
  yw_file_data_free(&data);
  return status;
}

// The bytes of shown.ywr without the seal; data NULL: out of memory.
static yw_writer make_shown(const shown_scene* shown) {
  yw_writer counter = {0};
  shown_write(shown, &counter);
  yw_writer writer = sealed_begin(shown_magic, counter.size);
  if (writer.data) shown_write(shown, &writer);
  return writer;
}

yw_status run_folder_shown_hash(const shown_scene* shown, uint64_t* out, yw_error* error) {
  yw_writer writer = make_shown(shown);
  if (!writer.data) return yw_fail_memory(error, "what is shown");
  *out = sealed_hash(&writer);
  yw_mem_free(NULL, writer.data);
  return YW_OK;
}

yw_status run_folder_write_shown(const char* dir, const yw_scene* scene, const char* text,
                                 const shown_scene* shown, run_info* info, yw_error* error) {
  yw_status status = copy_scene(dir, scene, text, error);
  if (status < 0) return status;
  yw_writer writer = make_shown(shown);
  if (!writer.data) return yw_fail_memory(error, "what is shown");
  char path[MAX_FILE];
  file_in(dir, "shown.ywr", path);
  info->shown_hash = sealed_hash(&writer);
  status = sealed_write(path, &writer, false, error);
  yw_mem_free(NULL, writer.data);
  return status;
}

yw_status run_folder_open_pack(const char* dir, int32_t keep, frame_pack* out, yw_error* error) {
  char path[MAX_FILE];
  file_in(dir, pack_name, path);
  return frame_pack_open(path, keep, out, error);
}

yw_status run_folder_write_frame(const char* dir, const run_info* info, frame_pack* pack,
                                 const frame_data* frame, yw_error* error) {
  yw_writer counter = {0};
  frame_write(frame, &counter);
  size_t size = sizeof info->shown_hash + counter.size;
  yw_writer writer =
      pack ? frame_pack_begin(pack, frame_magic, size) : sealed_begin(frame_magic, size);
  if (!writer.data) return yw_fail_memory(error, "a frame");
  yw_write_u64(&writer, info->shown_hash);
  frame_write(frame, &writer);
  if (pack) {
    frame_pack_end(pack, &writer);
    return YW_OK;
  }
  char path[MAX_FILE];
  frame_path(dir, frame->number, path);
  yw_status status = sealed_write(path, &writer, false, error);
  yw_mem_free(NULL, writer.data);
  return status;
}

// Other ranks may have been started in another folder.
static char* path_for_ranks(const yw_file_writer* file, yw_error* error) {
  char* path = realpath(file->temporary, NULL);
  if (!path) yw_fail(error, YW_ERR_IO, "%s: cannot be found again", file->temporary);
  return path;
}

yw_status run_folder_write_shared_frame(const char* dir, const run_info* info,
                                        const frame_data* frame, const yw_world* world,
                                        yw_error* error) {
  char final[MAX_FILE];
  frame_path(dir, frame->number, final);
  unsigned char head[sizeof info->shown_hash];
  yw_writer writer = {.data = head, .capacity = sizeof head};
  yw_write_u64(&writer, info->shown_hash);
  yw_file_writer file;
  yw_status status = sealed_file_begin(&file, final, frame_magic, &writer, false, error);
  if (status < 0) return status;
  uint64_t size = 0;
  char* path = path_for_ranks(&file, error);
  status = path ? frame_write_shared(frame, world, path, SEALED_MAGIC + writer.size, &size, error)
                : YW_ERR_IO;
  free(path);
  return sealed_file_end(&file, status, writer.size + size, error);
}

// Snapshots ---------------------------------------------------------------------------------------

// The number of the frame, and a 0.
#define SNAPSHOT_HEAD ((size_t)8)
// Larger ones are written in pieces.
#define SMALL_SNAPSHOT ((size_t)1 << 18)

static void put_head(yw_writer* writer, int32_t frame) {
  yw_write_u32(writer, (uint32_t)frame);
  yw_write_u32(writer, 0);
}

// Makes `fresh` the newest snapshot and keeps the one so far. There is one at every moment.
static yw_status take_turns(const char* fresh, const char* newest, const char* before,
                            yw_error* error) {
  unlink(before);
  // Some file systems have no hard links. The first snapshot of a run has none before it.
  if (link(newest, before) != 0 && errno != ENOENT) rename(newest, before);
  if (rename(fresh, newest) == 0) return YW_OK;
  return yw_fail(error, YW_ERR_IO, "%s: cannot be renamed: %s", fresh, strerror(errno));
}

// In memory first: a file that is opened once takes a fraction of the time.
static yw_status write_small(const char* path, int32_t frame, const yw_world* world,
                             yw_error* error) {
  size_t size = yw_world_snapshot_size(world), used = 0;
  yw_writer writer = sealed_begin(snapshot_magic, SNAPSHOT_HEAD + size);
  if (!writer.data) return yw_fail_memory(error, "a snapshot");
  put_head(&writer, frame);
  yw_status status = yw_world_save(world, writer.data + writer.size, size, &used);
  writer.size += used;
  if (status < 0) {
    yw_fail(error, status, "%s: the state cannot be saved", yw_file_short_name(path));
  } else {
    status = sealed_write(path, &writer, !disk_is_spared(), error);
  }
  yw_mem_free(NULL, writer.data);
  return status;
}

static yw_status write_large(const char* fresh, int32_t frame, const yw_world* world,
                             yw_error* error) {
  unsigned char head[SNAPSHOT_HEAD];
  yw_writer writer = {.data = head, .capacity = sizeof head};
  put_head(&writer, frame);
  yw_file_writer file;
  yw_status status =
      sealed_file_begin(&file, fresh, snapshot_magic, &writer, !disk_is_spared(), error);
  if (status < 0) return status;
  uint64_t size = 0;
  char* path = path_for_ranks(&file, error);
  status =
      path ? yw_world_save_file(world, path, SEALED_MAGIC + writer.size, &size, error) : YW_ERR_IO;
  free(path);
  return sealed_file_end(&file, status, writer.size + size, error);
}

yw_status run_folder_write_snapshot(const char* dir, int32_t frame, const yw_world* world,
                                    bool shared, yw_error* error) {
  char fresh[MAX_FILE], newest[MAX_FILE], before[MAX_FILE];
  file_in(dir, fresh_snapshot, fresh);
  file_in(dir, newest_snapshot, newest);
  file_in(dir, snapshot_before, before);
  yw_status status = disk_sync(dir, error);
  if (status < 0) return status;
  bool is_small = !shared && yw_world_snapshot_size(world) <= SMALL_SNAPSHOT;
  status =
      is_small ? write_small(fresh, frame, world, error) : write_large(fresh, frame, world, error);
  return status < 0 ? status : take_turns(fresh, newest, before, error);
}

static yw_status read_snapshot_file(const char* path, yw_world* world, int32_t* frame,
                                    yw_error* error) {
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status = sealed_read(path, snapshot_magic, &data, &reader, NULL, error);
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

yw_status run_folder_read_snapshot(const char* dir, yw_world* world, int32_t* frame, bool* found,
                                   yw_error* damage, yw_error* error) {
  const char* names[] = {newest_snapshot, snapshot_before};
  yw_status status = YW_OK;
  *found = false;
  *damage = (yw_error){0};
  for (int i = 0; i < 2; ++i) {
    if (!has_file(dir, names[i])) continue;
    char path[MAX_FILE];
    file_in(dir, names[i], path);
    *found = true;
    status = read_snapshot_file(path, world, frame, error);
    if (status >= 0) return YW_OK;
    if (!damage->message[0]) *damage = *error;
  }
  if (status < 0) *error = *damage;
  return status;
}

yw_status snapshot_info_read(const char* path, snapshot_info* out, yw_error* error) {
  yw_file_data data = {0};
  yw_reader reader;
  yw_status status = sealed_read(path, snapshot_magic, &data, &reader, NULL, error);
  if (status < 0) return status;
  *out = (snapshot_info){.frame = (int32_t)yw_read_u32(&reader), .bytes = data.size};
  yw_read_u32(&reader);
  yw_snapshot_info info = {0};
  yw_error inner = {0};
  status =
      yw_snapshot_info_of(reader.data + reader.offset, reader.size - reader.offset, &info, &inner);
  if (status < 0) yw_fail(error, status, "%s: %s", path, inner.message);
  out->time = info.time;
  out->steps = info.steps;
  yw_file_data_free(&data);
  return status;
}
