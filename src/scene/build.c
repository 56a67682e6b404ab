// SPDX-License-Identifier: MIT
// The expensive part of reading a scene: meshes, poses, models, and the vertices of pins.
#include "geometry/mesher.h"
#include "scene/method.h"
#include "yawara/extend/method.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

// For the work of one model: a pool that waits takes time from others. NULL: one thread.
static yw_tasks* make_tasks(const yw_loader* l) {
  return l->def->threads == 1 ? NULL : yw_tasks_create(&l->scene->mem, l->def->threads);
}

// Tets --------------------------------------------------------------------------------------------

static bool build_lattice(yw_loader* l, yw_model_spec* model) {
  const yw_lattice_spec* s = &model->lattice;
  yw_vec3 half = yw_scale(s->size, 0.5f);
  yw_aabb box = {yw_sub(s->center, half), yw_add(s->center, half)};
  yw_lattice_cut cut = s->cut == 5 ? YW_LATTICE_FIVE : YW_LATTICE_SIX;
  yw_status status = yw_tet_mesh_lattice(&l->scene->mem, box, s->cells, cut, &model->tets);
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  return status >= 0 || yw_value_fail(&l->r, model->source_node, "cannot be cut into tets");
}

// Mass is that of the shape. What the tets miss of it is said.
static bool build_shape(yw_loader* l, yw_model_spec* model) {
  yw_error deep = {0};
  yw_mesher_def def = yw_default_mesher_def();
  char text[512];
  def.size = model->size;
  def.max_vertices = YW_SCENE_MAX_VERTICES;
  def.bulk = model->bulk;
  if (model->sizes.count > 0) def.size_at = yw_tet_size_at, def.size_context = &model->sizes;
  yw_status status = YW_OK;
  bool ready = yw_open_tet_sizes(l, &model->sizes);
  if (ready) {
    yw_tasks* tasks = make_tasks(l);
    status = yw_mesher_fill(model->shape, &l->scene->mem, &def, model->method->tet_size, tasks,
                            &model->tets, &model->fit, &deep);
    yw_tasks_destroy(tasks);
  }
  yw_close_tet_sizes(&model->sizes);
  if (!ready) return false;
  if (status < 0) return yw_deep_fail(&l->r, model->source_node, &deep);
  model->size = model->fit.size;
  if (yw_tet_fit_text(&model->fit, (double)model->keys.density, text, (int32_t)sizeof text) > 0) {
    yw_value_warn(&l->r, model->source_node, ": %s", text);
  }
  return true;
}

// Tets from files may not fit together. That is said; what a simulation needs is checked by
// methods.
static bool check_fit_together(yw_loader* l, const yw_model_spec* model) {
  yw_tet_faults faults;
  char text[512];
  if (yw_tet_mesh_check(&model->tets, NULL) < 0) return true;
  if (yw_tet_mesh_faults(&model->tets, &faults) < 0) return yw_memory_fail(&l->r);
  if (yw_tet_faults_text(&faults, text, (int32_t)sizeof text) > 0) {
    yw_value_warn(&l->r, model->source_node, ": %s", text);
  }
  return true;
}

bool yw_build_tets(yw_loader* l, yw_model_spec* model) {
  const yw_allocator* mem = &l->scene->mem;
  yw_error deep = {0};
  if (model->source == YW_SOURCE_LATTICE) return build_lattice(l, model);
  if (model->source == YW_SOURCE_SHAPE) return build_shape(l, model);
  char* file = yw_loader_file(l, model->file);
  if (!file) return yw_memory_fail(&l->r);
  yw_status status = yw_tet_mesh_read(file, mem, &model->tets, &deep);
  if (status < 0) return yw_deep_fail(&l->r, model->source_node, &deep);
  if (status > 0) yw_value_warn(&l->r, model->source_node, "%s", deep.message);
  for (int32_t i = 0; i < model->tets.num_vertices; i++) {
    model->tets.positions[i] = yw_scale(model->tets.positions[i], model->scale);
  }
  return check_fit_together(l, model);
}

// Models ------------------------------------------------------------------------------------------

static bool build_examples(yw_loader* l, yw_model_spec* model) {
  const yw_allocator* mem = &l->scene->mem;
  model->examples = YW_NEW_ARRAY(mem, yw_vec3*, model->num_poses);
  if (!model->examples) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < model->num_poses; i++) {
    model->strengths[i] = model->poses[i].strength;
    model->examples[i] = YW_NEW_ARRAY(mem, yw_vec3, model->tets.num_vertices);
    if (!model->examples[i]) return yw_memory_fail(&l->r);
    if (!yw_build_pose(l, model, &model->poses[i], model->examples[i])) return false;
  }
  return true;
}

static bool embed(yw_loader* l, yw_model_spec* model, const yw_tri_mesh* surface) {
  yw_error deep = {0};
  if (surface->num_triangles == 0) return true;
  // Bodies that may break show their tets, which cracks part.
  if (yw_model_surface_has_state(model->model)) {
    if (model->keys.surface) {
      yw_value_warn(&l->r, model->keys.surface,
                    " is not shown: the body may break, and shows its tets");
    }
    return true;
  }
  yw_tasks* tasks = make_tasks(l);
  yw_status status = yw_model_embed_surface_on(model->model, surface, tasks, &deep);
  yw_tasks_destroy(tasks);
  return status >= 0 || yw_deep_fail(&l->r, model->keys.surface, &deep);
}

bool yw_build_volume(yw_loader* l, yw_model_spec* model,
                     bool (*create)(yw_loader* l, yw_model_spec* model)) {
  yw_tri_mesh surface = {0};
  bool done = yw_build_tets(l, model) && yw_build_surface(l, model, &surface) &&
              build_examples(l, model) && create(l, model) && embed(l, model, &surface) &&
              yw_warn_poses(l, model);
  model->points = model->tets.positions;
  model->num_points = model->tets.num_vertices;
  yw_tri_mesh_free(&surface);
  return done;
}

void yw_model_spec_free(const yw_allocator* mem, yw_model_spec* model) {
  yw_model_release(model->model);
  for (int32_t i = 0; model->examples && i < model->num_poses; i++) {
    yw_mem_free(mem, model->examples[i]);
  }
  yw_mem_free(mem, model->examples);
  yw_mem_free(mem, model->labels);
  yw_tet_mesh_free(&model->tets);
  yw_tri_mesh_free(&model->surface_mesh);
}

// Bodies ------------------------------------------------------------------------------------------

static bool build_start_pose(yw_loader* l, yw_body_spec* body) {
  const yw_model_spec* model = &l->scene->models.items[body->model_index];
  if (body->start_example >= 0) {
    body->pose = model->examples[body->start_example];
    return true;
  }
  if (!body->start.node) return true;
  body->pose = yw_json_alloc(l->r.doc, (size_t)model->tets.num_vertices * sizeof *body->pose);
  if (!body->pose) return yw_memory_fail(&l->r);
  return yw_build_pose(l, model, &body->start, body->pose);
}

// Selects the vertices inside the shape in the start pose. Copies hold the same vertices.
static bool select_inside(yw_loader* l, const yw_body_spec* body, yw_pin_spec* pin) {
  const yw_model_spec* model = yw_model_of_body(l->scene, body);
  const yw_vec3* pose = body->pose ? body->pose : model->points;
  yw_transform place = {body->position, body->rotation, 1};
  pin->list = yw_json_alloc(l->r.doc, (size_t)model->num_points * sizeof *pin->list);
  if (!pin->list) return yw_memory_fail(&l->r);
  pin->num_vertices = 0;
  for (int32_t i = 0; i < model->num_points; i++) {
    if (yw_shape_distance(pin->shape, yw_transform_point(place, pose[i])) > 0) continue;
    pin->list[pin->num_vertices++] = i;
  }
  if (pin->num_vertices > 0) return true;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < model->num_points; i++) {
    box = yw_aabb_grow(box, yw_transform_point(place, pose[i]));
  }
  return yw_value_fail(
      &l->r, pin->select,
      "selects none of the body's %d vertices, which lie from (%.3g, %.3g, %.3g) to (%.3g, %.3g, "
      "%.3g)",
      (int)model->num_points, (double)box.lower.x, (double)box.lower.y, (double)box.lower.z,
      (double)box.upper.x, (double)box.upper.y, (double)box.upper.z);
}

static bool select_painted(yw_loader* l, const yw_body_spec* body, yw_pin_spec* pin) {
  const yw_json* text = yw_json_get(pin->node, "painted");
  int32_t count = yw_model_of_body(l->scene, body)->num_points;
  unsigned char* bytes = NULL;
  pin->list = yw_json_alloc(l->r.doc, (size_t)count * sizeof *pin->list);
  if (!pin->list) return yw_memory_fail(&l->r);
  if (!yw_read_vertex_paint(l, text, count, &bytes)) return false;
  pin->num_vertices = 0;
  for (int32_t i = 0; i < count; i++) {
    if (bytes[i]) pin->list[pin->num_vertices++] = i;
  }
  yw_mem_free(&l->scene->mem, bytes);
  return pin->num_vertices > 0 || yw_value_fail(&l->r, text, "holds no vertex: all bytes are 0");
}

static bool check_vertices(yw_loader* l, const yw_body_spec* body, const yw_pin_spec* pin) {
  int32_t count = yw_model_of_body(l->scene, body)->num_points;
  for (int32_t i = 0; i < pin->num_vertices; i++) {
    if (pin->list[i] < count) continue;
    return yw_value_fail(&l->r, pin->vertices->items[i],
                         "is %d, but must be between 0 and %d, the last vertex", (int)pin->list[i],
                         (int)count - 1);
  }
  return true;
}

// Without a pivot, a pin turns about the centre of what it holds.
static void choose_pivot(const yw_model_spec* model, const yw_body_spec* body, yw_pin_spec* pin) {
  if (pin->motion.has_pivot) return;
  const yw_vec3* pose = body->pose ? body->pose : model->points;
  yw_transform place = {body->position, body->rotation, 1};
  yw_vec3 sum = {0, 0, 0};
  for (int32_t i = 0; i < pin->num_vertices; i++) {
    sum = yw_add(sum, yw_transform_point(place, pose[pin->list[i]]));
  }
  pin->motion.pivot = yw_scale(sum, 1.0f / (float)pin->num_vertices);
}

static bool build_pins(yw_loader* l, yw_body_spec* body) {
  for (int32_t i = 0; i < body->num_pins; i++) {
    yw_pin_spec* pin = &body->pin_list[i];
    bool done = pin->shape     ? select_inside(l, body, pin)
                : pin->painted ? select_painted(l, body, pin)
                               : check_vertices(l, body, pin);
    if (!done) return false;
    choose_pivot(yw_model_of_body(l->scene, body), body, pin);
    int32_t count = yw_model_of_body(l->scene, body)->num_points;
    if (pin->follow && !yw_build_follow(l, count, &pin->targets)) return false;
  }
  return true;
}

bool yw_build_models(yw_loader* l) {
  yw_scene* scene = l->scene;
  for (int32_t i = 0; i < scene->models.count; i++) {
    yw_model_spec* model = &scene->models.items[i];
    if (!model->used) {
      yw_value_warn(&l->r, model->node, " is not used");
    } else if (!model->method->build(l, model)) {
      return false;
    }
  }
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    yw_body_spec* body = &scene->bodies.items[i];
    if (!build_start_pose(l, body) || !build_pins(l, body)) return false;
  }
  if (!yw_build_groups(l)) return false;
  yw_warn_overlaps(l);
  return true;
}
