// SPDX-License-Identifier: MIT
// Contact detection: which primitives of two bodies may meet in this substep, and where they touch.
#ifndef YW_CONTACT_SURFACES_TOUCH_H
#define YW_CONTACT_SURFACES_TOUCH_H

#include "contact/bodies.h"
#include "contact/box_walk.h"
#include "contact/surfaces/approach.h"
#include "contact/surfaces/complex.h"
#include "contact/surfaces/near.h"
#include "contact/surfaces/order.h"

/// One contact point: a weighted sum of particles on each side, at places that face each other.
/// Three lines of the cache.
typedef struct yw_contact {
  int32_t body[2];
  int32_t count[2];  ///< particles in use; count[1] is 0 for obstacles
  int32_t particles[2][3];
  float weights[2][3];      ///< sum to 1 on each side
  yw_vec4 drift;            ///< m/s, of an obstacle
  yw_vec3 normal;           ///< from body[1] to body[0]
  float distance;           ///< m, to keep between the points, along the normal
  float gap_before;         ///< m, beyond that distance at the start of the substep
  float slop;               ///< m, an overlap that is left alone
  float obstacle_friction;  ///< of an obstacle
  float obstacle_gap;       ///< m, to an obstacle at the end of the substep

  // Used by the solver.
  float friction_limit;  ///< coefficient
  float approach;        ///< m/s, closing speed when found
  float bounce;          ///< restitution of an impact, otherwise 0
  float bounced;         ///< N s along the normal, of a bounce of both bodies as wholes
  float target;          ///< m/s, least normal velocity
  float share;           ///< fraction of the substep after the touch
  yw_vec3 arm;           ///< m, from the point on body[1] to that on body[0]
  float offset;          ///< m, gap = offset + normal . arm
  float push_goal;       ///< m, gap to reach by pushing
  float push;            ///< m/s, of an impact, see rigid.c
  float push_impulse;    ///< kg m, distance pushed apart times the mass of the point
  float impulse;         ///< N s along the normal so far
  yw_vec3 friction;      ///< N s, tangential, so far
  float grip, grip_age;  ///< N and s, mean force while it touched, and for how long; see warm.h
  float slip;            ///< m/s, of bodies that answer
} yw_contact;

/// A contact that others make superfluous, unless the solver finds otherwise: of two edges with
/// vertices around it, or one that begins far apart (aside.c).
typedef struct yw_contact_spare {
  int32_t corners[4];
  float shares[2];  ///< of the second corner of each edge; of the last two of a triangle
  yw_vec3 normal;
  float distance, gap_before;  ///< m, as in yw_contact
  bool vertex;                 ///< and a triangle; otherwise two edges
  bool swapped;                ///< side 0 is the second body of its batch
} yw_contact_spare;

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

/// What the guard did to a particle: in this round, in any, to get it out of the way of an
/// obstacle.
enum yw_moved { YW_MOVED_NOW = 1, YW_MOVED_EVER = 2, YW_MOVED_ASIDE = 4 };

/// Box of the path of a particle, with its radius. The fourth entries mean nothing.
typedef struct yw_path_box {
  yw_vec4 lower, upper;
} yw_path_box;

/// A body during one call of resolve.
typedef struct yw_contact_work {
  const yw_contact_body* body;
  const yw_complex* complex;
  const int32_t* vertices;    ///< of the complex; of loose points as sorted now
  const int32_t (*edges)[2];  ///< likewise
  const int32_t* places;      ///< per particle: its index among the vertices
  yw_sort_item *order, *scratch;
  int32_t *sorted_vertices, *sorted_places;  ///< memory of loose points
  int32_t (*sorted_edges)[2];
  yw_box_tree leaves;
  yw_path_box* path_boxes;  ///< per particle
  yw_box_block* boxes;      ///< of primitives, see leaf_boxes.h
  yw_aabb box;
  uint64_t* flat_edges;  ///< per leaf of a sheet: one bit per edge, see sheets.h; otherwise NULL
  struct yw_patch_pose* poses;  ///< per leaf, of a body that may touch itself; otherwise NULL
  yw_vec4* predicted;           ///< ends of the paths that detection looks at, per particle
  yw_vec4* anchor;              ///< where particles began when lasting pairs were found
  uint8_t* moved;               ///< yw_moved flags of the guard, per particle
  uint8_t* unsettled;           ///< per leaf: the guard has to look at it
  uint8_t* needed;              ///< per leaf: it meets a leaf of another body, or may
  struct yw_nearby* nearby;     ///< of an obstacle that is placed near others alone; or NULL
  bool any_unsettled;
  yw_vec3 way;       ///< m, of the body as a whole, see aside.h
  float turn;        ///< m, way of its corners as it turns as a whole
  float leeway;      ///< m, how far contact may move particles off their paths until pairs
                     ///< have to be searched again
  bool calm;         ///< that is little
  bool strayed;      ///< contact moved some farther
  bool outdated;     ///< its boxes are those of the paths before contact was solved
  float longest;     ///< m, way of a surface particle
  float usual;       ///< m, the same of all, rms
  float max_radius;  ///< m, of a surface particle
  float margin;      ///< m, by which the guard may move particles beyond their paths
  bool active;       ///< may touch something
  bool apart;        ///< nothing is near it, and only `box` is fitted; see apart.h
  uint8_t role;      ///< how it took part when lasting pairs were found
  bool fitted;       ///< all of it was, in this call
} yw_contact_work;

/// Leaves first .. end - 1 of body a against body b; a == b is self-contact.
typedef struct yw_contact_job {
  int32_t a, b;
  int32_t first, end;
  bool obstacles;  ///< vertices of a against obstacles instead
  // What was found, in the list of its block. After the contacts there is room for the spares.
  int32_t first_contact, num_contacts;
  int32_t first_spare, num_spares;
  int32_t first_kept, num_kept;
} yw_contact_job;

/// What detection is asked for.
typedef enum yw_touch_mode {
  YW_TOUCH_CONTACTS,  ///< contacts along the paths
  YW_TOUCH_LOOK,      ///< pairs that are not known to stay apart along the paths
  YW_TOUCH_PAIRS      ///< near pairs for the guard, in leaves that are not settled
} yw_touch_mode;

/// What has to be done about the paths.
typedef enum yw_touch_need {
  YW_TOUCH_NOTHING,  ///< everything is known to stay apart
  YW_TOUCH_PRESSED,  ///< some that were in contact at the start are pressed together
  YW_TOUCH_HIT       ///< some that were apart may hit each other
} yw_touch_need;

typedef struct yw_touch_step {
  yw_touch_mode mode;
  bool keep;     ///< pairs are kept that have to be looked at again
  bool lasting;  ///< those last for the next parts of the substep, too; see parts.h
  bool again;    ///< pairs that were kept are looked at; nothing is searched
  float h;       ///< s
  float fall;    ///< m, in the substep under gravity
  const yw_near_fns* near;
  const struct yw_sift_fns* sift;
} yw_touch_step;

#define YW_TOUCH_MAX_HITS 8

/// Lists of fixed capacity. The counts keep growing when they are full: the caller learns the size.
typedef struct yw_contact_list {
  yw_contact* contacts;
  yw_contact_spare* spares;
  yw_near_pair* pairs;
  /// Pairs of primitives to look at again when contact is solved; the second number also says in
  /// which search they were found.
  int32_t (*kept)[2];
  int32_t num_contacts, num_spares, num_pairs, num_kept;
  int32_t num_fixed;  ///< pairs held by the guard
  yw_touch_need need;
  int32_t num_hits;  ///< pairs of bodies that may hit each other; more than have room: many
  int32_t hits[YW_TOUCH_MAX_HITS][2];
  int32_t contact_capacity, spare_capacity, pair_capacity, kept_capacity;
} yw_contact_list;

/// Notes where the particles are as the ends of their paths and fits the boxes of all paths;
/// `sort`: loose points are sorted first. tasks: NULL to do all in this thread.
void yw_touch_fit(yw_contact_work* work, bool sort, yw_tasks* tasks);
/// Fits the box of the path of a particle to `begin` and `predicted`.
void yw_touch_fit_path(const yw_contact_work* work, int32_t particle);
/// From the longest way of a particle: sets the leeway, and whether that is little.
void yw_touch_set_leeway(yw_contact_work* work);
/// Half of the distance at which two bodies have to be looked at, m; never less than
/// yw_touch_find needs. leeway: of pairs that are kept.
float yw_touch_room(const yw_contact_work* work, const yw_touch_step* step, float leeway);
/// The same when it is not known yet whether pairs are kept.
float yw_touch_most_room(const yw_contact_work* work, const yw_touch_step* step);
/// Fits the boxes of vertices, edges and triangles in the leaves that are needed. near: finds the
/// flat edges of sheets; NULL: nobody asks.
void yw_touch_fit_primitives(const yw_contact_work* work, const yw_near_fns* near, yw_tasks* tasks);
/// Marks the leaves of both bodies that a search between them may look at.
void yw_touch_mark(const yw_contact_work* a, const yw_contact_work* b, const yw_touch_step* step);
/// After contact was solved: notes whether a particle is off its path by more than the leeway.
void yw_touch_follow(yw_contact_work* work, yw_tasks* tasks);
/// Notes where the particles are; the boxes stay as they are.
void yw_touch_predict(yw_contact_work* work);
/// Appends the contacts or near pairs of a job, or raises the need.
void yw_touch_find(const yw_contact_work* works, yw_contact_job* job, const yw_touch_step* step,
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
static inline yw_vec3 yw_touch_path_end(const yw_contact_work* work, int32_t particle) {
  return yw_xyz(work->predicted[particle]);
}
static inline float yw_touch_radius(const yw_contact_work* work, int32_t particle) {
  const float* radius = work->body->geometry.radius;
  return radius ? radius[particle] : 0.0f;
}
/// Leeway in mean edges beyond which too many pairs would have to be kept (tuned on boxes and
/// cloth).
#define YW_MOST_LEEWAY 0.05f
/// The same of pairs that last for several parts of a substep (tuned on five teddies in a bin).
#define YW_LASTING_LEEWAY 0.3f
/// Overlap with which bodies may rest, in skins.
#define YW_TOUCH_SLOP 0.2f
/// m, kept between the surfaces of two bodies at rest on each other.
static inline float yw_touch_skin(const yw_contact_work* a, const yw_contact_work* b) {
  float size = a->complex->size < b->complex->size ? a->complex->size : b->complex->size;
  float skin = a->body->skin > 0.0f ? a->body->skin : b->body->skin;
  return skin > 0.0f ? skin : 0.004f * size;
}

#endif
