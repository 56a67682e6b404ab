// SPDX-License-Identifier: MIT
#include "reference/match_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/vec.h"

#define MAX_EXAMPLES 4

typedef struct mat3 {
  float m[3][3];
} mat3;

typedef struct region {
  int first, count;  // members
  float mass;        // sum of effective masses
  yw_vec3 rest_center, center;
  mat3 moment, inv_moment;
  mat3 rotation, stretch, target;
  mat3 example[MAX_EXAMPLES];  // stretch of the examples
} region;

typedef struct particle {
  yw_vec3 pos, vel, rest, goal;
  yw_vec3 seen;  // position used for viscosity
  float mass, effective_mass;
  int num_regions;
} particle;

struct reference_body {
  int num_particles, num_examples;
  bool torque_free;
  yw_match_params params;
  particle* particles;
  region* regions;
  int* members;
  double gram[MAX_EXAMPLES][MAX_EXAMPLES];
  float weights[1 + MAX_EXAMPLES];
  yw_vec3 *pos, *vel;  // copies for the caller
  yw_vec3 torque;      // angular impulse of the goals in the last step
};

// Small vectors -----------------------------------------------------------------------------------

static yw_vec3 sub(yw_vec3 a, yw_vec3 b) { return (yw_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static yw_vec3 add(yw_vec3 a, yw_vec3 b) { return (yw_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static yw_vec3 mad(yw_vec3 a, float s, yw_vec3 b) {
  return (yw_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static yw_vec3 cross(yw_vec3 a, yw_vec3 b) {
  return (yw_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static yw_vec3 mul(const mat3* a, yw_vec3 v) {
  return (yw_vec3){a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                   a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                   a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z};
}
static mat3 mul_mat(const mat3* a, const mat3* b) {
  mat3 c;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    }
  }
  return c;
}
static mat3 mul_tn(const mat3* a, const mat3* b) {
  mat3 c;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.m[i][j] = a->m[0][i] * b->m[0][j] + a->m[1][i] * b->m[1][j] + a->m[2][i] * b->m[2][j];
    }
  }
  return c;
}
static void add_outer(mat3* a, float s, yw_vec3 p, yw_vec3 q) {
  yw_vec3 sp = {s * p.x, s * p.y, s * p.z};
  a->m[0][0] += sp.x * q.x;
  a->m[0][1] += sp.x * q.y;
  a->m[0][2] += sp.x * q.z;
  a->m[1][0] += sp.y * q.x;
  a->m[1][1] += sp.y * q.y;
  a->m[1][2] += sp.y * q.z;
  a->m[2][0] += sp.z * q.x;
  a->m[2][1] += sp.z * q.y;
  a->m[2][2] += sp.z * q.z;
}

// a^-1, and the determinant of a.
static mat3 inverse(const mat3* a, float* determinant) {
  const float(*m)[3] = a->m;
  float cxx = m[1][1] * m[2][2] - m[1][2] * m[2][1], cxy = m[1][2] * m[2][0] - m[1][0] * m[2][2];
  float cxz = m[1][0] * m[2][1] - m[1][1] * m[2][0];
  float det = m[0][0] * cxx + m[0][1] * cxy + m[0][2] * cxz, s = 1.0f / det;
  *determinant = det;
  return (mat3){{{s * cxx, s * (m[0][2] * m[2][1] - m[0][1] * m[2][2]),
                  s * (m[0][1] * m[1][2] - m[0][2] * m[1][1])},
                 {s * cxy, s * (m[0][0] * m[2][2] - m[0][2] * m[2][0]),
                  s * (m[0][2] * m[1][0] - m[0][0] * m[1][2])},
                 {s * cxz, s * (m[0][1] * m[2][0] - m[0][0] * m[2][1]),
                  s * (m[0][0] * m[1][1] - m[0][1] * m[1][0])}}};
}

// S = sqrt(A^T A) by Jacobi rotations, R = A S^-1, as the paper writes it.
static mat3 polar_rotation(const mat3* a) {
  mat3 s = mul_tn(a, a), v = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, scaled, inv_stretch;
  for (int sweep = 0; sweep < 10; ++sweep) {
    float off = fabsf(s.m[0][1]) + fabsf(s.m[0][2]) + fabsf(s.m[1][2]);
    if (off <= 1e-7f * (s.m[0][0] + s.m[1][1] + s.m[2][2])) break;
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (s.m[p][q] == 0.0f) continue;
        float theta = 0.5f * (s.m[q][q] - s.m[p][p]) / s.m[p][q];
        float t = (theta < 0.0f ? -1.0f : 1.0f) / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
        float cos = 1.0f / sqrtf(t * t + 1.0f), sin = t * cos;
        int r = 3 - p - q;
        float rp = s.m[r][p], rq = s.m[r][q], change = t * s.m[p][q];
        s.m[p][p] -= change;
        s.m[q][q] += change;
        s.m[p][q] = s.m[q][p] = 0.0f;
        s.m[r][p] = s.m[p][r] = cos * rp - sin * rq;
        s.m[r][q] = s.m[q][r] = sin * rp + cos * rq;
        for (int k = 0; k < 3; ++k) {
          float kp = v.m[k][p], kq = v.m[k][q];
          v.m[k][p] = cos * kp - sin * kq;
          v.m[k][q] = sin * kp + cos * kq;
        }
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    float inv = 1.0f / sqrtf(fmaxf(s.m[k][k], 1e-12f));
    for (int i = 0; i < 3; ++i) scaled.m[i][k] = v.m[i][k] * inv;
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      inv_stretch.m[i][j] =
          scaled.m[i][0] * v.m[j][0] + scaled.m[i][1] * v.m[j][1] + scaled.m[i][2] * v.m[j][2];
    }
  }
  return mul_mat(a, &inv_stretch);
}

// Set-up ------------------------------------------------------------------------------------------

// Regions of a lattice: all particles within so many cells along every axis, found by trying all.
static bool list_lattice(reference_body* body, const yw_match_def* def) {
  const yw_vec3* rest = def->mesh->positions;
  int n = body->num_particles, total = 0;
  yw_vec3 low = rest[def->cells[0]], high = low;
  for (int c = 1; c < 8; ++c) {
    low = yw_min3(low, rest[def->cells[c]]);
    high = yw_max3(high, rest[def->cells[c]]);
  }
  yw_vec3 far = yw_scale(yw_sub(high, low), (float)def->region_width + 0.1f);
  body->members = malloc((size_t)n * (size_t)n * sizeof *body->members);
  if (!body->members) return false;
  for (int i = 0; i < n; ++i) {
    region* r = &body->regions[i];
    r->first = total;
    for (int j = 0; j < n; ++j) {
      yw_vec3 d = yw_sub(rest[j], rest[i]);
      if (fabsf(d.x) > far.x || fabsf(d.y) > far.y || fabsf(d.z) > far.z) continue;
      body->members[total++] = j;
    }
    r->count = total - r->first;
  }
  return true;
}

static bool list_members(reference_body* body, const yw_match_def* def) {
  const yw_tet_mesh* mesh = def->mesh;
  if (def->cells) return list_lattice(body, def);
  int n = body->num_particles;
  int capacity = 0;
  int* seen = malloc((size_t)n * sizeof *seen);
  int* start = calloc((size_t)n + 1, sizeof *start);
  int* tets = malloc(4 * (size_t)mesh->num_tets * sizeof *tets);
  if (!seen || !start || !tets) return false;
  for (int c = 0; c < 4 * mesh->num_tets; ++c) ++start[mesh->tets[c]];
  for (int i = 0, sum = 0; i <= n; ++i) {
    int count = i < n ? start[i] : 0;
    start[i] = sum;
    sum += count;
    if (i < n) seen[i] = -1;
  }
  for (int c = 0; c < 4 * mesh->num_tets; ++c) tets[start[mesh->tets[c]]++] = c / 4;
  for (int i = 0, total = 0; i < n; ++i) {
    region* r = &body->regions[i];
    r->first = total;
    for (int k = i > 0 ? start[i - 1] : 0; k < start[i]; ++k) {
      for (int c = 0; c < 4; ++c) {
        int j = mesh->tets[4 * tets[k] + c];
        if (seen[j] == i) continue;
        seen[j] = i;
        if (total == capacity) {
          capacity = 2 * capacity + 64;
          body->members = realloc(body->members, (size_t)capacity * sizeof *body->members);
          if (!body->members) return false;
        }
        body->members[total++] = j;
      }
    }
    r->count = total - r->first;
  }
  free(seen);
  free(start);
  free(tets);
  return true;
}

static void lump_masses(reference_body* body, const yw_match_def* def) {
  for (int t = 0; t < def->mesh->num_tets; ++t) {
    const int32_t* v = def->mesh->tets + 4 * (size_t)t;
    yw_vec3 a = def->mesh->positions[v[0]];
    yw_vec3 e1 = sub(def->mesh->positions[v[1]], a), e2 = sub(def->mesh->positions[v[2]], a);
    yw_vec3 e3 = sub(def->mesh->positions[v[3]], a), n = cross(e1, e2);
    float volume = (n.x * e3.x + n.y * e3.y + n.z * e3.z) / 6.0f;
    for (int c = 0; c < 4; ++c) body->particles[v[c]].mass += def->density * volume / 4.0f;
  }
}

static void region_centers(reference_body* body, region* r) {
  yw_vec3 sum = {0, 0, 0};
  for (int k = 0; k < r->count; ++k) {
    const particle* p = &body->particles[body->members[r->first + k]];
    sum = mad(sum, p->effective_mass, p->pos);
  }
  float inv = 1.0f / r->mass;
  r->center = (yw_vec3){sum.x * inv, sum.y * inv, sum.z * inv};
}

// A_r (1)
static mat3 linear_map(const reference_body* body, const region* r) {
  mat3 a = {{{0}}};
  for (int k = 0; k < r->count; ++k) {
    const particle* p = &body->particles[body->members[r->first + k]];
    add_outer(&a, p->effective_mass, sub(p->pos, r->center), sub(p->rest, r->rest_center));
  }
  return mul_mat(&a, &r->inv_moment);
}

static float moment_scale(const region* r) {
  return 3.0f / (r->moment.m[0][0] + r->moment.m[1][1] + r->moment.m[2][2]);
}

// Rotation and stretch of a region: A = R S or, torque-free, R of A Q and the symmetric part of
// R^T A.
static void decompose(const reference_body* body, const region* r, mat3* rotation, mat3* stretch) {
  mat3 a = linear_map(body, r);
  if (!body->torque_free) {
    *rotation = polar_rotation(&a);
    *stretch = mul_tn(rotation, &a);
    return;
  }
  mat3 aq = mul_mat(&a, &r->moment);
  float scale = moment_scale(r);
  for (int c = 0; c < 9; ++c) aq.m[c / 3][c % 3] *= scale;
  *rotation = polar_rotation(&aq);
  mat3 local = mul_tn(rotation, &a);
  for (int c = 0; c < 9; ++c) {
    stretch->m[c / 3][c % 3] = 0.5f * (local.m[c / 3][c % 3] + local.m[c % 3][c / 3]);
  }
}

static void rest_regions(reference_body* body) {
  for (int i = 0; i < body->num_particles; ++i) {
    region* r = &body->regions[i];
    for (int k = 0; k < r->count; ++k) {
      r->mass += body->particles[body->members[r->first + k]].effective_mass;
    }
    region_centers(body, r);
    r->rest_center = r->center;
    for (int k = 0; k < r->count; ++k) {
      const particle* p = &body->particles[body->members[r->first + k]];
      yw_vec3 q = sub(p->rest, r->rest_center);
      add_outer(&r->moment, p->effective_mass, q, q);
    }
    // Scaled, so that the determinant of small bodies stays in range.
    float det, scale = 1.0f / (r->moment.m[0][0] + r->moment.m[1][1] + r->moment.m[2][2]);
    mat3 unit = r->moment;
    for (int c = 0; c < 9; ++c) unit.m[c / 3][c % 3] *= scale;
    r->inv_moment = inverse(&unit, &det);
    for (int c = 0; c < 9; ++c) r->inv_moment.m[c / 3][c % 3] *= scale;
  }
}

static float descriptor_product(const mat3* a, const mat3* b) {
  float sum = 0.0f;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      float one = i == j ? 1.0f : 0.0f;
      sum += (a->m[i][j] - one) * (b->m[i][j] - one);
    }
  }
  return sum;
}

static void describe_examples(reference_body* body, const yw_match_def* def) {
  for (int e = 0; e < body->num_examples; ++e) {
    for (int i = 0; i < body->num_particles; ++i) body->particles[i].pos = def->examples[e][i];
    for (int i = 0; i < body->num_particles; ++i) {
      region* r = &body->regions[i];
      mat3 rotation;
      region_centers(body, r);
      decompose(body, r, &rotation, &r->example[e]);
    }
  }
  for (int e = 0; e < body->num_examples; ++e) {
    for (int f = 0; f < body->num_examples; ++f) {
      for (int i = 0; i < body->num_particles; ++i) {
        const region* r = &body->regions[i];
        body->gram[e][f] += (double)descriptor_product(&r->example[e], &r->example[f]);
      }
    }
  }
  for (int i = 0; i < body->num_particles; ++i) body->particles[i].pos = body->particles[i].rest;
}

reference_body* reference_create(const yw_match_def* def, bool torque_free) {
  size_t n = (size_t)def->mesh->num_vertices;
  reference_body* body = calloc(1, sizeof *body);
  if (!body || def->num_examples > MAX_EXAMPLES) {
    free(body);
    return NULL;
  }
  body->num_particles = (int)n;
  body->num_examples = def->num_examples;
  body->params = def->params;
  body->torque_free = torque_free;
  body->particles = calloc(n, sizeof *body->particles);
  body->regions = calloc(n, sizeof *body->regions);
  body->pos = calloc(n, sizeof *body->pos);
  body->vel = calloc(n, sizeof *body->vel);
  if (!body->particles || !body->regions || !body->pos || !body->vel || !list_members(body, def)) {
    reference_destroy(body);
    return NULL;
  }
  lump_masses(body, def);
  for (size_t i = 0; i < n; ++i) {
    particle* p = &body->particles[i];
    body->pos[i] = p->pos = p->rest = def->mesh->positions[i];
    p->num_regions = body->regions[i].count;
    p->effective_mass = p->mass / (float)p->num_regions;
  }
  rest_regions(body);
  describe_examples(body, def);
  return body;
}

void reference_destroy(reference_body* body) {
  if (!body) return;
  free(body->particles);
  free(body->regions);
  free(body->members);
  free(body->pos);
  free(body->vel);
  free(body);
}

yw_vec3* reference_positions(reference_body* body) { return body->pos; }
yw_vec3* reference_velocities(reference_body* body) { return body->vel; }
const float* reference_weights(const reference_body* body) { return body->weights; }

// The step ----------------------------------------------------------------------------------------

static void decompose_regions(reference_body* body) {
  for (int i = 0; i < body->num_particles; ++i) {
    region* r = &body->regions[i];
    region_centers(body, r);
    decompose(body, r, &r->rotation, &r->stretch);
  }
}

// Least squares over the examples in a set, with the others zero; the sum is one if full is set.
static bool solve_subset(const reference_body* body, const double* b, unsigned set, bool full,
                         double* w) {
  double m[MAX_EXAMPLES + 1][MAX_EXAMPLES + 2];
  int index[MAX_EXAMPLES], n = 0;
  for (int e = 0; e < body->num_examples; ++e) {
    w[e] = 0.0;
    if (set >> e & 1) index[n++] = e;
  }
  int size = n + (full ? 1 : 0);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      m[i][j] = i < n && j < n ? body->gram[index[i]][index[j]] : i < n || j < n ? 1.0 : 0.0;
    }
    m[i][size] = i < n ? b[index[i]] : 1.0;
  }
  for (int i = 0; i < size; ++i) {
    int pivot = i;
    for (int k = i + 1; k < size; ++k) {
      if (fabs(m[k][i]) > fabs(m[pivot][i])) pivot = k;
    }
    if (fabs(m[pivot][i]) < 1e-12) return false;
    for (int j = 0; j <= size; ++j) {
      double swap = m[i][j];
      m[i][j] = m[pivot][j];
      m[pivot][j] = swap;
    }
    for (int k = 0; k < size; ++k) {
      if (k == i) continue;
      double factor = m[k][i] / m[i][i];
      for (int j = i; j <= size; ++j) m[k][j] -= factor * m[i][j];
    }
  }
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    w[index[i]] = m[i][size] / m[i][i];
    sum += w[index[i]];
    if (w[index[i]] < 0.0) return false;
  }
  return sum <= 1.0 + 1e-12;
}

// Nearest point of the hull by trying every face.
static void project(reference_body* body) {
  int n = body->num_examples;
  double b[MAX_EXAMPLES] = {0}, best[MAX_EXAMPLES] = {0}, lowest = 0.0;
  for (int i = 0; i < body->num_particles; ++i) {
    const region* r = &body->regions[i];
    for (int e = 0; e < n; ++e) b[e] += (double)descriptor_product(&r->example[e], &r->stretch);
  }
  for (unsigned set = 1; set < 1u << n; ++set) {
    for (int full = 0; full < 2; ++full) {
      double w[MAX_EXAMPLES], value = 0.0;
      if (!solve_subset(body, b, set, full != 0, w)) continue;
      for (int e = 0; e < n; ++e) {
        value -= 2.0 * w[e] * b[e];
        for (int f = 0; f < n; ++f) value += w[e] * w[f] * body->gram[e][f];
      }
      if (value < lowest) {
        lowest = value;
        memcpy(best, w, sizeof best);
      }
    }
  }
  body->weights[0] = 1.0f;
  for (int e = 0; e < n; ++e) {
    body->weights[1 + e] = (float)best[e];
    body->weights[0] -= (float)best[e];
  }
}

// Adds to S~ the skew part [d] that removes the torque: P (S~ - [d]) is symmetric, P = R^T A Q.
static void take_torque(const region* r, const mat3* map, mat3* wanted) {
  mat3 p = mul_tn(&r->rotation, map), h;
  p = mul_mat(&p, &r->moment);
  float scale = moment_scale(r), det;
  for (int c = 0; c < 9; ++c) p.m[c / 3][c % 3] *= scale;
  mat3 m = mul_mat(&p, wanted);
  float trace = p.m[0][0] + p.m[1][1] + p.m[2][2];
  for (int c = 0; c < 9; ++c) h.m[c / 3][c % 3] = (c % 4 == 0 ? trace : 0.0f) - p.m[c % 3][c / 3];
  mat3 inv = inverse(&h, &det);
  yw_vec3 d =
      mul(&inv, (yw_vec3){m.m[2][1] - m.m[1][2], m.m[0][2] - m.m[2][0], m.m[1][0] - m.m[0][1]});
  wanted->m[0][1] -= d.z;
  wanted->m[1][0] += d.z;
  wanted->m[0][2] += d.y;
  wanted->m[2][0] -= d.y;
  wanted->m[1][2] -= d.x;
  wanted->m[2][1] += d.x;
}

static void bend_targets(reference_body* body) {
  for (int i = 0; i < body->num_particles; ++i) {
    region* r = &body->regions[i];
    mat3 wanted = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int e = 0; e < body->num_examples; ++e) {
      float w = body->params.beta * body->weights[1 + e];
      for (int c = 0; c < 9; ++c) {
        float one = c % 4 == 0 ? 1.0f : 0.0f;
        wanted.m[c / 3][c % 3] += w * (r->example[e].m[c / 3][c % 3] - one);
      }
    }
    if (body->torque_free) {
      mat3 map = linear_map(body, r);
      take_torque(r, &map, &wanted);
    }
    r->target = mul_mat(&r->rotation, &wanted);
  }
}

static void average_goals(reference_body* body) {
  for (int i = 0; i < body->num_particles; ++i) body->particles[i].goal = (yw_vec3){0, 0, 0};
  for (int i = 0; i < body->num_particles; ++i) {
    const region* r = &body->regions[i];
    for (int k = 0; k < r->count; ++k) {
      particle* p = &body->particles[body->members[r->first + k]];
      yw_vec3 goal = add(mul(&r->target, sub(p->rest, r->rest_center)), r->center);
      p->goal = add(p->goal, goal);
    }
  }
  for (int i = 0; i < body->num_particles; ++i) {
    particle* p = &body->particles[i];
    float inv = 1.0f / (float)p->num_regions;
    p->goal = (yw_vec3){p->goal.x * inv, p->goal.y * inv, p->goal.z * inv};
  }
}

typedef struct rigid_motion {
  yw_vec3 center, velocity, spin;
  yw_vec3 amends;  // spin that takes back the angular impulse of the goals in the last step
} rigid_motion;

static rigid_motion find_rigid_motion(const reference_body* body) {
  yw_vec3 center = {0, 0, 0}, velocity = {0, 0, 0}, momentum = {0, 0, 0};
  float mass = 0.0f, det;
  mat3 inertia = {{{0}}};
  for (int i = 0; i < body->num_particles; ++i) {
    const particle* p = &body->particles[i];
    mass += p->mass;
    center = mad(center, p->mass, p->pos);
    velocity = mad(velocity, p->mass, p->vel);
  }
  center = (yw_vec3){center.x / mass, center.y / mass, center.z / mass};
  velocity = (yw_vec3){velocity.x / mass, velocity.y / mass, velocity.z / mass};
  for (int i = 0; i < body->num_particles; ++i) {
    const particle* p = &body->particles[i];
    yw_vec3 y = sub(p->pos, center);
    float yy = y.x * y.x + y.y * y.y + y.z * y.z;
    momentum = mad(momentum, p->mass, cross(y, sub(p->vel, velocity)));
    add_outer(&inertia, -p->mass, y, y);
    for (int k = 0; k < 3; ++k) inertia.m[k][k] += p->mass * yy;
  }
  mat3 inv = inverse(&inertia, &det);
  yw_vec3 back = {-body->torque.x, -body->torque.y, -body->torque.z};
  return (rigid_motion){center, velocity, mul(&inv, momentum), mul(&inv, back)};
}

static yw_vec3 rigid_velocity(const rigid_motion* m, yw_vec3 x) {
  return add(m->velocity, cross(m->spin, sub(x, m->center)));
}

// Regions are fitted to where the strain rate will have moved the particles slightly later.
static void look_ahead(reference_body* body, const rigid_motion* motion, float h) {
  float tau = body->params.viscosity, limit = 0.5f * h * (3.5f / body->params.alpha - 1.0f);
  if (tau > limit) tau = limit;
  for (int i = 0; i < body->num_particles; ++i) {
    particle* p = &body->particles[i];
    p->seen = mad(p->pos, tau, sub(p->vel, rigid_velocity(motion, p->pos)));
    p->pos = p->seen;
  }
}

// Damps everything except rigid motion.
static void damp(reference_body* body, const rigid_motion* motion, float h) {
  float share = 1.0f - expf(-body->params.damping * h);
  for (int i = 0; i < body->num_particles; ++i) {
    particle* p = &body->particles[i];
    p->vel = mad(p->vel, share, sub(rigid_velocity(motion, body->pos[i]), p->vel));
    p->vel = add(p->vel, cross(motion->amends, sub(body->pos[i], motion->center)));
  }
}

static void sum_torque(reference_body* body, const rigid_motion* motion, float h) {
  yw_vec3 torque = {0, 0, 0};
  for (int i = 0; i < body->num_particles; ++i) {
    const particle* p = &body->particles[i];
    yw_vec3 y = sub(body->pos[i], motion->center);
    torque = mad(torque, p->mass * body->params.alpha / h, cross(y, sub(p->goal, p->seen)));
  }
  body->torque = torque;
}

static void meet_floor(particle* p, const reference_step_def* def) {
  if (p->pos.y >= def->floor) return;
  p->pos.y = def->floor;
  if (p->vel.y < 0.0f) {
    float slide = sqrtf(p->vel.x * p->vel.x + p->vel.z * p->vel.z);
    float loss = -def->friction * p->vel.y;
    float left = slide > loss ? 1.0f - loss / slide : 0.0f;
    p->vel = (yw_vec3){left * p->vel.x, 0.0f, left * p->vel.z};
  }
}

void reference_step(reference_body* body, const reference_step_def* def) {
  for (int i = 0; i < body->num_particles; ++i) {
    body->particles[i].pos = body->pos[i];
    body->particles[i].vel = body->vel[i];
  }
  rigid_motion motion = find_rigid_motion(body);
  look_ahead(body, &motion, def->h);
  decompose_regions(body);
  if (body->num_examples > 0) project(body);
  bend_targets(body);
  average_goals(body);
  damp(body, &motion, def->h);
  if (body->torque_free) sum_torque(body, &motion, def->h);
  for (int i = 0; i < body->num_particles; ++i) {
    particle* p = &body->particles[i];
    p->vel = mad(p->vel, body->params.alpha / def->h, sub(p->goal, p->seen));
    p->vel = mad(p->vel, def->h, def->gravity);
    p->pos = mad(body->pos[i], def->h, p->vel);
    meet_floor(p, def);
    body->pos[i] = p->pos;
    body->vel[i] = p->vel;
  }
}
