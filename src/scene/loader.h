// SPDX-License-Identifier: MIT
// The scene and its loader: from a JSON tree to models and a world.
#ifndef YW_SCENE_LOADER_H
#define YW_SCENE_LOADER_H

#include "scene/spec.h"
#include "yawara/extend/file.h"
#include "yawara/force.h"

#define YW_SCENE_MAX_GROUPS 31  ///< beside "default"

struct yw_scene {
  yw_allocator mem;
  yw_json_doc* doc;
  const char* file;    ///< for messages
  yw_file_list files;  ///< all files read, the scene's own text first
  yw_scene_info info;
  yw_vec3 gravity;
  yw_wind_def wind;  ///< density 0: none
  int32_t contact_iterations;
  float sleep_speed;  ///< m/s
  yw_contact_kind contact;
  int32_t num_bodies;            ///< including all copies
  yw_jobs jobs;                  ///< for the worlds that are built
  yw_device_kind device;         ///< likewise
  const struct yw_ranks* ranks;  ///< likewise
  YW_LIST(yw_shape*) shapes;     ///< all shapes; the specs borrow them
  YW_LIST(yw_model_spec) models;
  YW_LIST(yw_body_spec) bodies;
  YW_LIST(yw_group_spec) groups;
  YW_LIST(yw_obstacle_spec) obstacles;
  YW_LIST(yw_joint_spec) joints;
  int32_t num_tracks;
  yw_track_spec* tracks;  ///< owned by the document
};

/// A shape that is the solid of a surface file, and where that surface is.
typedef struct yw_shape_file {
  const yw_shape* shape;
  const char* file;    ///< as in the scene
  int32_t part;        ///< of the file, from 1; 0: all of it
  yw_transform place;  ///< from the coordinates of the file to those of the shape
} yw_shape_file;

/// An entry of "shapes".
typedef struct yw_named_shape {
  yw_shape* shape;
  int64_t cost;
  bool reading, used;
} yw_named_shape;

struct yw_loader {
  yw_reader_ctx r;
  yw_scene* scene;
  char* folder;  ///< of the scene file, with a slash, or ""
  const yw_json* shapes;
  yw_named_shape* named_shapes;  ///< one per item of shapes
  const yw_json* models;         ///< item i is yw_scene.models.items[i]
  const yw_scene_def* def;
  YW_LIST(yw_shape_file) shape_files;
  const yw_json* group_names[YW_SCENE_MAX_GROUPS];  ///< bit i + 1
  int32_t num_groups;
  uint32_t used_groups;  ///< bits of groups that something is in
  int32_t shape_depth;
  bool hollow;  ///< the shape being read is for its surface, which may be open
};

/// Prepends the scene's folder to a relative name; owned by the document. NULL when out of memory.
char* yw_loader_file(yw_loader* l, const char* file);

// shape.c
bool yw_load_named_shapes(yw_loader* l, const yw_json* node);
bool yw_load_shape(yw_loader* l, const yw_json* node, yw_shape** out);
/// Numbers of vertices of a body, at least one; owned by the document. body.c.
bool yw_load_vertices(yw_loader* l, const yw_json* node, int32_t** list, int32_t* count);
/// The file that the shape is the solid of, or NULL.
const yw_shape_file* yw_find_shape_file(const yw_loader* l, const yw_shape* shape);
/// Replaces a mesh by its connected part with this number, from 1; `part` 0 keeps all. `node` is
/// what names it.
bool yw_pick_part(yw_loader* l, const yw_json* node, int32_t part, yw_tri_mesh* mesh);
/// Turns over triangles of a file that face the wrong way, and says so at `node`, if not NULL.
bool yw_mend_surface(yw_loader* l, const yw_json* node, yw_tri_mesh* mesh);
/// Warns about entries of "shapes" that nothing refers to.
void yw_warn_unused_shapes(yw_loader* l);

// model.c
bool yw_load_named_models(yw_loader* l, const yw_json* node);
/// Reads the keys of a model in `node`, or finds an equal one; *index is its index in scene.models.
bool yw_load_model(yw_loader* l, const yw_json* node, const yw_model_keys* keys, int32_t* index);

// stiffness.c
/// Elastic materials; for yw_scene_method.material_name.
const char* yw_material_name(int32_t i);
/// Density of an elastic material by name; for yw_scene_method.density.
bool yw_material_density(yw_loader* l, const yw_json* name, float* out);
/// Young's modulus and Poisson's ratio of the material named in settings, where these give none.
bool yw_take_material(yw_loader* l, const yw_json* settings, float* youngs_modulus,
                      float* poissons_ratio);

// method.c
#define YW_SCENE_MAX_SOURCES 16
/// Lists the keys that say what a body is made of; returns their number.
int32_t yw_list_sources(const char* out[YW_SCENE_MAX_SOURCES]);
/// Finds the method named by the keys of a model or body, and fills the last part of keys.
bool yw_find_method(yw_loader* l, const yw_json* node, yw_model_keys* keys);
/// True when settings under the key of `named` (may be NULL) are for `method`, or its old name.
bool yw_is_named(const yw_scene_method* method, const yw_scene_method* named);
/// The first key of the settings that only models may have, or NULL.
const yw_json* yw_first_model_key(const yw_json* settings, const yw_record* record);

// merge.c
/// Reads "merge": the body becomes part of a group.
bool yw_load_merge(yw_loader* l, yw_body_spec* body);
/// Creates the models of groups.
bool yw_build_groups(yw_loader* l);

// overlap.c
/// Warns about plastic bodies that start inside others without merging, or inside obstacles.
void yw_warn_overlaps(yw_loader* l);

// pose.c
bool yw_load_pose(yw_loader* l, const yw_json* node, yw_pose_spec* out);
/// 1 inside the shape (or without one), 0 outside, linear in between over the width of the border.
float yw_shape_weight(const yw_shape* shape, float blend, yw_vec3 p);
/// Positions of the model's vertices in the pose; out has space for all of them.
bool yw_build_pose(yw_loader* l, const yw_model_spec* model, const yw_pose_spec* pose,
                   yw_vec3* out);

/// The same for deformations, files and text of any points; scale: of the files.
bool yw_build_point_pose(yw_loader* l, const yw_pose_spec* pose, const yw_vec3* points,
                         int32_t count, float scale, yw_vec3* out);

// pose_turns.c
/// model->examples and model->strengths for bodies of points, and, where deformations make a pose,
/// how they turn each point (else NULL). The caller frees the turns, also after a failure.
bool yw_build_point_poses(yw_loader* l, yw_model_spec* model, const yw_vec3* points, int32_t count,
                          yw_quat** turns);

// groups.c
/// Value of "groups"; NULL: one group.
bool yw_load_groups(yw_loader* l, const yw_json* node, yw_groups_spec* out);
/// Labels of all points, if the groups have any; the caller frees them. tets: as of
/// yw_open_stiffness.
bool yw_build_labels(yw_loader* l, const yw_groups_spec* groups, const yw_tet_mesh* tets,
                     const yw_vec3* points, int32_t count, int32_t** out);

// vertex_paint.c
/// Reads {"painted": "..."}; *text is the text of it.
bool yw_load_vertex_paint(yw_loader* l, const yw_json* node, const yw_json** text);
/// The painted numbers, 0 to 255, of a mesh with `count` vertices; the caller frees them.
bool yw_read_vertex_paint(yw_loader* l, const yw_json* text, int32_t count, unsigned char** out);

// pose_mesh.c
/// A pose given as a mesh of another topology (record pose_mesh).
bool yw_build_pose_mesh(yw_loader* l, const yw_model_spec* model, const yw_json* node,
                        yw_vec3* out);
// pose_words.c
/// Warns about examples that are hardly felt or turn tets inside out.
bool yw_warn_poses(yw_loader* l, const yw_model_spec* model);

// path.c
bool yw_load_path(yw_loader* l, const yw_json* node, yw_path_spec* out);
yw_path yw_path_of(const yw_path_spec* spec, yw_vec3 pivot);

// body.c
bool yw_load_bodies(yw_loader* l, const yw_json* node);
bool yw_load_obstacles(yw_loader* l, const yw_json* node);
/// "animation" of an obstacle: reads its files.
bool yw_load_mesh_obstacle(yw_loader* l, const yw_json* node, yw_mesh_obstacle_spec** out);
bool yw_load_floor(yw_loader* l, const yw_json* node);

// filter.c
/// Reads "groups" and "collides_with".
bool yw_load_filter(yw_loader* l, yw_filter_spec* filter);
/// Fails for groups that are named in "collides_with" alone.
bool yw_check_filters(yw_loader* l);

// joint.c
bool yw_load_joints(yw_loader* l, const yw_json* node);
/// Creates a joint, after all bodies.
yw_status yw_create_joint(const yw_scene* scene, yw_world* world, const yw_joint_spec* joint,
                          yw_error* error);
/// The body with this name; YW_ERR_FORMAT if there is none.
yw_status yw_find_named_body(const yw_world* world, const char* name, yw_body_id* out,
                             yw_error* error);

// track.c
/// A track, or only its keys. vector: its values are vectors.
bool yw_load_track(yw_loader* l, const yw_json* node, bool vector, yw_track_spec* out);
/// "tracks" of the scene or of a body.
bool yw_load_tracks(yw_loader* l, const yw_json* node, bool of_scene, yw_track_spec** list,
                    int32_t* count);
yw_status yw_create_scene_tracks(const yw_scene* scene, yw_world* world, yw_error* error);
yw_status yw_create_body_tracks(yw_world* world, const yw_body_spec* body, yw_body_id id,
                                yw_error* error);
yw_status yw_create_pin_track(yw_world* world, const yw_pin_spec* pin, yw_pin_id id,
                              yw_error* error);

// drive.c
bool yw_load_drive(yw_loader* l, const yw_json* node, yw_drive_spec** out);
/// Where the drives of a body find what they measure.
typedef struct yw_drive_place {
  yw_body_id body;                  ///< of the track
  int32_t num_pins;                 ///< of that body
  const yw_pin_id* pins;            ///< likewise
  const yw_obstacle_id* obstacles;  ///< one for each of the scene's
  yw_vec3 moved;                    ///< m, of this copy against the first
} yw_drive_place;
/// The caller frees the vertices.
yw_status yw_drive_of(const yw_scene* scene, const yw_world* world, const yw_drive_spec* spec,
                      const yw_drive_place* place, yw_drive_def* out, yw_error* error);
/// Creates the driven tracks of a body and of its pins (track.c), after all bodies.
yw_status yw_create_driven_tracks(const yw_scene* scene, yw_world* world, const yw_body_spec* body,
                                  const yw_drive_place* place, yw_error* error);

// follow.c
bool yw_load_follow(yw_loader* l, const yw_json* node, yw_follow_spec* out);
/// Reads the files, for a body with this many vertices.
bool yw_build_follow(yw_loader* l, int32_t num_vertices, yw_follow_spec* follow);
yw_status yw_create_follow(const yw_scene* scene, yw_world* world, const yw_follow_spec* follow,
                           yw_body_id body, const int32_t* vertices, int32_t count, yw_pin_id* out,
                           yw_error* error);

// build.c
/// Creates all meshes, examples and models that are used, then selects the vertices of pins.
bool yw_build_models(yw_loader* l);
/// Meshes the model at its element size, or reads its tets and scales them.
bool yw_build_tets(yw_loader* l, yw_model_spec* model);
void yw_model_spec_free(const yw_allocator* mem, yw_model_spec* model);

// surface.c
/// Creates the embedded surface of the model; *out is empty when it shows its own boundary.
bool yw_build_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* out);

// override.c
/// Applies overrides to the tree.
bool yw_apply_overrides(yw_loader* l, int32_t count, const yw_scene_override* overrides);

// world.c
/// Placement of copy number `copy` of a body.
yw_transform yw_body_copy_transform(const yw_body_spec* body, int32_t copy);
static inline yw_model_spec* yw_model_of_body(const yw_scene* scene, const yw_body_spec* body) {
  return &scene->models.items[body->model_index];
}
int32_t yw_body_num_copies(const yw_body_spec* body);
double yw_body_copy_start(const yw_body_spec* body, int32_t copy);

#endif
