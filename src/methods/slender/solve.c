// SPDX-License-Identifier: MIT
// Newton's method for rods and sheets: six unknowns per particle, a sparse Cholesky factor, a line
// search. A factor is reused while its steps make good progress.
#include <string.h>

#include "math/small/mat3d.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define ELEMENTS_PER_TASK 32
#define MAX_HALVINGS 20
// Sufficient decrease, relative to the prediction of the linear model.
#define DECREASE_SHARE 1e-4
// Steps with an old factor continue while each reduces the decrement by this factor.
#define PROGRESS_FACTOR 0.04
// Rounding of the decrement and of energies, relative to the sum of stiffnesses (J).
#define DECREMENT_NOISE 1e-27
#define ENERGY_NOISE 1e-15
// Newton steps of static solves.
#define STATIC_NEWTON 300

static int32_t dof(int32_t count) { return 6 * count; }

static double pow2(double a) { return a * a; }

// Set-up ------------------------------------------------------------------------------------------

static bool allocate(slender_solver* s) {
  const slender_model* model = s->model;
  const yw_allocator* mem = &s->mem;
  size_t n = (size_t)model->num_particles, elements = (size_t)model->num_elements;
  size_t rows = 6 * (size_t)model->corners;
  s->pose = (slender_pose){YW_NEW_ARRAY(mem, double, 3 * n), YW_NEW_ARRAY(mem, yw_turn, n)};
  s->trial = (slender_pose){YW_NEW_ARRAY(mem, double, 3 * n), YW_NEW_ARRAY(mem, yw_turn, n)};
  s->anchors = YW_NEW_ARRAY(mem, slender_anchor, n);
  s->gradient = YW_NEW_ARRAY(mem, double, 6 * n);
  s->step = YW_NEW_ARRAY(mem, double, 6 * n);
  s->element_gradient = YW_NEW_ARRAY(mem, double, elements* rows);
  s->element_hessian = YW_NEW_ARRAY(mem, double, elements* rows* rows);
  s->energies = YW_NEW_ARRAY(mem, double, elements);
  s->diagonal = YW_NEW_ARRAY(mem, int32_t, 6 * n);
  return s->pose.x && s->pose.q && s->trial.x && s->trial.q && s->anchors && s->gradient &&
         s->step && s->element_gradient && s->element_hessian && s->energies && s->diagonal;
}

static double stiffness_sum(const slender_model* model) {
  double sum = 0.0;
  for (int32_t e = 0; e < model->num_elements; ++e) {
    if (model->kind == SLENDER_ROD) {
      const rod_pair* pair = &model->pairs[e];
      sum += pair->weight * pair->length * pair->length;
    } else {
      sum += model->triangles[e].mu;
    }
  }
  return sum;
}

// Elements that examples bend; they start at rest.
static bool allocate_bent(slender_solver* s) {
  const slender_model* model = s->model;
  size_t elements = (size_t)model->num_elements;
  if (model->poses.count == 0) return true;
  if (model->kind == SLENDER_SHEET) {
    s->bent.triangles = YW_NEW_ARRAY(&s->mem, sheet_triangle, elements);
    if (!s->bent.triangles) return false;
    memcpy(s->bent.triangles, model->triangles, elements * sizeof *model->triangles);
    return true;
  }
  s->bent.pairs = YW_NEW_ARRAY(&s->mem, rod_pair, elements);
  s->bent.turns = yw_mem_alloc(&s->mem, elements, sizeof *s->bent.turns);
  if (!s->bent.pairs || !s->bent.turns) return false;
  memcpy(s->bent.pairs, model->pairs, elements * sizeof *model->pairs);
  for (size_t e = 0; e < elements; ++e) s->bent.turns[e][0] = s->bent.turns[e][1] = YW_TURN_NONE;
  return true;
}

// Finds the diagonal blocks in the rows of the matrix.
static void find_diagonal(slender_solver* s) {
  for (int32_t r = 0; r < s->matrix.size; ++r) {
    int32_t at = s->matrix.start[r];
    while (s->matrix.columns[at] != r / 6 * 6) ++at;
    s->diagonal[r] = at;
  }
}

yw_status yw_slender_solver_create(const yw_allocator* mem, const slender_model* model,
                                   slender_solver* out, yw_error* error) {
  *out = (slender_solver){.model = model, .mem = yw_mem_or_default(mem)};
  yw_status status = allocate(out) && allocate_bent(out)
                         ? YW_OK
                         : yw_fail_memory(error, "the solver of a rod or sheet");
  out->stiffness = stiffness_sum(model);
  if (status >= 0 && model->num_elements > 0) {
    status = yw_assembly_create(mem, model->num_particles, 6, model->num_elements, model->corners,
                                model->elements, &out->assembly, &out->matrix, error);
    if (status >= 0) {
      find_diagonal(out);
      yw_cholesky_options options = {
          .order = model->kind == SLENDER_ROD ? YW_CHOLESKY_DEGREE : YW_CHOLESKY_AUTO,
          .points = model->kind == SLENDER_ROD ? NULL : model->rest,
          .block = 6,
          .simd = yw_simd_resolve(YW_SIMD_AUTO)};
      status = yw_cholesky_analyse(mem, &out->matrix, &options, &out->factor, error);
    }
    // Memory that depends on the factor is allocated now: steps allocate nothing.
    for (int32_t r = 0; status >= 0 && r < out->matrix.size; ++r) {
      out->matrix.values[out->diagonal[r] + r % 6] = 1.0;
    }
    if (status >= 0) status = yw_cholesky_factorise(out->factor, &out->matrix, NULL, error);
    if (status >= 0) {
      size_t room = yw_cholesky_scratch(out->factor, 1, NULL);
      out->scratch = YW_NEW_ARRAY(mem, double, room);
      if (!out->scratch) status = yw_fail_memory(error, "the solver of a rod or sheet");
    }
  }
  if (status < 0) yw_slender_solver_free(out);
  return status;
}

void yw_slender_solver_free(slender_solver* s) {
  if (!s->model) return;
  void* const arrays[] = {s->pose.x,     s->pose.q,     s->trial.x,          s->trial.q,
                          s->anchors,    s->step,       s->element_gradient, s->element_hessian,
                          s->energies,   s->scratch,    s->gradient,         s->diagonal,
                          s->bent.pairs, s->bent.turns, s->bent.triangles};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&s->mem, arrays[i]);
  yw_cholesky_destroy(s->factor);
  yw_sparse_free(&s->matrix);
  yw_assembly_free(&s->assembly);
  *s = (slender_solver){0};
}

// Anchors -----------------------------------------------------------------------------------------

// turning 2 v^T J v, v = vec(q turn^-1); N is the moment of the rotation between the two.
static double anchor_turning(const slender_model* model, int32_t p, const slender_anchor* anchor,
                             yw_turn q, double gradient[3], double hessian[9]) {
  double j[6], n[9], r[9], moment[9], jv[3];
  yw_turn way = yw_turn_mul(q, yw_turn_conjugate(anchor->turn));
  const double v[3] = {way.x, way.y, way.z};
  yw_slender_turn_sym(anchor->turn, model->inertia[p], j);
  yw_sym_apply(j, v, jv);
  double energy = 2.0 * anchor->turning * (v[0] * jv[0] + v[1] * jv[1] + v[2] * jv[2]);
  if (!gradient) return energy;
  double half = 0.5 * (j[0] + j[1] + j[2]);
  for (int i = 0; i < 6; ++i) j[i] = anchor->turning * ((i < 3 ? half : 0.0) - j[i]);
  yw_m3_of_sym(j, moment);
  yw_turn_matrix(way, r);
  yw_m3_mul(r, moment, n);
  yw_m3_axial(n, gradient);
  double trace = n[0] + n[4] + n[8];
  for (int a = 0; a < 3 && hessian; ++a) {
    for (int b = 0; b < 3; ++b) {
      hessian[3 * a + b] = (a == b ? trace : 0.0) - 0.5 * (n[3 * a + b] + n[3 * b + a]);
    }
  }
  return energy;
}

void yw_slender_inertia_torque(const slender_model* model, int32_t p, const slender_anchor* anchor,
                               yw_turn q, double out[3]) {
  anchor_turning(model, p, anchor, q, out, NULL);
}

// Sliding particles: held to a plane, and dragged within it towards a position.
static double anchor_sliding(const slender_anchor* anchor, const double x[3], double gradient[3]) {
  double off = 0.0, along = 0.0, way[3], energy = 0.0;
  if (!(anchor->normal > 0.0)) return 0.0;
  for (int k = 0; k < 3; ++k) {
    off += anchor->across[k] * (x[k] - anchor->at[k]);
    way[k] = x[k] - anchor->stick[k];
    along += anchor->across[k] * way[k];
  }
  for (int k = 0; k < 3; ++k) {
    double slip = way[k] - along * anchor->across[k];
    energy += 0.5 * anchor->drag * slip * slip;
    if (gradient) gradient[k] += anchor->normal * off * anchor->across[k] + anchor->drag * slip;
  }
  return energy + 0.5 * anchor->normal * off * off;
}

static double anchor_energy(const slender_solver* s, int32_t p, const slender_pose* pose) {
  const slender_anchor* anchor = &s->anchors[p];
  const double* x = pose->x + 3 * p;
  double energy = 0.0;
  for (int k = 0; k < 3; ++k) {
    double way = x[k] - anchor->place[k];
    energy += 0.5 * anchor->weight * way * way;
    if (s->loads) energy -= s->loads[6 * p + k] * x[k];
  }
  energy += anchor_sliding(anchor, x, NULL);
  // Torques do work along the rotation vector, which is exact about a single axis.
  if (s->loads && s->has_torques) {
    double way[3];
    yw_turn_log(pose->q[p], way);
    for (int k = 0; k < 3; ++k) energy -= s->loads[6 * p + 3 + k] * way[k];
  }
  if (anchor->turning > 0.0) {
    energy += anchor_turning(s->model, p, anchor, pose->q[p], NULL, NULL);
  }
  return energy;
}

// Evaluation --------------------------------------------------------------------------------------

typedef struct evaluation {
  slender_solver* solver;
  const slender_pose* pose;
  bool gradient, hessian;
  slender_hessian kind;
} evaluation;

static void clear_held(const slender_solver* s, int32_t e, double* hessian) {
  int32_t corners = s->model->corners, rows = 6 * corners;
  const int32_t* particles = s->model->elements + e * corners;
  for (int32_t r = 0; r < rows; ++r) {
    const slender_anchor* anchor = &s->anchors[particles[r / 6]];
    if (!(r % 6 < 3 ? anchor->held : anchor->clamped)) continue;
    for (int32_t k = 0; k < rows; ++k) hessian[rows * r + k] = hessian[rows * k + r] = 0.0;
  }
}

static void evaluate_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const evaluation* v = context;
  slender_solver* s = v->solver;
  int32_t rows = 6 * s->model->corners, end = (block + 1) * ELEMENTS_PER_TASK;
  if (end > s->model->num_elements) end = s->model->num_elements;
  for (int32_t e = block * ELEMENTS_PER_TASK; e < end; ++e) {
    double* gradient = v->gradient ? s->element_gradient + (size_t)e * (size_t)rows : NULL;
    double* hessian = v->hessian ? s->element_hessian + (size_t)e * (size_t)(rows * rows) : NULL;
    s->energies[e] =
        yw_slender_bent_energy(s->model, &s->bent, e, v->pose, gradient, hessian, v->kind);
    if (hessian) clear_held(s, e, hessian);
  }
}

// Energy at a pose; elements store gradients and second derivatives if requested.
static double evaluate(slender_solver* s, yw_tasks* tasks, const slender_pose* pose, bool gradient,
                       bool hessian, slender_hessian kind) {
  evaluation v = {s, pose, gradient, hessian, kind};
  int32_t blocks = (s->model->num_elements + ELEMENTS_PER_TASK - 1) / ELEMENTS_PER_TASK;
  yw_tasks_run(tasks, blocks, evaluate_block, &v);
  double energy = 0.0;
  for (int32_t e = 0; e < s->model->num_elements; ++e) energy += s->energies[e];
  for (int32_t p = 0; p < s->model->num_particles; ++p) energy += anchor_energy(s, p, pose);
  return energy;
}

// Sum of the gradients of elements and anchor.
static void particle_gradient(const slender_solver* s, int32_t p, double g[6]) {
  const slender_anchor* anchor = &s->anchors[p];
  const double* x = s->pose.x + 3 * p;
  memset(g, 0, 6 * sizeof *g);
  for (int32_t i = s->assembly.around_start[p]; i < s->assembly.around_start[p + 1]; ++i) {
    const double* part = s->element_gradient + 6 * (size_t)s->assembly.around[i];
    for (int k = 0; k < 6; ++k) g[k] += part[k];
  }
  double turning[3];
  anchor_turning(s->model, p, anchor, s->pose.q[p], turning, NULL);
  for (int k = 0; k < 3; ++k) {
    g[k] += anchor->weight * (x[k] - anchor->place[k]);
    g[3 + k] += turning[k];
  }
  anchor_sliding(anchor, x, g);
  for (int k = 0; k < 6 && s->loads; ++k) g[k] -= s->loads[6 * p + k];
}

// Sets the gradient to 0 where held.
static void gather_gradient(slender_solver* s) {
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    double* g = s->gradient + 6 * p;
    particle_gradient(s, p, g);
    for (int k = 0; k < 6; ++k) {
      if (k < 3 ? s->anchors[p].held : s->anchors[p].clamped) g[k] = 0.0;
    }
  }
}

static void add_anchors(slender_solver* s, double shift) {
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    const slender_anchor* anchor = &s->anchors[p];
    double turning[3], hessian[9];
    anchor_turning(s->model, p, anchor, s->pose.q[p], turning, hessian);
    for (int k = 0; k < 3; ++k) {
      double* row = s->matrix.values + s->diagonal[6 * p + k];
      double* turned = s->matrix.values + s->diagonal[6 * p + 3 + k];
      for (int j = 0; j < 3 && anchor->normal > 0.0; ++j) {
        row[j] += (anchor->normal - anchor->drag) * anchor->across[k] * anchor->across[j];
        if (j == k) row[j] += anchor->drag;
      }
      row[k] = anchor->held ? 1.0 : (row[k] + anchor->weight) * (1.0 + shift);
      for (int j = 0; j < 3 && !anchor->clamped; ++j) turned[3 + j] += hessian[3 * k + j];
      turned[3 + k] = anchor->clamped ? 1.0 : turned[3 + k] * (1.0 + shift);
    }
  }
}

// Factorises the exact second derivative at the pose where it is positive, otherwise the definite
// one, if necessary shifted.
bool yw_slender_factorise(slender_solver* s, yw_tasks* tasks) {
  const double shifts[5] = {0.0, 0.0, 1e-6, 1e-3, 1.0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    slender_hessian kind = attempt == 0 ? SLENDER_EXACT : SLENDER_DEFINITE;
    if (attempt < 2) evaluate(s, tasks, &s->pose, true, true, kind);
    yw_assembly_sum(&s->assembly, tasks, s->element_hessian, &s->matrix);
    add_anchors(s, shifts[attempt]);
    if (yw_cholesky_factorise(s->factor, &s->matrix, tasks, NULL) >= 0) return true;
  }
  return false;
}

bool yw_slender_backsolve(slender_solver* s) {
  return yw_cholesky_solve(s->factor, NULL, 1, 1, s->step, s->step, s->scratch);
}

// Newton ------------------------------------------------------------------------------------------

// step = -H^-1 gradient; returns the decrement gradient . H^-1 gradient.
static double find_step(slender_solver* s) {
  int32_t n = dof(s->model->num_particles);
  for (int32_t i = 0; i < n; ++i) s->step[i] = -s->gradient[i];
  yw_slender_backsolve(s);
  double sum = 0.0;
  for (int32_t i = 0; i < n; ++i) sum -= s->gradient[i] * s->step[i];
  return sum;
}

static void move(const slender_solver* s, double share, slender_pose* out) {
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    const double* d = s->step + 6 * p;
    for (int k = 0; k < 3; ++k) out->x[3 * p + k] = s->pose.x[3 * p + k] + share * d[k];
    const double turn[3] = {share * d[3], share * d[4], share * d[5]};
    out->q[p] = yw_turn_normalize(yw_turn_mul(yw_turn_exp(turn), s->pose.q[p]));
  }
}

// Moves along the step as far as the energy falls. Returns the energy there; updates the pose.
static double search(slender_solver* s, yw_tasks* tasks, double energy, double decrement,
                     bool* moved) {
  double share = 1.0, largest = 0.0;
  *moved = false;
  // No particle rotates by more than one radian at once.
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    for (int k = 3; k < 6; ++k) largest = fmax(largest, fabs(s->step[6 * p + k]));
  }
  if (!isfinite(largest)) return energy;
  if (largest > 1.0) share = 1.0 / largest;
  double noise = ENERGY_NOISE * (s->stiffness + fabs(energy));
  for (int i = 0; i < MAX_HALVINGS; ++i, share *= 0.5) {
    move(s, share, &s->trial);
    double there = evaluate(s, tasks, &s->trial, true, false, SLENDER_EXACT);
    if (!(there <= energy - DECREASE_SHARE * share * decrement + noise)) continue;
    slender_pose swap = s->pose;
    s->pose = s->trial;
    s->trial = swap;
    *moved = true;
    return there;
  }
  return energy;
}

// Of elements and anchors, without what is held.
static double free_energy(const slender_solver* s) {
  double energy = 0.0;
  for (int32_t e = 0; e < s->model->num_elements; ++e) energy += s->energies[e];
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    const slender_anchor* anchor = &s->anchors[p];
    const double* x = s->pose.x + 3 * p;
    for (int k = 0; k < 3 && !anchor->held; ++k) {
      energy += 0.5 * anchor->weight * pow2(x[k] - anchor->place[k]);
    }
    if (!anchor->held) energy += anchor_sliding(anchor, x, NULL);
    if (!anchor->clamped) energy += anchor_turning(s->model, p, anchor, s->pose.q[p], NULL, NULL);
  }
  return energy;
}

// Whether a pose that falls or rests without strain is a solution already. Energies are sums of
// r K r / 2, so that gradients are J^T K r, and near r = 0 the second derivative is J^T K J: the
// decrement is at most twice the energy. Twice that is to spare.
static bool is_solved(const slender_solver* s, double noise) {
  return !s->loads && 4.0 * free_energy(s) <= noise;
}

// Moves particles without neighbours.
static void follow_anchors(slender_solver* s) {
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    const slender_anchor* anchor = &s->anchors[p];
    for (int k = 0; k < 3 && !anchor->held; ++k) s->pose.x[3 * p + k] = anchor->place[k];
    if (!anchor->clamped) s->pose.q[p] = anchor->turn;
  }
}

slender_solve_report yw_slender_solve(slender_solver* s, yw_tasks* tasks, double tolerance,
                                      int32_t max_newton) {
  slender_solve_report report = {.converged = true};
  if (s->model->num_elements == 0) {
    follow_anchors(s);
    return report;
  }
  double start = 0.0, decrement = 0.0, noise = DECREMENT_NOISE * s->stiffness;
  double energy = evaluate(s, tasks, &s->pose, true, false, SLENDER_EXACT);
  bool has_step = false;
  report.converged = false;
  if (!isfinite(energy)) return report;
  bool keep = s->keep_factor && !s->has_no_factor;
  s->has_no_factor = is_solved(s, noise);
  if (s->has_no_factor) {
    report.converged = true;
    return report;
  }
  if (keep) {
    gather_gradient(s);
    start = decrement = find_step(s);
    has_step = true;
  }
  while (report.newton < max_newton) {
    bool is_new = !has_step;
    if (is_new) {
      if (!yw_slender_factorise(s, tasks)) return report;
      gather_gradient(s);
      decrement = find_step(s);
      if (report.newton == 0 && !(start > 0.0)) start = decrement;
    }
    start = report.start = fmax(start, s->least_start);
    report.residual = start > 0.0 ? sqrt(fabs(decrement) / start) : 0.0;
    if (!isfinite(decrement)) return report;
    bool is_small =
        (report.newton > 0 || s->least_start > 0.0) && decrement <= tolerance * tolerance * start;
    if (decrement <= noise || is_small) {
      report.converged = true;
      return report;
    }
    bool moved;
    energy = search(s, tasks, energy, decrement, &moved);
    has_step = false;
    if (!moved) {
      if (is_new) return report;
      continue;
    }
    ++report.newton;
    // The new gradient with the old factor shows how good both are. The factor is kept if the step
    // is small or makes good progress.
    gather_gradient(s);
    double next = find_step(s);
    has_step = next <= noise || next <= tolerance * tolerance * start ||
               next < PROGRESS_FACTOR * decrement;
    decrement = next;
  }
  return report;
}

void yw_slender_reactions(slender_solver* s, yw_tasks* tasks) {
  if (s->model->num_elements == 0) {
    memset(s->step, 0, 6 * (size_t)s->model->num_particles * sizeof *s->step);
    return;
  }
  evaluate(s, tasks, &s->pose, true, false, SLENDER_EXACT);
  for (int32_t p = 0; p < s->model->num_particles; ++p) {
    double g[6];
    particle_gradient(s, p, g);
    memcpy(s->step + 3 * p, g, 3 * sizeof *g);
  }
}

// True with a held and clamped particle, or with held particles that span a triangle.
static bool is_supported(const slender_model* model, const bool* held, const bool* clamped,
                         const double* x) {
  int32_t first = -1, second = -1, n = model->num_particles;
  bool any_clamped = false;
  double d[3] = {0}, longest = 0.0, widest = 0.0;
  for (int32_t p = 0; p < n; ++p) {
    any_clamped = any_clamped || clamped[p];
    if (held[p] && first < 0) first = p;
  }
  if (first < 0 || any_clamped) return first >= 0;
  for (int32_t p = 0; p < n; ++p) {
    double away = 0.0;
    for (int k = 0; k < 3; ++k) away += pow2(x[3 * p + k] - x[3 * first + k]);
    if (held[p] && away > longest) longest = away, second = p;
  }
  if (second < 0) return false;
  for (int k = 0; k < 3; ++k) d[k] = (x[3 * second + k] - x[3 * first + k]) / sqrt(longest);
  for (int32_t p = 0; p < n; ++p) {
    double along = 0.0, away = 0.0;
    for (int k = 0; k < 3; ++k) along += d[k] * (x[3 * p + k] - x[3 * first + k]);
    for (int k = 0; k < 3; ++k) away += pow2(x[3 * p + k] - x[3 * first + k] - along * d[k]);
    if (held[p]) widest = fmax(widest, away);
  }
  return widest > 1e-12 * longest;
}

yw_status yw_slender_static(const slender_model* model, const bool* held, const bool* clamped,
                            const double* loads, double tolerance, slender_pose* pose,
                            yw_error* error) {
  if (!is_supported(model, held, clamped, pose->x)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the body is free to move or turn as a whole: hold a clamped particle, or three "
                   "that are not on a line");
  }
  slender_solver s;
  yw_status status = yw_slender_solver_create(&model->mem, model, &s, error);
  if (status < 0) return status;
  size_t n = (size_t)model->num_particles;
  for (size_t p = 0; p < n; ++p) {
    s.anchors[p] = (slender_anchor){.turn = YW_TURN_NONE, .held = held[p], .clamped = clamped[p]};
  }
  memcpy(s.pose.x, pose->x, 3 * n * sizeof *pose->x);
  memcpy(s.pose.q, pose->q, n * sizeof *pose->q);
  s.loads = loads;
  for (size_t i = 0; loads && i < 6 * n; ++i) s.has_torques |= i % 6 > 2 && loads[i] != 0.0;
  slender_solve_report report = yw_slender_solve(&s, NULL, tolerance, STATIC_NEWTON);
  memcpy(pose->x, s.pose.x, 3 * n * sizeof *pose->x);
  memcpy(pose->q, s.pose.q, n * sizeof *pose->q);
  yw_slender_solver_free(&s);
  if (report.converged) return YW_OK;
  return yw_fail(error, YW_ERR_DIVERGED,
                 "no equilibrium found: the residual is %.2g of that of the start after %d Newton "
                 "steps",
                 report.residual, report.newton);
}
