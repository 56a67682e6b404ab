// SPDX-License-Identifier: MIT
// Whether tets have the edges and corners of a shape's boxes: places on them are compared with the
// boundary of the tets, whatever was done to make them.
#include "geometry/mesher_rounded.h"

#include "geometry/triangle_tree.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define STEP 0.1         // sizes, from place to place along an edge
#define MAX_STEPS 400    // of an edge
#define ROUNDED 0.08     // cells: places this far from the boundary are listed
#define ON_SURFACE 1e-4  // sizes

typedef struct checker {
  const yw_shape* shape;
  yw_triangle_tree tree;
  const yw_allocator* mem;
  yw_places* out;
  double size;  ///< of the cells at the surface, m
  bool failed;  ///< out of memory
} checker;

static bool is_on_surface(const checker* c, yw_dvec3 x) {
  return fabs((double)yw_shape_distance(c->shape, yw_f3(x))) < ON_SURFACE * c->size;
}

// Whether faces reach a size away from a place. Of an edge: at[0] is along it, the others lead into
// the box.
static bool is_plain_edge(const checker* c, yw_dvec3 place, const yw_dvec3 at[3]) {
  for (int n = 0; n < 9; ++n) {
    yw_dvec3 x = yw_dmad(place, (n % 3 - 1) * c->size, at[0]);
    if (n >= 3) x = yw_dmad(x, c->size, at[n / 3]);
    if (!is_on_surface(c, x)) return false;
  }
  return true;
}

// Of a corner: all three lead into the box.
static bool is_plain_corner(const checker* c, yw_dvec3 place, const yw_dvec3 at[3]) {
  for (int axes = 0; axes < 7; ++axes) {
    yw_dvec3 x = place;
    for (int k = 0; k < 3; ++k) {
      if (axes & 1 << k) x = yw_dmad(x, c->size, at[k]);
    }
    if (!is_on_surface(c, x)) return false;
  }
  return true;
}

// Lists a place that the boundary misses.
static bool check_place(checker* c, yw_dvec3 place) {
  yw_vec3 x = yw_f3(place);
  yw_nearest nearest = yw_triangle_tree_nearest(&c->tree, x, INFINITY);
  const yw_tree_triangle* t = &c->tree.triangles[nearest.triangle];
  double cell = (double)fmaxf(yw_distance(t->a, t->b),
                              fmaxf(yw_distance(t->b, t->c), yw_distance(t->c, t->a)));
  if (sqrt((double)nearest.distance2) < ROUNDED * fmin(cell, c->size)) return false;
  c->failed = c->failed || !YW_LIST_RESERVE(c->mem, c->out, 1);
  if (!c->failed) c->out->items[c->out->count++] = x;
  return true;
}

// An edge of a box along axis k; corner: two bits for the signs along the other axes.
static bool check_edge(checker* c, const yw_placed_box* box, int k, int corner) {
  yw_dvec3 at[3] = {box->axis[k], box->axis[(k + 1) % 3], box->axis[(k + 2) % 3]};
  yw_dvec3 middle = box->center;
  for (int n = 0; n < 2; ++n) {
    double sign = corner & 1 << n ? 1.0 : -1.0;
    middle = yw_dmad(middle, sign * box->half[(k + 1 + n) % 3], at[1 + n]);
    at[1 + n] = yw_dscale(at[1 + n], -sign);
    if (2.0 * box->half[(k + 1 + n) % 3] < c->size) return false;
  }
  double reach = box->half[k] - c->size;
  if (!(reach > 0.0)) return false;
  int steps = 1 + (int)fmin(2.0 * reach / (STEP * c->size), MAX_STEPS);
  bool rounded = false;
  for (int n = 0; n <= steps; ++n) {
    yw_dvec3 place = yw_dmad(middle, reach * (2.0 * n / steps - 1.0), at[0]);
    if (is_plain_edge(c, place, at)) rounded = check_place(c, place) || rounded;
  }
  return rounded;
}

static bool check_corner(checker* c, const yw_placed_box* box, int corner) {
  yw_dvec3 place = box->center, at[3];
  for (int k = 0; k < 3; ++k) {
    double sign = corner & 1 << k ? 1.0 : -1.0;
    place = yw_dmad(place, sign * box->half[k], box->axis[k]);
    at[k] = yw_dscale(box->axis[k], -sign);
    if (2.0 * box->half[k] < c->size) return false;
  }
  return is_plain_corner(c, place, at) && check_place(c, place);
}

static int32_t check_boxes(checker* c, const yw_placed_boxes* boxes) {
  int32_t count = 0;
  for (int32_t b = 0; b < boxes->count; ++b) {
    for (int n = 0; n < 12; ++n) count += check_edge(c, &boxes->items[b], n % 3, n / 3);
    for (int n = 0; n < 8; ++n) count += check_corner(c, &boxes->items[b], n);
  }
  return count;
}

yw_status yw_list_rounded(const yw_allocator* mem, const yw_shape* shape, const yw_tet_mesh* tets,
                          double size, yw_places* out, int32_t* count) {
  checker c = {.shape = shape, .mem = mem, .out = out, .size = size};
  yw_placed_boxes boxes = {0};
  yw_tri_mesh surface = {0};
  *count = 0;
  yw_status status = yw_shape_sharp_boxes(mem, shape, &boxes) ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK && boxes.count > 0) {
    status = yw_tet_mesh_surface(tets, mem, &surface, NULL);
    if (status == YW_OK) {
      status = yw_triangle_tree_create(mem, surface.num_triangles, surface.triangles,
                                       surface.positions, NULL, &c.tree);
    }
    if (status == YW_OK) {
      *count = check_boxes(&c, &boxes);
      if (c.failed) status = YW_ERR_MEMORY;
      yw_triangle_tree_free(&c.tree);
    }
    yw_tri_mesh_free(&surface);
  }
  YW_LIST_FREE(mem, &boxes);
  return status;
}
