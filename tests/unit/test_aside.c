// SPDX-License-Identifier: MIT
// Contacts that begin far apart wait as spares, and lose nothing on the way.
#include "contact/surfaces/aside.h"

#include "contact/surfaces/solve.h"
#include "support/testing.h"

enum { NUM_PARTICLES = 8, NUM_CONTACTS = 300 };
#define SKIN 0.004f
#define SLOP (YW_TOUCH_SLOP * SKIN)

static const yw_complex solid = {.is_volume = true, .size = 1.0f}, sheet = {.size = 1.0f};

static float random_float(test_random* random, double from, double to) {
  return (float)test_random_in(random, from, to);
}

// A vertex and a triangle, from either side, or two edges.
static yw_contact random_contact(test_random* random) {
  bool vertex = test_random_u32(random) % 2, swapped = vertex && test_random_u32(random) % 2;
  int split = vertex ? 1 : 2;
  yw_contact c = {.body = {swapped, !swapped},
                  .count = {split, 4 - split},
                  .normal = yw_v3(0, 1, 0),
                  .distance = random_float(random, 0.0, 1.0),
                  .gap_before = random_float(random, -1.0, 4.0) * SKIN};
  float last = random_float(random, 0.1, 0.4), middle = random_float(random, 0.1, 0.4);
  const float weights[2][4] = {{1.0f - last, last, 1.0f - middle, middle},
                               {1.0f, 1.0f - middle - last, middle, last}};
  for (int k = 0; k < 4; ++k) {
    int side = k < split ? 0 : 1, slot = side ? k - split : k;
    c.particles[side][slot] = (int32_t)(test_random_u32(random) % NUM_PARTICLES);
    c.weights[side][slot] = weights[vertex][k];
  }
  return c;
}

// True for the spare of a contact.
static bool is_spare_of(const yw_contact_spare* s, const yw_contact* c) {
  bool vertex = c->count[0] == 1;
  bool same = s->vertex == vertex && s->swapped == (c->body[0] == 1) &&
              s->gap_before == c->gap_before && s->distance == c->distance &&
              yw_distance(s->normal, c->normal) == 0.0f;
  for (int k = 0; k < 4; ++k) {
    int side = k < c->count[0] ? 0 : 1, slot = side ? k - c->count[0] : k;
    same = same && s->corners[k] == c->particles[side][slot];
  }
  return same && s->shares[0] == (vertex ? c->weights[1][1] : c->weights[0][1]) &&
         s->shares[1] == (vertex ? c->weights[1][2] : c->weights[1][1]);
}

static bool is_same(const yw_contact* a, const yw_contact* b) {
  return a->body[0] == b->body[0] && a->count[0] == b->count[0] && a->distance == b->distance &&
         a->gap_before == b->gap_before &&
         memcmp(a->particles, b->particles, sizeof a->particles) == 0 &&
         memcmp(a->weights, b->weights, sizeof a->weights) == 0;
}

// Some contacts are put aside; earlier ones in the list are those of another job.
static void check(const yw_contact_work works[2], float gap) {
  test_random random = {5};
  yw_contact before[NUM_CONTACTS], contacts[NUM_CONTACTS];
  yw_contact_spare spares[NUM_CONTACTS];
  for (int i = 0; i < NUM_CONTACTS; ++i) before[i] = contacts[i] = random_contact(&random);
  yw_contact_list list = {.contacts = contacts,
                          .spares = spares,
                          .num_contacts = NUM_CONTACTS,
                          .contact_capacity = NUM_CONTACTS,
                          .spare_capacity = NUM_CONTACTS};
  const yw_contact_job job = {.a = 0, .b = 1};
  int32_t others = 40, left = yw_aside_put(works, &job, &list, NUM_CONTACTS - others);
  int32_t kept = 0, waiting = 0;
  for (int32_t i = 0; i < others; ++i) assert_true(is_same(&contacts[i], &before[i]));
  for (int32_t i = others; i < NUM_CONTACTS; ++i) {
    if (before[i].gap_before > gap) {
      assert_true(is_spare_of(&spares[waiting++], &before[i]));
    } else {
      assert_true(is_same(&contacts[others + kept++], &before[i]));
    }
  }
  assert_int_equal(left, kept);
  assert_int_equal(list.num_spares, waiting);
}

static void far_contacts_wait(void** state) {
  (void)state;
  const yw_contact_body body = {.body_contact = true};
  yw_contact_work works[2] = {{.body = &body, .complex = &solid},
                              {.body = &body, .complex = &solid}};
  check(works, 1.5f * SKIN);
  // Bodies that approach each other as wholes close larger gaps.
  works[0].way = yw_v3(0, 0.5f * SKIN, 0);
  works[1].way = yw_v3(0, -0.5f * SKIN, 0);
  check(works, 2.5f * SKIN);
}

static void contacts_of_others_do_not_wait(void** state) {
  (void)state;
  const yw_contact_body plain = {.body_contact = true}, bouncy = {.restitution = 0.5f};
  const yw_contact_body obstacle = {.is_obstacle = true};
  const yw_contact_work box = {.body = &plain, .complex = &solid};
  const yw_contact_work others[3] = {{.body = &bouncy, .complex = &solid},
                                     {.body = &obstacle, .complex = &solid},
                                     {.body = &plain, .complex = &sheet}};
  for (int i = 0; i < 3; ++i) {
    yw_contact_work works[2] = {box, others[i]};
    check(works, INFINITY);
    assert_true(yw_aside_skipped(&works[1], &works[0]) == INFINITY);
  }
}

// The corners of a cube that moves, turns by 0.1, and grows.
static void motion_as_a_whole_is_measured(void** state) {
  (void)state;
  yw_vec4 begin[NUM_PARTICLES], end[NUM_PARTICLES];
  int32_t vertices[NUM_PARTICLES];
  const yw_vec3 turn = {0.06f, 0.0f, 0.08f}, way = {0.2f, -0.3f, 0.1f};
  for (int32_t i = 0; i < NUM_PARTICLES; ++i) {
    yw_vec3 arm = yw_v3(i & 1 ? 0.5f : -0.5f, i & 2 ? 0.5f : -0.5f, i & 4 ? 0.5f : -0.5f);
    yw_vec3 change = yw_mad(yw_add(way, yw_cross(turn, arm)), 0.4f, arm);
    begin[i] = yw_v4(yw_add(arm, yw_v3(3, 4, 5)));
    end[i] = yw_v4(yw_add(yw_xyz(begin[i]), change));
    vertices[i] = i;
  }
  yw_complex cube = {.is_volume = true, .size = 1.0f, .num_vertices = NUM_PARTICLES};
  const yw_contact_body body = {.body_contact = true, .begin = begin};
  yw_contact_work work = {.body = &body, .complex = &cube, .vertices = vertices, .predicted = end};
  yw_aside_measure(&work);
  assert_near(yw_distance(work.way, way), 0.0, 1e-6);
  assert_near(work.turn, 0.1 * sqrt(0.75), 1e-6);
}

// Two bodies of four particles that hit each other.
enum { NUM_CORNERS = 4 };
typedef struct clash {
  yw_vec4 pos[2][NUM_CORNERS], vel[2][NUM_CORNERS], begin[2][NUM_CORNERS];
  float mass[NUM_CORNERS], inv_mass[NUM_CORNERS];
  yw_particles particles[2];
  yw_contact_body bodies[2];
} clash;

// In the plane y = 0, and those of side 0 of a spare above it.
static void begin_clash(clash* c, const yw_contact_spare* s, yw_vec3 front, yw_vec3 back, float h) {
  for (int i = 0; i < NUM_CORNERS; ++i) c->mass[i] = 2.0f, c->inv_mass[i] = 0.5f;
  for (int body = 0; body < 2; ++body) {
    bool is_front = (body == 1) == s->swapped;
    yw_vec3 speed = is_front ? front : back;
    for (int i = 0; i < NUM_CORNERS; ++i) {
      float height = is_front ? s->gap_before + s->distance : 0.0f;
      yw_vec3 place = yw_v3((float)(i & 1), height, (float)(i / 2));
      c->begin[body][i] = yw_v4(place);
      // No two particles are equally fast.
      yw_vec3 own = yw_scale(speed, 1.0f + (float)i);
      c->vel[body][i] = yw_v4(own);
      c->pos[body][i] = yw_v4(yw_mad(place, h, own));
    }
    c->particles[body] = (yw_particles){.pos = c->pos[body],
                                        .vel = c->vel[body],
                                        .mass = c->mass,
                                        .inv_mass = c->inv_mass,
                                        .count = NUM_CORNERS};
    c->bodies[body] = (yw_contact_body){
        .particles = &c->particles[body], .begin = c->begin[body], .body_contact = true};
  }
}

// Solves for a pair with one contact, which waits. It becomes `contact`.
static void solve_clash(clash* c, yw_contact_spare spare, float h, yw_contact* contact) {
  yw_contact_row row;
  yw_contact_search search;
  yw_contact_batch batch = {.contacts = contact,
                            .rows = &row,
                            .searches = &search,
                            .spares = &spare,
                            .num_spares = 1,
                            .slop = SLOP,
                            .b = 1,
                            .leads = true,
                            .extent = 1.0f};
  yw_contact_island islands[2] = {{.share = 1.0f}, {.share = 1.0f}};
  yw_vec3 pair_angular;
  float yields[2] = {1.0f, 1.0f};
  int32_t order = 0;
  yw_contact_problem problem = {.bodies = c->bodies,
                                .yields = yields,
                                .batches = &batch,
                                .found_order = &order,
                                .lane_order = &order,
                                .row_fns = yw_row_fns_of(yw_simd_resolve(YW_SIMD_AUTO)),
                                .pair_angular = &pair_angular,
                                .num_pairs = 1,
                                .islands = islands,
                                .h = h,
                                .iterations = 4};
  for (int k = 1; k <= YW_CONTACT_MAX_COLORS + 1; ++k) problem.color_start[k] = 1;
  yw_contact_solve(&problem);
  assert_int_equal(batch.count, 1);
}

static yw_vec3 momentum_of(const clash* c) {
  yw_vec3 sum = yw_v3(0, 0, 0);
  for (int i = 0; i < NUM_CORNERS; ++i) {
    sum = yw_mad(sum, c->mass[i], yw_add(yw_xyz(c->vel[0][i]), yw_xyz(c->vel[1][i])));
  }
  return sum;
}

// m, between the sides of a spare.
static float gap_of(const clash* c, const yw_contact_spare* s) {
  float u = s->shares[0], v = s->shares[1];
  const float triangle[4] = {1.0f, u + v - 1.0f, -u, -v}, edges[4] = {1.0f - u, u, v - 1.0f, -v};
  yw_vec3 apart = yw_v3(0, 0, 0);
  for (int k = 0; k < 4; ++k) {
    bool front = k < (s->vertex ? 1 : 2);
    yw_vec3 place = yw_xyz(c->pos[front == s->swapped][s->corners[k]]);
    apart = yw_mad(apart, s->vertex ? triangle[k] : edges[k], place);
  }
  return yw_dot(apart, s->normal) - s->distance;
}

// The contact is taken up: they end no deeper than what is left alone, and keep their momentum.
static void check_taken_up(const yw_contact_spare* s, yw_vec3 front, yw_vec3 back) {
  const float h = 0.01f;
  clash c;
  yw_contact contact;
  begin_clash(&c, s, front, back, h);
  yw_vec3 brought = momentum_of(&c);
  solve_clash(&c, *s, h, &contact);
  assert_true(contact.impulse > 0.0f);
  assert_near(yw_distance(momentum_of(&c), brought), 0.0, 1e-5);
  float gap = gap_of(&c, s);
  assert_true(gap > -1.01f * SLOP && gap < 0.1f * s->gap_before);
}

static void spares_are_taken_up(void** state) {
  (void)state;
  for (int i = 0; i < 4; ++i) {
    bool vertex = i & 1, swapped = i & 2;
    if (swapped && !vertex) continue;
    yw_contact_spare spare = {.corners = {vertex ? 3 : 0, vertex ? 0 : 3, 1, 2},
                              .shares = {vertex ? 0.1f : 0.4f, vertex ? 0.6f : 0.3f},
                              .normal = {0, 1, 0},
                              .distance = SKIN,
                              .gap_before = 4.0f * SKIN,
                              .vertex = vertex,
                              .swapped = swapped};
    check_taken_up(&spare, yw_v3(0, -4, 0), yw_v3(0, 1, 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_contacts_wait), cmocka_unit_test(contacts_of_others_do_not_wait),
      cmocka_unit_test(spares_are_taken_up), cmocka_unit_test(motion_as_a_whole_is_measured)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
