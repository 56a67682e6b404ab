// SPDX-License-Identifier: MIT
// Appearance of bodies and obstacles, and their ids in a new world.
#include "scene/method.h"
#include "yawara/extend/vec.h"

// Soft, distinct colours of similar brightness.
static const yw_vec3 palette[] = {
    {0.75f, 0.20f, 0.12f}, {0.06f, 0.30f, 0.55f}, {0.85f, 0.50f, 0.08f}, {0.10f, 0.42f, 0.22f},
    {0.45f, 0.16f, 0.50f}, {0.10f, 0.48f, 0.48f}, {0.80f, 0.28f, 0.38f}, {0.38f, 0.42f, 0.10f}};

// The colour of a copy, or palette entry `number`.
static yw_vec3 color_of(const yw_body_spec* spec, int32_t copy, int32_t number) {
  return spec->num_colors > 0 ? spec->color_list[copy % spec->num_colors]
                              : palette[(size_t)number % (sizeof palette / sizeof *palette)];
}

int32_t yw_scene_body_entry(const yw_scene* scene, int32_t body) {
  if (!scene || body < 0 || body >= scene->num_bodies) return -1;
  int32_t low = 0, high = scene->bodies.count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (scene->bodies.items[middle].first_body <= body) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The body entry that created body number `body` of the world.
static const yw_body_spec* find_body(const yw_scene* scene, int32_t body) {
  return &scene->bodies.items[yw_scene_body_entry(scene, body)];
}

yw_look yw_scene_body_look(const yw_scene* scene, int32_t body) {
  yw_look look = {{0.7f, 0.7f, 0.7f}, true, false};
  if (body < 0 || body >= scene->num_bodies) return look;
  const yw_body_spec* spec = find_body(scene, body);
  look.color = color_of(spec, body - spec->first_body, body);
  return look;
}

bool yw_scene_body_fit(const yw_scene* scene, int32_t body, yw_tet_fit* out) {
  *out = (yw_tet_fit){0};
  if (body < 0 || body >= scene->num_bodies) return false;
  const yw_body_spec* spec = find_body(scene, body);
  if (spec->model_index < 0) return false;
  *out = scene->models.items[spec->model_index].fit;
  return out->shape_volume > 0;
}

static void lay_paint(const yw_body_spec* spec, yw_vec3 point, yw_vec3* color) {
  for (int32_t i = 0; i < spec->num_paints; i++) {
    const yw_paint_spec* paint = &spec->paint_list[i];
    float d = yw_shape_distance(paint->solid, point);
    float inside = d <= 0 ? 1.0f : 0.0f;
    if (paint->blend > 0) inside = yw_clampf(0.5f - d / paint->blend, 0.0f, 1.0f);
    *color = yw_lerp(*color, paint->color, inside);
  }
}

bool yw_scene_body_paint(const yw_scene* scene, int32_t body, yw_vec3 point, yw_vec3* color) {
  if (body < 0 || body >= scene->num_bodies) return false;
  const yw_body_spec* spec = find_body(scene, body);
  lay_paint(spec, point, color);
  return spec->num_paints > 0;
}

const char* yw_scene_body_surface_file(const yw_scene* scene, int32_t body) {
  if (body < 0 || body >= scene->num_bodies) return NULL;
  return yw_model_of_body(scene, find_body(scene, body))->surface_path;
}

static const yw_part_spec* find_part(const yw_group_spec* group, int32_t particle) {
  int32_t low = 0, high = group->num_parts;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (group->parts[middle].first <= particle) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &group->parts[low];
}

bool yw_scene_particle_color(const yw_scene* scene, int32_t body, int32_t particle,
                             yw_vec3* color) {
  if (body < 0 || body >= scene->num_bodies || particle < 0) return false;
  const yw_body_spec* spec = find_body(scene, body);
  if (!yw_model_of_body(scene, spec)->method->build_group) return false;
  if (spec->group >= 0) {
    const yw_group_spec* group = &scene->groups.items[spec->group];
    const yw_part_spec* part = find_part(group, particle);
    spec = &scene->bodies.items[part->body];
    particle -= part->first;
    *color = color_of(spec, part->copy, body + (int32_t)(part - group->parts));
  } else if (spec->num_paints == 0) {
    return false;
  }
  const yw_model_spec* model = yw_model_of_body(scene, spec);
  if (particle < model->num_points) lay_paint(spec, model->points[particle], color);
  return true;
}

int32_t yw_scene_num_particle_colors(const yw_scene* scene, int32_t body) {
  yw_vec3 color = {0, 0, 0};
  if (!yw_scene_particle_color(scene, body, 0, &color)) return 0;
  const yw_body_spec* spec = find_body(scene, body);
  if (spec->group < 0) return yw_model_of_body(scene, spec)->num_points;
  const yw_group_spec* group = &scene->groups.items[spec->group];
  const yw_part_spec* last = &group->parts[group->num_parts - 1];
  return last->first + last->count;
}

int32_t yw_scene_num_obstacles(const yw_scene* scene) { return scene->obstacles.count; }

static const yw_obstacle_spec* obstacle_at(const yw_scene* scene, int32_t i) {
  return i >= 0 && i < scene->obstacles.count ? &scene->obstacles.items[i] : NULL;
}

yw_look yw_scene_obstacle_look(const yw_scene* scene, int32_t obstacle) {
  const yw_obstacle_spec* o = obstacle_at(scene, obstacle);
  return o ? (yw_look){o->color, o->visible, o->checker} : (yw_look){{0, 0, 0}, false, false};
}

const yw_shape* yw_scene_obstacle_shape(const yw_scene* scene, int32_t obstacle) {
  const yw_obstacle_spec* o = obstacle_at(scene, obstacle);
  return o ? o->solid : NULL;
}

yw_obstacle_id yw_scene_obstacle_id(const yw_scene* scene, int32_t obstacle) {
  // A new world fills its slots in order.
  if (!obstacle_at(scene, obstacle)) return (yw_obstacle_id){0, 0};
  return (yw_obstacle_id){.index1 = (uint32_t)obstacle + 1, .generation = 1};
}
