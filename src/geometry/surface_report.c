// SPDX-License-Identifier: MIT
// What a surface is like: closed or not, wound alike or not, in how many parts.
#include <math.h>

#include "geometry/surface_crossings.h"
#include "geometry/surface_edges.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Twice the area of a triangle, below this share of its longest edge squared, is nothing: floats
// cannot tell its normal.
#define FLAT_SHARE 1e-6

static void cross_of(const yw_tri_mesh* mesh, int32_t t, double out[3]) {
  const int32_t* v = mesh->triangles + 3 * (size_t)t;
  yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]];
  double e[3] = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
  double f[3] = {(double)c.x - (double)a.x, (double)c.y - (double)a.y, (double)c.z - (double)a.z};
  out[0] = e[1] * f[2] - e[2] * f[1];
  out[1] = e[2] * f[0] - e[0] * f[2];
  out[2] = e[0] * f[1] - e[1] * f[0];
}

static double length2(yw_vec3 a, yw_vec3 b) {
  double x = (double)a.x - (double)b.x, y = (double)a.y - (double)b.y,
         z = (double)a.z - (double)b.z;
  return x * x + y * y + z * z;
}

// Area, volume about the middle of the box, and triangles without area.
static void measure(const yw_tri_mesh* mesh, yw_surface_report* out) {
  out->box = yw_aabb_empty();
  for (int64_t i = 0; i < 3 * (int64_t)mesh->num_triangles; ++i)
    out->box = yw_aabb_grow(out->box, mesh->positions[mesh->triangles[i]]);
  yw_vec3 middle = yw_scale(yw_add(out->box.lower, out->box.upper), 0.5f);
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    const yw_vec3* x = mesh->positions;
    double n[3], longest = 0.0;
    cross_of(mesh, t, n);
    for (int32_t k = 0; k < 3; ++k) longest = fmax(longest, length2(x[v[k]], x[v[(k + 1) % 3]]));
    double twice = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    out->area += 0.5 * twice;
    out->volume += (n[0] * ((double)x[v[0]].x - (double)middle.x) +
                    n[1] * ((double)x[v[0]].y - (double)middle.y) +
                    n[2] * ((double)x[v[0]].z - (double)middle.z)) /
                   6.0;
    if (!(twice > FLAT_SHARE * longest)) ++out->flat_triangles;
  }
}

static yw_vec3 middle_of(const yw_tri_mesh* mesh, const yw_half_edge* edge) {
  return yw_scale(yw_add(mesh->positions[edge->low], mesh->positions[edge->high]), 0.5f);
}

// Chains of open edges are holes: every place that they visit is one, less the joints between them.
static void count_open(const yw_tri_mesh* mesh, const yw_half_edge* edge, int32_t* parent,
                       yw_surface_report* out) {
  if (out->open_edges++ == 0) out->open_place = middle_of(mesh, edge);
  const int32_t ends[2] = {edge->low, edge->high};
  for (int32_t k = 0; k < 2; ++k) {
    if (parent[ends[k]] >= 0) continue;
    parent[ends[k]] = ends[k];
    ++out->holes;
  }
  if (yw_set_join(parent, edge->low, edge->high)) --out->holes;
}

// Sums the lengths of each chain at its root.
static bool measure_holes(const yw_tri_mesh* mesh, const yw_surface_edges* edges, int32_t* parent,
                          yw_surface_report* out) {
  double* length = YW_NEW_ARRAY(&edges->mem, double, mesh->num_vertices);
  if (!length) return false;
  for (int32_t i = 0, end; i < edges->num_edges; i = end) {
    const yw_half_edge* e = edges->edges + i;
    end = yw_surface_run_end(edges, i);
    if (end - i == 1)
      length[yw_set_root(parent, e->low)] +=
          sqrt(length2(mesh->positions[e->low], mesh->positions[e->high]));
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i)
    out->hole_area += length[i] * length[i] / (4.0 * 3.14159265358979);
  yw_mem_free(&edges->mem, length);
  return true;
}

static bool count_edges(const yw_tri_mesh* mesh, const yw_surface_edges* edges,
                        yw_surface_report* out) {
  int32_t* parent = YW_NEW_ARRAY(&edges->mem, int32_t, mesh->num_vertices);
  if (!parent) return false;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) parent[i] = -1;
  for (int32_t i = 0, end; i < edges->num_edges; i = end) {
    const yw_half_edge* e = edges->edges + i;
    end = yw_surface_run_end(edges, i);
    int32_t count = end - i, forward = 0;
    for (int32_t k = 0; k < count; ++k) forward += e[k].forward;
    if (count == 1) {
      count_open(mesh, e, parent, out);
    } else if (count > 2) {
      if (out->crowded_edges++ == 0) out->crowded_place = middle_of(mesh, e);
    } else if (forward != 1) {
      if (out->turned_edges++ == 0) out->turned_place = middle_of(mesh, e);
    }
  }
  bool good = out->open_edges == 0 || measure_holes(mesh, edges, parent, out);
  yw_mem_free(&edges->mem, parent);
  return good;
}

yw_status yw_surface_openings(const yw_tri_mesh* mesh, const yw_allocator* mem,
                              yw_surface_report* out) {
  yw_surface_edges edges;
  *out = (yw_surface_report){0};
  yw_status status = yw_surface_edges_create(mesh, mem, &edges);
  if (status < 0) return status;
  measure(mesh, out);
  if (!count_edges(mesh, &edges, out)) status = YW_ERR_MEMORY;
  yw_surface_edges_free(&edges);
  return status;
}

yw_status yw_surface_report_of(const yw_tri_mesh* mesh, const yw_allocator* mem,
                               yw_surface_report* out, yw_error* error) {
  *out = (yw_surface_report){0};
  if (!mesh || mesh->num_triangles == 0)
    return yw_fail(error, YW_ERR_GEOMETRY, "the surface has no triangles");
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    if (!(fabsf(p.x) < 1e18f && fabsf(p.y) < 1e18f && fabsf(p.z) < 1e18f))
      return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d is at %g %g %g, too far away", i,
                     (double)p.x, (double)p.y, (double)p.z);
  }
  yw_surface_edges edges;
  yw_status status = yw_surface_edges_create(mesh, mem, &edges);
  if (status < 0) {
    return yw_fail(error, status,
                   status == YW_ERR_MEMORY ? "not enough memory for the edges of the surface"
                                           : "a triangle refers to a vertex that does not exist");
  }
  measure(mesh, out);
  int32_t* part = YW_NEW_ARRAY(&edges.mem, int32_t, mesh->num_triangles);
  bool good = part && (out->num_parts = yw_surface_parts(mesh, &edges, part)) >= 0 &&
              count_edges(mesh, &edges, out) && yw_count_crossings(mesh, &edges, out);
  yw_mem_free(&edges.mem, part);
  yw_surface_edges_free(&edges);
  return good ? YW_OK : yw_fail_memory(error, "a report of the surface");
}
