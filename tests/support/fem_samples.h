// SPDX-License-Identifier: MIT
// Boxes, levels and matrices for tests of finite elements.
#ifndef YW_TESTS_SUPPORT_FEM_SAMPLES_H
#define YW_TESTS_SUPPORT_FEM_SAMPLES_H

#include "methods/fem/front.h"
#include "methods/fem/hierarchy.h"
#include "methods/fem/voigt.h"
#include "support/testing.h"

static inline void must(yw_status status, const yw_error* error) {
  if (status != YW_OK) print_error("%s\n", error->message);
  assert_int_equal(status, YW_OK);
}

/// A box of unit cells; inner vertices (all of them with `outside`) are moved by up to jitter.
static inline yw_tet_mesh test_box(int32_t nx, int32_t ny, int32_t nz, yw_lattice_cut cut,
                                   double jitter, bool outside, uint64_t seed) {
  yw_tet_mesh mesh;
  const int32_t cells[3] = {nx, ny, nz};
  const yw_aabb box = {{0, 0, 0}, {(float)nx, (float)ny, (float)nz}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, cut, &mesh), YW_OK);
  test_random random = {seed};
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3* p = mesh.positions + i;
    bool inside = p->x > 0 && p->x < nx && p->y > 0 && p->y < ny && p->z > 0 && p->z < nz;
    for (int k = 0; k < 3; ++k) {
      double move = test_random_in(&random, -jitter, jitter);
      if (inside || outside) (&p->x)[k] += (float)move;
    }
  }
  return mesh;
}

static inline fem_hierarchy test_levels(const yw_tet_mesh* mesh, int32_t level) {
  fem_hierarchy h;
  yw_error error = {0};
  must(yw_fem_hierarchy_create(NULL, mesh, level, 0.0, &h, &error), &error);
  return h;
}

static inline int32_t test_num_finest(const fem_hierarchy* h) {
  return h->num_tets - h->level_start[h->max_level];
}

/// A random anisotropic matrix: an isotropic one plus a random part, positive definite.
static inline yw_sym6 test_anisotropic(test_random* random, double size) {
  yw_mat6 a;
  for (int k = 0; k < 36; ++k) a.m[k] = test_random_in(random, -0.4, 0.4);
  yw_sym6 c = yw_sym6_isotropic(1.0, 0.3), extra, one = {{0}};
  for (int i = 0; i < 6; ++i) one.m[yw_sym6_index(i, i)] = 1.0;
  extra = yw_sym6_congruent(&one, &a);
  yw_sym6_add(&c, 1.0, &extra);
  for (int k = 0; k < 21; ++k) c.m[k] *= size;
  return c;
}

/// Largest |a - b| over the largest |b|.
static inline double test_difference(const yw_sym6* a, const yw_sym6* b) {
  double largest = 0.0, size = 0.0;
  for (int k = 0; k < 21; ++k) {
    double d = fabs(a->m[k] - b->m[k]);
    if (!(d <= largest)) largest = d;
    if (fabs(b->m[k]) > size) size = fabs(b->m[k]);
  }
  return largest / size;
}

/// Splits a share of the tets, from the coarsest level down.
static inline void split_at_random(const fem_hierarchy* h, double share, test_random* random,
                                   fem_front* front) {
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (!yw_fem_in_front(front, t)) continue;
    if (test_random_in(random, 0, 1) < share) yw_fem_front_split(front, t);
  }
  yw_fem_front_update(front);
}

#endif
