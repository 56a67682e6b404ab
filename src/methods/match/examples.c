// SPDX-License-Identifier: MIT
// Descriptors of the example poses and their Gram matrices. Koyama et al. 2013, section 4.2.
//
// The descriptor of a pose is the stretch S_r of every region as a 6-vector whose norm is the
// Frobenius norm (off-diagonals count twice). Stored is L_r^k = S_r^k - S_r^0, and S_r^0 is 1.
// A step computes P_r = R_r^T A_r Q_r, not S_r, which is the symmetric part of P_r Q_r^-1. Products
// L_r^k . (S_r - 1) therefore equal those of P_r - Q_r with the symmetric part of L_r^k Q_r^-1.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/small/simplex.h"
#include "methods/match/model.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

_Static_assert(YW_MAX_EXAMPLES <= YW_SIMPLEX_MAX, "the fit must take all examples");

// A pose whose distance to others, relative to its own stretch, is below this is redundant.
#define SAME_POSE 1e-2
// A pose with a mean stretch below this is the rest pose, up to a rotation.
#define SAME_AS_REST 1e-4

// A_r Q_r of a pose, in double: rows of sum m~ x q^T.
static void moment_of_pose(const match_model* model, const match_build* build, int32_t p,
                           const yw_vec3* pose, double out[3][3]) {
  int32_t vertex = build->vertex_of_particle[p];
  const match_rest_region* region = &build->regions[p];
  const yw_vec3 near = pose[vertex];
  for (int32_t n = build->rings.start[vertex]; n < build->rings.start[vertex + 1]; ++n) {
    // The sum of m~ q is zero, so positions may be relative to the region's own vertex.
    int32_t other = build->rings.items[n], q = model->solid.particle_of_vertex[other];
    double m = (double)model->row_mass[q];
    const double x[3] = {(double)pose[other].x - (double)near.x,
                         (double)pose[other].y - (double)near.y,
                         (double)pose[other].z - (double)near.z};
    const double r[3] = {(double)model->rest[q].x - region->center[0],
                         (double)model->rest[q].y - region->center[1],
                         (double)model->rest[q].z - region->center[2]};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) out[i][j] += m * x[i] * r[j];
    }
  }
}

// The symmetric part of a v, v as xx, yy, zz, xy, xz, yz.
static void symmetric_product(double a[3][3], const double v[6], double out[6]) {
  const double s[3][3] = {{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}};
  double product[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      product[i][j] = a[i][0] * s[0][j] + a[i][1] * s[1][j] + a[i][2] * s[2][j];
    }
  }
  for (int i = 0; i < 3; ++i) out[i] = product[i][i];
  out[3] = 0.5 * (product[0][1] + product[1][0]);
  out[4] = 0.5 * (product[0][2] + product[2][0]);
  out[5] = 0.5 * (product[1][2] + product[2][1]);
}

// R_r^T A_r Q_r of a pose; R_r is the polar rotation of A_r Q_r.
static void turn_back(double moment[3][3], double scale, double out[3][3]) {
  float m[3][3];
  for (int i = 0; i < 9; ++i) m[i / 3][i % 3] = (float)(scale * moment[i / 3][i % 3]);
  yw_mat3 scaled = {
      {m[0][0], m[1][0], m[2][0]}, {m[0][1], m[1][1], m[2][1]}, {m[0][2], m[1][2], m[2][2]}};
  yw_mat3 r, s;
  yw_polar(&scaled, &r, &s);
  const yw_vec3 columns[3] = {r.cx, r.cy, r.cz};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[i][j] = (double)columns[i].x * moment[0][j] + (double)columns[i].y * moment[1][j] +
                  (double)columns[i].z * moment[2][j];
    }
  }
}

static void describe_example(match_model* model, const match_build* build, int32_t k) {
  const yw_vec3* pose = build->def->examples[k];
  for (int32_t p = 0; p < model->num_particles; ++p) {
    const match_rest_region* region = &build->regions[p];
    double moment[3][3] = {{0}}, turned[3][3], l[6], dual[6];
    double scale = match_moment_scale(region);
    moment_of_pose(model, build, p, pose, moment);
    turn_back(moment, scale, turned);
    symmetric_product(turned, region->inv_moment, l);
    for (int i = 0; i < 3; ++i) l[i] -= 1.0;
    double full[3][3] = {{l[0], l[3], l[4]}, {l[3], l[1], l[5]}, {l[4], l[5], l[2]}};
    symmetric_product(full, region->inv_moment, dual);

    size_t at = (size_t)(p / YW_LANES) * (size_t)model->num_examples + (size_t)k;
    int32_t lane = match_lane(p % YW_LANES);
    for (int i = 0; i < 6; ++i) {
      model->examples[at].m[i][lane] = (float)l[i];
      // Off-diagonals count twice in a product.
      model->duals[at].m[i][lane] = (float)((i < 3 ? 1.0 : 2.0) * dual[i] / scale);
    }
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

// Appends "examples[k] <what>" to the list of findings.
static void append(char* text, size_t size, int32_t k, const char* what) {
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%sexamples[%d] %s", used > 0 ? "; " : "", k, what);
}

// Names the examples that add nothing, judged over the whole body.
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
  model->duals = YW_NEW_ARRAY(&model->mem, yw_sym3x16, (size_t)model->num_blocks * (size_t)n);
  if (shared)
    model->gram = YW_NEW_ARRAY(&model->mem, double, (size_t)model->num_groups*(size_t)(n * n));
  if (!model->examples || !model->duals || (shared && !model->gram)) {
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
