// SPDX-License-Identifier: MIT
// Oriented particles as volumes: two bodies of a scene fall on pegs; how far they deform, and how
// long a step takes, beside the classic solver without orientations.
#include <stdio.h>

#include "papers/paper.h"

enum { BELOW, ABOVE, NUM_BODIES };

static void measure(const paper_take* take, double* row) {
  for (int32_t i = 0; i < NUM_BODIES; ++i) {
    row[i] = paper_distortion(take->world, paper_body(take, i));
  }
}

static yw_status play(const paper_options* options, bool oriented, yw_error* error) {
  static const double moments[] = {0.0, 0.25, 0.5, 0.75, 1.2, 2.0};
  static const char* const labels[] = {"", ""};
  static const yw_scene_override classic = {"models.star.frames.solver", "classic"};
  const paper_script script = {.scene = "hino/volume.json",
                               .title = "Bodies of oriented particles",
                               .num_columns = NUM_BODIES,
                               .measure = measure,
                               .num_moments = oriented ? 6 : 0,
                               .moments = moments,
                               .sheet_columns = 3,
                               .width = 480,
                               .height = 300,
                               .labels = labels,
                               .settings = &classic,
                               .num_settings = oriented ? 0 : 1,
                               .quick_frames = 20};
  paper_options quiet = *options;
  if (!oriented) quiet.no_pictures = true;
  paper_take take;
  yw_status status = paper_play(&quiet, &script, &take, error);
  if (status < 0) return status;
  int32_t particles = paper_particles(&take, BELOW) + paper_particles(&take, ABOVE);
  double frames = take.frame;
  printf("%-10s %9d %14.2f %14.3f %14.3f %14.3f\n", oriented ? "oriented" : "classic", particles,
         1e3 * take.cpu / frames, paper_peak(&take, BELOW, NULL), paper_last(&take, BELOW),
         paper_last(&take, ABOVE));
  paper_take_free(&take);
  return status;
}

yw_status paper_hino_volume(const paper_options* options, yw_error* error) {
  printf("\n%-10s %9s %14s %14s %14s %14s\n", "", "particles", "CPU ms/frame", "most deformed",
         "at the end", "the other");
  yw_status status = play(options, true, error);
  if (status >= 0) status = play(options, false, error);
  printf(
      "a frame has 8 steps; deformed: distance from the rest shape over the radius of gyration\n");
  return status;
}
