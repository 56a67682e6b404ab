// SPDX-License-Identifier: MIT
// The bodies of one moment and what keeps their shown surfaces apart, see shown_space.c.
#ifndef YW_GEOMETRY_SHOWN_SPACE_H
#define YW_GEOMETRY_SHOWN_SPACE_H

#include "geometry/box_grid.h"
#include "geometry/wall.h"
#include "yawara/extend/shown.h"
#include "yawara/extend/tasks.h"

/// What is kept of a body from one moment to the next. Zero it first; yw_shown_wall_free.
typedef struct yw_shown_wall {
  yw_wall wall;    ///< built when another body is near for the first time
  int32_t* place;  ///< per shown vertex: the first at its place, which decides for all of them
  bool is_built;
  bool is_fitted;  ///< to the positions of this moment
  yw_aabb box;     ///< m
  float edge;      ///< mean length, m; 0: nothing to keep away from
} yw_shown_wall;

typedef struct yw_shown_entry {
  yw_shown_body shown;
  /// The same at rest: trees are built there, so that no result depends on earlier moments.
  const yw_vec3 *rest_vertices, *rest_positions;
  yw_shown_wall* wall;  ///< not owned
} yw_shown_entry;

typedef struct yw_shown_space {
  yw_allocator mem;
  int32_t num_entries;
  const yw_shown_entry* entries;  ///< not owned
  yw_aabb* boxes;
  yw_box_grid grid;
} yw_shown_space;

/// A new moment. Bodies with walls need no vertices yet.
yw_status yw_shown_space_create(const yw_allocator* mem, int32_t num_entries,
                                const yw_shown_entry* entries, yw_shown_space* out);
void yw_shown_space_free(yw_shown_space* space);
void yw_shown_wall_free(const yw_allocator* mem, yw_shown_wall* wall);

/// Moves the vertices of a body out of the others of the space (NULL: there are none) and out of
/// obstacles. tasks may be NULL.
yw_status yw_shown_space_move(const yw_allocator* mem, yw_shown_space* space,
                              const yw_shown_entry* own, int32_t num_obstacles,
                              const yw_shown_obstacle* obstacles, yw_tasks* tasks);

/// One body and what is near it.
typedef struct yw_shown_mover {
  const yw_shown_body* body;
  const yw_shown_wall* own;
  int32_t num_near, num_obstacles;
  const yw_shown_entry** near;
  const yw_shown_obstacle** obstacles;
  float reach;      ///< m, how far others are looked for
  yw_tasks* tasks;  ///< may be NULL
} yw_shown_mover;

/// shown.c: moves the vertices.
yw_status yw_shown_mover_run(const yw_allocator* mem, const yw_shown_mover* mover);
/// shown_home.c: moves vertices that are nearer to others than to their own body. moved: the places
/// to look at; steps: zeros; set: any; all per vertex, and used up.
void yw_shown_go_home(const yw_shown_mover* mover, float gap, bool* moved, yw_vec3* steps,
                      int32_t* set);

#endif
