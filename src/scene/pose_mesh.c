// SPDX-License-Identifier: MIT
// Poses given as meshes whose vertices are not those of the body.
#include <math.h>
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/model.h"

// Fits that are off by more than this fraction of the body's size are mentioned.
#define WORTH_SAYING 0.01f

static const char* const alignments[] = {"none", "rigid", "similarity", NULL};

typedef struct pose_mesh_keys {
  const char *file, *rest;
  int32_t align;
  const yw_json* landmarks;
} pose_mesh_keys;
static const pose_mesh_keys pose_mesh_defaults = {.align = YW_ALIGN_RIGID};
static const yw_key_row pose_mesh_rows[] = {
    YW_KEY(pose_mesh_keys, file, TEXT, 0, 0, "",
           "The body's surface, or its tets, in the pose, with any vertices: .obj, .ply, .stl, "
           ".glb, .node, .vtu, ..."),
    YW_KEY(pose_mesh_keys, rest, TEXT, 0, 0, "",
           "The same mesh at rest, if there is one: its vertices say how the body moves, and no "
           "fit is needed."),
    YW_CHOICE(pose_mesh_keys, align, alignments,
              "How the mesh is brought to the body: it is there (\"none\"), it is turned and moved "
              "(\"rigid\"), or also scaled to the body's volume (\"similarity\")."),
    YW_NODE(
        pose_mesh_keys, landmarks, "[landmark]",
        "Points that belong together. They tell what surfaces alone do not, like the twist of a "
        "round bar; three or more also say how the mesh is turned.")};
const yw_record yw_record_pose_mesh =
    YW_RECORD("pose_mesh", pose_mesh_rows, pose_mesh_defaults,
              "A pose given as a mesh of another topology: the tets are fitted to its surface.",
              "needs file");

static const yw_landmark landmark_defaults = {{0, 0, 0}, {0, 0, 0}};
static const yw_key_row landmark_rows[] = {
    YW_KEY(yw_landmark, rest, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point of the body at rest."),
    YW_KEY(yw_landmark, pose, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "The same point of the mesh, in the units of its file times the scale of the model.")};
const yw_record yw_record_landmark =
    YW_RECORD("landmark", landmark_rows, landmark_defaults,
              "A point of the body and the same point of a mesh in a pose.", "needs rest pose");

// Reading -----------------------------------------------------------------------------------------

static bool read_surface(yw_loader* l, const yw_json* node, const char* name, float scale,
                         yw_tri_mesh* out) {
  yw_error deep = {0};
  char* file = yw_loader_file(l, name);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, out, &deep) < 0) {
    return yw_deep_fail(&l->r, node, &deep);
  }
  for (int32_t i = 0; i < out->num_vertices; i++) {
    out->positions[i] = yw_scale(out->positions[i], scale);
  }
  return true;
}

static bool read_landmarks(yw_loader* l, const yw_json* node, yw_landmark** out, int32_t* count) {
  *count = 0;
  if (!node) return true;
  if (node->type != YW_JSON_ARRAY) {
    return yw_value_fail(&l->r, node, "must be a list of landmarks");
  }
  *out = yw_json_alloc(l->r.doc, (size_t)(node->count > 0 ? node->count : 1) * sizeof **out);
  if (!*out) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    if (!yw_read_record(&l->r, item, &yw_record_landmark, &(*out)[i]) ||
        !yw_needs(&l->r, item, "rest") || !yw_needs(&l->r, item, "pose")) {
      return false;
    }
  }
  *count = node->count;
  return true;
}

// Building ----------------------------------------------------------------------------------------

// The mesh is known at rest and in the pose: the tets follow its vertices.
static bool follow_mesh(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                        const yw_tri_mesh* rest, const yw_tri_mesh* pose, yw_vec3* out) {
  yw_error deep = {0};
  if (rest->num_vertices != pose->num_vertices) {
    return yw_value_fail(&l->r, yw_json_get(node, "rest"),
                         "has %d vertices, but the file of the pose has %d; they must be the same "
                         "mesh",
                         (int)rest->num_vertices, (int)pose->num_vertices);
  }
  return yw_tets_from_surface_pose(&model->tets, rest, pose->positions, out, &deep) >= 0 ||
         yw_deep_fail(&l->r, node, &deep);
}

static bool fit_mesh(yw_loader* l, const yw_json* node, const yw_model_spec* model,
                     const pose_mesh_keys* keys, const yw_tri_mesh* pose, yw_vec3* out) {
  yw_error deep = {0};
  yw_pose_fit fit;
  yw_landmark* landmarks = NULL;
  yw_pose_fit_def def = {.rest = &model->tets, .pose = pose, .align = (yw_pose_align)keys->align};
  if (!read_landmarks(l, keys->landmarks, &landmarks, &def.num_landmarks)) return false;
  def.landmarks = landmarks;
  if (yw_tets_from_pose_mesh(&def, out, &fit, &deep) < 0) return yw_deep_fail(&l->r, node, &deep);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < model->tets.num_vertices; i++) {
    box = yw_aabb_grow(box, model->tets.positions[i]);
  }
  float size = yw_length(yw_sub(box.upper, box.lower));
  if (fit.worst > WORTH_SAYING * size) {
    yw_value_warn(
        &l->r, node,
        "is fitted to %.2g m at worst, %.2g m in the mean, on a body of %.3g m; landmarks "
        "may help",
        (double)fit.worst, (double)fit.mean, (double)size);
  }
  return true;
}

bool yw_build_pose_mesh(yw_loader* l, const yw_model_spec* model, const yw_json* node,
                        yw_vec3* out) {
  pose_mesh_keys keys;
  yw_tri_mesh pose = {0}, rest = {0};
  if (!yw_read_record(&l->r, node, &yw_record_pose_mesh, &keys) || !yw_needs(&l->r, node, "file")) {
    return false;
  }
  bool done = read_surface(l, yw_json_get(node, "file"), keys.file, model->scale, &pose);
  if (done && keys.rest) {
    done = read_surface(l, yw_json_get(node, "rest"), keys.rest, model->scale, &rest) &&
           follow_mesh(l, node, model, &rest, &pose, out);
  } else if (done) {
    done = fit_mesh(l, node, model, &keys, &pose, out);
  }
  yw_tri_mesh_free(&pose);
  yw_tri_mesh_free(&rest);
  return done;
}
