// SPDX-License-Identifier: MIT
// Weights of examples that are given from outside (yw_method.aim).
#ifndef YW_METHODS_KIT_AIMS_H
#define YW_METHODS_KIT_AIMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One row per group: the share in which given weights count, then the weights; NAN: not given.
static inline void yw_aims_clear(float* aims, int32_t num_groups, int32_t num_examples) {
  for (int64_t i = 0; i < (int64_t)num_groups * (1 + num_examples); ++i) aims[i] = NAN;
}

/// See yw_method.aim.
static inline bool yw_aims_set(float* aims, int32_t num_groups, int32_t num_examples, int32_t group,
                               int32_t example, float value) {
  if (group < -1 || group >= num_groups || example < -1 || example >= num_examples) return false;
  for (int32_t g = group < 0 ? 0 : group; g < (group < 0 ? num_groups : group + 1); ++g) {
    aims[(int64_t)g * (1 + num_examples) + 1 + example] = value;
  }
  return num_groups > 0;
}

/// Rows given by a caller: weights of all examples (NULL: not given any more) and the share in
/// which they count, each 0 to 1; group -1: all. False: there is no such group, or a number is out
/// of range.
static inline bool yw_aims_give(float* aims, int32_t num_groups, int32_t num_examples,
                                int32_t group, const float* weights, float share) {
  bool good = !weights || (share >= 0.0f && share <= 1.0f);
  for (int32_t k = 0; weights && k < num_examples; ++k) {
    good = good && weights[k] >= 0.0f && weights[k] <= 1.0f;
  }
  if (!good || num_examples == 0) return false;
  good = yw_aims_set(aims, num_groups, num_examples, group, -1, weights ? share : NAN);
  for (int32_t k = 0; good && k < num_examples; ++k) {
    yw_aims_set(aims, num_groups, num_examples, group, k, weights ? weights[k] : NAN);
  }
  return good;
}

/// True if rows that were read are such as can be given.
static inline bool yw_aims_are_sound(const float* aims, size_t count) {
  bool sound = true;
  for (size_t i = 0; i < count; ++i) {
    sound = sound && (isnan(aims[i]) || (aims[i] >= 0.0f && aims[i] <= 1.0f));
  }
  return sound;
}

/// Blends the weights of a group with those of its row.
static inline void yw_aims_blend(const float* row, int32_t num_examples, double* weights) {
  double sum = 0.0, share = isnan(row[0]) ? 1.0 : (double)row[0];
  bool given = false;
  for (int32_t k = 1; k <= num_examples; ++k) {
    if (isnan(row[k])) continue;
    given = true;
    sum += (double)row[k];
  }
  if (!given) return;
  double scale = sum > 1.0 ? 1.0 / sum : 1.0;
  for (int32_t k = 0; k < num_examples; ++k) {
    double aim = isnan(row[1 + k]) ? 0.0 : scale * (double)row[1 + k];
    weights[k] += share * (aim - weights[k]);
  }
}

#endif
