// SPDX-License-Identifier: MIT
// The solid of a triangle mesh: all points with winding number above 1/2.
//
// - The distance is exact (tree of boxes). Triangles that lie entirely inside the solid, as where
//   two closed meshes overlap, do not bound it and are left out.
// - A mesh that is inside out as a whole (negative volume) is flipped. Parts that are wound against
//   the rest are treated as cavities.
// - The hole of an open mesh is closed by the surface where the winding number is 1/2. Near it the
//   distance is estimated from |w - 1/2| / |grad w|, so that the sign never flips without the value
//   passing through zero. Far from holes, and in closed meshes, this estimate is never the smaller.
//
// Internally the mesh is centred and scaled by a power of two to about size 1, so that tolerances
// are plain numbers and no finite mesh overflows.
#include "geometry/shape_mesh_normals.h"
#include "geometry/shape_mesh_skin.h"
#include "geometry/shape_node.h"
#include "geometry/shape_primitives.h"
#include "geometry/winding.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

/// Closer than this (mesh of size 1), the direction to the surface is rounding noise and the
/// normals of the mesh are used.
#define ON_SURFACE 1e-5f
/// The estimated distance to a hole's surface is up to 1.13 times too large (near the rim, where
/// the winding number is an angle over 2 pi); this factor keeps it a lower bound.
#define HOLE_SAFETY 0.88f
/// Accuracy of winding numbers (see winding.h): closed meshes need only the side, open ones the
/// value.
#define BETA_CLOSED 2.3f
#define BETA_OPEN 3.0f

struct yw_mesh_solid {
  yw_vec3 center;
  float to_unit, from_unit;  ///< powers of two
  float turn;                ///< -1 if the mesh is inside out
  yw_aabb box;               ///< unit coordinates
  yw_mesh_normals normals;
  yw_triangle_tree all;      ///< every triangle, for the winding number
  yw_triangle_tree outside;  ///< without triangles inside the solid; empty if there are none
  yw_winding winding;
  yw_mesh_skin skin;
};

// Queries, in unit coordinates

static const yw_triangle_tree* skin_of(const yw_mesh_solid* mesh) {
  return mesh->outside.num_triangles > 0 ? &mesh->outside : &mesh->all;
}

static bool is_in_box(yw_aabb box, yw_vec3 p) {
  return p.x >= box.lower.x && p.y >= box.lower.y && p.z >= box.lower.z && p.x <= box.upper.x &&
         p.y <= box.upper.y && p.z <= box.upper.z;
}

static float winding_at(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* gradient) {
  float w = mesh->turn * yw_winding_number(&mesh->winding, p, gradient);
  if (gradient) *gradient = yw_scale(*gradient, mesh->turn);
  return w;
}

// Outward normal of the mesh at a nearest point.
static yw_vec3 surface_normal(const yw_mesh_solid* mesh, const yw_tree_triangle* t,
                              int32_t corners) {
  size_t first = 3 * (size_t)t->index;
  yw_vec3 face = yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
  yw_vec3 n = face;
  switch (corners) {
    case 1:
    case 2:
    case 4:
      n = mesh->normals.vertex_normal[mesh->normals.corners[first + (size_t)(corners >> 1)]];
      break;
    case 3:
    case 6:
    case 5:
      n = mesh->normals.edge_normal[mesh->normals.edges[first + (corners == 3   ? 0u
                                                                 : corners == 6 ? 1u
                                                                                : 2u)]];
      break;
    default:
      break;
  }
  n = yw_unit_or(n, yw_normalize_or(face, yw_v3(0, 1, 0)));
  return yw_scale(n, mesh->turn);
}

// -1 inside, 1 outside, for closed meshes. Where the surface is clear, the normal decides;
// elsewhere, and where the point is so far to the side that rounding could decide, the winding
// number.
static float side_of(const yw_mesh_solid* mesh, yw_vec3 p, const yw_nearest* nearest) {
  if (!is_in_box(mesh->box, p)) return 1.0f;
  const yw_tree_triangle* t = &skin_of(mesh)->triangles[nearest->triangle];
  if (mesh->skin.clear_parts[t->index] >> nearest->corners & 1) {
    yw_vec3 n = surface_normal(mesh, t, nearest->corners);
    float ahead = yw_dot(n, yw_sub(p, nearest->point));
    if (ahead * ahead > 0.01f * nearest->distance2) return ahead < 0.0f ? -1.0f : 1.0f;
  }
  return winding_at(mesh, p, NULL) > 0.5f ? -1.0f : 1.0f;
}

static yw_vec3 normal_at(const yw_mesh_solid* mesh, yw_vec3 p, const yw_nearest* nearest,
                         float side) {
  const yw_tree_triangle* t = &skin_of(mesh)->triangles[nearest->triangle];
  if (nearest->distance2 < ON_SURFACE * ON_SURFACE)
    return surface_normal(mesh, t, nearest->corners);
  yw_vec3 away = yw_scale(yw_sub(p, nearest->point), side);
  return yw_scale(away, 1.0f / sqrtf(nearest->distance2));
}

// Distance to the surface w = 1/2 that closes the holes: one step of Newton's method. On the axis
// of a round hole w levels off and the step is too long by exactly 1 - (2w - 1)^2; far away, where
// that vanishes, the rims of the holes are nearer anyway.
static float hole_distance(const yw_mesh_solid* mesh, yw_vec3 p, float* side, yw_vec3* normal) {
  float w = winding_at(mesh, p, NULL);
  *side = w > 0.5f && is_in_box(mesh->box, p) ? -1.0f : 1.0f;
  // If w is nearly an integer, the holes look so small that their rims are as near as they are.
  if (fabsf(w - rintf(w)) < 0.03f) return INFINITY;
  yw_vec3 gradient;
  w = winding_at(mesh, p, &gradient);
  float slope = yw_length(gradient);
  *normal = yw_scale(gradient, -1.0f / slope);
  float u = 2.0f * w - 1.0f, levelling = fmaxf(1.0f - u * u, 0.5f);
  return slope > 1e-6f ? HOLE_SAFETY * levelling * fabsf(w - 0.5f) / slope : INFINITY;
}

// Signed distance; normal may be NULL.
static float query(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal) {
  yw_nearest nearest = yw_triangle_tree_nearest(skin_of(mesh), p, INFINITY);
  if (nearest.triangle < 0) {
    if (normal) *normal = yw_unit_or(p, yw_v3(0, 1, 0));
    return yw_length(p);
  }
  float side, distance = sqrtf(nearest.distance2), hole = INFINITY;
  yw_vec3 hole_normal;
  if (mesh->normals.is_closed) {
    side = side_of(mesh, p, &nearest);
  } else {
    hole = hole_distance(mesh, p, &side, &hole_normal);
  }
  if (hole < distance) {
    if (normal) *normal = hole_normal;
    return side * hole;
  }
  if (normal) *normal = normal_at(mesh, p, &nearest, side);
  return side * distance;
}

// Distance without its sign, and the direction from the surface to p: no winding number.
static float query_unsigned(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal) {
  yw_nearest nearest = {-1, 0, 0, {0, 0, 0}};
  if (mesh->normals.is_closed) nearest = yw_triangle_tree_nearest(skin_of(mesh), p, INFINITY);
  if (nearest.triangle < 0) return query(mesh, p, normal);
  float distance = sqrtf(nearest.distance2);
  *normal = distance > 0.0f ? yw_scale(yw_sub(p, nearest.point), 1.0f / distance)
                            : surface_normal(mesh, &skin_of(mesh)->triangles[nearest.triangle],
                                             nearest.corners);
  return distance;
}

static inline yw_vec3 to_unit(const yw_mesh_solid* mesh, yw_vec3 p) {
  return yw_scale(yw_sub(p, mesh->center), mesh->to_unit);
}

float yw_mesh_solid_distance(const yw_mesh_solid* mesh, yw_vec3 p) {
  return query(mesh, to_unit(mesh, p), NULL) * mesh->from_unit;
}

float yw_mesh_solid_distance_normal(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal) {
  return query(mesh, to_unit(mesh, p), normal) * mesh->from_unit;
}

float yw_mesh_solid_gap(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal) {
  return query_unsigned(mesh, to_unit(mesh, p), normal) * mesh->from_unit;
}

// Consecutive points of a batch tend to be close in space. The distance of the last point bounds
// that of the next, and if the surface is farther away than the step between them, the sign is the
// same.
void yw_mesh_solid_distance_many(const yw_mesh_solid* mesh, int32_t count, const yw_vec4* points,
                                 float* distance) {
  yw_vec3 last = {0, 0, 0};
  float last_distance = INFINITY, last_side = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 p = to_unit(mesh, yw_xyz(points[i]));
    float step = yw_distance(p, last) * 1.00001f, reach = (last_distance + step) * 1.0001f + 1e-6f;
    bool is_known = mesh->normals.is_closed && last_side != 0.0f;
    yw_nearest nearest = {-1, 0, 0, {0, 0, 0}};
    if (is_known) nearest = yw_triangle_tree_nearest(skin_of(mesh), p, reach * reach);
    if (nearest.triangle < 0) {
      float d = query(mesh, p, NULL);
      last_distance = fabsf(d);
      last_side = d < 0.0f ? -1.0f : 1.0f;
    } else {
      float d = sqrtf(nearest.distance2);
      bool is_same_side = step < d || step < last_distance;
      last_side = is_same_side ? last_side : side_of(mesh, p, &nearest);
      last_distance = d;
    }
    last = p;
    distance[i] = last_side * last_distance * mesh->from_unit;
  }
}

double yw_mesh_solid_support(const yw_mesh_solid* mesh, const double d[3]) {
  double best = -(double)INFINITY;
  for (int32_t i = 0; i < mesh->all.num_triangles; ++i) {
    const yw_tree_triangle* t = &mesh->all.triangles[i];
    const yw_vec3 corners[3] = {t->a, t->b, t->c};
    for (int k = 0; k < 3; ++k) {
      double reach =
          d[0] * (double)corners[k].x + d[1] * (double)corners[k].y + d[2] * (double)corners[k].z;
      best = reach > best ? reach : best;
    }
  }
  return best * (double)mesh->from_unit + d[0] * (double)mesh->center.x +
         d[1] * (double)mesh->center.y + d[2] * (double)mesh->center.z;
}

// Building

uint64_t yw_mesh_solid_hash(const yw_mesh_solid* mesh, uint64_t seed) {
  uint64_t hash = yw_hash_bytes(seed, &mesh->center, sizeof mesh->center);
  hash = yw_hash_bytes(hash, &mesh->from_unit, sizeof mesh->from_unit);
  hash = yw_hash_bytes(hash, &mesh->turn, sizeof mesh->turn);
  for (int32_t i = 0; i < mesh->all.num_triangles; ++i) {
    const yw_tree_triangle* t = &mesh->all.triangles[i];
    const yw_vec3 corners[3] = {t->a, t->b, t->c};
    hash = yw_hash_bytes(hash, corners, sizeof corners);
  }
  return hash;
}

void yw_mesh_solid_free(const yw_allocator* mem, yw_mesh_solid* mesh) {
  if (!mesh) return;
  yw_winding_free(&mesh->winding);
  yw_triangle_tree_free(&mesh->all);
  yw_triangle_tree_free(&mesh->outside);
  yw_mesh_skin_free(&mesh->skin);
  yw_mesh_normals_free(&mesh->normals);
  yw_mem_free(mem, mesh);
}

static yw_status check_mesh(const yw_tri_mesh* mesh, yw_error* error) {
  if (!mesh || mesh->num_triangles < 1)
    return yw_fail(error, YW_ERR_GEOMETRY, "the mesh has no triangles");
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    yw_vec3 p = mesh->positions[v];
    if (!yw_is_finite3(p))
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "vertex %d of the mesh is (%g, %g, %g), but positions must be finite", (int)v,
                     (double)p.x, (double)p.y, (double)p.z);
  }
  if (mesh->num_triangles > INT32_MAX / 6)
    return yw_fail(error, YW_ERR_LIMIT, "the mesh has %d triangles, more than the limit of %d",
                   (int)mesh->num_triangles, INT32_MAX / 6);
  for (size_t h = 0; h < 3 * (size_t)mesh->num_triangles; ++h) {
    int32_t v = mesh->triangles[h];
    if (v < 0 || v >= mesh->num_vertices)
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "triangle %zu of the mesh names vertex %d, but there are vertices 0 to %d",
                     h / 3, (int)v, (int)mesh->num_vertices - 1);
  }
  return YW_OK;
}

// Sets the centre and scale and returns the scaled positions; NULL if out of memory.
static yw_vec3* make_unit(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_mesh_solid* out) {
  yw_vec3* unit = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_vertices);
  if (!unit) return NULL;
  yw_aabb box = yw_aabb_empty();
  for (size_t h = 0; h < 3 * (size_t)mesh->num_triangles; ++h)
    box = yw_aabb_grow(box, mesh->positions[mesh->triangles[h]]);
  out->center = yw_add(yw_scale(box.lower, 0.5f), yw_scale(box.upper, 0.5f));
  yw_vec3 size = yw_sub(box.upper, out->center);
  float largest = fmaxf(size.x, fmaxf(size.y, size.z));
  int exponent = 0;
  frexpf(largest, &exponent);
  exponent = exponent < -126 ? -126 : exponent > 126 ? 126 : exponent;
  out->to_unit = ldexpf(1.0f, -exponent);
  out->from_unit = ldexpf(1.0f, exponent);
  out->box = (yw_aabb){to_unit(out, box.lower), to_unit(out, box.upper)};
  // Unused vertices may be anywhere; they are only copied.
  for (int32_t v = 0; v < mesh->num_vertices; ++v) unit[v] = to_unit(out, mesh->positions[v]);
  return unit;
}

// Signed volume about the centre of the surface; *area is twice its area.
static double signed_volume(const yw_triangle_tree* tree, double* area) {
  double middle[3] = {0, 0, 0}, volume = 0.0;
  *area = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < tree->num_triangles; ++i) {
      const yw_tree_triangle* t = &tree->triangles[i];
      yw_vec3 normal = yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
      double n[3] = {(double)normal.x, (double)normal.y, (double)normal.z};
      double c[3] = {((double)t->a.x + (double)t->b.x + (double)t->c.x) / 3.0,
                     ((double)t->a.y + (double)t->b.y + (double)t->c.y) / 3.0,
                     ((double)t->a.z + (double)t->b.z + (double)t->c.z) / 3.0};
      double weight = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      if (pass == 0) *area += weight;
      for (int k = 0; k < 3; ++k) {
        if (pass == 0) middle[k] += weight * c[k];
        if (pass == 1) volume += n[k] * (c[k] - middle[k]) / 6.0;
      }
    }
    if (pass == 0 && *area > 0.0)
      for (int k = 0; k < 3; ++k) middle[k] /= *area;
  }
  return volume;
}

// A second tree for the distance if some triangles lie inside the solid.
static yw_status find_skin(const yw_allocator* mem, const yw_tri_mesh* mesh, const yw_vec3* unit,
                           yw_mesh_solid* out) {
  yw_status status = yw_mesh_skin_create(&out->winding, &out->normals, out->turn, &out->skin);
  if (status < 0) return status;
  int32_t unused = out->skin.num_unused;
  if (unused == 0 || unused == mesh->num_triangles) return YW_OK;
  return yw_triangle_tree_create(mem, mesh->num_triangles, mesh->triangles, unit, out->skin.use,
                                 &out->outside);
}

static yw_status build(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_mesh_solid* out,
                       yw_error* error) {
  yw_vec3* unit = make_unit(mem, mesh, out);
  if (!unit) return yw_fail_memory(error, "a mesh shape");
  yw_status status =
      yw_triangle_tree_create(mem, mesh->num_triangles, mesh->triangles, unit, NULL, &out->all);
  if (status == YW_OK)
    status = yw_mesh_normals_create(mem, mesh->num_vertices, unit, mesh->num_triangles,
                                    mesh->triangles, &out->normals);
  if (status == YW_OK) {
    float beta = out->normals.is_closed ? BETA_CLOSED : BETA_OPEN;
    status = yw_winding_create(&out->all, beta, &out->winding);
  }
  double area = 0.0;
  if (status == YW_OK) {
    out->turn = signed_volume(&out->all, &area) < 0.0 ? -1.0f : 1.0f;
    status = area > 0.0 ? find_skin(mem, mesh, unit, out) : YW_ERR_GEOMETRY;
  }
  yw_mem_free(mem, unit);
  if (status == YW_ERR_GEOMETRY)
    return yw_fail(error, status, "all %d triangles of the mesh have no area",
                   (int)mesh->num_triangles);
  return status == YW_ERR_MEMORY ? yw_fail_memory(error, "a mesh shape") : status;
}

yw_status yw_shape_mesh(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_shape** out,
                        yw_error* error) {
  *out = NULL;
  yw_error_clear(error);
  yw_status status = check_mesh(mesh, error);
  if (status < 0) return status;
  yw_shape* shape = yw_shape_new(mem, YW_SHAPE_MESH, 0);
  if (!shape) return yw_fail_memory(error, "a mesh shape");
  shape->as.mesh = YW_NEW(mem, yw_mesh_solid);
  status = shape->as.mesh ? build(mem, mesh, shape->as.mesh, error)
                          : yw_fail_memory(error, "a mesh shape");
  if (status < 0) {
    yw_shape_release(shape);
    return status;
  }
  yw_shape_set_bounds(shape);
  *out = shape;
  return YW_OK;
}
