// SPDX-License-Identifier: MIT
// What cracks need to know of a model: which finest tets share faces, and which surround a node.
//
// Tets here are numbered from the first of the finest level on. Corner 4 t + s is slot s of tet t;
// half face 4 t + k is its face opposite slot k.
#ifndef YW_METHODS_FEM_FRAGILE_H
#define YW_METHODS_FEM_FRAGILE_H

#include "methods/fem/hierarchy.h"
#include "methods/fem/materials.h"

/// What a node is to cracks.
typedef enum fem_front_kind {
  FEM_NO_FRONT,     ///< there is no crack
  FEM_CRACK_FRONT,  ///< a crack ends there
  FEM_NOTCH_TIP,    ///< so does a sharp notch
  FEM_FRONTS
} fem_front_kind;

typedef struct fem_fragile {
  yw_allocator mem;
  float strength;               ///< Pa; INFINITY: limited by the toughness alone
  float toughness;              ///< J/m^2
  int32_t num_tets, num_faces;  ///< faces: between two tets
  int32_t* partner;             ///< per half face: the other half, or -1 outside
  int32_t* fan_start;           ///< per node, + 1
  int32_t* fan;                 ///< corners around a node, ascending
  int32_t longest_fan;
  bool* is_tip;                  ///< per node: at the tip of a sharp notch, from where cracks start
  float (*weakest)[FEM_FRONTS];  ///< Pa per node: least strength of the faces around it
  int32_t* stiffest;             ///< per node: the stiffest finest tet around it
  double* corner_mass;           ///< kg, per tet: what it gives to each of its nodes
} fem_fragile;

/// Fills everything but the corner masses. The model must be as strong as `strength` (0: unlimited)
/// and as tough as `toughness` (0: it separates without resistance). Raises h->max_nodes.
bool yw_fem_fragile_create(const yw_allocator* mem, fem_hierarchy* h,
                           const fem_materials* materials, float strength, float toughness,
                           fem_fragile* out);
void yw_fem_fragile_free(fem_fragile* fragile);

/// One face between two tets, at rest.
typedef struct fem_face {
  int32_t node[3];              ///< corners of its first half face, counter-clockwise from outside
  uint8_t slot[3];              ///< their slots there ...
  uint8_t partner[3];           ///< ... and in the other half
  double area;                  ///< m^2
  yw_dvec3 normal;              ///< out of the tet of the first half
  double size;                  ///< m, about an edge of its tets
  double stiffness;             ///< Pa/m, of a layer of this thickness
  double strength[FEM_FRONTS];  ///< Pa
} fem_face;

/// The face of a half face that has a partner.
fem_face yw_fem_face_of(const fem_hierarchy* h, const fem_materials* materials,
                        const fem_fragile* fragile, int32_t half);

#endif
