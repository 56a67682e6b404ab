// SPDX-License-Identifier: MIT
// A point p of what is shown of body A belongs on A's side of the surface that is equally far from
// the tets of A and of each other body B:
//
//   f(p) = d_A(p) - d_B(p) + gap <= 0        d  signed distance from the tets, negative inside
//
// Points with f > 0 take Newton steps along the gradient of f. The rule is the same for A and B, so
// neither depends on what is shown of the other. Points within triangles count too: all corners of
// the triangle take their step. f hardly changes along the surface where bodies lie flat on each
// other, so triangles are sampled finely only where its gradient lets it rise between samples.
// Where tets are folded, signs mean nothing; shown_home.c then goes by nearness alone.
#include <string.h>

#include "geometry/shown_space.h"
#include "yawara/extend/memory.h"

// Width of the gap on each side, over the mean edge of the walls: enough for what lies between the
// sampled points of a triangle.
#define GAP 0.01f
// Points within triangles may use up this share of the gap.
#define SLACK 0.5f
#define MAX_ROUNDS 6
// Newton steps of vertices per round; f is linear near flat walls, so that most need one.
#define MAX_STEPS 3
// Steps below this share of the gap end the rounds.
#define SMALL_STEP 0.1f
// Triangles are sampled until their radius is below so many gaps, in at most so many cuts.
#define FINE 8.0f
#define MAX_DEPTH 4
// Triangles of more mean edges are not of this body's scale, or no numbers.
#define LARGEST 32.0f
// Triangles below this share of a mean edge are small.
#define SMALL 0.5f
// Below this squared length of its gradient, f hardly changes and a step would be long.
#define MIN_SLOPE2 0.25f
// Points per block of work.
#define BLOCK 64

/// f at a point, of the body or obstacle where it is largest.
typedef struct sample {
  float value;    ///< m
  yw_vec3 slope;  ///< gradient; zero: farther away than was looked
  bool lost;      ///< it may be on the wrong side, but signs cannot tell the way back
} sample;

typedef struct rounds {
  const yw_shown_mover* m;
  float gap;
  const int32_t* place;
  sample* samples;  ///< per place, as of its last step
  bool* moved;      ///< per place: since its triangles were last looked at
  bool* close;      ///< per place: others can reach it
  yw_vec3* steps;   ///< per place: the longest of this round
  int32_t* list;    ///< places to sample, or triangles to look at
  int32_t num_list;
  yw_vec3* list_steps;  ///< of these triangles
} rounds;

// f -----------------------------------------------------------------------------------------------

static bool contains(yw_aabb box, yw_vec3 p) { return yw_aabb_overlap(box, (yw_aabb){p, p}); }

static sample in_obstacle(const yw_shown_obstacle* o, yw_vec3 p, float at_least) {
  yw_vec3 normal, local = yw_transform_point_inv(o->pose, p);
  sample out = {-o->pose.scale * yw_shape_distance(o->shape, local), {0, 0, 0}, false};
  if (!(out.value > at_least)) return out;
  yw_shape_distance_normal(o->shape, local, &normal);
  out.slope = yw_neg(yw_rotate(o->pose.rotation, normal));
  return out;
}

// Looks as far as `limit`.
static sample in_body(const rounds* r, const yw_shown_entry* other, yw_vec3 p, float limit) {
  const yw_shown_mover* m = r->m;
  sample out = {-limit, {0, 0, 0}, false};
  float to_other, to_own;
  yw_vec3 away, own;
  if (!contains(yw_aabb_pad(other->wall->box, limit), p)) return out;
  if (!yw_wall_distance(&other->wall->wall, p, limit, &to_other, &away)) return out;
  out.lost = true;
  if (to_other < -m->reach) return out;
  if (!other->shown.walls) return (sample){r->gap - to_other, yw_neg(away), false};
  if (!yw_wall_distance(&m->own->wall, p, 2.0f * limit, &to_own, &own)) return out;
  out.value = to_own - to_other + r->gap;
  out.slope = yw_sub(own, away);
  out.lost = out.value <= 0.0f
                 ? fabsf(to_own) > fabsf(to_other)
                 : out.value * out.value > yw_length2(out.slope) * m->reach * m->reach;
  return out;
}

static sample sample_at(const rounds* r, yw_vec3 p, float limit) {
  const yw_shown_mover* m = r->m;
  sample worst = {-limit, {0, 0, 0}, false};
  bool lost = false;
  for (int32_t k = 0; k < m->num_near; ++k) {
    sample found = in_body(r, m->near[k], p, limit);
    lost = lost || found.lost;
    if (found.value > worst.value) worst = found;
  }
  for (int32_t k = 0; k < m->num_obstacles; ++k) {
    sample found = in_obstacle(m->obstacles[k], p, worst.value);
    if (found.value > worst.value && found.value <= m->reach) worst = found;
  }
  worst.lost = lost;
  return worst;
}

static yw_vec3 step_of(const rounds* r, sample at) {
  float slope2 = yw_length2(at.slope), reach = r->m->reach;
  if (!(at.value > 0.0f) || !(slope2 > MIN_SLOPE2)) return yw_v3(0, 0, 0);
  if (at.value * at.value > slope2 * reach * reach) return yw_v3(0, 0, 0);
  return yw_scale(at.slope, -at.value / slope2);
}

static yw_vec3 longer(yw_vec3 a, yw_vec3 b) { return yw_length2(b) > yw_length2(a) ? b : a; }

// Triangles ---------------------------------------------------------------------------------------

typedef struct triangle {
  yw_vec3 x[3];
  sample at[3];
} triangle;

static yw_vec3 step_of_triangle(const rounds* r, const triangle* t, const sample* middle,
                                int depth);

// The four quarters. The middle one has the same centre.
static yw_vec3 step_of_quarters(const rounds* r, const triangle* t, sample center, int depth) {
  triangle inner;
  for (int k = 0; k < 3; ++k) {
    inner.x[k] = yw_lerp(t->x[k], t->x[(k + 1) % 3], 0.5f);
    inner.at[k] = sample_at(r, inner.x[k], r->m->reach);
  }
  yw_vec3 step = step_of_triangle(r, &inner, &center, depth + 1);
  for (int k = 0; k < 3; ++k) {
    const int before = (k + 2) % 3;
    triangle outer = {{t->x[k], inner.x[k], inner.x[before]},
                      {t->at[k], inner.at[k], inner.at[before]}};
    step = longer(step, step_of_triangle(r, &outer, NULL, depth + 1));
  }
  return step;
}

// The most that f can be between two points if it bends downwards there: where the tangents meet.
static float peak_between(yw_vec3 a, sample at_a, yw_vec3 b, sample at_b) {
  yw_vec3 along = yw_sub(b, a);
  float rise_a = yw_dot(at_a.slope, along), rise_b = yw_dot(at_b.slope, along);
  float top = fmaxf(at_a.value, at_b.value);
  if (!(rise_a > rise_b)) return top;
  float t = yw_clampf((at_b.value - rise_b - at_a.value) / (rise_a - rise_b), 0.0f, 1.0f);
  return fmaxf(top, at_a.value + t * rise_a);
}

// The same along the edges.
static float peak_of_edges(const triangle* t) {
  float peak = t->at[0].value;
  for (int k = 0; k < 3; ++k) {
    int next = (k + 1) % 3;
    peak = fmaxf(peak, peak_between(t->x[k], t->at[k], t->x[next], t->at[next]));
  }
  return peak;
}

// The same from the corners to the centre.
static float peak_of_spokes(const triangle* t, yw_vec3 center, sample at_center) {
  float peak = at_center.value;
  for (int k = 0; k < 3; ++k) {
    peak = fmaxf(peak, peak_between(t->x[k], t->at[k], center, at_center));
  }
  return peak;
}

static bool is_seen(sample at) { return yw_length2(at.slope) > 0.0f; }

// Whether the corners tell that no point of the triangle has to move. f changes by at most twice
// the distance. Triangles smaller than those of the walls hold no bump that none of the corners
// sees.
static bool is_settled(const rounds* r, const triangle* t, float radius) {
  float top = fmaxf(t->at[0].value, fmaxf(t->at[1].value, t->at[2].value));
  if (top + 2.0f * radius <= 0.0f) return true;
  bool seen = is_seen(t->at[0]) && is_seen(t->at[1]) && is_seen(t->at[2]);
  return seen && radius < SMALL * r->m->reach && peak_of_edges(t) + 0.5f * radius <= 0.0f;
}

// The longest step of any point of the triangle, which is cut in four while f may rise between the
// samples.
static yw_vec3 step_of_triangle(const rounds* r, const triangle* t, const sample* middle,
                                int depth) {
  const yw_vec3 none = {0, 0, 0};
  const float slack = SLACK * r->gap;
  yw_vec3 center = yw_scale(yw_add(yw_add(t->x[0], t->x[1]), t->x[2]), 1.0f / 3.0f);
  float radius = yw_distance(center, t->x[0]);
  radius = fmaxf(radius, fmaxf(yw_distance(center, t->x[1]), yw_distance(center, t->x[2])));
  if (!(radius < LARGEST * r->m->reach) || is_settled(r, t, radius)) return none;
  sample here = middle ? *middle : sample_at(r, center, fmaxf(r->m->reach, 2.0f * radius));
  if (here.value + 2.0f * radius <= 0.0f) return none;
  // A step is enough for this round: the triangle is looked at again.
  if (here.value > slack) return step_of(r, here);
  if (depth == MAX_DEPTH || radius < FINE * r->gap) return none;
  if (fmaxf(peak_of_edges(t), peak_of_spokes(t, center, here)) <= slack) return none;
  return step_of_quarters(r, t, here, depth);
}

static void look_at_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const rounds* r = context;
  const yw_shown_body* body = r->m->body;
  for (int32_t n = block * BLOCK; n < r->num_list && n < (block + 1) * BLOCK; ++n) {
    const int32_t* corners = body->triangles + 3 * (size_t)r->list[n];
    triangle t;
    for (int k = 0; k < 3; ++k) {
      t.x[k] = body->vertices[corners[k]];
      t.at[k] = r->samples[r->place[corners[k]]];
    }
    r->list_steps[n] = step_of_triangle(r, &t, NULL, 0);
  }
}

// Steps of triangles that have a vertex that moved.
static void look_at_triangles(rounds* r) {
  const yw_shown_body* body = r->m->body;
  r->num_list = 0;
  for (int32_t t = 0; t < body->num_triangles; ++t) {
    const int32_t* v = body->triangles + 3 * (size_t)t;
    bool any = r->moved[r->place[v[0]]] || r->moved[r->place[v[1]]] || r->moved[r->place[v[2]]];
    if (any) r->list[r->num_list++] = t;
  }
  yw_tasks_run(r->m->tasks, (r->num_list + BLOCK - 1) / BLOCK, look_at_block, r);
  for (int32_t n = 0; n < r->num_list; ++n) {
    if (!(yw_length2(r->list_steps[n]) > 0.0f)) continue;
    const int32_t* v = body->triangles + 3 * (size_t)r->list[n];
    for (int k = 0; k < 3; ++k) {
      yw_vec3* step = &r->steps[r->place[v[k]]];
      *step = longer(*step, r->list_steps[n]);
    }
  }
  memset(r->moved, 0, sizeof *r->moved * (size_t)body->num_vertices);
}

// Vertices ----------------------------------------------------------------------------------------

static void sample_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const rounds* r = context;
  for (int32_t n = block * BLOCK; n < r->num_list && n < (block + 1) * BLOCK; ++n) {
    int32_t i = r->list[n];
    r->samples[i] = sample_at(r, r->m->body->vertices[i], r->m->reach);
    r->steps[i] = step_of(r, r->samples[i]);
  }
}

static void sample_list(rounds* r) {
  yw_tasks_run(r->m->tasks, (r->num_list + BLOCK - 1) / BLOCK, sample_block, r);
}

// Every vertex takes the step of its place; the length of the longest. Places that moved are
// listed.
static float take_steps(rounds* r) {
  const yw_shown_body* body = r->m->body;
  float longest2 = 0.0f;
  r->num_list = 0;
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    yw_vec3 step = r->steps[r->place[i]];
    float length2 = yw_length2(step);
    if (!(length2 > 0.0f)) continue;
    longest2 = fmaxf(longest2, length2);
    body->vertices[i] = yw_add(body->vertices[i], step);
    if (r->place[i] == i) {
      r->moved[i] = true;
      r->list[r->num_list++] = i;
    }
  }
  memset(r->steps, 0, sizeof *r->steps * (size_t)body->num_vertices);
  return sqrtf(longest2);
}

// Vertices first, so that triangles only add what their corners cannot know. False if the rounds
// did not suffice.
static bool run_rounds(rounds* r) {
  const float small = SMALL_STEP * r->gap;
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    float longest = 0.0f;
    for (int k = 0; k < MAX_STEPS; ++k) {
      sample_list(r);
      float length = take_steps(r);
      longest = fmaxf(longest, length);
      if (length < small) break;
    }
    look_at_triangles(r);
    longest = fmaxf(longest, take_steps(r));
    if (longest < small) return true;
  }
  return false;
}

static bool is_close(const rounds* r, yw_vec3 p) {
  const yw_shown_mover* m = r->m;
  for (int32_t k = 0; k < m->num_near; ++k) {
    if (contains(yw_aabb_pad(m->near[k]->wall->box, m->reach), p)) return true;
  }
  for (int32_t k = 0; k < m->num_obstacles; ++k) {
    const yw_shown_obstacle* o = m->obstacles[k];
    yw_vec3 local = yw_transform_point_inv(o->pose, p);
    if (o->pose.scale * yw_shape_distance(o->shape, local) < r->gap) return true;
  }
  return false;
}

// Lists the places that others can reach.
static void mark_close(rounds* r) {
  const yw_shown_body* body = r->m->body;
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    r->samples[i].value = -r->m->reach;
    if (r->place[i] != i || !is_close(r, body->vertices[i])) continue;
    r->moved[i] = r->close[i] = true;
    r->list[r->num_list++] = i;
  }
}

static bool is_lost(const rounds* r) {
  bool lost = false;
  for (int32_t i = 0; i < r->m->body->num_vertices && !lost; ++i) lost = r->samples[i].lost;
  return lost;
}

yw_status yw_shown_mover_run(const yw_allocator* mem, const yw_shown_mover* mover) {
  const yw_shown_body* body = mover->body;
  int32_t longest =
      body->num_vertices > body->num_triangles ? body->num_vertices : body->num_triangles;
  rounds r = {.m = mover, .gap = GAP * mover->own->edge, .place = mover->own->place};
  r.samples = YW_NEW_ARRAY(mem, sample, body->num_vertices);
  r.moved = YW_NEW_ARRAY(mem, bool, body->num_vertices);
  r.close = YW_NEW_ARRAY(mem, bool, body->num_vertices);
  r.steps = YW_NEW_ARRAY(mem, yw_vec3, body->num_vertices);
  r.list = YW_NEW_ARRAY(mem, int32_t, longest);
  r.list_steps = YW_NEW_ARRAY(mem, yw_vec3, body->num_triangles);
  bool made = r.samples && r.moved && r.close && r.steps && r.list && r.list_steps;
  if (made) {
    mark_close(&r);
    bool settled = run_rounds(&r);
    if ((!settled || is_lost(&r)) && mover->num_near > 0) {
      memset(r.steps, 0, sizeof *r.steps * (size_t)body->num_vertices);
      memcpy(r.moved, r.close, sizeof *r.moved * (size_t)body->num_vertices);
      yw_shown_go_home(mover, r.gap, r.moved, r.steps, r.list);
    }
  }
  yw_mem_free(mem, r.samples);
  yw_mem_free(mem, r.moved);
  yw_mem_free(mem, r.close);
  yw_mem_free(mem, r.steps);
  yw_mem_free(mem, r.list);
  yw_mem_free(mem, r.list_steps);
  return made ? YW_OK : YW_ERR_MEMORY;
}
