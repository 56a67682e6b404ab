// SPDX-License-Identifier: MIT
// Rest data of a shown surface: the masters that each of its vertices follows, and the masters
// around each master. Both are found along links, so that parts that are near each other but not
// connected there do not hold on to each other.
#include <string.h>

#include "geometry/shape_mesh_normals.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/cladding.h"
#include "methods/plastic/kinds.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// In spacings: how far inside of the surface the nearest master is looked for; and the neighbours
// of a master (26 on the lattice).
#define INSIDE 0.5f
#define NEAR 1.8f
// Rings of cells that are searched for the nearest master before all are.
#define MOST_RINGS 4

typedef struct cladder {
  plastic_model* model;
  const yw_tri_mesh* surface;
  const int32_t* parts;        // of each vertex; NULL: any
  int32_t first_own, end_own;  // masters that are looked for
  // Links of every master, and masters in cells of one spacing.
  int32_t *first_link, *ends;
  int32_t *head, *next;
  uint32_t mask;
  // Of a search along links.
  int32_t *stamps, *queue;
  int32_t stamp;
  // Of the surface: the first vertex at the same place; normals of these.
  int32_t* place;
  yw_vec3* normals;
} cladder;

static void free_cladder(cladder* c) {
  const yw_allocator* mem = &c->model->mem;
  void* const arrays[] = {c->first_link, c->ends,  c->head,  c->next,
                          c->stamps,     c->queue, c->place, c->normals};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(mem, arrays[i]);
}

static uint32_t bucket_of(const cladder* c, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & c->mask;
}

static plastic_cell cell_of(const cladder* c, yw_vec3 p) {
  return plastic_cell_of(yw_v4(p), c->model->spacing);
}

static void fill_cells(cladder* c) {
  memset(c->head, 0xff, ((size_t)c->mask + 1) * sizeof *c->head);
  for (int32_t m = 0; m < c->model->num_masters; ++m) {
    uint32_t bucket = bucket_of(c, cell_of(c, c->model->masters[m]));
    c->next[m] = c->head[bucket];
    c->head[bucket] = m;
  }
}

static void list_links(cladder* c) {
  const plastic_model* model = c->model;
  const int32_t* way;
  for (int32_t m = 0; m < model->num_masters; ++m) {
    int32_t count = yw_plastic_links_of(model, m, &way);
    c->first_link[m + 1] += count;
    for (int32_t k = 0; k < count; ++k) ++c->first_link[m + way[k] + 1];
  }
  for (int32_t m = 0; m < model->num_masters; ++m) c->first_link[m + 1] += c->first_link[m];
  for (int32_t m = 0; m < model->num_masters; ++m) {
    int32_t count = yw_plastic_links_of(model, m, &way);
    for (int32_t k = 0; k < count; ++k) {
      c->ends[c->first_link[m + way[k]]++] = m;
      c->ends[c->first_link[m]++] = m + way[k];
    }
  }
  // Filling moved every start to its end; move them back.
  for (int32_t m = model->num_masters; m > 0; --m) c->first_link[m] = c->first_link[m - 1];
  c->first_link[0] = 0;
}

// The masters connected to `seed` within `reach` of p, into the queue; their number.
static int32_t gather(cladder* c, int32_t seed, yw_vec3 p, float reach) {
  int32_t count = 1;
  ++c->stamp;
  c->queue[0] = seed;
  c->stamps[seed] = c->stamp;
  for (int32_t at = 0; at < count; ++at) {
    int32_t m = c->queue[at];
    for (int32_t k = c->first_link[m]; k < c->first_link[m + 1]; ++k) {
      int32_t end = c->ends[k];
      if (c->stamps[end] == c->stamp || !(yw_distance(c->model->masters[end], p) < reach)) continue;
      c->stamps[end] = c->stamp;
      c->queue[count++] = end;
    }
  }
  return count;
}

static void nearer(const cladder* c, int32_t m, yw_vec3 p, int32_t* best, float* distance) {
  if (m < c->first_own || m >= c->end_own) return;
  float d = yw_distance(c->model->masters[m], p);
  if (!(d < *distance) && !(d == *distance && m < *best)) return;
  *best = m;
  *distance = d;
}

static int32_t nearest_master(const cladder* c, yw_vec3 p) {
  float distance = INFINITY;
  int32_t best = c->first_own;
  plastic_cell at = cell_of(c, p);
  for (int32_t ring = 0; ring <= MOST_RINGS; ++ring) {
    // What lies in farther rings is at least this far away.
    if (distance <= (float)(ring - 1) * c->model->spacing) return best;
    for (int32_t z = -ring; z <= ring; ++z) {
      for (int32_t y = -ring; y <= ring; ++y) {
        bool edge = z == -ring || z == ring || y == -ring || y == ring;
        for (int32_t x = -ring; x <= ring; x += edge || ring == 0 ? 1 : 2 * ring) {
          uint32_t bucket = bucket_of(c, (plastic_cell){at.x + x, at.y + y, at.z + z});
          for (int32_t m = c->head[bucket]; m >= 0; m = c->next[m])
            nearer(c, m, p, &best, &distance);
        }
      }
    }
  }
  for (int32_t m = 0; m < c->model->num_masters; ++m) nearer(c, m, p, &best, &distance);
  return best;
}

static bool find_normals(cladder* c) {
  const yw_tri_mesh* s = c->surface;
  if (!yw_first_at_positions(&c->model->mem, s->num_vertices, s->positions, c->place)) return false;
  for (int32_t t = 0; t < s->num_triangles; ++t) {
    const int32_t* v = s->triangles + 3 * (size_t)t;
    yw_vec3 a = s->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(s->positions[v[1]], a), yw_sub(s->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) {
      yw_vec3* sum = &c->normals[c->place[v[k]]];
      *sum = yw_add(*sum, normal);
    }
  }
  return true;
}

// Only masters of the vertex's own part may hold it.
static void choose_part(cladder* c, int32_t v) {
  c->first_own = 0;
  c->end_own = c->model->num_masters;
  for (int32_t i = 0; c->parts && i < c->model->num_parts; ++i) {
    const plastic_part* part = &c->model->parts[i];
    if (part->number != c->parts[v]) continue;
    c->first_own = part->first;
    c->end_own = part->first + part->count;
  }
}

// Vertices at the same place (seams of textures) follow the same masters: no crack opens.
static bool collect_held(cladder* c, plastic_kinds* kinds) {
  plastic_model* model = c->model;
  float d = model->spacing;
  for (int32_t v = 0; v < c->surface->num_vertices; ++v) {
    yw_vec3 p = c->surface->positions[v];
    yw_vec3 normal = yw_normalize_or(c->normals[c->place[v]], yw_v3(0, 0, 0));
    choose_part(c, v);
    int32_t seed = nearest_master(c, yw_mad(p, -INSIDE * d, normal));
    int32_t count = gather(c, seed, p, yw_plastic_reach(model, seed, p));
    for (int32_t k = 0; k < count; ++k) c->queue[k] -= seed;
    model->seed[v] = seed;
    model->held_kind[v] = yw_plastic_kind_of(kinds, c->queue, count);
    if (model->held_kind[v] < 0) return false;
  }
  return true;
}

static bool hold_vertices(cladder* c) {
  plastic_model* model = c->model;
  plastic_kinds kinds;
  bool good = yw_plastic_kinds_begin(&kinds, &model->mem, c->surface->num_vertices);
  good = good && collect_held(c, &kinds);
  return yw_plastic_kinds_end(&kinds, good, &model->first_held, &model->held);
}

static bool collect_near(cladder* c, plastic_kinds* kinds) {
  plastic_model* model = c->model;
  for (int32_t m = 0; m < model->num_masters; ++m) {
    int32_t count = gather(c, m, model->masters[m], NEAR * model->spacing);
    for (int32_t k = 0; k < count; ++k) c->queue[k] -= m;
    // The first in the queue is the master itself.
    model->near_kind[m] = yw_plastic_kind_of(kinds, c->queue + 1, count - 1);
    if (model->near_kind[m] < 0) return false;
  }
  return true;
}

static bool list_near(cladder* c) {
  plastic_model* model = c->model;
  plastic_kinds kinds;
  bool good = yw_plastic_kinds_begin(&kinds, &model->mem, model->num_masters);
  good = good && collect_near(c, &kinds);
  return yw_plastic_kinds_end(&kinds, good, &model->first_near, &model->near);
}

static bool make_room(cladder* c) {
  plastic_model* model = c->model;
  const yw_allocator* mem = &model->mem;
  size_t masters = (size_t)model->num_masters, vertices = (size_t)c->surface->num_vertices;
  c->mask = 1023;
  while (c->mask < (uint32_t)masters) c->mask = 2 * c->mask + 1;
  c->first_link = YW_NEW_ARRAY(mem, int32_t, masters + 1);
  c->ends = YW_NEW_ARRAY(mem, int32_t, 2 * (size_t)model->num_links);
  c->head = YW_NEW_ARRAY(mem, int32_t, (size_t)c->mask + 1);
  c->next = YW_NEW_ARRAY(mem, int32_t, masters);
  c->stamps = YW_NEW_ARRAY(mem, int32_t, masters);
  c->queue = YW_NEW_ARRAY(mem, int32_t, masters);
  c->place = YW_NEW_ARRAY(mem, int32_t, vertices);
  c->normals = YW_NEW_ARRAY(mem, yw_vec3, vertices);
  model->seed = YW_NEW_ARRAY(mem, int32_t, vertices);
  model->held_kind = YW_NEW_ARRAY(mem, int32_t, vertices);
  model->near_kind = YW_NEW_ARRAY(mem, int32_t, masters);
  return c->first_link && c->ends && c->head && c->next && c->stamps && c->queue && c->place &&
         c->normals && model->seed && model->held_kind && model->near_kind;
}

static yw_status check(const yw_tri_mesh* s, yw_error* error) {
  for (int32_t v = 0; v < s->num_vertices; ++v) {
    if (yw_is_finite3(s->positions[v])) continue;
    return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d of the shown surface is not finite", v);
  }
  for (size_t n = 0; n < 3 * (size_t)s->num_triangles; ++n) {
    if (s->triangles[n] >= 0 && s->triangles[n] < s->num_vertices) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "triangle %d of the shown surface has vertex %d, but there are %d", (int)(n / 3),
                   s->triangles[n], s->num_vertices);
  }
  return YW_OK;
}

yw_status yw_plastic_clad(plastic_model* model, const yw_tri_mesh* surface, const int32_t* parts,
                          yw_error* error) {
  if (!surface || surface->num_triangles == 0) return YW_OK;
  yw_status status = check(surface, error);
  if (status < 0) return status;
  cladder c = {.model = model, .surface = surface, .parts = parts};
  bool made = make_room(&c) && yw_tri_mesh_copy(surface, &model->mem, &model->surface) >= 0;
  if (made) {
    fill_cells(&c);
    list_links(&c);
    made = find_normals(&c) && hold_vertices(&c) && list_near(&c);
  }
  free_cladder(&c);
  return made ? YW_OK : yw_fail_memory(error, "the surface of a plastic model");
}

void yw_plastic_forget_triangles(void* pointer) {
  plastic_model* model = pointer;
  yw_mem_free(&model->mem, model->surface.triangles);
  yw_mem_free(&model->mem, model->surface.colors);
  model->surface.triangles = NULL;
  model->surface.colors = NULL;
  model->surface.num_triangles = 0;
}

void yw_plastic_unclad(plastic_model* model) {
  const yw_allocator* mem = &model->mem;
  yw_tri_mesh_free(&model->surface);
  yw_mem_free(mem, model->seed);
  yw_mem_free(mem, model->held_kind);
  yw_mem_free(mem, model->first_held);
  yw_mem_free(mem, model->held);
  yw_mem_free(mem, model->near_kind);
  yw_mem_free(mem, model->first_near);
  yw_mem_free(mem, model->near);
}
