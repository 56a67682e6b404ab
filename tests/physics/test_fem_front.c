// SPDX-License-Identifier: MIT
// The element and the front in double precision: forces are gradients, patch test on random fronts,
// momenta through thousands of switches.
#define FEM_DOUBLE 1
#include "methods/fem/element.h"
#include "support/fem_samples.h"
#include "yawara/extend/memory.h"
// The laws of the front are exact: compiled in double, only rounding errors remain.
#include "methods/fem/transfer.c"

typedef struct rig {
  yw_tet_mesh mesh;
  fem_hierarchy h;
  fem_front front;
  float c[FEM_MATRIX];
  double *fine_mass, *mass, *work;
  fem_vec4 *pos, *vel, *force;
  test_random random;
} rig;

static void make_rig(rig* r, int32_t nx, int32_t ny, int32_t nz, int32_t level, uint64_t seed) {
  *r = (rig){.random = {seed}};
  const int32_t cells[3] = {nx, ny, nz};
  yw_aabb box = {{0, 0, 0}, {0.1f * (float)nx, 0.1f * (float)ny, 0.1f * (float)nz}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &r->mesh), YW_OK);
  for (int32_t i = 0; i < r->mesh.num_vertices; ++i) {
    r->mesh.positions[i].x += (float)test_random_in(&r->random, -0.01, 0.01);
    r->mesh.positions[i].y += (float)test_random_in(&r->random, -0.01, 0.01);
  }
  assert_int_equal(yw_fem_hierarchy_create(NULL, &r->mesh, level, 0.0, &r->h, NULL), YW_OK);
  assert_true(yw_fem_front_create(NULL, &r->h, &r->front));
  size_t n = (size_t)r->h.num_nodes;
  r->fine_mass = calloc(n, sizeof(double));
  r->mass = calloc(n, sizeof(double));
  r->work = calloc(4 * n, sizeof(double));
  r->pos = calloc(n, sizeof(fem_vec4));
  r->vel = calloc(n, sizeof(fem_vec4));
  r->force = calloc(n, sizeof(fem_vec4));
  yw_fem_isotropic(3e5, 0.3, r->c);
  for (int32_t t = r->h.level_start[level]; t < r->h.num_tets; ++t) {
    double density = test_random_in(&r->random, 500, 1500);
    for (int s = 0; s < 4; ++s) {
      r->fine_mass[r->h.nodes[t][s]] += 0.25 * density * yw_fem_volume(&r->h, t);
    }
  }
}

static void free_rig(rig* r) {
  free(r->fine_mass), free(r->mass), free(r->work), free(r->pos), free(r->vel), free(r->force);
  yw_fem_front_free(&r->front);
  yw_fem_hierarchy_free(&r->h);
  yw_tet_mesh_free(&r->mesh);
}

static yw_dvec3 d3(fem_vec4 v) { return (yw_dvec3){v.x, v.y, v.z}; }

// Forces of all tets of the front; returns the energy.
static double front_forces(rig* r) {
  memset(r->force, 0, sizeof *r->force * (size_t)r->h.num_nodes);
  double energy = 0.0;
  for (int32_t t = 0; t < r->h.num_tets; ++t) {
    if (!yw_fem_in_front(&r->front, t)) continue;
    fem_mat6 n;
    double m[FEM_MATRIX], q[6], level = (double)(1 << r->h.level[t]);
    yw_fem_strain_matrix(&r->h.shapes[r->h.root[t]][r->h.type[t]], &n);
    yw_fem_edge_matrix(&n, r->c, yw_fem_volume(&r->h, t) * pow(level, 4), m);
    yw_dvec3 x[4], rest[4], f[4] = {{0}};
    for (int s = 0; s < 4; ++s) {
      x[s] = d3(r->pos[r->h.nodes[t][s]]);
      rest[s] = r->h.rest[r->h.nodes[t][s]];
    }
    yw_fem_edge_strains(x, rest, q);
    energy += yw_fem_element(m, q, x, f);
    for (int s = 0; s < 4; ++s) {
      fem_vec4* to = &r->force[r->h.nodes[t][s]];
      to->x += f[s].x, to->y += f[s].y, to->z += f[s].z;
    }
  }
  return energy;
}

static void random_front(rig* r, double share) {
  yw_fem_front_reset(&r->front);
  split_at_random(&r->h, share, &r->random, &r->front);
}

// A tet whose children are not split may merge, whichever child it is.
static void only_the_last_split_may_merge(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 1, 1, 1, 3, 3);
  for (int32_t c = 0; c < yw_fem_children_of(&r.h, 0); ++c) {
    yw_fem_front_reset(&r.front);
    yw_fem_front_split(&r.front, 0);
    assert_true(yw_fem_can_merge(&r.front, 0));
    yw_fem_front_split(&r.front, r.h.first_child[0] + c);
    assert_false(yw_fem_can_merge(&r.front, 0));
    yw_fem_front_merge(&r.front, r.h.first_child[0] + c);
    assert_true(yw_fem_can_merge(&r.front, 0));
  }
  free_rig(&r);
}

// P = F S with S = C E, and f_a = -V P g_a: the edge form gives the same.
static void edge_form_equals_the_textbook(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 1, 1, 1, 2, 3);
  double worst = 0.0, largest = 0.0;
  for (int32_t t = 0; t < r.h.num_tets; ++t) {
    fem_mat6 n;
    double m[FEM_MATRIX], q[6], s = yw_fem_gradient_scale(&r.h, t);
    const fem_shape* shape = &r.h.shapes[r.h.root[t]][r.h.type[t]];
    double volume = yw_fem_volume(&r.h, t), F[3][3] = {{0}}, E[6], S[6], P[3][3];
    yw_fem_strain_matrix(shape, &n);
    yw_fem_edge_matrix(&n, r.c, volume * s * s * s * s, m);
    yw_dvec3 x[4], rest[4], f[4] = {{0}};
    for (int a = 0; a < 4; ++a) {
      rest[a] = r.h.rest[r.h.nodes[t][a]];
      x[a] = (yw_dvec3){rest[a].x + test_random_in(&r.random, -0.01, 0.01),
                        rest[a].y + test_random_in(&r.random, -0.01, 0.01),
                        rest[a].z + test_random_in(&r.random, -0.01, 0.01)};
      const double xa[3] = {x[a].x, x[a].y, x[a].z};
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) F[i][j] += xa[i] * s * shape->gradient[a][j];
      }
    }
    yw_fem_edge_strains(x, rest, q);
    yw_fem_element(m, q, x, f);
    double C[3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        C[i][j] = F[0][i] * F[0][j] + F[1][i] * F[1][j] + F[2][i] * F[2][j] - (i == j);
      }
    }
    const double direct[6] = {C[0][0] / 2, C[1][1] / 2, C[2][2] / 2, C[1][2], C[0][2], C[0][1]};
    yw_fem_strain(&n, s * s, q, E);
    for (int i = 0; i < 6; ++i) {
      assert_near(E[i], direct[i], 1e-12);
      S[i] = 0.0;
      for (int j = 0; j < 6; ++j) S[i] += (double)r.c[yw_fem_matrix_at(i, j)] * E[j];
    }
    const double full[3][3] = {{S[0], S[5], S[4]}, {S[5], S[1], S[3]}, {S[4], S[3], S[2]}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        P[i][j] = F[i][0] * full[0][j] + F[i][1] * full[1][j] + F[i][2] * full[2][j];
      }
    }
    for (int a = 0; a < 4; ++a) {
      const double* g = shape->gradient[a];
      const double got[3] = {f[a].x, f[a].y, f[a].z};
      for (int i = 0; i < 3; ++i) {
        double expected = -volume * s * (P[i][0] * g[0] + P[i][1] * g[1] + P[i][2] * g[2]);
        worst = fmax(worst, fabs(got[i] - expected));
        largest = fmax(largest, fabs(expected));
      }
    }
  }
  assert_at_most(worst / largest, 1e-12);
  free_rig(&r);
}

// Forces of the element and of the term against inversion are negative energy gradients.
static void forces_are_gradients(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 1, 1, 1, 1, 5);
  const double h = 1e-6;
  for (int32_t t = 0; t < r.h.num_tets; t += 3) {
    fem_mat6 n;
    double m[FEM_MATRIX], q[6], level = (double)(1 << r.h.level[t]);
    yw_fem_strain_matrix(&r.h.shapes[r.h.root[t]][r.h.type[t]], &n);
    yw_fem_edge_matrix(&n, r.c, yw_fem_volume(&r.h, t) * pow(level, 4), m);
    double volume6 = 6.0 * yw_fem_volume(&r.h, t) * (yw_fem_is_positive(&r.h, t) ? 1 : -1);
    yw_dvec3 x[4], rest[4];
    // Compressed to a third, so that the term against inversion is active.
    for (int a = 0; a < 4; ++a) {
      rest[a] = r.h.rest[r.h.nodes[t][a]];
      x[a] = (yw_dvec3){rest[a].x + test_random_in(&r.random, -0.005, 0.005),
                        0.33 * rest[a].y + test_random_in(&r.random, -0.005, 0.005), rest[a].z};
    }
    yw_dvec3 force[4] = {{0}}, pushed[4] = {{0}}, unused[4] = {{0}};
    yw_fem_edge_strains(x, rest, q);
    yw_fem_element(m, q, x, force);
    assert_true(yw_fem_push(4e5, volume6, x, pushed) > 0.0);
    for (int k = 0; k < 12; ++k) {
      double *coordinate = &x[k / 3].x + k % 3, kept = *coordinate, w[2], p[2];
      for (int side = 0; side < 2; ++side) {
        *coordinate = kept + (side ? h : -h);
        yw_fem_edge_strains(x, rest, q);
        w[side] = yw_fem_element(m, q, x, unused);
        p[side] = yw_fem_push(4e5, volume6, x, unused);
      }
      *coordinate = kept;
      double scale = 4e5 * pow(yw_fem_volume(&r.h, t), 2.0 / 3.0);
      assert_near((&force[k / 3].x)[k % 3], -(w[1] - w[0]) / (2 * h), 1e-6 * scale);
      assert_near((&pushed[k / 3].x)[k % 3], -(p[1] - p[0]) / (2 * h), 1e-6 * scale);
    }
  }
  free_rig(&r);
}

// Compressed along one axis, StVK with that term resists increasingly, through inversion and
// beyond.
static void compression_resists_monotonically(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 1, 1, 1, 0, 6);
  fem_mat6 n;
  double m[FEM_MATRIX], q[6], last = 1e30;
  double volume6 = 6.0 * yw_fem_volume(&r.h, 0);
  yw_fem_strain_matrix(&r.h.shapes[0][FEM_A], &n);
  yw_fem_edge_matrix(&n, r.c, yw_fem_volume(&r.h, 0), m);
  double stiffness = yw_fem_push_stiffness(r.c);
  for (double stretch = 1.0; stretch > -1.0; stretch -= 0.01) {
    yw_dvec3 x[4], rest[4], f[4] = {{0}};
    for (int a = 0; a < 4; ++a) {
      rest[a] = r.h.rest[r.h.nodes[0][a]];
      x[a] = rest[a];
      x[a].z *= stretch;
    }
    yw_fem_edge_strains(x, rest, q);
    yw_fem_element(m, q, x, f);
    yw_fem_push(stiffness, volume6, x, f);
    double power = 0.0;  // of stretching: negative work per stretch
    for (int a = 0; a < 4; ++a) power -= f[a].z * rest[a].z;
    if (stretch < 0.99) assert_true(power < 0.0);
    if (stretch < 0.58 && stretch > 0.0) assert_true(power < last);
    last = power;
  }
  free_rig(&r);
}

// An affine map strains all tets equally: no force on interior free nodes, for any front.
static void patch_test_on_random_fronts(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 2, 2, 2, 3, 9);
  // Nodes of the box's boundary: those in a face of only one finest tet.
  yw_tet_mesh fine;
  int32_t* map;
  yw_tri_mesh surface;
  assert_int_equal(yw_fem_finest_mesh(NULL, &r.h, &fine, NULL), YW_OK);
  assert_int_equal(yw_tet_mesh_surface(&fine, NULL, &surface, &map), YW_OK);
  bool* outside = calloc((size_t)r.h.num_nodes, 1);
  for (int32_t i = 0; i < surface.num_vertices; ++i) outside[map[i]] = true;
  double total = 0.0;
  for (int32_t n = 0; n < r.h.num_nodes; ++n) total += r.fine_mass[n];
  double worst = 0.0, worst_mass = 0.0;
  int32_t hanging = 0, fronts = getenv("YW_TEST_FAST") ? 5 : 50;
  for (int32_t k = 0; k < fronts; ++k) {
    random_front(&r, test_random_in(&r.random, 0.1, 0.8));
    hanging += r.front.num_hanging;
    double a[9];
    for (int i = 0; i < 9; ++i) a[i] = (i % 4 == 0) + test_random_in(&r.random, -0.2, 0.2);
    for (int32_t n = 0; n < r.h.num_nodes; ++n) {
      yw_dvec3 x = r.h.rest[n];
      r.pos[n] =
          (fem_vec4){a[0] * x.x + a[1] * x.y + a[2] * x.z, a[3] * x.x + a[4] * x.y + a[5] * x.z,
                     a[6] * x.x + a[7] * x.y + a[8] * x.z, 0};
    }
    front_forces(&r);
    double largest = 0.0, residual = 0.0;
    for (int32_t n = 0; n < r.h.num_nodes; ++n) {
      largest = fmax(largest, fmax(fabs(r.force[n].x), fabs(r.force[n].y)));
    }
    yw_fem_carry_forces(&r.front, r.force);
    for (int32_t n = 0; n < r.h.num_nodes; ++n) {
      if (outside[n]) continue;
      fem_vec4 f = r.force[n];
      residual = fmax(residual, fmax(fabs(f.x), fmax(fabs(f.y), fabs(f.z))));
    }
    worst = fmax(worst, residual / largest);
    yw_fem_carry_masses(&r.front, r.fine_mass, r.mass);
    double mass = 0.0;
    for (int32_t n = 0; n < r.h.num_nodes; ++n) {
      mass += r.mass[n];
      assert_true((r.mass[n] > 0.0) == (r.front.state[n] == FEM_FREE));
    }
    worst_mass = fmax(worst_mass, fabs(mass / total - 1.0));
  }
  assert_true(hanging > 100 * fronts);
  assert_at_most(worst, 1e-12);
  assert_at_most(worst_mass, 1e-12);
  free(outside);
  yw_mem_free(&fine.mem, map);
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&fine);
  free_rig(&r);
}

// Linear and angular momentum (about the origin) of the free nodes.
static void momenta(const rig* r, double p[3], double l[3]) {
  for (int k = 0; k < 3; ++k) p[k] = l[k] = 0.0;
  for (int32_t n = 0; n < r->h.num_nodes; ++n) {
    const double x[3] = {r->pos[n].x, r->pos[n].y, r->pos[n].z};
    const double v[3] = {r->vel[n].x, r->vel[n].y, r->vel[n].z};
    for (int k = 0; k < 3; ++k) {
      p[k] += r->mass[n] * v[k];
      l[k] += r->mass[n] * (x[(k + 1) % 3] * v[(k + 2) % 3] - x[(k + 2) % 3] * v[(k + 1) % 3]);
    }
  }
}

// Splits and merges tets at random while the body flies and wobbles.
static void momenta_survive_random_switches(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 2, 1, 1, 3, 17);
  for (int32_t n = 0; n < r.h.num_nodes; ++n) {
    yw_dvec3 x = r.h.rest[n];
    r.pos[n] = (fem_vec4){x.x, x.y, x.z, 0};
    r.vel[n] = (fem_vec4){1.0 - 3.0 * x.y, 0.5 + 3.0 * x.x, -0.3 + 2.0 * x.y, 0};
  }
  yw_fem_carry_masses(&r.front, r.fine_mass, r.mass);
  double p0[3], l0[3], p[3], l[3], size_p = 0.0, size_l = 0.0, worst_p = 0.0, worst_l = 0.0;
  momenta(&r, p0, l0);
  for (int k = 0; k < 3; ++k)
    size_p = fmax(size_p, fabs(p0[k])), size_l = fmax(size_l, fabs(l0[k]));
  int32_t switches = 0, wanted = getenv("YW_TEST_FAST") ? 1000 : 10000;
  for (int32_t step = 0; switches < wanted; ++step) {
    int32_t merge[64], split[64];
    fem_switch change = {.merge = merge, .split = split};
    for (int k = 0; k < 40 && change.num_merge < 8; ++k) {
      int32_t i = (int32_t)(test_random_u32(&r.random) % (uint32_t)(r.front.num_families + 1));
      if (i >= r.front.num_families || !yw_fem_can_merge(&r.front, r.front.families[i])) continue;
      int32_t t = r.front.families[i];
      bool twice = false;
      for (int32_t j = 0; j < change.num_merge; ++j) twice |= merge[j] == t;
      if (!twice) merge[change.num_merge++] = t;
    }
    for (int k = 0; k < 60 && change.num_split < 12; ++k) {
      int32_t t = (int32_t)(test_random_u32(&r.random) % (uint32_t)r.h.num_parents);
      bool used = !yw_fem_in_front(&r.front, t);
      for (int32_t j = 0; j < change.num_merge; ++j) used |= r.h.parent[t] == merge[j];
      for (int32_t j = 0; j < change.num_split; ++j) used |= t == split[j];
      if (!used) split[change.num_split++] = t;
    }
    yw_fem_switch(&r.front, &change, r.fine_mass, r.mass, r.pos, r.vel, r.work);
    switches += change.num_merge + change.num_split;
    // A few steps of elastic motion.
    for (int s = 0; s < 2; ++s) {
      const double h = 1e-5;
      front_forces(&r);
      yw_fem_carry_forces(&r.front, r.force);
      for (int32_t n = 0; n < r.h.num_nodes; ++n) {
        if (r.front.state[n] != FEM_FREE) continue;
        double k = h / r.mass[n];
        r.vel[n].x += k * r.force[n].x, r.vel[n].y += k * r.force[n].y,
            r.vel[n].z += k * r.force[n].z;
        r.pos[n].x += h * r.vel[n].x, r.pos[n].y += h * r.vel[n].y, r.pos[n].z += h * r.vel[n].z;
      }
      yw_fem_follow(&r.front, r.pos, r.vel);
    }
    momenta(&r, p, l);
    for (int k = 0; k < 3; ++k) {
      assert_true(isfinite(p[k]) && isfinite(l[k]));
      worst_p = fmax(worst_p, fabs(p[k] - p0[k]) / size_p);
      worst_l = fmax(worst_l, fabs(l[k] - l0[k]) / size_l);
    }
  }
  assert_at_most(worst_p, 1e-12);
  assert_at_most(worst_l, 1e-10);
  free_rig(&r);
}

// Whatever the order of switches, the front agrees with its split flags.
static void states_follow_from_splits(void** state) {
  (void)state;
  rig r;
  make_rig(&r, 2, 1, 1, 2, 23);
  random_front(&r, 0.5);
  const fem_hierarchy* h = &r.h;
  int32_t tets = 0;
  bool* corner = calloc((size_t)h->num_nodes, 1);
  for (int32_t t = 0; t < h->num_tets; ++t) {
    if (!yw_fem_in_front(&r.front, t)) continue;
    ++tets;
    for (int s = 0; s < 4; ++s) corner[h->nodes[t][s]] = true;
  }
  assert_int_equal(tets, r.front.num_tets);
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    assert_int_equal(corner[n], r.front.state[n] != FEM_INACTIVE);
    if (r.front.state[n] == FEM_HANGING) assert_true(h->node[n].parents[2] < 0);
  }
  free(corner);
  yw_fem_front_reset(&r.front);
  assert_int_equal(r.front.num_tets, h->num_roots);
  assert_int_equal(r.front.num_active, r.mesh.num_vertices);
  free_rig(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_the_last_split_may_merge),
      cmocka_unit_test(edge_form_equals_the_textbook),
      cmocka_unit_test(forces_are_gradients),
      cmocka_unit_test(compression_resists_monotonically),
      cmocka_unit_test(patch_test_on_random_fronts),
      cmocka_unit_test(momenta_survive_random_switches),
      cmocka_unit_test(states_follow_from_splits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
