// SPDX-License-Identifier: MIT
// Narrow phase. Paths over the substep are straight, so pairs of primitives are tested as they
// move: the contact point, its weights and its normal are those of the moment of touch. Where two
// neighbours find the same contact (on an edge or a corner that they share), one of them owns it.
#include "contact/surfaces/touch.h"

#include <string.h>

#include "contact/obstacles.h"

// Gap beyond which a contact is not considered, in skins.
#define BAND 0.5f
// Guarded distances: of thin surfaces as a share of the skin, of thick ones as a share of
// thickness.
#define LEAST_SKIN 0.05f
#define LEAST_THICKNESS 0.8f
// Primitives of one body are kept at most this share of their distance at rest apart.
#define REST_SHARE 0.9f
// Sine of the angle by which faces may protrude over the plane between two edges; edges of surfaces
// less flat than this stand out.
#define FLAT 0.02f
// Edges that stand out less than this, in skins, leave the contact to vertices.
#define RIDGE 0.25f
// Pairs that move less than this relative to each other, in skins, are taken as at the start.
#define SLOW 125.0f
// Weights below this are on the border of a triangle or segment.
#define BORDER 1e-4f

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
// to their side), as the sine of an angle.
static float protrusion(const yw_contact_work* work, int32_t edge, yw_vec3 p, yw_vec3 n, float t) {
  const yw_complex* c = work->complex;
  float worst = -1.0f;
  for (int k = 0; k < 2; ++k) {
    int32_t triangle = c->edge_triangles[edge][k];
    if (triangle < 0) continue;
    int32_t corner = yw_third_corner(c->triangles[triangle], c->edges[edge][0], c->edges[edge][1]);
    yw_vec3 to = yw_sub(place_at(work, corner, t), p);
    float length = yw_length(to), sine = length > 0.0f ? -yw_dot(to, n) / length : 0.0f;
    worst = sine > worst ? sine : worst;
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
    yw_vec3 p = point_of_side(c, x, near->weights, 1);
    return protrusion(c->works[1], edge, p, yw_neg(n), t) < FLAT;
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

static bool owns_edge_contact(const candidate* c, const yw_nearest* near) {
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
    int32_t corner = yw_third_corner(c->triangles[triangle], c->edges[edge][0], c->edges[edge][1]);
    yw_vec3 to = yw_sub(place_at(work, corner, t), p);
    float along = yw_dot(to, n), flat = FLAT * yw_length(to);
    if (along < -flat) return false;
    sharp = sharp || along > flat;
    height = along < height ? along : height;
  }
  return sharp || height > least;
}

// The gap between two surfaces is least where vertices meet faces, or where two edges cross that
// both stand out. Other crossings are as far apart as the vertices around them, to within `least`.
static bool both_stand_out(const candidate* c, const yw_nearest* near, yw_vec3 n, float t,
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
    bool triangles = c->works[0]->complex->num_triangles > 0;
    if (triangles && protrusion(c->works[0], c->primitive[0], x[0],
                                yw_normalize_or(n, yw_v3(0, 1, 0)), 0.0f) > 0.0f) {
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

static void append_spare(const candidate* c, const yw_nearest* near, yw_vec3 n, float distance,
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

// Distance that must remain between two primitives.
static float least_distance(const yw_nearest* near, float keep, float skin) {
  float thick = LEAST_THICKNESS * (keep - skin), least = LEAST_SKIN * skin;
  if (thick > least) least = thick;
  return near->distance > least ? least : near->distance;
}

static void append_pair(const candidate* c, const yw_nearest* near, float keep, float skin,
                        yw_contact_list* list) {
  int32_t at = list->num_pairs++;
  if (at >= list->pair_capacity) return;
  list->pairs[at] =
      (yw_near_pair){.body = {c->body[0], c->body[1]},
                     .corners = {c->corners[0], c->corners[1], c->corners[2], c->corners[3]},
                     .normal = direction(c, c->path.begin, near),
                     .distance = near->distance,
                     .least = least_distance(near, keep, skin),
                     .kind = (uint8_t)c->kind};
}

// Material lies between the vertex and a triangle that faces away.
static bool is_behind(const candidate* c, const yw_nearest* near) {
  if (c->kind != YW_VERTEX_TRIANGLE || !c->works[1]->complex->is_volume) return false;
  for (int k = 1; k < 4; ++k) {
    if (near->weights[k] < BORDER) return false;
  }
  return yw_dot(near->apart, fallback_normal(c)) < 0.0f;
}

static float contact_band(float skin, float fall) { return BAND * skin + 2.0f * fall; }

static void note_hit(const candidate* c, yw_contact_list* list) {
  list->need = YW_TOUCH_HIT;
  int32_t last = list->num_hits - 1;
  bool known = last >= 0 && last < YW_TOUCH_MAX_HITS && list->hits[last][0] == c->body[0] &&
               list->hits[last][1] == c->body[1];
  if (known || list->num_hits > YW_TOUCH_MAX_HITS) return;
  if (++last < YW_TOUCH_MAX_HITS) memcpy(list->hits[last], c->body, sizeof c->body);
  ++list->num_hits;
}

// Raises the need if the pair is not known to stay apart.
static void look_at_pair(const candidate* c, const yw_nearest* start, float keep, float skin,
                         float fall, yw_contact_list* list) {
  float least = least_distance(start, keep, skin);
  yw_vec3 normal = direction(c, c->path.begin, start);
  if (yw_path_stays_apart(c->kind, &c->path, normal, least)) return;
  bool touched = start->distance < keep + contact_band(skin, fall);
  if (!touched) note_hit(c, list);
  if (list->need == YW_TOUCH_NOTHING) list->need = YW_TOUCH_PRESSED;
}

// Near at the start, and not moving far: where they would touch is where they are nearest now.
static bool meets_at_start(const candidate* c, const yw_nearest* start, float keep, float band,
                           float skin) {
  if (!(start->distance < keep + band)) return false;
  return yw_path_reach(c->kind, &c->path) < SLOW * skin;
}

// 0 if the nearest points at the start come within a distance, 2 otherwise.
static float time_from_start(const candidate* c, const yw_nearest* start, float distance) {
  if (start->distance <= distance) return 0.0f;
  yw_vec3 apart = yw_sub(point_of_side(c, c->path.end, start->weights, 0),
                         point_of_side(c, c->path.end, start->weights, 1));
  return yw_dot(apart, start->apart) < distance * start->distance ? 0.0f : 2.0f;
}

static void find_contact(candidate* c, const yw_nearest* start, float keep, float skin, float fall,
                         yw_contact_list* list) {
  bool touching = start->distance < 1e-3f * skin;
  if (!touching && is_behind(c, start)) return;
  float band = contact_band(skin, fall);
  yw_nearest near = *start;
  float t = meets_at_start(c, start, keep, band, skin)
                ? time_from_start(c, start, keep + YW_TOUCH_SLOP * skin)
                : yw_time_of_touch(c->kind, &c->path, keep, YW_TOUCH_SLOP * skin, &near);
  // Not touching, but perhaps so near at the start or at the end that others may press them
  // together.
  bool apart = t > 1.0f;
  if (apart) t = start->distance < keep + band ? 0.0f : 1.0f;
  yw_vec3 x[4];
  yw_path_corners(&c->path, t, x);
  if (apart) {
    near = t > 0.0f ? yw_nearest_points(c->kind, x) : *start;
    if (near.distance > keep + band) return;
  }
  bool flat = touching || near.distance < 1e-3f * skin;
  yw_vec3 n = flat ? fallback_normal(c) : direction(c, x, &near);
  if (c->kind == YW_VERTEX_TRIANGLE) {
    if (lies_in_crease(c, &near, x, t, &n) || owns_vertex_contact(c, &near, n, t)) {
      append_contact(c, &near, n, keep, skin, list);
    }
  } else if (owns_edge_contact(c, &near)) {
    if (flat || both_stand_out(c, &near, n, t, RIDGE * skin)) {
      append_contact(c, &near, n, keep, skin, list);
    } else if (!apart) {
      append_spare(c, &near, n, keep, list);
    }
  }
}

static void test_pair(candidate* c, const yw_nearest* start, const yw_touch_step* step,
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

// Pairs of leaves -------------------------------------------------------------------------------

// Pairs of one kind between two bodies, tested in lanes when enough have come together.
#define ENOUGH 240
#define ROOM (ENOUGH + YW_NEAR_LEAF_MAX * YW_NEAR_LEAF_MAX)
typedef struct pair_search {
  const yw_touch_step* step;
  const yw_contact_work* works[2];
  int32_t body[2];
  yw_pair_kind kind;
  float pad;
  yw_contact_list* list;
  int32_t count;
  int32_t (*pairs)[2];  // ROOM of them
} pair_search;

static void corners_of(const pair_search* s, const int32_t pair[2], int32_t corners[4]) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  if (s->kind == YW_VERTEX_TRIANGLE) {
    corners[0] = a->vertices[pair[0]];
    for (int k = 0; k < 3; ++k) corners[1 + k] = b->complex->triangles[pair[1]][k];
  } else {
    for (int k = 0; k < 2; ++k) {
      corners[k] = a->edges[pair[0]][k];
      corners[2 + k] = b->edges[pair[1]][k];
    }
  }
}

// Distances below which a pair of these bodies has to be looked at, see yw_near_lanes.
static float needed_distance(const pair_search* s) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  float skin = yw_touch_skin(a, b), thick = a->max_radius + b->max_radius;
  if (s->step->mode == YW_TOUCH_CONTACTS) return thick + skin + contact_band(skin, s->step->fall);
  float least = LEAST_SKIN * skin;
  if (LEAST_THICKNESS * thick > least) least = LEAST_THICKNESS * thick;
  return s->step->mode == YW_TOUCH_PAIRS ? least + a->margin + b->margin : least;
}

static void test_lanes(const pair_search* s, yw_near_lanes* lanes, int32_t first, int32_t count) {
  for (int32_t i = 0; i < YW_LANES; ++i) {
    int32_t corners[4];
    corners_of(s, s->pairs[i < count ? first + i : first], corners);
    for (int k = 0; k < 4; ++k) lanes->corners[k][i] = corners[k];
  }
  uint32_t near = s->step->near->test(lanes);
  if (count < YW_LANES) near &= (1u << count) - 1;
  for (; near != 0; near &= near - 1) {
    int32_t i = __builtin_ctz(near);
    candidate c = {.works = {s->works[0], s->works[1]},
                   .body = {s->body[0], s->body[1]},
                   .kind = s->kind,
                   .primitive = {s->pairs[first + i][0], s->pairs[first + i][1]}};
    yw_nearest start = {.apart = yw_v3(lanes->apart[0][i], lanes->apart[1][i], lanes->apart[2][i]),
                        .distance = lanes->distance[i]};
    for (int k = 0; k < 4; ++k) {
      c.corners[k] = lanes->corners[k][i];
      start.weights[k] = lanes->weights[k][i];
    }
    test_pair(&c, &start, s->step, s->list);
  }
}

static void test_all(pair_search* s) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  yw_near_lanes lanes = {
      .kind = s->kind,
      .question = s->step->mode == YW_TOUCH_PAIRS ? YW_NEAR_STOPPED : YW_NEAR_MOVING,
      .prove = s->step->mode != YW_TOUCH_PAIRS,
      .needed = needed_distance(s),
      .begin = {a->body->begin, b->body->begin},
      .end = {a->predicted, b->predicted}};
  for (int32_t first = 0; first < s->count; first += YW_LANES) {
    int32_t left = s->count - first;
    test_lanes(s, &lanes, first, left < YW_LANES ? left : YW_LANES);
  }
  s->count = 0;
}

static bool share_corner(const pair_search* s, const int32_t pair[2]) {
  int32_t v[4];
  corners_of(s, pair, v);
  if (s->kind == YW_VERTEX_TRIANGLE) return v[0] == v[1] || v[0] == v[2] || v[0] == v[3];
  return v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3];
}

static void meet_leaves(pair_search* s, int32_t leaf_a, int32_t leaf_b) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  const yw_complex_leaf *la = &a->complex->leaves[leaf_a], *lb = &b->complex->leaves[leaf_b];
  yw_near_leaves leaves = {.box_a = a->leaves.nodes[a->leaves.first_leaf + leaf_a],
                           .box_b = b->leaves.nodes[b->leaves.first_leaf + leaf_b],
                           .pad = s->pad};
  if (s->kind == YW_VERTEX_TRIANGLE) {
    leaves.a = &a->vertex_boxes, leaves.b = &b->triangle_boxes;
    leaves.first_a = la[0].vertex, leaves.end_a = la[1].vertex;
    leaves.first_b = lb[0].triangle, leaves.end_b = lb[1].triangle;
  } else {
    leaves.a = &a->edge_boxes, leaves.b = &b->edge_boxes;
    leaves.first_a = la[0].edge, leaves.end_a = la[1].edge;
    leaves.first_b = lb[0].edge, leaves.end_b = lb[1].edge;
    leaves.same = a == b && leaf_a == leaf_b;
  }
  int32_t found = s->step->near->meet(&leaves, s->pairs + s->count);
  if (a != b) s->count += found;
  for (int32_t i = 0, old = s->count; i < found && a == b; ++i) {
    if (share_corner(s, s->pairs[old + i])) continue;
    memcpy(s->pairs[s->count++], s->pairs[old + i], sizeof s->pairs[0]);
  }
  if (s->count >= ENOUGH) test_all(s);
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
                                    .slop = YW_TOUCH_SLOP * skin,
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

// Distance between the boxes of primitives that have to be looked at.
static float box_distance(const yw_touch_step* step, const yw_contact_work* a,
                          const yw_contact_work* b) {
  float skin = yw_touch_skin(a, b);
  if (step->mode == YW_TOUCH_CONTACTS) return skin + contact_band(skin, step->fall);
  return LEAST_SKIN * skin + (step->mode == YW_TOUCH_PAIRS ? a->margin + b->margin : 0.0f);
}

static void search_leaves(const yw_contact_work* works, const yw_contact_job* job,
                          const yw_touch_step* step, yw_contact_list* list) {
  const yw_contact_work *a = &works[job->a], *b = &works[job->b];
  int32_t pairs[3][ROOM][2];
  pair_search forth = {.step = step,
                       .works = {a, b},
                       .body = {job->a, job->b},
                       .kind = YW_VERTEX_TRIANGLE,
                       .pad = box_distance(step, a, b),
                       .list = list,
                       .pairs = pairs[0]};
  pair_search back = forth, edges = forth;
  back.works[0] = b, back.works[1] = a;
  back.body[0] = job->b, back.body[1] = job->a;
  back.pairs = pairs[1];
  edges.kind = YW_EDGE_EDGE;
  edges.pairs = pairs[2];
  for (int32_t leaf = job->first; leaf < job->end; ++leaf) {
    yw_aabb box = yw_aabb_pad(a->leaves.nodes[a->leaves.first_leaf + leaf], forth.pad);
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      if (a == b && other < leaf) continue;
      meet_leaves(&forth, leaf, other);
      if (a != b || leaf != other) meet_leaves(&back, other, leaf);
      meet_leaves(&edges, leaf, other);
    }
  }
  test_all(&forth);
  test_all(&back);
  test_all(&edges);
}

void yw_touch_find(const yw_contact_work* works, yw_contact_job* job, const yw_touch_step* step,
                   yw_contact_list* list) {
  job->first_contact = list->num_contacts;
  job->first_spare = list->num_spares;
  if (job->obstacles) {
    find_obstacles(&works[job->a], job, step->h, step->fall, list);
  } else {
    search_leaves(works, job, step, list);
  }
  job->num_contacts = list->num_contacts - job->first_contact;
  job->num_spares = list->num_spares - job->first_spare;
  list->num_contacts += job->num_spares;
}
