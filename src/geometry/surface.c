// SPDX-License-Identifier: MIT
// Triangle surface of a shape: the skin of its tets, made manifold, smoothed and projected onto the
// zero of the distance, with the shape's sharp edges restored.
#include "geometry/mesher.h"
#include "geometry/shape.h"
#include "geometry/surface_features.h"
#include "geometry/surface_split.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Mean edge length of the skin, as a fraction of the lattice spacing.
#define MEAN_EDGE 0.78f

#define EVEN_PASSES 4
#define PROJECT_STEPS 2
#define MAX_VERTICES 4000000
#define BATCH_POINTS 256

// Skin --------------------------------------------------------------------------------------------

// Triangles of the skin tets with all three vertices on the surface; the others are where the skin
// was separated from the inner tets.
static yw_status extract_skin(const yw_tet_mesh* skin, const unsigned char* on_surface,
                              yw_tri_mesh* out) {
  int32_t* map = NULL;
  yw_status status = yw_tet_mesh_surface(skin, &skin->mem, out, &map);
  if (status != YW_OK) return status;
  int32_t kept = 0;
  for (int32_t t = 0; t < out->num_triangles; ++t) {
    const int32_t* v = out->triangles + 3 * (size_t)t;
    if (!on_surface[map[v[0]]] || !on_surface[map[v[1]]] || !on_surface[map[v[2]]]) continue;
    for (int k = 0; k < 3; ++k) out->triangles[3 * (size_t)kept + (size_t)k] = v[k];
    ++kept;
  }
  out->num_triangles = kept;
  yw_mem_free(&skin->mem, map);
  return yw_surface_split(out);
}

// Positions ---------------------------------------------------------------------------------------

typedef struct relaxer {
  const yw_shape* shape;
  yw_tri_mesh* mesh;
  yw_vec3* before;       ///< positions at the start of a pass
  yw_vec3* sums;         ///< of the neighbours of a vertex
  int32_t* num_sums;     ///< number of summands
  yw_vec3* normals;      ///< of the shape
  unsigned char* stays;  ///< vertices to move back to where they were
  float reach;           ///< longest move of a vertex in one step
} relaxer;

// Newton steps along the normal; a step that leads away from the surface is not taken.
static void project(relaxer* r) {
  yw_vec3* x = r->mesh->positions;
  for (int32_t start = 0; start < r->mesh->num_vertices; start += BATCH_POINTS) {
    int32_t count =
        r->mesh->num_vertices - start < BATCH_POINTS ? r->mesh->num_vertices - start : BATCH_POINTS;
    yw_vec4 points[BATCH_POINTS], trial[BATCH_POINTS], normals[BATCH_POINTS];
    float distance[BATCH_POINTS], trial_distance[BATCH_POINTS];
    for (int32_t n = 0; n < count; ++n) points[n] = yw_v4(x[start + n]);
    for (int step = 0; step < PROJECT_STEPS; ++step) {
      yw_shape_distance_normal_many(r->shape, count, points, distance, normals);
      for (int32_t n = 0; n < count; ++n) {
        float length = yw_clampf(distance[n], -r->reach, r->reach);
        trial[n] = yw_v4(yw_mad(yw_xyz(points[n]), -length, yw_xyz(normals[n])));
      }
      yw_shape_distance_many(r->shape, count, trial, trial_distance);
      for (int32_t n = 0; n < count; ++n) {
        if (fabsf(trial_distance[n]) < fabsf(distance[n])) points[n] = trial[n];
      }
    }
    for (int32_t n = 0; n < count; ++n) {
      x[start + n] = yw_xyz(points[n]);
      r->normals[start + n] = yw_xyz(normals[n]);
    }
  }
}

static yw_vec3 triangle_normal(const int32_t* v, const yw_vec3* x) {
  return yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
}

// Moves every vertex halfway to the mean of its neighbours, along the surface only.
static void slide_to_neighbours(relaxer* r) {
  yw_tri_mesh* mesh = r->mesh;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) r->sums[i] = yw_v3(0, 0, 0), r->num_sums[i] = 0;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; ++k) {
      // Every edge occurs once in each direction, so every neighbour counts once.
      r->sums[v[k]] = yw_add(r->sums[v[k]], mesh->positions[v[(k + 1) % 3]]);
      ++r->num_sums[v[k]];
    }
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 x = mesh->positions[i], normal = r->normals[i];
    yw_vec3 step = yw_sub(yw_scale(r->sums[i], 1.0f / (float)r->num_sums[i]), x);
    step = yw_mad(step, -yw_dot(step, normal), normal);
    float length = yw_length(step), limit = r->reach;
    mesh->positions[i] = yw_mad(x, 0.5f * (length > limit ? limit / length : 1.0f), step);
  }
}

// Quality of a triangle; 1 if equilateral.
static float triangle_quality(const int32_t* v, const yw_vec3* x) {
  float edges2 = yw_length2(yw_sub(x[v[1]], x[v[0]])) + yw_length2(yw_sub(x[v[2]], x[v[1]])) +
                 yw_length2(yw_sub(x[v[0]], x[v[2]]));
  return edges2 > 0.0f ? 3.4641016f * yw_length(triangle_normal(v, x)) / edges2 : 0.0f;
}

// Restores the vertices of triangles that flipped or became worse than poor.
static void undo_damage(relaxer* r) {
  yw_tri_mesh* mesh = r->mesh;
  for (int pass = 0; pass < 3; ++pass) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) r->stays[i] = 0;
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* v = mesh->triangles + 3 * (size_t)t;
      float quality = triangle_quality(v, mesh->positions), old = triangle_quality(v, r->before);
      yw_vec3 normal = triangle_normal(v, mesh->positions);
      yw_vec3 old_normal = triangle_normal(v, r->before);
      float cosine = yw_dot(normal, old_normal);
      bool turned = cosine < 0.7f * yw_length(normal) * yw_length(old_normal);
      if (!turned && (quality >= 0.3f || quality >= old)) continue;
      for (int k = 0; k < 3; ++k) r->stays[v[k]] = 1;
    }
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      if (r->stays[i]) mesh->positions[i] = r->before[i];
    }
  }
}

static yw_status relax(const yw_shape* shape, yw_tri_mesh* mesh, float spacing) {
  const yw_allocator* mem = &mesh->mem;
  relaxer r = {.shape = shape, .mesh = mesh, .reach = 0.3f * spacing};
  r.before = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_vertices);
  r.sums = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_vertices);
  r.num_sums = YW_NEW_ARRAY(mem, int32_t, mesh->num_vertices);
  r.normals = YW_NEW_ARRAY(mem, yw_vec3, mesh->num_vertices);
  r.stays = YW_NEW_ARRAY(mem, unsigned char, mesh->num_vertices);
  bool ready = r.before && r.sums && r.num_sums && r.normals && r.stays;
  for (int pass = 0; ready && pass <= EVEN_PASSES; ++pass) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) r.before[i] = mesh->positions[i];
    if (pass > 0) slide_to_neighbours(&r);
    project(&r);
    undo_damage(&r);
  }
  yw_mem_free(mem, r.before);
  yw_mem_free(mem, r.sums);
  yw_mem_free(mem, r.num_sums);
  yw_mem_free(mem, r.normals);
  yw_mem_free(mem, r.stays);
  return ready ? YW_OK : YW_ERR_MEMORY;
}

yw_status yw_shape_surface(const yw_shape* shape, const yw_allocator* mem, float size,
                           yw_tri_mesh* out, yw_error* error) {
  yw_error_clear(error);
  if (out == NULL) return yw_fail(error, YW_ERR_INVALID, "there is no place for the triangles");
  *out = (yw_tri_mesh){0};
  yw_raw_tets skin;
  yw_mesher_def def = yw_default_mesher_def();
  double spacing;
  def.size = size / MEAN_EDGE;
  def.max_vertices = MAX_VERTICES;
  yw_status status =
      yw_mesher_run(shape, mem, &def, YW_STUFF_SKIN, "triangles", &skin, &spacing, error);
  if (status != YW_OK) return status;
  status = extract_skin(&skin.mesh, skin.on_surface, out);
  if (status == YW_OK) status = relax(shape, out, (float)spacing);
  if (status == YW_OK) status = yw_surface_sharpen(shape, out);
  yw_raw_tets_free(&skin);
  if (status == YW_OK) return YW_OK;
  yw_tri_mesh_free(out);
  return yw_fail_memory(error, "the surface of a shape");
}
