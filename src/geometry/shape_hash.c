// SPDX-License-Identifier: MIT
// Hash of everything the distances of a shape depend on.
#include "geometry/shape.h"
#include "geometry/shape_node.h"
#include "yawara/extend/hash.h"

// The parameters of a primitive are floats without padding.
static uint64_t hash_primitive(const yw_shape* shape, uint64_t hash) {
  switch (shape->kind) {
    case YW_SHAPE_SPHERE:
      return yw_hash_bytes(hash, &shape->as.ball, sizeof shape->as.ball);
    case YW_SHAPE_BOX:
      return yw_hash_bytes(hash, &shape->as.brick, sizeof shape->as.brick);
    case YW_SHAPE_CAPSULE:
      return yw_hash_bytes(hash, &shape->as.pill, sizeof shape->as.pill);
    case YW_SHAPE_CYLINDER:
      return yw_hash_bytes(hash, &shape->as.can, sizeof shape->as.can);
    case YW_SHAPE_CONE:
      return yw_hash_bytes(hash, &shape->as.frustum, sizeof shape->as.frustum);
    case YW_SHAPE_TORUS:
      return yw_hash_bytes(hash, &shape->as.ring, sizeof shape->as.ring);
    default:
      return yw_hash_bytes(hash, &shape->as.half_space, sizeof shape->as.half_space);
  }
}

static uint64_t hash_node(const yw_shape* shape, uint64_t hash) {
  hash = yw_hash_u64(hash, (uint64_t)shape->kind);
  const yw_shape_group* group = &shape->as.group;
  const yw_shape_placed* placed = &shape->as.placed;
  switch (shape->kind) {
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      hash = yw_hash_bytes(hash, &group->smooth, sizeof group->smooth);
      hash = yw_hash_u64(hash, (uint64_t)group->count);
      for (int32_t i = 0; i < group->count; ++i) hash = hash_node(group->children[i], hash);
      return hash;
    case YW_SHAPE_TRANSFORM:
      hash = yw_hash_bytes(hash, &placed->rotation, sizeof placed->rotation);
      hash = yw_hash_bytes(hash, &placed->position, sizeof placed->position);
      hash = yw_hash_bytes(hash, &placed->scale, sizeof placed->scale);
      return hash_node(placed->child, hash);
    case YW_SHAPE_OFFSET:
      hash = yw_hash_bytes(hash, &shape->as.grown.distance, sizeof shape->as.grown.distance);
      return hash_node(shape->as.grown.child, hash);
    case YW_SHAPE_MESH:
      return yw_mesh_solid_hash(shape->as.mesh, hash);
    case YW_SHAPE_SAMPLED:
      return yw_distance_grid_hash(shape->as.grid, hash);
    default:
      return hash_primitive(shape, hash);
  }
}

uint64_t yw_shape_hash(const yw_shape* shape) { return hash_node(shape, YW_HASH_SEED); }
