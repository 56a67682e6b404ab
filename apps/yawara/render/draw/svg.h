// SPDX-License-Identifier: MIT
// SVG documents: built in memory, written to a file, or painted over a picture (with librsvg).
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

/// Starts a document of this size in user units. Text is 13 units high and dark grey unless an
/// element overrides it.
yw_status yw_svg_open(yw_svg* svg, double width, double height, yw_error* error);
/// Adds markup. %s is replaced by escaped text and %g by a number with at most two decimals, in any
/// locale; %% is the only other escape. Single quotes become double quotes.
void yw_svg_add(yw_svg* svg, const char* markup, ...) YW_PRINTF(2, 3);
/// Ends the document; after an error there is nothing to free.
yw_status yw_svg_close(yw_svg* svg, yw_error* error);
/// Safe on a zeroed struct.
void yw_svg_free(yw_svg* svg);

/// Upper estimate of the width of text in user units: the reader's font is unknown.
double yw_text_width(const char* text, double font_size);

/// Writes a closed document atomically.
yw_status yw_svg_write(const char* path, const yw_svg* svg, yw_error* error);

/// Checks that the program was built with librsvg; if not, error says what to install.
yw_status yw_svg_paint_available(yw_error* error);
/// Paints a closed document over the whole image.
yw_status yw_svg_paint(const yw_svg* svg, yw_image* image, yw_error* error);
/// Closes an open document, paints it over the image (if there is librsvg) and frees it.
yw_status yw_svg_overlay(yw_svg* svg, yw_image* image, yw_error* error);

#endif
