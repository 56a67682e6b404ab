// SPDX-License-Identifier: MIT
// Scenes made from a model and a word: the model falls on a floor.
#ifndef YW_APP_CONSOLE_STARTER_H
#define YW_APP_CONSOLE_STARTER_H

#include "console/model_options.h"
#include "console/options.h"
#include "yawara/yawara.h"

typedef struct starter_options {
  const char* as;      ///< a word of presets.h; NULL: rubber
  const char* method;  ///< NULL: the word's own
  float fit;           ///< m, longest side; 0: 1 m, or as the unit says
  model_options file;  ///< its unit of length and the axis that points up
  bool parts;          ///< a body for each connected part
} starter_options;

#define STARTER_OPTIONS(target)                                                                     \
  {"as",        0,                                                                                  \
   OPTION_TEXT, &(target)->as,                                                                      \
   "WORD",      "of a model: jelly, rubber (default), foam, toy, clay, cloth or steel",             \
   0,           0},                                                                                 \
      {"method",    0,                                                                              \
       OPTION_TEXT, &(target)->method,                                                              \
       "NAME",      "of a model: match, frames, fem, plastic or slender (default: the word's own)", \
       0,           0},                                                                             \
      {"fit", 0,  OPTION_FLOAT, &(target)->fit, "M", "of a model: longest side, m (default: 1)",    \
       1e-4,  1e4},                                                                                 \
      {"unit",      0,                                                                              \
       OPTION_TEXT, &(target)->file.unit,                                                           \
       "UNIT",      "of a model: keep its own size, in mm, cm, m, inch or ft",                      \
       0,           0},                                                                             \
      {"up",        0,                                                                              \
       OPTION_TEXT, &(target)->file.up,                                                             \
       "AXIS",      "of a model: axis that points up, y (default) or z",                            \
       0,           0},                                                                             \
  {                                                                                                 \
    "parts", 0, OPTION_FLAG, &(target)->parts, NULL,                                                \
        "of a model: a body for each connected part (default: one body)", 0, 0                      \
  }

/// True if the file is a model (a surface or tets) and not a scene, by its ending.
bool starter_is_model(const char* path);
/// True if any of the options was given.
bool starter_is_asked(const starter_options* options);
/// The text of a scene with the model, commented. file is its name as the scene is to say it; path
/// where it is now. model NULL: a ball instead. *text is freed with yw_mem_free(NULL, ...). Returns
/// -1 to continue, or the exit code.
int starter_text(const starter_options* options, const char* path, const char* file, char** text);

#endif
