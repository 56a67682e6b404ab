// SPDX-License-Identifier: MIT
#include "playback/export_parts.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// The largest number of particles of each body in any frame: some may come later.
static yw_status count_particles(run_folder* run, int32_t first, int32_t last, int32_t* counts,
                                 yw_error* error) {
  const shown_scene* shown = run->shown;
  bool any = false;
  for (int32_t i = 0; i < shown->num_bodies; ++i) {
    any |= shown_model_of(shown, i)->surface.num_triangles == 0;
  }
  yw_status status = YW_OK;
  for (int32_t n = first; n <= last && any && status >= 0; ++n) {
    frame_data frame;
    status = run_folder_read_frame(run, n, &frame, error);
    if (status < 0) break;
    for (int32_t i = 0; i < shown->num_bodies; ++i) {
      int32_t count = frame.bodies[i].num_particles;
      if (count > counts[i]) counts[i] = count;
    }
    frame_free(&frame);
  }
  return status;
}

static yw_status make_parts(export_parts* parts, const export_scene* scene,
                            const int32_t* particles, yw_error* error) {
  const shown_scene* shown = parts->shown;
  yw_status status = YW_OK;
  for (int32_t i = 0; i < shown->num_bodies && status >= 0; ++i) {
    const export_look* look = &scene->looks[shown->bodies[i].model];
    export_part* part = &parts->items[parts->count++];
    status = export_part_of_body(shown, i, look, particles[i], part, error);
    part->two_sided = export_is_flat(scene, i);
  }
  for (int32_t i = 0; i < shown->num_obstacles && status >= 0; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    parts->of_obstacle[i] = obstacle->look.visible ? parts->count : -1;
    if (!obstacle->look.visible) continue;
    status = export_part_of_obstacle(obstacle, &parts->items[parts->count++], error);
  }
  return status;
}

yw_status export_parts_open(run_folder* run, const export_scene* scene, int32_t first, int32_t last,
                            export_parts* out, yw_error* error) {
  const shown_scene* shown = &scene->shown;
  size_t most = (size_t)shown->num_bodies + (size_t)shown->num_obstacles;
  *out = (export_parts){.shown = shown};
  out->items = yw_mem_alloc(NULL, most, sizeof *out->items);
  out->of_obstacle = YW_NEW_ARRAY(NULL, int32_t, shown->num_obstacles);
  int32_t* particles = YW_NEW_ARRAY(NULL, int32_t, shown->num_bodies);
  bool made = out->items && out->of_obstacle && particles;
  yw_status status = made ? YW_OK : yw_fail_memory(error, "an export");
  if (status >= 0) status = count_particles(run, first, last, particles, error);
  if (status >= 0) status = make_parts(out, scene, particles, error);
  yw_mem_free(NULL, particles);
  return status;
}

void export_parts_close(export_parts* parts) {
  for (int32_t i = 0; i < parts->count; ++i) export_part_free(&parts->items[i]);
  yw_mem_free(NULL, parts->items);
  yw_mem_free(NULL, parts->of_obstacle);
  *parts = (export_parts){0};
}

// The box of all bodies, around which planes are shown.
static yw_aabb box_of_bodies(const export_parts* parts) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < parts->shown->num_bodies; ++i) {
    const export_part* p = &parts->items[i];
    for (int32_t k = 0; k < p->num_points; ++k) box = yw_aabb_grow(box, p->now[k]);
  }
  const yw_aabb unit = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
  return box.lower.x <= box.upper.x ? box : unit;
}

yw_status export_parts_pose(export_parts* parts, const frame_data* frame, yw_vec3* const* surfaces,
                            bool start, yw_transform* poses, yw_error* error) {
  yw_status status = YW_OK;
  for (int32_t i = 0; i < frame->num_bodies && status >= 0; ++i) {
    status = export_part_pose_body(&parts->items[i], &frame->bodies[i], surfaces[i], error);
  }
  yw_aabb focus = box_of_bodies(parts);
  for (int32_t i = 0; i < frame->num_obstacles && status >= 0; ++i) {
    int32_t at = parts->of_obstacle[i];
    if (at < 0) continue;
    export_part* part = &parts->items[at];
    poses[at] = frame->obstacles[i];
    if (!part->morphs && !start) continue;
    export_part_pose_obstacle(part, frame->time, frame->obstacles[i], focus);
  }
  for (int32_t i = 0; i < parts->count && start && status >= 0; ++i) {
    export_part* p = &parts->items[i];
    memcpy(p->first, p->now, (size_t)p->num_points * sizeof *p->now);
    memcpy(p->first_normals, p->normals, (size_t)p->num_points * sizeof *p->normals);
  }
  return status;
}
