// SPDX-License-Identifier: MIT
// libFuzzer program for snapshots. The first byte picks the method of the world that loads it; the
// rest is the snapshot, whose checksum is made to fit. It is refused and changes nothing, or gives
// a world that can be stepped.
#include "support/fuzzing.h"
#include "support/method_models.h"

static struct {
  yw_world* world;
  unsigned char* saved;  ///< where every input starts
  size_t size;
  uint64_t hash;
} starts[NUM_METHOD_BODIES];

static void prepare(void) {
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) {
    yw_world* world = make_world(1, YW_SIMD_AUTO, true);
    yw_model* model = method_model(i);
    yw_body_id body = add_body(world, model, (yw_vec3){0, 0.21f, 0}, (yw_quat){0, 0, 0, 1});
    yw_model_release(model);
    pin_vertex(world, body, 0, false);
    for (int step = 0; step < 3; ++step) yw_world_step(world, 1 / 60.0f, 1, NULL);
    starts[i].world = world;
    starts[i].size = yw_world_snapshot_size(world);
    starts[i].saved = malloc(starts[i].size);
    assert_int_equal(yw_world_save(world, starts[i].saved, starts[i].size, NULL), YW_OK);
    starts[i].hash = yw_world_hash(world);
  }
}

static void write_seeds(void) {
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) add_seed(i, starts[i].saved, starts[i].size);
}

static bool all_finite(const yw_world* world) {
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
  for (int32_t i = 0; i < count; ++i) {
    if (!isfinite(x[i].x) || !isfinite(x[i].y) || !isfinite(x[i].z)) return false;
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 9) return 0;
  int i = data[0] % NUM_METHOD_BODIES;
  yw_world* world = starts[i].world;
  unsigned char* bytes = malloc(size - 1);
  memcpy(bytes, data + 1, size - 1);
  seal_bytes(bytes, size - 1);
  yw_error error = {0};
  if (yw_world_load(world, bytes, size - 1, &error) < 0) {
    require(error.message[0] != '\0', "an error has a message");
    require(yw_world_hash(world) == starts[i].hash, "what is refused changes nothing");
  } else {
    yw_world_step(world, 1 / 60.0f, 1, NULL);
    require(all_finite(world), "positions stay finite");
    require(yw_world_load(world, starts[i].saved, starts[i].size, &error) == YW_OK,
            "the world still takes its own snapshot");
  }
  free(bytes);
  return 0;
}
