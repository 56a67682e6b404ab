// SPDX-License-Identifier: MIT
// Cells with an edge slightly longer than 2h, stored in hash buckets: cells that follow each other
// along x are adjacent in memory, lines of cells are scattered by a hash. The cost does not depend
// on the distance between bodies.
#ifndef YW_METHODS_PLASTIC_CELLS_H
#define YW_METHODS_PLASTIC_CELLS_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "yawara/extend/vec.h"

/// Lists reach this far beyond 2h, in units of h, if they can last for several steps.
#define PLASTIC_SKIN 0.12f

typedef struct plastic_cell {
  int32_t x, y, z;
} plastic_cell;

static inline float plastic_cell_edge(float spacing) { return (2.0f + PLASTIC_SKIN) * spacing; }

static inline int32_t plastic_cell_index(float x, float edge) {
  double i = floor((double)x / (double)edge);
  // A body this far away has diverged; 0 keeps the conversion defined.
  return fabs(i) < 1e9 ? (int32_t)i : 0;
}

static inline plastic_cell plastic_cell_of(yw_vec4 p, float edge) {
  return (plastic_cell){plastic_cell_index(p.x, edge), plastic_cell_index(p.y, edge),
                        plastic_cell_index(p.z, edge)};
}

/// Hash of a line of cells along x. Lines near each other get different values.
static inline uint32_t plastic_line(int32_t y, int32_t z) {
  return (uint32_t)y * 0x9e3779b1u + (uint32_t)z * 0x85ebca77u;
}

/// Slaves sorted by buckets, those of bucket b from start[b] to start[b + 1]; w has the number
/// (int32_t) that a slave had before.
typedef struct plastic_bins {
  const yw_vec4* pos;
  const int32_t* start;
  uint32_t mask;
  float spacing;
} plastic_bins;

/// One of two slaves closer than this is removed, in units of h.
#define PLASTIC_CROWD_DISTANCE 0.15f

static inline int32_t plastic_number_of(const yw_vec4* slave) {
  int32_t number;
  memcpy(&number, &slave->w, sizeof number);
  return number;
}

/// True if a slave of a bucket with a higher number crowds slave s. Of a chain, all but the last
/// are removed, in whatever order they are visited.
static inline bool plastic_is_close(const plastic_bins* bins, int32_t s, uint32_t bucket,
                                    float close2) {
  const yw_vec4 p = bins->pos[s];
  for (int32_t t = bins->start[bucket]; t < bins->start[bucket + 1]; ++t) {
    const yw_vec4 o = bins->pos[t];
    float x = p.x - o.x, y = p.y - o.y, z = p.z - o.z;
    if (x * x + y * y + z * z < close2 && plastic_number_of(&o) > plastic_number_of(&p)) {
      return true;
    }
  }
  return false;
}

/// Checks only the cells that a ball of radius PLASTIC_CROWD_DISTANCE reaches.
static inline bool plastic_is_crowded(const plastic_bins* bins, int32_t s) {
  float close = PLASTIC_CROWD_DISTANCE * bins->spacing, edge = plastic_cell_edge(bins->spacing);
  yw_vec4 p = bins->pos[s];
  plastic_cell low = plastic_cell_of((yw_vec4){p.x - close, p.y - close, p.z - close, 0}, edge);
  plastic_cell high = plastic_cell_of((yw_vec4){p.x + close, p.y + close, p.z + close, 0}, edge);
  for (int32_t z = low.z; z <= high.z; ++z) {
    for (int32_t y = low.y; y <= high.y; ++y) {
      for (int32_t x = low.x; x <= high.x; ++x) {
        uint32_t bucket = (plastic_line(y, z) + (uint32_t)x) & bins->mask;
        if (plastic_is_close(bins, s, bucket, close * close)) return true;
      }
    }
  }
  return false;
}

#endif
