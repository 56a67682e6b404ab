// SPDX-License-Identifier: MIT
// What touched in a step, for readers. Contacts between bodies are told by contact. Obstacles act
// inside of the methods, so their impulse is what the momentum of a body changed by while it
// advanced, beyond gravity; where it touches them is seen from the distances of its surface.
#ifndef YW_WORLD_CONTACT_BOOK_H
#define YW_WORLD_CONTACT_BOOK_H

#include "contact/log.h"
#include "yawara/contact.h"
#include "yawara/extend/stream.h"

struct yw_world;
struct yw_body;

/// A pair of slots. The older body comes first, which is not always the lower slot.
typedef struct yw_book_pair {
  uint32_t first;
  int64_t second;  ///< slot of a body, or -1 - slot of an obstacle
} yw_book_pair;

/// A pair in this step. Weighted sums until the step ends.
typedef struct yw_book_entry {
  yw_book_pair pair;
  yw_contact_info info;
  yw_vec3 point, normal;  ///< sums
  double weight;
  yw_vec3 impulse;  ///< N s, on the first body
  bool unknown;     ///< impulse
} yw_book_entry;

/// A place of the last substep.
typedef struct yw_book_point {
  yw_book_pair pair;
  int32_t vertices[2];  ///< particles; -1: none
  yw_contact_point shown;
} yw_book_point;

/// Kept of a body between the start and the end of advance.
typedef struct yw_book_body {
  double momentum[3];
  int32_t first_velocity;
  bool has_areas;
} yw_book_body;

/// Surface around a vertex.
typedef struct yw_book_area {
  yw_vec3 vector;   ///< m^2, area times normal
  int32_t counted;  ///< number, from 1, of the last contact that counted it
} yw_book_area;

/// Order of entries and points: by the age of the first body, bodies before obstacles, by the
/// second.
typedef struct yw_book_key {
  uint64_t first, second;
  int32_t index;
} yw_book_key;

typedef struct yw_contact_book {
  yw_allocator mem;
  yw_contact_log log;
  YW_LIST(yw_book_entry) entries;
  int32_t last_entry;  ///< used last: records of a pair come one after another
  YW_LIST(yw_book_point) points;
  int32_t num_fixed_points;  ///< of bodies that do not advance in lockstep
  YW_LIST(yw_book_body) bodies;
  YW_LIST(yw_vec4) velocities;
  YW_LIST(uint32_t) log_slots;  ///< of the bodies that contact saw
  YW_LIST(yw_book_area) areas;  ///< of vertices, like velocities
  YW_LIST(int32_t) ranks;       ///< of slots: place in the order of creation
  YW_LIST(yw_book_key) keys;
  YW_LIST(yw_contact_info) contacts;
  YW_LIST(yw_contact_point) shown_points;
  YW_LIST(yw_contact_event) last;  ///< pairs of the step before
  YW_LIST(yw_contact_event) begins, ends, impacts;
  bool failed;  ///< out of memory
} yw_contact_book;

void yw_book_destroy(yw_contact_book* book);  ///< NULL is fine

// Called by the step; those that return bool give false when out of memory.
bool yw_book_begin_step(struct yw_world* world);
void yw_book_begin_substep(struct yw_world* world);
void yw_book_begin_advance(struct yw_world* world, bool lockstep);
void yw_book_note_advance(struct yw_world* world, bool lockstep, float h);
void yw_book_note_contact(struct yw_world* world, bool lockstep);
bool yw_book_end_step(struct yw_world* world);

/// The pairs that touched in the last step, for the events of the next; in snapshots. Without a
/// book nothing is written, and what is read is skipped. False: invalid, or out of memory.
void yw_book_write(const yw_contact_book* book, yw_writer* writer);
bool yw_book_read(yw_contact_book* book, yw_reader* reader);

/// The entry of a pair, made if it is new; NULL: out of memory.
yw_book_entry* yw_book_entry_of(yw_contact_book* book, yw_book_pair pair);
/// Adds one touch to the sums of its pair and to the places of the substep. impulse: on the first
/// body; speed: at which they closed in.
void yw_book_add(yw_contact_book* book, yw_book_point* touch, yw_vec3 impulse, double weight,
                 float speed);
/// kg m/s
void yw_book_momentum(const struct yw_body* body, double out[3]);

// contact_obstacles.c
/// Contacts of a rigid body (slot) with obstacles.
void yw_book_add_rigid(struct yw_world* world, uint32_t slot);
/// The obstacle of a body whose surface is nearest to a point; -1: it meets none.
int64_t yw_book_nearest_obstacle(const struct yw_body* body, yw_vec3 p);

#endif
