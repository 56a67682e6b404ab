// SPDX-License-Identifier: MIT
// Bytes of .bgeo files, read back.
#include <string.h>

#include "support/testing.h"
#include "yawara/extend/bgeo_write.h"
#include "yawara/extend/file.h"

static uint32_t u32_at(const char* bytes, size_t at) {
  const unsigned char* p = (const unsigned char*)bytes + at;
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static float float_at(const char* bytes, size_t at) {
  uint32_t bits = u32_at(bytes, at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Three points with three attributes: every byte is where the format specifies.
static void points_are_written_as_they_should(void** state) {
  (void)state;
  const char* path = "test_bgeo.bgeo";
  const yw_vec3 points[3] = {{1, 2, 3}, {-4, 5.5f, 6}, {7, 8, -9.25f}};
  const float stress[3] = {10, 20, 30}, size[3] = {0.5f, 0.25f, 0.125f};
  const float v[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const yw_bgeo_field fields[3] = {
      {"plastic strain", stress, false}, {"pscale", size, false}, {"v", v, true}};
  yw_error error = {0};
  assert_int_equal(yw_bgeo_write(path, 3, points, fields, 3, &error), YW_OK);
  yw_file_data file = {0};
  assert_int_equal(yw_file_read_all(path, 0, NULL, &file, &error), YW_OK);
  assert_memory_equal(file.bytes, "BgeoV", 5);
  const uint32_t counts[9] = {5, 3, 0, 0, 0, 3, 0, 0, 0};
  for (size_t i = 0; i < 9; ++i) assert_int_equal(u32_at(file.bytes, 5 + 4 * i), counts[i]);
  // 16-bit length, name, 16-bit size, type, default.
  const size_t names = 5 + 36;
  assert_memory_equal(file.bytes + names, "\x00\x0eplastic_strain\x00\x01\0\0\0\0\0\0\0\0", 26);
  assert_memory_equal(file.bytes + names + 26, "\x00\x06pscale\x00\x01\0\0\0\0\0\0\0\0", 18);
  assert_memory_equal(file.bytes + names + 44,
                      "\x00\x01v\x00\x03\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0\0", 21);
  const size_t begin = names + 26 + 18 + 21;
  for (size_t i = 0; i < 3; ++i) {
    const float row[9] = {points[i].x, points[i].y, points[i].z,  1.0f,        stress[i],
                          size[i],     v[3 * i],    v[3 * i + 1], v[3 * i + 2]};
    for (size_t k = 0; k < 9; ++k) {
      assert_true(float_at(file.bytes, begin + 36 * i + 4 * k) == row[k]);
    }
  }
  assert_int_equal(file.size, begin + 108 + 2);
  assert_memory_equal(file.bytes + begin + 108, "\x00\xff", 2);
  yw_file_data_free(&file);
  remove(path);
}

static void a_folder_that_is_not_there_is_an_error(void** state) {
  (void)state;
  yw_error error = {0};
  const yw_vec3 point = {0, 0, 0};
  assert_int_equal(yw_bgeo_write("no/such/folder/a.bgeo", 1, &point, NULL, 0, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "a.bgeo"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_written_as_they_should),
      cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
