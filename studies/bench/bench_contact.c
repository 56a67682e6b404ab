// SPDX-License-Identifier: MIT
// yawara bench contact: milliseconds per substep of whole worlds with many contacts, as points and
// as surfaces. Each kind comes to rest on its own: piles of points overlap, piles of surfaces do
// not.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "console/options.h"
#include "reference/clock.h"
#include "yawara/match.h"

#define H (1.0f / 240.0f)
// Timed substeps, always the same ones.
#define TIMED 4

typedef struct contact_case {
  const char* name;
  int32_t bodies[3];  // along x, y, z
  int32_t cells;      // of a body, along each side
  float size;         // of a body, m
  int32_t settle;     // substeps before the first measurement
  int32_t repetitions;
  double scaling;  // with two threads or more; 0: no target
  bool in_parts;   // default stiffness: several parts per substep, with contact after each
} contact_case;

// A body plus the gap to the next takes 1.25 times its size.
#define PITCH 1.25f

static const contact_case cases[] = {
    {"bin of 1000 boxes", {10, 10, 10}, 2, 0.1f, 60, 10, 1.7, false},
    {"stack of 10 boxes", {1, 10, 1}, 4, 0.4f, 120, 100, 0, false},
    {"8 fine boxes in parts", {2, 2, 2}, 12, 0.3f, 80, 10, 0, true},
    {"one box on the floor", {1, 1, 1}, 26, 0.4f, 60, 20, 0, false},
};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

static const char* const kind_names[] = {
    [YW_CONTACT_POINTS] = "points", [YW_CONTACT_SURFACES] = "surfaces"};
enum { NUM_KINDS = 2 };

typedef struct contact_world {
  yw_world* world;
  double total[TIMED], contact[TIMED];  // fastest of each substep, ms
  yw_step_report report;
} contact_world;

typedef struct snapshot {
  void* data;
  size_t size;
} snapshot;

static yw_status make_mesh(const contact_case* c, yw_tet_mesh* out) {
  float half = 0.5f * c->size;
  yw_aabb box = {{-half, -half, -half}, {half, half, half}};
  const int32_t cells[3] = {c->cells, c->cells, c->cells};
  return yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, out);
}

static yw_status make_model(const contact_case* c, yw_model** out) {
  yw_tet_mesh mesh = {0};
  yw_status status = make_mesh(c, &mesh);
  yw_match_def def = yw_default_match_def();
  def.mesh = &mesh;
  // One inner step per substep: contact is what is measured.
  if (!c->in_parts) def.params.alpha = 0.8f;
  if (status >= 0) status = yw_model_create_match(NULL, &def, out, NULL);
  yw_tet_mesh_free(&mesh);
  return status;
}

static yw_status add_plane(yw_world* world, yw_vec3 normal, float offset) {
  yw_obstacle_def def = yw_default_obstacle_def();
  yw_obstacle_id id;
  yw_status status = yw_shape_plane(NULL, normal, offset, &def.shape);
  if (status >= 0) status = yw_obstacle_create(world, &def, &id, NULL);
  yw_shape_release(def.shape);
  return status;
}

// Floor and four walls.
static yw_status add_bin(yw_world* world, const contact_case* c) {
  float x = 0.5f * PITCH * c->size * (float)c->bodies[0];
  float z = 0.5f * PITCH * c->size * (float)c->bodies[2];
  const yw_vec3 normals[5] = {{0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}, {0, 0, -1}};
  const float offsets[5] = {0, -x, -x, -z, -z};
  yw_status status = YW_OK;
  for (int k = 0; k < 5 && status >= 0; ++k) status = add_plane(world, normals[k], offsets[k]);
  return status;
}

static int32_t num_bodies(const contact_case* c) {
  return c->bodies[0] * c->bodies[1] * c->bodies[2];
}

// A grid of bodies; each layer is shifted a little, so that they do not just stack.
static yw_vec3 place_of(const contact_case* c, int32_t i) {
  int32_t x = i % c->bodies[0], z = i / c->bodies[0] % c->bodies[2];
  int32_t y = i / c->bodies[0] / c->bodies[2];
  float pitch = PITCH * c->size, aside = 0.1f * c->size * ((y & 1) != 0 ? 1.0f : -1.0f);
  return (yw_vec3){pitch * ((float)x - 0.5f * (float)(c->bodies[0] - 1)) + aside,
                   0.51f * c->size + 1.05f * c->size * (float)y,
                   pitch * ((float)z - 0.5f * (float)(c->bodies[2] - 1)) - aside};
}

static yw_status add_bodies(yw_world* world, const contact_case* c, yw_model* model) {
  yw_body_def def = yw_default_body_def();
  def.model = model;
  for (int32_t i = 0; i < num_bodies(c); ++i) {
    def.transform.position = place_of(c, i);
    yw_body_id id;
    yw_status status = yw_body_create(world, &def, &id, NULL);
    if (status < 0) return status;
  }
  return YW_OK;
}

static yw_status make_world(const bench_run* run, const contact_case* c, yw_contact_kind kind,
                            int32_t threads, contact_world* w) {
  yw_world_def def = yw_default_world_def();
  def.contact = kind;
  def.threads = threads;
  def.simd = run->simd;
  for (int i = 0; i < TIMED; ++i) w->total[i] = w->contact[i] = INFINITY;
  yw_model* model = NULL;
  yw_status status = yw_world_create(&def, &w->world);
  if (status >= 0) status = make_model(c, &model);
  if (status >= 0) status = add_bin(w->world, c);
  if (status >= 0) status = add_bodies(w->world, c, model);
  yw_model_release(model);
  return status;
}

// Lets a world come to rest; every measurement starts from that state.
static yw_status settle(yw_world* world, int32_t substeps, snapshot* out) {
  for (int32_t i = 0; i < substeps; ++i) {
    yw_status status = yw_world_step(world, H, 1, NULL);
    if (status < 0) return status;
  }
  out->size = yw_world_snapshot_size(world);
  out->data = malloc(out->size);
  return out->data ? yw_world_save(world, out->data, out->size, &out->size) : YW_ERR_MEMORY;
}

static yw_status time_world(contact_world* w, bool one_thread, const snapshot* from) {
  yw_status status = yw_world_load(w->world, from->data, from->size, NULL);
  if (status >= 0) status = yw_world_step(w->world, H, 1, NULL);
  if (status < 0) return status;
  for (int i = 0; i < TIMED && status >= 0; ++i) {
    double start = bench_seconds(one_thread);
    status = yw_world_step(w->world, H, 1, &w->report);
    double total = 1e3 * (bench_seconds(one_thread) - start);
    if (total >= w->total[i]) continue;
    w->total[i] = total;
    w->contact[i] = total * w->report.seconds_contact / w->report.seconds_total;
  }
  return status;
}

static double mean(const double* values) {
  double sum = 0.0;
  for (int i = 0; i < TIMED; ++i) sum += values[i];
  return sum / TIMED;
}

// Both kinds of one case. The worlds with one thread come first.
typedef struct contact_worlds {
  contact_world one[NUM_KINDS], many[NUM_KINDS];
  snapshot start[NUM_KINDS];
} contact_worlds;

static void print(const bench_run* run, const contact_case* c, const contact_worlds* w,
                  yw_contact_kind kind, bool is_many) {
  const contact_world *one = &w->one[kind], *world = is_many ? &w->many[kind] : one;
  const double values[2] = {mean(world->total), mean(world->contact)};
  const double alone[2] = {mean(one->total), mean(one->contact)};
  const contact_world* points = &w->one[YW_CONTACT_POINTS];
  const double of_points[2] = {mean(points->total), mean(points->contact)};
  for (int k = 0; k < 2; ++k) {
    char name[80];
    snprintf(name, sizeof name, "%s, %s, %s", c->name, kind_names[kind],
             k == 0 ? "total" : "contact");
    bench_row row = {
        .name = name, .threads = is_many ? run->threads : 1, .value = values[k], .unit = "ms/step"};
    bool surfaces = kind == YW_CONTACT_SURFACES;
    if (is_many) {
      row.against = "1 thread";
      row.ratio = alone[k] / values[k];
      row.bar_value = c->scaling;
    } else if (surfaces) {
      row.against = "points";
      row.ratio = of_points[k] / values[k];
      row.bar_value = 1.0;
    }
    if (surfaces && k == 0 && row.bar_value > 0.0) row.bar = BAR_RATIO_AT_LEAST;
    bench_print(run, &row);
  }
}

static yw_status prepare(const bench_run* run, const contact_case* c, yw_contact_kind kind,
                         contact_worlds* w) {
  yw_status status = make_world(run, c, kind, 1, &w->one[kind]);
  if (status >= 0 && run->threads > 1) {
    status = make_world(run, c, kind, run->threads, &w->many[kind]);
  }
  int32_t substeps = run->quick ? c->settle / 4 : c->settle;
  yw_world* world = w->many[kind].world ? w->many[kind].world : w->one[kind].world;
  return status < 0 ? status : settle(world, substeps, &w->start[kind]);
}

static void report(const bench_run* run, const contact_case* c, const contact_worlds* w) {
  for (int kind = 0; kind < NUM_KINDS; ++kind) {
    const yw_step_report* last = &w->one[kind].report;
    bench_note(run, "%s, %s: %d particles, %d contacts between bodies, %d with the bin", c->name,
               kind_names[kind], last->num_particles, last->body_contacts, last->obstacle_contacts);
    print(run, c, w, (yw_contact_kind)kind, false);
    if (w->many[kind].world) print(run, c, w, (yw_contact_kind)kind, true);
  }
}

// The first case beside Bullet.
static yw_status compare(const bench_run* run, const contact_case* c, const contact_worlds* w) {
  yw_tet_mesh mesh = {0};
  yw_vec3* places = calloc((size_t)num_bodies(c), sizeof *places);
  yw_status status = places ? make_mesh(c, &mesh) : YW_ERR_MEMORY;
  for (int32_t i = 0; i < num_bodies(c) && places; ++i) places[i] = place_of(c, i);
  bench_bin bin = {.world = w->one[YW_CONTACT_SURFACES].world,
                   .mesh = &mesh,
                   .places = places,
                   .half_x = 0.5f * PITCH * c->size * (float)c->bodies[0],
                   .half_z = 0.5f * PITCH * c->size * (float)c->bodies[2],
                   .substeps = run->quick ? c->settle / 4 : c->settle,
                   .h = H,
                   .ms = mean(w->one[YW_CONTACT_SURFACES].total)};
  if (status >= 0) bench_bullet(run, &bin);
  yw_tet_mesh_free(&mesh);
  free(places);
  return status;
}

static yw_status measure(const bench_run* run, const contact_case* c) {
  contact_worlds w = {0};
  yw_status status = YW_OK;
  for (int kind = 0; kind < NUM_KINDS && status >= 0; ++kind) {
    status = prepare(run, c, (yw_contact_kind)kind, &w);
  }
  for (int32_t r = 0; status >= 0 && r < bench_repetitions(run, c->repetitions, 1); ++r) {
    for (int kind = 0; kind < NUM_KINDS && status >= 0; ++kind) {
      status = time_world(&w.one[kind], true, &w.start[kind]);
      if (status >= 0 && w.many[kind].world) {
        status = time_world(&w.many[kind], false, &w.start[kind]);
      }
    }
  }
  if (status >= 0) report(run, c, &w);
  if (status >= 0 && c == cases) status = compare(run, c, &w);
  for (int kind = 0; kind < NUM_KINDS; ++kind) {
    yw_world_destroy(w.one[kind].world);
    yw_world_destroy(w.many[kind].world);
    free(w.start[kind].data);
  }
  return status;
}

int bench_contact(const bench_run* run) {
  for (int i = 0; i < NUM_CASES; ++i) {
    if (measure(run, &cases[i]) >= 0) continue;
    fprintf(stderr, "yawara: %s: the simulation failed\n", cases[i].name);
    return EXIT_FAILED;
  }
  int status = bench_spheres(run);
  if (status == EXIT_DONE) status = bench_cloth(run);
  return status == EXIT_DONE ? bench_carpet(run) : status;
}
