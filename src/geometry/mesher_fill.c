// SPDX-License-Identifier: MIT
// Tets for a shape: sizes that fit it, and what is done to the tets of the lattice.
#include "geometry/mesh_faces.h"
#include "geometry/mesher.h"
#include "geometry/mesher_rounded.h"
#include "geometry/shape_planes.h"
#include "geometry/tet_fit.h"
#include "geometry/tet_necks.h"
#include "geometry/tet_pieces.h"
#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define USUAL_CELLS 12.0
#define USUAL_ACROSS 1.6
#define VOLUME_TOLERANCE 0.01
#define MAX_ROUNDS 5
#define MAX_ROUGH_ROUNDS 8
#define MOST_SCALE 3.0  // of the sizes, to have fewer tets
#define MORE_TETS 1.1   // than wished are accepted
#define THIN_TETS 2.0   // times as many are accepted to keep what is thin
#define SHARPEN_ROUNDS 4
#define NO_FEATURES 2.0f    // sizes around tets that overlap
#define GOOD_FACTOR 0.7     // smaller cells than this are worth taking tets from what is thin
#define CRUMBS 1e-3         // of the volume
#define MAX_EXTRA_LEVELS 3  // for matter that is lost
#define MAX_DOUBLINGS 5     // of the number of tets, while so much matter is lost ...
#define LOST_SHARE 0.003    // ... of all (the tips of sharp corners are less) ...
#define MOST_DOUBLED 70000  // ... up to this many
#define MOST_MISSED 0.06    // of the volume, where nothing is lost
#define NECK_ROUNDS 3       // to mend necks ...
#define ROUNDED 2           // a mark as for necks, of edges that are rounded
#define MOST_TRIED 150000   // tets of all such attempts, which take most of the time then
#define NECK_ACROSS 2.2     // cells across a neck are enough
#define NECK_TETS 0.5       // ... while that takes at most so many more tets, of all ...
#define MOST_MENDED 100000  // ... or that makes at most so many
#define SMOOTH_SHARE 3e-3   // of the volume: sharp edges of smooth shapes have less

// Improves the tets and gives them the shape's sharp edges, except in some places.
static yw_status improve_and_sharpen(const yw_mesher_job* job, yw_tet_edit* edit,
                                     const yw_no_features* except, yw_places* unsharp) {
  yw_mesher_hold_creases(edit, job->tasks);
  yw_mesher_improve(edit);
  yw_status status = yw_mesher_sharpen(edit, except, job->has_faces, unsharp);
  if (status == YW_OK) yw_mesher_improve(edit);
  return status;
}

// Where parts of the surface are close to each other, a vertex that was moved onto a sharp edge of
// one may lie in a tet of the other. Adds such places to a list.
static yw_status list_overlaps(const yw_tet_edit* edit, yw_no_features* out) {
  yw_tet_mesh mesh = yw_edit_view(edit);
  unsigned char* suspect = YW_NEW_ARRAY(&edit->mem, unsigned char, 2 * (size_t)mesh.num_tets);
  if (suspect == NULL) return YW_ERR_MEMORY;
  unsigned char* overlapping = suspect + mesh.num_tets;
  int32_t num_suspects = 0, count = 0;
  for (int32_t t = 0; t < mesh.num_tets; ++t) {
    for (int k = 0; k < 4; ++k)
      suspect[t] |= edit->holds.items[edit->tets.items[t].v[k]] >= YW_HOLD_CREASE;
    num_suspects += suspect[t];
  }
  yw_status status = YW_OK;
  if (num_suspects > 0) status = yw_tet_overlaps(&mesh, suspect, overlapping, &count);
  for (int32_t t = 0; t < mesh.num_tets && status == YW_OK; ++t) {
    if (!overlapping[t]) continue;
    if (!YW_LIST_RESERVE(&edit->mem, out, 1)) status = YW_ERR_MEMORY;
    if (status != YW_OK) break;
    int32_t v = edit->tets.items[t].v[0];
    yw_vec4 ball = yw_v4(edit->positions.items[v]);
    ball.w = NO_FEATURES * edit->sizes.items[v];
    out->items[out->count++] = ball;
  }
  yw_mem_free(&edit->mem, suspect);
  return status;
}

static yw_status finish_tets(const yw_mesher_job* job, yw_raw_tets* raw, yw_places* unsharp) {
  yw_no_features except = {0};
  yw_tet_edit edit;
  yw_status status = YW_OK;
  for (int round = 0; status == YW_OK; ++round) {
    int32_t before = except.count;
    status = yw_edit_begin(job->shape, (float)job->sizes->coarsest, raw->sizes, &raw->mesh,
                           raw->on_surface, &edit);
    if (status != YW_OK) break;
    status = improve_and_sharpen(job, &edit, &except, unsharp);
    if (status == YW_OK && round < SHARPEN_ROUNDS) status = list_overlaps(&edit, &except);
    if (status == YW_OK && except.count == before) break;
    yw_edit_free(&edit);
  }
  if (status == YW_OK) status = yw_edit_end(&edit, &raw->mesh);
  YW_LIST_FREE(&raw->mesh.mem, &except);
  return status;
}

static double volume_of(const yw_tet_mesh* mesh) {
  double volume = 0.0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    volume += yw_tet_volume6(p) / 6.0;
  }
  return volume;
}

// Sizes that fit ----------------------------------------------------------------------------------

// Asks for smaller cells where matter is lost; false if nothing is, or there would be too many
// tets.
static bool refine_lost(yw_size_field* sizes, const unsigned char* lost, double max_tets) {
  const yw_matter* m = sizes->matter;
  double more = 0.0;
  for (int32_t n = 0; n < m->count; ++n) {
    double size = 0.5 * yw_size_at(sizes, n);
    if (lost[n] && sizes->extra[n] < MAX_EXTRA_LEVELS) more += yw_cube_tets(m, n, size);
  }
  if (more == 0.0 || more > max_tets) return false;
  for (int32_t n = 0; n < m->count; ++n) {
    if (lost[n] && sizes->extra[n] < MAX_EXTRA_LEVELS) ++sizes->extra[n];
  }
  return true;
}

// How much smaller cells must be, as a factor, so that the volume is right: what is cut off curved
// surfaces falls with the square of the size. 1 if it is right.
static double wanted_factor(const yw_matter* matter, double volume) {
  double missed = fabs(volume / matter->volume - 1.0);
  if (missed < VOLUME_TOLERANCE) return 1.0;
  return fmax(0.5, sqrt(0.8 * VOLUME_TOLERANCE / missed));
}

// Sizes for a wish: larger ones if there would be too many tets, at last even where matter is thin.
static void choose_sizes(yw_size_field* sizes, yw_size_wish* wish) {
  double coarsest = sizes->matter->longest / wish->cells;
  sizes->floor = 0.0;
  yw_size_field_choose(sizes, *wish);
  wish->max_tets += yw_asked_tets(sizes);
  for (int n = 0; n < 28 && yw_estimate_tets(sizes) > wish->max_tets; ++n) {
    wish->cells /= 1.04;
    wish->across /= 1.04;
    yw_size_field_choose(sizes, *wish);
  }
  coarsest = fmax(yw_surface_size(sizes), coarsest);
  double floor = yw_size_of_level(sizes, sizes->finest);
  while (yw_estimate_tets(sizes) > THIN_TETS * wish->max_tets && floor < coarsest) {
    sizes->floor = floor *= 1.1;
    yw_size_field_choose(sizes, *wish);
  }
}

// Changes a wish after a look at the tets it led to; false if they fit. The number of tets grows
// with the size to the power of -2 to -3.
static bool adjust_wish(const yw_mesher_job* job, int32_t num_tets, double volume,
                        yw_size_wish* wish) {
  double share = (double)num_tets / wish->max_tets;
  double wanted = wanted_factor(job->matter, volume), allowed = (double)yw_cbrtf((float)share);
  double factor = share > MORE_TETS ? sqrt(share) : fmax(wanted, allowed);
  if (share <= MORE_TETS && factor > 0.97) {
    // No tets are left for a better volume: take them from what is thin.
    if (wanted > GOOD_FACTOR || wish->across <= YW_LEAST_ACROSS) return false;
    wish->across = fmax(0.7 * wish->across, YW_LEAST_ACROSS);
    wish->cells /= fmax(wanted, 0.8);
    return true;
  }
  // What is thin has less volume to be wrong.
  wish->cells /= factor;
  wish->across = fmax(wish->across / (factor < 1.0 ? sqrt(factor) : factor), YW_LEAST_ACROSS);
  return true;
}

// Cells of the given size, and smaller ones where matter would be lost, unless they are too many.
static void choose_around(yw_size_field* sizes, double size, double max_tets) {
  sizes->floor = size;
  yw_size_field_around(sizes, size);
  double limit = fmax(THIN_TETS * max_tets, THIN_TETS * yw_estimate_tets(sizes));
  sizes->floor = 0.0;
  yw_size_field_around(sizes, size);
  double floor = yw_size_of_level(sizes, sizes->finest);
  while (yw_estimate_tets(sizes) > limit && floor < size) {
    sizes->floor = floor *= 1.5;
    yw_size_field_around(sizes, size);
  }
}

// An attempt, and what is wrong with it.
typedef struct attempt {
  yw_tet_mesh mesh;
  yw_tet_fit fit;
  int32_t num_tets;
  double volume;        ///< m^3
  double rough_volume;  ///< before sharp edges were made
  yw_places unsharp;    ///< edges that are rounded
  unsigned char* lost;  ///< per cube of the matter: smaller cells would help here
  unsigned char* neck;  ///< per cube: between a limb and the rest, or around what is broken
  yw_limbs limbs;
  int32_t broken;   ///< pieces, gaps and limbs
  int32_t rounded;  ///< edges and corners of boxes
  double badness;
} attempt;

// Asks for smaller cells at edges of primitives that are rounded. Those of triangle meshes are too
// many, and seldom edges.
static void mark_places(const yw_matter_cover* cover, const yw_places* places, unsigned char* mark,
                        unsigned char value) {
  const yw_matter* m = cover->matter;
  for (int32_t i = 0; i < places->count; ++i) {
    yw_dvec3 from = yw_dsub(yw_d3(places->items[i]), m->origin);
    for (int n = 0; n < 27; ++n) {
      int32_t cell[3] = {(int32_t)floor(from.x / m->side) + n % 3 - 1,
                         (int32_t)floor(from.y / m->side) + n / 3 % 3 - 1,
                         (int32_t)floor(from.z / m->side) + n / 9 - 1};
      int32_t cube = yw_matter_cover_find(cover, cell);
      if (cube >= 0) mark[cube] = value;
    }
  }
}

static yw_status mark_rounded(const yw_mesher_job* job, const yw_matter_cover* cover, attempt* a) {
  yw_places places = {0};
  double size = yw_surface_size(job->sizes);
  yw_status status = yw_list_rounded(job->mem, job->shape, &a->mesh, size, &places, &a->rounded);
  mark_places(cover, &places, a->neck, ROUNDED);
  YW_LIST_FREE(job->mem, &places);
  return status;
}

// Replaces the mesh by one of the sizes of the job, as the lattice gives it if `rough`.
static yw_status make_tets(const yw_mesher_job* job, bool rough, attempt* a, yw_error* error) {
  yw_raw_tets raw;
  yw_tet_mesh_free(&a->mesh);
  yw_status status = yw_mesher_stuff(job, job->sizes->coarsest, &raw, error);
  if (status != YW_OK) return status;
  a->rough_volume = volume_of(&raw.mesh);
  if (rough || finish_tets(job, &raw, &a->unsharp) == YW_OK) {
    a->mesh = raw.mesh;
    raw.mesh = (yw_tet_mesh){.mem = raw.mesh.mem};
  } else {
    status = yw_fail_memory(error, "tets");
  }
  yw_raw_tets_free(&raw);
  return status;
}

// Measures an attempt and removes crumbs that have broken off.
static yw_status judge(const yw_mesher_job* job, double max_tets, attempt* a) {
  const yw_size_field* sizes = job->sizes;
  const yw_matter* m = sizes->matter;
  yw_matter_cover cover = {0};
  int32_t num_pieces = 0;
  double volume = 0.0;
  unsigned char* around = YW_NEW_ARRAY(&m->mem, unsigned char, m->count + 1);
  unsigned char* broken = YW_NEW_ARRAY(&m->mem, unsigned char, a->mesh.num_tets);
  yw_status status = around != NULL && broken != NULL ? YW_OK : YW_ERR_MEMORY;
  if (status == YW_OK) status = yw_matter_cover_create(m, &a->mesh, &cover);
  if (status == YW_OK) {
    status = yw_find_broken_pieces(&cover, &a->mesh, around, broken, &num_pieces, &volume);
  }
  if (status == YW_OK) status = yw_tet_fit_measure(sizes, &cover, &a->mesh, &a->fit, a->lost);
  if (status == YW_OK) status = yw_find_limbs(sizes, &cover, &a->mesh, a->neck, &a->limbs);
  for (int32_t n = 0; status == YW_OK && n < a->limbs.count && n < YW_MAX_LOST_PARTS; ++n) {
    yw_tet_fit_add(&a->fit, a->limbs.items[n]);
  }
  a->broken = a->limbs.count + a->limbs.gaps;
  if (status == YW_OK && num_pieces > 0) {
    for (int32_t n = 0; n < m->count; ++n) a->lost[n] |= around[n];
    if (volume < CRUMBS * m->volume) {
      status = yw_drop_tets(&a->mesh, broken);
      a->fit.tet_volume -= volume;
    } else {
      a->broken += num_pieces;
    }
  }
  if (status == YW_OK && job->has_faces) {
    mark_places(&cover, &a->unsharp, a->lost, 1);
    status = mark_rounded(job, &cover, a);
  }
  // Where parts of a model come close to each other, tets may make tunnels and cavities, which
  // other sizes avoid.
  int32_t tunnels = 0;
  if (status == YW_OK && !job->has_faces) status = yw_count_tunnels(&a->mesh, &tunnels);
  double missed = fabs(a->fit.tet_volume / m->volume - 1.0);
  a->num_tets = a->mesh.num_tets;
  a->volume = volume_of(&a->mesh);
  a->badness =
      num_pieces + fabs((double)tunnels) + (job->has_faces ? 0.1 * a->unsharp.count : 0.0) +
      20.0 * a->fit.lost_volume / m->volume + 100.0 * fmax(missed - VOLUME_TOLERANCE, 0.0) +
      5.0 * fmax(a->mesh.num_tets / max_tets - MORE_TETS, 0.0);
  yw_matter_cover_free(&cover);
  yw_mem_free(&m->mem, around);
  yw_mem_free(&m->mem, broken);
  return status;
}

static yw_status attempt_tets(const yw_mesher_job* job, double max_tets, bool rough, attempt* a,
                              yw_error* error) {
  yw_status status = make_tets(job, rough, a, error);
  if (status == YW_OK) status = judge(job, max_tets, a);
  return status == YW_ERR_MEMORY ? yw_fail_memory(error, "tets") : status;
}

/// The best of a few attempts.
typedef struct fitting {
  yw_mesher_job* job;
  yw_size_field* sizes;
  yw_size_wish wish;
  double size;  ///< given, of the coarsest cells; 0: to be chosen
  attempt now;
  double best;         ///< badness of what is kept
  int32_t broken;      ///< pieces, gaps and limbs of what is kept
  int32_t faults;      ///< these, and rounded edges
  double mended;       ///< tets of attempts to mend
  yw_tet_mesh* mesh;   ///< kept
  yw_tet_fit* fit;     ///< kept
  yw_size_field kept;  ///< sizes that led to it
} fitting;

static void keep_attempt(fitting* f) {
  yw_tet_mesh_free(f->mesh);
  *f->mesh = f->now.mesh;
  *f->fit = f->now.fit;
  f->now.mesh = (yw_tet_mesh){0};
  f->best = f->now.badness;
  f->broken = f->now.broken;
  f->faults = f->now.broken + f->now.rounded;
  yw_size_field_copy(f->sizes, &f->kept);
}

static uint64_t fingerprint(const yw_size_field* sizes, bool rough) {
  uint64_t h = yw_hash_bytes(YW_HASH_SEED, sizes->level, (size_t)sizes->matter->count);
  h = yw_hash_bytes(h, &sizes->coarsest, sizeof sizes->coarsest);
  return yw_hash_u64(h, rough ? 2 : 1);
}

// Improving tets takes longer than all the rest. Where sharp edges are few, the sizes are chosen by
// the tets of the lattice, and only the best are improved.
static yw_status try_sizes(fitting* f, bool* rough, yw_error* error) {
  bool choose = !(f->size > 0.0);
  double max_tets = f->wish.max_tets;
  uint64_t last = 0;
  yw_status status = YW_OK;
  for (int round = 0; round < (*rough ? MAX_ROUGH_ROUNDS : MAX_ROUNDS); ++round) {
    // The same sizes lead to the same tets.
    uint64_t now = fingerprint(f->sizes, *rough);
    if (now != last) status = attempt_tets(f->job, max_tets, *rough, &f->now, error);
    if (status != YW_OK) break;
    bool changed = refine_lost(f->sizes, f->now.lost, THIN_TETS * max_tets - f->now.num_tets);
    changed = (choose && adjust_wish(f->job, f->now.num_tets, f->now.volume, &f->wish)) || changed;
    double gained = fabs(f->now.fit.tet_volume - f->now.rough_volume);
    bool smooth = !f->job->has_faces && gained < SMOOTH_SHARE * f->job->matter->volume;
    if (round == 0 || (now != last && f->now.badness < f->best)) keep_attempt(f);
    if (!changed) break;
    last = now;
    *rough = smooth;
    if (choose) yw_size_field_choose(f->sizes, f->wish);
    if (!choose) yw_size_field_around(f->sizes, f->size);
  }
  return status;
}

static bool wants_level(const yw_size_field* sizes, const unsigned char* neck, int32_t n) {
  double thickness = (double)sizes->matter->cubes[n].thickness;
  if (neck[n] == ROUNDED) return sizes->level[n] < YW_MAX_GRID_LEVEL;
  return neck[n] && sizes->level[n] < YW_MAX_GRID_LEVEL && thickness < INFINITY &&
         NECK_ACROSS * yw_size_at(sizes, n) > thickness;
}

// One level more at the necks of what is kept; false if that takes too many tets.
static bool refine_necks(yw_size_field* sizes, const unsigned char* neck, double max_tets) {
  double more = 0.0;
  for (int32_t n = 0; n < sizes->matter->count; ++n) {
    if (!wants_level(sizes, neck, n)) continue;
    more += yw_cube_tets(sizes->matter, n, 0.5 * yw_size_at(sizes, n));
  }
  if (more == 0.0 || more > max_tets) return false;
  for (int32_t n = 0; n < sizes->matter->count; ++n) {
    if (!wants_level(sizes, neck, n)) continue;
    int32_t level = (int32_t)sizes->level[n] + 1;
    sizes->level[n] = (signed char)level;
    if (level > sizes->finest) sizes->finest = level;
  }
  return true;
}

// Limbs that hang by a part of their neck make a hinge, and rods are broken, where hardly any
// matter is lost: smaller cells there, all others stay as they are.
static yw_status mend_necks(fitting* f, yw_error* error) {
  yw_status status = YW_OK;
  int32_t least = f->faults, last = 0;
  for (int round = 0; round < NECK_ROUNDS && least > 0 && status == YW_OK; ++round) {
    // Of matter that thins out to nothing, smaller cells keep no more.
    if (f->now.limbs.gaps == f->now.broken + f->now.rounded && f->now.broken == last) break;
    last = f->now.broken;
    double more = NECK_TETS * f->now.num_tets;
    double most = f->now.broken > 0 ? MOST_MENDED : THIN_TETS * f->wish.max_tets;
    more = fmax(more, most - f->now.num_tets);
    if (f->mended > MOST_TRIED || !refine_necks(f->sizes, f->now.neck, more)) break;
    status = attempt_tets(f->job, f->wish.max_tets, false, &f->now, error);
    f->mended += f->now.num_tets;
    if (status != YW_OK || f->now.broken + f->now.rounded >= least) continue;
    keep_attempt(f);
    least = f->faults;
  }
  return status;
}

static yw_status make_fitting_tets(fitting* f, yw_error* error) {
  const yw_mesher_job* job = f->job;
  bool rough = false;
  f->now.lost = YW_NEW_ARRAY(job->mem, unsigned char, job->matter->count + 1);
  f->now.neck = YW_NEW_ARRAY(job->mem, unsigned char, job->matter->count + 1);
  yw_status status = yw_size_field_create(job->matter, f->sizes->guide, &f->kept);
  if (f->now.lost == NULL || f->now.neck == NULL) status = YW_ERR_MEMORY;
  if (status != YW_OK) yw_fail_memory(error, "tets");
  if (f->size > 0.0) {
    choose_around(f->sizes, f->size, f->wish.max_tets);
    f->wish.max_tets += yw_asked_tets(f->sizes);
  } else {
    choose_sizes(f->sizes, &f->wish);
  }
  if (status == YW_OK) status = try_sizes(f, &rough, error);
  // What is kept is made again where it is to be improved, or its necks are not known any more.
  if (status == YW_OK && (rough || f->faults > 0)) {
    yw_size_field_copy(&f->kept, f->sizes);
    status = attempt_tets(job, f->wish.max_tets, false, &f->now, error);
    if (status == YW_OK) keep_attempt(f);
    if (status == YW_OK) status = mend_necks(f, error);
  }
  yw_tet_mesh_free(&f->now.mesh);
  yw_mem_free(job->mem, f->now.lost);
  yw_mem_free(job->mem, f->now.neck);
  YW_LIST_FREE(job->mem, &f->now.unsharp);
  yw_size_field_free(&f->kept);
  return status;
}

// Entry points ------------------------------------------------------------------------------------

static yw_status fill_sizes(yw_mesher_job* job, const yw_size_guide* guide, fitting* f,
                            yw_error* error) {
  yw_size_field sizes;
  yw_flat_faces faces = {0};
  yw_status status = yw_size_field_create(job->matter, guide, &sizes);
  if (status != YW_OK) return yw_fail_memory(error, "tets");
  job->sizes = f->sizes = &sizes;
  if (!yw_shape_flat_faces(job->mem, job->shape, &faces)) status = yw_fail_memory(error, "tets");
  job->has_faces = faces.count > 0;
  YW_LIST_FREE(job->mem, &faces);
  if (status == YW_OK) status = make_fitting_tets(f, error);
  yw_size_field_free(&sizes);
  return status;
}

// Matter that is lost, or that tets of curved and slim shapes miss.
static double shortfall(const yw_tet_fit* fit) {
  double missed = fabs(fit->tet_volume - fit->shape_volume) - MOST_MISSED * fit->shape_volume;
  return fit->lost_volume + fmax(missed, 0.0);
}

// Less is lost, in no more pieces.
static bool is_better(const fitting* next, const fitting* f) {
  double little = LOST_SHARE * f->fit->shape_volume;
  double now = fmax(shortfall(next->fit), little), before = fmax(shortfall(f->fit), little);
  return now < before && next->broken <= f->broken;
}

// Matter that is lost is worth more tets than were wished for.
static yw_status fill_until_kept(yw_mesher_job* job, const yw_size_guide* guide, fitting* f,
                                 yw_error* error) {
  fitting first = *f;
  yw_status status = fill_sizes(job, guide, f, error);
  for (int n = 0; n < MAX_DOUBLINGS && status == YW_OK; ++n) {
    first.wish.max_tets *= 2.0;
    bool kept = shortfall(f->fit) <= LOST_SHARE * f->fit->shape_volume;
    if (f->size > 0.0 || kept || first.wish.max_tets > MOST_DOUBLED) break;
    yw_tet_mesh mesh = {0};
    yw_tet_fit fit = {0};
    fitting next = first;
    next.mesh = &mesh;
    next.fit = &fit;
    next.mended = f->mended;
    status = fill_sizes(job, guide, &next, error);
    f->mended = next.mended;
    if (status != YW_OK || !is_better(&next, f)) {
      yw_tet_mesh_free(&mesh);
      continue;
    }
    yw_tet_mesh_free(f->mesh);
    *f->mesh = mesh;
    *f->fit = fit;
    f->broken = next.broken;
  }
  return status;
}

// Sizes that were chosen may have too few tets for the volume of what is curved and slim. With a
// size that was given, vertices stay on the surface.
static yw_status settle_volume(const yw_shape* shape, yw_tet_mesh* mesh, yw_tet_fit* fit) {
  double missed = fabs(fit->tet_volume / fit->shape_volume - 1.0);
  if (!(missed > VOLUME_TOLERANCE)) return YW_OK;
  yw_status status = yw_mesher_settle(shape, (double)fit->size, mesh);
  fit->tet_volume = volume_of(mesh);
  return status;
}

static yw_status check_bulk(int32_t bulk, yw_error* error) {
  if (bulk == 0 || bulk == 1 || bulk == 2 || bulk == 4 || bulk == 8) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID, "bulk is %d, but must be 1, 2, 4 or 8", bulk);
}

yw_status yw_mesher_fill(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                         const yw_size_wish* wish, yw_tasks* tasks, yw_tet_mesh* out,
                         yw_tet_fit* fit, yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no place for the tets");
  *out = (yw_tet_mesh){0};
  yw_tet_fit unused;
  if (fit == NULL) fit = &unused;
  *fit = (yw_tet_fit){0};
  yw_mesher_def settings = def != NULL ? *def : yw_default_mesher_def();
  if (settings.max_tets < 1) settings.max_tets = yw_default_mesher_def().max_tets;
  yw_size_wish usual = {
      .cells = USUAL_CELLS, .across = USUAL_ACROSS, .max_tets = (double)settings.max_tets};
  yw_matter matter;
  yw_size_guide guide;
  yw_allocator hook = yw_mem_or_default(mem);
  yw_mesher_job job = {.shape = shape,
                       .mem = &hook,
                       .tasks = tasks,
                       .matter = &matter,
                       .max_vertices = settings.max_vertices,
                       .part = YW_STUFF_ALL,
                       .what = "tets"};
  yw_status status =
      yw_mesher_check(shape, settings.size, settings.max_vertices, &job.bounds, "tets", error);
  if (status == YW_OK) status = check_bulk(settings.bulk, error);
  if (status != YW_OK) return status;
  status = yw_matter_create(&hook, shape, job.bounds, YW_MATTER_FINE, tasks, &matter);
  if (status != YW_OK) return yw_fail_memory(error, "tets");
  fitting f = {.job = &job,
               .wish = wish != NULL ? *wish : usual,
               .size = (double)settings.size,
               .mesh = out,
               .fit = fit};
  status = yw_size_guide_create(&matter, shape, &settings, &guide);
  status =
      status == YW_OK ? fill_until_kept(&job, &guide, &f, error) : yw_fail_memory(error, "tets");
  if (status == YW_OK && !(f.size > 0.0) && settle_volume(shape, out, fit) != YW_OK) {
    status = yw_fail_memory(error, "tets");
  }
  if (status == YW_OK && f.wish.families && yw_mesher_mend_families(shape, out) != YW_OK) {
    status = yw_fail_memory(error, "tets");
  }
  if (status == YW_OK && f.wish.families) fit->tet_volume = volume_of(out);
  if (status != YW_OK) yw_tet_mesh_free(out);
  yw_size_guide_free(&matter, &guide);
  yw_matter_free(&matter);
  return status;
}

yw_status yw_shape_tets(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_tet_mesh* out, yw_error* error) {
  return yw_mesher_fill(shape, mem, def, NULL, NULL, out, NULL, error);
}

yw_status yw_shape_fill(const yw_shape* shape, const yw_allocator* mem, const yw_mesher_def* def,
                        yw_tet_mesh* out, yw_tet_fit* fit, yw_error* error) {
  return yw_mesher_fill(shape, mem, def, NULL, NULL, out, fit, error);
}
