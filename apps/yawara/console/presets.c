// SPDX-License-Identifier: MIT
#include "console/presets.h"

#include <stdio.h>
#include <string.h>

#include "yawara/extend/text.h"

#define VOLUMES "match frames fem plastic"

// Chosen by eye on animals (spot, cow, bunny) and cubes dropped from 0.12 of their height. The
// factors of damping make the cube of scripts/measure_words.py bounce alike in all methods and, of
// words that sag visibly, vibrate alike.
static const preset presets[] = {
    {.word = "jelly",
     .about = "wobbles for long, sags under its own weight",
     .methods = VOLUMES,
     .density = 1000,
     .stiffness = 40,
     .hold = 6,
     .poissons_ratio = 0.4f,
     .damping = 0.8f,
     .match_damping = 0.15f,
     .fem_damping = 0.84f,
     .lasting = true,
     .color = {0.72f, 0.07f, 0.10f}},
    {.word = "rubber",
     .about = "bends visibly and bounces",
     .methods = VOLUMES,
     .density = 1000,
     .stiffness = 250,
     .hold = 10,
     .poissons_ratio = 0.45f,
     .damping = 0.4f,
     .match_damping = 80,
     .fem_damping = 1,
     .lasting = true,
     .color = {0.06f, 0.30f, 0.55f}},
    {.word = "foam",
     .about = "light and soft, comes to rest at once",
     .methods = VOLUMES,
     .density = 30,
     .stiffness = 80,
     .hold = 6,
     .poissons_ratio = 0.2f,
     .damping = 0.5f,
     .match_damping = 16,
     .fem_damping = 3.2f,
     .color = {0.85f, 0.55f, 0.10f}},
    {.word = "toy",
     .about = "keeps its shape, gives a little: a vinyl figure",
     .methods = VOLUMES,
     .density = 1000,
     .stiffness = 1000,
     .hold = 30,
     .poissons_ratio = 0.4f,
     .damping = 1,
     .match_damping = 160,
     .fem_damping = 1,
     .lasting = true,
     .color = {0.10f, 0.42f, 0.22f}},
    {.word = "clay",
     .about = "dents for good (match and frames cannot: there it is merely dull)",
     .methods = "plastic fem match frames",
     .density = 1800,
     .stiffness = 100,
     .hold = 6,
     .poissons_ratio = 0.4f,
     .damping = 8,
     .match_damping = 8,
     .fem_damping = 1,
     .yield = 0.02f,
     .color = {0.50f, 0.22f, 0.10f}},
    {.word = "cloth",
     .about = "the surface alone, as a sheet that crumples",
     .methods = "slender",
     .density = 400,
     .stiffness = 100,
     .hold = 0,
     .poissons_ratio = 0.3f,
     .damping = 2,
     .match_damping = 1,
     .fem_damping = 1,
     .color = {0.45f, 0.16f, 0.50f}},
    {.word = "steel",
     .about = "as good as rigid (not real steel, which takes very small steps)",
     .methods = "match frames fem",
     .density = 7850,
     .stiffness = 6e3f,
     .hold = 60,
     .poissons_ratio = 0.3f,
     .damping = 0.5f,
     .match_damping = 900,
     .fem_damping = 4,
     .lasting = true,
     .color = {0.35f, 0.38f, 0.42f}},
};
enum { NUM_PRESETS = sizeof presets / sizeof presets[0] };

const preset* preset_at(int32_t i) { return i >= 0 && i < NUM_PRESETS ? &presets[i] : NULL; }

const preset* preset_by_word(const char* word, const char** hint) {
  static yw_hint found;
  const char* words[NUM_PRESETS];
  for (int i = 0; i < NUM_PRESETS; ++i) {
    words[i] = presets[i].word;
    if (strcmp(word, words[i]) == 0) return &presets[i];
  }
  found = yw_suggest(word, NUM_PRESETS, words);
  if (hint) *hint = found.text;
  return NULL;
}

bool preset_has_method(const preset* p, const char* method) {
  size_t length = strlen(method);
  for (const char* at = p->methods; *at; at += strcspn(at, " "), at += *at == ' ') {
    if (strcspn(at, " ") == length && strncmp(at, method, length) == 0) return true;
  }
  return false;
}

void preset_default_method(const preset* p, char* out, int32_t capacity) {
  snprintf(out, (size_t)capacity, "%.*s", (int)strcspn(p->methods, " "), p->methods);
}
