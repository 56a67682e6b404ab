// SPDX-License-Identifier: MIT
// Which primitives of two bodies may meet: leaves whose boxes meet, then boxes of primitives, then
// distances in lanes. What is left is looked at one by one (candidate.c).
#include "contact/surfaces/touch.h"

#include <string.h>

#include "contact/obstacles.h"
#include "contact/surfaces/aside.h"
#include "contact/surfaces/candidate.h"
#include "contact/surfaces/cone.h"
#include "contact/surfaces/leaf_boxes.h"
#include "contact/surfaces/patches.h"
#include "contact/surfaces/sheets.h"
#include "contact/surfaces/sift.h"

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
  int32_t number;
  int32_t count;
  int32_t (*pairs)[2];  // ROOM of them
  bool keeps_only;      // nothing of it is a contact
  yw_sheet_slab* slab;  // of the leaf of a sheet that was looked at last
} pair_search;

// Leaves of a body that are looked at one after another.
#define FEW_LEAVES 8

// Searches of a job: vertices of a, vertices of b, edges, and flat edges of sheets, whose pairs are
// kept as those of other edges. Or nothing but the leaves of these is kept.
enum { FORTH, BACK, EDGES, FLAT, NUM_SEARCHES, LEAVES = FLAT };
#define SEARCH_BITS 2

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

// Distance that must remain between primitives of these bodies.
static float guarded_distance(const pair_search* s) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  return yw_guarded_distance(s->works, a->max_radius + b->max_radius, yw_touch_skin(a, b));
}

// Distances below which a pair of these bodies has to be looked at, see yw_near_lanes.
static float needed_distance(const pair_search* s) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  float skin = yw_touch_skin(a, b), thick = a->max_radius + b->max_radius;
  if (s->step->mode == YW_TOUCH_CONTACTS) {
    return thick + skin + yw_contact_band(skin, s->step->fall);
  }
  float least = guarded_distance(s);
  return s->step->mode == YW_TOUCH_PAIRS ? least + a->margin + b->margin : least;
}

// Distance below which a pair is kept, see yw_near_lanes.
static float kept_distance(const pair_search* s) {
  if (!s->step->keep) return -1.0f;
  float distance = s->step->lasting ? needed_distance(s) : guarded_distance(s);
  return distance + s->works[0]->leeway + s->works[1]->leeway;
}

static void keep_pair(yw_contact_list* list, int32_t first, int32_t second, int32_t number) {
  int32_t at = list->num_kept++;
  if (at >= list->kept_capacity) return;
  list->kept[at][0] = first;
  list->kept[at][1] = second << SEARCH_BITS | number;
}

// Pairs that may need another look when contact has moved particles within their leeway.
static void keep_pairs(const pair_search* s, int32_t first, uint32_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int32_t* pair = s->pairs[first + __builtin_ctz(lanes)];
    keep_pair(s->list, pair[0], pair[1], s->number);
  }
}

// Pairs that may touch, collected until the lanes are full.
typedef struct sieve {
  yw_near_lanes lanes;
  int32_t pairs[YW_LANES][2];
  yw_sift sift;
  float far;  // m, see yw_aside_skipped
} sieve;

// What the lanes left unclear.
static void test_candidate(const pair_search* s, const sieve* v, int32_t i) {
  const yw_near_lanes* lanes = &v->lanes;
  yw_candidate c = {.works = {s->works[0], s->works[1]},
                    .body = {s->body[0], s->body[1]},
                    .kind = s->kind,
                    .primitive = {v->pairs[i][0], v->pairs[i][1]},
                    .turns = (v->sift.turned >> i & 1) != 0};
  yw_nearest start = {.apart = yw_v3(lanes->apart[0][i], lanes->apart[1][i], lanes->apart[2][i]),
                      .distance = lanes->distance[i]};
  for (int k = 0; k < 4; ++k) {
    c.corners[k] = lanes->corners[k][i];
    start.weights[k] = lanes->weights[k][i];
  }
  yw_candidate_test(&c, &start, s->step, s->list);
}

static void copy_lane(sieve* v, int32_t to, const yw_near_lanes* from, int32_t i) {
  for (int k = 0; k < 4; ++k) {
    v->lanes.corners[k][to] = from->corners[k][i];
    v->lanes.weights[k][to] = from->weights[k][i];
  }
  for (int d = 0; d < 3; ++d) v->lanes.apart[d][to] = from->apart[d][i];
  v->lanes.distance[to] = from->distance[i];
}

// Decides about the pairs that were collected, in their order.
static void empty_sieve(const pair_search* s, sieve* v) {
  yw_sift* sift = &v->sift;
  int32_t count = v->lanes.count;
  if (count == 0) return;
  uint32_t all = (1u << count) - 1;
  sift->contacts = sift->spares = sift->turned = 0;
  sift->unclear = all;
  if (s->step->mode == YW_TOUCH_CONTACTS) {
    for (int32_t i = count; i < yw_near_width(count); ++i) copy_lane(v, i, &v->lanes, 0);
    yw_sift_lanes(sift, s->works, (const int32_t(*)[2])v->pairs, &v->lanes, all, s->step->sift);
  }
  for (uint32_t left = sift->contacts | sift->spares | sift->unclear; left != 0; left &= left - 1) {
    int32_t i = __builtin_ctz(left);
    // Of those that begin far apart, what is clear is enough; the guard looks at all.
    if (sift->unclear >> i & 1 && v->lanes.distance[i] - sift->skin > v->far) continue;
    if (sift->unclear >> i & 1) {
      test_candidate(s, v, i);
    } else if (sift->contacts >> i & 1) {
      yw_sift_append_contact(sift, s->body, &v->lanes, i, s->list);
    } else {
      yw_sift_append_spare(sift, &v->lanes, i, s->list);
    }
  }
  v->lanes.count = 0;
}

static void fill_lanes(const pair_search* s, yw_near_lanes* lanes, int32_t first, int32_t count) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  const int32_t(*pairs)[2] = (const int32_t(*)[2])s->pairs + first;
  lanes->count = count;
  for (int32_t i = 0; i < count && s->kind == YW_VERTEX_TRIANGLE; ++i) {
    const int32_t* triangle = b->complex->triangles[pairs[i][1]];
    lanes->corners[0][i] = a->vertices[pairs[i][0]];
    for (int k = 0; k < 3; ++k) lanes->corners[1 + k][i] = triangle[k];
  }
  for (int32_t i = 0; i < count && s->kind == YW_EDGE_EDGE; ++i) {
    const int32_t *front = a->edges[pairs[i][0]], *back = b->edges[pairs[i][1]];
    for (int k = 0; k < 2; ++k) {
      lanes->corners[k][i] = front[k];
      lanes->corners[2 + k][i] = back[k];
    }
  }
  // Lanes beyond the last are like the first.
  for (int32_t i = count; i < yw_near_width(count); ++i) {
    for (int k = 0; k < 4; ++k) lanes->corners[k][i] = lanes->corners[k][0];
  }
}

static void test_lanes(const pair_search* s, yw_near_lanes* lanes, sieve* v, int32_t first,
                       int32_t count) {
  fill_lanes(s, lanes, first, count);
  uint32_t near = yw_near_narrow(s->step->near, count)->test(lanes);
  keep_pairs(s, first, lanes->kept_lanes);
  if (s->keeps_only) return;
  for (; near != 0; near &= near - 1) {
    int32_t i = __builtin_ctz(near), at = v->lanes.count++;
    copy_lane(v, at, lanes, i);
    memcpy(v->pairs[at], s->pairs[first + i], sizeof v->pairs[at]);
    if (v->lanes.count == YW_LANES) empty_sieve(s, v);
  }
}

static void test_all(pair_search* s) {
  if (s->count == 0) return;
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  yw_near_lanes lanes = {
      .kind = s->kind,
      .question = s->step->mode == YW_TOUCH_PAIRS ? YW_NEAR_STOPPED : YW_NEAR_MOVING,
      .prove = s->step->mode != YW_TOUCH_PAIRS && !s->keeps_only,
      .needed = needed_distance(s),
      .kept = kept_distance(s),
      .begin = {a->body->begin, b->body->begin},
      .end = {a->predicted, b->predicted}};
  sieve v;
  v.lanes = lanes;
  yw_sift_begin(&v.sift, s->works, s->kind, s->step->fall);
  v.far = s->step->mode == YW_TOUCH_CONTACTS ? yw_aside_skipped(a, b) : INFINITY;
  for (int32_t first = 0; first < s->count; first += YW_LANES) {
    int32_t left = s->count - first;
    test_lanes(s, &lanes, &v, first, left < YW_LANES ? left : YW_LANES);
  }
  empty_sieve(s, &v);
  s->count = 0;
}

static bool share_corner(const pair_search* s, const int32_t pair[2]) {
  int32_t v[4];
  corners_of(s, pair, v);
  if (s->kind == YW_VERTEX_TRIANGLE) return v[0] == v[1] || v[0] == v[2] || v[0] == v[3];
  return v[0] == v[2] || v[0] == v[3] || v[1] == v[2] || v[1] == v[3];
}

// The primitives of a leaf that are near another leaf.
typedef struct leaf_side {
  yw_near_boxes vertices, triangles, edges;
} leaf_side;

static void ask_near(const pair_search* s, yw_near_boxes* boxes, yw_aabb box) {
  boxes->asked = s->step->near->select(boxes, box, s->pad);
}

static uint64_t all_of(const yw_near_boxes* boxes) { return ((uint64_t)1 << boxes->count) - 1; }

static leaf_side side_of(const yw_contact_work* work, int32_t leaf) {
  const yw_complex_leaf* l = &work->complex->leaves[leaf];
  return (leaf_side){.vertices = yw_leaf_vertices(l, work->boxes),
                     .triangles = yw_leaf_triangles(l, work->boxes),
                     .edges = yw_leaf_edges(l, work->boxes)};
}

static void meet_boxes(pair_search* s, const yw_near_boxes* a, const yw_near_boxes* b, bool same) {
  int32_t found = s->step->near->meet(a, b, s->pad, same, s->pairs + s->count);
  bool within = s->works[0] == s->works[1];
  if (!within) s->count += found;
  for (int32_t i = 0, old = s->count; i < found && within; ++i) {
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
  float radius = yw_touch_radius(work, particle);
  float skin = yw_touch_skin(work, work), band = yw_contact_band(skin, fall);
  yw_obstacle_near near;
  if (!yw_obstacle_seen_within(set, obstacle, end, radius + band, &near)) return;
  float gap = near.distance - radius;
  int32_t at = list->num_contacts++;
  if (at >= list->contact_capacity) return;
  yw_vec3 way = yw_mad(yw_sub(end, begin), -h, near.velocity);
  list->contacts[at] = (yw_contact){.body = {job->a, job->a},
                                    .count = {1, 0},
                                    .particles = {{particle}, {obstacle}},
                                    .weights = {{1.0f}},
                                    .normal = near.normal,
                                    .gap_before = gap - yw_dot(way, near.normal),
                                    .obstacle_gap = gap,
                                    .slop = YW_TOUCH_SLOP * skin,
                                    .drift = yw_v4(near.velocity),
                                    .obstacle_friction = set->items[obstacle].friction};
}

static void find_obstacles(const yw_contact_work* work, const yw_contact_job* job,
                           const yw_touch_step* step, yw_contact_list* list) {
  const yw_obstacle_set* set = work->body->obstacles;
  float pad = yw_touch_skin(work, work) + 2.0f * step->fall;
  // Boxes are those of the search.
  if (step->again) pad += work->leeway;
  for (int32_t leaf = job->first; leaf < job->end; ++leaf) {
    const yw_complex_leaf* l = &work->complex->leaves[leaf];
    yw_aabb box = yw_aabb_pad(work->leaves.nodes[work->leaves.first_leaf + leaf], pad);
    yw_vec3 center = yw_scale(yw_add(box.lower, box.upper), 0.5f);
    float reach = 0.5f * yw_distance(box.lower, box.upper);
    for (int32_t k = 0; k < set->count; ++k) {
      const yw_obstacle* obstacle = &set->items[k];
      yw_obstacle_near near;
      if (!yw_aabb_overlap(obstacle->bounds, box)) continue;
      if (obstacle->mesh && yw_obstacle_is_clear(obstacle, box)) continue;
      // 5 % margin for sampled or blended distances.
      bool far = !obstacle->mesh && !yw_obstacle_seen_within(set, k, center, 1.05f * reach, &near);
      if (far) continue;
      for (int32_t i = l[0].vertex; i < l[1].vertex; ++i) {
        meet_obstacle(work, job, k, i, step->h, step->fall, list);
      }
    }
  }
}

// Distance between the boxes of primitives that have to be looked at.
static float box_distance(const yw_touch_step* step, const yw_contact_work* a,
                          const yw_contact_work* b) {
  float skin = yw_touch_skin(a, b);
  float contact = skin + yw_contact_band(skin, step->fall), guarded = YW_LEAST_SKIN * skin;
  if (step->mode == YW_TOUCH_PAIRS) return guarded + a->margin + b->margin;
  if (step->mode == YW_TOUCH_LOOK && !step->again) return guarded;
  float leeway = a->leeway + b->leeway;
  if (step->lasting) return contact + leeway;
  if (step->keep || step->again) guarded += leeway;
  if (step->again) return guarded;
  return contact > guarded ? contact : guarded;
}

// True for leaves of one body that are known to be apart, as neighbours usually are.
static bool are_apart(const pair_search* s, int32_t leaf, int32_t other, float needed) {
  const yw_contact_work* work = s->works[0];
  if (work != s->works[1] || !work->poses || s->step->mode == YW_TOUCH_PAIRS) return false;
  return yw_patches_stay_apart(work->complex->patches, work->poses, leaf, other, needed);
}

// Leaves of one body that meet a box around another. In the search, no leaf of that has a larger
// one.
static void mark_leaves(const yw_contact_work* work, yw_aabb box) {
  const yw_aabb* boxes = work->leaves.nodes + work->leaves.first_leaf;
  for (int32_t i = 0; i < work->leaves.num_leaves; ++i) {
    work->needed[i] = work->needed[i] || yw_aabb_overlap(boxes[i], box);
  }
}

void yw_touch_mark(const yw_contact_work* a, const yw_contact_work* b, const yw_touch_step* step) {
  float pad = box_distance(step, a, b);
  if (a == b) {
    memset(a->needed, 1, (size_t)a->leaves.num_leaves);
  } else {
    mark_leaves(a, yw_aabb_pad(b->box, pad));
    mark_leaves(b, yw_aabb_pad(a->box, pad));
  }
}

// Asks about the edges of two leaves that are near the other leaf.
static void ask_edges(const pair_search* s, int32_t leaf, int32_t other, leaf_side* first,
                      leaf_side* second) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  ask_near(s, &first->edges, b->leaves.nodes[b->leaves.first_leaf + other]);
  ask_near(s, &second->edges, a->leaves.nodes[a->leaves.first_leaf + leaf]);
}

// Pairs of edges of which at least one is flat.
static void search_flat_edges(pair_search* s, int32_t leaf, int32_t other) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  leaf_side first = side_of(a, leaf), second = side_of(b, other);
  ask_edges(s, leaf, other, &first, &second);
  uint64_t asked = first.edges.asked, flat = a->flat_edges[leaf];
  bool same = a == b && leaf == other;
  first.edges.asked = asked & flat;
  meet_boxes(s, &first.edges, &second.edges, same);
  first.edges.asked = asked & ~flat;
  second.edges.asked &= b->flat_edges[other];
  meet_boxes(s, &first.edges, &second.edges, same);
}

// Edges of two leaves of sheets. Those that are flat are left to the look, see sheets.h: where a
// plane lies between the leaves now, it probably does so after the solve, and then they need not be
// searched.
static void search_sheet_edges(pair_search searches[NUM_SEARCHES], int32_t leaf, int32_t other,
                               leaf_side* first, leaf_side* second) {
  pair_search* s = &searches[EDGES];
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  uint64_t flat = a->flat_edges[leaf], flat_other = b->flat_edges[other];
  if (s->step->keep && (flat | flat_other) != 0) {
    if (yw_sheet_leaves_part(a, leaf, b, other, guarded_distance(s), false, s->slab)) {
      keep_pair(s->list, leaf, other, LEAVES);
    } else {
      search_flat_edges(&searches[FLAT], leaf, other);
    }
  }
  if (flat == all_of(&first->edges) || flat_other == all_of(&second->edges)) return;
  ask_edges(s, leaf, other, first, second);
  first->edges.asked &= ~flat;
  second->edges.asked &= ~flat_other;
  meet_boxes(s, &first->edges, &second->edges, a == b && leaf == other);
}

// What that left out, when contact has moved particles within their leeway.
static void look_at_flat_edges(pair_search* s, int32_t leaf, int32_t other) {
  const yw_contact_work *a = s->works[0], *b = s->works[1];
  if (yw_sheet_leaves_part(a, leaf, b, other, guarded_distance(s), true, s->slab)) return;
  search_flat_edges(s, leaf, other);
}

// Looks at a pair of leaves whose boxes meet.
static void search_pair(pair_search searches[NUM_SEARCHES], int32_t leaf, int32_t other,
                        float needed) {
  const yw_contact_work *a = searches[FORTH].works[0], *b = searches[FORTH].works[1];
  bool settled = !a->unsettled[leaf] && !b->unsettled[other];
  if (searches[FORTH].step->mode == YW_TOUCH_PAIRS && settled) return;
  if (are_apart(&searches[FORTH], leaf, other, needed)) return;
  bool sheets = yw_sheets_meet(a, b);
  if (sheets && searches[FORTH].step->mode == YW_TOUCH_LOOK &&
      yw_sheet_leaves_part(a, leaf, b, other, needed, true, searches[FORTH].slab)) {
    return;
  }
  yw_aabb box_a = a->leaves.nodes[a->leaves.first_leaf + leaf];
  yw_aabb box_b = b->leaves.nodes[b->leaves.first_leaf + other];
  leaf_side first = side_of(a, leaf), second = side_of(b, other);
  ask_near(&searches[FORTH], &first.triangles, box_b);
  ask_near(&searches[FORTH], &second.triangles, box_a);
  // Vertices and edges lie in the boxes of triangles.
  if (first.triangles.count > 0 && first.triangles.asked == 0) return;
  if (second.triangles.count > 0 && second.triangles.asked == 0) return;
  ask_near(&searches[FORTH], &first.vertices, box_b);
  ask_near(&searches[FORTH], &second.vertices, box_a);
  meet_boxes(&searches[FORTH], &first.vertices, &second.triangles, false);
  bool same = a == b && leaf == other;
  if (!same) meet_boxes(&searches[BACK], &second.vertices, &first.triangles, false);
  if (sheets && searches[FORTH].step->mode == YW_TOUCH_CONTACTS) {
    search_sheet_edges(searches, leaf, other, &first, &second);
  } else {
    ask_edges(&searches[EDGES], leaf, other, &first, &second);
    meet_boxes(&searches[EDGES], &first.edges, &second.edges, same);
  }
}

static void search_leaves(pair_search searches[NUM_SEARCHES], const yw_contact_job* job) {
  const yw_contact_work *a = searches[FORTH].works[0], *b = searches[FORTH].works[1];
  float needed = needed_distance(&searches[FORTH]), kept = kept_distance(&searches[FORTH]);
  if (kept > needed) needed = kept;
  for (int32_t leaf = job->first; leaf < job->end; ++leaf) {
    if (!a->needed[leaf]) continue;
    yw_aabb box = yw_aabb_pad(a->leaves.nodes[a->leaves.first_leaf + leaf], searches[FORTH].pad);
    if (a != b && b->leaves.num_leaves <= FEW_LEAVES) {
      // Faster than a tree.
      const yw_aabb* boxes = b->leaves.nodes + b->leaves.first_leaf;
      yw_box_probe probe = yw_box_probe_of(box);
      for (int32_t other = 0; other < b->leaves.num_leaves; ++other) {
        if (yw_box_meets(&boxes[other], &probe)) search_pair(searches, leaf, other, needed);
      }
      continue;
    }
    yw_box_walk walk = yw_box_walk_begin(&b->leaves, box);
    // Of one body, each pair once: from this leaf on.
    if (a == b) walk.node = b->leaves.first_leaf + leaf;
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      search_pair(searches, leaf, other, needed);
    }
  }
}

static void look_again(pair_search searches[NUM_SEARCHES], const yw_contact_job* job,
                       const yw_contact_list* list) {
  for (int32_t i = job->first_kept; i < job->first_kept + job->num_kept; ++i) {
    const int32_t* kept = list->kept[i];
    int32_t number = kept[1] & ((1 << SEARCH_BITS) - 1), second = kept[1] >> SEARCH_BITS;
    if (number == LEAVES) {
      look_at_flat_edges(&searches[EDGES], kept[0], second);
      continue;
    }
    pair_search* s = &searches[number];
    s->pairs[s->count][0] = kept[0];
    s->pairs[s->count++][1] = second;
    if (s->count >= ENOUGH) test_all(s);
  }
}

static void find_between(const yw_contact_work* works, const yw_contact_job* job,
                         const yw_touch_step* step, yw_contact_list* list) {
  const yw_contact_work *a = &works[job->a], *b = &works[job->b];
  int32_t pairs[NUM_SEARCHES][ROOM][2];
  pair_search searches[NUM_SEARCHES];
  yw_sheet_slab slab = {.leaf = -1};
  for (int32_t k = 0; k < NUM_SEARCHES; ++k) {
    searches[k] = (pair_search){.step = step,
                                .works = {k == BACK ? b : a, k == BACK ? a : b},
                                .body = {k == BACK ? job->b : job->a, k == BACK ? job->a : job->b},
                                .kind = k >= EDGES ? YW_EDGE_EDGE : YW_VERTEX_TRIANGLE,
                                .pad = box_distance(step, a, b),
                                .list = list,
                                .number = k == FLAT ? EDGES : k,
                                .pairs = pairs[k],
                                .keeps_only = k == FLAT,
                                .slab = &slab};
  }
  if (step->again) {
    look_again(searches, job, list);
  } else {
    search_leaves(searches, job);
  }
  for (int k = 0; k < NUM_SEARCHES; ++k) test_all(&searches[k]);
}

void yw_touch_find(const yw_contact_work* works, yw_contact_job* job, const yw_touch_step* step,
                   yw_contact_list* list) {
  if (job->obstacles && step->mode != YW_TOUCH_CONTACTS) return;
  job->first_contact = list->num_contacts;
  job->first_spare = list->num_spares;
  if (!step->again) job->first_kept = list->num_kept;
  if (job->obstacles) {
    if (works[job->a].body->obstacles) find_obstacles(&works[job->a], job, step, list);
  } else {
    find_between(works, job, step, list);
    // A list that is too short is filled again.
    if (step->mode == YW_TOUCH_CONTACTS && list->num_contacts <= list->contact_capacity) {
      int32_t found = list->num_contacts - job->first_contact;
      found = yw_cone_drop(works, list->contacts + job->first_contact, found);
      list->num_contacts = job->first_contact + found;
      list->num_contacts = job->first_contact + yw_aside_put(works, job, list, found);
    }
  }
  job->num_contacts = list->num_contacts - job->first_contact;
  job->num_spares = list->num_spares - job->first_spare;
  if (!step->again) job->num_kept = list->num_kept - job->first_kept;
  list->num_contacts += job->num_spares;
}
