// SPDX-License-Identifier: MIT
// A small world for contact tests: boxes of tets with plain shape matching, obstacles, and the
// contact step. Independent of the real methods, so that a failure points to contact.
#ifndef YW_TESTS_SUPPORT_CONTACT_SCENE_H
#define YW_TESTS_SUPPORT_CONTACT_SCENE_H

#include "contact/bodies.h"
#include "contact/obstacles.h"
#include "math/small/polar.h"
#include "support/testing.h"
#include "yawara/extend/memory.h"
#include "yawara/mesh.h"

#define MAX_OBSTACLES 8

typedef struct soft_body {
  yw_tet_mesh mesh;
  yw_tri_mesh surface;
  int32_t* surface_map;
  int32_t* triangles;
  yw_particles particles;
  yw_vec3* goal_rest;  // rest positions relative to the centre of mass
  yw_vec4* old_pos;
  float alpha, damping;
  float* radius;  // sphere bodies only
} soft_body;

typedef struct contact_scene {
  soft_body* bodies;
  yw_contact_body* contact_bodies;
  int32_t num_bodies, capacity;
  yw_obstacle obstacles[MAX_OBSTACLES];
  yw_obstacle_set set;
  yw_method_report report;
  yw_step_ctx ctx;
  yw_points* contacts;
  int32_t iterations, num_contacts;
} contact_scene;

static inline contact_scene* scene_create(int32_t capacity, float h) {
  contact_scene* s = calloc(1, sizeof *s);
  s->bodies = calloc((size_t)capacity, sizeof *s->bodies);
  s->contact_bodies = calloc((size_t)capacity, sizeof *s->contact_bodies);
  s->capacity = capacity;
  s->iterations = 4;
  yw_vec3 gravity = yw_v3(0.0f, -9.81f, 0.0f);
  s->set = (yw_obstacle_set){.items = s->obstacles, .h = h, .gravity = gravity};
  s->ctx = (yw_step_ctx){.h = h, .gravity = gravity, .obstacles = &s->set, .report = &s->report};
  s->ctx.simd = yw_simd_resolve(YW_SIMD_AUTO);
  s->contacts = yw_points_create(NULL);
  return s;
}

static inline void scene_destroy(contact_scene* s) {
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    soft_body* b = &s->bodies[i];
    yw_tet_mesh_free(&b->mesh);
    yw_tri_mesh_free(&b->surface);
    yw_mem_free(NULL, b->surface_map);
    free(b->triangles);
    free(b->goal_rest);
    free(b->old_pos);
    free(b->radius);
    yw_particles_free(NULL, &b->particles);
  }
  for (int32_t i = 0; i < s->set.count; ++i) yw_shape_release((yw_shape*)s->obstacles[i].shape);
  yw_points_destroy(s->contacts);
  yw_tasks_destroy(s->ctx.tasks);
  free(s->bodies);
  free(s->contact_bodies);
  free(s);
}

static inline void scene_set_gravity(contact_scene* s, yw_vec3 gravity) {
  s->ctx.gravity = s->set.gravity = gravity;
}

static inline void scene_add_plane(contact_scene* s, yw_vec3 normal, float offset, float friction) {
  yw_shape* plane;
  assert_int_equal(yw_shape_plane(NULL, normal, offset, &plane), YW_OK);
  yw_obstacle* o = &s->obstacles[s->set.count++];
  *o = (yw_obstacle){.shape = plane,
                     .begin = YW_TRANSFORM_IDENTITY,
                     .end = YW_TRANSFORM_IDENTITY,
                     .friction = friction};
  o->bounds = yw_obstacle_bounds(plane, o->begin, o->end);
}

// Lumped masses at 1000 kg/m^3.
static inline void weigh(soft_body* b) {
  for (int32_t i = 0; i < b->mesh.num_tets; ++i) {
    const int32_t* v = b->mesh.tets + 4 * i;
    const yw_vec3* x = b->mesh.positions;
    yw_vec3 e = yw_sub(x[v[1]], x[v[0]]), f = yw_sub(x[v[2]], x[v[0]]),
            g = yw_sub(x[v[3]], x[v[0]]);
    float mass = 1000.0f / 6.0f * yw_dot(yw_cross(e, f), g);
    for (int k = 0; k < 4; ++k) b->particles.mass[v[k]] += mass / 4.0f;
  }
}

static inline soft_body* add_body(contact_scene* s, int32_t count) {
  assert_true(s->num_bodies < s->capacity);
  soft_body* b = &s->bodies[s->num_bodies];
  assert_true(yw_particles_create(NULL, count, &b->particles));
  b->old_pos = aligned_alloc(64, (size_t)b->particles.capacity * sizeof(yw_vec4));
  b->goal_rest = calloc((size_t)count, sizeof *b->goal_rest);
  b->alpha = 0.6f;
  b->damping = 10.0f;
  s->contact_bodies[s->num_bodies] = (yw_contact_body){.key = (uint64_t)s->num_bodies + 100,
                                                       .particles = &b->particles,
                                                       .friction = 0.4f,
                                                       .body_contact = true};
  ++s->num_bodies;
  return b;
}

// Places all particles and sets everything that depends on the rest pose.
static inline void place_body(soft_body* b, const yw_vec3* rest, yw_transform pose) {
  yw_vec3 center = yw_v3(0, 0, 0);
  float mass = 0.0f;
  for (int32_t i = 0; i < b->particles.count; ++i) {
    b->particles.inv_mass[i] = 1.0f / b->particles.mass[i];
    center = yw_mad(center, b->particles.mass[i], rest[i]);
    mass += b->particles.mass[i];
  }
  for (int32_t i = 0; i < b->particles.count; ++i) {
    b->goal_rest[i] = yw_sub(rest[i], yw_scale(center, 1.0f / mass));
    b->particles.pos[i] = yw_v4(yw_transform_point(pose, rest[i]));
  }
}

// A box centred at its own origin.
static inline int32_t scene_add_box(contact_scene* s, yw_vec3 half, const int32_t cells[3],
                                    yw_transform pose) {
  yw_tet_mesh mesh;
  yw_aabb box = {yw_neg(half), half};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  soft_body* b = add_body(s, mesh.num_vertices);
  b->mesh = mesh;
  assert_int_equal(yw_tet_mesh_surface(&mesh, NULL, &b->surface, &b->surface_map), YW_OK);
  b->triangles = calloc((size_t)b->surface.num_triangles * 3, sizeof(int32_t));
  for (int32_t i = 0; i < 3 * b->surface.num_triangles; ++i) {
    b->triangles[i] = b->surface_map[b->surface.triangles[i]];
  }
  weigh(b);
  place_body(b, mesh.positions, pose);
  s->contact_bodies[s->num_bodies - 1].geometry =
      (yw_contact_geometry){.tets = b->mesh.tets,
                            .num_tets = b->mesh.num_tets,
                            .triangles = b->triangles,
                            .num_triangles = b->surface.num_triangles,
                            .surface_particles = b->surface_map,
                            .num_surface_particles = b->surface.num_vertices,
                            .rest = b->mesh.positions};
  return s->num_bodies - 1;
}

static inline yw_transform at(float x, float y, float z) {
  return (yw_transform){{x, y, z}, {0, 0, 0, 1}, 1.0f};
}

static inline yw_transform turned(yw_vec3 position, yw_vec3 axis, double angle) {
  yw_vec3 u = yw_normalize_or(axis, yw_v3(0, 1, 0));
  float s = (float)sin(angle / 2.0), c = (float)cos(angle / 2.0);
  return (yw_transform){position, {s * u.x, s * u.y, s * u.z, c}, 1.0f};
}

// Separate statements: the order in which arguments are evaluated is unspecified.
static inline yw_vec3 random_vector(test_random* random) {
  float x = (float)test_random_in(random, -1, 1);
  float y = (float)test_random_in(random, -1, 1);
  float z = (float)test_random_in(random, -1, 1);
  return yw_v3(x, y, z);
}

// Sums in double --------------------------------------------------------------------------------

typedef struct sums {
  double mass, center[3], momentum[3], angular[3], kinetic;  // angular about the origin
} sums;

static inline sums add_sums(const contact_scene* s, int32_t first, int32_t end) {
  sums t = {0};
  for (int32_t k = first; k < end; ++k) {
    const yw_particles* p = &s->bodies[k].particles;
    for (int32_t i = 0; i < p->count; ++i) {
      double m = (double)p->mass[i];
      double x[3] = {(double)p->pos[i].x, (double)p->pos[i].y, (double)p->pos[i].z};
      double v[3] = {(double)p->vel[i].x, (double)p->vel[i].y, (double)p->vel[i].z};
      t.mass += m;
      for (int d = 0; d < 3; ++d) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        t.center[d] += m * x[d];
        t.momentum[d] += m * v[d];
        t.angular[d] += m * (x[e] * v[f] - x[f] * v[e]);
        t.kinetic += 0.5 * m * v[d] * v[d];
      }
    }
  }
  for (int d = 0; d < 3; ++d) t.center[d] /= t.mass;
  return t;
}

static inline double norm3(const double v[3]) {
  return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline float fastest(const soft_body* b) {
  float speed = 0.0f;
  for (int32_t i = 0; i < b->particles.count; ++i) {
    speed = fmaxf(speed, yw_length(yw_xyz(b->particles.vel[i])));
  }
  return speed;
}

// The step --------------------------------------------------------------------------------------

// Sums of one body in double: rounding must not look like a loss of momentum.
typedef struct rigid_fit {
  yw_vec3 center, velocity, omega;
  yw_mat3 rotation;
} rigid_fit;

static inline rigid_fit fit_rigid(const soft_body* b) {
  const yw_particles* p = &b->particles;
  double mass = 0.0, c[3] = {0}, u[3] = {0}, a[9] = {0}, spin[3] = {0}, inertia[9] = {0};
  for (int32_t i = 0; i < p->count; ++i) {
    const double m = (double)p->mass[i];
    const float *x = &p->pos[i].x, *v = &p->vel[i].x;
    mass += m;
    for (int d = 0; d < 3; ++d) c[d] += m * (double)x[d], u[d] += m * (double)v[d];
  }
  for (int d = 0; d < 3; ++d) c[d] /= mass, u[d] /= mass;
  for (int32_t i = 0; i < p->count; ++i) {
    const double m = (double)p->mass[i];
    const float *x = &p->pos[i].x, *v = &p->vel[i].x, *q = &b->goal_rest[i].x;
    double r[3], w[3], r2 = 0.0;
    for (int d = 0; d < 3; ++d) {
      r[d] = (double)x[d] - c[d], w[d] = (double)v[d] - u[d];
      r2 += r[d] * r[d];
    }
    for (int d = 0; d < 3; ++d) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      spin[d] += m * (r[e] * w[f] - r[f] * w[e]);
      for (int k = 0; k < 3; ++k) {
        a[3 * d + k] += m * r[d] * (double)q[k];
        inertia[3 * d + k] += m * ((d == k ? r2 : 0.0) - r[d] * r[k]);
      }
    }
  }
  double det = 0.0, omega[3] = {0};
  for (int d = 0; d < 3; ++d) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    for (int k = 0; k < 3; ++k) {
      int l = (k + 1) % 3, n = (k + 2) % 3;
      double minor =
          inertia[3 * e + l] * inertia[3 * f + n] - inertia[3 * e + n] * inertia[3 * f + l];
      omega[k] += minor * spin[d];
      if (d == 0) det += inertia[k] * minor;
    }
  }
  rigid_fit fit = {.center = {(float)c[0], (float)c[1], (float)c[2]},
                   .velocity = {(float)u[0], (float)u[1], (float)u[2]}};
  if (det > 0.0) {
    fit.omega = yw_v3((float)(omega[0] / det), (float)(omega[1] / det), (float)(omega[2] / det));
  }
  yw_mat3 m = {{(float)a[0], (float)a[3], (float)a[6]},
               {(float)a[1], (float)a[4], (float)a[7]},
               {(float)a[2], (float)a[5], (float)a[8]}},
          stretch;
  yw_polar(&m, &fit.rotation, &stretch);
  return fit;
}

// Plain shape matching, damping of non-rigid motion, gravity, and the position update.
static inline void match_shape(soft_body* b, float h, yw_vec3 gravity) {
  yw_particles* p = &b->particles;
  rigid_fit fit = fit_rigid(b);
  float keep = 1.0f / (1.0f + b->damping * h);
  for (int32_t i = 0; i < p->count; ++i) {
    b->old_pos[i] = p->pos[i];
    if (p->inv_mass[i] == 0.0f) continue;
    yw_vec3 x = yw_xyz(p->pos[i]), v = yw_xyz(p->vel[i]);
    yw_vec3 rigid = yw_add(fit.velocity, yw_cross(fit.omega, yw_sub(x, fit.center)));
    v = yw_add(rigid, yw_scale(yw_sub(v, rigid), keep));
    yw_vec3 goal = yw_add(fit.center, yw_mul(fit.rotation, b->goal_rest[i]));
    v = yw_mad(v, b->alpha / h, yw_sub(goal, x));
    v = yw_mad(v, h, gravity);
    p->vel[i] = yw_v4(v);
    p->pos[i] = yw_v4(yw_mad(x, h, v));
  }
}

static inline void scene_step(contact_scene* s) {
  s->report.obstacle_contacts = 0;
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    soft_body* b = &s->bodies[i];
    match_shape(b, s->ctx.h, s->ctx.gravity);
    s->ctx.friction = s->contact_bodies[i].friction;
    s->ctx.restitution = s->contact_bodies[i].restitution;
    yw_obstacles_collide(&s->ctx, &b->particles, b->old_pos, b->radius, 0.0f, s->ctx.h);
  }
  assert_int_equal(yw_points_resolve(s->contacts, s->contact_bodies, s->num_bodies, s->ctx.h,
                                     s->ctx.gravity, s->iterations, s->ctx.tasks, &s->num_contacts),
                   YW_OK);
}

#endif
