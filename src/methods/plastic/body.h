// SPDX-License-Identifier: MIT
// State of a plastic body and what the phases of its step share.
//
// Masters are the particles of the seam. A slave has a position only; everything else about it is
// made anew in every step, so slaves are sorted whenever the lists of neighbours are.
//
// Lists: a pair is a master m and a slave s within 2h + skin. Row of m: pairs [row_start[m],
// row_start[m + 1]), with column = s and share = N (see weights_kernels.c and pairs.h). What
// masters hand to slaves is summed chunk by chunk: every chunk has its own place (parts) for each
// slave that its masters see, and a slave adds up its parts, chunks ascending.
#ifndef YW_METHODS_PLASTIC_BODY_H
#define YW_METHODS_PLASTIC_BODY_H

#include "methods/plastic/model.h"
#include "methods/plastic/sleep.h"

enum {
  PLASTIC_CHUNK = 256,        ///< masters per task
  PLASTIC_SLAVE_CHUNK = 512,  ///< slaves per task
  PLASTIC_MAX_ROW = 64,       ///< slaves that a master sees, at most; the nearest stay
  PLASTIC_MAX_LOCALS = PLASTIC_CHUNK * PLASTIC_MAX_ROW
};

// What normal.w says of a slave: it may slide, or goes where the obstacle or the pin goes.
#define PLASTIC_TOUCHES 1.0f
#define PLASTIC_HELD 2.0f

/// What 16 masters carry from step to step. F_E = U diag(sigma) V^T; nothing depends on V, since
/// the material is isotropic and rest directions are not looked at.
typedef struct plastic_state_block {
  _Alignas(64) float u[9][YW_LANES];
  float sigma[3][YW_LANES];
  float c[9][YW_LANES];    ///< affine velocity, 1/s
  float det_p[YW_LANES];   ///< det F_P
  float strain[YW_LANES];  ///< plastic strain so far
  float harden[YW_LANES];  ///< factor of mu and lambda
  float volume[YW_LANES];  ///< m^3, V0
} plastic_state_block;

/// What a step finds for 16 masters.
typedef struct plastic_work_block {
  _Alignas(64) float center[3][YW_LANES];  ///< m, mean of N x_s, from the origin of the chunk
  float right[9][YW_LANES];                ///< D_N^-1 U diag(sigma), 1/m^2
  float diagonal[6][YW_LANES];   ///< dt^2 times the tangent in the principal frame: xx, yy, zz, ...
  float shear[6][YW_LANES];      ///< two per pair xy, xz, yz: (ab,ab) = (ba,ba), and (ab,ba)
  float inverse[6][YW_LANES];    ///< D_N^-1, 1/m^2: xx, yy, zz, xy, xz, yz
  float stiffness[2][YW_LANES];  ///< mean tangent against shear; against stretch, less that
  float l[9][YW_LANES];          ///< velocity gradient, 1/s
} plastic_work_block;

/// What a master hands to slaves: columns of a matrix, for N (x_s - c), and what goes with N.
typedef struct plastic_row {
  _Alignas(64) yw_vec4 x;
  yw_vec4 y, z, n;
} plastic_row;

/// What the next direction of the solve is made of, for one slave: read where a chunk gathers its
/// slaves, so it is one line of the cache.
typedef struct plastic_course {
  _Alignas(64) yw_vec4 steep;  ///< residual times the preconditioner
  yw_vec4 image;               ///< product times the preconditioner
  yw_vec4 direction;
  yw_vec4 place;  ///< m, and mass
} plastic_course;

typedef enum plastic_phase_time {
  PLASTIC_NEIGHBOURS,
  PLASTIC_WEIGHTS,
  PLASTIC_MATERIAL,
  PLASTIC_SOLVE,
  PLASTIC_CONTACT,
  PLASTIC_MOTION,
  PLASTIC_SLAVES,
  PLASTIC_NUM_TIMES
} plastic_phase_time;

/// Sums of one chunk.
typedef struct plastic_sums {
  double a;
  double momentum[3], mass;
  float speed2, gradient2;  ///< largest
  int32_t count;            ///< of what the phase counts
} plastic_sums;

/// How slaves come and go. Others than those a body begins with are for measurements.
typedef struct plastic_rules {
  int32_t per_split;  ///< slaves that come where two masters part: 2, one on each side; 1, as in
                      ///< the paper, on the side that the slave between them did not follow; 0
  bool repair;        ///< slaves come around masters that see too few
  bool relocate;      ///< where that is due, one of two that crowd nearby moves there
  bool keep;          ///< those that crowd stay
} plastic_rules;

typedef struct plastic_body {
  const plastic_model* model;
  yw_allocator mem;
  yw_plastic_params params;
  int32_t num_masters;   ///< of the parts that have started
  int32_t num_started;   ///< parts
  bool is_placed;        ///< velocities of the parts are in
  bool is_moved;         ///< from outside: slaves have to follow
  int32_t num_measured;  ///< as printed only: masters whose volume is known
  bool is_borne;         ///< some of borne is not 0
  bool is_pulled;        ///< there are forces of springs
  yw_quat turn;          ///< where the body was put: p -> turn p + shift
  yw_vec3 shift;
  uint64_t version;  ///< of the topology

  plastic_sleep sleep;

  // Masters.
  plastic_state_block* state;
  plastic_work_block* work;
  yw_vec4* last_pos;   ///< at the start of the inner step; between steps, where masters were left
  yw_vec4* last_vel;   ///< m/s, as masters were left
  yw_vec4* borne;      ///< N s, what other bodies gave in the last substep and may give again
  yw_vec4* pull;       ///< N, forces of springs
  float* radius;       ///< m, of contact with other bodies
  float* reach;        ///< m, within which an obstacle stops a master whatever its slaves do
  int32_t* twin;       ///< without slaves only: the slave that a master is itself
  yw_vec4* drag;       ///< as printed only: sum of w r
  uint8_t* needs;      ///< masters whose surroundings want repair
  uint8_t* is_linked;  ///< per link: not yet parted

  // Slaves.
  int32_t num_slaves, slave_capacity;
  yw_vec4* slave_pos;
  yw_vec4* slave_vel;  ///< w: mass
  yw_vec4* force;      ///< N
  yw_vec4* solved;     ///< velocity at the end of the step
  yw_vec4* residual;
  yw_vec4* product;
  plastic_course* course;
  uint8_t* touches;      ///< has a normal
  float alpha, beta;     ///< of the solve: steps along direction and product that are still due
  yw_vec4* normal;       ///< of contact; w: 0 none, PLASTIC_TOUCHES or PLASTIC_HELD
  yw_vec4* surface_vel;  ///< of what is touched; w: friction
  float (*inverse)[6];   ///< of the diagonal blocks
  int32_t* part_start;   ///< per slave, in part_at

  // Pairs.
  int32_t num_pairs, pair_capacity;
  int32_t* row_start;
  int32_t* column;
  int32_t* four_start;     ///< of the same rows filled up to fours, in units of four pairs
  float* share;            ///< by fours: N
  uint16_t* local_column;  ///< by fours: the same slave among those of the chunk
  float* back_share;       ///< as printed only: in place of N, for forces

  // Slaves of chunks: those of chunk c are [local_start[c], local_start[c + 1]).
  int32_t num_locals, local_capacity;
  int32_t* local_start;
  yw_vec4* origin;  ///< m, of the places of masters and slaves of a chunk
  int32_t* local_slave;
  yw_vec4* parts;    ///< two halves: the second for blocks of the preconditioner
  int32_t* part_at;  ///< places in parts, by slave

  // Cells (neighbours.c).
  uint32_t bucket_mask;
  int32_t* bucket_start;
  int32_t* slave_bucket;
  float *sorted_x, *sorted_y, *sorted_z;
  uint32_t* sorted_line;  ///< which line of cells along x
  int32_t* found;         ///< PLASTIC_MAX_ROW per master
  bool lists_are_old;
  int32_t num_listed;  ///< slaves that the lists know
  float drift;         ///< m, that anything may have moved since the lists were made
  float pace;          ///< m, of that in the last inner step
  float skin;          ///< m, that lists reach beyond 2h

  // New slaves of the step (slaves.c).
  int32_t* fresh_head;
  int32_t* fresh_next;
  int32_t fresh_mask;

  plastic_sums* sums;  ///< per chunk
  float dt;            ///< s, of the inner step
  yw_vec3 fall;        ///< m/s, what gravity adds in it
  plastic_rules rules;
  int32_t fixed_iterations;  ///< for measurements: exactly so many; 0: until converged
  int32_t iterations;        ///< in the last inner step
  int32_t inner_steps;       ///< in the last advance
  int64_t added, removed, relocated, rebuilt;
  double seconds[PLASTIC_NUM_TIMES];
} plastic_body;

/// About how many bytes a body with so many masters and slaves needs in a world (body.c).
double yw_plastic_body_bytes(double masters, double slaves);

static inline int32_t yw_plastic_chunks(int32_t count, int32_t chunk) {
  return (count + chunk - 1) / chunk;
}

#endif
