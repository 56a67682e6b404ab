// SPDX-License-Identifier: MIT
// Gallery scenes whose descriptions give numbers match them.
#include "support/testing.h"
#include "yawara/yawara.h"

static yw_world* open_scene(const char* name, yw_scene** scene, yw_scene_info* info) {
  char path[400];
  snprintf(path, sizeof path, YW_SOURCE_DIR "/scenes/gallery/%s", name);
  const yw_scene_override still = {"gravity", "[0, 0, 0]"};
  yw_error error = {0};
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.overrides = &still;
  def.num_overrides = 1;
  if (yw_scene_read(&def, scene, NULL, &error) < 0) fail_msg("%s", error.message);
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

// Height of the tip: the mean over the vertices that are farthest from the clamp at rest, or the
// last particle of a rod.
static double tip_height(const yw_world* world, yw_body_id id) {
  const yw_tet_mesh* rest = yw_model_tets(yw_body_model(world, id));
  const yw_vec3* x = yw_body_positions(world, id, NULL);
  double sum = 0, count = 0, farthest = -INFINITY;
  int32_t particles = yw_model_num_particles(yw_body_model(world, id));
  if (rest->num_tets == 0) return x[particles - 1].y;
  for (int32_t v = 0; v < rest->num_vertices; ++v) {
    farthest = fmax(farthest, rest->positions[v].x);
  }
  for (int32_t v = 0; v < rest->num_vertices; ++v) {
    if (rest->positions[v].x < farthest - 1e-5) continue;
    sum += x[v].y, count += 1;
  }
  return sum / count;
}

// Frequencies of bodies that swing about zero, from 5 passages of their tips.
static void measure_pitch(const char* file, int count, const char* const* names, double* pitch) {
  yw_scene* scene;
  yw_scene_info info;
  yw_world* world = open_scene(file, &scene, &info);
  double before[2] = {0}, first[2] = {0}, last[2] = {0};
  int crossings[2] = {0}, open = count;
  for (int k = 0; k < count; ++k) before[k] = tip_height(world, body_named(world, names[k]));
  const double frame = 1.0 / info.fps;
  for (int f = 0; f < info.frames && open > 0; ++f) {
    assert_int_equal(yw_world_step(world, (float)frame, info.substeps, NULL), YW_OK);
    for (int k = 0; k < count; ++k) {
      double now = tip_height(world, body_named(world, names[k]));
      if (now * before[k] < 0 && crossings[k] < 5) {
        last[k] = frame * (f + 1 - now / (now - before[k]));
        if (crossings[k] == 0) first[k] = last[k];
        if (++crossings[k] == 5) --open;
      }
      before[k] = now;
    }
  }
  assert_int_equal(open, 0);
  for (int k = 0; k < count; ++k) pitch[k] = 2 / (last[k] - first[k]);
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// 3.516 / 2 pi sqrt(12), of a beam that is clamped at one end.
static double beam_pitch(const yw_material* m, double thickness, double length) {
  return 0.16154 * thickness / (length * length) * sqrt(m->youngs_modulus / (double)m->density);
}

// Ruler and plate of acrylic, 3 mm thick, 20 cm long: the frequency predicted by theory, which
// the scene states too. Without gravity, so that they swing about zero.
static void the_ruler_and_the_plate_have_the_right_pitch(void** state) {
  (void)state;
  const yw_material* acrylic = yw_material_by_name("acrylic");
  const double beam = beam_pitch(acrylic, 0.003, 0.2);
  const double plate = 3.4917 / (2 * M_PI * 0.2 * 0.2) * 0.003 *
                       sqrt(acrylic->youngs_modulus / (12 * acrylic->density * (1 - 0.3 * 0.3)));
  assert_near(beam, 20.0, 0.05);
  assert_near(plate, 20.8, 0.05);
  const char* const names[] = {"ruler", "plate"};
  double pitch[2];
  measure_pitch("ruler.json", 2, names, pitch);
  print_message("ruler %.2f Hz (theory %.2f), plate %.2f Hz (%.2f)\n", pitch[0], beam, pitch[1],
                plate);
  assert_near(pitch[0] / beam, 1, 0.03);
  assert_near(pitch[1] / plate, 1, 0.03);
}

// The same with a rod of steel.
static void the_steel_ruler_has_the_right_pitch(void** state) {
  (void)state;
  const double beam = beam_pitch(yw_material_by_name("steel"), 0.001, 0.3);
  assert_near(beam, 9.17, 0.01);
  const char* const name = "ruler";
  double pitch;
  measure_pitch("steel_ruler.json", 1, &name, &pitch);
  print_message("steel ruler %.3f Hz (theory %.3f)\n", pitch, beam);
  assert_near(pitch / beam, 1, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_steel_ruler_has_the_right_pitch),
      cmocka_unit_test(the_ruler_and_the_plate_have_the_right_pitch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
