// SPDX-License-Identifier: MIT
// What contact of surfaces keeps from step to step.
#ifndef YW_CONTACT_SURFACES_DATA_H
#define YW_CONTACT_SURFACES_DATA_H

#include "contact/surfaces/nearby.h"
#include "contact/surfaces/patches.h"
#include "contact/surfaces/solve.h"
#include "contact/surfaces/whole.h"
#include "yawara/extend/memory.h"

// Kept per body from step to step: connectivity and memory, no moving state.
typedef struct yw_surface_cache {
  uint64_t key, version;
  yw_complex* complex;
  yw_aabb* leaf_nodes;
  yw_path_box* path_boxes;
  yw_box_block* boxes;
  yw_sort_item *order, *scratch;  // loose points
  int32_t *sorted_vertices, *sorted_places;
  int32_t (*sorted_edges)[2];
  uint64_t* flat_edges;  // of sheets
  yw_patch_pose* poses;  // of bodies that touch themselves
  yw_vec4 *predicted, *anchor;
  uint8_t *moved, *unsettled, *needed;
  yw_nearby* nearby;                            // of large obstacles
  yw_vec4* base;                                // velocities before the sweeps of a round
  yw_vec4 *free, *impulses, *change, *heading;  // bodies that answer
} yw_surface_cache;

/// Chunks of bodies that a batch touches, see batches.c.
#define YW_BATCH_CHUNKS 31
typedef struct yw_batch_chunks {
  int32_t count;  // more than have room: all of both bodies
  int32_t items[YW_BATCH_CHUNKS];
} yw_batch_chunks;

/// Sums over a body, or over an island, about the origin; see balance.c.
typedef struct yw_balance {
  double mass, energy2;  // twice the kinetic energy
  double moment[3], momentum[3], angular[3], inertia[6];
  bool held;   // something else acts on it
  bool known;  // summed up in this call
} yw_balance;

/// Bodies that may touch each other, and how far the guard's axes move with them; see ride.c. Sums
/// are those of the group that has the number of this body.
typedef struct yw_ride_sum {
  double mass, momentum[3];
  bool fixed;  ///< something of it does not move along
} yw_ride_sum;

typedef struct yw_ride {
  int32_t group;
  bool takes_part, fixed;
  yw_ride_sum sum;
  yw_vec3 way;    ///< m, in the substep
  yw_aabb reach;  ///< of the paths
} yw_ride;

struct yw_surfaces {
  yw_allocator mem;
  yw_contact_log* log;  // NULL: nobody reads
  YW_LIST(yw_surface_cache) caches;
  YW_LIST(yw_complex*) complexes;

  // Data and buffers of one call of resolve.
  yw_simd simd;
  yw_touch_step step;
  int32_t room;             // contacts that every list has room for
  int32_t part, num_parts;  // of the substep; 0 parts: it is one
  bool lasts;               // pairs are kept that last for the next part; see parts.h
  bool seeks_apart;         // no large obstacle has to find what is near it
  YW_LIST(yw_contact_work) works;
  YW_LIST(yw_sort_item) order, scratch;
  YW_LIST(yw_aabb) body_nodes;
  YW_LIST(yw_contact_job) jobs;
  YW_LIST(int32_t) block_start;    // first job of each block
  YW_LIST(yw_contact_list) found;  // contacts of each block
  YW_LIST(yw_contact_batch) batches, colored;
  YW_LIST(int32_t) first_chunk;   // per body, and one more
  YW_LIST(uint64_t) used_colors;  // per chunk
  YW_LIST(yw_batch_chunks) batch_chunks;
  YW_LIST(int32_t) batch_color;
  YW_LIST(int32_t) found_order;
  YW_LIST(int32_t) lane_order;
  YW_LIST(yw_vec3) pair_angular;
  YW_LIST(yw_contact_answer) answers;
  YW_LIST(yw_contact_island) islands;
  YW_LIST(int32_t) island_of;  // per body
  YW_LIST(float) yields;
  YW_LIST(yw_contact_row) rows;
  YW_LIST(yw_contact_search) searches;
  yw_warm warm[YW_SURFACES_SERIES];  // forces of the last call of each series
  int32_t series;
  YW_LIST(yw_whole_row) whole_rows;
  YW_LIST(yw_whole_state) whole_states;
  YW_LIST(yw_balance) balances;
  YW_LIST(yw_ride) rides;
};

/// Puts caches and works into the order of the bodies; frees the caches of removed bodies. False
/// when out of memory.
bool yw_surfaces_update(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies);

#endif
