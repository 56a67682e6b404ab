// SPDX-License-Identifier: MIT
// Damaged runs. Whatever happened to a file, reading the run must not crash, hang or leak: the seal
// detects it or, if the seal was recomputed, the readers reject it or return something that can be
// shown.
#include "playback/sealed.h"
#include "support/sample_run.h"
#include "yawara/extend/hash.h"

static const char* const files[] = {"run.json", "shown.ywr", "frames/000000.ywf",
                                    "frames/000001.ywf", "frames/000002.ywf"};
enum { NUM_FILES = 5 };

static int make_run(void** state) {
  if (make_folder(state) != 0) return -1;
  write_sample_run(false);
  return 0;
}

// Opens the run and shows all frames. Errors must have a message; returns how many operations
// succeeded.
static int32_t look(void) {
  run_folder run;
  yw_error error = {0};
  if (run_folder_open(folder, &run, &error) < 0) {
    assert_true(error.message[0] != '\0');
    return 0;
  }
  int32_t good = 1;
  stage* s;
  assert_int_equal(stage_create(run.shown, &s, &error), YW_OK);
  for (int32_t i = 0; i < NUM_FRAMES; ++i) {
    frame_data frame;
    error.message[0] = '\0';
    if (run_folder_read_frame(&run, i, &frame, &error) < 0) {
      assert_true(error.message[0] != '\0');
      continue;
    }
    use_frame(run.shown, s, &frame);
    frame_free(&frame);
    ++good;
  }
  stage_destroy(s);
  run_folder_close(&run);
  return good;
}

static yw_file_data read_file(const char* name) {
  yw_file_data data;
  yw_error error = {0};
  assert_int_equal(yw_file_read_all(in_folder(name), 0, NULL, &data, &error), YW_OK);
  return data;
}

static void a_whole_run_is_read(void** state) {
  (void)state;
  assert_int_equal(look(), 1 + NUM_FRAMES);
}

static void files_cut_short_are_refused(void** state) {
  (void)state;
  for (int32_t f = 0; f < NUM_FILES; ++f) {
    yw_file_data whole = read_file(files[f]);
    // Without the trailing line feed run.json is complete.
    size_t needed = f == 0 ? whole.size - 1 : whole.size;
    for (size_t size = 0; size < needed; size += 1 + needed / 300) {
      store(files[f], whole.bytes, size);
      if (look() == 1 + NUM_FRAMES) fail_msg("%s: was read, cut at byte %zu", files[f], size);
    }
    store(files[f], whole.bytes, whole.size);
    yw_file_data_free(&whole);
  }
  a_whole_run_is_read(NULL);
}

// A flipped bit in a sealed file is always detected.
static void flipped_bits_are_found(void** state) {
  (void)state;
  test_random random = {11};
  for (int32_t f = 1; f < NUM_FILES; ++f) {
    yw_file_data whole = read_file(files[f]);
    for (int32_t i = 0; i < 300; ++i) {
      size_t at = test_random_u32(&random) % whole.size;
      char bit = (char)(1 << test_random_u32(&random) % 8);
      whole.bytes[at] ^= bit;
      store(files[f], whole.bytes, whole.size);
      whole.bytes[at] ^= bit;
      if (look() == 1 + NUM_FRAMES) fail_msg("%s: byte %zu was changed unseen", files[f], at);
    }
    store(files[f], whole.bytes, whole.size);
    yw_file_data_free(&whole);
  }
  a_whole_run_is_read(NULL);
}

// Recomputes the seal, so that the damage reaches the readers.
static void seal(yw_file_data* data) {
  size_t size = data->size - 8;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, data->bytes, size);
  for (int i = 0; i < 8; ++i) data->bytes[size + (size_t)i] = (char)(hash >> (8 * i));
}

// Changes some bytes: single bits, or a whole number that is large, small or off by one.
static void mutate(yw_file_data* data, size_t first, test_random* random) {
  static const uint32_t numbers[] = {0, 1, 2, 3, 0xffffffffu, 0x7fffffffu, 0x80000000u, 0x10000u};
  size_t room = data->size - 12 - first, at = first + test_random_u32(random) % room;
  if (test_random_u32(random) % 2) {
    data->bytes[at] ^= (char)(1 << test_random_u32(random) % 8);
    return;
  }
  // Most numbers are at multiples of four; texts shift them.
  if (test_random_u32(random) % 4) at -= at % 4;
  uint32_t value = numbers[test_random_u32(random) % 8];
  for (int i = 0; i < 4; ++i) data->bytes[at + (size_t)i] = (char)(value >> (8 * i));
}

// As above, with all frames in one file: a frame is there and whole, or it is not there.
static void damaged_packs_are_refused(void** state) {
  write_sample_run(true);
  a_whole_run_is_read(state);
  yw_file_data whole = read_file("frames.ywp");
  for (size_t size = 0; size < whole.size; size += 1 + whole.size / 300) {
    store("frames.ywp", whole.bytes, size);
    if (look() == 1 + NUM_FRAMES) fail_msg("frames.ywp: was read, cut at byte %zu", size);
  }
  test_random random = {14};
  for (int32_t i = 0; i < 300; ++i) {
    // Among them the lengths in front of frames.
    size_t at = i < 16 ? (size_t)i : test_random_u32(&random) % whole.size;
    char bit = (char)(1 << test_random_u32(&random) % 8);
    whole.bytes[at] ^= bit;
    store("frames.ywp", whole.bytes, whole.size);
    whole.bytes[at] ^= bit;
    if (look() == 1 + NUM_FRAMES) fail_msg("frames.ywp: byte %zu was changed unseen", at);
  }
  store("frames.ywp", whole.bytes, whole.size);
  yw_file_data_free(&whole);
  a_whole_run_is_read(state);
  write_sample_run(false);
}

static void sealed_nonsense_does_no_harm(void** state) {
  (void)state;
  test_random random = {12};
  int32_t refused = 0, rounds = getenv("YW_TEST_FAST") ? 300 : 1500;
  for (int32_t f = 2; f < NUM_FILES; ++f) {
    yw_file_data whole = read_file(files[f]);
    for (int32_t i = 0; i < rounds; ++i) {
      yw_file_data copy = read_file(files[f]);
      for (uint32_t k = test_random_u32(&random) % 3 + 1; k > 0; --k) mutate(&copy, 16, &random);
      seal(&copy);
      store(files[f], copy.bytes, copy.size);
      refused += look() < 1 + NUM_FRAMES;
      yw_file_data_free(&copy);
      store(files[f], whole.bytes, whole.size);
    }
    yw_file_data_free(&whole);
  }
  // Most bytes are coordinates, which may be anything; counts and indices may not.
  assert_true(refused > rounds / 10);
}

static void sealed_nonsense_that_is_shown_does_no_harm(void** state) {
  (void)state;
  test_random random = {13};
  int32_t refused = 0, rounds = getenv("YW_TEST_FAST") ? 800 : 4000;
  for (int32_t i = 0; i < rounds; ++i) {
    // Only what is read: frames contain the hash of the whole file.
    yw_file_data copy = read_file("shown.ywr");
    for (uint32_t k = test_random_u32(&random) % 3 + 1; k > 0; --k) mutate(&copy, 8, &random);
    unsigned char* exact = malloc(copy.size - 16);
    memcpy(exact, copy.bytes + 8, copy.size - 16);
    yw_reader reader = {.data = exact, .size = copy.size - 16};
    shown_scene* shown;
    if (shown_read(&reader, &shown) < 0) {
      assert_null(shown);
      ++refused;
    } else {
      run_folder run;
      yw_error error = {0};
      stage* s;
      frame_data frame;
      assert_int_equal(run_folder_open(folder, &run, &error), YW_OK);
      assert_int_equal(run_folder_read_frame(&run, 1, &frame, &error), YW_OK);
      assert_int_equal(stage_create(shown, &s, &error), YW_OK);
      if (frame_fits(&frame, shown)) use_frame(shown, s, &frame);
      stage_destroy(s);
      frame_free(&frame);
      run_folder_close(&run);
    }
    shown_destroy(shown);
    free(exact);
    yw_file_data_free(&copy);
  }
  assert_in_range(refused, rounds / 50, rounds - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_run_is_read),
      cmocka_unit_test(files_cut_short_are_refused),
      cmocka_unit_test(flipped_bits_are_found),
      cmocka_unit_test(damaged_packs_are_refused),
      cmocka_unit_test(sealed_nonsense_does_no_harm),
      cmocka_unit_test(sealed_nonsense_that_is_shown_does_no_harm),
  };
  return cmocka_run_group_tests(tests, make_run, remove_folder);
}
