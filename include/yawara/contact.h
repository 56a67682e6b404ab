// SPDX-License-Identifier: MIT
// Who collides with whom, what touched in the last step, and events. docs/game.md
#ifndef YAWARA_CONTACT_H
#define YAWARA_CONTACT_H

#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Filters -----------------------------------------------------------------------------------------
// Bodies and obstacles are in groups and have masks, see yw_body_def. Filters do not concern
// contact of a body with itself.

YW_API yw_status yw_body_set_filter(yw_world* world, yw_body_id id, uint32_t groups, uint32_t mask);
YW_API yw_status yw_obstacle_set_filter(yw_world* world, yw_obstacle_id id, uint32_t groups,
                                        uint32_t mask);
/// Turns contact of two different bodies off, or on again, whatever their groups. On does not make
/// bodies collide that their groups or a joint (yw_joint_def.collide) keep apart. Forgotten when
/// one of them is destroyed.
YW_API yw_status yw_world_set_pair_contact(yw_world* world, yw_body_id a, yw_body_id b, bool on);

#ifdef __cplusplus
}
#endif
#endif
