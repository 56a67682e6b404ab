// SPDX-License-Identifier: MIT
// Landmarks determine the map where there are three or more (Umeyama 1991). Otherwise centres of
// area meet, and nearest points find the rotation (Besl, McKay 1992), from each of the 24 turns of
// a cube; one that is not the present orientation must be clearly better.
#include "geometry/pose_align.h"

#include <math.h>

#include "math/small/dense.h"
#include "math/small/polar.h"
#include "math/small/trig.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define ROUNDS 12
// Another turn than none must leave less than this fraction of the distance.
#define CLEARLY 0.5
#define MAX_SAMPLES 2000
// Cosine of the angle between normals of surfaces that belong together, at least.
#define LEAST_COSINE 0.5f
#define AFFINE_ROUNDS 30
// What holds the map where the pose does not determine it, as a fraction of the pairs' weight.
#define AFFINE_HOLD 1e-3

yw_vec3 yw_similarity_apply(const yw_similarity* map, yw_vec3 x) {
  return yw_mad(map->shift, map->scale, yw_mul(map->rotation, x));
}

yw_vec3 yw_similarity_undo(const yw_similarity* map, yw_vec3 y) {
  yw_vec3 x = yw_mul(yw_mat3_transpose(map->rotation), yw_sub(y, map->shift));
  return yw_scale(x, 1.0f / map->scale);
}

double yw_surface_volume(const yw_tri_mesh* mesh) {
  double six = 0.0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]];
    six += (double)yw_dot(a, yw_cross(b, c));
  }
  return six / 6.0;
}

// Mean of the surface.
static yw_vec3 center_of(const yw_tri_mesh* mesh) {
  double sum[3] = {0}, all = 0.0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]];
    double area = (double)yw_length(yw_cross(yw_sub(b, a), yw_sub(c, a)));
    all += area;
    for (int i = 0; i < 3; ++i) {
      sum[i] += area * ((double)(&a.x)[i] + (double)(&b.x)[i] + (double)(&c.x)[i]) / 3.0;
    }
  }
  if (!(all > 0.0)) return mesh->positions[0];
  return yw_v3((float)(sum[0] / all), (float)(sum[1] / all), (float)(sum[2] / all));
}

// Pairs of points ---------------------------------------------------------------------------------

// Sums over pairs, from which the best map follows.
typedef struct pair_sums {
  double count, x[3], y[3], xx, yx[9];
} pair_sums;

static void add_pair(pair_sums* s, yw_vec3 x, yw_vec3 y) {
  const double p[3] = {(double)x.x, (double)x.y, (double)x.z};
  const double q[3] = {(double)y.x, (double)y.y, (double)y.z};
  s->count += 1.0;
  for (int i = 0; i < 3; ++i) {
    s->x[i] += p[i];
    s->y[i] += q[i];
    s->xx += p[i] * p[i];
    for (int j = 0; j < 3; ++j) s->yx[3 * i + j] += q[i] * p[j];
  }
}

// scale 0: find it too.
static void solve_pairs(const pair_sums* s, float scale, yw_similarity* out) {
  double inv = 1.0 / s->count, spread = s->xx, trace = 0.0;
  float m[9];
  for (int i = 0; i < 9; ++i) m[i] = (float)(s->yx[i] - inv * s->y[i / 3] * s->x[i % 3]);
  for (int i = 0; i < 3; ++i) spread -= inv * s->x[i] * s->x[i];
  yw_mat3 moments = {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}}, stretch;
  yw_polar(&moments, &out->rotation, &stretch);
  trace = (double)stretch.cx.x + (double)stretch.cy.y + (double)stretch.cz.z;
  out->scale = scale > 0.0f ? scale : (float)(spread > 0.0 ? trace / spread : 1.0);
  yw_vec3 x = yw_v3((float)(inv * s->x[0]), (float)(inv * s->x[1]), (float)(inv * s->x[2]));
  yw_vec3 y = yw_v3((float)(inv * s->y[0]), (float)(inv * s->y[1]), (float)(inv * s->y[2]));
  out->shift = yw_mad(y, -out->scale, yw_mul(out->rotation, x));
}

// Nearest points ----------------------------------------------------------------------------------

// Improves a map by nearest points; returns the mean squared distance that is left.
static double improve(const yw_tri_mesh* boundary, const yw_triangle_tree* tree, float scale,
                      yw_similarity* map) {
  int32_t stride = 1 + boundary->num_vertices / MAX_SAMPLES;
  double left = 0.0;
  for (int round = 0; round <= ROUNDS; ++round) {
    pair_sums sums = {0};
    left = 0.0;
    for (int32_t i = 0; i < boundary->num_vertices; i += stride) {
      yw_vec3 y = yw_similarity_apply(map, boundary->positions[i]);
      yw_nearest near = yw_triangle_tree_nearest(tree, y, INFINITY);
      left += (double)near.distance2;
      add_pair(&sums, boundary->positions[i], near.point);
    }
    left /= sums.count;
    if (round < ROUNDS) solve_pairs(&sums, scale, map);
  }
  return left;
}

// Turn k of the 24 that map a cube to itself.
static yw_mat3 cube_turn(int k) {
  static const float signs[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  int first = k / 8, flip = k / 4 % 2;
  const float* s = signs[k % 4];
  float m[3][3] = {{0}};
  for (int i = 0; i < 3; ++i) {
    // Cyclic permutations keep the handedness; exchanging two axes needs one more sign.
    int axis = flip ? (first + 3 - i) % 3 : (first + i) % 3;
    m[i][axis] = flip ? -s[i] : s[i];
  }
  return (yw_mat3){
      {m[0][0], m[0][1], m[0][2]}, {m[1][0], m[1][1], m[1][2]}, {m[2][0], m[2][1], m[2][2]}};
}

static void search_turns(const yw_pose_fit_def* def, const yw_tri_mesh* boundary,
                         const yw_triangle_tree* tree, float scale, yw_similarity* out) {
  yw_vec3 from = center_of(boundary), to = center_of(def->pose);
  double best = INFINITY;
  for (int k = 0; k < 24; ++k) {
    yw_similarity map = {.rotation = cube_turn(k), .scale = scale};
    map.shift = yw_mad(to, -scale, yw_mul(map.rotation, from));
    double left = improve(boundary, tree, scale, &map);
    if (k > 0 && !(left < CLEARLY * CLEARLY * best)) continue;
    best = left;
    *out = map;
  }
}

void yw_pose_find_alignment(const yw_pose_fit_def* def, const yw_tri_mesh* boundary,
                            const yw_triangle_tree* tree, yw_similarity* out) {
  *out = (yw_similarity){yw_mat3_identity(), 1.0f, {0, 0, 0}};
  if (def->align == YW_ALIGN_NONE) return;
  bool scaled = def->align == YW_ALIGN_SIMILARITY;
  if (def->num_landmarks >= 3) {
    pair_sums sums = {0};
    for (int32_t i = 0; i < def->num_landmarks; ++i) {
      add_pair(&sums, def->landmarks[i].rest, def->landmarks[i].pose);
    }
    solve_pairs(&sums, scaled ? 0.0f : 1.0f, out);
    return;
  }
  double ratio = fabs(yw_surface_volume(def->pose) / yw_surface_volume(boundary));
  float scale = scaled && isfinite(ratio) && ratio > 0.0 ? yw_cbrtf((float)ratio) : 1.0f;
  search_turns(def, boundary, tree, scale, out);
}

// Affine maps -------------------------------------------------------------------------------------

void yw_surface_normals(const yw_tri_mesh* mesh, const yw_vec3* positions, yw_vec3* normals) {
  for (int32_t i = 0; i < mesh->num_vertices; ++i) normals[i] = yw_v3(0, 0, 0);
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = positions[v[0]];
    yw_vec3 n = yw_cross(yw_sub(positions[v[1]], a), yw_sub(positions[v[2]], a));
    for (int k = 0; k < 3; ++k) normals[v[k]] = yw_add(normals[v[k]], n);
  }
}

yw_vec3 yw_tree_normal(const yw_tree_triangle* t) {
  return yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
}

bool yw_normals_agree(yw_vec3 a, yw_vec3 b) {
  return yw_dot(a, b) > LEAST_COSINE * yw_length(a) * yw_length(b);
}

// Normal equations of the twelve numbers of an affine map, row by row.
typedef struct affine_sums {
  double matrix[144], right[12];
} affine_sums;

// n . (A x + b - y) = 0
static void add_plane(affine_sums* s, double weight, yw_vec3 x, yw_vec3 y, yw_vec3 n) {
  const double p[4] = {(double)x.x, (double)x.y, (double)x.z, 1.0};
  double row[12], goal = (double)yw_dot(n, y);
  for (int k = 0; k < 12; ++k) row[k] = (double)(&n.x)[k / 4] * p[k % 4];
  for (int k = 0; k < 144; ++k) s->matrix[k] += weight * row[k / 12] * row[k % 12];
  for (int k = 0; k < 12; ++k) s->right[k] += weight * row[k] * goal;
}

// Its inverse; the map does not flatten.
static yw_mat3 inverse_of(const yw_mat3* m) {
  yw_vec3 x = yw_cross(m->cy, m->cz), y = yw_cross(m->cz, m->cx), z = yw_cross(m->cx, m->cy);
  float inv = 1.0f / yw_dot(m->cx, x);
  return yw_mat3_transpose((yw_mat3){yw_scale(x, inv), yw_scale(y, inv), yw_scale(z, inv)});
}

static yw_vec3 affine_point(const yw_affine* a, yw_vec3 x) {
  return yw_add(a->shift, yw_mul(a->map, x));
}

// The area that a vertex stands for is a sixth of the length of its sum of normals.
static void add_plane_at(affine_sums* s, yw_vec3 own_normal, yw_vec3 other_normal, yw_vec3 plane,
                         yw_vec3 x, yw_vec3 y) {
  if (!yw_normals_agree(own_normal, other_normal)) return;
  yw_vec3 n = yw_normalize_or(plane, yw_v3(0, 0, 0));
  add_plane(s, (double)yw_length(own_normal), x, y, n);
}

// Vertices of the boundary against the pose, vertices of the pose against the boundary.
static bool add_planes(affine_sums* s, const yw_affine* now, const yw_tri_mesh* boundary,
                       const yw_tri_mesh* pose, const yw_triangle_tree* tree, yw_vec3* places,
                       yw_vec3* normals) {
  yw_triangle_tree around = {0};
  for (int32_t i = 0; i < boundary->num_vertices; ++i) {
    places[i] = affine_point(now, boundary->positions[i]);
  }
  if (yw_triangle_tree_create(&boundary->mem, boundary->num_triangles, boundary->triangles, places,
                              NULL, &around) < 0) {
    return false;
  }
  yw_surface_normals(boundary, places, normals);
  for (int32_t i = 0; i < boundary->num_vertices; ++i) {
    yw_nearest near = yw_triangle_tree_nearest(tree, places[i], INFINITY);
    yw_vec3 normal = yw_tree_normal(&tree->triangles[near.triangle]);
    add_plane_at(s, normals[i], normal, normal, boundary->positions[i], near.point);
  }
  yw_surface_normals(pose, pose->positions, normals);
  yw_mat3 inverse = inverse_of(&now->map);
  for (int32_t i = 0; i < pose->num_vertices; ++i) {
    yw_nearest near = yw_triangle_tree_nearest(&around, pose->positions[i], INFINITY);
    yw_vec3 normal = yw_tree_normal(&around.triangles[near.triangle]);
    yw_vec3 x = yw_mul(inverse, yw_sub(near.point, now->shift));
    add_plane_at(s, normals[i], normal, normals[i], x, pose->positions[i]);
  }
  yw_triangle_tree_free(&around);
  return true;
}

// One solve; false if the result would flatten the body.
static bool solve_affine(affine_sums* s, yw_affine* now) {
  const float* old[3] = {&now->map.cx.x, &now->map.cy.x, &now->map.cz.x};
  double x[12];
  for (int k = 0; k < 12; ++k) {
    double hold = AFFINE_HOLD * (s->matrix[13 * k] + 1e-30);
    double value = (double)(k % 4 < 3 ? old[k % 4][k / 4] : (&now->shift.x)[k / 4]);
    s->matrix[13 * k] += hold;
    s->right[k] += hold * value;
  }
  if (!yw_dense_cholesky(12, s->matrix, s->matrix)) return false;
  yw_dense_solve(12, s->matrix, s->right, x);
  yw_affine next = {{{(float)x[0], (float)x[4], (float)x[8]},
                     {(float)x[1], (float)x[5], (float)x[9]},
                     {(float)x[2], (float)x[6], (float)x[10]}},
                    {(float)x[3], (float)x[7], (float)x[11]}};
  float volume = yw_dot(next.map.cx, yw_cross(next.map.cy, next.map.cz));
  if (!(volume > 0.05f && volume < 20.0f)) return false;
  *now = next;
  return true;
}

yw_status yw_pose_find_affine(const yw_tri_mesh* boundary, const yw_tri_mesh* pose,
                              const yw_triangle_tree* tree, yw_affine* out) {
  const yw_allocator* mem = &boundary->mem;
  int32_t most = boundary->num_vertices;
  if (pose->num_vertices > most) most = pose->num_vertices;
  yw_vec3 *places = YW_NEW_ARRAY(mem, yw_vec3, most), *normals = YW_NEW_ARRAY(mem, yw_vec3, most);
  const yw_affine none = {yw_mat3_identity(), {0, 0, 0}};
  *out = none;
  bool good = places && normals;
  for (int round = 0; round < AFFINE_ROUNDS && good; ++round) {
    affine_sums sums = {0};
    good = add_planes(&sums, out, boundary, pose, tree, places, normals);
    if (!good) break;
    if (solve_affine(&sums, out)) continue;
    *out = none;
    break;
  }
  yw_mem_free(mem, places);
  yw_mem_free(mem, normals);
  return good ? YW_OK : YW_ERR_MEMORY;
}
