// SPDX-License-Identifier: MIT
// Fields on what is shown: vertices of a surface, or particles.
#ifndef YW_APP_PLAYBACK_FRAME_VALUES_H
#define YW_APP_PLAYBACK_FRAME_VALUES_H

#include "playback/frame.h"

/// One value per vertex of the model's surface, or per particle if it has none. Values of cells are
/// first converted to particles: the mean of the adjacent cells, or of the neighbours where cells
/// are coarser than the mesh. Vertices of surfaces with their own state take the value of the
/// particle that was nearest in the first call; *carriers (NULL at first, freed by the caller with
/// yw_mem_free) stores it.
yw_status frame_shown_values(const frame_body* body, const shown_model* model,
                             const frame_field* field, int32_t** carriers, float* out);
/// The same for arbitrary points, e.g. of a skin: each takes the value of the nearest particle.
yw_status frame_values_at(const frame_body* body, const shown_model* model,
                          const frame_field* field, int32_t num_points, const yw_vec3* points,
                          float* out);
/// For each point the index of the nearest particle; NULL if out of memory. Freed by the caller
/// with yw_mem_free.
int32_t* frame_nearest_particles(const frame_body* body, int32_t num_points, const yw_vec3* points);

#endif
