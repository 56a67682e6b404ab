// SPDX-License-Identifier: MIT
// Bodies of every method and solver move at 16 m and at 1 km from the origin as they do there,
// although floats are coarser by far: 6e-5 m at 1 km.
#include "support/slender_testing.h"
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"

typedef enum method { FRAMES, MATCH, FEM, ROD, PLASTIC } method;

typedef struct far_case {
  const char* name;
  method method;
  int solver;
  double units;  // of floats at the site, by which positions may differ after a second
} far_case;

static const far_case cases[] = {
    {"frames implicit", FRAMES, YW_FRAMES_IMPLICIT, 3},
    {"frames bdf2", FRAMES, YW_FRAMES_BDF2, 3},
    {"frames extended", FRAMES, YW_FRAMES_EXTENDED, 3},
    {"frames classic", FRAMES, YW_FRAMES_CLASSIC, 3},
    {"match", MATCH, 0, 3},
    {"fem", FEM, 0, 3},
    {"rod implicit", ROD, YW_SLENDER_IMPLICIT, 3},
    {"rod extended", ROD, YW_SLENDER_EXTENDED, 3},
    {"plastic", PLASTIC, 0, 60},  // moves in the floats of the world: one unit per step at most
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

// Integers, like the sizes of cells in eighths: the rest pose has the same bits everywhere.
static const yw_vec3 sites[] = {{0, 0, 0}, {16, 12, -16}, {1024, 768, -1024}};
enum { NUM_SITES = 3 };

static yw_model* make_rod(int solver, yw_error* error) {
  yw_vec3 points[7];
  for (int i = 0; i < 7; ++i) points[i] = (yw_vec3){0.125f * (float)(i - 3), 0, 0};
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 7;
  def.radius = 0.02f;
  def.youngs_modulus = 1e6f;
  def.params.solver = (yw_slender_solver)solver;
  yw_model* model = NULL;
  yw_model_create_rod(NULL, &def, &model, error);
  return model;
}

static yw_model* make_clay(yw_error* error) {
  yw_shape* box = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){0.25f, 0.125f, 0.125f}, &box), YW_OK);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material.youngs_modulus = 2e5f;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = 0.0625f;
  def.parts = &part;
  def.num_parts = 1;
  yw_model* model = NULL;
  yw_model_create_plastic(NULL, &def, &model, error);
  yw_shape_release(box);
  return model;
}

static yw_model* make_solid(const far_case* c, yw_error* error) {
  yw_tet_mesh mesh = {0};
  const int32_t cells[3] = {4, 2, 2};
  yw_aabb box = {{-0.25f, -0.125f, -0.125f}, {0.25f, 0.125f, 0.125f}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_model* model = NULL;
  if (c->method == FRAMES) {
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &mesh;
    def.params.solver = (yw_frames_solver)c->solver;
    yw_model_create_frames(NULL, &def, &model, error);
  } else if (c->method == MATCH) {
    yw_match_def def = yw_default_match_def();
    def.mesh = &mesh;
    yw_model_create_match(NULL, &def, &model, error);
  } else {
    yw_fem_def def = yw_default_fem_def();
    def.mesh = &mesh;
    def.max_level = 0;
    yw_model_create_fem(NULL, &def, &model, error);
  }
  yw_tet_mesh_free(&mesh);
  return model;
}

static yw_model* make_model(const far_case* c) {
  yw_error error = {0};
  yw_model* model = c->method == ROD       ? make_rod(c->solver, &error)
                    : c->method == PLASTIC ? make_clay(&error)
                                           : make_solid(c, &error);
  if (!model) fail_msg("%s", error.message);
  return model;
}

// A body at a site that rotates while its ends move apart, after a second. *x: its positions
// relative to the site, owned by the caller.
static double fly(yw_model* model, yw_vec3 site, yw_vec3** x, int32_t* count) {
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_body(world, model, site, (yw_quat){0, 0, 0, 1});
  const yw_vec3* at = yw_body_positions(world, id, count);
  *x = malloc(sizeof **x * (size_t)*count);
  yw_vec3* v = malloc(sizeof *v * (size_t)*count);
  for (int32_t i = 0; i < *count; ++i) {
    (*x)[i] = at[i];
    yw_vec3 arm = yw_sub(at[i], site);
    v[i] = yw_add(yw_cross((yw_vec3){0.3f, 2, 0.5f}, arm), (yw_vec3){0.5f * arm.x, 0, 0});
  }
  assert_int_equal(yw_body_set_state(world, id, *x, v), YW_OK);
  for (int i = 0; i < 60; ++i) assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  yw_body_energy energy;
  assert_int_equal(yw_body_energy_of(world, id, &energy), YW_OK);
  at = yw_body_positions(world, id, count);
  for (int32_t i = 0; i < *count; ++i) (*x)[i] = yw_sub(at[i], site);
  free(v);
  yw_world_destroy(world);
  return energy.kinetic;
}

// Kinetic energy to 0.1 %, positions to a few units of the floats there.
static void bodies_fly_far_away_as_they_do_near(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    yw_model* model = make_model(&cases[c]);
    yw_vec3* near = NULL;
    int32_t count;
    double energy = fly(model, sites[0], &near, &count);
    for (int s = 1; s < NUM_SITES; ++s) {
      yw_vec3* far = NULL;
      double there = fly(model, sites[s], &far, &count), worst = 0;
      double unit = (double)(nextafterf(sites[s].x, INFINITY) - sites[s].x);
      for (int32_t i = 0; i < count; ++i) {
        worst = fmax(worst, (double)yw_distance(near[i], far[i]));
      }
      print_message("%-16s at %4.0f m: energy %+.4f %%, positions %.1e m\n", cases[c].name,
                    (double)sites[s].x, 100 * (there / energy - 1), worst);
      assert_near(there / energy, 1, 1e-3);
      assert_at_most(worst, cases[c].units * unit + 1e-4);
      free(far);
    }
    free(near);
    yw_model_release(model);
  }
}

// Where the particles of a body at the site are four steps after they were put somewhere: at once,
// or after the body has moved for ten.
static yw_vec3* put(yw_model* model, yw_vec3 site, int steps, int32_t* count) {
  yw_world* world = make_weightless_world(1);
  yw_body_id id = add_body(world, model, site, (yw_quat){0, 0, 0, 1});
  const yw_vec3* at = yw_body_positions(world, id, count);
  size_t bytes = sizeof *at * (size_t)*count;
  yw_vec3 *x = malloc(bytes), *v = malloc(bytes);
  for (int32_t i = 0; i < *count; ++i) {
    yw_vec3 arm = yw_sub(at[i], site);
    x[i] = at[i];
    v[i] = yw_add(yw_cross((yw_vec3){0.3f, 2, 0.5f}, arm), (yw_vec3){0.17f, 0.13f, 0.29f});
  }
  assert_int_equal(yw_body_set_state(world, id, x, v), YW_OK);
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  assert_int_equal(yw_body_set_state(world, id, x, v), YW_OK);
  for (int i = 0; i < 4; ++i) assert_true(yw_world_step(world, 1.0f / 60, 1, NULL) >= 0);
  memcpy(x, yw_body_positions(world, id, count), bytes);
  free(v);
  yw_world_destroy(world);
  return x;
}

// What the floats of the world cut off before does not count any more once a body is put elsewhere:
// it goes on, to the bit, as one that was never anywhere else. (Rods keep their orientations, and
// clay its slaves.)
static void bodies_that_are_put_somewhere_forget(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    if (cases[c].method == ROD || cases[c].method == PLASTIC) continue;
    yw_model* model = make_model(&cases[c]);
    int32_t count;
    yw_vec3 *fresh = put(model, sites[2], 0, &count), *moved = put(model, sites[2], 10, &count);
    int32_t other = 0;
    for (int32_t i = 0; i < count; ++i) other += yw_distance(fresh[i], moved[i]) > 0;
    if (other > 0) fail_msg("%s: %d of %d particles differ", cases[c].name, (int)other, (int)count);
    free(fresh);
    free(moved);
    yw_model_release(model);
  }
}

// Height of the middle of a body after half a second: dropped on a floor, or held at one end.
static double fall(yw_model* model, yw_vec3 site, bool pinned) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* plane = NULL;
  assert_int_equal(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, site.y, &plane), YW_OK);
  yw_obstacle_def def = yw_default_obstacle_def();
  def.shape = plane;
  yw_obstacle_id floor;
  assert_int_equal(yw_obstacle_create(world, &def, &floor, NULL), YW_OK);
  yw_shape_release(plane);
  yw_vec3 place = yw_add(site, (yw_vec3){0, 0.25f, 0});
  yw_body_id id = add_body(world, model, place, (yw_quat){0, 0, 0, 1});
  if (pinned) pin_vertex(world, id, 0, false);
  for (int i = 0; i < 30; ++i) assert_true(yw_world_step(world, 1.0f / 60, 2, NULL) >= 0);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, id, &count);
  double height = 0;
  for (int32_t i = 0; i < count; ++i) height += ((double)x[i].y - (double)site.y) / count;
  yw_world_destroy(world);
  return height;
}

// Floors and pins are where the world says; gaps to obstacles are known to 1e-6 of the coordinates.
static void floors_and_pins_hold_far_away(void** state) {
  (void)state;
  for (int c = 0; c < NUM_CASES; ++c) {
    yw_model* model = make_model(&cases[c]);
    for (int pinned = 0; pinned < 2; ++pinned) {
      double near = fall(model, sites[0], pinned), far = fall(model, sites[2], pinned);
      print_message("%-16s %s: %.5f m near, %.5f m far\n", cases[c].name,
                    pinned ? "pinned" : "on a floor", near, far);
      double reach = (double)(fabsf(sites[2].x) + fabsf(sites[2].y) + fabsf(sites[2].z));
      assert_near(far, near, 1e-6 * reach);
    }
    yw_model_release(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_fly_far_away_as_they_do_near),
      cmocka_unit_test(bodies_that_are_put_somewhere_forget),
      cmocka_unit_test(floors_and_pins_hold_far_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
