// SPDX-License-Identifier: MIT
// Contact of particles with obstacles.
//
// Whole chunks of particles are ruled out by one distance each. The rest get their distances in
// batches, and only particles whose path in this step can reach the surface take the slow path:
//   1. the path is expressed in the obstacle's axes, which makes a moving obstacle a fixed one;
//   2. conservative advancement finds where the particle enters, however thin the obstacle;
//   3. there the approaching velocity is stopped or reflected, and friction is applied;
//   4. the rest of the path slides along the surface, shortened in the same proportion as the
//      velocity, so that sticking particles do not creep.
#include "contact/obstacles.h"

#include <stdatomic.h>

#include "contact/obstacle_motion.h"
#include "geometry/shape.h"
#include "yawara/extend/hash.h"

// Friction of sticky obstacles: enough to stop anything that touches.
#define STICKY_FRICTION 1e6f
// Particles per task, and per group that is ruled out together.
#define CHUNK 1024
#define GROUP 64

// An approach slower than this many steps of gravity is resting contact, not an impact.
#define REST_STEPS 2.0f
#define MAX_ADVANCES 96
#define MAX_PUSHES 4

typedef struct collide_job {
  const yw_obstacle_set* set;
  yw_particles* particles;
  const yw_vec4* old_pos;
  const float* radius;
  float begin, span;
  float friction, restitution;
  float rest_speed;
  atomic_int contacts;
} collide_job;

// Poses -----------------------------------------------------------------------------------------

static yw_transform pose_between(yw_transform a, yw_transform b, float t) {
  if (t <= 0.0f) return a;
  if (t >= 1.0f) return b;
  yw_quat p = a.rotation, q = b.rotation;
  float sign = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w < 0.0f ? -t : t;
  float rest = 1.0f - t;
  yw_quat mixed = {rest * p.x + sign * q.x, rest * p.y + sign * q.y, rest * p.z + sign * q.z,
                   rest * p.w + sign * q.w};
  return (yw_transform){yw_lerp(a.position, b.position, t), yw_quat_normalize(mixed),
                        a.scale + t * (b.scale - a.scale)};
}

static bool same_pose(yw_transform a, yw_transform b) {
  return a.position.x == b.position.x && a.position.y == b.position.y &&
         a.position.z == b.position.z && a.rotation.x == b.rotation.x &&
         a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
         a.rotation.w == b.rotation.w && a.scale == b.scale;
}

bool yw_obstacle_moves(const yw_obstacle* o) {
  return !same_pose(o->begin, o->end) || (o->mesh && o->mesh->moves);
}

static yw_obstacle_motion motion_of(const collide_job* job, const yw_obstacle* obstacle) {
  yw_obstacle_motion motion = {.shape = obstacle->shape, .mesh = obstacle->mesh, .span = job->span};
  float inv_h = job->set->h > 0.0f ? 1.0f / job->set->h : 0.0f;
  bool travels = !same_pose(obstacle->begin, obstacle->end);
  motion.moves = yw_obstacle_moves(obstacle);
  motion.begin = yw_clampf(job->begin * inv_h, 0.0f, 1.0f);
  motion.end = yw_clampf((job->begin + job->span) * inv_h, 0.0f, 1.0f);
  motion.first = motion.last = obstacle->begin;
  if (travels) {
    motion.first = pose_between(obstacle->begin, obstacle->end, job->begin * inv_h);
    motion.last = pose_between(obstacle->begin, obstacle->end, (job->begin + job->span) * inv_h);
  }
  motion.in_place = !travels && same_pose(motion.first, YW_TRANSFORM_IDENTITY);
  motion.friction = obstacle->sticky ? STICKY_FRICTION : sqrtf(job->friction * obstacle->friction);
  motion.restitution =
      job->restitution > obstacle->restitution ? job->restitution : obstacle->restitution;
  if (obstacle->sticky) motion.restitution = 0.0f;
  motion.rest_speed = job->rest_speed;
  return motion;
}

// True when the obstacle, moving from one pose to the other, stays clear of the ball.
static bool ball_is_clear(const yw_obstacle* obstacle, yw_transform first, yw_transform last,
                          bool moves, yw_vec3 center, float radius) {
  yw_vec3 seen_first = yw_transform_point_inv(first, center);
  float scale = first.scale, travel = 0.0f;
  if (moves) {
    travel = yw_distance(seen_first, yw_transform_point_inv(last, center));
    if (last.scale < scale) scale = last.scale;
  }
  // 5 % margin for sampled or blended distances.
  float reach = radius / scale + travel;
  if (obstacle->mesh) {
    yw_aabb point = {seen_first, seen_first};
    return !yw_moving_mesh_near_box(obstacle->mesh, point, obstacle->mesh->radius + reach);
  }
  return yw_shape_distance(obstacle->shape, seen_first) > 1.05f * reach;
}

static bool box_is_clear(const yw_obstacle* obstacle, yw_transform first, yw_transform last,
                         bool moves, yw_aabb box) {
  if (!yw_aabb_overlap(obstacle->bounds, box)) return true;
  yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
  float radius = 0.5f * yw_distance(box.lower, box.upper);
  if (!isfinite(radius)) return false;
  return ball_is_clear(obstacle, first, last, moves, center, radius);
}

bool yw_obstacle_is_clear(const yw_obstacle* o, yw_aabb box) {
  return box_is_clear(o, o->begin, o->end, !same_pose(o->begin, o->end), box);
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

yw_obstacle_near yw_obstacle_seen_from(const yw_obstacle_set* set, int32_t index, yw_vec3 p) {
  const yw_obstacle* obstacle = &set->items[index];
  yw_vec3 local = yw_transform_point_inv(obstacle->end, p), normal, way = {0, 0, 0};
  yw_obstacle_near near = {0};
  if (obstacle->mesh) {
    yw_mesh_place place;
    yw_moving_mesh_nearest(obstacle->mesh, 1.0f, local, INFINITY, &place);
    near.distance = place.distance - obstacle->mesh->radius;
    normal = place.normal;
    way = yw_moving_mesh_way(obstacle->mesh, &place);
  } else {
    near.distance = yw_shape_distance_normal(obstacle->shape, local, &normal);
  }
  near.distance *= obstacle->end.scale;
  near.normal = yw_rotate(obstacle->end.rotation, normal);
  if (yw_obstacle_moves(obstacle) && set->h > 0.0f) {
    yw_vec3 before = yw_transform_point(obstacle->begin, yw_sub(local, way));
    near.velocity = yw_scale(yw_sub(p, before), 1.0f / set->h);
  }
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
  return motion_bounds(yw_aabb_pad(mesh->tree.nodes[1], mesh->radius), begin, end);
}

// One particle ----------------------------------------------------------------------------------

// A particle's path in the obstacle's axes, and where it enters.
typedef struct sighting {
  yw_vec3 from, to;          // of this step
  float radius;              // in the obstacle's scale
  float start_gap, end_gap;  // at the ends of the path; negative inside
  yw_vec3 normal;            // at the start, then at the entry
  yw_vec3 entry;             // first touching point
  float rounding;            // rounding error of gaps here
} sighting;

// Follows the path in steps that the distance guarantees free. False when it stays outside.
static bool find_entry(const yw_shape* shape, sighting* s) {
  s->entry = s->from;
  s->rounding =
      YW_OBSTACLE_ROUNDING * (fabsf(s->from.x) + fabsf(s->from.y) + fabsf(s->from.z) + s->radius);
  float gap = s->start_gap;
  if (gap > s->rounding) {
    yw_vec3 path = yw_sub(s->to, s->from);
    float length = yw_length(path), done = 0.0f;
    for (int i = 0; gap > s->rounding && done < length && i < MAX_ADVANCES; ++i) {
      // Two free balls, at this point and at the end, cover the rest of the path.
      if (s->end_gap > 0.0f && gap + s->end_gap > length - done) return false;
      done += gap;
      if (done >= length) {
        if (s->end_gap >= 0.0f) return false;
        done = length;
      }
      s->entry = yw_mad(s->from, done / length, path);
      gap = yw_shape_distance(shape, s->entry) - s->radius;
    }
    yw_shape_distance_normal(shape, s->entry, &s->normal);
  }
  // A touching particle that is leaving is not in contact.
  return s->end_gap < -s->rounding || yw_dot(s->normal, yw_sub(s->to, s->entry)) < 0.0f;
}

float yw_obstacle_respond(const yw_obstacle_motion* motion, yw_vec3 surface_velocity,
                          yw_vec3 normal, bool was_free, yw_vec4* velocity, bool* bounces) {
  yw_vec3 relative = yw_sub(yw_xyz(*velocity), surface_velocity);
  float approach = -yw_dot(relative, normal);
  // A particle that touched before the step is pressed, not thrown, at any speed.
  *bounces = was_free && approach > motion->rest_speed && motion->restitution > 0.0f;
  if (approach <= 0.0f) return 1.0f;
  float leave = *bounces ? motion->restitution * approach : 0.0f;
  yw_vec3 slide = yw_mad(relative, approach, normal);
  float speed2 = yw_length2(slide), held = motion->friction * (approach + leave);
  float share = speed2 > held * held ? 1.0f - held / sqrtf(speed2) : 0.0f;
  yw_vec3 after = yw_mad(yw_mad(surface_velocity, share, slide), leave, normal);
  *velocity = yw_v4(after);
  return share;
}

// Shortcut for the most common case: a particle on a still obstacle, pressed against it and held by
// friction, does not move.
static bool rests_in_place(const yw_obstacle_motion* motion, const sighting* s,
                           const yw_vec4* vel) {
  float size = fabsf(s->from.x) + fabsf(s->from.y) + fabsf(s->from.z) + s->radius;
  if (motion->moves || fabsf(s->start_gap) > YW_OBSTACLE_ROUNDING * size) return false;
  yw_vec3 velocity = yw_xyz(*vel);
  if (!motion->in_place) velocity = yw_rotate(yw_quat_conjugate(motion->last.rotation), velocity);
  float approach = -yw_dot(velocity, s->normal), held = motion->friction * approach;
  bool enters = yw_dot(s->normal, yw_sub(s->to, s->from)) < 0.0f;
  float slide2 = yw_length2(velocity) - approach * approach;
  return enters && approach > 0.0f && slide2 <= held * held;
}

// Moves p out along the gradient of the distance, by at most `limit`.
static yw_vec3 push_out(const yw_shape* shape, yw_vec3 p, float radius, float rounding,
                        float limit) {
  for (int i = 0; i < MAX_PUSHES && limit > 0.0f; ++i) {
    float depth = radius - yw_shape_distance(shape, p);
    if (depth <= rounding) break;
    yw_vec3 normal;
    yw_shape_distance_normal(shape, p, &normal);
    float step = depth < limit ? depth : limit;
    p = yw_mad(p, step, normal);
    limit -= step;
  }
  return p;
}

// True when the particle touched the obstacle on its way; corrects pos and vel.
static bool collide_particle(const yw_obstacle_motion* motion, sighting* s, yw_vec4 old_pos,
                             yw_vec4* pos, yw_vec4* vel) {
  if (!find_entry(motion->shape, s)) return false;
  yw_vec3 surface_velocity = yw_v3(0, 0, 0), carried = yw_xyz(old_pos);
  if (motion->moves) {
    carried = yw_transform_point(motion->last, s->from);
    yw_vec3 before = yw_transform_point(motion->first, s->entry);
    yw_vec3 after = yw_transform_point(motion->last, s->entry);
    if (motion->span > 0.0f) {
      surface_velocity = yw_scale(yw_sub(after, before), 1.0f / motion->span);
    }
  }
  bool bounces;
  yw_vec3 normal = motion->in_place ? s->normal : yw_rotate(motion->last.rotation, s->normal);
  bool was_free = s->start_gap > s->rounding;
  float share = yw_obstacle_respond(motion, surface_velocity, normal, was_free, vel, &bounces);

  // The path after entry: along the surface as far as friction allows, and off it in a bounce.
  yw_vec3 rest = yw_sub(s->to, s->entry);
  float inward = -yw_dot(rest, s->normal);
  yw_vec3 slide = yw_mad(rest, inward, s->normal);
  float off = inward < 0.0f ? -inward : bounces ? motion->restitution * inward : 0.0f;
  yw_vec3 p = yw_mad(yw_mad(s->entry, share, slide), off, s->normal);
  bool started_inside = s->start_gap < -s->rounding;
  float slow = YW_PUSH_OUT_SPEED * motion->span / motion->last.scale;
  float limit = started_inside ? slow : yw_length(rest);
  p = push_out(motion->shape, p, s->radius, s->rounding, limit);

  // Added to the old position, not transformed back: sticking particles keep every bit.
  yw_vec3 moved = yw_sub(p, s->from);
  if (!motion->in_place) {
    moved = yw_scale(yw_rotate(motion->last.rotation, moved), motion->last.scale);
  }
  *pos = yw_v4(yw_add(carried, moved));
  return true;
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
    bool hit = yw_mesh_collide(motion, radius, job->old_pos[k], &p->pos[k], &p->vel[k]);
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
    sighting s = {.from = yw_xyz(old[k]), .to = yw_xyz(now[i]), .radius = radius};
    s.start_gap = start_distance[k] - radius;
    s.end_gap = end_distance[k] - radius;
    s.normal = yw_xyz(normal[k]);
    bool hit = rests_in_place(motion, &s, &vel[i]);
    if (hit) {
      pos[i] = job->old_pos[first + i];
      vel[i] = yw_v4(yw_v3(0, 0, 0));
    } else {
      hit = collide_particle(motion, &s, job->old_pos[first + i], &pos[i], &vel[i]);
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
    yw_obstacle_motion motion = motion_of(job, obstacle);
    if (box_is_clear(obstacle, motion.first, motion.last, motion.moves, chunk_box)) continue;
    for (int32_t i = 0, g = 0; i < count; i += GROUP, ++g) {
      if (box_is_clear(obstacle, motion.first, motion.last, motion.moves, boxes[g])) continue;
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
    yw_obstacle_motion motion = motion_of(job, obstacle);
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
                     .begin = begin,
                     .span = span,
                     .friction = ctx->friction,
                     .restitution = ctx->restitution};
  job.rest_speed = REST_STEPS * yw_length(set->gravity) * span;
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
  bool moves = !same_pose(obstacle->begin, obstacle->end);
  float inv_h = job->set->h > 0.0f ? 1.0f / job->set->h : 0.0f;
  yw_transform pose =
      moves ? pose_between(obstacle->begin, obstacle->end, job->at * inv_h) : obstacle->begin;
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
      bool moves = !same_pose(obstacle->begin, obstacle->end);
      if (box_is_clear(obstacle, obstacle->begin, obstacle->end, moves, box)) continue;
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
