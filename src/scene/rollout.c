// SPDX-License-Identifier: MIT
// Many variants of a scene: read, built, played and recorded on several threads, one variant each.
#include <stdatomic.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/tasks.h"
#include "yawara/extend/timer.h"
#include "yawara/scene.h"

// Seconds between two questions whether to stop.
#define QUESTION_SECONDS 0.05

typedef struct rollout_job {
  const yw_rollout_def* def;
  atomic_bool over;  // nothing more is begun
} rollout_job;

yw_rollout_def yw_default_rollout_def(void) {
  return (yw_rollout_def){.scene = yw_default_scene_def(), .frames = -1};
}

// Finds the bodies and writes the start. rows: for yw_world_record, whose first row is frame 1.
static yw_status begin(const yw_rollout_def* def, int32_t index, const yw_world* world,
                       yw_recording* rows, yw_error* error) {
  for (int32_t i = 0; i < def->num_tracks; ++i) {
    const yw_rollout_track* track = &def->tracks[i];
    int32_t count = 0;
    yw_body_id body = yw_world_body(world, track->body);
    const yw_vec3* positions = yw_body_positions(world, body, &count);
    if (!positions || count != track->count) {
      return yw_fail(error, YW_ERR_LIMIT, "%s: body %d has %d particles, but there is room for %d",
                     def->scene.path, track->body, count, track->count);
    }
    size_t rows_before = (size_t)index * ((size_t)def->frames + 1);
    yw_vec3* room = track->positions + rows_before * (size_t)count;
    memcpy(room, positions, (size_t)count * sizeof *positions);
    rows[i] = (yw_recording){body, room + count, count};
  }
  return YW_OK;
}

static yw_status name_fault(const yw_rollout_def* def, const yw_world* world, yw_status status,
                            yw_error* error) {
  if (status == YW_ERR_LIMIT) {
    return yw_fail(error, status, "%s: the number of particles of a body changed at t = %g s",
                   def->scene.path, yw_world_time(world));
  }
  for (int32_t i = 0; status == YW_WARN_NUMERICS && i < yw_world_num_bodies(world); ++i) {
    yw_body_id body = yw_world_body(world, i);
    if (!yw_body_is_diverged(world, body)) continue;
    return yw_fail(error, YW_ERR_DIVERGED, "body \"%s\" diverged at t = %g s: try more substeps",
                   yw_body_name(world, body), yw_world_time(world));
  }
  if (status < 0) return yw_fail(error, status, "%s: a step failed", def->scene.path);
  return YW_OK;
}

static bool is_over(rollout_job* job, double* asked) {
  const yw_rollout_def* def = job->def;
  double now = def->stop ? yw_seconds() : 0.0;
  if (def->stop && now - *asked > QUESTION_SECONDS) {
    *asked = now;
    if (def->stop(def->stop_context)) atomic_store(&job->over, true);
  }
  return atomic_load(&job->over);
}

static yw_status play(rollout_job* job, int32_t index, const yw_scene* scene, yw_world* world,
                      yw_recording* rows) {
  const yw_rollout_def* def = job->def;
  yw_rollout_variant* variant = &def->variants[index];
  const yw_scene_info info = yw_scene_info_of(scene);
  int32_t frames = def->frames < 0 ? info.frames : def->frames;
  double asked = def->stop ? yw_seconds() : 0.0;
  yw_status status = begin(def, index, world, rows, &variant->message);
  while (status >= 0 && variant->frames < frames && !is_over(job, &asked)) {
    // Without a report, which would read clocks in every substep.
    int32_t taken = 0;
    status = yw_world_record(world, 1.0f / info.fps, info.substeps, 1, rows, def->num_tracks,
                             &taken, NULL);
    variant->frames += taken;
    status = name_fault(def, world, status, &variant->message);
    for (int32_t i = 0; i < def->num_tracks; ++i) rows[i].positions += rows[i].count;
  }
  variant->hash = yw_world_hash(world);
  return status;
}

// The scene's overrides, then those of the variant.
static yw_status read_variant(const yw_rollout_def* def, yw_rollout_variant* variant,
                              yw_scene** out) {
  yw_scene_def own = def->scene;
  own.num_overrides = def->scene.num_overrides + variant->num_overrides;
  yw_scene_override* all = YW_NEW_ARRAY(&own.mem, yw_scene_override, own.num_overrides);
  if (!all) return yw_fail_memory(&variant->message, "a variant");
  for (int32_t i = 0; i < own.num_overrides; ++i) {
    int32_t k = i - def->scene.num_overrides;
    all[i] = k < 0 ? def->scene.overrides[i] : variant->overrides[k];
  }
  own.overrides = all;
  own.threads = 1;
  own.jobs = (yw_jobs){0};
  yw_error warning;
  yw_status status = yw_scene_read(&own, out, &warning, &variant->message);
  if (status >= 0) variant->message = warning;
  yw_mem_free(&own.mem, all);
  return status;
}

static void run_variant(void* context, int32_t index, int32_t worker) {
  rollout_job* job = context;
  const yw_rollout_def* def = job->def;
  const yw_allocator* mem = &def->scene.mem;
  yw_rollout_variant* variant = &def->variants[index];
  (void)worker;
  if (atomic_load(&job->over)) return;
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  yw_recording* rows = NULL;
  yw_status status = read_variant(def, variant, &scene);
  yw_error error = {0};
  if (status >= 0) status = yw_scene_build(scene, 1, def->simd, &world, &error);
  if (status < 0 && error.message[0]) variant->message = error;
  if (status >= 0) {
    rows = YW_NEW_ARRAY(mem, yw_recording, def->num_tracks);
    status = rows ? play(job, index, scene, world, rows)
                  : yw_fail_memory(&variant->message, "a recording");
  }
  variant->status = status;
  // Too little room says nothing about the other variants.
  if (status < 0 && status != YW_ERR_LIMIT && !def->keep_going) atomic_store(&job->over, true);
  yw_mem_free(mem, rows);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

static bool makes_sense(const yw_rollout_def* def) {
  bool good = def && def->num_variants >= 0 && def->num_tracks >= 0 && def->threads >= 0 &&
              (def->num_variants == 0 || def->variants) &&
              (def->num_tracks == 0 || (def->tracks && def->frames >= 0));
  for (int32_t i = 0; good && i < def->num_tracks; ++i) {
    good = def->tracks[i].count >= 0 && def->tracks[i].positions;
  }
  for (int32_t i = 0; good && i < def->num_variants; ++i) {
    const yw_rollout_variant* variant = &def->variants[i];
    good = variant->num_overrides >= 0 && (variant->num_overrides == 0 || variant->overrides);
  }
  return good;
}

yw_status yw_scene_rollout(const yw_rollout_def* def, yw_error* error) {
  if (error) *error = (yw_error){0};
  if (!makes_sense(def)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a rollout needs variants, and tracks need frames and room for positions");
  }
  rollout_job job = {.def = def};
  for (int32_t i = 0; i < def->num_variants; ++i) {
    yw_rollout_variant* variant = &def->variants[i];
    *variant = (yw_rollout_variant){.overrides = variant->overrides,
                                    .num_overrides = variant->num_overrides,
                                    .status = YW_ERR_INVALID};
  }
  yw_tasks* tasks = def->threads == 1 ? NULL : yw_tasks_create(&def->scene.mem, def->threads);
  if (!tasks && def->threads != 1) return yw_fail_memory(error, "a rollout");
  yw_tasks_run(tasks, def->num_variants, run_variant, &job);
  yw_tasks_destroy(tasks);
  return YW_OK;
}
