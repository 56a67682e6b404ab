// SPDX-License-Identifier: MIT
// Fracture of finite elements: a notched strip against Griffith, energy, momentum, strength,
// snapshots and threads.
#include "methods/fem/body.h"
#include "methods/fem/fem.h"
#include "support/fem_bar.h"
#include "yawara/extend/memory.h"

// Strips ------------------------------------------------------------------------------------------

/// A strip in the plane y = 0 .. HEIGHT, notched at half its height, both edges held.
typedef struct strip {
  void *model, *state;
  yw_particles p;
  yw_step_ctx ctx;
  yw_hold* holds;
  float pulled;  // m, of the upper edge
} strip;

#define LENGTH 0.2f
#define HEIGHT 0.1f
#define NOTCH 0.08f

// Vertices on the notch become two: those of tets above it move on their own.
static void cut_notch(yw_tet_mesh* mesh) {
  int32_t* upper = calloc((size_t)mesh->num_vertices, sizeof *upper);
  int32_t more = 0;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 x = mesh->positions[i];
    bool on_notch = fabsf(x.y - 0.5f * HEIGHT) < 1e-5f && x.x < NOTCH - 1e-5f;
    upper[i] = on_notch ? mesh->num_vertices + more++ : i;
  }
  yw_tet_mesh cut;
  assert_int_equal(yw_tet_mesh_create(NULL, mesh->num_vertices + more, mesh->num_tets, &cut),
                   YW_OK);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    cut.positions[i] = cut.positions[upper[i]] = mesh->positions[i];
  }
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    float y = 0.0f;
    for (int k = 0; k < 4; ++k) y += 0.25f * mesh->positions[v[k]].y;
    for (int k = 0; k < 4; ++k) {
      cut.tets[4 * (size_t)t + (size_t)k] = y > 0.5f * HEIGHT ? upper[v[k]] : v[k];
    }
  }
  yw_tet_mesh_free(mesh);
  *mesh = cut;
  free(upper);
}

static void make_strip(strip* s, yw_fem_def* def, const int32_t cells[3], bool notched) {
  *s = (strip){.ctx = {.simd = yw_simd_resolve(YW_SIMD_AUTO), .h = 1e-3f}};
  yw_tet_mesh mesh;
  float thick = HEIGHT * (float)cells[2] / (float)cells[1];
  yw_aabb box = {{0, 0, 0}, {LENGTH, HEIGHT, thick}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  if (notched) cut_notch(&mesh);
  def->mesh = &mesh;
  yw_error error = {0};
  yw_status status = yw_fem_model_create(NULL, def, &s->model, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  assert_int_equal(yw_fem_method.body_create(s->model, NULL, &s->state, &s->p, NULL), YW_OK);
  yw_tet_mesh_free(&mesh);
  s->holds = calloc((size_t)s->p.count, sizeof *s->holds);
  s->ctx.holds = s->holds;
  for (int32_t n = 0; n < s->p.count; ++n) {
    float y = s->p.pos[n].y;
    if (y > 1e-5f && y < HEIGHT - 1e-5f) continue;
    s->holds[s->ctx.num_holds++] = (yw_hold){.particle = n};
  }
}

static void free_strip(strip* s) {
  yw_fem_method.body_destroy(s->state, &s->p);
  yw_fem_model_destroy(s->model);
  free(s->holds);
}

// Pulls the upper edge to this distance in one substep.
static void pull_strip(strip* s, float to) {
  const fem_model* m = s->model;
  for (int32_t i = 0; i < s->ctx.num_holds; ++i) {
    yw_hold* hold = &s->holds[i];
    hold->begin = hold->end = m->rest[hold->particle];
    if (hold->begin.y < 0.5f * HEIGHT) continue;
    hold->begin.y += s->pulled;
    hold->end.y += to;
  }
  s->pulled = to;
  assert_true(yw_fem_method.advance(s->state, &s->p, &s->ctx) >= 0);
}

static yw_fem_def brittle_def(int32_t level) {
  yw_fem_def def = yw_default_fem_def();
  def.max_level = level;
  def.youngs_modulus = 1e5f;
  def.poissons_ratio = 0.0f;
  def.toughness = 0.5f;
  def.params.refine = YW_FEM_REFINE_FINEST;
  def.params.mass_damping = 20.0f;
  def.params.sleep_speed = 0.0f;
  return def;
}

// Griffith: ahead of the notch the strip stores E/2 (u / H)^2 per volume, behind it nothing, so a
// crack that advances by da releases E/2 (u / H)^2 H da: it runs when that is the toughness.
static void check_griffith(int32_t level, int32_t across) {
  const int32_t cells[3] = {2 * across, across, 1};
  yw_fem_def def = brittle_def(level);
  strip s;
  make_strip(&s, &def, cells, true);
  double expected = sqrt(2.0 * (double)def.toughness * (double)HEIGHT / (double)def.youngs_modulus);
  double ligament = (double)((LENGTH - NOTCH) * HEIGHT) / across;
  const fem_body* b = s.state;
  while (b->cracks.area < 0.3 * ligament && (double)s.pulled < 2.0 * expected) {
    float share = (double)s.pulled < 0.75 * expected ? 0.005f : 0.0005f;
    pull_strip(&s, s.pulled + share * (float)expected);
  }
  double ratio = (double)s.pulled / expected;
  if (getenv("YW_TEST_FULL")) {
    print_message(
        "level %d of %d cells, %d tets: energy released %.3f of the toughness, %d faces\n",
        (int)level, (int)across, (int)b->front.num_tets, ratio * ratio, (int)b->cracks.num_faces);
  }
  assert_near(ratio * ratio, 1.0, 0.1);
  free_strip(&s);
}

static void notched_strip_breaks_as_griffith_says(void** state) {
  (void)state;
  check_griffith(0, 16);
  if (!getenv("YW_TEST_FULL")) return;
  check_griffith(1, 12);
  check_griffith(2, 10);
}

// Beams -------------------------------------------------------------------------------------------

#define BEAM_LENGTH 0.4f
#define DEPTH 0.1f
#define BEAM_NOTCH 0.04f  // m, from below, in the middle

// Vertices on the notch become two: those of tets to its right move on their own.
static void cut_beam(yw_tet_mesh* mesh) {
  int32_t* right = calloc((size_t)mesh->num_vertices, sizeof *right);
  int32_t more = 0;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 x = mesh->positions[i];
    bool on_notch = fabsf(x.x) < 1e-5f && x.y < BEAM_NOTCH - 0.5f * DEPTH - 1e-5f;
    right[i] = on_notch ? mesh->num_vertices + more++ : i;
  }
  yw_tet_mesh cut;
  assert_int_equal(yw_tet_mesh_create(NULL, mesh->num_vertices + more, mesh->num_tets, &cut),
                   YW_OK);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    cut.positions[i] = cut.positions[right[i]] = mesh->positions[i];
  }
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    const int32_t* v = mesh->tets + 4 * (size_t)t;
    float x = 0.0f;
    for (int k = 0; k < 4; ++k) x += 0.25f * mesh->positions[v[k]].x;
    for (int k = 0; k < 4; ++k) {
      cut.tets[4 * (size_t)t + (size_t)k] = x > 0.0f ? right[v[k]] : v[k];
    }
  }
  yw_tet_mesh_free(mesh);
  *mesh = cut;
  free(right);
}

// Forces per vertex of the ends for a bending stress of 1 Pa at the edges, from the share of the
// end faces that each vertex has: pure bending, and nothing holds the beam.
static yw_vec4* make_couple(const fem_model* m) {
  yw_vec4* force = calloc((size_t)m->h.max_nodes, sizeof *force);
  const fem_hierarchy* h = &m->h;
  for (int32_t t = h->level_start[h->max_level]; t < h->num_tets; ++t) {
    for (int f = 0; f < 4; ++f) {
      int32_t v[3];
      int count = 0;
      for (int k = 0; k < 4; ++k) {
        int32_t n = h->nodes[t][k];
        if (k != f && fabs(fabs(h->rest[n].x) - 0.5 * (double)BEAM_LENGTH) < 1e-5) v[count++] = n;
      }
      if (count < 3) continue;
      yw_dvec3 a = yw_dsub(h->rest[v[1]], h->rest[v[0]]), b = yw_dsub(h->rest[v[2]], h->rest[v[0]]);
      double area = 0.5 * fabs(yw_dcross(a, b).x);
      double sum = h->rest[v[0]].y + h->rest[v[1]].y + h->rest[v[2]].y;
      // Consistent with a stress that varies linearly over the triangle; tension below.
      for (int k = 0; k < 3; ++k) {
        double y = (sum + h->rest[v[k]].y) / 4.0;
        double pull = -y / (0.5 * (double)DEPTH) * area / 3.0;
        force[v[k]].x += (float)(h->rest[v[k]].x > 0.0 ? pull : -pull);
      }
    }
  }
  return force;
}

// Griffith with the stress intensity of a notched beam in pure bending (Tada, Paris, Irwin):
// K = s sqrt(pi a) F(a / W), and a crack runs when K^2 / E is the toughness.
static double critical_stress(const yw_fem_def* def) {
  double a = (double)BEAM_NOTCH, r = a / (double)DEPTH;
  double shape = 1.122 - 1.40 * r + 7.33 * r * r - 13.08 * r * r * r + 14.0 * r * r * r * r;
  double k = sqrt((double)def->toughness * (double)def->youngs_modulus);
  return k / (sqrt(3.14159265358979 * a) * shape);
}

static void check_beam(int32_t level, int32_t across) {
  const int32_t cells[3] = {4 * across, across, 1};
  yw_fem_def def = brittle_def(level);
  yw_tet_mesh mesh;
  float thick = DEPTH / (float)across;
  yw_aabb box = {{-0.5f * BEAM_LENGTH, -0.5f * DEPTH, 0},
                 {0.5f * BEAM_LENGTH, 0.5f * DEPTH, thick}};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_SIX, &mesh), YW_OK);
  cut_beam(&mesh);
  def.mesh = &mesh;
  strip s = {.ctx = {.simd = yw_simd_resolve(YW_SIMD_AUTO), .h = 2e-4f}};
  assert_int_equal(yw_fem_model_create(NULL, &def, &s.model, NULL), YW_OK);
  assert_int_equal(yw_fem_method.body_create(s.model, NULL, &s.state, &s.p, NULL), YW_OK);
  const fem_body* b = s.state;
  yw_vec4* couple = make_couple(s.model);
  yw_vec4* impulses = calloc((size_t)b->model->h.max_nodes, sizeof *impulses);
  double expected = critical_stress(&def), stress = 0.0;
  double ligament = (double)((DEPTH - BEAM_NOTCH) * thick);
  while (b->cracks.area < 0.05 * ligament && stress < 2.0 * expected) {
    stress += (stress < 0.6 * expected ? 2e-4 : 8e-5) * expected;
    for (int32_t n = 0; n < b->model->h.num_nodes; ++n) {
      impulses[n].x = couple[n].x * (float)stress * s.ctx.h;
    }
    yw_fem_method.push(s.state, &s.p, impulses);
    assert_true(yw_fem_method.advance(s.state, &s.p, &s.ctx) >= 0);
  }
  double ratio = stress / expected;
  if (getenv("YW_TEST_FULL")) {
    print_message("beam, level %d of %d cells, %d tets: energy released %.3f of the toughness\n",
                  (int)level, (int)across, (int)b->front.num_tets, ratio * ratio);
  }
  assert_near(ratio * ratio, 1.0, 0.1);
  free(couple);
  free(impulses);
  yw_fem_method.body_destroy(s.state, &s.p);
  yw_fem_model_destroy(s.model);
  yw_tet_mesh_free(&mesh);
}

static void notched_beam_breaks_as_griffith_says(void** state) {
  (void)state;
  check_beam(0, 20);
  if (!getenv("YW_TEST_FULL")) return;
  check_beam(0, 30);
  check_beam(1, 10);
  check_beam(1, 15);
  check_beam(2, 5);
}

// Nodes along the tip of the notch are known as such, on both sides of the strip; no others are.
static void tips_of_notches_are_found(void** state) {
  (void)state;
  const int32_t cells[3] = {10, 5, 1};
  for (int notched = 0; notched < 2; ++notched) {
    yw_fem_def def = brittle_def(1);
    const int32_t even[3] = {10, 4, 1};
    strip s;
    make_strip(&s, &def, notched ? even : cells, notched == 1);
    const fem_model* m = s.model;
    int32_t found = 0;
    for (int32_t n = 0; n < m->h.num_nodes; ++n) {
      if (!m->fragile->is_tip[n]) continue;
      ++found;
      assert_near(m->h.rest[n].x, (double)NOTCH, 1e-5);
      assert_near(m->h.rest[n].y, 0.5 * (double)HEIGHT, 1e-5);
    }
    // Two corners and the midpoint between them.
    assert_int_equal(found, notched ? 3 : 0);
    free_strip(&s);
  }
}

// Strength ----------------------------------------------------------------------------------------

// Below its strength nothing happens, above it the strip comes apart.
static void strength_decides_without_a_notch(void** state) {
  (void)state;
  for (int above = 0; above < 2; ++above) {
    const int32_t cells[3] = {8, 4, 1};
    yw_fem_def def = brittle_def(0);
    def.strength = 1e3f;
    def.toughness = 2.0f;
    strip s;
    make_strip(&s, &def, cells, false);
    float yields = HEIGHT * def.strength / def.youngs_modulus;
    for (int step = 0; step < 400; ++step) {
      pull_strip(
          &s, fminf((above ? 8.0f : 0.9f) * yields, s.pulled + (above ? 0.05f : 0.004f) * yields));
    }
    const fem_body* b = s.state;
    if (above) {
      assert_true(b->cracks.num_pieces > 1);
    } else {
      assert_int_equal(b->cracks.num_faces, 0);
    }
    free_strip(&s);
  }
}

// Pulls a strip without a notch until it cracks; returns the strain at that time.
static double strain_at_crack(yw_fem_def* def, float most) {
  const int32_t cells[3] = {8, 4, 1};
  strip s;
  make_strip(&s, def, cells, false);
  const fem_body* b = s.state;
  while (b->cracks.num_faces == 0 && s.pulled < most * HEIGHT) {
    pull_strip(&s, s.pulled + 1e-4f * HEIGHT);
  }
  double strain = (double)(s.pulled / HEIGHT);
  free_strip(&s);
  return strain;
}

// Ductile: with a yield point below the strength the strip flows first, as far as `max_plastic`
// lets it, and breaks only then; later still where flow has no end.
static void ductile_strips_flow_before_they_break(void** state) {
  (void)state;
  yw_fem_def def = brittle_def(0);
  def.strength = 2e3f;
  def.toughness = 4.0f;
  double brittle = strain_at_crack(&def, 0.2f);
  assert_near(brittle, 0.02, 0.003);
  def.params.yield = 0.005f;
  def.params.creep = 500.0f;
  def.params.max_plastic = 0.06f;
  double ductile = strain_at_crack(&def, 0.2f);
  assert_near(ductile, brittle + 0.06, 0.02);
  def.params.max_plastic = 10.0f;
  assert_at_least(strain_at_crack(&def, 0.2f), ductile + 0.01);
}

// Energy ------------------------------------------------------------------------------------------

static double kinetic_energy(const yw_particles* p) {
  double sum = 0.0;
  for (int32_t n = 0; n < p->count; ++n) {
    sum += 0.5 * (double)p->mass[n] * (double)yw_length2(yw_xyz(p->vel[n]));
  }
  return sum;
}

// Work of the holds over one substep, from the forces that the tets have on them.
static double work_of_holds(const strip* s) {
  const fem_body* b = s->state;
  double work = 0.0;
  for (int32_t i = 0; i < s->ctx.num_holds; ++i) {
    const yw_hold* hold = &s->holds[i];
    work -= (double)b->force[hold->particle].y * (double)(hold->end.y - hold->begin.y);
  }
  return work;
}

// What the hands put in is stored, moves, was taken by the crack or by damping.
static void energy_is_accounted_for(void** state) {
  (void)state;
  const int32_t cells[3] = {16, 8, 1};
  yw_fem_def def = brittle_def(0);
  def.params.mass_damping = 5.0f;
  strip s;
  make_strip(&s, &def, cells, true);
  s.ctx.h = 1e-4f;
  double work = 0.0, damped = 0.0, stored = 0.0, apart = 0.0;
  float most = 1.5f * sqrtf(2.0f * def.toughness * HEIGHT / def.youngs_modulus);
  for (int step = 0; step < 3000; ++step) {
    double before = kinetic_energy(&s.p);
    pull_strip(&s, fminf(most, s.pulled + 0.001f * most));
    work += work_of_holds(&s);
    damped += (double)(s.ctx.h * def.params.mass_damping) * (before + kinetic_energy(&s.p));
    stored = yw_fem_elastic_energy(s.state, &s.p) + kinetic_energy(&s.p);
    apart = yw_fem_fracture_energy(s.state);
  }
  const fem_body* b = s.state;
  assert_int_equal(b->cracks.num_pieces, 2);
  assert_near((stored + apart + damped) / work, 1.0, 0.02);
  free_strip(&s);
}

// Momentum ----------------------------------------------------------------------------------------

static void sum_momentum(const yw_particles* p, double out[4]) {
  memset(out, 0, 4 * sizeof *out);
  for (int32_t n = 0; n < p->count; ++n) {
    double m = (double)p->mass[n];
    out[0] += m * (double)p->vel[n].x;
    out[1] += m * (double)p->vel[n].y;
    out[2] += m * (double)p->vel[n].z;
    out[3] += m;
  }
}

// A strip that flies apart keeps mass and momentum, and without damping its energy.
// Crumbs keep their momenta, wherever they are, and what is left of their motion is that of rigid
// bodies, which is kept as it is.
static void crumbs_keep_their_momenta(void** state) {
  (void)state;
  enum { NODES = 5 };
  int32_t start[2] = {0, NODES}, nodes[NODES] = {0, 1, 2, 3, 4};
  const fem_cracks cracks = {.num_crumbs = 1, .crumb_start = start, .crumb_nodes = nodes};
  const double mass[NODES] = {1, 2, 0.5, 3, 1.5};
  const float free_mass[NODES] = {1, 0.5f, 2, 1 / 3.0f, 1 / 1.5f};
  test_random random = {5};
  for (int rigid = 0; rigid < 2; ++rigid) {
    yw_particles p;
    assert_true(yw_particles_create(NULL, NODES, &p));
    double before[6] = {0}, after[6] = {0}, way = 0;
    for (int i = 0; i < NODES; ++i) {
      float x[3], v[3];
      for (int k = 0; k < 3; ++k) {
        x[k] = (float)(2 + k + test_random_in(&random, -0.1, 0.1));
        v[k] = (float)test_random_in(&random, -1, 1);
      }
      p.pos[i] = yw_v4(yw_v3(x[0], x[1], x[2]));
      yw_vec3 turn =
          yw_add(yw_v3(0.1f, 0.2f, -0.3f), yw_cross(yw_v3(1, -2, 0.5f), yw_xyz(p.pos[i])));
      p.vel[i] = yw_v4(rigid ? turn : yw_v3(v[0], v[1], v[2]));
    }
    for (int round = 0; round < 2; ++round) {
      double* sums = round ? after : before;
      for (int i = 0; i < NODES; ++i) {
        const float *x = &p.pos[i].x, *v = &p.vel[i].x;
        for (int k = 0; k < 3; ++k) {
          int a = (k + 1) % 3, b = (k + 2) % 3;
          sums[k] += mass[i] * (double)v[k];
          sums[3 + k] += mass[i] * ((double)x[a] * (double)v[b] - (double)x[b] * (double)v[a]);
        }
      }
      if (round) break;
      yw_vec4 old[NODES];
      memcpy(old, p.vel, sizeof old);
      yw_fem_crumbs_calm(&cracks, mass, free_mass, 0.0f, &p);
      for (int i = 0; i < NODES; ++i) {
        way = fmax(way, (double)yw_distance(yw_xyz(old[i]), yw_xyz(p.vel[i])));
      }
    }
    for (int k = 0; k < 6; ++k) assert_near(after[k], before[k], 1e-5);
    assert_true(rigid ? way < 1e-5 : way > 0.1);
    yw_particles_free(NULL, &p);
  }
}

static void nothing_is_lost_when_nodes_split(void** state) {
  (void)state;
  const int32_t cells[3] = {8, 4, 1};
  yw_fem_def def = brittle_def(1);
  def.params.mass_damping = 0.0f;
  strip s;
  make_strip(&s, &def, cells, true);
  s.ctx.num_holds = 0;
  for (int32_t n = 0; n < s.p.count; ++n) {
    s.p.vel[n] = (yw_vec4){0.3f, 8.0f * (s.p.pos[n].y - 0.5f * HEIGHT), 0, 0};
  }
  double before[4], after[4], energy = kinetic_energy(&s.p);
  sum_momentum(&s.p, before);
  int32_t count = s.p.count;
  for (int step = 0; step < 40; ++step) {
    assert_true(yw_fem_method.advance(s.state, &s.p, &s.ctx) >= 0);
  }
  sum_momentum(&s.p, after);
  assert_true(s.p.count > count);
  for (int k = 0; k < 4; ++k) assert_near(after[k], before[k], 2e-6 * before[3]);
  double end =
      kinetic_energy(&s.p) + yw_fem_elastic_energy(s.state, &s.p) + yw_fem_fracture_energy(s.state);
  assert_near(end / energy, 1.0, 0.02);
  free_strip(&s);
}

// Worlds ------------------------------------------------------------------------------------------

static const yw_aabb bar_box = {{-0.2f, 0, -0.05f}, {0.2f, 0.05f, 0.05f}};

// A bar that hits the floor with one end and breaks; adaptive, cracks refine it.
static yw_world* make_drop(int32_t threads, yw_simd simd, yw_fem_refine refine, yw_model** model,
                           yw_body_id* body) {
  yw_fem_def def = brittle_def(1);
  def.toughness = 0.2f;
  def.params.refine = refine;
  def.params.mass_damping = 0.5f;
  const int32_t cells[3] = {8, 1, 2};
  yw_world* world = make_world(threads, simd, true);
  *model = make_fem_model(&def, cells, bar_box);
  *body = add_body(world, *model, (yw_vec3){0, 0.15f, 0}, (yw_quat){0, 0, 0.26f, 0.966f});
  return world;
}

static void step_drop(yw_world* world, int32_t frames) {
  for (int32_t i = 0; i < frames; ++i) yw_world_step(world, 1.0f / 60.0f, 4, NULL);
}

// m^3 inside the shown surface; it is closed if that is the volume of the tets.
static double shown_volume(const yw_world* world, const yw_model* model, yw_body_id body) {
  const yw_tri_mesh* surface = yw_model_surface(model);
  yw_vec3* x = malloc(sizeof *x * (size_t)surface->num_vertices);
  assert_int_equal(yw_body_surface_positions(world, body, x, surface->num_vertices), YW_OK);
  double volume = 0.0;
  for (int32_t t = 0; t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    volume += yw_ddot(yw_d3(x[v[0]]), yw_dcross(yw_d3(x[v[1]]), yw_d3(x[v[2]]))) / 6.0;
  }
  free(x);
  return volume;
}

static double cell_volume(const yw_world* world, yw_body_id body) {
  int32_t count = yw_body_cells(world, body, NULL, 0);
  int32_t* cells = malloc(4 * sizeof *cells * (size_t)count);
  yw_body_cells(world, body, cells, count);
  const yw_vec3* x = yw_body_positions(world, body, NULL);
  double volume = 0.0;
  for (int32_t t = 0; t < count; ++t) {
    yw_dvec3 p[4];
    for (int k = 0; k < 4; ++k) p[k] = yw_d3(x[cells[4 * t + k]]);
    volume += yw_tet_volume6(p) / 6.0;
  }
  free(cells);
  return volume;
}

static void check_bits(yw_fem_refine refine) {
  yw_model* model;
  yw_body_id body;
  yw_world* world = make_drop(1, YW_SIMD_PLAIN, refine, &model, &body);
  step_drop(world, 14);
  size_t size = yw_world_snapshot_size(world);
  void* snapshot = malloc(size);
  assert_int_equal(yw_world_save(world, snapshot, size, NULL), YW_OK);
  assert_true(fem_state_of(world, body).fracture_energy > 0.0);
  step_drop(world, 6);
  uint64_t expected = yw_world_hash(world);
  assert_true(fem_state_of(world, body).num_pieces > 1);
  assert_near(shown_volume(world, model, body) / cell_volume(world, body), 1.0, 1e-3);
  yw_world_destroy(world);
  yw_model_release(model);

  world = make_drop(3, YW_SIMD_AUTO, refine, &model, &body);
  step_drop(world, 20);
  assert_true(yw_world_hash(world) == expected);
  yw_error error;
  assert_int_equal(yw_world_load(world, snapshot, size, &error), YW_OK);
  step_drop(world, 6);
  assert_true(yw_world_hash(world) == expected);
  free(snapshot);
  yw_world_destroy(world);
  yw_model_release(model);
}

static void same_bits_over_threads_simd_and_snapshots(void** state) {
  (void)state;
  check_bits(YW_FEM_REFINE_JUMP);
  check_bits(YW_FEM_REFINE_FINEST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(notched_strip_breaks_as_griffith_says),
      cmocka_unit_test(notched_beam_breaks_as_griffith_says),
      cmocka_unit_test(tips_of_notches_are_found),
      cmocka_unit_test(strength_decides_without_a_notch),
      cmocka_unit_test(ductile_strips_flow_before_they_break),
      cmocka_unit_test(energy_is_accounted_for),
      cmocka_unit_test(crumbs_keep_their_momenta),
      cmocka_unit_test(nothing_is_lost_when_nodes_split),
      cmocka_unit_test(same_bits_over_threads_simd_and_snapshots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
