// SPDX-License-Identifier: MIT
#include "contact/surfaces/rows.h"

#include <string.h>

#include "contact/surfaces/solve.h"

#define COLORS 64
// Contacts that get colors together: their particles should stay in the cache while all colors are
// visited (the velocities of a cloth of 200,000 triangles alone take 1.6 MB).
#define REGION 32768
// Colors of contacts that have none yet, or have a row.
enum { PENDING = -1, HAS_ROW = -2 };

extern const yw_row_fns yw_row_table_fns_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_row_fns yw_row_table_fns_avx2, yw_row_table_fns_avx512;
#endif

const yw_row_fns* yw_row_fns_of(yw_simd level) { return YW_KERNEL_PICK(yw_row_table_fns, level); }

// Colors ----------------------------------------------------------------------------------------
//
// Each contact takes the first color that none of its particles has. What finds all colors taken
// (a particle under very many contacts) waits for another layer of colors. In each color, contacts
// that are likely to press come first: groups of the others are visited less often.

typedef struct layer {
  int32_t counts[COLORS][2];  // contacts that press, and others
  int32_t num_pending;        // those that found no color
} layer;

// Colors that the particles of a contact have already; `add`: they get these as well. Held ones do
// not change and may be in any number of contacts.
static uint64_t colors_of(const yw_contact_problem* problem, const yw_contact* c, uint64_t add) {
  uint64_t taken = 0;
  for (int side = 0; side < 2; ++side) {
    const float* inv_mass = problem->bodies[c->body[side]].particles->inv_mass;
    uint64_t* colors = problem->colors[c->body[side]];
    for (int k = 0; k < c->count[side]; ++k) {
      int32_t i = c->particles[side][k];
      if (inv_mass[i] > 0.0f) taken |= colors[i] |= add;
    }
  }
  return taken;
}

static void clear_colors(const yw_contact_problem* problem, const yw_contact* c) {
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < c->count[side]; ++k) {
      problem->colors[c->body[side]][c->particles[side][k]] = 0;
    }
  }
}

static bool presses(const yw_contact* c) { return c->approach > -c->target; }

// Batches first .. end - 1.
static void color_pending(const yw_contact_problem* problem, int32_t first, int32_t end,
                          layer* out) {
  memset(out, 0, sizeof *out);
  for (int32_t i = first; i < end; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    for (int32_t k = batch->num_rows; k < batch->count; ++k) {
      if (batch->contacts[k].color == PENDING) clear_colors(problem, &batch->contacts[k]);
    }
  }
  for (int32_t i = first; i < end; ++i) {
    const yw_contact_batch* batch = &problem->batches[i];
    for (int32_t k = batch->num_rows; k < batch->count; ++k) {
      yw_contact* c = &batch->contacts[k];
      if (c->color != PENDING) continue;
      uint64_t taken = colors_of(problem, c, 0);
      if (~taken == 0) {
        ++out->num_pending;
        continue;
      }
      c->color = __builtin_ctzll(~taken);
      colors_of(problem, c, 1ull << c->color);
      ++out->counts[c->color][presses(c) ? 0 : 1];
    }
  }
}

static int32_t groups_of(const layer* l) {
  int32_t groups = 0;
  for (int k = 0; k < COLORS; ++k) {
    groups += (l->counts[k][0] + l->counts[k][1] + YW_LANES - 1) / YW_LANES;
  }
  return groups;
}

static void add_row(yw_row_table* table, int32_t row, yw_contact* c) {
  yw_contact_rows* rows = &table->groups.items[row / YW_LANES];
  rows->contacts[row % YW_LANES] = c;
  if (rows->count <= row % YW_LANES) rows->count = row % YW_LANES + 1;
  c->color = HAS_ROW;
}

// Appends groups for the contacts that got a color. There must be room.
static void append_layer(yw_contact_problem* problem, int32_t first_batch, int32_t end_batch,
                         const layer* l) {
  yw_row_table* table = problem->rows;
  int32_t next[COLORS][2];
  for (int k = 0; k < COLORS; ++k) {
    int32_t count = l->counts[k][0] + l->counts[k][1], first = table->groups.count;
    next[k][0] = first * YW_LANES;
    next[k][1] = first * YW_LANES + l->counts[k][0];
    for (int32_t left = count; left > 0; left -= YW_LANES) {
      yw_contact_rows* rows = &table->groups.items[table->groups.count++];
      memset(rows, 0, sizeof *rows);
    }
    if (count > 0) table->starts.items[table->starts.count++] = table->groups.count;
  }
  for (int32_t i = first_batch; i < end_batch; ++i) {
    yw_contact_batch* batch = &problem->batches[i];
    bool complete = true;
    for (int32_t k = batch->num_rows; k < batch->count; ++k) {
      yw_contact* c = &batch->contacts[k];
      if (c->color >= 0) add_row(table, next[c->color][presses(c) ? 0 : 1]++, c);
      complete = complete && c->color == HAS_ROW;
      if (complete) batch->num_rows = k + 1;
    }
  }
}

// The batches of a region: the end of those from `first` on.
static int32_t end_of_region(const yw_contact_problem* problem, int32_t first) {
  int32_t end = first;
  for (int32_t rows = 0; end < problem->num_batches && rows < REGION; ++end) {
    rows += problem->batches[end].count - problem->batches[end].num_rows;
  }
  return end;
}

bool yw_rows_begin(yw_contact_problem* problem, int32_t extra) {
  yw_row_table* table = problem->rows;
  table->groups.count = table->starts.count = 0;
  for (int32_t first = 0, end; first < problem->num_batches; first = end) {
    end = end_of_region(problem, first);
    layer l;
    do {
      color_pending(problem, first, end, &l);
      int32_t groups = groups_of(&l);
      if (!YW_LIST_RESERVE(problem->mem, &table->groups, groups + extra) ||
          !YW_LIST_RESERVE(problem->mem, &table->starts, groups + extra + 1)) {
        return false;
      }
      if (table->starts.count == 0) table->starts.items[table->starts.count++] = 0;
      append_layer(problem, first, end, &l);
    } while (l.num_pending > 0);
  }
  return true;
}

// Contacts whose color has no room wait for the next call.
int32_t yw_rows_add(yw_contact_problem* problem) {
  yw_row_table* table = problem->rows;
  int32_t first_group = table->groups.count;
  for (int32_t first = 0, end; first < problem->num_batches; first = end) {
    end = end_of_region(problem, first);
    layer l;
    color_pending(problem, first, end, &l);
    int32_t groups = groups_of(&l);
    bool room = table->groups.capacity - table->groups.count >= groups &&
                table->starts.capacity - table->starts.count >= groups;
    if (room) append_layer(problem, first, end, &l);
  }
  return first_group;
}

// Order -----------------------------------------------------------------------------------------

static void swap_floats(float (*a)[YW_LANES], int32_t i, float (*b)[YW_LANES], int32_t k,
                        int32_t count) {
  for (int32_t n = 0; n < count; ++n) {
    float kept = a[n][i];
    a[n][i] = b[n][k];
    b[n][k] = kept;
  }
}

static void swap_bits(uint16_t* a, int32_t i, uint16_t* b, int32_t k) {
  uint16_t differ = (*a >> i ^ *b >> k) & 1;
  *a = (uint16_t)(*a ^ differ << i);
  *b = (uint16_t)(*b ^ differ << k);
}

// Exchanges lane i of a with lane k of b.
static void swap_rows(yw_contact_rows* a, int32_t i, yw_contact_rows* b, int32_t k) {
  for (int n = 0; n < 4; ++n) {
    yw_vec4* values = a->values[n][i];
    a->values[n][i] = b->values[n][k];
    b->values[n][k] = values;
    swap_bits(&a->back[n], i, &b->back[n], k);
  }
  swap_floats(a->weights, i, b->weights, k, 4);
  swap_floats(a->mobility, i, b->mobility, k, 4);
  swap_floats(a->normal, i, b->normal, k, 3);
  swap_floats(a->friction, i, b->friction, k, 3);
  swap_floats(&a->goal, i, &b->goal, k, 1);
  swap_floats(&a->impulse, i, &b->impulse, k, 1);
  swap_floats(&a->mass, i, &b->mass, k, 1);
  swap_floats(&a->friction_limit, i, &b->friction_limit, k, 1);
  swap_floats(a->last, i, b->last, k, 3);
  swap_floats(a->heading, i, b->heading, k, 3);
  yw_contact* contact = a->contacts[i];
  a->contacts[i] = b->contacts[k];
  b->contacts[k] = contact;
  swap_bits(&a->fewer, i, &b->fewer, k);
  swap_bits(&a->busy, i, &b->busy, k);
}

static bool is_busy(const yw_contact_rows* groups, int32_t row) {
  return groups[row / YW_LANES].busy >> row % YW_LANES & 1;
}

void yw_rows_sort(const yw_contact_problem* problem) {
  const yw_row_table* table = problem->rows;
  yw_contact_rows* groups = table->groups.items;
  for (int32_t c = 0; c + 1 < table->starts.count; ++c) {
    int32_t first = table->starts.items[c] * YW_LANES, last = table->starts.items[c + 1] - 1;
    // Busy rows before `first`, quiet ones after `last`.
    last = last * YW_LANES + groups[last].count - 1;
    for (;;) {
      while (first < last && is_busy(groups, first)) ++first;
      while (first < last && !is_busy(groups, last)) --last;
      if (first >= last) break;
      swap_rows(&groups[first / YW_LANES], first % YW_LANES, &groups[last / YW_LANES],
                last % YW_LANES);
    }
  }
}

// Rows ------------------------------------------------------------------------------------------

// A row that is being made.
typedef struct row {
  yw_contact_rows* rows;
  int32_t lane;
  int count;       // corners that move
  float inv_mass;  // 1/kg
  yw_vec3 held;    // sum of the corners that do not move
} row;

// Adds the corners of one side; the same particle twice (a loose point) counts once.
static void add_side(row* r, const yw_contact* c, int side, const yw_contact_body* body,
                     yw_vec4* values, float yield) {
  yw_contact_rows* rows = r->rows;
  const float* inv_mass = body->particles->inv_mass;
  int32_t lane = r->lane;
  int first = r->count;
  for (int k = 0; k < c->count[side]; ++k) {
    int32_t particle = c->particles[side][k];
    float weight = side ? -c->weights[side][k] : c->weights[side][k];
    if (!(inv_mass[particle] > 0.0f)) {
      r->held = yw_mad(r->held, weight, yw_xyz(values[particle]));
      continue;
    }
    int at = r->count;
    if (at > first && rows->values[at - 1][lane] == values + particle) {
      weight += rows->weights[--at][lane];
      r->inv_mass -= rows->weights[at][lane] * rows->mobility[at][lane];
    }
    float mobility = yield * inv_mass[particle] * weight;
    rows->values[at][lane] = values + particle;
    rows->weights[at][lane] = weight;
    rows->mobility[at][lane] = mobility;
    rows->back[at] |= (uint16_t)(side << lane);
    rows->answering[at] |= (uint16_t)((body->respond ? 1 : 0) << lane);
    r->inv_mass += weight * mobility;
    r->count = at + 1;
  }
}

// What does not move, or an obstacle: a corner of its own.
static void add_rest(const row* r, yw_contact* c, bool velocity) {
  yw_contact_rows* rows = r->rows;
  for (int k = r->count; k < 4; ++k) {
    rows->values[k][r->lane] = &c->drift;
    rows->weights[k][r->lane] = rows->mobility[k][r->lane] = 0.0f;
  }
  rows->fewer |= (uint16_t)(1u << r->lane);
  if (c->count[1] > 0) {
    c->drift = yw_v4(r->held);
    rows->weights[r->count][r->lane] = 1.0f;
  } else if (velocity) {
    rows->weights[1][r->lane] = -1.0f;
  }
}

static void set_row(const yw_contact_problem* problem, yw_contact_rows* rows, int32_t lane,
                    bool velocity) {
  yw_contact* c = rows->contacts[lane];
  row r = {.rows = rows, .lane = lane};
  for (int side = 0; side < 2; ++side) {
    const yw_contact_body* body = &problem->bodies[c->body[side]];
    yw_vec4* values = velocity ? body->particles->vel : body->particles->pos;
    add_side(&r, c, side, body, values, velocity ? problem->yields[c->body[side]] : 1.0f);
  }
  if (r.count < 4) add_rest(&r, c, velocity);
  rows->mass[lane] = r.inv_mass > 0.0f ? 1.0f / r.inv_mass : 0.0f;
}

static void forget_corners(yw_contact_rows* rows) {
  memset(rows->back, 0, sizeof rows->back);
  memset(rows->answering, 0, sizeof rows->answering);
  rows->fewer = 0;
}

void yw_rows_weigh(const yw_contact_problem* problem, yw_contact_rows* rows) {
  forget_corners(rows);
  for (int32_t lane = 0; lane < rows->count; ++lane) {
    const yw_contact* c = rows->contacts[lane];
    set_row(problem, rows, lane, true);
    rows->goal[lane] = c->target;
    rows->friction_limit[lane] = c->friction_limit;
    rows->normal[0][lane] = c->normal.x;
    rows->normal[1][lane] = c->normal.y;
    rows->normal[2][lane] = c->normal.z;
  }
  // Lanes beyond the last move nothing.
  for (int32_t lane = rows->count; lane < YW_LANES; ++lane) {
    for (int k = 0; k < 4; ++k) rows->values[k][lane] = &rows->contacts[0]->drift;
  }
}

// From the velocities of the corners to their positions.
static void to_positions(const yw_contact_problem* problem, yw_contact_rows* rows, int32_t lane) {
  const yw_contact* c = rows->contacts[lane];
  const yw_particles* sides[2] = {problem->bodies[c->body[0]].particles,
                                  problem->bodies[c->body[1]].particles};
  for (int k = 0; k < 4; ++k) {
    const yw_particles* p = sides[rows->back[k] >> lane & 1];
    rows->values[k][lane] = p->pos + (rows->values[k][lane] - p->vel);
  }
}

void yw_rows_place(const yw_contact_problem* problem, yw_contact_rows* rows) {
  uint16_t fewer = rows->fewer;
  // Bodies that answered counted as heavier.
  bool anew = problem->num_answers > 0;
  if (anew) forget_corners(rows);
  for (int32_t lane = 0; lane < rows->count; ++lane) {
    const yw_contact* c = rows->contacts[lane];
    if (anew || (fewer >> lane & 1)) {
      set_row(problem, rows, lane, false);
    } else {
      to_positions(problem, rows, lane);
    }
    rows->goal[lane] = c->push_goal - c->offset;
    rows->impulse[lane] = 0.0f;
  }
}
