// SPDX-License-Identifier: MIT
// One body on the stage: a surface or, without one, a cloud of balls or a skin around them.
#ifndef YW_APP_PLAYBACK_STAGE_BODY_H
#define YW_APP_PLAYBACK_STAGE_BODY_H

#include "playback/frame.h"
#include "render/skin/skin.h"
#include "render/trace/render.h"
#include "yawara/yawara.h"

typedef struct stage_body {
  const shown_body* shown;
  const shown_model* model;
  bool active;
  int32_t num_points;  ///< vertices of the surface or skin, or particles
  int32_t capacity;    ///< of the arrays below
  yw_vec3* points;     ///< m
  yw_vec3* tints;      ///< colours by field or of particles, if `tinted`
  bool tinted;
  float* radii;       ///< m, of particles; NULL: it is a surface
  float* values;      ///< field values of what is shown; scratch
  yw_tri_mesh skin;   ///< around the particles, if requested; otherwise empty
  int32_t* carriers;  ///< see frame_shown_values
  yw_vec3* normals;   ///< of the file, 3 per triangle at rest; NULL: none
} stage_body;

/// How a field becomes colours.
typedef struct stage_field {
  const char* name;  ///< NULL: none
  float low, high;
} stage_field;

/// shown must outlive the body.
yw_status stage_body_create(const shown_scene* shown, int32_t index, stage_body* out);
void stage_body_free(stage_body* body);
/// True if the body has particles but no surface.
bool stage_body_is_loose(const stage_body* body);
/// Takes what is shown from the frame; with `skin`, particles get a skin around them.
yw_status stage_body_show(stage_body* body, const frame_body* frame, const stage_field* field,
                          bool skin, yw_error* error);
yw_aabb stage_body_box(const stage_body* body);
/// The mesh for the ray tracer.
yw_render_mesh stage_body_mesh(const stage_body* body, float wireframe);

#endif
