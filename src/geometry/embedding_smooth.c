// SPDX-License-Identifier: MIT
// A point follows the tet vertices around it, each with its local affine map:
//
//   x(X) = sum_i w_i(X) (x_i + (F_i + F) (X - X_i) / 2)      F = sum_i w_i F_i
//
//   X_i, x_i  vertex at rest and now      F_i  deformation gradient at vertex i: mean of its tets
//   w_i       C2 kernels (Wendland 1995) of the distance |X - X_i|, divided by their sum
//
// The mean of both gradients is the trapezoidal rule, so that not only affine motion is reproduced
// but also bending, up to third order; the kernels make the motion as smooth as they are. Points
// outside of the tets are extrapolated the same way, with kernels that widen with the distance.
#include "geometry/embedding_smooth.h"

#include "geometry/tet_math.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Radius of a vertex's kernel over the mean length of its edges: wide enough that the kernels of a
// tet's four vertices overlap everywhere in it.
#define KERNEL_RADIUS 1.6
// How much the squared radius grows with the squared distance of a point from the tets. It must
// exceed 1, or kernels would not reach points far outside.
#define OUTSIDE_GROWTH 4.0
// Below this sum of kernels (tets like needles) a point keeps the weights of its nearest tet.
#define MIN_SUM 1e-6

/// Vertices joined by edges; an edge appears once for each of its tets.
typedef struct neighbourhood {
  int32_t* first;  ///< num_vertices + 1
  int32_t* ends;
  float* radius;  ///< of a vertex's kernel, m
} neighbourhood;

/// The search from one point.
typedef struct link_search {
  const yw_tet_mesh* tets;
  neighbourhood near;
  int32_t* stamps;  ///< per vertex: the point that last visited it, plus one
  int32_t* queue;
  YW_LIST(yw_surface_link) links;
} link_search;

// Neighbourhoods ----------------------------------------------------------------------------------

static void neighbourhood_free(const yw_allocator* mem, neighbourhood* near) {
  yw_mem_free(mem, near->first);
  yw_mem_free(mem, near->ends);
  yw_mem_free(mem, near->radius);
}

static void fill_ends(const yw_tet_mesh* tets, neighbourhood* near) {
  for (size_t n = 0; n < 4 * (size_t)tets->num_tets; ++n) near->first[tets->tets[n] + 1] += 3;
  for (int32_t i = 0; i < tets->num_vertices; ++i) near->first[i + 1] += near->first[i];
  for (int32_t t = 0; t < tets->num_tets; ++t) {
    const int32_t* v = tets->tets + 4 * (size_t)t;
    for (int a = 0; a < 4; ++a) {
      for (int k = 1; k < 4; ++k) near->ends[near->first[v[a]]++] = v[(a + k) % 4];
    }
  }
  // Filling moved every start to its end; move them back.
  for (int32_t i = tets->num_vertices; i > 0; --i) near->first[i] = near->first[i - 1];
  near->first[0] = 0;
}

static void measure_radii(const yw_tet_mesh* tets, neighbourhood* near) {
  for (int32_t i = 0; i < tets->num_vertices; ++i) {
    int32_t begin = near->first[i], end = near->first[i + 1];
    double sum = 0.0;
    for (int32_t n = begin; n < end; ++n) {
      yw_dvec3 a = yw_d3(tets->positions[i]), b = yw_d3(tets->positions[near->ends[n]]);
      sum += yw_dlength(yw_dsub(a, b));
    }
    near->radius[i] = end > begin ? (float)(KERNEL_RADIUS * sum / (end - begin)) : 0.0f;
  }
}

static bool neighbourhood_create(const yw_allocator* mem, const yw_tet_mesh* tets,
                                 neighbourhood* out) {
  out->first = YW_NEW_ARRAY(mem, int32_t, (size_t)tets->num_vertices + 1);
  out->ends = YW_NEW_ARRAY(mem, int32_t, 12 * (size_t)tets->num_tets);
  out->radius = YW_NEW_ARRAY(mem, float, tets->num_vertices);
  if (!out->first || !out->ends || !out->radius) return false;
  fill_ends(tets, out);
  measure_radii(tets, out);
  return true;
}

// Links -------------------------------------------------------------------------------------------

// Wendland's C2 kernel, 1 at the vertex and 0 from the radius on.
static double kernel(double distance, double radius) {
  double q = distance / radius;
  if (!(q < 1.0)) return 0.0;
  double m = 1.0 - q, m2 = m * m;
  return m2 * m2 * (4.0 * q + 1.0);
}

// Visits the vertices whose kernels reach the point, from one to the next along edges.
static bool collect_links(link_search* s, const yw_allocator* mem, yw_vec3 point, int32_t number,
                          const yw_embedded_point* seed, double outside, double* sum) {
  int32_t head = 0, tail = 0;
  for (int k = 0; k < 4; ++k) {
    int32_t v = seed->vertices[k];
    if (s->stamps[v] == number + 1) continue;
    s->stamps[v] = number + 1;
    s->queue[tail++] = v;
  }
  *sum = 0.0;
  while (head < tail) {
    int32_t v = s->queue[head++];
    double base = (double)s->near.radius[v];
    double radius = sqrt(base * base + OUTSIDE_GROWTH * outside * outside);
    double weight = kernel(yw_dlength(yw_dsub(yw_d3(point), yw_d3(s->tets->positions[v]))), radius);
    if (!(weight > 0.0)) continue;
    if (!YW_LIST_RESERVE(mem, &s->links, 1)) return false;
    s->links.items[s->links.count++] = (yw_surface_link){v, (float)weight};
    *sum += weight;
    for (int32_t n = s->near.first[v]; n < s->near.first[v + 1]; ++n) {
      int32_t next = s->near.ends[n];
      if (s->stamps[next] == number + 1) continue;
      s->stamps[next] = number + 1;
      s->queue[tail++] = next;
    }
  }
  return true;
}

static bool link_point(link_search* s, const yw_allocator* mem, yw_vec3 point, int32_t number,
                       const yw_embedded_point* seed, double outside) {
  int32_t begin = s->links.count;
  double sum;
  if (!collect_links(s, mem, point, number, seed, outside, &sum)) return false;
  if (sum > MIN_SUM) {
    for (int32_t n = begin; n < s->links.count; ++n) {
      s->links.items[n].weight = (float)((double)s->links.items[n].weight / sum);
    }
    return true;
  }
  s->links.count = begin;
  if (!YW_LIST_RESERVE(mem, &s->links, 4)) return false;
  for (int k = 0; k < 4; ++k) {
    s->links.items[s->links.count++] = (yw_surface_link){seed->vertices[k], seed->weights[k]};
  }
  return true;
}

static bool link_points(link_search* s, const yw_vec3* points, const yw_embedding* seeds,
                        yw_smooth_embedding* out) {
  for (int32_t i = 0; i < out->count; ++i) {
    out->first[i] = s->links.count;
    double outside = (double)seeds->outside[i];
    if (!link_point(s, &out->mem, points[i], i, &seeds->points[i], outside)) return false;
  }
  out->first[out->count] = s->links.count;
  return true;
}

yw_status yw_smooth_embedding_create(const yw_allocator* mem, const yw_tet_mesh* tets,
                                     const yw_vec3* points, const yw_embedding* seeds,
                                     yw_smooth_embedding* out, yw_error* error) {
  yw_smooth_embedding made = {.mem = yw_mem_or_default(mem), .count = seeds->count};
  link_search s = {.tets = tets};
  s.stamps = YW_NEW_ARRAY(&made.mem, int32_t, tets->num_vertices);
  s.queue = YW_NEW_ARRAY(&made.mem, int32_t, tets->num_vertices);
  made.first = YW_NEW_ARRAY(&made.mem, int32_t, (size_t)made.count + 1);
  bool done = s.stamps && s.queue && made.first && neighbourhood_create(&made.mem, tets, &s.near) &&
              link_points(&s, points, seeds, &made);
  made.links = s.links.items;
  yw_mem_free(&made.mem, s.stamps);
  yw_mem_free(&made.mem, s.queue);
  neighbourhood_free(&made.mem, &s.near);
  if (!done) yw_smooth_embedding_free(&made);
  *out = made;
  return done ? YW_OK : yw_fail_memory(error, "an embedded surface");
}

void yw_smooth_embedding_free(yw_smooth_embedding* embedding) {
  if (!embedding) return;
  yw_mem_free(&embedding->mem, embedding->first);
  yw_mem_free(&embedding->mem, embedding->links);
  *embedding = (yw_smooth_embedding){0};
}

// Motion ------------------------------------------------------------------------------------------

/// Sum over the tets of a vertex, weighted by their volumes: no tet is too flat for it.
typedef struct vertex_gradient {
  yw_mat3 sum;
  float volume6;
} vertex_gradient;

static void add_outer(yw_mat3* m, yw_vec3 a, yw_vec3 b) {
  m->cx = yw_mad(m->cx, b.x, a);
  m->cy = yw_mad(m->cy, b.y, a);
  m->cz = yw_mad(m->cz, b.z, a);
}

static void measure_gradients(const yw_tet_mesh* rest, const yw_vec3* x, vertex_gradient* out) {
  for (int32_t t = 0; t < rest->num_tets; ++t) {
    const int32_t* v = rest->tets + 4 * (size_t)t;
    yw_vec3 e[3], now[3];
    for (int k = 0; k < 3; ++k) {
      e[k] = yw_sub(rest->positions[v[k + 1]], rest->positions[v[0]]);
      now[k] = yw_sub(x[v[k + 1]], x[v[0]]);
    }
    yw_mat3 sum = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 3; ++k) {
      add_outer(&sum, now[k], yw_cross(e[(k + 1) % 3], e[(k + 2) % 3]));
    }
    float volume6 = yw_dot(e[0], yw_cross(e[1], e[2]));
    for (int k = 0; k < 4; ++k) {
      out[v[k]].sum = yw_mat3_add(out[v[k]].sum, sum);
      out[v[k]].volume6 += volume6;
    }
  }
}

yw_status yw_surface_rig_move(const yw_surface_rig* rig, const yw_vec3* positions, yw_vec3* out) {
  const yw_tet_mesh* rest = rig->tets;
  vertex_gradient* gradients = YW_NEW_ARRAY(NULL, vertex_gradient, rest->num_vertices);
  if (!gradients) return YW_ERR_MEMORY;
  measure_gradients(rest, positions, gradients);
  for (int32_t i = 0; i < rest->num_vertices; ++i) {
    float volume6 = gradients[i].volume6;
    float scale = volume6 > 0.0f ? 1.0f / volume6 : 0.0f;
    gradients[i].sum = yw_mat3_scale(gradients[i].sum, scale);
  }
  for (int32_t i = 0; i < rig->surface->num_vertices; ++i) {
    yw_vec3 place = {0, 0, 0}, mean_offset = {0, 0, 0};
    yw_mat3 mean = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int32_t n = rig->first[i]; n < rig->first[i + 1]; ++n) {
      int32_t v = rig->links[n].vertex;
      float w = rig->links[n].weight;
      yw_vec3 offset = yw_sub(rig->surface->positions[i], rest->positions[v]);
      place = yw_mad(place, w, positions[v]);
      place = yw_mad(place, 0.5f * w, yw_mul(gradients[v].sum, offset));
      mean_offset = yw_mad(mean_offset, w, offset);
      mean = yw_mat3_add(mean, yw_mat3_scale(gradients[v].sum, w));
    }
    out[i] = yw_mad(place, 0.5f, yw_mul(mean, mean_offset));
  }
  yw_mem_free(NULL, gradients);
  return YW_OK;
}
