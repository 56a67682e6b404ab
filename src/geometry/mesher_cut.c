// SPDX-License-Identifier: MIT
// Cutting and warping: the first half of isosurface stuffing.
#include "geometry/mesher.h"
#include "geometry/shape.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// A node is moved onto a cut that is closer than these fractions of the edge. The values are from
// the paper, where they give the best bound on the angles.
#define ALPHA_LONG 0.24999f
#define ALPHA_SHORT 0.41189f

// A cut is exact enough if the distance there is below this fraction of the spacing.
#define CUT_TOLERANCE 0.002
#define CUT_STEPS 6

// Directions of owned edges: a corner owns its three upward long edges, a centre also its short
// ones.
static int owned_direction(int center, int n) { return n < 3 ? n : center ? n + 3 : -1; }

float yw_find_cut(const yw_shape* shape, yw_dvec3 p, yw_dvec3 edge, double fa, double fb,
                  double size) {
  double a = 0.0, b = 1.0, t = fa / (fa - fb);
  int last = 0;
  for (int step = 0; step < CUT_STEPS; ++step) {
    double f = (double)yw_shape_distance(shape, yw_f3(yw_dmad(p, t, edge)));
    if (!(fabs(f) > CUT_TOLERANCE * size)) break;
    int side = (f < 0.0) == (fa < 0.0) ? 1 : -1;
    if (side > 0) {
      a = t, fa = f;
      if (last > 0) fb *= 0.5;
    } else {
      b = t, fb = f;
      if (last < 0) fa *= 0.5;
    }
    last = side;
    double next = a + (b - a) * fa / (fa - fb);
    t = next > a && next < b ? next : 0.5 * (a + b);
  }
  return (float)t;
}

static bool is_uniform(const yw_bcc* lattice, int32_t node) {
  return lattice->blocks[node / YW_BCC_NODES].uniform;
}

// Marks the cut edges of all nodes and counts them.
static int64_t mark_cuts(yw_stuffing* s) {
  const yw_bcc* lattice = &s->lattice;
  int64_t count = 0;
  for (int32_t node = 0; node < lattice->num_blocks * YW_BCC_NODES; ++node) {
    int center = yw_bcc_place_of(node).center;
    float here = lattice->values[node];
    s->side[node] = here < 0.0f ? -1 : here > 0.0f ? 1 : 0;
    for (int n = 0; n < 11 && !is_uniform(lattice, node); ++n) {
      int direction = owned_direction(center, n);
      if (direction < 0) break;
      int32_t other = yw_bcc_neighbour(lattice, node, direction);
      if (other < 0) continue;
      float there = lattice->values[other];
      if (!((here < 0.0f && there > 0.0f) || (here > 0.0f && there < 0.0f))) continue;
      s->cut_mask[node] = (uint16_t)(s->cut_mask[node] | 1u << direction);
      ++count;
    }
  }
  return count;
}

static void find_cuts(yw_stuffing* s) {
  const yw_bcc* lattice = &s->lattice;
  int32_t next = 0;
  for (int32_t node = 0; node < lattice->num_blocks * YW_BCC_NODES; ++node) {
    s->cut_start[node] = next;
    for (int direction = 0; direction < YW_BCC_DIRECTIONS; ++direction) {
      if (!(s->cut_mask[node] >> direction & 1)) continue;
      int32_t other = yw_bcc_neighbour(lattice, node, direction);
      float t =
          yw_find_cut(lattice->shape, yw_bcc_position(lattice, node),
                      yw_bcc_edge_vector(lattice, node, direction), (double)lattice->values[node],
                      (double)lattice->values[other], lattice->spacing);
      s->cuts[next++] = (yw_cut){t, -1};
    }
  }
}

// The cut on a node's edge, measured from that node; false if there is none (any more).
static bool cut_from(const yw_stuffing* s, int32_t node, int direction, float* t) {
  int32_t other = yw_bcc_neighbour(&s->lattice, node, direction);
  if (other < 0 || s->side[node] * s->side[other] >= 0) return false;
  bool mine = direction < 3 || (direction >= 6 && yw_bcc_place_of(node).center);
  if (mine) {
    *t = yw_stuffing_cut(s, node, direction)->t;
  } else {
    int back = direction < 6 ? direction - 3 : 6 + (7 - (direction - 6));
    *t = 1.0f - yw_stuffing_cut(s, other, back)->t;
  }
  return true;
}

// In spacings.
static float edge_length(const yw_bcc* lattice, int32_t node, int direction) {
  if (!yw_is_aligned(&lattice->alignment)) return direction < 6 ? 1.0f : 0.8660254f;
  return (float)(yw_dlength(yw_bcc_edge_vector(lattice, node, direction)) / lattice->spacing);
}

// Moves a node onto the nearest of the cuts that are too close to it, if any.
static void warp_node(yw_stuffing* s, int32_t node) {
  float nearest = INFINITY;
  for (int direction = 0; direction < YW_BCC_DIRECTIONS; ++direction) {
    float t;
    if (!cut_from(s, node, direction, &t)) continue;
    float length = edge_length(&s->lattice, node, direction);
    if (t >= (direction < 6 ? ALPHA_LONG : ALPHA_SHORT) || t * length >= nearest) continue;
    nearest = t * length;
    s->warp[node] = (signed char)direction;
    s->warp_t[node] = t;
  }
  if (s->warp[node] >= 0) s->side[node] = 0;
}

// Any order preserves the bound; this one is fixed.
static void warp_nodes(yw_stuffing* s) {
  int32_t num_nodes = s->lattice.num_blocks * YW_BCC_NODES;
  for (int32_t node = 0; node < num_nodes; ++node) {
    if (s->side[node] != 0 && !is_uniform(&s->lattice, node)) warp_node(s, node);
  }
}

yw_status yw_stuffing_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                             double spacing, bool align, int32_t max_blocks, yw_stuffing* out) {
  *out = (yw_stuffing){0};
  yw_stuffing s = {0};
  yw_status status = yw_bcc_create(mem, shape, bounds, spacing, align, max_blocks, &s.lattice);
  if (status != YW_OK) return status;
  const yw_allocator* hook = &s.lattice.mem;
  size_t num_nodes = (size_t)s.lattice.num_blocks * YW_BCC_NODES;
  s.cut_start = YW_NEW_ARRAY(hook, int32_t, num_nodes);
  s.cut_mask = YW_NEW_ARRAY(hook, uint16_t, num_nodes);
  s.side = YW_NEW_ARRAY(hook, signed char, num_nodes);
  s.warp = YW_NEW_ARRAY(hook, signed char, num_nodes);
  s.warp_t = YW_NEW_ARRAY(hook, float, num_nodes);
  bool ready = s.cut_start && s.cut_mask && s.side && s.warp && s.warp_t;
  int64_t num_cuts = ready ? mark_cuts(&s) : 0;
  if (ready && num_cuts <= INT32_MAX) s.cuts = YW_NEW_ARRAY(hook, yw_cut, num_cuts);
  if (s.cuts == NULL) {
    yw_stuffing_free(&s);
    return YW_ERR_MEMORY;
  }
  s.num_cuts = (int32_t)num_cuts;
  for (size_t n = 0; n < num_nodes; ++n) s.warp[n] = -1;
  find_cuts(&s);
  warp_nodes(&s);
  *out = s;
  return YW_OK;
}

void yw_stuffing_free(yw_stuffing* s) {
  yw_allocator mem = s->lattice.mem;
  yw_mem_free(&mem, s->cuts);
  yw_mem_free(&mem, s->cut_start);
  yw_mem_free(&mem, s->cut_mask);
  yw_mem_free(&mem, s->side);
  yw_mem_free(&mem, s->warp);
  yw_mem_free(&mem, s->warp_t);
  yw_bcc_free(&s->lattice);
  *s = (yw_stuffing){0};
}
