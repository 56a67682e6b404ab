// SPDX-License-Identifier: MIT
// Adaptive finite elements: the step. Imai, Yue, Chen, Nishita, "Adaptive Deformation Simulation of
// Inhomogeneous Elastic Objects".
//
// Symplectic Euler with lumped masses on the free nodes of the front; hanging nodes follow. The
// inner step is as long as the finest tets in use allow.
#include "methods/fem/fem.h"

#include <math.h>
#include <string.h>

#include "math/small/exponent.h"
#include "methods/fem/body.h"
#include "methods/fem/node_lanes.h"
#include "methods/fem/offload.h"
#include "methods/kit/contact.h"
#include "methods/kit/pins.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/timer.h"

// Finest steps between two strain checks, unless params set the interval.
#define CHECK_STEPS 25.0f
// Inner steps between two checks for squeezed or inverted tets.
#define LOOK_STEPS 4
// And between two looks for faces that must open.
#define CRACK_STEPS 4
// Bodies with pieces are checked this much more often.
#define PIECES_SHARE 0.2f
// A front that does not change is checked less and less often, up to this factor.
#define MOST_PATIENCE 4.0f
// A body falls asleep after it was at rest this long, s.
#define STILL_TIME 0.5f
// The stable step shrinks by a few percent while strains grow. Substeps that were cut into parts
// before that keep theirs while the safe step is above this share of them, if the safety factor
// covers it: two steps in every part would cost twice as much.
#define PART_SHARE 0.95f
// While obstacles or others press on the body, positions follow the elastic forces by this share of
// a step more than velocities do (Tchamwa and Wielgosz 1999): motion at the highest frequencies is
// damped by that share of critical damping, and slower motion less in proportion. Friction excites
// it.
#define LEAD 0.05f
// Most inner steps of a substep: as many as for a material STIFFER times as stiff at rest, and at
// least FEW_STEPS. Bodies that are crushed or pulled to many times their size may need hundreds of
// times as many: they move in slow motion then, by less than the substep, which neither adds energy
// nor takes momentum.
#define STIFFER 16.0f
#define FEW_STEPS 4096.0f
// Obstacles farther from the body than this fraction of its size do not touch it.
#define TOUCH_MARGIN 0.01f

// Pins --------------------------------------------------------------------------------------------

// True if the pins are on other particles than in the last step.
static bool pins_changed(const fem_body* b, const yw_step_ctx* ctx) {
  if (ctx->num_holds != b->num_held || ctx->num_springs != b->num_sprung) return true;
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    if (ctx->holds[i].particle != b->held[i]) return true;
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    if (ctx->springs[i].particle != b->sprung[i]) return true;
  }
  return false;
}

static bool pins_move(const yw_step_ctx* ctx) {
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    if (memcmp(&ctx->holds[i].begin, &ctx->holds[i].end, sizeof(yw_vec3)) != 0) return true;
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    if (memcmp(&ctx->springs[i].begin, &ctx->springs[i].end, sizeof(yw_vec3)) != 0) return true;
  }
  return false;
}

static void take_pins(fem_body* b, yw_particles* particles, const yw_step_ctx* ctx) {
  int32_t most = b->model->h.max_nodes;
  b->num_held = ctx->num_holds < most ? ctx->num_holds : most;
  b->num_sprung = ctx->num_springs < most ? ctx->num_springs : most;
  for (int32_t i = 0; i < b->num_held; ++i) b->held[i] = ctx->holds[i].particle;
  for (int32_t i = 0; i < b->num_sprung; ++i) b->sprung[i] = ctx->springs[i].particle;
  yw_fem_note_pins(b);
  yw_fem_enforce(b, particles, ctx);
  b->asleep = false;
  b->still = 0.0f;
}

static void set_holds(const fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float share) {
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    if (b->front.state[hold->particle] != FEM_FREE) continue;
    p->pos[hold->particle] = yw_v4(yw_hold_at(hold, share));
    p->vel[hold->particle] = yw_v4(yw_hold_velocity(hold, ctx->h));
  }
}

static void pull_springs(const fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float share,
                         float h) {
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* s = &ctx->springs[i];
    int32_t n = s->particle;
    if (b->inv_mass[n] == 0.0f) continue;
    yw_vec3 v = yw_xyz(p->vel[n]), x = yw_mad(yw_xyz(p->pos[n]), -h, v);
    yw_vec3 u = yw_spring_velocity(s, ctx->h);
    v = yw_spring_pull(s, yw_spring_at(s, share), u, x, v, b->inv_mass[n], h);
    p->vel[n] = yw_v4(v);
    p->pos[n] = yw_v4(yw_mad(x, h, v));
  }
}

// Obstacles ---------------------------------------------------------------------------------------

static bool no_obstacles(const yw_step_ctx* ctx) {
  const yw_aabb everywhere = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  return !yw_obstacles_near(ctx, everywhere);
}

// One inner step ----------------------------------------------------------------------------------

typedef struct inner_step {
  fem_body* b;
  yw_particles* p;
  fem_move move;
} inner_step;

static void move_nodes(void* context, int32_t block, int32_t worker) {
  const inner_step* s = context;
  const fem_body* b = s->b;
  (void)worker;
  int32_t begin = block * FEM_NODE_BLOCK, end = begin + FEM_NODE_BLOCK;
  if (end > b->front.num_active) end = b->front.num_active;
  if (b->sums_wait) yw_fem_sum_nodes(&b->work, &b->scratch, begin, end, b->force);
  for (int32_t i = begin; i < end; ++i) {
    int32_t n = b->work.nodes[i];
    if (b->inv_mass[n] == 0.0f) continue;
    move_node(&s->move, b->inv_mass[n], &b->force[n], &s->p->pos[n], &s->p->vel[n]);
  }
}

// Cohesive forces of open faces. They are not scaled with the forces of the tets.
static void hold_cracks(fem_body* b, const yw_particles* p) {
  if (!yw_fem_cohesion(&b->cracks, 1.0f / b->params.stiffness_scale, p->pos, b->force)) return;
  yw_fem_cracks_count(&b->cracks, &b->model->h, b->front.num_copies);
  yw_fem_cracks_refresh(&b->cracks, b->mass);
  yw_fem_front_changed(b);
}

// Forces on all nodes of the front. b->squeezed: squeezed or inverted tets.
static yw_status find_forces(fem_body* b, const yw_particles* p, const yw_step_ctx* ctx) {
  // While some tets are squeezed, others follow: if they were pushed late but released in time,
  // they would gain energy.
  bool look = b->squeezed > 0 || b->since_look % LOOK_STEPS == 0;
  if (b->away) return yw_fem_forces_away(b, p, ctx, look, &b->squeezed);
  fem_materials materials = b->model->materials;
  materials.damping_time = b->params.stiffness_damping;
  bool damped = materials.damping || materials.damping_time > 0.0f;
  bool carried = b->params.hanging == YW_FEM_HANGING_CARRIED && b->front.num_hanging > 0;
  // Nodes that need no forces of others are moved where their own are summed.
  b->sums_wait = !carried && b->cracks.num_faces == 0;
  const fem_forces_def forces = {.work = &b->work,
                                 .front = &b->front,
                                 .materials = &materials,
                                 .kernels = YW_KERNEL_PICK(yw_fem_kernels, ctx->simd),
                                 .tasks = ctx->tasks,
                                 .pos = p->pos,
                                 .vel = damped ? p->vel : NULL,
                                 .scratch = &b->scratch,
                                 .look_for_squeezed = look,
                                 .plastic = b->has_flown,
                                 .only_tets = b->sums_wait,
                                 .force = b->force};
  b->squeezed = yw_fem_forces(&forces);  // f of every tet, summed at nodes
  if (b->cracks.num_faces > 0) hold_cracks(b, p);
  if (carried) yw_fem_carry_forces(&b->front, b->force);
  return YW_OK;
}

// Others may lie on the body, or it on them. Not in space: the lead changes angular momentum.
static bool is_pressed(const yw_step_ctx* ctx) {
  return ctx->crowded && yw_length2(ctx->gravity) > 0.0f;
}

// Advances by h from `begin` (s, from the start of the substep).
static yw_status step_once(fem_body* b, yw_particles* p, const yw_step_ctx* ctx, float begin,
                           float h) {
  float share = (begin + h) / ctx->h;
  bool obstacles = !no_obstacles(ctx), leads = b->gripped || is_pressed(ctx);
  inner_step s = {.b = b,
                  .p = p,
                  .move = {.gravity = yw_scale(ctx->gravity, h),
                           .h = h,
                           .keep = yw_expf(-b->params.mass_damping * h),
                           .push = h * b->params.stiffness_scale,
                           .lead = leads ? LEAD * h : 0.0f}};
  ++b->inner_steps;
  b->last_step = h;
  if (b->away) return yw_fem_move_away(b, p, ctx, &s.move, obstacles, begin);
  if (obstacles) yw_fem_remember_surface(b, p);
  int32_t blocks = (b->front.num_active + FEM_NODE_BLOCK - 1) / FEM_NODE_BLOCK;
  yw_tasks_run(ctx->tasks, blocks, move_nodes, &s);
  if (b->cracks.num_crumbs > 0) yw_fem_crumbs_calm(&b->cracks, b->mass, b->inv_mass, h, p);
  pull_springs(b, p, ctx, share, h);
  set_holds(b, p, ctx, share);
  if (obstacles) yw_fem_meet_obstacles(b, p, ctx, begin, h);
  yw_fem_follow(&b->front, p->pos, p->vel);  // hanging nodes: mean of their parents
  return YW_OK;
}

float yw_fem_stable_now(const fem_body* b, bool squeezed) {
  float rest = b->model->level_step[b->front.finest];
  bool soft = b->work.soften && !squeezed;
  float ratio = soft ? rest / b->model->soft_step[b->front.finest] : 1.0f;
  // St. Venant-Kirchhoff material stiffens under stretch: d(stress)/d(stretch) grows as 1 + 3 E, of
  // which E is the stress itself, which is never softened. The push on squeezed tets adds stiffness
  // too, as the square of the largest change of area.
  float strain = fmaxf(b->stretch, 0.0f), area = 1.0f + 2.0f * strain;
  return rest / sqrtf(ratio * ratio * area + strain + (squeezed ? area * area : 0.0f));
}

// Longest inner step that is stable with damping and cracks, s.
static float damped_step(const fem_body* b, float step) {
  const yw_fem_params* params = &b->params;
  step /= sqrtf(params->stiffness_scale);
  float x = fmaxf(params->stiffness_damping, b->model->damping_time) / step;
  step *= sqrtf(1.0f + x * x) - x;
  step /= sqrtf(1.0f + 0.25f * b->cracks.rate * step * step);
  float most = b->gripped ? step / sqrtf(1.0f + 2.0f * LEAD) : step;
  return fminf(params->time_step > 0.0f ? params->time_step : params->safety * step, most);
}

// Longest stable inner step now, s.
static float stable_step(const fem_body* b, bool squeezed) {
  return damped_step(b, yw_fem_stable_now(b, squeezed));
}

// Inner steps that the body may take in (a part of) a substep.
static float most_steps(const fem_body* b, const yw_step_ctx* ctx) {
  float rest = b->model->level_step[b->model->h.max_level], step = rest / sqrtf(STIFFER);
  float few = ctx->num_parts > 1 ? FEW_STEPS / (float)ctx->num_parts : FEW_STEPS;
  return ceilf(fmaxf(ctx->h / damped_step(b, step), few));
}

static float check_interval(const fem_body* b) {
  float interval = b->params.check_interval;
  if (!(interval > 0.0f)) {
    interval = CHECK_STEPS * b->params.safety * b->model->level_step[b->model->h.max_level] /
               sqrtf(b->params.stiffness_scale);
  }
  // Light pieces are strained quickly, and the step follows the strain.
  return interval * (b->is_apart ? PIECES_SHARE : b->patience);
}

// Sleep -------------------------------------------------------------------------------------------

// Active nodes only: nothing else moves the others.
static void remember_end(fem_body* b, const yw_particles* p) {
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    b->end_pos[n] = p->pos[n];
    b->end_vel[n] = p->vel[n];
  }
}

static bool was_touched(const fem_body* b, const yw_particles* p) {
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    if (memcmp(&b->end_pos[n], &p->pos[n], sizeof *b->end_pos) != 0) return true;
    if (memcmp(&b->end_vel[n], &p->vel[n], sizeof *b->end_vel) != 0) return true;
  }
  return false;
}

// Fingerprint of what holds the body: gravity and the obstacles within reach. *moves: one of these
// moves in this substep.
static uint64_t surroundings(const fem_body* b, const yw_particles* p, const yw_step_ctx* ctx,
                             bool* moves) {
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &ctx->gravity, sizeof ctx->gravity);
  *moves = false;
  if (!ctx->obstacles_in) return hash;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < b->num_surface; ++i) {
    box = yw_aabb_grow(box, yw_xyz(p->pos[b->surface[i]]));
  }
  float margin = TOUCH_MARGIN * yw_distance(box.lower, box.upper);
  box = yw_aabb_pad(box, margin);
  if (ctx->is_clear && ctx->is_clear(ctx, box)) return hash;
  return yw_hash_u64(hash, ctx->obstacles_in(ctx, box, moves));
}

// A sleeping body stays asleep while neither pins, contact, obstacles nor gravity change.
static bool stays_asleep(const fem_body* b, const yw_particles* p, const yw_step_ctx* ctx) {
  if (!b->asleep || pins_move(ctx) || was_touched(b, p)) return false;
  bool moves;
  return surroundings(b, p, ctx, &moves) == b->sleep_surroundings && !moves;
}

static bool is_last_part(const yw_step_ctx* ctx) { return ctx->part + 1 >= ctx->num_parts; }

// Uses the displacement of the nodes in this substep (end_pos is its start): rounding makes the
// finest tets of a body at rest vibrate faster than sleep_speed, without net motion.
static void maybe_sleep(fem_body* b, yw_particles* p, const yw_step_ctx* ctx) {
  float span = ctx->num_parts > 1 ? (float)ctx->num_parts * ctx->h : ctx->h;
  float limit = b->params.sleep_speed * span, farthest = 0.0f;
  for (int32_t i = 0; i < b->front.num_active && limit > 0.0f; ++i) {
    int32_t n = b->front.active[i];
    yw_vec3 way = yw_sub(yw_xyz(p->pos[n]), yw_xyz(b->end_pos[n]));
    farthest = fmaxf(farthest, yw_length2(way));
  }
  bool rests = limit > 0.0f && farthest <= limit * limit && !pins_move(ctx), moves = false;
  uint64_t seen = rests ? surroundings(b, p, ctx, &moves) : 0;
  if (!rests || moves) {
    b->still = 0.0f;
    return;
  }
  b->still += span;
  if (b->still < STILL_TIME) return;
  b->asleep = true;
  b->sleep_surroundings = seen;
  memset(p->vel, 0, sizeof(yw_vec4) * (size_t)p->count);
}

// The step ----------------------------------------------------------------------------------------

static void begin_substep(fem_body* b, const yw_particles* p) {
  if (b->params.sleep_speed > 0.0f) {
    memcpy(b->end_pos, p->pos, sizeof(yw_vec4) * (size_t)p->count);
  }
  b->since_look = b->squeezed = 0;
}

static yw_status check_strains(fem_body* b, yw_particles* p, const yw_step_ctx* ctx) {
  yw_status status = yw_fem_come_home(b, p);
  if (status < 0) return status;
  b->since_look = 0;
  double start = ctx->timing ? yw_seconds() : 0.0;
  bool changed = yw_fem_adapt(b, p, ctx);  // refine, coarsen
  b->patience = changed || b->params.yield > 0.0f ? 1.0f : fminf(2.0f * b->patience, MOST_PATIENCE);
  if (ctx->timing && ctx->report) ctx->report->seconds_adapt += yw_seconds() - start;
  return YW_OK;
}

// As few equal steps as cover `left`.
static float count_steps(const fem_body* b, const yw_step_ctx* ctx, float left) {
  float steps = left / stable_step(b, b->squeezed > 0);
  return ceilf(ctx->num_parts > 1 ? steps * fmaxf(PART_SHARE, b->params.safety) : steps);
}

static yw_status take_steps(fem_body* b, yw_particles* p, const yw_step_ctx* ctx) {
  yw_status status = YW_OK;
  int32_t recovered = 0;
  float done = 0.0f, hasty = INFINITY;
  const int64_t most = b->inner_steps + (int64_t)fminf(most_steps(b, ctx), 1e7f);
  while (done < ctx->h && b->inner_steps < most) {
    if (b->since_check >= check_interval(b)) status = check_strains(b, p, ctx);
    if (b->model->fragile && b->inner_steps % CRACK_STEPS == 0 && yw_fem_cracks_grow(b, p, ctx)) {
      b->since_look = 0;
    }
    if (status < 0) return status;
    if (done == 0.0f || b->since_look % LOOK_STEPS == 0) {
      status = yw_fem_hasty_step(b, p, ctx, stable_step(b, b->squeezed > 0), &hasty);
    }
    if (hasty < ctx->h) b->since_look = 0;
    if (status >= 0) status = find_forces(b, p, ctx);
    if (status < 0) return status;
    recovered += b->squeezed;
    float left = ctx->h - done, steps = count_steps(b, ctx, left);
    steps = fmaxf(steps, ceilf(left / hasty));
    if (!(steps < 1e7f)) return yw_fem_come_home(b, p), YW_ERR_DIVERGED;
    float h = steps > 1.0f ? left / steps : left;
    status = step_once(b, p, ctx, done, h);
    ++b->since_look;
    done = steps > 1.0f ? done + h : ctx->h;
    b->since_check += h;
  }
  if (status >= 0) status = yw_fem_come_home(b, p);
  if (status < 0) return status;
  if (done < ctx->h) b->missed += ctx->h - done;
  if (ctx->report) ctx->report->recovered += recovered;
  return recovered > 0 ? YW_WARN_NUMERICS : YW_OK;
}

static yw_status fem_advance(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  fem_body* b = state;
  if (ctx->part == 0) b->missed = 0.0f;
  if (pins_changed(b, ctx)) take_pins(b, p, ctx);
  if (stays_asleep(b, p, ctx)) {
    if (ctx->report) ctx->report->asleep = p->count;
    yw_fem_show_front(b);
    return YW_OK;
  }
  if (b->asleep || ctx->part == 0) begin_substep(b, p);
  if (b->asleep) b->asleep = false, b->still = 0.0f;

  if (isinf(b->since_check)) yw_fem_enforce(b, p, ctx);  // placed, or parameters changed
  const yw_step_ctx* near = yw_near_enter(&b->near, p, ctx);
  if (!near) return YW_ERR_MEMORY;
  yw_status status = take_steps(b, p, near);
  yw_near_leave(&b->near, p);
  if (status < 0) return status;
  yw_fem_follow_all(&b->front, p->pos, p->vel);
  if (is_last_part(ctx)) maybe_sleep(b, p, ctx);
  if (is_last_part(ctx) || b->mass_version != b->front_version) yw_fem_show_masses(b, p);
  yw_fem_show_front(b);
  if (is_last_part(ctx)) remember_end(b, p);
  return status;
}

// Without regard to squeezed tets, which shorten the steps of a part when they are found.
static int32_t fem_inner_steps(const void* state, const yw_particles* p, const yw_step_ctx* ctx) {
  const fem_body* b = state;
  (void)p;
  if (b->asleep) return 1;
  float steps = ceilf(ctx->h / stable_step(b, false));
  return steps < 1e7f ? (int32_t)fmaxf(steps, 1.0f) : 1;
}

// Explicit steps: free nodes answer apart, and hanging ones pass everything on to their parents and
// follow them, as do the nodes inside of coarse tets.
static yw_status fem_respond(void* state, const yw_particles* p, const yw_step_ctx* ctx,
                             const yw_vec4* impulses, yw_vec4* change) {
  const fem_body* b = state;
  (void)ctx;
  memcpy(change, impulses, sizeof *change * (size_t)p->count);
  yw_fem_carry_one(&b->front, change);
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    float inverse = p->inv_mass[n] == 0.0f ? 0.0f : b->inv_mass[n];
    change[n] = yw_v4(yw_scale(yw_xyz(change[n]), inverse));
  }
  yw_fem_follow_one(&b->front, change);
  return YW_OK;
}

// Passes what contact did to hanging nodes on to their parents, unless contact did so itself.
static yw_status fem_fold(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  fem_body* b = state;
  if (is_last_part(ctx) && !was_touched(b, p)) return YW_OK;
  const fem_front* f = &b->front;
  for (int32_t i = f->num_hanging - 1; i >= 0; --i) {
    int32_t n = f->hanging[i];
    const int32_t* parents = f->h->node[n].parents;
    if (ctx->begin && yw_fem_is_mean(parents, p->pos, n)) continue;
    float inverse[2], weight = 0.0f;
    for (int k = 0; k < 2; ++k) inverse[k] = p->inv_mass[parents[k]], weight += inverse[k];
    if (!(weight > 0.0f)) continue;
    yw_vec3 u = yw_xyz(p->pos[parents[0]]), v = yw_xyz(p->pos[parents[1]]);
    yw_vec3 off = yw_sub(yw_xyz(p->pos[n]), yw_lerp(u, v, 0.5f));
    yw_vec3 fast = yw_sub(yw_xyz(p->vel[n]),
                          yw_lerp(yw_xyz(p->vel[parents[0]]), yw_xyz(p->vel[parents[1]]), 0.5f));
    // The impulse at the midpoint, half to each end, moves it by off.
    for (int k = 0; k < 2; ++k) {
      float share = 2.0f * inverse[k] / weight;
      p->pos[parents[k]] = yw_v4(yw_mad(yw_xyz(p->pos[parents[k]]), share, off));
      p->vel[parents[k]] = yw_v4(yw_mad(yw_xyz(p->vel[parents[k]]), share, fast));
    }
  }
  yw_fem_follow_all(f, p->pos, p->vel);
  return YW_OK;
}

// Impulses on nodes that follow others go to these.
static void fem_push(void* state, yw_particles* p, const yw_vec4* impulses) {
  fem_body* b = state;
  fem_vec4* carried = (fem_vec4*)b->carried;
  memcpy(carried, impulses, (size_t)p->count * sizeof *carried);
  yw_fem_carry_one(&b->front, carried);
  for (int32_t i = 0; i < b->front.num_active; ++i) {
    int32_t n = b->front.active[i];
    if (b->front.state[n] != FEM_FREE || p->inv_mass[n] == 0.0f) continue;
    float inverse = (float)(1.0 / b->mass[n]);
    p->vel[n] = yw_v4(yw_mad(yw_xyz(p->vel[n]), inverse, yw_xyz(carried[n])));
  }
  yw_fem_follow_all(&b->front, p->pos, p->vel);
}

// Impulses act on free nodes, which carry the mass of those that follow them. What turns is that
// mass at their places: the difference to the sum over all particles.
static void fem_own_spin(const void* state, const yw_particles* p, double out[3]) {
  const fem_body* b = state;
  memset(out, 0, 3 * sizeof *out);
  for (int32_t n = 0; n < p->count; ++n) {
    double more = b->mass[n] - (double)p->mass[n];
    const float *x = &p->pos[n].x, *v = &p->vel[n].x;
    for (int k = 0; k < 3; ++k) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      out[k] += more * ((double)x[i] * (double)v[j] - (double)x[j] * (double)v[i]);
    }
  }
}

// Contact looks for pieces from the next substep on: in this one it has not noted where they began.
static yw_status fem_settle(void* state, yw_particles* p, const yw_step_ctx* ctx) {
  fem_body* b = state;
  (void)p, (void)ctx;
  b->is_apart = b->cracks.num_pieces > 1;
  return YW_OK;
}

static bool has_pieces(const void* state) { return ((const fem_body*)state)->is_apart; }

// The table ---------------------------------------------------------------------------------------

static uint64_t model_hash(const void* model) { return ((const fem_model*)model)->hash; }

static int32_t model_num_particles(const void* model) {
  return ((const fem_model*)model)->h.num_nodes;
}

const fem_hierarchy* yw_fem_hierarchy_of(const void* model) {
  return &((const fem_model*)model)->h;
}

static yw_contact_geometry contact_geometry(const void* state) {
  const fem_body* b = state;
  int32_t num_tets;
  const int32_t* tets = yw_fem_cells(state, &num_tets);
  return (yw_contact_geometry){.tets = tets,
                               .num_tets = num_tets,
                               .triangles = b->triangles,
                               .num_triangles = b->num_triangles,
                               .surface_particles = b->surface_nodes,
                               .num_surface_particles = b->num_surface_nodes,
                               .rest = b->model->fragile ? b->cracks.rest : b->model->rest,
                               .hanging = (const int32_t(*)[3])b->hanging,
                               .num_hanging = b->num_hanging,
                               .carried_mass = b->mass};
}

static uint64_t topology_version(const void* state) {
  return ((const fem_body*)state)->front_version;
}

// Nodes inside of coarse tets follow these, so that only a coarser level shows no facets of them.
static yw_status carrier_tets(const void* model, const yw_allocator* mem, yw_tet_mesh* out) {
  const fem_hierarchy* h = yw_fem_hierarchy_of(model);
  return yw_fem_level_mesh(mem, h, h->max_level > 0 ? h->max_level - 1 : 0, out, NULL);
}

// Bodies that may break show their own surface, others the boundary of the tets.
static yw_status model_surface(const void* model, const yw_allocator* mem, yw_tri_mesh* out) {
  const fem_model* m = model;
  return m->fragile ? yw_fem_crack_surface(&m->h, m->fragile, mem, out) : YW_OK;
}

static void surface_positions(const void* state, const yw_particles* p, yw_vec3* out) {
  const fem_body* b = state;
  yw_fem_crack_positions(&b->model->h, &b->cracks, p->pos, out);
}

// What tracks may change over time.
static const yw_parameter tracked[] = {
    {"mass_damping", offsetof(yw_fem_params, mass_damping)},
    {"stiffness_damping", offsetof(yw_fem_params, stiffness_damping)},
    {"yield", offsetof(yw_fem_params, yield)},
    {"creep", offsetof(yw_fem_params, creep)},
    {"max_plastic", offsetof(yw_fem_params, max_plastic)},
    {"tau", offsetof(yw_fem_params, tau)},
    {"stiffness_scale", offsetof(yw_fem_params, stiffness_scale)}};
_Static_assert(sizeof(yw_fem_params) <= YW_MAX_PARAMS_BYTES, "must fit");

static void params(const void* state, void* out) {
  yw_fem_params now = yw_fem_params_of(state);
  memcpy(out, &now, sizeof now);
}

static yw_status set_params(void* state, const void* wanted) {
  return yw_fem_set_params(state, wanted);
}

static bool may_sleep(const void* state) {
  const fem_body* b = state;
  return b->params.sleep_speed > 0.0f;
}

static yw_status wake(void* state) {
  fem_body* b = state;
  b->asleep = false;
  b->still = 0.0f;
  return YW_OK;
}

const yw_method yw_fem_method = {
    .name = "fem",
    .model_destroy = yw_fem_model_destroy,
    .model_hash = model_hash,
    .model_num_particles = model_num_particles,
    .body_create = yw_fem_body_create,
    .body_destroy = yw_fem_body_destroy,
    .advance = fem_advance,
    .attach = yw_fem_attach,
    .settle = fem_settle,
    .inner_steps = fem_inner_steps,
    .own_spin = fem_own_spin,
    .respond = fem_respond,
    .fold = fem_fold,
    .push = fem_push,
    .invalidate = yw_fem_invalidate,
    .contact_geometry = contact_geometry,
    .topology_version = topology_version,
    .save = yw_fem_save,
    .load = yw_fem_load,
    .statistics = yw_fem_statistics_list,
    .energy = yw_fem_energy,
    .num_fields = yw_fem_num_fields,
    .field_info = yw_fem_field_info,
    .field_meaning = yw_fem_field_meaning,
    .field_values = yw_fem_field_values,
    .cells = yw_fem_cells,
    .carrier_tets = carrier_tets,
    .parameters = tracked,
    .num_parameters = sizeof tracked / sizeof *tracked,
    .params = params,
    .set_params = set_params,
    .wake = wake,
    .may_sleep = may_sleep,
    .model_surface = model_surface,
    .surface_positions = surface_positions,
    .has_pieces = has_pieces,
};
