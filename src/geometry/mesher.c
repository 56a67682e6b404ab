// SPDX-License-Identifier: MIT
// Entry points of the tet mesher: checks, limits, messages.
#include "geometry/mesher.h"

#include "geometry/shape.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define DEFAULT_MAX_VERTICES 4000000
#define DEFAULT_CELLS 12  // along the longest side

// Positions are single precision: in a lattice finer than this fraction of the largest coordinate,
// rounding would affect the angles.
#define FINEST_SPACING 2e-5

// Samples per side for the estimate of the volume.
#define ESTIMATE_SAMPLES 16

yw_mesher_def yw_default_mesher_def(void) {
  return (yw_mesher_def){.size = 0.0f, .max_vertices = DEFAULT_MAX_VERTICES};
}

// Estimates volume and area from a few thousand samples. A cell's share of the volume depends on
// the depth of its centre; it counts towards the area if it is in the outermost layer (there may be
// no samples outside a flat side).
yw_extent yw_shape_extent(const yw_shape* shape, yw_aabb bounds) {
  yw_dvec3 lower = yw_d3(bounds.lower), size = yw_dsub(yw_d3(bounds.upper), lower);
  yw_dvec3 step = yw_dscale(size, 1.0 / ESTIMATE_SAMPLES);
  double width = fmin(step.x, fmin(step.y, step.z)), filled = 0.0, layer = 0.0;
  for (int k = 0; k < ESTIMATE_SAMPLES; ++k) {
    yw_vec4 points[ESTIMATE_SAMPLES * ESTIMATE_SAMPLES];
    float distance[ESTIMATE_SAMPLES * ESTIMATE_SAMPLES];
    for (int n = 0; n < ESTIMATE_SAMPLES * ESTIMATE_SAMPLES; ++n) {
      int i = n % ESTIMATE_SAMPLES, j = n / ESTIMATE_SAMPLES;
      yw_dvec3 p = {lower.x + (i + 0.5) * step.x, lower.y + (j + 0.5) * step.y,
                    lower.z + (k + 0.5) * step.z};
      points[n] = yw_v4(yw_f3(p));
    }
    yw_shape_distance_many(shape, ESTIMATE_SAMPLES * ESTIMATE_SAMPLES, points, distance);
    for (int n = 0; n < ESTIMATE_SAMPLES * ESTIMATE_SAMPLES; ++n) {
      double share = 0.5 - (double)distance[n] / width;
      layer += share >= 0.5 && share < 1.5;
      filled += share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    }
  }
  double cell = step.x * step.y * step.z;
  return (yw_extent){filled * cell, layer * cell / width};
}

// Two nodes per cell inside, plus cuts and warped nodes at the surface (counted on a sphere, a box
// and a torus).
static double estimate_vertices(yw_extent shape, double spacing, yw_stuff_part part) {
  double cells = shape.volume / (spacing * spacing * spacing);
  double squares = shape.area / (spacing * spacing);
  return part == YW_STUFF_SKIN ? 2.0 * squares : 2.0 * cells + 1.5 * squares;
}

static yw_status check_request(const yw_shape* shape, float size, int32_t max_vertices,
                               yw_aabb* bounds, const char* what, yw_error* error) {
  if (shape == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no shape to make %s of", what);
  if (!(size >= 0.0f) || !isfinite(size)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of %s is %g m, but must be above 0, or 0 for a 12th of the longest side",
                   what, (double)size);
  }
  if (max_vertices < 1) {
    return yw_fail(error, YW_ERR_INVALID, "max_vertices is %d, but must be at least 1",
                   max_vertices);
  }
  if (!yw_shape_bounds(shape, bounds)) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "the shape has no end (a plane?), so there are no %s of it; intersect it with a "
                   "box",
                   what);
  }
  yw_vec3 side = yw_sub(bounds->upper, bounds->lower);
  if (!yw_is_finite3(bounds->lower) || !yw_is_finite3(bounds->upper) || !yw_is_finite3(side) ||
      !(side.x > 0.0f && side.y > 0.0f && side.z > 0.0f)) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "the shape is empty: its box has the sides %g x %g x %g m", (double)side.x,
                   (double)side.y, (double)side.z);
  }
  return YW_OK;
}

static yw_status refuse_vertices(yw_extent shape, double estimate, double spacing,
                                 int32_t max_vertices, yw_stuff_part part, const char* what,
                                 yw_error* error) {
  double enough = 1.05 * spacing;
  while (estimate_vertices(shape, enough, part) > 0.85 * max_vertices) enough *= 1.05;
  return yw_fail(
      error, YW_ERR_LIMIT,
      "%s of size %g m would have about %.2g vertices, more than the limit of %d; take a "
      "size of at least %.3g m",
      what, spacing, estimate, max_vertices, enough);
}

// Refuses a lattice that is too fine for single precision.
static yw_status check_precision(yw_aabb bounds, double spacing, const char* what,
                                 yw_error* error) {
  yw_vec3 far3 = yw_max3(yw_neg(bounds.lower), bounds.upper);
  double farthest = (double)fmaxf(far3.x, fmaxf(far3.y, far3.z));
  if (spacing > FINEST_SPACING * farthest) return YW_OK;
  return yw_fail(error, YW_ERR_LIMIT,
                 "size %g m of %s is too fine for single precision %g m away from the origin; take "
                 "a size of at least %.3g m",
                 spacing, what, farthest, 1.1 * FINEST_SPACING * farthest);
}

yw_status yw_mesher_run(const yw_shape* shape, const yw_allocator* mem, float size,
                        int32_t max_vertices, yw_stuff_part part, const char* what,
                        yw_tet_mesh* out, unsigned char** on_surface, double* out_spacing,
                        yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no place for the %s", what);
  *out = (yw_tet_mesh){0};
  yw_aabb bounds;
  yw_status status = check_request(shape, size, max_vertices, &bounds, what, error);
  if (status != YW_OK) return status;
  yw_vec3 side = yw_sub(bounds.upper, bounds.lower);
  double spacing = (double)size;
  if (size <= 0.0f) spacing = (double)fmaxf(side.x, fmaxf(side.y, side.z)) / DEFAULT_CELLS;
  // Refuse before allocating anything.
  yw_extent measured = yw_shape_extent(shape, bounds);
  double estimate = estimate_vertices(measured, spacing, part);
  if (estimate > 1.3 * max_vertices) {
    return refuse_vertices(measured, estimate, spacing, max_vertices, part, what, error);
  }
  status = check_precision(bounds, spacing, what, error);
  if (status != YW_OK) return status;

  // A full block has 128 vertices, one at the surface has fewer: this leaves room for thin shapes.
  int64_t max_blocks = (int64_t)max_vertices / 16 + 1000;
  if (max_blocks > INT32_MAX / YW_BCC_NODES) max_blocks = INT32_MAX / YW_BCC_NODES;
  yw_stuffing stuffing;
  status = yw_stuffing_create(mem, shape, bounds, spacing, (int32_t)max_blocks, &stuffing);
  if (status == YW_OK) {
    status = yw_stuffing_tets(&stuffing, part, max_vertices, out, on_surface);
    yw_stuffing_free(&stuffing);
  }
  if (status == YW_ERR_LIMIT) {
    // The samples missed thin parts, so the estimate was too low.
    estimate = fmax(estimate, 1.1 * max_vertices);
    return refuse_vertices(measured, estimate, spacing, max_vertices, part, what, error);
  }
  if (status != YW_OK) return yw_fail_memory(error, what);
  if (out->num_tets == 0) {
    yw_tet_mesh_free(out);
    if (on_surface != NULL) {
      yw_mem_free(mem, *on_surface);
      *on_surface = NULL;
    }
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "no lattice node lies inside the shape (%g x %g x %g m): it is thinner than the "
                   "size of %g m; take a size of at most half the thickness",
                   (double)side.x, (double)side.y, (double)side.z, spacing);
  }
  if (out_spacing != NULL) *out_spacing = spacing;
  return YW_OK;
}

yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_tet_mesh* out, yw_error* error) {
  yw_mesher_def settings = def != NULL ? *def : yw_default_mesher_def();
  unsigned char* on_surface = NULL;
  double spacing;
  yw_status status = yw_mesher_run(shape, mem, settings.size, settings.max_vertices, YW_STUFF_ALL,
                                   "tets", out, &on_surface, &spacing, error);
  if (status != YW_OK) return status;
  yw_mesher_improve(shape, spacing, on_surface, out);
  yw_mem_free(&out->mem, on_surface);
  return YW_OK;
}
