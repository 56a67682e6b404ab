// SPDX-License-Identifier: MIT
// Frames in one file: each is there and whole, or it is not there, wherever the file ends.
#include "playback/frame_pack.h"

#include "playback/sealed.h"
#include "support/temporary_folder.h"

enum { COUNT = 5 };
static const char magic[SEALED_MAGIC] = {'Y', 'W', 'F', 'R', 'A', 'M', 'E', '4'};

// A frame of 10, 17, 24 ... bytes with its number in them.
static void put_frame(frame_pack* pack, int32_t number) {
  yw_writer writer = frame_pack_begin(pack, magic, 10 + 7 * (size_t)number);
  assert_non_null(writer.data);
  for (int32_t i = 0; i < 10 + 7 * number; ++i) yw_write_bytes(&writer, &"abcdefg"[number], 1);
  frame_pack_end(pack, &writer);
}

static void write_frames(const char* path, int32_t keep, int32_t end) {
  frame_pack pack;
  yw_error error = {0};
  if (frame_pack_open(path, keep, &pack, &error) < 0) fail_msg("%s", error.message);
  for (int32_t i = keep; i < end; ++i) {
    put_frame(&pack, i);
    // Written together, or one by one.
    if (i % 2) assert_int_equal(frame_pack_flush(&pack, &error), YW_OK);
  }
  assert_int_equal(frame_pack_flush(&pack, &error), YW_OK);
  frame_pack_close(&pack);
}

static void check_frames(const char* path, frame_pack_index* index, int32_t count) {
  assert_int_equal(frame_pack_count(path, index), count);
  for (int32_t i = count - 1; i >= 0; --i) {
    yw_file_data data;
    yw_reader reader;
    yw_error error = {0};
    assert_int_equal(frame_pack_read(path, index, i, &data, &error), YW_OK);
    assert_int_equal(sealed_open(path, magic, &data, &reader, NULL, &error), YW_OK);
    assert_int_equal(reader.size - reader.offset, 10 + 7 * i);
    assert_int_equal(reader.data[reader.offset], "abcdefg"[i]);
    yw_file_data_free(&data);
  }
  yw_file_data none;
  yw_error error = {0};
  assert_true(frame_pack_read(path, index, count, &none, &error) < 0);
  assert_true(error.message[0] != '\0');
}

static yw_file_data whole_file(const char* path) {
  yw_file_data data;
  yw_error error = {0};
  assert_int_equal(yw_file_read_all(path, 0, NULL, &data, &error), YW_OK);
  return data;
}

static void frames_are_there_or_not(void** state) {
  (void)state;
  const char* path = in_folder("frames.ywp");
  write_frames(path, 0, COUNT);
  yw_file_data whole = whole_file(path);
  int32_t count = 0;
  size_t next = 8 + 8 + 8 + 10 + 8;  // end of frame 0: magic, length, frame with magic and seal
  for (size_t size = 8; size <= whole.size; ++size) {
    if (size == next) next += 8 + 8 + 10 + 7 * (size_t)++count + 8;
    frame_pack_index index = {0};
    store("cut.ywp", whole.bytes, size);
    assert_int_equal(frame_pack_count(in_folder("cut.ywp"), &index), count);
    frame_pack_index_free(&index);
  }
  assert_int_equal(count, COUNT);
  yw_file_data_free(&whole);
}

static void a_growing_file_is_followed(void** state) {
  (void)state;
  const char* path = in_folder("growing.ywp");
  frame_pack_index index = {0};
  for (int32_t end = 1; end <= COUNT; ++end) {
    write_frames(path, end - 1, end);
    check_frames(path, &index, end);
  }
  // Started again.
  unlink(path);
  write_frames(path, 0, 2);
  check_frames(path, &index, 2);
  frame_pack_index_free(&index);
}

// A run that goes on ends with the bytes of one that was never stopped.
static void going_on_gives_the_same_bytes(void** state) {
  (void)state;
  const char *path = in_folder("frames.ywp"), *parts = in_folder("parts.ywp");
  write_frames(path, 0, COUNT);
  yw_file_data whole = whole_file(path);
  for (int32_t keep = 0; keep <= COUNT; ++keep) {
    // Frames that come later are dropped, and so is a part of one.
    store("parts.ywp", whole.bytes, whole.size - 1);
    if (keep == COUNT) store("parts.ywp", whole.bytes, whole.size);
    write_frames(parts, keep, keep);
    frame_pack_index index = {0};
    assert_int_equal(frame_pack_count(parts, &index), keep);
    frame_pack_index_free(&index);
    write_frames(parts, keep, COUNT);
    yw_file_data again = whole_file(parts);
    assert_int_equal(again.size, whole.size);
    assert_memory_equal(again.bytes, whole.bytes, whole.size);
    yw_file_data_free(&again);
  }
  yw_file_data_free(&whole);
  frame_pack pack;
  yw_error error = {0};
  assert_true(frame_pack_open(parts, COUNT + 1, &pack, &error) < 0);
  assert_non_null(strstr(error.message, "frame 5 is missing"));
  frame_pack_close(&pack);
}

// After a power failure a file may end with zeros, or hold nothing else.
static void zeros_are_no_frames(void** state) {
  (void)state;
  static const char zeros[100];
  const char* path = in_folder("zeros.ywp");
  frame_pack_index index = {0};
  write_frames(path, 0, 2);
  FILE* file = fopen(path, "ab");
  assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
  fclose(file);
  assert_int_equal(frame_pack_count(path, &index), 2);
  store("zeros.ywp", zeros, sizeof zeros);
  assert_int_equal(frame_pack_count(path, &index), 0);
  frame_pack_index_free(&index);
  yw_error error = {0};
  yw_file_data none;
  assert_int_equal(frame_pack_read(path, &index, 0, &none, &error), YW_ERR_FORMAT);
  assert_int_equal(frame_pack_read(in_folder("nowhere"), &index, 0, &none, &error), YW_ERR_IO);
}

// Four hashes at once, of frames of different sizes, and of those that are left over.
static void frames_written_together_are_sealed(void** state) {
  (void)state;
  enum { MANY = 7 };
  const char* path = in_folder("together.ywp");
  frame_pack pack;
  frame_pack_index index = {0};
  yw_error error = {0};
  assert_int_equal(frame_pack_open(path, 0, &pack, &error), YW_OK);
  for (int32_t i = 0; i < MANY; ++i) put_frame(&pack, MANY - 1 - i);
  for (int32_t i = 0; i < MANY; ++i) put_frame(&pack, i);
  assert_int_equal(frame_pack_flush(&pack, &error), YW_OK);
  frame_pack_close(&pack);
  assert_int_equal(frame_pack_count(path, &index), 2 * MANY);
  for (int32_t i = 0; i < 2 * MANY; ++i) {
    yw_file_data data;
    yw_reader reader;
    int32_t number = i < MANY ? MANY - 1 - i : i - MANY;
    assert_int_equal(frame_pack_read(path, &index, i, &data, &error), YW_OK);
    assert_int_equal(sealed_open(path, magic, &data, &reader, NULL, &error), YW_OK);
    assert_int_equal(reader.size - reader.offset, 10 + 7 * number);
    yw_file_data_free(&data);
  }
  frame_pack_index_free(&index);
}

// What a full disk does not take is told, and not lost.
static void a_full_disk_is_told(void** state) {
  (void)state;
  frame_pack pack = {0};
  yw_error error = {0};
  if (access("/dev/full", W_OK) != 0) skip();
  assert_int_equal(growing_file_open("/dev/full", 0, &pack.file, &error), YW_OK);
  put_frame(&pack, 1);
  size_t held = pack.file.used;
  assert_int_equal(frame_pack_flush(&pack, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "/dev/full"));
  assert_int_equal(pack.file.used, held);
  frame_pack_close(&pack);
  frame_pack_close(&pack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_written_together_are_sealed),
      cmocka_unit_test(frames_are_there_or_not),
      cmocka_unit_test(a_growing_file_is_followed),
      cmocka_unit_test(going_on_gives_the_same_bytes),
      cmocka_unit_test(zeros_are_no_frames),
      cmocka_unit_test(a_full_disk_is_told),
  };
  return cmocka_run_group_tests_name("frame pack", tests, make_folder, remove_folder);
}
