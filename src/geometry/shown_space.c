// SPDX-License-Identifier: MIT
// Which bodies and obstacles a shown surface is kept out of. A grid finds bodies whose boxes meet;
// only these get trees, which are built once per body and then fitted to its positions.
#include "geometry/shown_space.h"

#include <string.h>

#include "geometry/shape_mesh_normals.h"
#include "yawara/extend/memory.h"

// What is deeper in another body or obstacle than so many mean edges is left there: the nearest way
// out may be the wrong one.
#define REACH 1.0f

// Walls -------------------------------------------------------------------------------------------

/// The triangles that others are kept out of.
typedef struct outline {
  int32_t num_vertices, num_triangles;
  const yw_vec3 *positions, *rest;
  const int32_t* triangles;
} outline;

static outline outline_of(const yw_shown_entry* entry) {
  const yw_shown_body* b = &entry->shown;
  if (b->walls) {
    return (outline){b->num_positions, b->num_walls, b->positions, entry->rest_positions, b->walls};
  }
  return (outline){b->num_vertices, b->num_triangles, b->vertices, entry->rest_vertices,
                   b->triangles};
}

static void measure(const yw_shown_entry* entry) {
  outline o = outline_of(entry);
  yw_shown_wall* out = entry->wall;
  double sum = 0.0;
  out->is_fitted = false;
  out->box = yw_aabb_empty();
  for (size_t n = 0; n < 3 * (size_t)o.num_triangles; ++n) {
    yw_vec3 a = o.positions[o.triangles[n]];
    yw_vec3 b = o.positions[o.triangles[n % 3 == 2 ? n - 2 : n + 1]];
    out->box = yw_aabb_grow(out->box, a);
    sum += (double)yw_distance(a, b);
  }
  // Numbers that are not finite make no wall.
  float edge = o.num_triangles > 0 ? (float)(sum / (3.0 * o.num_triangles)) : 0.0f;
  out->edge = isfinite(edge) ? edge : 0.0f;
}

static yw_status build(const yw_allocator* mem, const yw_shown_entry* entry) {
  yw_shown_wall* wall = entry->wall;
  outline o = outline_of(entry);
  int32_t num_vertices = entry->shown.num_vertices;
  if (wall->is_built) return YW_OK;
  yw_mem_free(mem, wall->place);
  wall->place = YW_NEW_ARRAY(mem, int32_t, num_vertices);
  if (!wall->place ||
      !yw_first_at_positions(mem, num_vertices, entry->rest_vertices, wall->place)) {
    return YW_ERR_MEMORY;
  }
  yw_status status =
      yw_wall_create(mem, o.num_vertices, o.rest, o.num_triangles, o.triangles, &wall->wall);
  wall->is_built = status >= 0;
  return status;
}

static yw_status fit(const yw_allocator* mem, const yw_shown_entry* entry) {
  if (entry->wall->is_fitted) return YW_OK;
  yw_status status = build(mem, entry);
  if (status < 0) return status;
  yw_wall_fit(&entry->wall->wall, outline_of(entry).positions);
  entry->wall->is_fitted = true;
  return YW_OK;
}

void yw_shown_wall_free(const yw_allocator* mem, yw_shown_wall* wall) {
  if (wall->is_built) yw_wall_free(&wall->wall);
  yw_mem_free(mem, wall->place);
  *wall = (yw_shown_wall){0};
}

// Space -------------------------------------------------------------------------------------------

yw_status yw_shown_space_create(const yw_allocator* mem, int32_t num_entries,
                                const yw_shown_entry* entries, yw_shown_space* out) {
  *out = (yw_shown_space){
      .mem = yw_mem_or_default(mem), .num_entries = num_entries, .entries = entries};
  out->boxes = YW_NEW_ARRAY(mem, yw_aabb, num_entries);
  if (!out->boxes) return YW_ERR_MEMORY;
  for (int32_t k = 0; k < num_entries; ++k) {
    measure(&entries[k]);
    // Bodies without a wall are far from everything.
    bool none = !(entries[k].wall->edge > 0.0f);
    out->boxes[k] = none ? (yw_aabb){{0, 0, 0}, {0, 0, 0}} : entries[k].wall->box;
  }
  yw_status status = yw_box_grid_create(mem, num_entries, out->boxes, &out->grid);
  if (status < 0) yw_shown_space_free(out);
  return status;
}

void yw_shown_space_free(yw_shown_space* space) {
  yw_box_grid_free(&space->grid);
  yw_mem_free(&space->mem, space->boxes);
  *space = (yw_shown_space){0};
}

/// Collects the bodies whose boxes meet.
typedef struct search {
  const yw_shown_space* space;
  yw_shown_mover* mover;
} search;

static void add_near(void* context, int32_t box) {
  const search* s = context;
  const yw_shown_entry* entry = &s->space->entries[box];
  bool other = entry->wall != s->mover->own && entry->wall->edge > 0.0f;
  if (other) s->mover->near[s->mover->num_near++] = entry;
}

static yw_status find_near(yw_shown_space* space, const yw_shown_entry* own, yw_aabb box,
                           yw_shown_mover* mover) {
  search s = {space, mover};
  yw_box_grid_query(&space->grid, yw_aabb_pad(box, mover->reach), add_near, &s);
  yw_status status = mover->num_near > 0 ? fit(&space->mem, own) : YW_OK;
  for (int32_t k = 0; k < mover->num_near && status >= 0; ++k) {
    status = fit(&space->mem, mover->near[k]);
  }
  return status;
}

static void find_obstacles(int32_t count, const yw_shown_obstacle* obstacles, yw_aabb box,
                           yw_shown_mover* mover) {
  yw_vec3 center = yw_lerp(box.lower, box.upper, 0.5f);
  float radius = yw_distance(center, box.upper);
  for (int32_t k = 0; k < count; ++k) {
    const yw_shown_obstacle* o = &obstacles[k];
    yw_vec3 local = yw_transform_point_inv(o->pose, center);
    if (o->pose.scale * yw_shape_distance(o->shape, local) < radius) {
      mover->obstacles[mover->num_obstacles++] = o;
    }
  }
}

static yw_status move(const yw_allocator* mem, yw_shown_space* space, const yw_shown_entry* own,
                      int32_t num_obstacles, const yw_shown_obstacle* obstacles,
                      yw_shown_mover* mover) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < own->shown.num_vertices; ++i) {
    box = yw_aabb_grow(box, own->shown.vertices[i]);
  }
  yw_status status = space ? find_near(space, own, box, mover) : YW_OK;
  if (status < 0) return status;
  find_obstacles(num_obstacles, obstacles, box, mover);
  if (mover->num_near + mover->num_obstacles == 0) return YW_OK;
  status = build(mem, own);
  return status < 0 ? status : yw_shown_mover_run(mem, mover);
}

yw_status yw_shown_space_move(const yw_allocator* mem, yw_shown_space* space,
                              const yw_shown_entry* own, int32_t num_obstacles,
                              const yw_shown_obstacle* obstacles, yw_tasks* tasks) {
  if (!own->shown.walls || own->shown.num_vertices == 0) return YW_OK;
  if (!space) measure(own);
  if (!(own->wall->edge > 0.0f)) return YW_OK;
  yw_shown_mover mover = {
      .body = &own->shown, .own = own->wall, .reach = REACH * own->wall->edge, .tasks = tasks};
  mover.near = YW_NEW_ARRAY(mem, const yw_shown_entry*, space ? space->num_entries : 0);
  mover.obstacles = YW_NEW_ARRAY(mem, const yw_shown_obstacle*, num_obstacles);
  yw_status status = YW_ERR_MEMORY;
  if (mover.near && mover.obstacles) {
    status = move(mem, space, own, num_obstacles, obstacles, &mover);
  }
  yw_mem_free(mem, mover.near);
  yw_mem_free(mem, mover.obstacles);
  return status;
}

// A scene once ------------------------------------------------------------------------------------

yw_status yw_shown_keep_apart(const yw_shown_scene* scene, int32_t body) {
  if (!scene || body < -1 || body >= scene->num_bodies) return YW_ERR_INVALID;
  yw_shown_space space = {0};
  yw_shown_entry* entries = YW_NEW_ARRAY(NULL, yw_shown_entry, scene->num_bodies);
  yw_shown_wall* walls = YW_NEW_ARRAY(NULL, yw_shown_wall, scene->num_bodies);
  bool made = entries && walls;
  for (int32_t k = 0; k < scene->num_bodies && made; ++k) {
    const yw_shown_body* shown = &scene->bodies[k];
    entries[k] = (yw_shown_entry){*shown, shown->vertices, shown->positions, &walls[k]};
  }
  yw_status status = YW_ERR_MEMORY;
  if (made) status = yw_shown_space_create(NULL, scene->num_bodies, entries, &space);
  for (int32_t k = 0; k < scene->num_bodies && status >= 0; ++k) {
    if (body >= 0 && body != k) continue;
    status = yw_shown_space_move(NULL, &space, &entries[k], scene->num_obstacles, scene->obstacles,
                                 NULL);
  }
  for (int32_t k = 0; k < scene->num_bodies && made; ++k) yw_shown_wall_free(NULL, &walls[k]);
  yw_shown_space_free(&space);
  yw_mem_free(NULL, entries);
  yw_mem_free(NULL, walls);
  return status;
}
