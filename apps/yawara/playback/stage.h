// SPDX-License-Identifier: MIT
// A stage turns a scene and a frame into something the ray tracer can draw.
#ifndef YW_APP_PLAYBACK_STAGE_H
#define YW_APP_PLAYBACK_STAGE_H

#include "playback/frame.h"
#include "render/trace/render.h"
#include "yawara/yawara.h"

typedef struct stage stage;

/// scene and world stay with the caller and must outlive the stage.
yw_status stage_create(const yw_scene* scene, const yw_world* world, stage** out, yw_error* error);
void stage_destroy(stage* s);

/// Shows the bodies as they are in the world.
yw_status stage_show_world(stage* s, yw_error* error);
/// Shows a frame that fits the world (see frame_fits): its bodies, and obstacles at its time.
yw_status stage_show(stage* s, const frame_data* frame, yw_error* error);

/// Box around the bodies as they are shown.
yw_aabb stage_bodies_box(const stage* s);
/// Box around bodies and bounded visible obstacles, for automatic cameras.
yw_aabb stage_box(const stage* s);

/// Meshes, planes and lights of what is shown; the camera comes from the scene, or frames `focus`
/// (all frames of a movie) when the scene has none. Valid until the next call.
yw_picture stage_picture(stage* s, yw_aabb focus, int32_t width, int32_t height);
/// Width of edge lines on bodies, pixels; 0 (default): none.
void stage_set_wireframe(stage* s, float width);
/// Colour of a body instead of the scene's (linear RGB).
void stage_set_color(stage* s, int32_t body, yw_vec3 color);
/// From the next frame on, particles of bodies without a surface get a skin (see skin_available);
/// default: they are balls.
void stage_set_skin(stage* s, bool skin);
/// True when some body has no surface.
bool stage_has_particles(const stage* s);
/// Colours of bodies that have the field, from the next frame on: `low` and `high` are the ends of
/// the colour map. NULL: no field. The name must outlive the stage.
void stage_set_field(stage* s, const char* field, float low, float high);

#endif
