// SPDX-License-Identifier: MIT
// Caches: stored data is found again; damaged, foreign, truncated or obstructing files are not
// used.
#include "base/cache.h"

#include <sys/stat.h>

#include "support/testing.h"

static char folder[200];

static int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "cache_test_%d/deep/er", (int)getpid());
  return 0;
}

static int remove_folder(void** state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -rf cache_test_%d", (int)getpid());
  return system(command);
}

static yw_cache_key key_of(const char* text) {
  yw_cache_key key = YW_CACHE_KEY_START;
  yw_cache_key_add(&key, text, strlen(text));
  return key;
}

static void path_of(const char* kind, yw_cache_key key, char out[300]) {
  snprintf(out, 300, "%s/%s-%016llx.ywc", folder, kind, (unsigned long long)key.a);
}

static void stored_bytes_come_back(void** state) {
  (void)state;
  yw_error error = {0};
  double in[5] = {1, 2, 3, 4, 5}, out[5] = {0};
  yw_cache_key key = key_of("one");
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_MISSING);
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_OK);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_HIT);
  assert_memory_equal(in, out, sizeof in);
  assert_int_equal(yw_cache_load(NULL, "test", key, out, sizeof out, &error), YW_CACHE_MISSING);
  assert_int_equal(yw_cache_load(folder, "test", key_of("two"), out, sizeof out, &error),
                   YW_CACHE_MISSING);
  assert_int_equal(yw_cache_store(NULL, "test", key, in, sizeof in, &error), YW_OK);
}

// Every byte changed, every length truncated: never used, always with a warning.
static void damaged_files_are_ignored(void** state) {
  (void)state;
  yw_error error = {0};
  float in[7] = {1, 2, 3, 4, 5, 6, 7}, out[7];
  yw_cache_key key = key_of("damage");
  char path[300];
  path_of("test", key, path);
  unsigned char whole[200];
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_OK);
  FILE* file = fopen(path, "rb");
  size_t size = fread(whole, 1, sizeof whole, file);
  fclose(file);
  assert_int_equal(size, 40 + sizeof in + 8);
  for (size_t i = 0; i < 2 * size; ++i) {
    file = fopen(path, "wb");
    if (i < size) {
      whole[i] ^= 0x10;
      fwrite(whole, 1, size, file);
      whole[i] ^= 0x10;
    } else {
      fwrite(whole, 1, i - size, file);
    }
    fclose(file);
    error.message[0] = '\0';
    assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_BAD);
    assert_non_null(strstr(error.message, "ignored"));
  }
  // Too long.
  file = fopen(path, "wb");
  fwrite(whole, 1, size, file);
  fwrite("x", 1, 1, file);
  fclose(file);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_BAD);
  // Replaces the damaged file.
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_OK);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_HIT);
}

static void other_sizes_and_kinds_are_foreign(void** state) {
  (void)state;
  yw_error error = {0};
  float in[4] = {1, 2, 3, 4}, out[8];
  yw_cache_key key = key_of("foreign");
  char from[300], to[300];
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_OK);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_BAD);
  path_of("test", key, from);
  path_of("other", key, to);
  assert_int_equal(rename(from, to), 0);
  assert_int_equal(yw_cache_load(folder, "other", key, out, sizeof in, &error), YW_CACHE_BAD);
  // The right name and half of the key: the other half differs.
  yw_cache_key half = {key.a, key.b + 1};
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_OK);
  assert_int_equal(yw_cache_load(folder, "test", half, out, sizeof in, &error), YW_CACHE_BAD);
}

// A folder or a pipe of that name, or a file in place of the folder: no hang, no crash.
static void things_in_the_way_are_survived(void** state) {
  (void)state;
  yw_error error = {0};
  float in[4] = {1, 2, 3, 4}, out[4];
  char path[300];
  yw_cache_key key = key_of("way");
  assert_int_equal(yw_cache_store(folder, "test", key_of("x"), in, sizeof in, &error), YW_OK);
  path_of("test", key, path);
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_BAD);
  assert_int_equal(yw_cache_store(folder, "test", key, in, sizeof in, &error), YW_ERR_IO);
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(yw_cache_load(folder, "test", key, out, sizeof out, &error), YW_CACHE_BAD);
  unlink(path);
  path_of("test", key_of("x"), path);
  assert_int_equal(yw_cache_load(path, "test", key, out, sizeof out, &error), YW_CACHE_MISSING);
  assert_int_equal(yw_cache_store(path, "test", key, in, sizeof in, &error), YW_ERR_IO);
}

static void keys_depend_on_order_and_division(void** state) {
  (void)state;
  yw_cache_key a = YW_CACHE_KEY_START, b = YW_CACHE_KEY_START, c = YW_CACHE_KEY_START;
  yw_cache_key_add(&a, "ab", 2);
  yw_cache_key_add(&a, "c", 1);
  yw_cache_key_add(&b, "a", 1);
  yw_cache_key_add(&b, "bc", 2);
  yw_cache_key_add(&c, "c", 1);
  yw_cache_key_add(&c, "ab", 2);
  assert_true(a.a != b.a && a.b != b.b && a.a != c.a && b.a != c.a && a.a != a.b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stored_bytes_come_back),
      cmocka_unit_test(damaged_files_are_ignored),
      cmocka_unit_test(other_sizes_and_kinds_are_foreign),
      cmocka_unit_test(things_in_the_way_are_survived),
      cmocka_unit_test(keys_depend_on_order_and_division),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
