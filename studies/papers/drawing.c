// SPDX-License-Identifier: MIT
#include "papers/drawing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/mesh_faces.h"
#include "math/small/trig.h"
#include "render/draw/contact_sheet.h"
#include "render/trace/render.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define PI 3.14159265f
#define MOST_PICTURES 8

paper_drawing paper_drawing_start(void) { return (paper_drawing){.box = yw_aabb_empty()}; }

void paper_drawing_free(paper_drawing* d) {
  yw_mem_free(NULL, d->positions);
  yw_mem_free(NULL, d->colors);
  yw_mem_free(NULL, d->triangles);
  *d = (paper_drawing){0};
}

// Room for so many more vertices and triangles.
static bool make_room(paper_drawing* d, int32_t vertices, int32_t triangles) {
  int32_t vertex_room = d->num_vertices + vertices, triangle_room = d->num_triangles + triangles;
  int32_t needed = vertex_room > triangle_room ? vertex_room : triangle_room;
  if (needed <= d->capacity) return true;
  int32_t capacity = 2 * needed;
  yw_vec3* positions = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  yw_vec3* colors = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  int32_t* list = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)capacity);
  d->failed = d->failed || !positions || !colors || !list;
  if (d->failed) {
    yw_mem_free(NULL, positions);
    yw_mem_free(NULL, colors);
    yw_mem_free(NULL, list);
    return false;
  }
  if (d->num_vertices > 0) {
    memcpy(positions, d->positions, (size_t)d->num_vertices * sizeof *positions);
    memcpy(colors, d->colors, (size_t)d->num_vertices * sizeof *colors);
    memcpy(list, d->triangles, 3 * (size_t)d->num_triangles * sizeof *list);
  }
  yw_mem_free(NULL, d->positions);
  yw_mem_free(NULL, d->colors);
  yw_mem_free(NULL, d->triangles);
  d->positions = positions, d->colors = colors, d->triangles = list;
  d->capacity = capacity;
  return true;
}

static void add_vertex(paper_drawing* d, yw_vec3 p, yw_vec3 color) {
  d->positions[d->num_vertices] = p;
  d->colors[d->num_vertices++] = color;
  d->box = yw_aabb_grow(d->box, p);
}

static void add_triangle(paper_drawing* d, int32_t a, int32_t b, int32_t c) {
  int32_t* t = d->triangles + 3 * (size_t)d->num_triangles++;
  t[0] = a, t[1] = b, t[2] = c;
}

// Rows of `around` vertices each, joined to a skin. Rows run along, columns counter-clockwise as
// seen from the end.
static void join_rows(paper_drawing* d, int32_t first, int32_t rows, int32_t around) {
  for (int32_t i = 0; i + 1 < rows; ++i) {
    for (int32_t k = 0; k < around; ++k) {
      int32_t a = first + i * around + k, b = first + i * around + (k + 1) % around;
      add_triangle(d, a, b, b + around);
      add_triangle(d, a, b + around, a + around);
    }
  }
}

void paper_draw_ellipsoid(paper_drawing* d, yw_vec3 at, const float semi[3], yw_quat turn,
                          yw_vec3 color) {
  enum { ROWS = 17, AROUND = 24 };
  if (!make_room(d, ROWS * AROUND, 2 * ROWS * AROUND)) return;
  int32_t first = d->num_vertices;
  for (int i = 0; i < ROWS; ++i) {
    float up = PI * (float)i / (ROWS - 1);
    for (int k = 0; k < AROUND; ++k) {
      float angle = 2.0f * PI * (float)k / AROUND;
      yw_vec3 p = {semi[0] * yw_sinf(up) * yw_cosf(angle), semi[1] * yw_sinf(up) * yw_sinf(angle),
                   -semi[2] * yw_cosf(up)};
      add_vertex(d, yw_add(at, yw_rotate(turn, p)), color);
    }
  }
  join_rows(d, first, ROWS, AROUND);
}

// Two directions across one.
static void across(yw_vec3 along, yw_vec3* side, yw_vec3* other) {
  yw_vec3 helper = fabsf(along.y) < 0.9f * yw_length(along) ? yw_v3(0, 1, 0) : yw_v3(1, 0, 0);
  *side = yw_normalize_or(yw_cross(helper, along), yw_v3(1, 0, 0));
  *other = yw_normalize_or(yw_cross(along, *side), yw_v3(0, 0, 1));
}

// A tube along a curve of points.
static void add_tube(paper_drawing* d, int32_t count, const yw_vec3* curve, float radius,
                     yw_vec3 color) {
  enum { AROUND = 8 };
  if (!make_room(d, count * AROUND, 2 * count * AROUND)) return;
  int32_t first = d->num_vertices;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 side, other;
    yw_vec3 along = yw_sub(curve[i + 1 < count ? i + 1 : i], curve[i > 0 ? i - 1 : 0]);
    across(along, &side, &other);
    for (int k = 0; k < AROUND; ++k) {
      float angle = 2.0f * PI * (float)k / AROUND;
      yw_vec3 p = yw_mad(curve[i], radius * yw_cosf(angle), side);
      add_vertex(d, yw_mad(p, radius * yw_sinf(angle), other), color);
    }
  }
  join_rows(d, first, count, AROUND);
}

void paper_draw_tube(paper_drawing* d, yw_vec3 a, yw_vec3 b, float radius, yw_vec3 color) {
  const yw_vec3 curve[2] = {a, b};
  const float ball[3] = {radius, radius, radius};
  add_tube(d, 2, curve, radius, color);
  paper_draw_ellipsoid(d, a, ball, (yw_quat){0, 0, 0, 1}, color);
  paper_draw_ellipsoid(d, b, ball, (yw_quat){0, 0, 0, 1}, color);
}

void paper_draw_coil(paper_drawing* d, yw_vec3 a, yw_vec3 b, int turns, float radius, float wire,
                     yw_vec3 color) {
  enum { PER_TURN = 16, MOST = 12 * PER_TURN + 3 };
  yw_vec3 curve[MOST], side, other;
  int count = turns * PER_TURN + 1;
  if (count > MOST - 2) count = MOST - 2;
  across(yw_sub(b, a), &side, &other);
  curve[0] = a;
  for (int i = 0; i < count; ++i) {
    // Straight ends, a tenth of the length each.
    float t = 0.1f + 0.8f * (float)i / (float)(count - 1), angle = 2.0f * PI * (float)i / PER_TURN;
    yw_vec3 p = yw_mad(yw_lerp(a, b, t), radius * yw_cosf(angle), side);
    curve[i + 1] = yw_mad(p, radius * yw_sinf(angle), other);
  }
  curve[count + 1] = b;
  add_tube(d, count + 2, curve, wire, color);
}

void paper_draw_tets(paper_drawing* d, const yw_tet_mesh* mesh, yw_vec3 color) {
  int32_t* partner = YW_NEW_ARRAY(NULL, int32_t, 4 * (size_t)mesh->num_tets);
  if (!partner || yw_tet_face_partners(NULL, mesh, partner) < 0) d->failed = true;
  for (int32_t half = 0; !d->failed && half < 4 * mesh->num_tets; ++half) {
    if (partner[half] >= 0 || !make_room(d, 3, 1)) continue;
    int32_t first = d->num_vertices;
    for (int k = 0; k < 3; ++k) {
      int32_t corner = mesh->tets[(half & ~3) + yw_tet_faces[half & 3][k]];
      add_vertex(d, mesh->positions[corner], color);
    }
    add_triangle(d, first, first + 1, first + 2);
  }
  yw_mem_free(NULL, partner);
}

// Sheets ------------------------------------------------------------------------------------------

static yw_status draw_one(yw_renderer* renderer, const paper_sheet_def* def,
                          const paper_drawing* drawing, float scale, yw_image* out,
                          yw_error* error) {
  if (drawing->failed) return yw_fail_memory(error, "a picture");
  yw_render_mesh mesh = yw_default_render_mesh();
  mesh.num_vertices = drawing->num_vertices;
  mesh.num_triangles = drawing->num_triangles;
  mesh.positions = drawing->positions;
  mesh.triangles = drawing->triangles;
  mesh.colors = drawing->colors;
  mesh.crease = def->crease;
  mesh.wireframe = def->wireframe;
  mesh.gloss = 0.2f;
  yw_picture picture = yw_default_picture();
  picture.num_meshes = 1;
  picture.meshes = &mesh;
  picture.width = (int32_t)(scale * (float)def->width);
  picture.height = (int32_t)(scale * (float)def->height);
  float aspect = (float)def->width / (float)def->height;
  picture.camera = yw_camera_frame(&def->framing, aspect, 1, &drawing->box);
  picture.focus = drawing->box;
  return yw_renderer_draw(renderer, &picture, out, error);
}

static yw_status write_sheet(const paper_options* options, const paper_sheet_def* def,
                             const yw_image* images, yw_error* error) {
  const yw_image* list[MOST_PICTURES];
  for (int32_t i = 0; i < def->count; ++i) list[i] = &images[i];
  yw_contact_sheet sheet = yw_default_sheet();
  sheet.num_images = def->count;
  sheet.images = list;
  sheet.captions = def->captions;
  sheet.columns = def->columns;
  sheet.title = def->title;
  yw_image page = {0};
  char path[1100];
  snprintf(path, sizeof path, "%s/%s.png", options->output, def->file);
  yw_status status = yw_contact_sheet_draw(&sheet, NULL, &page, error);
  if (status >= 0) status = yw_image_write_png(path, &page, error);
  if (status >= 0) printf("wrote %s\n", path);
  yw_image_free(&page);
  return status;
}

yw_status paper_draw_sheet(const paper_options* options, const paper_sheet_def* def,
                           const paper_drawing* drawings, yw_error* error) {
  yw_error missing = {0};
  if (options->no_pictures) return YW_OK;
  if (yw_renderer_available(&missing) < 0) {
    printf("no picture: %s\n", missing.message);
    return YW_OK;
  }
  yw_image images[MOST_PICTURES] = {{.width = 0}};
  yw_renderer* renderer = NULL;
  yw_status status = yw_renderer_create(NULL, options->threads, &renderer, error);
  for (int32_t i = 0; i < def->count && i < MOST_PICTURES && status >= 0; ++i) {
    float scale = options->quick ? 0.5f : 1.0f;
    status = draw_one(renderer, def, &drawings[i], scale, &images[i], error);
  }
  if (status >= 0) status = write_sheet(options, def, images, error);
  yw_renderer_destroy(renderer);
  for (int i = 0; i < MOST_PICTURES; ++i) yw_image_free(&images[i]);
  return status;
}
