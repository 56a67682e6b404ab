// SPDX-License-Identifier: MIT
#include "scene/records.h"

const yw_record* const yw_scene_records[] = {
    &yw_record_scene,       &yw_record_wind,    &yw_record_camera,     &yw_record_rotation,
    &yw_record_shape,       &yw_record_sphere,  &yw_record_box,        &yw_record_capsule,
    &yw_record_cylinder,    &yw_record_cone,    &yw_record_torus,      &yw_record_plane,
    &yw_record_combination, &yw_record_offset,  &yw_record_mesh_shape, &yw_record_model,
    &yw_record_mesh,        &yw_record_lattice, &yw_record_tets,       &yw_record_tet_size,
    &yw_record_sized_point, &yw_record_surface, &yw_record_pose,       &yw_record_pose_mesh,
    &yw_record_landmark,    &yw_record_deform,  &yw_record_twist,      &yw_record_bend,
    &yw_record_shear,       &yw_record_taper,   &yw_record_stretch,    &yw_record_enlarge,
    &yw_record_turn,        &yw_record_body,    &yw_record_paint,      &yw_record_repeat,
    &yw_record_pin,         &yw_record_spring,  &yw_record_path,       &yw_record_stiffness,
    &yw_record_key,         &yw_record_grid,    &yw_record_painted,    &yw_record_obstacle,
    &yw_record_floor,       &yw_record_joint,   &yw_record_motor,      &yw_record_track,
    &yw_record_track_key,   &yw_record_drive,   &yw_record_follow,     &yw_record_vertex_paint,
    &yw_record_animation,   &yw_record_selector};
const int32_t yw_num_scene_records = (int32_t)(sizeof yw_scene_records / sizeof *yw_scene_records);
