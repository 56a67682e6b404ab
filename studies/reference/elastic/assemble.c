// SPDX-License-Identifier: MIT
// Element matrices of the models, and their sum as a sparse matrix.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/tet_math.h"
#include "math/small/dense.h"
#include "methods/frames/regions.h"
#include "reference/elastic/elastic.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/frames.h"

const char* elastic_model_name(elastic_model model) {
  static const char* const names[] = {"rings", "cells", "linear tets", "ring springs",
                                      "cell springs"};
  return names[model];
}

static bool is_frames(elastic_model m) { return m == ELASTIC_RINGS || m == ELASTIC_CELLS; }

// Element k holds the nodes member[start[k]] .. member[start[k + 1] - 1].
typedef struct assembly {
  const elastic_def* def;
  frames_regions regions;
  int32_t num_elements;
  const int32_t *start, *member;
  int32_t* tet_start;
  double* weights;   // springs: per member, kg
  int32_t* columns;  // of node blocks
  int32_t* row;      // num_nodes + 1, into columns
} assembly;

// Element matrices --------------------------------------------------------------------------------

static void add_block(double* matrix, int32_t m, int32_t i, int32_t j, double block[9]) {
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) matrix[(3 * i + a) * 3 * m + 3 * j + b] += block[3 * a + b];
  }
}

// V [mu (g_i . g_j + g_j g_i^T) + lambda g_i g_j^T]: energy V [mu |e|^2 + lambda/2 (tr e)^2].
static void add_strain(double* matrix, int32_t m, double mu_v, double lambda_v,
                       const double (*g)[3]) {
  for (int32_t i = 0; i < m; ++i) {
    for (int32_t j = 0; j < m; ++j) {
      double dot = g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2], block[9];
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          block[3 * a + b] =
              mu_v * ((a == b ? dot : 0.0) + g[j][a] * g[i][b]) + lambda_v * g[i][a] * g[j][b];
        }
      }
      add_block(matrix, m, i, j, block);
    }
  }
}

static void add_unit(double* matrix, int32_t m, int32_t i, int32_t j, double k) {
  double block[9] = {k, 0, 0, 0, k, 0, 0, 0, k};
  add_block(matrix, m, i, j, block);
}

// Second derivative of a region of frames/regions.h at rest.
static void frames_matrix(const frames_regions* regions, int32_t r, double (*g)[3],
                          double* matrix) {
  int32_t begin = regions->start[r], m = regions->start[r + 1] - begin;
  const frames_entry* e = regions->entries + begin;
  const double* n = regions->n[r];
  for (int32_t i = 0; i < m; ++i) memcpy(g[i], e[i].g, sizeof g[i]);
  add_strain(matrix, m, regions->mu[r] * regions->volume[r],
             regions->lambda[r] * regions->volume[r], (const double(*)[3])g);
  for (int32_t i = 0; i < m; ++i) {
    double k = 2.0 * regions->share * e[i].k;
    add_unit(matrix, m, i, i, k);
    if (regions->kind == YW_FRAMES_RINGS) {  // relative to the origin
      add_unit(matrix, m, i, 0, -k);
      add_unit(matrix, m, 0, i, -k);
      add_unit(matrix, m, 0, 0, k);
    }
    for (int32_t j = 0; j < m; ++j) {
      // Relative to the mean; k is the same for all corners of a cell.
      if (regions->kind == YW_FRAMES_CELLS) add_unit(matrix, m, i, j, -k / m);
      const double *p = g[i], *q = g[j];
      double pnq = n[0] * p[0] * q[0] + n[1] * p[1] * q[1] + n[2] * p[2] * q[2] +
                   n[3] * (p[0] * q[1] + p[1] * q[0]) + n[4] * (p[0] * q[2] + p[2] * q[0]) +
                   n[5] * (p[1] * q[2] + p[2] * q[1]);
      add_unit(matrix, m, i, j, -pnq);
    }
  }
}

static void tet_matrix(const elastic_def* def, int32_t tet, double* matrix) {
  yw_dvec3 p[4];
  yw_tet_corners(def->mesh, tet, p);
  double volume6 = yw_tet_volume6(p), g[4][3];
  for (int k = 0; k < 4; ++k) {
    const unsigned char* f = yw_tet_faces[k];
    yw_dvec3 normal = yw_dcross(yw_dsub(p[f[1]], p[f[0]]), yw_dsub(p[f[2]], p[f[0]]));
    g[k][0] = -normal.x / volume6, g[k][1] = -normal.y / volume6, g[k][2] = -normal.z / volume6;
  }
  double mu = yw_lame_mu(def->youngs_modulus, def->poissons_ratio);
  double lambda = yw_lame_lambda(def->youngs_modulus, def->poissons_ratio);
  add_strain(matrix, 4, mu * volume6 / 6.0, lambda * volume6 / 6.0, (const double(*)[3])g);
}

// kappa (W - W B (B^T W B)^-1 B^T W): what remains of the springs once the rigid frame is in
// equilibrium; the columns of B are the six rigid motions.
static bool springs_matrix(const assembly* a, int32_t r, double (*g)[3], double* matrix) {
  int32_t begin = a->start[r], m = a->start[r + 1] - begin;
  const double* w = a->weights + begin;
  double total = 0.0, center[3] = {0}, gram[36] = {0};
  for (int32_t i = 0; i < m; ++i) {
    const float* p = &a->def->mesh->positions[a->member[begin + i]].x;
    for (int k = 0; k < 3; ++k) center[k] += w[i] * (double)p[k];
    total += w[i];
  }
  for (int32_t i = 0; i < m; ++i) {
    const float* p = &a->def->mesh->positions[a->member[begin + i]].x;
    for (int k = 0; k < 3; ++k) g[i][k] = (double)p[k] - center[k] / total;
  }
  for (int32_t i = 0; i < m; ++i) {
    const double* q = g[i];
    double q2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    for (int k = 0; k < 3; ++k) {
      gram[7 * k] += w[i];
      for (int l = 0; l < 3; ++l) gram[6 * (3 + k) + 3 + l] += w[i] * ((k == l) * q2 - q[k] * q[l]);
    }
  }
  double inverse[36];
  if (!yw_dense_cholesky(6, gram, gram)) return false;
  yw_dense_inverse(6, gram, inverse);
  for (int32_t i = 0; i < m; ++i) {
    add_unit(matrix, m, i, i, a->def->kappa * w[i]);
    const double* p = g[i];
    const double bi[3][6] = {
        {1, 0, 0, 0, p[2], -p[1]}, {0, 1, 0, -p[2], 0, p[0]}, {0, 0, 1, p[1], -p[0], 0}};
    for (int32_t j = 0; j < m; ++j) {
      const double* q = g[j];
      const double bj[3][6] = {
          {1, 0, 0, 0, q[2], -q[1]}, {0, 1, 0, -q[2], 0, q[0]}, {0, 0, 1, q[1], -q[0], 0}};
      double block[9] = {0};
      for (int k = 0; k < 9; ++k) {
        for (int s = 0; s < 36; ++s) block[k] += bi[k / 3][s / 6] * inverse[s] * bj[k % 3][s % 6];
        block[k] *= -a->def->kappa * w[i] * w[j];
      }
      add_block(matrix, m, i, j, block);
    }
  }
  return true;
}

// The pattern -------------------------------------------------------------------------------------

static int compare_ints(const void* a, const void* b) {
  int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return x < y ? -1 : x > y;
}

// Elements around every node: around[first[i]] .. around[first[i + 1] - 1].
static bool find_around(const assembly* a, int32_t num_nodes, int32_t** first, int32_t** around) {
  int32_t entries = a->start[a->num_elements];
  *first = YW_NEW_ARRAY(NULL, int32_t, num_nodes + 2);
  *around = YW_NEW_ARRAY(NULL, int32_t, entries);
  if (!*first || !*around) return false;
  for (int32_t e = 0; e < entries; ++e) ++(*first)[a->member[e] + 2];
  for (int32_t i = 0; i < num_nodes; ++i) (*first)[i + 2] += (*first)[i + 1];
  for (int32_t k = 0; k < a->num_elements; ++k) {
    for (int32_t e = a->start[k]; e < a->start[k + 1]; ++e) {
      (*around)[(*first)[a->member[e] + 1]++] = k;
    }
  }
  return true;
}

// Neighbours of every node through elements, ascending.
static bool find_columns(assembly* a, int32_t num_nodes) {
  int32_t *first = NULL, *around = NULL;
  int32_t* seen = YW_NEW_ARRAY(NULL, int32_t, num_nodes);
  YW_LIST(int32_t) list = {0};
  a->row = YW_NEW_ARRAY(NULL, int32_t, num_nodes + 1);
  bool good = find_around(a, num_nodes, &first, &around) && seen && a->row;
  for (int32_t i = 0; i < num_nodes && good; ++i) {
    a->row[i] = list.count;
    for (int32_t k = first[i]; k < first[i + 1] && good; ++k) {
      int32_t r = around[k], size = a->start[r + 1] - a->start[r];
      good = YW_LIST_RESERVE(NULL, &list, size);
      for (int32_t e = a->start[r]; e < a->start[r + 1] && good; ++e) {
        int32_t j = a->member[e];
        if (seen[j] == i + 1) continue;
        seen[j] = i + 1;
        list.items[list.count++] = j;
      }
    }
    if (list.count > a->row[i]) {
      qsort(list.items + a->row[i], (size_t)(list.count - a->row[i]), sizeof(int32_t),
            compare_ints);
    }
    a->row[i + 1] = list.count;
  }
  yw_mem_free(NULL, first);
  yw_mem_free(NULL, around);
  yw_mem_free(NULL, seen);
  a->columns = list.items;
  return good;
}

static bool expand_pattern(const assembly* a, int32_t num_nodes, yw_sparse* matrix) {
  int64_t entries = 9 * (int64_t)a->row[num_nodes];
  if (entries > INT32_MAX) return false;
  matrix->mem = yw_mem_or_default(NULL);
  matrix->size = 3 * num_nodes;
  matrix->start = YW_NEW_ARRAY(NULL, int32_t, matrix->size + 1);
  matrix->columns = YW_NEW_ARRAY(NULL, int32_t, entries);
  matrix->values = YW_NEW_ARRAY(NULL, double, entries);
  if (!matrix->start || !matrix->columns || !matrix->values) return false;
  for (int32_t i = 0, n = 0; i < num_nodes; ++i) {
    for (int k = 0; k < 3; ++k) {
      matrix->start[3 * i + k] = n;
      for (int32_t e = a->row[i]; e < a->row[i + 1]; ++e) {
        for (int l = 0; l < 3; ++l) matrix->columns[n++] = 3 * a->columns[e] + l;
      }
    }
    matrix->start[3 * i + 3] = n;
  }
  return true;
}

// Sums --------------------------------------------------------------------------------------------

static void add_element(const assembly* a, int32_t k, const double* element, yw_sparse* matrix) {
  int32_t begin = a->start[k], m = a->start[k + 1] - begin;
  for (int32_t i = 0; i < m; ++i) {
    int32_t node = a->member[begin + i];
    const int32_t* columns = a->columns + a->row[node];
    size_t count = (size_t)(a->row[node + 1] - a->row[node]);
    for (int32_t j = 0; j < m; ++j) {
      const int32_t* found =
          bsearch(&a->member[begin + j], columns, count, sizeof(int32_t), compare_ints);
      int32_t place = 3 * (int32_t)(found - columns);
      for (int32_t c = 0; c < 3; ++c) {
        double* to = matrix->values + matrix->start[3 * node + c] + place;
        const double* from = element + (3 * i + c) * 3 * m + 3 * j;
        for (int l = 0; l < 3; ++l) to[l] += from[l];
      }
    }
  }
}

static yw_status sum_elements(const assembly* a, yw_sparse* matrix, yw_error* error) {
  int32_t largest = 0;
  for (int32_t k = 0; k < a->num_elements; ++k) {
    int32_t m = a->start[k + 1] - a->start[k];
    if (m > largest) largest = m;
  }
  double* element = YW_NEW_ARRAY(NULL, double, 9 * (size_t)largest * (size_t)largest);
  double(*g)[3] = yw_mem_alloc(NULL, (size_t)largest, sizeof *g);
  bool good = element && g, flat = false;
  for (int32_t k = 0; k < a->num_elements && good && !flat; ++k) {
    size_t m = (size_t)(a->start[k + 1] - a->start[k]);
    memset(element, 0, 9 * m * m * sizeof *element);
    if (is_frames(a->def->model)) {
      frames_matrix(&a->regions, k, g, element);
    } else if (a->def->model == ELASTIC_TETS) {
      tet_matrix(a->def, k, element);
    } else {
      flat = !springs_matrix(a, k, g, element);
    }
    if (!flat) add_element(a, k, element, matrix);
  }
  yw_mem_free(NULL, element);
  yw_mem_free(NULL, g);
  if (flat)
    return yw_fail(error, YW_ERR_GEOMETRY, "a region of the body has all its particles on a line");
  return good ? YW_OK : yw_fail_memory(error, "element matrices");
}

// Setting up --------------------------------------------------------------------------------------

static yw_status use_regions(assembly* a, elastic_system* system, yw_error* error) {
  const elastic_def* def = a->def;
  bool cells = def->model == ELASTIC_CELLS || def->model == ELASTIC_CELL_SPRINGS;
  yw_frames_def frames = yw_default_frames_def();
  frames.mesh = def->mesh;
  frames.kind = cells ? YW_FRAMES_CELLS : YW_FRAMES_RINGS;
  frames.cells = def->cells;
  frames.num_cells = def->num_cells;
  frames.density = (float)def->density;
  if (is_frames(def->model)) {
    frames.youngs_modulus = (float)def->youngs_modulus;
    frames.poissons_ratio = (float)def->poissons_ratio;
  }
  yw_status status = yw_frames_regions_create(NULL, &frames, 0.0, &a->regions, error);
  if (status < 0) return status;
  a->num_elements = a->regions.num_regions;
  a->start = a->regions.start;
  a->member = a->regions.member;
  memcpy(system->mass, a->regions.mass, (size_t)system->num_nodes * sizeof *system->mass);
  if (is_frames(def->model)) return YW_OK;
  int32_t entries = a->start[a->num_elements];
  int32_t* holders = YW_NEW_ARRAY(NULL, int32_t, system->num_nodes);
  a->weights = YW_NEW_ARRAY(NULL, double, entries);
  if (!holders || !a->weights) {
    yw_mem_free(NULL, holders);
    return yw_fail_memory(error, "weights of springs");
  }
  for (int32_t e = 0; e < entries; ++e) ++holders[a->member[e]];
  for (int32_t e = 0; e < entries; ++e) {
    int32_t i = a->member[e];
    a->weights[e] = system->mass[i] / (def->sequential ? 1 : holders[i]);
  }
  yw_mem_free(NULL, holders);
  return YW_OK;
}

static yw_status use_tets(assembly* a, elastic_system* system, yw_error* error) {
  const yw_tet_mesh* mesh = a->def->mesh;
  a->num_elements = mesh->num_tets;
  a->tet_start = YW_NEW_ARRAY(NULL, int32_t, mesh->num_tets + 1);
  if (!a->tet_start) return yw_fail_memory(error, "tets");
  for (int32_t t = 0; t <= mesh->num_tets; ++t) a->tet_start[t] = 4 * t;
  a->start = a->tet_start;
  a->member = mesh->tets;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    double quarter = a->def->density * yw_tet_volume6(p) / 24.0;
    for (int32_t k = 0; k < 4; ++k) system->mass[mesh->tets[4 * t + k]] += quarter;
  }
  return YW_OK;
}

yw_status elastic_create(const elastic_def* def, elastic_system* out, yw_error* error) {
  int32_t nodes = def->mesh->num_vertices;
  *out = (elastic_system){.num_nodes = nodes};
  if (nodes > ELASTIC_MAX_NODES) {
    return yw_fail(
        error, YW_ERR_LIMIT,
        "the body has %d particles, but at most %d can be factorised; use a coarser mesh", nodes,
        ELASTIC_MAX_NODES);
  }
  yw_status status = yw_tet_mesh_check(def->mesh, error);
  if (status < 0) return status;
  assembly a = {.def = def};
  out->mass = YW_NEW_ARRAY(NULL, double, nodes);
  out->points = YW_NEW_ARRAY(NULL, yw_vec3, nodes);
  if (!out->mass || !out->points) {
    status = yw_fail_memory(error, "an elastic system");
  } else {
    memcpy(out->points, def->mesh->positions, (size_t)nodes * sizeof *out->points);
    status = def->model == ELASTIC_TETS ? use_tets(&a, out, error) : use_regions(&a, out, error);
  }
  if (status >= 0 && (!find_columns(&a, nodes) || !expand_pattern(&a, nodes, &out->stiffness))) {
    status = yw_fail_memory(error, "the pattern of a stiffness matrix");
  }
  if (status >= 0) status = sum_elements(&a, &out->stiffness, error);
  yw_frames_regions_free(&a.regions);
  yw_mem_free(NULL, a.tet_start);
  yw_mem_free(NULL, a.weights);
  yw_mem_free(NULL, a.columns);
  yw_mem_free(NULL, a.row);
  if (status < 0) elastic_free(out);
  return status;
}

void elastic_free(elastic_system* system) {
  yw_sparse_free(&system->stiffness);
  yw_mem_free(NULL, system->mass);
  yw_mem_free(NULL, system->points);
  *system = (elastic_system){0};
}
