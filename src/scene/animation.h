// SPDX-License-Identifier: MIT
// Animated meshes in scene files.
#ifndef YW_SCENE_ANIMATION_H
#define YW_SCENE_ANIMATION_H

#include "scene/loader.h"
#include "yawara/mesh.h"

/// The keys of an animation, in a record whose struct has a yw_animation_spec as `member`.
#define YW_ANIMATION_KEYS(type, member, where)                                                 \
  YW_KEY_AS("file", type, member.file, TEXT, 0, 0, "",                                         \
            "Animated mesh, " where                                                            \
            ": a .pc2 or .mdd file, or a series of mesh files with # for the digits of their " \
            "number, e.g. \"walk_####.obj\"."),                                                \
      YW_KEY_AS("first", type, member.first, INTEGER, 0, 1e9, "",                              \
                "Number of the first file of a series."),                                      \
      YW_KEY_ABOVE_AS("fps", type, member.fps, NUMBER, 0, 100000, "1/s",                       \
                      "Frames per second. Default: those of the .mdd file, or of the scene."), \
      YW_KEY_AS("start", type, member.start, NUMBER, 0, YW_SCENE_REACH, "s",                   \
                "Time of the first frame."),                                                   \
      YW_KEY_AS("loop", type, member.loop, BOOL, 0, 0, "",                                     \
                "Whether the animation starts again at its end."),                             \
      YW_KEY_AS("smooth", type, member.smooth, BOOL, 0, 0, "",                                 \
                "Whether points move on curves through the frames instead of straight lines.")

/// Reads the points of all frames; the document owns them.
bool yw_read_animation(yw_loader* l, yw_animation_spec* animation);
/// As the library wants it.
yw_mesh_animation yw_animation_of(const yw_animation_spec* animation);
/// Name of the first file of a series; NULL: out of memory.
char* yw_animation_first_file(yw_loader* l, const yw_animation_spec* animation);

#endif
