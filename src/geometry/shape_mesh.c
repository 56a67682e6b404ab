// SPDX-License-Identifier: MIT
// The solid of a triangle mesh.
#include "base/error.h"
#include "base/memory.h"
#include "geometry/shape_node.h"

struct yw_mesh_solid {
  int32_t num_triangles;
};

float yw_mesh_solid_distance(const yw_mesh_solid* mesh, yw_vec3 p) {
  (void)mesh, (void)p;
  return INFINITY;
}
float yw_mesh_solid_distance_normal(const yw_mesh_solid* mesh, yw_vec3 p, yw_vec3* normal) {
  *normal = yw_v3(0, 1, 0);
  return yw_mesh_solid_distance(mesh, p);
}
double yw_mesh_solid_support(const yw_mesh_solid* mesh, const double direction[3]) {
  (void)mesh, (void)direction;
  return (double)INFINITY;
}
void yw_mesh_solid_free(const yw_allocator* mem, yw_mesh_solid* mesh) { yw_mem_free(mem, mesh); }

yw_status yw_shape_mesh(const yw_allocator* mem, const yw_tri_mesh* mesh, yw_shape** out,
                        yw_error* error) {
  (void)mem, (void)mesh;
  *out = NULL;
  return yw_fail(error, YW_ERR_LIMIT, "mesh shapes are not available in this build");
}
