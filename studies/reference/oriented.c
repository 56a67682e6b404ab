// SPDX-License-Identifier: MIT
// Oriented particles as in the papers (Mueller, Chentanez 2011; Hino et al.), in double.
#include "reference/oriented.h"

#include <string.h>

#include "math/small/dense.h"
#include "math/small/mat3d.h"

#define MAX_PARTICLES 64
// Rounds shrink the error by h^2 kappa / (1 + h^2 kappa).
#define MAX_IMPLICIT 4000
#define IMPLICIT_TOLERANCE 1e-15  // of the largest coordinate; for rotations rad

static int32_t member_of(const int32_t* members, int32_t i) { return members ? members[i] : i; }

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static void apply(const double m[9], const double v[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// Adds A_i for a particle of the given weight: the diagonal is to the right of R_i.
static void add_particle_moment(const frames_oriented* p, double weight, double a[9]) {
  double now[9], rest[9];
  yw_turn_matrix(p->turn, now);
  yw_turn_matrix(p->rest_turn, rest);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        a[3 * i + j] += weight / 5.0 * now[3 * i + k] * p->semi[k] * p->semi[k] * rest[3 * j + k];
      }
    }
  }
}

void yw_oriented_match(const frames_oriented* particles, const int32_t* members, int32_t count,
                       const double* weights, frames_group_pose* out) {
  *out = (frames_group_pose){0};
  for (int32_t i = 0; i < count; ++i) {
    const frames_oriented* p = &particles[member_of(members, i)];
    double m = weights ? weights[i] : p->mass;
    out->mass += m;
    for (int k = 0; k < 3; ++k) {
      out->center[k] += m * p->x[k];
      out->rest_center[k] += m * p->rest[k];
    }
  }
  for (int k = 0; k < 3; ++k) out->center[k] /= out->mass, out->rest_center[k] /= out->mass;
  for (int32_t i = 0; i < count; ++i) {
    const frames_oriented* p = &particles[member_of(members, i)];
    double m = weights ? weights[i] : p->mass;
    for (int k = 0; k < 9; ++k) {
      out->a[k] +=
          m * (p->x[k / 3] - out->center[k / 3]) * (p->rest[k % 3] - out->rest_center[k % 3]);
    }
    add_particle_moment(p, m, out->a);
  }
  yw_m3_polar(out->a, out->r, out->s);
}

void yw_oriented_goal(const frames_group_pose* pose, const frames_oriented* particle, double x[3],
                      yw_turn* turn) {
  double q[3];
  for (int k = 0; k < 3; ++k) q[k] = particle->rest[k] - pose->rest_center[k];
  apply(pose->r, q, x);
  for (int k = 0; k < 3; ++k) x[k] += pose->center[k];
  if (turn) *turn = yw_turn_mul(yw_turn_from_matrix(pose->r), particle->rest_turn);
}

// The theorem -------------------------------------------------------------------------------------

typedef struct spring_sums {
  double force[3], torque[3], forces, torques;
} spring_sums;

// One piece: currently at y, and at q in the rigid frame, both relative to the centres.
static void add_spring(spring_sums* sums, double mass, const double y[3], const double q[3],
                       const double r[9]) {
  double held[3], f[3], t[3];
  apply(r, q, held);
  for (int k = 0; k < 3; ++k) f[k] = mass * (y[k] - held[k]);
  cross(held, f, t);
  for (int k = 0; k < 3; ++k) sums->force[k] += f[k], sums->torque[k] += t[k];
  sums->forces += length(f);
  sums->torques += length(held) * length(f);
}

// Two pieces at +-sqrt(3/5) of each semi-axis have the moments of the whole ellipsoid.
static spring_sums sum_springs(const frames_oriented* particles, int32_t count,
                               const frames_group_pose* pose, const double r[9]) {
  spring_sums sums = {0};
  for (int32_t i = 0; i < count; ++i) {
    const frames_oriented* p = &particles[i];
    for (int piece = 0; piece < 6; ++piece) {
      double local[3] = {0}, now[3], rest[3];
      local[piece / 2] = (piece % 2 ? -1.0 : 1.0) * sqrt(0.6) * p->semi[piece / 2];
      yw_turn_apply(p->turn, local, now);
      yw_turn_apply(p->rest_turn, local, rest);
      for (int k = 0; k < 3; ++k) {
        now[k] += p->x[k] - pose->center[k];
        rest[k] += p->rest[k] - pose->rest_center[k];
      }
      add_spring(&sums, p->mass / 6.0, now, rest, r);
    }
  }
  return sums;
}

frames_theorem yw_frames_theorem(const frames_oriented* particles, int32_t count) {
  frames_group_pose pose;
  yw_oriented_match(particles, NULL, count, NULL, &pose);
  spring_sums sums = sum_springs(particles, count, &pose, pose.r);
  frames_theorem result = {.force = length(sums.force) / sums.forces,
                           .torque = length(sums.torque) / sums.torques};
  // Eigenvalues of S; rotated by pi about its axes, the frame is in equilibrium too.
  double full[9], values[3], vectors[9];
  yw_m3_of_sym(pose.s, full);
  yw_dense_eigen(3, full, values, vectors);
  double scale = fabs(values[0]) + fabs(values[1]) + fabs(values[2]);
  result.others = -INFINITY;
  for (int axis = -1; axis < 3; ++axis) {
    double e[3], least = INFINITY;
    for (int k = 0; k < 3; ++k) e[k] = axis < 0 || k == axis ? values[k] : -values[k];
    for (int k = 0; k < 3; ++k) least = fmin(least, e[(k + 1) % 3] + e[(k + 2) % 3]);
    if (axis < 0) {
      result.stable = least / scale;
      continue;
    }
    result.others = fmax(result.others, least / scale);
    double flip[9], r[9];
    for (int k = 0; k < 9; ++k) {
      flip[k] = 2.0 * vectors[3 * axis + k / 3] * vectors[3 * axis + k % 3] - (k % 4 == 0);
    }
    yw_m3_mul(pose.r, flip, r);
    sums = sum_springs(particles, count, &pose, r);
    result.others_torque = fmax(result.others_torque, length(sums.torque) / sums.torques);
  }
  return result;
}

static double random_in(uint64_t* state, double low, double high) {
  *state += 0x9e3779b97f4a7c15ull;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) / 9007199254740992.0);
}

static yw_turn random_turn(uint64_t* state) {
  yw_turn q;
  double n;
  do {
    q.x = random_in(state, -1, 1), q.y = random_in(state, -1, 1);
    q.z = random_in(state, -1, 1), q.w = random_in(state, -1, 1);
    n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  } while (n > 1.0 || n < 1e-2);
  return yw_turn_normalize(q);
}

void yw_frames_random_state(uint64_t seed, bool oriented, bool reflected,
                            frames_oriented* particles, int32_t count) {
  uint64_t state = seed;
  yw_turn turn = random_turn(&state);
  for (int32_t i = 0; i < count; ++i) {
    frames_oriented* p = &particles[i];
    *p = (frames_oriented){.mass = random_in(&state, 0.1, 2.0)};
    for (int k = 0; k < 3; ++k) p->rest[k] = random_in(&state, -1, 1);
    double y[3] = {p->rest[0], p->rest[1], reflected ? -p->rest[2] : p->rest[2]};
    yw_turn_apply(turn, y, p->x);
    for (int k = 0; k < 3; ++k) p->x[k] += random_in(&state, -0.5, 0.5);
    p->rest_turn = random_turn(&state);
    p->turn = random_turn(&state);
    for (int k = 0; k < 3 && oriented; ++k) p->semi[k] = random_in(&state, 0.05, 0.6);
  }
}

// Loops -------------------------------------------------------------------------------------------

// Mean of the goals of the groups that contain a particle.
typedef struct goals {
  double x[MAX_PARTICLES][3];
  double turn[MAX_PARTICLES][3];    // mean rotation vector from the current orientation
  double torque[MAX_PARTICLES][3];  // mean torque of the springs, per kappa
  int32_t groups[MAX_PARTICLES];
} goals;

static void count_groups(const frames_loop* loop, int32_t count, goals* g) {
  memset(g, 0, sizeof *g);
  if (!loop->members) {
    for (int32_t i = 0; i < count; ++i) g->groups[i] = 1;
    return;
  }
  for (int32_t n = 0; n < loop->group_start[loop->num_groups]; ++n) ++g->groups[loop->members[n]];
}

// Torque of springs with kappa = 1 that tie all pieces of a particle to the frame: the sum of a x b
// over pieces at a, where the frame has b. (The sum of a b^T is A_i R^T.)
static void spring_torque(const frames_oriented* p, const double r[9], double out[3]) {
  double moment[9] = {0}, back[9], n[9];
  add_particle_moment(p, p->mass, moment);
  for (int k = 0; k < 9; ++k) back[k] = r[3 * (k % 3) + k / 3];
  yw_m3_mul(moment, back, n);
  out[0] = n[5] - n[7], out[1] = n[6] - n[2], out[2] = n[1] - n[3];
}

static void find_goals(const frames_loop* loop, const frames_oriented* particles, int32_t count,
                       goals* g) {
  count_groups(loop, count, g);
  int32_t groups = loop->members ? loop->num_groups : 1;
  for (int32_t k = 0; k < groups; ++k) {
    int32_t first = loop->members ? loop->group_start[k] : 0;
    int32_t size = loop->members ? loop->group_start[k + 1] - first : count;
    const int32_t* members = loop->members ? loop->members + first : NULL;
    double weights[MAX_PARTICLES];
    for (int32_t i = 0; i < size; ++i) {
      int32_t p = member_of(members, i);
      weights[i] = particles[p].mass / g->groups[p];
    }
    frames_group_pose pose;
    yw_oriented_match(particles, members, size, weights, &pose);
    for (int32_t i = 0; i < size; ++i) {
      int32_t p = member_of(members, i);
      double x[3], way[3], torque[3];
      yw_turn turn;
      yw_oriented_goal(&pose, &particles[p], x, &turn);
      yw_turn_log(yw_turn_mul(turn, yw_turn_conjugate(particles[p].turn)), way);
      spring_torque(&particles[p], pose.r, torque);
      for (int c = 0; c < 3; ++c) {
        g->torque[p][c] += torque[c] / g->groups[p];
        g->x[p][c] += x[c] / g->groups[p];
        g->turn[p][c] += way[c] / g->groups[p];
      }
    }
  }
}

static void step_matching(const frames_loop* loop, frames_oriented* particles, int32_t count,
                          goals* g) {
  find_goals(loop, particles, count, g);
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      particles[i].v[k] += loop->rate * (g->x[i][k] - particles[i].x[k]) / loop->h;
      particles[i].x[k] += loop->h * particles[i].v[k];
    }
  }
}

static void step_symplectic(const frames_loop* loop, frames_oriented* particles, int32_t count) {
  double force[3 * MAX_PARTICLES];
  yw_oriented_forces(loop, loop->rate, particles, count, force);
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      particles[i].v[k] += loop->h * force[3 * i + k] / particles[i].mass;
      particles[i].x[k] += loop->h * particles[i].v[k];
    }
  }
}

static void step_positions(const frames_loop* loop, frames_oriented* particles, int32_t count,
                           goals* g) {
  double start[MAX_PARTICLES][3];
  yw_turn start_turn[MAX_PARTICLES];
  for (int32_t i = 0; i < count; ++i) {
    frames_oriented* p = &particles[i];
    double way[3];
    start_turn[i] = p->turn;
    for (int k = 0; k < 3; ++k) {
      start[i][k] = p->x[k];
      p->x[k] += loop->h * p->v[k];
      way[k] = loop->h * p->spin[k];
    }
    if (loop->oriented) p->turn = yw_turn_mul(yw_turn_exp(way), p->turn);
  }
  for (int32_t sweep = 0; sweep < loop->sweeps; ++sweep) {
    find_goals(loop, particles, count, g);
    for (int32_t i = 0; i < count; ++i) {
      frames_oriented* p = &particles[i];
      double way[3];
      for (int k = 0; k < 3; ++k) {
        p->x[k] += loop->rate * (g->x[i][k] - p->x[k]);
        way[k] = loop->rate * g->turn[i][k];
      }
      if (loop->oriented) p->turn = yw_turn_normalize(yw_turn_mul(yw_turn_exp(way), p->turn));
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    frames_oriented* p = &particles[i];
    for (int k = 0; k < 3; ++k) p->v[k] = (p->x[k] - start[i][k]) / loop->h;
    if (!loop->oriented) continue;
    yw_turn_log(yw_turn_mul(p->turn, yw_turn_conjugate(start_turn[i])), p->spin);
    for (int k = 0; k < 3; ++k) p->spin[k] /= loop->h;
  }
}

// Inertia about the centre, in the world: tr Q 1 - Q with Q = (m / 5) R diag(a^2, b^2, c^2) R^T.
static void inertia_of(const frames_oriented* p, double out[9]) {
  frames_oriented same = *p;
  double q[9] = {0};
  same.rest_turn = p->turn;
  add_particle_moment(&same, p->mass, q);
  for (int k = 0; k < 9; ++k) out[k] = (k % 4 == 0 ? q[0] + q[4] + q[8] : 0.0) - q[k];
}

// How far a particle's rotation since the start of the step is from what implicit Euler wants,
// h I^-1 (L + h kappa torque), as a rotation vector; L: its angular momentum at the start.
static void missing_turn(const frames_loop* loop, const frames_oriented* p, yw_turn start,
                         const double momentum[3], const double torque[3], double out[3]) {
  double inertia[9], lower[9], way[3];
  inertia_of(p, inertia);
  for (int k = 0; k < 3; ++k) out[k] = loop->h * (momentum[k] + loop->h * loop->rate * torque[k]);
  yw_dense_cholesky(3, inertia, lower);
  yw_dense_solve(3, lower, out, out);
  yw_turn_log(yw_turn_mul(p->turn, yw_turn_conjugate(start)), way);
  for (int k = 0; k < 3; ++k) out[k] -= way[k];
}

typedef struct implicit_start {
  double x[MAX_PARTICLES][3], ahead[MAX_PARTICLES][3];
  yw_turn turn[MAX_PARTICLES];
  double momentum[MAX_PARTICLES][3];  // angular, about the centres
  double size;
} implicit_start;

static void begin_implicit(const frames_loop* loop, frames_oriented* particles, int32_t count,
                           implicit_start* s) {
  s->size = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    frames_oriented* p = &particles[i];
    for (int k = 0; k < 3; ++k) {
      s->x[i][k] = p->x[k];
      s->ahead[i][k] = p->x[k] += loop->h * p->v[k];
      s->size = fmax(s->size, fabs(p->x[k]));
    }
    if (!loop->oriented) continue;
    double inertia[9], way[3];
    inertia_of(p, inertia);
    apply(inertia, p->spin, s->momentum[i]);
    s->turn[i] = p->turn;
    for (int k = 0; k < 3; ++k) way[k] = loop->h * p->spin[k];
    p->turn = yw_turn_mul(yw_turn_exp(way), p->turn);
  }
}

// x = x* + h^2 kappa (g(x) - x), and the same for orientations with the torque of the springs:
// solves for particles and frames in turn. The change shrinks by a fixed factor per round; the
// final residual is checked in the equation itself.
static bool step_implicit(const frames_loop* loop, frames_oriented* particles, int32_t count,
                          goals* g) {
  implicit_start s;
  double pull = loop->h * loop->h * loop->rate, wrong = INFINITY;
  begin_implicit(loop, particles, count, &s);
  for (int32_t round = 0; round < MAX_IMPLICIT && wrong > IMPLICIT_TOLERANCE * s.size; ++round) {
    find_goals(loop, particles, count, g);
    wrong = 0.0;
    for (int32_t i = 0; i < count; ++i) {
      frames_oriented* p = &particles[i];
      double way[3] = {0};
      if (loop->oriented) missing_turn(loop, p, s.turn[i], s.momentum[i], g->torque[i], way);
      for (int k = 0; k < 3; ++k) {
        double* x = &p->x[k];
        wrong = fmax(wrong, fabs(s.ahead[i][k] + pull * (g->x[i][k] - *x) - *x) / (1.0 + pull));
        *x = (s.ahead[i][k] + pull * g->x[i][k]) / (1.0 + pull);
        way[k] /= 1.0 + pull;
        wrong = fmax(wrong, fabs(way[k]) * s.size);
      }
      if (loop->oriented) p->turn = yw_turn_normalize(yw_turn_mul(yw_turn_exp(way), p->turn));
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    frames_oriented* p = &particles[i];
    for (int k = 0; k < 3; ++k) p->v[k] = (p->x[k] - s.x[i][k]) / loop->h;
    if (!loop->oriented) continue;
    yw_turn_log(yw_turn_mul(p->turn, yw_turn_conjugate(s.turn[i])), p->spin);
    for (int k = 0; k < 3; ++k) p->spin[k] /= loop->h;
  }
  return wrong <= 16.0 * IMPLICIT_TOLERANCE * s.size;
}

bool yw_oriented_step(const frames_loop* loop, frames_oriented* particles, int32_t count) {
  goals g;
  if (count < 1 || count > MAX_PARTICLES) return false;
  switch (loop->scheme) {
    case FRAMES_MATCHING:
      step_matching(loop, particles, count, &g);
      return true;
    case FRAMES_SYMPLECTIC:
      step_symplectic(loop, particles, count);
      return true;
    case FRAMES_POSITIONS:
      step_positions(loop, particles, count, &g);
      return true;
    case FRAMES_IMPLICIT:
      return step_implicit(loop, particles, count, &g);
  }
  return false;
}

bool yw_oriented_forces(const frames_loop* loop, double kappa, const frames_oriented* particles,
                        int32_t count, double* forces) {
  goals g;
  if (count < 1 || count > MAX_PARTICLES) return false;
  find_goals(loop, particles, count, &g);
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      forces[3 * i + k] = kappa * particles[i].mass * (g.x[i][k] - particles[i].x[k]);
    }
  }
  return true;
}

void yw_oriented_angular_momentum(const frames_oriented* particles, int32_t count, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    double inertia[9], own[3], orbit[3];
    inertia_of(&particles[i], inertia);
    apply(inertia, particles[i].spin, own);
    cross(particles[i].x, particles[i].v, orbit);
    for (int k = 0; k < 3; ++k) out[k] += own[k] + particles[i].mass * orbit[k];
  }
}

double yw_frames_equivalent_stiffness(const frames_loop* loop, double mode) {
  double h2 = loop->h * loop->h;
  if (loop->scheme == FRAMES_MATCHING) return loop->rate / h2;
  if (loop->scheme != FRAMES_POSITIONS) return loop->rate;
  double left = 1.0;
  for (int32_t k = 0; k < loop->sweeps; ++k) left *= 1.0 - loop->rate * mode;
  return (1.0 / left - 1.0) / (mode * h2);
}
