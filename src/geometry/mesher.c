// SPDX-License-Identifier: MIT
// Checks, limits and messages of the mesher.
#include "geometry/mesher.h"

#include "geometry/matter.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define DEFAULT_MAX_VERTICES 4000000
#define DEFAULT_MAX_TETS 30000
#define DEFAULT_CELLS 12.0  // along the longest side

// Positions are single precision: in a lattice finer than this fraction of the largest coordinate,
// rounding would affect the angles.
#define FINEST_SPACING 2e-5

yw_mesher_def yw_default_mesher_def(void) {
  return (yw_mesher_def){
      .size = 0.0f, .max_vertices = DEFAULT_MAX_VERTICES, .max_tets = DEFAULT_MAX_TETS, .bulk = 1};
}

// Two nodes per cell inside, plus cuts and warped nodes at the surface (counted on a sphere, a box
// and a torus).
static double estimate_vertices(const yw_matter* shape, double spacing, yw_stuff_part part) {
  double cells = shape->volume / (spacing * spacing * spacing);
  double squares = shape->area / (spacing * spacing);
  return part == YW_STUFF_SKIN ? 2.0 * squares : 2.0 * cells + 1.5 * squares;
}

yw_status yw_mesher_check(const yw_shape* shape, float size, int32_t max_vertices, yw_aabb* bounds,
                          const char* what, yw_error* error) {
  if (shape == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no shape to make %s of", what);
  if (!(size >= 0.0f) || !isfinite(size)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of %s is %g m, but must be above 0, or 0 for a size that fits the shape",
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

static yw_status refuse_vertices(const yw_mesher_job* job, double estimate, double spacing,
                                 yw_error* error) {
  double enough = 1.05 * spacing;
  while (estimate_vertices(job->matter, enough, job->part) > 0.7 * job->max_vertices) {
    enough *= 1.05;
  }
  return yw_fail(
      error, YW_ERR_LIMIT,
      "%s of size %g m would have about %.2g vertices, more than the limit of %d; take a "
      "size of at least %.3g m",
      job->what, spacing, estimate, job->max_vertices, enough);
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

// Fills the mesh with cells of one size or of several.
static yw_status stuff(const yw_mesher_job* job, double spacing, yw_raw_tets* out) {
  // A full block has 128 vertices, one at the surface has fewer: this leaves room for thin shapes.
  int64_t max_blocks = (int64_t)job->max_vertices / 16 + 1000;
  if (max_blocks > INT32_MAX / YW_BCC_NODES) max_blocks = INT32_MAX / YW_BCC_NODES;
  if (job->sizes != NULL && job->sizes->finest > 0) {
    // Two nodes per cell, and cells outside.
    int64_t max_cells = 4 * (int64_t)job->max_vertices + 10000;
    if (max_cells > INT32_MAX / 64) max_cells = INT32_MAX / 64;
    yw_graded graded;
    yw_status status = yw_graded_create(job->mem, job->shape, job->bounds, job->sizes,
                                        (int32_t)max_cells, job->tasks, &graded);
    if (status != YW_OK) return status;
    status = yw_graded_tets(&graded, job->max_vertices, &out->mesh, &out->on_surface, &out->sizes);
    yw_graded_free(&graded);
    return status;
  }
  // Surfaces get their edges from the normals of the shape (surface_features.h).
  bool align = job->part == YW_STUFF_ALL;
  yw_stuffing stuffing;
  yw_status status = yw_stuffing_create(job->mem, job->shape, job->bounds, spacing, align,
                                        (int32_t)max_blocks, &stuffing);
  if (status != YW_OK) return status;
  status = yw_stuffing_tets(&stuffing, job->part, job->max_vertices, &out->mesh, &out->on_surface);
  yw_stuffing_free(&stuffing);
  return status;
}

void yw_raw_tets_free(yw_raw_tets* raw) {
  yw_mem_free(&raw->mesh.mem, raw->on_surface);
  yw_mem_free(&raw->mesh.mem, raw->sizes);
  yw_tet_mesh_free(&raw->mesh);
  *raw = (yw_raw_tets){0};
}

yw_status yw_mesher_stuff(const yw_mesher_job* job, double spacing, yw_raw_tets* out,
                          yw_error* error) {
  *out = (yw_raw_tets){0};
  // Refuse before allocating anything.
  double estimate = estimate_vertices(job->matter, spacing, job->part);
  if (estimate > 1.3 * job->max_vertices) return refuse_vertices(job, estimate, spacing, error);
  yw_status status = check_precision(job->bounds, spacing, job->what, error);
  if (status != YW_OK) return status;
  status = stuff(job, spacing, out);
  if (status == YW_ERR_LIMIT) {
    // The samples missed thin parts, so the estimate was too low.
    return refuse_vertices(job, fmax(estimate, 1.1 * job->max_vertices), spacing, error);
  }
  if (status != YW_OK) return yw_fail_memory(error, job->what);
  if (out->mesh.num_tets > 0) return YW_OK;
  yw_raw_tets_free(out);
  yw_vec3 side = yw_sub(job->bounds.upper, job->bounds.lower);
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "no lattice node lies inside the shape (%g x %g x %g m): it is thinner than the "
                 "size of %g m; take a size of at most half the thickness",
                 (double)side.x, (double)side.y, (double)side.z, spacing);
}

yw_status yw_mesher_run(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_stuff_part part, const char* what, yw_raw_tets* out, double* out_spacing,
                        yw_error* error) {
  yw_error_clear(error);
  *out = (yw_raw_tets){0};
  yw_matter matter;
  yw_mesher_job job = {.shape = shape,
                       .mem = mem,
                       .matter = &matter,
                       .max_vertices = def->max_vertices,
                       .part = part,
                       .what = what};
  yw_status status = yw_mesher_check(shape, def->size, def->max_vertices, &job.bounds, what, error);
  if (status != YW_OK) return status;
  status = yw_matter_create(mem, shape, job.bounds, YW_MATTER_QUICK, NULL, &matter);
  if (status != YW_OK) return yw_fail_memory(error, what);
  double spacing = (double)def->size;
  if (def->size <= 0.0f) spacing = matter.longest / DEFAULT_CELLS;
  status = yw_mesher_stuff(&job, spacing, out, error);
  yw_matter_free(&matter);
  *out_spacing = spacing;
  return status;
}
