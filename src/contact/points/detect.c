// SPDX-License-Identifier: MIT
// Narrow phase.
//
// A sample point of one body is looked up in the tets of the other. It leaves through the nearest
// surface triangle that faces it, that is, whose outward normal opposes the point's own. This rule
// decides what distance alone cannot. Corners of stacked boxes rest on the face below instead of
// slipping out sideways. A point deep inside, or nearly through a thin body, goes back the way it
// came. A point's own neighbours are never an exit, so that self-contact is the same search. Points
// of both bodies cover all vertex-face contacts; crossing edges need their own test, but only sharp
// ones can cross without a vertex near.
#include "contact/points/detect.h"

#include "contact/surface.h"

// A triangle faces a point when the cosine of their normals is below this. Where no triangle within
// one element does (sides of a body deep inside another), only triangles that face the same way as
// the point are ruled out.
#define FACING (-0.1f)
#define FACING_WHEN_DEEP 0.5f
// Tolerance (barycentric) of the inside test: a point on a shared face is in one of its tets.
#define INSIDE_ROUNDING 1e-5f
// Points of one body closer than this at rest (in mean edges) do not collide with each other.
#define SELF_DISTANCE 2.0f
// Points deeper than this (in elements) at the start of the step did not get there by contact.
#define MAX_START_DEPTH 0.5f

// Boxes -----------------------------------------------------------------------------------------

void yw_point_fit_points(yw_point_work* work) {
  const yw_point_topology* t = work->topology;
  const yw_vec4* pos = work->body->particles->pos;
  for (int32_t g = 0; g < t->num_groups; ++g) {
    yw_aabb box = yw_aabb_empty();
    int32_t end =
        (g + 1) * YW_POINT_GROUP < t->num_points ? (g + 1) * YW_POINT_GROUP : t->num_points;
    for (int32_t i = g * YW_POINT_GROUP; i < end; ++i) {
      box = yw_aabb_grow(box, yw_xyz(pos[t->points[i]]));
    }
    work->groups.nodes[work->groups.first_leaf + g] = box;
  }
  yw_box_tree_refit(&work->groups);
  work->box = t->num_groups > 0 ? work->groups.nodes[1] : yw_aabb_empty();
}

void yw_point_fit_leaves(yw_point_work* work, int32_t first, int32_t end) {
  const yw_point_topology* t = work->topology;
  const yw_vec4* pos = work->body->particles->pos;
  for (int32_t leaf = first; leaf < end; ++leaf) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = t->leaf_start[leaf]; i < t->leaf_start[leaf + 1]; ++i) {
      box = yw_aabb_grow(box, yw_xyz(pos[t->leaf_particles[i]]));
    }
    work->leaves.nodes[work->leaves.first_leaf + leaf] = box;
  }
}

void yw_point_fit_tets(yw_point_work* work, int32_t leaf) {
  const yw_point_topology* t = work->topology;
  const yw_vec4* pos = work->body->particles->pos;
  yw_point_tet_boxes* boxes = &work->tet_boxes[leaf];
  for (int32_t k = 0; k < YW_POINT_LEAF; ++k) {
    int32_t tet = leaf * YW_POINT_LEAF + k;
    yw_aabb box = yw_aabb_empty();
    for (int c = 0; tet < t->num_tets && c < 4; ++c) {
      box = yw_aabb_grow(box, yw_xyz(pos[t->tets[tet][c]]));
    }
    boxes->lower[0][k] = box.lower.x, boxes->upper[0][k] = box.upper.x;
    boxes->lower[1][k] = box.lower.y, boxes->upper[1][k] = box.upper.y;
    boxes->lower[2][k] = box.lower.z, boxes->upper[2][k] = box.upper.z;
  }
}

// Bit k is set when p is in the box of tet k or within reach of it.
static uint32_t boxes_near_point(const yw_point_tet_boxes* boxes, yw_vec3 p, float reach) {
  static const int32_t bits[YW_POINT_LEAF] = {1,       1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                              1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                              1 << 12, 1 << 13, 1 << 14, 1 << 15};
  yw_vec3 low = yw_sub(p, yw_v3(reach, reach, reach)), high = yw_add(p, yw_v3(reach, reach, reach));
  int32_t in[YW_POINT_LEAF], mask = 0;
#pragma omp simd
  for (int k = 0; k < YW_POINT_LEAF; ++k) {
    in[k] = (high.x >= boxes->lower[0][k]) & (low.x <= boxes->upper[0][k]) &
            (high.y >= boxes->lower[1][k]) & (low.y <= boxes->upper[1][k]) &
            (high.z >= boxes->lower[2][k]) & (low.z <= boxes->upper[2][k]);
  }
#pragma omp simd reduction(| : mask)
  for (int k = 0; k < YW_POINT_LEAF; ++k) mask |= -in[k] & bits[k];
  return (uint32_t)mask;
}

// Points in tets --------------------------------------------------------------------------------

// State of the lookup of one sample point in a body.
typedef struct point_probe {
  const yw_point_work* target;
  yw_vec3 p;
  float reach;                  // exits outside the tets count up to this distance
  int32_t self;                 // the particle, if it belongs to the target; otherwise -1
  float self_distance;          // m at rest
  const yw_point_work* source;  // body of the point
  int32_t point, particle;      // its indices there
  bool deep;                    // far from any surface that faces it
  bool oriented;                // has a normal of its own
  bool has_normal;              // and it has been computed
  yw_vec3 normal;               // of the point's surface

  yw_vec3 from;  // position before the step; exits are measured from there
  int32_t tet;   // tet that contains the point, or -1
  float tet_weights[4];
  float least_weight;  // the smallest of them
  int32_t exit;        // triangle, or -1
  float exit_distance2;
  float exit_weights[3];
  yw_vec3 exit_point, exit_normal;
} point_probe;

// Area-weighted mean normal at a sample point of a volume.
static yw_vec3 point_normal(const yw_point_work* work, int32_t point) {
  const yw_point_topology* t = work->topology;
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int32_t i = t->fan_start[point]; i < t->fan_start[point + 1]; ++i) {
    const int32_t* v = t->triangles[t->fan[i]];
    yw_vec3 a = yw_point_before(work, v[0]);
    yw_vec3 n =
        yw_cross(yw_sub(yw_point_before(work, v[1]), a), yw_sub(yw_point_before(work, v[2]), a));
    sum = yw_add(sum, n);
  }
  return yw_normalize_or(sum, yw_v3(0, 0, 0));
}

// True for the probe's own material, or material next to it.
static bool near_at_rest(const point_probe* probe, const int32_t* particles, const float* weights,
                         int count) {
  const yw_vec3* rest = probe->target->body->geometry.rest;
  if (probe->self < 0 || !rest) return false;
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int k = 0; k < count; ++k) sum = yw_mad(sum, weights[k], rest[particles[k]]);
  return yw_distance(sum, rest[probe->self]) < probe->self_distance;
}

// True when the point's own surface opposes the triangle.
static bool faces_point(point_probe* probe, yw_vec3 normal) {
  if (!probe->oriented) return true;
  if (!probe->has_normal) {
    probe->normal = point_normal(probe->source, probe->point);
    probe->has_normal = true;
  }
  return yw_dot(normal, probe->normal) < (probe->deep ? FACING_WHEN_DEEP : FACING);
}

// Takes the triangle as the exit when it is nearer than the current one and faces the point.
static bool consider_triangle(point_probe* probe, int32_t triangle) {
  const yw_point_work* work = probe->target;
  const int32_t* v = work->topology->triangles[triangle];
  yw_vec3 a = yw_point_before(work, v[0]), b = yw_point_before(work, v[1]),
          c = yw_point_before(work, v[2]);
  yw_vec3 n = yw_cross(yw_sub(b, a), yw_sub(c, a));
  float length2 = yw_length2(n), height = yw_dot(n, yw_sub(probe->from, a));
  if (!(length2 > 0.0f) || height * height > probe->exit_distance2 * length2) return false;
  float weights[3];
  yw_vec3 nearest = yw_nearest_on_triangle(probe->from, a, b, c, weights);
  float distance2 = yw_length2(yw_sub(nearest, probe->from));
  if (!(distance2 < probe->exit_distance2)) return false;
  n = yw_scale(n, 1.0f / sqrtf(length2));
  if (!faces_point(probe, n) || near_at_rest(probe, v, weights, 3)) return false;
  probe->exit = triangle;
  probe->exit_distance2 = distance2;
  for (int k = 0; k < 3; ++k) probe->exit_weights[k] = weights[k];
  probe->exit_point = nearest;
  probe->exit_normal = n;
  return true;
}

// Takes the tet as the containing one when it contains the point better than the current one.
static void probe_tet(point_probe* probe, int32_t tet) {
  const yw_point_work* work = probe->target;
  const int32_t* v = work->topology->tets[tet];
  float weights[4];
  if (!yw_tet_weights(probe->p, yw_point_position(work, v[0]), yw_point_position(work, v[1]),
                      yw_point_position(work, v[2]), yw_point_position(work, v[3]), weights)) {
    return;
  }
  float least = weights[0];
  for (int k = 1; k < 4; ++k) least = weights[k] < least ? weights[k] : least;
  if (least > probe->least_weight && !near_at_rest(probe, v, weights, 4)) {
    probe->tet = tet;
    probe->least_weight = least;
    for (int k = 0; k < 4; ++k) probe->tet_weights[k] = weights[k];
  }
}

// A tet whose corners are all near the point at rest is near it everywhere.
static bool is_own_tet(const point_probe* probe, const int32_t* tet) {
  const yw_vec3* rest = probe->target->body->geometry.rest;
  if (probe->self < 0) return false;
  float limit = probe->self_distance * probe->self_distance;
  for (int k = 0; k < 4; ++k) {
    if (tet[k] == probe->self) return true;
    if (rest && yw_length2(yw_sub(rest[tet[k]], rest[probe->self])) >= limit) rest = NULL;
  }
  return rest != NULL;
}

// Visits the tets whose boxes the point touches. Lists those with faces and returns their number.
static int32_t probe_tets(point_probe* probe, int32_t* with_faces, int32_t capacity) {
  const yw_point_work* work = probe->target;
  yw_aabb box = yw_aabb_pad((yw_aabb){probe->p, probe->p}, probe->reach);
  yw_box_walk walk = yw_box_walk_begin(&work->leaves, box);
  int32_t count = 0;
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    uint32_t mask = boxes_near_point(&work->tet_boxes[leaf], probe->p, probe->reach);
    for (; mask != 0; mask &= mask - 1) {
      int32_t tet = leaf * YW_POINT_LEAF + __builtin_ctz(mask);
      if (is_own_tet(probe, work->topology->tets[tet])) continue;
      probe_tet(probe, tet);
      const int32_t* faces = work->topology->tet_faces[tet];
      bool any = faces[0] >= 0 || faces[1] >= 0 || faces[2] >= 0 || faces[3] >= 0;
      if (any && count < capacity) with_faces[count++] = tet;
    }
  }
  return count;
}

static float distance2_to_box(yw_vec3 p, yw_aabb box) {
  yw_vec3 inside = yw_max3(box.lower, yw_min3(p, box.upper));
  return yw_length2(yw_sub(p, inside));
}

// Walks over neighbours while the exit gets nearer.
static void walk_to_nearest(point_probe* probe) {
  const yw_point_topology* t = probe->target->topology;
  bool moved = probe->exit >= 0;
  while (moved) {
    int32_t from = probe->exit;
    moved = false;
    for (int k = 0; k < 3; ++k) {
      int32_t next = t->neighbors[from][k];
      if (next >= 0 && consider_triangle(probe, next)) moved = true;
    }
  }
}

// No exit nearby: searches the whole surface, nearest groups first.
static void find_deep_exit(point_probe* probe) {
  const yw_point_work* work = probe->target;
  const yw_point_topology* t = work->topology;
  int32_t stack[64], depth = 0;
  stack[depth++] = 1;
  while (depth > 0) {
    int32_t node = stack[--depth];
    // Triangles extend beyond the points in the boxes.
    float bound = sqrtf(probe->exit_distance2) + t->size;
    if (distance2_to_box(probe->from, work->groups.nodes[node]) > bound * bound) continue;
    if (node < work->groups.first_leaf) {
      float left = distance2_to_box(probe->from, work->groups.nodes[2 * node]);
      float right = distance2_to_box(probe->from, work->groups.nodes[2 * node + 1]);
      stack[depth++] = left <= right ? 2 * node + 1 : 2 * node;
      stack[depth++] = left <= right ? 2 * node : 2 * node + 1;
      continue;
    }
    int32_t first = (node - work->groups.first_leaf) * YW_POINT_GROUP;
    for (int32_t i = first; i < first + YW_POINT_GROUP && i < t->num_points; ++i) {
      // Visits each triangle once, at its first corner.
      for (int32_t k = t->fan_start[i]; k < t->fan_start[i + 1]; ++k) {
        if (t->triangles[t->fan[k]][0] == t->points[i]) consider_triangle(probe, t->fan[k]);
      }
    }
  }
  walk_to_nearest(probe);
}

static void consider_faces(point_probe* probe, int32_t tet) {
  const int32_t* faces = probe->target->topology->tet_faces[tet];
  for (int k = 0; k < 4; ++k) {
    if (faces[k] >= 0) consider_triangle(probe, faces[k]);
  }
}

// Looks up the point. True when it is inside, or outside and within reach of a surface facing it.
static bool look_up(point_probe* probe) {
  enum { MAX_TETS = 64 };
  const yw_point_topology* t = probe->target->topology;
  float reach = probe->reach;
  int32_t near[MAX_TETS];
  probe->tet = probe->exit = -1;
  probe->least_weight = -INSIDE_ROUNDING;
  int32_t num_near = probe_tets(probe, near, MAX_TETS);
  bool inside = probe->tet >= 0;
  probe->from = yw_point_before(probe->source, probe->particle);
  probe->exit_distance2 = inside && reach < t->size ? t->size * t->size : reach * reach;
  // The containing tet first: its exit rules out most of the others quickly.
  if (inside) consider_faces(probe, probe->tet);
  for (int32_t i = 0; i < num_near; ++i) {
    if (near[i] != probe->tet) consider_faces(probe, near[i]);
  }
  if (!inside) return probe->exit >= 0;
  // The visited tets have all faces within reach, but perhaps not the nearest face beyond.
  if (probe->exit >= 0) {
    if (probe->exit_distance2 > reach * reach) walk_to_nearest(probe);
    return true;
  }
  probe->deep = true;
  probe->exit_distance2 = INFINITY;
  find_deep_exit(probe);
  return probe->exit >= 0;
}

// Contacts --------------------------------------------------------------------------------------

static void set_tet_side(yw_point* contact, const yw_point_work* work, int32_t tet,
                         const float* weights) {
  contact->count[1] = 4;
  for (int k = 0; k < 4; ++k) {
    contact->particles[1][k] = work->topology->tets[tet][k];
    contact->weights[1][k] = weights[k];
  }
}

// Normal and gap before the step, for a probe that has found its exit.
static void measure(const point_probe* probe, float radius, yw_vec3* normal, float* gap) {
  yw_vec3 from_exit = yw_sub(probe->from, probe->exit_point);
  float distance = yw_length(from_exit), height = yw_dot(from_exit, probe->exit_normal);
  *normal = probe->exit_normal;
  *gap = height - radius;
  if (height > 0.0f && radius > 0.0f && distance > 1e-3f * radius) {
    // A ball outside touches edges and corners in the direction of its centre.
    *normal = yw_scale(from_exit, 1.0f / distance);
    *gap = distance - radius;
  }
}

static void record_point(const point_probe* probe, const yw_point_job* job, int32_t particle,
                         float radius, yw_point_list* list) {
  const yw_point_work* target = probe->target;
  const yw_point_topology* t = target->topology;
  yw_point contact = {.body = {job->a, job->b}, .count = {1, 0}, .slop = YW_POINT_SLOP * job->skin};
  contact.particles[0][0] = particle;
  contact.weights[0][0] = 1.0f;
  measure(probe, radius, &contact.normal, &contact.gap_before);

  contact.deep = probe->self < 0 && contact.gap_before < -MAX_START_DEPTH * t->size &&
                 !yw_point_is_loose(probe->source->body);

  const int32_t* v = t->triangles[probe->exit];
  int32_t tet = t->triangle_tet[probe->exit];
  float weights[4];
  if (probe->tet >= 0) {
    set_tet_side(&contact, target, probe->tet, probe->tet_weights);
  } else if (radius == 0.0f && tet >= 0 &&
             yw_tet_weights(probe->p, yw_point_position(target, t->tets[tet][0]),
                            yw_point_position(target, t->tets[tet][1]),
                            yw_point_position(target, t->tets[tet][2]),
                            yw_point_position(target, t->tets[tet][3]), weights)) {
    set_tet_side(&contact, target, tet, weights);
  } else {
    // A ball's centre is not on the surface: the impulse acts along the normal.
    contact.count[1] = 3;
    for (int k = 0; k < 3; ++k) {
      contact.particles[1][k] = v[k];
      contact.weights[1][k] = probe->exit_weights[k];
    }
  }
  yw_point* slot = yw_point_append(list);
  if (slot) *slot = contact;
}

static bool box_has_point(yw_aabb box, yw_vec3 p) {
  return p.x >= box.lower.x && p.x <= box.upper.x && p.y >= box.lower.y && p.y <= box.upper.y &&
         p.z >= box.lower.z && p.z <= box.upper.z;
}

static void find_points_in_tets(const yw_point_work* works, const yw_point_job* job,
                                yw_point_list* list) {
  const yw_point_work *a = &works[job->a], *b = &works[job->b];
  const yw_point_topology* t = a->topology;
  const float* radii = t->is_volume ? NULL : a->body->geometry.radius;
  bool self = job->a == job->b;
  yw_aabb target = yw_aabb_pad(b->box, job->skin);
  for (int32_t g = job->first; g < job->end; ++g) {
    if (!yw_aabb_overlap(a->groups.nodes[a->groups.first_leaf + g], target)) continue;
    int32_t end = (g + 1) * YW_POINT_GROUP;
    for (int32_t i = g * YW_POINT_GROUP; i < end && i < t->num_points; ++i) {
      int32_t particle = a->points[i];
      yw_vec3 p = yw_point_position(a, particle);
      float radius = radii ? radii[particle] : 0.0f;
      if (!box_has_point(yw_aabb_pad(target, radius), p)) continue;
      point_probe probe = {.target = b, .p = p, .reach = job->skin + radius};
      probe.self = self ? particle : -1;
      probe.self_distance = SELF_DISTANCE * t->size;
      probe.source = a;
      probe.point = i;
      probe.particle = particle;
      probe.oriented = t->is_volume;
      if (look_up(&probe)) record_point(&probe, job, particle, radius, list);
    }
  }
}

// Small pairs -----------------------------------------------------------------------------------

// Extent of a body's points along an axis.
static float reach_along(const yw_point_work* work, yw_vec3 axis) {
  const yw_point_topology* t = work->topology;
  float most = -INFINITY;
  for (int32_t i = 0; i < t->num_points; ++i) {
    float along = yw_dot(axis, yw_point_position(work, t->points[i]));
    most = along > most ? along : most;
  }
  return most;
}

// Half of the overlapping boxes belong to bodies that do not touch, and most of these are separated
// along the line between their centres.
static void find_small_pair(const yw_point_work* works, const yw_point_job* job,
                            yw_point_list* list) {
  const yw_point_work *a = &works[job->a], *b = &works[job->b];
  yw_vec3 axis = yw_sub(yw_add(b->box.lower, b->box.upper), yw_add(a->box.lower, a->box.upper));
  float gap = -reach_along(b, yw_neg(axis)) - reach_along(a, axis);
  if (gap > 0.0f && gap * gap > job->skin * job->skin * yw_length2(axis)) return;

  yw_point_job part = *job;
  part.first = 0;
  part.end = a->topology->num_groups;
  find_points_in_tets(works, &part, list);
  yw_point_find_edges(works, &part, list);
  part.a = job->b;
  part.b = job->a;
  part.end = b->topology->num_groups;
  find_points_in_tets(works, &part, list);
}

void yw_point_find(const yw_point_work* works, const yw_point_job* job, yw_point_list* list) {
  switch (job->kind) {
    case YW_POINT_JOB_POINTS_IN_TETS:
      find_points_in_tets(works, job, list);
      break;
    case YW_POINT_JOB_SPHERES:
      yw_point_find_spheres(works, job, list);
      break;
    case YW_POINT_JOB_OBSTACLES:
      yw_point_find_obstacles(works, job, list);
      break;
    case YW_POINT_JOB_EDGES:
      yw_point_find_edges(works, job, list);
      break;
    case YW_POINT_JOB_SMALL_PAIR:
      find_small_pair(works, job, list);
      break;
  }
}
