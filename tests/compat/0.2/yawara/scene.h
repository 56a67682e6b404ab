// SPDX-License-Identifier: MIT
// Scene files: JSON with // comments, SI units; docs/scene.schema.json describes them.
#ifndef YAWARA_SCENE_H
#define YAWARA_SCENE_H

#include "base.h"
#include "world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yw_scene yw_scene;

/// A change to a scene before it is built, as from `--set bodies[0].match.beta=0.5`.
typedef struct yw_scene_override {
  const char* path;   ///< e.g. "bodies[0].match.beta"
  const char* value;  ///< JSON, or a bare word taken as a string
} yw_scene_override;

/// What to read and how to make the models of it. Start from yw_default_scene_def(). All of it is
/// needed only during the call.
typedef struct yw_scene_def {
  /// The scene file. With a text it is not opened, but still named in messages and the place that
  /// files of the scene are relative to. Never NULL.
  const char* path;
  const char* text;  ///< the scene itself, size bytes of JSON; NULL (default): read the file
  size_t size;       ///< bytes of text
  const yw_scene_override* overrides;  ///< changes, first to last; may be NULL
  int32_t num_overrides;               ///< default 0
  const char* cache_folder;  ///< for what takes long to make, see yw_fem_def; NULL (default): none
  int32_t threads;           ///< that make models, including the caller; 0 (default): one per core
  yw_progress progress;      ///< told while models are made; NULL (default): nobody
  void* progress_context;
  yw_allocator mem;  ///< of the scene and its worlds; default malloc
  yw_jobs jobs;      ///< that step its worlds, see yw_world_def; default: threads of their own
} yw_scene_def;
YW_API yw_scene_def yw_default_scene_def(void);

/// Reads, checks and builds shapes, meshes and models. warning (may be NULL) gets what is worth a
/// word, one line each, e.g. a redundant example; empty when nothing is. On error *out is NULL.
YW_API yw_status yw_scene_read(const yw_scene_def* def, yw_scene** out, yw_error* warning,
                               yw_error* error);
YW_API void yw_scene_destroy(yw_scene* scene);  ///< NULL is fine

typedef struct yw_camera {
  yw_vec3 eye, target;  ///< m
  float fov;            ///< vertical, degrees
} yw_camera;

typedef struct yw_scene_info {
  const char* name;         ///< from the file, or the file's name
  const char* description;  ///< may be ""
  float fps;                ///< frames per second of output
  int32_t frames;           ///< how many after frame 0
  int32_t substeps;         ///< per frame
  bool has_camera;
  yw_camera camera;
} yw_scene_info;
YW_API yw_scene_info yw_scene_info_of(const yw_scene* scene);

/// A file that the scene was read from.
typedef struct yw_scene_file {
  const char* path;  ///< as it was opened
  uint64_t size;     ///< bytes
  uint64_t hash;     ///< changes when any of them does
} yw_scene_file;
/// Number 0 is the text of the scene itself, without overrides; then come meshes, poses and grids,
/// and the files that these refer to.
YW_API int32_t yw_scene_num_files(const yw_scene* scene);
/// 0 <= i < yw_scene_num_files.
YW_API yw_scene_file yw_scene_file_at(const yw_scene* scene, int32_t i);

/// Looks of bodies (in order of creation) and obstacles.
typedef struct yw_look {
  yw_vec3 color;  ///< linear RGB, 0 to 1
  bool visible;
  bool checker;  ///< checker board (floors)
} yw_look;
YW_API yw_look yw_scene_body_look(const yw_scene* scene, int32_t body);
/// Lays the body's "paint" at a point of its rest pose over *color; false when it has none at all.
YW_API bool yw_scene_body_paint(const yw_scene* scene, int32_t body, yw_vec3 point, yw_vec3* color);
/// Colour of a particle of a plastic body, by its number among yw_body_positions: that of the body
/// which it was part of, with its paint. false when it has just the colour of the body's look.
YW_API bool yw_scene_particle_color(const yw_scene* scene, int32_t body, int32_t particle,
                                    yw_vec3* color);
/// How many particles of a plastic body have a colour of their own, those included that come later;
/// 0: none.
YW_API int32_t yw_scene_num_particle_colors(const yw_scene* scene, int32_t body);
YW_API int32_t yw_scene_num_obstacles(const yw_scene* scene);
YW_API yw_look yw_scene_obstacle_look(const yw_scene* scene, int32_t obstacle);
YW_API const yw_shape* yw_scene_obstacle_shape(const yw_scene* scene, int32_t obstacle);
/// The same in every world that yw_scene_build makes.
YW_API yw_obstacle_id yw_scene_obstacle_id(const yw_scene* scene, int32_t obstacle);

/// A new world with everything in the scene; it does not need the scene any more. threads 0: one
/// per core.
YW_API yw_status yw_scene_build(const yw_scene* scene, int32_t threads, yw_simd simd,
                                yw_world** out, yw_error* error);

/// Gets a text in pieces, one after another.
typedef void (*yw_text_sink)(void* context, const char* text);
/// The JSON schema of scene files.
YW_API void yw_scene_write_schema(yw_text_sink sink, void* context);
/// All keys of scene files with unit, range and default, as Markdown.
YW_API void yw_scene_write_keys(yw_text_sink sink, void* context);

#ifdef __cplusplus
}
#endif
#endif
