// SPDX-License-Identifier: MIT
// What a body looks like between two poses, and whether it then passes through itself. Bodies with
// examples aim for mixtures of stretches, not of positions:
//   S_t = (1 - s) S_t^from + s S_t^to      stretch of tet t
//   minimise  sum_t V_t |F_t - R_t S_t|^2   F_t gradient of the positions, R_t its rotation
// by turns in the rotations and in the positions, as for bodies that are as rigid as possible
// (Sorkine, Alexa 2007), along the way from one pose to the other.
#include <math.h>

#include "geometry/tet_math.h"
#include "math/small/polar.h"
#include "math/sparse/cholesky.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

// Turns per share. Chosen on bars bent by 400 degrees in steps of a quarter, whose ends are then
// within 2 % of their length.
#define ROUNDS 40
// A few triangles in the crease of a joint cross where tets fold; a part that passes through
// another has more.
#define FEW 3
// How strongly vertices stay where they are, of how strongly their tets hold them.
#define HELD 1e-6

typedef struct pose_mixer {
  const yw_tet_mesh* rest;
  yw_tri_mesh surface;
  int32_t* map;  // its vertices in the tets
  double (*slopes)[4][3];
  double* volumes;     // of tets, at rest
  yw_mat3 *from, *to;  // stretches of tets
  double *x, *right;   // 3 per vertex
  double anchor;       // holds vertices where they are, weakly: parts are free to shift
  yw_assembly assembly;
  yw_sparse matrix;
  yw_cholesky* factor;
  double* scratch;
} pose_mixer;

// Making ------------------------------------------------------------------------------------------

static void measure_tets(pose_mixer* m, double* elements) {
  for (int32_t t = 0; t < m->rest->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(m->rest, t, p);
    double six = yw_tet_volume6(p), inv = fabs(six) > 0.0 ? 1.0 / six : 0.0;
    m->volumes[t] = fabs(six) / 6.0;
    for (int a = 0; a < 4; ++a) {
      const unsigned char* v = yw_tet_faces[a];
      yw_dvec3 out = yw_dcross(yw_dsub(p[v[1]], p[v[0]]), yw_dsub(p[v[2]], p[v[0]]));
      m->slopes[t][a][0] = -inv * out.x;
      m->slopes[t][a][1] = -inv * out.y;
      m->slopes[t][a][2] = -inv * out.z;
    }
    for (int ab = 0; ab < 16; ++ab) {
      const double *g = m->slopes[t][ab / 4], *h = m->slopes[t][ab % 4];
      elements[16 * (size_t)t + (size_t)ab] =
          m->volumes[t] * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]);
    }
  }
}

static void hold_vertices(pose_mixer* m) {
  for (int round = 0; round < 2; ++round) {
    for (int32_t i = 0; i < m->matrix.size; ++i) {
      int32_t at = m->matrix.start[i];
      while (m->matrix.columns[at] != i) ++at;
      if (round == 0) m->anchor += HELD * m->matrix.values[at] / m->matrix.size;
      if (round == 1) m->matrix.values[at] += m->anchor;
    }
  }
}

static yw_status make_system(pose_mixer* m, const yw_allocator* mem, yw_error* error) {
  const yw_tet_mesh* mesh = m->rest;
  yw_status status = yw_assembly_create(mem, mesh->num_vertices, 1, mesh->num_tets, 4, mesh->tets,
                                        &m->assembly, &m->matrix, error);
  if (status < 0) return status;
  const yw_cholesky_options options = {.points = mesh->positions};
  status = yw_cholesky_analyse(mem, &m->matrix, &options, &m->factor, error);
  if (status < 0) return status;
  size_t tets = (size_t)mesh->num_tets, numbers = 3 * (size_t)mesh->num_vertices;
  double* elements = YW_NEW_ARRAY(mem, double, 16 * tets);
  m->slopes = yw_mem_alloc(mem, tets, sizeof *m->slopes);
  m->volumes = YW_NEW_ARRAY(mem, double, tets);
  m->from = YW_NEW_ARRAY(mem, yw_mat3, tets);
  m->to = YW_NEW_ARRAY(mem, yw_mat3, tets);
  m->x = YW_NEW_ARRAY(mem, double, numbers);
  m->right = YW_NEW_ARRAY(mem, double, numbers);
  m->scratch = YW_NEW_ARRAY(mem, double, yw_cholesky_scratch(m->factor, 3, NULL));
  bool good =
      elements && m->slopes && m->volumes && m->from && m->to && m->x && m->right && m->scratch;
  if (good) {
    measure_tets(m, elements);
    yw_assembly_sum(&m->assembly, NULL, elements, &m->matrix);
    hold_vertices(m);
  }
  yw_mem_free(mem, elements);
  if (!good) return yw_fail_memory(error, "mixtures of poses");
  return yw_cholesky_factorise(m->factor, &m->matrix, NULL, error);
}

static void free_mixer(pose_mixer* m, const yw_allocator* mem) {
  void* const arrays[] = {m->map, m->slopes, m->volumes, m->from,
                          m->to,  m->x,      m->right,   m->scratch};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(mem, arrays[i]);
  yw_cholesky_destroy(m->factor);
  yw_assembly_free(&m->assembly);
  yw_sparse_free(&m->matrix);
  yw_tri_mesh_free(&m->surface);
}

// Mixing ------------------------------------------------------------------------------------------

// Rotation and stretch of a tet as the positions are.
static void split_tet(const pose_mixer* m, int32_t t, yw_mat3* rotation, yw_mat3* stretch) {
  const int32_t* v = m->rest->tets + 4 * (size_t)t;
  double g[9] = {0};
  for (int a = 0; a < 4; ++a) {
    for (int k = 0; k < 9; ++k) g[k] += m->x[3 * v[a] + k / 3] * m->slopes[t][a][k % 3];
  }
  yw_mat3 gradient = {{(float)g[0], (float)g[3], (float)g[6]},
                      {(float)g[1], (float)g[4], (float)g[7]},
                      {(float)g[2], (float)g[5], (float)g[8]}};
  yw_polar(&gradient, rotation, stretch);
}

static void place(pose_mixer* m, const yw_vec3* pose) {
  for (int32_t i = 0; i < 3 * m->rest->num_vertices; ++i) {
    m->x[i] = (double)(&pose[i / 3].x)[i % 3];
  }
}

static void take_stretches(pose_mixer* m, const yw_vec3* pose, yw_mat3* out) {
  place(m, pose);
  for (int32_t t = 0; t < m->rest->num_tets; ++t) {
    yw_mat3 rotation;
    split_tet(m, t, &rotation, &out[t]);
  }
}

static yw_vec3 blend(yw_vec3 a, yw_vec3 b, float share) {
  return yw_add(yw_scale(a, 1.0f - share), yw_scale(b, share));
}

// Rotations of the tets as they are, then the positions that suit these best.
static void improve(pose_mixer* m, float share) {
  for (int32_t i = 0; i < 3 * m->rest->num_vertices; ++i) m->right[i] = m->anchor * m->x[i];
  for (int32_t t = 0; t < m->rest->num_tets; ++t) {
    const int32_t* v = m->rest->tets + 4 * (size_t)t;
    yw_mat3 r, ignored;
    split_tet(m, t, &r, &ignored);
    yw_mat3 s = {blend(m->from[t].cx, m->to[t].cx, share), blend(m->from[t].cy, m->to[t].cy, share),
                 blend(m->from[t].cz, m->to[t].cz, share)};
    for (int a = 0; a < 4; ++a) {
      const double* g = m->slopes[t][a];
      yw_vec3 want = yw_mul(r, yw_mul(s, yw_v3((float)g[0], (float)g[1], (float)g[2])));
      for (int i = 0; i < 3; ++i) m->right[3 * v[a] + i] += m->volumes[t] * (double)(&want.x)[i];
    }
  }
  yw_cholesky_solve(m->factor, NULL, 3, 3, m->right, m->x, m->scratch);
}

// Crossings ---------------------------------------------------------------------------------------

static yw_status count_crossings(pose_mixer* m, const yw_allocator* mem, yw_pose_mixture* out,
                                 yw_error* error) {
  for (int32_t i = 0; i < m->surface.num_vertices; ++i) {
    const double* x = m->x + 3 * (size_t)m->map[i];
    m->surface.positions[i] = yw_v3((float)x[0], (float)x[1], (float)x[2]);
  }
  yw_surface_report report;
  yw_status status = yw_surface_report_of(&m->surface, mem, &report, error);
  if (status < 0) return status;
  out->crossing_triangles = report.crossing_triangles;
  out->place = report.crossing_place;
  return YW_OK;
}

/// What was found so far.
typedef struct findings {
  yw_pose_mixture* out;
  int32_t capacity, count;
} findings;

static void note(findings* f, const yw_pose_mixture* found) {
  if (found->crossing_triangles <= FEW) return;
  if (f->count < f->capacity) f->out[f->count] = *found;
  ++f->count;
}

// The way from one pose to another, and a pose itself at the end of that from rest.
static yw_status walk(pose_mixer* m, const yw_allocator* mem, const yw_vec3* const* poses,
                      int32_t from, int32_t to, int32_t steps, findings* f, yw_error* error) {
  const yw_vec3* start = from < 0 ? m->rest->positions : poses[from];
  yw_status status = YW_OK;
  take_stretches(m, poses[to], m->to);
  take_stretches(m, start, m->from);
  for (int32_t k = 1; k <= steps && status >= 0; ++k) {
    yw_pose_mixture at = {.from = from, .to = to, .share = (float)k / (float)steps};
    if (k == steps && from >= 0) break;
    if (k == steps) {
      place(m, poses[to]);
    } else {
      for (int round = 0; round < ROUNDS; ++round) improve(m, at.share);
    }
    status = count_crossings(m, mem, &at, error);
    if (status >= 0) note(f, &at);
  }
  return status;
}

yw_status yw_pose_check_mixtures(const yw_tet_mesh* rest, int32_t num_poses,
                                 const yw_vec3* const* poses, int32_t steps,
                                 yw_pose_mixture* mixtures, int32_t capacity, int32_t* count,
                                 yw_error* error) {
  yw_error_clear(error);
  if (!rest || num_poses < 0 || (num_poses > 0 && !poses) || steps < 1 || steps > 100 ||
      capacity < 0 || (capacity > 0 && !mixtures) || !count) {
    return yw_fail(error, YW_ERR_INVALID, "mixtures need tets, poses, and 1 to 100 steps");
  }
  *count = 0;
  if (num_poses == 0) return YW_OK;
  yw_status status = yw_tet_mesh_check(rest, error);
  if (status < 0) return status;
  for (int32_t k = 0; k < num_poses; ++k) {
    for (int32_t i = 0; i < rest->num_vertices; ++i) {
      if (yw_is_finite3(poses[k][i])) continue;
      return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d of pose %d is not finite", i, k);
    }
  }
  const yw_allocator* mem = &rest->mem;
  pose_mixer m = {.rest = rest};
  findings found = {.out = mixtures, .capacity = capacity};
  status = yw_tet_mesh_surface(rest, mem, &m.surface, &m.map);
  if (status >= 0) status = make_system(&m, mem, error);
  for (int32_t to = 0; to < num_poses && status >= 0; ++to) {
    for (int32_t from = -1; from < to && status >= 0; ++from) {
      status = walk(&m, mem, poses, from, to, steps, &found, error);
    }
  }
  free_mixer(&m, mem);
  *count = found.count;
  return status;
}
