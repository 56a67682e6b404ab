// SPDX-License-Identifier: MIT
// Normal forces of the last substep at contacts: the solver starts from them. Contacts are known by
// their bodies and corners. Friction starts from nothing: what is left of it from substep to
// substep need not be what holds bodies now, and lets piles tremble (ten cuboids on a slope at 0.35
// instead of 0.03 m/s).
#ifndef YW_CONTACT_SURFACES_WARM_H
#define YW_CONTACT_SURFACES_WARM_H

#include "contact/surfaces/touch.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"

/// The bodies and particles of a contact, in an order that does not depend on who found it.
typedef struct yw_warm_key {
  uint32_t bodies[2];  ///< numbers
  int32_t corners[4];
} yw_warm_key;

typedef struct yw_warm_entry {
  yw_warm_key key;
  float force;  ///< N
} yw_warm_entry;

typedef struct yw_warm {
  YW_LIST(yw_warm_entry) entries;
  YW_LIST(int32_t) slots;  ///< a hash table: 1 + entry; a power of two of them, or none
} yw_warm;

/// Makes room for so many entries and forgets the old ones. False when out of memory.
bool yw_warm_begin(const yw_allocator* mem, yw_warm* warm, int32_t room);
/// Adds the impulse of a contact over h. The first of several with one key stays.
void yw_warm_add(yw_warm* warm, const yw_contact_body* bodies, const yw_contact* contact, float h);
/// N s, impulse over h to start from; 0 where there was none.
float yw_warm_find(const yw_warm* warm, const yw_contact_body* bodies, const yw_contact* contact,
                   float h);
/// True if something pressed at a spare of the bodies a and b.
bool yw_warm_has_spare(const yw_warm* warm, const yw_contact_body* bodies, int32_t a, int32_t b,
                       const yw_contact_spare* spare);
/// State of the world: with the same forces the next substep is the same.
void yw_warm_write(const yw_warm* warm, yw_writer* writer);
/// YW_ERR_FORMAT for what no world can have written.
yw_status yw_warm_read(const yw_allocator* mem, yw_warm* warm, yw_reader* reader);
void yw_warm_free(const yw_allocator* mem, yw_warm* warm);

#endif
