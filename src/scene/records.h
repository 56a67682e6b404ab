// SPDX-License-Identifier: MIT
// Tables of keys that do not belong to a method, each defined next to the code that uses it.
#ifndef YW_SCENE_RECORDS_H
#define YW_SCENE_RECORDS_H

#include "scene/keys.h"

// Values
extern const yw_record yw_record_rotation;
// Shapes (shape.c)
extern const yw_record yw_record_shape, yw_record_sphere, yw_record_box, yw_record_capsule,
    yw_record_cylinder, yw_record_cone, yw_record_torus, yw_record_plane, yw_record_combination,
    yw_record_mesh_shape, yw_record_offset;
// Sizes of tets (tet_sizes.c)
extern const yw_record yw_record_tet_size, yw_record_sized_point;
// Models (model.c, pose.c)
extern const yw_record yw_record_model, yw_record_mesh, yw_record_lattice, yw_record_tets,
    yw_record_surface, yw_record_pose, yw_record_pose_mesh, yw_record_landmark, yw_record_deform,
    yw_record_twist, yw_record_bend, yw_record_shear, yw_record_taper, yw_record_stretch,
    yw_record_enlarge, yw_record_turn;
// Layers of material (stiffness.c)
extern const yw_record yw_record_stiffness, yw_record_grid, yw_record_painted,
    yw_record_vertex_paint;
// Bodies and obstacles (body.c, path.c)
extern const yw_record yw_record_body, yw_record_paint, yw_record_repeat, yw_record_pin,
    yw_record_spring, yw_record_path, yw_record_key, yw_record_obstacle, yw_record_floor;
// Joints (joint.c)
extern const yw_record yw_record_joint, yw_record_motor;
// Groups (groups.c)
extern const yw_record yw_record_selector;
// Tracks (track.c, drive.c)
extern const yw_record yw_record_track, yw_record_track_key, yw_record_drive;
// Animated meshes (follow.c, mesh_obstacle.c)
extern const yw_record yw_record_follow, yw_record_animation;
// The whole (scene.c)
extern const yw_record yw_record_scene, yw_record_wind, yw_record_camera;

/// All of the above; those of methods are in scene/method.h.
extern const yw_record* const yw_scene_records[];
extern const int32_t yw_num_scene_records;

#endif
