// SPDX-License-Identifier: MIT
#include "reference/elastic/bar.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/frames.h"

yw_status elastic_bar_create(const double size[3], const int32_t cells[3], int32_t order,
                             elastic_bar* out, yw_error* error) {
  *out = (elastic_bar){0};
  memcpy(out->size, size, sizeof out->size);
  memcpy(out->cells, cells, sizeof out->cells);
  if (cells[1] % 2 || cells[2] % 2) {
    return yw_fail(error, YW_ERR_INVALID,
                   "a bar has %d x %d cells across, but needs even numbers: particles must lie on "
                   "its axis",
                   cells[1], cells[2]);
  }
  float y = (float)(0.5 * size[1]), z = (float)(0.5 * size[2]);
  yw_aabb box = {{0, -y, -z}, {(float)size[0], y, z}};
  out->num_cells = cells[0] * cells[1] * cells[2];
  yw_status status = yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &out->mesh);
  out->cell_nodes = YW_NEW_ARRAY(NULL, int32_t, 8 * (size_t)out->num_cells);
  if (status < 0 || !out->cell_nodes) {
    status = yw_fail_memory(error, "a bar");
  } else {
    yw_lattice_cells(cells, out->cell_nodes);
    status = elastic_grid_create(&out->mesh, order, &out->grid, error);
  }
  if (status < 0) elastic_bar_free(out);
  return status;
}

void elastic_bar_free(elastic_bar* bar) {
  yw_tet_mesh_free(&bar->mesh);
  yw_mem_free(NULL, bar->cell_nodes);
  elastic_grid_free(&bar->grid);
  *bar = (elastic_bar){0};
}

// Experiments -------------------------------------------------------------------------------------

yw_status bar_setup_create(int32_t num_nodes, bar_setup* out, yw_error* error) {
  *out = (bar_setup){.size = 3 * num_nodes};
  out->fixed = YW_NEW_ARRAY(NULL, bool, out->size);
  out->displacements = YW_NEW_ARRAY(NULL, double, out->size);
  out->forces = YW_NEW_ARRAY(NULL, double, out->size);
  out->reactions = YW_NEW_ARRAY(NULL, double, out->size);
  if (out->fixed && out->displacements && out->forces && out->reactions) return YW_OK;
  bar_setup_free(out);
  return yw_fail_memory(error, "an experiment");
}

void bar_setup_free(bar_setup* setup) {
  yw_mem_free(NULL, setup->fixed);
  yw_mem_free(NULL, setup->displacements);
  yw_mem_free(NULL, setup->forces);
  yw_mem_free(NULL, setup->reactions);
  *setup = (bar_setup){0};
}

static void reset(bar_setup* s) {
  memset(s->fixed, 0, (size_t)s->size * sizeof *s->fixed);
  memset(s->displacements, 0, (size_t)s->size * sizeof *s->displacements);
  memset(s->forces, 0, (size_t)s->size * sizeof *s->forces);
  memset(s->reactions, 0, (size_t)s->size * sizeof *s->reactions);
}

static void bending_traction(const void* context, const double p[3], double t[3]) {
  t[0] += *(const double*)context * p[1];
}
static void twisting_traction(const void* context, const double p[3], double t[3]) {
  double k = *(const double*)context;
  t[1] -= k * p[2];
  t[2] += k * p[1];
}
typedef struct parabola {
  double peak, half;
} parabola;
static void shear_traction(const void* context, const double p[3], double t[3]) {
  const parabola* c = context;
  t[1] += c->peak * (1.0 - pow(p[1] / c->half, 2));
}

static void set_tension(const elastic_bar* bar, bar_setup* s) {
  const elastic_grid* grid = &bar->grid;
  double y = 0.5 * bar->size[1], z = 0.5 * bar->size[2], length = grid->high[0];
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    bool end = elastic_is_at(grid, grid->nodes[i][0], length);
    s->fixed[3 * i] = end || elastic_is_at(grid, grid->nodes[i][0], 0);
    if (end) s->displacements[3 * i] = bar->size[0];
  }
  int32_t corner = elastic_node_at(grid, 0, -y, -z), side = elastic_node_at(grid, 0, -y, z);
  s->fixed[3 * corner + 1] = s->fixed[3 * corner + 2] = s->fixed[3 * side + 1] = true;
}

static void read_tension(const elastic_bar* bar, const bar_setup* s, bar_results* out) {
  const elastic_grid* grid = &bar->grid;
  double y = 0.5 * bar->size[1], z = 0.5 * bar->size[2], force = 0.0;
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    if (elastic_is_at(grid, grid->nodes[i][0], bar->grid.high[0])) force += s->reactions[3 * i];
  }
  // Halfway along, away from the ends.
  double x = bar->size[0] * (bar->cells[0] / 2) / bar->cells[0];
  int32_t top = elastic_node_at(grid, x, y, z), low = elastic_node_at(grid, x, -y, z);
  double wider = s->displacements[3 * top + 1] - s->displacements[3 * low + 1];
  out->youngs_modulus = force / (bar->size[1] * bar->size[2]);
  out->poissons_ratio = -wider / bar->size[1];
}

// u_x = 0 at the root, plus what holds it in place.
static void set_roller(const elastic_bar* bar, bar_setup* s) {
  const elastic_grid* grid = &bar->grid;
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    s->fixed[3 * i] = elastic_is_at(grid, grid->nodes[i][0], 0);
  }
  int32_t middle = elastic_node_at(grid, 0, 0, 0);
  int32_t side = elastic_node_at(grid, 0, 0, 0.5 * bar->size[2]);
  s->fixed[3 * middle + 1] = s->fixed[3 * middle + 2] = s->fixed[3 * side + 1] = true;
}

static double tip(const elastic_bar* bar, const bar_setup* s) {
  int32_t end = elastic_node_at(&bar->grid, bar->grid.high[0], 0, 0);
  return s->displacements[3 * end + 1];
}

// The cross-section may warp; its axes of symmetry do not.
static void set_torsion_root(const elastic_bar* bar, bar_setup* s) {
  const elastic_grid* grid = &bar->grid;
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    const double* p = grid->nodes[i];
    if (!elastic_is_at(grid, p[0], 0)) continue;
    s->fixed[3 * i] = elastic_is_at(grid, p[1], 0) || elastic_is_at(grid, p[2], 0);
    s->fixed[3 * i + 1] = s->fixed[3 * i + 2] = true;
  }
}

static double twist_at(const elastic_bar* bar, const bar_setup* s, int32_t slice) {
  double x = bar->size[0] * slice / bar->cells[0], half = 0.5 * bar->size[2];
  int32_t node = elastic_node_at(&bar->grid, x, 0, half);
  return -s->displacements[3 * node + 1] / half;
}

// Everything is linear: strains and tractions are of magnitude 1.
static void set_test(const elastic_bar* bar, bar_test test, bar_setup* s) {
  reset(s);
  const double b = bar->size[1];
  const elastic_grid* grid = &bar->grid;
  double slack = 1e-6 * bar->size[0], end = grid->high[0], one = 1.0;
  if (test == BAR_TENSION) set_tension(bar, s);
  if (test == BAR_BENDING || test == BAR_CANTILEVER) set_roller(bar, s);
  if (test == BAR_BENDING) {
    elastic_load_face(grid, 0, end, slack, bending_traction, &one, s->forces);
  }
  if (test == BAR_CANTILEVER) {
    parabola pull = {1.5, 0.5 * b}, back = {-1.5, 0.5 * b};
    elastic_load_face(grid, 0, end, slack, shear_traction, &pull, s->forces);
    elastic_load_face(grid, 0, 0, slack, shear_traction, &back, s->forces);
  }
  if (test == BAR_TORSION) {
    set_torsion_root(bar, s);
    elastic_load_face(grid, 0, end, slack, twisting_traction, &one, s->forces);
  }
}

static void read_test(const elastic_bar* bar, bar_test test, const bar_setup* s, bar_results* out) {
  double l = bar->size[0], b = bar->size[1], c = bar->size[2];
  if (test == BAR_TENSION) read_tension(bar, s, out);
  if (test == BAR_BENDING) out->bending = c * pow(b, 3) / 12.0 * l * l / (2.0 * -tip(bar, s));
  if (test == BAR_CANTILEVER) out->cantilever = tip(bar, s) / (b * c);
  if (test == BAR_TORSION) {
    // Twist of the middle half, away from the ends.
    int32_t first = (bar->cells[0] + 2) / 4, last = bar->cells[0] - first;
    double torque = b * c * (b * b + c * c) / 12.0, way = l * (last - first) / bar->cells[0];
    out->torsion = torque * way / (twist_at(bar, s, last) - twist_at(bar, s, first));
  }
}

yw_status bar_run(const elastic_bar* bar, unsigned tests, bar_solve solve, void* context,
                  bar_results* out, yw_error* error) {
  double none = (double)NAN;
  *out = (bar_results){none, none, none, none, none};
  bar_setup setup;
  yw_status status = bar_setup_create(bar->grid.num_nodes, &setup, error);
  for (int test = 0; test < BAR_TESTS && status >= 0; ++test) {
    if (!(tests & (1u << test))) continue;
    set_test(bar, (bar_test)test, &setup);
    status = solve(context, &setup, error);
    if (status >= 0) read_test(bar, (bar_test)test, &setup, out);
  }
  bar_setup_free(&setup);
  return status;
}

bar_results bar_theory(const beam* b) {
  return (bar_results){b->youngs_modulus, b->poissons_ratio, beam_bending(b), beam_cantilever(b),
                       beam_torsion(b)};
}

bar_results bar_errors(const bar_results* delivered, const bar_results* expected) {
  return (bar_results){delivered->youngs_modulus / expected->youngs_modulus - 1.0,
                       delivered->poissons_ratio - expected->poissons_ratio,
                       delivered->bending / expected->bending - 1.0,
                       expected->cantilever / delivered->cantilever - 1.0,
                       delivered->torsion / expected->torsion - 1.0};
}

// Systems as solvers ------------------------------------------------------------------------------

yw_status bar_solve_system(void* context, bar_setup* setup, yw_error* error) {
  bar_system* solver = context;
  size_t bytes = (size_t)setup->size * sizeof *setup->fixed;
  if (!solver->held || memcmp(solver->fixed, setup->fixed, bytes) != 0) {
    elastic_release(solver->held);
    yw_status status = elastic_hold(solver->system, setup->fixed, 0.0, &solver->held, error);
    if (status < 0) return status;
    if (!solver->fixed) solver->fixed = YW_NEW_ARRAY(NULL, bool, setup->size);
    if (!solver->fixed) return yw_fail_memory(error, "an experiment");
    memcpy(solver->fixed, setup->fixed, bytes);
  }
  return elastic_solve(solver->held, setup->forces, setup->displacements, setup->reactions, error);
}

void bar_system_free(bar_system* solver) {
  elastic_release(solver->held);
  yw_mem_free(NULL, solver->fixed);
  *solver = (bar_system){0};
}

yw_status bar_solve_calculix(void* context, bar_setup* setup, yw_error* error) {
  const bar_calculix* solver = context;
  // Prescribed displacements are written before the results replace them.
  calculix_model model = {.grid = solver->grid,
                          .num_materials = 1,
                          .materials = &solver->material,
                          .fixed = setup->fixed,
                          .displacements = setup->displacements,
                          .forces = setup->forces};
  return calculix_static(&model, solver->seconds, setup->displacements, setup->reactions, error);
}

// Moduli of any body ------------------------------------------------------------------------------

static yw_status energy_of_strain(const elastic_system* system, const elastic_grid* grid,
                                  elastic_held* held, bool shear, double* u, double* energy,
                                  yw_error* error) {
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    const double* p = grid->nodes[i];
    for (int k = 0; k < 3; ++k) u[3 * i + k] = shear ? 0.0 : p[k] - grid->low[k];
    if (shear) {
      u[3 * i] = 0.5 * (p[1] - grid->low[1]);
      u[3 * i + 1] = 0.5 * (p[0] - grid->low[0]);
    }
  }
  yw_status status = elastic_solve(held, NULL, u, NULL, error);
  *energy = elastic_energy(system, u);
  return status;
}

yw_status elastic_moduli(const elastic_system* system, const elastic_grid* grid, double volume,
                         double* youngs, double* poisson, yw_error* error) {
  bool* fixed = YW_NEW_ARRAY(NULL, bool, 3 * (size_t)grid->num_nodes);
  double* u = YW_NEW_ARRAY(NULL, double, 3 * (size_t)grid->num_nodes);
  elastic_held* held = NULL;
  double swelling = 0.0, sheared = 0.0;
  yw_status status = fixed && u ? YW_OK : yw_fail_memory(error, "moduli");
  for (int32_t f = 0; f < 3 * grid->num_faces && status >= 0; ++f) {
    int32_t node = grid->faces[f / 3 * elastic_face_nodes(grid) + f % 3];
    for (int k = 0; k < 3; ++k) fixed[3 * node + k] = true;
  }
  if (status >= 0) status = elastic_hold(system, fixed, 0.0, &held, error);
  if (status >= 0) status = energy_of_strain(system, grid, held, false, u, &swelling, error);
  if (status >= 0) status = energy_of_strain(system, grid, held, true, u, &sheared, error);
  double bulk = swelling / (4.5 * volume), mu = sheared / (0.5 * volume);
  *youngs = 9.0 * bulk * mu / (3.0 * bulk + mu);
  *poisson = (3.0 * bulk - 2.0 * mu) / (2.0 * (3.0 * bulk + mu));
  elastic_release(held);
  yw_mem_free(NULL, fixed);
  yw_mem_free(NULL, u);
  return status;
}

// Vibrations --------------------------------------------------------------------------------------

const char* bar_motion_name(bar_motion motion) {
  static const char* const names[] = {"bending along y", "bending along z", "twist", "stretch"};
  return names[motion];
}

// The dominant motion of the ends, with twist measured at the surface.
static bar_motion motion_of(const elastic_bar* bar, const double* shape) {
  const elastic_grid* grid = &bar->grid;
  double half[2] = {0.5 * bar->size[1], 0.5 * bar->size[2]}, end = grid->high[0];
  int32_t axis = elastic_node_at(grid, end, 0, 0), side = elastic_node_at(grid, end, 0, half[1]);
  int32_t top = elastic_node_at(grid, end, half[0], 0);
  const double* u = shape + 3 * axis;
  double twist = fmax(fabs(shape[3 * side + 1] - u[1]), fabs(shape[3 * top + 2] - u[2]));
  double size[BAR_MOTIONS] = {fabs(u[1]), fabs(u[2]), twist, fabs(u[0])};
  int largest = 0;
  for (int m = 1; m < BAR_MOTIONS; ++m) {
    if (size[m] > size[largest]) largest = m;
  }
  return (bar_motion)largest;
}

static double theory_of(const beam* b, bar_motion motion, int number, bool clamped) {
  beam turned = beam_turned(b);
  switch (motion) {
    case BAR_BEND_Y:
      return beam_bending_frequency(b, number, clamped);
    case BAR_BEND_Z:
      return beam_bending_frequency(&turned, number, clamped);
    case BAR_TWIST:
      return beam_torsion_frequency(b, number, clamped);
    default:
      return beam_axial_frequency(b, number, clamped);
  }
}

yw_status bar_modes(const elastic_bar* bar, const elastic_system* system, const beam* theory,
                    bool clamped, int32_t count, bar_mode* out, yw_error* error) {
  int32_t nodes = bar->grid.num_nodes, seen[BAR_MOTIONS] = {0};
  double frequencies[ELASTIC_MAX_MODES];
  bool square = fabs(bar->size[1] / bar->size[2] - 1.0) < 1e-6;
  bool* fixed = YW_NEW_ARRAY(NULL, bool, 3 * (size_t)nodes);
  double* shapes = YW_NEW_ARRAY(NULL, double, 3 * (size_t)nodes * (size_t)count);
  yw_status status = fixed && shapes ? YW_OK : yw_fail_memory(error, "vibrations");
  for (int32_t i = 0; i < 3 * nodes && status >= 0; ++i) {
    fixed[i] = clamped && elastic_is_at(&bar->grid, bar->grid.nodes[i / 3][0], 0);
  }
  if (status >= 0) status = elastic_modes(system, fixed, count, frequencies, shapes, error);
  for (int32_t m = 0; m < count && status >= 0; ++m) {
    bar_motion motion = motion_of(bar, shapes + 3 * (size_t)nodes * (size_t)m);
    // Modes of a square cross-section come in pairs, in any two directions.
    if (square && motion == BAR_BEND_Z) motion = BAR_BEND_Y;
    if (square && motion == BAR_BEND_Y && seen[BAR_BEND_Y] > seen[BAR_BEND_Z]) motion = BAR_BEND_Z;
    int number = ++seen[motion];
    out[m] = (bar_mode){motion, number, frequencies[m], theory_of(theory, motion, number, clamped)};
  }
  yw_mem_free(NULL, fixed);
  yw_mem_free(NULL, shapes);
  return status;
}
