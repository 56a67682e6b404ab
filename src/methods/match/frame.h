// SPDX-License-Identifier: MIT
// The rigid frame of a body, from its particles.
#ifndef YW_METHODS_MATCH_FRAME_H
#define YW_METHODS_MATCH_FRAME_H

#include "methods/match/step.h"

/// The frame that fits the particles best, moving with them. The identity where they are not
/// finite.
match_frame yw_match_frame_of(const match_model* model, const yw_particles* particles);

#endif
