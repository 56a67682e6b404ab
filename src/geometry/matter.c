// SPDX-License-Identifier: MIT
#include "geometry/matter.h"

#include <stdlib.h>

#include "geometry/shape.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_LEVEL 12
#define BATCH 512

// Chords are followed in steps of the depth, at least this fraction of a cube: that passes seams,
// where parts of a union touch and the depth is zero inside.
#define LEAST_STEP 0.06
#define FIRST_STEP 0.002
#define MAX_STEPS 200

typedef YW_LIST(yw_matter_cube) cube_list;

typedef struct sampler {
  const yw_shape* shape;
  yw_matter* matter;
  yw_tasks* tasks;
  cube_list cubes, next;
  float* distance;  ///< per cube, of its centre from the surface
} sampler;

static double clamp01(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// Splitting ---------------------------------------------------------------------------------------

static void gather_centers(const sampler* s, const yw_matter_cube* cubes, int32_t count,
                           yw_vec4* points) {
  for (int32_t n = 0; n < count; ++n)
    points[n] = yw_v4(yw_f3(yw_matter_center(s->matter, &cubes[n])));
}

// Calls `task` for batches of cubes; false when out of memory.
static bool each_batch(sampler* s, yw_task task) {
  const yw_allocator* mem = &s->matter->mem;
  yw_mem_free(mem, s->distance);
  s->distance = YW_NEW_ARRAY(mem, float, s->cubes.count + 1);
  if (s->distance == NULL) return false;
  yw_tasks_run(s->tasks, (s->cubes.count + BATCH - 1) / BATCH, task, s);
  return true;
}

static int32_t batch_size(const sampler* s, int32_t start) {
  return s->cubes.count - start < BATCH ? s->cubes.count - start : BATCH;
}

static void find_distances(void* context, int32_t block, int32_t worker) {
  (void)worker;
  sampler* s = context;
  int32_t start = block * BATCH, count = batch_size(s, start);
  yw_vec4 points[BATCH];
  gather_centers(s, s->cubes.items + start, count, points);
  yw_shape_distance_many(s->shape, count, points, s->distance + start);
}

static bool drop_outside(sampler* s) {
  int32_t kept = 0;
  double reach = 0.8661 * s->matter->side;
  if (!each_batch(s, find_distances)) return false;
  for (int32_t n = 0; n < s->cubes.count; ++n) {
    if ((double)s->distance[n] < reach) s->cubes.items[kept++] = s->cubes.items[n];
  }
  s->cubes.count = kept;
  return true;
}

static bool split_all(sampler* s) {
  const yw_allocator* mem = &s->matter->mem;
  s->next.count = 0;
  if (!YW_LIST_RESERVE(mem, &s->next, 8 * s->cubes.count)) return false;
  for (int32_t n = 0; n < s->cubes.count; ++n) {
    for (int child = 0; child < 8; ++child) {
      yw_matter_cube cube = {.thickness = INFINITY};
      for (int axis = 0; axis < 3; ++axis) {
        cube.cell[axis] = 2 * s->cubes.items[n].cell[axis] + (child >> axis & 1);
      }
      s->next.items[s->next.count++] = cube;
    }
  }
  cube_list swap = s->cubes;
  s->cubes = s->next;
  s->next = swap;
  s->matter->side *= 0.5;
  return drop_outside(s);
}

// Measuring ---------------------------------------------------------------------------------------

static double depth_at(const sampler* s, yw_dvec3 from, double t, yw_dvec3 direction) {
  return -(double)yw_shape_distance(s->shape, yw_f3(yw_dmad(from, t, direction)));
}

// Length of the inside part of the ray from a point of the surface; 0 if the point is not on it,
// which happens beside combined shapes: their value is only a lower bound of the distance.
static double chord(const sampler* s, yw_dvec3 from, yw_dvec3 direction) {
  double most = LEAST_STEP * s->matter->side, t = FIRST_STEP * s->matter->side, safe = 0.0;
  for (int step = 0; step < MAX_STEPS; ++step) {
    double depth = depth_at(s, from, t, direction);
    if (!(depth >= 0.0)) {
      while (step > 0 && t - safe > 0.05 * t) {
        double middle = 0.5 * (safe + t);
        *(depth_at(s, from, middle, direction) >= 0.0 ? &safe : &t) = middle;
      }
      return step > 0 ? 0.5 * (safe + t) : 0.0;
    }
    safe = t + depth;
    // Small steps at first find the other side of a thin sheet.
    t = fmax(safe, t + fmin(t, most));
    if (t > 2.0 * s->matter->longest) break;
  }
  return t;
}

// Whether some point of a cube is inside. Where faces of a shape and of what is cut out of it
// coincide, the distance is zero far from any matter.
static bool has_inside(const sampler* s, yw_dvec3 center) {
  yw_vec4 points[64];
  float distance[64];
  for (int n = 0; n < 64; ++n) {
    yw_dvec3 offset = {0.25 * (n % 4) - 0.375, 0.25 * (n / 4 % 4) - 0.375, 0.25 * (n / 16) - 0.375};
    points[n] = yw_v4(yw_f3(yw_dmad(center, s->matter->side, offset)));
  }
  yw_shape_distance_many(s->shape, 64, points, distance);
  for (int n = 0; n < 64; ++n) {
    if (distance[n] < 0.0f) return true;
  }
  return false;
}

// Eight smaller cubes see more of a curved or bent surface.
static void measure_parts(const sampler* s, yw_matter_cube* cube, yw_dvec3 center, bool empty) {
  double side = s->matter->side, share = 0.0;
  yw_vec4 points[8];
  float distance[8];
  int deepest = 0;
  for (int n = 0; n < 8; ++n) {
    yw_dvec3 offset = {n & 1 ? 0.25 : -0.25, n & 2 ? 0.25 : -0.25, n & 4 ? 0.25 : -0.25};
    points[n] = yw_v4(yw_f3(yw_dmad(center, side, offset)));
  }
  yw_shape_distance_many(s->shape, 8, points, distance);
  for (int n = 0; n < 8; ++n) {
    share += clamp01(0.5 - 2.0 * (double)distance[n] / side);
    if (distance[n] < distance[deepest]) deepest = n;
  }
  if (empty && !(distance[deepest] < 0.0f) && !has_inside(s, center)) share = 0.0;
  cube->volume = (float)(share / 8.0 * side * side * side);
  if (!(cube->thickness < INFINITY)) cube->inside = yw_xyz(points[deepest]);
}

// Whether something thin is a rod rather than a layer: beside the middle of the chord, as far away
// as it is long, nothing is left.
static bool is_rod(const sampler* s, yw_vec3 middle, yw_dvec3 normal, double thickness) {
  yw_dvec3 a = fabs(normal.x) < 0.6 ? (yw_dvec3){1, 0, 0} : (yw_dvec3){0, 1, 0};
  a = yw_dcross(normal, a);
  a = yw_dscale(a, 1.0 / sqrt(yw_ddot(a, a)));
  yw_dvec3 b = yw_dcross(normal, a);
  yw_vec4 points[8];
  float distance[8];
  for (int n = 0; n < 8; ++n) {
    int step = n < 4 ? n : n + 1;  // around the middle of 3 x 3 points
    yw_dvec3 p = yw_dmad(yw_d3(middle), (step % 3 - 1) * thickness, a);
    points[n] = yw_v4(yw_f3(yw_dmad(p, (step / 3 - 1) * thickness, b)));
  }
  yw_shape_distance_many(s->shape, 8, points, distance);
  int outside = 0;
  for (int n = 0; n < 8; ++n) outside += distance[n] > 0.0f;
  return outside >= 4;
}

// Of a rod that is thinner than a cube.
static void measure_rod(const sampler* s, yw_matter_cube* cube, yw_dvec3 center) {
  double side = s->matter->side, share = 0.0;
  yw_vec4 points[27];
  float distance[27];
  for (int n = 0; n < 27; ++n) {
    yw_dvec3 offset = {(n % 3 - 1) / 3.0, (n / 3 % 3 - 1) / 3.0, (n / 9 - 1) / 3.0};
    points[n] = yw_v4(yw_f3(yw_dmad(center, side, offset)));
  }
  yw_shape_distance_many(s->shape, 27, points, distance);
  for (int n = 0; n < 27; ++n) share += clamp01(0.5 - 3.0 * (double)distance[n] / side);
  cube->volume = (float)(share / 27.0 * side * side * side);
}

// The matter in a cube at the surface: a layer between the surface and the other end of the chord.
static void measure_cube(const sampler* s, yw_matter_cube* cube, double distance, yw_dvec3 normal) {
  double side = s->matter->side;
  yw_dvec3 center = yw_matter_center(s->matter, cube);
  yw_dvec3 surface = yw_dmad(center, -distance, normal);
  double thickness = chord(s, surface, yw_dscale(normal, -1.0));
  double front = clamp01(0.5 - distance / side);
  double back = clamp01(0.5 - (distance + thickness) / side);
  double deep = fmax(0.5 * fmin(thickness, side), -distance);
  cube->inside = yw_f3(yw_dmad(center, -distance - fmin(deep, 0.5 * thickness), normal));
  cube->thickness = thickness > 0.0 ? (float)thickness : INFINITY;
  cube->volume = (float)((front - back) * side * side * side);
  if (thickness > 0.0 && thickness < side && is_rod(s, cube->inside, normal, thickness)) {
    measure_rod(s, cube, center);
  }
  // The distance is zero, and nothing behind it.
  bool empty = thickness == 0.0 && fabs(depth_at(s, surface, 0.0, normal)) < FIRST_STEP * side;
  if (thickness == 0.0 || thickness > 2.0 * side) measure_parts(s, cube, center, empty);
}

static void measure_batch(void* context, int32_t block, int32_t worker) {
  (void)worker;
  sampler* s = context;
  double side = s->matter->side, reach = 0.8661 * side;
  int32_t start = block * BATCH, count = batch_size(s, start);
  yw_vec4 points[BATCH] = {{0}}, normals[BATCH];
  float* distance = s->distance + start;
  gather_centers(s, s->cubes.items + start, count, points);
  yw_shape_distance_normal_many(s->shape, count, points, distance, normals);
  for (int32_t n = 0; n < count; ++n) {
    yw_matter_cube* cube = &s->cubes.items[start + n];
    if ((double)distance[n] < -reach) {
      cube->volume = (float)(side * side * side);
      cube->inside = yw_xyz(points[n]);
    } else {
      measure_cube(s, cube, (double)distance[n], yw_d3(yw_xyz(normals[n])));
    }
  }
}

static bool measure_all(sampler* s) {
  yw_matter* m = s->matter;
  int32_t kept = 0;
  if (!each_batch(s, measure_batch)) return false;
  for (int32_t n = 0; n < s->cubes.count; ++n) {
    yw_matter_cube cube = s->cubes.items[n];
    // A cube around a thin layer holds both of its sides.
    double sides = (double)cube.thickness < m->side ? 2.0 : 1.0;
    if (fabsf(s->distance[n]) <= 0.5f * (float)m->side) m->area += sides * m->side * m->side;
    m->volume += (double)cube.volume;
    if (cube.volume > 0.0f) s->cubes.items[kept++] = cube;
  }
  s->cubes.count = kept;
  return true;
}

yw_status yw_matter_create(const yw_allocator* mem, const yw_shape* shape, yw_aabb bounds,
                           int32_t num_cubes, yw_tasks* tasks, yw_matter* out) {
  yw_vec3 size = yw_sub(bounds.upper, bounds.lower);
  yw_matter m = {.mem = yw_mem_or_default(mem), .origin = yw_d3(bounds.lower)};
  m.longest = m.side = (double)fmaxf(size.x, fmaxf(size.y, size.z));
  sampler s = {.shape = shape, .matter = &m, .tasks = tasks};
  *out = (yw_matter){0};
  bool ready = YW_LIST_RESERVE(&m.mem, &s.cubes, 1);
  if (ready) s.cubes.items[s.cubes.count++] = (yw_matter_cube){.thickness = INFINITY};
  // Each level has four to eight times as many cubes.
  for (int level = 0; ready && level < MAX_LEVEL && s.cubes.count < num_cubes / 4; ++level) {
    ready = split_all(&s);
  }
  if (ready) ready = measure_all(&s);
  YW_LIST_FREE(&m.mem, &s.next);
  yw_mem_free(&m.mem, s.distance);
  m.count = s.cubes.count;
  m.cubes = s.cubes.items;
  if (ready) {
    *out = m;
  } else {
    yw_matter_free(&m);
  }
  return ready ? YW_OK : YW_ERR_MEMORY;
}

void yw_matter_free(yw_matter* matter) {
  yw_mem_free(&matter->mem, matter->cubes);
  *matter = (yw_matter){0};
}

// Thickness ---------------------------------------------------------------------------------------

typedef struct weighed {
  float thickness, weight;
} weighed;

static int compare_thickness(const void* a, const void* b) {
  float x = ((const weighed*)a)->thickness, y = ((const weighed*)b)->thickness;
  return x < y ? -1 : x > y;
}

// Of the surface, or of the matter: behind a patch of surface it reaches half a chord deep.
double yw_matter_thickness(const yw_matter* m, double share, yw_thickness_of of) {
  double fallback = m->longest, all = 0.0, sum = 0.0;
  weighed* list = YW_NEW_ARRAY(&m->mem, weighed, m->count + 1);
  if (list == NULL) return fallback;
  int32_t count = 0;
  for (int32_t n = 0; n < m->count; ++n) {
    float thickness = m->cubes[n].thickness;
    if (!(thickness < INFINITY)) continue;
    list[count] = (weighed){thickness, of == YW_THICKNESS_OF_AREA ? 1.0f : thickness};
    all += (double)list[count++].weight;
  }
  qsort(list, (size_t)count, sizeof *list, compare_thickness);
  for (int32_t n = 0; n < count; ++n) {
    sum += (double)list[n].weight;
    fallback = (double)list[n].thickness;
    if (sum >= share * all) break;
  }
  yw_mem_free(&m->mem, list);
  return fallback;
}
