// SPDX-License-Identifier: MIT
// SVG to pixels with librsvg and cairo: a library of its own, which svg_paint.c opens.
#include <librsvg/rsvg.h>

#include "render/draw/svg_paint.h"
#include "yawara/extend/error.h"

PLUGIN_EXPORT yw_status SVG_PAINT(const yw_svg* svg, yw_image* image, yw_error* error);

// Copies the image to the surface, or back. cairo stores a pixel as one 32-bit number: 0xRRGGBB.
static void copy_pixels(yw_image* image, cairo_surface_t* surface, bool back) {
  cairo_surface_flush(surface);
  for (int32_t y = 0; y < image->height; ++y) {
    uint8_t* rgb = image->pixels + 3 * (size_t)y * (size_t)image->width;
    uint32_t* row = (uint32_t*)(void*)(cairo_image_surface_get_data(surface) +
                                       y * cairo_image_surface_get_stride(surface));
    for (int32_t x = 0; x < image->width; ++x, rgb += 3) {
      if (back) {
        rgb[0] = (uint8_t)(row[x] >> 16), rgb[1] = (uint8_t)(row[x] >> 8), rgb[2] = (uint8_t)row[x];
      } else {
        row[x] = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
      }
    }
  }
  cairo_surface_mark_dirty(surface);
}

yw_status SVG_PAINT(const yw_svg* svg, yw_image* image, yw_error* error) {
  GError* problem = NULL;
  RsvgHandle* handle =
      rsvg_handle_new_from_data((const guint8*)svg->text, (gsize)svg->size, &problem);
  cairo_surface_t* surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->width, image->height);
  cairo_t* cairo = cairo_create(surface);
  const RsvgRectangle viewport = {0, 0, image->width, image->height};
  bool painted = false;
  if (handle && cairo_status(cairo) == CAIRO_STATUS_SUCCESS) {
    copy_pixels(image, surface, false);
    painted = rsvg_handle_render_document(handle, cairo, &viewport, &problem) &&
              cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    if (painted) copy_pixels(image, surface, true);
  }
  yw_status status = YW_OK;
  if (!painted) {
    status = yw_fail(error, YW_ERR_INVALID, "cannot paint a drawing: %s",
                     problem ? problem->message : cairo_status_to_string(cairo_status(cairo)));
  }
  g_clear_error(&problem);
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
  if (handle) g_object_unref(handle);
  return status;
}
