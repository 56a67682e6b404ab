// SPDX-License-Identifier: MIT
// Bodies, their energy, and their systems of equations.
#include "reference/examples/example_fem.h"

#include <math.h>
#include <string.h>

#include "reference/clock.h"
#include "reference/examples/body.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

example_fem_def example_fem_default_def(void) {
  return (example_fem_def){.density = 1000.0,
                           .youngs_modulus = 1e5,
                           .volume_modulus = 3e4,
                           .beta = 0.95,
                           .tolerance = 1e-3,
                           .max_newton = 30};
}

// Making a body -----------------------------------------------------------------------------------

static bool make_arrays(example_fem* b) {
  size_t n = 3 * (size_t)b->num_vertices, t = (size_t)b->num_tets;
  size_t k = (size_t)b->def.num_examples, groups = (size_t)b->num_groups;
  b->tets = YW_NEW_ARRAY(NULL, strain_tet, t);
  b->mass = YW_NEW_ARRAY(NULL, double, b->num_vertices);
  b->rest = YW_NEW_ARRAY(NULL, double, n);
  b->x = YW_NEW_ARRAY(NULL, double, n);
  b->v = YW_NEW_ARRAY(NULL, double, n);
  b->examples = yw_mem_alloc(NULL, k * t, sizeof *b->examples);
  b->targets = yw_mem_alloc(NULL, t, sizeof *b->targets);
  b->weights = YW_NEW_ARRAY(NULL, double, groups* k);
  b->grams = YW_NEW_ARRAY(NULL, double, groups* k* k);
  b->pose = YW_NEW_ARRAY(NULL, double, n);
  b->directions = yw_mem_alloc(NULL, k * t, sizeof *b->directions);
  b->solutions = YW_NEW_ARRAY(NULL, double, (k + 1) * n);
  b->predicted = YW_NEW_ARRAY(NULL, double, n);
  b->gradient = YW_NEW_ARRAY(NULL, double, n);
  b->step = YW_NEW_ARRAY(NULL, double, n);
  b->trial = YW_NEW_ARRAY(NULL, double, n);
  b->diagonal = YW_NEW_ARRAY(NULL, int32_t, n);
  b->elements = YW_NEW_ARRAY(NULL, double, 144 * t);
  return b->tets && b->mass && b->rest && b->x && b->v && b->examples && b->targets && b->weights &&
         b->grams && b->pose && b->directions && b->solutions && b->predicted && b->gradient &&
         b->step && b->trial && b->diagonal && b->elements;
}

static void copy_points(int32_t count, const yw_vec3* from, double* to) {
  for (int32_t i = 0; i < count; ++i) {
    for (int c = 0; c < 3; ++c) to[3 * (size_t)i + (size_t)c] = (double)(&from[i].x)[c];
  }
}

// Strains of the examples and, per group, their products.
static void measure_examples(example_fem* b) {
  int32_t count = b->def.num_examples;
  for (int32_t k = 0; k < count; ++k) {
    copy_points(b->num_vertices, b->def.examples[k], b->trial);
    for (int32_t t = 0; t < b->num_tets; ++t) {
      double f[9];
      strain_gradient(&b->tets[t], b->trial, f);
      strain_green(f, b->examples[k * b->num_tets + t]);
    }
  }
  for (int32_t t = 0; t < b->num_tets; ++t) {
    double* gram = b->grams + (size_t)example_group(b, t) * (size_t)(count * count);
    for (int32_t i = 0; i < count * count; ++i) {
      const double *p = b->examples[i / count * b->num_tets + t],
                   *q = b->examples[i % count * b->num_tets + t];
      for (int c = 0; c < 6; ++c) gram[i] += b->tets[t].volume * p[c] * q[c];
    }
  }
}

static yw_status make_system(example_fem* b, const yw_tet_mesh* mesh, yw_error* error) {
  yw_status status = yw_assembly_create(NULL, b->num_vertices, 3, b->num_tets, 4, mesh->tets,
                                        &b->assembly, &b->matrix, error);
  if (status < 0) return status;
  for (int32_t i = 0; i < b->matrix.size; ++i) {
    int32_t at = b->matrix.start[i];
    while (at < b->matrix.start[i + 1] && b->matrix.columns[at] != i) ++at;
    b->diagonal[i] = at;
  }
  const yw_cholesky_options options = {
      .points = mesh->positions, .block = 3, .simd = yw_simd_resolve(b->def.simd)};
  status = yw_cholesky_analyse(NULL, &b->matrix, &options, &b->factor, error);
  if (status < 0) return status;
  b->scratch = YW_NEW_ARRAY(NULL, double, yw_cholesky_scratch(b->factor, 1, NULL));
  return b->scratch ? YW_OK : yw_fail_memory(error, "a finite-element body");
}

yw_status example_fem_create(const example_fem_def* def, example_fem** out, yw_error* error) {
  *out = NULL;
  if (def->num_examples < 0 || def->num_examples > EXAMPLE_FEM_MAX_EXAMPLES) {
    return yw_fail(error, YW_ERR_INVALID, "%d examples, but there may be 0 to %d",
                   def->num_examples, EXAMPLE_FEM_MAX_EXAMPLES);
  }
  example_fem* b = YW_NEW(NULL, example_fem);
  if (!b) return yw_fail_memory(error, "a finite-element body");
  b->def = *def;
  b->num_vertices = def->mesh->num_vertices;
  b->num_tets = def->mesh->num_tets;
  b->num_groups = def->per_tet && def->kind == EXAMPLE_FEM_SCHUMACHER ? b->num_tets : 1;
  yw_status status = make_arrays(b) ? YW_OK : yw_fail_memory(error, "a finite-element body");
  if (status >= 0 && !strain_rest(def->mesh, b->tets)) {
    status = yw_fail(error, YW_ERR_INVALID, "a tet of the mesh is flat");
  }
  if (status >= 0) status = make_system(b, def->mesh, error);
  if (status < 0) {
    example_fem_destroy(b);
    return status;
  }
  for (int32_t t = 0; t < b->num_tets; ++t) {
    for (int a = 0; a < 4; ++a) b->mass[b->tets[t].v[a]] += def->density * b->tets[t].volume / 4;
  }
  measure_examples(b);
  copy_points(b->num_vertices, def->mesh->positions, b->rest);
  memcpy(b->x, b->rest, 3 * sizeof *b->x * (size_t)b->num_vertices);
  memcpy(b->pose, b->rest, 3 * sizeof *b->x * (size_t)b->num_vertices);
  b->def.mesh = NULL;
  b->def.examples = NULL;
  *out = b;
  return YW_OK;
}

void example_fem_destroy(example_fem* b) {
  if (!b) return;
  void* const arrays[] = {b->tets,       b->mass,      b->rest,      b->x,        b->v,
                          b->examples,   b->targets,   b->weights,   b->grams,    b->pose,
                          b->directions, b->solutions, b->predicted, b->gradient, b->step,
                          b->trial,      b->diagonal,  b->elements,  b->scratch};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) yw_mem_free(NULL, arrays[i]);
  yw_cholesky_destroy(b->factor);
  yw_sparse_free(&b->matrix);
  yw_assembly_free(&b->assembly);
  yw_mem_free(NULL, b);
}

double* example_fem_positions(example_fem* body) { return body->x; }
double* example_fem_velocities(example_fem* body) { return body->v; }
const double* example_fem_pose(const example_fem* body) { return body->pose; }
const double* example_fem_weights(const example_fem* body, int32_t tet) {
  return body->weights + (size_t)example_group(body, tet) * (size_t)body->def.num_examples;
}
example_fem_statistics example_fem_get_statistics(const example_fem* body) {
  return body->statistics;
}

// Systems of equations ----------------------------------------------------------------------------

void example_elements(example_fem* b, const double* x, strain_moduli moduli,
                      const double (*targets)[6], bool whole) {
  for (int32_t t = 0; t < b->num_tets; ++t) {
    double f[9];
    strain_gradient(&b->tets[t], x, f);
    strain_stiffness(&b->tets[t], moduli, f, targets[t], whole, b->elements + 144 * (size_t)t);
  }
}

bool example_factorise(example_fem* b, const double* added) {
  yw_assembly_sum(&b->assembly, NULL, b->elements, &b->matrix);
  for (int32_t i = 0; i < b->matrix.size; ++i) b->matrix.values[b->diagonal[i]] += added[i];
  double begin = bench_seconds(true);
  bool good = yw_cholesky_factorise(b->factor, &b->matrix, NULL, NULL) >= 0;
  b->statistics.factor_seconds += bench_seconds(true) - begin;
  b->statistics.factorisations++;
  return good;
}

void example_solve(example_fem* b, const double* right, double* x) {
  double begin = bench_seconds(true);
  yw_cholesky_solve(b->factor, NULL, 1, 1, right, x, b->scratch);
  b->statistics.factor_seconds += bench_seconds(true) - begin;
}

// Energy ------------------------------------------------------------------------------------------

double example_fem_energy(const example_fem* b, double* forces) {
  strain_moduli moduli = {b->def.youngs_modulus, b->def.volume_modulus};
  double energy = 0.0, beta = b->def.beta;
  if (forces) memset(forces, 0, 3 * sizeof *forces * (size_t)b->num_vertices);
  for (int32_t t = 0; t < b->num_tets; ++t) {
    const strain_tet* tet = &b->tets[t];
    double f[9], size2 = 0.0;
    strain_gradient(tet, b->x, f);
    energy += strain_energy(tet, moduli, f, b->targets[t]);
    // (1 - beta) |E|^2 + beta |E - T|^2 = |E - beta T|^2 + beta (1 - beta) |T|^2
    for (int i = 0; i < 6; ++i) size2 += b->targets[t][i] * b->targets[t][i];
    if (beta > 0.0) energy += 0.5 * tet->volume * moduli.young * size2 * (1.0 - beta) / beta;
    if (forces) strain_add_gradient(tet, moduli, f, b->targets[t], forces);
  }
  for (int32_t i = 0; forces && i < 3 * b->num_vertices; ++i) forces[i] = -forces[i];
  return energy;
}

void example_fem_stiffness_times(example_fem* b, const double* d, double* out) {
  strain_moduli moduli = {b->def.youngs_modulus, b->def.volume_modulus};
  example_elements(b, b->x, moduli, (const double(*)[6])b->targets, true);
  yw_assembly_sum(&b->assembly, NULL, b->elements, &b->matrix);
  yw_sparse_multiply(&b->matrix, NULL, 1, 1, d, out);
}
