// SPDX-License-Identifier: MIT
// Pictures that figures draw themselves: a few solids or a mesh, side by side on a sheet.
#ifndef YW_STUDIES_PAPERS_DRAWING_H
#define YW_STUDIES_PAPERS_DRAWING_H

#include "papers/paper.h"
#include "render/trace/render.h"

/// Triangles of coloured solids.
typedef struct paper_drawing {
  int32_t num_vertices, num_triangles, capacity;  ///< capacity: of both
  yw_vec3 *positions, *colors;
  int32_t* triangles;
  yw_aabb box;
  bool failed;  ///< out of memory
} paper_drawing;

/// An empty drawing; free it in any case.
paper_drawing paper_drawing_start(void);
void paper_drawing_free(paper_drawing* drawing);

/// An ellipsoid with these semi-axes, rotated; a tube with round ends; a coil of so many turns.
void paper_draw_ellipsoid(paper_drawing* d, yw_vec3 at, const float semi[3], yw_quat turn,
                          yw_vec3 color);
void paper_draw_tube(paper_drawing* d, yw_vec3 a, yw_vec3 b, float radius, yw_vec3 color);
void paper_draw_coil(paper_drawing* d, yw_vec3 a, yw_vec3 b, int turns, float radius, float wire,
                     yw_vec3 color);
/// The boundary of tets, with flat faces.
void paper_draw_tets(paper_drawing* d, const yw_tet_mesh* mesh, yw_vec3 color);

typedef struct paper_sheet_def {
  const char *file, *title;
  int32_t count, columns, width, height;
  const char* const* captions;
  float crease, wireframe;  ///< as in render.h
  yw_framing framing;
} paper_sheet_def;
/// Draws each on its own and writes them to FILE.png; says so, or why not.
yw_status paper_draw_sheet(const paper_options* options, const paper_sheet_def* def,
                           const paper_drawing* drawings, yw_error* error);

#endif
