// SPDX-License-Identifier: MIT
// Joints of the world: creation, the bodies they connect in a substep, readings.
#include "world/joint.h"

#include <stdio.h>

#include "math/small/mat3d.h"
#include "world/world.h"
#include "yawara/extend/error.h"

yw_joint_def yw_default_joint_def(void) {
  return (yw_joint_def){.axis = {1, 0, 0}, .length = -1.0f, .stiffness = 1000.0f};
}

// Checks ------------------------------------------------------------------------------------------

static bool is_null(yw_body_id id) { return id.index1 == 0; }

static yw_rigid_motion* motion_of(const yw_body* body) {
  const yw_method* method = body->model->method;
  return method->rigid_motion ? method->rigid_motion(body->state) : NULL;
}

static yw_status check_end(const yw_world* world, const yw_joint_def* def, int s, const char* name,
                           yw_error* error) {
  const yw_joint_end* end = &def->ends[s];
  const yw_body* body = is_null(end->body) ? NULL : yw_world_find_body(world, end->body);
  if (!is_null(end->body) && !body) {
    return yw_fail(error, YW_ERR_INVALID, "%s: the body of end %d does not exist", name, s);
  }
  if (!yw_is_finite3(end->point)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: the point of end %d is not finite", name, s);
  }
  if (!body || motion_of(body)) {
    if (end->num_vertices == 0) return YW_OK;
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: end %d has vertices, but %s is held at a point: only soft bodies have them",
                   name, s, body ? "a rigid body" : "the world");
  }
  if (def->kind == YW_JOINT_HINGE || def->kind == YW_JOINT_SLIDER) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: \"%s\" is soft, but a hinge or slider needs rigid bodies: fix a rigid body "
                   "to it and join that",
                   name, body->name);
  }
  if (end->num_vertices < 1 || !end->vertices) {
    return yw_fail(error, YW_ERR_INVALID, "%s: \"%s\" is soft, but no vertices of it are given",
                   name, body->name);
  }
  for (int32_t i = 0; i < end->num_vertices; ++i) {
    if (end->vertices[i] < 0 || end->vertices[i] >= body->particles.count) {
      return yw_fail(error, YW_ERR_INVALID, "%s: vertex %d, but \"%s\" has %d (0 to %d)", name,
                     end->vertices[i], body->name, body->particles.count,
                     body->particles.count - 1);
    }
  }
  return YW_OK;
}

static yw_status check_numbers(const yw_joint_def* def, const char* name, yw_error* error) {
  if (!yw_is_finite3(def->axis) || !(yw_length(def->axis) > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: the axis is zero or not finite", name);
  }
  float reach = def->kind == YW_JOINT_HINGE ? 3.14159265f : INFINITY;
  if (def->limited &&
      !(def->lower <= 0.0f && def->upper >= 0.0f && def->lower >= -reach && def->upper <= reach)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: limits are %g to %g, but must include 0 (hinge: within -pi and pi rad)",
                   name, (double)def->lower, (double)def->upper);
  }
  if (!isfinite(def->motor_speed) || !(def->motor_force >= 0.0f) || !isfinite(def->motor_force)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: the motor has speed %g and force %g, but these must be finite, and the "
                   "force 0 or more",
                   name, (double)def->motor_speed, (double)def->motor_force);
  }
  if (!isfinite(def->length) || !(def->stiffness > 0.0f) || !isfinite(def->stiffness) ||
      !(def->damping >= 0.0f) || !isfinite(def->damping)) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "%s: length is %g m, stiffness %g N/m, damping %g N s/m, but they must be finite, "
        "stiffness above 0 and damping 0 or more",
        name, (double)def->length, (double)def->stiffness, (double)def->damping);
  }
  return YW_OK;
}

static yw_status check_def(const yw_world* world, const yw_joint_def* def, const char* name,
                           yw_error* error) {
  if ((int)def->kind < 0 || def->kind > YW_JOINT_SPRING) {
    return yw_fail(error, YW_ERR_INVALID, "%s: there is no kind %d of joint", name, (int)def->kind);
  }
  for (int s = 0; s < 2; ++s) {
    yw_status status = check_end(world, def, s, name, error);
    if (status < 0) return status;
  }
  yw_body_id a = def->ends[0].body, b = def->ends[1].body;
  if (a.index1 == b.index1) {
    return yw_fail(error, YW_ERR_INVALID, "%s: both ends are on %s", name,
                   is_null(a) ? "the world" : "one body");
  }
  if (def->kind == YW_JOINT_FIXED && def->ends[0].num_vertices > 0 &&
      def->ends[1].num_vertices > 0) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: both bodies are soft, but glue needs a rigid body or the world on one side",
                   name);
  }
  return check_numbers(def, name, error);
}

// Creation ----------------------------------------------------------------------------------------

// Mean of vertices first .. first + count - 1 of an end.
static yw_vec3 mean_of(const yw_body* body, const int32_t* particles, int32_t count) {
  yw_vec3 sum = {0, 0, 0};
  for (int32_t i = 0; i < count; ++i) {
    sum = yw_mad(sum, 1.0f / (float)count, yw_xyz(body->particles.pos[particles[i]]));
  }
  return sum;
}

static bool fill_side(yw_world* world, const yw_joint_end* end, yw_joint_side* side) {
  side->body = is_null(end->body) ? -1 : (int32_t)end->body.index1 - 1;
  side->num_particles = end->num_vertices;
  if (end->num_vertices == 0) return true;
  const int32_t* table = yw_body_vertex_table(&world->bodies.items[side->body]);
  side->particles = YW_NEW_ARRAY(&world->mem, int32_t, end->num_vertices);
  for (int32_t i = 0; side->particles && i < end->num_vertices; ++i) {
    side->particles[i] = table ? table[end->vertices[i]] : end->vertices[i];
  }
  return side->particles != NULL;
}

// A point of the world in the axes of a rigid body; itself for the world.
static void to_local(const yw_rigid_motion* m, yw_vec3 at, double out[3]) {
  out[0] = (double)at.x, out[1] = (double)at.y, out[2] = (double)at.z;
  if (!m) return;
  for (int k = 0; k < 3; ++k) out[k] -= m->center[k];
  yw_turn q = {m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
  yw_turn_apply(yw_turn_conjugate(q), out, out);
}

// Axes of the joint in the world, x along its axis.
static yw_turn joint_frame(yw_vec3 axis) {
  double x[3] = {(double)axis.x, (double)axis.y, (double)axis.z}, other[3] = {0}, y[3], z[3];
  double length = sqrt(yw_dot3(x, x));
  for (int k = 0; k < 3; ++k) x[k] /= length;
  other[fabs(x[0]) < 0.6 ? 0 : 1] = 1.0;
  yw_cross3(x, other, y);
  length = sqrt(yw_dot3(y, y));
  for (int k = 0; k < 3; ++k) y[k] /= length;
  yw_cross3(x, y, z);
  const double m[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  return yw_turn_from_matrix(m);
}

static void fill_points(const yw_world* world, const yw_joint_def* def, yw_joint* joint) {
  bool two = def->kind == YW_JOINT_ROPE || def->kind == YW_JOINT_SPRING;
  int soft = joint->sides[0].particles ? 0 : joint->sides[1].particles ? 1 : -1;
  bool glue = def->kind == YW_JOINT_FIXED && soft >= 0;
  for (int32_t i = 0; i < joint->num_points; ++i) {
    yw_joint_point* p = &joint->points[i];
    yw_vec3 at[2] = {def->ends[0].point, def->ends[two ? 1 : 0].point};
    for (int s = 0; s < 2; ++s) {
      const yw_joint_side* side = &joint->sides[s];
      p->first[s] = glue ? i : 0;
      p->count[s] = glue ? 1 : side->num_particles;
      if (!side->particles) continue;
      at[s] = mean_of(&world->bodies.items[side->body], side->particles + p->first[s], p->count[s]);
      if (!two) at[1 - s] = at[s];
    }
    for (int s = 0; s < 2; ++s) {
      int32_t body = joint->sides[s].body;
      to_local(body < 0 ? NULL : motion_of(&world->bodies.items[body]), at[s], p->local[s]);
    }
    if (i == 0 && two) joint->length = (double)yw_distance(at[0], at[1]);
  }
  if (def->length >= 0.0f && two) joint->length = (double)def->length;
}

static bool fill_joint(yw_world* world, const yw_joint_def* def, yw_joint* joint) {
  for (int s = 0; s < 2; ++s) {
    if (!fill_side(world, &def->ends[s], &joint->sides[s])) return false;
  }
  int32_t most = joint->sides[0].num_particles + joint->sides[1].num_particles;
  joint->kind = def->kind;
  joint->num_points = def->kind == YW_JOINT_FIXED && most > 0 ? most : 1;
  joint->points = YW_NEW_ARRAY(&world->mem, yw_joint_point, joint->num_points);
  if (!joint->points) return false;
  joint->limited = def->limited;
  joint->collide = def->collide;
  joint->lower = (double)def->lower;
  joint->upper = (double)def->upper;
  joint->motor_speed = (double)def->motor_speed;
  joint->motor_force = (double)def->motor_force;
  joint->stiffness = (double)def->stiffness;
  joint->damping = (double)def->damping;
  fill_points(world, def, joint);
  yw_turn frame = joint_frame(def->axis);
  for (int s = 0; s < 2; ++s) {
    int32_t body = joint->sides[s].body;
    const yw_rigid_motion* m = body < 0 ? NULL : motion_of(&world->bodies.items[body]);
    joint->sides[s].frame = frame;
    if (!m) continue;
    yw_turn q = {m->rotation[0], m->rotation[1], m->rotation[2], m->rotation[3]};
    joint->sides[s].frame = yw_turn_mul(yw_turn_conjugate(q), frame);
  }
  return true;
}

yw_status yw_joint_create(yw_world* world, const yw_joint_def* def, yw_joint_id* out,
                          yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_joint_id){0};
  char name[YW_JOINT_NAME];
  snprintf(name, sizeof name, "%s", def->name ? def->name : "joint");
  yw_status status = check_def(world, def, name, error);
  if (status < 0) return status;
  int32_t slot = YW_SLOT_FREE(&world->mem, &world->joints);
  if (slot < 0 || !YW_LIST_RESERVE(&world->mem, &world->joined, 2 * world->joints.count) ||
      !YW_LIST_RESERVE(&world->mem, &world->motions, 2 * world->joints.count)) {
    return yw_fail_memory(error, "a joint");
  }
  yw_joint* joint = &world->joints.items[slot];
  uint32_t generation = joint->generation;
  *joint = (yw_joint){.generation = generation};
  snprintf(joint->name, sizeof joint->name, "%s", name);
  if (!fill_joint(world, def, joint)) {
    yw_joint_release(world, joint);
    return yw_fail_memory(error, "a joint");
  }
  joint->generation = generation + 1;
  yw_world_wake_all(world);
  *out = (yw_joint_id){(uint32_t)slot + 1, joint->generation};
  return YW_OK;
}

void yw_joint_release(yw_world* world, yw_joint* joint) {
  yw_mem_free(&world->mem, joint->sides[0].particles);
  yw_mem_free(&world->mem, joint->sides[1].particles);
  yw_mem_free(&world->mem, joint->points);
  *joint = (yw_joint){.generation = joint->generation};
}

static yw_joint* find_joint(const yw_world* world, yw_joint_id id) {
  return world ? YW_SLOT_FIND(&world->joints, id) : NULL;
}

yw_status yw_joint_destroy(yw_world* world, yw_joint_id id) {
  yw_joint* joint = find_joint(world, id);
  if (!joint) return YW_ERR_INVALID;
  yw_joint_release(world, joint);
  ++joint->generation;
  yw_world_wake_all(world);
  return YW_OK;
}

void yw_world_drop_joints(yw_world* world, uint32_t body) {
  for (int32_t i = 0; i < world->joints.count; ++i) {
    yw_joint* joint = &world->joints.items[i];
    bool on = joint->sides[0].body == (int32_t)body || joint->sides[1].body == (int32_t)body;
    if (!(joint->generation & 1) || !on) continue;
    yw_joint_release(world, joint);
    ++joint->generation;
  }
}

bool yw_joint_is_valid(const yw_world* world, yw_joint_id id) {
  return find_joint(world, id) != NULL;
}

int32_t yw_world_num_joints(const yw_world* world) {
  int32_t count = 0;
  for (int32_t i = 0; world && i < world->joints.count; ++i) {
    count += (world->joints.items[i].generation & 1) != 0;
  }
  return count;
}

yw_status yw_joint_set_motor(yw_world* world, yw_joint_id id, float speed, float force) {
  yw_joint* joint = find_joint(world, id);
  if (!joint || !isfinite(speed) || !(force >= 0.0f) || !isfinite(force)) return YW_ERR_INVALID;
  if (joint->kind != YW_JOINT_HINGE && joint->kind != YW_JOINT_SLIDER) return YW_ERR_INVALID;
  joint->motor_speed = (double)speed;
  joint->motor_force = (double)force;
  for (int s = 0; s < 2; ++s) {
    if (joint->sides[s].body >= 0) yw_body_rouse(&world->bodies.items[joint->sides[s].body]);
  }
  return YW_OK;
}

yw_status yw_joint_read(const yw_world* world, yw_joint_id id, yw_joint_reading* out) {
  const yw_joint* joint = find_joint(world, id);
  if (!joint || !out) return YW_ERR_INVALID;
  *out = (yw_joint_reading){.error = joint->last_error};
  out->position = joint->last_position;
  out->speed = joint->last_rate;
  for (int k = 0; k < 3 && joint->last_h > 0.0; ++k) {
    for (int32_t i = 0; i < joint->num_points; ++i) {
      out->force[k] += joint->points[i].impulse[k] / joint->last_h;
    }
    out->torque[k] = joint->turn_impulse[k] / joint->last_h;
  }
  return YW_OK;
}

// The step ----------------------------------------------------------------------------------------

// Finds what both sides are in this substep; false when one of them does not take part, or not now,
// or when all sleep.
static bool attach(yw_world* world, yw_joint* joint, bool lockstep) {
  bool awake = false;
  for (int s = 0; s < 2; ++s) {
    yw_joint_side* side = &joint->sides[s];
    side->motion = NULL;
    side->soft = NULL;
    if (side->body < 0) continue;
    yw_body* body = &world->bodies.items[side->body];
    if (!yw_body_takes_part(body) || body->lockstep != lockstep) return false;
    awake = awake || !body->asleep;
    side->motion = motion_of(body);
    if (side->motion) continue;
    side->soft = &body->particles;
    for (int32_t i = 0; i < side->num_particles; ++i) {
      if (side->particles[i] >= body->particles.count) return false;
    }
  }
  return awake;
}

// Its number among the bodies of the solve; body is its slot.
static int32_t add_joined(yw_world* world, yw_rigid_motion* motion, int32_t body) {
  for (int32_t i = 0; i < world->joined.count; ++i) {
    if (world->joined.items[i].motion == motion) return i;
  }
  world->joined.items[world->joined.count++] = (yw_joined){.motion = motion, .body = body};
  world->motions.items[world->motions.count++] = motion;
  return world->joined.count - 1;
}

yw_status yw_joints_solve(yw_world* world, float h, bool lockstep) {
  yw_joint_list list = {world->joints.items, world->joints.count, world->joined.items, 0};
  bool any = false;
  world->joined.count = world->motions.count = 0;
  for (int32_t i = 0; i < list.count; ++i) {
    yw_joint* joint = &list.joints[i];
    joint->takes_part = (joint->generation & 1) && attach(world, joint, lockstep);
    any = any || joint->takes_part;
    for (int s = 0; joint->takes_part && s < 2; ++s) {
      yw_joint_side* side = &joint->sides[s];
      side->joined = side->motion ? add_joined(world, side->motion, side->body) : -1;
    }
  }
  if (!any) return YW_OK;
  list.num_joined = world->joined.count;
  for (int32_t i = 0; i < list.num_joined; ++i) yw_rigid_restart(world->motions.items[i]);
  for (int32_t i = 0; i < list.count; ++i) {
    if (list.joints[i].takes_part) yw_joint_start(&list.joints[i], (double)h);
  }
  yw_rigid_coupling coupling = yw_joint_coupling(&list);
  yw_rigid_solve(world->motions.items, world->motions.count, (double)h, &coupling);
  for (int32_t i = 0; i < list.count; ++i) {
    if (list.joints[i].takes_part) yw_joint_finish(&list.joints[i]);
  }
  for (int32_t i = 0; i < list.num_joined; ++i) {
    yw_body* body = &world->bodies.items[list.joined[i].body];
    body->model->method->follow(body->state, &body->particles);
  }
  return YW_OK;
}
