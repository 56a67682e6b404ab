// SPDX-License-Identifier: MIT
// Lines and corners of OBJ text.
#ifndef YW_APP_PLAYBACK_OBJ_LINES_H
#define YW_APP_PLAYBACK_OBJ_LINES_H

#include <stdbool.h>
#include <stddef.h>

// Longer lines (polygons with very many corners) are not understood.
#define OBJ_MAX_LINE 8192

/// One line of a text, without its end.
typedef struct obj_line {
  char text[OBJ_MAX_LINE];
  size_t length;
} obj_line;

/// The next line; false at the end. *fits is false if the line is too long or continues.
bool obj_next_line(const char** at, const char* end, obj_line* out, bool* fits);
/// True if the first word of the line is this one, and more follows.
bool obj_begins(const obj_line* line, const char* word);

/// A corner of a face: vertex, texture coordinate, normal; 0 if not given.
typedef struct obj_corner {
  long index[3];
} obj_corner;

/// Reads "7/2/3", "7//3", "7/2" or "7" and moves on; false at the end of the line or an error.
bool obj_read_corner(const char** at, obj_corner* out);
/// As snprintf.
int obj_print_corner(char* out, size_t room, const obj_corner* corner);

#endif
