// SPDX-License-Identifier: MIT
// Coulomb friction of a frames body on obstacles, inside an implicit step.
//
// What a particle would do without the obstacle cannot tell whether it sticks: a layer gives way
// more easily in shear than in compression, so it would slide far below the friction angle. The
// force that holds a fixed particle can, once the body is solved with it:
//   |T| <= mu N    sticks
//   |T| >  mu N    slides in the plane of contact, with a force of mu N against its motion
// The body is solved with the new states, until nothing changes. Particles that would turn back
// under that force have stopped, and stick for the rest of the step.
//
// The direction of a slip s is part of the solve: with d = s / |s| of the last solve and t across
// it, -mu N s / |s| is -mu N (d + t (t . s) / |s|) to first order (Newton). With forces that keep
// their direction the sides of a block that slides slowly, which the material also pushes out,
// swing from solve to solve, and friction is lost in forces across the slope.
//
// What other bodies press on this one is not known in its solve, so N would be too small: then, and
// in bodies so hard that rounding hides these forces, particles do what they would do alone.
#include "methods/frames/friction.h"

#include <math.h>

// Slower than this many steps of free fall, a particle is taken to stick at first.
#define REST_FALLS 0.5f
// Friction forces have settled when they are within this share of their limit.
#define SETTLED_SHARE 0.005f
// While all together can hold what they have to, one particle may hold this many times its limit:
// a slip of its own would be too small to see, but would take many solves to find.
#define MOST_SHARE 3.0f
// Drag across a slip, relative to the particle's own stiffness: more holds no better.
#define MOST_DRAG 100.0f
// Obstacles with more friction hold whatever they touch.
#define STICKY 1e5f
// Rounding of forces, relative to stiffness times coordinates; and its largest share of the weight.
// Harder bodies give way by so little that what particles do alone is right
// (docs/methods/frames.md).
#define FORCE_ROUNDING 2e-7
#define KNOWN_SHARE 0.05
// A particle that leaves faster than this, m/s, bounces.
#define BOUNCE_SPEED 1e-3f

static bool same_place(yw_vec4 a, yw_vec4 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static yw_vec3 across(yw_vec3 v, yw_vec3 normal) { return yw_mad(v, -yw_dot(v, normal), normal); }

// Finding -----------------------------------------------------------------------------------------

// Normal, velocity and friction of the obstacles at the places that the particles would have
// reached, in the solver's vectors `product` and `conditioned`.
static void probe(frames_body* body, const yw_step_ctx* ctx, frames_span span) {
  const yw_step_ctx* world = body->near.world;
  yw_vec4 *points = body->direction, origin = yw_v4(body->near.origin);
  for (int32_t i = 0; i < body->num_grips; ++i) {
    points[i] = yw_mad4(body->guess[body->grips[i].particle], 1.0f, origin);
  }
  yw_step_ctx with = *world;
  with.tasks = ctx->tasks;
  world->probe(&with, body->num_grips, points, span.begin + span.h, body->product,
               body->conditioned);
}

// False where the obstacle decides alone: in bounces, and where the place without obstacles is not
// inside of one.
static bool begin_grip(frames_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                       float h, frames_grip* grip, int32_t found) {
  int32_t p = grip->particle;
  yw_vec4 normal = body->product[found], velocity = body->conditioned[found];
  yw_vec3 n = yw_xyz(normal), w = yw_xyz(velocity), now = yw_xyz(particles->pos[p]);
  float fall = h * yw_length(ctx->gravity);
  if (!(normal.w > 0.0f) || yw_dot(yw_sub(yw_xyz(particles->vel[p]), w), n) > BOUNCE_SPEED) {
    return false;
  }
  yw_vec3 carried = yw_mad(yw_xyz(body->last_pos[p]), h, w);
  float way = yw_dot(yw_sub(now, carried), n);
  yw_vec3 slip = across(yw_sub(yw_xyz(body->last_vel[p]), w), n);
  bool slides = velocity.w < STICKY && yw_length(slip) > REST_FALLS * fall;
  *grip = (frames_grip){.particle = p,
                        .state = slides ? FRAMES_WAITS : FRAMES_STICKS,
                        .normal = n,
                        .velocity = w,
                        .slip = yw_scale(slip, h),
                        .stick = yw_mad(carried, way, n),
                        .friction = velocity.w};
  return true;
}

// True if rounding of the forces in the body is small beside its weight on these particles.
static bool forces_are_known(const frames_body* body, const yw_step_ctx* ctx) {
  double rounding = 0.0, weight = body->model->total_mass * (double)yw_length(ctx->gravity) /
                                  (double)body->params.stiffness_scale;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    int32_t p = body->grips[i].particle;
    rounding += (double)(body->model->jacobi[p] * yw_length(yw_xyz(body->guess[p])));
  }
  return FORCE_ROUNDING * rounding < KNOWN_SHARE * weight;
}

void yw_frames_grip_begin(frames_body* body, const yw_particles* particles, const yw_step_ctx* ctx,
                          frames_span span) {
  body->num_grips = 0;
  if (!body->near.world->probe || body->pressed) return;
  for (int32_t p = 0; p < particles->count; ++p) {
    if (body->inverse[p] == 0.0f || same_place(particles->pos[p], body->guess[p])) continue;
    body->grips[body->num_grips++].particle = p;
  }
  if (!forces_are_known(body, ctx)) body->num_grips = 0;
  if (body->num_grips == 0) return;
  probe(body, ctx, span);
  int32_t count = 0;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    frames_grip grip = body->grips[i];
    if (begin_grip(body, particles, ctx, span.h, &grip, i)) body->grips[count++] = grip;
  }
  body->num_grips = count;
}

// States ------------------------------------------------------------------------------------------

static yw_vec3 moved_to(const frames_body* body, int32_t p, yw_vec3 place) {
  return yw_sub(place, yw_xyz(yw_mad4(body->base[p], body->h1, body->drift[p])));
}

static void put(frames_body* body, int32_t p, yw_vec3 place) {
  body->guess[p] = yw_v4(place);
  body->moved[p] = yw_v4(moved_to(body, p, place));
}

static void set_force(frames_body* body, frames_grip* grip, yw_vec3 force) {
  int32_t p = grip->particle;
  grip->force = force;
  body->anchor[p] = yw_v4(yw_mad(grip->anchor, 1.0f / body->diagonal[p], force));
}

static void stick(frames_body* body, yw_particles* particles, frames_grip* grip) {
  int32_t p = grip->particle;
  grip->state = FRAMES_STICKS;
  set_force(body, grip, yw_v3(0, 0, 0));
  put(body, p, grip->stick);
  body->inverse[p] = 0.0f;
  body->touched[p] = true;
  particles->pos[p] = yw_v4(grip->stick);
  particles->vel[p] = yw_v4(grip->velocity);
}

static float own_stiffness(const frames_body* body, int32_t p) {
  return body->diagonal[p] + body->model->jacobi[p];
}

// m, along the obstacle in this step.
static yw_vec3 slip_of(const frames_body* body, const frames_grip* grip) {
  int32_t p = grip->particle;
  yw_vec3 way = yw_sub(yw_xyz(body->moved[p]), moved_to(body, p, grip->stick));
  return across(way, grip->normal);
}

static yw_vec3 side_drag(const frames_body* body, const frames_grip* grip) {
  return yw_scale(grip->side, -grip->drag * yw_dot(grip->side, slip_of(body, grip)));
}

// A force of `limit` against the slip (m). True when that is not what acts already.
static bool slide(frames_body* body, frames_grip* grip, float limit, yw_vec3 slip) {
  int32_t p = grip->particle;
  float size = yw_length(slip), most = MOST_DRAG * own_stiffness(body, p);
  yw_vec3 ahead = size > 0.0f ? yw_scale(slip, 1.0f / size) : yw_v3(0, 0, 0);
  yw_vec3 force = yw_scale(ahead, -limit);
  if (grip->state == FRAMES_SLIDES) {
    yw_vec3 acts = yw_add(grip->force, side_drag(body, grip));
    if (yw_distance(force, acts) <= SETTLED_SHARE * limit) return false;
  }
  grip->state = FRAMES_SLIDES;
  grip->side = yw_cross(grip->normal, ahead);
  grip->drag = limit < most * size ? limit / size : most;
  set_force(body, grip, force);
  body->inverse[p] = 1.0f / own_stiffness(body, p);
  body->touched[p] = false;
  return true;
}

void yw_frames_grip_hold(frames_body* body, yw_particles* particles) {
  for (int32_t i = 0; i < body->num_grips; ++i) {
    frames_grip* grip = &body->grips[i];
    grip->anchor = yw_xyz(body->anchor[grip->particle]);
    if (grip->state == FRAMES_STICKS) {
      stick(body, particles, grip);
    } else {
      put(body, grip->particle, yw_xyz(body->guess[grip->particle]));
    }
  }
}

// What the obstacle does to a particle: N times mu, and T or the slip in this step.
typedef struct grip_load {
  float limit;
  yw_vec3 needed, slip;
} grip_load;

static grip_load load_of(const frames_body* body, const frames_grip* grip) {
  int32_t p = grip->particle;
  yw_vec3 reaction = yw_neg(yw_xyz(body->product[p]));
  return (grip_load){.limit = grip->friction * fmaxf(yw_dot(reaction, grip->normal), 0.0f),
                     .needed = across(reaction, grip->normal),
                     .slip = slip_of(body, grip)};
}

static bool goes_back(const frames_grip* grip, const grip_load* load) {
  return grip->state == FRAMES_SLIDES && yw_dot(load->slip, grip->force) > 0.0f;
}

// What sticking particles hold together, as a force and as a moment about their center, over what
// they can; and the share of the sliding ones that stop, by their limits.
typedef struct grip_sums {
  float held, stops;
} grip_sums;

static bool may_slip(const frames_grip* grip) {
  return grip->state == FRAMES_STICKS && grip->friction < STICKY;
}

static yw_vec3 center_of(const frames_body* body) {
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < body->num_grips; ++i) {
    sum = yw_add(sum, yw_xyz(body->guess[body->grips[i].particle]));
  }
  return yw_scale(sum, 1.0f / (float)body->num_grips);
}

// Nothing holds more than 0.
static float share_of(float needed, float most) {
  if (!(needed > 0.0f)) return 0.0f;
  return most > 0.0f ? needed / most : INFINITY;
}

static grip_sums sum_loads(const frames_body* body) {
  yw_vec3 force = yw_v3(0, 0, 0), moment = force, center = center_of(body);
  float most = 0.0f, most_moment = 0.0f, slides = 0.0f, stops = 0.0f;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    const frames_grip* grip = &body->grips[i];
    grip_load load = load_of(body, grip);
    if (may_slip(grip)) {
      yw_vec3 arm = yw_sub(yw_xyz(body->guess[grip->particle]), center);
      force = yw_add(force, load.needed);
      moment = yw_add(moment, yw_cross(arm, load.needed));
      most += load.limit;
      most_moment += load.limit * yw_length(arm);
    } else if (grip->state == FRAMES_SLIDES) {
      slides += load.limit;
      if (goes_back(grip, &load)) stops += load.limit;
    }
  }
  float push = yw_length(force), turn = yw_length(moment);
  return (grip_sums){.held = share_of(push, most) + share_of(turn, most_moment),
                     .stops = share_of(stops, slides)};
}

// True when the body must be solved again.
static bool check_grip(frames_body* body, yw_particles* particles, frames_grip* grip,
                       const grip_sums* sums) {
  grip_load load = load_of(body, grip);
  if (grip->state == FRAMES_STICKS) {
    if (grip->stopped || !may_slip(grip)) return false;
    bool all_hold = sums->held <= 1.0f + SETTLED_SHARE;
    float needed = yw_length(load.needed), most = all_hold ? MOST_SHARE * load.limit : load.limit;
    if (!(needed > most)) return false;
    // As far as the force that is too much would move the particle alone.
    float excess = (needed - load.limit) / own_stiffness(body, grip->particle);
    return slide(body, grip, load.limit, yw_scale(load.needed, -excess / needed));
  }
  if (grip->state == FRAMES_WAITS) return slide(body, grip, load.limit, grip->slip);
  if (goes_back(grip, &load) || sums->stops > 0.5f) {
    grip->stopped = true;
    stick(body, particles, grip);
    return true;
  }
  return slide(body, grip, load.limit, load.slip);
}

bool yw_frames_grip_check(frames_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (body->num_grips == 0) return false;
  const frames_kernels* kernels = YW_KERNEL_PICK(yw_frames_kernels, ctx->simd);
  // Forces on all particles, whether they are held or not.
  frames_phase phase = {.body = body,
                        .model = body->model,
                        .x = body->guess,
                        .out = body->product,
                        .inverse = body->diagonal};
  yw_frames_run(ctx, body->model->particle_chunks, kernels->forces, &phase);
  grip_sums sums = sum_loads(body);
  bool any = false;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    any = check_grip(body, particles, &body->grips[i], &sums) || any;
  }
  return any;
}

void yw_frames_grip_end(frames_body* body, yw_particles* particles) {
  for (int32_t i = 0; i < body->num_grips; ++i) {
    frames_grip* grip = &body->grips[i];
    if (grip->state != FRAMES_SLIDES) continue;
    set_force(body, grip, yw_v3(0, 0, 0));
    yw_vec4* v = &particles->vel[grip->particle];
    float away = yw_dot(yw_sub(yw_xyz(*v), grip->velocity), grip->normal);
    *v = yw_v4(yw_mad(yw_xyz(*v), -away, grip->normal));
    body->touched[grip->particle] = true;
  }
  body->num_grips = 0;
}

double yw_frames_grip_drag(const frames_body* body, yw_vec4* forces) {
  double sum = 0.0;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    const frames_grip* grip = &body->grips[i];
    if (grip->state != FRAMES_SLIDES) continue;
    yw_vec3 before = yw_xyz(forces[grip->particle]);
    yw_vec3 after = across(yw_add(before, side_drag(body, grip)), grip->normal);
    forces[grip->particle] = yw_v4(after);
    double change = (double)yw_length2(after) - (double)yw_length2(before);
    sum += change * (double)body->inverse[grip->particle];
  }
  return sum;
}

double yw_frames_grip_multiply(const frames_body* body, const yw_vec4* vectors, yw_vec4* product) {
  double sum = 0.0;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    const frames_grip* grip = &body->grips[i];
    if (grip->state != FRAMES_SLIDES) continue;
    yw_vec4* v = &product[grip->particle];
    float aside = yw_dot(grip->side, yw_xyz(vectors[grip->particle]));
    yw_vec3 dragged = yw_mad(yw_xyz(*v), grip->drag * aside, grip->side);
    *v = yw_v4(across(dragged, grip->normal));
    sum += (double)(grip->drag * aside * aside);
  }
  return sum;
}

double yw_frames_grip_condition(const frames_body* body, const yw_vec4* residual,
                                yw_vec4* conditioned) {
  double sum = 0.0;
  for (int32_t i = 0; i < body->num_grips; ++i) {
    const frames_grip* grip = &body->grips[i];
    if (grip->state != FRAMES_SLIDES) continue;
    yw_vec4* z = &conditioned[grip->particle];
    float aside = yw_dot(grip->side, yw_xyz(residual[grip->particle]));
    float own = own_stiffness(body, grip->particle), less = 1.0f / (own + grip->drag) - 1.0f / own;
    *z = yw_v4(across(yw_mad(yw_xyz(*z), less * aside, grip->side), grip->normal));
    sum += (double)(less * aside * aside);
  }
  return sum;
}
