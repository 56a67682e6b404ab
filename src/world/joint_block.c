// SPDX-License-Identifier: MIT
// Hinges, sliders, balls and fixed joints between rigid bodies, all solved at once by conjugate
// gradients: one after the other they would take hundreds of sweeps to agree where light bodies
// hang between heavy ones (wheel, carrier, car). The rows of a joint together are its
// preconditioner.
#include "math/small/mat3d.h"
#include "world/joint.h"

// The residual that is left, as a share of the first.
#define LEFT 1e-11

bool yw_joint_is_block(const yw_joint* joint) {
  return !joint->sides[0].soft && !joint->sides[1].soft && joint->kind < YW_JOINT_ROPE;
}

static bool takes_part(const yw_joint* joint) {
  return joint->takes_part && yw_joint_is_block(joint);
}

// One joint ---------------------------------------------------------------------------------------

static void add_rows(yw_joint_block* block, const double (*directions)[3], int count) {
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) block->rows[block->num_rows][k] = directions[i][k];
    ++block->num_rows;
  }
}

// A hinge keeps its point and turns about its axis, a slider moves along it.
static void choose_rows(yw_joint* joint) {
  const double all[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  yw_joint_block* block = &joint->block;
  const double(*across)[3] = (const double(*)[3])joint->axis.across;
  bool slides = joint->kind == YW_JOINT_SLIDER, turns = joint->kind == YW_JOINT_HINGE;
  block->num_rows = 0;
  add_rows(block, slides ? across : all, slides ? 2 : 3);
  block->num_pushes = block->num_rows;
  if (joint->kind != YW_JOINT_BALL) add_rows(block, turns ? across : all, turns ? 2 : 3);
}

// Push and twist about the centre of side s of impulses x along the rows.
static void add_impulse(const yw_joint* joint, int s, const double x[YW_JOINT_ROWS], double push[3],
                        double twist[3]) {
  const yw_joint_block* block = &joint->block;
  double sign = s == 0 ? -1.0 : 1.0, here[3] = {0}, turn[3];
  for (int a = 0; a < block->num_rows; ++a) {
    double* sum = a < block->num_pushes ? here : twist;
    for (int k = 0; k < 3; ++k) sum[k] += sign * x[a] * block->rows[a][k];
  }
  yw_cross3(joint->points[0].arms[s], here, turn);
  for (int k = 0; k < 3; ++k) {
    push[k] += here[k];
    twist[k] += turn[k];
  }
}

// Adds the velocities along the rows when side s moves.
static void add_velocity(const yw_joint* joint, int s, const double velocity[3],
                         const double spin[3], double out[YW_JOINT_ROWS]) {
  const yw_joint_block* block = &joint->block;
  double sign = s == 0 ? -1.0 : 1.0, at[3];
  yw_cross3(spin, joint->points[0].arms[s], at);
  for (int k = 0; k < 3; ++k) at[k] += velocity[k];
  for (int a = 0; a < block->num_rows; ++a) {
    out[a] += sign * yw_dot3(block->rows[a], a < block->num_pushes ? at : spin);
  }
}

// Cholesky factors of how impulses along the rows change velocities along them, with all other
// joints loose. A row that nothing can move gets no impulse.
static void factor(yw_joint* joint, const yw_joined* joined) {
  yw_joint_block* block = &joint->block;
  double answers[YW_JOINT_ROWS][YW_JOINT_ROWS] = {{0}};
  for (int b = 0; b < block->num_rows; ++b) {
    double x[YW_JOINT_ROWS] = {0};
    x[b] = 1.0;
    for (int s = 0; s < 2; ++s) {
      double push[3] = {0}, twist[3] = {0}, velocity[3], spin[3];
      if (!joint->sides[s].motion) continue;
      add_impulse(joint, s, x, push, twist);
      yw_load_answer(&joined[joint->sides[s].joined].load, push, twist, velocity, spin);
      add_velocity(joint, s, velocity, spin, answers[b]);
    }
  }
  for (int a = 0; a < block->num_rows; ++a) {
    for (int b = 0; b <= a; ++b) {
      double sum = answers[a][b];
      for (int k = 0; k < b; ++k) sum -= block->factor[a][k] * block->factor[b][k];
      double pivot = a > b ? block->factor[b][b] : 1.0;
      if (a == b) sum = sum > 1e-12 * answers[a][a] ? sqrt(sum) : 0.0;
      block->factor[a][b] = pivot > 0.0 ? sum / pivot : 0.0;
    }
  }
}

static void precondition(yw_joint_block* block) {
  const double(*f)[YW_JOINT_ROWS] = (const double(*)[YW_JOINT_ROWS])block->factor;
  double* z = block->towards;
  for (int a = 0; a < block->num_rows; ++a) {
    z[a] = block->miss[a];
    for (int k = 0; k < a; ++k) z[a] -= f[a][k] * z[k];
    z[a] = f[a][a] > 0.0 ? z[a] / f[a][a] : 0.0;
  }
  for (int a = block->num_rows - 1; a >= 0; --a) {
    for (int k = a + 1; k < block->num_rows; ++k) z[a] -= f[k][a] * z[k];
    z[a] = f[a][a] > 0.0 ? z[a] / f[a][a] : 0.0;
  }
}

void yw_joint_begin_block(yw_joint* joint, const yw_joined* joined) {
  choose_rows(joint);
  factor(joint, joined);
}

// What a joint misses along its rows, m/s and rad/s; returns the largest.
static double find_miss(yw_joint* joint, double h, bool at_end) {
  yw_joint_block* block = &joint->block;
  const yw_joint_point* p = &joint->points[0];
  double u[3], w[3], largest = 0.0;
  yw_joint_relative_velocity(joint, p, u);
  yw_joint_relative_spin(joint, w);
  for (int k = 0; k < 3; ++k) {
    u[k] = (at_end ? 0.0 : p->seen[k] - p->to[k] / h) - u[k];
    w[k] = (at_end ? 0.0 : joint->turn_seen[k] - joint->turn_error[k] / h) - w[k];
  }
  for (int a = 0; a < block->num_rows; ++a) {
    block->miss[a] = yw_dot3(block->rows[a], a < block->num_pushes ? u : w);
    largest = fmax(largest, fabs(block->miss[a]));
    block->impulse[a] = block->along[a] = 0.0;
  }
  return largest;
}

// All of them -------------------------------------------------------------------------------------

// How impulses along all rows change the velocities along them.
static void answer(yw_joint_list* list) {
  for (int32_t i = 0; i < list->num_joined; ++i) {
    for (int k = 0; k < 3; ++k) list->joined[i].push[k] = list->joined[i].twist[k] = 0.0;
  }
  for (int32_t i = 0; i < list->count; ++i) {
    const yw_joint* joint = &list->joints[i];
    for (int s = 0; s < 2 && takes_part(joint); ++s) {
      yw_joined* body = &list->joined[joint->sides[s].joined];
      if (joint->sides[s].motion) {
        add_impulse(joint, s, joint->block.along, body->push, body->twist);
      }
    }
  }
  for (int32_t i = 0; i < list->num_joined; ++i) {
    yw_joined* body = &list->joined[i];
    yw_load_answer(&body->load, body->push, body->twist, body->velocity, body->spin);
  }
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint* joint = &list->joints[i];
    for (int a = 0; a < YW_JOINT_ROWS; ++a) joint->block.answer[a] = 0.0;
    for (int s = 0; s < 2 && takes_part(joint); ++s) {
      const yw_joined* body = &list->joined[joint->sides[s].joined];
      if (joint->sides[s].motion) {
        add_velocity(joint, s, body->velocity, body->spin, joint->block.answer);
      }
    }
  }
}

// Goes `length` along; returns the square of the residual after preconditioning.
static double advance(yw_joint_list* list, double length) {
  double square = 0.0;
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint_block* block = &list->joints[i].block;
    if (!takes_part(&list->joints[i])) continue;
    for (int a = 0; a < block->num_rows; ++a) {
      block->impulse[a] += length * block->along[a];
      block->miss[a] -= length * block->answer[a];
    }
    precondition(block);
    for (int a = 0; a < block->num_rows; ++a) square += block->miss[a] * block->towards[a];
  }
  return square;
}

// The next direction; returns what it resists.
static double turn_along(yw_joint_list* list, double keep) {
  double resist = 0.0;
  for (int32_t i = 0; i < list->count; ++i) {
    yw_joint_block* block = &list->joints[i].block;
    for (int a = 0; takes_part(&list->joints[i]) && a < block->num_rows; ++a) {
      block->along[a] = block->towards[a] + keep * block->along[a];
    }
  }
  answer(list);
  for (int32_t i = 0; i < list->count; ++i) {
    const yw_joint_block* block = &list->joints[i].block;
    for (int a = 0; takes_part(&list->joints[i]) && a < block->num_rows; ++a) {
      resist += block->along[a] * block->answer[a];
    }
  }
  return resist;
}

static void give_impulses(yw_joint* joint) {
  const yw_joint_block* block = &joint->block;
  double push[3] = {0}, twist[3] = {0};
  for (int a = 0; a < block->num_rows; ++a) {
    double* sum = a < block->num_pushes ? push : twist;
    for (int k = 0; k < 3; ++k) sum[k] += block->impulse[a] * block->rows[a][k];
  }
  yw_joint_push(joint, &joint->points[0], push, 0.0);
  yw_joint_twist(joint, twist);
}

double yw_joint_solve_blocks(yw_joint_list* list, double h, bool at_end) {
  double largest = 0.0;
  int32_t num_rows = 0;
  for (int32_t i = 0; i < list->count; ++i) {
    if (!takes_part(&list->joints[i])) continue;
    largest = fmax(largest, find_miss(&list->joints[i], h, at_end));
    num_rows += list->joints[i].block.num_rows;
  }
  double square = advance(list, 0.0), enough = LEFT * LEFT * square, keep = 0.0;
  for (int32_t i = 0; i < num_rows && square > enough; ++i) {
    double resist = turn_along(list, keep), last = square;
    if (!(resist > 0.0)) break;
    square = advance(list, square / resist);
    keep = square / last;
  }
  for (int32_t i = 0; i < list->count; ++i) {
    if (takes_part(&list->joints[i])) give_impulses(&list->joints[i]);
  }
  return largest;
}
