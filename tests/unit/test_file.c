// SPDX-License-Identifier: MIT
#include "yawara/extend/file.h"

#include <sys/stat.h>

#include "support/temporary_folder.h"
#include "yawara/extend/hash.h"

static void assert_content(const char* path, const char* text) {
  yw_file_data data;
  yw_error error = {0};
  if (yw_file_read_all(path, 0, NULL, &data, &error) != YW_OK) fail_msg("%s", error.message);
  assert_int_equal(data.size, strlen(text));
  assert_string_equal(data.bytes, text);
  yw_file_data_free(&data);
}

static void write_text(const char* path, const char* text) {
  yw_file_writer writer;
  yw_error error = {0};
  assert_int_equal(yw_file_writer_open(&writer, path, NULL, &error), YW_OK);
  yw_file_printf(&writer, "%s", text);
  assert_int_equal(yw_file_writer_commit(&writer, &error), YW_OK);
}

static void a_file_appears_when_it_is_committed(void** state) {
  (void)state;
  yw_file_writer writer;
  yw_error error;
  const char* path = in_folder("a.txt");
  assert_int_equal(yw_file_writer_open(&writer, path, NULL, &error), YW_OK);
  yw_file_write(&writer, "hello ", 6);
  yw_file_printf(&writer, "%d ", 42);
  yw_file_write_float(&writer, 0.1f);
  yw_file_write_at(&writer, 0, "J", 1);
  yw_file_write(&writer, "!", 1);
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(strncmp(writer.temporary, path, strlen(path)), 0);
  assert_int_equal(yw_file_writer_commit(&writer, &error), YW_OK);
  assert_content(path, "Jello 42 0.1!");
  assert_int_equal(files_in_folder(), 1);
  // Readable for others, as far as the umask lets it.
  struct stat info;
  mode_t mask = umask(0);
  umask(mask);
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0666 & ~mask);
  yw_file_writer_abort(&writer);
}

static void an_aborted_file_leaves_the_old_one(void** state) {
  (void)state;
  const char* path = in_folder("a.txt");
  write_text(path, "old");
  int32_t before = files_in_folder();
  yw_file_writer writer;
  yw_error error;
  assert_int_equal(yw_file_writer_open(&writer, path, NULL, &error), YW_OK);
  yw_file_printf(&writer, "new");
  yw_file_writer_abort(&writer);
  yw_file_writer_abort(&writer);
  assert_content(path, "old");
  assert_int_equal(files_in_folder(), before);
}

// /dev/full accepts no byte; the temporary file is a link to it.
static void a_full_disk_leaves_the_old_file(void** state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) {
    print_message("this machine has no /dev/full; skipped\n");
    skip();
  }
  const char *path = in_folder("a.txt"), *temporary = in_folder("a.txt.tmp-full");
  write_text(path, "old");
  int32_t before = files_in_folder();
  for (int32_t large = 0; large < 2; ++large) {
    assert_int_equal(symlink("/dev/full", temporary), 0);
    yw_file_writer writer;
    yw_error error;
    assert_int_equal(yw_file_writer_open_with(&writer, path, temporary, NULL, &error), YW_OK);
    for (int32_t i = 0; i < (large ? 100000 : 1); ++i) yw_file_printf(&writer, "line %d\n", i);
    // Small amounts fail when they are flushed, large ones while they are written.
    assert_int_equal(writer.system_error != 0, large);
    assert_int_equal(yw_file_writer_commit(&writer, &error), YW_ERR_IO);
    assert_non_null(strstr(error.message, "a.txt: cannot be written: No space left on device"));
    assert_content(path, "old");
    assert_int_equal(files_in_folder(), before);
  }
  assert_int_equal(access("/dev/full", W_OK), 0);
}

static void two_writers_of_one_name_do_not_meet(void** state) {
  (void)state;
  const char* path = in_folder("b.txt");
  yw_file_writer first, second;
  yw_error error;
  assert_int_equal(yw_file_writer_open(&first, path, NULL, &error), YW_OK);
  assert_int_equal(yw_file_writer_open(&second, path, NULL, &error), YW_OK);
  assert_string_not_equal(first.temporary, second.temporary);
  yw_file_printf(&first, "first");
  yw_file_printf(&second, "second");
  assert_int_equal(yw_file_writer_commit(&first, &error), YW_OK);
  assert_int_equal(yw_file_writer_commit(&second, &error), YW_OK);
  assert_content(path, "second");
}

static void places_that_cannot_be_written_are_refused_at_once(void** state) {
  (void)state;
  yw_file_writer writer;
  yw_error error;
  assert_int_equal(yw_file_writer_open(&writer, folder, NULL, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "cannot be written: it is a folder"));
  assert_int_equal(yw_file_writer_open(&writer, "/dev/null", NULL, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "/dev/null: cannot be written: it is not a plain file"));
  assert_int_equal(yw_file_writer_open(&writer, in_folder("no/x"), NULL, &error), YW_ERR_IO);
  assert_int_equal(yw_file_writer_open(&writer, "", NULL, &error), YW_ERR_INVALID);
  assert_int_equal(yw_file_writer_commit(&writer, &error), YW_ERR_INVALID);
}

static void a_target_that_becomes_a_folder_is_an_error(void** state) {
  (void)state;
  yw_file_writer writer;
  yw_error error;
  const char* path = in_folder("late");
  int32_t before = files_in_folder();
  assert_int_equal(yw_file_writer_open(&writer, path, NULL, &error), YW_OK);
  assert_int_equal(mkdir(path, 0777), 0);
  assert_int_equal(yw_file_writer_commit(&writer, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "late: cannot be renamed"));
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(files_in_folder(), before);
}

static void files_above_the_limit_are_refused_before_memory_is_asked_for(void** state) {
  (void)state;
  yw_file_data data;
  yw_error error;
  const char* path = in_folder("large");
  write_text(path, "0123456789");
  assert_int_equal(yw_file_read_all(path, 9, NULL, &data, &error), YW_ERR_LIMIT);
  assert_non_null(strstr(error.message, "large: has 10 bytes, more than the limit of 9"));
  assert_int_equal(yw_file_read_all(path, 10, NULL, &data, &error), YW_OK);
  yw_file_data_free(&data);
  // A sparse file: 5 GiB that take no disk space.
  assert_int_equal(truncate(path, (off_t)5 << 30), 0);
  assert_int_equal(yw_file_read_all(path, 0, NULL, &data, &error), YW_ERR_LIMIT);
  assert_non_null(strstr(error.message, "has 5368709120 bytes, more than the limit of 4294967296"));
  unlink(path);
}

static void pipes_folders_and_missing_files_are_not_read(void** state) {
  (void)state;
  yw_file_data data;
  yw_error error;
  const char* path = in_folder("pipe");
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(yw_file_read_all(path, 0, NULL, &data, &error), YW_ERR_IO);
  assert_int_equal(yw_file_read_all(folder, 0, NULL, &data, &error), YW_ERR_IO);
  assert_int_equal(yw_file_read_all(in_folder("none"), 0, NULL, &data, &error), YW_ERR_IO);
  assert_null(data.bytes);
  yw_file_data_free(&data);
}

static void* no_memory(void* context, size_t size, size_t align) {
  (void)context, (void)size, (void)align;
  return NULL;
}
static void no_release(void* context, void* pointer) { (void)context, (void)pointer; }

static void no_memory_is_an_error(void** state) {
  (void)state;
  yw_allocator none = {no_memory, no_release, NULL};
  yw_file_writer writer;
  yw_file_data data;
  yw_error error;
  const char* path = in_folder("m.txt");
  write_text(path, "text");
  assert_int_equal(yw_file_read_all(path, 0, &none, &data, &error), YW_ERR_MEMORY);
  assert_int_equal(yw_file_writer_open(&writer, path, &none, &error), YW_ERR_MEMORY);
}

static void files_are_listed_once_in_the_order_of_reading(void** state) {
  (void)state;
  yw_file_list list = {0};
  yw_error error = {0};
  char first[400], second[400];
  snprintf(first, sizeof first, "%s", in_folder("first.txt"));
  snprintf(second, sizeof second, "%s", in_folder("second.txt"));
  write_text(first, "one");
  write_text(second, "two and");
  assert_null(yw_file_list_use(&list));
  assert_content(second, "two and");
  assert_content(first, "one");
  assert_content(second, "two and");
  yw_file_data data;
  assert_int_equal(yw_file_read_all(in_folder("none"), 0, NULL, &data, &error), YW_ERR_IO);
  assert_ptr_equal(yw_file_list_use(NULL), &list);
  write_text(first, "two");
  assert_content(first, "two");

  assert_int_equal(list.count, 2);
  assert_string_equal(list.items[0].path, second);
  assert_int_equal(list.items[0].size, 7);
  assert_string_equal(list.items[1].path, first);
  assert_true(list.items[1].hash == yw_hash_bytes(YW_HASH_SEED, "one", 3));
  yw_file_list_free(&list);
}

static void folders_are_made_with_those_above(void** state) {
  (void)state;
  yw_error error = {0};
  struct stat info;
  assert_int_equal(yw_make_folders(in_folder("a/b/c/"), &error), YW_OK);
  assert_int_equal(yw_make_folders(in_folder("a/b/c"), &error), YW_OK);
  // With what the user allows.
  struct stat made;
  mode_t hidden = umask(027);
  assert_int_equal(yw_make_folders(in_folder("shared"), &error), YW_OK);
  umask(hidden);
  assert_int_equal(stat(in_folder("shared"), &made), 0);
  assert_int_equal(made.st_mode & 07777, 0750);
  assert_int_equal(stat(in_folder("a/b/c"), &info), 0);
  assert_true(S_ISDIR(info.st_mode));
  write_text(in_folder("a/file"), "text");
  assert_int_equal(yw_make_folders(in_folder("a/file/d"), &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "a/file/d: cannot make this folder"));
}

// Longer than what is written and read at a time, and not a multiple of eight.
static void several_writers_fill_one_file(void** state) {
  (void)state;
  enum { SIZE = 2500003, PIECE = 70001 };
  const char* path = in_folder("parts.bin");
  write_text(path, "old");
  unsigned char* bytes = malloc(SIZE);
  yw_file_part* parts[2];
  for (int i = 0; i < SIZE; ++i) bytes[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
  for (int k = 0; k < 2; ++k) assert_int_equal(yw_file_part_open(path, NULL, &parts[k], NULL), 0);
  for (int at = 0, k = 0; at < SIZE; at += PIECE, k = !k) {
    size_t some = SIZE - at < PIECE ? SIZE - (size_t)at : PIECE;
    yw_file_part_put(parts[k], (uint64_t)at, bytes + at, some);
  }
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(yw_file_part_close(parts[k], path, k == 0, NULL), YW_OK);
  }
  yw_file_data data;
  assert_int_equal(yw_file_read_all(path, 0, NULL, &data, NULL), YW_OK);
  assert_int_equal(data.size, SIZE);
  assert_memory_equal(data.bytes, bytes, SIZE);
  uint64_t hash = 0;
  assert_int_equal(yw_file_hash(path, 0, SIZE, NULL, &hash, NULL), YW_OK);
  assert_true(hash == yw_hash_bytes(YW_HASH_SEED, bytes, SIZE));
  assert_int_equal(yw_file_hash(path, 5, SIZE - 5, NULL, &hash, NULL), YW_OK);
  assert_true(hash == yw_hash_bytes(YW_HASH_SEED, bytes + 5, SIZE - 5));
  yw_error error;
  assert_int_equal(yw_file_hash(path, 0, SIZE + 1, NULL, &hash, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "too short"));
  assert_int_equal(yw_file_part_open(in_folder("none/x"), NULL, &parts[0], &error), YW_ERR_IO);
  yw_file_data_free(&data);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_appears_when_it_is_committed),
      cmocka_unit_test(an_aborted_file_leaves_the_old_one),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
      cmocka_unit_test(two_writers_of_one_name_do_not_meet),
      cmocka_unit_test(places_that_cannot_be_written_are_refused_at_once),
      cmocka_unit_test(a_target_that_becomes_a_folder_is_an_error),
      cmocka_unit_test(files_above_the_limit_are_refused_before_memory_is_asked_for),
      cmocka_unit_test(pipes_folders_and_missing_files_are_not_read),
      cmocka_unit_test(no_memory_is_an_error),
      cmocka_unit_test(files_are_listed_once_in_the_order_of_reading),
      cmocka_unit_test(folders_are_made_with_those_above),
      cmocka_unit_test(several_writers_fill_one_file),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
