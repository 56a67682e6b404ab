// SPDX-License-Identifier: MIT
// Scene files: JSON with // comments, SI units; docs/scene.schema.json describes them.
#ifndef YAWARA_SCENE_H
#define YAWARA_SCENE_H

#include "base.h"
#include "pose.h"
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

/// What to read and how to build its models. Start from yw_default_scene_def(). Strings and arrays
/// are needed only during the call.
typedef struct yw_scene_def {
  /// Path of the scene file, required. With `text` the file is not opened, but its path still
  /// appears in messages and relative paths in the scene start from its folder.
  const char* path;
  const char* text;  ///< the scene as `size` bytes of JSON; NULL (default): read the file
  size_t size;       ///< bytes of text
  const yw_scene_override* overrides;  ///< applied in order; may be NULL
  int32_t num_overrides;               ///< default 0
  const char* cache_folder;  ///< for results of long computations, see yw_fem_def; default NULL
  int32_t threads;           ///< to build models, including the caller; 0 (default): one per core
  yw_progress progress;      ///< called while models are built; NULL (default): none
  void* progress_context;
  yw_allocator mem;  ///< of the scene and its worlds; default malloc
  yw_jobs jobs;      ///< for the scene's worlds, see yw_world_def; default: own threads
} yw_scene_def;
YW_API yw_scene_def yw_default_scene_def(void);

/// Reads and checks a scene and builds its shapes, meshes and models. warning (may be NULL) gets
/// one line per warning, e.g. about a redundant example, or is empty. On error *out is NULL.
YW_API yw_status yw_scene_read(const yw_scene_def* def, yw_scene** out, yw_error* warning,
                               yw_error* error);
YW_API void yw_scene_destroy(yw_scene* scene);  ///< scene may be NULL

typedef struct yw_camera {
  yw_vec3 eye, target;  ///< m
  float fov;            ///< vertical, degrees
} yw_camera;

typedef struct yw_scene_info {
  const char* name;         ///< from the scene, or the name of its file
  const char* description;  ///< may be ""
  float fps;                ///< frames per second of output
  int32_t frames;           ///< number of frames after frame 0
  int32_t substeps;         ///< per frame
  bool has_camera;
  yw_camera camera;
} yw_scene_info;
YW_API yw_scene_info yw_scene_info_of(const yw_scene* scene);

/// A file that the scene was read from.
typedef struct yw_scene_file {
  const char* path;  ///< as it was opened
  uint64_t size;     ///< bytes
  uint64_t hash;     ///< of the contents
} yw_scene_file;
/// File 0 is the scene itself, without overrides; then come meshes, poses and grids, and the files
/// that they refer to.
YW_API int32_t yw_scene_num_files(const yw_scene* scene);
/// 0 <= i < yw_scene_num_files.
YW_API yw_scene_file yw_scene_file_at(const yw_scene* scene, int32_t i);

/// Appearance of a body (numbered in order of creation) or an obstacle.
typedef struct yw_look {
  yw_vec3 color;  ///< linear RGB, 0 to 1
  bool visible;
  bool checker;  ///< checkerboard (floors)
} yw_look;
YW_API yw_look yw_scene_body_look(const yw_scene* scene, int32_t body);
/// How well the tets of a body fill the shape they were made from; false if it was not made so.
YW_API bool yw_scene_body_fit(const yw_scene* scene, int32_t body, yw_tet_fit* out);
/// Applies the body's "paint" at a point of its rest pose to *color; false if it has no paint.
YW_API bool yw_scene_body_paint(const yw_scene* scene, int32_t body, yw_vec3 point, yw_vec3* color);
/// Path of the file whose surface the body shows, vertex by vertex, or that a sheet with two sides
/// was made of; NULL: there is none.
YW_API const char* yw_scene_body_surface_file(const yw_scene* scene, int32_t body);
/// Color of a particle of a plastic body, numbered as in yw_body_positions: that of the scene body
/// it came from, including paint. False if it has the color of the body's look.
YW_API bool yw_scene_particle_color(const yw_scene* scene, int32_t body, int32_t particle,
                                    yw_vec3* color);
/// Number of particles of a plastic body with their own color, including those that appear later.
YW_API int32_t yw_scene_num_particle_colors(const yw_scene* scene, int32_t body);
YW_API int32_t yw_scene_num_obstacles(const yw_scene* scene);
YW_API yw_look yw_scene_obstacle_look(const yw_scene* scene, int32_t obstacle);
YW_API const yw_shape* yw_scene_obstacle_shape(const yw_scene* scene, int32_t obstacle);
/// The same in every world that yw_scene_build makes.
YW_API yw_obstacle_id yw_scene_obstacle_id(const yw_scene* scene, int32_t obstacle);

/// Where worlds built from now on have their bodies (yw_world_def.device).
YW_API void yw_scene_set_device(yw_scene* scene, yw_device_kind device);

/// Creates a world with everything in the scene. The scene may be destroyed before the world.
/// threads 0: one per core.
YW_API yw_status yw_scene_build(const yw_scene* scene, int32_t threads, yw_simd simd,
                                yw_world** out, yw_error* error);

/// Where yw_scene_rollout puts the positions of a body.
typedef struct yw_rollout_track {
  int32_t body;        ///< in order of creation, from 0
  int32_t count;       ///< its particles
  yw_vec3* positions;  ///< m, num_variants x (frames + 1) x count; frame 0 is the start
} yw_rollout_track;

/// One variant of a scene: what it changes, and what became of it.
typedef struct yw_rollout_variant {
  const yw_scene_override* overrides;  ///< applied after those of the scene; may be NULL
  int32_t num_overrides;
  // Results.
  int32_t frames;  ///< played
  uint64_t hash;   ///< yw_world_hash at the end
  /// YW_ERR_DIVERGED: a body diverged. YW_ERR_LIMIT: a body of a track is missing, or does not have
  /// `count` particles in every frame; take the steps of this variant yourself. Or as in
  /// yw_scene_read.
  yw_status status;
  yw_error message;  ///< of an error, or warnings of yw_scene_read, one per line; may be empty
} yw_rollout_variant;

/// Asked some ten times per second whether to stop; by several threads at the same time.
typedef bool (*yw_rollout_stop)(void* context);

/// Many variants of a scene. Start from yw_default_rollout_def().
typedef struct yw_rollout_def {
  yw_scene_def scene;  ///< its threads and jobs are not used: every variant runs on one thread
  yw_rollout_variant* variants;
  int32_t num_variants;
  int32_t frames;   ///< to play, at the scene's pace; negative (default): those of each variant
  int32_t threads;  ///< including the caller; 0 (default): one per core
  yw_simd simd;
  const yw_rollout_track* tracks;  ///< need frames >= 0
  int32_t num_tracks;              ///< default 0
  /// After a variant that failed, otherwise than with YW_ERR_LIMIT, begin others; default false.
  bool keep_going;
  yw_rollout_stop stop;  ///< true ends the call early; NULL (default): never
  void* stop_context;
} yw_rollout_def;
YW_API yw_rollout_def yw_default_rollout_def(void);

/// Reads, builds and plays every variant, with the same bits as one by one, and lets everything go
/// but positions and hashes. YW_ERR_INVALID, with a message: the definition makes no sense. What
/// became of the variants is in them; those that were not begun have YW_ERR_INVALID and no message.
YW_API yw_status yw_scene_rollout(const yw_rollout_def* def, yw_error* error);

/// Receives a text piece by piece.
typedef void (*yw_text_sink)(void* context, const char* text);

/// Index in "bodies" of the scene file of the entry that a body was made from; -1 if there is no
/// such body.
YW_API int32_t yw_scene_body_entry(const yw_scene* scene, int32_t body);
/// Writes the numbers, words and switches that the body's method knows, with their present values,
/// as a JSON list of objects: "key", "kind" ("number", "integer", "boolean" or "choice"), "value",
/// "default", "low", "high", "above" (low itself is not allowed), "unit", "about", "choices", and
/// "model" (true: yw_scene_set cannot change it). Nothing if there is no such body.
YW_API void yw_scene_write_settings(const yw_scene* scene, int32_t body, yw_text_sink sink,
                                    void* context);
/// Positions of the vertices of the body's model in its example k, m; NULL if there is none. count
/// and name (NULL: it has none) may be NULL. Owned by the scene.
YW_API const yw_vec3* yw_scene_example(const yw_scene* scene, int32_t body, int32_t k,
                                       int32_t* count, const char** name);
/// What the regions of a body feel of its example poses (yawara/pose.h), and of one more, which may
/// be NULL: positions of the vertices of its model, compared with the examples. Writes at most
/// `capacity` reports, the examples in their order and then the pose, and their names (NULL: none;
/// owned by the scene; names may be NULL). Returns how many there are, -1 with a message in error.
/// Rods and sheets feel a pose as it is: for them, and only if `pose` is given, `stretch` is its
/// distance from the rest pose over their size, apart from rigid motion. 0 for other bodies.
YW_API int32_t yw_scene_check_poses(const yw_scene* scene, int32_t body, const yw_vec3* pose,
                                    yw_pose_report* reports, const char** names, int32_t capacity,
                                    yw_error* error);
/// Mixtures of the examples of a volume in which it passes through itself, as
/// yw_pose_check_mixtures finds them. Returns how many there are, -1 with a message in error; 0 for
/// other bodies.
YW_API int32_t yw_scene_check_mixtures(const yw_scene* scene, int32_t body, int32_t steps,
                                       yw_pose_mixture* mixtures, int32_t capacity,
                                       yw_error* error);
/// Changes a setting of the method of a body while a world runs, for all copies of the body, and
/// for worlds that are built later. value is JSON, or a bare word. On error nothing is changed.
YW_API yw_status yw_scene_set(yw_scene* scene, yw_world* world, int32_t body, const char* key,
                              const char* value, yw_error* error);

/// Writes the JSON schema of scene files.
YW_API void yw_scene_write_schema(yw_text_sink sink, void* context);
/// Writes all keys of scene files with unit, range and default, as Markdown.
YW_API void yw_scene_write_keys(yw_text_sink sink, void* context);

#ifdef __cplusplus
}
#endif
#endif
