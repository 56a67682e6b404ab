// SPDX-License-Identifier: MIT
// What a mesh has lost of its shape: cubes of matter that no tet covers, joined to parts.
//
// Tets also cut off sharp edges and curved surfaces a little. Only matter that is thinner than the
// tets counts as lost.
#include "geometry/tet_fit.h"

#include <stdarg.h>
#include <stdio.h>

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define THIN_SIZES 1.3    // matter thinner than this number of sizes may be lost
#define LEAST_PART 3e-3   // of the volume: smaller parts are crumbs
#define SAME_VOLUME 5e-3  // volumes that agree to this are equal
#define WORTH_SAYING 0.1
#define MAX_LISTED 3  // parts in words

typedef struct finder {
  const yw_matter* matter;
  int32_t* slots;  ///< first cube + 1 of a cell, 0: empty
  int32_t* next;   ///< per cube: next of the same slot, -1: none
  size_t mask;
  unsigned char* covered;
  int32_t* part;  ///< per cube: union-find
} finder;

// Cubes by place ----------------------------------------------------------------------------------

static size_t slot_of(const finder* f, const int32_t cell[3]) {
  uint64_t h = yw_hash_u64(YW_HASH_SEED, (uint64_t)(uint32_t)cell[0] << 32 | (uint32_t)cell[1]);
  return (size_t)yw_hash_u64(h, (uint32_t)cell[2]) & f->mask;
}

static bool create_finder(const yw_matter* m, finder* f) {
  size_t capacity = 16;
  while (capacity < 2 * (size_t)m->count) capacity *= 2;
  *f = (finder){.matter = m, .mask = capacity - 1};
  f->slots = YW_NEW_ARRAY(&m->mem, int32_t, capacity);
  f->next = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  f->covered = YW_NEW_ARRAY(&m->mem, unsigned char, m->count);
  f->part = YW_NEW_ARRAY(&m->mem, int32_t, m->count);
  if (!f->slots || !f->next || !f->covered || !f->part) return false;
  for (int32_t n = 0; n < m->count; ++n) {
    size_t slot = slot_of(f, m->cubes[n].cell);
    f->next[n] = f->slots[slot] - 1;
    f->slots[slot] = n + 1;
  }
  return true;
}

static void free_finder(finder* f) {
  const yw_allocator* mem = &f->matter->mem;
  yw_mem_free(mem, f->slots);
  yw_mem_free(mem, f->next);
  yw_mem_free(mem, f->covered);
  yw_mem_free(mem, f->part);
}

// The cube of a cell; -1: none.
static int32_t find_cube(const finder* f, const int32_t cell[3]) {
  int32_t n = f->slots[slot_of(f, cell)] - 1;
  for (; n >= 0; n = f->next[n]) {
    const int32_t* at = f->matter->cubes[n].cell;
    if (at[0] == cell[0] && at[1] == cell[1] && at[2] == cell[2]) break;
  }
  return n;
}

// Covered by tets ---------------------------------------------------------------------------------

static bool is_in_tet(const yw_dvec3 p[4], yw_dvec3 x) {
  for (int k = 0; k < 4; ++k) {
    const unsigned char* v = yw_tet_faces[k];
    yw_dvec3 n = yw_dcross(yw_dsub(p[v[1]], p[v[0]]), yw_dsub(p[v[2]], p[v[0]]));
    if (yw_ddot(n, yw_dsub(x, p[v[0]])) > 0.0) return false;
  }
  return true;
}

// A cube's point may lie up to a cube beside it.
static void cover_by_tet(finder* f, const yw_dvec3 p[4]) {
  const yw_matter* m = f->matter;
  int32_t low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) {
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 4; ++k) {
      double x = axis == 0 ? p[k].x : axis == 1 ? p[k].y : p[k].z;
      least = fmin(least, x), most = fmax(most, x);
    }
    double origin = axis == 0 ? m->origin.x : axis == 1 ? m->origin.y : m->origin.z;
    low[axis] = (int32_t)floor((least - origin) / m->side) - 1;
    high[axis] = (int32_t)floor((most - origin) / m->side) + 1;
  }
  int32_t cell[3];
  for (cell[2] = low[2]; cell[2] <= high[2]; ++cell[2]) {
    for (cell[1] = low[1]; cell[1] <= high[1]; ++cell[1]) {
      for (cell[0] = low[0]; cell[0] <= high[0]; ++cell[0]) {
        int32_t n = find_cube(f, cell);
        if (n < 0 || f->covered[n]) continue;
        f->covered[n] = is_in_tet(p, yw_d3(m->cubes[n].inside));
      }
    }
  }
}

// Parts -------------------------------------------------------------------------------------------

static int32_t root_of(int32_t* part, int32_t n) {
  while (part[n] != n) n = part[n] = part[part[n]];
  return n;
}

static bool is_lost(const finder* f, int32_t n, double size) {
  return !f->covered[n] && (double)f->matter->cubes[n].thickness < THIN_SIZES * size;
}

static void join_parts(finder* f, double size) {
  const yw_matter* m = f->matter;
  for (int32_t n = 0; n < m->count; ++n) f->part[n] = n;
  for (int32_t n = 0; n < m->count; ++n) {
    if (!is_lost(f, n, size)) continue;
    for (int k = 0; k < 13; ++k) {
      const int32_t* at = m->cubes[n].cell;
      int32_t cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
      int32_t other = find_cube(f, cell);
      if (other < 0 || !is_lost(f, other, size)) continue;
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

static bool list_parts(finder* f, yw_tet_fit* fit) {
  const yw_matter* m = f->matter;
  part_sums* sums = YW_NEW_ARRAY(&m->mem, part_sums, m->count);
  if (sums == NULL) return false;
  for (int32_t n = 0; n < m->count; ++n) {
    if (!is_lost(f, n, (double)fit->size)) continue;
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
  yw_mem_free(&m->mem, sums);
  return true;
}

yw_status yw_tet_fit_measure(const yw_matter* matter, const yw_tet_mesh* tets, double size,
                             yw_tet_fit* out) {
  *out = (yw_tet_fit){.size = (float)size, .shape_volume = matter->volume};
  finder f;
  bool ready = create_finder(matter, &f);
  for (int32_t t = 0; ready && t < tets->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(tets, t, p);
    out->tet_volume += yw_tet_volume6(p) / 6.0;
    cover_by_tet(&f, p);
  }
  if (ready) join_parts(&f, size);
  ready = ready && list_parts(&f, out);
  free_finder(&f);
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
