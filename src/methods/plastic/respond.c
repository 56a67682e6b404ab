// SPDX-License-Identifier: MIT
// Answer of a plastic body to impulses J on its masters. They go to the slaves with the weights N,
// as forces do, and the answer of the slaves comes back with the same weights:
//   change = N (M + dt^2 H)^-1 N^T J
// with the weights and tangents of the last inner step. Slaves that touch obstacles are free here,
// and affine velocities stay as they are. Masters that see no slaves, sleepers among them, answer
// apart.
#include "methods/kit/respond.h"

#include <string.h>

#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/ranks.h"

// Masters whose weights sum to less see no slaves.
#define LEAST_SHARE 0.5f

// The lists are those of the last solve, which had fewer slaves if some were added since.
static bool has_matrix(const plastic_body* body) {
  bool here = body->num_listed > 0 || body->num_masters == 0;
  bool listed = here && (!body->ranks || body->ranks->num_all_listed > 0);
  if (!(yw_plastic_most(body, listed ? 0.0f : 1.0f) == 0.0f)) return false;
  return body->num_all > 0 && !body->is_moved && !body->model->paper && !body->twin;
}

static bool is_held(const plastic_body* body, const yw_particles* particles) {
  for (int32_t m = 0; m < particles->count; ++m) {
    if (particles->inv_mass[m] == 0.0f) return true;
  }
  bool here = false;
  for (int32_t s = 0; s < body->num_listed && !here; ++s) {
    here = body->normal[s].w == PLASTIC_HELD;
  }
  return yw_plastic_most(body, here ? 1.0f : 0.0f) > 0.0f;
}

// body->pull = N (M + dt^2 H)^-1 N^T pull, w: sum of N.
static bool answer_slaves(plastic_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                          float tolerance) {
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, ctx->simd);
  yw_particles masters = *particles;
  int32_t all = body->num_slaves;
  body->num_slaves = body->num_listed;
  yw_plastic_scatter(body, &masters, ctx, kernels->spread_pull, 1);
  yw_plastic_run_slaves(body, &masters, ctx, kernels->forces);
  bool solved = yw_plastic_solve_answer(body, &masters, ctx, tolerance);
  yw_plastic_run_masters(body, &masters, ctx, kernels->gather_means);
  body->num_slaves = all;
  return solved;
}

yw_status yw_plastic_respond(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx, const yw_vec4* impulses, float tolerance,
                             yw_vec4* change) {
  yw_status brought = yw_plastic_bring_matrix(body);
  if (brought < 0) return brought;
  if (!has_matrix(body)) {
    yw_answer_apart(particles, impulses, change);
    return YW_OK;
  }
  // What sleeps must not be moved by an answer elsewhere.
  bool free = body->sleep.num_asleep == 0 && !is_held(body, particles);
  yw_rigid_answer rigid = {0};
  if (free) rigid = yw_answer_rigidly(particles, impulses, false, change);
  if (!free) memcpy(change, impulses, (size_t)particles->count * sizeof *change);
  // Ranks answer for the masters that they have.
  const yw_particles here = yw_plastic_masters_here(body, particles);
  yw_vec4* own = change + body->first_master;
  for (int32_t m = 0; m < here.count; ++m) {
    bool held = here.inv_mass[m] == 0.0f;
    body->pull[m] = held ? (yw_vec4){0} : yw_v4(yw_xyz(own[m]));
  }
  bool solved = answer_slaves(body, &here, ctx, tolerance);
  for (int32_t m = 0; m < here.count; ++m) {
    float inv_mass = here.inv_mass[m];
    bool apart = body->sleep.island[m] >= 0 || body->pull[m].w < LEAST_SHARE || inv_mass == 0.0f;
    yw_vec3 alone = yw_scale(yw_xyz(own[m]), inv_mass);
    own[m] = yw_v4(apart ? alone : yw_xyz(body->pull[m]));
  }
  if (body->ranks) yw_plastic_gather_values(body, own, change, sizeof *change);
  if (free) yw_answer_add_rigid(particles, &rigid, change);
  return solved ? YW_OK : YW_WARN_NUMERICS;
}
