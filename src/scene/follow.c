// SPDX-License-Identifier: MIT
// "follow" of pins: the vertices of a body follow an animated mesh.
#include <math.h>
#include <string.h>

#include "math/small/polar.h"
#include "scene/animation.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/follow.h"

// A vertex between points of the mesh moves with this many of them, and turns with more, since four
// may lie in a row.
#define NEIGHBOURS 4
#define TURNING 12
// Where the points do not say how they turn (one, or a row of them), they turn as little as they
// can: share of the identity in the matrix whose rotation is taken.
#define SHARE_OF_REST 1e-5f

static const char* const bindings[] = {"number", "nearest", NULL};

static const yw_follow_spec follow_defaults = {
    .attribute = "quality", .strength = 1, .stiffness = 1000};
static const yw_key_row follow_rows[] = {
    YW_ANIMATION_KEYS(yw_follow_spec, animation, "in world coordinates"),
    YW_CHOICE(yw_follow_spec, by, bindings,
              "How vertices find their points: by \"number\", or \"nearest\" in the first frame; "
              "then they keep their place among these, which move and turn."),
    YW_KEY(yw_follow_spec, strength, NUMBER, 0, 1, "",
           "1 follows exactly, 0 not at all; between, a spring of s / (1 - s) times the stiffness "
           "pulls."),
    YW_KEY(yw_follow_spec, paint, TEXT, 0, 0, "",
           "A .ply file with a strength for every point, by which \"strength\" is multiplied."),
    YW_KEY(yw_follow_spec, attribute, TEXT, 0, 0, "",
           "Name of the painted property, e.g. \"quality\" or \"red\"."),
    YW_KEY_ABOVE(yw_follow_spec, stiffness, NUMBER, 0, 1e12, "N/m",
                 "Stiffness of the springs at a strength of 1/2, per vertex."),
    YW_KEY(yw_follow_spec, damping, NUMBER, 0, 1e12, "N s/m",
           "Damping of the springs, per vertex."),
    YW_KEY(yw_follow_spec, max_speed, NUMBER, 0, 1e6, "m/s",
           "Speed at which vertices follow points that jump. 0: 20 times the size of the body per "
           "second.")};
const yw_record yw_record_follow =
    YW_RECORD("follow", follow_rows, follow_defaults,
              "Vertices follow an animated mesh: bones, shape keys, motion capture.", "needs file");

bool yw_load_follow(yw_loader* l, const yw_json* node, yw_follow_spec* out) {
  if (!yw_read_record(&l->r, node, &yw_record_follow, out) || !yw_needs(&l->r, node, "file")) {
    return false;
  }
  out->animation.node = node;
  return true;
}

// Reading -----------------------------------------------------------------------------------------

static bool read_paint(yw_loader* l, yw_follow_spec* f) {
  if (!f->paint) return true;
  yw_error deep = {0};
  yw_tri_mesh mesh = {0};
  float* values = NULL;
  char* path = yw_loader_file(l, f->paint);
  if (!path) return yw_memory_fail(&l->r);
  const yw_json* node = yw_json_get(f->animation.node, "paint");
  if (yw_painted_mesh_read(path, f->attribute, &l->scene->mem, &mesh, &values, &deep) < 0) {
    return yw_deep_fail(&l->r, node, &deep);
  }
  int32_t count = mesh.num_vertices;
  yw_tri_mesh_free(&mesh);
  f->painted = yw_json_alloc(l->r.doc, (size_t)count * sizeof *f->painted);
  for (int32_t i = 0; f->painted && i < count; ++i) f->painted[i] = fminf(fmaxf(values[i], 0), 1);
  yw_mem_free(&l->scene->mem, values);
  if (!f->painted) return yw_memory_fail(&l->r);
  if (count == f->animation.num_points) return true;
  return yw_value_fail(&l->r, node, "has %d vertices, but the animation has %d points", (int)count,
                       (int)f->animation.num_points);
}

bool yw_build_follow(yw_loader* l, int32_t num_vertices, yw_follow_spec* f) {
  if (!yw_read_animation(l, &f->animation) || !read_paint(l, f)) return false;
  if (f->by == YW_FOLLOW_NUMBER && f->animation.num_points != num_vertices) {
    return yw_value_fail(&l->r, yw_json_get(f->animation.node, "file"),
                         "has %d points, but the body has %d vertices: use \"by\": \"nearest\"",
                         (int)f->animation.num_points, (int)num_vertices);
  }
  return true;
}

// Building ----------------------------------------------------------------------------------------

typedef struct neighbour {
  int32_t point;
  float distance;
} neighbour;

/// Points of the mesh around a vertex in the first frame, the nearest first.
typedef struct surroundings {
  int32_t num_near, num_turning;  // the first ones carry the vertex, all of them turn it
  neighbour at[TURNING];
  float near[NEIGHBOURS];  // weights, sum 1
  float turning[TURNING];  // weights, sum 1
} surroundings;

static void find_weights(const neighbour* at, int32_t count, float* out) {
  float sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    out[i] = count == 1 ? 1 : 1 / (at[i].distance * at[i].distance);
    sum += out[i];
  }
  for (int32_t i = 0; i < count; ++i) out[i] /= sum;
}

// One point alone if p is on it.
static surroundings find_points(const yw_follow_spec* f, yw_vec3 p) {
  surroundings s = {0};
  int32_t count = 0;
  for (int32_t i = 0; i < f->animation.num_points; ++i) {
    neighbour found = {i, yw_distance(f->animation.points[i], p)};
    int32_t at = count < TURNING ? count++ : TURNING;
    for (; at > 0 && s.at[at - 1].distance > found.distance; --at) {
      if (at < TURNING) s.at[at] = s.at[at - 1];
    }
    if (at < TURNING) s.at[at] = found;
  }
  if (s.at[0].distance <= 1e-6f * (1 + yw_length(p))) count = 1;
  s.num_turning = count;
  s.num_near = count < NEIGHBOURS ? count : NEIGHBOURS;
  find_weights(s.at, s.num_near, s.near);
  find_weights(s.at, s.num_turning, s.turning);
  return s;
}

// The rotation that takes the points around p from `rest` to `now` best.
static yw_mat3 turn_of(const surroundings* s, yw_vec3 p, const yw_vec3* rest, const yw_vec3* now) {
  yw_vec3 before[TURNING], after[TURNING], mean_before = {0}, mean_after = {0};
  for (int32_t i = 0; i < s->num_turning; ++i) {
    // Against p, so that places far from the origin lose nothing.
    before[i] = yw_sub(rest[s->at[i].point], p);
    after[i] = yw_sub(now[s->at[i].point], p);
    mean_before = yw_mad(mean_before, s->turning[i], before[i]);
    mean_after = yw_mad(mean_after, s->turning[i], after[i]);
  }
  yw_mat3 sum = yw_mat3_diagonal(yw_v3(0, 0, 0)), rotation, stretch;
  float size = 0;
  for (int32_t i = 0; i < s->num_turning; ++i) {
    yw_vec3 from = yw_sub(before[i], mean_before);
    yw_vec3 to = yw_scale(yw_sub(after[i], mean_after), s->turning[i]);
    sum.cx = yw_mad(sum.cx, from.x, to);
    sum.cy = yw_mad(sum.cy, from.y, to);
    sum.cz = yw_mad(sum.cz, from.z, to);
    size += yw_length(from) * yw_length(to);
  }
  if (!(size > 0)) return yw_mat3_identity();
  sum = yw_mat3_add(sum, yw_mat3_scale(yw_mat3_identity(), SHARE_OF_REST * size));
  yw_polar(&sum, &rotation, &stretch);
  return rotation;
}

// Where a vertex at p goes that keeps its place among points that move and turn.
static yw_vec3 carry(const surroundings* s, yw_vec3 p, const yw_vec3* rest, const yw_vec3* now) {
  yw_vec3 way = {0}, offset = {0};
  for (int32_t i = 0; i < s->num_near; ++i) {
    yw_vec3 at = rest[s->at[i].point];
    way = yw_mad(way, s->near[i], yw_sub(now[s->at[i].point], at));
    offset = yw_mad(offset, s->near[i], yw_sub(p, at));
  }
  yw_vec3 moved = yw_add(p, way);
  if (s->num_turning == 1) return moved;
  return yw_add(moved, yw_sub(yw_mul(turn_of(s, p, rest, now), offset), offset));
}

// Where a vertex that is at p goes, and how strongly.
static float bind_vertex(const yw_follow_spec* f, int32_t vertex, yw_vec3 p, int32_t k,
                         int32_t num_vertices, yw_vec3* targets) {
  const yw_vec3* rest = f->animation.points;
  bool by_number = f->by == YW_FOLLOW_NUMBER;
  surroundings s = {.num_near = 1, .at = {{vertex, 0}}, .near = {1}};
  if (!by_number) s = find_points(f, p);
  float strength = 0;
  for (int32_t i = 0; i < s.num_near; ++i) {
    strength += s.near[i] * (f->painted ? f->painted[s.at[i].point] : 1);
  }
  strength = fminf(strength * f->strength, 1);
  for (int32_t frame = 0; frame < f->animation.num_frames; ++frame) {
    const yw_vec3* row = rest + (size_t)frame * (size_t)f->animation.num_points;
    yw_vec3* out = &targets[(size_t)frame * (size_t)num_vertices + (size_t)k];
    // What does not follow needs no place.
    *out = strength == 0 ? p : by_number ? row[vertex] : carry(&s, p, rest, row);
  }
  return strength;
}

yw_status yw_create_follow(const yw_scene* scene, yw_world* world, const yw_follow_spec* f,
                           yw_body_id body, const int32_t* vertices, int32_t count, yw_pin_id* out,
                           yw_error* error) {
  yw_vec3* targets =
      yw_mem_alloc(&scene->mem, (size_t)f->animation.num_frames * (size_t)count * sizeof *targets,
                   sizeof(float));
  float* strengths = YW_NEW_ARRAY(&scene->mem, float, count);
  yw_status status = targets && strengths ? YW_OK : yw_fail_memory(error, "targets to follow");
  const yw_vec3* x = yw_body_positions(world, body, NULL);
  for (int32_t k = 0; k < count && status >= 0; ++k) {
    strengths[k] = bind_vertex(f, vertices[k], x[vertices[k]], k, count, targets);
  }
  if (status >= 0) {
    yw_follow_def def = yw_default_follow_def();
    def.body = body;
    def.vertices = vertices;
    def.num_vertices = count;
    def.targets = targets;
    def.num_frames = f->animation.num_frames;
    def.fps = (double)f->animation.fps;
    def.start = (double)f->animation.start;
    def.loop = f->animation.loop;
    def.smooth = f->animation.smooth;
    def.strengths = strengths;
    def.stiffness = f->stiffness;
    def.damping = f->damping;
    def.max_speed = f->max_speed;
    status = yw_follow_create(world, &def, out, error);
  }
  yw_mem_free(&scene->mem, targets);
  yw_mem_free(&scene->mem, strengths);
  return status;
}
