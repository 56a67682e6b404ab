// SPDX-License-Identifier: MIT
// Mass and momentum of plastic bodies through splits and merges, and across contact with bodies of
// the other methods, in free space.
#include "methods/fem/body.h"
#include "support/plastic_testing.h"
#include "support/world_fixture.h"
#include "world/world.h"
#include "yawara/fem.h"
#include "yawara/frames.h"
#include "yawara/match.h"
#include "yawara/plastic.h"
#include "yawara/slender.h"

// Splits and merges -------------------------------------------------------------------------------

enum { SIDE = 5, LUMPS = SIDE * SIDE * SIDE, IN_LUMP = 8, MASTERS = LUMPS * IN_LUMP };

static int32_t root_of(int32_t* parent, int32_t s) {
  while (parent[s] != s) s = parent[s] = parent[parent[s]];
  return s;
}

// Groups of masters that share no slaves, so they cannot affect each other.
static int32_t count_islands(const plastic_body* body) {
  int32_t* parent = malloc(sizeof *parent * (size_t)body->num_slaves);
  bool* has_masters = calloc((size_t)body->num_slaves, sizeof *has_masters);
  int32_t islands = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) parent[s] = s;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) {
      // Pairs beyond 2h are in the lists, but have no weight.
      if (body->share[4 * body->four_start[m] + e - body->row_start[m]] == 0.0f) continue;
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

// Sends the lumps towards their centre or away from it, each as a whole.
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
  def.params.time_step = 1e-3f;
  lab_begin(lab, &def);
  lab->ctx.gravity = (yw_vec3){0, 0, 0};
  yw_shape_release(box);
}

// 125 lumps fly together into one piece and apart until they share no slave, repeatedly: a
// thousand splits and merges. Mass is conserved exactly, momentum to 1e-5 of that of the lumps.
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

// Contact -----------------------------------------------------------------------------------------

typedef struct motion {
  double mass, momentum[3], angular[3];  // about the origin
  double moment[3];                      // mass times centre
} motion;

// Summed over particles; for a fem body over the masses of its front.
static motion motion_of(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  bool is_fem = strcmp(body->model->method->name, "fem") == 0;
  motion sum = {0};
  for (int32_t i = 0; i < body->particles.count; ++i) {
    const float *x = &body->particles.pos[i].x, *v = &body->particles.vel[i].x;
    double mass = (double)body->particles.mass[i];
    if (is_fem) mass = (double)((const fem_body*)body->state)->mass[i];
    sum.mass += mass;
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      sum.momentum[k] += mass * (double)v[k];
      sum.moment[k] += mass * (double)x[k];
      sum.angular[k] += mass * ((double)x[a] * (double)v[b] - (double)x[b] * (double)v[a]);
    }
  }
  double own[3] = {0, 0, 0};
  const yw_method* method = body->model->method;
  if (method->own_spin) method->own_spin(body->state, &body->particles, own);
  for (int k = 0; k < 3; ++k) sum.angular[k] += own[k];
  return sum;
}

// Angular momentum of two bodies about their common centre, which gravity does not change.
static void spin_of_both(const motion* a, const motion* b, double out[3]) {
  double mass = a->mass + b->mass;
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double pi = a->momentum[i] + b->momentum[i], pj = a->momentum[j] + b->momentum[j];
    double xi = (a->moment[i] + b->moment[i]) / mass, xj = (a->moment[j] + b->moment[j]) / mass;
    out[k] = a->angular[k] + b->angular[k] - (xi * pj - xj * pi);
  }
}

static yw_model* clay_ball(void) {
  yw_shape* ball = NULL;
  assert_int_equal(yw_shape_sphere(NULL, 0.06f, &ball), YW_OK);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = ball;
  part.material.youngs_modulus = 2e5f;
  part.material.flow = YW_FLOW_VON_MISES;
  part.material.yield_stress = 3e3f;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = 0.015f;
  def.parts = &part;
  def.num_parts = 1;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_plastic(NULL, &def, &model, NULL), YW_OK);
  yw_shape_release(ball);
  return model;
}

typedef enum partner { MATCH, FRAMES, ROD, FEM, PLASTIC, NUM_PARTNERS } partner;

static yw_model* make_partner(partner kind, float damping) {
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{-0.1f, -0.1f, -0.1f}, {0.1f, 0.1f, 0.1f}};
  const int32_t cells[3] = {4, 4, 4};
  yw_model* model = NULL;
  yw_status status = YW_OK;
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  if (kind == MATCH) {
    yw_match_def def = yw_default_match_def();
    def.mesh = &mesh;
    def.params.alpha = 0.8f;
    status = yw_model_create_match(NULL, &def, &model, NULL);
  } else if (kind == FRAMES) {
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &mesh;
    def.youngs_modulus = 1e5f;
    status = yw_model_create_frames(NULL, &def, &model, NULL);
  } else if (kind == FEM) {
    yw_fem_def def = yw_default_fem_def();
    def.mesh = &mesh;
    def.max_level = 0;
    def.params.mass_damping = damping;
    status = yw_model_create_fem(NULL, &def, &model, NULL);
  } else if (kind == ROD) {
    yw_vec3 points[21];
    for (int i = 0; i < 21; ++i) points[i] = (yw_vec3){0, 0.02f * (float)(i - 10), 0};
    yw_rod_def def = yw_default_rod_def();
    def.points = points;
    def.num_points = 21;
    def.radius = 0.02f;
    status = yw_model_create_rod(NULL, &def, &model, NULL);
  } else {
    model = clay_ball();
  }
  assert_true(status >= 0);
  yw_tet_mesh_free(&mesh);
  return model;
}

// Clay thrown at a body of every method: what one loses the other gains.
static void contact_hands_momentum_on(void** state) {
  (void)state;
  static const char* const names[] = {"match", "frames", "rod", "fem", "plastic"};
  // The second time both fall as well.
  for (int run = 0; run < 2 * NUM_PARTNERS; ++run) {
    partner kind = (partner)(run % NUM_PARTNERS);
    const double g = run < NUM_PARTNERS ? 0.0 : 9.81;
    yw_world_def world_def = yw_default_world_def();
    world_def.gravity = (yw_vec3){(float)g, 0, 0};
    world_def.threads = 1;
    yw_world* world = NULL;
    assert_int_equal(yw_world_create(&world_def, &world), YW_OK);
    yw_model *clay = clay_ball(), *other = make_partner(kind, 0.0f);
    yw_body_def def = yw_default_body_def();
    def.model = clay;
    def.velocity = (yw_vec3){3.0f, 0, 0};
    def.transform.position = (yw_vec3){-0.2f, 0.03f, 0.01f};
    yw_body_id ids[2];
    assert_int_equal(yw_body_create(world, &def, &ids[0], NULL), YW_OK);
    def = yw_default_body_def();
    def.model = other;
    assert_int_equal(yw_body_create(world, &def, &ids[1], NULL), YW_OK);
    // Velocities are set after the first step.
    assert_true(yw_world_step(world, 1e-3f, 1, NULL) >= 0);
    motion first[2] = {motion_of(world, ids[0]), motion_of(world, ids[1])};
    const double fallen = g * 4e-3 * (first[0].mass + first[1].mass);
    int32_t contacts = 0;
    double worst = 0, turned = 0, l0[3];
    spin_of_both(&first[0], &first[1], l0);
    for (int i = 0; i < 50; ++i) {
      yw_step_report report;
      assert_true(yw_world_step(world, 4e-3f, 4, &report) >= 0);
      contacts += report.body_contacts;
      motion a = motion_of(world, ids[0]), b = motion_of(world, ids[1]);
      double l[3];
      spin_of_both(&a, &b, l);
      for (int k = 0; k < 3; ++k) {
        double p = first[0].momentum[k] + first[1].momentum[k];
        if (k == 0) p += fallen * (i + 1);
        worst = fmax(worst, fabs(a.momentum[k] + b.momentum[k] - p));
        turned = fmax(turned, fabs(l[k] - l0[k]));
      }
    }
    motion last = motion_of(world, ids[1]);
    double exchanged = 0, angular = 0;
    for (int k = 0; k < 3; ++k) {
      double own = k == 0 ? 50 * 4e-3 * g * first[1].mass : 0;
      exchanged = fmax(exchanged, fabs(last.momentum[k] - first[1].momentum[k] - own));
      angular = fmax(angular, fabs(first[0].angular[k]));
    }
    print_message("%-8s %.2f kg m/s exchanged, changed by %.1e of that; angular by %.1e\n",
                  names[kind], exchanged, worst / (exchanged + 50 * fallen), turned / angular);
    assert_at_least(contacts, 50);
    assert_at_least(exchanged, 1.0);
    assert_at_most(worst, 1e-5 * (exchanged + 50 * fallen));
    // The rotation of a rod's particles is not counted.
    assert_at_most(turned, (kind == ROD ? 0.02 : 1e-3) * angular);
    yw_world_destroy(world);
    yw_model_release(clay);
    yw_model_release(other);
  }
}

// Height of a cube of 8 layers after a second on a block of another method, in spacings.
static double height_on(partner kind, float fall) {
  const float d = 0.006f;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model *block = make_partner(kind, 10.0f), *cube = NULL;
  add_body(world, block, (yw_vec3){0, 0.1f, 0}, (yw_quat){0, 0, 0, 1});
  yw_shape* box = lab_box(8, 8, 8, d);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = box;
  part.material.youngs_modulus = 1e5f;
  part.material.density = 1500.0f;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = d;
  def.parts = &part;
  def.num_parts = 1;
  assert_int_equal(yw_model_create_plastic(NULL, &def, &cube, NULL), YW_OK);
  yw_vec3 place = {-0.024f, 0.2005f + fall, -0.024f};
  yw_body_id id = add_body(world, cube, place, (yw_quat){0, 0, 0, 1});
  yw_world_set_sleep_speed(world, 0.0f);
  for (int k = 0; k < 36; ++k) {
    yw_step_report report;
    assert_true(yw_world_step(world, 1.0f / 60.0f, 8, &report) >= 0);
    assert_true(k < 20 || report.body_contacts >= 40);
  }
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, id, &count);
  float low = INFINITY, high = -INFINITY;
  for (int32_t m = 0; m < count; ++m) low = fminf(low, x[m].y), high = fmaxf(high, x[m].y);
  yw_world_destroy(world);
  yw_model_release(block);
  yw_model_release(cube);
  yw_shape_release(box);
  return (double)(high - low) / (double)d;
}

// Contact supports a cube on another body, although the solve does not know the body: seven
// spacings, less a fortieth of one for its weight, and up to a twentieth of one from landing, also
// after a fall.
static void cubes_rest_on_other_bodies(void** state) {
  (void)state;
  double match = height_on(MATCH, 0), frames = height_on(FRAMES, 0), fem = height_on(FEM, 0);
  double fallen = height_on(MATCH, 0.05f);
  print_message("height of 7 spacings on match %.2f, frames %.2f, fem %.2f; fallen by 5 cm %.2f\n",
                match, frames, fem, fallen);
  assert_near(match, 6.975, 0.05);
  assert_near(frames, 6.975, 0.05);
  assert_near(fem, 6.975, 0.05);
  assert_near(fallen, 6.975, 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_splits_and_merges_conserve),
      cmocka_unit_test(contact_hands_momentum_on),
      cmocka_unit_test(cubes_rest_on_other_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
