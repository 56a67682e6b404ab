// SPDX-License-Identifier: MIT
// libFuzzer program for cached matrices of fem models. The first byte says whether the rest is the
// whole file, which is taken for what it should be or refused, or only its content, from its start
// on, with a header and a checksum that fit: then a model comes out in any case, and its body can
// be stepped.
#include <glob.h>

#include "base/cache.h"
#include "support/fuzzing.h"
#include "support/world_fixture.h"

enum { WHOLE_FILE = 0, CONTENT = 1, HEADER_BYTES = 40 };
static char path[300];
static unsigned char* good;
static size_t good_size;

// Stiffer at the top, so that coarse matrices are computed.
static void material_at(void* context, yw_vec3 point, int32_t label, yw_fem_material* material) {
  (void)context, (void)label;
  material->youngs_modulus *= 1.0f + point.y;
}

static yw_status make_model(yw_model** out, yw_error* error) {
  yw_tet_mesh mesh = {0};
  yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  const int32_t cells[3] = {1, 1, 1};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.max_level = 1;
  def.material_at = material_at;
  def.cache_folder = ".";
  def.threads = 1;
  yw_status status = yw_model_create_fem(NULL, &def, out, error);
  yw_tet_mesh_free(&mesh);
  return status;
}

// The model writes the file whose name and header fit it.
static void prepare(void) {
  yw_model* model = NULL;
  yw_error error = {0};
  require(make_model(&model, &error) >= 0, error.message);
  yw_model_release(model);
  glob_t found;
  require(glob("fem-*.ywc", 0, NULL, &found) == 0 && found.gl_pathc == 1, "one cache was written");
  snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
  globfree(&found);
  good = get_file(path, &good_size);
}

static void write_seeds(void) {
  add_seed(WHOLE_FILE, good, good_size);
  add_seed(CONTENT, good + HEADER_BYTES, good_size - HEADER_BYTES - 8);
}

// The checksum of a cache counts header and content one after the other.
static void seal_cache(unsigned char* bytes) {
  size_t content = good_size - HEADER_BYTES - 8;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, bytes, HEADER_BYTES);
  hash = yw_hash_bytes(hash, bytes + HEADER_BYTES, content);
  for (size_t i = 0; i < 8; ++i) bytes[good_size - 8 + i] = (unsigned char)(hash >> 8 * i);
}

static void step_model(yw_model* model) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_body_id body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_world_step(world, 1e-3f, 1, NULL);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  for (int32_t i = 0; i < count; ++i) {
    require(isfinite(x[i].x) && isfinite(x[i].y) && isfinite(x[i].z), "positions stay finite");
  }
  yw_world_destroy(world);
}

static uint64_t header_number(size_t at) {
  yw_reader reader = {.data = good + at, .size = 8};
  return yw_read_u64(&reader);
}

// Reads a whole file as a model would, without making one.
static void read_file(const uint8_t* bytes, size_t size) {
  put_file(path, -1, bytes, size);
  yw_cache_key key = {header_number(16), header_number(24)};
  size_t wanted = (size_t)header_number(32);
  unsigned char* content = malloc(wanted);
  yw_error error = {0};
  yw_cache_found found = yw_cache_load(".", "fem", key, content, wanted, &error);
  require(found != YW_CACHE_MISSING, "the file is found");
  require(found == YW_CACHE_HIT || error.message[0] != '\0', "an error has a message");
  free(content);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] % 2 == WHOLE_FILE) {
    read_file(data + 1, size - 1);
    return 0;
  }
  size_t room = good_size - HEADER_BYTES - 8, length = size - 1 < room ? size - 1 : room;
  unsigned char* bytes = malloc(good_size);
  memcpy(bytes, good, good_size);
  memcpy(bytes + HEADER_BYTES, data + 1, length);
  seal_cache(bytes);
  put_file(path, -1, bytes, good_size);
  free(bytes);
  yw_model* model = NULL;
  yw_error error = {0};
  require(make_model(&model, &error) >= 0, "a damaged cache is made again");
  step_model(model);
  yw_model_release(model);
  return 0;
}
