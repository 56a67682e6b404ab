// SPDX-License-Identifier: MIT
// Example poses of bodies made of points that turn: rods and sheets.
#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "scene/loader.h"
#include "yawara/extend/vec.h"

// Points beside each point, as a share of the size of the body, where deformations are felt.
#define BESIDE 4e-3f

static float size_of(const yw_vec3* points, int32_t count) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; i++) box = yw_aabb_grow(box, points[i]);
  return yw_distance(box.lower, box.upper);
}

// The rotation of the deformation's gradient, from points to both sides along the axes.
static yw_quat turn_from(const yw_vec3 beside[6], float h) {
  yw_vec3 columns[3];
  for (int k = 0; k < 3; k++) {
    columns[k] = yw_scale(yw_sub(beside[2 * k], beside[2 * k + 1]), 0.5f / h);
  }
  yw_mat3 gradient = {columns[0], columns[1], columns[2]}, rotation, stretch;
  yw_polar(&gradient, &rotation, &stretch);
  return yw_quat_normalize(yw_quat_from_mat3(&rotation));
}

// The points come first, then six beside each.
static void put_beside(const yw_vec3* points, int32_t count, float h, yw_vec3* out) {
  memcpy(out, points, (size_t)count * sizeof *out);
  for (int32_t i = 0; i < count; i++) {
    for (int k = 0; k < 6; k++) {
      yw_vec3 p = points[i];
      (&p.x)[k / 2] += k % 2 == 0 ? h : -h;
      out[count + 6 * i + k] = p;
    }
  }
}

static bool deform_points(yw_loader* l, const yw_pose_spec* pose, const yw_vec3* points,
                          int32_t count, yw_vec3* out, yw_quat* turns) {
  int32_t all = 7 * count;
  float h = BESIDE * size_of(points, count);
  yw_vec3* rest = YW_NEW_ARRAY(&l->scene->mem, yw_vec3, 2 * (size_t)all);
  if (!rest) return yw_memory_fail(&l->r);
  yw_vec3* moved = rest + all;
  put_beside(points, count, h, rest);
  bool done = yw_build_point_pose(l, pose, rest, all, 1.0f, moved);
  if (done) memcpy(out, moved, (size_t)count * sizeof *out);
  for (int32_t i = 0; i < count && done; i++) turns[i] = turn_from(moved + count + 6 * i, h);
  yw_mem_free(&l->scene->mem, rest);
  return done;
}

bool yw_build_point_poses(yw_loader* l, yw_model_spec* model, const yw_vec3* points, int32_t count,
                          yw_quat** turns) {
  const yw_allocator* mem = &l->scene->mem;
  model->examples = YW_NEW_ARRAY(mem, yw_vec3*, model->num_poses);
  if (!model->examples) return yw_memory_fail(&l->r);
  for (int32_t k = 0; k < model->num_poses; k++) {
    const yw_pose_spec* pose = &model->poses[k];
    const yw_json* wrong = yw_json_get(pose->node, pose->mesh ? "mesh" : "surface_file");
    if (wrong) return yw_value_fail(&l->r, wrong, "is for volumes, but this has none");
    model->strengths[k] = pose->strength;
    model->examples[k] = YW_NEW_ARRAY(mem, yw_vec3, count);
    turns[k] = pose->deform ? YW_NEW_ARRAY(mem, yw_quat, count) : NULL;
    if (!model->examples[k] || (pose->deform && !turns[k])) return yw_memory_fail(&l->r);
    bool done = pose->deform
                    ? deform_points(l, pose, points, count, model->examples[k], turns[k])
                    : yw_build_point_pose(l, pose, points, count, 1.0f, model->examples[k]);
    if (!done) return false;
  }
  return true;
}
