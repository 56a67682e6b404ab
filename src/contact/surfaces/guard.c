// SPDX-License-Identifier: MIT
// Two convex primitives are apart at the start. They are known to stay apart
//  - if they are apart at the end along the direction of their start distance: a plane between them
//    moves along, and all corners move along straight lines;
//  - or if their four corners are never in one plane: the volume that they span keeps its sign;
//  - or if conservative advancement along the paths never finds them too close.
// Otherwise a *fixed* plane in the middle of their start distance holds both sides. A motion that
// was shortened can spoil the proof of another pair, which is then tested again. Every round fixes
// at least one more pair, and planes that hold all corners at the start hold any shortened motion,
// so this ends. Where that would take too long, everything stops.
//
// A particle that hangs on two others ends where these put it: they are held in its place. Their
// motions may be shortened by different shares, for the sake of other pairs, and then its own path
// bends. Particles of a rigid body go back with the whole of it, along arcs, and only if others
// cannot get out of its way; where an obstacle or a pinned part comes, the whole of it gives way.
// So these corners are looked at again, and what still crosses stops where it began.
#include "contact/surfaces/guard.h"

#include <string.h>

#include "contact/surfaces/hanging.h"
#include "contact/surfaces/nearby.h"
#include "contact/surfaces/whole.h"

// Rounds in which shortened pairs are tested again; after that, they are fixed without a test.
#define MAX_TESTS 8
// More pairs than these are not fixed one by one: all surfaces stop where they began.
#define MAX_UNPROVEN 500000
// Projections onto the planes of a particle before its motion is cut short.
#define PROJECTIONS 3
// The same for particles in the way of what moves as given, which nothing stops. Fewer where there
// are so many pairs, as in bodies that are crushed to a point, that a step would not end.
#define GIVEN_PROJECTIONS 64
#define MAX_YIELDS 16000000
// Passes in which the motion of what hangs or is rigid is shortened before it is stopped.
#define MAX_CUTS 4

typedef struct guard_job {
  const yw_contact_work* works;
  int32_t num_works;
  yw_contact_list* lists;
  int32_t num_lists;
  float h;
  bool all;     // pairs are tested, not only those with a corner that was moved
  bool test;    // otherwise they are fixed at once
  bool linked;  // some particles do not move on their own
  bool stop;    // of these, what would cross does not move at all
} guard_job;

static const yw_contact_work* work_of(const yw_contact_work* works, const yw_near_pair* pair,
                                      int corner) {
  return &works[pair->body[corner < yw_pair_split((yw_pair_kind)pair->kind) ? 0 : 1]];
}

static bool stays_apart(const yw_contact_work* works, const yw_near_pair* pair) {
  yw_path4 path;
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = work_of(works, pair, k);
    path.begin[k] = yw_touch_begin(work, pair->corners[k]);
    path.end[k] = yw_touch_end(work, pair->corners[k]);
  }
  return yw_path_stays_apart((yw_pair_kind)pair->kind, &path, pair->normal, pair->least);
}

static bool was_moved(const guard_job* job, const yw_near_pair* pair) {
  bool any = false;
  for (int k = 0; k < 4; ++k)
    any |= work_of(job->works, pair, k)->moved[pair->corners[k]] & YW_MOVED_NOW;
  return any;
}

static void test_list(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const guard_job* job = context;
  yw_contact_list* list = &job->lists[block];
  list->num_fixed = 0;
  for (int32_t i = 0; i < list->num_pairs; ++i) {
    yw_near_pair* pair = &list->pairs[i];
    if (!pair->fixed && (job->all || was_moved(job, pair))) {
      pair->fixed = !job->test || !stays_apart(job->works, pair);
    }
    list->num_fixed += pair->fixed;
  }
}

// How far x is behind the plane of a fixed pair; `corner` names its side.
static float depth_behind(const yw_near_pair* pair, yw_vec3 middle, int corner, yw_vec3 x) {
  bool front = corner < yw_pair_split((yw_pair_kind)pair->kind);
  float along = yw_dot(pair->normal, yw_sub(x, middle)), limit = 0.5f * pair->least;
  return front ? limit - along : limit + along;
}

static yw_vec3 middle_of(const yw_contact_work* works, const yw_near_pair* pair) {
  yw_vec3 x[4];
  for (int k = 0; k < 4; ++k) {
    x[k] = yw_touch_begin(work_of(works, pair, k), pair->corners[k]);
  }
  yw_nearest near = yw_nearest_points((yw_pair_kind)pair->kind, x);
  int split = yw_pair_split((yw_pair_kind)pair->kind);
  yw_vec3 back = yw_v3(0, 0, 0);
  for (int k = split; k < 4; ++k) back = yw_mad(back, near.weights[k], x[k]);
  return yw_mad(back, 0.5f, near.apart);
}

// Moves a particle and takes the difference from its velocity, which never grows.
static void shorten(const yw_contact_work* work, int32_t particle, yw_vec3 to, float h) {
  yw_particles* p = work->body->particles;
  yw_vec3 change = yw_scale(yw_sub(to, yw_xyz(p->pos[particle])), 1.0f / h);
  yw_vec3 v = yw_xyz(p->vel[particle]), w = yw_add(v, change);
  float before = yw_length2(v), after = yw_length2(w);
  if (after > before) w = yw_scale(w, sqrtf(before / after));
  p->pos[particle] = yw_v4(to);
  p->vel[particle] = yw_v4(w);
}

// Nearest point to x on the path that detection looked at.
static yw_vec3 nearest_on_path(const yw_contact_work* work, int32_t particle, yw_vec3 x) {
  yw_vec3 begin = yw_touch_begin(work, particle);
  yw_vec3 way = yw_sub(yw_xyz(work->predicted[particle]), begin);
  float length2 = yw_length2(way);
  float t = length2 > 0.0f ? yw_clampf(yw_dot(yw_sub(x, begin), way) / length2, 0.0f, 1.0f) : 0.0f;
  return yw_mad(begin, t, way);
}

// Moves x to within the margin of the path. What goes farther is not known to be free of others.
static yw_vec3 keep_near_path(const yw_contact_work* work, int32_t particle, yw_vec3 x) {
  yw_vec3 on_path = nearest_on_path(work, particle, x), way = yw_sub(x, on_path);
  float length = yw_length(way);
  return length > work->margin ? yw_mad(on_path, 0.999f * work->margin / length, way) : x;
}

// Moves a particle, or the free ones that it hangs on.
static void shift(const guard_job* job, const yw_contact_work* work, int32_t particle,
                  yw_vec3 way) {
  if (yw_hangs(work, particle)) {
    for (int k = 0; k < 2; ++k) shift(job, work, work->complex->parents[particle][k], way);
  } else if (work->body->particles->inv_mass[particle] > 0.0f) {
    shorten(work, particle, yw_add(yw_touch_end(work, particle), way), job->h);
    work->moved[particle] |= YW_MOVED_NOW | YW_MOVED_EVER;
  }
}

static bool moves_alone(const yw_contact_work* work, int32_t particle) {
  return !yw_hangs(work, particle) && !work->body->rigid;
}

// Rigid bodies go back as wholes.
static bool retreat(const guard_job* job, const yw_contact_work* work, float share) {
  const yw_rigid_motion* m = work->body->rigid;
  bool away = false;
  for (int k = 0; k < 3; ++k) away = away || m->center[k] != m->start_center[k];
  for (int k = 0; k < 4; ++k) away = away || m->rotation[k] != m->start_rotation[k];
  if (m->held || !away) return false;
  yw_whole_retreat(work->body, share, job->h, true);
  memset(work->moved, YW_MOVED_NOW | YW_MOVED_EVER, (size_t)work->complex->num_particles);
  return true;
}

// Leaves a share of the motion of a particle, or of those that it moves with. True if any was moved
// by it.
static bool cut_short(const guard_job* job, const yw_contact_work* work, int32_t particle,
                      float share) {
  if (work->body->rigid) return retreat(job, work, share);
  if (yw_hangs(work, particle)) {
    const int32_t* parents = work->complex->parents[particle];
    bool first = cut_short(job, work, parents[0], share);
    return cut_short(job, work, parents[1], share) || first;
  }
  if (work->body->particles->inv_mass[particle] == 0.0f) return false;
  yw_vec3 begin = yw_touch_begin(work, particle), end = yw_touch_end(work, particle);
  yw_vec3 to = yw_lerp(begin, end, share);
  if (yw_length2(yw_sub(to, end)) == 0.0f) return false;
  shorten(work, particle, to, job->h);
  work->moved[particle] = YW_MOVED_NOW | YW_MOVED_EVER;
  return true;
}

// Whether nothing can move a particle: it goes where a pin puts it.
static bool is_pinned(const yw_contact_work* work, int32_t particle) {
  if (work->body->rigid) return false;
  if (yw_hangs(work, particle)) {
    const int32_t* parents = work->complex->parents[particle];
    return is_pinned(work, parents[0]) && is_pinned(work, parents[1]);
  }
  return work->body->particles->inv_mass[particle] == 0.0f;
}

// Whether all corners of one side move as given: of an obstacle, or pinned.
static bool is_given(const guard_job* job, const yw_near_pair* pair, int side) {
  const yw_contact_work* work = &job->works[pair->body[side]];
  int split = yw_pair_split((yw_pair_kind)pair->kind);
  if (work->body->is_obstacle) return true;
  for (int k = side ? split : 0; k < (side ? 4 : split); ++k) {
    if (!is_pinned(work, pair->corners[k])) return false;
  }
  return true;
}

// Whether others give way to one side of a pair. What moves as given never gives way, rigid bodies
// only to that.
static int rank_of(const guard_job* job, const yw_near_pair* pair, int side) {
  if (is_given(job, pair, side)) return 2;
  return job->works[pair->body[side]].body->rigid ? 1 : 0;
}

// The plane of a fixed pair at the start and at the end. Where one side cannot give way, it moves
// along with that side: whoever is on their side of it at both ends is so all the way.
typedef struct plane {
  yw_vec3 begin, end;
  const yw_contact_work* leader;  // NULL: the plane does not move
} plane;

static plane plane_led_by(const guard_job* job, const yw_near_pair* pair, const int ranks[2]) {
  yw_vec3 middle = middle_of(job->works, pair);
  plane out = {middle, middle, NULL};
  const yw_contact_work* sides[2] = {&job->works[pair->body[0]], &job->works[pair->body[1]]};
  if (ranks[0] == ranks[1]) return out;
  int side = ranks[0] > ranks[1] ? 0 : 1, split = yw_pair_split((yw_pair_kind)pair->kind);
  float deepest = 0.0f;
  for (int k = side ? split : 0; k < (side ? 4 : split); ++k) {
    float depth = depth_behind(pair, middle, k, yw_touch_end(sides[side], pair->corners[k]));
    deepest = depth > deepest ? depth : deepest;
  }
  out.end = yw_mad(middle, side ? deepest : -deepest, pair->normal);
  if (deepest > 0.0f) out.leader = sides[side];
  return out;
}

static plane plane_of(const guard_job* job, const yw_near_pair* pair) {
  const int ranks[2] = {rank_of(job, pair, 0), rank_of(job, pair, 1)};
  return plane_led_by(job, pair, ranks);
}

// How far a corner is behind the plane at the start, where rounding puts it, and at the end, beyond
// that: it may not go farther.
static float depth_at_end(const yw_near_pair* pair, const plane* at, const yw_contact_work* work,
                          int k, yw_vec3 end) {
  float before = depth_behind(pair, at->begin, k, yw_touch_begin(work, pair->corners[k]));
  return depth_behind(pair, at->end, k, end) - (before > 0.0f ? before : 0.0f);
}

// Projects a corner to its side of the plane.
static bool project_corner(const guard_job* job, const yw_near_pair* pair, const plane* at, int k) {
  const yw_contact_work* work = work_of(job->works, pair, k);
  int32_t particle = pair->corners[k];
  float depth = depth_at_end(pair, at, work, k, yw_hanging_end(work, particle));
  if (!(depth > 0.0f) || work->body->rigid) return false;
  bool front = k < yw_pair_split((yw_pair_kind)pair->kind);
  shift(job, work, particle, yw_scale(pair->normal, front ? depth : -depth));
  return true;
}

// Shortens the motion of a corner so that it stays on its side, and near the path that detection
// looked at.
static bool cut_corner(const guard_job* job, const yw_near_pair* pair, const plane* at, int k) {
  const yw_contact_work* work = work_of(job->works, pair, k);
  int32_t particle = pair->corners[k];
  bool alone = moves_alone(work, particle), moved = false;
  yw_vec3 end = yw_hanging_end(work, particle), near = keep_near_path(work, particle, end);
  if (yw_length2(yw_sub(near, end)) > 0.0f) {
    if (!alone) return cut_short(job, work, particle, job->stop ? 0.0f : 0.5f);
    shorten(work, particle, near, job->h);
    work->moved[particle] = YW_MOVED_NOW | YW_MOVED_EVER;
    end = near;
    moved = true;
  }
  float depth = depth_at_end(pair, at, work, k, end);
  if (!(depth > 0.0f)) return moved;
  float before = depth_behind(pair, at->end, k, yw_touch_begin(work, particle));
  // What cannot get out of the way of a rigid body stops it.
  if (at->leader && !(before < 0.0f)) {
    if (!at->leader->body->rigid) return moved;
    return retreat(job, at->leader, job->stop ? 0.0f : 0.5f) || moved;
  }
  float share = before < 0.0f ? 0.999f * (before / (before - depth)) : 0.0f;
  return cut_short(job, work, particle, !alone && job->stop ? 0.0f : share) || moved;
}

// Holds the corners of a fixed pair on their sides of the plane. True if it had to move any.
static bool hold(const guard_job* job, const yw_near_pair* pair, bool cut) {
  plane at = plane_of(job, pair);
  bool moved = false;
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = work_of(job->works, pair, k);
    if (work->body->particles->inv_mass[pair->corners[k]] == 0.0f) continue;
    bool did = cut ? cut_corner(job, pair, &at, k) : project_corner(job, pair, &at, k);
    moved = moved || did;
  }
  return moved;
}

static void clear_flags(const guard_job* job) {
  for (int32_t i = 0; i < job->num_lists; ++i) {
    const yw_contact_list* list = &job->lists[i];
    for (int32_t j = 0; j < list->num_pairs && list->num_fixed > 0; ++j) {
      const yw_near_pair* pair = &list->pairs[j];
      for (int k = 0; k < 4 && pair->fixed; ++k) {
        work_of(job->works, pair, k)->moved[pair->corners[k]] &= YW_MOVED_EVER;
      }
    }
  }
  for (int32_t i = 0; i < job->num_works && job->linked; ++i) {
    const yw_contact_work* work = &job->works[i];
    if (work->complex->num_hanging == 0 && !work->body->rigid) continue;
    for (int32_t k = 0; k < work->complex->num_particles; ++k) work->moved[k] &= YW_MOVED_EVER;
  }
}

static bool hold_all(const guard_job* job, bool cut) {
  bool moved = false;
  for (int32_t i = 0; i < job->num_lists; ++i) {
    const yw_contact_list* list = &job->lists[i];
    for (int32_t j = 0; j < list->num_pairs && list->num_fixed > 0; ++j) {
      if (list->pairs[j].fixed) moved = hold(job, &list->pairs[j], cut) || moved;
    }
  }
  return moved;
}

// What moves as given pushes what is in its way, and this pushes what is in its own way: where a
// sheet lies between an obstacle that comes and a body, both have to give way.
static int yield_rank(const guard_job* job, const yw_near_pair* pair, int side) {
  const yw_contact_work* work = &job->works[pair->body[side]];
  int split = yw_pair_split((yw_pair_kind)pair->kind);
  if (is_given(job, pair, side)) return 2;
  for (int k = side ? split : 0; k < (side ? 4 : split); ++k) {
    if (work->moved[pair->corners[k]] & YW_MOVED_ASIDE) return 1;
  }
  return 0;
}

static void note_aside(const yw_contact_work* work, int32_t particle) {
  if (yw_hangs(work, particle)) {
    for (int k = 0; k < 2; ++k) note_aside(work, work->complex->parents[particle][k]);
  }
  work->moved[particle] |= YW_MOVED_ASIDE;
}

// Moves a corner, or the rigid body that it belongs to, to its side of the plane.
static bool move_aside(const guard_job* job, const yw_near_pair* pair, const plane* at, int k) {
  const yw_contact_work* work = work_of(job->works, pair, k);
  if (!work->body->rigid) {
    if (!project_corner(job, pair, at, k)) return false;
    note_aside(work, pair->corners[k]);
    return true;
  }
  float depth = depth_at_end(pair, at, work, k, yw_touch_end(work, pair->corners[k]));
  if (!(depth > 0.0f) || work->body->rigid->held) return false;
  bool front = k < yw_pair_split((yw_pair_kind)pair->kind);
  yw_whole_shift(work->body, yw_scale(pair->normal, front ? depth : -depth));
  memset(work->moved, YW_MOVED_NOW | YW_MOVED_EVER | YW_MOVED_ASIDE,
         (size_t)work->complex->num_particles);
  return true;
}

// Of two sides that both gave way before, as in a heap on a floor that moves, the one that is
// beyond the plane was pushed there: the other has to give way again. True if both are beyond it.
static bool break_tie(const guard_job* job, const yw_near_pair* pair, int ranks[2]) {
  yw_vec3 middle = middle_of(job->works, pair);
  const plane fixed = {middle, middle, NULL};
  bool beyond[2] = {false, false};
  int split = yw_pair_split((yw_pair_kind)pair->kind);
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = work_of(job->works, pair, k);
    yw_vec3 end = yw_hanging_end(work, pair->corners[k]);
    bool is_beyond = depth_at_end(pair, &fixed, work, k, end) > 0.0f;
    beyond[k < split ? 0 : 1] |= is_beyond;
  }
  for (int side = 0; side < 2; ++side) ranks[side] += beyond[side];
  return beyond[0] && beyond[1];
}

// Moves what is in the way of an obstacle or a pin out of it, whatever else holds it.
static bool yield_to_given(const guard_job* job, const yw_near_pair* pair) {
  int ranks[2] = {yield_rank(job, pair, 0), yield_rank(job, pair, 1)};
  bool both = ranks[0] == 1 && ranks[1] == 1 && break_tie(job, pair, ranks);
  if (ranks[0] == ranks[1] && !both) return false;
  plane at = plane_led_by(job, pair, ranks);
  bool moved = false;
  for (int k = 0; k < 4 && (at.leader || both); ++k) {
    const yw_contact_work* work = work_of(job->works, pair, k);
    if (work->body->particles->inv_mass[pair->corners[k]] == 0.0f) continue;
    moved = move_aside(job, pair, &at, k) || moved;
  }
  return moved;
}

static bool yield_all(const guard_job* job) {
  bool moved = false;
  for (int32_t i = 0; i < job->num_lists; ++i) {
    const yw_contact_list* list = &job->lists[i];
    for (int32_t j = 0; j < list->num_pairs && list->num_fixed > 0; ++j) {
      if (list->pairs[j].fixed) moved = yield_to_given(job, &list->pairs[j]) || moved;
    }
  }
  return moved;
}

static void yield_to_all_given(const guard_job* job) {
  int64_t pairs = 0, looked_at = 0;
  for (int32_t i = 0; i < job->num_lists; ++i) {
    if (job->lists[i].num_fixed > 0) pairs += job->lists[i].num_pairs;
  }
  for (int n = 0; n < GIVEN_PROJECTIONS && looked_at <= MAX_YIELDS && yield_all(job); ++n) {
    looked_at += pairs;
  }
}

// Brings all corners of fixed pairs to their sides.
static void hold_fixed(guard_job* job) {
  for (int k = 0; k < PROJECTIONS; ++k) hold_all(job, false);
  job->stop = false;
  bool moved = hold_all(job, true);
  for (int cuts = 1; moved && job->linked; ++cuts) {
    job->stop = cuts >= MAX_CUTS;
    moved = hold_all(job, true);
  }
  yield_to_all_given(job);
  for (int32_t i = 0; i < job->num_works; ++i) {
    if (job->works[i].active) yw_hanging_follow(&job->works[i]);
  }
}

// Farthest that a surface particle is from the path that detection looked at.
static float farthest_off_path(const yw_contact_work* work) {
  float most = 0.0f;
  for (int32_t i = 0; i < work->complex->num_vertices; ++i) {
    yw_vec3 x = yw_touch_end(work, work->vertices[i]);
    float off = yw_length2(yw_sub(x, nearest_on_path(work, work->vertices[i], x)));
    most = off > most ? off : most;
  }
  return sqrtf(most);
}

static void keep_rigid_in_margin(const guard_job* job, const yw_contact_work* work) {
  float off = farthest_off_path(work);
  for (int cuts = 1; off > work->margin && cuts <= MAX_CUTS; ++cuts) {
    float share = cuts < MAX_CUTS ? 0.99f * work->margin / off : 0.0f;
    yw_whole_retreat(work->body, share, job->h, false);
    off = farthest_off_path(work);
  }
}

static void keep_hanging_in_margin(const guard_job* job, const yw_contact_work* work) {
  bool moved = work->complex->num_hanging > 0;
  for (int cuts = 0; moved; ++cuts) {
    moved = false;
    for (int32_t i = 0; i < work->complex->num_hanging; ++i) {
      int32_t particle = work->complex->hanging[i][0];
      yw_vec3 end = yw_hanging_end(work, particle), near = keep_near_path(work, particle, end);
      if (yw_length2(yw_sub(near, end)) == 0.0f) continue;
      moved = cut_short(job, work, particle, cuts < MAX_CUTS ? 0.5f : 0.0f) || moved;
    }
  }
  yw_hanging_follow(work);
}

static void keep_in_margin(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const guard_job* job = context;
  const yw_contact_work* work = &job->works[block];
  if (!work->active || work->body->is_obstacle) return;
  if (work->body->rigid) {
    keep_rigid_in_margin(job, work);
    return;
  }
  yw_vec4* pos = work->body->particles->pos;
  for (int32_t i = 0; i < work->complex->num_vertices; ++i) {
    int32_t particle = work->vertices[i];
    if (yw_hangs(work, particle)) continue;
    pos[particle] = yw_v4(keep_near_path(work, particle, yw_xyz(pos[particle])));
  }
  keep_hanging_in_margin(job, work);
}

// Pairs whose proof was spoiled.
static int64_t count_unproven(const guard_job* job) {
  int64_t count = 0;
  for (int32_t i = 0; i < job->num_lists; ++i) {
    const yw_contact_list* list = &job->lists[i];
    for (int32_t j = 0; j < list->num_pairs; ++j) {
      count += !list->pairs[j].fixed && was_moved(job, &list->pairs[j]);
    }
  }
  return count;
}

// What does not move crosses nothing but obstacles and pinned parts that do.
static void stop_all(const guard_job* job) {
  for (int32_t i = 0; i < job->num_works; ++i) {
    const yw_contact_work* work = &job->works[i];
    for (int32_t k = 0; work->active && k < work->complex->num_vertices; ++k) {
      cut_short(job, work, work->vertices[k], 0.0f);
    }
  }
  for (int32_t i = 0; i < job->num_lists; ++i) {
    yw_contact_list* list = &job->lists[i];
    list->num_fixed = 0;
    for (int32_t j = 0; j < list->num_pairs; ++j) {
      list->pairs[j].fixed = is_given(job, &list->pairs[j], 0) || is_given(job, &list->pairs[j], 1);
      list->num_fixed += list->pairs[j].fixed;
    }
  }
  yield_to_all_given(job);
  for (int32_t i = 0; i < job->num_works; ++i) {
    if (job->works[i].active) yw_hanging_follow(&job->works[i]);
  }
}

// Unsettled leaves ------------------------------------------------------------------------------

void yw_guard_begin(const yw_contact_work* works, int32_t num_works, const yw_contact_list* lists,
                    int32_t num_lists) {
  for (int32_t i = 0; i < num_works; ++i) {
    memset(works[i].moved, 0, (size_t)works[i].complex->num_particles);
    memset(works[i].unsettled, 0, (size_t)works[i].complex->num_leaves);
  }
  for (int32_t i = 0; i < num_lists; ++i) {
    for (int32_t j = 0; j < lists[i].num_pairs; ++j) {
      const yw_near_pair* pair = &lists[i].pairs[j];
      for (int k = 0; k < 4; ++k) {
        work_of(works, pair, k)->moved[pair->corners[k]] = YW_MOVED_EVER;
      }
    }
  }
}

static bool has_flag(const yw_contact_work* work, int32_t leaf) {
  const yw_complex* c = work->complex;
  const yw_complex_leaf *first = &c->leaves[leaf], *end = first + 1;
  uint8_t any = 0;
  for (int32_t i = first->vertex; i < end->vertex; ++i) any |= work->moved[work->vertices[i]];
  for (int32_t i = first->edge; i < end->edge; ++i) {
    any |= work->moved[work->edges[i][0]] | work->moved[work->edges[i][1]];
  }
  for (int32_t i = first->triangle; i < end->triangle; ++i) {
    for (int k = 0; k < 3; ++k) any |= work->moved[c->triangles[i][k]];
  }
  return any != 0;
}

bool yw_guard_unsettle(yw_contact_work* works, int32_t num_works, bool all) {
  bool more = false;
  for (int32_t i = 0; i < num_works; ++i) {
    yw_contact_work* work = &works[i];
    size_t count = (size_t)work->complex->num_particles;
    if (!all && !memchr(work->moved, YW_MOVED_EVER, count)) continue;
    for (int32_t leaf = 0; leaf < work->complex->num_leaves; ++leaf) {
      // Leaves far from others have nothing to settle.
      if (work->nearby && !yw_nearby_has(work, leaf)) continue;
      if (work->unsettled[leaf] || (!all && !has_flag(work, leaf))) continue;
      work->unsettled[leaf] = more = work->any_unsettled = true;
    }
  }
  return more;
}

int32_t yw_guard_motion(const yw_contact_work* works, int32_t num_works, yw_contact_list* lists,
                        int32_t num_lists, float h, yw_tasks* tasks) {
  guard_job job = {.works = works,
                   .num_works = num_works,
                   .lists = lists,
                   .num_lists = num_lists,
                   .h = h,
                   .all = true};
  for (int32_t i = 0; i < num_works; ++i) {
    job.linked |= works[i].complex->num_hanging > 0 || works[i].body->rigid;
  }
  yw_tasks_run(tasks, num_works, keep_in_margin, &job);
  int32_t held = 0;
  for (int32_t round = 0;; ++round) {
    job.test = round < MAX_TESTS;
    if (!job.test && count_unproven(&job) > MAX_UNPROVEN) {
      stop_all(&job);
      return held;
    }
    yw_tasks_run(tasks, num_lists, test_list, &job);
    int32_t fixed = 0;
    for (int32_t i = 0; i < num_lists; ++i) fixed += lists[i].num_fixed;
    clear_flags(&job);
    if (fixed == held) return held;
    held = fixed;
    job.all = false;
    hold_fixed(&job);
  }
}
