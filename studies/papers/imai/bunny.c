// SPDX-License-Identifier: MIT
// Imai, Yue, Chen, Nishita, figures 8 and 9: a fine surface carried by coarse tets, and jelly
// bunnies of uniform stiffness and with soft ears. In addition: a poke, where adaptivity pays off
// most.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "papers/imai/course.h"
#include "papers/paper.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"
#include "yawara/fem.h"

#define BUNNY_SCENE "imai/bunny.json"
enum { EVEN, GRADED, NUM_BUNNIES };

// Figure 8 ----------------------------------------------------------------------------------------

enum { F8_TETS, F8_SURFACE, F8_MESH, F8_BEYOND, F8_PLACING, F8_COLUMNS };

// Edges of cells with `corners` corners: the largest stretch, and how many exceed `limit`.
typedef struct stretches {
  double largest, beyond;
} stretches;

static stretches stretches_of(const int32_t* cells, int32_t count, int32_t corners,
                              const yw_vec3* rest, const yw_vec3* now, double limit) {
  stretches s = {0.0, 0.0};
  for (int32_t i = 0; i < count; ++i) {
    const int32_t* v = cells + (size_t)i * (size_t)corners;
    for (int32_t a = 0; a < corners; ++a) {
      for (int32_t b = 0; b < a; ++b) {
        double length = (double)yw_distance(rest[v[a]], rest[v[b]]);
        double stretch = (double)yw_distance(now[v[a]], now[v[b]]) / fmax(length, 1e-6);
        s.largest = fmax(s.largest, stretch);
        if (stretch > limit) s.beyond += 1.0;
      }
    }
  }
  return s;
}

static void measure_fig8(const paper_take* take, double* row) {
  yw_body_id body = paper_body(take, EVEN);
  const yw_model* model = yw_body_model(take->world, body);
  const yw_tri_mesh* surface = yw_model_surface(model);
  const yw_tet_mesh* mesh = yw_model_tets(model);
  yw_fem_statistics state;
  yw_body_fem_statistics(take->world, body, &state);
  row[F8_TETS] = state.num_tets;
  row[F8_MESH] = stretches_of(mesh->tets, mesh->num_tets, 4, mesh->positions,
                              yw_body_positions(take->world, body, NULL), INFINITY)
                     .largest;
  yw_vec3* now = malloc(sizeof *now * (size_t)surface->num_vertices);
  if (!now) return;
  double begin = yw_seconds();
  yw_body_surface_positions(take->world, body, now, surface->num_vertices);
  row[F8_PLACING] = 1e3 * (yw_seconds() - begin);
  stretches s = stretches_of(surface->triangles, surface->num_triangles, 3, surface->positions, now,
                             row[F8_MESH] + 0.01);
  row[F8_SURFACE] = s.largest;
  row[F8_BEYOND] = 100.0 * s.beyond / (3.0 * surface->num_triangles);
  free(now);
}

static void print_fig8(const paper_take* take) {
  const yw_model* model = yw_body_model(take->world, paper_body(take, EVEN));
  const yw_tri_mesh* surface = yw_model_surface(model);
  double least = INFINITY, placing = INFINITY;
  for (int32_t i = 0; i <= take->info.frames; ++i) {
    least = fmin(least, paper_value(take, i, F8_TETS));
    placing = fmin(placing, paper_value(take, i, F8_PLACING));
  }
  printf("\nsurface: %d vertices, %d triangles; placing it takes %.2f ms\n", surface->num_vertices,
         surface->num_triangles, placing);
  printf("tets in use: %.0f to %.0f of %d\n", least, paper_peak(take, F8_TETS, NULL),
         yw_model_tets(model)->num_tets);
  printf(
      "largest stretch of an edge: surface %.2f, tets %.2f; at most %.2f %% of the surface's edges "
      "are stretched more than any tet's\n",
      paper_peak(take, F8_SURFACE, NULL), paper_peak(take, F8_MESH, NULL),
      paper_peak(take, F8_BEYOND, NULL));
}

yw_status paper_imai_fig8(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.1, 0.2, 0.4};
  const paper_script script = {.scene = BUNNY_SCENE,
                               .title =
                                   "Fig. 8: fine surfaces on tets; blue: level 0, yellow: "
                                   "level 2",
                               .num_columns = F8_COLUMNS,
                               .measure = measure_fig8,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 480,
                               .height = 270,
                               .field = "level",
                               .field_high = 2.0f,
                               .quick_frames = 6};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  print_fig8(&take);
  paper_take_free(&take);
  return YW_OK;
}

// Figure 9 ----------------------------------------------------------------------------------------

// Points of the rest pose, m.
static const yw_vec3 places[] = {
    {0.006f, 0.105f, 0.019f}, {0.026f, 0.068f, 0.0f}, {-0.012f, 0.035f, 0.0f}};
static const char* const place_names[] = {"ear", "head", "back"};
static const char* const model_names[] = {"top", "upper half", "lower half"};
enum { NUM_PLACES = sizeof places / sizeof places[0] };
enum { F9_TETS = NUM_BUNNIES * NUM_PLACES, F9_COLUMNS = F9_TETS + NUM_BUNNIES };

// Of a model of the user's: its top, and what is nearest to the head and the back of the bunny.
static yw_vec3 place_of(const paper_take* take, yw_body_id body, int k) {
  if (!take->options->model) return places[k];
  return k == 0 ? paper_highest(take->world, body) : paper_nearest(take->world, body, places[k]);
}

// Displacement of each point in mm, for both bunnies; then tets in use.
static void measure_fig9(const paper_take* take, double* row) {
  for (int32_t i = 0; i < NUM_BUNNIES; ++i) {
    yw_body_id body = paper_body(take, i);
    yw_fem_statistics state;
    yw_body_fem_statistics(take->world, body, &state);
    yw_vec3 origin = {i == EVEN ? -0.09f : 0.09f, 0.008f, 0.0f};
    for (int k = 0; k < NUM_PLACES; ++k) {
      yw_vec3 rest = place_of(take, body, k);
      yw_vec3 p = paper_place(take->world, body, rest, take->options->model ? 1e-4 : 0.009);
      row[i * NUM_PLACES + k] = 1e3 * (double)yw_distance(p, yw_add(rest, origin));
    }
    row[F9_TETS + i] = state.num_tets;
  }
}

static void print_fig9(const paper_take* take) {
  const char* const* names = take->options->model ? model_names : place_names;
  printf("\n%-20s %12s %12s %12s\n", "largest way, mm", "even", "softer ears", "ratio");
  for (int k = 0; k < NUM_PLACES; ++k) {
    double even = paper_peak(take, k, NULL), graded = paper_peak(take, NUM_PLACES + k, NULL);
    printf("%-20s %12.1f %12.1f %12.2f\n", names[k], even, graded, graded / even);
  }
  printf("%-20s %12.0f %12.0f  of %d\n", "most tets", paper_peak(take, F9_TETS, NULL),
         paper_peak(take, F9_TETS + 1, NULL),
         yw_model_tets(yw_body_model(take->world, paper_body(take, 0)))->num_tets);
  printf("computing: %.2f s for %.2f s of both\n", take->seconds, take->times[take->info.frames]);
}

yw_status paper_imai_fig9(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.1, 0.2, 0.35, 0.5, 1.5};
  static const char* const labels[] = {"one stiffness", "softer to the ears"};
  const paper_script script = {.scene = BUNNY_SCENE,
                               .title = "Fig. 9: jelly bunnies",
                               .num_columns = F9_COLUMNS,
                               .measure = measure_fig9,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 480,
                               .height = 270,
                               .labels = labels,
                               .film_every = 2,
                               .quick_frames = 12};
  static const int32_t ears[] = {0, NUM_PLACES, 2, NUM_PLACES + 2};
  static const char* const names[] = {"ear, one stiffness", "ear, softer ears",
                                      "back, one stiffness", "back, softer ears"};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = paper_plot(&take, "ears", "How far the bunnies give way", "displacement", "mm", 4, ears,
                      names, error);
  if (status >= 0) print_fig9(&take);
  paper_take_free(&take);
  return status;
}

// A poke ------------------------------------------------------------------------------------------

#define BLOCK 0.4  // m

static yw_status play_poke(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.02, 0.05, 0.2};
  static const char* const labels[] = {"adaptive", "finest"};
  const paper_script script = {.scene = "imai/poke.json",
                               .title = "A poke; blue: level 0, yellow: level 3",
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 480,
                               .height = 270,
                               .labels = labels,
                               .field = "level",
                               .field_high = 3.0f,
                               .quick_frames = 24};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status >= 0) paper_take_free(&take);
  return status;
}

#define NUM_TAUS 4
static const char* const taus[NUM_TAUS] = {"0.04", "0.02", "0.01", "0.003"};

static yw_status plot_poke(const paper_options* options, int32_t count, const fem_course* courses,
                           yw_error* error) {
  static double share[NUM_TAUS][PAPER_FEM_FRAMES + 1];
  yw_series series[NUM_TAUS];
  char names[NUM_TAUS][24];
  for (int32_t k = 0; k < count; ++k) {
    const fem_course* c = &courses[k];
    for (int32_t i = 0; i <= c->frames; ++i) share[k][i] = 100.0 * c->tets[i] / c->all_tets;
    snprintf(names[k], sizeof names[k], "tau = %s", taus[k]);
    series[k] = (yw_series){names[k], c->frames + 1, c->time, share[k], YW_SERIES_LINE, k, false};
  }
  yw_plot plot = paper_time_plot("A poke into a block: tets in use", count, series);
  plot.y = (yw_axis){"tets in use, of the finest mesh", "%", true, (double)NAN, (double)NAN};
  return paper_write_plot(options, "poke", &plot, error);
}

yw_status paper_imai_poke(const paper_options* options, yw_error* error) {
  static fem_course courses[NUM_TAUS], finest;
  int32_t count = options->quick ? 1 : NUM_TAUS;
  fem_case c = {.scene = "imai/poke.json",
                .num_bodies = 2,
                .body = 1,
                .frames = options->quick ? 24 : 0,
                .point = {0.0f, 0.1f, 0.0f},
                .radius = 0.001};
  yw_status status = options->no_pictures ? YW_OK : play_poke(options, error);
  if (status >= 0) status = paper_fem_run(options, &c, &finest, error);
  if (status < 0) return status;
  printf("\n%-10s %10s %10s %14s %12s %12s\n", "tau", "tets %", "faster", "error % depth",
         "at end %", "% of block");
  c.body = 0;
  for (int32_t k = 0; k < count; ++k) {
    c.num_changes = 1;
    c.changes[0] = (yw_scene_override){"models.block.fem.tau", taus[k]};
    status = paper_fem_run(options, &c, &courses[k], error);
    if (status < 0) return status;
    fem_comparison r = paper_fem_compare(&courses[k], &finest);
    printf("%-10s %10.2f %10.1f %14.1f %12.2f %12.2f\n", taus[k], 100.0 * r.tets, r.faster,
           100.0 * r.error / r.way, 100.0 * r.last_error / r.way, 100.0 * r.error / BLOCK);
  }
  printf("%d tets, poked %.2f mm deep\n", finest.all_tets,
         1e3 * paper_fem_compare(&finest, &finest).way);
  return plot_poke(options, count, courses, error);
}
