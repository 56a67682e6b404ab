// SPDX-License-Identifier: MIT
// Bodies: creation, placement and readback, in the order of the mesh they were made from.
#include <stdio.h>
#include <string.h>

#include "base/simd.h"
#include "world/setup.h"
#include "world/sums.h"
#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/ranks.h"

yw_body_def yw_default_body_def(void) {
  return (yw_body_def){.transform = {{0, 0, 0}, {0, 0, 0, 1}, 1.0f},
                       .friction = 0.4f,
                       .body_contact = true,
                       .groups = 1,
                       .mask = UINT32_MAX};
}

yw_body* yw_world_find_body(const yw_world* world, yw_body_id id) {
  return world ? YW_SLOT_FIND(&world->bodies, id) : NULL;
}

void* yw_body_state(const yw_world* world, yw_body_id id, const yw_method* method,
                    const yw_particles** particles) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body || body->model->method != method) return NULL;
  if (particles) *particles = &body->particles;
  return body->state;
}

// Creation ----------------------------------------------------------------------------------------

static yw_status check_def(const yw_body_def* def, yw_error* error) {
  const char* name = def->name ? def->name : "body";
  if (!def->model) return yw_fail(error, YW_ERR_INVALID, "%s: needs a model", name);
  const yw_transform* t = &def->transform;
  yw_quat q = t->rotation;
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!yw_is_finite3(t->position) || !isfinite(norm) || !(norm > 1e-12f)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: position or rotation is not finite", name);
  }
  if (t->scale != 1.0f) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "%s: scale is %g, but must be 1 (scale the mesh instead: mass and stiffness depend "
        "on size)",
        name, (double)t->scale);
  }
  if (!yw_is_finite3(def->velocity) || !yw_is_finite3(def->angular_velocity)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: velocity is not finite", name);
  }
  if (!(def->friction >= 0.0f) || !isfinite(def->friction)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: friction is %g, but must be 0 or more", name,
                   (double)def->friction);
  }
  if (!(def->restitution >= 0.0f && def->restitution <= 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: restitution is %g, but must be between 0 and 1",
                   name, (double)def->restitution);
  }
  if (!(def->start >= 0.0) || !isfinite(def->start)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: start is %g s, but must be 0 or more", name,
                   def->start);
  }
  return YW_OK;
}

// Particle of a vertex; methods that keep the order have no table.
static int32_t particle_of(const int32_t* table, int32_t vertex) {
  return table ? table[vertex] : vertex;
}

static yw_status apply_pose(yw_body* body, const yw_vec3* pose, yw_error* error) {
  const int32_t* table = yw_body_vertex_table(body);
  for (int32_t i = 0; i < body->particles.count; ++i) {
    if (!yw_is_finite3(pose[i])) {
      return yw_fail(error, YW_ERR_INVALID, "%s: vertex %d of the initial pose is not finite",
                     body->name, i);
    }
    body->particles.pos[particle_of(table, i)] = yw_v4(pose[i]);
  }
  return YW_OK;
}

static void place(yw_body* body, const yw_body_def* def) {
  yw_particles* p = &body->particles;
  yw_transform placing = def->transform;
  placing.rotation = yw_quat_normalize(placing.rotation);
  double mass = 0, center[3] = {0};
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 x = yw_transform_point(placing, yw_xyz(p->pos[i]));
    p->pos[i] = yw_v4(x);
    mass += (double)p->mass[i];
    center[0] += (double)p->mass[i] * (double)x.x;
    center[1] += (double)p->mass[i] * (double)x.y;
    center[2] += (double)p->mass[i] * (double)x.z;
  }
  yw_vec3 c =
      yw_v3((float)(center[0] / mass), (float)(center[1] / mass), (float)(center[2] / mass));
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 arm = yw_sub(yw_xyz(p->pos[i]), c);
    p->vel[i] = yw_v4(yw_add(def->velocity, yw_cross(def->angular_velocity, arm)));
  }
}

void yw_body_take_settings(yw_body* body, const yw_body_def* def) {
  body->friction = body->built_friction = def->friction;
  body->restitution = def->restitution;
  body->body_contact = def->body_contact;
  body->self_contact = def->self_contact;
  body->groups = def->groups;
  body->mask = def->mask;
  body->start = def->start;
}

// Where several ranks simulate the world, they share the body if it is large enough.
static yw_status create_state(yw_world* world, const yw_model* model, yw_body* body,
                              yw_error* error) {
  const yw_method* method = model->method;
  yw_status status = YW_ERR_LIMIT;
  body->home = -1;
  if (world->ranks && method->body_create_shared) {
    status = method->body_create_shared(model->data, &world->mem, world->ranks, &body->state,
                                        &body->particles, &world->unshared);
    body->is_shared = status >= 0;
    if (status < 0 && status != YW_ERR_LIMIT && error) *error = world->unshared;
  }
  if (status != YW_ERR_LIMIT) return status;
  return method->body_create(model->data, &world->mem, &body->state, &body->particles, error);
}

// What the world keeps of a body. Of one that is shared, what is shown is made when asked for.
static bool allocate_body(yw_world* world, yw_body* body) {
  const yw_method* method = body->model->method;
  int32_t capacity = body->particles.capacity;
  yw_kept_range kept = yw_body_kept(world, body, world->ranks ? world->ranks->rank : 0, capacity);
  body->last_good = YW_NEW_ARRAY(&world->mem, yw_vec4, kept.end - kept.first);
  body->query = YW_NEW(&world->mem, yw_body_query);
  body->shown_wall = YW_NEW(&world->mem, yw_shown_wall);
  if (!body->query || !body->shown_wall || !body->last_good) return false;
  if (body->is_shared) return true;
  body->shown_positions = YW_NEW_ARRAY(&world->mem, yw_vec3, capacity);
  body->shown_velocities = YW_NEW_ARRAY(&world->mem, yw_vec3, capacity);
  bool spheres = method->contact_geometry(body->state).radius != NULL;
  if (spheres) body->shown_radii = YW_NEW_ARRAY(&world->mem, float, capacity);
  return body->shown_positions && body->shown_velocities && (!spheres || body->shown_radii);
}

static yw_status build_body(yw_world* world, const yw_body_def* def, yw_body* body,
                            yw_error* error) {
  body->model = yw_model_retain(def->model);
  body->placing = def->transform;
  body->first_velocity = def->velocity;
  body->first_spin = def->angular_velocity;
  yw_body_take_settings(body, def);
  body->active = world->time >= def->start;
  const yw_method* method = def->model->method;
  yw_status status = create_state(world, def->model, body, error);
  if (status >= 0 && world->device && method->attach) {
    status = method->attach(body->state, world->device, error);
  }
  if (status < 0) return status;

  if (!allocate_body(world, body)) return yw_fail_memory(error, "a body");
  if (def->pose) {
    status = apply_pose(body, def->pose, error);
    if (status < 0) return status;
  }
  place(body, def);
  method->invalidate(body->state, &body->particles);
  if (method->place) {
    method->place(body->state, &body->particles, yw_quat_normalize(def->transform.rotation),
                  def->angular_velocity);
  }
  body->is_placed = true;
  yw_body_remember(world, body);
  yw_body_show(world, body);
  return YW_OK;
}

yw_aabb yw_body_box(const yw_body* body) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < body->particles.count; ++i) {
    box = yw_aabb_grow(box, yw_xyz(body->particles.pos[i]));
  }
  return box;
}

void yw_body_remember(const yw_world* world, yw_body* body) {
  const yw_particles* p = &body->particles;
  yw_kept_range kept = yw_body_kept(world, body, world->ranks ? world->ranks->rank : 0, p->count);
  memcpy(body->last_good, p->pos + kept.first, sizeof(yw_vec4) * (size_t)(kept.end - kept.first));
  body->last_good_count = p->count;
  body->last_topology = yw_body_topology(body);
}

yw_status yw_body_rebuild(yw_world* world, const yw_body_def* def, yw_body* body, yw_error* error) {
  uint32_t generation = body->generation;
  snprintf(body->name, sizeof body->name, "%s", def->name ? def->name : "body");
  yw_status status = build_body(world, def, body, error);
  if (status >= 0) return status;
  yw_body_release(world, body);
  *body = (yw_body){.generation = generation};
  return status;
}

bool yw_world_reserve_bodies(yw_world* world, int32_t count) {
  const yw_allocator* mem = &world->mem;
  int32_t more = count - world->body_order.count;
  return (more <= 0 || YW_LIST_RESERVE(mem, &world->body_order, more)) &&
         YW_LIST_RESERVE(mem, &world->contact_bodies, count) &&
         YW_LIST_RESERVE(mem, &world->responders, count) &&
         YW_LIST_RESERVE(mem, &world->body_boxes, count) &&
         YW_LIST_RESERVE(mem, &world->spans, count * YW_MAX_SPANS) &&
         YW_LIST_RESERVE(mem, &world->small_bodies, count);
}

yw_status yw_body_create(yw_world* world, const yw_body_def* def, yw_body_id* out,
                         yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_body_id){0};
  yw_status status = check_def(def, error);
  if (status < 0) return status;
  // The name may belong to a body of this world, which moves when the list grows.
  char name[YW_NAME_LENGTH];
  snprintf(name, sizeof name, "%s", def->name ? def->name : "body");

  int32_t slot = YW_SLOT_FREE(&world->mem, &world->bodies);
  if (slot < 0 || !yw_world_reserve_bodies(world, world->body_order.count + 1)) {
    return yw_fail_memory(error, "a body");
  }
  yw_body* body = &world->bodies.items[slot];
  yw_body_def own = *def;
  own.name = name;
  status = yw_body_rebuild(world, &own, body, error);
  if (status < 0) return status;
  ++body->generation;
  body->key = ++world->next_key;
  world->body_order.items[world->body_order.count++] = (uint32_t)slot;
  *out = (yw_body_id){(uint32_t)slot + 1, body->generation};
  return YW_OK;
}

void yw_body_release(yw_world* world, yw_body* body) {
  if (body->state) body->model->method->body_destroy(body->state, &body->particles);
  yw_model_release(body->model);
  yw_mem_free(&world->mem, body->last_good);
  yw_mem_free(&world->mem, body->begin);
  yw_mem_free(&world->mem, body->shown_positions);
  yw_mem_free(&world->mem, body->shown_velocities);
  yw_mem_free(&world->mem, body->shown_radii);
  yw_body_query_destroy(&world->mem, body->query);
  if (body->shown_wall) yw_shown_wall_free(&world->mem, body->shown_wall);
  yw_mem_free(&world->mem, body->shown_wall);
  yw_mem_free(&world->mem, body->pushes);
  yw_mem_free(&world->mem, body->impulses);
  YW_LIST_FREE(&world->mem, &body->holds);
  YW_LIST_FREE(&world->mem, &body->springs);
  *body = (yw_body){.generation = body->generation};
}

yw_status yw_body_destroy(yw_world* world, yw_body_id id) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body) return YW_ERR_INVALID;
  uint32_t slot = id.index1 - 1;
  yw_body_rouse(body);
  yw_world_wake_islands(world);
  yw_setup_keep_model(world, body->model);
  yw_world_drop_body_tracks(world, slot);
  yw_world_drop_pins(world, slot);
  yw_world_drop_joints(world, slot);
  yw_world_drop_pairs(world, slot);
  yw_body_release(world, body);
  ++body->generation;
  ++world->changes;
  int32_t kept = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (world->body_order.items[i] != slot) {
      world->body_order.items[kept++] = world->body_order.items[i];
    }
  }
  world->body_order.count = kept;
  return YW_OK;
}

// Reading -----------------------------------------------------------------------------------------

bool yw_body_is_valid(const yw_world* world, yw_body_id id) {
  return yw_world_find_body(world, id) != NULL;
}

int32_t yw_world_num_bodies(const yw_world* world) { return world ? world->body_order.count : 0; }

yw_body_id yw_world_body(const yw_world* world, int32_t i) {
  if (i < 0 || i >= yw_world_num_bodies(world)) return (yw_body_id){0};
  uint32_t slot = world->body_order.items[i];
  return (yw_body_id){slot + 1, world->bodies.items[slot].generation};
}

const char* yw_body_name(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body ? body->name : NULL;
}

bool yw_body_is_active(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body && body->active;
}

const yw_model* yw_body_model(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body ? body->model : NULL;
}

yw_status yw_body_set_state(yw_world* world, yw_body_id id, const yw_vec3* positions,
                            const yw_vec3* velocities) {
  yw_body* body = yw_world_find_body(world, id);
  if (!body || !positions) return YW_ERR_INVALID;
  yw_particles* p = &body->particles;
  for (int32_t i = 0; i < p->count; ++i) {
    if (!yw_is_finite3(positions[i]) || (velocities && !yw_is_finite3(velocities[i]))) {
      return YW_ERR_INVALID;
    }
  }
  const int32_t* table = yw_body_vertex_table(body);
  for (int32_t i = 0; i < p->count; ++i) {
    int32_t particle = particle_of(table, i);
    p->pos[particle] = yw_v4(positions[i]);
    if (velocities) p->vel[particle] = yw_v4(velocities[i]);
  }
  body->diverged = false;
  body->is_placed = true;
  yw_body_rouse(body);
  body->model->method->invalidate(body->state, p);
  yw_body_show(world, body);
  return YW_OK;
}

yw_body_sums yw_body_motion_of(const yw_world* world, const yw_body* body) {
  const yw_sum_kernels* kernels = YW_KERNEL_PICK(yw_sum_kernels, world->simd);
  yw_motion_sums motion = kernels->motion(&body->particles);
  yw_body_sums sums = {.mass = motion.mass, .kinetic_energy = motion.kinetic};
  for (int k = 0; k < 3; ++k) {
    sums.center[k] = motion.moment[k] / motion.mass;
    sums.momentum[k] = motion.momentum[k];
  }
  return sums;
}

yw_status yw_body_sums_of(const yw_world* world, yw_body_id id, yw_body_sums* out) {
  const yw_body* body = yw_world_find_body(world, id);
  if (!body || !out) return YW_ERR_INVALID;
  yw_body_sums sums = yw_body_motion_of(world, body);
  const yw_particles* p = &body->particles;
  YW_KERNEL_PICK(yw_sum_kernels, world->simd)->spin(p, sums.center, sums.angular_momentum);
  const yw_method* method = body->model->method;
  double own[3] = {0, 0, 0};
  yw_order_give(world, (yw_order){.kind = YW_ORDER_SUMS, .body = id});
  if (method->own_spin) method->own_spin(body->state, p, own);
  yw_order_done(world);
  for (int k = 0; k < 3; ++k) sums.angular_momentum[k] += own[k];
  *out = sums;
  return YW_OK;
}
