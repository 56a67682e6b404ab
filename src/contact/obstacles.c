// SPDX-License-Identifier: MIT
// Contact of particles with obstacles.
//
// Whole chunks of particles are ruled out by one distance each. The rest get their distances in
// batches, and only particles whose path in this step can reach the surface take the slow path
// (obstacle_particle.h).
#include "contact/obstacles.h"

#include <stdatomic.h>

#include "contact/obstacle_particle.h"
#include "geometry/shape.h"
#include "yawara/extend/hash.h"

#define CHUNK YW_COLLIDE_CHUNK
#define GROUP YW_COLLIDE_GROUP

typedef struct collide_job {
  const yw_obstacle_set* set;
  yw_particles* particles;
  const yw_vec4* old_pos;
  const float* radius;
  float* pressing;
  yw_collide_terms terms;
  atomic_int contacts;
} collide_job;

bool yw_obstacle_moves(const yw_obstacle* o) { return yw_obstacle_is_moving(o); }

float yw_obstacle_respond(const yw_obstacle_motion* motion, yw_vec3 surface_velocity,
                          yw_vec3 normal, bool was_free, float* pressing, yw_vec4* velocity,
                          bool* bounces) {
  return yw_obstacle_respond_to(motion, surface_velocity, normal, was_free, pressing, velocity,
                                bounces);
}

// Boxes -------------------------------------------------------------------------------------------

bool yw_obstacle_is_clear(const yw_obstacle* o, yw_aabb box) {
  return yw_obstacle_box_is_clear(o, o->begin, o->end, !yw_same_pose(o->begin, o->end), box);
}

bool yw_obstacles_clear(const yw_step_ctx* ctx, yw_aabb box) {
  const yw_obstacle_set* set = ctx->obstacles;
  for (int32_t i = 0; i < set->count; ++i) {
    if (!yw_obstacle_is_clear(&set->items[i], box)) return false;
  }
  return true;
}

uint64_t yw_obstacles_in(const yw_step_ctx* ctx, yw_aabb box, bool* moves) {
  const yw_obstacle_set* set = ctx->obstacles;
  uint64_t hash = YW_HASH_SEED;
  *moves = false;
  for (int32_t i = 0; set && i < set->count; ++i) {
    const yw_obstacle* obstacle = &set->items[i];
    if (!yw_aabb_overlap(obstacle->bounds, box)) continue;
    *moves = *moves || yw_obstacle_moves(obstacle);
    hash = yw_hash_bytes(hash, &obstacle->end, sizeof obstacle->end);
    hash = yw_hash_bytes(hash, &obstacle->bounds, sizeof obstacle->bounds);
    hash = yw_hash_bytes(hash, &obstacle->friction, sizeof obstacle->friction);
    hash = yw_hash_u64(hash, obstacle->sticky);
  }
  return hash;
}

bool yw_obstacle_seen_within(const yw_obstacle_set* set, int32_t index, yw_vec3 p, float most,
                             yw_obstacle_near* near) {
  const yw_obstacle* obstacle = &set->items[index];
  yw_vec3 local = yw_transform_point_inv(obstacle->end, p), normal, way = {0, 0, 0};
  *near = (yw_obstacle_near){0};
  if (obstacle->mesh) {
    yw_mesh_place place;
    float reach = 1.0001f * most / obstacle->end.scale + obstacle->mesh->radius;
    if (!yw_moving_mesh_nearest(obstacle->mesh, 1.0f, local, reach, &place)) return false;
    near->distance = place.distance - obstacle->mesh->radius;
    normal = place.normal;
    way = yw_moving_mesh_way(obstacle->mesh, &place);
  } else {
    near->distance = yw_shape_distance_normal(obstacle->shape, local, &normal);
  }
  near->distance *= obstacle->end.scale;
  near->normal = yw_rotate(obstacle->end.rotation, normal);
  if (yw_obstacle_moves(obstacle) && set->h > 0.0f) {
    yw_vec3 before = yw_transform_point(obstacle->begin, yw_sub(local, way));
    near->velocity = yw_scale(yw_sub(p, before), 1.0f / set->h);
  }
  return near->distance <= most;
}

yw_obstacle_near yw_obstacle_seen_from(const yw_obstacle_set* set, int32_t index, yw_vec3 p) {
  yw_obstacle_near near;
  yw_obstacle_seen_within(set, index, p, INFINITY, &near);
  return near;
}

// World box of a box that moves from begin to end, including the arcs swept by rotation.
static yw_aabb motion_bounds(yw_aabb local, yw_transform begin, yw_transform end) {
  yw_aabb box = yw_aabb_empty();
  float farthest = 0.0f;
  for (int corner = 0; corner < 8; ++corner) {
    yw_vec3 p = yw_v3(corner & 1 ? local.upper.x : local.lower.x,
                      corner & 2 ? local.upper.y : local.lower.y,
                      corner & 4 ? local.upper.z : local.lower.z);
    box = yw_aabb_grow(yw_aabb_grow(box, yw_transform_point(begin, p)), yw_transform_point(end, p));
    float length = yw_length(p) * (begin.scale > end.scale ? begin.scale : end.scale);
    if (length > farthest) farthest = length;
  }
  // Between the poses, a corner deviates from its chord by r (1 - cos(angle / 2)); cos(angle / 2)
  // is the dot product of the two rotations.
  yw_quat p = begin.rotation, q = end.rotation;
  float cosine = fabsf(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
  float bulge = cosine < 1.0f ? farthest * (1.0f - cosine) : 0.0f;
  return yw_aabb_pad(box, bulge + 1e-6f * farthest);
}

yw_aabb yw_obstacle_bounds(const yw_shape* shape, yw_transform begin, yw_transform end) {
  yw_aabb local;
  yw_vec3 infinite = yw_v3(INFINITY, INFINITY, INFINITY);
  if (!yw_shape_bounds(shape, &local)) return (yw_aabb){yw_neg(infinite), infinite};
  return motion_bounds(local, begin, end);
}

yw_aabb yw_obstacle_mesh_bounds(const yw_moving_mesh* mesh, yw_transform begin, yw_transform end) {
  return motion_bounds(yw_aabb_pad(mesh->box, mesh->radius), begin, end);
}

// Groups and chunks -----------------------------------------------------------------------------

// Box of the paths of particles first .. first + count - 1.
static yw_aabb path_box(const collide_job* job, int32_t first, int32_t count) {
  // Four particles at a time, including w.
  const float* now = &job->particles->pos[first].x;
  const float* old = &job->old_pos[first].x;
  float low[16], high[16];
  for (int k = 0; k < 16; ++k) low[k] = INFINITY, high[k] = -INFINITY;
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
#pragma omp simd
    for (int k = 0; k < 16; ++k) {
      float p = now[4 * i + k], q = old[4 * i + k];
      float least = p < q ? p : q, most = p < q ? q : p;
      low[k] = least < low[k] ? least : low[k];
      high[k] = most > high[k] ? most : high[k];
    }
  }
  yw_aabb box = yw_aabb_empty();
  for (int k = 0; k < 16; k += 4) {
    box = yw_aabb_join(box, (yw_aabb){yw_v3(low[k], low[k + 1], low[k + 2]),
                                      yw_v3(high[k], high[k + 1], high[k + 2])});
  }
  for (; i < count; ++i) {
    box = yw_aabb_grow(yw_aabb_grow(box, yw_xyz(job->particles->pos[first + i])),
                       yw_xyz(job->old_pos[first + i]));
  }
  if (job->radius) {
    float largest = 0.0f;
    for (i = 0; i < count; ++i) {
      if (job->radius[first + i] > largest) largest = job->radius[first + i];
    }
    box = yw_aabb_pad(box, largest);
  }
  return box;
}

// Transforms points into the axes of a pose.
static void see_points(yw_transform pose, int32_t count, const yw_vec4* points, yw_vec4* seen) {
  yw_mat3 turn = yw_mat3_transpose(yw_mat3_from_quat(pose.rotation));
  float shrink = 1.0f / pose.scale;
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 p = yw_sub(yw_xyz(points[i]), pose.position);
    seen[i] = yw_v4(yw_scale(yw_mul(turn, p), shrink));
  }
}

// Lists the particles of a group, seen in `now` at the end of their paths, that may have touched.
static int32_t list_near(const collide_job* job, const yw_obstacle_motion* motion, int32_t first,
                         int32_t count, const yw_vec4* now, int32_t* near, float* distance) {
  const yw_vec4* pos = job->particles->pos;
  float scale = motion->last.scale, all[GROUP];
  yw_shape_distance_many(motion->shape, count, now, all);
  int32_t num_near = 0;
  for (int32_t i = 0; i < count; ++i) {
    // A particle farther from the surface than its path is long cannot have touched it.
    float gap = all[i] * scale - (job->radius ? job->radius[first + i] : 0.0f);
    yw_vec3 path = yw_sub(yw_xyz(pos[first + i]), yw_xyz(job->old_pos[first + i]));
    bool is_far = gap > 0.0f && !motion->moves && gap * gap > yw_length2(path);
    if (is_far || job->particles->inv_mass[first + i] == 0.0f) continue;
    near[num_near] = i;
    distance[num_near++] = all[i];
  }
  return num_near;
}

static void collide_group_with_mesh(const collide_job* job, const yw_obstacle_motion* motion,
                                    int32_t first, int32_t count, uint8_t* touched) {
  yw_particles* p = job->particles;
  for (int32_t i = 0; i < count; ++i) {
    int32_t k = first + i;
    if (p->inv_mass[k] == 0.0f) continue;
    float radius = job->radius ? job->radius[k] : 0.0f;
    float* pressing = job->pressing ? &job->pressing[k] : NULL;
    bool hit = yw_mesh_collide(motion, radius, job->old_pos[k], pressing, &p->pos[k], &p->vel[k]);
    if (hit && touched[i] < UINT8_MAX) ++touched[i];
  }
}

// Collides a group with one obstacle; touched[i] counts the obstacles that particle i met.
static void collide_group(const collide_job* job, const yw_obstacle_motion* motion, int32_t first,
                          int32_t count, uint8_t* touched) {
  if (motion->mesh) {
    collide_group_with_mesh(job, motion, first, count, touched);
    return;
  }
  yw_vec4 *pos = job->particles->pos + first, *vel = job->particles->vel + first;
  yw_vec4 seen[GROUP], old[GROUP], normal[GROUP];
  float end_distance[GROUP], start_distance[GROUP];
  int32_t near[GROUP];
  if (!motion->in_place) see_points(motion->last, count, pos, seen);
  const yw_vec4* now = motion->in_place ? pos : seen;
  int32_t num_near = list_near(job, motion, first, count, now, near, end_distance);
  if (num_near == 0) return;

  for (int32_t k = 0; k < num_near; ++k) old[k] = job->old_pos[first + near[k]];
  if (!motion->in_place) see_points(motion->first, num_near, old, old);
  yw_shape_distance_normal_many(motion->shape, num_near, old, start_distance, normal);
  for (int32_t k = 0; k < num_near; ++k) {
    int32_t i = near[k];
    float radius = job->radius ? job->radius[first + i] / motion->last.scale : 0.0f;
    yw_sighting s = {.from = yw_xyz(old[k]), .to = yw_xyz(now[i]), .radius = radius};
    s.start_gap = start_distance[k] - radius;
    s.end_gap = end_distance[k] - radius;
    s.normal = yw_xyz(normal[k]);
    if (job->pressing) s.pressing = &job->pressing[first + i];
    bool hit = yw_rests_in_place(motion, &s, &vel[i]);
    if (hit) {
      pos[i] = job->old_pos[first + i];
      vel[i] = yw_v4(yw_v3(0, 0, 0));
    } else {
      hit = yw_collide_particle(motion, &s, job->old_pos[first + i], &pos[i], &vel[i]);
    }
    if (hit && touched[i] < UINT8_MAX) ++touched[i];
  }
}

// Particles that met two obstacles (foot of a wall, groove) meet all of them once more, since
// leaving one may have pushed them into another.
static void settle_in_corners(const collide_job* job, const yw_obstacle_motion* motion,
                              int32_t first, int32_t count, const uint8_t* touched) {
  for (int32_t i = 0; i < count; ++i) {
    uint8_t ignored = 0;
    if (touched[i] >= 2) collide_group(job, motion, first + i, 1, &ignored);
  }
}

static void collide_chunk(void* context, int32_t block, int32_t worker) {
  (void)worker;
  collide_job* job = context;
  int32_t first = block * CHUNK;
  int32_t count = job->particles->count - first < CHUNK ? job->particles->count - first : CHUNK;
  yw_aabb boxes[CHUNK / GROUP], chunk_box = yw_aabb_empty();
  uint8_t touched[CHUNK] = {0};
  for (int32_t i = 0, g = 0; i < count; i += GROUP, ++g) {
    boxes[g] = path_box(job, first + i, count - i < GROUP ? count - i : GROUP);
    chunk_box = yw_aabb_join(chunk_box, boxes[g]);
  }

  for (int32_t k = 0; k < job->set->count; ++k) {
    const yw_obstacle* obstacle = &job->set->items[k];
    if (!yw_aabb_overlap(obstacle->bounds, chunk_box)) continue;
    yw_obstacle_motion motion = yw_obstacle_motion_of(&job->terms, obstacle);
    if (yw_obstacle_box_is_clear(obstacle, motion.first, motion.last, motion.moves, chunk_box))
      continue;
    for (int32_t i = 0, g = 0; i < count; i += GROUP, ++g) {
      if (yw_obstacle_box_is_clear(obstacle, motion.first, motion.last, motion.moves, boxes[g]))
        continue;
      collide_group(job, &motion, first + i, count - i < GROUP ? count - i : GROUP, touched + i);
    }
  }

  int32_t contacts = 0, corners = 0;
  for (int32_t i = 0; i < count; ++i) {
    contacts += touched[i] > 0;
    corners += touched[i] > 1;
  }
  for (int32_t k = 0; corners > 0 && k < job->set->count; ++k) {
    const yw_obstacle* obstacle = &job->set->items[k];
    if (!yw_aabb_overlap(obstacle->bounds, chunk_box)) continue;
    yw_obstacle_motion motion = yw_obstacle_motion_of(&job->terms, obstacle);
    settle_in_corners(job, &motion, first, count, touched);
  }
  if (contacts > 0) atomic_fetch_add_explicit(&job->contacts, contacts, memory_order_relaxed);
}

void yw_obstacles_collide(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                          const float* radius, float begin, float span) {
  const yw_obstacle_set* set = ctx->obstacles;
  if (!set || set->count == 0 || particles->count == 0) return;
  collide_job job = {.set = set,
                     .particles = particles,
                     .old_pos = old_pos,
                     .radius = radius,
                     .pressing = ctx->pressing,
                     .terms = {.h = set->h,
                               .begin = begin,
                               .span = span,
                               .friction = ctx->friction,
                               .restitution = ctx->restitution,
                               .rest_speed = YW_REST_STEPS * yw_length(set->gravity) * span}};
  atomic_init(&job.contacts, 0);
  yw_tasks_run(ctx->tasks, (particles->count + CHUNK - 1) / CHUNK, collide_chunk, &job);
  if (ctx->report) ctx->report->obstacle_contacts += atomic_load(&job.contacts);
}

// Points ------------------------------------------------------------------------------------------

typedef struct probe_job {
  const yw_obstacle_set* set;
  int32_t count;
  const yw_vec4* points;
  yw_vec4 *normal, *velocity;
  float friction, at;
} probe_job;

// Velocity of point `seen` of an obstacle that moves from begin to end in h seconds.
static yw_vec3 velocity_at(const yw_obstacle* obstacle, yw_vec3 seen, float h) {
  yw_vec3 way =
      yw_sub(yw_transform_point(obstacle->end, seen), yw_transform_point(obstacle->begin, seen));
  return h > 0.0f ? yw_scale(way, 1.0f / h) : yw_v3(0, 0, 0);
}

// Depth in the thickness of a mesh; what is beyond has no depth.
static void probe_mesh(const probe_job* job, const yw_obstacle* obstacle, yw_transform pose,
                       int32_t first, int32_t count, const yw_vec4* seen) {
  const yw_moving_mesh* mesh = obstacle->mesh;
  float h = job->set->h, at = h > 0.0f ? yw_clampf(job->at / h, 0.0f, 1.0f) : 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    yw_mesh_place place;
    if (!yw_moving_mesh_nearest(mesh, at, yw_xyz(seen[i]), mesh->radius, &place)) continue;
    float depth = (mesh->radius - place.distance) * pose.scale;
    if (!(depth > job->normal[first + i].w)) continue;
    job->normal[first + i] = yw_v4(yw_rotate(pose.rotation, place.normal));
    job->normal[first + i].w = depth;
    yw_vec3 begin = yw_transform_point(obstacle->begin, yw_moving_mesh_point(mesh, &place, 0.0f));
    yw_vec3 end = yw_transform_point(obstacle->end, yw_moving_mesh_point(mesh, &place, 1.0f));
    job->velocity[first + i] =
        yw_v4(h > 0.0f ? yw_scale(yw_sub(end, begin), 1.0f / h) : yw_v3(0, 0, 0));
    job->velocity[first + i].w =
        obstacle->sticky ? INFINITY : sqrtf(job->friction * obstacle->friction);
  }
}

static void probe_group(const probe_job* job, const yw_obstacle* obstacle, int32_t first,
                        int32_t count) {
  bool moves = !yw_same_pose(obstacle->begin, obstacle->end);
  float inv_h = job->set->h > 0.0f ? 1.0f / job->set->h : 0.0f;
  yw_transform pose =
      moves ? yw_pose_between(obstacle->begin, obstacle->end, job->at * inv_h) : obstacle->begin;
  yw_vec4 seen[GROUP], normal[GROUP];
  float distance[GROUP];
  see_points(pose, count, job->points + first, seen);
  if (obstacle->mesh) {
    probe_mesh(job, obstacle, pose, first, count, seen);
    return;
  }
  yw_shape_distance_many(obstacle->shape, count, seen, distance);
  int32_t inside[GROUP], num_inside = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (distance[i] * pose.scale < -job->normal[first + i].w) inside[num_inside++] = i;
  }
  if (num_inside == 0) return;
  for (int32_t k = 0; k < num_inside; ++k) seen[k] = seen[inside[k]];
  yw_shape_distance_normal_many(obstacle->shape, num_inside, seen, distance, normal);
  for (int32_t k = 0; k < num_inside; ++k) {
    int32_t i = first + inside[k];
    job->normal[i] = yw_v4(yw_rotate(pose.rotation, yw_xyz(normal[k])));
    job->normal[i].w = -distance[k] * pose.scale;
    job->velocity[i] =
        yw_v4(moves ? velocity_at(obstacle, yw_xyz(seen[k]), job->set->h) : yw_v3(0, 0, 0));
    job->velocity[i].w = obstacle->sticky ? INFINITY : sqrtf(job->friction * obstacle->friction);
  }
}

static void probe_chunk(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const probe_job* job = context;
  int32_t end = (block + 1) * CHUNK < job->count ? (block + 1) * CHUNK : job->count;
  for (int32_t first = block * CHUNK; first < end; first += GROUP) {
    int32_t count = end - first < GROUP ? end - first : GROUP;
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = 0; i < count; ++i) {
      box = yw_aabb_grow(box, yw_xyz(job->points[first + i]));
      job->normal[first + i] = job->velocity[first + i] = (yw_vec4){0};
    }
    for (int32_t k = 0; k < job->set->count; ++k) {
      const yw_obstacle* obstacle = &job->set->items[k];
      bool moves = !yw_same_pose(obstacle->begin, obstacle->end);
      if (yw_obstacle_box_is_clear(obstacle, obstacle->begin, obstacle->end, moves, box)) continue;
      probe_group(job, obstacle, first, count);
    }
  }
}

void yw_obstacles_probe(const yw_step_ctx* ctx, int32_t count, const yw_vec4* points, float at,
                        yw_vec4* normal, yw_vec4* velocity) {
  const yw_obstacle_set* set = ctx->obstacles;
  probe_job job = {set, count, points, normal, velocity, ctx->friction, at};
  yw_tasks_run(ctx->tasks, (count + CHUNK - 1) / CHUNK, probe_chunk, &job);
}
