// SPDX-License-Identifier: MIT
#include "geometry/mesher_size.h"

#include <string.h>

#include "geometry/mesher_octree.h"
#include "yawara/extend/memory.h"

// A cell has twelve tets. At the surface tets are cut: counted on balls, boxes and rings.
#define TETS_PER_CELL 12.0
#define TETS_PER_SQUARE 5.0
#define SQUARE_SHARE 0.65  // of the surface, in squares of a cube's side, per cube at the surface

// Of the matter: what is thinner than this much of it does not matter. A leg of a table or an ear
// has more, the rim of a lens less.
#define THIN_SHARE 0.005
#define THICK_SHARE 0.85  // of the surface: most of it is over matter thinner than that
#define EVEN 1.2
#define KEPT_SIZES 1.15    // cells this many times as wide as matter is thick mostly keep it
#define ROUNDING 0.2       // levels
#define CORNER_SHARE 0.45  // of a cube's side, from its centre
#define BULK_DEPTH 0.5     // cells of the bulk are so many of their sizes below the surface

// Wishes of the caller ----------------------------------------------------------------------------

// The smallest size wanted in a cube: at its centre, near its corners, and in the matter.
static float asked_in(const yw_matter* m, const yw_matter_cube* cube, const yw_mesher_def* def) {
  yw_dvec3 center = yw_matter_center(m, cube);
  float least = INFINITY;
  for (int n = 0; n < 10; ++n) {
    yw_dvec3 corner = {n & 1 ? 1.0 : -1.0, n & 2 ? 1.0 : -1.0, n & 4 ? 1.0 : -1.0};
    yw_vec3 p = yw_f3(n == 8 ? center : yw_dmad(center, CORNER_SHARE * m->side, corner));
    float size = def->size_at(def->size_context, n == 9 ? cube->inside : p);
    if (size > 0.0f && size < least) least = size;
  }
  return least;
}

yw_status yw_size_guide_create(const yw_matter* m, const yw_shape* shape, const yw_mesher_def* def,
                               yw_size_guide* out) {
  yw_size_guide g = {.bulk = def->bulk > 1 ? (double)def->bulk : 1.0};
  if (def->size_at != NULL) g.asked = YW_NEW_ARRAY(&m->mem, float, m->count + 1);
  if (g.bulk > 1.0) g.depth = YW_NEW_ARRAY(&m->mem, float, m->count + 1);
  bool ready = (def->size_at == NULL || g.asked) && (!(g.bulk > 1.0) || g.depth);
  for (int32_t n = 0; n < m->count && ready; ++n) {
    if (g.asked) g.asked[n] = asked_in(m, &m->cubes[n], def);
    if (!g.depth) continue;
    // The side of the cube is closer.
    double depth = -(double)yw_shape_distance(shape, yw_f3(yw_matter_center(m, &m->cubes[n])));
    g.depth[n] = (float)fmax(depth - 0.5 * m->side, 0.0);
  }
  if (!ready) yw_size_guide_free(m, &g);
  *out = g;
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_size_guide_free(const yw_matter* m, yw_size_guide* g) {
  yw_mem_free(&m->mem, g->asked);
  yw_mem_free(&m->mem, g->depth);
  *g = (yw_size_guide){0};
}

// Cells at the surface, and one layer below it, are small; m.
static double size_below_surface(const yw_size_field* f, int32_t cube) {
  double size = f->coarsest, least = 1.01 * yw_surface_size(f);
  if (f->guide->depth == NULL) return size;
  while (size > least && (double)f->guide->depth[cube] < BULK_DEPTH * size) size *= 0.5;
  return size;
}

// Fields ------------------------------------------------------------------------------------------

yw_status yw_size_field_create(const yw_matter* matter, const yw_size_guide* guide,
                               yw_size_field* out) {
  yw_size_field f = {.matter = matter, .guide = guide};
  f.level = YW_NEW_ARRAY(&matter->mem, signed char, matter->count + 1);
  f.extra = YW_NEW_ARRAY(&matter->mem, signed char, matter->count + 1);
  bool ready = f.level != NULL && f.extra != NULL;
  if (!ready) yw_size_field_free(&f);
  *out = f;
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_size_field_free(yw_size_field* f) {
  if (f->matter == NULL) return;
  yw_mem_free(&f->matter->mem, f->level);
  yw_mem_free(&f->matter->mem, f->extra);
  *f = (yw_size_field){0};
}

void yw_size_field_copy(const yw_size_field* from, yw_size_field* to) {
  size_t count = (size_t)from->matter->count;
  signed char *level = to->level, *extra = to->extra;
  memcpy(level, from->level, count);
  memcpy(extra, from->extra, count);
  *to = *from;
  to->level = level;
  to->extra = extra;
}

// The level whose cells are about as small as wanted.
static int32_t level_for(double coarsest, double wanted) {
  int32_t level = 0;
  double limit = wanted * (1.0 + ROUNDING);
  while (coarsest > limit && level < YW_MAX_GRID_LEVEL) coarsest *= 0.5, ++level;
  return level;
}

// The level that the caller asks for; no floor holds it up.
static int32_t asked_level(const yw_size_field* f, int32_t cube) {
  return f->guide->asked ? level_for(f->coarsest, (double)f->guide->asked[cube]) : 0;
}

static void set_level(yw_size_field* f, int32_t cube, double wanted) {
  int32_t level = level_for(f->coarsest, fmin(wanted, size_below_surface(f, cube)));
  int32_t asked = asked_level(f, cube);
  level += f->extra[cube];
  if (level > YW_MAX_GRID_LEVEL) level = YW_MAX_GRID_LEVEL;
  while (level > 0 && yw_size_of_level(f, level) < 0.99 * f->floor) --level;
  if (level < asked) level = asked;
  f->level[cube] = (signed char)level;
  if (level > f->finest) f->finest = level;
}

void yw_size_field_choose(yw_size_field* f, yw_size_wish wish) {
  const yw_matter* m = f->matter;
  double least = yw_matter_thickness(m, THIN_SHARE, YW_THICKNESS_OF_MATTER);
  double most = yw_matter_thickness(m, THICK_SHARE, YW_THICKNESS_OF_AREA);
  // About equally thick everywhere: one size, for the thinnest part.
  if (most < EVEN * least) most = least;
  double across = fmax(wish.across, YW_LEAST_ACROSS);
  f->coarsest = fmax(fmin(m->longest / wish.cells, most / across), f->floor) * f->guide->bulk;
  f->finest = 0;
  for (int32_t n = 0; n < m->count; ++n) {
    double thickness = fmax((double)m->cubes[n].thickness, least);
    set_level(f, n, thickness / across);
  }
}

void yw_size_field_around(yw_size_field* f, double size) {
  const yw_matter* m = f->matter;
  double least = yw_matter_thickness(m, THIN_SHARE, YW_THICKNESS_OF_MATTER);
  f->coarsest = size * f->guide->bulk;
  f->finest = 0;
  for (int32_t n = 0; n < m->count; ++n) {
    double thickness = fmax((double)m->cubes[n].thickness, least);
    set_level(f, n, KEPT_SIZES * thickness);
  }
}

double yw_cube_tets(const yw_matter* m, int32_t cube, double size) {
  double tets = TETS_PER_CELL * (double)m->cubes[cube].volume / (size * size * size);
  if (!(m->cubes[cube].thickness < INFINITY)) return tets;
  // A cube around a thin layer holds both of its sides.
  double sides = (double)m->cubes[cube].thickness < m->side ? 2.0 : 1.0;
  return tets + sides * TETS_PER_SQUARE * SQUARE_SHARE * m->side * m->side / (size * size);
}

double yw_estimate_tets(const yw_size_field* f) {
  double tets = 0.0;
  for (int32_t n = 0; n < f->matter->count; ++n)
    tets += yw_cube_tets(f->matter, n, yw_size_at(f, n));
  return tets;
}

double yw_asked_tets(const yw_size_field* f) {
  double tets = 0.0;
  for (int32_t n = 0; n < f->matter->count && f->guide->asked != NULL; ++n) {
    int32_t level = asked_level(f, n);
    if (level > 0) tets += yw_cube_tets(f->matter, n, yw_size_of_level(f, level));
  }
  return tets;
}
