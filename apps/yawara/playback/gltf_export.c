// SPDX-License-Identifier: MIT
#include "playback/gltf_export.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "playback/export_parts.h"
#include "playback/gltf_file.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_PATH 1700
// The weights are as many as the square of the number of frames.
#define MAX_FRAMES 20000

struct gltf_export {
  char path[MAX_PATH];
  yw_file_writer bin;
  export_parts parts;
  gltf_file file;
  int32_t written;  // frames
  double start;     // s, of the first frame
};

// Bytes -------------------------------------------------------------------------------------------

static void put_u32(gltf_export* g, uint32_t value) {
  const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  yw_file_write(&g->bin, bytes, sizeof bytes);
  g->file.size += sizeof bytes;
}

static void put_float(gltf_export* g, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_u32(g, bits);
}

static void put_vec3(gltf_export* g, yw_vec3 v) {
  put_float(g, v.x);
  put_float(g, v.y);
  put_float(g, v.z);
}

// Parts -------------------------------------------------------------------------------------------

static yw_status make_room(gltf_export* g, yw_error* error) {
  gltf_file* f = &g->file;
  f->parts = g->parts.items;
  f->num_parts = g->parts.count;
  size_t parts = (size_t)f->num_parts;
  f->places = yw_mem_alloc(NULL, parts, sizeof *f->places);
  f->blocks = yw_mem_alloc(NULL, (size_t)f->num_frames * parts, sizeof *f->blocks);
  f->poses = yw_mem_alloc(NULL, (size_t)f->num_frames * parts, sizeof *f->poses);
  f->times = YW_NEW_ARRAY(NULL, float, f->num_frames);
  bool made = f->places && f->blocks && f->poses && f->times;
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

static void write_topology(gltf_export* g) {
  for (int32_t i = 0; i < g->file.num_parts; ++i) {
    const export_part* p = &g->file.parts[i];
    gltf_place* place = &g->file.places[i];
    place->triangles = g->file.size;
    for (int32_t k = 0; k < 3 * p->num_triangles; ++k) put_u32(g, (uint32_t)p->triangles[k]);
    place->colors = g->file.size;
    for (int32_t k = 0; p->colors && k < p->num_points; ++k) {
      put_vec3(g, p->colors[p->vertices ? p->vertices[k] : k]);
    }
    place->uvs = g->file.size;
    // glTF counts v from the top of a picture.
    for (size_t k = 0; p->uvs && k < (size_t)p->num_points; ++k) {
      put_float(g, p->uvs[2 * k]);
      put_float(g, 1.0f - p->uvs[2 * k + 1]);
    }
  }
}

yw_status gltf_export_open(const char* folder, run_folder* run, const export_scene* scene,
                           int32_t first, int32_t last, gltf_export** out, yw_error* error) {
  gltf_export* g = *out = YW_NEW(NULL, gltf_export);
  if (!g) return yw_fail_memory(error, "an export");
  g->file.num_frames = last - first + 1;
  if (g->file.num_frames > MAX_FRAMES) {
    return yw_fail(error, YW_ERR_LIMIT, "gltf: %d frames are more than %d; use --from or pc2",
                   g->file.num_frames, MAX_FRAMES);
  }
  snprintf(g->path, sizeof g->path, "%s/run", folder);
  yw_status status = export_parts_open(run, scene, first, last, &g->parts, error);
  if (status >= 0) status = make_room(g, error);
  char path[MAX_PATH + 8];
  snprintf(path, sizeof path, "%s.bin", g->path);
  if (status >= 0) status = yw_file_writer_open(&g->bin, path, NULL, error);
  if (status >= 0) write_topology(g);
  return status;
}

// Frames ------------------------------------------------------------------------------------------

static void write_part(gltf_export* g, const export_part* p, gltf_block* b) {
  bool first = g->written == 0;
  b->at = g->file.size;
  b->low = yw_v3(FLT_MAX, FLT_MAX, FLT_MAX);
  b->high = yw_v3(-FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (int32_t i = 0; i < p->num_points; ++i) {
    yw_vec3 v = first ? p->now[i] : yw_sub(p->now[i], p->first[i]);
    b->low = yw_v3(fminf(b->low.x, v.x), fminf(b->low.y, v.y), fminf(b->low.z, v.z));
    b->high = yw_v3(fmaxf(b->high.x, v.x), fmaxf(b->high.y, v.y), fmaxf(b->high.z, v.z));
    put_vec3(g, v);
  }
  for (int32_t i = 0; i < p->num_points && p->num_triangles > 0; ++i) {
    put_vec3(g, first ? p->normals[i] : yw_sub(p->normals[i], p->first_normals[i]));
  }
}

yw_status gltf_export_frame(gltf_export* g, const frame_data* frame, yw_vec3* const* surfaces,
                            yw_error* error) {
  gltf_file* f = &g->file;
  if (g->written >= f->num_frames) return yw_fail(error, YW_ERR_INVALID, "too many frames");
  size_t row = (size_t)g->written * (size_t)f->num_parts;
  yw_status status =
      export_parts_pose(&g->parts, frame, surfaces, g->written == 0, f->poses + row, error);
  for (int32_t i = 0; i < f->num_parts && status >= 0; ++i) {
    if (!f->parts[i].morphs && g->written > 0) continue;
    write_part(g, &f->parts[i], &f->blocks[row + (size_t)i]);
  }
  if (g->written == 0) g->start = frame->time;
  f->times[g->written++] = (float)(frame->time - g->start);
  return status;
}

// The end -----------------------------------------------------------------------------------------

static void write_weights(gltf_export* g) {
  gltf_file* f = &g->file;
  f->times_at = f->size;
  for (int32_t i = 0; i < f->num_frames; ++i) put_float(g, f->times[i]);
  f->weights_at = f->size;
  for (int32_t i = 0; i < f->num_frames; ++i) {
    for (int32_t k = 1; k < f->num_frames; ++k) put_float(g, i == k ? 1.0f : 0.0f);
  }
}

// Poses of a part over all frames, if they change.
static void write_poses(gltf_export* g, int32_t part) {
  gltf_file* f = &g->file;
  gltf_place* place = &f->places[part];
  const size_t step = (size_t)f->num_parts, frames = (size_t)f->num_frames;
  const yw_transform* poses = f->poses + part;
  if (!f->parts[part].obstacle || f->parts[part].morphs) return;
  for (size_t i = 1; i < frames; ++i) {
    place->moves |= memcmp(&poses[i * step], &poses[0], sizeof *poses) != 0;
  }
  if (!place->moves) return;
  place->positions = f->size;
  for (size_t i = 0; i < frames; ++i) put_vec3(g, poses[i * step].position);
  place->rotations = f->size;
  for (size_t i = 0; i < frames; ++i) {
    yw_quat q = yw_quat_normalize(poses[i * step].rotation);
    put_vec3(g, yw_v3(q.x, q.y, q.z));
    put_float(g, q.w);
  }
  place->scales = f->size;
  for (size_t i = 0; i < frames; ++i) {
    float s = poses[i * step].scale;
    put_vec3(g, yw_v3(s, s, s));
  }
}

yw_status gltf_export_close(gltf_export* g, yw_error* error) {
  bool any = false;
  for (int32_t i = 0; i < g->file.num_parts; ++i) any |= export_part_is_shown(&g->file.parts[i]);
  if (g->written != g->file.num_frames || !any) {
    return yw_fail(error, YW_ERR_INVALID, "gltf: there is nothing to write");
  }
  write_weights(g);
  for (int32_t i = 0; i < g->file.num_parts; ++i) write_poses(g, i);
  yw_status status = yw_file_writer_commit(&g->bin, error);
  char path[MAX_PATH + 8];
  snprintf(path, sizeof path, "%s.gltf", g->path);
  return status < 0 ? status : gltf_file_describe(&g->file, path, error);
}

void gltf_export_free(gltf_export* g) {
  if (!g) return;
  yw_file_writer_abort(&g->bin);
  export_parts_close(&g->parts);
  yw_mem_free(NULL, g->file.places);
  yw_mem_free(NULL, g->file.blocks);
  yw_mem_free(NULL, g->file.poses);
  yw_mem_free(NULL, g->file.times);
  yw_mem_free(NULL, g);
}
