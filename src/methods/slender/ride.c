// SPDX-License-Identifier: MIT
// A surface that follows a coarser sheet. A vertex p has a nearest point q = sum_j w_j X_j on one
// of the sheet's triangles at rest, and moves to
//
//   sum_j w_j (x_j + R_j ((q - X_j) / 2 + p - q)),
//
// which is p at rest, turns with a rigid motion, stretches with the triangle, and follows the
// quadratic surface through its corners whose tangent planes are those of the turned particles: the
// facets of the sheet do not show.
#include <string.h>

#include "geometry/surface_edges.h"
#include "geometry/triangle_tree.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Steps from vertex to vertex towards the nearest triangle.
#define MAX_WALK 32
// A triangle that faces away counts as this many edges farther.
#define WRONG_SIDE 2.0f

typedef struct rider {
  const slender_model* model;
  const yw_tri_mesh* surface;
  const int32_t* home;      // may be NULL
  yw_surface_edges edges;   // of the surface, for vertices at the same place
  yw_vec3* normals;         // of the surface's vertices
  yw_triangle_tree tree;    // of the sheet
  int32_t *first, *around;  // triangles of the sheet around its vertices
  float edge;               // m, mean
} rider;

static yw_vec3 corner_of(const rider* r, int32_t t, int k) {
  return r->model->rest[r->model->elements[3 * (size_t)t + (size_t)k]];
}

static yw_vec3 normal_of(const rider* r, int32_t t) {
  yw_vec3 a = corner_of(r, t, 0);
  return yw_cross(yw_sub(corner_of(r, t, 1), a), yw_sub(corner_of(r, t, 2), a));
}

// Nearest triangles -------------------------------------------------------------------------------

typedef struct nearest_triangle {
  int32_t triangle;
  float cost;  // m^2, squared distance and what the wrong side adds
  yw_vec3 point;
} nearest_triangle;

static void look_at(const rider* r, int32_t t, yw_vec3 p, yw_vec3 normal, nearest_triangle* best) {
  yw_tree_triangle triangle = {corner_of(r, t, 0), corner_of(r, t, 1), corner_of(r, t, 2), t,
                               false};
  int32_t corners;
  yw_vec3 q = yw_triangle_nearest(&triangle, p, &corners);
  float cost = yw_length2(yw_sub(q, p));
  if (yw_dot(normal_of(r, t), normal) < 0.0f) cost += WRONG_SIDE * WRONG_SIDE * r->edge * r->edge;
  if (cost < best->cost) *best = (nearest_triangle){t, cost, q};
}

static void look_around(const rider* r, int32_t vertex, yw_vec3 p, yw_vec3 normal,
                        nearest_triangle* best) {
  for (int32_t i = r->first[vertex]; i < r->first[vertex + 1]; ++i) {
    look_at(r, r->around[i], p, normal, best);
  }
}

// Triangles within two edges of a vertex.
static void look_widely(const rider* r, int32_t vertex, yw_vec3 p, yw_vec3 normal,
                        nearest_triangle* best) {
  for (int32_t i = r->first[vertex]; i < r->first[vertex + 1]; ++i) {
    const int32_t* v = r->model->elements + 3 * (size_t)r->around[i];
    for (int k = 0; k < 3; ++k) look_around(r, v[k], p, normal, best);
  }
}

static int32_t nearest_corner(const rider* r, const nearest_triangle* at) {
  int32_t best = 0;
  for (int k = 1; k < 3; ++k) {
    float d = yw_distance(corner_of(r, at->triangle, k), at->point);
    if (d < yw_distance(corner_of(r, at->triangle, best), at->point)) best = k;
  }
  return r->model->elements[3 * (size_t)at->triangle + (size_t)best];
}

// Where to begin without a home. The point is moved outward if the nearest triangle faces away, as
// on the other side of an ear.
static int32_t search_home(const rider* r, yw_vec3 p, yw_vec3 normal) {
  int32_t home = 0;
  for (int k = 0; k < 4; ++k) {
    yw_vec3 from = yw_mad(p, 0.5f * (float)k * r->edge, normal);
    yw_nearest found = yw_triangle_tree_nearest(&r->tree, from, INFINITY);
    if (found.triangle < 0) break;
    nearest_triangle at = {r->tree.triangles[found.triangle].index, 0.0f, found.point};
    if (k == 0) home = nearest_corner(r, &at);
    if (yw_dot(normal_of(r, at.triangle), normal) >= 0.0f) return nearest_corner(r, &at);
  }
  return home;
}

static nearest_triangle search(const rider* r, int32_t v) {
  yw_vec3 p = r->surface->positions[v], normal = r->normals[v];
  int32_t at = r->home && r->home[v] >= 0 ? r->home[v] : search_home(r, p, normal);
  nearest_triangle best = {-1, INFINITY, p};
  for (int k = 0; k < MAX_WALK; ++k) {
    float before = best.cost;
    look_widely(r, at, p, normal, &best);
    if (!(best.cost < before)) break;
    at = nearest_corner(r, &best);
  }
  return best;
}

// Shares of the corners in a point of a triangle.
static void find_weights(const rider* r, const nearest_triangle* at, float out[3]) {
  yw_vec3 n = normal_of(r, at->triangle);
  float sum = 0.0f;
  for (int k = 0; k < 3; ++k) {
    yw_vec3 b = corner_of(r, at->triangle, (k + 1) % 3),
            c = corner_of(r, at->triangle, (k + 2) % 3);
    yw_vec3 area = yw_cross(yw_sub(b, at->point), yw_sub(c, at->point));
    out[k] = fmaxf(yw_dot(area, n), 0.0f);
    sum += out[k];
  }
  for (int k = 0; k < 3; ++k) out[k] = sum > 0.0f ? out[k] / sum : 1.0f / 3.0f;
}

static sheet_ride ride_of(const rider* r, int32_t v) {
  nearest_triangle at = search(r, v);
  sheet_ride ride;
  find_weights(r, &at, ride.weights);
  yw_vec3 p = r->surface->positions[v], q = {0, 0, 0};
  for (int j = 0; j < 3; ++j) q = yw_mad(q, ride.weights[j], corner_of(r, at.triangle, j));
  for (int j = 0; j < 3; ++j) {
    ride.particles[j] = r->model->elements[3 * (size_t)at.triangle + (size_t)j];
    ride.lever[j] = yw_mad(yw_sub(p, q), 0.5f, yw_sub(q, corner_of(r, at.triangle, j)));
  }
  return ride;
}

// Building ----------------------------------------------------------------------------------------

static void free_rider(rider* r) {
  const yw_allocator* mem = &r->model->mem;
  yw_surface_edges_free(&r->edges);
  yw_triangle_tree_free(&r->tree);
  yw_mem_free(mem, r->normals);
  yw_mem_free(mem, r->first);
  yw_mem_free(mem, r->around);
}

// Area-weighted, the same for vertices at the same place.
static void find_normals(rider* r) {
  const yw_tri_mesh* s = r->surface;
  const int32_t* place = r->edges.place;
  for (int32_t t = 0; t < s->num_triangles; ++t) {
    const int32_t* v = s->triangles + 3 * (size_t)t;
    yw_vec3 a = s->positions[v[0]];
    yw_vec3 n = yw_cross(yw_sub(s->positions[v[1]], a), yw_sub(s->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) r->normals[place[v[k]]] = yw_add(r->normals[place[v[k]]], n);
  }
  for (int32_t v = 0; v < s->num_vertices; ++v) {
    if (place[v] == v) r->normals[v] = yw_normalize_or(r->normals[v], yw_v3(0, 0, 0));
  }
}

static void list_around(rider* r) {
  const slender_model* model = r->model;
  double sum = 0.0;
  size_t corners = 3 * (size_t)model->num_elements;
  for (size_t i = 0; i < corners; ++i) ++r->first[model->elements[i]];
  for (int32_t v = 0; v < model->num_particles; ++v) r->first[v + 1] += r->first[v];
  // Filled from the back: first[v] goes from the end of the list of v to its beginning.
  for (size_t i = corners; i-- > 0;) {
    r->around[--r->first[model->elements[i]]] = (int32_t)(i / 3);
  }
  for (size_t i = 0; i < corners; ++i) {
    size_t next = i % 3 == 2 ? i - 2 : i + 1;
    sum += (double)yw_distance(model->rest[model->elements[i]], model->rest[model->elements[next]]);
  }
  r->edge = (float)(sum / (double)corners);
}

static yw_status prepare(rider* r, yw_error* error) {
  const slender_model* model = r->model;
  const yw_allocator* mem = &model->mem;
  r->normals = YW_NEW_ARRAY(mem, yw_vec3, r->surface->num_vertices);
  r->first = YW_NEW_ARRAY(mem, int32_t, model->num_particles + 1);
  r->around = YW_NEW_ARRAY(mem, int32_t, 3 * (size_t)model->num_elements);
  yw_status status = yw_surface_edges_create(r->surface, mem, &r->edges);
  if (status == YW_ERR_GEOMETRY) {
    return yw_fail(error, status, "sheet: the surface has a vertex number out of range");
  }
  if (status >= 0) {
    status = yw_triangle_tree_create(mem, model->num_elements, model->elements, model->rest, NULL,
                                     &r->tree);
  }
  if (status < 0 || !r->normals || !r->first || !r->around) {
    return yw_fail_memory(error, "the surface of a sheet");
  }
  find_normals(r);
  list_around(r);
  return YW_OK;
}

static yw_status check(const slender_model* model, const yw_sheet_def* def, yw_error* error) {
  const yw_tri_mesh* s = def->surface;
  if (s->num_vertices < 1 || s->num_triangles < 1) {
    return yw_fail(error, YW_ERR_INVALID, "sheet: the surface has no triangles");
  }
  for (int32_t v = 0; v < s->num_vertices; ++v) {
    if (!yw_is_finite3(s->positions[v])) {
      return yw_fail(error, YW_ERR_INVALID, "sheet: vertex %d of the surface is not finite", v);
    }
    if (def->surface_home && def->surface_home[v] >= model->num_particles) {
      return yw_fail(error, YW_ERR_INVALID,
                     "sheet: the home of vertex %d is %d, but the mesh has %d vertices", v,
                     def->surface_home[v], model->num_particles);
    }
  }
  return YW_OK;
}

yw_status yw_sheet_ride(slender_model* model, const yw_sheet_def* def, yw_error* error) {
  yw_status status = check(model, def, error);
  if (status < 0) return status;
  rider r = {.model = model, .surface = def->surface, .home = def->surface_home};
  status = prepare(&r, error);
  model->rides = YW_NEW_ARRAY(&model->mem, sheet_ride, def->surface->num_vertices);
  if (status >= 0 &&
      (!model->rides || yw_tri_mesh_copy(def->surface, &model->mem, &model->surface) < 0)) {
    status = yw_fail_memory(error, "the surface of a sheet");
  }
  // Vertices at the same place follow alike, so that no crack opens along seams.
  for (int32_t v = 0; v < def->surface->num_vertices && status >= 0; ++v) {
    int32_t place = r.edges.place[v];
    model->rides[v] = place == v ? ride_of(&r, v) : model->rides[place];
  }
  free_rider(&r);
  return status;
}

void yw_sheet_ride_positions(const slender_body* body, const yw_particles* particles,
                             yw_vec3* out) {
  for (int32_t v = 0; v < body->model->surface.num_vertices; ++v) {
    const sheet_ride* ride = &body->model->rides[v];
    yw_vec3 p = {0, 0, 0};
    for (int j = 0; j < 3; ++j) {
      int32_t i = ride->particles[j];
      yw_vec3 lever = yw_rotate(yw_turn_to_quat(body->turn[i]), ride->lever[j]);
      p = yw_mad(p, ride->weights[j], yw_add(yw_xyz(particles->pos[i]), lever));
    }
    out[v] = p;
  }
}
