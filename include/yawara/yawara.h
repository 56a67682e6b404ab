// SPDX-License-Identifier: MIT
// Yawara: soft-body simulation in C. This header includes the whole public interface.
#ifndef YAWARA_YAWARA_H
#define YAWARA_YAWARA_H

#include "base.h"
#include "contact.h"
#include "fem.h"
#include "files.h"
#include "follow.h"
#include "force.h"
#include "frames.h"
#include "joint.h"
#include "match.h"
#include "mesh.h"
#include "mesh_obstacle.h"
#include "model.h"
#include "plastic.h"
#include "pose.h"
#include "query.h"
#include "rigid.h"
#include "scene.h"
#include "shape.h"
#include "slender.h"
#include "track.h"
#include "world.h"

#endif
