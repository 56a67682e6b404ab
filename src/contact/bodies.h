// SPDX-License-Identifier: MIT
// Bodies against bodies and against themselves: found once per substep, resolved by impulses that
// keep linear and angular momentum.
#ifndef YW_CONTACT_BODIES_H
#define YW_CONTACT_BODIES_H

#include "yawara/extend/method.h"

/// One body as contact sees it. Only positions and velocities of the particles are changed.
typedef struct yw_contact_body {
  yw_contact_geometry geometry;
  uint64_t topology_version;  ///< caches are rebuilt when it changes
  uint64_t key;               ///< identity of the body, stable from step to step, for caches
  yw_particles* particles;
  float friction, restitution;
  bool body_contact, self_contact;
  /// Of the substep, where some of its particles touch one; else NULL. Balls that are pressed
  /// against each other are then held by obstacles in the same sweeps.
  const struct yw_obstacle_set* obstacles;
} yw_contact_body;

/// Buffers and caches that live from step to step. Nothing in them changes a result: a fresh one
/// gives the same bits.
typedef struct yw_contacts yw_contacts;

/// NULL when memory is out. mem may be NULL (malloc).
yw_contacts* yw_contacts_create(const yw_allocator* mem);
void yw_contacts_destroy(yw_contacts* contacts);  ///< NULL is fine

/// Called once per substep after all bodies advanced by h: finds and resolves the contacts between
/// and within bodies. iterations >= 1: sweeps over the contacts, there and back. *num_contacts (may
/// be NULL) receives the number of contact points. YW_OK or YW_ERR_MEMORY, and then nothing was
/// moved. Does not allocate once the buffers have grown to what the scene needs.
yw_status yw_contacts_resolve(yw_contacts* contacts, yw_contact_body* bodies, int32_t num_bodies,
                              float h, yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                              int32_t* num_contacts);

#endif
