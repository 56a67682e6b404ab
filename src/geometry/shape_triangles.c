// SPDX-License-Identifier: MIT
// Few triangles along the surface of a shape, for contact and for pictures: primitives as
// polyhedra, unions part by part, the rest from a lattice.
#include <string.h>

#include "geometry/shape.h"
#include "geometry/shape_node.h"
#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Sides of what is round: for contact, for pictures. Points of a quarter of a circle.
#define SIDES 32
#define SHOWN_SIDES 64
#define ARC 17
// Points of a quarter of a circle at rounded corners.
#define CORNER 9
// Cells along the longest side of shapes that are not primitives.
#define CELLS 40.0f
// Steps by which vertices of these move to their depth.
#define SETTLE_STEPS 3
// Depth, as shares of the thinnest and of the longest extent.
#define THIN_SHARE 0.05f
#define LONG_SHARE 5e-4f

#define PI 3.14159265f

typedef struct builder {
  yw_allocator mem;
  YW_LIST(yw_vec3) points;
  YW_LIST(int32_t) corners;
  float inset;  // m, in the scale of the world
  float size;   // m, likewise: edges of what is not a primitive; 0: by its own size
  bool shown;   // for pictures: faces do not share vertices at sharp edges
  yw_status status;
} builder;

// Where the axes of a part are.
typedef struct placing {
  yw_mat3 axes;
  yw_vec3 origin;
  float scale;
} placing;

static yw_vec3 put(const placing* at, yw_vec3 p) {
  return yw_add(at->origin, yw_scale(yw_mul(at->axes, p), at->scale));
}

static int32_t add_point(builder* b, const placing* at, yw_vec3 p) {
  if (!YW_LIST_RESERVE(&b->mem, &b->points, 1)) b->status = YW_ERR_MEMORY;
  if (b->status < 0) return 0;
  b->points.items[b->points.count] = put(at, p);
  return b->points.count++;
}

static bool coincide(const builder* b, int32_t i, int32_t j) {
  yw_vec3 p = b->points.items[i], q = b->points.items[j];
  return p.x == q.x && p.y == q.y && p.z == q.z;
}

static void add_triangle(builder* b, int32_t i, int32_t j, int32_t k) {
  if (b->status < 0) return;
  // Boxes may have no extent between their rounded edges.
  if (coincide(b, i, j) || coincide(b, j, k) || coincide(b, k, i)) return;
  if (!YW_LIST_RESERVE(&b->mem, &b->corners, 3)) b->status = YW_ERR_MEMORY;
  if (b->status < 0) return;
  int32_t* at = b->corners.items + b->corners.count;
  at[0] = i, at[1] = j, at[2] = k;
  b->corners.count += 3;
}

// Primitives --------------------------------------------------------------------------------------

static void add_quad(builder* b, int32_t p, int32_t q, int32_t r, int32_t s) {
  add_triangle(b, p, q, r);
  add_triangle(b, p, r, s);
}

static void add_box(builder* b, const placing* at, yw_vec3 half) {
  static const int8_t sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  int32_t v[8];
  for (int side = 0; side < 6; ++side) {
    for (int k = 0; k < 8 && (side == 0 || b->shown); ++k) {
      bool used = !b->shown || memchr(sides[side], k, 4) != NULL;
      if (!used) continue;
      v[k] = add_point(
          b, at,
          yw_v3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z));
    }
    const int8_t* s = sides[side];
    add_quad(b, v[s[0]], v[s[1]], v[s[2]], v[s[3]]);
  }
}

// A ball whose octants are moved apart. Rows from pole to pole and columns around y are there twice
// where octants meet: what lies between them are cylinders and faces.
enum { ROUND_ROWS = 2 * CORNER, ROUND_COLUMNS = 4 * CORNER };

static yw_vec3 round_box_point(yw_vec3 inner, float radius, int row, int column) {
  int quarter = column / CORNER;
  bool top = row >= CORNER, pole = row == 0 || row == ROUND_ROWS - 1;
  float rise = 0.5f * PI * (float)(row - top) / (float)(CORNER - 1) - 0.5f * PI;
  float turn = 0.5f * PI * (float)(column - quarter) / (float)(CORNER - 1);
  float across = pole ? 0.0f : yw_cosf(rise);
  yw_vec3 way = yw_v3(across * yw_cosf(turn), yw_sinf(rise), across * yw_sinf(turn));
  yw_vec3 corner = yw_v3(quarter == 0 || quarter == 3 ? inner.x : -inner.x,
                         top ? inner.y : -inner.y, quarter < 2 ? inner.z : -inner.z);
  return yw_mad(corner, radius, way);
}

// Number of a point after the first: at the poles, a quarter has only one.
static int32_t round_box_index(int row, int column) {
  column %= ROUND_COLUMNS;
  if (row == 0) return column / CORNER;
  int32_t before = 4 + (row - 1) * ROUND_COLUMNS;
  return before + (row == ROUND_ROWS - 1 ? column / CORNER : column);
}

static void add_round_box(builder* b, const placing* at, yw_vec3 inner, float radius) {
  int32_t first = b->points.count;
  for (int row = 0; row < ROUND_ROWS; ++row) {
    int step = row == 0 || row == ROUND_ROWS - 1 ? CORNER : 1;
    for (int column = 0; column < ROUND_COLUMNS; column += step) {
      add_point(b, at, round_box_point(inner, radius, row, column));
    }
  }
  for (int row = 0; row + 1 < ROUND_ROWS; ++row) {
    for (int column = 0; column < ROUND_COLUMNS; ++column) {
      add_quad(b, first + round_box_index(row, column), first + round_box_index(row + 1, column),
               first + round_box_index(row + 1, column + 1),
               first + round_box_index(row, column + 1));
    }
  }
  // The faces at the poles.
  int32_t last = first + round_box_index(ROUND_ROWS - 1, 0);
  add_quad(b, first, first + 1, first + 2, first + 3);
  add_quad(b, last + 3, last + 2, last + 1, last);
}

static int32_t sides_of(const builder* b) { return b->shown ? SHOWN_SIDES : SIDES; }

static void add_ring(builder* b, const placing* at, float ring, float tube) {
  int32_t first = b->points.count, sides = sides_of(b), rows = sides / 2;
  for (int k = 0; k < sides; ++k) {
    float turn = 2.0f * PI * (float)k / (float)sides;
    for (int32_t i = 0; i < rows; ++i) {
      float angle = 2.0f * PI * (float)i / (float)rows, r = ring + tube * yw_cosf(angle);
      add_point(b, at, yw_v3(r * yw_cosf(turn), tube * yw_sinf(angle), r * yw_sinf(turn)));
    }
  }
  for (int k = 0; k < sides; ++k) {
    int32_t here = first + k * rows, there = first + (k + 1) % sides * rows;
    for (int32_t i = 0; i < rows; ++i) {
      int32_t up = (i + 1) % rows;
      add_quad(b, here + i, here + up, there + up, there + i);
    }
  }
}

// A profile of (distance from the axis, y), from the bottom to the top, turned about y.
static void add_turned(builder* b, const placing* at, const float (*profile)[2], int count) {
  int32_t below[SHOWN_SIDES], above[SHOWN_SIDES];
  int sides = sides_of(b);
  for (int i = 0; i < count; ++i) {
    bool tip = !(profile[i][0] > 0.0f);
    for (int k = 0; k < sides; ++k) {
      float angle = 2.0f * PI * (float)k / (float)sides, r = profile[i][0];
      yw_vec3 p = yw_v3(r * yw_cosf(angle), profile[i][1], r * yw_sinf(angle));
      above[k] = tip && k > 0 ? above[0] : add_point(b, at, tip ? yw_v3(0, p.y, 0) : p);
    }
    for (int k = 0; k < sides && i > 0; ++k) {
      int32_t p = below[k], q = below[(k + 1) % sides], r = above[k], s = above[(k + 1) % sides];
      if (p != q) add_triangle(b, p, r, q);
      if (r != s) add_triangle(b, q, r, s);
    }
    memcpy(below, above, sizeof below);
  }
}

static void add_ball(builder* b, const placing* at, float radius, float half_height) {
  float profile[2 * ARC][2];
  int count = 0;
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < ARC; ++i) {
      // The middle belongs to both halves, and is one circle in a ball.
      int step = half * (ARC - 1) + i;
      if (half && i == 0 && half_height == 0.0f) continue;
      float angle = PI * (0.5f * (float)step / (float)(ARC - 1) - 0.5f);
      bool tip = step == 0 || step == 2 * (ARC - 1);
      profile[count][0] = tip ? 0.0f : radius * yw_cosf(angle);
      profile[count++][1] = radius * yw_sinf(angle) + (half ? half_height : -half_height);
    }
  }
  add_turned(b, at, (const float(*)[2])profile, count);
}

static void add_frustum(builder* b, const placing* at, float bottom, float top, float half) {
  const float profile[4][2] = {{0, -half}, {bottom, -half}, {top, half}, {0, half}};
  int first = bottom > 0.0f ? 0 : 1, end = top > 0.0f ? 4 : 3;
  int rows = b->shown ? 2 : end - first;
  for (int row = first; row + rows <= end; ++row) add_turned(b, at, profile + row, rows);
}

static void add_pill(builder* b, const placing* at, const yw_shape_pill* pill, float inset) {
  float length = yw_length(pill->ab);
  yw_vec3 axis = length > 0.0f ? yw_scale(pill->ab, 1.0f / length) : yw_v3(0, 1, 0);
  yw_vec3 u = pill->side, v = yw_cross(u, axis);
  yw_mat3 own = {u, axis, v};
  yw_vec3 middle = yw_mad(pill->a, 0.5f, pill->ab);
  placing turned = {yw_mat3_mul(at->axes, own), put(at, middle), at->scale};
  add_ball(b, &turned, pill->radius - inset, 0.5f * length);
}

// Others ------------------------------------------------------------------------------------------

static void add_from_lattice(builder* b, const placing* at, const yw_shape* shape, float inset) {
  yw_aabb box;
  yw_tri_mesh mesh = {0};
  yw_error ignored = {0};
  if (!yw_shape_bounds(shape, &box) || !(box.lower.x < box.upper.x)) return;
  yw_vec3 side = yw_sub(box.upper, box.lower);
  float longest = fmaxf(side.x, fmaxf(side.y, side.z));
  float size = b->size > 0.0f ? b->size / at->scale : longest / CELLS;
  yw_status status = yw_shape_surface(shape, &b->mem, size, &mesh, &ignored);
  // What has no surface at this size is met by vertices alone.
  if (status == YW_ERR_MEMORY) b->status = status;
  int32_t first = b->points.count;
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3 p = mesh.positions[i], normal;
    for (int k = 0; k < SETTLE_STEPS && inset > 0.0f; ++k) {
      float distance = yw_shape_distance_normal(shape, p, &normal);
      p = yw_mad(p, -(distance + inset), normal);
    }
    add_point(b, at, p);
  }
  for (int32_t i = 0; i < mesh.num_triangles; ++i) {
    const int32_t* t = mesh.triangles + 3 * (size_t)i;
    add_triangle(b, first + t[0], first + t[1], first + t[2]);
  }
  yw_tri_mesh_free(&mesh);
}

static bool is_plain_union(const yw_shape* shape) {
  return shape->kind == YW_SHAPE_UNION && shape->as.group.smooth == 0.0f;
}

static void add_shape(builder* b, const placing* at, const yw_shape* shape) {
  float inset = b->inset / at->scale;
  const yw_shape_frustum* f = &shape->as.frustum;
  switch (shape->kind) {
    case YW_SHAPE_SPHERE: {
      placing moved = {at->axes, put(at, shape->as.ball.center), at->scale};
      add_ball(b, &moved, shape->as.ball.radius - inset, 0.0f);
      return;
    }
    case YW_SHAPE_BOX: {
      yw_vec3 inner = shape->as.brick.inner;
      float radius = shape->as.brick.radius - inset;
      if (radius > 0.0f) {
        add_round_box(b, at, inner, radius);
      } else {
        add_box(b, at, yw_add(inner, yw_v3(radius, radius, radius)));
      }
      return;
    }
    case YW_SHAPE_CAPSULE:
      add_pill(b, at, &shape->as.pill, inset);
      return;
    case YW_SHAPE_CYLINDER:
      add_frustum(b, at, shape->as.can.radius - inset, shape->as.can.radius - inset,
                  shape->as.can.half_height - inset);
      return;
    case YW_SHAPE_CONE:
      add_frustum(b, at, fmaxf(0.0f, f->bottom - inset / f->normal_r),
                  fmaxf(0.0f, f->top - inset / f->normal_r), f->half_height - inset);
      return;
    case YW_SHAPE_TORUS:
      if (shape->as.ring.spike > 0.0f) break;
      add_ring(b, at, shape->as.ring.ring, shape->as.ring.tube - inset);
      return;
    case YW_SHAPE_TRANSFORM: {
      const yw_shape_placed* p = &shape->as.placed;
      placing inner = {yw_mat3_mul(at->axes, p->rotation), put(at, p->position),
                       at->scale * p->scale};
      add_shape(b, &inner, p->child);
      return;
    }
    default:
      break;
  }
  if (!is_plain_union(shape)) {
    add_from_lattice(b, at, shape, inset);
    return;
  }
  for (int32_t i = 0; i < shape->as.group.count; ++i) add_shape(b, at, shape->as.group.children[i]);
}

static const placing in_place = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}, 1.0f};

// Half of the least extent, as far as it is known.
static float thinnest(const yw_shape* shape) {
  yw_vec3 inner = shape->as.brick.inner;
  switch (shape->kind) {
    case YW_SHAPE_SPHERE:
      return shape->as.ball.radius;
    case YW_SHAPE_CAPSULE:
      return shape->as.pill.radius;
    case YW_SHAPE_BOX:
      return fminf(inner.x, fminf(inner.y, inner.z)) + shape->as.brick.radius;
    case YW_SHAPE_CYLINDER:
      return fminf(shape->as.can.radius, shape->as.can.half_height);
    case YW_SHAPE_CONE:
      return fminf(fmaxf(shape->as.frustum.bottom, shape->as.frustum.top),
                   shape->as.frustum.half_height);
    case YW_SHAPE_TORUS:
      return shape->as.ring.tube;
    case YW_SHAPE_TRANSFORM:
      return shape->as.placed.scale * thinnest(shape->as.placed.child);
    default:
      break;
  }
  if (is_plain_union(shape)) {
    float least = INFINITY;
    for (int32_t i = 0; i < shape->as.group.count; ++i) {
      least = fminf(least, thinnest(shape->as.group.children[i]));
    }
    return least;
  }
  yw_vec3 side = yw_sub(shape->bounds.upper, shape->bounds.lower);
  return 0.5f * fminf(side.x, fminf(side.y, side.z));
}

// Moves what was built into a mesh.
static yw_status finish(builder* b, const yw_allocator* mem, yw_tri_mesh* out) {
  if (b->status >= 0 && b->corners.count > 0) {
    b->status = yw_tri_mesh_create(mem, b->points.count, b->corners.count / 3, out);
  }
  if (b->status >= 0 && b->corners.count > 0) {
    memcpy(out->positions, b->points.items, (size_t)b->points.count * sizeof *out->positions);
    memcpy(out->triangles, b->corners.items, (size_t)b->corners.count * sizeof *out->triangles);
  }
  YW_LIST_FREE(&b->mem, &b->points);
  YW_LIST_FREE(&b->mem, &b->corners);
  return b->status;
}

yw_status yw_shape_triangles(const yw_shape* shape, const yw_allocator* mem, yw_tri_mesh* out,
                             float* inset) {
  *out = (yw_tri_mesh){.mem = yw_mem_or_default(mem)};
  yw_aabb box;
  *inset = 0.0f;
  if (!yw_shape_bounds(shape, &box) || !(box.lower.x < box.upper.x)) return YW_OK;
  float longest = yw_distance(box.lower, box.upper);
  builder b = {.mem = yw_mem_or_default(mem)};
  b.inset = *inset = fminf(THIN_SHARE * thinnest(shape), LONG_SHARE * longest);
  add_shape(&b, &in_place, shape);
  return finish(&b, mem, out);
}

yw_status yw_shape_tessellate(const yw_shape* shape, const yw_allocator* mem, float size,
                              yw_tri_mesh* out, yw_error* error) {
  yw_aabb box;
  yw_error_clear(error);
  if (!shape || !out || !(size > 0.0f) || !yw_shape_bounds(shape, &box)) {
    return yw_shape_surface(shape, mem, size, out, error);  // says what is wrong
  }
  *out = (yw_tri_mesh){.mem = yw_mem_or_default(mem)};
  builder b = {.mem = yw_mem_or_default(mem), .size = size, .shown = true};
  add_shape(&b, &in_place, shape);
  bool empty = b.status >= 0 && b.corners.count == 0;
  if (finish(&b, mem, out) < 0) return yw_fail_memory(error, "the surface of a shape");
  return empty ? yw_shape_surface(shape, mem, size, out, error) : YW_OK;
}
