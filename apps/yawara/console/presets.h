// SPDX-License-Identifier: MIT
// Materials in words: what "jelly" means for every method.
#ifndef YW_APP_CONSOLE_PRESETS_H
#define YW_APP_CONSOLE_PRESETS_H

#include <stdbool.h>
#include <stdint.h>

/// Numbers without units, so that a word looks the same at any size: a body of length L and density
/// rho is stiff as `stiffness` rho g L, or `hold` times what it takes to stand on its legs if that
/// is more (stance.h), and a decay rate is `damping` sqrt(g / L).
typedef struct preset {
  const char* word;
  const char* about;    ///< for --help
  const char* methods;  ///< that have it, the default first, separated by spaces
  float density;        ///< kg/m^3
  float stiffness;
  float hold;  ///< times the stiffness at which legs buckle
  float poissons_ratio;
  float damping;
  float match_damping;  ///< factor for match, whose damping spares fast vibrations
  float fem_damping;    ///< factor for fem, whose damping slows the fall, too
  bool lasting;         ///< vibrations last: frames takes the solver that damps them little
  float yield;          ///< strain at which it yields; 0: elastic
  float color[3];       ///< linear RGB
} preset;

/// Preset i, or NULL.
const preset* preset_at(int32_t i);
/// NULL if there is no such word; *hint (may be NULL) then begins with a suggestion, or is "".
const preset* preset_by_word(const char* word, const char** hint);
bool preset_has_method(const preset* p, const char* method);
/// The first of its methods.
void preset_default_method(const preset* p, char* out, int32_t capacity);

#endif
