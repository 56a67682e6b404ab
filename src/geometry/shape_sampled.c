// SPDX-License-Identifier: MIT
// A shape sampled on a grid.
#include "base/error.h"
#include "base/memory.h"
#include "geometry/shape_node.h"

struct yw_distance_grid {
  int32_t size[3];
};

float yw_distance_grid_distance(const yw_distance_grid* grid, yw_vec3 p) {
  (void)grid, (void)p;
  return INFINITY;
}
float yw_distance_grid_distance_normal(const yw_distance_grid* grid, yw_vec3 p, yw_vec3* normal) {
  *normal = yw_v3(0, 1, 0);
  return yw_distance_grid_distance(grid, p);
}
yw_aabb yw_distance_grid_solid_box(const yw_distance_grid* grid) {
  (void)grid;
  return yw_aabb_empty();
}
void yw_distance_grid_free(const yw_allocator* mem, yw_distance_grid* grid) {
  yw_mem_free(mem, grid);
}

yw_status yw_shape_sampled(const yw_allocator* mem, yw_shape* shape, float spacing, yw_shape** out,
                           yw_error* error) {
  (void)mem, (void)shape, (void)spacing;
  *out = NULL;
  return yw_fail(error, YW_ERR_LIMIT, "sampled shapes are not available in this build");
}
