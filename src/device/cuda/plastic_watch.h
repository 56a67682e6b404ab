// SPDX-License-Identifier: MIT
// What the processor has to know of the masters of a plastic body after a step: where slaves may be
// missing, how fast they are, whether they rest.
#ifndef YW_DEVICE_CUDA_PLASTIC_WATCH_H
#define YW_DEVICE_CUDA_PLASTIC_WATCH_H

#include "device/cuda/plastic_args.h"

/// Largest speed of masters relative to the first one; masters and links that may need slaves.
struct watch_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  // A corner of the lattice around a master that has no slave nearby (slaves.c, repair).
  KERNEL_FN bool lacks_slaves(const args& a, int32_t m) {
    const plastic_body& body = a.body;
    const float half = 0.5f * body.model->spacing,
                room = PLASTIC_LEAST_DISTANCE * body.model->spacing;
    const yw_vec4 x = a.particles.pos[m];
    const uint16_t* column = a.layout.column + 4 * fours_of(a, m).first;
    const int32_t count = body.row_start[m + 1] - body.row_start[m];
    const int32_t* slaves = body.local_slave + body.local_start[m / PLASTIC_CHUNK];
    for (int corner = 0; corner < 8; ++corner) {
      yw_vec4 p = {x.x + (corner & 1 ? half : -half), x.y + (corner & 2 ? half : -half),
                   x.z + (corner & 4 ? half : -half), 0.0f};
      bool is_free = true;
      for (int32_t k = 0; is_free && k < count; ++k) {
        yw_vec4 s = body.slave_pos[slaves[column[k / 4 * (4 * PLASTIC_GROUP) + k % 4]]];
        is_free = plastic_distance2(s, p) >= room * room;
      }
      if (is_free) return true;
    }
    return false;
  }

  KERNEL_FN void note_row(const args& a, int32_t m) {
    const int32_t to = take_next(&a.scalars->num_due_rows);
    if (to < MOST_DUE_ROWS) a.due_rows[to] = m;
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    if (a.scalars->lost) return;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t, m = i < a.body.num_masters ? i : 0;
      float v2 = plastic_distance2(a.particles.vel[m], a.particles.vel[0]);
      const int least[1] = {~order_of(v2 > 0.0f ? v2 : 0.0f)};
      lower_all(&a.scalars->speed2, least);
      int due = 0;
      if (i < a.body.num_masters && a.body.needs[i] && a.body.rules.repair) {
        // The processor looks only at those that lack some.
        a.body.needs[i] = lacks_slaves(a, i);
        due += a.body.needs[i];
        if (a.body.needs[i]) note_row(a, i);
      }
      for (int32_t k = i; k < a.num_links; k += num_blocks * THREADS) {
        if (!a.body.is_linked[k]) continue;
        plastic_link link = a.links[k];
        if (!plastic_have_parted(a.body.model->spacing, a.particles.pos[link.a],
                                 a.particles.pos[link.b])) {
          continue;
        }
        ++due;
        note_row(a, link.a);
        note_row(a, link.b);
      }
      if (due > 0) ADD_TO(&a.scalars->due, due);
    }
  }
};

struct rest_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t m = block * THREADS + t;
      if (m >= a.body.num_masters) continue;
      bool slow = yw_length(yw_xyz(a.particles.vel[m])) <= a.limit;
      float still = slow ? a.still[m] + a.h : 0.0f;
      a.still[m] = still;
      if (still >= a.enough) a.scalars->rests = 1;
    }
  }
};

#endif
