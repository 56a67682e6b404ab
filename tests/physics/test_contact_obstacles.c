// SPDX-License-Identifier: MIT
// Contact of surfaces with obstacles: faces and edges of bodies meet them too, not only vertices.
// Obstacles here are boxes, so that whether a triangle is inside of one is decided exactly.
#include "contact/ray.h"
#include "support/crossings.h"
#include "support/method_world.h"
#include "support/scene_text.h"
#include "world/obstacle_surface.h"
#include "world/world.h"
#include "yawara/yawara.h"

// Of an obstacle's half thickness: corners of its surface are rounded by less.
#define TOLERANCE 0.05f

// A box obstacle: half size and centre at the start, with a path.
typedef struct bar {
  yw_vec3 half, center;
  yw_vec3 way;  // in 1 s
  float angle;  // degrees, about z
} bar;

static void write_bars(const bar* bars, int count, char* out, size_t room) {
  size_t at = (size_t)snprintf(out, room, "\"obstacles\": [");
  for (int i = 0; i < count; ++i) {
    const bar* b = &bars[i];
    at += (size_t)snprintf(
        out + at, room - at,
        "%s{\"shape\": {\"box\": {\"size\": [%g, %g, %g]}}, \"position\": [%g, %g, %g], "
        "\"rotation\": {\"axis\": \"z\", \"degrees\": %g}, \"friction\": 0.2, \"path\": {\"keys\": "
        "[{\"time\": 0}, {\"time\": 1, \"offset\": [%g, %g, %g]}]}}",
        i ? ", " : "", 2 * (double)b->half.x, 2 * (double)b->half.y, 2 * (double)b->half.z,
        (double)b->center.x, (double)b->center.y, (double)b->center.z, (double)b->angle,
        (double)b->way.x, (double)b->way.y, (double)b->way.z);
  }
  snprintf(out + at, room - at, "]");
}

static yw_world* make_scene(const char* bodies, const bar* bars, int count, const char* contact) {
  char text[6000], obstacles[4000];
  write_bars(bars, count, obstacles, sizeof obstacles);
  snprintf(text, sizeof text, "{\"contact\": \"%s\", %s, \"bodies\": [%s]}", contact, obstacles,
           bodies);
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_scene_destroy(scene);
  return world;
}

// Triangles, or segments, of a body that reach into a bar.
static int crossings(const yw_world* world, const bar* b, int number) {
  yw_transform pose;
  yw_obstacle_id id = {(uint32_t)number + 1, 1};
  yw_obstacle_pose(world, id, yw_world_time(world), &pose);
  float least = fminf(b->half.x, fminf(b->half.y, b->half.z)), off = TOLERANCE * least;
  yw_vec3 half = yw_sub(b->half, yw_v3(off, off, off));
  int found = 0;
  for (int32_t i = 0; i < world->bodies.count; ++i) {
    const yw_body* body = &world->bodies.items[i];
    yw_contact_geometry g = body->model->method->contact_geometry(body->state);
    int corners = g.num_triangles > 0 ? 3 : 2;
    int32_t count = g.num_triangles > 0 ? g.num_triangles : g.num_segments;
    const int32_t* items = g.num_triangles > 0 ? g.triangles : g.segments;
    for (int32_t k = 0; k < count; ++k) {
      yw_vec3 x[3];
      for (int c = 0; c < 3; ++c) {
        int32_t v = items[corners * k + (c < corners ? c : 0)];
        x[c] = yw_transform_point_inv(pose, yw_xyz(body->particles.pos[v]));
      }
      found += yw_box_meets_triangle(half, x[0], x[1], x[2]);
    }
  }
  return found;
}

// Steps, and how many triangles were in a bar at once, at most.
static int run(yw_world* world, const bar* bars, int count, int steps) {
  int most = 0;
  for (int k = 0; k < steps; ++k) {
    yw_step_report report = {0};
    assert_true(yw_world_step(world, 1 / 60.0f, 4, &report) >= 0);
    assert_int_equal(report.diverged_bodies, 0);
    for (int i = 0; i < count; ++i) {
      int found = crossings(world, &bars[i], i);
      most = found > most ? found : most;
    }
  }
  return most;
}

// Nothing is in a bar, where contact of points lets something in.
static void holds(const char* name, const char* bodies, const bar* bars, int count, int steps) {
  yw_world* world = make_scene(bodies, bars, count, "surfaces");
  int found = run(world, bars, count, steps);
  if (found > 0) fail_msg("%s: %d triangles in an obstacle", name, found);
  yw_world_destroy(world);
  world = make_scene(bodies, bars, count, "points");
  if (run(world, bars, count, steps) == 0) fail_msg("%s: points hold it too", name);
  yw_world_destroy(world);
}

#define ROD                                                                                    \
  "{\"slender\": {}, \"rod\": {\"line\": {\"from\": [-0.5, 0, 0.05], \"to\": [0.5, 0, 0.05], " \
  "\"count\": 6}, \"radius\": 0.01}, \"position\": [0, 0.2, 0], \"velocity\": [0, %d, 0]}"

// A rod lands on a bar that is much thinner than its segments are long. With points it passes.
static void rods_meet_thin_bars(void** state) {
  (void)state;
  const bar bars[1] = {{{0.01f, 0.01f, 1.0f}, {0.05f, 0, 0}, {0, 0, 0}, 20}};
  for (int fast = 0; fast < 2; ++fast) {
    for (int points = 0; points < 2; ++points) {
      char body[300];
      snprintf(body, sizeof body, ROD, fast ? -20 : -1);
      yw_world* world = make_scene(body, bars, 1, points ? "points" : "surfaces");
      int found = run(world, bars, 1, 15);
      yw_body_sums sums;
      yw_body_sums_of(world, yw_world_body(world, 0), &sums);
      // Free flight ends at -0.36 m, or lower.
      bool passed = sums.center[1] < -0.3;
      if (points ? !passed : passed || found > 0) {
        fail_msg("%s: at %g m, %d segments in the bar", points ? "points" : "surfaces",
                 sums.center[1], found);
      }
      yw_world_destroy(world);
    }
  }
}

// A needle thinner than a cell is driven into cloth, and into jelly.
static void needles_do_not_pierce(void** state) {
  (void)state;
  const bar needle[1] = {{{0.006f, 0.3f, 0.006f}, {0.02f, -0.32f, 0.03f}, {0, 0.5f, 0}, 0}};
  holds("cloth",
        "{\"slender\": {\"youngs_modulus\": 1e5}, \"sheet\": {\"rectangle\": {\"width\": 1, "
        "\"depth\": 1, "
        "\"across\": 8, \"along\": 8}, \"thickness\": 0.004}, \"position\": [0, 0.05, 0], "
        "\"pins\": [{\"select\": {\"box\": "
        "{\"size\": [0.1, 1, 3], \"center\": [0.5, 0, 0]}}}, {\"select\": {\"box\": {\"size\": "
        "[0.1, 1, 3], \"center\": [-0.5, 0, 0]}}}]}",
        needle, 1, 30);
  holds(
      "jelly",
      "{\"frames\": {\"youngs_modulus\": 3e4}, \"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": "
      "4}}, \"position\": [0, 0.22, 0]}",
      needle, 1, 24);
}

// A jelly lies on a grate whose bars and gaps are both smaller than its cells, and is pressed.
static void jellies_stay_on_a_grate(void** state) {
  (void)state;
  bar bars[6];
  for (int i = 0; i < 5; ++i) {
    bars[i] = (bar){{0.008f, 0.02f, 0.5f}, {0.1f * (float)(i - 2), 0, 0}, {0, 0, 0}, 0};
  }
  bars[5] = (bar){{0.3f, 0.02f, 0.3f}, {0, 0.4f, 0}, {0, -0.2f, 0}, 0};
  static const char* const methods[] = {"\"match\": {}", "\"frames\": {\"youngs_modulus\": 5e4}",
                                        "\"fem\": {\"max_level\": 0, \"youngs_modulus\": 5e4}"};
  for (int m = 0; m < 3; ++m) {
    char body[400];
    snprintf(body, sizeof body,
             "{%s, \"mesh\": {\"lattice\": {\"size\": [0.45, 0.3, 0.3], \"cells\": [3, 2, 2]}}, "
             "\"position\": [0.013, 0.18, 0]}",
             methods[m]);
    holds(methods[m], body, bars, 6, 36);
  }
}

// A sheet falls over the edge of a thin plate that stands on end.
static void sheets_hang_over_edges(void** state) {
  (void)state;
  const bar plate[1] = {{{0.005f, 0.3f, 0.4f}, {0.03f, -0.3f, 0.02f}, {0, 0, 0}, 7}};
  holds("sheet",
        "{\"slender\": {\"youngs_modulus\": 1e5}, \"sheet\": {\"rectangle\": {\"width\": 1, "
        "\"depth\": 0.6, "
        "\"across\": 10, \"along\": 6}, \"thickness\": 0.004}, \"position\": [0, 0.05, 0]}",
        plate, 1, 45);
}

// A rigid box lands with its face on the edge of a plate.
static void rigid_faces_meet_edges(void** state) {
  (void)state;
  const bar plate[1] = {{{0.004f, 0.3f, 0.15f}, {0.1f, -0.3f, 0.02f}, {0, 0.2f, 0}, 12}};
  holds("rigid",
        "{\"rigid\": {}, \"density\": 400, \"shape\": {\"box\": {\"size\": [0.6, 0.1, 0.6]}}, "
        "\"position\": [0, 0.2, 0]}",
        plate, 1, 30);
}

// A plate comes up under a pile. What lies on it gives way, rigid bodies too, and what lies on
// that.
static void piles_give_way_to_a_plate(void** state) {
  (void)state;
  static const char* const rows[] = {
      "\"rigid\": {\"size\": 0.1}, \"shape\": {\"box\": {\"size\": 0.2}}",
      "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 2}}, "
      "\"frames\": {\"youngs_modulus\": 1e5}"};
  static const float speeds[] = {0.3f, 0.6f, 1.0f, 1.5f};
  for (int n = 0; n < 8; ++n) {
    int i = n % 2;
    const bar plate[1] = {{{0.5f, 0.05f, 0.5f}, {0, -0.06f, 0}, {0, speeds[n / 2], 0}, 0}};
    char bodies[1500];
    snprintf(
        bodies, sizeof bodies,
        "{\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 6, \"along\": "
        "6}, \"thickness\": 0.006}, \"slender\": {\"youngs_modulus\": 1e6}, \"position\": [0, "
        "0.01, 0]}, {%s, \"position\": [0.02, 0.13, 0.01]}, {%s, \"position\": [0, 0.36, 0], "
        "\"density\": 8000}",
        rows[i], rows[1 - i]);
    yw_world* world = make_scene(bodies, plate, 1, "surfaces");
    for (int k = 0; k < 20; ++k) {
      int found = run(world, plate, 1, 1);
      if (found > 0) fail_msg("pile %d, frame %d: %d triangles in the plate", n, k, found);
      assert_nothing_crosses(world);
    }
    yw_world_destroy(world);
  }
}

// Only obstacles with a surface of their own are met by surfaces: planes are met by vertices alone.
static void planes_have_no_surface(void** state) {
  (void)state;
  for (int boxes = 0; boxes < 2; ++boxes) {
    char text[300];
    snprintf(text, sizeof text,
             "{\"contact\": \"surfaces\", \"obstacles\": [{\"shape\": {\"plane\": {\"normal\": [0, "
             "1, 0]}}}%s], \"bodies\": []}",
             boxes ? ", {\"shape\": {\"box\": {\"size\": 1}}}" : "");
    yw_scene* scene = scene_of(text);
    yw_world* world = world_of(scene);
    assert_int_equal(yw_obstacle_surfaces_any(world), boxes);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
}

// The surface of an obstacle that stands is placed once, and anew in each substep in which it moves
// and in the one after.
static void surfaces_are_placed_when_they_move(void** state) {
  (void)state;
  yw_shape* box;
  yw_obstacle_surface* surface;
  assert_int_equal(yw_shape_box(NULL, yw_v3(1, 1, 1), &box), YW_OK);
  assert_int_equal(yw_obstacle_surface_create(NULL, box, NULL, &surface), YW_OK);
  static const float from[7] = {0, 0, 0, 0, 1, 1, 0}, to[7] = {0, 0, 0, 1, 1, 1, 0};
  static const uint64_t places[7] = {1, 1, 1, 2, 3, 3, 4};
  for (int i = 0; i < 7; ++i) {
    yw_obstacle obstacle = {.shape = box};
    obstacle.begin = obstacle.end = YW_TRANSFORM_IDENTITY;
    obstacle.begin.position.x = from[i];
    obstacle.end.position.x = to[i];
    yw_obstacle_surface_place(surface, &obstacle, 0.01f);
    assert_int_equal(surface->places, places[i]);
    for (int32_t v = 0; v < surface->particles.count; ++v) {
      assert_near(surface->particles.pos[v].x - surface->begin[v].x, to[i] - from[i], 1e-6);
      assert_near(surface->particles.pos[v].x, surface->rest[v].x + to[i], 1e-6);
    }
  }
  yw_obstacle_surface_destroy(NULL, surface);
  yw_shape_release(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(planes_have_no_surface),
                                     cmocka_unit_test(surfaces_are_placed_when_they_move),
                                     cmocka_unit_test(rods_meet_thin_bars),
                                     cmocka_unit_test(needles_do_not_pierce),
                                     cmocka_unit_test(jellies_stay_on_a_grate),
                                     cmocka_unit_test(sheets_hang_over_edges),
                                     cmocka_unit_test(rigid_faces_meet_edges),
                                     cmocka_unit_test(piles_give_way_to_a_plate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
