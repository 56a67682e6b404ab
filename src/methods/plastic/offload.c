// SPDX-License-Identifier: MIT
#include "methods/plastic/offload.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

/// What the host knows of a body on a device.
struct plastic_away {
  const plastic_device_fns* fns;
  plastic_remote* remote;
  plastic_layout layout;
  int64_t pair_capacity, slot_capacity, chunk_capacity;  // of layout
  int64_t listed;        // rebuilt lists that the device has; below 0: none
  int32_t contacts;      // of the last inner step
  bool sent;             // the device has the masters
  bool is_away;          // the particles on the host are out of date
  bool state_is_away;    // so is what masters carry
  bool slaves_are_away;  // so are the slaves
  bool has_slaves;       // the device has the slaves
  bool rows_are_away;    // row_start and column on the host are out of date
  bool parts_are_away;   // so is what follows from them (locals.c)
  bool matrix_is_away;   // so are matrix and contacts of the last inner step
  bool is_bad;           // the particles are beyond all bounds
  bool is_lost;          // the device failed
};

// The formulas as printed, evaluation at masters, late contact, elastic matter that keeps its shape
// or resists bending, sheets that soften, and bodies of several ranks are for the processor.
yw_status yw_plastic_attach(void* state, const yw_device* device, yw_error* error) {
  plastic_body* body = state;
  const plastic_model* model = body->model;
  const plastic_device_fns* fns = device->method("plastic");
  bool is_plain = !model->paper && !model->without_slaves && !model->scheme.collide_after;
  bool is_local = body->keep || body->bend || body->tear || body->ranks;
  if (!fns || !is_plain || is_local) return YW_OK;
  body->away = YW_NEW(&body->mem, struct plastic_away);
  if (!body->away) return yw_fail_memory(error, "a plastic body on a device");
  body->away->fns = fns;
  body->away->listed = -1;
  return fns->create(body, &body->away->remote, error);
}

void yw_plastic_detach(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away) return;
  if (away->remote) away->fns->destroy(away->remote);
  void* const arrays[] = {away->layout.row_start,   away->layout.column,     away->layout.at,
                          away->layout.first_group, away->layout.slot_start, away->layout.slot,
                          away->layout.count,       away->layout.master};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&body->mem, arrays[i]);
  yw_mem_free(&body->mem, away);
  body->away = NULL;
}

bool yw_plastic_is_away(const void* state) {
  const plastic_body* body = state;
  return body->away && body->away->is_away;
}

// Pins and sleepers are for the processor.
bool yw_plastic_goes_away(const plastic_body* body, const yw_step_ctx* ctx) {
  return body->away && !body->away->is_lost && ctx->num_holds == 0 && ctx->num_springs == 0 &&
         body->sleep.num_asleep == 0 && body->away->fns->knows(ctx);
}

static yw_status note(struct plastic_away* away, yw_status status) {
  if (status == YW_ERR_DEVICE) away->is_lost = true;
  return status;
}

// Coming back -------------------------------------------------------------------------------------

static pthread_mutex_t rest_lock = PTHREAD_MUTEX_INITIALIZER;

static yw_status bring_state(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away->state_is_away || away->is_lost) return YW_OK;
  away->state_is_away = false;
  return note(away, away->fns->fetch_state(away->remote, body));
}

static yw_status bring_slaves(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away->slaves_are_away || away->is_lost) return YW_OK;
  away->slaves_are_away = false;
  return note(away, away->fns->fetch_slaves(away->remote, body));
}

// The rows of masters.
static yw_status bring_rows(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away->rows_are_away || away->is_lost) return YW_OK;
  away->rows_are_away = false;
  if (!yw_plastic_reserve_pairs(body, body->num_pairs)) return YW_ERR_MEMORY;
  return note(away, away->fns->fetch_lists(away->remote, body));
}

// The rows where new slaves may be needed.
static yw_status bring_due_rows(plastic_body* body) {
  struct plastic_away* away = body->away;
  bool all = true;
  if (!away->rows_are_away || away->is_lost) return YW_OK;
  if (!yw_plastic_reserve_pairs(body, body->num_pairs)) return YW_ERR_MEMORY;
  yw_status status = note(away, away->fns->fetch_due_rows(away->remote, body, &all));
  return status < 0 || all ? status : bring_rows(body);
}

// The rest of the lists follows from rows. Slaves keep their numbers; new ones are not in lists.
static yw_status bring_parts(plastic_body* body) {
  struct plastic_away* away = body->away;
  yw_status status = bring_rows(body);
  if (!away->parts_are_away || away->is_lost || status < 0) return status;
  away->parts_are_away = false;
  int32_t all = body->num_slaves, listed = body->num_listed;
  if (listed == 0) return YW_OK;
  const yw_step_ctx alone = {0};
  body->num_slaves = listed;
  if (!yw_plastic_list_parts(body, &alone)) return YW_ERR_MEMORY;
  // The other array has what was here before.
  memcpy(body->slave_pos + listed, body->product + listed,
         (size_t)(all - listed) * sizeof *body->slave_pos);
  body->num_slaves = all;
  return YW_OK;
}

yw_status yw_plastic_bring_rest(const plastic_body* body) {
  if (!body->away) return YW_OK;
  // The body is const for readers, of which there may be several at the same time; this only brings
  // what they read up to date.
  plastic_body* own = (plastic_body*)(uintptr_t)body;
  pthread_mutex_lock(&rest_lock);
  yw_status status = bring_state(own);
  if (status >= 0 && !body->lists_are_old) status = bring_parts(own);
  if (status >= 0) status = bring_slaves(own);
  pthread_mutex_unlock(&rest_lock);
  return status;
}

yw_status yw_plastic_bring_matrix(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away || !away->matrix_is_away || away->is_lost || body->num_listed == 0) return YW_OK;
  yw_status status = bring_parts(body);
  if (status < 0) return status;
  away->matrix_is_away = false;
  return note(away, away->fns->fetch_matrix(away->remote, body));
}

// Positions and velocities.
static yw_status bring_particles(plastic_body* body, yw_particles* particles) {
  struct plastic_away* away = body->away;
  if (!away->is_away || away->is_lost) return YW_OK;
  return note(away, away->fns->fetch(away->remote, particles));
}

yw_status yw_plastic_fetch(void* state, yw_particles* particles, yw_method_report* report) {
  plastic_body* body = state;
  struct plastic_away* away = body->away;
  if (!away || !away->is_away) return YW_OK;
  if (away->is_lost) return YW_ERR_DEVICE;
  yw_status status = bring_particles(body, particles);
  away->is_away = false;
  if (status < 0) return status;
  size_t bytes = (size_t)body->num_masters * sizeof(yw_vec4);
  memcpy(body->last_pos, particles->pos, bytes);
  memcpy(body->last_vel, particles->vel, bytes);
  yw_plastic_show_skin(body);
  if (report) report->obstacle_contacts = away->contacts;
  return YW_OK;
}

yw_status yw_plastic_come_home(plastic_body* body, yw_particles* particles) {
  if (!body->away) return YW_OK;
  if (body->away->is_lost) return YW_ERR_DEVICE;
  yw_status status = yw_plastic_fetch(body, particles, NULL);
  if (status >= 0) status = yw_plastic_bring_rest(body);
  if (status >= 0) status = yw_plastic_bring_matrix(body);
  yw_plastic_resend(body);
  return status;
}

void yw_plastic_resend(plastic_body* body) {
  struct plastic_away* away = body->away;
  if (!away) return;
  away->sent = away->state_is_away = away->slaves_are_away = away->matrix_is_away = false;
  away->has_slaves = away->rows_are_away = away->parts_are_away = false;
  away->listed = -1;
}

// Going there -------------------------------------------------------------------------------------

bool yw_plastic_is_known(const plastic_body* body, const yw_particles* particles,
                         const yw_step_ctx* ctx) {
  const struct plastic_away* away = body->away;
  if (!away->sent || body->is_moved) return false;
  if (away->is_away || ctx->untouched) return true;
  // Others could have changed it, but mostly nobody is near.
  size_t bytes = (size_t)body->num_masters * sizeof(yw_vec4);
  return memcmp(body->last_pos, particles->pos, bytes) == 0 &&
         memcmp(body->last_vel, particles->vel, bytes) == 0;
}

yw_status yw_plastic_leave(plastic_body* body, const yw_particles* particles) {
  struct plastic_away* away = body->away;
  if (away->sent) return YW_OK;
  yw_status status = away->fns->send(away->remote, body, particles);
  away->sent = status >= 0;
  return note(away, status);
}

// Slots of a chunk by their number of pairs, largest first.
typedef struct sorted_slots {
  int32_t count[PLASTIC_MAX_LOCALS];   // per slot: pairs
  uint16_t order[PLASTIC_MAX_LOCALS];  // slots
  int32_t num_slots;
} sorted_slots;

static int32_t end_of(const plastic_body* body, int32_t chunk) {
  int32_t end = (chunk + 1) * PLASTIC_CHUNK;
  return end < body->num_masters ? end : body->num_masters;
}

static void sort_slots(const plastic_body* body, int32_t chunk, sorted_slots* s) {
  int32_t first = chunk * PLASTIC_CHUNK, end = end_of(body, chunk);
  int32_t start[PLASTIC_CHUNK + 2] = {0};
  s->num_slots = body->local_start[chunk + 1] - body->local_start[chunk];
  memset(s->count, 0, (size_t)s->num_slots * sizeof *s->count);
  for (int32_t m = first; m < end; ++m) {
    const uint16_t* at = body->local_column + 4 * (size_t)body->four_start[m];
    for (int32_t e = body->row_start[m]; e < body->row_start[m + 1]; ++e) ++s->count[*at++];
  }
  for (int32_t i = 0; i < s->num_slots; ++i) ++start[PLASTIC_CHUNK - s->count[i] + 1];
  for (int32_t k = 0; k <= PLASTIC_CHUNK; ++k) start[k + 1] += start[k];
  for (int32_t i = 0; i < s->num_slots; ++i) {
    s->order[start[PLASTIC_CHUNK - s->count[i]]++] = (uint16_t)i;
  }
}

// Sizes of the groups of a chunk: those of rows, and the sum of those of slots.
static void size_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  plastic_layout* layout = &body->away->layout;
  sorted_slots s;
  sort_slots(body, chunk, &s);
  int32_t pairs = 0;
  for (int32_t i = 0; i < s.num_slots; i += PLASTIC_GROUP) pairs += s.count[s.order[i]];
  body->sums[chunk].count = pairs;
  for (int32_t m = chunk * PLASTIC_CHUNK; m < end_of(body, chunk); m += PLASTIC_GROUP) {
    int32_t most = 0;
    for (int32_t k = m; k < m + PLASTIC_GROUP && k < body->num_masters; ++k) {
      int32_t fours = body->four_start[k + 1] - body->four_start[k];
      if (fours > most) most = fours;
    }
    layout->row_start[m / PLASTIC_GROUP + 1] = most;
  }
}

static void lay_slots(const plastic_body* body, int32_t chunk, const sorted_slots* s,
                      int32_t* next) {
  const plastic_layout* layout = &body->away->layout;
  int32_t group = layout->first_group[chunk], base = layout->slot_start[group], pairs = 0;
  for (int32_t i = 0; i < s->num_slots; ++i) {
    size_t to = (size_t)group * PLASTIC_GROUP + (size_t)i;
    if (i % PLASTIC_GROUP == 0) {
      layout->slot_start[group + i / PLASTIC_GROUP] = base + pairs;
      next[s->order[i]] = pairs * PLASTIC_GROUP;
      pairs += s->count[s->order[i]];
    } else {
      next[s->order[i]] = next[s->order[i - 1]] + 1;
    }
    layout->slot[to] = s->order[i];
    layout->count[to] = (uint16_t)s->count[s->order[i]];
  }
  // The last group may have fewer than 32.
  int32_t room = (layout->first_group[chunk + 1] - group) * PLASTIC_GROUP;
  for (int32_t i = s->num_slots; i < room; ++i) {
    size_t to = (size_t)group * PLASTIC_GROUP + (size_t)i;
    layout->slot[to] = UINT16_MAX;
    layout->count[to] = 0;
  }
}

static void lay_chunk(plastic_body* body, yw_particles* particles, int32_t chunk) {
  (void)particles;
  const plastic_layout* layout = &body->away->layout;
  sorted_slots s;
  int32_t next[PLASTIC_MAX_LOCALS];
  sort_slots(body, chunk, &s);
  lay_slots(body, chunk, &s, next);
  size_t base = PLASTIC_GROUP * (size_t)layout->slot_start[layout->first_group[chunk]];
  for (int32_t m = chunk * PLASTIC_CHUNK; m < end_of(body, chunk); ++m) {
    const uint16_t* column = body->local_column + 4 * (size_t)body->four_start[m];
    size_t row = (size_t)layout->row_start[m / PLASTIC_GROUP] * PLASTIC_GROUP;
    row += (size_t)(m % PLASTIC_GROUP);
    int32_t pairs = body->row_start[m + 1] - body->row_start[m];
    for (int32_t k = 0; k < 4 * (body->four_start[m + 1] - body->four_start[m]); ++k) {
      size_t to = 4 * (row + (size_t)(k / 4) * PLASTIC_GROUP) + (size_t)(k % 4);
      layout->column[to] = column[k];
      if (k >= pairs) continue;
      layout->at[to] = (uint16_t)next[column[k]];
      layout->master[base + (size_t)next[column[k]]] = (uint8_t)(m % PLASTIC_CHUNK);
      next[column[k]] += PLASTIC_GROUP;
    }
  }
}

static bool reserve_layout(plastic_body* body, int32_t chunks, int64_t groups) {
  struct plastic_away* away = body->away;
  plastic_layout* to = &away->layout;
  if (groups + 1 > away->slot_capacity) {
    size_t wanted = (size_t)groups + (size_t)groups / 4 + 1;
    away->slot_capacity = 0;
    if (!YW_RENEW_ARRAY(&body->mem, to->slot_start, wanted) ||
        !YW_RENEW_ARRAY(&body->mem, to->slot, wanted * PLASTIC_GROUP) ||
        !YW_RENEW_ARRAY(&body->mem, to->count, wanted * PLASTIC_GROUP)) {
      return false;
    }
    away->slot_capacity = (int64_t)wanted;
  }
  if (chunks + 1 > away->chunk_capacity) {
    size_t wanted = (size_t)yw_plastic_chunks(body->master_capacity, PLASTIC_CHUNK) + 1;
    away->chunk_capacity = 0;
    if (!YW_RENEW_ARRAY(&body->mem, to->first_group, wanted) ||
        !YW_RENEW_ARRAY(&body->mem, to->row_start, wanted * (PLASTIC_CHUNK / PLASTIC_GROUP))) {
      return false;
    }
    away->chunk_capacity = (int64_t)wanted;
  }
  return true;
}

static bool reserve_laid_pairs(plastic_body* body, int64_t pairs) {
  struct plastic_away* away = body->away;
  plastic_layout* to = &away->layout;
  if (pairs <= away->pair_capacity) return true;
  size_t wanted = (size_t)pairs + (size_t)pairs / 4;
  away->pair_capacity = 0;
  if (!YW_RENEW_ARRAY(&body->mem, to->master, wanted) ||
      !YW_RENEW_ARRAY(&body->mem, to->column, wanted) ||
      !YW_RENEW_ARRAY(&body->mem, to->at, wanted)) {
    return false;
  }
  away->pair_capacity = (int64_t)wanted;
  return true;
}

// Pairs as the device reads them. False: out of memory.
static bool lay_out(plastic_body* body, const yw_step_ctx* ctx) {
  plastic_layout* layout = &body->away->layout;
  int32_t chunks = yw_plastic_chunks(body->num_masters, PLASTIC_CHUNK);
  int32_t rows = yw_plastic_chunks(body->num_masters, PLASTIC_GROUP);
  int64_t groups = body->num_locals / PLASTIC_GROUP + chunks;
  if (!reserve_layout(body, chunks, groups)) return false;
  yw_plastic_run(body, NULL, ctx, chunks, size_chunk);
  layout->row_start[0] = layout->first_group[0] = 0;
  for (int32_t g = 0; g < rows; ++g) layout->row_start[g + 1] += layout->row_start[g];
  int32_t pairs = 0;
  for (int32_t c = 0; c < chunks; ++c) {
    int32_t slots = body->local_start[c + 1] - body->local_start[c];
    layout->slot_start[layout->first_group[c]] = pairs;
    layout->first_group[c + 1] = layout->first_group[c] + yw_plastic_chunks(slots, PLASTIC_GROUP);
    pairs += body->sums[c].count;
  }
  layout->slot_start[layout->first_group[chunks]] = pairs;
  int64_t fours = layout->row_start[rows], most = 4 * fours > pairs ? 4 * fours : pairs;
  if (!reserve_laid_pairs(body, most * PLASTIC_GROUP)) return false;
  yw_plastic_run(body, NULL, ctx, chunks, lay_chunk);
  return true;
}

// Rows of more masters could have more pairs than numbers of 32 bits can tell.
#define MOST_MASTERS (INT32_MAX / PLASTIC_MAX_ROW)

// The device builds lists, as yw_plastic_find_neighbours does here: nobody is asleep.
static yw_status build_lists(plastic_body* body) {
  struct plastic_away* away = body->away;
  plastic_listing listing = {0};
  yw_status status = YW_OK;
  if (!away->has_slaves) status = away->fns->send_slaves(away->remote, body);
  body->skin = yw_plastic_choose_skin(body);
  if (status >= 0) status = away->fns->build_lists(away->remote, body, &listing);
  if (status < 0) return note(away, status);
  // Those that are crowded, and those that no master sees.
  body->removed += body->num_slaves - listing.num_slaves;
  body->num_slaves = body->num_listed = listing.num_slaves;
  body->num_locals = body->num_slots = listing.num_locals;
  body->num_pairs = listing.num_pairs;
  body->lists_are_old = false;
  body->drift = 0.0f;
  away->listed = ++body->rebuilt;
  away->has_slaves = away->slaves_are_away = away->rows_are_away = away->parts_are_away = true;
  return YW_OK;
}

// Lists that are due are built; those that were made here are sent.
static yw_status bring_lists(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  struct plastic_away* away = body->away;
  bool due = body->lists_are_old || body->drift > 0.5f * body->skin;
  if (due && body->num_masters <= MOST_MASTERS) return build_lists(body);
  yw_status status = YW_OK;
  if (due) status = bring_particles(body, particles);
  if (due && status >= 0) status = bring_slaves(body);
  if (status < 0) return status;
  if (!yw_plastic_find_neighbours(body, particles, ctx)) return YW_ERR_MEMORY;
  if (away->listed == body->rebuilt) return YW_OK;
  if (!lay_out(body, ctx)) return YW_ERR_MEMORY;
  away->listed = body->rebuilt;
  away->has_slaves = true;
  return note(away, away->fns->send_lists(away->remote, body, &away->layout));
}

// Steps -------------------------------------------------------------------------------------------

yw_status yw_plastic_measure_away(plastic_body* body, float* fastest2, float* spread2) {
  struct plastic_away* away = body->away;
  return note(away, away->fns->measure(away->remote, fastest2, spread2));
}

// New slaves where masters and links asked for some.
static yw_status add_slaves(plastic_body* body, yw_particles* particles) {
  struct plastic_away* away = body->away;
  yw_status status = bring_particles(body, particles);
  if (status >= 0) status = bring_due_rows(body);
  if (status >= 0) status = bring_slaves(body);
  if (status < 0) return status;
  if (!yw_plastic_add_slaves(body, particles)) return YW_ERR_MEMORY;
  if (body->lists_are_old) away->has_slaves = false;
  return note(away, away->fns->send_links(away->remote, body));
}

yw_status yw_plastic_step_away(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx,
                               float begin, bool accept, bool* converged) {
  struct plastic_away* away = body->away;
  yw_status status = bring_lists(body, particles, ctx);
  if (status < 0) return status;
  yw_aabb box;
  plastic_solution solution = {0};
  plastic_outcome outcome = {0};
  status = away->fns->start(away->remote, body, ctx, begin, &box);
  away->is_away = away->state_is_away = away->matrix_is_away = true;
  bool is_clear = !ctx->probe || !ctx->obstacles || (ctx->is_clear && ctx->is_clear(ctx, box));
  if (status >= 0) status = away->fns->solve(away->remote, is_clear, &solution);
  body->iterations = solution.iterations;
  *converged = solution.converged || accept;
  if (status < 0 || !*converged) return note(away, status);
  status = away->fns->finish(away->remote, &outcome);
  if (status < 0) return note(away, status);
  if (outcome.lost) return YW_ERR_DIVERGED;
  away->slaves_are_away = true;
  away->contacts = outcome.contacts;
  away->is_bad = outcome.bad;
  body->grip = outcome.grip;
  body->pace = body->dt * sqrtf(outcome.speed2);
  body->drift += body->pace;
  return outcome.due > 0 ? add_slaves(body, particles) : YW_OK;
}

yw_status yw_plastic_rest_away(plastic_body* body, yw_particles* particles,
                               const yw_step_ctx* ctx) {
  struct plastic_away* away = body->away;
  yw_status status = YW_OK;
  bool any = false;
  if (body->sleep.is_on) {
    status = away->fns->rest(away->remote, ctx->h, yw_plastic_still_speed(body, ctx),
                             PLASTIC_STILL_TIME, &any);
  }
  if (status < 0) return note(away, status);
  if (yw_plastic_looks_for_rest(body, ctx, any)) {
    status = yw_plastic_fetch(body, particles, ctx->report);
    if (status >= 0) status = yw_plastic_come_home(body, particles);
    if (status >= 0 && !yw_plastic_fall_asleep(body, particles, ctx)) return YW_ERR_MEMORY;
    memcpy(body->last_vel, particles->vel, (size_t)body->num_masters * sizeof(yw_vec4));
  }
  // The world looks at those that are here.
  if (status >= 0 && (!ctx->stay || away->is_bad)) {
    status = yw_plastic_fetch(body, particles, ctx->report);
  }
  return status;
}
