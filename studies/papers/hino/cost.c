// SPDX-License-Identifier: MIT
// Hino, Ding, Mitake, Hasegawa, introduction: matching costs less than finite elements. Here at
// equal accuracy: a cantilever swings under a small weight; error of its first frequency against
// processor time per simulated second, for frames, for explicit finite elements of this library and
// for CalculiX (implicit, large rotations), from coarse to fine.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/paper.h"
#include "reference/clock.h"
#include "reference/elastic/bar.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/fem.h"
#include "yawara/frames.h"

#define YOUNG 1e6
#define POISSON 0.3
#define DENSITY 1000.0
#define GRAVITY 0.2  // m/s^2: the tip sags by 0.75 % of the length
#define PI 3.14159265358979323846
#define FRAME (1.0 / 60)
#define FRAMES 128  // two swings
#define CALCULIX_SECONDS 300.0
#define CALCULIX_STEPS 6
#define REFERENCE_CELLS 6

static const double bar_size[3] = {1, 0.2, 0.2};

enum { CELLS, RINGS, TETS, SOFTENED, LINEAR_CCX, QUADRATIC_CCX, NUM_METHODS };
static const char* const names[NUM_METHODS] = {"frames, cells",         "frames, rings",
                                               "fem, linear tets",      "fem, as default",
                                               "CalculiX, linear tets", "CalculiX, quadratic"};
#define MOST_SIZES 6
/// Cells across the bar, 0 at the end; roots of the softened bodies, which have two levels more.
static const int32_t sizes[NUM_METHODS][MOST_SIZES] = {{2, 3, 4, 6, 8, 12},  {2, 3, 4, 6, 8, 12},
                                                       {2, 4, 6, 8, 12, 16}, {1, 2, 3, 0},
                                                       {2, 4, 6, 8, 0},      {1, 2, 3, 4, 0}};

typedef struct entry {
  int32_t nodes;
  double error;  // of the first frequency, relative
  double cpu;    // s per simulated second
} entry;

// Bodies of this library --------------------------------------------------------------------------

static yw_status make_model(int method, int32_t n, yw_model** out, yw_error* error) {
  const int32_t cells[3] = {5 * n, n, n};
  const yw_aabb box = {{0, -0.1f, -0.1f}, {1, 0.1f, 0.1f}};
  yw_tet_mesh mesh;
  yw_status status = yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh);
  if (status < 0) return yw_fail_memory(error, "a bar");
  int32_t num_cells = cells[0] * cells[1] * cells[2];
  int32_t* corners = YW_NEW_ARRAY(NULL, int32_t, 8 * (size_t)num_cells);
  if (!corners) {
    status = yw_fail_memory(error, "a bar");
  } else if (method <= RINGS) {
    yw_lattice_cells(cells, corners);
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &mesh;
    def.kind = method == CELLS ? YW_FRAMES_CELLS : YW_FRAMES_RINGS;
    def.cells = corners;
    def.num_cells = num_cells;
    def.youngs_modulus = (float)YOUNG, def.poissons_ratio = (float)POISSON;
    def.params.solver = YW_FRAMES_BDF2;
    status = yw_model_create_frames(NULL, &def, out, error);
  } else {
    yw_fem_def def = yw_default_fem_def();
    def.mesh = &mesh;
    def.max_level = method == SOFTENED ? 2 : 0;
    def.youngs_modulus = (float)YOUNG, def.poissons_ratio = (float)POISSON;
    def.params.mass_damping = 0.0f;
    def.params.sleep_speed = 0.0f;
    if (method == TETS) def.params.soften = YW_FEM_SOFTEN_NONE;
    status = yw_model_create_fem(NULL, &def, out, error);
  }
  yw_mem_free(NULL, corners);
  yw_tet_mesh_free(&mesh);
  return status;
}

// The body, clamped at x = 0; ends: the vertices at the tip.
static yw_status make_world(yw_model* model, yw_world** world, yw_body_id* id, int32_t* ends,
                            int32_t* num_ends, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.gravity = (yw_vec3){0, (float)-GRAVITY, 0};
  if (yw_world_create(&def, world) < 0) return yw_fail_memory(error, "a world");
  yw_body_def body = yw_default_body_def();
  body.model = model;
  yw_status status = yw_body_create(*world, &body, id, error);
  const yw_tet_mesh* mesh = yw_model_tets(model);
  int32_t* roots = YW_NEW_ARRAY(NULL, int32_t, mesh->num_vertices);
  int32_t num_roots = 0;
  *num_ends = 0;
  for (int32_t i = 0; roots && i < mesh->num_vertices; ++i) {
    if (mesh->positions[i].x < 1e-5f) roots[num_roots++] = i;
    if (mesh->positions[i].x > 1.0f - 1e-5f) ends[(*num_ends)++] = i;
  }
  yw_pin_def pin = yw_default_pin_def();
  pin.body = *id;
  pin.vertices = roots;
  pin.num_vertices = num_roots;
  yw_pin_id pin_id;
  if (status >= 0) status = yw_pin_create(*world, &pin, &pin_id, error);
  yw_mem_free(NULL, roots);
  return status;
}

// The frequency of a + exp(-c t) (b cos w t + d sin w t): c by steps, w by sections, the rest by
// least squares.
static double misfit(const double* y, double w, double c) {
  double m[9] = {0}, r[3] = {0}, yy = 0;
  for (int i = 0; i <= FRAMES; ++i) {
    double t = FRAME * i, e = exp(-c * t), f[3] = {1.0, e * cos(w * t), e * sin(w * t)};
    for (int k = 0; k < 9; ++k) m[k] += f[k / 3] * f[k % 3];
    for (int k = 0; k < 3; ++k) r[k] += f[k] * y[i];
    yy += y[i] * y[i];
  }
  // Elimination without pivots: the matrix is positive definite.
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      double share = m[3 * j + i] / m[4 * i];
      for (int k = i; k < 3; ++k) m[3 * j + k] -= share * m[3 * i + k];
      r[j] -= share * r[i];
    }
    yy -= r[i] * r[i] / m[4 * i];
  }
  return yy;
}

static double frequency_of(const double* y, double about) {
  double best = INFINITY, found = about;
  for (int k = 0; k <= 20; ++k) {
    double c = 0.05 * k, low = 0.5 * about, high = 1.8 * about;
    const double golden = 0.6180339887498949;
    for (int i = 0; i < 40; ++i) {
      double left = high - golden * (high - low), right = low + golden * (high - low);
      if (misfit(y, left, c) < misfit(y, right, c)) {
        high = right;
      } else {
        low = left;
      }
    }
    double w = 0.5 * (low + high), size = misfit(y, w, c);
    if (size < best) best = size, found = w;
  }
  return found;
}

static yw_status swing(int method, int32_t n, double expected, entry* out, yw_error* error) {
  yw_model* model = NULL;
  yw_world* world = NULL;
  yw_body_id id = {0};
  double y[FRAMES + 1] = {0};
  int32_t num_ends = 0;
  yw_status status = make_model(method, n, &model, error);
  if (status < 0) return status;
  int32_t* ends = YW_NEW_ARRAY(NULL, int32_t, yw_model_tets(model)->num_vertices);
  status = ends ? make_world(model, &world, &id, ends, &num_ends, error)
                : yw_fail_memory(error, "a bar");
  double begin = bench_seconds(true);
  for (int i = 0; i <= FRAMES && status >= 0; ++i) {
    if (i > 0) status = yw_world_step(world, (float)FRAME, 1, NULL);
    const yw_vec3* x = yw_body_positions(world, id, NULL);
    for (int32_t k = 0; k < num_ends; ++k) y[i] += (double)x[ends[k]].y / num_ends;
  }
  *out = (entry){.nodes = yw_model_num_particles(model),
                 .cpu = (bench_seconds(true) - begin) / (FRAME * FRAMES),
                 .error = frequency_of(y, expected) / expected - 1.0};
  yw_world_destroy(world);
  yw_model_release(model);
  yw_mem_free(NULL, ends);
  return status;
}

// CalculiX ----------------------------------------------------------------------------------------

typedef struct calculix_bar {
  elastic_bar bar;
  bool* fixed;
  calculix_material material;
  calculix_model model;
} calculix_bar;

static void free_calculix(calculix_bar* b) {
  elastic_bar_free(&b->bar);
  yw_mem_free(NULL, b->fixed);
}

static yw_status make_calculix(int32_t n, int32_t order, calculix_bar* out, yw_error* error) {
  const int32_t cells[3] = {5 * n, n, n};
  *out = (calculix_bar){.material = {YOUNG, POISSON, DENSITY}};
  yw_status status = elastic_bar_create(bar_size, cells, order, &out->bar, error);
  if (status < 0) return status;
  const elastic_grid* grid = &out->bar.grid;
  out->fixed = YW_NEW_ARRAY(NULL, bool, 3 * (size_t)grid->num_nodes);
  if (!out->fixed) {
    free_calculix(out);
    return yw_fail_memory(error, "a bar");
  }
  for (int32_t i = 0; i < 3 * grid->num_nodes; ++i) {
    out->fixed[i] = elastic_is_at(grid, grid->nodes[i / 3][0], grid->low[0]);
  }
  out->model = (calculix_model){.grid = grid,
                                .num_materials = 1,
                                .materials = &out->material,
                                .fixed = out->fixed,
                                .gravity = {0, -GRAVITY, 0}};
  return YW_OK;
}

// Its frequency, and the time of a few implicit steps with large rotations.
static yw_status run_calculix(int32_t n, int32_t order, double expected, entry* out,
                              yw_error* error) {
  calculix_bar b;
  double frequency, cpu = 0.0;
  yw_status status = make_calculix(n, order, &b, error);
  if (status < 0) return status;
  status = calculix_frequencies(&b.model, 1, CALCULIX_SECONDS, &frequency, error);
  if (status >= 0 && out) {
    status = calculix_dynamic(&b.model, FRAME, CALCULIX_STEPS, CALCULIX_SECONDS, &cpu, error);
  }
  if (status >= 0 && out) {
    *out = (entry){.nodes = b.bar.grid.num_nodes,
                   .error = frequency / expected - 1.0,
                   .cpu = cpu / (FRAME * CALCULIX_STEPS)};
  }
  free_calculix(&b);
  return status;
}

static yw_status reference_frequency(double* out, yw_error* error) {
  beam theory = {bar_size[0], bar_size[1], bar_size[2], YOUNG, POISSON, DENSITY};
  *out = beam_bending_frequency(&theory, 1, true);
  if (!calculix_available()) return YW_OK;
  calculix_bar b;
  yw_status status = make_calculix(REFERENCE_CELLS, 2, &b, error);
  if (status < 0) return status;
  status = calculix_frequencies(&b.model, 1, CALCULIX_SECONDS, out, error);
  free_calculix(&b);
  return status;
}

// The table ---------------------------------------------------------------------------------------

// Time at which a method has this error, between entries by powers; NAN if it never does.
static double time_at(const entry* entries, int32_t count, double error) {
  for (int32_t i = 0; i < count; ++i) {
    double own = fabs(entries[i].error);
    if (own > error) continue;
    if (i == 0) return entries[0].cpu;
    double before = fabs(entries[i - 1].error);
    double share = log(before / error) / log(before / fmax(own, 1e-9));
    return entries[i - 1].cpu * pow(entries[i].cpu / entries[i - 1].cpu, share);
  }
  return (double)NAN;
}

static yw_status plot_costs(const paper_options* options, entry (*entries)[MOST_SIZES],
                            const int32_t* counts, yw_error* error) {
  double x[NUM_METHODS][MOST_SIZES], y[NUM_METHODS][MOST_SIZES];
  yw_series series[NUM_METHODS];
  int32_t count = 0;
  for (int m = 0; m < NUM_METHODS; ++m) {
    if (counts[m] == 0) continue;
    for (int32_t i = 0; i < counts[m]; ++i) {
      x[m][i] = 1e3 * entries[m][i].cpu;
      y[m][i] = 100.0 * fabs(entries[m][i].error);
    }
    series[count++] = (yw_series){names[m], counts[m], x[m], y[m], YW_SERIES_LINE_POINTS, m, false};
  }
  yw_plot plot = yw_default_plot();
  plot.title = "A cantilever that swings: error against time";
  plot.x = (yw_axis){"processor time per simulated second", "ms", true, (double)NAN, (double)NAN};
  plot.y = (yw_axis){"error of the frequency", "%", true, (double)NAN, (double)NAN};
  plot.num_series = count;
  plot.series = series;
  return paper_write_plot(options, "cost", &plot, error);
}

static void print_equal(entry (*entries)[MOST_SIZES], const int32_t* counts) {
  static const double bars[] = {0.05, 0.02, 0.01};
  printf("\nms per simulated second at equal error (between the rows above)\n%-24s", "");
  for (int k = 0; k < 3; ++k) printf(" %8.0f %%", 100.0 * bars[k]);
  printf("\n");
  for (int m = 0; m < NUM_METHODS; ++m) {
    if (counts[m] == 0) continue;
    printf("%-24s", names[m]);
    for (int k = 0; k < 3; ++k) {
      double time = time_at(entries[m], counts[m], bars[k]);
      if (isnan(time)) {
        printf(" %10s", "-");
      } else {
        printf(" %10.1f", 1e3 * time);
      }
    }
    printf("\n");
  }
}

yw_status paper_hino_cost(const paper_options* options, yw_error* error) {
  static entry entries[NUM_METHODS][MOST_SIZES];
  int32_t counts[NUM_METHODS] = {0};
  double expected;
  yw_status status = reference_frequency(&expected, error);
  if (status < 0) return status;
  printf("\nbar of 1 x 0.2 x 0.2 m, clamped, E = 1 MPa, nu = 0.3; first frequency %.4f Hz (%s)\n",
         expected / (2.0 * PI),
         calculix_available() ? "CalculiX, quadratic tets, 6 across" : "Timoshenko");
  printf("%-24s %8s %8s %10s %12s\n", "", "across", "nodes", "error %", "ms per s");
  for (int m = 0; m < NUM_METHODS; ++m) {
    if (m >= LINEAR_CCX && !calculix_available()) continue;
    int32_t most = options->quick ? 2 : MOST_SIZES;
    for (int32_t i = 0; i < most && sizes[m][i] > 0; ++i) {
      entry* e = &entries[m][i];
      status = m >= LINEAR_CCX
                   ? run_calculix(sizes[m][i], m == QUADRATIC_CCX ? 2 : 1, expected, e, error)
                   : swing(m, sizes[m][i], expected, e, error);
      if (status < 0) return status;
      ++counts[m];
      printf("%-24s %8d %8d %+10.2f %12.1f\n", names[m], sizes[m][i], e->nodes, 100.0 * e->error,
             1e3 * e->cpu);
      fflush(stdout);
    }
  }
  if (!options->quick) print_equal(entries, counts);
  return plot_costs(options, entries, counts, error);
}
