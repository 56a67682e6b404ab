// SPDX-License-Identifier: MIT
#include "wrap.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// In mean radii of the balls: side of the cells, and how far a ball acts.
#define CELL 0.9f
#define REACH 3.2f
// More balls than this get larger cells, so that a skin takes a small part of a step. Tuned on a
// box of 110,592 balls, which takes 20 times as long with the others.
#define MANY 20000
#define COARSE_CELL 1.8f
// In cells: how far balls act at least where cells are coarse.
#define MIN_REACH 1.75f
#define MAX_CELLS 3000000
#define SUMS 5

typedef struct grid {
  yw_vec3 origin;
  float cell, reach;  // m
  int32_t n[3];       // points along each axis
} grid;

static size_t point_at(const grid* g, int32_t x, int32_t y, int32_t z) {
  return ((size_t)z * (size_t)g->n[1] + (size_t)y) * (size_t)g->n[0] + (size_t)x;
}

static yw_vec3 place_of(const grid* g, int32_t x, int32_t y, int32_t z) {
  return yw_v3(g->origin.x + g->cell * (float)x, g->origin.y + g->cell * (float)y,
               g->origin.z + g->cell * (float)z);
}

// A grid around the balls, with coarser cells where there would be too many. False: no balls.
static bool lay_grid(int32_t count, const yw_vec3* positions, const float* radii, grid* out) {
  yw_aabb box = yw_aabb_empty();
  double sum = 0.0, used = 0.0;
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_is_finite3(positions[i]) || !(radii[i] > 0.0f)) continue;
    box = yw_aabb_grow(box, positions[i]);
    sum += (double)radii[i];
    used += 1.0;
  }
  if (!(used > 0.0)) return false;
  float radius = (float)(sum / used);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  out->cell = (used > MANY ? COARSE_CELL : CELL) * radius;
  for (double cells = INFINITY; cells > MAX_CELLS; out->cell *= 1.1f) {
    float margin = REACH * radius + 2.0f * out->cell;
    out->origin = yw_sub(box.lower, yw_v3(margin, margin, margin));
    const float sides[3] = {side.x, side.y, side.z};
    cells = 1.0;
    for (int k = 0; k < 3; ++k) {
      double along = ceil((double)(sides[k] + 2.0f * margin) / (double)out->cell) + 1.0;
      out->n[k] = (int32_t)fmin(along, 1e6);
      cells *= along;
    }
    out->reach = fmaxf(REACH * radius, MIN_REACH * out->cell);
    if (cells <= MAX_CELLS) return true;
  }
  return true;
}

static bool reserve_grid(wrap* s, const grid* g) {
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  if (cells > s->num_cells) {
    yw_mem_free(NULL, s->sums);
    yw_mem_free(NULL, s->distance);
    yw_mem_free(NULL, s->nearest);
    yw_mem_free(NULL, s->weight);
    yw_mem_free(NULL, s->vertex);
    s->sums = YW_NEW_ARRAY(NULL, float, SUMS* cells);
    s->distance = YW_NEW_ARRAY(NULL, float, cells);
    s->nearest = YW_NEW_ARRAY(NULL, int32_t, cells);
    s->weight = YW_NEW_ARRAY(NULL, float, cells);
    s->vertex = YW_NEW_ARRAY(NULL, int32_t, cells);
    bool good = s->sums && s->distance && s->nearest && s->weight && s->vertex;
    s->num_cells = good ? cells : 0;
  }
  if (s->num_cells < cells) return false;
  memset(s->sums, 0, SUMS * cells * sizeof *s->sums);
  memset(s->weight, 0, cells * sizeof *s->weight);
  return true;
}

// Adds a ball to the grid points that it reaches.
static void add_ball(wrap* s, const grid* g, int32_t ball, yw_vec3 p, float radius, float reach) {
  const float at[3] = {p.x - g->origin.x, p.y - g->origin.y, p.z - g->origin.z};
  int32_t low[3], high[3];
  for (int k = 0; k < 3; ++k) {
    low[k] = (int32_t)ceilf((at[k] - reach) / g->cell);
    high[k] = (int32_t)floorf((at[k] + reach) / g->cell);
    if (low[k] < 0) low[k] = 0;
    if (high[k] > g->n[k] - 1) high[k] = g->n[k] - 1;
  }
  float inverse = 1.0f / (reach * reach);
  for (int32_t z = low[2]; z <= high[2]; ++z) {
    for (int32_t y = low[1]; y <= high[1]; ++y) {
      for (int32_t x = low[0]; x <= high[0]; ++x) {
        float t = 1.0f - yw_length2(yw_sub(place_of(g, x, y, z), p)) * inverse;
        if (t <= 0.0f) continue;
        float w = t * t * t;
        size_t i = point_at(g, x, y, z);
        float* sums = s->sums + SUMS * i;
        if (w > s->weight[i]) s->weight[i] = w, s->nearest[i] = ball;
        sums[0] += w;
        sums[1] += w * p.x;
        sums[2] += w * p.y;
        sums[3] += w * p.z;
        sums[4] += w * radius;
      }
    }
  }
}

static void measure(wrap* s, const grid* g) {
  for (int32_t z = 0; z < g->n[2]; ++z) {
    for (int32_t y = 0; y < g->n[1]; ++y) {
      for (int32_t x = 0; x < g->n[0]; ++x) {
        size_t i = point_at(g, x, y, z);
        const float* sums = s->sums + SUMS * i;
        if (!(sums[0] > 0.0f)) {
          s->distance[i] = g->cell;
          continue;
        }
        float inverse = 1.0f / sums[0];
        yw_vec3 mean = {sums[1] * inverse, sums[2] * inverse, sums[3] * inverse};
        s->distance[i] = yw_distance(place_of(g, x, y, z), mean) - sums[4] * inverse;
      }
    }
  }
}

static bool reserve_vertices(wrap* s, size_t count) {
  if (count <= s->vertex_capacity) return true;
  size_t capacity = count + count / 2 + 1024;
  yw_vec3* positions = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  yw_vec3* normals = YW_NEW_ARRAY(NULL, yw_vec3, capacity);
  int32_t* owners = YW_NEW_ARRAY(NULL, int32_t, capacity);
  if (positions && normals && owners) {
    if (s->num_vertices > 0) {
      memcpy(positions, s->positions, (size_t)s->num_vertices * sizeof *positions);
      memcpy(owners, s->owners, (size_t)s->num_vertices * sizeof *owners);
    }
    yw_mem_free(NULL, s->positions);
    yw_mem_free(NULL, s->normals);
    yw_mem_free(NULL, s->owners);
    s->positions = positions;
    s->normals = normals;
    s->owners = owners;
    s->vertex_capacity = capacity;
    return true;
  }
  yw_mem_free(NULL, positions);
  yw_mem_free(NULL, normals);
  yw_mem_free(NULL, owners);
  return false;
}

static bool reserve_triangles(wrap* s, size_t count) {
  if (count <= s->triangle_capacity) return true;
  size_t capacity = count + count / 2 + 1024;
  int32_t* triangles = YW_NEW_ARRAY(NULL, int32_t, 3 * capacity);
  if (!triangles) return false;
  if (s->num_triangles > 0) {
    memcpy(triangles, s->triangles, 3 * (size_t)s->num_triangles * sizeof *triangles);
  }
  yw_mem_free(NULL, s->triangles);
  s->triangles = triangles;
  s->triangle_capacity = capacity;
  return true;
}

// The vertex of a cell: the mean of where its edges pass through the surface. False: none do.
static bool cell_vertex(const wrap* s, const grid* g, int32_t x, int32_t y, int32_t z,
                        yw_vec3* out) {
  float d[8];
  for (int k = 0; k < 8; ++k) {
    d[k] = s->distance[point_at(g, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2))];
  }
  yw_vec3 sum = {0, 0, 0};
  float count = 0.0f;
  for (int a = 0; a < 8; ++a) {
    for (int axis = 0; axis < 3; ++axis) {
      int b = a | 1 << axis;
      if (b == a || (d[a] < 0.0f) == (d[b] < 0.0f)) continue;
      float t = d[a] / (d[a] - d[b]);
      float p[3] = {(float)(a & 1), (float)(a >> 1 & 1), (float)(a >> 2)};
      p[axis] += t;
      sum = yw_add(sum, yw_v3(p[0], p[1], p[2]));
      count += 1.0f;
    }
  }
  if (!(count > 0.0f)) return false;
  *out = yw_mad(place_of(g, x, y, z), g->cell / count, sum);
  return true;
}

// The ball that counts most at the corners of a cell.
static int32_t owner_of(const wrap* s, const grid* g, int32_t x, int32_t y, int32_t z) {
  size_t best = point_at(g, x, y, z);
  for (int k = 1; k < 8; ++k) {
    size_t i = point_at(g, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
    if (s->weight[i] > s->weight[best]) best = i;
  }
  return s->nearest[best];
}

static bool make_vertices(wrap* s, const grid* g) {
  for (int32_t z = 0; z + 1 < g->n[2]; ++z) {
    for (int32_t y = 0; y + 1 < g->n[1]; ++y) {
      for (int32_t x = 0; x + 1 < g->n[0]; ++x) {
        yw_vec3 p;
        int32_t* own = &s->vertex[point_at(g, x, y, z)];
        *own = -1;
        if (!cell_vertex(s, g, x, y, z, &p)) continue;
        if (!reserve_vertices(s, (size_t)s->num_vertices + 1)) return false;
        s->positions[s->num_vertices] = p;
        s->owners[s->num_vertices] = owner_of(s, g, x, y, z);
        *own = s->num_vertices++;
      }
    }
  }
  return true;
}

static void add_triangle(wrap* s, int32_t a, int32_t b, int32_t c) {
  int32_t* t = s->triangles + 3 * (size_t)s->num_triangles++;
  t[0] = a, t[1] = b, t[2] = c;
}

// Every edge of the grid that passes through the surface is ringed by four cells: two triangles.
static bool make_quads(wrap* s, const grid* g) {
  const size_t step[3] = {1, (size_t)g->n[0], (size_t)g->n[0] * (size_t)g->n[1]};
  for (int32_t z = 1; z + 1 < g->n[2]; ++z) {
    for (int32_t y = 1; y + 1 < g->n[1]; ++y) {
      for (int32_t x = 1; x + 1 < g->n[0]; ++x) {
        size_t i = point_at(g, x, y, z);
        for (int axis = 0; axis < 3; ++axis) {
          bool inside = s->distance[i] < 0.0f;
          if (inside == (s->distance[i + step[axis]] < 0.0f)) continue;
          if (!reserve_triangles(s, (size_t)s->num_triangles + 2)) return false;
          size_t u = step[(axis + 1) % 3], v = step[(axis + 2) % 3];
          int32_t q[4] = {s->vertex[i - u - v], s->vertex[i - v], s->vertex[i], s->vertex[i - u]};
          if (!inside) {
            int32_t swap = q[1];
            q[1] = q[3], q[3] = swap;
          }
          add_triangle(s, q[0], q[1], q[2]);
          add_triangle(s, q[0], q[2], q[3]);
        }
      }
    }
  }
  return true;
}

static void make_normals(wrap* s) {
  memset(s->normals, 0, (size_t)s->num_vertices * sizeof *s->normals);
  for (int32_t t = 0; t < s->num_triangles; ++t) {
    const int32_t* v = s->triangles + 3 * (size_t)t;
    yw_vec3 a = yw_sub(s->positions[v[1]], s->positions[v[0]]);
    yw_vec3 b = yw_sub(s->positions[v[2]], s->positions[v[0]]);
    yw_vec3 n = yw_cross(a, b);
    for (int k = 0; k < 3; ++k) s->normals[v[k]] = yw_add(s->normals[v[k]], n);
  }
  for (int32_t i = 0; i < s->num_vertices; ++i) {
    s->normals[i] = yw_normalize_or(s->normals[i], yw_v3(0, 1, 0));
  }
}

bool wrap_make(wrap* s, int32_t count, const yw_vec3* positions, const float* radii) {
  grid g;
  s->num_vertices = s->num_triangles = 0;
  if (!lay_grid(count, positions, radii, &g)) return true;
  if (!reserve_grid(s, &g)) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_is_finite3(positions[i]) || !(radii[i] > 0.0f)) continue;
    add_ball(s, &g, i, positions[i], radii[i], fmaxf(g.reach, 2.0f * radii[i]));
  }
  measure(s, &g);
  if (!make_vertices(s, &g) || !make_quads(s, &g)) return false;
  if (s->num_vertices > 0) make_normals(s);
  return true;
}

void wrap_free(wrap* s) {
  yw_mem_free(NULL, s->positions);
  yw_mem_free(NULL, s->normals);
  yw_mem_free(NULL, s->triangles);
  yw_mem_free(NULL, s->owners);
  yw_mem_free(NULL, s->sums);
  yw_mem_free(NULL, s->distance);
  yw_mem_free(NULL, s->nearest);
  yw_mem_free(NULL, s->weight);
  yw_mem_free(NULL, s->vertex);
  *s = (wrap){0};
}
