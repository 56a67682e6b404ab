// SPDX-License-Identifier: MIT
// What yawara run says before the first step.
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

#endif
