// SPDX-License-Identifier: MIT
// Bullet 3.24, one position iteration. Faces: vertices of one body against faces of another and
// against walls. Clusters: convex hulls of the one-rings against each other and the walls.
#include "bullet_bin.h"

#include "bullet_parts.h"

using namespace bullet_parts;

namespace {

// Bullet keeps surfaces this far apart, m; bodies are 0.1 m large.
constexpr btScalar margin = btScalar(0.002);
constexpr btScalar wall = btScalar(1);

}  // namespace

// Members are destroyed from the last to the first.
struct bullet_bin {
  btSoftBodyRigidBodyCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btSoftRigidDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  btBoxShape slab{btVector3(50, wall, 50)}, across{btVector3(wall, 50, 50)},
      along{btVector3(50, 50, wall)};
  std::vector<std::unique_ptr<btRigidBody>> walls;
  std::vector<std::unique_ptr<btSoftBody>> bodies;

  ~bullet_bin() {
    for (const std::unique_ptr<btSoftBody>& body : bodies) world.removeSoftBody(body.get());
    for (const std::unique_ptr<btRigidBody>& body : walls) world.removeRigidBody(body.get());
  }
};

static void add_walls(bullet_bin& bin, const bullet_bin_def& def) {
  btScalar x = def.half_x + wall, z = def.half_z + wall;
  bin.walls.push_back(make_wall(bin.slab, btVector3(0, -wall, 0)));
  bin.walls.push_back(make_wall(bin.across, btVector3(x, 0, 0)));
  bin.walls.push_back(make_wall(bin.across, btVector3(-x, 0, 0)));
  bin.walls.push_back(make_wall(bin.along, btVector3(0, 0, z)));
  bin.walls.push_back(make_wall(bin.along, btVector3(0, 0, -z)));
  for (const std::unique_ptr<btRigidBody>& body : bin.walls) bin.world.addRigidBody(body.get());
}

// Bullet builds its tree of nodes along links; without them it does not end. Clusters keep the
// shape, so links are not solved.
static void link(btSoftBody& body, const yw_tet_mesh& mesh) {
  const std::vector<std::vector<int>> rings = list_rings(mesh);
  for (int i = 0; i < mesh.num_vertices; ++i) {
    for (int k : rings[static_cast<size_t>(i)]) {
      if (k > i) body.appendLink(i, k);
    }
  }
  body.m_cfg.m_psequence.remove(btSoftBody::ePSolver::Linear);
}

static void add_body(bullet_bin& bin, const bullet_bin_def& def, const yw_vec3& place) {
  const yw_tet_mesh& rest = *def.rest;
  std::vector<btScalar> mass = lump_masses(rest, def.density);
  std::vector<btVector3> at;
  for (int i = 0; i < rest.num_vertices; ++i) at.push_back(to_bullet(rest.positions[i]));
  bin.bodies.push_back(std::make_unique<btSoftBody>(&bin.world.getWorldInfo(), rest.num_vertices,
                                                    at.data(), mass.data()));
  btSoftBody& body = *bin.bodies.back();
  bool faces = def.contact == BULLET_FACES;
  for (int i = 0; i < def.num_triangles && faces; ++i) {
    const int32_t* v = def.triangles + 3 * i;
    body.appendFace(v[0], v[1], v[2]);
  }
  link(body, rest);
  make_clusters(body, rest, !faces);
  body.m_cfg.piterations = 1;
  body.m_cfg.kDP = damping;
  body.m_cfg.kDF = friction;
  body.m_cfg.collisions = faces ? btSoftBody::fCollision::SDF_RS | btSoftBody::fCollision::VF_SS
                                : btSoftBody::fCollision::CL_RS | btSoftBody::fCollision::CL_SS;
  body.getCollisionShape()->setMargin(margin);
  body.setActivationState(DISABLE_DEACTIVATION);
  body.translate(to_bullet(place));
  body.updateClusters();
  bin.world.addSoftBody(&body);
}

bullet_bin* bullet_bin_create(const bullet_bin_def* def) try {
  std::unique_ptr<bullet_bin> bin = std::make_unique<bullet_bin>();
  set_world(bin->world, bin->dispatcher, bin->broadphase);
  add_walls(*bin, *def);
  for (int32_t i = 0; i < def->count; ++i) add_body(*bin, *def, def->places[i]);
  return bin.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void bullet_bin_destroy(bullet_bin* bin) { delete bin; }

void bullet_bin_step(bullet_bin* bin, float h) { bin->world.stepSimulation(h, 0); }

void bullet_bin_positions(const bullet_bin* bin, int32_t body, yw_vec3* out) {
  const btSoftBody& soft = *bin->bodies[static_cast<size_t>(body)];
  for (int i = 0; i < soft.m_nodes.size(); ++i) {
    const btVector3& x = soft.m_nodes[i].m_x;
    out[i] = yw_vec3{float(x.x()), float(x.y()), float(x.z())};
  }
}
