// SPDX-License-Identifier: MIT
// Turbulence: smooth noise in space and time from random vectors on a lattice, carried along by the
// wind. The same for every machine: hashes and products of floats only.
#include "world/wind.h"

#include <math.h>

#include "world/world.h"
#include "yawara/extend/hash.h"

// Numbers on the lattice are uniform in [-1, 1); between its points, in four dimensions, they are
// averaged by smooth steps, which leaves a root mean square of sqrt((26/35)^4 / 3).
#define NORMALISE 3.1387f

static float random_number(uint64_t hash, int component) {
  return (float)(yw_hash_u64(hash, (uint64_t)component) >> 40) / 8388608.0f - 1.0f;
}

yw_vec3 yw_wind_gust(const yw_wind_def* wind, yw_vec3 point, double time) {
  yw_vec3 sum = {0, 0, 0};
  if (!(wind->turbulence > 0.0f)) return sum;
  // Gusts travel with the air and change as fast as they turn over.
  double size = (double)wind->size, turns = time * (double)wind->turbulence / size;
  yw_vec3 v = wind->velocity;
  const double at[4] = {((double)point.x - (double)v.x * time) / size,
                        ((double)point.y - (double)v.y * time) / size,
                        ((double)point.z - (double)v.z * time) / size, turns};
  int64_t corner[4];
  float share[4];
  for (int d = 0; d < 4; ++d) {
    double whole = floor(at[d]);
    corner[d] = (int64_t)whole;
    float t = (float)(at[d] - whole);
    share[d] = t * t * (3.0f - 2.0f * t);
  }
  for (int k = 0; k < 16; ++k) {
    float weight = 1.0f;
    uint64_t hash = yw_hash_u64(YW_HASH_SEED, wind->seed);
    for (int d = 0; d < 4; ++d) {
      int upper = k >> d & 1;
      weight *= upper ? share[d] : 1.0f - share[d];
      hash = yw_hash_u64(hash, (uint64_t)(corner[d] + upper));
    }
    yw_vec3 value = {random_number(hash, 0), random_number(hash, 1), random_number(hash, 2)};
    sum = yw_mad(sum, weight, value);
  }
  return yw_scale(sum, NORMALISE * wind->turbulence);
}

yw_vec3 yw_world_wind(const yw_world* world, yw_vec3 point) {
  if (!world) return (yw_vec3){0, 0, 0};
  return yw_add(world->wind_velocity, yw_wind_gust(&world->wind, point, world->time));
}
