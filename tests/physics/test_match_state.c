// SPDX-License-Identifier: MIT
// Match bodies as the world sees them: the same bits for any threads and instruction set,
// snapshots, pins, springs, obstacles, no allocation in a step, and errors for bad input.
#include "support/test_match.h"
#include "yawara/extend/hash.h"
#include "yawara/match.h"

static uint64_t hash_state(const match_case* c) {
  size_t bytes = (size_t)c->particles.count * sizeof *c->particles.pos;
  uint64_t h = yw_hash_bytes(YW_HASH_SEED, c->particles.pos, bytes);
  return yw_hash_bytes(h, c->particles.vel, bytes);
}

// A minimal floor at y = 0.
static void floor_collide(const yw_step_ctx* ctx, yw_particles* particles, const yw_vec4* old_pos,
                          const float* radius, float begin, float span) {
  (void)radius;
  (void)begin;
  assert_non_null(old_pos);
  assert_near(span, ctx->h, 0);
  for (int32_t p = 0; p < particles->count; ++p) {
    if (particles->pos[p].y < 0) {
      particles->pos[p].y = 0;
      particles->vel[p] = (yw_vec4){0};
      ++ctx->report->obstacle_contacts;
    }
  }
}

static bool floor_is_clear(const yw_step_ctx* ctx, yw_aabb box) {
  (void)ctx;
  return box.lower.y > 0;
}

static void build_dropped(match_case* c, yw_grouping grouping, int cells_y, int num_examples) {
  static int32_t labels[8192];
  case_begin(c, 5, cells_y, 6);
  if (num_examples > 0) {
    case_add_example(c, YW_DEFORM_TWIST, 1.0f);
    case_add_example(c, YW_DEFORM_S_BEND, 0.8f);
  }
  for (int32_t v = 0; v < c->mesh.num_vertices; ++v) labels[v] = c->mesh.positions[v].x > 0.25f;
  c->def.grouping = grouping;
  c->def.vertex_labels = labels;
  case_build(c);
  case_place(c, NULL, yw_quat_axis_angle((yw_vec3){1, 0.4f, 0.2f}, 0.7f), (yw_vec3){0, 0.45f, 0});
  c->ctx.gravity = (yw_vec3){0, -9.81f, 0};
  c->ctx.collide = floor_collide;
  c->ctx.is_clear = floor_is_clear;
}

// Sameness ----------------------------------------------------------------------------------------

static uint64_t run_dropped(yw_grouping grouping, int num_examples, int threads, yw_simd simd) {
  match_case c;
  build_dropped(&c, grouping, 30, num_examples);
  c.ctx.tasks = threads > 0 ? yw_tasks_create(NULL, threads) : NULL;
  c.ctx.simd = yw_simd_resolve(simd);
  assert_at_least(case_step(&c, 40), 0);
  assert_true(case_is_finite(&c));
  assert_at_least(c.report.obstacle_contacts, 1);
  uint64_t hash = hash_state(&c);
  yw_tasks_destroy(c.ctx.tasks);
  case_end(&c);
  return hash;
}

static void bits_do_not_depend_on_threads_or_instruction_set(void** state) {
  (void)state;
  const struct {
    yw_grouping grouping;
    int num_examples;
  } kinds[] = {{YW_GROUPS_GLOBAL, 0},
               {YW_GROUPS_GLOBAL, 2},
               {YW_GROUPS_LABELS, 2},
               {YW_GROUPS_PER_REGION, 2}};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    uint64_t expected = run_dropped(kinds[k].grouping, kinds[k].num_examples, 0, YW_SIMD_AUTO);
    const int threads[4] = {1, 2, 3, 8};
    for (int t = 0; t < 4; ++t) {
      assert_true(expected ==
                  run_dropped(kinds[k].grouping, kinds[k].num_examples, threads[t], YW_SIMD_AUTO));
    }
    for (yw_simd simd = YW_SIMD_PLAIN; simd <= YW_SIMD_AVX512; ++simd) {
      assert_true(expected == run_dropped(kinds[k].grouping, kinds[k].num_examples, 2, simd));
    }
  }
}

static void resumed_body_goes_on_with_the_same_bits(void** state) {
  (void)state;
  match_case a, b;
  build_dropped(&a, YW_GROUPS_GLOBAL, 9, 2);
  build_dropped(&b, YW_GROUPS_GLOBAL, 9, 2);
  assert_true(yw_match_method.model_hash(a.model) == yw_match_method.model_hash(b.model));
  case_set(&a, 0.7f, 0.9f, 1.0f);
  case_step(&a, 50);

  yw_writer count = {0};
  yw_match_method.save(a.state, &count);
  unsigned char* bytes = malloc(count.size);
  yw_writer writer = {.data = bytes, .capacity = count.size};
  yw_match_method.save(a.state, &writer);
  assert_false(writer.overflow);
  size_t size = (size_t)a.particles.count * sizeof *a.particles.pos;
  memcpy(b.particles.pos, a.particles.pos, size);
  memcpy(b.particles.vel, a.particles.vel, size);
  yw_reader reader = {.data = bytes, .size = writer.size};
  yw_match_method.load(b.state, &reader);
  assert_false(reader.failed);
  assert_int_equal(reader.offset, reader.size);

  case_step(&a, 50);
  case_step(&b, 50);
  assert_true(hash_state(&a) == hash_state(&b));
  float wa[3], wb[3];
  yw_match_weights(a.state, wa, 3);
  yw_match_weights(b.state, wb, 3);
  assert_memory_equal(wa, wb, sizeof wa);

  // Truncated at every length: an error, never a crash.
  for (size_t cut = 0; cut < writer.size; cut += 97) {
    yw_reader broken = {.data = bytes, .size = cut};
    yw_match_method.load(b.state, &broken);
    assert_true(broken.failed);
  }
  free(bytes);
  case_end(&a);
  case_end(&b);
}

// Warm starts affect only rounding.
static void forgetting_warm_starts_changes_only_rounding(void** state) {
  (void)state;
  match_case a, b;
  build_dropped(&a, YW_GROUPS_GLOBAL, 9, 2);
  build_dropped(&b, YW_GROUPS_GLOBAL, 9, 2);
  for (int s = 0; s < 30; ++s) {
    case_step(&a, 1);
    yw_match_method.invalidate(b.state, &b.particles);
    case_step(&b, 1);
  }
  for (int32_t p = 0; p < a.particles.count; ++p) {
    assert_at_most(yw_distance(yw_xyz(a.particles.pos[p]), yw_xyz(b.particles.pos[p])),
                   2e-5 * a.size);
  }
  case_end(&a);
  case_end(&b);
}

// Memory ------------------------------------------------------------------------------------------

typedef struct counter {
  int64_t allocations, live;
  int64_t fail_at;  // 0: never
} counter;

static void* counting_alloc(void* context, size_t size, size_t align) {
  counter* count = context;
  if (++count->allocations == count->fail_at) return NULL;
  ++count->live;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void counting_release(void* context, void* pointer) {
  --((counter*)context)->live;
  free(pointer);
}

static void step_makes_no_heap_call(void** state) {
  (void)state;
  match_case c;
  counter count = {0};
  yw_allocator mem = {counting_alloc, counting_release, &count};
  case_begin(&c, 4, 8, 4);
  case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  assert_int_equal(yw_match_model_create(&mem, &c.def, 1e5, &c.model, NULL), 0);
  assert_int_equal(yw_match_method.body_create(c.model, &mem, &c.state, &c.particles, NULL), 0);
  int64_t before = count.allocations;
  case_step(&c, 10);
  assert_int_equal(count.allocations, before);
  case_end(&c);
  assert_int_equal(count.live, 0);
}

// Running out of memory at any allocation gives an error and leaks nothing.
static void running_out_of_memory_is_an_error(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 2, 3, 2);
  case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  int32_t labels[36] = {0};
  labels[3] = 1;
  c.def.grouping = YW_GROUPS_LABELS;
  c.def.vertex_labels = labels;
  for (int64_t fail_at = 1;; ++fail_at) {
    counter count = {.fail_at = fail_at};
    yw_allocator mem = {counting_alloc, counting_release, &count};
    void *model = NULL, *body = NULL;
    yw_particles particles = {0};
    yw_status status = yw_match_model_create(&mem, &c.def, 1e5, &model, NULL);
    if (status >= 0) {
      status = yw_match_method.body_create(model, &mem, &body, &particles, NULL);
      if (status >= 0) yw_match_method.body_destroy(body, &particles);
      yw_match_method.model_destroy(model);
    } else {
      assert_null(model);
    }
    assert_int_equal(count.live, 0);
    if (count.allocations < fail_at) {
      assert_int_equal(status, YW_OK);
      break;
    }
    assert_at_most(status, -1);
  }
  case_end(&c);
}

// Pins and springs --------------------------------------------------------------------------------

static void held_particles_follow_their_pins_exactly(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  case_build(&c);
  c.ctx.gravity = (yw_vec3){0, -9.81f, 0};
  yw_hold holds[25];
  int count = 0;
  for (int32_t v = 0; v < c.mesh.num_vertices; ++v) {
    if (c.mesh.positions[v].y < 0.79f) continue;
    holds[count++].particle = c.order[v];
    c.particles.inv_mass[c.order[v]] = 0;
  }
  assert_int_equal(count, 25);
  c.ctx.holds = holds;
  c.ctx.num_holds = count;
  for (int s = 0; s < 480; ++s) {
    for (int i = 0; i < count; ++i) {
      yw_vec3 x = yw_xyz(c.particles.pos[holds[i].particle]);
      holds[i].begin = x;
      holds[i].end = yw_add(x, (yw_vec3){0.001f, 0, 0});
    }
    case_step(&c, 1);
    for (int i = 0; i < count; ++i) {
      yw_vec3 x = yw_xyz(c.particles.pos[holds[i].particle]);
      yw_vec3 v = yw_xyz(c.particles.vel[holds[i].particle]);
      assert_memory_equal(&x, &holds[i].end, sizeof x);
      assert_near(v.x, 0.24, 1e-3);
    }
  }
  // It hangs below, follows, and is still in one piece.
  assert_true(case_is_finite(&c));
  assert_at_most(case_distance(&c, NULL), 0.2 * c.size);
  case_end(&c);
}

// A spring of any stiffness pulls its particle to the handle and does not explode.
static void springs_are_stable_at_any_stiffness(void** state) {
  (void)state;
  const float stiffness[3] = {1e2f, 1e6f, 1e12f};
  for (int k = 0; k < 3; ++k) {
    match_case c;
    case_begin(&c, 4, 8, 4);
    c.def.density = 10;
    case_build(&c);
    yw_spring spring = {.particle = c.order[0],
                        .stiffness = stiffness[k],
                        .damping = 10.0f,
                        .begin = {-0.2f, -0.2f, 0},
                        .end = {-0.2f, -0.2f, 0}};
    c.ctx.springs = &spring;
    c.ctx.num_springs = 1;
    case_step(&c, 5000);
    assert_true(case_is_finite(&c));
    assert_at_most(yw_distance(yw_xyz(c.particles.pos[c.order[0]]), spring.end), 0.02);
    case_end(&c);
  }
}

// Bad states and input ----------------------------------------------------------------------------

static void positions_that_are_not_finite_stop_the_body(void** state) {
  (void)state;
  const float bad[3] = {NAN, INFINITY, 3e38f};
  for (int k = 0; k < 6; ++k) {
    match_case c;
    build_dropped(&c, k % 2 ? YW_GROUPS_GLOBAL : YW_GROUPS_PER_REGION, 9, k % 2 ? 2 : 0);
    case_step(&c, 3);
    c.particles.pos[17].y = bad[k / 2];
    yw_vec4 untouched = c.particles.pos[100];
    assert_int_equal(case_step(&c, 1), YW_ERR_DIVERGED);
    assert_memory_equal(&untouched, &c.particles.pos[100], sizeof untouched);
    case_end(&c);
  }
}

static void assert_refused(match_case* c, yw_status expected, const char* word) {
  yw_error error = {0};
  void* model = NULL;
  assert_int_equal(yw_match_model_create(NULL, &c->def, 0.0, &model, &error), expected);
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
  if (expected < 0) {
    assert_null(model);
  } else {
    yw_match_method.model_destroy(model);
  }
}

static void bad_definitions_are_refused_with_words(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 2, 2, 2);
  const yw_match_def good = c.def;
  c.def.density = 0;
  assert_refused(&c, YW_ERR_INVALID, "density is 0");
  c.def = good, c.def.params.beta = 1.7f;
  assert_refused(&c, YW_ERR_INVALID, "beta is 1.7");
  c.def = good, c.def.params.alpha = NAN;
  assert_refused(&c, YW_ERR_INVALID, "alpha");
  c.def = good, c.def.params.damping = -2;
  assert_refused(&c, YW_ERR_INVALID, "damping is -2");
  c.def = good, c.def.params.stiffness = NAN;
  assert_refused(&c, YW_ERR_INVALID, "stiffness is");
  c.def = good, c.def.num_examples = 33;
  assert_refused(&c, YW_ERR_INVALID, "33 examples");
  c.def = good, c.def.num_examples = 1;
  assert_refused(&c, YW_ERR_INVALID, "examples[0] is missing");
  c.def = good, c.def.grouping = YW_GROUPS_LABELS;
  assert_refused(&c, YW_ERR_INVALID, "vertex_labels");
  c.def = good;
  case_add_example(&c, YW_DEFORM_TWIST, 1)[5].z = NAN;
  assert_refused(&c, YW_ERR_GEOMETRY, "vertex 5 of examples[0]");
  c.def = good;
  c.mesh.positions[3].x = INFINITY;
  assert_refused(&c, YW_ERR_GEOMETRY, "3");
  case_end(&c);
}

static void redundant_examples_are_named(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  case_add_example(&c, YW_DEFORM_STRETCH, 0.3f);
  case_add_example(&c, YW_DEFORM_TWIST, 0.0f);
  case_add_example(&c, YW_DEFORM_STRETCH, 0.3f);
  case_add_example(&c, YW_DEFORM_STRETCH, 0.6f);
  case_add_example(&c, YW_DEFORM_TWIST, 1.0f);
  assert_refused(&c, YW_WARN_REDUNDANT, "examples[1] has the shape of the rest pose");
  assert_refused(&c, YW_WARN_REDUNDANT, "examples[2] is the same as examples[0]");
  assert_refused(&c, YW_WARN_REDUNDANT, "examples[3] is a combination");
  // The model is created, and the longer stretch still extends the hull of poses.
  case_build(&c);
  for (int projection = 0; projection < 2; ++projection) {
    yw_match_params params = {
        .alpha = 0.8f, .beta = 0.95f, .projection = (yw_projection)projection};
    yw_match_set_params(c.state, &params);
    case_place(&c, c.examples[3], some_rotation(), (yw_vec3){0, 0, 0});
    case_step(&c, 20);
    assert_true(case_is_finite(&c));
  }
  case_end(&c);
}

// Two boxes far apart in one mesh fall side by side.
static void separate_parts_in_one_mesh_are_fine(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 2, 2, 2);
  yw_tet_mesh one = c.mesh;
  assert_int_equal(yw_tet_mesh_create(NULL, 2 * one.num_vertices, 2 * one.num_tets, &c.mesh), 0);
  for (int32_t v = 0; v < 2 * one.num_vertices; ++v) {
    c.mesh.positions[v] = one.positions[v % one.num_vertices];
    if (v >= one.num_vertices) c.mesh.positions[v].x += 5;
  }
  for (int32_t t = 0; t < 8 * one.num_tets; ++t) {
    c.mesh.tets[t] =
        one.tets[t % (4 * one.num_tets)] + (t >= 4 * one.num_tets ? one.num_vertices : 0);
  }
  yw_tet_mesh_free(&one);
  case_build(&c);
  case_step(&c, 100);
  assert_at_most(case_distance(&c, NULL), 1e-5);
  case_end(&c);
}

static void contact_geometry_is_complete(void** state) {
  (void)state;
  match_case c;
  case_begin(&c, 4, 8, 4);
  case_build(&c);
  yw_contact_geometry g = yw_match_method.contact_geometry(c.state);
  assert_int_equal(g.num_tets, c.mesh.num_tets);
  assert_int_equal(g.num_surface_particles, 225 - 3 * 7 * 3);
  assert_int_equal(g.num_triangles, 4 * (4 * 8 + 4 * 8 + 4 * 4));
  for (int32_t v = 0; v < c.mesh.num_vertices; ++v) {
    assert_memory_equal(&g.rest[c.order[v]], &c.mesh.positions[v], sizeof(yw_vec3));
  }
  for (int32_t i = 1; i < g.num_surface_particles; ++i) {
    assert_true(g.surface_particles[i] > g.surface_particles[i - 1]);
  }
  case_end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_do_not_depend_on_threads_or_instruction_set),
      cmocka_unit_test(resumed_body_goes_on_with_the_same_bits),
      cmocka_unit_test(forgetting_warm_starts_changes_only_rounding),
      cmocka_unit_test(step_makes_no_heap_call),
      cmocka_unit_test(running_out_of_memory_is_an_error),
      cmocka_unit_test(held_particles_follow_their_pins_exactly),
      cmocka_unit_test(springs_are_stable_at_any_stiffness),
      cmocka_unit_test(positions_that_are_not_finite_stop_the_body),
      cmocka_unit_test(bad_definitions_are_refused_with_words),
      cmocka_unit_test(redundant_examples_are_named),
      cmocka_unit_test(separate_parts_in_one_mesh_are_fine),
      cmocka_unit_test(contact_geometry_is_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
