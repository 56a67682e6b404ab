// SPDX-License-Identifier: MIT
// Masses and stable time steps of fem models.
//
// A few small or flat tets of a graded mesh would force short steps upon the whole body. So mass
// moves to them from tets nearby, which slows down their own vibrations and changes little else:
// density times (s / s_r)^2 in tets whose stable step s_r is below s, and less in others of their
// group of neighbours by a common factor, so that every group keeps its mass. (When all of the body
// gave it, the ears of a bunny weighed a seventh more.) Groups of small tets alone take what they
// lack from the whole body. s is the longest step that moves no more than the share of the mass
// that the user allows.
#include <math.h>
#include <string.h>

#include "geometry/order.h"
#include "math/small/trig.h"
#include "methods/fem/element.h"
#include "methods/fem/model.h"
#include "yawara/extend/memory.h"

// Power iterations for the largest eigenvalue of a tet. For random tets the result is within 2 %,
// which the safety factor of the step covers.
#define POWER_STEPS 40
// Meshes of tets of one size gain nothing worth a change.
#define LEAST_GAIN 1.25
// Halvings of the interval in which the longest step is looked for.
#define BISECTIONS 24
// Roots of a group, and the least density of what gives mass. Larger groups and less gain a
// twentieth of the step for a model of a bunny; a group of all gains as much again.
#define GROUP_ROOTS 128
#define LEAST_REST 0.7
// Groups that give less need no look.
#define HARDLY 0.01
// Steps of families are at least this share of their children's: margins of both are 2 and 5 % of
// the eigenvalue, whose root counts, and iterations approach it from below.
#define SURELY 0.95
// Roots that a worker takes at once.
#define BLOCK_ROOTS 64
// Families of varying stiffness that are looked at per level; the rest count as their children do.
#define MOST_FAMILIES 4000

/// A tet of the mesh with all its descendants.
typedef struct root_steps {
  double mass;                         ///< kg, unscaled
  double factor;                       ///< of its density
  double step;                         ///< s, shortest of all levels, as if all were of level 0
  double of_level[FEM_MAX_LEVEL + 1];  ///< s
} root_steps;

// K = V B^T C B and lumped masses V rho / 4: omega^2 = 4 / rho times the largest eigenvalue of
// B^T C B, which is that of C (B B^T).
double yw_fem_stable_step(const fem_shape* shape, double gradient_scale, const float c[FEM_MATRIX],
                          double density) {
  double g[4][3], x[6] = {1.0, 0.9, 1.1, 0.3, -0.4, 0.5}, largest = 0.0;
  for (int a = 0; a < 4; ++a) {
    for (int k = 0; k < 3; ++k) g[a][k] = shape->gradient[a][k] * gradient_scale;
  }
  for (int step = 0; step < POWER_STEPS; ++step) {
    double y[6] = {0}, norm = 0.0;
    // y = B B^T x: forces on the corners for stresses x, and the strains of such displacements.
    for (int a = 0; a < 4; ++a) {
      const double u[3] = {g[a][0] * x[0] + g[a][2] * x[4] + g[a][1] * x[5],
                           g[a][1] * x[1] + g[a][2] * x[3] + g[a][0] * x[5],
                           g[a][2] * x[2] + g[a][1] * x[3] + g[a][0] * x[4]};
      for (int k = 0; k < 3; ++k) y[k] += g[a][k] * u[k];
      y[3] = y[3] + g[a][2] * u[1] + g[a][1] * u[2];
      y[4] = y[4] + g[a][2] * u[0] + g[a][0] * u[2];
      y[5] = y[5] + g[a][1] * u[0] + g[a][0] * u[1];
    }
    for (int i = 0; i < 6; ++i) {
      x[i] = 0.0;
      for (int j = 0; j < 6; ++j) x[i] += (double)c[yw_fem_matrix_at(i, j)] * y[j];
      norm += x[i] * x[i];
    }
    largest = sqrt(norm);
    for (int i = 0; i < 6; ++i) x[i] /= largest;
  }
  return 2.0 / sqrt(1.02 * largest * 4.0 / density);
}

static float density_of(const fem_model* m, int32_t finest_tet) {
  int32_t first = m->h.level_start[m->h.max_level];
  return m->materials.density ? m->materials.density[finest_tet - first]
                              : m->materials.uniform_density;
}

static double lightest_density(const fem_model* m) {
  const fem_hierarchy* h = &m->h;
  if (!m->materials.density) return (double)m->materials.uniform_density;
  double lightest = INFINITY;
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    lightest = fmin(lightest, (double)density_of(m, t));
  }
  return lightest;
}

// Steps and masses of the roots -------------------------------------------------------------------

static void shorten(root_steps* root, int32_t level, double step) {
  root->of_level[level] = fmin(root->of_level[level], step);
  root->step = fmin(root->step, step * (double)(1 << level));
}

/// Shares the roots out in blocks.
typedef struct steps_job {
  const fem_model* m;
  root_steps* roots;
  double lightest;         ///< kg/m^3
  const double* families;  ///< s, of the first family: see set_soft_steps
  double (*shortest)[2];   ///< s, per block
} steps_job;

static int32_t num_blocks(const fem_model* m) {
  return (m->h.num_roots + BLOCK_ROOTS - 1) / BLOCK_ROOTS;
}

static int32_t block_end(const fem_model* m, int32_t block) {
  int64_t end = ((int64_t)block + 1) * BLOCK_ROOTS;
  return end < m->h.num_roots ? (int32_t)end : m->h.num_roots;
}

static void find_steps_of_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  steps_job* job = context;
  const fem_hierarchy* h = &job->m->h;
  const float* c = job->m->materials.uniform_stiffness;
  for (int32_t r = block * BLOCK_ROOTS; r < block_end(job->m, block); ++r) {
    for (int type = 0; type < FEM_TYPES; ++type) {
      double step = yw_fem_stable_step(&h->shapes[r][type], 1.0, c, job->lightest);
      for (int32_t l = type == FEM_A ? 0 : 1; l <= h->max_level; ++l) {
        shorten(&job->roots[r], l, step / (double)(1 << l));
      }
    }
  }
}

// family_least (NULL where stiffness is uniform): per parent, the shortest step of its children.
static void find_root_steps(const fem_model* m, yw_tasks* tasks, root_steps* roots,
                            double* family_least) {
  const fem_hierarchy* h = &m->h;
  steps_job job = {.m = m, .roots = roots, .lightest = lightest_density(m)};
  if (!m->materials.stiffness) {
    yw_tasks_run(tasks, num_blocks(m), find_steps_of_block, &job);
    return;
  }
  for (int32_t t = 0; t < h->num_tets; ++t) {
    const fem_shape* shape = &h->shapes[h->root[t]][h->type[t]];
    const float* c = m->materials.stiffness + (size_t)t * FEM_MATRIX;
    double step = yw_fem_stable_step(shape, (double)(1 << h->level[t]), c, job.lightest);
    shorten(&roots[h->root[t]], h->level[t], step);
    double* least = h->parent[t] >= 0 ? &family_least[h->parent[t]] : NULL;
    if (least) *least = t == h->first_child[h->parent[t]] ? step : fmin(*least, step);
  }
}

static double find_root_masses(const fem_model* m, root_steps* roots) {
  const fem_hierarchy* h = &m->h;
  double total = 0.0;
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    double mass = (double)density_of(m, t) * yw_fem_volume(h, t);
    roots[h->root[t]].mass += mass;
    total += mass;
  }
  return total;
}

// Moving mass -------------------------------------------------------------------------------------

// Roots that are near to each other.
typedef struct root_group {
  const int32_t* first;
  int32_t count;
  double mass;  ///< kg
} root_group;

typedef struct mass_groups {
  int32_t* order;  ///< of roots
  root_group* groups;
  int32_t count;
} mass_groups;

static void free_groups(const yw_allocator* mem, mass_groups* all) {
  yw_mem_free(mem, all->order);
  yw_mem_free(mem, all->groups);
}

static bool make_groups(const fem_model* m, const root_steps* roots, mass_groups* out) {
  const fem_hierarchy* h = &m->h;
  const yw_allocator* mem = &m->mem;
  int32_t groups = (h->num_roots + GROUP_ROOTS - 1) / GROUP_ROOTS;
  yw_vec3* middles = YW_NEW_ARRAY(mem, yw_vec3, h->num_roots);
  *out = (mass_groups){.order = YW_NEW_ARRAY(mem, int32_t, h->num_roots),
                       .groups = YW_NEW_ARRAY(mem, root_group, groups)};
  bool good = middles && out->order && out->groups;
  for (int32_t r = 0; r < h->num_roots && good; ++r) {
    yw_dvec3 sum = {0, 0, 0};
    for (int s = 0; s < 4; ++s) sum = yw_dadd(sum, h->rest[h->nodes[r][s]]);
    middles[r] = yw_f3(yw_dscale(sum, 0.25));
  }
  good = good && yw_hilbert_order(mem, h->num_roots, middles, 0.0, out->order) >= 0;
  for (int32_t k = 0; k < groups && good; ++k, ++out->count) {
    int32_t first = k * GROUP_ROOTS, left = h->num_roots - first;
    root_group g = {.first = out->order + first, .count = left < GROUP_ROOTS ? left : GROUP_ROOTS};
    for (int32_t i = 0; i < g.count; ++i) g.mass += roots[g.first[i]].mass;
    out->groups[k] = g;
  }
  yw_mem_free(mem, middles);
  if (!good) free_groups(mem, out);
  return good;
}

// What a root weighs at least, relative to what it weighed, if it is to take steps of this length.
static double needed_factor(const root_steps* root, double step) {
  return step / root->step * (step / root->step);
}

// Factor of the mass of the tets of a group that need no more, so that the group keeps its mass; 0
// if they have too little.
static double rest_of_group(const root_group* g, const root_steps* roots, double step) {
  double low = 0.0, high = 1.0;
  for (int i = 0; i < BISECTIONS; ++i) {
    double middle = 0.5 * (low + high), mass = 0.0;
    for (int32_t k = 0; k < g->count; ++k) {
      const root_steps* root = &roots[g->first[k]];
      mass += root->mass * fmax(needed_factor(root, step), middle);
    }
    *(mass <= g->mass ? &low : &high) = middle;
  }
  return low;
}

// kg, what steps of this length add to small tets.
static double added_mass(const fem_model* m, const root_steps* roots, double step) {
  double added = 0.0;
  for (int32_t r = 0; r < m->h.num_roots; ++r) {
    added += roots[r].mass * fmax(needed_factor(&roots[r], step) - 1.0, 0.0);
  }
  return added;
}

static double shortest_step(const fem_model* m, const root_steps* roots) {
  double step = INFINITY;
  for (int32_t r = 0; r < m->h.num_roots; ++r) step = fmin(step, roots[r].step);
  return step;
}

// Sets the factors of all densities.
static bool move_mass(fem_model* m, double share, double total, root_steps* roots) {
  mass_groups all;
  if (!make_groups(m, roots, &all)) return false;
  double shortest = shortest_step(m, roots), low = shortest, high = low, now = 0.0;
  for (int32_t r = 0; r < m->h.num_roots; ++r) high = fmax(high, roots[r].step);
  for (int i = 0; i < BISECTIONS; ++i) {
    double middle = 0.5 * (low + high);
    *(added_mass(m, roots, middle) <= share * total ? &low : &high) = middle;
  }
  int32_t count = low < LEAST_GAIN * shortest ? 0 : all.count;
  for (int32_t k = 0; k < count; ++k) {
    const root_group* g = &all.groups[k];
    double rest = fmax(rest_of_group(g, roots, low), LEAST_REST);
    for (int32_t i = 0; i < g->count; ++i) {
      root_steps* root = &roots[g->first[i]];
      root->factor = fmax(needed_factor(root, low), rest);
      now += root->mass * root->factor;
    }
  }
  // What groups of small tets lack comes from all.
  for (int32_t r = 0; r < m->h.num_roots && count > 0; ++r) roots[r].factor *= total / now;
  if (count > 0) m->moved_mass = (float)(added_mass(m, roots, low) / now);
  free_groups(&m->mem, &all);
  return true;
}

// Results -----------------------------------------------------------------------------------------

static void set_masses(fem_model* m, const root_steps* roots) {
  const fem_hierarchy* h = &m->h;
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    double density = (double)density_of(m, t) * roots[h->root[t]].factor;
    double share = 0.25 * density * yw_fem_volume(h, t);
    for (int s = 0; s < 4; ++s) m->fine_mass[h->nodes[t][s]] += share;
    if (m->fragile) m->fragile->corner_mass[t - h->level_start[h->max_level]] = share;
  }
}

static void set_level_steps(fem_model* m, const root_steps* roots) {
  for (int32_t l = 0; l <= m->h.max_level; ++l) {
    m->level_step[l] = INFINITY;
    for (int32_t r = 0; r < m->h.num_roots; ++r) {
      float step = (float)(sqrt(roots[r].factor) * roots[r].of_level[l]);
      m->level_step[l] = fminf(m->level_step[l], step);
    }
  }
}

// s, shortest of the children of a root.
static double children_step(const root_steps* root) {
  return sqrt(root->factor) * root->of_level[1];
}

// A family vibrates no faster than the fastest of its children would alone, so most need not be
// looked at: only the shortest steps of all families are wanted.
static void shorten_families(const fem_model* m, const root_steps* root, int32_t r,
                             double root_step[2]) {
  double density = (double)m->materials.uniform_density * root->factor;
  double least = SURELY * children_step(root);
  for (int type = 0; type < FEM_TYPES; ++type) {
    if (least > root_step[type == FEM_A ? 0 : 1]) continue;
    const float* c[FEM_FAMILY_CHILDREN];
    for (int k = 0; k < FEM_FAMILY_CHILDREN; ++k) c[k] = m->materials.uniform_stiffness;
    double step = yw_fem_family_step(&m->h, r, type, c, m->tables.softening.part[0], density);
    if (type == FEM_A) root_step[0] = fmin(root_step[0], step);
    root_step[1] = fmin(root_step[1], step);
  }
}

// The shortest steps of a block's families. Which are passed over depends on the block, the result
// does not.
static void shorten_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  steps_job* job = context;
  double* shortest = job->shortest[block];
  memcpy(shortest, job->families, sizeof job->shortest[block]);
  for (int32_t r = block * BLOCK_ROOTS; r < block_end(job->m, block); ++r) {
    shorten_families(job->m, &job->roots[r], r, shortest);
  }
}

// Of families of A tets, and of all tets, as large as roots.
static bool find_family_steps(const fem_model* m, yw_tasks* tasks, root_steps* roots,
                              double root_step[2]) {
  int32_t first = 0, blocks = num_blocks(m);
  for (int32_t r = 0; r < m->h.num_roots; ++r) {
    if (children_step(&roots[r]) < children_step(&roots[first])) first = r;
  }
  double families[2] = {INFINITY, INFINITY};
  steps_job job = {.m = m, .roots = roots, .families = families};
  job.shortest = yw_mem_alloc(&m->mem, (size_t)blocks, sizeof *job.shortest);
  if (!job.shortest) return false;
  shorten_families(m, &roots[first], first, families);
  yw_tasks_run(tasks, blocks, shorten_block, &job);
  for (int k = 0; k < 2; ++k) {
    root_step[k] = families[k];
    for (int32_t n = 0; n < blocks; ++n) root_step[k] = fmin(root_step[k], job.shortest[n][k]);
  }
  yw_mem_free(&m->mem, job.shortest);
  return true;
}

// s, of the family of one parent where stiffness varies.
static double step_of_family(const fem_model* m, const root_steps* roots, int32_t parent) {
  const fem_hierarchy* h = &m->h;
  const root_steps* root = &roots[h->root[parent]];
  const float* c[FEM_FAMILY_CHILDREN];
  for (int32_t k = 0; k < yw_fem_children_of(h, parent); ++k) {
    c[k] = m->materials.stiffness + (size_t)(h->first_child[parent] + k) * FEM_MATRIX;
  }
  double density = (double)m->materials.uniform_density * root->factor;
  double step = yw_fem_family_step(h, h->root[parent], h->type[parent], c,
                                   m->tables.softening.part[parent], density);
  return step / (double)(1 << h->level[parent]);
}

// Two families of one root and type whose children are as stiff take the same steps.
static bool are_alike(const fem_model* m, int32_t parent, int32_t other) {
  const fem_hierarchy* h = &m->h;
  size_t size = (size_t)yw_fem_children_of(h, parent) * FEM_MATRIX;
  return other >= 0 && h->root[parent] == h->root[other] && h->type[parent] == h->type[other] &&
         memcmp(m->materials.stiffness + (size_t)h->first_child[parent] * FEM_MATRIX,
                m->materials.stiffness + (size_t)h->first_child[other] * FEM_MATRIX,
                size * sizeof(float)) == 0;
}

// The shortest of the families of one level, where stiffness varies: those whose children would
// take longer steps by themselves need not be looked at.
static double shortest_of_families(const fem_model* m, const root_steps* roots,
                                   const double* family_least, int32_t level) {
  const fem_hierarchy* h = &m->h;
  int32_t begin = h->level_start[level], end = h->level_start[level + 1], worst = begin, looks = 0;
  int32_t last[FEM_TYPES] = {-1, -1, -1, -1, -1};
  double least = INFINITY;
  for (int32_t t = begin; t < end; ++t) {
    double own = sqrt(roots[h->root[t]].factor) * family_least[t];
    if (own < least) least = own, worst = t;
  }
  double shortest = step_of_family(m, roots, worst);
  for (int32_t t = begin; t < end; ++t) {
    double own = sqrt(roots[h->root[t]].factor) * family_least[t];
    if (SURELY * own > shortest || are_alike(m, t, last[h->type[t]])) continue;
    last[h->type[t]] = t;
    shortest = fmin(shortest, looks++ < MOST_FAMILIES ? step_of_family(m, roots, t) : own);
  }
  return shortest;
}

// Every tet of the finest level of a front is in a whole family. Tets of coarser levels need not be
// softened, and count with their own steps.
static bool set_soft_steps(fem_model* m, yw_tasks* tasks, root_steps* roots,
                           const double* family_least) {
  const fem_hierarchy* h = &m->h;
  const fem_softening* soft = &m->tables.softening;
  memcpy(m->soft_step, m->level_step, sizeof m->soft_step);
  if (m->materials.density || soft->kind != YW_FEM_SOFTEN_MATERIAL) return true;
  double root_step[2] = {INFINITY, INFINITY};
  if (h->max_level > 0 && soft->uniform && !find_family_steps(m, tasks, roots, root_step)) {
    return false;
  }
  for (int32_t l = 1; l <= h->max_level; ++l) {
    double step = soft->uniform ? root_step[l > 1] / (double)(1 << (l - 1))
                                : shortest_of_families(m, roots, family_least, l - 1);
    step = fmin(step, (double)m->level_step[l - 1]);
    m->soft_step[l] = fmaxf(m->soft_step[l], (float)step);
  }
  return true;
}

// Size over the speed of shear waves, from the mean stiffness of the coarsest tets.
static float crossing_time(const fem_model* m, double mass) {
  const fem_hierarchy* h = &m->h;
  double volume = 0.0, stiffness = 0.0;
  for (int32_t r = 0; r < h->num_roots; ++r) {
    const float* c = m->materials.stiffness ? m->materials.stiffness + FEM_MATRIX * (size_t)r
                                            : m->materials.uniform_stiffness;
    double own = yw_fem_volume(h, r), shear = 0.0;
    for (int k = 3; k < 6; ++k) shear += (double)c[yw_fem_matrix_at(k, k)] / 3.0;
    volume += own;
    stiffness += own * shear;
  }
  return yw_cbrtf((float)volume) * sqrtf((float)(mass / stiffness));
}

static float steepest_gradient(const fem_hierarchy* h) {
  double largest = 0.0;
  for (int32_t root = 0; root < h->num_roots; ++root) {
    for (int type = 0; type < FEM_TYPES; ++type) {
      for (int k = 0; k < 4; ++k) {
        const double* g = h->shapes[root][type].gradient[k];
        largest = fmax(largest, g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
      }
    }
  }
  return (float)sqrt(largest);
}

bool yw_fem_find_masses(fem_model* m, double scaling, yw_tasks* tasks) {
  root_steps* roots = YW_NEW_ARRAY(&m->mem, root_steps, m->h.num_roots);
  size_t parents = m->materials.stiffness ? (size_t)m->h.num_parents : 0;
  double* family_least = YW_NEW_ARRAY(&m->mem, double, parents + 1);
  bool good = roots && family_least;
  for (int32_t r = 0; r < m->h.num_roots && good; ++r) {
    roots[r] = (root_steps){.factor = 1.0, .step = INFINITY};
    for (int32_t l = 0; l <= FEM_MAX_LEVEL; ++l) roots[r].of_level[l] = INFINITY;
  }
  if (good) {
    find_root_steps(m, tasks, roots, family_least);
    double total = find_root_masses(m, roots);
    good = !(scaling > 0.0) || move_mass(m, scaling, total, roots);
    set_masses(m, roots);
    set_level_steps(m, roots);
    good = good && set_soft_steps(m, tasks, roots, family_least);
    m->crossing_time = crossing_time(m, total);
    m->steepest = steepest_gradient(&m->h);
  }
  yw_mem_free(&m->mem, roots);
  yw_mem_free(&m->mem, family_least);
  return good;
}
