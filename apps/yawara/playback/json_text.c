// SPDX-License-Identifier: MIT
#include "playback/json_text.h"

void json_write_string(yw_file_writer* writer, const char* text) {
  yw_file_write(writer, "\"", 1);
  for (const char* c = text; *c; ++c) {
    if (*c == '"' || *c == '\\') yw_file_write(writer, "\\", 1);
    if ((unsigned char)*c < 0x20) {
      yw_file_printf(writer, "\\u%04x", (unsigned)*c);
    } else {
      yw_file_write(writer, c, 1);
    }
  }
  yw_file_write(writer, "\"", 1);
}
