// SPDX-License-Identifier: MIT
// Builds sheets from triangle meshes: checks, directors, stiffness of a plate in plane stress.
#include <stdlib.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/kit/moduli.h"
#include "methods/slender/examples.h"
#include "methods/slender/sheet_energy.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// The factor needs about 25 kB per vertex.
#define MAX_VERTICES 200000
// Minimum of twice a triangle's area over the square of its longest side.
#define LEAST_SHAPE 1e-6
#define SHEAR_CORRECTION (5.0 / 6.0)
// Transverse shear is reduced to t^2 / (t^2 + SOFTENING l^2) of its value on edges of length l, so
// that triangles much wider than thick do not lock (Pitkaranta 1988; Lyly, Stenberg, Vihinen 1993).
// The error vanishes with the square of l. Tuned on plates, see docs/methods/slender.md.
#define SOFTENING 0.2
// Minimum share of the shear that an edge carries; edges opposite right angles would have none.
#define LEAST_EDGE 0.05
// Stiffness of a particle's rotation about its director, relative to mu.
#define DRILL_STIFFNESS 0.05

static void side_of(const yw_tri_mesh* mesh, int32_t from, int32_t to, double out[3]) {
  const yw_vec3 *a = &mesh->positions[from], *b = &mesh->positions[to];
  out[0] = (double)b->x - (double)a->x;
  out[1] = (double)b->y - (double)a->y;
  out[2] = (double)b->z - (double)a->z;
}

// Checks ------------------------------------------------------------------------------------------

static yw_status check_triangle(const yw_tri_mesh* mesh, int32_t t, yw_error* error) {
  const int32_t* v = mesh->triangles + 3 * (size_t)t;
  for (int k = 0; k < 3; ++k) {
    if (v[k] < 0 || v[k] >= mesh->num_vertices) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "sheet: triangle %d has vertex %d, but there are %d (0 to %d)", t, v[k],
                     mesh->num_vertices, mesh->num_vertices - 1);
    }
  }
  double a[3], b[3], c[3], normal[3];
  side_of(mesh, v[0], v[1], a);
  side_of(mesh, v[0], v[2], b);
  side_of(mesh, v[1], v[2], c);
  yw_cross3(a, b, normal);
  double longest2 = fmax(yw_dot3(a, a), fmax(yw_dot3(b, b), yw_dot3(c, c)));
  if (sqrt(yw_dot3(normal, normal)) > LEAST_SHAPE * longest2) return YW_OK;
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "sheet: triangle %d (vertices %d, %d, %d) has no area: two of them coincide or "
                 "all lie on a line",
                 t, v[0], v[1], v[2]);
}

typedef struct half_edge {
  int32_t from, to, triangle;
} half_edge;

static int compare_edges(const void* a, const void* b) {
  const half_edge *x = a, *y = b;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return 0;
}

static yw_status check_winding(const slender_model* model, const yw_tri_mesh* mesh,
                               yw_error* error) {
  size_t count = 3 * (size_t)mesh->num_triangles;
  half_edge* edges = YW_NEW_ARRAY(&model->mem, half_edge, count);
  if (!edges) return yw_fail_memory(error, "a sheet");
  for (size_t i = 0; i < count; ++i) {
    const int32_t* v = mesh->triangles + i / 3 * 3;
    edges[i] = (half_edge){v[i % 3], v[(i + 1) % 3], (int32_t)(i / 3)};
  }
  qsort(edges, count, sizeof *edges, compare_edges);
  yw_status status = YW_OK;
  for (size_t i = 1; i < count; ++i) {
    if (edges[i].from != edges[i - 1].from || edges[i].to != edges[i - 1].to) continue;
    status = yw_fail(error, YW_ERR_GEOMETRY,
                     "sheet: triangles %d and %d both run from vertex %d to %d: they are wound "
                     "differently, or more than two meet there",
                     edges[i - 1].triangle, edges[i].triangle, edges[i].from, edges[i].to);
    break;
  }
  yw_mem_free(&model->mem, edges);
  return status;
}

static yw_moduli moduli_of(const yw_sheet_def* def) {
  return (yw_moduli){def->density,
                     def->youngs_modulus,
                     def->poissons_ratio,
                     def->youngs_modulus_field,
                     def->poissons_ratio_field,
                     def->mesh->num_vertices};
}

static yw_status check_mesh(const yw_sheet_def* def, yw_error* error) {
  const yw_tri_mesh* mesh = def->mesh;
  if (!mesh || mesh->num_vertices < 3 || mesh->num_triangles < 1) {
    return yw_fail(error, YW_ERR_INVALID, "sheet: the mesh has no triangles");
  }
  if (mesh->num_vertices > MAX_VERTICES) {
    return yw_fail(error, YW_ERR_LIMIT, "sheet: %d vertices, but at most %d are possible",
                   mesh->num_vertices, MAX_VERTICES);
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    if (!yw_is_finite3(mesh->positions[v])) {
      return yw_fail(error, YW_ERR_INVALID, "sheet: vertex %d is not finite", v);
    }
  }
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    yw_status status = check_triangle(mesh, t, error);
    if (status < 0) return status;
  }
  if (!(def->thickness > 0.0f) || !isfinite(def->thickness)) {
    return yw_fail(error, YW_ERR_INVALID, "sheet: thickness is %g m, but must be above 0",
                   (double)def->thickness);
  }
  if (!(def->contact_radius >= 0.0f && isfinite(def->contact_radius))) {
    return yw_fail(error, YW_ERR_INVALID, "sheet: contact radius is %g m, but must be 0 or more",
                   (double)def->contact_radius);
  }
  yw_moduli moduli = moduli_of(def);
  yw_status status = yw_moduli_check(&moduli, "sheet: ", error);
  return status < 0 ? status : yw_slender_params_check(&def->params, def->examples.count, error);
}

// Building ----------------------------------------------------------------------------------------

// Area-weighted vertex normals; every triangle must face the same side as these.
static yw_status find_directors(const yw_tri_mesh* mesh, double (*normal)[3], yw_error* error) {
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    double a[3], b[3], n[3];
    side_of(mesh, v[0], v[1], a);
    side_of(mesh, v[0], v[2], b);
    yw_cross3(a, b, n);
    for (int k = 0; k < 9; ++k) normal[v[k / 3]][k % 3] += n[k % 3];
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    double length = sqrt(yw_dot3(normal[v], normal[v]));
    if (!(length > 0.0)) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "sheet: vertex %d belongs to no triangle, or they face opposite ways", v);
    }
    for (int k = 0; k < 3; ++k) normal[v][k] /= length;
  }
  return YW_OK;
}

// Axes, gradients and stiffness of one triangle. Returns its area.
static double fill_triangle(sheet_triangle* t, const yw_sheet_def* def, const int32_t* v,
                            double (*normal)[3]) {
  const yw_tri_mesh* mesh = def->mesh;
  double a[3], b[3], n[3], flat[3][2] = {{0}};
  side_of(mesh, v[0], v[1], a);
  side_of(mesh, v[0], v[2], b);
  yw_cross3(a, b, n);
  double area2 = sqrt(yw_dot3(n, n)), length = sqrt(yw_dot3(a, a));
  for (int k = 0; k < 3; ++k) t->tangent[0][k] = a[k] / length, n[k] /= area2;
  yw_cross3(n, t->tangent[0], t->tangent[1]);
  flat[1][0] = length;
  flat[2][0] = yw_dot3(b, t->tangent[0]);
  flat[2][1] = yw_dot3(b, t->tangent[1]);
  for (int j = 0; j < 3; ++j) {
    const double *from = flat[(j + 1) % 3], *to = flat[(j + 2) % 3];
    t->particles[j] = v[j];
    t->g[j][0] = (from[1] - to[1]) / area2;
    t->g[j][1] = (to[0] - from[0]) / area2;
    memcpy(t->normal[j], normal[v[j]], sizeof t->normal[j]);
  }
  double area = 0.5 * area2, thick = (double)def->thickness;
  yw_moduli moduli = moduli_of(def);
  double young = 0.0, poisson = 0.0;
  for (int j = 0; j < 3; ++j) {
    young += yw_moduli_youngs(&moduli, v[j]) / 3.0;
    poisson += yw_moduli_poisson(&moduli, v[j]) / 3.0;
  }
  double mu = young / (2.0 * (1.0 + poisson)), lambda = young * poisson / (1.0 - poisson * poisson);
  double bend = area * thick * thick * thick / 12.0;
  t->mu = area * thick * mu;
  t->lambda = area * thick * lambda;
  t->bend_mu = bend * mu;
  t->bend_lambda = bend * lambda;
  t->drill = DRILL_STIFFNESS * t->mu / 3.0;
  for (int j = 0; j < 3; ++j) {
    // Edges share shear by the cotangents of the opposite angles: uniform shear is then exact.
    const double *p = flat[j], *q = flat[(j + 1) % 3], *r = flat[(j + 2) % 3];
    double l2 = (q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]);
    double cosine = (p[0] - r[0]) * (q[0] - r[0]) + (p[1] - r[1]) * (q[1] - r[1]);
    double share = fmax(cosine / area2 * l2 / area2, LEAST_EDGE);
    double soft = thick * thick / (thick * thick + SOFTENING * l2);
    t->inv_length[j] = 1.0 / sqrt(l2);
    t->shear[j] = SHEAR_CORRECTION * soft * share * t->mu;
  }
  return area;
}

// The strains of the curved rest shape become the reference.
static void set_rest(sheet_triangle* t, const slender_pose* rest) {
  sheet_state state;
  yw_sheet_strains(t, rest, &state);
  for (int k = 0; k < 3; ++k) {
    t->rest_bend[k] = state.strain[3 + k];
    t->rest_shear[k] = state.strain[6 + k];
  }
}

static void add_mass(slender_model* model, const yw_sheet_def* def, const sheet_triangle* t,
                     double area) {
  double thick = (double)def->thickness, share = area / 3.0 * thick * (double)def->density;
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int j = 0; j < 3; ++j) {
    int32_t p = t->particles[j];
    const double* n = t->normal[j];
    model->mass[p] += (float)share;
    // t^2/12 about the two axes in the sheet, twice that about the director.
    for (int k = 0; k < 6; ++k) {
      double unit = row[k] == column[k] ? 1.0 : 0.0;
      model->inertia[p][k] += share * thick * thick / 12.0 * (unit + n[row[k]] * n[column[k]]);
    }
  }
}

static yw_status fill_sheet(slender_model* model, const yw_sheet_def* def, yw_error* error) {
  const yw_tri_mesh* mesh = def->mesh;
  size_t n = (size_t)mesh->num_vertices;
  double(*normal)[3] = yw_mem_alloc(&model->mem, n, sizeof *normal);
  slender_pose rest = {.x = YW_NEW_ARRAY(&model->mem, double, 3 * n),
                       .q = YW_NEW_ARRAY(&model->mem, yw_turn, n)};
  yw_status status =
      normal && rest.x && rest.q ? YW_OK : yw_fail_memory(error, "the triangles of a sheet");
  if (status >= 0) status = find_directors(mesh, normal, error);
  for (size_t p = 0; p < n && status >= 0; ++p) {
    model->rest[p] = mesh->positions[p];
    model->radius[p] = def->contact_radius > 0.0f ? def->contact_radius : 0.5f * def->thickness;
    for (int k = 0; k < 3; ++k) rest.x[3 * p + (size_t)k] = (double)(&mesh->positions[p].x)[k];
    rest.q[p] = YW_TURN_NONE;
  }
  for (int32_t t = 0; t < mesh->num_triangles && status >= 0; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    memcpy(model->elements + 3 * (size_t)t, v, 3 * sizeof *v);
    sheet_triangle* triangle = &model->triangles[t];
    double area = fill_triangle(triangle, def, v, normal);
    set_rest(triangle, &rest);
    add_mass(model, def, triangle, area);
  }
  yw_mem_free(&model->mem, normal);
  yw_mem_free(&model->mem, rest.x);
  yw_mem_free(&model->mem, rest.q);
  return status;
}

yw_status yw_sheet_model_create(const yw_allocator* mem, const yw_sheet_def* def, void** out,
                                yw_error* error) {
  *out = NULL;
  yw_status status = check_mesh(def, error);
  if (status < 0) return status;
  slender_model* model = YW_NEW(mem, slender_model);
  if (!model) return yw_fail_memory(error, "a sheet");
  model->mem = yw_mem_or_default(mem);
  model->params = def->params;
  model->density = def->density;
  status = check_winding(model, def->mesh, error);
  if (status >= 0 && !yw_slender_allocate(model, SLENDER_SHEET, def->mesh->num_vertices,
                                          def->mesh->num_triangles)) {
    status = yw_fail_memory(error, "a sheet");
  }
  if (status >= 0) status = fill_sheet(model, def, error);
  if (status >= 0) status = yw_slender_finish(model, error);
  if (status >= 0) {
    status = def->surface ? yw_sheet_ride(model, def, error) : yw_sheet_surface(model, def, error);
  }
  if (status >= 0) status = yw_slender_examples_create(model, &def->examples, error);
  if (status < 0) {
    yw_slender_model_destroy(model);
  } else {
    *out = model;
  }
  return status;
}
