// SPDX-License-Identifier: MIT
#include "playback/export_surfaces.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

static bool make_surfaces(const shown_scene* shown, yw_vec3*** out) {
  *out = YW_NEW_ARRAY(NULL, yw_vec3*, shown->num_bodies);
  bool made = *out != NULL;
  for (int32_t i = 0; made && i < shown->num_bodies; ++i) {
    const yw_tri_mesh* surface = &shown_model_of(shown, i)->surface;
    if (surface->num_triangles == 0) continue;
    made = ((*out)[i] = YW_NEW_ARRAY(NULL, yw_vec3, surface->num_vertices)) != NULL;
  }
  return made;
}

static bool make_moment(const shown_scene* shown, export_moment* out) {
  out->active = YW_NEW_ARRAY(NULL, bool, shown->num_bodies);
  return make_surfaces(shown, &out->surfaces) && out->active;
}

yw_status export_surfaces_open(const shown_scene* shown, const export_scene* scene, bool velocities,
                               export_surfaces* out, yw_error* error) {
  *out = (export_surfaces){.scene = scene, .num_bodies = shown->num_bodies};
  bool made = make_moment(shown, &out->now);
  if (velocities) {
    made = made && make_moment(shown, &out->before) && make_moment(shown, &out->after) &&
           make_surfaces(shown, &out->velocities);
  }
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

static void free_surfaces(yw_vec3** surfaces, int32_t count) {
  for (int32_t i = 0; surfaces && i < count; ++i) yw_mem_free(NULL, surfaces[i]);
  yw_mem_free(NULL, surfaces);
}

void export_surfaces_close(export_surfaces* s) {
  export_moment* moments[] = {&s->before, &s->now, &s->after};
  for (int k = 0; k < 3; ++k) {
    free_surfaces(moments[k]->surfaces, s->num_bodies);
    yw_mem_free(NULL, moments[k]->active);
  }
  free_surfaces(s->velocities, s->num_bodies);
  *s = (export_surfaces){0};
}

// Sheets without their thickness are at their particles, which are fewer than the vertices shown.
static void flatten(const frame_data* frame, const export_scene* scene, export_moment* out) {
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    if (!export_is_flat(scene, i)) continue;
    int32_t count = export_model_of(scene, i)->surface.num_vertices;
    if (frame->bodies[i].num_particles < count) continue;
    memcpy(out->surfaces[i], frame->bodies[i].positions, (size_t)count * sizeof(yw_vec3));
  }
}

static yw_status move(const frame_data* frame, const shown_scene* shown, const export_scene* scene,
                      export_moment* out, yw_error* error) {
  out->there = true;
  out->time = frame->time;
  bool moved = true;
  for (int32_t i = 0; i < frame->num_bodies && moved; ++i) {
    const frame_body* body = &frame->bodies[i];
    out->active[i] = body->active;
    if (!out->surfaces[i]) continue;
    moved = frame_surface(body, shown_model_of(shown, i), out->surfaces[i]) >= 0;
  }
  moved = moved && frame_keep_apart(frame, shown, out->surfaces) >= 0;
  if (moved) flatten(frame, scene, out);
  return moved ? YW_OK : yw_fail_memory(error, "an export");
}

// A moment before the first frame or after the last is not there.
static yw_status take(run_folder* run, const export_scene* scene, int32_t number, int32_t last,
                      export_moment* out, yw_error* error) {
  out->there = false;
  if (number < 0 || number > last) return YW_OK;
  frame_data frame;
  yw_status status = run_folder_read_frame(run, number, &frame, error);
  if (status < 0) return status;
  status = move(&frame, run->shown, scene, out, error);
  frame_free(&frame);
  return status;
}

yw_status export_surfaces_show(export_surfaces* s, const shown_scene* shown,
                               const frame_data* frame, yw_error* error) {
  return move(frame, shown, s->scene, &s->now, error);
}

static void find_velocities(export_surfaces* s, const shown_scene* shown) {
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    if (!s->velocities[i]) continue;
    bool past = s->before.there && s->before.active[i] && s->now.active[i];
    bool future = s->after.there && s->after.active[i] && s->now.active[i];
    const export_moment *from = past ? &s->before : &s->now, *to = future ? &s->after : &s->now;
    double span = to->time - from->time;
    float rate = span > 0.0 ? (float)(1.0 / span) : 0.0f;
    for (int32_t k = 0; k < shown_model_of(shown, i)->surface.num_vertices; ++k) {
      s->velocities[i][k] = yw_scale(yw_sub(to->surfaces[i][k], from->surfaces[i][k]), rate);
    }
  }
}

yw_status export_surfaces_go(export_surfaces* s, run_folder* run, int32_t frame, int32_t last,
                             yw_error* error) {
  yw_status status = YW_OK;
  if (s->now.there) {
    export_moment oldest = s->before;
    s->before = s->now;
    s->now = s->after;
    s->after = oldest;
  } else {
    status = take(run, s->scene, frame - 1, last, &s->before, error);
    if (status >= 0) status = take(run, s->scene, frame, last, &s->now, error);
  }
  if (status >= 0) status = take(run, s->scene, frame + 1, last, &s->after, error);
  if (status >= 0) find_velocities(s, run->shown);
  return status;
}
