// SPDX-License-Identifier: MIT
// Valid scenes by chance, over most of what scene files may say. The same seed makes the same text
// everywhere. Bodies are small, about 0.3 m large, and start apart from each other.
#ifndef YW_TESTS_RANDOM_SCENE_H
#define YW_TESTS_RANDOM_SCENE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RANDOM_SCENE_BYTES 16384

typedef struct random_scene {
  uint64_t state;
  uint64_t drives;  ///< state of another sequence, so that scenes are as they were before
  uint64_t rest;    ///< and of a third
  int examples;     ///< of the body that is being said; 0 where their weights cannot be set
  int length;
  char text[RANDOM_SCENE_BYTES];
} random_scene;

static inline uint32_t draw_bits(random_scene* s) {
  s->state = s->state * 6364136223846793005u + 1442695040888963407u;
  uint32_t x = (uint32_t)(s->state >> 33);
  return x ^ (x >> 15);
}

/// A whole number from 0 to count - 1.
static inline int draw(random_scene* s, int count) { return (int)(draw_bits(s) % (uint32_t)count); }

static inline bool draw_one_in(random_scene* s, int count) { return draw(s, count) == 0; }

/// From the third sequence.
static inline bool draw_more_one_in(random_scene* s, int count) {
  uint64_t state = s->state;
  s->state = s->rest;
  bool one = draw_one_in(s, count);
  s->rest = s->state;
  s->state = state;
  return one;
}

/// A number with few digits, so that texts are short and exact.
static inline double draw_number(random_scene* s, double low, double high) {
  return low + (high - low) * draw(s, 1001) / 1000.0;
}

/// 10^low to 10^high, in steps of a third of a decade.
static inline double draw_power(random_scene* s, int low, int high) {
  static const double thirds[3] = {1, 2, 5};
  int step = draw(s, 3 * (high - low) + 1);
  double value = thirds[step % 3];
  for (int i = 0; i < low + step / 3; ++i) value *= 10;
  return value;
}

__attribute__((format(printf, 2, 3))) static inline void say(random_scene* s, const char* format,
                                                             ...) {
  va_list list;
  va_start(list, format);
  size_t room = (size_t)(RANDOM_SCENE_BYTES - s->length);
  s->length += vsnprintf(s->text + s->length, room, format, list);
  va_end(list);
  if (s->length >= RANDOM_SCENE_BYTES) abort();
}

static inline void say_vector(random_scene* s, const char* key, double reach) {
  double x = draw_number(s, -reach, reach);
  double y = draw_number(s, -reach, reach);
  double z = draw_number(s, -reach, reach);
  say(s, ", \"%s\": [%.4g, %.4g, %.4g]", key, x, y, z);
}

// Parts of bodies ---------------------------------------------------------------------------------

static inline void say_shape(random_scene* s) {
  double a = draw_number(s, 0.2, 0.35);
  double b = draw_number(s, 0.15, 0.3);
  switch (draw(s, 5)) {
    case 0:
      say(s, "{\"box\": {\"size\": [%.4g, %.4g, %.4g]}}", a, b, a);
      break;
    case 1:
      say(s, "{\"sphere\": {\"radius\": %.4g}}", 0.5 * a);
      break;
    case 2:
      say(s, "{\"cylinder\": {\"radius\": %.4g, \"height\": %.4g}}", 0.5 * b, a);
      break;
    case 3:
      say(s, "{\"torus\": {\"ring_radius\": %.4g, \"tube_radius\": %.4g}}", 0.4 * a, 0.28 * a);
      break;
    default:
      say(s,
          "{\"difference\": {\"of\": [{\"box\": {\"size\": %.4g}}, {\"sphere\": {\"radius\": %.4g, "
          "\"center\": [%.4g, 0, 0]}}]}}",
          a, 0.3 * a, 0.5 * a);
  }
}

static inline void say_lattice(random_scene* s) {
  int x = 1 + draw(s, 3);
  int y = 1 + draw(s, 3);
  int cut = 5 + draw(s, 2);
  double length = draw_number(s, 0.2, 0.4);
  say(s,
      "\"mesh\": {\"lattice\": {\"size\": [%.4g, 0.3, 0.25], \"cells\": [%d, %d, 2], \"cut\": %d}}",
      length, x, y, cut);
}

static inline void say_solid(random_scene* s) {
  if (draw_one_in(s, 2)) {
    say_lattice(s);
    return;
  }
  say(s, "\"mesh\": {\"tets\": {\"size\": 0.09, \"shape\": ");
  say_shape(s);
  say(s, "}}");
}

static inline void say_deform(random_scene* s) {
  static const char* const angles[] = {"twist", "bend", "s_bend"};
  static const char* const amounts[] = {"squash", "stretch", "shear", "taper", "scale"};
  if (draw_one_in(s, 2)) {
    const char* kind = angles[draw(s, 3)];
    say(s, "{\"%s\": {\"degrees\": %.4g}}", kind, draw_number(s, -60, 60));
  } else {
    const char* kind = amounts[draw(s, 5)];
    say(s, "{\"%s\": {\"amount\": %.4g}}", kind, draw_number(s, -0.3, 0.4));
  }
}

static inline void say_examples(random_scene* s) {
  int count = draw(s, 4);
  s->examples = count;
  if (count == 0) return;
  say(s, ", \"examples\": [");
  for (int i = 0; i < count; ++i) {
    say(s, "%s{\"deform\": ", i ? ", " : "");
    say_deform(s);
    if (draw_one_in(s, 3)) say(s, ", \"strength\": %.4g", draw_number(s, 0.2, 1));
    say(s, "}");
  }
  say(s, "]");
}

static inline void say_fields(random_scene* s) {
  if (!draw_one_in(s, 3)) return;
  double first = draw_power(s, 4, 6);
  double second = draw_power(s, 4, 6);
  if (draw_one_in(s, 2)) {
    say(s,
        ", \"fields\": [{\"from\": [0, -0.15, 0], \"to\": [0, 0.15, 0], \"youngs_modulus\": [%g, "
        "%g]}]",
        first, second);
  } else {
    say(s,
        ", \"fields\": [{\"shape\": {\"sphere\": {\"radius\": 0.1}}, \"blend\": 0.02, "
        "\"youngs_modulus\": %g}]",
        first);
  }
}

// Methods -----------------------------------------------------------------------------------------

static inline void say_match(random_scene* s) {
  say_solid(s);
  say_examples(s);
  bool alpha = draw_one_in(s, 2);
  double stiff = alpha ? draw_number(s, 0.1, 1) : draw_power(s, 1, 3);
  say(s, ", \"match\": {\"%s\": %.4g, \"beta\": %.4g", alpha ? "alpha" : "stiffness", stiff,
      draw_number(s, 0, 1));
  if (draw_one_in(s, 3)) say(s, ", \"damping\": %.4g", draw_number(s, 0, 20));
  if (draw_one_in(s, 3)) {
    say(s, ", \"groups\": \"per_region\"");
    s->examples = 0;
  }
  if (draw_one_in(s, 4)) say(s, ", \"projection\": \"paper\"");
  if (draw_more_one_in(s, 4)) say(s, ", \"region_width\": 2");
  say(s, "}");
}

static inline void say_frames(random_scene* s) {
  static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic"};
  say_solid(s);
  // The last two know the rest pose only.
  bool examples = draw_one_in(s, 3);
  if (examples) say_examples(s);
  const char* solver = solvers[draw(s, examples ? 2 : 4)];
  if (!examples && draw_more_one_in(s, 4)) solver = "oriented";
  double modulus = draw_power(s, 4, 6);
  double ratio = draw_number(s, 0, 0.45);
  say(s, ", \"frames\": {\"youngs_modulus\": %g, \"poissons_ratio\": %.4g, \"solver\": \"%s\"",
      modulus, ratio, solver);
  say_fields(s);
  say(s, "}");
}

static inline void say_fem(random_scene* s) {
  say_lattice(s);
  double modulus = draw_power(s, 4, 5);
  int level = draw(s, 2);
  say(s, ", \"fem\": {\"youngs_modulus\": %g, \"poissons_ratio\": %.4g, \"max_level\": %d", modulus,
      draw_number(s, 0.1, 0.45), level);
  if (draw_more_one_in(s, 5)) say(s, ", \"sampling\": \"settled\"");
  if (draw_more_one_in(s, 5)) say(s, ", \"refine\": \"range\"");
  say_fields(s);
  say(s, "}");
}

static inline void say_plastic(random_scene* s) {
  static const char* const flows[] = {"elastic", "box", "von_mises"};
  say(s, "\"shape\": ");
  say_shape(s);
  double modulus = draw_power(s, 4, 5);
  const char* flow = flows[draw(s, 3)];
  say(s, ", \"plastic\": {\"spacing\": 0.06, \"youngs_modulus\": %g, \"flow\": \"%s\"", modulus,
      flow);
  if (flow == flows[2]) say(s, ", \"yield_stress\": %g", draw_power(s, 2, 4));
  say(s, "}");
}

static inline void say_rod(random_scene* s) {
  double modulus = draw_power(s, 5, 7);
  int count = 5 + draw(s, 8);
  if (draw_one_in(s, 2)) {
    say(s,
        "\"rod\": {\"line\": {\"from\": [-0.2, 0, 0], \"to\": [0.2, 0, 0], \"count\": %d}, "
        "\"radius\": 0.02}",
        count);
  } else {
    say(s,
        "\"rod\": {\"helix\": {\"radius\": 0.1, \"turns\": 2, \"length\": 0.25, \"count\": %d}, "
        "\"radius\": 0.02}",
        2 * count);
  }
  say(s, ", \"slender\": {\"youngs_modulus\": %g, \"damping\": %.4g}", modulus,
      draw_number(s, 0, 5));
}

static inline void say_sheet(random_scene* s) {
  double modulus = draw_power(s, 5, 7);
  int cells = 2 + draw(s, 4);
  say(s,
      "\"sheet\": {\"rectangle\": {\"width\": 0.35, \"depth\": 0.3, \"across\": %d, \"along\": 4}, "
      "\"thickness\": 0.01, \"contact_radius\": 0.03}, \"slender\": {\"youngs_modulus\": %g}",
      cells, modulus);
}

static inline void say_rigid(random_scene* s) {
  say(s, "\"shape\": ");
  say_shape(s);
  say(s, ", \"rigid\": {}");
}

// Scenes ------------------------------------------------------------------------------------------

static inline void say_pins(random_scene* s) {
  say(s, ", \"pins\": [{\"vertices\": [0, 1]");
  if (draw_one_in(s, 2)) {
    double stiffness = draw_power(s, 1, 3);
    say(s, ", \"spring\": {\"stiffness\": %g, \"damping\": 1}", stiffness);
  }
  if (draw_one_in(s, 2)) {
    say(s,
        ", \"path\": {\"loop\": true, \"keys\": [{\"time\": 0}, {\"time\": 0.4, \"offset\": "
        "[0.2, 0.1, 0]}, {\"time\": 0.8}]}");
  }
  say(s, "}]");
}

/// A number of the body that follows a measure.
static inline void say_drive(random_scene* s, bool examples) {
  static const char* const measures[] = {"speed", "spin", "height", "contact", "distance"};
  const char* by = measures[draw(s, 5)];
  double to = draw_power(s, 0, 3);
  say(s, ", \"tracks\": [{\"set\": \"%s\", \"drive\": {\"by\": \"%s\", \"from\": 0, \"to\": %g",
      examples ? "weight" : "friction", by, to);
  if (by == measures[4]) say(s, ", \"point\": [0.3, 0.2, 0]");
  if (draw_one_in(s, 2)) say(s, ", \"smooth\": %.4g", draw_number(s, 0, 0.3));
  if (draw_one_in(s, 2)) say(s, ", \"delay\": %.4g", draw_number(s, 0, 0.3));
  say(s, "}}]");
}

/// `index` places the body in a grid of its own cell.
static inline void say_body(random_scene* s, int index) {
  static void (*const methods[])(random_scene*) = {say_match, say_frames, say_fem,  say_plastic,
                                                   say_rod,   say_sheet,  say_rigid};
  int method = draw(s, 7);
  s->examples = 0;
  say(s, "%s{\"name\": \"b%d\", ", index ? ",\n  " : "", index);
  methods[method](s);
  say(s, ", \"position\": [%.4g, %.4g, %.4g]", 0.7 * (index % 2), 0.5 + 0.7 * (index / 2),
      draw_number(s, -0.1, 0.1));
  say_vector(s, "velocity", 2.5);
  if (draw_one_in(s, 2)) say_vector(s, "angular_velocity", 6);
  if (draw_one_in(s, 2)) {
    char axis = "xyz"[draw(s, 3)];
    say(s, ", \"rotation\": {\"axis\": \"%c\", \"degrees\": %d}", axis, draw(s, 90));
  }
  if (draw_one_in(s, 3)) say(s, ", \"friction\": %.4g", draw_number(s, 0, 1));
  if (draw_one_in(s, 4)) say(s, ", \"restitution\": %.4g", draw_number(s, 0, 0.6));
  if (draw_one_in(s, 6)) say(s, ", \"start\": %.4g", draw_number(s, 0, 0.5));
  if (draw_one_in(s, 6)) say(s, ", \"body_contact\": false");
  // Loose particles are not numbered for good, and rigid bodies have no vertices of their own.
  if (method != 3 && method != 6 && draw_one_in(s, 4)) say_pins(s);
  uint64_t state = s->state;
  s->state = s->drives;
  if ((method == 4 || method == 5) && draw_one_in(s, 3)) say_examples(s);
  if (draw_one_in(s, 4)) say_drive(s, s->examples > 0);
  s->drives = s->state;
  s->state = state;
  say(s, "}");
}

static inline void say_obstacles(random_scene* s) {
  say(s, ",\n \"floor\": {\"friction\": %.4g}", draw_number(s, 0, 1));
  if (!draw_one_in(s, 2)) return;
  say(s,
      ",\n \"obstacles\": [{\"shape\": {\"box\": {\"size\": [0.3, 0.1, 0.3], \"rounding\": "
      "0.02}}, \"position\": [0.3, 0.1, 0]");
  if (draw_one_in(s, 2)) {
    say(s,
        ", \"path\": {\"loop\": true, \"keys\": [{\"time\": 0}, {\"time\": 0.5, \"offset\": [0.3, "
        "0.05, 0], \"rotation\": {\"axis\": \"y\", \"degrees\": 90}}, {\"time\": 1}]}");
  }
  say(s, "}]");
}

static inline void random_scene_make(random_scene* s, uint64_t seed) {
  *s = (random_scene){.state = 0x9e3779b97f4a7c15u * (seed + 1), .drives = seed, .rest = seed + 77};
  for (int i = 0; i < 4; ++i) draw_bits(s);
  int substeps = 2 + draw(s, 4);
  say(s, "{\"fps\": 60, \"substeps\": %d, \"contact\": \"%s\"", substeps,
      draw_one_in(s, 2) ? "points" : "surfaces");
  if (draw_one_in(s, 4)) say(s, ", \"contact_iterations\": %d", 1 + draw(s, 8));
  if (draw_one_in(s, 5)) say_vector(s, "gravity", 10);
  if (draw_one_in(s, 5)) {
    say(s, ", \"wind\": {\"velocity\": [%.4g, 0, 1], \"turbulence\": 1}", draw_number(s, -5, 5));
  }
  if (draw_one_in(s, 6)) {
    say(s,
        ",\n \"tracks\": [{\"set\": \"gravity\", \"kind\": \"smooth\", \"keys\": [{\"time\": 0, "
        "\"value\": [0, -9.81, 0]}, {\"time\": 0.7, \"value\": [3, -5, 1]}]}]");
  }
  say_obstacles(s);
  int bodies = 1 + draw(s, 4);
  say(s, ",\n \"bodies\": [");
  for (int i = 0; i < bodies; ++i) say_body(s, i);
  say(s, "]}\n");
}

#endif
