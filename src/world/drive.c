// SPDX-License-Identifier: MIT
// Measures that tracks follow: measuring, delay and smoothing.
#include "world/drive.h"

#include <string.h>

#include "contact/surface.h"
#include "math/small/mat3d.h"
#include "world/obstacle_query.h"
#include "world/world.h"
#include "yawara/extend/error.h"

#define MAX_SECONDS 1e6f

// Sums over the particles that are measured -------------------------------------------------------

typedef struct part_sums {
  double mass, center[3], momentum[3];
} part_sums;

// Particle i of those that are measured; -1: it is not there any more.
static int32_t particle_at(const yw_drive* drive, const yw_particles* p, int32_t i) {
  int32_t n = drive->particles ? drive->particles[i] : i;
  return n < p->count ? n : -1;
}

static int32_t num_measured(const yw_drive* drive, const yw_particles* p) {
  return drive->particles ? drive->num_particles : p->count;
}

static part_sums sum_up(const yw_drive* drive, const yw_particles* p) {
  part_sums sums = {0};
  for (int32_t i = 0; i < num_measured(drive, p); ++i) {
    int32_t n = particle_at(drive, p, i);
    if (n < 0) continue;
    double m = (double)p->mass[n];
    sums.mass += m;
    for (int k = 0; k < 3; ++k) {
      sums.center[k] += m * (double)(&p->pos[n].x)[k];
      sums.momentum[k] += m * (double)(&p->vel[n].x)[k];
    }
  }
  for (int k = 0; k < 3 && sums.mass > 0.0; ++k) sums.center[k] /= sums.mass;
  return sums;
}

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// Measures ----------------------------------------------------------------------------------------

// Points on a line have no inertia about it; they get a little, so that the rest can be solved for.
static double spin_of(const yw_drive* drive, const yw_particles* p) {
  part_sums sums = sum_up(drive, p);
  double turn[3] = {0}, inertia[6] = {0}, inverse[6], spin[3];
  for (int32_t i = 0; i < num_measured(drive, p); ++i) {
    int32_t n = particle_at(drive, p, i);
    if (n < 0) continue;
    double m = (double)p->mass[n], x[3], v[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = (double)(&p->pos[n].x)[k] - sums.center[k];
      v[k] = (double)(&p->vel[n].x)[k];
    }
    double xx = x[0] * x[0], yy = x[1] * x[1], zz = x[2] * x[2];
    const double add[6] = {yy + zz, xx + zz, xx + yy, -x[0] * x[1], -x[0] * x[2], -x[1] * x[2]};
    for (int k = 0; k < 6; ++k) inertia[k] += m * add[k];
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      turn[k] += m * (x[a] * v[b] - x[b] * v[a]);
    }
  }
  double trace = inertia[0] + inertia[1] + inertia[2];
  for (int k = 0; k < 3; ++k) inertia[k] += 1e-6 * trace;
  if (!(trace > 0.0) || !(yw_sym_invert(inertia, inverse) > 0.0)) return 0.0;
  yw_sym_apply(inverse, turn, spin);
  return length_of(spin);
}

static float distance_to_body(const yw_body* other, yw_vec3 from) {
  if (!yw_body_takes_part(other)) return INFINITY;
  yw_contact_geometry g = other->model->method->contact_geometry(other->state);
  const yw_vec4* x = other->particles.pos;
  float nearest = INFINITY;
  for (int32_t t = 0; t < g.num_triangles; ++t) {
    const int32_t* v = g.triangles + 3 * (size_t)t;
    float weights[3], radius = 0.0f;
    yw_vec3 at =
        yw_nearest_on_triangle(from, yw_xyz(x[v[0]]), yw_xyz(x[v[1]]), yw_xyz(x[v[2]]), weights);
    for (int k = 0; g.radius && k < 3; ++k) radius += weights[k] * g.radius[v[k]];
    nearest = fminf(nearest, yw_distance(from, at) - radius);
  }
  for (int32_t n = 0; g.num_triangles == 0 && n < other->particles.count; ++n) {
    float radius = g.radius ? g.radius[n] : 0.0f;
    nearest = fminf(nearest, yw_distance(from, yw_xyz(x[n])) - radius);
  }
  return nearest;
}

static float distance_of(const yw_world* world, const yw_drive* drive, const yw_particles* p,
                         double time) {
  part_sums sums = sum_up(drive, p);
  yw_vec3 from = {(float)sums.center[0], (float)sums.center[1], (float)sums.center[2]};
  if (drive->aim == YW_DRIVE_TO_POINT) return yw_distance(from, drive->point);
  if (drive->aim == YW_DRIVE_TO_BODY) {
    return distance_to_body(&world->bodies.items[drive->other], from);
  }
  const yw_world_obstacle* o = &world->obstacles.items[drive->other];
  yw_obstacle_view view = {o->shape, o->mesh ? &o->mesh->mesh : NULL, yw_obstacle_pose_at(o, time)};
  return yw_obstacle_nearest(&view, from).distance;
}

// Where a pin pulls its particle k.
static yw_vec3 target_of(const yw_pin* pin, int32_t k, double time, yw_vec3 now) {
  if (pin->follow) return yw_follow_near(pin->follow, k, time, now, pin->follow->reach);
  yw_motion motion = pin->by_hand ? pin->hand_begin : yw_path_at(&pin->path, time);
  return yw_motion_apply(motion, pin->path.pivot, pin->placed[k]);
}

static double pull_of(const yw_world* world, const yw_pin* pin, double time) {
  const yw_particles* p = &world->bodies.items[pin->body].particles;
  double sum[3] = {0};
  for (int32_t k = 0; k < pin->num_particles; ++k) {
    if (pin->particles[k] >= p->count) continue;
    yw_vec3 now = yw_xyz(p->pos[pin->particles[k]]);
    yw_vec3 way = yw_sub(target_of(pin, k, time, now), now);
    double stiffness = (double)(pin->strength * yw_pin_stiffness(pin, k));
    for (int c = 0; c < 3; ++c) sum[c] += stiffness * (double)(&way.x)[c];
  }
  return length_of(sum);
}

static double strain_energy(const yw_body* body) {
  const yw_method* method = body->model->method;
  if (method->strain_energy) return method->strain_energy(body->state, &body->particles);
  return method->energy ? method->energy(body->state, &body->particles).elastic : NAN;
}

static double measure(const yw_world* world, const yw_drive* drive, double time) {
  const yw_body* body = &world->bodies.items[drive->body];
  const yw_particles* p = &body->particles;
  part_sums sums;
  switch (drive->by) {
    case YW_DRIVE_SPEED:
      sums = sum_up(drive, p);
      return sums.mass > 0.0 ? length_of(sums.momentum) / sums.mass : 0.0;
    case YW_DRIVE_SPIN:
      return spin_of(drive, p);
    case YW_DRIVE_HEIGHT:
      return sum_up(drive, p).center[1];
    case YW_DRIVE_DISTANCE:
      return (double)distance_of(world, drive, p, time);
    case YW_DRIVE_HANDLE:
      return pull_of(world, &world->pins.items[drive->other], time);
    case YW_DRIVE_CONTACT:
      return (double)drive->force;
    case YW_DRIVE_ENERGY:
      return strain_energy(body);
  }
  return 0.0;
}

// Delay and smoothing -----------------------------------------------------------------------------

static void keep_sample(yw_drive* drive, double time, float value) {
  double apart = (double)drive->delay / (YW_DRIVE_SAMPLES - 4);
  if (drive->num_samples > 0 && time - drive->times[drive->newest] < apart) return;
  drive->newest = drive->num_samples > 0 ? (drive->newest + 1) % YW_DRIVE_SAMPLES : 0;
  drive->times[drive->newest] = time;
  drive->samples[drive->newest] = value;
  if (drive->num_samples < YW_DRIVE_SAMPLES) ++drive->num_samples;
}

// The value a delay ago; before the first sample, that one.
static float delayed(yw_drive* drive, double time, float now) {
  if (drive->delay == 0.0f) return now;
  keep_sample(drive, time, now);
  double then = time - (double)drive->delay, later_time = time;
  float later = now;
  for (int32_t k = 0; k < drive->num_samples; ++k) {
    int32_t i = (drive->newest - k + YW_DRIVE_SAMPLES) % YW_DRIVE_SAMPLES;
    if (drive->times[i] <= then) {
      double span = later_time - drive->times[i];
      float t = span > 0.0 ? (float)((then - drive->times[i]) / span) : 0.0f;
      return drive->samples[i] + t * (later - drive->samples[i]);
    }
    later = drive->samples[i];
    later_time = drive->times[i];
  }
  return later;
}

static float level_of(const yw_drive* drive, double value) {
  double share = (value - (double)drive->from) / ((double)drive->to - (double)drive->from);
  return share >= 1.0 ? 1.0f : share > 0.0 ? (float)share : 0.0f;
}

void yw_drive_update(const yw_world* world, yw_drive* drive, double time, float h) {
  float wanted = delayed(drive, time, level_of(drive, measure(world, drive, time)));
  drive->level += h / (h + drive->smooth) * (wanted - drive->level);
  const yw_body_balance* forces = &world->bodies.items[drive->body].forces;
  for (int k = 0; k < 3; ++k) drive->noted[k] = forces->obstacles[k] + forces->contact[k];
}

void yw_drive_note_substep(const yw_world* world, yw_drive* drive, float h) {
  // Others must not depend on whether forces are recorded for somebody else.
  if (drive->by != YW_DRIVE_CONTACT) return;
  const yw_body_balance* forces = &world->bodies.items[drive->body].forces;
  double impulse[3];
  for (int k = 0; k < 3; ++k) {
    impulse[k] = forces->obstacles[k] + forces->contact[k] - drive->noted[k];
  }
  drive->force = (float)(length_of(impulse) / (double)h);
}

// Creating ----------------------------------------------------------------------------------------

yw_drive_def yw_default_drive_def(void) { return (yw_drive_def){.to = 1.0f}; }

static yw_status check_numbers(const yw_drive_def* def, yw_error* error) {
  if (def->by < YW_DRIVE_SPEED || def->by > YW_DRIVE_ENERGY) {
    return yw_fail(error, YW_ERR_INVALID, "drive: measure %d is not known", (int)def->by);
  }
  if (!isfinite(def->from) || !isfinite(def->to) || def->from == def->to) {
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: from is %g and to is %g, but they must be finite and differ",
                   (double)def->from, (double)def->to);
  }
  if (!(def->smooth >= 0.0f && def->smooth <= MAX_SECONDS) ||
      !(def->delay >= 0.0f && def->delay <= MAX_SECONDS)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: smooth is %g s and delay %g s, but they must be between 0 and %g",
                   (double)def->smooth, (double)def->delay, (double)MAX_SECONDS);
  }
  if (!yw_is_finite3(def->point)) {
    return yw_fail(error, YW_ERR_INVALID, "drive: the point is not finite");
  }
  return YW_OK;
}

static yw_status find_others(const yw_world* world, const yw_drive_def* def, int64_t pin,
                             yw_drive* drive, yw_error* error) {
  bool to_body = def->other.index1 != 0, to_obstacle = def->obstacle.index1 != 0;
  if (def->by == YW_DRIVE_HANDLE) {
    const yw_pin* handle = def->pin.index1 != 0 ? YW_SLOT_FIND(&world->pins, def->pin)
                           : pin >= 0           ? &world->pins.items[pin]
                                                : NULL;
    if (!handle) return yw_fail(error, YW_ERR_INVALID, "drive: the pin does not exist");
    drive->other = def->pin.index1 != 0 ? def->pin.index1 - 1 : (uint32_t)pin;
    if (handle->follow || handle->stiffness > 0.0f) return YW_OK;
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: the pin holds its vertices exactly, so that its force is not known; "
                   "give it a spring");
  }
  if (def->by != YW_DRIVE_DISTANCE) return YW_OK;
  if (to_body && to_obstacle) {
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: the distance is to a body or to an obstacle, not to both");
  }
  if ((to_body && !YW_SLOT_FIND(&world->bodies, def->other)) ||
      (to_obstacle && !YW_SLOT_FIND(&world->obstacles, def->obstacle))) {
    return yw_fail(error, YW_ERR_INVALID, "drive: the %s that it looks at does not exist",
                   to_body ? "body" : "obstacle");
  }
  drive->aim = to_body ? YW_DRIVE_TO_BODY : to_obstacle ? YW_DRIVE_TO_OBSTACLE : YW_DRIVE_TO_POINT;
  drive->other = to_body ? def->other.index1 - 1 : to_obstacle ? def->obstacle.index1 - 1 : 0;
  return YW_OK;
}

static yw_status take_vertices(yw_world* world, const yw_drive_def* def, yw_drive* drive,
                               yw_error* error) {
  const yw_body* body = &world->bodies.items[drive->body];
  const int32_t* table = yw_body_vertex_table(body);
  if (def->num_vertices == 0) return YW_OK;
  if (def->by > YW_DRIVE_DISTANCE) {
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: only speed, spin, height and distance can be those of some vertices");
  }
  if (def->num_vertices < 0 || !def->vertices) {
    return yw_fail(error, YW_ERR_INVALID, "drive: vertices are missing");
  }
  drive->particles = YW_NEW_ARRAY(&world->mem, int32_t, def->num_vertices);
  if (!drive->particles) return yw_fail_memory(error, "a drive");
  drive->num_particles = def->num_vertices;
  for (int32_t i = 0; i < def->num_vertices; ++i) {
    int32_t v = def->vertices[i];
    if (v < 0 || v >= body->particles.count) {
      return yw_fail(error, YW_ERR_INVALID, "drive: vertex %d, but \"%s\" has %d", (int)v,
                     body->name, (int)body->particles.count);
    }
    drive->particles[i] = table ? table[v] : v;
  }
  return YW_OK;
}

static yw_status fill(yw_world* world, const yw_drive_def* def, int64_t body, int64_t pin,
                      yw_drive* drive, yw_error* error) {
  yw_status status = check_numbers(def, error);
  if (status < 0) return status;
  bool named = def->body.index1 != 0;
  if (named ? !YW_SLOT_FIND(&world->bodies, def->body) : body < 0) {
    return yw_fail(error, YW_ERR_INVALID, "drive: the body that it measures does not exist");
  }
  *drive = (yw_drive){.by = def->by,
                      .from = def->from,
                      .to = def->to,
                      .smooth = def->smooth,
                      .delay = def->delay,
                      .body = named ? def->body.index1 - 1 : (uint32_t)body,
                      .point = def->point};
  status = find_others(world, def, pin, drive, error);
  if (status >= 0) status = take_vertices(world, def, drive, error);
  if (status < 0) return status;
  const yw_body* measured = &world->bodies.items[drive->body];
  if (def->by == YW_DRIVE_ENERGY && isnan(strain_energy(measured))) {
    return yw_fail(error, YW_ERR_INVALID,
                   "drive: \"%s\" has no strain energy (match has with stiffness, not with alpha)",
                   measured->name);
  }
  return YW_OK;
}

yw_status yw_drive_create(yw_world* world, const yw_drive_def* def, int64_t body, int64_t pin,
                          yw_drive** out, yw_error* error) {
  yw_drive* drive = YW_NEW(&world->mem, yw_drive);
  if (!drive) return yw_fail_memory(error, "a drive");
  yw_status status = fill(world, def, body, pin, drive, error);
  if (status < 0) {
    yw_drive_free(world, drive);
    return status;
  }
  // Starts as if it had always been so.
  drive->level = level_of(drive, measure(world, drive, world->time));
  if (drive->delay > 0.0f) keep_sample(drive, world->time, drive->level);
  *out = drive;
  return YW_OK;
}

void yw_drive_free(yw_world* world, yw_drive* drive) {
  if (!drive) return;
  yw_mem_free(&world->mem, drive->particles);
  yw_mem_free(&world->mem, drive);
}
