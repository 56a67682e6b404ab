// SPDX-License-Identifier: MIT
// Worlds from the small scenes of tests/golden/scenes, which between them use every method.
#ifndef YW_TESTS_SUPPORT_SAMPLE_SCENES_H
#define YW_TESTS_SUPPORT_SAMPLE_SCENES_H

#include "support/testing.h"
#include "yawara/extend/hash.h"
#include "yawara/yawara.h"

/// The scene of this name. overrides may be NULL, jobs too.
static inline yw_scene* sample_scene(const char* name, const yw_scene_override* overrides,
                                     int32_t num_overrides, const yw_jobs* jobs) {
  char path[500];
  snprintf(path, sizeof path, "%s/tests/golden/scenes/%s.json", YW_SOURCE_DIR, name);
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.overrides = overrides;
  def.num_overrides = num_overrides;
  if (jobs) def.jobs = *jobs;
  yw_scene* scene = NULL;
  yw_error warning = {0}, error = {0};
  if (yw_scene_read(&def, &scene, &warning, &error) < 0) fail_msg("%s", error.message);
  // Stiff materials are slow in "fem"; anything else would be a mistake of the scene.
  bool slow = strstr(warning.message, "inner steps for a second");
  if (warning.message[0] && !slow) fail_msg("%s: %s", name, warning.message);
  return scene;
}

static inline yw_world* sample_world(const yw_scene* scene, int32_t threads, yw_simd simd) {
  yw_world* world = NULL;
  yw_error error = {0};
  if (yw_scene_build(scene, threads, simd, &world, &error) < 0) fail_msg("%s", error.message);
  return world;
}

/// Steps like `yawara run`.
static inline void step_frames(yw_world* world, const yw_scene* scene, int32_t frames) {
  yw_scene_info info = yw_scene_info_of(scene);
  for (int32_t i = 0; i < frames; ++i) {
    yw_status status = yw_world_step(world, 1.0f / info.fps, info.substeps, NULL);
    if (status != YW_OK) fail_msg("frame %d: status %d", (int)i, (int)status);
  }
}

/// Hash of positions and velocities only.
static inline uint64_t motion_hash(const yw_world* world) {
  uint64_t hash = YW_HASH_SEED;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    int32_t count = 0;
    yw_body_id id = yw_world_body(world, i);
    const yw_vec3* x = yw_body_positions(world, id, &count);
    const yw_vec3* v = yw_body_velocities(world, id, &count);
    hash = yw_hash_bytes(hash, x, sizeof *x * (size_t)count);
    hash = yw_hash_bytes(hash, v, sizeof *v * (size_t)count);
  }
  return hash;
}

#endif
