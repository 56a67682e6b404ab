// SPDX-License-Identifier: MIT
// Section 4.3 of Koyama et al. 2013: how weights are kept convex. The nearest point of the hull of
// the poses beside the paper's rule, with two and with three examples.
#include <math.h>
#include <stdio.h>

#include "papers/paper.h"

#define BODIES 4
#define MOST_EXAMPLES 3
#define LEVELS 9

static const int32_t num_examples[BODIES] = {2, 2, 3, 3};
static const char* const names[BODIES] = {"2, exact", "2, paper", "3, exact", "3, paper"};
static const char* const examples[MOST_EXAMPLES] = {"twisted", "s_bend", "bulge"};

// Per body: weights of the examples, twist and sway.
enum { TWIST = MOST_EXAMPLES, SWAY, PER_BODY };

static void measure(const paper_take* take, double* row) {
  for (int32_t i = 0; i < BODIES; ++i) {
    yw_body_id body = paper_body(take, i);
    double* numbers = row + i * PER_BODY;
    for (int32_t k = 0; k < MOST_EXAMPLES; ++k) {
      bool there = k < num_examples[i];
      numbers[k] = there ? paper_weight(take->world, body, num_examples[i], 0, k + 1) : 0.0;
    }
    paper_slices slices;
    paper_slice(take->world, body, LEVELS, &slices);
    numbers[TWIST] = fabs(slices.total_twist);
    numbers[SWAY] = slices.sway;
  }
}

static void print_numbers(const paper_take* take) {
  printf("\n%-14s %28s %28s %9s %6s\n", "", "largest weight", "frames with a weight above 0.05",
         "twist", "sway");
  for (int32_t i = 0; i < BODIES; ++i) {
    printf("%-14s", names[i]);
    for (int32_t k = 0; k < MOST_EXAMPLES; ++k) {
      printf(" %8.2f", paper_peak(take, i * PER_BODY + k, NULL));
    }
    for (int32_t k = 0; k < MOST_EXAMPLES; ++k) {
      int32_t frames = 0;
      for (int32_t f = 0; f <= take->info.frames; ++f) {
        frames += paper_value(take, f, i * PER_BODY + k) > 0.05;
      }
      printf(" %9d", frames);
    }
    printf(" %9.1f %6.2f\n", paper_peak(take, i * PER_BODY + TWIST, NULL),
           paper_peak(take, i * PER_BODY + SWAY, NULL));
  }
  printf("weights of %s, %s, %s; twist in degrees, sway of the length\n", examples[0], examples[1],
         examples[2]);
}

static yw_status plot_weights(const paper_take* take, int32_t first, yw_error* error) {
  char title[80], name[40], labels[2 * MOST_EXAMPLES][40];
  const char* texts[2 * MOST_EXAMPLES];
  int32_t columns[2 * MOST_EXAMPLES], count = 0;
  for (int32_t i = first; i < first + 2; ++i) {
    for (int32_t k = 0; k < num_examples[i]; ++k) {
      snprintf(labels[count], sizeof labels[count], "%s, %s", examples[k],
               i == first ? "exact" : "paper");
      texts[count] = labels[count];
      columns[count++] = i * PER_BODY + k;
    }
  }
  snprintf(title, sizeof title, "Weights with %d examples", num_examples[first]);
  snprintf(name, sizeof name, "weights_%d", num_examples[first]);
  return paper_plot(take, name, title, "weight", NULL, count, columns, texts, error);
}

yw_status paper_projection(const paper_options* options, yw_error* error) {
  static const double moments[] = {0.3, 0.4, 0.55, 0.8, 1.1, 1.5};
  const paper_script script = {.scene = "koyama2013/projection.json",
                               .title = "Two and three examples, exact and as in the paper",
                               .num_columns = BODIES * PER_BODY,
                               .measure = measure,
                               .num_moments = sizeof moments / sizeof *moments,
                               .moments = moments,
                               .sheet_columns = 2,
                               .width = 640,
                               .height = 300,
                               .labels = names,
                               .film_every = 2};
  paper_take take;
  yw_status status = paper_play(options, &script, &take, error);
  if (status < 0) return status;
  print_numbers(&take);
  status = plot_weights(&take, 0, error);
  if (status >= 0) status = plot_weights(&take, 2, error);
  paper_take_free(&take);
  return status;
}
