// SPDX-License-Identifier: MIT
#include <signal.h>

#include "render/output/movie.h"
#include "support/temporary_folder.h"

static void need_ffmpeg(void) {
  yw_error error = {0};
  if (yw_movie_available(&error) >= 0) return;
  print_message("%s\n", error.message);
  skip();
}

static yw_movie* open_movie(const char* path, int32_t width, int32_t height) {
  yw_movie_def def = yw_default_movie_def();
  def.path = path;
  def.width = width;
  def.height = height;
  yw_movie* movie = NULL;
  yw_error error = {0};
  yw_status status = yw_movie_open(&def, NULL, &movie, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return movie;
}

static void add_frames(yw_movie* movie, int32_t count, int32_t width, int32_t height) {
  yw_image frame;
  yw_error error = {0};
  assert_int_equal(yw_image_create(NULL, width, height, &frame, NULL), YW_OK);
  for (int32_t i = 0; i < count; ++i) {
    yw_image_fill(&frame, (yw_rgb){(uint8_t)(20 * i), 128, 255});
    assert_int_equal(yw_movie_add(movie, &frame, &error), YW_OK);
  }
  yw_image_free(&frame);
}

// Frames that ffprobe counts in a file, or -1.
static int probe_frames(const char* path) {
  char line[512];
  snprintf(line, sizeof line,
           "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
           "stream=nb_read_frames -of csv=p=0 '%s'",
           path);
  FILE* pipe = popen(line, "r");
  int frames = -1;
  if (pipe && fscanf(pipe, "%d", &frames) != 1) frames = -1;
  if (pipe) pclose(pipe);
  return frames;
}

// Odd sizes, and names with a special meaning to a shell or ffmpeg.
static void movies_have_all_their_frames(void** state) {
  (void)state;
  need_ffmpeg();
  const char* names[] = {"it's a $(test) movie.mp4", "b.gif", "c.apng"};
  for (int i = 0; i < 3; ++i) {
    yw_movie* movie = open_movie(in_folder(names[i]), 33, 21);
    add_frames(movie, 7, 33, 21);
    yw_error error = {0};
    assert_int_equal(yw_movie_close(movie, &error), YW_OK);
    assert_int_equal(files_in_folder(), 1);
    char plain[256];
    snprintf(plain, sizeof plain, "%s/plain%s", folder, strrchr(names[i], '.'));
    assert_int_equal(rename(in_folder(names[i]), plain), 0);
    assert_int_equal(probe_frames(plain), 7);
    unlink(plain);
  }
}

static void webp_movies_are_written(void** state) {
  (void)state;
  need_ffmpeg();
  yw_movie* movie = open_movie(in_folder("a.webp"), 32, 20);
  add_frames(movie, 3, 32, 20);
  yw_error error = {0};
  assert_int_equal(yw_movie_close(movie, &error), YW_OK);
  char bytes[16] = "";
  FILE* file = fopen(in_folder("a.webp"), "rb");
  assert_int_equal(fread(bytes, 1, 16, file), 16);
  fclose(file);
  assert_memory_equal(bytes, "RIFF", 4);
  assert_memory_equal(bytes + 8, "WEBP", 4);
  unlink(in_folder("a.webp"));
}

static void failed_movies_leave_nothing_behind(void** state) {
  (void)state;
  need_ffmpeg();
  yw_error error = {0};
  yw_movie_def def = yw_default_movie_def();
  yw_movie* movie = NULL;
  def.width = def.height = 16;
  def.path = in_folder("none/a.mp4");
  assert_int_equal(yw_movie_open(&def, NULL, &movie, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "none/a.mp4"));
  def.path = in_folder("a.avi");
  assert_int_equal(yw_movie_open(&def, NULL, &movie, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, ".mp4"));
  assert_null(movie);

  // No frames, a frame of another size, and an abandoned movie.
  movie = open_movie(in_folder("a.mp4"), 16, 16);
  assert_int_equal(yw_movie_close(movie, &error), YW_ERR_INVALID);
  movie = open_movie(in_folder("a.mp4"), 16, 16);
  yw_image frame;
  yw_image_create(NULL, 8, 8, &frame, NULL);
  assert_int_equal(yw_movie_add(movie, &frame, &error), YW_ERR_INVALID);
  yw_image_free(&frame);
  yw_movie_discard(movie);
  yw_movie_discard(NULL);
  assert_int_equal(files_in_folder(), 0);
}

// A program named ffmpeg that dies at once: an error, not a signal, with its message.
static void a_dying_ffmpeg_is_an_error(void** state) {
  (void)state;
  const char* name = in_folder("ffmpeg");
  FILE* script = fopen(name, "w");
  fputs("#!/bin/sh\nexec 0<&-\necho 'out of film' >&2\nexit 3\n", script);
  fclose(script);
  assert_int_equal(system("true"), 0);
  char line[300], path[4096];
  snprintf(line, sizeof line, "chmod +x '%s'", name);
  assert_int_equal(system(line), 0);
  snprintf(path, sizeof path, "%s", getenv("PATH"));
  char changed[4400];
  snprintf(changed, sizeof changed, "%s:%s", folder, path);
  setenv("PATH", changed, 1);
  yw_movie* movie = open_movie(in_folder("a.mp4"), 640, 360);
  setenv("PATH", path, 1);

  yw_image frame;
  yw_error error = {0};
  yw_image_create(NULL, 640, 360, &frame, NULL);
  yw_status status = YW_OK;
  for (int i = 0; i < 100 && status == YW_OK; ++i) status = yw_movie_add(movie, &frame, &error);
  assert_int_equal(status, YW_ERR_IO);
  assert_non_null(strstr(error.message, "out of film"));
  yw_movie_discard(movie);
  yw_image_free(&frame);
  unlink(in_folder("ffmpeg"));
  assert_int_equal(files_in_folder(), 0);
}

static void a_missing_ffmpeg_is_named_with_its_package(void** state) {
  (void)state;
  char path[4096];
  snprintf(path, sizeof path, "%s", getenv("PATH"));
  setenv("PATH", folder, 1);
  yw_error error = {0};
  yw_status status = yw_movie_available(&error);
  setenv("PATH", path, 1);
  assert_int_equal(status, YW_ERR_IO);
  assert_non_null(strstr(error.message, "apt-get install ffmpeg"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(movies_have_all_their_frames),
      cmocka_unit_test(webp_movies_are_written),
      cmocka_unit_test(failed_movies_leave_nothing_behind),
      cmocka_unit_test(a_dying_ffmpeg_is_an_error),
      cmocka_unit_test(a_missing_ffmpeg_is_named_with_its_package),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_empty_folder);
}
