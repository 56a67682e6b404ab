// SPDX-License-Identifier: MIT
// A temporary folder for the files of a test program.
#ifndef YW_TESTS_SUPPORT_TEMPORARY_FOLDER_H
#define YW_TESTS_SUPPORT_TEMPORARY_FOLDER_H

#include <dirent.h>

#include "support/testing.h"

static char folder[64];

/// Set-up of a group of tests.
static inline int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/yawara-test-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

/// Tear-down of a group of tests.
static inline int remove_folder(void** state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/// Tear-down that fails if the tests left a file behind.
static inline int remove_empty_folder(void** state) {
  (void)state;
  return rmdir(folder);
}

/// The path of a file in the folder; valid until the fourth call from here.
static inline const char* in_folder(const char* name) {
  static char path[4][400];
  static int32_t next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static inline int32_t files_in_folder(void) {
  DIR* dir = opendir(folder);
  assert_non_null(dir);
  int32_t count = 0;
  while (readdir(dir)) ++count;
  closedir(dir);
  // "." and ".." are no files.
  return count - 2;
}

/// Writes a file into the folder and returns its path.
static inline const char* store(const char* name, const void* bytes, size_t size) {
  const char* path = in_folder(name);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  return path;
}

static inline const char* store_text(const char* name, const char* text) {
  return store(name, text, strlen(text));
}

#endif
