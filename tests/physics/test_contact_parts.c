// SPDX-License-Identifier: MIT
// Pairs that were found in one part of a substep last for the next ones: contact finds what a
// search would have found, and searches again when something has moved far.
#include "contact/surfaces/data.h"
#include "geometry/mesh_faces.h"
#include "support/testing.h"
#include "yawara/mesh.h"

#define H 1e-4f
#define SIDE 0.1f
#define BODIES 3
#define PARTS 40

typedef struct box {
  yw_tet_mesh mesh;
  int32_t *triangles, *surface;
  yw_vec4* begin;
  yw_particles particles;
} box;

typedef struct stack {
  box boxes[BODIES];
  yw_contact_body bodies[BODIES];
  test_random random;
} stack;

// The boundary of the mesh, facing outward, and its vertices.
static void find_surface(box* b, yw_contact_geometry* g) {
  int32_t faces = 4 * b->mesh.num_tets;
  int32_t* partner = malloc((size_t)faces * sizeof *partner);
  bool* on = calloc((size_t)b->mesh.num_vertices, sizeof *on);
  b->triangles = malloc(3 * (size_t)faces * sizeof *b->triangles);
  b->surface = malloc((size_t)b->mesh.num_vertices * sizeof *b->surface);
  assert_int_equal(yw_tet_face_partners(NULL, &b->mesh, partner), YW_OK);
  for (int32_t f = 0; f < faces; ++f) {
    if (partner[f] >= 0) continue;
    int32_t* corners = b->triangles + 3 * (size_t)g->num_triangles++;
    yw_tet_face_vertices(&b->mesh, f, corners);
    for (int k = 0; k < 3; ++k) on[corners[k]] = true;
  }
  for (int32_t v = 0; v < b->mesh.num_vertices; ++v) {
    if (on[v]) b->surface[g->num_surface_particles++] = v;
  }
  free(partner);
  free(on);
  g->triangles = b->triangles;
  g->surface_particles = b->surface;
}

static void make_box(box* b, yw_contact_body* body, uint32_t number, yw_vec3 at, int32_t cells) {
  const float half = 0.5f * SIDE;
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){{-half, -half, -half}, {half, half, half}},
                          (int32_t[3]){cells, cells, cells}, YW_LATTICE_FIVE, &b->mesh),
      YW_OK);
  int32_t count = b->mesh.num_vertices, capacity = (count + 15) / 16 * 16;
  size_t size = (size_t)capacity * sizeof(yw_vec4);
  b->particles = (yw_particles){.count = count,
                                .capacity = capacity,
                                .pos = aligned_alloc(64, size),
                                .vel = aligned_alloc(64, size),
                                .mass = calloc((size_t)capacity, sizeof(float)),
                                .inv_mass = calloc((size_t)capacity, sizeof(float))};
  b->begin = aligned_alloc(64, size);
  // Turned, so that no two faces are parallel.
  yw_quat turn = {0.01f * (float)number, 0.05f, 0.01f, 0.9987f};
  for (int32_t i = 0; i < count; ++i) {
    b->particles.pos[i] = yw_v4(yw_add(at, yw_rotate(turn, b->mesh.positions[i])));
    b->particles.vel[i] = yw_v4(yw_v3(0, 0, 0));
    b->particles.mass[i] = b->particles.inv_mass[i] = 1.0f;
  }
  *body = (yw_contact_body){
      .geometry = {.tets = b->mesh.tets, .num_tets = b->mesh.num_tets, .rest = b->mesh.positions},
      .key = number,
      .number = number,
      .particles = &b->particles,
      .begin = b->begin,
      .body_contact = true};
  find_surface(b, &body->geometry);
}

static void make_stack(stack* s) {
  *s = (stack){.random = {5}};
  for (int i = 0; i < BODIES; ++i) {
    yw_vec3 at = {0.01f * (float)i, 1.011f * SIDE * (float)i, 0};
    make_box(&s->boxes[i], &s->bodies[i], (uint32_t)i, at, 4 + i);
  }
}

static void free_stack(stack* s) {
  for (int i = 0; i < BODIES; ++i) {
    box* b = &s->boxes[i];
    void* blocks[] = {b->triangles,         b->surface,       b->begin,
                      b->particles.pos,     b->particles.vel, b->particles.mass,
                      b->particles.inv_mass};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) free(blocks[k]);
    yw_tet_mesh_free(&b->mesh);
  }
}

// Presses bodies towards the middle, with noise in all particles.
static void move(stack* s, float way) {
  for (int i = 0; i < BODIES; ++i) {
    yw_particles* p = s->bodies[i].particles;
    for (int32_t k = 0; k < p->count; ++k) {
      float noise[3];
      for (int d = 0; d < 3; ++d) noise[d] = 0.3f * way * (float)test_random_in(&s->random, -1, 1);
      yw_vec3 step = {noise[0] + 0.2f * way, (float)(1 - i) * way + noise[1], noise[2]};
      s->boxes[i].begin[k] = p->pos[k];
      p->pos[k] = yw_v4(yw_add(yw_xyz(p->pos[k]), step));
      p->vel[k] = yw_v4(yw_scale(step, 1.0f / H));
    }
  }
}

// What contact found, in any order.
typedef struct finding {
  int32_t contacts, spares;
  uint64_t sum;
} finding;

static uint64_t mixed(uint64_t h, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) h = (h ^ ((const unsigned char*)bytes)[i]) * 1099511628211ull;
  return h;
}

static finding resolve(yw_surfaces* c, stack* s, int32_t part, int32_t parts) {
  finding f = {0};
  yw_surfaces_continue(c, 1, part, parts);
  assert_int_equal(yw_surfaces_resolve(c, s->bodies, BODIES, H, yw_v3(0, 0, 0), 4, NULL, NULL),
                   YW_OK);
  for (int32_t i = 0; i < c->batches.count; ++i) {
    const yw_contact_batch* batch = &c->batches.items[i];
    f.contacts += batch->count;
    f.spares += batch->num_spares;
    for (int32_t k = 0; k < batch->count; ++k) {
      const yw_contact* p = &batch->contacts[k];
      uint64_t h = mixed(14695981039346656037ull, p->body, sizeof p->body);
      for (int side = 0; side < 2; ++side) {
        size_t count = (size_t)p->count[side];
        h = mixed(h, p->particles[side], count * sizeof(int32_t));
        h = mixed(h, p->weights[side], count * sizeof(float));
      }
      f.sum += mixed(h, &p->normal, sizeof p->normal);
    }
  }
  return f;
}

typedef struct saved {
  yw_vec4 *pos[BODIES], *vel[BODIES];
} saved;

static void copy_state(stack* s, saved* to, bool back) {
  for (int i = 0; i < BODIES; ++i) {
    yw_particles* p = s->bodies[i].particles;
    size_t size = (size_t)p->count * sizeof(yw_vec4);
    if (!to->pos[i]) to->pos[i] = malloc(size), to->vel[i] = malloc(size);
    memcpy(back ? p->pos : to->pos[i], back ? to->pos[i] : p->pos, size);
    memcpy(back ? p->vel : to->vel[i], back ? to->vel[i] : p->vel, size);
  }
}

static void lists_that_last_find_what_a_search_finds(void** state) {
  (void)state;
  stack s;
  make_stack(&s);
  yw_surfaces* lasting = yw_surfaces_create(NULL, yw_simd_resolve(YW_SIMD_AUTO));
  yw_surfaces* fresh = yw_surfaces_create(NULL, yw_simd_resolve(YW_SIMD_AUTO));
  saved before = {0};
  int32_t renewed = 0, searched = 0, most = 0;
  for (int32_t part = 0; part < PARTS; ++part) {
    // Small steps, and a large one now and then.
    move(&s, part % 13 == 12 ? 4e-3f : 1e-5f);
    copy_state(&s, &before, false);
    yw_vec4 anchor = lasting->lasts ? lasting->caches.items[0].anchor[0] : (yw_vec4){0};
    finding a = resolve(lasting, &s, part, PARTS);
    bool same = lasting->lasts && part > 0 &&
                memcmp(&anchor, &lasting->caches.items[0].anchor[0], sizeof anchor) == 0;
    renewed += same;
    searched += !same;
    copy_state(&s, &before, true);
    finding b = resolve(fresh, &s, 0, 0);
    if (a.contacts != b.contacts || a.spares != b.spares || a.sum != b.sum) {
      fail_msg("part %d: %d contacts and %d spares, a search finds %d and %d", part, a.contacts,
               a.spares, b.contacts, b.spares);
    }
    most = b.contacts > most ? b.contacts : most;
  }
  print_message("%d parts used an old list, %d searched; up to %d contacts\n", renewed, searched,
                most);
  // The large steps and the last part cannot.
  assert_true(renewed >= PARTS / 2 && searched >= 4 && most > 40);
  for (int i = 0; i < BODIES; ++i) free(before.pos[i]), free(before.vel[i]);
  yw_surfaces_destroy(lasting);
  yw_surfaces_destroy(fresh);
  free_stack(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_that_last_find_what_a_search_finds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
