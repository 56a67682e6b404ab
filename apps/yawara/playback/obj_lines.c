// SPDX-License-Identifier: MIT
#include "playback/obj_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool obj_next_line(const char** at, const char* end, obj_line* out, bool* fits) {
  if (*at >= end) return false;
  const char* stop = memchr(*at, '\n', (size_t)(end - *at));
  size_t length = (size_t)((stop ? stop : end) - *at);
  *fits = length < OBJ_MAX_LINE && !(length > 0 && (*at)[length - 1] == '\\');
  out->length = *fits ? length : 0;
  memcpy(out->text, *at, out->length);
  while (out->length > 0 && out->text[out->length - 1] == '\r') --out->length;
  out->text[out->length] = '\0';
  *at = stop ? stop + 1 : end;
  return true;
}

bool obj_begins(const obj_line* l, const char* word) {
  size_t length = strlen(word);
  return strncmp(l->text, word, length) == 0 && (l->text[length] == ' ' || l->text[length] == '\t');
}

bool obj_read_corner(const char** at, obj_corner* out) {
  *at += strspn(*at, " \t");
  *out = (obj_corner){{0, 0, 0}};
  for (int k = 0; k < 3; ++k) {
    char* end;
    out->index[k] = strtol(*at, &end, 10);
    if (k == 0 && (end == *at || out->index[0] == 0)) return false;
    *at = end;
    if (**at != '/') break;
    ++*at;
  }
  return **at == '\0' || **at == ' ' || **at == '\t';
}

int obj_print_corner(char* out, size_t room, const obj_corner* corner) {
  const long* i = corner->index;
  if (i[1] != 0 && i[2] != 0) return snprintf(out, room, " %ld/%ld/%ld", i[0], i[1], i[2]);
  if (i[2] != 0) return snprintf(out, room, " %ld//%ld", i[0], i[2]);
  return i[1] != 0 ? snprintf(out, room, " %ld/%ld", i[0], i[1])
                   : snprintf(out, room, " %ld", i[0]);
}
