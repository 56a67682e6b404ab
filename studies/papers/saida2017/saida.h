// SPDX-License-Identifier: MIT
// Scenes of Saida, Fujisawa, Mikawa 2017 and the differences between their takes.
#ifndef YW_STUDIES_PAPERS_SAIDA2017_SAIDA_H
#define YW_STUDIES_PAPERS_SAIDA2017_SAIDA_H

#include "papers/paper.h"

#define SAIDA_MAX_SETTINGS 12

/// One take of a figure: a scene with changes.
typedef struct saida_take {
  const char* label;   ///< in tables
  const char* name;    ///< of its files
  const char* scene;   ///< file under papers/
  const char* coarse;  ///< spacing with --quick, m
  double paper_step;   ///< s per frame in table 2 of the paper; 0: not given
  bool may_diverge;
  int32_t num_settings;
  yw_scene_override settings[SAIDA_MAX_SETTINGS];
} saida_take;

/// Share of the implicit solve, (15), in the time of the first body's steps.
double saida_solve_share(const paper_take* take);

/// Takes of table 2, in its order.
extern const saida_take saida_table[];
extern const int32_t saida_num_table;

#endif
