// SPDX-License-Identifier: MIT
// Builds the regions of a volume: rings around the vertices of a tet mesh, or lattice cells.
#include "methods/frames/regions.h"

#include <math.h>
#include <stdio.h>

#include "geometry/order.h"
#include "geometry/tet_math.h"
#include "math/small/mat3d.h"
#include "methods/kit/moduli.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define CELL_CORNERS 8
// Cells must fill the mesh to within this share of its volume.
#define VOLUME_SLACK 1e-3
// A cell is a box when no corner is farther than this share of its size from the affine fit.
#define BOX_SLACK 1e-3
// Tets around a vertex make two rings where their moduli, in order, step by more than this factor.
#define RING_STEP 1.5

// Materials ---------------------------------------------------------------------------------------

static yw_moduli moduli_of(const yw_frames_def* def) {
  return (yw_moduli){def->density,
                     def->youngs_modulus,
                     def->poissons_ratio,
                     def->youngs_modulus_field,
                     def->poissons_ratio_field,
                     def->mesh->num_vertices};
}

static int32_t num_elements(const yw_frames_def* def) {
  return def->kind == YW_FRAMES_CELLS ? def->num_cells : def->mesh->num_tets;
}

static yw_status check_moduli(const yw_frames_def* def, yw_error* error) {
  yw_moduli vertices = moduli_of(def), elements = vertices;
  elements.youngs_field = def->element_youngs_modulus_field;
  elements.poisson_field = def->element_poissons_ratio_field;
  elements.count = num_elements(def);
  // Each value is checked only where it counts.
  yw_moduli* idle = elements.youngs_field ? &vertices : &elements;
  idle->youngs_field = NULL, idle->youngs = 1.0f;
  idle = elements.poisson_field ? &vertices : &elements;
  idle->poisson_field = NULL, idle->poisson = 0.0f;
  yw_status status = yw_moduli_check(&vertices, "", error);
  return status < 0 ? status : yw_moduli_check(&elements, "element_", error);
}

// Moduli of an element: its own, or the mean of its corners.
static void element_moduli(const yw_frames_def* def, int32_t element, const int32_t* corner,
                           int count, double* youngs, double* poisson) {
  yw_moduli moduli = moduli_of(def);
  const float *e = def->element_youngs_modulus_field, *nu = def->element_poissons_ratio_field;
  *youngs = e ? (double)e[element] : 0.0;
  *poisson = nu ? (double)nu[element] : 0.0;
  for (int i = 0; i < count; ++i) {
    if (!e) *youngs += yw_moduli_youngs(&moduli, corner[i]) / count;
    if (!nu) *poisson += yw_moduli_poisson(&moduli, corner[i]) / count;
  }
}

// Tets --------------------------------------------------------------------------------------------

// Volume and gradients of the four shape functions.
static double tet_gradients(const yw_tet_mesh* mesh, int32_t tet, yw_dvec3 gradient[4]) {
  yw_dvec3 p[4];
  yw_tet_corners(mesh, tet, p);
  double volume6 = yw_tet_volume6(p);
  for (int k = 0; k < 4; ++k) {
    const unsigned char* f = yw_tet_faces[k];
    // The face's normal points away from vertex k.
    yw_dvec3 normal = yw_dcross(yw_dsub(p[f[1]], p[f[0]]), yw_dsub(p[f[2]], p[f[0]]));
    gradient[k] = yw_dscale(normal, -1.0 / volume6);
  }
  return volume6 / 6.0;
}

// Every tet, or every cell, divides its mass evenly among its corners.
static void lump_masses(const yw_frames_def* def, frames_regions* regions) {
  if (regions->kind == YW_FRAMES_CELLS) {
    for (int32_t e = 0; e < regions->start[regions->num_regions]; ++e) {
      double volume = regions->volume[e / CELL_CORNERS];
      regions->mass[regions->member[e]] += (double)def->density * volume / CELL_CORNERS;
    }
    return;
  }
  for (int32_t t = 0; t < def->mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(def->mesh, t, p);
    double quarter = (double)def->density * yw_tet_volume6(p) / 24.0;
    for (int k = 0; k < 4; ++k)
      regions->mass[def->mesh->tets[4 * (size_t)t + (size_t)k]] += quarter;
  }
}

static bool allocate(frames_regions* regions, size_t entries) {
  const yw_allocator* mem = &regions->mem;
  size_t r = (size_t)regions->num_regions;
  regions->start = YW_NEW_ARRAY(mem, int32_t, r + 1);
  regions->member = YW_NEW_ARRAY(mem, int32_t, entries);
  regions->entries = YW_NEW_ARRAY(mem, frames_entry, entries);
  regions->volume = YW_NEW_ARRAY(mem, double, r);
  regions->mu = YW_NEW_ARRAY(mem, double, r);
  regions->lambda = YW_NEW_ARRAY(mem, double, r);
  regions->n = yw_mem_alloc(mem, r, sizeof *regions->n);
  regions->mass = YW_NEW_ARRAY(mem, double, regions->num_particles);
  return regions->start && regions->member && regions->entries && regions->volume && regions->mu &&
         regions->lambda && regions->n && regions->mass;
}

// Rings -------------------------------------------------------------------------------------------

// The tets around each vertex, by rising modulus of elements; and the ring that each belongs to.
typedef struct ring_lists {
  int32_t* start;   // num_vertices + 1
  int32_t* corner;  // 4 tet + k: corner k of a tet is the vertex
  int32_t* ring;    // per corner: region
} ring_lists;

static double tet_youngs(const yw_frames_def* def, int32_t tet) {
  const float* field = def->element_youngs_modulus_field;
  return field ? (double)field[tet] : 1.0;
}

static bool list_corners(const yw_allocator* mem, const yw_frames_def* def, ring_lists* out) {
  const yw_tet_mesh* mesh = def->mesh;
  int32_t corners = 4 * mesh->num_tets;
  out->start = YW_NEW_ARRAY(mem, int32_t, (size_t)mesh->num_vertices + 1);
  out->corner = YW_NEW_ARRAY(mem, int32_t, corners);
  out->ring = YW_NEW_ARRAY(mem, int32_t, corners);
  if (!out->start || !out->corner || !out->ring) return false;
  for (int32_t c = 0; c < corners; ++c) ++out->start[mesh->tets[c] + 1];
  for (int32_t v = 0; v < mesh->num_vertices; ++v) out->start[v + 1] += out->start[v];
  for (int32_t c = 0; c < corners; ++c) out->corner[out->start[mesh->tets[c]]++] = c;
  for (int32_t v = mesh->num_vertices; v > 0; --v) out->start[v] = out->start[v - 1];
  out->start[0] = 0;
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    for (int32_t i = out->start[v] + 1; i < out->start[v + 1]; ++i) {
      int32_t c = out->corner[i], j = i;
      for (; j > out->start[v] && tet_youngs(def, out->corner[j - 1] / 4) > tet_youngs(def, c / 4);
           --j) {
        out->corner[j] = out->corner[j - 1];
      }
      out->corner[j] = c;
    }
  }
  return true;
}

// One ring per vertex and material. Returns how many.
static int32_t number_rings(const yw_frames_def* def, ring_lists* lists) {
  int32_t count = 0;
  for (int32_t v = 0; v < def->mesh->num_vertices; ++v) {
    double last = INFINITY;
    for (int32_t i = lists->start[v]; i < lists->start[v + 1]; ++i) {
      double youngs = tet_youngs(def, lists->corner[i] / 4);
      if (i > lists->start[v] && youngs > RING_STEP * last) ++count;
      lists->ring[lists->corner[i]] = count;
      last = youngs;
    }
    // A vertex without tets has a ring as well, of itself.
    ++count;
  }
  return count;
}

// The members of a ring after its origin, ascending, to `out`. Returns how many.
static int32_t ring_members(const yw_frames_def* def, const ring_lists* lists, int32_t v,
                            int32_t ring, int32_t* out) {
  int32_t count = 0;
  for (int32_t i = lists->start[v]; i < lists->start[v + 1]; ++i) {
    int32_t c = lists->corner[i];
    if (lists->ring[c] != ring) continue;
    for (int k = 0; k < 4; ++k) {
      int32_t p = def->mesh->tets[c / 4 * 4 + k], at = count;
      if (p == v) continue;
      while (at > 0 && out[at - 1] > p) --at;
      if (at > 0 && out[at - 1] == p) continue;
      for (int32_t j = count++; j > at; --j) out[j] = out[j - 1];
      out[at] = p;
    }
  }
  return count;
}

// Rings and their members; entries are still 0.
static bool shape_rings(const yw_frames_def* def, const ring_lists* lists,
                        frames_regions* regions) {
  // Three other corners per tet at most.
  size_t most = 12 * (size_t)def->mesh->num_tets + (size_t)regions->num_regions;
  if (!allocate(regions, most)) return false;
  for (int32_t v = 0, r = 0, n = 0; v < def->mesh->num_vertices; ++v) {
    int32_t begin = lists->start[v], end = lists->start[v + 1];
    int32_t last = begin < end ? lists->ring[lists->corner[end - 1]] : r;
    for (; r <= last; ++r) {
      regions->start[r] = n;
      regions->member[n++] = v;
      n += ring_members(def, lists, v, r, regions->member + n);
      regions->start[r + 1] = n;
    }
  }
  return true;
}

// Entry of particle p in region r. Members after the origin are in ascending order.
static frames_entry* find_entry(const frames_regions* regions, int32_t r, int32_t p) {
  int32_t low = regions->start[r] + 1, high = regions->start[r + 1];
  if (p == regions->member[low - 1]) return &regions->entries[low - 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (regions->member[middle] < p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return &regions->entries[low];
}

// V_r = sum V_t / 4, V_r g = sum V_t / 4 grad, and the springs along the edges.
static void add_tet(const yw_frames_def* def, double gamma, int32_t tet, const int32_t ring[4],
                    double mu, frames_regions* regions) {
  const int32_t* v = def->mesh->tets + 4 * (size_t)tet;
  yw_dvec3 gradient[4];
  double volume = tet_gradients(def->mesh, tet, gradient);
  for (int a = 0; a < 4; ++a) {
    regions->volume[ring[a]] += 0.25 * volume;
    for (int b = 0; b < 4; ++b) {
      frames_entry* entry = find_entry(regions, ring[a], v[b]);
      entry->g[0] += 0.25 * volume * gradient[b].x;
      entry->g[1] += 0.25 * volume * gradient[b].y;
      entry->g[2] += 0.25 * volume * gradient[b].z;
      if (a != b) entry->k -= 2.0 * gamma * mu * volume * yw_ddot(gradient[a], gradient[b]);
    }
  }
}

// Moduli of the rings: those at their vertices, or the means of their tets.
static void fill_ring_moduli(const yw_frames_def* def, const ring_lists* lists,
                             frames_regions* regions) {
  yw_moduli moduli = moduli_of(def);
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    int32_t v = regions->member[regions->start[r]];
    double youngs = yw_moduli_youngs(&moduli, v), poisson = yw_moduli_poisson(&moduli, v);
    regions->mu[r] = yw_lame_mu(youngs, poisson);
    regions->lambda[r] = yw_lame_lambda(youngs, poisson);
    if (!def->element_youngs_modulus_field && !def->element_poissons_ratio_field) continue;
    double mu = 0.0, lambda = 0.0, volume = 0.0;
    for (int32_t i = lists->start[v]; i < lists->start[v + 1]; ++i) {
      int32_t t = lists->corner[i] / 4;
      if (lists->ring[lists->corner[i]] != r) continue;
      yw_dvec3 p[4];
      yw_tet_corners(def->mesh, t, p);
      double part = yw_tet_volume6(p);
      element_moduli(def, t, def->mesh->tets + 4 * (size_t)t, 4, &youngs, &poisson);
      mu += part * yw_lame_mu(youngs, poisson);
      lambda += part * yw_lame_lambda(youngs, poisson);
      volume += part;
    }
    if (!(volume > 0.0)) continue;
    regions->mu[r] = mu / volume;
    regions->lambda[r] = lambda / volume;
  }
}

static void fill_rings(const yw_frames_def* def, double gamma, const ring_lists* lists,
                       frames_regions* regions) {
  bool own = def->element_youngs_modulus_field || def->element_poissons_ratio_field;
  fill_ring_moduli(def, lists, regions);
  for (int32_t t = 0; t < def->mesh->num_tets; ++t) {
    const int32_t* ring = lists->ring + 4 * (size_t)t;
    double mu = 0.0, youngs, poisson;
    for (int k = 0; k < 4; ++k) mu += 0.25 * regions->mu[ring[k]];
    if (own) {
      element_moduli(def, t, def->mesh->tets + 4 * (size_t)t, 4, &youngs, &poisson);
      mu = yw_lame_mu(youngs, poisson);
    }
    add_tet(def, gamma, t, ring, mu, regions);
  }
  for (int32_t r = 0; r < regions->num_regions; ++r) {
    for (int32_t e = regions->start[r]; e < regions->start[r + 1]; ++e) {
      for (int i = 0; i < 3; ++i) regions->entries[e].g[i] /= regions->volume[r];
    }
    for (int i = 0; i < 3; ++i)
      regions->n[r][i] = 2.0 * gamma * regions->mu[r] * regions->volume[r];
  }
}

static yw_status build_rings(const yw_frames_def* def, double gamma, frames_regions* regions,
                             yw_error* error) {
  const yw_allocator* mem = &regions->mem;
  ring_lists lists = {0};
  bool made = list_corners(mem, def, &lists);
  if (made) {
    regions->num_regions = number_rings(def, &lists);
    regions->share = 0.25;
    made = shape_rings(def, &lists, regions);
  }
  if (made) fill_rings(def, gamma, &lists, regions);
  yw_mem_free(mem, lists.start);
  yw_mem_free(mem, lists.corner);
  yw_mem_free(mem, lists.ring);
  return made ? YW_OK : yw_fail_memory(error, "the rings of a frames model");
}

// Cells -------------------------------------------------------------------------------------------

// A box has the corners c +- a +- b +- d; the moment of the corners gives its volume.
static bool is_box(const yw_dvec3 q[CELL_CORNERS], double size2) {
  for (int i = 0; i < CELL_CORNERS; ++i) {
    double nearest = INFINITY;
    for (int j = 0; j < CELL_CORNERS; ++j) {
      yw_dvec3 sum = yw_dadd(q[i], q[j]);
      nearest = fmin(nearest, yw_ddot(sum, sum));
    }
    if (!(nearest <= BOX_SLACK * BOX_SLACK * size2)) return false;
  }
  return true;
}

static yw_status build_cell(const yw_frames_def* def, double gamma, int32_t r,
                            frames_regions* regions, yw_error* error) {
  const int32_t* corner = def->cells + CELL_CORNERS * (size_t)r;
  yw_dvec3 q[CELL_CORNERS], center = {0, 0, 0};
  double youngs, poisson, m[6] = {0}, inverse[6];
  for (int i = 0; i < CELL_CORNERS; ++i) {
    if (corner[i] < 0 || corner[i] >= def->mesh->num_vertices) {
      return yw_fail(error, YW_ERR_INVALID, "cells[%d] names vertex %d, but there are %d", r,
                     corner[i], def->mesh->num_vertices);
    }
    q[i] = yw_d3(def->mesh->positions[corner[i]]);
    center = yw_dmad(center, 1.0 / CELL_CORNERS, q[i]);
  }
  element_moduli(def, r, corner, CELL_CORNERS, &youngs, &poisson);
  for (int i = 0; i < CELL_CORNERS; ++i) {
    q[i] = yw_dsub(q[i], center);
    m[0] += q[i].x * q[i].x, m[1] += q[i].y * q[i].y, m[2] += q[i].z * q[i].z;
    m[3] += q[i].x * q[i].y, m[4] += q[i].x * q[i].z, m[5] += q[i].y * q[i].z;
  }
  double trace = m[0] + m[1] + m[2], det = yw_sym_invert(m, inverse);
  if (!(det > 1e-12 * trace * trace * trace) || !is_box(q, trace)) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "cells[%d] is not a box: a cell needs 8 vertices at the corners of one", r);
  }
  double mu = yw_lame_mu(youngs, poisson), volume = sqrt(det / 8.0);
  double k = 2.0 * gamma * 3.0 * mu * volume / trace;
  regions->mu[r] = mu;
  regions->lambda[r] = yw_lame_lambda(youngs, poisson);
  regions->volume[r] = volume;
  for (int i = 0; i < 6; ++i) regions->n[r][i] = k * m[i];
  for (int i = 0; i < CELL_CORNERS; ++i) {
    size_t e = CELL_CORNERS * (size_t)r + (size_t)i;
    const double* v = inverse;
    regions->member[e] = corner[i];
    regions->entries[e] = (frames_entry){{v[0] * q[i].x + v[3] * q[i].y + v[4] * q[i].z,
                                          v[3] * q[i].x + v[1] * q[i].y + v[5] * q[i].z,
                                          v[4] * q[i].x + v[5] * q[i].y + v[2] * q[i].z},
                                         k};
  }
  return YW_OK;
}

static yw_status build_cells(const yw_frames_def* def, double gamma, frames_regions* regions,
                             yw_error* error) {
  if (!def->cells || def->num_cells < 1) {
    return yw_fail(error, YW_ERR_INVALID, "a frames model of cells needs cells");
  }
  regions->num_regions = def->num_cells;
  regions->share = 0.5;
  if (!allocate(regions, CELL_CORNERS * (size_t)def->num_cells)) {
    return yw_fail_memory(error, "the regions of a frames model");
  }
  double filled = 0.0, whole = 0.0;
  for (int32_t r = 0; r < def->num_cells; ++r) {
    yw_status status = build_cell(def, gamma, r, regions, error);
    if (status < 0) return status;
    regions->start[r + 1] = CELL_CORNERS * (r + 1);
    filled += regions->volume[r];
  }
  for (int32_t t = 0; t < def->mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(def->mesh, t, p);
    whole += yw_tet_volume6(p) / 6.0;
  }
  if (!(fabs(filled - whole) <= VOLUME_SLACK * whole)) {
    return yw_fail(
        error, YW_ERR_GEOMETRY,
        "the cells have a volume of %g m^3, but the mesh has %g: every piece of material "
        "must be in exactly one cell",
        filled, whole);
  }
  return YW_OK;
}

// All ---------------------------------------------------------------------------------------------

yw_status yw_frames_regions_create(const yw_allocator* mem, const yw_frames_def* def, double gamma,
                                   frames_regions* out, yw_error* error) {
  *out = (frames_regions){.mem = yw_mem_or_default(mem)};
  if (!def || !def->mesh) return yw_fail(error, YW_ERR_INVALID, "a frames model needs a mesh");
  yw_status status = yw_tet_mesh_check(def->mesh, error);
  if (status >= 0) status = check_moduli(def, error);
  if (status < 0) return status;
  out->kind = def->kind;
  out->num_particles = def->mesh->num_vertices;
  switch (def->kind) {
    case YW_FRAMES_RINGS:
      status = build_rings(def, gamma > 0.0 ? gamma : FRAMES_GAMMA_RINGS, out, error);
      break;
    case YW_FRAMES_CELLS:
      status = build_cells(def, gamma > 0.0 ? gamma : FRAMES_GAMMA_CELLS, out, error);
      break;
    default:
      return yw_fail(error, YW_ERR_INVALID, "kind is %d, which names none", (int)def->kind);
  }
  if (status >= 0) {
    lump_masses(def, out);
  } else {
    yw_frames_regions_free(out);
  }
  return status;
}

void yw_frames_regions_free(frames_regions* regions) {
  void* const arrays[] = {regions->start, regions->member, regions->entries, regions->volume,
                          regions->mu,    regions->lambda, regions->n,       regions->mass};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
    yw_mem_free(&regions->mem, arrays[i]);
  }
  *regions = (frames_regions){0};
}

yw_frames_def yw_default_frames_def(void) {
  return (yw_frames_def){.density = 1000.0f,
                         .youngs_modulus = 1e5f,
                         .poissons_ratio = 0.3f,
                         .params = {.beta = 0.95f,
                                    .tolerance = 1e-3f,
                                    .substeps = 10,
                                    .sweeps = 1,
                                    .stiffness = 0.5f,
                                    .stiffness_scale = 1.0f}};
}
