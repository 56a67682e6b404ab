// SPDX-License-Identifier: MIT
// Forces of the last substep at contacts of soft bodies: the solver starts from them. Contacts are
// known by their bodies and corners.
//
// Friction follows the mean of the pressure and not the pressure at once, which an elastic body
// that slides turns into waves and hops (docs/design/contact.md). The mean is over some time while
// they touch, or over some way of sliding if that is shorter (Prakash and Clifton 1993; Rice,
// Lapusta and Ranjith 2001).
#ifndef YW_CONTACT_SURFACES_WARM_H
#define YW_CONTACT_SURFACES_WARM_H

#include "contact/surfaces/touch.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/stream.h"

/// s, over which the mean of a force is taken.
#define YW_GRIP_TIME 0.05f

/// The bodies and particles of a contact, in an order that does not depend on who found it.
typedef struct yw_warm_key {
  uint32_t bodies[2];  ///< numbers
  int32_t corners[4];
} yw_warm_key;

typedef struct yw_warm_entry {
  yw_warm_key key;
  float force;   ///< N; 0: nothing presses now
  float grip;    ///< N, mean of the force while they touched
  float age;     ///< s, over which it was taken
  yw_vec3 drag;  ///< N, friction, on the first of the bodies as the key has them
} yw_warm_entry;

typedef struct yw_warm {
  YW_LIST(yw_warm_entry) entries;
  YW_LIST(int32_t) slots;  ///< a hash table: 1 + entry; a power of two of them, or none
} yw_warm;

/// Makes room for so many entries and forgets the old ones. False when out of memory.
bool yw_warm_begin(const yw_allocator* mem, yw_warm* warm, int32_t room);
/// Adds the impulse of a contact over h, and to the mean of its force; what does not press is
/// forgotten little by little. The first of several with one key stays.
void yw_warm_add(yw_warm* warm, const yw_contact_body* bodies, const yw_contact* contact, float h);
/// What is known of a contact, with friction on its first body; false: nothing.
bool yw_warm_find(const yw_warm* warm, const yw_contact_body* bodies, const yw_contact* contact,
                  yw_warm_entry* entry);
/// True if something pressed at a spare of the bodies a and b.
bool yw_warm_has_spare(const yw_warm* warm, const yw_contact_body* bodies, int32_t a, int32_t b,
                       const yw_contact_spare* spare);
/// State of the world: with the same forces the next substep is the same.
void yw_warm_write(const yw_warm* warm, yw_writer* writer);
/// YW_ERR_FORMAT for what no world can have written.
yw_status yw_warm_read(const yw_allocator* mem, yw_warm* warm, yw_reader* reader);
void yw_warm_free(const yw_allocator* mem, yw_warm* warm);

#endif
