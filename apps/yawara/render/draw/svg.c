// SPDX-License-Identifier: MIT
#include "render/draw/svg.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/file.h"
#include "yawara/extend/text_number.h"

yw_status yw_svg_open(yw_svg* svg, double width, double height, yw_error* error) {
  *svg = (yw_svg){0};
  svg->stream = open_memstream(&svg->text, &svg->size);
  if (!svg->stream) return yw_fail_memory(error, "a drawing");
  yw_svg_add(svg,
             "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' viewBox='0 0 %g %g' "
             "font-family='DejaVu Sans, Verdana, sans-serif' font-size='13' fill='" YW_INK "'>\n",
             width, height, width, height);
  return YW_OK;
}

// Bytes of the UTF-8 character at s; 0 if it is invalid or forbidden in XML.
static int character_length(const unsigned char* s) {
  static const uint32_t least[] = {0, 0x20, 0x80, 0x800, 0x10000};
  int length = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
  uint32_t code = length == 1 ? *s : *s & (0x7fu >> length);
  for (int i = 1; i < length; ++i) {
    if (s[i] >> 6 != 2) return 0;
    code = code << 6 | (s[i] & 63u);
  }
  bool is_surrogate = code >> 11 == 27, is_forbidden = code == 0xfffe || code == 0xffff;
  bool allowed = code >= least[length] && code <= 0x10ffff && !is_surrogate && !is_forbidden;
  return allowed ? length : 0;
}

static void put_escaped(FILE* out, const char* text) {
  static const char special[] = "&<>\"";
  static const char* const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  while (*text) {
    int length = character_length((const unsigned char*)text);
    const char* found = strchr(special, *text);
    if (found) {
      fputs(entities[found - special], out);
    } else if (length > 0) {
      fwrite(text, 1, (size_t)length, out);
    } else {
      fputc('?', out);
    }
    text += length > 0 ? length : 1;
  }
}

static void put_number(FILE* out, double value) {
  char text[YW_NUMBER_TEXT];
  // Adding zero turns -0 into 0.
  yw_format_double(round(100.0 * value) / 100.0 + 0.0, text);
  fputs(text, out);
}

void yw_svg_add(yw_svg* svg, const char* markup, ...) {
  va_list arguments;
  va_start(arguments, markup);
  for (const char* s = markup; *s; ++s) {
    if (*s != '%') {
      fputc(*s == '\'' ? '"' : *s, svg->stream);
    } else if (*++s == 's') {
      put_escaped(svg->stream, va_arg(arguments, const char*));
    } else if (*s == '%') {
      fputc('%', svg->stream);
    } else {
      assert(*s == 'g');
      put_number(svg->stream, va_arg(arguments, double));
    }
  }
  va_end(arguments);
}

yw_status yw_svg_close(yw_svg* svg, yw_error* error) {
  yw_svg_add(svg, "</svg>\n");
  bool failed = ferror(svg->stream) != 0;
  failed = fclose(svg->stream) != 0 || failed;
  svg->stream = NULL;
  if (!failed) return YW_OK;
  yw_svg_free(svg);
  return yw_fail_memory(error, "a drawing");
}

void yw_svg_free(yw_svg* svg) {
  if (svg->stream) fclose(svg->stream);
  free(svg->text);
  *svg = (yw_svg){0};
}

double yw_text_width(const char* text, double font_size) {
  // Widths of DejaVu Sans, which is wider than most fonts, in three classes.
  double width = 0.0;
  for (; *text; ++text) {
    if ((*text & 0xc0) == 0x80) continue;  // continuation byte
    bool is_narrow = strchr(" !'(),-./:;I[]fijlrt|", *text) != NULL;
    bool is_wide = strchr("%@MWmw", *text) != NULL;
    width += is_narrow ? 0.40 : is_wide ? 0.98 : 0.65;
  }
  return width * font_size;
}

yw_status yw_svg_write(const char* path, const yw_svg* svg, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_write(&file, svg->text, svg->size);
  return yw_file_writer_commit(&file, error);
}

yw_status yw_svg_overlay(yw_svg* svg, yw_image* image, yw_error* error) {
  yw_status status = yw_svg_close(svg, error);
  if (status >= 0 && yw_svg_paint_available(NULL) >= 0) status = yw_svg_paint(svg, image, error);
  yw_svg_free(svg);
  return status;
}
