// SPDX-License-Identifier: MIT
// Balls of twice their radius overlap even where matter is one layer thick. Their union becomes a
// signed distance field, which is smoothed while thin parts are still thick; then the surface is
// moved back inwards by what was added. Smoothing may remove at most a fraction of the radius, so
// that single balls and edges survive.
#include "render/skin/skin.h"
#include "render/skin/skin_fair.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/Filter.h>
#include <openvdb/tools/LevelSetRebuild.h>
#include <openvdb/tools/ParticlesToLevelSet.h>
#include <openvdb/tools/ValueTransformer.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

// Balls are enlarged by this factor before the surface is moved back inwards.
constexpr float GROWTH = 2.0f;
// Smoothing moves the surface inwards by at most this fraction of the mean radius.
constexpr float MOST_SMOOTHED = 0.2f;
// Extra voxels of the narrow band beyond the distance that the surface moves inwards.
constexpr float BAND = 3.0f;

yw_status fail(yw_error* error, yw_status status, const char* message) {
  if (error) {
    error->status = status;
    std::snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

// Particles in the form that ParticlesToLevelSet requires.
class Balls {
 public:
  using PosType = openvdb::Vec3R;
  Balls(const skin_def& def, float least) : def_(def), least_(least) {}
  size_t size() const { return static_cast<size_t>(def_.count); }
  void getPos(size_t n, PosType& p) const {
    const yw_vec3& at = def_.positions[n];
    p = PosType(at.x, at.y, at.z);
  }
  void getPosRad(size_t n, PosType& p, openvdb::Real& radius) const {
    getPos(n, p);
    radius = GROWTH * std::fmax(def_.radii[n], least_);
  }

 private:
  const skin_def& def_;
  float least_;  // minimum radius
};

yw_status check(const skin_def& def, float* mean, yw_error* error) {
  if (def.count < 0 || (def.count > 0 && (!def.positions || !def.radii)) ||
      !(def.voxel >= 0.2f && def.voxel <= 1.0f) || def.smoothing < 0 || def.smoothing > 8) {
    return fail(error, YW_ERR_INVALID, "skin: balls are missing, or voxel or smoothing is wrong");
  }
  double sum = 0.0, reach = 0.0;
  for (int32_t i = 0; i < def.count; ++i) {
    const yw_vec3& p = def.positions[i];
    if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z) ||
        !(def.radii[i] > 0.0f) || !std::isfinite(def.radii[i])) {
      return fail(error, YW_ERR_GEOMETRY,
                  "skin: a ball is not finite, or its radius is not above 0");
    }
    sum += def.radii[i];
    reach = std::fmax(reach, std::fmax(std::fabs(p.x), std::fmax(std::fabs(p.y), std::fabs(p.z))));
  }
  *mean = def.count > 0 ? static_cast<float>(sum / def.count) : 0.0f;
  if (def.count > 0 && reach / (*mean * def.voxel) > 1e8) {
    return fail(error, YW_ERR_LIMIT, "skin: the balls are too small for how far away they are");
  }
  return YW_OK;
}

// `inside` is how far the surface will be moved inwards, `most` how far smoothing may move it:
// balls that would vanish are enlarged.
openvdb::FloatGrid::Ptr distances(const skin_def& def, float voxel, float inside, float most) {
  auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(voxel);
  Balls balls(def, (inside + most + voxel) / GROWTH);
  openvdb::tools::particlesToSdf(balls, *grid);
  // Between balls inside the matter, the union only knows the distance to the nearest ball:
  // recompute distances from the surface alone.
  return openvdb::tools::levelSetRebuild(*grid, 0.0f, inside / voxel + BAND);
}

// Smooths the distance, but raises it nowhere by more than `most`.
void smooth(openvdb::FloatGrid& grid, int32_t passes, float most) {
  auto before = grid.deepCopy();
  // Filters only the values: renormalising distances after every pass would take most of the time.
  openvdb::tools::Filter<openvdb::FloatGrid> filter(grid);
  filter.gaussian(1, passes);
  struct Limit {
    openvdb::FloatGrid::ConstAccessor before;
    float most;
    void operator()(const openvdb::FloatGrid::ValueOnIter& at) const {
      at.setValue(std::fmin(*at, before.getValue(at.getCoord()) + most));
    }
  };
  // Single-threaded: with several threads, results changed from run to run. It takes little time.
  openvdb::tools::foreach (grid.beginValueOn(), Limit{before->getConstAccessor(), most}, false,
                           false);
}

yw_status to_mesh(const openvdb::FloatGrid& grid, float iso, yw_tri_mesh* out, yw_error* error) {
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec3I> triangles;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(grid, points, triangles, quads, iso, 0.0);
  size_t faces = triangles.size() + 2 * quads.size();
  if (points.size() > INT32_MAX || faces > INT32_MAX / 3) {
    return fail(error, YW_ERR_LIMIT, "skin: more triangles than can be numbered");
  }
  if (yw_tri_mesh_create(nullptr, static_cast<int32_t>(points.size()), static_cast<int32_t>(faces),
                         out) < 0) {
    return fail(error, YW_ERR_MEMORY, "not enough memory for a skin");
  }
  for (size_t i = 0; i < points.size(); ++i) {
    out->positions[i] = yw_vec3{points[i].x(), points[i].y(), points[i].z()};
  }
  // OpenVDB's triangles face inwards.
  int32_t* to = out->triangles;
  auto put = [&to](uint32_t a, uint32_t b, uint32_t c) {
    *to++ = static_cast<int32_t>(c);
    *to++ = static_cast<int32_t>(b);
    *to++ = static_cast<int32_t>(a);
  };
  for (const auto& t : triangles) put(t[0], t[1], t[2]);
  for (const auto& q : quads) {
    put(q[0], q[1], q[2]);
    put(q[0], q[2], q[3]);
  }
  return YW_OK;
}

}  // namespace

extern "C" skin_def skin_default_def(void) {
  skin_def def = {};
  def.voxel = 0.5f;
  def.smoothing = 1;
  def.fair = true;
  return def;
}

extern "C" yw_status skin_available(yw_error* error) {
  if (error) *error = yw_error{};
  return YW_OK;
}

extern "C" yw_status skin_make(const skin_def* def, yw_tri_mesh* out, yw_error* error) {
  *out = yw_tri_mesh{};
  float mean = 0.0f;
  yw_status status = check(*def, &mean, error);
  if (status < 0 || def->count == 0) return status;
  try {
    openvdb::initialize();
    float voxel = def->voxel * mean;
    // For a flat side with neighbours at two radii: the mean height of the union of enlarged balls,
    // minus the one radius that it should have.
    float inside = mean * (std::sqrt(GROWTH * GROWTH - 2.0f / 3.0f) - 1.0f);
    float most = MOST_SMOOTHED * mean;
    auto grid = distances(*def, voxel, inside, most);
    if (def->smoothing > 0) smooth(*grid, def->smoothing, most);
    status = to_mesh(*grid, -inside, out, error);
    if (status < 0 || !def->fair || skin_fair(out, mean) >= 0) return status;
    yw_tri_mesh_free(out);
    return fail(error, YW_ERR_MEMORY, "not enough memory for a skin");
  } catch (const std::exception& problem) {
    yw_tri_mesh_free(out);
    return fail(error, YW_ERR_MEMORY, problem.what());
  }
}
