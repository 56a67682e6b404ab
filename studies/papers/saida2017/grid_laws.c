// SPDX-License-Identifier: MIT
// What a grid does to an elastic body, beside masters and slaves: the zero-energy mode of figure 1,
// and a bar that is stretched until a method loses the connection (numerical fracture).
//
// At nu = 0 the stress is E (s - 1), so a bar obeys the wave equation however far it is stretched:
// u = A sin(pi X / L) sin(w t), w = pi c / L, s = 1 + A pi / L in the middle at a quarter of the
// period, and u = 0 again at half of it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "papers/saida2017/grid_world.h"
#include "papers/saida2017/saida.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"

// Zero-energy modes -------------------------------------------------------------------------------

#define MODE_STEPS 40

static yw_status play_mode(bool without_slaves, const grid_kind* kind, const char* label,
                           yw_error* error) {
  yw_world* world;
  yw_body_id body;
  yw_status status = saida_mode_world(without_slaves, &world, &body, error);
  if (status < 0) return status;
  mpm* m = kind ? grid_of_world(world, kind) : NULL;
  double first = 0;
  for (int i = 0; i < MODE_STEPS && status >= 0; ++i) {
    if (!kind) status = yw_world_step(world, SAIDA_MODE_STEP, 1, NULL);
    if (kind && !(m && mpm_advance(m, SAIDA_MODE_STEP, SAIDA_MODE_STEP) && grid_show(m, world))) {
      status = yw_fail(error, YW_ERR_DIVERGED, "%s diverged", label);
    }
    if (i == 0) first = saida_mode_energy(world, body);
  }
  if (status >= 0) {
    printf("%-24s %14.5f %15.5f\n", label, first, saida_mode_energy(world, body));
  }
  mpm_destroy(m);
  yw_world_destroy(world);
  return status;
}

static yw_status play_modes(yw_error* error) {
  static const grid_kind kinds[] = {{.label = "MPM, cells of 1 d", .cells = 1},
                                    {.label = "MPM, cells of 2 d", .cells = 2},
                                    {.label = "MPM, 2 d, FLIP", .cells = 2, .flip = 1}};
  printf("\n%-24s %14s %15s\n", "zero-energy mode", "after a step", "after 40 steps");
  yw_status status = play_mode(true, NULL, "masters alone", error);
  if (status >= 0) status = play_mode(false, NULL, "masters and slaves", error);
  for (int k = 0; k < 3 && status >= 0; ++k) {
    status = play_mode(false, &kinds[k], kinds[k].label, error);
  }
  return status;
}

// Numerical fracture ------------------------------------------------------------------------------

enum { ALONG = 32, ACROSS = 4 };
#define D 0.02f
#define YOUNGS 1e5
#define STEP 2e-4f

typedef struct bar {
  yw_world* world;
  yw_body_id body;
  int32_t count;
  yw_vec3* rest;
  double length, wave, stretch;
} bar;

static yw_status make_bar(double stretch, bar* b, yw_error* error) {
  const saida_box box = {
      .size = {ALONG, ACROSS, ACROSS}, .spacing = D, .step = STEP, .youngs_modulus = (float)YOUNGS};
  *b = (bar){.length = ALONG * (double)D, .stretch = stretch};
  yw_status status = saida_box_world(&box, &b->world, &b->body, error);
  if (status < 0) return status;
  const yw_vec3* x = yw_body_positions(b->world, b->body, &b->count);
  b->wave = sqrt(YOUNGS / (double)yw_default_plastic_part().material.density);
  b->rest = malloc(2 * sizeof *b->rest * (size_t)b->count);
  if (!b->rest) return yw_fail_memory(error, "a bar");
  yw_vec3* v = b->rest + b->count;
  for (int32_t i = 0; i < b->count; ++i) {
    b->rest[i] = x[i];
    double at = M_PI * ((double)x[i].x / b->length - 0.5);
    v[i] = yw_v3((float)((stretch - 1) * b->wave * sin(at)), 0, 0);
  }
  return yw_body_set_state(b->world, b->body, b->rest, v);
}

// Displacement in the mode, of its amplitude.
static double mode_of(const bar* b) {
  const yw_vec3* x = yw_body_positions(b->world, b->body, NULL);
  double sum = 0, squares = 0;
  for (int32_t i = 0; i < b->count; ++i) {
    double s = sin(M_PI * ((double)b->rest[i].x / b->length - 0.5));
    sum += s * (double)(x[i].x - b->rest[i].x);
    squares += s * s;
  }
  return sum / squares / ((b->stretch - 1) * b->length / M_PI);
}

// The largest distance between the means of neighbouring cross-sections, over that at rest.
static double gap_of(const bar* b) {
  const yw_vec3* x = yw_body_positions(b->world, b->body, NULL);
  double mean[ALONG] = {0}, gap = 0;
  for (int32_t i = 0; i < b->count; ++i) {
    int32_t k = (int32_t)(b->rest[i].x / D);
    mean[k < ALONG ? k : ALONG - 1] += (double)x[i].x / (ACROSS * ACROSS);
  }
  for (int k = 1; k < ALONG; ++k) gap = fmax(gap, (mean[k] - mean[k - 1]) / (double)D);
  return gap;
}

static yw_status move_bar(bar* b, mpm* m, float time, yw_error* error) {
  int32_t steps = (int32_t)lrintf(time / STEP);
  if (!m) {
    yw_status status = yw_world_step(b->world, (float)steps * STEP, steps, NULL);
    return status < 0 ? yw_fail(error, status, "the step failed") : YW_OK;
  }
  if (!mpm_advance(m, (float)steps * STEP, STEP) || !grid_show(m, b->world)) {
    return yw_fail(error, YW_ERR_DIVERGED, "a bar diverged");
  }
  return YW_OK;
}

// Prints the largest gap at a quarter of the period over that of theory, and what is left of the
// displacement at half of it, where it should be 0.
static yw_status play_bar(double stretch, const grid_kind* kind, yw_error* error) {
  bar b;
  yw_status status = make_bar(stretch, &b, error);
  mpm* m = status >= 0 && kind ? grid_of_world(b.world, kind) : NULL;
  if (status >= 0 && kind && !m) status = yw_fail_memory(error, "particles");
  if (status >= 0) {
    float quarter = (float)(0.5 * b.length / b.wave);
    status = move_bar(&b, m, quarter, error);
    double gap = gap_of(&b) / stretch;
    if (status >= 0) status = move_bar(&b, m, quarter, error);
    if (status >= 0) printf("   %5.2f %6.2f", gap, mode_of(&b));
    fflush(stdout);
  }
  mpm_destroy(m);
  yw_world_destroy(b.world);
  free(b.rest);
  return status;
}

static yw_status play_bars(yw_error* error) {
  static const double stretches[] = {1.25, 1.5, 2, 2.5, 3, 4};
  enum { NUM = sizeof stretches / sizeof *stretches };
  static const grid_kind kinds[] = {{.label = "MPM, cells of 1 d", .cells = 1},
                                    {.label = "MPM, cells of 2 d", .cells = 2}};
  printf("\n%-24s", "an elastic bar stretched");
  for (int i = 0; i < NUM; ++i) printf("   %6.2f times", stretches[i]);
  printf("\n%-24s", "");
  for (int i = 0; i < NUM; ++i) printf("   %5s %6s", "gap", "left");
  for (int k = -1; k < 2; ++k) {
    printf("\n%-24s", k < 0 ? "masters and slaves" : kinds[k].label);
    for (int i = 0; i < NUM; ++i) {
      yw_status status = play_bar(stretches[i], k < 0 ? NULL : &kinds[k], error);
      if (status < 0) return status;
    }
  }
  printf("\ntheory: gap 1, left 0\n");
  return YW_OK;
}

yw_status paper_saida_laws(const paper_options* options, yw_error* error) {
  (void)options;
  yw_status status = play_modes(error);
  return status < 0 ? status : play_bars(error);
}
