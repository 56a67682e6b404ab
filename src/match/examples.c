// SPDX-License-Identifier: MIT
// Descriptors of the example poses and their Gram matrices. Koyama et al. 2013, section 4.2.
//
// The descriptor of a pose is the stretch S_r of every region as a 6-vector whose norm is the
// Frobenius norm (off-diagonals count twice). Stored is S_r^k - S_r^0, and S_r^0 is 1.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "match/model.h"
#include "math/simplex.h"

_Static_assert(YW_MAX_EXAMPLES <= YW_SIMPLEX_MAX, "the fit must take all examples");

// Poses nearer than this to others, relative to their own stretch, add nothing worth having.
#define SAME_POSE 1e-3
// Mean stretch below which a pose is the rest pose, up to a rotation.
#define SAME_AS_REST 1e-4

// A_r of a pose (equation 1), in double.
static yw_mat3 linear_map(const match_model* model, const match_build* build, int32_t p,
                          const yw_vec3* pose) {
  int32_t vertex = build->vertex_of_particle[p];
  const match_rest_region* region = &build->regions[p];
  const yw_vec3 near = pose[vertex];
  double b[3][3] = {{0}};
  for (int32_t n = build->rings.start[vertex]; n < build->rings.start[vertex + 1]; ++n) {
    // The sum of m~ q is zero, so positions may be taken from the region's own vertex.
    int32_t other = build->rings.items[n], q = model->particle_of_vertex[other];
    double m = (double)model->row_mass[q];
    const double x[3] = {(double)pose[other].x - (double)near.x,
                         (double)pose[other].y - (double)near.y,
                         (double)pose[other].z - (double)near.z};
    const double r[3] = {(double)model->rest[q].x - region->center[0],
                         (double)model->rest[q].y - region->center[1],
                         (double)model->rest[q].z - region->center[2]};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) b[i][j] += m * x[i] * r[j];
    }
  }
  const double* v = region->inv_moment;
  const double inv[3][3] = {{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}};
  float a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      a[i][j] = (float)(b[i][0] * inv[0][j] + b[i][1] * inv[1][j] + b[i][2] * inv[2][j]);
    }
  }
  return (yw_mat3){
      {a[0][0], a[1][0], a[2][0]}, {a[0][1], a[1][1], a[2][1]}, {a[0][2], a[1][2], a[2][2]}};
}

static void describe_example(match_model* model, const match_build* build, int32_t k) {
  const yw_vec3* pose = build->def->examples[k];
  for (int32_t p = 0; p < model->num_particles; ++p) {
    yw_mat3 a = linear_map(model, build, p, pose), rotation, s;
    yw_polar(&a, &rotation, &s);
    yw_sym3x16* out = &model->examples[(p / YW_LANES) * model->num_examples + k];
    int32_t lane = match_lane(p % YW_LANES);
    out->m[0][lane] = s.cx.x - 1.0f;
    out->m[1][lane] = s.cy.y - 1.0f;
    out->m[2][lane] = s.cz.z - 1.0f;
    out->m[3][lane] = 0.5f * (s.cx.y + s.cy.x);
    out->m[4][lane] = 0.5f * (s.cx.z + s.cz.x);
    out->m[5][lane] = 0.5f * (s.cy.z + s.cz.y);
  }
}

// Adds the products of the descriptors of one region to gram.
static void add_gram(const match_model* model, int32_t p, double* gram) {
  int32_t n = model->num_examples, lane = match_lane(p % YW_LANES);
  const yw_sym3x16* s = &model->examples[(p / YW_LANES) * n];
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (int c = 0; c < 6; ++c) {
        double product = (double)s[i].m[c][lane] * (double)s[j].m[c][lane];
        sum += c < 3 ? product : 2.0 * product;
      }
      gram[i * n + j] += sum;
      if (j < i) gram[j * n + i] += sum;
    }
  }
}

// Appends "examples[k] <what>" to a list of findings.
static void append(char* text, size_t size, int32_t k, const char* what) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%sexamples[%d] %s", used > 0 ? "; " : "", k, what);
}

// Names examples that add nothing, judged over the whole body.
static yw_status find_redundant(const match_model* model, const double* gram, yw_error* error) {
  int32_t n = model->num_examples;
  char text[900] = "";
  uint32_t dependent = yw_dependent_examples(n, gram, SAME_POSE);
  for (int32_t k = 0; k < n; ++k) {
    double size = gram[k * n + k];
    if (size <= SAME_AS_REST * SAME_AS_REST * (double)model->num_particles) {
      append(text, sizeof text, k, "has the shape of the rest pose");
      continue;
    }
    int32_t twin = -1;
    for (int32_t j = 0; j < k && twin < 0; ++j) {
      double apart = size - 2.0 * gram[k * n + j] + gram[j * n + j];
      if (apart <= SAME_POSE * SAME_POSE * size) twin = j;
    }
    if (twin >= 0) {
      char what[40];
      snprintf(what, sizeof what, "is the same as examples[%d]", twin);
      append(text, sizeof text, k, what);
    } else if (dependent >> k & 1) {
      append(text, sizeof text, k, "is a combination of the examples before it");
    }
  }
  if (text[0] == '\0') return YW_OK;
  return yw_fail(error, YW_WARN_REDUNDANT, "%s: nothing is gained by it, remove it", text);
}

static yw_status check_poses(const match_build* build, yw_error* error) {
  for (int32_t k = 0; k < build->def->num_examples; ++k) {
    for (int32_t v = 0; v < build->def->mesh->num_vertices; ++v) {
      yw_vec3 p = build->def->examples[k][v];
      if (!yw_is_finite3(p)) {
        return yw_fail(error, YW_ERR_GEOMETRY,
                       "vertex %d of examples[%d] is (%g, %g, %g), but must be finite", v, k,
                       (double)p.x, (double)p.y, (double)p.z);
      }
    }
  }
  return YW_OK;
}

yw_status yw_match_build_examples(match_model* model, match_build* build, yw_error* error) {
  int32_t n = model->num_examples;
  if (n == 0) return YW_OK;
  yw_status status = check_poses(build, error);
  if (status < 0) return status;
  bool shared = model->grouping != YW_GROUPS_PER_REGION;
  model->examples = YW_NEW_ARRAY(&model->mem, yw_sym3x16, (size_t)model->num_blocks * (size_t)n);
  if (shared)
    model->gram = YW_NEW_ARRAY(&model->mem, double, (size_t)model->num_groups*(size_t)(n * n));
  if (!model->examples || (shared && !model->gram)) {
    return yw_fail_memory(error, "the examples of a match model");
  }
  double whole[YW_MAX_EXAMPLES * YW_MAX_EXAMPLES] = {0};
  for (int32_t k = 0; k < n; ++k) describe_example(model, build, k);
  for (int32_t p = 0; p < model->num_particles; ++p) {
    int32_t group = build->group ? build->group[build->vertex_of_particle[p]] : 0;
    add_gram(model, p, whole);
    if (shared) add_gram(model, p, model->gram + (size_t)group * (size_t)(n * n));
  }
  return find_redundant(model, whole, error);
}
