// SPDX-License-Identifier: MIT
// Triangles are paired across edges: where more than two meet, a triangle is paired with the one
// that bounds the same wedge of the solid. Corners joined by such pairs are one vertex.
#include "geometry/surface_split.h"

#include "geometry/tet_math.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Half-edge h = 3 * triangle + k runs from corner k to corner k + 1 of its triangle.
typedef struct half_edges {
  const yw_tri_mesh* mesh;
  int32_t* slots;  ///< half-edge + 1 that heads the list of an edge; 0: empty
  size_t capacity;
  int32_t* next;  ///< per half-edge: the next one of the same edge, -1 at the end
} half_edges;

static int32_t tail_of(const yw_tri_mesh* mesh, int32_t h) { return mesh->triangles[h]; }
static int32_t head_of(const yw_tri_mesh* mesh, int32_t h) {
  return mesh->triangles[h % 3 == 2 ? h - 2 : h + 1];
}
static int32_t tip_of(const yw_tri_mesh* mesh, int32_t h) {
  return mesh->triangles[h % 3 == 0 ? h + 2 : h - 1];
}

static size_t edge_slot(const half_edges* edges, int32_t h) {
  int32_t a = tail_of(edges->mesh, h), b = head_of(edges->mesh, h);
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  uint64_t key = (uint64_t)low << 32 | (uint64_t)high;
  size_t slot = (size_t)yw_hash_u64(YW_HASH_SEED, key) & (edges->capacity - 1);
  for (; edges->slots[slot] != 0; slot = (slot + 1) & (edges->capacity - 1)) {
    int32_t other = edges->slots[slot] - 1;
    int32_t c = tail_of(edges->mesh, other), d = head_of(edges->mesh, other);
    if ((a == c && b == d) || (a == d && b == c)) break;
  }
  return slot;
}

// Increases with the angle of (x, y), from 0 to 4 for a full turn; comparing needs no trigonometry.
static double turn_of(double x, double y) {
  double sum = fabs(x) + fabs(y);
  if (!(sum > 0.0)) return 0.0;
  double quarter = y / sum;
  return x < 0.0 ? 2.0 - quarter : y < 0.0 ? 4.0 + quarter : quarter;
}

// How far to rotate triangle h about its edge, into the solid, until it meets triangle o.
static double turn_into_solid(const yw_tri_mesh* mesh, int32_t h, int32_t o) {
  yw_dvec3 a = yw_d3(mesh->positions[tail_of(mesh, h)]);
  yw_dvec3 axis = yw_dsub(yw_d3(mesh->positions[head_of(mesh, h)]), a);
  yw_dvec3 here = yw_dsub(yw_d3(mesh->positions[tip_of(mesh, h)]), a);
  yw_dvec3 there = yw_dsub(yw_d3(mesh->positions[tip_of(mesh, o)]), a);
  double length2 = yw_ddot(axis, axis);
  if (!(length2 > 0.0)) return 0.0;
  here = yw_dmad(here, -yw_ddot(here, axis) / length2, axis);
  // Outward is axis x here, so the solid lies on the side of here x axis.
  yw_dvec3 inward = yw_dcross(here, axis);
  return turn_of(yw_ddot(there, here) * sqrt(length2), yw_ddot(there, inward));
}

// The half-edge across: opposite in direction and first met when rotating into the solid.
static int32_t partner_of(const half_edges* edges, int32_t h) {
  int32_t best = -1, count = 0;
  double least = INFINITY;
  for (int32_t o = edges->slots[edge_slot(edges, h)] - 1; o >= 0; o = edges->next[o]) {
    if (tail_of(edges->mesh, o) != head_of(edges->mesh, h)) continue;
    if (count++ == 0) best = o;
  }
  if (count <= 1) return best;
  for (int32_t o = edges->slots[edge_slot(edges, h)] - 1; o >= 0; o = edges->next[o]) {
    if (tail_of(edges->mesh, o) != head_of(edges->mesh, h)) continue;
    double turn = turn_into_solid(edges->mesh, h, o);
    if (turn < least) least = turn, best = o;
  }
  return best;
}

static bool half_edges_create(const yw_allocator* mem, const yw_tri_mesh* mesh, half_edges* out) {
  int32_t count = 3 * mesh->num_triangles;
  *out = (half_edges){.mesh = mesh, .capacity = 16};
  while (out->capacity < (size_t)count) out->capacity *= 2;
  out->slots = YW_NEW_ARRAY(mem, int32_t, out->capacity);
  out->next = YW_NEW_ARRAY(mem, int32_t, count);
  if (out->slots == NULL || out->next == NULL) return false;
  for (int32_t h = 0; h < count; ++h) {
    size_t slot = edge_slot(out, h);
    out->next[h] = out->slots[slot] - 1;
    out->slots[slot] = h + 1;
  }
  return true;
}

static int32_t corner_root(int32_t* parent, int32_t c) {
  while (parent[c] != c) {
    parent[c] = parent[parent[c]];
    c = parent[c];
  }
  return c;
}

static void join_corners(int32_t* parent, int32_t a, int32_t b) {
  a = corner_root(parent, a);
  b = corner_root(parent, b);
  if (a < b) parent[b] = a;
  if (b < a) parent[a] = b;
}

static int32_t next_corner(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }

// Gives every set of joined corners its own vertex, in the order of first use.
static yw_status renumber(yw_tri_mesh* mesh, int32_t* parent) {
  int32_t num_corners = 3 * mesh->num_triangles, count = 0;
  for (int32_t c = 0; c < num_corners; ++c) count += parent[c] == c;
  yw_vec3* positions = YW_NEW_ARRAY(&mesh->mem, yw_vec3, count);
  int32_t* number = YW_NEW_ARRAY(&mesh->mem, int32_t, num_corners);
  if (positions == NULL || number == NULL) {
    yw_mem_free(&mesh->mem, positions);
    yw_mem_free(&mesh->mem, number);
    return YW_ERR_MEMORY;
  }
  int32_t used = 0;
  for (int32_t c = 0; c < num_corners; ++c) {
    int32_t root = corner_root(parent, c);
    // Roots are the lowest corners of their sets, so they come first.
    if (root == c) {
      positions[used] = mesh->positions[mesh->triangles[c]];
      number[c] = used++;
    }
    number[c] = number[root];
  }
  for (int32_t c = 0; c < num_corners; ++c) mesh->triangles[c] = number[c];
  yw_mem_free(&mesh->mem, number);
  yw_mem_free(&mesh->mem, mesh->positions);
  yw_mem_free(&mesh->mem, mesh->colors);
  mesh->colors = NULL;
  mesh->positions = positions;
  mesh->num_vertices = count;
  return YW_OK;
}

static void half_edges_free(const yw_allocator* mem, half_edges* edges) {
  yw_mem_free(mem, edges->slots);
  yw_mem_free(mem, edges->next);
}

yw_status yw_half_edge_partners(const yw_allocator* mem, const yw_tri_mesh* mesh,
                                int32_t* partner) {
  half_edges edges;
  bool ready = half_edges_create(mem, mesh, &edges);
  for (int32_t h = 0; ready && h < 3 * mesh->num_triangles; ++h) partner[h] = partner_of(&edges, h);
  half_edges_free(mem, &edges);
  return ready ? YW_OK : YW_ERR_MEMORY;
}

// Joins corners across edges and renumbers.
static yw_status separate_sheets(yw_tri_mesh* mesh) {
  half_edges edges;
  int32_t num_corners = 3 * mesh->num_triangles;
  int32_t* parent = YW_NEW_ARRAY(&mesh->mem, int32_t, num_corners);
  yw_status status = YW_ERR_MEMORY;
  if (half_edges_create(&mesh->mem, mesh, &edges) && parent != NULL) {
    for (int32_t c = 0; c < num_corners; ++c) parent[c] = c;
    for (int32_t h = 0; h < num_corners; ++h) {
      int32_t o = partner_of(&edges, h);
      if (o < 0) continue;
      join_corners(parent, h, next_corner(o));
      join_corners(parent, next_corner(h), o);
    }
    status = renumber(mesh, parent);
  }
  half_edges_free(&mesh->mem, &edges);
  yw_mem_free(&mesh->mem, parent);
  return status;
}

// Doubled edges -----------------------------------------------------------------------------------

// Two layers may still have an edge between the same two vertices, where other triangles hold both
// ends together. All but one of such edges get a vertex in the middle. Writes one half-edge of each
// edge to split, no two in one triangle, and returns their number; *left says whether some had to
// wait.
static int32_t list_doubled(const half_edges* edges, unsigned char* taken, int32_t* out,
                            bool* left) {
  const yw_tri_mesh* mesh = edges->mesh;
  int32_t count = 0;
  *left = false;
  for (int32_t h = 0; h < 3 * mesh->num_triangles; ++h) {
    if (tail_of(mesh, h) > head_of(mesh, h)) continue;
    bool first = true;
    for (int32_t o = edges->slots[edge_slot(edges, h)] - 1; o >= 0; o = edges->next[o]) {
      if (tail_of(mesh, o) == tail_of(mesh, h) && o < h) first = false;
    }
    int32_t across = first ? -1 : partner_of(edges, h);
    if (across < 0) continue;
    if (taken[h / 3] || taken[across / 3]) {
      *left = true;
      continue;
    }
    taken[h / 3] = taken[across / 3] = 1;
    out[count++] = h;
  }
  return count;
}

// Cuts the triangle of a half-edge in two at vertex `middle`; the second half goes to `spare`.
static void halve_triangle(yw_tri_mesh* mesh, int32_t h, int32_t middle, int32_t spare) {
  int32_t tip = tip_of(mesh, h), head = head_of(mesh, h);
  int32_t* second = mesh->triangles + 3 * (size_t)spare;
  second[0] = middle, second[1] = head, second[2] = tip;
  mesh->triangles[next_corner(h)] = middle;
}

static yw_status halve_edges(yw_tri_mesh* mesh, const half_edges* edges, int32_t count,
                             const int32_t* list) {
  int32_t* across = YW_NEW_ARRAY(&mesh->mem, int32_t, count);
  if (across == NULL) return YW_ERR_MEMORY;
  for (int32_t n = 0; n < count; ++n) across[n] = partner_of(edges, list[n]);
  size_t nv = (size_t)mesh->num_vertices, nt = (size_t)mesh->num_triangles, extra = (size_t)count;
  yw_vec3* positions =
      (yw_vec3*)yw_mem_resize(&mesh->mem, mesh->positions, nv, nv + extra, sizeof(yw_vec3));
  if (positions != NULL) mesh->positions = positions;
  int32_t* triangles = (int32_t*)yw_mem_resize(&mesh->mem, mesh->triangles, 3 * nt,
                                               3 * (nt + 2 * extra), sizeof(int32_t));
  if (triangles != NULL) mesh->triangles = triangles;
  bool ready = positions != NULL && triangles != NULL;
  for (int32_t n = 0; ready && n < count; ++n) {
    yw_dvec3 a = yw_d3(mesh->positions[tail_of(mesh, list[n])]);
    yw_dvec3 b = yw_d3(mesh->positions[head_of(mesh, list[n])]);
    int32_t middle = mesh->num_vertices++;
    mesh->positions[middle] = yw_f3(yw_dscale(yw_dadd(a, b), 0.5));
    halve_triangle(mesh, list[n], middle, mesh->num_triangles++);
    halve_triangle(mesh, across[n], middle, mesh->num_triangles++);
  }
  yw_mem_free(&mesh->mem, across);
  return ready ? YW_OK : YW_ERR_MEMORY;
}

yw_status yw_surface_split(yw_tri_mesh* mesh) {
  yw_status status = separate_sheets(mesh);
  bool left = true;
  while (status == YW_OK && left) {
    if (mesh->num_triangles > INT32_MAX / 9) return YW_ERR_LIMIT;
    half_edges edges;
    unsigned char* taken = YW_NEW_ARRAY(&mesh->mem, unsigned char, mesh->num_triangles);
    int32_t* list = YW_NEW_ARRAY(&mesh->mem, int32_t, mesh->num_triangles);
    status = YW_ERR_MEMORY;
    if (half_edges_create(&mesh->mem, mesh, &edges) && taken != NULL && list != NULL) {
      int32_t count = list_doubled(&edges, taken, list, &left);
      status = count > 0 ? halve_edges(mesh, &edges, count, list) : YW_OK;
    }
    half_edges_free(&mesh->mem, &edges);
    yw_mem_free(&mesh->mem, taken);
    yw_mem_free(&mesh->mem, list);
  }
  return status;
}
