// SPDX-License-Identifier: MIT
// Computes a pose of the tets from a pose of a surface embedded in them: least squares.
//
//   x = A x0 + b + u      A, b: best affine map of the surface; u: what is left, per tet vertex
//   minimise over u   1/n sum_s |(E u)_s - d_s|^2  +  h^2/m (JUMP sum_faces |F_a - F_b|^2
//                                                           + SIZE sum_tets |F_t|^2)
//   E embedding of the n surface vertices     d_s what the affine map misses at s
//   F_t gradient of u in tet t, m of them     h   size of a tet
//
// Gradients that jump between tets cost energy, so the pose continues smoothly inside and beyond
// the surface; an affine pose costs nothing and is matched exactly. The last term only matters
// where the surface gives no information. Conjugate gradients, matrix-free, in double. They start
// from the harmonic solution (no jumps, larger last term), which is cheap and right at large scale.
#include "geometry/embedding.h"
#include "geometry/mesh_faces.h"
#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/model.h"

#define JUMP_WEIGHT 1e-4
#define SIZE_WEIGHT 1e-8
#define HARMONIC_WEIGHT 1e-3
#define MAX_ITERATIONS 500
#define TOLERANCE 1e-6  // of the preconditioned residual, relative to that of a zero solution

typedef struct affine_map {
  yw_dvec3 rows[3];
  yw_dvec3 offset;
} affine_map;

// Gradient of a vector field in a tet: three rows, one per component.
typedef struct gradient {
  yw_dvec3 rows[3];
} gradient;

typedef struct pose_system {
  const yw_tet_mesh* mesh;
  yw_embedding embedding;
  int32_t* partner;     ///< per face
  yw_dvec3* slopes;     ///< per tet corner: gradient of its barycentric weight
  gradient* gradients;  ///< per tet, of the current field
  yw_dvec3* load;       ///< per vertex, like the next ones: right-hand side
  yw_dvec3* residual;
  yw_dvec3* direction;
  yw_dvec3* product;
  yw_dvec3* solution;
  double* diagonal;
  double data_weight, jump_weight, size_weight, scale;
} pose_system;

// Affine part -------------------------------------------------------------------------------------

static yw_dvec3 mean_of(int32_t count, const yw_vec3* points) {
  yw_dvec3 sum = {0};
  for (int32_t i = 0; i < count; ++i) sum = yw_dadd(sum, yw_d3(points[i]));
  return yw_dscale(sum, 1.0 / count);
}

static yw_dvec3 apply_affine(const affine_map* map, yw_dvec3 p) {
  yw_dvec3 q = {yw_ddot(map->rows[0], p), yw_ddot(map->rows[1], p), yw_ddot(map->rows[2], p)};
  return yw_dadd(q, map->offset);
}

// Best affine map of the surface. The identity is slightly preferred, so that a flat surface, which
// leaves one direction undetermined, still gives a map.
static affine_map fit_affine(int32_t count, const yw_vec3* rest, const yw_vec3* pose) {
  yw_dvec3 rest_mean = mean_of(count, rest), pose_mean = mean_of(count, pose);
  yw_dvec3 spread[3] = {{0}}, mixed[3] = {{0}};  // sum p p^T, sum (q - p) p^T
  for (int32_t i = 0; i < count; ++i) {
    yw_dvec3 p = yw_dsub(yw_d3(rest[i]), rest_mean);
    yw_dvec3 d = yw_dsub(yw_dsub(yw_d3(pose[i]), pose_mean), p);
    spread[0] = yw_dmad(spread[0], p.x, p), mixed[0] = yw_dmad(mixed[0], d.x, p);
    spread[1] = yw_dmad(spread[1], p.y, p), mixed[1] = yw_dmad(mixed[1], d.y, p);
    spread[2] = yw_dmad(spread[2], p.z, p), mixed[2] = yw_dmad(mixed[2], d.z, p);
  }
  double ridge = 1e-12 * (spread[0].x + spread[1].y + spread[2].z) + 1e-300;
  spread[0].x += ridge, spread[1].y += ridge, spread[2].z += ridge;
  // Columns of the inverse of a symmetric matrix are cross products of its rows.
  yw_dvec3 inverse[3] = {yw_dcross(spread[1], spread[2]), yw_dcross(spread[2], spread[0]),
                         yw_dcross(spread[0], spread[1])};
  double det = yw_ddot(spread[0], inverse[0]);
  affine_map map;
  for (int r = 0; r < 3; ++r) {
    yw_dvec3 m = mixed[r];
    map.rows[r] = (yw_dvec3){r == 0, r == 1, r == 2};
    if (!(fabs(det) > 0.0)) continue;
    yw_dvec3 row = {yw_ddot(m, inverse[0]), yw_ddot(m, inverse[1]), yw_ddot(m, inverse[2])};
    map.rows[r] = yw_dmad(map.rows[r], 1.0 / det, row);
  }
  map.offset = (yw_dvec3){0};
  map.offset = yw_dsub(pose_mean, apply_affine(&map, rest_mean));
  return map;
}

// System ------------------------------------------------------------------------------------------

static void fill_slopes(pose_system* s) {
  for (int32_t t = 0; t < s->mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(s->mesh, t, p);
    double volume6 = yw_tet_volume6(p);
    for (int k = 0; k < 4; ++k) {
      const unsigned char* f = yw_tet_faces[k];
      yw_dvec3 n = yw_dcross(yw_dsub(p[f[1]], p[f[0]]), yw_dsub(p[f[2]], p[f[0]]));
      s->slopes[4 * (size_t)t + (size_t)k] = yw_dscale(n, -1.0 / volume6);
    }
  }
}

static void fill_gradients(pose_system* s, const yw_dvec3* u) {
  for (int32_t t = 0; t < s->mesh->num_tets; ++t) {
    gradient g = {{{0}}};
    for (size_t c = 4 * (size_t)t; c < 4 * (size_t)t + 4; ++c) {
      yw_dvec3 value = u[s->mesh->tets[c]], slope = s->slopes[c];
      g.rows[0] = yw_dmad(g.rows[0], value.x, slope);
      g.rows[1] = yw_dmad(g.rows[1], value.y, slope);
      g.rows[2] = yw_dmad(g.rows[2], value.z, slope);
    }
    s->gradients[t] = g;
  }
}

// out += the smoothness part of the matrix times u.
static void add_smoothness(pose_system* s, const yw_dvec3* u, yw_dvec3* out) {
  fill_gradients(s, u);
  for (int32_t t = 0; t < s->mesh->num_tets; ++t) {
    gradient force;
    for (int r = 0; r < 3; ++r) force.rows[r] = yw_dscale(s->gradients[t].rows[r], s->size_weight);
    for (int k = 0; k < 4; ++k) {
      int32_t other = s->partner[4 * t + k];
      if (other < 0) continue;
      for (int r = 0; r < 3; ++r) {
        yw_dvec3 jump = yw_dsub(s->gradients[t].rows[r], s->gradients[other / 4].rows[r]);
        force.rows[r] = yw_dmad(force.rows[r], s->jump_weight, jump);
      }
    }
    for (size_t c = 4 * (size_t)t; c < 4 * (size_t)t + 4; ++c) {
      yw_dvec3 slope = s->slopes[c];
      yw_dvec3 f = {yw_ddot(force.rows[0], slope), yw_ddot(force.rows[1], slope),
                    yw_ddot(force.rows[2], slope)};
      out[s->mesh->tets[c]] = yw_dadd(out[s->mesh->tets[c]], f);
    }
  }
}

static yw_dvec3 embedded(const yw_embedded_point* point, const yw_dvec3* u) {
  yw_dvec3 sum = {0};
  for (int k = 0; k < 4; ++k) sum = yw_dmad(sum, (double)point->weights[k], u[point->vertices[k]]);
  return sum;
}

// out += weight * E^T value of one surface vertex.
static void spread_point(const yw_embedded_point* point, double weight, yw_dvec3 value,
                         yw_dvec3* out) {
  for (int k = 0; k < 4; ++k) {
    yw_dvec3* to = &out[point->vertices[k]];
    *to = yw_dmad(*to, weight * (double)point->weights[k], value);
  }
}

static void multiply(pose_system* s, const yw_dvec3* u, yw_dvec3* out) {
  for (int32_t i = 0; i < s->mesh->num_vertices; ++i) out[i] = (yw_dvec3){0};
  for (int32_t n = 0; n < s->embedding.count; ++n) {
    const yw_embedded_point* point = &s->embedding.points[n];
    spread_point(point, s->data_weight, embedded(point, u), out);
  }
  add_smoothness(s, u, out);
}

// The diagonal of the matrix. A jump across a face weights a vertex by the difference of its slopes
// on the two sides; a slope is zero if the vertex is not a corner.
static void fill_diagonal(pose_system* s) {
  for (int32_t i = 0; i < s->mesh->num_vertices; ++i) s->diagonal[i] = 0.0;
  for (int32_t n = 0; n < s->embedding.count; ++n) {
    const yw_embedded_point* point = &s->embedding.points[n];
    for (int k = 0; k < 4; ++k) {
      double w = (double)point->weights[k];
      s->diagonal[point->vertices[k]] += s->data_weight * w * w;
    }
  }
  for (int32_t f = 0; f < 4 * s->mesh->num_tets; ++f) {
    size_t first = (size_t)(f & ~3);
    int32_t other = s->partner[f];
    for (size_t c = first; c < first + 4; ++c) {
      int32_t v = s->mesh->tets[c];
      double own2 = yw_ddot(s->slopes[c], s->slopes[c]);
      if ((f & 3) == 0) s->diagonal[v] += s->size_weight * own2;
      if (other < 0) continue;
      // Each face is visited from both sides; a shared vertex gets half its share from each.
      double share = own2;
      for (size_t o = (size_t)(other & ~3); o < (size_t)(other & ~3) + 4; ++o) {
        if (s->mesh->tets[o] != v) continue;
        yw_dvec3 jump = yw_dsub(s->slopes[c], s->slopes[o]);
        share = 0.5 * yw_ddot(jump, jump);
      }
      s->diagonal[v] += s->jump_weight * share;
    }
  }
}

// Solve -------------------------------------------------------------------------------------------

static double dot_all(int32_t count, const yw_dvec3* a, const yw_dvec3* b) {
  double sum = 0.0;
  for (int32_t i = 0; i < count; ++i) sum += yw_ddot(a[i], b[i]);
  return sum;
}

// a . a / diagonal
static double scaled_norm(const pose_system* s, const yw_dvec3* a) {
  double sum = 0.0;
  for (int32_t i = 0; i < s->mesh->num_vertices; ++i) sum += yw_ddot(a[i], a[i]) / s->diagonal[i];
  return sum;
}

// Conjugate gradients for matrix * solution = load, starting from the current solution.
static void solve(pose_system* s, double jump_weight, double size_weight) {
  int32_t count = s->mesh->num_vertices;
  s->jump_weight = jump_weight * s->scale;
  s->size_weight = size_weight * s->scale;
  fill_diagonal(s);
  multiply(s, s->solution, s->product);
  for (int32_t i = 0; i < count; ++i) s->residual[i] = yw_dsub(s->load[i], s->product[i]);
  double norm = scaled_norm(s, s->residual);
  double enough = TOLERANCE * TOLERANCE * scaled_norm(s, s->load);
  for (int32_t i = 0; i < count; ++i) {
    s->direction[i] = yw_dscale(s->residual[i], 1.0 / s->diagonal[i]);
  }
  for (int iter = 0; iter < MAX_ITERATIONS && norm > enough; ++iter) {
    multiply(s, s->direction, s->product);
    double curvature = dot_all(count, s->direction, s->product);
    if (!(curvature > 0.0)) return;
    double step = norm / curvature;
    for (int32_t i = 0; i < count; ++i) {
      s->solution[i] = yw_dmad(s->solution[i], step, s->direction[i]);
      s->residual[i] = yw_dmad(s->residual[i], -step, s->product[i]);
    }
    double next = scaled_norm(s, s->residual), keep = next / norm;
    norm = next;
    for (int32_t i = 0; i < count; ++i) {
      yw_dvec3 steepest = yw_dscale(s->residual[i], 1.0 / s->diagonal[i]);
      s->direction[i] = yw_dmad(steepest, keep, s->direction[i]);
    }
  }
}

static void system_free(const yw_allocator* mem, pose_system* s) {
  yw_embedding_free(&s->embedding);
  yw_mem_free(mem, s->partner);
  yw_mem_free(mem, s->slopes);
  yw_mem_free(mem, s->gradients);
  yw_mem_free(mem, s->load);
  yw_mem_free(mem, s->residual);
  yw_mem_free(mem, s->direction);
  yw_mem_free(mem, s->product);
  yw_mem_free(mem, s->solution);
  yw_mem_free(mem, s->diagonal);
}

static yw_status system_create(const yw_allocator* mem, pose_system* s, yw_error* error) {
  int32_t num_vertices = s->mesh->num_vertices, num_tets = s->mesh->num_tets;
  s->partner = YW_NEW_ARRAY(mem, int32_t, 4 * (size_t)num_tets);
  s->slopes = YW_NEW_ARRAY(mem, yw_dvec3, 4 * (size_t)num_tets);
  s->gradients = YW_NEW_ARRAY(mem, gradient, num_tets);
  s->load = YW_NEW_ARRAY(mem, yw_dvec3, num_vertices);
  s->residual = YW_NEW_ARRAY(mem, yw_dvec3, num_vertices);
  s->direction = YW_NEW_ARRAY(mem, yw_dvec3, num_vertices);
  s->product = YW_NEW_ARRAY(mem, yw_dvec3, num_vertices);
  s->solution = YW_NEW_ARRAY(mem, yw_dvec3, num_vertices);
  s->diagonal = YW_NEW_ARRAY(mem, double, num_vertices);
  bool ready = s->partner && s->slopes && s->gradients && s->load && s->residual && s->direction &&
               s->product && s->solution && s->diagonal;
  if (!ready || yw_tet_face_partners(mem, s->mesh, s->partner) != YW_OK) {
    return yw_fail_memory(error, "a pose of tets from a surface");
  }
  double volume = 0.0;
  for (int32_t t = 0; t < num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(s->mesh, t, p);
    volume += yw_tet_volume6(p) / num_tets;
  }
  double size = (double)yw_cbrtf((float)volume);
  s->scale = size * size / num_tets;
  s->data_weight = 1.0 / s->embedding.count;
  fill_slopes(s);
  return YW_OK;
}

static yw_status check_pose_input(const yw_tet_mesh* rest, const yw_tri_mesh* surface,
                                  const yw_vec3* pose, const yw_vec3* out, yw_error* error) {
  if (rest == NULL || surface == NULL || pose == NULL || out == NULL) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a pose from a surface needs tets, the surface at rest and its pose");
  }
  if (surface->num_vertices < 4 || surface->positions == NULL) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "the surface has %d vertices, but a pose needs at least 4",
                   surface->num_vertices);
  }
  if (rest->num_tets > INT32_MAX / 4) {
    return yw_fail(error, YW_ERR_LIMIT, "%d tets are too many", rest->num_tets);
  }
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    if (yw_is_finite3(pose[i])) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "vertex %d of the surface's pose is at (%g, %g, %g), but positions must be "
                   "finite",
                   i, (double)pose[i].x, (double)pose[i].y, (double)pose[i].z);
  }
  return yw_tet_mesh_check(rest, error);
}

// A surface far from the tets indicates wrong units or files.
static yw_status check_distance(const yw_tet_mesh* rest, float max_outside, yw_error* error) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < rest->num_vertices; ++i) box = yw_aabb_grow(box, rest->positions[i]);
  float size = yw_distance(box.lower, box.upper);
  if (max_outside <= 0.5f * size) return YW_OK;
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "a vertex of the surface is %g m away from the tets, which measure %g m; the two "
                 "must lie in the same place and have the same units",
                 (double)max_outside, (double)size);
}

yw_status yw_tets_from_surface_pose(const yw_tet_mesh* rest, const yw_tri_mesh* surface_rest,
                                    const yw_vec3* surface_pose, yw_vec3* out_positions,
                                    yw_error* error) {
  yw_error_clear(error);
  yw_status status = check_pose_input(rest, surface_rest, surface_pose, out_positions, error);
  if (status != YW_OK) return status;
  yw_allocator mem = yw_mem_or_default(&rest->mem);
  int32_t count = surface_rest->num_vertices;
  const yw_vec3* points = surface_rest->positions;
  pose_system s = {.mesh = rest};
  status = yw_embedding_create(&mem, rest, count, points, NULL, &s.embedding, error);
  if (status == YW_OK) status = check_distance(rest, s.embedding.max_outside, error);
  if (status == YW_OK) status = system_create(&mem, &s, error);
  if (status == YW_OK) {
    affine_map map = fit_affine(count, points, surface_pose);
    for (int32_t n = 0; n < count; ++n) {
      yw_dvec3 missed = yw_dsub(yw_d3(surface_pose[n]), apply_affine(&map, yw_d3(points[n])));
      spread_point(&s.embedding.points[n], s.data_weight, missed, s.load);
    }
    solve(&s, 0.0, HARMONIC_WEIGHT);
    solve(&s, JUMP_WEIGHT, SIZE_WEIGHT);
    for (int32_t i = 0; i < rest->num_vertices; ++i) {
      yw_dvec3 p = apply_affine(&map, yw_d3(rest->positions[i]));
      out_positions[i] = yw_f3(yw_dadd(p, s.solution[i]));
    }
  }
  system_free(&mem, &s);
  return status;
}
