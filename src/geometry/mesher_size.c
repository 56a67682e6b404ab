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
#define KEPT_SIZES 1.15  // cells this many times as wide as matter is thick mostly keep it
#define ROUNDING 0.2     // levels

yw_status yw_size_field_create(const yw_matter* matter, yw_size_field* out) {
  yw_size_field f = {.matter = matter};
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

static void set_level(yw_size_field* f, int32_t cube, double wanted) {
  int32_t level = level_for(f->coarsest, wanted) + f->extra[cube];
  if (level > YW_MAX_GRID_LEVEL) level = YW_MAX_GRID_LEVEL;
  while (level > 0 && yw_size_of_level(f, level) < 0.99 * f->floor) --level;
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
  f->coarsest = fmax(fmin(m->longest / wish.cells, most / across), f->floor);
  f->finest = 0;
  for (int32_t n = 0; n < m->count; ++n) {
    double thickness = fmax((double)m->cubes[n].thickness, least);
    set_level(f, n, thickness / across);
  }
}

void yw_size_field_around(yw_size_field* f, double size) {
  const yw_matter* m = f->matter;
  double least = yw_matter_thickness(m, THIN_SHARE, YW_THICKNESS_OF_MATTER);
  f->coarsest = size;
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
