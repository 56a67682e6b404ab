// SPDX-License-Identifier: MIT
// What is kept between calls to keep shown surfaces apart.
#ifndef YW_WORLD_SHOWN_SURFACE_H
#define YW_WORLD_SHOWN_SURFACE_H

#include "geometry/shown_space.h"

typedef struct yw_shown_surfaces yw_shown_surfaces;
/// NULL: out of memory.
yw_shown_surfaces* yw_shown_surfaces_create(const yw_allocator* mem);
void yw_shown_surfaces_destroy(yw_shown_surfaces* shown);  ///< NULL is fine

#endif
