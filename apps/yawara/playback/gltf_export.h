// SPDX-License-Identifier: MIT
// A run as glTF 2.0: run.gltf and run.bin. Every frame of a body is a morph target of the first,
// and one animation fades from each to the next, so that browsers, game engines and 3D programs
// play it. Obstacles that move as a whole have a moving node.
#ifndef YW_APP_PLAYBACK_GLTF_EXPORT_H
#define YW_APP_PLAYBACK_GLTF_EXPORT_H

#include "playback/export_scene.h"
#include "playback/run_folder.h"

typedef struct gltf_export gltf_export;

/// folder: exists. scene: outlives the export. Frames first to last of the run
/// will be added in order.
yw_status gltf_export_open(const char* folder, run_folder* run, const export_scene* scene,
                           int32_t first, int32_t last, gltf_export** out, yw_error* error);
/// surfaces: of each body; NULL: its particles are shown.
yw_status gltf_export_frame(gltf_export* g, const frame_data* frame, yw_vec3* const* surfaces,
                            yw_error* error);
/// Writes what describes the frames; the files appear. At least one frame is required.
yw_status gltf_export_close(gltf_export* g, yw_error* error);
/// Removes what was written, unless it was closed. NULL is allowed.
void gltf_export_free(gltf_export* g);

#endif
