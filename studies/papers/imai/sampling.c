// SPDX-License-Identifier: MIT
// Imai, Yue, Chen, Nishita: elasticity matrices of coarse tets. Figure 3 (stress against strain of
// a coarse tet, with the fitted line and its range), and the stiffness of whole bodies at every
// level, sampled as in the paper and as here.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/fem/sampling.h"
#include "papers/paper.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/fem.h"

#define TOLERANCE 0.01  // the paper's T1

typedef enum stuff { ONE_MATERIAL, MIXTURE, LAYERS } stuff;
static const char* const stuff_names[] = {"homogeneous", "mixture 100:1", "layers 10:1"};

// Bodies ------------------------------------------------------------------------------------------

typedef struct sampled_body {
  fem_hierarchy h;
  yw_sym6* elasticity;  // of the finest tets
} sampled_body;

static void free_body(sampled_body* body) {
  yw_mem_free(NULL, body->elasticity);
  yw_fem_hierarchy_free(&body->h);
}

// Young's modulus at a point, 1 where it is softest.
static double youngs_at(stuff kind, yw_dvec3 p, uint32_t* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  if (kind == MIXTURE) return *seed >> 31 ? 100.0 : 1.0;
  if (kind == LAYERS) return (int)floor(2.0 * p.y) % 2 ? 1.0 : 10.0;
  return 1.0;
}

static yw_status make_body(int32_t n, int32_t level, stuff kind, sampled_body* out,
                           yw_error* error) {
  *out = (sampled_body){0};
  yw_tet_mesh mesh;
  const int32_t cells[3] = {n, n, n};
  const yw_aabb box = {{0, 0, 0}, {(float)n, (float)n, (float)n}};
  yw_status status = yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh);
  if (status < 0) return yw_fail_memory(error, "a body");
  status = yw_fem_hierarchy_create(NULL, &mesh, level, 0.0, &out->h, error);
  yw_tet_mesh_free(&mesh);
  if (status < 0) return status;
  int32_t first = out->h.num_parents, count = out->h.num_tets - first;
  out->elasticity = YW_NEW_ARRAY(NULL, yw_sym6, count);
  if (!out->elasticity) {
    free_body(out);
    return yw_fail_memory(error, "a body");
  }
  uint32_t seed = 7;
  for (int32_t t = 0; t < count; ++t) {
    yw_dvec3 p = {0, 0, 0};
    for (int k = 0; k < 4; ++k) p = yw_dmad(p, 0.25, out->h.rest[out->h.nodes[first + t][k]]);
    out->elasticity[t] = yw_sym6_isotropic(youngs_at(kind, p, &seed), 0.3);
  }
  return YW_OK;
}

// Figure 3 ----------------------------------------------------------------------------------------

#define HALF_POINTS 24
#define NUM_POINTS (2 * HALF_POINTS + 1)
#define LARGEST 0.3
#define FITTED 0.15

typedef struct curve {
  double strain[NUM_POINTS], stress[NUM_POINTS], line[NUM_POINTS];
  double slope, low, high;  // of the fit, and its range
  int32_t dropped;          // points far off
} curve;

static fem_family family_of(const sampled_body* body, int32_t tet) {
  const fem_hierarchy* h = &body->h;
  fem_family family;
  fem_child_rule rules[FEM_FAMILY_CHILDREN];
  family.num_children = yw_fem_child_rules(h->type[tet], rules);
  family.num_nodes = yw_fem_num_family_nodes(h->type[tet]);
  for (int i = 0; i < family.num_nodes; ++i) family.x[i] = h->rest[h->family[tet][i]];
  for (int k = 0; k < family.num_children; ++k) {
    int32_t child = h->first_child[tet] + k;
    memcpy(family.local[k], rules[k].local, sizeof family.local[k]);
    family.volume[k] = yw_fem_volume(h, child);
    family.elasticity[k] = body->elasticity + (child - h->num_parents);
  }
  return family;
}

// As in 4.2 and 4.3: slope through the origin without points far off, and the range that stays
// within T1 of it. The paper does not say how far it samples; here to a strain of 0.15.
static void fit(curve* c) {
  double x[NUM_POINTS], y[NUM_POINTS];
  bool kept[NUM_POINTS];
  int32_t count = 0;
  for (int i = 0; i < NUM_POINTS; ++i) {
    if (fabs(c->strain[i]) > FITTED || c->strain[i] == 0.0) continue;
    x[count] = c->strain[i];
    y[count++] = c->stress[i];
  }
  c->slope = yw_fem_fit_line(count, x, y, kept);
  c->dropped = 0;
  for (int32_t i = 0; i < count; ++i) c->dropped += !kept[i];
  c->low = c->high = 0.0;
  for (int side = -1; side <= 1; side += 2) {
    for (int k = 1; k <= HALF_POINTS; ++k) {
      int i = HALF_POINTS + side * k;
      double line = c->slope * c->strain[i];
      if (!(fabs(c->stress[i] - line) <= TOLERANCE * fabs(line))) break;
      *(side < 0 ? &c->low : &c->high) = c->strain[i];
    }
  }
  for (int i = 0; i < NUM_POINTS; ++i) c->line[i] = c->slope * c->strain[i];
}

// As in the paper: the tet alone, its middle nodes free, strained step by step from rest.
static void bend_alone(const fem_family* family, int m, curve* out) {
  for (int side = -1; side <= 1; side += 2) {
    yw_dvec3 x[FEM_FAMILY_NODES];
    memcpy(x, family->x, sizeof x);
    bool good = true;
    for (int k = 0; k <= HALF_POINTS; ++k) {
      int i = HALF_POINTS + side * k;
      double stress[6] = {0}, alpha = side * LARGEST * k / HALF_POINTS;
      good = good && (k == 0 || yw_fem_family_bend(family, m, alpha, x, stress));
      out->strain[i] = alpha;
      out->stress[i] = good ? stress[m] : NAN;
    }
  }
  fit(out);
}

// The same tet as part of the body: the strains of the load cases, scaled.
static void bend_embedded(const fem_range_sum* sum, const yw_sym6* c_bar, int m, curve* out) {
  for (int i = 0; i < NUM_POINTS; ++i) {
    double alpha = LARGEST * (i - HALF_POINTS) / HALF_POINTS, stress[6], line[6];
    // As Green strain and second Piola-Kirchhoff stress.
    double stretch = m < 3 ? 1.0 + alpha : 1.0;
    yw_fem_range_stress(sum, c_bar, m, alpha, stress, line);
    out->strain[i] = m < 3 ? alpha + 0.5 * alpha * alpha : alpha;
    out->stress[i] = stress[m] / stretch;
    out->line[i] = line[m] / stretch;
  }
  fit(out);
}

static yw_status plot_stresses(const paper_options* options, const char* file, const char* title,
                               int32_t count, const yw_series* series, yw_error* error) {
  yw_plot plot = yw_default_plot();
  plot.title = title;
  plot.x.label = "Green strain";
  plot.y.label = "stress / Young's modulus of the softest";
  plot.num_series = count;
  plot.series = series;
  return paper_write_plot(options, file, &plot, error);
}

// As the paper draws it: samples, the line, and its range as a bar on the axis.
static yw_status plot_alone(const paper_options* options, const char* file, const char* title,
                            const curve* alone, yw_error* error) {
  const double range_x[2] = {alone->low, alone->high}, range_y[2] = {0, 0};
  const yw_series series[] = {
      {"sampled, the tet alone", NUM_POINTS, alone->strain, alone->stress, YW_SERIES_POINTS, 1,
       false},
      {"fitted line", NUM_POINTS, alone->strain, alone->line, YW_SERIES_LINE, 1, false},
      {"where it holds to 1 %", 2, range_x, range_y, YW_SERIES_LINE_POINTS, 2, false}};
  return plot_stresses(options, file, title, sizeof series / sizeof *series, series, error);
}

static yw_status plot_curves(const paper_options* options, const char* file, const char* title,
                             const curve* alone, const curve* embedded, yw_error* error) {
  const yw_series series[] = {
      {"part of the body", NUM_POINTS, embedded->strain, embedded->stress, YW_SERIES_POINTS, 0,
       false},
      {"its matrix", NUM_POINTS, embedded->strain, embedded->line, YW_SERIES_LINE, 0, false},
      {"alone, as in the paper", NUM_POINTS, alone->strain, alone->stress, YW_SERIES_POINTS, 1,
       false},
      {"its fitted line", NUM_POINTS, alone->strain, alone->line, YW_SERIES_LINE, 1, false}};
  return plot_stresses(options, file, title, sizeof series / sizeof *series, series, error);
}

static yw_status compare_curves(const paper_options* options, stuff kind, yw_error* error) {
  sampled_body body;
  yw_status status = make_body(3, 1, kind, &body, error);
  if (status < 0) return status;
  fem_samples samples = {0};
  fem_range_sum* sums = YW_NEW_ARRAY(NULL, fem_range_sum, body.h.num_parents);
  const fem_sampling_def def = {.kind = YW_FEM_EMBEDDED, .sums = sums};
  status = sums ? yw_fem_sample(NULL, &body.h, body.elasticity, NULL, &def, &samples, error)
                : yw_fail_memory(error, "a figure");
  // A tet in the middle cell.
  int32_t tet = 6 * 13 + 2;
  for (int m = 0; m < 6 && status >= 0; m += 5) {
    curve alone, embedded;
    fem_family family = family_of(&body, tet);
    bend_alone(&family, m, &alone);
    bend_embedded(&sums[tet], samples.elasticity + tet, m, &embedded);
    const fem_range* range = &samples.range[tet];
    printf(
        "  %-14s %s   alone: C = %.4f, holds from %.3f to %.3f (%d of %d points dropped);  in the "
        "body: C = %.4f, ",
        stuff_names[kind], m == 0 ? "11" : "12", alone.slope, alone.low, alone.high, alone.dropped,
        NUM_POINTS - 1, yw_sym6_get(samples.elasticity + tet, m, m));
    if (isinf(range->low[m]) && isinf(range->high[m])) {
      printf("holds everywhere\n");
    } else {
      printf("holds from %.3f to %.3f\n", (double)range->low[m], (double)range->high[m]);
    }
    char file[60], title[100];
    snprintf(file, sizeof file, "%s-%s", kind == ONE_MATERIAL ? "homogeneous" : "mixture",
             m == 0 ? "11" : "12");
    snprintf(title, sizeof title, "A coarse tet of %s material, component %s",
             kind == ONE_MATERIAL ? "one" : "mixed", m == 0 ? "11" : "12");
    status = plot_curves(options, file, title, &alone, &embedded, error);
    snprintf(file, sizeof file, "paper-%s-%s", kind == ONE_MATERIAL ? "homogeneous" : "mixture",
             m == 0 ? "11" : "12");
    if (status >= 0) status = plot_alone(options, file, title, &alone, error);
  }
  yw_fem_samples_free(&samples);
  yw_mem_free(NULL, sums);
  free_body(&body);
  return status;
}

yw_status paper_imai_fig3(const paper_options* options, yw_error* error) {
  printf("  stress of one coarse tet, in units of the (softest) Young's modulus; T1 = 1 %%\n");
  yw_status status = compare_curves(options, ONE_MATERIAL, error);
  return status < 0 ? status : compare_curves(options, MIXTURE, error);
}

// Bodies level by level ---------------------------------------------------------------------------

// Young's modulus of a whole level under uniform stress, from the mean strain of the body.
static yw_status stiffness_of_level(const fem_hierarchy* h, int32_t level, const yw_sym6* c,
                                    double* youngs, yw_error* error) {
  int32_t first = h->level_start[level], count = h->level_start[level + 1] - first;
  int32_t nodes = h->node_level_start[level + 1];
  const yw_fem_solid solid = {nodes, count, h->rest, h->nodes[first], c};
  yw_fem_statics statics = {0};
  double* u = YW_NEW_ARRAY(NULL, double, 18 * (size_t)nodes);
  yw_status status =
      u ? yw_fem_statics_create(NULL, NULL, YW_SIMD_AUTO, &solid, NULL, &statics, error)
        : yw_fail_memory(error, "a level");
  yw_mat6 unit = {{0}}, strain = {{0}}, stiffness;
  for (int i = 0; i < 6; ++i) unit.m[7 * i] = 1.0;
  if (status >= 0) {
    yw_fem_uniform_stress(&solid, &unit, u);
    status = yw_fem_statics_solve(&statics, NULL, 6, u, u, error);
  }
  double volume = 0.0;
  for (int32_t t = 0; t < count && status >= 0; ++t) {
    double gradient[54], v = yw_fem_volume(h, first + t);
    yw_fem_tet_gradients_of(&solid, u, t, gradient);
    yw_mat6 e = yw_strains_of_gradients(gradient);
    for (int k = 0; k < 36; ++k) strain.m[k] += v * e.m[k];
    volume += v;
  }
  for (int k = 0; k < 36; ++k) strain.m[k] /= volume;
  if (status >= 0 && !yw_mat6_inverse(&strain, &stiffness)) {
    status = yw_fail(error, YW_ERR_DIVERGED, "a level without stiffness");
  }
  if (status >= 0) {
    yw_sym6 symmetric = yw_sym6_of(&stiffness);
    *youngs = yw_fem_moduli(&symmetric).youngs;
  }
  yw_fem_statics_free(&statics);
  yw_mem_free(NULL, u);
  return status;
}

#define MOST_LEVELS 4

#define NUM_KINDS 4
#define SETTLED_LEVELS 2

static yw_status compare_levels(stuff kind, int32_t cells, int32_t levels,
                                double ratios[NUM_KINDS][MOST_LEVELS], yw_error* error) {
  static const char* const names[NUM_KINDS] = {"embedded", "stand-alone", "average", "settled"};
  sampled_body body;
  double finest = 0.0;
  yw_status status = make_body(cells, levels, kind, &body, error);
  if (status < 0) return status;
  status = stiffness_of_level(&body.h, levels, body.elasticity, &finest, error);
  // Settling every tet of three levels would take minutes.
  int kinds = levels > SETTLED_LEVELS ? NUM_KINDS - 1 : NUM_KINDS;
  for (int k = 0; k < kinds && status >= 0; ++k) {
    const fem_sampling_def def = {.kind = (yw_fem_sampling)k};
    fem_samples samples;
    status = yw_fem_sample(NULL, &body.h, body.elasticity, NULL, &def, &samples, error);
    if (status < 0) break;
    printf("  %-14s %-12s", stuff_names[kind], names[k]);
    for (int32_t l = 0; l < levels && status >= 0; ++l) {
      double youngs = 0.0;
      const yw_sym6* c = samples.elasticity + body.h.level_start[l];
      status = stiffness_of_level(&body.h, l, c, &youngs, error);
      ratios[k][l] = youngs / finest;
      printf("  %8.4f", ratios[k][l]);
    }
    printf("\n");
    yw_fem_samples_free(&samples);
  }
  free_body(&body);
  return status;
}

yw_status paper_imai_sampling(const paper_options* options, yw_error* error) {
  int32_t levels = options->quick ? 2 : 3, cells = 2;
  double level[MOST_LEVELS], ratios[3][NUM_KINDS][MOST_LEVELS];
  double settled[3][NUM_KINDS][MOST_LEVELS];
  printf(
      "  Young's modulus of a cube of %d roots under uniform stress, over that of its finest\n"
      "  level (%d): levels 0 to %d\n",
      (int)(6 * cells * cells * cells), (int)levels, (int)levels - 1);
  yw_status status = YW_OK;
  for (int kind = ONE_MATERIAL; kind <= LAYERS && status >= 0; ++kind) {
    status = compare_levels((stuff)kind, cells, levels, ratios[kind], error);
  }
  if (levels > SETTLED_LEVELS) {
    printf("  the same with two levels; settled: lines fitted to samples, as in 4.2\n");
    for (int kind = ONE_MATERIAL; kind <= LAYERS && status >= 0; ++kind) {
      status = compare_levels((stuff)kind, cells, SETTLED_LEVELS, settled[kind], error);
    }
  }
  if (status < 0) return status;
  for (int32_t l = 0; l < levels; ++l) level[l] = l;
  const yw_series series[] = {
      {"homogeneous", levels, level, ratios[0][0], YW_SERIES_LINE_POINTS, 0, false},
      {"mixture 100:1", levels, level, ratios[1][0], YW_SERIES_LINE_POINTS, 1, false},
      {"layers 10:1", levels, level, ratios[2][0], YW_SERIES_LINE_POINTS, 2, false},
      {"each tet alone (paper)", levels, level, ratios[0][1], YW_SERIES_DASHED, 0, false},
      {"mixture, each tet alone", levels, level, ratios[1][1], YW_SERIES_DASHED, 1, true},
      {"layers, each tet alone", levels, level, ratios[2][1], YW_SERIES_DASHED, 2, true}};
  yw_plot plot = yw_default_plot();
  plot.title = "Stiffness of coarse levels, relative to the finest";
  plot.x.label = "level";
  plot.y.label = "Young's modulus, relative";
  plot.y.log = true;
  plot.num_series = sizeof series / sizeof *series;
  plot.series = series;
  return paper_write_plot(options, "stiffness", &plot, error);
}
