// SPDX-License-Identifier: MIT
// Queries: what a ray, a moving ball, a box or a point meets in a world, as it stands between two
// steps. docs/game.md
//
// Bodies are seen as contact sees them: volumes as their outer triangles, sheets as triangles and
// rods as segments with their thickness, loose matter as balls. Bodies that wait for their start
// are not seen.
//
// All functions may be called from several threads at once. Trees of boxes are fitted by the first
// query after a change, and only for the bodies that are looked at; after that a query takes
// O(log n) of the bodies and of their triangles, and allocates nothing. Obstacles are tested one by
// one.
#ifndef YAWARA_QUERY_H
#define YAWARA_QUERY_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which bodies and obstacles a query sees.
typedef struct yw_query_filter {
  uint32_t mask;           ///< those that are in at least one of these groups; default all
  bool bodies, obstacles;  ///< default true
  yw_body_id ignored;      ///< this body is not seen, e.g. the one that asks; default null
  bool skip_inside;        ///< casts do not see what they start in; default false
} yw_query_filter;
YW_API yw_query_filter yw_default_query_filter(void);

/// A place on the surface of a body or obstacle.
typedef struct yw_hit {
  yw_body_id body;          ///< null: an obstacle
  yw_obstacle_id obstacle;  ///< null: a body
  yw_vec3 point;            ///< m, on the surface. A cast that starts inside: where it starts
  yw_vec3 normal;           ///< unit vector, out of the body or obstacle
  /// m. Casts: how far they got. Others: from the given point to the surface, negative inside.
  float distance;
  bool inside;           ///< the cast started, or the given point lies, inside
  int32_t triangle;      ///< number of the triangle, segment or ball on its body; -1: an obstacle
  int32_t num_vertices;  ///< 3: triangle, 2: segment of a rod, 1: ball, 0: obstacle
  int32_t vertices[3];   ///< in the order of yw_body_positions
  float weights[3];      ///< barycentric coordinates of the nearest point of the triangle or
                         ///< segment; sum to 1
} yw_hit;

// All return the number of hits (0: nothing), or a negative yw_status: YW_ERR_INVALID for numbers
// that are not finite or a negative size, YW_ERR_MEMORY. filter may be NULL (default). Of hits
// that are as near, those of bodies come before those of obstacles, older bodies before younger.

/// First thing on the way from origin to origin + translation (m). A translation of length 0 meets
/// what it starts in, and nothing else.
YW_API int32_t yw_world_cast_ray(const yw_world* world, yw_vec3 origin, yw_vec3 translation,
                                 const yw_query_filter* filter, yw_hit* out);
/// The first hit with every body and obstacle on the way, nearest first; the `capacity` nearest
/// ones are written.
YW_API int32_t yw_world_cast_ray_all(const yw_world* world, yw_vec3 origin, yw_vec3 translation,
                                     const yw_query_filter* filter, yw_hit* out, int32_t capacity);
/// First thing that a ball touches on its way; radius in m, >= 0.
YW_API int32_t yw_world_cast_ball(const yw_world* world, yw_vec3 center, float radius,
                                  yw_vec3 translation, const yw_query_filter* filter, yw_hit* out);

/// The nearest surface, at most max_distance (m, >= 0 or INFINITY) away. Inside of something: the
/// deepest.
YW_API int32_t yw_world_nearest(const yw_world* world, yw_vec3 point, float max_distance,
                                const yw_query_filter* filter, yw_hit* out);
/// Everything that a ball overlaps, in order of creation, bodies first, each with its surface
/// nearest to the centre. The first `capacity` ones are written; returns how many there are.
YW_API int32_t yw_world_overlap_ball(const yw_world* world, yw_vec3 center, float radius,
                                     const yw_query_filter* filter, yw_hit* out, int32_t capacity);
/// The same for a box of half_size (m, >= 0 each), turned by `rotation` about its centre. The hit
/// is the surface in the box that is nearest to the centre; in a body that encloses the whole box,
/// the nearest of all. Obstacles that are not convex may be missed where they reach into the box
/// by a tip only.
YW_API int32_t yw_world_overlap_box(const yw_world* world, yw_vec3 center, yw_vec3 half_size,
                                    yw_quat rotation, const yw_query_filter* filter, yw_hit* out,
                                    int32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
