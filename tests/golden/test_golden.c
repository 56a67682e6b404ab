// SPDX-License-Identifier: MIT
// The same bits for every method, material and solver with any threads, instruction set, compiler
// and optimisation level. hashes.txt holds the numbers, two per case: of positions and velocities,
// and of the whole state (yw_world_hash). A change of physics changes the first: look at the
// pictures. A change of a method's internal state changes only the second. Then record them:
//   build/tests/test_golden --print > tests/golden/hashes.txt
#include "support/sample_scenes.h"

enum { MAX_SETTINGS = 4, MAX_CASES = 100 };

typedef struct golden_case {
  const char *name, *scene;
  int32_t frames;
  bool quick;  // also run under sanitizers
  yw_scene_override set[MAX_SETTINGS];
} golden_case;

#define SET(path, value) \
  { path, value }
#define FRAMES_OF(kind, solver, quick)                                           \
  {                                                                              \
    "frames_" kind "_" solver, "frames", 4, quick, {                             \
      SET("bodies[0].frames.kind", kind), SET("bodies[0].frames.solver", solver) \
    }                                                                            \
  }
// These solvers only have the rest pose.
#define FRAMES_POSELESS(kind, solver)                                             \
  {                                                                               \
    "frames_" kind "_" solver, "frames", 4, false, {                              \
      SET("bodies[0].frames.kind", kind), SET("bodies[0].frames.solver", solver), \
          SET("bodies[0].examples", "[]")                                         \
    }                                                                             \
  }
// Bodies large enough for several workers.
#define FRAMES_LARGE(solver)                                                                      \
  {                                                                                               \
    "frames_large_" solver, "frames", 1, false, {                                                 \
      SET("bodies[0].mesh.lattice.cells", "[14, 22, 14]"), SET("bodies[0].frames.solver", solver) \
    }                                                                                             \
  }
#define SLENDER_OF(what, solver, quick)                                         \
  {                                                                             \
    what "_" solver, what, 4, quick, { SET("bodies[0].frames.solver", solver) } \
  }
#define PLASTIC_OF(name, quick, ...)                      \
  {                                                       \
    "plastic_" name, "plastic", 2, quick, { __VA_ARGS__ } \
  }
#define FEM_OF(name, quick, ...)                  \
  {                                               \
    "fem_" name, "fem", 3, quick, { __VA_ARGS__ } \
  }

static const golden_case fixed_cases[] = {
    {"match_global", "match", 12, true, {{0}}},
    {"match_per_region", "match", 12, true, {SET("models.box.match.groups", "per_region")}},
    {"match_labels",
     "match",
     12,
     false,
     {SET("models.box.match.groups", "[{\"shape\": {\"plane\": {}}, \"label\": 1}]")}},
    {"match_paper",
     "match",
     12,
     false,
     {SET("models.box.match.projection", "paper"), SET("models.box.match.viscosity", "0")}},
    {"match_large", "match", 2, false, {SET("models.box.mesh.lattice.cells", "[12, 26, 12]")}},
    FRAMES_OF("rings", "implicit", true),
    FRAMES_OF("rings", "bdf2", true),
    FRAMES_OF("rings", "extended", true),
    FRAMES_POSELESS("rings", "classic"),
    FRAMES_POSELESS("rings", "oriented"),
    FRAMES_OF("cells", "implicit", false),
    FRAMES_OF("cells", "bdf2", false),
    FRAMES_OF("cells", "extended", false),
    FRAMES_POSELESS("cells", "classic"),
    FRAMES_LARGE("implicit"),
    FRAMES_LARGE("extended"),
    SLENDER_OF("rod", "implicit", true),
    SLENDER_OF("rod", "bdf2", false),
    SLENDER_OF("rod", "extended", false),
    SLENDER_OF("rod", "classic", false),
    SLENDER_OF("ring", "implicit", false),
    SLENDER_OF("ring", "bdf2", false),
    SLENDER_OF("ring", "extended", true),
    SLENDER_OF("ring", "classic", false),
    SLENDER_OF("sheet", "implicit", false),
    SLENDER_OF("sheet", "bdf2", true),
    SLENDER_OF("sheet", "extended", false),
    SLENDER_OF("sheet", "classic", false),
    PLASTIC_OF("box_flow", true, SET("bodies[0].plastic.material", "snow"),
               SET("bodies[0].plastic.xi", "5")),
    PLASTIC_OF("affine", false, SET("bodies[0].plastic.eta", "1")),
    PLASTIC_OF("paper", false, SET("bodies[0].plastic.variant", "paper")),
    PLASTIC_OF("without_slaves", false, SET("bodies[0].plastic.without_slaves", "true")),
    PLASTIC_OF("sheet", false, SET("bodies[0].plastic.sheet", "true")),
    {"plastic_merge", "merge", 3, true, {{0}}},
    FEM_OF("jump", true, {0}),
    FEM_OF("range", false, SET("bodies[0].fem.refine", "range")),
    FEM_OF("finest", false, SET("bodies[0].fem.refine", "finest")),
    FEM_OF("never", false, SET("bodies[0].fem.refine", "never")),
    FEM_OF("standalone", false, SET("bodies[0].fem.sampling", "standalone")),
    FEM_OF("settled", false, SET("bodies[0].fem.sampling", "settled")),
    FEM_OF("average", false, SET("bodies[0].fem.sampling", "average")),
    FEM_OF("snap", true, SET("bodies[0].fem.hanging", "snap")),
    FEM_OF("stiff", false, SET("bodies[0].fem.soften", "none")),
    FEM_OF("soften_finest", false, SET("bodies[0].fem.soften", "finest")),
    FEM_OF("flow", true, SET("bodies[0].fem.yield", "0.01"), SET("bodies[0].fem.creep", "50"),
           SET("bodies[0].fem.stiffness_damping", "0.001")),
    {"mixed", "mixed", 6, true, {{0}}},
    {"rigid", "rigid", 12, true, {{0}}},
};
enum { NUM_FIXED = sizeof fixed_cases / sizeof fixed_cases[0] };

static golden_case cases[MAX_CASES];
static int32_t num_cases;

static void add_case(const golden_case* c) {
  if (num_cases == MAX_CASES) abort();
  cases[num_cases++] = *c;
}

// One case per named material.
static void list_cases(void) {
  static char names[MAX_CASES][40];
  for (int32_t i = 0; i < NUM_FIXED; ++i) add_case(&fixed_cases[i]);
  for (int32_t i = 0; i < yw_num_materials(); ++i) {
    const char* material = yw_material_at(i)->name;
    snprintf(names[num_cases], sizeof names[0], "elastic_%s", material);
    add_case(&(golden_case){
        names[num_cases],
        "material",
        1,
        i % 5 == 0,
        {SET("bodies[0].frames.material", material), SET("bodies[1].fem.material", material),
         SET("bodies[2].plastic.material", material), SET("bodies[3].frames.material", material)}});
  }
  for (int32_t i = 0; i < yw_num_plastic_presets(); ++i) {
    const char* material = yw_plastic_preset_at(i)->name;
    snprintf(names[num_cases], sizeof names[0], "plastic_%s", material);
    add_case(&(golden_case){
        names[num_cases], "plastic", 2, i == 0, {SET("bodies[0].plastic.material", material)}});
  }
}

// Running -----------------------------------------------------------------------------------------

typedef struct golden_hashes {
  uint64_t motion, state;
} golden_hashes;

static yw_scene* scene_of(const golden_case* c) {
  int32_t count = 0;
  while (count < MAX_SETTINGS && c->set[count].path) ++count;
  return sample_scene(c->scene, c->set, count, NULL);
}

static golden_hashes run_scene(const golden_case* c, const yw_scene* scene, int32_t threads,
                               yw_simd simd) {
  yw_world* world = sample_world(scene, threads, simd);
  yw_scene_info info = yw_scene_info_of(scene);
  for (int32_t i = 0; i < c->frames; ++i) {
    // Warnings about recovered elements are fine; the recovered elements must be the same.
    assert_true(yw_world_step(world, 1.0f / info.fps, info.substeps, NULL) >= 0);
  }
  golden_hashes hashes = {motion_hash(world), yw_world_hash(world)};
  yw_world_destroy(world);
  return hashes;
}

static bool find_hashes(const char* name, golden_hashes* out) {
  FILE* file = fopen(YW_SOURCE_DIR "/tests/golden/hashes.txt", "r");
  assert_non_null(file);
  char found[40];
  unsigned long long motion, state;
  bool done = false;
  while (!done && fscanf(file, "%39s %llx %llx", found, &motion, &state) == 3) {
    done = strcmp(found, name) == 0;
    *out = (golden_hashes){motion, state};
  }
  fclose(file);
  return done;
}

// Every number of threads and every instruction set must give the recorded hashes.
static void the_bits_stand(void** state) {
  const golden_case* c = *state;
  static const struct {
    int32_t threads;
    yw_simd simd;
  } runs[] = {{1, YW_SIMD_PLAIN}, {3, YW_SIMD_AUTO}, {2, YW_SIMD_AVX2}, {8, YW_SIMD_AVX512}};
  bool fast = getenv("YW_TEST_FAST") != NULL;
  golden_hashes expected = {0};
  if (!find_hashes(c->name, &expected)) fail_msg("%s is not in hashes.txt", c->name);
  yw_scene* scene = scene_of(c);
  for (int i = 0; i < (fast ? 2 : 4); ++i) {
    golden_hashes found = run_scene(c, scene, runs[i].threads, runs[i].simd);
    if (found.motion == expected.motion && found.state == expected.state) continue;
    fail_msg("%s, %d threads, %s: %016llx %016llx, expected %016llx %016llx", c->name,
             (int)runs[i].threads, yw_simd_name(yw_simd_resolve(runs[i].simd)),
             (unsigned long long)found.motion, (unsigned long long)found.state,
             (unsigned long long)expected.motion, (unsigned long long)expected.state);
  }
  yw_scene_destroy(scene);
}

static int print_hashes(void) {
  for (int32_t i = 0; i < num_cases; ++i) {
    yw_scene* scene = scene_of(&cases[i]);
    golden_hashes hashes = run_scene(&cases[i], scene, 1, YW_SIMD_PLAIN);
    printf("%s %016llx %016llx\n", cases[i].name, (unsigned long long)hashes.motion,
           (unsigned long long)hashes.state);
    yw_scene_destroy(scene);
  }
  return 0;
}

int main(int argc, char** argv) {
  list_cases();
  if (argc > 1 && strcmp(argv[1], "--print") == 0) return print_hashes();
  bool fast = getenv("YW_TEST_FAST") != NULL;
  // Tests without a function are skipped.
  struct CMUnitTest tests[MAX_CASES] = {{0}};
  for (int32_t i = 0; i < num_cases; ++i) {
    if (fast && !cases[i].quick) continue;
    tests[i] = (struct CMUnitTest){cases[i].name, the_bits_stand, NULL, NULL, &cases[i]};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
