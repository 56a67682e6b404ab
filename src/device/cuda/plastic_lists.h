// SPDX-License-Identifier: MIT
// Neighbour lists of a plastic body, as neighbours.c, locals.c and offload.c of methods/plastic
// make them, number by number.
//
// Where the processor counts and writes one thing after another, threads here write in any order,
// and everything then finds its place by counting what comes before it: slaves in their buckets,
// parts of a slave, masters of a slot.
#ifndef YW_DEVICE_CUDA_PLASTIC_LISTS_H
#define YW_DEVICE_CUDA_PLASTIC_LISTS_H

#include "device/cuda/plastic_args.h"
#include "device/cuda/scan.h"

/// Slaves of a chunk that a table in shared memory may have; as loops, tests see both kinds.
#ifdef __CUDACC__
#define USUAL_MOST 3072
#else
#define USUAL_MOST 700
#endif

enum {
  USUAL_TABLE = 4096,  ///< places for the slaves of a chunk in shared memory
  LARGE_TABLE = 2 * PLASTIC_MAX_LOCALS,
  LARGE_TABLES = 64,  ///< at the same time, for chunks with more
};

/// What is counted.
struct list_counts {
  int32_t dropped;  ///< crowded slaves
  int32_t large;    ///< chunks that need a large table
};

struct list_args {
  plastic_args all;
  list_counts* counts;
  // Slaves in buckets.
  uint32_t mask;
  int32_t *bucket_start, *bucket_fill;
  int32_t* bucket;  ///< per slave
  int32_t* order;   ///< slaves by bucket, in any order within one
  yw_vec4* sorted;
  yw_vec4* kept;   ///< the same, crowded ones infinitely far away
  uint32_t* line;  ///< of cells along x, per sorted slave
  // Rows.
  int32_t* length;    ///< per master
  int32_t* found;     ///< PLASTIC_MAX_LOCALS per chunk: rows, one master beside the other; then the
                      ///< slaves of the chunk
  int32_t* tables;    ///< of the large kind: slaves, then the places where they were found first
  int32_t* is_large;  ///< per chunk
  int32_t* chunk_count;  ///< of whatever is counted
  int32_t* first_chunk;  ///< per sorted slave: that sees it
  int32_t* number;       ///< per sorted slave: the new one, or below 0
  int32_t *part_fill, *part_order;
  int32_t slots_room;  ///< a power of two: slots of the largest chunk
  int32_t* sums;       ///< of scans
};

/// One thread per item.
template <class Work>
struct list_kernel {
  typedef list_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;
  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      const int32_t i = block * THREADS + t;
      if (i < Work::count(a)) Work::each(a, i);
    }
  }
};

// Buckets -----------------------------------------------------------------------------------------

struct of_slaves {
  KERNEL_FN int32_t count(const list_args& a) { return a.all.body.num_slaves; }
};

struct count_buckets : of_slaves {
  KERNEL_FN void each(const list_args& a, int32_t s) {
    const plastic_cell cell =
        plastic_cell_of(a.all.body.slave_pos[s], plastic_cell_edge(a.all.body.model->spacing));
    const uint32_t line = plastic_line(cell.y, cell.z);
    const uint32_t bucket = (line + (uint32_t)cell.x) & a.mask;
    a.bucket[s] = (int32_t)bucket;
    ADD_TO(&a.bucket_start[bucket], 1);
  }
};

struct fill_buckets : of_slaves {
  KERNEL_FN void each(const list_args& a, int32_t s) {
    const int32_t bucket = a.bucket[s];
    a.order[a.bucket_start[bucket] + take_next(&a.bucket_fill[bucket])] = s;
  }
};

struct sort_buckets : of_slaves {
  KERNEL_FN void each(const list_args& a, int32_t i) {
    const int32_t s = a.order[i], first = a.bucket_start[a.bucket[s]];
    const int32_t end = a.bucket_start[a.bucket[s] + 1];
    int32_t to = first;
    for (int32_t k = first; k < end; ++k) to += a.order[k] < s;
    yw_vec4 p = a.all.body.slave_pos[s];
    const float edge = plastic_cell_edge(a.all.body.model->spacing);
    a.line[to] = plastic_line(plastic_cell_index(p.y, edge), plastic_cell_index(p.z, edge));
    memcpy(&p.w, &s, sizeof s);
    a.sorted[to] = p;
  }
};

struct drop_crowded : of_slaves {
  KERNEL_FN void each(const list_args& a, int32_t i) {
    const plastic_bins bins = {a.sorted, a.bucket_start, a.mask, a.all.body.model->spacing};
    yw_vec4 p = a.sorted[i];
    if (!a.all.body.rules.keep && plastic_is_crowded(&bins, i)) {
      ADD_TO(&a.counts->dropped, 1);
      p.x = INFINITY;
    }
    a.kept[i] = p;
    a.first_chunk[i] = INT32_MAX;
    a.number[i] = -1;
  }
};

// Rows --------------------------------------------------------------------------------------------

struct of_masters {
  KERNEL_FN int32_t count(const list_args& a) { return a.all.body.num_masters; }
};

KERNEL_FN size_t found_at(int32_t m, int32_t k) {
  return (size_t)(m / PLASTIC_CHUNK) * PLASTIC_MAX_LOCALS +
         (size_t)(k * PLASTIC_CHUNK + m % PLASTIC_CHUNK);
}

struct search_rows : of_masters {
  struct ball {
    float x, y, z, radius2;
  };

  KERNEL_FN int32_t list_bucket(const list_args& a, const ball& b, uint32_t line, uint32_t bucket,
                                int32_t m, int32_t count) {
    const int32_t end = a.bucket_start[bucket + 1];
    for (int32_t j = a.bucket_start[bucket]; j < end; ++j) {
      const yw_vec4 p = a.kept[j];
      float dx = p.x - b.x, dy = p.y - b.y, dz = p.z - b.z;
      float d2 = dx * dx + dy * dy + dz * dz;
      if (!(d2 < b.radius2) || a.line[j] != line) continue;
      if (count < PLASTIC_MAX_ROW) a.found[found_at(m, count)] = j;
      if (count <= PLASTIC_MAX_ROW) ++count;
    }
    return count;
  }

  KERNEL_FN int32_t list_ball(const list_args& a, const plastic_cell& cell, const ball& b,
                              int32_t m) {
    int32_t count = 0;
    for (int k = 0; k < 27; ++k) {
      const uint32_t line = plastic_line(cell.y + k / 3 % 3 - 1, cell.z + k / 9 - 1);
      const uint32_t bucket = (line + (uint32_t)(cell.x + k % 3 - 1)) & a.mask;
      count = list_bucket(a, b, line, bucket, m, count);
    }
    return count;
  }

  KERNEL_FN void each(const list_args& a, int32_t m) {
    const plastic_body& body = a.all.body;
    const yw_vec4 x = a.all.particles.pos[m];
    const float h = body.model->spacing, reach = 2.0f * h + body.skin;
    const plastic_cell cell = plastic_cell_of(x, plastic_cell_edge(h));
    ball b = {x.x, x.y, x.z, reach * reach};
    int32_t count = list_ball(a, cell, b, m);
    // Too many: the nearest are enough.
    while (count > PLASTIC_MAX_ROW) {
      b.radius2 *= 0.9f;
      count = list_ball(a, cell, b, m);
    }
    a.length[m] = count;
    body.four_start[m] = (count + 3) / 4;
  }
};

/// Fours of the longest row of 32.
struct measure_groups {
  KERNEL_FN int32_t count(const list_args& a) {
    return (a.all.body.num_masters + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  }
  KERNEL_FN void each(const list_args& a, int32_t g) {
    int32_t most = 0;
    for (int32_t m = g * PLASTIC_GROUP; m < (g + 1) * PLASTIC_GROUP; ++m) {
      if (m < a.all.body.num_masters && a.length[m] > most) most = a.length[m];
    }
    a.all.layout.row_start[g] = (most + 3) / 4;
  }
};

/// Where pair k of a master is among the fours.
KERNEL_FN size_t pair_at(const list_args& a, int32_t m, int32_t k) {
  const size_t row = (size_t)a.all.layout.row_start[m / PLASTIC_GROUP];
  const size_t four = (row + (size_t)(k / 4)) * PLASTIC_GROUP + (size_t)(m % PLASTIC_GROUP);
  return 4 * four + (size_t)(k % 4);
}

// Slaves of chunks --------------------------------------------------------------------------------

/// Numbers the slaves that a chunk sees in the order in which its rows name them first (locals.c).
/// LARGE: with tables in memory, for chunks where those in shared memory are too small.
template <bool LARGE>
struct number_kernel {
  typedef list_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;
  static constexpr int TABLE = LARGE ? LARGE_TABLE : USUAL_TABLE;

  struct shared {
    block_scan<THREADS> scan;
    int32_t count;
    int32_t table[LARGE ? 1 : 2 * USUAL_TABLE];
  };

  KERNEL_FN int32_t swap_in(int32_t* place, int32_t s) {
#ifdef __CUDACC__
    return atomicCAS(place, -1, s);
#else
    int32_t before = *place;
    if (before < 0) *place = s;
    return before;
#endif
  }

  KERNEL_FN int32_t find_place(shared* sh, int32_t* slaves, int32_t s) {
    uint32_t at = (uint32_t)s * 0x9e3779b1u >> 8 & (TABLE - 1);
    for (;;) {
      const int32_t before = swap_in(&slaves[at], s);
      if (before < 0) ADD_TO(&sh->count, 1);
      if (before < 0 || before == s) return (int32_t)at;
      at = (at + 1) & (TABLE - 1);
    }
  }

  // Enters the pairs of a master; where a slave was seen first: 64 t + k.
  KERNEL_FN void enter(const args& a, shared* sh, int32_t* slaves, int32_t* firsts, int32_t m,
                       int t) {
    for (int32_t k = 0; k < a.length[m]; ++k) {
      if (!LARGE && sh->count > USUAL_MOST) return;
      const int32_t place = find_place(sh, slaves, a.found[found_at(m, k)]);
      a.all.layout.column[pair_at(a, m, k)] = (uint16_t)place;
      lower_one(&firsts[place], t * PLASTIC_MAX_ROW + k);
    }
  }

  KERNEL_FN int32_t count_firsts(const args& a, const int32_t* firsts, int32_t m, int t) {
    int32_t count = 0;
    for (int32_t k = 0; k < a.length[m]; ++k) {
      count += firsts[a.all.layout.column[pair_at(a, m, k)]] == t * PLASTIC_MAX_ROW + k;
    }
    return count;
  }

  // Slaves that this master sees first get the next numbers; `firsts` has -1 - number then.
  KERNEL_FN void number(const args& a, int32_t chunk, const int32_t* slaves, int32_t* firsts,
                        int32_t m, int t, int32_t next) {
    for (int32_t k = 0; k < a.length[m]; ++k) {
      const int32_t place = a.all.layout.column[pair_at(a, m, k)];
      if (firsts[place] != t * PLASTIC_MAX_ROW + k) continue;
      a.found[(size_t)chunk * PLASTIC_MAX_LOCALS + (size_t)next] = slaves[place];
      firsts[place] = -1 - next++;
    }
  }

  KERNEL_FN void rename(const args& a, const int32_t* firsts, int32_t m) {
    const int32_t length = a.length[m];
    for (int32_t k = 0; k < (length + 3) / 4 * 4; ++k) {
      uint16_t* column = &a.all.layout.column[pair_at(a, m, k)];
      *column = k < length ? (uint16_t)(-1 - firsts[*column]) : (uint16_t)0;
    }
  }

  KERNEL_FN void number_chunk(const args& a, int32_t chunk, shared* sh, int32_t* table) {
    int32_t *slaves = table, *firsts = table + TABLE;
    const int32_t count = masters_in(a.all, chunk), first = chunk * PLASTIC_CHUNK;
    EACH_THREAD(t) {
      for (int32_t i = t; i < TABLE; i += THREADS) slaves[i] = -1, firsts[i] = INT32_MAX;
      if (t == 0) sh->count = 0;
    }
    SYNC();
    EACH_THREAD(t) {
      if (t < count) enter(a, sh, slaves, firsts, first + t, t);
    }
    SYNC();
    if (!LARGE && sh->count > USUAL_MOST) {
      EACH_THREAD(t) {
        if (t == 0) a.is_large[chunk] = 1, ADD_TO(&a.counts->large, 1);
      }
      SYNC();
      return;
    }
    EACH_THREAD(t) { sh->scan.value[t] = t < count ? count_firsts(a, firsts, first + t, t) : 0; }
    SYNC();
    sh->scan.run(&sh->scan);
    EACH_THREAD(t) {
      if (t < count) {
        number(a, chunk, slaves, firsts, first + t, t, sh->scan.before(&sh->scan, t));
      }
      if (t == 0) a.all.body.local_start[chunk] = sh->count;
    }
    SYNC();
    EACH_THREAD(t) {
      if (t < count) rename(a, firsts, first + t);
    }
    SYNC();
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* sh = (shared*)memory;
    if (!LARGE) {
      EACH_THREAD(t) {
        if (t == 0) a.is_large[block] = 0;
      }
      SYNC();
      number_chunk(a, block, sh, sh->table);
      return;
    }
    int32_t* table = a.tables + (size_t)block * 2 * LARGE_TABLE;
    for (int32_t c = block; c < a.all.num_chunks; c += num_blocks) {
      if (a.is_large[c]) number_chunk(a, c, sh, table);
    }
  }
};

/// Groups of 32 slots per chunk.
struct count_groups {
  KERNEL_FN int32_t count(const list_args& a) { return a.all.num_chunks; }
  KERNEL_FN void each(const list_args& a, int32_t c) {
    const int32_t* start = a.all.body.local_start;
    a.chunk_count[c] = (start[c + 1] - start[c] + PLASTIC_GROUP - 1) / PLASTIC_GROUP;
  }
};

/// A kernel with a block of threads per chunk: Work::each(a, chunk, i) for its slaves.
template <class Work>
struct locals_kernel {
  typedef list_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;
  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    const int32_t first = a.all.body.local_start[block];
    const int32_t count = a.all.body.local_start[block + 1] - first;
    EACH_THREAD(t) {
      for (int32_t i = t; i < count; i += THREADS) {
        Work::each(a, block, first + i, a.found[(size_t)block * PLASTIC_MAX_LOCALS + (size_t)i]);
      }
    }
  }
};

struct find_first_chunk {
  KERNEL_FN void each(const list_args& a, int32_t chunk, int32_t slot, int32_t s) {
    (void)slot;
    lower_one(&a.first_chunk[s], chunk);
  }
};

struct rename_slaves {
  KERNEL_FN void each(const list_args& a, int32_t chunk, int32_t slot, int32_t s) {
    (void)chunk;
    a.all.body.local_slave[slot] = a.number[s];
    ADD_TO(&a.all.body.part_start[a.number[s]], 1);
  }
};

/// Slaves are numbered by the first chunk that sees them. COUNT: how many those of a chunk are.
template <bool COUNT>
struct own_slaves_kernel {
  typedef list_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;
  struct shared {
    block_scan<THREADS> scan;
    int32_t next;
  };

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* sh = (shared*)memory;
    const int32_t count = a.all.body.local_start[block + 1] - a.all.body.local_start[block];
    const int32_t* list = a.found + (size_t)block * PLASTIC_MAX_LOCALS;
    EACH_THREAD(t) {
      if (t == 0) sh->next = COUNT ? 0 : a.all.body.slave_block[block];
    }
    SYNC();
    for (int32_t first = 0; first < count; first += THREADS) {
      EACH_THREAD(t) {
        const int32_t i = first + t;
        sh->scan.value[t] = i < count && a.first_chunk[list[i]] == block;
      }
      SYNC();
      sh->scan.run(&sh->scan);
      EACH_THREAD(t) {
        const int32_t before = sh->scan.before(&sh->scan, t);
        if (!COUNT && sh->scan.value[t] > before) a.number[list[first + t]] = sh->next + before;
      }
      SYNC();
      EACH_THREAD(t) {
        if (t == THREADS - 1) sh->next += sh->scan.value[t];
      }
      SYNC();
    }
    EACH_THREAD(t) {
      if (COUNT && t == 0) a.all.body.slave_block[block] = sh->next;
    }
  }
};

struct place_slaves : of_slaves {
  KERNEL_FN void each(const list_args& a, int32_t i) {
    if (a.number[i] < 0) return;
    yw_vec4 p = a.sorted[i];
    p.w = 0.0f;
    a.all.body.slave_pos[a.number[i]] = p;
  }
};

// Parts of slaves ---------------------------------------------------------------------------------

struct of_slots {
  KERNEL_FN int32_t count(const list_args& a) { return a.all.body.num_locals; }
};

struct fill_parts : of_slots {
  KERNEL_FN void each(const list_args& a, int32_t i) {
    const int32_t s = a.all.body.local_slave[i];
    a.part_order[a.all.body.part_start[s] + take_next(&a.part_fill[s])] = i;
  }
};

struct sort_parts : of_slots {
  KERNEL_FN void each(const list_args& a, int32_t i) {
    const int32_t s = a.all.body.local_slave[i], first = a.all.body.part_start[s];
    int32_t to = first;
    for (int32_t k = first; k < a.all.body.part_start[s + 1]; ++k) to += a.part_order[k] < i;
    a.all.body.part_at[to] = i;
  }
};

#endif
