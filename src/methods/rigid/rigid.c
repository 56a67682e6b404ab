// SPDX-License-Identifier: MIT
// Rigid bodies: the motion is kept in double; particles follow it, for contact, pins and readers.
// The substep itself is in math/small/rigid_solve.c.
#include "methods/rigid/rigid.h"

#include <string.h>

#include "math/small/exponent.h"
#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/timer.h"

// Meetings with obstacles kept for one substep; more are ignored.
#define MAX_MEETINGS 8192
// Solves of one substep, each with the contacts that the one before missed.
#define MAX_SOLVES 8

// Bodies ------------------------------------------------------------------------------------------

static void body_destroy(void* state, yw_particles* particles) {
  rigid_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  YW_LIST_FREE(&mem, &body->anchors);
  yw_mem_free(&mem, body->meetings);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

static yw_status body_create(const void* data, const yw_allocator* mem, void** state,
                             yw_particles* particles, yw_error* error) {
  const rigid_model* model = data;
  *particles = (yw_particles){0};
  *state = NULL;
  rigid_body* body = YW_NEW(mem, rigid_body);
  if (!body) return yw_fail_memory(error, "a rigid body");
  body->mem = yw_mem_or_default(mem);
  body->max_meetings = model->num_balls < MAX_MEETINGS / 4 ? 4 * model->num_balls : MAX_MEETINGS;
  body->meetings = YW_NEW_ARRAY(mem, rigid_meeting, body->max_meetings);
  if (!body->meetings || !yw_particles_create(mem, model->num_particles, particles)) {
    body_destroy(body, particles);
    return yw_fail_memory(error, "a rigid body");
  }
  body->model = model;
  body->params = model->params;
  body->motion.mass = model->mass;
  for (int k = 0; k < 3; ++k) body->motion.moments[k] = model->moments[k];
  for (int32_t i = 0; i < model->num_particles; ++i) {
    particles->pos[i] = yw_v4(model->rest[i]);
    particles->mass[i] = model->particle_mass[i];
    particles->inv_mass[i] = 1.0f / model->particle_mass[i];
  }
  *state = body;
  return YW_OK;
}

void yw_rigid_write(const rigid_body* body, yw_particles* particles) {
  const yw_rigid_motion* m = &body->motion;
  const double* q = m->rotation;
  double r[9], spin[3];
  yw_turn_matrix((yw_turn){q[0], q[1], q[2], q[3]}, r);
  yw_rigid_spin(m, spin);
  for (int32_t i = 0; i < particles->count; ++i) {
    yw_vec3 p = body->model->local[i];
    double x = (double)p.x, y = (double)p.y, z = (double)p.z, arm[3], v[3];
    for (int k = 0; k < 3; ++k) arm[k] = r[3 * k] * x + r[3 * k + 1] * y + r[3 * k + 2] * z;
    yw_cross3(spin, arm, v);
    particles->pos[i] = (yw_vec4){(float)(m->center[0] + arm[0]), (float)(m->center[1] + arm[1]),
                                  (float)(m->center[2] + arm[2]), 0.0f};
    particles->vel[i] = (yw_vec4){(float)(m->velocity[0] + v[0]), (float)(m->velocity[1] + v[1]),
                                  (float)(m->velocity[2] + v[2]), 0.0f};
  }
}

static void follow(void* state, yw_particles* particles) { yw_rigid_write(state, particles); }

static yw_rigid_motion* rigid_motion(void* state) { return &((rigid_body*)state)->motion; }

// Motion of particles -----------------------------------------------------------------------------

// Centre, velocity and angular momentum of particles that somebody else moved.
static void fit_velocities(yw_rigid_motion* m, const yw_particles* p) {
  double mass = 0.0, center[3] = {0}, velocity[3] = {0}, angular[3] = {0};
  for (int32_t i = 0; i < p->count; ++i) {
    double w = (double)p->mass[i];
    const double x[3] = {(double)p->pos[i].x, (double)p->pos[i].y, (double)p->pos[i].z};
    const double v[3] = {(double)p->vel[i].x, (double)p->vel[i].y, (double)p->vel[i].z};
    mass += w;
    for (int k = 0; k < 3; ++k) {
      center[k] += w * x[k];
      velocity[k] += w * v[k];
    }
  }
  for (int k = 0; k < 3; ++k) {
    m->center[k] = center[k] / mass;
    m->velocity[k] = velocity[k] / mass;
  }
  for (int32_t i = 0; i < p->count; ++i) {
    double w = (double)p->mass[i], turning[3];
    const double arm[3] = {(double)p->pos[i].x - m->center[0], (double)p->pos[i].y - m->center[1],
                           (double)p->pos[i].z - m->center[2]};
    const double v[3] = {(double)p->vel[i].x, (double)p->vel[i].y, (double)p->vel[i].z};
    yw_cross3(arm, v, turning);
    for (int k = 0; k < 3; ++k) angular[k] += w * turning[k];
  }
  for (int k = 0; k < 3; ++k) m->angular[k] = angular[k];
}

// The rotation that fits the positions best.
static void invalidate(void* state, const yw_particles* p) {
  rigid_body* body = state;
  yw_rigid_motion* m = &body->motion;
  double a[9] = {0}, r[9], stretch[6];
  fit_velocities(m, p);
  for (int32_t i = 0; i < p->count; ++i) {
    double w = (double)p->mass[i];
    yw_vec3 q = body->model->local[i];
    const double own[3] = {(double)q.x, (double)q.y, (double)q.z};
    const double arm[3] = {(double)p->pos[i].x - m->center[0], (double)p->pos[i].y - m->center[1],
                           (double)p->pos[i].z - m->center[2]};
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) a[3 * j + k] += w * arm[j] * own[k];
    }
  }
  // Thin bodies have unequal moments; equal ones fit the rotation as well, and better conditioned.
  const double* i = m->moments;
  const double spread[3] = {i[1] + i[2] - i[0], i[0] + i[2] - i[1], i[0] + i[1] - i[2]};
  for (int n = 0; n < 9; ++n) a[n] /= spread[n % 3];
  yw_m3_polar(a, r, stretch);
  yw_turn q = yw_turn_from_matrix(r);
  m->rotation[0] = q.x, m->rotation[1] = q.y, m->rotation[2] = q.z, m->rotation[3] = q.w;
  m->num_contacts = m->num_anchors = 0;
  m->held = false;
  yw_rigid_turned(m);
}

static void place(void* state, const yw_particles* particles, yw_quat rotation,
                  yw_vec3 angular_velocity) {
  rigid_body* body = state;
  yw_rigid_motion* m = &body->motion;
  (void)particles;
  yw_turn q = yw_turn_normalize(yw_turn_mul(yw_turn_of(rotation), body->model->axes));
  m->rotation[0] = q.x, m->rotation[1] = q.y, m->rotation[2] = q.z, m->rotation[3] = q.w;
  const double spin[3] = {(double)angular_velocity.x, (double)angular_velocity.y,
                          (double)angular_velocity.z};
  double own[3];
  yw_turn_apply(yw_turn_conjugate(q), spin, own);
  for (int k = 0; k < 3; ++k) own[k] *= m->moments[k];
  yw_turn_apply(q, own, m->angular);
  yw_rigid_turned(m);
}

static void push(void* state, yw_particles* particles, const yw_vec4* impulses) {
  rigid_body* body = state;
  yw_rigid_motion* m = &body->motion;
  for (int32_t i = 0; i < particles->count; ++i) {
    const double impulse[3] = {(double)impulses[i].x, (double)impulses[i].y, (double)impulses[i].z};
    if (impulse[0] == 0.0 && impulse[1] == 0.0 && impulse[2] == 0.0) continue;
    const double arm[3] = {(double)particles->pos[i].x - m->center[0],
                           (double)particles->pos[i].y - m->center[1],
                           (double)particles->pos[i].z - m->center[2]};
    yw_rigid_push(m, arm, impulse);
  }
  yw_rigid_write(body, particles);
}

// Positions and velocities say it all.
static void turn(void* state, yw_quat rotation) { (void)state, (void)rotation; }

static void arm_of(const yw_rigid_motion* m, yw_vec4 at, double out[3]) {
  out[0] = (double)at.x - m->center[0];
  out[1] = (double)at.y - m->center[1];
  out[2] = (double)at.z - m->center[2];
}

// What contact between bodies did to the particles.
typedef struct changes {
  double momentum[3], angular[3], shift[3], turn[3];
  bool any;
} changes;

static void add_change(changes* sum, double mass, const double arm[3], const double moved[3],
                       const double pushed[3]) {
  double turning[3], twisting[3];
  yw_cross3(arm, moved, turning);
  yw_cross3(arm, pushed, twisting);
  for (int k = 0; k < 3; ++k) {
    sum->any = sum->any || moved[k] != 0.0 || pushed[k] != 0.0;
    sum->shift[k] += mass * moved[k];
    sum->turn[k] += mass * turning[k];
    sum->momentum[k] += mass * pushed[k];
    sum->angular[k] += mass * twisting[k];
  }
}

static changes find_changes(const rigid_body* body, const yw_particles* p) {
  const yw_rigid_motion* m = &body->motion;
  const double* q = m->rotation;
  double r[9], spin[3];
  changes sum = {0};
  yw_turn_matrix((yw_turn){q[0], q[1], q[2], q[3]}, r);
  yw_rigid_spin(m, spin);
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 l = body->model->local[i];
    double x = (double)l.x, y = (double)l.y, z = (double)l.z, arm[3], v[3], moved[3], pushed[3];
    for (int k = 0; k < 3; ++k) arm[k] = r[3 * k] * x + r[3 * k + 1] * y + r[3 * k + 2] * z;
    yw_cross3(spin, arm, v);
    const float at[3] = {p->pos[i].x, p->pos[i].y, p->pos[i].z};
    const float speed[3] = {p->vel[i].x, p->vel[i].y, p->vel[i].z};
    for (int k = 0; k < 3; ++k) {
      moved[k] = (double)at[k] - (double)(float)(m->center[k] + arm[k]);
      pushed[k] = (double)speed[k] - (double)(float)(m->velocity[k] + v[k]);
    }
    add_change(&sum, (double)p->mass[i], arm, moved, pushed);
  }
  return sum;
}

// Contact moved single particles; the body takes their momenta, and moves by their mean.
static yw_status fold(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  rigid_body* body = state;
  yw_rigid_motion* m = &body->motion;
  (void)ctx;
  changes sum = find_changes(body, particles);
  if (!sum.any) return YW_OK;
  if (!m->held) {
    double turn[3];
    yw_sym_apply(m->inv_inertia, sum.turn, turn);
    for (int k = 0; k < 3; ++k) {
      m->velocity[k] += sum.momentum[k] / m->mass;
      m->angular[k] += sum.angular[k];
      m->center[k] += sum.shift[k] / m->mass;
    }
    const double* q = m->rotation;
    yw_turn turned =
        yw_turn_normalize(yw_turn_mul(yw_turn_exp(turn), (yw_turn){q[0], q[1], q[2], q[3]}));
    m->rotation[0] = turned.x, m->rotation[1] = turned.y;
    m->rotation[2] = turned.z, m->rotation[3] = turned.w;
    yw_rigid_turned(m);
  }
  yw_rigid_write(body, particles);
  return YW_OK;
}

// The whole body answers.
static yw_status respond(void* state, const yw_particles* p, const yw_step_ctx* ctx,
                         const yw_vec4* impulses, yw_vec4* change) {
  const rigid_body* body = state;
  const yw_rigid_motion* m = &body->motion;
  double sum[3] = {0}, twist[3] = {0}, spin[3], arm[3], turning[3];
  (void)ctx;
  for (int32_t i = 0; i < p->count; ++i) {
    const double j[3] = {(double)impulses[i].x, (double)impulses[i].y, (double)impulses[i].z};
    arm_of(m, p->pos[i], arm);
    yw_cross3(arm, j, turning);
    for (int k = 0; k < 3; ++k) sum[k] += j[k], twist[k] += turning[k];
  }
  yw_sym_apply(m->inv_inertia, twist, spin);
  double inv_mass = m->held ? 0.0 : 1.0 / m->mass;
  for (int32_t i = 0; i < p->count; ++i) {
    arm_of(m, p->pos[i], arm);
    yw_cross3(spin, arm, turning);
    change[i] =
        (yw_vec4){(float)(inv_mass * sum[0] + turning[0]), (float)(inv_mass * sum[1] + turning[1]),
                  (float)(inv_mass * sum[2] + turning[2]), 0.0f};
  }
  return YW_OK;
}

// The step ----------------------------------------------------------------------------------------

static void begin_step(rigid_body* body, const yw_step_ctx* ctx) {
  yw_rigid_motion* m = &body->motion;
  const double g[3] = {(double)ctx->gravity.x, (double)ctx->gravity.y, (double)ctx->gravity.z};
  double keep = (double)yw_expf(-body->params.damping * ctx->h);
  for (int k = 0; k < 3; ++k) {
    m->start_center[k] = m->center[k];
    m->kick[k] = 0.5 * (double)ctx->h * g[k];
    if (body->params.damping > 0.0f) {
      m->velocity[k] *= keep;
      m->angular[k] *= keep;
    }
    m->velocity[k] += m->kick[k];
  }
  for (int k = 0; k < 4; ++k) m->start_rotation[k] = m->rotation[k];
}

static void solve(rigid_body* body, const yw_step_ctx* ctx) {
  yw_rigid_motion* m = &body->motion;
  yw_rigid_find_contacts(body, ctx);
  for (int i = 1;; ++i) {
    body->statistics.sweeps += yw_rigid_solve(&m, 1, (double)ctx->h, NULL);
    if (i == MAX_SOLVES || !yw_rigid_add_missed(body, ctx)) return;
    yw_rigid_restart(m);
  }
}

static yw_status advance(void* state, yw_particles* particles, const yw_step_ctx* ctx) {
  rigid_body* body = state;
  yw_rigid_motion* m = &body->motion;
  yw_status status;
  begin_step(body, ctx);
  m->num_contacts = 0;
  body->statistics = (yw_rigid_statistics){0};
  bool placed = yw_rigid_take_pins(body, ctx, &status);
  if (status < 0) return status;
  if (!placed) {
    double start = ctx->timing ? yw_seconds() : 0.0;
    solve(body, ctx);
    if (ctx->timing && ctx->report) ctx->report->seconds_contact += yw_seconds() - start;
  }
  for (int32_t i = 0; i < m->num_contacts; ++i) {
    body->statistics.contacts += m->contacts[i].impulse > 0.0;
  }
  if (ctx->report) ctx->report->obstacle_contacts += body->statistics.contacts;
  double sum = m->velocity[0] + m->velocity[1] + m->velocity[2];
  sum += m->angular[0] + m->angular[1] + m->angular[2] + m->rotation[0];
  if (!isfinite(sum)) return YW_ERR_DIVERGED;
  yw_rigid_write(body, particles);
  return YW_OK;
}

// Snapshots ---------------------------------------------------------------------------------------

static void save(const void* state, yw_writer* writer) {
  const rigid_body* body = state;
  const yw_rigid_motion* m = &body->motion;
  yw_write_f32(writer, &body->params.damping, 1);
  yw_write_u32(writer, m->held);
  for (int k = 0; k < 3; ++k) yw_write_f64(writer, m->center[k]);
  for (int k = 0; k < 4; ++k) yw_write_f64(writer, m->rotation[k]);
  for (int k = 0; k < 3; ++k) yw_write_f64(writer, m->velocity[k]);
  for (int k = 0; k < 3; ++k) yw_write_f64(writer, m->angular[k]);
}

static void read_doubles(yw_reader* reader, double* out, int count) {
  for (int k = 0; k < count; ++k) {
    out[k] = yw_read_f64(reader);
    if (!isfinite(out[k])) reader->failed = true;
  }
}

static void load(void* state, yw_reader* reader) {
  rigid_body* body = state;
  yw_rigid_motion m = body->motion;
  float damping;
  yw_read_f32(reader, &damping, 1);
  m.held = yw_read_u32(reader) != 0;
  read_doubles(reader, m.center, 3);
  read_doubles(reader, m.rotation, 4);
  read_doubles(reader, m.velocity, 3);
  read_doubles(reader, m.angular, 3);
  const double* q = m.rotation;
  double norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(damping >= 0.0f) || !isfinite(damping) || !(fabs(norm - 1.0) < 1e-6)) reader->failed = true;
  if (reader->failed) return;
  body->params.damping = damping;
  body->motion = m;
  yw_rigid_turned(&body->motion);
}

// Numbers -----------------------------------------------------------------------------------------

static void statistics(const void* state, const yw_particles* particles, yw_statistics* out) {
  const rigid_body* body = state;
  (void)particles;
  double spin[3];
  yw_rigid_spin(&body->motion, spin);
  yw_statistics_add(out, "contacts", "", body->statistics.contacts);
  yw_statistics_add(out, "sweeps", "", body->statistics.sweeps);
  yw_statistics_add(out, "spin", "rad/s", sqrt(yw_dot3(spin, spin)));
}

// Nothing is stored in a rigid body. The particles' velocities are rounded; the difference makes
// the kinetic energy that of the motion.
static yw_method_energy energy(const void* state, const yw_particles* p) {
  const rigid_body* body = state;
  double rounded = 0.0;
  for (int32_t i = 0; i < p->count; ++i) {
    const double v[3] = {(double)p->vel[i].x, (double)p->vel[i].y, (double)p->vel[i].z};
    rounded += 0.5 * (double)p->mass[i] * yw_dot3(v, v);
  }
  return (yw_method_energy){.rotational = yw_rigid_kinetic_energy(&body->motion) - rounded};
}

static yw_status model_surface(const void* model, const yw_allocator* mem, yw_tri_mesh* out) {
  return yw_tri_mesh_copy(&((const rigid_model*)model)->shown, mem, out);
}

static void surface_positions(const void* state, const yw_particles* particles, yw_vec3* out) {
  const rigid_body* body = state;
  (void)particles;
  for (int32_t i = 0; i < body->model->shown.num_vertices; ++i) {
    yw_vec3 p = body->model->shown_local[i];
    double local[3] = {(double)p.x, (double)p.y, (double)p.z}, at[3];
    yw_rigid_point(&body->motion, local, at);
    out[i] = yw_v3((float)at[0], (float)at[1], (float)at[2]);
  }
}

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const rigid_model*)model)->hash; }

static int32_t model_num_particles(const void* model) {
  return ((const rigid_model*)model)->num_particles;
}

static const yw_vec3* model_points(const void* model) { return ((const rigid_model*)model)->rest; }

static yw_contact_geometry contact_geometry(const void* state) {
  const rigid_model* model = ((const rigid_body*)state)->model;
  return (yw_contact_geometry){.tets = model->tets,
                               .num_tets = model->num_tets,
                               .triangles = model->triangles,
                               .num_triangles = model->num_triangles,
                               .surface_particles = model->surface,
                               .num_surface_particles = model->num_surface,
                               .rest = model->rest};
}

// What tracks may change over time.
static const yw_parameter tracked[] = {{"damping", offsetof(yw_rigid_params, damping)}};
_Static_assert(sizeof(yw_rigid_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  memcpy(out, &((const rigid_body*)state)->params, sizeof(yw_rigid_params));
}

static yw_status set_params(void* state, const void* params) {
  yw_rigid_params wanted;
  memcpy(&wanted, params, sizeof wanted);
  if (!(wanted.damping >= 0.0f) || !isfinite(wanted.damping)) return YW_ERR_INVALID;
  ((rigid_body*)state)->params = wanted;
  return YW_OK;
}

const yw_method yw_rigid_method = {
    .name = "rigid",
    .model_destroy = yw_rigid_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .model_points = model_points,
    .body_create = body_create,
    .body_destroy = body_destroy,
    .advance = advance,
    .fold = fold,
    .respond = respond,
    .invalidate = invalidate,
    .push = push,
    .turn = turn,
    .place = place,
    .contact_geometry = contact_geometry,
    .save = save,
    .load = load,
    .model_surface = model_surface,
    .surface_positions = surface_positions,
    .statistics = statistics,
    .energy = energy,
    .rigid_motion = rigid_motion,
    .follow = follow,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
};
