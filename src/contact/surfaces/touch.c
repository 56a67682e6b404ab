// SPDX-License-Identifier: MIT
// Narrow phase. Paths over the substep are straight, so pairs of primitives are tested as they
// move: the contact point, its weights and its normal are those of the moment of touch. Where two
// neighbours find the same contact (on an edge or a corner that they share), one of them owns it.
#include "contact/surfaces/touch.h"

#include <string.h>

#include "contact/obstacles.h"

// Gap at which bodies may rest, and beyond which a contact is not considered, in skins.
#define SLOP 0.2f
#define BAND 0.5f
// Guarded distances: of thin surfaces as a share of the skin, of thick ones as a share of
// thickness.
#define LEAST_SKIN 0.05f
#define LEAST_THICKNESS 0.8f
// Primitives of one body are kept at most this share of their distance at rest apart.
#define REST_SHARE 0.9f
// Sine of the angle by which faces may protrude over the plane between two edges; edges of surfaces
// flatter than this leave the contact to vertices.
#define FLAT 0.02f
// Weights below this are on the border of a triangle or segment.
#define BORDER 1e-4f

// Boxes -----------------------------------------------------------------------------------------

static yw_aabb path_box(const yw_contact_work* work, int32_t particle) {
  yw_vec3 begin = yw_touch_begin(work, particle), end = yw_touch_path_end(work, particle);
  return yw_aabb_pad((yw_aabb){yw_min3(begin, end), yw_max3(begin, end)},
                     yw_touch_radius(work, particle));
}

// Loose points mix: leaves of neighbours are found anew in every step.
static void sort_points(yw_contact_work* work) {
  int32_t count = work->complex->num_vertices;
  const yw_vec4* pos = work->predicted;
  yw_aabb all = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) all = yw_aabb_grow(all, yw_xyz(pos[i]));
  for (int32_t i = 0; i < count; ++i) {
    work->order[i] = (yw_sort_item){yw_morton_code(all, yw_xyz(pos[i])), i};
  }
  yw_sort_items(work->order, work->scratch, count);
  for (int32_t i = 0; i < count; ++i) {
    int32_t particle = work->order[i].value;
    work->sorted_vertices[i] = particle;
    work->sorted_edges[i][0] = work->sorted_edges[i][1] = particle;
  }
}

static void fit_leaf(yw_contact_work* work, int32_t leaf) {
  const yw_complex* c = work->complex;
  const yw_complex_leaf *first = &c->leaves[leaf], *end = first + 1;
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = first->vertex; i < end->vertex; ++i) {
    work->vertex_boxes[i] = path_box(work, work->vertices[i]);
    box = yw_aabb_join(box, work->vertex_boxes[i]);
  }
  for (int32_t i = first->edge; i < end->edge; ++i) {
    const int32_t* v = work->edges[i];
    work->edge_boxes[i] = yw_aabb_join(path_box(work, v[0]), path_box(work, v[1]));
    box = yw_aabb_join(box, work->edge_boxes[i]);
  }
  for (int32_t i = first->triangle; i < end->triangle; ++i) {
    const int32_t* v = c->triangles[i];
    work->triangle_boxes[i] = yw_aabb_join(
        path_box(work, v[0]), yw_aabb_join(path_box(work, v[1]), path_box(work, v[2])));
    box = yw_aabb_join(box, work->triangle_boxes[i]);
  }
  work->leaves.nodes[work->leaves.first_leaf + leaf] = box;
}

void yw_touch_fit(yw_contact_work* work) {
  const yw_complex* c = work->complex;
  const yw_particles* p = work->body->particles;
  memcpy(work->predicted, p->pos, (size_t)p->count * sizeof *p->pos);
  if (c->is_loose) sort_points(work);
  float longest = 0.0f;
  for (int32_t i = 0; i < c->num_vertices; ++i) {
    int32_t particle = work->vertices[i];
    float way =
        yw_length2(yw_sub(yw_touch_path_end(work, particle), yw_touch_begin(work, particle)));
    longest = way > longest ? way : longest;
  }
  work->max_way = sqrtf(longest);
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) fit_leaf(work, leaf);
  yw_box_tree_refit(&work->leaves);
  work->box = c->num_leaves > 0 ? work->leaves.nodes[1] : yw_aabb_empty();
}

// Who owns a contact ----------------------------------------------------------------------------

// A pair under test, with everything known about it.
typedef struct candidate {
  const yw_contact_work* works[2];
  int32_t body[2];
  yw_pair_kind kind;
  int32_t corners[4];
  int32_t primitive[2];  // vertex or edge; triangle or edge
  yw_path4 path;
} candidate;

static yw_vec3 point_of_side(const candidate* c, const yw_vec3 x[4], const float* weights,
                             int side) {
  int split = yw_pair_split(c->kind), first = side ? split : 0, end = side ? 4 : split;
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int k = first; k < end; ++k) sum = yw_mad(sum, weights[k], x[k]);
  return sum;
}

static yw_vec3 place_at(const yw_contact_work* work, int32_t particle, float t) {
  return yw_lerp(yw_touch_begin(work, particle), yw_touch_path_end(work, particle), t);
}

// How far the faces at an edge lie on the wrong side of the plane through p with normal n (pointing
// to their side), as the sine of an angle; *sharp: one lies clearly on the right side.
static float protrusion(const yw_contact_work* work, int32_t edge, yw_vec3 p, yw_vec3 n, float t,
                        bool* sharp) {
  const yw_complex* c = work->complex;
  float worst = -1.0f;
  *sharp = false;
  for (int k = 0; k < 2; ++k) {
    int32_t triangle = c->edge_triangles[edge][k];
    if (triangle < 0) *sharp = true;
    if (triangle < 0) continue;
    int32_t corner = yw_third_corner(c->triangles[triangle], c->edges[edge][0], c->edges[edge][1]);
    yw_vec3 to = yw_sub(place_at(work, corner, t), p);
    float length = yw_length(to), sine = length > 0.0f ? -yw_dot(to, n) / length : 0.0f;
    worst = sine > worst ? sine : worst;
    *sharp = *sharp || sine < -FLAT;
  }
  return worst;
}

// The nearest point of the triangle may be on an edge or a corner that other triangles share.
static bool owns_vertex_contact(const candidate* c, const yw_nearest* near, yw_vec3 n, float t) {
  const yw_complex* complex = c->works[1]->complex;
  int32_t triangle = c->primitive[1], zeros = 0, zero = 0, corner = 0;
  for (int k = 0; k < 3; ++k) {
    bool border = near->weights[1 + k] < BORDER;
    zeros += border;
    if (border) zero = k;
    if (!border) corner = k;
  }
  if (zeros == 0) return true;
  if (zeros == 1) {
    int32_t edge = complex->triangle_edges[triangle][(zero + 1) % 3];
    const int32_t* sides = complex->edge_triangles[edge];
    if (sides[0] != triangle) return false;
    yw_vec3 x[4];
    yw_path_corners(&c->path, t, x);
    bool sharp;
    return protrusion(c->works[1], edge, point_of_side(c, x, near->weights, 1), yw_neg(n), t,
                      &sharp) < FLAT;
  }
  // Two vertices: both bodies find the pair, with the roles exchanged.
  if (complex->triangle_of_vertex[c->corners[1 + corner]] != triangle) return false;
  bool both_find = c->works[0]->complex->num_triangles > 0;
  return !both_find || c->body[0] < c->body[1] ||
         (c->body[0] == c->body[1] && c->corners[0] < c->corners[1 + corner]);
}

// One edge stands for all that meet at a vertex.
static bool stands_for_vertex(const yw_complex* c, int32_t edge, int32_t end) {
  if (c->num_triangles == 0) {
    int32_t next = c->next_edges[edge][end];
    return next < 0 || edge < next;
  }
  int32_t vertex = c->edges[edge][end];
  const int32_t* edges = c->triangle_edges[c->triangle_of_vertex[vertex]];
  for (int k = 0; k < 3; ++k) {
    const int32_t* v = c->edges[edges[k]];
    if (v[0] == vertex || v[1] == vertex) return edges[k] == edge;
  }
  return false;
}

// close: they touch, so that vertices alone do not keep the surfaces apart.
static bool owns_edge_contact(const candidate* c, const yw_nearest* near, yw_vec3 n, float t,
                              bool close) {
  for (int side = 0; side < 2; ++side) {
    const yw_complex* complex = c->works[side]->complex;
    const float* w = near->weights + 2 * side;
    if (w[0] > BORDER && w[1] > BORDER) continue;
    // A vertex near the other's triangle is found as such.
    if (c->works[1 - side]->complex->num_triangles > 0) return false;
    if (!complex->is_loose && !stands_for_vertex(complex, c->primitive[side], w[1] > w[0])) {
      return false;
    }
  }
  if (close || c->works[0]->complex->num_triangles == 0 ||
      c->works[1]->complex->num_triangles == 0) {
    return true;
  }
  yw_vec3 x[4];
  yw_path_corners(&c->path, t, x);
  bool sharp[2];
  float front = protrusion(c->works[0], c->primitive[0], point_of_side(c, x, near->weights, 0), n,
                           t, &sharp[0]);
  float back = protrusion(c->works[1], c->primitive[1], point_of_side(c, x, near->weights, 1),
                          yw_neg(n), t, &sharp[1]);
  return front < FLAT && back < FLAT && (sharp[0] || sharp[1]);
}

// Contacts --------------------------------------------------------------------------------------

// Distance to keep between two primitives, centre to centre.
static float distance_to_keep(const candidate* c, const yw_nearest* near, float skin) {
  int split = yw_pair_split(c->kind);
  float sum = skin;
  for (int k = 0; k < 4; ++k) {
    sum += near->weights[k] * yw_touch_radius(c->works[k < split ? 0 : 1], c->corners[k]);
  }
  const yw_vec3* rest = c->works[0]->body->geometry.rest;
  if (c->works[0] != c->works[1] || !rest || !c->works[0]->body->geometry.radius) return sum;
  yw_vec3 x[4];
  for (int k = 0; k < 4; ++k) x[k] = rest[c->corners[k]];
  float limit = REST_SHARE * yw_nearest_points(c->kind, x).distance;
  return sum < limit ? sum : limit;
}

// Normal of the triangle at the start, or the direction that separates two edges' faces.
static yw_vec3 fallback_normal(const candidate* c) {
  const yw_vec3* x = c->path.begin;
  yw_vec3 n;
  if (c->kind == YW_VERTEX_TRIANGLE) {
    n = yw_cross(yw_sub(x[2], x[1]), yw_sub(x[3], x[1]));
  } else {
    n = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[3], x[2]));
    bool sharp;
    bool triangles = c->works[0]->complex->num_triangles > 0;
    if (triangles && protrusion(c->works[0], c->primitive[0], x[0],
                                yw_normalize_or(n, yw_v3(0, 1, 0)), 0.0f, &sharp) > 0.0f) {
      n = yw_neg(n);
    }
  }
  return yw_normalize_or(n, yw_v3(0, 1, 0));
}

static void append_contact(const candidate* c, const yw_nearest* near, yw_vec3 n, float distance,
                           float skin, yw_contact_list* list) {
  int32_t at = list->num_contacts++;
  if (at >= list->contact_capacity) return;
  int split = yw_pair_split(c->kind);
  yw_contact contact = {.body = {c->body[0], c->body[1]},
                        .count = {split, 4 - split},
                        .normal = n,
                        .distance = distance,
                        .slop = SLOP * skin};
  for (int k = 0; k < 4; ++k) {
    int side = k < split ? 0 : 1, slot = side ? k - split : k;
    contact.particles[side][slot] = c->corners[k];
    contact.weights[side][slot] = near->weights[k];
  }
  yw_vec3 apart = yw_sub(point_of_side(c, c->path.begin, near->weights, 0),
                         point_of_side(c, c->path.begin, near->weights, 1));
  contact.gap_before = yw_dot(n, apart) - distance;
  list->contacts[at] = contact;
}

// Direction between the sides. From the primitives where both nearest points are inside them: it is
// then exact however small the distance.
static yw_vec3 direction(const candidate* c, const yw_vec3 x[4], const yw_nearest* near) {
  yw_vec3 apart = yw_scale(near->apart, 1.0f / near->distance), n;
  for (int k = 0; k < 4; ++k) {
    if (near->weights[k] < BORDER) return apart;
  }
  if (c->kind == YW_VERTEX_TRIANGLE) {
    n = yw_cross(yw_sub(x[2], x[1]), yw_sub(x[3], x[1]));
  } else {
    n = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[3], x[2]));
  }
  n = yw_normalize_or(n, apart);
  return yw_dot(n, near->apart) < 0.0f ? yw_neg(n) : n;
}

// A vertex at the bottom of a concave crease touches both faces, each along its own normal: the
// direction to the edge between them alone would let it slide into either.
static bool lies_in_crease(const candidate* c, const yw_nearest* near, const yw_vec3 x[4], float t,
                           yw_vec3* n) {
  const yw_complex* complex = c->works[1]->complex;
  int32_t triangle = c->primitive[1], zeros = 0, zero = 0;
  for (int k = 0; k < 3; ++k) {
    bool border = near->weights[1 + k] < BORDER;
    zeros += border;
    if (border) zero = k;
  }
  if (zeros != 1) return false;
  int32_t edge = complex->triangle_edges[triangle][(zero + 1) % 3];
  const int32_t* sides = complex->edge_triangles[edge];
  int32_t other = sides[0] == triangle ? sides[1] : sides[0];
  if (other < 0 || other == triangle) return false;
  yw_vec3 face = yw_normalize_or(yw_cross(yw_sub(x[2], x[1]), yw_sub(x[3], x[1])), *n);
  if (yw_dot(face, *n) < 0.0f) face = yw_neg(face);
  int32_t third =
      yw_third_corner(complex->triangles[other], complex->edges[edge][0], complex->edges[edge][1]);
  yw_vec3 to = yw_sub(place_at(c->works[1], third, t), point_of_side(c, x, near->weights, 1));
  if (yw_dot(face, to) < FLAT * yw_length(to)) return false;
  *n = face;
  return true;
}

static void append_pair(const candidate* c, const yw_nearest* near, float keep, float skin,
                        float band, yw_contact_list* list) {
  int32_t at = list->num_pairs++;
  if (at >= list->pair_capacity) return;
  float thick = LEAST_THICKNESS * (keep - skin), least = LEAST_SKIN * skin;
  if (thick > least) least = thick;
  if (!(near->distance > least)) least = near->distance;
  list->pairs[at] =
      (yw_near_pair){.body = {c->body[0], c->body[1]},
                     .corners = {c->corners[0], c->corners[1], c->corners[2], c->corners[3]},
                     .normal = direction(c, c->path.begin, near),
                     .distance = near->distance,
                     .least = least,
                     .kind = (uint8_t)c->kind,
                     .touched = near->distance < keep + band};
}

// Material lies between the vertex and a triangle that faces away.
static bool is_behind(const candidate* c, const yw_nearest* near) {
  if (c->kind != YW_VERTEX_TRIANGLE || !c->works[1]->complex->is_volume) return false;
  for (int k = 1; k < 4; ++k) {
    if (near->weights[k] < BORDER) return false;
  }
  return yw_dot(near->apart, fallback_normal(c)) < 0.0f;
}

static void test_pair(candidate* c, float fall, yw_contact_list* list) {
  const yw_contact_work *a = c->works[0], *b = c->works[1];
  int split = yw_pair_split(c->kind);
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = k < split ? a : b;
    c->path.begin[k] = yw_touch_begin(work, c->corners[k]);
    c->path.end[k] = yw_touch_path_end(work, c->corners[k]);
  }
  yw_nearest start = yw_nearest_points(c->kind, c->path.begin);
  float skin = yw_touch_skin(a, b), keep = distance_to_keep(c, &start, skin);
  float band = BAND * skin + 2.0f * fall, reach = yw_path_reach_stopped(c->kind, &c->path);
  if (start.distance - keep - band > reach + a->margin + b->margin) return;
  bool touching = start.distance < 1e-3f * skin, behind = is_behind(c, &start);
  if (!touching) append_pair(c, &start, keep, skin, band, list);
  if (behind && !touching) return;

  yw_nearest near = start;
  float t = yw_time_of_touch(c->kind, &c->path, keep, SLOP * skin, &near);
  bool apart = t > 1.0f;
  // Not touching, but perhaps so near at the start or at the end that others may press them
  // together.
  if (apart && start.distance > keep + band + reach) return;
  if (apart) t = start.distance < keep + band ? 0.0f : 1.0f;
  yw_vec3 x[4];
  yw_path_corners(&c->path, t, x);
  if (apart) {
    near = t > 0.0f ? yw_nearest_points(c->kind, x) : start;
    if (near.distance > keep + band) return;
  }
  bool flat = touching || near.distance < 1e-3f * skin;
  yw_vec3 n = flat ? fallback_normal(c) : direction(c, x, &near);
  bool owns = c->kind == YW_VERTEX_TRIANGLE
                  ? lies_in_crease(c, &near, x, t, &n) || owns_vertex_contact(c, &near, n, t)
                  : owns_edge_contact(c, &near, n, t, !apart);
  if (owns) append_contact(c, &near, n, keep, skin, list);
}

// Pairs of leaves -------------------------------------------------------------------------------

typedef struct leaf_pair {
  const yw_contact_work *a, *b;
  int32_t body_a, body_b;
  float pad, fall;
} leaf_pair;

static void meet_vertices(const leaf_pair* p, int32_t leaf_a, int32_t leaf_b,
                          yw_contact_list* list) {
  const yw_complex_leaf *la = &p->a->complex->leaves[leaf_a], *lb = &p->b->complex->leaves[leaf_b];
  if (lb[0].triangle == lb[1].triangle) return;
  yw_aabb other = yw_aabb_pad(p->b->leaves.nodes[p->b->leaves.first_leaf + leaf_b], p->pad);
  for (int32_t i = la[0].vertex; i < la[1].vertex; ++i) {
    if (!yw_aabb_overlap(p->a->vertex_boxes[i], other)) continue;
    yw_aabb box = yw_aabb_pad(p->a->vertex_boxes[i], p->pad);
    int32_t v = p->a->vertices[i];
    for (int32_t k = lb[0].triangle; k < lb[1].triangle; ++k) {
      const int32_t* w = p->b->complex->triangles[k];
      if (!yw_aabb_overlap(p->b->triangle_boxes[k], box)) continue;
      if (p->a == p->b && (w[0] == v || w[1] == v || w[2] == v)) continue;
      candidate c = {.works = {p->a, p->b},
                     .body = {p->body_a, p->body_b},
                     .kind = YW_VERTEX_TRIANGLE,
                     .corners = {v, w[0], w[1], w[2]},
                     .primitive = {i, k}};
      test_pair(&c, p->fall, list);
    }
  }
}

static void meet_edges(const leaf_pair* p, int32_t leaf_a, int32_t leaf_b, yw_contact_list* list) {
  const yw_complex_leaf *la = &p->a->complex->leaves[leaf_a], *lb = &p->b->complex->leaves[leaf_b];
  yw_aabb other = yw_aabb_pad(p->b->leaves.nodes[p->b->leaves.first_leaf + leaf_b], p->pad);
  for (int32_t i = la[0].edge; i < la[1].edge; ++i) {
    if (!yw_aabb_overlap(p->a->edge_boxes[i], other)) continue;
    yw_aabb box = yw_aabb_pad(p->a->edge_boxes[i], p->pad);
    const int32_t* v = p->a->edges[i];
    bool same_leaf = p->a == p->b && leaf_a == leaf_b;
    for (int32_t k = same_leaf ? i + 1 : lb[0].edge; k < lb[1].edge; ++k) {
      const int32_t* w = p->b->edges[k];
      if (!yw_aabb_overlap(p->b->edge_boxes[k], box)) continue;
      if (p->a == p->b && (v[0] == w[0] || v[0] == w[1] || v[1] == w[0] || v[1] == w[1])) continue;
      candidate c = {.works = {p->a, p->b},
                     .body = {p->body_a, p->body_b},
                     .kind = YW_EDGE_EDGE,
                     .corners = {v[0], v[1], w[0], w[1]},
                     .primitive = {i, k}};
      test_pair(&c, p->fall, list);
    }
  }
}

static void meet_obstacle(const yw_contact_work* work, const yw_contact_job* job, int32_t obstacle,
                          int32_t vertex, float h, float fall, yw_contact_list* list) {
  const yw_obstacle_set* set = work->body->obstacles;
  int32_t particle = work->vertices[vertex];
  yw_vec3 begin = yw_touch_begin(work, particle), end = yw_touch_path_end(work, particle);
  yw_obstacle_near near = yw_obstacle_seen_from(set, obstacle, end);
  float gap = near.distance - yw_touch_radius(work, particle);
  float skin = yw_touch_skin(work, work), band = BAND * skin + 2.0f * fall;
  if (gap > band) return;
  int32_t at = list->num_contacts++;
  if (at >= list->contact_capacity) return;
  yw_vec3 way = yw_mad(yw_sub(end, begin), -h, near.velocity);
  list->contacts[at] = (yw_contact){.body = {job->a, job->a},
                                    .count = {1, 0},
                                    .particles = {{particle}},
                                    .weights = {{1.0f}},
                                    .normal = near.normal,
                                    .gap_before = gap - yw_dot(way, near.normal),
                                    .obstacle_gap = gap,
                                    .slop = SLOP * skin,
                                    .drift = yw_v4(near.velocity),
                                    .obstacle_friction = set->items[obstacle].friction};
}

static void find_obstacles(const yw_contact_work* work, const yw_contact_job* job, float h,
                           float fall, yw_contact_list* list) {
  const yw_obstacle_set* set = work->body->obstacles;
  float pad = yw_touch_skin(work, work) + 2.0f * fall;
  for (int32_t leaf = job->first; leaf < job->end; ++leaf) {
    const yw_complex_leaf* l = &work->complex->leaves[leaf];
    yw_aabb box = yw_aabb_pad(work->leaves.nodes[work->leaves.first_leaf + leaf], pad);
    yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
    float reach = 0.5f * yw_distance(box.lower, box.upper);
    for (int32_t k = 0; k < set->count; ++k) {
      if (!yw_aabb_overlap(set->items[k].bounds, box)) continue;
      // 5 % margin for sampled or blended distances.
      if (yw_obstacle_seen_from(set, k, center).distance > 1.05f * reach) continue;
      for (int32_t i = l[0].vertex; i < l[1].vertex; ++i) {
        meet_obstacle(work, job, k, i, h, fall, list);
      }
    }
  }
}

void yw_touch_find(const yw_contact_work* works, const yw_contact_job* job, float h, float fall,
                   yw_contact_list* list) {
  const yw_contact_work *a = &works[job->a], *b = &works[job->b];
  if (job->obstacles) {
    find_obstacles(a, job, h, fall, list);
    return;
  }
  leaf_pair forth = {a, b, job->a, job->b, a->margin + b->margin, fall};
  forth.pad += (1.0f + BAND) * yw_touch_skin(a, b) + 2.0f * fall;
  leaf_pair back = {b, a, job->b, job->a, forth.pad, fall};
  for (int32_t leaf = job->first; leaf < job->end; ++leaf) {
    yw_aabb box = yw_aabb_pad(a->leaves.nodes[a->leaves.first_leaf + leaf], forth.pad);
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      if (a == b && other < leaf) continue;
      meet_vertices(&forth, leaf, other, list);
      if (a != b || leaf != other) meet_vertices(&back, other, leaf, list);
      meet_edges(&forth, leaf, other, list);
    }
  }
}
