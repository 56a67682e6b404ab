// SPDX-License-Identifier: MIT
// What is wrong with a surface, what was lost when it was filled with tets, and what to do.
#ifndef YW_APP_COMMANDS_MESH_DOCTOR_H
#define YW_APP_COMMANDS_MESH_DOCTOR_H

#include "yawara/yawara.h"

/// True if the surface is flat: there is nothing inside to fill.
bool doctor_is_flat(const yw_surface_report* report);
/// True if it is flat, or as open as a bowl.
bool doctor_is_sheet(const yw_surface_report* report);
/// Prints size, parts, openings, winding and crossings, each with its place and what to do.
void doctor_print_surface(const yw_tri_mesh* surface, const yw_surface_report* report,
                          const char* path);
/// Compares tets with the solid of the surface, and finds a size at which at most 2 % are lost.
void doctor_print_loss(const yw_shape* shape, const yw_surface_report* report,
                       const yw_tet_mesh* tets, const yw_tet_fit* fit);

#endif
