// SPDX-License-Identifier: MIT
// Many bodies, self-contact, spheres; and for all of them: the same bits for any number of threads,
// no allocation at rest, no damage when memory runs out.
#include <time.h>

#include "contact/surface.h"
#include "support/contact_scene.h"
#include "support/counted_memory.h"
#include "yawara/extend/hash.h"

#define H (1.0f / 240.0f)

// n^3 small boxes, each randomly rotated, above a bin.
static contact_scene* fill_bin(int32_t n, int32_t threads) {
  contact_scene* s = scene_create(n * n * n, H);
  if (threads > 1) s->ctx.tasks = yw_tasks_create(NULL, threads);
  float wall = 0.065f * (float)n + 0.02f;
  scene_add_plane(s, yw_v3(0, 1, 0), 0.0f, 0.4f);
  scene_add_plane(s, yw_v3(1, 0, 0), -wall, 0.4f);
  scene_add_plane(s, yw_v3(-1, 0, 0), -wall, 0.4f);
  scene_add_plane(s, yw_v3(0, 0, 1), -wall, 0.4f);
  scene_add_plane(s, yw_v3(0, 0, -1), -wall, 0.4f);
  const int32_t cells[3] = {2, 2, 2};
  test_random random = {1};
  for (int32_t i = 0; i < n * n * n; ++i) {
    yw_vec3 place =
        yw_v3(((float)(i % n) - 0.5f * (float)(n - 1)) * 0.13f, 0.1f + (float)(i / n / n) * 0.15f,
              ((float)(i / n % n) - 0.5f * (float)(n - 1)) * 0.13f);
    yw_vec3 axis = random_vector(&random);
    scene_add_box(s, yw_v3(0.05f, 0.05f, 0.05f), cells,
                  turned(place, axis, test_random_in(&random, 0, 3)));
    s->bodies[i].alpha = 0.8f;
    s->bodies[i].damping = 30.0f;
  }
  return s;
}

static uint64_t hash_scene(const contact_scene* s) {
  uint64_t hash = YW_HASH_SEED;
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    const yw_particles* p = &s->bodies[i].particles;
    hash = yw_hash_bytes(hash, p->pos, (size_t)p->count * sizeof(yw_vec4));
    hash = yw_hash_bytes(hash, p->vel, (size_t)p->count * sizeof(yw_vec4));
  }
  return hash;
}

// 64 boxes fall into a bin and come to rest: none is lost, none trembles.
static void a_bin_fills_and_comes_to_rest(void** state) {
  (void)state;
  contact_scene* s = fill_bin(4, 1);
  sums start = add_sums(s, 0, s->num_bodies);
  double energy = start.kinetic + 9.81 * start.mass * start.center[1];
  for (int step = 0; step < 400; ++step) {
    scene_step(s);
    sums now = add_sums(s, 0, s->num_bodies);
    assert_at_most(now.kinetic + 9.81 * now.mass * now.center[1], energy * 1.01);
  }
  float wall = 0.065f * 4.0f + 0.02f;
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    sums t = add_sums(s, i, i + 1);
    assert_at_least(t.center[1], 0.03);
    assert_at_most(fabs(t.center[0]), wall - 0.03);
    assert_at_most(fabs(t.center[2]), wall - 0.03);
  }
  sums end = add_sums(s, 0, s->num_bodies);
  print_message("           %d contacts, rms speed %.2g m/s\n", s->num_contacts,
                sqrt(2.0 * end.kinetic / end.mass));
  assert_at_most(sqrt(2.0 * end.kinetic / end.mass), 0.05);
  // 64 litres of boxes on 0.314 m^2 cannot lie lower than this.
  assert_at_least(end.center[1], 0.1);
  scene_destroy(s);
}

// Time per substep of 64 and 512 small bodies: roughly linear (with all pairs tested, 8
// times as many would take 64 times as long).
static void time_grows_with_the_number_of_bodies(void** state) {
  (void)state;
  double each[2];
  const int32_t sides[2] = {4, 8};
  for (int k = 0; k < 2; ++k) {
    contact_scene* s = fill_bin(sides[k], 1);
    double best = 1e9;
    for (int step = 0; step < 30; ++step) {
      for (int32_t i = 0; i < s->num_bodies; ++i) {
        soft_body* b = &s->bodies[i];
        match_shape(b, H, s->ctx.gravity);
        yw_obstacles_collide(&s->ctx, &b->particles, b->old_pos, NULL, 0.0f, H);
      }
      clock_t began = clock();
      yw_points_resolve(s->contacts, s->contact_bodies, s->num_bodies, H, s->ctx.gravity, 4, NULL,
                        &s->num_contacts);
      double took = (double)(clock() - began) / CLOCKS_PER_SEC;
      if (step >= 24 && took < best) best = took;
    }
    each[k] = best / s->num_bodies;
    print_message("           %4d bodies, %5d contacts: %.2f ms\n", s->num_bodies, s->num_contacts,
                  best * 1e3);
    scene_destroy(s);
  }
  assert_at_most(each[1], 5.0 * each[0]);
}

static void threads_and_fresh_buffers_do_not_matter(void** state) {
  (void)state;
  const int32_t threads[] = {1, 2, 3, 8};
  uint64_t first = 0;
  for (int k = 0; k < 5; ++k) {
    contact_scene* s = fill_bin(3, k < 4 ? threads[k] : 2);
    for (int step = 0; step < 100; ++step) {
      if (k == 4) {
        // Cached data must not matter: a resumed run starts without it.
        yw_points_destroy(s->contacts);
        s->contacts = yw_points_create(NULL);
      }
      scene_step(s);
    }
    assert_at_least(s->num_contacts, 20);
    if (k == 0) first = hash_scene(s);
    assert_true(hash_scene(s) == first);
    scene_destroy(s);
  }
}

// Memory ----------------------------------------------------------------------------------------

static void a_step_at_rest_allocates_nothing(void** state) {
  (void)state;
  counted_memory memory = {.left = ENOUGH};
  yw_allocator mem = counted_allocator(&memory);
  contact_scene* s = fill_bin(3, 2);
  yw_points_destroy(s->contacts);
  s->contacts = yw_points_create(&mem);
  for (int step = 0; step < 300; ++step) scene_step(s);
  int before = memory.calls;
  for (int step = 0; step < 100; ++step) scene_step(s);
  assert_at_least(s->num_contacts, 10);
  assert_int_equal(memory.calls, before);
  scene_destroy(s);
}

static void out_of_memory_changes_nothing(void** state) {
  (void)state;
  contact_scene* s = fill_bin(2, 1);
  for (int step = 0; step < 100; ++step) scene_step(s);
  uint64_t hash = hash_scene(s);
  bool done = false;
  for (int limit = 1; !done && limit < 1000; ++limit) {
    counted_memory memory = {.left = limit};
    yw_allocator mem = counted_allocator(&memory);
    yw_points* contacts = yw_points_create(&mem);
    assert_non_null(contacts);
    yw_status status = yw_points_resolve(contacts, s->contact_bodies, s->num_bodies, H,
                                         s->ctx.gravity, 4, NULL, NULL);
    if (status == YW_OK) {
      done = true;
    } else {
      assert_int_equal(status, YW_ERR_MEMORY);
      assert_true(hash_scene(s) == hash);
      // The same contacts go on when there is memory again.
      memory.left = ENOUGH;
      assert_int_equal(
          yw_points_resolve(contacts, s->contact_bodies, 0, H, s->ctx.gravity, 4, NULL, NULL),
          YW_OK);
    }
    yw_points_destroy(contacts);
  }
  assert_true(done);
  scene_destroy(s);
}

// Bodies may be added, removed and reordered.
static void bodies_may_come_and_go(void** state) {
  (void)state;
  contact_scene* s = fill_bin(2, 1);
  yw_contact_body all[8];
  memcpy(all, s->contact_bodies, sizeof all);
  for (int step = 0; step < 60; ++step) {
    int32_t count = 1 + step % 8;
    for (int32_t i = 0; i < count; ++i) {
      s->contact_bodies[i] = all[(i * 3 + step) % 8];
      s->contact_bodies[i].topology_version = (uint64_t)(step / 20);
    }
    assert_int_equal(
        yw_points_resolve(s->contacts, s->contact_bodies, count, H, s->ctx.gravity, 4, NULL, NULL),
        YW_OK);
  }
  scene_destroy(s);
}

// Self ------------------------------------------------------------------------------------------

// Keeps the lengths of the edges of the tets by a few sweeps, then velocities from positions.
static void keep_lengths(soft_body* b, const float* lengths, yw_vec3 (*pull)(yw_vec3), float h) {
  yw_particles* p = &b->particles;
  static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (int32_t i = 0; i < p->count; ++i) {
    b->old_pos[i] = p->pos[i];
    yw_vec3 v = yw_scale(yw_mad(yw_xyz(p->vel[i]), h, pull(yw_xyz(p->pos[i]))), 0.99f);
    p->pos[i] = yw_v4(yw_mad(yw_xyz(p->pos[i]), h, v));
  }
  for (int sweep = 0; sweep < 4; ++sweep) {
    for (int32_t t = 0; t < b->mesh.num_tets; ++t) {
      for (int e = 0; e < 6; ++e) {
        int32_t i = b->mesh.tets[4 * t + ends[e][0]], j = b->mesh.tets[4 * t + ends[e][1]];
        yw_vec3 d = yw_sub(yw_xyz(p->pos[j]), yw_xyz(p->pos[i]));
        float length = yw_length(d), share = p->inv_mass[i] / (p->inv_mass[i] + p->inv_mass[j]);
        yw_vec3 way = yw_scale(d, 0.5f * (length - lengths[6 * t + e]) / length);
        p->pos[i] = yw_v4(yw_mad(yw_xyz(p->pos[i]), share, way));
        p->pos[j] = yw_v4(yw_mad(yw_xyz(p->pos[j]), share - 1.0f, way));
      }
    }
  }
  for (int32_t i = 0; i < p->count; ++i) {
    p->vel[i] = yw_v4(yw_scale(yw_sub(yw_xyz(p->pos[i]), yw_xyz(b->old_pos[i])), 1.0f / h));
  }
}

// Both arms fall towards the plane between them.
static yw_vec3 press_together(yw_vec3 p) { return yw_v3(0, p.y > 0.0f ? -9.81f : 9.81f, 0); }

// A bar bent into a hairpin whose arms are pressed together.
static void a_folded_bar_does_not_go_through_itself(void** state) {
  (void)state;
  contact_scene* s = scene_create(1, 1.0f / 480.0f);
  const int32_t cells[3] = {40, 2, 2};
  scene_add_box(s, yw_v3(2.0f, 0.1f, 0.1f), cells, at(0, 0, 0));
  soft_body* b = &s->bodies[0];
  s->contact_bodies[0].self_contact = true;
  const float bend = 0.25f, straight = 2.0f - 0.5f * 3.14159265f * bend;
  for (int32_t i = 0; i < b->particles.count; ++i) {
    yw_vec3 r = b->mesh.positions[i];
    float along = fabsf(r.x), side = r.x < 0.0f ? -1.0f : 1.0f, angle = along / bend;
    bool in_bend = along < 0.5f * 3.14159265f * bend;
    yw_vec3 p = in_bend ? yw_v3(-(bend + r.y) * cosf(angle), side * (bend + r.y) * sinf(angle), r.z)
                        : yw_v3(along - 2.0f + straight, side * (bend + r.y), r.z);
    b->particles.pos[i] = yw_v4(p);
  }
  float* lengths = malloc((size_t)b->mesh.num_tets * 6 * sizeof(float));
  for (int32_t t = 0; t < b->mesh.num_tets; ++t) {
    static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    for (int e = 0; e < 6; ++e) {
      lengths[6 * t + e] = yw_distance(yw_xyz(b->particles.pos[b->mesh.tets[4 * t + ends[e][0]]]),
                                       yw_xyz(b->particles.pos[b->mesh.tets[4 * t + ends[e][1]]]));
    }
  }
  int32_t touched = 0;
  float across = 0.0f;
  for (int step = 0; step < 960; ++step) {
    keep_lengths(b, lengths, press_together, s->ctx.h);
    assert_int_equal(yw_points_resolve(s->contacts, s->contact_bodies, 1, s->ctx.h,
                                       yw_v3(0, -9.81f, 0), 4, NULL, &s->num_contacts),
                     YW_OK);
    touched += s->num_contacts;
    // The arms stay on their sides of the plane.
    for (int32_t i = 0; i < b->particles.count; ++i) {
      yw_vec3 r = b->mesh.positions[i];
      if (fabsf(r.x) > 0.8f) {
        across = fmaxf(across, r.x > 0.0f ? -b->particles.pos[i].y : b->particles.pos[i].y);
      }
    }
  }
  print_message("           %d contacts at the end, %.4f m across the plane\n", s->num_contacts,
                (double)across);
  assert_at_least(touched, 1000);
  assert_at_least(s->num_contacts, 1);
  // Elements are 0.1 m.
  assert_at_most(across, 0.02);
  free(lengths);
  scene_destroy(s);
}

// At rest, straight or bent, a body does not touch itself.
static void a_body_at_rest_has_no_contact_with_itself(void** state) {
  (void)state;
  contact_scene* s = scene_create(1, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  const int32_t cells[3] = {6, 5, 4};
  scene_add_box(s, yw_v3(0.5f, 0.4f, 0.3f), cells, turned(yw_v3(1, 2, 3), yw_v3(1, 2, 0), 1.0));
  s->contact_bodies[0].self_contact = true;
  scene_step(s);
  assert_int_equal(s->num_contacts, 0);
  // Squeezed to 60 %.
  for (int32_t i = 0; i < s->bodies[0].particles.count; ++i) {
    yw_vec3 r = s->bodies[0].mesh.positions[i];
    s->bodies[0].particles.pos[i] = yw_v4(yw_v3(r.x, 0.6f * r.y, r.z));
    s->bodies[0].particles.vel[i] = yw_v4(yw_v3(0, 0, 0));
  }
  yw_points_resolve(s->contacts, s->contact_bodies, 1, H, s->ctx.gravity, 4, NULL,
                    &s->num_contacts);
  assert_int_equal(s->num_contacts, 0);
  scene_destroy(s);
}

// Spheres ---------------------------------------------------------------------------------------

// A body of loose spheres; with alpha 0 it keeps no shape.
static int32_t add_balls(contact_scene* s, int32_t count, const yw_vec3* centers, float radius) {
  soft_body* b = add_body(s, count);
  b->radius = calloc((size_t)b->particles.capacity, sizeof(float));
  b->alpha = b->damping = 0.0f;
  for (int32_t i = 0; i < count; ++i) {
    b->radius[i] = radius;
    b->particles.mass[i] = 1.0f;
  }
  place_body(b, centers, at(0, 0, 0));
  s->contact_bodies[s->num_bodies - 1].geometry = (yw_contact_geometry){.radius = b->radius};
  return s->num_bodies - 1;
}

static void balls_rest_on_a_box_and_on_each_other(void** state) {
  (void)state;
  contact_scene* s = scene_create(3, H);
  const int32_t cells[3] = {2, 2, 2};
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), cells, at(0, 0, 0));
  for (int32_t i = 0; i < s->bodies[0].particles.count; ++i) {
    s->bodies[0].particles.inv_mass[i] = 0.0f;
  }
  yw_vec3 lower[2] = {{0.2f, 0.65f, 0.1f}, {-0.2f, 0.9f, -0.13f}};
  yw_vec3 upper[1] = {{0.2f, 0.9f, 0.1f}};
  add_balls(s, 2, lower, 0.1f);
  add_balls(s, 1, upper, 0.1f);
  for (int step = 0; step < 480; ++step) scene_step(s);
  assert_near(s->bodies[1].particles.pos[0].y, 0.6, 0.005);
  assert_near(s->bodies[1].particles.pos[1].y, 0.6, 0.005);
  assert_near(s->bodies[2].particles.pos[0].y, 0.8, 0.01);
  assert_at_most(fastest(&s->bodies[2]), 0.02);
  scene_destroy(s);
}

// Oblique collision of two spheres: momentum is conserved, the impulse is along the line of
// centres.
static void two_balls_exchange_momentum(void** state) {
  (void)state;
  contact_scene* s = scene_create(2, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  yw_vec3 one[1] = {{0, 0, 0}}, two[1] = {{1.0f, 0.05f, 0}};
  add_balls(s, 1, one, 0.1f);
  add_balls(s, 1, two, 0.1f);
  for (int i = 0; i < 2; ++i) {
    s->contact_bodies[i].friction = 0.0f;
    s->contact_bodies[i].restitution = 1.0f;
  }
  s->bodies[0].particles.vel[0].x = 3.0f;
  sums start = add_sums(s, 0, 2);
  for (int step = 0; step < 240; ++step) scene_step(s);
  sums end = add_sums(s, 0, 2);
  for (int d = 0; d < 3; ++d) {
    assert_near(end.momentum[d], start.momentum[d], 3e-6);
    assert_near(end.angular[d], start.angular[d], 3e-5);
  }
  assert_near(end.kinetic, start.kinetic, 0.02 * start.kinetic);
  assert_at_least(s->bodies[1].particles.vel[0].x, 2.0);
  scene_destroy(s);
}

// Self-contact of spheres: a rod's far ends collide, its neighbours do not.
static void a_rod_of_balls_meets_itself_but_not_its_neighbours(void** state) {
  (void)state;
  contact_scene* s = scene_create(1, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  yw_vec3 rest[20];
  for (int i = 0; i < 20; ++i) rest[i] = yw_v3(0.1f * (float)i, 0, 0);
  add_balls(s, 20, rest, 0.06f);
  s->contact_bodies[0].geometry.rest = rest;
  s->contact_bodies[0].self_contact = true;
  scene_step(s);
  assert_int_equal(s->num_contacts, 0);
  s->bodies[0].particles.pos[19] = (yw_vec4){0.0f, 0.1f, 0.0f, 0.0f};
  scene_step(s);
  assert_int_equal(s->num_contacts, 1);
  scene_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bin_fills_and_comes_to_rest),
      cmocka_unit_test(time_grows_with_the_number_of_bodies),
      cmocka_unit_test(threads_and_fresh_buffers_do_not_matter),
      cmocka_unit_test(a_step_at_rest_allocates_nothing),
      cmocka_unit_test(out_of_memory_changes_nothing),
      cmocka_unit_test(bodies_may_come_and_go),
      cmocka_unit_test(a_folded_bar_does_not_go_through_itself),
      cmocka_unit_test(a_body_at_rest_has_no_contact_with_itself),
      cmocka_unit_test(balls_rest_on_a_box_and_on_each_other),
      cmocka_unit_test(two_balls_exchange_momentum),
      cmocka_unit_test(a_rod_of_balls_meets_itself_but_not_its_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
