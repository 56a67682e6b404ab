// SPDX-License-Identifier: MIT
// Figure 6 of Koyama et al. 2013: a teddy pulled at one hand, in one group and in two.
#include <stdio.h>

#include "papers/paper.h"

#define NUM_EXAMPLES 1
// Vertices this far from the middle are hands, m.
#define REACH 0.62

// The scene puts the half that is not pulled into group 1 and leaves the other in group 0.
enum {
  ONE_WEIGHT,
  PULLED_WEIGHT,
  FREE_WEIGHT,
  ONE_PULLED,
  ONE_FREE,
  TWO_PULLED,
  TWO_FREE,
  COLUMNS
};

static void measure(const paper_take* take, double* row) {
  yw_body_id one = paper_body(take, 0), two = paper_body(take, 1);
  row[ONE_WEIGHT] = paper_weight(take->world, one, NUM_EXAMPLES, 0, 1);
  row[PULLED_WEIGHT] = paper_weight(take->world, two, NUM_EXAMPLES, 0, 1);
  row[FREE_WEIGHT] = paper_weight(take->world, two, NUM_EXAMPLES, 1, 1);
  row[ONE_PULLED] = paper_side_way(take->world, one, 1, REACH);
  row[ONE_FREE] = paper_side_way(take->world, one, -1, REACH);
  row[TWO_PULLED] = paper_side_way(take->world, two, 1, REACH);
  row[TWO_FREE] = paper_side_way(take->world, two, -1, REACH);
}

// The control points: the pulled hand and the belly.
static int32_t marks(const paper_take* take, yw_vec3* out) {
  for (int32_t i = 0; i < 2; ++i) {
    out[2 * i] =
        paper_place(take->world, paper_body(take, i), (yw_vec3){0.74f, 0.06f, 0.14f}, 0.15);
    out[2 * i + 1] = paper_place(take->world, paper_body(take, i), (yw_vec3){0, -0.06f, 0}, 0.25);
  }
  return 4;
}

static void print_table(const paper_take* take) {
  printf("\n%d particles each                   one group   two groups\n",
         paper_particles(take, 0));
  printf("largest weight, half that is pulled       %5.2f        %5.2f\n",
         paper_peak(take, ONE_WEIGHT, NULL), paper_peak(take, PULLED_WEIGHT, NULL));
  printf("largest weight, other half                %5.2f        %5.2f\n",
         paper_peak(take, ONE_WEIGHT, NULL), paper_peak(take, FREE_WEIGHT, NULL));
  printf("way of the pulled hand (m)                %5.2f        %5.2f\n",
         paper_peak(take, ONE_PULLED, NULL), paper_peak(take, TWO_PULLED, NULL));
  printf("way of the other hand (m)                 %5.2f        %5.2f\n",
         paper_peak(take, ONE_FREE, NULL), paper_peak(take, TWO_FREE, NULL));
}

yw_status paper_fig6(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.0, 0.6, 0.9, 1.2, 2.0, 3.5};
  static const char* const labels[] = {"one group", "two groups"};
  const paper_script script = {.scene = "koyama2013/fig6.json",
                               .title = "Fig. 6: pulled at one hand, in one group and in two",
                               .num_columns = COLUMNS,
                               .measure = measure,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 640,
                               .height = 360,
                               .labels = labels,
                               .marks = marks,
                               .film_every = 2};
  static const int32_t weights[] = {ONE_WEIGHT, PULLED_WEIGHT, FREE_WEIGHT};
  static const char* const names[] = {"one group", "two groups: pulled half",
                                      "two groups: other half"};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  status = paper_plot(&take, "weights", "Weight of the example", "weight", NULL, 3, weights, names,
                      error);
  if (status >= 0) print_table(&take);
  paper_take_free(&take);
  return status;
}
