// SPDX-License-Identifier: MIT
// What a step does with one slave. Inline: devices compile it too.
#ifndef YW_METHODS_PLASTIC_SLAVE_STEPS_H
#define YW_METHODS_PLASTIC_SLAVE_STEPS_H

#include <math.h>

#include "methods/plastic/body.h"
#include "yawara/extend/vec.h"

// How far forces may move a slave, in units of d, when contacts are predicted. If a step is longer
// than a wave needs to travel d, forces give the direction of motion but not its length.
#define PLASTIC_FORCE_REACH 0.03f
// Beyond this reach slaves are as many as in the paper, in units of d.
#define PLASTIC_FAR_REACH 1.65f
// Friction that holds a slave, in units of its mass: what holds N creeps by N dt / (1e4 m).
#define PLASTIC_MOST_DRAG 1e4f
// Friction at a moment is at most this many times that of its pressure.
#define PLASTIC_MOST_GRIP 2.0f

static inline float plastic_distance2(yw_vec4 a, yw_vec4 b) {
  float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}

// A slave is not added if another is closer than this, in units of d.
#define PLASTIC_LEAST_DISTANCE 0.7f
// Masters that were adjacent have parted beyond this distance, in units of h.
#define PLASTIC_PARTED_DISTANCE 2.0f

static inline bool plastic_have_parted(float spacing, yw_vec4 a, yw_vec4 b) {
  float apart = PLASTIC_PARTED_DISTANCE * spacing;
  return plastic_distance2(a, b) > apart * apart;
}

// Transfer ----------------------------------------------------------------------------------------

/// Velocity of a slave, w: mass, from momentum and mass.
static inline yw_vec4 plastic_velocity_of(yw_vec4 sum) {
  float mass = sum.w > 0.0f ? sum.w : 0.0f, inv = mass > 0.0f ? 1.0f / mass : 0.0f;
  return (yw_vec4){sum.x * inv, sum.y * inv, sum.z * inv, mass};
}

/// Slaves that are held stay with what holds them.
static inline void plastic_move_slave(const plastic_body* body, int32_t s) {
  bool is_held = body->normal[s].w == PLASTIC_HELD;
  yw_vec4 v = is_held ? body->surface_vel[s] : body->slave_vel[s], *x = &body->slave_pos[s];
  *x = (yw_vec4){x->x + body->dt * v.x, x->y + body->dt * v.y, x->z + body->dt * v.z, 0.0f};
}

// Contact -----------------------------------------------------------------------------------------

/// Removes the velocity component into the obstacle and applies friction.
static inline void plastic_meet(const plastic_body* body, int32_t slave, yw_vec4* velocity) {
  yw_vec4 n = body->normal[slave], u = body->surface_vel[slave];
  if (n.w == 0.0f) return;
  if (n.w == PLASTIC_HELD) {
    *velocity = (yw_vec4){u.x, u.y, u.z, 0.0f};
    return;
  }
  yw_vec3 relative = yw_sub(yw_xyz(*velocity), yw_xyz(u));
  float approach = -yw_dot(relative, yw_xyz(n));
  if (!(approach > 0.0f)) return;
  yw_vec3 slide = yw_mad(relative, approach, yw_xyz(n));
  float speed2 = yw_length2(slide), held = u.w * approach;
  float share = speed2 > held * held ? 1.0f - held / sqrtf(speed2) : 0.0f;
  *velocity = yw_v4(yw_mad(yw_xyz(u), share, slide));
}

/// Where a slave will be at the end of the step.
static inline yw_vec3 plastic_predict(const plastic_body* body, yw_vec3 gravity, int32_t s) {
  float dt = body->dt, most = PLASTIC_FORCE_REACH * body->model->spacing;
  yw_vec3 x = yw_xyz(body->slave_pos[s]), next = x;
  float mass = body->slave_vel[s].w;
  if (mass > 0.0f) {
    yw_vec3 pushed = yw_scale(yw_xyz(body->force[s]), dt * dt / mass);
    float far = yw_length(pushed);
    next = yw_mad(x, dt, yw_mad(yw_xyz(body->slave_vel[s]), dt, gravity));
    next = yw_mad(next, far > most ? most / far : 1.0f, pushed);
  }
  return next;
}

/// A slave that is outside but may be inside at the end of the step can move up to the surface;
/// `normal` and `velocity` are those of the obstacle there.
static inline void plastic_look_ahead(const plastic_body* body, int32_t s, yw_vec4 ahead,
                                      yw_vec4 normal, yw_vec4 velocity) {
  if (body->normal[s].w != 0.0f || normal.w == 0.0f) return;
  yw_vec3 n = yw_xyz(normal), way = yw_sub(yw_xyz(ahead), yw_xyz(body->slave_pos[s]));
  // Relative to the obstacle, taken as flat.
  float gap = -normal.w - yw_dot(yw_mad(way, -body->dt, yw_xyz(velocity)), n);
  yw_vec3 u = yw_mad(yw_xyz(velocity), -fmaxf(gap, 0.0f) / body->dt, n);
  body->normal[s] = normal;
  body->surface_vel[s] = (yw_vec4){u.x, u.y, u.z, velocity.w};
}

/// Beyond this reach slaves are as many as in the paper, and so is what becomes of them.
static inline bool plastic_is_far(const plastic_body* body) {
  return body->model->slave_reach > PLASTIC_FAR_REACH;
}

/// Normal impulse on a slave, kg m/s, as it would be with the forces of now.
static inline float plastic_press(const plastic_body* body, int32_t s) {
  return body->normal[s].w == PLASTIC_TOUCHES ? body->force[s].w : 0.0f;
}

/// The memory of the body after a step with this normal impulse on all of it, and how far the
/// friction of now differs from what it would be without it.
static inline plastic_grip plastic_next_grip(const plastic_body* body, double impulse) {
  plastic_grip next = {0.0f, 0.0f, 1.0f, 1.0f};
  float force = (float)(impulse / (double)body->dt), most = body->model->grip_time;
  if (!(force > 0.0f)) return next;
  next.time = fminf(body->grip.time + body->dt, most);
  float share = body->dt < next.time ? body->dt / next.time : 1.0f;
  next.force = body->grip.force + share * (force - body->grip.force);
  next.share = fminf(next.force / force, PLASTIC_MOST_GRIP);
  next.fresh = fmaxf(1.0f - next.time / most, 0.0f);
  return next;
}

/// Normal impulses become drags, kg, beside the masses of slaves in the solve: mu times the impulse
/// for what the slave slides now. So the solve finds the direction of friction, and forces from
/// inside the body do not use it up across the slide. What has just landed without sliding would
/// be held by more than that, so there it counts, too, what it will slide with the forces of now;
/// matter at rest would creep by that.
static inline void plastic_grip_slave(const plastic_body* body, plastic_grip grip, int32_t s) {
  if (body->normal[s].w != PLASTIC_TOUCHES) return;
  yw_vec4* press = &body->force[s];
  yw_vec3 n = yw_xyz(body->normal[s]);
  yw_vec3 seen = yw_sub(yw_xyz(body->slave_vel[s]), yw_xyz(body->surface_vel[s]));
  float mass = body->slave_vel[s].w, most = PLASTIC_MOST_DRAG * mass;
  float held = grip.share * body->surface_vel[s].w * press->w;
  float slide = yw_length(yw_mad(seen, -yw_dot(seen, n), n));
  if (grip.fresh > 0.0f) {
    seen = yw_mad(yw_add(seen, body->fall), body->dt / mass, yw_xyz(*press));
    float free = yw_length(yw_mad(seen, -yw_dot(seen, n), n));
    slide = fmaxf(slide, grip.fresh * (free - held / mass));
  }
  press->w = held < most * slide ? held / slide : held > 0.0f ? most : 0.0f;
}

/// The drag that the solve sees.
static inline float plastic_drag(const plastic_body* body, int32_t s) {
  return body->normal[s].w == PLASTIC_TOUCHES ? body->force[s].w : 0.0f;
}

/// Keeps the contact of a slave that would move farther into the obstacle, or that is inside a
/// sticky one; true if so. With the paper's slaves the force becomes what leads to the velocity
/// after friction, else its w is the normal impulse.
static inline bool plastic_choose_contact(const plastic_body* body, yw_vec3 gravity, int32_t s) {
  yw_vec4* n = &body->normal[s];
  float mass = body->slave_vel[s].w;
  if (n->w == 0.0f) return false;
  n->w = 0.0f;
  if (!(mass > 0.0f)) return false;
  yw_vec3 start = yw_mad(yw_xyz(body->slave_vel[s]), body->dt, gravity);
  yw_vec3 ahead = yw_mad(start, body->dt / mass, yw_xyz(body->force[s]));
  yw_vec4 u = body->surface_vel[s], met = yw_v4(ahead);
  bool is_sticky = isinf(u.w);
  if (!is_sticky && !(yw_dot(yw_sub(ahead, yw_xyz(u)), yw_xyz(*n)) < 0.0f)) return false;
  n->w = is_sticky ? PLASTIC_HELD : PLASTIC_TOUCHES;
  plastic_meet(body, s, &met);
  if (!is_sticky && !plastic_is_far(body)) {
    body->force[s].w = mass * yw_dot(yw_sub(yw_xyz(u), ahead), yw_xyz(*n));
    return true;
  }
  body->force[s] = yw_v4(yw_scale(yw_sub(yw_xyz(met), start), mass / body->dt));
  return true;
}

// The solve (solve.c) -----------------------------------------------------------------------------

#ifdef YW_ONE_LANE
// On a device, each of the four is an array of its own.
static inline yw_vec4* plastic_course_part(const plastic_body* body, int32_t i, int32_t part) {
  return (yw_vec4*)body->course + (size_t)part * (size_t)body->slave_capacity + (size_t)i;
}
static inline yw_vec4* plastic_steep(const plastic_body* body, int32_t i) {
  return plastic_course_part(body, i, 0);
}
static inline yw_vec4* plastic_image(const plastic_body* body, int32_t i) {
  return plastic_course_part(body, i, 1);
}
static inline yw_vec4* plastic_direction(const plastic_body* body, int32_t i) {
  return plastic_course_part(body, i, 2);
}
static inline yw_vec4* plastic_place(const plastic_body* body, int32_t i) {
  return plastic_course_part(body, i, 3);
}
#else
static inline yw_vec4* plastic_steep(const plastic_body* body, int32_t i) {
  return &body->course[i].steep;
}
static inline yw_vec4* plastic_image(const plastic_body* body, int32_t i) {
  return &body->course[i].image;
}
static inline yw_vec4* plastic_direction(const plastic_body* body, int32_t i) {
  return &body->course[i].direction;
}
static inline yw_vec4* plastic_place(const plastic_body* body, int32_t i) {
  return &body->course[i].place;
}
#endif

static inline double plastic_dot(yw_vec4 a, yw_vec4 b) {
  return ((double)(a.x * b.x) + (double)(a.y * b.y)) + (double)(a.z * b.z);
}

/// The part of p that contact leaves free.
static inline yw_vec4 plastic_free(const yw_vec4* n, yw_vec4 p) {
  if (n->w == 0.0f) return p;
  if (n->w > 1.0f) return (yw_vec4){0, 0, 0, 0};
  float along = p.x * n->x + p.y * n->y + p.z * n->z;
  return (yw_vec4){p.x - along * n->x, p.y - along * n->y, p.z - along * n->z, 0.0f};
}

/// The preconditioner.
static inline yw_vec4 plastic_condition(const plastic_body* body, int32_t s, yw_vec4 r) {
  const float* b = body->inverse[s];
  yw_vec4 z = {b[0] * r.x + b[3] * r.y + b[4] * r.z, b[3] * r.x + b[1] * r.y + b[5] * r.z,
               b[4] * r.x + b[5] * r.y + b[2] * r.z, 0.0f};
  return plastic_free(&body->normal[s], z);
}

/// Its block: the inverse of mass + sum of blocks, exact for an undeformed body. own: xx, yy, zz
/// and the isotropic part; mixed: xy, yz, zx.
static inline void plastic_invert_block(float mass, yw_vec4 own, yw_vec4 mixed, float out[6]) {
  float base = mass + own.w;
  // Scaled by the base, so that no product leaves the range of floats.
  float unit = base > 1e-30f ? 1.0f / base : 0.0f;
  float xx = 1.0f + unit * own.x, yy = 1.0f + unit * own.y, zz = 1.0f + unit * own.z;
  float xy = unit * mixed.x, yz = unit * mixed.y, xz = unit * mixed.z;
  float cxx = yy * zz - yz * yz, cyy = xx * zz - xz * xz, czz = xx * yy - xy * xy;
  float cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy, cyz = xy * xz - yz * xx;
  float det = xx * cxx + xy * cxy + xz * cxz, inv = det > 0.0f ? unit / det : 0.0f;
  out[0] = cxx * inv, out[1] = cyy * inv, out[2] = czz * inv;
  out[3] = cxy * inv, out[4] = cxz * inv, out[5] = cyz * inv;
}

/// Starts from free fall with the contact constraints; this is also the first direction.
static inline void plastic_begin_slave(const plastic_body* body, yw_vec3 gravity, yw_vec3 mean,
                                       int32_t i) {
  yw_vec4 v = yw_v4(yw_mad(yw_xyz(body->slave_vel[i]), body->dt, gravity));
  const yw_vec4 n = body->normal[i], u = body->surface_vel[i];
  const float mass = body->slave_vel[i].w, drag = plastic_drag(body, i);
  const yw_vec4 zero = {0, 0, 0, 0};
  if (n.w == PLASTIC_HELD) {
    v = (yw_vec4){u.x, u.y, u.z, 0.0f};
  } else if (n.w > 0.0f) {
    float into = yw_dot(yw_sub(yw_xyz(u), yw_xyz(v)), yw_xyz(n));
    v = yw_v4(yw_mad(yw_xyz(v), into, yw_xyz(n)));
    // Where mass and drag alone would lead, so that they leave nothing in the first residual.
    if (drag > 0.0f)
      v = yw_v4(yw_mad(yw_xyz(v), drag / (mass + drag), yw_sub(yw_xyz(u), yw_xyz(v))));
  }
  body->solved[i] = v;
  body->residual[i] = body->product[i] = zero;
  yw_vec4 place = body->slave_pos[i];
  place.w = mass + drag;
  *plastic_steep(body, i) = *plastic_image(body, i) = zero;
  *plastic_direction(body, i) = yw_v4(yw_sub(yw_xyz(v), mean));
  *plastic_place(body, i) = place;
  body->touches[i] = n.w != 0.0f;
}

/// r = M v* - (M + K) v0, with M v* - M v0 = dt f except for contact constraints, which are
/// projected out; product holds (M + K)(v0 - mean), and K mean is 0. M has the drag, too, and M v*
/// what drags towards surfaces. Returns r . P r.
static inline double plastic_first_residual(const plastic_body* body, yw_vec3 mean, int32_t i) {
  const yw_vec4 zero = {0, 0, 0, 0};
  float mass = plastic_place(body, i)->w;
  yw_vec4 r = yw_mad4(zero, body->dt, body->force[i]);
  yw_vec4 from_mean = yw_v4(yw_sub(yw_xyz(body->solved[i]), mean));
  r = plastic_free(&body->normal[i], yw_mad4(yw_mad4(r, mass, from_mean), -1.0f, body->product[i]));
  body->residual[i] = r;
  yw_vec4 z = plastic_condition(body, i, r);
  *plastic_steep(body, i) = z;
  return plastic_dot(r, z);
}

// Share of what gravity adds in a step that counts, when the forces on a slave are in balance.
#define PLASTIC_LEAST_FALL 0.1f

/// Norm that the residual is compared with: M v* relative to the motion of the whole body. At rest
/// that is nothing but rounding, which no solve gets rid of. Light slaves outside of the matter
/// always move, and the paper's norm is enough.
static inline double plastic_measure(const plastic_body* body, yw_vec3 mean, int32_t i) {
  const yw_vec4 zero = {0, 0, 0, 0};
  float mass = body->slave_vel[i].w;
  yw_vec4 from_mean = yw_v4(yw_sub(yw_xyz(body->solved[i]), mean));
  yw_vec4 b = yw_mad4(yw_mad4(zero, mass, from_mean), body->dt, body->force[i]);
  if (plastic_is_far(body)) return plastic_dot(b, plastic_condition(body, i, b));
  yw_vec4 fall = yw_v4(yw_scale(body->fall, PLASTIC_LEAST_FALL * mass));
  b = plastic_free(&body->normal[i], b);
  fall = plastic_free(&body->normal[i], fall);
  return plastic_dot(b, plastic_condition(body, i, b)) +
         plastic_dot(fall, plastic_condition(body, i, fall));
}

/// Applies the pending step. Returns r . P r.
static inline double plastic_advance_slave(const plastic_body* body, float alpha, int32_t i) {
  body->solved[i] = yw_mad4(body->solved[i], alpha, *plastic_direction(body, i));
  yw_vec4 r = yw_mad4(body->residual[i], -alpha, body->product[i]);
  body->residual[i] = r;
  yw_vec4 z = plastic_condition(body, i, r);
  *plastic_steep(body, i) = z;
  return plastic_dot(r, z);
}

#endif
