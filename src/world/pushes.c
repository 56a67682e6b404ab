// SPDX-License-Identifier: MIT
// Forces and impulses from outside. All end up as impulses per particle, which the method adds to
// its velocities (yw_method.push).
#include "yawara/force.h"

#include "contact/query.h"
#include "world/world.h"

// Arrays ------------------------------------------------------------------------------------------

static bool has_arrays(const yw_world* world, yw_body* body) {
  int32_t capacity = body->particles.capacity;
  if (!body->pushes) body->pushes = YW_NEW_ARRAY(&world->mem, yw_vec4, capacity);
  if (!body->impulses) body->impulses = YW_NEW_ARRAY(&world->mem, yw_vec4, capacity);
  return body->pushes && body->impulses;
}

static void clear(yw_body* body, yw_vec4* values) {
  memset(values, 0, (size_t)body->particles.capacity * sizeof *values);
}

// Gives the body its `impulses`.
static void push(yw_body* body) {
  yw_particles* p = &body->particles;
  if (body->model->method->push) {
    body->model->method->push(body->state, p, body->impulses);
    return;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 v = yw_mad(yw_xyz(p->vel[i]), p->inv_mass[i], yw_xyz(body->impulses[i]));
    p->vel[i] = yw_v4(v);
  }
}

// Where -------------------------------------------------------------------------------------------

static void add_at(yw_vec4* values, int32_t i, float share, yw_vec3 value) {
  values[i] = yw_v4(yw_mad(yw_xyz(values[i]), share, value));
}

static void add_by_mass(const yw_body* body, yw_vec4* values, yw_vec3 value) {
  const yw_particles* p = &body->particles;
  double mass = 0.0;
  for (int32_t i = 0; i < p->count; ++i) mass += (double)p->mass[i];
  for (int32_t i = 0; i < p->count; ++i) {
    add_at(values, i, (float)((double)p->mass[i] / mass), value);
  }
}

// The particle with the largest score; scores are at least 0.
static int32_t farthest(const yw_body* body, const int32_t* chosen, int32_t count) {
  const yw_vec4* x = body->particles.pos;
  yw_vec3 a = yw_xyz(x[chosen[0]]);
  float best = -1.0f;
  int32_t found = 0;
  for (int32_t i = 0; i < body->particles.count; ++i) {
    yw_vec3 d = yw_sub(yw_xyz(x[i]), a);
    if (count > 1) d = yw_cross(d, yw_sub(yw_xyz(x[chosen[1]]), a));
    float score = yw_length2(d);
    if (count > 2) {
      yw_vec3 n = yw_cross(yw_sub(yw_xyz(x[chosen[1]]), a), yw_sub(yw_xyz(x[chosen[2]]), a));
      score = fabsf(yw_dot(n, yw_sub(yw_xyz(x[i]), a)));
    }
    if (score <= best) continue;
    best = score;
    found = i;
  }
  return found;
}

// Four particles of a rigid body stand for the point: with weights that place it exactly there, the
// force and its moment are those of a force at the point.
static void add_rigidly(const yw_body* body, yw_vec4* values, yw_vec3 point, yw_vec3 value) {
  int32_t chosen[4] = {0};
  double x[4][3], w[4], det = 0.0;
  for (int32_t k = 1; k < 4; ++k) chosen[k] = farthest(body, chosen, k);
  for (int k = 0; k < 4; ++k) {
    yw_vec3 d = yw_sub(yw_xyz(body->particles.pos[chosen[k]]), point);
    x[k][0] = (double)d.x, x[k][1] = (double)d.y, x[k][2] = (double)d.z;
  }
  // Volumes opposite of the corners.
  for (int k = 0; k < 4; ++k) {
    const double *a = x[(k + 1) % 4], *b = x[(k + 2) % 4], *c = x[(k + 3) % 4];
    w[k] = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
    if (k % 2 == 1) w[k] = -w[k];
    det += w[k];
  }
  for (int k = 0; k < 4; ++k) add_at(values, chosen[k], (float)(w[k] / det), value);
}

static bool add_nearby(const yw_body* body, yw_vec4* values, yw_vec3 point, float radius,
                       yw_vec3 value) {
  const yw_particles* p = &body->particles;
  double sum = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1 && !(sum > 0.0)) return false;
    for (int32_t i = 0; i < p->count; ++i) {
      float far2 = yw_length2(yw_sub(yw_xyz(p->pos[i]), point));
      if (!(far2 < radius * radius)) continue;
      double weight = (double)p->mass[i] * (1.0 - (double)far2 / ((double)radius * (double)radius));
      if (pass == 0) sum += weight;
      if (pass == 1) add_at(values, i, (float)(weight / sum), value);
    }
  }
  return true;
}

static bool add_to_nearest(yw_world* world, yw_body* body, yw_vec4* values, yw_vec3 point,
                           yw_vec3 value) {
  const yw_query_surface* s = yw_body_query_surface(world, body);
  if (!s) return false;
  yw_query_find found = yw_query_nearest(s, point, INFINITY);
  if (found.item < 0) return true;
  for (int32_t k = 0; k < s->corners; ++k) {
    add_at(values, s->items[s->corners * found.item + k], found.weights[k], value);
  }
  return true;
}

static yw_status add_at_point(yw_world* world, yw_body* body, yw_vec4* values, yw_vec3 point,
                              float radius, yw_vec3 value) {
  if (body->model->method->rigid_motion) {
    add_rigidly(body, values, point, value);
    return YW_OK;
  }
  if (add_nearby(body, values, point, radius, value)) return YW_OK;
  return add_to_nearest(world, body, values, point, value) ? YW_OK : YW_ERR_MEMORY;
}

static bool are_vertices(const yw_body* body, const int32_t* vertices, const yw_vec3* values,
                         int32_t count) {
  if (count < 0 || (count > 0 && (!vertices || !values))) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (vertices[i] < 0 || vertices[i] >= body->particles.count) return false;
    if (!yw_is_finite3(values[i])) return false;
  }
  return true;
}

static void add_to_vertices(const yw_body* body, yw_vec4* values, const int32_t* vertices,
                            const yw_vec3* each, int32_t count) {
  const int32_t* table = yw_body_vertex_table(body);
  for (int32_t i = 0; i < count; ++i) {
    add_at(values, table ? table[vertices[i]] : vertices[i], 1.0f, each[i]);
  }
}

// The caller's side -------------------------------------------------------------------------------

// Impulses are collected, given and shown; forces are added to what acts in the next step.
static yw_body* begin(yw_world* world, yw_body_id id, bool impulse, yw_vec4** values,
                      yw_status* status) {
  yw_body* body = yw_world_find_body(world, id);
  *status = body ? YW_OK : YW_ERR_INVALID;
  if (body && !has_arrays(world, body)) *status = YW_ERR_MEMORY;
  if (*status < 0) return NULL;
  if (impulse) clear(body, body->impulses);
  if (!impulse && !body->is_pushed) clear(body, body->pushes);
  *values = impulse ? body->impulses : body->pushes;
  return body;
}

static yw_status finish(yw_world* world, yw_body* body, bool impulse, yw_status status) {
  if (status < 0) return status;
  yw_body_rouse(body);
  if (!impulse) {
    body->is_pushed = true;
  } else if (!body->diverged) {
    push(body);
    yw_body_show(world, body);
  }
  return YW_OK;
}

static yw_status add_to_body(yw_world* world, yw_body_id id, yw_vec3 value, bool impulse) {
  yw_vec4* values;
  yw_status status = YW_ERR_INVALID;
  yw_body* body = yw_is_finite3(value) ? begin(world, id, impulse, &values, &status) : NULL;
  if (!body) return status;
  add_by_mass(body, values, value);
  return finish(world, body, impulse, YW_OK);
}

static yw_status add_near(yw_world* world, yw_body_id id, yw_vec3 point, float radius,
                          yw_vec3 value, bool impulse) {
  yw_vec4* values;
  yw_status status = YW_ERR_INVALID;
  bool good = yw_is_finite3(value) && yw_is_finite3(point) && radius >= 0.0f && isfinite(radius);
  yw_body* body = good ? begin(world, id, impulse, &values, &status) : NULL;
  if (!body) return status;
  return finish(world, body, impulse, add_at_point(world, body, values, point, radius, value));
}

static yw_status add_each(yw_world* world, yw_body_id id, const int32_t* vertices,
                          const yw_vec3* each, int32_t count, bool impulse) {
  yw_vec4* values;
  yw_status status;
  yw_body* body = begin(world, id, impulse, &values, &status);
  if (!body) return status;
  if (!are_vertices(body, vertices, each, count)) return YW_ERR_INVALID;
  add_to_vertices(body, values, vertices, each, count);
  return finish(world, body, impulse, YW_OK);
}

yw_status yw_body_add_impulse(yw_world* world, yw_body_id id, yw_vec3 impulse) {
  return add_to_body(world, id, impulse, true);
}
yw_status yw_body_add_force(yw_world* world, yw_body_id id, yw_vec3 force) {
  return add_to_body(world, id, force, false);
}
yw_status yw_body_add_impulse_at(yw_world* world, yw_body_id id, yw_vec3 point, float radius,
                                 yw_vec3 impulse) {
  return add_near(world, id, point, radius, impulse, true);
}
yw_status yw_body_add_force_at(yw_world* world, yw_body_id id, yw_vec3 point, float radius,
                               yw_vec3 force) {
  return add_near(world, id, point, radius, force, false);
}
yw_status yw_body_add_vertex_impulses(yw_world* world, yw_body_id id, const int32_t* vertices,
                                      const yw_vec3* impulses, int32_t count) {
  return add_each(world, id, vertices, impulses, count, true);
}
yw_status yw_body_add_vertex_forces(yw_world* world, yw_body_id id, const int32_t* vertices,
                                    const yw_vec3* forces, int32_t count) {
  return add_each(world, id, vertices, forces, count, false);
}

// Surfaces ----------------------------------------------------------------------------------------

// A piece of surface: its middle, its area times its normal (0: no side, then `area` alone), and
// the particles that share what acts on it.
typedef struct patch {
  yw_vec3 middle, velocity, across;  // across: area vector of a triangle, or axis of a rod
  float area;
  int32_t corners, particles[3];
  bool one_sided;
} patch;

typedef yw_vec3 (*patch_visit)(const void* context, const patch* patch);

// Adds what `visit` says acts on every piece of the surface to the body's impulses.
static void visit_patches(yw_body* body, patch_visit visit, const void* context) {
  const yw_particles* p = &body->particles;
  yw_contact_geometry g = body->model->method->contact_geometry(body->state);
  int32_t corners = g.num_triangles > 0 ? 3 : g.num_segments > 0 ? 2 : 1;
  int32_t count = corners == 3 ? g.num_triangles : corners == 2 ? g.num_segments : p->count;
  if (corners == 1 && !g.radius) return;
  for (int32_t i = 0; i < count; ++i) {
    patch t = {.corners = corners, .one_sided = corners == 3 && g.num_tets > 0};
    for (int32_t k = 0; k < corners; ++k) {
      int32_t n = corners == 3 ? g.triangles[3 * i + k] : corners == 2 ? g.segments[2 * i + k] : i;
      t.particles[k] = n;
      t.middle = yw_mad(t.middle, 1.0f / (float)corners, yw_xyz(p->pos[n]));
      t.velocity = yw_mad(t.velocity, 1.0f / (float)corners, yw_xyz(p->vel[n]));
    }
    yw_vec3 a = yw_xyz(p->pos[t.particles[0]]);
    if (corners > 1) t.across = yw_sub(yw_xyz(p->pos[t.particles[1]]), a);
    if (corners == 3) {
      yw_vec3 other = yw_sub(yw_xyz(p->pos[t.particles[2]]), a);
      t.across = yw_scale(yw_cross(t.across, other), 0.5f);
    } else {
      float r = g.radius[t.particles[0]];
      t.area = corners == 2 ? 2.0f * r : 3.14159265f * r * r;
    }
    yw_vec3 impulse = visit(context, &t);
    for (int32_t k = 0; k < corners; ++k) {
      add_at(body->impulses, t.particles[k], 1.0f / (float)corners, impulse);
    }
  }
}

// Area of a piece as seen along a unit vector.
static float seen_area(const patch* t, yw_vec3 along) {
  if (t->corners == 3) {
    float facing = -yw_dot(t->across, along);
    return t->one_sided ? fmaxf(facing, 0.0f) : fabsf(facing);
  }
  return t->corners == 2 ? t->area * yw_length(yw_cross(t->across, along)) : t->area;
}

// Explosions --------------------------------------------------------------------------------------

yw_explosion_def yw_default_explosion_def(void) { return (yw_explosion_def){.mask = UINT32_MAX}; }

static yw_vec3 blast(const void* context, const patch* t) {
  const yw_explosion_def* def = context;
  yw_vec3 way = yw_sub(t->middle, def->center);
  float far = yw_length(way);
  if (!(far < def->radius) || !(far > 0.0f)) return yw_v3(0, 0, 0);
  yw_vec3 along = yw_scale(way, 1.0f / far);
  return yw_scale(along, def->impulse * (1.0f - far / def->radius) * seen_area(t, along));
}

yw_status yw_world_explode(yw_world* world, const yw_explosion_def* def) {
  if (!world || !def || !yw_is_finite3(def->center) || !(def->radius > 0.0f) ||
      !isfinite(def->radius) || !isfinite(def->impulse)) {
    return YW_ERR_INVALID;
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (yw_body_takes_part(body) && !has_arrays(world, body)) return YW_ERR_MEMORY;
  }
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!yw_body_takes_part(body) || !(body->groups & def->mask)) continue;
    clear(body, body->impulses);
    visit_patches(body, blast, def);
    yw_body_rouse(body);
    push(body);
    yw_body_show(world, body);
  }
  return YW_OK;
}

// Wind --------------------------------------------------------------------------------------------

yw_wind_def yw_default_wind_def(void) {
  return (yw_wind_def){.density = 1.2f, .drag = 1.0f, .size = 1.0f};
}

yw_status yw_world_set_wind(yw_world* world, const yw_wind_def* def) {
  if (!world) return YW_ERR_INVALID;
  if (def && (!yw_is_finite3(def->velocity) || !(def->density >= 0.0f) || !isfinite(def->density) ||
              !(def->drag >= 0.0f) || !isfinite(def->drag) || !(def->turbulence >= 0.0f) ||
              !isfinite(def->turbulence) ||
              (def->turbulence > 0.0f && (!(def->size > 0.0f) || !isfinite(def->size))))) {
    return YW_ERR_INVALID;
  }
  world->wind = def ? *def : (yw_wind_def){0};
  world->wind_velocity = world->wind.velocity;
  yw_world_wake_all(world);
  return YW_OK;
}

typedef struct gust {
  const yw_world* world;
  const yw_particles* particles;
  float h;
} gust;

// Drag over h. Against light surfaces it would overshoot: the speed against the air then falls as
// an implicit step would have it.
static yw_vec3 drag(const void* context, const patch* t) {
  const gust* g = context;
  const yw_wind_def* wind = &g->world->wind;
  yw_vec3 u = yw_sub(yw_world_wind(g->world, t->middle), t->velocity);
  float speed = yw_length(u), mass = 0.0f;
  if (!(speed > 0.0f)) return yw_v3(0, 0, 0);
  float area = seen_area(t, yw_scale(u, 1.0f / speed));
  float rate = 0.5f * wind->density * wind->drag * area * speed * g->h;
  for (int32_t k = 0; k < t->corners; ++k) mass += g->particles->mass[t->particles[k]];
  return yw_scale(u, rate / (1.0f + rate / mass));
}

// The step ----------------------------------------------------------------------------------------

static bool has_wind(const yw_world* world) {
  return world->wind.density > 0.0f && world->wind.drag > 0.0f;
}

bool yw_pushes_begin_step(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count && has_wind(world); ++i) {
    if (!has_arrays(world, &world->bodies.items[world->body_order.items[i]])) return false;
  }
  return true;
}

void yw_pushes_apply(yw_world* world, bool lockstep, float h) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    bool blown = has_wind(world);
    if (!yw_body_takes_part(body) || body->lockstep != lockstep) continue;
    if ((!blown && !body->is_pushed) || body->asleep) continue;
    clear(body, body->impulses);
    for (int32_t k = 0; body->is_pushed && k < body->particles.count; ++k) {
      body->impulses[k] = yw_v4(yw_scale(yw_xyz(body->pushes[k]), h));
    }
    gust g = {world, &body->particles, h};
    if (blown) visit_patches(body, drag, &g);
    push(body);
    body->forces.is_current = false;
  }
}

void yw_pushes_end_step(yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    world->bodies.items[world->body_order.items[i]].is_pushed = false;
  }
}
