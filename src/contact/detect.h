// SPDX-License-Identifier: MIT
// Finding contacts: which bodies are near each other, and which of their points touch.
#ifndef YW_CONTACT_DETECT_H
#define YW_CONTACT_DETECT_H

#include "contact/bodies.h"
#include "contact/box_tree.h"
#include "contact/topology.h"

/// One contact point. Both bodies meet it at the same place in space, as weighted sums of their
/// particles, so that equal and opposite impulses there leave both momenta alone.
typedef struct yw_contact {
  int32_t body[2];
  int32_t particles[2][4];
  float weights[2][4];  ///< sum to 1; unused ones are 0
  int32_t count[2];     ///< particles in use
  yw_vec3 normal;       ///< from body[1] to body[0]
  float gap_before;     ///< m along the normal when the step began, negative in penetration
  float slop;           ///< m, gaps this small are left alone
  bool deep;            ///< far inside: the bodies are parted as wholes, not at this point
  bool swept;           ///< the path was followed to the touch, which may be anywhere in the step
  yw_vec3 drift;        ///< m/s, of the obstacle where side 1 is one (count[1] is 0)
  float obstacle_friction;

  // The solver's.
  float gap;             ///< m, at the end of the step
  float inv_mass;        ///< 1/kg, of the point in any direction, both bodies together
  float friction_limit;  ///< Coulomb coefficient
  float approach;        ///< m/s, closing speed when found, > 0 closing
  float bounce;          ///< restitution where this is an impact, else 0
  float target;          ///< m/s, normal velocity to reach at least
  float share;           ///< part of the step after the touch
  yw_vec3 arm;           ///< m, from the point on body[1] to that on body[0]; 0 but for spheres
  float offset;          ///< m, gap = offset + normal . (point of body[0] - point of body[1])
  float push_goal;       ///< m, gap to reach by pushing
  float push;            ///< m, moved apart so far
  float impulse;         ///< N s along the normal so far
  yw_vec3 friction;      ///< N s across it so far
} yw_contact;

/// Boxes of the 16 tets of a leaf.
typedef struct yw_tet_boxes {
  float lower[3][YW_CONTACT_LEAF], upper[3][YW_CONTACT_LEAF];
} yw_tet_boxes;

/// The balls of a body in the order of a curve through space, made anew in every step.
typedef struct yw_contact_balls {
  int32_t* points;        ///< their particles
  yw_vec4 *before, *now;  ///< where they were when the step began, and are; now.w is the radius
  yw_sort_item *order, *scratch;
} yw_contact_balls;

/// A body during one resolve.
typedef struct yw_contact_work {
  const yw_contact_body* body;
  const yw_contact_topology* topology;
  float h;  ///< s, length of the step
  yw_aabb box;
  const int32_t* points;    ///< particles of the sample points, in the order of the groups
  yw_contact_balls* balls;  ///< of bodies of spheres
  yw_box_tree groups;       ///< of sample points
  yw_box_tree leaves;       ///< of tets
  yw_tet_boxes* tet_boxes;  ///< per leaf; valid where needed[leaf]
  uint8_t* needed;          ///< per leaf
  bool active;              ///< may touch something
} yw_contact_work;

typedef enum yw_contact_job_kind {
  YW_JOB_POINTS_IN_TETS,
  YW_JOB_SPHERES,
  YW_JOB_OBSTACLES,  ///< balls of a against the obstacles they lie on
  YW_JOB_EDGES,
  YW_JOB_SMALL_PAIR  ///< all of two small volumes: points both ways, and edges
} yw_contact_job_kind;

/// Sample points (or edges) of body a against body b; a == b is self-contact.
typedef struct yw_contact_job {
  int32_t a, b;
  yw_contact_job_kind kind;
  int32_t first, end;  ///< groups of a
  float skin;          ///< m, gaps up to this count
} yw_contact_job;

/// A list of fixed room: count goes on when it is full, so that the caller learns what is missing.
typedef struct yw_contact_list {
  yw_contact* items;
  int32_t count, capacity;
} yw_contact_list;

/// Balls that have no shape at rest: they are no whole that could bounce or be parted as one.
static inline bool yw_contact_is_loose(const yw_contact_body* body) {
  return body->geometry.radius && !body->geometry.rest;
}

/// Share of the skin within which bodies may rest.
#define YW_CONTACT_SLOP 0.2f

static inline yw_vec3 yw_contact_position(const yw_contact_work* work, int32_t particle) {
  return yw_xyz(work->body->particles->pos[particle]);
}

/// Where the particle was at the beginning of the step.
static inline yw_vec3 yw_contact_before(const yw_contact_work* work, int32_t particle) {
  const yw_particles* p = work->body->particles;
  return yw_mad(yw_xyz(p->pos[particle]), -work->h, yw_xyz(p->vel[particle]));
}

/// Room for one more contact; NULL when the list is full.
static inline yw_contact* yw_contact_append(yw_contact_list* list) {
  int32_t at = list->count++;
  return at < list->capacity ? &list->items[at] : NULL;
}

/// Boxes of the groups of points, and of the whole body.
void yw_contact_fit_points(yw_contact_work* work);
/// The same for bodies of spheres, which are sorted first.
void yw_contact_fit_spheres(yw_contact_work* work);
/// Boxes of the leaves first .. end - 1.
void yw_contact_fit_leaves(yw_contact_work* work, int32_t first, int32_t end);
/// Boxes of the tets of one leaf.
void yw_contact_fit_tets(yw_contact_work* work, int32_t leaf);

/// Appends the contacts of a job.
void yw_contact_find(const yw_contact_work* works, const yw_contact_job* job,
                     yw_contact_list* list);
/// The balls of a job's bodies against each other.
void yw_contact_find_spheres(const yw_contact_work* works, const yw_contact_job* job,
                             yw_contact_list* list);
void yw_contact_find_obstacles(const yw_contact_work* works, const yw_contact_job* job,
                               yw_contact_list* list);
/// The edges of a job's bodies against each other.
void yw_contact_find_edges(const yw_contact_work* works, const yw_contact_job* job,
                           yw_contact_list* list);

#endif
