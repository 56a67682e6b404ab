// SPDX-License-Identifier: MIT
#include "commands/run_warnings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/foresight.h"
#include "console/options.h"
#include "yawara/contact.h"
#include "yawara/extend/vec.h"

// Bodies of 100 m and more, or of 1 mm and less (up to rounding), get a word about units.
#define LARGEST_SIZE 99.99
#define SMALLEST_SIZE 0.0010001

// Shape matching moves all parts of a body together, as if something invisible joined them.
void run_warn_of_parts(const yw_world* world) {
  const yw_model* before = NULL;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    const yw_model* model = yw_body_model(world, id);
    const yw_tet_mesh* tets = yw_model_tets(model);
    yw_tet_quality q;
    if (model == before || tets == NULL || strcmp(yw_model_method(model), "match") != 0) continue;
    before = model;
    if (yw_tet_mesh_quality(tets, &q) != YW_OK || q.num_parts < 2) continue;
    fprintf(stderr,
            "warning: body \"%s\" is in %d parts, which match moves as one. For a body of each: "
            "--parts with a model, \"part\" of a mesh in a scene\n",
            yw_body_name(world, id), q.num_parts);
  }
}

// Names bodies whose size suggests a file in other units.
void run_warn_of_sizes(const yw_world* world) {
  const yw_model* before = NULL;
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    const yw_model* model = yw_body_model(world, id);
    // Copies of a body follow each other.
    if (model == before) continue;
    before = model;
    int32_t count = 0;
    const yw_vec3* points = yw_model_points(model, &count);
    yw_aabb box = yw_aabb_empty();
    for (int32_t k = 0; k < count; ++k) box = yw_aabb_grow(box, points[k]);
    yw_vec3 side = yw_sub(box.upper, box.lower);
    double size = (double)fmaxf(side.x, fmaxf(side.y, side.z));
    if (count == 0 || (size < LARGEST_SIZE && size > SMALLEST_SIZE)) continue;
    fprintf(
        stderr,
        "warning: body \"%s\" is %.4g m large. Lengths are in metres: if its file is in others, "
        "give it a \"scale\" (0.001 for millimetres)\n",
        yw_body_name(world, id), size);
  }
}

// Says which bodies overlap before the first step.
int run_check_overlaps(yw_world* world, const char* scene_path, bool strict) {
  enum { SHOWN = 8 };
  yw_body_id pairs[SHOWN][2];
  int32_t count = yw_world_crossings(world, pairs, SHOWN);
  if (count < 0) return bad_input("not enough memory");
  for (int32_t i = 0; i < count && i < SHOWN; ++i) {
    const char *a = yw_body_name(world, pairs[i][0]), *b = yw_body_name(world, pairs[i][1]);
    if (strict) {
      return bad_input(
          "%s: bodies \"%s\" and \"%s\" overlap at the start. Move one of them, or "
          "run without --strict",
          scene_path, a, b);
    }
    fprintf(stderr,
            "warning: bodies \"%s\" and \"%s\" overlap at the start. They are moved apart over the "
            "first frames\n",
            a, b);
  }
  if (count > SHOWN) fprintf(stderr, "warning: ... and %d more pairs of bodies\n", count - SHOWN);
  return -1;
}

// Says what the run takes, before it starts: memory with everything made, and disk space.
void run_say_cost(const yw_world* world, int32_t frames) {
  int32_t bodies = yw_world_num_bodies(world);
  run_cost cost = run_cost_of(world);
  if (cost.memory_bytes == 0.0) return;
  fprintf(stderr,
          "%d bod%s, %lld particles: %.0f MB of memory; %d frames of %.2g MB each on disk\n",
          bodies, bodies == 1 ? "y" : "ies", (long long)cost.particles, 1e-6 * cost.memory_bytes,
          frames + 1, 1e-6 * cost.frame_bytes);
}

// s of the last substep by which the body did not advance.
static double missed_by(const yw_world* world, yw_body_id id) {
  yw_statistics now = {0};
  if (strcmp(yw_model_method(yw_body_model(world, id)), "fem") != 0) return 0.0;
  if (yw_body_statistics_of(world, id, &now) < 0) return 0.0;
  for (int32_t i = 0; i < now.count; ++i) {
    if (strcmp(now.items[i].name, "missed") == 0) return now.items[i].value;
  }
  return 0.0;
}

bool run_warn_of_slow_motion(const yw_world* world, const char* dir, int32_t frame) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    double missed = missed_by(world, id);
    if (!(missed > 0.0)) continue;
    fprintf(stderr,
            "warning: %s: frame %d: body \"%s\" is deformed so far that it would need thousands of "
            "inner steps in every step, and moves in slow motion (it missed %.3g ms of the last; "
            "\"missed\" in log.csv). Try softer or heavier material, or pull and press it less\n",
            dir, frame, yw_body_name(world, id), 1e3 * missed);
    return true;
  }
  return false;
}
