// SPDX-License-Identifier: MIT
// Building the rest data of plastic bodies: checks, lattices, materials.
#include "methods/plastic/model.h"
#include "math/small/trig.h"

#include <math.h>
#include <string.h>

#include "geometry/shape.h"
#include "methods/plastic/body.h"
#include "methods/plastic/bricks.h"
#include "methods/plastic/cladding.h"
#include "methods/plastic/plastic.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

// Maximum number of lattice points tested for one shape.
#define MAX_TRIED 4e9
// Lattice points on the surface count as inside, within this tolerance.
#define SURFACE_SLACK 1e-4f

yw_plastic_material yw_default_plastic_material(void) {
  return (yw_plastic_material){.youngs_modulus = 1e6f,
                               .poissons_ratio = 0.3f,
                               .density = 1000.0f,
                               .theta_c = 0.025f,
                               .theta_s = 0.0075f,
                               .yield_stress = 1e4f};
}

yw_plastic_part yw_default_plastic_part(void) {
  return (yw_plastic_part){.transform = YW_TRANSFORM_IDENTITY,
                           .material = yw_default_plastic_material()};
}

yw_plastic_def yw_default_plastic_def(void) {
  return (yw_plastic_def){.spacing = 0.02f,
                          .memory_limit = 8e9,
                          .params = {.tolerance = 1e-3f,
                                     .max_iterations = 300,
                                     .sleep_speed = -1.0f,
                                     .stiffness_scale = 1.0f}};
}

yw_plastic_scheme yw_default_plastic_scheme(void) {
  return (yw_plastic_scheme){.implicit_share = 1.0f,
                             .velocity_blend = -1.0f,
                             .link_reach = 2.5f,
                             .split_master = 2.0f,
                             .split_slave = 1.0f};
}

// Checks ------------------------------------------------------------------------------------------

static bool is_positive(float x) { return x > 0.0f && isfinite(x); }
static bool is_natural(float x) { return x >= 0.0f && isfinite(x); }

yw_status yw_plastic_params_check(const yw_plastic_params* params, yw_error* error) {
  if (!is_natural(params->time_step)) {
    return yw_fail(error, YW_ERR_INVALID, "time_step is %g s, but must be 0 (chosen) or more",
                   (double)params->time_step);
  }
  if (!isfinite(params->sleep_speed)) {
    return yw_fail(error, YW_ERR_INVALID, "sleep_speed is %g m/s, but must be finite",
                   (double)params->sleep_speed);
  }
  if (!(params->tolerance >= 1e-6f && params->tolerance <= 0.1f)) {
    return yw_fail(error, YW_ERR_INVALID, "tolerance is %g, but must be between 1e-6 and 0.1",
                   (double)params->tolerance);
  }
  if (params->max_iterations < 1 || params->max_iterations > 10000) {
    return yw_fail(error, YW_ERR_INVALID, "max_iterations is %d, but must be between 1 and 10000",
                   params->max_iterations);
  }
  if (!(params->stiffness_scale >= 1e-6f && params->stiffness_scale <= 1e6f)) {
    return yw_fail(error, YW_ERR_INVALID, "stiffness_scale is %g, but must be between 1e-6 and 1e6",
                   (double)params->stiffness_scale);
  }
  return YW_OK;
}

static yw_status bad_number(yw_error* error, int32_t part, const char* what, double found,
                            const char* expected) {
  return yw_fail(error, YW_ERR_INVALID, "part %d: %s is %g, but must be %s", part, what, found,
                 expected);
}

static yw_status check_material(const yw_plastic_material* m, int32_t part, yw_error* error) {
  if (!is_positive(m->youngs_modulus)) {
    return bad_number(error, part, "youngs_modulus", (double)m->youngs_modulus, "above 0 Pa");
  }
  if (!(m->poissons_ratio >= 0.0f && m->poissons_ratio < 0.5f)) {
    return bad_number(error, part, "poissons_ratio", (double)m->poissons_ratio,
                      "at least 0 and below 0.5");
  }
  if (!is_positive(m->density)) {
    return bad_number(error, part, "density", (double)m->density, "above 0 kg/m^3");
  }
  if (m->flow < YW_FLOW_NONE || m->flow > YW_FLOW_VON_MISES) {
    return bad_number(error, part, "flow", (double)m->flow, "none, box or von_mises");
  }
  if (m->flow == YW_FLOW_BOX && !(m->theta_c >= 0.0f && m->theta_c < 1.0f)) {
    return bad_number(error, part, "theta_c", (double)m->theta_c, "at least 0 and below 1");
  }
  if (m->flow == YW_FLOW_BOX && !is_natural(m->theta_s)) {
    return bad_number(error, part, "theta_s", (double)m->theta_s, "at least 0");
  }
  if (m->flow == YW_FLOW_VON_MISES && !is_natural(m->yield_stress)) {
    return bad_number(error, part, "yield_stress", (double)m->yield_stress, "at least 0 Pa");
  }
  if (!is_natural(m->xi)) return bad_number(error, part, "xi", (double)m->xi, "at least 0");
  if (!(m->eta >= 0.0f && m->eta <= 1.0f)) {
    return bad_number(error, part, "eta", (double)m->eta, "between 0 and 1");
  }
  return YW_OK;
}

static yw_status check_field(const float* field, int32_t count, const char* what, bool zero,
                             int32_t part, yw_error* error) {
  for (int32_t i = 0; field && i < count; ++i) {
    if (zero ? is_natural(field[i]) : is_positive(field[i])) continue;
    return yw_fail(error, YW_ERR_INVALID, "part %d: %s of point %d is %g, but must be %s", part,
                   what, i, (double)field[i], zero ? "at least 0" : "above 0");
  }
  return YW_OK;
}

static yw_status check_part(const yw_plastic_part* part, int32_t i, yw_error* error) {
  if (!part->shape && (!part->points || part->num_points < 1)) {
    return yw_fail(error, YW_ERR_INVALID, "part %d has neither a shape nor points", i);
  }
  bool has_fields = part->youngs_modulus_field || part->yield_field || part->density_field;
  if (part->shape && has_fields) {
    return yw_fail(error, YW_ERR_INVALID,
                   "part %d: numbers per point need points, not a shape (see yw_plastic_sample)",
                   i);
  }
  const yw_transform* t = &part->transform;
  yw_quat q = t->rotation;
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!yw_is_finite3(t->position) || !(fabsf(norm - 1.0f) < 1e-3f) || t->scale != 1.0f) {
    return yw_fail(error, YW_ERR_INVALID,
                   "part %d: its transform must be finite, with a unit rotation and scale 1", i);
  }
  if (!yw_is_finite3(part->velocity) || !yw_is_finite3(part->angular_velocity)) {
    return yw_fail(error, YW_ERR_INVALID, "part %d: velocity is not finite", i);
  }
  if (!(part->start >= 0.0) || !isfinite(part->start)) {
    return bad_number(error, i, "start", part->start, "at least 0 s");
  }
  for (int32_t k = 0; !part->shape && k < part->num_points; ++k) {
    if (!yw_is_finite3(part->points[k])) {
      return yw_fail(error, YW_ERR_INVALID, "part %d: point %d is not finite", i, k);
    }
  }
  int32_t n = part->num_points;
  yw_status status = check_material(&part->material, i, error);
  if (status >= 0) {
    status = check_field(part->youngs_modulus_field, n, "youngs_modulus", false, i, error);
  }
  if (status >= 0) status = check_field(part->yield_field, n, "yield", true, i, error);
  if (status >= 0) status = check_field(part->density_field, n, "density", false, i, error);
  return status;
}

static yw_status check_scheme(const yw_plastic_scheme* s, yw_error* error) {
  const struct {
    const char* name;
    float value;
    double low, high;
  } numbers[] = {{"implicit_share", s->implicit_share, 0, 1},
                 {"velocity_blend", s->velocity_blend, -1, 1},
                 {"link_reach", s->link_reach, 2, 4},
                 {"split_master", s->split_master, 0, 1e6},
                 {"split_slave", s->split_slave, 0, 1e6}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    double value = (double)numbers[i].value;
    if (value >= numbers[i].low && value <= numbers[i].high) continue;
    return yw_fail(error, YW_ERR_INVALID, "%s is %g, but must be between %g and %g",
                   numbers[i].name, value, numbers[i].low, numbers[i].high);
  }
  if (s->split_master + s->split_slave > 0.0f) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID, "split_master and split_slave must not both be 0");
}

static yw_status check_reach(float reach, yw_error* error) {
  if (reach == 0.0f || (reach >= 1.0f && reach <= 2.0f)) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID, "slave_reach is %g, but must be 0 (usual) or 1 to 2",
                 (double)reach);
}

// Sheets of one layer with the near slaves alone do not tear as they should.
static float usual_reach(const yw_plastic_def* def) {
  bool far = def->paper || def->without_slaves;
  for (int32_t i = 0; i < def->num_parts; ++i) far = far || def->parts[i].sheet;
  return far ? 2.0f : 1.0f;
}

static yw_status check_def(const yw_plastic_def* def, yw_error* error) {
  if (!is_positive(def->spacing) || def->spacing < 1e-9f) {
    return yw_fail(error, YW_ERR_INVALID, "spacing is %g m, but must be above 1e-9",
                   (double)def->spacing);
  }
  if (!def->parts || def->num_parts < 1) {
    return yw_fail(error, YW_ERR_INVALID, "a plastic body needs at least one part");
  }
  yw_status good = yw_plastic_params_check(&def->params, error);
  if (good < 0) return good;
  for (int32_t i = 0; i < def->num_parts; ++i) {
    yw_status status = check_part(&def->parts[i], i, error);
    if (status < 0) return status;
  }
  return YW_OK;
}

static yw_status refuse_size(double masters, double bytes, double limit, yw_error* error) {
  return yw_fail(error, YW_ERR_LIMIT,
                 "about %.6g masters need about %.2g GB, but the limit is %.2g GB; use a larger "
                 "spacing",
                 masters, 1e-9 * bytes, 1e-9 * limit);
}

static yw_status check_memory(double masters, double slaves, double limit, yw_error* error) {
  double bytes = yw_plastic_body_bytes(masters, slaves, true);
  if (bytes <= limit && masters < 5e7) return YW_OK;
  return refuse_size(masters, bytes, limit, error);
}

// Lattices ----------------------------------------------------------------------------------------

typedef struct lattice {
  int64_t count[3];
  yw_vec3 first;
  float spacing;
} lattice;

static yw_status lattice_of(const yw_shape* shape, float spacing, bool sheet, lattice* out,
                            yw_error* error) {
  yw_aabb box;
  bool bounded = yw_shape_bounds(shape, &box);
  const float low[3] = {box.lower.x, box.lower.y, box.lower.z};
  const float high[3] = {box.upper.x, box.upper.y, box.upper.z};
  float first[3];
  *out = (lattice){.spacing = spacing};
  for (int k = 0; k < 3; ++k) {
    if (!bounded || !isfinite(low[k]) || !isfinite(high[k]) || low[k] > high[k]) {
      return yw_fail(error, YW_ERR_GEOMETRY, "the shape of a plastic body is empty or unbounded");
    }
    double cells = ceil(((double)high[k] - (double)low[k]) / (double)spacing - 1e-3);
    if (cells > 1e9) cells = 1e9;
    out->count[k] = cells < 1.0 || (sheet && k == 1) ? 1 : (int64_t)cells;
    first[k] = 0.5f * (low[k] + high[k]) - 0.5f * spacing * (float)(out->count[k] - 1);
  }
  out->first = yw_v3(first[0], first[1], first[2]);
  return YW_OK;
}

// The lattice points of a brick that are inside the shape; their number.
static int64_t sample_brick(const yw_shape* shape, const lattice* l, const int64_t size[3],
                            const int64_t brick[3], yw_vec3* points) {
  yw_vec4 batch[PLASTIC_CHUNK];
  float distance[PLASTIC_CHUNK];
  int64_t kept = 0;
  int32_t n = 0;
  for (int64_t i = 0; i < PLASTIC_CHUNK; ++i) {
    int64_t x = brick[0] * size[0] + i % size[0];
    int64_t y = brick[1] * size[1] + i / size[0] % size[1];
    int64_t z = brick[2] * size[2] + i / (size[0] * size[1]);
    if (x >= l->count[0] || y >= l->count[1] || z >= l->count[2]) continue;
    batch[n++] = (yw_vec4){l->first.x + l->spacing * (float)x, l->first.y + l->spacing * (float)y,
                           l->first.z + l->spacing * (float)z, 0.0f};
  }
  yw_shape_distance_many(shape, n, batch, distance);
  for (int32_t i = 0; i < n; ++i) {
    if (!(distance[i] <= SURFACE_SLACK * l->spacing)) continue;
    if (points) points[kept] = yw_xyz(batch[i]);
    ++kept;
  }
  return kept;
}

// Samples the lattice points inside the shape, in the order of bricks. With points NULL, only
// counts them. Below 0: out of memory.
static int64_t sample(const yw_allocator* mem, const yw_shape* shape, const lattice* l,
                      yw_vec3* points) {
  plastic_bricks bricks;
  int64_t kept = 0, brick[3];
  bool good = yw_plastic_bricks_create(mem, l->count, &bricks);
  for (int64_t b = 0; good && b < bricks.num_blocks; ++b) {
    for (int64_t i = 0; i < yw_plastic_bricks_of_block(&bricks); ++i) {
      if (!yw_plastic_brick_at(&bricks, b, i, brick)) continue;
      kept += sample_brick(shape, l, bricks.size, brick, points ? points + kept : NULL);
    }
  }
  yw_plastic_bricks_free(mem, &bricks);
  return good ? kept : -1;
}

static yw_status count_points(const yw_allocator* mem, const yw_shape* shape, float spacing,
                              bool sheet, double limit, lattice* l, int64_t* count,
                              yw_error* error) {
  yw_status status = lattice_of(shape, spacing, sheet, l, error);
  if (status < 0) return status;
  double tried = (double)l->count[0] * (double)l->count[1] * (double)l->count[2];
  if (tried > MAX_TRIED)
    return refuse_size(tried, yw_plastic_body_bytes(tried, tried, true), limit, error);
  if (tried > 1e6) {
    // Cheap early check that assumes 2 % of the box to be filled; the count below is exact.
    status = check_memory(0.02 * tried, 0.02 * tried, limit, error);
    if (status < 0) return status;
  }
  *count = sample(mem, shape, l, NULL);
  if (*count < 0) return yw_fail_memory(error, "the points of a plastic body");
  if (*count > 0) return check_memory((double)*count, (double)*count, limit, error);
  return yw_fail(error, YW_ERR_GEOMETRY,
                 "the shape holds no point of a lattice with spacing %g m; use a smaller spacing",
                 (double)spacing);
}

yw_status yw_plastic_sample(const yw_allocator* mem, const yw_shape* shape, float spacing,
                            bool sheet, yw_vec3** out, int32_t* count, yw_error* error) {
  yw_error_clear(error);
  if (!shape || !out || !count || !is_positive(spacing)) {
    return yw_fail(error, YW_ERR_INVALID, "yw_plastic_sample: NULL, or spacing not above 0");
  }
  *out = NULL;
  *count = 0;
  lattice l;
  int64_t n;
  yw_status status = count_points(mem, shape, spacing, sheet, 1e12, &l, &n, error);
  if (status < 0) return status;
  *out = YW_NEW_ARRAY(mem, yw_vec3, n);
  if (!*out || sample(mem, shape, &l, *out) < 0) {
    yw_points_free(mem, *out);
    *out = NULL;
    return yw_fail_memory(error, "the points of a plastic body");
  }
  *count = (int32_t)n;
  return YW_OK;
}

// Slaves of a compact shape, or a sheet: the masters' lattice plus half a cell around, or one and a
// half.
static double usual_slaves(double masters, bool sheet) {
  double edge = sheet ? 3.0 + sqrt(masters) : 1.0 + (double)yw_cbrtf((float)masters);
  return edge * edge * (sheet ? 4.0 : edge);
}

yw_status yw_plastic_count(const yw_shape* shape, float spacing, bool sheet, double memory_limit,
                           int32_t* count, double* bytes, yw_error* error) {
  yw_error_clear(error);
  if (!shape || !count || !is_positive(spacing)) {
    return yw_fail(error, YW_ERR_INVALID, "yw_plastic_count: NULL, or spacing not above 0");
  }
  *count = 0;
  lattice l;
  int64_t n;
  yw_status status = count_points(NULL, shape, spacing, sheet, memory_limit, &l, &n, error);
  if (status < 0) return status;
  *count = (int32_t)n;
  if (bytes) *bytes = yw_plastic_body_bytes((double)n, usual_slaves((double)n, sheet), true);
  return YW_OK;
}

void yw_points_free(const yw_allocator* mem, yw_vec3* points) { yw_mem_free(mem, points); }

// Masters -----------------------------------------------------------------------------------------

static void set_material(plastic_model* model, int32_t m, const yw_plastic_part* part,
                         int32_t point) {
  const yw_plastic_material* material = &part->material;
  plastic_material_block* block = &model->materials[m / YW_LANES];
  int32_t l = m % YW_LANES;
  float e =
      part->youngs_modulus_field ? part->youngs_modulus_field[point] : material->youngs_modulus;
  float density = part->density_field ? part->density_field[point] : material->density;
  float yield = part->yield_field ? part->yield_field[point] : material->yield_stress;
  float nu = material->poissons_ratio, d = model->spacing;
  block->mu[l] = e / (2.0f * (1.0f + nu));
  block->lambda[l] = e * nu / ((1.0f + nu) * (1.0f - 2.0f * nu));
  block->volume[l] = d * d * d;
  block->low[l] = material->flow == YW_FLOW_BOX ? 1.0f - material->theta_c : -INFINITY;
  block->high[l] = material->flow == YW_FLOW_BOX ? 1.0f + material->theta_s : INFINITY;
  block->yield[l] = material->flow == YW_FLOW_VON_MISES ? yield : INFINITY;
  block->xi[l] = material->flow == YW_FLOW_NONE ? 0.0f : material->xi;
  block->eta[l] = material->eta;
  model->mass[m] = density * block->volume[l];
  float wave = sqrtf((block->lambda[l] + 2.0f * block->mu[l]) / density);
  if (wave > model->wave_speed) model->wave_speed = wave;
  float shear = sqrtf(block->mu[l] / density);
  if (!(model->shear_speed > 0.0f) || shear < model->shear_speed) model->shear_speed = shear;
}

static void add_masters(plastic_model* model, const yw_plastic_part* from, plastic_part* to,
                        const yw_vec3* points) {
  double mass = 0.0, center[3] = {0};
  for (int32_t i = 0; i < to->count; ++i) {
    int32_t m = to->first + i;
    yw_vec3 p = yw_transform_point(from->transform, points[i]);
    model->masters[m] = p;
    set_material(model, m, from, i);
    double w = (double)model->mass[m];
    mass += w;
    center[0] += w * (double)p.x, center[1] += w * (double)p.y, center[2] += w * (double)p.z;
  }
  to->center =
      yw_v3((float)(center[0] / mass), (float)(center[1] / mass), (float)(center[2] / mass));
  to->velocity = from->velocity;
  to->spin = from->angular_velocity;
  to->start = from->start;
}

// Sorts parts by start time; ties keep the given order.
static void order_parts(const yw_plastic_def* def, int32_t* order) {
  for (int32_t i = 0; i < def->num_parts; ++i) {
    int32_t at = i;
    for (; at > 0 && def->parts[order[at - 1]].start > def->parts[i].start; --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

static yw_status count_masters(const yw_plastic_def* def, plastic_model* model,
                               const int32_t* order, yw_error* error) {
  int64_t total = 0;
  for (int32_t i = 0; i < def->num_parts; ++i) {
    const yw_plastic_part* from = &def->parts[order[i]];
    int64_t count = from->num_points;
    if (from->shape) {
      lattice l;
      yw_status status = count_points(&model->mem, from->shape, def->spacing, from->sheet,
                                      def->memory_limit, &l, &count, error);
      if (status < 0) return status;
    }
    model->parts[i].number = order[i];
    model->parts[i].first = (int32_t)total;
    model->parts[i].count = (int32_t)count;
    total += count;
    yw_status status = check_memory((double)total, (double)total, def->memory_limit, error);
    if (status < 0) return status;
  }
  model->num_masters = (int32_t)total;
  return YW_OK;
}

static yw_status fill_parts(const yw_plastic_def* def, plastic_model* model, const int32_t* order,
                            yw_error* error) {
  for (int32_t i = 0; i < def->num_parts; ++i) {
    const yw_plastic_part* from = &def->parts[order[i]];
    plastic_part* to = &model->parts[i];
    yw_vec3* sampled = NULL;
    if (from->shape) {
      int32_t count;
      yw_status status = yw_plastic_sample(&model->mem, from->shape, def->spacing, from->sheet,
                                           &sampled, &count, error);
      if (status < 0) return status;
    }
    add_masters(model, from, to, sampled ? sampled : from->points);
    yw_points_free(&model->mem, sampled);
    if (!yw_plastic_link_masters(model, to)) return yw_fail_memory(error, "a plastic model");
    if (!def->without_slaves && !yw_plastic_place_slaves(model, to, from->transform.rotation)) {
      return yw_fail_memory(error, "a plastic model");
    }
  }
  return check_memory((double)model->num_masters, (double)model->num_slaves, def->memory_limit,
                      error);
}

static float default_blend(bool paper) { return paper ? 0.9f : 1.0f; }

static uint64_t hash_of(const plastic_model* m) {
  const int32_t counts[4] = {m->paper, m->without_slaves, m->num_masters, m->num_parts};
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, &m->spacing, sizeof m->spacing);
  hash = yw_hash_bytes(hash, counts, sizeof counts);
  hash = yw_hash_bytes(hash, m->masters, (size_t)m->num_masters * sizeof *m->masters);
  hash = yw_hash_bytes(hash, m->mass, (size_t)m->num_masters * sizeof *m->mass);
  const yw_plastic_scheme usual = yw_default_plastic_scheme(), *s = &m->scheme;
  const float scheme[6] = {s->implicit_share,       s->velocity_blend - default_blend(m->paper),
                           (float)s->collide_after, s->link_reach,
                           s->split_master,         s->split_slave};
  const float same[6] = {usual.implicit_share, 0.0f, 0.0f, usual.link_reach, usual.split_master,
                         usual.split_slave};
  if (memcmp(scheme, same, sizeof same) != 0) hash = yw_hash_bytes(hash, scheme, sizeof scheme);
  size_t blocks = (size_t)yw_plastic_chunks(m->num_masters, YW_LANES);
  hash = yw_hash_bytes(hash, m->materials, blocks * sizeof *m->materials);
  hash = yw_hash_bytes(hash, m->slaves, (size_t)m->num_slaves * sizeof *m->slaves);
  for (int32_t i = 0; i < m->num_parts; ++i) {
    const plastic_part* p = &m->parts[i];
    hash = yw_hash_bytes(hash, &p->start, sizeof p->start);
    hash = yw_hash_bytes(hash, &p->velocity, sizeof p->velocity);
    hash = yw_hash_bytes(hash, &p->spin, sizeof p->spin);
  }
  return hash;
}

void yw_plastic_model_destroy(void* pointer) {
  plastic_model* model = pointer;
  if (!model) return;
  yw_allocator mem = model->mem;
  void* const arrays[] = {model->parts,
                          model->masters,
                          model->mass,
                          model->materials,
                          model->slaves,
                          model->links,
                          model->material_of_block,
                          model->link_kind,
                          model->first_way,
                          model->link_way,
                          model->first_link,
                          model->skin};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&mem, arrays[i]);
  yw_plastic_unclad(model);
  yw_mem_free(&mem, model);
}

// Index of a block of materials among the last ones that were kept; -1: it is new.
static int32_t find_material(const plastic_model* model, const plastic_material_block* block) {
  enum { LOOK_BACK = 64 };
  int32_t last = model->num_materials;
  for (int32_t i = last - 1; i >= 0 && i >= last - LOOK_BACK; --i) {
    if (memcmp(&model->materials[i], block, sizeof *block) == 0) return i;
  }
  return -1;
}

// Bodies have the materials of their masters; here each kind of block stays once.
static bool fold_materials(plastic_model* model) {
  int32_t blocks = yw_plastic_chunks(model->num_masters, YW_LANES);
  model->material_of_block = YW_NEW_ARRAY(&model->mem, int32_t, blocks);
  if (!model->material_of_block) return false;
  for (int32_t b = 0; b < blocks; ++b) {
    int32_t kind = find_material(model, &model->materials[b]);
    if (kind < 0) {
      kind = model->num_materials++;
      if (kind != b) model->materials[kind] = model->materials[b];
    }
    model->material_of_block[b] = kind;
  }
  plastic_material_block* kinds =
      YW_NEW_ARRAY(&model->mem, plastic_material_block, model->num_materials);
  if (!kinds) return false;
  memcpy(kinds, model->materials, (size_t)model->num_materials * sizeof *kinds);
  yw_mem_free(&model->mem, model->materials);
  model->materials = kinds;
  return true;
}

static bool make_skin(const yw_plastic_def* def, plastic_model* model) {
  yw_quat* rotations = YW_NEW_ARRAY(&model->mem, yw_quat, def->num_parts);
  for (int32_t i = 0; rotations && i < def->num_parts; ++i) {
    rotations[i] = def->parts[i].transform.rotation;
  }
  bool good = rotations && yw_plastic_make_skin(model, rotations);
  yw_mem_free(&model->mem, rotations);
  return good;
}

static yw_status build(const yw_plastic_def* def, plastic_model* model, int32_t* order,
                       yw_error* error) {
  order_parts(def, order);
  if (!(def->parts[order[0]].start == 0.0)) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "the first part starts at %g s, but one must be there at 0 (a body that comes later "
        "as a whole has a start of its own)",
        def->parts[order[0]].start);
  }
  yw_status status = count_masters(def, model, order, error);
  if (status < 0) return status;
  size_t n = (size_t)model->num_masters;
  model->masters = YW_NEW_ARRAY(&model->mem, yw_vec3, n);
  model->mass = YW_NEW_ARRAY(&model->mem, float, n);
  model->materials = YW_NEW_ARRAY(&model->mem, plastic_material_block,
                                  yw_plastic_chunks(model->num_masters, YW_LANES));
  if (!model->masters || !model->mass || !model->materials) {
    return yw_fail_memory(error, "a plastic model");
  }
  status = fill_parts(def, model, order, error);
  if (status < 0) return status;
  float size = model->spacing * yw_cbrtf((float)model->num_masters);
  model->grip_time = 3.0f * size / model->shear_speed;
  model->hash = hash_of(model);
  if (!fold_materials(model) || !yw_plastic_fold_links(model) || !make_skin(def, model))
    return yw_fail_memory(error, "a plastic model");
  return YW_OK;
}

yw_status yw_plastic_model_create(const yw_allocator* mem, const yw_plastic_def* def,
                                  const yw_plastic_scheme* scheme, float slave_reach, void** out,
                                  yw_error* error) {
  const yw_plastic_scheme usual = yw_default_plastic_scheme();
  if (!scheme) scheme = &usual;
  *out = NULL;
  yw_status status = check_def(def, error);
  if (status >= 0) status = check_scheme(scheme, error);
  if (status >= 0) status = check_reach(slave_reach, error);
  if (status < 0) return status;
  plastic_model* model = YW_NEW(mem, plastic_model);
  if (!model) return yw_fail_memory(error, "a plastic model");
  model->mem = yw_mem_or_default(mem);
  model->spacing = def->spacing;
  model->params = def->params;
  model->paper = def->paper;
  model->without_slaves = def->without_slaves;
  model->scheme = *scheme;
  model->slave_reach = slave_reach > 0.0f ? slave_reach : usual_reach(def);
  if (!(scheme->velocity_blend >= 0.0f)) model->scheme.velocity_blend = default_blend(def->paper);
  model->num_parts = def->num_parts;
  model->parts = YW_NEW_ARRAY(mem, plastic_part, def->num_parts);
  int32_t* order = YW_NEW_ARRAY(mem, int32_t, def->num_parts);
  status = model->parts && order ? build(def, model, order, error)
                                 : yw_fail_memory(error, "a plastic model");
  yw_mem_free(mem, order);
  if (status < 0) {
    yw_plastic_model_destroy(model);
    return status;
  }
  *out = model;
  return YW_OK;
}
