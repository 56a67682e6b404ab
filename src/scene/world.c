// SPDX-License-Identifier: MIT
// Builds a world with everything in a scene.
#include <stdio.h>

#include "math/small/trig.h"
#include "scene/animation.h"
#include "scene/method.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/ranks.h"
#include "yawara/extend/vec.h"
#include "yawara/mesh_obstacle.h"

// Copies ------------------------------------------------------------------------------------------

// Number `index` of a repeatable random sequence, in [-1, 1).
static float random_number(const yw_body_spec* body, int32_t copy, int32_t index) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)body->copies.seed);
  hash = yw_hash_u64(hash, (uint64_t)copy * 8 + (uint64_t)index);
  return (float)(hash >> 40) / 8388608.0f - 1.0f;
}

static yw_vec3 copy_offset(const yw_body_spec* body, int32_t copy) {
  const yw_repeat_spec* r = &body->copies;
  int32_t i = copy % r->count[0], j = copy / r->count[0] % r->count[1];
  int32_t k = copy / r->count[0] / r->count[1];
  yw_vec3 offset = yw_v3((float)i * r->spacing.x, (float)j * r->spacing.y, (float)k * r->spacing.z);
  yw_vec3 random = yw_v3(random_number(body, copy, 0), random_number(body, copy, 1),
                         random_number(body, copy, 2));
  return yw_mad(offset, r->jitter, random);
}

yw_transform yw_body_copy_transform(const yw_body_spec* body, int32_t copy) {
  yw_transform t = {body->position, body->rotation, 1};
  if (!body->repeat) return t;
  t.position = yw_add(t.position, copy_offset(body, copy));
  if (body->copies.turn > 0) {
    yw_vec3 axis = yw_v3(random_number(body, copy, 3), random_number(body, copy, 4),
                         random_number(body, copy, 5));
    float angle = body->copies.turn * random_number(body, copy, 6) * 0.017453292519943295f;
    t.rotation = yw_quat_normalize(yw_quat_mul(yw_quat_axis_angle(axis, angle), t.rotation));
  }
  return t;
}

int32_t yw_body_num_copies(const yw_body_spec* body) {
  return body->copies.count[0] * body->copies.count[1] * body->copies.count[2];
}

double yw_body_copy_start(const yw_body_spec* body, int32_t copy) {
  return (double)body->start_time + (double)copy * (double)body->copies.interval;
}

// Parts of the world ------------------------------------------------------------------------------

// "pads" or "pads[3]"; a body without a name is named by its path in the file.
static void name_body(const yw_body_spec* body, int32_t copy, char* out, size_t capacity) {
  char name[200];
  yw_json_path(body->node, name, sizeof name);
  const char* first = body->name ? body->name : name;
  if (body->repeat) {
    snprintf(out, capacity, "%s[%d]", first, (int)copy);
  } else {
    snprintf(out, capacity, "%s", first);
  }
}

// What was made, in the order of the scene; drives refer to it.
typedef struct building {
  const yw_scene* scene;
  yw_world* world;
  YW_LIST(yw_obstacle_id) obstacles;
  YW_LIST(yw_pin_id) pins;
} building;

// first: index of the body's first particle in the world's body.
static yw_status create_pin(building* b, const yw_pin_spec* pin, int32_t first, yw_pin_def* def,
                            yw_error* error) {
  const yw_scene* scene = b->scene;
  yw_world* world = b->world;
  yw_pin_id id;
  if (!YW_LIST_RESERVE(&scene->mem, &b->pins, 1)) return yw_fail_memory(error, "a pin");
  int32_t* moved = YW_NEW_ARRAY(&scene->mem, int32_t, pin->num_vertices);
  if (!moved) return yw_fail_memory(error, "a pin");
  for (int32_t i = 0; i < pin->num_vertices; i++) moved[i] = pin->list[i] + first;
  def->vertices = moved;
  yw_status status = pin->follow ? yw_create_follow(scene, world, &pin->targets, def->body, moved,
                                                    pin->num_vertices, &id, error)
                                 : yw_pin_create(world, def, &id, error);
  yw_mem_free(&scene->mem, moved);
  if (status < 0) return status;
  b->pins.items[b->pins.count++] = id;
  return yw_create_pin_track(world, pin, id, error);
}

static yw_status create_pins(building* b, const yw_body_spec* body, yw_body_id id, int32_t first,
                             yw_vec3 moved, yw_error* error) {
  for (int32_t i = 0; i < body->num_pins; i++) {
    const yw_pin_spec* pin = &body->pin_list[i];
    yw_pin_def def = yw_default_pin_def();
    def.body = id;
    def.num_vertices = pin->num_vertices;
    def.path = yw_path_of(&pin->motion, yw_add(pin->motion.pivot, moved));
    def.stiffness = pin->stiffness;
    def.damping = pin->damping;
    def.clamp = pin->clamp;
    yw_status status = create_pin(b, pin, first, &def, error);
    if (status < 0) return status;
  }
  return YW_OK;
}

static yw_status create_copy(building* b, const yw_body_spec* body, int32_t copy, yw_error* error) {
  const yw_scene* scene = b->scene;
  yw_world* world = b->world;
  char name[220];
  name_body(body, copy, name, sizeof name);
  yw_body_id id;
  yw_body_def def = yw_default_body_def();
  def.model = scene->models.items[body->model_index].model;
  def.name = name;
  def.transform = yw_body_copy_transform(body, copy);
  def.velocity = body->velocity;
  def.angular_velocity = body->angular_velocity;
  def.friction = body->friction;
  def.restitution = body->restitution;
  def.body_contact = body->body_contact;
  def.self_contact = body->self_contact;
  def.groups = body->filter.group_bits;
  def.mask = body->filter.mask_bits;
  def.pose = body->pose;
  def.start = yw_body_copy_start(body, copy);
  yw_status status = yw_body_create(world, &def, &id, error);
  if (status < 0) return status;
  status = yw_model_of_body(scene, body)->method->apply(world, id, body->settings);
  if (status < 0) return yw_fail(error, status, "its settings are refused");
  status = yw_create_body_tracks(world, body, id, error);
  if (status < 0) return status;
  return create_pins(b, body, id, 0, yw_sub(def.transform.position, body->position), error);
}

// Bodies that merge: velocities, positions and start times are those of the model's parts.
static yw_status create_group(building* b, const yw_group_spec* group, yw_error* error) {
  const yw_scene* scene = b->scene;
  yw_world* world = b->world;
  const yw_body_spec* body = &scene->bodies.items[group->first];
  char name[220];
  name_body(body, 0, name, sizeof name);
  yw_body_id id;
  yw_body_def def = yw_default_body_def();
  def.model = group->model;
  def.name = group->name[0] ? group->name : name;
  def.friction = body->friction;
  def.restitution = body->restitution;
  def.body_contact = body->body_contact;
  def.self_contact = body->self_contact;
  def.groups = body->filter.group_bits;
  def.mask = body->filter.mask_bits;
  def.start = group->parts[0].start;
  yw_status status = yw_body_create(world, &def, &id, error);
  if (status >= 0) status = yw_create_body_tracks(world, body, id, error);
  for (int32_t i = 0; i < group->num_parts && status >= 0; i++) {
    const yw_part_spec* part = &group->parts[i];
    const yw_body_spec* own = &scene->bodies.items[part->body];
    yw_vec3 moved = yw_sub(yw_body_copy_transform(own, part->copy).position, own->position);
    status = create_pins(b, own, id, part->first, moved, error);
  }
  return status;
}

static yw_status create_moving(yw_world* world, const yw_mesh_obstacle_spec* moving,
                               const yw_obstacle_def* obstacle, yw_obstacle_id* out,
                               yw_error* error) {
  const yw_animation_spec* a = &moving->animation;
  yw_mesh_obstacle_def def = yw_default_mesh_obstacle_def();
  def.obstacle = *obstacle;
  def.triangles = moving->triangles;
  def.num_triangles = moving->num_triangles;
  def.animation = yw_animation_of(a);
  def.thickness = moving->thickness;
  return yw_mesh_obstacle_create(world, &def, out, error);
}

static yw_status create_obstacle(building* b, const yw_obstacle_spec* obstacle, yw_error* error) {
  yw_obstacle_def def = yw_default_obstacle_def();
  const yw_path_spec* motion = &obstacle->motion;
  def.shape = obstacle->solid;
  def.transform = (yw_transform){obstacle->position, obstacle->rotation, 1};
  def.path = yw_path_of(motion, motion->has_pivot ? motion->pivot : obstacle->position);
  def.friction = obstacle->friction;
  def.restitution = obstacle->restitution;
  def.sticky = obstacle->sticky;
  def.groups = obstacle->filter.group_bits;
  def.mask = obstacle->filter.mask_bits;
  def.name = obstacle->name;
  if (!YW_LIST_RESERVE(&b->scene->mem, &b->obstacles, 1))
    return yw_fail_memory(error, "an obstacle");
  yw_obstacle_id* id = &b->obstacles.items[b->obstacles.count++];
  if (obstacle->moving) return create_moving(b->world, obstacle->moving, &def, id, error);
  return yw_obstacle_create(b->world, &def, id, error);
}

// Reports which part of the scene a deeper layer rejected.
static yw_status fail_part(const yw_scene* scene, const yw_json* node, const yw_error* deep,
                           yw_error* error) {
  char path[200];
  yw_json_path(node, path, sizeof path);
  return yw_fail(error, deep->status, "%s: %s: %s", scene->file, path, deep->message);
}

static yw_status create_bodies(building* b, int32_t i, yw_error* error) {
  const yw_scene* scene = b->scene;
  const yw_body_spec* body = &scene->bodies.items[i];
  int32_t copies = body->group < 0 ? yw_body_num_copies(body) : 0;
  yw_status status = YW_OK;
  if (body->group >= 0 && scene->groups.items[body->group].first == i) {
    status = create_group(b, &scene->groups.items[body->group], error);
  }
  for (int32_t copy = 0; copy < copies && status >= 0; copy++) {
    status = create_copy(b, body, copy, error);
  }
  return status;
}

static bool has_drives(const yw_body_spec* body) {
  bool has = false;
  for (int32_t i = 0; i < body->num_tracks; i++) has = has || body->track_list[i].driven;
  for (int32_t i = 0; i < body->num_pins; i++) has = has || body->pin_list[i].track.driven;
  return has;
}

// Driven tracks may look at any body, so they come last.
static yw_status create_drives(building* b, yw_error* error) {
  const yw_scene* scene = b->scene;
  yw_error deep = {0};
  int32_t first_pin = 0, made = 0;
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    const yw_body_spec* body = &scene->bodies.items[i];
    if (body->group >= 0) {
      if (has_drives(body)) {
        yw_fail(&deep, YW_ERR_FORMAT, "bodies that merge cannot have a \"drive\"");
        return fail_part(scene, body->node, &deep, error);
      }
      const yw_group_spec* group = &scene->groups.items[body->group];
      made += group->first == i;
      for (int32_t k = 0; group->first == i && k < group->num_parts; k++) {
        first_pin += scene->bodies.items[group->parts[k].body].num_pins;
      }
      continue;
    }
    for (int32_t copy = 0; copy < yw_body_num_copies(body); copy++) {
      yw_drive_place place = {
          .body = yw_world_body(b->world, made++),
          .num_pins = body->num_pins,
          .pins = body->num_pins > 0 ? b->pins.items + first_pin : NULL,
          .obstacles = b->obstacles.items,
          .moved = yw_sub(yw_body_copy_transform(body, copy).position, body->position)};
      first_pin += body->num_pins;
      deep.status = yw_create_driven_tracks(scene, b->world, body, &place, &deep);
      if (deep.status < 0) return fail_part(scene, body->node, &deep, error);
    }
  }
  return YW_OK;
}

static yw_status fill_world(building* b, yw_error* error) {
  const yw_scene* scene = b->scene;
  yw_error deep = {0};
  for (int32_t i = 0; i < scene->obstacles.count; i++) {
    const yw_obstacle_spec* obstacle = &scene->obstacles.items[i];
    deep.status = create_obstacle(b, obstacle, &deep);
    if (deep.status < 0) return fail_part(scene, obstacle->node, &deep, error);
  }
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    deep.status = create_bodies(b, i, &deep);
    if (deep.status < 0) return fail_part(scene, scene->bodies.items[i].node, &deep, error);
  }
  for (int32_t i = 0; i < scene->joints.count; i++) {
    const yw_joint_spec* joint = &scene->joints.items[i];
    deep.status = yw_create_joint(scene, b->world, joint, &deep);
    if (deep.status < 0) return fail_part(scene, joint->node, &deep, error);
  }
  yw_status status = create_drives(b, error);
  return status < 0 ? status : yw_create_scene_tracks(scene, b->world, error);
}

void yw_scene_set_device(yw_scene* scene, yw_device_kind device) { scene->device = device; }

void yw_scene_set_ranks(yw_scene* scene, const yw_ranks* ranks) { scene->ranks = ranks; }

yw_status yw_scene_build(const yw_scene* scene, int32_t threads, yw_simd simd, yw_world** out,
                         yw_error* error) {
  if (!out) return yw_fail(error, YW_ERR_INVALID, "yw_scene_build needs a place for the world");
  *out = NULL;
  if (!scene) return yw_fail(error, YW_ERR_INVALID, "yw_scene_build needs a scene");
  yw_world_def def = yw_default_world_def();
  def.gravity = scene->gravity;
  def.threads = threads;
  def.simd = simd;
  def.contact_iterations = scene->contact_iterations;
  def.contact = scene->contact;
  def.mem = scene->mem;
  def.jobs = scene->jobs;
  def.device = (uint8_t)scene->device;
  yw_world* world = NULL;
  if (yw_device_check(scene->device, error) < 0) return YW_ERR_DEVICE;
  yw_status status = yw_world_create(&def, &world);
  if (status < 0) {
    return yw_fail(error, status, "%s: the world cannot be made with %d threads", scene->file,
                   (int)threads);
  }
  yw_world_set_wind(world, &scene->wind);
  yw_world_set_sleep_speed(world, scene->sleep_speed);
  building b = {.scene = scene, .world = world};
  yw_world_set_ranks(world, scene->ranks);
  status = fill_world(&b, error);
  if (status >= 0) status = yw_world_check_ranks(world, error);
  YW_LIST_FREE(&scene->mem, &b.obstacles);
  YW_LIST_FREE(&scene->mem, &b.pins);
  if (status < 0) {
    yw_world_destroy(world);
    return status;
  }
  *out = world;
  return YW_OK;
}
