// SPDX-License-Identifier: MIT
#include "world/mesh_obstacle.h"

#include <math.h>
#include <string.h>

#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"
#include "yawara/mesh_obstacle.h"

// Default thickness, as a share of the mean edge in the first frame.
#define THICKNESS_SHARE 0.05
// m, of coordinates.
#define MAX_POINT 1e6f

// True when some point moves between two moments, or might have.
static bool any_moves(const yw_animated_mesh* m, const yw_mesh_moment* a, const yw_mesh_moment* b) {
  if (a->frame == b->frame && a->share == b->share) return false;
  // A loop may have started again.
  bool ahead = a->frame <= b->frame, moves = false;
  int32_t first = ahead ? a->frame : 0, last = ahead ? b->frame : m->animation.num_frames - 1;
  for (int32_t i = first; i <= last; ++i) moves = moves || m->changes[i];
  return moves;
}

void yw_animated_mesh_fit(yw_animated_mesh* m, double begin, double end) {
  yw_moving_mesh* mesh = &m->mesh;
  mesh->begin = yw_mesh_moment_at(&m->animation, begin);
  mesh->end = yw_mesh_moment_at(&m->animation, end);
  mesh->moves = any_moves(m, &mesh->begin, &mesh->end);
  mesh->box = yw_aabb_join(m->boxes[mesh->begin.frame], m->boxes[mesh->end.frame]);
  yw_moving_mesh_fit(mesh);
}

void yw_animated_mesh_release(const yw_allocator* mem, yw_animated_mesh* mesh) {
  if (!mesh || mesh->more_uses-- > 0) return;
  yw_moving_mesh_free(mem, &mesh->mesh);
  yw_mem_free(mem, mesh->frames);
  yw_mem_free(mem, mesh->boxes);
  yw_mem_free(mem, mesh->changes);
  yw_mem_free(mem, mesh);
}

// Creating ----------------------------------------------------------------------------------------

yw_mesh_obstacle_def yw_default_mesh_obstacle_def(void) {
  return (yw_mesh_obstacle_def){.obstacle = yw_default_obstacle_def(), .animation = {.fps = 24.0}};
}

static yw_status check_points(const char* name, const yw_mesh_animation* a, yw_error* error) {
  if (!a->points || a->num_points < 1 || a->num_frames < 1) {
    return yw_fail(error, YW_ERR_INVALID, "%s: has no points", name);
  }
  if (!(a->fps > 0.0) || !isfinite(a->fps) || !isfinite(a->start)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: fps is %g and start %g s, but fps must be above 0",
                   name, a->fps, a->start);
  }
  size_t count = (size_t)a->num_frames * (size_t)a->num_points;
  for (size_t i = 0; i < count; ++i) {
    yw_vec3 p = a->points[i];
    if (fabsf(p.x) <= MAX_POINT && fabsf(p.y) <= MAX_POINT && fabsf(p.z) <= MAX_POINT) {
      continue;
    }
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: point %zu of frame %zu is at (%g, %g, %g), but coordinates must be between "
                   "-1e6 and 1e6 m",
                   name, i % (size_t)a->num_points, i / (size_t)a->num_points, (double)p.x,
                   (double)p.y, (double)p.z);
  }
  return YW_OK;
}

static yw_status check_mesh(const char* name, const yw_mesh_obstacle_def* def, yw_error* error) {
  if (def->obstacle.shape) {
    return yw_fail(error, YW_ERR_INVALID, "%s: has a shape and a mesh: one is enough", name);
  }
  if (!def->triangles || def->num_triangles < 1) {
    return yw_fail(error, YW_ERR_INVALID, "%s: has no triangles", name);
  }
  if (!(def->thickness >= 0.0f) || !isfinite(def->thickness)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: thickness is %g m, but must be 0 or more", name,
                   (double)def->thickness);
  }
  for (size_t i = 0; i < 3 * (size_t)def->num_triangles; ++i) {
    int32_t v = def->triangles[i];
    if (v >= 0 && v < def->animation.num_points) continue;
    return yw_fail(error, YW_ERR_INVALID, "%s: triangle %zu has point %d, but there are %d", name,
                   i / 3, (int)v, (int)def->animation.num_points);
  }
  return check_points(name, &def->animation, error);
}

static double mean_edge(const yw_mesh_obstacle_def* def) {
  double sum = 0.0;
  for (int32_t i = 0; i < def->num_triangles; ++i) {
    const int32_t* t = def->triangles + 3 * (size_t)i;
    const yw_vec3* p = def->animation.points;
    for (int k = 0; k < 3; ++k) sum += (double)yw_distance(p[t[k]], p[t[(k + 1) % 3]]);
  }
  return sum / (3.0 * def->num_triangles);
}

static uint64_t hash_of(const yw_mesh_obstacle_def* def, float radius) {
  const yw_mesh_animation* a = &def->animation;
  const double times[2] = {a->fps, a->start};
  uint64_t hash = yw_hash_u64(
      YW_HASH_SEED, (uint64_t)a->num_frames << 2 | (uint64_t)a->loop << 1 | (uint64_t)a->smooth);
  hash = yw_hash_bytes(hash, times, sizeof times);
  hash = yw_hash_bytes(hash, &radius, sizeof radius);
  hash = yw_hash_bytes(hash, def->triangles, 3 * (size_t)def->num_triangles * sizeof(int32_t));
  return yw_hash_bytes(hash, a->points,
                       (size_t)a->num_frames * (size_t)a->num_points * sizeof *a->points);
}

// What happens between each frame and the next; after the last, nothing.
static void note_frames(yw_animated_mesh* m) {
  const yw_mesh_animation* a = &m->animation;
  for (int32_t frame = 0; frame < a->num_frames; ++frame) {
    yw_mesh_moment moment = yw_mesh_moment_of_frame(a, frame);
    yw_aabb all = yw_aabb_empty();
    for (int32_t i = 0; i < a->num_points; ++i) {
      yw_aabb box = yw_mesh_moment_reach(&moment, i);
      m->changes[frame] = m->changes[frame] || yw_distance(box.lower, box.upper) > 0.0f;
      all = yw_aabb_join(all, box);
    }
    m->boxes[frame] = yw_aabb_pad(all, yw_moving_mesh_rounding(all));
  }
}

// NULL: out of memory.
static yw_animated_mesh* make_mesh(const yw_allocator* mem, const yw_mesh_obstacle_def* def) {
  const yw_mesh_animation* a = &def->animation;
  size_t points = (size_t)a->num_points, all = (size_t)a->num_frames * points;
  yw_animated_mesh* m = YW_NEW(mem, yw_animated_mesh);
  if (!m) return NULL;
  m->frames = yw_mem_alloc(mem, all, sizeof *m->frames);
  m->boxes = YW_NEW_ARRAY(mem, yw_aabb, a->num_frames);
  m->changes = YW_NEW_ARRAY(mem, bool, a->num_frames);
  if (!m->frames || !m->boxes || !m->changes ||
      !yw_moving_mesh_create(mem, def->triangles, def->num_triangles, a->points, a->num_points,
                             &m->mesh)) {
    yw_animated_mesh_release(mem, m);
    return NULL;
  }
  memcpy(m->frames, a->points, all * sizeof *m->frames);
  m->animation = *a;
  m->animation.points = m->frames;
  note_frames(m);
  float thickness = def->thickness;
  if (thickness == 0.0f) thickness = (float)(THICKNESS_SHARE * mean_edge(def));
  m->mesh.radius = 0.5f * thickness;
  m->hash = hash_of(def, m->mesh.radius);
  return m;
}

yw_status yw_mesh_obstacle_create(yw_world* world, const yw_mesh_obstacle_def* def,
                                  yw_obstacle_id* out, yw_error* error) {
  yw_error_clear(error);
  if (!world || !def || !out) return yw_fail(error, YW_ERR_INVALID, "world, def or out is NULL");
  *out = (yw_obstacle_id){0};
  yw_status status = check_mesh(def->obstacle.name ? def->obstacle.name : "obstacle", def, error);
  if (status < 0) return status;
  yw_animated_mesh* mesh = make_mesh(&world->mem, def);
  if (!mesh) return yw_fail_memory(error, "an animated mesh");
  yw_animated_mesh_fit(mesh, world->time, world->time);
  status = yw_world_add_obstacle(world, &def->obstacle, mesh, out, error);
  if (status < 0) yw_animated_mesh_release(&world->mem, mesh);
  return status;
}

// Reading -----------------------------------------------------------------------------------------

static const yw_world_obstacle* find_mesh(const yw_world* world, yw_obstacle_id id) {
  const yw_world_obstacle* o = world ? YW_SLOT_FIND(&world->obstacles, id) : NULL;
  return o && o->mesh ? o : NULL;
}

int32_t yw_obstacle_mesh(const yw_world* world, yw_obstacle_id id, yw_mesh_animation* animation,
                         const int32_t** triangles) {
  const yw_world_obstacle* o = find_mesh(world, id);
  if (!o || !animation || !triangles) return 0;
  *animation = o->mesh->animation;
  *triangles = o->mesh->mesh.triangles[0];
  return o->mesh->mesh.num_triangles;
}

yw_status yw_obstacle_points(const yw_world* world, yw_obstacle_id id, double time, yw_vec3* out) {
  const yw_world_obstacle* o = find_mesh(world, id);
  if (!o || !out || !isfinite(time)) return YW_ERR_INVALID;
  yw_transform pose = yw_obstacle_pose_at(o, time);
  yw_mesh_moment moment = yw_mesh_moment_at(&o->mesh->animation, time);
  for (int32_t i = 0; i < o->mesh->animation.num_points; ++i) {
    out[i] = yw_transform_point(pose, yw_mesh_moment_point(&moment, i));
  }
  return YW_OK;
}

void yw_world_fit_meshes(yw_world* world) {
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    const yw_world_obstacle* o = &world->obstacles.items[i];
    if (o->mesh) yw_animated_mesh_fit(o->mesh, world->time, world->time);
  }
}
