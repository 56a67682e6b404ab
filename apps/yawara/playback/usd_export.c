// SPDX-License-Identifier: MIT
// A prim of USD text has all samples of an attribute in one place, but frames come one by one:
// their numbers wait in a file of their own.
#include "playback/usd_export.h"

#include <errno.h>
#include <string.h>

#include "playback/usd_file.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_PATH 1700

struct usd_export {
  run_folder* run;
  const export_scene* scene;
  char path[MAX_PATH];
  bool velocities;
  int32_t written;  // frames
  export_parts parts;
  usd_file file;
  float* values;  // of a frame
};

// Open --------------------------------------------------------------------------------------------

static bool is_body(const usd_export* u, int32_t part) { return part < u->run->shown->num_bodies; }

// Which numbers the parts have, and where they are in those of a frame.
static void plan_parts(usd_export* u, const frame_data* frame) {
  usd_file* f = &u->file;
  for (int32_t i = 0; i < u->parts.count; ++i) {
    const export_part* p = &u->parts.items[i];
    usd_part* own = &f->own[i];
    const float* kept[3];
    const export_look* look =
        is_body(u, i) ? &u->scene->looks[u->run->shown->bodies[i].model] : NULL;
    own->look = look && look->known ? look : NULL;
    own->num_points = p->surface ? p->surface->num_vertices : p->num_points;
    own->has[USD_POINTS] = true;
    own->has[USD_NORMALS] = p->num_triangles > 0;
    own->has[USD_WIDTHS] = is_body(u, i) && p->num_triangles == 0;
    own->has[USD_VELOCITIES] =
        u->velocities && is_body(u, i) && (p->surface || frame_velocity(&frame->bodies[i], kept));
    for (int s = 0; s < USD_NUM_STREAMS; ++s) {
      own->at[s] = f->frame_size;
      if (own->has[s]) f->frame_size += usd_stream_size(f, i, (usd_stream)s);
    }
  }
}

yw_status usd_export_open(const char* folder, run_folder* run, const export_scene* scene,
                          int32_t first, int32_t last, bool velocities, usd_export** out,
                          yw_error* error) {
  usd_export* u = *out = YW_NEW(NULL, usd_export);
  if (!u) return yw_fail_memory(error, "an export");
  u->run = run;
  u->scene = scene;
  u->velocities = velocities;
  u->file = (usd_file){.parts = &u->parts,
                       .first = first,
                       .num_frames = last - first + 1,
                       .fps = (double)run->info.fps};
  yw_status status = export_parts_open(run, scene, first, last, &u->parts, error);
  if (status < 0) return status;
  size_t cells = (size_t)u->file.num_frames * (size_t)u->parts.count;
  u->file.own = yw_mem_alloc(NULL, (size_t)u->parts.count, sizeof *u->file.own);
  u->file.poses = yw_mem_alloc(NULL, cells, sizeof *u->file.poses);
  u->file.active = yw_mem_alloc(NULL, cells, 1);
  if (!u->file.own || !u->file.poses || !u->file.active) return yw_fail_memory(error, "an export");
  // The numbers need no name: they are gone when the file is closed.
  snprintf(u->path, sizeof u->path, "%s/run.numbers", folder);
  u->file.numbers = fopen(u->path, "w+b");
  if (!u->file.numbers) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot be opened: %s", u->path, strerror(errno));
  }
  remove(u->path);
  snprintf(u->path, sizeof u->path, "%s/run.usda", folder);
  return YW_OK;
}

// Frames ------------------------------------------------------------------------------------------

// Particles that have not come yet have no width.
static void take_particles(const frame_body* body, const usd_part* own, float* values) {
  const float* v[3];
  bool fast = own->has[USD_VELOCITIES] && frame_velocity(body, v);
  for (int32_t k = 0; k < own->num_points; ++k) {
    bool there = k < body->num_particles;
    float radius = there && body->radii ? body->radii[k] : 0.0f;
    values[own->at[USD_WIDTHS] + (size_t)k] = 2.0f * radius;
    for (int c = 0; fast && c < 3; ++c) {
      values[own->at[USD_VELOCITIES] + 3 * (size_t)k + (size_t)c] = there ? v[c][k] : 0.0f;
    }
  }
}

static void take_part(const usd_export* u, const frame_data* frame, const export_surfaces* surfaces,
                      int32_t part) {
  const export_part* p = &u->parts.items[part];
  const usd_part* own = &u->file.own[part];
  size_t bytes = (size_t)own->num_points * sizeof(yw_vec3);
  const yw_vec3* points = p->now;
  if (is_body(u, part) && p->surface) points = surfaces->now.surfaces[part];
  memcpy(u->values + own->at[USD_POINTS], points, bytes);
  if (own->has[USD_NORMALS]) {
    memcpy(u->values + own->at[USD_NORMALS], p->normals, (size_t)p->num_points * sizeof(yw_vec3));
  }
  if (own->has[USD_WIDTHS]) take_particles(&frame->bodies[part], own, u->values);
  if (own->has[USD_VELOCITIES] && p->surface) {
    memcpy(u->values + own->at[USD_VELOCITIES], surfaces->velocities[part], bytes);
  }
}

yw_status usd_export_frame(usd_export* u, const frame_data* frame, const export_surfaces* surfaces,
                           yw_error* error) {
  usd_file* f = &u->file;
  if (u->written >= f->num_frames) return yw_fail(error, YW_ERR_INVALID, "too many frames");
  size_t row = (size_t)u->written * (size_t)u->parts.count;
  yw_status status = export_parts_pose(&u->parts, frame, surfaces->now.surfaces, u->written == 0,
                                       f->poses + row, error);
  if (status >= 0 && u->written == 0) {
    plan_parts(u, frame);
    u->values = YW_NEW_ARRAY(NULL, float, f->frame_size);
    if (!u->values) status = yw_fail_memory(error, "an export");
  }
  if (status < 0) return status;
  for (int32_t i = 0; i < u->parts.count; ++i) {
    f->active[row + (size_t)i] = is_body(u, i) ? frame->bodies[i].active : 1;
    take_part(u, frame, surfaces, i);
  }
  if (fwrite(u->values, sizeof *u->values, f->frame_size, f->numbers) != f->frame_size) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", u->path, strerror(errno));
  }
  ++u->written;
  return YW_OK;
}

yw_status usd_export_close(usd_export* u, yw_error* error) {
  bool any = false;
  for (int32_t i = 0; i < u->parts.count; ++i) any |= export_part_is_shown(&u->parts.items[i]);
  if (u->written != u->file.num_frames || !any) {
    return yw_fail(error, YW_ERR_INVALID, "usd: there is nothing to write");
  }
  return usd_file_write(&u->file, u->path, error);
}

void usd_export_free(usd_export* u) {
  if (!u) return;
  if (u->file.numbers) fclose(u->file.numbers);
  export_parts_close(&u->parts);
  yw_mem_free(NULL, u->file.own);
  yw_mem_free(NULL, u->file.poses);
  yw_mem_free(NULL, u->file.active);
  yw_mem_free(NULL, u->values);
  yw_mem_free(NULL, u);
}
