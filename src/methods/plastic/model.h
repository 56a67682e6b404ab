// SPDX-License-Identifier: MIT
// Rest data of a plastic body: positions of masters and slaves, and the material of each master.
// Saida, Fujisawa, Mikawa 2017. d is the spacing of the masters, h = d half the kernel radius.
#ifndef YW_METHODS_PLASTIC_MODEL_H
#define YW_METHODS_PLASTIC_MODEL_H

#include <math.h>

#include "base/simd.h"
#include "yawara/extend/method.h"
#include "yawara/plastic.h"

/// Material of 16 masters.
typedef struct plastic_material_block {
  _Alignas(64) float mu[YW_LANES];  ///< Pa, Lame constants before hardening
  float lambda[YW_LANES];           ///< Pa
  float volume[YW_LANES];           ///< m^3, V0
  float low[YW_LANES];              ///< 1 - theta_c; -inf: none
  float high[YW_LANES];             ///< 1 + theta_s; inf: none
  float yield[YW_LANES];            ///< Pa, von Mises; inf: none
  float xi[YW_LANES];               ///< hardening coefficient
  float eta[YW_LANES];              ///< fraction of the non-rotational affine velocity that is kept
} plastic_material_block;

/// A master that a vertex of the shown surface follows.
typedef struct plastic_hold {
  int32_t master;
  float weight;  ///< those of a vertex sum to 1
} plastic_hold;

/// Two masters that are adjacent at rest.
typedef struct plastic_link {
  int32_t a, b;
} plastic_link;

typedef struct plastic_part {
  int32_t number;                   ///< in the definition
  int32_t first, count;             ///< masters
  int32_t first_slave, num_slaves;  ///< slaves at rest
  int32_t first_link, num_links;
  double start;            ///< s
  yw_vec3 velocity, spin;  ///< m/s, rad/s about the center
  yw_vec3 center;          ///< m
} plastic_part;

typedef struct plastic_model {
  yw_allocator mem;
  uint64_t hash;
  float spacing;             ///< m, d
  yw_plastic_params params;  ///< initial parameters of bodies
  bool paper;                ///< use the formulas as printed
  bool without_slaves;       ///< forces are evaluated at the masters themselves
  yw_plastic_scheme scheme;  ///< velocity_blend is resolved
  float wave_speed;          ///< m/s, the fastest over all masters

  int32_t num_parts;
  plastic_part* parts;  ///< sorted by start time
  int32_t num_masters;  ///< in all parts
  yw_vec3* masters;
  float* mass;
  plastic_material_block* materials;
  int32_t num_slaves;
  yw_vec3* slaves;
  int32_t num_links;
  plastic_link* links;

  // Shown surface (cladding.c); without one all are empty.
  yw_tri_mesh surface;
  int32_t* first_hold;  ///< vertex v follows holds first_hold[v] to first_hold[v + 1] - 1
  plastic_hold* holds;
  int32_t* first_near;  ///< the same of the masters around a master
  int32_t* near;
} plastic_model;

/// placement.c: appends the slaves and links of the masters [first, first + count) of a model. The
/// lattice of the masters is rotated by `rotation`.
bool yw_plastic_place_slaves(plastic_model* model, plastic_part* part, yw_quat rotation);
bool yw_plastic_link_masters(plastic_model* model, plastic_part* part);

/// True if a master never flows.
static inline bool yw_plastic_is_elastic(const plastic_model* model, int32_t master) {
  const plastic_material_block* material = &model->materials[master / YW_LANES];
  int32_t lane = master % YW_LANES;
  return !(material->yield[lane] < INFINITY || material->low[lane] > -INFINITY ||
           material->high[lane] < INFINITY);
}

/// True if the part has started at `time`, up to rounding.
static inline bool yw_plastic_has_started(const plastic_part* part, double time) {
  return time >= part->start - 1e-6;
}

#endif
