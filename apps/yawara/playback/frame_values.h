// SPDX-License-Identifier: MIT
// Fields on what is shown: on the vertices of a surface, or on particles.
#ifndef YW_APP_PLAYBACK_FRAME_VALUES_H
#define YW_APP_PLAYBACK_FRAME_VALUES_H

#include "playback/frame.h"

/// One number per vertex of the model's surface, or per particle where it has none. Values of cells
/// become those of particles first: the mean of the cells around each, or of the neighbours where
/// cells are coarser than the mesh. Surfaces with a state of
/// their own take the value of the particle that was nearest when first asked: *carriers (NULL at
/// first, freed by the caller with yw_mem_free) remembers it.
yw_status frame_shown_values(const frame_body* body, const shown_model* model,
                             const frame_field* field, int32_t** carriers, float* out);
/// The same on any points, such as those of a skin: each takes the value of the nearest particle.
yw_status frame_values_at(const frame_body* body, const shown_model* model,
                          const frame_field* field, int32_t num_points, const yw_vec3* points,
                          float* out);
/// For each point the number of the nearest particle, or NULL when memory is out; freed by the
/// caller with yw_mem_free.
int32_t* frame_nearest_particles(const frame_body* body, int32_t num_points, const yw_vec3* points);

#endif
