// SPDX-License-Identifier: MIT
// What the soft bodies of Bullet have in common here: masses, clusters, the world's settings.
#ifndef YW_STUDIES_BENCH_PEERS_BULLET_BULLET_PARTS_H
#define YW_STUDIES_BENCH_PEERS_BULLET_BULLET_PARTS_H

#include <algorithm>
#include <memory>
#include <vector>

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

#include "yawara/mesh.h"

namespace bullet_parts {

// Fraction of the distance to the goal shape that one cluster covers. A vertex belongs to 13 of
// them on average, applied in sequence, so this is stiff.
constexpr btScalar matching = btScalar(0.2);
// Velocity lost per step, as 1 - exp(-2 h) at 240 Hz.
constexpr btScalar damping = btScalar(0.008);
constexpr btScalar friction = btScalar(0.4);

inline btVector3 to_bullet(yw_vec3 v) { return btVector3(v.x, v.y, v.z); }

// Density times volume, a quarter of each tet to its corners.
inline std::vector<btScalar> lump_masses(const yw_tet_mesh& mesh, float density) {
  std::vector<btScalar> mass(static_cast<size_t>(mesh.num_vertices), btScalar(0));
  for (int t = 0; t < mesh.num_tets; ++t) {
    const int32_t* v = mesh.tets + 4 * t;
    btVector3 a = to_bullet(mesh.positions[v[0]]);
    btVector3 b = to_bullet(mesh.positions[v[1]]) - a, c = to_bullet(mesh.positions[v[2]]) - a;
    btVector3 d = to_bullet(mesh.positions[v[3]]) - a;
    btScalar share = density * b.cross(c).dot(d) / btScalar(24);
    for (int k = 0; k < 4; ++k) mass[static_cast<size_t>(v[k])] += share;
  }
  return mass;
}

// Every vertex with its neighbours.
inline std::vector<std::vector<int>> list_rings(const yw_tet_mesh& mesh) {
  std::vector<std::vector<int>> rings(static_cast<size_t>(mesh.num_vertices));
  for (int t = 0; t < mesh.num_tets; ++t) {
    const int32_t* v = mesh.tets + 4 * t;
    for (int k = 0; k < 4; ++k) {
      std::vector<int>& ring = rings[static_cast<size_t>(v[k])];
      ring.insert(ring.end(), v, v + 4);
    }
  }
  for (std::vector<int>& ring : rings) {
    std::sort(ring.begin(), ring.end());
    ring.erase(std::unique(ring.begin(), ring.end()), ring.end());
  }
  return rings;
}

// What generateClusters does after it has chosen the members.
inline void make_clusters(btSoftBody& body, const yw_tet_mesh& mesh, bool collide) {
  for (const std::vector<int>& ring : list_rings(mesh)) {
    void* memory = btAlignedAlloc(sizeof(btSoftBody::Cluster), 16);
    btSoftBody::Cluster* cluster = new (memory) btSoftBody::Cluster();
    for (int i : ring) cluster->m_nodes.push_back(&body.m_nodes[i]);
    cluster->m_collide = collide;
    cluster->m_matching = matching;
    body.m_clusters.push_back(cluster);
  }
  body.initializeClusters();
}

inline void set_world(btSoftRigidDynamicsWorld& world, btCollisionDispatcher& dispatcher,
                      btBroadphaseInterface& broadphase) {
  const btVector3 gravity(0, btScalar(-9.81), 0);
  world.setGravity(gravity);
  btSoftBodyWorldInfo& info = world.getWorldInfo();
  info.m_gravity = gravity;
  info.air_density = 0;
  info.water_density = 0;
  info.m_dispatcher = &dispatcher;
  info.m_broadphase = &broadphase;
  info.m_sparsesdf.Initialize();
}

inline std::unique_ptr<btRigidBody> make_wall(btCollisionShape& shape, const btVector3& at) {
  btRigidBody::btRigidBodyConstructionInfo still(0, nullptr, &shape);
  still.m_startWorldTransform.setOrigin(at);
  still.m_friction = friction;
  return std::make_unique<btRigidBody>(still);
}

}  // namespace bullet_parts

#endif
