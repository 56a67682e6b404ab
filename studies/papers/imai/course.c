// SPDX-License-Identifier: MIT
#include "papers/imai/course.h"

#include <math.h>
#include <stdio.h>

#include "reference/clock.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"

// Later than any scene lasts.
#define NEVER "1000000"

static yw_status open_case(const paper_options* options, const fem_case* c, yw_scene** scene,
                           yw_world** world, yw_error* error) {
  char path[1024], starts[PAPER_FEM_CHANGES][40];
  yw_scene_override changes[2 * PAPER_FEM_CHANGES];
  yw_error warning = {0};
  snprintf(path, sizeof path, "%s/papers/%s", options->scenes, c->scene);
  int32_t count = 0;
  for (int32_t i = 0; i < c->num_changes; ++i) changes[count++] = c->changes[i];
  for (int32_t i = 0; i < c->num_bodies && i < PAPER_FEM_CHANGES; ++i) {
    if (i == c->body) continue;
    snprintf(starts[i], sizeof starts[i], "bodies[%d].start", (int)i);
    changes[count++] = (yw_scene_override){starts[i], NEVER};
  }
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.overrides = changes;
  def.num_overrides = count;
  yw_status status = yw_scene_read(&def, scene, &warning, error);
  if (status < 0) return status;
  if (warning.message[0]) fprintf(stderr, "warning: %s\n", warning.message);
  status = yw_scene_build(*scene, options->threads, YW_SIMD_AUTO, world, error);
  if (status < 0) yw_scene_destroy(*scene);
  return status;
}

static void record(const fem_case* c, const yw_world* world, yw_body_id body, int32_t frame,
                   double seconds, fem_course* out) {
  yw_fem_statistics state;
  yw_body_fem_statistics(world, body, &state);
  out->time[frame] = yw_world_time(world);
  out->place[frame] = paper_place(world, body, c->point, c->radius);
  out->tets[frame] = state.num_tets;
  out->steps[frame] = (double)state.inner_steps;
  out->cpu[frame] = seconds;
}

// Momentum / mass, for uniform density. Nodes not in use move with their parents, so the finest
// masses give the same result as those of the front.
static void find_drift(const yw_world* world, yw_body_id body, fem_course* out) {
  const yw_tet_mesh* mesh = yw_model_tets(yw_body_model(world, body));
  int32_t count;
  const yw_vec3* vel = yw_body_velocities(world, body, &count);
  double volume = 0.0, sum[3] = {0.0, 0.0, 0.0};
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    yw_vec3 o = mesh->positions[v[0]];
    yw_vec3 a = yw_sub(mesh->positions[v[1]], o), b = yw_sub(mesh->positions[v[2]], o);
    double part = fabs((double)yw_dot(yw_cross(a, b), yw_sub(mesh->positions[v[3]], o))) / 24.0;
    volume += 4.0 * part;
    for (int k = 0; k < 4; ++k) {
      sum[0] += part * (double)vel[v[k]].x;
      sum[1] += part * (double)vel[v[k]].y;
      sum[2] += part * (double)vel[v[k]].z;
    }
  }
  for (int k = 0; k < 3; ++k) out->drift[k] = sum[k] / volume;
}

yw_status paper_fem_run(const paper_options* options, const fem_case* c, fem_course* out,
                        yw_error* error) {
  *out = (fem_course){0};
  yw_scene* scene;
  yw_world* world;
  yw_status status = open_case(options, c, &scene, &world, error);
  if (status < 0) return status;
  yw_scene_info info = yw_scene_info_of(scene);
  yw_body_id body = yw_world_body(world, c->body);
  int32_t frames = c->frames > 0 ? c->frames : info.frames;
  if (frames > PAPER_FEM_FRAMES) frames = PAPER_FEM_FRAMES;
  frames = paper_at_most(options, frames);
  out->all_tets = yw_model_tets(yw_body_model(world, body))->num_tets;
  record(c, world, body, 0, 0.0, out);
  double seconds = 0.0;
  for (int32_t frame = 1; frame <= frames && status >= 0; ++frame) {
    yw_step_report report;
    double begin = bench_seconds(options->threads == 1);
    status = yw_world_step(world, 1.0f / info.fps, info.substeps, &report);
    seconds += bench_seconds(options->threads == 1) - begin;
    if (status >= 0 && report.diverged_bodies > 0) status = YW_ERR_DIVERGED;
    record(c, world, body, frame, seconds, out);
    out->frames = frame;
  }
  find_drift(world, body, out);
  if (status < 0) yw_fail(error, status, "%s: frame %d failed", c->scene, (int)out->frames);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return status;
}

fem_comparison paper_fem_compare(const fem_course* course, const fem_course* finest) {
  fem_comparison out = {.faster = finest->cpu[finest->frames] / course->cpu[course->frames]};
  int32_t frames = course->frames < finest->frames ? course->frames : finest->frames;
  // Bodies may stand side by side: compare displacements.
  for (int32_t i = 0; i <= frames; ++i) {
    yw_vec3 way = yw_sub(course->place[i], course->place[0]);
    yw_vec3 finest_way = yw_sub(finest->place[i], finest->place[0]);
    out.way = fmax(out.way, (double)yw_length(finest_way));
    out.last_error = (double)yw_distance(way, finest_way);
    out.error = fmax(out.error, out.last_error);
    if (i > 0) out.tets += course->tets[i] / (course->all_tets * (double)frames);
  }
  return out;
}

double paper_fem_rate(const fem_course* course, int32_t frame, int32_t span) {
  int32_t from = frame > span ? frame - span : 0;
  int32_t to = frame + span < course->frames ? frame + span : course->frames;
  return (course->steps[to] - course->steps[from]) / (course->cpu[to] - course->cpu[from]);
}
