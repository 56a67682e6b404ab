// SPDX-License-Identifier: MIT
#include "contact/surfaces/hanging.h"

static yw_vec3 mean(yw_vec3 a, yw_vec3 b) { return yw_scale(yw_add(a, b), 0.5f); }

static yw_vec3 mean_of(const int32_t parents[2], const yw_vec4* values) {
  return mean(yw_xyz(values[parents[0]]), yw_xyz(values[parents[1]]));
}

yw_vec3 yw_hanging_end(const yw_contact_work* work, int32_t particle) {
  if (!yw_hangs(work, particle)) return yw_touch_end(work, particle);
  const int32_t* parents = work->complex->parents[particle];
  return mean(yw_hanging_end(work, parents[0]), yw_hanging_end(work, parents[1]));
}

void yw_hanging_follow(const yw_contact_work* work) {
  yw_particles* p = work->body->particles;
  for (int32_t i = 0; i < work->complex->num_hanging; ++i) {
    const int32_t *h = work->complex->hanging[i], *parents = h + 1;
    p->pos[h[0]] = yw_v4(mean_of(parents, p->pos));
    p->vel[h[0]] = yw_v4(mean_of(parents, p->vel));
    work->moved[h[0]] |= work->moved[parents[0]] | work->moved[parents[1]];
  }
}

// An impulse at the mean, half of it to each parent, that moves it by `off`.
static void carry(const int32_t parents[2], const float* inv_mass, yw_vec3 off, yw_vec4* values) {
  float sum = inv_mass[parents[0]] + inv_mass[parents[1]];
  if (!(sum > 0.0f)) return;
  for (int k = 0; k < 2; ++k) {
    int32_t i = parents[k];
    values[i] = yw_v4(yw_mad(yw_xyz(values[i]), 2.0f * inv_mass[i] / sum, off));
  }
}

void yw_hanging_carry(const yw_contact_work* work) {
  yw_particles* p = work->body->particles;
  // From the last: parents that hang themselves pass on what they were given.
  for (int32_t i = work->complex->num_hanging - 1; i >= 0; --i) {
    const int32_t *h = work->complex->hanging[i], *parents = h + 1;
    carry(parents, p->inv_mass, yw_sub(yw_xyz(p->pos[h[0]]), mean_of(parents, p->pos)), p->pos);
    carry(parents, p->inv_mass, yw_sub(yw_xyz(p->vel[h[0]]), mean_of(parents, p->vel)), p->vel);
  }
  yw_hanging_follow(work);
}
