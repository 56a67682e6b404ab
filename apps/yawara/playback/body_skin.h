// SPDX-License-Identifier: MIT
// Skins of bodies in a frame: around particles, or of a surface that some of the matter has left.
#ifndef YW_APP_PLAYBACK_BODY_SKIN_H
#define YW_APP_PLAYBACK_BODY_SKIN_H

#include "playback/frame.h"

/// True if the body is made of particles: it has no surface, or one that parts.
static inline bool body_has_particles(const frame_body* body) { return body->radii != NULL; }
/// True if the body shows a surface as long as it holds.
static inline bool body_is_clad(const frame_body* body) {
  return body->radii != NULL && body->surface != NULL;
}

/// A skin around these balls, the particles of the body; if the body is clad, its surface where
/// that holds. Free it with yw_tri_mesh_free.
yw_status body_skin_make(const frame_body* body, const shown_model* model, const yw_vec3* positions,
                         const float* radii, yw_tri_mesh* out, yw_error* error);
/// Colours of points of a clad body's skin: those of the nearest vertices of its surface, in
/// `colors`. False if out of memory.
bool body_skin_colors(const frame_body* body, const yw_vec3* colors, int32_t num_points,
                      const yw_vec3* points, yw_vec3* out);
/// Mixes colours of a skin's vertices over about half a spacing where matter has parted or merged:
/// borders between colours would be jagged there. False if out of memory.
bool body_skin_mix_colors(const frame_body* body, const yw_tri_mesh* skin, yw_vec3* colors);

#endif
