// SPDX-License-Identifier: MIT
// Each block that a call asks for is missing in turn, and the next can be had: the call says so, or
// does without, and gives everything back. Scenes as a whole are in fuzz/test_memory.c.
#include "contact/surfaces/near.h"
#include "contact/surfaces/patches.h"
#include "methods/frames/coarse.h"
#include "support/world_fixture.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

typedef struct scarce_memory {
  int missing;  ///< number of the block that cannot be had
  int calls, alive;
} scarce_memory;

static void* scarce_alloc(void* context, size_t size, size_t align) {
  scarce_memory* memory = context;
  if (memory->calls++ == memory->missing) return NULL;
  ++memory->alive;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void scarce_release(void* context, void* pointer) {
  --((scarce_memory*)context)->alive;
  free(pointer);
}

// A call that uses an allocator: whether it had all it needed.
typedef bool (*attempt)(const yw_allocator* mem, const void* input);

static void try_each_block(attempt call, const void* input) {
  int failed = 0;
  for (int missing = 0;; ++missing) {
    scarce_memory memory = {.missing = missing};
    yw_allocator mem = {scarce_alloc, scarce_release, &memory};
    failed += !call(&mem, input);
    if (memory.alive != 0) fail_msg("%d blocks are left without block %d", memory.alive, missing);
    if (memory.calls <= missing) break;
    assert_at_most(missing, 10000);
  }
  assert_at_least(failed, 1);
}

static bool look_for_faults(const yw_allocator* mem, const void* input) {
  yw_tet_mesh mesh = *(const yw_tet_mesh*)input;
  mesh.mem = *mem;
  yw_tet_faults faults;
  yw_status status = yw_tet_mesh_faults(&mesh, &faults);
  assert_true(status == YW_OK || status == YW_ERR_MEMORY);
  if (status == YW_OK) assert_int_equal(faults.num_weak_joints, 1);
  return status == YW_OK;
}

// Two cells of a lattice that share an edge only.
static void faults_of_meshes_are_found(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_vec3 x[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}};
  const int32_t tets[8] = {0, 1, 2, 3, 0, 1, 4, 5};
  assert_int_equal(yw_tet_mesh_create(NULL, 6, 2, &mesh), YW_OK);
  memcpy(mesh.positions, x, sizeof x);
  memcpy(mesh.tets, tets, sizeof tets);
  assert_int_equal(yw_tet_mesh_check(&mesh, NULL), YW_OK);
  try_each_block(look_for_faults, &mesh);
  yw_tet_mesh_free(&mesh);
}

enum { SIDE = 8 };

static bool make_patches(const yw_allocator* mem, const void* input) {
  const yw_contact_geometry* sheet = input;
  yw_complex* complex = yw_complex_create(mem, sheet, SIDE * SIDE);
  yw_patches* patches = NULL;
  if (complex)
    patches = yw_patches_create(mem, complex, sheet->rest, yw_near_fns_of(YW_SIMD_PLAIN));
  bool made = patches != NULL;
  if (patches) yw_patches_destroy(patches);
  if (complex) yw_complex_destroy(complex);
  return made;
}

static void surfaces_are_divided_into_patches(void** state) {
  (void)state;
  yw_vec3 rest[SIDE * SIDE];
  float radius[SIDE * SIDE];
  int32_t triangles[6 * SIDE * SIDE], count = 0;
  for (int32_t a = 0; a < SIDE * SIDE; ++a) {
    int32_t i = a / SIDE, k = a % SIDE, b = a + SIDE;
    rest[a] = yw_v3((float)i, 0.0f, (float)k);
    radius[a] = 0.1f;
    if (i + 1 == SIDE || k + 1 == SIDE) continue;
    const int32_t corners[6] = {a, b, b + 1, a, b + 1, a + 1};
    memcpy(triangles + 3 * count, corners, sizeof corners);
    count += 2;
  }
  yw_contact_geometry sheet = {
      .triangles = triangles, .num_triangles = count, .rest = rest, .radius = radius};
  try_each_block(make_patches, &sheet);
}

static bool make_lattice(const yw_allocator* mem, const void* input) {
  const yw_tet_mesh* mesh = input;
  double* stiffness = malloc(sizeof(double) * (size_t)mesh->num_vertices);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) stiffness[i] = 1.0;
  const double extent[3] = {1, 1, 1};
  frames_coarse coarse;
  yw_error error = {0};
  yw_status status = yw_frames_coarse_create(mem, mesh->num_vertices, mesh->positions, stiffness,
                                             1.0, extent, &coarse, &error);
  assert_true(status == YW_OK || status == YW_ERR_MEMORY);
  if (status == YW_OK) {
    assert_at_least(coarse.num_nodes, 8);
    yw_frames_coarse_free(&coarse);
  }
  free(stiffness);
  return status == YW_OK;
}

static void coarse_lattices_are_made(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  const int32_t cells[3] = {10, 10, 10};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  try_each_block(make_lattice, &mesh);
  yw_tet_mesh_free(&mesh);
}

static bool fit_pose(const yw_allocator* mem, const void* input) {
  yw_tet_mesh rest = *(const yw_tet_mesh*)input;
  rest.mem = *mem;
  yw_tri_mesh pose;
  assert_int_equal(yw_tet_mesh_surface(input, NULL, &pose, NULL), YW_OK);
  for (int32_t i = 0; i < pose.num_vertices; ++i) pose.positions[i].y *= 0.98f;
  const yw_landmark landmark = {{0, 1, 0}, {0, 0.98f, 0}};
  const yw_pose_fit_def def = {
      .rest = &rest, .pose = &pose, .num_landmarks = 1, .landmarks = &landmark};
  yw_vec3* out = malloc(sizeof *out * (size_t)rest.num_vertices);
  yw_pose_fit fit = {0};
  yw_error error = {0};
  yw_status status = yw_tets_from_pose_mesh(&def, out, &fit, &error);
  if (status < 0 && status != YW_ERR_MEMORY) fail_msg("%s", error.message);
  free(out);
  yw_tri_mesh_free(&pose);
  return status >= 0;
}

static void poses_are_fitted(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  const int32_t cells[3] = {2, 2, 2};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  try_each_block(fit_pose, &mesh);
  yw_tet_mesh_free(&mesh);
}

// Keys until the document has asked for another block between any two of the parts of one.
static bool put_keys(const yw_allocator* mem, const void* input) {
  yw_json_doc* doc = NULL;
  bool good = yw_json_parse(mem, "a.json", input, strlen(input), &doc, NULL) == YW_OK;
  for (int i = 0; good && i < 100; ++i) {
    char key[16];
    snprintf(key, sizeof key, "key %d", i);
    yw_json* value = yw_json_new(doc, YW_JSON_STRING, "word", 2);
    good = value && yw_json_put(doc, yw_json_root(doc), key, value);
  }
  yw_json_free(doc);
  return good;
}

static void keys_are_put_into_documents(void** state) {
  (void)state;
  try_each_block(put_keys, "{\"a\": 1}");
}

// Two cubes whose shown surfaces overlap: memory that the world keeps must not be missing later.
static bool show_surfaces(const yw_allocator* mem, const void* input) {
  yw_model* model = (yw_model*)(uintptr_t)input;
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.mem = *mem;
  yw_world* world = NULL;
  bool good = yw_world_create(&def, &world) == YW_OK;
  for (int k = 0; good && k < 2; ++k) {
    yw_body_def body = yw_default_body_def();
    body.model = model;
    body.transform.position = yw_v3(2.02f * (float)k, 0.1f * (float)k, 0);
    yw_body_id id;
    good = yw_body_create(world, &body, &id, NULL) >= 0;
  }
  const int32_t count = yw_model_surface(model)->num_vertices;
  yw_vec3* out = malloc(sizeof *out * (size_t)count);
  if (good) {
    yw_status status = yw_body_surface_positions(world, yw_world_body(world, 1), out, count);
    assert_true(status == YW_OK || status == YW_ERR_MEMORY);
    good = status == YW_OK;
  }
  free(out);
  yw_world_destroy(world);
  return good;
}

static void shown_surfaces_are_kept_apart(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_tri_mesh shown;
  yw_model* model = NULL;
  yw_aabb box = {{-1, -1, -1}, {1, 1, 1}};
  const int32_t cells[3] = {1, 1, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &shown, NULL), YW_OK);
  for (int32_t i = 0; i < shown.num_vertices; ++i) {
    shown.positions[i] = yw_scale(shown.positions[i], 1.1f);
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  assert_int_equal(yw_model_create_match(NULL, &def, &model, NULL), YW_OK);
  assert_int_equal(yw_model_embed_surface(model, &shown, NULL), YW_OK);
  try_each_block(show_surfaces, model);
  yw_model_release(model);
  yw_tri_mesh_free(&shown);
  yw_tet_mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_of_meshes_are_found),
      cmocka_unit_test(surfaces_are_divided_into_patches),
      cmocka_unit_test(coarse_lattices_are_made),
      cmocka_unit_test(poses_are_fitted),
      cmocka_unit_test(keys_are_put_into_documents),
      cmocka_unit_test(shown_surfaces_are_kept_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
