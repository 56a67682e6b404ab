// SPDX-License-Identifier: MIT
// Masses, centres and moments of the regions at rest, in double precision.
#include <math.h>

#include "methods/match/model.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Rings thinner than the square root of this share of their width are treated as that thick: below
// it, rounding of float positions would dominate their stretch across.
#define THINNEST_SHARE 1e-7

// Range of a vertex mass, kg: it and its inverse must be floats, with room for products.
#define MIN_MASS 1e-30
#define MAX_MASS 1e30

// Lumps the mass of every tet onto its corners; also computes centre and total mass.
static void lump_masses(match_model* model, match_build* build) {
  const yw_tet_mesh* mesh = build->def->mesh;
  double sums[3] = {0};
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    double e[3][3];
    const yw_vec3 a = mesh->positions[v[0]];
    for (int k = 0; k < 3; ++k) {
      const yw_vec3 p = mesh->positions[v[k + 1]];
      e[k][0] = (double)p.x - (double)a.x;
      e[k][1] = (double)p.y - (double)a.y;
      e[k][2] = (double)p.z - (double)a.z;
    }
    double volume = (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
                     e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                     e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
                    6.0;
    for (int k = 0; k < 4; ++k) build->mass[v[k]] += (double)build->def->density * volume / 4.0;
  }
  for (int32_t v = 0; v < model->num_particles; ++v) {
    model->total_mass += build->mass[v];
    sums[0] += build->mass[v] * (double)mesh->positions[v].x;
    sums[1] += build->mass[v] * (double)mesh->positions[v].y;
    sums[2] += build->mass[v] * (double)mesh->positions[v].z;
  }
  for (int k = 0; k < 3; ++k) model->rest_center[k] = sums[k] / model->total_mass;
}

// Rest position relative to the body's centre, as the kernels use it.
static yw_vec4 centered(const match_model* model, yw_vec3 p) {
  return (yw_vec4){(float)((double)p.x - model->rest_center[0]),
                   (float)((double)p.y - model->rest_center[1]),
                   (float)((double)p.z - model->rest_center[2]), 1.0f};
}

static void fill_particles(match_model* model, const match_build* build) {
  double mean = model->total_mass / (double)model->num_particles;
  model->mean_mass = (float)mean;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    int32_t v = build->vertex_of_particle[p];
    double count = (double)(build->rings.start[v + 1] - build->rings.start[v] + 1);
    match_particle_block* block = &model->particles[p / YW_LANES];
    int32_t lane = match_lane(p % YW_LANES);
    model->solid.rest_positions[p] = build->def->mesh->positions[v];
    model->rest[p] = centered(model, model->solid.rest_positions[p]);
    model->solid.mass[p] = (float)build->mass[v];
    model->row_mass[p] = (float)(build->mass[v] / mean / count);
    block->rest[0][lane] = model->rest[p].x;
    block->rest[1][lane] = model->rest[p].y;
    block->rest[2][lane] = model->rest[p].z;
    block->mass[lane] = (float)(build->mass[v] / mean);
    block->inv_count[lane] = (float)(1.0 / count);
  }
}

// Eigenvalues and eigenvectors (columns of v) of the symmetric matrix a, by Jacobi rotations.
static void eigen_symmetric(double a[3][3], double v[3][3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) v[i][j] = i == j;
  }
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (a[p][q] == 0.0) continue;
        double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) {
          double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (int k = 0; k < 3; ++k) {
          double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
        }
        for (int k = 0; k < 3; ++k) {
          double kp = v[k][p], kq = v[k][q];
          v[k][p] = c * kp - s * kq;
          v[k][q] = s * kp + c * kq;
        }
      }
    }
  }
}

// Inverse of a symmetric positive matrix; directions with almost no extent are regularised.
static void invert_moment(const double moment[6], double inverse[6]) {
  double a[3][3] = {{moment[0], moment[3], moment[4]},
                    {moment[3], moment[1], moment[5]},
                    {moment[4], moment[5], moment[2]}};
  double v[3][3];
  eigen_symmetric(a, v);
  double largest = fmax(a[0][0], fmax(a[1][1], a[2][2]));
  double sum[3][3] = {{0}};
  for (int k = 0; k < 3; ++k) {
    double value = fmax(a[k][k], THINNEST_SHARE * largest);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) sum[i][j] += v[i][k] * v[j][k] / value;
    }
  }
  const double out[6] = {sum[0][0], sum[1][1], sum[2][2], sum[0][1], sum[0][2], sum[1][2]};
  for (int k = 0; k < 6; ++k) inverse[k] = out[k];
}

// Loops over the closed ring of a vertex: the vertex itself first.
#define FOR_RING(build, vertex, other)                                                       \
  for (int32_t n_ = (build)->rings.start[vertex] - 1, other;                                 \
       n_ < (build)->rings.start[(vertex) + 1] &&                                            \
       (other = n_ < (build)->rings.start[vertex] ? (vertex) : (build)->rings.items[n_], 1); \
       ++n_)

static match_rest_region region_at_rest(const match_model* model, const match_build* build,
                                        int32_t vertex) {
  match_rest_region region = {0};
  FOR_RING(build, vertex, other) {
    int32_t p = model->solid.particle_of_vertex[other];
    double m = (double)model->row_mass[p];
    const double x[3] = {(double)model->rest[p].x, (double)model->rest[p].y,
                         (double)model->rest[p].z};
    region.mass += m;
    for (int k = 0; k < 3; ++k) region.center[k] += m * x[k];
  }
  for (int k = 0; k < 3; ++k) region.center[k] /= region.mass;
  FOR_RING(build, vertex, other) {
    int32_t p = model->solid.particle_of_vertex[other];
    double m = (double)model->row_mass[p];
    double qx = (double)model->rest[p].x - region.center[0];
    double qy = (double)model->rest[p].y - region.center[1];
    double qz = (double)model->rest[p].z - region.center[2];
    const double products[6] = {qx * qx, qy * qy, qz * qz, qx * qy, qx * qz, qy * qz};
    for (int k = 0; k < 6; ++k) region.moment[k] += m * products[k];
  }
  invert_moment(region.moment, region.inv_moment);
  return region;
}

// The size of the body, and that of its regions.
static void measure(match_model* model, const match_build* build) {
  double inertia = 0.0, spread = 0.0;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    const double x[3] = {(double)model->rest[p].x, (double)model->rest[p].y,
                         (double)model->rest[p].z};
    const double* q = build->regions[p].moment;
    inertia += (double)model->solid.mass[p] * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    spread += q[0] + q[1] + q[2];
  }
  model->size = sqrt(12.0 * inertia / model->total_mass);
  model->spread = spread / model->num_particles;  // masses are in units of their mean
}

// The origin of a chunk is the middle of its box, which keeps the summed values small.
static void place_origin(const match_model* model, match_chunk* chunk) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t p = chunk->begin; p < chunk->begin + chunk->count; ++p) {
    box = yw_aabb_grow(box, yw_xyz(model->rest[p]));
  }
  chunk->origin = yw_v4(yw_scale(yw_add(box.lower, box.upper), 0.5f));
}

static void fill_region(match_region_block* block, match_moment_block* moments, int32_t lane,
                        const match_rest_region* region, const yw_vec4* origin) {
  double scale = match_moment_scale(region);
  for (int k = 0; k < 6; ++k) {
    moments->moment[k][lane] = (float)(scale * region->moment[k]);
  }
  moments->scale[lane] = (float)scale;
  block->center[0][lane] = (float)(region->center[0] - (double)origin->x);
  block->center[1][lane] = (float)(region->center[1] - (double)origin->y);
  block->center[2][lane] = (float)(region->center[2] - (double)origin->z);
  block->inv_mass[lane] = (float)(1.0 / region->mass);
}

yw_status yw_match_build_moments(match_model* model, match_build* build, yw_error* error) {
  int32_t n = model->num_particles;
  size_t padded = (size_t)model->num_blocks * YW_LANES;
  build->mass = YW_NEW_ARRAY(&model->mem, double, n);
  build->regions = YW_NEW_ARRAY(&model->mem, match_rest_region, n);
  model->regions = YW_NEW_ARRAY(&model->mem, match_region_block, model->num_blocks);
  model->moments = YW_NEW_ARRAY(&model->mem, match_moment_block, model->num_blocks);
  model->particles = YW_NEW_ARRAY(&model->mem, match_particle_block, model->num_blocks);
  model->rest = YW_NEW_ARRAY(&model->mem, yw_vec4, padded);
  model->row_mass = YW_NEW_ARRAY(&model->mem, float, padded);
  model->solid.mass = YW_NEW_ARRAY(&model->mem, float, padded);
  model->solid.rest_positions = YW_NEW_ARRAY(&model->mem, yw_vec3, n);
  if (!build->mass || !build->regions || !model->regions || !model->moments || !model->particles ||
      !model->rest || !model->row_mass || !model->solid.mass || !model->solid.rest_positions) {
    return yw_fail_memory(error, "the moments of a match model");
  }
  lump_masses(model, build);
  for (int32_t v = 0; v < model->num_particles; ++v) {
    double mass = build->mass[v];
    if (mass >= MIN_MASS && mass <= MAX_MASS) continue;
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "vertex %d has a mass of %g kg, but it must be between %g and %g: check the "
                   "density and the size of the mesh",
                   v, mass, MIN_MASS, MAX_MASS);
  }
  fill_particles(model, build);
  for (int32_t c = 0; c < model->num_chunks; ++c) {
    match_chunk* chunk = &model->chunks[c];
    place_origin(model, chunk);
    for (int32_t i = 0; i < chunk->num_blocks * YW_LANES; ++i) {
      int32_t p = chunk->begin + i;
      match_region_block* block = &model->regions[p / YW_LANES];
      match_moment_block* moments = &model->moments[p / YW_LANES];
      int32_t lane = match_lane(p % YW_LANES);
      if (p < n) {
        build->regions[p] = region_at_rest(model, build, build->vertex_of_particle[p]);
        fill_region(block, moments, lane, &build->regions[p], &chunk->origin);
      } else {
        // Lanes beyond the last particle keep the body's own rotation.
        for (int k = 0; k < 3; ++k) moments->moment[k][lane] = 1.0f;
      }
    }
  }
  measure(model, build);
  return YW_OK;
}
