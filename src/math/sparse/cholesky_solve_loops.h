// SPDX-License-Identifier: MIT
// Template: SOLVE_REAL, SOLVE_LANES (values in a register) and SOLVE(name) are set by
// cholesky_solve_lanes.h. A row block is SOLVE_PARTS registers.
#define SOLVE_PARTS (8 / SOLVE_LANES)
// Columns whose sums stay in registers, and row blocks between two visits to them.
#if defined(__AVX512F__)
#define SOLVE_GROUP 8
#else
#define SOLVE_GROUP 4
#endif
#define SOLVE_CHUNK 16

typedef SOLVE_REAL SOLVE(lanes) __attribute__((vector_size(sizeof(SOLVE_REAL) * SOLVE_LANES)));

static inline __attribute__((always_inline)) SOLVE(lanes) SOLVE(load)(const SOLVE_REAL* from) {
  SOLVE(lanes) v;
  memcpy(&v, from, sizeof v);
  return v;
}

static inline __attribute__((always_inline)) void SOLVE(store)(SOLVE_REAL* to, SOLVE(lanes) v) {
  memcpy(to, &v, sizeof v);
}

// One part of `blocks` row blocks, `step` apart: out[lane][c] = sum over k of L[k][lane] x[k][c].
// Two blocks at a time keep enough sums in flight.
static inline __attribute__((always_inline)) void SOLVE(forward_part)(
    const SOLVE_REAL* block, size_t step, const int blocks, int32_t depth, const int columns,
    const SOLVE_REAL* x, SOLVE_REAL* out) {
  SOLVE(lanes) sum[2 * 6];
#pragma GCC unroll 12
  for (int s = 0; s < blocks * columns; ++s) sum[s] = (SOLVE(lanes)){0};
  for (int32_t k = 0; k < depth; ++k) {
    SOLVE(lanes) first = SOLVE(load)(block + 8 * (size_t)k);
    SOLVE(lanes) second = blocks > 1 ? SOLVE(load)(block + step + 8 * (size_t)k) : first;
#pragma GCC unroll 6
    for (int c = 0; c < columns; ++c) {
      sum[c] += first * x[k * columns + c];
      if (blocks > 1) sum[columns + c] += second * x[k * columns + c];
    }
  }
#pragma GCC unroll 12
  for (int s = 0; s < blocks * columns; ++s) {
    SOLVE_REAL* to = out + s / columns * 8 * columns + s % columns;
#pragma GCC unroll 8
    for (int lane = 0; lane < SOLVE_LANES; ++lane) to[lane * columns] = sum[s][lane];
  }
}

static inline __attribute__((always_inline)) void SOLVE(forward_columns)(const yw_solve_rows* job,
                                                                         const int columns,
                                                                         const SOLVE_REAL* x,
                                                                         SOLVE_REAL* out) {
  size_t step = 8 * (size_t)job->width;
  const SOLVE_REAL* panel = (const SOLVE_REAL*)job->panel + 8 * (size_t)job->begin;
  int32_t depth = job->end - job->begin, row = job->row_begin;
  for (; row + 1 < job->row_end; row += 2) {
    const SOLVE_REAL* block = panel + (size_t)row * step;
    for (int part = 0; part < 8; part += SOLVE_LANES) {
      SOLVE(forward_part)(block + part, step, 2, depth, columns, x, out + part * columns);
    }
    out += 16 * columns;
  }
  if (row == job->row_end) return;
  for (int part = 0; part < 8; part += SOLVE_LANES) {
    const SOLVE_REAL* block = panel + (size_t)row * step + part;
    SOLVE(forward_part)(block, step, 1, depth, columns, x, out + part * columns);
  }
}

static void SOLVE(forward)(const yw_solve_rows* job, const SOLVE_REAL* x, SOLVE_REAL* out) {
  switch (job->columns) {
    case 1:
      SOLVE(forward_columns)(job, 1, x, out);
      break;
    case 2:
      SOLVE(forward_columns)(job, 2, x, out);
      break;
    case 3:
      SOLVE(forward_columns)(job, 3, x, out);
      break;
    case 4:
      SOLVE(forward_columns)(job, 4, x, out);
      break;
    default:
      SOLVE(forward_columns)(job, 6, x, out);
      break;
  }
}

// Adds row blocks row .. end - 1 to the lane sums of SOLVE_GROUP columns, [column][c][8 lanes].
static inline __attribute__((always_inline)) void SOLVE(backward_group)(
    const SOLVE_REAL* block, size_t step, int32_t count, const int group, const int columns,
    const SOLVE_REAL* x, SOLVE_REAL* sums) {
  for (int part = 0; part < 8; part += SOLVE_LANES) {
    SOLVE(lanes) sum[SOLVE_GROUP * 6];
#pragma GCC unroll 48
    for (int s = 0; s < group * columns; ++s) sum[s] = SOLVE(load)(sums + 8 * s + part);
    for (int32_t row = 0; row < count; ++row) {
      const SOLVE_REAL* l = block + (size_t)row * step + part;
      const SOLVE_REAL* y = x + (size_t)row * 8 * (size_t)columns + part;
#pragma GCC unroll 8
      for (int k = 0; k < group; ++k) {
        SOLVE(lanes) lk = SOLVE(load)(l + 8 * k);
#pragma GCC unroll 6
        for (int c = 0; c < columns; ++c) {
          sum[k * columns + c] += lk * SOLVE(load)(y + 8 * c);
        }
      }
    }
#pragma GCC unroll 48
    for (int s = 0; s < group * columns; ++s) SOLVE(store)(sums + 8 * s + part, sum[s]);
  }
}

static inline __attribute__((always_inline)) void SOLVE(backward_columns)(const yw_solve_rows* job,
                                                                          const int columns,
                                                                          const SOLVE_REAL* x,
                                                                          SOLVE_REAL* out) {
  _Alignas(64) SOLVE_REAL sums[8 * YW_SOLVE_GROUP_COLUMNS * 6];
  size_t step = 8 * (size_t)job->width;
  int32_t count = job->end - job->begin;
  const SOLVE_REAL* panel = (const SOLVE_REAL*)job->panel + 8 * (size_t)job->begin;
  memset(sums, 0, (size_t)(8 * count * columns) * sizeof *sums);
  for (int32_t row = job->row_begin; row < job->row_end; row += SOLVE_CHUNK) {
    int32_t chunk = job->row_end - row < SOLVE_CHUNK ? job->row_end - row : SOLVE_CHUNK;
    const SOLVE_REAL* block = panel + (size_t)row * step;
    const SOLVE_REAL* y = x + (size_t)(row - job->row_begin) * 8 * (size_t)columns;
    int32_t k = 0;
    for (; k + SOLVE_GROUP <= count; k += SOLVE_GROUP) {
      SOLVE(backward_group)
      (block + 8 * k, step, chunk, SOLVE_GROUP, columns, y, sums + 8 * k * columns);
    }
    for (; k < count; ++k) {
      SOLVE(backward_group)(block + 8 * k, step, chunk, 1, columns, y, sums + 8 * k * columns);
    }
  }
  for (int32_t s = 0; s < count * columns; ++s) {
    const SOLVE_REAL* v = sums + 8 * s;
    out[s] = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  }
}

static void SOLVE(backward)(const yw_solve_rows* job, const SOLVE_REAL* x, SOLVE_REAL* out) {
  switch (job->columns) {
    case 1:
      SOLVE(backward_columns)(job, 1, x, out);
      break;
    case 2:
      SOLVE(backward_columns)(job, 2, x, out);
      break;
    case 3:
      SOLVE(backward_columns)(job, 3, x, out);
      break;
    case 4:
      SOLVE(backward_columns)(job, 4, x, out);
      break;
    default:
      SOLVE(backward_columns)(job, 6, x, out);
      break;
  }
}

#undef SOLVE_PARTS
#undef SOLVE_GROUP
#undef SOLVE_CHUNK
