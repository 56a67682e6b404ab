// SPDX-License-Identifier: MIT
#include "world/obstacle_surface.h"

#include <string.h>

#include "geometry/shape.h"
#include "world/world.h"

// Of the half thickness of a mesh, what its triangles are thinner here.
#define MESH_INSET 0.1f
// Of the inset, what contact keeps.
#define SKIN_SHARE 0.98f
// Friction of sticky obstacles: with any other friction enough to stop what touches.
#define STICKY_FRICTION 1e12f
// Triangles from which a surface is large.
#define LARGE_SURFACE 256
// Room around the paths of a body in which obstacles are looked at, as a share of its size.
#define NEAR_SHARE 0.05f

static bool make_room(const yw_allocator* mem, yw_obstacle_surface* s, int32_t points,
                      int32_t triangles) {
  s->rest = YW_NEW_ARRAY(mem, yw_vec3, points);
  s->begin = YW_NEW_ARRAY(mem, yw_vec4, points);
  s->triangles = YW_NEW_ARRAY(mem, int32_t, 3 * (size_t)triangles);
  if (!s->rest || !s->begin || !s->triangles) return false;
  if (!yw_particles_create(mem, points, &s->particles)) return false;
  // They have masses, for sums, but nothing moves them.
  for (int32_t i = 0; i < points; ++i) s->particles.mass[i] = 1.0f;
  memset(s->particles.inv_mass, 0, (size_t)points * sizeof *s->particles.inv_mass);
  s->geometry =
      (yw_contact_geometry){.triangles = s->triangles, .num_triangles = triangles, .rest = s->rest};
  return true;
}

static bool fill_from_shape(const yw_allocator* mem, yw_obstacle_surface* s,
                            const yw_tri_mesh* mesh, float inset) {
  if (!make_room(mem, s, mesh->num_vertices, mesh->num_triangles)) return false;
  memcpy(s->rest, mesh->positions, (size_t)mesh->num_vertices * sizeof *s->rest);
  memcpy(s->triangles, mesh->triangles, 3 * (size_t)mesh->num_triangles * sizeof *s->triangles);
  s->skin = SKIN_SHARE * inset;
  return true;
}

static bool fill_from_mesh(const yw_allocator* mem, yw_obstacle_surface* s,
                           const yw_moving_mesh* mesh) {
  if (!make_room(mem, s, mesh->num_vertices, mesh->num_triangles)) return false;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    s->rest[i] = yw_mesh_moment_point(&mesh->begin, i);
  }
  memcpy(s->triangles, mesh->triangles, (size_t)mesh->num_triangles * sizeof *mesh->triangles);
  s->radius = YW_NEW_ARRAY(mem, float, mesh->num_vertices);
  if (!s->radius) return false;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    s->radius[i] = (1.0f - MESH_INSET) * mesh->radius;
  }
  s->geometry.radius = s->radius;
  s->mesh = mesh;
  s->skin = SKIN_SHARE * MESH_INSET * mesh->radius;
  return true;
}

yw_status yw_obstacle_surface_create(const yw_allocator* mem, const yw_shape* shape,
                                     const yw_moving_mesh* mesh, yw_obstacle_surface** out) {
  *out = NULL;
  yw_tri_mesh triangles = {0};
  float inset = 0.0f;
  if (shape) {
    yw_status status = yw_shape_triangles(shape, mem, &triangles, &inset);
    if (status < 0 || triangles.num_triangles == 0) return status;
  }
  yw_obstacle_surface* s = YW_NEW(mem, yw_obstacle_surface);
  bool made =
      s && (shape ? fill_from_shape(mem, s, &triangles, inset) : fill_from_mesh(mem, s, mesh));
  yw_tri_mesh_free(&triangles);
  if (!made) yw_obstacle_surface_destroy(mem, s);
  if (made) *out = s;
  return made ? YW_OK : YW_ERR_MEMORY;
}

void yw_obstacle_surface_destroy(const yw_allocator* mem, yw_obstacle_surface* s) {
  if (!s) return;
  yw_particles_free(mem, &s->particles);
  yw_mem_free(mem, s->rest);
  yw_mem_free(mem, s->begin);
  yw_mem_free(mem, s->triangles);
  yw_mem_free(mem, s->radius);
  yw_mem_free(mem, s);
}

static yw_aabb place(void* context, int32_t i) {
  yw_obstacle_surface* s = context;
  yw_vec3 first = s->mesh ? yw_mesh_moment_point(&s->mesh->begin, i) : s->rest[i];
  yw_vec3 last = s->mesh ? yw_mesh_moment_point(&s->mesh->end, i) : s->rest[i];
  yw_vec3 from = yw_transform_point(s->source.begin, first);
  yw_vec3 to = yw_transform_point(s->source.end, last);
  s->begin[i] = yw_v4(from);
  s->particles.pos[i] = yw_v4(to);
  s->particles.vel[i] = yw_v4(yw_scale(yw_sub(to, from), 1.0f / s->h));
  return (yw_aabb){yw_min3(first, last), yw_max3(first, last)};
}

static yw_aabb reach(const void* context, int32_t i) {
  const yw_obstacle_surface* s = context;
  return s->mesh ? s->mesh->reaches[i] : (yw_aabb){s->rest[i], s->rest[i]};
}

static uint64_t version_of(const yw_moving_mesh* mesh) {
  return mesh ? (uint64_t)mesh->covers[0].frame << 32 | (uint32_t)mesh->covers[1].frame : 0;
}

bool yw_obstacle_surface_is_large(const yw_obstacle_surface* s) {
  return s->geometry.num_triangles >= LARGE_SURFACE;
}

void yw_obstacle_surface_place(yw_obstacle_surface* s, const yw_obstacle* o, float h) {
  bool moves = yw_obstacle_moves(o);
  bool in_place = s->is_still && memcmp(&s->still, &o->begin, sizeof o->begin) == 0 && !moves;
  s->places += !in_place;
  s->source = (yw_contact_source){.context = s,
                                  .begin = o->begin,
                                  .end = o->end,
                                  .radius = s->radius ? s->radius[0] : 0.0f,
                                  .version = version_of(s->mesh),
                                  .places = s->places,
                                  .reach = reach,
                                  .place = place};
  s->h = h;
  s->is_still = !moves && !s->mesh;
  s->still = o->begin;
  if (in_place || yw_obstacle_surface_is_large(s)) return;
  for (int32_t i = 0; i < s->particles.count; ++i) place(s, i);
}

// The step ----------------------------------------------------------------------------------------

bool yw_obstacle_surfaces_reserve(yw_world* world) {
  if (!world->surfaces) return true;
  int32_t most = world->body_order.count + world->obstacles.count;
  world->contact_bodies.count = 0;
  return YW_LIST_RESERVE(&world->mem, &world->contact_bodies, most);
}

bool yw_obstacle_surfaces_any(const yw_world* world) {
  for (int32_t i = 0; i < world->obstacles.count && world->surfaces; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    if ((o->generation & 1) && o->surface) return true;
  }
  return false;
}

static bool meets_surfaces(const yw_body* body) {
  if (!yw_body_takes_part(body) || !body->body_contact || body->asleep) return false;
  yw_contact_geometry geometry = body->model->method->contact_geometry(body->state);
  return !yw_geometry_is_balls(&geometry);
}

bool yw_obstacle_surfaces_near(const yw_world* world, const yw_body* body, yw_aabb box) {
  if (!meets_surfaces(body)) return false;
  for (int32_t i = 0; i < world->obstacle_poses.count; ++i) {
    const yw_obstacle* pose = &world->obstacle_poses.items[i];
    const yw_world_obstacle* o = &world->obstacles.items[pose->number];
    if (o->surface && !yw_obstacle_is_clear(pose, box)) return true;
  }
  return false;
}

// Boxes of the paths of bodies, with room.
static void find_boxes(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    yw_aabb box = yw_aabb_empty();
    bool meets = meets_surfaces(body);
    for (int32_t k = 0; k < body->particles.count && meets; ++k) {
      box = yw_aabb_grow(box, yw_xyz(body->particles.pos[k]));
      box = yw_aabb_grow(box, yw_xyz(body->begin[k]));
    }
    float room = meets ? NEAR_SHARE * yw_distance(box.lower, box.upper) : 0.0f;
    world->body_boxes.items[i] = yw_aabb_pad(box, room);
  }
}

bool yw_obstacle_surfaces_find(yw_world* world) {
  bool any = false;
  if (!yw_obstacle_surfaces_any(world)) return false;
  find_boxes(world);
  for (int32_t i = 0; i < world->obstacle_poses.count; ++i) {
    const yw_obstacle* pose = &world->obstacle_poses.items[i];
    yw_world_obstacle* o = &world->obstacles.items[pose->number];
    o->is_near = false;
    for (int32_t k = 0; k < world->body_order.count && o->surface && !o->is_near; ++k) {
      o->is_near = yw_aabb_overlap(pose->bounds, world->body_boxes.items[k]);
    }
    any = any || o->is_near;
  }
  return any;
}

void yw_obstacle_surfaces_add(yw_world* world, float h) {
  for (int32_t i = 0; i < world->obstacle_poses.count && world->surfaces; ++i) {
    const yw_obstacle* pose = &world->obstacle_poses.items[i];
    const yw_world_obstacle* o = &world->obstacles.items[pose->number];
    yw_obstacle_surface* s = o->surface;
    if (!s) continue;
    if (o->is_near) yw_obstacle_surface_place(s, pose, h);
    const yw_contact_filter* filters = world->filters.items;
    world->contact_bodies.items[world->contact_bodies.count++] = (yw_contact_body){
        .geometry = s->geometry,
        .key = (uint64_t)1 << 63 | (uint64_t)pose->number << 32 | o->generation,
        .number = 1u << 31 | (uint32_t)pose->number,
        .particles = &s->particles,
        .begin = s->begin,
        .friction = o->sticky ? STICKY_FRICTION : o->friction,
        .body_contact = o->is_near,
        .asleep = true,
        .is_obstacle = true,
        .source = yw_obstacle_surface_is_large(s) ? &s->source : NULL,
        .obstacle = pose->number,
        .skin = s->skin,
        .filter =
            world->filters.count > 0 ? &filters[world->body_order.count + pose->number] : NULL};
  }
}
