// SPDX-License-Identifier: MIT
#include "playback/gltf_export.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "playback/gltf_file.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_PATH 1700
// The weights are as many as the square of the number of frames.
#define MAX_FRAMES 20000

struct gltf_export {
  run_folder* run;
  char path[MAX_PATH];
  yw_file_writer bin;
  gltf_file file;
  int32_t written;          // frames
  int32_t* obstacle_parts;  // part of each obstacle, or -1: it is not shown
  double start;             // s, of the first frame
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

// The largest number of particles of each body in any frame: some may come later.
static yw_status count_particles(gltf_export* g, int32_t first, int32_t last, int32_t* counts,
                                 yw_error* error) {
  const shown_scene* shown = g->run->shown;
  bool any = false;
  for (int32_t i = 0; i < shown->num_bodies; ++i) {
    any |= shown_model_of(shown, i)->surface.num_triangles == 0;
  }
  yw_status status = YW_OK;
  for (int32_t n = first; n <= last && any && status >= 0; ++n) {
    frame_data frame;
    status = run_folder_read_frame(g->run, n, &frame, error);
    if (status < 0) break;
    for (int32_t i = 0; i < shown->num_bodies; ++i) {
      int32_t count = frame.bodies[i].num_particles;
      if (count > counts[i]) counts[i] = count;
    }
    frame_free(&frame);
  }
  return status;
}

// Bodies first, in their order, then the obstacles that can be seen.
static yw_status make_parts(gltf_export* g, const export_look* looks, const int32_t* particles,
                            yw_error* error) {
  const shown_scene* shown = g->run->shown;
  gltf_file* f = &g->file;
  yw_status status = YW_OK;
  for (int32_t i = 0; i < shown->num_bodies && status >= 0; ++i) {
    const export_look* look = &looks[shown->bodies[i].model];
    status = gltf_part_of_body(shown, i, look, particles[i], &f->parts[f->num_parts++], error);
  }
  for (int32_t i = 0; i < shown->num_obstacles && status >= 0; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    g->obstacle_parts[i] = obstacle->look.visible ? f->num_parts : -1;
    if (!obstacle->look.visible) continue;
    status = gltf_part_of_obstacle(obstacle, &f->parts[f->num_parts++], error);
  }
  return status;
}

static yw_status make_room(gltf_export* g, yw_error* error) {
  const shown_scene* shown = g->run->shown;
  gltf_file* f = &g->file;
  if (f->num_frames > MAX_FRAMES) {
    return yw_fail(error, YW_ERR_LIMIT, "gltf: %d frames are more than %d; use --from or pc2",
                   f->num_frames, MAX_FRAMES);
  }
  size_t parts = (size_t)shown->num_bodies + (size_t)shown->num_obstacles;
  f->parts = yw_mem_alloc(NULL, parts, sizeof *f->parts);
  f->places = yw_mem_alloc(NULL, parts, sizeof *f->places);
  f->blocks = yw_mem_alloc(NULL, (size_t)f->num_frames * parts, sizeof *f->blocks);
  f->poses = yw_mem_alloc(NULL, (size_t)f->num_frames * parts, sizeof *f->poses);
  f->times = YW_NEW_ARRAY(NULL, float, f->num_frames);
  g->obstacle_parts = YW_NEW_ARRAY(NULL, int32_t, shown->num_obstacles);
  bool made = f->parts && f->places && f->blocks && f->poses && f->times && g->obstacle_parts;
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

static void write_topology(gltf_export* g) {
  for (int32_t i = 0; i < g->file.num_parts; ++i) {
    const gltf_part* p = &g->file.parts[i];
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

yw_status gltf_export_open(const char* folder, run_folder* run, const export_look* looks,
                           int32_t first, int32_t last, gltf_export** out, yw_error* error) {
  gltf_export* g = *out = YW_NEW(NULL, gltf_export);
  if (!g) return yw_fail_memory(error, "an export");
  g->run = run;
  g->file.num_frames = last - first + 1;
  snprintf(g->path, sizeof g->path, "%s/run", folder);
  int32_t* particles = YW_NEW_ARRAY(NULL, int32_t, run->shown->num_bodies);
  yw_status status = particles ? make_room(g, error) : yw_fail_memory(error, "an export");
  if (status >= 0) status = count_particles(g, first, last, particles, error);
  if (status >= 0) status = make_parts(g, looks, particles, error);
  yw_mem_free(NULL, particles);
  char path[MAX_PATH + 8];
  snprintf(path, sizeof path, "%s.bin", g->path);
  if (status >= 0) status = yw_file_writer_open(&g->bin, path, NULL, error);
  if (status >= 0) write_topology(g);
  return status;
}

// Frames ------------------------------------------------------------------------------------------

static void write_part(gltf_export* g, gltf_part* p, gltf_block* b) {
  bool first = g->written == 0;
  if (first) {
    memcpy(p->first, p->now, (size_t)p->num_points * sizeof *p->now);
    memcpy(p->first_normals, p->normals, (size_t)p->num_points * sizeof *p->normals);
  }
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

// The box of all bodies in the first frame.
static yw_aabb box_of_bodies(const gltf_export* g) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < g->run->shown->num_bodies; ++i) {
    const gltf_part* p = &g->file.parts[i];
    for (int32_t k = 0; k < p->num_points; ++k) box = yw_aabb_grow(box, p->now[k]);
  }
  const yw_aabb unit = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
  return box.lower.x <= box.upper.x ? box : unit;
}

yw_status gltf_export_frame(gltf_export* g, const frame_data* frame, yw_vec3* const* surfaces,
                            yw_error* error) {
  gltf_file* f = &g->file;
  if (g->written >= f->num_frames) return yw_fail(error, YW_ERR_INVALID, "too many frames");
  size_t row = (size_t)g->written * (size_t)f->num_parts;
  yw_status status = YW_OK;
  for (int32_t i = 0; i < frame->num_bodies && status >= 0; ++i) {
    status = gltf_part_pose_body(&f->parts[i], &frame->bodies[i], surfaces[i], error);
  }
  yw_aabb focus = box_of_bodies(g);
  for (int32_t i = 0; i < frame->num_obstacles && status >= 0; ++i) {
    int32_t at = g->obstacle_parts[i];
    if (at < 0) continue;
    gltf_part* part = &f->parts[at];
    f->poses[row + (size_t)at] = frame->obstacles[i];
    if (!part->morphs && g->written > 0) continue;
    gltf_part_pose_obstacle(part, frame->time, frame->obstacles[i], focus);
  }
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
  for (int32_t i = 0; i < g->file.num_parts; ++i) any |= gltf_part_is_shown(&g->file.parts[i]);
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
  for (int32_t i = 0; i < g->file.num_parts; ++i) gltf_part_free(&g->file.parts[i]);
  yw_mem_free(NULL, g->file.parts);
  yw_mem_free(NULL, g->file.places);
  yw_mem_free(NULL, g->file.blocks);
  yw_mem_free(NULL, g->file.poses);
  yw_mem_free(NULL, g->file.times);
  yw_mem_free(NULL, g->obstacle_parts);
  yw_mem_free(NULL, g);
}
