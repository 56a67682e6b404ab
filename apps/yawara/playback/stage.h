// SPDX-License-Identifier: MIT
// A stage turns a frame into a picture description for the ray tracer.
#ifndef YW_APP_PLAYBACK_STAGE_H
#define YW_APP_PLAYBACK_STAGE_H

#include "playback/frame.h"
#include "render/trace/render.h"
#include "yawara/yawara.h"

typedef struct stage stage;

/// Creates an empty stage. shown stays with the caller and must outlive it.
yw_status stage_create(const shown_scene* shown, stage** out, yw_error* error);
void stage_destroy(stage* s);

/// Shows the bodies and obstacles of a frame that fits (see frame_fits).
yw_status stage_show(stage* s, const frame_data* frame, yw_error* error);

/// Box of bodies and visible bounded obstacles, for automatic cameras; empty before any frame.
yw_aabb stage_box(const stage* s);

/// Meshes, planes, lights and camera of what is shown. If the scene has no camera, one is chosen
/// that has `focus` in view; for a movie see moments.h. Valid until the next call.
yw_picture stage_picture(stage* s, yw_aabb focus, int32_t width, int32_t height);
/// Width of edge lines on bodies, pixels; 0 (default): none.
void stage_set_wireframe(stage* s, float width);
/// From the next frame on, particles of bodies without a surface are drawn with a skin (see
/// skin_available); default: as balls.
void stage_set_skin(stage* s, bool skin);
/// From the next frame on, particles are drawn as balls even where a body has a surface.
void stage_set_balls(stage* s);
/// True if some body is made of particles; those of plastic bodies may have a surface as well.
bool stage_has_particles(const stage* s);
/// From the next frame on, colours bodies by this field; `low` and `high` are the ends of the
/// colour map. NULL: no field. The name must outlive the stage.
void stage_set_field(stage* s, const char* field, float low, float high);

#endif
