// SPDX-License-Identifier: MIT
// Example poses as tools see them, and what is said about them before they disappoint.
#include <string.h>

#include "scene/method.h"
#include "yawara/pose.h"
#include "yawara/scene.h"

const yw_vec3* yw_scene_example(const yw_scene* scene, int32_t body, int32_t k, int32_t* count,
                                const char** name) {
  int32_t entry = yw_scene_body_entry(scene, body);
  const yw_model_spec* model =
      entry >= 0 ? yw_model_of_body(scene, &scene->bodies.items[entry]) : NULL;
  bool found =
      model && model->examples && model->tets.num_vertices > 0 && k >= 0 && k < model->num_poses;
  if (count) *count = found ? model->tets.num_vertices : 0;
  if (name) *name = found ? model->poses[k].name : NULL;
  return found ? model->examples[k] : NULL;
}

int32_t yw_scene_check_poses(const yw_scene* scene, int32_t body, const yw_vec3* pose,
                             yw_pose_report* reports, const char** names, int32_t capacity,
                             yw_error* error) {
  int32_t entry = yw_scene_body_entry(scene, body);
  if (entry < 0) return 0;
  const yw_model_spec* model = yw_model_of_body(scene, &scene->bodies.items[entry]);
  const yw_vec3* poses[YW_MAX_EXAMPLES + 1];
  yw_pose_report all[YW_MAX_EXAMPLES + 1];
  int32_t count = model->examples ? model->num_poses : 0;
  if (model->tets.num_tets == 0) return 0;
  for (int32_t k = 0; k < count; k++) poses[k] = model->examples[k];
  if (pose) poses[count++] = pose;
  if (yw_pose_check(&model->tets, model->labels, count, poses, all, error) < 0) return -1;
  for (int32_t k = 0; k < count && k < capacity; k++) {
    reports[k] = all[k];
    if (names) names[k] = k < model->num_poses ? model->poses[k].name : NULL;
  }
  return count;
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
  return true;
}
