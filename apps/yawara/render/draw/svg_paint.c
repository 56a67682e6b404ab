// SPDX-License-Identifier: MIT
// SVG to pixels. librsvg brings fifty libraries along, so a library of its own is linked with it.
#include "render/draw/svg_paint.h"

#include <pthread.h>

#ifdef YW_HAVE_RSVG

static pthread_once_t looked = PTHREAD_ONCE_INIT;
static svg_paint_fn paint;
static yw_error why_not;

static void look(void) {
  plugin_find("libyawara_paint.so", PLUGIN_TEXT(SVG_PAINT), &paint, &why_not);
}

yw_status yw_svg_paint_available(yw_error* error) {
  pthread_once(&looked, look);
  yw_error_clear(error);
  if (!paint && error) *error = why_not;
  return paint ? YW_OK : why_not.status;
}

#else

static const svg_paint_fn paint = NULL;

yw_status yw_svg_paint_available(yw_error* error) {
  return yw_fail(error, YW_ERR_INVALID,
                 "this build of yawara draws no text into pictures and no plots as PNG: it was "
                 "built without librsvg. Install it (Debian: apt-get install librsvg2-dev "
                 "fonts-dejavu-core) and build again");
}

#endif

yw_status yw_svg_paint(const yw_svg* svg, yw_image* image, yw_error* error) {
  yw_status status = yw_svg_paint_available(error);
  return status < 0 ? status : paint(svg, image, error);
}
