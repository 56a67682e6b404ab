// SPDX-License-Identifier: MIT
// State of a plastic body, shared by the phases of its step.
//
// Masters are the particles that the world sees. A slave has only a position; all its other
// quantities are recomputed every step, so slaves are re-sorted whenever the neighbour lists are
// rebuilt.
//
// Neighbour lists: a pair is a master m and a slave s within 2h + skin. The row of m is pairs
// [row_start[m], row_start[m + 1]), with column = s and share = N (see weights_kernels.c and
// pairs.h). Contributions of masters to slaves are summed per chunk: every chunk has its own slot
// (in parts) for each slave that its masters see, and a slave adds up its slots in ascending order
// of chunks.
#ifndef YW_METHODS_PLASTIC_BODY_H
#define YW_METHODS_PLASTIC_BODY_H

#include "math/small/exponent.h"
#include "methods/plastic/model.h"
#include "methods/plastic/sleep.h"

enum {
  PLASTIC_CHUNK = 256,        ///< masters per task
  PLASTIC_SLAVE_CHUNK = 512,  ///< slaves per task while lists are built
  PLASTIC_MAX_ROW = 64,       ///< maximum number of slaves that a master sees; the nearest are kept
  PLASTIC_MAX_LOCALS = PLASTIC_CHUNK * PLASTIC_MAX_ROW
};

// Values of normal.w: the slave may slide along the surface, or moves with the obstacle or pin.
#define PLASTIC_TOUCHES 1.0f
#define PLASTIC_HELD 2.0f

/// What 16 masters carry from step to step. F_E = U diag(sigma) V^T. V is not kept: the material is
/// isotropic and rest directions do not matter, so nothing depends on it.
typedef struct plastic_state_block {
  _Alignas(64) float u[9][YW_LANES];
  float sigma[3][YW_LANES];
  float c[9][YW_LANES];    ///< affine velocity, 1/s
  float det_p[YW_LANES];   ///< det F_P
  float strain[YW_LANES];  ///< accumulated plastic strain
  float harden[YW_LANES];  ///< hardening factor of mu and lambda
  float volume[YW_LANES];  ///< m^3, V0
} plastic_state_block;

/// What a step computes for 16 masters.
typedef struct plastic_work_block {
  _Alignas(64) float center[3][YW_LANES];  ///< m, mean of N x_s, relative to the chunk's origin
  float right[9][YW_LANES];                ///< D_N^-1 U, 1/m^2
  float diagonal[6][YW_LANES];   ///< dt^2 times the tangent in principal axes: xx, yy, zz, ...
  float shear[6][YW_LANES];      ///< two per pair xy, xz, yz: (ab,ab) = (ba,ba), and (ab,ba)
  float u[9][YW_LANES];          ///< U before the flow of the step, which the tangents belong to
  float inverse[6][YW_LANES];    ///< D_N^-1, 1/m^2: xx, yy, zz, xy, xz, yz
  float stiffness[2][YW_LANES];  ///< mean tangent in shear; in stretch, minus the shear value
  float l[9][YW_LANES];          ///< velocity gradient, 1/s
} plastic_work_block;

/// What a master hands to slaves: columns of a matrix for N (x_s - c), and n for N.
typedef struct plastic_row {
  _Alignas(64) yw_vec4 x;
  yw_vec4 y, z, n;
} plastic_row;

/// What the solve needs of one slave to build its next search direction. It is read when a chunk
/// gathers its slaves, so it fits one cache line.
typedef struct plastic_course {
  _Alignas(64) yw_vec4 steep;  ///< preconditioned residual
  yw_vec4 image;               ///< preconditioned product
  yw_vec4 direction;
  yw_vec4 place;  ///< xyz: position, m; w: mass, kg
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

enum { PLASTIC_MAX_SUMS = 5 };

/// Sums over one chunk. Those over all chunks are exact sums of these (sums.c), so that they do not
/// depend on the rank that a chunk belongs to.
typedef struct plastic_sums {
  double value[PLASTIC_MAX_SUMS];
  float speed2, gradient2;  ///< maxima
  int32_t count;            ///< meaning depends on the phase
} plastic_sums;

/// How slaves are added and removed. Only measurements change what a body starts with.
typedef struct plastic_rules {
  int32_t per_split;  ///< slaves added where two masters part: 2, as in the paper, one on each
                      ///< side; 1, on the side that the slave between them did not follow; 0, none
  bool repair;        ///< add slaves around masters that see too few
  bool relocate;      ///< where a slave is needed, move one of two crowded slaves nearby there
  bool keep;          ///< keep slaves that are too close to others
} plastic_rules;

/// Friction on obstacles follows the mean of the pressure on the whole body. If it followed the
/// pressure at once, it would feed vibrations in which the body slips while it is light.
typedef struct plastic_grip {
  float force;  ///< N, mean of the normal force while it touches
  float time;  ///< s that this is the mean of, at most the model's grip_time; 0: it touches nothing
  float share;  ///< of this step: mean over present force
  float fresh;  ///< of this step: 1 when it begins to touch, 0 after grip_time
} plastic_grip;

typedef struct plastic_body {
  const plastic_model* model;
  yw_allocator mem;
  yw_plastic_params params;
  struct plastic_away* away;    ///< on a device (offload.c); NULL: on the processor
  struct plastic_ranks* ranks;  ///< how it is shared with other ranks; NULL: all of it is here
  int32_t first_master;         ///< number in the model of the first master here
  int32_t master_capacity;      ///< masters that belong here, started or not
  int32_t num_all;              ///< masters of all ranks in the parts that have started
  int32_t num_masters;          ///< of these, those here
  plastic_material_block* materials;  ///< of the masters here
  int32_t num_started;                ///< number of parts that have started
  bool is_placed;                     ///< initial velocities of the parts are set
  bool is_moved;                      ///< moved from outside; slaves have to follow
  int32_t num_measured;               ///< as printed only: masters whose volume is known
  bool is_borne;                      ///< some entry of borne is not 0
  bool is_pulled;                     ///< there are spring forces
  bool is_pushed;                     ///< others changed its motion before this substep
  bool was_pushed;                    ///< since then nothing held it (spin.c)
  int32_t num_touching;               ///< slaves here at obstacles, in the last inner step
  plastic_grip grip, next_grip;       ///< before and after the inner step
  bool lost_skin;                     ///< it was torn: others touch balls
  bool has_skin;                      ///< others touch the skin of the model (skin.c)
  bool keeps_spin;                    ///< in this substep; what it had before (spin.c):
  double spin_before[3];
  yw_quat turn;  ///< placement of the body: p -> turn p + shift
  yw_vec3 shift;
  uint64_t version;  ///< of the topology

  plastic_sleep sleep;
  struct plastic_bend* bend;  ///< of elastic sheets (bend.c); NULL: there are none
  struct plastic_tear* tear;  ///< of sheets that soften (tear.c); NULL: there are none
  struct plastic_keep* keep;  ///< of elastic masters (keep.c); NULL: there are none

  // Masters.
  plastic_state_block* state;
  plastic_work_block* work;
  yw_vec4* last_pos;   ///< at the start of the inner step; between steps, after the last one
  yw_vec4* last_vel;   ///< m/s, after the last step
  yw_vec4* borne;      ///< N s, impulses of other bodies in the last substep, which may act again
  yw_vec4* pull;       ///< N, spring forces
  float* radius;       ///< m, for contact with other bodies
  float* reach;        ///< m, distance at which an obstacle stops a master whatever its slaves do
  int32_t* twin;       ///< without slaves only: the slave that stands for the master itself
  yw_vec4* drag;       ///< as printed only: sum of w r
  uint8_t* needs;      ///< masters whose neighbourhood needs repair
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
  uint8_t* touches;      ///< in contact: the slave has a normal
  float alpha, beta;     ///< pending steps of the solve along direction and product
  yw_vec4* normal;       ///< contact normal; w: 0 (none), PLASTIC_TOUCHES or PLASTIC_HELD
  yw_vec4* surface_vel;  ///< of the touched surface; w: friction
  float (*inverse)[6];   ///< inverse diagonal blocks
  int32_t* part_start;   ///< per slave: index into part_at
  // Block b of slaves is [slave_block[b], slave_block[b + 1]): first those that belong to other
  // ranks, then for every chunk of masters those that it is the first to see.
  int32_t num_slave_blocks, first_own_block, block_capacity;
  int32_t* slave_block;

  // Pairs.
  int32_t num_pairs, pair_capacity;
  int32_t* row_start;
  int32_t* column;
  int32_t* four_start;     ///< the same rows, padded to multiples of four; in units of four pairs
  float* share;            ///< padded: N
  uint16_t* local_column;  ///< padded: index of the slave within the chunk
  float* back_share;       ///< as printed only: replaces N for forces

  // Slaves of chunks: those of chunk c are [local_start[c], local_start[c + 1]).
  int32_t num_locals, local_capacity;
  int32_t num_slots;  ///< parts: one per slave of a chunk here, then those of other ranks
  int32_t* local_start;
  yw_vec4* origin;  ///< m, reference point for positions of the chunk's masters and slaves
  int32_t* local_slave;
  yw_vec4* parts;    ///< two halves; the second is for blocks of the preconditioner
  int32_t* part_at;  ///< indices into parts, grouped by slave

  // Cells (neighbours.c).
  uint32_t bucket_mask;
  int32_t* bucket_start;
  int32_t* slave_bucket;
  float *sorted_x, *sorted_y, *sorted_z;
  uint32_t* sorted_line;  ///< the line of cells along x
  int32_t* found;         ///< PLASTIC_MAX_ROW per master
  bool lists_are_old;
  int32_t num_listed;  ///< slaves that the lists contain
  float drift;         ///< m, upper bound of any motion since the lists were built
  float pace;          ///< m, part of drift from the last inner step
  float skin;          ///< m, distance by which the lists reach beyond 2h

  // New slaves of the step (slaves.c).
  int32_t* fresh_head;
  int32_t* fresh_next;
  int32_t fresh_mask;

  int32_t sum_capacity;
  plastic_sums* sums;  ///< per chunk
  float dt;            ///< s, inner step
  yw_vec3 fall;        ///< m/s, velocity that gravity adds in dt
  plastic_rules rules;
  int32_t fixed_iterations;  ///< for measurements: exact number of iterations; 0: until converged
  int32_t iterations;        ///< in the last inner step
  int32_t inner_steps;       ///< in the last advance
  int64_t added, removed, relocated, rebuilt;
  double seconds[PLASTIC_NUM_TIMES];
} plastic_body;

/// Factor of mu and lambda.
static inline float plastic_hardening(float xi, float det_p) {
  float power = xi * (1.0f - det_p);
  return yw_expf(power < -20.0f ? -20.0f : power > 4.0f ? 4.0f : power);
}

/// Approximate memory, in bytes, of a body with this many masters and slaves in a world (body.c).
/// elastic: none of them flows, which takes more.
double yw_plastic_body_bytes(double masters, double slaves, bool elastic);

static inline int32_t yw_plastic_chunks(int32_t count, int32_t chunk) {
  return (count + chunk - 1) / chunk;
}

static inline bool yw_plastic_all_finite(const float* values, size_t count) {
  float sum = 0.0f;
  for (size_t i = 0; i < count; ++i) sum += values[i] * 0.0f;
  return sum == 0.0f;
}

static inline size_t yw_plastic_state_floats(const plastic_body* body) {
  return (size_t)yw_plastic_chunks(body->num_masters, YW_LANES) *
         (sizeof(plastic_state_block) / sizeof(float));
}

#endif
