// SPDX-License-Identifier: MIT
#include "contact/surfaces/cone.h"

// Most edges around a vertex that are looked at, and how often.
#define MAX_AROUND 24
#define PASSES 3
// As YW_CONE_LEAST, for vertices.
#define LEAST_AT_VERTEX 0.2f
// Edges around a vertex in a flat face add up to less than this share of their number, as unit
// vectors.
#define FLAT_VERTEX 0.2f
// Cosine between directions that are the same.
#define SAME_DIRECTION 0.99999f
// Cosine to the mean direction of contacts from which on they are looked at.
#define SUSPECT 0.5f

static yw_vec3 place_at(const yw_contact_work* work, int32_t particle, float t) {
  return yw_lerp(yw_touch_begin(work, particle), yw_touch_path_end(work, particle), t);
}

// The edge of a triangle at a vertex that is not `other`.
static int32_t next_edge(const yw_complex* c, int32_t triangle, int32_t vertex, int32_t other) {
  for (int k = 0; k < 3; ++k) {
    int32_t edge = c->triangle_edges[triangle][k];
    bool meets = c->edges[edge][0] == vertex || c->edges[edge][1] == vertex;
    if (meets && edge != other) return edge;
  }
  return -1;
}

// Lists the other ends of the edges at a vertex: around it, and at a border back from the start.
static int32_t neighbours(const yw_complex* c, int32_t vertex, int32_t out[MAX_AROUND]) {
  int32_t start = c->triangle_of_vertex[vertex], count = 0, first = -1;
  if (start < 0) return 0;
  for (int turn = 0; turn < 2; ++turn) {
    int32_t triangle = start, edge = next_edge(c, start, vertex, first);
    if (turn == 0) first = edge;
    while (edge >= 0 && triangle >= 0 && count < MAX_AROUND) {
      const int32_t *ends = c->edges[edge], *sides = c->edge_triangles[edge];
      out[count++] = ends[0] == vertex ? ends[1] : ends[0];
      triangle = sides[0] == triangle ? sides[1] : sides[0];
      if (triangle == start) return count;
      if (triangle >= 0) edge = next_edge(c, triangle, vertex, edge);
    }
  }
  return count;
}

// Saves the look at all others where surfaces lie on each other.
static bool is_normal(const yw_contact_work* work, int32_t triangle, float t, yw_vec3 away) {
  if (triangle < 0) return true;
  yw_vec3 x[3];
  for (int k = 0; k < 3; ++k) x[k] = place_at(work, work->complex->triangles[triangle][k], t);
  yw_vec3 normal = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[2], x[0]));
  float along = yw_dot(normal, away);
  return along * along > SAME_DIRECTION * SAME_DIRECTION * yw_length2(normal);
}

bool yw_cone_of_vertex(const yw_contact_work* work, int32_t vertex, float t, yw_vec3* away) {
  const yw_complex* c = work->complex;
  if (c->num_triangles == 0 || is_normal(work, c->triangle_of_vertex[vertex], t, *away))
    return true;
  yw_vec3 p = place_at(work, vertex, t), n = *away, to[MAX_AROUND], sum = yw_v3(0, 0, 0);
  int32_t around[MAX_AROUND], count = neighbours(c, vertex, around);
  for (int32_t i = 0; i < count; ++i) {
    to[i] = yw_normalize_or(yw_sub(place_at(work, around[i], t), p), yw_v3(0, 0, 0));
    sum = yw_add(sum, to[i]);
  }
  if (yw_length(sum) > FLAT_VERTEX * (float)count) return true;
  for (int pass = 0; pass < PASSES; ++pass) {
    for (int32_t i = 0; i < count; ++i) {
      float along = yw_dot(n, to[i]);
      if (along > 0.0f) n = yw_mad(n, -along, to[i]);
    }
  }
  if (!(yw_length(n) > LEAST_AT_VERTEX)) return false;
  *away = yw_normalize_or(n, *away);
  return true;
}

bool yw_cone_of_edge(const yw_contact_work* work, int32_t edge, yw_vec3 p, float t, yw_vec3* away) {
  const yw_complex* c = work->complex;
  if (c->num_triangles == 0 || c->edge_triangles[edge][1] < 0) return true;
  const int32_t* ends = c->edges[edge];
  yw_vec3 along = yw_sub(place_at(work, ends[1], t), place_at(work, ends[0], t)), to[2];
  along = yw_normalize_or(along, yw_v3(0, 0, 0));
  for (int k = 0; k < 2; ++k) {
    // Within the face, straight away from the edge.
    to[k] = yw_sub(place_at(work, c->edge_thirds[edge][k], t), p);
    to[k] = yw_normalize_or(yw_mad(to[k], -yw_dot(to[k], along), along), yw_v3(0, 0, 0));
  }
  if (!(yw_dot(to[0], to[1]) < -YW_FLAT_FACES)) return true;
  float into[2] = {yw_dot(*away, to[0]), yw_dot(*away, to[1])};
  int k = into[1] > into[0];
  if (!(into[k] > 0.0f)) return true;
  yw_vec3 n = yw_mad(*away, -into[k], to[k]);
  if (!(yw_length(n) > YW_CONE_LEAST)) return false;
  *away = yw_normalize_or(n, *away);
  return true;
}

int32_t yw_cone_drop(const yw_contact_work* works, yw_contact* contacts, int32_t count) {
  yw_vec3 mean = yw_v3(0, 0, 0);
  for (int32_t i = 0; i < count; ++i) mean = yw_add(mean, contacts[i].normal);
  mean = yw_normalize_or(mean, mean);
  int32_t left = 0;
  for (int32_t i = 0; i < count; ++i) {
    const yw_contact* c = &contacts[i];
    bool stays = yw_dot(c->normal, mean) > SUSPECT || c->count[0] != 1 || c->count[1] != 3;
    yw_vec3 away = yw_neg(c->normal);
    if (!stays && !yw_cone_of_vertex(&works[c->body[0]], c->particles[0][0], 0.0f, &away)) continue;
    if (left < i) contacts[left] = *c;
    ++left;
  }
  return left;
}
