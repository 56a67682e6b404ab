// SPDX-License-Identifier: MIT
// A program of version 0.2: a box falls on a floor, its state is saved and loaded again.
#include <stdlib.h>
#include <yawara/yawara.h>

static void check(bool good) {
  if (!good) abort();
}

static yw_body_id add_box(yw_world* world) {
  yw_tet_mesh mesh;
  yw_model* model;
  yw_body_id body;
  const int32_t cells[3] = {2, 2, 2};
  yw_aabb box = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
  check(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh) == YW_OK);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  check(yw_model_create_match(NULL, &def, &model, NULL) == YW_OK);
  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.transform.position = (yw_vec3){0, 1, 0};
  check(yw_body_create(world, &body_def, &body, NULL) == YW_OK);
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  return body;
}

int main(void) {
  yw_world* world;
  yw_shape* plane;
  yw_obstacle_id floor_id;
  yw_world_def world_def = yw_default_world_def();
  world_def.threads = 2;
  check(yw_world_create(&world_def, &world) == YW_OK);
  check(yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0, &plane) == YW_OK);
  yw_obstacle_def floor_def = yw_default_obstacle_def();
  floor_def.shape = plane;
  check(yw_obstacle_create(world, &floor_def, &floor_id, NULL) == YW_OK);
  yw_shape_release(plane);
  yw_body_id body = add_box(world);

  yw_step_report report;
  for (int i = 0; i < 60; ++i) check(yw_world_step(world, 1 / 60.0f, 4, &report) == YW_OK);
  check(report.num_particles == 27 && report.diverged_bodies == 0);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, body, &count);
  yw_body_sums sums;
  check(count == 27 && x && yw_body_sums_of(world, body, &sums) == YW_OK);
  check(sums.center[1] > 0.3 && sums.center[1] < 0.6);

  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  uint64_t hash = yw_world_hash(world);
  check(yw_world_save(world, snapshot, size, &size) == YW_OK);
  check(yw_world_step(world, 1 / 60.0f, 4, NULL) == YW_OK && yw_world_hash(world) != hash);
  check(yw_world_load(world, snapshot, size, NULL) == YW_OK && yw_world_hash(world) == hash);
  free(snapshot);
  yw_world_destroy(world);
  return 0;
}
