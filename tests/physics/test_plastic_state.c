// SPDX-License-Identifier: MIT
// Same bits for threads, instruction sets and resumed runs, also after slaves were added and
// removed; parts that start later; pins, springs and pushes; bad input.
#include "support/plastic_testing.h"
#include "support/world_fixture.h"
#include "yawara/extend/hash.h"
#include "yawara/plastic.h"

// A soft bar dropped across a rod, so that slaves are added and removed, and a ball that follows.
static void begin_scene(plastic_lab* lab, yw_shape* shapes[3]) {
  const float d = 0.02f;
  shapes[0] = lab_box(24, 4, 6, d);
  assert_int_equal(yw_shape_sphere(NULL, 0.05f, &shapes[1]), YW_OK);
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  parts[0].shape = shapes[0];
  parts[0].material.youngs_modulus = 1e5f;
  parts[0].material.flow = YW_FLOW_BOX;
  parts[0].velocity = (yw_vec3){0, -4, 0};
  parts[1] = parts[0];
  parts[1].shape = shapes[1];
  parts[1].transform.position = (yw_vec3){0.24f, 0.3f, 0.06f};
  parts[1].start = 0.02;
  parts[1].material.flow = YW_FLOW_VON_MISES;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = parts;
  def.num_parts = 2;
  lab_begin(lab, &def);
  yw_shape* rod = NULL;
  assert_int_equal(yw_shape_capsule(NULL, (yw_vec3){0.25f, -0.03f, -1}, (yw_vec3){0.25f, -0.03f, 1},
                                    0.02f, &rod),
                   YW_OK);
  lab_add_obstacle(lab, rod, YW_TRANSFORM_IDENTITY, 0.3f);
}

static void end_scene(plastic_lab* lab, yw_shape* shapes[3]) {
  lab_end(lab);
  yw_shape_release(shapes[0]);
  yw_shape_release(shapes[1]);
}

static uint64_t hash_of(const plastic_lab* lab) {
  size_t bytes = (size_t)lab->particles.count * sizeof(yw_vec4);
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, lab->particles.pos, bytes);
  hash = yw_hash_bytes(hash, lab->particles.vel, bytes);
  return yw_hash_bytes(hash, lab->body->slave_pos, (size_t)lab->body->num_slaves * sizeof(yw_vec4));
}

enum { STEPS = 60, STEP_OF_SNAPSHOT = 35 };

static uint64_t run(int32_t threads, yw_simd simd, bool resumed) {
  plastic_lab lab;
  yw_shape* shapes[3];
  begin_scene(&lab, shapes);
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  lab.ctx.tasks = tasks;
  lab.ctx.simd = yw_simd_resolve(simd);
  for (int i = 0; i < STEPS; ++i) {
    assert_true(lab_step(&lab, 1e-3f) >= 0);
    if (!resumed || i != STEP_OF_SNAPSHOT) continue;
    // The complete state, into a new body.
    size_t size;
    unsigned char* data = lab_save(&lab, &size);
    plastic_lab other;
    yw_shape* others[3];
    begin_scene(&other, others);
    other.particles.count = lab.particles.count;
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      other.particles.pos[m] = lab.particles.pos[m];
      other.particles.vel[m] = lab.particles.vel[m];
      other.particles.mass[m] = lab.particles.mass[m];
      other.particles.inv_mass[m] = lab.particles.inv_mass[m];
    }
    yw_plastic_method.invalidate(other.body, &other.particles);
    lab_load(&other, data, size);
    free(data);
    other.ctx.tasks = tasks;
    other.ctx.simd = lab.ctx.simd;
    other.ctx.time = lab.ctx.time;
    end_scene(&lab, shapes);
    lab = other;
    lab.ctx.obstacles = &lab.set;
    lab.ctx.report = &lab.report;
    lab.set.items = lab.obstacles;
    memcpy(shapes, others, sizeof others);
  }
  assert_true(resumed || lab.body->added > 0);
  assert_int_equal(lab.body->num_started, 2);
  uint64_t hash = hash_of(&lab);
  end_scene(&lab, shapes);
  yw_tasks_destroy(tasks);
  return hash;
}

static void bits_do_not_depend_on_threads_or_simd(void** state) {
  (void)state;
  uint64_t expected = run(1, YW_SIMD_AUTO, false);
  assert_true(run(2, YW_SIMD_AUTO, false) == expected);
  assert_true(run(3, YW_SIMD_AVX2, false) == expected);
  assert_true(run(1, YW_SIMD_PLAIN, false) == expected);
}

static void resumed_runs_go_on_bit_for_bit(void** state) {
  (void)state;
  assert_true(run(1, YW_SIMD_AUTO, true) == run(1, YW_SIMD_AUTO, false));
}

// Every truncated snapshot is rejected.
static void short_snapshots_are_refused(void** state) {
  (void)state;
  plastic_lab lab;
  yw_shape* shapes[3];
  begin_scene(&lab, shapes);
  for (int i = 0; i < 3; ++i) assert_true(lab_step(&lab, 1e-3f) >= 0);
  size_t size;
  unsigned char* data = lab_save(&lab, &size);
  lab_refuse_cut(&lab, data, size);
  lab_load(&lab, data, size);
  free(data);
  end_scene(&lab, shapes);
}

// Parts -------------------------------------------------------------------------------------------

static void late_parts_start_on_time(void** state) {
  (void)state;
  plastic_lab lab;
  yw_shape* shapes[3];
  begin_scene(&lab, shapes);
  int32_t first = lab.particles.count;
  assert_int_equal(first, 24 * 4 * 6);
  assert_int_equal(yw_plastic_method.model_num_particles(lab.model), first);
  uint64_t version = yw_plastic_method.topology_version(lab.body);
  for (int i = 0; i < 19; ++i) assert_true(lab_step(&lab, 1e-3f) >= 0);
  assert_int_equal(lab.particles.count, first);
  assert_true(lab_step(&lab, 1e-3f) >= 0);
  assert_true(lab.particles.count > first + 40);
  assert_int_equal(lab.particles.count, lab.model->num_masters);
  assert_true(yw_plastic_method.topology_version(lab.body) != version);
  // It starts with its velocity, and falls.
  assert_near(lab.particles.vel[first].y, -4, 1e-6);
  assert_true(lab_step(&lab, 1e-3f) >= 0);
  assert_near(lab.particles.vel[first].y, -4 - 9.81e-3, 1e-3);
  end_scene(&lab, shapes);
}

// Two cubes of one body that meet share slaves and move as one; the remaining gap is that of the
// slaves between them.
static void parts_that_meet_merge(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.02f;
  yw_shape* box = lab_box(6, 6, 6, d);
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  parts[0].shape = parts[1].shape = box;
  parts[0].material.youngs_modulus = parts[1].material.youngs_modulus = 1e5f;
  parts[1].transform.position = (yw_vec3){0, 8.0f * d, 0};
  parts[1].velocity = (yw_vec3){0, -1, 0};
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = parts;
  def.num_parts = 2;
  lab_begin(&lab, &def);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  assert_int_equal(lab_pieces(&lab, 1), 2);
  for (int i = 0; i < 100; ++i) assert_true(lab_step(&lab, 1e-3f) >= 0);
  lab_sums sums = lab_measure(&lab);
  assert_near(sums.momentum[1], -0.5 * sums.mass, 1e-4 * sums.mass);
  double upper = 0, lower = 0;
  for (int32_t m = 0; m < 216; ++m) {
    lower += (double)lab.particles.vel[m].y / 216;
    upper += (double)lab.particles.vel[216 + m].y / 216;
  }
  assert_near(lower, -0.5, 0.05);
  assert_near(upper, -0.5, 0.05);
  lab_end(&lab);
  yw_shape_release(box);
}

// A rotated and moved body falls like the original.
static void placed_bodies_move_alike(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f;
  yw_quat turn = yw_quat_normalize((yw_quat){0.3f, -0.2f, 0.5f, 0.7f});
  yw_vec3 shift = {1, 2, 3}, spin = {1, -2, 3};
  yw_shape* box = lab_box(6, 5, 4, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.angular_velocity = spin;
  lab_begin_shape(&lab, box, d, &part);
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    yw_vec3 x = yw_xyz(lab.particles.pos[m]);
    lab.particles.pos[m] = yw_v4(yw_add(yw_rotate(turn, x), shift));
  }
  yw_plastic_method.invalidate(lab.body, &lab.particles);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  for (int i = 0; i < 5; ++i) assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  lab_sums moved = lab_measure(&lab);
  for (int32_t m = 0; m < lab.body->num_masters; ++m) {
    assert_true(lab.body->row_start[m + 1] - lab.body->row_start[m] >= 20);
  }
  lab_end(&lab);
  lab_begin_shape(&lab, box, d, &part);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  for (int i = 0; i < 5; ++i) assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  lab_sums still = lab_measure(&lab);
  yw_vec3 l =
      yw_rotate(turn, (yw_vec3){(float)still.spin[0], (float)still.spin[1], (float)still.spin[2]});
  for (int k = 0; k < 3; ++k) {
    assert_near(moved.spin[k], (double)(&l.x)[k], 1e-3 * (double)yw_length(l));
  }
  lab_end(&lab);
  yw_shape_release(box);
}

// Forces from outside -----------------------------------------------------------------------------

// A bar hung by its end stays there, and the pinned masters are where their pins are.
static void pinned_masters_hold_a_bar(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f;
  yw_shape* box = lab_box(3, 8, 3, d);
  lab_begin_shape(&lab, box, d, NULL);
  yw_hold holds[9];
  int32_t count = 0;
  for (int32_t m = 0; m < lab.particles.count; ++m) {
    if (lab.particles.pos[m].y < 7.0f * d) continue;
    yw_vec3 x = yw_xyz(lab.particles.pos[m]);
    holds[count++] = (yw_hold){.particle = m, .begin = x, .end = x};
    lab.particles.inv_mass[m] = 0.0f;
  }
  assert_int_equal(count, 9);
  lab.ctx.holds = holds;
  lab.ctx.num_holds = count;
  for (int i = 0; i < 400; ++i) assert_true(lab_step(&lab, 2e-3f) >= 0);
  lab_sums sums = lab_measure(&lab);
  for (int i = 0; i < count; ++i) {
    assert_near(yw_distance(yw_xyz(lab.particles.pos[holds[i].particle]), holds[i].end), 0, 1e-6);
  }
  // Under its own weight it is longer by rho g L^2 / 2E, a millimetre, not more than two.
  assert_near(sums.lowest, 0.025, 0.002);
  assert_at_most(sums.fastest, 0.02);
  lab_end(&lab);
  yw_shape_release(box);
}

// A spring pulls with its force: the momentum of a free body after a time.
static void springs_pull(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f, dt = 1e-3f;
  yw_shape* box = lab_box(4, 4, 4, d);
  lab_begin_shape(&lab, box, d, NULL);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  yw_vec3 x = yw_xyz(lab.particles.pos[30]), goal = yw_add(x, (yw_vec3){10, 0, 0});
  yw_spring spring = {.particle = 30, .stiffness = 0.5f, .begin = goal, .end = goal};
  lab.ctx.springs = &spring;
  lab.ctx.num_springs = 1;
  for (int i = 0; i < 20; ++i) assert_true(lab_step(&lab, dt) >= 0);
  assert_near(lab_measure(&lab).momentum[0], 0.5 * 10 * 20 * (double)dt, 2e-3);
  lab_end(&lab);
  yw_shape_release(box);
}

// After contact moves masters, slaves follow, and momentum is what contact left.
static void pushes_are_followed(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f;
  yw_shape* box = lab_box(5, 5, 5, d);
  lab_begin_shape(&lab, box, d, NULL);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  for (int i = 0; i < 50; ++i) {
    for (int32_t m = 0; m < lab.particles.count; ++m) lab.particles.pos[m].x += 0.1f * d;
    lab.particles.vel[3].y += 0.01f;
    assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  }
  lab_sums sums = lab_measure(&lab);
  assert_near(sums.momentum[1], 0.5 * (double)lab.particles.mass[3],
              1e-4 * (double)lab.particles.mass[3] * 125);
  assert_near(sums.center[0], 2.5 * (double)d + 5 * (double)d, 0.01 * (double)d);
  assert_int_equal(lab.body->added, 0);
  double center = 0;
  for (int32_t s = 0; s < lab.body->num_slaves; ++s) center += (double)lab.body->slave_pos[s].x;
  assert_near(center / lab.body->num_slaves, sums.center[0], 0.05 * (double)d);
  lab_end(&lab);
  yw_shape_release(box);
}

// What the solve knows about obstacles: depth, normal, velocity and friction of the deepest.
static void probes_see_moving_obstacles(void** state) {
  (void)state;
  yw_shape* ball = NULL;
  assert_int_equal(yw_shape_sphere(NULL, 1.0f, &ball), YW_OK);
  yw_transform begin = YW_TRANSFORM_IDENTITY, end = begin;
  end.position.y = 0.1f;
  yw_obstacle obstacle = {.shape = ball, .begin = begin, .end = end, .friction = 0.16f};
  obstacle.bounds = yw_obstacle_bounds(ball, begin, end);
  yw_obstacle_set set = {.items = &obstacle, .count = 1, .h = 0.1f};
  yw_step_ctx ctx = {.h = 0.1f, .obstacles = &set, .friction = 0.25f};
  const yw_vec4 points[3] = {{0, 0.95f, 0, 0}, {0, 1.05f, 0, 0}, {0, -0.95f, 0, 0}};
  yw_vec4 normal[3], velocity[3];
  yw_obstacles_probe(&ctx, 3, points, 0.0f, normal, velocity);
  assert_near(normal[0].w, 0.05, 1e-6);
  assert_near(normal[0].y, 1, 1e-6);
  assert_near(velocity[0].y, 1, 1e-5);
  assert_near(velocity[0].w, 0.2, 1e-6);
  assert_true(normal[1].w == 0.0f);
  assert_near(normal[2].w, 0.05, 1e-6);
  yw_obstacles_probe(&ctx, 3, points, 0.1f, normal, velocity);
  assert_near(normal[0].w, 0.15, 1e-6);
  assert_near(normal[1].w, 0.05, 1e-6);
  assert_true(normal[2].w == 0.0f);
  yw_shape_release(ball);
}

// A solve with too few iterations is retried in smaller steps, and counted.
static void stalled_solves_are_counted(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.0625f;
  yw_shape* box = lab_box(8, 8, 8, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material.youngs_modulus = 1e8f;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  def.params.time_step = 1e-2f;
  def.params.max_iterations = 15;
  lab_begin(&lab, &def);
  lab_add_floor(&lab, 0.3f);
  lab.particles.vel[0].y = -1.0f;
  assert_int_equal(lab_step(&lab, 1e-2f), YW_WARN_NUMERICS);
  assert_at_least(lab.report.stalled, 1);
  assert_at_least(lab.body->inner_steps, 2);
  lab_end(&lab);
  yw_shape_release(box);
}

// The automatic step: waves travel at most 5 masters, fast bodies at most a spacing.
static void chosen_steps_follow_the_rule(void** state) {
  (void)state;
  plastic_lab lab;
  const float d = 0.05f;
  yw_shape* box = lab_box(4, 4, 4, d);
  lab_begin_shape(&lab, box, d, NULL);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  float wave = lab.model->wave_speed;
  assert_near(wave, sqrt(1e6 * 0.7 / (1.3 * 0.4) / 1000), 0.01);
  assert_int_equal(lab_step(&lab, 0.02f), YW_OK);
  assert_int_equal(lab.body->inner_steps, (int)ceil(0.02 / (5 * (double)(d / wave))));
  for (int32_t m = 0; m < lab.particles.count; ++m) lab.particles.vel[m].x = 20.0f;
  assert_int_equal(lab_step(&lab, 0.02f), YW_OK);
  assert_int_equal(lab.body->inner_steps, 8);
  lab_end(&lab);
  yw_shape_release(box);
}

// A body that flies apart by 500 d in a step is given up at once, by 300 d it goes on; as a whole
// it may fly as far.
static void bodies_that_fly_apart_end_soon(void** state) {
  (void)state;
  const float d = 0.05f, h = 0.02f, ways[3] = {300, 500, 500};
  const yw_status results[3] = {YW_OK, YW_ERR_DIVERGED, YW_OK};
  for (int k = 0; k < 3; ++k) {
    plastic_lab lab;
    yw_shape* box = lab_box(4, 4, 4, d);
    lab_begin_shape(&lab, box, d, NULL);
    lab.ctx.gravity = (yw_vec3){0, 0, 0};
    for (int32_t m = 0; m < lab.particles.count; ++m) {
      bool there = m % 2 == 0 || k == 2;
      lab.particles.vel[m].x = (there ? 1.0f : -1.0f) * ways[k] * d / h;
    }
    yw_status status = lab_step(&lab, h);
    if (status < 0 || results[k] < 0) assert_int_equal(status, results[k]);
    if (results[k] < 0) assert_int_equal(lab.body->inner_steps, 0);
    lab_end(&lab);
    yw_shape_release(box);
  }
}

// Non-finite numbers stop the body at once.
static void lost_numbers_are_noticed(void** state) {
  (void)state;
  plastic_lab lab;
  yw_shape* box = lab_box(4, 4, 4, 0.05f);
  lab_begin_shape(&lab, box, 0.05f, NULL);
  assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  lab.particles.vel[7].y = NAN;
  assert_int_equal(lab_step(&lab, 1e-3f), YW_ERR_DIVERGED);
  lab_end(&lab);
  yw_shape_release(box);
}

// In a world --------------------------------------------------------------------------------------

static yw_world* make_clay_world(int32_t threads, yw_body_id ids[2]) {
  yw_world* world = make_world(threads, YW_SIMD_AUTO, true);
  yw_shape* box = lab_box(6, 6, 6, 0.02f);
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  parts[0].shape = parts[1].shape = box;
  parts[0].material.flow = parts[1].material.flow = YW_FLOW_BOX;
  parts[1].transform.position = (yw_vec3){0.05f, 0.2f, 0};
  parts[1].start = 0.02;
  yw_plastic_def def = yw_default_plastic_def();
  def.parts = parts;
  def.num_parts = 2;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_plastic(NULL, &def, &model, NULL), YW_OK);
  ids[0] = add_body(world, model, (yw_vec3){0, 0.05f, 0}, (yw_quat){0, 0, 0, 1});
  ids[1] = add_body(world, model, (yw_vec3){0.04f, 0.19f, 0.03f},
                    yw_quat_normalize((yw_quat){0.2f, 0.1f, 0.3f, 1}));
  yw_model_release(model);
  yw_shape_release(box);
  return world;
}

// Two bodies with parts that start later fall on a floor and on each other. They do not merge, the
// hash does not depend on threads, and a snapshot with added particles resumes bit for bit.
static void bodies_live_in_a_world(void** state) {
  (void)state;
  yw_body_id ids[2], other_ids[2];
  yw_world* world = make_clay_world(1, ids);
  yw_world* other = make_clay_world(2, other_ids);
  int32_t count = 0;
  yw_body_positions(world, ids[0], &count);
  assert_int_equal(count, 216);
  for (int i = 0; i < 20; ++i) {
    assert_true(yw_world_step(world, 0.005f, 5, NULL) >= 0);
    assert_true(yw_world_step(other, 0.005f, 5, NULL) >= 0);
  }
  yw_body_positions(world, ids[0], &count);
  assert_int_equal(count, 432);
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, NULL), YW_OK);
  for (int i = 0; i < 20; ++i) assert_true(yw_world_step(world, 0.005f, 5, NULL) >= 0);
  yw_world_destroy(other);
  other = make_clay_world(1, other_ids);
  yw_error error = {0};
  yw_status status = yw_world_load(other, snapshot, size, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  for (int i = 0; i < 20; ++i) assert_true(yw_world_step(other, 0.005f, 5, NULL) >= 0);
  assert_true(yw_world_hash(world) == yw_world_hash(other));
  // Nothing passed through the floor, and the second body lies on the first.
  for (int b = 0; b < 2; ++b) {
    const yw_vec3* x = yw_body_positions(world, ids[b], &count);
    for (int32_t m = 0; m < count; ++m) assert_at_least(x[m].y, 0.004);
  }
  free(snapshot);
  yw_world_destroy(world);
  yw_world_destroy(other);
}

// Bad input ---------------------------------------------------------------------------------------

static void expect_refusal(const yw_plastic_def* def, yw_status status, const char* word) {
  yw_error error = {0};
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_plastic(NULL, def, &model, &error), status);
  assert_null(model);
  if (!strstr(error.message, word)) print_error("no \"%s\" in: %s\n", word, error.message);
  assert_non_null(strstr(error.message, word));
}

static void bad_input_is_refused(void** state) {
  (void)state;
  yw_shape* box = lab_box(4, 4, 4, 0.05f);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  yw_plastic_def good = yw_default_plastic_def(), def;
  good.spacing = 0.05f;
  good.parts = &part;
  good.num_parts = 1;
  const yw_plastic_material material = part.material;
#define REFUSED(field, value, word)              \
  do {                                           \
    part.material.field = (value);               \
    expect_refusal(&good, YW_ERR_INVALID, word); \
    part.material = material;                    \
  } while (0)
  REFUSED(poissons_ratio, 0.5f, "poissons_ratio is 0.5");
  REFUSED(poissons_ratio, -0.1f, "poissons_ratio");
  REFUSED(youngs_modulus, NAN, "youngs_modulus");
  REFUSED(density, 0.0f, "density");
  REFUSED(xi, -1.0f, "xi");
  REFUSED(eta, 2.0f, "eta");
  part.material.flow = YW_FLOW_VON_MISES;
  part.material.yield_stress = -1.0f;
  expect_refusal(&good, YW_ERR_INVALID, "yield_stress is -1");
  part.material = material;
  part.material.flow = YW_FLOW_BOX;
  part.material.theta_c = 1.0f;
  expect_refusal(&good, YW_ERR_INVALID, "theta_c");
  part.material = material;
  def = good, def.spacing = 0.0f;
  expect_refusal(&def, YW_ERR_INVALID, "spacing");
  def = good, def.spacing = 1e-4f;
  expect_refusal(&def, YW_ERR_LIMIT, "GB, but the limit");
  def = good, def.spacing = 1e-6f;
  expect_refusal(&def, YW_ERR_LIMIT, "GB, but the limit");
  def = good, def.memory_limit = 1000.0;
  expect_refusal(&def, YW_ERR_LIMIT, "GB, but the limit");
  def = good, def.num_parts = 0;
  expect_refusal(&def, YW_ERR_INVALID, "part");
  part.start = NAN;
  expect_refusal(&good, YW_ERR_INVALID, "start");
  part.start = 1.0;
  expect_refusal(&good, YW_ERR_INVALID, "the first part starts at 1 s");
  part.start = 0.0;
  part.velocity.x = INFINITY;
  expect_refusal(&good, YW_ERR_INVALID, "velocity");
  part.velocity.x = 0.0f;
  const yw_transform bad[3] = {{{INFINITY, 0, 0}, {0, 0, 0, 1}, 1},
                               {{0, 0, 0}, {0, 0, 0, 2}, 1},
                               {{0, 0, 0}, {0, 0, 0, 1}, 2}};
  for (int k = 0; k < 3; ++k) {
    part.transform = bad[k];
    expect_refusal(&good, YW_ERR_INVALID, "part 0: its transform must be finite");
  }
  part.transform = YW_TRANSFORM_IDENTITY;
  yw_shape* ring = NULL;
  assert_int_equal(yw_shape_torus(NULL, 1.0f, 0.01f, &ring), YW_OK);
  part.shape = ring;
  def = good, def.spacing = 0.9f;
  expect_refusal(&def, YW_ERR_GEOMETRY, "smaller spacing");
  yw_shape* plane = NULL;
  assert_int_equal(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0, &plane), YW_OK);
  part.shape = plane;
  expect_refusal(&good, YW_ERR_GEOMETRY, "unbounded");
  yw_vec3 points[2] = {{0, 0, 0}, {NAN, 0, 0}};
  part.shape = NULL;
  expect_refusal(&good, YW_ERR_INVALID, "neither");
  part.points = points;
  part.num_points = 2;
  expect_refusal(&good, YW_ERR_INVALID, "point 1");
  yw_shape_release(box);
  yw_shape_release(ring);
  yw_shape_release(plane);
}

// Values per point are passed to the masters.
static void fields_reach_the_masters(void** state) {
  (void)state;
  yw_shape* box = lab_box(3, 3, 3, 0.05f);
  yw_vec3* points = NULL;
  int32_t count = 0;
  assert_int_equal(yw_plastic_sample(NULL, box, 0.05f, false, &points, &count, NULL), YW_OK);
  assert_int_equal(count, 27);
  float e[27], density[27];
  for (int i = 0; i < 27; ++i) e[i] = 1e5f * (float)(1 + i), density[i] = 500.0f + (float)i;
  yw_plastic_part part = yw_default_plastic_part();
  part.points = points;
  part.num_points = count;
  part.youngs_modulus_field = e;
  part.density_field = density;
  plastic_lab lab;
  lab_begin_shape(&lab, NULL, 0.05f, &part);
  for (int i = 0; i < 27; ++i) {
    const plastic_material_block* material =
        &lab.model->materials[lab.model->material_of_block[i / YW_LANES]];
    assert_near(material->mu[i % YW_LANES] * 2.6f / e[i], 1, 1e-5);
    assert_near(lab.particles.mass[i] / (density[i] * 0.05f * 0.05f * 0.05f), 1, 1e-5);
  }
  assert_int_equal(yw_plastic_method.num_fields(lab.body), 4);
  lab_end(&lab);
  yw_points_free(NULL, points);
  yw_shape_release(box);
}

// Memory ------------------------------------------------------------------------------------------

enum { METER_HEADER = 64 };

static void* metered_alloc(void* context, size_t size, size_t align) {
  assert_true(align <= METER_HEADER);
  size_t* block = aligned_alloc(align, (METER_HEADER + size + align - 1) / align * align);
  *block = size;
  *(size_t*)context += size;
  return (char*)block + METER_HEADER;
}

static void metered_release(void* context, void* pointer) {
  size_t* block = (size_t*)(void*)((char*)pointer - METER_HEADER);
  *(size_t*)context -= *block;
  free(block);
}

// Bytes that a world holds for a body after its first step.
static double measured_bytes(const yw_shape* shape, float spacing, bool sheet) {
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = shape;
  part.sheet = sheet;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = spacing;
  def.parts = &part;
  def.num_parts = 1;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_plastic(NULL, &def, &model, NULL), YW_OK);
  size_t bytes = 0;
  yw_world_def world_def = yw_default_world_def();
  world_def.threads = 1;
  world_def.mem = (yw_allocator){metered_alloc, metered_release, &bytes};
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&world_def, &world), YW_OK);
  size_t empty = bytes;
  add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  assert_int_equal(yw_world_step(world, 1e-3f, 1, NULL), YW_OK);
  double used = (double)(bytes - empty);
  yw_world_destroy(world);
  yw_model_release(model);
  assert_int_equal(bytes, 0);
  return used;
}

// yw_plastic_count predicts the memory of a body within 10 %.
static void memory_is_as_estimated(void** state) {
  (void)state;
  const float d = 0.01f;
  yw_shape* shapes[3] = {lab_box(20, 20, 20, d), lab_box(60, 1, 60, d), NULL};
  assert_int_equal(yw_shape_sphere(NULL, 12.5f * d, &shapes[2]), YW_OK);
  for (int k = 0; k < 3; ++k) {
    bool sheet = k == 1;
    int32_t count;
    double bytes;
    assert_int_equal(yw_plastic_count(shapes[k], d, sheet, 1e9, &count, &bytes, NULL), YW_OK);
    double measured = measured_bytes(shapes[k], d, sheet);
    assert_near(bytes / count, measured / count, 0.1 * measured / count);
    yw_shape_release(shapes[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_threads_or_simd),
      cmocka_unit_test(resumed_runs_go_on_bit_for_bit),
      cmocka_unit_test(short_snapshots_are_refused),
      cmocka_unit_test(late_parts_start_on_time),
      cmocka_unit_test(parts_that_meet_merge),
      cmocka_unit_test(placed_bodies_move_alike),
      cmocka_unit_test(pinned_masters_hold_a_bar),
      cmocka_unit_test(springs_pull),
      cmocka_unit_test(pushes_are_followed),
      cmocka_unit_test(probes_see_moving_obstacles),
      cmocka_unit_test(stalled_solves_are_counted),
      cmocka_unit_test(chosen_steps_follow_the_rule),
      cmocka_unit_test(bodies_that_fly_apart_end_soon),
      cmocka_unit_test(lost_numbers_are_noticed),
      cmocka_unit_test(bodies_live_in_a_world),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(fields_reach_the_masters),
      cmocka_unit_test(memory_is_as_estimated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
