// SPDX-License-Identifier: MIT
// Subdivision: rules, size estimates, and construction of all levels. Imai et al., appendix A.
#include "methods/fem/hierarchy.h"

#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Rules -------------------------------------------------------------------------------------------

const uint8_t yw_fem_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static const uint8_t midpoint[4][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3}};

static const fem_child_rule rules_of_a[12] = {
    {FEM_A, 1, {0, 4, 5, 6}},    {FEM_A, 1, {4, 1, 7, 8}},    {FEM_A, 1, {5, 7, 2, 9}},
    {FEM_A, 1, {6, 8, 9, 3}},    {FEM_T0, 1, {10, 4, 5, 6}},  {FEM_T1, 1, {4, 10, 7, 8}},
    {FEM_T2, 1, {5, 7, 10, 9}},  {FEM_T3, 1, {6, 8, 9, 10}},  {FEM_T0, -1, {10, 9, 8, 7}},
    {FEM_T1, -1, {9, 10, 6, 5}}, {FEM_T2, -1, {8, 6, 10, 4}}, {FEM_T3, -1, {7, 5, 4, 10}},
};

int yw_fem_child_rules(int type, fem_child_rule rules[FEM_FAMILY_CHILDREN]) {
  if (type == FEM_A) {
    for (int c = 0; c < 12; ++c) rules[c] = rules_of_a[c];
    return 12;
  }
  // Apex in slot t, base corners u, v, w: three corner children of the parent's type, a child of
  // type A below the apex, and one beside it towards each base corner.
  int t = type - FEM_T0, count = 0;
  for (int u = 0; u < 4; ++u) {
    if (u == t) continue;
    fem_child_rule rule = {(uint8_t)type, 1, {0}};
    for (int s = 0; s < 4; ++s) rule.local[s] = midpoint[u][s];
    rules[count++] = rule;
  }
  fem_child_rule centre = {FEM_A, -1, {0}};
  for (int u = 0; u < 4; ++u) {
    int v = -1, w = -1;
    for (int s = 0; s < 4; ++s) {
      if (s == t || s == u) continue;
      v = w;
      w = s;
    }
    centre.local[u] = u == t ? (uint8_t)t : midpoint[v][w];
  }
  rules[count++] = centre;
  for (int u = 0; u < 4; ++u) {
    if (u == t) continue;
    fem_child_rule side = centre;
    side.type = (uint8_t)(FEM_T0 + u);
    side.local[u] = midpoint[u][t];
    rules[count++] = side;
  }
  return count;
}

// Sizes -------------------------------------------------------------------------------------------

fem_size yw_fem_estimate(int32_t num_roots, int32_t max_level) {
  double a = num_roots, t = 0.0;
  fem_size size = {.tets = a, .finest = a};
  for (int32_t l = 0; l < max_level; ++l) {
    double next_a = 4.0 * a + t;
    t = 8.0 * a + 6.0 * t;
    a = next_a;
    size.finest = a + t;
    size.tets += size.finest;
  }
  // A mesh this regular has about one node per five tets; small ones have more.
  size.nodes = 0.2 * size.finest + 4.0 * num_roots + 4.0;
  // Tets, families, materials (21 numbers, and again in the form the forces use), forces, lists,
  // and softened families.
  size.bytes = size.tets * (31.0 + 84.0) + size.finest * (84.0 + 40.0 + 30.0) + size.nodes * 200.0;
  return size;
}

static yw_status check_size(const yw_tet_mesh* mesh, int32_t max_level, double max_bytes,
                            yw_error* error) {
  if (max_level < 0 || max_level > FEM_MAX_LEVEL) {
    return yw_fail(error, YW_ERR_INVALID, "the maximum level is %d, but must be between 0 and %d",
                   max_level, FEM_MAX_LEVEL);
  }
  fem_size size = yw_fem_estimate(mesh->num_tets, max_level);
  double limit = max_bytes > 0.0 ? max_bytes : INFINITY;
  // Indices of tets and of their parts are 32 bits wide.
  const double most_tets = (double)(INT32_MAX / 16);
  if (size.bytes <= limit && size.tets <= most_tets) return YW_OK;
  int32_t fits = max_level;
  while (fits > 0) {
    fem_size smaller = yw_fem_estimate(mesh->num_tets, --fits);
    if (smaller.bytes <= limit && smaller.tets <= most_tets) break;
  }
  return yw_fail(error, YW_ERR_LIMIT,
                 "%d tets subdivided to level %d are %.3g tets that need about %.3g GB, more than "
                 "the limit of %.3g GB; use level %d or fewer tets, or raise the limit",
                 mesh->num_tets, max_level, size.finest, size.bytes * 1e-9,
                 fmin(limit, most_tets * 250.0) * 1e-9, fits);
}

// Edges of one level ------------------------------------------------------------------------------

typedef struct edge_table {
  uint64_t* keys;  // 0: empty
  int32_t* nodes;
  uint64_t mask;
} edge_table;

static void edge_table_free(const yw_allocator* mem, edge_table* table) {
  yw_mem_free(mem, table->keys);
  yw_mem_free(mem, table->nodes);
  *table = (edge_table){0};
}

static bool edge_table_create(const yw_allocator* mem, int32_t num_tets, edge_table* table) {
  size_t capacity = 64;
  while (capacity < 9 * (size_t)num_tets) capacity *= 2;
  *table = (edge_table){YW_NEW_ARRAY(mem, uint64_t, capacity), YW_NEW_ARRAY(mem, int32_t, capacity),
                        capacity - 1};
  if (table->keys && table->nodes) return true;
  edge_table_free(mem, table);
  return false;
}

// The entry for the edge's node; *is_new if the edge was not in the table.
static int32_t* edge_entry(edge_table* table, int32_t u, int32_t v, bool* is_new) {
  uint64_t low = (uint64_t)(u < v ? u : v), high = (uint64_t)(u < v ? v : u);
  uint64_t key = (low << 32 | high) + 1;
  uint64_t at = yw_hash_u64(YW_HASH_SEED, key) & table->mask;
  while (table->keys[at] != 0 && table->keys[at] != key) at = (at + 1) & table->mask;
  *is_new = table->keys[at] == 0;
  table->keys[at] = key;
  return &table->nodes[at];
}

// Building ----------------------------------------------------------------------------------------

typedef struct builder {
  fem_hierarchy* h;
  YW_LIST(fem_node) nodes;
} builder;

static bool allocate_tets(fem_hierarchy* h) {
  const yw_allocator* mem = &h->mem;
  h->type = YW_NEW_ARRAY(mem, uint8_t, h->num_tets);
  h->sign = YW_NEW_ARRAY(mem, int8_t, h->num_tets);
  h->level = YW_NEW_ARRAY(mem, uint8_t, h->num_tets);
  h->root = YW_NEW_ARRAY(mem, int32_t, h->num_tets);
  h->parent = YW_NEW_ARRAY(mem, int32_t, h->num_tets);
  h->first_child = YW_NEW_ARRAY(mem, int32_t, h->num_tets);
  h->nodes = yw_mem_alloc(mem, (size_t)h->num_tets, sizeof *h->nodes);
  h->family = yw_mem_alloc(mem, (size_t)h->num_parents, sizeof *h->family);
  h->shapes = yw_mem_alloc(mem, (size_t)h->num_roots, sizeof *h->shapes);
  return h->type && h->sign && h->level && h->root && h->parent && h->first_child && h->nodes &&
         h->family && h->shapes;
}

static void count_levels(fem_hierarchy* h) {
  int32_t a = h->num_roots, t = 0;
  h->level_start[1] = a;
  for (int32_t l = 1; l <= h->max_level; ++l) {
    int32_t next_a = 4 * a + t;
    t = 8 * a + 6 * t;
    a = next_a;
    h->level_start[l + 1] = h->level_start[l] + a + t;
  }
  h->num_tets = h->level_start[h->max_level + 1];
  h->num_parents = h->level_start[h->max_level];
}

// Nodes of the family of one tet: finds or creates the midpoints, creates the centre.
static bool make_family(builder* b, edge_table* table, int32_t tet) {
  fem_hierarchy* h = b->h;
  const int32_t* corner = h->nodes[tet];
  int32_t* family = h->family[tet];
  if (!YW_LIST_RESERVE(&h->mem, &b->nodes, 7)) return false;
  for (int s = 0; s < 4; ++s) family[s] = corner[s];
  for (int e = 0; e < 6; ++e) {
    int32_t u = corner[yw_fem_edges[e][0]], v = corner[yw_fem_edges[e][1]];
    bool is_new;
    int32_t* entry = edge_entry(table, u, v, &is_new);
    if (is_new) {
      *entry = b->nodes.count;
      b->nodes.items[b->nodes.count++] = (fem_node){{u, v, -1, -1}, 0, h->level[tet] + 1};
    }
    family[4 + e] = *entry;
    ++b->nodes.items[*entry].ring;
  }
  family[10] = -1;
  if (h->type[tet] == FEM_A) {
    family[10] = b->nodes.count;
    b->nodes.items[b->nodes.count++] =
        (fem_node){{corner[0], corner[1], corner[2], corner[3]}, 0, h->level[tet] + 1};
  }
  return true;
}

static int32_t make_children(fem_hierarchy* h, int32_t tet, int32_t first) {
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  int count = yw_fem_child_rules(h->type[tet], rules);
  h->first_child[tet] = first;
  for (int c = 0; c < count; ++c) {
    int32_t child = first + c;
    h->type[child] = rules[c].type;
    h->sign[child] = (int8_t)(h->sign[tet] * rules[c].sign);
    h->level[child] = (uint8_t)(h->level[tet] + 1);
    h->root[child] = h->root[tet];
    h->parent[child] = tet;
    h->first_child[child] = -1;
    for (int s = 0; s < 4; ++s) h->nodes[child][s] = h->family[tet][rules[c].local[s]];
  }
  return first + count;
}

static bool subdivide_level(builder* b, int32_t level) {
  fem_hierarchy* h = b->h;
  int32_t begin = h->level_start[level], end = h->level_start[level + 1];
  edge_table table;
  if (!edge_table_create(&h->mem, end - begin, &table)) return false;
  bool good = true;
  int32_t next_child = end;
  for (int32_t tet = begin; tet < end && good; ++tet) {
    good = make_family(b, &table, tet);
    if (good) next_child = make_children(h, tet, next_child);
  }
  edge_table_free(&h->mem, &table);
  h->node_level_start[level + 2] = b->nodes.count;
  return good;
}

static bool make_roots(builder* b, const yw_tet_mesh* mesh) {
  fem_hierarchy* h = b->h;
  if (!YW_LIST_RESERVE(&h->mem, &b->nodes, mesh->num_vertices)) return false;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    b->nodes.items[i] = (fem_node){{-1, -1, -1, -1}, 0, 0};
  }
  b->nodes.count = mesh->num_vertices;
  h->node_level_start[1] = mesh->num_vertices;
  for (int32_t r = 0; r < h->num_roots; ++r) {
    h->type[r] = FEM_A;
    h->sign[r] = 1;
    h->root[r] = r;
    h->parent[r] = h->first_child[r] = -1;
    for (int s = 0; s < 4; ++s) h->nodes[r][s] = mesh->tets[4 * (size_t)r + (size_t)s];
  }
  return true;
}

// Geometry ----------------------------------------------------------------------------------------

static bool place_nodes(builder* b, const yw_tet_mesh* mesh) {
  fem_hierarchy* h = b->h;
  h->node = b->nodes.items;
  h->num_nodes = h->max_nodes = b->nodes.count;
  b->nodes.items = NULL;
  h->rest = YW_NEW_ARRAY(&h->mem, yw_dvec3, h->num_nodes);
  if (!h->rest) return false;
  for (int32_t i = 0; i < h->num_nodes; ++i) {
    const int32_t* p = h->node[i].parents;
    if (p[0] < 0) {
      h->rest[i] = yw_d3(mesh->positions[i]);
    } else if (p[2] < 0) {
      h->rest[i] = yw_dscale(yw_dadd(h->rest[p[0]], h->rest[p[1]]), 0.5);
    } else {
      yw_dvec3 low = yw_dadd(h->rest[p[0]], h->rest[p[1]]);
      h->rest[i] = yw_dscale(yw_dadd(low, yw_dadd(h->rest[p[2]], h->rest[p[3]])), 0.25);
    }
  }
  return true;
}

static fem_shape shape_of(const yw_dvec3 p[4]) {
  double volume = yw_tet_volume6(p) / 6.0;  // negative for T
  fem_shape shape = {.volume = fabs(volume)};
  for (int a = 0; a < 4; ++a) {
    // Outward normal of the face opposite a, divided by three volumes: the gradient points inwards.
    const unsigned char* f = yw_tet_faces[a];
    yw_dvec3 n = yw_dcross(yw_dsub(p[f[2]], p[f[0]]), yw_dsub(p[f[1]], p[f[0]]));
    yw_dvec3 g = yw_dscale(n, 1.0 / (6.0 * volume));
    shape.gradient[a][0] = g.x, shape.gradient[a][1] = g.y, shape.gradient[a][2] = g.z;
  }
  return shape;
}

// The shape T_t is the root with corner t moved to the centre; a child is half that size.
static void make_shapes(fem_hierarchy* h) {
  for (int32_t r = 0; r < h->num_roots; ++r) {
    yw_dvec3 p[4], sum = {0, 0, 0};
    for (int s = 0; s < 4; ++s) {
      p[s] = h->rest[h->nodes[r][s]];
      sum = yw_dadd(sum, p[s]);
    }
    h->shapes[r][FEM_A] = shape_of(p);
    for (int t = 0; t < 4; ++t) {
      yw_dvec3 q[4] = {p[0], p[1], p[2], p[3]};
      // Child T_t: apex k, base at midpoints (p_t + p_u) / 2; doubled and moved by -p_t.
      q[t] = yw_dsub(yw_dscale(sum, 0.5), p[t]);
      h->shapes[r][FEM_T0 + t] = shape_of(q);
    }
  }
}

void yw_fem_hierarchy_free(fem_hierarchy* h) {
  void* const arrays[] = {h->type,  h->sign,   h->level, h->root, h->parent, h->first_child,
                          h->nodes, h->family, h->node,  h->rest, h->shapes};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&h->mem, arrays[i]);
  *h = (fem_hierarchy){0};
}

yw_status yw_fem_hierarchy_create(const yw_allocator* mem, const yw_tet_mesh* mesh,
                                  int32_t max_level, double max_bytes, fem_hierarchy* out,
                                  yw_error* error) {
  *out = (fem_hierarchy){.mem = yw_mem_or_default(mem)};
  if (!mesh || mesh->num_tets < 1) {
    return yw_fail(error, YW_ERR_GEOMETRY, "a body of finite elements needs at least one tet");
  }
  yw_status status = check_size(mesh, max_level, max_bytes, error);
  if (status >= 0) status = yw_tet_mesh_check(mesh, error);
  if (status >= 0) status = yw_fem_check_conformity(mem, mesh, error);
  if (status < 0) return status;

  fem_hierarchy* h = out;
  h->max_level = max_level;
  h->num_roots = mesh->num_tets;
  count_levels(h);
  builder b = {.h = h};
  bool good = allocate_tets(h) && make_roots(&b, mesh);
  for (int32_t l = 0; l < max_level && good; ++l) good = subdivide_level(&b, l);
  good = good && place_nodes(&b, mesh);
  YW_LIST_FREE(&h->mem, &b.nodes);
  if (!good) {
    yw_fem_hierarchy_free(out);
    return yw_fail_memory(error, "the levels of a mesh");
  }
  make_shapes(h);
  return YW_OK;
}

yw_status yw_fem_level_mesh(const yw_allocator* mem, const fem_hierarchy* h, int32_t level,
                            yw_tet_mesh* out, yw_error* error) {
  int32_t first = h->level_start[level], end = h->level_start[level + 1];
  int32_t num_nodes = h->node_level_start[level + 1];
  if (yw_tet_mesh_create(mem, num_nodes, end - first, out) < 0) {
    return yw_fail_memory(error, "the mesh of a level");
  }
  for (int32_t i = 0; i < num_nodes; ++i) out->positions[i] = yw_f3(h->rest[i]);
  for (int32_t t = first; t < end; ++t) {
    const int32_t* v = h->nodes[t];
    int32_t* to = out->tets + 4 * (size_t)(t - first);
    bool positive = yw_fem_is_positive(h, t);
    to[0] = v[0], to[1] = v[1], to[2] = v[positive ? 2 : 3], to[3] = v[positive ? 3 : 2];
  }
  return YW_OK;
}

yw_status yw_fem_finest_mesh(const yw_allocator* mem, const fem_hierarchy* h, yw_tet_mesh* out,
                             yw_error* error) {
  return yw_fem_level_mesh(mem, h, h->max_level, out, error);
}
