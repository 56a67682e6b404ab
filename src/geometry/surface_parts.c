// SPDX-License-Identifier: MIT
// Parts of a surface: which way they face, which are cavities of others, each as a mesh of its own.
#include "geometry/surface_parts.h"

#include <math.h>
#include <string.h>

#include "geometry/surface_edges.h"
#include "geometry/tet_math.h"
#include "geometry/winding.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

typedef struct surface_part {
  double volume;  // m^3, signed
  yw_aabb box;
  int32_t num_triangles;
  int32_t first;  // its first triangle
  bool open;
  int32_t owner;  // of a cavity: the part around it; else itself
} surface_part;

typedef struct surface_parts {
  const yw_tri_mesh* mesh;
  yw_surface_edges edges;
  int32_t* part;  // per triangle
  surface_part* parts;
  int32_t count;
} surface_parts;

static void free_parts(surface_parts* p) {
  yw_mem_free(&p->edges.mem, p->part);
  yw_mem_free(&p->edges.mem, p->parts);
  yw_surface_edges_free(&p->edges);
}

// Volumes are signed and measured from the first corner of the part, which is near it.
static void measure_parts(surface_parts* p) {
  const yw_vec3* x = p->mesh->positions;
  for (int32_t i = 0; i < p->count; ++i)
    p->parts[i] = (surface_part){.box = yw_aabb_empty(), .first = -1, .owner = i};
  for (int32_t t = 0; t < p->mesh->num_triangles; ++t) {
    surface_part* part = &p->parts[p->part[t]];
    const int32_t* v = p->mesh->triangles + 3 * (size_t)t;
    if (part->first < 0) part->first = t;
    ++part->num_triangles;
    yw_vec3 from = x[p->mesh->triangles[3 * (size_t)part->first]];
    yw_dvec3 e[3];
    for (int32_t k = 0; k < 3; ++k) {
      part->box = yw_aabb_grow(part->box, x[v[k]]);
      e[k] = yw_dsub(yw_d3(x[v[k]]), yw_d3(from));
    }
    part->volume += yw_ddot(e[0], yw_dcross(e[1], e[2])) / 6.0;
  }
  for (int32_t i = 0, end; i < p->edges.num_edges; i = end) {
    end = yw_surface_run_end(&p->edges, i);
    if (end - i == 1) p->parts[p->part[p->edges.edges[i].triangle]].open = true;
  }
}

static yw_status make_parts(const yw_tri_mesh* mesh, const yw_allocator* mem, surface_parts* out) {
  *out = (surface_parts){.mesh = mesh};
  yw_status status = yw_surface_edges_create(mesh, mem, &out->edges);
  if (status < 0) return status;
  out->part = YW_NEW_ARRAY(&out->edges.mem, int32_t, mesh->num_triangles);
  if (out->part) out->count = yw_surface_parts(mesh, &out->edges, out->part);
  if (out->part && out->count >= 0)
    out->parts = YW_NEW_ARRAY(&out->edges.mem, surface_part, out->count);
  if (!out->parts) {
    free_parts(out);
    return YW_ERR_MEMORY;
  }
  measure_parts(out);
  return YW_OK;
}

// Cavities ----------------------------------------------------------------------------------------

static bool box_inside(yw_aabb inner, yw_aabb outer) {
  return inner.lower.x >= outer.lower.x && inner.lower.y >= outer.lower.y &&
         inner.lower.z >= outer.lower.z && inner.upper.x <= outer.upper.x &&
         inner.upper.y <= outer.upper.y && inner.upper.z <= outer.upper.z;
}

// Whether a closed part winds around a point.
static yw_status winds_around(const surface_parts* p, int32_t part, yw_vec3 point, bool* out) {
  const yw_allocator* mem = &p->edges.mem;
  bool* use = YW_NEW_ARRAY(mem, bool, p->mesh->num_triangles);
  if (!use) return YW_ERR_MEMORY;
  for (int32_t t = 0; t < p->mesh->num_triangles; ++t) use[t] = p->part[t] == part;
  yw_triangle_tree tree = {0};
  yw_winding winding = {0};
  yw_status status = yw_triangle_tree_create(mem, p->mesh->num_triangles, p->mesh->triangles,
                                             p->mesh->positions, use, &tree);
  if (status >= 0) status = yw_winding_create(&tree, 2.3f, &winding);
  if (status >= 0) *out = fabsf(yw_winding_number(&winding, point, NULL)) > 0.5f;
  yw_winding_free(&winding);
  yw_triangle_tree_free(&tree);
  yw_mem_free(mem, use);
  return status;
}

// A closed part that faces the other way than the surface as a whole is a cavity of the smallest
// part around it.
static yw_status find_cavities(surface_parts* p) {
  double total = 0.0;
  for (int32_t i = 0; i < p->count; ++i) total += p->parts[i].volume;
  for (int32_t i = 0; i < p->count; ++i) {
    surface_part* inner = &p->parts[i];
    if (inner->open || (inner->volume < 0.0) == (total < 0.0)) continue;
    yw_vec3 point = p->mesh->positions[p->mesh->triangles[3 * (size_t)inner->first]];
    for (int32_t k = 0; k < p->count; ++k) {
      const surface_part* outer = &p->parts[k];
      bool whole = (outer->volume < 0.0) == (total < 0.0);
      if (outer->open || !whole || !box_inside(inner->box, outer->box)) continue;
      bool smaller = inner->owner == i || fabs(outer->volume) < fabs(p->parts[inner->owner].volume);
      bool around = false;
      yw_status status = smaller ? winds_around(p, k, point, &around) : YW_OK;
      if (status < 0) return status;
      if (around) inner->owner = k;
    }
  }
  return YW_OK;
}

// Splitting ---------------------------------------------------------------------------------------

static yw_status copy_part(const surface_parts* p, int32_t owner, const yw_allocator* mem,
                           int32_t* number, yw_tri_mesh* out) {
  int32_t num_triangles = 0, num_vertices = 0;
  const yw_tri_mesh* mesh = p->mesh;
  for (int32_t i = 0; i < p->count; ++i)
    if (p->parts[i].owner == owner) num_triangles += p->parts[i].num_triangles;
  // number is 0 for vertices that are not in use; vertices of other parts are left at 0.
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    if (p->parts[p->part[t]].owner != owner) continue;
    for (int32_t k = 0; k < 3; ++k) {
      int32_t v = mesh->triangles[3 * (size_t)t + (size_t)k];
      if (number[v] == 0) number[v] = ++num_vertices;
    }
  }
  yw_status status = yw_tri_mesh_create(mem, num_vertices, num_triangles, out);
  if (status < 0) return status;
  if (mesh->colors) out->colors = YW_NEW_ARRAY(mem, yw_vec3, num_vertices);
  if (mesh->colors && !out->colors) return YW_ERR_MEMORY;
  int32_t* corner = out->triangles;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    if (p->parts[p->part[t]].owner != owner) continue;
    for (int32_t k = 0; k < 3; ++k) {
      int32_t v = mesh->triangles[3 * (size_t)t + (size_t)k], to = number[v] - 1;
      out->positions[to] = mesh->positions[v];
      if (mesh->colors) out->colors[to] = mesh->colors[v];
      *corner++ = to;
    }
  }
  return YW_OK;
}

static yw_status copy_parts(const surface_parts* p, const yw_allocator* mem, yw_tri_mesh* out) {
  int32_t* number = YW_NEW_ARRAY(mem, int32_t, p->mesh->num_vertices);
  yw_status status = number ? YW_OK : YW_ERR_MEMORY;
  for (int32_t i = 0; i < p->count && status >= 0; ++i) {
    if (p->parts[i].owner == i) status = copy_part(p, i, mem, number, out++);
  }
  yw_mem_free(mem, number);
  return status;
}

yw_status yw_tri_mesh_split(const yw_tri_mesh* mesh, const yw_allocator* mem, yw_tri_mesh** out,
                            int32_t* count) {
  *out = NULL;
  *count = 0;
  surface_parts p;
  yw_status status = make_parts(mesh, mem, &p);
  if (status < 0) return status;
  status = find_cavities(&p);
  int32_t wholes = 0;
  for (int32_t i = 0; i < p.count; ++i) wholes += p.parts[i].owner == i;
  yw_tri_mesh* meshes = YW_NEW_ARRAY(mem, yw_tri_mesh, wholes);
  if (!meshes) status = YW_ERR_MEMORY;
  if (status >= 0) status = copy_parts(&p, mem, meshes);
  free_parts(&p);
  if (status >= 0) {
    *out = meshes;
    *count = wholes;
    return YW_OK;
  }
  for (int32_t i = 0; meshes && i < wholes; ++i) yw_tri_mesh_free(&meshes[i]);
  yw_mem_free(mem, meshes);
  return status;
}

// Orientation -------------------------------------------------------------------------------------

// Neighbours of a triangle across edges of exactly two triangles: 3 each, or -1. A neighbour that
// faces the other side is stored as -2 - number.
static void find_neighbours(const surface_parts* p, int32_t* neighbours) {
  for (int32_t i = 0; i < 3 * p->mesh->num_triangles; ++i) neighbours[i] = -1;
  for (int32_t i = 0, end; i < p->edges.num_edges; i = end) {
    const yw_half_edge* e = p->edges.edges + i;
    end = yw_surface_run_end(&p->edges, i);
    if (end - i != 2 || e[0].triangle == e[1].triangle) continue;
    bool alike = e[0].forward != e[1].forward;
    for (int32_t k = 0; k < 2; ++k) {
      int32_t* slot = neighbours + 3 * (size_t)e[k].triangle;
      while (*slot != -1) ++slot;
      *slot = alike ? e[1 - k].triangle : -2 - e[1 - k].triangle;
    }
  }
}

// turn[t]: 0 not visited, 1 stays, -1 is turned over. Walks over all triangles from the first of
// each part.
static void spread(const surface_parts* p, const int32_t* neighbours, int32_t* stack,
                   signed char* turn) {
  for (int32_t seed = 0; seed < p->mesh->num_triangles; ++seed) {
    if (turn[seed]) continue;
    int32_t top = 0;
    turn[seed] = 1;
    stack[top++] = seed;
    while (top > 0) {
      int32_t t = stack[--top];
      for (int32_t k = 0; k < 3; ++k) {
        int32_t n = neighbours[3 * (size_t)t + (size_t)k];
        if (n == -1) continue;
        int32_t other = n < 0 ? -2 - n : n;
        if (turn[other]) continue;
        turn[other] = (signed char)(n < 0 ? -turn[t] : turn[t]);
        stack[top++] = other;
      }
    }
  }
}

static void turn_over(yw_tri_mesh* mesh, int32_t t) {
  int32_t* v = mesh->triangles + 3 * (size_t)t;
  int32_t swap = v[1];
  v[1] = v[2];
  v[2] = swap;
}

static void turn_marked(yw_tri_mesh* mesh, const signed char* turn) {
  for (int32_t t = 0; t < mesh->num_triangles; ++t)
    if (turn[t] < 0) turn_over(mesh, t);
}

// How many closed parts are around a part.
static yw_status find_depth(const surface_parts* p, int32_t i, int32_t* depth) {
  const surface_part* part = &p->parts[i];
  yw_vec3 point = p->mesh->positions[p->mesh->triangles[3 * (size_t)part->first]];
  *depth = 0;
  for (int32_t k = 0; k < p->count; ++k) {
    bool around = false;
    if (k == i || p->parts[k].open || !box_inside(part->box, p->parts[k].box)) continue;
    yw_status status = winds_around(p, k, point, &around);
    if (status < 0) return status;
    *depth += around;
  }
  return YW_OK;
}

static void mark_part(const surface_parts* p, int32_t part, signed char* turn) {
  for (int32_t t = 0; t < p->mesh->num_triangles; ++t)
    if (p->part[t] == part) turn[t] = -1;
}

// Closed parts of even depth face outward, the others inward.
static yw_status face_outward(const surface_parts* p, signed char* turn) {
  for (int32_t i = 0; i < p->count; ++i) {
    int32_t depth;
    if (p->parts[i].open) continue;
    yw_status status = find_depth(p, i, &depth);
    if (status < 0) return status;
    if ((p->parts[i].volume < 0.0) != (depth % 2 == 1)) mark_part(p, i, turn);
  }
  return YW_OK;
}

// Buffers for turning triangles over.
typedef struct turning {
  int32_t *before, *neighbours, *stack;
  signed char* turn;
} turning;

static bool make_turning(const yw_tri_mesh* mesh, turning* out) {
  size_t count = (size_t)mesh->num_triangles;
  *out = (turning){
      YW_NEW_ARRAY(&mesh->mem, int32_t, 3 * count), YW_NEW_ARRAY(&mesh->mem, int32_t, 3 * count),
      YW_NEW_ARRAY(&mesh->mem, int32_t, count), YW_NEW_ARRAY(&mesh->mem, signed char, count)};
  if (!out->before || !out->neighbours || !out->stack || !out->turn) return false;
  memcpy(out->before, mesh->triangles, 3 * count * sizeof *out->before);
  return true;
}

static void free_turning(const yw_tri_mesh* mesh, turning* w) {
  yw_mem_free(&mesh->mem, w->before);
  yw_mem_free(&mesh->mem, w->neighbours);
  yw_mem_free(&mesh->mem, w->stack);
  yw_mem_free(&mesh->mem, w->turn);
}

static int32_t count_turned(const yw_tri_mesh* mesh, const turning* w) {
  int32_t count = 0;
  for (size_t t = 0; t < (size_t)mesh->num_triangles; ++t)
    count += w->before[3 * t + 1] != mesh->triangles[3 * t + 1];
  return count;
}

yw_status yw_tri_mesh_orient(yw_tri_mesh* mesh, int32_t* num_turned) {
  *num_turned = 0;
  surface_parts p;
  turning w;
  yw_status status = make_parts(mesh, &mesh->mem, &p);
  if (status < 0) return status;
  if (make_turning(mesh, &w)) {
    find_neighbours(&p, w.neighbours);
    spread(&p, w.neighbours, w.stack, w.turn);
    turn_marked(mesh, w.turn);
    measure_parts(&p);
    memset(w.turn, 0, (size_t)mesh->num_triangles);
    status = face_outward(&p, w.turn);
    if (status >= 0) turn_marked(mesh, w.turn);
    *num_turned = count_turned(mesh, &w);
  } else {
    status = YW_ERR_MEMORY;
  }
  free_turning(mesh, &w);
  free_parts(&p);
  return status;
}

// Mending -----------------------------------------------------------------------------------------

// Marks parts in which neighbours face opposite sides; false if there are none.
static bool find_mixed(const surface_parts* p, bool* mixed) {
  bool any = false;
  for (int32_t i = 0, end; i < p->edges.num_edges; i = end) {
    const yw_half_edge* e = p->edges.edges + i;
    end = yw_surface_run_end(&p->edges, i);
    if (end - i != 2 || e[0].triangle == e[1].triangle || e[0].forward != e[1].forward) continue;
    mixed[p->part[e[0].triangle]] = any = true;
  }
  return any;
}

// Open parts enclose nothing: they face as most of their area did.
static void keep_most(const surface_parts* p, const bool* mixed, double* area, signed char* turn) {
  const yw_vec3* x = p->mesh->positions;
  for (int32_t t = 0; t < p->mesh->num_triangles; ++t) {
    const int32_t* v = p->mesh->triangles + 3 * (size_t)t;
    yw_vec3 normal = yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
    area[p->part[t]] += turn[t] * (double)yw_length(normal);
  }
  for (int32_t t = 0; t < p->mesh->num_triangles; ++t) {
    int32_t part = p->part[t];
    if (mixed[part] && p->parts[part].open && area[part] < 0.0) turn[t] = (signed char)-turn[t];
  }
}

// Parts that were mixed face as those that were not do, or outward, if they are not inside of
// others. Parts that face the other way as a whole are cavities, or wrong.
static yw_status face_alike(const surface_parts* p, const bool* mixed, signed char* turn) {
  double total = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    if (!mixed[i] && !p->parts[i].open) total += p->parts[i].volume;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    int32_t depth;
    bool other_way = (p->parts[i].volume < 0.0) != (total < 0.0);
    if (p->parts[i].open || (!mixed[i] && !other_way)) continue;
    yw_status status = find_depth(p, i, &depth);
    if (status < 0) return status;
    if (mixed[i] ? other_way != (depth % 2 == 1) : depth == 0) mark_part(p, i, turn);
  }
  return YW_OK;
}

static yw_status mend(surface_parts* p, yw_tri_mesh* mesh, turning* w, bool* mixed, double* area) {
  if (find_mixed(p, mixed)) {
    find_neighbours(p, w->neighbours);
    spread(p, w->neighbours, w->stack, w->turn);
    keep_most(p, mixed, area, w->turn);
    turn_marked(mesh, w->turn);
    measure_parts(p);
    memset(w->turn, 0, (size_t)mesh->num_triangles);
  }
  yw_status status = face_alike(p, mixed, w->turn);
  if (status >= 0) turn_marked(mesh, w->turn);
  return status;
}

yw_status yw_tri_mesh_mend(yw_tri_mesh* mesh, int32_t* num_turned) {
  *num_turned = 0;
  surface_parts p;
  turning w;
  yw_status status = make_parts(mesh, &mesh->mem, &p);
  if (status < 0) return status;
  bool* mixed = YW_NEW_ARRAY(&mesh->mem, bool, p.count);
  double* area = YW_NEW_ARRAY(&mesh->mem, double, p.count);
  bool enough = make_turning(mesh, &w) && mixed && area;
  status = enough ? mend(&p, mesh, &w, mixed, area) : YW_ERR_MEMORY;
  if (status >= 0) *num_turned = count_turned(mesh, &w);
  yw_mem_free(&mesh->mem, mixed);
  yw_mem_free(&mesh->mem, area);
  free_turning(mesh, &w);
  free_parts(&p);
  return status;
}
