// SPDX-License-Identifier: MIT
// Random worlds: whatever they contain, they stay finite, conserve momentum if nothing external
// acts, gain no energy, and give the same bits for any number of threads, instruction set
// and interruption. YW_RANDOM_WORLDS=n tries n worlds per law, YW_RANDOM_SEED=s begins at s.
#include "methods/fem/body.h"
#include "support/method_models.h"
#include "support/world_fixture.h"
#include "world/world.h"
#include "yawara/match.h"

#define MAX_BODIES 12
#define MAX_MODELS 3
// Empirical: above the largest values seen (1.0e-5 and 0.008 in single worlds).
#define MOMENTUM_ROUNDING 3e-5
#define ENERGY_ROUNDING 0.02

typedef struct recipe {
  test_random random;
  float size;      // m, of a body
  yw_vec3 origin;  // m
  float spread;    // m, between bodies
  bool gentle;     // no pins, obstacles or poses that add energy
  int32_t num_bodies;
  int32_t num_models;
  float dt;
  int32_t substeps;
} recipe;

static int32_t setting(const char* name, int32_t otherwise) {
  const char* text = getenv(name);
  return text ? atoi(text) : otherwise;
}

static float in(recipe* r, double low, double high) {
  return (float)test_random_in(&r->random, low, high);
}
static int32_t pick(recipe* r, int32_t count) {
  return (int32_t)(test_random_u32(&r->random) % (uint32_t)count);
}
static float decades(recipe* r, double low, double high) {
  return (float)pow(10.0, test_random_in(&r->random, low, high));
}
static yw_vec3 direction(recipe* r, float length) {
  return (yw_vec3){in(r, -length, length), in(r, -length, length), in(r, -length, length)};
}
static yw_quat turn(recipe* r) {
  return (yw_quat){in(r, -1, 1), in(r, -1, 1), in(r, -1, 1), in(r, 0.1, 1)};
}

// Models ------------------------------------------------------------------------------------------

static void random_mesh(recipe* r, yw_tet_mesh* mesh) {
  float s = 0.5f * r->size;
  if (pick(r, 4) == 0) {
    yw_shape* shape = NULL;
    yw_status made = pick(r, 2) ? yw_shape_sphere(NULL, s, &shape)
                                : yw_shape_torus(NULL, 0.7f * s, 0.3f * s, &shape);
    assert_int_equal(made, YW_OK);
    yw_mesher_def def = yw_default_mesher_def();
    def.size = r->size / in(r, 4, 7);
    yw_error error = {0};
    if (yw_shape_tets(shape, NULL, &def, mesh, &error) < 0) fail_msg("%s", error.message);
    yw_shape_release(shape);
    return;
  }
  // Multiples of 16 and of the chunk size exercise the ends of arrays.
  static const int32_t cells[][3] = {{1, 1, 1}, {1, 1, 3},  {3, 3, 3}, {1, 3, 3},  {1, 1, 5},
                                     {2, 2, 2}, {3, 7, 7},  {4, 8, 4}, {1, 1, 31}, {2, 3, 4},
                                     {7, 7, 7}, {1, 15, 3}, {1, 1, 2}};
  const int32_t* c = cells[pick(r, sizeof cells / sizeof cells[0])];
  yw_aabb box = {{-s * in(r, 0.2, 1), -s, -s * in(r, 0.2, 1)},
                 {s * in(r, 0.2, 1), s, s * in(r, 0.2, 1)}};
  if (r->gentle) {
    // Cells several times longer than wide are not stable with examples.
    float cell = r->size / (float)(c[0] > c[1] ? c[0] : c[1]);
    if (c[2] > c[1] && c[2] > c[0]) cell = r->size / (float)c[2];
    yw_vec3 half = {0.5f * cell * (float)c[0] * in(r, 0.6, 1), 0.5f * cell * (float)c[1],
                    0.5f * cell * (float)c[2]};
    box = (yw_aabb){{-half.x, -half.y, -half.z}, half};
  }
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, c, pick(r, 2), mesh), YW_OK);
}

// An example pose; some are useless on purpose.
static void random_pose(recipe* r, const yw_tet_mesh* mesh, int32_t kind, yw_vec3* out) {
  float amount = in(r, -2, 2) / r->size;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    if (kind == 1) p.x += amount * p.y * p.y;
    if (kind == 2) p = (yw_vec3){p.x, 0, p.z};
    if (kind == 3) p.x = -p.x;
    if (kind == 4) p = (yw_vec3){0, 0, 0};
    if (kind == 5) p = (yw_vec3){p.x + in(r, -0.1, 0.1) * r->size, p.y, p.z};
    out[i] = p;
  }
  if (kind == 6) twist_positions(mesh->num_vertices, mesh->positions, amount, out);
}

static yw_model* random_model(recipe* r) {
  yw_tet_mesh mesh = {0};
  random_mesh(r, &mesh);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  def.density = decades(r, -3, 5);
  // In a hull of 32 poses a body of 8 vertices can take any shape without energy, and spin faster.
  static const int32_t counts[] = {0, 0, 1, 2, 3, 5, 32};
  def.num_examples = counts[pick(r, r->gentle ? 6 : 7)];
  size_t n = (size_t)mesh.num_vertices;
  yw_vec3* poses = malloc(sizeof(yw_vec3) * n * YW_MAX_EXAMPLES);
  const yw_vec3* examples[YW_MAX_EXAMPLES];
  static const int32_t sound[] = {0, 1, 2, 5, 6};
  for (int32_t k = 0; k < def.num_examples; ++k) {
    examples[k] = poses + n * (size_t)k;
    random_pose(r, &mesh, r->gentle ? sound[pick(r, 5)] : pick(r, 7), poses + n * (size_t)k);
  }
  int32_t* labels = malloc(sizeof(int32_t) * n);
  for (size_t i = 0; i < n; ++i) labels[i] = pick(r, 3) * 1000000 - 7;
  def.examples = examples;
  def.vertex_labels = labels;
  def.grouping = (yw_grouping)pick(r, 3);
  static const float shares[] = {0, 1, 0.8f, 0.5f, 0.01f};
  def.params.alpha = shares[pick(r, 5)];
  def.params.beta = shares[pick(r, 5)];
  static const float dampings[] = {0, 6, 100, 1e6f};
  // With examples and no damping a body can gain energy (docs/methods/match.md, Limits).
  def.params.damping = dampings[r->gentle && def.num_examples > 0 ? 1 + pick(r, 3) : pick(r, 4)];
  // The papers' rule is not a projection: it cuts weights that cancelled, which can add energy.
  def.params.projection = r->gentle ? YW_PROJECTION_EXACT : (yw_projection)pick(r, 2);
  yw_model* model = NULL;
  yw_error error = {0};
  if (yw_model_create_match(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  free(poses);
  free(labels);
  yw_tet_mesh_free(&mesh);
  return model;
}

// Worlds ------------------------------------------------------------------------------------------

static yw_vec3 place_of(recipe* r, int32_t i) {
  yw_vec3 p = r->origin;
  p.x += r->spread * (float)(i % 3) + in(r, -0.05, 0.05) * r->size;
  p.y += r->spread * (float)(i / 3 % 2) + r->size;
  p.z += r->spread * (float)(i / 6) + in(r, -0.05, 0.05) * r->size;
  return p;
}

static yw_path random_path(recipe* r, yw_key keys[3]) {
  for (int i = 0; i < 3; ++i) {
    keys[i] = (yw_key){i * 5.0 * (double)r->dt + 1e-6, direction(r, r->size), turn(r)};
  }
  keys[0].offset = (yw_vec3){0, 0, 0};
  keys[0].rotation = (yw_quat){0, 0, 0, 1};
  return (yw_path){keys, pick(r, 4), pick(r, 2), pick(r, 2), r->origin};
}

static void random_pin(recipe* r, yw_world* world, yw_body_id body) {
  int32_t count = 0, vertices[8];
  yw_body_positions(world, body, &count);
  yw_key keys[3];
  yw_pin_def def = yw_default_pin_def();
  def.body = body;
  def.num_vertices = 1 + pick(r, 8);
  for (int i = 0; i < def.num_vertices; ++i) vertices[i] = pick(r, count);
  def.vertices = vertices;
  def.path = random_path(r, keys);
  if (pick(r, 2)) {
    def.stiffness = decades(r, -3, 6);
    def.damping = pick(r, 2) ? decades(r, -3, 3) : 0;
  }
  yw_pin_id id;
  yw_error error = {0};
  if (yw_pin_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
}

static void random_obstacle(recipe* r, yw_world* world, bool floor) {
  yw_shape* shape = NULL;
  yw_key keys[3];
  yw_obstacle_def def = yw_default_obstacle_def();
  int32_t kind = floor ? 0 : pick(r, 3);
  if (kind == 0) yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0, &shape);
  if (kind == 1) yw_shape_sphere(NULL, r->size, &shape);
  if (kind == 2) yw_shape_box(NULL, (yw_vec3){r->size, 0.01f * r->size, r->size}, &shape);
  assert_non_null(shape);
  def.shape = shape;
  def.transform.position = r->origin;
  def.friction = in(r, 0, 2);
  def.restitution = pick(r, 2) ? 0 : in(r, 0, 1);
  if (!floor) {
    def.transform.scale = in(r, 0.1, 3);
    def.path = random_path(r, keys);
  }
  yw_obstacle_id id;
  yw_error error = {0};
  if (yw_obstacle_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
  yw_shape_release(shape);
}

static yw_body_def random_body(recipe* r, yw_model* model, int32_t i) {
  yw_body_def def = yw_default_body_def();
  def.model = model;
  def.transform.position = place_of(r, i);
  def.transform.rotation = turn(r);
  def.velocity = direction(r, (pick(r, 8) || r->gentle ? 2.0f : 200.0f) * r->size);
  def.angular_velocity = direction(r, pick(r, 2) ? 3.0f : 0.0f);
  def.friction = in(r, 0, 1);
  def.restitution = pick(r, 2) ? 0 : in(r, 0, 1);
  def.body_contact = r->gentle || pick(r, 4) > 0;
  def.self_contact = !r->gentle && pick(r, 4) == 0;
  return def;
}

static recipe begin_recipe(uint64_t seed, bool gentle) {
  recipe r = {.random = {seed * 0x9e3779b97f4a7c15ull + 1}, .gentle = gentle};
  for (int i = 0; i < 8; ++i) test_random_u32(&r.random);
  r.size = gentle ? decades(&r, -1, 1) : decades(&r, -3, 3);
  if (!gentle && pick(&r, 4) == 0) r.origin = direction(&r, 1e4f);
  // Bodies that overlap initially are pushed apart, which changes energy.
  r.spread = r.size * (gentle ? in(&r, 1.9, 2.3) : in(&r, 0.6, 2.5));
  r.num_bodies = 1 + pick(&r, MAX_BODIES);
  r.num_models = 1 + pick(&r, MAX_MODELS);
  r.dt = decades(&r, -4, gentle ? -1.8 : -1);
  r.substeps = 1 + pick(&r, 6);
  return r;
}

static yw_world* random_world(recipe* r, int32_t threads, yw_simd simd) {
  yw_world_def def = yw_default_world_def();
  def.threads = threads;
  def.simd = simd;
  def.contact_iterations = 1 + pick(r, 8);
  // Surfaces take minutes for a step where all bodies are crushed into a point inside an obstacle.
  if (!r->gentle) def.contact = YW_CONTACT_POINTS;
  if (r->gentle || pick(r, 4) == 0) def.gravity = (yw_vec3){0, 0, 0};
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  yw_model* models[MAX_MODELS];
  for (int32_t i = 0; i < r->num_models; ++i) models[i] = random_model(r);
  if (!r->gentle) {
    random_obstacle(r, world, true);
    for (int32_t i = pick(r, 3); i > 0; --i) random_obstacle(r, world, false);
  }
  for (int32_t i = 0; i < r->num_bodies; ++i) {
    yw_body_def body = random_body(r, models[pick(r, r->num_models)], i);
    yw_body_id id;
    yw_error error = {0};
    if (yw_body_create(world, &body, &id, &error) < 0) fail_msg("%s", error.message);
    if (!r->gentle && pick(r, 3) == 0) random_pin(r, world, id);
  }
  for (int32_t i = 0; i < r->num_models; ++i) yw_model_release(models[i]);
  return world;
}

static void assert_finite(const yw_world* world, uint64_t seed) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    int32_t count;
    const yw_vec3* x = yw_body_positions(world, yw_world_body(world, i), &count);
    const yw_vec3* v = yw_body_velocities(world, yw_world_body(world, i), &count);
    for (int32_t k = 0; k < count; ++k) {
      float sum = x[k].x + x[k].y + x[k].z + v[k].x + v[k].y + v[k].z;
      if (!isfinite(sum)) fail_msg("seed %llu: body %d is not finite", (unsigned long long)seed, i);
    }
  }
}

// Laws --------------------------------------------------------------------------------------------

// Steps a world of the recipe; at `break_at` the state moves to a fresh world.
static uint64_t run(uint64_t seed, int32_t threads, yw_simd simd, int32_t steps, int32_t break_at) {
  recipe r = begin_recipe(seed, false);
  yw_world* world = random_world(&r, threads, simd);
  for (int32_t step = 0; step < steps; ++step) {
    if (step == break_at) {
      size_t size = yw_world_snapshot_size(world), written = 0;
      void* kept = malloc(size);
      assert_int_equal(yw_world_save(world, kept, size, &written), YW_OK);
      assert_int_equal(written, size);
      yw_world_destroy(world);
      r = begin_recipe(seed, false);
      world = random_world(&r, threads, simd);
      yw_error error = {0};
      assert_int_equal(yw_world_load(world, kept, size, &error), YW_OK);
      free(kept);
    }
    yw_step_report report;
    yw_status status = yw_world_step(world, r.dt, r.substeps, &report);
    if (status < 0) fail_msg("seed %llu: step %d gave %d", (unsigned long long)seed, step, status);
    if (report.diverged_bodies > 0 && getenv("YW_RANDOM_SEED")) {
      print_message("seed %llu: step %d: %d diverged (size %g dt %g substeps %d)\n",
                    (unsigned long long)seed, step, report.diverged_bodies, (double)r.size,
                    (double)r.dt, r.substeps);
    }
    assert_finite(world, seed);
  }
  uint64_t hash = yw_world_hash(world);
  yw_world_destroy(world);
  return hash;
}

static void random_worlds_stay_finite_and_alike(void** state) {
  (void)state;
  static const int32_t threads[] = {2, 3, 8};
  static const yw_simd levels[] = {YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  int32_t worlds = setting("YW_RANDOM_WORLDS", 24);
  uint64_t first = (uint64_t)setting("YW_RANDOM_SEED", 1);
  for (uint64_t seed = first; seed < first + (uint64_t)worlds; ++seed) {
    const int32_t steps = 12;
    uint64_t expected = run(seed, 1, YW_SIMD_AUTO, steps, -1);
    uint64_t other =
        run(seed, threads[seed % 3], levels[seed / 3 % 3], steps, (int32_t)(seed % 12));
    if (other != expected) {
      fail_msg("seed %llu: %016llx with 1 thread, %016llx with %d at level %s, resumed",
               (unsigned long long)seed, (unsigned long long)expected, (unsigned long long)other,
               threads[seed % 3], yw_simd_name(levels[seed / 3 % 3]));
    }
  }
}

typedef struct totals {
  double momentum[3], size, energy;
} totals;

static totals totals_of(const yw_world* world) {
  totals t = {0};
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_sums sums;
    assert_int_equal(yw_body_sums_of(world, yw_world_body(world, i), &sums), YW_OK);
    for (int k = 0; k < 3; ++k) t.momentum[k] += sums.momentum[k];
    t.size += sqrt(2.0 * sums.kinetic_energy * sums.mass);
    t.energy += sums.kinetic_energy;
  }
  return t;
}

static void free_worlds_keep_momentum_and_gain_no_energy(void** state) {
  (void)state;
  int32_t worlds = setting("YW_RANDOM_WORLDS", 24);
  uint64_t first = (uint64_t)setting("YW_RANDOM_SEED", 1);
  for (uint64_t seed = first; seed < first + (uint64_t)worlds; ++seed) {
    recipe r = begin_recipe(seed, true);
    yw_world* world = random_world(&r, 1, YW_SIMD_AUTO);
    totals before = totals_of(world);
    double most = 0;
    for (int32_t step = 0; step < 30; ++step) {
      assert_int_equal(yw_world_step(world, r.dt, r.substeps, NULL), YW_OK);
      totals now = totals_of(world);
      most = fmax(most, now.energy);
      for (int k = 0; k < 3; ++k) {
        double lost = fabs(now.momentum[k] - before.momentum[k]);
        if (!(lost <= MOMENTUM_ROUNDING * before.size)) {
          fail_msg("seed %llu: step %d: momentum changed by %g of %g", (unsigned long long)seed,
                   step, lost, before.size);
        }
      }
    }
    if (!(most <= (1.0 + ENERGY_ROUNDING) * before.energy)) {
      fail_msg("seed %llu: energy grew from %g to %g J (dt %g/%d, %d bodies, spread %g sizes)",
               (unsigned long long)seed, before.energy, most, (double)r.dt, r.substeps,
               r.num_bodies, (double)(r.spread / r.size));
    }
    yw_world_destroy(world);
  }
}

// Positions of the bodies, in the order of the recipe, after some steps of a world that created
// them in the given order, with others created and destroyed in between.
static void run_in_order(uint64_t seed, const int32_t order[3], bool detour, yw_vec3* out[3]) {
  recipe r = begin_recipe(seed, true);
  yw_model* model = random_model(&r);
  yw_body_def defs[3];
  for (int i = 0; i < 3; ++i) defs[i] = random_body(&r, model, i);
  for (int i = 0; i < 3; ++i) defs[i].transform.position.x += 1000.0f * (float)i * r.size;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_error error = {0};
  yw_body_id ids[3], passing;
  for (int i = 0; i < 3; ++i) {
    if (detour) assert_int_equal(yw_body_create(world, &defs[2 - i], &passing, &error), YW_OK);
    assert_int_equal(yw_body_create(world, &defs[order[i]], &ids[order[i]], &error), YW_OK);
    if (detour) assert_int_equal(yw_body_destroy(world, passing), YW_OK);
  }
  for (int i = 0; i < 5; ++i) yw_world_step(world, r.dt, r.substeps, NULL);
  for (int i = 0; i < 3; ++i) {
    int32_t count;
    const yw_vec3* x = yw_body_positions(world, ids[i], &count);
    out[i] = malloc(sizeof(yw_vec3) * (size_t)count);
    memcpy(out[i], x, sizeof(yw_vec3) * (size_t)count);
  }
  yw_model_release(model);
  yw_world_destroy(world);
}

static void bodies_apart_do_not_feel_the_order_of_creation(void** state) {
  (void)state;
  int32_t worlds = setting("YW_RANDOM_WORLDS", 24);
  uint64_t first = (uint64_t)setting("YW_RANDOM_SEED", 1);
  static const int32_t orders[2][3] = {{0, 1, 2}, {2, 0, 1}};
  for (uint64_t seed = first; seed < first + (uint64_t)worlds; ++seed) {
    yw_vec3 *a[3], *b[3];
    run_in_order(seed, orders[0], false, a);
    run_in_order(seed, orders[1], seed & 1, b);
    recipe r = begin_recipe(seed, true);
    yw_model* model = random_model(&r);
    size_t size = sizeof(yw_vec3) * (size_t)yw_model_num_particles(model);
    yw_model_release(model);
    for (int i = 0; i < 3; ++i) {
      if (memcmp(a[i], b[i], size) != 0) {
        fail_msg("seed %llu: body %d differs", (unsigned long long)seed, i);
      }
      free(a[i]);
      free(b[i]);
    }
  }
}

// Every method ------------------------------------------------------------------------------------

// Momentum and kinetic energy; of a fem body with the masses of the nodes in use.
static totals totals_of_any(const yw_world* world) {
  totals t = {0};
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    const yw_body* body = yw_world_find_body(world, yw_world_body(world, i));
    bool is_fem = strcmp(body->model->method->name, "fem") == 0;
    double mass = 0, energy = 0;
    for (int32_t p = 0; p < body->particles.count; ++p) {
      const float* v = &body->particles.vel[p].x;
      double m = is_fem ? (double)((const fem_body*)body->state)->mass[p]
                        : (double)body->particles.mass[p];
      mass += m;
      for (int k = 0; k < 3; ++k) {
        t.momentum[k] += m * (double)v[k];
        energy += 0.5 * m * (double)(v[k] * v[k]);
      }
    }
    t.size += sqrt(2.0 * energy * mass);
    t.energy += energy;
  }
  return t;
}

// Six bodies of several methods in two layers, thrown at each other.
static yw_world* world_of_methods(uint64_t seed, yw_contact_kind contact) {
  recipe r = begin_recipe(seed, true);
  yw_world_def world_def = yw_default_world_def();
  world_def.threads = 1;
  world_def.gravity = (yw_vec3){0, 0, 0};
  world_def.contact = contact;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&world_def, &world), YW_OK);
  for (int32_t i = 0; i < 6; ++i) {
    yw_model* model = method_model((int)((seed + (uint64_t)i) % (uint64_t)NUM_METHOD_BODIES));
    yw_body_def def = yw_default_body_def();
    def.model = model;
    yw_vec3 at = {0.75f * (float)(i % 3 - 1), 0.75f * (float)(i / 3) - 0.375f, in(&r, -0.05, 0.05)};
    def.transform.position = at;
    def.transform.rotation = turn(&r);
    def.velocity = yw_add(yw_scale(at, in(&r, -4, -2)), direction(&r, 0.3f));
    def.angular_velocity = direction(&r, 2.0f);
    def.friction = in(&r, 0, 1);
    yw_body_id id;
    yw_error error = {0};
    if (yw_body_create(world, &def, &id, &error) < 0) fail_msg("%s", error.message);
    yw_model_release(model);
  }
  return world;
}

// The laws of free worlds hold for bodies of all methods that collide with each other: with points
// to rounding, with surfaces but for what their guard takes (docs/design/contact.md, Limits).
static void check_methods(yw_contact_kind contact, double share) {
  for (uint64_t seed = 1; seed <= (uint64_t)NUM_METHOD_BODIES; ++seed) {
    yw_world* world = world_of_methods(seed, contact);
    totals before = totals_of_any(world);
    double most = 0, lost = 0;
    int32_t contacts = 0;
    for (int32_t step = 0; step < 40; ++step) {
      yw_step_report report;
      assert_true(yw_world_step(world, 1.0f / 60, 4, &report) >= 0);
      contacts += report.body_contacts;
      totals now = totals_of_any(world);
      most = fmax(most, now.energy);
      for (int k = 0; k < 3; ++k) lost = fmax(lost, fabs(now.momentum[k] - before.momentum[k]));
    }
    assert_at_least(contacts, 20);
    assert_at_most(lost / before.size, share);
    assert_at_most(most / before.energy, 1.0 + ENERGY_ROUNDING);
    yw_world_destroy(world);
  }
}

static void bodies_of_all_methods_keep_momentum_and_gain_no_energy(void** state) {
  (void)state;
  check_methods(YW_CONTACT_POINTS, 2e-6);
  check_methods(YW_CONTACT_SURFACES, 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_worlds_stay_finite_and_alike),
      cmocka_unit_test(free_worlds_keep_momentum_and_gain_no_energy),
      cmocka_unit_test(bodies_apart_do_not_feel_the_order_of_creation),
      cmocka_unit_test(bodies_of_all_methods_keep_momentum_and_gain_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
