// SPDX-License-Identifier: MIT
#include "yawara/extend/method.h"

#include "yawara/extend/memory.h"

bool yw_particles_create(const yw_allocator* mem, int32_t count, yw_particles* out) {
  int32_t capacity = (count + 15) / 16 * 16;
  *out = (yw_particles){
      .count = count,
      .capacity = capacity,
      .pos = YW_NEW_ARRAY(mem, yw_vec4, capacity),
      .vel = YW_NEW_ARRAY(mem, yw_vec4, capacity),
      .mass = YW_NEW_ARRAY(mem, float, capacity),
      .inv_mass = YW_NEW_ARRAY(mem, float, capacity),
  };
  if (out->pos && out->vel && out->mass && out->inv_mass) return true;
  yw_particles_free(mem, out);
  return false;
}

void yw_particles_free(const yw_allocator* mem, yw_particles* particles) {
  yw_mem_free(mem, particles->pos);
  yw_mem_free(mem, particles->vel);
  yw_mem_free(mem, particles->mass);
  yw_mem_free(mem, particles->inv_mass);
  *particles = (yw_particles){0};
}
