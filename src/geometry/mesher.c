// SPDX-License-Identifier: MIT
// Entry points of the tet mesher: checks, limits, messages.
#include "geometry/mesher.h"

#include "geometry/matter.h"
#include "geometry/mesher_size.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define DEFAULT_MAX_VERTICES 4000000
#define DEFAULT_MAX_TETS 30000
#define DEFAULT_CELLS 12.0  // along the longest side
#define CELLS_ACROSS 2.0    // the thinnest part
#define VOLUME_TOLERANCE 0.012
#define MAX_ROUNDS 4

// Positions are single precision: in a lattice finer than this fraction of the largest coordinate,
// rounding would affect the angles.
#define FINEST_SPACING 2e-5

yw_mesher_def yw_default_mesher_def(void) {
  return (yw_mesher_def){
      .size = 0.0f, .max_vertices = DEFAULT_MAX_VERTICES, .max_tets = DEFAULT_MAX_TETS};
}

// Two nodes per cell inside, plus cuts and warped nodes at the surface (counted on a sphere, a box
// and a torus).
static double estimate_vertices(const yw_matter* shape, double spacing, yw_stuff_part part) {
  double cells = shape->volume / (spacing * spacing * spacing);
  double squares = shape->area / (spacing * spacing);
  return part == YW_STUFF_SKIN ? 2.0 * squares : 2.0 * cells + 1.5 * squares;
}

static yw_status check_request(const yw_shape* shape, float size, int32_t max_vertices,
                               yw_aabb* bounds, const char* what, yw_error* error) {
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

static yw_status refuse_vertices(const yw_matter* shape, double estimate, double spacing,
                                 int32_t max_vertices, yw_stuff_part part, const char* what,
                                 yw_error* error) {
  double enough = 1.05 * spacing;
  while (estimate_vertices(shape, enough, part) > 0.7 * max_vertices) enough *= 1.05;
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

// Makes the mesh of a checked request; bounds and matter are those of the shape.
static yw_status fill_shape(const yw_shape* shape, const yw_allocator* mem, yw_aabb bounds,
                            const yw_matter* matter, double spacing, int32_t max_vertices,
                            yw_stuff_part part, const char* what, yw_tet_mesh* out,
                            unsigned char** on_surface, yw_error* error) {
  // Refuse before allocating anything.
  double estimate = estimate_vertices(matter, spacing, part);
  if (estimate > 1.3 * max_vertices) {
    return refuse_vertices(matter, estimate, spacing, max_vertices, part, what, error);
  }
  yw_status status = check_precision(bounds, spacing, what, error);
  if (status != YW_OK) return status;

  // A full block has 128 vertices, one at the surface has fewer: this leaves room for thin shapes.
  int64_t max_blocks = (int64_t)max_vertices / 16 + 1000;
  if (max_blocks > INT32_MAX / YW_BCC_NODES) max_blocks = INT32_MAX / YW_BCC_NODES;
  // Surfaces get their edges from the normals of the shape (surface_features.h).
  bool align = part == YW_STUFF_ALL;
  yw_stuffing stuffing;
  status = yw_stuffing_create(mem, shape, bounds, spacing, align, (int32_t)max_blocks, &stuffing);
  if (status == YW_OK) {
    status = yw_stuffing_tets(&stuffing, part, max_vertices, out, on_surface);
    yw_stuffing_free(&stuffing);
  }
  if (status == YW_ERR_LIMIT) {
    // The samples missed thin parts, so the estimate was too low.
    estimate = fmax(estimate, 1.1 * max_vertices);
    return refuse_vertices(matter, estimate, spacing, max_vertices, part, what, error);
  }
  if (status != YW_OK) return yw_fail_memory(error, what);
  if (out->num_tets > 0) return YW_OK;
  yw_tet_mesh_free(out);
  if (on_surface != NULL) {
    yw_mem_free(mem, *on_surface);
    *on_surface = NULL;
  }
  yw_vec3 side = yw_sub(bounds.upper, bounds.lower);
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "no lattice node lies inside the shape (%g x %g x %g m): it is thinner than the "
                 "size of %g m; take a size of at most half the thickness",
                 (double)side.x, (double)side.y, (double)side.z, spacing);
}

yw_status yw_mesher_run(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_stuff_part part, const char* what, yw_tet_mesh* out,
                        unsigned char** on_surface, double* out_spacing, yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no place for the %s", what);
  *out = (yw_tet_mesh){0};
  yw_aabb bounds;
  yw_matter matter;
  yw_status status = check_request(shape, def->size, def->max_vertices, &bounds, what, error);
  if (status != YW_OK) return status;
  status = yw_matter_create(mem, shape, bounds, YW_MATTER_QUICK, &matter);
  if (status != YW_OK) return yw_fail_memory(error, what);
  double spacing = (double)def->size;
  if (def->size <= 0.0f) spacing = matter.longest / DEFAULT_CELLS;
  status = fill_shape(shape, mem, bounds, &matter, spacing, def->max_vertices, part, what, out,
                      on_surface, error);
  yw_matter_free(&matter);
  *out_spacing = spacing;
  return status;
}

// Tets --------------------------------------------------------------------------------------------

// Improves the tets and gives them the shape's sharp edges.
static yw_status finish_tets(const yw_shape* shape, double spacing, const unsigned char* on_surface,
                             yw_tet_mesh* mesh) {
  yw_tet_edit edit;
  yw_status status = yw_edit_begin(shape, spacing, mesh, on_surface, &edit);
  if (status != YW_OK) return status;
  yw_mesher_hold_creases(&edit);
  yw_mesher_improve(&edit);
  status = yw_mesher_sharpen(&edit);
  if (status == YW_OK) {
    yw_mesher_improve(&edit);
    return yw_edit_end(&edit, mesh);
  }
  yw_edit_free(&edit);
  return status;
}

static yw_status make_tets(const yw_shape* shape, const yw_allocator* mem, yw_aabb bounds,
                           const yw_matter* matter, double spacing, int32_t max_vertices,
                           yw_tet_mesh* out, yw_error* error) {
  unsigned char* on_surface = NULL;
  yw_status status = fill_shape(shape, mem, bounds, matter, spacing, max_vertices, YW_STUFF_ALL,
                                "tets", out, &on_surface, error);
  if (status != YW_OK) return status;
  status = finish_tets(shape, spacing, on_surface, out);
  yw_mem_free(&out->mem, on_surface);
  if (status == YW_OK) return YW_OK;
  yw_tet_mesh_free(out);
  return yw_fail_memory(error, "tets");
}

static double volume_of(const yw_tet_mesh* mesh) {
  double volume = 0.0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    volume += yw_tet_volume6(p) / 6.0;
  }
  return volume;
}

// A smaller size for tets that miss the volume of the shape: what is cut off curved surfaces falls
// with the square of the size. 0 if the tets are good enough, or there would be too many.
static double smaller_size(const yw_matter* matter, const yw_tet_mesh* mesh, double size,
                           double max_tets) {
  double missed = fabs(volume_of(mesh) / matter->volume - 1.0);
  if (missed < VOLUME_TOLERANCE) return 0.0;
  double smaller = size * fmax(0.6, sqrt(0.8 * VOLUME_TOLERANCE / missed));
  while (smaller < size && yw_estimate_tets(matter, smaller) > max_tets) smaller *= 1.02;
  return smaller < 0.97 * size ? smaller : 0.0;
}

// Tets of a size that fits the shape.
static yw_status make_fitting_tets(const yw_shape* shape, const yw_allocator* mem, yw_aabb bounds,
                                   const yw_mesher_def* def, yw_size_wish wish, yw_tet_mesh* out,
                                   double* size, yw_error* error) {
  yw_matter matter;
  yw_status status = yw_matter_create(mem, shape, bounds, YW_MATTER_FINE, &matter);
  if (status != YW_OK) return yw_fail_memory(error, "tets");
  double next = yw_choose_size(&matter, wish);
  for (int round = 0; next > 0.0 && round < MAX_ROUNDS; ++round) {
    yw_tet_mesh_free(out);
    *size = next;
    status = make_tets(shape, mem, bounds, &matter, next, def->max_vertices, out, error);
    next = status == YW_OK ? smaller_size(&matter, out, next, wish.max_tets) : 0.0;
  }
  yw_matter_free(&matter);
  return status;
}

yw_status yw_mesher_tets(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                         const yw_size_wish* wish, yw_tet_mesh* out, double* size,
                         yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no place for the tets");
  *out = (yw_tet_mesh){0};
  yw_mesher_def settings = def != NULL ? *def : yw_default_mesher_def();
  yw_aabb bounds;
  yw_status status =
      check_request(shape, settings.size, settings.max_vertices, &bounds, "tets", error);
  if (status != YW_OK) return status;
  if (!(settings.size > 0.0f)) {
    yw_size_wish usual = {DEFAULT_CELLS, CELLS_ACROSS, (double)settings.max_tets};
    return make_fitting_tets(shape, mem, bounds, &settings, wish != NULL ? *wish : usual, out, size,
                             error);
  }
  yw_matter matter;
  status = yw_matter_create(mem, shape, bounds, YW_MATTER_QUICK, &matter);
  if (status != YW_OK) return yw_fail_memory(error, "tets");
  *size = (double)settings.size;
  status = make_tets(shape, mem, bounds, &matter, *size, settings.max_vertices, out, error);
  yw_matter_free(&matter);
  return status;
}

yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_tet_mesh* out, yw_error* error) {
  double size;
  return yw_mesher_tets(shape, mem, def, NULL, out, &size, error);
}

yw_status yw_shape_tet_size(const yw_shape* shape, const yw_allocator* mem,
                            const yw_mesher_def* def, float* out, yw_error* error) {
  yw_tet_mesh mesh;
  double size = 0.0;
  yw_status status = yw_mesher_tets(shape, mem, def, NULL, &mesh, &size, error);
  if (status == YW_OK) yw_tet_mesh_free(&mesh);
  if (out != NULL) *out = (float)size;
  return status;
}
