// SPDX-License-Identifier: MIT
// By how much families are to be softened, for the tets of one mesh.
//
// In pure bending about any axis, strain varies linearly: e = (b x) T, T the strain of a pull along
// a, and a material stores V/2 <(b x)^2> T C T for it. The tets of a family that are moved along
// have strains E_c and store more. K is to take as much from sum V_c/2 (E_c - E_m) K (E_c - E_m)
// that the mesh as a whole stores what the material does: by least squares over bending in all
// directions, since six by six numbers cannot meet all of them, and as near as they allow to the
// fractions that suit meshes without a preferred direction.
//
// Strains and matrices are relative to C = L L^T: y = L^T e, K = L Q L^T.
#include <math.h>

#include "math/small/dense.h"
#include "methods/fem/sampling.h"
#include "methods/fem/soften.h"
#include "yawara/extend/memory.h"

#define BASIS 18                         // u_i = x_j x_k
#define PAIRS (BASIS * (BASIS + 1) / 2)  // products of two coefficients
#define PARTS FEM_MATRIX
#define ORBITS 10  // directions of bending, and their mirror images in the axes and diagonals
#define MODES (24 * ORBITS)
#define MAX_ROOTS 128  // evenly spaced
// Weight of a change of Q against errors of the energy: 0.1 is as bad as 3 %. Bars, a bracket and
// beams with cores are within 1.3 % of quadratic tets; a third of it takes all but MOST of some
// strains, and gains less than 1 %.
#define NEARNESS 0.3
#define MOST 0.92  // of the stiffness

typedef struct bend_mode {
  yw_dvec3 along, across;  // strain along one varies along the other
} bend_mode;

typedef struct bend_fit {
  yw_sym6 elasticity;
  yw_mat6 lower;  // L
  double poisson;
  double products[PARTS][PAIRS];  // sum of V y_i y_j
  double means[PAIRS];            // sum of V |y_m|^2
  double moment[3][3];            // integral of x x^T
} bend_fit;

// A family, with its centre at the origin.
typedef struct bent_family {
  int32_t num_children, num_nodes;
  yw_dvec3 x[FEM_FAMILY_NODES];
  yw_dvec3 u[FEM_FAMILY_NODES][BASIS];
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  yw_dvec3 gradient[FEM_FAMILY_CHILDREN][4];
  double volume[FEM_FAMILY_CHILDREN];
} bent_family;

// Families ----------------------------------------------------------------------------------------

static yw_dvec3 unit(int i, double length) {
  return (yw_dvec3){i == 0 ? length : 0.0, i == 1 ? length : 0.0, i == 2 ? length : 0.0};
}

static void place_nodes(const yw_dvec3 corners[4], double scale, bent_family* f) {
  yw_dvec3 sum = yw_dadd(yw_dadd(corners[0], corners[1]), yw_dadd(corners[2], corners[3]));
  for (int k = 0; k < 4; ++k) {
    f->x[k] = yw_dscale(yw_dmad(corners[k], -0.25, sum), scale);
  }
  for (int e = 0; e < 6; ++e) {
    f->x[4 + e] = yw_dscale(yw_dadd(f->x[yw_fem_edges[e][0]], f->x[yw_fem_edges[e][1]]), 0.5);
  }
  f->x[10] = (yw_dvec3){0, 0, 0};
  for (int32_t n = 0; n < f->num_nodes; ++n) {
    const double x[3] = {f->x[n].x, f->x[n].y, f->x[n].z};
    for (int i = 0, p = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = j; k < 3; ++k) f->u[n][p++] = unit(i, x[j] * x[k]);
      }
    }
  }
}

static void strain_of(const bent_family* f, int32_t child, int p, double e[6]) {
  double h[9] = {0};
  for (int s = 0; s < 4; ++s) {
    yw_dvec3 u = f->u[f->rules[child].local[s]][p], g = f->gradient[child][s];
    const double v[3] = {u.x, u.y, u.z};
    for (int i = 0; i < 3; ++i) {
      h[3 * i] += v[i] * g.x;
      h[3 * i + 1] += v[i] * g.y;
      h[3 * i + 2] += v[i] * g.z;
    }
  }
  yw_strain_of_gradient(h, e);
}

// The node in the middle belongs to no other family and goes where forces are in balance.
static void settle_middle(const bend_fit* fit, bent_family* f) {
  double k[9] = {0}, lower[9];
  for (int i = 0; i < 3; ++i) {
    for (int32_t c = 4; c < f->num_children; ++c) {
      for (int s = 0; s < 4; ++s) {
        if (f->rules[c].local[s] != 10) continue;
        yw_dvec3 g = f->gradient[c][s], a = unit(i, 1.0);
        const double h[9] = {a.x * g.x, a.x * g.y, a.x * g.z, a.y * g.x, a.y * g.y,
                             a.y * g.z, a.z * g.x, a.z * g.y, a.z * g.z};
        double e[6], stress[6];
        yw_strain_of_gradient(h, e);
        yw_sym6_apply(&fit->elasticity, e, stress);
        yw_dvec3 force = yw_dscale(yw_stress_on_node(stress, g), f->volume[c]);
        k[i] += force.x, k[3 + i] += force.y, k[6 + i] += force.z;
      }
    }
  }
  if (!yw_dense_cholesky(3, k, lower)) return;
  for (int p = 0; p < BASIS; ++p) {
    double load[3] = {0};
    for (int32_t c = 4; c < f->num_children; ++c) {
      double e[6], stress[6];
      strain_of(f, c, p, e);
      yw_sym6_apply(&fit->elasticity, e, stress);
      for (int s = 0; s < 4; ++s) {
        if (f->rules[c].local[s] != 10) continue;
        yw_dvec3 force = yw_stress_on_node(stress, f->gradient[c][s]);
        load[0] -= f->volume[c] * force.x;
        load[1] -= f->volume[c] * force.y;
        load[2] -= f->volume[c] * force.z;
      }
    }
    yw_dense_solve(3, lower, load, load);
    f->u[10][p] = yw_dadd(f->u[10][p], (yw_dvec3){load[0], load[1], load[2]});
  }
}

static void make_family(const bend_fit* fit, const yw_dvec3 corners[4], int type, double scale,
                        bent_family* f) {
  f->num_children = yw_fem_child_rules(type, f->rules);
  f->num_nodes = yw_fem_num_family_nodes(type);
  place_nodes(corners, scale, f);
  for (int32_t c = 0; c < f->num_children; ++c) {
    yw_dvec3 x[4];
    for (int s = 0; s < 4; ++s) x[s] = f->x[f->rules[c].local[s]];
    f->volume[c] = fabs(yw_tet_gradients(x, f->gradient[c]));
  }
  if (type == FEM_A) settle_middle(fit, f);
}

// Sums over families ------------------------------------------------------------------------------

static void add_products(bend_fit* fit, double weight, double y[6][BASIS]) {
  for (int i = 0, part = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j, ++part) {
      double* to = fit->products[part];
      for (int p = 0, pair = 0; p < BASIS; ++p) {
        for (int q = p; q < BASIS; ++q) {
          to[pair++] += 0.5 * weight * (y[i][p] * y[j][q] + y[j][p] * y[i][q]);
        }
      }
    }
  }
}

static void add_family(bend_fit* fit, double weight, const bent_family* f) {
  double y[FEM_FAMILY_CHILDREN][6][BASIS], mean[6][BASIS] = {{0}}, volume = 0.0;
  for (int32_t c = 0; c < f->num_children; ++c) volume += f->volume[c];
  for (int32_t c = 0; c < f->num_children; ++c) {
    for (int p = 0; p < BASIS; ++p) {
      double e[6];
      strain_of(f, c, p, e);
      for (int i = 0; i < 6; ++i) {
        y[c][i][p] = 0.0;
        for (int j = i; j < 6; ++j) y[c][i][p] += fit->lower.m[6 * j + i] * e[j];
        mean[i][p] += f->volume[c] / volume * y[c][i][p];
      }
    }
  }
  for (int32_t c = 0; c < f->num_children; ++c) {
    for (int i = 0; i < 6; ++i) {
      for (int p = 0; p < BASIS; ++p) y[c][i][p] -= mean[i][p];
    }
    add_products(fit, weight * f->volume[c], y[c]);
  }
  for (int p = 0, pair = 0; p < BASIS; ++p) {
    for (int q = p; q < BASIS; ++q, ++pair) {
      for (int i = 0; i < 6; ++i) fit->means[pair] += weight * volume * mean[i][p] * mean[i][q];
    }
  }
  for (int k = 0; k < 4; ++k) {
    const double x[3] = {f->x[k].x, f->x[k].y, f->x[k].z};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) fit->moment[i][j] += weight * volume * x[i] * x[j] / 20.0;
    }
  }
}

// The families of a root in proportion to their volume below the first level.
static void add_root(bend_fit* fit, const fem_hierarchy* h, int32_t root) {
  yw_dvec3 corners[4];
  bent_family f;
  for (int s = 0; s < 4; ++s) corners[s] = h->rest[h->nodes[root][s]];
  make_family(fit, corners, FEM_A, 1.0, &f);
  add_family(fit, 1.0, &f);
  // One level down there are four families of type A and two of each other type, half as large.
  for (int32_t c = 4; c < 8; ++c) {
    int32_t child = h->first_child[root] + c;
    for (int s = 0; s < 4; ++s) corners[s] = h->rest[h->nodes[child][s]];
    make_family(fit, corners, h->type[child], 2.0, &f);
    add_family(fit, 0.5, &f);
  }
}

// Directions --------------------------------------------------------------------------------------

static double next_number(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / 8388608.0 - 1.0;
}

static yw_dvec3 next_direction(uint32_t* state) {
  for (;;) {
    yw_dvec3 d = {next_number(state), next_number(state), next_number(state)};
    double length = yw_dlength(d);
    if (length > 0.1 && length < 1.0) return yw_dscale(d, 1.0 / length);
  }
}

static yw_dvec3 mirrored(yw_dvec3 a, int image) {
  static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const double x[3] = {a.x, a.y, a.z};
  const uint8_t* order = orders[image / 4];
  return (yw_dvec3){x[order[0]], (image & 1 ? -1.0 : 1.0) * x[order[1]],
                    (image & 2 ? -1.0 : 1.0) * x[order[2]]};
}

static void choose_modes(bend_mode modes[MODES]) {
  uint32_t state = 1;
  for (int n = 0; n < ORBITS; ++n) {
    yw_dvec3 a = next_direction(&state), b = next_direction(&state);
    b = yw_dmad(b, -yw_ddot(a, b), a);
    b = yw_dscale(b, 1.0 / yw_dlength(b));
    for (int image = 0; image < 24; ++image) {
      modes[24 * n + image] = (bend_mode){mirrored(a, image), mirrored(b, image)};
    }
  }
}

// Coefficients of u = a (ax)(bx) - b ((ax)^2 + nu ((bx)^2 - (cx)^2)) / 2 - c nu (bx)(cx), and their
// products.
static void products_of(const bend_mode* mode, double nu, double out[PAIRS]) {
  yw_dvec3 third = yw_dcross(mode->along, mode->across);
  const double a[3] = {mode->along.x, mode->along.y, mode->along.z},
               b[3] = {mode->across.x, mode->across.y, mode->across.z},
               c[3] = {third.x, third.y, third.z};
  double z[BASIS];
  for (int i = 0, p = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = j; k < 3; ++k) {
        double value = 0.5 * a[i] * (a[j] * b[k] + a[k] * b[j]) -
                       0.5 * b[i] * (a[j] * a[k] + nu * (b[j] * b[k] - c[j] * c[k])) -
                       0.5 * nu * c[i] * (b[j] * c[k] + b[k] * c[j]);
        z[p++] = j == k ? value : 2.0 * value;
      }
    }
  }
  for (int p = 0, pair = 0; p < BASIS; ++p) {
    for (int q = p; q < BASIS; ++q) out[pair++] = (p == q ? 1.0 : 2.0) * z[p] * z[q];
  }
}

static double dot(const double a[PAIRS], const double b[PAIRS]) {
  double sum = 0.0;
  for (int k = 0; k < PAIRS; ++k) sum += a[k] * b[k];
  return sum;
}

// What the material stores, twice.
static double energy_of_material(const bend_fit* fit, const bend_mode* mode) {
  const double a[3] = {mode->along.x, mode->along.y, mode->along.z},
               b[3] = {mode->across.x, mode->across.y, mode->across.z};
  double pull[9], e[6], stress[6], variance = 0.0, energy = 0.0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      pull[3 * i + j] = (1.0 + fit->poisson) * a[i] * a[j] - (i == j ? fit->poisson : 0.0);
      variance += fit->moment[i][j] * b[i] * b[j];
    }
  }
  yw_strain_of_gradient(pull, e);
  yw_sym6_apply(&fit->elasticity, e, stress);
  for (int i = 0; i < 6; ++i) energy += e[i] * stress[i];
  return variance * energy;
}

// The fit -----------------------------------------------------------------------------------------

// a 1 + b v v^T / v v, v = L^T (1 1 1 0 0 0).
static void usual_fractions(const bend_fit* fit, double all, double volume, double q[36]) {
  double v[6] = {0}, length2 = 0.0;
  for (int i = 0; i < 6; ++i) {
    for (int j = i; j < 3; ++j) v[i] += fit->lower.m[6 * j + i];
    length2 += v[i] * v[i];
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      q[6 * i + j] = (i == j ? all : 0.0) + volume * v[i] * v[j] / length2;
    }
  }
}

// Adds one direction's equation: row x = excess.
typedef struct equations {
  double matrix[PARTS * PARTS], right[PARTS], scale;
} equations;

static void add_mode(const bend_fit* fit, const bend_mode* mode, const double q[36],
                     equations* out) {
  double pairs[PAIRS], row[PARTS], stored = 0.0, taken = 0.0;
  products_of(mode, fit->poisson, pairs);
  for (int i = 0, part = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j, ++part) {
      row[part] = (i == j ? 1.0 : 2.0) * dot(fit->products[part], pairs);
      if (i == j) stored += row[part];
      taken += row[part] * q[6 * i + j];
    }
  }
  double excess = stored + dot(fit->means, pairs) - energy_of_material(fit, mode) - taken;
  for (int i = 0; i < PARTS; ++i) {
    for (int j = 0; j < PARTS; ++j) out->matrix[PARTS * i + j] += row[i] * row[j];
    out->right[i] += row[i] * excess;
  }
  out->scale += stored / MODES;
}

// Eigenvalues of Q between 0 and MOST.
static bool keep_positive(double q[36]) {
  double values[6], vectors[36];
  if (!yw_dense_eigen(6, q, values, vectors)) return false;
  for (int k = 0; k < 36; ++k) q[k] = 0.0;
  for (int n = 0; n < 6; ++n) {
    double value = fmin(fmax(values[n], 0.0), MOST);
    const double* v = vectors + 6 * n;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) q[6 * i + j] += value * v[i] * v[j];
    }
  }
  return true;
}

static bool solve(const bend_fit* fit, double q[36]) {
  bend_mode modes[MODES];
  equations e = {{0}, {0}, 0.0};
  choose_modes(modes);
  for (int n = 0; n < MODES; ++n) add_mode(fit, &modes[n], q, &e);
  double weight = NEARNESS * NEARNESS * MODES * e.scale * e.scale;
  for (int i = 0, part = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j, ++part) {
      e.matrix[PARTS * part + part] += (i == j ? 1.0 : 2.0) * weight;
    }
  }
  double lower[PARTS * PARTS];
  if (!yw_dense_cholesky(PARTS, e.matrix, lower)) return false;
  yw_dense_solve(PARTS, lower, e.right, e.right);
  for (int i = 0, part = 0; i < 6; ++i) {
    for (int j = i; j < 6; ++j, ++part) {
      q[6 * i + j] += e.right[part];
      if (i != j) q[6 * j + i] += e.right[part];
    }
  }
  return keep_positive(q);
}

bool yw_fem_fit_softening(const yw_allocator* mem, const fem_hierarchy* h,
                          const float c[FEM_MATRIX], double all, double volume, double change[36]) {
  bend_fit* fit = yw_mem_alloc(mem, 1, sizeof *fit);
  if (!fit) return false;
  for (int k = 0; k < FEM_MATRIX; ++k) fit->elasticity.m[k] = (double)c[k];
  yw_mat6 full = yw_sym6_full(&fit->elasticity);
  bool good = yw_dense_cholesky(6, full.m, fit->lower.m);
  fit->poisson = yw_fem_moduli(&fit->elasticity).poissons;
  int32_t count = h->num_roots < MAX_ROOTS ? h->num_roots : MAX_ROOTS;
  for (int32_t n = 0; n < count && good; ++n) {
    add_root(fit, h, (int32_t)((int64_t)n * h->num_roots / count));
  }
  double usual[36], q[36];
  if (good) {
    usual_fractions(fit, all, volume, usual);
    memcpy(q, usual, sizeof q);
    good = solve(fit, q);
  }
  for (int k = 0; k < 36; ++k) change[k] = good ? q[k] - usual[k] : 0.0;
  yw_mem_free(mem, fit);
  return true;
}
