// SPDX-License-Identifier: MIT
// Contact of rods and sheets with obstacles, inside an implicit step.
//
// A solve without obstacles shows which particles meet one. These first stick or slide as they
// would alone, and the body is solved again. The force needed to hold a particle then decides its
// state:
//   pulled            released, and caught again where that leads it into the obstacle
//   |T| <= mu N       sticks
//   |T| >  mu N       slides in the contact plane, with a drag of mu N against its motion
// The body is solved with the new states, and so on until nothing changes; loosely, but for the
// last time.
#include "methods/kit/contact.h"
#include "methods/slender/contact.h"

#include <string.h>

#include "yawara/extend/timer.h"

// Number of rounds: after changes of drag only, and after any change. A stiff body is held by its
// last sticking particle; each round releases some.
#define DRAG_ROUNDS 3
#define MAX_ROUNDS 5
// Forces have settled when they change by less than this share of the normal force.
#define SETTLED_SHARE 0.01
// Slips shrink to this share from solve to solve at most.
#define LEAST_SLIP 0.1
// A particle that moves by less than this share of its slip without friction rests on its obstacle.
#define REST_SHARE 1e-3
// One that slides by less than this share of the depth stops: 0.03 mm in 1/60 s where it falls.
#define STOP_SHARE 0.01
// A released one this share of the depth inside is caught.
#define CATCH_SHARE 1e-3
// The way out of a contact is off by this share of the position over the depth: float.
#define ROUNDING 2e-7
// A hold may pull by this many particle weights, so that resting contacts do not flicker.
#define PULL_SLACK 30.0
// Stiffness that holds a sliding particle to its obstacle, relative to the particle's own.
#define HOLD_STIFFNESS 100.0
// Practically infinite friction: particles stay where they touched.
#define STICKY_FRICTION 1e12f

// Where no obstacle is near -----------------------------------------------------------------------

static bool is_clear(const slender_body* body, const yw_particles* particles,
                     const yw_step_ctx* ctx) {
  if (!ctx->collide) return true;
  if (!ctx->is_clear) return false;
  yw_aabb box = yw_aabb_empty();
  float radius = 0.0f;
  for (int32_t p = 0; p < particles->count; ++p) {
    box = yw_aabb_grow(yw_aabb_grow(box, yw_xyz(particles->pos[p])), yw_xyz(body->old_pos[p]));
    radius = fmaxf(radius, body->model->radius[p]);
  }
  return ctx->is_clear(ctx, yw_aabb_pad(box, radius));
}

// Touching ----------------------------------------------------------------------------------------

static void collide(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                    slender_span s) {
  yw_meet_obstacles(ctx, particles, body->old_pos, body->model->radius, (float)s.begin, (float)s.h);
}

// Collision with a different friction, on separate arrays.
static yw_particles collide_aside(slender_body* body, const yw_particles* particles,
                                  const yw_step_ctx* ctx, slender_span s, float friction,
                                  yw_vec4* pos, yw_vec4* vel) {
  yw_step_ctx other = *ctx;
  yw_particles aside = *particles;
  aside.pos = pos;
  aside.vel = vel;
  memcpy(pos, particles->pos, (size_t)particles->count * sizeof *pos);
  memcpy(vel, particles->vel, (size_t)particles->count * sizeof *vel);
  other.friction = friction;
  other.report = NULL;
  collide(body, &aside, &other, s);
  return aside;
}

// Friction of the obstacle that a particle touches, and the velocity of its surface.
static void probe_touch(const slender_body* body, const yw_step_ctx* ctx, slender_span s, int32_t p,
                        yw_vec3 place, slender_touch* touch) {
  yw_vec3 n = yw_v3((float)touch->normal[0], (float)touch->normal[1], (float)touch->normal[2]);
  float radius = body->model->radius[p];
  touch->friction = (double)ctx->friction;
  if (!ctx->probe) return;
  // A point slightly inside the obstacle.
  yw_vec4 inside = yw_v4(yw_mad(place, -1.01f * radius - 1e-5f, n)), normal, velocity;
  yw_step_ctx alone = *ctx;
  alone.tasks = NULL;
  ctx->probe(&alone, 1, &inside, (float)(s.begin + s.h), &normal, &velocity);
  if (normal.w > 0.0f) touch->friction = (double)velocity.w;
}

static double split(const slender_touch* touch, const double v[3], double along[3]) {
  double normal = 0.0;
  for (int k = 0; k < 3; ++k) normal += v[k] * touch->normal[k];
  for (int k = 0; k < 3; ++k) along[k] = v[k] - normal * touch->normal[k];
  return normal;
}

static double off_plane(const slender_touch* touch, const double x[3]) {
  double off = 0.0;
  for (int k = 0; k < 3; ++k) off += touch->normal[k] * (x[k] - touch->at[k]);
  return off;
}

static double length3(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void start_sliding(slender_body* body, int32_t p, double drag, double pull) {
  slender_anchor* anchor = &body->solver.anchors[p];
  slender_touch* touch = &body->touches[p];
  anchor->held = false;
  anchor->normal = HOLD_STIFFNESS * (anchor->weight + body->model->stiffness[p]);
  anchor->drag = drag;
  memcpy(anchor->across, touch->normal, sizeof anchor->across);
  memcpy(anchor->at, touch->at, sizeof anchor->at);
  memcpy(anchor->stick, touch->stick, sizeof anchor->stick);
  touch->pull = pull;
  touch->state = SLENDER_SLIDES;
}

static void stop(slender_body* body, int32_t p) {
  slender_anchor* anchor = &body->solver.anchors[p];
  slender_touch* touch = &body->touches[p];
  anchor->held = body->touched[p] = true;
  anchor->normal = anchor->drag = 0.0;
  memcpy(body->solver.pose.x + 3 * p, touch->stick, sizeof touch->stick);
  touch->state = SLENDER_STICKS;
}

static bool same_place(yw_vec4 a, yw_vec4 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Contact plane, from the exit direction without friction, and the position that the particle would
// have if it had not moved on the obstacle. (The point of entry will not do: the particles of a
// stiff body enter at different times.)
static void begin_touch(slender_body* body, int32_t p, yw_vec4 smooth, yw_vec4 sticky,
                        yw_vec4 velocity, double h) {
  slender_touch* touch = &body->touches[p];
  const double* x = body->solver.pose.x + 3 * p;
  double way[3], slip[3];
  for (int k = 0; k < 3; ++k) {
    touch->at[k] = (double)(&smooth.x)[k];
    touch->normal[k] = touch->at[k] - x[k];
    touch->velocity[k] = (double)(&velocity.x)[k];
    way[k] = touch->at[k] - body->x[3 * p + k] - h * touch->velocity[k];
  }
  touch->depth = length3(touch->normal);
  for (int k = 0; k < 3; ++k) touch->normal[k] /= touch->depth;
  split(touch, way, slip);
  touch->slip = length3(slip);
  // A resting particle keeps its position to the last bit of the double.
  bool rests = same_place(sticky, body->old_pos[p]);
  for (int k = 0; k < 3; ++k) {
    touch->stick[k] = rests ? body->x[3 * p + k] : touch->at[k] - slip[k];
  }
  body->touched[p] = true;
}

// The forces with which obstacles would hold particles that go on as they did, 3 per particle, into
// solver.step: those of the step, where the body rests or slides evenly.
static void estimate_forces(slender_body* body, const yw_step_ctx* ctx, double h) {
  slender_solver* solver = &body->solver;
  slender_pose pose = solver->pose;
  solver->pose = (slender_pose){body->x, body->turn};
  yw_slender_reactions(solver, ctx->tasks);
  solver->pose = pose;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    for (int k = 0; k < 3; ++k) {
      solver->step[3 * p + k] += solver->anchors[p].weight * h * body->v[3 * p + k];
    }
  }
}

// Whether the forces in solver.step, along the obstacles, are together less than mu times those
// into them: the body holds as a whole, and only parts of it may slip.
static bool holds_together(const slender_body* body) {
  double sum[3] = {0}, most = 0.0;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    const slender_touch* touch = &body->touches[p];
    if (!(touch->depth > 0.0)) continue;
    double along[3], normal = split(touch, body->solver.step + 3 * p, along);
    for (int k = 0; k < 3; ++k) sum[k] += along[k];
    most += touch->friction * normal;
  }
  return length3(sum) < most;
}

// Sticks or slides as the particle would alone, pressed by N = weight * depth; where it rested, as
// the force says with which it was held. (Of what moves, that says less: stiff bodies swing.)
static void begin_state(slender_body* body, int32_t p, bool holds, double h) {
  const double* force = body->solver.step + 3 * p;
  slender_touch* touch = &body->touches[p];
  double along[3], way[3], most = body->solver.anchors[p].weight * touch->depth;
  for (int k = 0; k < 3; ++k) way[k] = h * (body->v[3 * p + k] - touch->velocity[k]);
  split(touch, way, along);
  double moved = length3(along), slip = touch->slip;
  bool rests = holds && moved <= REST_SHARE * slip;
  if (rests) most = fmax(split(touch, force, along), most);
  most *= touch->friction;
  double pull = length3(along);
  if (slip <= touch->friction * touch->depth || (rests && pull <= (1.0 + SETTLED_SHARE) * most)) {
    stop(body, p);
    return;
  }
  slip = rests ? slip * fmax(1.0 - most / pull, LEAST_SLIP) : fmin(moved, slip);
  if (!(slip > 0.0)) {
    stop(body, p);
    return;
  }
  start_sliding(body, p, most / slip, 0.0);
  memcpy(body->solver.pose.x + 3 * p, touch->at, sizeof touch->at);
}

// Bounces are left to the obstacle.
static void begin_bounce(slender_body* body, int32_t p, yw_vec4 place, yw_vec4 velocity) {
  slender_touch* touch = &body->touches[p];
  for (int k = 0; k < 3; ++k) {
    touch->stick[k] = body->solver.pose.x[3 * p + k] = (double)(&place.x)[k];
    touch->velocity[k] = (double)(&velocity.x)[k];
  }
  body->solver.anchors[p].held = true;
  touch->state = SLENDER_BOUNCES;
}

// Finds the particles that obstacles move.
static bool find_touched(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                         slender_span s) {
  yw_particles smooth =
      collide_aside(body, particles, ctx, s, 0.0f, body->smooth_pos, body->smooth_vel);
  bool any = false;
  for (int32_t p = 0; p < particles->count && !any; ++p) {
    any = !body->solver.anchors[p].held && !same_place(smooth.pos[p], particles->pos[p]);
  }
  if (!any) return false;
  yw_particles sticky =
      collide_aside(body, particles, ctx, s, STICKY_FRICTION, body->sticky_pos, body->sticky_vel);
  // With the actual friction: counts contacts and finds bounces.
  yw_vec4* free_pos = body->left_pos;
  memcpy(free_pos, particles->pos, (size_t)particles->count * sizeof *free_pos);
  collide(body, particles, ctx, s);
  estimate_forces(body, ctx, s.h);
  for (int32_t p = 0; p < particles->count; ++p) {
    slender_touch* touch = &body->touches[p];
    if (body->solver.anchors[p].held || same_place(smooth.pos[p], free_pos[p])) continue;
    begin_touch(body, p, smooth.pos[p], sticky.pos[p], sticky.vel[p], s.h);
    probe_touch(body, ctx, s, p, yw_xyz(smooth.pos[p]), touch);
    double leaves = 0.0;
    for (int k = 0; k < 3; ++k) {
      leaves += touch->normal[k] * (double)((&smooth.vel[p].x)[k] - (&sticky.vel[p].x)[k]);
    }
    double aside = 1e-3 + ROUNDING * (double)yw_length(yw_xyz(free_pos[p])) / touch->depth;
    if (leaves > aside * (double)yw_length(yw_xyz(smooth.vel[p])) + 1e-6) {
      begin_bounce(body, p, particles->pos[p], particles->vel[p]);
    } else {
      touch->state = SLENDER_STICKS;
    }
  }
  bool holds = holds_together(body);
  for (int32_t p = 0; p < particles->count; ++p) {
    if (body->touches[p].state == SLENDER_STICKS) begin_state(body, p, holds, s.h);
  }
  return true;
}

// States ------------------------------------------------------------------------------------------

static void let_go(slender_body* body, int32_t p) {
  slender_anchor* anchor = &body->solver.anchors[p];
  anchor->held = body->touched[p] = false;
  anchor->normal = anchor->drag = 0.0;
  body->touches[p].state = SLENDER_FREE;
}

// True when the body must be solved again.
static bool check_sticking(slender_body* body, int32_t p, bool holds, double slack) {
  const double* reaction = body->solver.step + 3 * p;
  const slender_touch* touch = &body->touches[p];
  double along[3], normal = split(touch, reaction, along), size = length3(along);
  if (normal < -slack) {
    let_go(body, p);
    return true;
  }
  double most = touch->friction * fmax(normal, 0.0);
  if (size <= (1.0 + SETTLED_SHARE) * most + 1e-3 * slack / PULL_SLACK) return false;
  // With all others, the slip without friction is too long, so that the drag approaches mu N from
  // below. (From above, where nothing slides, that would take many rounds.) Else as far as the
  // particle would go alone.
  double alone = (size - most) / (body->solver.anchors[p].weight + body->model->stiffness[p]);
  double slip = holds ? fmin(touch->slip, alone) : touch->slip;
  start_sliding(body, p, slip > 0.0 ? most / slip : 0.0, holds ? size : 0.0);
  return true;
}

// What the last solve says about a particle that slides.
typedef struct slender_slide {
  double off;   // m, from the plane of contact; negative: pressed
  double most;  // N, mu times the normal force
  double slip;  // m
} slender_slide;

static slender_slide slide_of(const slender_body* body, int32_t p) {
  const slender_touch* touch = &body->touches[p];
  const double* x = body->solver.pose.x + 3 * p;
  slender_slide s = {0};
  double way[3], slip[3];
  s.off = off_plane(touch, x);
  for (int k = 0; k < 3; ++k) way[k] = x[k] - touch->stick[k];
  split(touch, way, slip);
  s.slip = length3(slip);
  s.most = -touch->friction * body->solver.anchors[p].normal * s.off;
  return s;
}

// The slip of the body once its drags are mu N, over that of the last solve; 0: it stops. Under
// drags c the slip is F / (k + c): the last two solves tell k and F. Drags of mu N / slip alone
// come near that too slowly, so that bodies just below the friction angle kept sliding. All
// particles together, since those of a stiff body slip alike, whatever their own drags.
static double next_slip(const slender_body* body) {
  double weight = 0.0, slip = 0.0, before = 0.0, drag = 0.0, drag_before = 0.0;
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    const slender_touch* touch = &body->touches[p];
    if (touch->state != SLENDER_SLIDES) continue;
    slender_slide s = slide_of(body, p);
    if (s.off > 0.0) continue;
    weight += s.most;
    slip += s.most * s.slip;
    before += s.most * touch->slip;
    drag += body->solver.anchors[p].drag * s.slip;
    drag_before += touch->drag * touch->slip;
  }
  bool less = before - slip > 1e-6 * before;
  double stiffness = less ? weight * (drag - drag_before) / (before - slip) : 0.0;
  bool known = stiffness > 0.0 && isfinite(stiffness);
  double share = known ? 1.0 + weight * (drag - weight) / (stiffness * slip) : 1.0;
  return share <= 0.0 ? 0.0 : fmax(share, LEAST_SLIP);
}

// Sets the drag coefficient so that the drag is mu N, always against the motion. waits: it does not
// stop yet.
static bool check_sliding(slender_body* body, int32_t p, double next, bool waits) {
  slender_anchor* anchor = &body->solver.anchors[p];
  slender_touch* touch = &body->touches[p];
  slender_slide s = slide_of(body, p);
  if (s.off > 0.0) {
    let_go(body, p);
    return true;
  }
  bool hardly = s.slip < STOP_SHARE * touch->depth && anchor->drag * s.slip < s.most;
  bool pulled = touch->pull > s.most && s.slip > 0.0;
  if (!pulled && (hardly || next == 0.0)) {
    if (waits) return false;
    stop(body, p);
    return true;
  }
  // What is pulled harder than friction holds goes on to slide, whatever the others do: along the
  // line between the force at no slip and that of the last solve.
  if (pulled) {
    double line = touch->pull - anchor->drag * s.slip;
    next = line > 0.0 ? (touch->pull - s.most) / line : 1.0;
    next = fmin(fmax(next, LEAST_SLIP), 1.0 / LEAST_SLIP);
  }
  double change = fabs(s.most - anchor->drag * s.slip);
  touch->slip = s.slip;
  touch->drag = anchor->drag;
  anchor->drag = s.most > 0.0 ? fmin(s.most / fmax(next * s.slip, 1e-30), anchor->normal) : 0.0;
  double scale = (double)body->params.stiffness_scale;
  return change > SETTLED_SHARE * s.most + 1e-3 * (double)body->model->mass[p] / scale;
}

// What was released and sinks in.
static bool check_released(slender_body* body, int32_t p) {
  const slender_touch* touch = &body->touches[p];
  double off = touch->depth > 0.0 ? off_plane(touch, body->solver.pose.x + 3 * p) : 0.0;
  if (!(off < -CATCH_SHARE * touch->depth)) return false;
  stop(body, p);
  return true;
}

static bool any_sticks(const slender_body* body) {
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    if (body->touches[p].state == SLENDER_STICKS) return true;
  }
  return false;
}

// True when a state has changed; *drags: a drag force has.
static bool check_touched(slender_body* body, const yw_step_ctx* ctx, bool* drags) {
  double fall = (double)yw_length(ctx->gravity), scale = (double)body->params.stiffness_scale;
  double next = next_slip(body);
  bool any = false;
  *drags = false;
  yw_slender_reactions(&body->solver, ctx->tasks);
  bool holds = holds_together(body);
  // What sticks, but cannot hold the body, kept the slip of all others short: that says nothing
  // about where they stop.
  bool waits = !holds && any_sticks(body);
  for (int32_t p = 0; p < body->model->num_particles; ++p) {
    slender_state state = body->touches[p].state;
    double slack = PULL_SLACK * (double)body->model->mass[p] * fall / scale;
    if (state == SLENDER_STICKS) {
      any = check_sticking(body, p, holds, slack) || any;
    } else if (state == SLENDER_FREE) {
      any = check_released(body, p) || any;
    } else if (state == SLENDER_SLIDES) {
      *drags = check_sliding(body, p, next, waits) || *drags;
      any = any || body->touches[p].state != SLENDER_SLIDES;
    }
  }
  return any;
}

// Finish ------------------------------------------------------------------------------------------

static void finish_touched(slender_body* body, yw_particles* particles, const slender_backward* b) {
  for (int32_t p = 0; p < particles->count; ++p) {
    const slender_touch* touch = &body->touches[p];
    if (touch->state == SLENDER_FREE) continue;
    double x[3], v[3];
    memcpy(x, body->solver.pose.x + 3 * p, sizeof x);
    memcpy(v, touch->velocity, sizeof v);
    if (touch->state == SLENDER_SLIDES) {
      double off = 0.0, away = 0.0;
      for (int k = 0; k < 3; ++k) {
        v[k] = (x[k] - body->base_x[3 * p + k]) / b->h1;
        off += touch->normal[k] * (x[k] - touch->at[k]);
        away += touch->normal[k] * (v[k] - touch->velocity[k]);
      }
      for (int k = 0; k < 3; ++k) x[k] -= off * touch->normal[k], v[k] -= away * touch->normal[k];
    }
    for (int k = 0; k < 3; ++k) (&particles->vel[p].x)[k] = (float)v[k];
    yw_slender_put(body, particles, p, x);
  }
}

static slender_solve_report solve_again(slender_body* body, const yw_step_ctx* ctx, bool keep,
                                        double tolerance) {
  body->solver.keep_factor = keep;
  slender_solve_report solved =
      yw_slender_solve(&body->solver, ctx->tasks, tolerance, SLENDER_MAX_NEWTON);
  body->solver.keep_factor = false;
  body->newton += solved.newton;
  return solved;
}

// States and drags that agree with the forces, and the body solved with them.
static void find_states(slender_body* body, const yw_step_ctx* ctx) {
  bool drags;
  double start = solve_again(body, ctx, false, SLENDER_LOOSE).start;
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    bool states = check_touched(body, ctx, &drags);
    if (!states && !(drags && round < DRAG_ROUNDS)) break;
    solve_again(body, ctx, !states, SLENDER_LOOSE);
  }
  body->solver.least_start = start;
  bool converged = solve_again(body, ctx, true, (double)body->params.tolerance).converged;
  body->solver.least_start = 0.0;
  if (!converged && ctx->report) ++ctx->report->recovered;
}

void yw_slender_meet_obstacles(slender_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               const slender_backward* b, slender_span s) {
  body->in_contact = false;
  memset(body->touches, 0, (size_t)particles->count * sizeof *body->touches);
  if (is_clear(body, particles, ctx)) return;
  body->in_contact = find_touched(body, particles, ctx, s);
  if (!body->in_contact) return;
  find_states(body, ctx);
  yw_slender_finish_places(body, particles, b);
  finish_touched(body, particles, b);
  // Particles that meet an obstacle only now are stopped there.
  yw_vec4* before = body->left_pos;
  memcpy(before, particles->pos, (size_t)particles->count * sizeof *before);
  int32_t contacts = ctx->report ? ctx->report->obstacle_contacts : 0;
  collide(body, particles, ctx, s);
  if (ctx->report) ctx->report->obstacle_contacts = contacts;
  for (int32_t p = 0; p < particles->count; ++p) {
    if (same_place(before[p], particles->pos[p])) continue;
    memset(body->low + 3 * p, 0, 3 * sizeof *body->low);
    body->touched[p] = true;
  }
}
