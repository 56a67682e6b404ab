// SPDX-License-Identifier: MIT
// Heaps and stacks that are almost at rest lose what motion is left.
#ifndef YW_CONTACT_SURFACES_CALM_H
#define YW_CONTACT_SURFACES_CALM_H

#include "contact/surfaces/data.h"

/// After the solve: slows the soft bodies of islands that lie on obstacles and hardly move.
void yw_calm_islands(const yw_surfaces* c, const yw_contact_problem* problem);

#endif
