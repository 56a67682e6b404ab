// SPDX-License-Identifier: MIT
// The scenes of the gallery that name numbers keep them.
#include "testing.h"
#include "yawara/yawara.h"

static yw_world* open_scene(const char* name, yw_scene** scene, yw_scene_info* info) {
  char path[400];
  snprintf(path, sizeof path, YW_SOURCE_DIR "/scenes/gallery/%s", name);
  const yw_scene_override still = {"gravity", "[0, 0, 0]"};
  yw_error error = {0};
  if (yw_scene_read(path, NULL, 1, &still, scene, NULL, &error) < 0) fail_msg("%s", error.message);
  *info = yw_scene_info_of(*scene);
  yw_world* world = NULL;
  if (yw_scene_build(*scene, 1, YW_SIMD_AUTO, &world, &error) < 0) fail_msg("%s", error.message);
  return world;
}

static yw_body_id body_named(const yw_world* world, const char* name) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    if (strcmp(yw_body_name(world, id), name) == 0) return id;
  }
  fail_msg("no body %s", name);
  return (yw_body_id){0};
}

// Height of the tip: the mean over the vertices that are farthest from the clamp at rest.
static double tip_height(const yw_world* world, yw_body_id id) {
  const yw_tet_mesh* rest = yw_model_tets(yw_body_model(world, id));
  const yw_vec3* x = yw_body_positions(world, id, NULL);
  double sum = 0, count = 0, farthest = -INFINITY;
  for (int32_t v = 0; v < rest->num_vertices; ++v) {
    farthest = fmax(farthest, rest->positions[v].x);
  }
  for (int32_t v = 0; v < rest->num_vertices; ++v) {
    if (rest->positions[v].x < farthest - 1e-5) continue;
    sum += x[v].y, count += 1;
  }
  return sum / count;
}

// Ruler and plate of acrylic, 3 mm thick, 20 cm long: the pitch that theory gives them, which is
// also what the scene tells. Without gravity, so that they swing about zero.
static void the_ruler_and_the_plate_have_the_right_pitch(void** state) {
  (void)state;
  const yw_material* acrylic = yw_material_by_name("acrylic");
  const double e = acrylic->youngs_modulus, rho = acrylic->density, t = 0.003, length = 0.2;
  const double beam = 0.16154 * t / (length * length) * sqrt(e / rho);
  const double plate =
      3.4917 / (2 * M_PI * length * length) * t * sqrt(e / (12 * rho * (1 - 0.3 * 0.3)));
  assert_near(beam, 20.0, 0.05);
  assert_near(plate, 20.8, 0.05);
  yw_scene* scene;
  yw_scene_info info;
  yw_world* world = open_scene("ruler.json", &scene, &info);
  const yw_body_id ids[2] = {body_named(world, "ruler"), body_named(world, "plate")};
  double before[2], first[2] = {0}, last[2] = {0};
  int crossings[2] = {0};
  for (int k = 0; k < 2; ++k) before[k] = tip_height(world, ids[k]);
  const double frame = 1.0 / info.fps;
  for (int f = 0; f < info.frames && (crossings[0] < 5 || crossings[1] < 5); ++f) {
    assert_int_equal(yw_world_step(world, (float)frame, info.substeps, NULL), YW_OK);
    for (int k = 0; k < 2; ++k) {
      double now = tip_height(world, ids[k]);
      if (now * before[k] < 0 && crossings[k] < 5) {
        last[k] = frame * (f + 1 - now / (now - before[k]));
        if (crossings[k]++ == 0) first[k] = last[k];
      }
      before[k] = now;
    }
  }
  assert_int_equal(crossings[0], 5);
  assert_int_equal(crossings[1], 5);
  double pitch[2] = {2 / (last[0] - first[0]), 2 / (last[1] - first[1])};
  print_message("ruler %.2f Hz (theory %.2f), plate %.2f Hz (%.2f)\n", pitch[0], beam, pitch[1],
                plate);
  assert_near(pitch[0] / beam, 1, 0.03);
  assert_near(pitch[1] / plate, 1, 0.03);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ruler_and_the_plate_have_the_right_pitch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
