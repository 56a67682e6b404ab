// SPDX-License-Identifier: MIT
// A plastic body that is shared by several ranks (docs/design/distributed.md).
//
// Masters belong to ranks by whole chunks, in order. A slave is on every rank whose masters see it,
// and belongs to the lowest of these: the one with the first chunk that sees it, so numbers of
// slaves ascend with ranks. All ranks that have a slave fetch each other's parts of it, and compute
// the same for it; sums count it where it belongs. So a pass over masters is followed by one
// exchange of parts, and nothing else is ever out of date.
#ifndef YW_METHODS_PLASTIC_RANKS_H
#define YW_METHODS_PLASTIC_RANKS_H

#include "methods/plastic/body.h"
#include "yawara/extend/ranks.h"

enum { PLASTIC_BOXES = 32 };  ///< boxes around the masters of a rank

/// Memory that grows.
typedef struct plastic_buffer {
  void* data;
  size_t capacity;  ///< bytes
} plastic_buffer;

/// A slave on the way to a rank near which it is.
typedef struct plastic_traveller {
  int64_t number;  ///< among all slaves of all ranks
  float x, y, z;
  int32_t slave;  ///< its index here
} plastic_traveller;

/// A slave that this rank shares with another.
typedef struct plastic_shared {
  int64_t number;      ///< before the lists were built
  int32_t slave;       ///< its index here
  int32_t parts;       ///< there
  bool belongs_there;  ///< the other rank is the lowest that has it
} plastic_shared;

/// A link to a master of another rank.
typedef struct plastic_cross {
  int32_t number;  ///< in the model
  plastic_link link;
} plastic_cross;

/// A slave to be added.
typedef struct plastic_proposal {
  int64_t key;  ///< order in which proposals are considered
  float x, y, z;
  int32_t rank;  ///< that made it
} plastic_proposal;

typedef struct plastic_ranks {
  const yw_ranks* comm;
  yw_allocator mem;
  int32_t* master_start;  ///< of rank r: [master_start[r], master_start[r + 1])

  // Slaves here. Those of lower ranks come first; the rest belongs here.
  int32_t num_foreign;
  plastic_buffer numbers;           ///< int64_t, number of each among all slaves
  int64_t num_all, num_all_listed;  ///< slaves of all ranks; of these, those in lists

  // Per rank, with one more entry for the end.
  yw_aabb* boxes;         ///< PLASTIC_BOXES each
  yw_aabb* whole;         ///< around these
  int32_t* shared_start;  ///< shared with rank r: [shared_start[r], shared_start[r + 1])
  int32_t* cross_start;   ///< links to masters of rank r
  size_t *out_start, *in_start, *sizes;  ///< of the message at hand, bytes
  size_t *part_out, *part_in;            ///< of parts, bytes
  uint64_t* counts;                      ///< of something, per rank

  // Work since ranks were compared (ranks_balance.c).
  double worked;         ///< s
  double began, waited;  ///< s, at the start of the substep
  int32_t substeps;

  plastic_buffer shared;  ///< plastic_shared, by rank, then by number
  plastic_buffer cross;   ///< plastic_cross, by rank
  plastic_buffer posts;   ///< int32_t, parts that others need
  plastic_buffer chunks;  ///< int32_t, all chunks here: first those with such parts, then others
  int32_t num_border;     ///< chunks with such parts
  plastic_buffer out, in, merged, marks;
  plastic_buffer parted;  ///< int32_t, links of masters here that parted in this substep
  int32_t num_parted;
  int32_t num_proposals;
  plastic_buffer proposals, all_proposals;
} plastic_ranks;

/// ranks.c: makes room for `bytes`; keeps what is there. False: out of memory.
bool yw_plastic_grow(const plastic_ranks* ranks, plastic_buffer* buffer, size_t bytes);
/// Tells every rank how many bytes it will get (out_start), and what this one gets (in_start).
/// Returns the sum of the latter.
size_t yw_plastic_announce(const plastic_ranks* ranks);
yw_status yw_plastic_ranks_create(plastic_body* body, const yw_ranks* comm, yw_error* error);
void yw_plastic_ranks_destroy(plastic_body* body);
/// The masters here, of all masters.
yw_particles yw_plastic_masters_here(const plastic_body* body, const yw_particles* particles);
/// Masters of rank r in parts that have started.
int32_t yw_plastic_masters_of_rank(const plastic_body* body, int32_t rank);
/// After a step: all ranks get all positions and velocities.
void yw_plastic_gather_masters(const plastic_body* body, yw_particles* particles);
/// One value of `size` bytes per master, from all ranks to all; own is that of the first one here.
void yw_plastic_gather_values(const plastic_body* body, const void* own, void* all, size_t size);
/// Chunks with parts that others need have written these: sends parts, and fetches those that
/// others have while the rest works. half: 0 or 1.
void yw_plastic_begin_share(plastic_body* body, int32_t half);
void yw_plastic_end_share(plastic_body* body);
/// Slaves that another rank holds; held_by: the last hold of each, or -1.
void yw_plastic_share_holds(plastic_body* body, const yw_step_ctx* ctx, int32_t* held_by);
static inline int64_t* yw_plastic_numbers(const plastic_body* body) {
  return body->ranks->numbers.data;
}

/// ranks_lists.c: slaves that masters here may see, in order of their numbers. False: out of
/// memory.
bool yw_plastic_fetch_slaves(plastic_body* body, const yw_particles* particles);
/// Boxes around the masters of all ranks.
void yw_plastic_find_boxes(plastic_body* body, const yw_particles* particles);
/// The lists of chunks are made: finds out who else sees what. Gives new indices (slave_bucket) to
/// slaves that belong to other ranks, and returns how many; below 0: out of memory.
int32_t yw_plastic_meet_ranks(plastic_body* body);
/// All slaves have new indices, `foreign` to `count` belong here: gives them numbers.
void yw_plastic_number_ranks(plastic_body* body, int32_t foreign, int32_t count);
void yw_plastic_count_far_parts(const plastic_body* body, int32_t* counts);
/// Parts of lower or higher ranks.
void yw_plastic_list_far_parts(plastic_body* body, int32_t* at, bool lower);
/// Parts that others need, and the chunks that write them.
bool yw_plastic_list_posts(plastic_body* body);

/// ranks_balance.c: measures the work of a substep.
void yw_plastic_begin_work(plastic_body* body);
void yw_plastic_end_work(plastic_body* body);
/// Before a substep: moves chunks from ranks that took long to others.
void yw_plastic_balance(plastic_body* body);

/// ranks_slaves.c: links to masters of other ranks.
bool yw_plastic_list_cross_links(plastic_body* body);
/// Proposes slaves where such links part.
bool yw_plastic_part_cross_links(plastic_body* body, const yw_particles* particles);
/// Notes that a link has parted, and tells all ranks at the end of the substep.
bool yw_plastic_note_parted(plastic_body* body, int32_t link);
void yw_plastic_share_parted(plastic_body* body);
bool yw_plastic_propose(plastic_body* body, int64_t key, yw_vec4 p);
/// Adds what is left of the proposals of all ranks.
bool yw_plastic_accept(plastic_body* body);

/// ranks_save.c
void yw_plastic_save_shared(const plastic_body* body, yw_writer* writer);
/// Slaves, links and lists, of which there are so many slaves and pairs.
bool yw_plastic_load_shared(plastic_body* body, yw_reader* reader, int32_t num_slaves,
                            int32_t num_pairs);

#endif
