// SPDX-License-Identifier: MIT
// Cracks of a body: faces between finest tets that have come open, and the nodes these separate.
// docs/design/fracture.md has the reasons.
//
// A face opens where the traction on it exceeds its strength (crack_growth.c). From then on a
// cohesive traction holds its two sides together, less and less the wider they are apart
// (cohesion.c). A node becomes two where the tets around it are no longer connected through closed
// faces; the node with the lowest tet keeps its number, others become copies with numbers from
// h->num_nodes on (cracks.c).
#ifndef YW_METHODS_FEM_CRACKS_H
#define YW_METHODS_FEM_CRACKS_H

#include "methods/fem/fragile.h"
#include "yawara/extend/method.h"

/// An open face. Symbols of the law are explained in cohesion.c.
typedef struct fem_crack {
  int32_t half;                 ///< its first half face
  uint8_t slot[2][3];           ///< its corners in the tets of both halves
  int32_t node[2][3];           ///< and their nodes; derived from the corners of the body
  float pull[3];                ///< unit vector of the first traction, in the axes of the face
  float strength;               ///< s, Pa
  float span;                   ///< w, m
  float slack;                  ///< e, m
  float stiffness;              ///< s / e, Pa/m
  float area;                   ///< m^2, at rest
  float reach[3];               ///< o of the corners, m
  yw_vec3 gap[3], traction[3];  ///< of the corners in the last step, m and Pa
  double work;                  ///< J, done against cohesion so far
  float size;                   ///< m, of its tets
  bool loose;                   ///< nothing holds the sides together any more
  bool parted;                  ///< loose, and so far apart that contact takes over
} fem_crack;

typedef struct fem_cracks {
  yw_allocator mem;
  const fem_fragile* fragile;
  int32_t (*corners)[4];  ///< per finest tet: its nodes in slot order
  int32_t* copy_of;       ///< per copy: the node of the hierarchy that it is a copy of
  /// Per finest tet: bit k, its face opposite slot k is open, or loose, or has parted.
  uint8_t *open, *loose, *parted;
  fem_crack* faces;  ///< open ones, in the order in which they opened
  int32_t num_faces;
  bool* fine;           ///< per parent tet: stays split, since a crack is in it or may be soon
  double* fine_mass;    ///< kg per node, at the finest level
  yw_vec3* rest;        ///< m, per node
  const bool* outside;  ///< per node of the hierarchy: on the surface at rest
  bool* on_surface;     ///< per node: outside, or at a face that has parted
  int32_t* scratch;     ///< longest fan, or one per tet
  double* grip;         ///< N/m per node, of the open faces around it; scratch
  bool* is_held;        ///< per node: cohesion holds it to another one
  bool* is_lip;         ///< per node: corner of an open face that has not parted
  uint8_t* front;       ///< per node: fem_front_kind
  int32_t* dirty;       ///< nodes of the hierarchy at faces that have just opened
  bool* is_dirty;       ///< per node of the hierarchy
  int32_t num_dirty;
  // Pieces of a few tets (crumbs.c).
  int32_t num_crumbs, num_crumb_nodes;
  int32_t *crumb_start, *crumb_nodes;  ///< nodes of crumb i: from start[i] on
  int32_t *piece_size, *next_tet;      ///< per finest tet; scratch
  int32_t num_pieces;                  ///< parts connected through faces that are not loose
  double area;                         ///< m^2, of loose faces, at rest
  float rate;  ///< 1/s^2, limit of the square of the frequency that cohesion adds
} fem_cracks;

struct fem_body;

bool yw_fem_cracks_create(const yw_allocator* mem, const fem_hierarchy* h,
                          const fem_fragile* fragile, const double* fine_mass, const yw_vec3* rest,
                          const bool* outside, fem_cracks* out);
void yw_fem_cracks_free(fem_cracks* cracks);

/// Opens the faces that are under too much stress and splits their nodes; new ones have the
/// position and velocity of the old ones. Returns true if the front or its nodes changed.
bool yw_fem_cracks_grow(struct fem_body* body, yw_particles* particles, const yw_step_ctx* ctx);
/// Adds the cohesive forces of open faces, times scale, to those of their nodes, and notes how far
/// they opened. Returns true if a face came loose.
bool yw_fem_cohesion(fem_cracks* cracks, float scale, const yw_vec4* pos, yw_vec4* force);
/// Work done against cohesion, J: dissipated, or stored in faces that may still close.
double yw_fem_cohesive_work(const fem_cracks* cracks);
/// Recomputes what depends on loose faces and on nodes: area, pieces, crumbs, nodes of the surface.
void yw_fem_cracks_count(fem_cracks* cracks, const fem_hierarchy* h, int32_t num_copies);

/// Adds an open face. pull is the traction across the cut that it is part of, share that of the
/// face's area which counts.
void yw_fem_crack_open(fem_cracks* cracks, const fem_face* face, int32_t half,
                       const yw_dvec3 axes[3], yw_dvec3 pull, double share);
/// Splits the nodes around dirty ones where their tets are no longer connected. Nodes that are held
/// stay whole. Returns the number of copies made; copy_of of each is the node it was split from, as
/// yet.
int32_t yw_fem_cracks_separate(fem_cracks* cracks, const fem_hierarchy* h, const bool* is_held,
                               int32_t num_copies);
/// Sets the bits of both halves of a face.
void yw_fem_crack_mark(const fem_cracks* cracks, int32_t half, uint8_t* bits);
/// Updates the nodes of open faces and the bound of their frequencies.
void yw_fem_cracks_refresh(fem_cracks* cracks, const double* mass);

/// Lists the crumbs of a body; piece: the lowest tet of the piece of each tet.
void yw_fem_crumbs_list(fem_cracks* cracks, const int32_t* piece);
/// Makes crumbs move almost like rigid bodies, after a step of h seconds.
void yw_fem_crumbs_calm(const fem_cracks* cracks, const double* mass, const float* inv_mass,
                        float h, yw_particles* particles);

/// Axes of a face: along its first edge, across, out of the tet of its first half.
void yw_fem_crack_axes(const yw_vec4* pos, const int32_t node[3], yw_dvec3 axes[3]);

void yw_fem_cracks_save(const fem_cracks* cracks, const fem_hierarchy* h, yw_writer* writer);
/// Returns the number of copies, or -1 if the data make no sense.
int32_t yw_fem_cracks_load(fem_cracks* cracks, const fem_hierarchy* h,
                           const fem_materials* materials, yw_reader* reader);

/// The shown surface: the outside, and both sides of every face that may open. Sides of closed
/// faces have no extent (crack_surface.c).
yw_status yw_fem_crack_surface(const fem_hierarchy* h, const fem_fragile* fragile,
                               const yw_allocator* mem, yw_tri_mesh* out);
void yw_fem_crack_positions(const fem_hierarchy* h, const fem_cracks* cracks, const yw_vec4* pos,
                            yw_vec3* out);

#endif
