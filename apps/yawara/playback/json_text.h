// SPDX-License-Identifier: MIT
// Texts in JSON files.
#ifndef YW_APP_PLAYBACK_JSON_TEXT_H
#define YW_APP_PLAYBACK_JSON_TEXT_H

#include "yawara/extend/file.h"

/// Writes a text in quotation marks, with escapes where JSON needs them.
void json_write_string(yw_file_writer* writer, const char* text);

#endif
