// SPDX-License-Identifier: MIT
// What regions feel of a pose: their stretch, and not how they are turned. Regions are those of
// match, a vertex with all that share a tet with it, weighted by their volume.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/order.h"
#include "geometry/tet_math.h"
#include "math/small/mat3d.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

// As find_redundant of match judges: poses closer than this, relative to their stretch, are one.
#define SAME_POSE 1e-2f
// A pose with less stretch is the rest pose, up to a rotation.
#define SAME_AS_REST 1e-4f
// A share of regions that spoils a pose: a few, in the crease of a joint, do not.
#define MANY 0.01f
// Below this share of stretch a pose is hardly felt. The gallery's weakest example (a slender bar,
// bent and curled) has 0.13; an arm that is turned about a joint of one tet, 0.03.
#define HARDLY_SEEN 0.08f

// Rings flatter than the square root of this share of their width count as that thick.
#define THINNEST_SHARE 1e-7

typedef struct check_data {
  const yw_tet_mesh* rest;
  yw_adjacency rings;
  double* mass;    // of each vertex, its share in each of its regions
  double* change;  // S - 1 of each pose and vertex, 6 numbers
  double* turns;   // R of each vertex in the pose at hand, 9 numbers
  int32_t* group;  // of each vertex; NULL: all in one
} check_data;

// Regions -----------------------------------------------------------------------------------------

static void lump_volumes(check_data* d) {
  const yw_tet_mesh* mesh = d->rest;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_dvec3 p[4];
    yw_tet_corners(mesh, t, p);
    double share = yw_tet_volume6(p) / 24.0;
    for (int k = 0; k < 4; ++k) d->mass[mesh->tets[4 * (size_t)t + (size_t)k]] += share;
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) {
    d->mass[v] /= (double)(d->rings.start[v + 1] - d->rings.start[v] + 1);
  }
}

// Member n of the closed ring of v: the vertex itself first.
static int32_t member(const yw_adjacency* rings, int32_t v, int32_t n) {
  return n == 0 ? v : rings->items[rings->start[v] + n - 1];
}

static yw_dvec3 center_of(const check_data* d, int32_t v, const yw_vec3* points) {
  int32_t count = d->rings.start[v + 1] - d->rings.start[v] + 1;
  yw_dvec3 sum = {0, 0, 0};
  double mass = 0.0;
  for (int32_t n = 0; n < count; ++n) {
    int32_t other = member(&d->rings, v, n);
    sum = yw_dmad(sum, d->mass[other], yw_d3(points[other]));
    mass += d->mass[other];
  }
  return yw_dscale(sum, 1.0 / mass);
}

// The linear map of region v that fits the pose best.
static void map_of(const check_data* d, int32_t v, const yw_vec3* pose, double out[9]) {
  int32_t count = d->rings.start[v + 1] - d->rings.start[v] + 1;
  yw_dvec3 from = center_of(d, v, d->rest->positions), to = center_of(d, v, pose);
  double a[9] = {0}, q[6] = {0}, inverse[6], full[9];
  for (int32_t n = 0; n < count; ++n) {
    int32_t other = member(&d->rings, v, n);
    double m = d->mass[other];
    yw_dvec3 x = yw_dsub(yw_d3(pose[other]), to),
             r = yw_dsub(yw_d3(d->rest->positions[other]), from);
    const double xs[3] = {x.x, x.y, x.z}, rs[3] = {r.x, r.y, r.z};
    for (int i = 0; i < 9; ++i) a[i] += m * xs[i / 3] * rs[i % 3];
    const double products[6] = {r.x * r.x, r.y * r.y, r.z * r.z, r.x * r.y, r.x * r.z, r.y * r.z};
    for (int i = 0; i < 6; ++i) q[i] += m * products[i];
  }
  double thin = THINNEST_SHARE * (q[0] + q[1] + q[2]);
  for (int i = 0; i < 3; ++i) q[i] += thin;
  yw_sym_invert(q, inverse);
  yw_m3_of_sym(inverse, full);
  yw_m3_mul(a, full, out);
}

static double determinant(const double a[9]) {
  double across[3];
  yw_cross3(a, a + 3, across);
  return yw_dot3(across, a + 6);
}

// Returns how many regions are inside out.
static int32_t describe(check_data* d, const yw_vec3* pose, double* change) {
  int32_t inverted = 0;
  for (int32_t v = 0; v < d->rest->num_vertices; ++v) {
    double a[9], s[6];
    map_of(d, v, pose, a);
    inverted += !(determinant(a) > 0.0);
    yw_m3_polar(a, d->turns + 9 * (size_t)v, s);
    for (int i = 0; i < 6; ++i) change[6 * (size_t)v + (size_t)i] = i < 3 ? s[i] - 1.0 : s[i];
  }
  return inverted;
}

// Sums --------------------------------------------------------------------------------------------

// |a - b|^2 of symmetric matrices; b may be NULL, for 0.
static double apart2(const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < 6; ++i) {
    double difference = a[i] - (b ? b[i] : 0.0);
    sum += (i < 3 ? 1.0 : 2.0) * difference * difference;
  }
  return sum;
}

// The rotation nearest to the mean of all.
static void mean_turn(const check_data* d, double out[9]) {
  double sum[9] = {0}, s[6];
  for (int32_t v = 0; v < d->rest->num_vertices; ++v) {
    for (int i = 0; i < 9; ++i) sum[i] += d->turns[9 * (size_t)v + (size_t)i];
  }
  yw_m3_polar(sum, out, s);
}

static double turned2(const double* r, const double mean[9]) {
  double sum = 0.0;
  for (int i = 0; i < 9; ++i) sum += (r[i] - mean[i]) * (r[i] - mean[i]);
  return sum;
}

// Root mean square over the regions of a group (-1: all) of the distance between two poses; b may
// be NULL, for the rest pose.
static double distance(const check_data* d, int32_t group, const double* a, const double* b) {
  double sum = 0.0, count = 0.0;
  for (int32_t v = 0; v < d->rest->num_vertices; ++v) {
    if (group >= 0 && d->group && d->group[v] != group) continue;
    sum += apart2(a + 6 * (size_t)v, b ? b + 6 * (size_t)v : NULL);
    count += 1.0;
  }
  return count > 0.0 ? sqrt(sum / count) : 0.0;
}

static double turn_of(const check_data* d, int32_t group, const double mean[9]) {
  double sum = 0.0, count = 0.0;
  for (int32_t v = 0; v < d->rest->num_vertices; ++v) {
    if (group >= 0 && d->group && d->group[v] != group) continue;
    sum += turned2(d->turns + 9 * (size_t)v, mean);
    count += 1.0;
  }
  return count > 0.0 ? sqrt(sum / count) : 0.0;
}

static void find_nearest(const check_data* d, int32_t k, int32_t num_poses, yw_pose_report* r) {
  size_t row = 6 * (size_t)d->rest->num_vertices;
  const double* own = d->change + row * (size_t)k;
  double best = (double)r->stretch, scale = 1.0 / fmax((double)r->stretch, 1e-30);
  r->nearest = -1;
  for (int32_t j = 0; j < num_poses; ++j) {
    double apart = j == k ? INFINITY : distance(d, -1, own, d->change + row * (size_t)j);
    if (apart < best) best = apart, r->nearest = j;
  }
  r->distance = (float)(best * scale);
  const double* other = r->nearest >= 0 ? d->change + row * (size_t)r->nearest : NULL;
  for (int32_t g = 0; g < r->num_groups; ++g) {
    double size = fmax((double)r->groups[g].stretch, 1e-30);
    r->groups[g].distance = (float)(distance(d, g, own, other) / size);
  }
}

// Numbers the labels in order of appearance; returns how many there are.
static int32_t number_groups(check_data* d, const int32_t* labels, yw_pose_group* groups) {
  int32_t count = 0;
  for (int32_t v = 0; v < d->rest->num_vertices; ++v) {
    int32_t label = labels ? labels[v] : 0, g = 0;
    while (g < count && groups[g].label != label) ++g;
    if (g == count && count < YW_POSE_MAX_GROUPS) groups[count++].label = label;
    if (g < count) ++groups[g].num_regions;
    if (d->group) d->group[v] = g;
  }
  return count;
}

static void count_inverted(const yw_tet_mesh* rest, const yw_vec3* pose, yw_pose_report* r) {
  r->first_inverted = -1;
  for (int32_t t = 0; t < rest->num_tets; ++t) {
    yw_dvec3 p[4];
    for (int k = 0; k < 4; ++k) p[k] = yw_d3(pose[rest->tets[4 * (size_t)t + (size_t)k]]);
    if (yw_tet_volume6(p) > 0.0) continue;
    if (r->inverted_tets++ == 0) r->first_inverted = t;
  }
}

static void measure(check_data* d, const yw_vec3* pose, double* change, yw_pose_report* r) {
  double mean[9];
  r->inverted_regions = describe(d, pose, change);
  mean_turn(d, mean);
  r->stretch = (float)distance(d, -1, change, NULL);
  r->turn = (float)turn_of(d, -1, mean);
  float both = sqrtf(r->stretch * r->stretch + r->turn * r->turn);
  r->seen = both > 0.0f ? r->stretch / both : 1.0f;
  for (int32_t g = 0; g < r->num_groups; ++g) {
    r->groups[g].stretch = (float)distance(d, g, change, NULL);
    r->groups[g].turn = (float)turn_of(d, g, mean);
  }
  count_inverted(d->rest, pose, r);
}

// The check ---------------------------------------------------------------------------------------

static yw_status check_input(const yw_tet_mesh* rest, int32_t num_poses,
                             const yw_vec3* const* poses, yw_error* error) {
  yw_status status = yw_tet_mesh_check(rest, error);
  if (status < 0) return status;
  for (int32_t k = 0; k < num_poses; ++k) {
    for (int32_t v = 0; v < rest->num_vertices; ++v) {
      if (yw_is_finite3(poses[k][v])) continue;
      return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d of pose %d is not finite", v, k);
    }
  }
  return YW_OK;
}

static bool reserve(check_data* d, int32_t num_poses, bool grouped) {
  size_t n = (size_t)d->rest->num_vertices;
  d->mass = YW_NEW_ARRAY(NULL, double, n);
  d->change = YW_NEW_ARRAY(NULL, double, 6 * n * (size_t)num_poses);
  d->turns = YW_NEW_ARRAY(NULL, double, 9 * n);
  d->group = grouped ? YW_NEW_ARRAY(NULL, int32_t, n) : NULL;
  return d->mass && d->change && d->turns && (!grouped || d->group) &&
         yw_tet_adjacency(NULL, d->rest, &d->rings) >= 0;
}

static void release(check_data* d) {
  yw_mem_free(NULL, d->mass);
  yw_mem_free(NULL, d->change);
  yw_mem_free(NULL, d->turns);
  yw_mem_free(NULL, d->group);
  yw_adjacency_free(&d->rings);
}

yw_status yw_pose_check(const yw_tet_mesh* rest, const int32_t* labels, int32_t num_poses,
                        const yw_vec3* const* poses, yw_pose_report* reports, yw_error* error) {
  yw_status status = check_input(rest, num_poses, poses, error);
  if (status < 0 || num_poses <= 0) return status;
  check_data d = {.rest = rest};
  if (!reserve(&d, num_poses, labels != NULL)) {
    release(&d);
    return yw_fail_memory(error, "the check of poses");
  }
  yw_pose_report empty = {.nearest = -1};
  empty.num_groups = number_groups(&d, labels, empty.groups);
  lump_volumes(&d);
  size_t row = 6 * (size_t)rest->num_vertices;
  for (int32_t k = 0; k < num_poses; ++k) {
    reports[k] = empty;
    measure(&d, poses[k], d.change + row * (size_t)k, &reports[k]);
  }
  for (int32_t k = 0; k < num_poses; ++k) find_nearest(&d, k, num_poses, &reports[k]);
  release(&d);
  return YW_OK;
}

// Words -------------------------------------------------------------------------------------------

yw_pose_flaw yw_pose_flaw_of(const yw_pose_report* r) {
  int32_t regions = 0;
  for (int32_t g = 0; g < r->num_groups; ++g) regions += r->groups[g].num_regions;
  if ((float)r->inverted_regions > MANY * (float)regions) return YW_POSE_INVERTED;
  if (r->stretch < SAME_AS_REST) return r->turn < SAME_AS_REST ? YW_POSE_REST : YW_POSE_TURNS;
  if (r->seen < HARDLY_SEEN) return YW_POSE_TURNS;
  if (r->nearest >= 0 && r->distance < SAME_POSE) return YW_POSE_TWIN;
  return YW_POSE_FINE;
}

static void explain_turns(const yw_pose_report* r, char* out, size_t size) {
  char where[80] = "";
  int32_t most = 0;
  for (int32_t g = 1; g < r->num_groups; ++g) {
    if (r->groups[g].turn > r->groups[most].turn) most = g;
  }
  if (r->num_groups > 1) {
    snprintf(where, sizeof where, " Most of it is in group %d.", (int)r->groups[most].label);
  }
  snprintf(out, size,
           "turns parts of the body, but stretches little: %.1f %% of its change is stretch, which "
           "is all that regions feel, so it will hardly attract.%s Make something longer, thinner "
           "or thicker in it%s.",
           100.0 * (double)r->seen, where,
           r->num_groups > 1 ? "" : ", or let the part that turns choose on its own (groups)");
}

yw_pose_flaw yw_pose_words(const yw_pose_report* r, const char* const* names, char* out,
                           int32_t capacity) {
  yw_pose_flaw flaw = yw_pose_flaw_of(r);
  size_t size = capacity > 0 ? (size_t)capacity : 0;
  char other[80];
  if (size == 0) return flaw;
  out[0] = '\0';
  switch (flaw) {
    case YW_POSE_INVERTED:
      snprintf(out, size,
               "turns %d region%s of tets inside out (%d tets, the first is tet %d), which cannot "
               "be told from their mirror images. Pull less far, or hold larger parts.",
               (int)r->inverted_regions, r->inverted_regions == 1 ? "" : "s", (int)r->inverted_tets,
               (int)r->first_inverted);
      break;
    case YW_POSE_REST:
      snprintf(out, size, "has the shape of the rest pose, so it attracts nothing. Deform it.");
      break;
    case YW_POSE_TURNS:
      explain_turns(r, out, size);
      break;
    case YW_POSE_TWIN:
      snprintf(other, sizeof other, "pose %d", (int)r->nearest + 1);
      if (names && names[r->nearest]) snprintf(other, sizeof other, "\"%.70s\"", names[r->nearest]);
      snprintf(out, size, "is the same as %s, so nothing is gained by it. Change or remove one.",
               other);
      break;
    case YW_POSE_FINE:
      break;
  }
  return flaw;
}
