// SPDX-License-Identifier: MIT
// yawara bench mesh: tets per second of the mesher, from primitives and from triangles, and
// embedded points per second.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "console/options.h"
#include "geometry/embedding.h"
#include "reference/clock.h"

typedef struct mesh_bench {
  yw_shape* blob;       // smooth union of primitives
  yw_tri_mesh surface;  // of it
  yw_shape* solid;      // inside those triangles
  yw_tri_mesh fine;     // its surface again, for embedding
  yw_tet_mesh tets;     // the last result
} mesh_bench;

// A body with arms, as a scene would describe it.
static yw_status make_blob(yw_shape** out) {
  yw_shape* parts[4] = {0};
  yw_status status = yw_shape_sphere(NULL, 0.5f, &parts[0]);
  const yw_vec3 far[3] = {{0.9f, 0.3f, 0.0f}, {-0.9f, 0.3f, 0.0f}, {0.0f, -0.9f, 0.2f}};
  for (int k = 0; k < 3 && status >= 0; ++k) {
    status = yw_shape_capsule(NULL, (yw_vec3){0, 0, 0}, far[k], 0.2f, &parts[k + 1]);
  }
  if (status >= 0) status = yw_shape_union(NULL, 4, parts, 0.1f, out);
  for (int k = 0; k < 4; ++k) yw_shape_release(parts[k]);
  return status;
}

static yw_status make_bench(const bench_run* run, mesh_bench* b, yw_error* error) {
  yw_status status = make_blob(&b->blob);
  if (status >= 0) status = yw_shape_surface(b->blob, NULL, 0.03f, &b->surface, error);
  if (status >= 0) status = yw_shape_mesh(NULL, &b->surface, &b->solid, error);
  if (status >= 0)
    status = yw_shape_surface(b->blob, NULL, run->quick ? 0.02f : 0.01f, &b->fine, error);
  return status;
}

static void free_bench(mesh_bench* b) {
  yw_shape_release(b->blob);
  yw_shape_release(b->solid);
  yw_tri_mesh_free(&b->surface);
  yw_tri_mesh_free(&b->fine);
  yw_tet_mesh_free(&b->tets);
}

static yw_status time_tets(mesh_bench* b, const yw_shape* shape, float size, double* best,
                           yw_error* error) {
  yw_mesher_def def = yw_default_mesher_def();
  def.size = size;
  yw_tet_mesh_free(&b->tets);
  double start = bench_seconds(true);
  yw_status status = yw_shape_tets(shape, NULL, &def, &b->tets, error);
  *best = fmin(*best, bench_seconds(true) - start);
  return status;
}

// Embeds the vertices of the finer surface, including the index of the tets.
static yw_status time_embedding(mesh_bench* b, double* best, yw_error* error) {
  yw_embedding embedding = {0};
  double start = bench_seconds(true);
  yw_status status = yw_embedding_create(NULL, &b->tets, b->fine.num_vertices, b->fine.positions,
                                         NULL, &embedding, error);
  *best = fmin(*best, bench_seconds(true) - start);
  yw_embedding_free(&embedding);
  return status;
}

static void print(const bench_run* run, const char* what, int32_t count, double seconds,
                  const char* unit) {
  char name[64];
  snprintf(name, sizeof name, "%s (%d)", what, count);
  bench_row row = {.name = name, .threads = 1, .value = 1e-3 * count / seconds, .unit = unit};
  bench_print(run, &row);
}

int bench_mesh(const bench_run* run) {
  mesh_bench b = {0};
  yw_error error = {0};
  double shape = INFINITY, solid = INFINITY, embedding = INFINITY;
  int32_t num_tets = 0;
  float size = run->quick ? 0.08f : 0.04f;
  yw_status status = make_bench(run, &b, &error);
  for (int32_t r = 0; status >= 0 && r < bench_repetitions(run, 5, 1); ++r) {
    status = time_tets(&b, b.blob, size, &shape, &error);
    num_tets = b.tets.num_tets;
    if (status >= 0) status = time_embedding(&b, &embedding, &error);
    if (status >= 0) status = time_tets(&b, b.solid, size, &solid, &error);
  }
  if (status >= 0) {
    print(run, "tets of a union of primitives", num_tets, shape, "ktet/s");
    print(run, "tets of a triangle mesh", b.tets.num_tets, solid, "ktet/s");
    print(run, "points embedded in tets", b.fine.num_vertices, embedding, "kpoint/s");
  }
  free_bench(&b);
  if (status >= 0) return EXIT_DONE;
  fprintf(stderr, "yawara: %s\n", error.message);
  return EXIT_FAILED;
}
