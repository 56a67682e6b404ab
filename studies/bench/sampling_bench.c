// SPDX-License-Identifier: MIT
// Times the sampling of matrices for coarse tets: a bar with stiffness falling along it.
//   sampling_bench [threads, default 2]
#include <stdio.h>
#include <stdlib.h>

#include "methods/fem/sampling.h"
#include "yawara/extend/timer.h"
#include "yawara/fem.h"

static yw_sym6* graded(const fem_hierarchy* h) {
  int32_t first = h->level_start[h->max_level], count = h->num_tets - first;
  yw_sym6* c = malloc((size_t)count * sizeof *c);
  for (int32_t t = 0; c && t < count; ++t) {
    double x = h->rest[h->nodes[first + t][0]].x;
    c[t] = yw_sym6_isotropic(3e5 * (1.0 + 7.5 * (0.4 - x)), 0.3);
  }
  return c;
}

static void measure(const int32_t cells[3], int32_t levels, yw_tasks* tasks) {
  yw_tet_mesh mesh;
  yw_error error = {0};
  fem_hierarchy h;
  const yw_aabb box = {{0, 0, 0}, {0.4f, 0.1f, 0.1f}};
  if (yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh) != YW_OK) exit(1);
  double start = yw_seconds();
  if (yw_fem_hierarchy_create(NULL, &mesh, levels, 0.0, &h, &error) != YW_OK) exit(1);
  double divided = yw_seconds();
  yw_sym6* c = graded(&h);
  for (int kind = 0; kind < 2; ++kind) {
    const fem_sampling_def def = {.kind = (yw_fem_sampling)kind, .tasks = tasks};
    fem_samples samples;
    double best = 1e9;
    for (int repeat = 0; repeat < 2; ++repeat) {
      double begin = yw_seconds();
      if (yw_fem_sample(NULL, &h, c, c, &def, &samples, &error) != YW_OK) exit(1);
      double seconds = yw_seconds() - begin;
      if (seconds < best) best = seconds;
      yw_fem_samples_free(&samples);
    }
    printf("%8d %8d %8d %10.2f %10.2f  %s\n", (int)h.num_roots,
           (int)(h.num_tets - h.level_start[levels]), (int)h.num_nodes, divided - start, best,
           kind == 0 ? "embedded" : "stand-alone");
  }
  free(c);
  yw_fem_hierarchy_free(&h);
  yw_tet_mesh_free(&mesh);
}

int main(int argc, char** argv) {
  yw_tasks* tasks = yw_tasks_create(NULL, argc > 1 ? atoi(argv[1]) : 2);
  const int32_t small[3] = {4, 1, 1}, large[3] = {9, 2, 2};
  printf("   roots   finest    nodes   divide s   sample s\n");
  measure(small, 3, tasks);
  measure(large, 3, tasks);
  yw_tasks_destroy(tasks);
  return 0;
}
