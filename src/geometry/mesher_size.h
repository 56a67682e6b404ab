// SPDX-License-Identifier: MIT
// The size of tets from place to place: small enough for what is thin, as far as the number of tets
// allows.
#ifndef YW_GEOMETRY_MESHER_SIZE_H
#define YW_GEOMETRY_MESHER_SIZE_H

#include "geometry/matter.h"

#define YW_LEAST_ACROSS 1.15  ///< cells across something thin, so that it is kept

typedef struct yw_size_wish {
  double cells;     ///< along the longest side, at least
  double across;    ///< cells across what is thin
  double max_tets;  ///< fewer cells are taken to stay below, but thin parts are kept
  bool families;    ///< tets will be subdivided (mesher_families.c)
} yw_size_wish;

/// What the caller asks for, besides the size of the cells at the surface.
typedef struct yw_size_guide {
  float* asked;  ///< per cube of the matter: largest size, m; INFINITY: any. NULL: no wishes; owned
  float* depth;  ///< per cube: its least distance from the surface, m. NULL: bulk is 1; owned
  double bulk;   ///< times by which cells away from the surface are larger
} yw_size_guide;

/// Cells of the size `coarsest`, and of halves, quarters, ... of it where matter is thin, near the
/// surface if there is a bulk, or where the caller asks for it.
typedef struct yw_size_field {
  const yw_matter* matter;
  const yw_size_guide* guide;  ///< not owned
  double coarsest;             ///< m
  double floor;                ///< no smaller cells, even if matter is lost; m
  int32_t finest;              ///< the highest level
  signed char* level;          ///< per cube of the matter: cells of size coarsest / 2^level; owned
  signed char* extra;          ///< per cube: levels beyond what its thickness asks for; owned
} yw_size_field;

/// Asks the caller at the cubes of the matter. YW_ERR_MEMORY is the only error; free it with the
/// allocator of the matter.
yw_status yw_size_guide_create(const yw_matter* matter, const yw_shape* shape,
                               const yw_mesher_def* def, yw_size_guide* out);
void yw_size_guide_free(const yw_matter* matter, yw_size_guide* guide);

/// No cells yet. YW_ERR_MEMORY is the only error.
yw_status yw_size_field_create(const yw_matter* matter, const yw_size_guide* guide,
                               yw_size_field* out);
/// `to` was created for the same matter.
void yw_size_field_copy(const yw_size_field* from, yw_size_field* to);
void yw_size_field_free(yw_size_field* field);

/// Chooses sizes for a wish; max_tets does not matter.
void yw_size_field_choose(yw_size_field* field, yw_size_wish wish);
/// Cells of the given size, and smaller ones only where matter would be lost.
void yw_size_field_around(yw_size_field* field, double size);

/// Number of tets in a cube of the matter if they have the given size.
double yw_cube_tets(const yw_matter* matter, int32_t cube, double size);
/// Number of tets, to some 10 % where all sizes are alike, 30 % elsewhere.
double yw_estimate_tets(const yw_size_field* field);
/// Number of tets in places where the caller asks for smaller ones.
double yw_asked_tets(const yw_size_field* field);
/// Size of the cells at the surface where matter is thick, m.
static inline double yw_surface_size(const yw_size_field* field) {
  return field->coarsest / field->guide->bulk;
}
/// Size of the cells of a level, m.
static inline double yw_size_of_level(const yw_size_field* field, int32_t level) {
  return field->coarsest / (double)(1 << level);
}
/// Size of the cells at a cube of the matter, m.
static inline double yw_size_at(const yw_size_field* field, int32_t cube) {
  return yw_size_of_level(field, field->level[cube]);
}

#endif
