// SPDX-License-Identifier: MIT
// A shape sampled on a grid: one memory lookup and a trilinear interpolation per query, however
// complex the shape.
//
// Outside the grid, with c the nearest point of the grid's box and d(c) the distance there, the
// value is sqrt(|p - c|^2 + d(c)^2). The solid lies in the box and a box is convex, so the angle at
// c between p and any point of the solid is at least 90 degrees: the value never exceeds the true
// distance.
#include "geometry/shape.h"
#include "geometry/shape_node.h"
#include "geometry/shape_primitives.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

#define MAX_SAMPLES (512.0 * 1024.0 * 1024.0)
/// Empty cells around the solid: the surface is never in the outermost cells, and the value is
/// positive everywhere on the boundary of the box.
#define MARGIN_CELLS 2

struct yw_distance_grid {
  yw_vec3 origin;
  float spacing, inv_spacing;
  int32_t size[3];  ///< samples along x, y, z; at least 2
  yw_vec3 extent;   ///< (size - 1) * spacing
  yw_aabb solid;    ///< bounding box of the sampled solid
  float* samples;   ///< x runs fastest
};

// Queries

typedef struct cell {
  float v[8];  ///< corners, x fastest
  float x, y, z;
} cell;

static inline void split_coordinate(float u, int32_t size, int32_t* index, float* fraction) {
  int32_t i = (int32_t)u;
  i = i > size - 2 ? size - 2 : i;
  *index = i;
  *fraction = u - (float)i;
}

// q is relative to the origin and inside the box.
static inline cell cell_at(const yw_distance_grid* grid, yw_vec3 q) {
  int32_t i, j, k;
  cell c;
  split_coordinate(q.x * grid->inv_spacing, grid->size[0], &i, &c.x);
  split_coordinate(q.y * grid->inv_spacing, grid->size[1], &j, &c.y);
  split_coordinate(q.z * grid->inv_spacing, grid->size[2], &k, &c.z);
  size_t row = (size_t)grid->size[0], layer = row * (size_t)grid->size[1];
  const float* s = grid->samples + (size_t)i + row * (size_t)j + layer * (size_t)k;
  c.v[0] = s[0], c.v[1] = s[1], c.v[2] = s[row], c.v[3] = s[row + 1];
  s += layer;
  c.v[4] = s[0], c.v[5] = s[1], c.v[6] = s[row], c.v[7] = s[row + 1];
  return c;
}

static inline float mix(float a, float b, float t) { return a + t * (b - a); }

static inline float cell_value(const cell* c) {
  float low = mix(mix(c->v[0], c->v[1], c->x), mix(c->v[2], c->v[3], c->x), c->y);
  float high = mix(mix(c->v[4], c->v[5], c->x), mix(c->v[6], c->v[7], c->x), c->y);
  return mix(low, high, c->z);
}

static inline yw_vec3 cell_gradient(const cell* c) {
  float y0z0 = mix(c->v[0], c->v[1], c->x), y1z0 = mix(c->v[2], c->v[3], c->x);
  float y0z1 = mix(c->v[4], c->v[5], c->x), y1z1 = mix(c->v[6], c->v[7], c->x);
  float z0 = mix(y0z0, y1z0, c->y), z1 = mix(y0z1, y1z1, c->y);
  float dx = mix(mix(c->v[1] - c->v[0], c->v[3] - c->v[2], c->y),
                 mix(c->v[5] - c->v[4], c->v[7] - c->v[6], c->y), c->z);
  return yw_v3(dx, mix(y1z0 - y0z0, y1z1 - y0z1, c->z), z1 - z0);
}

// The nearest point of the box; NaN goes to its lower corner.
static inline yw_vec3 clamp_to_box(const yw_distance_grid* grid, yw_vec3 q) {
  q = yw_v3(q.x > 0.0f ? q.x : 0.0f, q.y > 0.0f ? q.y : 0.0f, q.z > 0.0f ? q.z : 0.0f);
  return yw_min3(q, grid->extent);
}

float yw_distance_grid_distance(const yw_distance_grid* grid, yw_vec3 p) {
  yw_vec3 q = yw_sub(p, grid->origin), inside = clamp_to_box(grid, q);
  cell c = cell_at(grid, inside);
  float value = cell_value(&c), outside2 = yw_length2(yw_sub(q, inside));
  return outside2 == 0.0f ? value : sqrtf(outside2 + value * value);
}

float yw_distance_grid_distance_normal(const yw_distance_grid* grid, yw_vec3 p, yw_vec3* normal) {
  yw_vec3 q = yw_sub(p, grid->origin), inside = clamp_to_box(grid, q);
  cell c = cell_at(grid, inside);
  float value = cell_value(&c), outside2 = yw_length2(yw_sub(q, inside));
  yw_vec3 g = yw_scale(cell_gradient(&c), grid->inv_spacing);
  if (outside2 == 0.0f) {
    *normal = yw_unit_or(g, yw_v3(0, 1, 0));
    return value;
  }
  // Along a clamped axis the nearest point of the box does not move.
  yw_vec3 out = yw_sub(q, inside);
  yw_vec3 slide =
      yw_v3(out.x == 0.0f ? g.x : 0.0f, out.y == 0.0f ? g.y : 0.0f, out.z == 0.0f ? g.z : 0.0f);
  *normal = yw_unit_or(yw_mad(out, value, slide), yw_unit_or(out, yw_v3(0, 1, 0)));
  return sqrtf(outside2 + value * value);
}

yw_aabb yw_distance_grid_solid_box(const yw_distance_grid* grid) { return grid->solid; }

uint64_t yw_distance_grid_hash(const yw_distance_grid* grid, uint64_t seed) {
  uint64_t hash = yw_hash_bytes(seed, &grid->origin, sizeof grid->origin);
  hash = yw_hash_bytes(hash, &grid->spacing, sizeof grid->spacing);
  hash = yw_hash_bytes(hash, grid->size, sizeof grid->size);
  size_t samples = (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
  return yw_hash_bytes(hash, grid->samples, samples * sizeof *grid->samples);
}

void yw_distance_grid_free(const yw_allocator* mem, yw_distance_grid* grid) {
  if (!grid) return;
  yw_mem_free(mem, grid->samples);
  yw_mem_free(mem, grid);
}

// Sampling

// Sets size and origin; the box gets MARGIN_CELLS cells on every side.
static yw_status lay_out(const yw_shape* shape, float spacing, yw_distance_grid* grid,
                         yw_error* error) {
  yw_aabb box;
  if (!(isfinite(spacing) && spacing > 0.0f && isfinite(1.0f / spacing)))
    return yw_fail(error, YW_ERR_INVALID, "the spacing of a sampled shape is %g m, but must be > 0",
                   (double)spacing);
  if (!yw_shape_bounds(shape, &box))
    return yw_fail(
        error, YW_ERR_GEOMETRY,
        "a shape without bounds (such as a plane) cannot be sampled; intersect it with a "
        "box first");
  if (box.lower.x > box.upper.x)
    return yw_fail(error, YW_ERR_GEOMETRY, "the shape to be sampled is empty");
  double h = (double)spacing;
  const double size[3] = {(double)box.upper.x - (double)box.lower.x,
                          (double)box.upper.y - (double)box.lower.y,
                          (double)box.upper.z - (double)box.lower.z};
  double counts[3], total = 1.0;
  for (int k = 0; k < 3; ++k) total *= counts[k] = ceil(size[k] / h) + 1.0 + 2.0 * MARGIN_CELLS;
  if (!(total <= MAX_SAMPLES))
    return yw_fail(error, YW_ERR_LIMIT,
                   "sampling a shape of %.3g x %.3g x %.3g m every %.3g m takes %.3g samples (%.3g "
                   "GB), more than the limit of %.0f; use a larger spacing",
                   size[0], size[1], size[2], h, total, total * 4e-9, MAX_SAMPLES);
  const float lower[3] = {box.lower.x, box.lower.y, box.lower.z};
  float origin[3], extent[3];
  for (int k = 0; k < 3; ++k) {
    grid->size[k] = (int32_t)counts[k];
    // The slack from rounding up is split between both sides.
    double slack = (counts[k] - 1.0) * h - size[k];
    origin[k] = (float)((double)lower[k] - 0.5 * slack);
    extent[k] = (float)(grid->size[k] - 1) * spacing;
  }
  grid->origin = yw_v3(origin[0], origin[1], origin[2]);
  grid->extent = yw_v3(extent[0], extent[1], extent[2]);
  grid->spacing = spacing;
  grid->inv_spacing = 1.0f / spacing;
  // A cell can be partly inside only if one of its corners is.
  grid->solid = yw_aabb_pad(box, spacing);
  return YW_OK;
}

// Row by row, because a mesh shape is fastest if consecutive points of a batch are close in space.
static void sample(const yw_shape* shape, yw_distance_grid* grid, yw_vec4* points) {
  int32_t nx = grid->size[0], ny = grid->size[1], nz = grid->size[2];
  float h = grid->spacing;
  for (int32_t k = 0; k < nz; ++k)
    for (int32_t j = 0; j < ny; ++j) {
      for (int32_t i = 0; i < nx; ++i)
        points[i] = yw_v4(yw_mad(grid->origin, h, yw_v3((float)i, (float)j, (float)k)));
      float* row = grid->samples + (size_t)nx * ((size_t)j + (size_t)ny * (size_t)k);
      yw_shape_distance_many(shape, nx, points, row);
    }
}

static yw_status build(const yw_allocator* mem, const yw_shape* shape, yw_distance_grid* grid,
                       yw_error* error) {
  size_t total = (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
  yw_vec4* points = YW_NEW_ARRAY(mem, yw_vec4, grid->size[0]);
  grid->samples = YW_NEW_ARRAY(mem, float, total);
  bool ok = points && grid->samples;
  if (ok) sample(shape, grid, points);
  yw_mem_free(mem, points);
  return ok ? YW_OK : yw_fail_memory(error, "the samples of a shape");
}

yw_status yw_shape_sampled(const yw_allocator* mem, yw_shape* shape, float spacing, yw_shape** out,
                           yw_error* error) {
  *out = NULL;
  yw_error_clear(error);
  if (!shape) return yw_fail(error, YW_ERR_INVALID, "there is no shape to sample");
  yw_distance_grid layout = {.samples = NULL};
  yw_status status = lay_out(shape, spacing, &layout, error);
  if (status < 0) return status;
  yw_shape* sampled = yw_shape_new(mem, YW_SHAPE_SAMPLED, 0);
  if (!sampled) return yw_fail_memory(error, "a sampled shape");
  yw_distance_grid* grid = sampled->as.grid = YW_NEW(mem, yw_distance_grid);
  status = grid ? YW_OK : yw_fail_memory(error, "a sampled shape");
  if (grid) {
    *grid = layout;
    status = build(mem, shape, grid, error);
  }
  if (status < 0) {
    yw_shape_release(sampled);
    return status;
  }
  yw_shape_set_bounds(sampled);
  *out = sampled;
  return YW_OK;
}
