// SPDX-License-Identifier: MIT
// Queries of worlds against brute force over all primitives, and exact edge cases.
#include <pthread.h>
#include "contact/ray.h"

#include "contact/ray.h"
#include "support/counted_memory.h"
#include "support/random_points.h"
#include "support/scene_text.h"
#include "support/world_fixture.h"
#include "world/world.h"

// A world of everything that contact knows --------------------------------------------------------

static yw_body_id add_sheet(yw_world* world, yw_vec3 position) {
  yw_error error = {0};
  yw_vec3 points[36];
  int32_t triangles[50 * 3], count = 0;
  for (int i = 0; i < 36; ++i) {
    points[i] = (yw_vec3){0.1f * (float)(i % 6), 0.02f * (float)(i * i % 5), 0.1f * (float)(i / 6)};
  }
  for (int i = 0; i < 25; ++i) {
    int32_t a = i / 5 * 6 + i % 5;
    const int32_t two[6] = {a, a + 6, a + 1, a + 1, a + 6, a + 7};
    memcpy(triangles + 6 * i, two, sizeof two);
    count += 2;
  }
  yw_tri_mesh mesh = {
      .num_vertices = 36, .positions = points, .num_triangles = count, .triangles = triangles};
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = 0.02f;
  yw_model* model = NULL;
  if (yw_model_create_sheet(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_body_id id = add_body(world, model, position, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  return id;
}

static yw_body_id add_rod(yw_world* world, yw_vec3 position) {
  yw_error error = {0};
  yw_vec3 points[12];
  for (int i = 0; i < 12; ++i) points[i] = (yw_vec3){0.08f * (float)i, 0.03f * (float)(i % 3), 0};
  yw_rod_def def = yw_default_rod_def();
  def.points = points;
  def.num_points = 12;
  def.radius = 0.03f;
  yw_model* model = NULL;
  if (yw_model_create_rod(NULL, &def, &model, &error) < 0) fail_msg("%s", error.message);
  yw_body_id id = add_body(world, model, position, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  return id;
}

static void jitter(yw_world* world, yw_body_id id, test_random* random) {
  int32_t count;
  const yw_vec3* shown = yw_body_positions(world, id, &count);
  yw_vec3* moved = malloc((size_t)count * sizeof *moved);
  for (int32_t i = 0; i < count; ++i) moved[i] = yw_add(shown[i], random_point(random, 0.02));
  assert_int_equal(yw_body_set_state(world, id, moved, NULL), YW_OK);
  free(moved);
}

static yw_world* make_mixed_world(uint64_t seed) {
  test_random random = {seed};
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  for (int i = 0; i < 9; ++i) {
    yw_vec3 at = random_point(&random, 1.5), axis = random_point(&random, 1.0);
    yw_quat turn = yw_quat_normalize((yw_quat){axis.x, axis.y, axis.z, 0.7f});
    jitter(world, add_body(world, model, at, turn), &random);
  }
  yw_model_release(model);
  add_sheet(world, (yw_vec3){-0.4f, 0.3f, 1.2f});
  add_rod(world, (yw_vec3){0.4f, -0.8f, -1.4f});
  return world;
}

// Brute force -------------------------------------------------------------------------------------

typedef struct primitive {
  double x[3][3], radius;
  int corners;
  bool is_volume;
} primitive;

static void sub3(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; ++k) out[k] = a[k] - b[k];
}
static double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int32_t list_primitives(const yw_world* world, int32_t slot, primitive* out) {
  const yw_body* body = &world->bodies.items[slot];
  yw_contact_geometry g = body->model->method->contact_geometry(body->state);
  int corners = g.num_triangles > 0 ? 3 : 2;
  const int32_t* items = corners == 3 ? g.triangles : g.segments;
  int32_t count = corners == 3 ? g.num_triangles : g.num_segments;
  for (int32_t i = 0; i < count; ++i) {
    out[i] = (primitive){.corners = corners, .is_volume = g.num_tets > 0};
    for (int c = 0; c < corners; ++c) {
      int32_t p = items[corners * i + c];
      const float* x = &body->particles.pos[p].x;
      for (int k = 0; k < 3; ++k) out[i].x[c][k] = (double)x[k];
      if (g.radius && (double)g.radius[p] > out[i].radius) out[i].radius = (double)g.radius[p];
    }
  }
  return count;
}

// Distance of a point from a segment or triangle.
static double distance_to(const primitive* s, const double p[3]) {
  double best = INFINITY;
  for (int c = 0; c < (s->corners == 3 ? 3 : 1); ++c) {
    double u[3], w[3], off[3];
    sub3(s->x[(c + 1) % s->corners], s->x[c], u);
    sub3(p, s->x[c], w);
    double t = fmin(1.0, fmax(0.0, dot3(w, u) / dot3(u, u)));
    for (int k = 0; k < 3; ++k) off[k] = w[k] - t * u[k];
    best = fmin(best, sqrt(dot3(off, off)));
  }
  if (s->corners == 2) return best;
  double u[3], v[3], w[3];
  sub3(s->x[1], s->x[0], u);
  sub3(s->x[2], s->x[0], v);
  sub3(p, s->x[0], w);
  double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  double uu = dot3(u, u), uv = dot3(u, v), vv = dot3(v, v), wu = dot3(w, u), wv = dot3(w, v);
  double det = uu * vv - uv * uv, a = (vv * wu - uv * wv) / det, b = (uu * wv - uv * wu) / det;
  if (a >= 0.0 && b >= 0.0 && a + b <= 1.0) best = fmin(best, fabs(dot3(w, n)) / sqrt(dot3(n, n)));
  return best;
}

// Solid angle of a closed surface: 4 pi inside, 0 outside (van Oosterom and Strackee 1983).
static bool contains(const primitive* items, int32_t count, const double p[3]) {
  double sum = 0.0;
  if (count == 0 || !items[0].is_volume) return false;
  for (int32_t i = 0; i < count; ++i) {
    double r[3][3], l[3];
    for (int c = 0; c < 3; ++c) {
      sub3(items[i].x[c], p, r[c]);
      l[c] = sqrt(dot3(r[c], r[c]));
    }
    double x[3] = {r[1][1] * r[2][2] - r[1][2] * r[2][1], r[1][2] * r[2][0] - r[1][0] * r[2][2],
                   r[1][0] * r[2][1] - r[1][1] * r[2][0]};
    double den = l[0] * l[1] * l[2] + dot3(r[0], r[1]) * l[2] + dot3(r[0], r[2]) * l[1] +
                 dot3(r[1], r[2]) * l[0];
    sum += 2.0 * atan2(dot3(r[0], x), den);
  }
  return fabs(sum) > 6.28;
}

// Where the way first comes within `radius` of the primitives: steps that the distance allows.
static double march(const primitive* items, int32_t count, yw_vec3 from, yw_vec3 way,
                    double radius) {
  double length = (double)yw_length(way), done = 0.0;
  for (int i = 0; i < 20000; ++i) {
    double p[3] = {(double)from.x + (double)way.x * done / length,
                   (double)from.y + (double)way.y * done / length,
                   (double)from.z + (double)way.z * done / length};
    double gap = INFINITY;
    for (int32_t k = 0; k < count; ++k) {
      gap = fmin(gap, distance_to(&items[k], p) - items[k].radius - radius);
    }
    if (gap < 1e-7) return done;
    done += gap;
    if (done > length) return -1.0;
  }
  return done;
}

#define MOST_PRIMITIVES 512

typedef struct answer {
  double distance;  // INFINITY: nothing
  int32_t slot;
} answer;

static answer brute_cast(const yw_world* world, yw_vec3 from, yw_vec3 way, double radius) {
  static primitive items[MOST_PRIMITIVES];
  answer best = {INFINITY, -1};
  const double p[3] = {(double)from.x, (double)from.y, (double)from.z};
  for (int32_t slot = 0; slot < world->bodies.count; ++slot) {
    int32_t count = list_primitives(world, slot, items);
    double at = contains(items, count, p) ? 0.0 : march(items, count, from, way, radius);
    if (at >= 0.0 && at < best.distance) best = (answer){at, slot};
  }
  return best;
}

static answer brute_nearest(const yw_world* world, yw_vec3 from) {
  static primitive items[MOST_PRIMITIVES];
  answer best = {INFINITY, -1};
  const double p[3] = {(double)from.x, (double)from.y, (double)from.z};
  for (int32_t slot = 0; slot < world->bodies.count; ++slot) {
    int32_t count = list_primitives(world, slot, items);
    double near = INFINITY;
    for (int32_t k = 0; k < count; ++k) {
      near = fmin(near, distance_to(&items[k], p) - items[k].radius);
    }
    if (contains(items, count, p)) near = -near;
    if (near < best.distance) best = (answer){near, slot};
  }
  return best;
}

// Where the weights put the hit, which is on the surface up to the thickness.
static void check_weights(const yw_world* world, const yw_hit* hit) {
  const yw_vec3* x = yw_body_positions(world, hit->body, NULL);
  const float* radii = yw_body_radii(world, hit->body, NULL);
  yw_vec3 sum = {0, 0, 0};
  float weight = 0.0f, radius = 0.0f;
  for (int k = 0; k < hit->num_vertices; ++k) {
    sum = yw_mad(sum, hit->weights[k], x[hit->vertices[k]]);
    weight += hit->weights[k];
    assert_at_least(hit->weights[k], -1e-5);
    if (radii) radius = fmaxf(radius, radii[hit->vertices[k]]);
  }
  assert_near(weight, 1.0, 1e-5);
  assert_near(yw_length(hit->normal), 1.0, 1e-5);
  assert_at_most(yw_distance(sum, hit->point), radius + 1e-4f);
}

// Tests -------------------------------------------------------------------------------------------

static void casts_agree_with_brute_force(void** state) {
  (void)state;
  test_random random = {7};
  yw_world* world = make_mixed_world(5);
  int hits = 0;
  for (int i = 0; i < 400; ++i) {
    yw_vec3 from = random_point(&random, 3.0), to = random_point(&random, 2.0);
    float radius = i % 2 == 0 ? 0.0f : 0.1f;
    yw_vec3 way = yw_sub(to, from);
    answer expected = brute_cast(world, from, way, (double)radius);
    yw_hit hit = {0};
    int32_t count = yw_world_cast_ball(world, from, radius, way, NULL, &hit);
    assert_int_equal(count, expected.slot >= 0);
    if (count == 0) continue;
    ++hits;
    // A march stops 1e-7 m short, which counts for grazing rays.
    assert_near(hit.distance, expected.distance, 2e-4);
    assert_int_equal(hit.body.index1, expected.slot + 1);
    if (!hit.inside) check_weights(world, &hit);
    // Moved by its distance, the ball touches the point that was hit.
    yw_vec3 end = yw_mad(from, hit.distance / yw_length(way), way);
    if (!hit.inside) assert_near(yw_distance(end, hit.point), radius, 1e-4);
  }
  assert_true(hits > 100 && hits < 390);
  yw_world_destroy(world);
}

static void nearest_agrees_with_brute_force(void** state) {
  (void)state;
  test_random random = {9};
  yw_world* world = make_mixed_world(6);
  int insides = 0;
  for (int i = 0; i < 400; ++i) {
    yw_vec3 p = random_point(&random, 1.7);
    float most = i % 2 == 0 ? INFINITY : 0.15f;
    answer expected = brute_nearest(world, p);
    yw_hit hit = {0};
    int32_t count = yw_world_nearest(world, p, most, NULL, &hit);
    assert_int_equal(count, expected.distance <= (double)most);
    if (count == 0) continue;
    insides += hit.inside;
    assert_near(hit.distance, expected.distance, 1e-5);
    assert_int_equal(hit.inside, expected.distance < 0.0);
    assert_int_equal(hit.body.index1, expected.slot + 1);
    check_weights(world, &hit);
    assert_near(yw_distance(hit.point, yw_mad(p, -hit.distance, hit.normal)), 0.0, 1e-4);
  }
  assert_true(insides > 10);
  yw_world_destroy(world);
}

static void overlaps_agree_with_brute_force(void** state) {
  (void)state;
  static primitive items[MOST_PRIMITIVES];
  test_random random = {11};
  yw_world* world = make_mixed_world(8);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    yw_vec3 p = random_point(&random, 1.5);
    float radius = (float)test_random_in(&random, 0.0, 0.5);
    yw_hit hits[16];
    int32_t count = yw_world_overlap_ball(world, p, radius, NULL, hits, 16), at = 0;
    const double c[3] = {(double)p.x, (double)p.y, (double)p.z};
    for (int32_t slot = 0; slot < world->bodies.count; ++slot) {
      int32_t num = list_primitives(world, slot, items);
      double near = INFINITY;
      for (int32_t k = 0; k < num; ++k) {
        near = fmin(near, distance_to(&items[k], c) - items[k].radius);
      }
      if (contains(items, num, c)) near = -near;
      if (fabs(near - (double)radius) < 1e-5) continue;
      bool overlaps = at < count && hits[at].body.index1 == (uint32_t)slot + 1;
      assert_int_equal(overlaps, near < (double)radius);
      at += overlaps;
    }
    assert_int_equal(at, count);
    found += count;
  }
  assert_true(found > 30);
  yw_world_destroy(world);
}

// A sheet of two triangles lies in the plane y = 0 with 0.05 m of thickness on both sides; boxes
// above it, beside an edge and beyond a corner, where it is round.
static void boxes_meet_the_skin_of_sheets(void** state) {
  (void)state;
  yw_scene* scene = scene_of(
      "{\"gravity\": [0, 0, 0], \"bodies\": [{\"sheet\": {\"rectangle\": {\"width\": 2, "
      "\"depth\": 2, \"across\": 2, \"along\": 2}, \"thickness\": 0.1}, \"slender\": {}}]}");
  yw_world* world = world_of(scene);
  static const struct {
    yw_vec3 center;
    int32_t count;
  } places[] = {{{0.4f, 0.09f, 0.3f}, 1},   {{0.4f, 0.11f, 0.3f}, 0}, {{-0.4f, -0.09f, -0.3f}, 1},
                {{0, 0.08f, 0}, 1},         {{1.09f, 0, 0.3f}, 1},    {{1.11f, 0, 0.3f}, 0},
                {{1.08f, 0.03f, 1.08f}, 1}, {{1.09f, 0, 1.09f}, 0}};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    yw_hit hit;
    const yw_vec3 half = {0.05f, 0.05f, 0.05f};
    int32_t count =
        yw_world_overlap_box(world, places[i].center, half, (yw_quat){0, 0, 0, 1}, NULL, &hit, 1);
    assert_int_equal(count, places[i].count);
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
}

// Points sampled densely on a triangle decide whether it meets a turned box.
static void boxes_agree_with_samples(void** state) {
  (void)state;
  static primitive items[MOST_PRIMITIVES];
  test_random random = {13};
  yw_world* world = make_mixed_world(9);
  int found = 0;
  for (int i = 0; i < 60; ++i) {
    yw_vec3 center = random_point(&random, 1.6), axis = random_point(&random, 1.0);
    yw_quat turn = yw_quat_normalize((yw_quat){axis.x, axis.y, axis.z, 0.4f});
    yw_vec3 half = {0.3f, 0.1f, 0.2f};
    yw_hit hits[16];
    int32_t count = yw_world_overlap_box(world, center, half, turn, NULL, hits, 16);
    found += count;
    for (int32_t slot = 0; slot < world->bodies.count; ++slot) {
      int32_t num = list_primitives(world, slot, items);
      bool listed = false, seen = false;
      for (int32_t k = 0; k < count; ++k)
        listed = listed || hits[k].body.index1 == (uint32_t)slot + 1;
      for (int32_t k = 0; k < num && !seen; ++k) {
        for (int s = 0; s < 231 && !seen; ++s) {
          double a = (double)(s % 21) / 20.0, b = (double)(s / 21) / 10.0 * (1.0 - a);
          yw_vec3 p;
          float* out = &p.x;
          for (int d = 0; d < 3; ++d) {
            double last = items[k].corners == 3 ? items[k].x[2][d] : items[k].x[1][d];
            out[d] = (float)((1.0 - a - b) * items[k].x[0][d] + a * items[k].x[1][d] + b * last);
          }
          yw_vec3 in = yw_rotate(yw_quat_conjugate(turn), yw_sub(p, center));
          seen = fabsf(in.x) < half.x && fabsf(in.y) < half.y && fabsf(in.z) < half.z;
        }
      }
      // Samples can miss a corner of the box, but never see what is not there.
      if (seen) assert_true(listed);
    }
    // And what is listed comes as near as the box reaches.
    for (int32_t k = 0; k < count; ++k) {
      assert_at_most(hits[k].distance, yw_length(half) + 1e-4f);
      if (!hits[k].inside) check_weights(world, &hits[k]);
    }
  }
  assert_true(found > 20);
  yw_world_destroy(world);
}

// Cuts a polygon at the plane x[axis] = sign * bound.
static int clip(double polygon[12][3], int count, int axis, double sign, double bound) {
  double out[12][3];
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const double *p = polygon[i], *q = polygon[(i + 1) % count];
    double a = bound - sign * p[axis], b = bound - sign * q[axis];
    if (a >= 0.0) memcpy(out[kept++], p, sizeof out[0]);
    if ((a < 0.0) == (b < 0.0)) continue;
    for (int k = 0; k < 3; ++k) out[kept][k] = p[k] + a / (a - b) * (q[k] - p[k]);
    ++kept;
  }
  memcpy(polygon, out, (size_t)kept * sizeof out[0]);
  return kept;
}

// Separating axes against clipping the triangle by the faces of the box.
static void triangles_and_boxes_agree(void** state) {
  (void)state;
  test_random random = {17};
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    yw_vec3 half = {0.5f, 0.3f, 0.8f}, x[3];
    double polygon[12][3];
    int count = 3;
    for (int k = 0; k < 3; ++k) {
      x[k] = random_point(&random, 1.5);
      for (int d = 0; d < 3; ++d) polygon[k][d] = (double)(&x[k].x)[d];
    }
    for (int d = 0; d < 6 && count > 0; ++d) {
      count = clip(polygon, count, d / 2, d % 2 == 0 ? 1.0 : -1.0, (double)(&half.x)[d / 2]);
    }
    assert_int_equal(yw_box_meets_triangle(half, x[0], x[1], x[2]), count > 0);
    met += count > 0;
  }
  assert_true(met > 2000 && met < 19000);
}

// A box of 0.5 x 1 x 0.5 m whose faces are cut into squares of 0.25 m with diagonals.
static yw_world* make_box_world(yw_body_id* body) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_box_model(2, 4, 2, 0);
  *body = add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  return world;
}

static void shared_edges_and_corners_are_hit_once(void** state) {
  (void)state;
  yw_body_id body;
  yw_world* world = make_box_world(&body);
  // Lattice points, middles of sides, and points on diagonals of the top face, borders included.
  for (int i = -8; i <= 8; ++i) {
    for (int k = -8; k <= 8; ++k) {
      yw_vec3 from = {(float)i / 32.0f, 2.0f, (float)k / 32.0f};
      yw_hit hits[4];
      int32_t count = yw_world_cast_ray_all(world, from, (yw_vec3){0, -4, 0}, NULL, hits, 4);
      assert_int_equal(count, 1);
      assert_near(hits[0].distance, 1.5, 0.0);
      assert_near(hits[0].point.y, 0.5, 0.0);
      check_weights(world, &hits[0]);
      // Slanted rays through the same points.
      yw_vec3 top = {from.x, 0.5f, from.z}, start = yw_add(top, (yw_vec3){0.75f, 0.5f, -0.25f});
      count =
          yw_world_cast_ray_all(world, start, yw_scale(yw_sub(top, start), 2.0f), NULL, hits, 4);
      assert_int_equal(count, 1);
    }
  }
  // Just beside the box there is nothing.
  yw_hit hit;
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.2500001f, 2, 0.1f}, (yw_vec3){0, -4, 0}, NULL, &hit), 0);
  yw_world_destroy(world);
}

static void grazing_inside_and_empty_rays(void** state) {
  (void)state;
  yw_body_id body;
  yw_world* world = make_box_world(&body);
  yw_hit hit;
  // In the plane of a face: the box is met where the ray reaches it.
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.25f, 2, 0.1f}, (yw_vec3){0, -4, 0}, NULL, &hit), 1);
  assert_near(hit.distance, 1.5, 0.0);
  // Along an edge of the box.
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.25f, 2, 0.25f}, (yw_vec3){0, -4, 0}, NULL, &hit), 1);
  assert_near(hit.distance, 1.5, 0.0);
  // Ends exactly on the surface, and just before it.
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.1f, 1, 0.1f}, (yw_vec3){0, -0.5f, 0}, NULL, &hit), 1);
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.1f, 1, 0.1f}, (yw_vec3){0, -0.4999f, 0}, NULL, &hit), 0);
  // Starts inside: met at once, and the nearest face says which way is out.
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.2f, 0.1f, 0}, (yw_vec3){0, 5, 0}, NULL, &hit), 1);
  assert_true(hit.inside);
  assert_near(hit.distance, 0.0, 0.0);
  assert_near(hit.normal.x, 1.0, 1e-6);
  assert_near(hit.point.x, 0.2f, 0.0);
  assert_near(hit.point.y, 0.1f, 0.0);
  yw_query_filter filter = yw_default_query_filter();
  filter.skip_inside = true;
  assert_int_equal(
      yw_world_cast_ray(world, (yw_vec3){0.2f, 0.1f, 0}, (yw_vec3){0, 5, 0}, &filter, &hit), 0);
  // No way at all: only what it starts in.
  assert_int_equal(yw_world_cast_ray(world, (yw_vec3){0, 0, 0}, (yw_vec3){0, 0, 0}, NULL, &hit), 1);
  assert_int_equal(yw_world_cast_ray(world, (yw_vec3){0, 2, 0}, (yw_vec3){0, 0, 0}, NULL, &hit), 0);
  assert_int_equal(
      yw_world_cast_ball(world, (yw_vec3){0, 0.6f, 0}, 0.2f, (yw_vec3){0, 0, 0}, NULL, &hit), 1);
  assert_true(hit.inside);
  yw_world_destroy(world);
}

// Every point of a fine grid, with many exactly on planes of the lattice, is inside or not.
static void containment_is_exact_on_lattice_planes(void** state) {
  (void)state;
  yw_body_id body;
  yw_world* world = make_box_world(&body);
  for (int i = -15; i <= 15; ++i) {
    for (int k = -15; k <= 15; ++k) {
      yw_vec3 p = {(float)i / 48.0f, (float)k / 24.0f, (float)(i + k) / 96.0f};
      bool inside = fabsf(p.x) < 0.25f && fabsf(p.y) < 0.5f && fabsf(p.z) < 0.25f;
      bool border = fabsf(p.x) == 0.25f || fabsf(p.y) == 0.5f || fabsf(p.z) == 0.25f;
      yw_hit hit;
      assert_int_equal(yw_world_nearest(world, p, INFINITY, NULL, &hit), 1);
      if (!border) assert_int_equal(hit.inside, inside);
      if (border && inside) assert_near(hit.distance, 0.0, 1e-7);
    }
  }
  yw_world_destroy(world);
}

static void filters_choose_what_is_seen(void** state) {
  (void)state;
  yw_error error = {0};
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_model* model = make_box_model(1, 2, 1, 0);
  yw_body_id ids[3];
  for (int i = 0; i < 3; ++i) {
    yw_body_def def = yw_default_body_def();
    def.model = model;
    def.transform.position.y = 1.0f + 2.0f * (float)i;
    def.groups = 1u << i;
    def.start = i == 0 ? 1.0 : 0.0;
    assert_int_equal(yw_body_create(world, &def, &ids[i], &error), YW_OK);
  }
  yw_model_release(model);
  yw_vec3 from = {0, 9, 0}, way = {0, -10, 0};
  yw_hit hits[8];
  // The lowest body has not started; the floor comes last.
  assert_int_equal(yw_world_cast_ray_all(world, from, way, NULL, hits, 8), 3);
  assert_int_equal(hits[0].body.index1, ids[2].index1);
  assert_int_equal(hits[1].body.index1, ids[1].index1);
  assert_int_equal(hits[2].obstacle.index1, 1);
  assert_near(hits[2].distance, 9.0, 1e-5);
  // Where there is room for two, the nearest two are written.
  yw_hit two[2];
  assert_int_equal(yw_world_cast_ray_all(world, from, way, NULL, two, 2), 3);
  assert_memory_equal(&two[1].body, &hits[1].body, sizeof two[1].body);
  yw_query_filter filter = yw_default_query_filter();
  filter.mask = 2;
  assert_int_equal(yw_world_cast_ray_all(world, from, way, &filter, hits, 8), 1);
  filter = yw_default_query_filter();
  filter.ignored = ids[2];
  filter.obstacles = false;
  assert_int_equal(yw_world_cast_ray(world, from, way, &filter, hits), 1);
  assert_int_equal(hits[0].body.index1, ids[1].index1);
  filter.bodies = false;
  assert_int_equal(yw_world_cast_ray(world, from, way, &filter, hits), 0);
  yw_world_destroy(world);
}

static void bad_arguments_are_refused(void** state) {
  (void)state;
  yw_body_id body;
  yw_world* world = make_box_world(&body);
  yw_vec3 zero = {0, 0, 0}, bad = {NAN, 0, 0};
  yw_quat none = {0, 0, 0, 1};
  yw_hit hit;
  assert_int_equal(yw_world_cast_ray(NULL, zero, zero, NULL, &hit), YW_ERR_INVALID);
  assert_int_equal(yw_world_cast_ray(world, bad, zero, NULL, &hit), YW_ERR_INVALID);
  assert_int_equal(yw_world_cast_ray(world, zero, bad, NULL, &hit), YW_ERR_INVALID);
  assert_int_equal(yw_world_cast_ray(world, zero, zero, NULL, NULL), YW_ERR_INVALID);
  assert_int_equal(yw_world_cast_ball(world, zero, -1.0f, zero, NULL, &hit), YW_ERR_INVALID);
  assert_int_equal(yw_world_cast_ray_all(world, zero, zero, NULL, &hit, -1), YW_ERR_INVALID);
  assert_int_equal(yw_world_nearest(world, zero, NAN, NULL, &hit), YW_ERR_INVALID);
  assert_int_equal(yw_world_overlap_ball(world, zero, INFINITY, NULL, &hit, 1), YW_ERR_INVALID);
  assert_int_equal(yw_world_overlap_box(world, zero, bad, none, NULL, &hit, 1), YW_ERR_INVALID);
  assert_int_equal(yw_world_overlap_box(world, zero, zero, (yw_quat){0, 0, 0, 0}, NULL, &hit, 1),
                   YW_ERR_INVALID);
  assert_int_equal(yw_world_overlap_ball(world, zero, 1.0f, NULL, NULL, 0), 1);
  // A point is a ball of no size.
  assert_int_equal(yw_world_overlap_ball(world, zero, 0.0f, NULL, NULL, 0), 1);
  assert_int_equal(yw_world_overlap_ball(world, yw_v3(9, 9, 9), 0.0f, NULL, NULL, 0), 0);
  yw_world_destroy(world);
}

// Queries follow bodies that move, and allocate nothing once the trees are there.
static void queries_follow_steps_without_the_heap(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  def.mem = counted_allocator(&memory);
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_OK);
  yw_model* model = make_box_model(2, 4, 2, 0);
  yw_body_id id = add_body(world, model, (yw_vec3){0, 5, 0}, (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  for (int step = 0; step < 20; ++step) {
    yw_hit hit;
    assert_int_equal(yw_world_nearest(world, (yw_vec3){0, -9, 0}, INFINITY, NULL, &hit), 1);
    int before = memory.calls;
    yw_body_sums sums;
    yw_body_sums_of(world, id, &sums);
    assert_int_equal(
        yw_world_cast_ray(world, (yw_vec3){0.1f, 9, 0.1f}, (yw_vec3){0, -20, 0}, NULL, &hit), 1);
    assert_near(hit.point.y, sums.center[1] + 0.5, 1e-3);
    assert_int_equal(memory.calls, before);
    yw_world_step(world, 1.0f / 60, 2, NULL);
  }
  assert_int_equal(yw_body_destroy(world, id), YW_OK);
  yw_hit hit;
  assert_int_equal(yw_world_nearest(world, (yw_vec3){0, 0, 0}, INFINITY, NULL, &hit), 0);
  yw_world_destroy(world);
  assert_int_equal(memory.alive, 0);
}

typedef struct reader {
  const yw_world* world;
  float sum;
} reader;

static void* read_many(void* context) {
  reader* r = context;
  for (int i = 0; i < 200; ++i) {
    yw_hit hit = {0};
    yw_vec3 p = {0.01f * (float)(i % 40), 0.02f * (float)(i % 7), -0.5f};
    if (yw_world_nearest(r->world, p, INFINITY, NULL, &hit) == 1) r->sum += hit.distance;
  }
  return NULL;
}

// Several threads ask at once, right after a change: each gets the same answers.
static void threads_may_ask_at_once(void** state) {
  (void)state;
  yw_world* world = make_mixed_world(21);
  reader readers[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    readers[i] = (reader){world, 0.0f};
    assert_int_equal(pthread_create(&threads[i], NULL, read_many, &readers[i]), 0);
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  for (int i = 1; i < 4; ++i) assert_true(readers[i].sum == readers[0].sum);
  yw_world_destroy(world);
}

// A ball that meets a ball, a segment or a triangle ahead after half of its way, and none behind.
static void ways_that_lead_away_meet_nothing(void** state) {
  (void)state;
  const yw_vec3 a = {0, 0, 0}, b = {0, 1, 0}, c = {0, 0, 1};
  for (int side = -1; side <= 1; side += 2) {
    const yw_vec3 from = {2, 0.25f, 0.25f}, way = {-2.0f * (float)side, 0, 0};
    const double shares[3] = {yw_sweep_ball(yw_v3(2, 0, 0), way, a, 1.0),
                              yw_sweep_segment(from, way, yw_v3(0, -1, 0.25f), b, 1.0),
                              yw_sweep_triangle(from, way, a, b, c, 1.0)};
    assert_near(shares[0], side > 0 ? 0.5 : -1.0, 1e-6);
    if (side < 0) assert_near(shares[1], -1.0, 0);
    assert_near(shares[2], side > 0 ? 0.5 : -1.0, 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(casts_agree_with_brute_force),
      cmocka_unit_test(nearest_agrees_with_brute_force),
      cmocka_unit_test(overlaps_agree_with_brute_force),
      cmocka_unit_test(boxes_meet_the_skin_of_sheets),
      cmocka_unit_test(boxes_agree_with_samples),
      cmocka_unit_test(triangles_and_boxes_agree),
      cmocka_unit_test(shared_edges_and_corners_are_hit_once),
      cmocka_unit_test(grazing_inside_and_empty_rays),
      cmocka_unit_test(containment_is_exact_on_lattice_planes),
      cmocka_unit_test(filters_choose_what_is_seen),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(queries_follow_steps_without_the_heap),
      cmocka_unit_test(threads_may_ask_at_once),
      cmocka_unit_test(ways_that_lead_away_meet_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
