// SPDX-License-Identifier: MIT
// Mass and momentum of plastic bodies through splits and merges, and across contact with bodies of
// the other methods, in free space.
#include "plastic_testing.h"
#include "world_fixture.h"

// Splits and merges -------------------------------------------------------------------------------

enum { SIDE = 5, LUMPS = SIDE * SIDE * SIDE, IN_LUMP = 8, MASTERS = LUMPS * IN_LUMP };

static int32_t root_of(int32_t* parent, int32_t s) {
  while (parent[s] != s) s = parent[s] = parent[parent[s]];
  return s;
}

// Groups of masters between which no slave is shared: nothing that one does reaches another.
static int32_t count_islands(const plastic_body* body) {
  int32_t* parent = malloc(sizeof *parent * (size_t)body->num_slaves);
  bool* has_masters = calloc((size_t)body->num_slaves, sizeof *has_masters);
  int32_t islands = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) parent[s] = s;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      // Pairs beyond 2h are in the lists, but have no weight.
      if (body->row[e].w == 0.0f) continue;
      int32_t a = root_of(parent, body->column[body->row_start[m]]);
      parent[a] = root_of(parent, body->column[e]);
    }
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    has_masters[root_of(parent, body->column[body->row_start[m]])] = true;
  }
  for (int32_t s = 0; s < body->num_slaves; ++s) islands += has_masters[s];
  free(parent);
  free(has_masters);
  return islands;
}

// Sends the lumps towards their middle or away from it, each as a whole.
static void send(plastic_lab* lab, float rate) {
  lab_sums sums = lab_measure(lab);
  yw_vec3 middle = {(float)sums.center[0], (float)sums.center[1], (float)sums.center[2]};
  for (int32_t i = 0; i < LUMPS; ++i) {
    yw_vec3 x = {0, 0, 0};
    for (int32_t k = 0; k < IN_LUMP; ++k) {
      x = yw_mad(x, 1.0f / IN_LUMP, yw_xyz(lab->particles.pos[IN_LUMP * i + k]));
    }
    yw_vec4 v = yw_v4(yw_scale(yw_sub(x, middle), rate));
    for (int32_t k = 0; k < IN_LUMP; ++k) lab->particles.vel[IN_LUMP * i + k] = v;
  }
}

static void begin_lumps(plastic_lab* lab) {
  const float d = 0.02f;
  yw_shape* box = lab_box(2, 2, 2, d);
  yw_plastic_part parts[LUMPS];
  for (int i = 0; i < LUMPS; ++i) {
    parts[i] = yw_default_plastic_part();
    parts[i].shape = box;
    parts[i].material.youngs_modulus = 5e3f;
    parts[i].material.flow = YW_FLOW_BOX;
    parts[i].material.theta_s = 0.3f;
    parts[i].material.theta_c = 0.1f;
    parts[i].material.xi = 5.0f;
    parts[i].transform.position = yw_scale(
        yw_v3((float)(i % SIDE), (float)(i / SIDE % SIDE), (float)(i / SIDE / SIDE)), 6.5f * d);
  }
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = parts;
  def.num_parts = LUMPS;
  def.time_step = 1e-3f;
  lab_begin(lab, &def);
  lab->ctx.gravity = (yw_vec3){0, 0, 0};
  yw_shape_release(box);
}

// 125 lumps fly together into one piece and apart until they share no slave, again and again: a
// thousand splits and merges. Mass stays to the last bit, momentum to 1e-5 of that of the lumps.
static void a_thousand_splits_and_merges_conserve(void** state) {
  (void)state;
  plastic_lab lab;
  begin_lumps(&lab);
  assert_int_equal(lab_step(&lab, 1e-3f), YW_OK);
  float masses[MASTERS];
  memcpy(masses, lab.particles.mass, sizeof masses);
  const int wanted = getenv("YW_TEST_FAST") ? 200 : 1000;
  int32_t islands = count_islands(lab.body), splits = 0, merges = 0, since = 0;
  assert_int_equal(islands, LUMPS);
  bool apart = false;
  double lost = 0, least = INFINITY, expected[3] = {0};
  for (int i = 0; i < 3000 && splits + merges < wanted; ++i) {
    if (since-- == 0) {
      lab_sums now = lab_measure(&lab);
      for (int k = 0; i > 0 && k < 3; ++k) lost += fabs(now.momentum[k] - expected[k]);
      send(&lab, apart ? 40.0f : -40.0f);
      now = lab_measure(&lab);
      memcpy(expected, now.momentum, sizeof expected);
      double size = 0;
      for (int32_t m = 0; m < MASTERS; ++m) {
        size += (double)(masses[m] * yw_length(yw_xyz(lab.particles.vel[m])));
      }
      least = fmin(least, size);
      since = 15;
    }
    assert_true(lab_step(&lab, 1e-3f) >= 0);
    int32_t now = lab_pieces(&lab, 1);
    if (apart) now = count_islands(lab.body);
    if (apart ? now < LUMPS - 20 : now > 8) continue;
    splits += now > islands ? now - islands : 0;
    merges += now < islands ? islands - now : 0;
    islands = now;
    apart = !apart;
    since = 0;
  }
  print_message("%d splits, %d merges: momentum changed by %.1e of what moves\n", splits, merges,
                lost / least);
  assert_at_least(splits + merges, wanted);
  assert_at_least(splits, wanted / 3);
  assert_memory_equal(masses, lab.particles.mass, sizeof masses);
  assert_at_most(lost, 1e-5 * least);
  double carried = 0, mass = lab_measure(&lab).mass;
  for (int32_t s = 0; s < lab.body->num_listed; ++s) carried += (double)lab.body->slave_vel[s].w;
  assert_near(carried, mass, 1e-5 * mass);
  lab_end(&lab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_splits_and_merges_conserve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
