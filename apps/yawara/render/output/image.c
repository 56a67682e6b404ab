// SPDX-License-Identifier: MIT
#include "render/output/image.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

yw_status yw_image_create(const yw_allocator* mem, int32_t width, int32_t height, yw_image* out,
                          yw_error* error) {
  memset(out, 0, sizeof *out);
  if (width < 1 || height < 1 || width > YW_IMAGE_MAX_SIDE || height > YW_IMAGE_MAX_SIDE) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of the image is %d x %d, but each side must be between 1 and %d", width,
                   height, YW_IMAGE_MAX_SIDE);
  }
  uint8_t* pixels = YW_NEW_ARRAY(mem, uint8_t, 3 * (size_t)width * (size_t)height);
  if (!pixels) return yw_fail_memory(error, "an image");
  *out = (yw_image){yw_mem_or_default(mem), width, height, pixels};
  return YW_OK;
}

void yw_image_free(yw_image* image) {
  yw_mem_free(&image->mem, image->pixels);
  memset(image, 0, sizeof *image);
}

void yw_image_fill(yw_image* image, yw_rgb color) {
  size_t count = (size_t)image->width * (size_t)image->height;
  for (size_t i = 0; i < count; ++i) {
    image->pixels[3 * i] = color.r;
    image->pixels[3 * i + 1] = color.g;
    image->pixels[3 * i + 2] = color.b;
  }
}

void yw_image_copy(yw_image* to, int32_t x, int32_t y, const yw_image* from) {
  int32_t left = x > 0 ? x : 0, top = y > 0 ? y : 0;
  int64_t right = (int64_t)x + from->width, bottom = (int64_t)y + from->height;
  if (right > to->width) right = to->width;
  if (bottom > to->height) bottom = to->height;
  if (left >= right) return;
  for (int32_t row = top; row < bottom; ++row) {
    size_t target = (size_t)row * (size_t)to->width + (size_t)left;
    size_t source = (size_t)(row - y) * (size_t)from->width + (size_t)(left - x);
    memcpy(&to->pixels[3 * target], &from->pixels[3 * source], 3 * (size_t)(right - left));
  }
}
