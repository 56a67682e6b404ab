// SPDX-License-Identifier: MIT
// Triangles of shapes, for contact and for pictures: closed, facing outward, on the surface or a
// little inside it, around the right volume.
#include "geometry/shape.h"
#include "support/counted_memory.h"
#include "support/mesh_testing.h"
#include "yawara/shape.h"

typedef struct sample_shape {
  const char* name;
  yw_shape* shape;
  double volume;
  bool smooth;  // vertices are exactly at their depth
} sample_shape;

enum { NUM_SAMPLES = 12 };
#define PI 3.14159265358979

static yw_shape* moved(yw_shape* shape, float scale) {
  yw_shape* out = NULL;
  const yw_quat turn = {0.1826f, 0.3651f, 0.5477f, 0.7303f};
  const yw_transform at = {{0.3f, -0.2f, 0.5f}, turn, scale};
  assert_int_equal(yw_shape_transform(NULL, shape, at, &out), YW_OK);
  yw_shape_release(shape);
  return out;
}

static void make_samples(sample_shape* s) {
  for (int i = 0; i < NUM_SAMPLES; ++i) s[i] = (sample_shape){.smooth = true};
  s[0].name = "sphere", s[0].volume = 4 * PI / 3 * 0.125;
  yw_shape_sphere(NULL, 0.5f, &s[0].shape);
  s[1].name = "box", s[1].volume = 8 * 0.3 * 0.4 * 0.5;
  yw_shape_box(NULL, yw_v3(0.3f, 0.4f, 0.5f), &s[1].shape);
  // Inner box, plates on its sides, quarters of cylinders at its edges, a ball.
  s[2].name = "rounded box";
  s[2].volume = 0.4 * 0.6 * 0.8 + 0.2 * (0.4 * 0.6 + 0.6 * 0.8 + 0.8 * 0.4) +
                PI * 0.01 * (0.4 + 0.6 + 0.8) + 4 * PI / 3 * 1e-3;
  yw_shape_rounded_box(NULL, yw_v3(0.3f, 0.4f, 0.5f), 0.1f, &s[2].shape);
  s[3].name = "capsule", s[3].volume = PI * 0.04 * sqrt(0.75) + 4 * PI / 3 * 0.008;
  yw_shape_capsule(NULL, yw_v3(0, 0, 0), yw_v3(0.5f, -0.5f, 0.5f), 0.2f, &s[3].shape);
  s[4].name = "cylinder", s[4].volume = PI * 0.09 * 0.8;
  yw_shape_cylinder(NULL, 0.3f, 0.4f, &s[4].shape);
  s[5].name = "frustum", s[5].volume = PI * 0.8 / 3 * (0.09 + 0.06 + 0.04), s[5].smooth = false;
  yw_shape_cone(NULL, 0.3f, 0.2f, 0.4f, &s[5].shape);
  s[6].name = "cone", s[6].volume = PI * 0.8 / 3 * 0.09, s[6].smooth = false;
  yw_shape_cone(NULL, 0.3f, 0.0f, 0.4f, &s[6].shape);
  s[7].name = "torus", s[7].volume = 2 * PI * PI * 0.4 * 0.01;
  yw_shape_torus(NULL, 0.4f, 0.1f, &s[7].shape);
  yw_shape *ball, *brick, *parts[2];
  yw_shape_rounded_box(NULL, yw_v3(0.3f, 0.4f, 0.5f), 0.1f, &brick);
  s[8].name = "moved rounded box", s[8].volume = 8 * s[2].volume, s[8].shape = moved(brick, 2.0f);
  // Two balls apart, and a ball in a box that cuts its top half off.
  yw_shape_sphere(NULL, 0.2f, &ball);
  parts[0] = yw_shape_retain(ball), parts[1] = moved(ball, 1.0f);
  yw_shape_union(NULL, 2, parts, 0.0f, &s[9].shape);
  s[9].name = "union", s[9].volume = 2 * 4 * PI / 3 * 0.008;
  yw_shape_release(parts[0]), yw_shape_release(parts[1]);
  yw_shape_sphere(NULL, 0.5f, &parts[0]);
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &parts[1]);
  yw_shape_intersection(NULL, 2, parts, 0.0f, &s[10].shape);
  s[10].name = "half a ball", s[10].volume = 0.5 * s[0].volume, s[10].smooth = false;
  yw_shape_release(parts[0]), yw_shape_release(parts[1]);
  yw_shape_cylinder(NULL, 0.3f, 0.4f, &brick);
  s[11].name = "moved cylinder", s[11].volume = s[4].volume / 8, s[11].shape = moved(brick, 0.5f);
  for (int i = 0; i < NUM_SAMPLES; ++i) assert_non_null(s[i].shape);
}

// Corners are within `slack` of `depth` inside; triangles face outward and leave no hole.
static void check(const sample_shape* s, const yw_tri_mesh* mesh, double depth, double slack,
                  double share) {
  double sum[3] = {0}, area = 0, outward = 0;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    double d = (double)yw_shape_distance(s->shape, mesh->positions[i]);
    if (!(fabs(d + depth) <= slack)) {
      fail_msg("%s: corner %d is %g m deep, expected %g", s->name, (int)i, -d, depth);
    }
  }
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = mesh->triangles + 3 * t;
    yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]], n;
    yw_vec3 twice = yw_cross(yw_sub(b, a), yw_sub(c, a));
    yw_vec3 middle = yw_scale(yw_add(a, yw_add(b, c)), 1.0f / 3);
    yw_shape_distance_normal(s->shape, middle, &n);
    sum[0] += (double)twice.x, sum[1] += (double)twice.y, sum[2] += (double)twice.z;
    area += (double)yw_length(twice);
    outward += (double)yw_dot(twice, n);
  }
  // Facets of 1 / 32 of a circle are 6 degrees off at most; edges of what is cut are beveled.
  if (!(outward > 0.97 * area)) fail_msg("%s: triangles face %g outward", s->name, outward / area);
  for (int k = 0; k < 3; ++k) {
    if (!(fabs(sum[k]) < 1e-5 * area)) fail_msg("%s: hole of %g", s->name, sum[k] / area);
  }
  double volume = enclosed_volume(mesh) / s->volume;
  if (!(fabs(volume - 1) < share)) fail_msg("%s: %g of its volume", s->name, volume);
}

// For contact: shared corners, a little inside.
static void triangles_lie_inside(void** state) {
  (void)state;
  sample_shape samples[NUM_SAMPLES];
  make_samples(samples);
  for (int i = 0; i < NUM_SAMPLES; ++i) {
    const sample_shape* s = &samples[i];
    yw_tri_mesh mesh;
    float inset;
    assert_int_equal(yw_shape_triangles(s->shape, NULL, &mesh, &inset), YW_OK);
    assert_true(inset > 0.0f && inset < 2e-3f);
    assert_balanced(&mesh);
    // 32 sides have 0.6 % less area than their circle, the 16 of a torus' tube 2.6 %.
    check(s, &mesh, (double)inset, s->smooth ? 0.01 * (double)inset : 1.0 * (double)inset,
          i == 7 ? 0.05 : 0.035);
    yw_tri_mesh_free(&mesh);
    yw_shape_release(s->shape);
  }
}

// For pictures: on the surface, with more sides.
static void what_is_shown_lies_on_the_surface(void** state) {
  (void)state;
  sample_shape samples[NUM_SAMPLES];
  make_samples(samples);
  for (int i = 0; i < NUM_SAMPLES; ++i) {
    const sample_shape* s = &samples[i];
    yw_tri_mesh mesh;
    assert_int_equal(yw_shape_tessellate(s->shape, NULL, 0.03f, &mesh, NULL), YW_OK);
    check(s, &mesh, 0.0, s->smooth || i < 8 ? 1e-6 : 1e-3, 0.012);
    yw_tri_mesh_free(&mesh);
    yw_shape_release(s->shape);
  }
}

// Whichever allocation fails: an error, and nothing is kept.
static void memory_that_runs_out_is_an_error(void** state) {
  (void)state;
  sample_shape samples[NUM_SAMPLES];
  make_samples(samples);
  for (int i = 0; i < NUM_SAMPLES; ++i) {
    for (int kind = 0; kind < 2; ++kind) {
      yw_status status = YW_ERR_MEMORY;
      for (int left = 0; status < 0; ++left) {
        counted_memory memory = {.left = left};
        yw_allocator mem = counted_allocator(&memory);
        yw_tri_mesh mesh;
        float inset;
        status = kind ? yw_shape_tessellate(samples[i].shape, &mem, 0.2f, &mesh, NULL)
                      : yw_shape_triangles(samples[i].shape, &mem, &mesh, &inset);
        if (status < 0) assert_int_equal(status, YW_ERR_MEMORY);
        if (status >= 0) assert_at_least(mesh.num_triangles, 8);
        if (status >= 0) yw_tri_mesh_free(&mesh);
        assert_int_equal(memory.alive, 0);
        // Surfaces from a lattice ask often.
        if (left > 12) left += left / 4;
      }
    }
    yw_shape_release(samples[i].shape);
  }
}

// A plane has no end, and what does not overlap nothing to show.
static void what_has_no_surface_has_no_triangles(void** state) {
  (void)state;
  yw_shape *plane, *balls[2], *empty;
  yw_tri_mesh mesh;
  float inset = 1;
  yw_shape_plane(NULL, yw_v3(0, 1, 0), 0.0f, &plane);
  assert_int_equal(yw_shape_triangles(plane, NULL, &mesh, &inset), YW_OK);
  assert_int_equal(mesh.num_triangles, 0);
  assert_near(inset, 0, 0);
  yw_error error = {0};
  assert_int_equal(yw_shape_tessellate(plane, NULL, 0.1f, &mesh, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "has no end"));
  yw_shape_sphere(NULL, 0.1f, &balls[0]);
  balls[1] = moved(yw_shape_retain(balls[0]), 1.0f);
  yw_shape_intersection(NULL, 2, balls, 0.0f, &empty);
  assert_true(yw_shape_triangles(empty, NULL, &mesh, &inset) >= 0);
  assert_int_equal(mesh.num_triangles, 0);
  yw_tri_mesh_free(&mesh);
  for (int i = 0; i < 2; ++i) yw_shape_release(balls[i]);
  yw_shape_release(empty);
  yw_shape_release(plane);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triangles_lie_inside),
      cmocka_unit_test(what_is_shown_lies_on_the_surface),
      cmocka_unit_test(memory_that_runs_out_is_an_error),
      cmocka_unit_test(what_has_no_surface_has_no_triangles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
