// SPDX-License-Identifier: MIT
// How a shown surface moves. Every master m has an affine map of what is around it,
//
//   F_m = (sum_n r_n R_n^T + e Q) (sum_n R_n R_n^T + e)^-1      R, r  from m to n, at rest and now
//                                                               Q     rotation of the first sum
//
// so rigid motions are exact even where matter is one master thick, and others up to e. A vertex X
// with weights w goes to sum_m w_m (x_m + F_m (X - X_m)): smooth, since the weights are.
//
// Masters part where links stretch too far, were torn, or where neighbours no longer move like one
// piece: there the surface is not what matter looks like, and a skin around particles is better.
#include <string.h>

#include "math/small/polar.h"
#include "methods/plastic/body.h"
#include "methods/plastic/cells.h"
#include "methods/plastic/cladding.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// e, and how strongly the rotation of the whole body counts where the neighbours leave it open, in
// squared spacings.
#define KEEP_SHAPE 0.01f
#define KEEP_TURN 1e-4f
// A link of so many times its rest length begins to part, and has parted; twice is a tear.
#define LINK_PARTS 1.6f
#define LINK_PARTED 2.0f
// The same for the root mean square distance of neighbours from F_m, in spacings.
#define FIT_PARTS 0.4f
#define FIT_PARTED 0.65f
// Masters that have met others of another part within the first distance, in spacings, begin to
// merge with them, and have at the second. Their surfaces leave a crease there that matter does not
// have. Below a half: only what can show a skin in places shows one.
#define PARTS_MEET 3.0f
#define PARTS_MERGED 2.0f
#define MOST_MERGED 0.49f

static void add_outer(yw_mat3* sum, yw_vec3 a, yw_vec3 b) {
  sum->cx = yw_mad(sum->cx, b.x, a);
  sum->cy = yw_mad(sum->cy, b.y, a);
  sum->cz = yw_mad(sum->cz, b.z, a);
}

// Inverse of a positive definite symmetric matrix.
static yw_mat3 inverse_of(yw_mat3 m) {
  yw_vec3 x = yw_cross(m.cy, m.cz), y = yw_cross(m.cz, m.cx), z = yw_cross(m.cx, m.cy);
  float scale = 1.0f / yw_dot(m.cx, x);
  return (yw_mat3){yw_scale(x, scale), yw_scale(y, scale), yw_scale(z, scale)};
}

// Rotation of all masters about their mean.
static yw_mat3 turn_of_body(const plastic_body* body, const yw_particles* particles) {
  int32_t count = body->num_all;
  double from[3] = {0}, to[3] = {0}, sum[9] = {0}, largest = 0.0;
  for (int32_t m = 0; m < count; ++m) {
    const float *rest = &body->model->masters[m].x, *now = &particles->pos[m].x;
    for (int k = 0; k < 3; ++k) from[k] += (double)rest[k] / count, to[k] += (double)now[k] / count;
  }
  for (int32_t m = 0; m < count; ++m) {
    const float *rest = &body->model->masters[m].x, *now = &particles->pos[m].x;
    for (int k = 0; k < 9; ++k) {
      sum[k] += ((double)now[k / 3] - to[k / 3]) * ((double)rest[k % 3] - from[k % 3]);
    }
  }
  for (int k = 0; k < 9; ++k) largest = fmax(largest, fabs(sum[k]));
  if (!(largest > 0.0) || !isfinite(largest)) return yw_mat3_identity();
  for (int k = 0; k < 9; ++k) sum[k] /= largest;
  yw_mat3 map = {{(float)sum[0], (float)sum[3], (float)sum[6]},
                 {(float)sum[1], (float)sum[4], (float)sum[7]},
                 {(float)sum[2], (float)sum[5], (float)sum[8]}};
  yw_mat3 turn, stretch;
  yw_polar(&map, &turn, &stretch);
  return turn;
}

// F of a master; lengths are in spacings, so that nothing depends on the size of the body.
static yw_mat3 map_of(const plastic_body* body, const yw_particles* particles, int32_t m,
                      const yw_mat3* turn) {
  const plastic_model* model = body->model;
  float inv_d = 1.0f / model->spacing;
  yw_mat3 now = {0}, rest = {0}, q, stretch;
  const int32_t* near = model->first_near + model->near_kind[m];
  int32_t first = near[0], end = near[1];
  float share = end > first ? 1.0f / (float)(end - first) : 0.0f;
  for (int32_t k = first; k < end; ++k) {
    int32_t n = m + model->near[k];
    yw_vec3 R = yw_scale(yw_sub(model->masters[n], model->masters[m]), inv_d);
    yw_vec3 r = yw_scale(yw_sub(yw_xyz(particles->pos[n]), yw_xyz(particles->pos[m])), inv_d);
    add_outer(&now, yw_scale(r, share), R);
    add_outer(&rest, yw_scale(R, share), R);
  }
  yw_mat3 guided = yw_mat3_add(now, yw_mat3_scale(*turn, KEEP_TURN));
  yw_polar(&guided, &q, &stretch);
  now = yw_mat3_add(now, yw_mat3_scale(q, KEEP_SHAPE));
  rest = yw_mat3_add(rest, yw_mat3_scale(yw_mat3_identity(), KEEP_SHAPE));
  return yw_mat3_mul(now, inverse_of(rest));
}

// Maps of the masters that vertices [first, end) follow: that of m is maps[of_master[m]]. Both are
// NULL if out of memory.
typedef struct held_maps {
  int32_t* of_master;
  yw_mat3* maps;
} held_maps;

static held_maps find_maps(const plastic_body* body, const yw_particles* particles, int32_t first,
                           int32_t end) {
  const plastic_model* model = body->model;
  int32_t count = 0;
  held_maps held = {.of_master = YW_NEW_ARRAY(&body->mem, int32_t, model->num_masters)};
  for (int32_t v = first; held.of_master && v < end; ++v) {
    const int32_t* kind = model->first_held + model->held_kind[v];
    for (int32_t k = kind[0]; k < kind[1]; ++k) {
      int32_t* at = &held.of_master[model->seed[v] + model->held[k]];
      if (*at == 0) *at = ++count;
    }
  }
  if (held.of_master) held.maps = YW_NEW_ARRAY(&body->mem, yw_mat3, count + 1);
  if (!held.maps) {
    yw_mem_free(&body->mem, held.of_master);
    return (held_maps){0};
  }
  yw_mat3 turn = turn_of_body(body, particles);
  for (int32_t m = 0; m < body->num_all; ++m) {
    if (held.of_master[m] > 0) held.maps[held.of_master[m]] = map_of(body, particles, m, &turn);
  }
  return held;
}

// Surface -----------------------------------------------------------------------------------------

yw_status yw_plastic_model_surface(const void* pointer, const yw_allocator* mem, yw_tri_mesh* out) {
  const plastic_model* model = pointer;
  *out = (yw_tri_mesh){0};
  return model->surface.num_triangles > 0 ? yw_tri_mesh_copy(&model->surface, mem, out) : YW_OK;
}

// The first one is where the search for the others began.
int32_t yw_plastic_surface_particle(const void* pointer, int32_t vertex) {
  const plastic_model* model = pointer;
  return model->seed[vertex];
}

static float weight_of(const plastic_model* model, int32_t m, yw_vec3 p, float reach) {
  float q = yw_distance(model->masters[m], p) / reach;
  return q < 1.0f ? (1.0f - q * q) * (1.0f - q * q) : 0.0f;
}

// Weights follow from positions at rest; keeping them would take most of a model's memory.
static yw_vec3 vertex_of(const plastic_body* body, const yw_particles* particles,
                         const held_maps* held, int32_t v) {
  const plastic_model* model = body->model;
  yw_vec3 sum = {0, 0, 0}, rest = model->surface.positions[v];
  int32_t seed = model->seed[v];
  const int32_t* kind = model->first_held + model->held_kind[v];
  float reach = yw_plastic_reach(model, seed, rest), weights = 0.0f;
  for (int32_t k = kind[0]; k < kind[1]; ++k) {
    weights += weight_of(model, seed + model->held[k], rest, reach);
  }
  for (int32_t k = kind[0]; k < kind[1]; ++k) {
    int32_t m = seed + model->held[k];
    yw_vec3 p = yw_xyz(particles->pos[m]);
    yw_vec3 arm = yw_sub(rest, model->masters[m]);
    if (held->maps) p = yw_add(p, yw_mul(held->maps[held->of_master[m]], arm));
    sum = yw_mad(sum, weight_of(model, m, rest, reach) / weights, p);
  }
  return sum;
}

void yw_plastic_surface_range(const void* state, const yw_particles* particles, int32_t first,
                              int32_t count, yw_vec3* out) {
  const plastic_body* body = state;
  const plastic_model* model = body->model;
  held_maps held = find_maps(body, particles, first, first + count);
  for (int32_t v = first; v < first + count; ++v) {
    // A part that has not started is one point.
    bool started = model->seed[v] < body->num_all;
    out[v - first] = started ? vertex_of(body, particles, &held, v) : yw_xyz(particles->pos[0]);
  }
  yw_mem_free(&body->mem, held.of_master);
  yw_mem_free(&body->mem, held.maps);
}

void yw_plastic_surface_positions(const void* state, const yw_particles* particles, yw_vec3* out) {
  const plastic_body* body = state;
  yw_plastic_surface_range(body, particles, 0, body->model->surface.num_vertices, out);
}

// Parting -----------------------------------------------------------------------------------------

// 0 below low, 1 above high, smooth between.
static float rise(float x, float low, float high) {
  float t = yw_clampf((x - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

// Masters that are looked at, and what is found: out[0] is that of the first.
typedef struct parted_masters {
  int32_t first, end;
  float* out;
} parted_masters;

static void note_parted(const parted_masters* p, int32_t m, float parted) {
  if (m >= p->first && m < p->end) p->out[m - p->first] = fmaxf(p->out[m - p->first], parted);
}

static void part_at_links(const plastic_body* body, const yw_particles* particles,
                          const parted_masters* some) {
  const plastic_model* model = body->model;
  int32_t number = yw_plastic_first_link(model, some->first);
  const int32_t* way;
  // A link is that of its later master, so those of a range are never before it.
  for (int32_t m = some->first; m < body->num_all; ++m) {
    int32_t count = yw_plastic_links_of(model, m, &way);
    for (int32_t k = 0; k < count; ++k, ++number) {
      int32_t a = m + way[k];
      if (a >= body->num_all || (m >= some->end && (a < some->first || a >= some->end))) continue;
      float rest = yw_distance(model->masters[a], model->masters[m]);
      float now = yw_distance(yw_xyz(particles->pos[a]), yw_xyz(particles->pos[m]));
      float parted = body->is_linked[number] ? rise(now / rest, LINK_PARTS, LINK_PARTED) : 1.0f;
      note_parted(some, a, parted);
      note_parted(some, m, parted);
    }
  }
}

static float misfit_of(const plastic_body* body, const yw_particles* particles, const yw_mat3* map,
                       int32_t m) {
  const plastic_model* model = body->model;
  const int32_t* near = model->first_near + model->near_kind[m];
  int32_t first = near[0], end = near[1];
  float sum = 0.0f;
  for (int32_t k = first; k < end; ++k) {
    int32_t n = m + model->near[k];
    yw_vec3 expected = yw_mul(*map, yw_sub(model->masters[n], model->masters[m]));
    yw_vec3 found = yw_sub(yw_xyz(particles->pos[n]), yw_xyz(particles->pos[m]));
    sum += yw_length2(yw_sub(found, expected));
  }
  return end > first ? sqrtf(sum / (float)(end - first)) / model->spacing : 0.0f;
}

static int32_t part_of(const plastic_model* model, int32_t m) {
  int32_t part = 0;
  while (part + 1 < model->num_parts && m >= model->parts[part + 1].first) ++part;
  return part;
}

// Masters in buckets of a hash of their cells.
typedef struct master_grid {
  uint32_t mask;
  float edge;
  int32_t *head, *next;
} master_grid;

static uint32_t bucket_of(const master_grid* grid, plastic_cell cell) {
  uint32_t h = plastic_line(cell.y, cell.z) + (uint32_t)cell.x * 0xc2b2ae3du;
  return (h ^ (h >> 15)) & grid->mask;
}

// Distance to the nearest master of another part, at most the edge of a cell.
static float distance_to_others(const plastic_body* body, const yw_particles* particles,
                                const master_grid* grid, int32_t m) {
  yw_vec4 x = particles->pos[m];
  plastic_cell c = plastic_cell_of(x, grid->edge);
  int32_t own = part_of(body->model, m);
  float nearest = grid->edge;
  for (int k = 0; k < 27; ++k) {
    plastic_cell near = {c.x + k % 3 - 1, c.y + k / 3 % 3 - 1, c.z + k / 9 - 1};
    for (int32_t i = grid->head[bucket_of(grid, near)]; i >= 0; i = grid->next[i]) {
      if (part_of(body->model, i) == own) continue;
      nearest = fminf(nearest, yw_distance(yw_xyz(particles->pos[i]), yw_xyz(x)));
    }
  }
  return nearest;
}

// Without memory surfaces keep their creases.
static void part_where_parts_meet(const plastic_body* body, const yw_particles* particles,
                                  const parted_masters* some) {
  int32_t count = body->num_all;
  float d = body->model->spacing;
  if (body->model->num_parts < 2) return;
  master_grid grid = {.mask = 1023, .edge = PARTS_MEET * d};
  while (grid.mask < (uint32_t)count) grid.mask = 2 * grid.mask + 1;
  grid.head = YW_NEW_ARRAY(&body->mem, int32_t, (size_t)grid.mask + 1);
  grid.next = YW_NEW_ARRAY(&body->mem, int32_t, count);
  if (grid.head && grid.next) {
    memset(grid.head, 0xff, ((size_t)grid.mask + 1) * sizeof *grid.head);
    for (int32_t m = 0; m < count; ++m) {
      uint32_t b = bucket_of(&grid, plastic_cell_of(particles->pos[m], grid.edge));
      grid.next[m] = grid.head[b];
      grid.head[b] = m;
    }
    for (int32_t m = some->first; m < some->end; ++m) {
      float far = distance_to_others(body, particles, &grid, m) / d;
      note_parted(some, m, MOST_MERGED * (1.0f - rise(far, PARTS_MERGED, PARTS_MEET)));
    }
  }
  yw_mem_free(&body->mem, grid.head);
  yw_mem_free(&body->mem, grid.next);
}

int32_t yw_plastic_parted_range(const void* state, const yw_particles* particles, int32_t first,
                                int32_t count, float* out) {
  const plastic_body* body = state;
  const parted_masters some = {first, first + count, out};
  int32_t parted = 0;
  yw_mat3 turn = turn_of_body(body, particles);
  memset(out, 0, (size_t)count * sizeof *out);
  part_at_links(body, particles, &some);
  part_where_parts_meet(body, particles, &some);
  for (int32_t m = first; m < some.end; ++m) {
    yw_mat3 map = map_of(body, particles, m, &turn);
    float misfit = misfit_of(body, particles, &map, m);
    // Also where it is not a number.
    if (!(misfit <= FIT_PARTS)) note_parted(&some, m, rise(misfit, FIT_PARTS, FIT_PARTED));
    parted += out[m - first] > 0.0f;
  }
  return parted;
}

int32_t yw_plastic_surface_parted(const void* state, const yw_particles* particles, float* out) {
  const plastic_body* body = state;
  return yw_plastic_parted_range(body, particles, 0, body->num_all, out);
}
