// SPDX-License-Identifier: MIT
// Axes that move with a body, from its particles.
#ifndef YW_METHODS_MATCH_AXES_H
#define YW_METHODS_MATCH_AXES_H

#include "methods/match/step.h"

/// The axes that fit the particles best, moving with them. The identity where they are not
/// finite.
match_axes yw_match_axes_of(const match_model* model, const yw_particles* particles);

#endif
