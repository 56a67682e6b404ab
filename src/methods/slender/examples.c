// SPDX-License-Identifier: MIT
#include "methods/slender/examples.h"

#include <stdio.h>
#include <string.h>

#include "math/small/mat3d.h"
#include "math/small/simplex.h"
#include "methods/kit/groups.h"
#include "methods/kit/solid.h"
#include "methods/slender/sheet_energy.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Examples whose part beyond earlier ones is smaller than this share add nothing.
#define REDUNDANT 1e-3
// Stretches of a pose below this are a collapsed triangle.
#define LEAST_STRETCH 1e-3

// Strains -----------------------------------------------------------------------------------------

void yw_slender_strains(const slender_model* model, int32_t element, const slender_pose* pose,
                        double out[SLENDER_STRAINS]) {
  memset(out, 0, SLENDER_STRAINS * sizeof *out);
  if (model->kind == SLENDER_ROD) {
    yw_rod_strain(&model->pairs[element], pose, out);
    return;
  }
  sheet_state t;
  yw_sheet_strains(&model->triangles[element], pose, &t);
  for (int i = 0; i < SLENDER_FELT; ++i) out[i] = t.strain[i];
  // Drilling against the rotation of the triangle, as it is seen once S is the rest shape.
  for (int j = 0; j < 3; ++j) {
    out[9 + j] = 0.5 * (yw_dot3(t.tau[1][j], t.r[0]) - yw_dot3(t.tau[0][j], t.r[1]));
  }
}

// K e of the metric.
static void stress_of(const slender_model* model, int32_t element, const double e[SLENDER_FELT],
                      double out[SLENDER_FELT]) {
  if (model->kind == SLENDER_ROD) {
    const rod_pair* pair = &model->pairs[element];
    for (int i = 0; i < 3; ++i) out[i] = 0.5 * pair->weight * e[i];
    yw_sym_apply(pair->inertia, e + 3, out + 3);
    yw_sym_apply(pair->inertia, e + 6, out + 6);
    return;
  }
  double k[SHEET_STRAINS / 3][9];
  yw_sheet_stiffness(&model->triangles[element], k);
  for (int i = 0; i < SLENDER_FELT; ++i) {
    const double *row = k[i / 3] + 3 * (i % 3), *part = e + i / 3 * 3;
    out[i] = row[0] * part[0] + row[1] * part[1] + row[2] * part[2];
  }
}

static double product(const double a[SLENDER_FELT], const double b[SLENDER_FELT]) {
  double sum = 0.0;
  for (int i = 0; i < SLENDER_FELT; ++i) sum += a[i] * b[i];
  return sum;
}

// Rest shapes -------------------------------------------------------------------------------------

void yw_rod_bend(const rod_pair* rest, const double e[SLENDER_STRAINS], rod_pair* out,
                 yw_turn turns[2]) {
  double d[3];
  *out = *rest;
  for (int i = 0; i < 3; ++i) d[i] = rest->length * rest->e[i] + e[i];
  double length = sqrt(yw_dot3(d, d));
  if (length > LEAST_STRETCH * rest->length) {
    out->length = length;
    for (int i = 0; i < 3; ++i) out->e[i] = d[i] / length;
  }
  for (int j = 0; j < 2; ++j) {
    const double* twice = e + 3 + 3 * j;
    double v2 = 0.25 * yw_dot3(twice, twice);
    turns[j] = yw_turn_normalize(
        (yw_turn){0.5 * twice[0], 0.5 * twice[1], 0.5 * twice[2], sqrt(fmax(1.0 - v2, 0.0))});
  }
}

// S^-1 m S^-1 of symmetric 2x2 matrices 11, 22, 12.
static void between(const double s[3], const double m[3], double out[3]) {
  double a = s[0] * m[0] + s[2] * m[2], b = s[0] * m[2] + s[2] * m[1];
  double c = s[2] * m[0] + s[1] * m[2], d = s[2] * m[2] + s[1] * m[1];
  out[0] = a * s[0] + b * s[2];
  out[1] = c * s[2] + d * s[1];
  out[2] = a * s[2] + b * s[1];
}

void yw_sheet_bend(const sheet_triangle* rest, const double e[SLENDER_STRAINS],
                   sheet_triangle* out) {
  double s11 = 1.0 + e[0], s22 = 1.0 + e[1], s12 = e[2], det = s11 * s22 - s12 * s12, bend[3];
  const double inverse[3] = {s22 / det, s11 / det, -s12 / det};
  *out = *rest;
  for (int j = 0; j < 3; ++j) {
    const double* g = rest->g[j];
    out->g[j][0] = inverse[0] * g[0] + inverse[2] * g[1];
    out->g[j][1] = inverse[2] * g[0] + inverse[1] * g[1];
    bend[j] = rest->rest_bend[j] + e[3 + j];
    out->rest_shear[j] = rest->rest_shear[j] + e[6 + j];
    out->rest_drill[j] = e[9 + j];
  }
  between(inverse, bend, out->rest_bend);
}

// Models ------------------------------------------------------------------------------------------

static yw_status fill_pose(const slender_model* model, const yw_slender_examples* def, int32_t k,
                           yw_vec4* pos, double (*scratch)[9], slender_pose* pose,
                           yw_error* error) {
  const yw_quat* turns = def->turns ? def->turns[k] : NULL;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    yw_vec3 x = def->poses[k][p];
    float size2 = turns ? turns[p].x * turns[p].x + turns[p].y * turns[p].y +
                              turns[p].z * turns[p].z + turns[p].w * turns[p].w
                        : 1.0f;
    if (!yw_is_finite3(x) || !(size2 > 0.5f && size2 < 2.0f)) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "point %d of examples[%d] is (%g, %g, %g) with a rotation of length %g, but "
                     "must be finite, and the length 1",
                     (int)p, (int)k, (double)x.x, (double)x.y, (double)x.z, (double)sqrtf(size2));
    }
    pos[p] = yw_v4(x);
    for (int i = 0; i < 3; ++i) pose->x[3 * p + i] = (double)(&x.x)[i];
    if (turns) pose->q[p] = yw_turn_normalize(yw_turn_of(turns[p]));
  }
  if (!turns) yw_slender_fit_turns(model, pos, scratch, pose->q);
  return YW_OK;
}

// Blends of positive stretches are positive.
static bool is_collapsed(const slender_model* model, const double e[SLENDER_STRAINS]) {
  double s11 = 1.0 + e[0], s22 = 1.0 + e[1];
  if (model->kind == SLENDER_ROD) return false;
  // The smaller stretch is at least the product over the sum of both.
  return !(s11 * s22 - e[2] * e[2] > LEAST_STRETCH * (s11 + s22));
}

static yw_status describe(slender_model* model, const yw_slender_examples* def, int32_t k,
                          yw_vec4* pos, double (*scratch)[9], slender_pose* pose, yw_error* error) {
  yw_status status = fill_pose(model, def, k, pos, scratch, pose, error);
  for (int32_t e = 0; e < model->num_elements && status >= 0; ++e) {
    double* strains = yw_slender_example(model, k, e);
    yw_slender_strains(model, e, pose, strains);
    if (is_collapsed(model, strains)) {
      status = yw_fail(error, YW_ERR_GEOMETRY,
                       "triangle %d has no area in examples[%d]: a sheet cannot rest there", (int)e,
                       (int)k);
    }
  }
  return status;
}

static yw_status take_groups(slender_model* model, const yw_slender_examples* def,
                             yw_error* error) {
  slender_poses* poses = &model->poses;
  poses->grouping = def->grouping;
  if (def->grouping == YW_GROUPS_LABELS && !def->vertex_labels) {
    return yw_fail(error, YW_ERR_INVALID, "examples: groups by labels need a label per point");
  }
  for (int32_t e = 0; e < model->num_elements; ++e) {
    const int32_t* corner = model->elements + (size_t)e * (size_t)model->corners;
    int32_t labels[3] = {0};
    for (int32_t c = 0; c < model->corners && def->grouping == YW_GROUPS_LABELS; ++c) {
      labels[c] = def->vertex_labels[corner[c]];
    }
    bool alone = def->grouping == YW_GROUPS_PER_REGION;
    poses->group[e] = alone ? e : yw_most_common(model->corners, labels);
  }
  poses->num_groups = yw_number_groups(&model->mem, model->num_elements, poses->group);
  return poses->num_groups < 0 ? yw_fail_memory(error, "the examples of a rod or sheet") : YW_OK;
}

static void add_grams(slender_model* model, double* whole) {
  slender_poses* poses = &model->poses;
  int32_t n = poses->count;
  for (int32_t e = 0; e < model->num_elements; ++e) {
    double* gram = poses->gram + (size_t)poses->group[e] * (size_t)(n * n);
    for (int32_t i = 0; i < n; ++i) {
      double stress[SLENDER_FELT];
      stress_of(model, e, yw_slender_example(model, i, e), stress);
      for (int32_t j = 0; j < n; ++j) {
        double sum = product(stress, yw_slender_example(model, j, e));
        gram[i * n + j] += sum;
        whole[i * n + j] += sum;
      }
    }
  }
}

static yw_status say_redundant(const slender_model* model, const double* whole, yw_error* error) {
  uint32_t dependent = yw_dependent_examples(model->poses.count, whole, REDUNDANT);
  char text[200] = "";
  size_t used = 0;
  for (int32_t k = 0; k < model->poses.count; ++k) {
    if (!(dependent >> k & 1)) continue;
    int length =
        snprintf(text + used, sizeof text - used, "%sexamples[%d]", used ? ", " : "", (int)k);
    if (length > 0 && used + (size_t)length < sizeof text) used += (size_t)length;
  }
  if (used == 0) return YW_OK;
  return yw_fail(error, YW_WARN_REDUNDANT,
                 "%s: like rest, or a blend of the examples before it: nothing is gained by it",
                 text);
}

static yw_status describe_all(slender_model* model, const yw_slender_examples* def,
                              yw_error* error) {
  const yw_allocator* mem = &model->mem;
  size_t n = (size_t)model->num_particles;
  slender_pose pose = {YW_NEW_ARRAY(mem, double, 3 * n), YW_NEW_ARRAY(mem, yw_turn, n)};
  double(*scratch)[9] = yw_mem_alloc(mem, n, sizeof *scratch);
  yw_vec4* pos = YW_NEW_ARRAY(mem, yw_vec4, n);
  yw_status status = YW_OK;
  if (!pose.x || !pose.q || !scratch || !pos) {
    status = yw_fail_memory(error, "the examples of a rod or sheet");
  }
  for (int32_t k = 0; k < def->count && status >= 0; ++k) {
    status = describe(model, def, k, pos, scratch, &pose, error);
  }
  yw_mem_free(mem, pose.x);
  yw_mem_free(mem, pose.q);
  yw_mem_free(mem, scratch);
  yw_mem_free(mem, pos);
  return status;
}

yw_status yw_slender_examples_create(slender_model* model, const yw_slender_examples* def,
                                     yw_error* error) {
  slender_poses* poses = &model->poses;
  yw_status status = yw_solid_check_examples(def->count, def->poses, error);
  if (status >= 0) {
    status = yw_solid_take_strengths(def->count, def->strengths, poses->strengths, error);
  }
  if (status < 0 || def->count == 0) return status;
  size_t n = (size_t)def->count, elements = (size_t)model->num_elements;
  poses->count = def->count;
  poses->strains = YW_NEW_ARRAY(&model->mem, double, n* elements* SLENDER_STRAINS);
  poses->group = YW_NEW_ARRAY(&model->mem, int32_t, elements);
  if (!poses->strains || !poses->group) {
    return yw_fail_memory(error, "the examples of a rod or sheet");
  }
  status = take_groups(model, def, error);
  if (status >= 0) {
    poses->gram = YW_NEW_ARRAY(&model->mem, double, (size_t)poses->num_groups* n* n);
    status = poses->gram ? describe_all(model, def, error)
                         : yw_fail_memory(error, "the examples of a rod or sheet");
  }
  if (status < 0) return status;
  double whole[YW_MAX_EXAMPLES * YW_MAX_EXAMPLES] = {0};
  add_grams(model, whole);
  model->hash = yw_slender_examples_hash(model, model->hash);
  return say_redundant(model, whole, error);
}

void yw_slender_examples_free(slender_model* model) {
  yw_mem_free(&model->mem, model->poses.strains);
  yw_mem_free(&model->mem, model->poses.group);
  yw_mem_free(&model->mem, model->poses.gram);
}

uint64_t yw_slender_examples_hash(const slender_model* model, uint64_t hash) {
  const slender_poses* poses = &model->poses;
  if (poses->count == 0) return hash;
  size_t elements = (size_t)model->num_elements;
  hash = yw_hash_bytes(hash, poses->strains,
                       (size_t)poses->count * elements * SLENDER_STRAINS * sizeof(double));
  hash = yw_hash_bytes(hash, poses->group, elements * sizeof *poses->group);
  return yw_solid_hash_strengths(poses->count, poses->strengths, hash);
}

// Bodies ------------------------------------------------------------------------------------------

// b_k of every group.
static void add_products(slender_body* body, const slender_pose* pose) {
  const slender_model* model = body->model;
  int32_t n = model->poses.count;
  memset(body->products, 0, (size_t)(model->poses.num_groups * n) * sizeof *body->products);
  for (int32_t e = 0; e < model->num_elements; ++e) {
    double strain[SLENDER_STRAINS], stress[SLENDER_FELT];
    double* b = body->products + (size_t)model->poses.group[e] * (size_t)n;
    yw_slender_strains(model, e, pose, strain);
    stress_of(model, e, strain, stress);
    for (int32_t k = 0; k < n; ++k) b[k] += product(stress, yw_slender_example(model, k, e));
  }
}

// Weights of a group; products become how far each example pulls the rest shape.
static void weigh(slender_body* body, int32_t group) {
  const slender_poses* poses = &body->model->poses;
  int32_t n = poses->count;
  double w[YW_MAX_EXAMPLES], *b = body->products + (size_t)group * (size_t)n, rest = 1.0;
  float* weights = body->weights + (size_t)group * (size_t)(n + 1);
  bool finite = true;
  for (int32_t k = 0; k < n; ++k) finite = finite && isfinite(b[k]);
  if (!finite) memset(b, 0, (size_t)n * sizeof *b);
  yw_project_exact(n, poses->gram + (size_t)group * (size_t)(n * n), b, weights, w);
  yw_aims_blend(body->aims + (size_t)group * (size_t)(n + 1), n, w);
  for (int32_t k = 0; k < n; ++k) {
    rest -= w[k];
    weights[1 + k] = (float)w[k];
    b[k] = (double)body->params.beta * (double)poses->strengths[k] * w[k];
  }
  weights[0] = (float)fmax(rest, 0.0);
}

void yw_slender_fit_examples(slender_body* body) {
  const slender_model* model = body->model;
  const slender_poses* poses = &model->poses;
  slender_bent* bent = &body->solver.bent;
  if (poses->count == 0) return;
  slender_pose pose = {body->x, body->turn};
  add_products(body, &pose);
  for (int32_t g = 0; g < poses->num_groups; ++g) weigh(body, g);
  for (int32_t e = 0; e < model->num_elements; ++e) {
    const double* pulls = body->products + (size_t)poses->group[e] * (size_t)poses->count;
    double wanted[SLENDER_STRAINS] = {0};
    for (int32_t k = 0; k < poses->count; ++k) {
      const double* own = yw_slender_example(model, k, e);
      for (int i = 0; i < SLENDER_STRAINS; ++i) wanted[i] += pulls[k] * own[i];
    }
    if (model->kind == SLENDER_ROD) {
      yw_rod_bend(&model->pairs[e], wanted, &bent->pairs[e], bent->turns[e]);
    } else {
      yw_sheet_bend(&model->triangles[e], wanted, &bent->triangles[e]);
    }
  }
}
