// SPDX-License-Identifier: MIT
// Models: the immutable rest data of a body, shared by any number of bodies, worlds and threads.
// They are created with the functions of match.h, frames.h, slender.h, fem.h, plastic.h
// and rigid.h.
#ifndef YAWARA_MODEL_H
#define YAWARA_MODEL_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rest data of one kind of body. Reference counted; every body holds one reference.
typedef struct yw_model yw_model;

#define YW_MAX_EXAMPLES 32

/// Which regions choose their example together.
typedef enum yw_grouping {
  YW_GROUPS_GLOBAL = 0,  ///< the whole body (default)
  YW_GROUPS_LABELS,      ///< one group per vertex label
  YW_GROUPS_PER_REGION   ///< every region on its own
} yw_grouping;

/// A world (see world.h). Declared here because the methods' headers need it.
typedef struct yw_world yw_world;

/// Ids are values: index and generation. A zeroed id is null; the id of a destroyed object is
/// refused.
typedef struct yw_body_id {
  uint32_t index1, generation;
} yw_body_id;

/// Properties of a material at room temperature and small strains. docs/materials.md gives sources
/// and ranges.
typedef struct yw_material {
  const char* name;      ///< as in scene files, e.g. "soft_tissue"
  float youngs_modulus;  ///< Pa
  float poissons_ratio;  ///< at most 0.49: closer to 0.5, as in rubber, costs more than it shows
  float density;         ///< kg/m^3
} yw_material;
YW_API int32_t yw_num_materials(void);
/// Material i, softest first, 0 <= i < yw_num_materials(); NULL if out of range.
YW_API const yw_material* yw_material_at(int32_t i);
YW_API const yw_material* yw_material_by_name(const char* name);  ///< NULL if not found

/// Reports the progress of a long computation; share is 0 to 1.
typedef void (*yw_progress)(void* context, const char* what, double share);

/// Embeds a finer triangle mesh, given in the rest pose, in the tets of the model: it follows them
/// smoothly, and renders and exports show it. Must be called before the first body is created. Tet
/// models only.
YW_API yw_status yw_model_embed_surface(yw_model* model, const yw_tri_mesh* surface,
                                        yw_error* error);

/// Finds positions of the tet mesh's vertices that fit a pose of an embedded surface (least
/// squares, smooth inside). Turns an example of the surface into an example of the tets.
YW_API yw_status yw_tets_from_surface_pose(const yw_tet_mesh* rest, const yw_tri_mesh* surface_rest,
                                           const yw_vec3* surface_pose, yw_vec3* out_positions,
                                           yw_error* error);

/// How a mesh of another topology is brought to the body before tets are fitted to it.
typedef enum yw_pose_align {
  YW_ALIGN_NONE = 0,   ///< it is where the body is
  YW_ALIGN_RIGID,      ///< turned and moved
  YW_ALIGN_SIMILARITY  ///< also scaled: to the landmarks or, without, to the volume of the body
} yw_pose_align;

/// A point of the rest pose and where it is in the other mesh.
typedef struct yw_landmark {
  yw_vec3 rest, pose;
} yw_landmark;

/// A pose given as a surface of any topology.
typedef struct yw_pose_fit_def {
  const yw_tet_mesh* rest;
  const yw_tri_mesh* pose;  ///< the surface in the pose; closed, or nearly so
  yw_pose_align align;
  const yw_landmark* landmarks;  ///< may be NULL
  int32_t num_landmarks;         ///< >= 0; three or more also say how the mesh is turned
} yw_pose_fit_def;

/// How well the tets fit, m.
typedef struct yw_pose_fit {
  float scale;  ///< by which the mesh was multiplied
  float mean;   ///< distance of the tets' boundary from the mesh
  float worst;  ///< the largest such distance, of either from the other
} yw_pose_fit;

/// Finds positions of the tets' vertices (rest->num_vertices) so that their boundary is that of a
/// pose with another topology: aligned, then pulled by nearest points while the tets resist
/// stretching less and less. Sliding along the surface, like the twist of a round bar, is not seen:
/// landmarks tell. fit may be NULL.
YW_API yw_status yw_tets_from_pose_mesh(const yw_pose_fit_def* def, yw_vec3* out_positions,
                                        yw_pose_fit* fit, yw_error* error);

YW_API yw_model* yw_model_retain(yw_model* model);
YW_API void yw_model_release(yw_model* model);  ///< model may be NULL

YW_API const char* yw_model_method(const yw_model* model);  ///< "match", "frames", "slender", ...
YW_API int32_t yw_model_num_particles(const yw_model* model);  ///< at rest
/// The surface shown for this model, at rest: the embedded surface, the one the method makes (tubes
/// of rods, sheets with thickness), or the boundary of the tets. Empty for loose particles.
YW_API const yw_tri_mesh* yw_model_surface(const yw_model* model);
/// The tets of the model at rest; empty for rods, sheets and loose particles.
YW_API const yw_tet_mesh* yw_model_tets(const yw_model* model);
/// Rest positions of the particles, in the order that pins and yw_body_positions use: the vertices
/// of the tets, the points of a rod, the vertices of a sheet, loose particles. NULL if the method
/// does not provide them. count may be NULL.
YW_API const yw_vec3* yw_model_points(const yw_model* model, int32_t* count);
/// What connects these points if it is not tets: lines of rods (*corners becomes 2) or triangles of
/// sheets (3). NULL, with 0 corners and a count of 0, for other models.
YW_API const int32_t* yw_model_elements(const yw_model* model, int32_t* corners, int32_t* count);
/// True if the shown surface depends on more than particle positions (tubes that twist). Then use
/// yw_body_surface_positions.
YW_API bool yw_model_surface_has_state(const yw_model* model);
/// True if bodies may leave their shown surface behind, see yw_body_parted.
YW_API bool yw_model_surface_parts(const yw_model* model);
/// The particle that a vertex of such a surface follows most closely; it may belong to a part that
/// starts later. -1 for other surfaces.
YW_API int32_t yw_model_surface_particle(const yw_model* model, int32_t vertex);
/// Writes the vertices of the shown surface for given positions of the mesh's vertices. out has
/// room for yw_model_surface(model)->num_vertices. YW_ERR_INVALID if yw_model_surface_has_state.
YW_API yw_status yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                            yw_vec3* out);

/// A point embedded in a mesh: the sum of weights[k] times the position of vertices[k]. Weights sum
/// to 1. A point outside every tet follows the nearest tet linearly, with weights that may lie
/// outside [0, 1].
typedef struct yw_embedded_point {
  int32_t vertices[4];
  float weights[4];
} yw_embedded_point;

/// How the vertices of the shown surface follow those of the mesh. At most one array is set; both
/// are NULL if there is no surface or if yw_model_surface_has_state. The arrays have one entry per
/// surface vertex and belong to the model.
typedef struct yw_surface_map {
  const int32_t* vertices;          ///< mesh vertices, if the surface is the mesh's boundary
  const yw_embedded_point* points;  ///< if the surface is embedded: in the nearest tet alone, which
                                    ///< shows the facets of coarse tets; yw_surface_rig does not
} yw_surface_map;
YW_API yw_surface_map yw_model_surface_map(const yw_model* model);

/// A vertex of the tets that a point follows.
typedef struct yw_surface_link {
  int32_t vertex;
  float weight;  ///< above 0; those of a point sum to 1
} yw_surface_link;

/// How an embedded surface follows the tets around it smoothly: without facets, and beyond the tets
/// too. The arrays belong to whoever made the rig; links is NULL if the surface is not embedded.
typedef struct yw_surface_rig {
  const yw_tet_mesh* tets;       ///< at rest; their vertices are the first of the model's
  const yw_tri_mesh* surface;    ///< at rest
  const int32_t* first;          ///< vertex i of the surface has links first[i] to first[i + 1] - 1
  const yw_surface_link* links;  ///< to vertices of the tets
} yw_surface_rig;
YW_API yw_surface_rig yw_model_surface_rig(const yw_model* model);
/// Vertices of the surface for given positions of the tets' vertices; out has room for all of them.
/// Affine motion is reproduced exactly. YW_ERR_MEMORY if there is not enough.
YW_API yw_status yw_surface_rig_move(const yw_surface_rig* rig, const yw_vec3* positions,
                                     yw_vec3* out);

/// A quantity defined over a body, e.g. stress, plastic strain or refinement level.
typedef struct yw_field_info {
  const char* name;  ///< as in files, e.g. "stress"
  const char* unit;  ///< e.g. "Pa"; "" for none
  bool per_cell;     ///< one value per cell (see yw_body_cells), else one per particle
} yw_field_info;

/// A statistic of a body's method, e.g. iterations, counts or example weights.
typedef struct yw_statistic {
  char name[32];     ///< e.g. "iterations"
  const char* unit;  ///< "" for none
  double value;
} yw_statistic;

#define YW_MAX_STATISTICS 64
typedef struct yw_statistics {
  int32_t count;
  yw_statistic items[YW_MAX_STATISTICS];
} yw_statistics;

#ifdef __cplusplus
}
#endif
#endif
