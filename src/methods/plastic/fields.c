// SPDX-License-Identifier: MIT
// Quantities for display: stress, plastic strain, stretch, and connected pieces.
#include <math.h>
#include <string.h>

#include "math/small/exact_sum.h"
#include "math/small/union_find.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/memory.h"

// Masters farther apart than this, in units of d, are not connected.
#define PIECE_REACH 1.5f

enum { FIELD_STRESS, FIELD_STRAIN, FIELD_STRETCH, FIELD_PIECE, NUM_FIELDS };

static const yw_field_info fields[NUM_FIELDS] = {{.name = "stress", .unit = "Pa"},
                                                 {.name = "plastic_strain", .unit = ""},
                                                 {.name = "stretch", .unit = ""},
                                                 {.name = "piece", .unit = ""}};

int32_t yw_plastic_num_fields(const void* state) {
  (void)state;
  return NUM_FIELDS;
}

yw_field_info yw_plastic_field_info(const void* state, int32_t field) {
  (void)state;
  return fields[field];
}

const char* yw_plastic_field_meaning(const void* state, int32_t field) {
  static const char* const meanings[NUM_FIELDS] = {
      "von Mises stress (Cauchy)", "accumulated plastic strain",
      "principal stretch that differs most from 1",
      "number of the connected piece, 0 is the largest"};
  (void)state;
  return meanings[field];
}

// Von Mises stress of the Cauchy stress tensor, Pa.
static float stress_of(const plastic_body* body, int32_t m) {
  const plastic_material_block* material = &body->materials[m / YW_LANES];
  const plastic_state_block* state = &body->state[m / YW_LANES];
  int32_t l = m % YW_LANES;
  float mu = material->mu[l] * state->harden[l] * body->params.stiffness_scale, t[3], j = 1.0f;
  for (int a = 0; a < 3; ++a) {
    float s = state->sigma[a][l];
    t[a] = 2.0f * mu * (s - 1.0f) * s;
    j *= s;
  }
  float xy = t[0] - t[1], xz = t[0] - t[2], yz = t[1] - t[2];
  return sqrtf(0.5f * (xy * xy + xz * xz + yz * yz)) / fmaxf(fabsf(j), 1e-6f);
}

// The stretch that differs most from 1.
static float stretch_of(const plastic_body* body, int32_t m) {
  float most = 1.0f;
  for (int a = 0; a < 3; ++a) {
    float s = body->state[m / YW_LANES].sigma[a][m % YW_LANES];
    if (fabsf(s - 1.0f) > fabsf(most - 1.0f)) most = s;
  }
  return most;
}

void yw_plastic_field_values(const void* state, const yw_particles* particles, int32_t field,
                             float* out) {
  const plastic_body* body = state;
  yw_plastic_bring_rest(body);
  float* all = out;
  int32_t* piece = field == FIELD_PIECE ? YW_NEW_ARRAY(&body->mem, int32_t, body->num_all) : NULL;
  if (piece && yw_plastic_pieces(body, particles, piece) < 0) {
    memset(piece, 0, (size_t)body->num_all * sizeof *piece);
  }
  out += body->first_master;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    switch (field) {
      case FIELD_STRESS:
        out[m] = stress_of(body, m);
        break;
      case FIELD_STRAIN:
        out[m] = body->state[m / YW_LANES].strain[m % YW_LANES];
        break;
      case FIELD_STRETCH:
        out[m] = stretch_of(body, m);
        break;
      default:
        out[m] = piece ? (float)piece[body->first_master + m] : 0.0f;
        break;
    }
  }
  yw_mem_free(&body->mem, piece);
  if (body->ranks) yw_plastic_gather_values(body, out, all, sizeof *out);
}

// As in stress_kernels.c: V0 (mu sum (sigma_a - 1)^2 + lambda/2 (J - 1)^2).
static double energy_of(const plastic_body* body, int32_t m) {
  const plastic_material_block* material = &body->materials[m / YW_LANES];
  const plastic_state_block* state = &body->state[m / YW_LANES];
  int32_t l = m % YW_LANES;
  double square = 0.0, j = 1.0;
  for (int a = 0; a < 3; ++a) {
    double s = (double)state->sigma[a][l];
    square += (s - 1.0) * (s - 1.0);
    j *= s;
  }
  double density =
      (double)material->mu[l] * square + 0.5 * (double)material->lambda[l] * (j - 1.0) * (j - 1.0);
  return (double)(state->volume[l] * state->harden[l] * body->params.stiffness_scale) * density;
}

yw_method_energy yw_plastic_energy(const void* state, const yw_particles* particles) {
  const plastic_body* body = state;
  yw_plastic_bring_rest(body);
  yw_exact_sum sum = {0};
  for (int32_t first = 0; first < body->num_masters; first += PLASTIC_CHUNK) {
    double own = 0.0;
    int32_t end = first + PLASTIC_CHUNK;
    for (int32_t m = first; m < end && m < body->num_masters; ++m) own += energy_of(body, m);
    yw_exact_add(&sum, own);
  }
  if (body->ranks) {
    yw_ranks_sum(body->ranks->comm, (int64_t*)&sum, (int32_t)(sizeof sum / sizeof(int64_t)));
  }
  double bending = yw_plastic_bending_energy(body, particles);
  return (yw_method_energy){.elastic = yw_exact_value(&sum) + bending};
}

void yw_plastic_statistics_list(const void* state, const yw_particles* particles,
                                yw_statistics* out) {
  (void)particles;
  yw_plastic_statistics now;
  yw_plastic_statistics_of(state, &now);
  yw_statistics_add(out, "masters", "", now.num_masters);
  yw_statistics_add(out, "slaves", "", now.num_slaves);
  yw_statistics_add(out, "asleep", "", now.num_asleep);
  yw_statistics_add(out, "inner step", "s", (double)now.time_step);
  yw_statistics_add(out, "inner steps", "", now.inner_steps);
  yw_statistics_add(out, "iterations", "", now.iterations);
}

// Pieces ------------------------------------------------------------------------------------------

typedef struct piece_grid {
  uint32_t mask;
  int32_t *head, *next;
} piece_grid;

static uint32_t bucket_of(const piece_grid* grid, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & grid->mask;
}

// Joins every master with earlier ones nearby.
static void join_near(const yw_particles* particles, int32_t count, float reach,
                      const piece_grid* grid, int32_t* parent) {
  for (int32_t m = 0; m < count; ++m) {
    yw_vec4 x = particles->pos[m];
    plastic_cell c = plastic_cell_of(x, reach);
    for (int k = 0; k < 27; ++k) {
      plastic_cell near = {c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1};
      for (int32_t i = grid->head[bucket_of(grid, near)]; i >= 0; i = grid->next[i]) {
        if (yw_distance(yw_xyz(particles->pos[i]), yw_xyz(x)) > reach) continue;
        int32_t a = yw_union_root(parent, i), b = yw_union_root(parent, m);
        parent[a > b ? a : b] = a > b ? b : a;
      }
    }
    uint32_t b = bucket_of(grid, c);
    grid->next[m] = grid->head[b];
    grid->head[b] = m;
  }
}

// Numbers pieces by size, largest first; ties by their first master.
static int32_t number_pieces(int32_t count, int32_t* parent, int32_t* size, int32_t* piece) {
  int32_t pieces = 0;
  memset(size, 0, (size_t)count * sizeof *size);
  for (int32_t m = 0; m < count; ++m) ++size[yw_union_root(parent, m)];
  // Counting sort of the roots by size.
  int32_t* rank = piece;
  memset(rank, 0, (size_t)count * sizeof *rank);
  for (int32_t m = 0; m < count; ++m) {
    if (parent[m] == m) ++rank[size[m] - 1], ++pieces;
  }
  int32_t before = 0;
  for (int32_t s = count - 1; s >= 0; --s) {
    int32_t n = rank[s];
    rank[s] = before;
    before += n;
  }
  for (int32_t m = 0; m < count; ++m) {
    if (parent[m] == m) size[m] = rank[size[m] - 1]++;
  }
  for (int32_t m = 0; m < count; ++m) piece[m] = size[yw_union_root(parent, m)];
  return pieces;
}

int32_t yw_plastic_pieces(const plastic_body* body, const yw_particles* particles, int32_t* piece) {
  int32_t count = body->num_all, pieces = -1;
  piece_grid grid = {.mask = 1023};
  while (grid.mask < (uint32_t)count) grid.mask = 2 * grid.mask + 1;
  grid.head = YW_NEW_ARRAY(&body->mem, int32_t, (size_t)grid.mask + 1);
  grid.next = YW_NEW_ARRAY(&body->mem, int32_t, count);
  int32_t* parent = YW_NEW_ARRAY(&body->mem, int32_t, count);
  if (grid.head && grid.next && parent) {
    memset(grid.head, 0xff, ((size_t)grid.mask + 1) * sizeof *grid.head);
    for (int32_t m = 0; m < count; ++m) parent[m] = m;
    join_near(particles, count, PIECE_REACH * body->model->spacing, &grid, parent);
    pieces = number_pieces(count, parent, grid.next, piece);
  }
  yw_mem_free(&body->mem, grid.head);
  yw_mem_free(&body->mem, grid.next);
  yw_mem_free(&body->mem, parent);
  return pieces;
}
