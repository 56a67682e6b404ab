// SPDX-License-Identifier: MIT
// Many soft bodies of Bullet in a bin, for comparison with ours.
#ifndef YW_STUDIES_BENCH_PEERS_BULLET_BULLET_BIN_H
#define YW_STUDIES_BENCH_PEERS_BULLET_BULLET_BIN_H

#include "yawara/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How soft bodies meet each other: as vertices and faces, or as convex clusters.
typedef enum bullet_contact { BULLET_FACES, BULLET_CLUSTERS } bullet_contact;

typedef struct bullet_bin_def {
  const yw_tet_mesh* rest;
  const int32_t* triangles;  ///< of its surface, 3 each, with its numbers of vertices
  int32_t num_triangles;
  float density;
  const yw_vec3* places;  ///< of bodies
  int32_t count;
  float half_x, half_z;  ///< of the bin, m; its floor is at y = 0
  bullet_contact contact;
} bullet_bin_def;

typedef struct bullet_bin bullet_bin;

/// NULL if out of memory.
bullet_bin* bullet_bin_create(const bullet_bin_def* def);
void bullet_bin_destroy(bullet_bin* bin);  ///< NULL is allowed
void bullet_bin_step(bullet_bin* bin, float h);
/// In the order of the mesh.
void bullet_bin_positions(const bullet_bin* bin, int32_t body, yw_vec3* out);

#ifdef __cplusplus
}
#endif
#endif
