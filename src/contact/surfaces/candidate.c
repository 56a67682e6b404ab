// SPDX-License-Identifier: MIT
// Paths over the substep are straight, so pairs of primitives are tested as they move: the contact
// point, its weights and its normal are those of the moment of touch. Where two neighbours find the
// same contact (on an edge or a corner that they share), one of them owns it.
#include "contact/surfaces/candidate.h"

#include <string.h>

#include "contact/surfaces/cone.h"

// Who owns a contact ----------------------------------------------------------------------------

static yw_vec3 point_of_side(const yw_candidate* c, const yw_vec3 x[4], const float* weights,
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
// to their side), as the sine of an angle.
static float protrusion(const yw_contact_work* work, int32_t edge, yw_vec3 p, yw_vec3 n, float t) {
  const yw_complex* c = work->complex;
  float worst = -1.0f;
  for (int k = 0; k < 2; ++k) {
    int32_t triangle = c->edge_triangles[edge][k];
    if (triangle < 0) continue;
    int32_t corner = c->edge_thirds[edge][k];
    yw_vec3 to = yw_sub(place_at(work, corner, t), p);
    float length = yw_length(to), sine = length > 0.0f ? -yw_dot(to, n) / length : 0.0f;
    worst = sine > worst ? sine : worst;
  }
  return worst;
}

// The nearest point of the triangle may be on an edge or a corner that other triangles share.
static bool owns_vertex_contact(const yw_candidate* c, const yw_nearest* near, yw_vec3 n, float t) {
  const yw_complex* complex = c->works[1]->complex;
  int32_t triangle = c->primitive[1], zeros = 0, zero = 0, corner = 0;
  for (int k = 0; k < 3; ++k) {
    bool border = near->weights[1 + k] < YW_BORDER;
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
    yw_vec3 p = point_of_side(c, x, near->weights, 1);
    return protrusion(c->works[1], edge, p, yw_neg(n), t) < YW_FLAT;
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

static bool owns_edge_contact(const yw_candidate* c, const yw_nearest* near) {
  for (int side = 0; side < 2; ++side) {
    const yw_complex* complex = c->works[side]->complex;
    const float* w = near->weights + 2 * side;
    if (w[0] > YW_BORDER && w[1] > YW_BORDER) continue;
    // A vertex near the other's triangle is found as such.
    if (c->works[1 - side]->complex->num_triangles > 0) return false;
    if (!complex->is_loose && !stands_for_vertex(complex, c->primitive[side], w[1] > w[0])) {
      return false;
    }
  }
  return true;
}

// True when the faces at an edge lie behind it, as seen along n (pointing to their side), by more
// than `least` in metres or clearly on one side.
static bool stands_out(const yw_contact_work* work, int32_t edge, yw_vec3 p, yw_vec3 n, float t,
                       float least) {
  const yw_complex* c = work->complex;
  bool sharp = false;
  float height = INFINITY;
  for (int k = 0; k < 2; ++k) {
    int32_t triangle = c->edge_triangles[edge][k];
    sharp = sharp || triangle < 0;
    if (triangle < 0) continue;
    int32_t corner = c->edge_thirds[edge][k];
    yw_vec3 to = yw_sub(place_at(work, corner, t), p);
    float along = yw_dot(to, n);
    bool clear = along * along > YW_FLAT * YW_FLAT * yw_length2(to);
    if (clear && along < 0.0f) return false;
    sharp = sharp || clear;
    height = along < height ? along : height;
  }
  return sharp || height > least;
}

// The gap between two surfaces is least where vertices meet faces, or where two edges cross that
// both stand out. Other crossings are as far apart as the vertices around them, to within `least`.
static bool both_stand_out(const yw_candidate* c, const yw_nearest* near, yw_vec3 n, float t,
                           float least) {
  yw_vec3 x[4];
  yw_path_corners(&c->path, t, x);
  for (int side = 0; side < 2; ++side) {
    if (c->works[side]->complex->num_triangles == 0) continue;
    yw_vec3 p = point_of_side(c, x, near->weights, side);
    if (!stands_out(c->works[side], c->primitive[side], p, side ? yw_neg(n) : n, t, least)) {
      return false;
    }
  }
  return true;
}

// Contacts --------------------------------------------------------------------------------------

// Distance to keep between two primitives, centre to centre.
static float distance_to_keep(const yw_candidate* c, const yw_nearest* near, float skin) {
  int split = yw_pair_split(c->kind);
  float sum = skin;
  for (int k = 0; k < 4; ++k) {
    sum += near->weights[k] * yw_touch_radius(c->works[k < split ? 0 : 1], c->corners[k]);
  }
  const yw_vec3* rest = c->works[0]->body->geometry.rest;
  if (c->works[0] != c->works[1] || !rest || !c->works[0]->body->geometry.radius) return sum;
  float far = yw_far_at_rest(c->works[0]->complex, sum);
  yw_vec3 apart = yw_sub(rest[c->corners[0]], rest[c->corners[split]]);
  if (yw_length2(apart) > far * far) return sum;
  yw_vec3 x[4];
  for (int k = 0; k < 4; ++k) x[k] = rest[c->corners[k]];
  float limit = YW_REST_SHARE * yw_nearest_points(c->kind, x).distance;
  return sum < limit ? sum : limit;
}

// Normal of the triangle at the start, or the direction that separates two edges' faces.
static yw_vec3 fallback_normal(const yw_candidate* c) {
  const yw_vec3* x = c->path.begin;
  yw_vec3 n;
  if (c->kind == YW_VERTEX_TRIANGLE) {
    n = yw_cross(yw_sub(x[2], x[1]), yw_sub(x[3], x[1]));
  } else {
    n = yw_cross(yw_sub(x[1], x[0]), yw_sub(x[3], x[2]));
    bool triangles = c->works[0]->complex->num_triangles > 0;
    if (triangles && protrusion(c->works[0], c->primitive[0], x[0],
                                yw_normalize_or(n, yw_v3(0, 1, 0)), 0.0f) > 0.0f) {
      n = yw_neg(n);
    }
  }
  return yw_normalize_or(n, yw_v3(0, 1, 0));
}

static void append_contact(const yw_candidate* c, const yw_nearest* near, yw_vec3 n, float distance,
                           float skin, yw_contact_list* list) {
  int32_t at = list->num_contacts++;
  if (at >= list->contact_capacity) return;
  int split = yw_pair_split(c->kind);
  yw_contact contact = {.body = {c->body[0], c->body[1]},
                        .count = {split, 4 - split},
                        .normal = n,
                        .distance = distance,
                        .slop = YW_TOUCH_SLOP * skin};
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

static void append_spare(const yw_candidate* c, const yw_nearest* near, yw_vec3 n, float distance,
                         yw_contact_list* list) {
  int32_t at = list->num_spares++;
  if (at >= list->spare_capacity) return;
  yw_contact_spare spare = {
      .shares = {near->weights[1], near->weights[3]}, .normal = n, .distance = distance};
  memcpy(spare.corners, c->corners, sizeof spare.corners);
  yw_vec3 apart = yw_sub(point_of_side(c, c->path.begin, near->weights, 0),
                         point_of_side(c, c->path.begin, near->weights, 1));
  spare.gap_before = yw_dot(n, apart) - distance;
  list->spares[at] = spare;
}

// Direction between the sides. From the primitives where both nearest points are inside them: it is
// then exact however small the distance.
static yw_vec3 direction(const yw_candidate* c, const yw_vec3 x[4], const yw_nearest* near) {
  yw_vec3 apart = yw_scale(near->apart, 1.0f / near->distance), n;
  for (int k = 0; k < 4; ++k) {
    if (near->weights[k] < YW_BORDER) return apart;
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
static bool lies_in_crease(const yw_candidate* c, const yw_nearest* near, const yw_vec3 x[4],
                           float t, yw_vec3* n) {
  const yw_complex* complex = c->works[1]->complex;
  int32_t triangle = c->primitive[1], zeros = 0, zero = 0;
  for (int k = 0; k < 3; ++k) {
    bool border = near->weights[1 + k] < YW_BORDER;
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
  int32_t third = complex->edge_thirds[edge][sides[0] == triangle ? 1 : 0];
  yw_vec3 to = yw_sub(place_at(c->works[1], third, t), point_of_side(c, x, near->weights, 1));
  if (yw_dot(face, to) < YW_FLAT * yw_length(to)) return false;
  // Seen from beside a convex edge, above one of its faces, only the other face seems to rise.
  yw_vec3 back = yw_sub(x[1 + zero], point_of_side(c, x, near->weights, 1));
  yw_vec3 side = yw_cross(to, yw_sub(x[1 + (zero + 1) % 3], x[1 + (zero + 2) % 3]));
  if (yw_dot(side, *n) * yw_dot(side, back) < 0.0f) return false;
  *n = face;
  return true;
}

// Distance that must remain between two primitives.
static float least_distance(const yw_candidate* c, const yw_nearest* near, float keep, float skin) {
  float thick = keep > skin ? keep - skin : 0.0f,
        least = yw_guarded_distance(c->works, thick, skin);
  return near->distance > least ? least : near->distance;
}

static void append_pair(const yw_candidate* c, const yw_nearest* near, float keep, float skin,
                        yw_contact_list* list) {
  int32_t at = list->num_pairs++;
  if (at >= list->pair_capacity) return;
  list->pairs[at] =
      (yw_near_pair){.body = {c->body[0], c->body[1]},
                     .corners = {c->corners[0], c->corners[1], c->corners[2], c->corners[3]},
                     .normal = direction(c, c->path.begin, near),
                     .distance = near->distance,
                     .least = least_distance(c, near, keep, skin),
                     .kind = (uint8_t)c->kind};
}

// Material lies between the vertex and a triangle that faces away.
static bool is_behind(const yw_candidate* c, const yw_nearest* near) {
  if (c->kind != YW_VERTEX_TRIANGLE || !c->works[1]->complex->is_volume) return false;
  for (int k = 1; k < 4; ++k) {
    if (near->weights[k] < YW_BORDER) return false;
  }
  return yw_dot(near->apart, fallback_normal(c)) < 0.0f;
}

static void note_hit(const yw_candidate* c, yw_contact_list* list) {
  list->need = YW_TOUCH_HIT;
  int32_t last = list->num_hits - 1;
  bool known = last >= 0 && last < YW_TOUCH_MAX_HITS && list->hits[last][0] == c->body[0] &&
               list->hits[last][1] == c->body[1];
  if (known || list->num_hits > YW_TOUCH_MAX_HITS) return;
  if (++last < YW_TOUCH_MAX_HITS) memcpy(list->hits[last], c->body, sizeof c->body);
  ++list->num_hits;
}

// Raises the need if the pair is not known to stay apart.
static void look_at_pair(const yw_candidate* c, const yw_nearest* start, float keep, float skin,
                         float fall, yw_contact_list* list) {
  float least = least_distance(c, start, keep, skin);
  yw_vec3 normal = direction(c, c->path.begin, start);
  if (yw_path_stays_apart(c->kind, &c->path, normal, least)) return;
  bool touched = start->distance < keep + yw_contact_band(skin, fall);
  append_pair(c, start, keep, skin, list);
  if (!touched) note_hit(c, list);
  if (list->need == YW_TOUCH_NOTHING) list->need = YW_TOUCH_PRESSED;
}

// Time of touch of a pair that does not move far: a few steps along the present speed of approach
// suffice. As yw_time_of_touch, but may miss a grazing touch; the guard looks at these.
static float quick_time_of_touch(const yw_candidate* c, float distance, float slack,
                                 yw_nearest* near) {
  float t = 0.0f;
  for (int step = 0; step < YW_QUICK_STEPS; ++step) {
    float gap = near->distance - distance;
    if (gap <= slack) return t;
    yw_vec3 way = yw_v3(0, 0, 0);
    for (int k = 0; k < 4; ++k) {
      float weight = k < yw_pair_split(c->kind) ? near->weights[k] : -near->weights[k];
      way = yw_mad(way, weight, yw_sub(c->path.end[k], c->path.begin[k]));
    }
    float speed = -yw_dot(way, near->apart) / near->distance;
    if (!(gap < (1.0f - t) * speed)) return 2.0f;
    t += gap / speed;
    yw_vec3 x[4], before = near->apart;
    yw_path_corners(&c->path, t, x);
    *near = yw_nearest_points(c->kind, x);
    // Turned too far: perhaps they have passed each other.
    if (!(yw_dot(before, near->apart) > 0.5f * near->distance * yw_length(before))) return -1.0f;
  }
  return t;
}

// 0 if the nearest points at the start come within a distance, 2 otherwise.
static float time_from_start(const yw_candidate* c, const yw_nearest* start, float distance) {
  yw_vec3 apart = yw_sub(point_of_side(c, c->path.end, start->weights, 0),
                         point_of_side(c, c->path.end, start->weights, 1));
  return yw_dot(apart, start->apart) < distance * start->distance ? 0.0f : 2.0f;
}

// near: the nearest points then, if that is after the start and in this substep.
static float time_of_touch(const yw_candidate* c, const yw_nearest* start, float distance,
                           float band, float slack, yw_nearest* near) {
  if (start->distance - distance <= slack) return 0.0f;
  if (yw_path_reach(c->kind, &c->path) < YW_SLOW_PAIR * yw_touch_skin(c->works[0], c->works[1])) {
    // What is near at the start touches there, to within that distance.
    if (start->distance < distance + band) return time_from_start(c, start, distance + slack);
    *near = *start;
    float t = c->turns ? -1.0f : quick_time_of_touch(c, distance, slack, near);
    if (t >= 0.0f) return t;
  }
  *near = *start;
  return yw_time_of_touch(c->kind, &c->path, distance, slack, near);
}

// What is nearest to a vertex may lie within a flat face, or be an edge that it has just passed.
// Turns n into a direction in which both sides can touch; false where there is none near it.
static bool vertex_can_touch(const yw_candidate* c, const yw_nearest* near, const yw_vec3 x[4],
                             float t, yw_vec3* n) {
  const yw_contact_work* other = c->works[1];
  int zeros = 0, zero = 0, corner = 0;
  for (int k = 0; k < 3; ++k) {
    bool border = near->weights[1 + k] < YW_BORDER;
    zeros += border;
    if (border) zero = k;
    if (!border) corner = k;
  }
  if (zeros == 0) return true;
  int32_t edge = other->complex->triangle_edges[c->primitive[1]][(zero + 1) % 3];
  yw_vec3 p = point_of_side(c, x, near->weights, 1);
  if (zeros == 1 && !yw_cone_of_edge(other, edge, p, t, n)) return false;
  if (zeros == 2 && !yw_cone_of_vertex(other, c->corners[1 + corner], t, n)) return false;
  yw_vec3 back = yw_neg(*n);
  if (!yw_cone_of_vertex(c->works[0], c->corners[0], t, &back)) return false;
  *n = yw_neg(back);
  return true;
}

// Edges that cross have one direction only. Parallel ones have many, and within a flat face only
// its normal is one of these. Rods are round, and touch whatever is nearest.
static bool edges_cross(const yw_nearest* near, const yw_vec3 x[4]) {
  for (int k = 0; k < 4; ++k) {
    if (!(near->weights[k] > YW_BORDER)) return false;
  }
  yw_vec3 u = yw_sub(x[1], x[0]), v = yw_sub(x[3], x[2]);
  return yw_length2(yw_cross(u, v)) > YW_PARALLEL * YW_PARALLEL * yw_length2(u) * yw_length2(v);
}

static bool edges_can_touch(const yw_candidate* c, const yw_nearest* near, const yw_vec3 x[4],
                            float t, yw_vec3* n) {
  bool round = c->works[0]->complex->num_triangles == 0 || c->works[1]->complex->num_triangles == 0;
  bool given = round || edges_cross(near, x);
  for (int side = 0; side < 2; ++side) {
    yw_vec3 away = side ? *n : yw_neg(*n), p = point_of_side(c, x, near->weights, side);
    if (!yw_cone_of_edge(c->works[side], c->primitive[side], p, t, &away)) return false;
    if (!given) *n = side ? away : yw_neg(away);
  }
  return true;
}

static void find_contact(yw_candidate* c, const yw_nearest* start, float keep, float skin,
                         float fall, yw_contact_list* list) {
  bool touching = start->distance < 1e-3f * skin;
  if (!touching && is_behind(c, start)) return;
  float band = yw_contact_band(skin, fall);
  // Copied only where it changes: it was written number by number just now.
  const yw_nearest* near = start;
  yw_nearest then;
  float t = time_of_touch(c, start, keep, band, YW_TOUCH_SLOP * skin, &then);
  // Not touching, but perhaps so near at the start or at the end that others may press them
  // together.
  bool apart = t > 1.0f;
  if (apart) t = start->distance < keep + band ? 0.0f : 1.0f;
  yw_vec3 x[4];
  yw_path_corners(&c->path, t, x);
  if (apart && t > 0.0f) then = yw_nearest_points(c->kind, x);
  if (t > 0.0f) near = &then;
  if (apart && near->distance > keep + band) return;
  if (c->kind == YW_EDGE_EDGE && !owns_edge_contact(c, near)) return;
  bool flat = touching || near->distance < 1e-3f * skin;
  yw_vec3 n = flat ? fallback_normal(c) : direction(c, x, near);
  if (c->kind == YW_VERTEX_TRIANGLE) {
    bool touches =
        lies_in_crease(c, near, x, t, &n) ||
        (owns_vertex_contact(c, near, n, t) && (flat || vertex_can_touch(c, near, x, t, &n)));
    if (touches) append_contact(c, near, n, keep, skin, list);
  } else if (!flat && !edges_can_touch(c, near, x, t, &n)) {
    return;
  } else if (flat || both_stand_out(c, near, n, t, YW_RIDGE * skin)) {
    append_contact(c, near, n, keep, skin, list);
  } else if (!apart) {
    append_spare(c, near, n, keep, list);
  }
}

void yw_candidate_test(yw_candidate* c, const yw_nearest* start, const yw_touch_step* step,
                       yw_contact_list* list) {
  const yw_contact_work *a = c->works[0], *b = c->works[1];
  int split = yw_pair_split(c->kind);
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = k < split ? a : b;
    c->path.begin[k] = yw_touch_begin(work, c->corners[k]);
    c->path.end[k] = yw_touch_path_end(work, c->corners[k]);
  }
  float skin = yw_touch_skin(a, b), keep = distance_to_keep(c, start, skin);
  if (step->mode == YW_TOUCH_CONTACTS) {
    find_contact(c, start, keep, skin, step->fall, list);
  } else if (start->distance < 1e-3f * skin) {
    return;  // crossed at the start
  } else if (step->mode == YW_TOUCH_LOOK) {
    look_at_pair(c, start, keep, skin, step->fall, list);
  } else {
    append_pair(c, start, keep, skin, list);
  }
}
