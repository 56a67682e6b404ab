// SPDX-License-Identifier: MIT
// Options of commands that read models of others: their unit of length and which axis points up.
#ifndef YW_APP_CONSOLE_MODEL_OPTIONS_H
#define YW_APP_CONSOLE_MODEL_OPTIONS_H

#include "console/options.h"
#include "yawara/yawara.h"

typedef struct model_options {
  const char* unit;  ///< NULL: m
  const char* up;    ///< NULL: y
} model_options;

/// For tables of options; `o` is a pointer to model_options.
#define MODEL_OPTIONS(o)                                                                          \
  {"unit", 0, OPTION_TEXT, &(o)->unit, "UNIT", "unit of the file: mm, cm, m (default), inch, ft", \
   0,      0},                                                                                    \
  {                                                                                               \
    "up", 0, OPTION_TEXT, &(o)->up, "AXIS", "axis of the file that points up: y (default) or z",  \
        0, 0                                                                                      \
  }

/// Metres in the unit of the file.
float model_options_metres(const model_options* options);
bool model_options_turned(const model_options* options);  ///< z points up
/// -1 to continue, or the exit code for values that do not exist.
int model_options_check(const model_options* options);
/// Positions of the file in metres, with y up.
void model_options_apply(const model_options* options, yw_vec3* positions, int32_t count);
/// Writes a hint if a model of this size (m) was probably made in another unit; otherwise "".
void model_options_hint(const model_options* options, float size, char* out, size_t capacity);

#endif
