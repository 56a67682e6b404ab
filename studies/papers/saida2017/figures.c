// SPDX-License-Identifier: MIT
// Figures 7 to 14 of Saida, Fujisawa, Mikawa 2017, and the buckling that the paper leaves open.
#include "papers/saida2017/saida.h"

#include <math.h>
#include <stdio.h>

#include "math/small/polar.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Smaller pieces are crumbs.
#define PIECE 20

#define SPACING "bodies[0].plastic.spacing"
#define YOUNGS "bodies[0].plastic.youngs_modulus"
#define POISSON "bodies[0].plastic.poissons_ratio"
#define THETA_S "bodies[0].plastic.theta_s"
#define THETA_C "bodies[0].plastic.theta_c"
#define VARIANT "bodies[0].plastic.variant"
#define WITHOUT_SLAVES "bodies[0].plastic.without_slaves"

const saida_take saida_table[] = {
    {"fig. 9, stiff", "stiff", "saida2017/fig9.json", "0.02", 0.9030, false, 0, {{0}}},
    {"fig. 9, soft",
     "soft",
     "saida2017/fig9.json",
     "0.02",
     0.9679,
     false,
     2,
     {{YOUNGS, "1e6"}, {POISSON, "0.4"}}},
    {"fig. 10, left", "left", "saida2017/fig10.json", "0.02", 0.6275, false, 0, {{0}}},
    {"fig. 10, right",
     "right",
     "saida2017/fig10.json",
     "0.02",
     0.8744,
     false,
     2,
     {{THETA_S, "7.5e-4"}, {THETA_C, "2.5e-3"}}},
    {"fig. 11, elastic", "elastic", "saida2017/fig11.json", "0.05", 2.3703, false, 0, {{0}}},
    {"fig. 11, elastoplastic",
     "elastoplastic",
     "saida2017/fig11.json",
     "0.05",
     2.9802,
     false,
     4,
     {{YOUNGS, "5e5"}, {POISSON, "0.25"}, {THETA_S, "0.05"}, {THETA_C, "0.5"}}},
    {"fig. 12", "sheet", "saida2017/fig12.json", "0.02", 1.0914, false, 0, {{0}}},
    {"fig. 13, low plasticity", "low", "saida2017/fig13.json", "0.05", 7.0282, false, 0, {{0}}},
    {"fig. 13, high plasticity",
     "high",
     "saida2017/fig13.json",
     "0.05",
     4.6485,
     false,
     4,
     {{YOUNGS, "2e5"}, {POISSON, "0.45"}, {THETA_S, "0.05"}, {THETA_C, "0.2"}}},
    {"fig. 14", "sheet", "saida2017/fig14.json", "0.055", 8.7657, false, 0, {{0}}},
};
const int32_t saida_num_table = sizeof saida_table / sizeof *saida_table;

// Numbers -----------------------------------------------------------------------------------------

// Pieces of the first body with at least PIECE masters, and the smaller ones.
static void count_pieces(const yw_world* world, yw_body_id id, int32_t count, double* row) {
  float* piece = YW_NEW_ARRAY(NULL, float, count);
  int32_t* size = YW_NEW_ARRAY(NULL, int32_t, count);
  int32_t field = yw_body_find_field(world, id, "piece");
  if (piece && size && yw_body_field_values(world, id, field, piece, count) >= 0) {
    for (int32_t i = 0; i < count; ++i) ++size[(int32_t)piece[i]];
    for (int32_t i = 0; i < count; ++i) {
      row[SAIDA_PIECES] += size[i] >= PIECE;
      row[SAIDA_CRUMBS] += size[i] > 0 && size[i] < PIECE;
    }
  }
  yw_mem_free(NULL, piece);
  yw_mem_free(NULL, size);
}

// Extent across the plane that fits the points best, m.
static double thickness_of(const yw_vec3* x, int32_t count) {
  double mean[3] = {0}, m[6] = {0}, low = INFINITY, high = -INFINITY;
  for (int32_t i = 0; i < 3 * count; ++i) mean[i % 3] += (double)(&x[i / 3].x)[i % 3] / count;
  for (int32_t i = 0; i < count; ++i) {
    double a = (double)x[i].x - mean[0], b = (double)x[i].y - mean[1], c = (double)x[i].z - mean[2];
    const double products[6] = {a * a, b * b, c * c, b * c, a * c, a * b};
    for (int k = 0; k < 6; ++k) m[k] += products[k] / count;
  }
  float f[6];
  for (int k = 0; k < 6; ++k) f[k] = (float)m[k];
  yw_mat3 matrix = {{f[0], f[5], f[4]}, {f[5], f[1], f[3]}, {f[4], f[3], f[2]}}, vectors;
  yw_vec3 values;
  yw_eigen_symmetric(&matrix, &values, &vectors);
  for (int32_t i = 0; i < count; ++i) {
    double at = (double)yw_dot(x[i], vectors.cz);
    low = fmin(low, at);
    high = fmax(high, at);
  }
  return high - low;
}

void saida_measure(const paper_take* take, double* row) {
  yw_body_id id = paper_body(take, 0);
  int32_t count;
  const yw_vec3* x = yw_body_positions(take->world, id, &count);
  double low = INFINITY, high = -INFINITY;
  row[SAIDA_TOP] = -INFINITY;
  for (int k = 0; k < SAIDA_COLUMNS; ++k) row[k] = k == SAIDA_TOP ? -INFINITY : 0.0;
  for (int32_t i = 0; i < count; ++i) {
    row[SAIDA_TOP] = fmax(row[SAIDA_TOP], (double)x[i].y);
    low = fmin(low, (double)x[i].z);
    high = fmax(high, (double)x[i].z);
  }
  row[SAIDA_BULGE] = high - low;
  row[SAIDA_FLAT] = thickness_of(x, count);
  const yw_vec3* v = yw_body_velocities(take->world, id, &count);
  for (int32_t i = 0; i < count; ++i) {
    double fast = (double)v[i].x * (double)v[i].x + (double)v[i].y * (double)v[i].y +
                  (double)v[i].z * (double)v[i].z;
    row[SAIDA_SPEED] = fmax(row[SAIDA_SPEED], sqrt(fast));
  }
  count_pieces(take->world, id, count, row);
  yw_plastic_statistics statistics = {0};
  yw_body_plastic_statistics(take->world, id, &statistics);
  row[SAIDA_SLAVES] = statistics.num_slaves;
}

// Takes -------------------------------------------------------------------------------------------

static void print_head(void) {
  printf("\n%-26s %8s %15s %12s %7s %7s %9s %11s %11s %6s\n", "", "masters", "slaves: at end",
         "pieces: most", "at end", "crumbs", "top (m)", "speed (m/s)", "CPU ms/step", "solve");
}

static void print_row(const saida_take* t, const paper_take* take) {
  int32_t count;
  yw_body_positions(take->world, paper_body(take, 0), &count);
  double steps = (double)take->info.frames * take->info.substeps;
  printf("%-26s %8d %7.0f %7.0f %12.0f %7.0f %7.0f %9.3f %11.1f ", t->label, count,
         paper_value(take, 0, SAIDA_SLAVES), paper_last(take, SAIDA_SLAVES),
         paper_peak(take, SAIDA_PIECES, NULL), paper_last(take, SAIDA_PIECES),
         paper_last(take, SAIDA_CRUMBS), paper_last(take, SAIDA_TOP),
         paper_peak(take, SAIDA_SPEED, NULL));
  if (take->diverged) {
    printf("   diverged\n");
  } else {
    printf("%11.2f %4.0f %%\n", 1e3 * take->cpu / steps, 100 * saida_solve_share(take));
  }
  fflush(stdout);
}

typedef struct saida_figure {
  const char* title;
  const char* short_frames;  // without a movie
  int32_t num_moments;
  double moments[6];
  int32_t num_takes;
  const saida_take* takes;
} saida_figure;

static yw_status play(const paper_options* options, const saida_figure* figure,
                      const saida_take* take, paper_take* out, yw_error* error) {
  yw_scene_override settings[SAIDA_MAX_SETTINGS + 2];
  int32_t count = 0;
  for (; count < take->num_settings; ++count) settings[count] = take->settings[count];
  if (options->quick) settings[count++] = (yw_scene_override){SPACING, take->coarse};
  if (options->quick || options->full) {
    settings[count++] = (yw_scene_override){"frames", figure->short_frames};
  }
  const paper_script script = {.scene = take->scene,
                               .title = figure->title,
                               .num_columns = SAIDA_COLUMNS,
                               .measure = saida_measure,
                               .num_moments = figure->num_moments,
                               .moments = figure->moments,
                               .sheet_columns = 3,
                               .width = 640,
                               .height = 480,
                               .film_every = 1,
                               .settings = settings,
                               .num_settings = count,
                               .name = take->name,
                               .may_diverge = take->may_diverge};
  yw_status status = paper_play(options, &script, out, error);
  if (status < 0) return status;
  print_row(take, out);
  // The script does not outlive this function.
  out->script = NULL;
  return YW_OK;
}

static yw_status play_all(const paper_options* options, const saida_figure* figure,
                          yw_error* error) {
  print_head();
  for (int32_t i = 0; i < figure->num_takes; ++i) {
    paper_take take;
    yw_status status = play(options, figure, &figure->takes[i], &take, error);
    if (status < 0) return status;
    paper_take_free(&take);
  }
  return YW_OK;
}

// Figures -----------------------------------------------------------------------------------------

yw_status paper_saida_fig7(const paper_options* options, yw_error* error) {
  static const saida_take takes[] = {{"as printed, masters alone",
                                      "printed_without_slaves",
                                      "saida2017/fig7.json",
                                      "0.055",
                                      0,
                                      true,
                                      2,
                                      {{WITHOUT_SLAVES, "true"}, {VARIANT, "paper"}}},
                                     {"as printed, with slaves",
                                      "printed_with_slaves",
                                      "saida2017/fig7.json",
                                      "0.055",
                                      0,
                                      true,
                                      1,
                                      {{VARIANT, "paper"}}},
                                     {"consistent, masters alone",
                                      "without_slaves",
                                      "saida2017/fig7.json",
                                      "0.055",
                                      0,
                                      true,
                                      1,
                                      {{WITHOUT_SLAVES, "true"}}},
                                     {"consistent, with slaves",
                                      "with_slaves",
                                      "saida2017/fig7.json",
                                      "0.055",
                                      0,
                                      false,
                                      0,
                                      {{0}}}};
  const saida_figure figure = {
      "Steps of 0.5 ms", "25", 6, {0, 0.042, 0.07, 0.14, 0.21, 0.35}, 4, takes};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig8(const paper_options* options, yw_error* error) {
  static const saida_take takes[] = {
      {"0.5 ms", "step_0.5ms", "saida2017/fig7.json", "0.055", 0, false, 0, {{0}}},
      {"0.7 ms",
       "step_0.7ms",
       "saida2017/fig7.json",
       "0.055",
       0,
       false,
       2,
       {{"substeps", "20"}, {"bodies[0].plastic.time_step", "0.0007"}}},
      {"3.5 ms",
       "step_3.5ms",
       "saida2017/fig7.json",
       "0.055",
       0,
       false,
       2,
       {{"substeps", "4"}, {"bodies[0].plastic.time_step", "0.0035"}}}};
  const saida_figure figure = {"With slaves", "36", 6, {0, 0.042, 0.07, 0.14, 0.28, 0.49}, 3,
                               takes};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig9(const paper_options* options, yw_error* error) {
  const saida_figure figure = {"Elastic cubes", "30", 6, {0, 0.02, 0.06, 0.1, 0.2, 0.5}, 2,
                               &saida_table[0]};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig10(const paper_options* options, yw_error* error) {
  const saida_figure figure = {"Plastic cubes", "30", 6, {0, 0.02, 0.06, 0.1, 0.2, 0.5}, 2,
                               &saida_table[2]};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig11(const paper_options* options, yw_error* error) {
  const saida_figure figure = {"A creature",   "25", 6, {0, 0.06, 0.12, 0.2, 0.3, 0.5}, 2,
                               &saida_table[4]};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig12(const paper_options* options, yw_error* error) {
  const saida_figure figure = {
      "A sheet of one layer", "24", 6, {0, 0.04, 0.08, 0.14, 0.24, 0.44}, 1, &saida_table[6]};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig13(const paper_options* options, yw_error* error) {
  const saida_figure figure = {"A bunny on rods", "25", 6, {0, 0.04, 0.1, 0.16, 0.26, 0.5}, 2,
                               &saida_table[7]};
  return play_all(options, &figure, error);
}

yw_status paper_saida_fig14(const paper_options* options, yw_error* error) {
  const saida_figure figure = {"Bunnies that merge",         "60", 6,
                               {0, 0.2, 0.4, 0.6, 0.8, 1.2}, 1,    &saida_table[9]};
  return play_all(options, &figure, error);
}

// How far sheets leave their plane, and whether they spring back.
yw_status paper_saida_buckling(const paper_options* options, yw_error* error) {
  static const saida_take takes[] = {
      {"sheet on its edge", "sheet", "saida2017/buckling.json", "0.02", 0, false, 0, {{0}}},
      {"three layers",
       "layers",
       "saida2017/buckling.json",
       "0.01",
       0,
       false,
       3,
       {{"bodies[0].shape.box.size", "[0.1, 0.4, 0.03]"},
        {YOUNGS, "4e5"},
        {"bodies[0].rotation.degrees", "2"}}}};
  const saida_figure figure = {"A thin sheet falls on its edge", "30", 6,
                               {0, 0.04, 0.08, 0.14, 0.24, 0.5}, 2,    takes};
  paper_take out[2];
  print_head();
  for (int k = 0; k < 2; ++k) {
    yw_status status = play(options, &figure, &takes[k], &out[k], error);
    if (status >= 0) continue;
    if (k == 1) paper_take_free(&out[0]);
    return status;
  }
  for (int k = 0; k < 2; ++k) {
    printf("\n%s\n%8s %9s %22s %22s\n", takes[k].label, "t (s)", "top (m)", "extent across (m)",
           "out of its plane (m)");
    for (int32_t frame = 0; frame <= out[k].info.frames; frame += 2) {
      const double* row = out[k].rows + frame * SAIDA_COLUMNS;
      printf("%8.2f %9.3f %22.3f %22.3f\n", out[k].times[frame], row[SAIDA_TOP], row[SAIDA_BULGE],
             row[SAIDA_FLAT]);
    }
    paper_take_free(&out[k]);
  }
  return YW_OK;
}
