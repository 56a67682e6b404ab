// SPDX-License-Identifier: MIT
// What yawara run says before the first step and of bodies that fall behind.
#ifndef YW_APP_COMMANDS_RUN_WARNINGS_H
#define YW_APP_COMMANDS_RUN_WARNINGS_H

#include "yawara/yawara.h"

/// Names bodies whose size suggests a file in other units.
void run_warn_of_sizes(const yw_world* world);
/// Names bodies of match in several parts.
void run_warn_of_parts(const yw_world* world);
/// Says which bodies overlap. Returns -1 to continue, or the exit code.
int run_check_overlaps(yw_world* world, const char* scene_path, bool strict);
/// Says what the run takes: memory with everything made, and disk space.
void run_say_cost(const yw_world* world, int32_t frames);
/// Names the first body that moves in slow motion, after a frame; false if there is none.
bool run_warn_of_slow_motion(const yw_world* world, const char* dir, int32_t frame);

#endif
