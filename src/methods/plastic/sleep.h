// SPDX-License-Identifier: MIT
// Sleep: resting parts of a plastic body are skipped.
//
// An island is a connected set of masters, linked through shared slaves; nothing outside acts on
// it. It falls asleep as a whole if all of it was slow for a while and something holds it (an
// obstacle or a pin). Its slaves are then set aside, so its masters see none, and chunks whose
// masters all sleep are skipped. It wakes as a whole.
#ifndef YW_METHODS_PLASTIC_SLEEP_H
#define YW_METHODS_PLASTIC_SLEEP_H

#include "methods/plastic/model.h"

// A master that was slow for this long, in s, may sleep.
#define PLASTIC_STILL_TIME 0.5f

typedef struct plastic_island {
  yw_aabb box;       ///< m, around its masters and slaves, with a margin
  uint64_t seen;     ///< fingerprint of what it rested on: obstacles, pins, gravity
  int32_t contacts;  ///< slaves in contact
  int32_t next;      ///< new index after some islands have woken; -1: this one wakes
} plastic_island;

/// Points in cells, as linked lists.
typedef struct plastic_grid {
  uint32_t mask;
  int32_t *head, *next;
} plastic_grid;

typedef struct plastic_sleep {
  bool is_on;          ///< sleep is enabled
  float since_look;    ///< s, since the last check
  int32_t num_asleep;  ///< masters
  int32_t* island;     ///< per master; -1: awake
  float* still;        ///< s at rest, per master
  int32_t num_chunks;  ///< chunks with at least one awake master ...
  int32_t* chunks;     ///< ... ascending
  int32_t num_islands, island_capacity;
  plastic_island* islands;
  int32_t num_slaves, slave_capacity;
  yw_vec4* slave_pos;            ///< of slaves set aside
  int32_t* slave_island;         ///< their islands
  plastic_grid masters, slaves;  ///< sleeping
  yw_aabb box;                   ///< around everything asleep, with a margin
  // Sleepers in chunks that still run: they are computed with the rest, then restored.
  int32_t num_mixed, mixed_capacity;
  int32_t* mixed;                    ///< indices of blocks of 16 masters
  struct plastic_state_block* kept;  ///< their states
} plastic_sleep;

#endif
