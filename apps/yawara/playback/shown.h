// SPDX-License-Identifier: MIT
// Everything that pictures and exports of a run need besides its frames, and that does not change
// from frame to frame: topology, looks, obstacles, lights, camera. Built from a scene, or read from
// a run folder, which then needs neither the scene nor its meshes.
#ifndef YW_APP_PLAYBACK_SHOWN_H
#define YW_APP_PLAYBACK_SHOWN_H

#include "render/trace/render.h"
#include "yawara/extend/stream.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define SHOWN_MAX_NAME 224  // bytes, the 0 at the end included

/// How the vertices of a surface are computed. The values are stored in files.
typedef enum shown_surface {
  SHOWN_PARTICLES = 0,  ///< no surface: particles are shown
  SHOWN_BOUNDARY = 1,   ///< each is a vertex of the mesh
  SHOWN_OWN = 3,        ///< stored in the frames
  SHOWN_EMBEDDED = 4,   ///< each follows those around it, see yw_surface_rig
} shown_surface;

/// Shared by all bodies built alike.
typedef struct shown_model {
  char method[16];
  yw_tet_mesh tets;   ///< at rest; without tets for rods and sheets, empty for loose particles
  int32_t* elements;  ///< lines of rods, triangles of sheets: `corners` particles each, or NULL
  int32_t corners, num_elements;
  yw_tri_mesh surface;  ///< at rest
  shown_surface kind;   ///< of the surface
  int32_t* vertices;    ///< of a BOUNDARY surface, one per vertex; otherwise NULL
  // Of an EMBEDDED surface, see yw_surface_rig
  int32_t num_carriers;  ///< tets that it follows; 0: those of the model
  int32_t* carriers;     ///< 4 vertices each
  int32_t* first;
  yw_surface_link* links;
  int32_t num_walls;  ///< triangles of the boundary of the tets
  int32_t* walls;     ///< 3 vertices of the tets each
  char* source;       ///< what its file adds, see obj_source.h; NULL: nothing
  /// Of a sheet with two sides that was made of a file: what that says of its triangles, the
  /// elements; NULL: it is none.
  char* sheet_source;
} shown_model;

typedef struct shown_look {
  yw_vec3 color;   ///< linear RGB
  float gloss;     ///< 0 chalk, 0.5 rubber, 1 wet jelly
  float crease;    ///< edges that turn by more than this stay sharp, degrees
  float checker;   ///< side of checker squares, m; 0: none
  yw_vec3 color2;  ///< of every other square of a plane
  bool visible;
} shown_look;

typedef struct shown_body {
  char name[SHOWN_MAX_NAME];
  int32_t model;  ///< index in shown_scene.models
  double mass;    ///< kg, at the start
  shown_look look;
  bool touches;  ///< other bodies
  /// Linear RGB of each vertex of the surface, or of each particle if there is none. num_colors 0:
  /// the look's color, or the colors of the model's surface if it has any.
  yw_vec3* colors;
  int32_t num_colors;
} shown_body;

typedef struct shown_obstacle {
  char name[SHOWN_MAX_NAME];
  shown_look look;
  bool plane;      ///< the half space normal . p <= offset; otherwise the surface
  bool unbounded;  ///< the surface is only the part near the origin
  yw_vec3 normal;
  float offset;         ///< m
  yw_tri_mesh surface;  ///< in its own coordinates, before the pose, like the plane
  /// Of the vertices of the surface; its points are owned. No frames: the shape does not change.
  yw_mesh_animation animation;
} shown_obstacle;

typedef struct shown_scene {
  bool has_camera;  ///< false: pictures choose a camera that sees everything
  yw_camera camera;
  yw_render_sun sun;
  yw_render_sky sky;
  float exposure;
  int32_t num_models, num_bodies, num_obstacles;
  shown_model* models;
  shown_body* bodies;
  shown_obstacle* obstacles;
} shown_scene;

/// Copies everything. scene may be NULL: bodies have a plain look and there are no obstacles.
yw_status shown_create(const yw_scene* scene, const yw_world* world, shown_scene** out,
                       yw_error* error);
void shown_destroy(shown_scene* shown);  ///< NULL is allowed

/// For yw_surface_rig_move. The surface must be EMBEDDED; `tets` is filled in for the rig to use.
yw_surface_rig shown_model_rig(const shown_model* model, yw_tet_mesh* tets);

/// Particles of a sheet with two sides, each of which has a vertex per particle; 0: it is none.
int32_t shown_sheet_particles(const shown_model* model);

static inline const shown_model* shown_model_of(const shown_scene* shown, int32_t body) {
  return &shown->models[shown->bodies[body].model];
}
/// Plane or surface of an obstacle's shape.
/// Finds the walls of all models, which are not stored. False if out of memory.
bool shown_find_walls(shown_scene* shown);
yw_status shown_obstacle_shape(const yw_shape* shape, shown_obstacle* out, yw_error* error);
/// A mesh that deforms.
yw_status shown_obstacle_mesh(const yw_mesh_animation* animation, int32_t num_triangles,
                              const int32_t* triangles, shown_obstacle* out, yw_error* error);
/// Where vertex i of its surface is, with its pose at that time.
static inline yw_vec3 shown_obstacle_vertex(const shown_obstacle* obstacle, int32_t i, double time,
                                            yw_transform pose) {
  bool moves = obstacle->animation.num_frames > 0;
  return yw_transform_point(pose, moves ? yw_mesh_animation_point(&obstacle->animation, i, time)
                                        : obstacle->surface.positions[i]);
}

void shown_write(const shown_scene* shown, yw_writer* writer);
/// Reads to the end of the bytes, checking sizes and indices: YW_ERR_FORMAT if they are invalid.
yw_status shown_read(yw_reader* reader, shown_scene** out);

#endif
