// SPDX-License-Identifier: MIT
// Every vertex moves to a quadratic height field fitted to the surface around it (moving least
// squares). A quadratic keeps the curvature of what is round, so balls do not shrink; rows of a
// lattice are shorter than the fit is wide. Neighbours are found along the surface and
// only where it faces the same way: the two sides of a thin part do not know of each other.
#include "render/skin/skin_fair.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Of the fits, in radii of a ball: rows of a lattice are two radii apart, on slopes up to four, and
// what sticks out after flow makes bumps of up to six. What is longer may be the shape.
#define REACH 4.0f
#define WIDE_REACH 6.5f
// Wide fits take away what is low, and little of what is higher than this, in radii: that has a
// shape of its own, and would be cut off.
#define LOW 0.25f
// Every so many vertices take part in fits: enough for six numbers, at a third of the time.
#define STRIDE 3
// Vertices whose normals turn away by more than this cosine are on another side.
#define SAME_SIDE 0.2f
// A vertex moves by at most this fraction of the radius: half of a step.
#define MOST 0.9f
#define PASSES 2
#define WIDE_PASSES 1
// In folds few neighbours face the same way, and vertices without a fit would stay behind as
// pimples: the ways of all are smoothed so often.
#define WAY_PASSES 4
// Shares of the way to the mean of the neighbours, and how often: waves longer than ten edges keep
// their height to 1 %.
#define UNFOLD_IN 0.6f
#define UNFOLD_OUT -0.62f
#define UNFOLD_PASSES 6
// Fewer neighbours do not determine a quadratic.
#define MIN_NEIGHBOURS 30
#define TERMS 6

typedef struct fairing {
  yw_tri_mesh* mesh;
  const float* strength;  ///< of vertices; NULL: 1
  float reach, low;
  int32_t* first;  ///< neighbours of vertex i: first[i] to first[i + 1] - 1
  int32_t* ends;
  yw_vec3 *start, *normals, *moved;
  float* areas;
  int32_t *stamps, *queue;
} fairing;

// Neighbours of every vertex along edges; each appears once for a closed mesh.
static void connect(fairing* f) {
  const yw_tri_mesh* mesh = f->mesh;
  size_t corners = 3 * (size_t)mesh->num_triangles;
  for (size_t n = 0; n < corners; ++n) ++f->first[mesh->triangles[n] + 1];
  for (int32_t i = 0; i < mesh->num_vertices; ++i) f->first[i + 1] += f->first[i];
  for (size_t n = 0; n < corners; ++n) {
    int32_t next = mesh->triangles[n % 3 == 2 ? n - 2 : n + 1];
    f->ends[f->first[mesh->triangles[n]]++] = next;
  }
  // Filling moved every start to its end; move them back.
  for (int32_t i = mesh->num_vertices; i > 0; --i) f->first[i] = f->first[i - 1];
  f->first[0] = 0;
}

static void measure_normals(fairing* f) {
  const yw_tri_mesh* mesh = f->mesh;
  memset(f->normals, 0, sizeof *f->normals * (size_t)mesh->num_vertices);
  memset(f->areas, 0, sizeof *f->areas * (size_t)mesh->num_vertices);
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
    float area = yw_length(normal);
    for (int k = 0; k < 3; ++k) {
      f->normals[v[k]] = yw_add(f->normals[v[k]], normal);
      f->areas[v[k]] += area;
    }
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    f->normals[i] = yw_normalize_or(f->normals[i], yw_v3(0, 0, 0));
  }
}

// The vertices around `center`, itself first, into the queue; their number.
static int32_t gather(fairing* f, int32_t center, int32_t stamp) {
  const yw_vec3* x = f->mesh->positions;
  int32_t head = 0, tail = 0;
  f->stamps[center] = stamp;
  f->queue[tail++] = center;
  while (head < tail) {
    int32_t at = f->queue[head++];
    for (int32_t n = f->first[at]; n < f->first[at + 1]; ++n) {
      int32_t next = f->ends[n];
      if (f->stamps[next] == stamp) continue;
      f->stamps[next] = stamp;
      if (yw_length2(yw_sub(x[next], x[center])) > f->reach * f->reach) continue;
      if (yw_dot(f->normals[next], f->normals[center]) < SAME_SIDE) continue;
      f->queue[tail++] = next;
    }
  }
  return tail;
}

static float weight_of(const fairing* f, int32_t center, int32_t other) {
  const yw_vec3* x = f->mesh->positions;
  float q = yw_length2(yw_sub(x[other], x[center])) / (f->reach * f->reach);
  return f->areas[other] * (1.0f - q) * (1.0f - q);
}

// Solves the normal equations by Gaussian elimination; they are symmetric and not negative. Returns
// the constant term, 0 if the neighbours do not determine it.
static double solve(double m[TERMS][TERMS + 1]) {
  for (int k = TERMS - 1; k >= 0; --k) {
    if (!(m[k][k] > 1e-9 * m[0][0])) return 0.0;
    for (int i = 0; i < k; ++i) {
      double share = m[i][k] / m[k][k];
      for (int j = 0; j <= TERMS; ++j) m[i][j] -= share * m[k][j];
    }
  }
  return m[0][TERMS] / m[0][0];
}

// Height of the fit over the vertex, along *up.
static float fitted_height(const fairing* f, int32_t center, int32_t count, yw_vec3* up) {
  const yw_vec3* x = f->mesh->positions;
  yw_vec3 sum = {0, 0, 0};
  for (int32_t n = 0; n < count; ++n) {
    if (f->queue[n] % STRIDE != 0) continue;
    sum = yw_mad(sum, weight_of(f, center, f->queue[n]), f->normals[f->queue[n]]);
  }
  *up = yw_normalize_or(sum, f->normals[center]);
  yw_vec3 side = fabsf(up->x) < 0.6f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0);
  yw_vec3 u = yw_normalize_or(yw_cross(*up, side), yw_v3(0, 0, 0)), v = yw_cross(*up, u);
  double m[TERMS][TERMS + 1] = {{0}};
  for (int32_t n = 0; n < count; ++n) {
    if (f->queue[n] % STRIDE != 0) continue;
    yw_vec3 d = yw_scale(yw_sub(x[f->queue[n]], x[center]), 1.0f / f->reach);
    double a = (double)yw_dot(d, u), b = (double)yw_dot(d, v), height = (double)yw_dot(d, *up);
    double w = (double)weight_of(f, center, f->queue[n]);
    const double terms[TERMS + 1] = {1.0, a, b, a * a, a * b, b * b, height};
    for (int i = 0; i < TERMS; ++i) {
      for (int j = 0; j <= TERMS; ++j) m[i][j] += w * terms[i] * terms[j];
    }
  }
  return f->reach * (float)solve(m);
}

static void run_pass(fairing* f, float most, int32_t first_stamp) {
  yw_tri_mesh* mesh = f->mesh;
  measure_normals(f);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 up;
    f->moved[i] = mesh->positions[i];
    float strength = f->strength ? f->strength[i] : 1.0f;
    if (!(strength > 0.0f)) continue;
    int32_t count = gather(f, i, first_stamp + i);
    if (count < MIN_NEIGHBOURS) continue;
    float height = fitted_height(f, i, count, &up), high = height / f->low;
    height *= strength / (1.0f + high * high);
    yw_vec3 offset = yw_sub(yw_mad(mesh->positions[i], height, up), f->start[i]);
    float length = yw_length(offset);
    if (!isfinite(length)) continue;
    f->moved[i] = yw_mad(f->start[i], length > most ? most / length : 1.0f, offset);
  }
  memcpy(mesh->positions, f->moved, sizeof *f->moved * (size_t)mesh->num_vertices);
}

// Every vertex goes half its own way and half the mean of its neighbours'.
static void smooth_ways(fairing* f) {
  yw_tri_mesh* mesh = f->mesh;
  for (int pass = 0; pass < WAY_PASSES; ++pass) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      yw_vec3 own = yw_sub(mesh->positions[i], f->start[i]), sum = {0, 0, 0};
      int32_t count = f->first[i + 1] - f->first[i];
      for (int32_t n = f->first[i]; n < f->first[i + 1]; ++n) {
        sum = yw_add(sum, yw_sub(mesh->positions[f->ends[n]], f->start[f->ends[n]]));
      }
      yw_vec3 mean = count > 0 ? yw_scale(sum, 1.0f / (float)count) : own;
      f->moved[i] = yw_add(f->start[i], yw_lerp(own, mean, 0.5f));
    }
    memcpy(mesh->positions, f->moved, sizeof *f->moved * (size_t)mesh->num_vertices);
  }
}

// Moves every vertex by `share` of the way to the mean of its neighbours.
static void pull_together(fairing* f, float share) {
  yw_tri_mesh* mesh = f->mesh;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 own = mesh->positions[i], sum = {0, 0, 0};
    int32_t count = f->first[i + 1] - f->first[i];
    for (int32_t n = f->first[i]; n < f->first[i + 1]; ++n) {
      sum = yw_add(sum, mesh->positions[f->ends[n]]);
    }
    yw_vec3 mean = count > 0 ? yw_scale(sum, 1.0f / (float)count) : own;
    float strength = f->strength ? f->strength[i] : 1.0f;
    f->moved[i] = yw_lerp(own, mean, share * strength);
  }
  memcpy(mesh->positions, f->moved, sizeof *f->moved * (size_t)mesh->num_vertices);
}

// Vertices that voxels put close together fold over when they move, and folds look like pits. In
// and out again (Taubin 1995), which only what is as short as edges feels.
static void unfold(fairing* f) {
  for (int pass = 0; pass < UNFOLD_PASSES; ++pass) {
    pull_together(f, UNFOLD_IN);
    pull_together(f, UNFOLD_OUT);
  }
}

// Six times the enclosed volume.
static double volume6(const yw_tri_mesh* mesh) {
  double sum = 0.0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    // Relative to one vertex: far from the origin the terms would cancel.
    yw_vec3 o = mesh->positions[0];
    yw_vec3 a = yw_sub(mesh->positions[v[0]], o), b = yw_sub(mesh->positions[v[1]], o);
    sum += (double)yw_dot(a, yw_cross(b, yw_sub(mesh->positions[v[2]], o)));
  }
  return sum;
}

// Moves all vertices along their normals until the volume is what it was.
static void restore_volume(fairing* f, double wanted) {
  yw_tri_mesh* mesh = f->mesh;
  for (int step = 0; step < 2; ++step) {
    double area2 = 0.0;
    measure_normals(f);
    // Every triangle counts for three vertices.
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      area2 += (double)(f->areas[i] * (f->strength ? f->strength[i] : 1.0f)) / 3.0;
    }
    if (!(area2 > 0.0)) return;
    float distance = (float)((wanted - volume6(mesh)) / (3.0 * area2));
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      float share = f->strength ? f->strength[i] : 1.0f;
      mesh->positions[i] = yw_mad(mesh->positions[i], distance * share, f->normals[i]);
    }
  }
}

// In small bodies a wide fit is no wider than half of them.
static float wide_reach(const yw_tri_mesh* mesh, float radius) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < mesh->num_vertices; ++i) box = yw_aabb_grow(box, mesh->positions[i]);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  float half = 0.5f * fmaxf(side.x, fmaxf(side.y, side.z));
  return yw_clampf(half, REACH * radius, WIDE_REACH * radius);
}

yw_status skin_fair(yw_tri_mesh* mesh, float radius, const float* strength) {
  size_t count = (size_t)mesh->num_vertices;
  if (count == 0) return YW_OK;
  fairing f = {.mesh = mesh, .strength = strength, .reach = REACH * radius, .low = INFINITY};
  f.first = YW_NEW_ARRAY(NULL, int32_t, count + 1);
  f.ends = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)mesh->num_triangles);
  f.start = YW_NEW_ARRAY(NULL, yw_vec3, count);
  f.normals = YW_NEW_ARRAY(NULL, yw_vec3, count);
  f.moved = YW_NEW_ARRAY(NULL, yw_vec3, count);
  f.areas = YW_NEW_ARRAY(NULL, float, count);
  f.stamps = YW_NEW_ARRAY(NULL, int32_t, count);
  f.queue = YW_NEW_ARRAY(NULL, int32_t, count);
  bool made =
      f.first && f.ends && f.start && f.normals && f.moved && f.areas && f.stamps && f.queue;
  if (made) {
    double volume = volume6(mesh);
    memcpy(f.start, mesh->positions, sizeof *f.start * count);
    connect(&f);
    for (int pass = 0; pass < PASSES + WIDE_PASSES; ++pass) {
      memset(f.stamps, 0, sizeof *f.stamps * count);
      if (pass == PASSES) f.reach = wide_reach(mesh, radius), f.low = LOW * radius;
      run_pass(&f, MOST * radius, 1);
    }
    smooth_ways(&f);
    unfold(&f);
    restore_volume(&f, volume);
  }
  yw_mem_free(NULL, f.first);
  yw_mem_free(NULL, f.ends);
  yw_mem_free(NULL, f.start);
  yw_mem_free(NULL, f.normals);
  yw_mem_free(NULL, f.moved);
  yw_mem_free(NULL, f.areas);
  yw_mem_free(NULL, f.stamps);
  yw_mem_free(NULL, f.queue);
  return made ? YW_OK : YW_ERR_MEMORY;
}
