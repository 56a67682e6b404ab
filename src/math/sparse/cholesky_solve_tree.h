// SPDX-License-Identifier: MIT
// Template of cholesky_solve.c for SOLVE_REAL. Vectors are interleaved: component c of unknown k is
// at k * columns + c. Gathered rows are blocks of [c][8 lanes].

typedef struct SOLVE(walk) {
  const yw_cholesky* f;
  const yw_cholesky_fns* fns;
  yw_tasks* tasks;  // NULL inside a task
  size_t columns;
  SOLVE_REAL* x;         // solve_size entries
  SOLVE_REAL* scratch;   // of all workers, then one more for divided fronts
  SOLVE_REAL* gathered;  // rows of the front
  SOLVE_REAL* buffer;    // NULL: the worker's
  int32_t s;
  yw_front front;
  const SOLVE_REAL* panel;
  int32_t strip_begin, strip_end;
  const SOLVE_REAL* b;
  SOLVE_REAL* out;
  size_t stride;
} SOLVE(walk);

static SOLVE_REAL* SOLVE(worker_scratch)(const SOLVE(walk) * w, int32_t worker) {
  return w->scratch + (size_t)worker * scratch_rows(w->f) * w->columns;
}

static void SOLVE(enter)(SOLVE(walk) * w, int32_t s) {
  w->s = s;
  w->front = yw_front_of(w->f, s);
  w->panel = w->f->SOLVE_PANELS + w->f->panel_start[s];
}

static yw_solve_rows SOLVE(job)(const SOLVE(walk) * w, int32_t begin, int32_t end,
                                int32_t row_begin, int32_t row_end) {
  return (yw_solve_rows){w->panel, w->front.width,     begin, end, row_begin,
                         row_end,  (int32_t)w->columns};
}

static int32_t SOLVE(block_rows)(const SOLVE(walk) * w, int32_t block) {
  const yw_front* front = &w->front;
  int32_t left = block < front->pivot_blocks ? front->width - 8 * block
                                             : front->below - 8 * (block - front->pivot_blocks);
  return smaller(left, 8);
}

// Up ----------------------------------------------------------------------------------------------

// L x = b for the 8x8 triangle of a diagonal block.
static void SOLVE(forward_triangle)(const SOLVE(walk) * w, int32_t block, SOLVE_REAL* x) {
  const SOLVE_REAL* tile =
      w->panel + (size_t)block * 8 * (size_t)w->front.width + 64 * (size_t)block;
  const SOLVE_REAL* inverse = w->f->SOLVE_INVERSE + w->front.first + 8 * block;
  int32_t count = SOLVE(block_rows)(w, block);
  for (int32_t k = 0; k < count; ++k) {
    for (size_t c = 0; c < w->columns; ++c) x[(size_t)k * w->columns + c] *= inverse[k];
    for (int32_t i = k + 1; i < count; ++i) {
      SOLVE_REAL l = tile[8 * k + i];
      for (size_t c = 0; c < w->columns; ++c) {
        x[(size_t)i * w->columns + c] -= l * x[(size_t)k * w->columns + c];
      }
    }
  }
}

static void SOLVE(subtract_block)(const SOLVE(walk) * w, int32_t block, const SOLVE_REAL* sums) {
  const yw_front* front = &w->front;
  int32_t count = SOLVE(block_rows)(w, block);
  if (block < front->pivot_blocks) {
    SOLVE_REAL* x = w->x + (size_t)(front->first + 8 * block) * w->columns;
    for (size_t i = 0; i < (size_t)count * w->columns; ++i) x[i] -= sums[i];
    return;
  }
  const int32_t* rows =
      w->f->solve_rows + w->f->row_start[w->s] + 8 * (block - front->pivot_blocks);
  for (int32_t i = 0; i < count; ++i) {
    SOLVE_REAL* x = w->x + (size_t)rows[i] * w->columns;
    for (size_t c = 0; c < w->columns; ++c) x[c] -= sums[(size_t)i * w->columns + c];
  }
}

// Subtracts the contribution of the strip's unknowns from the rows below it.
static void SOLVE(forward_piece)(void* context, int32_t piece, int32_t worker) {
  const SOLVE(walk)* w = context;
  SOLVE_REAL* sums = w->buffer ? w->buffer : SOLVE(worker_scratch)(w, worker);
  int32_t begin = w->strip_end + piece * ROW_PIECE;
  int32_t end = smaller(begin + ROW_PIECE, w->front.blocks);
  int32_t first = 8 * w->strip_begin, last = smaller(8 * w->strip_end, w->front.width);
  yw_solve_rows job = SOLVE(job)(w, first, last, begin, end);
  w->fns->SOLVE_FORWARD(&job, w->x + (size_t)(w->front.first + first) * w->columns, sums);
  for (int32_t block = begin; block < end; ++block) {
    SOLVE(subtract_block)(w, block, sums + (size_t)(block - begin) * 8 * w->columns);
  }
}

static void SOLVE(forward_front)(SOLVE(walk) * w, int32_t s) {
  SOLVE(enter)(w, s);
  SOLVE_REAL* x = w->x + (size_t)w->front.first * w->columns;
  SOLVE_REAL sums[8 * SOLVE_MAX_COLUMNS];
  for (int32_t strip = 0; strip < w->front.pivot_blocks; strip += YW_SOLVE_STRIP) {
    w->strip_begin = strip;
    w->strip_end = smaller(strip + YW_SOLVE_STRIP, w->front.pivot_blocks);
    for (int32_t block = strip; block < w->strip_end; ++block) {
      if (block > strip) {
        yw_solve_rows job = SOLVE(job)(w, 8 * strip, 8 * block, block, block + 1);
        w->fns->SOLVE_FORWARD(&job, x + (size_t)(8 * strip) * w->columns, sums);
        SOLVE(subtract_block)(w, block, sums);
      }
      SOLVE(forward_triangle)(w, block, x + (size_t)(8 * block) * w->columns);
    }
    int32_t rest = w->front.blocks - w->strip_end;
    yw_tasks_run(w->tasks, (rest + ROW_PIECE - 1) / ROW_PIECE, SOLVE(forward_piece), w);
  }
}

// Down --------------------------------------------------------------------------------------------

// L^T x = b for the 8x8 triangle of a diagonal block.
static void SOLVE(backward_triangle)(const SOLVE(walk) * w, int32_t block, SOLVE_REAL* x) {
  const SOLVE_REAL* tile =
      w->panel + (size_t)block * 8 * (size_t)w->front.width + 64 * (size_t)block;
  const SOLVE_REAL* inverse = w->f->SOLVE_INVERSE + w->front.first + 8 * block;
  int32_t count = SOLVE(block_rows)(w, block);
  for (int32_t k = count - 1; k >= 0; --k) {
    SOLVE_REAL* xk = x + (size_t)k * w->columns;
    for (int32_t i = k + 1; i < count; ++i) {
      SOLVE_REAL l = tile[8 * k + i];
      for (size_t c = 0; c < w->columns; ++c) xk[c] -= l * x[(size_t)i * w->columns + c];
    }
    for (size_t c = 0; c < w->columns; ++c) xk[c] *= inverse[k];
  }
}

static void SOLVE(gather_block)(const SOLVE(walk) * w, int32_t block) {
  const yw_front* front = &w->front;
  SOLVE_REAL* to = w->gathered + (size_t)block * 8 * w->columns;
  const int32_t* rows = w->f->rows + w->f->row_start[w->s];
  int32_t count = SOLVE(block_rows)(w, block);
  bool pivot = block < front->pivot_blocks;
  if (count < 8) memset(to, 0, 8 * w->columns * sizeof *to);
  for (int32_t i = 0; i < count; ++i) {
    int32_t row =
        pivot ? front->first + 8 * block + i : rows[8 * (block - front->pivot_blocks) + i];
    const SOLVE_REAL* from = w->x + (size_t)row * w->columns;
    for (size_t c = 0; c < w->columns; ++c) to[8 * c + (size_t)i] = from[c];
  }
}

// Subtracts the contribution of the rows below a strip from its columns.
static void SOLVE(backward_rows)(const SOLVE(walk) * w, int32_t begin, int32_t end,
                                 int32_t row_begin, int32_t row_end) {
  SOLVE_REAL sums[YW_SOLVE_GROUP_COLUMNS * SOLVE_MAX_COLUMNS];
  SOLVE_REAL* x = w->x + (size_t)(w->front.first + begin) * w->columns;
  yw_solve_rows job = SOLVE(job)(w, begin, end, row_begin, row_end);
  w->fns->SOLVE_BACKWARD(&job, w->gathered + (size_t)row_begin * 8 * w->columns, sums);
  for (size_t i = 0; i < (size_t)(end - begin) * w->columns; ++i) x[i] -= sums[i];
}

static void SOLVE(backward_piece)(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const SOLVE(walk)* w = context;
  int32_t begin = w->strip_begin + piece * COLUMN_PIECE;
  int32_t end = smaller(begin + COLUMN_PIECE, w->strip_end);
  SOLVE(backward_rows)
  (w, 8 * begin, smaller(8 * end, w->front.width), w->strip_end, w->front.blocks);
}

static void SOLVE(backward_front)(SOLVE(walk) * w, int32_t s) {
  SOLVE(enter)(w, s);
  const yw_front* front = &w->front;
  SOLVE_REAL* x = w->x + (size_t)front->first * w->columns;
  for (int32_t block = front->pivot_blocks; block < front->blocks; ++block) {
    SOLVE(gather_block)(w, block);
  }
  int32_t last = (front->pivot_blocks - 1) / YW_SOLVE_STRIP * YW_SOLVE_STRIP;
  for (int32_t strip = last; strip >= 0; strip -= YW_SOLVE_STRIP) {
    w->strip_begin = strip;
    w->strip_end = smaller(strip + YW_SOLVE_STRIP, front->pivot_blocks);
    int32_t pieces = (w->strip_end - strip + COLUMN_PIECE - 1) / COLUMN_PIECE;
    if (w->strip_end < front->blocks) yw_tasks_run(w->tasks, pieces, SOLVE(backward_piece), w);
    for (int32_t block = w->strip_end - 1; block >= strip; --block) {
      int32_t end = smaller(8 * block + 8, front->width);
      if (block + 1 < w->strip_end) {
        SOLVE(backward_rows)(w, 8 * block, end, block + 1, w->strip_end);
      }
      SOLVE(backward_triangle)(w, block, x + (size_t)(8 * block) * w->columns);
      SOLVE(gather_block)(w, block);
    }
  }
}

// The tree ----------------------------------------------------------------------------------------

static SOLVE(walk) SOLVE(task_walk)(const SOLVE(walk) * all, int32_t worker) {
  SOLVE(walk) w = *all;
  w.tasks = NULL;
  w.buffer = SOLVE(worker_scratch)(all, worker);
  w.gathered = w.buffer + 8 * ROW_PIECE * w.columns;
  return w;
}

static void SOLVE(forward_task)(void* context, int32_t task, int32_t worker) {
  SOLVE(walk) w = SOLVE(task_walk)(context, worker);
  for (int32_t s = w.f->task_first[task]; s < w.f->task_end[task]; ++s) SOLVE(forward_front)(&w, s);
}

static void SOLVE(backward_task)(void* context, int32_t task, int32_t worker) {
  SOLVE(walk) w = SOLVE(task_walk)(context, worker);
  for (int32_t s = w.f->task_end[task] - 1; s >= w.f->task_first[task]; --s) {
    SOLVE(backward_front)(&w, s);
  }
}

// Adds the contributions of tasks to the rows above them.
static void SOLVE(add_task_rows)(const SOLVE(walk) * w) {
  const yw_cholesky* f = w->f;
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    if (f->is_top[s] || (f->parent[s] >= 0 && !f->is_top[f->parent[s]])) continue;
    for (size_t k = f->row_start[s]; k < f->row_start[s + 1]; ++k) {
      SOLVE_REAL* to = w->x + (size_t)f->rows[k] * w->columns;
      const SOLVE_REAL* from = w->x + (size_t)f->solve_rows[k] * w->columns;
      for (size_t c = 0; c < w->columns; ++c) to[c] += from[c];
    }
  }
}

static void SOLVE(bring_in)(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const SOLVE(walk)* w = context;
  int32_t begin = piece * VECTOR_PIECE, end = smaller(begin + VECTOR_PIECE, w->f->size);
  for (int32_t k = begin; k < end; ++k) {
    const SOLVE_REAL* from = w->b + (size_t)w->f->order[k] * w->stride;
    for (size_t c = 0; c < w->columns; ++c) w->x[(size_t)k * w->columns + c] = from[c];
  }
}

static void SOLVE(bring_out)(void* context, int32_t piece, int32_t worker) {
  (void)worker;
  const SOLVE(walk)* w = context;
  int32_t begin = piece * VECTOR_PIECE, end = smaller(begin + VECTOR_PIECE, w->f->size);
  for (int32_t i = begin; i < end; ++i) {
    const SOLVE_REAL* from = w->x + (size_t)w->f->place[i] * w->columns;
    for (size_t c = 0; c < w->columns; ++c) w->out[(size_t)i * w->stride + c] = from[c];
  }
}

static void SOLVE(solve_columns)(const yw_cholesky* f, yw_tasks* tasks, int32_t columns,
                                 int32_t stride, const SOLVE_REAL* b, SOLVE_REAL* out,
                                 SOLVE_REAL* scratch) {
  SOLVE(walk)
  w = {.f = f,
       .fns = yw_cholesky_kernels(f->simd),
       .tasks = tasks,
       .columns = (size_t)columns,
       .x = scratch,
       .b = b,
       .out = out,
       .stride = (size_t)stride};
  w.scratch = scratch + (size_t)(f->solve_size + 7) / 8 * 8 * w.columns;
  w.gathered = SOLVE(worker_scratch)(&w, yw_tasks_workers(tasks));
  int32_t pieces = (f->size + VECTOR_PIECE - 1) / VECTOR_PIECE;

  yw_tasks_run(tasks, pieces, SOLVE(bring_in), &w);
  memset(w.x + (size_t)f->size * w.columns, 0,
         (size_t)(f->solve_size - f->size) * w.columns * sizeof *w.x);
  yw_tasks_run(tasks, f->num_tasks, SOLVE(forward_task), &w);
  SOLVE(add_task_rows)(&w);
  for (int32_t s = 0; s < f->num_supernodes; ++s) {
    if (f->is_top[s]) SOLVE(forward_front)(&w, s);
  }
  for (int32_t s = f->num_supernodes - 1; s >= 0; --s) {
    if (f->is_top[s]) SOLVE(backward_front)(&w, s);
  }
  yw_tasks_run(tasks, f->num_tasks, SOLVE(backward_task), &w);
  yw_tasks_run(tasks, pieces, SOLVE(bring_out), &w);
}
