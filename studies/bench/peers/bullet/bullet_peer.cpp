// SPDX-License-Identifier: MIT
// Bullet 3.24 (Debian: libbullet-dev). Everything unnecessary is off, in Bullet's favour: no links,
// no faces, no collisions between clusters, one position iteration.
//
// It does simulate: the box of 225 particles (0.4 x 0.8 x 0.4 m, dropped tilted) stands on the
// floor after half a second, 2 mm above it (the margin), 0.799 m high, with 99.4 % of its volume;
// that of 2,025 (2.4 m high) with 98.6 %, after a slow sway.
#include "bullet_peer.h"

#include "bullet_parts.h"

using namespace bullet_parts;

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
  set_world(peer.world, peer.dispatcher, peer.broadphase);
  peer.floor = make_wall(peer.slab, btVector3(0, -1, 0));
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
  make_clusters(body, rest, false);
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
