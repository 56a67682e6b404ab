// SPDX-License-Identifier: MIT
#include "contact/surfaces/rigid.h"

// Sweeps over the contacts of an impact.
#define BOUNCE_ITERATIONS 10
// Angular momentum below this share of what one step of gravity could give the pair is left alone.
#define NEGLIGIBLE_ANGULAR 1e-6

// Sums over the particles of one or two bodies; double, since large numbers cancel.
typedef struct rigid_sums {
  double mass;
  double center[3], velocity[3];
  double inertia[6];  // xx, yy, zz, xy, xz, yz about the centre
  double angular[3];  // angular momentum about the centre
  bool held;          // some particle is held, so that momentum is not conserved
} rigid_sums;

// The same as a rigid body that impulses act on.
typedef struct rigid_motion {
  float inv_mass;
  yw_vec3 center;
  yw_mat3 inv_inertia;
  yw_vec3 velocity, omega;
} rigid_motion;

static void add_places(rigid_sums* sums, const yw_particles* p) {
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    sums->held = sums->held || p->inv_mass[i] == 0.0f;
    sums->mass += m;
    sums->center[0] += m * (double)p->pos[i].x;
    sums->center[1] += m * (double)p->pos[i].y;
    sums->center[2] += m * (double)p->pos[i].z;
  }
}

static void add_inertia(rigid_sums* sums, const yw_particles* p) {
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i], x = (double)p->pos[i].x - sums->center[0];
    double y = (double)p->pos[i].y - sums->center[1], z = (double)p->pos[i].z - sums->center[2];
    sums->inertia[0] += m * (y * y + z * z);
    sums->inertia[1] += m * (x * x + z * z);
    sums->inertia[2] += m * (x * x + y * y);
    sums->inertia[3] -= m * x * y;
    sums->inertia[4] -= m * x * z;
    sums->inertia[5] -= m * y * z;
  }
}

static void add_velocities(rigid_sums* sums, const yw_particles* p) {
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    sums->velocity[0] += m * (double)p->vel[i].x;
    sums->velocity[1] += m * (double)p->vel[i].y;
    sums->velocity[2] += m * (double)p->vel[i].z;
  }
}

static void add_angular(rigid_sums* sums, const yw_particles* p) {
  for (int32_t i = 0; i < p->count; ++i) {
    double m = (double)p->mass[i];
    double x = (double)p->pos[i].x - sums->center[0], u = (double)p->vel[i].x - sums->velocity[0];
    double y = (double)p->pos[i].y - sums->center[1], v = (double)p->vel[i].y - sums->velocity[1];
    double z = (double)p->pos[i].z - sums->center[2], w = (double)p->vel[i].z - sums->velocity[2];
    sums->angular[0] += m * (y * w - z * v);
    sums->angular[1] += m * (z * u - x * w);
    sums->angular[2] += m * (x * v - y * u);
  }
}

// Mass, centre and inertia; b may be NULL.
static rigid_sums sum_places(const yw_particles* a, const yw_particles* b) {
  rigid_sums sums = {0};
  add_places(&sums, a);
  if (b) add_places(&sums, b);
  for (int k = 0; k < 3; ++k) sums.center[k] /= sums.mass;
  add_inertia(&sums, a);
  if (b) add_inertia(&sums, b);
  return sums;
}

// The motion too.
static rigid_sums sum_motion(const yw_particles* p) {
  rigid_sums sums = sum_places(p, NULL);
  add_velocities(&sums, p);
  for (int k = 0; k < 3; ++k) sums.velocity[k] /= sums.mass;
  add_angular(&sums, p);
  return sums;
}

// A line has no inertia about itself: a fraction of the trace keeps the inverse finite. Zero for a
// point.
static yw_mat3 invert_inertia(const double inertia[6]) {
  double trace = inertia[0] + inertia[1] + inertia[2], s[6];
  for (int k = 0; k < 6; ++k) s[k] = inertia[k] + (k < 3 ? 1e-7 * trace : 0.0);
  double xx = s[1] * s[2] - s[5] * s[5], xy = s[4] * s[5] - s[3] * s[2],
         xz = s[3] * s[5] - s[4] * s[1];
  double det = s[0] * xx + s[3] * xy + s[4] * xz;
  if (!(det > 0.0)) return (yw_mat3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  double yy = s[0] * s[2] - s[4] * s[4], yz = s[3] * s[4] - s[0] * s[5],
         zz = s[0] * s[1] - s[3] * s[3];
  return (yw_mat3){{(float)(xx / det), (float)(xy / det), (float)(xz / det)},
                   {(float)(xy / det), (float)(yy / det), (float)(yz / det)},
                   {(float)(xz / det), (float)(yz / det), (float)(zz / det)}};
}

static yw_vec3 narrow(const double v[3]) { return yw_v3((float)v[0], (float)v[1], (float)v[2]); }

static rigid_motion motion_of(const yw_contact_body* body) {
  if (body->is_obstacle) return (rigid_motion){0};
  rigid_sums sums = sum_motion(body->particles);
  rigid_motion motion = {.center = narrow(sums.center), .velocity = narrow(sums.velocity)};
  motion.inv_inertia = invert_inertia(sums.inertia);
  motion.omega = yw_mul(motion.inv_inertia, narrow(sums.angular));
  motion.inv_mass = (float)(1.0 / sums.mass);
  if (sums.held) {
    motion.inv_mass = 0.0f;
    motion.inv_inertia = (yw_mat3){{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  }
  return motion;
}

static void add_rigid_velocity(yw_particles* p, yw_vec3 center, yw_vec3 velocity, yw_vec3 omega) {
  for (int32_t i = 0; i < p->count; ++i) {
    if (p->inv_mass[i] == 0.0f) continue;
    yw_vec3 change = yw_add(velocity, yw_cross(omega, yw_sub(yw_xyz(p->pos[i]), center)));
    p->vel[i] = yw_v4(yw_add(yw_xyz(p->vel[i]), change));
  }
}

// Bounce ----------------------------------------------------------------------------------------

static yw_vec3 contact_point(const yw_contact_problem* problem, const yw_contact* c) {
  const yw_vec4* pos = problem->bodies[c->body[0]].particles->pos;
  yw_vec3 p = yw_v3(0, 0, 0);
  for (int k = 0; k < c->count[0]; ++k) {
    p = yw_mad(p, c->weights[0][k], yw_xyz(pos[c->particles[0][k]]));
  }
  return p;
}

static yw_vec3 velocity_at(const rigid_motion* motion, yw_vec3 p) {
  return yw_add(motion->velocity, yw_cross(motion->omega, yw_sub(p, motion->center)));
}

static yw_vec3 velocity_of_side(const yw_contact_problem* problem, const yw_contact* c, int side) {
  const yw_vec4* vel = problem->bodies[c->body[side]].particles->vel;
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int k = 0; k < c->count[side]; ++k) {
    sum = yw_mad(sum, c->weights[side][k], yw_xyz(vel[c->particles[side][k]]));
  }
  return sum;
}

// Obstacles move as given, and not all of them alike.
static yw_vec3 velocity_in(const yw_contact_problem* problem, const yw_contact* c, int side,
                           const rigid_motion* motion, yw_vec3 p) {
  bool given = problem->bodies[c->body[side]].is_obstacle;
  return given ? velocity_of_side(problem, c, side) : velocity_at(motion, p);
}

static float inv_mass_at(const rigid_motion* motion, yw_vec3 p, yw_vec3 n) {
  yw_vec3 arm = yw_cross(yw_sub(p, motion->center), n);
  return motion->inv_mass + yw_dot(arm, yw_mul(motion->inv_inertia, arm));
}

static void hit(rigid_motion* motion, yw_vec3 p, yw_vec3 impulse) {
  motion->velocity = yw_mad(motion->velocity, motion->inv_mass, impulse);
  yw_vec3 torque = yw_cross(yw_sub(p, motion->center), impulse);
  motion->omega = yw_add(motion->omega, yw_mul(motion->inv_inertia, torque));
}

// One sweep over all impacts of the pair. The first stores the separation speed in c->push.
static void bounce_sweep(const yw_contact_problem* problem, const yw_contact_batch* batch,
                         rigid_motion* a, rigid_motion* b, bool first) {
  for (int32_t i = 0; i < batch->count; ++i) {
    yw_contact* c = &batch->contacts[i];
    if (!(c->bounce > 0.0f)) continue;
    rigid_motion* front = c->body[0] == batch->a ? a : b;
    rigid_motion* back = c->body[0] == batch->a ? b : a;
    yw_vec3 p = contact_point(problem, c);
    yw_vec3 relative =
        yw_sub(velocity_in(problem, c, 0, front, p), velocity_in(problem, c, 1, back, p));
    float along = yw_dot(relative, c->normal);
    if (first) {
      c->push = along < 0.0f ? -c->bounce * along : 0.0f;
      continue;
    }
    float inv_mass = inv_mass_at(front, p, c->normal) + inv_mass_at(back, p, c->normal);
    float impulse = inv_mass > 0.0f ? c->impulse + (c->push - along) / inv_mass : 0.0f;
    if (impulse < 0.0f) impulse = 0.0f;
    yw_vec3 change = yw_scale(c->normal, impulse - c->impulse);
    c->impulse = impulse;
    hit(front, p, change);
    hit(back, p, yw_neg(change));
  }
}

void yw_contact_bounce(const yw_contact_problem* problem, const yw_contact_batch* batch) {
  bool any = false;
  for (int32_t i = 0; i < batch->count; ++i) any = any || batch->contacts[i].bounce > 0.0f;
  const yw_contact_body *body_a = &problem->bodies[batch->a], *body_b = &problem->bodies[batch->b];
  if (!any || batch->a == batch->b) return;
  if (yw_contact_is_loose(body_a) || yw_contact_is_loose(body_b)) return;
  rigid_motion a = motion_of(body_a), b = motion_of(body_b);
  rigid_motion old_a = a, old_b = b;
  for (int k = 0; k <= BOUNCE_ITERATIONS; ++k) bounce_sweep(problem, batch, &a, &b, k == 0);
  add_rigid_velocity(body_a->particles, a.center, yw_sub(a.velocity, old_a.velocity),
                     yw_sub(a.omega, old_a.omega));
  add_rigid_velocity(body_b->particles, b.center, yw_sub(b.velocity, old_b.velocity),
                     yw_sub(b.omega, old_b.omega));
  // The particles' own impulses start from zero here.
  for (int32_t i = 0; i < batch->count; ++i) {
    batch->contacts[i].bounced = batch->contacts[i].impulse;
    batch->contacts[i].impulse = batch->contacts[i].push = 0;
  }
}

// Angular momentum -------------------------------------------------------------------------------

yw_vec3 yw_contact_lost_angular(const yw_contact_problem* problem, const yw_contact_batch* batch) {
  yw_vec3 lost = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < batch->count; ++i) {
    const yw_contact* c = &batch->contacts[i];
    if (c->count[1] == 0 || (c->impulse == 0.0f && c->push_impulse == 0.0f)) continue;
    yw_vec3 impulse = yw_mad(c->friction, c->impulse, c->normal);
    lost = yw_add(lost, yw_cross(c->arm, impulse));
    for (int side = 0; side < 2; ++side) {
      bool follows = !problem->bodies[c->body[side]].respond;
      yw_vec3 way = yw_scale(impulse, follows ? c->share * problem->h : 0.0f);
      way = yw_mad(way, c->push_impulse, c->normal);
      yw_vec3 turn = yw_cross(way, velocity_of_side(problem, c, side));
      lost = side ? yw_sub(lost, turn) : yw_add(lost, turn);
    }
  }
  return lost;
}

// A straight rod resists turning about itself by its thickness. Without that, the least angular
// momentum would give it any speed across.
static void add_thickness(rigid_sums* sums, const yw_contact_body* body) {
  for (int32_t i = 0; body->geometry.num_segments > 0 && i < body->particles->count; ++i) {
    double r = (double)body->geometry.radius[i],
           own = 0.5 * (double)body->particles->mass[i] * r * r;
    for (int k = 0; k < 3; ++k) sums->inertia[k] += own;
  }
}

void yw_contact_turn_back(const yw_contact_body* body, yw_vec3 angular) {
  yw_particles* particles = body->particles;
  rigid_sums sums = sum_places(particles, NULL);
  if (sums.held || yw_length2(angular) == 0.0f) return;
  add_thickness(&sums, body);
  yw_vec3 omega = yw_neg(yw_mul(invert_inertia(sums.inertia), angular));
  add_rigid_velocity(particles, narrow(sums.center), yw_v3(0, 0, 0), omega);
}

static double mass_of(const yw_particles* p) {
  double sum = 0.0;
  for (int32_t i = 0; i < p->count; ++i) sum += (double)p->mass[i];
  return sum;
}

// Balls do not rotate, so friction between them turns the heap they lie in. A heap on an obstacle
// passes that on to it; turning the whole heap back in every step would only make it tremble.
static bool turns_on_obstacle(const yw_contact_body* body) {
  return body->geometry.radius && body->obstacles;
}

void yw_contact_keep_angular(const yw_contact_problem* problem, const yw_contact_batch* batch,
                             yw_vec3 lost_angular) {
  double lost = (double)yw_length(lost_angular);
  const yw_contact_body *first = &problem->bodies[batch->a], *second = &problem->bodies[batch->b];
  if (lost == 0.0 || first->is_obstacle || second->is_obstacle) return;
  if (turns_on_obstacle(first) || turns_on_obstacle(second)) return;
  yw_particles* a = first->particles;
  yw_particles* b = batch->a == batch->b ? NULL : second->particles;
  double step = (double)yw_length(problem->gravity) * (double)problem->h;
  double mass = mass_of(a) + (b ? mass_of(b) : 0.0);
  if (lost < NEGLIGIBLE_ANGULAR * step * mass * (double)batch->extent) return;
  rigid_sums sums = sum_places(a, b);
  if (sums.held) return;
  yw_vec3 omega = yw_neg(yw_mul(invert_inertia(sums.inertia), lost_angular));
  add_rigid_velocity(a, narrow(sums.center), yw_v3(0, 0, 0), omega);
  if (b) add_rigid_velocity(b, narrow(sums.center), yw_v3(0, 0, 0), omega);
}
