// SPDX-License-Identifier: MIT
// "fields" of a model: layers of material, each laid over the ones before. Any method that asks
// what a body is made of at a point reads them here.
#ifndef YW_SCENE_STIFFNESS_H
#define YW_SCENE_STIFFNESS_H

#include "geometry/painted.h"
#include "scene/fields.h"
#include "yawara/fem.h"
#include "yawara/files.h"

typedef struct yw_loader yw_loader;

/// A number with one value, two values to go between, or that of the file.
typedef struct yw_layer_value {
  bool given, from_file;
  float at[2];
} yw_layer_value;

/// Part of a body with a material of its own, the same all over or changing from a point to
/// another, with a grid, or with paint.
typedef struct yw_stiffness_spec {
  const yw_json *shape, *grid, *painted, *labels;
  const yw_json *youngs_modulus, *poissons_ratio, *density, *stiffness_damping, *elasticity,
      *yield_stress;
  const char* material;
  yw_vec3 from, to;
  float blend;  ///< m, width of the border of shape
  bool smooth;  ///< from and to are met without a kink

  yw_shape* where;  ///< NULL: everywhere; not owned
  bool graded;      ///< from, to count
  int32_t num_labels;
  int32_t* label_list;  ///< in the document
  const char *file, *array;
  float range[2];  ///< numbers in the file that the first and the second value stand for
  yw_layer_value youngs, poisson, rho, damping, yield;
  float* matrix;  ///< 21 numbers in the document, or NULL

  // While a model is made
  yw_grid grid_data;
  yw_painted paint_data;
} yw_stiffness_spec;

/// Whose layers they are: not every method knows every key.
typedef enum yw_layers_of {
  YW_LAYERS_OF_FRAMES,  ///< and of rods and sheets
  YW_LAYERS_OF_FEM,
  YW_LAYERS_OF_PLASTIC
} yw_layers_of;

/// Reads a list of layers into the document.
bool yw_load_stiffness_list(yw_loader* l, const yw_json* node, yw_layers_of method, int32_t* count,
                            yw_stiffness_spec** out);
/// The material called so in a string node, or NULL after an error.
const yw_material* yw_find_scene_material(yw_loader* l, const yw_json* node);

/// Young's moduli of all points under the layers, then their Poisson's ratios, for the caller to
/// free; NULL where there are no layers. node is the list of layers, for messages.
bool yw_make_moduli(yw_loader* l, const yw_json* node, int32_t num_layers,
                    yw_stiffness_spec* layers, float youngs_modulus, float poissons_ratio,
                    const yw_vec3* points, int32_t count, float** out);

/// Opens the files of the layers; close frees what was opened, also after a failure.
bool yw_open_stiffness(yw_loader* l, int32_t count, yw_stiffness_spec* layers);
void yw_close_stiffness(int32_t count, yw_stiffness_spec* layers);
/// Lays one layer over the material at a point; false when the layer does not reach it.
bool yw_stiffness_at(const yw_stiffness_spec* layer, yw_vec3 p, int32_t label,
                     yw_fem_material* material);
/// The same for the yield stress of plastic bodies, Pa.
void yw_layer_yield_at(const yw_stiffness_spec* layer, yw_vec3 p, float* yield_stress);

#endif
