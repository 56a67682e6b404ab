// SPDX-License-Identifier: MIT
#include "papers/measure.h"

#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "yawara/extend/vec.h"
#include "yawara/match.h"

#define DEGREES_PER_RAD 57.295779513082321
// Space for the weights of every region of a small body.
#define MAX_WEIGHTS 4096

static const yw_vec3* rest_of(const yw_world* world, yw_body_id body) {
  return yw_model_tets(yw_body_model(world, body))->positions;
}

static float along(yw_vec3 p, int32_t axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

// Slices ------------------------------------------------------------------------------------------

typedef struct slicing {
  const yw_vec3 *rest, *now;
  int32_t num_vertices, count, axis;
  float lower, step;
  yw_vec3 rest_centers[PAPER_MAX_SLICES];
  int32_t sizes[PAPER_MAX_SLICES];
} slicing;

static int32_t slice_of(const slicing* s, int32_t vertex) {
  return (int32_t)lrintf((along(s->rest[vertex], s->axis) - s->lower) / s->step);
}

static void find_slices(slicing* s, paper_slices* out) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < s->num_vertices; ++i) box = yw_aabb_grow(box, s->rest[i]);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  s->axis = side.y >= side.x && side.y >= side.z ? 1 : side.x >= side.z ? 0 : 2;
  s->lower = along(box.lower, s->axis);
  s->step = along(side, s->axis) / (float)(s->count - 1);
  for (int32_t i = 0; i < s->num_vertices; ++i) {
    int32_t k = slice_of(s, i);
    s->sizes[k]++;
    s->rest_centers[k] = yw_add(s->rest_centers[k], s->rest[i]);
    out->centers[k] = yw_add(out->centers[k], s->now[i]);
  }
  for (int32_t k = 0; k < s->count; ++k) {
    float share = 1.0f / (float)(s->sizes[k] > 0 ? s->sizes[k] : 1);
    s->rest_centers[k] = yw_scale(s->rest_centers[k], share);
    out->centers[k] = yw_scale(out->centers[k], share);
  }
}

// Angle by which slice k is rotated about a direction, relative to the cross-section at rest.
// Slices measured about the same direction are comparable.
static double turn_of(const slicing* s, const paper_slices* out, int32_t k, yw_vec3 axis) {
  yw_vec3 other = fabsf(axis.x) < 0.7f ? yw_v3(1, 0, 0) : yw_v3(0, 0, 1);
  yw_vec3 e1 = yw_normalize_or(yw_cross(other, axis), yw_v3(0, 1, 0)), e2 = yw_cross(axis, e1);
  int32_t u = (s->axis + 1) % 3, v = (s->axis + 2) % 3;
  double sine = 0, cosine = 0;
  for (int32_t i = 0; i < s->num_vertices; ++i) {
    if (slice_of(s, i) != k) continue;
    yw_vec3 q = yw_sub(s->rest[i], s->rest_centers[k]), p = yw_sub(s->now[i], out->centers[k]);
    double qu = along(q, u), qv = along(q, v), pu = yw_dot(p, e1), pv = yw_dot(p, e2);
    sine += qu * pv - qv * pu;
    cosine += qu * pu + qv * pv;
  }
  return DEGREES_PER_RAD * atan2(sine, cosine);
}

static void measure_twist(const slicing* s, paper_slices* out) {
  for (int32_t k = 0; k + 1 < s->count; ++k) {
    yw_vec3 axis = yw_sub(out->centers[k + 1], out->centers[k]);
    axis = yw_normalize_or(axis, yw_v3(0, 1, 0));
    double turn = turn_of(s, out, k + 1, axis) - turn_of(s, out, k, axis);
    out->twist[k] = turn - 360.0 * rint(turn / 360.0);
    out->total_twist += out->twist[k];
  }
}

// The mean distance from the axis of the slices, relative to that at rest.
static double measure_width(const slicing* s, const paper_slices* out) {
  double now = 0, rest = 0;
  for (int32_t i = 0; i < s->num_vertices; ++i) {
    int32_t k = slice_of(s, i);
    now += (double)yw_distance(s->now[i], out->centers[k]);
    rest += (double)yw_distance(s->rest[i], s->rest_centers[k]);
  }
  return now / rest;
}

static void measure_axis(const slicing* s, paper_slices* out) {
  int32_t last = s->count - 1;
  const yw_vec3* c = out->centers;
  yw_vec3 line = yw_sub(c[last], c[0]);
  yw_vec3 unit = yw_normalize_or(line, yw_v3(0, 1, 0));
  yw_vec3 first = yw_normalize_or(yw_sub(c[1], c[0]), unit);
  yw_vec3 end = yw_normalize_or(yw_sub(c[last], c[last - 1]), unit);
  float rest_length = yw_distance(s->rest_centers[last], s->rest_centers[0]);
  out->bend = DEGREES_PER_RAD * acos((double)yw_clampf(yw_dot(first, end), -1.0f, 1.0f));
  out->length = (double)(yw_length(line) / rest_length);
  for (int32_t k = 1; k < last; ++k) {
    yw_vec3 d = yw_sub(c[k], c[0]);
    float away = yw_length(yw_mad(d, -yw_dot(d, unit), unit)) / rest_length;
    if (away > out->sway) out->sway = away;
  }
  out->width = measure_width(s, out);
}

void paper_slice_points(int32_t num_points, const yw_vec3* rest, const yw_vec3* now, int32_t count,
                        paper_slices* out) {
  memset(out, 0, sizeof *out);
  slicing s = {.rest = rest, .now = now, .num_vertices = num_points, .count = count};
  out->count = count;
  find_slices(&s, out);
  measure_twist(&s, out);
  measure_axis(&s, out);
}

void paper_slice(const yw_world* world, yw_body_id body, int32_t count, paper_slices* out) {
  int32_t num_points;
  const yw_vec3* now = yw_body_positions(world, body, &num_points);
  paper_slice_points(num_points, rest_of(world, body), now, count, out);
}

// Weights -----------------------------------------------------------------------------------------

double paper_weight(const yw_world* world, yw_body_id body, int32_t num_examples, int32_t group,
                    int32_t pose) {
  float weights[MAX_WEIGHTS] = {0};
  int32_t at = group * (1 + num_examples) + pose;
  yw_body_match_weights(world, body, weights, MAX_WEIGHTS);
  return at < MAX_WEIGHTS ? (double)weights[at] : 0.0;
}

void paper_weight_spread(const yw_world* world, yw_body_id body, int32_t num_examples, int32_t pose,
                         double* mean, double* deviation) {
  float weights[MAX_WEIGHTS] = {0};
  int32_t groups = yw_body_match_weights(world, body, weights, MAX_WEIGHTS);
  double sum = 0, squares = 0;
  for (int32_t g = 0; g < groups; ++g) {
    double w = (double)weights[g * (1 + num_examples) + pose];
    sum += w;
    squares += w * w;
  }
  *mean = sum / groups;
  *deviation = sqrt(fmax(0.0, squares / groups - *mean * *mean));
}

// Motion ------------------------------------------------------------------------------------------

yw_vec3 paper_place(const yw_world* world, yw_body_id body, yw_vec3 rest_point, double radius) {
  int32_t count, found = 0;
  const yw_vec3 *rest = rest_of(world, body), *now = yw_body_positions(world, body, &count);
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < count; ++i) {
    if ((double)yw_distance(rest[i], rest_point) > radius) continue;
    sum = yw_add(sum, now[i]);
    ++found;
  }
  return yw_scale(sum, 1.0f / (float)(found > 0 ? found : 1));
}

yw_vec3 paper_nearest(const yw_world* world, yw_body_id body, yw_vec3 rest_point) {
  int32_t count, best = 0;
  const yw_vec3* rest = rest_of(world, body);
  yw_body_positions(world, body, &count);
  for (int32_t i = 1; i < count; ++i) {
    if (yw_distance(rest[i], rest_point) < yw_distance(rest[best], rest_point)) best = i;
  }
  return rest[best];
}

yw_vec3 paper_highest(const yw_world* world, yw_body_id body) {
  int32_t count, best = 0;
  const yw_vec3* rest = rest_of(world, body);
  yw_body_positions(world, body, &count);
  for (int32_t i = 1; i < count; ++i) best = rest[i].y > rest[best].y ? i : best;
  return rest[best];
}

double paper_side_way(const yw_world* world, yw_body_id body, double side, double reach) {
  int32_t count, middle = 0, found = 0;
  const yw_vec3 *rest = rest_of(world, body), *now = yw_body_positions(world, body, &count);
  for (int32_t i = 1; i < count; ++i) {
    if (yw_length2(rest[i]) < yw_length2(rest[middle])) middle = i;
  }
  yw_vec3 shift = yw_sub(now[middle], rest[middle]);
  double sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (side * (double)rest[i].x < reach) continue;
    sum += (double)yw_length(yw_sub(yw_sub(now[i], rest[i]), shift));
    ++found;
  }
  return found > 0 ? sum / found : 0.0;
}

double paper_distortion(const yw_world* world, yw_body_id body) {
  int32_t count;
  const yw_vec3 *rest = rest_of(world, body), *now = yw_body_positions(world, body, &count);
  yw_vec3 from = yw_v3(0, 0, 0), to = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < count; ++i) {
    from = yw_mad(from, 1.0f / (float)count, rest[i]);
    to = yw_mad(to, 1.0f / (float)count, now[i]);
  }
  yw_mat3 moments = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, rotation, stretch;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 q = yw_sub(rest[i], from), p = yw_sub(now[i], to);
    moments.cx = yw_mad(moments.cx, q.x, p);
    moments.cy = yw_mad(moments.cy, q.y, p);
    moments.cz = yw_mad(moments.cz, q.z, p);
  }
  yw_polar(&moments, &rotation, &stretch);
  double errors = 0, size = 0;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 q = yw_sub(rest[i], from), p = yw_sub(now[i], to);
    errors += (double)yw_length2(yw_sub(p, yw_mul(rotation, q)));
    size += (double)yw_length2(q);
  }
  return sqrt(errors / size);
}
