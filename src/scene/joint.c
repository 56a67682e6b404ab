// SPDX-License-Identifier: MIT
// "joints" in scene files. Bodies are named, so that joints are made when all bodies are there.
#include <math.h>
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/joint.h"

#define MAX_JOINTS 100000
#define DEGREES 0.017453292519943295f

static const char* const kinds[] = {"fixed", "ball", "hinge", "slider", "rope", "spring", NULL};

static const yw_joint_spec joint_defaults = {.axis = {1, 0, 0}, .length = -1, .stiffness = 1000};
static const yw_key_row joint_rows[] = {
    YW_KEY(yw_joint_spec, name, TEXT, 0, 0, "", "Name, for messages."),
    YW_CHOICE(yw_joint_spec, kind, kinds,
              "\"fixed\" (glue, if one body is soft), \"ball\" (a common point), \"hinge\", "
              "\"slider\", \"rope\" (a largest distance) or \"spring\". Hinges and sliders need "
              "rigid bodies."),
    YW_KEY(yw_joint_spec, body, TEXT, 0, 0, "", "Name of the body that is joined."),
    YW_KEY(yw_joint_spec, to, TEXT, 0, 0, "",
           "Name of the body that it is joined to. Default: the world."),
    YW_KEY(yw_joint_spec, at, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point of the joint; of a rope or spring, its end on the first body."),
    YW_KEY(yw_joint_spec, to_at, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Other end of a rope or spring."),
    YW_NODE(yw_joint_spec, select, "any_shape",
            "Shape, in world coordinates: the vertices of soft bodies inside are held. Default: "
            "the vertex nearest to the point."),
    YW_KEY(yw_joint_spec, axis, AXIS, -1e6, 1e6, "", "Axis of a hinge or slider."),
    YW_NODE(yw_joint_spec, limits, "[number]",
            "Least and largest angle (degrees, from -180 to 180) of a hinge or shift (m) of a "
            "slider, against where it starts."),
    YW_NODE(yw_joint_spec, motor, "motor", "Motor of a hinge or slider."),
    YW_KEY(yw_joint_spec, length, NUMBER, 0, YW_SCENE_REACH, "m",
           "Length of a rope, or of a spring at rest. Default: as it starts."),
    YW_KEY_ABOVE(yw_joint_spec, stiffness, NUMBER, 0, 1e12, "N/m", "Stiffness of a spring."),
    YW_KEY(yw_joint_spec, damping, NUMBER, 0, 1e12, "N s/m", "Damping of a spring."),
    YW_KEY(yw_joint_spec, collide, BOOL, 0, 0, "",
           "Whether the two bodies collide with each other.")};
const yw_record yw_record_joint =
    YW_RECORD("joint", joint_rows, joint_defaults,
              "Connects a body with another one or with the world.", "needs kind body at");

typedef struct motor_keys {
  float speed, force;
} motor_keys;
static const motor_keys motor_defaults = {.speed = 0};
static const yw_key_row motor_rows[] = {
    YW_KEY(motor_keys, speed, NUMBER, -1e6, 1e6, "degrees/s or m/s",
           "Speed that the motor keeps if it can, of the body against what it is joined to."),
    YW_KEY_ABOVE(motor_keys, force, NUMBER, 0, 1e12, "N m or N", "Largest torque or force.")};
const yw_record yw_record_motor =
    YW_RECORD("motor", motor_rows, motor_defaults, "Motor of a joint.", "needs speed force");

// Reading -----------------------------------------------------------------------------------------

static bool load_limits(yw_loader* l, yw_joint_spec* out) {
  const yw_json* node = out->limits;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count != 2) return yw_value_fail(&l->r, node, "must have two numbers");
  double reach = out->kind == YW_JOINT_HINGE ? 180 : YW_SCENE_REACH;
  return yw_read_number(&l->r, node->items[0], -reach, 0, false, &out->lower) &&
         yw_read_number(&l->r, node->items[1], 0, reach, false, &out->upper);
}

static bool load_motor(yw_loader* l, yw_joint_spec* out) {
  motor_keys k;
  if (!out->motor) return true;
  if (!yw_read_record(&l->r, out->motor, &yw_record_motor, &k) ||
      !yw_needs(&l->r, out->motor, "speed") || !yw_needs(&l->r, out->motor, "force")) {
    return false;
  }
  out->motor_speed = k.speed;
  out->motor_force = k.force;
  return true;
}

// Keys that mean nothing for the kind are mistakes.
static bool check_keys(yw_loader* l, const yw_json* node, int32_t kind) {
  static const struct {
    const char* key;
    unsigned kinds;
  } uses[] = {{"axis", 1u << YW_JOINT_HINGE | 1u << YW_JOINT_SLIDER},
              {"limits", 1u << YW_JOINT_HINGE | 1u << YW_JOINT_SLIDER},
              {"motor", 1u << YW_JOINT_HINGE | 1u << YW_JOINT_SLIDER},
              {"to_at", 1u << YW_JOINT_ROPE | 1u << YW_JOINT_SPRING},
              {"length", 1u << YW_JOINT_ROPE | 1u << YW_JOINT_SPRING},
              {"stiffness", 1u << YW_JOINT_SPRING},
              {"damping", 1u << YW_JOINT_SPRING}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    const yw_json* item = yw_json_get(node, uses[i].key);
    if (item && !(uses[i].kinds >> kind & 1u)) {
      return yw_value_fail(&l->r, item, "is not for joints of kind \"%s\"", kinds[kind]);
    }
  }
  bool two = kind == YW_JOINT_ROPE || kind == YW_JOINT_SPRING;
  return !two || yw_needs(&l->r, node, "to_at");
}

bool yw_load_joints(yw_loader* l, const yw_json* node) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count > MAX_JOINTS) {
    return yw_value_fail(&l->r, node, "has %d joints, but a scene has at most %d", (int)node->count,
                         MAX_JOINTS);
  }
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->scene->joints, node->count)) {
    return yw_memory_fail(&l->r);
  }
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    yw_joint_spec* joint = &l->scene->joints.items[l->scene->joints.count];
    if (!yw_read_record(&l->r, item, &yw_record_joint, joint) || !yw_needs(&l->r, item, "kind") ||
        !yw_needs(&l->r, item, "body") || !yw_needs(&l->r, item, "at") ||
        !check_keys(l, item, joint->kind) ||
        (joint->select && !yw_load_shape(l, joint->select, &joint->shape)) ||
        !load_limits(l, joint) || !load_motor(l, joint)) {
      return false;
    }
    joint->node = item;
    l->scene->joints.count++;
  }
  return true;
}

// Building ----------------------------------------------------------------------------------------

yw_status yw_find_named_body(const yw_world* world, const char* name, yw_body_id* out,
                             yw_error* error) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); i++) {
    *out = yw_world_body(world, i);
    if (strcmp(yw_body_name(world, *out), name) == 0) return YW_OK;
  }
  return yw_fail(error, YW_ERR_FORMAT,
                 "no body is named \"%.60s\" (copies are named \"name[0]\", \"name[1]\", ...)",
                 name);
}

// The vertices of a soft body inside the shape, or the one nearest to the point; the caller frees
// them.
static yw_status choose_vertices(const yw_scene* scene, const yw_world* world,
                                 const yw_joint_spec* joint, yw_joint_end* end, yw_error* error) {
  int32_t count, found = 0;
  const yw_vec3* x = yw_body_positions(world, end->body, &count);
  int32_t* list = YW_NEW_ARRAY(&scene->mem, int32_t, count);
  if (!list) return yw_fail_memory(error, "a joint");
  float nearest = INFINITY;
  for (int32_t i = 0; i < count; i++) {
    if (joint->shape) {
      if (yw_shape_distance(joint->shape, x[i]) <= 0) list[found++] = i;
    } else if (yw_distance(x[i], end->point) < nearest) {
      nearest = yw_distance(x[i], end->point);
      list[0] = i;
      found = 1;
    }
  }
  end->vertices = list;
  end->num_vertices = found;
  if (found > 0) return YW_OK;
  return yw_fail(error, YW_ERR_FORMAT, "\"select\" holds none of the %d vertices of \"%s\"",
                 (int)count, yw_body_name(world, end->body));
}

static yw_status fill_end(const yw_scene* scene, const yw_world* world, const yw_joint_spec* joint,
                          const char* name, yw_joint_end* end, yw_error* error) {
  if (!name) return YW_OK;
  yw_status status = yw_find_named_body(world, name, &end->body, error);
  if (status < 0) return status;
  if (strcmp(yw_model_method(yw_body_model(world, end->body)), "rigid") == 0) return YW_OK;
  return choose_vertices(scene, world, joint, end, error);
}

yw_status yw_create_joint(const yw_scene* scene, yw_world* world, const yw_joint_spec* joint,
                          yw_error* error) {
  yw_joint_def def = yw_default_joint_def();
  yw_joint_id id;
  bool hinge = joint->kind == YW_JOINT_HINGE;
  bool two = joint->kind == YW_JOINT_ROPE || joint->kind == YW_JOINT_SPRING;
  float unit = hinge ? DEGREES : 1.0f;
  def.kind = (yw_joint_kind)joint->kind;
  def.name = joint->name;
  def.axis = joint->axis;
  def.limited = joint->limits != NULL;
  def.lower = unit * joint->lower;
  def.upper = unit * joint->upper;
  // Half a turn is a little more than pi in float.
  if (hinge) def.lower = fmaxf(def.lower, -3.14159265f), def.upper = fminf(def.upper, 3.14159265f);
  def.motor_speed = unit * joint->motor_speed;
  def.motor_force = joint->motor_force;
  def.length = joint->length;
  def.stiffness = joint->stiffness;
  def.damping = joint->damping;
  def.collide = joint->collide;
  // The first end is what the body is joined to: positions and motors are those of the body.
  def.ends[0].point = two ? joint->to_at : joint->at;
  def.ends[1].point = joint->at;
  yw_status status = fill_end(scene, world, joint, joint->to, &def.ends[0], error);
  if (status >= 0) status = fill_end(scene, world, joint, joint->body, &def.ends[1], error);
  if (status >= 0) status = yw_joint_create(world, &def, &id, error);
  for (int s = 0; s < 2; s++) yw_mem_free(&scene->mem, (void*)def.ends[s].vertices);
  return status;
}
