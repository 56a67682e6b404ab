// SPDX-License-Identifier: MIT
// Exports a run to the formats of other programs.
#ifndef YW_APP_PLAYBACK_EXPORT_H
#define YW_APP_PLAYBACK_EXPORT_H

#include "yawara/yawara.h"

/// formats: a comma-separated list of ply, obj, vtu, pc2, mdd, bgeo, gltf, usd.
bool export_formats_known(const char* formats);
/// Writes every frame of the run in each format to out_dir/FORMAT/. ply and obj: the surface of
/// each body, or its particles if it has none, one file per frame; vtu: its tets, lines, triangles
/// or particles, with a .pvd that lists the files; pc2 and mdd: one point cache per body with a
/// surface, next to an OBJ of it at rest; bgeo: particles, for Houdini; gltf: surfaces and
/// particles of all frames in one animation; usd: the same as time samples. ply, vtu and bgeo
/// include the fields of the run and the radii of particles; fields.csv lists their units. What a
/// format cannot hold is left out and named on standard error. Bodies that have not started yet
/// have no files. skin: ply and obj contain a skin around particles instead of the particles.
/// velocities: ply has vx, vy, vz, usd velocities, and beside each point cache there is one of
/// velocities, m/s, of what is shown; vtu, bgeo and loose particles have those of the particles if
/// the run kept them. first: only frames from this number on, up to the last one that is there,
/// even if the run is still going; -1: all that run.json speaks of. thick: sheets that were made of
/// a mesh file have two sides and a rim, as pictures show them, instead of the triangles of the
/// file.
typedef struct export_def {
  const char* run_dir;
  const char* formats;
  const char* out_dir;
  int32_t first;
  bool skin, thick, velocities, quiet;
} export_def;
yw_status export_run(const export_def* def, yw_error* error);
/// Checks that a skin makes sense with these formats and is available.
yw_status export_check_skin(const char* formats, yw_error* error);

#endif
