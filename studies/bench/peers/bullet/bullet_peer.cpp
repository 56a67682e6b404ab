// SPDX-License-Identifier: MIT
// Bullet 3.24 (Debian: libbullet-dev). Everything unnecessary is off, in Bullet's favour: no links,
// no faces, no collisions between clusters, one position iteration.
//
// It does simulate: the box of 225 particles (0.4 x 0.8 x 0.4 m, dropped tilted) stands on the
// floor after half a second, 2 mm above it (the margin), 0.799 m high, with 99.4 % of its volume;
// that of 2,025 (2.4 m high) with 98.6 %, after a slow sway.
#include "bullet_peer.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyRigidBodyCollisionConfiguration.h>
#include <BulletSoftBody/btSoftRigidDynamicsWorld.h>
#include <btBulletDynamicsCommon.h>

namespace {

// Fraction of the distance to the goal shape that one cluster covers. A vertex belongs to 13 of
// them on average, applied in sequence, so this is stiff.
constexpr btScalar matching = btScalar(0.2);
// Velocity lost per step, as 1 - exp(-2 h) at 240 Hz.
constexpr btScalar damping = btScalar(0.008);
constexpr btScalar friction = btScalar(0.4);

btVector3 to_bullet(yw_vec3 v) { return btVector3(v.x, v.y, v.z); }

// Density times volume, a quarter of each tet to its corners.
std::vector<btScalar> lump_masses(const yw_tet_mesh& mesh, float density) {
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
std::vector<std::vector<int>> list_rings(const yw_tet_mesh& mesh) {
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
void make_clusters(btSoftBody& body, const yw_tet_mesh& mesh) {
  for (const std::vector<int>& ring : list_rings(mesh)) {
    void* memory = btAlignedAlloc(sizeof(btSoftBody::Cluster), 16);
    btSoftBody::Cluster* cluster = new (memory) btSoftBody::Cluster();
    for (int i : ring) cluster->m_nodes.push_back(&body.m_nodes[i]);
    cluster->m_collide = false;
    cluster->m_matching = matching;
    body.m_clusters.push_back(cluster);
  }
  body.initializeClusters();
}

}  // namespace

// Members are destroyed from the last to the first.
struct bullet_peer {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btSoftRigidDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  btBoxShape slab{btVector3(50, 1, 50)};  // cheaper than planes, which become thick triangles
  std::unique_ptr<btRigidBody> floor;
  std::unique_ptr<btSoftBody> body;

  ~bullet_peer() {
    if (body) world.removeSoftBody(body.get());
    if (floor) world.removeRigidBody(floor.get());
  }
};

static void make_world(bullet_peer& peer) {
  const btVector3 gravity(0, btScalar(-9.81), 0);
  peer.world.setGravity(gravity);
  btSoftBodyWorldInfo& info = peer.world.getWorldInfo();
  info.m_gravity = gravity;
  info.air_density = 0;
  info.water_density = 0;
  info.m_dispatcher = &peer.dispatcher;
  info.m_broadphase = &peer.broadphase;
  info.m_sparsesdf.Initialize();
  btRigidBody::btRigidBodyConstructionInfo still(0, nullptr, &peer.slab);
  still.m_startWorldTransform.setOrigin(btVector3(0, -1, 0));
  still.m_friction = friction;
  peer.floor = std::make_unique<btRigidBody>(still);
  peer.world.addRigidBody(peer.floor.get());
}

static void make_body(bullet_peer& peer, const yw_tet_mesh& rest, float density,
                      const yw_vec3* start) {
  std::vector<btScalar> mass = lump_masses(rest, density);
  std::vector<btVector3> at;
  for (int i = 0; i < rest.num_vertices; ++i) at.push_back(to_bullet(rest.positions[i]));
  peer.body = std::make_unique<btSoftBody>(&peer.world.getWorldInfo(), rest.num_vertices, at.data(),
                                           mass.data());
  btSoftBody& body = *peer.body;
  make_clusters(body, rest);
  for (int i = 0; i < rest.num_vertices; ++i) {
    body.m_nodes[i].m_x = body.m_nodes[i].m_q = to_bullet(start[i]);
  }
  body.updateClusters();
  body.m_cfg.piterations = 1;
  body.m_cfg.kDP = damping;
  body.m_cfg.kDF = friction;
  body.m_cfg.collisions = btSoftBody::fCollision::SDF_RS;
  body.getCollisionShape()->setMargin(btScalar(0.002));
  body.setActivationState(DISABLE_DEACTIVATION);
  peer.world.addSoftBody(&body);
}

bullet_peer* bullet_peer_create(const yw_tet_mesh* rest, float density, const yw_vec3* start) try {
  std::unique_ptr<bullet_peer> peer = std::make_unique<bullet_peer>();
  make_world(*peer);
  make_body(*peer, *rest, density, start);
  return peer.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void bullet_peer_destroy(bullet_peer* peer) { delete peer; }

void bullet_peer_step(bullet_peer* peer, float h) { peer->world.stepSimulation(h, 0); }

void bullet_peer_positions(const bullet_peer* peer, yw_vec3* out) {
  for (int i = 0; i < peer->body->m_nodes.size(); ++i) {
    const btVector3& x = peer->body->m_nodes[i].m_x;
    out[i] = yw_vec3{float(x.x()), float(x.y()), float(x.z())};
  }
}
