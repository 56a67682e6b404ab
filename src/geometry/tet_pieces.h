// SPDX-License-Identifier: MIT
// Pieces of tets that do not hang together although the shape does.
#ifndef YW_GEOMETRY_TET_PIECES_H
#define YW_GEOMETRY_TET_PIECES_H

#include "geometry/matter_cover.h"

/// Numbers the connected pieces of tets that are joined by faces: piece (per tet) receives the
/// first tet of its piece. YW_ERR_MEMORY is the only error.
yw_status yw_tet_pieces(const yw_tet_mesh* tets, int32_t* piece);

/// Tets are joined by faces, matter by neighbouring cubes. All but the largest piece of tets in a
/// connected part of the matter have broken off: around (per cube of the matter) is set to 1 near
/// them, and broken (per tet) to 1 for their tets. volume receives their volume, m^3.
/// YW_ERR_MEMORY is the only error.
yw_status yw_find_broken_pieces(const yw_matter_cover* cover, const yw_tet_mesh* tets,
                                unsigned char* around, unsigned char* broken, int32_t* num_pieces,
                                double* volume);

/// Tunnels minus cavities of a mesh in one part: 1 minus its Euler characteristic. YW_ERR_MEMORY is
/// the only error.
yw_status yw_count_tunnels(const yw_tet_mesh* mesh, int32_t* tunnels);

/// Removes tets, and vertices that no other tet has. YW_ERR_MEMORY is the only error.
yw_status yw_drop_tets(yw_tet_mesh* mesh, const unsigned char* drop);

#endif
