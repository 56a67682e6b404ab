// SPDX-License-Identifier: MIT
// How hard each region pulls.
//
// Regions of small tets store less energy: left alone, a body is soft where its mesh is fine, as in
// thin legs. Their pull grows by (spread / own spread), so that Young's modulus is the same
// everywhere. All goals of a region pull alike, so momentum is conserved as before. Meshes whose
// regions are about equal are left as they are: regions at the surface are always a little smaller.
//
// Bodies that are given a Young's modulus bend as its material where they are thin. Without that, a
// part that is one or two tets thick bends several times too stiffly, for two reasons. Its regions
// reach farther along it than across, and stretch along it is resisted by k times the largest
// eigenvalue of Q_r instead of the mean of all three. And a region has one linear map, so that it
// resists curvature as a whole: the more, the less it is spread compared with the thickness T. So
// regions pull less by these factors, the second being 1 + EASE tr Q_r / T^2.
#include <math.h>

#include "methods/match/model.h"
#include "methods/match/thickness.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// A mesh whose regions pull less than this many times as hard as the mean is even.
#define EVEN_GRIP 4.0
// Harder pulls would take too many steps: cells of an eighth of the usual size.
#define MOST_GRIP 64.0
// Tuned on boxes, plus, tee, frame and table (scripts/measure_droop.py), one to three tets thick.
#define EASE 1.2
// tr Q_r / T^2 of a part about three cells thick: less is no thin part, whose surface has flat
// regions, too.
#define COARSE 0.1

// tr Q_r over the mass of the region.
static double spread_of(const match_rest_region* region) {
  const double* q = region->moment;
  return (q[0] + q[1] + q[2]) / region->mass;
}

static double even_grip(const match_model* model, const match_rest_region* region) {
  double grip = model->spread / spread_of(region);
  return fmin(fmax(grip, 1.0 / MOST_GRIP), MOST_GRIP);
}

// The largest eigenvalue of Q_r over the mass: of powers of Q_r, it is what remains.
static double reach_of(const match_rest_region* region) {
  const double* q = region->moment;
  double trace = q[0] + q[1] + q[2], largest = 0.0;
  double a[3][3] = {{q[0], q[3], q[4]}, {q[3], q[1], q[5]}, {q[4], q[5], q[2]}}, b[3][3], c[3][3];
  for (int i = 0; i < 9; ++i) b[i / 3][i % 3] = a[i / 3][i % 3] / trace;
  for (int n = 0; n < 6; ++n) {
    double sum = 0.0;
    for (int i = 0; i < 9; ++i) {
      const double* row = b[i / 3];
      c[i / 3][i % 3] = row[0] * b[0][i % 3] + row[1] * b[1][i % 3] + row[2] * b[2][i % 3];
    }
    for (int i = 0; i < 3; ++i) sum += c[i][i];
    for (int i = 0; i < 9; ++i) b[i / 3][i % 3] = c[i / 3][i % 3] / sum;
  }
  for (int i = 0; i < 9; ++i) largest += a[i / 3][i % 3] * b[i % 3][i / 3];
  return largest / region->mass;
}

// Grips by particle; true if they differ.
static bool choose(const match_model* model, const match_build* build, const float* thickness,
                   double* grip) {
  double most = 0.0;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    grip[p] = even_grip(model, &build->regions[p]);
    most = fmax(most, grip[p]);
  }
  bool even = most <= EVEN_GRIP;
  for (int32_t p = 0; p < model->num_particles; ++p) {
    if (even) grip[p] = 1.0;
    if (!thickness) continue;
    double t = (double)thickness[build->vertex_of_particle[p]];
    double along = 3.0 * grip[p] * reach_of(&build->regions[p]) / model->spread;
    double coarse = spread_of(&build->regions[p]) / (t * t);
    along = 1.0 + fmax(along - 1.0, 0.0) * fmin(coarse / COARSE, 1.0);
    grip[p] /= along * (1.0 + EASE * coarse);
  }
  return !even || thickness;
}

static void store(match_model* model, const match_build* build, const double* grip) {
  for (int32_t p = 0; p < model->num_particles; ++p) {
    int32_t block = p / YW_LANES, lane = match_lane(p % YW_LANES);
    int32_t v = build->vertex_of_particle[p], first = build->rings.start[v];
    double sum = grip[p];
    for (int32_t n = first; n < build->rings.start[v + 1]; ++n) {
      sum += grip[model->solid.particle_of_vertex[build->rings.items[n]]];
    }
    double mean = sum / (1 + build->rings.start[v + 1] - first);
    model->regions[block].grip[lane] = (float)grip[p];
    model->particles[block].grip[lane] = (float)mean;
    model->firmest = fmax(model->firmest, mean);
  }
}

yw_status yw_match_build_grips(match_model* model, const match_build* build, yw_error* error) {
  const yw_allocator* mem = &model->mem;
  bool thin = build->youngs_modulus > 0.0;
  double* grip = YW_NEW_ARRAY(mem, double, model->num_particles);
  float* thickness = thin ? YW_NEW_ARRAY(mem, float, model->num_particles) : NULL;
  yw_status status = grip && (thickness || !thin) ? YW_OK : YW_ERR_MEMORY;
  if (thin && status >= 0) status = yw_match_thickness(mem, build->def->mesh, thickness);
  if (status >= 0) {
    model->firmest = 1.0;
    model->uneven = choose(model, build, thickness, grip);
    if (model->uneven) store(model, build, grip);
  }
  yw_mem_free(mem, thickness);
  yw_mem_free(mem, grip);
  return status < 0 ? yw_fail_memory(error, "the grips of a match model") : YW_OK;
}
