// SPDX-License-Identifier: MIT
// Axes that move with a body, found from its particles.
#ifndef YW_METHODS_MATCH_AXES_H
#define YW_METHODS_MATCH_AXES_H

#include "methods/match/step.h"

/// The best-fitting axes, and how they move. The identity when the particles are not finite.
match_axes yw_match_axes_of(const match_model* model, const yw_particles* particles);

#endif
