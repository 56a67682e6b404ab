// SPDX-License-Identifier: MIT
// Equilibria by a Cholesky factor and frequencies by subspace iteration (Bathe 1971).
#include <math.h>
#include <string.h>

#include "math/small/dense.h"
#include "reference/elastic/elastic.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

struct elastic_held {
  const elastic_system* system;
  bool* fixed;
  yw_sparse matrix;  // rows and columns of fixed components are those of a diagonal matrix
  yw_cholesky* factor;
  double *right, *scratch;
  int32_t columns;  // that scratch is sized for
};

// Supports ----------------------------------------------------------------------------------------

// Resistance of the least resisted rigid motion, as a fraction of the most resisted; 0: free.
static double resistance(const elastic_system* system, const bool* fixed) {
  double center[3] = {0}, size2 = 0.0, m[36] = {0}, values[6];
  int32_t n = system->num_nodes;
  for (int32_t p = 0; p < n; ++p) {
    const float* x = &system->points[p].x;
    for (int i = 0; i < 3; ++i) center[i] += (double)x[i] / n;
  }
  for (int32_t p = 0; p < n; ++p) {
    const float* x = &system->points[p].x;
    for (int i = 0; i < 3; ++i) size2 += pow((double)x[i] - center[i], 2) / n;
  }
  for (int32_t p = 0; p < n; ++p) {
    const float* x = &system->points[p].x;
    double y[3];
    for (int i = 0; i < 3; ++i) y[i] = ((double)x[i] - center[i]) / sqrt(size2);
    const double motion[3][6] = {
        {1, 0, 0, 0, y[2], -y[1]}, {0, 1, 0, -y[2], 0, y[0]}, {0, 0, 1, y[1], -y[0], 0}};
    for (int i = 0; i < 3; ++i) {
      if (!fixed[3 * p + i]) continue;
      for (int k = 0; k < 36; ++k) m[k] += motion[i][k / 6] * motion[i][k % 6];
    }
  }
  if (!yw_dense_eigen(6, m, values, NULL) || !(values[5] > 0.0)) return 0.0;
  return values[0] / values[5];
}

// Rigid motions that supports resist less than this are free.
#define FREE_MOTION 1e-9

static bool copy_matrix(elastic_held* held, double shift) {
  const yw_sparse* k = &held->system->stiffness;
  yw_sparse* m = &held->matrix;
  size_t entries = (size_t)k->start[k->size];
  m->mem = k->mem;
  m->size = k->size;
  m->start = YW_NEW_ARRAY(NULL, int32_t, k->size + 1);
  m->columns = YW_NEW_ARRAY(NULL, int32_t, entries);
  m->values = YW_NEW_ARRAY(NULL, double, entries);
  if (!m->start || !m->columns || !m->values) return false;
  memcpy(m->start, k->start, (size_t)(k->size + 1) * sizeof *m->start);
  memcpy(m->columns, k->columns, entries * sizeof *m->columns);
  for (int32_t i = 0; i < k->size; ++i) {
    for (int32_t e = k->start[i]; e < k->start[i + 1]; ++e) {
      int32_t j = k->columns[e];
      bool cut = i != j && (held->fixed[i] || held->fixed[j]);
      m->values[e] = cut ? 0.0 : k->values[e] + (i == j ? shift * held->system->mass[i / 3] : 0.0);
    }
  }
  return true;
}

// Allocates scratch for solves of several columns at once.
static bool make_room(elastic_held* held, int32_t columns) {
  if (columns <= held->columns) return true;
  yw_mem_free(NULL, held->scratch);
  yw_mem_free(NULL, held->right);
  held->scratch = YW_NEW_ARRAY(NULL, double, yw_cholesky_scratch(held->factor, columns, NULL));
  held->right = YW_NEW_ARRAY(NULL, double, (size_t)columns*(size_t)held->matrix.size);
  held->columns = held->scratch && held->right ? columns : 0;
  return held->columns > 0;
}

yw_status elastic_hold(const elastic_system* system, const bool* fixed, double shift,
                       elastic_held** out, yw_error* error) {
  *out = NULL;
  if (!(shift > 0.0) && !(resistance(system, fixed) > FREE_MOTION)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body can still move or turn as a whole: an equilibrium needs supports "
                   "against all six rigid motions");
  }
  elastic_held* held = YW_NEW(NULL, elastic_held);
  if (!held) return yw_fail_memory(error, "supports");
  held->system = system;
  held->fixed = YW_NEW_ARRAY(NULL, bool, system->stiffness.size);
  yw_status status = YW_OK;
  if (held->fixed) memcpy(held->fixed, fixed, (size_t)system->stiffness.size * sizeof *fixed);
  if (!held->fixed || !copy_matrix(held, shift)) status = yw_fail_memory(error, "supports");
  yw_cholesky_options options = {.points = system->points, .block = 3};
  if (status >= 0) {
    status = yw_cholesky_analyse(NULL, &held->matrix, &options, &held->factor, error);
  }
  if (status >= 0) status = yw_cholesky_factorise(held->factor, &held->matrix, NULL, error);
  if (status >= 0) {
    yw_cholesky_trim(held->factor, true);
    if (!make_room(held, 1)) status = yw_fail_memory(error, "a factor");
  }
  if (status < 0) {
    elastic_release(held);
    return status;
  }
  *out = held;
  return YW_OK;
}

void elastic_release(elastic_held* held) {
  if (!held) return;
  yw_cholesky_destroy(held->factor);
  yw_sparse_free(&held->matrix);
  yw_mem_free(NULL, held->fixed);
  yw_mem_free(NULL, held->right);
  yw_mem_free(NULL, held->scratch);
  yw_mem_free(NULL, held);
}

// Equilibria --------------------------------------------------------------------------------------

yw_status elastic_solve(elastic_held* held, const double* forces, double* displacements,
                        double* reactions, yw_error* error) {
  const yw_sparse* k = &held->system->stiffness;
  for (int32_t i = 0; i < k->size; ++i) {
    double b = forces ? forces[i] : 0.0;
    if (held->fixed[i]) {
      held->right[i] = 0.0;
      continue;
    }
    for (int32_t e = k->start[i]; e < k->start[i + 1]; ++e) {
      int32_t j = k->columns[e];
      if (held->fixed[j]) b -= k->values[e] * displacements[j];
    }
    held->right[i] = b;
  }
  if (!yw_cholesky_solve(held->factor, NULL, 1, 1, held->right, held->right, held->scratch)) {
    return yw_fail(error, YW_ERR_DIVERGED, "the stiffness matrix could not be factorised");
  }
  for (int32_t i = 0; i < k->size; ++i) {
    if (!held->fixed[i]) displacements[i] = held->right[i];
  }
  if (!reactions) return YW_OK;
  yw_sparse_multiply(k, NULL, 1, 1, displacements, reactions);
  for (int32_t i = 0; i < k->size; ++i) {
    reactions[i] = held->fixed[i] ? reactions[i] - (forces ? forces[i] : 0.0) : 0.0;
  }
  return YW_OK;
}

double elastic_energy(const elastic_system* system, const double* u) {
  const yw_sparse* k = &system->stiffness;
  double sum = 0.0;
  for (int32_t i = 0; i < k->size; ++i) {
    double row = 0.0;
    for (int32_t e = k->start[i]; e < k->start[i + 1]; ++e) row += k->values[e] * u[k->columns[e]];
    sum += 0.5 * u[i] * row;
  }
  return sum;
}

// Frequencies -------------------------------------------------------------------------------------

#define MAX_ROUNDS 60
#define MODE_TOLERANCE 1e-9
#define MAX_VECTORS (ELASTIC_MAX_MODES + 6 + 8)

typedef struct subspace {
  elastic_held* held;
  int32_t size, count;  // unknowns, vectors
  double *x, *y;        // component c of entry i at i * count + c
  double shift;
  double values[MAX_VECTORS];  // omega^2, ascending
} subspace;

// Reproducible numbers of both signs.
static double noise(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / (double)(1u << 24) - 0.5;
}

// The best combinations of y = (K + shift M)^-1 M x: they diagonalise both forms.
static bool ritz(subspace* s) {
  int32_t n = s->count;
  double k[MAX_VECTORS * MAX_VECTORS] = {0}, m[MAX_VECTORS * MAX_VECTORS] = {0};
  const double* mass = s->held->system->mass;
  for (int32_t i = 0; i < s->size; ++i) {
    const double *x = s->x + (size_t)i * (size_t)n, *y = s->y + (size_t)i * (size_t)n;
    if (s->held->fixed[i]) continue;
    for (int32_t a = 0; a < n; ++a) {
      for (int32_t b = 0; b <= a; ++b) {
        k[a * n + b] += mass[i / 3] * y[a] * x[b];  // y^T (K + shift M) y
        m[a * n + b] += mass[i / 3] * y[a] * y[b];
      }
    }
  }
  // With M = L L^T the problem becomes that of L^-1 K L^-T.
  double lower[MAX_VECTORS * MAX_VECTORS], c[MAX_VECTORS * MAX_VECTORS],
      q[MAX_VECTORS * MAX_VECTORS];
  if (!yw_dense_cholesky(n, m, lower)) return false;
  for (int32_t a = 0; a < n; ++a) {
    for (int32_t b = 0; b < n; ++b) c[a * n + b] = b <= a ? k[a * n + b] : k[b * n + a];
  }
  for (int pass = 0; pass < 2; ++pass) {  // rows, then (transposed) columns
    for (int32_t col = 0; col < n; ++col) {
      for (int32_t a = 0; a < n; ++a) {
        double sum = c[a * n + col];
        for (int32_t b = 0; b < a; ++b) sum -= lower[a * n + b] * c[b * n + col];
        c[a * n + col] = sum / lower[a * n + a];
      }
    }
    for (int32_t a = 0; a < n; ++a) {
      for (int32_t b = 0; b < a; ++b) {
        double swap = c[a * n + b];
        c[a * n + b] = c[b * n + a], c[b * n + a] = swap;
      }
    }
  }
  if (!yw_dense_eigen(n, c, s->values, q)) return false;
  // Vectors in terms of y: L^T z = q.
  for (int32_t r = 0; r < n; ++r) {
    double* z = q + r * n;
    for (int32_t a = n - 1; a >= 0; --a) {
      for (int32_t b = a + 1; b < n; ++b) z[a] -= lower[b * n + a] * z[b];
      z[a] /= lower[a * n + a];
    }
  }
  for (int32_t i = 0; i < s->size; ++i) {
    const double* y = s->y + (size_t)i * (size_t)n;
    double* x = s->x + (size_t)i * (size_t)n;
    for (int32_t r = 0; r < n; ++r) {
      x[r] = 0.0;
      for (int32_t a = 0; a < n; ++a) x[r] += q[r * n + a] * y[a];
    }
  }
  return true;
}

static yw_status iterate(subspace* s, int32_t wanted, yw_error* error) {
  double before[MAX_VECTORS] = {0};
  const double* mass = s->held->system->mass;
  for (int32_t round = 0; round < MAX_ROUNDS; ++round) {
    for (int32_t i = 0; i < s->size; ++i) {
      double m = s->held->fixed[i] ? 0.0 : mass[i / 3];
      for (int32_t c = 0; c < s->count; ++c) {
        size_t e = (size_t)i * (size_t)s->count + (size_t)c;
        s->held->right[e] = m * s->x[e];
      }
    }
    if (!yw_cholesky_solve(s->held->factor, NULL, s->count, s->count, s->held->right, s->y,
                           s->held->scratch) ||
        !ritz(s)) {
      return yw_fail(error, YW_ERR_DIVERGED, "frequencies could not be found");
    }
    double change = 0.0;
    for (int32_t c = 0; c < wanted; ++c) {
      change = fmax(change, fabs(s->values[c] - before[c]) / s->values[c]);
      before[c] = s->values[c];
    }
    if (change < MODE_TOLERANCE) break;
  }
  return YW_OK;
}

// Initial vectors: noise, so that no mode is missing.
static void seed(subspace* s) {
  uint32_t state = 12345;
  for (size_t e = 0; e < (size_t)s->size * (size_t)s->count; ++e) s->x[e] = noise(&state);
}

yw_status elastic_modes(const elastic_system* system, const bool* fixed, int32_t count,
                        double* frequencies, double* shapes, yw_error* error) {
  if (count < 1 || count > ELASTIC_MAX_MODES) {
    return yw_fail(error, YW_ERR_INVALID, "%d frequencies are wanted, but there can be 1 to %d",
                   count, ELASTIC_MAX_MODES);
  }
  bool held = resistance(system, fixed) > FREE_MOTION;
  int32_t size = system->stiffness.size, rigid = held ? 0 : 6, fixed_count = 0;
  for (int32_t i = 0; i < size; ++i) fixed_count += fixed[i];
  if (!held && fixed_count > 0) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body is held, but can still move or turn; hold it against all six rigid "
                   "motions, or not at all");
  }
  subspace s = {.size = size, .count = count + rigid + 8};
  if (s.count > size - fixed_count) s.count = size - fixed_count;
  if (count + rigid > s.count) {
    return yw_fail(error, YW_ERR_INVALID, "the body has fewer than %d vibrations", count);
  }
  // A body without supports is tied to its position by weak springs; their effect is subtracted.
  double trace = 0.0, mass = 0.0;
  for (int32_t i = 0; i < size; ++i) {
    for (int32_t e = system->stiffness.start[i]; e < system->stiffness.start[i + 1]; ++e) {
      if (system->stiffness.columns[e] == i) trace += system->stiffness.values[e];
    }
    mass += system->mass[i / 3];
  }
  if (!held) s.shift = 1e-6 * trace / mass;
  yw_status status = elastic_hold(system, fixed, s.shift, &s.held, error);
  s.x = YW_NEW_ARRAY(NULL, double, (size_t)size*(size_t)s.count);
  s.y = YW_NEW_ARRAY(NULL, double, (size_t)size*(size_t)s.count);
  if (status >= 0 && (!s.x || !s.y || !make_room(s.held, s.count))) {
    status = yw_fail_memory(error, "modes");
  }
  if (status >= 0) {
    seed(&s);
    status = iterate(&s, count + rigid, error);
  }
  for (int32_t c = 0; c < count && status >= 0; ++c) {
    frequencies[c] = sqrt(fmax(s.values[rigid + c] - s.shift, 0.0));
    for (int32_t i = 0; i < size && shapes; ++i) {
      shapes[(size_t)c * (size_t)size + (size_t)i] =
          s.x[(size_t)i * (size_t)s.count + (size_t)(rigid + c)];
    }
  }
  elastic_release(s.held);
  yw_mem_free(NULL, s.x);
  yw_mem_free(NULL, s.y);
  return status;
}
