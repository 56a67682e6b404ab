// SPDX-License-Identifier: MIT
// PNG files with libpng.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "render/output/image.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"

#ifndef YW_HAVE_PNG

yw_status yw_png_available(yw_error* error) {
  return yw_fail(
      error, YW_ERR_INVALID,
      "this build of yawara cannot read or write PNG files: it was built without libpng. "
      "Install it (Debian: apt-get install libpng-dev) and build again");
}

yw_status yw_image_write_png(const char* path, const yw_image* image, yw_error* error) {
  (void)path, (void)image;
  return yw_png_available(error);
}

yw_status yw_image_read_png(const char* path, const yw_allocator* mem, yw_image* out,
                            yw_error* error) {
  (void)path, (void)mem;
  memset(out, 0, sizeof *out);
  return yw_png_available(error);
}

#else

#include <png.h>

yw_status yw_png_available(yw_error* error) {
  yw_error_clear(error);
  return YW_OK;
}

// Error callbacks of libpng; the text is kept for the caller's message.
typedef struct png_report {
  char text[200];
} png_report;

static void on_error(png_structp png, png_const_charp message) {
  png_report* report = png_get_error_ptr(png);
  snprintf(report->text, sizeof report->text, "%s", message);
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

// Returns false if libpng failed.
static bool write_rows(FILE* file, const yw_image* image, png_report* report) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, report, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) {
    png_destroy_write_struct(&png, NULL);
    snprintf(report->text, sizeof report->text, "out of memory");
    return false;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_init_io(png, file);
  png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_set_compression_level(png, 5);
  png_write_info(png, info);
  for (int32_t y = 0; y < image->height; ++y) {
    png_write_row(png, &image->pixels[3 * (size_t)y * (size_t)image->width]);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return true;
}

yw_status yw_image_write_png(const char* path, const yw_image* image, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  png_report report = {""};
  if (!write_rows(file.stream, image, &report)) {
    int cause = errno;
    yw_file_writer_abort(&file);
    return yw_fail(error, YW_ERR_IO, "%s: cannot write the PNG file: %s (%s)", path, report.text,
                   strerror(cause));
  }
  return yw_file_writer_commit(&file, error);
}

typedef struct png_input {
  FILE* file;
  png_structp png;
  png_infop info;
  png_report report;
} png_input;

// Size after the header; everything becomes 8-bit RGB.
static bool read_header(png_input* in, int32_t* width, int32_t* height) {
  if (setjmp(png_jmpbuf(in->png))) return false;
  png_init_io(in->png, in->file);
  png_set_user_limits(in->png, YW_IMAGE_MAX_SIDE, YW_IMAGE_MAX_SIDE);
  png_read_info(in->png, in->info);
  png_set_expand(in->png);
  png_set_strip_16(in->png);
  png_set_gray_to_rgb(in->png);
  png_color_16 white = {.red = 255, .green = 255, .blue = 255, .gray = 255};
  png_set_background(in->png, &white, PNG_BACKGROUND_GAMMA_SCREEN, 0, 1.0);
  png_set_interlace_handling(in->png);
  png_read_update_info(in->png, in->info);
  if (png_get_rowbytes(in->png, in->info) != 3 * (size_t)png_get_image_width(in->png, in->info)) {
    png_error(in->png, "unexpected pixel format");
  }
  *width = (int32_t)png_get_image_width(in->png, in->info);
  *height = (int32_t)png_get_image_height(in->png, in->info);
  return true;
}

static bool read_rows(png_input* in, yw_image* out) {
  if (setjmp(png_jmpbuf(in->png))) return false;
  int passes = png_get_interlace_type(in->png, in->info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
  for (int pass = 0; pass < passes; ++pass) {
    for (int32_t y = 0; y < out->height; ++y) {
      png_read_row(in->png, &out->pixels[3 * (size_t)y * (size_t)out->width], NULL);
    }
  }
  png_read_end(in->png, NULL);
  return true;
}

yw_status yw_image_read_png(const char* path, const yw_allocator* mem, yw_image* out,
                            yw_error* error) {
  memset(out, 0, sizeof *out);
  png_input in = {.file = fopen(path, "rb")};
  if (!in.file) {
    return yw_fail(error, YW_ERR_IO, "%s: cannot open the file: %s", path, strerror(errno));
  }
  in.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &in.report, on_error, on_warning);
  in.info = in.png ? png_create_info_struct(in.png) : NULL;
  yw_status status = YW_OK;
  int32_t width = 0, height = 0;
  if (!in.info) {
    status = yw_fail_memory(error, "a PNG file");
  } else if (!read_header(&in, &width, &height)) {
    status = yw_fail(error, YW_ERR_FORMAT, "%s: not a PNG file that can be read: %s", path,
                     in.report.text);
  } else {
    status = yw_image_create(mem, width, height, out, error);
    if (status >= 0 && !read_rows(&in, out)) {
      yw_image_free(out);
      status = yw_fail(error, YW_ERR_FORMAT, "%s: damaged PNG file: %s", path, in.report.text);
    }
  }
  png_destroy_read_struct(&in.png, &in.info, NULL);
  fclose(in.file);
  return status;
}

#endif
