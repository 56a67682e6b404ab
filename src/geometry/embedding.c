// SPDX-License-Identifier: MIT
// The tet of a point is found in a tree of boxes: tets sorted along a Hilbert curve, four per leaf,
// boxes joined in pairs. The nearest box is visited first, so a point inside a tet rarely visits
// more than a few.
#include "geometry/embedding.h"

#include "geometry/order.h"
#include "geometry/tet_math.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define LEAF_TETS 4
#define BLOCK_POINTS 256  // that a worker takes at once

typedef struct tet_tree {
  const yw_tet_mesh* mesh;
  int32_t* order;      ///< tets along the curve; leaf k has order[4 k] to order[4 k + 3]
  int32_t num_leaves;  ///< a power of two
  yw_aabb* boxes;      ///< a heap: node n has children 2 n and 2 n + 1, the root is 1
} tet_tree;

/// The best tet found so far.
typedef struct nearest_tet {
  int32_t tet;
  double distance2;
  double weights[4];
} nearest_tet;

// Tree --------------------------------------------------------------------------------------------

static void tree_free(const yw_allocator* mem, tet_tree* tree) {
  yw_mem_free(mem, tree->order);
  yw_mem_free(mem, tree->boxes);
}

static void fill_boxes(tet_tree* tree) {
  const yw_tet_mesh* mesh = tree->mesh;
  for (int32_t leaf = 0; leaf < tree->num_leaves; ++leaf) {
    yw_aabb box = yw_aabb_empty();
    for (int64_t n = (int64_t)leaf * LEAF_TETS; n < ((int64_t)leaf + 1) * LEAF_TETS; ++n) {
      if (n >= mesh->num_tets) break;
      const int32_t* v = mesh->tets + 4 * (size_t)tree->order[n];
      for (int k = 0; k < 4; ++k) box = yw_aabb_grow(box, mesh->positions[v[k]]);
    }
    tree->boxes[tree->num_leaves + leaf] = box;
  }
  for (int32_t n = tree->num_leaves - 1; n >= 1; --n) {
    tree->boxes[n] = yw_aabb_join(tree->boxes[2 * n], tree->boxes[2 * n + 1]);
  }
}

static yw_status tree_create(const yw_allocator* mem, const yw_tet_mesh* mesh, tet_tree* out) {
  int32_t num_leaves = 1;
  while ((int64_t)num_leaves * LEAF_TETS < mesh->num_tets) num_leaves *= 2;
  *out = (tet_tree){.mesh = mesh, .num_leaves = num_leaves};
  out->order = YW_NEW_ARRAY(mem, int32_t, mesh->num_tets);
  out->boxes = YW_NEW_ARRAY(mem, yw_aabb, 2 * (size_t)num_leaves);
  yw_vec3* centers = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_tets);
  yw_status status = YW_ERR_MEMORY;
  if (out->order != NULL && out->boxes != NULL && centers != NULL) {
    for (int32_t t = 0; t < mesh->num_tets; ++t) {
      yw_dvec3 p[4];
      yw_tet_corners(mesh, t, p);
      centers[t] = yw_f3(yw_dscale(yw_dadd(yw_dadd(p[0], p[1]), yw_dadd(p[2], p[3])), 0.25));
    }
    status = yw_hilbert_order(mem, mesh->num_tets, centers, 0.0, out->order);
  }
  yw_mem_free(mem, centers);
  if (status == YW_OK) {
    fill_boxes(out);
  } else {
    tree_free(mem, out);
  }
  return status;
}

// Distances ---------------------------------------------------------------------------------------

static double axis_gap(double x, float lower, float upper) {
  double below = (double)lower - x, above = x - (double)upper;
  return below > 0.0 ? below : above > 0.0 ? above : 0.0;
}

static double box_distance2(const yw_aabb* box, yw_dvec3 p) {
  double dx = axis_gap(p.x, box->lower.x, box->upper.x);
  double dy = axis_gap(p.y, box->lower.y, box->upper.y);
  double dz = axis_gap(p.z, box->lower.z, box->upper.z);
  return dx * dx + dy * dy + dz * dz;
}

static double segment_distance2(yw_dvec3 p, yw_dvec3 a, yw_dvec3 b) {
  yw_dvec3 ab = yw_dsub(b, a), ap = yw_dsub(p, a);
  double length2 = yw_ddot(ab, ab), t = length2 > 0.0 ? yw_ddot(ap, ab) / length2 : 0.0;
  yw_dvec3 d = yw_dmad(ap, -(t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t), ab);
  return yw_ddot(d, d);
}

// The nearest point is on the plane if it projects into the triangle, else on an edge.
static double triangle_distance2(yw_dvec3 p, yw_dvec3 a, yw_dvec3 b, yw_dvec3 c) {
  yw_dvec3 n = yw_dcross(yw_dsub(b, a), yw_dsub(c, a));
  double sab = yw_ddot(yw_dcross(yw_dsub(b, a), yw_dsub(p, a)), n);
  double sbc = yw_ddot(yw_dcross(yw_dsub(c, b), yw_dsub(p, b)), n);
  double sca = yw_ddot(yw_dcross(yw_dsub(a, c), yw_dsub(p, c)), n);
  if (sab >= 0.0 && sbc >= 0.0 && sca >= 0.0 && yw_ddot(n, n) > 0.0) {
    double height = yw_ddot(n, yw_dsub(p, a));
    return height * height / yw_ddot(n, n);
  }
  double best = segment_distance2(p, a, b);
  best = fmin(best, segment_distance2(p, b, c));
  return fmin(best, segment_distance2(p, c, a));
}

// Barycentric weights of p; false for a flat tet.
static bool barycentric(const yw_dvec3 c[4], yw_dvec3 p, double weights[4]) {
  yw_dvec3 e1 = yw_dsub(c[1], c[0]), e2 = yw_dsub(c[2], c[0]), e3 = yw_dsub(c[3], c[0]);
  yw_dvec3 q = yw_dsub(p, c[0]), n23 = yw_dcross(e2, e3), nq1 = yw_dcross(q, e1);
  double volume6 = yw_ddot(e1, n23);
  if (!(fabs(volume6) > 0.0)) return false;
  double inv = 1.0 / volume6;
  weights[1] = yw_ddot(q, n23) * inv;
  weights[2] = -yw_ddot(nq1, e3) * inv;
  weights[3] = yw_ddot(nq1, e2) * inv;
  weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
  return true;
}

// Squared distance from a point outside: to the nearest of the faces that it sees.
static double outside_distance2(const yw_dvec3 c[4], yw_dvec3 p, const double weights[4]) {
  double best = INFINITY;
  for (int k = 0; k < 4; ++k) {
    if (weights[k] >= 0.0) continue;
    const unsigned char* f = yw_tet_faces[k];
    best = fmin(best, triangle_distance2(p, c[f[0]], c[f[1]], c[f[2]]));
  }
  return best;
}

// Search ------------------------------------------------------------------------------------------

// Searches a leaf for the tet that contains p, or for the nearest one.
static void search_leaf(const tet_tree* tree, int32_t leaf, yw_dvec3 p, bool only_inside,
                        nearest_tet* best) {
  for (int64_t n = (int64_t)leaf * LEAF_TETS; n < ((int64_t)leaf + 1) * LEAF_TETS; ++n) {
    if (n >= tree->mesh->num_tets) return;
    yw_dvec3 c[4];
    nearest_tet found = {.tet = tree->order[n]};
    yw_tet_corners(tree->mesh, found.tet, c);
    if (!barycentric(c, p, found.weights)) continue;
    const double* w = found.weights;
    bool inside = w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0 && w[3] >= 0.0;
    if (!inside && only_inside) continue;
    if (!inside) found.distance2 = outside_distance2(c, p, w);
    if (found.distance2 < best->distance2) *best = found;
    if (inside) return;
  }
}

// Depth-first search, nearest box first. Only boxes nearer than best->distance2 are opened.
static void search_tree(const tet_tree* tree, yw_dvec3 p, bool only_inside, nearest_tet* best) {
  typedef struct visit {
    int32_t node;
    double distance2;
  } visit;
  visit stack[64];
  int depth = 0;
  stack[depth++] = (visit){1, box_distance2(&tree->boxes[1], p)};
  while (depth > 0 && best->distance2 > 0.0) {
    visit top = stack[--depth];
    if (top.distance2 >= best->distance2 || (only_inside && top.distance2 > 0.0)) continue;
    if (top.node >= tree->num_leaves) {
      search_leaf(tree, top.node - tree->num_leaves, p, only_inside, best);
      continue;
    }
    visit a = {2 * top.node, box_distance2(&tree->boxes[2 * top.node], p)};
    visit b = {a.node + 1, box_distance2(&tree->boxes[2 * top.node + 1], p)};
    // Push the nearer child last, so that it is visited first.
    stack[depth++] = a.distance2 <= b.distance2 ? b : a;
    stack[depth++] = a.distance2 <= b.distance2 ? a : b;
  }
}

// Most points are inside a tet: distances are computed only for those that are not.
static nearest_tet find_nearest(const tet_tree* tree, yw_dvec3 p) {
  nearest_tet best = {.tet = -1, .distance2 = INFINITY};
  search_tree(tree, p, true, &best);
  if (best.tet < 0) search_tree(tree, p, false, &best);
  return best;
}

static yw_status check_input(const yw_tet_mesh* tets, int32_t count, const yw_vec3* points,
                             yw_error* error) {
  if (tets == NULL || count < 0 || (count > 0 && points == NULL)) {
    return yw_fail(error, YW_ERR_INVALID, "embedding needs a tet mesh and an array of points");
  }
  if (tets->num_tets < 1 || tets->num_vertices < 4) {
    return yw_fail(error, YW_ERR_GEOMETRY, "cannot embed points in a mesh of %d tets",
                   tets->num_tets);
  }
  for (size_t n = 0; n < 4 * (size_t)tets->num_tets; ++n) {
    if (tets->tets[n] >= 0 && tets->tets[n] < tets->num_vertices) continue;
    return yw_fail(error, YW_ERR_GEOMETRY, "tet %d names vertex %d, but there are %d vertices",
                   (int)(n / 4), tets->tets[n], tets->num_vertices);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (yw_is_finite3(points[i])) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "point %d to embed is at (%g, %g, %g), but positions must be finite", i,
                   (double)points[i].x, (double)points[i].y, (double)points[i].z);
  }
  return YW_OK;
}

/// Shares the points out in blocks.
typedef struct embedding_job {
  const tet_tree* tree;
  const yw_vec3* points;
  yw_embedding* made;
} embedding_job;

// A point that no tet can carry is left at an infinite distance.
static void embed_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const embedding_job* job = context;
  const yw_tet_mesh* tets = job->tree->mesh;
  for (int32_t i = block * BLOCK_POINTS; i < (block + 1) * BLOCK_POINTS; ++i) {
    if (i >= job->made->count) return;
    nearest_tet nearest = find_nearest(job->tree, yw_d3(job->points[i]));
    job->made->outside[i] = (float)sqrt(nearest.distance2);
    yw_embedded_point* point = &job->made->points[i];
    for (int k = 0; k < 4 && nearest.tet >= 0; ++k) {
      point->vertices[k] = tets->tets[4 * (size_t)nearest.tet + (size_t)k];
      point->weights[k] = (float)nearest.weights[k];
    }
  }
}

static yw_status find_farthest(yw_embedding* made, int32_t num_tets, yw_error* error) {
  for (int32_t i = 0; i < made->count; ++i) {
    if (!(made->outside[i] < INFINITY)) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "no tet can carry point %d: all %d tets are flat or not finite", i, num_tets);
    }
    made->max_outside = fmaxf(made->max_outside, made->outside[i]);
  }
  return YW_OK;
}

yw_status yw_embedding_create(const yw_allocator* mem, const yw_tet_mesh* tets, int32_t count,
                              const yw_vec3* points, yw_tasks* tasks, yw_embedding* out,
                              yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "embedding needs a place for its result");
  *out = (yw_embedding){0};
  yw_status status = check_input(tets, count, points, error);
  if (status != YW_OK) return status;

  yw_embedding made = {.mem = yw_mem_or_default(mem), .count = count};
  tet_tree tree;
  if (tree_create(&made.mem, tets, &tree) != YW_OK) return yw_fail_memory(error, "an embedding");
  made.points = YW_NEW_ARRAY(&made.mem, yw_embedded_point, count);
  made.outside = YW_NEW_ARRAY(&made.mem, float, count);
  if (made.points == NULL || made.outside == NULL) {
    status = yw_fail_memory(error, "an embedding");
  } else {
    embedding_job job = {&tree, points, &made};
    yw_tasks_run(tasks, count / BLOCK_POINTS + 1, embed_block, &job);
    status = find_farthest(&made, tets->num_tets, error);
  }
  tree_free(&made.mem, &tree);
  if (status == YW_OK) {
    *out = made;
  } else {
    yw_embedding_free(&made);
  }
  return status;
}

void yw_embedding_free(yw_embedding* embedding) {
  if (embedding == NULL) return;
  yw_mem_free(&embedding->mem, embedding->points);
  yw_mem_free(&embedding->mem, embedding->outside);
  *embedding = (yw_embedding){0};
}
