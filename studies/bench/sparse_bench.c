// SPDX-License-Identifier: MIT
// Times the sparse direct solver: order and analyse, factorise, solve with 3 (float) and 6
// right-hand sides, for matrices like those of the methods.
//   sparse_bench [cells along an edge, default 32] [threads, default 2]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "math/sparse/cholesky.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"
#include "yawara/mesh.h"

#define REPEATS 5

typedef struct problem {
  const char* name;
  yw_sparse matrix;
  yw_vec3* points;
  int32_t block;
} problem;

static yw_tet_mesh make_mesh(int32_t cells) {
  yw_tet_mesh mesh;
  const int32_t counts[3] = {cells, cells, cells};
  yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  if (yw_tet_mesh_lattice(NULL, box, counts, YW_LATTICE_FIVE, &mesh) != YW_OK) exit(1);
  uint32_t seed = 1;
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    float* p = &mesh.positions[i].x;
    for (int c = 0; c < 3; ++c) {
      seed = seed * 1664525u + 1013904223u;
      p[c] += 0.2f / (float)cells * ((float)(seed >> 8) / 16777216.0f - 0.5f);
    }
  }
  return mesh;
}

// Springs along the edges of the elements' graph: a Laplacian, plus a little mass.
static void fill_springs(yw_sparse* a, int32_t block) {
  for (int32_t i = 0; i < a->size; ++i) {
    int32_t diagonal = 0;
    double sum = 0.0;
    for (int32_t k = a->start[i]; k < a->start[i + 1]; ++k) {
      int32_t j = a->columns[k];
      if (j == i) diagonal = k;
      a->values[k] = i % block == j % block ? -1.0 : -0.1;
      if (j != i) sum += fabs(a->values[k]);
    }
    a->values[diagonal] = 1.001 * sum;
  }
}

static yw_sparse one_ring_matrix(const yw_tet_mesh* mesh, int32_t block) {
  yw_assembly assembly;
  yw_sparse a;
  if (yw_assembly_create(NULL, mesh->num_vertices, block, mesh->num_tets, 4, mesh->tets, &assembly,
                         &a, NULL) != YW_OK) {
    exit(1);
  }
  yw_assembly_free(&assembly);
  fill_springs(&a, block);
  return a;
}

// Neighbours of neighbours, as regions of shape matching couple them.
static yw_sparse two_ring_matrix(const yw_sparse* ring) {
  int32_t n = ring->size, total = 0;
  int32_t* mark = calloc((size_t)n, sizeof *mark);
  int32_t *rows = NULL, *columns = NULL;
  double* values = NULL;
  for (int pass = 0; pass < 2; ++pass) {
    total = 0;
    for (int32_t i = 0; i < n; ++i) {
      int32_t stamp = 2 * i + pass + 1;
      for (int32_t k = ring->start[i]; k < ring->start[i + 1]; ++k) {
        int32_t j = ring->columns[k];
        for (int32_t m = ring->start[j]; m < ring->start[j + 1]; ++m) {
          int32_t other = ring->columns[m];
          if (mark[other] == stamp) continue;
          mark[other] = stamp;
          if (pass) {
            rows[total] = i;
            columns[total] = other;
            values[total] = 1.0;
          }
          ++total;
        }
      }
    }
    if (pass) break;
    for (int32_t i = 0; i < n; ++i) mark[i] = 0;
    rows = malloc((size_t)total * sizeof *rows);
    columns = malloc((size_t)total * sizeof *columns);
    values = malloc((size_t)total * sizeof *values);
  }
  yw_sparse a;
  if (yw_sparse_from_triplets(NULL, n, total, rows, columns, values, YW_TRIPLETS_BOTH, &a, NULL) !=
      YW_OK) {
    exit(1);
  }
  free(mark);
  free(rows);
  free(columns);
  free(values);
  fill_springs(&a, 1);
  return a;
}

static double best(double old, double start) {
  double now = yw_seconds() - start;
  return now < old ? now : old;
}

static void measure(const problem* p, yw_cholesky_order order, yw_tasks* tasks) {
  yw_cholesky_options options = {
      .order = order, .points = p->points, .block = p->block, .tasks = tasks};
  yw_cholesky* f = NULL;
  yw_error error = {0};
  double analyse = 1e30, first = 1e30, again = 1e30, solve3 = 1e30, solve6 = 1e30;
  for (int repeat = 0; repeat < 2; ++repeat) {
    yw_cholesky_destroy(f);
    double start = yw_seconds();
    if (yw_cholesky_analyse(NULL, &p->matrix, &options, &f, &error) != YW_OK) {
      printf("%s\n", error.message);
      exit(1);
    }
    analyse = best(analyse, start);
    start = yw_seconds();
    if (yw_cholesky_factorise(f, &p->matrix, tasks, &error) != YW_OK) {
      printf("%s\n", error.message);
      exit(1);
    }
    first = best(first, start);
  }
  yw_cholesky_round(f, NULL);
  size_t n = (size_t)p->matrix.size, room = yw_cholesky_scratch(f, 6, tasks);
  float* x32 = yw_mem_alloc(NULL, 3 * n, sizeof *x32);
  float* scratch32 = yw_mem_alloc(NULL, room, sizeof *scratch32);
  double* b = yw_mem_alloc(NULL, 6 * n, sizeof *b);
  double* x = yw_mem_alloc(NULL, 6 * n, sizeof *x);
  double* ax = yw_mem_alloc(NULL, 6 * n, sizeof *ax);
  double* scratch = yw_mem_alloc(NULL, room, sizeof *scratch);
  for (size_t i = 0; i < 6 * n; ++i) b[i] = (double)(i % 17) - 8.0;
  for (int repeat = 0; repeat < 4 * REPEATS; ++repeat) {
    for (size_t i = 0; i < 3 * n; ++i) x32[i] = 1.0f;
    double start = yw_seconds();
    yw_cholesky_solve_f32(f, tasks, 3, 3, x32, x32, scratch32);
    solve3 = best(solve3, start);
    start = yw_seconds();
    yw_cholesky_solve(f, tasks, 6, 6, b, x, scratch);
    solve6 = best(solve6, start);
  }
  double residual = 0.0;
  yw_sparse_multiply(&p->matrix, tasks, 6, 6, x, ax);
  for (size_t i = 0; i < 6 * n; ++i) residual = fmax(residual, fabs(ax[i] - b[i]));
  yw_cholesky_stats stats = yw_cholesky_get_stats(f);
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    double start = yw_seconds();
    yw_cholesky_trim(f, true);
    yw_cholesky_factorise(f, &p->matrix, tasks, &error);
    again = best(again, start);
  }
  printf("%-9s %-10s %7d %6d %8.2f %8.2f %7.3f %7.3f %7.3f %6.1f %8.2f %8.2f %8.1f %8.1f %8.1e\n",
         p->name, order == YW_CHOLESKY_DEGREE ? "degree" : "dissection", (int)stats.size,
         (int)stats.num_supernodes, (double)stats.entries * 1e-6, stats.flops * 1e-9, analyse,
         first, again, stats.flops * 1e-9 / again, solve3 * 1e3, solve6 * 1e3,
         (double)stats.factor_bytes * 1e-6, (double)stats.scratch_bytes * 1e-6, residual / 8.0);
  fflush(stdout);
  yw_cholesky_destroy(f);
  yw_mem_free(NULL, x32);
  yw_mem_free(NULL, scratch32);
  yw_mem_free(NULL, b);
  yw_mem_free(NULL, x);
  yw_mem_free(NULL, ax);
  yw_mem_free(NULL, scratch);
}

int main(int argc, char** argv) {
  int32_t cells = argc > 1 ? (int32_t)atoi(argv[1]) : 32;
  int32_t threads = argc > 2 ? (int32_t)atoi(argv[2]) : 2;
  yw_tasks* tasks = yw_tasks_create(NULL, threads);
  yw_tet_mesh mesh = make_mesh(cells);
  printf(
      "matrix    order            n supern    nnzL/M  Gflop analyse  factor   again "
      "Gflop/s  3f32 ms  6f64 ms factorMB scratchMB residual\n");
  problem ring = {"one-ring", one_ring_matrix(&mesh, 1), mesh.positions, 1};
  measure(&ring, YW_CHOLESKY_DISSECTION, tasks);
  measure(&ring, YW_CHOLESKY_DEGREE, tasks);
  problem two = {"two-ring", two_ring_matrix(&ring.matrix), mesh.positions, 1};
  measure(&two, YW_CHOLESKY_DISSECTION, tasks);
  measure(&two, YW_CHOLESKY_DEGREE, tasks);
  yw_tet_mesh small = make_mesh(cells * 2 / 3);
  problem solid = {"3 a node", one_ring_matrix(&small, 3), small.positions, 3};
  measure(&solid, YW_CHOLESKY_DISSECTION, tasks);
  measure(&solid, YW_CHOLESKY_DEGREE, tasks);
  yw_sparse_free(&ring.matrix);
  yw_sparse_free(&two.matrix);
  yw_sparse_free(&solid.matrix);
  yw_tet_mesh_free(&mesh);
  yw_tet_mesh_free(&small);
  yw_tasks_destroy(tasks);
  return 0;
}
