// SPDX-License-Identifier: MIT
// Bodies against bodies: each test states one law and its number.
#include "contact/surface.h"
#include "support/contact_scene.h"

#define H (1.0f / 240.0f)
static const int32_t CELLS4[3] = {4, 4, 4};
static const int32_t CELLS2[3] = {2, 2, 2};

static void set_velocity(contact_scene* s, int32_t body, yw_vec3 velocity, yw_vec3 omega) {
  sums t = add_sums(s, body, body + 1);
  yw_vec3 center = yw_v3((float)t.center[0], (float)t.center[1], (float)t.center[2]);
  yw_particles* p = &s->bodies[body].particles;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_vec3 arm = yw_sub(yw_xyz(p->pos[i]), center);
    p->vel[i] = yw_v4(yw_add(velocity, yw_cross(omega, arm)));
  }
}

static void hold(contact_scene* s, int32_t body) {
  yw_particles* p = &s->bodies[body].particles;
  for (int32_t i = 0; i < p->count; ++i) p->inv_mass[i] = 0.0f;
}

static void stiffen(contact_scene* s, float alpha, float damping) {
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    s->bodies[i].alpha = alpha;
    s->bodies[i].damping = damping;
  }
}

// Deepest surface particle of a in the tets of b, by brute force; m.
static float deepest(const contact_scene* s, int32_t a, int32_t b) {
  const soft_body *front = &s->bodies[a], *back = &s->bodies[b];
  const yw_vec4* x = back->particles.pos;
  float deep = 0.0f;
  for (int32_t i = 0; i < front->surface.num_vertices; ++i) {
    yw_vec3 p = yw_xyz(front->particles.pos[front->surface_map[i]]);
    bool inside = false;
    for (int32_t k = 0; k < back->mesh.num_tets && !inside; ++k) {
      const int32_t* v = back->mesh.tets + 4 * k;
      float w[4];
      inside = yw_tet_weights(p, yw_xyz(x[v[0]]), yw_xyz(x[v[1]]), yw_xyz(x[v[2]]), yw_xyz(x[v[3]]),
                              w) &&
               w[0] > 0.0f && w[1] > 0.0f && w[2] > 0.0f && w[3] > 0.0f;
    }
    if (!inside) continue;
    float nearest = INFINITY;
    for (int32_t k = 0; k < back->surface.num_triangles; ++k) {
      const int32_t* v = back->triangles + 3 * k;
      float w[3];
      yw_vec3 q = yw_nearest_on_triangle(p, yw_xyz(x[v[0]]), yw_xyz(x[v[1]]), yw_xyz(x[v[2]]), w);
      nearest = fminf(nearest, yw_distance(p, q));
    }
    deep = fmaxf(deep, nearest);
  }
  return deep;
}

// Momentum and energy ---------------------------------------------------------------------------

// Two spinning boxes collide obliquely, with and without friction and restitution.
static void contact_keeps_both_momenta_and_adds_no_energy(void** state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    contact_scene* s = scene_create(2, H);
    scene_set_gravity(s, yw_v3(0, 0, 0));
    scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4,
                  turned(yw_v3(-1, 0.3f, 0.2f), yw_v3(1, 2, 3), 1.0));
    scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4,
                  turned(yw_v3(1, 0, 0), yw_v3(3, -1, 0.5f), 2.0));
    for (int i = 0; i < 2; ++i) s->contact_bodies[i].friction = k & 1 ? 0.6f : 0.0f;
    s->contact_bodies[0].restitution = k & 2 ? 0.8f : 0.0f;
    set_velocity(s, 0, yw_v3(5, -1, 0.5f), yw_v3(1, 2, -3));
    sums start = add_sums(s, 0, 2);
    int32_t touched = 0;
    for (int step = 0; step < 120; ++step) {
      for (int32_t i = 0; i < 2; ++i) match_shape(&s->bodies[i], H, s->ctx.gravity);
      sums before = add_sums(s, 0, 2);
      assert_int_equal(yw_points_resolve(s->contacts, s->contact_bodies, 2, H, s->ctx.gravity, 4,
                                         NULL, &s->num_contacts),
                       YW_OK);
      sums after = add_sums(s, 0, 2);
      double lost[3], spin[3];
      for (int d = 0; d < 3; ++d) {
        lost[d] = after.momentum[d] - before.momentum[d];
        spin[d] = after.angular[d] - before.angular[d];
      }
      assert_at_most(norm3(lost) / norm3(start.momentum), 1e-6);
      assert_at_most(norm3(spin) / norm3(start.angular), 1e-6);
      assert_at_most(after.kinetic, before.kinetic * (1.0 + 1e-5));
      touched += s->num_contacts;
    }
    assert_at_least(touched, 5);
    sums end = add_sums(s, 0, 2);
    assert_at_most(end.kinetic, start.kinetic);
    scene_destroy(s);
  }
}

static void head_on_they_part_with_the_restitution(void** state) {
  (void)state;
  for (int k = 1; k <= 4; ++k) {
    float restitution = 0.25f * (float)k;
    contact_scene* s = scene_create(2, H);
    scene_set_gravity(s, yw_v3(0, 0, 0));
    scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(-0.8f, 0, 0));
    scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(0.8f, 0, 0));
    s->contact_bodies[k & 1].restitution = restitution;
    set_velocity(s, 0, yw_v3(3, 0, 0), yw_v3(0, 0, 0));
    set_velocity(s, 1, yw_v3(-1, 0, 0), yw_v3(0, 0, 0));
    for (int step = 0; step < 120; ++step) scene_step(s);
    sums a = add_sums(s, 0, 1), b = add_sums(s, 1, 2);
    assert_near((b.momentum[0] / b.mass - a.momentum[0] / a.mass) / 4.0, restitution, 0.02);
    scene_destroy(s);
  }
}

// A stiff, damped body stops another: momentum is shared, none is lost.
static void soft_bodies_part_again_without_restitution(void** state) {
  (void)state;
  contact_scene* s = scene_create(2, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(-0.8f, 0, 0));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(0.8f, 0, 0));
  set_velocity(s, 0, yw_v3(3, 0, 0), yw_v3(0, 0, 0));
  sums start = add_sums(s, 0, 2);
  for (int step = 0; step < 240; ++step) scene_step(s);
  sums a = add_sums(s, 0, 1), b = add_sums(s, 1, 2), end = add_sums(s, 0, 2);
  assert_at_least(b.momentum[0] / b.mass - a.momentum[0] / a.mass, 0.0);
  assert_near(end.momentum[0] / start.momentum[0], 1.0, 1e-4);
  assert_at_most(end.kinetic, start.kinetic);
  scene_destroy(s);
}

// Rest ------------------------------------------------------------------------------------------

// Three boxes, each rotated relative to the one below.
static void a_stack_comes_to_rest(void** state) {
  (void)state;
  enum { BOXES = 3, SECOND = 480 };
  contact_scene* s = scene_create(BOXES, 1.0f / SECOND);
  scene_add_plane(s, yw_v3(0, 1, 0), 0.0f, 0.4f);
  for (int i = 0; i < BOXES; ++i) {
    yw_vec3 place = yw_v3(i & 1 ? 0.05f : 0.0f, 0.5f + 1.002f * (float)i, 0.0f);
    scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, turned(place, yw_v3(0, 1, 0), 0.3 * i));
  }
  stiffen(s, 0.9f, 200.0f);
  for (int step = 0; step < 5 * SECOND; ++step) scene_step(s);
  yw_vec4* then[BOXES];
  for (int i = 0; i < BOXES; ++i) {
    const yw_particles* p = &s->bodies[i].particles;
    then[i] = malloc((size_t)p->count * sizeof(yw_vec4));
    memcpy(then[i], p->pos, (size_t)p->count * sizeof(yw_vec4));
  }
  float speed = 0.0f;
  for (int step = 0; step < SECOND; ++step) {
    scene_step(s);
    for (int i = 0; i < BOXES; ++i) speed = fmaxf(speed, fastest(&s->bodies[i]));
  }
  double sum = 0.0;
  int32_t count = 0;
  for (int i = 0; i < BOXES; ++i) {
    const yw_particles* p = &s->bodies[i].particles;
    for (int32_t k = 0; k < p->count; ++k, ++count) {
      sum += (double)yw_length2(yw_sub(yw_xyz(p->pos[k]), yw_xyz(then[i][k])));
    }
    free(then[i]);
    sums t = add_sums(s, i, i + 1);
    assert_near(t.center[1], 0.5 + i, 0.02);
    assert_near(t.center[0], i & 1 ? 0.05 : 0.0, 0.02);
  }
  print_message("           speed %.2g m/s, rms displacement in 1 s %.2g m\n", (double)speed,
                sqrt(sum / count));
  assert_at_most(speed, 0.01);
  assert_at_most(sqrt(sum / count), 0.001);
  scene_destroy(s);
}

// A box on a held box that is tilted below the friction angle stays where it is.
static void a_box_does_not_creep_down_a_tilted_box(void** state) {
  (void)state;
  contact_scene* s = scene_create(2, H);
  yw_transform tilt = turned(yw_v3(0, 0, 0), yw_v3(0, 0, 1), atan(0.3));
  scene_add_box(s, yw_v3(2, 0.5f, 2), CELLS4, tilt);
  yw_transform above = tilt;
  above.position = yw_transform_point(tilt, yw_v3(0.1f, 1.0f, 0.2f));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, above);
  hold(s, 0);
  stiffen(s, 0.9f, 100.0f);
  for (int step = 0; step < 480; ++step) scene_step(s);
  sums before = add_sums(s, 1, 2);
  for (int step = 0; step < 480; ++step) scene_step(s);
  sums after = add_sums(s, 1, 2);
  double moved[3];
  for (int d = 0; d < 3; ++d) moved[d] = after.center[d] - before.center[d];
  assert_at_most(norm3(moved) / 2.0, 0.001);
  scene_destroy(s);
}

// ... and above it slides with g (sin - mu cos).
static void a_box_slides_down_a_tilted_box(void** state) {
  (void)state;
  const double angle = 0.5235987755982988;
  contact_scene* s = scene_create(2, H);
  yw_transform tilt = turned(yw_v3(0, 0, 0), yw_v3(0, 0, 1), angle);
  const int32_t cells[3] = {24, 2, 6};
  scene_add_box(s, yw_v3(6, 0.5f, 1.5f), cells, tilt);
  yw_transform above = tilt;
  above.position = yw_transform_point(tilt, yw_v3(4.5f, 1.0f, 0.0f));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, above);
  for (int i = 0; i < 2; ++i) s->contact_bodies[i].friction = 0.3f;
  hold(s, 0);
  stiffen(s, 0.9f, 100.0f);
  for (int step = 0; step < 60; ++step) scene_step(s);
  sums before = add_sums(s, 1, 2);
  for (int step = 0; step < 120; ++step) scene_step(s);
  sums after = add_sums(s, 1, 2);
  double expected = 0.5 * 9.81 * (sin(angle) - 0.3 * cos(angle));
  double gained = (norm3(after.momentum) - norm3(before.momentum)) / after.mass;
  assert_near(gained, expected, 0.05 * expected);
  scene_destroy(s);
}

// Ten boxes in a pyramid on a slope below the friction angle.
static void ten_boxes_rest_on_a_slope(void** state) {
  (void)state;
  contact_scene* s = scene_create(10, H);
  const double angle = atan(0.2);
  yw_vec3 up = yw_v3((float)-sin(angle), (float)cos(angle), 0.0f);
  scene_add_plane(s, up, 0.0f, 0.5f);
  yw_transform tilt = turned(yw_v3(0, 0, 0), yw_v3(0, 0, 1), angle);
  const int32_t cells[3] = {3, 3, 3};
  for (int row = 0; row < 4; ++row) {
    for (int k = 0; k < 4 - row; ++k) {
      yw_transform place = tilt;
      yw_vec3 local = yw_v3(1.05f * ((float)k + 0.5f * (float)row), 0.5f + (float)row, 0.0f);
      place.position = yw_transform_point(tilt, local);
      int32_t box = scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), cells, place);
      s->contact_bodies[box].friction = 0.5f;
    }
  }
  stiffen(s, 0.9f, 100.0f);
  for (int step = 0; step < 240 * 5; ++step) scene_step(s);
  sums before[10];
  for (int i = 0; i < 10; ++i) before[i] = add_sums(s, i, i + 1);
  for (int step = 0; step < 240; ++step) scene_step(s);
  for (int i = 0; i < 10; ++i) {
    sums after = add_sums(s, i, i + 1);
    double moved[3];
    for (int d = 0; d < 3; ++d) moved[d] = after.center[d] - before[i].center[d];
    assert_at_most(norm3(moved), 0.002);
  }
  scene_destroy(s);
}

// Speed -----------------------------------------------------------------------------------------

// Coarse boxes in many orientations hit each other at 5 m/s: corners, edges and faces all hold.
static void nothing_passes_through_at_5_m_per_s(void** state) {
  (void)state;
  test_random random = {11};
  for (int k = 0; k < 40; ++k) {
    contact_scene* s = scene_create(2, H);
    scene_set_gravity(s, yw_v3(0, 0, 0));
    for (int i = 0; i < 2; ++i) {
      yw_vec3 axis = random_vector(&random);
      float x = i == 0 ? -0.5f : 0.5f;
      float y = i == 0 ? 0.0f : (float)test_random_in(&random, -0.1, 0.1);
      scene_add_box(s, yw_v3(0.25f, 0.25f, 0.25f), CELLS2,
                    turned(yw_v3(x, y, 0), axis, test_random_in(&random, 0, 3)));
    }
    set_velocity(s, 0, yw_v3(5, 0, 0), yw_v3(0, 0, 0));
    float deep = 0.0f;
    for (int step = 0; step < 150; ++step) {
      scene_step(s);
      deep = fmaxf(deep, fmaxf(deepest(s, 0, 1), deepest(s, 1, 0)));
    }
    sums a = add_sums(s, 0, 1), b = add_sums(s, 1, 2);
    // A box that passed through would be ahead of the other, or as fast as before.
    assert_at_least(b.momentum[0] / b.mass, a.momentum[0] / a.mass);
    assert_at_least(b.center[0], a.center[0]);
    // A fraction of the elements, which are 0.25 m.
    assert_at_most(deep, 0.05);
    scene_destroy(s);
  }
}

// Two bars cross ridge against ridge, far from any vertex.
static void crossed_edges_meet(void** state) {
  (void)state;
  const int32_t cells[3] = {1, 1, 1};
  contact_scene* s = scene_create(2, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  yw_transform lower = turned(yw_v3(0, 0, 0), yw_v3(1, 0, 0), 0.7853981633974483);
  yw_transform upper = turned(yw_v3(0.03f, 0.5f, 0.04f), yw_v3(0, 0, 1), 0.7853981633974483);
  scene_add_box(s, yw_v3(1, 0.1f, 0.1f), cells, lower);
  scene_add_box(s, yw_v3(0.1f, 0.1f, 1), cells, upper);
  stiffen(s, 0.9f, 10.0f);
  set_velocity(s, 1, yw_v3(0, -2, 0), yw_v3(0, 0, 0));
  double nearest = 1.0;
  for (int step = 0; step < 120; ++step) {
    scene_step(s);
    double apart = add_sums(s, 1, 2).center[1] - add_sums(s, 0, 1).center[1];
    nearest = fmin(nearest, apart);
  }
  // The diagonals of the cross-sections add up to 0.283 m.
  assert_at_least(nearest, 0.25);
  sums a = add_sums(s, 0, 1), b = add_sums(s, 1, 2);
  assert_at_least(b.momentum[1] / b.mass, a.momentum[1] / a.mass);
  scene_destroy(s);
}

// A corner comes down on the middle of a face that has no vertex near.
static void a_corner_on_a_coarse_face_is_held(void** state) {
  (void)state;
  const int32_t one[3] = {1, 1, 1};
  contact_scene* s = scene_create(2, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  scene_add_box(s, yw_v3(1, 0.3f, 1), one, at(0, 0, 0));
  yw_transform on_corner = turned(yw_v3(0.13f, 0.9f, 0.21f), yw_v3(1, 0, -1), 0.9553166181245093);
  scene_add_box(s, yw_v3(0.2f, 0.2f, 0.2f), CELLS2, on_corner);
  set_velocity(s, 1, yw_v3(0, -5, 0), yw_v3(0, 0, 0));
  for (int step = 0; step < 120; ++step) {
    scene_step(s);
    assert_at_most(deepest(s, 1, 0), 0.03);
  }
  assert_at_least(add_sums(s, 1, 2).center[1], 0.3);
  scene_destroy(s);
}

// Deep overlap is resolved without an explosion.
static void overlapping_bodies_part_slowly(void** state) {
  (void)state;
  contact_scene* s = scene_create(2, H);
  scene_set_gravity(s, yw_v3(0, 0, 0));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(0, 0, 0));
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4,
                turned(yw_v3(0.5f, 0.1f, 0.05f), yw_v3(1, 2, 0), 0.4));
  for (int step = 0; step < 960; ++step) {
    scene_step(s);
    assert_at_most(fmaxf(fastest(&s->bodies[0]), fastest(&s->bodies[1])), 4.0);
  }
  sums end = add_sums(s, 0, 2);
  assert_at_most(sqrt(2.0 * end.kinetic / end.mass), 2.0);
  assert_at_most(deepest(s, 0, 1), 0.01);
  assert_at_most(deepest(s, 1, 0), 0.01);
  scene_destroy(s);
}

// A pinned body acts as a wall.
static void held_bodies_do_not_move(void** state) {
  (void)state;
  contact_scene* s = scene_create(2, H);
  scene_add_box(s, yw_v3(0.5f, 0.5f, 0.5f), CELLS4, at(0, 0, 0));
  scene_add_box(s, yw_v3(0.4f, 0.4f, 0.4f), CELLS4, at(0.1f, 1.2f, 0));
  s->contact_bodies[1].restitution = 0.5f;
  hold(s, 0);
  size_t size = (size_t)s->bodies[0].particles.count * sizeof(yw_vec4);
  yw_vec4* before = malloc(size);
  memcpy(before, s->bodies[0].particles.pos, size);
  for (int step = 0; step < 480; ++step) scene_step(s);
  assert_memory_equal(before, s->bodies[0].particles.pos, size);
  assert_near(add_sums(s, 1, 2).center[1], 0.9, 0.02);
  free(before);
  scene_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contact_keeps_both_momenta_and_adds_no_energy),
      cmocka_unit_test(head_on_they_part_with_the_restitution),
      cmocka_unit_test(soft_bodies_part_again_without_restitution),
      cmocka_unit_test(a_stack_comes_to_rest),
      cmocka_unit_test(a_box_does_not_creep_down_a_tilted_box),
      cmocka_unit_test(a_box_slides_down_a_tilted_box),
      cmocka_unit_test(ten_boxes_rest_on_a_slope),
      cmocka_unit_test(nothing_passes_through_at_5_m_per_s),
      cmocka_unit_test(crossed_edges_meet),
      cmocka_unit_test(a_corner_on_a_coarse_face_is_held),
      cmocka_unit_test(overlapping_bodies_part_slowly),
      cmocka_unit_test(held_bodies_do_not_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
