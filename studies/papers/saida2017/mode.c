// SPDX-License-Identifier: MIT
// Figure 1 of Saida, Fujisawa, Mikawa 2017: a zero-energy mode. Neighbours move in opposite
// directions; gradients taken at the masters do not see it, those between them do.
#include <math.h>
#include <stdio.h>

#include "papers/saida2017/saida.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"

#define SIDE 8
#define SPACING 0.0625f
#define STEPS 40
#define SPEED 0.5f
enum { MASTERS = SIDE * SIDE * SIDE, LAYER = SIDE * SIDE };

typedef struct mode_run {
  double kinetic[STEPS + 1];  // of that at the start
  double x[LAYER], y[LAYER];  // of one layer at the end, in spacings
  int32_t count;
} mode_run;

static bool is_even(yw_vec3 p) {
  int sum = (int)floorf(p.x / SPACING) + (int)floorf(p.y / SPACING) + (int)floorf(p.z / SPACING);
  return sum % 2 == 0;
}

static yw_status make_body(const saida_box* b, yw_world* world, yw_body_id* out, yw_error* error) {
  yw_plastic_part part = yw_default_plastic_part();
  yw_shape* box = NULL;
  yw_vec3 half =
      yw_scale(yw_v3((float)b->size[0], (float)b->size[1], (float)b->size[2]), 0.5f * b->spacing);
  if (yw_shape_box(NULL, half, &box) < 0) return yw_fail_memory(error, "a cube");
  part.shape = box;
  part.transform.position = half;
  if (b->youngs_modulus > 0.0f) {
    part.material.youngs_modulus = b->youngs_modulus;
    part.material.poissons_ratio = 0.0f;
    part.material.eta = 1.0f;
  }
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = b->spacing;
  def.parts = &part;
  def.num_parts = 1;
  def.without_slaves = b->without_slaves;
  def.params.time_step = b->step;
  yw_body_def body = yw_default_body_def();
  yw_status status =
      yw_model_create_plastic_reach(NULL, &def, NULL, NULL, NULL, 2.0f, &body.model, error);
  if (status >= 0) status = yw_body_create(world, &body, out, error);
  yw_model_release(body.model);
  yw_shape_release(box);
  return status;
}

yw_status saida_box_world(const saida_box* box, yw_world** world, yw_body_id* body,
                          yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.gravity = yw_v3(0, 0, 0);
  if (yw_world_create(&def, world) < 0) return yw_fail_memory(error, "a world");
  yw_status status = make_body(box, *world, body, error);
  if (status >= 0) return status;
  yw_world_destroy(*world);
  *world = NULL;
  return status;
}

static yw_status stir(yw_world* world, yw_body_id body, yw_error* error) {
  yw_vec3 positions[MASTERS], velocities[MASTERS];
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  if (count != MASTERS) return yw_fail(error, YW_ERR_INVALID, "%d masters in the cube", count);
  for (int32_t i = 0; i < count; ++i) {
    positions[i] = x[i];
    velocities[i] = yw_v3(is_even(x[i]) ? -SPEED : SPEED, 0, 0);
  }
  return yw_body_set_state(world, body, positions, velocities);
}

yw_status saida_mode_world(bool without_slaves, yw_world** world, yw_body_id* body,
                           yw_error* error) {
  const saida_box cube = {.size = {SIDE, SIDE, SIDE},
                          .spacing = SPACING,
                          .step = SAIDA_MODE_STEP,
                          .without_slaves = without_slaves};
  yw_status status = saida_box_world(&cube, world, body, error);
  if (status < 0) return status;
  status = stir(*world, *body, error);
  if (status < 0) yw_world_destroy(*world);
  return status;
}

double saida_mode_energy(const yw_world* world, yw_body_id body) {
  int32_t count;
  double sum = 0;
  const yw_vec3* v = yw_body_velocities(world, body, &count);
  for (int32_t i = 0; i < count; ++i) sum += (double)yw_length2(v[i]);
  return sum / (MASTERS * (double)SPEED * (double)SPEED);
}

static void take_layer(const yw_world* world, yw_body_id body, mode_run* out) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  for (int32_t i = 0; i < count && out->count < LAYER; ++i) {
    if ((int)floorf(x[i].z / SPACING) != SIDE / 2) continue;
    out->x[out->count] = (double)(x[i].x / SPACING);
    out->y[out->count++] = (double)(x[i].y / SPACING);
  }
}

static yw_status play(bool without_slaves, mode_run* out, yw_error* error) {
  yw_world* world;
  yw_body_id body;
  *out = (mode_run){0};
  yw_status status = saida_mode_world(without_slaves, &world, &body, error);
  if (status < 0) return status;
  for (int32_t i = 0; i <= STEPS && status >= 0; ++i) {
    out->kinetic[i] = saida_mode_energy(world, body);
    if (i < STEPS) status = yw_world_step(world, SAIDA_MODE_STEP, 1, NULL);
  }
  if (status >= 0) take_layer(world, body, out);
  yw_world_destroy(world);
  return status;
}

static yw_status draw(const paper_options* options, const mode_run runs[2], yw_error* error) {
  double times[STEPS + 1];
  for (int32_t i = 0; i <= STEPS; ++i) times[i] = i * (double)SAIDA_MODE_STEP;
  const yw_series energy[2] = {
      {"masters alone", STEPS + 1, times, runs[0].kinetic, YW_SERIES_LINE, 0, false},
      {"with slaves", STEPS + 1, times, runs[1].kinetic, YW_SERIES_LINE, 1, false}};
  yw_plot plot = paper_time_plot("Neighbours that move in opposite directions", 2, energy);
  plot.y.label = "kinetic energy, of that at the start";
  yw_status status = paper_write_plot(options, "energy", &plot, error);
  const yw_series places[2] = {
      {"masters alone", runs[0].count, runs[0].x, runs[0].y, YW_SERIES_POINTS, 0, false},
      {"with slaves", runs[1].count, runs[1].x, runs[1].y, YW_SERIES_POINTS, 1, false}};
  plot = yw_default_plot();
  plot.title = "A layer of the cube after 40 ms";
  plot.x.label = "x, in spacings";
  plot.y.label = "y, in spacings";
  plot.num_series = 2;
  plot.series = places;
  return status < 0 ? status : paper_write_plot(options, "layer", &plot, error);
}

yw_status paper_saida_fig1(const paper_options* options, yw_error* error) {
  mode_run runs[2];
  printf("\n%-16s %20s %14s\n", "", "energy after a step", "after 40 steps");
  for (int k = 0; k < 2; ++k) {
    yw_status status = play(k == 0, &runs[k], error);
    if (status < 0) return status;
    printf("%-16s %20.5f %14.5f\n", k == 0 ? "masters alone" : "with slaves", runs[k].kinetic[1],
           runs[k].kinetic[STEPS]);
  }
  return options->no_plots ? YW_OK : draw(options, runs, error);
}
