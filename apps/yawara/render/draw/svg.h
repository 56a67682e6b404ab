// SPDX-License-Identifier: MIT
// SVG documents: made in memory, written to a file, or painted over a picture (by librsvg).
#ifndef YW_APP_RENDER_DRAW_SVG_H
#define YW_APP_RENDER_DRAW_SVG_H

#include <stdio.h>

#include "render/output/image.h"
#include "yawara/extend/error.h"

#define YW_INK "#222831"

typedef struct yw_svg {
  FILE* stream;  ///< while the document is open
  char* text;    ///< once it is closed
  size_t size;   ///< bytes of text
} yw_svg;

/// Starts a document of that size in user units. Text is 13 units high and dark grey unless an
/// element says otherwise.
yw_status yw_svg_open(yw_svg* svg, double width, double height, yw_error* error);
/// Adds markup. %s is replaced by escaped text and %g by a number with at most two decimals, in any
/// locale; there is nothing else but %%. Single quotes become double ones.
void yw_svg_add(yw_svg* svg, const char* markup, ...) YW_PRINTF(2, 3);
/// Ends the document; nothing is left to free after an error.
yw_status yw_svg_close(yw_svg* svg, yw_error* error);
/// Safe on a zeroed struct.
void yw_svg_free(yw_svg* svg);

/// Width of text in user units, on the safe side: the reader's font is not known.
double yw_text_width(const char* text, double font_size);

/// Writes a closed document; the file appears when it is complete.
yw_status yw_svg_write(const char* path, const yw_svg* svg, yw_error* error);

/// Whether the program was built with librsvg; if not, error says what to install.
yw_status yw_svg_paint_available(yw_error* error);
/// Paints a closed document over the whole image.
yw_status yw_svg_paint(const yw_svg* svg, yw_image* image, yw_error* error);
/// Closes an open document, paints it over the image and frees it. Without librsvg the image stays
/// as it is.
yw_status yw_svg_overlay(yw_svg* svg, yw_image* image, yw_error* error);

#endif
