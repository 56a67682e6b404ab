// SPDX-License-Identifier: MIT
// Plastic bodies: memory, start of parts, following outside motion, snapshots.
#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "methods/kit/rigid.h"
#include "methods/plastic/offload.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "methods/plastic/ranks.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// In units of d. Obstacles meet slaves first, which lie half a spacing outside, and the solve
// passes that on. Masters that an obstacle stops directly lose their speed without deforming: at d
// / 2 every impact would flatten the lowest layer; at d / 4, anything pressed to 0.7 of its height.
#define OBSTACLE_REACH 0.05f
// Masters that were moved as a whole fit a rigid motion within this tolerance, in units of d.
#define RIGID_SLACK 0.01f
// Initial capacity in pairs per master; a lattice has 32.
#define USUAL_PAIRS 34

void yw_plastic_body_destroy(void* state, yw_particles* particles) {
  plastic_body* body = state;
  if (!body) return;
  yw_allocator mem = body->mem;
  void* const arrays[] = {
      body->state,        body->work,        body->origin,      body->last_pos,
      body->pull,         body->radius,      body->reach,       body->drag,
      body->needs,        body->is_linked,   body->slave_pos,   body->slave_vel,
      body->force,        body->solved,      body->residual,    body->touches,
      body->product,      body->normal,      body->surface_vel, body->inverse,
      body->part_start,   body->row_start,   body->column,      body->share,
      body->local_column, body->back_share,  body->local_start, body->bucket_start,
      body->local_slave,  body->parts,       body->part_at,     body->twin,
      body->slave_bucket, body->sorted_x,    body->sorted_y,    body->sorted_z,
      body->sorted_line,  body->found,       body->fresh_head,  body->fresh_next,
      body->sums,         body->course,      body->four_start,  body->borne,
      body->last_vel,     body->slave_block, body->materials};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_plastic_detach(body);
  yw_plastic_sleep_destroy(body);
  yw_plastic_keep_destroy(body);
  yw_plastic_bend_destroy(body);
  yw_plastic_tear_destroy(body);
  yw_plastic_ranks_destroy(body);
  yw_mem_free(&mem, body);
  yw_particles_free(&mem, particles);
}

// What masters here need within a step, and their states.
static bool allocate_masters(plastic_body* body) {
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)body->master_capacity;
  size_t blocks = (size_t)yw_plastic_chunks(body->master_capacity, YW_LANES);
  body->state = YW_NEW_ARRAY(mem, plastic_state_block, blocks);
  body->work = YW_NEW_ARRAY(mem, plastic_work_block, blocks);
  body->borne = YW_NEW_ARRAY(mem, yw_vec4, n);
  body->pull = YW_NEW_ARRAY(mem, yw_vec4, n);
  body->reach = YW_NEW_ARRAY(mem, float, n);
  body->needs = YW_NEW_ARRAY(mem, uint8_t, n);
  body->row_start = YW_NEW_ARRAY(mem, int32_t, n + 1);
  body->four_start = YW_NEW_ARRAY(mem, int32_t, n + 1);
  body->found = YW_NEW_ARRAY(mem, int32_t, n * PLASTIC_MAX_ROW);
  int32_t chunks = yw_plastic_chunks(body->master_capacity, PLASTIC_CHUNK);
  body->local_start = YW_NEW_ARRAY(mem, int32_t, chunks + 1);
  body->origin = YW_NEW_ARRAY(mem, yw_vec4, chunks + 1);
  if (!body->state || !body->work || !body->borne || !body->pull || !body->reach || !body->needs ||
      !body->row_start || !body->four_start || !body->found || !body->local_start ||
      !body->origin) {
    return false;
  }
  for (int32_t m = 0; m < body->master_capacity; ++m) {
    body->reach[m] = OBSTACLE_REACH * body->model->spacing;
  }
  return yw_plastic_take_materials(body) && yw_plastic_sleep_create(body) &&
         yw_plastic_reserve_pairs(body, USUAL_PAIRS * (int64_t)n);
}

bool yw_plastic_renew_masters(plastic_body* body) {
  void* const arrays[] = {body->state, body->work,        body->borne,     body->pull,
                          body->reach, body->needs,       body->row_start, body->four_start,
                          body->found, body->local_start, body->origin};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_plastic_sleep_destroy(body);
  body->sleep = (plastic_sleep){0};
  body->pair_capacity = 0;  // rows of other masters are padded
  if (!allocate_masters(body)) return false;
  yw_plastic_reset_state(body);
  int32_t chunks = yw_plastic_chunks(body->master_capacity, PLASTIC_CHUNK);
  return yw_plastic_reserve_sums(body, chunks + 1) && yw_plastic_list_sleepers(body);
}

static bool allocate(plastic_body* body) {
  const plastic_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  size_t n = (size_t)body->master_capacity;
  int32_t slaves = model->without_slaves ? model->num_masters : model->num_slaves;
  if (body->ranks) slaves = slaves / body->ranks->comm->count + 1;
  body->last_pos = YW_NEW_ARRAY(mem, yw_vec4, n);
  body->last_vel = YW_NEW_ARRAY(mem, yw_vec4, n);
  body->radius = YW_NEW_ARRAY(mem, float, model->num_masters);
  body->is_linked = YW_NEW_ARRAY(mem, uint8_t, model->num_links + 1);
  int32_t heads = 1024;
  while (heads < slaves / 2) heads *= 2;
  body->fresh_head = YW_NEW_ARRAY(mem, int32_t, heads);
  body->fresh_mask = heads - 1;
  if (!body->last_pos || !body->last_vel || !body->radius || !body->is_linked ||
      !body->fresh_head) {
    return false;
  }
  if (model->paper) body->drag = YW_NEW_ARRAY(mem, yw_vec4, n);
  if (model->paper && !body->drag) return false;
  if (model->without_slaves) body->twin = YW_NEW_ARRAY(mem, int32_t, n);
  if (model->without_slaves && !body->twin) return false;
  memset(body->fresh_head, 0xff, (size_t)heads * sizeof *body->fresh_head);
  return yw_plastic_reserve_slaves(body, slaves) && allocate_masters(body) &&
         yw_plastic_keep_create(body) && yw_plastic_bend_create(body) &&
         yw_plastic_tear_create(body);
}

bool yw_plastic_take_materials(plastic_body* body) {
  const plastic_model* model = body->model;
  int32_t blocks = yw_plastic_chunks(body->master_capacity, YW_LANES);
  yw_mem_free(&body->mem, body->materials);
  body->materials = YW_NEW_ARRAY(&body->mem, plastic_material_block, blocks);
  const int32_t* kind = model->material_of_block + body->first_master / YW_LANES;
  for (int32_t b = 0; body->materials && b < blocks; ++b) {
    body->materials[b] = model->materials[kind[b]];
  }
  return body->materials != NULL;
}

static double power_of_two_above(double count) {
  double power = 1.0;
  while (power < count) power *= 2.0;
  return power;
}

double yw_plastic_body_bytes(double masters, double slaves, bool elastic) {
  const double number = sizeof(int32_t), place = sizeof(yw_vec4);
  // `allocate`: arrays of masters and their rows; the world's copies to show them and to go back.
  double master =
      (sizeof(plastic_state_block) + sizeof(plastic_work_block) + sizeof(plastic_material_block)) /
          (double)YW_LANES +
      (PLASTIC_MAX_ROW + 4) * number + 4 * place + 4;
  // `keep.c`: six links, and a point.
  if (elastic) master += 130.0;
  double seam = 3 * place + 2 * sizeof(yw_vec3) + 3 * number;
  // `yw_plastic_reserve_pairs`, and the slaves of chunks (locals.c): three per master in a lattice,
  // and never fewer than there are slaves.
  double pairs = (1.25 * USUAL_PAIRS + 3.0) * (2 * number + sizeof(uint16_t));
  double locals = 1.25 * fmax(3.0 * masters, 1.2 * slaves) * (2 * number + 2 * place);
  // `yw_plastic_reserve_slaves`.
  double capacity = 1.25 * slaves + 256.0;
  double slave = 8 * place + sizeof(plastic_course) + 13 * number + 1;
  // `yw_plastic_sleep_create`.
  double sleep = masters * 4 * number + (1.25 * capacity + 256.0) * (place + 2 * number);
  double tables = power_of_two_above(capacity) + power_of_two_above(0.5 * slaves);
  return masters * (master + seam + pairs) + locals + capacity * slave + sleep + tables * number;
}

void yw_plastic_reset_state(plastic_body* body) {
  int32_t blocks = yw_plastic_chunks(body->master_capacity, YW_LANES);
  for (int32_t b = 0; b < blocks; ++b) {
    plastic_state_block* state = &body->state[b];
    memset(state, 0, sizeof *state);
    for (int l = 0; l < YW_LANES; ++l) {
      state->u[0][l] = state->u[4][l] = state->u[8][l] = 1.0f;
      state->sigma[0][l] = state->sigma[1][l] = state->sigma[2][l] = 1.0f;
      state->det_p[l] = state->harden[l] = 1.0f;
      state->volume[l] = body->materials[b].volume[l];
    }
  }
}

// The body as its model has it: parts that begin at once.
static yw_status start_body(plastic_body* body, void** state, yw_particles* particles,
                            yw_error* error) {
  const plastic_model* model = body->model;
  yw_plastic_reset_state(body);
  particles->count = 0;
  memset(particles->mass, 0, (size_t)particles->capacity * sizeof *particles->mass);
  memset(particles->inv_mass, 0, (size_t)particles->capacity * sizeof *particles->inv_mass);
  memset(body->is_linked, 1, (size_t)model->num_links);
  for (int32_t m = 0; m < model->num_masters; ++m) {
    body->radius[m] = 0.5f * model->spacing;
  }
  while (body->num_started < model->num_parts &&
         yw_plastic_has_started(&model->parts[body->num_started], 0.0)) {
    if (!yw_plastic_start_part(body, particles, &model->parts[body->num_started])) {
      yw_plastic_body_destroy(body, particles);
      return yw_fail_memory(error, "a plastic body");
    }
  }
  body->is_moved = true;
  yw_plastic_show_skin(body);
  *state = body;
  return YW_OK;
}

yw_status yw_plastic_body_create(const void* model, const yw_allocator* mem, void** state,
                                 yw_particles* particles, yw_error* error) {
  return yw_plastic_body_create_shared(model, mem, NULL, state, particles, error);
}

yw_status yw_plastic_body_create_shared(const void* model_pointer, const yw_allocator* mem,
                                        const struct yw_ranks* ranks, void** state,
                                        yw_particles* particles, yw_error* error) {
  const plastic_model* model = model_pointer;
  *state = NULL;
  *particles = (yw_particles){0};
  plastic_body* body = YW_NEW(mem, plastic_body);
  if (!body) return yw_fail_memory(error, "a plastic body");
  body->model = model;
  body->params = model->params;
  body->mem = yw_mem_or_default(mem);
  body->turn = (yw_quat){0, 0, 0, 1};
  body->rules = (plastic_rules){.per_split = 2, .repair = true};
  body->master_capacity = model->num_masters;
  if (ranks) {
    yw_status status = yw_plastic_ranks_create(body, ranks, error);
    if (status < 0) {
      yw_plastic_body_destroy(body, particles);
      return status;
    }
  }
  if (!allocate(body) || !yw_particles_create(mem, model->num_masters, particles)) {
    yw_plastic_body_destroy(body, particles);
    return yw_fail_memory(error, "a plastic body");
  }
  if (ranks && (body->bend || body->tear)) {
    yw_plastic_body_destroy(body, particles);
    return yw_fail(
        error, YW_ERR_INVALID,
        "a sheet of single masters that is elastic or softens cannot be on several ranks "
        "yet: make it two layers thick, or run it on one");
  }
  return start_body(body, state, particles, error);
}

// A body that diverged forgets its shape: its snapshots hold numbers, so that a run with it can be
// resumed.
void yw_plastic_invalidate(void* state, const yw_particles* particles) {
  plastic_body* body = state;
  yw_plastic_bring_rest(body);
  yw_plastic_resend(body);
  bool good = yw_plastic_all_finite(body->state[0].u[0], yw_plastic_state_floats(body));
  // Ranks agree on it: infinity stands for no.
  if (!isfinite(yw_plastic_most(body, good ? 0.0f : INFINITY))) yw_plastic_reset_state(body);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    if (!yw_plastic_all_finite(&body->slave_pos[s].x, 4))
      body->slave_pos[s] = yw_v4(yw_xyz(particles->pos[0]));
  }
  body->is_moved = true;
  body->lists_are_old = true;
}

// Parts -------------------------------------------------------------------------------------------

static yw_vec3 part_velocity(const plastic_body* body, const plastic_part* part, int32_t m) {
  yw_vec3 arm = yw_sub(body->model->masters[m], part->center);
  return yw_rotate(body->turn, yw_add(part->velocity, yw_cross(part->spin, arm)));
}

// Of master m of all ranks.
static void set_affine(plastic_body* body, int32_t m, yw_vec3 spin) {
  const float c[9] = {0, -spin.z, spin.y, spin.z, 0, -spin.x, -spin.y, spin.x, 0};
  int32_t here = m - body->first_master;
  if (here < 0 || here >= body->master_capacity) return;
  for (int k = 0; k < 9; ++k) body->state[here / YW_LANES].c[k][here % YW_LANES] = c[k];
}

// New slaves are dealt out evenly; once masters see them they go where they belong.
static void share_slaves(const plastic_body* body, int32_t* first, int32_t* end) {
  int64_t count = *end - *first, ranks = body->ranks->comm->count, rank = body->ranks->comm->rank;
  int32_t begin = *first;
  *first = begin + (int32_t)(count * rank / ranks);
  *end = begin + (int32_t)(count * (rank + 1) / ranks);
}

static bool number_part(plastic_body* body, const plastic_part* part, int32_t first, int32_t end) {
  plastic_ranks* ranks = body->ranks;
  size_t count = (size_t)body->num_slaves + (size_t)(end - first);
  if (!yw_plastic_grow(ranks, &ranks->numbers, count * sizeof(int64_t))) return false;
  for (int32_t s = first; s < end; ++s) {
    yw_plastic_numbers(body)[body->num_slaves + s - first] =
        ranks->num_all + (s - part->first_slave);
  }
  ranks->num_all += part->num_slaves;
  return true;
}

bool yw_plastic_start_part(plastic_body* body, yw_particles* particles, const plastic_part* part) {
  const plastic_model* model = body->model;
  int32_t first_slave = part->first_slave, end_slave = first_slave + part->num_slaves;
  if (body->ranks) share_slaves(body, &first_slave, &end_slave);
  if (!yw_plastic_reserve_slaves(body, body->num_slaves + end_slave - first_slave)) return false;
  yw_vec3 spin = yw_rotate(body->turn, part->spin);
  for (int32_t m = part->first; m < part->first + part->count; ++m) {
    yw_vec4 x = yw_v4(yw_add(yw_rotate(body->turn, model->masters[m]), body->shift));
    int32_t here = m - body->first_master;
    bool is_here = here >= 0 && here < body->master_capacity;
    particles->pos[m] = x;
    if (is_here) body->last_pos[here] = x;
    particles->mass[m] = model->mass[m];
    particles->inv_mass[m] = 1.0f / model->mass[m];
    particles->vel[m] = (yw_vec4){0};
    // The body's velocity is unknown until it is placed; yw_plastic_follow then adds that of parts.
    if (!body->is_placed) continue;
    particles->vel[m] = yw_v4(part_velocity(body, part, m));
    if (is_here) body->last_vel[here] = particles->vel[m];
    set_affine(body, m, spin);
  }
  if (body->ranks && !number_part(body, part, first_slave, end_slave)) return false;
  for (int32_t s = first_slave; s < end_slave; ++s) {
    body->slave_pos[body->num_slaves++] =
        yw_v4(yw_add(yw_rotate(body->turn, model->slaves[s]), body->shift));
  }
  particles->count = body->num_all = body->num_masters = part->first + part->count;
  if (body->ranks) {
    body->num_masters = yw_plastic_masters_of_rank(body, body->ranks->comm->rank);
  }
  ++body->num_started;
  ++body->version;
  body->lists_are_old = true;
  return yw_plastic_list_sleepers(body);
}

// Following ---------------------------------------------------------------------------------------

typedef struct rigid_fit {
  yw_vec3 from, to;  // centers
  yw_mat3 turn;
  float error;  // m, largest
} rigid_fit;

// Rigid motion from last_pos to the current positions of masters.
static rigid_fit fit_motion(const plastic_body* body, const yw_vec4* last_pos,
                            const yw_particles* particles) {
  double mass = 0.0, from[3] = {0}, to[3] = {0}, a[9] = {0}, largest = 0.0;
  for (int32_t m = 0; m < body->num_all; ++m) {
    double w = (double)particles->mass[m];
    const float *x0 = &last_pos[m].x, *x = &particles->pos[m].x;
    mass += w;
    for (int i = 0; i < 3; ++i) from[i] += w * (double)x0[i], to[i] += w * (double)x[i];
  }
  for (int i = 0; i < 3; ++i) from[i] /= mass, to[i] /= mass;
  for (int32_t m = 0; m < body->num_all; ++m) {
    double w = (double)particles->mass[m] / mass;
    const float *x0 = &last_pos[m].x, *x = &particles->pos[m].x;
    for (int k = 0; k < 9; ++k) {
      a[k] += w * ((double)x[k / 3] - to[k / 3]) * ((double)x0[k % 3] - from[k % 3]);
    }
  }
  for (int k = 0; k < 9; ++k) largest = fmax(largest, fabs(a[k]));
  rigid_fit fit = {yw_v3_of(from), yw_v3_of(to), yw_mat3_identity(), 0.0f};
  if (largest > 0.0 && isfinite(largest)) {
    for (int k = 0; k < 9; ++k) a[k] /= largest;
    yw_mat3 map = {{(float)a[0], (float)a[3], (float)a[6]},
                   {(float)a[1], (float)a[4], (float)a[7]},
                   {(float)a[2], (float)a[5], (float)a[8]}};
    yw_mat3 stretch;
    yw_polar(&map, &fit.turn, &stretch);
  }
  for (int32_t m = 0; m < body->num_all; ++m) {
    yw_vec3 arm = yw_sub(yw_xyz(last_pos[m]), fit.from);
    float off = yw_distance(yw_add(fit.to, yw_mul(fit.turn, arm)), yw_xyz(particles->pos[m]));
    if (!(off <= fit.error)) fit.error = off;
  }
  return fit;
}

static void turn_state(plastic_body* body, const yw_mat3* turn) {
  for (int32_t m = 0; m < body->num_masters; ++m) {
    plastic_state_block* state = &body->state[m / YW_LANES];
    int32_t l = m % YW_LANES;
    for (int k = 0; k < 3; ++k) {
      yw_vec3 axis = yw_mul(*turn, yw_v3(state->u[k][l], state->u[3 + k][l], state->u[6 + k][l]));
      state->u[k][l] = axis.x, state->u[3 + k][l] = axis.y, state->u[6 + k][l] = axis.z;
    }
  }
}

// Sets C of a part that rotates as a whole; C of others is 0.
static void fit_spin(plastic_body* body, const yw_particles* particles, const plastic_part* part) {
  double mass = 0.0, x[3] = {0}, v[3] = {0}, angular[3] = {0}, i[6] = {0}, energy = 0.0, left = 0.0;
  int32_t end = part->first + part->count;
  for (int32_t m = part->first; m < end; ++m) {
    double w = (double)particles->mass[m];
    mass += w;
    for (int k = 0; k < 3; ++k) {
      x[k] += w * (double)(&particles->pos[m].x)[k];
      v[k] += w * (double)(&particles->vel[m].x)[k];
    }
  }
  for (int k = 0; k < 3; ++k) x[k] /= mass, v[k] /= mass;
  for (int32_t m = part->first; m < end; ++m) {
    double w = (double)particles->mass[m], r[3], u[3];
    for (int k = 0; k < 3; ++k) {
      r[k] = (double)(&particles->pos[m].x)[k] - x[k];
      u[k] = (double)(&particles->vel[m].x)[k] - v[k];
      energy += w * u[k] * u[k];
    }
    for (int k = 0; k < 3; ++k) {
      int a = (k + 1) % 3, b = (k + 2) % 3;
      angular[k] += w * (r[a] * u[b] - r[b] * u[a]);
      i[k] += w * (r[a] * r[a] + r[b] * r[b]);
    }
    i[3] -= w * r[0] * r[1], i[4] -= w * r[0] * r[2], i[5] -= w * r[1] * r[2];
  }
  double cx = i[1] * i[2] - i[5] * i[5], cy = i[4] * i[5] - i[3] * i[2];
  double cz = i[3] * i[5] - i[4] * i[1], det = i[0] * cx + i[3] * cy + i[4] * cz;
  double size = i[0] + i[1] + i[2];
  if (!(det > 1e-9 * size * size * size) || !(energy > 0.0)) return;
  double cyy = i[0] * i[2] - i[4] * i[4], czz = i[0] * i[1] - i[3] * i[3];
  double cyz = i[3] * i[4] - i[0] * i[5];
  yw_vec3 turn = yw_v3((float)((cx * angular[0] + cy * angular[1] + cz * angular[2]) / det),
                       (float)((cy * angular[0] + cyy * angular[1] + cyz * angular[2]) / det),
                       (float)((cz * angular[0] + cyz * angular[1] + czz * angular[2]) / det));
  for (int32_t m = part->first; m < end; ++m) {
    yw_vec3 arm = yw_sub(yw_xyz(particles->pos[m]), yw_v3_of(x));
    yw_vec3 off = yw_sub(yw_sub(yw_xyz(particles->vel[m]), yw_v3_of(v)), yw_cross(turn, arm));
    left += (double)particles->mass[m] * (double)yw_length2(off);
  }
  if (left > 1e-4 * energy) turn = yw_v3(0, 0, 0);
  for (int32_t m = part->first; m < end; ++m) set_affine(body, m, turn);
}

// The body was placed, or moved by the caller.
static bool follow_moved(plastic_body* body, yw_particles* particles) {
  yw_vec4* last_pos = body->last_pos;
  if (body->ranks) {
    last_pos = YW_NEW_ARRAY(&body->mem, yw_vec4, body->num_all);
    if (!last_pos) body->ranks->comm->abandon(body->ranks->comm->context, "not enough memory");
    yw_plastic_gather_values(body, body->last_pos, last_pos, sizeof *last_pos);
  }
  rigid_fit fit = fit_motion(body, last_pos, particles);
  if (body->ranks) yw_mem_free(&body->mem, last_pos);
  if (!isfinite(fit.error)) return false;
  turn_state(body, &fit.turn);
  if (fit.error <= RIGID_SLACK * body->model->spacing) {
    for (int32_t s = 0; s < body->num_slaves; ++s) {
      yw_vec3 arm = yw_sub(yw_xyz(body->slave_pos[s]), fit.from);
      body->slave_pos[s] = yw_v4(yw_add(fit.to, yw_mul(fit.turn, arm)));
    }
  } else if (body->ranks ||
             (!body->model->without_slaves && !yw_plastic_seed_slaves(body, particles))) {
    return false;
  }
  if (!body->is_placed) {
    body->turn = yw_quat_from_mat3(&fit.turn);
    body->shift = yw_sub(fit.to, yw_rotate(body->turn, fit.from));
    for (int32_t i = 0; i < body->num_started; ++i) {
      const plastic_part* part = &body->model->parts[i];
      for (int32_t m = part->first; m < part->first + part->count; ++m) {
        yw_vec3 v = yw_add(yw_xyz(particles->vel[m]), part_velocity(body, part, m));
        particles->vel[m] = yw_v4(v);
      }
    }
    body->is_placed = true;
  }
  for (int32_t i = 0; i < body->num_started; ++i) {
    fit_spin(body, particles, &body->model->parts[i]);
  }
  body->is_moved = false;
  body->lists_are_old = true;
  return true;
}

// Displacements of pushed masters deform them, as far as the slaves around see it. Velocities stay
// as contact left them.
static void deform_pushed(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                          const plastic_kernels* kernels) {
  // The lists are built, so `found` is free to use.
  float* kept = (float*)body->found;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    body->solved[s] = body->slave_vel[s];
    body->solved[s].w = 1.0f;
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    float* own = kept + 12 * (size_t)m;
    for (int k = 0; k < 9; ++k) own[k] = body->state[m / YW_LANES].c[k][m % YW_LANES];
    memcpy(own + 9, &particles->vel[m], 3 * sizeof *own);
  }
  body->dt = 1.0f;
  yw_plastic_run_masters(body, particles, ctx, kernels->flow);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    const float* own = kept + 12 * (size_t)m;
    for (int k = 0; k < 9; ++k) body->state[m / YW_LANES].c[k][m % YW_LANES] = own[k];
    particles->vel[m] = (yw_vec4){own[9], own[10], own[11], 0.0f};
  }
  yw_plastic_restore_sleepers(body, particles);
}

// Contact with other bodies moved some masters: slaves move by the mean of the masters around them,
// as they do in a step. Slave velocities need no update: momentum is stored in the masters.
static bool follow_pushed(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  const plastic_kernels* kernels = YW_KERNEL_PICK(yw_plastic_kernels, ctx->simd);
  // Lists must outlast the push.
  body->pace = 0.0f;
  if (!yw_plastic_find_neighbours(body, particles, ctx)) return false;
  yw_plastic_weigh(body, particles, ctx);
  float farthest = 0.0f;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    yw_vec3 moved = yw_sub(yw_xyz(particles->pos[m]), yw_xyz(body->last_pos[m]));
    float way = yw_length(moved);
    if (way > farthest) farthest = way;
  }
  farthest = yw_plastic_most(body, farthest);
  yw_plastic_scatter(body, particles, ctx, kernels->spread_push, 1);
  yw_plastic_run_slaves(body, particles, ctx, kernels->to_slaves);
  deform_pushed(body, particles, ctx, kernels);
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    body->slave_pos[s] = yw_v4(yw_add(yw_xyz(body->slave_pos[s]), yw_xyz(body->slave_vel[s])));
  }
  body->drift += farthest;
  return isfinite(farthest);
}

bool yw_plastic_follow(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  if (body->is_moved) return yw_plastic_wake_all(body) && follow_moved(body, particles);
  yw_particles here = yw_plastic_masters_here(body, particles);
  size_t bytes = (size_t)body->num_masters * sizeof *here.pos;
  bool is_pushed = memcmp(body->last_pos, here.pos, bytes) != 0;
  if (!(yw_plastic_most(body, is_pushed ? 1.0f : 0.0f) > 0.0f)) return true;
  return follow_pushed(body, &here, ctx);
}

// Parameters and statistics -----------------------------------------------------------------------

void yw_plastic_take_params(plastic_body* body, const yw_plastic_params* params) {
  plastic_sleep* sleep = &body->sleep;
  bool was_on = sleep->is_on;
  body->params = *params;
  sleep->is_on = sleep->still && params->sleep_speed != 0.0f;
  // Time at rest before sleep was enabled does not count.
  if (sleep->is_on && !was_on) {
    memset(sleep->still, 0, (size_t)body->master_capacity * sizeof *sleep->still);
  }
}

yw_status yw_plastic_set_params(void* state, const yw_plastic_params* params) {
  plastic_body* body = state;
  yw_status status = yw_plastic_params_check(params, NULL);
  if (status < 0) return status;
  bool wakes =
      params->sleep_speed == 0.0f || params->stiffness_scale != body->params.stiffness_scale;
  if (wakes && !yw_plastic_wake_all(body)) return YW_ERR_MEMORY;
  yw_plastic_take_params(body, params);
  return YW_OK;
}

yw_plastic_params yw_plastic_params_of(const void* state) {
  return ((const plastic_body*)state)->params;
}

void yw_plastic_statistics_of(const void* state, yw_plastic_statistics* out) {
  const plastic_body* body = state;
  *out = (yw_plastic_statistics){.num_masters = body->num_all,
                                 .num_slaves = body->num_slaves,
                                 .num_asleep = body->sleep.num_asleep,
                                 .num_islands = body->sleep.num_islands,
                                 .time_step = body->dt,
                                 .inner_steps = body->inner_steps,
                                 .iterations = body->iterations,
                                 .added = body->added,
                                 .removed = body->removed};
  if (body->ranks) out->num_slaves = (int32_t)body->ranks->num_all;
}

int32_t yw_plastic_slaves_of(const void* state, yw_vec3* out, int32_t capacity) {
  const plastic_body* body = state;
  yw_plastic_bring_rest(body);
  for (int32_t i = 0; out && i < body->num_slaves && i < capacity; ++i) {
    out[i] = yw_v3(body->slave_pos[i].x, body->slave_pos[i].y, body->slave_pos[i].z);
  }
  return body->num_slaves;
}
