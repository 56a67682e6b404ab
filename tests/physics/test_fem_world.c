// SPDX-License-Identifier: MIT
// Fem bodies in a world: floors, pins, springs, sleep, contact, snapshots, threads.
#include "methods/fem/body.h"
#include "model/model.h"
#include "support/fem_bar.h"
#include "world/world.h"
#include "yawara/fem.h"

static const int32_t block_cells[3] = {2, 2, 2};
static const yw_aabb block_box = {{-0.1f, -0.1f, -0.1f}, {0.1f, 0.1f, 0.1f}};
static const yw_quat upright = {0, 0, 0, 1};

static yw_fem_def soft_def(void) {
  yw_fem_def def = yw_default_fem_def();
  def.youngs_modulus = 2e4f;
  def.max_level = 2;
  def.params.soften = YW_FEM_SOFTEN_FINEST;  // stays coarse
  def.params.mass_damping = 5.0f;
  return def;
}

static yw_aabb bounds_of(const yw_world* world, yw_body_id body) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  yw_aabb box = {{1e9f, 1e9f, 1e9f}, {-1e9f, -1e9f, -1e9f}};
  for (int32_t i = 0; i < count; ++i) {
    box.lower = (yw_vec3){fminf(box.lower.x, x[i].x), fminf(box.lower.y, x[i].y),
                          fminf(box.lower.z, x[i].z)};
    box.upper = (yw_vec3){fmaxf(box.upper.x, x[i].x), fmaxf(box.upper.y, x[i].y),
                          fmaxf(box.upper.z, x[i].z)};
  }
  return box;
}

// Dropped on a floor, a block comes to rest, sleeps, and wakes when pushed.
static void block_rests_on_the_floor_and_sleeps(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0.15f, 0}, upright);
  bool slept = false;
  for (int32_t i = 0; i < 900 && !slept; ++i) {
    assert_int_equal(yw_world_step(world, 1.0f / 60.0f, 2, NULL), YW_OK);
    slept = fem_state_of(world, body).asleep;
  }
  assert_true(slept);
  yw_aabb box = bounds_of(world, body);
  assert_near(box.lower.y, 0.0, 1e-3);
  // Its own weight compresses it by about rho g L^2 / 2E = 0.0098 m of 0.2 m.
  assert_near(box.upper.y, 0.19, 0.006);
  int64_t steps = fem_state_of(world, body).inner_steps;
  for (int32_t i = 0; i < 10; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_int_equal(fem_state_of(world, body).inner_steps, steps);

  // A change of parameters wakes it, and so does a push.
  yw_fem_params params;
  assert_int_equal(yw_body_fem_params(world, body, &params), YW_OK);
  assert_int_equal(yw_body_set_fem_params(world, body, &params), YW_OK);
  yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_true(fem_state_of(world, body).inner_steps > steps);
  assert_false(fem_state_of(world, body).asleep);
  yw_world_destroy(world);
  yw_model_release(model);
}

// A sleeping body wakes when its floor moves away.
static void sleeper_wakes_when_the_floor_goes(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  def.max_level = 1;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_obstacle_id floor = add_floor(world);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0.1f, 0}, upright);
  for (int32_t i = 0; i < 900 && !fem_state_of(world, body).asleep; ++i) {
    yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  }
  assert_true(fem_state_of(world, body).asleep);
  for (int32_t i = 0; i < 5; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_true(fem_state_of(world, body).asleep);
  assert_int_equal(yw_obstacle_destroy(world, floor), YW_OK);
  for (int32_t i = 0; i < 30; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_false(fem_state_of(world, body).asleep);
  // Half a second of falling, damped at 5 / s: g / c (t - (1 - e^-ct) / c) = 0.62 m.
  assert_near(bounds_of(world, body).lower.y, -0.62, 0.015);
  yw_world_destroy(world);
  yw_model_release(model);
}

// A block at x = 0.5 m sleeps on a wide plate until `start`, s, when the plate begins to follow
// `last` over one second. Returns the middle of the block 0.2 s later.
static yw_vec3 where_a_plate_takes_a_sleeper(yw_key last, double start) {
  yw_fem_def def = soft_def();
  def.max_level = 1;
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_shape* plate = NULL;
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){2.0f, 0.1f, 2.0f}, &plate), YW_OK);
  const yw_key keys[2] = {{.time = start, .rotation = upright}, last};
  yw_obstacle_def plate_def = yw_default_obstacle_def();
  plate_def.shape = plate;
  plate_def.transform.position.y = -0.1f;
  plate_def.path = (yw_path){.keys = keys, .num_keys = 2};
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &plate_def, &id, NULL), YW_OK);
  yw_shape_release(plate);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_id body = add_body(world, model, (yw_vec3){0.5f, 0.1f, 0}, upright);
  while (yw_world_time(world) < start - 0.1) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_true(fem_state_of(world, body).asleep);
  for (int32_t i = 0; i < 18; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_false(fem_state_of(world, body).asleep);
  yw_aabb box = bounds_of(world, body);
  yw_world_destroy(world);
  yw_model_release(model);
  return (yw_vec3){0.5f * (box.lower.x + box.upper.x), box.lower.y,
                   0.5f * (box.lower.z + box.upper.z)};
}

// Friction carries a sleeping body along when the plate below slides or starts to turn, although
// the same nodes are in contact.
static void sleeper_wakes_when_the_plate_moves(void** state) {
  (void)state;
  const double start = 10.0;
  yw_key slid = {.time = start + 1.0, .offset = {0, 0, 0.2f}, .rotation = upright};
  yw_vec3 at = where_a_plate_takes_a_sleeper(slid, start);
  assert_near(at.x, 0.5, 0.005);
  // The plate went 0.04 m in 0.2 s; a shear wave takes 0.07 s through the soft block, which lags
  // by half of that way.
  assert_near(at.z, 0.033, 0.005);
  // By 10 degrees about y, at 0.175 rad/s: 0.035 rad so far.
  yw_key turned = {.time = start + 1.0, .rotation = {0, sinf(0.0873f), 0, cosf(0.0873f)}};
  at = where_a_plate_takes_a_sleeper(turned, start);
  assert_near(at.z, -0.5 * 0.035, 0.004);
}

// A single vertex in the middle of an edge, on no coarse level, can be held exactly and pulled.
static void pins_refine_what_they_hold(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  def.params.sleep_speed = 0.0f;
  for (int k = 0; k < 2; ++k) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, false);
    yw_model* model = make_fem_model(&def, block_cells, block_box);
    yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
    int32_t vertex = yw_model_num_particles(model) - 3;
    yw_vec3 at = yw_model_tets(model)->positions[vertex];
    assert_int_equal(fem_state_of(world, body).finest_level, 0);
    fem_pin(world, body, &vertex, 1, k ? 2e3f : 0.0f);
    for (int32_t i = 0; i < 120; ++i) {
      assert_true(yw_world_step(world, 1.0f / 60.0f, 2, NULL) >= 0);
    }
    assert_int_equal(fem_state_of(world, body).finest_level, 2);
    yw_vec3 p = yw_body_positions(world, body, NULL)[vertex];
    if (k == 0) {
      assert_near(p.x, at.x, 0);
      assert_near(p.y, at.y, 0);
      assert_near(p.z, at.z, 0);
    } else {
      // The spring carries the weight of 8 kg: 0.039 m.
      assert_near(at.y - p.y, 8.0 * 9.81 / 2e3, 0.004);
    }
    yw_world_destroy(world);
    yw_model_release(model);
  }
}

// A block pressed to 40 % of its height between two held faces, far into the range where tets are
// pushed apart, gains no energy there; less than a hundredth of it is still in motion.
static void squeezed_blocks_calm_down(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  def.poissons_ratio = 0.35f;
  def.params.mass_damping = 2.0f;
  def.params.tau = 0.05f;
  yw_world* world = make_weightless_world(1);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  const yw_tet_mesh* fine = yw_model_tets(model);
  int32_t* held = malloc(sizeof *held * (size_t)fine->num_vertices);
  const yw_key keys[2] = {{0.0, {0, 0, 0}, {0, 0, 0, 1}}, {0.4, {0, -0.12f, 0}, {0, 0, 0, 1}}};
  for (int k = 0; k < 2; ++k) {
    yw_pin_def pin_def = yw_default_pin_def();
    for (int32_t i = 0; i < fine->num_vertices; ++i) {
      float y = fine->positions[i].y;
      if (k ? y > 0.0999f : y < -0.0999f) held[pin_def.num_vertices++] = i;
    }
    pin_def.body = body;
    pin_def.vertices = held;
    if (k) pin_def.path = (yw_path){.keys = keys, .num_keys = 2};
    yw_pin_id pin;
    assert_int_equal(yw_pin_create(world, &pin_def, &pin, NULL), YW_OK);
  }
  free(held);
  double pressed = 0.0;
  int32_t recovered = 0;
  for (int32_t i = 0; i < 72; ++i) {
    yw_step_report report;
    assert_true(yw_world_step(world, 1.0f / 60.0f, 4, &report) >= 0);
    recovered += report.recovered_regions;
    if (i == 23) pressed = elastic_energy_of(world, body);
  }
  assert_true(recovered > 1000);
  assert_at_most(elastic_energy_of(world, body), 1.005 * pressed);
  yw_body_energy energy;
  assert_int_equal(yw_body_energy_of(world, body, &energy), YW_OK);
  assert_at_most(energy.kinetic, 0.01 * pressed);
  yw_world_destroy(world);
  yw_model_release(model);
}

typedef struct run_result {
  uint64_t hash;
  int64_t splits;
} run_result;

static yw_world* make_scene(int32_t threads, yw_simd simd, yw_model** model, yw_body_id bodies[2]) {
  yw_fem_def def = soft_def();
  def.params.tau = 0.004f;
  yw_world* world = make_world(threads, simd, true);
  *model = make_fem_model(&def, block_cells, block_box);
  yw_quat tilted = {0.2f, 0.1f, 0.3f, 0.9f};
  bodies[0] = add_body(world, *model, (yw_vec3){0, 0.2f, 0}, tilted);
  bodies[1] = add_body(world, *model, (yw_vec3){0.05f, 0.5f, 0.02f}, upright);
  return world;
}

static run_result run_scene(int32_t threads, yw_simd simd, int32_t frames) {
  yw_model* model;
  yw_body_id bodies[2];
  yw_world* world = make_scene(threads, simd, &model, bodies);
  for (int32_t i = 0; i < frames; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  run_result result = {yw_world_hash(world), fem_state_of(world, bodies[0]).splits};
  yw_world_destroy(world);
  yw_model_release(model);
  return result;
}

static void same_bits_over_threads_and_simd(void** state) {
  (void)state;
  int32_t frames = 20;
  run_result first = run_scene(1, YW_SIMD_PLAIN, frames);
  assert_true(first.splits > 0);
  assert_true(run_scene(2, YW_SIMD_AVX512, frames).hash == first.hash);
  assert_true(run_scene(3, YW_SIMD_AVX2, frames).hash == first.hash);
}

// A snapshot while the front is changing and bodies are in contact changes nothing.
static void resumed_run_is_the_same(void** state) {
  (void)state;
  yw_model* model;
  yw_body_id bodies[2];
  yw_world* world = make_scene(2, YW_SIMD_AUTO, &model, bodies);
  for (int32_t i = 0; i < 15; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_true(fem_state_of(world, bodies[0]).splits > 0);
  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, NULL), YW_OK);
  for (int32_t i = 0; i < 10; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  uint64_t expected = yw_world_hash(world);
  yw_world_destroy(world);
  yw_model_release(model);

  world = make_scene(1, YW_SIMD_AUTO, &model, bodies);
  yw_error error;
  yw_status status = yw_world_load(world, snapshot, size, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  for (int32_t i = 0; i < 10; ++i) yw_world_step(world, 1.0f / 60.0f, 2, NULL);
  assert_true(yw_world_hash(world) == expected);
  free(snapshot);
  yw_world_destroy(world);
  yw_model_release(model);
}

// With the masses of the nodes in use.
static void momentum_of(const yw_world* world, yw_body_id id, double out[3]) {
  const yw_body* body = yw_world_find_body(world, id);
  const double* mass = ((const fem_body*)body->state)->mass;
  for (int k = 0; k < 3; ++k) out[k] = 0.0;
  for (int32_t i = 0; i < body->particles.count; ++i) {
    const float* v = &body->particles.vel[i].x;
    for (int k = 0; k < 3; ++k) out[k] += mass[i] * (double)v[k];
  }
}

// Two colliding blocks separate again, with their total momentum unchanged.
static void check_collision(int32_t max_level, double rounding) {
  yw_fem_def def = soft_def();
  def.max_level = max_level;
  def.params.mass_damping = 0.0f;
  yw_world* world = make_weightless_world(0);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.velocity = (yw_vec3){1.0f, 0, 0};
  yw_body_id a, b;
  assert_int_equal(yw_body_create(world, &body_def, &a, NULL), YW_OK);
  body_def.velocity = (yw_vec3){-1.0f, 0, 0};
  body_def.transform.position = (yw_vec3){0.25f, 0.03f, 0.02f};
  assert_int_equal(yw_body_create(world, &body_def, &b, NULL), YW_OK);
  double worst = 0.0, first[3], second[3];
  int32_t contacts = 0;
  for (int32_t i = 0; i < 60; ++i) {
    yw_step_report report;
    yw_world_step(world, 1.0f / 120.0f, 4, &report);
    contacts += report.body_contacts;
    momentum_of(world, a, first);
    momentum_of(world, b, second);
    for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(first[k] + second[k]));
  }
  assert_true(contacts > 10);
  // Each came with 8 kg m/s.
  assert_at_most(worst / 8.0, rounding);
  assert_at_most(first[0], -4.0);
  assert_at_least(second[0], 4.0);
  yw_world_destroy(world);
  yw_model_release(model);
}

// Tets that split while they touch lose a little of it (docs/methods/fem.md, Limits).
static void bodies_collide(void** state) {
  (void)state;
  check_collision(0, 1e-5);
  check_collision(2, 0.005);
}

// A body squashed flat and partly inverted recovers its shape.
static void inverted_body_recovers(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  def.params.mass_damping = 20.0f;
  yw_world* world = make_weightless_world(0);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  int32_t count = yw_model_num_particles(model);
  yw_vec3* pose = malloc(sizeof *pose * (size_t)count);
  test_random random = {3};
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 x = yw_model_tets(model)->positions[i];
    pose[i] = (yw_vec3){x.x + (float)test_random_in(&random, -0.01, 0.01), 0.1f * x.y,
                        x.z + (float)test_random_in(&random, -0.01, 0.01)};
  }
  assert_int_equal(yw_body_set_state(world, body, pose, NULL), YW_OK);
  double energy = elastic_energy_of(world, body);
  int32_t recovered = 0;
  for (int32_t i = 0; i < 120; ++i) {
    yw_step_report report;
    assert_true(yw_world_step(world, 1.0f / 60.0f, 2, &report) >= 0);
    recovered += report.recovered_regions;
    assert_int_equal(report.diverged_bodies, 0);
    if (i == 119) assert_int_equal(report.recovered_regions, 0);
  }
  assert_true(recovered > 100);
  // It may have rotated meanwhile; without strain it has its shape.
  assert_at_most(elastic_energy_of(world, body), 1e-6 * energy);
  free(pose);
  yw_world_destroy(world);
  yw_model_release(model);
}

// Linear and angular momentum about the origin, of the masses of the front.
static void front_momenta(const yw_world* world, yw_body_id id, double p[3], double l[3]) {
  const yw_body* body = yw_world_find_body(world, id);
  const fem_body* b = body->state;
  for (int k = 0; k < 3; ++k) p[k] = l[k] = 0.0;
  for (int32_t n = 0; n < body->particles.count; ++n) {
    const float *x = &body->particles.pos[n].x, *v = &body->particles.vel[n].x;
    for (int k = 0; k < 3; ++k) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      p[k] += b->mass[n] * (double)v[k];
      l[k] += b->mass[n] * ((double)x[i] * (double)v[j] - (double)x[j] * (double)v[i]);
    }
  }
}

// Free flight in single precision, spinning and vibrating, while the front changes.
static void momentum_in_free_flight(void** state) {
  (void)state;
  yw_fem_def def = soft_def();
  def.params.mass_damping = 0.0f;
  yw_world* world = make_weightless_world(0);
  yw_model* model = make_fem_model(&def, block_cells, block_box);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.velocity = (yw_vec3){0.3f, 0.1f, -0.2f};
  body_def.angular_velocity = (yw_vec3){3.0f, 8.0f, -2.0f};
  yw_body_id body;
  assert_int_equal(yw_body_create(world, &body_def, &body, NULL), YW_OK);
  // Twisted to begin with.
  int32_t count = yw_model_num_particles(model);
  yw_vec3* pose = malloc(sizeof *pose * (size_t)count);
  twist_positions(count, yw_model_tets(model)->positions, 2.0f, pose);
  assert_int_equal(yw_body_set_state(world, body, pose, NULL), YW_OK);
  free(pose);
  double p0[3], l0[3], p[3], l[3], spin = 0.0, lost = 0.0;
  front_momenta(world, body, p0, l0);
  yw_fem_params params = def.params;
  for (int32_t i = 0; i < 120; ++i) {
    // Alternately finer and coarser.
    params.tau = i / 15 % 2 ? 0.01f : 0.5f;
    if (i % 15 == 0) assert_int_equal(yw_body_set_fem_params(world, body, &params), YW_OK);
    yw_world_step(world, 1.0f / 60.0f, 1, NULL);
  }
  yw_fem_statistics s = fem_state_of(world, body);
  assert_true(s.splits > 100 && s.merges > 100);
  front_momenta(world, body, p, l);
  for (int k = 0; k < 3; ++k) {
    assert_near(p[k], p0[k], 1e-5 * 8.0);
    spin += l0[k] * l0[k];
    lost += (l[k] - l0[k]) * (l[k] - l0[k]);
  }
  assert_at_most(sqrt(lost / spin), 1e-4);
  yw_world_destroy(world);
  yw_model_release(model);
}

// A block whose corner is pressed in until its two tets are flat: they need short steps, and no
// other tets give mass to the corner.
static yw_model* make_pinched_block(float mass_scaling, double* mass, yw_fem_info* info) {
  const int32_t cells[3] = {8, 8, 8};
  yw_tet_mesh mesh;
  assert_int_equal(yw_tet_mesh_lattice(NULL, block_box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3* p = &mesh.positions[i];
    if (p->x > 0.099f && p->y < -0.099f && p->z < -0.099f) *p = (yw_vec3){0.088f, -0.088f, -0.088f};
  }
  yw_fem_def def = soft_def();
  def.mesh = &mesh;
  def.max_level = 1;
  def.mass_scaling = mass_scaling;
  def.params.safety = 1.0f;
  def.params.mass_damping = def.params.sleep_speed = 0.0f;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_fem(NULL, &def, &model, NULL), YW_OK);
  assert_int_equal(yw_model_fem_info(model, info), YW_OK);
  *mass = 0.0;
  const fem_model* fem = model->data;
  for (int32_t n = 0; n < fem->h.num_nodes; ++n) *mass += fem->fine_mass[n];
  yw_tet_mesh_free(&mesh);
  return model;
}

// Moving half a percent of the mass makes the step several times longer; the mass stays, the longer
// step is stable.
static void small_tets_do_not_shorten_steps(void** state) {
  (void)state;
  double mass, scaled_mass;
  yw_fem_info info, scaled_info;
  yw_model_release(make_pinched_block(0.0f, &mass, &info));
  yw_model* model = make_pinched_block(0.005f, &scaled_mass, &scaled_info);
  assert_near(scaled_mass / mass, 1.0, 1e-12);
  assert_true(info.moved_mass == 0.0f);
  assert_true(scaled_info.moved_mass > 0.002f && scaled_info.moved_mass <= 0.005f);
  for (int l = 0; l < 2; ++l) {
    assert_true(scaled_info.levels[l].time_step > 2.0f * info.levels[l].time_step);
  }
  // Small random velocities, so in all modes, with the whole step and no damping.
  yw_world* world = make_weightless_world(1);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, upright);
  test_random random = {5};
  int32_t count = yw_model_num_particles(model);
  yw_vec3* velocities = malloc(sizeof *velocities * (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) (&velocities[i].x)[k] = (float)test_random_in(&random, -1e-4, 1e-4);
  }
  const yw_vec3* rest = yw_model_tets(model)->positions;
  assert_int_equal(yw_body_set_state(world, body, rest, velocities), YW_OK);
  free(velocities);
  yw_body_energy first, last;
  assert_int_equal(yw_body_energy_of(world, body, &first), YW_OK);
  for (int32_t i = 0; i < 20; ++i) {
    yw_step_report report;
    yw_world_step(world, 1.0f / 60.0f, 1, &report);
    assert_int_equal(report.diverged_bodies, 0);
  }
  assert_int_equal(yw_body_energy_of(world, body, &last), YW_OK);
  assert_true(fem_state_of(world, body).time_step > 1.5f * info.levels[1].time_step);
  assert_at_most((last.kinetic + last.elastic) / (first.kinetic + first.elastic), 1.01);
  yw_model_release(model);
  yw_world_destroy(world);
}

// Cells are the tets in use; level, strain, stress and energy belong to them.
static void cells_show_what_they_carry(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 2;
  def.params.soften = YW_FEM_SOFTEN_FINEST;
  fem_test_bar bar = make_fem_bar(&def, 9.81f);
  for (int32_t i = 0; i < 48; ++i) yw_world_step(bar.world, FEM_TEST_FRAME, 1, NULL);
  yw_fem_statistics s = fem_state_of(bar.world, bar.body);
  int32_t count = yw_body_cells(bar.world, bar.body, NULL, 0);
  assert_int_equal(count, s.num_tets);
  assert_true(count > 100 && count < 2496);
  int32_t* cells = malloc(4 * sizeof *cells * (size_t)count);
  float* values = malloc(sizeof *values * (size_t)count);
  yw_body_cells(bar.world, bar.body, cells, count);
  const yw_vec3* rest = yw_model_tets(bar.model)->positions;
  double volume = 0.0, energy = 0.0, finest = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    int32_t field = yw_body_find_field(bar.world, bar.body, pass ? "energy" : "level");
    assert_int_equal(yw_body_field_values(bar.world, bar.body, field, values, count), YW_OK);
    for (int32_t t = 0; t < count; ++t) {
      yw_dvec3 p[4];
      for (int k = 0; k < 4; ++k) p[k] = yw_d3(rest[cells[4 * t + k]]);
      double v = yw_tet_volume6(p) / 6.0;
      assert_true(v > 0.0);
      if (pass == 0) volume += v, finest = fmax(finest, (double)values[t]);
      if (pass == 1) energy += v * (double)values[t];
    }
  }
  assert_near(volume, 0.4 * 0.1 * 0.1, 1e-8);
  assert_near(finest, s.finest_level, 0);
  assert_near(energy / elastic_energy_of(bar.world, bar.body), 1.0, 1e-4);
  // Bending pulls along one axis: of the energy, 2 (1 + nu) / 3 changes shape, which is the part
  // that von Mises stress measures.
  int32_t field = yw_body_find_field(bar.world, bar.body, "stress");
  assert_int_equal(yw_body_field_values(bar.world, bar.body, field, values, count), YW_OK);
  const double shear = (double)def.youngs_modulus / (2.0 * (1.0 + (double)def.poissons_ratio));
  double distortion = 0.0;
  for (int32_t t = 0; t < count; ++t) {
    yw_dvec3 p[4];
    for (int k = 0; k < 4; ++k) p[k] = yw_d3(rest[cells[4 * t + k]]);
    distortion += yw_tet_volume6(p) / 6.0 * (double)(values[t] * values[t]) / (6.0 * shear);
  }
  assert_near(distortion / energy, 2.0 * (1.0 + (double)def.poissons_ratio) / 3.0, 0.05);
  free(cells);
  free(values);
  free_fem_bar(&bar);
}

// The paper's own rules work for comparison: strain ranges refine, and snapping positions loses the
// forces of the fine side.
static void literal_variants_run(void** state) {
  (void)state;
  yw_fem_def def = yw_default_fem_def();
  def.max_level = 2;
  def.params.mass_damping = 10.0f;
  double tip[3];
  for (int k = 0; k < 3; ++k) {
    yw_fem_def own = def;
    if (k == 1) own.params.refine = YW_FEM_REFINE_RANGE;
    if (k == 2) own.params.hanging = YW_FEM_HANGING_SNAP;
    fem_test_bar bar = make_fem_bar(&own, 9.81f);
    for (int32_t i = 0; i < 240; ++i) {
      assert_true(yw_world_step(bar.world, FEM_TEST_FRAME, 1, NULL) >= 0);
    }
    assert_true(fem_state_of(bar.world, bar.body).splits > 10);
    tip[k] = 0.05 - (double)yw_body_positions(bar.world, bar.body, NULL)[bar.tip].z;
    free_fem_bar(&bar);
  }
  assert_at_least(tip[0], 0.08);
  // Ranges keep coarse tets where strain is small, and coarse tets are stiffer.
  assert_near(tip[1] / tip[0], 0.85, 0.15);
  assert_at_most(tip[1] / tip[0], 0.98);
  // Forces lost at hanging nodes change where the bar hangs.
  assert_at_least(fabs(tip[2] / tip[0] - 1.0), 0.01);
}

static void bad_definitions_are_refused(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  const int32_t cells[3] = {1, 1, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, block_box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  static const char* words[8] = {"youngs_modulus", "poissons_ratio", "density", "tau",
                                 "safety",         "min_level",      "level",   "GB"};
  for (int k = 0; k < 8; ++k) {
    yw_fem_def def = yw_default_fem_def();
    def.mesh = &mesh;
    if (k == 0) def.youngs_modulus = 0.0f;
    if (k == 1) def.poissons_ratio = 0.5f;
    if (k == 2) def.density = -1.0f;
    if (k == 3) def.params.tau = NAN;
    if (k == 4) def.params.safety = 2.0f;
    if (k == 5) def.params.min_level = 4;
    if (k == 6) def.max_level = 9;
    if (k == 7) def.max_level = 8;
    yw_model* model = NULL;
    yw_error error;
    assert_true(yw_model_create_fem(NULL, &def, &model, &error) < 0);
    assert_null(model);
    if (!strstr(error.message, words[k])) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, words[k]));
  }
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_rests_on_the_floor_and_sleeps),
      cmocka_unit_test(sleeper_wakes_when_the_floor_goes),
      cmocka_unit_test(sleeper_wakes_when_the_plate_moves),
      cmocka_unit_test(pins_refine_what_they_hold),
      cmocka_unit_test(squeezed_blocks_calm_down),
      cmocka_unit_test(same_bits_over_threads_and_simd),
      cmocka_unit_test(resumed_run_is_the_same),
      cmocka_unit_test(bodies_collide),
      cmocka_unit_test(inverted_body_recovers),
      cmocka_unit_test(momentum_in_free_flight),
      cmocka_unit_test(small_tets_do_not_shorten_steps),
      cmocka_unit_test(cells_show_what_they_carry),
      cmocka_unit_test(literal_variants_run),
      cmocka_unit_test(bad_definitions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
