// SPDX-License-Identifier: MIT
// Pairs of a plastic body by slots (methods/plastic/offload.h), and what builds its lists.
#ifndef YW_DEVICE_CUDA_PLASTIC_SLOTS_H
#define YW_DEVICE_CUDA_PLASTIC_SLOTS_H

#include "device/cuda/plastic_lists.h"

KERNEL_FN int32_t slots_in(const list_args& a, int32_t chunk) {
  return a.all.body.local_start[chunk + 1] - a.all.body.local_start[chunk];
}

/// Sorts the slots of a chunk by their number of pairs, largest first.
struct sort_slots_kernel {
  typedef list_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;
  static size_t shared_bytes(int32_t room) { return 2 * (size_t)room * sizeof(uint32_t); }

  // Ascending; size: a power of two.
  KERNEL_FN void sort(uint32_t* keys, int32_t size) {
    for (int32_t length = 2; length <= size; length *= 2) {
      for (int32_t step = length / 2; step > 0; step /= 2) {
        EACH_THREAD(t) {
          for (int32_t i = t; i < size; i += THREADS) {
            const int32_t other = i ^ step;
            const bool up = (i & length) == 0;
            if (other <= i || keys[i] == keys[other] || (keys[i] < keys[other]) == up) continue;
            const uint32_t kept = keys[i];
            keys[i] = keys[other];
            keys[other] = kept;
          }
        }
        SYNC();
      }
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    int32_t* counts = (int32_t*)memory;
    uint32_t* keys = (uint32_t*)memory + a.slots_room;
    const int32_t slots = slots_in(a, block), first = block * PLASTIC_CHUNK;
    int32_t size = 1;
    while (size < slots) size *= 2;
    EACH_THREAD(t) {
      for (int32_t i = t; i < slots; i += THREADS) counts[i] = 0;
    }
    SYNC();
    EACH_THREAD(t) {
      const int32_t m = first + t, length = t < masters_in(a.all, block) ? a.length[m] : 0;
      for (int32_t k = 0; k < length; ++k) {
        ADD_TO(&counts[a.all.layout.column[pair_at(a, m, k)]], 1);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t i = t; i < size; i += THREADS) {
        const uint32_t fewer = i < slots ? (uint32_t)(PLASTIC_CHUNK - counts[i]) : UINT16_MAX;
        keys[i] = fewer << 16 | (uint32_t)i;
      }
    }
    SYNC();
    sort(keys, size);
    const plastic_layout& to = a.all.layout;
    const int32_t group = to.first_group[block];
    const int32_t room = (to.first_group[block + 1] - group) * PLASTIC_GROUP;
    EACH_THREAD(t) {
      for (int32_t i = t; i < room; i += THREADS) {
        const uint16_t slot = i < slots ? (uint16_t)(keys[i] & UINT16_MAX) : UINT16_MAX;
        const size_t at = (size_t)(group * PLASTIC_GROUP + i);
        to.slot[at] = slot;
        to.count[at] = i < slots ? (uint16_t)counts[slot] : (uint16_t)0;
        // The first slot of a group has the most pairs.
        if (i % PLASTIC_GROUP == 0) to.slot_start[group + i / PLASTIC_GROUP] = to.count[at];
      }
    }
  }
};

/// The pairs of each slot, in the order of masters.
struct fill_slots_kernel {
  typedef list_args args;
  static constexpr int THREADS = PLASTIC_CHUNK, BLOCKS_PER_PROCESSOR = 4;
  static size_t shared_bytes(int32_t room) { return 2 * (size_t)room * sizeof(int32_t); }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    int32_t *begin = (int32_t*)memory, *filled = begin + a.slots_room;
    const plastic_layout& to = a.all.layout;
    const int32_t slots = slots_in(a, block), first = block * PLASTIC_CHUNK;
    const int32_t group = to.first_group[block], count = masters_in(a.all, block);
    const int32_t base = to.slot_start[group];
    uint8_t* masters = to.master + (size_t)base * PLASTIC_GROUP;
    EACH_THREAD(t) {
      for (int32_t i = t; i < slots; i += THREADS) {
        const int32_t slot = to.slot[(size_t)(group * PLASTIC_GROUP + i)];
        const int32_t pairs = to.slot_start[group + i / PLASTIC_GROUP] - base;
        begin[slot] = pairs * PLASTIC_GROUP + i % PLASTIC_GROUP;
        filled[slot] = 0;
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t k = 0; t < count && k < a.length[first + t]; ++k) {
        const int32_t slot = to.column[pair_at(a, first + t, k)];
        masters[begin[slot] + take_next(&filled[slot]) * PLASTIC_GROUP] = (uint8_t)t;
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t k = 0; t < count && k < a.length[first + t]; ++k) {
        const size_t pair = pair_at(a, first + t, k);
        const int32_t slot = to.column[pair];
        int32_t at = begin[slot];
        for (int32_t i = 0; i < filled[slot]; ++i) {
          if (masters[begin[slot] + i * PLASTIC_GROUP] < t) at += PLASTIC_GROUP;
        }
        to.at[pair] = (uint16_t)at;
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t k = 0; t < count && k < a.length[first + t]; ++k) {
        masters[to.at[pair_at(a, first + t, k)]] = (uint8_t)t;
      }
    }
  }
};

/// Rows as the processor has them: slaves by their numbers, one row after the other.
struct pack_rows : of_masters {
  KERNEL_FN void each(const list_args& a, int32_t m) {
    const plastic_body& body = a.all.body;
    const int32_t* slaves = body.local_slave + body.local_start[m / PLASTIC_CHUNK];
    const int32_t first = body.row_start[m], length = body.row_start[m + 1] - first;
    for (int32_t k = 0; k < length; ++k) {
      a.found[first + k] = slaves[a.all.layout.column[pair_at(a, m, k)]];
    }
  }
};

/// The same for the rows that are due, PLASTIC_MAX_ROW apart.
struct pack_due_rows {
  KERNEL_FN int32_t count(const list_args& a) { return a.all.scalars->num_due_rows; }
  KERNEL_FN void each(const list_args& a, int32_t i) {
    const plastic_body& body = a.all.body;
    const int32_t m = a.all.due_rows[i];
    const int32_t* slaves = body.local_slave + body.local_start[m / PLASTIC_CHUNK];
    const int32_t length = body.row_start[m + 1] - body.row_start[m];
    for (int32_t k = 0; k < length; ++k) {
      a.found[i * PLASTIC_MAX_ROW + k] = slaves[a.all.layout.column[pair_at(a, m, k)]];
    }
  }
};

#endif
