// SPDX-License-Identifier: MIT
#include "render/trace/normals.h"
#include "render/trace/render.h"
#include "render/trace/sampling.h"
#include "support/testing.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/vec.h"

// The 12 triangles of a box.
typedef struct box_mesh {
  yw_vec3 positions[8];
  int32_t triangles[36];
} box_mesh;

static box_mesh make_box(yw_vec3 lower, yw_vec3 upper) {
  static const int32_t triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  box_mesh box;
  for (int i = 0; i < 8; ++i) {
    box.positions[i] =
        yw_v3(i & 1 ? upper.x : lower.x, i & 2 ? upper.y : lower.y, i & 4 ? upper.z : lower.z);
  }
  memcpy(box.triangles, triangles, sizeof triangles);
  return box;
}

static yw_render_mesh look_of(const box_mesh* box) {
  yw_render_mesh mesh = yw_default_render_mesh();
  mesh.num_vertices = 8;
  mesh.num_triangles = 12;
  mesh.positions = box->positions;
  mesh.triangles = box->triangles;
  return mesh;
}

// A unit cube on a floor, seen from the front; the sun stands to the left.
typedef struct stage {
  box_mesh box;
  yw_render_mesh mesh;
  yw_render_plane floor;
  yw_picture picture;
} stage;

static void set_stage(stage* s) {
  s->box = make_box(yw_v3(-0.5f, 0, -0.5f), yw_v3(0.5f, 1, 0.5f));
  s->mesh = look_of(&s->box);
  s->floor = yw_default_render_floor(0, 0);
  s->picture = yw_default_picture();
  s->picture.num_meshes = 1;
  s->picture.meshes = &s->mesh;
  s->picture.num_planes = 1;
  s->picture.planes = &s->floor;
  s->picture.camera = (yw_camera){{0, 2, 6}, {0, 0.5f, 0}, 40};
  s->picture.sun.direction = yw_v3(-1, 1, 0);
  s->picture.width = 160;
  s->picture.height = 90;
}

static yw_renderer* open_renderer(int32_t threads) {
  yw_renderer* renderer = NULL;
  yw_error error = {0};
  if (yw_renderer_available(&error) < 0) {
    print_message("%s\n", error.message);
    skip();
  }
  assert_int_equal(yw_renderer_create(NULL, threads, &renderer, &error), YW_OK);
  return renderer;
}

static const uint8_t* pixel_at(const yw_image* image, const yw_picture* picture, yw_vec3 p) {
  float x, y;
  assert_true(yw_camera_project(&picture->camera, picture->width, picture->height, p, &x, &y));
  assert_in_range((int)x, 0, image->width - 1);
  assert_in_range((int)y, 0, image->height - 1);
  return &image->pixels[3 * ((int32_t)y * image->width + (int32_t)x)];
}

static void pictures_are_the_same_for_any_number_of_threads(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  s.mesh.wireframe = 1.0f;
  s.floor.checker = 0.25f;
  s.picture.focus = (yw_aabb){{-1, 0, -1}, {1, 1, 1}};
  uint64_t hashes[4];
  const int32_t threads[4] = {1, 2, 3, 2};
  for (int i = 0; i < 4; ++i) {
    yw_renderer* renderer = open_renderer(threads[i]);
    yw_image image = {0};
    // The last one draws another picture first: nothing of it may stay behind.
    if (i == 3) {
      yw_picture other = s.picture;
      other.samples = 32;
      other.width = 50;
      assert_int_equal(yw_renderer_draw(renderer, &other, &image, NULL), YW_OK);
    }
    assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, NULL), YW_OK);
    hashes[i] = yw_hash_bytes(YW_HASH_SEED, image.pixels, 3 * 160 * 90);
    yw_image_free(&image);
    yw_renderer_destroy(renderer);
  }
  assert_int_equal(hashes[0], hashes[1]);
  assert_int_equal(hashes[0], hashes[2]);
  assert_int_equal(hashes[0], hashes[3]);
}

// A body that moves must not make the rest flicker: far from it, pixels stay what they are.
static void what_does_not_move_does_not_flicker(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  s.floor.checker = 0.5f;
  yw_renderer* renderer = open_renderer(0);
  yw_image first = {0}, second = {0};
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &first, NULL), YW_OK);
  for (int i = 0; i < 8; ++i) s.box.positions[i].y += 0.002f;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &second, NULL), YW_OK);
  // The lower left corner, on the side of the sun. Bounced light may change by a hair.
  int changed = 0;
  for (int32_t y = 70; y < 90; ++y) {
    for (int32_t x = 0; x < 30; ++x) {
      for (int k = 0; k < 3; ++k) {
        int32_t i = 3 * (y * 160 + x) + k;
        assert_in_range(first.pixels[i] - second.pixels[i] + 2, 0, 4);
        changed += first.pixels[i] != second.pixels[i];
      }
    }
  }
  assert_at_most(changed, 20 * 30 * 3 / 20);
  yw_image_free(&first);
  yw_image_free(&second);
  yw_renderer_destroy(renderer);
}

static void shadows_are_darker_than_the_lit_floor(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  yw_renderer* renderer = open_renderer(0);
  yw_image image = {0};
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, NULL), YW_OK);
  int lit = pixel_at(&image, &s.picture, yw_v3(-1.2f, 0, 0))[1];
  int shadow = pixel_at(&image, &s.picture, yw_v3(0.9f, 0, 0.2f))[1];
  int beyond = pixel_at(&image, &s.picture, yw_v3(2.2f, 0, 0))[1];
  assert_at_least(lit, shadow + 50);
  assert_near(lit, beyond, 12);
  // Sides: the one towards the sun outshines the front, which gets light of the sky only.
  int top = pixel_at(&image, &s.picture, yw_v3(0, 1, 0))[0];
  int front = pixel_at(&image, &s.picture, yw_v3(0, 0.5f, 0.5f))[0];
  assert_at_least(top, front + 30);
  // The body has its colour: more red than blue.
  const uint8_t* red = pixel_at(&image, &s.picture, yw_v3(0, 1, 0));
  assert_at_least(red[0], red[2] + 60);
  yw_image_free(&image);
  yw_renderer_destroy(renderer);
}

// Soft light is dimmer near a corner than in the open, though the sun is off.
static void contact_darkens_the_floor(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  s.picture.sun.color = yw_v3(0, 0, 0);
  yw_renderer* renderer = open_renderer(0);
  yw_image image = {0};
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, NULL), YW_OK);
  int near = pixel_at(&image, &s.picture, yw_v3(0, 0, 0.56f))[1];
  int off = pixel_at(&image, &s.picture, yw_v3(0, 0, 2.2f))[1];
  assert_at_least(off, near + 15);
  yw_image_free(&image);
  yw_renderer_destroy(renderer);
}

static void a_camera_ray_hits_what_is_there(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  yw_renderer* renderer = open_renderer(1);
  yw_render_hit hit;
  float x, y;
  yw_camera_project(&s.picture.camera, 160, 90, yw_v3(0.2f, 0.3f, 0.5f), &x, &y);
  assert_int_equal(yw_renderer_pick(renderer, &s.picture, x, y, &hit, NULL), YW_OK);
  assert_int_equal(hit.mesh, 0);
  assert_int_equal(hit.plane, -1);
  assert_near(hit.position.x, 0.2, 1e-4);
  assert_near(hit.position.y, 0.3, 1e-4);
  assert_near(hit.normal.z, 1, 1e-5);
  assert_near(hit.distance, yw_distance(s.picture.camera.eye, hit.position), 1e-4);

  yw_camera_project(&s.picture.camera, 160, 90, yw_v3(-1.5f, 0, 1), &x, &y);
  assert_int_equal(yw_renderer_pick(renderer, &s.picture, x, y, &hit, NULL), YW_OK);
  assert_int_equal(hit.mesh, -1);
  assert_int_equal(hit.plane, 0);
  assert_near(hit.position.y, 0, 1e-4);
  assert_near(hit.normal.y, 1, 1e-6);

  assert_int_equal(yw_renderer_pick(renderer, &s.picture, 80, 1, &hit, NULL), YW_OK);
  assert_true(hit.plane == 0 || isinf(hit.distance));
  s.picture.num_planes = 0;
  assert_int_equal(yw_renderer_pick(renderer, &s.picture, 80, 1, &hit, NULL), YW_OK);
  assert_true(isinf(hit.distance));
  yw_renderer_destroy(renderer);
}

// Two balls instead of the box: hits are on them, each has its colour, and they throw shadows.
static void clouds_of_balls_are_drawn(void** state) {
  (void)state;
  stage s;
  set_stage(&s);
  const yw_vec3 centers[2] = {{-0.8f, 0.5f, 0}, {0.8f, 0.4f, 0}};
  const yw_vec3 colors[2] = {{0.8f, 0.05f, 0.05f}, {0.05f, 0.05f, 0.8f}};
  float radii[2] = {0.5f, 0.4f};
  s.mesh = yw_default_render_mesh();
  s.mesh.num_vertices = 2;
  s.mesh.positions = centers;
  s.mesh.radii = radii;
  s.mesh.colors = colors;
  yw_renderer* renderer = open_renderer(2);
  yw_image image = {0};
  yw_error error = {0};
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_OK);
  const uint8_t *red = pixel_at(&image, &s.picture, yw_v3(-0.8f, 0.6f, 0.45f)),
                *blue = pixel_at(&image, &s.picture, yw_v3(0.8f, 0.5f, 0.35f));
  assert_true(red[0] > 2 * red[2] && blue[2] > 2 * blue[0]);
  // The sun is to the left at 45 degrees: the shadow of the left ball is to its right.
  const uint8_t *lit = pixel_at(&image, &s.picture, yw_v3(-0.3f, 0, 1.3f)),
                *dark = pixel_at(&image, &s.picture, yw_v3(-0.25f, 0, 0.25f));
  assert_true(dark[1] + 30 < lit[1]);

  yw_render_hit hit;
  float x, y;
  yw_vec3 d = yw_normalize_or(yw_sub(s.picture.camera.eye, centers[1]), centers[0]);
  yw_vec3 nearest = yw_mad(centers[1], radii[1], d);
  yw_camera_project(&s.picture.camera, 160, 90, nearest, &x, &y);
  assert_int_equal(yw_renderer_pick(renderer, &s.picture, x, y, &hit, NULL), YW_OK);
  assert_int_equal(hit.mesh, 0);
  assert_int_equal(hit.triangle, 1);
  assert_near(yw_distance(hit.position, nearest), 0, 1e-3);
  assert_near(yw_dot(hit.normal, d), 1, 1e-4);
  radii[1] = -1;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "radius of ball 1 is -1"));
  yw_image_free(&image);
  yw_renderer_destroy(renderer);
}

static void the_automatic_camera_sees_every_box_tightly(void** state) {
  (void)state;
  test_random random = {3};
  for (int round = 0; round < 200; ++round) {
    yw_aabb boxes[4];
    int32_t count = 1 + round % 4;
    for (int32_t i = 0; i < count; ++i) {
      boxes[i].lower =
          yw_v3((float)test_random_in(&random, -9, 9), (float)test_random_in(&random, 0, 5),
                (float)test_random_in(&random, -9, 9));
      float size = (float)test_random_in(&random, 0, 6);
      boxes[i].upper = yw_add(boxes[i].lower, yw_v3(size, 0.3f * size, 2 * size));
    }
    yw_framing framing = yw_default_framing();
    framing.azimuth = (float)test_random_in(&random, -180, 180);
    framing.elevation = (float)test_random_in(&random, -80, 80);
    framing.margin = (float)test_random_in(&random, 0, 0.2);
    yw_camera camera = yw_camera_frame(&framing, 16.0f / 9.0f, count, boxes);
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    float nearest = INFINITY, farthest = 0;
    yw_vec3 forward = yw_normalize_or(yw_sub(camera.target, camera.eye), yw_v3(0, 0, 0));
    for (int i = 0; i < 8 * count; ++i) {
      box_mesh corners = make_box(boxes[i / 8].lower, boxes[i / 8].upper);
      float p[2], depth = yw_dot(forward, yw_sub(corners.positions[i % 8], camera.eye));
      nearest = fminf(nearest, depth), farthest = fmaxf(farthest, depth);
      assert_true(yw_camera_project(&camera, 1600, 900, corners.positions[i % 8], &p[0], &p[1]));
      for (int k = 0; k < 2; ++k) low[k] = fminf(low[k], p[k]), high[k] = fmaxf(high[k], p[k]);
    }
    float mx = framing.margin * 1600, my = framing.margin * 900;
    assert_at_least(low[0], mx - 2);
    assert_at_most(high[0], 1600 - mx + 2);
    assert_at_least(low[1], my - 2);
    assert_at_most(high[1], 900 - my + 2);
    // One of the directions is filled, unless the eye would have to be among the boxes.
    float slack = fminf((1600 - 2 * mx) - (high[0] - low[0]), (900 - 2 * my) - (high[1] - low[1]));
    if (nearest > 0.1f * farthest) assert_at_most(slack, 0.25f * 900);
  }
  // Nothing to see, or a single point, still gives a camera.
  yw_framing framing = yw_default_framing();
  yw_aabb empty = yw_aabb_empty(), point = {{1, 2, 3}, {1, 2, 3}};
  assert_true(yw_is_finite3(yw_camera_frame(&framing, 1, 1, &empty).eye));
  assert_true(yw_distance(yw_camera_frame(&framing, 1, 1, &point).eye, point.lower) > 0.1f);
}

// A body that falls is in view all the time, and fills at most the given part of the picture.
static void the_camera_of_a_movie_sees_the_whole_motion(void** state) {
  (void)state;
  for (int round = 0; round < 2; ++round) {
    float drop = round == 0 ? 0.0f : 6.0f;
    yw_framing framing = yw_default_framing();
    yw_framer framer = yw_framer_start(&framing, 16.0f / 9.0f);
    for (int frame = 0; frame <= 10; ++frame) {
      float y = drop * (1.0f - (float)frame / 10.0f);
      box_mesh box = make_box(yw_v3(-1, y, -1), yw_v3(1, y + 2, 1));
      for (int i = 0; i < 8; ++i) yw_framer_add(&framer, box.positions[i]);
      yw_framer_end_moment(&framer);
    }
    yw_camera camera = yw_framer_camera(&framer);
    float most = 0.0f;
    for (int frame = 0; frame <= 10; frame += 10) {
      float y = drop * (1.0f - (float)frame / 10.0f), low = INFINITY, high = -INFINITY;
      box_mesh box = make_box(yw_v3(-1, y, -1), yw_v3(1, y + 2, 1));
      for (int i = 0; i < 8; ++i) {
        float px, py;
        assert_true(yw_camera_project(&camera, 1600, 900, box.positions[i], &px, &py));
        assert_true(px >= 0 && px <= 1600 && py >= 0 && py <= 900);
        low = fminf(low, py), high = fmaxf(high, py);
      }
      most = fmaxf(most, high - low);
    }
    assert_at_most(most, 0.6 * 900 + 2);
    if (round == 0) assert_at_least(most, 0.55 * 900);
  }
}

// Edges of a box stay sharp; with 180 degrees everything is smooth. The rest pose decides.
static void creases_are_decided_at_rest(void** state) {
  (void)state;
  box_mesh box = make_box(yw_v3(-1, -1, -1), yw_v3(1, 1, 1)), bent = box;
  for (int i = 0; i < 8; ++i) bent.positions[i].x += 0.8f * bent.positions[i].y;
  yw_render_mesh mesh = look_of(&bent);
  mesh.rest = box.positions;
  yw_vec3 normals[36];
  mesh.crease = 40;
  assert_int_equal(yw_corner_normals(&mesh, NULL, normals), YW_OK);
  for (int i = 0; i < 36; ++i) {
    const int32_t* t = &bent.triangles[i / 3 * 3];
    const yw_vec3* p = bent.positions;
    yw_vec3 face = yw_cross(yw_sub(p[t[1]], p[t[0]]), yw_sub(p[t[2]], p[t[0]]));
    assert_near(yw_dot(yw_normalize_or(face, face), normals[i]), 1, 1e-5);
  }
  mesh = look_of(&box);
  mesh.crease = 180;
  assert_int_equal(yw_corner_normals(&mesh, NULL, normals), YW_OK);
  for (int i = 0; i < 36; ++i) {
    yw_vec3 corner = yw_scale(box.positions[box.triangles[i]], 1 / sqrtf(3));
    assert_near(yw_dot(corner, normals[i]), 1, 1e-5);
  }
}

// Given normals are kept at rest and turn with the surface, here by a quarter turn about z.
static void given_normals_turn_with_the_surface(void** state) {
  (void)state;
  box_mesh box = make_box(yw_v3(-1, -1, -1), yw_v3(1, 1, 1)), turned = box;
  for (int i = 0; i < 8; ++i) {
    yw_vec3 p = box.positions[i];
    turned.positions[i] = yw_v3(-p.y, p.x, p.z);
  }
  yw_vec3 given[36], normals[36];
  for (int i = 0; i < 36; ++i) {
    yw_vec3 p = box.positions[box.triangles[i]];
    given[i] = yw_normalize_or(yw_v3(p.x + 0.3f, p.y, 0.5f * p.z), p);
  }
  for (int k = 0; k < 2; ++k) {
    yw_render_mesh mesh = look_of(k == 0 ? &box : &turned);
    mesh.rest = box.positions;
    mesh.rest_normals = given;
    assert_int_equal(yw_corner_normals(&mesh, NULL, normals), YW_OK);
    for (int i = 0; i < 36; ++i) {
      yw_vec3 n = given[i], expected = k == 0 ? n : yw_v3(-n.y, n.x, n.z);
      assert_near(yw_distance(normals[i], expected), 0, 1e-5);
    }
  }
}

// Blue noise has no blotches: means of 8 x 8 blocks vary far less than those of white noise, for
// which the variance is 1/12/64. Every value comes once.
static void the_noise_is_blue(void** state) {
  (void)state;
  static yw_sampler sampler;
  assert_int_equal(yw_sampler_init(NULL, &sampler, NULL), YW_OK);
  static bool seen[YW_NOISE_SIDE * YW_NOISE_SIDE];
  double means[64] = {0}, variance = 0;
  for (int y = 0; y < YW_NOISE_SIDE; ++y) {
    for (int x = 0; x < YW_NOISE_SIDE; ++x) {
      float value = sampler.noise[y * YW_NOISE_SIDE + x];
      int rank = (int)lrintf(value * YW_NOISE_SIDE * YW_NOISE_SIDE);
      assert_false(seen[rank]);
      seen[rank] = true;
      means[y / 8 * 8 + x / 8] += value / 64;
    }
  }
  for (int i = 0; i < 64; ++i) variance += (means[i] - 0.5) * (means[i] - 0.5) / 64;
  assert_at_most(variance * 12 * 64, 0.1);
  yw_sampler_free(&sampler);
}

static void bad_pictures_are_refused_with_a_reason(void** state) {
  (void)state;
  yw_renderer* renderer = open_renderer(1);
  yw_error error = {0};
  yw_image image = {0};
  stage s;
  set_stage(&s);
  s.box.positions[3].y = NAN;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_GEOMETRY);
  assert_non_null(strstr(error.message, "vertex 3"));
  set_stage(&s);
  s.box.triangles[7] = 8;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "triangle 2 has vertex 8"));
  set_stage(&s);
  s.picture.width = 0;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_INVALID);
  s.picture.width = s.picture.height = YW_IMAGE_MAX_SIDE;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_LIMIT);
  set_stage(&s);
  s.picture.camera.eye = s.picture.camera.target;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_INVALID);
  set_stage(&s);
  s.picture.num_planes = 9;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_ERR_LIMIT);
  assert_null(image.pixels);
  // An empty picture is a picture of the backdrop.
  set_stage(&s);
  s.picture.num_meshes = s.picture.num_planes = 0;
  assert_int_equal(yw_renderer_draw(renderer, &s.picture, &image, &error), YW_OK);
  yw_image_free(&image);
  yw_renderer_destroy(renderer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pictures_are_the_same_for_any_number_of_threads),
      cmocka_unit_test(what_does_not_move_does_not_flicker),
      cmocka_unit_test(shadows_are_darker_than_the_lit_floor),
      cmocka_unit_test(contact_darkens_the_floor),
      cmocka_unit_test(a_camera_ray_hits_what_is_there),
      cmocka_unit_test(clouds_of_balls_are_drawn),
      cmocka_unit_test(the_automatic_camera_sees_every_box_tightly),
      cmocka_unit_test(the_camera_of_a_movie_sees_the_whole_motion),
      cmocka_unit_test(creases_are_decided_at_rest),
      cmocka_unit_test(given_normals_turn_with_the_surface),
      cmocka_unit_test(the_noise_is_blue),
      cmocka_unit_test(bad_pictures_are_refused_with_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
