// SPDX-License-Identifier: MIT
// Hino, Ding, Mitake, Hasegawa, figures 2 to 4: the frame of a group, its particles and the springs
// between them, without and with orientations, in the equilibrium that matching finds.
#include <stdio.h>

#include "papers/drawing.h"
#include "reference/oriented.h"
#include "render/trace/render.h"
#include "yawara/extend/vec.h"

#define PARTICLES 5
#define FRAME_COLOR 0x9aa3ad
#define SPRING_COLOR 0xc0392b
#define PARTICLE_COLOR 0x3a78b5

static yw_vec3 of(const double v[3]) { return yw_v3((float)v[0], (float)v[1], (float)v[2]); }

// A middle and four arms, turned as a whole and disturbed.
static void make_group(bool oriented, frames_oriented* p) {
  static const double rest[PARTICLES][3] = {
      {0, 0, 0}, {1.5, 0.1, 0}, {-1.4, -0.2, 0.3}, {0.1, 1.4, -0.2}, {-0.1, -1.4, 0}};
  static const double off[PARTICLES][3] = {{0.05, 0.25, 0.3},
                                           {0.55, 0.35, 0.1},
                                           {-0.4, 0.45, -0.3},
                                           {-0.45, 0.4, 0.2},
                                           {0.35, -0.5, 0.2}};
  const double whole[3] = {0.1, 0.2, 0.35};
  yw_turn turn = yw_turn_exp(whole);
  for (int i = 0; i < PARTICLES; ++i) {
    p[i] = (frames_oriented){.mass = 1.0, .turn = YW_TURN_NONE, .rest_turn = YW_TURN_NONE};
    const double own[3] = {0.5 * (i % 2), -0.4 * (i % 3), 0.35 * (i - 2)};
    for (int k = 0; k < 3; ++k) p[i].rest[k] = rest[i][k];
    yw_turn_apply(turn, rest[i], p[i].x);
    for (int k = 0; k < 3; ++k) p[i].x[k] += off[i][k];
    if (!oriented) continue;
    p[i].semi[0] = 0.5, p[i].semi[1] = 0.28, p[i].semi[2] = 0.28;
    p[i].turn = yw_turn_mul(yw_turn_exp(own), turn);
  }
}

// Springs of a particle: from its centre, or from both ends of its axes.
static void draw_springs(paper_drawing* d, const frames_oriented* p, const double goal[3],
                         yw_turn goal_turn, bool oriented) {
  yw_vec3 color = yw_render_rgb(SPRING_COLOR);
  if (!oriented) {
    paper_draw_coil(d, of(goal), of(p->x), 7, 0.07f, 0.018f, color);
    return;
  }
  for (int k = 0; k < 6; ++k) {
    double local[3] = {0}, at[3], held[3];
    local[k / 2] = (k % 2 ? -1.0 : 1.0) * p->semi[k / 2];
    yw_turn_apply(p->turn, local, at);
    yw_turn_apply(goal_turn, local, held);
    for (int i = 0; i < 3; ++i) at[i] += p->x[i], held[i] += goal[i];
    paper_draw_coil(d, of(held), of(at), 5, 0.04f, 0.012f, color);
  }
}

static void draw_group(bool oriented, paper_drawing* d) {
  frames_oriented p[PARTICLES];
  frames_group_pose pose;
  make_group(oriented, p);
  yw_oriented_match(p, NULL, PARTICLES, NULL, &pose);
  const float ball[3] = {0.13f, 0.13f, 0.13f};
  yw_vec3 grey = yw_render_rgb(FRAME_COLOR);
  double middle[3], goal[3];
  yw_oriented_goal(&pose, &p[0], middle, NULL);
  for (int i = 0; i < PARTICLES; ++i) {
    yw_turn turn;
    yw_oriented_goal(&pose, &p[i], goal, &turn);
    paper_draw_tube(d, of(middle), of(goal), 0.035f, grey);
    // The frame holds each ellipsoid by its axes.
    for (int k = 0; k < 3 && oriented; ++k) {
      double local[3] = {0}, a[3], b[3];
      local[k] = p[i].semi[k];
      yw_turn_apply(turn, local, a);
      for (int c = 0; c < 3; ++c) b[c] = goal[c] - a[c], a[c] += goal[c];
      paper_draw_tube(d, of(a), of(b), 0.022f, grey);
    }
    draw_springs(d, &p[i], goal, turn, oriented);
    const float semi[3] = {(float)p[i].semi[0], (float)p[i].semi[1], (float)p[i].semi[2]};
    paper_draw_ellipsoid(d, of(p[i].x), oriented ? semi : ball, yw_turn_to_quat(p[i].turn),
                         yw_render_rgb(PARTICLE_COLOR));
  }
}

yw_status paper_hino_picture(const paper_options* options, yw_error* error) {
  static const char* const captions[] = {"without orientations (3.1)", "with orientations (3.2)"};
  const paper_sheet_def def = {.file = "springs",
                               .title = "A rigid frame (grey), its springs and its particles",
                               .count = 2,
                               .columns = 2,
                               .width = 560,
                               .height = 480,
                               .captions = captions,
                               .crease = 60,
                               .framing = yw_default_framing()};
  paper_drawing drawings[2];
  for (int k = 0; k < 2; ++k) {
    frames_oriented p[PARTICLES];
    drawings[k] = paper_drawing_start();
    draw_group(k == 1, &drawings[k]);
    make_group(k == 1, p);
    frames_theorem t = yw_frames_theorem(p, PARTICLES);
    printf("%-28s net force %.1e, net torque %.1e, of the sums of their sizes\n", captions[k],
           t.force, t.torque);
  }
  yw_status status = paper_draw_sheet(options, &def, drawings, error);
  for (int k = 0; k < 2; ++k) paper_drawing_free(&drawings[k]);
  return status;
}
