// SPDX-License-Identifier: MIT
// The step. run_substep has one line per phase; methods get all their input through yw_step_ctx.
#include <string.h>

#include "contact/touch.h"
#include "world/world.h"
#include "yawara/extend/timer.h"

// Bodies with fewer particles advance in parallel, each on one worker; larger ones advance one
// after another, each on all workers. The result is the same.
#define SMALL_BODY 4096

typedef struct substep {
  yw_world* world;
  float h;
  double time;
  float begin_fraction, end_fraction;  // of the world step, for pins moved by hand
  yw_obstacle_set obstacles;
  bool timing;
  bool lockstep;  // concerns the bodies that advance in lockstep, otherwise all others
  int32_t part, num_parts;
  bool pushed;  // velocities may have changed since the bodies advanced
} substep;

static bool concerns(const substep* s, const yw_body* body) {
  return yw_body_takes_part(body) && body->lockstep == s->lockstep;
}

static bool moves(const substep* s, const yw_body* body) {
  return concerns(s, body) && !body->asleep;
}

static yw_transform between(yw_transform a, yw_transform b, float t) {
  yw_motion m = yw_motion_between((yw_motion){a.position, a.rotation},
                                  (yw_motion){b.position, b.rotation}, t);
  return (yw_transform){m.offset, m.rotation, a.scale};
}

// Bodies whose start time has come take part from now on.
static void start_bodies(yw_world* world, float h) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    body->active = body->active || world->time + 0.5 * (double)h > body->start;
  }
}

// Begin -------------------------------------------------------------------------------------------

static void place_obstacles(substep* s) {
  yw_world* world = s->world;
  world->obstacle_poses.count = 0;
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* obstacle = &world->obstacles.items[i];
    if (!(obstacle->generation & 1)) continue;
    yw_obstacle* pose = &world->obstacle_poses.items[world->obstacle_poses.count++];
    *pose = (yw_obstacle){.shape = obstacle->shape,
                          .mesh = obstacle->mesh ? &obstacle->mesh->mesh : NULL,
                          .begin = yw_obstacle_pose_at(obstacle, s->time),
                          .end = yw_obstacle_pose_at(obstacle, s->time + (double)s->h),
                          .friction = obstacle->friction,
                          .restitution = obstacle->restitution,
                          .sticky = obstacle->sticky,
                          .number = i};
    if (obstacle->by_hand) {
      pose->begin = between(obstacle->hand_begin, obstacle->hand_end, s->begin_fraction);
      pose->end = between(obstacle->hand_begin, obstacle->hand_end, s->end_fraction);
    }
    if (obstacle->mesh) {
      yw_animated_mesh_fit(obstacle->mesh, s->time, s->time + (double)s->h);
      pose->bounds = yw_obstacle_mesh_bounds(pose->mesh, pose->begin, pose->end);
    } else {
      pose->bounds = yw_obstacle_bounds(obstacle->shape, pose->begin, pose->end);
    }
  }
  s->obstacles = (yw_obstacle_set){.items = world->obstacle_poses.items,
                                   .count = world->obstacle_poses.count,
                                   .h = s->h,
                                   .gravity = world->gravity};
  yw_filter_obstacles(world, &s->obstacles);
}

// From and to: where particle k of a pin is taken in the substep, or pulled.
static void add_pin(const yw_pin* pin, int32_t k, yw_vec3 from, yw_vec3 to, yw_quat turn,
                    yw_body* body) {
  int32_t particle = pin->particles[k];
  float stiffness = pin->strength * yw_pin_stiffness(pin, k);
  if (stiffness > 0.0f) {
    body->springs.items[body->springs.count++] =
        (yw_spring){particle, stiffness, pin->strength * pin->damping, from, to};
  } else if (yw_pin_holds(pin, k)) {
    body->holds.items[body->holds.count++] = (yw_hold){particle, from, to, pin->clamp, turn};
  }
}

// Targets may jump: exact particles go there no faster than they may, springs pull as if the target
// were within reach.
static void place_follower(const substep* s, const yw_pin* pin, yw_body* body) {
  const yw_follow* follow = pin->follow;
  double end = s->time + (double)s->h;
  float reach = follow->reach;
  for (int32_t k = 0; k < pin->num_particles; ++k) {
    if (pin->particles[k] >= body->particles.count) continue;
    yw_vec3 now = yw_xyz(body->particles.pos[pin->particles[k]]);
    bool exact = yw_pin_stiffness(pin, k) == 0.0f;
    yw_vec3 from = exact ? now : yw_follow_near(follow, k, s->time, now, reach);
    yw_vec3 to = exact ? yw_follow_exactly(follow, k, s->time, s->h, now)
                       : yw_follow_near(follow, k, end, now, reach);
    if (memcmp(&from, &to, sizeof from) != 0) yw_body_rouse(body);
    add_pin(pin, k, from, to, (yw_quat){0, 0, 0, 1}, body);
  }
}

static void place_pin(const substep* s, const yw_pin* pin, yw_body* body) {
  if (pin->follow) {
    place_follower(s, pin, body);
    return;
  }
  yw_motion begin, end;
  if (pin->by_hand) {
    begin = yw_motion_between(pin->hand_begin, pin->hand_end, s->begin_fraction);
    end = yw_motion_between(pin->hand_begin, pin->hand_end, s->end_fraction);
  } else {
    begin = yw_path_at(&pin->path, s->time);
    end = yw_path_at(&pin->path, s->time + (double)s->h);
  }
  if (pin->strength > 0.0f && memcmp(&begin, &end, sizeof begin) != 0) yw_body_rouse(body);
  yw_quat turn = yw_quat_mul(end.rotation, yw_quat_conjugate(begin.rotation));
  for (int32_t k = 0; k < pin->num_particles; ++k) {
    yw_vec3 from = yw_motion_apply(begin, pin->path.pivot, pin->placed[k]);
    yw_vec3 to = yw_motion_apply(end, pin->path.pivot, pin->placed[k]);
    if (pin->particles[k] < body->particles.count) add_pin(pin, k, from, to, turn, body);
  }
}

static void place_pins(const substep* s) {
  yw_world* world = s->world;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (concerns(s, body)) body->holds.count = body->springs.count = 0;
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    yw_body* body = &world->bodies.items[pin->body];
    if (concerns(s, body)) place_pin(s, pin, body);
  }
}

static void copy_begin(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const yw_span* span = &((yw_world*)context)->spans.items[block];
  memcpy(span->body->begin + span->first, span->body->particles.pos + span->first,
         sizeof(yw_vec4) * (size_t)span->count);
}

// Contact of surfaces follows paths from here.
static void note_begin(const substep* s) {
  if (!s->world->may_touch) return;
  for (int32_t i = 0; i < s->world->body_order.count; ++i) {
    yw_body* body = &s->world->bodies.items[s->world->body_order.items[i]];
    if (!concerns(s, body)) continue;
    if (!body->asleep) yw_spans_add(s->world, body);
    // advance notes where a rigid body begins, but sleeping ones do not advance.
    const yw_method* method = body->model->method;
    if (!body->asleep || !method->rigid_motion) continue;
    yw_rigid_motion* motion = method->rigid_motion(body->state);
    memcpy(motion->start_center, motion->center, sizeof motion->center);
    memcpy(motion->start_rotation, motion->rotation, sizeof motion->rotation);
  }
  yw_spans_run(s->world, copy_begin);
}

// Advance -----------------------------------------------------------------------------------------

static yw_step_ctx context_of(const substep* s, yw_body* body, yw_tasks* tasks) {
  return (yw_step_ctx){.h = s->h,
                       .time = s->time,
                       .gravity = s->world->gravity,
                       .simd = s->world->simd,
                       .tasks = tasks,
                       .timing = s->timing,
                       .part = s->part,
                       .num_parts = s->num_parts,
                       .holds = body->holds.items,
                       .num_holds = body->holds.count,
                       .springs = body->springs.items,
                       .num_springs = body->springs.count,
                       .collide = yw_obstacles_collide,
                       .is_clear = yw_obstacles_clear,
                       .probe = yw_obstacles_probe,
                       .obstacles_in = yw_obstacles_in,
                       .touch = yw_obstacles_touch,
                       .obstacles = &body->obstacles,
                       .friction = body->friction,
                       .restitution = body->restitution,
                       .begin = s->world->may_touch ? body->begin : NULL,
                       .crowded = body->crowded,
                       .stay = body->stays,
                       .untouched = body->stays && body->known == body->changes,
                       .report = &body->report};
}

static void advance_body(const substep* s, yw_body* body, yw_tasks* tasks) {
  yw_method_report before = body->report;
  yw_status status_before = body->status;
  body->report = (yw_method_report){0};
  yw_step_ctx ctx = context_of(s, body, tasks);
  body->status = body->model->method->advance(body->state, &body->particles, &ctx);
  if (s->part == 0) return;
  body->report.recovered += before.recovered;
  body->report.stalled += before.stalled;
  body->report.seconds_adapt += before.seconds_adapt;
  body->report.seconds_contact += before.seconds_contact;
  if (status_before < 0) body->status = status_before;
}

static void advance_small_body(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const substep* s = context;
  advance_body(s, &s->world->bodies.items[s->world->small_bodies.items[block]], NULL);
}

static void advance_bodies(substep* s) {
  yw_world* world = s->world;
  world->small_bodies.count = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t slot = world->body_order.items[i];
    yw_body* body = &world->bodies.items[slot];
    if (!moves(s, body) || !yw_body_is_at_home(world, body) || body->is_shared) continue;
    // Ranks that advance a body on their own do so while the others are busy as well.
    bool alone = world->body_order.count == 1;
    if (body->particles.count < SMALL_BODY && !alone) {
      world->small_bodies.items[world->small_bodies.count++] = slot;
    } else {
      advance_body(s, body, world->tasks);
    }
  }
  yw_tasks_run(world->tasks, world->small_bodies.count, advance_small_body, s);
  // Ranks meet in the same order everywhere: bodies that they share advance one by one.
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    yw_body* body = yw_body_in_order(world, i);
    if (body->is_shared && moves(s, body)) advance_body(s, body, world->tasks);
  }
  yw_homes_share(world, s->lockstep);
}

// Contact -----------------------------------------------------------------------------------------

static bool needs_body_contact(const yw_world* world) {
  int32_t partners = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!yw_body_takes_part(body)) continue;
    if (yw_body_meets_itself(body)) return true;
    partners += body->body_contact;
  }
  return partners > 1;
}

static yw_status respond(void* context, const yw_vec4* impulses, yw_vec4* change) {
  const yw_responder* responder = context;
  return yw_homes_respond(responder->world, responder->body, &responder->ctx, impulses, change);
}

static void fold(void* context) {
  const yw_responder* responder = context;
  yw_body* body = responder->body;
  body->model->method->fold(body->state, &body->particles, &responder->ctx);
}

// Topologies with a skin are others.
#define SKIN_VERSION (1ull << 63)

static void follow(void* context) {
  const yw_responder* responder = context;
  yw_body* body = responder->body;
  body->model->method->follow(body->state, &body->particles);
}

// Adds body number i as contact sees it, unless it has nothing to meet.
static void add_contact_body(const substep* s, int32_t i) {
  yw_world* world = s->world;
  yw_body* body = &world->bodies.items[world->body_order.items[i]];
  if (!yw_body_takes_part(body)) return;
  const yw_method* method = body->model->method;
  yw_contact_geometry geometry = method->contact_geometry(body->state);
  bool skin =
      world->surfaces && method->contact_skin && method->contact_skin(body->state, &geometry);
  // Points look for particles inside of tets.
  bool solid = geometry.tets || (world->surfaces && geometry.triangles);
  if (!solid && !geometry.radius) return;
  // Bodies of the other kind and sleepers far from all others do not meet these, but their caches
  // stay.
  bool meets = body->lockstep == s->lockstep && (!body->asleep || body->in_reach);
  yw_responder* responder = &world->responders.items[world->responders.count++];
  *responder = (yw_responder){body, context_of(s, body, world->tasks), world};
  world->contact_bodies.items[world->contact_bodies.count++] =
      (yw_contact_body){.geometry = geometry,
                        .topology_version = yw_body_topology(body) ^ (skin ? SKIN_VERSION : 0),
                        .key = body->key,
                        .number = world->body_order.items[i],
                        .particles = &body->particles,
                        .begin = body->begin,
                        .respond = method->respond ? respond : NULL,
                        .rigid = method->rigid_motion ? method->rigid_motion(body->state) : NULL,
                        .fold = fold,
                        .follow = follow,
                        .context = responder,
                        .friction = body->friction,
                        .restitution = body->restitution,
                        .body_contact = body->body_contact && meets,
                        .self_contact = yw_body_meets_itself(body) && meets && !body->asleep,
                        .rest_speed = yw_sleep_speed_of(world, body),
                        .asleep = body->asleep,
                        .filter = world->filters.count > 0 ? &world->filters.items[i] : NULL,
                        .obstacles = body->report.obstacle_contacts > 0 ? &body->obstacles : NULL};
}

static yw_status resolve_contacts(substep* s, int32_t* num_contacts) {
  yw_world* world = s->world;
  bool any = yw_sleep_find_reach(world, s->h);
  bool at_obstacles = any && yw_obstacle_surfaces_find(world);
  if (!at_obstacles && !(any && needs_body_contact(world))) {
    if (world->surfaces) yw_surfaces_forget(world->surfaces, s->lockstep);
    return YW_OK;
  }
  s->pushed = true;
  if (world->surfaces) {
    yw_surfaces_continue(world->surfaces, s->lockstep, s->part, s->num_parts);
  }
  world->contact_bodies.count = world->responders.count = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) add_contact_body(s, i);
  yw_obstacle_surfaces_add(world, s->h);
  yw_contact_body* bodies = world->contact_bodies.items;
  int32_t count = world->contact_bodies.count, found = 0;
  yw_status status = world->surfaces
                         ? yw_surfaces_resolve(world->surfaces, bodies, count, s->h, world->gravity,
                                               world->contact_iterations, world->tasks, &found)
                         : yw_points_resolve(world->points, bodies, count, s->h, world->gravity,
                                             world->contact_iterations, world->tasks, &found);
  for (int32_t i = 0; i < world->responders.count; ++i) {
    yw_body* body = world->responders.items[i].body;
    if (body->lockstep != s->lockstep) continue;
    body->is_pressed = bodies[i].pressed || (s->part > 0 && body->is_pressed);
  }
  if (found > *num_contacts) *num_contacts = found;
  bool last = s->num_parts == 0 || s->part + 1 == s->num_parts;
  if (s->end_fraction == 1.0f && last && !yw_sleep_note_touching(world)) return YW_ERR_MEMORY;
  return status;
}

// Settle and check --------------------------------------------------------------------------------

// Particles were added or removed: pins hold theirs again; the current state is the last good one.
static void adopt_particles(yw_world* world, uint32_t slot) {
  yw_body* body = &world->bodies.items[slot];
  bool pinned = body->holds.count > 0;
  if (pinned) yw_world_restore_masses(world, slot);
  if (yw_body_is_finite(body)) yw_body_remember(world, body);
}

static void note_status(yw_body* body, yw_status status) {
  if (status < 0 && body->status >= 0) body->status = status;
}

static void fold_bodies(substep* s) {
  for (int32_t i = 0; i < s->world->body_order.count; ++i) {
    yw_body* body = &s->world->bodies.items[s->world->body_order.items[i]];
    const yw_method* method = body->model->method;
    if (!concerns(s, body) || !method->fold) continue;
    yw_step_ctx ctx = context_of(s, body, s->world->tasks);
    note_status(body, method->fold(body->state, &body->particles, &ctx));
    s->pushed = true;
  }
}

static void settle_bodies(const substep* s) {
  yw_world* world = s->world;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    uint32_t slot = world->body_order.items[i];
    yw_body* body = &world->bodies.items[slot];
    const yw_method* method = body->model->method;
    if (!moves(s, body)) continue;
    if (method->settle) {
      yw_step_ctx ctx = context_of(s, body, world->tasks);
      note_status(body, method->settle(body->state, &body->particles, &ctx));
      body->forces.is_current = false;
      world->is_checked = false;
    }
    bool changed = body->particles.count != body->last_good_count ||
                   yw_body_topology(body) != body->last_topology;
    if (changed) adopt_particles(world, slot);
  }
}

// Bodies that ran out of memory are in the middle of a substep, but not diverged, and so are those
// whose device is lost.
static yw_status stopped_by(const yw_world* world) {
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    bool stops = body->status == YW_ERR_MEMORY || body->status == YW_ERR_DEVICE;
    if (yw_body_takes_part(body) && stops) return body->status;
  }
  return YW_OK;
}

static void collect_report(const yw_world* world, yw_step_report* report) {
  report->num_particles = report->obstacle_contacts = report->sleeping_particles = 0;
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    if (!body->active) continue;
    report->num_particles += body->particles.count;
    report->obstacle_contacts += body->report.obstacle_contacts;
    report->sleeping_particles += body->asleep ? body->particles.count : body->report.asleep;
    report->recovered_regions += body->report.recovered;
    report->stalled_solves += body->report.stalled;
    report->work_adapt += body->report.seconds_adapt;
    report->work_obstacles += body->report.seconds_contact;
  }
}

// The step ----------------------------------------------------------------------------------------

// Adds the time since the mark to a phase and moves the mark.
static void add_seconds(const substep* s, double* mark, double* phase) {
  if (!s->timing) return;
  double now = yw_seconds();
  *phase += now - *mark;
  *mark = now;
}

// Advances the bodies that s concerns by s->h, with contact among them.
static yw_status advance_together(substep* s, yw_step_report* report, int32_t* num_contacts) {
  yw_world* world = s->world;
  place_pins(s);
  yw_world_wake_moved(world);
  yw_pushes_apply(world, s->lockstep, s->h);
  if (world->notes_forces) yw_forces_skip(world, s->lockstep);
  note_begin(s);
  if (world->book) yw_book_begin_advance(world, s->lockstep);
  double mark = s->timing ? yw_seconds() : 0.0;
  world->is_checked = false;
  advance_bodies(s);
  add_seconds(s, &mark, &report->seconds_advance);
  if (stopped_by(world) < 0) return stopped_by(world);
  yw_world_check_bodies(world, report);
  world->is_checked = true;
  if (world->notes_forces) yw_forces_note_advance(world, s->lockstep, s->h);
  if (s->timing) mark = yw_seconds();
  if (world->book) yw_book_note_advance(world, s->lockstep, s->h);
  s->pushed = world->parting.count > 0 || world->joints.count > 0;
  yw_parting_apply(world, s->lockstep, s->h);
  yw_joints_solve(world, s->h, s->lockstep);
  yw_status status = resolve_contacts(s, num_contacts);
  fold_bodies(s);
  yw_world_wake_moved(world);
  if (world->book && status >= 0) yw_book_note_contact(world, s->lockstep);
  add_seconds(s, &mark, &report->seconds_contact);
  if (s->pushed) world->is_checked = false;
  if (world->notes_forces && s->pushed) yw_forces_note_contact(world, s->lockstep);
  return status;
}

// Explicit methods cannot take the impulse of a whole substep at once: they and what touches them
// advance in parts.
static yw_status advance_lockstep(const substep* s, int32_t num_parts, yw_step_report* report,
                                  int32_t* num_contacts) {
  float span = s->end_fraction - s->begin_fraction;
  yw_status status = YW_OK;
  for (int32_t k = 0; k < num_parts && status >= 0; ++k) {
    substep part = *s;
    part.h = s->h / (float)num_parts;
    part.time = s->time + (double)s->h * k / num_parts;
    part.begin_fraction = s->begin_fraction + span * (float)k / (float)num_parts;
    part.end_fraction = s->begin_fraction + span * (float)(k + 1) / (float)num_parts;
    part.lockstep = true;
    part.part = k;
    part.num_parts = num_parts;
    place_obstacles(&part);
    status = advance_together(&part, report, num_contacts);
  }
  return status;
}

static yw_status run_substep(substep* s, yw_step_report* report) {
  yw_world* world = s->world;
  int32_t num_contacts = 0;
  yw_tracks_apply(world, s->time + 0.5 * (double)s->h, s->h);
  start_bodies(world, s->h);
  yw_world_wake_islands(world);
  place_obstacles(s);
  int32_t num_parts = yw_lockstep_plan(world, s->h);
  if (world->book) yw_book_begin_substep(world);
  yw_status status = advance_together(s, report, &num_contacts);
  if (num_parts > 1 && status >= 0) {
    status = advance_lockstep(s, num_parts, report, &num_contacts);
  } else if (world->surfaces) {
    yw_surfaces_forget(world->surfaces, true);
  }
  report->body_contacts = num_contacts;
  double mark = s->timing ? yw_seconds() : 0.0;
  settle_bodies(s);
  s->lockstep = true;
  settle_bodies(s);
  add_seconds(s, &mark, &report->seconds_settle);
  collect_report(world, report);
  yw_tracks_note_substep(world, s->h);
  world->time = s->time + (double)s->h;
  return status >= 0 ? stopped_by(world) : status;
}

static void finish_hand_moves(yw_world* world) {
  for (int32_t i = 0; i < world->pins.count; ++i) {
    yw_pin* pin = &world->pins.items[i];
    if (pin->by_hand) pin->hand_begin = pin->hand_end;
  }
}

static yw_status step_world(yw_world* world, float dt, int32_t substeps, yw_step_report* report) {
  float h = dt / (float)substeps;
  if (!yw_filter_begin_step(world) || !yw_parting_begin_step(world) ||
      !yw_pushes_begin_step(world) || !yw_obstacle_surfaces_reserve(world) ||
      !yw_lockstep_reserve(world)) {
    return YW_ERR_MEMORY;
  }
  yw_obstacles_begin_step(world, dt);
  yw_step_report local = {0};
  double start = report ? yw_seconds() : 0.0;
  yw_world_remember_good(world);
  world->touching.count = 0;
  world->notes_forces = world->measures_forces || yw_tracks_need_forces(world);
  if (world->notes_forces) yw_forces_begin_step(world, dt);
  if (world->book && !yw_book_begin_step(world)) return YW_ERR_MEMORY;
  yw_away_begin_step(world);
  yw_homes_choose(world);
  yw_status status = YW_OK;
  for (int32_t i = 0; i < substeps && status >= 0; ++i) {
    substep s = {.world = world,
                 .h = h,
                 .time = world->time,
                 .begin_fraction = (float)i / (float)substeps,
                 .end_fraction = (float)(i + 1) / (float)substeps,
                 .timing = report != NULL};
    status = run_substep(&s, &local);
  }
  yw_homes_end_step(world);
  yw_status back = yw_away_end_step(world, &local);
  if (status >= 0 && back < 0) status = back;
  // Ranks and devices bring particles back only now.
  bool is_checked = world->is_checked && !world->ranks && !world->device;
  if (!is_checked && status != YW_ERR_MEMORY && status != YW_ERR_DEVICE) {
    yw_world_check_bodies(world, &local);
  }
  start_bodies(world, h);
  finish_hand_moves(world);
  yw_obstacles_end_step(world);
  yw_pushes_end_step(world);
  ++world->step_count;
  if (!yw_sleep_end_step(world, dt) && status >= 0) status = YW_ERR_MEMORY;
  yw_world_show(world, false);
  yw_away_note_shown(world);
  if (world->book && !yw_book_end_step(world) && status >= 0) status = YW_ERR_MEMORY;
  if (report) {
    local.seconds_total = yw_seconds() - start;
    local.seconds_other =
        local.seconds_total - local.seconds_advance - local.seconds_contact - local.seconds_settle;
    *report = local;
  }
  if (status < 0) return status;
  return local.diverged_bodies > 0 ? YW_WARN_NUMERICS : YW_OK;
}

yw_status yw_world_step(yw_world* world, float dt, int32_t substeps, yw_step_report* report) {
  if (!world || !(dt > 0.0f) || !isfinite(dt) || substeps < 1 || substeps > 10000) {
    return YW_ERR_INVALID;
  }
  if (!(dt / (float)substeps > 0.0f)) return YW_ERR_INVALID;
  yw_order_give(world, (yw_order){.kind = YW_ORDER_STEP, .number = substeps, .dt = dt});
  yw_status status = step_world(world, dt, substeps, report);
  yw_order_done(world);
  return status;
}
