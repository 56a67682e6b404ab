// SPDX-License-Identifier: MIT
// From a function of position to the matrices of all levels; the cache of the sampled ones.
#include <glob.h>

#include "methods/fem/make_materials.h"

#include "support/fem_samples.h"
#include "yawara/extend/hash.h"
#include "yawara/fem.h"

typedef struct fixture {
  yw_tet_mesh mesh;
  fem_hierarchy h;
  char folder[100];
} fixture;

static int set_up(void** state) {
  fixture* f = calloc(1, sizeof *f);
  f->mesh = test_box(3, 1, 1, YW_LATTICE_FIVE, 0.1, true, 2);
  f->h = test_levels(&f->mesh, 2);
  snprintf(f->folder, sizeof f->folder, "fem_cache_%d", (int)getpid());
  *state = f;
  return 0;
}

static int tear_down(void** state) {
  fixture* f = *state;
  char command[200];
  snprintf(command, sizeof command, "rm -rf %s", f->folder);
  int result = system(command);
  yw_fem_hierarchy_free(&f->h);
  yw_tet_mesh_free(&f->mesh);
  free(f);
  return result;
}

static fem_material_def plain_def(void) {
  return (fem_material_def){
      .material = {.youngs_modulus = 1e5f, .poissons_ratio = 0.3f, .density = 1000}};
}

static fem_material_data make(const fixture* f, const fem_material_def* def, yw_status expected) {
  fem_material_data data;
  yw_error error = {0};
  yw_status status = yw_fem_materials_make(NULL, &f->h, def, &data, &error);
  if (status != expected) print_error("%d: %s\n", (int)status, error.message);
  assert_int_equal(status, expected);
  if (status > 0) assert_true(strlen(error.message) > 0);
  return data;
}

static void fall_along_x(void* context, yw_vec3 p, int32_t label, yw_fem_material* m) {
  (void)context;
  (void)label;
  m->youngs_modulus *= 1.0f + 3.0f * (3.0f - p.x);
}

static void one_material_needs_no_arrays(void** state) {
  const fixture* f = *state;
  fem_material_def def = plain_def();
  fem_material_data data = make(f, &def, YW_OK);
  float expected[FEM_MATRIX];
  yw_fem_isotropic(1e5, 0.3f, expected);
  for (int k = 0; k < FEM_MATRIX; ++k) {
    assert_near(data.view.uniform_stiffness[k], expected[k], 0.1);
  }
  assert_null(data.view.stiffness);
  assert_null(data.view.density);
  assert_null(data.range);
  for (int l = 0; l <= 2; ++l) assert_near(data.levels[l].mean, 1e5, 0.1);
  yw_fem_materials_free(&data);
}

static void graded_material_is_sampled_on_every_level(void** state) {
  const fixture* f = *state;
  fem_material_def def = plain_def();
  def.at = fall_along_x;
  def.material.damping_time = 0.01f;
  fem_material_data data = make(f, &def, YW_OK);
  assert_non_null(data.view.stiffness);
  assert_null(data.view.damping);  // one damping time for all levels
  assert_near(data.view.damping_time, 0.01, 1e-9);
  for (int32_t t = 0; t < f->h.num_tets; ++t) {
    yw_sym6 c;
    double x = 0;
    for (int k = 0; k < FEM_MATRIX; ++k) c.m[k] = data.view.stiffness[FEM_MATRIX * t + k];
    for (int k = 0; k < 4; ++k) x += 0.25 * f->h.rest[f->h.nodes[t][k]].x;
    double expected = 1e5 * (1 + 3 * (3 - x));
    // A linear field: the values of coarse tets are close to those at their centres.
    const double tolerance[3] = {0.15, 0.05, 1e-5};
    assert_near(yw_fem_moduli(&c).youngs / expected, 1.0, tolerance[f->h.level[t]]);
  }
  for (int l = 0; l <= 2; ++l) {
    assert_near(data.levels[l].mean / data.levels[2].mean, 1.0, 0.03);
    assert_true(data.levels[l].smallest < data.levels[l].mean);
    assert_true(data.levels[l].mean < data.levels[l].largest);
  }
  yw_fem_materials_free(&data);
}

static void by_label(void* context, yw_vec3 p, int32_t label, yw_fem_material* m) {
  (void)context;
  (void)p;
  if (label == 7) m->density = 2000, m->damping_time = 0.5f;
}

static void labels_choose_density_and_damping(void** state) {
  const fixture* f = *state;
  int32_t* labels = calloc(f->mesh.num_tets, sizeof *labels);
  labels[2] = labels[5] = 7;
  fem_material_def def = plain_def();
  def.labels = labels;
  def.at = by_label;
  fem_material_data data = make(f, &def, YW_OK);
  assert_non_null(data.view.density);
  assert_non_null(data.view.damping);
  for (int32_t t = 0; t < f->h.num_tets; ++t) {
    bool special = labels[f->h.root[t]] == 7;
    if (t >= f->h.num_parents) {
      assert_near(data.view.density[t - f->h.num_parents], special ? 2000 : 1000, 1e-3);
    }
    for (int k = 0; k < FEM_MATRIX; ++k) {
      double c = data.view.stiffness[FEM_MATRIX * t + k];
      assert_near(data.view.damping[FEM_MATRIX * t + k], special ? 0.5 * c : 0.0, 1e-4 * 1e5);
    }
  }
  yw_fem_materials_free(&data);
  free(labels);
}

static void hole(void* context, yw_vec3 p, int32_t label, yw_fem_material* m) {
  (void)label;
  if (p.x > 2) *m = *(const yw_fem_material*)context;
}

static void impossible_materials_are_refused_with_place(void** state) {
  const fixture* f = *state;
  float flat[FEM_MATRIX] = {0}, odd[FEM_MATRIX];
  yw_fem_isotropic(1e5, 0.3, odd);
  odd[1] = 2 * odd[0];  // C12 above C11
  const struct {
    yw_fem_material material;
    const char* word;
  } cases[] = {{{0, 0.3f, 1000, 0, NULL}, "Young's modulus"},
               {{-5, 0.3f, 1000, 0, NULL}, "is -5 Pa"},
               {{NAN, 0.3f, 1000, 0, NULL}, "Young's modulus"},
               {{INFINITY, 0.3f, 1000, 0, NULL}, "Young's modulus"},
               {{1e5f, 0.5f, 1000, 0, NULL}, "Poisson's ratio"},
               {{1e5f, NAN, 1000, 0, NULL}, "Poisson's ratio"},
               {{1e5f, 0.3f, 0, 0, NULL}, "density"},
               {{1e5f, 0.3f, NAN, 0, NULL}, "density"},
               {{1e5f, 0.3f, 1000, -1, NULL}, "damping time"},
               {{1e5f, 0.3f, 1000, NAN, NULL}, "damping time"},
               {{1e5f, 0.3f, 1000, 0, flat}, "not positive definite"},
               {{1e5f, 0.3f, 1000, 0, odd}, "not positive definite"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int everywhere = 0; everywhere < 2; ++everywhere) {
      fem_material_def def = plain_def();
      yw_fem_material material = cases[i].material;
      if (everywhere) def.material = material;
      if (!everywhere) def.at = hole, def.context = &material;
      fem_material_data data;
      yw_error error = {0};
      assert_int_equal(yw_fem_materials_make(NULL, &f->h, &def, &data, &error), YW_ERR_INVALID);
      if (!strstr(error.message, cases[i].word)) print_error("%s\n", error.message);
      assert_non_null(strstr(error.message, cases[i].word));
      if (!everywhere) assert_non_null(strstr(error.message, "at (2."));
      assert_null(data.stiffness);
    }
  }
}

static void same_arrays(const fixture* f, const fem_material_data* a, const fem_material_data* b) {
  size_t matrices = FEM_MATRIX * (size_t)f->h.num_tets * sizeof(float);
  assert_memory_equal(a->stiffness, b->stiffness, matrices);
  assert_memory_equal(a->range, b->range, f->h.num_parents * sizeof *a->range);
}

static void the_cache_gives_the_same_and_survives_everything(void** state) {
  const fixture* f = *state;
  fem_material_def def = plain_def();
  def.at = fall_along_x;
  fem_material_data plain = make(f, &def, YW_OK);
  def.cache_folder = f->folder;
  fem_material_data first = make(f, &def, YW_OK), second = make(f, &def, YW_OK);
  assert_false(first.cached);
  assert_true(second.cached);
  same_arrays(f, &plain, &first);
  same_arrays(f, &plain, &second);
  yw_fem_materials_free(&second);

  // Another material, level or kind of sampling has another entry.
  fem_material_def other = def;
  other.material.youngs_modulus *= 1.0001f;
  second = make(f, &other, YW_OK);
  assert_false(second.cached);
  yw_fem_materials_free(&second);
  other = def;
  other.sampling.kind = YW_FEM_AVERAGE;
  second = make(f, &other, YW_OK);
  assert_false(second.cached);
  yw_fem_materials_free(&second);

  // A byte in the middle of every file is changed: a warning, the same result, and the file is
  // repaired.
  char command[400];
  snprintf(
      command, sizeof command,
      "for f in %s/fem-*.ywc; do printf 'x' | dd of=$f bs=1 seek=500 conv=notrunc 2>/dev/null; "
      "done",
      f->folder);
  assert_int_equal(system(command), 0);
  second = make(f, &def, YW_WARN_CACHE);
  assert_false(second.cached);
  same_arrays(f, &plain, &second);
  yw_fem_materials_free(&second);
  second = make(f, &def, YW_OK);
  assert_true(second.cached);
  yw_fem_materials_free(&second);

  // An impossible folder: only a warning.
  def.cache_folder = "/dev/null/cache";
  second = make(f, &def, YW_WARN_CACHE);
  same_arrays(f, &plain, &second);
  yw_fem_materials_free(&second);
  yw_fem_materials_free(&first);
  yw_fem_materials_free(&plain);
}

// Overwrites the last byte that a cache holds, and its checksum.
static void forge(const char* path, unsigned char last) {
  unsigned char bytes[100000];
  FILE* file = fopen(path, "rb+");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  assert_true(size > 48 && size < sizeof bytes);
  bytes[size - 9] = last;
  const size_t header = 40;
  uint64_t sum = yw_hash_bytes(YW_HASH_SEED, bytes, header);
  sum = yw_hash_bytes(sum, bytes + header, size - header - 8);
  for (size_t i = 0; i < 8; ++i) bytes[size - 8 + i] = (unsigned char)(sum >> 8 * i);
  rewind(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

// A valid checksum proves nothing: how a matrix was found is one of a few ways.
static void forged_caches_are_ignored(void** state) {
  const fixture* f = *state;
  fem_material_def def = plain_def();
  def.at = fall_along_x;
  def.cache_folder = f->folder;
  fem_material_data first = make(f, &def, YW_OK);
  glob_t found;
  char pattern[400];
  snprintf(pattern, sizeof pattern, "%s/fem-*.ywc", f->folder);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  for (int last = 0; last < 2; ++last) {
    forge(found.gl_pathv[0], last ? 200 : 0);
    fem_material_data second = make(f, &def, last ? YW_WARN_CACHE : YW_OK);
    assert_int_equal(second.cached, !last);
    yw_fem_materials_free(&second);
  }
  globfree(&found);
  yw_fem_materials_free(&first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_material_needs_no_arrays, set_up, tear_down),
      cmocka_unit_test_setup_teardown(graded_material_is_sampled_on_every_level, set_up, tear_down),
      cmocka_unit_test_setup_teardown(labels_choose_density_and_damping, set_up, tear_down),
      cmocka_unit_test_setup_teardown(impossible_materials_are_refused_with_place, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(the_cache_gives_the_same_and_survives_everything, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(forged_caches_are_ignored, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
