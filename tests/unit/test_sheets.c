// SPDX-License-Identifier: MIT
// Sheets on sheets: which edges are flat, which leaves a plane keeps apart, and that layers which
// meet with their vertices alone come no nearer to each other than the guard allows.
#include "contact/surfaces/sheets.h"

#include "contact/bodies.h"
#include "support/sheet_samples.h"
#include "support/testing.h"

// Flat edges ------------------------------------------------------------------------------------

typedef struct plane_point {
  double x, y;
} plane_point;

// A point as seen along an edge from `a` in the direction of `along`.
static plane_point seen_along(yw_vec3 a, yw_vec3 along, yw_vec3 x) {
  yw_vec3 u = yw_normalize_or(along, yw_v3(1, 0, 0));
  yw_vec3 other = fabsf(u.x) < 0.8f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0);
  yw_vec3 v = yw_normalize_or(yw_cross(u, other), u), w = yw_cross(u, v), to = yw_sub(x, a);
  return (plane_point){(double)yw_dot(to, v), (double)yw_dot(to, w)};
}

// How far an edge stands out: the distance from it to the line between the opposite corners; far
// for faces that are folded by more than a right angle.
static double height_of(const yw_vec4 x[4]) {
  yw_vec3 a = yw_xyz(x[0]), along = yw_sub(yw_xyz(x[1]), a);
  plane_point p = seen_along(a, along, yw_xyz(x[2])), q = seen_along(a, along, yw_xyz(x[3]));
  if (!(p.x * q.x + p.y * q.y < 0.0)) return INFINITY;
  return fabs(p.x * q.y - p.y * q.x) / hypot(p.x - q.x, p.y - q.y);
}

// An edge along z between two triangles that rise or fall by up to `slope`.
static void random_ridge(test_random* random, double slope, yw_vec4 x[4]) {
  x[0] = (yw_vec4){0, 0, 0, 0};
  x[1] = (yw_vec4){0, 0, 1, 0};
  for (int k = 0; k < 2; ++k) {
    x[2 + k] = (yw_vec4){k ? -1.0f : 1.0f, (float)test_random_in(random, -slope, slope),
                         (float)test_random_in(random, -1.0, 2.0), 0};
  }
  if (test_random_u32(random) % 8 == 0) x[3].x = 0.9f;
}

static void flat_edges_are_those_that_hardly_stand_out(void** state) {
  (void)state;
  static const yw_simd levels[] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  test_random random = {1};
  int flat = 0, standing = 0;
  for (int trial = 0; trial < 100; ++trial) {
    yw_vec4 x[4 * YW_LANES];
    yw_ridge_lanes lanes = {.count = YW_LANES - trial % 3};
    for (int i = 0; i < YW_LANES; ++i) {
      random_ridge(&random, 0.1, x + 4 * i);
      for (int k = 0; k < 4; ++k) lanes.corners[k][i] = 4 * i + k;
      lanes.limits[i] = (float)test_random_in(&random, 0.01, 0.05);
    }
    uint32_t found = yw_near_fns_of(YW_SIMD_PLAIN)->flat(&lanes, x);
    assert_int_equal(found >> lanes.count, 0);
    for (int i = 0; i < lanes.count; ++i) {
      double over = height_of(x + 4 * i) - (double)lanes.limits[i];
      flat += over < 0.0;
      standing += over > 0.0;
      if (fabs(over) > 1e-6) assert_int_equal(found >> i & 1, over < 0.0);
    }
    for (int k = 1; k < 3; ++k) {
      if (yw_simd_resolve(levels[k]) != levels[k]) continue;
      assert_int_equal(yw_near_fns_of(levels[k])->flat(&lanes, x), found);
    }
  }
  assert_at_least(flat, 300);
  assert_at_least(standing, 300);
}

// Planes between leaves -------------------------------------------------------------------------

// Least distance of edges of two leaves at the start, half way and at the end.
static float distance_of_leaves(const yw_contact_work* work, int32_t a, int32_t b) {
  const yw_complex* c = work->complex;
  float least = INFINITY;
  for (int32_t i = c->leaves[a].triangle; i < c->leaves[a + 1].triangle; ++i) {
    for (int32_t k = c->leaves[b].triangle; k < c->leaves[b + 1].triangle; ++k) {
      for (int at = 0; at < 9 * 3; ++at) {
        const int32_t *v = c->triangles[i], *w = c->triangles[k];
        int p = at % 3, q = at / 3 % 3;
        const int32_t corners[4] = {v[p], v[(p + 1) % 3], w[q], w[(q + 1) % 3]};
        yw_vec3 x[4];
        for (int n = 0; n < 4; ++n) {
          x[n] = yw_lerp(yw_touch_begin(work, corners[n]), yw_touch_path_end(work, corners[n]),
                         0.5f * (float)(at / 9));
        }
        least = fminf(least, yw_nearest_points(YW_EDGE_EDGE, x).distance);
      }
    }
  }
  return least;
}

// Two halves of a sheet, one above the other, waved and jolted.
static void planes_between_leaves_are_proofs(void** state) {
  (void)state;
  test_random random = {2};
  sheet s = make_sheet(16, true);
  yw_contact_geometry geometry = geometry_of(&s);
  yw_complex* c = yw_complex_create(NULL, &geometry, s.count);
  yw_vec4 *begin = YW_NEW_ARRAY(NULL, yw_vec4, s.count),
          *end = YW_NEW_ARRAY(NULL, yw_vec4, s.count);
  yw_contact_body body = {.geometry = geometry, .begin = begin};
  yw_contact_work work = {.body = &body, .complex = c, .predicted = end};
  int parted = 0, unknown = 0;
  for (int trial = 0; trial < 12; ++trial) {
    for (int32_t i = 0; i < s.count; ++i) {
      bool upper = i / s.side >= s.side / 2;
      yw_vec3 x = s.rest[i];
      if (upper) x = yw_v3(x.x - (float)(s.side / 2) + 0.3f, 0.3f, x.z + 0.4f);
      x.y += 0.02f * (float)trial * sinf(x.x) +
             (float)test_random_in(&random, -0.01 * trial, 0.01 * trial);
      begin[i] = yw_v4(x);
      end[i] = (yw_vec4){x.x, x.y + (float)test_random_in(&random, -0.25, 0.25), x.z, 0};
    }
    for (int32_t a = 0; a < c->num_leaves; ++a) {
      yw_sheet_slab slab = {.leaf = -1};
      for (int32_t b = 0; b < c->num_leaves; ++b) {
        bool known = yw_sheet_leaves_part(&work, a, &work, b, 0.05f, true, &slab);
        parted += known;
        unknown += !known;
        if (known) assert_at_least(distance_of_leaves(&work, a, b), 0.05);
      }
    }
  }
  // Both answers are given.
  assert_at_least(parted, 50);
  assert_at_least(unknown, 50);
  yw_mem_free(NULL, begin);
  yw_mem_free(NULL, end);
  yw_complex_destroy(c);
  free_sheet(&s);
}

// Layers ----------------------------------------------------------------------------------------

#define STEP 0.01f

typedef struct layers {
  sheet sheet;
  yw_particles particles;
  yw_vec4* begin;
  int32_t contacts;
} layers;

static bool is_upper(const layers* l, int32_t i) { return i / l->sheet.side >= l->sheet.side / 2; }

// One half of a sheet comes down on the other; `rough`: m/s, what vertices differ by.
static layers press_layers(int32_t side, float speed, float rough) {
  layers l = {.sheet = make_sheet(side, true)};
  test_random random = {3};
  assert_true(yw_particles_create(NULL, l.sheet.count, &l.particles));
  l.particles.count = l.sheet.count;
  l.begin = YW_NEW_ARRAY(NULL, yw_vec4, l.sheet.count);
  for (int32_t i = 0; i < l.sheet.count; ++i) {
    yw_vec3 x = l.sheet.rest[i], v = yw_v3(0, is_upper(&l, i) ? -speed : 0.0f, 0);
    if (is_upper(&l, i)) x = yw_v3(x.x - (float)(side / 2) + 0.3f, 0.206f, x.z + 0.4f);
    v.y += (float)test_random_in(&random, -(double)rough, (double)rough);
    l.begin[i] = yw_v4(x);
    l.particles.vel[i] = yw_v4(v);
    l.particles.pos[i] = yw_v4(yw_mad(x, STEP, v));
    l.particles.mass[i] = l.particles.inv_mass[i] = 1.0f;
  }
  yw_contact_body body = {.geometry = geometry_of(&l.sheet),
                          .topology_version = 1,
                          .key = 1,
                          .particles = &l.particles,
                          .begin = l.begin,
                          .friction = 0.5f,
                          .self_contact = true};
  yw_surfaces* surfaces = yw_surfaces_create(NULL, yw_simd_resolve(YW_SIMD_AUTO));
  assert_int_equal(
      yw_surfaces_resolve(surfaces, &body, 1, STEP, yw_v3(0, -10, 0), 4, NULL, &l.contacts), YW_OK);
  yw_surfaces_destroy(surfaces);
  return l;
}

static void free_layers(layers* l) {
  yw_mem_free(NULL, l->begin);
  yw_particles_free(NULL, &l->particles);
  free_sheet(&l->sheet);
}

// Least distance between edges of the two halves, by trying all.
static float distance_of_edges(const layers* l) {
  float least = INFINITY;
  for (int32_t i = 0; i < 3 * l->sheet.num_triangles; ++i) {
    for (int32_t k = 0; k < 3 * l->sheet.num_triangles; ++k) {
      const int32_t* t = l->sheet.triangles;
      const int32_t corners[4] = {t[i], t[i / 3 * 3 + (i + 1) % 3], t[k],
                                  t[k / 3 * 3 + (k + 1) % 3]};
      if (is_upper(l, corners[0]) || !is_upper(l, corners[2])) continue;
      yw_vec3 x[4];
      for (int n = 0; n < 4; ++n) x[n] = yw_xyz(l->particles.pos[corners[n]]);
      least = fminf(least, yw_nearest_points(YW_EDGE_EDGE, x).distance);
    }
  }
  return least;
}

// Every vertex over the other half is one contact; edges add those along the borders alone.
static void flat_layers_meet_with_their_vertices(void** state) {
  (void)state;
  enum { SIDE = 40 };
  layers l = press_layers(SIDE, 4.0f, 0.1f);
  assert_at_least(l.contacts, 0.8 * SIDE * SIDE);
  assert_at_most(l.contacts, 1.1 * SIDE * SIDE);
  free_layers(&l);
}

// The guard holds 0.9 of the thickness.
static void layers_keep_their_thickness(void** state) {
  (void)state;
  for (int trial = 0; trial < 12; ++trial) {
    layers l = press_layers(16, (float)(1 << trial / 3), 0.15f * (float)(trial % 3));
    assert_at_least(distance_of_edges(&l), 0.9 * 0.2);
    free_layers(&l);
  }
}

// Two pairs of triangles, one over the other, whose common edges cross. All are flat, also at the
// ends of their paths, so the edges are left out of the search. But those of the lower pair hang on
// an edge that is pinned, and give way: the upper edge follows them down onto that edge. A triangle
// of the lower body far below falls as fast as the upper pair.
enum { NUM_LOWER = 7, NUM_CORNERS = 11 };
typedef struct crossing {
  yw_vec4 begin[NUM_CORNERS];
  yw_particles particles;
} crossing;

static crossing make_crossing(float speed) {
  static const yw_vec3 places[NUM_CORNERS] = {
      {-3, 0, 0},         {3, 0, 0},           {0, 0, 2},           {0, 0, -2},
      {4, -5, 0},         {5, -5, 0},          {4, -5, 1},          {0, 0.216f, 1.8f},
      {0, 0.216f, -1.8f}, {0.5f, 0.216f, .1f}, {-0.5f, 0.216f, .1f}};
  static const float masses[NUM_CORNERS] = {0, 0,    0.001f, 0.001f, 1,     1,
                                            1, 1000, 1000,   0.001f, 0.001f};
  crossing c;
  assert_true(yw_particles_create(NULL, NUM_CORNERS, &c.particles));
  c.particles.count = NUM_CORNERS;
  for (int i = 0; i < NUM_CORNERS; ++i) {
    yw_vec3 v = yw_v3(0, i < 4 ? 0.0f : -speed, 0);
    c.begin[i] = yw_v4(places[i]);
    c.particles.vel[i] = yw_v4(v);
    c.particles.pos[i] = yw_v4(yw_mad(places[i], STEP, v));
    c.particles.mass[i] = masses[i];
    c.particles.inv_mass[i] = masses[i] > 0.0f ? 1.0f / masses[i] : 0.0f;
  }
  return c;
}

// Distance of the two edges after contact, as parts of one body or of two; negative below.
static float distance_of_crossing(float speed, bool one_body) {
  static const int32_t all[15] = {0, 1, 2, 0, 3, 1, 4, 5, 6, 7, 8, 9, 7, 10, 8};
  static const int32_t upper[6] = {0, 1, 2, 0, 3, 1};
  crossing c = make_crossing(speed);
  float radius[NUM_CORNERS];
  yw_vec3 rest[NUM_CORNERS];
  for (int i = 0; i < NUM_CORNERS; ++i) {
    radius[i] = 0.1f;
    rest[i] = yw_add(yw_xyz(c.begin[i]), yw_v3(i < NUM_LOWER ? 0.0f : 10.0f, 0, 0));
  }
  yw_particles parts[2] = {c.particles, c.particles};
  parts[1].pos += NUM_LOWER, parts[1].vel += NUM_LOWER;
  parts[1].mass += NUM_LOWER, parts[1].inv_mass += NUM_LOWER;
  yw_contact_body bodies[2];
  for (int k = 0; k < 2; ++k) {
    int32_t first = NUM_LOWER * k, count = k ? NUM_CORNERS - NUM_LOWER : NUM_LOWER;
    if (!one_body) parts[k].count = parts[k].capacity = count;
    bodies[k] = (yw_contact_body){.geometry = {.triangles = k ? upper : all,
                                               .num_triangles = one_body ? 5 : 3 - k,
                                               .rest = rest + first,
                                               .radius = radius},
                                  .topology_version = 1,
                                  .key = 1 + (uint64_t)k,
                                  .particles = &parts[k],
                                  .begin = c.begin + first,
                                  .body_contact = !one_body,
                                  .self_contact = one_body};
  }
  yw_surfaces* surfaces = yw_surfaces_create(NULL, yw_simd_resolve(YW_SIMD_AUTO));
  assert_int_equal(
      yw_surfaces_resolve(surfaces, bodies, one_body ? 1 : 2, STEP, yw_v3(0, 0, 0), 4, NULL, NULL),
      YW_OK);
  yw_surfaces_destroy(surfaces);
  const int32_t corners[4] = {0, 1, NUM_LOWER, NUM_LOWER + 1};
  yw_vec3 x[4];
  for (int k = 0; k < 4; ++k) x[k] = yw_xyz(c.particles.pos[corners[k]]);
  bool above = x[2].y + x[3].y > 0.0f;
  float distance = yw_nearest_points(YW_EDGE_EDGE, x).distance;
  yw_particles_free(NULL, &c.particles);
  return above ? distance : -distance;
}

static void edges_that_were_left_out_are_held(void** state) {
  (void)state;
  for (int k = 0; k < 8; ++k) {
    float distance = distance_of_crossing((float)(4 << k / 2), k % 2 == 0);
    assert_at_least(distance, 0.9 * 0.2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_edges_are_those_that_hardly_stand_out),
      cmocka_unit_test(planes_between_leaves_are_proofs),
      cmocka_unit_test(flat_layers_meet_with_their_vertices),
      cmocka_unit_test(layers_keep_their_thickness),
      cmocka_unit_test(edges_that_were_left_out_are_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
