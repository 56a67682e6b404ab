// SPDX-License-Identifier: MIT
// What is inside: where bodies touch, how their regions are turned, and a cut through their tets.
#include <math.h>

#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// At most so many axes are drawn per body.
#define MAX_AXES 250
#define TURN_STEPS 12

// Regions -----------------------------------------------------------------------------------------

// Adds what a tet did to its edges, weighted by its volume at rest: volume F.
static void add_gradient(const yw_vec3* rest, const yw_vec3* now, const int32_t* v,
                         yw_vec3 sum[3]) {
  yw_vec3 e[3], x[3];
  for (int k = 0; k < 3; ++k) {
    e[k] = yw_sub(rest[v[k + 1]], rest[v[0]]);
    x[k] = yw_sub(now[v[k + 1]], now[v[0]]);
  }
  // Rows of the inverse of the rest edges, times 6 volumes.
  const yw_vec3 rows[3] = {yw_cross(e[1], e[2]), yw_cross(e[2], e[0]), yw_cross(e[0], e[1])};
  for (int k = 0; k < 3; ++k) {
    sum[0] = yw_mad(sum[0], rows[k].x, x[k]);
    sum[1] = yw_mad(sum[1], rows[k].y, x[k]);
    sum[2] = yw_mad(sum[2], rows[k].z, x[k]);
  }
}

// The rotation in a matrix of three columns, as in best_turn of core_pose.c.
static yw_quat turn_of(const yw_vec3 columns[3]) {
  static const yw_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  yw_quat turn = {0, 0, 0, 1};
  for (int step = 0; step < TURN_STEPS; ++step) {
    yw_vec3 sum = {0, 0, 0};
    float scale = 1e-20f;
    for (int k = 0; k < 3; ++k) {
      yw_vec3 own = yw_rotate(turn, axes[k]);
      sum = yw_add(sum, yw_cross(own, columns[k]));
      scale += fabsf(yw_dot(own, columns[k]));
    }
    yw_vec3 half = yw_scale(sum, 0.5f / scale);
    turn = yw_quat_normalize(yw_quat_mul((yw_quat){half.x, half.y, half.z, 1.0f}, turn));
  }
  return turn;
}

// 3 f position and 4 f rotation (x y z w).
static bool add_axes(core* c, yw_vec3 x, yw_quat q) {
  float* at = core_add_words(c, 7);
  const float values[7] = {x.x, x.y, x.z, q.x, q.y, q.z, q.w};
  for (int k = 0; at && k < 7; ++k) at[k] = values[k];
  return at != NULL;
}

// The frames that the method itself works with.
static int32_t own_axes(core* c, yw_body_id id) {
  yw_vec3 origins[MAX_AXES];
  yw_quat turns[MAX_AXES];
  int32_t count = yw_body_axes(c->world, id, origins, turns, MAX_AXES);
  for (int32_t i = 0; i < count; ++i) {
    if (!add_axes(c, origins[i], turns[i])) return i;
  }
  return count;
}

// Of other bodies of tets: how the tets around every n-th vertex are turned.
static int32_t axes_of_body(core* c, int32_t index) {
  yw_body_id id = c->bodies[index].id;
  const yw_model* model = yw_body_model(c->world, id);
  const yw_tet_mesh* tets = yw_model_tets(model);
  int32_t count = 0;
  const yw_vec3* now = yw_body_positions(c->world, id, &count);
  if (!yw_body_is_active(c->world, id) || tets->num_tets == 0 || count != tets->num_vertices) {
    return 0;
  }
  yw_vec3* sums = YW_NEW_ARRAY(NULL, yw_vec3, 3 * (size_t)count);
  if (!sums) return 0;
  for (int32_t t = 0; t < tets->num_tets; ++t) {
    const int32_t* v = tets->tets + 4 * (size_t)t;
    for (int k = 0; k < 4; ++k) add_gradient(tets->positions, now, v, sums + 3 * (size_t)v[k]);
  }
  int32_t stride = (count + MAX_AXES - 1) / MAX_AXES, made = 0;
  for (int32_t i = 0; i < count; i += stride) {
    if (!add_axes(c, now[i], turn_of(sums + 3 * (size_t)i))) break;
    ++made;
  }
  yw_mem_free(NULL, sums);
  return made;
}

int32_t core_add_axes(core* c) {
  int32_t count = 0;
  for (int32_t i = 0; c->world && c->inside & CORE_AXES && i < c->shown->num_bodies; ++i) {
    int32_t own = own_axes(c, c->bodies[i].id);
    count += own > 0 ? own : axes_of_body(c, i);
  }
  return count;
}

// Contacts ----------------------------------------------------------------------------------------

int32_t core_add_contacts(core* c) {
  int32_t count = 0;
  if (!c->world || !(c->inside & CORE_CONTACTS)) return 0;
  const yw_contact_point* points = yw_world_contact_points(c->world, &count);
  if (count == 0) return 0;
  float* at = core_add_words(c, 6 * (size_t)count);
  for (int32_t i = 0; at && i < count; ++i, at += 6) {
    const float values[6] = {points[i].point.x,  points[i].point.y,  points[i].point.z,
                             points[i].normal.x, points[i].normal.y, points[i].normal.z};
    for (int k = 0; k < 6; ++k) at[k] = values[k];
  }
  return at ? count : 0;
}

// Slaves ------------------------------------------------------------------------------------------

int32_t core_add_slaves(core* c) {
  int32_t sum = 0;
  for (int32_t i = 0; c->world && c->inside & CORE_SLAVES && i < c->shown->num_bodies; ++i) {
    yw_body_id id = c->bodies[i].id;
    if (!yw_body_is_active(c->world, id) || !c->shown->bodies[i].look.visible) continue;
    int32_t count = yw_body_plastic_slaves(c->world, id, NULL, 0);
    float* at = core_add_words(c, 3 * (size_t)count);
    if (!at) break;
    yw_body_plastic_slaves(c->world, id, (yw_vec3*)(void*)at, count);
    sum += count;
  }
  return sum;
}

// Cuts --------------------------------------------------------------------------------------------

typedef struct cut_corner {
  yw_vec3 point;
  float value;
} cut_corner;

// A body's tets, where they are, and the values of a field; values NULL: none.
typedef struct cut_body {
  const int32_t* tets;
  const yw_vec3* positions;
  const float* values;
  bool per_cell;
} cut_body;

// Where the plane passes through a tet: 3 or 4 corners in order, or 0.
static int cut_tet(const core* c, const cut_body* body, int32_t t, cut_corner out[4]) {
  const int32_t* v = body->tets + 4 * (size_t)t;
  int32_t inside[4], outside[4];
  int num_inside = 0, num_outside = 0, count = 0;
  float d[4];
  for (int k = 0; k < 4; ++k) {
    d[k] = yw_dot(c->cut_normal, body->positions[v[k]]) + c->cut_offset;
    if (d[k] >= 0.0f) inside[num_inside++] = k;
    if (d[k] < 0.0f) outside[num_outside++] = k;
  }
  if (num_inside == 0 || num_outside == 0) return 0;
  for (int i = 0; i < num_inside; ++i) {
    for (int n = 0; n < num_outside; ++n) {
      // Every other row backwards, so that four corners go around.
      int a = inside[i], b = outside[i % 2 ? num_outside - 1 - n : n];
      float s = d[a] / (d[a] - d[b]);
      out[count].point = yw_lerp(body->positions[v[a]], body->positions[v[b]], s);
      out[count].value = NAN;
      if (body->values && body->per_cell) out[count].value = body->values[t];
      if (body->values && !body->per_cell) {
        out[count].value = body->values[v[a]] + s * (body->values[v[b]] - body->values[v[a]]);
      }
      ++count;
    }
  }
  return count;
}

static bool add_corner(core* c, cut_corner corner) {
  float* at = core_add_words(c, 4);
  if (!at) return false;
  at[0] = corner.point.x;
  at[1] = corner.point.y;
  at[2] = corner.point.z;
  at[3] = corner.value;
  return true;
}

int32_t core_add_cut(core* c, int32_t index, const frame_data* frame) {
  yw_body_id id = c->bodies[index].id;
  if (!c->world || !(c->inside & CORE_CUT)) return 0;
  int32_t num_tets = yw_body_cells(c->world, id, NULL, 0), count = 0, triangles = 0;
  if (num_tets <= 0 || !yw_body_is_active(c->world, id)) return 0;
  int32_t* tets = YW_NEW_ARRAY(NULL, int32_t, 4 * (size_t)num_tets);
  if (!tets) return 0;
  yw_body_cells(c->world, id, tets, num_tets);
  cut_body body = {.tets = tets, .positions = yw_body_positions(c->world, id, &count)};
  const frame_field* field = frame ? frame_find_field(&frame->bodies[index], c->field) : NULL;
  if (field && field->count == (field->per_cell ? num_tets : count)) {
    body.values = field->values;
    body.per_cell = field->per_cell;
  }
  for (int32_t t = 0; t < num_tets; ++t) {
    cut_corner corners[4];
    int num = cut_tet(c, &body, t, corners);
    for (int k = 2; k < num; ++k) {
      if (!add_corner(c, corners[0]) || !add_corner(c, corners[k - 1]) ||
          !add_corner(c, corners[k])) {
        break;
      }
      ++triangles;
    }
  }
  yw_mem_free(NULL, tets);
  return triangles;
}

void core_look_inside(core* c, uint32_t inside, yw_vec3 normal, float offset) {
  c->inside = inside;
  c->cut_normal = normal;
  c->cut_offset = offset;
  if (inside & CORE_CONTACTS) c->records_contacts = true;
  if (c->world) yw_world_record_contacts(c->world, c->records_contacts);
}
