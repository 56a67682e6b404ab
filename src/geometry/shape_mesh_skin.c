// SPDX-License-Identifier: MIT
// Along each side of a triangle that no other crosses, the winding number is constant: one sample
// tells whether the solid is in front, behind, on both sides or on neither.
#include "geometry/shape_mesh_skin.h"

#include "yawara/extend/memory.h"

// Crossing triangles

typedef struct corners {
  yw_vec3 p[3];
} corners;

// True if the triangles are separated along the axis by more than rounding error.
static bool apart_along(const corners* s, const corners* t, yw_vec3 axis) {
  float length2 = yw_length2(axis);
  if (!(length2 > 1e-24f)) return false;
  float low_s = INFINITY, high_s = -INFINITY, low_t = INFINITY, high_t = -INFINITY;
  for (int k = 0; k < 3; ++k) {
    float a = yw_dot(s->p[k], axis), b = yw_dot(t->p[k], axis);
    low_s = a < low_s ? a : low_s, high_s = a > high_s ? a : high_s;
    low_t = b < low_t ? b : low_t, high_t = b > high_t ? b : high_t;
  }
  float gap = low_s - high_t > low_t - high_s ? low_s - high_t : low_t - high_s;
  return gap > 1e-6f * sqrtf(length2);
}

// Separating axes: both normals, directions across the edges in both planes, and the products of
// edges. The triangles are moved near the origin first, to preserve digits.
static bool may_cross(const yw_tree_triangle* a, const yw_tree_triangle* b) {
  yw_vec3 o = a->a;
  corners s = {{yw_sub(a->a, o), yw_sub(a->b, o), yw_sub(a->c, o)}};
  corners t = {{yw_sub(b->a, o), yw_sub(b->b, o), yw_sub(b->c, o)}};
  yw_vec3 es[3], et[3];
  for (int k = 0; k < 3; ++k) {
    es[k] = yw_sub(s.p[(k + 1) % 3], s.p[k]);
    et[k] = yw_sub(t.p[(k + 1) % 3], t.p[k]);
  }
  yw_vec3 ns = yw_cross(es[0], es[1]), nt = yw_cross(et[0], et[1]);
  if (apart_along(&s, &t, ns) || apart_along(&s, &t, nt)) return false;
  for (int i = 0; i < 3; ++i) {
    if (apart_along(&s, &t, yw_cross(ns, es[i])) || apart_along(&s, &t, yw_cross(nt, et[i])))
      return false;
    for (int j = 0; j < 3; ++j)
      if (apart_along(&s, &t, yw_cross(es[i], et[j]))) return false;
  }
  return true;
}

// Number of shared corners; *own and *others are the last such pair.
static int shared_corners(const int32_t* s, const int32_t* t, int* own, int* others) {
  int count = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (s[i] == t[j]) ++count, *own = i, *others = j;
  return count;
}

// The edge opposite a corner, as a triangle without area.
static yw_tree_triangle opposite_edge(const yw_tree_triangle* t, int corner) {
  const yw_vec3 p[3] = {t->a, t->b, t->c};
  yw_vec3 from = p[(corner + 1) % 3], to = p[(corner + 2) % 3];
  return (yw_tree_triangle){from, to, to, t->index, true};
}

// Triangles that share a corner meet elsewhere only if the edge opposite it crosses the other
// triangle. Triangles that share an edge meet elsewhere only if they are folded flat, which
// spread() checks.
static bool may_cross_beyond_shared(const yw_tree_triangle* s, const yw_tree_triangle* t,
                                    const int32_t* corners_s, const int32_t* corners_t) {
  int own = 0, others = 0;
  int shared = shared_corners(corners_s, corners_t, &own, &others);
  if (shared == 0) return may_cross(s, t);
  if (shared > 1) return false;
  yw_tree_triangle edge_s = opposite_edge(s, own), edge_t = opposite_edge(t, others);
  return may_cross(&edge_s, t) || may_cross(s, &edge_t);
}

// True if another triangle may cross this one.
static bool is_crossed(const yw_triangle_tree* tree, const yw_mesh_normals* normals,
                       const yw_tree_triangle* t) {
  yw_aabb box = {yw_min3(t->a, yw_min3(t->b, t->c)), yw_max3(t->a, yw_max3(t->b, t->c))};
  const int32_t* own = normals->corners + 3 * (size_t)t->index;
  int32_t stack[YW_TREE_MAX_DEPTH + 2] = {0}, top = 1;
  while (top > 0) {
    const yw_tree_node* node = &tree->nodes[stack[--top]];
    if (!yw_aabb_overlap((yw_aabb){node->lower, node->upper}, box)) continue;
    if (node->count == 0) {
      stack[top++] = node->first + 1;
      stack[top++] = node->first;
    }
    for (int32_t i = node->first; i < node->first + node->count; ++i) {
      const yw_tree_triangle* other = &tree->triangles[i];
      const int32_t* others = normals->corners + 3 * (size_t)other->index;
      if (other != t && may_cross_beyond_shared(t, other, own, others)) return true;
    }
  }
  return false;
}

// Sides

typedef struct sides {
  bool front, back;  ///< whether the solid is there
} sides;

static sides sides_at(const yw_winding* winding, float turn, yw_vec3 p, yw_vec3 step) {
  return (sides){turn * yw_winding_number(winding, yw_add(p, step), NULL) > 0.5f,
                 turn * yw_winding_number(winding, yw_sub(p, step), NULL) > 0.5f};
}

/// What is known of one triangle.
typedef struct label {
  bool use, is_clear;
} label;

// A crossed triangle counts as inside only if its centre and points near its corners are.
static label classify(const yw_winding* winding, float turn, const yw_tree_triangle* t,
                      bool crossed) {
  static const float weights[4][3] = {{1.0f / 3, 1.0f / 3, 1.0f / 3},
                                      {0.9f, 0.05f, 0.05f},
                                      {0.05f, 0.9f, 0.05f},
                                      {0.05f, 0.05f, 0.9f}};
  yw_vec3 normal = yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
  float size = sqrtf(yw_length(normal));
  // Small compared with the triangle, large compared with rounding errors in a mesh of size 1.
  float step = fmaxf(1e-3f * size, 4e-6f) * turn;
  yw_vec3 out = yw_scale(yw_normalize_or(normal, yw_v3(0, 0, 0)), step);
  label found = {false, false};
  for (int i = 0; i < (crossed ? 4 : 1) && !found.use; ++i) {
    yw_vec3 p = yw_scale(t->a, weights[i][0]);
    p = yw_mad(yw_mad(p, weights[i][1], t->b), weights[i][2], t->c);
    sides s = sides_at(winding, turn, p, out);
    found = (label){!(s.front && s.back), !crossed && !s.front && s.back};
  }
  return found;
}

// Patches -----------------------------------------------------------------------------------------
// Along a closed surface that nothing crosses, both sides stay what they are: one triangle of such
// a patch decides for all.

typedef struct patches {
  const yw_mesh_normals* normals;
  const yw_tree_triangle** triangles;  ///< in the caller's order
  bool* crossed;
  bool* done;
  int32_t* across;   ///< 2 per edge: its triangles + 1; 0: none
  bool* closed_off;  ///< per edge: a patch ends there
  int32_t* queue;
} patches;

static void patches_free(const yw_allocator* mem, patches* p) {
  yw_mem_free(mem, p->triangles);
  yw_mem_free(mem, p->crossed);
  yw_mem_free(mem, p->done);
  yw_mem_free(mem, p->across);
  yw_mem_free(mem, p->closed_off);
  yw_mem_free(mem, p->queue);
}

static bool patches_create(const yw_allocator* mem, const yw_triangle_tree* tree,
                           const yw_mesh_normals* normals, patches* p) {
  int32_t count = tree->num_triangles;
  *p = (patches){.normals = normals};
  p->triangles = YW_NEW_ARRAY(mem, const yw_tree_triangle*, count);
  p->crossed = YW_NEW_ARRAY(mem, bool, count);
  p->done = YW_NEW_ARRAY(mem, bool, count);
  p->across = YW_NEW_ARRAY(mem, int32_t, 2 * (size_t)normals->num_edges);
  p->closed_off = YW_NEW_ARRAY(mem, bool, normals->num_edges);
  p->queue = YW_NEW_ARRAY(mem, int32_t, count);
  if (!p->triangles || !p->crossed || !p->done || !p->across || !p->closed_off || !p->queue) {
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    const yw_tree_triangle* t = &tree->triangles[i];
    p->triangles[t->index] = t;
    p->crossed[t->index] = t->is_flat || is_crossed(tree, normals, t);
  }
  for (size_t h = 0; h < 3 * (size_t)count; ++h) {
    int32_t edge = normals->edges[h], *two = p->across + 2 * (size_t)edge;
    // Triangles that are folded onto each other, or more than two of them.
    if (two[1] || !(yw_length2(normals->edge_normal[edge]) > 0.2f)) p->closed_off[edge] = true;
    two[two[0] ? 1 : 0] = (int32_t)(h / 3) + 1;
  }
  return true;
}

// Collects the patch around a triangle in the queue. Returns its size; the first is the largest
// triangle, whose sides are the easiest to tell.
static int32_t collect_patch(patches* p, int32_t start) {
  int32_t count = 0, largest = 0;
  float most = -1.0f;
  p->queue[count++] = start;
  p->done[start] = true;
  for (int32_t n = 0; n < count; ++n) {
    const yw_tree_triangle* t = p->triangles[p->queue[n]];
    float area = yw_length2(yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a)));
    if (area > most) most = area, largest = n;
    for (int k = 0; k < 3 && !p->crossed[p->queue[n]]; ++k) {
      int32_t edge = p->normals->edges[3 * (size_t)p->queue[n] + (size_t)k];
      for (int side = 0; side < 2 && !p->closed_off[edge]; ++side) {
        int32_t other = p->across[2 * (size_t)edge + (size_t)side] - 1;
        if (other < 0 || p->done[other] || p->crossed[other]) continue;
        p->done[other] = true;
        p->queue[count++] = other;
      }
    }
  }
  int32_t swap = p->queue[0];
  p->queue[0] = p->queue[largest];
  p->queue[largest] = swap;
  return count;
}

static bool label_triangles(const yw_winding* winding, const yw_mesh_normals* normals, float turn,
                            yw_mesh_skin* out, bool* is_clear) {
  patches p;
  int32_t count = winding->tree->num_triangles;
  bool ok = patches_create(&out->mem, winding->tree, normals, &p);
  for (int32_t i = 0; ok && i < count; ++i) {
    int32_t start = winding->tree->triangles[i].index, size = 1;
    if (p.done[start]) continue;
    p.queue[0] = start;
    if (normals->is_closed) size = collect_patch(&p, start);
    int32_t first = p.queue[0];
    label found = classify(winding, turn, p.triangles[first], p.crossed[first]);
    for (int32_t n = 0; n < size; ++n) {
      out->use[p.queue[n]] = found.use;
      is_clear[p.queue[n]] = found.is_clear;
    }
    out->num_unused += found.use ? 0 : size;
  }
  patches_free(&out->mem, &p);
  return ok;
}

// Edges are clear between two clear triangles that are not folded onto each other; corners are
// clear if all triangles and edges around them are.
static bool spread(int32_t num_triangles, const bool* is_clear, const yw_mesh_normals* normals,
                   yw_mesh_skin* out) {
  int32_t* edge_count = YW_NEW_ARRAY(&out->mem, int32_t, normals->num_edges);
  bool* edge_bad = YW_NEW_ARRAY(&out->mem, bool, normals->num_edges);
  bool* vertex_bad = YW_NEW_ARRAY(&out->mem, bool, normals->num_vertices);
  bool ok = edge_count && edge_bad && vertex_bad;
  size_t half_edges = 3 * (size_t)num_triangles;
  for (size_t h = 0; ok && h < half_edges; ++h) {
    int32_t edge = normals->edges[h];
    ++edge_count[edge];
    // The sum of two unit normals is short if they are nearly opposite.
    if (is_clear[h / 3] && yw_length2(normals->edge_normal[edge]) > 0.2f) continue;
    edge_bad[edge] = true;
    vertex_bad[normals->corners[h]] = true;
    vertex_bad[normals->corners[h % 3 == 2 ? h - 2 : h + 1]] = true;
  }
  for (size_t h = 0; ok && h < half_edges; ++h) {
    static const int edge_part[3] = {3, 6, 5};
    int32_t edge = normals->edges[h];
    uint8_t* parts = &out->clear_parts[h / 3];
    unsigned set = *parts;
    if (is_clear[h / 3]) set |= 1u << 7;
    if (edge_count[edge] == 2 && !edge_bad[edge]) set |= 1u << edge_part[h % 3];
    if (!vertex_bad[normals->corners[h]]) set |= 1u << (1u << h % 3);
    *parts = (uint8_t)set;
  }
  yw_mem_free(&out->mem, edge_count);
  yw_mem_free(&out->mem, edge_bad);
  yw_mem_free(&out->mem, vertex_bad);
  return ok;
}

yw_status yw_mesh_skin_create(const yw_winding* winding, const yw_mesh_normals* normals, float turn,
                              yw_mesh_skin* out) {
  const yw_triangle_tree* tree = winding->tree;
  *out = (yw_mesh_skin){.mem = tree->mem};
  out->use = YW_NEW_ARRAY(&out->mem, bool, tree->num_triangles);
  out->clear_parts = YW_NEW_ARRAY(&out->mem, uint8_t, tree->num_triangles);
  bool* is_clear = YW_NEW_ARRAY(&out->mem, bool, tree->num_triangles);
  bool ok = out->use && out->clear_parts && is_clear;
  ok = ok && label_triangles(winding, normals, turn, out, is_clear);
  // Near a hole the winding number is not an integer and its value is needed anyway.
  if (ok && normals->is_closed) ok = spread(tree->num_triangles, is_clear, normals, out);
  yw_mem_free(&out->mem, is_clear);
  if (ok) return YW_OK;
  yw_mesh_skin_free(out);
  return YW_ERR_MEMORY;
}

void yw_mesh_skin_free(yw_mesh_skin* skin) {
  yw_mem_free(&skin->mem, skin->use);
  yw_mem_free(&skin->mem, skin->clear_parts);
  *skin = (yw_mesh_skin){0};
}
