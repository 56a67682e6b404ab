// SPDX-License-Identifier: MIT
// Slaves near a master, and their weights (weight_lanes.h).
#include <math.h>

#include "methods/plastic/cells.h"
#include "methods/plastic/phases.h"
#include "methods/plastic/weight_lanes.h"

// Prefetch distance, in pairs.
#define PAIRS_AHEAD 128

// Search ------------------------------------------------------------------------------------------

typedef struct search_ball {
  float x, y, z, radius2;
} search_ball;

// Appends j + k for every set bit k, up to one more than a row may have.
YW_LANE_FN int32_t append_hits(int32_t* out, int32_t count, int32_t j, uint32_t hits) {
#if YW_VF_LANES == 16
  const __m512i each = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i numbers = _mm512_add_epi32(_mm512_set1_epi32(j), each);
  _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)hits, numbers));
  count += __builtin_popcount(hits);
  return count < PLASTIC_MAX_ROW + 1 ? count : PLASTIC_MAX_ROW + 1;
#else
  for (; hits != 0 && count < PLASTIC_MAX_ROW + 1; hits &= hits - 1) {
    out[count++] = j + __builtin_ctz(hits);
  }
  return count;
#endif
}

// Appends the slaves of [begin, end) on a line of cells inside the ball. Returns the new count.
YW_LANE_FN int32_t list_range(const plastic_body* body, const search_ball* ball, uint32_t line,
                              int32_t begin, int32_t end, int32_t* out, int32_t count) {
  for (int32_t j = begin; j < end; j += YW_VF_LANES) {
    yw_vf dx = yw_vf_load(body->sorted_x + j) - ball->x;
    yw_vf dy = yw_vf_load(body->sorted_y + j) - ball->y;
    yw_vf dz = yw_vf_load(body->sorted_z + j) - ball->z;
    yw_vi lines;
    memcpy(&lines, body->sorted_line + j, sizeof lines);
    yw_vf d2 = dx * dx + dy * dy + dz * dz;
    uint32_t hits = yw_vi_bits((d2 < ball->radius2) & (lines == (int32_t)line));
    if (end - j < YW_VF_LANES) hits &= (1u << (end - j)) - 1u;
    count = append_hits(out, count, j, hits);
  }
  return count;
}

static int32_t list_ball(const plastic_body* body, const plastic_cell* cell,
                         const search_ball* ball, int32_t* out) {
  int32_t count = 0;
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      uint32_t line = plastic_line(cell->y + dy, cell->z + dz);
      uint32_t first = (line + (uint32_t)cell->x - 1u) & body->bucket_mask;
      const int32_t* start = body->bucket_start;
      if (first + 3u <= body->bucket_mask + 1u) {
        count = list_range(body, ball, line, start[first], start[first + 3], out, count);
        continue;
      }
      for (uint32_t k = 0; k < 3; ++k) {
        uint32_t b = (first + k) & body->bucket_mask;
        count = list_range(body, ball, line, start[b], start[b + 1], out, count);
      }
    }
  }
  return count;
}

// Writes the rows of a chunk one after another from found[chunk * CHUNK * MAX_ROW] on;
// row_start[m + 1] gets the number of slaves of m.
static void search(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * PLASTIC_CHUNK, end = first + PLASTIC_CHUNK;
  if (end > body->num_masters) end = body->num_masters;
  float edge = plastic_cell_edge(body->model->spacing);
  float reach = 2.0f * body->model->spacing + body->skin;
  int32_t* out = body->found + (size_t)first * PLASTIC_MAX_ROW;
  int32_t row[PLASTIC_MAX_ROW + 1 + YW_LANES];
  for (int32_t m = first; m < end; ++m) {
    yw_vec4 x = particles->pos[m];
    plastic_cell cell = plastic_cell_of(x, edge);
    search_ball ball = {x.x, x.y, x.z, reach * reach};
    int32_t count = list_ball(body, &cell, &ball, row);
    // Too many: the nearest are enough, and any choice conserves mass and momentum.
    while (count > PLASTIC_MAX_ROW) {
      ball.radius2 *= 0.9f;
      count = list_ball(body, &cell, &ball, row);
    }
    memcpy(out, row, (size_t)count * sizeof *row);
    out += count;
    body->row_start[m + 1] = count;
  }
}

// Weights -----------------------------------------------------------------------------------------

// Positions of the slaves of 16 masters, in units of h. Lanes without a slave get a far position.
static void gather_places(const plastic_body* body, const yw_particles* particles, int32_t block,
                          weight_block* b) {
  float inv_h = 1.0f / body->model->spacing;
  int32_t first = block * YW_LANES;
  b->length = 0;
  for (int32_t lane = 0; lane < YW_LANES && first + lane < body->num_masters; ++lane) {
    int32_t count = body->row_start[first + lane + 1] - body->row_start[first + lane];
    if (count > b->length) b->length = count;
  }
  for (int32_t lane = 0; lane < YW_LANES; ++lane) {
    int32_t m = first + lane, count = 0;
    if (m < body->num_masters) {
      const int32_t* column = body->column + body->row_start[m];
      count = body->row_start[m + 1] - body->row_start[m];
      yw_vec4 x = particles->pos[m];
      bool is_last = body->row_start[m] + PAIRS_AHEAD + count > body->num_pairs;
      for (int32_t k = 0; k < count; ++k) {
        const yw_vec4* s = &body->slave_pos[column[k]];
        if (!is_last) __builtin_prefetch(&body->slave_pos[column[k + PAIRS_AHEAD]]);
        b->x[k][lane] = (s->x - x.x) * inv_h;
        b->y[k][lane] = (s->y - x.y) * inv_h;
        b->z[k][lane] = (s->z - x.z) * inv_h;
      }
    }
    for (int32_t k = count; k < b->length; ++k) {
      b->x[k][lane] = 2.0f;
      b->y[k][lane] = b->z[k][lane] = 0.0f;
    }
  }
}

static void write_shares(plastic_body* body, int32_t block, const weight_block* b) {
  int32_t first = block * YW_LANES;
  for (int32_t lane = 0; lane < YW_LANES && first + lane < body->num_masters; ++lane) {
    int32_t m = first + lane, count = body->row_start[m + 1] - body->row_start[m];
    float* share = body->share + 4 * (size_t)body->four_start[m];
    for (int32_t k = 0; k < count; ++k) share[k] = b->w[k][lane];
  }
}

static void weights(plastic_body* body, yw_particles* particles, int32_t chunk) {
  int32_t first = chunk * (PLASTIC_CHUNK / YW_LANES), end = first + PLASTIC_CHUNK / YW_LANES;
  int32_t blocks = yw_plastic_chunks(body->num_masters, YW_LANES), wanting = 0;
  if (end > blocks) end = blocks;
  weight_block b;
  yw_vec4 origin = particles->pos[chunk * PLASTIC_CHUNK];
  body->origin[chunk] = (yw_vec4){origin.x, origin.y, origin.z, 0.0f};
  for (int32_t block = first; block < end; ++block) {
    gather_places(body, particles, block, &b);
    uint32_t needs = 0;
    _Alignas(64) float arms[3][YW_LANES] = {0};
    for (int32_t k = 0; k < YW_LANES && block * YW_LANES + k < body->num_masters; ++k) {
      yw_vec4 x = particles->pos[block * YW_LANES + k];
      arms[0][k] = x.x - origin.x, arms[1][k] = x.y - origin.y, arms[2][k] = x.z - origin.z;
    }
    for (int32_t lane = 0; lane < YW_LANES; lane += YW_VF_LANES) {
      moments m;
      needs |= share_out(&b, lane, &m);
      const yw_vf from_origin[3] = {yw_vf_load(arms[0] + lane), yw_vf_load(arms[1] + lane),
                                    yw_vf_load(arms[2] + lane)};
      store_gradient(&body->work[block], lane, &m, body->model->spacing, from_origin);
    }
    write_shares(body, block, &b);
    for (int32_t lane = 0; lane < YW_LANES && block * YW_LANES + lane < body->num_masters; ++lane) {
      uint8_t need = (uint8_t)((needs >> lane) & 1u);
      body->needs[block * YW_LANES + lane] = need;
      wanting += need;
    }
  }
  body->sums[chunk].count = wanting;
}

const plastic_weight_kernels YW_KERNEL(yw_plastic_weight_kernels) = {.search = search,
                                                                     .weights = weights};
