// SPDX-License-Identifier: MIT
// Bodies that could merge but start inside each other without merging, or inside obstacles:
// allowed, but rarely intended.
#include "scene/method.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Number of bodies checked; further ones are skipped.
#define MOST_BODIES 1000
// Approximate number of particles tested per body.
#define MOST_POINTS 1000

typedef struct placed {
  const yw_body_spec* body;
  const yw_model_spec* model;
  yw_transform at;
  yw_aabb box;
  double start;
} placed;

static int32_t stride_of(const placed* p) { return 1 + p->model->num_points / MOST_POINTS; }

// Share of the particles of `a` inside a shape at a placement.
static float share_inside(const placed* a, const yw_shape* shape, yw_transform at) {
  int32_t inside = 0, tried = 0;
  for (int32_t i = 0; i < a->model->num_points; i += stride_of(a)) {
    yw_vec3 p = yw_transform_point(a->at, a->model->points[i]);
    inside += yw_shape_distance(shape, yw_transform_point_inv(at, p)) < 0.0f;
    tried++;
  }
  return tried > 0 ? (float)inside / (float)tried : 0.0f;
}

static int32_t place_bodies(const yw_scene* scene, placed* out) {
  int32_t count = 0;
  for (int32_t i = 0; i < scene->bodies.count; i++) {
    const yw_body_spec* body = &scene->bodies.items[i];
    const yw_model_spec* model = &scene->models.items[body->model_index];
    if (!model->method->build_group) continue;
    for (int32_t copy = 0; copy < yw_body_num_copies(body) && count < MOST_BODIES; copy++) {
      placed p = {body, model, yw_body_copy_transform(body, copy), yw_aabb_empty(),
                  yw_body_copy_start(body, copy)};
      for (int32_t k = 0; k < model->num_points; k++) {
        p.box = yw_aabb_grow(p.box, yw_transform_point(p.at, model->points[k]));
      }
      out[count++] = p;
    }
  }
  return count;
}

static void compare_bodies(yw_loader* l, int32_t count, const placed* list) {
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < i; k++) {
      const placed *a = &list[i], *b = &list[k];
      bool merge = a->body->group >= 0 && a->body->group == b->body->group;
      if (merge || a->start != b->start || !yw_aabb_overlap(a->box, b->box)) continue;
      float share = share_inside(a, b->model->shape, b->at);
      if (!(share > 0.0f)) continue;
      char other[200];
      yw_json_path(b->body->node, other, sizeof other);
      yw_value_warn(&l->r, a->body->node,
                    " begins with %.3g %% of its particles inside %s: contact pushes them apart "
                    "(\"merge\" joins them)",
                    100.0 * (double)share, other);
      // One warning is enough; a heap of copies would fill the screen.
      return;
    }
  }
}

static void compare_obstacles(yw_loader* l, int32_t count, const placed* list) {
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < l->scene->obstacles.count; k++) {
      const yw_obstacle_spec* o = &l->scene->obstacles.items[k];
      // A moving obstacle may be elsewhere by then. A mesh has no inside.
      if (!o->solid || (o->motion.num_keys > 0 && list[i].start > 0)) continue;
      float share =
          share_inside(&list[i], o->solid, (yw_transform){o->position, o->rotation, 1.0f});
      if (!(share > 0.0f)) continue;
      char other[200];
      yw_json_path(o->node, other, sizeof other);
      yw_value_warn(&l->r, list[i].body->node,
                    " begins with %.3g %% of its particles inside %s, which pushes them out at "
                    "once",
                    100.0 * (double)share, other);
      return;
    }
  }
}

void yw_warn_overlaps(yw_loader* l) {
  if (!l->r.warning) return;
  placed* list = YW_NEW_ARRAY(&l->scene->mem, placed, MOST_BODIES);
  if (!list) return;
  int32_t count = place_bodies(l->scene, list);
  compare_bodies(l, count, list);
  compare_obstacles(l, count, list);
  yw_mem_free(&l->scene->mem, list);
}
