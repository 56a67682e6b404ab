// SPDX-License-Identifier: MIT
// What the files that make sharp edges and corners share.
#ifndef YW_GEOMETRY_MESHER_FEATURES_H
#define YW_GEOMETRY_MESHER_FEATURES_H

#include "geometry/mesher.h"

#define YW_FEATURE_SHARP_COSINE 0.77f  // 40 degrees
#define YW_FEATURE_CLOSE_ENOUGH 0.04f  // sizes: a boundary this close to a crease follows it
#define YW_FEATURE_ON_CREASE 0.01f     // sizes
#define YW_FEATURE_PROBE_STEP 0.02f    // sizes
#define YW_FEATURE_MAX_RING 1024

typedef struct yw_feature_offer {
  yw_vec3 place;
  float distance;
} yw_feature_offer;

/// The shape's normal where a vertex was when it was asked for.
typedef struct yw_known_normal {
  yw_vec3 at, normal;
  bool is_known;
} yw_known_normal;

typedef struct yw_featurer {
  yw_tet_edit* edit;
  const yw_no_features* except;
  yw_places* unsharp;  ///< where edges stay rounded
  bool has_faces;      ///< flat ones
  double bad_cosine;   ///< a change must not leave worse tets
  int32_t num_triangles;
  int32_t* triangles;        ///< of the boundary
  yw_feature_offer* offers;  ///< per vertex: the nearest place to move to
  yw_known_normal* normals;  ///< per vertex; those that are inserted are on creases and need none
  // Where vertices were before a change that may be undone.
  int32_t num_saved;
  int32_t saved[YW_FEATURE_MAX_RING];
  yw_vec3 before[YW_FEATURE_MAX_RING];
} yw_featurer;

/// Whether x is where edges stay as they are.
bool yw_feature_is_excepted(const yw_featurer* f, yw_vec3 x);
/// The shape's normal at a vertex.
yw_vec3 yw_feature_normal(const yw_featurer* f, int32_t vertex);
bool yw_feature_is_on_surface(const yw_featurer* f, yw_vec3 x, float tolerance);
/// Lists the triangles of the boundary anew.
yw_status yw_feature_list_boundary(yw_featurer* f);

/// Remembers where the vertices around one are.
void yw_feature_save(yw_featurer* f, int32_t vertex);
void yw_feature_restore(yw_featurer* f);
/// Improves what is around a vertex that has moved; false if a tet stays bad.
bool yw_feature_settle(yw_featurer* f, int32_t vertex);
/// Changes that are undone, with false, if a tet stays bad.
bool yw_feature_try_move(yw_featurer* f, int32_t vertex, yw_vec3 x, yw_vertex_hold hold);
bool yw_feature_try_split(yw_featurer* f, int32_t a, int32_t b, yw_vec3 x);

/// Distances and normals a little way around a point of the surface.
void yw_feature_probe(const yw_tet_edit* e, yw_vec3 x, float size, float* distance,
                      yw_vec4* normals);
/// Where an edge between vertices on no crease crosses one. along (may be NULL) receives the
/// direction of the crease.
bool yw_feature_crosses(const yw_featurer* f, int32_t a, int32_t b, yw_vec3* place, yw_vec3* along);

/// Corners at which no triangle had a vertex on each of the three faces. *num_made: how many; those
/// that cannot be made are listed if `last`.
yw_status yw_make_missed_corners(yw_featurer* f, bool last, int32_t* num_made);
/// Lists an edge that still cuts off a ridge; one that fills a groove gets a vertex there.
void yw_note_unsharp(yw_featurer* f, int32_t a, int32_t b);
/// An edge that begins on one crease and cuts off another, or fills it, gets a vertex there.
void yw_mend_missed_edge(yw_featurer* f, int32_t a, int32_t b);

#endif
