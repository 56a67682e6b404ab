// SPDX-License-Identifier: MIT
// Projected Gauss-Seidel on impulses at contact points.
//
// A contact point is a weighted sum of particles, so that its inverse mass sum(w^2 / m) is one
// number for all directions: an impulse J changes its velocity by J times that, whatever the
// direction, and normal and friction parts are solved in one visit. Velocities are solved without
// moving anything, which keeps both momenta to rounding. Then positions: what friction took from
// the velocity of a resting contact is also taken back from the way, so that stacks and slopes do
// not creep, and penetration is pushed out along the normal by no more than the step brought in,
// plus a slow rest.
#include "contact/solve.h"

// Penetration that this step did not cause is pushed out at this speed, m/s.
#define PUSH_OUT_SPEED 0.5f
// An approach slower than this many steps of gravity is rest, not an impact.
#define REST_STEPS 2.0f
// Batches per task.
#define BATCHES_PER_TASK 8
// Fewer batches than this are not worth waking threads for.
#define MIN_PARALLEL 32

// Weighted sum of one side's particles.
static inline yw_vec3 side_sum(const yw_contact* c, int side, const yw_vec4* values) {
  yw_vec3 sum = yw_scale(yw_xyz(values[c->particles[side][0]]), c->weights[side][0]);
  for (int k = 1; k < c->count[side]; ++k) {
    sum = yw_mad(sum, c->weights[side][k], yw_xyz(values[c->particles[side][k]]));
  }
  return sum;
}

static inline void push_side(const yw_contact* c, int side, const yw_particles* particles,
                             yw_vec4* values, yw_vec3 impulse) {
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t i = c->particles[side][k];
    float share = c->weights[side][k] * particles->inv_mass[i];
    values[i].x += share * impulse.x;
    values[i].y += share * impulse.y;
    values[i].z += share * impulse.z;
  }
}

static float side_inv_mass(const yw_contact* c, int side, const yw_particles* particles) {
  float sum = 0.0f;
  for (int k = 0; k < c->count[side]; ++k) {
    float w = c->weights[side][k];
    sum += w * w * particles->inv_mass[c->particles[side][k]];
  }
  return sum;
}

// Preparation
// --------------------------------------------------------------------------------------

static void prepare(const yw_contact_problem* problem, yw_contact* c) {
  const yw_contact_body *a = &problem->bodies[c->body[0]], *b = &problem->bodies[c->body[1]];
  c->inv_mass = side_inv_mass(c, 0, a->particles) + side_inv_mass(c, 1, b->particles);
  yw_vec3 relative = yw_sub(side_sum(c, 0, a->particles->vel), side_sum(c, 1, b->particles->vel));
  c->approach = -yw_dot(relative, c->normal);
  yw_vec3 apart = yw_sub(side_sum(c, 0, a->particles->pos), side_sum(c, 1, b->particles->pos));
  c->offset = c->gap - yw_dot(apart, c->normal);
  c->friction_limit = sqrtf(a->friction * b->friction);
  c->impulse = c->push = 0.0f;
  c->friction = yw_v3(0, 0, 0);

  float restitution = a->restitution > b->restitution ? a->restitution : b->restitution;
  float rest_speed = REST_STEPS * yw_length(problem->gravity) * problem->h;
  c->rests = c->approach <= rest_speed;
  // A gap may close within the next step, but not more.
  c->target = c->gap > 0.0f ? -c->gap / problem->h : 0.0f;
  if (!c->rests && c->approach * problem->h > c->gap && restitution > 0.0f) {
    c->target = restitution * c->approach;
  }
  float brought = c->approach > 0.0f ? c->approach : 0.0f;
  c->push_limit = (brought + PUSH_OUT_SPEED) * problem->h;
}

// Velocities
// ---------------------------------------------------------------------------------------

static void solve_velocity(const yw_contact_problem* problem, yw_contact* c) {
  if (!(c->inv_mass > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 relative = yw_sub(side_sum(c, 0, a->vel), side_sum(c, 1, b->vel));
  float along = yw_dot(relative, c->normal), mass = 1.0f / c->inv_mass;

  // Bodies push, they do not pull.
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

// Positions
// ----------------------------------------------------------------------------------------

// The way that a sticking or sliding point made in this step without friction's share.
static void take_back_sliding(const yw_contact_problem* problem, yw_contact* c) {
  if (!c->rests || !(c->impulse > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 way = yw_scale(c->friction, problem->h);
  push_side(c, 0, a, a->pos, way);
  push_side(c, 1, b, b->pos, yw_neg(way));
}

static void solve_position(const yw_contact_problem* problem, yw_contact* c) {
  if (!(c->inv_mass > 0.0f)) return;
  yw_particles* a = problem->bodies[c->body[0]].particles;
  yw_particles* b = problem->bodies[c->body[1]].particles;
  yw_vec3 apart = yw_sub(side_sum(c, 0, a->pos), side_sum(c, 1, b->pos));
  float gap = c->offset + yw_dot(apart, c->normal);
  float push = yw_clampf(c->push - gap, 0.0f, c->push_limit);
  if (push == c->push) return;
  yw_vec3 way = yw_scale(c->normal, (push - c->push) / c->inv_mass);
  c->push = push;
  push_side(c, 0, a, a->pos, way);
  push_side(c, 1, b, b->pos, yw_neg(way));
}

// Sweeps
// -------------------------------------------------------------------------------------------

typedef struct sweep {
  const yw_contact_problem* problem;
  void (*visit)(const yw_contact_problem* problem, yw_contact* contact);
  int32_t first, end;  // batches
} sweep;

static void sweep_batches(const sweep* job, int32_t first, int32_t end) {
  for (int32_t i = first; i < end; ++i) {
    const yw_contact_batch* batch = &job->problem->batches[i];
    for (int32_t k = 0; k < batch->count; ++k) job->visit(job->problem, &batch->contacts[k]);
  }
}

static void sweep_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const sweep* job = context;
  int32_t first = job->first + block * BATCHES_PER_TASK;
  int32_t end = first + BATCHES_PER_TASK < job->end ? first + BATCHES_PER_TASK : job->end;
  sweep_batches(job, first, end);
}

// Visits every contact once, color by color.
static void sweep_all(const yw_contact_problem* problem,
                      void (*visit)(const yw_contact_problem*, yw_contact*)) {
  for (int32_t color = 0; color <= YW_CONTACT_MAX_COLORS; ++color) {
    sweep job = {problem, visit, problem->color_start[color], problem->color_start[color + 1]};
    bool serial = color == YW_CONTACT_MAX_COLORS;
    if (serial || !problem->tasks || job.end - job.first < MIN_PARALLEL) {
      sweep_batches(&job, job.first, job.end);
    } else {
      int32_t blocks = (job.end - job.first + BATCHES_PER_TASK - 1) / BATCHES_PER_TASK;
      yw_tasks_run(problem->tasks, blocks, sweep_block, &job);
    }
  }
}

void yw_contact_solve(const yw_contact_problem* problem) {
  sweep_all(problem, prepare);
  for (int32_t i = 0; i < problem->iterations; ++i) sweep_all(problem, solve_velocity);
  sweep_all(problem, take_back_sliding);
  for (int32_t i = 0; i < problem->iterations; ++i) sweep_all(problem, solve_position);
}
