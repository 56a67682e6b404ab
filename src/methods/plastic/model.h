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

/// Two masters that are adjacent at rest.
typedef struct plastic_link {
  int32_t a, b;
} plastic_link;

typedef struct plastic_part {
  int32_t number;                   ///< in the definition
  int32_t first, count;             ///< masters
  int32_t first_slave, num_slaves;  ///< slaves at rest
  double start;                     ///< s
  yw_vec3 velocity, spin;           ///< m/s, rad/s about the center
  yw_vec3 center;                   ///< m
  int32_t skin_end;                 ///< triangles of the skin of all parts up to this one
} plastic_part;

typedef struct plastic_model {
  yw_allocator mem;
  uint64_t hash;
  float spacing;             ///< m, d
  yw_plastic_params params;  ///< initial parameters of bodies
  bool paper;                ///< use the formulas as printed
  bool without_slaves;       ///< forces are evaluated at the masters themselves
  yw_plastic_scheme scheme;  ///< velocity_blend is resolved
  float slave_reach;         ///< at rest slaves are nearer to masters than this, in units of d
  float wave_speed;          ///< m/s, the fastest over all masters
  float shear_speed;         ///< m/s, of shear waves, the slowest
  float grip_time;           ///< s, of three shear waves across the body; see plastic_grip

  int32_t num_parts;
  plastic_part* parts;  ///< sorted by start time
  int32_t num_masters;  ///< in all parts
  yw_vec3* masters;
  float* mass;
  int32_t num_materials;
  plastic_material_block* materials;  ///< of blocks of 16 masters, each kind once
  int32_t* material_of_block;
  int32_t num_slaves;
  yw_vec3* slaves;
  // Links have numbers in the order of their second masters b. Those of b are from b + link_way[k],
  // k from first_way[kind] to first_way[kind + 1] - 1, with kind = link_kind[b].
  int32_t num_links;
  plastic_link* links;  ///< while the model is made; then NULL
  int32_t* link_kind;
  int32_t *first_way, *link_way;
  int32_t* first_link;  ///< number of the first link of every PLASTIC_LINK_BLOCK masters

  /// What others touch while nothing has parted (skin.c): 3 masters per triangle. NULL: balls.
  int32_t* skin;

  // Shown surface (cladding.c); without one all are empty.
  yw_tri_mesh surface;
  // Vertex v follows masters seed[v] + held[k], k from first_held[kind] to first_held[kind + 1] -
  // 1, with kind = held_kind[v]; the first of them is the seed.
  int32_t *seed, *held_kind;
  int32_t *first_held, *held;
  // Masters around master m: m + near[k], k from first_near[kind] to first_near[kind + 1] - 1, with
  // kind = near_kind[m]. On a lattice many have the same.
  int32_t* near_kind;
  int32_t* first_near;
  int32_t* near;
} plastic_model;

/// placement.c: appends the slaves and links of the masters [first, first + count) of a model. The
/// lattice of the masters is rotated by `rotation`.
bool yw_plastic_place_slaves(plastic_model* model, plastic_part* part, yw_quat rotation);
bool yw_plastic_link_masters(plastic_model* model, plastic_part* part);

/// skin.c: once the links are folded. `rotations` of the lattices of the parts, in the order of the
/// definition. False: out of memory.
bool yw_plastic_make_skin(plastic_model* model, const yw_quat* rotations);

enum { PLASTIC_LINK_BLOCK = 256 };
/// placement.c: links as they are kept. False: out of memory.
bool yw_plastic_fold_links(plastic_model* model);
/// Links of which b is the second master: the first ones are b + (*way)[k]. Returns their number.
static inline int32_t yw_plastic_links_of(const plastic_model* model, int32_t b,
                                          const int32_t** way) {
  const int32_t* first = model->first_way + model->link_kind[b];
  *way = model->link_way + first[0];
  return first[1] - first[0];
}
/// Number of the first link of b.
static inline int32_t yw_plastic_first_link(const plastic_model* model, int32_t b) {
  int32_t block = b / PLASTIC_LINK_BLOCK, number = model->first_link[block];
  const int32_t* way;
  for (int32_t m = block * PLASTIC_LINK_BLOCK; m < b; ++m) {
    number += yw_plastic_links_of(model, m, &way);
  }
  return number;
}

/// Constants of a master.
static inline const plastic_material_block* yw_plastic_material_of(const plastic_model* model,
                                                                   int32_t master) {
  return &model->materials[model->material_of_block[master / YW_LANES]];
}
/// True if a master never flows.
static inline bool yw_plastic_is_elastic(const plastic_model* model, int32_t master) {
  const plastic_material_block* material = yw_plastic_material_of(model, master);
  int32_t lane = master % YW_LANES;
  return !(material->yield[lane] < INFINITY || material->low[lane] > -INFINITY ||
           material->high[lane] < INFINITY);
}

/// True if the part has started at `time`, up to rounding.
static inline bool yw_plastic_has_started(const plastic_part* part, double time) {
  return time >= part->start - 1e-6;
}

#endif
