// SPDX-License-Identifier: MIT
// Batches that have a chunk of a large body in common are not solved at the same time.
#include "contact/surfaces/batches.h"

#include "support/testing.h"

#define LARGE 2000
#define CHUNK 512

// Two bodies of four chunks, and what one job found between them.
typedef struct scene {
  int32_t places[LARGE];
  yw_complex complex;
  yw_contact_work works[2];
  yw_contact_job job;
  yw_surfaces* surfaces;
} scene;

static void make_scene(scene* s) {
  for (int32_t i = 0; i < LARGE; ++i) s->places[i] = i;
  s->complex = (yw_complex){.num_vertices = LARGE};
  for (int k = 0; k < 2; ++k) {
    s->works[k] = (yw_contact_work){.complex = &s->complex, .places = s->places};
  }
  s->surfaces = yw_surfaces_create(NULL, YW_SIMD_AUTO);
  assert_non_null(s->surfaces);
  s->surfaces->works.items = s->works;
  s->surfaces->works.count = 2;
  s->surfaces->jobs.items = &s->job;
  s->surfaces->jobs.count = 1;
}

static void free_scene(scene* s) {
  s->surfaces->works.items = NULL;
  s->surfaces->jobs.items = NULL;
  s->surfaces->works.count = s->surfaces->jobs.count = 0;
  yw_surfaces_destroy(s->surfaces);
}

// Checks that the chunks of a single spare are those given, one bit each, and no others.
static void expect_chunks(scene* s, yw_contact_spare spare, uint32_t expected) {
  yw_contact_list list = {.spares = &spare, .num_spares = 1};
  s->job = (yw_contact_job){.a = 0, .b = 1, .num_spares = 1};
  assert_true(yw_surfaces_begin_chunks(s->surfaces));
  yw_surfaces_list_chunks(s->surfaces, 0, &list);
  const yw_batch_chunks* chunks = &s->surfaces->batch_chunks.items[0];
  uint32_t found = 0;
  for (int32_t i = 0; i < chunks->count; ++i) found |= 1u << chunks->items[i];
  assert_int_equal(found, expected);
}

static void spares_name_the_chunks_of_their_sides(void** state) {
  (void)state;
  scene s = {0};
  make_scene(&s);
  const int32_t corners[4] = {0, CHUNK, 2 * CHUNK, 3 * CHUNK};
  yw_contact_spare spare = {.corners = {corners[0], corners[1], corners[2], corners[3]}};
  expect_chunks(&s, spare, 1 << 0 | 1 << 1 | 1 << 6 | 1 << 7);
  // A vertex of the first body and a triangle of the second, and the other way round.
  spare.vertex = true;
  expect_chunks(&s, spare, 1 << 0 | 1 << 5 | 1 << 6 | 1 << 7);
  spare.swapped = true;
  expect_chunks(&s, spare, 1 << 4 | 1 << 1 | 1 << 2 | 1 << 3);
  free_scene(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spares_name_the_chunks_of_their_sides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
