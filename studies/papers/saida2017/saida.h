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

/// Numbers of a frame of the first body: pieces of 20 masters or more and smaller ones, height of
/// the highest master (m), largest speed (m/s), extent along z and across the plane that fits
/// best (m), number of slaves.
enum {
  SAIDA_PIECES,
  SAIDA_CRUMBS,
  SAIDA_TOP,
  SAIDA_SPEED,
  SAIDA_BULGE,
  SAIDA_FLAT,
  SAIDA_SLAVES,
  SAIDA_COLUMNS
};
void saida_measure(const paper_take* take, double* row);

/// Share of the implicit solve, (15), in the time of the first body's steps.
double saida_solve_share(const paper_take* take);

/// A box of masters with its lower corner at the origin, in a world without gravity.
typedef struct saida_box {
  int32_t size[3];      ///< masters
  float spacing, step;  ///< m, s
  bool without_slaves;
  float youngs_modulus;  ///< elastic, Poisson's ratio 0, eta 1; 0: the default material
} saida_box;
yw_status saida_box_world(const saida_box* box, yw_world** world, yw_body_id* body,
                          yw_error* error);
/// The cube of figure 1, whose neighbours move in opposite directions; and its kinetic energy, of
/// that at the start.
#define SAIDA_MODE_STEP 1e-3f
yw_status saida_mode_world(bool without_slaves, yw_world** world, yw_body_id* body,
                           yw_error* error);
double saida_mode_energy(const yw_world* world, yw_body_id body);

/// Zero-energy modes and numerical fracture beside a material point method (grid_laws.c).
yw_status paper_saida_laws(const paper_options* options, yw_error* error);

/// Takes of table 2, in its order.
extern const saida_take saida_table[];
extern const int32_t saida_num_table;

#endif
