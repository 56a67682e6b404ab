// SPDX-License-Identifier: MIT
// A rod about as thick as a cell may have no node of the lattice inside for a part of its length:
// its tets end there, or meet in a vertex, although hardly any matter is lost. A leg of such tets
// is a hinge, whatever it is made of.
//
// Cubes of thin matter around which tets fill too little of the matter are weak. The others are
// joined to their neighbours if their tets are of one piece. What is large and not joined to the
// rest is a limb.
#include "geometry/tet_necks.h"

#include "geometry/tet_pieces.h"
#include "math/small/union_find.h"
#include "yawara/extend/memory.h"

#define FILLED 0.6        // of the matter around a cube; less is weak (legs of a cow: 0.8 and more)
#define THIN_SIZES 2.5    // matter thicker than this number of sizes is not weak
#define LOST_SIZES 2.0    // ... unless no tet covers it, and cells beside it are larger
#define LEAST_LIMB 1e-3   // of the volume
#define SAMPLES 24.0      // of a tet as large as a cube ...
#define MIN_SAMPLES 8     // ... and limits
#define MAX_SAMPLES 1000  // for any tet

typedef struct limb_finder {
  const yw_size_field* sizes;
  const yw_matter* matter;
  const yw_matter_cover* cover;
  const yw_tet_mesh* tets;
  double* filled;    ///< per cube: volume of tets in it, m^3
  int32_t* piece;    ///< per tet: the piece it belongs to
  int32_t* group;    ///< per cube: union-find; -1: weak, or not covered
  int32_t* weak;     ///< per cube: union-find of weak ones; -1: not weak
  int32_t* part;     ///< per cube: union-find, connected matter
  double* volume;    ///< per root of a group, m^3
  double* thinnest;  ///< per root of a group that is a limb: its neck, m
  int32_t* largest;  ///< per root of a part: its largest group; -1: none
} limb_finder;

static int32_t cube_at(const limb_finder* f, int32_t n, int dx, int dy, int dz) {
  const int32_t* at = f->matter->cubes[n].cell;
  int32_t cell[3] = {at[0] + dx, at[1] + dy, at[2] + dz};
  return yw_matter_cover_find(f->cover, cell);
}

// Volume of tets in cubes -------------------------------------------------------------------------

// Points that fill a tet evenly: those of a lattice of irrational steps in a cube, folded into it.
static yw_dvec3 point_in_tet(const yw_dvec3 p[4], int n) {
  double s = fmod(0.5 + 0.8191725133961645 * n, 1.0), t = fmod(0.5 + 0.6710436067037893 * n, 1.0),
         u = fmod(0.5 + 0.5497004779019703 * n, 1.0);
  if (s + t > 1.0) s = 1.0 - s, t = 1.0 - t;
  if (t + u > 1.0) {
    double old = u;
    u = 1.0 - s - t;
    t = 1.0 - old;
  } else if (s + t + u > 1.0) {
    double old = u;
    u = s + t + u - 1.0;
    s = 1.0 - t - old;
  }
  yw_dvec3 x = yw_dscale(p[0], 1.0 - s - t - u);
  return yw_dmad(yw_dmad(yw_dmad(x, s, p[1]), t, p[2]), u, p[3]);
}

static void fill_cubes(limb_finder* f) {
  const yw_matter* m = f->matter;
  double cube = m->side * m->side * m->side;
  for (int32_t t = 0; t < f->tets->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(f->tets, t, p);
    double volume = yw_tet_volume6(p) / 6.0;
    int count = (int)fmin(fmax(SAMPLES * volume / cube, MIN_SAMPLES), MAX_SAMPLES);
    for (int k = 0; k < count; ++k) {
      yw_dvec3 x = yw_dsub(point_in_tet(p, k), m->origin);
      int32_t cell[3] = {(int32_t)floor(x.x / m->side), (int32_t)floor(x.y / m->side),
                         (int32_t)floor(x.z / m->side)};
      int32_t n = yw_matter_cover_find(f->cover, cell);
      if (n >= 0) f->filled[n] += volume / count;
    }
  }
}

// Weights fall off to both sides of the cube: 1, 2, 1 along each axis.
static bool is_weak(const limb_finder* f, int32_t n) {
  double thickness = (double)f->matter->cubes[n].thickness, filled = 0.0, matter = 0.0;
  double sizes = THIN_SIZES * yw_size_at(f->sizes, n);
  if (f->cover->tet[n] < 0) return thickness < LOST_SIZES * sizes;
  if (!(thickness < sizes)) return false;
  // The volume of matter is not known well where it is thinner than a cube.
  if (thickness < f->matter->side) return false;
  for (int k = 0; k < 27; ++k) {
    int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
    int32_t other = cube_at(f, n, dx, dy, dz);
    if (other < 0) continue;
    double weight = (dx ? 1.0 : 2.0) * (dy ? 1.0 : 2.0) * (dz ? 1.0 : 2.0);
    filled += weight * f->filled[other];
    matter += weight * (double)f->matter->cubes[other].volume;
  }
  return filled < FILLED * matter;
}

// Limbs -------------------------------------------------------------------------------------------

static void join_cubes(limb_finder* f) {
  int32_t count = f->matter->count;
  for (int32_t n = 0; n < count; ++n) {
    f->part[n] = n;
    f->weak[n] = is_weak(f, n) ? n : -1;
    f->group[n] = f->weak[n] < 0 && f->cover->tet[n] >= 0 ? n : -1;
  }
  for (int32_t n = 0; n < count; ++n) {
    for (int k = 0; k < 13; ++k) {
      int32_t other = cube_at(f, n, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (other < 0) continue;
      yw_union_join(f->part, n, other);
      if (f->weak[n] >= 0 && f->weak[other] >= 0) yw_union_join(f->weak, n, other);
      if (f->group[n] < 0 || f->group[other] < 0) continue;
      if (f->piece[f->cover->tet[n]] == f->piece[f->cover->tet[other]]) {
        yw_union_join(f->group, n, other);
      }
    }
  }
}

static bool is_root(const limb_finder* f, int32_t n) { return f->group[n] == n; }

static bool is_limb(limb_finder* f, int32_t group) {
  return f->volume[group] > LEAST_LIMB * f->matter->volume &&
         f->largest[yw_union_root(f->part, group)] != group;
}

static void measure_groups(limb_finder* f) {
  int32_t count = f->matter->count;
  for (int32_t n = 0; n < count; ++n) {
    f->largest[n] = -1;
    f->thinnest[n] = (double)INFINITY;
    if (f->group[n] < 0) continue;
    f->volume[yw_union_root(f->group, n)] += (double)f->matter->cubes[n].volume;
  }
  for (int32_t n = 0; n < count; ++n) {
    if (!is_root(f, n)) continue;
    int32_t* largest = &f->largest[yw_union_root(f->part, n)];
    if (*largest < 0 || f->volume[n] > f->volume[*largest]) *largest = n;
  }
}

// What a neck joins, so far.
typedef struct neck_ends {
  int32_t first;  ///< group + 1; 0: none yet
  int32_t limb;   ///< group + 1; 0: none
  bool several;
} neck_ends;

static void add_end(limb_finder* f, int32_t cube, neck_ends* ends) {
  if (cube < 0 || f->group[cube] < 0) return;
  int32_t group = yw_union_root(f->group, cube);
  if (!(f->volume[group] > LEAST_LIMB * f->matter->volume)) return;
  if (is_limb(f, group)) ends->limb = group + 1;
  if (ends->first == 0) ends->first = group + 1;
  ends->several = ends->several || ends->first != group + 1;
}

// A neck is a set of weak cubes, or a cube beside another whose tets are not of the same piece.
static neck_ends* ends_at(limb_finder* f, neck_ends* ends, int32_t n) {
  return &ends[f->weak[n] >= 0 ? yw_union_root(f->weak, n) : n];
}

static void mark_necks(limb_finder* f, neck_ends* ends, unsigned char* neck) {
  int32_t count = f->matter->count;
  for (int32_t n = 0; n < count; ++n) {
    for (int k = 0; k < 27; ++k) {
      int32_t near = cube_at(f, n, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      add_end(f, near, ends_at(f, ends, n));
    }
  }
  for (int32_t n = 0; n < count; ++n) {
    const neck_ends* at = ends_at(f, ends, n);
    if (!at->several || at->limb == 0) continue;
    double* thinnest = &f->thinnest[at->limb - 1];
    // Chords of cubes that the surface grazes are shorter than the neck is thick.
    double thickness = fmax((double)f->matter->cubes[n].thickness, f->matter->side);
    *thinnest = fmin(*thinnest, thickness);
    for (int k = 0; k < 27; ++k) {
      int32_t near = cube_at(f, n, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (near >= 0) neck[near] = 1;
    }
  }
}

// Gaps --------------------------------------------------------------------------------------------

// A spoke or a handle that is broken once hangs on both of its ends, and is no limb. So what is
// around a set of weak cubes is looked at: it should be joined.
#define RINGS 2

typedef struct gap_finder {
  limb_finder* limbs;
  int32_t* stamp;  ///< per cube: 0: not seen; 1: seen; 1 + ring: around the set at hand
  int32_t* queue;  ///< cubes of the set, then of the rings around it
} gap_finder;

static bool is_joined(const limb_finder* f, int32_t a, int32_t b) {
  return f->piece[f->cover->tet[a]] == f->piece[f->cover->tet[b]];
}

// The weak cubes joined to one, at the start of the queue; returns their number.
static int32_t gather_weak(gap_finder* g, int32_t from) {
  const limb_finder* f = g->limbs;
  int32_t count = 0;
  g->stamp[from] = 1;
  g->queue[count++] = from;
  for (int32_t i = 0; i < count; ++i) {
    for (int k = 0; k < 27; ++k) {
      int32_t near = cube_at(f, g->queue[i], k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (near < 0 || f->weak[near] < 0 || g->stamp[near] != 0) continue;
      g->stamp[near] = 1;
      g->queue[count++] = near;
    }
  }
  return count;
}

// Adds the rings of other cubes around them; returns the number of all, and of those beside them.
static int32_t gather_rings(gap_finder* g, int32_t count, int32_t* beside) {
  const limb_finder* f = g->limbs;
  int32_t begin = 0;
  for (int32_t ring = 1; ring <= RINGS; ++ring) {
    int32_t end = count;
    for (; begin < end; ++begin) {
      for (int k = 0; k < 27; ++k) {
        int32_t near = cube_at(f, g->queue[begin], k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
        if (near < 0 || f->group[near] < 0 || g->stamp[near] != 0) continue;
        g->stamp[near] = 1 + ring;
        g->queue[count++] = near;
      }
    }
    if (ring == 1) *beside = count;
  }
  return count;
}

// Sets of joined cubes of the rings, but for single ones. The end of the queue is free.
static int32_t count_sides(gap_finder* g, int32_t begin, int32_t end) {
  const limb_finder* f = g->limbs;
  int32_t sides = 0;
  for (int32_t i = begin; i < end; ++i) {
    if (g->stamp[g->queue[i]] < 2) continue;
    int32_t* found = g->queue + end;
    int32_t count = 0;
    found[count++] = g->queue[i];
    g->stamp[g->queue[i]] = 0;
    for (int32_t j = 0; j < count; ++j) {
      for (int k = 0; k < 27; ++k) {
        int32_t near = cube_at(f, found[j], k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
        if (near < 0 || g->stamp[near] < 2 || !is_joined(f, found[j], near)) continue;
        g->stamp[near] = 0;
        found[count++] = near;
      }
    }
    sides += count > 1;
  }
  return sides;
}

// Marks cubes beside others whose tets are of another piece.
static void mark_seams(const limb_finder* f, unsigned char* neck) {
  for (int32_t n = 0; n < f->matter->count; ++n) {
    for (int k = 0; k < 27 && f->group[n] >= 0; ++k) {
      int32_t near = cube_at(f, n, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (near >= 0 && f->group[near] >= 0 && !is_joined(f, n, near)) neck[n] = 1;
    }
  }
}

// Marks gaps and the cubes beside them; returns their number.
static int32_t find_gaps(gap_finder* g, unsigned char* neck) {
  const limb_finder* f = g->limbs;
  int32_t gaps = 0;
  for (int32_t n = 0; n < f->matter->count; ++n) g->stamp[n] = 0;
  for (int32_t n = 0; n < f->matter->count; ++n) {
    if (f->weak[n] < 0 || g->stamp[n] != 0) continue;
    int32_t weak = gather_weak(g, n), beside, all = gather_rings(g, weak, &beside);
    if (count_sides(g, weak, all) < 2) continue;
    ++gaps;
    for (int32_t i = 0; i < beside; ++i) neck[g->queue[i]] = 1;
  }
  return gaps;
}

// Limbs in all ------------------------------------------------------------------------------------

static int32_t count_limbs(limb_finder* f) {
  int32_t count = 0;
  for (int32_t n = 0; n < f->matter->count; ++n) count += is_root(f, n) && is_limb(f, n);
  return count;
}

static void list_limbs(limb_finder* f, yw_limbs* out) {
  const yw_matter* m = f->matter;
  int32_t listed = 0;
  for (int32_t n = 0; n < m->count && listed < YW_MAX_LOST_PARTS; ++n) {
    if (!is_root(f, n) || !is_limb(f, n)) continue;
    yw_dvec3 place = {0};
    for (int32_t i = 0; i < m->count; ++i) {
      if (f->group[i] < 0 || yw_union_root(f->group, i) != n) continue;
      place = yw_dmad(place, (double)m->cubes[i].volume / f->volume[n], yw_d3(m->cubes[i].inside));
    }
    out->items[listed++] =
        (yw_lost_part){yw_f3(place), f->volume[n], (float)fmin(f->thinnest[n], m->longest), 0.0f};
  }
}

yw_status yw_find_limbs(const yw_size_field* sizes, const yw_matter_cover* cover,
                        const yw_tet_mesh* tets, unsigned char* neck, yw_limbs* out) {
  const yw_matter* m = sizes->matter;
  const yw_allocator* mem = &m->mem;
  limb_finder f = {.sizes = sizes, .matter = m, .cover = cover, .tets = tets};
  f.filled = YW_NEW_ARRAY(mem, double, m->count + 1);
  f.piece = YW_NEW_ARRAY(mem, int32_t, tets->num_tets + 1);
  f.group = YW_NEW_ARRAY(mem, int32_t, m->count + 1);
  f.weak = YW_NEW_ARRAY(mem, int32_t, m->count + 1);
  f.part = YW_NEW_ARRAY(mem, int32_t, m->count + 1);
  neck_ends* ends = YW_NEW_ARRAY(mem, neck_ends, m->count + 1);
  f.volume = YW_NEW_ARRAY(mem, double, m->count + 1);
  f.thinnest = YW_NEW_ARRAY(mem, double, m->count + 1);
  f.largest = YW_NEW_ARRAY(mem, int32_t, m->count + 1);
  gap_finder g = {.limbs = &f};
  g.stamp = YW_NEW_ARRAY(mem, int32_t, m->count + 1);
  g.queue = YW_NEW_ARRAY(mem, int32_t, 2 * (size_t)m->count + 1);
  bool ready = g.stamp && g.queue && ends && f.filled && f.piece && f.group && f.weak && f.part &&
               f.volume && f.thinnest && f.largest;
  yw_status status = ready ? yw_tet_pieces(tets, f.piece) : YW_ERR_MEMORY;
  *out = (yw_limbs){0};
  if (status == YW_OK) {
    fill_cubes(&f);
    join_cubes(&f);
    measure_groups(&f);
    out->count = count_limbs(&f);
    for (int32_t n = 0; n < m->count; ++n) neck[n] = 0;
    if (out->count > 0) {
      mark_necks(&f, ends, neck);
      list_limbs(&f, out);
    }
    mark_seams(&f, neck);
    out->gaps = find_gaps(&g, neck);
  }
  yw_mem_free(mem, f.filled);
  yw_mem_free(mem, f.piece);
  yw_mem_free(mem, f.group);
  yw_mem_free(mem, f.weak);
  yw_mem_free(mem, f.part);
  yw_mem_free(mem, ends);
  yw_mem_free(mem, g.stamp);
  yw_mem_free(mem, g.queue);
  yw_mem_free(mem, f.volume);
  yw_mem_free(mem, f.thinnest);
  yw_mem_free(mem, f.largest);
  return status;
}
