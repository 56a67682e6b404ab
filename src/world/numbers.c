// SPDX-License-Identifier: MIT
// Measurements of bodies: statistics, energies, and forces from the balance of momentum. Internal
// forces of a body sum to zero in every method. So any impulse beyond gravity came through pins and
// obstacles while the body advanced, or through other bodies while contacts were resolved.
#include "base/simd.h"
#include "world/sums.h"
#include "world/world.h"

static void add(double sum[3], const double by[3]) {
  for (int k = 0; k < 3; ++k) sum[k] += by[k];
}

// Finds the impulse since the last call and starts a new one. Returns the mass.
static double take_impulse(const yw_world* world, yw_body* body, double impulse[3]) {
  double now[3];
  const yw_sum_kernels* kernels = YW_KERNEL_PICK(yw_sum_kernels, world->simd);
  double mass = kernels->momentum(&body->particles, now);
  for (int k = 0; k < 3; ++k) {
    impulse[k] = now[k] - body->forces.momentum[k];
    body->forces.momentum[k] = now[k];
  }
  body->forces.is_current = true;
  return mass;
}

typedef void (*body_visit)(yw_world* world, yw_body* body, float h);

static void visit_bodies(yw_world* world, bool lockstep, float h, body_visit visit) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (yw_body_takes_part(body) && body->lockstep == lockstep) visit(world, body, h);
  }
}

static void begin_body(yw_world* world, yw_body* body, float h) {
  (void)h;
  // Tracks may change anything.
  if (body->forces.is_current && world->tracks.count == 0) return;
  double ignored[3];
  take_impulse(world, body, ignored);
}

static void note_advance(yw_world* world, yw_body* body, float h) {
  yw_body_balance* f = &body->forces;
  double impulse[3], weight = take_impulse(world, body, impulse) * (double)h;
  impulse[0] -= weight * (double)world->gravity.x;
  impulse[1] -= weight * (double)world->gravity.y;
  impulse[2] -= weight * (double)world->gravity.z;
  bool pinned = body->holds.count + body->springs.count > 0;
  // Sleeping plastic bodies count pinned particles as contacts too.
  bool touching = world->obstacle_poses.count > 0 && body->report.obstacle_contacts > 0;
  add(f->support, impulse);
  f->mixed = f->mixed || (pinned && touching);
  add(pinned ? f->pins : f->obstacles, impulse);
}

static void note_contact(yw_world* world, yw_body* body, float h) {
  (void)h;
  double impulse[3];
  take_impulse(world, body, impulse);
  add(body->forces.contact, impulse);
}

void yw_forces_begin_step(yw_world* world, float dt) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    body->forces = (yw_body_balance){.span = (double)dt};
  }
}

void yw_forces_skip(yw_world* world, bool lockstep) {
  visit_bodies(world, lockstep, 0.0f, begin_body);
}
void yw_forces_note_advance(yw_world* world, bool lockstep, float h) {
  visit_bodies(world, lockstep, h, note_advance);
}
void yw_forces_note_contact(yw_world* world, bool lockstep) {
  // Contact may have pushed the others too.
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body_in_order(world, i)->forces.is_current = false;
  }
  visit_bodies(world, lockstep, 0.0f, note_contact);
}

yw_status yw_world_measure_forces(yw_world* world, bool on) {
  if (!world) return YW_ERR_INVALID;
  world->measures_forces = on;
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    world->bodies.items[i].forces = (yw_body_balance){0};
  }
  return YW_OK;
}

yw_status yw_body_forces_of(const yw_world* world, yw_body_id id, yw_body_forces* out) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out || !(body->forces.span > 0.0)) return YW_ERR_INVALID;
  const yw_body_balance* f = &body->forces;
  for (int k = 0; k < 3; ++k) {
    out->support[k] = f->support[k] / f->span;
    out->pins[k] = f->mixed ? NAN : f->pins[k] / f->span;
    out->obstacles[k] = f->mixed ? NAN : f->obstacles[k] / f->span;
    out->contact[k] = f->contact[k] / f->span;
  }
  return YW_OK;
}

yw_status yw_body_statistics_of(const yw_world* world, yw_body_id id, yw_statistics* out) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out) return YW_ERR_INVALID;
  out->count = 0;
  const yw_method* method = body->model->method;
  if (method->statistics) method->statistics(body->state, &body->particles, out);
  return YW_OK;
}

static yw_body_energy energy_with(const yw_world* world, yw_body_id id, const yw_body* body,
                                  const yw_body_sums* sums) {
  const yw_method* method = body->model->method;
  yw_method_energy own = {.elastic = NAN};
  yw_order_give(world, (yw_order){.kind = YW_ORDER_ENERGY, .body = id});
  if (method->energy) own = method->energy(body->state, &body->particles);
  yw_order_done(world);
  yw_vec3 g = world->gravity;
  return (yw_body_energy){.kinetic = sums->kinetic_energy + own.rotational,
                          .elastic = own.elastic,
                          .gravitational = -sums->mass * ((double)g.x * sums->center[0] +
                                                          (double)g.y * sums->center[1] +
                                                          (double)g.z * sums->center[2])};
}

yw_status yw_body_energy_of(const yw_world* world, yw_body_id id, yw_body_energy* out) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out) return YW_ERR_INVALID;
  const yw_body_sums sums = yw_body_motion_of(world, body);
  *out = energy_with(world, id, body, &sums);
  return YW_OK;
}

yw_status yw_body_sums_and_energy_of(const yw_world* world, yw_body_id id, yw_body_sums* sums,
                                     yw_body_energy* energy) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !sums || !energy) return YW_ERR_INVALID;
  yw_status status = yw_body_sums_of(world, id, sums);
  if (status >= 0) *energy = energy_with(world, id, body, sums);
  return status;
}
