// SPDX-License-Identifier: MIT
// Contact detection: which bodies are near each other, and which of their points touch.
#ifndef YW_CONTACT_POINTS_DETECT_H
#define YW_CONTACT_POINTS_DETECT_H

#include "contact/bodies.h"
#include "contact/box_walk.h"
#include "contact/points/topology.h"

/// One contact point. On both bodies it is a weighted sum of particles at the same position in
/// space, so that equal and opposite impulses conserve both momenta.
typedef struct yw_point {
  int32_t body[2];
  int32_t particles[2][4];
  float weights[2][4];  ///< sum to 1; unused ones are 0
  int32_t count[2];     ///< particles in use
  yw_vec3 normal;       ///< from body[1] to body[0]
  float gap_before;     ///< m, along the normal at the start of the step; negative: penetration
  float slop;           ///< m, smaller gaps are left alone
  bool deep;            ///< far inside: the bodies are separated as wholes, not at this point
  bool swept;           ///< found by following the path, so that it may be at any time in the step
  yw_vec3 drift;        ///< m/s, velocity of the obstacle if side 1 is one (count[1] is 0)
  float obstacle_friction;

  // Used by the solver.
  float gap;             ///< m, at the end of the step
  float inv_mass;        ///< 1/kg, of the point in any direction, both bodies combined
  float friction_limit;  ///< friction coefficient (Coulomb)
  float approach;        ///< m/s, closing speed when found, > 0: closing
  float bounce;          ///< restitution of an impact, otherwise 0
  float bounced;         ///< N s along the normal, of a bounce of both bodies as wholes
  float target;          ///< m/s, minimum normal velocity to reach
  float share;           ///< fraction of the step after the touch
  yw_vec3 arm;           ///< m, from the point on body[1] to that on body[0]; 0 except for spheres
  float offset;          ///< m, gap = offset + normal . (point of body[0] - point of body[1])
  float push_goal;       ///< m, gap to reach by pushing
  float push;            ///< m, moved apart so far
  float impulse;         ///< N s along the normal so far
  yw_vec3 friction;      ///< N s, tangential, so far
} yw_point;

/// Boxes of the 16 tets of a leaf.
typedef struct yw_point_tet_boxes {
  float lower[3][YW_POINT_LEAF], upper[3][YW_POINT_LEAF];
} yw_point_tet_boxes;

/// The balls of a body, sorted along a space-filling curve in every step.
typedef struct yw_point_balls {
  int32_t* points;        ///< their particles
  yw_vec4 *before, *now;  ///< at the start of the step, and now; now.w is the radius
  yw_point_sort_item *order, *scratch;
} yw_point_balls;

/// A body during one call of resolve.
typedef struct yw_point_work {
  const yw_contact_body* body;
  const yw_point_topology* topology;
  float h;  ///< s, length of the step
  yw_aabb box;
  const int32_t* points;          ///< particles of the sample points, in group order
  yw_point_balls* balls;          ///< bodies of spheres only
  yw_box_tree groups;             ///< of sample points
  yw_box_tree leaves;             ///< of tets
  yw_point_tet_boxes* tet_boxes;  ///< per leaf; valid where needed[leaf]
  uint8_t* needed;                ///< per leaf
  bool active;                    ///< may touch something
} yw_point_work;

typedef enum yw_point_job_kind {
  YW_POINT_JOB_POINTS_IN_TETS,
  YW_POINT_JOB_SPHERES,
  YW_POINT_JOB_OBSTACLES,  ///< balls of a against the obstacles they touch
  YW_POINT_JOB_EDGES,
  YW_POINT_JOB_SMALL_PAIR  ///< two small volumes at once: points both ways, and edges
} yw_point_job_kind;

/// Sample points (or edges) of body a against body b; a == b is self-contact.
typedef struct yw_point_job {
  int32_t a, b;
  yw_point_job_kind kind;
  int32_t first, end;  ///< groups of a
  float skin;          ///< m, largest gap that counts as contact
} yw_point_job;

/// A list of fixed capacity. count keeps growing when it is full: the caller learns the size.
typedef struct yw_point_list {
  yw_point* items;
  int32_t count, capacity;
} yw_point_list;

/// Balls without a rest shape: they do not bounce or separate as a whole.
static inline bool yw_point_is_loose(const yw_contact_body* body) {
  return body->geometry.radius && !body->geometry.rest;
}

/// Share of the skin within which bodies may rest.
#define YW_POINT_SLOP 0.2f

static inline yw_vec3 yw_point_position(const yw_point_work* work, int32_t particle) {
  return yw_xyz(work->body->particles->pos[particle]);
}

/// Position of the particle at the start of the step.
static inline yw_vec3 yw_point_before(const yw_point_work* work, int32_t particle) {
  const yw_particles* p = work->body->particles;
  return yw_mad(yw_xyz(p->pos[particle]), -work->h, yw_xyz(p->vel[particle]));
}

/// Appends a contact; NULL when the list is full.
static inline yw_point* yw_point_append(yw_point_list* list) {
  int32_t at = list->count++;
  return at < list->capacity ? &list->items[at] : NULL;
}

/// Computes the boxes of the groups of points, and of the whole body.
void yw_point_fit_points(yw_point_work* work);
/// The same for bodies of spheres; sorts them first.
void yw_point_fit_spheres(yw_point_work* work);
/// Computes the boxes of leaves first .. end - 1.
void yw_point_fit_leaves(yw_point_work* work, int32_t first, int32_t end);
/// Computes the boxes of the tets of one leaf.
void yw_point_fit_tets(yw_point_work* work, int32_t leaf);

/// Appends the contacts of a job.
void yw_point_find(const yw_point_work* works, const yw_point_job* job, yw_point_list* list);
/// Finds contacts between the balls of a job's bodies.
void yw_point_find_spheres(const yw_point_work* works, const yw_point_job* job,
                           yw_point_list* list);
void yw_point_find_obstacles(const yw_point_work* works, const yw_point_job* job,
                             yw_point_list* list);
/// Finds contacts between the edges of a job's bodies.
void yw_point_find_edges(const yw_point_work* works, const yw_point_job* job, yw_point_list* list);

#endif
