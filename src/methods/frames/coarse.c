// SPDX-License-Identifier: MIT
// The background lattice of a frames body: nodes, weights, matrix and factor.
#include "methods/frames/coarse.h"

#include <math.h>
#include <string.h>

#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Lattice spacing relative to particle spacing. Values from 2.5 to 4 take about the same time.
#define LATTICE_SPACING 3.0
// Smaller bodies gain nothing from the lattice.
#define LEAST_PARTICLES 400
// Nodes that particles touch with a smaller total weight are left out.
#define LEAST_WEIGHT 0.3
// Maximum number of matrix entries per row.
#define MAX_NEIGHBOURS 27

typedef struct lattice {
  int32_t n[3];
  double origin[3], spacing[3];
} lattice;

static size_t node_at(const lattice* l, int32_t x, int32_t y, int32_t z) {
  return (size_t)x + (size_t)l->n[0] * ((size_t)y + (size_t)l->n[1] * (size_t)z);
}

// Spacing along each axis follows that of the particles.
static lattice choose_lattice(int32_t count, const yw_vec3* rest, double volume,
                              const double extent[3]) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t p = 0; p < count; ++p) box = yw_aabb_grow(box, rest[p]);
  double mean = (double)yw_cbrtf((float)(volume / count));
  double even = (double)yw_cbrtf((float)(extent[0] * extent[1] * extent[2]));
  lattice l = {.n = {0}};
  const float *low = &box.lower.x, *high = &box.upper.x;
  for (int i = 0; i < 3; ++i) {
    l.spacing[i] = LATTICE_SPACING * mean * (even > 0.0 ? extent[i] / even : 1.0);
    double size = (double)high[i] - (double)low[i];
    int32_t cells = (int32_t)ceil(size / l.spacing[i]);
    if (cells < 1) cells = 1;
    l.n[i] = cells + 1;
    l.origin[i] = 0.5 * ((double)high[i] + (double)low[i] - cells * l.spacing[i]);
  }
  return l;
}

// Cell of a point, and its position in the cell, 0 to 1.
static void locate(const lattice* l, yw_vec3 x, int32_t cell[3], double t[3]) {
  const float* p = &x.x;
  for (int i = 0; i < 3; ++i) {
    double at = ((double)p[i] - l->origin[i]) / l->spacing[i];
    int32_t c = (int32_t)floor(at);
    if (c < 0) c = 0;
    if (c > l->n[i] - 2) c = l->n[i] - 2;
    cell[i] = c;
    t[i] = at - c;
  }
}

// Weight and gradient of corner k.
static double corner_weight(const double t[3], int k, const double spacing[3], double gradient[3]) {
  double f[3], d[3];
  for (int i = 0; i < 3; ++i) {
    bool upper = k >> i & 1;
    f[i] = upper ? t[i] : 1.0 - t[i];
    d[i] = (upper ? 1.0 : -1.0) / spacing[i];
  }
  gradient[0] = d[0] * f[1] * f[2];
  gradient[1] = f[0] * d[1] * f[2];
  gradient[2] = f[0] * f[1] * d[2];
  return f[0] * f[1] * f[2];
}

// Numbers the nodes that enough particles touch; -1 for the others.
static int32_t number_nodes(const lattice* l, int32_t count, const yw_vec3* rest, double* touched,
                            int32_t* number) {
  for (int32_t p = 0; p < count; ++p) {
    int32_t c[3];
    double t[3], gradient[3];
    locate(l, rest[p], c, t);
    for (int k = 0; k < 8; ++k) {
      size_t node = node_at(l, c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2));
      touched[node] += corner_weight(t, k, l->spacing, gradient);
    }
  }
  int32_t num_nodes = 0;
  size_t total = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
  for (size_t i = 0; i < total; ++i) number[i] = touched[i] > LEAST_WEIGHT ? num_nodes++ : -1;
  return num_nodes;
}

static void fill_corners(const lattice* l, const yw_vec3* rest, const int32_t* number,
                         frames_coarse* out) {
  for (int32_t p = 0; p < out->num_particles; ++p) {
    int32_t c[3];
    double t[3], gradient[3], sum = 0.0, w[8];
    locate(l, rest[p], c, t);
    frames_corners* corners = &out->corners[p];
    for (int k = 0; k < 8; ++k) {
      int32_t node = number[node_at(l, c[0] + (k & 1), c[1] + (k >> 1 & 1), c[2] + (k >> 2))];
      w[k] = node >= 0 ? corner_weight(t, k, l->spacing, gradient) : 0.0;
      corners->node[k] = node >= 0 ? node : 0;
      sum += w[k];
      if (w[k] > 0.0) ++out->share_start[node + 1];
    }
    // The weights of a particle sum to 1, so that translations are exact.
    for (int k = 0; k < 8; ++k) corners->weight[k] = (float)(sum > 0.0 ? w[k] / sum : 0.0);
  }
  for (int32_t i = 0; i < out->num_nodes; ++i) out->share_start[i + 1] += out->share_start[i];
  for (int32_t p = 0; p < out->num_particles; ++p) {
    const frames_corners* corners = &out->corners[p];
    for (int k = 0; k < 8; ++k) {
      if (corners->weight[k] == 0.0f) continue;
      out->shares[out->share_start[corners->node[k]]++] = (frames_share){p, corners->weight[k]};
    }
  }
  for (int32_t i = out->num_nodes; i > 0; --i) out->share_start[i] = out->share_start[i - 1];
  out->share_start[0] = 0;
}

// Stiffness between pairs of nodes, summed over particles: one row of 27 neighbours per lattice
// node, then triplets.
static yw_status fill_stiffness(const lattice* l, const yw_vec3* rest, const double* stiffness,
                                const int32_t* number, frames_coarse* out, yw_error* error) {
  const yw_allocator* mem = &out->mem;
  size_t most = (size_t)out->num_nodes * MAX_NEIGHBOURS, count = 0;
  double* rows = YW_NEW_ARRAY(mem, double, most);
  int32_t* i = YW_NEW_ARRAY(mem, int32_t, most);
  int32_t* j = YW_NEW_ARRAY(mem, int32_t, most);
  yw_status status = YW_ERR_MEMORY;
  if (rows && i && j) {
    for (int32_t p = 0; p < out->num_particles; ++p) {
      int32_t c[3];
      double t[3], gradient[8][3];
      locate(l, rest[p], c, t);
      for (int k = 0; k < 8; ++k) corner_weight(t, k, l->spacing, gradient[k]);
      for (int a = 0; a < 8; ++a) {
        int32_t node = number[node_at(l, c[0] + (a & 1), c[1] + (a >> 1 & 1), c[2] + (a >> 2))];
        for (int b = 0; b < 8 && node >= 0; ++b) {
          int dx = (b & 1) - (a & 1), dy = (b >> 1 & 1) - (a >> 1 & 1), dz = (b >> 2) - (a >> 2);
          rows[(size_t)node * MAX_NEIGHBOURS + (size_t)(13 + dx + 3 * dy + 9 * dz)] +=
              stiffness[p] * (gradient[a][0] * gradient[b][0] + gradient[a][1] * gradient[b][1] +
                              gradient[a][2] * gradient[b][2]);
        }
      }
    }
    size_t total = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
    for (size_t at = 0; at < total; ++at) {
      int32_t node = number[at], x = (int32_t)(at % (size_t)l->n[0]);
      int32_t y = (int32_t)(at / (size_t)l->n[0] % (size_t)l->n[1]);
      int32_t z = (int32_t)(at / ((size_t)l->n[0] * (size_t)l->n[1]));
      if (node < 0) continue;
      out->points[node] = yw_v3((float)(l->origin[0] + x * l->spacing[0]),
                                (float)(l->origin[1] + y * l->spacing[1]),
                                (float)(l->origin[2] + z * l->spacing[2]));
      // The lower triangle; zero entries still belong to the pattern.
      for (int k = 0; k <= 13; ++k) {
        int32_t nx = x + k % 3 - 1, ny = y + k / 3 % 3 - 1, nz = z + k / 9 - 1;
        bool inside = nx >= 0 && ny >= 0 && nz >= 0 && nx < l->n[0] && ny < l->n[1];
        int32_t other = inside ? number[node_at(l, nx, ny, nz)] : -1;
        if (other < 0) continue;
        i[count] = node;
        j[count] = other;
        rows[count++] = rows[(size_t)node * MAX_NEIGHBOURS + (size_t)k];
      }
    }
    status = yw_sparse_from_triplets(mem, out->num_nodes, (int32_t)count, i, j, rows,
                                     YW_TRIPLETS_HALF, &out->stiffness, error);
  }
  yw_mem_free(mem, rows);
  yw_mem_free(mem, i);
  yw_mem_free(mem, j);
  return status == YW_ERR_MEMORY ? yw_fail_memory(error, "a coarse lattice") : status;
}

static yw_status build(const lattice* l, const yw_vec3* rest, const double* stiffness,
                       double* touched, int32_t* number, frames_coarse* out, yw_error* error) {
  const yw_allocator* mem = &out->mem;
  out->num_nodes = number_nodes(l, out->num_particles, rest, touched, number);
  out->corners = YW_NEW_ARRAY(mem, frames_corners, out->num_particles);
  out->share_start = YW_NEW_ARRAY(mem, int32_t, (size_t)out->num_nodes + 1);
  out->shares = YW_NEW_ARRAY(mem, frames_share, 8 * (size_t)out->num_particles);
  out->points = YW_NEW_ARRAY(mem, yw_vec3, out->num_nodes);
  out->firmness = YW_NEW_ARRAY(mem, float, out->num_particles);
  if (!out->corners || !out->share_start || !out->shares || !out->points || !out->firmness) {
    return yw_fail_memory(error, "a coarse lattice");
  }
  double scale = 0.0;
  for (int i = 0; i < 3; ++i)
    scale += LATTICE_SPACING * LATTICE_SPACING / (3.0 * l->spacing[i] * l->spacing[i]);
  for (int32_t p = 0; p < out->num_particles; ++p) out->firmness[p] = (float)(scale * stiffness[p]);
  fill_corners(l, rest, number, out);
  return fill_stiffness(l, rest, stiffness, number, out, error);
}

yw_status yw_frames_coarse_create(const yw_allocator* mem, int32_t count, const yw_vec3* rest,
                                  const double* stiffness, double volume, const double extent[3],
                                  frames_coarse* out, yw_error* error) {
  *out = (frames_coarse){.mem = yw_mem_or_default(mem), .num_particles = count};
  if (count < LEAST_PARTICLES) return YW_OK;
  lattice l = choose_lattice(count, rest, volume, extent);
  double total = (double)l.n[0] * (double)l.n[1] * (double)l.n[2];
  // A thin body in a large box would have more nodes than particles.
  if (total > 8.0 * (double)count) return YW_OK;
  double* touched = YW_NEW_ARRAY(mem, double, (size_t)total);
  int32_t* number = YW_NEW_ARRAY(mem, int32_t, total);
  yw_status status = YW_OK;
  if (!touched || !number) {
    status = yw_fail_memory(error, "a coarse lattice");
  } else {
    status = build(&l, rest, stiffness, touched, number, out, error);
  }
  yw_mem_free(mem, touched);
  yw_mem_free(mem, number);
  if (status < 0) yw_frames_coarse_free(out);
  return status;
}

void yw_frames_coarse_free(frames_coarse* coarse) {
  yw_mem_free(&coarse->mem, coarse->corners);
  yw_mem_free(&coarse->mem, coarse->share_start);
  yw_mem_free(&coarse->mem, coarse->shares);
  yw_mem_free(&coarse->mem, coarse->points);
  yw_mem_free(&coarse->mem, coarse->firmness);
  yw_sparse_free(&coarse->stiffness);
  *coarse = (frames_coarse){0};
}

// The solver --------------------------------------------------------------------------------------

yw_status yw_frames_coarse_solver_create(const yw_allocator* mem, const frames_coarse* coarse,
                                         yw_simd simd, frames_coarse_solver* out, yw_error* error) {
  *out = (frames_coarse_solver){.coarse = coarse};
  if (coarse->num_nodes == 0) return YW_OK;
  yw_cholesky_options options = {.points = coarse->points, .simd = simd};
  yw_status status = yw_cholesky_analyse(mem, &coarse->stiffness, &options, &out->factor, error);
  if (status < 0) return status;
  size_t nodes = (size_t)coarse->num_nodes;
  out->values = YW_NEW_ARRAY(mem, double, coarse->stiffness.start[nodes]);
  out->diagonal = YW_NEW_ARRAY(mem, float, coarse->num_particles);
  out->sums = YW_NEW_ARRAY(mem, float, 4 * nodes);
  out->solution = YW_NEW_ARRAY(mem, float, 4 * nodes);
  out->scratch = YW_NEW_ARRAY(mem, float, yw_cholesky_scratch(out->factor, 3, NULL));
  if (out->values && out->diagonal && out->sums && out->solution && out->scratch) return YW_OK;
  yw_frames_coarse_solver_free(mem, out);
  return yw_fail_memory(error, "a coarse lattice");
}

void yw_frames_coarse_solver_free(const yw_allocator* mem, frames_coarse_solver* solver) {
  void* const arrays[] = {solver->values, solver->diagonal, solver->sums, solver->solution,
                          solver->scratch};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(mem, arrays[i]);
  yw_cholesky_destroy(solver->factor);
  *solver = (frames_coarse_solver){0};
}

// Adds sum D phi phi^T of one row.
static void add_row(const frames_coarse* coarse, const float* diagonal, int32_t row,
                    double* values) {
  const yw_sparse* m = &coarse->stiffness;
  for (int32_t s = coarse->share_start[row]; s < coarse->share_start[row + 1]; ++s) {
    const frames_share* share = &coarse->shares[s];
    const frames_corners* corners = &coarse->corners[share->particle];
    double d = (double)diagonal[share->particle] * (double)share->weight;
    for (int k = 0; k < 8; ++k) {
      if (corners->weight[k] == 0.0f) continue;
      for (int32_t e = m->start[row]; e < m->start[row + 1]; ++e) {
        if (m->columns[e] == corners->node[k]) values[e] += d * (double)corners->weight[k];
      }
    }
  }
}

void yw_frames_coarse_prepare(frames_coarse_solver* solver, const float* diagonal,
                              yw_tasks* tasks) {
  const frames_coarse* coarse = solver->coarse;
  size_t bytes = (size_t)coarse->num_particles * sizeof *diagonal;
  if (coarse->num_nodes == 0) return;
  if (memcmp(solver->diagonal, diagonal, bytes) == 0) return;
  memcpy(solver->diagonal, diagonal, bytes);
  yw_sparse matrix = coarse->stiffness;
  matrix.values = solver->values;
  memcpy(matrix.values, coarse->stiffness.values,
         (size_t)matrix.start[matrix.size] * sizeof *matrix.values);
  for (int32_t row = 0; row < matrix.size; ++row) add_row(coarse, diagonal, row, matrix.values);
  solver->ready = yw_cholesky_factorise(solver->factor, &matrix, tasks, NULL) >= 0 &&
                  yw_cholesky_round(solver->factor, NULL) >= 0;
}

void yw_frames_coarse_restrict(const frames_coarse_solver* solver, const yw_vec4* r, int32_t begin,
                               int32_t end) {
  const frames_coarse* coarse = solver->coarse;
  for (int32_t i = begin; i < end; ++i) {
    yw_vec3 sum = {0, 0, 0};
    for (int32_t s = coarse->share_start[i]; s < coarse->share_start[i + 1]; ++s) {
      sum = yw_mad(sum, coarse->shares[s].weight, yw_xyz(r[coarse->shares[s].particle]));
    }
    memcpy(solver->sums + 4 * (size_t)i, &sum, sizeof sum);
  }
}

void yw_frames_coarse_solve(const frames_coarse_solver* solver) {
  yw_cholesky_solve_f32(solver->factor, NULL, 3, 4, solver->sums, solver->solution,
                        solver->scratch);
}
