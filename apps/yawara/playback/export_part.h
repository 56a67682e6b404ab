// SPDX-License-Identifier: MIT
// One mesh of a glTF or USD file: a body or an obstacle, with what its file says of texture
// coordinates, normals and materials.
#ifndef YW_APP_PLAYBACK_EXPORT_PART_H
#define YW_APP_PLAYBACK_EXPORT_PART_H

#include "playback/export_look.h"
#include "playback/frame.h"

/// Triangles of one material.
typedef struct export_section {
  int32_t first, count;  ///< triangles
  const char* material;
} export_section;

typedef struct export_part {
  const char* name;
  const shown_look* look;
  const shown_obstacle* obstacle;  ///< NULL: a body
  const yw_tri_mesh* surface;      ///< at rest; NULL: particles or a plane
  bool morphs;                     ///< its points move, not only its pose
  bool two_sided;                  ///< a surface without an inside
  int32_t num_points, num_triangles;
  int32_t* triangles;       ///< 3 points each, section by section
  const int32_t* vertices;  ///< of the surface, one per point; NULL: the points are the vertices
  const float* uvs;         ///< 2 per point, or NULL
  const yw_vec3* corner_normals;  ///< of the file, at rest, one per point; NULL: means of triangles
  const yw_vec3* colors;          ///< of vertices or particles; NULL: that of the look
  int32_t num_sections;           ///< 0: points without triangles
  export_section* sections;
  yw_vec3 *now, *normals;          ///< of the points in this frame
  yw_vec3 *first, *first_normals;  ///< and in the first one
  yw_vec3* vertex_normals;         ///< scratch, one per vertex of the surface
} export_part;

/// num_particles: room for so many, if the body shows particles. look must outlive the part.
yw_status export_part_of_body(const shown_scene* shown, int32_t body, const export_look* look,
                              int32_t num_particles, export_part* out, yw_error* error);
yw_status export_part_of_obstacle(const shown_obstacle* obstacle, export_part* out,
                                  yw_error* error);
void export_part_free(export_part* part);

/// Points and normals of a body. surface: NULL if it shows particles.
yw_status export_part_pose_body(export_part* part, const frame_body* body, const yw_vec3* surface,
                                yw_error* error);
/// Of an obstacle: with its pose if it morphs, otherwise in its own coordinates. A plane is shown
/// around `focus`.
void export_part_pose_obstacle(export_part* part, double time, yw_transform pose, yw_aabb focus);

/// Parts without a point are left out.
static inline bool export_part_is_shown(const export_part* part) { return part->num_points > 0; }

#endif
