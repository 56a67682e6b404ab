// SPDX-License-Identifier: MIT
// Poses by hand: what poser.h does, shown in the body of the scene; and the pose of a body without
// where it is and how it is turned.
#include <math.h>
#include <string.h>

#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define ITERATIONS 60

// Taking a pose -----------------------------------------------------------------------------------

static yw_vec3 mean_of(const yw_vec3* points, int32_t count) {
  double sum[3] = {0, 0, 0};
  for (int32_t i = 0; i < count; ++i) {
    sum[0] += (double)points[i].x;
    sum[1] += (double)points[i].y;
    sum[2] += (double)points[i].z;
  }
  double n = count;
  return yw_v3((float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n));
}

static yw_quat small_turn(yw_vec3 turn) {
  float angle = yw_length(turn);
  if (!(angle > 1e-9f)) return (yw_quat){0, 0, 0, 1};
  float s = sinf(0.5f * angle) / angle;
  return (yw_quat){s * turn.x, s * turn.y, s * turn.z, cosf(0.5f * angle)};
}

// The rotation that best turns rest into pose. Mueller et al. 2016, "A robust method to extract the
// rotational part of deformations": turns towards the columns of the moment matrix until they
// agree.
static yw_quat best_turn(const yw_vec3* rest, yw_vec3 rest_mean, const yw_vec3* pose,
                         yw_vec3 pose_mean, int32_t count) {
  yw_vec3 a[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 p = yw_sub(pose[i], pose_mean), q = yw_sub(rest[i], rest_mean);
    a[0] = yw_mad(a[0], q.x, p);
    a[1] = yw_mad(a[1], q.y, p);
    a[2] = yw_mad(a[2], q.z, p);
  }
  yw_quat turn = {0, 0, 0, 1};
  for (int32_t k = 0; k < ITERATIONS; ++k) {
    const yw_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    yw_vec3 sum = {0, 0, 0};
    float scale = 1e-12f;
    for (int i = 0; i < 3; ++i) {
      yw_vec3 column = yw_rotate(turn, axes[i]);
      sum = yw_add(sum, yw_cross(column, a[i]));
      scale += fabsf(yw_dot(column, a[i]));
    }
    turn = yw_quat_normalize(yw_quat_mul(small_turn(yw_scale(sum, 1.0f / scale)), turn));
  }
  return turn;
}

// The points of a body's model at rest and those of the body now; false if it cannot be posed.
static bool points_of(const core* c, int32_t body, const yw_vec3** rest, const yw_vec3** now,
                      int32_t* count) {
  if (!c->world || body < 0 || body >= c->shown->num_bodies) return false;
  int32_t num_rest = 0;
  const yw_model* model = yw_body_model(c->world, c->bodies[body].id);
  *rest = yw_model_points(model, &num_rest);
  *now = yw_body_positions(c->world, c->bodies[body].id, count);
  return poser_can_hold(model) && num_rest == *count;
}

const yw_vec3* core_pose(core* c, int32_t body, int32_t* count) {
  const yw_vec3 *rest, *now;
  *count = 0;
  int32_t found = 0;
  if (!points_of(c, body, &rest, &now, &found)) return NULL;
  yw_mem_free(NULL, c->pose);
  c->pose = YW_NEW_ARRAY(NULL, yw_vec3, found);
  if (!c->pose) return NULL;
  yw_vec3 rest_mean = mean_of(rest, found), now_mean = mean_of(now, found);
  yw_quat back = yw_quat_conjugate(best_turn(rest, rest_mean, now, now_mean, found));
  for (int32_t i = 0; i < found; ++i) {
    c->pose[i] = yw_add(rest_mean, yw_rotate(back, yw_sub(now[i], now_mean)));
  }
  *count = found;
  return c->pose;
}

// The surface of a model in a pose.
static yw_status surface_in(const yw_model* model, const yw_vec3* pose, yw_vec3* out,
                            int32_t capacity) {
  if (!yw_model_surface_has_state(model)) return yw_model_surface_positions(model, pose, out);
  // Surfaces of rods and sheets follow orientations, which a body finds for its positions.
  yw_world_def world_def = yw_default_world_def();
  yw_body_def body_def = yw_default_body_def();
  yw_world* world = NULL;
  yw_body_id id = {0};
  world_def.threads = 1;
  // Retained, and let go again with the world.
  body_def.model = (yw_model*)model;
  body_def.pose = pose;
  yw_status status = yw_world_create(&world_def, &world);
  if (status >= 0) status = yw_body_create(world, &body_def, &id, NULL);
  if (status >= 0) status = yw_body_surface_positions(world, id, out, capacity);
  yw_world_destroy(world);
  return status;
}

const float* core_example_surface(core* c, int32_t body, int32_t k, int32_t* num_vertices) {
  *num_vertices = 0;
  if (!c->world || body < 0 || body >= c->shown->num_bodies) return NULL;
  const yw_vec3* pose = yw_scene_example(c->scene, body, k, NULL, NULL);
  const yw_model* model = yw_body_model(c->world, c->bodies[body].id);
  const display_mesh* mesh = &c->meshes[c->shown->bodies[body].model];
  int32_t count = yw_model_surface(model)->num_vertices;
  if (!pose || surface_in(model, pose, c->surface, count) < 0) return NULL;
  yw_mem_free(NULL, c->pose);
  c->pose = YW_NEW_ARRAY(NULL, yw_vec3, 2 * (size_t)mesh->num_vertices);
  if (!c->pose) return NULL;
  display_mesh_move(mesh, c->surface, c->pose, c->pose + mesh->num_vertices);
  *num_vertices = mesh->num_vertices;
  return &c->pose->x;
}

// What regions feel -------------------------------------------------------------------------------

static void add_report(text* t, const yw_pose_report* r, const char* const* names) {
  char words[500];
  yw_pose_flaw flaw = yw_pose_words(r, names, words, (int32_t)sizeof words);
  text_add_comma(t);
  text_add(t, "{\"flaw\":%d,\"nearest\":%d,\"inverted\":%d,\"stretch\":", (int)flaw,
           (int)r->nearest, (int)r->inverted_tets);
  text_add_number(t, (double)r->stretch);
  text_add(t, ",\"seen\":");
  text_add_number(t, (double)r->seen);
  text_add(t, ",\"distance\":");
  text_add_number(t, (double)r->distance);
  text_add(t, ",\"words\":");
  text_add_string(t, words);
  text_add(t, "}");
}

const char* core_pose_check_json(core* c, int32_t body, bool with_pose) {
  yw_pose_report reports[YW_MAX_EXAMPLES + 1];
  const char* names[YW_MAX_EXAMPLES + 1] = {NULL};
  int32_t count = 0, found = 0;
  const yw_vec3* pose = with_pose ? core_pose(c, body, &found) : NULL;
  text_clear(&c->json);
  text_add(&c->json, "[");
  if (c->scene && (pose || !with_pose)) {
    count = yw_scene_check_poses(c->scene, body, pose, reports, names, YW_MAX_EXAMPLES + 1,
                                 &c->message);
  }
  for (int32_t k = 0; k < count; ++k) add_report(&c->json, &reports[k], names);
  text_add(&c->json, "]");
  return c->json.failed ? "[]" : c->json.data;
}

// Posing ------------------------------------------------------------------------------------------

static yw_vec3 to_world(const core* c, yw_vec3 p) { return yw_transform_point(c->place, p); }

static yw_vec3 to_model(const core* c, yw_vec3 p) {
  return yw_rotate(yw_quat_conjugate(c->place.rotation), yw_sub(p, c->place.position));
}

// Shows the pose in the body.
static void show_pose(core* c) {
  int32_t count = c->poser->count;
  yw_vec3* moved = YW_NEW_ARRAY(NULL, yw_vec3, 2 * (size_t)count);
  if (!moved) return;
  for (int32_t i = 0; i < count; ++i) moved[i] = to_world(c, c->poser->now[i]);
  yw_body_set_state(c->world, c->bodies[c->posed].id, moved, moved + count);
  yw_mem_free(NULL, moved);
}

yw_status core_pose_begin(core* c, int32_t body, const yw_vec3* base, int32_t num_base) {
  const yw_vec3 *rest, *now;
  int32_t count = 0;
  yw_status status = core_restart(c);
  if (status < 0) return status;
  if (!points_of(c, body, &rest, &now, &count)) {
    return yw_fail(&c->message, YW_ERR_INVALID,
                   "poses are made of volumes, rods and sheets, not of this body");
  }
  if (base && num_base != count) {
    return yw_fail(&c->message, YW_ERR_INVALID, "the pose is of another mesh");
  }
  yw_vec3 rest_mean = mean_of(rest, count), now_mean = mean_of(now, count);
  yw_quat turn = best_turn(rest, rest_mean, now, now_mean, count);
  c->place = (yw_transform){yw_sub(now_mean, yw_rotate(turn, rest_mean)), turn, 1.0f};
  c->poser = poser_create(yw_body_model(c->world, c->bodies[body].id), base, &c->message);
  if (!c->poser) return YW_ERR_INVALID;
  c->posed = body;
  show_pose(c);
  return YW_OK;
}

void core_pose_end(core* c) {
  poser_destroy(c->poser);
  c->poser = NULL;
}

void core_pose_step(core* c) {
  poser_step(c->poser);
  show_pose(c);
}

static yw_status no_pose(core* c) {
  return yw_fail(&c->message, YW_ERR_INVALID, "no pose is being made");
}

yw_status core_pose_hold(core* c, const poser_grip* grip, int32_t* id) {
  *id = 0;
  if (!c->poser) return no_pose(c);
  poser_grip own = *grip;
  own.at = to_model(c, grip->at);
  return poser_hold(c->poser, &own, id, &c->message);
}

yw_status core_pose_move(core* c, int32_t id, yw_vec3 offset, yw_quat turn, float scale) {
  if (!c->poser) return no_pose(c);
  yw_quat back = yw_quat_conjugate(c->place.rotation);
  yw_quat own = yw_quat_mul(back, yw_quat_mul(turn, c->place.rotation));
  return poser_move(c->poser, id, yw_rotate(back, offset), own, scale, &c->message);
}

yw_status core_pose_act(core* c, core_pose_action action, int32_t id) {
  if (!c->poser) return no_pose(c);
  yw_status status = YW_OK;
  if (action == CORE_POSE_DROP) poser_drop(c->poser, id);
  if (action == CORE_POSE_RELAX) poser_relax(c->poser);
  if (action == CORE_POSE_BAKE) status = poser_bake(c->poser, &c->message);
  if (action == CORE_POSE_STROKE_END) status = poser_end_stroke(c->poser, &c->message);
  show_pose(c);
  return status;
}

yw_status core_pose_deform(core* c, const float* amounts, yw_vec3 axis) {
  if (!c->poser) return no_pose(c);
  yw_status status = poser_deform(c->poser, amounts, axis, &c->message);
  show_pose(c);
  return status;
}

yw_status core_pose_load(core* c, const float* words, int32_t count) {
  if (!c->poser) return no_pose(c);
  bool good = poser_load(c->poser, words, count);
  show_pose(c);
  return good ? YW_OK : yw_fail(&c->message, YW_ERR_INVALID, "the step cannot be undone");
}

const char* core_handles_json(core* c) {
  text* t = &c->json;
  text_clear(t);
  text_add(t, "[");
  for (int32_t i = 0; c->poser && i < c->poser->num_handles; ++i) {
    const poser_handle* h = &c->poser->handles[i];
    yw_vec3 at = to_world(c, poser_place(h)), offset = yw_rotate(c->place.rotation, h->offset);
    yw_quat q =
        yw_quat_mul(c->place.rotation, yw_quat_mul(h->turn, yw_quat_conjugate(c->place.rotation)));
    text_add_comma(t);
    text_add(t,
             "{\"id\":%d,\"twin\":%d,\"anchor\":%s,\"at\":[%.9g,%.9g,%.9g],\"motion\":", (int)h->id,
             (int)h->twin, h->anchor ? "true" : "false", (double)at.x, (double)at.y, (double)at.z);
    text_add(t, "{\"offset\":[%.9g,%.9g,%.9g],\"turn\":[%.9g,%.9g,%.9g,%.9g],\"scale\":%.9g}}",
             (double)offset.x, (double)offset.y, (double)offset.z, (double)q.x, (double)q.y,
             (double)q.z, (double)q.w, (double)h->scale);
  }
  text_add(t, "]");
  return t->failed ? "[]" : t->data;
}
