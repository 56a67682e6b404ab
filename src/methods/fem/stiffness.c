// SPDX-License-Identifier: MIT
#include "methods/fem/stiffness.h"

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define TETS_PER_BLOCK 512
#define ROWS_PER_BLOCK 2048

// Elements ----------------------------------------------------------------------------------------

// Rows of B for one node: strain = sum_a B_a u_a, B_a is 6x3.
static void strain_rows(yw_dvec3 g, double b[18]) {
  const double rows[18] = {g.x, 0, 0, 0, g.y, 0, 0, 0, g.z, 0, g.z, g.y, g.z, 0, g.x, g.y, g.x, 0};
  memcpy(b, rows, sizeof rows);
}

void yw_fem_element_matrix(const yw_dvec3 x[4], const yw_sym6* c, double out[144]) {
  yw_dvec3 g[4];
  double volume = fabs(yw_tet_gradients(x, g)), b[4][18];
  yw_mat6 full = yw_sym6_full(c);
  for (int a = 0; a < 4; ++a) strain_rows(g[a], b[a]);
  for (int q = 0; q < 4; ++q) {
    double cb[18];
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 3; ++k) {
        double sum = 0.0;
        for (int j = 0; j < 6; ++j) sum += full.m[6 * i + j] * b[q][3 * j + k];
        cb[3 * i + k] = sum;
      }
    }
    // Exactly symmetric: the other half is a copy.
    for (int p = 0; p <= q; ++p) {
      for (int i = 0; i < 3; ++i) {
        for (int k = p == q ? i : 0; k < 3; ++k) {
          double sum = 0.0;
          for (int j = 0; j < 6; ++j) sum += b[p][3 * j + i] * cb[3 * j + k];
          out[12 * (3 * p + i) + 3 * q + k] = out[12 * (3 * q + k) + 3 * p + i] = volume * sum;
        }
      }
    }
  }
}

static void corners_of(const yw_fem_solid* solid, int32_t tet, yw_dvec3 out[4]) {
  for (int k = 0; k < 4; ++k) out[k] = solid->positions[solid->tets[4 * (size_t)tet + (size_t)k]];
}

typedef struct element_work {
  const yw_fem_solid* solid;
  double* matrices;
} element_work;

static void fill_elements(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const element_work* work = context;
  int32_t begin = block * TETS_PER_BLOCK, end = begin + TETS_PER_BLOCK;
  if (end > work->solid->num_tets) end = work->solid->num_tets;
  for (int32_t t = begin; t < end; ++t) {
    yw_dvec3 x[4];
    corners_of(work->solid, t, x);
    yw_fem_element_matrix(x, work->solid->elasticity + t, work->matrices + 144 * (size_t)t);
  }
}

// The matrix --------------------------------------------------------------------------------------

typedef struct hold_work {
  yw_sparse* matrix;
  const bool* fixed;
} hold_work;

// Fixed unknowns keep their diagonal entry; the rest of their rows and columns becomes 0.
static void clear_fixed(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const hold_work* work = context;
  yw_sparse* a = work->matrix;
  int32_t begin = block * ROWS_PER_BLOCK, end = begin + ROWS_PER_BLOCK;
  if (end > a->size) end = a->size;
  for (int32_t i = begin; i < end; ++i) {
    for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
      int32_t j = a->columns[k];
      if (j != i && (work->fixed[i] || work->fixed[j])) a->values[k] = 0.0;
    }
  }
}

static yw_status assemble(const yw_allocator* mem, yw_tasks* tasks, const yw_fem_solid* solid,
                          const bool* fixed, yw_sparse* matrix, yw_error* error) {
  yw_assembly plan;
  yw_status status = yw_assembly_create(mem, solid->num_nodes, 3, solid->num_tets, 4, solid->tets,
                                        &plan, matrix, error);
  if (status != YW_OK) return status;
  element_work work = {solid, YW_NEW_ARRAY(mem, double, 144 * (size_t)solid->num_tets)};
  if (!work.matrices) {
    status = yw_fail_memory(error, "element matrices");
  } else {
    yw_tasks_run(tasks, (solid->num_tets + TETS_PER_BLOCK - 1) / TETS_PER_BLOCK, fill_elements,
                 &work);
    yw_assembly_sum(&plan, tasks, work.matrices, matrix);
    hold_work hold = {matrix, fixed};
    yw_tasks_run(tasks, (matrix->size + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, clear_fixed, &hold);
  }
  yw_mem_free(mem, work.matrices);
  yw_assembly_free(&plan);
  if (status != YW_OK) yw_sparse_free(matrix);
  return status;
}

static yw_status factorise(const yw_allocator* mem, yw_tasks* tasks, yw_simd simd,
                           const yw_fem_solid* solid, const yw_sparse* matrix, yw_cholesky** out,
                           yw_error* error) {
  yw_vec3* points = YW_NEW_ARRAY(mem, yw_vec3, solid->num_nodes);
  if (!points) return yw_fail_memory(error, "a factorisation");
  for (int32_t i = 0; i < solid->num_nodes; ++i) points[i] = yw_f3(solid->positions[i]);
  const yw_cholesky_options options = {.points = points, .block = 3, .simd = simd, .tasks = tasks};
  yw_status status = yw_cholesky_analyse(mem, matrix, &options, out, error);
  if (status == YW_OK) {
    status = yw_cholesky_factorise(*out, matrix, tasks, error);
    if (status == YW_OK) {
      yw_cholesky_trim(*out, true);
    } else {
      yw_cholesky_destroy(*out);
      *out = NULL;
    }
  }
  yw_mem_free(mem, points);
  return status;
}

// Rigid motions -----------------------------------------------------------------------------------

static double component(yw_dvec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

static int largest_component(yw_dvec3 v) {
  int k = fabs(v.y) > fabs(v.x) ? 1 : 0;
  return fabs(v.z) > fabs(component(v, k)) ? 2 : k;
}

// Holds node a in all directions; b, the farthest from it, perpendicular to ab; and the node that
// moves most when the body rotates about that line, along the largest component of that motion.
static void hold_rigid_motions(const yw_fem_solid* solid, bool* fixed) {
  const yw_dvec3* x = solid->positions;
  int32_t b = 0, c = 0;
  double farthest = -1.0, widest = -1.0;
  for (int32_t i = 0; i < solid->num_nodes; ++i) {
    double distance = yw_dlength(yw_dsub(x[i], x[0]));
    if (distance > farthest) farthest = distance, b = i;
  }
  yw_dvec3 axis = yw_dsub(x[b], x[0]);
  for (int32_t i = 0; i < solid->num_nodes; ++i) {
    yw_dvec3 motion = yw_dcross(axis, yw_dsub(x[i], x[0]));
    double size = fabs(component(motion, largest_component(motion)));
    if (size > widest) widest = size, c = i;
  }
  int along = largest_component(axis);
  for (int k = 0; k < 3; ++k) {
    fixed[k] = true;
    if (k != along) fixed[3 * (size_t)b + (size_t)k] = true;
  }
  yw_dvec3 motion = yw_dcross(axis, yw_dsub(x[c], x[0]));
  fixed[3 * (size_t)c + (size_t)largest_component(motion)] = true;
}

// -------------------------------------------------------------------------------------------------

void yw_fem_statics_free(yw_fem_statics* statics) {
  yw_cholesky_destroy(statics->factor);
  yw_mem_free(&statics->mem, statics->fixed);
  *statics = (yw_fem_statics){0};
}

yw_status yw_fem_statics_create(const yw_allocator* mem, yw_tasks* tasks, yw_simd simd,
                                const yw_fem_solid* solid, const bool* fixed, yw_fem_statics* out,
                                yw_error* error) {
  *out = (yw_fem_statics){.mem = yw_mem_or_default(mem), .num_nodes = solid->num_nodes};
  if (solid->num_nodes < 4 || solid->num_tets < 1) {
    return yw_fail(error, YW_ERR_INVALID, "a solid of %d nodes and %d tets", (int)solid->num_nodes,
                   (int)solid->num_tets);
  }
  out->fixed = YW_NEW_ARRAY(mem, bool, 3 * (size_t)solid->num_nodes);
  if (!out->fixed) return yw_fail_memory(error, "a solid");
  if (fixed) {
    memcpy(out->fixed, fixed, 3 * (size_t)solid->num_nodes * sizeof *fixed);
  } else {
    hold_rigid_motions(solid, out->fixed);
  }
  yw_sparse matrix = {0};
  yw_status status = assemble(mem, tasks, solid, out->fixed, &matrix, error);
  if (status == YW_OK) {
    status = factorise(mem, tasks, simd, solid, &matrix, &out->factor, error);
  }
  yw_sparse_free(&matrix);
  if (status != YW_OK) yw_fem_statics_free(out);
  return status;
}

yw_status yw_fem_statics_solve(const yw_fem_statics* statics, yw_tasks* tasks, int32_t cases,
                               double* loads, double* displacements, yw_error* error) {
  for (size_t r = 0; r < 3 * (size_t)statics->num_nodes; ++r) {
    if (!statics->fixed[r]) continue;
    for (int32_t c = 0; c < cases; ++c) loads[r * (size_t)cases + (size_t)c] = 0.0;
  }
  size_t room = yw_cholesky_scratch(statics->factor, cases, tasks);
  double* scratch = YW_NEW_ARRAY(&statics->mem, double, room);
  if (!scratch) return yw_fail_memory(error, "a solve");
  bool done =
      yw_cholesky_solve(statics->factor, tasks, cases, cases, loads, displacements, scratch);
  yw_mem_free(&statics->mem, scratch);
  return done ? YW_OK : yw_fail(error, YW_ERR_INVALID, "%d load cases at once", (int)cases);
}

void yw_fem_uniform_stress(const yw_fem_solid* solid, const yw_mat6* stress, double* loads) {
  memset(loads, 0, 18 * (size_t)solid->num_nodes * sizeof *loads);
  for (int32_t t = 0; t < solid->num_tets; ++t) {
    yw_dvec3 x[4], g[4];
    corners_of(solid, t, x);
    double volume = fabs(yw_tet_gradients(x, g));
    for (int a = 0; a < 4; ++a) {
      double* to = loads + 18 * (size_t)solid->tets[4 * (size_t)t + (size_t)a];
      for (int c = 0; c < 6; ++c) {
        double s[6];
        for (int k = 0; k < 6; ++k) s[k] = stress->m[6 * k + c];
        yw_dvec3 f = yw_stress_on_node(s, yw_dscale(g[a], volume));
        to[c] += f.x, to[6 + c] += f.y, to[12 + c] += f.z;
      }
    }
  }
}

void yw_fem_tet_gradients_of(const yw_fem_solid* solid, const double* displacements, int32_t tet,
                             double h[54]) {
  yw_dvec3 x[4], g[4];
  corners_of(solid, tet, x);
  yw_tet_gradients(x, g);
  memset(h, 0, 54 * sizeof *h);
  for (int a = 0; a < 4; ++a) {
    const double* u = displacements + 18 * (size_t)solid->tets[4 * (size_t)tet + (size_t)a];
    for (int i = 0; i < 3; ++i) {
      for (int c = 0; c < 6; ++c) {
        h[9 * c + 3 * i] += u[6 * i + c] * g[a].x;
        h[9 * c + 3 * i + 1] += u[6 * i + c] * g[a].y;
        h[9 * c + 3 * i + 2] += u[6 * i + c] * g[a].z;
      }
    }
  }
}
