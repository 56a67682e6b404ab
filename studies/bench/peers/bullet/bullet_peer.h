// SPDX-License-Identifier: MIT
// A soft body of Bullet's clusters, one cluster per vertex and its neighbours: the same regions as
// example-based shape matching without examples.
#ifndef YW_STUDIES_BENCH_PEERS_BULLET_BULLET_PEER_H
#define YW_STUDIES_BENCH_PEERS_BULLET_BULLET_PEER_H

#include "yawara/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bullet_peer bullet_peer;

/// Above the plane y = 0, friction 0.4, gravity 9.81 m/s^2 downwards. start: initial vertex
/// positions. NULL if out of memory.
bullet_peer* bullet_peer_create(const yw_tet_mesh* rest, float density, const yw_vec3* start);
void bullet_peer_destroy(bullet_peer* peer);  ///< NULL is allowed
void bullet_peer_step(bullet_peer* peer, float h);
/// In the order of the mesh.
void bullet_peer_positions(const bullet_peer* peer, yw_vec3* out);

#ifdef __cplusplus
}
#endif
#endif
