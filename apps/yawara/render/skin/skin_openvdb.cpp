// SPDX-License-Identifier: MIT
// A library of its own, which skin.c opens.
//
// Balls of twice their radius overlap even where matter is one layer thick. Their union becomes a
// signed distance field, which is smoothed while thin parts are still thick; then the surface is
// moved back inwards by what was added. Smoothing may remove at most a fraction of the radius, so
// that single balls and edges survive.
#include "render/skin/skin.h"
#include "render/skin/skin_fair.h"
#include "yawara/shape.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/Filter.h>
#include <openvdb/tools/LevelSetRebuild.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tools/ParticlesToLevelSet.h>
#include <openvdb/tools/ValueTransformer.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <unordered_map>
#include <vector>

namespace {

// Balls are enlarged by this factor before the surface is moved back inwards.
constexpr float GROWTH = 2.0f;
// Smoothing moves the surface inwards by at most this fraction of the mean radius.
constexpr float MOST_SMOOTHED = 0.2f;
// Extra voxels of the narrow band beyond the distance that the surface moves inwards.
constexpr float BAND = 3.0f;
// How far a ball that has parted acts on the surface around it, in mean radii.
constexpr float PARTED_REACH = 5.0f;
// A surface with this share of the skin, or more, is faired like one that is all skin: its inverse.
constexpr float FAIR_SOONER = 5.0f;
// A surface that leaves more than this share of the balls that it should hold outside is not
// closed.
constexpr double MOST_OUTSIDE = 0.1;

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

// How much of the skin there is at a point: the mean of what the balls around it say, twice as
// strong, so that one side of a tear is all skin.
class Parting {
 public:
  Parting(const skin_def& def, float reach) : def_(def), reach_(reach) {
    for (int32_t i = 0; i < def.count; ++i) cells_[key_of(def.positions[i], 0, 0, 0)].push_back(i);
  }
  float at(const yw_vec3& p) const {
    float sum = 0.0f, all = 0.0f;
    for (int k = 0; k < 27; ++k) {
      auto cell = cells_.find(key_of(p, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
      if (cell == cells_.end()) continue;
      for (int32_t i : cell->second) add(i, p, &sum, &all);
    }
    float t = all > 0.0f ? std::fmin(2.0f * sum / all, 1.0f) : 1.0f;
    return t * t * (3.0f - 2.0f * t);
  }

 private:
  void add(int32_t i, const yw_vec3& p, float* sum, float* all) const {
    float x = def_.positions[i].x - p.x, y = def_.positions[i].y - p.y,
          z = def_.positions[i].z - p.z;
    float t = 1.0f - (x * x + y * y + z * z) / (reach_ * reach_);
    if (!(t > 0.0f)) return;
    *all += t * t;
    *sum += t * t * def_.parted[i];
  }
  uint64_t key_of(const yw_vec3& p, int x, int y, int z) const {
    auto index = [this](float v, int step) {
      return static_cast<uint64_t>(static_cast<int64_t>(std::floor(v / reach_)) + step) & 0x1fffff;
    };
    return index(p.x, x) << 42 | index(p.y, y) << 21 | index(p.z, z);
  }

  const skin_def& def_;
  float reach_;
  std::unordered_map<uint64_t, std::vector<int32_t>> cells_;
};

// Fills what is narrower than two voxels: where parts of a body that merge touch, their surfaces
// leave slits that voxels show as a row of beads.
openvdb::FloatGrid::Ptr close_gaps(const openvdb::FloatGrid& grid, float band) {
  float wider = static_cast<float>(grid.voxelSize()[0]);
  auto closed = openvdb::tools::levelSetRebuild(grid, wider, band + 1.0f);
  auto given = grid.getConstAccessor();
  for (auto at = closed->beginValueOn(); at; ++at) {
    // Matter is only added: rebuilding takes a little of what is convex.
    at.setValue(std::fmin(*at + wider, given.getValue(at.getCoord())));
  }
  return closed;
}

// Whether the surface leaves balls outside that it should hold.
template <class Distance>
bool is_open(const skin_def& def, Distance distance) {
  int64_t held = 0, outside = 0;
  for (int32_t i = 0; i < def.count; ++i) {
    if (def.parted[i] > 0.0f) continue;
    ++held;
    outside += distance(def.positions[i]) > 0.0f;
  }
  return static_cast<double>(outside) > MOST_OUTSIDE * static_cast<double>(held);
}

// Distances of the solid that an open surface encloses, as bodies are made of it (yw_shape_mesh),
// at the voxels of a grid. False if it has no inside, or when out of memory.
bool fill_with_solid(const skin_def& def, openvdb::FloatGrid& grid) {
  yw_shape* solid = nullptr;
  if (yw_shape_mesh(nullptr, def.surface, &solid, nullptr) < 0) return false;
  bool open = is_open(def, [solid](const yw_vec3& p) { return yw_shape_distance(solid, p); });
  const auto& transform = grid.transform();
  auto set = [solid, &transform](const openvdb::FloatGrid::ValueOnIter& at) {
    openvdb::Vec3d p = transform.indexToWorld(at.getCoord());
    at.setValue(yw_shape_distance(
        solid,
        yw_vec3{static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())}));
  };
  if (!open) openvdb::tools::foreach (grid.beginValueOn(), set, true, true);
  yw_shape_release(solid);
  return !open;
}

// Signed distances of the surface, also at the voxels of the skin if it is not closed; or null if
// it has no inside.
openvdb::FloatGrid::Ptr surface_distances(const skin_def& def, float voxel, float band,
                                          const openvdb::FloatGrid& skin) {
  const yw_tri_mesh& mesh = *def.surface;
  auto transform = openvdb::math::Transform::createLinearTransform(voxel);
  std::vector<openvdb::Vec3s> points(static_cast<size_t>(mesh.num_vertices));
  std::vector<openvdb::Vec3I> triangles(static_cast<size_t>(mesh.num_triangles));
  for (size_t i = 0; i < points.size(); ++i) {
    points[i] = {mesh.positions[i].x, mesh.positions[i].y, mesh.positions[i].z};
  }
  for (size_t t = 0; t < triangles.size(); ++t) {
    const int32_t* v = mesh.triangles + 3 * t;
    triangles[t] = {static_cast<uint32_t>(v[0]), static_cast<uint32_t>(v[1]),
                    static_cast<uint32_t>(v[2])};
  }
  auto grid = openvdb::tools::meshToSignedDistanceField<openvdb::FloatGrid>(
      *transform, points, triangles, std::vector<openvdb::Vec4I>(), band, band);
  auto values = grid->getConstAccessor();
  auto distance = [&values, &transform](const yw_vec3& p) {
    return values.getValue(transform->worldToIndexCellCentered(openvdb::Vec3d(p.x, p.y, p.z)));
  };
  if (!is_open(def, distance)) return close_gaps(*grid, band);
  grid->topologyUnion(skin);
  return fill_with_solid(def, *grid) ? grid : nullptr;
}

// Distances of the surface where it holds, of the skin (its surface is at -inside) where not.
void blend(const Parting& parting, const openvdb::FloatGrid& surface, float inside,
           openvdb::FloatGrid& grid) {
  grid.topologyUnion(surface);
  auto given = surface.getConstAccessor();
  const auto& transform = grid.transform();
  for (auto at = grid.beginValueOn(); at; ++at) {
    openvdb::Vec3d p = transform.indexToWorld(at.getCoord());
    float share = parting.at(
        yw_vec3{static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z())});
    float skin = *at + inside, held = given.getValue(at.getCoord());
    at.setValue(held + share * (skin - held));
  }
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

extern "C" PLUGIN_EXPORT yw_status SKIN_MAKE(const skin_def* def, yw_tri_mesh* out,
                                             yw_error* error);

extern "C" PLUGIN_EXPORT yw_status SKIN_MAKE(const skin_def* def, yw_tri_mesh* out,
                                             yw_error* error) {
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
    auto surface = def->surface && def->parted
                       ? surface_distances(*def, voxel, inside / voxel + BAND, *grid)
                       : nullptr;
    std::vector<float> strength;
    if (surface) {
      Parting parting(*def, PARTED_REACH * mean);
      blend(parting, *surface, inside, *grid);
      status = to_mesh(*grid, 0.0f, out, error);
      for (int32_t i = 0; status >= 0 && i < out->num_vertices; ++i) {
        // What has some of the skin in it is as rough as that.
        strength.push_back(std::fmin(FAIR_SOONER * parting.at(out->positions[i]), 1.0f));
      }
    } else {
      status = to_mesh(*grid, -inside, out, error);
    }
    if (status < 0 || !def->fair) return status;
    if (skin_fair(out, mean, surface ? strength.data() : nullptr) >= 0) return status;
    yw_tri_mesh_free(out);
    return fail(error, YW_ERR_MEMORY, "not enough memory for a skin");
  } catch (const std::exception& problem) {
    yw_tri_mesh_free(out);
    return fail(error, YW_ERR_MEMORY, problem.what());
  }
}
