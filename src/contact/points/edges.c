// SPDX-License-Identifier: MIT
// Contacts between edges. Two edges touch when a plane separates their bodies there: it contains
// both edge directions, and the faces of each edge lie on its own side.
#include "contact/points/detect.h"
#include "contact/surface.h"

// Edges deeper than this (relative to the shorter edge) have missed each other.
#define MAX_EDGE_DEPTH 0.3f

// An edge at the start of the step. Its body lies on the side of the opposite corners.
typedef struct edge_pose {
  const yw_point_edge* edge;
  yw_vec3 start, along;
  yw_vec3 faces[2];  // from the edge to the opposite corners
} edge_pose;

static edge_pose pose_edge(const yw_point_work* work, const yw_point_edge* edge) {
  yw_vec3 start = yw_point_before(work, edge->ends[0]);
  return (edge_pose){edge,
                     start,
                     yw_sub(yw_point_before(work, edge->ends[1]), start),
                     {yw_sub(yw_point_before(work, edge->opposite[0]), start),
                      yw_sub(yw_point_before(work, edge->opposite[1]), start)}};
}

// True when the faces of the edge lie behind the plane through it with this normal; slack is the
// sine of the angle by which they may protrude.
static bool lies_behind(const edge_pose* edge, yw_vec3 normal, float slack) {
  return yw_dot(normal, edge->faces[0]) <= slack * yw_length(edge->faces[0]) &&
         yw_dot(normal, edge->faces[1]) <= slack * yw_length(edge->faces[1]);
}

static bool edge_side(yw_point* contact, int side, const yw_point_work* work, const edge_pose* edge,
                      yw_vec3 p) {
  int32_t tet = edge->edge->tet;
  if (tet < 0) return false;
  const int32_t* v = work->topology->tets[tet];
  contact->count[side] = 4;
  for (int k = 0; k < 4; ++k) contact->particles[side][k] = v[k];
  return yw_tet_weights(p, yw_point_position(work, v[0]), yw_point_position(work, v[1]),
                        yw_point_position(work, v[2]), yw_point_position(work, v[3]),
                        contact->weights[side]);
}

// Point at parameter s of an edge, at the end of the step.
static yw_vec3 edge_point(const yw_point_work* work, const yw_point_edge* edge, float s) {
  return yw_lerp(yw_point_position(work, edge->ends[0]), yw_point_position(work, edge->ends[1]), s);
}

static void meet_edges(const yw_point_work* works, const yw_point_job* job, const edge_pose* a,
                       const edge_pose* b, yw_point_list* list) {
  float s, t;
  if (!yw_nearest_on_lines(a->start, a->along, b->start, b->along, &s, &t)) return;
  if (s < 0.0f || s > 1.0f || t < 0.0f || t > 1.0f) return;
  yw_vec3 normal = yw_normalize_or(yw_cross(a->along, b->along), yw_v3(0, 0, 0));
  // Pointing away from b's faces.
  if (yw_dot(normal, yw_add(b->faces[0], b->faces[1])) > 0.0f) normal = yw_neg(normal);
  yw_vec3 apart = yw_sub(yw_mad(a->start, s, a->along), yw_mad(b->start, t, b->along));
  float gap_before = yw_dot(normal, apart);
  yw_vec3 pa = edge_point(&works[job->a], a->edge, s), pb = edge_point(&works[job->b], b->edge, t);
  float gap = yw_dot(normal, yw_sub(pa, pb));
  float shorter = sqrtf(fminf(yw_length2(a->along), yw_length2(b->along)));
  if (gap > job->skin || fminf(gap, gap_before) < -MAX_EDGE_DEPTH * shorter) return;
  // Near the surface, edges may lie in a common plane (boxes stacked at an angle). Deeper inside,
  // only ridges that clearly cross are an edge contact.
  float slack = gap_before > -job->skin ? 0.05f : -0.2f;
  if (!lies_behind(b, normal, slack) || !lies_behind(a, yw_neg(normal), slack)) return;

  yw_point contact = {.body = {job->a, job->b},
                      .normal = normal,
                      .gap_before = gap_before,
                      .slop = YW_POINT_SLOP * job->skin};
  yw_vec3 p = yw_lerp(pa, pb, 0.5f);
  if (!edge_side(&contact, 0, &works[job->a], a, p)) return;
  if (!edge_side(&contact, 1, &works[job->b], b, p)) return;
  yw_point* slot = yw_point_append(list);
  if (slot) *slot = contact;
}

static yw_aabb edge_box(const yw_point_work* work, const yw_point_edge* edge) {
  yw_vec3 p = yw_point_position(work, edge->ends[0]), q = yw_point_position(work, edge->ends[1]);
  return (yw_aabb){yw_min3(p, q), yw_max3(p, q)};
}

void yw_point_find_edges(const yw_point_work* works, const yw_point_job* job, yw_point_list* list) {
  enum { BATCH = 64 };
  edge_pose batch[BATCH];
  yw_aabb boxes[BATCH];
  const yw_point_work *a = &works[job->a], *b = &works[job->b];
  yw_aabb box_a = yw_aabb_pad(a->box, job->skin), box_b = yw_aabb_pad(b->box, job->skin);
  int32_t next = 0;
  while (next < b->topology->num_edges) {
    // A batch of b's edges near a, against all of a's edges near b.
    int32_t count = 0;
    for (; next < b->topology->num_edges && count < BATCH; ++next) {
      const yw_point_edge* edge = &b->topology->edges[next];
      yw_aabb box = edge_box(b, edge);
      if (!yw_aabb_overlap(box, box_a)) continue;
      batch[count] = pose_edge(b, edge);
      boxes[count++] = yw_aabb_pad(box, job->skin);
    }
    for (int32_t i = 0; count > 0 && i < a->topology->num_edges; ++i) {
      const yw_point_edge* edge = &a->topology->edges[i];
      yw_aabb box = edge_box(a, edge);
      if (!yw_aabb_overlap(box, box_b)) continue;
      edge_pose pose = pose_edge(a, edge);
      // Boxes of ridges that have penetrated each other no longer touch.
      box = yw_aabb_pad(box, MAX_EDGE_DEPTH * yw_length(pose.along));
      for (int32_t k = 0; k < count; ++k) {
        if (yw_aabb_overlap(box, boxes[k])) meet_edges(works, job, &pose, &batch[k], list);
      }
    }
  }
}
