// SPDX-License-Identifier: MIT
// What of a plastic body is at rest and left out of its steps.
//
// An island is masters that see common slaves, and all that hang on these: nothing outside acts on
// it. When all of it was slow for a while and something holds it (an obstacle, a pin), it falls
// asleep: its slaves leave the slaves of the body and wait aside, so that its masters see none, and
// chunks of masters that all sleep are not looked at. It wakes as a whole.
#ifndef YW_METHODS_PLASTIC_SLEEP_H
#define YW_METHODS_PLASTIC_SLEEP_H

#include "methods/plastic/model.h"

typedef struct plastic_island {
  yw_aabb box;       ///< m, of its masters and slaves, and a reach around
  uint64_t seen;     ///< what it rested on: obstacles, pins, gravity
  int32_t contacts;  ///< slaves that touched something
  int32_t next;      ///< its number after some have woken; -1: this one wakes
} plastic_island;

/// Points by cells, in lists.
typedef struct plastic_grid {
  uint32_t mask;
  int32_t *head, *next;
} plastic_grid;

typedef struct plastic_sleep {
  bool is_on;          ///< something may fall asleep
  float since_look;    ///< s
  int32_t num_asleep;  ///< masters
  int32_t* island;     ///< per master; -1: awake
  float* still;        ///< s, per master
  int32_t num_chunks;  ///< of masters with one that is awake ...
  int32_t* chunks;     ///< ... ascending
  int32_t num_islands, island_capacity;
  plastic_island* islands;
  int32_t num_slaves, slave_capacity;
  yw_vec4* slave_pos;            ///< aside
  int32_t* slave_island;         ///< of these
  plastic_grid masters, slaves;  ///< asleep
  yw_aabb box;                   ///< of all that sleeps, and a reach around
  // Sleepers in chunks that go on: they are calculated with the rest, and put back.
  int32_t num_mixed, mixed_capacity;
  int32_t* mixed;                    ///< blocks of 16 masters
  struct plastic_state_block* kept;  ///< their states
} plastic_sleep;

#endif
