// SPDX-License-Identifier: MIT
// Triangle and tet meshes: plain arrays, owned by the struct and freed with yw_..._mesh_free.
#ifndef YAWARA_MESH_H
#define YAWARA_MESH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Surface mesh. Triangles are wound counter-clockwise as seen from outside.
typedef struct yw_tri_mesh {
  yw_allocator mem;  ///< of the arrays
  int32_t num_vertices;
  int32_t num_triangles;
  yw_vec3* positions;  ///< num_vertices, m
  int32_t* triangles;  ///< 3 * num_triangles vertex indices
  yw_vec3* colors;     ///< num_vertices, 0 to 1, or NULL
} yw_tri_mesh;

/// Vertices that move: their positions in every frame.
typedef struct yw_mesh_animation {
  const yw_vec3* points;  ///< m, a row of num_points per frame
  int32_t num_points;     ///< >= 1
  int32_t num_frames;     ///< >= 1
  double fps;             ///< frames per second, > 0
  double start;  ///< s, time of the first frame. Before it, and after the last frame, points rest
  bool loop;     ///< start again after the last frame
  bool smooth;   ///< curves through the frames (Catmull-Rom) instead of straight lines
} yw_mesh_animation;
/// Where a point is at a time, s.
YW_API yw_vec3 yw_mesh_animation_point(const yw_mesh_animation* animation, int32_t point,
                                       double time);

/// What a surface is like, for people who want to fill or repair it. Vertices at the same place
/// count as one. Places are where the first of a kind is.
typedef struct yw_surface_report {
  yw_aabb box;                 ///< m
  double area;                 ///< m^2
  double volume;               ///< m^3, enclosed; negative if the surface is inside out
  int32_t num_parts;           ///< connected parts
  int32_t flat_triangles;      ///< without area
  int32_t open_edges;          ///< of one triangle only
  int32_t holes;               ///< connected chains of open edges
  double hole_area;            ///< m^2, of discs that are as long around as the holes
  int32_t crowded_edges;       ///< of more than two triangles
  int32_t turned_edges;        ///< between two triangles that face opposite sides
  int32_t crossing_triangles;  ///< triangles that pass through others
  yw_vec3 open_place, crowded_place, turned_place, crossing_place;
  /// False: so many triangles are near each other that not all pairs were looked at.
  bool crossings_complete;
} yw_surface_report;
/// YW_ERR_GEOMETRY: no triangles, an index out of range, or a vertex that is not finite.
YW_API yw_status yw_surface_report_of(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                      yw_surface_report* out, yw_error* error);
/// The part of a report that takes little time: all but parts and crossings. YW_ERR_GEOMETRY: an
/// index is out of range.
YW_API yw_status yw_surface_openings(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                     yw_surface_report* out);
/// Turns triangles over until neighbours face the same side and every part without holes faces
/// outward, except cavities inside of other parts. *num_turned: how many were turned over.
YW_API yw_status yw_tri_mesh_orient(yw_tri_mesh* mesh, int32_t* num_turned);
/// Cuts a surface into its connected parts, in the order of the file; cavities stay with the part
/// around them. *out is an array of *count meshes, each with its own arrays; the caller frees them
/// and then the array with mem.
YW_API yw_status yw_tri_mesh_split(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                   yw_tri_mesh** out, int32_t* count);
/// The same surface in triangles with edges of about `edge` (m), coarser or finer: closed parts
/// stay closed, and parts, handles and holes are kept, thin ones with shorter edges if need be.
/// Vertices at the same place become one. *home (may be NULL) becomes an array, freed by the caller
/// with mem, that has a vertex of out near every vertex of mesh; -1 for vertices of no triangle.
/// YW_ERR_GEOMETRY: an edge has more than two triangles, or they face opposite sides.
YW_API yw_status yw_tri_mesh_remesh(const yw_tri_mesh* mesh, const yw_allocator* mem, float edge,
                                    yw_tri_mesh* out, int32_t** home, yw_error* error);

/// Volume mesh. Tets (a, b, c, d) are positively oriented: (b-a) x (c-a) . (d-a) > 0.
typedef struct yw_tet_mesh {
  yw_allocator mem;
  int32_t num_vertices;
  int32_t num_tets;
  yw_vec3* positions;  ///< num_vertices, m
  int32_t* tets;       ///< 4 * num_tets vertex indices
  int32_t* labels;     ///< num_tets region labels (from the file), or NULL
} yw_tet_mesh;

/// Allocates zeroed arrays of the given sizes. mem may be NULL (malloc).
YW_API yw_status yw_tri_mesh_create(const yw_allocator* mem, int32_t num_vertices,
                                    int32_t num_triangles, yw_tri_mesh* out);
YW_API yw_status yw_tet_mesh_create(const yw_allocator* mem, int32_t num_vertices, int32_t num_tets,
                                    yw_tet_mesh* out);
/// Copies a mesh, including its colors or labels.
YW_API yw_status yw_tri_mesh_copy(const yw_tri_mesh* mesh, const yw_allocator* mem,
                                  yw_tri_mesh* out);
YW_API yw_status yw_tet_mesh_copy(const yw_tet_mesh* mesh, const yw_allocator* mem,
                                  yw_tet_mesh* out);
/// Frees the arrays and zeroes the struct; safe on a zeroed struct.
YW_API void yw_tri_mesh_free(yw_tri_mesh* mesh);
YW_API void yw_tet_mesh_free(yw_tet_mesh* mesh);

/// Quality of a tet mesh. Angles are in degrees.
typedef struct yw_tet_quality {
  float min_dihedral, max_dihedral, mean_min_dihedral;
  float min_volume, max_volume;  ///< m^3; min_volume <= 0 means an inverted tet
  double volume;                 ///< m^3, total
  int32_t num_parts;             ///< connected parts
} yw_tet_quality;
YW_API yw_status yw_tet_mesh_quality(const yw_tet_mesh* mesh, yw_tet_quality* out);

/// Checks what a simulation needs: indices in range, finite positions, positive volumes, every
/// vertex used, no duplicate tets. The error names the first offending vertex or tet.
YW_API yw_status yw_tet_mesh_check(const yw_tet_mesh* mesh, yw_error* error);

/// What is wrong with how tets fit together. Counts, and the first case of each.
typedef struct yw_tet_faults {
  int32_t num_overlaps;        ///< pairs of tets that share volume
  int32_t overlap[2];          ///< such tets
  int32_t num_unmerged;        ///< vertices of the boundary at the place of another one
  int32_t unmerged[2];         ///< such vertices
  int32_t num_hanging;         ///< vertices in the middle of an edge or a face of another tet
  int32_t hanging[2];          ///< such a vertex, and the tet
  int32_t num_weak_joints;     ///< pieces that hang on others only by edges or vertices
  int32_t weak_joint[2];       ///< two shared vertices; the second is -1 if there is only one
  int32_t weak_joint_tets[2];  ///< number of tets of the two pieces
} yw_tet_faults;
/// Looks for faults in a mesh that passes yw_tet_mesh_check. Bodies of such meshes can be
/// simulated, but come apart, or fold, where the faults are.
YW_API yw_status yw_tet_mesh_faults(const yw_tet_mesh* mesh, yw_tet_faults* out);
/// Names the faults; empty if there are none. Returns the length.
YW_API int32_t yw_tet_faults_text(const yw_tet_faults* faults, char* text, int32_t room);

/// Boundary triangles of a tet mesh. out_vertex_map (may be NULL) maps surface vertices to tet mesh
/// vertices; the caller frees it with mem.
YW_API yw_status yw_tet_mesh_surface(const yw_tet_mesh* mesh, const yw_allocator* mem,
                                     yw_tri_mesh* out, int32_t** out_vertex_map);

/// How a box of cells is cut into tets.
typedef enum yw_lattice_cut {
  YW_LATTICE_FIVE,  ///< 5 tets per cell, mirrored between neighbouring cells
  YW_LATTICE_SIX    ///< 6 tets per cell (Kuhn), the same in every cell
} yw_lattice_cut;
/// Mesh of a box divided into cells[0] x cells[1] x cells[2] cells; x runs fastest.
YW_API yw_status yw_tet_mesh_lattice(const yw_allocator* mem, yw_aabb box, const int32_t cells[3],
                                     yw_lattice_cut cut, yw_tet_mesh* out);
/// The cells of a mesh made by yw_tet_mesh_lattice with the same `cells`: writes 8 vertices per
/// cell, 8 * cells[0] * cells[1] * cells[2] numbers in all.
YW_API void yw_lattice_cells(const int32_t cells[3], int32_t* out);

#ifdef __cplusplus
}
#endif
#endif
