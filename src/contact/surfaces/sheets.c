// SPDX-License-Identifier: MIT
#include "contact/surfaces/sheets.h"

#include "contact/surfaces/patches.h"
#include "math/small/float4.h"

// Share of the radius by which an edge may stand out of the plane of its triangles. Two such ridges
// that cross bring the sheets nearer by that share of their thickness; the guard holds 0.9 of it.
#define FLAT_SHARE 0.03f

// Flat edges ------------------------------------------------------------------------------------

static void fill_lane(const yw_contact_work* work, int32_t edge, int32_t lane,
                      yw_ridge_lanes* lanes) {
  const int32_t *ends = work->edges[edge], *thirds = work->complex->edge_thirds[edge];
  for (int k = 0; k < 2; ++k) {
    lanes->corners[k][lane] = ends[k];
    // A border: no triangle is on that side, and a corner on the edge makes none that is flat.
    lanes->corners[2 + k][lane] = thirds[k] < 0 ? ends[0] : thirds[k];
  }
  float first = yw_touch_radius(work, ends[0]), second = yw_touch_radius(work, ends[1]);
  lanes->limits[lane] = FLAT_SHARE * (first < second ? first : second);
}

void yw_sheet_find_flat(const yw_contact_work* work, int32_t leaf, const yw_near_fns* near) {
  const yw_complex_leaf* l = &work->complex->leaves[leaf];
  uint64_t found = 0;
  for (int32_t first = l[0].edge; first < l[1].edge; first += YW_LANES) {
    int32_t left = l[1].edge - first;
    yw_ridge_lanes lanes = {.count = left < YW_LANES ? left : YW_LANES};
    for (int32_t i = 0; i < YW_LANES; ++i) {
      fill_lane(work, i < lanes.count ? first + i : first, i, &lanes);
    }
    uint64_t flat = near->flat(&lanes, work->body->begin);
    if (flat != 0) flat &= near->flat(&lanes, work->predicted);
    found |= flat << (first - l->edge);
  }
  work->flat_edges[leaf] = found;
}

// Planes between leaves -------------------------------------------------------------------------

typedef struct corner_list {
  const int32_t* particles;
  int32_t count;
} corner_list;

// The particles of a leaf; some of them more than once where nobody listed them.
static corner_list corners_of(const yw_complex* c, int32_t leaf) {
  const yw_patches* p = c->patches;
  if (p) {
    int32_t first = p->first_particle[leaf];
    return (corner_list){p->particles + first, p->first_particle[leaf + 1] - first};
  }
  const yw_complex_leaf* l = &c->leaves[leaf];
  return (corner_list){c->triangles[l->triangle], 3 * (l[1].triangle - l[0].triangle)};
}

// Extent of a leaf along the normal of a slab, at the start (0) or at the end (1) of the paths;
// four particles at a time.
static void measure(const yw_contact_work* work, int32_t leaf, const yw_sheet_slab* slab, int when,
                    float* low, float* high) {
  corner_list corners = corners_of(work->complex, leaf);
  const yw_vec4* x = when == 0 ? work->body->begin : work->predicted;
  yw_vec3 n = slab->normal, o = slab->origin;
  yw_float4 least = yw_vf_splat(INFINITY), most = yw_vf_splat(-INFINITY);
  for (int32_t i = 0; i < corners.count; i += 4) {
    yw_float4 row[4];
    for (int32_t k = 0; k < 4; ++k) {
      int32_t at = i + k < corners.count ? i + k : corners.count - 1;
      row[k] = yw_float4_load(&x[corners.particles[at]]);
    }
    yw_float4_transpose(row);
    yw_float4 along = n.x * (row[0] - o.x) + n.y * (row[1] - o.y) + n.z * (row[2] - o.z);
    least = yw_vf_min(along, least);
    most = yw_vf_max(along, most);
  }
  *low = least[0];
  *high = most[0];
  for (int k = 1; k < 4; ++k) {
    *low = least[k] < *low ? least[k] : *low;
    *high = most[k] > *high ? most[k] : *high;
  }
}

static yw_vec3 normal_of(const yw_contact_work* work, int32_t leaf) {
  const yw_complex* c = work->complex;
  const yw_complex_leaf* l = &c->leaves[leaf];
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int32_t i = l[0].triangle; i < l[1].triangle; ++i) {
    const int32_t* v = c->triangles[i];
    yw_vec3 x = yw_touch_begin(work, v[0]);
    sum = yw_add(sum, yw_cross(yw_sub(yw_touch_begin(work, v[1]), x),
                               yw_sub(yw_touch_begin(work, v[2]), x)));
  }
  return yw_normalize_or(sum, yw_v3(0, 1, 0));
}

static yw_sheet_slab slab_of(const yw_contact_work* work, int32_t leaf, yw_vec3 normal) {
  const yw_complex* c = work->complex;
  int32_t first = c->triangles[c->leaves[leaf].triangle][0];
  yw_sheet_slab slab = {.leaf = leaf, .origin = yw_touch_begin(work, first), .normal = normal};
  for (int k = 0; k < 2; ++k) measure(work, leaf, &slab, k, &slab.low[k], &slab.high[k]);
  return slab;
}

// The plane moves along with both at one speed, and particles move along straight lines.
static bool is_beside(const yw_sheet_slab* slab, const yw_contact_work* work, int32_t leaf,
                      float least, bool moving) {
  bool above = true, below = true;
  for (int k = 0; k < 1 + moving && (above || below); ++k) {
    float low, high;
    measure(work, leaf, slab, k, &low, &high);
    above = above && low - slab->high[k] > 1.001f * least;
    below = below && slab->low[k] - high > 1.001f * least;
  }
  return above || below;
}

bool yw_sheet_leaves_part(const yw_contact_work* work_a, int32_t a, const yw_contact_work* work_b,
                          int32_t b, float least, bool moving, yw_sheet_slab* slab) {
  if (slab->leaf != a) *slab = slab_of(work_a, a, normal_of(work_a, a));
  if (is_beside(slab, work_b, b, least, moving)) return true;
  if (!moving) return false;
  // Layers that bend alike: the normal half way between them.
  yw_vec3 normal = normal_of(work_b, b);
  if (yw_dot(normal, slab->normal) < 0.0f) normal = yw_neg(normal);
  normal = yw_normalize_or(yw_add(normal, slab->normal), slab->normal);
  yw_sheet_slab middle = slab_of(work_a, a, normal);
  return is_beside(&middle, work_b, b, least, moving);
}
