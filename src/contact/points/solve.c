// SPDX-License-Identifier: MIT
// Projected Gauss-Seidel on impulses at contact points.
//
// A contact point is a weighted sum of particles, so that its inverse mass sum(w^2 / m) is the same
// in all directions: an impulse J changes its velocity by J times that, and normal and friction
// parts are solved in one visit. Velocities are solved without moving anything, which conserves
// both momenta to rounding. Then positions: the displacement of a resting contact is corrected for
// friction like its velocity, so that stacks and slopes do not creep. Penetration is pushed out
// along the normal by no more than the step added, plus a slow correction of the remainder.
#include "contact/points/solve.h"

#include "contact/points/rigid.h"

// Penetration not caused by this step is pushed out by this share per step, at most this fast
// (m/s).
#define PUSH_OUT_SHARE 0.2f
#define PUSH_OUT_SPEED 0.5f
// An approach slower than this many steps of gravity is resting contact, not an impact.
#define REST_STEPS 2.0f
// Contacts share particles and are often redundant: slightly less than the full correction
// converges faster (tuned on stacks: 0.8 to 1 equal, 1.2 trembles).
#define RELAXATION 0.9f
// Initial spring stiffness of balls in contact, in units of mass / h^2 (a single spring is unstable
// from 4), and the depth where it ends, in slops. Heaps of 6 layers creep with 1, stand with 2
// and 3.
#define START_STIFFNESS 2.5f
#define START_DEPTH 5.0f
// Batches per task.
#define BATCHES_PER_TASK 8
// Fewer batches are not worth waking threads for.
#define MIN_PARALLEL 32

// Weighted sum of one side's particles.
static inline yw_vec3 side_sum(const yw_point* c, int side, const yw_vec4* values) {
  yw_vec3 sum = yw_scale(yw_xyz(values[c->particles[side][0]]), c->weights[side][0]);
  for (int k = 1; k < c->count[side]; ++k) {
    sum = yw_mad(sum, c->weights[side][k], yw_xyz(values[c->particles[side][k]]));
  }
  return sum;
}

static inline void push_side(const yw_point* c, int side, const yw_particles* particles,
                             yw_vec4* values, yw_vec3 impulse) {
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t i = c->particles[side][k];
    float share = c->weights[side][k] * particles->inv_mass[i];
    values[i].x += share * impulse.x;
    values[i].y += share * impulse.y;
    values[i].z += share * impulse.z;
  }
}

// True for contacts between single particles, or of one with an obstacle.
static bool is_of_balls(const yw_point* c) { return c->count[0] == 1 && c->count[1] <= 1; }

static float side_inv_mass(const yw_point* c, int side, const yw_particles* particles) {
  float sum = 0.0f;
  for (int k = 0; k < c->count[side]; ++k) {
    float w = c->weights[side][k];
    sum += w * w * particles->inv_mass[c->particles[side][k]];
  }
  return sum;
}

yw_vec3 yw_point_relative(const yw_point_problem* problem, const yw_point* c, bool velocity) {
  const yw_particles* a = problem->bodies[c->body[0]].particles;
  const yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 relative = yw_sub(side_sum(c, 0, velocity ? a->vel : a->pos),
                            side_sum(c, 1, velocity ? b->vel : b->pos));
  return velocity ? yw_sub(relative, c->drift) : relative;
}

// Preparation -----------------------------------------------------------------------------------

static void prepare(const yw_point_problem* problem, yw_point* c) {
  const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
  c->inv_mass = side_inv_mass(c, 0, a->particles) + side_inv_mass(c, 1, b->particles);
  if (c->deep) c->inv_mass = 0.0f;
  c->approach = -yw_dot(yw_point_relative(problem, c, true), c->normal);
  c->gap = c->gap_before - c->approach * problem->h;
  c->arm = yw_point_relative(problem, c, false);
  c->offset = c->gap - yw_dot(c->arm, c->normal);
  c->friction_limit = sqrtf(a->friction * (c->count[1] > 0 ? b->friction : c->obstacle_friction));
  c->impulse = c->push = c->bounced = 0.0f;
  c->friction = yw_v3(0, 0, 0);

  // A gap at the start of the step may close, but no further. A gap that was already closed is not
  // an impact, however hard it is pressed; nor is a slow approach.
  float rest_speed = REST_STEPS * yw_length(problem->gravity) * problem->h;
  float restitution = a->restitution > b->restitution ? a->restitution : b->restitution;
  if (c->count[1] == 0) restitution = 0.0f;  // has already bounced off the obstacle
  bool impact = c->approach > rest_speed && c->gap_before > c->slop && c->gap < c->slop;
  c->target = c->gap_before > c->slop ? (c->slop - c->gap_before) / problem->h : 0.0f;
  c->bounce = impact ? restitution : 0.0f;
  // A swept path ends at the touch: none of the approach is left for the next step.
  if (c->swept && c->gap < c->slop) c->target = 0.0f;
  if (c->bounce > 0.0f) c->target = restitution * c->approach;
  // Fraction of the step after the touch; none if the gap stays as it is.
  float closed = c->gap_before - c->gap;
  c->share = 1.0f;
  if (c->gap_before > c->slop) {
    c->share = closed != 0.0f ? yw_clampf((c->slop - c->gap) / closed, 0.0f, 1.0f) : 0.0f;
  }
}

// Velocities ------------------------------------------------------------------------------------

// Balls that lie on each other start with an impulse that follows from their depth, as if they were
// springs; the sweeps then correct it. Depth is the only memory of the load between steps: heaps
// come to rest that would need many more sweeps from zero.
static void start_velocity(const yw_point_problem* problem, yw_point* c) {
  if (!is_of_balls(c) || !(c->inv_mass > 0.0f)) return;
  float depth = yw_clampf(c->slop - c->gap_before, 0.0f, START_DEPTH * c->slop);
  c->impulse = START_STIFFNESS * depth / (problem->h * c->inv_mass);
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 change = yw_scale(c->normal, c->impulse);
  push_side(c, 0, a, a->vel, change);
  push_side(c, 1, b, b->vel, yw_neg(change));
}

static void solve_velocity(const yw_point_problem* problem, yw_point* c) {
  if (!(c->inv_mass > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 relative = yw_sub(side_sum(c, 0, a->vel), yw_add(side_sum(c, 1, b->vel), c->drift));
  float along = yw_dot(relative, c->normal), mass = RELAXATION / c->inv_mass;

  // Contacts push but do not pull.
  float impulse = c->impulse + (c->target - along) * mass;
  if (impulse < 0.0f) impulse = 0.0f;
  yw_vec3 change = yw_scale(c->normal, impulse - c->impulse);
  c->impulse = impulse;

  // Friction stops the sliding or reaches its limit.
  yw_vec3 sliding = yw_mad(relative, -along, c->normal);
  yw_vec3 friction = yw_mad(c->friction, -mass, sliding);
  float limit = c->friction_limit * impulse, size2 = yw_length2(friction);
  if (size2 > limit * limit) friction = yw_scale(friction, limit / sqrtf(size2));
  change = yw_add(change, yw_sub(friction, c->friction));
  c->friction = friction;

  push_side(c, 0, a, a->vel, change);
  push_side(c, 1, b, b->vel, yw_neg(change));
}

// Positions -------------------------------------------------------------------------------------

static float gap_now(const yw_point_problem* problem, const yw_point* c) {
  return c->offset + yw_dot(yw_point_relative(problem, c, false), c->normal);
}

// Impulses act from the touch to the end of the step: positions follow the velocities. A resting
// point has then not moved, up to rounding, and neither creeps nor trembles.
static void follow_velocity(const yw_point_problem* problem, yw_point* c) {
  if (!(c->impulse > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 way = yw_scale(yw_mad(c->friction, c->impulse, c->normal), c->share * problem->h);
  push_side(c, 0, a, a->pos, way);
  push_side(c, 1, b, b->pos, yw_neg(way));
}

// Remaining penetration leaves slowly.
static void measure_depth(const yw_point_problem* problem, yw_point* c) {
  float gap = gap_now(problem, c), limit = PUSH_OUT_SPEED * problem->h;
  float push = PUSH_OUT_SHARE * (-c->slop - gap);
  // With nothing to push, pushes of other contacts may not bring the bodies closer than this.
  c->push_goal = push > 0.0f ? gap + (push < limit ? push : limit) : -c->slop;
  // When several balls stop one, those that touch late take a part of the velocity but little of
  // the displacement: penetration added by this step is removed at once.
  float brought_in = c->gap_before < -c->slop ? c->gap_before : -c->slop;
  if (is_of_balls(c) && c->push_goal < brought_in) c->push_goal = brought_in;
}

static void solve_position(const yw_point_problem* problem, yw_point* c) {
  if (!(c->inv_mass > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  float push = c->push + c->push_goal - gap_now(problem, c);
  if (push < 0.0f) push = 0.0f;
  if (push == c->push) return;
  yw_vec3 way = yw_scale(c->normal, (push - c->push) / c->inv_mass);
  c->push = push;
  push_side(c, 0, a, a->pos, way);
  push_side(c, 1, b, b->pos, yw_neg(way));
}

// Sweeps ----------------------------------------------------------------------------------------

typedef struct sweep {
  const yw_point_problem* problem;
  void (*visit)(const yw_point_problem* problem, yw_point_batch* batch);
  int32_t first, end;  // batches
} sweep;

static void sweep_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  int32_t first = job->first + block * BATCHES_PER_TASK;
  int32_t end = first + BATCHES_PER_TASK < job->end ? first + BATCHES_PER_TASK : job->end;
  for (int32_t i = first; i < end; ++i) job->visit(job->problem, &job->problem->batches[i]);
}

typedef void (*batch_visit)(const yw_point_problem*, yw_point_batch*);

// Visits every batch of one color.
static void sweep_color(const yw_point_problem* problem, batch_visit visit, int32_t color) {
  sweep job = {problem, visit, problem->color_start[color], problem->color_start[color + 1]};
  int32_t blocks = (job.end - job.first + BATCHES_PER_TASK - 1) / BATCHES_PER_TASK;
  bool serial = color == YW_POINT_MAX_COLORS || job.end - job.first < MIN_PARALLEL;
  yw_tasks_run(serial ? NULL : problem->tasks, blocks, sweep_block, &job);
}

static void sweep_all(const yw_point_problem* problem, batch_visit visit) {
  for (int32_t k = 0; k <= YW_POINT_MAX_COLORS; ++k) sweep_color(problem, visit, k);
}

// Visits colors from last to first.
static void sweep_back(const yw_point_problem* problem, batch_visit visit) {
  for (int32_t k = YW_POINT_MAX_COLORS; k >= 0; --k) sweep_color(problem, visit, k);
}

static void prepare_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) prepare(problem, &batch->contacts[i]);
}

static void bounce_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  yw_point_bounce(problem, batch);
}

static void start_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) start_velocity(problem, &batch->contacts[i]);
}

static void velocity_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) solve_velocity(problem, &batch->contacts[i]);
}

static void velocity_batch_back(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = batch->count - 1; i >= 0; --i) solve_velocity(problem, &batch->contacts[i]);
}

static void follow_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) follow_velocity(problem, &batch->contacts[i]);
}

static void depth_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) measure_depth(problem, &batch->contacts[i]);
}

static void position_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  for (int32_t i = 0; i < batch->count; ++i) solve_position(problem, &batch->contacts[i]);
}

static void lost_angular_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  batch->lost_angular = yw_point_lost_angular(problem, batch);
}

static void part_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  yw_point_part(problem, batch);
}

// Sums the angular momentum added by all batches of a pair.
static void add_lost_angular(const yw_point_problem* problem) {
  for (int32_t i = 0; i < problem->num_pairs; ++i) problem->pair_angular[i] = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < problem->color_start[YW_POINT_MAX_COLORS + 1]; ++i) {
    const yw_point_batch* batch = &problem->batches[i];
    problem->pair_angular[batch->pair] =
        yw_add(problem->pair_angular[batch->pair], batch->lost_angular);
  }
}

static void keep_angular_batch(const yw_point_problem* problem, yw_point_batch* batch) {
  if (batch->leads) yw_point_keep_angular(problem, batch, problem->pair_angular[batch->pair]);
}

void yw_point_solve(const yw_point_problem* problem) {
  sweep_all(problem, prepare_batch);
  sweep_all(problem, bounce_batch);
  sweep_all(problem, start_batch);
  // Forward and backward sweeps: each order compensates the bias of the other.
  for (int32_t i = 0; i < problem->iterations; ++i) {
    sweep_all(problem, velocity_batch);
    sweep_back(problem, velocity_batch_back);
  }
  sweep_all(problem, follow_batch);
  sweep_all(problem, depth_batch);
  for (int32_t i = 0; i < problem->iterations; ++i) sweep_all(problem, position_batch);
  sweep_all(problem, lost_angular_batch);
  sweep_all(problem, part_batch);
  add_lost_angular(problem);
  sweep_all(problem, keep_angular_batch);
}
