// SPDX-License-Identifier: MIT
// Contact of surfaces: an exact test after every step finds no edge through a triangle; impulses
// keep momentum; a heavy body rests on a soft one as the material says.
#include <string.h>

#include "support/crossings.h"
#include "yawara/yawara.h"

static double momentum_of(const yw_world* world, int axis) {
  double sum = 0.0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &sums), YW_OK);
    sum += sums.momentum[axis];
  }
  return sum;
}

// Tests -----------------------------------------------------------------------------------------

#define BOX "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 3}}"

// Boxes of two methods hit each other at 20 m/s, eight cells in a frame, and off centre.
static void fast_boxes_do_not_cross(void** state) {
  (void)state;
  static const char* const methods[] = {"\"match\": {}", "\"frames\": {\"youngs_modulus\": 1e5}",
                                        "\"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 0}"};
  for (int i = 0; i < 3; ++i) {
    for (int k = i; k < 3; ++k) {
      char text[1000];
      snprintf(text, sizeof text,
               "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
               "{%s, \"position\": [-0.5, 0, 0], \"velocity\": [10, 0, 0], %s},"
               "{%s, \"position\": [0.5, 0.03, 0.02], \"velocity\": [-10, 0, 0], %s}]}",
               BOX, methods[i], BOX, methods[k]);
      yw_world* world = surface_world(text, 1);
      for (int step = 0; step < 40; ++step) {
        assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
        assert_nothing_crosses(world);
      }
      yw_world_destroy(world);
    }
  }
}

// What is shown of a body.
typedef struct shown {
  const yw_tri_mesh* mesh;
  yw_vec3* x;
  yw_aabb box;
} shown;

static shown show(const yw_world* world, int32_t body) {
  yw_body_id id = yw_world_body(world, body);
  shown out = {.mesh = yw_model_surface(yw_body_model(world, id)), .box = yw_aabb_empty()};
  out.x = malloc(sizeof *out.x * (size_t)out.mesh->num_vertices);
  assert_int_equal(yw_body_surface_positions(world, id, out.x, out.mesh->num_vertices), YW_OK);
  for (int32_t i = 0; i < out.mesh->num_vertices; ++i) out.box = yw_aabb_grow(out.box, out.x[i]);
  return out;
}

// Edges of a that pass through triangles of b.
static int count_shown(const shown* a, const shown* b) {
  int count = 0;
  for (int32_t i = 0; i < 3 * a->mesh->num_triangles; ++i) {
    int32_t from = a->mesh->triangles[i], to = a->mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
    yw_vec3 e[2] = {a->x[from], a->x[to]};
    yw_aabb box = {yw_min3(e[0], e[1]), yw_max3(e[0], e[1])};
    if (from > to || !yw_aabb_overlap(box, b->box)) continue;
    for (int32_t j = 0; j < b->mesh->num_triangles; ++j) {
      const int32_t* v = b->mesh->triangles + 3 * (size_t)j;
      yw_vec3 t[3] = {b->x[v[0]], b->x[v[1]], b->x[v[2]]};
      yw_aabb other = {yw_min3(t[0], yw_min3(t[1], t[2])), yw_max3(t[0], yw_max3(t[1], t[2]))};
      count += yw_aabb_overlap(box, other) && crosses(e, t);
    }
  }
  return count;
}

// Two boxes that meet at twice this speed. What is shown of them is looked at after steps first to
// last, when it is deformed most.
static void expect_shown_apart(double speed, double start, int first, int last) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": ["
           "{\"shape\": {\"box\": {\"size\": 0.5}}, \"position\": [%.7f, 0, 0],"
           " \"velocity\": [%g, 0, 0]},"
           "{\"shape\": {\"box\": {\"size\": 0.5}}, \"position\": [%.7f, 0.03, 0.02],"
           " \"velocity\": [%g, 0, 0]}]}",
           -start, speed, start, -speed);
  yw_world* world = surface_world(text, 1);
  for (int step = 1; step <= last; ++step) {
    assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
    if (step < first) continue;
    shown a = show(world, 0), b = show(world, 1);
    assert_true(yw_aabb_overlap(a.box, b.box));
    assert_int_equal(count_shown(&a, &b) + count_shown(&b, &a), 0);
    free(a.x);
    free(b.x);
  }
  yw_world_destroy(world);
}

// At 40 m/s, tets are folded onto each other where these boxes meet, and the smooth surfaces around
// them still do not cross; at 100 m/s nearly all of them are, and much of what is shown shrinks.
static void what_is_shown_of_folded_boxes_does_not_cross(void** state) {
  (void)state;
  expect_shown_apart(20, 0.4166667, 4, 5);
  expect_shown_apart(50, 0.375, 2, 3);
}

static void edges_do_not_cut(void** state) {
  (void)state;
  // Two plates, one on its edge, fall on a third.
  yw_world* world = surface_world(
      "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
      "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.1, 0.6], \"cells\": [6, 1, 6]}},"
      " \"position\": [0, 0.06, 0], \"match\": {}},"
      "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.1, 0.6], \"cells\": [6, 1, 6]}},"
      " \"position\": [0.02, 0.5, 0.01], \"rotation\": {\"axis\": [1, 0, 0.2], \"degrees\": 80},"
      " \"velocity\": [0, -3, 0], \"match\": {}},"
      "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.1, 0.6], \"cells\": [6, 1, 6]}},"
      " \"position\": [0, 1, 0], \"rotation\": {\"axis\": \"z\", \"degrees\": 20}, \"match\": "
      "{}}]}",
      1);
  for (int step = 0; step < 60; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    assert_nothing_crosses(world);
  }
  yw_world_destroy(world);
}

// Where flat faces lie on each other, edges cross hundreds of times. Vertices carry the load; the
// faces stay apart all the same.
static void flat_faces_touch_with_their_vertices(void** state) {
  (void)state;
  yw_world* world = surface_world(
      "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": ["
      "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.1, 0.6], \"cells\": [6, 1, 6]}},"
      " \"position\": [0, 0.051, 0], \"match\": {}},"
      "{\"mesh\": {\"lattice\": {\"size\": [0.6, 0.1, 0.6], \"cells\": [6, 1, 6]}},"
      " \"position\": [0.03, 0.153, 0.02], \"rotation\": {\"axis\": \"y\", \"degrees\": 10},"
      " \"match\": {}}]}",
      1);
  yw_step_report report = {0};
  yw_world_set_sleep_speed(world, 0.0f);
  for (int step = 0; step < 60; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, &report) >= 0);
    assert_nothing_crosses(world);
  }
  // 49 vertices of each face; with all crossings there are more than 300.
  assert_at_least(report.body_contacts, 60);
  assert_at_least(2 * 49 + 50, report.body_contacts);
  yw_world_destroy(world);
}

static const char* const heavy_on_soft =
    "{\"contact\": \"surfaces\", %s \"bodies\": ["
    "{" BOX
    ", \"position\": [0, 0.2, 0], \"density\": 80,"
    " \"frames\": {\"youngs_modulus\": 313920, \"poissons_ratio\": 0.3, \"damping\": 8}},"
    "{" BOX
    ", \"position\": [0, 0.602, 0], \"density\": 8000, %s"
    " \"frames\": {\"youngs_modulus\": 1e8, \"poissons_ratio\": 0.3}}]}";

static void free_pairs_keep_momentum(void** state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, heavy_on_soft, "\"gravity\": [0, 0, 0],",
           "\"velocity\": [0, -1, 0],");
  yw_world* world = surface_world(text, 1);
  double before = momentum_of(world, 1);
  for (int step = 0; step < 20; ++step) yw_world_step(world, 1.0f / 240.0f, 1, NULL);
  assert_true(fabs(momentum_of(world, 1) - before) < 1e-5 * fabs(before));
  assert_true(fabs(momentum_of(world, 0)) < 1e-5 * fabs(before));
  // It was hit: the light body flies ahead of the heavy one.
  yw_body_sums light, heavy;
  yw_body_sums_of(world, yw_world_body(world, 0), &light);
  yw_body_sums_of(world, yw_world_body(world, 1), &heavy);
  assert_true(light.momentum[1] / light.mass < heavy.momentum[1] / heavy.mass);
  yw_world_destroy(world);
}

// Mean height of the heavy body's centre while it bounces on the soft one.
static double mean_height(const char* text, int32_t substeps) {
  enum { FRAMES = 90 };
  yw_world* world = surface_world(text, 1);
  double sum = 0.0;
  for (int i = 0; i < FRAMES; ++i) {
    assert_int_equal(yw_world_step(world, 1.0f / 60.0f, substeps, NULL), YW_OK);
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 1), &sums), YW_OK);
    sum += sums.center[1] / FRAMES;
  }
  yw_world_destroy(world);
  return sum;
}

// 100 times as heavy: 31.4 kPa on 313.9 kPa is a strain of 10 %, so that the heavy body's centre
// bounces about 0.36 + 0.2 m (with contact on lumped masses it sinks through the soft body).
static void a_heavy_body_sinks_as_far_as_elasticity_says(void** state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, heavy_on_soft, "\"floor\": true,", "");
  double coarse = mean_height(text, 4), fine = mean_height(text, 12);
  assert_true(fabs(coarse - 0.56) < 0.01);
  assert_true(fabs(coarse - fine) < 0.01);
}

static void threads_do_not_matter(void** state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, heavy_on_soft, "\"floor\": true,", "");
  yw_world *one = surface_world(text, 1), *three = surface_world(text, 3);
  for (int i = 0; i < 10; ++i) {
    yw_world_step(one, 1.0f / 60.0f, 4, NULL);
    yw_world_step(three, 1.0f / 60.0f, 4, NULL);
  }
  assert_true(yw_world_hash(one) == yw_world_hash(three));
  yw_world_destroy(one);
  yw_world_destroy(three);
}

static int32_t overlaps(const char* first, const char* second) {
  char text[1000];
  snprintf(text, sizeof text, "{\"contact\": \"surfaces\", \"bodies\": [{%s}, {%s}]}", first,
           second);
  yw_world* world = surface_world(text, 1);
  yw_body_id pair[1][2] = {{{0, 0}, {0, 0}}};
  int32_t count = yw_world_crossings(world, pair, 1);
  if (count > 0) {
    assert_true(pair[0][0].index1 == yw_world_body(world, 0).index1);
    assert_true(pair[0][1].index1 == yw_world_body(world, 1).index1);
  }
  assert_int_equal(yw_world_crossings(world, NULL, 0), count);
  yw_world_destroy(world);
  return count;
}

#define AT(x) "\"position\": [" x ", 0, 0], \"match\": {}"

#define CLAY(x)                                              \
  "\"shape\": {\"box\": {\"size\": 0.4}}, \"position\": [" x \
  ", 0, 0], "                                                \
  "\"plastic\": {\"spacing\": 0.05}"

static void overlaps_are_named(void** state) {
  (void)state;
  const char* small = "\"mesh\": {\"lattice\": {\"size\": 0.05, \"cells\": 1}}, " AT("0.02");
  const char* rod =
      "\"rod\": {\"line\": {\"from\": [-1, 0.01, 0.03], \"to\": [1, 0.02, 0.03], \"count\": 9},"
      " \"radius\": 0.01}";
  assert_int_equal(overlaps(BOX ", " AT("0"), BOX ", " AT("0.39")), 1);
  // Faces that touch do not overlap.
  assert_int_equal(overlaps(BOX ", " AT("0"), BOX ", " AT("0.4")), 0);
  // One inside of the other, and a rod through it.
  assert_int_equal(overlaps(BOX ", " AT("0"), small), 1);
  assert_int_equal(overlaps(BOX ", " AT("0"), rod), 1);
  // Clay 2 cm inside, beside and around others; its grains reach to its faces.
  assert_int_equal(overlaps(BOX ", " AT("0"), CLAY("0.38")), 1);
  assert_int_equal(overlaps(BOX ", " AT("0"), CLAY("0.401")), 0);
  assert_int_equal(overlaps(CLAY("0"), small), 1);
  assert_int_equal(overlaps(CLAY("0"), CLAY("0.36")), 1);
  assert_int_equal(overlaps(CLAY("0"), CLAY("0.401")), 0);
  // Who does not collide does not overlap, and neither does who has not started.
  assert_int_equal(overlaps(BOX ", " AT("0"), BOX ", \"body_contact\": false, " AT("0.39")), 0);
  assert_int_equal(overlaps(BOX ", " AT("0"), BOX ", \"start\": 1, " AT("0.39")), 0);
  assert_int_equal(yw_world_crossings(NULL, NULL, 0), -1);
}

// Starts that overlap ---------------------------------------------------------------------------

#define SHEET                                                                                 \
  "\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 4, \"along\": 4}," \
  " \"thickness\": 0.02}"
#define ROD                                                                                       \
  "\"rod\": {\"line\": {\"from\": [-0.2, 0, 0], \"to\": [0.2, 0, 0], \"count\": 9}, \"radius\": " \
  "0.03}"
#define LATTICE "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}, "

// Kinetic energy over mass, as a speed (m/s).
static double speed_of(const yw_world* world) {
  double energy = 0.0, mass = 0.0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &sums), YW_OK);
    energy += sums.kinetic_energy;
    mass += sums.mass;
  }
  return sqrt(2.0 * energy / mass);
}

// Bodies 7 cm inside each other, at rest in space: they part within 20 steps and do not move
// afterwards; thin ones are apart by their thickness then.
static void overlapping_starts_part_without_a_kick(void** state) {
  (void)state;
  static const struct {
    const char* body;
    double height, speed;
  } kinds[] = {{LATTICE "\"match\": {}", 0.53, 1e-3},
               {LATTICE "\"frames\": {\"youngs_modulus\": 1e6}", 0.53, 1e-3},
               {LATTICE "\"fem\": {\"max_level\": 0}", 0.53, 1e-3},
               {LATTICE "\"rigid\": {}", 0.53, 1e-3},
               {SHEET, 0.33, 1e-3},
               {SHEET ", \"slender\": {\"youngs_modulus\": 1e8}", 0.33, 1e-3},
               {ROD ", \"slender\": {\"youngs_modulus\": 1e9}", 0.33, 1e-3}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const char* lower = i >= 4 ? kinds[0].body : kinds[i].body;
    char text[1000];
    snprintf(text, sizeof text,
             "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": [{%s, \"position\":"
             " [0, 0.2, 0]}, {%s, \"position\": [0.02, %g, 0.03]}]}",
             lower, kinds[i].body, kinds[i].height);
    yw_world* world = surface_world(text, 1);
    assert_int_equal(yw_world_crossings(world, NULL, 0), 1);
    for (int step = 0; step < 20; ++step) {
      assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    }
    if (yw_world_crossings(world, NULL, 0) != 0) fail_msg("%s: still overlap", kinds[i].body);
    double speed = speed_of(world);
    if (speed > kinds[i].speed) fail_msg("%s: %g m/s", kinds[i].body, speed);
    yw_world_destroy(world);
  }
}

// Boxes that overlap and approach each other, along each axis, one of them four times as heavy,
// while both drift: of their velocities only the approach is lost, and momentum stays.
static void overlapping_starts_lose_their_approach(void** state) {
  (void)state;
  for (int axis = 0; axis < 3; ++axis) {
    double at[3] = {0.02, 0.02, 0.02}, first[3] = {0.3, 0.2, -0.1}, second[3] = {0.3, 0.2, -0.1};
    at[axis] = 0.33;
    first[axis] += 0.2;
    second[axis] -= 0.8;
    char text[1000];
    snprintf(text, sizeof text,
             "{\"contact\": \"surfaces\", \"gravity\": [0, 0, 0], \"bodies\": [{" LATTICE
             "\"match\": {}, \"density\": 4000, \"velocity\": [%g, %g, %g]}, {" LATTICE
             "\"match\": {}, \"density\": 1000, \"position\": [%g, %g, %g], \"velocity\": [%g, %g, "
             "%g]}]}",
             first[0], first[1], first[2], at[0], at[1], at[2], second[0], second[1], second[2]);
    yw_world* world = surface_world(text, 1);
    assert_int_equal(yw_world_crossings(world, NULL, 0), 1);
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    // The mean of both is what they drift with.
    for (int32_t i = 0; i < 2; ++i) {
      static const double drift[3] = {0.3, 0.2, -0.1};
      yw_body_sums sums;
      assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &sums), YW_OK);
      for (int k = 0; k < 3; ++k) assert_near(sums.momentum[k] / sums.mass, drift[k], 1e-3);
    }
    yw_world_destroy(world);
  }
}

// Five boxes, each 4 cm inside the one below: they stand on each other in the end, and a snapshot
// taken on the way goes on with the same bits.
static void overlapping_stacks_stand(void** state) {
  (void)state;
  char text[2000];
  int at =
      snprintf(text, sizeof text, "{\"contact\": \"surfaces\", \"floor\": true, \"bodies\": [");
  for (int i = 0; i < 5; ++i) {
    at += snprintf(text + at, sizeof text - (size_t)at, "%s{%s, \"position\": [0, %g, 0]}",
                   i > 0 ? "," : "", LATTICE "\"rigid\": {}", 0.2 + 0.36 * i);
  }
  snprintf(text + at, sizeof text - (size_t)at, "]}");
  yw_world *world = surface_world(text, 1), *other = surface_world(text, 2);
  for (int step = 0; step < 36; ++step) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
    if (step > 9) assert_true(yw_world_step(other, 1.0f / 60.0f, 4, NULL) >= 0);
    if (step != 9) continue;
    size_t size = yw_world_snapshot_size(world);
    void* bytes = malloc(size);
    assert_int_equal(yw_world_save(world, bytes, size, NULL), YW_OK);
    assert_int_equal(yw_world_load(other, bytes, size, NULL), YW_OK);
    free(bytes);
  }
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  assert_int_equal(yw_world_crossings(world, NULL, 0), 0);
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, 4), &sums);
  assert_near(sums.center[1], 1.8, 0.02);
  yw_world_destroy(world);
  yw_world_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fast_boxes_do_not_cross),
      cmocka_unit_test(what_is_shown_of_folded_boxes_does_not_cross),
      cmocka_unit_test(edges_do_not_cut),
      cmocka_unit_test(flat_faces_touch_with_their_vertices),
      cmocka_unit_test(free_pairs_keep_momentum),
      cmocka_unit_test(a_heavy_body_sinks_as_far_as_elasticity_says),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(overlaps_are_named),
      cmocka_unit_test(overlapping_starts_part_without_a_kick),
      cmocka_unit_test(overlapping_starts_lose_their_approach),
      cmocka_unit_test(overlapping_stacks_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
