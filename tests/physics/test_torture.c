// SPDX-License-Identifier: MIT
// Torture: small bodies of every method, alone and in pairs, with parameters over their whole
// ranges (E 1e2 to 1e9 Pa, density 1 to 2e4 kg/m^3, Poisson's ratio 0 to 0.49, steps of 1e-4 to 0.1
// s, mass ratios up to 1e4), through what no body should have to bear. The law: no step fails or
// takes longer than STEP_SECONDS of processor time, everything stays finite, no body diverges, and
// once nothing from outside does work, energy does not grow by more than ENERGY_SHARE.
// YW_TEST_SEEDS="first count" tries every ordeal with these seeds (make soak) and prints a table;
// YW_TEST_ONLY="thrown fem sheet" tries one of them.
#include <time.h>

#include "support/scene_text.h"
#include "support/world_fixture.h"
#include "yawara/contact.h"

// For bodies of at most some hundred particles. The thread sanitizer takes ten times as long.
#define STEP_SECONDS 2.0
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#undef STEP_SECONDS
#define STEP_SECONDS 20.0
#endif
#endif
#define ENERGY_SHARE 0.1
#define SIZE 0.4f  // m, of every body

typedef enum method { MATCH, FRAMES, FEM, PLASTIC, RIGID, SHEET, ROD, NUM_METHODS } method;
static const char* const method_names[] = {"match", "frames", "fem", "plastic",
                                           "rigid", "sheet",  "rod"};

// The first ones are for a body alone, the others for two.
typedef enum ordeal {
  SCRAMBLED,   // particles anywhere, with any velocity
  DROPPED,     // reaches the floor as after 100 m
  PRESSED,     // to 5 % of the height, and let go
  PULLED,      // to ten times the length, and let go
  SPUN,        // at 100 rad/s
  BURIED,      // made inside an obstacle
  TELEPORTED,  // obstacles appear within it
  THROWN,      // at 44 m/s at the other
  NESTED,      // made inside the other
  STACKED,     // lies on the other, up to 1e4 times as heavy
  NUM_ORDEALS,
  FIRST_OF_PAIRS = THROWN
} ordeal;
static const char* const ordeal_names[] = {"scrambled", "dropped", "pressed",    "pulled",
                                           "spun",      "buried",  "teleported", "thrown",
                                           "nested",    "stacked"};

typedef struct trial {
  test_random random;
  ordeal kind;
  method methods[2];
  int num_bodies;
  float dt;
  int32_t substeps, steps, release;  // the outside works until step `release`
  char text[4000];
  yw_world* world;
  yw_obstacle_id tool;
  yw_pin_id pins[2];
  bool has_tool, has_pins;
  char fault[300];  // what went wrong, or ""
} trial;

static double decades(trial* t, double low, double high) {
  return pow(10.0, test_random_in(&t->random, low, high));
}

static int pick(trial* t, int count) {
  return (int)(test_random_u32(&t->random) % (uint32_t)count);
}

// Scenes ------------------------------------------------------------------------------------------

static int say_method(trial* t, method m, char* out, size_t room) {
  static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic"};
  static const char* const flows[] = {"elastic", "box", "von_mises"};
  double modulus = decades(t, 2, 9), ratio = test_random_in(&t->random, 0, 0.49);
  const char* solver = solvers[pick(t, 4)];
  const char* flow = flows[pick(t, 3)];
  double stiffness = decades(t, 0, 6);
  const char* lattice = "\"mesh\": {\"lattice\": {\"size\": 0.4, \"cells\": 2}}";
  switch (m) {
    case MATCH:
      return snprintf(out, room, "%s, \"match\": {\"stiffness\": %.4g}", lattice, stiffness);
    case FRAMES:
      return snprintf(out, room,
                      "%s, \"frames\": {\"youngs_modulus\": %.4g, \"poissons_ratio\": %.3f, "
                      "\"solver\": \"%s\"}",
                      lattice, modulus, ratio, solver);
    case FEM:
      return snprintf(out, room,
                      "%s, \"fem\": {\"max_level\": %d, \"youngs_modulus\": %.4g, "
                      "\"poissons_ratio\": %.3f}",
                      lattice, t->kind != SPUN, modulus, ratio);
    case PLASTIC:
      return snprintf(out, room,
                      "\"shape\": {\"box\": {\"size\": 0.4}}, \"plastic\": {\"spacing\": 0.1, "
                      "\"youngs_modulus\": %.4g, \"poissons_ratio\": %.3f, \"flow\": \"%s\"}",
                      modulus, ratio, flow);
    case RIGID:
      return snprintf(out, room,
                      "\"shape\": {\"box\": {\"size\": 0.4}}, \"rigid\": {\"size\": 0.1}");
    case SHEET:
      return snprintf(
          out, room,
          "\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 4, "
          "\"along\": 4}, \"thickness\": 0.02}, \"slender\": {\"youngs_modulus\": %.4g, "
          "\"poissons_ratio\": %.3f, \"solver\": \"%s\"}",
          modulus, ratio, solver);
    default:
      return snprintf(
          out, room,
          "\"rod\": {\"line\": {\"from\": [-0.2, 0, 0], \"to\": [0.2, 0, 0], \"count\": "
          "9}, \"radius\": 0.03}, \"slender\": {\"youngs_modulus\": %.4g, "
          "\"poissons_ratio\": %.3f, \"solver\": \"%s\"}",
          modulus, ratio, solver);
  }
}

// The ratio of densities is up to 1e4.
static void say_scene(trial* t) {
  double densities[2];
  densities[0] = decades(t, 0, 4.3);
  densities[1] = decades(t, 0, 4.3);
  if (t->kind == STACKED && densities[0] > densities[1]) {
    double lighter = densities[1];
    densities[1] = densities[0];
    densities[0] = lighter;
  }
  size_t room = sizeof t->text;
  int n = snprintf(
      t->text, room, "{%s\"bodies\": [",
      t->kind == SPUN || t->kind == SCRAMBLED ? "\"gravity\": [0, 0, 0], " : "\"floor\": {}, ");
  for (int i = 0; i < t->num_bodies; ++i) {
    n += snprintf(t->text + n, room - (size_t)n, "%s{", i ? ", " : "");
    n += say_method(t, t->methods[i], t->text + n, room - (size_t)n);
    double y = 0.21, speed = 0, spin = 0;
    if (t->kind == DROPPED) speed = -44.3;
    if (t->kind == SPUN) spin = 100;
    if (i == 1) {
      y = t->kind == NESTED ? 0.25 : 0.63;
      if (t->kind == THROWN) speed = -44.3;
    }
    n += snprintf(t->text + n, room - (size_t)n,
                  ", \"density\": %.4g, \"position\": [%g, %g, 0.01], \"velocity\": [0, %g, 0], "
                  "\"angular_velocity\": [0, %g, %g]}",
                  densities[i], 0.03 * i, y, speed, spin, 0.5 * spin);
  }
  snprintf(t->text + n, room - (size_t)n, "]}");
}

// Steps of 1e-4 to 0.1 s, of 1 to 4 substeps, for half a second where that takes few steps.
static void begin_trial(trial* t, uint64_t seed, ordeal kind, method first, method second,
                        bool full) {
  *t = (trial){.random = {seed * 0x9e3779b97f4a7c15ull + (uint64_t)kind * 1009 +
                          (uint64_t)first * 101 + (uint64_t)second * 7 + 1},
               .kind = kind,
               .methods = {first, second},
               .num_bodies = kind >= FIRST_OF_PAIRS ? 2 : 1};
  for (int i = 0; i < 8; ++i) test_random_u32(&t->random);
  t->dt = (float)decades(t, -4, -1);
  t->substeps = 1 + pick(t, 4);
  t->steps = full ? (int32_t)fmin(fmax(0.5 / (double)t->dt, 24), 60) : 12;
  bool works =
      kind == PRESSED || kind == PULLED || kind == TELEPORTED || kind == BURIED || kind == NESTED;
  t->release = works ? t->steps / 2 : 0;
  say_scene(t);
}

static bool build_trial(trial* t) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  bool made = read_scene_text(t->text, "torture.json", &scene, NULL, &error) >= 0 &&
              yw_scene_build(scene, 1, YW_SIMD_AUTO, &t->world, &error) >= 0;
  yw_scene_destroy(scene);
  if (!made) snprintf(t->fault, sizeof t->fault, "refused: %.250s", error.message);
  return made;
}

// Ordeals -----------------------------------------------------------------------------------------

static void add_tool(trial* t, yw_shape* shape, yw_vec3 at) {
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = shape;
  def.transform.position = at;
  assert_int_equal(yw_obstacle_create(t->world, &def, &t->tool, NULL), YW_OK);
  yw_shape_release(shape);
  t->has_tool = true;
}

static void pin_side(trial* t, int side) {
  int32_t count, vertices[64];
  yw_body_id body = yw_world_body(t->world, 0);
  const yw_vec3* x = yw_body_positions(t->world, body, &count);
  float end = 0;
  for (int32_t i = 0; i < count; ++i) end = side ? fmaxf(end, x[i].x) : fminf(end, x[i].x);
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.vertices = vertices;
  for (int32_t i = 0; i < count && def.num_vertices < 64; ++i) {
    if (fabsf(x[i].x - end) < 0.01f) vertices[def.num_vertices++] = i;
  }
  assert_int_equal(yw_pin_create(t->world, &def, &t->pins[side], NULL), YW_OK);
}

static void scramble(trial* t) {
  int32_t count;
  yw_body_id body = yw_world_body(t->world, 0);
  yw_body_positions(t->world, body, &count);
  yw_vec3* x = malloc(2 * sizeof *x * (size_t)count);
  for (int32_t i = 0; i < 2 * count; ++i) {
    float* c = &x[i].x;
    for (int k = 0; k < 3; ++k) {
      c[k] = (float)test_random_in(&t->random, -1, 1) * (i < count ? SIZE : 10.0f);
    }
  }
  assert_int_equal(yw_body_set_state(t->world, body, x, x + count), YW_OK);
  free(x);
}

static void prepare(trial* t) {
  yw_shape* shape = NULL;
  if (t->kind == SCRAMBLED) scramble(t);
  if (t->kind == PRESSED) {
    assert_int_equal(yw_shape_box(NULL, (yw_vec3){1, 0.1f, 1}, &shape), YW_OK);
    add_tool(t, shape, (yw_vec3){0, 0.6f, 0});
  }
  if (t->kind == BURIED || t->kind == TELEPORTED) {
    assert_int_equal(yw_shape_sphere(NULL, 0.15f, &shape), YW_OK);
    add_tool(t, shape, (yw_vec3){0.02f, t->kind == BURIED ? 0.2f : 5, 0});
  }
  if (t->kind == PULLED) {
    for (int side = 0; side < 2; ++side) pin_side(t, side);
    t->has_pins = true;
  }
}

// What the outside does before a step.
static void work(trial* t, int32_t step) {
  const yw_quat upright = {0, 0, 0, 1};
  float share = fminf(1.0f, (float)(step + 1) / (0.8f * (float)t->release));
  if (t->has_tool && t->kind == PRESSED) {
    float pressed = t->methods[0] == ROD ? 0.03f : t->methods[0] == SHEET ? 0.01f : 0.05f * SIZE;
    yw_vec3 at = {0, 0.6f - share * (0.6f - 0.1f - pressed), 0};
    assert_int_equal(yw_obstacle_move(t->world, t->tool, at, upright), YW_OK);
  }
  if (t->has_tool && t->kind == TELEPORTED && step % 3 == 0) {
    yw_vec3 at;
    at.x = (float)test_random_in(&t->random, -0.2, 0.2);
    at.y = (float)test_random_in(&t->random, 0, 0.4);
    at.z = (float)test_random_in(&t->random, -0.2, 0.2);
    assert_int_equal(yw_obstacle_place(t->world, t->tool, at, upright), YW_OK);
  }
  for (int side = 0; t->has_pins && side < 2; ++side) {
    yw_vec3 offset = {share * (side ? 4.5f : -4.5f) * SIZE, 0, 0};
    assert_int_equal(yw_pin_move(t->world, t->pins[side], offset, upright), YW_OK);
  }
}

static void let_go(trial* t) {
  if (t->has_tool) assert_int_equal(yw_obstacle_destroy(t->world, t->tool), YW_OK);
  for (int side = 0; t->has_pins && side < 2; ++side) yw_pin_destroy(t->world, t->pins[side]);
  t->has_tool = t->has_pins = false;
}

// The law -----------------------------------------------------------------------------------------

// In joules. Contact moves particles after a method has solved for them, which strains stiff bodies
// until their next solve: so what moves and is lifted is compared with all there was.
typedef struct energies {
  double motion;  // kinetic and of height
  double total;
  double weight;  // to lift all bodies by their size
} energies;

static energies measure(const trial* t) {
  energies e = {0};
  for (int i = 0; i < t->num_bodies; ++i) {
    yw_body_id id = yw_world_body(t->world, i);
    yw_body_energy own;
    yw_body_sums sums;
    yw_body_energy_of(t->world, id, &own);
    yw_body_sums_of(t->world, id, &sums);
    e.motion += own.kinetic + own.gravitational;
    e.total += own.kinetic + own.gravitational + (isnan(own.elastic) ? 0 : own.elastic);
    e.weight += sums.mass * 9.81 * (double)SIZE;
  }
  return e;
}

static bool is_finite(const trial* t) {
  for (int i = 0; i < t->num_bodies; ++i) {
    int32_t count;
    const yw_vec3* x = yw_body_positions(t->world, yw_world_body(t->world, i), &count);
    const yw_vec3* v = yw_body_velocities(t->world, yw_world_body(t->world, i), &count);
    for (int32_t k = 0; k < count; ++k) {
      if (!isfinite(x[k].x + x[k].y + x[k].z + v[k].x + v[k].y + v[k].z)) return false;
    }
  }
  return true;
}

// One step; false with a fault if the law is broken.
static bool take_step(trial* t, int32_t step) {
  yw_step_report report;
  clock_t start = clock();
  yw_status status = yw_world_step(t->world, t->dt, t->substeps, &report);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  if (status < 0) {
    snprintf(t->fault, sizeof t->fault, "step %d gives status %d", (int)step, (int)status);
  } else if (!is_finite(t)) {
    snprintf(t->fault, sizeof t->fault, "not finite after step %d", (int)step);
  } else if (report.diverged_bodies > 0) {
    snprintf(t->fault, sizeof t->fault, "a body diverges in step %d", (int)step);
  } else if (seconds > STEP_SECONDS) {
    snprintf(t->fault, sizeof t->fault, "step %d takes %.1f s", (int)step, seconds);
  }
  return !t->fault[0];
}

// Bodies that are moved out of each other may be lifted by their size.
static bool overlaps(const trial* t) { return t->kind == BURIED || t->kind == NESTED; }

// Position-based methods go back to their shape within steps, however short: how fast that is says
// the step and not an energy.
static bool springs_back(const trial* t) {
  bool deformed = t->kind == SCRAMBLED || t->kind == PRESSED || t->kind == PULLED;
  return deformed &&
         (t->methods[0] == MATCH || strstr(t->text, "extended") || strstr(t->text, "classic"));
}

// Runs a trial; true if the law holds.
static bool bear(trial* t) {
  prepare(t);
  energies first = measure(t);
  for (int32_t step = 0; step < t->steps; ++step) {
    if (step < t->release) work(t, step);
    if (step == t->release && step > 0) {
      let_go(t);
      first = measure(t);
    }
    if (!take_step(t, step)) return false;
    double motion = measure(t).motion;
    double most =
        (1 + ENERGY_SHARE) * first.total + (overlaps(t) ? 1 : ENERGY_SHARE) * first.weight;
    if (step >= t->release && !springs_back(t) && !(motion <= most)) {
      snprintf(t->fault, sizeof t->fault, "step %d: %.4g J of motion, %.4g J in all at step %d",
               (int)step, motion, first.total, (int)t->release);
      return false;
    }
  }
  return true;
}

typedef struct tally {
  int32_t trials, broken;
} tally;

static void try_trial(uint64_t seed, ordeal kind, method first, method second, bool full,
                      tally* sum) {
  static trial t;
  const char* only = getenv("YW_TEST_ONLY");
  char name[60];
  snprintf(name, sizeof name, "%s %s %s", ordeal_names[kind], method_names[first],
           kind < FIRST_OF_PAIRS ? "alone" : method_names[second]);
  if (only && strcmp(only, name) != 0) return;
  begin_trial(&t, seed, kind, first, second, full);
  ++sum->trials;
  bool holds = build_trial(&t) && bear(&t);
  yw_world_destroy(t.world);
  if (holds) return;
  ++sum->broken;
  print_message("seed %llu, %s, %s%s%s, %g s in %d: %s\n    %s\n", (unsigned long long)seed,
                ordeal_names[kind], method_names[first], t.num_bodies > 1 ? " and " : "",
                t.num_bodies > 1 ? method_names[second] : "", (double)t.dt, (int)t.substeps,
                t.fault, t.text);
}

// A rigid body has no shape to lose.
static bool applies(ordeal kind, method m) {
  return !(m == RIGID && (kind == SCRAMBLED || kind == PULLED || kind == PRESSED));
}

// Every method alone, and with all others (`full`) or one of them.
static void try_seed(uint64_t seed, bool full, tally* sum) {
  for (int first = 0; first < NUM_METHODS; ++first) {
    for (int kind = 0; kind < FIRST_OF_PAIRS; ++kind) {
      if (applies(kind, first)) try_trial(seed, kind, first, first, full, sum);
    }
    // Pairs take longest.
    int others = full ? NUM_METHODS : getenv("YW_TEST_FAST") ? 0 : 1;
    for (int k = 0; k < others; ++k) {
      int second = (first + k + (int)seed) % NUM_METHODS;
      for (int kind = FIRST_OF_PAIRS; kind < NUM_ORDEALS; ++kind) {
        try_trial(seed, kind, first, second, full, sum);
      }
    }
  }
}

static void bodies_bear_what_they_are_put_through(void** state) {
  (void)state;
  unsigned long long first = 1;
  int count = 1;
  const char* given = getenv("YW_TEST_SEEDS");
  if (given && sscanf(given, "%llu %d", &first, &count) != 2) fail_msg("YW_TEST_SEEDS=%s", given);
  tally sum = {0};
  for (int i = 0; i < count; ++i) try_seed(first + (uint64_t)i, given != NULL, &sum);
  print_message("%d trials, %d break the law\n", (int)sum.trials, (int)sum.broken);
  assert_int_equal(sum.broken, 0);
}

// Light stiff fem and frames under or against what is up to 3,000 times as heavy, and fem under or
// against what is not, in long steps: they gained energy until contact was solved after every inner
// step (docs/reliability.md).
static void light_stiff_bodies_bear_heavy_ones(void** state) {
  (void)state;
  static const struct {
    uint64_t seed;
    ordeal kind;
    method first, second;
  } cases[] = {{2, THROWN, FRAMES, FEM},
               {4, THROWN, FEM, FRAMES},
               {4, STACKED, FEM, ROD},
               {8, THROWN, FEM, FRAMES},
               {1, STACKED, MATCH, FEM}};
  static trial t;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    begin_trial(&t, cases[i].seed, cases[i].kind, cases[i].first, cases[i].second, true);
    if (!build_trial(&t) || !bear(&t)) fail_msg("%s\n%s", t.fault, t.text);
    yw_world_destroy(t.world);
  }
}

// `yawara run` warns of them, and with --strict refuses.
static void bodies_made_inside_each_other_are_told(void** state) {
  (void)state;
  static trial t;
  for (int first = 0; first < NUM_METHODS; ++first) {
    for (int second = 0; second < NUM_METHODS; ++second) {
      yw_body_id pair[2];
      if (first >= SHEET && second >= SHEET) continue;  // thin: 4 cm above each other
      begin_trial(&t, 1, NESTED, first, second, true);
      if (!build_trial(&t)) fail_msg("%s\n%s", t.fault, t.text);
      if (yw_world_crossings(t.world, &pair, 1) != 1) {
        fail_msg("%s inside %s is not told", method_names[second], method_names[first]);
      }
      assert_true(pair[0].index1 != pair[1].index1);
      yw_world_destroy(t.world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_bear_what_they_are_put_through),
                                     cmocka_unit_test(light_stiff_bodies_bear_heavy_ones),
                                     cmocka_unit_test(bodies_made_inside_each_other_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
