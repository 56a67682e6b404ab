// SPDX-License-Identifier: MIT
// Example poses as tools see them, and what is said about them before they disappoint.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/small/polar.h"
#include "scene/method.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"
#include "yawara/scene.h"

const yw_vec3* yw_scene_example(const yw_scene* scene, int32_t body, int32_t k, int32_t* count,
                                const char** name) {
  int32_t entry = yw_scene_body_entry(scene, body);
  const yw_model_spec* model =
      entry >= 0 ? yw_model_of_body(scene, &scene->bodies.items[entry]) : NULL;
  bool found = model && model->examples && k >= 0 && k < model->num_poses;
  if (count) *count = 0;
  if (count && found) yw_model_points(model->model, count);
  if (name) *name = found ? model->poses[k].name : NULL;
  return found ? model->examples[k] : NULL;
}

// Rods and sheets ---------------------------------------------------------------------------------

static yw_vec3 mean_of(const yw_vec3* points, int32_t count) {
  double sum[3] = {0, 0, 0};
  for (int32_t i = 0; i < count; i++) {
    sum[0] += (double)points[i].x;
    sum[1] += (double)points[i].y;
    sum[2] += (double)points[i].z;
  }
  double n = count > 0 ? (double)count : 1.0;
  return yw_v3((float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n));
}

// Root mean square distance between two shapes, after the rigid motion that brings them nearest.
static float shape_distance(const yw_vec3* a, const yw_vec3* b, int32_t count) {
  yw_vec3 mean_a = mean_of(a, count), mean_b = mean_of(b, count);
  yw_mat3 moment = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, rotation, stretch;
  for (int32_t i = 0; i < count; i++) {
    yw_vec3 p = yw_sub(a[i], mean_a), q = yw_sub(b[i], mean_b);
    moment.cx = yw_mad(moment.cx, p.x, q);
    moment.cy = yw_mad(moment.cy, p.y, q);
    moment.cz = yw_mad(moment.cz, p.z, q);
  }
  yw_polar(&moment, &rotation, &stretch);
  double sum = 0;
  for (int32_t i = 0; i < count; i++) {
    yw_vec3 moved = yw_mul(rotation, yw_sub(a[i], mean_a));
    sum += (double)yw_length2(yw_sub(moved, yw_sub(b[i], mean_b)));
  }
  return count > 0 ? (float)sqrt(sum / (double)count) : 0.0f;
}

// These feel everything about a shape but where it is and how it is turned as a whole.
static void check_points(const yw_vec3* rest, int32_t count, int32_t num_poses,
                         const yw_vec3* const* poses, yw_pose_report* reports) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; i++) box = yw_aabb_grow(box, rest[i]);
  float size = yw_distance(box.lower, box.upper);
  for (int32_t k = 0; k < num_poses; k++) {
    float own = shape_distance(rest, poses[k], count);
    yw_pose_report* r = &reports[k];
    *r = (yw_pose_report){.first_inverted = -1, .seen = 1.0f, .nearest = -1, .distance = 1.0f};
    r->stretch = size > 0 ? own / size : 0.0f;
    for (int32_t j = 0; j < num_poses && own > 0; j++) {
      float distance = j == k ? INFINITY : shape_distance(poses[j], poses[k], count) / own;
      if (distance >= r->distance) continue;
      r->distance = distance;
      r->nearest = j;
    }
  }
}

// All bodies --------------------------------------------------------------------------------------

int32_t yw_scene_check_poses(const yw_scene* scene, int32_t body, const yw_vec3* pose,
                             yw_pose_report* reports, const char** names, int32_t capacity,
                             yw_error* error) {
  int32_t entry = yw_scene_body_entry(scene, body);
  if (entry < 0) return 0;
  const yw_model_spec* model = yw_model_of_body(scene, &scene->bodies.items[entry]);
  const yw_vec3* poses[YW_MAX_EXAMPLES + 1];
  yw_pose_report all[YW_MAX_EXAMPLES + 1];
  int32_t count = model->examples ? model->num_poses : 0;
  int32_t num_points = 0;
  const yw_vec3* points = yw_model_points(model->model, &num_points);
  bool is_volume = model->tets.num_tets > 0;
  if (!points || (!is_volume && !pose)) return 0;
  for (int32_t k = 0; k < count; k++) poses[k] = model->examples[k];
  if (pose) poses[count++] = pose;
  if (!is_volume) {
    check_points(points, num_points, count, poses, all);
  } else if (yw_pose_check(&model->tets, model->labels, count, poses, all, error) < 0) {
    return -1;
  }
  for (int32_t k = 0; k < count && k < capacity; k++) {
    reports[k] = all[k];
    if (names) names[k] = k < model->num_poses ? model->poses[k].name : NULL;
  }
  return count;
}

int32_t yw_scene_check_mixtures(const yw_scene* scene, int32_t body, int32_t steps,
                                yw_pose_mixture* mixtures, int32_t capacity, yw_error* error) {
  int32_t entry = yw_scene_body_entry(scene, body), count = 0;
  if (entry < 0) return 0;
  const yw_model_spec* model = yw_model_of_body(scene, &scene->bodies.items[entry]);
  if (!model->examples || model->tets.num_tets == 0) return 0;
  yw_status status =
      yw_pose_check_mixtures(&model->tets, model->num_poses, (const yw_vec3* const*)model->examples,
                             steps, mixtures, capacity, &count, error);
  return status < 0 ? -1 : count;
}

// Tets times mixtures that loading may take for this, a fifth of a second. Larger bodies are looked
// at by `yawara inspect`.
#define MOST_MIXED 20000

// Half way from rest to each pose and between any two.
static bool warn_mixtures(yw_loader* l, const yw_model_spec* model) {
  yw_pose_mixture found[YW_MAX_EXAMPLES];
  yw_error deep = {0};
  int32_t count = 0, pairs = model->num_poses * (model->num_poses + 1) / 2;
  if (!l->r.warning || model->tets.num_tets > MOST_MIXED / pairs) return true;
  yw_status status =
      yw_pose_check_mixtures(&model->tets, model->num_poses, (const yw_vec3* const*)model->examples,
                             2, found, YW_MAX_EXAMPLES, &count, &deep);
  // Tets too flat for this are no reason to refuse a scene.
  if (status == YW_ERR_MEMORY) return yw_deep_fail(&l->r, model->node, &deep);
  for (int32_t i = 0; i < count && i < YW_MAX_EXAMPLES; i++) {
    const yw_pose_mixture* m = &found[i];
    char between[40] = "the rest pose";
    if (m->from >= 0) snprintf(between, sizeof between, "example %d", m->from);
    if (m->share >= 1.0f) {
      yw_value_warn(&l->r, model->poses[m->to].node,
                    " passes through itself: %d triangles of its surface cross others",
                    m->crossing_triangles);
    } else {
      yw_value_warn(&l->r, model->poses[m->to].node,
                    " passes through itself half way from %s: %d triangles cross others", between,
                    m->crossing_triangles);
    }
  }
  return true;
}

// Poses that add nothing to others are named by the method, which knows all of them.
bool yw_warn_poses(yw_loader* l, const yw_model_spec* model) {
  yw_pose_report reports[YW_MAX_EXAMPLES];
  yw_error deep = {0};
  if (yw_pose_check(&model->tets, model->labels, model->num_poses,
                    (const yw_vec3* const*)model->examples, reports, &deep) < 0) {
    return yw_deep_fail(&l->r, model->node, &deep);
  }
  for (int32_t k = 0; k < model->num_poses; k++) {
    char words[500];
    yw_pose_flaw flaw = yw_pose_words(&reports[k], NULL, words, (int32_t)sizeof words);
    if (flaw != YW_POSE_INVERTED && flaw != YW_POSE_TURNS) continue;
    yw_value_warn(&l->r, model->poses[k].node, " %s", words);
  }
  return model->num_poses == 0 || warn_mixtures(l, model);
}
