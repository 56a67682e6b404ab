// SPDX-License-Identifier: MIT
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "render/draw/contact_sheet.h"
#include "render/draw/svg.h"
#include "render/output/image.h"
#include "support/temporary_folder.h"

static void need_png(void) {
  yw_error error = {0};
  if (yw_png_available(&error) >= 0) return;
  print_message("%s\n", error.message);
  skip();
}

static yw_image noise_image(int32_t width, int32_t height) {
  yw_image image;
  assert_int_equal(yw_image_create(NULL, width, height, &image, NULL), YW_OK);
  test_random random = {7};
  for (int32_t i = 0; i < 3 * width * height; ++i) {
    image.pixels[i] = (uint8_t)test_random_u32(&random);
  }
  return image;
}

// Images are read back byte for byte, whatever their size.
static void png_files_keep_every_byte(void** state) {
  (void)state;
  need_png();
  const int32_t sizes[][2] = {{1, 1}, {7, 3}, {640, 360}};
  for (int i = 0; i < 3; ++i) {
    yw_image image = noise_image(sizes[i][0], sizes[i][1]), back;
    yw_error error = {0};
    assert_int_equal(yw_image_write_png(in_folder("a.png"), &image, &error), YW_OK);
    assert_int_equal(yw_image_read_png(in_folder("a.png"), NULL, &back, &error), YW_OK);
    assert_int_equal(back.width, image.width);
    assert_int_equal(back.height, image.height);
    assert_memory_equal(back.pixels, image.pixels, (size_t)(3 * image.width * image.height));
    yw_image_free(&image);
    yw_image_free(&back);
  }
  assert_int_equal(files_in_folder(), 1);
  unlink(in_folder("a.png"));
}

static void a_folder_that_does_not_exist_is_named_and_nothing_is_left(void** state) {
  (void)state;
  need_png();
  yw_image image = noise_image(4, 4);
  yw_error error = {0};
  assert_int_equal(yw_image_write_png(in_folder("none/a.png"), &image, &error), YW_ERR_IO);
  assert_non_null(strstr(error.message, "none/a.png"));
  assert_non_null(strstr(error.message, "No such file"));
  // A folder has that name: the rename fails after everything was written.
  assert_int_equal(mkdir(in_folder("taken.png"), 0700), 0);
  assert_int_equal(yw_image_write_png(in_folder("taken.png"), &image, &error), YW_ERR_IO);
  assert_int_equal(files_in_folder(), 1);
  rmdir(in_folder("taken.png"));
  yw_image_free(&image);
}

// A full disk is an error, not a short file: files may not grow beyond 100 bytes.
static void a_full_disk_is_reported(void** state) {
  (void)state;
  need_png();
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit little = {.rlim_cur = 100, .rlim_max = before.rlim_max};
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  yw_image image = noise_image(64, 64);
  yw_error error = {0};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
  yw_status status = yw_image_write_png(in_folder("full.png"), &image, &error);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  assert_int_equal(status, YW_ERR_IO);
  assert_non_null(strstr(error.message, "File too large"));
  assert_int_equal(files_in_folder(), 0);
  yw_image_free(&image);
}

// A truncated PNG file gives an error and no image.
static void truncated_png_files_are_refused(void** state) {
  (void)state;
  need_png();
  yw_image image = noise_image(5, 4), back;
  yw_error error = {0};
  assert_int_equal(yw_image_write_png(in_folder("t.png"), &image, &error), YW_OK);
  FILE* file = fopen(in_folder("t.png"), "rb");
  char bytes[1024];
  long size = (long)fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  // The last 12 bytes only mark the end of the file.
  for (long cut = 0; cut < size - 12; ++cut) {
    assert_int_equal(truncate(in_folder("t.png"), 0), 0);
    file = fopen(in_folder("t.png"), "wb");
    fwrite(bytes, 1, (size_t)cut, file);
    fclose(file);
    assert_int_equal(yw_image_read_png(in_folder("t.png"), NULL, &back, &error), YW_ERR_FORMAT);
    assert_null(back.pixels);
  }
  unlink(in_folder("t.png"));
  yw_image_free(&image);
}

static void images_of_absurd_size_are_refused(void** state) {
  (void)state;
  yw_image image;
  yw_error error = {0};
  assert_int_equal(yw_image_create(NULL, 0, 4, &image, &error), YW_ERR_INVALID);
  assert_int_equal(yw_image_create(NULL, 4, 40000, &image, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "4 x 40000"));
}

static void copies_are_cut_at_the_border(void** state) {
  (void)state;
  yw_image small = noise_image(4, 4), large;
  yw_image_create(NULL, 6, 6, &large, NULL);
  yw_image_copy(&large, -2, 4, &small);
  assert_memory_equal(&large.pixels[3 * (4 * 6)], &small.pixels[3 * 2], 6);
  assert_int_equal(large.pixels[3 * (4 * 6 + 2)], 0);
  yw_image_copy(&large, 100, 0, &small);
  yw_image_copy(&large, -100, -100, &small);
  yw_image_free(&small);
  yw_image_free(&large);
}

static double darkness(const yw_image* image, int32_t x0, int32_t y0, int32_t x1, int32_t y1) {
  double sum = 0;
  for (int32_t y = y0; y < y1; ++y) {
    for (int32_t x = x0; x < x1; ++x) sum += 255 - image->pixels[3 * (y * image->width + x)];
  }
  return sum / 255.0;
}

static void a_sheet_holds_all_its_pictures(void** state) {
  (void)state;
  yw_image cell[3];
  const yw_image* cells[3];
  const char* captions[3] = {"plain", "twisted example", NULL};
  for (int i = 0; i < 3; ++i) {
    yw_image_create(NULL, 40, 20, &cell[i], NULL);
    yw_image_fill(&cell[i], YW_RGB(0x102030));
    cells[i] = &cell[i];
  }
  yw_contact_sheet sheet = yw_default_sheet();
  sheet.num_images = 3;
  sheet.images = cells;
  sheet.captions = captions;
  sheet.text_size = 8;
  yw_image image;
  assert_int_equal(yw_contact_sheet_draw(&sheet, NULL, &image, NULL), YW_OK);
  assert_int_equal(image.width, 3 * 12 + 2 * 40);
  int32_t count = 0;
  for (int32_t i = 0; i < image.width * image.height; ++i) {
    const uint8_t* p = &image.pixels[3 * i];
    count += p[0] == 0x10 && p[1] == 0x20 && p[2] == 0x30;
  }
  assert_at_least(count, 3 * 40 * 20);
  // A caption below the first picture, none below the third.
  if (yw_svg_paint_available(NULL) >= 0) {
    assert_at_least(darkness(&image, 12, 32, 52, 46), 5);
  }
  int32_t below = 12 + 2 * 20 + 14 + 12;
  assert_near(darkness(&image, 12, below, 52, image.height), 0, 0);
  yw_image_free(&image);
  sheet.num_images = 0;
  assert_int_equal(yw_contact_sheet_draw(&sheet, NULL, &image, NULL), YW_ERR_INVALID);
  for (int i = 0; i < 3; ++i) yw_image_free(&cell[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(png_files_keep_every_byte),
      cmocka_unit_test(a_folder_that_does_not_exist_is_named_and_nothing_is_left),
      cmocka_unit_test(a_full_disk_is_reported),
      cmocka_unit_test(truncated_png_files_are_refused),
      cmocka_unit_test(images_of_absurd_size_are_refused),
      cmocka_unit_test(copies_are_cut_at_the_border),
      cmocka_unit_test(a_sheet_holds_all_its_pictures),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_empty_folder);
}
