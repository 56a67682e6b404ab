// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Ranks: programs (or threads) that simulate one scene together. Each builds the same world. Rank 0
// leads: it steps, saves and looks at its world as usual, and the others follow (yw_world_follow).
// Bodies that can be shared (yw_method.body_create_shared) are spread over the ranks. Results are
// those of one rank, bit for bit.
//
// How ranks reach each other is not the library's business: it calls the functions below. The
// program has them for MPI; yw_ranks_create_local makes them for threads of one program.
#ifndef YAWARA_EXTEND_RANKS_H
#define YAWARA_EXTEND_RANKS_H

#include "../base.h"

typedef struct yw_scene yw_scene;
typedef struct yw_world yw_world;

/// Changes with the struct below: a room of functions must be of the same build.
#define YW_RANKS_INTERFACE 2

/// What a rank sent so far.
typedef struct yw_ranks_traffic {
  uint64_t bytes;     ///< in messages to single ranks
  uint64_t messages;  ///< to single ranks
  uint64_t gathered;  ///< bytes given to all ranks
  uint64_t sums;      ///< sums and maxima over all ranks
  double waited;      ///< s, in calls
  uint64_t moved;     ///< chunks of masters that all ranks handed on since their work was unequal
} yw_ranks_traffic;

/// All functions are called by all ranks, in the same order, from one thread per rank, and return
/// when the caller's own data is complete. A rank that is lost ends the program.
typedef struct yw_ranks {
  int32_t interface;  ///< YW_RANKS_INTERFACE
  int32_t count;      ///< of ranks, at least 1
  int32_t rank;       ///< of the caller, 0 to count - 1
  void* context;
  /// Replaces values by their sums over all ranks.
  void (*sum)(void* context, int64_t* values, int32_t count);
  /// Replaces values by the largest over all ranks.
  void (*most)(void* context, double* values, int32_t count);
  /// Bytes of all ranks one after another; sizes[r] is that of rank r, known to all.
  void (*gather)(void* context, const void* mine, void* all, const size_t* sizes);
  /// What `root` has becomes what all have.
  void (*broadcast)(void* context, int32_t root, void* data, size_t size);
  /// Sends bytes [out_start[r], out_start[r + 1]) of out to rank r, and receives those for in from
  /// it. Both sides know the sizes. Nothing is sent where they are 0, or to the caller.
  void (*exchange)(void* context, const void* out, const size_t* out_start, void* in,
                   const size_t* in_start);
  /// The same in two calls, between which the caller works and calls nothing else: messages travel
  /// meanwhile. All arrays must stay until the second one, `in` untouched.
  void (*begin_exchange)(void* context, const void* out, const size_t* out_start, void* in,
                         const size_t* in_start);
  void (*end_exchange)(void* context);
  /// Seconds that this rank has worked so far, by which work is dealt out; NULL: by the clock,
  /// without those in calls.
  double (*worked)(void* context);
  /// Ends the program on all ranks: this one cannot go on. Does not return.
  void (*abandon)(void* context, const char* reason);
  yw_ranks_traffic* traffic;  ///< counted by the functions below; may be NULL
} yw_ranks;

// The same functions, for ranks that may be NULL (one rank). They count what is sent.
YW_API void yw_ranks_sum(const yw_ranks* ranks, int64_t* values, int32_t count);
YW_API void yw_ranks_most(const yw_ranks* ranks, double* values, int32_t count);
YW_API void yw_ranks_gather(const yw_ranks* ranks, const void* mine, void* all,
                            const size_t* sizes);
YW_API void yw_ranks_broadcast(const yw_ranks* ranks, int32_t root, void* data, size_t size);
YW_API void yw_ranks_exchange(const yw_ranks* ranks, const void* out, const size_t* out_start,
                              void* in, const size_t* in_start);
YW_API void yw_ranks_begin_exchange(const yw_ranks* ranks, const void* out, const size_t* out_start,
                                    void* in, const size_t* in_start);
YW_API void yw_ranks_end_exchange(const yw_ranks* ranks);

/// Worlds built from the scene from now on are simulated by these ranks together; NULL: by one.
/// The ranks must outlive the worlds. All ranks build the same scene.
YW_API void yw_scene_set_ranks(yw_scene* scene, const yw_ranks* ranks);

/// For worlds without bodies: bodies made from now on are shared. YW_ERR_INVALID if there are some.
YW_API yw_status yw_world_set_ranks(yw_world* world, const yw_ranks* ranks);
/// For ranks other than 0: does what rank 0 does with its world, until it destroys it. That is
/// yw_world_step, load, hash, save, save_file, snapshot_size, yw_body_energy_of,
/// yw_body_field_values and yw_body_write_shown (shared_body.h), from one thread; the world must
/// not be changed in other ways. Returns the status of the last step.
YW_API yw_status yw_world_follow(yw_world* world);
/// To be called by all ranks once their worlds are built (yw_scene_build does); from then on rank 0
/// leads. What cannot be simulated by several ranks yet gives YW_ERR_INVALID and words, and so does
/// a world that differs from that of another rank.
YW_API yw_status yw_world_check_ranks(const yw_world* world, yw_error* error);

/// Writes what yw_world_save makes to a file that exists, from an offset on. Every rank writes what
/// it has, so all must reach the file by the same path, and none ever holds all of it; for worlds
/// of one rank too. What other ranks wrote is on the disk; fsync is for the caller. *size: bytes.
YW_API yw_status yw_world_save_file(const yw_world* world, const char* path, uint64_t offset,
                                    uint64_t* size, yw_error* error);

/// Ranks that are threads of this program: item r of out is for thread r, and all of them must be
/// used at the same time. To be destroyed with yw_ranks_destroy_local(out[0]) after all threads
/// have ended. NULL on failure.
YW_API yw_ranks* yw_ranks_create_local(int32_t count);
YW_API void yw_ranks_destroy_local(yw_ranks* ranks);

#endif
