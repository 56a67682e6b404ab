// SPDX-License-Identifier: MIT
// Where tets are folded, inside and outside mean nothing. But walls do not cross, so whatever is
// nearer to its own wall than to others, whichever side it is on, is apart from what is nearer to
// those. Vertices of which that is not true go home: towards the nearest point of their own wall.
// Triangles that are still bad then shrink to points there.
#include <string.h>

#include "geometry/shown_space.h"
#include "math/small/union_find.h"

#define HOME_ROUNDS 16
// Rounds in which every corner of a triangle goes by itself.
#define APART_ROUNDS 4
// Steps along one way.
#define HOME_STEPS 24
// What is still bad then shrinks to points; rounds in which these grow.
#define SHRINK_ROUNDS 64
// Walls farther than so many reaches are not looked for.
#define HOME_REACH 4.0f
// Triangles are sampled until their radius is below so many gaps, in at most so many cuts: while
// they go home, and in the end.
#define FINE 8.0f
#define MAX_DEPTH 4
#define FINEST 4.0f
#define FINEST_DEPTH 5
// Triangles of more reaches are not of this body's scale, or no numbers.
#define LARGEST 32.0f
// Steps below this share of the gap are none.
#define SMALL_STEP 0.1f

typedef struct way_home {
  const yw_shown_mover* m;
  float gap;
  bool* moved;     ///< per place: to be looked at
  yw_vec3* steps;  ///< per place
  float fine;      ///< m, radius of samples
  int max_depth;
} way_home;

// How much farther p is from its own wall than from others; at most 0: it may stay. home: the
// nearest point of its own wall.
static float farther_from_own(const way_home* w, yw_vec3 p, yw_vec3* home) {
  const yw_shown_mover* m = w->m;
  float limit = HOME_REACH * m->reach, own = limit, other = limit, found;
  yw_vec3 normal;
  *home = p;
  for (int32_t k = 0; k < m->num_near; ++k) {
    const yw_shown_wall* wall = m->near[k]->wall;
    if (!yw_aabb_overlap(yw_aabb_pad(wall->box, other), (yw_aabb){p, p})) continue;
    if (yw_wall_distance(&wall->wall, p, other, &found, &normal)) other = fabsf(found);
  }
  if (other >= limit) return -limit;
  if (yw_wall_distance(&m->own->wall, p, limit, &found, &normal)) {
    own = fabsf(found);
    *home = yw_mad(p, -found, normal);
  }
  return own - other;
}

// The farthest point of the way from home to p that may stay, and all before it.
static yw_vec3 last_good_point(const way_home* w, yw_vec3 p, yw_vec3 home) {
  float length = yw_distance(p, home), at = 0.0f;
  yw_vec3 unused, x = home;
  for (int k = 0; k < HOME_STEPS && at < length; ++k) {
    // Both distances change by at most the way.
    float step = 0.5f * (-farther_from_own(w, x, &unused) - 2.0f * w->gap);
    if (step < SMALL_STEP * w->gap) break;
    at = fminf(at + step, length);
    x = yw_lerp(home, p, at / length);
  }
  return x;
}

static bool is_bad(const way_home* w, yw_vec3 a, yw_vec3 b, yw_vec3 c, int depth) {
  yw_vec3 center = yw_scale(yw_add(yw_add(a, b), c), 1.0f / 3.0f), home;
  float radius = yw_distance(center, a);
  radius = fmaxf(radius, fmaxf(yw_distance(center, b), yw_distance(center, c)));
  float bad = farther_from_own(w, center, &home);
  if (bad > 0.0f) return true;
  if (bad + 2.0f * radius <= 0.0f || depth == w->max_depth || radius < w->fine) return false;
  if (!(radius < LARGEST * w->m->reach)) return false;
  yw_vec3 ab = yw_lerp(a, b, 0.5f), bc = yw_lerp(b, c, 0.5f), ca = yw_lerp(c, a, 0.5f);
  return is_bad(w, ab, bc, ca, depth + 1) || is_bad(w, a, ab, ca, depth + 1) ||
         is_bad(w, b, bc, ab, depth + 1) || is_bad(w, c, ca, bc, depth + 1);
}

// Corners of bad triangles go half of the way; or, where the triangle spans a crease of its wall in
// which another lies, half of the way to one point.
static void send_triangles(way_home* w, bool together) {
  const yw_shown_body* body = w->m->body;
  const int32_t* place = w->m->own->place;
  const yw_vec3* x = body->vertices;
  for (int32_t t = 0; t < body->num_triangles; ++t) {
    const int32_t* corners = body->triangles + 3 * (size_t)t;
    const int32_t v[3] = {place[corners[0]], place[corners[1]], place[corners[2]]};
    if (!w->moved[v[0]] && !w->moved[v[1]] && !w->moved[v[2]]) continue;
    if (!is_bad(w, x[v[0]], x[v[1]], x[v[2]], 0)) continue;
    yw_vec3 home, sum = yw_add(yw_add(x[v[0]], x[v[1]]), x[v[2]]);
    if (together) farther_from_own(w, yw_scale(sum, 1.0f / 3.0f), &home);
    for (int k = 0; k < 3; ++k) {
      if (!together) farther_from_own(w, x[v[k]], &home);
      w->steps[v[k]] = yw_scale(yw_sub(home, x[v[k]]), 0.5f);
    }
  }
}

// Every vertex takes the step of its place; the length of the longest.
static float take_steps(way_home* w) {
  const yw_shown_body* body = w->m->body;
  float longest2 = 0.0f;
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    int32_t place = w->m->own->place[i];
    float length2 = yw_length2(w->steps[place]);
    if (!(length2 > 0.0f)) continue;
    longest2 = fmaxf(longest2, length2);
    body->vertices[i] = yw_add(body->vertices[i], w->steps[place]);
    w->moved[place] = true;
  }
  memset(w->steps, 0, sizeof *w->steps * (size_t)body->num_vertices);
  return sqrtf(longest2);
}

// Shrinks bad triangles, with those beside them that have shrunk already, to points of their own
// wall. Such points are never bad, so this ends, if need be with nothing left. set: per place,
// those that have become one. Marks the corners of these triangles in `steps`.
static bool shrink(way_home* w, int32_t* set) {
  const yw_shown_body* body = w->m->body;
  const int32_t* place = w->m->own->place;
  const yw_vec3* x = body->vertices;
  bool any = false;
  for (int32_t t = 0; t < body->num_triangles; ++t) {
    const int32_t* corners = body->triangles + 3 * (size_t)t;
    const int32_t v[3] = {place[corners[0]], place[corners[1]], place[corners[2]]};
    if (!w->moved[v[0]] && !w->moved[v[1]] && !w->moved[v[2]]) continue;
    int32_t root = yw_union_root(set, v[0]);
    bool point = yw_union_root(set, v[1]) == root && yw_union_root(set, v[2]) == root;
    if (point || !is_bad(w, x[v[0]], x[v[1]], x[v[2]], 0)) continue;
    yw_union_join(set, v[0], v[1]);
    yw_union_join(set, v[0], v[2]);
    for (int k = 0; k < 3; ++k) w->steps[v[k]].x = 1.0f;
    any = true;
  }
  memset(w->moved, 0, sizeof *w->moved * (size_t)body->num_vertices);
  return any;
}

// Puts what has become one to one place, where it has grown. Only what this moves is looked at
// again.
static void gather(way_home* w, int32_t* set) {
  const yw_shown_body* body = w->m->body;
  const int32_t* place = w->m->own->place;
  yw_vec3 *x = body->vertices, home;
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    if (w->steps[i].x > 0.0f) w->steps[yw_union_root(set, i)].y = 1.0f;
  }
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    if (set[i] != i || !(w->steps[i].y > 0.0f)) continue;
    farther_from_own(w, x[i], &home);
    if (!(yw_distance(x[i], home) > SMALL_STEP * w->gap)) continue;
    x[i] = home;
    w->moved[i] = true;
  }
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    int32_t root = yw_union_root(set, place[i]);
    if (!(w->steps[root].y > 0.0f) || !(yw_distance(x[i], x[root]) > 0.0f)) continue;
    x[i] = x[root];
    w->moved[place[i]] = true;
  }
  memset(w->steps, 0, sizeof *w->steps * (size_t)body->num_vertices);
}

static void go_home(way_home* w) {
  const yw_shown_body* body = w->m->body;
  for (int round = 0; round < HOME_ROUNDS; ++round) {
    for (int32_t i = 0; i < body->num_vertices; ++i) {
      yw_vec3 home, p = body->vertices[i];
      if (!w->moved[i] || !(farther_from_own(w, p, &home) > 0.0f)) continue;
      w->steps[i] = yw_sub(last_good_point(w, p, home), p);
    }
    take_steps(w);
    send_triangles(w, round >= APART_ROUNDS);
    memset(w->moved, 0, sizeof *w->moved * (size_t)body->num_vertices);
    if (!(take_steps(w) > SMALL_STEP * w->gap)) return;
  }
}

void yw_shown_go_home(const yw_shown_mover* mover, float gap, bool* moved, yw_vec3* steps,
                      int32_t* set) {
  way_home w = {mover, gap, moved, steps, FINE * gap, MAX_DEPTH};
  go_home(&w);
  w.fine = FINEST * gap;
  w.max_depth = FINEST_DEPTH;
  for (int32_t i = 0; i < mover->body->num_vertices; ++i) {
    set[i] = i;
    moved[i] = true;
  }
  for (int round = 0; round < SHRINK_ROUNDS && shrink(&w, set); ++round) gather(&w, set);
}
