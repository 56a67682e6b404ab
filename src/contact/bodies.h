// SPDX-License-Identifier: MIT
// Contact between bodies, and of bodies with themselves: detected once per substep, resolved by
// impulses that conserve linear and angular momentum. There are two ways: points (particles inside
// tets, and balls; fast) and surfaces (triangles, edges and vertices as they move; nothing
// crosses).
#ifndef YW_CONTACT_BODIES_H
#define YW_CONTACT_BODIES_H

#include "contact/log.h"
#include "yawara/extend/method.h"
#include "yawara/extend/stream.h"

/// With which others a body collides.
typedef struct yw_contact_filter {
  uint32_t groups, mask;  ///< it is in these groups, and collides with those
  uint32_t number;        ///< of the body
  const uint64_t* apart;  ///< pairs that do not collide, see yw_contact_pair; ascending
  int32_t num_apart;
} yw_contact_filter;

/// Where the particles of a large obstacle are; asked for near other bodies alone.
typedef struct yw_contact_source {
  void* context;
  yw_transform begin, end;  ///< of its own axes, at both ends of the substep
  float radius;             ///< m, of its particles
  uint64_t version;         ///< changes when `reach` does
  uint64_t places;          ///< changes when `place` does
  /// Box of all places of a particle in its own axes for the time being.
  yw_aabb (*reach)(const void* context, int32_t particle);
  /// Brings a particle to both ends of the substep. Returns the box of both in its own axes.
  yw_aabb (*place)(void* context, int32_t particle);
} yw_contact_source;

/// A body as contact sees it. Only positions and velocities of its particles change.
typedef struct yw_contact_body {
  yw_contact_geometry geometry;
  uint64_t topology_version;  ///< caches are rebuilt when it changes
  uint64_t key;               ///< identity of the body, stable from step to step, for caches
  uint32_t number;            ///< likewise, and the same when a snapshot is loaded
  yw_particles* particles;
  const yw_vec4* begin;  ///< positions at the start of the substep (surfaces only)
  /// The method's answer to impulses (see yw_method.respond); NULL: each particle on its own
  /// (surfaces only).
  yw_status (*respond)(void* context, const yw_vec4* impulses, yw_vec4* change);
  /// The motion of a rigid body (surfaces only); NULL for others. fold takes what was done to its
  /// particles into the motion, follow writes the particles from it.
  yw_rigid_motion* rigid;
  void (*fold)(void* context);
  void (*follow)(void* context);
  void* context;
  float friction, restitution;
  bool body_contact, self_contact;
  /// It moves as given, and others give way (surfaces only). Its particles are all held, and it is
  /// asleep, so that obstacles do not meet each other.
  bool is_obstacle;
  const yw_contact_source* source;  ///< of a large obstacle; NULL: all particles are in place
  int32_t obstacle;                 ///< for the caller
  float skin;        ///< m, that others keep from its surface; 0: as they do from each other
  float rest_speed;  ///< m/s, at which it may sleep; 0: never
  bool asleep;       ///< two that sleep do not meet
  bool pressed;      ///< out: the surface of an obstacle acted on it (surfaces only)
  const yw_contact_filter* filter;  ///< NULL: collides with all
  /// Obstacles of the substep if some particles touch one; otherwise NULL. Bodies pressed against
  /// each other are then held by obstacles in the same sweeps.
  const struct yw_obstacle_set* obstacles;
} yw_contact_body;

/// Two bodies as one number, in any order.
static inline uint64_t yw_contact_pair(uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/// True for bodies of balls alone: they meet obstacles inside of their methods, all around.
static inline bool yw_geometry_is_balls(const yw_contact_geometry* g) {
  return g->has_balls || (!g->tets && g->num_triangles == 0 && g->num_segments == 0);
}

/// True for rods, sheets and loose balls; a body of balls within a skin is as thick as it is.
static inline bool yw_geometry_is_thin(const yw_contact_geometry* g) {
  return g->radius && !(g->has_balls && g->num_triangles > 0);
}

/// True when two different bodies collide. If one has a filter, both must have.
static inline bool yw_contact_may_meet(const yw_contact_body* a, const yw_contact_body* b) {
  if (a->asleep && b->asleep) return false;
  if (a->is_obstacle && yw_geometry_is_balls(&b->geometry)) return false;
  if (b->is_obstacle && yw_geometry_is_balls(&a->geometry)) return false;
  if (!a->filter || !b->filter) return true;
  const yw_contact_filter *f = a->filter, *g = b->filter;
  if (!(f->groups & g->mask) || !(g->groups & f->mask)) return false;
  uint64_t pair = yw_contact_pair(f->number, g->number);
  int32_t low = 0, high = f->num_apart;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (f->apart[middle] < pair) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == f->num_apart || f->apart[low] != pair;
}

/// Buffers and caches kept from step to step. They never change a result by a single bit; but
/// surfaces start from the forces of the last substep, which are part of the state of a world.
typedef struct yw_points yw_points;
typedef struct yw_surfaces yw_surfaces;

/// NULL when out of memory. mem may be NULL (malloc); simd as from yw_simd_resolve.
yw_points* yw_points_create(const yw_allocator* mem);
yw_surfaces* yw_surfaces_create(const yw_allocator* mem, yw_simd simd);
void yw_points_destroy(yw_points* points);  ///< NULL is fine
void yw_surfaces_destroy(yw_surfaces* surfaces);

/// Every resolve from now on adds what it did to the log; NULL (as at first): none.
void yw_points_set_log(yw_points* points, yw_contact_log* log);
void yw_surfaces_set_log(yw_surfaces* surfaces, yw_contact_log* log);

/// Finds and resolves contacts between and within bodies; called once per substep after all bodies
/// have advanced by h. iterations >= 1: forward and backward sweeps over the contacts.
/// *num_contacts (may be NULL) receives the number of contact points. Returns YW_OK, or
/// YW_ERR_MEMORY with nothing moved. Does not allocate once the buffers have grown to the size that
/// the scene needs.
yw_status yw_points_resolve(yw_points* points, yw_contact_body* bodies, int32_t num_bodies, float h,
                            yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                            int32_t* num_contacts);
/// The same for surfaces: those that did not cross at the start do not cross afterwards. Needs
/// `begin` of all bodies.
yw_status yw_surfaces_resolve(yw_surfaces* surfaces, yw_contact_body* bodies, int32_t num_bodies,
                              float h, yw_vec3 gravity, int32_t iterations, yw_tasks* tasks,
                              int32_t* num_contacts);

/// Calls for different bodies in turns (those in lockstep and the others) are different series: the
/// next resolve starts from the forces of the last one of its series. At first series 0.
/// part: of num_parts of the substep that the next resolve is for; 0 of 0: all of it.
#define YW_SURFACES_SERIES 2
void yw_surfaces_continue(yw_surfaces* surfaces, int32_t series, int32_t part, int32_t num_parts);
/// There is no resolve in this substep: the next one of the series starts from nothing.
void yw_surfaces_forget(yw_surfaces* surfaces, int32_t series);
/// The forces to start from.
void yw_surfaces_save(const yw_surfaces* surfaces, yw_writer* writer);
yw_status yw_surfaces_load(yw_surfaces* surfaces, yw_reader* reader);

/// Pairs of bodies that had contacts in the last resolve: their number (a pair may be listed more
/// than once), and one of them, as the bodies were passed. Both are the same for contacts within a
/// body and with obstacles.
int32_t yw_points_num_pairs(const yw_points* points);
int32_t yw_surfaces_num_pairs(const yw_surfaces* surfaces);
void yw_points_pair(const yw_points* points, int32_t i, int32_t pair[2]);
void yw_surfaces_pair(const yw_surfaces* surfaces, int32_t i, int32_t pair[2]);
/// Bodies that nothing was near in that call.
int32_t yw_surfaces_num_apart(const yw_surfaces* surfaces);

#endif
