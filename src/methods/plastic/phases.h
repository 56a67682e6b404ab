// SPDX-License-Identifier: MIT
// The phases of a plastic body's step, file by file.
#ifndef YW_METHODS_PLASTIC_PHASES_H
#define YW_METHODS_PLASTIC_PHASES_H

#include "methods/plastic/body.h"

/// Runs one function per chunk.
typedef void (*plastic_chunk_fn)(plastic_body* body, yw_particles* particles, int32_t chunk);
void yw_plastic_run(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                    int32_t chunks, plastic_chunk_fn run);
/// The same for all chunks with at least one awake master.
void yw_plastic_run_masters(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                            plastic_chunk_fn run);

/// The same for all blocks of slaves.
void yw_plastic_run_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                           plastic_chunk_fn run);
/// Runs a kernel that writes parts, and fetches the parts that other ranks have. halves: 2 if it
/// writes both.
void yw_plastic_scatter(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                        plastic_chunk_fn run, int32_t halves);

/// sums.c: sums of the first `count` values over all blocks of slaves of all ranks.
void yw_plastic_sum_slaves(const plastic_body* body, int32_t count, double* out);
/// The same over all chunks of masters.
void yw_plastic_sum_masters(const plastic_body* body, int32_t count, double* out);
/// The largest over all ranks. Infinite if one is not a number.
float yw_plastic_most(const plastic_body* body, float value);
/// Around the boxes of all ranks.
yw_aabb yw_plastic_join_boxes(const plastic_body* body, yw_aabb box);

/// Compiled once per instruction set (weights_kernels.c).
typedef struct plastic_weight_kernels {
  plastic_chunk_fn search;   ///< slaves near the masters of a chunk, to found; counts to row_start
  plastic_chunk_fn weights;  ///< shares N and the inverse moments that turn them into G
} plastic_weight_kernels;
extern const plastic_weight_kernels yw_plastic_weight_kernels_plain, yw_plastic_weight_kernels_avx2,
    yw_plastic_weight_kernels_avx512;

/// transfer_kernels.c, stress_kernels.c, solve_kernels.c, flow_kernels.c; what they share: pairs.h
typedef struct plastic_kernels {
  plastic_chunk_fn spread;         ///< mass and affine momentum, from v and C, to parts
  plastic_chunk_fn spread_motion;  ///< the same from v and L, to move slaves
  plastic_chunk_fn spread_push;    ///< mass, and mass times the displacement since last_pos
  plastic_chunk_fn spread_pull;    ///< N pull
  plastic_chunk_fn gather_means;   ///< pull = sum of N solved
  plastic_chunk_fn stress;         ///< forces to parts; tangents
  plastic_chunk_fn stiffen;        ///< the tangent times the next direction, to parts
  plastic_chunk_fn block_parts;    ///< diagonal blocks to parts, for `condition`
  plastic_chunk_fn flow;           ///< L, v, C, F_E, F_P from the new slave velocities (solved)
  plastic_chunk_fn to_slaves;      ///< slave_vel = momentum / mass, w: mass
  plastic_chunk_fn forces;         ///< force = sum of parts
  plastic_chunk_fn multiply;       ///< the rest of an iteration, see solve.c
  plastic_chunk_fn condition;      ///< inverse diagonal blocks
} plastic_kernels;
extern const plastic_kernels yw_plastic_kernels_plain, yw_plastic_kernels_avx2,
    yw_plastic_kernels_avx512;

/// neighbours.c: sorts slaves and rebuilds the pair lists if they are due. False: out of memory.
bool yw_plastic_find_neighbours(plastic_body* body, yw_particles* particles,
                                const yw_step_ctx* ctx);
/// Distance (m) by which the next lists reach beyond 2h.
float yw_plastic_choose_skin(const plastic_body* body);
/// Weights of all pairs.
void yw_plastic_weigh(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Reserves memory for more slaves or pairs.
bool yw_plastic_reserve_slaves(plastic_body* body, int32_t count);
bool yw_plastic_reserve_pairs(plastic_body* body, int64_t count);
bool yw_plastic_reserve_sums(plastic_body* body, int32_t count);

/// locals.c: where a chunk lists its slaves until all have done so: its rows in `found` are already
/// packed.
static inline int32_t* yw_plastic_list_of(const plastic_body* body, int32_t chunk) {
  return body->found + (size_t)chunk * PLASTIC_MAX_LOCALS;
}
/// Builds the slaves of chunks and the parts of slaves from the rows of the masters, and
/// renumbers slaves. False: out of memory.
bool yw_plastic_list_parts(plastic_body* body, const yw_step_ctx* ctx);

/// solve.c: velocities of slaves after dt, into body->solved. False: did not converge.
bool yw_plastic_solve(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// The answer of slaves to impulses (N s, in body->force) with the matrix of the last solve, into
/// body->solved, w = 1. Slaves on obstacles are free, those that are held stay. False: did not
/// converge.
bool yw_plastic_solve_answer(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                             float tolerance);

/// respond.c: answer of the masters to impulses, with the matrix of the last inner step.
yw_status yw_plastic_respond(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx, const yw_vec4* impulses, float tolerance,
                             yw_vec4* change);

/// contact.c: with scheme.collide_after, contacts of slaves that are inside obstacles.
void yw_plastic_find_late_contacts(plastic_body* body, const yw_step_ctx* ctx, float begin);
/// contact.c: finds contacts of slaves `begin` seconds into the substep; includes pinned masters.
void yw_plastic_find_contacts(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                              float begin);
/// A slave moves as a hold of the step does.
void yw_plastic_hold_slave(plastic_body* body, const yw_step_ctx* ctx, int32_t slave, int32_t hold);

/// keep.c: rest neighbours of elastic masters; nothing if there are none. False: out of memory.
bool yw_plastic_keep_create(plastic_body* body);
void yw_plastic_keep_destroy(plastic_body* body);
/// Mends what positions and F_E of elastic masters differ by. True: masters were moved.
bool yw_plastic_keep_shape(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// In between, velocities of masters are their displacements in this step, which slaves follow.
void yw_plastic_show_motion(plastic_body* body, yw_particles* particles);
void yw_plastic_hide_motion(plastic_body* body, yw_particles* particles);

/// Masters a and b are opposite neighbours of `middle` at rest.
typedef struct plastic_triple {
  int32_t middle, a, b;
  int32_t links[2];  ///< to a and to b
} plastic_triple;
typedef bool (*plastic_which_fn)(const plastic_model* model, int32_t master);
/// triples.c: lists those whose middle is wanted and in a sheet or thread of single masters; the
/// caller frees them. None with the formulas as printed or without slaves. False: out of memory.
bool yw_plastic_list_triples(const plastic_model* model, const yw_allocator* mem,
                             plastic_which_fn is_wanted, plastic_triple** out, int32_t* count);

/// tear.c: sheets of single masters that soften; nothing if there are none. False: out of memory.
bool yw_plastic_tear_create(plastic_body* body);
void yw_plastic_tear_destroy(plastic_body* body);
/// Strength of their masters after positions have changed.
void yw_plastic_soften_openings(plastic_body* body, const yw_particles* particles);

/// bend.c: elastic sheets of single masters; nothing if there are none. False: out of memory.
bool yw_plastic_bend_create(plastic_body* body);
void yw_plastic_bend_destroy(plastic_body* body);
/// J
double yw_plastic_bending_energy(const plastic_body* body, const yw_particles* particles);
/// Adds the forces that resist bending to pull.
void yw_plastic_add_bending(plastic_body* body, const yw_particles* particles);

/// slaves.c: moves, adds and removes slaves.
void yw_plastic_move_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Replaces all slaves by lattice slaves around every master.
bool yw_plastic_seed_slaves(plastic_body* body, const yw_particles* particles);
bool yw_plastic_add_slaves(plastic_body* body, const yw_particles* particles);
/// Marks one of two slaves that are too close, and slaves without masters, with bucket -1.
int32_t yw_plastic_drop_slaves(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// sleep.c: resting parts are skipped; see sleep.h. False: out of memory.
bool yw_plastic_sleep_create(plastic_body* body);
void yw_plastic_sleep_destroy(plastic_body* body);
/// Reserves memory for this many islands and slaves of islands.
bool yw_plastic_sleep_reserve(plastic_body* body, int32_t islands, int32_t slaves);
/// Wakes islands that were touched, or whose obstacles, pins or gravity changed.
bool yw_plastic_wake_touched(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx);
/// Wakes islands that are about to share slaves with something awake.
bool yw_plastic_wake_near(plastic_body* body, const yw_particles* particles);
bool yw_plastic_wake_all(plastic_body* body);
/// After a step: islands that were still long enough fall asleep.
bool yw_plastic_rest(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Speed (m/s) below which a master is at rest.
float yw_plastic_still_speed(const plastic_body* body, const yw_step_ctx* ctx);
/// Time passes; true if islands fall asleep now. any: a master was still long enough.
bool yw_plastic_looks_for_rest(plastic_body* body, const yw_step_ctx* ctx, bool any);
bool yw_plastic_fall_asleep(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Lists the awake chunks and the sleepers in them.
bool yw_plastic_list_sleepers(plastic_body* body);
/// Restores the state of sleepers in chunks that were stepped.
void yw_plastic_restore_sleepers(plastic_body* body, yw_particles* particles);
/// Number of contacts of sleeping slaves.
int32_t yw_plastic_sleeping_contacts(const plastic_body* body);
void yw_plastic_sleep_save(const plastic_body* body, yw_writer* writer);
bool yw_plastic_sleep_load(plastic_body* body, yw_reader* reader);
/// Wakes everything; slaves set aside are lost.
void yw_plastic_forget_sleep(plastic_body* body);

/// spin.c: notes the angular momentum of a body that others pushed and nothing else holds ...
void yw_plastic_note_spin(plastic_body* body, const yw_particles* particles,
                          const yw_step_ctx* ctx);
/// ... and gives back what the substep lost of it.
void yw_plastic_restore_spin(plastic_body* body, yw_particles* particles);
/// kg m^2/s, of the rotation that masters have of their own.
void yw_plastic_own_spin(const void* state, const yw_particles* particles, double out[3]);
/// skin.c: others touch the skin until it is torn, or links part.
void yw_plastic_look_at_skin(plastic_body* body, const yw_particles* particles);
/// Takes in what was started, loaded or parted.
void yw_plastic_show_skin(plastic_body* body);
bool yw_plastic_contact_skin(const void* state, yw_contact_geometry* out);
/// support.c: lets other bodies, which the solve does not see, support this one as they did before.
void yw_plastic_take_support(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx);
void yw_plastic_give_back(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// paper.c: weights as printed.
void yw_plastic_weigh_as_printed(plastic_body* body, const yw_particles* particles);

/// body.c
yw_status yw_plastic_body_create(const void* model, const yw_allocator* mem, void** state,
                                 yw_particles* particles, yw_error* error);
yw_status yw_plastic_body_create_shared(const void* model, const yw_allocator* mem,
                                        const struct yw_ranks* ranks, void** state,
                                        yw_particles* particles, yw_error* error);
void yw_plastic_body_destroy(void* state, yw_particles* particles);
void yw_plastic_invalidate(void* state, const yw_particles* particles);
void yw_plastic_save(const void* state, yw_writer* writer);
/// The beginning of what is saved: parameters and counts.
void yw_plastic_save_numbers(const plastic_body* body, yw_writer* writer, int64_t num_slaves,
                             int64_t num_pairs);
void yw_plastic_load(void* state, yw_reader* reader);
/// The masters here are others now: all that is theirs is made again, but last_pos and last_vel;
/// states are those at rest. False: out of memory.
bool yw_plastic_renew_masters(plastic_body* body);
/// Materials of the masters here. False: out of memory.
bool yw_plastic_take_materials(plastic_body* body);
/// All masters as they are at rest.
void yw_plastic_reset_state(plastic_body* body);
void yw_plastic_take_params(plastic_body* body, const yw_plastic_params* params);
/// Starts a part: appends its masters and slaves.
bool yw_plastic_start_part(plastic_body* body, yw_particles* particles, const plastic_part* part);
/// Slaves and orientations follow masters that were moved from outside.
bool yw_plastic_follow(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx);

/// fields.c: quantities for display.
int32_t yw_plastic_num_fields(const void* state);
void yw_plastic_statistics_list(const void* state, const yw_particles* particles,
                                yw_statistics* out);
yw_method_energy yw_plastic_energy(const void* state, const yw_particles* particles);
yw_field_info yw_plastic_field_info(const void* state, int32_t field);
const char* yw_plastic_field_meaning(const void* state, int32_t field);
void yw_plastic_field_values(const void* state, const yw_particles* particles, int32_t field,
                             float* out);
/// Numbers the connected pieces, largest first. Returns their count; -1: out of memory.
int32_t yw_plastic_pieces(const plastic_body* body, const yw_particles* particles, int32_t* piece);

#endif
