// SPDX-License-Identifier: MIT
// The shown surface of a plastic body: exactly what was given, moved by the masters, until they
// part.
#include "support/plastic_testing.h"
#include "support/world_fixture.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define SPACING 0.05f

typedef struct clay {
  yw_world* world;
  yw_model* model;
  yw_body_id body;
  yw_tri_mesh surface;
  yw_vec3 *shown, *rest;  // of the surface; masters
  int32_t num_masters;
} clay;

static clay begin(yw_shape* shape, float size, int32_t threads) {
  clay c = {.world = make_weightless_world(threads)};
  yw_error error = {0};
  assert_int_equal(yw_shape_surface(shape, NULL, size, &c.surface, &error), YW_OK);
  yw_plastic_part part = yw_default_plastic_part();
  part.shape = shape;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  assert_int_equal(
      yw_model_create_plastic_surface(NULL, &def, NULL, &c.surface, NULL, &c.model, &error), YW_OK);
  yw_body_def body = yw_default_body_def();
  body.model = c.model;
  assert_int_equal(yw_body_create(c.world, &body, &c.body, &error), YW_OK);
  c.shown = malloc(sizeof(yw_vec3) * (size_t)c.surface.num_vertices);
  const yw_vec3* x = yw_body_positions(c.world, c.body, &c.num_masters);
  c.rest = malloc(sizeof(yw_vec3) * (size_t)c.num_masters);
  memcpy(c.rest, x, sizeof(yw_vec3) * (size_t)c.num_masters);
  yw_shape_release(shape);
  return c;
}

static void end(clay* c) {
  yw_world_destroy(c->world);
  yw_model_release(c->model);
  yw_tri_mesh_free(&c->surface);
  free(c->shown);
  free(c->rest);
}

static yw_shape* box(float x, float y, float z) {
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_box(NULL, yw_v3(0.5f * x, 0.5f * y, 0.5f * z), &shape), YW_OK);
  return shape;
}

static yw_shape* ball(float radius) {
  yw_shape* shape = NULL;
  assert_int_equal(yw_shape_sphere(NULL, radius, &shape), YW_OK);
  return shape;
}

typedef struct motion {
  yw_mat3 map;
  yw_vec3 shift;
} motion;

static yw_vec3 moved(const motion* m, yw_vec3 p) { return yw_add(yw_mul(m->map, p), m->shift); }

// Largest distance of a vertex from where the motion of all masters takes it, in spacings.
static float error_of(clay* c, const motion* m) {
  yw_vec3* x = malloc(sizeof(yw_vec3) * (size_t)c->num_masters);
  for (int32_t i = 0; i < c->num_masters; ++i) x[i] = moved(m, c->rest[i]);
  assert_int_equal(yw_body_set_state(c->world, c->body, x, NULL), YW_OK);
  free(x);
  assert_int_equal(yw_body_surface_positions(c->world, c->body, c->shown, c->surface.num_vertices),
                   YW_OK);
  float worst = 0;
  for (int32_t i = 0; i < c->surface.num_vertices; ++i) {
    worst = fmaxf(worst, yw_distance(c->shown[i], moved(m, c->surface.positions[i])));
  }
  return worst / SPACING;
}

static const motion still = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

static motion turned(float degrees) {
  yw_vec3 axis = yw_normalize_or(yw_v3(1, 2, -1), yw_v3(0, 0, 0));
  float half = 0.5f * degrees * 0.0174532925f, s = yw_sinf(half);
  yw_quat q = {s * axis.x, s * axis.y, s * axis.z, yw_cosf(half)};
  return (motion){yw_mat3_from_quat(q), {0.3f, -0.2f, 1.0f}};
}

// Solid, thin, and a rod of single masters, whose own rotation only the whole body knows.
static void rigid_motions_are_exact(void** state) {
  (void)state;
  yw_shape* shapes[] = {ball(0.3f), box(0.5f, 0.3f, 0.2f), box(0.6f, SPACING, 0.6f),
                        box(0.6f, SPACING, SPACING)};
  for (int k = 0; k < 4; ++k) {
    clay c = begin(shapes[k], 0.03f, 1);
    assert_true(yw_model_surface_parts(c.model));
    float at_rest = error_of(&c, &still), worst = 0;
    for (int i = 1; i < 6; ++i) {
      // A line of masters says nothing of a turn about itself.
      motion m = turned(k == 3 ? 1e-3f : 60.0f * (float)i);
      worst = fmaxf(worst, error_of(&c, &m));
    }
    print_message("           shape %d: %.1e spacings at rest, %.1e moved\n", k, (double)at_rest,
                  (double)worst);
    assert_true(at_rest < 1e-4f);
    assert_true(worst < 2e-4f);
    end(&c);
  }
}

// The skin of a lattice covers each side of it once: two triangles per square of four masters. A
// thread has none.
static void skins_cover_the_lattice(void** state) {
  (void)state;
  const int sizes[4][3] = {{4, 3, 5}, {2, 2, 2}, {6, 1, 4}, {7, 1, 1}};
  for (int k = 0; k < 4; ++k) {
    int x = sizes[k][0], y = sizes[k][1], z = sizes[k][2], sides = y == 1 ? 1 : 2;
    plastic_lab lab;
    yw_shape* shape = lab_box(x, y, z, SPACING);
    lab_begin_shape(&lab, shape, SPACING, NULL);
    assert_int_equal(lab.particles.count, x * y * z);
    int squares = (x - 1) * (y - 1) + (y - 1) * (z - 1) + (x - 1) * (z - 1);
    assert_int_equal(lab.model->skin != NULL, squares > 0);
    if (squares > 0) assert_int_equal(lab.model->parts[0].skin_end, 2 * sides * squares);
    lab_end(&lab);
    yw_shape_release(shape);
  }
}

// Affine motions to 2 % of the stretch over a spacing.
static void stretched_bodies_stretch_their_surface(void** state) {
  (void)state;
  clay c = begin(ball(0.3f), 0.03f, 1);
  motion squash = {{{1.3f, 0.1f, 0}, {0, 0.6f, 0}, {0.2f, 0, 1.2f}}, {0, 1, 0}};
  float error = error_of(&c, &squash);
  print_message("           %.1e spacings\n", (double)error);
  assert_true(error < 0.02f);
  float* parted = malloc(sizeof(float) * (size_t)c.num_masters);
  assert_int_equal(yw_body_parted(c.world, c.body, parted, c.num_masters), 0);
  free(parted);
  end(&c);
}

// A bend of radius 12 spacings: a tenth of a spacing from the exact one at the ends, where masters
// are on one side only, and less between.
static void bent_surfaces_are_smooth(void** state) {
  (void)state;
  clay c = begin(box(1.0f, 0.2f, 0.2f), 0.02f, 1);
  const float radius = 0.6f;
  yw_vec3* x = malloc(sizeof(yw_vec3) * (size_t)c.num_masters);
  for (int32_t i = 0; i < c.num_masters; ++i) {
    float angle = c.rest[i].x / radius, out = radius + c.rest[i].y;
    x[i] = yw_v3(out * yw_sinf(angle), out * yw_cosf(angle) - radius, c.rest[i].z);
  }
  assert_int_equal(yw_body_set_state(c.world, c.body, x, NULL), YW_OK);
  assert_int_equal(yw_body_surface_positions(c.world, c.body, c.shown, c.surface.num_vertices),
                   YW_OK);
  float worst = 0, between = 0;
  for (int32_t i = 0; i < c.surface.num_vertices; ++i) {
    yw_vec3 p = c.surface.positions[i];
    float angle = p.x / radius, out = radius + p.y;
    yw_vec3 exact = yw_v3(out * yw_sinf(angle), out * yw_cosf(angle) - radius, p.z);
    float error = yw_distance(exact, c.shown[i]);
    worst = fmaxf(worst, error);
    if (fabsf(p.x) < 0.35f) between = fmaxf(between, error);
  }
  print_message("           bent: %.3f spacings from the exact bend, %.3f between the ends\n",
                (double)(worst / SPACING), (double)(between / SPACING));
  assert_true(worst < 0.12f * SPACING && between < 0.06f * SPACING);
  free(x);
  end(&c);
}

// Halves that are pulled apart part where they were joined, and nowhere else.
static void torn_bodies_part_at_the_tear(void** state) {
  (void)state;
  clay c = begin(box(0.8f, 0.3f, 0.3f), 0.03f, 1);
  float* parted = malloc(sizeof(float) * (size_t)c.num_masters);
  yw_vec3* x = malloc(sizeof(yw_vec3) * (size_t)c.num_masters);
  float before = 0;
  for (int step = 0; step <= 10; ++step) {
    float gap = 0.15f * SPACING * (float)step, largest = 0;
    for (int32_t i = 0; i < c.num_masters; ++i) {
      x[i] = yw_add(c.rest[i], yw_v3(c.rest[i].x > 0 ? gap : 0, 0, 0));
    }
    assert_int_equal(yw_body_set_state(c.world, c.body, x, NULL), YW_OK);
    int32_t count = yw_body_parted(c.world, c.body, parted, c.num_masters);
    for (int32_t i = 0; i < c.num_masters && count > 0; ++i) {
      if (fabsf(c.rest[i].x) > 2.1f * SPACING) assert_true(parted[i] == 0);
      largest = fmaxf(largest, parted[i]);
    }
    // Little by little: no jump from frame to frame.
    assert_true(largest >= before && largest < before + 0.7f);
    before = largest;
  }
  assert_true(before == 1);
  free(parted);
  free(x);
  end(&c);
}

// Two cubes of one model, `gap` spacings apart: the largest value of yw_body_parted, and the
// largest farther than 3.1 spacings from the other cube.
static void part_two_cubes(float gap, float* most, float* far) {
  const float side = 0.3f;
  yw_shape* shape = box(side, side, side);
  yw_plastic_part parts[2] = {yw_default_plastic_part(), yw_default_plastic_part()};
  for (int k = 0; k < 2; ++k) {
    parts[k].shape = shape;
    parts[k].transform.position.x = (float)k * (side + gap * SPACING);
  }
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = parts;
  def.num_parts = 2;
  clay c = {.world = make_weightless_world(1)};
  yw_error error = {0};
  assert_int_equal(yw_shape_surface(shape, NULL, 0.05f, &c.surface, &error), YW_OK);
  assert_int_equal(
      yw_model_create_plastic_surface(NULL, &def, NULL, &c.surface, NULL, &c.model, &error), YW_OK);
  yw_body_def body = yw_default_body_def();
  body.model = c.model;
  assert_int_equal(yw_body_create(c.world, &body, &c.body, &error), YW_OK);
  const yw_vec3* x = yw_body_positions(c.world, c.body, &c.num_masters);
  float* parted = calloc((size_t)c.num_masters, sizeof(float));
  yw_body_parted(c.world, c.body, parted, c.num_masters);
  float last = -INFINITY, first = INFINITY;
  for (int32_t i = 0; i < c.num_masters; ++i) {
    if (x[i].x < 0.5f * side + 0.5f * gap * SPACING) last = fmaxf(last, x[i].x);
    if (x[i].x > 0.5f * side + 0.5f * gap * SPACING) first = fminf(first, x[i].x);
  }
  *most = *far = 0;
  for (int32_t i = 0; i < c.num_masters; ++i) {
    *most = fmaxf(*most, parted[i]);
    bool is_far = x[i].x < first - 3.1f * SPACING || x[i].x > last + 3.1f * SPACING;
    if (is_far) *far = fmaxf(*far, parted[i]);
  }
  free(parted);
  yw_shape_release(shape);
  end(&c);
}

// Where parts meet their surfaces give way to the skin, which has no crease there; not by a half,
// at which the page would show the skin everywhere.
static void parts_that_meet_merge(void** state) {
  (void)state;
  float most, far;
  part_two_cubes(2.1f, &most, &far);
  assert_true(most == 0 && far == 0);
  part_two_cubes(1.5f, &most, &far);
  assert_true(most > 0.2f && most < 0.3f && far == 0);
  part_two_cubes(0.0f, &most, &far);
  assert_true(most > 0.45f && most < 0.5f && far == 0);
}

// Vertices at one place, as at the seams of textures, stay together.
static void seams_stay_closed(void** state) {
  (void)state;
  clay c = begin(ball(0.3f), 0.05f, 1);
  yw_tri_mesh soup = {0};
  yw_error error = {0};
  int32_t corners = 3 * c.surface.num_triangles;
  assert_int_equal(yw_tri_mesh_create(NULL, corners, c.surface.num_triangles, &soup), YW_OK);
  for (int32_t i = 0; i < corners; ++i) {
    soup.positions[i] = c.surface.positions[c.surface.triangles[i]];
    soup.triangles[i] = i;
  }
  yw_plastic_part part = yw_default_plastic_part();
  part.points = c.rest;
  part.num_points = c.num_masters;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  yw_model* model = NULL;
  assert_int_equal(yw_model_create_plastic_surface(NULL, &def, NULL, &soup, NULL, &model, &error),
                   YW_OK);
  yw_body_def body = yw_default_body_def();
  yw_body_id id;
  body.model = model;
  assert_int_equal(yw_body_create(c.world, &body, &id, &error), YW_OK);
  yw_vec3* x = malloc(sizeof(yw_vec3) * (size_t)c.num_masters);
  for (int32_t i = 0; i < c.num_masters; ++i) {
    yw_vec3 p = c.rest[i];
    x[i] = yw_v3(p.x + 0.3f * p.y * p.y, p.y + 0.2f * p.z * p.x, p.z);
  }
  assert_int_equal(yw_body_set_state(c.world, id, x, NULL), YW_OK);
  yw_vec3* shown = malloc(sizeof(yw_vec3) * (size_t)corners);
  yw_vec3* first = calloc((size_t)c.surface.num_vertices, sizeof(yw_vec3));
  bool* known = calloc((size_t)c.surface.num_vertices, sizeof(bool));
  assert_int_equal(yw_body_surface_positions(c.world, id, shown, corners), YW_OK);
  for (int32_t i = 0; i < corners; ++i) {
    int32_t v = c.surface.triangles[i];
    if (known[v]) assert_memory_equal(&first[v], &shown[i], sizeof(yw_vec3));
    first[v] = shown[i];
    known[v] = true;
  }
  free(x);
  free(shown);
  free(first);
  free(known);
  yw_model_release(model);
  yw_tri_mesh_free(&soup);
  end(&c);
}

// On the floor: the surface stays above it, and is the same for any number of threads and after a
// snapshot.
static void surfaces_rest_on_floors_and_keep_their_bits(void** state) {
  (void)state;
  yw_vec3* kept = NULL;
  for (int32_t threads = 1; threads <= 3; threads += 2) {
    clay c = begin(ball(0.2f), 0.03f, threads);
    add_plane(c.world, (yw_vec3){0, 1, 0}, 0.5f);
    yw_vec3* v = malloc(sizeof(yw_vec3) * (size_t)c.num_masters);
    for (int32_t i = 0; i < c.num_masters; ++i) {
      c.rest[i].y += 0.25f;
      v[i] = yw_v3(0, -3, 0);
    }
    assert_int_equal(yw_body_set_state(c.world, c.body, c.rest, v), YW_OK);
    free(v);
    for (int i = 0; i < 2; ++i) assert_true(yw_world_step(c.world, 1.0f / 60, 2, NULL) >= 0);
    assert_int_equal(yw_body_surface_positions(c.world, c.body, c.shown, c.surface.num_vertices),
                     YW_OK);
    float lowest = INFINITY;
    for (int32_t i = 0; i < c.surface.num_vertices; ++i) lowest = fminf(lowest, c.shown[i].y);
    print_message("           lowest vertex at %.4f spacings\n", (double)(lowest / SPACING));
    assert_true(lowest > -1e-4f * SPACING && lowest < 0.5f * SPACING);
    size_t bytes = sizeof(yw_vec3) * (size_t)c.surface.num_vertices;
    if (kept) assert_memory_equal(kept, c.shown, bytes);
    if (!kept) memcpy(kept = malloc(bytes), c.shown, bytes);
    end(&c);
  }
  free(kept);
}

static void bad_surfaces_are_refused(void** state) {
  (void)state;
  clay c = begin(ball(0.2f), 0.05f, 1);
  yw_plastic_part part = yw_default_plastic_part();
  part.points = c.rest;
  part.num_points = c.num_masters;
  yw_plastic_def def = yw_default_plastic_def();
  def.spacing = SPACING;
  def.parts = &part;
  def.num_parts = 1;
  yw_model* model = NULL;
  yw_error error = {0};
  c.surface.triangles[4] = c.surface.num_vertices;
  assert_int_equal(
      yw_model_create_plastic_surface(NULL, &def, NULL, &c.surface, NULL, &model, &error),
      YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "triangle 1"));
  c.surface.triangles[4] = 0;
  c.surface.positions[2].x = NAN;
  assert_int_equal(
      yw_model_create_plastic_surface(NULL, &def, NULL, &c.surface, NULL, &model, &error),
      YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "vertex 2"));
  assert_null(model);
  end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_motions_are_exact),
      cmocka_unit_test(skins_cover_the_lattice),
      cmocka_unit_test(stretched_bodies_stretch_their_surface),
      cmocka_unit_test(bent_surfaces_are_smooth),
      cmocka_unit_test(torn_bodies_part_at_the_tear),
      cmocka_unit_test(parts_that_meet_merge),
      cmocka_unit_test(seams_stay_closed),
      cmocka_unit_test(surfaces_rest_on_floors_and_keep_their_bits),
      cmocka_unit_test(bad_surfaces_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
