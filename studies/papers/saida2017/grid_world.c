// SPDX-License-Identifier: MIT
#include "papers/saida2017/grid_world.h"

#include <stdlib.h>

#include "methods/plastic/body.h"
#include "world/world.h"

static const yw_body* body_of(const yw_world* world) {
  return &world->bodies.items[world->body_order.items[0]];
}

static mpm_def def_of(const yw_world* world, const grid_kind* kind) {
  const yw_body* own = body_of(world);
  const plastic_body* body = own->state;
  const plastic_material_block* material = &body->materials[0];
  mpm_def def = mpm_default_def();
  def.cell = kind->cells * body->model->spacing;
  def.dense = kind->dense;
  def.box = kind->box;
  def.implicit = kind->implicit;
  def.flip = kind->flip;
  def.gravity = world->gravity;
  def.material = (mpm_material){.mu = material->mu[0],
                                .lambda = material->lambda[0],
                                .low = material->low[0],
                                .high = material->high[0],
                                .xi = material->xi[0],
                                .eta = material->eta[0]};
  for (int32_t i = 0; i < world->obstacles.count && def.num_obstacles < MPM_MAX_OBSTACLES; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    if (!o->shape) continue;
    def.obstacles[def.num_obstacles++] =
        (mpm_obstacle){o->shape, o->transform, sqrtf(own->friction * o->friction)};
  }
  return def;
}

mpm* grid_of_world(const yw_world* world, const grid_kind* kind) {
  const yw_body* own = body_of(world);
  const plastic_body* body = own->state;
  mpm_def def = def_of(world, kind);
  mpm* m = mpm_create(&def, own->particles.count);
  if (!m) return NULL;
  for (int32_t i = 0; i < m->count; ++i) {
    mpm_particle* p = &m->particles[i];
    p->x = yw_xyz(own->particles.pos[i]);
    p->v = yw_xyz(own->particles.vel[i]);
    p->mass = own->particles.mass[i];
    p->volume = body->materials[i / YW_LANES].volume[i % YW_LANES];
  }
  // A body gets the velocities of its parts in its first step.
  for (int32_t k = 0; k < body->model->num_parts && !body->is_placed; ++k) {
    const plastic_part* part = &body->model->parts[k];
    for (int32_t i = part->first; i < part->first + part->count && i < m->count; ++i) {
      m->particles[i].v = yw_add(m->particles[i].v, part->velocity);
    }
  }
  return m;
}

bool grid_show(const mpm* m, yw_world* world) {
  yw_vec3* x = malloc(2 * sizeof *x * (size_t)m->count);
  if (!x) return false;
  yw_vec3* v = x + m->count;
  for (int32_t i = 0; i < m->count; ++i) {
    x[i] = m->particles[i].x;
    v[i] = m->particles[i].v;
  }
  bool good = yw_body_set_state(world, yw_world_body(world, 0), x, v) >= 0;
  free(x);
  return good;
}

double grid_plastic_bytes(const yw_world* world) {
  const plastic_body* body = body_of(world)->state;
  return yw_plastic_body_bytes(body->num_masters, body->num_slaves, body->keep != NULL);
}
