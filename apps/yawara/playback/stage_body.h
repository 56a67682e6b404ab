// SPDX-License-Identifier: MIT
// One body on the stage: a surface or, without one, a cloud of balls or a skin around them. A
// surface that parts becomes a skin where it does.
#ifndef YW_APP_PLAYBACK_STAGE_BODY_H
#define YW_APP_PLAYBACK_STAGE_BODY_H

#include "playback/frame.h"
#include "render/skin/skin.h"
#include "render/trace/render.h"
#include "yawara/yawara.h"

/// What is drawn of particles. Balls: also of bodies whose surface holds.
typedef enum stage_coat { STAGE_PLAIN = 0, STAGE_SKIN, STAGE_BALLS } stage_coat;

typedef struct stage_body {
  const shown_body* shown;
  const shown_model* model;
  bool active;
  int32_t num_points;  ///< vertices of the surface or skin, or particles
  int32_t capacity;    ///< of the arrays below
  yw_vec3* points;     ///< m
  yw_vec3* tints;      ///< colours by field or of particles, if `tinted`
  bool tinted;
  bool loose;          ///< particles, or a skin around them, and no surface
  bool has_particles;  ///< in the last frame, see body_has_particles
  float* radii;        ///< m, of particles
  float* values;       ///< field values of what is shown; scratch
  yw_tri_mesh skin;    ///< around the particles, if requested; otherwise empty
  int32_t* carriers;   ///< see frame_shown_values
  yw_vec3* normals;    ///< of the file, 3 per triangle at rest; NULL: none
} stage_body;

/// How a field becomes colours.
typedef struct stage_field {
  const char* name;  ///< NULL: none
  float low, high;
} stage_field;

/// shown must outlive the body.
yw_status stage_body_create(const shown_scene* shown, int32_t index, stage_body* out);
void stage_body_free(stage_body* body);
/// True if what is shown are particles or a skin around them.
bool stage_body_is_loose(const stage_body* body);
/// Takes what is shown from the frame.
yw_status stage_body_show(stage_body* body, const frame_body* frame, const stage_field* field,
                          stage_coat coat, yw_error* error);
yw_aabb stage_body_box(const stage_body* body);
/// The mesh for the ray tracer.
yw_render_mesh stage_body_mesh(const stage_body* body, float wireframe);

#endif
