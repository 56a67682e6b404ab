// SPDX-License-Identifier: MIT
// What a mesh has lost of its shape: cubes of matter that no tet covers, joined to parts.
//
// Tets also cut off sharp edges and curved surfaces a little. Only matter that is thinner than the
// tets counts as lost.
#include "geometry/tet_fit.h"

#include <stdarg.h>
#include <stdio.h>

#include "math/small/union_find.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define THIN_SIZES 1.3    // matter thinner than this number of sizes may be lost
#define LEAST_PART 3e-3   // of the volume: smaller parts are crumbs ...
#define LEAST_LENGTH 1.5  // ... unless they reach so many sizes away from the tets ...
#define LEAST_STEPS 3     // ... and so many cubes
#define FINEST_SHARE 0.5  // matter is kept by cells of twice its thickness
#define FINEST_LEVELS 3   // levels by which cells can still shrink
#define SAME_VOLUME 5e-3  // volumes that agree to this are equal
#define WORTH_SAYING 0.1
#define MAX_LISTED 3        // parts in words
#define TETS_PER_SIZE 12.0  // tets in a cube of the size
#define MOST_TETS 1e6       // more are no advice

typedef struct finder {
  const yw_size_field* sizes;
  const yw_matter* matter;
  const yw_matter_cover* cover;
  int32_t* part;  ///< per cube: union-find
} finder;

// Parts -------------------------------------------------------------------------------------------

static bool is_lost(const finder* f, int32_t n) {
  double thickness = (double)f->matter->cubes[n].thickness;
  return f->cover->tet[n] < 0 && thickness < THIN_SIZES * yw_size_at(f->sizes, n);
}

static void join_parts(finder* f) {
  const yw_matter* m = f->matter;
  for (int32_t n = 0; n < m->count; ++n) f->part[n] = n;
  for (int32_t n = 0; n < m->count; ++n) {
    if (!is_lost(f, n)) continue;
    for (int k = 0; k < 13; ++k) {
      const int32_t* at = m->cubes[n].cell;
      int32_t cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
      int32_t other = yw_matter_cover_find(f->cover, cell);
      if (other < 0 || !is_lost(f, other)) continue;
      int32_t a = yw_union_root(f->part, n), b = yw_union_root(f->part, other);
      f->part[a > b ? a : b] = a > b ? b : a;
    }
  }
}

// Cubes of lost matter from the tets to each cube of it; -1 where no tets are connected.
static bool count_steps(const finder* f, int32_t* steps) {
  const yw_matter* m = f->matter;
  int32_t* queue = YW_NEW_ARRAY(&m->mem, int32_t, m->count + 1);
  if (queue == NULL) return false;
  int32_t end = 0;
  for (int32_t n = 0; n < m->count; ++n) {
    steps[n] = is_lost(f, n) ? -1 : 0;
    if (steps[n] == 0) queue[end++] = n;
  }
  for (int32_t begin = 0; begin < end; ++begin) {
    const int32_t* at = m->cubes[queue[begin]].cell;
    for (int k = 0; k < 27; ++k) {
      int32_t cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
      int32_t other = yw_matter_cover_find(f->cover, cell);
      if (other < 0 || steps[other] >= 0) continue;
      steps[other] = steps[queue[begin]] + 1;
      queue[end++] = other;
    }
  }
  yw_mem_free(&m->mem, queue);
  return true;
}

static bool hangs(const yw_lost_part* part) { return part->length == 0.0f; }

void yw_tet_fit_add(yw_tet_fit* fit, yw_lost_part part) {
  ++fit->num_lost;
  if (!hangs(&part)) fit->lost_volume += part.volume;
  int32_t last = fit->num_lost < YW_MAX_LOST_PARTS ? fit->num_lost - 1 : YW_MAX_LOST_PARTS - 1;
  if (fit->num_lost > YW_MAX_LOST_PARTS && part.volume <= fit->lost[last].volume) return;
  for (; last > 0 && fit->lost[last - 1].volume < part.volume; --last) {
    fit->lost[last] = fit->lost[last - 1];
  }
  fit->lost[last] = part;
}

typedef struct part_sums {
  yw_dvec3 place;
  double volume, thickness;
  double length;  ///< m, from the tets
  double sizes;   ///< the same in sizes of tets; 0: a few cubes
} part_sums;

static bool is_large(const yw_matter* m, const part_sums* s) {
  return s->volume > LEAST_PART * m->volume;
}
static bool is_part(const yw_matter* m, const part_sums* s) {
  return is_large(m, s) || (s->volume > 0.0 && s->sizes > LEAST_LENGTH);
}

static void add_cube(const finder* f, int32_t n, int32_t steps, part_sums* s) {
  const yw_matter_cube* cube = &f->matter->cubes[n];
  double volume = (double)cube->volume;
  double length = steps < 0 ? (double)INFINITY : steps * f->matter->side;
  s->place = yw_dmad(s->place, volume, yw_d3(cube->inside));
  s->volume += volume;
  s->thickness += volume * (double)cube->thickness;
  s->length = fmax(s->length, length);
  if (steps < 0 || steps >= LEAST_STEPS) {
    s->sizes = fmax(s->sizes, length / yw_size_at(f->sizes, n));
  }
}

// Long parts of little volume are worth smaller cells only where these can keep them.
static bool is_worth_cells(const finder* f, int32_t n, const part_sums* s) {
  double finest = yw_size_at(f->sizes, n) / (1 << FINEST_LEVELS);
  return is_large(f->matter, s) ||
         (is_part(f->matter, s) && (double)f->matter->cubes[n].thickness > FINEST_SHARE * finest);
}

static void list_parts(finder* f, const int32_t* steps, part_sums* sums, yw_tet_fit* fit,
                       unsigned char* lost) {
  const yw_matter* m = f->matter;
  for (int32_t n = 0; n < m->count; ++n) {
    if (is_lost(f, n)) add_cube(f, n, steps[n], &sums[yw_union_root(f->part, n)]);
  }
  for (int32_t n = 0; n < m->count; ++n) {
    const part_sums* s = &sums[n];
    if (!is_part(m, s)) continue;
    yw_tet_fit_add(fit, (yw_lost_part){yw_f3(yw_dscale(s->place, 1.0 / s->volume)), s->volume,
                                       (float)(s->thickness / s->volume), (float)s->length});
  }
  for (int32_t n = 0; lost != NULL && n < m->count; ++n) {
    lost[n] = is_lost(f, n) && is_worth_cells(f, n, &sums[yw_union_root(f->part, n)]);
  }
}

yw_status yw_tet_fit_measure(const yw_size_field* sizes, const yw_matter_cover* cover,
                             const yw_tet_mesh* tets, yw_tet_fit* out, unsigned char* lost) {
  const yw_matter* m = sizes->matter;
  *out = (yw_tet_fit){.size = (float)yw_surface_size(sizes), .shape_volume = m->volume};
  for (int32_t t = 0; t < tets->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(tets, t, p);
    out->tet_volume += yw_tet_volume6(p) / 6.0;
  }
  finder f = {.sizes = sizes, .matter = m, .cover = cover};
  f.part = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  int32_t* steps = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  part_sums* sums = YW_NEW_ARRAY(&m->mem, part_sums, m->count);
  bool ready = f.part != NULL && steps != NULL && sums != NULL && count_steps(&f, steps);
  if (ready) {
    join_parts(&f);
    list_parts(&f, steps, sums, out, lost);
  }
  yw_mem_free(&m->mem, f.part);
  yw_mem_free(&m->mem, steps);
  yw_mem_free(&m->mem, sums);
  return ready ? YW_OK : YW_ERR_MEMORY;
}

// Words -------------------------------------------------------------------------------------------

double yw_tet_fit_density(const yw_tet_fit* fit) {
  if (!(fit->tet_volume > 0.0 && fit->shape_volume > 0.0)) return 1.0;
  double factor = fit->shape_volume / fit->tet_volume;
  return fabs(factor - 1.0) > SAME_VOLUME ? factor : 1.0;
}

typedef struct writer {
  char* text;
  int32_t used, room;
} writer;

static void write_text(writer* w, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int32_t left = w->room - w->used;
  int count = left > 1 ? vsnprintf(w->text + w->used, (size_t)left, format, arguments) : 0;
  va_end(arguments);
  if (count > 0) w->used += count < left ? count : left - 1;
}

static void write_part(writer* w, const yw_tet_fit* fit, const yw_lost_part* part, double density) {
  bool rough = part->volume < LEAST_PART * fit->shape_volume;
  write_text(w, " %s%.3g kg at (%.3g, %.3g, %.3g), %.3g m thick", rough ? "less than " : "",
             density * part->volume, (double)part->center.x, (double)part->center.y,
             (double)part->center.z, (double)part->thickness);
  if (hangs(part)) write_text(w, " at the neck");
  if (isfinite(part->length) && !hangs(part)) {
    write_text(w, " and %.2g m long", (double)part->length);
  }
}

// Parts that hang by too few tets, or parts that are lost: says how many there are, and lists some.
static void write_parts(writer* w, const yw_tet_fit* fit, bool hanging, double density) {
  int32_t known = fit->num_lost < YW_MAX_LOST_PARTS ? fit->num_lost : YW_MAX_LOST_PARTS;
  int32_t count = 0, listed = 0, unknown = fit->num_lost - known;
  for (int32_t n = 0; n < known; ++n) count += hangs(&fit->lost[n]) == hanging;
  // Those beyond the list are the smallest.
  if (!hanging || count == known) count += unknown;
  if (count == 0) return;
  if (hanging) {
    write_text(w,
               "%d part%s by little more than half of the tets that %s neck needs, or less:", count,
               count == 1 ? " hangs" : "s hang", count == 1 ? "its" : "their");
  } else {
    write_text(w, "%d part%s thinner than the size of %.3g m %s lost:", count,
               count == 1 ? "" : "s", (double)fit->size, count == 1 ? "is" : "are");
  }
  for (int32_t n = 0; n < known && listed < MAX_LISTED; ++n) {
    if (hangs(&fit->lost[n]) != hanging) continue;
    if (listed++ > 0) write_text(w, ";");
    write_part(w, fit, &fit->lost[n], density);
  }
  if (listed < count) write_text(w, "; and %d more", count - listed);
  write_text(w, ". ");
}

static void write_lost(writer* w, const yw_tet_fit* fit, double density) {
  float thinnest = INFINITY;
  write_parts(w, fit, false, density);
  write_parts(w, fit, true, density);
  for (int32_t n = 0; n < fit->num_lost && n < MAX_LISTED; ++n) {
    thinnest = fminf(thinnest, fit->lost[n].thickness);
  }
  double size = 0.5 * (double)thinnest;
  if (TETS_PER_SIZE * fit->shape_volume < MOST_TETS * size * size * size) {
    write_text(w, "Give a size of %.2g m to keep them. ", size);
  } else {
    write_text(w, "They need tets of %.2g m: make them thicker, or bodies of their own. ", size);
  }
}

int32_t yw_tet_fit_text(const yw_tet_fit* fit, double density, char* text, int32_t room) {
  writer w = {text, 0, room};
  if (room > 0) text[0] = 0;
  if (fit->num_lost > 0) write_lost(&w, fit, density);
  double share = fit->shape_volume > 0.0 ? fit->tet_volume / fit->shape_volume : 1.0;
  double factor = yw_tet_fit_density(fit);
  if (fabs(share - 1.0) > WORTH_SAYING || fit->num_lost > 0) {
    write_text(&w, "The tets have %.1f %% of the shape's volume", 100.0 * share);
    if (factor != 1.0) {
      write_text(&w,
                 "; their density is %.4g instead of %.4g kg/m^3, so the mass is that of the "
                 "shape",
                 density * factor, density);
    }
  }
  return w.used;
}
