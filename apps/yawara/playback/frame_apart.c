// SPDX-License-Identifier: MIT
// Shown surfaces of a frame, kept apart from each other and from obstacles. Obstacles with a
// surface take part as bodies that do not move.
#include "playback/frame.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/shown.h"
#include "yawara/extend/vec.h"

/// All arrays are scratch of one frame.
typedef struct gathering {
  yw_shown_body* bodies;
  yw_shown_obstacle* planes;
  yw_shape** shapes;  ///< of the planes
  yw_vec3* posed;     ///< vertices of obstacles
  int32_t num_bodies, num_planes;
} gathering;

static yw_shown_body describe(const frame_body* body, const shown_body* shown,
                              const shown_model* model, yw_vec3* surface) {
  yw_shown_body out = {0};
  // Surfaces that matter may leave behind keep nothing out.
  if (!body->active || !shown->touches || !surface || body->radii) return out;
  out = (yw_shown_body){.num_vertices = model->surface.num_vertices,
                        .vertices = surface,
                        .num_triangles = model->surface.num_triangles,
                        .triangles = model->surface.triangles};
  if (model->kind != SHOWN_EMBEDDED) return out;
  out.walls = model->walls;
  out.num_walls = model->num_walls;
  out.positions = body->positions;
  out.num_positions = model->tets.num_vertices;
  return out;
}

static bool make_room(const shown_scene* shown, gathering* g) {
  size_t vertices = 0;
  for (int32_t i = 0; i < shown->num_obstacles; ++i) {
    vertices += (size_t)shown->obstacles[i].surface.num_vertices;
  }
  size_t obstacles = (size_t)shown->num_obstacles;
  g->bodies = YW_NEW_ARRAY(NULL, yw_shown_body, (size_t)shown->num_bodies + obstacles);
  g->planes = YW_NEW_ARRAY(NULL, yw_shown_obstacle, obstacles);
  g->shapes = YW_NEW_ARRAY(NULL, yw_shape*, obstacles);
  g->posed = YW_NEW_ARRAY(NULL, yw_vec3, vertices);
  return g->bodies && g->planes && g->shapes && g->posed;
}

static bool add_plane(gathering* g, const shown_obstacle* obstacle, yw_transform pose) {
  yw_shape** shape = &g->shapes[g->num_planes];
  yw_status status = yw_shape_plane(NULL, obstacle->normal, obstacle->offset, shape);
  if (status >= 0) g->planes[g->num_planes++] = (yw_shown_obstacle){*shape, pose};
  return status != YW_ERR_MEMORY;
}

static bool add_obstacles(const shown_scene* shown, const frame_data* frame, gathering* g) {
  yw_vec3* next = g->posed;
  for (int32_t i = 0; i < shown->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    const yw_tri_mesh* surface = &obstacle->surface;
    if (obstacle->plane && !add_plane(g, obstacle, frame->obstacles[i])) return false;
    // Meshes that deform have no inside to be kept out of.
    bool solid = !obstacle->plane && obstacle->animation.num_frames == 0;
    if (!solid || surface->num_triangles == 0) continue;
    g->bodies[g->num_bodies++] = (yw_shown_body){.num_vertices = surface->num_vertices,
                                                 .vertices = next,
                                                 .num_triangles = surface->num_triangles,
                                                 .triangles = surface->triangles};
    for (int32_t k = 0; k < surface->num_vertices; ++k) {
      *next++ = yw_transform_point(frame->obstacles[i], surface->positions[k]);
    }
  }
  return true;
}

yw_status frame_keep_apart(const frame_data* frame, const shown_scene* shown,
                           yw_vec3* const* surfaces) {
  bool any = false;
  for (int32_t i = 0; i < shown->num_bodies; ++i) {
    any = any || shown_model_of(shown, i)->kind == SHOWN_EMBEDDED;
  }
  if (!any) return YW_OK;
  gathering g = {.num_bodies = shown->num_bodies};
  bool made = make_room(shown, &g);
  for (int32_t i = 0; made && i < shown->num_bodies; ++i) {
    const shown_model* model = shown_model_of(shown, i);
    g.bodies[i] = describe(&frame->bodies[i], &shown->bodies[i], model, surfaces[i]);
  }
  yw_status status = made && add_obstacles(shown, frame, &g) ? YW_OK : YW_ERR_MEMORY;
  yw_shown_scene scene = {g.num_bodies, g.num_planes, g.bodies, g.planes};
  if (status >= 0) status = yw_shown_keep_apart(&scene, -1);
  for (int32_t i = 0; i < g.num_planes; ++i) yw_shape_release(g.shapes[i]);
  yw_mem_free(NULL, g.bodies);
  yw_mem_free(NULL, g.planes);
  yw_mem_free(NULL, g.shapes);
  yw_mem_free(NULL, g.posed);
  return status;
}
