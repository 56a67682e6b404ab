// SPDX-License-Identifier: MIT
// Contact detection: which primitives of two bodies may meet in this substep, and where they touch.
#ifndef YW_CONTACT_SURFACES_TOUCH_H
#define YW_CONTACT_SURFACES_TOUCH_H

#include "contact/bodies.h"
#include "contact/box_tree.h"
#include "contact/surfaces/approach.h"
#include "contact/surfaces/complex.h"
#include "contact/surfaces/order.h"

/// One contact point: a weighted sum of particles on each side, at places that face each other.
typedef struct yw_contact {
  int32_t body[2];
  int32_t count[2];  ///< particles in use; count[1] is 0 for obstacles
  int32_t particles[2][3];
  float weights[2][3];      ///< sum to 1 on each side
  yw_vec3 normal;           ///< from body[1] to body[0]
  float distance;           ///< m, to keep between the points, along the normal
  float gap_before;         ///< m, beyond that distance at the start of the substep
  float slop;               ///< m, an overlap that is left alone
  yw_vec3 drift;            ///< m/s, of an obstacle
  float obstacle_friction;  ///< of an obstacle
  float obstacle_gap;       ///< m, to an obstacle at the end of the substep

  // Used by the solver.
  float inv_mass;        ///< 1/kg, of the point in any direction, both bodies combined
  float friction_limit;  ///< coefficient
  float approach;        ///< m/s, closing speed when found
  float bounce;          ///< restitution of an impact, otherwise 0
  float bounced;         ///< N s along the normal, of a bounce of both bodies as wholes
  float target;          ///< m/s, least normal velocity
  float share;           ///< fraction of the substep after the touch
  yw_vec3 arm;           ///< m, from the point on body[1] to that on body[0]
  float offset;          ///< m, gap = offset + normal . arm
  float push_goal;       ///< m, gap to reach by pushing
  float push;            ///< m, moved apart so far
  float push_impulse;    ///< kg m, the same times the mass of the point
  float impulse;         ///< N s along the normal so far
  yw_vec3 friction;      ///< N s, tangential, so far
  yw_vec3 last;          ///< N s, both together before the last sweeps
  yw_vec3 heading;       ///< N s, direction of search
} yw_contact;

/// Two primitives that could meet in this substep. The guard keeps them apart.
typedef struct yw_near_pair {
  int32_t body[2];
  int32_t corners[4];
  yw_vec3 normal;  ///< from side 1 to side 0 at the start
  float distance;  ///< m, at the start
  float least;     ///< m, distance that must remain
  uint8_t kind;    ///< yw_pair_kind
  bool fixed;      ///< held apart by a fixed plane, see guard.c
} yw_near_pair;

/// A body during one call of resolve.
typedef struct yw_contact_work {
  const yw_contact_body* body;
  const yw_complex* complex;
  const int32_t* vertices;    ///< of the complex; of loose points as sorted now
  const int32_t (*edges)[2];  ///< likewise
  yw_sort_item *order, *scratch;
  int32_t* sorted_vertices;  ///< memory of loose points
  int32_t (*sorted_edges)[2];
  yw_box_tree leaves;
  yw_aabb *vertex_boxes, *edge_boxes, *triangle_boxes;  ///< of the whole paths, with radii
  yw_aabb box;
  yw_vec4* predicted;  ///< positions before contact, per particle
  uint8_t* moved;      ///< flags of the guard, per particle
  float max_way;       ///< m, longest path of a surface particle
  float margin;        ///< m, by which contact may move particles beyond their paths
  bool active;         ///< may touch something
} yw_contact_work;

/// Leaves first .. end - 1 of body a against body b; a == b is self-contact.
typedef struct yw_contact_job {
  int32_t a, b;
  int32_t first, end;
  bool obstacles;  ///< vertices of a against obstacles instead
} yw_contact_job;

/// Lists of fixed capacity. The counts keep growing when they are full: the caller learns the size.
typedef struct yw_contact_list {
  yw_contact* contacts;
  yw_near_pair* pairs;
  int32_t num_contacts, num_pairs;
  int32_t num_fixed;  ///< pairs held by the guard
  int32_t contact_capacity, pair_capacity;
} yw_contact_list;

/// Sorts loose points and fits the boxes of all paths.
void yw_touch_fit(yw_contact_work* work);
/// Appends the contacts and near pairs of a job. h: s, of the substep; fall: m, in it under
/// gravity.
void yw_touch_find(const yw_contact_work* works, const yw_contact_job* job, float h, float fall,
                   yw_contact_list* list);

/// Particles without a rest shape: they do not bounce as a whole.
static inline bool yw_contact_is_loose(const yw_contact_body* body) {
  return body->geometry.radius && !body->geometry.rest;
}

static inline yw_vec3 yw_touch_begin(const yw_contact_work* work, int32_t particle) {
  return yw_xyz(work->body->begin[particle]);
}
static inline yw_vec3 yw_touch_end(const yw_contact_work* work, int32_t particle) {
  return yw_xyz(work->body->particles->pos[particle]);
}
static inline float yw_touch_radius(const yw_contact_work* work, int32_t particle) {
  const float* radius = work->body->geometry.radius;
  return radius ? radius[particle] : 0.0f;
}
/// m, kept between the surfaces of two bodies at rest on each other.
static inline float yw_touch_skin(const yw_contact_work* a, const yw_contact_work* b) {
  float size = a->complex->size < b->complex->size ? a->complex->size : b->complex->size;
  return 0.004f * size;
}

#endif
