// SPDX-License-Identifier: MIT
// "rigid" in scene files: a shape, a closed triangle mesh, or tets.
#include <string.h>

#include "scene/method.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/rigid.h"

#define MAX_HALVINGS 4

typedef struct rigid_settings {
  float size;
  yw_rigid_params params;  // bodies may change these
} rigid_settings;
static const rigid_settings rigid_defaults = {.size = 0};
static const yw_key_row rigid_rows[] = {
    YW_MODEL_FIELD_ABOVE(
        rigid_settings, size, NUMBER, 0, YW_SCENE_REACH, "m",
        "Edge length of the surface of a shape. Default: 1/12 of its longest "
        "side, less for thin shapes. Mass, inertia and rolling do not depend on it."),
    YW_PARAM(rigid_settings, damping, NUMBER, 0, 1e6, "1/s", "Decay rate of velocity and spin.")};
static const yw_record rigid_record =
    YW_RECORD("rigid", rigid_rows, rigid_defaults, "A body that does not deform.", "");

static bool load(yw_loader* l, yw_model_spec* model) {
  if (!yw_needs_volume(l, model)) return false;
  if (model->num_poses > 0) {
    return yw_value_fail(&l->r, model->keys.examples,
                         "is not for rigid bodies, which have one pose");
  }
  const yw_json* size = yw_json_get(model->keys.settings, "size");
  if (!size || (model->source == YW_SOURCE_SHAPE && !model->keys.mesh)) return true;
  return yw_value_fail(&l->r, size, "is for bodies with a \"shape\"; a mesh has its own triangles");
}

static bool create(yw_loader* l, yw_model_spec* model, yw_rigid_def* def) {
  const rigid_settings* settings = model->settings;
  yw_error deep = {0};
  yw_tri_mesh shown = {0};
  def->density = model->keys.density;
  def->params = settings->params;
  def->shape = model->source == YW_SOURCE_SHAPE ? model->shape : NULL;
  // The surface of a shape that nobody asked for is that of contact, which is close to the shape.
  bool own = model->has_surface &&
             (model->surface.file || def->mesh || (model->surface.solid && model->keys.surface));
  if (own && !yw_build_surface(l, model, &shown)) return false;
  if (own) def->shown = &shown;
  yw_status status = yw_model_create_rigid(&l->scene->mem, def, &model->model, &deep);
  def->shown = NULL;
  yw_tri_mesh_free(&shown);
  const yw_json* node = status == YW_ERR_GEOMETRY ? model->source_node : model->node;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  model->points = yw_model_points(model->model, &model->num_points);
  return true;
}

// Volume inside a closed surface.
static double volume_of(const yw_tri_mesh* surface) {
  double sum = 0.0;
  for (int32_t t = 0; t < surface->num_triangles; t++) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    const yw_vec3* x = surface->positions;
    sum += (double)yw_dot(x[v[0]], yw_cross(x[v[1]], x[v[2]])) / 6.0;
  }
  return sum;
}

// Halves the size until that changes the volume by less than 2 %: thin parts need small triangles.
static bool build_fine_enough(yw_loader* l, yw_model_spec* model, yw_tri_mesh* surface) {
  yw_error deep = {0};
  double volume = 0.0;
  for (int halvings = 0; halvings <= MAX_HALVINGS; halvings++, model->size *= 0.5f) {
    yw_tri_mesh next = {0};
    yw_status status = yw_shape_surface(model->shape, &l->scene->mem, model->size, &next, &deep);
    if (status < 0 && status != YW_ERR_GEOMETRY) break;
    double found = status >= 0 ? volume_of(&next) : 0.0;
    bool enough = volume > 0.0 && fabs(found - volume) < 0.02 * found;
    yw_tri_mesh_free(enough ? &next : surface);
    if (enough) return true;
    *surface = next;
    volume = found;
  }
  return surface->num_triangles > 0 || yw_deep_fail(&l->r, model->source_node, &deep);
}

static bool build_shape(yw_loader* l, yw_model_spec* model, yw_tri_mesh* surface) {
  const rigid_settings* settings = model->settings;
  yw_error deep = {0};
  yw_aabb box;
  yw_shape_bounds(model->shape, &box);
  yw_vec3 sides = yw_sub(box.upper, box.lower);
  model->size = settings->size > 0 ? settings->size : fmaxf(sides.x, fmaxf(sides.y, sides.z)) / 12;
  if (!(settings->size > 0)) return build_fine_enough(l, model, surface);
  return yw_shape_surface(model->shape, &l->scene->mem, model->size, surface, &deep) >= 0 ||
         yw_deep_fail(&l->r, model->source_node, &deep);
}

static bool is_surface_file(const char* file) {
  static const char* const endings[] = {".obj", ".ply", ".stl"};
  size_t length = strlen(file);
  for (int i = 0; i < 3 && length > 4; i++) {
    bool same = true;
    for (size_t k = 0; k < 4; k++) {
      char c = file[length - 4 + k];
      same = same && (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) == endings[i][k];
    }
    if (same) return true;
  }
  return false;
}

static bool read_surface(yw_loader* l, yw_model_spec* model, yw_tri_mesh* surface) {
  yw_error deep = {0};
  char* file = yw_loader_file(l, model->file);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, surface, &deep) < 0) {
    return yw_deep_fail(&l->r, model->source_node, &deep);
  }
  for (int32_t i = 0; i < surface->num_vertices; i++) {
    surface->positions[i] = yw_scale(surface->positions[i], model->scale);
  }
  return yw_mend_surface(l, model->source_node, surface);
}

static bool build(yw_loader* l, yw_model_spec* model) {
  yw_rigid_def def = yw_default_rigid_def();
  yw_tri_mesh surface = {0};
  bool from_shape = model->source == YW_SOURCE_SHAPE && !model->keys.mesh;
  bool from_file = model->source == YW_SOURCE_FILE && is_surface_file(model->file);
  if (!from_shape && !from_file) {
    def.mesh = &model->tets;
    return yw_build_tets(l, model) && create(l, model, &def);
  }
  def.surface = &surface;
  bool done = from_shape ? build_shape(l, model, &surface) : read_surface(l, model, &surface);
  done = done && create(l, model, &def);
  yw_tri_mesh_free(&surface);
  return done;
}

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_rigid_params(world, id, &((const rigid_settings*)settings)->params);
}

const yw_scene_method yw_scene_rigid = {
    .name = "rigid", .record = &rigid_record, .load = load, .build = build, .apply = apply};
