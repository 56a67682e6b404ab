// SPDX-License-Identifier: MIT
// Friction of bodies of all methods on obstacles and on each other, against theory: blocks stick
// below the friction angle and accelerate with g (sin - mu cos) above it, balls roll with 5/7 g
// sin, and a block that spins on a floor stops when Coulomb says.
#include <math.h>
#include <string.h>

#include "support/crossings.h"

#define GRAVITY 9.81
#define PI 3.14159265358979

typedef struct kind {
  const char* name;
  const char* settings;
} kind;

#define ROD                                                                             \
  "\"rod\": {\"line\": {\"from\": [-0.25, 0, 0], \"to\": [0.25, 0, 0], \"count\": 26}," \
  " \"radius\": 0.02}"
#define PLASTIC_BLOCK "\"shape\": {\"box\": {\"size\": [0.4, 0.2, 0.4]}}"
#define SHEET                                                                                 \
  "\"sheet\": {\"rectangle\": {\"width\": 0.4, \"depth\": 0.4, \"across\": 8, \"along\": 8}," \
  " \"thickness\": 0.01}"

static const kind kinds[] = {
    {"match", "\"match\": {}"},
    {"frames", "\"frames\": {\"youngs_modulus\": 1e6}"},
    {"fem", "\"fem\": {\"youngs_modulus\": 1e6, \"max_level\": 0, \"mass_damping\": 0}"},
    {"plastic", "\"plastic\": {\"material\": \"rubber\", \"spacing\": 0.05}"},
    {"rigid", "\"rigid\": {}"}};
#define NUM_KINDS ((int)(sizeof kinds / sizeof *kinds))

// What else slides: softer, finer, and thin.
static const struct slider {
  kind kind;
  const char* shape;  // NULL: a block
  double height;
} others[] = {{{"fine plastic", "\"plastic\": {\"material\": \"rubber\", \"spacing\": 0.025}"},
               PLASTIC_BLOCK,
               0.1},
              {{"soft frames", "\"frames\": {\"youngs_modulus\": 1e5}"}, NULL, 0.1},
              {{"rod", "\"frames\": {\"material\": \"rubber\"}"}, ROD, 0.02},
              {{"sheet", "\"frames\": {\"material\": \"rubber\"}"}, SHEET, 0.005}};
#define NUM_OTHERS ((int)(sizeof others / sizeof *others))

static yw_body_sums sums_of(const yw_world* world) {
  yw_body_sums sums;
  assert_int_equal(yw_body_sums_of(world, yw_world_body(world, 0), &sums), YW_OK);
  return sums;
}

// A body on a slope that falls towards +x, `height` above it.
static yw_world* on_slope(double angle, const char* shape, double height, double friction,
                          const char* settings) {
  double s = sin(angle * PI / 180), c = cos(angle * PI / 180);
  char text[1500];
  snprintf(text, sizeof text,
           "{\"obstacles\": [{\"shape\": {\"plane\": {\"normal\": [%.9f, %.9f, 0]}},"
           " \"friction\": %g}],"
           " \"bodies\": [{%s, \"position\": [%.9f, %.9f, 0], \"friction\": %g,"
           " \"rotation\": {\"axis\": \"z\", \"degrees\": %.9f}, %s}]}",
           s, c, friction, shape, s * height, c * height, friction, -angle, settings);
  return surface_world(text, 1);
}

static void run(yw_world* world, int frames) {
  for (int i = 0; i < frames; ++i) {
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, NULL) >= 0);
  }
}

static double speed_down(const yw_world* world, double angle) {
  yw_body_sums sums = sums_of(world);
  double s = sin(angle * PI / 180), c = cos(angle * PI / 180);
  return (c * sums.momentum[0] - s * sums.momentum[1]) / sums.mass;
}

static double place_down(const yw_world* world, double angle) {
  yw_body_sums sums = sums_of(world);
  return cos(angle * PI / 180) * sums.center[0] - sin(angle * PI / 180) * sums.center[1];
}

static const char* block_of(const kind* k) {
  return strcmp(k->name, "plastic") == 0
             ? PLASTIC_BLOCK
             : "\"mesh\": {\"lattice\": {\"size\": [0.4, 0.2, 0.4], \"cells\": [4, 2, 4]}}";
}

static yw_world* slider(double angle, double mu, int which, const char* settings) {
  if (which < NUM_KINDS) return on_slope(angle, block_of(&kinds[which]), 0.1, mu, settings);
  const struct slider* other = &others[which - NUM_KINDS];
  const char* shape = other->shape ? other->shape : block_of(&other->kind);
  return on_slope(angle, shape, other->height, mu, settings);
}

static const kind* kind_of(int which) {
  return which < NUM_KINDS ? &kinds[which] : &others[which - NUM_KINDS].kind;
}

static void bodies_accelerate_above_the_angle(void** state) {
  (void)state;
  const double angle = 35, mu = 0.5;
  double theory = GRAVITY * (sin(angle * PI / 180) - mu * cos(angle * PI / 180));
  for (int i = 0; i < NUM_KINDS + NUM_OTHERS; ++i) {
    const kind* k = kind_of(i);
    yw_world* world = slider(angle, mu, i, k->settings);
    run(world, 20);
    double before = speed_down(world, angle);
    run(world, 40);
    double a = (speed_down(world, angle) - before) * 60 / 40;
    printf("  %-11s %.4f m/s^2, theory %.4f\n", k->name, a, theory);
    if (fabs(a - theory) > 0.02 * theory) fail_msg("%s: %g m/s^2", k->name, a);
    yw_world_destroy(world);
  }
}

// Little more than friction holds: particles that stick as long as others do must let go together.
// Within 0.2 % of the friction.
static void thin_bodies_start_to_slide(void** state) {
  (void)state;
  const double mu = 0.5, angles[3] = {27.0, 27.5, 30.0};
  for (int i = 0; i < NUM_OTHERS; ++i) {
    for (int k = 0; k < 3 && others[i].shape; ++k) {
      double s = sin(angles[k] * PI / 180), c = cos(angles[k] * PI / 180);
      double theory = GRAVITY * (s - mu * c);
      yw_world* world = slider(angles[k], mu, NUM_KINDS + i, others[i].kind.settings);
      run(world, 40);
      double before = speed_down(world, angles[k]);
      run(world, 40);
      double a = (speed_down(world, angles[k]) - before) * 60 / 40;
      printf("  %-6s %.1f degrees %.4f m/s^2, theory %.4f\n", others[i].kind.name, angles[k], a,
             theory);
      if (fabs(a - theory) > 0.002 * mu * GRAVITY * c) {
        fail_msg("%s at %g degrees: %g m/s^2", others[i].kind.name, angles[k], a);
      }
      yw_world_destroy(world);
    }
  }
}

// A block on a slab of another body, with gravity at an angle.
static yw_world* block_on_slab(const kind* block, const kind* slab, double degrees, double mu) {
  double angle = degrees * PI / 180;
  char text[1500];
  snprintf(text, sizeof text,
           "{\"gravity\": [%.9f, %.9f, 0],"
           " \"obstacles\": [{\"shape\": {\"plane\": {}}, \"sticky\": true}], \"bodies\": ["
           "{%s, \"friction\": %g, \"position\": [0, 0.302, 0], %s},"
           "{%s, \"friction\": %g, \"position\": [0.6, 0.1, 0], %s}]}",
           GRAVITY * sin(angle), -GRAVITY * cos(angle), block->settings, mu, block_of(block),
           slab->settings, mu,
           strcmp(slab->name, "plastic") == 0
               ? "\"shape\": {\"box\": {\"size\": [2.4, 0.2, 0.6]}}"
               : "\"mesh\": {\"lattice\": {\"size\": [2.4, 0.2, 0.6], \"cells\": [12, 1, 3]}}");
  return surface_world(text, 1);
}

// Kinds of blocks and slabs. The numbers of the rest are in docs/design/contact.md.
enum { MATCH, FRAMES, FEM, PLASTIC, RIGID };
static const int pairs[][2] = {{MATCH, MATCH}, {FRAMES, MATCH}, {RIGID, MATCH},
                               {FEM, MATCH},   {MATCH, FRAMES}, {FRAMES, FRAMES},
                               {MATCH, RIGID}, {FRAMES, RIGID}, {RIGID, RIGID}};
#define NUM_PAIRS ((int)(sizeof pairs / sizeof *pairs))

// Blocks pass edges and vertices within flat faces, which must not catch them.
static void blocks_slide_on_bodies(void** state) {
  (void)state;
  const double angle = 35 * PI / 180, mu = 0.5;
  double theory = GRAVITY * (sin(angle) - mu * cos(angle));
  for (int i = 0; i < NUM_PAIRS; ++i) {
    const kind *block = &kinds[pairs[i][0]], *slab = &kinds[pairs[i][1]];
    yw_world* world = block_on_slab(block, slab, 35, mu);
    run(world, 20);
    double before = speed_down(world, 0);
    run(world, 30);
    double a = (speed_down(world, 0) - before) * 60 / 30;
    printf("  %s on %s %.4f m/s^2, theory %.4f\n", block->name, slab->name, a, theory);
    if (fabs(a - theory) > 0.02 * theory) fail_msg("%s on %s", block->name, slab->name);
    yw_world_destroy(world);
  }
}

// On the skin of plastic bodies, not on rows of balls: these stopped blocks. And momentum that the
// floor takes from a slab is not given back to the block (balance.c): plastic bodies did not say
// that they touch obstacles, and friction was 8 % too much. Two skins: what is beside an edge of
// one was taken for lying in a crease of it, and pulled as far as both are thick (0.96 m/s^2).
static void blocks_slide_on_plastic(void** state) {
  (void)state;
  static const struct {
    int block;
    double mu;
  } cases[] = {{RIGID, 0.5}, {RIGID, 0.0}, {PLASTIC, 0.5}};
  const double angle = 35 * PI / 180;
  for (int i = 0; i < 3; ++i) {
    const kind* block = &kinds[cases[i].block];
    double mu = cases[i].mu, theory = GRAVITY * (sin(angle) - mu * cos(angle));
    yw_world* world = block_on_slab(block, &kinds[PLASTIC], 35, mu);
    run(world, 5);
    double before = speed_down(world, 0);
    run(world, 25);
    double a = (speed_down(world, 0) - before) * 60 / 25;
    printf("  %s on plastic, mu %g: %.4f m/s^2, theory %.4f\n", block->name, mu, a, theory);
    if (fabs(a - theory) > 0.02 * theory) fail_msg("%s, mu %g", block->name, mu);
    yw_world_destroy(world);
  }
}

// Soft bodies that slide on each other must not shake themselves loose.
static void blocks_stick_to_bodies(void** state) {
  (void)state;
  for (int i = 0; i < NUM_PAIRS; ++i) {
    const kind *block = &kinds[pairs[i][0]], *slab = &kinds[pairs[i][1]];
    yw_world* world = block_on_slab(block, slab, 26, 0.5);
    run(world, 90);
    double before = place_down(world, 0);
    run(world, 15);
    double creep = (place_down(world, 0) - before) * 60 / 15;
    printf("  %s on %s %.4f mm/s, %.1f mm down\n", block->name, slab->name, 1e3 * creep,
           1e3 * before);
    if (fabs(creep) > 1e-4) fail_msg("%s on %s: creeps", block->name, slab->name);
    yw_world_destroy(world);
  }
}

// The friction angle is 26.6 degrees: at 26 a body that slides slows down with 0.11 m/s^2.
static void bodies_stick_below_the_angle(void** state) {
  (void)state;
  const double mu = 0.5, angle = 26;
  for (int i = 0; i < NUM_KINDS + NUM_OTHERS; ++i) {
    const kind* k = kind_of(i);
    yw_world* world = slider(angle, mu, i, k->settings);
    run(world, 90);
    double before = place_down(world, angle);
    run(world, 15);
    double creep = (place_down(world, angle) - before) * 60 / 15;
    printf("  %-11s %.4f mm/s\n", k->name, 1e3 * creep);
    if (fabs(creep) > 1e-4) fail_msg("%s: creeps at %g m/s", k->name, creep);
    yw_world_destroy(world);
  }
}

// Acceleration down a slope over so many frames, by least squares: balls with facets rise and fall
// by millimetres as they roll, and their speed at two instants depends on where they are.
static double fitted_acceleration(yw_world* world, double angle, int frames) {
  double times = 0, speeds = 0, squares = 0, products = 0, count = frames + 1;
  for (int i = 0; i <= frames; ++i) {
    if (i > 0) run(world, 1);
    double t = i / 60.0, v = speed_down(world, angle);
    times += t, speeds += v, squares += t * t, products += t * v;
  }
  return (count * products - times * speeds) / (count * squares - times * times);
}

// Solid balls roll with 5/7 g sin; those of plastic are slower (docs/design/contact.md).
static void balls_roll(void** state) {
  (void)state;
  const double angle = 20, theory = 5.0 / 7.0 * GRAVITY * sin(angle * PI / 180);
  for (int i = 0; i < NUM_KINDS; ++i) {
    if (strcmp(kinds[i].name, "plastic") == 0) continue;
    yw_world* world = on_slope(angle, "\"shape\": {\"sphere\": {\"radius\": 0.25}}", 0.25, 0.8,
                               kinds[i].settings);
    run(world, 20);
    double a = fitted_acceleration(world, angle, 40);
    printf("  %-8s %.4f m/s^2, theory %.4f\n", kinds[i].name, a, theory);
    if (fabs(a - theory) > 0.03 * theory) fail_msg("%s: %g m/s^2", kinds[i].name, a);
    yw_world_destroy(world);
  }
}

// From the time between nine tenths and one tenth of the spin: at first, a soft body has to settle.
static double time_to_stop(const char* settings, double mu, double spin, double most) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"floor\": {\"friction\": %g}, \"bodies\": [{\"mesh\": {\"lattice\": {\"size\":"
           " [0.4, 0.1, 0.4], \"cells\": [8, 2, 8]}}, \"position\": [0, 0.05, 0],"
           " \"friction\": %g, \"angular_velocity\": [0, %g, 0], %s}]}",
           mu, mu, spin, settings);
  yw_world* world = surface_world(text, 1);
  double first = sums_of(world).angular_momentum[1], now = first, passed[2] = {0, 0};
  for (double time = 0.0; now > 0.1 * first && time < most; time += 1.0 / 240) {
    double before = now;
    assert_true(yw_world_step(world, 1.0f / 240.0f, 1, NULL) >= 0);
    now = sums_of(world).angular_momentum[1];
    for (int k = 0; k < 2; ++k) {
      double level = (k ? 0.1 : 0.9) * first;
      if (before > level && now <= level) {
        passed[k] = time + (before - level) / (before - now) / 240;
      }
    }
  }
  yw_world_destroy(world);
  return (passed[1] - passed[0]) / 0.8;
}

// A square of side a under even pressure: the mean distance of its points from the middle is
// a (sqrt 2 + ln(1 + sqrt 2)) / 6, and its moment of inertia m a^2 / 6.
static void spinning_blocks_stop_in_time(void** state) {
  (void)state;
  const double a = 0.4, mu = 0.5, spin = 6;
  for (int i = 0; i < NUM_KINDS; ++i) {
    if (strcmp(kinds[i].name, "plastic") == 0) continue;
    double arm = a * (sqrt(2) + log(1 + sqrt(2))) / 6;
    double theory = spin * a * a / 6 / (mu * GRAVITY * arm);
    double time = time_to_stop(kinds[i].settings, mu, spin, 2 * theory);
    printf("  %-8s %.4f s, theory %.4f\n", kinds[i].name, time, theory);
    if (fabs(time - theory) > 0.05 * theory) fail_msg("%s: %g s", kinds[i].name, time);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_accelerate_above_the_angle),
      cmocka_unit_test(thin_bodies_start_to_slide),
      cmocka_unit_test(blocks_slide_on_bodies),
      cmocka_unit_test(blocks_slide_on_plastic),
      cmocka_unit_test(blocks_stick_to_bodies),
      cmocka_unit_test(bodies_stick_below_the_angle),
      cmocka_unit_test(balls_roll),
      cmocka_unit_test(spinning_blocks_stop_in_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
