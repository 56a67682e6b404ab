// SPDX-License-Identifier: MIT
// Plastic bodies that show a surface as long as it holds. To the page they are particles whose skin
// is that surface at first, and later the one around the particles.
#include <string.h>

#include "core.h"
#include "playback/frame_values.h"
#include "yawara/extend/memory.h"

// A surface is left where some particle has parted by half.
#define HAS_PARTED 0.5f
// Surfaces with more triangles than this are not sent with every frame: the skin is coarser.
#define MOST_TRIANGLES 60000

bool core_is_clad(const core* c, int32_t index) {
  if (c->run) return c->moment.bodies[index].radii && c->moment.bodies[index].surface;
  return yw_model_surface_parts(yw_body_model(c->world, c->bodies[index].id));
}

bool core_model_is_clad(const core* c, int32_t model) {
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) {
    if (c->shown->bodies[i].model == model) return core_is_clad(c, i);
  }
  return false;
}

static bool exceeds(const float* parted, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (parted[i] > HAS_PARTED) return true;
  }
  return false;
}

bool core_surface_holds(const core* c, int32_t index) {
  if (!core_is_clad(c, index)) return false;
  if (c->meshes[c->shown->bodies[index].model].num_triangles > MOST_TRIANGLES) return false;
  if (c->run) {
    const frame_body* body = &c->moment.bodies[index];
    return !body->parted || !exceeds(body->parted, body->num_particles);
  }
  int32_t count = 0;
  yw_body_positions(c->world, c->bodies[index].id, &count);
  float* parted = YW_NEW_ARRAY(NULL, float, count);
  bool some = parted && yw_body_parted(c->world, c->bodies[index].id, parted, count) > 0;
  bool holds = parted && !(some && exceeds(parted, count));
  yw_mem_free(NULL, parted);
  return holds;
}

// The particle that each vertex follows, or that is nearest to it where only a run is known. Found
// once.
static const int32_t* owners_of(core* c, int32_t index, const yw_vec3* surface) {
  core_body* body = &c->bodies[index];
  int32_t count = shown_model_of(c->shown, index)->surface.num_vertices;
  if (body->carriers) return body->carriers;
  if (c->run) {
    body->carriers = frame_nearest_particles(&c->moment.bodies[index], count, surface);
    return body->carriers;
  }
  const yw_model* model = yw_body_model(c->world, body->id);
  body->carriers = YW_NEW_ARRAY(NULL, int32_t, count);
  for (int32_t i = 0; body->carriers && i < count; ++i) {
    body->carriers[i] = yw_model_surface_particle(model, i);
  }
  return body->carriers;
}

yw_vec3* core_clad_colors(const core* c, int32_t index, int32_t* count) {
  const shown_body* body = &c->shown->bodies[index];
  *count = c->run ? c->moment.bodies[index].num_particles
                  : yw_scene_num_particle_colors(c->scene, index);
  if (c->run && body->num_colors == 0) *count = 0;
  yw_vec3* colors = *count > 0 ? YW_NEW_ARRAY(NULL, yw_vec3, *count) : NULL;
  if (!colors) *count = 0;
  if (!colors || !c->run) {
    for (int32_t i = 0; colors && i < *count; ++i) {
      colors[i] = body->look.color;
      yw_scene_particle_color(c->scene, index, i, &colors[i]);
    }
    return colors;
  }
  // A run knows the colours of vertices.
  const frame_body* now = &c->moment.bodies[index];
  const frame_body vertices = {.num_particles = now->num_surface, .positions = now->surface};
  int32_t* nearest = frame_nearest_particles(&vertices, *count, now->positions);
  for (int32_t i = 0; i < *count; ++i) {
    colors[i] = nearest ? body->colors[nearest[i]] : body->look.color;
  }
  yw_mem_free(NULL, nearest);
  return colors;
}

bool core_add_clad(core* c, int32_t index, const yw_vec3* surface, int32_t* count,
                   int32_t* triangles) {
  const display_mesh* mesh = &c->meshes[c->shown->bodies[index].model];
  const int32_t* owners = owners_of(c, index, surface);
  size_t vertices = (size_t)mesh->num_vertices, corners = 3 * (size_t)mesh->num_triangles;
  float* at = owners ? core_add_words(c, 7 * vertices + corners) : NULL;
  if (!at) return false;
  yw_vec3* positions = (yw_vec3*)(void*)at;
  display_mesh_move(mesh, surface, positions, positions + vertices);
  for (size_t i = 0; i < vertices; ++i) {
    memcpy(at + 6 * vertices + i, &owners[mesh->source[i]], sizeof *owners);
  }
  memcpy(at + 7 * vertices, mesh->triangles, corners * sizeof *mesh->triangles);
  *count = mesh->num_vertices;
  *triangles = mesh->num_triangles;
  return true;
}
