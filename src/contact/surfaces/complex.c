// SPDX-License-Identifier: MIT
#include "contact/surfaces/complex.h"

#include <string.h>

#include "contact/surfaces/leaf_boxes.h"
#include "contact/surfaces/order.h"
#include "contact/surfaces/patches.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

uint64_t yw_complex_hash(const yw_contact_geometry* g, int32_t num_particles) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)num_particles);
  hash = yw_hash_u64(hash, (uint64_t)g->num_tets);
  hash = yw_hash_u64(hash, (uint64_t)g->num_triangles);
  hash = yw_hash_u64(hash, (uint64_t)g->num_segments);
  if (g->triangles) {
    hash = yw_hash_bytes(hash, g->triangles, (size_t)g->num_triangles * 3 * sizeof(int32_t));
  }
  if (g->segments) {
    hash = yw_hash_bytes(hash, g->segments, (size_t)g->num_segments * 2 * sizeof(int32_t));
  }
  if (g->hanging) {
    hash = yw_hash_bytes(hash, g->hanging, (size_t)g->num_hanging * sizeof *g->hanging);
  }
  if (g->rest) hash = yw_hash_bytes(hash, g->rest, (size_t)num_particles * sizeof(yw_vec3));
  if (g->radius) hash = yw_hash_bytes(hash, g->radius, (size_t)num_particles * sizeof(float));
  return hash;
}

// Leaves ----------------------------------------------------------------------------------------

typedef struct scratch_space {
  yw_sort_item *items, *other;
  int32_t* seen;                      // per particle: its vertex was listed
  int32_t *edge_start, *edges_round;  // edges around the lower of their particles
} scratch_space;

// Triangles of volumes that face the same way at rest share leaves, whose boxes are then flat: two
// bodies that touch meet in few of them. 0 to 5: the side of a cube that the normal points to.
static uint64_t facing(const yw_vec3* rest, const int32_t* v) {
  yw_vec3 n = yw_cross(yw_sub(rest[v[1]], rest[v[0]]), yw_sub(rest[v[2]], rest[v[0]]));
  float x = fabsf(n.x), y = fabsf(n.y), z = fabsf(n.z);
  if (x >= y && x >= z) return n.x < 0.0f ? 0u : 1u;
  if (y >= z) return n.y < 0.0f ? 2u : 3u;
  return n.z < 0.0f ? 4u : 5u;
}
#define NUM_FACINGS 6
#define FACING_SHIFT 32

// Sorts the triangles (corners = 3) or segments (2) along a space-filling curve through their
// centres at rest.
static void sort_cells(const yw_contact_geometry* g, int32_t num_particles, const int32_t* cells,
                       int32_t count, int corners, scratch_space* space) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < num_particles; ++i) box = yw_aabb_grow(box, g->rest[i]);
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 sum = yw_v3(0, 0, 0);
    for (int k = 0; k < corners; ++k) sum = yw_add(sum, g->rest[cells[corners * i + k]]);
    yw_vec3 center = yw_scale(sum, 1.0f / (float)corners);
    uint64_t side = !g->radius && corners == 3 ? facing(g->rest, cells + 3 * (size_t)i) : 0;
    space->items[i] = (yw_sort_item){side << FACING_SHIFT | yw_morton_code(box, center), i};
  }
  yw_sort_items(space->items, space->other, count);
}

static void add_vertex(yw_complex* c, int32_t particle, scratch_space* space) {
  if (space->seen[particle]) return;
  space->seen[particle] = 1;
  c->vertices[c->num_vertices++] = particle;
}

// The edge a-b, if it is listed already; -1 otherwise. Edges are chained at their lower particle.
static int32_t find_edge(const scratch_space* space, const yw_complex* c, int32_t a, int32_t b) {
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  for (int32_t e = space->edge_start[low]; e >= 0; e = space->edges_round[e]) {
    int32_t other = c->edges[e][0] == low ? c->edges[e][1] : c->edges[e][0];
    if (other == high) return e;
  }
  return -1;
}

static int32_t add_edge(yw_complex* c, int32_t a, int32_t b, scratch_space* space) {
  int32_t e = c->num_edges++, low = a < b ? a : b;
  c->edges[e][0] = a;
  c->edges[e][1] = b;
  c->edge_triangles[e][0] = c->edge_triangles[e][1] = -1;
  c->edge_thirds[e][0] = c->edge_thirds[e][1] = -1;
  c->next_edges[e][0] = c->next_edges[e][1] = -1;
  space->edges_round[e] = space->edge_start[low];
  space->edge_start[low] = e;
  return e;
}

// A leaf that begins with the next vertex and edge.
static yw_complex_leaf leaf_from(const yw_complex* c, int32_t triangle) {
  return (yw_complex_leaf){.vertex = c->num_vertices, .edge = c->num_edges, .triangle = triangle};
}

static void list_triangles(yw_complex* c, const yw_contact_geometry* g, scratch_space* space) {
  sort_cells(g, c->num_particles, g->triangles, g->num_triangles, 3, space);
  uint64_t side = 0;
  int32_t size = YW_CONTACT_LEAF;
  for (int32_t i = 0; i < g->num_triangles; ++i, ++size) {
    bool turns = space->items[i].key >> FACING_SHIFT != side;
    if (size == YW_CONTACT_LEAF || turns) {
      size = 0;
      side = space->items[i].key >> FACING_SHIFT;
      c->leaves[c->num_leaves++] = leaf_from(c, i);
    }
    memcpy(c->triangles[i], g->triangles + 3 * (size_t)space->items[i].value,
           sizeof c->triangles[i]);
    const int32_t* v = c->triangles[i];
    for (int k = 0; k < 3; ++k) {
      add_vertex(c, v[k], space);
      if (c->triangle_of_vertex[v[k]] < 0) c->triangle_of_vertex[v[k]] = i;
      int32_t a = v[k], b = v[(k + 1) % 3], e = find_edge(space, c, a, b);
      if (e < 0) e = add_edge(c, a, b, space);
      // Edges with more than two triangles keep the first two.
      int32_t* sides = c->edge_triangles[e];
      if (sides[0] < 0 || sides[1] < 0) {
        int at = sides[0] < 0 ? 0 : 1;
        sides[at] = i;
        c->edge_thirds[e][at] = v[(k + 2) % 3];
      }
      c->triangle_edges[i][k] = e;
    }
  }
  c->num_triangles = g->num_triangles;
}

// Segments that meet at a particle continue each other; where more than two meet, nobody does.
static void join_segments(yw_complex* c, scratch_space* space) {
  for (int32_t i = 0; i < c->num_particles; ++i) space->seen[i] = -1;
  for (int32_t e = 0; e < c->num_edges; ++e) {
    for (int k = 0; k < 2; ++k) {
      int32_t* first = &space->seen[c->edges[e][k]];
      if (*first == -1) {
        *first = 2 * e + k;
      } else if (*first >= 0) {
        int32_t* theirs = &c->next_edges[*first / 2][*first % 2];
        bool crowded = *theirs >= 0;
        c->next_edges[e][k] = crowded ? -1 : *first / 2;
        *theirs = crowded ? -1 : e;
        if (crowded) *first = -2;
      }
    }
  }
}

static void list_segments(yw_complex* c, const yw_contact_geometry* g, scratch_space* space) {
  sort_cells(g, c->num_particles, g->segments, g->num_segments, 2, space);
  for (int32_t i = 0; i < g->num_segments; ++i) {
    if (i % YW_CONTACT_LEAF == 0) {
      c->leaves[c->num_leaves++] = leaf_from(c, 0);
    }
    const int32_t* v = g->segments + 2 * (size_t)space->items[i].value;
    add_vertex(c, v[0], space);
    add_vertex(c, v[1], space);
    add_edge(c, v[0], v[1], space);
  }
  join_segments(c, space);
}

// Loose points: the order is only a start, see yw_touch_fit.
static void list_points(yw_complex* c) {
  c->num_vertices = c->num_edges = c->num_particles;
  for (int32_t i = 0; i < c->num_particles; ++i) {
    if (i % YW_CONTACT_LEAF == 0) {
      c->leaves[c->num_leaves++] = (yw_complex_leaf){.vertex = i, .edge = i};
    }
    c->vertices[i] = c->edges[i][0] = c->edges[i][1] = i;
    c->edge_triangles[i][0] = c->edge_triangles[i][1] = -1;
    c->edge_thirds[i][0] = c->edge_thirds[i][1] = -1;
    c->next_edges[i][0] = c->next_edges[i][1] = -1;
  }
}

static float mean_size(const yw_complex* c, const yw_contact_geometry* g) {
  double sum = 0.0;
  for (int32_t e = 0; e < c->num_edges; ++e) {
    sum += c->is_loose ? 2.0 * (double)g->radius[e]
                       : (double)yw_distance(g->rest[c->edges[e][0]], g->rest[c->edges[e][1]]);
  }
  return c->num_edges > 0 ? (float)(sum / c->num_edges) : 0.0f;
}

// Creation --------------------------------------------------------------------------------------

static bool allocate(yw_complex* c, const yw_contact_geometry* g) {
  size_t triangles = (size_t)g->num_triangles, points = (size_t)c->num_particles;
  size_t edges = c->is_loose ? points : 3 * triangles + (size_t)g->num_segments;
  size_t cells = c->is_loose ? points : triangles + (size_t)g->num_segments;
  c->leaves = YW_NEW_ARRAY(&c->mem, yw_complex_leaf, cells / YW_CONTACT_LEAF + 3 + NUM_FACINGS);
  c->vertices = YW_NEW_ARRAY(&c->mem, int32_t, points);
  c->place_of_vertex = YW_NEW_ARRAY(&c->mem, int32_t, points);
  c->edges = yw_mem_alloc(&c->mem, edges, sizeof *c->edges);
  c->triangles = yw_mem_alloc(&c->mem, triangles, sizeof *c->triangles);
  c->edge_triangles = yw_mem_alloc(&c->mem, edges, sizeof *c->edge_triangles);
  c->edge_thirds = yw_mem_alloc(&c->mem, edges, sizeof *c->edge_thirds);
  c->triangle_edges = yw_mem_alloc(&c->mem, triangles, sizeof *c->triangle_edges);
  c->triangle_of_vertex = YW_NEW_ARRAY(&c->mem, int32_t, points);
  c->next_edges = yw_mem_alloc(&c->mem, edges, sizeof *c->next_edges);
  return c->leaves && c->vertices && c->place_of_vertex && c->edges && c->triangles &&
         c->edge_triangles && c->edge_thirds && c->triangle_edges && c->triangle_of_vertex &&
         c->next_edges;
}

static bool list_hanging(yw_complex* c, const yw_contact_geometry* g) {
  c->num_hanging = g->hanging ? g->num_hanging : 0;
  if (c->num_hanging == 0) return true;
  c->hanging = yw_mem_alloc(&c->mem, (size_t)c->num_hanging, sizeof *c->hanging);
  c->parents = yw_mem_alloc(&c->mem, (size_t)c->num_particles, sizeof *c->parents);
  if (!c->hanging || !c->parents) return false;
  memcpy(c->hanging, g->hanging, (size_t)c->num_hanging * sizeof *c->hanging);
  for (int32_t i = 0; i < c->num_particles; ++i) c->parents[i][0] = c->parents[i][1] = -1;
  for (int32_t i = 0; i < c->num_hanging; ++i) {
    const int32_t* h = c->hanging[i];
    c->parents[h[0]][0] = h[1];
    c->parents[h[0]][1] = h[2];
  }
  return true;
}

static bool list_rest(yw_complex* c, const yw_contact_geometry* g) {
  if (!g->rest || !g->radius) return true;
  c->rest = YW_NEW_ARRAY(&c->mem, yw_vec4, c->num_particles);
  for (int32_t i = 0; c->rest && i < c->num_particles; ++i) c->rest[i] = yw_v4(g->rest[i]);
  for (int32_t e = 0; e < c->num_edges; ++e) {
    c->longest = fmaxf(c->longest, yw_distance(g->rest[c->edges[e][0]], g->rest[c->edges[e][1]]));
  }
  return c->rest != NULL;
}

static bool fill(yw_complex* c, const yw_contact_geometry* g) {
  size_t cells = (size_t)g->num_triangles + (size_t)g->num_segments;
  size_t points = (size_t)c->num_particles;
  scratch_space space = {.items = YW_NEW_ARRAY(&c->mem, yw_sort_item, cells),
                         .other = YW_NEW_ARRAY(&c->mem, yw_sort_item, cells),
                         .seen = YW_NEW_ARRAY(&c->mem, int32_t, points),
                         .edge_start = YW_NEW_ARRAY(&c->mem, int32_t, points),
                         .edges_round = YW_NEW_ARRAY(&c->mem, int32_t, 3 * cells)};
  bool ok = space.items && space.other && space.seen && space.edge_start && space.edges_round;
  if (ok) {
    for (size_t i = 0; i < points; ++i) c->triangle_of_vertex[i] = space.edge_start[i] = -1;
    if (c->is_loose) {
      list_points(c);
    } else if (g->num_triangles > 0) {
      list_triangles(c, g, &space);
    } else {
      list_segments(c, g, &space);
    }
    c->leaves[c->num_leaves] = leaf_from(c, c->num_triangles);
    yw_leaf_place_boxes(c);
    for (int32_t i = 0; i < c->num_vertices; ++i) c->place_of_vertex[c->vertices[i]] = i;
    c->size = mean_size(c, g);
  }
  void* arrays[] = {space.items, space.other, space.seen, space.edge_start, space.edges_round};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&c->mem, arrays[i]);
  return ok;
}

yw_complex* yw_complex_create(const yw_allocator* mem, const yw_contact_geometry* geometry,
                              int32_t num_particles) {
  yw_complex* c = YW_NEW(mem, yw_complex);
  if (!c) return NULL;
  c->mem = yw_mem_or_default(mem);
  c->num_particles = num_particles;
  c->is_volume = geometry->num_triangles > 0 && !geometry->radius;
  c->is_loose = geometry->num_triangles == 0 && geometry->num_segments == 0;
  if (allocate(c, geometry) && fill(c, geometry) && list_hanging(c, geometry) &&
      list_rest(c, geometry)) {
    return c;
  }
  yw_complex_destroy(c);
  return NULL;
}

void yw_complex_destroy(yw_complex* c) {
  if (!c) return;
  yw_allocator mem = c->mem;
  yw_patches_destroy(c->patches);
  void* arrays[] = {c->leaves,
                    c->place_of_vertex,
                    c->vertices,
                    c->edges,
                    c->triangles,
                    c->edge_triangles,
                    c->edge_thirds,
                    c->triangle_edges,
                    c->triangle_of_vertex,
                    c->next_edges,
                    c->rest,
                    c->hanging,
                    c->parents};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_mem_free(&mem, c);
}
