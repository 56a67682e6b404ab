// SPDX-License-Identifier: MIT
// Contacts between spheres: rods, sheets, loose matter.
//
// The balls of a body are sorted along a space-filling curve in every step, so that groups of 16
// stay compact however the matter has mixed; nothing is kept between steps. A group is tested once
// against the tree of the other body's groups, and its balls against those of the groups found.
// Paths are straight over the step and tested as such: a thin rod cannot pass through another one
// by being fast.
#include "contact/obstacles.h"
#include "contact/points/detect.h"

// Balls of one body that are closer than this at rest (times the sum of their radii) belong
// together and do not collide.
#define SELF_DISTANCE 2.0f

static yw_aabb box_of_path(yw_vec4 before, yw_vec4 now) {
  yw_aabb box = {yw_min3(yw_xyz(before), yw_xyz(now)), yw_max3(yw_xyz(before), yw_xyz(now))};
  return yw_aabb_pad(box, now.w);
}

void yw_point_fit_spheres(yw_point_work* work) {
  const yw_particles* p = work->body->particles;
  const float* radius = work->body->geometry.radius;
  yw_point_balls* balls = work->balls;
  int32_t count = work->topology->num_points;
  yw_aabb all = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) all = yw_aabb_grow(all, yw_xyz(p->pos[i]));
  for (int32_t i = 0; i < count; ++i) {
    balls->order[i] = (yw_point_sort_item){yw_point_morton_code(all, yw_xyz(p->pos[i])), i};
  }
  yw_point_sort_items(balls->order, balls->scratch, count);
  for (int32_t i = 0; i < count; ++i) {
    int32_t particle = balls->order[i].value;
    balls->points[i] = particle;
    balls->now[i] = yw_v4(yw_xyz(p->pos[particle]));
    balls->now[i].w = radius[particle];
    balls->before[i] = yw_v4(yw_point_before(work, particle));
  }
  for (int32_t g = 0; g < work->topology->num_groups; ++g) {
    yw_aabb box = yw_aabb_empty();
    int32_t end = (g + 1) * YW_POINT_GROUP < count ? (g + 1) * YW_POINT_GROUP : count;
    for (int32_t i = g * YW_POINT_GROUP; i < end; ++i) {
      box = yw_aabb_join(box, box_of_path(balls->before[i], balls->now[i]));
    }
    work->groups.nodes[work->groups.first_leaf + g] = box;
  }
  yw_box_tree_refit(&work->groups);
  work->box = count > 0 ? work->groups.nodes[1] : yw_aabb_empty();
}

// Direction in which two balls meet, from the second to the first; false when they stay out of
// reach. When they touch during the step: the line of centres at that time, so that the impulse
// causes no rotation. When they touched before: the line of centres now, or before the step if they
// have passed each other.
static bool find_normal(yw_vec3 before, yw_vec3 now, float radii, float skin, yw_vec3* normal,
                        bool* swept) {
  yw_vec3 way = yw_sub(now, before);
  float gap2 = yw_length2(before) - radii * radii;
  float closing = yw_dot(before, way), way2 = yw_length2(way);
  *swept = false;
  if (gap2 > 0.0f && closing < 0.0f) {
    float root2 = closing * closing - way2 * gap2;
    float touch = root2 >= 0.0f ? (-closing - sqrtf(root2)) / way2 : 2.0f;
    if (touch <= 1.0f) {
      *normal = yw_normalize_or(yw_mad(before, touch, way), yw_v3(0, 1, 0));
      return *swept = true;
    }
  }
  float reach = radii + skin;
  if (yw_length2(now) > reach * reach) return false;
  yw_vec3 d = yw_dot(now, before) > 0.0f ? now : before;
  *normal = yw_normalize_or(d, yw_v3(0, 1, 0));
  return true;
}

static void meet(const yw_point_work* a, const yw_point_work* b, const yw_point_job* job, int32_t i,
                 int32_t j, yw_point_list* list) {
  const yw_point_balls *balls_a = a->balls, *balls_b = b->balls;
  float radii = balls_a->now[i].w + balls_b->now[j].w;
  yw_vec3 before = yw_sub(yw_xyz(balls_a->before[i]), yw_xyz(balls_b->before[j]));
  yw_vec3 now = yw_sub(yw_xyz(balls_a->now[i]), yw_xyz(balls_b->now[j]));
  yw_vec3 normal;
  bool swept;
  if (!find_normal(before, now, radii, job->skin, &normal, &swept)) return;
  int32_t first = balls_a->points[i], second = balls_b->points[j];
  const yw_vec3* rest = a->body->geometry.rest;
  bool together = a == b && rest && yw_distance(rest[first], rest[second]) < SELF_DISTANCE * radii;
  yw_point* contact = together ? NULL : yw_point_append(list);
  if (!contact) return;
  *contact =
      (yw_point){.body = {job->a, job->b}, .count = {1, 1}, .slop = YW_POINT_SLOP * job->skin};
  contact->particles[0][0] = first;
  contact->particles[1][0] = second;
  contact->weights[0][0] = contact->weights[1][0] = 1.0f;
  contact->normal = normal;
  contact->gap_before = yw_dot(normal, before) - radii;
  contact->swept = swept;
}

// Tests ball i of a against the balls of a group of b.
static void meet_group(const yw_point_work* a, const yw_point_work* b, const yw_point_job* job,
                       int32_t i, int32_t group, yw_point_list* list) {
  int32_t first = group * YW_POINT_GROUP, end = first + YW_POINT_GROUP;
  if (end > b->topology->num_points) end = b->topology->num_points;
  if (a == b && first <= i) first = i + 1;
  yw_aabb box = yw_aabb_pad(box_of_path(a->balls->before[i], a->balls->now[i]), job->skin);
  if (!yw_aabb_overlap(box, b->groups.nodes[b->groups.first_leaf + group])) return;
  for (int32_t j = first; j < end; ++j) {
    if (yw_aabb_overlap(box, box_of_path(b->balls->before[j], b->balls->now[j]))) {
      meet(a, b, job, i, j, list);
    }
  }
}

void yw_point_find_spheres(const yw_point_work* works, const yw_point_job* job,
                           yw_point_list* list) {
  const yw_point_work *a = &works[job->a], *b = &works[job->b];
  for (int32_t g = job->first; g < job->end; ++g) {
    int32_t first = g * YW_POINT_GROUP, end = first + YW_POINT_GROUP;
    if (end > a->topology->num_points) end = a->topology->num_points;
    yw_aabb box = yw_aabb_pad(a->groups.nodes[a->groups.first_leaf + g], job->skin);
    yw_box_walk walk = yw_box_walk_begin(&b->groups, box);
    for (int32_t group; (group = yw_box_walk_next(&walk)) >= 0;) {
      if (a == b && group < g) continue;
      for (int32_t i = first; i < end; ++i) meet_group(a, b, job, i, group, list);
    }
  }
}

// Obstacles -------------------------------------------------------------------------------------

static void meet_obstacle(const yw_point_work* work, const yw_point_job* job, int32_t i,
                          int32_t obstacle, yw_point_list* list) {
  const yw_obstacle_set* set = work->body->obstacles;
  yw_vec4 ball = work->balls->now[i];
  yw_obstacle_near near = yw_obstacle_seen_from(set, obstacle, yw_xyz(ball));
  float gap = near.distance - ball.w;
  yw_point* contact = gap < job->skin ? yw_point_append(list) : NULL;
  if (!contact) return;
  int32_t particle = work->balls->points[i];
  yw_vec3 velocity = yw_sub(yw_xyz(work->body->particles->vel[particle]), near.velocity);
  *contact =
      (yw_point){.body = {job->a, job->a}, .count = {1, 0}, .slop = YW_POINT_SLOP * job->skin};
  contact->particles[0][0] = particle;
  contact->weights[0][0] = 1.0f;
  contact->normal = near.normal;
  contact->gap_before = gap - work->h * yw_dot(velocity, near.normal);
  contact->drift = near.velocity;
  contact->obstacle_friction = set->items[obstacle].friction;
}

void yw_point_find_obstacles(const yw_point_work* works, const yw_point_job* job,
                             yw_point_list* list) {
  const yw_point_work* work = &works[job->a];
  const yw_obstacle_set* set = work->body->obstacles;
  for (int32_t g = job->first; g < job->end; ++g) {
    int32_t first = g * YW_POINT_GROUP, end = first + YW_POINT_GROUP;
    if (end > work->topology->num_points) end = work->topology->num_points;
    yw_aabb box = yw_aabb_pad(work->groups.nodes[work->groups.first_leaf + g], job->skin);
    yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
    float reach = 0.5f * yw_distance(box.lower, box.upper);
    for (int32_t k = 0; k < set->count; ++k) {
      if (!yw_aabb_overlap(set->items[k].bounds, box)) continue;
      // 5 % margin for sampled or blended distances.
      yw_obstacle_near near;
      if (!yw_obstacle_seen_within(set, k, center, 1.05f * reach, &near)) continue;
      for (int32_t i = first; i < end; ++i) meet_obstacle(work, job, i, k, list);
    }
  }
}
