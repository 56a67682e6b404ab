// SPDX-License-Identifier: MIT
// How a world was built, as bytes in its snapshots: with them, yw_world_restore makes again what
// was destroyed since, under the same ids, and removes what was made.
#ifndef YW_WORLD_SETUP_H
#define YW_WORLD_SETUP_H

#include "world/follow.h"
#include "yawara/extend/stream.h"
#include "yawara/world.h"

struct yw_world_obstacle;

/// Models, shapes and meshes are named by their hashes.
void yw_setup_write(const yw_world* world, yw_writer* writer);
/// Changes bodies, pins, obstacles, joints and settings to those of the bytes. False, with a
/// message: a model or shape is not at hand, there is no memory, or the bytes are invalid; the
/// world is then in between.
bool yw_setup_read(yw_world* world, yw_reader* reader, yw_error* error);

/// Keeps the model of a body (the shape or mesh of an obstacle, the targets of a pin) that is about
/// to be destroyed, if the world is made for rollback. Without memory it is not kept.
void yw_setup_keep_model(yw_world* world, yw_model* model);
void yw_setup_keep_obstacle(yw_world* world, const struct yw_world_obstacle* obstacle);
void yw_setup_keep_follow(yw_world* world, yw_follow* follow);
void yw_setup_release(yw_world* world);

#endif
