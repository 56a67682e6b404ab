// SPDX-License-Identifier: MIT
// A run as USD: run.usda, text that Maya, Houdini, Unreal, Blender and others read. Vertices keep
// their numbers; points, normals and velocities have a sample per frame.
#ifndef YW_APP_PLAYBACK_USD_EXPORT_H
#define YW_APP_PLAYBACK_USD_EXPORT_H

#include "playback/export_surfaces.h"

typedef struct usd_export usd_export;

/// folder: exists. scene: outlives the export. Frames first to last of the run
/// will be added in order. velocities: they are written, where the frames have them.
yw_status usd_export_open(const char* folder, run_folder* run, const export_scene* scene,
                          int32_t first, int32_t last, bool velocities, usd_export** out,
                          yw_error* error);
yw_status usd_export_frame(usd_export* u, const frame_data* frame, const export_surfaces* surfaces,
                           yw_error* error);
/// Writes the file. At least one frame is required.
yw_status usd_export_close(usd_export* u, yw_error* error);
void usd_export_free(usd_export* u);  ///< NULL is allowed

#endif
