// SPDX-License-Identifier: MIT
// Resting parts of a plastic body sleep, cost nothing, and wake when they should.
#include "support/plastic_testing.h"
#include "yawara/extend/hash.h"
#include "yawara/plastic.h"

static const float d = 0.02f, h = 0.005f;

static yw_plastic_material clay(void) {
  yw_plastic_material material = yw_default_plastic_material();
  material.youngs_modulus = 2e5f;
  material.flow = YW_FLOW_VON_MISES;
  material.yield_stress = 3e3f;
  return material;
}

// Two blocks of clay on a floor; the second begins at `height` and moves at `velocity`.
static void begin_blocks(plastic_lab* lab, yw_vec3 place, yw_vec3 velocity, int32_t blocks) {
  yw_shape* box = lab_box(5, 4, 5, d);
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  for (int i = 0; i < 2; ++i) parts[i].shape = box, parts[i].material = clay();
  parts[1].transform.position = place;
  parts[1].velocity = velocity;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = parts;
  def.num_parts = blocks;
  def.params.sleep_speed = 0.004f;
  lab_begin(lab, &def);
  lab_add_floor(lab, 0.5f);
  yw_shape_release(box);
}

// Steps until `asleep` masters sleep; how many it took.
static int steps_until(plastic_lab* lab, int32_t asleep, int most) {
  int steps = 0;
  for (; steps < most && lab->body->sleep.num_asleep != asleep; ++steps) {
    assert_true(lab_step(lab, h) >= 0);
  }
  assert_int_equal(lab->body->sleep.num_asleep, asleep);
  return steps;
}

static double energy_of(const plastic_lab* lab) {
  double sum = 0;
  for (int32_t m = 0; m < lab->particles.count; ++m) {
    double w = (double)lab->particles.mass[m];
    sum += w * (0.5 * (double)yw_length2(yw_xyz(lab->particles.vel[m])) +
                9.81 * (double)lab->particles.pos[m].y);
    const plastic_material_block* material =
        &lab->model->materials[lab->model->material_of_block[m / YW_LANES]];
    const plastic_state_block* state = &lab->body->state[m / YW_LANES];
    double j = 1;
    for (int a = 0; a < 3; ++a) {
      double s = (double)state->sigma[a][m % YW_LANES];
      sum += (double)material->volume[m % YW_LANES] * (double)material->mu[m % YW_LANES] * (s - 1) *
             (s - 1);
      j *= s;
    }
    sum += 0.5 * (double)material->volume[m % YW_LANES] * (double)material->lambda[m % YW_LANES] *
           (j - 1) * (j - 1);
  }
  return sum;
}

static uint64_t hash_of(const plastic_lab* lab) {
  size_t n = (size_t)lab->particles.count;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, lab->particles.pos, n * sizeof(yw_vec4));
  hash = yw_hash_bytes(hash, lab->particles.vel, n * sizeof(yw_vec4));
  size_t blocks = (size_t)yw_plastic_chunks(lab->particles.count, YW_LANES);
  return yw_hash_bytes(hash, lab->body->state, blocks * sizeof *lab->body->state);
}

// A block settles and sleeps: positions do not change by a bit, and no part of the step runs.
static void block_sleeps_and_costs_nothing(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  lab_move(&lab, (yw_vec3){0, 0.03f, 0});
  int steps = steps_until(&lab, 100, 600);
  assert_at_least(steps, (int)(0.5f / h));
  uint64_t hash = hash_of(&lab);
  int64_t rebuilt = lab.body->rebuilt;
  for (int i = 0; i < 50; ++i) {
    assert_int_equal(lab_step(&lab, h), YW_OK);
    assert_int_equal(lab.report.asleep, 100);
    assert_int_equal(lab.body->inner_steps, 0);
    assert_at_least(lab.report.obstacle_contacts, 25);
  }
  assert_true(hash_of(&lab) == hash);
  assert_int_equal(lab.body->rebuilt, rebuilt);
  assert_int_equal(lab.body->sleep.num_chunks, 0);
  assert_int_equal(lab.body->num_slaves, 0);
  // Woken explicitly, it stays at rest without gaining energy.
  double before = energy_of(&lab);
  yw_plastic_method.invalidate(lab.body, &lab.particles);
  for (int i = 0; i < 20; ++i) assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  assert_at_most(energy_of(&lab), before + 1e-5 * before);
  assert_at_most(lab_measure(&lab).fastest, 2e-3);
  lab_end(&lab);
}

// With the default limit, from rest: after half a second and one check.
static void chosen_limits_let_blocks_sleep(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  lab.body->params.sleep_speed = -1.0f;
  for (int i = 0; i < 1000 && lab.body->sleep.num_asleep == 0; ++i) {
    assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  }
  assert_int_equal(lab.body->sleep.num_asleep, 100);
  lab_end(&lab);
}

// A body that may no longer sleep wakes as a whole; allowed again, it takes another half second.
static void sleep_is_allowed_and_forbidden_while_it_runs(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  steps_until(&lab, 100, 600);
  yw_plastic_params params = yw_plastic_params_of(lab.body);
  params.sleep_speed = 0.0f;
  assert_int_equal(yw_plastic_set_params(lab.body, &params), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  for (int i = 0; i < 200; ++i) assert_true(lab_step(&lab, h) >= 0);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  params.sleep_speed = 0.004f;
  assert_int_equal(yw_plastic_set_params(lab.body, &params), YW_OK);
  assert_at_least(steps_until(&lab, 100, 600), (int)(0.5f / h) - 1);
  // A rejected value changes nothing.
  params.tolerance = 1.0f;
  assert_int_equal(yw_plastic_set_params(lab.body, &params), YW_ERR_INVALID);
  assert_near(yw_plastic_params_of(lab.body).tolerance, 1e-3, 1e-9);
  assert_int_equal(lab.body->sleep.num_asleep, 100);
  lab_end(&lab);
}

// A push on one master, a change of gravity, a removed floor: each wakes it.
static void touches_wake(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  assert_int_equal(lab_step(&lab, h), YW_OK);
  const int32_t slaves = lab.body->num_slaves;
  assert_at_least(slaves, 100);
  steps_until(&lab, 100, 600);
  lab.particles.vel[40].y += 0.5f;
  assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  assert_int_equal(lab.body->num_slaves, slaves);
  steps_until(&lab, 100, 600);
  lab.particles.pos[40].x += 0.01f * d;
  assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  steps_until(&lab, 100, 600);
  lab.ctx.gravity.y = -5.0f;
  assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  steps_until(&lab, 100, 600);
  lab.set.count = 0;
  for (int i = 0; i < 40; ++i) assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_near(lab_measure(&lab).momentum[1] / lab_measure(&lab).mass, -5.0 * 40 * (double)h, 0.01);
  lab.set.count = 1;
  lab_end(&lab);
}

// An approaching obstacle wakes it before touching; a fixed one far away does not.
static void moving_obstacles_wake(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  steps_until(&lab, 100, 600);
  yw_shape* ball = NULL;
  assert_int_equal(yw_shape_sphere(NULL, 0.05f, &ball), YW_OK);
  yw_transform pose = YW_TRANSFORM_IDENTITY;
  pose.position = (yw_vec3){0.05f, 0.5f, 0.05f};
  lab_add_obstacle(&lab, ball, pose, 0.3f);
  int fell = 0;
  for (; fell < 100 && lab.body->sleep.num_asleep > 0; ++fell) {
    yw_obstacle* o = &lab.obstacles[1];
    o->begin = o->end;
    o->end.position.y -= 0.005f;
    o->bounds = yw_obstacle_bounds(ball, o->begin, o->end);
    assert_int_equal(lab_step(&lab, h), YW_OK);
  }
  double gap = (double)lab.obstacles[1].end.position.y - 0.05 - 4 * (double)d;
  assert_at_least(gap, 0.0);
  assert_at_most(gap, 4 * (double)d);
  lab_end(&lab);
}

// One piece sleeps while another moves past; their shared chunk is processed, the sleeper is not
// moved.
static void pieces_sleep_apart(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0.5f, 2.5f, 0}, (yw_vec3){0, 2, 0}, 2);
  steps_until(&lab, 100, 200);
  assert_int_equal(lab.body->sleep.num_mixed, 7);
  for (int32_t m = 0; m < 200; ++m) assert_int_equal(lab.body->sleep.island[m], m < 100 ? 0 : -1);
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, lab.particles.pos, 100 * sizeof(yw_vec4));
  plastic_state_block kept[6];
  memcpy(kept, lab.body->state, sizeof kept);
  double before = lab_measure(&lab).momentum[1];
  int32_t slaves = lab.body->num_slaves;
  for (int i = 0; i < 20; ++i) assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 100);
  assert_true(yw_hash_bytes(YW_HASH_SEED, lab.particles.pos, 100 * sizeof(yw_vec4)) == hash);
  assert_memory_equal(kept, lab.body->state, sizeof kept);
  // The other one falls freely.
  double fall = -9.81 * 20 * (double)h * 0.5 * lab_measure(&lab).mass;
  assert_near(lab_measure(&lab).momentum[1] - before, fall, 1e-3 * fabs(fall));
  assert_int_equal(lab.body->num_slaves, slaves);
  lab_end(&lab);
}

// A piece that falls on a sleeping one wakes it just before they share slaves, and they merge;
// total energy only decreases.
static void falling_pieces_wake_and_merge(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0.01f, 1.2f, 0}, (yw_vec3){0, 2, 0}, 2);
  steps_until(&lab, 100, 200);
  double gap = 1, energy = energy_of(&lab), gained = 0;
  for (int i = 0; i < 200 && lab.body->sleep.num_asleep > 0; ++i) {
    gap = (double)(lab.particles.pos[100].y - lab.particles.pos[99].y);
    for (int32_t m = 0; m < 100; ++m) {
      for (int32_t n = 100; n < 200; ++n) {
        gap = fmin(gap,
                   (double)yw_distance(yw_xyz(lab.particles.pos[m]), yw_xyz(lab.particles.pos[n])));
      }
    }
    assert_true(lab_step(&lab, h) >= 0);
    gained = fmax(gained, energy_of(&lab) - energy);
    energy = energy_of(&lab);
  }
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  assert_at_least(gap, 2.0 * (double)d);
  for (int i = 0; i < 1200 && lab.body->sleep.num_asleep == 0; ++i) {
    assert_true(lab_step(&lab, h) >= 0);
    gained = fmax(gained, energy_of(&lab) - energy);
    energy = energy_of(&lab);
  }
  assert_int_equal(lab_pieces(&lab, 1), 1);
  assert_int_equal(lab.body->sleep.num_asleep, 200);
  assert_int_equal(lab.body->sleep.num_islands, 1);
  assert_at_most(gained, 2e-3);
  lab_end(&lab);
}

// Floating pieces are not stopped, however slow; pieces hanging on a pin may sleep.
static void floating_matter_drifts_on(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  lab.ctx.gravity = (yw_vec3){0, 0, 0};
  lab_move(&lab, (yw_vec3){0, 1, 0});
  for (int32_t m = 0; m < 100; ++m) lab.particles.vel[m].x = 2e-4f;
  for (int i = 0; i < 200; ++i) assert_int_equal(lab_step(&lab, h), YW_OK);
  lab_sums sums = lab_measure(&lab);
  assert_near(sums.momentum[0] / sums.mass, 2e-4, 1e-8);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  yw_vec3 x = yw_xyz(lab.particles.pos[30]);
  yw_hold hold = {.particle = 30, .begin = x, .end = x};
  lab.ctx.holds = &hold;
  lab.ctx.num_holds = 1;
  steps_until(&lab, 100, 400);
  hold.begin = hold.end;
  hold.end.x += 1e-3f;
  assert_int_equal(lab_step(&lab, h), YW_OK);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  lab_end(&lab);
}

static uint64_t run(int32_t threads, yw_simd simd, int resumed_at) {
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0.01f, 1.2f, 0}, (yw_vec3){0, 2, 0}, 2);
  yw_tasks* tasks = threads > 1 ? yw_tasks_create(NULL, threads) : NULL;
  lab.ctx.tasks = tasks;
  lab.ctx.simd = yw_simd_resolve(simd);
  int slept = 0;
  for (int i = 0; i < 170; ++i) {
    assert_true(lab_step(&lab, h) >= 0);
    slept += lab.body->sleep.num_asleep > 0;
    if (i != resumed_at) continue;
    assert_int_equal(lab.body->sleep.num_asleep, 100);
    size_t size;
    unsigned char* data = lab_save(&lab, &size);
    // The same body, first woken and perturbed.
    yw_vec4 pos[200], vel[200];
    memcpy(pos, lab.particles.pos, sizeof pos);
    memcpy(vel, lab.particles.vel, sizeof vel);
    lab_move(&lab, (yw_vec3){0, 0.3f, 0});
    for (int k = 0; k < 5; ++k) assert_true(lab_step(&lab, h) >= 0);
    lab.ctx.time -= 5 * (double)h;
    memcpy(lab.particles.pos, pos, sizeof pos);
    memcpy(lab.particles.vel, vel, sizeof vel);
    yw_plastic_method.invalidate(lab.body, &lab.particles);
    lab_refuse_cut(&lab, data, size);
    lab_load(&lab, data, size);
    assert_int_equal(lab.body->sleep.num_asleep, 100);
    free(data);
  }
  assert_at_least(slept, 15);
  assert_int_equal(lab.body->sleep.num_asleep, 0);
  uint64_t hash = hash_of(&lab);
  lab_end(&lab);
  yw_tasks_destroy(tasks);
  return hash;
}

// Threads, instruction sets and resuming during sleep change no bit.
static void sleep_keeps_bits(void** state) {
  (void)state;
  uint64_t expected = run(1, YW_SIMD_AUTO, -1);
  assert_true(run(3, YW_SIMD_AUTO, -1) == expected);
  assert_true(run(1, YW_SIMD_PLAIN, -1) == expected);
  assert_true(run(1, YW_SIMD_AUTO, 125) == expected);
}

// Slaves whose places are no numbers go to the first master.
static void lost_slaves_go_to_the_first_master(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  assert_at_least(lab.body->num_slaves, 10);
  yw_vec4 kept = lab.body->slave_pos[2];
  lab.body->slave_pos[3].y = NAN;
  lab.body->slave_pos[4].z = INFINITY;
  yw_plastic_method.invalidate(lab.body, &lab.particles);
  yw_vec3 first = yw_xyz(lab.particles.pos[0]);
  for (int i = 3; i < 5; ++i) {
    assert_near(yw_distance(yw_xyz(lab.body->slave_pos[i]), first), 0, 0);
  }
  assert_memory_equal(&lab.body->slave_pos[2], &kept, sizeof kept);
  lab_end(&lab);
}

// Seeded anew, the slaves around one master are those of its model, in the same order.
static void seeds_are_those_of_the_model(void** state) {
  (void)state;
  plastic_lab lab;
  yw_shape* box = lab_box(1, 1, 1, d);
  lab_begin_shape(&lab, box, d, NULL);
  assert_int_equal(lab.particles.count, 1);
  const int32_t count = lab.model->num_slaves;
  assert_int_equal(count, 8);
  assert_true(yw_plastic_seed_slaves(lab.body, &lab.particles));
  assert_int_equal(lab.body->num_slaves, count);
  for (int32_t s = 0; s < count; ++s) {
    yw_vec3 seeded = yw_xyz(lab.body->slave_pos[s]);
    assert_at_most(yw_distance(seeded, lab.model->slaves[s]), 1e-3f * d);
  }
  lab_end(&lab);
  yw_shape_release(box);
}

// A snapshot cannot hold more sleepers than it has bytes for.
static void more_sleepers_than_bytes_are_refused(void** state) {
  (void)state;
  plastic_lab lab;
  begin_blocks(&lab, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, 1);
  const size_t masters = (size_t)lab.particles.count, size = 12 + 8 * masters;
  unsigned char* bytes = malloc(size);
  for (int k = 0; k < 3; ++k) {
    memset(bytes, 0, size);
    memset(bytes + 12, 0xff, 4 * masters);
    if (k > 0) memset(bytes + 4 * (k - 1), 0xff, 4);  // islands, then slaves
    yw_reader reader = {.data = bytes, .size = size};
    assert_int_equal(yw_plastic_sleep_load(lab.body, &reader), k == 0);
  }
  free(bytes);
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_sleeps_and_costs_nothing),
      cmocka_unit_test(chosen_limits_let_blocks_sleep),
      cmocka_unit_test(sleep_is_allowed_and_forbidden_while_it_runs),
      cmocka_unit_test(touches_wake),
      cmocka_unit_test(moving_obstacles_wake),
      cmocka_unit_test(pieces_sleep_apart),
      cmocka_unit_test(falling_pieces_wake_and_merge),
      cmocka_unit_test(floating_matter_drifts_on),
      cmocka_unit_test(sleep_keeps_bits),
      cmocka_unit_test(lost_slaves_go_to_the_first_master),
      cmocka_unit_test(seeds_are_those_of_the_model),
      cmocka_unit_test(more_sleepers_than_bytes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
