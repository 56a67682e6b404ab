// SPDX-License-Identifier: MIT
// Skins of particle bodies: closed, of the right size, with as many pieces as the matter.
#include "render/skin/skin.h"

#include "playback/stage_body.h"
#include "support/grains.h"
#include "support/world_fixture.h"

typedef struct cloud {
  int32_t count;
  yw_vec3* positions;
  float* radii;
} cloud;

static cloud make_cloud(int32_t capacity) {
  return (cloud){0, malloc(sizeof(yw_vec3) * (size_t)capacity),
                 malloc(sizeof(float) * (size_t)capacity)};
}

static void put(cloud* c, yw_vec3 p, float radius) {
  c->positions[c->count] = p;
  c->radii[c->count++] = radius;
}

static void free_cloud(cloud* c) {
  free(c->positions);
  free(c->radii);
}

static yw_tri_mesh skin_as(const cloud* c, bool fair) {
  skin_def def = skin_default_def();
  def.fair = fair;
  def.count = c->count;
  def.positions = c->positions;
  def.radii = c->radii;
  yw_tri_mesh mesh = {0};
  yw_error error = {0};
  yw_status status = skin_make(&def, &mesh, &error);
  if (status < 0) print_error("%s\n", error.message);
  assert_int_equal(status, YW_OK);
  return mesh;
}

static yw_tri_mesh skin_of(const cloud* c) { return skin_as(c, true); }

typedef struct measures {
  double volume, area;
  int32_t pieces, open_edges, euler;
} measures;

static int32_t root_of(int32_t* parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static int compare_edges(const void* a, const void* b) {
  const int32_t *p = a, *q = b;
  return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

// Volume and area; how many parts; edges that do not have one triangle on either side.
static measures measure(const yw_tri_mesh* mesh) {
  measures m = {0};
  int32_t *parent = malloc(sizeof(int32_t) * (size_t)mesh->num_vertices),
          *edges = malloc(sizeof(int32_t) * 6 * (size_t)mesh->num_triangles);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) parent[i] = i;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* v = &mesh->triangles[3 * t];
    yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]];
    m.volume += (double)yw_dot(a, yw_cross(b, c)) / 6.0;
    m.area += 0.5 * (double)yw_length(yw_cross(yw_sub(b, a), yw_sub(c, a)));
    for (int k = 0; k < 3; ++k) {
      int32_t from = v[k], to = v[(k + 1) % 3];
      parent[root_of(parent, from)] = root_of(parent, to);
      edges[2 * (3 * t + k)] = from < to ? from : to;
      edges[2 * (3 * t + k) + 1] = from < to ? to : from;
    }
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) m.pieces += root_of(parent, i) == i;
  int32_t count = 3 * mesh->num_triangles, different = 0;
  qsort(edges, (size_t)count, 2 * sizeof(int32_t), compare_edges);
  for (int32_t i = 0; i < count;) {
    int32_t same = i;
    while (same < count && compare_edges(&edges[2 * i], &edges[2 * same]) == 0) ++same;
    m.open_edges += same - i != 2;
    ++different;
    i = same;
  }
  m.euler = mesh->num_vertices - different + mesh->num_triangles;
  free(parent);
  free(edges);
  return m;
}

static void skip_without_openvdb(void) {
  yw_error error = {0};
  if (skin_available(&error) >= 0) return;
  assert_non_null(strstr(error.message, "libopenvdb-dev"));
  print_message("%s\n", error.message);
  skip();
}

// Lattice points in a ball, as bodies are filled: volume and area of the ball.
static void a_ball_of_balls_has_its_size(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 14 };
  const float big = 1.0f, r = big / SIDE;
  cloud c = make_cloud(SIDE * SIDE * SIDE);
  for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
    yw_vec3 p =
        yw_v3(r * (float)(2 * (i % SIDE) + 1 - SIDE), r * (float)(2 * (i / SIDE % SIDE) + 1 - SIDE),
              r * (float)(2 * (i / SIDE / SIDE) + 1 - SIDE));
    if (yw_length(p) < big) put(&c, p, r);
  }
  yw_tri_mesh mesh = skin_of(&c);
  measures m = measure(&mesh);
  double volume = c.count * 8.0 * (double)(r * r * r), radius = cbrt(volume * 3 / 4 / 3.14159265);
  print_message("           volume %.4f of %.4f, area %.3f of %.3f, %d triangles\n", m.volume,
                volume, m.area, 4 * 3.14159265 * radius * radius, mesh.num_triangles);
  assert_near(m.volume, volume, 0.01 * volume);
  assert_near(m.area, 4 * 3.14159265 * radius * radius, 0.02 * 4 * 3.14159265 * radius * radius);
  assert_int_equal(m.pieces, 1);
  assert_int_equal(m.open_edges, 0);
  assert_int_equal(m.euler, 2);
  yw_tri_mesh_free(&mesh);
  free_cloud(&c);
}

static yw_tri_mesh ball_surface(float radius, float size) {
  yw_shape* shape = NULL;
  yw_tri_mesh mesh = {0};
  yw_error error = {0};
  assert_int_equal(yw_shape_sphere(NULL, radius, &shape), YW_OK);
  assert_int_equal(yw_shape_surface(shape, NULL, size, &mesh, &error), YW_OK);
  yw_shape_release(shape);
  return mesh;
}

// A ball of balls, `side` of them across.
static cloud make_ball_cloud(int side, float big) {
  float r = big / (float)side;
  cloud c = make_cloud(side * side * side);
  for (int i = 0; i < side * side * side; ++i) {
    yw_vec3 p =
        yw_v3(r * (float)(2 * (i % side) + 1 - side), r * (float)(2 * (i / side % side) + 1 - side),
              r * (float)(2 * (i / side / side) + 1 - side));
    if (yw_length(p) < big) put(&c, p, r);
  }
  return c;
}

// Half of a ball, x from `from` on, and its mirror image, as one mesh of two closed surfaces.
static yw_tri_mesh two_halves(float radius, float from, float size) {
  yw_shape *ball = NULL, *box = NULL, *side = NULL, *half = NULL;
  yw_tri_mesh one = {0}, both = {0};
  yw_error error = {0};
  yw_transform put = YW_TRANSFORM_IDENTITY;
  put.position.x = radius + from;
  assert_int_equal(yw_shape_sphere(NULL, radius, &ball), YW_OK);
  assert_int_equal(yw_shape_box(NULL, (yw_vec3){radius, radius, radius}, &box), YW_OK);
  assert_int_equal(yw_shape_transform(NULL, box, put, &side), YW_OK);
  yw_shape* const parts[] = {ball, side};
  assert_int_equal(yw_shape_intersection(NULL, 2, parts, 0.0f, &half), YW_OK);
  assert_int_equal(yw_shape_surface(half, NULL, size, &one, &error), YW_OK);
  int32_t n = one.num_vertices, t = one.num_triangles;
  assert_int_equal(yw_tri_mesh_create(NULL, 2 * n, 2 * t, &both), YW_OK);
  for (int32_t i = 0; i < n; ++i) {
    both.positions[i] = both.positions[n + i] = one.positions[i];
    both.positions[n + i].x *= -1.0f;
  }
  for (int32_t i = 0; i < 3 * t; ++i) {
    both.triangles[i] = one.triangles[i];
    both.triangles[3 * t + i] = n + one.triangles[i - i % 3 + 2 - i % 3];
  }
  yw_shape* const all[] = {ball, box, side, half};
  for (int i = 0; i < 4; ++i) yw_shape_release(all[i]);
  yw_tri_mesh_free(&one);
  return both;
}

// Where parts of a body that merge touch, no slits are left between their surfaces.
static void parts_that_touch_have_no_seam(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 14 };
  const float big = 1.0f, r = big / SIDE;
  cloud c = make_ball_cloud(SIDE, big);
  // A slit of 1.8 voxels.
  yw_tri_mesh surface = two_halves(big, 0.45f * r, 0.06f), mesh = {0};
  float* parted = calloc((size_t)c.count, sizeof(float));
  skin_def def = skin_default_def();
  def.count = c.count;
  def.positions = c.positions;
  def.radii = c.radii;
  def.surface = &surface;
  def.parted = parted;
  yw_error error = {0};
  assert_int_equal(skin_make(&def, &mesh, &error), YW_OK);
  measures m = measure(&mesh);
  double volume = 4.0 / 3.0 * 3.14159265 * (double)(big * big * big);
  print_message("           %d pieces, Euler %d, volume %.4f of %.4f\n", m.pieces, m.euler,
                m.volume, volume);
  assert_int_equal(m.pieces, 1);
  assert_int_equal(m.euler, 2);
  assert_near(m.volume, volume, 0.01 * volume);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&surface);
  free(parted);
  free_cloud(&c);
}

// A given surface is shown where balls have not parted, and the skin where they have; what is shown
// is closed everywhere. With nothing parted it is the surface, with all parted the skin.
static void surfaces_go_over_into_skins(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 14 };
  const float big = 1.0f, r = big / SIDE;
  cloud c = make_ball_cloud(SIDE, big);
  yw_tri_mesh surface = ball_surface(big, 0.06f);
  float* parted = calloc((size_t)c.count, sizeof(float));
  skin_def def = skin_default_def();
  def.count = c.count;
  def.positions = c.positions;
  def.radii = c.radii;
  def.surface = &surface;
  def.parted = parted;
  yw_tri_mesh skin = skin_of(&c);
  double given = measure(&surface).volume, around = measure(&skin).volume;
  // Where it begins to part: none, one side, all.
  const float from[] = {2.0f, 0.5f, -2.0f};
  for (int k = 0; k < 3; ++k) {
    for (int32_t i = 0; i < c.count; ++i) parted[i] = c.positions[i].x > from[k] ? 1.0f : 0.0f;
    yw_tri_mesh mesh = {0};
    yw_error error = {0};
    assert_int_equal(skin_make(&def, &mesh, &error), YW_OK);
    measures m = measure(&mesh);
    assert_int_equal(m.open_edges, 0);
    assert_int_equal(m.pieces, 1);
    assert_int_equal(m.euler, 2);
    float worst = 0;
    for (int32_t i = 0; i < mesh.num_vertices; ++i) {
      if (mesh.positions[i].x > from[k] - 6.0f * r) continue;
      worst = fmaxf(worst, fabsf(yw_length(mesh.positions[i]) - big));
    }
    print_message("           volume %.4f (surface %.4f, skin %.4f); %.3f radii off\n", m.volume,
                  given, around, (double)(worst / r));
    // The surface itself has chords of 0.06.
    assert_true(worst < 0.06f * r);
    if (k == 0) assert_near(m.volume, given, 0.003 * given);
    if (k == 2) assert_near(m.volume, around, 1e-3 * around);
    if (k == 1) assert_true((m.volume - given) * (m.volume - around) <= 1e-4 * given);
    yw_tri_mesh_free(&mesh);
  }
  yw_tri_mesh_free(&skin);
  yw_tri_mesh_free(&surface);
  free(parted);
  free_cloud(&c);
}

static float distance_from_rest(const yw_tri_mesh* surface, int32_t first, yw_vec3 p) {
  float nearest = INFINITY;
  for (int32_t h = 3 * first; h < 3 * surface->num_triangles; ++h) {
    nearest = fminf(nearest, yw_distance(surface->positions[surface->triangles[h]], p));
  }
  return nearest;
}

// Of an open surface the solid that it encloses counts, as for the body made of it: far from the
// hole it is shown as it is. A small piece of a surface has no inside: the skin is shown.
static void open_surfaces_go_over_into_skins(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 14 };
  const float big = 1.0f, r = big / SIDE;
  cloud c = make_ball_cloud(SIDE, big);
  yw_tri_mesh surface = ball_surface(big, 0.06f), skin = skin_of(&c);
  int32_t all = surface.num_triangles, kept = all - all / 8;
  float* parted = calloc((size_t)c.count, sizeof(float));
  for (int32_t i = 0; i < 4; ++i) parted[i] = 1.0f;
  skin_def def = skin_default_def();
  def.count = c.count;
  def.positions = c.positions;
  def.radii = c.radii;
  def.surface = &surface;
  def.parted = parted;
  yw_tri_mesh mesh = {0};
  yw_error error = {0};
  surface.num_triangles = kept;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_OK);
  assert_int_equal(measure(&mesh).open_edges, 0);
  assert_int_equal(measure(&mesh).pieces, 1);
  surface.num_triangles = all;
  int32_t far = 0;
  for (int32_t i = 0; i < mesh.num_vertices; ++i) {
    yw_vec3 p = mesh.positions[i];
    bool near = distance_from_rest(&surface, kept, p) < 0.2f;
    for (int32_t k = 0; k < 4; ++k) near = near || yw_distance(p, c.positions[k]) < 7.0f * r;
    if (near) continue;
    ++far;
    assert_near(yw_length(p), big, 0.06 * (double)r);
  }
  assert_at_least(far, mesh.num_vertices / 2);
  yw_tri_mesh_free(&mesh);
  surface.num_triangles = all / 8;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_OK);
  double around = measure(&skin).volume;
  assert_near(measure(&mesh).volume, around, 1e-3 * around);
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&skin);
  yw_tri_mesh_free(&surface);
  free(parted);
  free_cloud(&c);
}

// Rms distance of the upper side of a mesh from its mean plane y = a + b x, far from its rim.
static double roughness(const yw_tri_mesh* mesh, float within) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    yw_vec3 p = mesh->positions[i];
    if (p.y < 0.0f || fabsf(p.x) > within || fabsf(p.z) > within) continue;
    double x = (double)p.x, y = (double)p.y;
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
  }
  double b = (n * sxy - sx * sy) / (n * sxx - sx * sx), a = (sy - b * sx) / n;
  return sqrt((syy - a * sy - b * sxy) / n);
}

// A lattice under a slope of one in two has a row of bumps for every layer. Fairing leaves
// less of them than six hundredths of a ball's radius, and keeps the volume.
static void rows_of_a_lattice_do_not_show(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 24, HEIGHT = 18 };
  const float r = 0.05f;
  cloud c = make_cloud(SIDE * HEIGHT * SIDE);
  for (int i = 0; i < SIDE * HEIGHT * SIDE; ++i) {
    yw_vec3 p = yw_v3(r * (float)(2 * (i % SIDE) + 1 - SIDE),
                      r * (float)(2 * (i / SIDE % HEIGHT) + 1 - HEIGHT),
                      r * (float)(2 * (i / SIDE / HEIGHT) + 1 - SIDE));
    if (p.y < 0.5f * p.x + 0.31f) put(&c, p, r);
  }
  yw_tri_mesh plain = skin_as(&c, false), fair = skin_as(&c, true);
  double before = roughness(&plain, 0.5f), after = roughness(&fair, 0.5f);
  print_message("           bumps of %.3f radii, %.3f when faired\n", before / r, after / r);
  assert_true(before > 0.15 * r);
  assert_true(after < 0.06 * r);
  double volume = measure(&plain).volume;
  assert_near(measure(&fair).volume, volume, 0.01 * volume);
  yw_tri_mesh_free(&plain);
  yw_tri_mesh_free(&fair);
  free_cloud(&c);
}

// Vertices whose triangles do not all face one way: pits, where triangles have folded over.
static int32_t count_folds(const yw_tri_mesh* mesh) {
  yw_vec3* normals = calloc((size_t)mesh->num_vertices, sizeof *normals);
  bool* folded = calloc((size_t)mesh->num_vertices, sizeof *folded);
  int32_t count = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t t = 0; t < mesh->num_triangles; ++t) {
      const int32_t* v = mesh->triangles + 3 * t;
      yw_vec3 a = mesh->positions[v[0]];
      yw_vec3 n = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
      for (int k = 0; k < 3; ++k) {
        if (pass == 1 && yw_dot(n, normals[v[k]]) < 0) folded[v[k]] = true;
        if (pass == 0) normals[v[k]] = yw_add(normals[v[k]], n);
      }
    }
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) count += folded[i];
  free(normals);
  free(folded);
  return count;
}

// After flow, particles are no longer in rows: bumps of what sticks out are faired as
// well, and nothing folds.
static void disorder_does_not_show(void** state) {
  (void)state;
  skip_without_openvdb();
  enum { SIDE = 20, HEIGHT = 6 };
  const float r = 0.05f;
  cloud c = make_cloud(SIDE * HEIGHT * SIDE);
  test_random random = {5};
  for (int i = 0; i < SIDE * HEIGHT * SIDE; ++i) {
    float off[3];
    for (int k = 0; k < 3; ++k) off[k] = r * (float)test_random_in(&random, -0.5, 0.5);
    put(&c,
        yw_v3(r * (float)(2 * (i % SIDE) + 1 - SIDE) + off[0],
              r * (float)(2 * (i / SIDE % HEIGHT) + 1 - HEIGHT) + off[1],
              r * (float)(2 * (i / SIDE / HEIGHT) + 1 - SIDE) + off[2]),
        r);
  }
  yw_tri_mesh plain = skin_as(&c, false), fair = skin_as(&c, true);
  double before = roughness(&plain, 0.5f), after = roughness(&fair, 0.5f);
  double volume = measure(&plain).volume, kept = measure(&fair).volume;
  print_message("           bumps of %.3f radii, %.3f when faired; volume %.4f of it\n", before / r,
                after / r, kept / volume);
  assert_true(before > 0.1 * r);
  assert_true(after < 0.1 * r);
  assert_near(kept, volume, 0.01 * volume);
  print_message("           %d vertices with folds\n", count_folds(&fair));
  assert_int_equal(count_folds(&fair), 0);
  yw_tri_mesh_free(&plain);
  yw_tri_mesh_free(&fair);
  free_cloud(&c);
}

// One layer of spheres: one piece, no holes, about as thick as the spheres.
static void a_sheet_of_one_layer_stays_whole(void** state) {
  (void)state;
  skip_without_openvdb();
  const float r = 0.02f;
  const int side = 20;
  cloud c = make_cloud(side * side);
  for (int i = 0; i < side * side; ++i) {
    float x = 2 * r * (float)(i % side), z = 2 * r * (float)(i / side);
    // Bent and stretched by a quarter along x.
    put(&c, yw_v3(1.25f * x, 0.1f * x * x, z), r);
  }
  yw_tri_mesh mesh = skin_of(&c);
  measures m = measure(&mesh);
  assert_int_equal(m.pieces, 1);
  assert_int_equal(m.open_edges, 0);
  assert_int_equal(m.euler, 2);  // a hole would reduce it by 2
  double face = 1.25 * (2.0 * r * side) * (2.0 * r * side);
  // Stretched parts are thinner: the volume is that of the spheres' cubes.
  double thickness = 2.0 * r / 1.25;
  print_message("           mean thickness %.4f of %.4f m\n", m.volume / face, thickness);
  assert_near(m.volume / face, thickness, 0.2 * thickness);
  yw_tri_mesh_free(&mesh);
  free_cloud(&c);
}

static void blobs_that_touch_are_one_and_others_are_not(void** state) {
  (void)state;
  skip_without_openvdb();
  const float r = 0.05f;
  for (int k = 0; k < 2; ++k) {
    float gap = k == 0 ? 2.0f * r : 8.0f * r;  // from the last layer to the first of the next
    cloud c = make_cloud(2 * 5 * 5 * 5);
    for (int i = 0; i < 2 * 125; ++i) {
      float aside = i < 125 ? 0.0f : 8.0f * r + gap;
      put(&c,
          yw_v3(2 * r * (float)(i % 5) + aside, 2 * r * (float)(i / 5 % 5),
                2 * r * (float)(i / 25 % 5)),
          r);
    }
    yw_tri_mesh mesh = skin_of(&c);
    measures m = measure(&mesh);
    assert_int_equal(m.pieces, k == 0 ? 1 : 2);
    assert_int_equal(m.euler, k == 0 ? 2 : 4);
    yw_tri_mesh_free(&mesh);
    free_cloud(&c);
  }
}

// A single sphere, far smaller ones and a thread of spheres do not vanish.
static void thin_things_stay(void** state) {
  (void)state;
  skip_without_openvdb();
  cloud c = make_cloud(64);
  put(&c, yw_v3(0, 0, 0), 0.1f);
  put(&c, yw_v3(3, 0, 0), 0.02f);
  for (int i = 0; i < 20; ++i) put(&c, yw_v3(0.2f * (float)i, 2, 0), 0.1f);
  yw_tri_mesh mesh = skin_of(&c);
  measures m = measure(&mesh);
  assert_int_equal(m.pieces, 3);
  assert_int_equal(m.euler, 6);
  assert_int_equal(m.open_edges, 0);
  yw_tri_mesh_free(&mesh);
  free_cloud(&c);
}

static void the_same_balls_give_the_same_bytes(void** state) {
  (void)state;
  skip_without_openvdb();
  cloud c = make_cloud(800);
  test_random random = {8};
  for (int i = 0; i < 800; ++i) {
    put(&c,
        yw_v3((float)test_random_in(&random, 0, 1), (float)test_random_in(&random, 0, 0.5),
              (float)test_random_in(&random, 0, 1)),
        0.04f);
  }
  yw_tri_mesh a = skin_of(&c), b = skin_of(&c);
  assert_int_equal(a.num_vertices, b.num_vertices);
  assert_int_equal(a.num_triangles, b.num_triangles);
  assert_memory_equal(a.positions, b.positions, sizeof(yw_vec3) * (size_t)a.num_vertices);
  assert_memory_equal(a.triangles, b.triangles, sizeof(int32_t) * 3 * (size_t)a.num_triangles);
  yw_tri_mesh_free(&a);
  yw_tri_mesh_free(&b);
  free_cloud(&c);
}

static void bad_balls_are_refused(void** state) {
  (void)state;
  skip_without_openvdb();
  cloud c = make_cloud(4);
  put(&c, yw_v3(0, 0, 0), 0.1f);
  put(&c, yw_v3(1, 0, 0), 0.1f);
  skin_def def = skin_default_def();
  yw_tri_mesh mesh = {0};
  yw_error error = {0};
  assert_int_equal(skin_make(&def, &mesh, &error), YW_OK);
  assert_int_equal(mesh.num_triangles, 0);
  def.count = 2;
  def.positions = c.positions;
  def.radii = c.radii;
  c.radii[1] = -1;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_ERR_GEOMETRY);
  c.radii[1] = 0.1f;
  c.positions[1].y = NAN;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_ERR_GEOMETRY);
  c.positions[1].y = 1e30f;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_ERR_LIMIT);
  def.voxel = 0;
  assert_int_equal(skin_make(&def, &mesh, &error), YW_ERR_INVALID);
  assert_null(mesh.positions);
  free_cloud(&c);
}

// On the stage: spheres without a skin, a mesh with one, coloured by a field in both cases.
static void bodies_without_a_surface_get_a_skin_on_stage(void** state) {
  (void)state;
  bool can = skin_available(NULL) >= 0;
  yw_vec3 rest[27];
  for (int i = 0; i < 27; ++i) {
    rest[i] = yw_v3(0.1f * (float)(i % 3), 0.1f * (float)(i / 3 % 3), 0.1f * (float)(i / 9));
  }
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* model = make_grains(&grain_method, 27, 27, rest, 0.05f, 1, 0);
  add_body(world, model, (yw_vec3){0, 0, 0}, (yw_quat){0, 0, 0, 1});
  yw_error error = {0};
  frame_data frame;
  shown_scene* shown;
  const frame_def def = {.world = world, .fields = "height"};
  assert_int_equal(frame_take(&def, &frame, &error), YW_OK);
  assert_int_equal(shown_create(NULL, world, &shown, &error), YW_OK);
  stage_field field = {"height", 0, 0.2f};
  stage_body body;
  assert_int_equal(stage_body_create(shown, 0, &body), YW_OK);
  assert_true(stage_body_is_loose(&body));
  for (int skin = 0; skin <= can; ++skin) {
    assert_int_equal(stage_body_show(&body, &frame.bodies[0], &field, skin, &error), YW_OK);
    yw_render_mesh mesh = stage_body_mesh(&body, 0);
    assert_int_equal(mesh.radii != NULL, !skin);
    assert_int_equal(mesh.num_triangles > 100, skin);
    assert_true(skin || mesh.num_vertices == 27);
    yw_aabb box = stage_body_box(&body);
    assert_near(box.lower.y, -0.05, 0.01);
    assert_near(box.upper.x, 0.25, 0.01);
    // Low is dark, high is light.
    for (int i = 0; i < mesh.num_vertices; ++i) {
      yw_vec3 c = mesh.colors[i];
      if (mesh.positions[i].y < 0.0f) assert_true(c.y < 0.1f);
      if (mesh.positions[i].y > 0.2f) assert_true(c.y > 0.5f);
    }
  }
  stage_body_free(&body);
  shown_destroy(shown);
  frame_free(&frame);
  yw_model_release(model);
  yw_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_of_balls_has_its_size),
      cmocka_unit_test(surfaces_go_over_into_skins),
      cmocka_unit_test(open_surfaces_go_over_into_skins),
      cmocka_unit_test(parts_that_touch_have_no_seam),
      cmocka_unit_test(rows_of_a_lattice_do_not_show),
      cmocka_unit_test(disorder_does_not_show),
      cmocka_unit_test(a_sheet_of_one_layer_stays_whole),
      cmocka_unit_test(blobs_that_touch_are_one_and_others_are_not),
      cmocka_unit_test(thin_things_stay),
      cmocka_unit_test(the_same_balls_give_the_same_bytes),
      cmocka_unit_test(bad_balls_are_refused),
      cmocka_unit_test(bodies_without_a_surface_get_a_skin_on_stage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
