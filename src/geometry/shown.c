// SPDX-License-Identifier: MIT
// A point p of what is shown of body A belongs on A's side of the surface that
// is equally far from the tets of A and of each other body B:
//
//   f(p) = d_A(p) - d_B(p) + gap <= 0        d  signed distance from the tets,
//   negative inside
//
// Points with f > 0 take Newton steps along the gradient of f. The rule is the
// same for A and B, so neither depends on what is shown of the other. Points
// within triangles count too: all corners of the triangle take their step.
//
// Where tets are folded, the signs mean nothing. But walls do not cross, so
// whatever is nearer to its own wall than to others, whichever side it is on,
// is apart from what is nearer to those. If some point is not, its vertices go
// home: towards the nearest point of their own wall.
#include "yawara/extend/shown.h"

#include <string.h>

#include "geometry/wall.h"
#include "yawara/extend/memory.h"

// Width of the gap on each side, over the mean edge of the walls: enough for
// what lies between the sampled points of a triangle.
#define GAP 0.01f
// What is deeper in another body or obstacle than so many mean edges is left
// there: the nearest way out may be the wrong one.
#define REACH 1.0f
#define MAX_ROUNDS 6
// Triangles are sampled until their radius is below so many gaps, in at most so
// many cuts.
#define FINE 8.0f
#define MAX_DEPTH 4
// Triangles of more mean edges are not of this body's scale, or no numbers.
#define LARGEST 32.0f
// Below this squared length of its gradient, f hardly changes and a step would
// be long.
#define MIN_SLOPE2 0.25f
// Rounds of going home, of which the first with every corner by itself; and
// steps along one way. Walls farther than so many reaches are not looked for.
#define HOME_ROUNDS 16
#define APART_ROUNDS 4
#define HOME_STEPS 24
#define HOME_REACH 4.0f

typedef struct shown_wall {
  yw_aabb box;
  float edge; ///< mean length, m
  yw_wall wall;
  bool made;
} shown_wall;

/// One body and what is near it.
typedef struct mover {
  const yw_shown_scene *scene;
  int32_t body;
  shown_wall *walls; ///< of all bodies
  int32_t num_near, num_obstacles;
  int32_t *near, *obstacles;
  float reach, gap;
  int32_t *place; ///< per vertex: the first at its place, which decides for all
                  ///< of them
  bool *close;    ///< per place: near others
  bool
      *moved; ///< per place: since it was last looked at; at first, near others
  yw_vec3 *steps; ///< per place: the longest of this round
  bool stuck; ///< some point may be on the wrong side, but signs cannot tell
              ///< the way back
} mover;

// Walls
// -------------------------------------------------------------------------------------------

static void measure_wall(const yw_shown_body *body, shown_wall *out) {
  const yw_vec3 *x = body->walls ? body->positions : body->vertices;
  const int32_t *triangles = body->walls ? body->walls : body->triangles;
  int32_t count = body->walls ? body->num_walls : body->num_triangles;
  double sum = 0.0;
  out->box = yw_aabb_empty();
  for (size_t n = 0; n < 3 * (size_t)count; ++n) {
    yw_vec3 a = x[triangles[n]], b = x[triangles[n % 3 == 2 ? n - 2 : n + 1]];
    out->box = yw_aabb_grow(out->box, a);
    sum += (double)yw_distance(a, b);
  }
  // Numbers that are not finite make no wall.
  float edge = count > 0 ? (float)(sum / (3.0 * count)) : 0.0f;
  out->edge = isfinite(edge) ? edge : 0.0f;
}

static yw_status make_wall(const yw_shown_body *body, shown_wall *out) {
  if (out->made)
    return YW_OK;
  out->made = true;
  if (body->walls) {
    return yw_wall_create(body->num_positions, body->positions, body->num_walls,
                          body->walls, &out->wall);
  }
  return yw_wall_create(body->num_vertices, body->vertices, body->num_triangles,
                        body->triangles, &out->wall);
}

// Steps
// -------------------------------------------------------------------------------------------

/// How far a point is on the wrong side of what is nearest to it, and the step
/// back.
typedef struct excess {
  float value; ///< f, m; at most 0: it may stay
  yw_vec3 step;
} excess;

static excess in_obstacle(const mover *m, int32_t obstacle, yw_vec3 p) {
  const yw_shown_obstacle *o = &m->scene->obstacles[obstacle];
  yw_vec3 normal, local = yw_transform_point_inv(o->pose, p);
  excess out = {-o->pose.scale * yw_shape_distance(o->shape, local), {0, 0, 0}};
  if (!(out.value > 0.0f) || out.value > m->reach)
    return out;
  yw_shape_distance_normal(o->shape, local, &normal);
  out.step = yw_scale(yw_rotate(o->pose.rotation, normal), out.value);
  return out;
}

static bool contains(yw_aabb box, yw_vec3 p) {
  return yw_aabb_overlap(box, (yw_aabb){p, p});
}

// Looks as far as `limit`.
static excess in_body(mover *m, int32_t other, yw_vec3 p, float limit) {
  excess out = {-limit, {0, 0, 0}};
  float to_other, to_own;
  yw_vec3 away, own;
  if (!contains(yw_aabb_pad(m->walls[other].box, limit), p))
    return out;
  if (!yw_wall_distance(&m->walls[other].wall, p, limit, &to_other, &away))
    return out;
  if (to_other < -m->reach) {
    m->stuck = true;
    return out;
  }
  if (!m->scene->bodies[other].walls) {
    out.value = m->gap - to_other;
    if (out.value > 0.0f)
      out.step = yw_scale(away, out.value);
    return out;
  }
  if (!yw_wall_distance(&m->walls[m->body].wall, p, 2.0f * limit, &to_own,
                        &own)) {
    m->stuck = true;
    return out;
  }
  out.value = to_own - to_other + m->gap;
  yw_vec3 slope = yw_sub(own, away);
  float slope2 = yw_length2(slope);
  if (out.value > 0.0f && slope2 > MIN_SLOPE2)
    out.step = yw_scale(slope, -out.value / slope2);
  if (out.value <= 0.0f && fabsf(to_own) > fabsf(to_other))
    m->stuck = true;
  return out;
}

static excess excess_at(mover *m, yw_vec3 p, float limit) {
  excess worst = {-limit, {0, 0, 0}};
  for (int32_t k = 0; k < m->num_near; ++k) {
    excess found = in_body(m, m->near[k], p, limit);
    if (found.value > worst.value)
      worst = found;
  }
  for (int32_t k = 0; k < m->num_obstacles; ++k) {
    excess found = in_obstacle(m, m->obstacles[k], p);
    if (found.value > worst.value)
      worst = found;
  }
  if (yw_length2(worst.step) > m->reach * m->reach) {
    worst.step = yw_v3(0, 0, 0);
    m->stuck = true;
  }
  return worst;
}

static yw_vec3 longer(yw_vec3 a, yw_vec3 b) {
  return yw_length2(b) > yw_length2(a) ? b : a;
}

// The longest step of any point of the triangle. f changes by at most twice the
// distance, so most triangles need a single point; the others are cut in four.
static yw_vec3 step_of_triangle(mover *m, yw_vec3 a, yw_vec3 b, yw_vec3 c,
                                int depth) {
  yw_vec3 center = yw_scale(yw_add(yw_add(a, b), c), 1.0f / 3.0f);
  float radius = yw_distance(center, a);
  radius = fmaxf(radius, fmaxf(yw_distance(center, b), yw_distance(center, c)));
  if (!(radius < LARGEST * m->reach))
    return yw_v3(0, 0, 0);
  excess here = excess_at(m, center, fmaxf(m->reach, 2.0f * radius));
  if (here.value + 2.0f * radius <= 0.0f)
    return yw_v3(0, 0, 0);
  if (depth == MAX_DEPTH || radius < FINE * m->gap)
    return here.step;
  yw_vec3 ab = yw_lerp(a, b, 0.5f), bc = yw_lerp(b, c, 0.5f),
          ca = yw_lerp(c, a, 0.5f);
  yw_vec3 step = step_of_triangle(m, ab, bc, ca, depth + 1);
  step = longer(step, step_of_triangle(m, a, ab, ca, depth + 1));
  step = longer(step, step_of_triangle(m, b, bc, ab, depth + 1));
  return longer(step, step_of_triangle(m, c, ca, bc, depth + 1));
}

static void sample_triangle(mover *m, const int32_t *corners) {
  const yw_vec3 *x = m->scene->bodies[m->body].vertices;
  const int32_t v[3] = {m->place[corners[0]], m->place[corners[1]],
                        m->place[corners[2]]};
  if (!m->moved[v[0]] && !m->moved[v[1]] && !m->moved[v[2]])
    return;
  yw_vec3 step = step_of_triangle(m, x[v[0]], x[v[1]], x[v[2]], 0);
  for (int k = 0; k < 3; ++k)
    m->steps[v[k]] = longer(m->steps[v[k]], step);
}

// Every vertex takes its longest step; the length of the longest of all.
static float take_steps(mover *m) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  float longest2 = 0.0f;
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    yw_vec3 step = m->steps[m->place[i]];
    float length2 = yw_length2(step);
    if (!(length2 > 0.0f))
      continue;
    longest2 = fmaxf(longest2, length2);
    body->vertices[i] = yw_add(body->vertices[i], step);
    m->moved[m->place[i]] = true;
  }
  memset(m->steps, 0, sizeof *m->steps * (size_t)body->num_vertices);
  return sqrtf(longest2);
}

// Vertices first, so that triangles only add what their corners cannot know.
static void run_rounds(mover *m) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    for (int32_t i = 0; i < body->num_vertices; ++i) {
      if (m->moved[i])
        m->steps[i] = excess_at(m, body->vertices[i], m->reach).step;
    }
    float longest = take_steps(m);
    for (int32_t t = 0; t < body->num_triangles; ++t) {
      sample_triangle(m, body->triangles + 3 * (size_t)t);
    }
    memset(m->moved, 0, sizeof *m->moved * (size_t)body->num_vertices);
    longest = fmaxf(longest, take_steps(m));
    if (longest < 0.1f * m->gap)
      return;
  }
  m->stuck = true;
}

// Home
// --------------------------------------------------------------------------------------------

// How much farther p is from its own wall than from others; at most 0: it may
// stay. home: the nearest point of its own wall.
static float farther_from_own(const mover *m, yw_vec3 p, yw_vec3 *home) {
  float limit = HOME_REACH * m->reach, own = limit, other = limit, found;
  yw_vec3 normal;
  *home = p;
  for (int32_t k = 0; k < m->num_near; ++k) {
    if (!contains(yw_aabb_pad(m->walls[m->near[k]].box, other), p))
      continue;
    if (yw_wall_distance(&m->walls[m->near[k]].wall, p, other, &found,
                         &normal)) {
      other = fabsf(found);
    }
  }
  if (other >= limit)
    return -limit;
  if (yw_wall_distance(&m->walls[m->body].wall, p, limit, &found, &normal)) {
    own = fabsf(found);
    *home = yw_mad(p, -found, normal);
  }
  return own - other;
}

// The farthest point of the way from home to p that may stay, and all before
// it.
static yw_vec3 go_home(const mover *m, yw_vec3 p, yw_vec3 home) {
  float length = yw_distance(p, home), at = 0.0f;
  yw_vec3 unused, x = home;
  for (int k = 0; k < HOME_STEPS && at < length; ++k) {
    // Both distances change by at most the way.
    float step = 0.5f * (-farther_from_own(m, x, &unused) - 2.0f * m->gap);
    if (step < 0.1f * m->gap)
      break;
    at = fminf(at + step, length);
    x = yw_lerp(home, p, at / length);
  }
  return x;
}

static bool is_bad(const mover *m, yw_vec3 a, yw_vec3 b, yw_vec3 c, int depth) {
  yw_vec3 center = yw_scale(yw_add(yw_add(a, b), c), 1.0f / 3.0f), home;
  float radius = yw_distance(center, a);
  radius = fmaxf(radius, fmaxf(yw_distance(center, b), yw_distance(center, c)));
  float bad = farther_from_own(m, center, &home);
  if (bad > 0.0f)
    return true;
  if (bad + 2.0f * radius <= 0.0f || depth == MAX_DEPTH ||
      radius < FINE * m->gap)
    return false;
  if (!(radius < LARGEST * m->reach))
    return false;
  yw_vec3 ab = yw_lerp(a, b, 0.5f), bc = yw_lerp(b, c, 0.5f),
          ca = yw_lerp(c, a, 0.5f);
  return is_bad(m, ab, bc, ca, depth + 1) || is_bad(m, a, ab, ca, depth + 1) ||
         is_bad(m, b, bc, ab, depth + 1) || is_bad(m, c, ca, bc, depth + 1);
}

// Corners of bad triangles go half of the way; or, where the triangle spans a
// crease of its wall in which another lies, half of the way to one point.
static void send_triangles(mover *m, bool together) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  const yw_vec3 *x = body->vertices;
  for (int32_t t = 0; t < body->num_triangles; ++t) {
    const int32_t *corners = body->triangles + 3 * (size_t)t;
    const int32_t v[3] = {m->place[corners[0]], m->place[corners[1]],
                          m->place[corners[2]]};
    if (!m->moved[v[0]] && !m->moved[v[1]] && !m->moved[v[2]])
      continue;
    if (!is_bad(m, x[v[0]], x[v[1]], x[v[2]], 0))
      continue;
    yw_vec3 home, sum = yw_add(yw_add(x[v[0]], x[v[1]]), x[v[2]]);
    if (together)
      farther_from_own(m, yw_scale(sum, 1.0f / 3.0f), &home);
    for (int k = 0; k < 3; ++k) {
      if (!together)
        farther_from_own(m, x[v[k]], &home);
      m->steps[v[k]] = yw_scale(yw_sub(home, x[v[k]]), 0.5f);
    }
  }
}

static void run_home(mover *m) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  memcpy(m->moved, m->close, sizeof *m->moved * (size_t)body->num_vertices);
  for (int round = 0; round < HOME_ROUNDS; ++round) {
    for (int32_t i = 0; i < body->num_vertices; ++i) {
      yw_vec3 home, p = body->vertices[i];
      if (!m->moved[i] || !(farther_from_own(m, p, &home) > 0.0f))
        continue;
      m->steps[i] = yw_sub(go_home(m, p, home), p);
    }
    take_steps(m);
    send_triangles(m, round >= APART_ROUNDS);
    memset(m->moved, 0, sizeof *m->moved * (size_t)body->num_vertices);
    if (!(take_steps(m) > 0.1f * m->gap))
      return;
  }
}

// What is near
// ------------------------------------------------------------------------------------

static void find_obstacles(mover *m, yw_aabb box) {
  yw_vec3 center = yw_lerp(box.lower, box.upper, 0.5f);
  float radius = yw_distance(center, box.upper);
  for (int32_t k = 0; k < m->scene->num_obstacles; ++k) {
    const yw_shown_obstacle *o = &m->scene->obstacles[k];
    yw_vec3 local = yw_transform_point_inv(o->pose, center);
    if (o->pose.scale * yw_shape_distance(o->shape, local) < radius) {
      m->obstacles[m->num_obstacles++] = k;
    }
  }
}

// Places that others can reach.
static void mark_close(mover *m) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  for (int32_t i = 0; i < body->num_vertices; ++i) {
    yw_vec3 p = body->vertices[i];
    bool close = false;
    for (int32_t k = 0; k < m->num_near && !close; ++k) {
      close = contains(yw_aabb_pad(m->walls[m->near[k]].box, m->reach), p);
    }
    for (int32_t k = 0; k < m->num_obstacles && !close; ++k) {
      const yw_shown_obstacle *o = &m->scene->obstacles[m->obstacles[k]];
      yw_vec3 local = yw_transform_point_inv(o->pose, p);
      close = o->pose.scale * yw_shape_distance(o->shape, local) < m->gap;
    }
    if (close)
      m->close[m->place[i]] = m->moved[m->place[i]] = true;
  }
}

static yw_status find_near(mover *m) {
  const yw_shown_scene *scene = m->scene;
  const yw_shown_body *body = &scene->bodies[m->body];
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < body->num_vertices; ++i)
    box = yw_aabb_grow(box, body->vertices[i]);
  m->num_near = m->num_obstacles = 0;
  yw_status status = YW_OK;
  for (int32_t k = 0; k < scene->num_bodies && status >= 0; ++k) {
    if (k == m->body || m->walls[k].edge <= 0.0f)
      continue;
    if (!yw_aabb_overlap(yw_aabb_pad(m->walls[k].box, m->reach), box))
      continue;
    m->near[m->num_near++] = k;
    status = make_wall(&scene->bodies[k], &m->walls[k]);
  }
  if (status >= 0 && m->num_near > 0)
    status = make_wall(body, &m->walls[m->body]);
  find_obstacles(m, box);
  return status;
}

// All
// ---------------------------------------------------------------------------------------------

static yw_status move_body(mover *m) {
  const yw_shown_body *body = &m->scene->bodies[m->body];
  float edge = m->walls[m->body].edge;
  if (!body->walls || !(edge > 0.0f) || body->num_vertices == 0)
    return YW_OK;
  m->reach = REACH * edge;
  m->gap = GAP * edge;
  yw_status status = find_near(m);
  if (status < 0 || m->num_near + m->num_obstacles == 0)
    return status;
  m->stuck = false;
  m->close = YW_NEW_ARRAY(NULL, bool, body->num_vertices);
  m->moved = YW_NEW_ARRAY(NULL, bool, body->num_vertices);
  m->place = YW_NEW_ARRAY(NULL, int32_t, body->num_vertices);
  m->steps = YW_NEW_ARRAY(NULL, yw_vec3, body->num_vertices);
  if (m->close && m->moved && m->place && m->steps &&
      yw_first_at_positions(NULL, body->num_vertices, body->vertices,
                            m->place)) {
    mark_close(m);
    run_rounds(m);
    if (m->stuck && m->num_near > 0)
      run_home(m);
  } else {
    status = YW_ERR_MEMORY;
  }
  yw_mem_free(NULL, m->close);
  yw_mem_free(NULL, m->moved);
  yw_mem_free(NULL, m->place);
  yw_mem_free(NULL, m->steps);
  return status;
}

yw_status yw_shown_keep_apart(const yw_shown_scene *scene, int32_t body) {
  if (!scene || body < -1 || body >= scene->num_bodies)
    return YW_ERR_INVALID;
  mover m = {.scene = scene};
  m.walls = YW_NEW_ARRAY(NULL, shown_wall, scene->num_bodies);
  m.near = YW_NEW_ARRAY(NULL, int32_t, scene->num_bodies);
  m.obstacles = YW_NEW_ARRAY(NULL, int32_t, scene->num_obstacles);
  bool made = m.walls && m.near && m.obstacles;
  yw_status status = made ? YW_OK : YW_ERR_MEMORY;
  for (int32_t k = 0; k < scene->num_bodies && made; ++k) {
    measure_wall(&scene->bodies[k], &m.walls[k]);
  }
  for (int32_t k = 0; k < scene->num_bodies && status >= 0; ++k) {
    m.body = k;
    if (body < 0 || body == k)
      status = move_body(&m);
  }
  for (int32_t k = 0; k < scene->num_bodies && made; ++k)
    yw_wall_free(&m.walls[k].wall);
  yw_mem_free(NULL, m.walls);
  yw_mem_free(NULL, m.near);
  yw_mem_free(NULL, m.obstacles);
  return status;
}
