// SPDX-License-Identifier: MIT
#include "playback/stage_body.h"

#include <string.h>

#include "playback/body_skin.h"
#include "playback/frame_values.h"
#include "playback/obj_corners.h"
#include "render/draw/colormap.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Skins are smooth everywhere: no edge turns by more, degrees.
#define SKIN_CREASE 180.0f
// Radius of particles without one: this fraction of the box's diagonal divided by the cube root of
// their number, but at least MIN_RADIUS (m).
#define RADIUS_SHARE 0.3f
#define MIN_RADIUS 1e-4f

bool stage_body_is_loose(const stage_body* body) { return body->loose; }

static bool make_room(stage_body* body, int32_t count) {
  if (count <= body->capacity && body->points) return true;
  int32_t capacity = count + count / 4 + 16;
  yw_mem_free(NULL, body->points);
  yw_mem_free(NULL, body->tints);
  yw_mem_free(NULL, body->radii);
  yw_mem_free(NULL, body->values);
  body->points = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  body->tints = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  body->values = YW_NEW_ARRAY(NULL, float, capacity);
  body->radii = YW_NEW_ARRAY(NULL, float, capacity);
  body->capacity = capacity;
  return body->points && body->tints && body->values && body->radii;
}

yw_status stage_body_create(const shown_scene* shown, int32_t index, stage_body* out) {
  *out = (stage_body){.shown = &shown->bodies[index], .model = shown_model_of(shown, index)};
  const shown_model* model = out->model;
  out->loose = model->kind == SHOWN_PARTICLES;
  if (model->source) out->normals = obj_corner_normals(model->source, &model->surface);
  return make_room(out, model->surface.num_vertices) ? YW_OK : YW_ERR_MEMORY;
}

void stage_body_free(stage_body* body) {
  yw_mem_free(NULL, body->points);
  yw_mem_free(NULL, body->tints);
  yw_mem_free(NULL, body->radii);
  yw_mem_free(NULL, body->values);
  yw_mem_free(NULL, body->carriers);
  yw_mem_free(NULL, body->normals);
  yw_tri_mesh_free(&body->skin);
  *body = (stage_body){0};
}

yw_aabb stage_body_box(const stage_body* body) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; body->active && i < body->num_points; ++i) {
    bool ball = body->loose && body->skin.num_vertices == 0;
    float pad = ball ? body->radii[i] : 0.0f;
    box = yw_aabb_join(box, yw_aabb_pad((yw_aabb){body->points[i], body->points[i]}, pad));
  }
  return box;
}

// Colours what is shown by the values of the field.
static yw_status tint(stage_body* body, const frame_body* frame, const frame_field* field,
                      const stage_field* look) {
  yw_status status;
  if (body->skin.num_vertices > 0) {
    status =
        frame_values_at(frame, body->model, field, body->num_points, body->points, body->values);
  } else {
    status = frame_shown_values(frame, body->model, field, &body->carriers, body->values);
  }
  float scale = look->high > look->low ? 1.0f / (look->high - look->low) : 0.0f;
  for (int32_t i = 0; i < body->num_points && status >= 0; ++i) {
    body->tints[i] = yw_colormap((body->values[i] - look->low) * scale);
  }
  return status;
}

// What a clad body shows where its surface parts keeps the colours of the surface.
static yw_status tint_clad(stage_body* body, const frame_body* frame) {
  const shown_body* shown = body->shown;
  const yw_vec3* colors = shown->num_colors > 0 ? shown->colors : body->model->surface.colors;
  if (!colors || body->num_points == 0) return YW_OK;
  body->tinted = body_skin_colors(frame, colors, body->num_points, body->points, body->tints);
  if (body->tinted && body->skin.num_vertices > 0) {
    body->tinted = body_skin_mix_colors(frame, &body->skin, body->tints);
  }
  return body->tinted ? YW_OK : YW_ERR_MEMORY;
}

// Particles keep their own colours; a skin takes that of the nearest one.
static yw_status tint_particles(stage_body* body, const frame_body* frame) {
  const shown_body* shown = body->shown;
  if (body_is_clad(frame)) return tint_clad(body, frame);
  if (shown->num_colors == 0 || body->num_points == 0) return YW_OK;
  int32_t* nearest = NULL;
  if (body->skin.num_vertices > 0) {
    nearest = frame_nearest_particles(frame, body->num_points, body->points);
    if (!nearest) return YW_ERR_MEMORY;
  }
  for (int32_t i = 0; i < body->num_points; ++i) {
    int32_t particle = nearest ? nearest[i] : i;
    bool known = particle < shown->num_colors;
    body->tints[i] = known ? shown->colors[particle] : shown->look.color;
  }
  yw_mem_free(NULL, nearest);
  body->tinted = true;
  return YW_OK;
}

// Showing ---------------------------------------------------------------------------------------

static void show_particles(stage_body* body, const frame_body* frame) {
  size_t count = (size_t)frame->num_particles;
  body->num_points = frame->num_particles;
  if (count == 0) return;
  memcpy(body->points, frame->positions, sizeof(yw_vec3) * count);
  if (frame->radii) {
    memcpy(body->radii, frame->radii, sizeof(float) * count);
    return;
  }
  yw_aabb box = yw_aabb_empty();
  for (size_t i = 0; i < count; ++i) box = yw_aabb_grow(box, body->points[i]);
  float radius = RADIUS_SHARE * yw_distance(box.lower, box.upper) / cbrtf((float)count);
  for (size_t i = 0; i < count; ++i) body->radii[i] = fmaxf(radius, MIN_RADIUS);
}

// Replaces the particles by a skin.
static yw_status show_skin(stage_body* body, const frame_body* frame, yw_error* error) {
  yw_status status =
      body_skin_make(frame, body->model, body->points, body->radii, &body->skin, error);
  if (status < 0 || body->skin.num_vertices == 0) return status;
  if (!make_room(body, body->skin.num_vertices)) return yw_fail_memory(error, "a skin");
  body->num_points = body->skin.num_vertices;
  memcpy(body->points, body->skin.positions, sizeof(yw_vec3) * (size_t)body->num_points);
  return YW_OK;
}

yw_status stage_body_show(stage_body* body, const frame_body* frame, const stage_field* field,
                          stage_coat coat, yw_error* error) {
  body->active = frame->active;
  body->has_particles = body_has_particles(frame);
  body->loose = body->model->kind == SHOWN_PARTICLES ||
                (body_is_clad(frame) && (frame->parted || coat == STAGE_BALLS));
  body->tinted = false;
  yw_tri_mesh_free(&body->skin);
  const frame_field* values = field->name ? frame_find_field(frame, field->name) : NULL;
  int32_t vertices = body->model->surface.num_vertices;
  int32_t most = vertices > frame->num_particles ? vertices : frame->num_particles;
  if (!make_room(body, most)) return yw_fail_memory(error, "a picture");
  if (!frame->active) {
    body->num_points = 0;
    return YW_OK;
  }
  if (stage_body_is_loose(body)) {
    show_particles(body, frame);
    yw_status status = coat == STAGE_SKIN ? show_skin(body, frame, error) : YW_OK;
    if (status < 0) return status;
  } else {
    body->num_points = vertices;
    if (frame_surface(frame, body->model, body->points) < 0) {
      return yw_fail_memory(error, "a picture");
    }
  }
  yw_status status = YW_OK;
  if (!values && stage_body_is_loose(body)) status = tint_particles(body, frame);
  if (values) {
    body->tinted = true;
    status = tint(body, frame, values, field);
  }
  if (status < 0) return yw_fail_memory(error, "a picture");
  return YW_OK;
}

yw_render_mesh stage_body_mesh(const stage_body* body, float wireframe) {
  const yw_tri_mesh* surface = &body->model->surface;
  const shown_body* shown = body->shown;
  yw_render_mesh mesh = yw_default_render_mesh();
  mesh.num_vertices = body->num_points;
  mesh.positions = body->points;
  mesh.color = shown->look.color;
  mesh.crease = shown->look.crease;
  mesh.gloss = shown->look.gloss;
  if (body->tinted) mesh.colors = body->tints;
  if (body->skin.num_vertices > 0) {
    mesh.num_triangles = body->skin.num_triangles;
    mesh.triangles = body->skin.triangles;
    mesh.crease = SKIN_CREASE;
    mesh.wireframe = wireframe;
    return mesh;
  }
  if (stage_body_is_loose(body)) {
    mesh.radii = body->radii;
    return mesh;
  }
  if (!body->tinted) mesh.colors = shown->num_colors > 0 ? shown->colors : surface->colors;
  mesh.num_triangles = surface->num_triangles;
  mesh.triangles = surface->triangles;
  mesh.rest = surface->positions;
  mesh.rest_normals = body->normals;
  mesh.wireframe = wireframe;
  return mesh;
}
