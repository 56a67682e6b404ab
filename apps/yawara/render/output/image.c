// SPDX-License-Identifier: MIT
#include "render/output/image.h"

#include <string.h>

#include "render/draw/draw.h"
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

yw_sheet yw_default_sheet(void) {
  return (yw_sheet){.gap = 12, .text_size = 12, .paper = YW_RGB(0xffffff), .ink = YW_RGB(0x222831)};
}

// Where things go on a sheet.
typedef struct sheet_layout {
  int32_t columns, rows;
  int32_t cell_width, cell_height;  // of the largest picture
  int32_t caption_height, title_height;
} sheet_layout;

static sheet_layout lay_out(const yw_sheet* sheet) {
  sheet_layout layout = {.columns = sheet->columns};
  if (layout.columns < 1) {
    layout.columns = 1;
    while (layout.columns * layout.columns < sheet->num_images) ++layout.columns;
  }
  if (layout.columns > sheet->num_images) layout.columns = sheet->num_images;
  layout.rows = (sheet->num_images + layout.columns - 1) / layout.columns;
  for (int32_t i = 0; i < sheet->num_images; ++i) {
    const yw_image* image = sheet->images[i];
    if (image->width > layout.cell_width) layout.cell_width = image->width;
    if (image->height > layout.cell_height) layout.cell_height = image->height;
    if (sheet->captions && sheet->captions[i]) {
      layout.caption_height = (int32_t)(2.4f * sheet->text_size);
    }
  }
  if (sheet->title) layout.title_height = (int32_t)(3.0f * sheet->text_size);
  return layout;
}

yw_status yw_sheet_draw(const yw_sheet* sheet, const yw_allocator* mem, yw_image* out,
                        yw_error* error) {
  memset(out, 0, sizeof *out);
  if (sheet->num_images < 1 || sheet->gap < 0 || !(sheet->text_size > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a sheet needs at least one picture, a gap >= 0 and a text size > 0");
  }
  sheet_layout layout = lay_out(sheet);
  int64_t step_x = (int64_t)layout.cell_width + sheet->gap;
  int64_t step_y = (int64_t)layout.cell_height + layout.caption_height + sheet->gap;
  int64_t width = layout.columns * step_x + sheet->gap;
  int64_t height = layout.rows * step_y + sheet->gap + layout.title_height;
  if (width > YW_IMAGE_MAX_SIDE || height > YW_IMAGE_MAX_SIDE) {
    return yw_fail(error, YW_ERR_LIMIT,
                   "the sheet would be %lld x %lld pixels, but each side may be %d at most",
                   (long long)width, (long long)height, YW_IMAGE_MAX_SIDE);
  }
  yw_status status = yw_image_create(mem, (int32_t)width, (int32_t)height, out, error);
  if (status < 0) return status;
  yw_image_fill(out, sheet->paper);

  yw_text_style style = yw_default_text_style();
  style.anchor = YW_TEXT_CENTER;
  style.color = sheet->ink;
  if (sheet->title) {
    style.size = 1.3f * sheet->text_size;
    yw_draw_text(out, 0.5f * (float)width, (float)sheet->gap + 1.6f * sheet->text_size,
                 sheet->title, &style);
  }
  style.size = sheet->text_size;
  for (int32_t i = 0; i < sheet->num_images; ++i) {
    int32_t x = sheet->gap + (int32_t)(i % layout.columns * step_x);
    int32_t y = sheet->gap + layout.title_height + (int32_t)(i / layout.columns * step_y);
    const yw_image* image = sheet->images[i];
    yw_image_copy(out, x + (layout.cell_width - image->width) / 2,
                  y + (layout.cell_height - image->height) / 2, image);
    if (sheet->captions && sheet->captions[i]) {
      yw_draw_text(out, (float)x + 0.5f * (float)layout.cell_width,
                   (float)(y + layout.cell_height) + 1.7f * sheet->text_size, sheet->captions[i],
                   &style);
    }
  }
  return YW_OK;
}
