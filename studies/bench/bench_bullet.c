// SPDX-License-Identifier: MIT
// Part of yawara bench contact: the bin of boxes beside Bullet's soft bodies.
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "yawara/contact.h"
#include "yawara/extend/memory.h"

#ifdef YW_HAVE_BULLET
#include "bench/peers/bullet/bullet_bin.h"
#include "reference/clock.h"

// Timed substeps.
#define TIMED 8

// Triangles of the surface with the numbers of the tets' vertices; the caller frees them.
static int32_t* list_triangles(const yw_tet_mesh* mesh, int32_t* count) {
  yw_tri_mesh surface = {0};
  int32_t* map = NULL;
  if (yw_tet_mesh_surface(mesh, NULL, &surface, &map) < 0) return NULL;
  *count = surface.num_triangles;
  int32_t* triangles = malloc(3 * (size_t)surface.num_triangles * sizeof *triangles);
  for (int32_t i = 0; i < 3 * surface.num_triangles && triangles; ++i) {
    triangles[i] = map[surface.triangles[i]];
  }
  yw_mem_free(NULL, map);
  yw_tri_mesh_free(&surface);
  return triangles;
}

// Puts our bodies where Bullet's are, and lets them be tested.
static int32_t count_crossings(const bench_bin* bin, const bullet_bin* theirs) {
  size_t vertices = (size_t)bin->mesh->num_vertices;
  yw_vec3 *pos = calloc(vertices, sizeof *pos), *vel = calloc(vertices, sizeof *vel);
  bool good = pos && vel;
  for (int32_t i = 0; i < yw_world_num_bodies(bin->world) && good; ++i) {
    bullet_bin_positions(theirs, i, pos);
    good = yw_body_set_state(bin->world, yw_world_body(bin->world, i), pos, vel) >= 0;
  }
  int32_t found = good ? yw_world_crossings(bin->world, NULL, 0) : -1;
  free(pos);
  free(vel);
  return found;
}

static void print_crossings(const bench_run* run, const char* who, int32_t crossings) {
  char name[80];
  snprintf(name, sizeof name, "bin of 1000 boxes, %s, bodies that cross", who);
  bench_row row = {.name = name, .threads = 1, .value = crossings, .unit = "pairs"};
  bench_print(run, &row);
}

static void measure(const bench_run* run, const bench_bin* bin, bullet_bin_def* def,
                    bullet_contact contact, const char* who) {
  def->contact = contact;
  bullet_bin* theirs = bullet_bin_create(def);
  if (!theirs) return;
  for (int32_t i = 0; i < bin->substeps; ++i) bullet_bin_step(theirs, bin->h);
  double start = bench_seconds(true);
  for (int32_t i = 0; i < TIMED; ++i) bullet_bin_step(theirs, bin->h);
  double ms = 1e3 / TIMED * (bench_seconds(true) - start);
  char name[80];
  snprintf(name, sizeof name, "bin of 1000 boxes, %s", who);
  bench_row row = {.name = name,
                   .threads = 1,
                   .value = ms,
                   .unit = "ms/step",
                   .against = "surfaces",
                   .ratio = bin->ms / ms};
  bench_print(run, &row);
  print_crossings(run, who, count_crossings(bin, theirs));
  bullet_bin_destroy(theirs);
}

void bench_bullet(const bench_run* run, const bench_bin* bin) {
  print_crossings(run, "surfaces", yw_world_crossings(bin->world, NULL, 0));
  bullet_bin_def def = {.rest = bin->mesh,
                        .density = 1000.0f,
                        .places = bin->places,
                        .count = yw_world_num_bodies(bin->world),
                        .half_x = bin->half_x,
                        .half_z = bin->half_z};
  int32_t* triangles = list_triangles(bin->mesh, &def.num_triangles);
  def.triangles = triangles;
  if (triangles) {
    measure(run, bin, &def, BULLET_FACES, "Bullet, faces");
    if (!run->quick) measure(run, bin, &def, BULLET_CLUSTERS, "Bullet, clusters");
  }
  free(triangles);
}
#else
void bench_bullet(const bench_run* run, const bench_bin* bin) {
  bench_note(run,
             "bin of 1000 boxes, Bullet: not built (package libbullet-dev, cmake "
             "-DYW_BUILD_BENCH_PEERS=ON)");
  bench_row row = {.name = "bin of 1000 boxes, surfaces, bodies that cross",
                   .threads = 1,
                   .value = yw_world_crossings(bin->world, NULL, 0),
                   .unit = "pairs"};
  bench_print(run, &row);
}
#endif
