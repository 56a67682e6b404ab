// SPDX-License-Identifier: MIT
#include "geometry/shape_planes.h"

#include "geometry/shape_node.h"

#define MAX_FACES 4096
#define MAX_BOXES 200

typedef struct place {
  yw_dvec3 column[3];  ///< of the rotation
  yw_dvec3 position;
  double scale;
} place;

typedef struct gatherer {
  const yw_allocator* mem;
  yw_flat_faces* out;
  yw_placed_boxes* boxes;  ///< looked for instead, unless NULL
} gatherer;

static yw_dvec3 turn(const place* at, yw_dvec3 v) {
  yw_dvec3 x = yw_dscale(at->column[0], v.x);
  return yw_dmad(yw_dmad(x, v.y, at->column[1]), v.z, at->column[2]);
}

static bool add_face(const gatherer* g, const place* at, yw_dvec3 normal, double offset,
                     double area) {
  if (g->boxes != NULL || g->out->count >= MAX_FACES) return true;
  if (!YW_LIST_RESERVE(g->mem, g->out, 1)) return false;
  yw_dvec3 n = turn(at, normal);
  yw_flat_face face = {n, offset * at->scale + yw_ddot(n, at->position),
                       area * at->scale * at->scale};
  g->out->items[g->out->count++] = face;
  return true;
}

static bool add_box(const gatherer* g, const place* at, const yw_shape_brick* box) {
  if (box->radius > 0.0f) return true;
  double half[3] = {(double)box->inner.x, (double)box->inner.y, (double)box->inner.z};
  if (g->boxes != NULL && g->boxes->count < MAX_BOXES) {
    if (!YW_LIST_RESERVE(g->mem, g->boxes, 1)) return false;
    yw_placed_box placed = {.center = at->position};
    for (int k = 0; k < 3; ++k)
      placed.axis[k] = at->column[k], placed.half[k] = half[k] * at->scale;
    g->boxes->items[g->boxes->count++] = placed;
  }
  for (int n = 0; n < 6; ++n) {
    int axis = n >> 1;
    double sign = n & 1 ? 1.0 : -1.0, area = 4.0 * half[(axis + 1) % 3] * half[(axis + 2) % 3];
    yw_dvec3 normal = {axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0};
    if (!add_face(g, at, normal, half[axis], area)) return false;
  }
  return true;
}

static bool add_caps(const gatherer* g, const place* at, double half, double bottom, double top) {
  const double pi = 3.14159265358979;
  return add_face(g, at, (yw_dvec3){0.0, -1.0, 0.0}, half, pi * bottom * bottom) &&
         add_face(g, at, (yw_dvec3){0.0, 1.0, 0.0}, half, pi * top * top);
}

static place placed_in(const place* outer, const yw_shape_placed* p) {
  yw_dvec3 position = yw_dscale(yw_d3(p->position), outer->scale);
  place inner = {.position = yw_dadd(outer->position, turn(outer, position)),
                 .scale = outer->scale * (double)p->scale};
  inner.column[0] = turn(outer, yw_d3(p->rotation.cx));
  inner.column[1] = turn(outer, yw_d3(p->rotation.cy));
  inner.column[2] = turn(outer, yw_d3(p->rotation.cz));
  return inner;
}

static bool gather(const gatherer* g, const place* at, const yw_shape* shape) {
  switch (shape->kind) {
    case YW_SHAPE_BOX:
      return add_box(g, at, &shape->as.brick);
    case YW_SHAPE_CYLINDER: {
      double radius = (double)shape->as.can.radius;
      return add_caps(g, at, (double)shape->as.can.half_height, radius, radius);
    }
    case YW_SHAPE_CONE: {
      const yw_shape_frustum* cone = &shape->as.frustum;
      return add_caps(g, at, (double)cone->half_height, (double)cone->bottom, (double)cone->top);
    }
    case YW_SHAPE_PLANE: {
      const yw_shape_half_space* plane = &shape->as.half_space;
      return add_face(g, at, yw_d3(plane->normal), (double)plane->offset, 0.0);
    }
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      if (shape->as.group.smooth > 0.0f) return true;
      for (int32_t i = 0; i < shape->as.group.count; ++i) {
        if (!gather(g, at, shape->as.group.children[i])) return false;
      }
      return true;
    case YW_SHAPE_TRANSFORM: {
      place inner = placed_in(at, &shape->as.placed);
      return gather(g, &inner, shape->as.placed.child);
    }
    default:
      return true;
  }
}

static const place world = {
    {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {0.0, 0.0, 0.0}, 1.0};

bool yw_shape_flat_faces(const yw_allocator* mem, const yw_shape* shape, yw_flat_faces* out) {
  gatherer g = {mem, out, NULL};
  return gather(&g, &world, shape);
}

bool yw_shape_sharp_boxes(const yw_allocator* mem, const yw_shape* shape, yw_placed_boxes* out) {
  gatherer g = {mem, NULL, out};
  return gather(&g, &world, shape);
}
