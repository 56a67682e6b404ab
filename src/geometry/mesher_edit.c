// SPDX-License-Identifier: MIT
#include "geometry/mesher_edit.h"

#include "geometry/mesher_lattice.h"
#include "geometry/shape.h"
#include "yawara/extend/vec.h"

#define FIRST_STEP 0.12           // of the size
#define SURFACE_TOLERANCE 0.004f  // of the size
#define MAX_RING 256              // tets around an edge

// Lists -------------------------------------------------------------------------------------------

static void link_corner(yw_tet_edit* e, int32_t corner, int32_t vertex) {
  e->tets.items[corner >> 2].v[corner & 3] = vertex;
  e->next.items[corner] = e->first.items[vertex];
  e->first.items[vertex] = corner;
}

static void unlink_corner(yw_tet_edit* e, int32_t corner) {
  int32_t* at = &e->first.items[e->tets.items[corner >> 2].v[corner & 3]];
  while (*at != corner) at = &e->next.items[*at];
  *at = e->next.items[corner];
}

static bool reserve(yw_tet_edit* e, int32_t vertices, int32_t tets) {
  if (tets > (INT32_MAX - e->next.count) / 4) return false;
  return YW_LIST_RESERVE(&e->mem, &e->positions, vertices) &&
         YW_LIST_RESERVE(&e->mem, &e->sizes, vertices) &&
         YW_LIST_RESERVE(&e->mem, &e->holds, vertices) &&
         YW_LIST_RESERVE(&e->mem, &e->first, vertices) &&
         YW_LIST_RESERVE(&e->mem, &e->tets, tets) && YW_LIST_RESERVE(&e->mem, &e->next, 4 * tets);
}

static void add_vertex(yw_tet_edit* e, yw_vec3 x, float size, int hold) {
  e->sizes.items[e->sizes.count++] = size;
  e->positions.items[e->positions.count++] = x;
  e->holds.items[e->holds.count++] = (unsigned char)hold;
  e->first.items[e->first.count++] = -1;
}

static void add_tet(yw_tet_edit* e, const int32_t v[4]) {
  int32_t tet = e->tets.count++;
  e->next.count += 4;
  for (int k = 0; k < 4; ++k) link_corner(e, 4 * tet + k, v[k]);
}

yw_status yw_edit_begin(const yw_shape* shape, float size, const float* sizes,
                        const yw_tet_mesh* mesh, const unsigned char* on_surface,
                        yw_tet_edit* out) {
  yw_tet_edit e = {.mem = mesh->mem, .shape = shape};
  bool ready = reserve(&e, mesh->num_vertices, mesh->num_tets);
  for (int32_t i = 0; ready && i < mesh->num_vertices; ++i) {
    add_vertex(&e, mesh->positions[i], sizes != NULL ? sizes[i] : size,
               on_surface[i] ? YW_HOLD_SURFACE : YW_HOLD_NOTHING);
  }
  for (int32_t t = 0; ready && t < mesh->num_tets; ++t) add_tet(&e, mesh->tets + 4 * (size_t)t);
  if (!ready) yw_edit_free(&e);
  *out = e;
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_edit_free(yw_tet_edit* e) {
  YW_LIST_FREE(&e->mem, &e->positions);
  YW_LIST_FREE(&e->mem, &e->sizes);
  YW_LIST_FREE(&e->mem, &e->holds);
  YW_LIST_FREE(&e->mem, &e->first);
  YW_LIST_FREE(&e->mem, &e->tets);
  YW_LIST_FREE(&e->mem, &e->next);
}

yw_tet_mesh yw_edit_view(const yw_tet_edit* e) {
  return (yw_tet_mesh){.mem = e->mem,
                       .num_vertices = e->positions.count,
                       .num_tets = e->tets.count,
                       .positions = e->positions.items,
                       .tets = e->tets.items[0].v};
}

yw_status yw_edit_end(yw_tet_edit* e, yw_tet_mesh* mesh) {
  yw_tet_mesh grown;
  yw_status status = yw_tet_mesh_create(&e->mem, e->positions.count, e->tets.count, &grown);
  if (status == YW_OK) {
    for (int32_t i = 0; i < grown.num_vertices; ++i) grown.positions[i] = e->positions.items[i];
    for (int32_t t = 0; t < grown.num_tets; ++t) {
      for (int k = 0; k < 4; ++k) grown.tets[4 * (size_t)t + (size_t)k] = e->tets.items[t].v[k];
    }
    yw_tet_mesh_free(mesh);
    *mesh = grown;
  }
  yw_edit_free(e);
  return status;
}

// Quality -----------------------------------------------------------------------------------------

static double badness_of(const yw_dvec3 p[4]) {
  if (!(yw_tet_volume6(p) > 0.0)) return 2.0;
  double largest, smallest;
  yw_tet_dihedral_cosines(p, &largest, &smallest);
  return fmax(largest, -smallest);
}

static void gather(const yw_tet_edit* e, int32_t tet, yw_dvec3 out[4]) {
  for (int k = 0; k < 4; ++k) out[k] = yw_d3(e->positions.items[e->tets.items[tet].v[k]]);
}

double yw_edit_badness(const yw_tet_edit* e, int32_t tet) {
  yw_dvec3 p[4];
  gather(e, tet, p);
  return badness_of(p);
}

// Of the tet of a corner if that were at x.
static double badness_with(const yw_tet_edit* e, int32_t corner, yw_vec3 x) {
  yw_dvec3 p[4];
  gather(e, corner >> 2, p);
  p[corner & 3] = yw_d3(x);
  return badness_of(p);
}

double yw_edit_badness_at(const yw_tet_edit* e, int32_t vertex, yw_vec3 x, double limit) {
  double worst = -1.0;
  for (int32_t c = e->first.items[vertex]; c >= 0 && worst < limit; c = e->next.items[c]) {
    worst = fmax(worst, badness_with(e, c, x));
  }
  return worst;
}

static int32_t worst_corner(const yw_tet_edit* e, int32_t vertex, double* badness) {
  int32_t found = -1;
  *badness = -1.0;
  for (int32_t c = e->first.items[vertex]; c >= 0; c = e->next.items[c]) {
    double here = badness_with(e, c, e->positions.items[vertex]);
    if (here > *badness) *badness = here, found = c;
  }
  return found;
}

// Moves -------------------------------------------------------------------------------------------

// Projects a trial position onto the surface; false if that fails.
static bool land(const yw_tet_edit* e, float size, yw_vec3* x) {
  float tolerance = SURFACE_TOLERANCE * size;
  for (int step = 0; step < 3; ++step) {
    yw_vec3 normal;
    float distance = yw_shape_gap(e->shape, *x, &normal);
    if (fabsf(distance) <= tolerance) return true;
    if (!(fabsf(distance) < 0.2f * size)) return false;
    *x = yw_mad(*x, -distance, normal);
  }
  yw_vec3 unused;
  return fabsf(yw_shape_gap(e->shape, *x, &unused)) <= tolerance;
}

// Tries a step in each direction of the lattice and keeps the best; false if none helps. Most steps
// do not even help the tet that is worst, which is asked first.
static bool try_steps(yw_tet_edit* e, int32_t vertex, int32_t worst, float step, double* badness) {
  yw_vec3 start = e->positions.items[vertex], best = start;
  for (int n = 0; n < YW_BCC_DIRECTIONS; ++n) {
    yw_vec3 x = yw_mad(start, step, yw_f3(yw_bcc_edge(n)));
    if (e->holds.items[vertex] == YW_HOLD_SURFACE && !land(e, e->sizes.items[vertex], &x)) continue;
    if (badness_with(e, worst, x) >= *badness) continue;
    double trial = yw_edit_badness_at(e, vertex, x, *badness);
    if (trial < *badness) *badness = trial, best = x;
  }
  e->positions.items[vertex] = best;
  return best.x != start.x || best.y != start.y || best.z != start.z;
}

bool yw_edit_improve_vertex(yw_tet_edit* e, int32_t vertex, double enough) {
  if (e->holds.items[vertex] >= YW_HOLD_CREASE) return false;
  bool moved = false;
  double badness;
  int32_t worst = worst_corner(e, vertex, &badness);
  float step = (float)(FIRST_STEP * (double)e->sizes.items[vertex]);
  for (int n = 0; n < 4 && badness > enough; ++n) {
    bool helped = try_steps(e, vertex, worst, step, &badness);
    if (!helped) step *= 0.5f;
    moved = moved || helped;
  }
  return moved;
}

// Splits ------------------------------------------------------------------------------------------

// Corners at b of the tets around the edge a-b.
static int32_t list_ring(const yw_tet_edit* e, int32_t a, int32_t b, int32_t ring[MAX_RING]) {
  int32_t count = 0;
  for (int32_t c = e->first.items[b]; c >= 0; c = e->next.items[c]) {
    const int32_t* v = e->tets.items[c >> 2].v;
    if (v[0] != a && v[1] != a && v[2] != a && v[3] != a) continue;
    if (count == MAX_RING) return 0;
    ring[count++] = c;
  }
  return count;
}

int32_t yw_edit_split(yw_tet_edit* e, int32_t a, int32_t b, yw_vec3 x, yw_vertex_hold hold) {
  int32_t ring[MAX_RING], count = list_ring(e, a, b, ring);
  if (count == 0 || !reserve(e, 1, count)) return 0;
  int32_t middle = e->positions.count;
  add_vertex(e, x, fminf(e->sizes.items[a], e->sizes.items[b]), (int)hold);
  for (int32_t n = 0; n < count; ++n) {
    // The old tet keeps a, the new one b.
    int32_t v[4];
    for (int k = 0; k < 4; ++k) {
      int32_t old = e->tets.items[ring[n] >> 2].v[k];
      v[k] = old == a ? middle : old;
    }
    add_tet(e, v);
    unlink_corner(e, ring[n]);
    link_corner(e, ring[n], middle);
  }
  return count;
}

void yw_edit_undo_split(yw_tet_edit* e, int32_t b, int32_t count) {
  int32_t middle = e->positions.count - 1;
  for (int32_t n = 0; n < count; ++n) {
    int32_t tet = --e->tets.count;
    for (int k = 0; k < 4; ++k) unlink_corner(e, 4 * tet + k);
    e->next.count -= 4;
  }
  while (e->first.items[middle] >= 0) {
    int32_t corner = e->first.items[middle];
    unlink_corner(e, corner);
    link_corner(e, corner, b);
  }
  --e->positions.count;
  --e->sizes.count;
  --e->holds.count;
  --e->first.count;
}
