// SPDX-License-Identifier: MIT
// Tets that share faces and nodes, and the strength of faces.
//
// A crack releases energy over a zone of about E G / s^2 in front of it (E Young's modulus, G
// toughness, s strength). Tets larger than a part of that zone cannot show the stress at its tip,
// and the body would seem tougher than it is. There the strength is lowered to what a zone of
// a few tets carries, as Turon et al. do (Engineering Fracture Mechanics 74, 2007): the energy
// of the crack stays that of the material, whatever the size of the tets.
#include "methods/fem/fragile.h"

#include <math.h>

#include "geometry/mesh_faces.h"
#include "math/small/trig.h"
#include "methods/fem/element.h"
#include "yawara/extend/memory.h"

// Chosen on notched strips of 16 to 40 tets in height (test_fem_cracks): with larger zones cracks
// start too early, and where tets are few the whole body is in the zone; with smaller ones they
// start too late, and nodes beside the crack open too. Where there is no crack yet nothing tells
// which node is the tip of one, so that a higher strength has to; sharp notches are known (chosen
// on notched beams of 20 to 30 cells, same test): the mean stress at the node of a tip is about
// 0.47 of K / sqrt(size), with K the stress intensity.
#define START_TETS 2.5
#define ZONE_TETS 6.0
#define TIP_TETS 4.5

// Topology ----------------------------------------------------------------------------------------

// Meshes swap the last two slots of tets that are negative in slot order.
static int slot_of(const fem_hierarchy* h, int32_t tet, int vertex) {
  bool positive = yw_fem_is_positive(h, h->level_start[h->max_level] + tet);
  return vertex < 2 || positive ? vertex : 5 - vertex;
}

static bool find_partners(const fem_hierarchy* h, fem_fragile* f) {
  yw_tet_mesh mesh = {0};
  int32_t* partner = YW_NEW_ARRAY(&f->mem, int32_t, 4 * (size_t)f->num_tets);
  bool good = partner && yw_fem_finest_mesh(&f->mem, h, &mesh, NULL) >= 0 &&
              yw_tet_face_partners(&f->mem, &mesh, partner) >= 0;
  for (int32_t i = 0; i < 4 * f->num_tets && good; ++i) {
    int32_t other = partner[i], own = (i & ~3) + slot_of(h, i / 4, i & 3);
    f->partner[own] = other < 0 ? -1 : (other & ~3) + slot_of(h, other / 4, other & 3);
    if (other > i) ++f->num_faces;
  }
  yw_mem_free(&f->mem, partner);
  yw_tet_mesh_free(&mesh);
  return good;
}

// Returns the number of nodes that belong to a tet.
static int32_t find_fans(const fem_hierarchy* h, fem_fragile* f) {
  const int32_t(*nodes)[4] = (const int32_t(*)[4])h->nodes + h->level_start[h->max_level];
  int32_t used = 0;
  for (int32_t i = 0; i < 4 * f->num_tets; ++i) ++f->fan_start[nodes[i / 4][i % 4] + 1];
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    int32_t length = f->fan_start[n + 1];
    used += length > 0;
    if (length > f->longest_fan) f->longest_fan = length;
    f->fan_start[n + 1] += f->fan_start[n];
  }
  for (int32_t i = 0; i < 4 * f->num_tets; ++i) f->fan[f->fan_start[nodes[i / 4][i % 4]]++] = i;
  // Filling moved every start to its end.
  for (int32_t n = h->num_nodes; n > 0; --n) f->fan_start[n] = f->fan_start[n - 1];
  f->fan_start[0] = 0;
  return used;
}

// Faces -------------------------------------------------------------------------------------------

// Young's modulus of the isotropic material nearest to C.
static double youngs_of(const float c[FEM_MATRIX]) {
  double mu = ((double)c[yw_fem_matrix_at(3, 3)] + (double)c[yw_fem_matrix_at(4, 4)] +
               (double)c[yw_fem_matrix_at(5, 5)]) /
              3.0;
  double lambda = fmax(yw_fem_push_stiffness(c) - 2.0 * mu, 0.0);
  return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

static double youngs_at(const fem_hierarchy* h, const fem_materials* m, int32_t tet) {
  size_t at = (size_t)h->level_start[h->max_level] + (size_t)tet;
  return youngs_of(m->stiffness ? m->stiffness + at * FEM_MATRIX : m->uniform_stiffness);
}

fem_face yw_fem_face_of(const fem_hierarchy* h, const fem_materials* materials,
                        const fem_fragile* f, int32_t half) {
  int32_t first = h->level_start[h->max_level], other = f->partner[half];
  int32_t tet = half / 4, beside = other / 4;
  const int32_t *nodes = h->nodes[first + tet], *theirs = h->nodes[first + beside];
  bool positive = yw_fem_is_positive(h, first + tet);
  fem_face face = {.area = 0.0};
  for (int i = 0; i < 3; ++i) {
    int slot = yw_tet_faces[half & 3][positive || i == 0 ? i : 3 - i];
    face.slot[i] = (uint8_t)slot;
    face.node[i] = nodes[slot];
    for (int s = 0; s < 4; ++s) {
      if (theirs[s] == nodes[slot]) face.partner[i] = (uint8_t)s;
    }
  }
  yw_dvec3 a = h->rest[face.node[0]];
  yw_dvec3 n = yw_dcross(yw_dsub(h->rest[face.node[1]], a), yw_dsub(h->rest[face.node[2]], a));
  double twice = sqrt(yw_ddot(n, n));
  face.area = 0.5 * twice;
  face.normal = yw_dscale(n, 1.0 / twice);
  // Twice the volume over the area: about an edge of tets that are not flat.
  double volume = yw_fem_volume(h, first + tet) + yw_fem_volume(h, first + beside);
  double size = 2.0 * volume / face.area;
  double youngs = fmin(youngs_at(h, materials, tet), youngs_at(h, materials, beside));
  face.size = size;
  face.stiffness = youngs / size;
  // Zones lie in the plane of the crack, so they are measured in lengths of faces there, whatever
  // the thickness of the tets on either side: 4/3 as on lattices, where both are the same.
  double length = 4.0 / 3.0 * sqrt(2.0 * face.area);
  double square = youngs * (double)f->toughness / length;
  static const double tets[FEM_FRONTS] = {START_TETS, ZONE_TETS, TIP_TETS};
  for (int k = 0; k < FEM_FRONTS; ++k) {
    face.strength[k] = (double)f->strength;
    if (f->toughness > 0.0f) face.strength[k] = fmin(face.strength[k], sqrt(square / tets[k]));
  }
  return face;
}

// An edge of the surface that tets surround almost completely is the tip of a sharp notch. They
// fill half a turn at an edge within a flat face, three quarters at an inner edge of a box.
#define TIP_SHARE 0.85
#define TURN (2.0 * 3.14159265358979323846)

// Angle between the two faces of a tet that meet at the edge from node a to b.
static double angle_at_edge(const fem_hierarchy* h, const int32_t* nodes, int a, int b) {
  yw_dvec3 along = yw_dsub(h->rest[nodes[b]], h->rest[nodes[a]]), across[2];
  double length2 = yw_ddot(along, along);
  for (int k = 0, i = 0; k < 4; ++k) {
    if (k == a || k == b) continue;
    yw_dvec3 to = yw_dsub(h->rest[nodes[k]], h->rest[nodes[a]]);
    across[i++] = yw_dsub(to, yw_dscale(along, yw_ddot(to, along) / length2));
  }
  yw_dvec3 turned = yw_dcross(across[0], across[1]);
  double top = sqrt(yw_ddot(turned, turned)), bottom = yw_ddot(across[0], across[1]);
  return (double)yw_atan2f((float)top, (float)bottom);
}

// Adds up the angles around the edges from node n to nodes with higher numbers, and marks the nodes
// of tips. angle and outside are 0 before and after.
static void find_tips_at(const fem_hierarchy* h, fem_fragile* f, int32_t n, double* angle,
                         bool* outside) {
  const int32_t(*nodes)[4] = (const int32_t(*)[4])h->nodes + h->level_start[h->max_level];
  for (int round = 0; round < 2; ++round) {
    for (int32_t i = f->fan_start[n]; i < f->fan_start[n + 1]; ++i) {
      int32_t tet = f->fan[i] / 4, slot = f->fan[i] & 3;
      for (int k = 0; k < 4; ++k) {
        int32_t other = nodes[tet][k];
        if (other <= n) continue;
        if (round == 0) {
          angle[other] += angle_at_edge(h, nodes[tet], slot, k);
          for (int face = 0; face < 4; ++face) {
            if (face != slot && face != k && f->partner[4 * tet + face] < 0) outside[other] = true;
          }
          continue;
        }
        if (outside[other] && angle[other] > TIP_SHARE * TURN) {
          f->is_tip[n] = f->is_tip[other] = true;
        }
        angle[other] = 0.0;
        outside[other] = false;
      }
    }
  }
}

static bool find_tips(const fem_hierarchy* h, fem_fragile* f) {
  double* angle = YW_NEW_ARRAY(&f->mem, double, h->num_nodes);
  bool* outside = YW_NEW_ARRAY(&f->mem, bool, h->num_nodes);
  bool good = angle && outside;
  for (int32_t n = 0; good && n < h->num_nodes; ++n) find_tips_at(h, f, n, angle, outside);
  yw_mem_free(&f->mem, angle);
  yw_mem_free(&f->mem, outside);
  return good;
}

// What decides at a glance that no face around a node can open.
static void find_weakest(const fem_hierarchy* h, const fem_materials* materials, fem_fragile* f) {
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    for (int j = 0; j < FEM_FRONTS; ++j) f->weakest[n][j] = INFINITY;
    f->stiffest[n] = -1;
  }
  for (int32_t i = 0; i < 4 * f->num_tets; ++i) {
    int32_t tet = i / 4, n = h->nodes[h->level_start[h->max_level] + tet][i % 4];
    int32_t* stiffest = &f->stiffest[n];
    if (*stiffest < 0 || youngs_at(h, materials, tet) > youngs_at(h, materials, *stiffest)) {
      *stiffest = tet;
    }
    if (f->partner[i] < i) continue;
    fem_face face = yw_fem_face_of(h, materials, f, i);
    for (int k = 0; k < 3; ++k) {
      float* weakest = f->weakest[face.node[k]];
      for (int j = 0; j < FEM_FRONTS; ++j) {
        weakest[j] = fminf(weakest[j], (float)face.strength[j]);
      }
    }
  }
}

bool yw_fem_fragile_create(const yw_allocator* mem, fem_hierarchy* h,
                           const fem_materials* materials, float strength, float toughness,
                           fem_fragile* out) {
  fem_fragile* f = out;
  *f = (fem_fragile){.mem = yw_mem_or_default(mem),
                     .strength = strength > 0.0f ? strength : INFINITY,
                     .toughness = toughness,
                     .num_tets = h->num_tets - h->level_start[h->max_level]};
  size_t corners = 4 * (size_t)f->num_tets;
  f->partner = YW_NEW_ARRAY(mem, int32_t, corners);
  f->fan_start = YW_NEW_ARRAY(mem, int32_t, (size_t)h->num_nodes + 1);
  f->fan = YW_NEW_ARRAY(mem, int32_t, corners);
  f->corner_mass = YW_NEW_ARRAY(mem, double, f->num_tets);
  f->weakest = yw_mem_alloc(mem, (size_t)h->num_nodes, sizeof *f->weakest);
  f->stiffest = YW_NEW_ARRAY(mem, int32_t, h->num_nodes);
  f->is_tip = YW_NEW_ARRAY(mem, bool, h->num_nodes);
  if (!f->partner || !f->fan_start || !f->fan || !f->corner_mass || !f->weakest || !f->stiffest ||
      !f->is_tip || !find_partners(h, f)) {
    yw_fem_fragile_free(f);
    return false;
  }
  // At most every corner of every tet becomes a node of its own.
  h->max_nodes = h->num_nodes + 4 * f->num_tets - find_fans(h, f);
  if (!find_tips(h, f)) {
    yw_fem_fragile_free(f);
    return false;
  }
  find_weakest(h, materials, f);
  return true;
}

void yw_fem_fragile_free(fem_fragile* f) {
  void* const arrays[] = {f->partner, f->fan_start, f->fan,   f->corner_mass,
                          f->weakest, f->stiffest,  f->is_tip};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&f->mem, arrays[i]);
  *f = (fem_fragile){0};
}
