// SPDX-License-Identifier: MIT
// A run in the formats of other programs.
#ifndef YW_APP_PLAYBACK_EXPORT_H
#define YW_APP_PLAYBACK_EXPORT_H

#include "yawara/yawara.h"

/// formats: a comma-separated list of ply, obj, vtu, pc2, mdd, bgeo.
bool export_formats_known(const char* formats);
/// Writes every frame of the run in each format to out_dir/FORMAT/. ply and obj: the surface of
/// each body, or its particles where it has none, a file per frame; vtu: its tets (particles), with
/// a .pvd that lists them; pc2 and mdd: one point cache per body beside an OBJ of its surface at
/// rest; bgeo: particles, for Houdini. ply, vtu and bgeo carry the fields that the run has, and
/// the radii of particles. Bodies that wait for their start have no files. skin: ply and obj hold a
/// skin around particles instead of these.
typedef struct export_def {
  const char* run_dir;
  const char* formats;
  const char* out_dir;
  bool skin, quiet;
} export_def;
yw_status export_run(const export_def* def, yw_error* error);
/// Whether a skin makes sense with these formats, and can be made.
yw_status export_check_skin(const char* formats, yw_error* error);

#endif
