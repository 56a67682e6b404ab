// SPDX-License-Identifier: MIT
// 8-bit sRGB images and PNG files.
#ifndef YW_APP_RENDER_OUTPUT_IMAGE_H
#define YW_APP_RENDER_OUTPUT_IMAGE_H

#include "yawara/base.h"

typedef struct yw_image {
  yw_allocator mem;
  int32_t width, height;
  uint8_t* pixels;  ///< red, green, blue; rows from the top
} yw_image;

#define YW_IMAGE_MAX_SIDE 32768

/// An sRGB colour, as in CSS.
typedef struct yw_rgb {
  uint8_t r, g, b;
} yw_rgb;
#define YW_RGB(hex) \
  ((yw_rgb){(uint8_t)(((hex) >> 16) & 255), (uint8_t)(((hex) >> 8) & 255), (uint8_t)((hex)&255)})

/// Black. mem may be NULL (malloc).
yw_status yw_image_create(const yw_allocator* mem, int32_t width, int32_t height, yw_image* out,
                          yw_error* error);
/// Safe on a zeroed struct.
void yw_image_free(yw_image* image);
void yw_image_fill(yw_image* image, yw_rgb color);
/// Copies `from` to (x, y); clips what lies outside.
void yw_image_copy(yw_image* to, int32_t x, int32_t y, const yw_image* from);

/// Checks that the program was built with libpng; if not, error says what to install.
yw_status yw_png_available(yw_error* error);
/// Written under a temporary name and renamed when complete; nothing is left behind on failure.
yw_status yw_image_write_png(const char* path, const yw_image* image, yw_error* error);
/// Converts to 8-bit RGB from any format (transparency over white).
yw_status yw_image_read_png(const char* path, const yw_allocator* mem, yw_image* out,
                            yw_error* error);

#endif
