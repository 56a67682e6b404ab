// SPDX-License-Identifier: MIT
// What a scene file says about bodies and obstacles, checked. Text and lists are owned by the JSON
// document.
#ifndef YW_SCENE_SPEC_H
#define YW_SCENE_SPEC_H

#include "scene/model_spec.h"
#include "yawara/track.h"

#define YW_SCENE_MAX_BODIES 100000
#define YW_SCENE_MAX_OBSTACLES 10000

typedef struct yw_path_spec {
  const yw_json* keys;
  bool loop, smooth, has_pivot;
  yw_vec3 pivot;
  int32_t num_keys;
  yw_key* list;
} yw_path_spec;

/// A measure that a track follows.
typedef struct yw_drive_spec {
  int32_t by;  ///< yw_drive_measure
  float from, to, smooth, delay;
  const char *of, *body, *obstacle;  ///< names
  yw_vec3 point;
  int32_t pin;  ///< of the body, from 0
  const yw_json *select, *vertices;
  yw_shape* shape;  ///< of select; not owned
  int32_t num_vertices;
  int32_t* list;
} yw_drive_spec;

/// A value that changes over time.
typedef struct yw_track_spec {
  const char* set;
  int32_t example, group;
  const yw_json* keys;
  int32_t kind;  ///< yw_track_kind
  bool loop;
  int32_t num_keys;
  yw_track_key* list;
  const yw_json* drive;
  yw_drive_spec* driven;  ///< of drive, owned by the document; NULL: follows the time
} yw_track_spec;

/// An animated mesh.
typedef struct yw_animation_spec {
  const yw_json* node;
  const char* file;
  int32_t first;
  float fps, start;
  bool loop, smooth;
  int32_t num_points, num_frames;
  yw_vec3* points;  ///< a row of num_points per frame; owned by the document
} yw_animation_spec;

/// How vertices find the points of an animation.
enum { YW_FOLLOW_NUMBER = 0, YW_FOLLOW_NEAREST };

/// An animated mesh that vertices follow.
typedef struct yw_follow_spec {
  yw_animation_spec animation;
  const char *paint, *attribute;
  int32_t by;
  float strength, stiffness, damping, max_speed;
  float* painted;  ///< strength per point; may be NULL
} yw_follow_spec;

typedef struct yw_pin_spec {
  const yw_json* node;
  const yw_json *select, *vertices, *path, *spring, *strength, *follow;
  const char* painted;  ///< a byte per vertex, in base64
  yw_shape* shape;      ///< of select; not owned
  float stiffness, damping;
  bool clamp;
  yw_path_spec motion;
  yw_track_spec track;     ///< of strength
  yw_follow_spec targets;  ///< of follow
  int32_t num_vertices;
  int32_t* list;
} yw_pin_spec;

typedef struct yw_repeat_spec {
  int32_t count[3];
  yw_vec3 spacing;
  float jitter, turn;
  float interval;  ///< s, between the starts of consecutive copies
  int32_t seed;
} yw_repeat_spec;

/// What collides with what. Bit 0 is the group of those that name none.
typedef struct yw_filter_spec {
  const yw_json *groups, *collides_with;
  uint32_t group_bits, mask_bits;
} yw_filter_spec;

/// A colour for the parts of a body inside a shape.
typedef struct yw_paint_spec {
  const yw_json* shape;
  yw_vec3 color;
  float blend;      ///< m, width of the border
  yw_shape* solid;  ///< of shape, in the rest pose; not owned
} yw_paint_spec;

typedef struct yw_body_spec {
  const yw_json* node;
  const char* name;
  const yw_json* model;
  yw_model_keys keys;
  yw_vec3 position, velocity, angular_velocity;
  yw_quat rotation;
  float friction, restitution;
  bool body_contact, self_contact;
  float start_time;  ///< s, key "start"
  yw_vec3 color;
  const yw_json *colors, *paint, *start_pose, *pins, *tracks, *repeat, *merge;

  yw_filter_spec filter;
  int32_t model_index;  ///< in yw_scene.models
  void* settings;       ///< struct of the record of the model's method, owned by the document
  yw_repeat_spec copies;
  int32_t first_body;  ///< index of its first copy, in order of creation
  int32_t group;       ///< in yw_scene.groups; -1: does not merge with others
  int32_t num_colors;  ///< 0: uses the palette
  yw_vec3* color_list;
  int32_t num_paints;
  yw_paint_spec* paint_list;
  int32_t start_example;  ///< -1: none
  yw_pose_spec start;     ///< if start_example is -1; node NULL: the rest pose
  yw_vec3* pose;          ///< built; NULL: the rest pose
  int32_t num_pins;
  yw_pin_spec* pin_list;
  int32_t num_tracks;
  yw_track_spec* track_list;
} yw_body_spec;

/// A copy of a body that is part of a group.
typedef struct yw_part_spec {
  int32_t body, copy;    ///< body: in yw_scene.bodies
  double start;          ///< s
  int32_t first, count;  ///< particles in the group, once all parts have started
} yw_part_spec;

/// Plastic bodies that merge where they touch: one body of the world.
typedef struct yw_group_spec {
  const char* name;  ///< "" for "merge": true
  int32_t first;     ///< index of its first entry in yw_scene.bodies
  int32_t num_parts;
  yw_part_spec* parts;  ///< sorted by start; owned by the document
  yw_model* model;
} yw_group_spec;

typedef struct yw_joint_spec {
  const yw_json* node;
  const char* name;
  int32_t kind;  ///< yw_joint_kind
  const char *body, *to;
  yw_vec3 at, to_at, axis;
  const yw_json *select, *limits, *motor;
  yw_shape* shape;     ///< of select; not owned
  float lower, upper;  ///< degrees or m
  float motor_speed, motor_force;
  float length;  ///< m; -1: as it starts
  float stiffness, damping;
  bool collide;
} yw_joint_spec;

/// An animated mesh as an obstacle.
typedef struct yw_mesh_obstacle_spec {
  yw_animation_spec animation;
  const char* mesh;  ///< file with the triangles; NULL: the first of a series
  float thickness;
  int32_t num_triangles;
  int32_t* triangles;  ///< owned by the document
} yw_mesh_obstacle_spec;

typedef struct yw_obstacle_spec {
  const yw_json* node;
  const char* name;
  const yw_json *shape, *path, *animation;
  yw_vec3 position;
  yw_quat rotation;
  float friction, restitution;
  bool sticky;
  yw_vec3 color;
  bool visible, checker;

  yw_filter_spec filter;
  yw_shape* solid;                ///< not owned; NULL: a mesh
  yw_mesh_obstacle_spec* moving;  ///< of animation, owned by the document; NULL: a shape
  yw_path_spec motion;
} yw_obstacle_spec;

#endif
