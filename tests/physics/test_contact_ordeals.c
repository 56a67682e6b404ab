// SPDX-License-Identifier: MIT
// What contact has to hold: a shaken bin of bodies of all methods, a knot that is pulled, sheets on
// sheets, a sheet drawn through a ring, a pinned sheet that comes up under a pile, a net that
// catches balls, a twisted cloth, a jelly pressed through a grate, and bodies of all pairs of
// methods that meet at 50 m/s. The law: in no frame does anything cross (support/census.h), nothing
// diverges, and nothing gets where it must not. Short here; YW_TEST_ORDEALS="NAME full", or "NAME
// SIZE FRAMES" (scripts/soak.py contact), runs one of them and prints what came of it.
#include <time.h>

#include "support/census.h"
#include "support/knot.h"
#include "support/scene_text.h"
#include "support/scene_writer.h"
#include "yawara/force.h"

typedef enum kind { MATCH, FRAMES, FEM, PLASTIC, RIGID, ROD, SHEET, NUM_KINDS } kind;
static const char* const kind_names[] = {"match", "frames", "fem",  "plastic",
                                         "rigid", "rod",    "sheet"};

typedef struct ordeal ordeal;

// Of the thickness of two bodies: what contact guards is 0.9 of it.
#define MOST_OVERLAP 0.1001

/// What came of one world.
typedef struct outcome {
  census most;     // of any frame
  int bad_frames;  // with something that crosses
  int diverged;
  const char* lost;  // what got where it must not; NULL: nothing
  double seconds;    // of processor time
} outcome;

struct ordeal {
  const char* name;
  const char* unit;  // of the size
  int size, frames;  // short
  int full_size, full_frames;
  float step;  // s, per frame
  int substeps;
  int (*count)(int size);  // of worlds
  void (*write)(scene_writer* w, int size, int which);
  void (*push)(yw_world* world, int frame, int frames);    // before a frame; may be NULL
  const char* (*judge)(const yw_world* world, int which);  // after a frame; may be NULL
};

static int one(int size) {
  (void)size;
  return 1;
}

static double mean_height(const yw_world* world, int32_t body, double center[3]) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, body), &sums), YW_OK);
  for (int k = 0; k < 3; ++k) center[k] = sums.center[k];
  return sums.center[1];
}

// A body of about `size` in each direction without its placing; the brace stays open.
static void say_box(scene_writer* w, kind k, double size, int cells) {
  say(w, "{\"self_contact\": %s, ", k == PLASTIC ? "false" : "true");
  switch (k) {
    case PLASTIC:
      say(w,
          "\"shape\": {\"box\": {\"size\": %g}}, \"plastic\": {\"spacing\": %g, "
          "\"youngs_modulus\": 1e5, \"yield_stress\": 1e4}",
          size, 0.25 * size);
      break;
    case RIGID:
      say(w, "\"shape\": {\"box\": {\"size\": %g}}, \"rigid\": {\"size\": %g}", size, size / cells);
      break;
    case ROD:
      say(w,
          "\"rod\": {\"line\": {\"from\": [0, 0, %g], \"to\": [0, 0, %g], \"count\": %d}, "
          "\"radius\": %g}, \"slender\": {\"youngs_modulus\": 1e6}",
          -0.5 * size, 0.5 * size, 2 * cells + 1, 0.08 * size);
      break;
    case SHEET:
      say(w,
          "\"sheet\": {\"rectangle\": {\"width\": %g, \"depth\": %g, \"across\": %d, "
          "\"along\": %d}, \"thickness\": %g}, \"slender\": {\"youngs_modulus\": 1e6}",
          size, size, 2 * cells, 2 * cells, 0.03 * size);
      break;
    default:
      say(w, "\"mesh\": {\"lattice\": {\"size\": %g, \"cells\": %d}}, %s", size, cells,
          k == MATCH    ? "\"match\": {}"
          : k == FRAMES ? "\"frames\": {\"youngs_modulus\": 1e5}"
                        : "\"fem\": {\"youngs_modulus\": 1e5, \"max_level\": 0}");
  }
}

static void say_wall(scene_writer* w, const double size[3], const double at[3], const char* path) {
  say(w, "{\"shape\": {\"box\": {\"size\": [%g, %g, %g]}}, \"position\": [%g, %g, %g]%s}", size[0],
      size[1], size[2], at[0], at[1], at[2], path);
}

// Shaken bin ------------------------------------------------------------------------------------

#define BIN_BODY 0.2
#define BIN_PITCH 0.34
#define SHAKEN                                                                                   \
  ", \"path\": {\"loop\": true, \"smooth\": true, \"keys\": [{\"time\": 0}, {\"time\": 0.125, "  \
  "\"offset\": [0.05, 0.03, 0]}, {\"time\": 0.25, \"offset\": [0, 0, 0.02]}, {\"time\": 0.375, " \
  "\"offset\": [-0.05, 0.03, 0]}, {\"time\": 0.5}]}"

static int bin_side(int bodies) {
  int side = 1;
  while (side * side * side < bodies) ++side;
  return side;
}

static void write_bin(scene_writer* w, int size, int which) {
  (void)which;
  int side = bin_side(size);
  double half = 0.5 * BIN_PITCH * side, high = 2.0 * BIN_PITCH * side;
  test_random random = {7};
  say(w, "{\"obstacles\": [");
  for (int wall = 0; wall < 5; ++wall) {
    double sign = wall & 1 ? 1 : -1, off = sign * (half + 0.2);
    const double flat[3] = {4 * half, 0.4, 4 * half}, below[3] = {0, -0.2, 0};
    const double x_size[3] = {0.4, high, 4 * half}, x_at[3] = {off, 0.5 * high - 0.1, 0};
    const double z_size[3] = {4 * half, high, 0.4}, z_at[3] = {0, 0.5 * high - 0.1, off};
    say(w, wall ? ", " : "");
    if (wall == 4)
      say_wall(w, flat, below, SHAKEN);
    else
      say_wall(w, wall < 2 ? x_size : z_size, wall < 2 ? x_at : z_at, SHAKEN);
  }
  say(w, "], \"bodies\": [");
  for (int i = 0; i < size; ++i) {
    const int at[3] = {i % side, i / (side * side), i / side % side};
    say(w, i ? ", " : "");
    say_box(w, (kind)(i % NUM_KINDS), BIN_BODY, 2);
    say(w,
        ", \"position\": [%.4f, %.4f, %.4f], \"rotation\": {\"axis\": \"%c\", \"degrees\": %.1f}}",
        BIN_PITCH * (at[0] - 0.5 * (side - 1)), 0.2 + BIN_PITCH * at[1],
        BIN_PITCH * (at[2] - 0.5 * (side - 1)), "xyz"[i % 3], test_random_in(&random, -25, 25));
  }
  say(w, "]}");
}

static const char* judge_bin(const yw_world* world, int which) {
  (void)which;
  int side = bin_side(yw_world_num_bodies(world));
  double reach = 0.5 * BIN_PITCH * side + 0.06;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    double at[3];
    double height = mean_height(world, i, at);
    if (!(fabs(at[0]) < reach && fabs(at[2]) < reach && height > -0.04))
      return "a body left the bin";
  }
  return NULL;
}

// Knot --------------------------------------------------------------------------------------------

#define KNOT_RADIUS 0.01
#define KNOT_SPACING 0.0125
#define KNOT_FORCE 8.0f  // N, until it is tight; then three times that

// A long trefoil (Shastri's polynomials) with straight tails, `size` particles in all.
static yw_vec3 knot_at(double t) {
  return (yw_vec3){(float)(0.1 * (t * t * t - 3 * t)), (float)(0.06 * (t * t * t * t - 4 * t * t)),
                   (float)(0.02 * (t * t * t * t * t - 10 * t))};
}

static void write_knot(scene_writer* w, int size, int which) {
  (void)which;
  const double end = 2.1, fine = 1e-4;
  yw_vec3* x = malloc(sizeof *x * (size_t)size);
  assert_non_null(x);
  int count = 0;
  yw_vec3 last = knot_at(-end);
  x[count++] = last;
  for (double t = -end; t < end && count < size; t += fine) {
    yw_vec3 p = knot_at(t);
    if (yw_distance(p, last) < (float)KNOT_SPACING) continue;
    x[count++] = last = p;
  }
  int tail = (size - count) / 2;
  say(w,
      "{\"gravity\": [0, 0, 0], \"bodies\": [{\"self_contact\": true, \"friction\": 0.3, "
      "\"slender\": {\"youngs_modulus\": 1e6, \"damping\": 2}, \"rod\": {\"radius\": %g, "
      "\"points\": [",
      KNOT_RADIUS);
  for (int i = -tail; i < count + tail; ++i) {
    int k = i < 0 ? 0 : i < count ? i : count - 1;
    double aside = KNOT_SPACING * (i < 0 ? i : i < count ? 0 : i - count + 1);
    say(w, "%s[%.6f, %.6f, %.6f]", i > -tail ? ", " : "", (double)x[k].x + aside, (double)x[k].y,
        (double)x[k].z);
  }
  say(w, "]}}]}");
  free(x);
}

static void pull_knot(yw_world* world, int frame, int frames) {
  float force = frame < frames / 2 ? KNOT_FORCE : 3.0f * KNOT_FORCE;
  yw_body_id id = yw_world_body(world, 0);
  const int32_t ends[2] = {0, world->bodies.items[0].particles.count - 1};
  const yw_vec3 pulls[2] = {{-force, 0, 0}, {force, 0, 0}};
  assert_int_equal(yw_body_add_vertex_forces(world, id, ends, pulls, 2), YW_OK);
}

static const char* judge_knot(const yw_world* world, int which) {
  (void)which;
  const yw_particles* particles = &world->bodies.items[0].particles;
  yw_vec3* line = malloc(sizeof *line * (size_t)particles->count);
  assert_non_null(line);
  for (int32_t i = 0; i < particles->count; ++i) line[i] = yw_xyz(particles->pos[i]);
  long found = knot_determinant(line, particles->count);
  free(line);
  return found == 3 ? NULL : "the knot is no overhand knot any more";
}

// Sheets on sheets --------------------------------------------------------------------------------

#define SHEET_GAP 0.03

static void write_sheets(scene_writer* w, int size, int which) {
  (void)which;
  const double floor_size[3] = {3, 0.4, 3}, below[3] = {0, -0.2, 0};
  test_random random = {3};
  say(w, "{\"obstacles\": [");
  say_wall(w, floor_size, below, "");
  say(w, "], \"bodies\": [");
  for (int i = 0; i < size; ++i) {
    say(w,
        "%s{\"self_contact\": true, \"slender\": {\"youngs_modulus\": 1e6}, \"density\": 300, "
        "\"sheet\": {\"rectangle\": {\"width\": 0.6, \"depth\": 0.6, \"across\": 12, \"along\": "
        "12}, "
        "\"thickness\": 0.004}, \"position\": [%.4f, %.4f, %.4f], \"rotation\": [{\"axis\": \"x\", "
        "\"degrees\": %.2f}, {\"axis\": \"y\", \"degrees\": %.2f}]}",
        i ? ", " : "", test_random_in(&random, -0.02, 0.02), 0.05 + SHEET_GAP * i,
        test_random_in(&random, -0.02, 0.02), test_random_in(&random, -1.5, 1.5),
        test_random_in(&random, -40, 40));
  }
  say(w, "]}");
}

static const char* judge_sheets(const yw_world* world, int which) {
  (void)which;
  double below = -1.0, at[3];
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    double height = mean_height(world, i, at);
    if (!(height > below)) return "a sheet is below one that it fell on";
    below = height;
  }
  return NULL;
}

// Sheet through a ring ----------------------------------------------------------------------------

static void write_ring(scene_writer* w, int size, int which) {
  (void)which;
  say(w,
      "{\"obstacles\": [{\"shape\": {\"torus\": {\"ring_radius\": 0.12, \"tube_radius\": 0.025}}, "
      "\"friction\": 0.2}], \"bodies\": [{\"self_contact\": true, \"slender\": "
      "{\"youngs_modulus\": "
      "3e5, \"damping\": 2}, \"density\": 300, \"sheet\": {\"rectangle\": {\"width\": 0.7, "
      "\"depth\": "
      "0.7, \"across\": %d, \"along\": %d}, \"thickness\": 0.004}, \"position\": [0, 0.06, 0], "
      "\"pins\": [{\"select\": {\"box\": {\"size\": [0.09, 0.1, 0.09], \"center\": [0, 0.06, 0]}}, "
      "\"path\": [{\"time\": 0}, {\"time\": 2, \"offset\": [0, -0.8, 0]}]}]}]}",
      size, size);
}

// Pinned sheet under a pile -----------------------------------------------------------------------

static const char* const press_names[] = {"slow rigid", "slow soft", "fast rigid", "fast soft"};
#define NUM_PRESSES ((int)(sizeof press_names / sizeof *press_names))

static int all_presses(int size) {
  (void)size;
  return NUM_PRESSES;
}

// A sheet that is pinned everywhere comes up under a sheet and two boxes, the upper one heavy.
static void write_press(scene_writer* w, int size, int which) {
  static const char* const boxes[] = {
      "\"rigid\": {\"size\": 0.1}, \"shape\": {\"box\": {\"size\": 0.2}}",
      "\"mesh\": {\"lattice\": {\"size\": 0.2, \"cells\": 2}}, \"frames\": {\"youngs_modulus\": "
      "1e5}"};
  static const double speeds[] = {0.3, 0.6};
  const double widths[2] = {0.6, 0.4}, heights[2] = {0, 0.01};
  double speed = speeds[which / 2];
  say(w, "{\"bodies\": [");
  for (int i = 0; i < 2; ++i) {
    say(w,
        "{\"self_contact\": true, \"sheet\": {\"rectangle\": {\"width\": %g, \"depth\": %g, "
        "\"across\": %d, \"along\": "
        "%d}, "
        "\"thickness\": 0.006}, \"slender\": {\"youngs_modulus\": 1e6}, \"position\": [%g, %g, 0]",
        widths[i], widths[i], size + i, size + i, 0.013 * i, heights[i]);
    if (i == 0) {
      say(w,
          ", \"pins\": [{\"select\": {\"box\": {\"size\": [1, 0.1, 1]}}, \"path\": [{\"time\": "
          "0.05}, "
          "{\"time\": %g, \"offset\": [0, 0.4, 0]}]}]",
          0.05 + 0.4 / speed);
    }
    say(w, "}, ");
  }
  say(w,
      "{%s, \"position\": [0.02, 0.12, 0.01]}, {%s, \"position\": [0, 0.34, 0], \"density\": "
      "8000}]}",
      boxes[which % 2], boxes[1 - which % 2]);
}

// Net ---------------------------------------------------------------------------------------------

// Rods that are joined where they cross, at every other particle.
#define NET_RODS 9
#define NET_PITCH 0.11

static void say_ball(scene_writer* w, int which, const double at[3]) {
  static const char* const balls[] = {
      "\"mesh\": {\"tets\": {\"shape\": \"ball\", \"size\": 0.07}}, \"match\": {}",
      "\"mesh\": {\"tets\": {\"shape\": \"ball\", \"size\": 0.07}}, \"frames\": "
      "{\"youngs_modulus\": 2e5}",
      "\"mesh\": {\"tets\": {\"shape\": \"ball\", \"size\": 0.07}}, \"fem\": {\"youngs_modulus\": "
      "2e5, "
      "\"max_level\": 0}",
      "\"shape\": \"ball\", \"plastic\": {\"spacing\": 0.05, \"youngs_modulus\": 2e5, "
      "\"yield_stress\": "
      "5e4}",
      "\"shape\": \"ball\", \"rigid\": {\"size\": 0.05}",
      "\"sheet\": {\"shape\": \"ball\", \"size\": 0.05, \"thickness\": 0.01}, \"slender\": "
      "{\"youngs_modulus\": 1e6}"};
  int num = (int)(sizeof balls / sizeof *balls);
  say(w, ", {%s, \"self_contact\": %s, \"density\": 300, \"position\": [%g, %g, %g]}",
      balls[which % num], which % num == PLASTIC ? "false" : "true", at[0], at[1], at[2]);
}

static void write_net(scene_writer* w, int size, int which) {
  (void)which;
  double end = 0.5 * NET_PITCH * (NET_RODS + 1);
  say(w, "{\"shapes\": {\"ball\": {\"sphere\": {\"radius\": 0.1}}}, \"bodies\": [");
  for (int i = 0; i < 2 * NET_RODS; ++i) {
    double off = NET_PITCH * (i % NET_RODS - 0.5 * (NET_RODS - 1));
    bool across = i < NET_RODS;
    say(w,
        "%s{\"name\": \"rod%d\", \"rod\": {\"line\": {\"from\": [%g, 0, %g], \"to\": [%g, 0, %g], "
        "\"count\": %d}, "
        "\"radius\": 0.01}, \"slender\": {\"youngs_modulus\": 2e6}, \"self_contact\": true, "
        "\"pins\": "
        "[{\"vertices\": [0, %d]}]}",
        i ? ", " : "", i, across ? -end : off, across ? off : -end, across ? end : off,
        across ? off : end, 2 * NET_RODS + 3, 2 * NET_RODS + 2);
  }
  for (int i = 0; i < size; ++i) {
    const double at[3] = {0.22 * (i % 3 - 1) + 0.013 * (i / 9), 0.2 + 0.25 * (i / 9),
                          0.22 * (i / 3 % 3 - 1) + 0.017 * (i / 9)};
    say_ball(w, i, at);
  }
  say(w, "], \"joints\": [");
  for (int i = 0; i < NET_RODS * NET_RODS; ++i) {
    double x = NET_PITCH * (i % NET_RODS - 0.5 * (NET_RODS - 1));
    double z = NET_PITCH * (i / NET_RODS - 0.5 * (NET_RODS - 1));
    say(w, "%s{\"kind\": \"ball\", \"body\": \"rod%d\", \"to\": \"rod%d\", \"at\": [%g, 0, %g]}",
        i ? ", " : "", i / NET_RODS, NET_RODS + i % NET_RODS, x, z);
  }
  say(w, "]}");
}

static const char* judge_net(const yw_world* world, int which) {
  (void)which;
  for (int32_t i = 2 * NET_RODS; i < yw_world_num_bodies(world); ++i) {
    double at[3];
    if (!(mean_height(world, i, at) > -0.6)) return "a ball fell through";
  }
  return NULL;
}

// Twisted cloth -----------------------------------------------------------------------------------

// In ten seconds.
#define TWIST_TURNS 5

static void write_twist(scene_writer* w, int size, int which) {
  (void)which;
  say(w,
      "{\"bodies\": [{\"self_contact\": true, \"slender\": {\"youngs_modulus\": 3e5, \"damping\": "
      "4}, \"density\": 300, \"friction\": 0.2, \"sheet\": {\"rectangle\": {\"width\": 0.24, "
      "\"depth\": "
      "0.96, \"across\": %d, \"along\": %d}, \"thickness\": 0.003}, \"pins\": [{\"select\": "
      "{\"box\": "
      "{\"size\": [1, 1, 0.02], \"center\": [0, 0, -0.48]}}}, {\"select\": {\"box\": {\"size\": "
      "[1, "
      "1, 0.02], \"center\": [0, 0, 0.48]}}, \"path\": [",
      size, 4 * size);
  int keys = 3 * TWIST_TURNS;
  for (int i = 0; i <= keys; ++i) {
    say(w,
        "%s{\"time\": %g, \"offset\": [0, 0, %g], \"rotation\": {\"axis\": \"z\", \"degrees\": "
        "%d}}",
        i ? ", " : "", 10.0 * i / keys, -0.3 * i / keys, 120 * i);
  }
  say(w, "]}]}]}");
}

// Jelly through a grate ---------------------------------------------------------------------------

static int three(int size) {
  (void)size;
  return 3;
}

static void write_grate(scene_writer* w, int size, int which) {
  static const char* const methods[] = {"\"match\": {\"stiffness\": 0.05}",
                                        "\"frames\": {\"youngs_modulus\": 1e4}",
                                        "\"fem\": {\"max_level\": 0, \"youngs_modulus\": 1e4}"};
  say(w, "{\"obstacles\": [");
  for (int i = 0; i < 4; ++i) {
    const double bar[3] = {0.02, 0.04, 0.5}, at[3] = {0.1 * (i - 1.5), 0, 0};
    say_wall(w, bar, at, ", \"friction\": 0.2");
    say(w, ", ");
  }
  for (int i = 0; i < 4; ++i) {
    double off = (i & 1 ? 1 : -1) * 0.27;
    const double wall[3] = {i < 2 ? 0.2 : 0.74, 0.9, i < 2 ? 0.74 : 0.2};
    const double at[3] = {i < 2 ? off : 0, 0.43, i < 2 ? 0 : off};
    say_wall(w, wall, at, ", \"friction\": 0.2");
    say(w, ", ");
  }
  const double piston[3] = {0.32, 0.1, 0.32}, top[3] = {0, 0.3, 0};
  say_wall(w, piston, top,
           ", \"path\": [{\"time\": 0.2}, {\"time\": 1.7, \"offset\": [0, -0.17, 0]}]");
  say(w,
      "], \"bodies\": [{%s, \"self_contact\": true, \"friction\": 0.2, \"mesh\": {\"lattice\": "
      "{\"size\": [0.3, 0.2, 0.3], \"cells\": [%d, %d, %d]}}, \"position\": [0.003, 0.13, "
      "0.002]}]}",
      methods[which], size, 2 * size / 3, size);
}

// All pairs at 50 m/s -----------------------------------------------------------------------------

#define BOUNCE_TIME 0.14  // s
#define PAIR_SPEED 50.0   // m/s, of each
#define PAIR_SIZE 0.4     // m
#define NUM_PAIRS (NUM_KINDS * (NUM_KINDS + 1) / 2)

// The first ones have all kinds among them.
static void kinds_of_pair(int which, kind out[2]) {
  int at = which * 5 % NUM_PAIRS, first = 0;
  while (at >= NUM_KINDS - first) at -= NUM_KINDS - first++;
  out[0] = (kind)first;
  out[1] = (kind)(first + at);
}

static int as_many(int size) { return size < NUM_PAIRS ? size : NUM_PAIRS; }

static void write_pair(scene_writer* w, int size, int which) {
  (void)size;
  kind kinds[2];
  kinds_of_pair(which, kinds);
  say(w, "{\"gravity\": [0, 0, 0], \"bodies\": [");
  for (int i = 0; i < 2; ++i) {
    double sign = i ? 1 : -1;
    // Sheets face the other body, rods cross each other.
    double degrees = kinds[i] == SHEET ? 90 : i == 1 && kinds[i] == ROD ? 40 : 8 * i;
    say_box(w, kinds[i], PAIR_SIZE, 3);
    say(w,
        ", \"position\": [%g, %g, %g], \"velocity\": [%g, 0, 0], \"rotation\": {\"axis\": \"%c\", "
        "\"degrees\": %g}}%s",
        0.5 * sign, 0.03 * i, 0.02 * i, -PAIR_SPEED * sign, kinds[i] == SHEET ? 'z' : 'x', degrees,
        i ? "]}" : ", ");
  }
}

// Kinetic and elastic energy (where the method knows it), J, and the mass.
static double energy_of(const yw_world* world, double* mass) {
  double energy = 0.0;
  *mass = 0.0;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums sums;
    yw_body_energy e;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &sums), YW_OK);
    assert_int_equal(yw_body_energy_of(world, yw_world_body(world, i), &e), YW_OK);
    energy += e.kinetic + (isfinite(e.elastic) ? e.elastic : 0.0);
    *mass += sums.mass;
  }
  return energy;
}

// Elastic bodies, crushed to pancakes around each other, bounce back to their sides, or part
// sideways, since they do not meet head on to the millimetre. Plastic ones
// come apart, rods and sheets may wrap around what they hit.
static const char* judge_pair(const yw_world* world, int which) {
  kind kinds[2];
  kinds_of_pair(which, kinds);
  double left[3], right[3];
  bool bounces = true;
  double mass, energy = energy_of(world, &mass);
  if (energy > 1.005 * 0.5 * mass * PAIR_SPEED * PAIR_SPEED) return "they gained energy";
  for (int i = 0; i < 2; ++i) bounces = bounces && kinds[i] != PLASTIC && kinds[i] < ROD;
  if (!bounces || yw_world_time(world) < BOUNCE_TIME) return NULL;
  mean_height(world, 0, left);
  mean_height(world, 1, right);
  bool beside = hypot(left[1] - right[1], left[2] - right[2]) > PAIR_SIZE;
  return left[0] < right[0] || beside ? NULL : "they passed each other";
}

// Running -----------------------------------------------------------------------------------------

static const ordeal ordeals[] = {
    {"bin", "bodies", 7, 20, 100, 600, 1 / 60.0f, 4, one, write_bin, NULL, judge_bin},
    {"knot", "particles", 240, 30, 340, 480, 1 / 60.0f, 4, one, write_knot, pull_knot, judge_knot},
    {"sheets", "sheets", 4, 15, 20, 150, 1 / 60.0f, 4, one, write_sheets, NULL, judge_sheets},
    {"ring", "cells across", 10, 30, 28, 135, 1 / 60.0f, 4, one, write_ring, NULL, NULL},
    {"press", "cells across", 5, 12, 12, 60, 1 / 60.0f, 4, all_presses, write_press, NULL, NULL},
    {"net", "balls", 2, 25, 10, 180, 1 / 60.0f, 4, one, write_net, NULL, judge_net},
    {"twist", "cells across", 4, 60, 12, 600, 1 / 60.0f, 4, one, write_twist, NULL, NULL},
    {"grate", "cells across", 4, 30, 12, 110, 1 / 60.0f, 4, three, write_grate, NULL, NULL},
    {"head_on", "pairs", 5, 8, NUM_PAIRS, 36, 1 / 240.0f, 1, as_many, write_pair, NULL, judge_pair},
};
enum { NUM_ORDEALS = sizeof ordeals / sizeof *ordeals };

static void note_frame(const ordeal* o, const yw_world* world, int which, outcome* out) {
  census now = take_census(world);
  out->bad_frames += now.between + now.within + now.obstacles > 0;
  out->most.between = now.between > out->most.between ? now.between : out->most.between;
  out->most.within = now.within > out->most.within ? now.within : out->most.within;
  out->most.obstacles = now.obstacles > out->most.obstacles ? now.obstacles : out->most.obstacles;
  out->most.overlap = fmax(out->most.overlap, now.overlap);
  if (!out->lost && o->judge) out->lost = o->judge(world, which);
}

static outcome run_world(const ordeal* o, int size, int frames, int which) {
  scene_writer w = {0};
  outcome out = {0};
  o->write(&w, size, which);
  yw_world* world = surface_world(w.bytes, 1);
  free(w.bytes);
  for (int frame = 0; frame < frames; ++frame) {
    yw_step_report report = {0};
    if (o->push) o->push(world, frame, frames);
    clock_t start = clock();
    assert_true(yw_world_step(world, o->step, o->substeps, &report) >= 0);
    out.seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    out.diverged += report.diverged_bodies;
    note_frame(o, world, which, &out);
  }
  yw_world_destroy(world);
  return out;
}

static bool holds(const outcome* out) {
  return out->bad_frames == 0 && out->diverged == 0 && !out->lost &&
         out->most.overlap <= MOST_OVERLAP;
}

static void print_outcome(const char* name, const outcome* out, int frames) {
  print_message(
      "%s: %d of %d frames with crossings, at most %d between bodies, %d within, %d with "
      "obstacles; overlap %.0f %%, %d diverged, %.1f s%s%s\n",
      name, out->bad_frames, frames, out->most.between, out->most.within, out->most.obstacles,
      100 * out->most.overlap, out->diverged, out->seconds, out->lost ? "; " : "",
      out->lost ? out->lost : "");
}

// All worlds of an ordeal; true if all of them hold.
static bool run_ordeal(const ordeal* o, int size, int frames, bool tells) {
  bool all = true;
  for (int which = 0; which < o->count(size); ++which) {
    outcome out = run_world(o, size, frames, which);
    char name[80];
    kind kinds[2];
    kinds_of_pair(which, kinds);
    if (o->write == write_pair) {
      snprintf(name, sizeof name, "%s %s %s", o->name, kind_names[kinds[0]], kind_names[kinds[1]]);
    } else if (o->count == three) {
      snprintf(name, sizeof name, "%s %s", o->name, kind_names[which]);
    } else if (o->count == all_presses) {
      snprintf(name, sizeof name, "%s %s", o->name, press_names[which]);
    } else {
      snprintf(name, sizeof name, "%s", o->name);
    }
    if (tells || !holds(&out)) print_outcome(name, &out, frames);
    all = all && holds(&out);
  }
  return all;
}

static const ordeal* find_ordeal(const char* name) {
  for (int i = 0; i < NUM_ORDEALS; ++i) {
    if (strcmp(ordeals[i].name, name) == 0) return &ordeals[i];
  }
  fail_msg("there is no ordeal %s", name);
  return NULL;
}

static void nothing_crosses(void** state) {
  (void)state;
  const char* given = getenv("YW_TEST_ORDEALS");
  char name[32], how[32];
  int size, frames, broken = 0;
  if (given && sscanf(given, "%31s %d %d", name, &size, &frames) == 3) {
    broken += !run_ordeal(find_ordeal(name), size, frames, true);
  } else if (given && sscanf(given, "%31s %31s", name, how) == 2 && strcmp(how, "full") == 0) {
    const ordeal* o = find_ordeal(name);
    broken += !run_ordeal(o, o->full_size, o->full_frames, true);
  } else if (given) {
    fail_msg("YW_TEST_ORDEALS=%s", given);
  }
  for (int i = 0; i < NUM_ORDEALS && !given; ++i) {
    const ordeal* o = &ordeals[i];
    int fewer = getenv("YW_TEST_FAST") ? 2 : 1;
    broken += !run_ordeal(o, o->size, o->frames / fewer, false);
  }
  if (broken > 0) fail_msg("%d of the ordeals do not hold", broken);
}

// The counts above are worth something only if they are not 0 where things do cross.
static void the_census_sees_what_crosses(void** state) {
  (void)state;
  static const kind kinds[][2] = {{MATCH, FEM},  {RIGID, SHEET}, {SHEET, SHEET},
                                  {FRAMES, ROD}, {SHEET, ROD},   {MATCH, PLASTIC}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    scene_writer w = {0};
    say(&w,
        "{\"obstacles\": [{\"shape\": {\"box\": {\"size\": 0.05}}, \"position\": [0, 0.11, 0]}], "
        "\"bodies\": [");
    for (int k = 0; k < 2; ++k) {
      say_box(&w, kinds[i][k], 0.2, 2);
      say(&w,
          ", \"rotation\": {\"axis\": \"x\", \"degrees\": %d}, \"position\": [%g, %g, 0.013]}%s",
          50 * k, 0.017 * k, 0.07 * k, k ? "]}" : ", ");
    }
    yw_world* world = surface_world(w.bytes, 1);
    census found = take_census(world);
    if (found.between == 0 || (kinds[i][0] <= FEM && found.obstacles == 0)) {
      fail_msg("%s in %s: %d between, %d with the obstacle", kind_names[kinds[i][0]],
               kind_names[kinds[i][1]], found.between, found.obstacles);
    }
    yw_world_destroy(world);
    free(w.bytes);
  }
  yw_vec3 line[400], flat[400];
  for (int i = 0; i < 400; ++i) {
    line[i] = flat[i] = knot_at(-2.1 + 4.2 * i / 399);
    flat[i].z = 0.001f * (float)i;
  }
  assert_int_equal(knot_determinant(line, 400), 3);
  assert_int_equal(knot_determinant(flat, 400), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_crosses),
                                     cmocka_unit_test(the_census_sees_what_crosses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
