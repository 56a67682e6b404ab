// SPDX-License-Identifier: MIT
// One body on the stage: a surface, or a cloud of balls, or a skin around them where it has none.
#ifndef YW_APP_PLAYBACK_STAGE_BODY_H
#define YW_APP_PLAYBACK_STAGE_BODY_H

#include "playback/frame.h"
#include "render/skin/skin.h"
#include "render/trace/render.h"
#include "yawara/yawara.h"

/// Colour of a particle of a body; false: that of the body.
typedef bool (*stage_particle_color)(const void* context, int32_t body, int32_t particle,
                                     yw_vec3* color);

typedef struct stage_body {
  const yw_model* model;
  bool active;
  yw_vec3 color;      ///< linear RGB
  int32_t num_shown;  ///< vertices of the surface, or particles
  int32_t capacity;   ///< of the arrays below
  yw_vec3* shown;     ///< m
  yw_vec3* tints;     ///< colours by field or of particles, where `tinted`
  bool tinted;
  stage_particle_color particle_color;  ///< NULL: all have the colour of the body
  const void* color_context;
  int32_t number;     ///< of the body in the world
  float* radii;       ///< m, of particles; NULL: a surface
  float* values;      ///< of the field, of what is shown; scratch
  yw_tri_mesh skin;   ///< around the particles, where asked for; else empty
  yw_vec3* paint;     ///< of the surface's vertices; NULL: one colour
  int32_t* carriers;  ///< see frame_shown_values
} stage_body;

/// How a field becomes colours.
typedef struct stage_field {
  const char* name;  ///< NULL: none
  float low, high;
} stage_field;

yw_status stage_body_create(const yw_model* model, stage_body* out);
void stage_body_free(stage_body* body);
/// True when the body has no surface, but particles.
bool stage_body_is_loose(const stage_body* body);
/// Takes what is to be shown from the frame; particles with a skin around them, when asked for.
yw_status stage_body_show(stage_body* body, const frame_body* frame, const stage_field* field,
                          bool skin, yw_error* error);
yw_aabb stage_body_box(const stage_body* body);
/// What the ray tracer draws.
yw_render_mesh stage_body_mesh(const stage_body* body, float wireframe);

#endif
