// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Bodies that several ranks share (ranks.h), shown by all of them: no rank holds a whole frame.
#ifndef YAWARA_EXTEND_SHARED_BODY_H
#define YAWARA_EXTEND_SHARED_BODY_H

#include "../world.h"
#include "error.h"

/// What is shown of a body, as numbers of 4 bytes in a file.
typedef enum yw_shown_values {
  YW_SHOWN_POSITIONS,  ///< those of yw_body_positions
  YW_SHOWN_SURFACE,    ///< those of yw_body_surface_positions
  YW_SHOWN_RADII,      ///< those of yw_body_radii
  YW_SHOWN_PARTED      ///< those of yw_body_parted; where none is above 0 nothing is written
} yw_shown_values;
/// Where they are to be.
typedef struct yw_shown_place {
  yw_shown_values values;
  uint64_t offset;  ///< bytes from the start of the file
} yw_shown_place;
/// Particles of a body that ranks share, now; 0: they do not share it.
YW_API int32_t yw_body_shared_particles(const yw_world* world, yw_body_id body);
/// For bodies that ranks share: writes what is shown to a file that exists. Every rank computes and
/// writes a share of each list, so all must reach the file by the same path. What other ranks wrote
/// is on the disk; fsync is for the caller. *parted: how many particles have parted.
YW_API yw_status yw_body_write_shown(const yw_world* world, yw_body_id body, int32_t num_places,
                                     const yw_shown_place* places, const char* path,
                                     int32_t* parted, yw_error* error);

#endif
