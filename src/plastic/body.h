// SPDX-License-Identifier: MIT
// State of a plastic body and what the phases of its step share.
//
// Masters are the particles of the seam. A slave has a position only; everything else about it is
// made anew in every step, so slaves are sorted whenever the lists of neighbours are.
//
// Lists: a pair is a master m and a slave s within 2h + skin. Row of m: pairs [row_start[m],
// row_start[m + 1]), with column = s and row = {G, N} (see weights_kernels.c). Seen from s: pairs
// [holder_start[s], holder_start[s + 1]), with holder = m and the same {G, N} once more.
#ifndef YW_PLASTIC_BODY_H
#define YW_PLASTIC_BODY_H

#include "plastic/model.h"

enum {
  PLASTIC_CHUNK = 256,        ///< masters per task
  PLASTIC_SLAVE_CHUNK = 512,  ///< slaves per task
  PLASTIC_MAX_ROW = 64        ///< slaves that a master sees, at most; the nearest stay
};

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
  _Alignas(64) float moment[6][YW_LANES];  ///< D_N / h^2: xx, yy, zz, xy, xz, yz
  float diagonal[6][YW_LANES];  ///< tangent in the principal frame: xx, yy, zz, xy, xz, yz
  float shear[9][YW_LANES];     ///< three per pair xy, xz, yz: (ab,ab), (ab,ba), (ba,ba)
  float l[9][YW_LANES];         ///< velocity gradient, 1/s
} plastic_work_block;

/// Twelve numbers and one vector of a master, as slaves gather them: columns of a matrix and what
/// goes with N.
typedef struct plastic_row {
  _Alignas(64) yw_vec4 x;
  yw_vec4 y, z, n;
} plastic_row;

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

typedef struct plastic_body {
  const plastic_model* model;
  yw_allocator mem;
  int32_t num_masters;   ///< of the parts that have started
  int32_t num_started;   ///< parts
  bool is_placed;        ///< velocities of the parts are in
  bool is_moved;         ///< from outside: slaves have to follow
  int32_t num_measured;  ///< as printed only: masters whose volume is known
  bool is_pulled;        ///< there are forces of springs
  yw_quat turn;          ///< where the body was put: p -> turn p + shift
  yw_vec3 shift;
  uint64_t version;  ///< of the topology

  // Masters.
  plastic_state_block* state;
  plastic_work_block* work;
  plastic_row* rows;
  yw_vec4* last_pos;   ///< at the start of the inner step; between steps, where masters were left
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
  yw_vec4* direction;
  yw_vec4* product;
  yw_vec4* normal;       ///< of contact; w: 0 none, 1 slides, 2 sticks
  yw_vec4* surface_vel;  ///< of what is touched; w: friction
  float (*inverse)[6];   ///< of the diagonal blocks
  int32_t* holder_start;

  // Pairs.
  int32_t num_pairs, pair_capacity;
  int32_t* row_start;
  int32_t* column;
  yw_vec4* row;
  int32_t* holder;
  int32_t* source;  ///< pair in the row of the master
  yw_vec4* holder_row;

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

  // New slaves of the step (slaves.c).
  int32_t* fresh_head;
  int32_t* fresh_next;
  int32_t fresh_mask;

  plastic_sums* sums;        ///< per chunk
  float dt;                  ///< s, of the inner step
  yw_vec3 fall;              ///< m/s, what gravity adds in it
  int32_t fixed_iterations;  ///< for measurements: exactly so many; 0: until converged
  int32_t iterations;        ///< in the last inner step
  int32_t inner_steps;       ///< in the last advance
  int64_t added, removed, rebuilt;
  double seconds[PLASTIC_NUM_TIMES];
} plastic_body;

static inline int32_t yw_plastic_chunks(int32_t count, int32_t chunk) {
  return (count + chunk - 1) / chunk;
}

/// Runs one function per chunk.
typedef void (*plastic_chunk_fn)(plastic_body* body, yw_particles* particles, int32_t chunk);
void yw_plastic_run(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                    int32_t chunks, plastic_chunk_fn run);

/// Compiled once per instruction set (weights_kernels.c).
typedef struct plastic_weight_kernels {
  plastic_chunk_fn search;   ///< slaves near the masters of a chunk, to found; counts to row_start
  plastic_chunk_fn weights;  ///< rows {G, N} and moments
} plastic_weight_kernels;
extern const plastic_weight_kernels yw_plastic_weight_kernels_plain, yw_plastic_weight_kernels_avx2,
    yw_plastic_weight_kernels_avx512;

/// material_kernels.c
typedef struct plastic_kernels {
  plastic_chunk_fn spread;         ///< rows of mass and affine momentum, from v and C
  plastic_chunk_fn spread_motion;  ///< the same from v and L, for the motion of slaves
  plastic_chunk_fn stress;         ///< rows of forces; tangents
  plastic_chunk_fn stiffen;        ///< rows of the tangent times `direction`
  plastic_chunk_fn flow;           ///< L, v, C, F_E, F_P of the new slave velocities (solved)
  plastic_chunk_fn to_slaves;      ///< slave_vel = momentum / mass, w: mass
  plastic_chunk_fn forces;         ///< force = sum of rows
  plastic_chunk_fn multiply;       ///< product = M direction + rows; sums: direction . product
  plastic_chunk_fn condition;      ///< inverse diagonal blocks
} plastic_kernels;
extern const plastic_kernels yw_plastic_kernels_plain, yw_plastic_kernels_avx2,
    yw_plastic_kernels_avx512;

/// neighbours.c: sorts slaves and lists pairs where that is due. False: memory is out.
bool yw_plastic_find_neighbours(plastic_body* body, yw_particles* particles,
                                const yw_step_ctx* ctx);
/// Weights of all pairs, on both sides.
void yw_plastic_weigh(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Pairs by slave, from the rows of the masters.
void yw_plastic_list_holders(plastic_body* body);
/// Room for more slaves or pairs.
bool yw_plastic_reserve_slaves(plastic_body* body, int32_t count);
bool yw_plastic_reserve_pairs(plastic_body* body, int64_t count);

/// solve.c: velocities of slaves after dt, into body->solved. False: did not converge.
bool yw_plastic_solve(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// contact.c: which slaves touch what, after `begin` seconds of the substep; pinned masters too.
void yw_plastic_find_contacts(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                              float begin);
/// Takes away what velocity goes into obstacles, and friction.
void yw_plastic_meet(const plastic_body* body, int32_t slave, yw_vec4* velocity);

/// slaves.c: moves slaves along, adds and removes.
void yw_plastic_move_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Slaves around every master, as on the lattice, in place of those there were.
bool yw_plastic_seed_slaves(plastic_body* body, const yw_particles* particles);
bool yw_plastic_add_slaves(plastic_body* body, const yw_particles* particles);
/// Marks one of two slaves that are too close, and slaves without masters, by a bucket of -1.
int32_t yw_plastic_drop_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// paper.c: weights as printed.
void yw_plastic_weigh_as_printed(plastic_body* body, const yw_particles* particles);

/// body.c
yw_status yw_plastic_body_create(const void* model, const yw_allocator* mem, void** state,
                                 yw_particles* particles, yw_error* error);
void yw_plastic_body_destroy(void* state, yw_particles* particles);
void yw_plastic_invalidate(void* state, const yw_particles* particles);
void yw_plastic_save(const void* state, yw_writer* writer);
void yw_plastic_load(void* state, yw_reader* reader);
/// Lets a part begin: masters and slaves are appended.
bool yw_plastic_start_part(plastic_body* body, yw_particles* particles, const plastic_part* part);
/// Slaves and orientations follow masters that were moved from outside.
bool yw_plastic_follow(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// fields.c: what can be looked at.
int32_t yw_plastic_num_fields(const void* state);
yw_field_info yw_plastic_field_info(const void* state, int32_t field);
void yw_plastic_field_values(const void* state, const yw_particles* particles, int32_t field,
                             float* out);
/// Numbers of connected pieces, largest first; returns how many there are, -1: memory is out.
int32_t yw_plastic_pieces(const plastic_body* body, const yw_particles* particles, int32_t* piece);

#endif
