// SPDX-License-Identifier: MIT
// "fields" of a model: layers of material, each overlaid on the ones before. Read by any method
// that needs the material at a point.
#ifndef YW_SCENE_STIFFNESS_H
#define YW_SCENE_STIFFNESS_H

#include "geometry/painted.h"
#include "scene/keys.h"
#include "yawara/files.h"

typedef struct yw_loader yw_loader;

/// One value, two values to interpolate, or values from the file.
typedef struct yw_layer_value {
  bool given, from_file;
  float at[2];
} yw_layer_value;

/// Material of a part of a body: uniform, graded between two points, from a grid, or painted.
typedef struct yw_stiffness_spec {
  const yw_json *shape, *grid, *painted, *labels;
  const yw_json *youngs_modulus, *poissons_ratio, *density, *stiffness_damping, *elasticity,
      *yield_stress;
  const char* material;
  yw_vec3 from, to;
  float blend;  ///< m, width of the border of shape
  bool smooth;  ///< no kink at from and to

  yw_shape* where;  ///< NULL: everywhere; not owned
  bool graded;      ///< from and to are given
  int32_t num_labels;
  int32_t* label_list;  ///< owned by the document
  const char *file, *array;
  const yw_json* paint_text;  ///< values at the vertices of the tets, as text; NULL: not
  bool mapped;                ///< follows a grid or paint
  float range[2];  ///< values in the file that correspond to the first and the second value
  yw_layer_value youngs, poisson, rho, damping, yield;
  float* matrix;  ///< 21 numbers owned by the document, or NULL

  // While a model is built
  yw_grid grid_data;
  yw_painted paint_data;
} yw_stiffness_spec;

/// Keys of a layer that only some methods support.
typedef enum yw_layer_key {
  YW_LAYER_POISSON = 1,   ///< poissons_ratio
  YW_LAYER_MATERIAL = 2,  ///< material
  YW_LAYER_DENSITY = 4,   ///< density
  YW_LAYER_YIELD = 8,     ///< yield_stress
  YW_LAYER_DAMPING = 16,  ///< stiffness_damping
  YW_LAYER_ELASTIC = 32,  ///< elasticity
  YW_LAYER_LABELS = 64    ///< labels
} yw_layer_key;

/// Material at a point, as far as layers say. A method fills in its own values and reads back those
/// it needs.
typedef struct yw_point_material {
  float youngs_modulus;  ///< Pa
  float poissons_ratio;
  float density;            ///< kg/m^3
  float damping_time;       ///< s
  float yield_stress;       ///< Pa
  const float* elasticity;  ///< Pa, 21 numbers instead of the first two; or NULL
} yw_point_material;

/// Reads a list of layers into the document. layer_keys: those that the method supports.
bool yw_load_stiffness_list(yw_loader* l, const yw_json* node, unsigned layer_keys, int32_t* count,
                            yw_stiffness_spec** out);
/// Fails because a string node names no material; lists the known ones. Always false.
bool yw_no_material(yw_loader* l, const yw_json* node, const char* (*name_at)(int32_t i));
/// The material named in a string node, or NULL after an error.
const yw_material* yw_find_scene_material(yw_loader* l, const yw_json* node);

/// Young's moduli of all points under the layers, then their Poisson's ratios; the caller frees
/// them. NULL without layers. node is the list of layers, for messages.
bool yw_make_moduli(yw_loader* l, const yw_tet_mesh* tets, const yw_json* node, int32_t num_layers,
                    yw_stiffness_spec* layers, float youngs_modulus, float poissons_ratio,
                    const yw_vec3* points, int32_t count, float** out);

/// Opens the files of the layers. tets: those that text is painted on; NULL: the body has none.
/// Close frees what was opened, also after a failure.
bool yw_open_stiffness(yw_loader* l, const yw_tet_mesh* tets, int32_t count,
                       yw_stiffness_spec* layers);
void yw_close_stiffness(int32_t count, yw_stiffness_spec* layers);
/// Reads the key "painted" of a selector or the like; open and close it as a layer.
bool yw_load_painted(yw_loader* l, const yw_json* node, yw_stiffness_spec* out);
/// The paint at a point: 0 and 1 at the two numbers of its range.
float yw_painted_share(const yw_stiffness_spec* paint, yw_vec3 p);
/// Overlays one layer on the material at a point; false when the layer does not reach it.
bool yw_stiffness_at(const yw_stiffness_spec* layer, yw_vec3 p, int32_t label,
                     yw_point_material* material);

/// For lists of other layers, with the same places: reads where a layer applies, once its record
/// has been read.
bool yw_load_layer_place(yw_loader* l, const yw_json* node, yw_stiffness_spec* out);
/// One value, two to interpolate between, or "file"; row has its limits. node may be NULL.
bool yw_load_layer_value(yw_loader* l, const yw_key_row* row, const yw_json* node,
                         const yw_stiffness_spec* spec, yw_layer_value* out);
/// A value of a layer at a point, interpolated linearly.
float yw_layer_length_at(const yw_stiffness_spec* layer, const yw_layer_value* value, yw_vec3 p);

#endif
