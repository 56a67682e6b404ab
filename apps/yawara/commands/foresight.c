// SPDX-License-Identifier: MIT
#include "commands/foresight.h"

#include <sys/resource.h>

#include "yawara/extend/shared_body.h"
#include "yawara/extend/timer.h"

#define PROBE_SECONDS 0.5
#define PROBE_FRAMES 30

run_cost run_cost_of(const yw_world* world) {
  run_cost cost = {0};
  int64_t points = 0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    const yw_model* model = yw_body_model(world, id);
    // Of bodies that ranks share nobody shall make a list of positions.
    int32_t count = yw_body_shared_particles(world, id);
    if (count == 0) yw_body_positions(world, id, &count);
    cost.particles += count;
    if (yw_model_surface_has_state(model)) points += yw_model_surface(model)->num_vertices;
  }
  cost.frame_bytes = (double)sizeof(yw_vec3) * (double)(cost.particles + points);
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) cost.memory_bytes = 1024.0 * (double)usage.ru_maxrss;
  return cost;
}

double probe_frames(yw_world* world, const yw_scene_info* info, int32_t* frames) {
  double start = yw_seconds();
  for (*frames = 0; *frames < PROBE_FRAMES && *frames < info->frames; ++*frames) {
    if (yw_seconds() - start > PROBE_SECONDS) break;
    if (yw_world_step(world, 1.0f / info->fps, info->substeps, NULL) < 0) return 0.0;
  }
  return *frames > 0 ? (yw_seconds() - start) / *frames : 0.0;
}
