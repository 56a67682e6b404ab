// SPDX-License-Identifier: MIT
// What a mesh has lost of its shape: cubes of matter that no tet covers, joined to parts.
//
// Tets also cut off sharp edges and curved surfaces a little. Only matter that is thinner than the
// tets counts as lost.
#include "geometry/tet_fit.h"

#include <stdarg.h>
#include <stdio.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define THIN_SIZES 1.3    // matter thinner than this number of sizes may be lost
#define LEAST_PART 3e-3   // of the volume: smaller parts are crumbs
#define SAME_VOLUME 5e-3  // volumes that agree to this are equal
#define WORTH_SAYING 0.1
#define MAX_LISTED 3  // parts in words

typedef struct finder {
  const yw_size_field* sizes;
  const yw_matter* matter;
  const yw_matter_cover* cover;
  int32_t* part;  ///< per cube: union-find
} finder;

// Parts -------------------------------------------------------------------------------------------

static int32_t root_of(int32_t* part, int32_t n) {
  while (part[n] != n) n = part[n] = part[part[n]];
  return n;
}

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
      int32_t a = root_of(f->part, n), b = root_of(f->part, other);
      f->part[a > b ? a : b] = a > b ? b : a;
    }
  }
}

// Inserts a part in order of volume.
static void insert_part(yw_tet_fit* fit, yw_lost_part part) {
  ++fit->num_lost;
  fit->lost_volume += part.volume;
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
} part_sums;

static bool list_parts(finder* f, yw_tet_fit* fit, unsigned char* lost) {
  const yw_matter* m = f->matter;
  part_sums* sums = YW_NEW_ARRAY(&m->mem, part_sums, m->count);
  if (sums == NULL) return false;
  for (int32_t n = 0; n < m->count; ++n) {
    if (!is_lost(f, n)) continue;
    part_sums* s = &sums[root_of(f->part, n)];
    double volume = (double)m->cubes[n].volume;
    s->place = yw_dmad(s->place, volume, yw_d3(m->cubes[n].inside));
    s->volume += volume;
    s->thickness += volume * (double)m->cubes[n].thickness;
  }
  for (int32_t n = 0; n < m->count; ++n) {
    part_sums s = sums[n];
    if (!(s.volume > LEAST_PART * m->volume)) continue;
    insert_part(fit, (yw_lost_part){yw_f3(yw_dscale(s.place, 1.0 / s.volume)), s.volume,
                                    (float)(s.thickness / s.volume)});
  }
  for (int32_t n = 0; lost != NULL && n < m->count; ++n) {
    lost[n] = is_lost(f, n) && sums[root_of(f->part, n)].volume > LEAST_PART * m->volume;
  }
  yw_mem_free(&m->mem, sums);
  return true;
}

yw_status yw_tet_fit_measure(const yw_size_field* sizes, const yw_matter_cover* cover,
                             const yw_tet_mesh* tets, yw_tet_fit* out, unsigned char* lost) {
  const yw_matter* m = sizes->matter;
  *out = (yw_tet_fit){.size = (float)sizes->coarsest, .shape_volume = m->volume};
  for (int32_t t = 0; t < tets->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(tets, t, p);
    out->tet_volume += yw_tet_volume6(p) / 6.0;
  }
  finder f = {.sizes = sizes, .matter = m, .cover = cover};
  f.part = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  if (f.part == NULL) return YW_ERR_MEMORY;
  join_parts(&f);
  bool ready = list_parts(&f, out, lost);
  yw_mem_free(&m->mem, f.part);
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

static void write_lost(writer* w, const yw_tet_fit* fit, double density) {
  float thinnest = INFINITY;
  int32_t listed = fit->num_lost < MAX_LISTED ? fit->num_lost : MAX_LISTED;
  write_text(w, "%d part%s thinner than the size of %.3g m %s lost:", fit->num_lost,
             fit->num_lost == 1 ? "" : "s", (double)fit->size, fit->num_lost == 1 ? "is" : "are");
  for (int32_t n = 0; n < listed; ++n) {
    const yw_lost_part* part = &fit->lost[n];
    thinnest = fminf(thinnest, part->thickness);
    write_text(w, "%s %.3g kg at (%.3g, %.3g, %.3g), %.3g m thick", n > 0 ? ";" : "",
               density * part->volume, (double)part->center.x, (double)part->center.y,
               (double)part->center.z, (double)part->thickness);
  }
  if (listed < fit->num_lost) write_text(w, "; and %d more", fit->num_lost - listed);
  write_text(w, ". Give a size of %.2g m to keep them. ", 0.5 * (double)thinnest);
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
