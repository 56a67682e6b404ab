// SPDX-License-Identifier: MIT
// libFuzzer program for the files of a run. The first byte picks the file: run.json, what is shown,
// or a frame; the rest is its content, without the seal of binary files.
#include "support/fuzzing.h"
#include "support/sample_run.h"

enum { INFO, SHOWN, FRAME, NUM_KINDS, MAGIC_BYTES = 8, FRAME_HEADER = 16, SEAL_BYTES = 8 };
static const char frame_name[] = "frames/000001.ywf", frame_path[] = "./frames/000001.ywf";
static run_folder run;
static stage* run_stage;
static frame_data good_frame;
static unsigned char frame_header[FRAME_HEADER];

static void prepare(void) {
  snprintf(folder, sizeof folder, ".");
  write_sample_run(false);
  yw_error error = {0};
  require(run_folder_make("damaged", false, &error) >= 0, error.message);
  require(run_folder_open(".", &run, &error) >= 0, error.message);
  require(stage_create(run.shown, &run_stage, &error) >= 0, error.message);
  // The cells of a frame are valid until the run reads the next one.
  static run_folder other;
  require(run_folder_open(".", &other, &error) >= 0, error.message);
  require(run_folder_read_frame(&other, 1, &good_frame, &error) >= 0, error.message);
  size_t size;
  unsigned char* bytes = get_file(frame_name, &size);
  memcpy(frame_header, bytes, FRAME_HEADER);
  free(bytes);
}

static void add_part(int kind, const char* path, size_t head, size_t tail) {
  size_t size;
  unsigned char* bytes = get_file(path, &size);
  add_seed(kind, bytes + head, size - head - tail);
  free(bytes);
}

static void write_seeds(void) {
  add_part(INFO, "run.json", 0, 0);
  add_part(SHOWN, "shown.ywr", MAGIC_BYTES, SEAL_BYTES);
  add_part(FRAME, "frames/000000.ywf", FRAME_HEADER, SEAL_BYTES);
  add_part(FRAME, frame_name, FRAME_HEADER, SEAL_BYTES);
}

static void try_info(const uint8_t* bytes, size_t size) {
  run_info info;
  yw_error error = {0};
  given.path = "damaged/run.json";
  given.bytes = bytes;
  given.size = size;
  if (run_info_read("damaged", &info, &error) < 0) {
    require(error.message[0] != '\0', "an error has a message");
  }
  run_info_free(&info);
}

static void try_shown(const uint8_t* bytes, size_t size) {
  yw_reader reader = {.data = bytes, .size = size};
  shown_scene* shown;
  yw_error error = {0};
  if (shown_read(&reader, &shown) < 0) {
    require(!shown, "nothing comes with an error");
  } else if (frame_fits(&good_frame, shown)) {
    stage* s;
    require(stage_create(shown, &s, &error) >= 0, error.message);
    use_frame(shown, s, &good_frame);
    stage_destroy(s);
  }
  shown_destroy(shown);
}

static void try_frame(const uint8_t* content, size_t size) {
  size_t whole = FRAME_HEADER + size + SEAL_BYTES;
  unsigned char* bytes = malloc(whole);
  memcpy(bytes, frame_header, FRAME_HEADER);
  memcpy(bytes + FRAME_HEADER, content, size);
  seal_bytes(bytes, whole);
  given.path = frame_path;
  given.bytes = bytes;
  given.size = whole;
  frame_data frame;
  yw_error error = {0};
  yw_status status = run_folder_read_frame(&run, 1, &frame, &error);
  given.path = NULL;
  free(bytes);
  if (status < 0) {
    require(error.message[0] != '\0', "an error has a message");
    return;
  }
  use_frame(run.shown, run_stage, &frame);
  frame_free(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  int kind = data[0] % NUM_KINDS;
  if (kind == INFO) try_info(data + 1, size - 1);
  if (kind == SHOWN) try_shown(data + 1, size - 1);
  if (kind == FRAME) try_frame(data + 1, size - 1);
  return 0;
}
