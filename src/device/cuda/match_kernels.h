// SPDX-License-Identifier: MIT
// The phases of a step of a match body, one thread per region or particle, and one block of threads
// per chunk of the model: regions, bend, pull; then meet (match_meet.h). What a step does for the
// whole body between them is done by the block that ends last. Formulas are those of
// methods/match/region_lanes.h and between.h; sums are made in the order of match_kernels.c: lanes
// of a chunk block by block, then lanes in pairs, then chunks one after another.
#ifndef YW_DEVICE_CUDA_MATCH_KERNELS_H
#define YW_DEVICE_CUDA_MATCH_KERNELS_H

#include "device/cuda/thread.h"

/// What steps change besides arrays.
struct match_scalars {
  match_axes axes;
  yw_vec3 torque;
  yw_vec3 origin;   // that positions are relative to (kit/near.h)
  yw_aabb placed;   // box of the particles in the world
  match_step step;  // from regions to meet
  match_rigid_motion motion;
  int has_cut, is_near;
  int diverged;  // steps do nothing from then on
  int bad;       // particles that are too fast or too far away
  int recovered, contacts, most_contacts;
  unsigned ended[3];  // blocks of regions, pull, meet
};

/// Arrays of a body on the device, and one inner step.
struct match_args {
  match_model model;  // pointers to device memory
  match_body body;    // likewise
  match_scalars* scalars;
  const yw_vec4* pos;
  yw_vec4 *new_pos, *vel, *cut;
  const float* inv_mass;
  float* fits;
  double* share_products;       // products of each share, lanes added
  const int32_t* group_start;   // in group_shares, num_groups + 1
  const int32_t* group_shares;  // shares of each group, ascending
  yw_aabb* boxes;               // per chunk of meet
  match_response response;
  yw_vec3 gravity;
  float h;              // s, of the substep
  float inner_end;      // share of the substep that has passed at the end
  bool enters, leaves;  // first, last inner step of the substep
  const yw_hold* holds;
  const yw_spring* springs;
  const yw_obstacle* obstacles;
  int32_t num_holds, num_springs, num_obstacles;
  bool springs_differ;  // no two pull the same particle
  yw_collide_terms terms;
};

/// What every kernel keeps in shared memory: constants near, and the step.
struct match_shared {
  match_step step;
  match_model model;
  match_body body;
  int flag;
};

// Setting up --------------------------------------------------------------------------------------

// Coordinates of the first particle where all others are within half of them; see near.c.
KERNEL_FN yw_vec3 choose_origin(yw_vec4 first, yw_aabb box) {
  const float from[3] = {first.x, first.y, first.z};
  const float low[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float high[3] = {box.upper.x, box.upper.y, box.upper.z};
  float origin[3];
  for (int k = 0; k < 3; ++k) {
    float below = fabsf(low[k] - from[k]), above = fabsf(high[k] - from[k]);
    float most = below > above ? below : above;
    origin[k] = most <= 0.5f * fabsf(from[k]) ? from[k] : 0.0f;
  }
  return yw_v3(origin[0], origin[1], origin[2]);
}

KERNEL_FN void begin_step(const match_args& a, match_shared* s) {
  match_axes axes = a.scalars->axes;
  match_step* step = &s->step;
  step->origin = a.scalars->origin;
  if (a.enters) {
    step->origin = choose_origin(a.pos[0], a.scalars->placed);
    axes.center = yw_sub(axes.center, step->origin);
  }
  step->paper = a.body.params.target == YW_TARGET_PAPER;
  match_begin_step(&axes, a.gravity, &a.response, step);
  step->drift = step->spin = yw_v3(0, 0, 0);
}

// Pointers of the step to shared copies, and to the arrays of this inner step.
KERNEL_FN void connect_step(const match_args& a, match_shared* s) {
  match_step* step = &s->step;
  s->model = a.model;
  s->body = a.body;
  step->body = &s->body;
  step->model = &s->model;
  step->pos = a.pos;
  step->new_pos = a.new_pos;
  step->vel = a.vel;
  step->enters = a.enters;
  step->has_cut = a.scalars->has_cut != 0;
  step->cut = a.cut;
  step->fits = a.fits;
}

// Row of an offset in a ring.
KERNEL_FN int ring_row(uint16_t offset) {
  return offset / (int)(MATCH_PADDED_ROW * sizeof(float) / MATCH_RING_UNIT);
}

// Regions -----------------------------------------------------------------------------------------

struct regions_kernel {
  typedef match_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 2;

  // A row m~ d (x0 - origin, 1)^T as its two factors.
  struct row {
    yw_vec4 md, q;
  };
  struct alignas(16) shared {
    match_shared base;
    float sums[NUM_SUMS][YW_LANES];
    double totals[NUM_SUMS];
    int recovered;
  };

  static size_t shared_bytes(int num_rows, int num_examples) {
    return sizeof(shared) + (size_t)num_rows * sizeof(row) +
           (size_t)(NUM_SUMS + num_examples) * THREADS * sizeof(float);
  }

  KERNEL_FN row make_row(const match_step* step, const match_chunk* chunk, int32_t p) {
    const match_model* model = step->model;
    yw_vec4 x = match_relative(step, p), x0 = model->rest[p];
    yw_vec3 y = yw_v3(x.x - step->center.x, x.y - step->center.y, x.z - step->center.z);
    if (step->lag > 0.0f) {
      yw_vec4 v = step->vel[p];
      y.x += step->lag * (v.x - step->velocity.x);
      y.y += step->lag * (v.y - step->velocity.y);
      y.z += step->lag * (v.z - step->velocity.z);
    }
    const float(*r)[3] = step->seen_rotation;
    float m = model->row_mass[p];
    row out;
    out.md.x = (((r[0][0] * y.x + r[1][0] * y.y) + r[2][0] * y.z) - x0.x) * m;
    out.md.y = (((r[0][1] * y.x + r[1][1] * y.y) + r[2][1] * y.z) - x0.y) * m;
    out.md.z = (((r[0][2] * y.x + r[1][2] * y.y) + r[2][2] * y.z) - x0.z) * m;
    out.md.w = 0.0f;
    out.q = (yw_vec4){x0.x - chunk->origin.x, x0.y - chunk->origin.y, x0.z - chunk->origin.z,
                      x0.w - chunk->origin.w};
    return out;
  }

  KERNEL_FN ring_sums sum_ring(const match_step* step, int32_t block, int32_t lane,
                               const row* rows) {
    const match_block* b = &step->model->blocks[block];
    const uint16_t* ring = step->model->rings + b->ring_start + match_lane(lane);
    ring_sums out;
    for (int32_t k = 0; k < b->ring_length; ++k) {
      const row* from = &rows[ring_row(ring[k * YW_LANES])];
      yw_vec4 md = from->md, q = from->q;
      const float left[3] = {md.x, md.y, md.z}, right[4] = {q.x, q.y, q.z, q.w};
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
          float product = left[i] * right[j];
          out.sums[i][j] = k == 0 ? product : out.sums[i][j] + product;
        }
      }
    }
    return out;
  }

  // Decomposes a region and uses it, as match_registers does; products of its examples go to
  // `products`, one every THREADS.
  KERNEL_FN uint32_t fit_region(const match_step* step, const match_chunk* chunk, lane_set at,
                                const row* rows, float* products) {
    const match_model* model = step->model;
    yw_quatx16* rotations = &step->body->rotations[at.block];
    region_fit fit;
    ring_sums rings = sum_ring(step, at.block, at.lane, rows);
    yw_lanes_mat3 m = fit_moment(step, at, &rings, &fit.shift);
    fit.q = yw_lanes_quat_load(rotations, at.lane);
    yw_lanes_mat3 r = yw_lanes_rotation(fit.q);
    yw_lanes_newton newton = yw_lanes_newton_at(&m, &r);
    fit.q = yw_lanes_newton_turn(&newton, fit.q);
    uint32_t rescued = yw_lanes_polar_finish_all(&m, &fit.q, &r, &fit.p);
    yw_lanes_quat_store(rotations, at.lane, &fit.q);
    int32_t n = model->num_examples;
    if (n == 0) {
      write_targets(step, chunk, at.block, at.lane, &r, &fit.shift);
      return rescued;
    }
    yw_lanes_sym3 change = moment_change(model, at.block, at.lane, &fit.p);
    if (model->num_shares > 0) {
      const yw_sym3x16* duals = model->duals + (size_t)at.block * (size_t)n;
      store_fit(step, at, &fit);
      for (int32_t k = 0; k < n; ++k) {
        products[k * THREADS] = dual_product(&duals[k], at.lane, &change);
      }
      return rescued;
    }
    float own[2] = {0.0f, 0.0f};
    weigh_together(step, at, &change, own);
    pull_set pulls = {own, own[0] != 0.0f || own[1] != 0.0f};
    bend(step, chunk, at, &fit, &pulls);
    return rescued;
  }

  // Adds what the regions of `num_blocks` blocks from `first` on gave to the products of their
  // shares: thread t the lane t % 16 of example t / 16.
  KERNEL_FN void add_products(const match_step* step, int32_t first, int32_t num_blocks, int t,
                              const float* tile) {
    const match_model* model = step->model;
    int32_t n = model->num_examples, lane = t % YW_LANES;
    for (int32_t k = t / YW_LANES; k < n; k += THREADS / YW_LANES) {
      int32_t share = -1;
      float sum = 0.0f, *to = NULL;
      for (int32_t b = 0; b < num_blocks; ++b) {
        int32_t own = model->blocks[first + b].share;
        if (own < 0) own = model->lane_share[(first + b) * YW_LANES + lane];
        if (own != share) {
          if (to) *to = sum;
          share = own;
          to = step->body->products + ((size_t)share * (size_t)n + (size_t)k) * YW_LANES +
               (size_t)lane;
          sum = *to;
        }
        sum += tile[k * THREADS + b * YW_LANES + lane];
      }
      if (to) *to = sum;
    }
  }

  KERNEL_FN void finish_sums(const args& a, shared* s, const match_chunk* chunk, int32_t c, int t) {
    const match_model* model = &a.model;
    if (t < NUM_SUMS) {
      float* lanes = s->sums[t];
      for (int half = YW_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
      }
      a.body.sums[c].mx[t] = lanes[0];  // the sums follow each other
    }
    if (t == NUM_SUMS && s->recovered > 0) ADD_TO(&a.scalars->recovered, s->recovered);
    int32_t n = model->num_examples, count = model->num_shares > 0 ? chunk->num_shares * n : 0;
    for (int32_t i = t; i < count; i += THREADS) {
      size_t at = (size_t)chunk->first_share * (size_t)n + (size_t)i;
      a.share_products[at] = match_add_lanes(a.body.products + at * YW_LANES);
    }
  }

  // Totals of the body: chunk after chunk, and share after share.
  KERNEL_FN void add_chunks(const args& a, shared* s, int t) {
    const match_model* model = &a.model;
    if (t < NUM_SUMS) {
      double total = 0.0;
#pragma unroll 8
      for (int32_t c = 0; c < model->num_chunks; ++c) total += (double)a.body.sums[c].mx[t];
      s->totals[t] = total;
    }
    int32_t n = model->num_examples, count = model->num_shares > 0 ? model->num_groups * n : 0;
    for (int32_t i = t - 64; i < count; i += THREADS - 64) {
      if (i < 0) continue;
      double sum = 0.0;
#pragma unroll 8
      for (int32_t j = a.group_start[i / n]; j < a.group_start[i / n + 1]; ++j) {
        sum += a.share_products[(size_t)a.group_shares[j] * (size_t)n + (size_t)(i % n)];
      }
      a.body.group_products[i] = sum;
    }
  }

  KERNEL_FN void find_motion(const args& a, shared* s) {
    match_totals totals;
    match_scalars* out = a.scalars;
    const double* t = s->totals;
    totals.mass = (double)a.model.num_particles;
    for (int k = 0; k < 3; ++k) {
      totals.mx[k] = t[SUM_MX + k];
      totals.mv[k] = t[SUM_MV + k];
      totals.myv[k] = t[SUM_MYV + k];
    }
    for (int k = 0; k < 6; ++k) totals.myy[k] = t[SUM_MYY + k];
    for (int k = 0; k < 4; ++k) totals.rotation[k] = t[SUM_ROTATION + k];
    if (!match_totals_finite(&totals)) {
      out->diverged = 1;
      return;
    }
    out->motion = match_find_rigid_motion(out->axes.rotation, out->torque, &totals);
    if (a.enters) out->axes.center = yw_sub(out->axes.center, s->base.step.origin);
    match_set_rigid_motion(&s->base.step, &out->motion);
    out->origin = s->base.step.origin;
    out->step = s->base.step;
  }

  KERNEL_FN void weigh_groups(const args& a, int t) {
    int32_t n = a.model.num_examples, count = a.model.num_shares > 0 ? a.model.num_groups : 0;
    for (int32_t g = t - 64; g < count; g += THREADS - 64) {
      if (g < 0) continue;
      size_t at = (size_t)g * (size_t)n;
      const double* b = a.body.group_products + at;
      bool is_finite = true;
      for (int32_t k = 0; k < n; ++k) is_finite = is_finite && isfinite(b[k]);
      if (is_finite) {
        match_weigh(&a.body.params, &a.model, a.model.gram + at * (size_t)n, b,
                    a.body.aims + at + g, a.body.weights + at + g, a.body.pulls + at);
      } else {
        a.scalars->diverged = 1;
      }
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    row* rows = (row*)(memory + sizeof(shared));
    const match_model* model = &a.model;
    const match_chunk chunk = model->chunks[block];
    int32_t num_rows = chunk.count + chunk.num_halo;
    float* tile = (float*)(rows + num_rows + 1);
    float* products = tile + NUM_SUMS * THREADS;
    if (a.scalars->diverged) return;

    EACH_THREAD(t) {
      if (t == 0) connect_step(a, &s->base), begin_step(a, &s->base), s->recovered = 0;
      if (t < NUM_SUMS * YW_LANES) s->sums[t / YW_LANES][t % YW_LANES] = 0.0f;
      int32_t n = model->num_examples * YW_LANES;
      for (int32_t i = t; model->num_shares > 0 && i < chunk.num_shares * n; i += THREADS) {
        a.body.products[(size_t)chunk.first_share * (size_t)n + (size_t)i] = 0.0f;
      }
    }
    SYNC();
    const match_step* step = &s->base.step;
    EACH_THREAD(t) {
      const int32_t* halo = model->halo + chunk.halo_start;
      for (int32_t i = t; i < num_rows; i += THREADS) {
        rows[i] = make_row(step, &chunk, i < chunk.count ? chunk.begin + i : halo[i - chunk.count]);
      }
      if (t == 0) rows[num_rows].md = rows[num_rows].q = (yw_vec4){0.0f, 0.0f, 0.0f, 0.0f};
    }
    SYNC();
    for (int32_t first = 0; first < chunk.num_blocks; first += THREADS / YW_LANES) {
      int32_t left = chunk.num_blocks - first;
      int32_t blocks = left < THREADS / YW_LANES ? left : THREADS / YW_LANES;
      EACH_THREAD(t) {
        if (t >= blocks * YW_LANES) continue;
        lane_set at = {chunk.first_block + first + t / YW_LANES, t % YW_LANES};
        if (fit_region(step, &chunk, at, rows, products + t) != 0) ADD_TO(&s->recovered, 1);
        float terms[NUM_SUMS];
        body_terms(step, at.block, at.lane, terms);
        for (int k = 0; k < NUM_SUMS; ++k) tile[k * THREADS + t] = terms[k];
      }
      SYNC();
      EACH_THREAD(t) {
        if (t < NUM_SUMS * YW_LANES) {
          float sum = s->sums[t / YW_LANES][t % YW_LANES];
          const float* from = tile + (t / YW_LANES) * THREADS + t % YW_LANES;
          for (int32_t b = 0; b < blocks; ++b) sum += from[b * YW_LANES];
          s->sums[t / YW_LANES][t % YW_LANES] = sum;
        }
        if (model->num_shares > 0) {
          add_products(step, chunk.first_block + first, blocks, t, products);
        }
      }
      SYNC();
    }
    EACH_THREAD(t) { finish_sums(a, s, &chunk, block, t); }
    if (!IS_LAST_BLOCK(&a.scalars->ended[0], &s->base.flag)) return;
    EACH_THREAD(t) { add_chunks(a, s, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) find_motion(a, s);
      weigh_groups(a, t);
    }
  }
};

// Targets of examples -----------------------------------------------------------------------------

struct bend_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  static size_t shared_bytes() { return sizeof(match_shared); }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    match_shared* s = (match_shared*)memory;
    const match_chunk chunk = a.model.chunks[block];
    if (a.scalars->diverged) return;
    EACH_THREAD(t) {
      if (t == 0) s->step = a.scalars->step, connect_step(a, s);
    }
    SYNC();
    const match_step* step = &s->step;
    const match_model* model = &s->model;
    EACH_THREAD(t) {
      int32_t n = model->num_examples;
      for (int32_t i = t; i < chunk.num_blocks * YW_LANES; i += THREADS) {
        lane_set at = {chunk.first_block + i / YW_LANES, i % YW_LANES};
        int32_t share = model->blocks[at.block].share;
        if (share < 0) share = model->lane_share[at.block * YW_LANES + at.lane];
        const float* weights = step->body->pulls + (size_t)model->share_group[share] * (size_t)n;
        int32_t active = 0;
        for (int32_t k = 0; k < n; ++k) active += weights[k] != 0.0f;
        pull_set pulls = {weights, active};
        region_fit fit = load_fit(step, at, block_fits(step, at.block));
        bend(step, &chunk, at, &fit, &pulls);
      }
    }
  }
};

// Particles ---------------------------------------------------------------------------------------

struct pull_kernel {
  typedef match_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 2;
  // Torque, lower and upper corner of the box.
  enum { NUM_TERMS = 9 };

  struct row {
    yw_vec4 x, y, z;
  };
  struct alignas(16) shared {
    match_shared base;
    float terms[NUM_TERMS][YW_LANES];
    double torque[3];
  };

  static size_t shared_bytes(int num_rows) {
    if (num_rows < THREADS / 2) num_rows = THREADS / 2;  // room for a box per thread
    return sizeof(shared) + (size_t)num_rows * sizeof(row) + NUM_TERMS * THREADS * sizeof(float);
  }

  KERNEL_FN float join(int term, float a, float b) {
    return term < 3 ? a + b : term < 6 ? (a < b ? a : b) : (a > b ? a : b);
  }
  KERNEL_FN float none(int term) { return term < 3 ? 0.0f : term < 6 ? INFINITY : -INFINITY; }

  KERNEL_FN ring_sums sum_ring(const match_step* step, int32_t block, int32_t lane,
                               const row* rows) {
    const match_block* b = &step->model->blocks[block];
    const uint16_t* ring = step->model->rings + b->ring_start + match_lane(lane);
    ring_sums out;
    for (int32_t k = 0; k < b->ring_length; ++k) {
      const row* from = &rows[ring_row(ring[k * YW_LANES])];
      yw_vec4 x = from->x, y = from->y, z = from->z;
      const float entries[3][4] = {
          {x.x, x.y, x.z, x.w}, {y.x, y.y, y.z, y.w}, {z.x, z.y, z.z, z.w}};
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
          out.sums[i][j] = k == 0 ? entries[i][j] : out.sums[i][j] + entries[i][j];
        }
      }
    }
    return out;
  }

  KERNEL_FN void pull_one(const match_step* step, lane_set at, const row* rows, float* terms) {
    const float zero = 0.0f;
    ring_sums rings = sum_ring(step, at.block, at.lane, rows);
    pull_sums sums = {
        {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {zero, zero, zero}};
    bool live = at.block * YW_LANES + match_lane(at.lane) < step->model->num_particles;
    pull(step, live, at.block, at.lane, &rings, &sums);
    const float own[NUM_TERMS] = {sums.torque.x, sums.torque.y, sums.torque.z,
                                  sums.lower.x,  sums.lower.y,  sums.lower.z,
                                  sums.upper.x,  sums.upper.y,  sums.upper.z};
    for (int k = 0; k < NUM_TERMS; ++k) {
      terms[k * THREADS] = live || k < 3 ? own[k] : none(k);
    }
  }

  // Pairs of lanes, in the order of finish_torque.
  KERNEL_FN void finish_terms(const args& a, shared* s, int32_t c, int t) {
    if (t >= NUM_TERMS) return;
    float* lanes = s->terms[t];
    for (int half = YW_LANES / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] = join(t, lanes[l], lanes[l + half]);
    }
    match_sums* out = &a.body.sums[c];
    if (t < 3) out->torque[t] = s->base.step.pull * lanes[0];
    if (t >= 3) (&out->box.lower.x)[t - 3] = lanes[0];  // lower and upper follow each other
  }

  // Springs and holds, as in match.c.
  KERNEL_FN void pull_spring(const args& a, const yw_spring* spring, yw_aabb* box) {
    int32_t n = spring->particle;
    if (a.inv_mass[n] == 0.0f) return;
    match_step old = a.scalars->step;
    old.model = &a.model;
    yw_spring s = *spring;
    s.begin = yw_sub(s.begin, a.scalars->origin);
    s.end = yw_sub(s.end, a.scalars->origin);
    yw_vec3 x = yw_xyz(match_relative(&old, n)), u = yw_spring_velocity(&s, a.h);
    yw_vec3 goal = yw_spring_at(&s, a.inner_end);
    float h = a.response.h;
    yw_vec3 v = yw_spring_pull(&s, goal, u, x, yw_xyz(a.vel[n]), a.inv_mass[n], h);
    x = yw_mad(x, h, v);
    a.vel[n] = yw_v4(v);
    a.new_pos[n] = yw_v4(x);
    *box = yw_aabb_grow(*box, x);
  }

  // A negative particle is held by another one too, later in the list: its place only counts for
  // the box.
  KERNEL_FN void set_hold(const args& a, const yw_hold* held, yw_aabb* box) {
    yw_hold hold = *held;
    hold.begin = yw_sub(hold.begin, a.scalars->origin);
    hold.end = yw_sub(hold.end, a.scalars->origin);
    yw_vec3 place = yw_hold_at(&hold, a.inner_end);
    if (hold.particle >= 0) {
      a.new_pos[hold.particle] = yw_v4(place);
      a.vel[hold.particle] = yw_v4(yw_hold_velocity(&hold, a.h));
    }
    *box = yw_aabb_grow(*box, place);
  }

  KERNEL_FN bool is_clear(const args& a, yw_aabb box) {
    yw_vec3 origin = a.scalars->origin;
    box.lower = yw_add(box.lower, origin);
    box.upper = yw_add(box.upper, origin);
    float low = yw_length(box.lower), high = yw_length(box.upper), most = fmaxf(low, high);
    if (isfinite(most)) box = yw_aabb_pad(box, YW_NEAR_ROUNDING * most);
    for (int32_t i = 0; i < a.num_obstacles; ++i) {
      const yw_obstacle* o = &a.obstacles[i];
      bool moves = !yw_same_pose(o->begin, o->end);
      if (!yw_obstacle_box_is_clear(o, o->begin, o->end, moves, box)) return false;
    }
    return true;
  }

  // Boxes of all chunks, springs and holds: one box per thread, kept in `boxes`.
  KERNEL_FN void join_chunks(const args& a, shared* s, yw_aabb* boxes, int t) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t c = t; c < a.model.num_chunks; c += THREADS) {
      box = yw_aabb_join(box, a.body.sums[c].box);
    }
    if (t < 3) {
      double sum = 0.0;
#pragma unroll 8
      for (int32_t c = 0; c < a.model.num_chunks; ++c) sum += (double)a.body.sums[c].torque[t];
      s->torque[t] = sum;
    }
    int first = a.springs_differ ? t : 0, stride = a.springs_differ ? THREADS : 1;
    for (int32_t i = first; (a.springs_differ || t == 0) && i < a.num_springs; i += stride) {
      pull_spring(a, &a.springs[i], &box);
    }
    boxes[t] = box;
  }

  KERNEL_FN void end_pull(const args& a, shared* s, yw_aabb box) {
    match_scalars* out = a.scalars;
    out->axes = match_predict_axes(&out->axes, &out->motion, a.gravity, s->base.step.h);
    if (a.leaves) out->axes.center = yw_add(out->axes.center, out->origin);
    out->torque = yw_v3_of(s->torque);
    out->is_near = !is_clear(a, box);
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    row* rows = (row*)(memory + sizeof(shared));
    const match_chunk chunk = a.model.chunks[block];
    int32_t num_rows = chunk.count + chunk.num_halo;
    float* tile = (float*)(rows + num_rows + 1);
    if (a.scalars->diverged) return;
    EACH_THREAD(t) {
      if (t == 0) s->base.step = a.scalars->step, connect_step(a, &s->base);
      if (t < NUM_TERMS * YW_LANES) s->terms[t / YW_LANES][t % YW_LANES] = none(t / YW_LANES);
      const int32_t* halo = a.model.halo + chunk.halo_start;
      const row* targets = (const row*)a.body.targets;
      for (int32_t i = t; i < num_rows; i += THREADS) {
        rows[i] = targets[i < chunk.count ? chunk.begin + i : halo[i - chunk.count]];
      }
      yw_vec4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
      if (t == 0) rows[num_rows].x = rows[num_rows].y = rows[num_rows].z = zero;
    }
    SYNC();
    for (int32_t first = 0; first < chunk.num_blocks; first += THREADS / YW_LANES) {
      int32_t left = chunk.num_blocks - first;
      int32_t blocks = left < THREADS / YW_LANES ? left : THREADS / YW_LANES;
      EACH_THREAD(t) {
        if (t >= blocks * YW_LANES) continue;
        lane_set at = {chunk.first_block + first + t / YW_LANES, t % YW_LANES};
        pull_one(&s->base.step, at, rows, tile + t);
      }
      SYNC();
      EACH_THREAD(t) {
        if (t >= NUM_TERMS * YW_LANES) continue;
        int term = t / YW_LANES;
        float sum = s->terms[term][t % YW_LANES];
        const float* from = tile + term * THREADS + t % YW_LANES;
        for (int32_t b = 0; b < blocks; ++b) sum = join(term, sum, from[b * YW_LANES]);
        s->terms[term][t % YW_LANES] = sum;
      }
      SYNC();
    }
    EACH_THREAD(t) { finish_terms(a, s, block, t); }
    if (!IS_LAST_BLOCK(&a.scalars->ended[1], &s->base.flag)) return;
    yw_aabb* boxes = (yw_aabb*)rows;
    EACH_THREAD(t) { join_chunks(a, s, boxes, t); }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t i = t; i < a.num_holds; i += THREADS) set_hold(a, &a.holds[i], &boxes[t]);
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
      SYNC();
      EACH_THREAD(t) {
        if (t < half) boxes[t] = yw_aabb_join(boxes[t], boxes[t + half]);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0) end_pull(a, s, boxes[0]);
    }
  }
};

#endif
