// SPDX-License-Identifier: MIT
// Rules for adding and removing slaves (sections 4.2 and 4.3 of Saida, Fujisawa, Mikawa 2017): the
// bunny on rods with different rules for new slaves, and lumps that merge in free space with slaves
// that are deleted, moved or kept.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/small/polar.h"
#include "methods/plastic/phases.h"
#include "papers/saida2017/saida.h"
#include "world/world.h"
#include "yawara/extend/error.h"

#define SPACING "bodies[0].plastic.spacing"
// A master is degenerate if the variance of its slaves in some direction, divided by h^2, is below
// this: its gradient is bounded there.
#define LEAST 0.06f

typedef struct slave_rule {
  const char* label;
  plastic_rules rules;
} slave_rule;

static yw_body* body_of(const paper_take* take) {
  return &take->world->bodies.items[take->world->body_order.items[0]];
}

double saida_solve_share(const paper_take* take) {
  const plastic_body* body = body_of(take)->state;
  double all = 0;
  for (int k = 0; k < PLASTIC_NUM_TIMES; ++k) all += body->seconds[k];
  return all > 0 ? body->seconds[PLASTIC_SOLVE] / all : 0;
}

// A script with its rules.
typedef struct slave_script {
  paper_script script;
  plastic_rules rules;
} slave_script;

enum {
  DEGENERATE,
  SPEED,
  ENERGY,
  SLAVES,
  ADDED,
  REMOVED,
  RELOCATED,
  SPIN,
  MOMENTUM,
  SIZE,
  COLUMNS
};

static int compare_x(const void* a, const void* b) {
  float x = ((const yw_vec4*)a)->x, y = ((const yw_vec4*)b)->x;
  return (x > y) - (x < y);
}

// Index of the first slave at x or beyond; slaves are sorted by x.
static int32_t first_from(const yw_vec4* slaves, int32_t count, float x) {
  int32_t low = 0, high = count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (slaves[middle].x < x) low = middle + 1;
    if (!(slaves[middle].x < x)) high = middle;
  }
  return low;
}

// Sums over the slaves (sorted by x) within 2h of a master; compares the smallest variance of their
// positions.
static bool is_degenerate(const yw_vec4* slaves, int32_t count, float h, yw_vec4 x) {
  double sum = 0, mean[3] = {0}, d[6] = {0};
  int32_t begin = first_from(slaves, count, x.x - 2.0f * h);
  for (int32_t s = begin; s < count && slaves[s].x < x.x + 2.0f * h; ++s) {
    yw_vec3 r = yw_scale(yw_sub(yw_xyz(slaves[s]), yw_xyz(x)), 1.0f / h);
    float q = yw_length(r);
    if (q >= 2.0f) continue;
    double w = (double)(q < 1.0f ? (0.5f * q - 1.0f) * q * q + 2.0f / 3.0f
                                 : (2.0f - q) * (2.0f - q) * (2.0f - q) / 6.0f);
    const double p[3] = {(double)r.x, (double)r.y, (double)r.z};
    sum += w;
    for (int k = 0; k < 3; ++k) {
      mean[k] += w * p[k];
      d[k] += w * p[k] * p[k];
      d[3 + k] += w * p[k] * p[(k + 1) % 3];
    }
  }
  if (!(sum > 0)) return true;
  for (int k = 0; k < 3; ++k) mean[k] /= sum;
  for (int k = 0; k < 3; ++k) {
    d[k] = d[k] / sum - mean[k] * mean[k];
    d[3 + k] = d[3 + k] / sum - mean[k] * mean[(k + 1) % 3];
  }
  yw_mat3 m = {{(float)d[0], (float)d[3], (float)d[5]},
               {(float)d[3], (float)d[1], (float)d[4]},
               {(float)d[5], (float)d[4], (float)d[2]}};
  yw_mat3 axes;
  yw_vec3 values;
  yw_eigen_symmetric(&m, &values, &axes);
  return fminf(values.x, fminf(values.y, values.z)) < LEAST;
}

// -1: out of memory.
static int32_t count_degenerate(const plastic_body* body, const yw_particles* p) {
  int32_t count = body->num_slaves, found = 0;
  yw_vec4* slaves = malloc(sizeof *slaves * (size_t)(count + 1));
  if (!slaves) return -1;
  memcpy(slaves, body->slave_pos, sizeof *slaves * (size_t)count);
  qsort(slaves, (size_t)count, sizeof *slaves, compare_x);
  for (int32_t m = 0; m < p->count; ++m) {
    found += is_degenerate(slaves, count, body->model->spacing, p->pos[m]);
  }
  free(slaves);
  return found;
}

// Kinetic, gravitational and elastic energy, J.
static double energy_of(const plastic_body* body, const yw_particles* p, yw_vec3 gravity) {
  double sum = 0;
  for (int32_t m = 0; m < p->count; ++m) {
    const plastic_material_block* material = &body->materials[m / YW_LANES];
    const plastic_state_block* state = &body->state[m / YW_LANES];
    int32_t l = m % YW_LANES;
    double w = (double)p->mass[m], j = 1, shear = 0;
    for (int a = 0; a < 3; ++a) {
      double s = (double)state->sigma[a][l];
      shear += (s - 1) * (s - 1);
      j *= s;
    }
    sum += w * (0.5 * (double)yw_length2(yw_xyz(p->vel[m])) -
                (double)yw_dot(gravity, yw_xyz(p->pos[m])));
    sum +=
        (double)(state->volume[l] * state->harden[l]) *
        ((double)material->mu[l] * shear + 0.5 * (double)material->lambda[l] * (j - 1) * (j - 1));
  }
  return sum;
}

// Momentum along x, the sum of its magnitudes over all masters, and angular momentum about y.
static void add_motion(const yw_particles* p, double* row) {
  double momentum[3] = {0}, spin[3] = {0};
  for (int32_t m = 0; m < p->count; ++m) {
    const float *x = &p->pos[m].x, *v = &p->vel[m].x;
    double w = (double)p->mass[m];
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      momentum[k] += w * (double)v[k];
      row[SIZE] += w * fabs((double)v[k]);
      spin[k] += w * ((double)x[a] * (double)v[b] - (double)x[b] * (double)v[a]);
    }
  }
  row[SPIN] = spin[1];
  row[MOMENTUM] = momentum[0];
}

static void measure(const paper_take* take, double* row) {
  yw_body* own = body_of(take);
  plastic_body* body = own->state;
  body->rules = ((const slave_script*)take->script)->rules;
  for (int k = 0; k < COLUMNS; ++k) row[k] = 0;
  row[DEGENERATE] = count_degenerate(body, &own->particles);
  for (int32_t m = 0; m < own->particles.count; ++m) {
    row[SPEED] = fmax(row[SPEED], (double)yw_length(yw_xyz(own->particles.vel[m])));
  }
  row[ENERGY] = energy_of(body, &own->particles, take->world->gravity);
  row[SLAVES] = body->num_slaves;
  row[ADDED] = (double)body->added;
  row[REMOVED] = (double)body->removed;
  row[RELOCATED] = (double)body->relocated;
  add_motion(&own->particles, row);
}

static yw_status play(const paper_options* options, const char* scene, const slave_rule* rule,
                      int32_t count, const yw_scene_override* settings, paper_take* take,
                      yw_error* error) {
  paper_options numbers = *options;
  numbers.no_pictures = true;
  const slave_script own = {.script = {.scene = scene,
                                       .num_columns = COLUMNS,
                                       .measure = measure,
                                       .settings = settings,
                                       .num_settings = count,
                                       .may_diverge = true},
                            .rules = rule->rules};
  yw_status status = paper_play(&numbers, &own.script, take, error);
  take->script = NULL;
  return status;
}

// Splits ------------------------------------------------------------------------------------------

static yw_status play_rods(const paper_options* options, const char* title, int32_t count,
                           const yw_scene_override* settings, yw_error* error) {
  static const slave_rule rules[] = {{"no new slaves", {.per_split = 0}},
                                     {"one per split", {.per_split = 1}},
                                     {"two per split (the paper)", {.per_split = 2}},
                                     {"repair alone", {.repair = true}},
                                     {"one per split, repair", {.per_split = 1, .repair = true}},
                                     {"two per split, repair", {.per_split = 2, .repair = true}}};
  printf("\n%s\n%-26s %11s %7s %12s %14s %11s %8s %7s\n", title, "", "degenerate:", "at end",
         "speed (m/s)", "energy: gained", "at end (J)", "slaves", "added");
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    paper_take take;
    yw_status status =
        play(options, "saida2017/fig13.json", &rules[i], count, settings, &take, error);
    if (status < 0) return status;
    double gained = 0, fastest = 0;
    for (int32_t k = 1; k <= take.info.frames; ++k) {
      gained =
          fmax(gained, take.rows[k * COLUMNS + ENERGY] - take.rows[(k - 1) * COLUMNS + ENERGY]);
    }
    for (int32_t k = take.info.frames / 2; k <= take.info.frames; ++k) {
      fastest = fmax(fastest, take.rows[k * COLUMNS + SPEED]);
    }
    const double* end = take.rows + take.info.frames * COLUMNS;
    double most = 0;
    for (int32_t k = 1; k <= take.info.frames; ++k) {
      most = fmax(most, take.rows[k * COLUMNS + DEGENERATE]);
    }
    if (i == 0) printf("(%d masters)\n", paper_particles(&take, 0));
    printf("%-26s %11.0f %7.0f %12.1f %14.0f %11.0f %8.0f %7.0f%s\n", rules[i].label, most,
           end[DEGENERATE], fastest, gained, end[ENERGY], end[SLAVES], end[ADDED],
           take.diverged ? "  diverged" : "");
    fflush(stdout);
    paper_take_free(&take);
  }
  return YW_OK;
}

// Merging -----------------------------------------------------------------------------------------

static yw_status play_lumps(const paper_options* options, yw_error* error) {
  static const slave_rule rules[] = {
      {"kept", {.per_split = 2, .repair = true, .keep = true}},
      {"deleted, no repair", {.per_split = 2}},
      {"deleted, repair", {.per_split = 2, .repair = true}},
      {"moved or deleted, repair", {.per_split = 2, .repair = true, .relocate = true}},
      {"moved or kept, repair", {.per_split = 2, .repair = true, .relocate = true, .keep = true}}};
  static const yw_scene_override coarse[] = {{SPACING, "0.03"},
                                             {"bodies[1].plastic.spacing", "0.03"},
                                             {"bodies[2].plastic.spacing", "0.03"}};
  printf(
      "\nLumps that merge in free space; slaves that crowd are\n%-26s %11s %11s %11s %11s %8s %8s "
      "%8s %8s\n",
      "", "momentum:", "angular:", "energy", "degenerate", "slaves", "added", "deleted", "moved");
  printf("%-26s %11s %11s %11s %11s\n", "", "changed", "kept", "kept", "most");
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    paper_take take;
    yw_status status = play(options, "saida2017/lumps.json", &rules[i], options->quick ? 3 : 0,
                            coarse, &take, error);
    if (status < 0) return status;
    const double *begin = take.rows + COLUMNS, *end = take.rows + take.info.frames * COLUMNS;
    double most = 0;
    for (int32_t k = 1; k <= take.info.frames; ++k) {
      most = fmax(most, take.rows[k * COLUMNS + DEGENERATE]);
    }
    if (i == 0) printf("(%d masters)\n", paper_particles(&take, 0));
    printf("%-26s %11.1e %11.4f %11.4f %11.0f %8.0f %8.0f %8.0f %8.0f%s\n", rules[i].label,
           fabs(end[MOMENTUM] - begin[MOMENTUM]) / end[SIZE], end[SPIN] / begin[SPIN],
           end[ENERGY] / begin[ENERGY], most, end[SLAVES], end[ADDED], end[REMOVED], end[RELOCATED],
           take.diverged ? "  diverged" : "");
    fflush(stdout);
    paper_take_free(&take);
  }
  return YW_OK;
}

yw_status paper_saida_slaves(const paper_options* options, yw_error* error) {
  yw_scene_override settings[6] = {{"bodies[0].plastic.youngs_modulus", "2e5"},
                                   {"bodies[0].plastic.poissons_ratio", "0.45"},
                                   {"bodies[0].plastic.theta_s", "0.05"},
                                   {"bodies[0].plastic.theta_c", "0.2"},
                                   {"frames", "20"},
                                   {SPACING, "0.06"}};
  int32_t added = options->quick ? 2 : 1;
  yw_status status = play_rods(options, "Rods, high plasticity", 4 + added, settings, error);
  if (status < 0) return status;
  status = play_rods(options, "Rods, low plasticity", added, settings + 4, error);
  return status < 0 ? status : play_lumps(options, error);
}
