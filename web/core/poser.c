// SPDX-License-Identifier: MIT
#include "poser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define FRAME (1.0f / 60.0f)
#define SUBSTEPS 4
// Springs of a brush are together so many times as stiff as the body.
#define BRUSH_FORCE 6.0f
#define MIN_VERTICES 4
// Vertices farther than so many radii do not move in a brush stroke.
#define BRUSH_REACH 3.0f
// Vertices closer than this, in sizes of the body, are at the same place.
#define SAME_PLACE 1e-3f
// The share of the vertices that the first handle's anchor holds.
#define FAR_SHARE 0.25f

// The elastic body --------------------------------------------------------------------------------

static void copy(const poser* p, const yw_vec3* from, yw_vec3* to) {
  memcpy(to, from, (size_t)p->count * sizeof *to);
}

static void forget_world(poser* p) {
  yw_world_destroy(p->world);
  yw_model_release(p->model);
  p->world = NULL;
  p->model = NULL;
}

// Makes the world of the shape, with the body as it is now.
static yw_status wake(poser* p, yw_error* error) {
  if (p->world) return YW_OK;
  if (p->tets.num_tets > 0) copy(p, p->shape, p->tets.positions);
  yw_world_def def = yw_default_world_def();
  def.gravity = yw_v3(0, 0, 0);
  def.threads = 1;
  yw_body_def body = yw_default_body_def();
  body.pose = p->now;
  body.body_contact = false;
  yw_status status = poser_create_model(p, error);
  if (status >= 0) status = yw_world_create(&def, &p->world);
  body.model = p->model;
  if (status >= 0) status = yw_body_create(p->world, &body, &p->body, error);
  if (status < 0) forget_world(p);
  return status;
}

static int32_t count_inverted(const poser* p, const yw_vec3* x) {
  int32_t count = 0;
  for (int32_t t = 0; t < p->tets.num_tets; ++t) {
    const int32_t* v = p->tets.tets + 4 * (size_t)t;
    yw_vec3 a = yw_sub(x[v[1]], x[v[0]]), b = yw_sub(x[v[2]], x[v[0]]);
    count += !(yw_dot(yw_cross(a, b), yw_sub(x[v[3]], x[v[0]])) > 0.0f);
  }
  return count;
}

// Mirror images -----------------------------------------------------------------------------------

// A vertex, to be sorted by x.
typedef struct sorted_vertex {
  float x;
  int32_t vertex;
} sorted_vertex;

static int by_x(const void* a, const void* b) {
  float x = ((const sorted_vertex*)a)->x, y = ((const sorted_vertex*)b)->x;
  return (x > y) - (x < y);
}

// The first in order that is not left of x.
static int32_t first_from(const sorted_vertex* order, int32_t count, float x) {
  int32_t low = 0, high = count;
  while (low < high) {
    int32_t middle = (low + high) / 2;
    if (order[middle].x < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Finds the vertex at the mirror image of each, as meshes that are alike on both sides have it.
static bool find_partners(poser* p) {
  const yw_vec3* rest = yw_model_points(p->source, NULL);
  sorted_vertex* order = YW_NEW_ARRAY(NULL, sorted_vertex, p->count);
  if (!order) return false;
  float near = SAME_PLACE * p->size;
  for (int32_t i = 0; i < p->count; ++i) order[i] = (sorted_vertex){rest[i].x, i};
  qsort(order, (size_t)p->count, sizeof *order, by_x);
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 image = {2.0f * p->middle - rest[i].x, rest[i].y, rest[i].z};
    p->partner[i] = -1;
    for (int32_t k = first_from(order, p->count, image.x - near);
         k < p->count && order[k].x <= image.x + near; ++k) {
      if (yw_distance(rest[order[k].vertex], image) <= near) p->partner[i] = order[k].vertex;
    }
  }
  yw_mem_free(NULL, order);
  return true;
}

// Tets are cut differently on the two sides, so these differ a little: takes the mean of what
// happened to a vertex and to its mirror image.
static void make_alike(poser* p) {
  for (int32_t i = 0; i < p->count; ++i) {
    int32_t j = p->partner[i];
    if (j < i) continue;
    yw_vec3 a = yw_sub(p->now[i], p->shape[i]), b = yw_sub(p->now[j], p->shape[j]);
    yw_vec3 mean = {0.5f * (a.x - b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)};
    p->now[i] = yw_add(p->shape[i], mean);
    if (j != i) p->now[j] = yw_add(p->shape[j], yw_v3(-mean.x, mean.y, mean.z));
  }
}

poser* poser_create(const yw_model* model, const yw_vec3* base, yw_error* error) {
  int32_t num_points = 0;
  const yw_tet_mesh* tets = yw_model_tets(model);
  const yw_vec3* rest = yw_model_points(model, &num_points);
  if (!poser_can_hold(model)) {
    yw_fail(error, YW_ERR_INVALID, "poses are made of volumes, rods and sheets, not of this body");
    return NULL;
  }
  poser* p = YW_NEW(NULL, poser);
  size_t count = (size_t)num_points;
  if (p) {
    p->plain = YW_NEW_ARRAY(NULL, yw_vec3, count);
    p->shape = YW_NEW_ARRAY(NULL, yw_vec3, count);
    p->now = YW_NEW_ARRAY(NULL, yw_vec3, count);
    p->partner = YW_NEW_ARRAY(NULL, int32_t, count);
  }
  if (!p || !p->plain || !p->shape || !p->now || !p->partner ||
      (tets->num_tets > 0 && yw_tet_mesh_copy(tets, NULL, &p->tets) < 0)) {
    poser_destroy(p);
    yw_fail_memory(error, "a pose");
    return NULL;
  }
  p->source = model;
  p->count = num_points;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < p->count; ++i) {
    box = yw_aabb_grow(box, rest[i]);
    p->plain[i] = p->shape[i] = p->now[i] = base ? base[i] : rest[i];
  }
  yw_vec3 side = yw_sub(box.upper, box.lower);
  p->size = fmaxf(side.x, fmaxf(side.y, side.z));
  p->middle = 0.5f * (box.lower.x + box.upper.x);
  if (!find_partners(p)) {
    poser_destroy(p);
    yw_fail_memory(error, "a pose");
    return NULL;
  }
  return p;
}

void poser_destroy(poser* p) {
  if (!p) return;
  poser_relax(p);
  forget_world(p);
  yw_tet_mesh_free(&p->tets);
  yw_mem_free(NULL, p->plain);
  yw_mem_free(NULL, p->shape);
  yw_mem_free(NULL, p->now);
  yw_mem_free(NULL, p->partner);
  yw_mem_free(NULL, p->words);
  yw_mem_free(NULL, p);
}

// Handles -----------------------------------------------------------------------------------------

static poser_handle* find_handle(poser* p, int32_t id) {
  for (int32_t i = 0; i < p->num_handles; ++i) {
    if (p->handles[i].id == id) return &p->handles[i];
  }
  return NULL;
}

static void free_handle(poser* p, poser_handle* h) {
  if (p->world) yw_pin_destroy(p->world, h->pin);
  yw_mem_free(NULL, h->vertices);
  yw_mem_free(NULL, h->weights);
  yw_mem_free(NULL, h->from);
  *h = (poser_handle){0};
}

static void drop_one(poser* p, int32_t id) {
  poser_handle* h = find_handle(p, id);
  if (!h) return;
  free_handle(p, h);
  *h = p->handles[--p->num_handles];
  p->handles[p->num_handles] = (poser_handle){0};
}

yw_vec3 poser_place(const poser_handle* h) { return yw_add(h->center, h->offset); }

// Pins the vertices of a handle where it wants them.
static yw_status pull(poser* p, poser_handle* h, yw_error* error) {
  yw_vec3* targets = YW_NEW_ARRAY(NULL, yw_vec3, h->num_vertices);
  if (!targets) return yw_fail_memory(error, "a handle");
  for (int32_t i = 0; i < h->num_vertices; ++i) {
    yw_vec3 arm = yw_scale(yw_sub(h->from[i], h->center), h->scale);
    targets[i] = yw_add(poser_place(h), yw_rotate(h->turn, arm));
  }
  yw_pin_destroy(p->world, h->pin);
  yw_follow_def def = yw_default_follow_def();
  def.body = p->body;
  def.vertices = h->vertices;
  def.num_vertices = h->num_vertices;
  def.targets = targets;
  def.num_frames = 1;
  def.strengths = h->weights;
  float modulus = POSER_STIFFNESS * POSER_DENSITY * POSER_GRAVITY * p->size;
  def.stiffness = BRUSH_FORCE * modulus * p->size / (float)h->num_vertices;
  yw_status status = yw_follow_create(p->world, &def, &h->pin, error);
  yw_mem_free(NULL, targets);
  return status;
}

// Moves `id` with its twin, whose motion is the mirror image. In the middle, motion is symmetric.
yw_status poser_move(poser* p, int32_t id, yw_vec3 offset, yw_quat turn, float scale,
                     yw_error* error) {
  poser_handle* h = find_handle(p, id);
  bool good = yw_is_finite3(offset) && isfinite(turn.x + turn.y + turn.z + turn.w) && scale > 0.0f;
  if (!h || !good) return yw_fail(error, YW_ERR_INVALID, "there is no such handle");
  yw_status status = wake(p, error);
  if (status < 0) return status;
  if (h->twin == id) {
    offset.x = 0.0f;
    turn = (yw_quat){turn.x, 0.0f, 0.0f, turn.w};
  }
  h->offset = offset;
  h->turn = yw_quat_normalize(turn);
  h->scale = scale;
  status = pull(p, h, error);
  poser_handle* twin = find_handle(p, h->twin);
  if (status < 0 || !twin || twin == h) return status;
  twin->offset = yw_v3(-offset.x, offset.y, offset.z);
  twin->turn = (yw_quat){h->turn.x, -h->turn.y, -h->turn.z, h->turn.w};
  twin->scale = scale;
  return pull(p, twin, error);
}

// Room for a handle with this many vertices; NULL if there is none.
static poser_handle* new_handle(poser* p, int32_t num_vertices) {
  if (p->num_handles == POSER_MAX_HANDLES) return NULL;
  poser_handle* h = &p->handles[p->num_handles];
  *h = (poser_handle){.num_vertices = num_vertices, .turn = {0, 0, 0, 1}, .scale = 1.0f};
  h->vertices = YW_NEW_ARRAY(NULL, int32_t, num_vertices);
  h->weights = YW_NEW_ARRAY(NULL, float, num_vertices);
  h->from = YW_NEW_ARRAY(NULL, yw_vec3, num_vertices);
  if (!h->vertices || !h->weights || !h->from) {
    free_handle(p, h);
    return NULL;
  }
  h->id = ++p->last_id;
  ++p->num_handles;
  return h;
}

static void finish_handle(const poser* p, poser_handle* h) {
  yw_vec3 sum = {0, 0, 0};
  float mass = 0.0f;
  for (int32_t i = 0; i < h->num_vertices; ++i) {
    h->from[i] = p->now[h->vertices[i]];
    sum = yw_mad(sum, h->weights[i], h->from[i]);
    mass += h->weights[i];
  }
  h->center = yw_scale(sum, 1.0f / mass);
}

// The distance within which `wanted` vertices are.
static float distance_of(const poser* p, yw_vec3 at, float start, int32_t wanted) {
  float radius = start;
  for (int k = 0; k < 64; ++k, radius *= 1.15f) {
    int32_t inside = 0;
    for (int32_t i = 0; i < p->count; ++i) inside += yw_distance(p->now[i], at) <= radius;
    if (inside >= wanted) break;
  }
  return radius;
}

static poser_handle* hold_around(poser* p, const poser_grip* grip, yw_vec3 at) {
  float radius = distance_of(p, at, fmaxf(grip->radius, 1e-3f * p->size), MIN_VERTICES);
  int32_t count = 0;
  for (int32_t i = 0; i < p->count; ++i) count += yw_distance(p->now[i], at) <= radius;
  poser_handle* h = count > 0 ? new_handle(p, count) : NULL;
  if (!h) return NULL;
  count = 0;
  for (int32_t i = 0; i < p->count; ++i) {
    float d = yw_distance(p->now[i], at) / radius;
    if (d > 1.0f) continue;
    float w = grip->strength * powf(1.0f - d * d, grip->falloff);
    h->weights[count] = grip->brush ? yw_clampf(w, 1e-3f, 0.97f) : 1.0f;
    h->vertices[count++] = i;
  }
  finish_handle(p, h);
  return h;
}

// Holds what is at least `distance` away from all points; false if that is less than a few
// vertices.
static bool hold_far(poser* p, const yw_vec3* points, int32_t num_points, float distance) {
  int32_t count = 0;
  bool* far = YW_NEW_ARRAY(NULL, bool, p->count);
  for (int32_t i = 0; far && i < p->count; ++i) {
    far[i] = true;
    for (int32_t k = 0; k < num_points; ++k) {
      far[i] = far[i] && yw_distance(p->now[i], points[k]) >= distance;
    }
    count += far[i];
  }
  poser_handle* h = count >= MIN_VERTICES ? new_handle(p, count) : NULL;
  if (h) {
    h->anchor = true;
    count = 0;
    for (int32_t i = 0; i < p->count; ++i) {
      if (!far[i]) continue;
      h->weights[count] = 1.0f;
      h->vertices[count++] = i;
    }
    finish_handle(p, h);
  }
  yw_mem_free(NULL, far);
  return h != NULL;
}

// The far side: the quarter of the vertices that is farthest from the first handle.
static void hold_far_side(poser* p, const yw_vec3* points, int32_t num_points) {
  int32_t near = (int32_t)((1.0f - FAR_SHARE) * (float)p->count);
  hold_far(p, points, num_points, distance_of(p, points[0], 0.01f * p->size, near));
}

static yw_status pull_all(poser* p, yw_error* error) {
  yw_status status = wake(p, error);
  for (int32_t i = 0; i < p->num_handles && status >= 0; ++i) {
    status = pull(p, &p->handles[i], error);
  }
  return status;
}

yw_status poser_hold(poser* p, const poser_grip* grip, int32_t* id, yw_error* error) {
  *id = 0;
  if (!yw_is_finite3(grip->at) || !(grip->radius > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "there is nothing to hold");
  }
  if (grip->brush) {
    yw_status status = poser_bake(p, error);
    if (status < 0) return status;
  }
  bool first = p->num_handles == 0;
  if (first) copy(p, p->shape, p->plain);
  p->mirrored = grip->mirror && (first || p->mirrored);
  yw_vec3 at = grip->at;
  bool is_middle = grip->mirror && fabsf(at.x - p->middle) <= 0.5f * grip->radius;
  if (is_middle) at.x = p->middle;
  poser_handle* h = hold_around(p, grip, at);
  if (!h) return yw_fail(error, YW_ERR_LIMIT, "there are too many handles: let some go");
  yw_vec3 points[2] = {at, {2.0f * p->middle - at.x, at.y, at.z}};
  int32_t own = h->id, num_points = 1;
  if (is_middle) h->twin = own;
  if (grip->mirror && !is_middle) {
    num_points = 2;
    poser_handle* twin = hold_around(p, grip, points[1]);
    h = find_handle(p, own);
    if (twin) {
      twin->twin = own;
      h->twin = twin->id;
    }
  }
  p->brushing = grip->brush;
  bool is_held = grip->brush && hold_far(p, points, num_points, BRUSH_REACH * grip->radius);
  if (first && !is_held) hold_far_side(p, points, num_points);
  *id = own;
  return pull_all(p, error);
}

void poser_drop(poser* p, int32_t id) {
  const poser_handle* h = find_handle(p, id);
  int32_t twin = h ? h->twin : 0;
  drop_one(p, id);
  drop_one(p, twin);
}

static void drop_all(poser* p) {
  p->mirrored = false;
  while (p->num_handles > 0) drop_one(p, p->handles[0].id);
  p->brushing = false;
}

void poser_relax(poser* p) {
  drop_all(p);
  forget_world(p);
  if (p->now) copy(p, p->shape, p->now);
}

yw_status poser_bake(poser* p, yw_error* error) {
  if (p->num_handles == 0) return YW_OK;
  int32_t inverted = count_inverted(p, p->now);
  if (inverted > 0) {
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "%d tet%s inside out: pull less far, or let something go", inverted,
                   inverted == 1 ? " is" : "s are");
  }
  drop_all(p);
  forget_world(p);
  copy(p, p->now, p->shape);
  copy(p, p->now, p->plain);
  return YW_OK;
}

yw_status poser_end_stroke(poser* p, yw_error* error) {
  if (!p->brushing) return YW_OK;
  yw_status status = poser_bake(p, error);
  if (status < 0) poser_relax(p);
  return status;
}

yw_status poser_deform(poser* p, const float* amounts, yw_vec3 axis, yw_error* error) {
  yw_status status = poser_bake(p, error);
  if (status < 0) return status;
  copy(p, p->plain, p->now);
  yw_vec3 middle = {0, 0, 0};
  for (int32_t i = 0; i < p->count; ++i) {
    middle = yw_mad(middle, 1.0f / (float)p->count, p->plain[i]);
  }
  for (int kind = 0; kind < YW_DEFORM_COUNT && status >= 0; ++kind) {
    yw_deform deform = yw_default_deform((yw_deform_kind)kind);
    deform.axis = axis;
    if (fabsf(axis.x) > 0.9f) deform.toward = yw_v3(0, 1, 0);
    deform.origin = middle;
    deform.amount = amounts[kind];
    if (amounts[kind] != 0.0f) status = yw_deform_apply(&deform, p->count, p->now, p->now, error);
  }
  forget_world(p);
  if (status < 0) {
    copy(p, p->shape, p->now);
    return status;
  }
  copy(p, p->now, p->shape);
  return YW_OK;
}

void poser_step(poser* p) {
  if (!p->world || p->num_handles == 0) return;
  int32_t count = 0;
  yw_world_step(p->world, FRAME, SUBSTEPS, NULL);
  const yw_vec3* x = yw_body_positions(p->world, p->body, &count);
  if (count == p->count) copy(p, x, p->now);
  if (p->mirrored) make_alike(p);
}

// Undo --------------------------------------------------------------------------------------------
// Numbers: shape, now; then handles: id, twin, vertices, anchor, offset, turn, scale,
// center, and vertex, weight and from of each vertex. Whole numbers below 2^24 are exact.

#define HANDLE_WORDS 15
#define VERTEX_WORDS 5

bool poser_save(poser* p) {
  int32_t words = 6 * p->count + 1;
  for (int32_t i = 0; i < p->num_handles; ++i) {
    words += HANDLE_WORDS + VERTEX_WORDS * p->handles[i].num_vertices;
  }
  yw_mem_free(NULL, p->words);
  p->words = YW_NEW_ARRAY(NULL, float, words);
  p->num_words = p->words ? words : 0;
  if (!p->words) return false;
  size_t bytes = (size_t)p->count * sizeof *p->now;
  memcpy(p->words, p->shape, bytes);
  memcpy(p->words + 3 * p->count, p->now, bytes);
  float* at = p->words + 6 * p->count;
  *at++ = (float)p->num_handles;
  for (int32_t i = 0; i < p->num_handles; ++i) {
    const poser_handle* h = &p->handles[i];
    const float head[HANDLE_WORDS] = {(float)h->id,
                                      (float)h->twin,
                                      (float)h->num_vertices,
                                      h->anchor ? 1.0f : 0.0f,
                                      h->offset.x,
                                      h->offset.y,
                                      h->offset.z,
                                      h->turn.x,
                                      h->turn.y,
                                      h->turn.z,
                                      h->turn.w,
                                      h->scale,
                                      h->center.x,
                                      h->center.y,
                                      h->center.z};
    memcpy(at, head, sizeof head);
    at += HANDLE_WORDS;
    for (int32_t k = 0; k < h->num_vertices; ++k, at += VERTEX_WORDS) {
      at[0] = (float)h->vertices[k];
      at[1] = h->weights[k];
      memcpy(at + 2, &h->from[k], sizeof h->from[k]);
    }
  }
  return true;
}

// A whole number that a float holds exactly; -1 for anything else.
static int32_t whole(float x) { return x >= 0.0f && x <= 16777216.0f ? (int32_t)x : -1; }

// Reads a handle; returns what comes after it, or NULL.
static const float* load_handle(poser* p, const float* at, const float* end) {
  int32_t num_vertices = end - at >= HANDLE_WORDS ? whole(at[2]) : 0;
  if (num_vertices < 1 || end - at < HANDLE_WORDS + VERTEX_WORDS * (int64_t)num_vertices)
    return NULL;
  poser_handle* h = new_handle(p, num_vertices);
  if (!h) return NULL;
  h->id = whole(at[0]);
  h->twin = whole(at[1]);
  h->anchor = at[3] > 0.0f;
  h->offset = yw_v3(at[4], at[5], at[6]);
  h->turn = (yw_quat){at[7], at[8], at[9], at[10]};
  h->scale = at[11];
  h->center = yw_v3(at[12], at[13], at[14]);
  if (h->id > p->last_id) p->last_id = h->id;
  at += HANDLE_WORDS;
  for (int32_t k = 0; k < num_vertices; ++k, at += VERTEX_WORDS) {
    h->vertices[k] = whole(at[0]);
    h->weights[k] = at[1];
    memcpy(&h->from[k], at + 2, sizeof h->from[k]);
    if (h->vertices[k] < 0 || h->vertices[k] >= p->count) return NULL;
  }
  return at;
}

bool poser_load(poser* p, const float* words, int32_t count) {
  if (count <= 6 * p->count) return false;
  poser_relax(p);
  size_t bytes = (size_t)p->count * sizeof *p->now;
  memcpy(p->plain, words, bytes);
  memcpy(p->shape, words, bytes);
  memcpy(p->now, words + 3 * p->count, bytes);
  const float *at = words + 6 * p->count, *end = words + count;
  int32_t handles = whole(*at++);
  for (int32_t i = 0; i < handles && at; ++i) at = load_handle(p, at, end);
  if (!at || (p->num_handles > 0 && pull_all(p, NULL) < 0)) {
    poser_relax(p);
    return false;
  }
  return true;
}
