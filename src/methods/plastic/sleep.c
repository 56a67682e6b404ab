// SPDX-License-Identifier: MIT
// Islands of a plastic body fall asleep and wake; see sleep.h.
#include <math.h>
#include <string.h>

#include "math/small/union_find.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Masters that may sleep are looked for at this interval, s.
#define LOOK_TIME 0.1f
// Automatic speed limit: this fraction of gravity times the inner step, or a number of spacings per
// second if that is more, up to a number of m/s.
#define SLOW_SHARE 0.05f
#define SLOW_RATE 0.05f
#define SLOW_LIMIT 0.001f

// Memory ------------------------------------------------------------------------------------------

static bool create_grid(const yw_allocator* mem, plastic_grid* grid, int32_t count) {
  uint32_t heads = 64;
  while (heads < (uint32_t)count / 4) heads *= 2;
  grid->mask = heads - 1;
  grid->head = YW_NEW_ARRAY(mem, int32_t, heads);
  return grid->head != NULL;
}

bool yw_plastic_sleep_create(plastic_body* body) {
  plastic_sleep* sleep = &body->sleep;
  const plastic_model* model = body->model;
  const yw_allocator* mem = &body->mem;
  int32_t n = body->master_capacity;
  sleep->chunks = YW_NEW_ARRAY(mem, int32_t, yw_plastic_chunks(n, PLASTIC_CHUNK));
  sleep->island = YW_NEW_ARRAY(mem, int32_t, n);
  if (!sleep->chunks || !sleep->island) return false;
  memset(sleep->island, 0xff, (size_t)n * sizeof *sleep->island);
  // Formulas as printed and masters without slaves are for comparison: they never sleep.
  if (model->paper || model->without_slaves) return true;
  sleep->is_on = body->params.sleep_speed != 0.0f;
  sleep->still = YW_NEW_ARRAY(mem, float, n);
  sleep->masters.next = YW_NEW_ARRAY(mem, int32_t, n);
  // Room for all of it now: matter may rest for the first time long after the start.
  return sleep->still && sleep->masters.next && create_grid(mem, &sleep->masters, n) &&
         create_grid(mem, &sleep->slaves, n) &&
         (!sleep->is_on || yw_plastic_sleep_reserve(body, 1, body->slave_capacity));
}

void yw_plastic_sleep_destroy(plastic_body* body) {
  plastic_sleep* sleep = &body->sleep;
  void* const arrays[] = {sleep->chunks,       sleep->island,       sleep->still,
                          sleep->islands,      sleep->slave_pos,    sleep->slave_island,
                          sleep->masters.head, sleep->masters.next, sleep->slaves.head,
                          sleep->slaves.next,  sleep->mixed,        sleep->kept};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&body->mem, arrays[i]);
}

bool yw_plastic_sleep_reserve(plastic_body* body, int32_t islands, int32_t slaves) {
  plastic_sleep* sleep = &body->sleep;
  const yw_allocator* mem = &body->mem;
  if (islands > sleep->island_capacity) {
    int32_t wanted = islands + islands / 4 + 16;
    plastic_island* grown = yw_mem_resize(mem, sleep->islands, (size_t)sleep->num_islands,
                                          (size_t)wanted, sizeof *grown);
    if (!grown) return false;
    sleep->islands = grown;
    sleep->island_capacity = wanted;
  }
  if (slaves <= sleep->slave_capacity) return true;
  size_t old = (size_t)sleep->num_slaves, wanted = (size_t)slaves + (size_t)slaves / 4 + 256;
  yw_vec4* pos = yw_mem_resize(mem, sleep->slave_pos, old, wanted, sizeof *pos);
  if (pos) sleep->slave_pos = pos;
  int32_t* island = yw_mem_resize(mem, sleep->slave_island, old, wanted, sizeof *island);
  if (island) sleep->slave_island = island;
  yw_mem_free(mem, sleep->slaves.next);
  sleep->slaves.next = YW_NEW_ARRAY(mem, int32_t, wanted);
  if (!pos || !island || !sleep->slaves.next) return false;
  sleep->slave_capacity = (int32_t)wanted;
  return true;
}

// Lists of sleepers -------------------------------------------------------------------------------

static bool keep_block(plastic_body* body, int32_t block) {
  plastic_sleep* sleep = &body->sleep;
  if (sleep->num_mixed == sleep->mixed_capacity) {
    size_t old = (size_t)sleep->num_mixed, wanted = old + old / 2 + 16;
    int32_t* blocks = yw_mem_resize(&body->mem, sleep->mixed, old, wanted, sizeof *blocks);
    if (!blocks) return false;
    sleep->mixed = blocks;
    plastic_state_block* kept = yw_mem_resize(&body->mem, sleep->kept, old, wanted, sizeof *kept);
    if (!kept) return false;
    sleep->kept = kept;
    sleep->mixed_capacity = (int32_t)wanted;
  }
  sleep->mixed[sleep->num_mixed] = block;
  sleep->kept[sleep->num_mixed++] = body->state[block];
  return true;
}

static int32_t sleepers_of(const plastic_body* body, int32_t first, int32_t end) {
  int32_t count = 0;
  if (end > body->num_masters) end = body->num_masters;
  for (int32_t m = first; m < end; ++m) count += body->sleep.island[m] >= 0;
  return count;
}

static uint32_t bucket_of(const plastic_grid* grid, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & grid->mask;
}

static void clear_grid(plastic_grid* grid) {
  memset(grid->head, 0xff, ((size_t)grid->mask + 1) * sizeof *grid->head);
}

static void put_in_grid(plastic_grid* grid, int32_t i, yw_vec4 p, float edge) {
  uint32_t b = bucket_of(grid, plastic_cell_of(p, edge));
  grid->next[i] = grid->head[b];
  grid->head[b] = i;
}

bool yw_plastic_list_sleepers(plastic_body* body) {
  plastic_sleep* sleep = &body->sleep;
  sleep->num_asleep = sleep->num_chunks = sleep->num_mixed = 0;
  for (int32_t first = 0; first < body->num_masters; first += PLASTIC_CHUNK) {
    int32_t count = body->num_masters - first;
    if (count > PLASTIC_CHUNK) count = PLASTIC_CHUNK;
    int32_t asleep = sleepers_of(body, first, first + count);
    sleep->num_asleep += asleep;
    if (asleep == count) continue;
    sleep->chunks[sleep->num_chunks++] = first / PLASTIC_CHUNK;
    for (int32_t m = first; asleep > 0 && m < first + count; m += YW_LANES) {
      if (sleepers_of(body, m, m + YW_LANES) > 0 && !keep_block(body, m / YW_LANES)) return false;
    }
  }
  if (!sleep->is_on) return true;
  float edge = plastic_cell_edge(body->model->spacing);
  sleep->box = yw_aabb_empty();
  clear_grid(&sleep->masters);
  clear_grid(&sleep->slaves);
  for (int32_t m = 0; sleep->num_asleep > 0 && m < body->num_masters; ++m) {
    if (sleep->island[m] >= 0) put_in_grid(&sleep->masters, m, body->last_pos[m], edge);
  }
  for (int32_t s = 0; s < sleep->num_slaves; ++s) {
    put_in_grid(&sleep->slaves, s, sleep->slave_pos[s], edge);
  }
  for (int32_t i = 0; i < sleep->num_islands; ++i) {
    sleep->box = yw_aabb_join(sleep->box, sleep->islands[i].box);
  }
  return true;
}

void yw_plastic_restore_sleepers(plastic_body* body, yw_particles* particles) {
  const plastic_sleep* sleep = &body->sleep;
  for (int32_t i = 0; i < sleep->num_mixed; ++i) {
    int32_t first = sleep->mixed[i] * YW_LANES;
    float(*to)[YW_LANES] = (float(*)[YW_LANES]) & body->state[sleep->mixed[i]];
    float(*from)[YW_LANES] = (float(*)[YW_LANES]) & sleep->kept[i];
    for (int32_t l = 0; l < YW_LANES && first + l < body->num_masters; ++l) {
      if (sleep->island[first + l] < 0) continue;
      for (size_t k = 0; k < sizeof *body->state / sizeof *to; ++k) to[k][l] = from[k][l];
      particles->vel[first + l] = (yw_vec4){0};
    }
  }
}

// Waking ------------------------------------------------------------------------------------------

// Wakes islands with next = -1.
static bool wake_marked(plastic_body* body) {
  plastic_sleep* sleep = &body->sleep;
  int32_t left = 0, kept = 0;
  for (int32_t i = 0; i < sleep->num_islands; ++i) {
    if (sleep->islands[i].next >= 0) sleep->islands[i].next = left++;
  }
  if (left == sleep->num_islands) return true;
  if (!yw_plastic_reserve_slaves(body, body->num_slaves + sleep->num_slaves)) return false;
  for (int32_t s = 0; s < sleep->num_slaves; ++s) {
    int32_t next = sleep->islands[sleep->slave_island[s]].next;
    if (next < 0) {
      body->slave_pos[body->num_slaves++] = sleep->slave_pos[s];
    } else {
      sleep->slave_pos[kept] = sleep->slave_pos[s];
      sleep->slave_island[kept++] = next;
    }
  }
  sleep->num_slaves = kept;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (sleep->island[m] < 0) continue;
    sleep->island[m] = sleep->islands[sleep->island[m]].next;
    if (sleep->island[m] < 0) sleep->still[m] = 0.0f;
  }
  for (int32_t i = 0; i < sleep->num_islands; ++i) {
    int32_t next = sleep->islands[i].next;
    if (next >= 0) sleep->islands[next] = sleep->islands[i];
  }
  sleep->num_islands = left;
  body->lists_are_old = true;
  return yw_plastic_list_sleepers(body);
}

bool yw_plastic_wake_all(plastic_body* body) {
  for (int32_t i = 0; i < body->sleep.num_islands; ++i) body->sleep.islands[i].next = -1;
  return wake_marked(body);
}

// Wakes sleepers of a grid that are closer to p than the lists reach.
static bool wake_around(plastic_sleep* sleep, const plastic_grid* grid, const yw_vec4* points,
                        const int32_t* island, yw_vec4 p, float reach) {
  bool woken = false;
  yw_vec3 x = yw_xyz(p), lower = sleep->box.lower, upper = sleep->box.upper;
  if (x.x < lower.x || x.y < lower.y || x.z < lower.z || x.x > upper.x || x.y > upper.y ||
      x.z > upper.z) {
    return false;
  }
  plastic_cell c = plastic_cell_of(p, reach);
  for (int k = 0; k < 27; ++k) {
    plastic_cell near = {c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1};
    for (int32_t i = grid->head[bucket_of(grid, near)]; i >= 0; i = grid->next[i]) {
      plastic_island* own = &sleep->islands[island[i]];
      if (own->next < 0 || yw_distance(yw_xyz(points[i]), x) >= reach) continue;
      own->next = -1;
      woken = true;
    }
  }
  return woken;
}

bool yw_plastic_wake_near(plastic_body* body, const yw_particles* particles) {
  plastic_sleep* sleep = &body->sleep;
  float reach = plastic_cell_edge(body->model->spacing);
  // Woken islands may wake others nearby.
  for (bool woken = true; woken && sleep->num_islands > 0;) {
    woken = false;
    for (int32_t c = 0; c < sleep->num_chunks; ++c) {
      int32_t first = sleep->chunks[c] * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
      for (int32_t m = first; m < end && m < body->num_masters; ++m) {
        if (sleep->island[m] >= 0) continue;
        woken |= wake_around(sleep, &sleep->slaves, sleep->slave_pos, sleep->slave_island,
                             particles->pos[m], reach);
      }
    }
    for (int32_t s = 0; s < body->num_slaves; ++s) {
      woken |= wake_around(sleep, &sleep->masters, body->last_pos, sleep->island,
                           body->slave_pos[s], reach);
    }
    if (!wake_marked(body)) return false;
  }
  return true;
}

static bool is_same(yw_vec4 a, yw_vec4 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Fingerprint of what holds an island. *moves: some of it moves.
static uint64_t surroundings(const plastic_body* body, const yw_step_ctx* ctx, int32_t island,
                             bool* moves) {
  const int32_t* of = body->sleep.island;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &ctx->gravity, sizeof ctx->gravity);
  *moves = false;
  if (ctx->obstacles_in) {
    hash = yw_hash_u64(hash, ctx->obstacles_in(ctx, body->sleep.islands[island].box, moves));
  }
  for (int32_t i = 0; i < ctx->num_holds; ++i) {
    const yw_hold* hold = &ctx->holds[i];
    if (hold->particle >= body->num_masters || of[hold->particle] != island) continue;
    *moves = *moves || yw_distance(hold->begin, hold->end) > 0.0f;
    hash = yw_hash_u64(hash, (uint64_t)hold->particle);
    hash = yw_hash_bytes(hash, &hold->end, sizeof hold->end);
  }
  for (int32_t i = 0; i < ctx->num_springs; ++i) {
    const yw_spring* spring = &ctx->springs[i];
    if (spring->particle >= body->num_masters || of[spring->particle] != island) continue;
    *moves = *moves || yw_distance(spring->begin, spring->end) > 0.0f;
    hash = yw_hash_u64(hash, (uint64_t)spring->particle);
    hash = yw_hash_bytes(hash, &spring->stiffness, sizeof spring->stiffness);
    hash = yw_hash_bytes(hash, &spring->end, sizeof spring->end);
  }
  return hash;
}

bool yw_plastic_wake_touched(plastic_body* body, const yw_particles* particles,
                             const yw_step_ctx* ctx) {
  plastic_sleep* sleep = &body->sleep;
  if (!sleep->is_on) return true;
  for (int32_t i = 0; i < sleep->num_islands; ++i) {
    bool moves;
    uint64_t seen = surroundings(body, ctx, i, &moves);
    sleep->islands[i].next = moves || seen != sleep->islands[i].seen ? -1 : i;
  }
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (is_same(particles->pos[m], body->last_pos[m]) &&
        is_same(particles->vel[m], body->last_vel[m])) {
      continue;
    }
    sleep->still[m] = 0.0f;
    if (sleep->island[m] >= 0) sleep->islands[sleep->island[m]].next = -1;
  }
  return wake_marked(body);
}

// Falling asleep ----------------------------------------------------------------------------------

// Joins slaves that share a master.
static void join_slaves(const plastic_body* body, int32_t* parent) {
  for (int32_t s = 0; s < body->num_slaves; ++s) parent[s] = s;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    for (int32_t e = body->row_start[m] + 1; e < body->row_start[m + 1]; ++e) {
      int32_t a = yw_union_root(parent, body->column[e - 1]),
              b = yw_union_root(parent, body->column[e]);
      parent[a > b ? a : b] = a > b ? b : a;
    }
  }
}

enum { IS_AWAKE = -1 };

// Per root: number of slaves in contact, or IS_AWAKE.
static void count_contacts(const plastic_body* body, int32_t* parent, int32_t* contacts) {
  memset(contacts, 0, (size_t)body->num_slaves * sizeof *contacts);
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (body->row_start[m] == body->row_start[m + 1] ||
        body->sleep.still[m] >= PLASTIC_STILL_TIME) {
      continue;
    }
    contacts[yw_union_root(parent, body->column[body->row_start[m]])] = IS_AWAKE;
  }
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    int32_t root = yw_union_root(parent, s);
    if (contacts[root] != IS_AWAKE && body->normal[s].w != 0.0f) ++contacts[root];
  }
}

static void still_master(plastic_body* body, yw_particles* particles, int32_t m, int32_t island) {
  plastic_sleep* sleep = &body->sleep;
  sleep->island[m] = island;
  particles->vel[m] = body->last_vel[m] = (yw_vec4){0};
  for (int k = 0; k < 9; ++k) body->state[m / YW_LANES].c[k][m % YW_LANES] = 0.0f;
  sleep->islands[island].box = yw_aabb_grow(sleep->islands[island].box, yw_xyz(particles->pos[m]));
}

// Puts masters of resting roots to sleep. Their entry in contacts becomes -2 - island.
static bool put_masters(plastic_body* body, yw_particles* particles, int32_t* parent,
                        int32_t* contacts) {
  plastic_sleep* sleep = &body->sleep;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (body->row_start[m] == body->row_start[m + 1]) continue;
    int32_t root = yw_union_root(parent, body->column[body->row_start[m]]);
    if (contacts[root] > 0) {
      int32_t i = sleep->num_islands;
      if (!yw_plastic_sleep_reserve(body, i + 1, 0)) return false;
      sleep->islands[i] =
          (plastic_island){.box = yw_aabb_empty(), .contacts = contacts[root], .next = i};
      contacts[root] = -2 - i;
      ++sleep->num_islands;
    }
    if (contacts[root] < IS_AWAKE) still_master(body, particles, m, -2 - contacts[root]);
  }
  return true;
}

static void put_slaves(plastic_body* body, int32_t* parent, const int32_t* contacts) {
  plastic_sleep* sleep = &body->sleep;
  int32_t kept = 0;
  for (int32_t s = 0; s < body->num_slaves; ++s) {
    int32_t root = yw_union_root(parent, s), island = -2 - contacts[root];
    yw_vec4 p = body->slave_pos[s];
    if (island < 0) {
      body->slave_pos[kept++] = p;
      continue;
    }
    sleep->islands[island].box = yw_aabb_grow(sleep->islands[island].box, yw_xyz(p));
    sleep->slave_island[sleep->num_slaves] = island;
    sleep->slave_pos[sleep->num_slaves++] = p;
  }
  body->num_slaves = kept;
}

bool yw_plastic_fall_asleep(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  plastic_sleep* sleep = &body->sleep;
  int32_t *parent = body->slave_bucket, *contacts = body->fresh_next;
  int32_t before = sleep->num_islands;
  join_slaves(body, parent);
  count_contacts(body, parent, contacts);
  if (!yw_plastic_sleep_reserve(body, 0, sleep->num_slaves + body->num_slaves) ||
      !put_masters(body, particles, parent, contacts)) {
    return false;
  }
  if (sleep->num_islands == before) return true;
  put_slaves(body, parent, contacts);
  body->num_listed = 0;
  body->lists_are_old = true;
  float reach = plastic_cell_edge(body->model->spacing);
  for (int32_t i = before; i < sleep->num_islands; ++i) {
    sleep->islands[i].box = yw_aabb_pad(sleep->islands[i].box, reach);
  }
  for (int32_t i = before; i < sleep->num_islands; ++i) {
    bool moves;
    sleep->islands[i].seen = surroundings(body, ctx, i, &moves);
    if (moves) sleep->islands[i].next = -1;
  }
  return yw_plastic_list_sleepers(body) && wake_marked(body);
}

// Matter at rest creeps by a few per cent of the velocity that gravity adds in an inner step:
// surface slaves have less stress to hold them than weight. The automatic limit is just above.
float yw_plastic_still_speed(const plastic_body* body, const yw_step_ctx* ctx) {
  if (body->params.sleep_speed > 0.0f) return body->params.sleep_speed;
  float least = SLOW_RATE * body->model->spacing,
        creep = SLOW_SHARE * body->dt * yw_length(ctx->gravity);
  if (least > SLOW_LIMIT) least = SLOW_LIMIT;
  return creep > least ? creep : least;
}

bool yw_plastic_looks_for_rest(plastic_body* body, const yw_step_ctx* ctx, bool any) {
  plastic_sleep* sleep = &body->sleep;
  if (!sleep->is_on) return false;
  sleep->since_look += ctx->h;
  // Contacts are valid only while slaves are as they were in the solve.
  if (!any || sleep->since_look < LOOK_TIME || body->lists_are_old) return false;
  sleep->since_look = 0.0f;
  return true;
}

bool yw_plastic_rest(plastic_body* body, yw_particles* particles, const yw_step_ctx* ctx) {
  plastic_sleep* sleep = &body->sleep;
  if (!sleep->is_on) return true;
  float limit = yw_plastic_still_speed(body, ctx);
  bool any = false;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    if (sleep->island[m] >= 0) continue;
    bool slow = yw_length(yw_xyz(particles->vel[m])) <= limit;
    sleep->still[m] = slow ? sleep->still[m] + ctx->h : 0.0f;
    any |= sleep->still[m] >= PLASTIC_STILL_TIME;
  }
  return !yw_plastic_looks_for_rest(body, ctx, any) || yw_plastic_fall_asleep(body, particles, ctx);
}

int32_t yw_plastic_sleeping_contacts(const plastic_body* body) {
  int32_t contacts = 0;
  for (int32_t i = 0; i < body->sleep.num_islands; ++i) contacts += body->sleep.islands[i].contacts;
  return contacts;
}

// Snapshots ---------------------------------------------------------------------------------------

void yw_plastic_sleep_save(const plastic_body* body, yw_writer* writer) {
  const plastic_sleep* sleep = &body->sleep;
  if (!sleep->is_on) return;
  yw_write_u32(writer, (uint32_t)sleep->num_islands);
  yw_write_u32(writer, (uint32_t)sleep->num_slaves);
  yw_write_f32(writer, &sleep->since_look, 1);
  for (int32_t m = 0; m < body->num_masters; ++m) yw_write_u32(writer, (uint32_t)sleep->island[m]);
  yw_write_f32(writer, sleep->still, (size_t)body->num_masters);
  for (int32_t i = 0; i < sleep->num_islands; ++i) {
    const plastic_island* island = &sleep->islands[i];
    yw_write_f32(writer, &island->box.lower.x, 3);
    yw_write_f32(writer, &island->box.upper.x, 3);
    yw_write_u64(writer, island->seen);
    yw_write_u32(writer, (uint32_t)island->contacts);
  }
  for (int32_t s = 0; s < sleep->num_slaves; ++s) {
    yw_write_f32(writer, &sleep->slave_pos[s].x, 3);
    yw_write_u32(writer, (uint32_t)sleep->slave_island[s]);
  }
}

static bool load_islands(plastic_body* body, yw_reader* reader, int32_t islands, int32_t slaves) {
  plastic_sleep* sleep = &body->sleep;
  if (!yw_plastic_sleep_reserve(body, islands, slaves)) return false;
  sleep->num_islands = islands;
  sleep->num_slaves = slaves;
  for (int32_t i = 0; i < islands; ++i) {
    plastic_island* island = &sleep->islands[i];
    *island = (plastic_island){.next = i};
    yw_read_f32(reader, &island->box.lower.x, 3);
    yw_read_f32(reader, &island->box.upper.x, 3);
    island->seen = yw_read_u64(reader);
    island->contacts = (int32_t)yw_read_u32(reader);
  }
  bool good = true;
  for (int32_t s = 0; s < slaves; ++s) {
    sleep->slave_pos[s] = (yw_vec4){0};
    yw_read_f32(reader, &sleep->slave_pos[s].x, 3);
    sleep->slave_island[s] = (int32_t)yw_read_u32(reader);
    good &= sleep->slave_island[s] >= 0 && sleep->slave_island[s] < islands &&
            yw_is_finite3(yw_xyz(sleep->slave_pos[s]));
  }
  return good && !reader->failed;
}

bool yw_plastic_sleep_load(plastic_body* body, yw_reader* reader) {
  plastic_sleep* sleep = &body->sleep;
  yw_plastic_forget_sleep(body);
  if (!sleep->is_on) return yw_plastic_list_sleepers(body);
  uint32_t islands = yw_read_u32(reader), slaves = yw_read_u32(reader);
  size_t left = reader->size - reader->offset;
  yw_read_f32(reader, &sleep->since_look, 1);
  if (reader->failed || islands > left / 36 || slaves > left / 16) return false;
  bool good = true;
  for (int32_t m = 0; m < body->num_masters; ++m) {
    sleep->island[m] = (int32_t)yw_read_u32(reader);
    good &= sleep->island[m] >= -1 && sleep->island[m] < (int32_t)islands;
  }
  yw_read_f32(reader, sleep->still, (size_t)body->num_masters);
  good = good && !reader->failed && isfinite(sleep->since_look) &&
         load_islands(body, reader, (int32_t)islands, (int32_t)slaves) &&
         yw_plastic_list_sleepers(body);
  if (!good) yw_plastic_forget_sleep(body);
  return good;
}

void yw_plastic_forget_sleep(plastic_body* body) {
  plastic_sleep* sleep = &body->sleep;
  size_t n = (size_t)body->master_capacity;
  memset(sleep->island, 0xff, n * sizeof *sleep->island);
  if (sleep->still) memset(sleep->still, 0, n * sizeof *sleep->still);
  sleep->num_islands = sleep->num_slaves = 0;
  // Nothing to keep, so nothing can fail.
  yw_plastic_list_sleepers(body);
}
