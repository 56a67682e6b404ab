// SPDX-License-Identifier: MIT
// Figure 12 and sections 6.1 and 6.2 of Koyama et al. 2013: shape matching with examples beside the
// finite elements that it was measured against, on the same tets with the same example.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/koyama2013/contest.h"
#include "papers/paper.h"
#include "reference/clock.h"
#include "yawara/extend/error.h"

#define FRAME (1.0 / 60.0)
#define MAX_FRAMES 120
// Steps per frame that are tried, each twice the one before.
#define NUM_STEPS 6
// Two curves look the same where they differ by less than this fraction of the largest twist.
#define SAME 0.05

typedef struct course {
  int32_t frames;
  double twist[MAX_FRAMES + 1];  // degrees
  double ms;                     // per frame
  double factors, share;         // per step; of the time
} course;

// What is compared for one body.
typedef struct contest_plan {
  yw_status (*make)(contest_body* out, yw_error* error);
  int32_t frames, quick_frames;  // 0: left out
  int32_t timed_frames;          // of the comparison at equal steps
  int32_t substeps;              // of the same
  int32_t num_steps;             // lengths of steps that are tried; finite elements take long
  int32_t quick_num_steps;
} contest_plan;

static yw_status play(contest_method method, const contest_body* body, int32_t substeps,
                      int32_t frames, course* out, yw_error* error) {
  contest_run* run;
  *out = (course){.frames = frames};
  yw_status status = contest_open(method, body, &run, error);
  if (status < 0) return status;
  double seconds = 0;
  for (int32_t i = 1; i <= frames && status >= 0; ++i) {
    double begin = bench_seconds(true);
    for (int32_t s = 0; s < substeps && status >= 0; ++s) {
      status = contest_step(run, FRAME / substeps, error);
    }
    seconds += bench_seconds(true) - begin;
    out->twist[i] = contest_twist(run);
  }
  double factor_seconds;
  contest_factors(run, &out->factors, &factor_seconds);
  out->ms = 1e3 * seconds / frames;
  out->share = factor_seconds / seconds;
  contest_close(run);
  return status;
}

static double largest_twist(const course* c) {
  double most = 0;
  for (int32_t i = 0; i <= c->frames; ++i) most = fmax(most, c->twist[i]);
  return most;
}

// Largest difference of two courses over the largest twist of the second.
static double difference(const course* a, const course* b) {
  double most = 0;
  for (int32_t i = 0; i <= b->frames; ++i) most = fmax(most, fabs(a->twist[i] - b->twist[i]));
  return most / largest_twist(b);
}

static void print_row(contest_method method, int32_t substeps, const course* c, double match_ms) {
  printf("  %-38s %4d %10.3f %8.0fx %8.1f %8.1f", contest_name(method), substeps, c->ms,
         c->ms / match_ms, largest_twist(c), c->twist[c->frames]);
  if (c->factors > 0) printf(" %8.1f %6.0f %%", c->factors, 100 * c->share);
  printf("\n");
  fflush(stdout);
}

static void print_head(const char* title) {
  printf("\n%s\n  %-38s %4s %10s %9s %8s %8s %8s %8s\n", title, "", "per", "ms per", "beside",
         "largest", "twist at", "factors", "of the");
  printf("  %-38s %4s %10s %9s %8s %8s %8s %8s\n", "", "frame", "frame", "match", "twist",
         "the end", "per step", "time");
}

static yw_status plot_courses(const paper_options* options, const contest_body* body,
                              const course* courses, const int32_t* steps, yw_error* error) {
  if (options->no_plots) return YW_OK;
  double times[MAX_FRAMES + 1];
  yw_series series[CONTEST_COUNT];
  char name[64], title[96], labels[CONTEST_COUNT][96];
  for (int32_t i = 0; i <= MAX_FRAMES; ++i) times[i] = i * FRAME;
  for (contest_method m = 0; m < CONTEST_COUNT; ++m) {
    snprintf(labels[m], sizeof labels[m], "%s, 1/%d s", contest_short_name(m), 60 * steps[m]);
    series[m] = (yw_series){
        labels[m], courses[m].frames + 1, times, courses[m].twist, YW_SERIES_LINE, -1, false};
  }
  snprintf(name, sizeof name, "twist_%s", body->name);
  snprintf(title, sizeof title, "Twist of the %s under its own weight", body->name);
  yw_plot plot = paper_time_plot(title, CONTEST_COUNT, series);
  plot.y.label = "twist";
  plot.y.unit = "degrees";
  return paper_write_plot(options, name, &plot, error);
}

// The longest step whose curve is that of steps half as long.
static yw_status find_step(contest_method method, const contest_body* body, int32_t frames,
                           int32_t num_steps, course* out, int32_t* substeps, double* off,
                           yw_error* error) {
  course finer;
  yw_status status = play(method, body, 1, frames, out, error);
  *substeps = 1;
  for (int32_t k = 1; k < num_steps && status >= 0; ++k) {
    status = play(method, body, 1 << k, frames, &finer, error);
    if (status < 0) break;
    *off = difference(out, &finer);
    if (*off <= SAME) break;
    *out = finer;
    *substeps = 1 << k;
  }
  return status;
}

static yw_status compare(const paper_options* options, const contest_plan* plan, yw_error* error) {
  contest_body body;
  static course courses[CONTEST_COUNT];
  int32_t frames = options->quick ? plan->quick_frames : plan->frames, steps[CONTEST_COUNT];
  int32_t num_steps = options->quick ? plan->quick_num_steps : plan->num_steps, timed = 0;
  yw_status status = plan->make(&body, error);
  if (status >= 0) {
    printf("\n%s: %d vertices, %d tets, %.2f s\n", body.name, body.mesh.num_vertices,
           body.mesh.num_tets, frames * FRAME);
    char title[96];
    timed = frames < plan->timed_frames ? frames : plan->timed_frames;
    snprintf(title, sizeof title, "equal time steps, 1/%d s, for %.2f s", 60 * plan->substeps,
             timed * FRAME);
    print_head(title);
  }
  for (contest_method m = 0; m < CONTEST_COUNT && status >= 0; ++m) {
    status = play(m, &body, plan->substeps, timed, &courses[m], error);
    if (status >= 0) print_row(m, plan->substeps, &courses[m], courses[0].ms);
  }
  if (status >= 0 && num_steps > 0) {
    print_head("equal result: the longest step whose curve is that of half the step");
  }
  for (contest_method m = 0; m < CONTEST_COUNT && status >= 0 && num_steps > 0; ++m) {
    double off = 0;
    status = find_step(m, &body, frames, num_steps, &courses[m], &steps[m], &off, error);
    if (status < 0) break;
    print_row(m, steps[m], &courses[m], courses[0].ms);
    printf("  %-38s curve off by %.1f %% of the largest twist%s\n", "", 100 * off,
           off > SAME ? " (shortest step that was tried)" : "");
  }
  if (status >= 0 && num_steps > 0) status = plot_courses(options, &body, courses, steps, error);
  contest_body_free(&body);
  return status;
}

yw_status paper_fig12(const paper_options* options, yw_error* error) {
  static const contest_plan plans[] = {
      {contest_cuboid, 120, 15, 60, 4, NUM_STEPS, 0},
      {contest_cylinder, 45, 0, 12, 8, 3, 0},
  };
  printf(
      "one thread, CPU time; Martin: \"hundreds to thousands\" of times slower, Schumacher: tens "
      "of times faster than Martin (paper)\n");
  yw_status status = YW_OK;
  for (size_t i = 0; i < sizeof plans / sizeof *plans && status >= 0; ++i) {
    if (options->quick && plans[i].quick_frames == 0) continue;
    status = compare(options, &plans[i], error);
  }
  return status;
}
