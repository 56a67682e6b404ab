// SPDX-License-Identifier: MIT
// Builds rods from points: cross-sections, orientations along the curve, pairs with EA, EI and GJ.
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/kit/moduli.h"
#include "methods/slender/examples.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define PI 3.14159265358979323846
#define MAX_POINTS 1000000
// Neighbours closer than this share of the rod's extent are one point.
#define COINCIDENT 1e-6

// Area and moments of a cross-section: x is the width, y the thickness.
typedef struct section {
  double area;
  double about_x, about_y;  // m^4, resistance to bending about these axes
  double torsion;           // m^4
} section;

// exp(-x), x >= 0, by halving and a series.
static double decay(double x) {
  int halvings = 0;
  if (x > 700.0) return 0.0;
  while (x > 0.125) x *= 0.5, ++halvings;
  double sum = 1.0;
  for (int k = 12; k > 0; --k) sum = 1.0 - x / k * sum;
  for (int i = 0; i < halvings; ++i) sum *= sum;
  return sum;
}

// Saint-Venant torsion of a rectangle, a >= b:
//   a b^3/3 [1 - 192 b / (pi^5 a) sum tanh(n pi a / 2b) / n^5].
static double rectangle_torsion(double a, double b) {
  double sum = 0.0;
  for (int n = 1; n < 40; n += 2) {
    double e = decay(n * PI * a / b);
    sum += (1.0 - e) / (1.0 + e) / ((double)n * n * n * n * n);
  }
  return a * b * b * b / 3.0 * (1.0 - 192.0 * b / (PI * PI * PI * PI * PI * a) * sum);
}

static section section_of(const yw_rod_def* def, double radius) {
  double w = (double)def->width, t = (double)def->thickness;
  if (def->section == YW_SECTION_RECTANGLE) {
    return (section){w * t, w * t * t * t / 12.0, t * w * w * w / 12.0,
                     rectangle_torsion(fmax(w, t), fmin(w, t))};
  }
  double a = 0.5 * w, b = 0.5 * t;
  if (def->section == YW_SECTION_ROUND) a = b = radius;
  return (section){PI * a * b, 0.25 * PI * a * b * b * b, 0.25 * PI * b * a * a * a,
                   PI * a * a * a * b * b * b / (a * a + b * b)};
}

static double radius_at(const yw_rod_def* def, int32_t p) {
  return (double)(def->radii ? def->radii[p] : def->radius);
}

static yw_moduli moduli_of(const yw_rod_def* def) {
  return (yw_moduli){def->density,
                     def->youngs_modulus,
                     def->poissons_ratio,
                     def->youngs_modulus_field,
                     def->poissons_ratio_field,
                     def->num_points};
}

// Checks ------------------------------------------------------------------------------------------

static yw_status check_section(const yw_rod_def* def, yw_error* error) {
  if (def->section < YW_SECTION_ROUND || def->section > YW_SECTION_RECTANGLE) {
    return yw_fail(error, YW_ERR_INVALID, "rod: section is %d, which names none",
                   (int)def->section);
  }
  if (def->section != YW_SECTION_ROUND) {
    if (def->width > 0.0f && isfinite(def->width) && def->thickness > 0.0f &&
        isfinite(def->thickness)) {
      return YW_OK;
    }
    return yw_fail(error, YW_ERR_INVALID,
                   "rod: width is %g m and thickness %g m, but both must be above 0",
                   (double)def->width, (double)def->thickness);
  }
  for (int32_t p = 0; p < (def->radii ? def->num_points : 1); ++p) {
    double r = radius_at(def, p);
    if (r > 0.0 && isfinite(r)) continue;
    return yw_fail(error, YW_ERR_INVALID, "rod: the radius%s is %g m, but must be above 0",
                   def->radii ? " of a point" : "", r);
  }
  return YW_OK;
}

static yw_status check_points(const yw_rod_def* def, yw_error* error) {
  if (def->num_points < 1 || !def->points) {
    return yw_fail(error, YW_ERR_INVALID, "rod: needs at least one point");
  }
  if (def->num_points > MAX_POINTS) {
    return yw_fail(error, YW_ERR_LIMIT, "rod: %d points, but at most %d are possible",
                   def->num_points, MAX_POINTS);
  }
  if (def->closed && def->num_points < 3) {
    return yw_fail(error, YW_ERR_INVALID, "rod: %d points, but a closed one needs 3 or more",
                   def->num_points);
  }
  yw_aabb box = yw_aabb_empty();
  for (int32_t p = 0; p < def->num_points; ++p) {
    if (!yw_is_finite3(def->points[p])) {
      return yw_fail(error, YW_ERR_INVALID, "rod: point %d is not finite", p);
    }
    box = yw_aabb_grow(box, def->points[p]);
  }
  double extent = (double)yw_distance(box.lower, box.upper);
  if (!isfinite(extent)) return yw_fail(error, YW_ERR_INVALID, "rod: the points are too far apart");
  int32_t segments = def->num_points - (def->closed ? 0 : 1);
  for (int32_t p = 0; p < segments; ++p) {
    int32_t q = (p + 1) % def->num_points;
    double length = (double)yw_distance(def->points[p], def->points[q]);
    if (length > COINCIDENT * extent) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "rod: points %d and %d are at the same place (%g m apart); remove one of them",
                   p, q, length);
  }
  return YW_OK;
}

// Orientations ------------------------------------------------------------------------------------

static void unit(double v[3]) {
  double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3 && length > 0.0; ++i) v[i] /= length;
}

static void direction(const yw_rod_def* def, int32_t segment, double out[3]) {
  int32_t n = def->num_points;
  const yw_vec3 *a = &def->points[(segment + n) % n], *b = &def->points[(segment + 1 + n) % n];
  out[0] = (double)b->x - (double)a->x;
  out[1] = (double)b->y - (double)a->y;
  out[2] = (double)b->z - (double)a->z;
  unit(out);
}

// Mean direction of the segments at a point; at a fold, that of the next segment.
static void tangent(const yw_rod_def* def, int32_t p, double out[3]) {
  double before[3] = {0}, after[3] = {0};
  bool has_before = def->closed || p > 0, has_after = def->closed || p + 1 < def->num_points;
  if (has_before) direction(def, p - 1, before);
  if (has_after) direction(def, p, after);
  for (int i = 0; i < 3; ++i) out[i] = before[i] + after[i];
  if (yw_dot3(out, out) < 1e-12) memcpy(out, has_after ? after : before, sizeof after);
  unit(out);
}

// The shortest rotation from one direction to another.
static yw_turn shortest(const double from[3], const double to[3]) {
  double axis[3], cosine = yw_dot3(from, to);
  yw_cross3(from, to, axis);
  if (cosine < -1.0 + 1e-12) {
    const double other[3] = {fabs(from[0]) < 0.9, fabs(from[0]) >= 0.9, 0};
    yw_cross3(from, other, axis);
    return yw_turn_normalize((yw_turn){axis[0], axis[1], axis[2], 0.0});
  }
  return yw_turn_normalize((yw_turn){axis[0], axis[1], axis[2], 1.0 + cosine});
}

static yw_turn first_orientation(const yw_rod_def* def, const double z[3]) {
  double x[3] = {(double)def->width_direction.x, (double)def->width_direction.y,
                 (double)def->width_direction.z};
  unit(x);
  double along = yw_dot3(x, z);
  for (int i = 0; i < 3; ++i) x[i] -= along * z[i];
  if (!(yw_dot3(x, x) > 1e-6)) {
    const double up[3] = {0, fabs(z[1]) < 0.9, fabs(z[1]) >= 0.9};
    yw_cross3(up, z, x);
  }
  unit(x);
  double y[3];
  yw_cross3(z, x, y);
  const double m[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  return yw_turn_from_matrix(m);
}

// Carries orientations along without twist; a closed rod spreads the mismatch over its length.
static void carry_orientations(const yw_rod_def* def, yw_turn* orientations) {
  int32_t n = def->num_points;
  double z[3] = {0, 0, 1}, next[3], start[3];
  if (n > 1) tangent(def, 0, z);
  memcpy(start, z, sizeof z);
  orientations[0] = first_orientation(def, z);
  for (int32_t p = 1; p < n; ++p) {
    tangent(def, p, next);
    orientations[p] = yw_turn_normalize(yw_turn_mul(shortest(z, next), orientations[p - 1]));
    memcpy(z, next, sizeof z);
  }
  if (!def->closed) return;
  double way[3];
  yw_turn closing = yw_turn_mul(shortest(z, start), orientations[n - 1]);
  yw_turn_log(yw_turn_mul(closing, yw_turn_conjugate(orientations[0])), way);
  double angle = yw_dot3(way, start);
  for (int32_t p = 1; p < n; ++p) {
    double t[3];
    tangent(def, p, t);
    for (int i = 0; i < 3; ++i) t[i] *= -angle * p / n;
    orientations[p] = yw_turn_mul(yw_turn_exp(t), orientations[p]);
  }
}

static yw_status take_orientations(const yw_rod_def* def, yw_turn* orientations, yw_error* error) {
  if (!def->frames) {
    carry_orientations(def, orientations);
    return YW_OK;
  }
  for (int32_t p = 0; p < def->num_points; ++p) {
    yw_turn q = yw_turn_of(def->frames[p]);
    double norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, t[3] = {0, 0, 1}, z[3];
    if (!(norm > 1e-12) || !isfinite(norm)) {
      return yw_fail(error, YW_ERR_INVALID, "rod: frame %d is not a rotation", p);
    }
    orientations[p] = yw_turn_normalize(q);
    const double own[3] = {0, 0, 1};
    yw_turn_apply(orientations[p], own, z);
    if (def->num_points > 1) tangent(def, p, t);
    if (def->num_points > 1 && !(yw_dot3(z, t) > 0.0)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "rod: the third axis of frame %d does not point along the rod", p);
    }
  }
  return YW_OK;
}

// Building ----------------------------------------------------------------------------------------

// Orientation of a pair: between those of its ends, third axis along the pair.
static yw_turn pair_frame(yw_turn a, yw_turn b, const double e[3]) {
  double sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0.0 ? -1.0 : 1.0, z[3];
  yw_turn mid = yw_turn_normalize(
      (yw_turn){a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z, a.w + sign * b.w});
  const double own[3] = {0, 0, 1};
  yw_turn_apply(mid, own, z);
  return yw_turn_mul(shortest(z, e), mid);
}

static void fill_pair(slender_model* model, const yw_rod_def* def, const yw_turn* orientations,
                      int32_t k) {
  rod_pair* pair = &model->pairs[k];
  int32_t a = k, b = (k + 1) % def->num_points;
  model->elements[2 * k] = pair->particles[0] = a;
  model->elements[2 * k + 1] = pair->particles[1] = b;
  const yw_vec3 *xa = &def->points[a], *xb = &def->points[b];
  const double d[3] = {(double)xb->x - (double)xa->x, (double)xb->y - (double)xa->y,
                       (double)xb->z - (double)xa->z};
  yw_moduli moduli = moduli_of(def);
  double young = 0.5 * (yw_moduli_youngs(&moduli, a) + yw_moduli_youngs(&moduli, b));
  double poisson = 0.5 * (yw_moduli_poisson(&moduli, a) + yw_moduli_poisson(&moduli, b));
  double l = sqrt(yw_dot3(d, d)), shear = young / (2.0 * (1.0 + poisson));
  section s = section_of(def, 0.5 * (radius_at(def, a) + radius_at(def, b)));
  pair->length = l;
  for (int i = 0; i < 3; ++i) pair->e[i] = d[i] / l;
  pair->weight = 2.0 * young * s.area / l;
  const double own[6] = {2.0 * young * s.about_x / l,
                         2.0 * young * s.about_y / l,
                         2.0 * shear * s.torsion / l,
                         0,
                         0,
                         0};
  yw_turn frame = pair_frame(orientations[a], orientations[b], pair->e);
  yw_slender_turn_sym(frame, own, pair->inertia);
  double half = 0.5 * (own[0] + own[1] + own[2]);
  for (int i = 0; i < 6; ++i) pair->q[i] = (i < 3 ? half : 0.0) - pair->inertia[i];
  // Each end gets half of the segment.
  double density = (double)def->density;
  const double turning[6] = {s.about_x, s.about_y, s.about_x + s.about_y, 0, 0, 0};
  double full[6];
  yw_slender_turn_sym(frame, turning, full);
  for (int j = 0; j < 2; ++j) {
    int32_t p = pair->particles[j];
    model->mass[p] += (float)(0.5 * l * density * s.area);
    for (int i = 0; i < 6; ++i) model->inertia[p][i] += 0.5 * l * density * full[i];
  }
}

// A single particle is an ellipsoid.
static void fill_single(slender_model* model, const yw_rod_def* def, yw_turn frame) {
  double a = 0.5 * (double)def->width, b = 0.5 * (double)def->thickness, c = fmin(a, b);
  if (def->section == YW_SECTION_ROUND) a = b = c = radius_at(def, 0);
  double mass = 4.0 / 3.0 * PI * a * b * c * (double)def->density;
  const double own[6] = {
      mass / 5 * (b * b + c * c), mass / 5 * (a * a + c * c), mass / 5 * (a * a + b * b), 0, 0, 0};
  model->mass[0] = (float)mass;
  yw_slender_turn_sym(frame, own, model->inertia[0]);
}

static yw_status fill_rod(slender_model* model, const yw_rod_def* def, yw_turn* orientations,
                          yw_error* error) {
  yw_status status = take_orientations(def, orientations, error);
  if (status < 0) return status;
  for (int32_t p = 0; p < def->num_points; ++p) {
    model->rest[p] = def->points[p];
    model->orientations[p] = yw_turn_to_quat(orientations[p]);
    float small = fminf(def->width, def->thickness);
    model->radius[p] = def->section == YW_SECTION_ROUND ? (float)radius_at(def, p) : 0.5f * small;
    if (def->contact_radius > 0.0f) model->radius[p] = def->contact_radius;
  }
  for (int32_t k = 0; k < model->num_elements; ++k) fill_pair(model, def, orientations, k);
  if (model->num_particles == 1) fill_single(model, def, orientations[0]);
  return YW_OK;
}

yw_status yw_rod_model_create(const yw_allocator* mem, const yw_rod_def* def, void** out,
                              yw_error* error) {
  *out = NULL;
  yw_status status = check_points(def, error);
  if (status >= 0) status = check_section(def, error);
  yw_moduli moduli = moduli_of(def);
  if (status >= 0) status = yw_moduli_check(&moduli, "rod: ", error);
  if (status >= 0) status = yw_slender_params_check(&def->params, def->examples.count, error);
  if (status >= 0 && !(def->contact_radius >= 0.0f && isfinite(def->contact_radius))) {
    status = yw_fail(error, YW_ERR_INVALID, "rod: contact radius is %g m, but must be 0 or more",
                     (double)def->contact_radius);
  }
  if (status < 0) return status;
  slender_model* model = YW_NEW(mem, slender_model);
  if (!model) return yw_fail_memory(error, "a rod");
  model->mem = yw_mem_or_default(mem);
  model->params = def->params;
  model->closed = def->closed;
  model->density = def->density;
  int32_t pairs = def->num_points - (def->closed ? 0 : 1);
  yw_turn* orientations = YW_NEW_ARRAY(mem, yw_turn, def->num_points);
  if (!orientations || !yw_slender_allocate(model, SLENDER_ROD, def->num_points, pairs)) {
    status = yw_fail_memory(error, "a rod");
  }
  if (status >= 0) status = fill_rod(model, def, orientations, error);
  if (status >= 0) status = yw_slender_finish(model, error);
  if (status >= 0) status = yw_rod_surface(model, def, error);
  if (status >= 0) status = yw_slender_examples_create(model, &def->examples, error);
  yw_mem_free(mem, orientations);
  if (status < 0) {
    yw_slender_model_destroy(model);
  } else {
    *out = model;
  }
  return status;
}
