// SPDX-License-Identifier: MIT
#include "contact/surfaces/rows.h"

#include "math/small/float4.h"

// Contacts share particles and are often redundant: slightly less than the full correction
// converges faster (tuned on stacks: 0.8 to 1 equal, 1.2 trembles).
#define RELAXATION 0.9f

typedef int32_t int4 __attribute__((vector_size(16)));

// Preparation -----------------------------------------------------------------------------------

// Adds the corners of one side; the same particle twice (a loose point) counts once.
static int add_side(yw_contact_row* row, int at, const yw_contact* c, int side,
                    const yw_particles* p, yw_vec4* values, float yield) {
  int first = at;
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t particle = c->particles[side][k];
    float weight = side ? -c->weights[side][k] : c->weights[side][k];
    bool twice = at > first && row->values[at - 1] == values + particle;
    if (!twice) row->values[at] = values + particle;
    int slot = twice ? at - 1 : at++;
    row->weights[slot] += weight;
    row->mobility[slot] = yield * p->inv_mass[particle] * row->weights[slot];
  }
  return at;
}

static yw_contact_row make_row(yw_contact* c, const yw_particles* a, const yw_particles* b,
                               const float yields[2], bool velocity) {
  yw_contact_row row = {.normal = yw_v4(c->normal)};
  int at = add_side(&row, 0, c, 0, a, velocity ? a->vel : a->pos, yields[0]);
  int end = add_side(&row, at, c, 1, b, velocity ? b->vel : b->pos, yields[1]);
  float inv_mass = 0.0f;
  for (int k = 0; k < end; ++k) inv_mass += row.weights[k] * row.mobility[k];
  for (int k = end; k < 4; ++k) row.values[k] = &c->drift;
  row.mass = inv_mass > 0.0f ? 1.0f / inv_mass : 0.0f;
  return row;
}

yw_contact_row yw_contact_velocity_row(yw_contact* c, const yw_particles* a, const yw_particles* b,
                                       const float yields[2]) {
  yw_contact_row row = make_row(c, a, b, yields, true);
  // The obstacle's velocity, which no impulse changes.
  if (c->count[1] == 0) row.weights[1] = -1.0f;
  row.mass *= RELAXATION;
  row.goal = c->target;
  row.friction_limit = c->friction_limit;
  return row;
}

yw_contact_row yw_contact_position_row(yw_contact* c, const yw_particles* a,
                                       const yw_particles* b) {
  const float yields[2] = {1.0f, 1.0f};
  yw_contact_row row = make_row(c, a, b, yields, false);
  row.goal = c->push_goal - c->offset;
  return row;
}

// Visits ----------------------------------------------------------------------------------------

YW_LANE_FN float dot(yw_float4 a, yw_float4 b) {
  yw_float4 p = a * b;
  return p[0] + p[1] + p[2];
}

// The weighted sum, with 0 as its fourth entry.
YW_LANE_FN yw_float4 sum_of(const yw_contact_row* row, yw_float4 values[4]) {
  for (int k = 0; k < 4; ++k) values[k] = yw_float4_load(row->values[k]);
  yw_float4 sum = (row->weights[0] * values[0] + row->weights[1] * values[1]) +
                  (row->weights[2] * values[2] + row->weights[3] * values[3]);
  return (yw_float4)((int4)sum & (int4){-1, -1, -1, 0});
}

YW_LANE_FN void push_all(const yw_contact_row* row, const yw_float4 values[4], yw_float4 by) {
  for (int k = 0; k < 4; ++k) yw_float4_store(row->values[k], values[k] + row->mobility[k] * by);
}

YW_LANE_FN void visit_velocity(yw_contact_row* row) {
  yw_float4 values[4], normal = yw_float4_load(&row->normal);
  yw_float4 relative = sum_of(row, values), before = yw_float4_load(&row->friction);
  float along = dot(relative, normal), mass = row->mass;

  // Contacts push but do not pull.
  float impulse = row->impulse + (row->goal - along) * mass;
  if (!(impulse > 0.0f)) impulse = 0.0f;
  bool at_rest = impulse == 0.0f && row->impulse == 0.0f;
  if (at_rest && before[0] == 0.0f && before[1] == 0.0f && before[2] == 0.0f) return;

  // Friction stops the sliding or reaches its limit.
  yw_float4 friction = before - mass * (relative - along * normal);
  float limit = row->friction_limit * impulse, size2 = dot(friction, friction);
  if (size2 > limit * limit) friction *= limit / sqrtf(size2);
  yw_float4 change = (impulse - row->impulse) * normal + (friction - before);
  row->impulse = impulse;
  yw_float4_store(&row->friction, friction);
  push_all(row, values, change);
}

YW_LANE_FN void visit_position(yw_contact_row* row) {
  yw_float4 values[4], normal = yw_float4_load(&row->normal);
  yw_float4 relative = sum_of(row, values);
  float push = row->impulse + row->goal - dot(relative, normal);
  if (!(push > 0.0f) || row->mass == 0.0f) push = 0.0f;
  if (push == row->impulse) return;
  yw_float4 way = ((push - row->impulse) * row->mass) * normal;
  row->impulse = push;
  push_all(row, values, way);
}

void yw_contact_visit_velocities(yw_contact_row* rows, int32_t count) {
  for (int32_t i = 0; i < count; ++i) visit_velocity(&rows[i]);
}

void yw_contact_visit_velocities_back(yw_contact_row* rows, int32_t count) {
  for (int32_t i = count - 1; i >= 0; --i) visit_velocity(&rows[i]);
}

void yw_contact_visit_positions(yw_contact_row* rows, int32_t count) {
  for (int32_t i = 0; i < count; ++i) visit_position(&rows[i]);
}

void yw_contact_visit_positions_back(yw_contact_row* rows, int32_t count) {
  for (int32_t i = count - 1; i >= 0; --i) visit_position(&rows[i]);
}

// Directions of search --------------------------------------------------------------------------

YW_LANE_FN yw_float4 total_impulse(const yw_contact_row* row) {
  return yw_float4_load(&row->friction) + row->impulse * yw_float4_load(&row->normal);
}

void yw_contact_follow(yw_contact_row* row, const yw_contact* c, const yw_particles* a,
                       const yw_particles* b, float time) {
  yw_float4 way = time * total_impulse(row);
  bool moves = row->impulse > 0.0f;
  float inv_mass = 0.0f;
  for (int k = 0; k < 4; ++k) {
    bool front = k < c->count[0];
    row->values[k] =
        front ? a->pos + c->particles[0][k] : b->pos + c->particles[1][k - c->count[0]];
    yw_float4 value = yw_float4_load(row->values[k]);
    if (moves) yw_float4_store(row->values[k], value + row->mobility[k] * way);
    inv_mass += row->weights[k] * row->mobility[k];
  }
  row->mass = inv_mass > 0.0f ? 1.0f / inv_mass : 0.0f;
  row->goal = c->push_goal - c->offset;
  row->impulse = 0.0f;
}

void yw_contact_measure(const yw_contact_row* rows, const yw_contact_search* searches,
                        int32_t count, double* change2, double* size2) {
  *change2 = *size2 = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    yw_float4 now = total_impulse(&rows[i]), change = now - yw_float4_load(&searches[i].last);
    *change2 += (double)dot(change, change);
    *size2 += (double)dot(now, now);
  }
}

YW_LANE_FN void turn(yw_contact_row* row, yw_contact_search* search, float beta,
                     const bool pushed[2]) {
  yw_float4 now = total_impulse(row), normal = yw_float4_load(&row->normal);
  yw_float4 extra = beta * yw_float4_load(&search->heading);
  yw_float4_store(&search->heading, extra + (now - yw_float4_load(&search->last)));
  yw_float4_store(&search->last, now + extra);
  if (extra[0] == 0.0f && extra[1] == 0.0f && extra[2] == 0.0f) return;
  float along = dot(extra, normal);
  row->impulse += along;
  yw_float4_store(&row->friction, yw_float4_load(&row->friction) + (extra - along * normal));
  for (int k = 0; k < 4; ++k) {
    if (!pushed[row->weights[k] < 0.0f]) continue;
    yw_float4 value = yw_float4_load(row->values[k]);
    yw_float4_store(row->values[k], value + row->mobility[k] * extra);
  }
}

void yw_contact_turn(yw_contact_row* row, yw_contact_search* search, float beta,
                     const bool pushed[2]) {
  turn(row, search, beta, pushed);
}

void yw_contact_turn_all(yw_contact_row* rows, yw_contact_search* searches, int32_t count,
                         float beta) {
  const bool pushed[2] = {true, true};
  for (int32_t i = 0; i < count; ++i) turn(&rows[i], &searches[i], beta, pushed);
}

float yw_contact_slip(const yw_contact_row* row) {
  yw_float4 values[4], normal = yw_float4_load(&row->normal), relative = sum_of(row, values);
  yw_float4 slip = relative - dot(relative, normal) * normal;
  return sqrtf(dot(slip, slip));
}

static bool is_quiet(const yw_contact_row* row, const yw_contact_search* search) {
  const yw_vec4 *f = &row->friction, *h = &search->heading;
  return row->impulse == 0.0f && f->x == 0.0f && f->y == 0.0f && f->z == 0.0f && h->x == 0.0f &&
         h->y == 0.0f && h->z == 0.0f;
}

int32_t yw_contact_bring_forward(yw_contact_row* rows, yw_contact_search* searches, int32_t count) {
  int32_t front = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (is_quiet(&rows[i], &searches[i])) continue;
    if (i > front) {
      yw_contact_row row = rows[front];
      yw_contact_search search = searches[front];
      rows[front] = rows[i];
      searches[front] = searches[i];
      rows[i] = row;
      searches[i] = search;
    }
    ++front;
  }
  return front;
}
