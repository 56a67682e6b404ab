// SPDX-License-Identifier: MIT
// Models: the immutable rest data of a body, shared by any number of bodies, worlds and threads.
// How to make one: match.h, frames.h, slender.h, fem.h, plastic.h.
#ifndef YAWARA_MODEL_H
#define YAWARA_MODEL_H

#include "base.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rest data of one kind of body. Reference counted: every body holds one reference.
typedef struct yw_model yw_model;

#define YW_MAX_EXAMPLES 32

/// All bodies, pins and obstacles, and the step: world.h. Named here for the functions of methods'
/// headers that look at a body.
typedef struct yw_world yw_world;

/// Ids are values: index + generation. A zeroed id is null; an id of something destroyed is
/// refused.
typedef struct yw_body_id {
  uint32_t index1, generation;
} yw_body_id;

/// Numbers of a material at room temperature and small strains; docs/materials.md says where each
/// comes from and how far real samples spread.
typedef struct yw_material {
  const char* name;      ///< as in scene files, e.g. "soft_tissue"
  float youngs_modulus;  ///< Pa
  float
      poissons_ratio;  ///< at most 0.49: rubbers are nearer to 0.5, which costs more than it shows
  float density;       ///< kg/m^3
} yw_material;
YW_API int32_t yw_num_materials(void);
/// Material number i, softest first, 0 <= i < yw_num_materials(); NULL when there is none.
YW_API const yw_material* yw_material_at(int32_t i);
YW_API const yw_material* yw_material_by_name(const char* name);  ///< NULL when there is none

/// Tells how far long work has come; share is 0 to 1.
typedef void (*yw_progress)(void* context, const char* what, double share);

/// Carries a finer triangle mesh in the body (barycentric, rest pose): it is what pictures and
/// exports show. Must be called before the first body is made, of a model made of tets.
YW_API yw_status yw_model_embed_surface(yw_model* model, const yw_tri_mesh* surface,
                                        yw_error* error);

/// Positions of the vertices of a tet mesh that follow a moved copy of an embedded surface
/// (least squares, smooth inside): makes an example of the tets from an example of the surface.
YW_API yw_status yw_tets_from_surface_pose(const yw_tet_mesh* rest, const yw_tri_mesh* surface_rest,
                                           const yw_vec3* surface_pose, yw_vec3* out_positions,
                                           yw_error* error);

YW_API yw_model* yw_model_retain(yw_model* model);
YW_API void yw_model_release(yw_model* model);  ///< NULL is fine

YW_API const char* yw_model_method(const yw_model* model);  ///< "match", "frames", "slender", ...
YW_API int32_t yw_model_num_particles(const yw_model* model);  ///< at rest
/// What a body made of this model shows, at rest: the embedded surface, what the method makes
/// (tubes of rods, sheets with thickness), or the boundary of the tets. Empty for bodies of loose
/// particles.
YW_API const yw_tri_mesh* yw_model_surface(const yw_model* model);
/// The tets that the model was made of, at rest; empty for rods, sheets and loose particles.
YW_API const yw_tet_mesh* yw_model_tets(const yw_model* model);
/// Where the particles are at rest, in the order that pins and yw_body_positions use: the vertices
/// of the tets, the points of a rod, the vertices of a sheet, loose particles. NULL when the method
/// does not tell. count may be NULL.
YW_API const yw_vec3* yw_model_points(const yw_model* model, int32_t* count);
/// True when the shown surface needs more than the positions of the particles (tubes that twist):
/// then only yw_body_surface_positions knows it.
YW_API bool yw_model_surface_has_state(const yw_model* model);
/// Vertices of the shown surface for given positions of the mesh's vertices. out has room for
/// yw_model_surface(model)->num_vertices. YW_ERR_INVALID where yw_model_surface_has_state.
YW_API yw_status yw_model_surface_positions(const yw_model* model, const yw_vec3* positions,
                                            yw_vec3* out);

/// A point carried by a mesh: the sum of weights[k] times the position of vertices[k]. Weights sum
/// to 1; a point outside every tet belongs to the nearest one and may have weights outside [0, 1]
/// (it follows that tet linearly).
typedef struct yw_embedded_point {
  int32_t vertices[4];
  float weights[4];
} yw_embedded_point;

/// How the vertices of the shown surface follow those of the mesh. At most one array is not NULL;
/// none is where there is no surface, or where yw_model_surface_has_state. Both have one entry per
/// vertex of the surface and belong to the model.
typedef struct yw_surface_map {
  const int32_t* vertices;          ///< vertex of the mesh, where the surface is its boundary
  const yw_embedded_point* points;  ///< where it is embedded
} yw_surface_map;
YW_API yw_surface_map yw_model_surface_map(const yw_model* model);

/// A quantity that a body can show beside its shape: stress, plastic strain, level.
typedef struct yw_field_info {
  const char* name;  ///< as in files, e.g. "stress"
  const char* unit;  ///< e.g. "Pa"; "" for none
  bool per_cell;     ///< one number per cell (see yw_body_cells), else one per particle
} yw_field_info;

#ifdef __cplusplus
}
#endif
#endif
