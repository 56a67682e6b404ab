// SPDX-License-Identifier: MIT
#include "yawara/extend/point_cache.h"

#include "support/temporary_folder.h"

static yw_vec3 point_at(int32_t frame, int32_t i) {
  return (yw_vec3){(float)frame, (float)i * 0.1f, -1.5f * (float)(frame * i)};
}

static void write_cache(const char* path, const yw_point_cache_def* def, int32_t num_frames) {
  yw_point_cache_writer cache;
  yw_error error = {0};
  if (yw_point_cache_open(&cache, path, def, NULL, &error) != YW_OK) fail_msg("%s", error.message);
  for (int32_t f = 0; f < num_frames; ++f) {
    yw_vec3 points[7];
    for (int32_t i = 0; i < 7; ++i) points[i] = point_at(f, i);
    if (yw_point_cache_append(&cache, points, &error) != YW_OK) fail_msg("%s", error.message);
    assert_int_equal(access(path, F_OK), -1);
  }
  if (yw_point_cache_close(&cache, &error) != YW_OK) fail_msg("%s", error.message);
}

static void caches_come_back_frame_by_frame(void** state) {
  (void)state;
  static const char* const names[] = {"a.pc2", "a.mdd", "A.PC2", "A.MDD"};
  for (int32_t file = 0; file < 4; ++file) {
    // Expected number of frames: none, right, too few, too many.
    static const int32_t guesses[] = {0, 5, 2, 9};
    for (int32_t guess = 0; guess < 4; ++guess) {
      const char* path = in_folder(names[file]);
      unlink(path);
      yw_point_cache_def def = {
          .num_points = 7, .fps = 60.0, .start_frame = 3, .expected_frames = guesses[guess]};
      write_cache(path, &def, 5);
      yw_point_cache_reader cache;
      yw_error error = {0};
      if (yw_point_cache_reader_open(&cache, path, NULL, &error) != YW_OK)
        fail_msg("%s", error.message);
      assert_int_equal(cache.num_points, 7);
      assert_int_equal(cache.num_frames, 5);
      assert_near(cache.start_frame, 3.0, 1e-4);
      if (cache.format == YW_POINT_CACHE_MDD) assert_near(cache.fps, 60.0, 1e-4);
      for (int32_t f = 4; f >= 0; --f) {
        yw_vec3 points[7];
        assert_int_equal(yw_point_cache_read_frame(&cache, f, points, &error), YW_OK);
        for (int32_t i = 0; i < 7; ++i) {
          yw_vec3 expected = point_at(f, i);
          assert_memory_equal(&points[i], &expected, sizeof expected);
        }
      }
      yw_vec3 points[7];
      assert_int_equal(yw_point_cache_read_frame(&cache, 5, points, &error), YW_ERR_INVALID);
      yw_point_cache_reader_close(&cache);
    }
  }
}

static void bytes_are_those_the_formats_ask_for(void** state) {
  (void)state;
  yw_point_cache_def def = {.num_points = 1, .fps = 2.0, .start_frame = 1};
  yw_vec3 point = {1.0f, 2.0f, -0.5f};
  static const unsigned char pc2[] = {'P',  'O',  'I',  'N', 'T',  'C',  'A',  'C', 'H', 'E', '2',
                                      0,    1,    0,    0,   0,    1,    0,    0,   0,   0,   0,
                                      0x80, 0x3f, 0,    0,   0x80, 0x3f, 1,    0,   0,   0,   0,
                                      0,    0x80, 0x3f, 0,   0,    0,    0x40, 0,   0,   0,   0xbf};
  static const unsigned char mdd[] = {0,    0,    0, 1, 0,    0, 0, 1, 0x3f, 0, 0, 0,
                                      0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0xbf, 0, 0, 0};
  for (int32_t k = 0; k < 2; ++k) {
    const char* path = in_folder(k == 0 ? "b.pc2" : "b.mdd");
    yw_point_cache_writer cache;
    yw_error error;
    assert_int_equal(yw_point_cache_open(&cache, path, &def, NULL, &error), YW_OK);
    assert_int_equal(yw_point_cache_append(&cache, &point, &error), YW_OK);
    assert_int_equal(yw_point_cache_close(&cache, &error), YW_OK);
    yw_file_data data;
    assert_int_equal(yw_file_read_all(path, 0, NULL, &data, &error), YW_OK);
    assert_int_equal(data.size, k == 0 ? sizeof pc2 : sizeof mdd);
    assert_memory_equal(data.bytes, k == 0 ? pc2 : mdd, data.size);
    yw_file_data_free(&data);
  }
}

static void caches_that_are_not_closed_leave_nothing(void** state) {
  (void)state;
  yw_point_cache_def def = {.num_points = 1, .fps = 24.0};
  yw_point_cache_writer cache;
  yw_error error;
  yw_vec3 point = {0};
  assert_int_equal(yw_point_cache_open(&cache, in_folder("c.pc2"), &def, NULL, &error), YW_OK);
  assert_int_equal(yw_point_cache_append(&cache, &point, &error), YW_OK);
  yw_point_cache_abort(&cache);
  yw_point_cache_abort(&cache);
  assert_int_equal(access(in_folder("c.pc2"), F_OK), -1);
  assert_int_equal(yw_point_cache_open(&cache, in_folder("c.mdd"), &def, NULL, &error), YW_OK);
  assert_int_equal(yw_point_cache_close(&cache, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "c.mdd: a point cache without frames is not written"));
  assert_int_equal(access(in_folder("c.mdd"), F_OK), -1);
  assert_int_equal(yw_point_cache_open(&cache, in_folder("c.abc"), &def, NULL, &error),
                   YW_ERR_INVALID);
  def.fps = 0.0;
  assert_int_equal(yw_point_cache_open(&cache, in_folder("c.pc2"), &def, NULL, &error),
                   YW_ERR_INVALID);
}

// Truncated at every byte, and every byte changed: an error, or only frames that exist. The name of
// the format and its version are always missed.
static void damaged_caches_are_errors(void** state) {
  (void)state;
  yw_point_cache_def def = {.num_points = 7, .fps = 24.0};
  for (int32_t k = 0; k < 2; ++k) {
    const char* path = in_folder(k == 0 ? "d.pc2" : "d.mdd");
    yw_error error;
    write_cache(path, &def, 2);
    yw_file_data data;
    assert_int_equal(yw_file_read_all(path, 0, NULL, &data, &error), YW_OK);
    for (size_t cut = 0; cut < data.size; ++cut) {
      FILE* file = fopen(path, "wb");
      assert_int_equal(fwrite(data.bytes, 1, cut, file), cut);
      fclose(file);
      yw_point_cache_reader cache;
      assert_int_equal(yw_point_cache_reader_open(&cache, path, NULL, &error), YW_ERR_FORMAT);
    }
    for (size_t i = 0; i < 32; ++i) {
      for (int32_t bit = 0; bit < 8; ++bit) {
        FILE* file = fopen(path, "wb");
        data.bytes[i] = (char)(data.bytes[i] ^ (1 << bit));
        assert_int_equal(fwrite(data.bytes, 1, data.size, file), data.size);
        fclose(file);
        data.bytes[i] = (char)(data.bytes[i] ^ (1 << bit));
        yw_point_cache_reader cache;
        if (yw_point_cache_reader_open(&cache, path, NULL, &error) != YW_OK) continue;
        assert_true(k == 1 || i >= 16);
        assert_true((size_t)cache.num_points * (size_t)cache.num_frames * 12 <= data.size);
        yw_point_cache_reader_close(&cache);
      }
    }
    yw_file_data_free(&data);
  }
}

// Neither no points nor no frames nor more than 2^31 - 1 of either.
static void caches_without_points_or_frames_are_errors(void** state) {
  (void)state;
  static const uint32_t counts[][2] = {{0, 1}, {0x80000000u, 1}, {1, 0}, {1, 0x80000000u}};
  yw_point_cache_def def = {.num_points = 1, .fps = 24.0};
  const char* path = in_folder("n.pc2");
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    remove(path);
    write_cache(path, &def, 1);
    FILE* file = fopen(path, "r+b");
    assert_int_equal(fseek(file, 16, SEEK_SET), 0);
    for (int k = 0; k < 4; ++k) fputc((int)(counts[i][0] >> 8 * k & 255), file);
    assert_int_equal(fseek(file, 28, SEEK_SET), 0);
    for (int k = 0; k < 4; ++k) fputc((int)(counts[i][1] >> 8 * k & 255), file);
    fclose(file);
    yw_point_cache_reader cache;
    yw_error error = {0};
    char expected[80];
    assert_int_equal(yw_point_cache_reader_open(&cache, path, NULL, &error), YW_ERR_FORMAT);
    snprintf(expected, sizeof expected, "%lu points and %lu frames", (unsigned long)counts[i][0],
             (unsigned long)counts[i][1]);
    if (!strstr(error.message, expected)) fail_msg("%s, expected %s", error.message, expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(caches_come_back_frame_by_frame),
      cmocka_unit_test(bytes_are_those_the_formats_ask_for),
      cmocka_unit_test(caches_that_are_not_closed_leave_nothing),
      cmocka_unit_test(damaged_caches_are_errors),
      cmocka_unit_test(caches_without_points_or_frames_are_errors),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
