// SPDX-License-Identifier: MIT
#include "render/draw/contact_sheet.h"

#include <math.h>
#include <string.h>

#include "render/draw/svg.h"

yw_contact_sheet yw_default_sheet(void) { return (yw_contact_sheet){.gap = 12, .text_size = 16}; }

// Layout of a contact sheet.
typedef struct sheet_layout {
  int32_t columns, rows;
  int32_t cell_width, cell_height;  // of the largest picture
  int32_t caption_height, title_height;
  int64_t width, height;
} sheet_layout;

static sheet_layout lay_out(const yw_contact_sheet* sheet) {
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
      layout.caption_height = (int32_t)(1.8f * sheet->text_size);
    }
  }
  if (sheet->title) layout.title_height = (int32_t)(2.2f * sheet->text_size);
  int64_t step_x = (int64_t)layout.cell_width + sheet->gap;
  int64_t step_y = (int64_t)layout.cell_height + layout.caption_height + sheet->gap;
  layout.width = layout.columns * step_x + sheet->gap;
  layout.height = layout.rows * step_y + sheet->gap + layout.title_height;
  return layout;
}

// Corner of cell i.
static void find_cell(const yw_contact_sheet* sheet, const sheet_layout* layout, int32_t i,
                      int32_t* x, int32_t* y) {
  int32_t column = i % layout->columns, row = i / layout->columns;
  *x = sheet->gap + column * (layout->cell_width + sheet->gap);
  *y = sheet->gap + layout->title_height +
       row * (layout->cell_height + layout->caption_height + sheet->gap);
}

// Text centred at (x, y), smaller if it would be too wide.
static void add_text(yw_svg* svg, double x, double y, double size, double room, const char* text) {
  size *= fmin(1.0, room / fmax(yw_text_width(text, size), 1.0));
  yw_svg_add(svg, "<text x='%g' y='%g' font-size='%g' text-anchor='middle'>%s</text>\n", x, y, size,
             text);
}

static yw_status draw_texts(const yw_contact_sheet* sheet, const sheet_layout* layout,
                            yw_image* out, yw_error* error) {
  yw_svg svg;
  yw_status status = yw_svg_open(&svg, out->width, out->height, error);
  if (status < 0) return status;
  double size = (double)sheet->text_size, middle = 0.5 * out->width;
  if (sheet->title) {
    add_text(&svg, middle, sheet->gap + 1.2 * size, 1.3 * size, out->width - 2.0 * sheet->gap,
             sheet->title);
  }
  for (int32_t i = 0; i < sheet->num_images; ++i) {
    int32_t x, y;
    if (!sheet->captions || !sheet->captions[i]) continue;
    find_cell(sheet, layout, i, &x, &y);
    add_text(&svg, x + 0.5 * layout->cell_width, y + layout->cell_height + 1.25 * size, size,
             layout->cell_width, sheet->captions[i]);
  }
  return yw_svg_overlay(&svg, out, error);
}

yw_status yw_contact_sheet_draw(const yw_contact_sheet* sheet, const yw_allocator* mem,
                                yw_image* out, yw_error* error) {
  memset(out, 0, sizeof *out);
  if (sheet->num_images < 1 || sheet->gap < 0 || !(sheet->text_size > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a sheet needs at least one picture, a gap >= 0 and a text size > 0");
  }
  sheet_layout layout = lay_out(sheet);
  if (layout.width > YW_IMAGE_MAX_SIDE || layout.height > YW_IMAGE_MAX_SIDE) {
    return yw_fail(error, YW_ERR_LIMIT,
                   "the sheet would be %lld x %lld pixels, but each side may be %d at most",
                   (long long)layout.width, (long long)layout.height, YW_IMAGE_MAX_SIDE);
  }
  yw_status status =
      yw_image_create(mem, (int32_t)layout.width, (int32_t)layout.height, out, error);
  if (status < 0) return status;
  yw_image_fill(out, YW_RGB(0xffffff));
  for (int32_t i = 0; i < sheet->num_images; ++i) {
    const yw_image* image = sheet->images[i];
    int32_t x, y;
    find_cell(sheet, &layout, i, &x, &y);
    yw_image_copy(out, x + (layout.cell_width - image->width) / 2,
                  y + (layout.cell_height - image->height) / 2, image);
  }
  status = draw_texts(sheet, &layout, out, error);
  if (status < 0) yw_image_free(out);
  return status;
}
