// SPDX-License-Identifier: MIT
#include "playback/export_part.h"

#include <string.h>

#include "playback/surface_turn.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Half the side of the square that stands for a plane, in diagonals of what is near it.
#define PLANE_REACH 3.0f

static yw_status make_arrays(export_part* p, yw_error* error) {
  yw_vec3** arrays[] = {&p->now, &p->normals, &p->first, &p->first_normals};
  bool made = true;
  for (int k = 0; k < 4; ++k) {
    made = made && (*arrays[k] = YW_NEW_ARRAY(NULL, yw_vec3, p->num_points)) != NULL;
  }
  int32_t vertices = p->surface ? p->surface->num_vertices : p->num_points;
  made = made && (p->vertex_normals = YW_NEW_ARRAY(NULL, yw_vec3, vertices)) != NULL;
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

// All triangles in one section, with the material of the body.
static bool make_plain(export_part* p, const int32_t* triangles) {
  size_t corners = 3 * (size_t)p->num_triangles;
  p->triangles = YW_NEW_ARRAY(NULL, int32_t, corners);
  p->sections = YW_NEW_ARRAY(NULL, export_section, 1);
  if (!p->triangles || !p->sections) return false;
  memcpy(p->triangles, triangles, corners * sizeof *triangles);
  p->sections[p->num_sections++] = (export_section){0, p->num_triangles, p->name};
  return true;
}

// Triangles sorted by material; those without one come first.
static bool make_sections(export_part* p, const obj_corners* c) {
  int32_t at = 0;
  p->triangles = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)p->num_triangles);
  p->sections = YW_NEW_ARRAY(NULL, export_section, c->num_materials + 1);
  if (!p->triangles || !p->sections) return false;
  for (int32_t m = -1; m < c->num_materials; ++m) {
    int32_t first = at;
    for (size_t t = 0; t < (size_t)p->num_triangles; ++t) {
      if (c->materials[t] != m) continue;
      memcpy(p->triangles + 3 * (size_t)at++, c->triangles + 3 * t, 3 * sizeof(int32_t));
    }
    if (at == first) continue;
    p->sections[p->num_sections++] =
        (export_section){first, at - first, m < 0 ? p->name : c->names[m]};
  }
  return true;
}

yw_status export_part_of_body(const shown_scene* shown, int32_t body, const export_look* look,
                              int32_t num_particles, export_part* out, yw_error* error) {
  const shown_body* from = &shown->bodies[body];
  const yw_tri_mesh* surface = &shown_model_of(shown, body)->surface;
  bool solid = surface->num_triangles > 0;
  *out = (export_part){.name = from->name,
                       .look = &from->look,
                       .surface = solid ? surface : NULL,
                       .morphs = true,
                       .num_points = solid ? surface->num_vertices : num_particles,
                       .num_triangles = surface->num_triangles};
  int32_t vertices = out->num_points;
  if (from->num_colors >= vertices) out->colors = from->colors;
  if (from->num_colors == 0 && solid) out->colors = surface->colors;
  bool made = true;
  if (look->known) {
    out->num_points = look->corners.num_points;
    out->vertices = look->corners.vertices;
    out->uvs = look->corners.uvs;
    out->corner_normals = look->corners.normals;
    made = make_sections(out, &look->corners);
  } else if (solid) {
    made = make_plain(out, surface->triangles);
  }
  return made ? make_arrays(out, error) : yw_fail_memory(error, "an export");
}

yw_status export_part_of_obstacle(const shown_obstacle* obstacle, export_part* out,
                                  yw_error* error) {
  static const int32_t square[6] = {0, 1, 2, 0, 2, 3};
  const yw_tri_mesh* surface = &obstacle->surface;
  *out = (export_part){.name = obstacle->name,
                       .look = &obstacle->look,
                       .obstacle = obstacle,
                       .surface = obstacle->plane ? NULL : surface,
                       .morphs = obstacle->animation.num_frames > 0,
                       .num_points = obstacle->plane ? 4 : surface->num_vertices,
                       .num_triangles = obstacle->plane ? 2 : surface->num_triangles,
                       .colors = obstacle->plane ? NULL : surface->colors};
  if (!make_plain(out, obstacle->plane ? square : surface->triangles)) {
    return yw_fail_memory(error, "an export");
  }
  return make_arrays(out, error);
}

void export_part_free(export_part* part) {
  yw_vec3* arrays[] = {part->now, part->normals, part->first, part->first_normals,
                       part->vertex_normals};
  for (int k = 0; k < 5; ++k) yw_mem_free(NULL, arrays[k]);
  yw_mem_free(NULL, part->triangles);
  yw_mem_free(NULL, part->sections);
}

// Poses -------------------------------------------------------------------------------------------

// Sums of the normals of the triangles around a vertex, weighted by their areas: points of the same
// vertex share one, so that seams of textures do not show.
static void find_normals(export_part* p) {
  int32_t vertices = p->surface ? p->surface->num_vertices : p->num_points;
  yw_vec3* out = p->vertex_normals;
  memset(out, 0, (size_t)vertices * sizeof *out);
  for (int32_t t = 0; t < p->num_triangles; ++t) {
    const int32_t* v = p->triangles + 3 * (size_t)t;
    yw_vec3 a = p->now[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(p->now[v[1]], a), yw_sub(p->now[v[2]], a));
    for (int k = 0; k < 3; ++k) {
      int32_t at = p->vertices ? p->vertices[v[k]] : v[k];
      out[at] = yw_add(out[at], normal);
    }
  }
  for (int32_t i = 0; i < p->num_points; ++i) {
    yw_vec3 sum = out[p->vertices ? p->vertices[i] : i];
    p->normals[i] = yw_normalize_or(sum, yw_v3(0, 1, 0));
  }
}

// Normals of the file, turned as the surface turned.
static yw_status turn_normals(export_part* p, const yw_vec3* surface, yw_error* error) {
  yw_tri_mesh posed = *p->surface;
  posed.positions = (yw_vec3*)(uintptr_t)surface;
  surface_turn turn;
  bool opened = surface_turn_open(p->surface, &posed, &turn);
  for (int32_t i = 0; opened && i < p->num_points; ++i) {
    yw_vec3 n = surface_turn_normal(&turn, p->vertices[i], p->corner_normals[i]);
    p->normals[i] = yw_normalize_or(n, yw_v3(0, 1, 0));
  }
  surface_turn_close(&turn);
  return opened ? YW_OK : yw_fail_memory(error, "an export");
}

yw_status export_part_pose_body(export_part* part, const frame_body* body, const yw_vec3* surface,
                                yw_error* error) {
  const yw_vec3* from = surface ? surface : body->positions;
  int32_t count = surface ? part->surface->num_vertices : body->num_particles;
  for (int32_t i = 0; i < part->num_points; ++i) {
    int32_t at = part->vertices ? part->vertices[i] : i;
    // Particles that have not come yet wait at the first one.
    part->now[i] = at < count ? from[at] : count > 0 ? from[0] : yw_v3(0, 0, 0);
  }
  if (part->corner_normals) return turn_normals(part, surface, error);
  if (part->num_triangles > 0) find_normals(part);
  return YW_OK;
}

// A square in a plane, around what is near it.
static void pose_plane(export_part* part, yw_transform pose, yw_aabb focus) {
  const shown_obstacle* o = part->obstacle;
  yw_vec3 center = yw_scale(yw_add(focus.lower, focus.upper), 0.5f);
  float reach = PLANE_REACH * yw_distance(focus.lower, focus.upper) / pose.scale;
  center = yw_transform_point_inv(pose, center);
  center = yw_mad(center, o->offset - yw_dot(o->normal, center), o->normal);
  yw_vec3 across = yw_cross(o->normal, yw_v3(0, 0, 1));
  across = yw_normalize_or(across, yw_v3(1, 0, 0));
  yw_vec3 along = yw_cross(o->normal, across);
  const float sides[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int k = 0; k < 4; ++k) {
    part->now[k] = yw_mad(yw_mad(center, reach * sides[k][0], across), reach * sides[k][1], along);
  }
}

void export_part_pose_obstacle(export_part* part, double time, yw_transform pose, yw_aabb focus) {
  if (part->obstacle->plane) pose_plane(part, pose, focus);
  yw_transform own = part->morphs ? pose : YW_TRANSFORM_IDENTITY;
  for (int32_t i = 0; !part->obstacle->plane && i < part->num_points; ++i) {
    part->now[i] = shown_obstacle_vertex(part->obstacle, i, time, own);
  }
  find_normals(part);
}
