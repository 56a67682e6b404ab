// SPDX-License-Identifier: MIT
// The smallest program: a jelly cube falls on a floor; prints the height of its centre.
#include <stdio.h>
#include <yawara/yawara.h>

static int give_up(const char* what, const yw_error* error) {
  fprintf(stderr, "%s: %s\n", what, error->message);
  return 1;
}

int main(void) {
  yw_error error = {0};
  yw_world_def world_def = yw_default_world_def();
  yw_world* world = NULL;
  if (yw_world_create(&world_def, &world) < 0) return 1;

  // A floor: the half space below y = 0.
  yw_shape* ground = NULL;
  yw_shape_plane(NULL, (yw_vec3){0, 1, 0}, 0.0f, &ground);
  yw_obstacle_def floor_def = yw_default_obstacle_def();
  floor_def.shape = ground;
  yw_obstacle_id floor_id;
  if (yw_obstacle_create(world, &floor_def, &floor_id, &error) < 0) return give_up("floor", &error);
  yw_shape_release(ground);

  // A cube of 4 x 4 x 4 cells, half a metre wide.
  yw_tet_mesh mesh;
  yw_aabb box = {{-0.25f, -0.25f, -0.25f}, {0.25f, 0.25f, 0.25f}};
  if (yw_tet_mesh_lattice(NULL, box, (int32_t[3]){4, 4, 4}, YW_LATTICE_FIVE, &mesh) < 0) return 1;
  yw_match_def match_def = yw_default_match_def();
  match_def.mesh = &mesh;
  yw_model* model = NULL;
  if (yw_model_create_match(NULL, &match_def, &model, &error) < 0) return give_up("model", &error);
  yw_tet_mesh_free(&mesh);

  yw_body_def body_def = yw_default_body_def();
  body_def.model = model;
  body_def.transform.position = (yw_vec3){0, 1, 0};
  yw_body_id body;
  if (yw_body_create(world, &body_def, &body, &error) < 0) return give_up("body", &error);
  yw_model_release(model);

  for (int frame = 0; frame <= 120; ++frame) {
    yw_body_sums sums;
    yw_body_sums_of(world, body, &sums);
    if (frame % 20 == 0) printf("t = %.2f s: centre at %.3f m\n", frame / 60.0, sums.center[1]);
    yw_world_step(world, 1.0f / 60.0f, 4, NULL);
  }
  yw_world_destroy(world);
  return 0;
}
