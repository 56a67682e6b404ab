// SPDX-License-Identifier: MIT
// Figure 11 of Koyama et al. 2013: the tets of the bodies.
#include <math.h>
#include <stdio.h>

#include "papers/drawing.h"
#include "render/trace/render.h"
#include "yawara/extend/vec.h"

typedef struct mesh_row {
  const char *name, *scene;
  int32_t body;
  int32_t vertices;  // of the paper
} mesh_row;
static const mesh_row rows[] = {{"cuboid", "koyama2013/fig7.json", 0, 225},
                                {"cylinder", "koyama2013/fig9.json", 1, 2025},
                                {"teddy", "koyama2013/fig6.json", 0, 1280},
                                {"car", "koyama2013/fig10.json", 1, 192}};
enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

static void print_mesh(const mesh_row* row, const yw_tet_mesh* mesh) {
  static const int edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  double shortest = INFINITY, longest = 0.0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    for (int e = 0; e < 6; ++e) {
      double length =
          (double)yw_distance(mesh->positions[v[edges[e][0]]], mesh->positions[v[edges[e][1]]]);
      shortest = fmin(shortest, length);
      longest = fmax(longest, length);
    }
  }
  printf("%-12s %8d %8d %8d %10.3f %10.3f\n", row->name, mesh->num_vertices, row->vertices,
         mesh->num_tets, shortest, longest);
}

static yw_status add_mesh(const paper_options* options, const mesh_row* row, paper_drawing* out,
                          yw_error* error) {
  yw_scene* scene;
  yw_world* world;
  yw_status status = paper_open(options, row->scene, &scene, &world, error);
  if (status < 0) return status;
  const yw_tet_mesh* mesh = yw_model_tets(yw_body_model(world, yw_world_body(world, row->body)));
  print_mesh(row, mesh);
  paper_draw_tets(out, mesh, yw_render_rgb(0xd8b27a));
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return YW_OK;
}

yw_status paper_fig11(const paper_options* options, yw_error* error) {
  static const char* const captions[NUM_ROWS] = {"cuboid", "cylinder", "teddy", "car"};
  const paper_sheet_def def = {.file = "meshes",
                               .title = "Fig. 11: tets of the bodies",
                               .count = NUM_ROWS,
                               .columns = 4,
                               .width = 380,
                               .height = 460,
                               .captions = captions,
                               .wireframe = 1.2f,
                               .framing = yw_default_framing()};
  paper_drawing drawings[NUM_ROWS];
  yw_status status = YW_OK;
  printf("\n%-12s %8s %8s %8s %10s %10s\n", "", "vertices", "paper", "tets", "shortest m",
         "longest m");
  for (int i = 0; i < NUM_ROWS; ++i) {
    drawings[i] = paper_drawing_start();
    if (status >= 0) status = add_mesh(options, &rows[i], &drawings[i], error);
  }
  if (status >= 0) status = paper_draw_sheet(options, &def, drawings, error);
  for (int i = 0; i < NUM_ROWS; ++i) paper_drawing_free(&drawings[i]);
  return status;
}
