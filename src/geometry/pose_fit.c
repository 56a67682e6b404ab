// SPDX-License-Identifier: MIT
// Fits tets to a pose whose surface has another topology. Non-rigid registration: boundary and pose
// attract each other's nearest points while the tets prefer to be rotated only (as rigid as
// possible, Sorkine, Alexa 2007), and give in more and more:
//   minimise  sum_t V_t |F_t - R_t|^2  +  c V / (A L^2) sum_pairs a (n . (x - y))^2
//   F_t gradient of the positions in tet t by those of the best affine map of the rest pose, R_t
//   its rotation                                                      n, a  normal and area of a
//   pair V, A, L volume, surface and size of the body                  c     from 1 to 16384
// Pairs pull along the normal only, so that the boundary may slide: how it is spread over the pose
// is left to the tets.
// In the end the boundary is moved onto the pose, and the inside follows smoothly
// (yw_tets_from_surface_pose).
#include <math.h>
#include <string.h>

#include "geometry/pose_align.h"
#include "math/small/polar.h"
#include "math/sparse/cholesky.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define FIRST_PULL 1.0
#define NUM_LEVELS 8
#define PULL_FACTOR 4.0
#define ROUNDS 8
// Landmarks pull this hard from the first level on.
#define LANDMARK_PULL 1e4
// How much pairs hold along the surface, of how much they pull.
#define SLIDE 1e-5

typedef struct surface_pair {
  int32_t v[3];  // of the tets; weights of unused ones are 0
  double w[3];
  yw_vec3 goal;
  yw_vec3 normal;  // unit
  double slide;    // 1: pulls in all directions
} surface_pair;

typedef struct pose_fitter {
  const yw_pose_fit_def* def;
  yw_tri_mesh boundary;     // of the tets, at rest
  int32_t* map;             // its vertices in the tets
  yw_tri_mesh pose;         // aligned; normals outwards
  yw_triangle_tree tree;    // of the aligned pose
  yw_triangle_tree around;  // of the boundary at the moment
  double *own_area, *pose_area;
  double volume, surface, size2;
  yw_vec3* start;  // positions by the affine map
  double (*slopes)[4][3];
  double* volumes;  // per tet, of start
  double* x;        // 3 per vertex
  double* right;
  double* base;  // values of the matrix without pairs
  yw_assembly assembly;
  yw_sparse matrix;
  yw_cholesky* factor;
  double* scratch;
} pose_fitter;

static yw_vec3 position(const pose_fitter* f, int32_t v) {
  const double* x = f->x + 3 * (size_t)v;
  return yw_v3((float)x[0], (float)x[1], (float)x[2]);
}

// Areas -------------------------------------------------------------------------------------------

// A third of the triangles around each vertex.
static double share_areas(const yw_tri_mesh* mesh, double* areas) {
  double all = 0.0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
    double area = 0.5 * (double)yw_length(normal);
    all += area;
    for (int k = 0; k < 3; ++k) areas[v[k]] += area / 3.0;
  }
  return all;
}

// Making ------------------------------------------------------------------------------------------

// Gradients of the shape functions and the matrix of sum V |F|^2.
static void measure_tets(pose_fitter* f, double* elements) {
  const yw_tet_mesh* mesh = f->def->rest;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_vec3 p[4], n[4];
    for (int a = 0; a < 4; ++a) p[a] = f->start[mesh->tets[4 * t + a]];
    yw_vec3 e1 = yw_sub(p[1], p[0]), e2 = yw_sub(p[2], p[0]), e3 = yw_sub(p[3], p[0]);
    n[1] = yw_cross(e2, e3), n[2] = yw_cross(e3, e1), n[3] = yw_cross(e1, e2);
    double six = (double)yw_dot(e1, n[1]), inv = fabs(six) > 0.0 ? 1.0 / six : 0.0;
    f->volumes[t] = fabs(six) / 6.0;
    f->volume += f->volumes[t];
    for (int i = 0; i < 3; ++i) {
      for (int a = 1; a < 4; ++a) f->slopes[t][a][i] = inv * (double)(&n[a].x)[i];
      f->slopes[t][0][i] = -f->slopes[t][1][i] - f->slopes[t][2][i] - f->slopes[t][3][i];
    }
    for (int ab = 0; ab < 16; ++ab) {
      const double *g = f->slopes[t][ab / 4], *h = f->slopes[t][ab % 4];
      double value = f->volumes[t] * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]);
      double* to = elements + 144 * (size_t)t + 36 * (size_t)(ab / 4) + 3 * (size_t)(ab % 4);
      for (int i = 0; i < 3; ++i) to[13 * i] = value;
    }
  }
}

static yw_status make_system(pose_fitter* f, const yw_allocator* mem, yw_error* error) {
  const yw_tet_mesh* mesh = f->def->rest;
  yw_status status = yw_assembly_create(mem, mesh->num_vertices, 3, mesh->num_tets, 4, mesh->tets,
                                        &f->assembly, &f->matrix, error);
  if (status < 0) return status;
  const yw_cholesky_options options = {.points = mesh->positions, .block = 3};
  status = yw_cholesky_analyse(mem, &f->matrix, &options, &f->factor, error);
  if (status < 0) return status;
  size_t n = (size_t)mesh->num_vertices, entries = (size_t)f->matrix.start[f->matrix.size];
  double* elements = YW_NEW_ARRAY(mem, double, 144 * (size_t)mesh->num_tets);
  f->slopes = yw_mem_alloc(mem, (size_t)mesh->num_tets, sizeof *f->slopes);
  f->volumes = YW_NEW_ARRAY(mem, double, mesh->num_tets);
  f->x = YW_NEW_ARRAY(mem, double, 3 * n);
  f->right = YW_NEW_ARRAY(mem, double, 3 * n);
  f->base = YW_NEW_ARRAY(mem, double, entries);
  f->scratch = YW_NEW_ARRAY(mem, double, yw_cholesky_scratch(f->factor, 1, NULL));
  f->own_area = YW_NEW_ARRAY(mem, double, f->boundary.num_vertices);
  f->pose_area = YW_NEW_ARRAY(mem, double, f->pose.num_vertices);
  bool good = elements && f->slopes && f->volumes && f->x && f->right && f->base && f->scratch &&
              f->own_area && f->pose_area;
  if (good) {
    measure_tets(f, elements);
    yw_assembly_sum(&f->assembly, NULL, elements, &f->matrix);
    memcpy(f->base, f->matrix.values, entries * sizeof *f->base);
  }
  yw_mem_free(mem, elements);
  return good ? YW_OK : yw_fail_memory(error, "a pose");
}

static void measure_body(pose_fitter* f) {
  const yw_tet_mesh* mesh = f->def->rest;
  yw_aabb box = yw_aabb_empty();
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    box = yw_aabb_grow(box, f->start[v]);
    for (int i = 0; i < 3; ++i) f->x[3 * v + i] = (double)(&f->start[v].x)[i];
  }
  f->size2 = (double)yw_length2(yw_sub(box.upper, box.lower));
  f->surface = share_areas(&f->boundary, f->own_area);
  share_areas(&f->pose, f->pose_area);
}

// The pose in the place of the body, with its normals outwards.
static yw_status align(pose_fitter* f, const yw_allocator* mem, yw_pose_fit* fit,
                       yw_similarity* map, yw_error* error) {
  const yw_tri_mesh* pose = f->def->pose;
  size_t vertices = (size_t)pose->num_vertices, corners = 3 * (size_t)pose->num_triangles;
  yw_triangle_tree first = {0};
  yw_status status = yw_triangle_tree_create(mem, pose->num_triangles, pose->triangles,
                                             pose->positions, NULL, &first);
  if (status < 0) return yw_fail(error, status, "the pose has no triangles that can be used");
  yw_pose_find_alignment(f->def, &f->boundary, &first, map);
  yw_triangle_tree_free(&first);
  f->pose = (yw_tri_mesh){.mem = yw_mem_or_default(mem),
                          .num_vertices = pose->num_vertices,
                          .num_triangles = pose->num_triangles,
                          .positions = YW_NEW_ARRAY(mem, yw_vec3, vertices),
                          .triangles = YW_NEW_ARRAY(mem, int32_t, corners)};
  if (!f->pose.positions || !f->pose.triangles) return yw_fail_memory(error, "a pose");
  for (size_t i = 0; i < vertices; ++i) {
    f->pose.positions[i] = yw_similarity_undo(map, pose->positions[i]);
  }
  bool inwards = yw_surface_volume(pose) < 0.0;
  for (size_t i = 0; i < corners; ++i) {
    f->pose.triangles[i] = pose->triangles[inwards ? i - i % 3 + 2 - i % 3 : i];
  }
  fit->scale = 1.0f / map->scale;
  status = yw_triangle_tree_create(mem, f->pose.num_triangles, f->pose.triangles, f->pose.positions,
                                   NULL, &f->tree);
  return status < 0 ? yw_fail_memory(error, "a pose") : YW_OK;
}

// Where the tets start: moved by the best affine map. Landmarks know better: the best affine map of
// something that is twisted is thinner.
static yw_status start_affine(pose_fitter* f, const yw_allocator* mem, yw_error* error) {
  const yw_tet_mesh* mesh = f->def->rest;
  yw_affine affine = {yw_mat3_identity(), {0, 0, 0}};
  yw_status status = YW_OK;
  f->start = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_vertices);
  if (f->def->num_landmarks == 0) {
    status = yw_pose_find_affine(&f->boundary, &f->pose, &f->tree, &affine);
  }
  if (!f->start || status < 0) return yw_fail_memory(error, "a pose");
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    f->start[v] = yw_add(affine.shift, yw_mul(affine.map, mesh->positions[v]));
  }
  return YW_OK;
}

// Pairs -------------------------------------------------------------------------------------------

static double* entry(pose_fitter* f, int32_t row, int32_t column) {
  int32_t low = f->matrix.start[row], high = f->matrix.start[row + 1];
  while (high - low > 1) {
    int32_t middle = (low + high) / 2;
    if (f->matrix.columns[middle] > column) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return &f->matrix.values[low];
}

static void add_pair(pose_fitter* f, const surface_pair* pair, double pull) {
  const float* n = &pair->normal.x;
  for (int k = 0; k < 9; ++k) {
    int i = k / 3, j = k % 3;
    double along = (double)(n[i] * n[j]);
    double w = pull * (pair->slide * (i == j ? 1.0 : 0.0) + (1.0 - pair->slide) * along);
    for (int a = 0; a < 3; ++a) {
      if (pair->w[a] == 0.0) continue;
      f->right[3 * pair->v[a] + i] += w * pair->w[a] * (double)(&pair->goal.x)[j];
      for (int b = 0; b < 3; ++b) {
        if (pair->w[b] == 0.0) continue;
        *entry(f, 3 * pair->v[a] + i, 3 * pair->v[b] + j) += w * pair->w[a] * pair->w[b];
      }
    }
  }
}

// Weights of a point of a triangle of the boundary.
static void barycentric(yw_vec3 p, yw_vec3 a, yw_vec3 b, yw_vec3 c, double w[3]) {
  yw_vec3 n = yw_cross(yw_sub(b, a), yw_sub(c, a));
  double area = (double)yw_length2(n);
  w[1] = area > 0.0 ? (double)yw_dot(n, yw_cross(yw_sub(p, a), yw_sub(c, a))) / area : 0.0;
  w[2] = area > 0.0 ? (double)yw_dot(n, yw_cross(yw_sub(b, a), yw_sub(p, a))) / area : 0.0;
  w[0] = 1.0 - w[1] - w[2];
}

// The point of the boundary nearest to p, as a pair that pulls it to a goal.
static surface_pair pair_at(const pose_fitter* f, const yw_nearest* near, yw_vec3 goal,
                            yw_vec3 normal, double slide) {
  surface_pair pair = {.goal = goal, .normal = normal, .slide = slide};
  const yw_tree_triangle* t = &f->around.triangles[near->triangle];
  for (int k = 0; k < 3; ++k) pair.v[k] = f->map[f->boundary.triangles[3 * t->index + k]];
  barycentric(near->point, t->a, t->b, t->c, pair.w);
  return pair;
}

// The boundary is pulled to the pose ...
static void pull_boundary(pose_fitter* f, const yw_vec3* normals, double pull) {
  for (int32_t i = 0; i < f->boundary.num_vertices; ++i) {
    yw_nearest near = yw_triangle_tree_nearest(&f->tree, position(f, f->map[i]), INFINITY);
    yw_vec3 normal =
        yw_normalize_or(yw_tree_normal(&f->tree.triangles[near.triangle]), yw_v3(0, 0, 0));
    if (!yw_normals_agree(normals[i], normal)) continue;
    surface_pair pair = {.v = {f->map[i]},
                         .w = {1.0, 0.0, 0.0},
                         .goal = near.point,
                         .normal = normal,
                         .slide = SLIDE};
    add_pair(f, &pair, pull * f->own_area[i]);
  }
}

// ... and by all of the pose, so that no part of it is left out.
static void pull_to_pose(pose_fitter* f, const yw_vec3* normals, double pull) {
  for (int32_t i = 0; i < f->pose.num_vertices; ++i) {
    yw_nearest near = yw_triangle_tree_nearest(&f->around, f->pose.positions[i], INFINITY);
    if (!yw_normals_agree(normals[i], yw_tree_normal(&f->around.triangles[near.triangle])))
      continue;
    yw_vec3 normal = yw_normalize_or(normals[i], yw_v3(0, 0, 0));
    surface_pair pair = pair_at(f, &near, f->pose.positions[i], normal, SLIDE);
    add_pair(f, &pair, pull * f->pose_area[i]);
  }
}

// Steps -------------------------------------------------------------------------------------------

// The tree of the boundary as it is ...
static yw_status place_boundary(pose_fitter* f, const yw_allocator* mem, yw_vec3* positions) {
  for (int32_t i = 0; i < f->boundary.num_vertices; ++i) positions[i] = position(f, f->map[i]);
  yw_triangle_tree_free(&f->around);
  return yw_triangle_tree_create(mem, f->boundary.num_triangles, f->boundary.triangles, positions,
                                 NULL, &f->around);
}

// ... and at rest.
static yw_status place_rest(pose_fitter* f, const yw_allocator* mem) {
  yw_triangle_tree_free(&f->around);
  return yw_triangle_tree_create(mem, f->boundary.num_triangles, f->boundary.triangles,
                                 f->boundary.positions, NULL, &f->around);
}

// What the tets want: each its own rotation.
static void add_rotations(pose_fitter* f) {
  const yw_tet_mesh* mesh = f->def->rest;
  memset(f->right, 0, 3 * (size_t)mesh->num_vertices * sizeof *f->right);
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    double g[9] = {0};
    for (int a = 0; a < 4; ++a) {
      for (int k = 0; k < 9; ++k) g[k] += f->x[3 * v[a] + k / 3] * f->slopes[t][a][k % 3];
    }
    yw_mat3 m = {{(float)g[0], (float)g[3], (float)g[6]},
                 {(float)g[1], (float)g[4], (float)g[7]},
                 {(float)g[2], (float)g[5], (float)g[8]}};
    yw_mat3 r, stretch;
    yw_polar(&m, &r, &stretch);
    for (int a = 0; a < 4; ++a) {
      const double* s = f->slopes[t][a];
      yw_vec3 want = yw_mul(r, yw_v3((float)s[0], (float)s[1], (float)s[2]));
      for (int i = 0; i < 3; ++i) f->right[3 * v[a] + i] += f->volumes[t] * (double)(&want.x)[i];
    }
  }
}

// One round: rotations and nearest points, then positions.
static yw_status improve(pose_fitter* f, const yw_allocator* mem, const surface_pair* landmarks,
                         double pull, yw_vec3* places, yw_vec3* normals, yw_error* error) {
  double scale = f->volume / (f->surface * f->size2);
  memcpy(f->matrix.values, f->base, (size_t)f->matrix.start[f->matrix.size] * sizeof *f->base);
  add_rotations(f);
  if (place_boundary(f, mem, places) < 0) return yw_fail_memory(error, "a pose");
  yw_surface_normals(&f->boundary, places, normals);
  pull_boundary(f, normals, pull * scale);
  yw_surface_normals(&f->pose, f->pose.positions, normals);
  pull_to_pose(f, normals, pull * scale);
  for (int32_t i = 0; i < f->def->num_landmarks; ++i) {
    add_pair(f, &landmarks[i], LANDMARK_PULL * f->volume / f->size2 / f->def->num_landmarks);
  }
  yw_status status = yw_cholesky_factorise(f->factor, &f->matrix, NULL, error);
  if (status == YW_ERR_MEMORY) return yw_fail_memory(error, "a pose");
  if (status < 0) {
    return yw_fail(error, YW_ERR_INVALID, "no part of the pose is near the body; align it");
  }
  yw_cholesky_solve(f->factor, NULL, 1, 1, f->right, f->x, f->scratch);
  return YW_OK;
}

// Moves the boundary onto the pose; the inside follows.
static yw_status finish(pose_fitter* f, yw_vec3* places, yw_vec3* out, yw_error* error) {
  for (int32_t i = 0; i < f->boundary.num_vertices; ++i) {
    places[i] = yw_triangle_tree_nearest(&f->tree, position(f, f->map[i]), INFINITY).point;
  }
  return yw_tets_from_surface_pose(f->def->rest, &f->boundary, places, out, error);
}

static yw_status measure_fit(pose_fitter* f, const yw_allocator* mem, const yw_vec3* out,
                             yw_vec3* places, yw_pose_fit* fit, yw_error* error) {
  double sum = 0.0, worst = 0.0;
  for (int32_t v = 0; v < f->def->rest->num_vertices; ++v) {
    for (int i = 0; i < 3; ++i) f->x[3 * v + i] = (double)(&out[v].x)[i];
  }
  if (place_boundary(f, mem, places) < 0) return yw_fail_memory(error, "a pose");
  for (int32_t i = 0; i < f->boundary.num_vertices; ++i) {
    double d = sqrt((double)yw_triangle_tree_nearest(&f->tree, places[i], INFINITY).distance2);
    sum += d;
    worst = fmax(worst, d);
  }
  for (int32_t i = 0; i < f->pose.num_vertices; ++i) {
    yw_nearest near = yw_triangle_tree_nearest(&f->around, f->pose.positions[i], INFINITY);
    worst = fmax(worst, sqrt((double)near.distance2));
  }
  fit->mean = (float)(sum / f->boundary.num_vertices);
  fit->worst = (float)worst;
  return YW_OK;
}

static yw_status register_pose(pose_fitter* f, const yw_allocator* mem, const yw_similarity* map,
                               yw_vec3* out, yw_pose_fit* fit, yw_error* error) {
  int32_t most = f->boundary.num_vertices;
  if (f->pose.num_vertices > most) most = f->pose.num_vertices;
  yw_vec3 *places = YW_NEW_ARRAY(mem, yw_vec3, most), *normals = YW_NEW_ARRAY(mem, yw_vec3, most);
  surface_pair* landmarks = YW_NEW_ARRAY(mem, surface_pair, f->def->num_landmarks);
  yw_status status = places && normals && landmarks ? place_rest(f, mem) : YW_ERR_MEMORY;
  if (status < 0) yw_fail_memory(error, "a pose");
  for (int32_t i = 0; i < f->def->num_landmarks && status >= 0; ++i) {
    const yw_landmark* mark = &f->def->landmarks[i];
    yw_nearest near = yw_triangle_tree_nearest(&f->around, mark->rest, INFINITY);
    landmarks[i] = pair_at(f, &near, yw_similarity_undo(map, mark->pose), yw_v3(0, 0, 0), 1.0);
  }
  double pull = FIRST_PULL;
  for (int round = 0; round < NUM_LEVELS * ROUNDS && status >= 0; ++round) {
    status = improve(f, mem, landmarks, pull, places, normals, error);
    if (round % ROUNDS == ROUNDS - 1) pull *= PULL_FACTOR;
  }
  if (status >= 0) status = finish(f, places, out, error);
  if (status >= 0) status = measure_fit(f, mem, out, places, fit, error);
  yw_mem_free(mem, places);
  yw_mem_free(mem, normals);
  yw_mem_free(mem, landmarks);
  return status;
}

static yw_status check(const yw_pose_fit_def* def, yw_error* error) {
  if (!def || !def->rest || !def->pose || def->num_landmarks < 0 ||
      (def->num_landmarks > 0 && !def->landmarks)) {
    return yw_fail(error, YW_ERR_INVALID, "a pose needs tets, a surface and its landmarks");
  }
  if (def->rest->num_tets < 1 || def->pose->num_triangles < 4) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "the body has %d tets and the pose %d triangles, but at least 1 and 4 are needed",
        def->rest->num_tets, def->pose->num_triangles);
  }
  for (int32_t i = 0; i < def->num_landmarks; ++i) {
    if (yw_is_finite3(def->landmarks[i].rest) && yw_is_finite3(def->landmarks[i].pose)) continue;
    return yw_fail(error, YW_ERR_INVALID, "landmark %d is not finite", i);
  }
  return YW_OK;
}

yw_status yw_tets_from_pose_mesh(const yw_pose_fit_def* def, yw_vec3* out, yw_pose_fit* fit,
                                 yw_error* error) {
  yw_error_clear(error);
  yw_status status = check(def, error);
  if (status < 0) return status;
  const yw_allocator* mem = &def->rest->mem;
  pose_fitter f = {.def = def};
  yw_pose_fit found = {0};
  yw_similarity map;
  status = yw_tet_mesh_surface(def->rest, mem, &f.boundary, &f.map);
  if (status == YW_ERR_MEMORY) return yw_fail_memory(error, "a pose");
  if (status < 0) return yw_fail(error, status, "the tets have no boundary");
  status = align(&f, mem, &found, &map, error);
  if (status >= 0) status = start_affine(&f, mem, error);
  if (status >= 0) status = make_system(&f, mem, error);
  if (status >= 0) {
    measure_body(&f);
    status = register_pose(&f, mem, &map, out, &found, error);
  }
  if (fit) *fit = found;
  void* const arrays[] = {f.map,   f.start, f.volumes, f.slopes,   f.x,
                          f.right, f.base,  f.scratch, f.own_area, f.pose_area};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(mem, arrays[i]);
  yw_cholesky_destroy(f.factor);
  yw_assembly_free(&f.assembly);
  yw_sparse_free(&f.matrix);
  yw_triangle_tree_free(&f.tree);
  yw_triangle_tree_free(&f.around);
  yw_tri_mesh_free(&f.pose);
  yw_tri_mesh_free(&f.boundary);
  return status;
}
