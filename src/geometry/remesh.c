// SPDX-License-Identifier: MIT
// The same surface in triangles of another size. M. Botsch, L. Kobbelt: A remeshing approach to
// multiresolution modeling, SGP 2004: long edges are split, short ones collapsed, edges flipped and
// vertices spread evenly, a few times over. DIFFERS: a collapsed edge becomes the one of its ends
// or its middle that is nearest to the planes that were there (M. Garland, P. Heckbert: Surface
// simplification using quadric error metrics, SIGGRAPH 1997), so that tips and creases stay.
#include <stdlib.h>

#include "geometry/tri_edit.h"
#include "geometry/triangle_tree.h"
#include "yawara/extend/error.h"

#define MAX_VERTICES 200000
#define ROUNDS 6
// Edges beyond these multiples of the target are split and collapsed.
#define LONG (4.0f / 3.0f)
#define SHORT (4.0f / 5.0f)
#define MAX_PASSES 100
#define FLIP_PASSES 10
// Cosine by which normals may turn in a collapse; of creases, which are not flipped.
#define MAX_TURN 0.3f
#define CREASE 0.5f
// Triangles whose area is less than this share of their longest edge squared are slivers.
#define SLIVER 0.1f
// Merged vertices stay within this share of the target from the planes that were there (root mean
// square).
#define MAX_OFFSET 0.1
// Weight of the planes along borders against those of triangles.
#define BORDER_WEIGHT 10.0

typedef struct remesher {
  yw_tri_edit edit;
  const yw_tri_mesh* mesh;
  yw_triangle_tree tree;  // of the mesh
  float edge;
  int32_t pass;
  int32_t* busy;  // per vertex: the pass that changed what is around it
  int32_t busy_capacity;
} remesher;

// Planes ------------------------------------------------------------------------------------------

// Adds weight (n . x - n . p)^2.
static void add_plane(double planes[10], yw_vec3 n, yw_vec3 p, double weight) {
  const double v[4] = {
      (double)n.x, (double)n.y, (double)n.z,
      -((double)n.x * (double)p.x + (double)n.y * (double)p.y + (double)n.z * (double)p.z)};
  for (int i = 0, k = 0; i < 4; ++i) {
    for (int j = i; j < 4; ++j) planes[k++] += weight * v[i] * v[j];
  }
}

static double distance_to_planes(const double a[10], const double b[10], yw_vec3 p) {
  const double v[4] = {(double)p.x, (double)p.y, (double)p.z, 1.0};
  double sum = 0.0;
  for (int i = 0, k = 0; i < 4; ++i) {
    for (int j = i; j < 4; ++j, ++k) sum += (i == j ? 1.0 : 2.0) * (a[k] + b[k]) * v[i] * v[j];
  }
  return sum;
}

// Squared distances that are allowed. The first, fifth and eighth number are the squares of the
// normals, which sum to 1.
static double most_cost(const double planes[10], float edge) {
  double offset = MAX_OFFSET * (double)edge;
  return offset * offset * (planes[0] + planes[4] + planes[7]);
}

static void find_planes(yw_tri_edit* e) {
  for (int32_t h = 0; h < e->halves.count; ++h) {
    if (yw_half_is_outside(e, h)) continue;
    int32_t from = yw_half_from(e, h), to = yw_half_to(e, h);
    yw_vec3 area = yw_half_normal(e, h), normal = yw_normalize_or(area, yw_v3(0, 0, 0));
    yw_vec3 p = yw_tri_edit_at(e, from), along = yw_sub(yw_tri_edit_at(e, to), p);
    add_plane(e->vertices.items[from].planes, normal, p, (double)yw_length(area));
    if (!yw_half_is_outside(e, yw_half_twin(e, h))) continue;
    yw_vec3 side = yw_normalize_or(yw_cross(along, normal), yw_v3(0, 0, 0));
    double weight = BORDER_WEIGHT * (double)yw_length2(along);
    add_plane(e->vertices.items[from].planes, side, p, weight);
    add_plane(e->vertices.items[to].planes, side, p, weight);
  }
}

// Edges by length ---------------------------------------------------------------------------------

typedef struct edge_entry {
  float length2;
  int32_t half;
} edge_entry;

static int compare_lengths(const void* a, const void* b) {
  const edge_entry *p = a, *q = b;
  if (p->length2 != q->length2) return p->length2 < q->length2 ? -1 : 1;
  return (p->half > q->half) - (p->half < q->half);
}

static float length2_of(const yw_tri_edit* e, int32_t h) {
  return yw_length2(
      yw_sub(yw_tri_edit_at(e, yw_half_to(e, h)), yw_tri_edit_at(e, yw_half_from(e, h))));
}

// Edges between two lengths, the shortest first. The caller owns the list.
static edge_entry* list_edges(const yw_tri_edit* e, float above2, float below2, int32_t* count) {
  edge_entry* list = YW_NEW_ARRAY(&e->mem, edge_entry, e->halves.count / 2 + 1);
  *count = 0;
  for (int32_t h = 0; list && h < e->halves.count; ++h) {
    if (yw_half_from(e, h) < 0 || yw_half_twin(e, h) < h) continue;
    if (yw_is_ghost(e, yw_half_from(e, h)) || yw_is_ghost(e, yw_half_to(e, h))) continue;
    float length2 = length2_of(e, h);
    if (length2 > above2 && length2 < below2) list[(*count)++] = (edge_entry){length2, h};
  }
  if (list) qsort(list, (size_t)*count, sizeof *list, compare_lengths);
  return list;
}

// Splits ------------------------------------------------------------------------------------------

static yw_status split_long_edges(remesher* r, yw_error* error) {
  yw_tri_edit* e = &r->edit;
  float long2 = LONG * LONG * r->edge * r->edge;
  for (int32_t pass = 0; pass < MAX_PASSES; ++pass) {
    int32_t count;
    edge_entry* list = list_edges(e, long2, INFINITY, &count);
    bool done = list != NULL;
    for (int32_t i = count - 1; i >= 0 && done; --i) {
      if (e->vertices.count > r->mesh->num_vertices + MAX_VERTICES) {
        yw_mem_free(&e->mem, list);
        return yw_fail(error, YW_ERR_LIMIT, "edges of %g m make more than %d vertices",
                       (double)r->edge, MAX_VERTICES);
      }
      // An earlier split may have put a shorter edge in its place; the next pass finds the rest.
      if (length2_of(e, list[i].half) > long2) done = yw_tri_edit_split(e, list[i].half);
    }
    yw_mem_free(&e->mem, list);
    if (!done) return yw_fail_memory(error, "triangles of another size");
    if (count == 0) break;
  }
  return YW_OK;
}

// Collapses ---------------------------------------------------------------------------------------

// Twice the area over the square of the longest edge.
static float shape_of(yw_vec3 a, yw_vec3 b, yw_vec3 c, yw_vec3 normal) {
  float longest2 = fmaxf(yw_length2(yw_sub(b, a)), yw_length2(yw_sub(c, b)));
  longest2 = fmaxf(longest2, yw_length2(yw_sub(a, c)));
  return longest2 > 0.0f ? yw_length(normal) / longest2 : 0.0f;
}

// Whether triangles around v stay well when v moves to `place`; those that have `other` vanish.
static bool may_move(const yw_tri_edit* e, int32_t v, int32_t other, yw_vec3 place, float max2) {
  int32_t first = e->vertices.items[v].out, h = first;
  do {
    int32_t to = yw_half_to(e, h), tip = yw_half_tip(e, h);
    bool vanishes = to == other || tip == other;
    if (!yw_half_is_outside(e, h) && !vanishes) {
      yw_vec3 b = yw_tri_edit_at(e, to), c = yw_tri_edit_at(e, tip), old = yw_half_normal(e, h);
      yw_vec3 fresh = yw_cross(yw_sub(b, place), yw_sub(c, place));
      float before = shape_of(yw_tri_edit_at(e, v), b, c, old),
            after = shape_of(place, b, c, fresh);
      if (yw_length2(yw_sub(b, place)) > max2 || after < fminf(before, SLIVER)) return false;
      if (before > 1e-3f * SLIVER &&
          yw_dot(old, fresh) < MAX_TURN * yw_length(old) * yw_length(fresh)) {
        return false;
      }
    }
    h = yw_half_around(e, h);
  } while (h != first);
  return true;
}

// Places for the merged vertex that are near the planes, the best first; their number. Borders stay
// where they are.
static int places_for(const remesher* r, int32_t h, yw_vec3 out[3]) {
  const yw_tri_edit* e = &r->edit;
  int32_t a = yw_half_from(e, h), b = yw_half_to(e, h);
  bool a_on = yw_tri_edit_on_border(e, a), b_on = yw_tri_edit_on_border(e, b);
  yw_vec3 x = yw_tri_edit_at(e, a), y = yw_tri_edit_at(e, b);
  if (a_on != b_on) {
    out[0] = a_on ? x : y;
    return 1;
  }
  const double *p = e->vertices.items[a].planes, *q = e->vertices.items[b].planes;
  double limit = most_cost(p, r->edge) + most_cost(q, r->edge), cost[3];
  const yw_vec3 places[3] = {yw_lerp(x, y, 0.5f), x, y};
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    double found = distance_to_planes(p, q, places[i]);
    if (found > limit) continue;
    int k = count++;
    for (; k > 0 && found < cost[k - 1]; --k) cost[k] = cost[k - 1], out[k] = out[k - 1];
    cost[k] = found, out[k] = places[i];
  }
  return count;
}

static void mark_around(remesher* r, int32_t v) {
  const yw_tri_edit* e = &r->edit;
  int32_t first = e->vertices.items[v].out, h = first;
  r->busy[v] = r->pass;
  do {
    r->busy[yw_half_to(e, h)] = r->pass;
    h = yw_half_around(e, h);
  } while (h != first);
}

static bool collapse(remesher* r, int32_t h, float max2) {
  yw_tri_edit* e = &r->edit;
  int32_t a = yw_half_from(e, h), b = yw_half_to(e, h);
  if (r->busy[a] == r->pass || r->busy[b] == r->pass || !yw_tri_edit_can_collapse(e, h))
    return false;
  yw_vec3 places[3];
  int count = places_for(r, h, places);
  for (int k = 0; k < count; ++k) {
    if (!may_move(e, a, b, places[k], max2) || !may_move(e, b, a, places[k], max2)) continue;
    yw_tri_edit_collapse(e, h, places[k]);
    mark_around(r, a);
    return true;
  }
  return false;
}

// Neighbours of a collapsed edge wait for the next pass, so that the surface coarsens evenly.
static yw_status collapse_short_edges(remesher* r, yw_error* error) {
  yw_tri_edit* e = &r->edit;
  float short2 = SHORT * SHORT * r->edge * r->edge, max2 = LONG * LONG * r->edge * r->edge;
  if (e->vertices.count > r->busy_capacity) {
    r->busy_capacity = e->vertices.count;
    if (!YW_RENEW_ARRAY(&e->mem, r->busy, r->busy_capacity)) {
      return yw_fail_memory(error, "triangles of another size");
    }
  }
  for (int32_t pass = 0; pass < MAX_PASSES; ++pass) {
    int32_t count, changed = 0;
    edge_entry* list = list_edges(e, -1.0f, short2, &count);
    if (!list) return yw_fail_memory(error, "triangles of another size");
    ++r->pass;
    for (int32_t i = 0; i < count; ++i) {
      if (yw_half_from(e, list[i].half) >= 0) changed += collapse(r, list[i].half, max2);
    }
    yw_mem_free(&e->mem, list);
    if (changed == 0) break;
  }
  return YW_OK;
}

// Flips -------------------------------------------------------------------------------------------

// Cotangent of the angle at a.
static float cotangent(yw_vec3 a, yw_vec3 b, yw_vec3 c) {
  yw_vec3 u = yw_sub(b, a), v = yw_sub(c, a);
  float sine = yw_length(yw_cross(u, v));
  return sine > 0.0f ? yw_dot(u, v) / sine : 0.0f;
}

// Whether the tips see the edge at more than 180 degrees together, and all is nearly flat there.
static bool should_flip(const yw_tri_edit* e, int32_t h) {
  int32_t twin = yw_half_twin(e, h);
  yw_vec3 a = yw_tri_edit_at(e, yw_half_from(e, h)), b = yw_tri_edit_at(e, yw_half_to(e, h));
  yw_vec3 c = yw_tri_edit_at(e, yw_half_tip(e, h)), d = yw_tri_edit_at(e, yw_half_tip(e, twin));
  if (cotangent(c, a, b) + cotangent(d, a, b) > -1e-3f) return false;
  yw_vec3 one = yw_half_normal(e, h), two = yw_half_normal(e, twin);
  float sizes = yw_length(one) * yw_length(two);
  if (sizes > 0.0f && yw_dot(one, two) < CREASE * sizes) return false;
  yw_vec3 mean = yw_add(one, two);
  yw_vec3 left = yw_cross(yw_sub(c, d), yw_sub(a, d)), right = yw_cross(yw_sub(d, c), yw_sub(b, c));
  return yw_dot(left, mean) > CREASE * yw_length(left) * yw_length(mean) &&
         yw_dot(right, mean) > CREASE * yw_length(right) * yw_length(mean);
}

static void flip_edges(yw_tri_edit* e) {
  for (int32_t pass = 0; pass < FLIP_PASSES; ++pass) {
    bool changed = false;
    for (int32_t h = 0; h < e->halves.count; ++h) {
      if (yw_half_from(e, h) < 0 || yw_half_twin(e, h) < h) continue;
      if (!yw_tri_edit_can_flip(e, h) || !should_flip(e, h)) continue;
      yw_tri_edit_flip(e, h);
      changed = true;
    }
    if (!changed) break;
  }
}

// Relaxation --------------------------------------------------------------------------------------

// The mean of what is around v, along the surface. Where two creases meet, along these.
static yw_vec3 relaxed(const yw_tri_edit* e, int32_t v, yw_vec3* normal) {
  int32_t first = e->vertices.items[v].out, h = first, creases = 0;
  yw_vec3 p = yw_tri_edit_at(e, v), sum = {0, 0, 0}, ends[2] = {p, p};
  float total = 0.0f;
  *normal = yw_v3(0, 0, 0);
  do {
    yw_vec3 n = yw_half_normal(e, h), other = yw_half_normal(e, yw_half_twin(e, h));
    yw_vec3 b = yw_tri_edit_at(e, yw_half_to(e, h)), c = yw_tri_edit_at(e, yw_half_tip(e, h));
    float area = yw_length(n);
    *normal = yw_add(*normal, n);
    sum = yw_mad(sum, area / 3.0f, yw_sub(yw_add(b, c), yw_add(p, p)));
    total += area;
    if (yw_dot(n, other) < CREASE * area * yw_length(other)) {
      if (creases < 2) ends[creases] = b;
      ++creases;
    }
    h = yw_half_around(e, h);
  } while (h != first);
  *normal = yw_normalize_or(*normal, yw_v3(0, 0, 0));
  if (creases == 1 || creases > 2 || !(total > 0.0f)) return p;
  if (creases == 2) {
    yw_vec3 along = yw_normalize_or(yw_sub(ends[1], ends[0]), yw_v3(0, 0, 0));
    yw_vec3 step = yw_sub(yw_lerp(ends[0], ends[1], 0.5f), p);
    return yw_mad(p, 0.5f * yw_dot(step, along), along);
  }
  yw_vec3 step = yw_scale(sum, 1.0f / total);
  return yw_add(p, yw_mad(step, -yw_dot(step, *normal), *normal));
}

// Moves v to its relaxed place on the mesh, unless that is on another side or spoils a triangle.
static void relax_vertex(remesher* r, int32_t v) {
  yw_tri_edit* e = &r->edit;
  yw_vec3 normal, aim = relaxed(e, v, &normal);
  yw_nearest found = yw_triangle_tree_nearest(&r->tree, aim, r->edge * r->edge);
  if (found.triangle < 0) return;
  const yw_tree_triangle* t = &r->tree.triangles[found.triangle];
  yw_vec3 there = yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a));
  if (!(yw_dot(there, normal) > 0.0f)) return;
  if (may_move(e, v, -1, found.point, INFINITY)) e->vertices.items[v].position = found.point;
}

static void relax(remesher* r) {
  yw_tri_edit* e = &r->edit;
  for (int32_t v = 0; v < e->vertices.count; ++v) {
    const yw_tri_edit_vertex* vertex = &e->vertices.items[v];
    if (vertex->out >= 0 && !vertex->ghost && !yw_tri_edit_on_border(e, v)) relax_vertex(r, v);
  }
}

// Result ------------------------------------------------------------------------------------------

static int32_t home_of(const yw_tri_edit* e, int32_t v) {
  while (v >= 0 && e->vertices.items[v].out < 0) v = e->vertices.items[v].home;
  return v;
}

// New numbers of the vertices that are left; their number.
static int32_t number_vertices(const yw_tri_edit* e, int32_t* number) {
  int32_t count = 0;
  for (int32_t v = 0; v < e->vertices.count; ++v) {
    bool left = e->vertices.items[v].out >= 0 && !e->vertices.items[v].ghost;
    number[v] = left ? count++ : -1;
  }
  return count;
}

static yw_status write_result(remesher* r, yw_tri_mesh* out, int32_t** home) {
  yw_tri_edit* e = &r->edit;
  int32_t* number = YW_NEW_ARRAY(&e->mem, int32_t, e->vertices.count);
  int32_t* homes = YW_NEW_ARRAY(&e->mem, int32_t, r->mesh->num_vertices);
  int32_t triangles = 0, written = 0;
  for (int32_t h = 0; h < e->halves.count; h += 3) {
    triangles += yw_half_from(e, h) >= 0 && !yw_half_is_outside(e, h);
  }
  yw_status status = number && homes ? YW_OK : YW_ERR_MEMORY;
  if (status >= 0) {
    status = yw_tri_mesh_create(&e->mem, number_vertices(e, number), triangles, out);
  }
  if (status >= 0) {
    for (int32_t v = 0; v < e->vertices.count; ++v) {
      if (number[v] >= 0) out->positions[number[v]] = yw_tri_edit_at(e, v);
    }
    for (int32_t h = 0; h < e->halves.count; ++h) {
      if (yw_half_from(e, h) < 0 || yw_half_is_outside(e, h)) continue;
      out->triangles[written++] = number[yw_half_from(e, h)];
    }
    for (int32_t v = 0; v < r->mesh->num_vertices; ++v) {
      int32_t at = home_of(e, e->start[v]);
      homes[v] = at < 0 ? -1 : number[at];
    }
  }
  yw_mem_free(&e->mem, number);
  if (status < 0 || !home) {
    yw_mem_free(&e->mem, homes);
  } else {
    *home = homes;
  }
  return status;
}

static yw_status run(remesher* r, yw_error* error) {
  yw_status status = YW_OK;
  find_planes(&r->edit);
  for (int round = 0; round < ROUNDS && status >= 0; ++round) {
    status = split_long_edges(r, error);
    if (status >= 0) status = collapse_short_edges(r, error);
    if (status < 0) break;
    flip_edges(&r->edit);
    relax(r);
  }
  return status;
}

static yw_status check(const yw_tri_mesh* mesh, float edge, yw_error* error) {
  if (!mesh || mesh->num_triangles < 1) {
    return yw_fail(error, YW_ERR_GEOMETRY, "the surface has no triangles");
  }
  if (!(edge > 0.0f) || !isfinite(edge)) {
    return yw_fail(error, YW_ERR_INVALID, "edges of %g m, but they must be longer than 0",
                   (double)edge);
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    if (!yw_is_finite3(mesh->positions[v])) {
      return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d is not finite", v);
    }
  }
  return YW_OK;
}

yw_status yw_tri_mesh_remesh(const yw_tri_mesh* mesh, const yw_allocator* mem, float edge,
                             yw_tri_mesh* out, int32_t** home, yw_error* error) {
  yw_error_clear(error);
  *out = (yw_tri_mesh){0};
  if (home) *home = NULL;
  yw_status status = check(mesh, edge, error);
  remesher r = {.mesh = mesh, .edge = edge};
  if (status < 0) return status;
  status = yw_tri_edit_create(mesh, mem, &r.edit, error);
  if (status < 0) return status;
  status = yw_triangle_tree_create(mem, mesh->num_triangles, mesh->triangles, mesh->positions, NULL,
                                   &r.tree);
  if (status < 0) status = yw_fail_memory(error, "triangles of another size");
  if (status >= 0) status = run(&r, error);
  if (status >= 0 && write_result(&r, out, home) < 0) {
    yw_tri_mesh_free(out);
    status = yw_fail_memory(error, "triangles of another size");
  }
  yw_mem_free(&r.edit.mem, r.busy);
  yw_triangle_tree_free(&r.tree);
  yw_tri_edit_free(&r.edit);
  return status;
}
