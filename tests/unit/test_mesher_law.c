// SPDX-License-Identifier: MIT
// What the mesher promises for any shape, on random unions and differences of primitives: volume,
// parts and tunnels, angles, whatever is wider than a cell, sharp edges and corners of boxes. With
// YW_TEST_FULL also with the sizes of the methods.
#include "support/testing.h"

#include "geometry/mesher.h"
#include "geometry/winding.h"
#include "scene/method.h"
#include "support/mesh_testing.h"
#include "support/solid_topology.h"
#include "yawara/extend/vec.h"
#include "yawara/shape.h"

#define NUM_SHAPES 210
#define MAX_PARTS 4
#define GRID 72
// Enough for nearly all of these shapes.
#define MAX_TETS 40000

typedef struct placed_box {
  yw_vec3 half;
  yw_transform place;
} placed_box;

typedef struct random_shape {
  yw_shape* shape;
  int num_boxes;
  placed_box boxes[MAX_PARTS];
} random_shape;

static float random_float(test_random* random, double low, double high) {
  return (float)test_random_in(random, low, high);
}

static yw_quat random_turn(test_random* random) {
  yw_quat q;
  q.x = random_float(random, -1, 1);
  q.y = random_float(random, -1, 1);
  q.z = random_float(random, -1, 1);
  q.w = random_float(random, -1, 1);
  return yw_quat_normalize(q);
}

// A primitive of about size 1, turned and shifted.
static yw_shape* random_part(test_random* random, bool straight, random_shape* out) {
  yw_shape *part, *placed;
  float a = random_float(random, 0.25, 1), b = random_float(random, 0.25, 1);
  float c = random_float(random, 0.25, 1);
  yw_transform place = {.rotation = {0, 0, 0, 1}, .scale = 1};
  place.position.z = random_float(random, -0.6, 0.6);
  place.position.y = random_float(random, -0.6, 0.6);
  place.position.x = random_float(random, -0.6, 0.6);
  if (!straight) place.rotation = random_turn(random);
  switch (test_random_u32(random) % (straight ? 3 : 7)) {
    case 1:
      yw_shape_cylinder(NULL, 0.6f * a, b, &part);
      break;
    case 3:
      yw_shape_sphere(NULL, 0.8f * a, &part);
      break;
    case 4:
      yw_shape_capsule(NULL, yw_v3(0, -b, 0), yw_v3(0, b, 0), 0.5f * a, &part);
      break;
    case 5:
      yw_shape_torus(NULL, 0.4f + 0.4f * a, 0.12f + 0.1f * b, &part);
      break;
    case 6:
      yw_shape_cone(NULL, 0.4f + 0.4f * a, 0.3f * c, b, &part);
      break;
    default:
      yw_shape_box(NULL, yw_v3(a, b, c), &part);
      out->boxes[out->num_boxes++] = (placed_box){yw_v3(a, b, c), place};
      break;
  }
  assert_int_equal(yw_shape_transform(NULL, part, place, &placed), YW_OK);
  yw_shape_release(part);
  return placed;
}

static random_shape make_random_shape(test_random* random, int n) {
  random_shape out = {0};
  yw_shape* parts[MAX_PARTS];
  int count = 1 + (int)(test_random_u32(random) % MAX_PARTS);
  bool straight = n % 3 == 0;
  for (int i = 0; i < count; ++i) parts[i] = random_part(random, straight, &out);
  yw_status status = n % 2 ? yw_shape_union(NULL, count, parts, 0, &out.shape)
                           : yw_shape_difference(NULL, count, parts, 0, &out.shape);
  assert_int_equal(status, YW_OK);
  for (int i = 0; i < count; ++i) yw_shape_release(parts[i]);
  return out;
}

// Volume by counting random points.
static double sampled_volume(const yw_shape* shape, test_random* random) {
  const int side = 64;
  yw_aabb box;
  assert_true(yw_shape_bounds(shape, &box));
  yw_vec3 step = yw_scale(yw_sub(box.upper, box.lower), 1.0f / (float)side);
  long inside = 0;
  for (int n = 0; n < side * side * side; ++n) {
    yw_vec3 p = box.lower;
    p.x += step.x * ((float)(n % side) + random_float(random, 0, 1));
    p.y += step.y * ((float)(n / side % side) + random_float(random, 0, 1));
    p.z += step.z * ((float)(n / side / side) + random_float(random, 0, 1));
    inside += yw_shape_distance(shape, p) < 0;
  }
  return (double)inside * (double)step.x * (double)step.y * (double)step.z;
}

// Edges of boxes ----------------------------------------------------------------------------------

static bool is_on_surface(const yw_shape* shape, yw_vec3 p) {
  return fabsf(yw_shape_distance(shape, p)) < 1e-5f;
}

// Whether p, on an edge of a box along axis k, is an edge of the shape too, with one size of plain
// faces around it.
static bool is_plain_edge(const yw_shape* shape, const placed_box* box, yw_vec3 local, int k,
                          float size) {
  float* x = &local.x;
  const float* half = &box->half.x;
  for (int along = -1; along <= 1; ++along) {
    for (int side = 0; side < 3; ++side) {
      yw_vec3 q = local;
      float* y = &q.x;
      y[k] = x[k] + (float)along * size;
      if (fabsf(y[k]) > half[k]) return false;
      // Next to the edge on one of its two faces.
      int a = (k + side) % 3;
      if (side > 0) y[a] -= (y[a] > 0 ? size : -size);
      if (side > 0 && fabsf(y[a]) > half[a]) return false;
      if (!is_on_surface(shape, yw_transform_point(box->place, q))) return false;
    }
  }
  return true;
}

// Whether a corner of a box is a corner of the shape too, with one size of plain faces and edges
// around it.
static bool is_plain_corner(const yw_shape* shape, const placed_box* box, yw_vec3 corner,
                            float size) {
  // The corner itself, then next to it along one or two of the axes.
  for (int axes = 0; axes < 7; ++axes) {
    yw_vec3 q = corner;
    float* y = &q.x;
    for (int k = 0; k < 3; ++k) {
      if (axes & 1 << k) y[k] -= y[k] > 0 ? size : -size;
      if (fabsf(y[k]) > (&box->half.x)[k]) return false;
    }
    if (!is_on_surface(shape, yw_transform_point(box->place, q))) return false;
  }
  return true;
}

/// The surface of the tets.
typedef struct boundary {
  yw_tri_mesh surface;
  yw_triangle_tree tree;
  yw_winding winding;
} boundary;

static void make_boundary(const yw_tet_mesh* mesh, boundary* out) {
  yw_tri_mesh* surface = &out->surface;
  assert_int_equal(yw_tet_mesh_surface(mesh, NULL, surface, NULL), YW_OK);
  assert_int_equal(yw_triangle_tree_create(NULL, surface->num_triangles, surface->triangles,
                                           surface->positions, NULL, &out->tree),
                   YW_OK);
  assert_int_equal(yw_winding_create(&out->tree, 2.3f, &out->winding), YW_OK);
}

static void free_boundary(boundary* b) {
  yw_winding_free(&b->winding);
  yw_triangle_tree_free(&b->tree);
  yw_tri_mesh_free(&b->surface);
}

// Distance from the boundary, in cells of the size there.
static double cells_off(const boundary* b, yw_vec3 p, float size) {
  yw_nearest nearest = yw_triangle_tree_nearest(&b->tree, p, INFINITY);
  const yw_tree_triangle* t = &b->tree.triangles[nearest.triangle];
  float cell =
      fmaxf(yw_distance(t->a, t->b), fmaxf(yw_distance(t->b, t->c), yw_distance(t->c, t->a)));
  return sqrt((double)nearest.distance2) / (double)fminf(cell, size);
}

// The largest distance from the edges of the boxes to the boundary of the tets; -1 if there are
// none.
static double worst_edge(const random_shape* s, const boundary* found, float size, int* count) {
  double worst = -1.0;
  for (int b = 0; b < s->num_boxes; ++b) {
    for (int n = 0; n < 12 * 40; ++n) {
      int k = n % 3, corner = n / 3 % 4;
      const float* half = &s->boxes[b].half.x;
      yw_vec3 local;
      float* x = &local.x;
      x[k] = half[k] * ((float)(n / 12) / 20.0f - 0.975f);
      x[(k + 1) % 3] = corner & 1 ? half[(k + 1) % 3] : -half[(k + 1) % 3];
      x[(k + 2) % 3] = corner & 2 ? half[(k + 2) % 3] : -half[(k + 2) % 3];
      if (!is_plain_edge(s->shape, &s->boxes[b], local, k, size)) continue;
      worst = fmax(worst, cells_off(found, yw_transform_point(s->boxes[b].place, local), size));
      ++*count;
    }
  }
  return worst;
}

// The same for their corners.
static double worst_corner(const random_shape* s, const boundary* found, float size, int* count) {
  double worst = -1.0;
  for (int n = 0; n < 8 * s->num_boxes; ++n) {
    const placed_box* box = &s->boxes[n / 8];
    yw_vec3 corner = yw_v3(n & 1 ? box->half.x : -box->half.x, n & 2 ? box->half.y : -box->half.y,
                           n & 4 ? box->half.z : -box->half.z);
    if (!is_plain_corner(s->shape, box, corner, size)) continue;
    worst = fmax(worst, cells_off(found, yw_transform_point(box->place, corner), size));
    ++*count;
  }
  return worst;
}

// Centres of balls of one cell that fit into the shape, and how many of them are in no tet.
static int count_lost(const yw_shape* shape, const boundary* found, float size, test_random* random,
                      int* count) {
  yw_aabb box;
  int lost = 0;
  assert_true(yw_shape_bounds(shape, &box));
  for (int n = 0; n < 4000; ++n) {
    yw_vec3 p = {random_float(random, (double)box.lower.x, (double)box.upper.x),
                 random_float(random, (double)box.lower.y, (double)box.upper.y),
                 random_float(random, (double)box.lower.z, (double)box.upper.z)};
    if (!(yw_shape_distance(shape, p) < -0.5f * size)) continue;
    ++*count;
    lost += !(yw_winding_number(&found->winding, p, NULL) > 0.5f);
  }
  return lost;
}

// The law -----------------------------------------------------------------------------------------

typedef struct tally {
  int shapes, volumes, angles, topologies, features, edges, corners;  ///< checked or broken
} tally;

// wish: the sizes of a method; NULL: the usual ones.
static void check_shape(const random_shape* s, int n, const yw_size_wish* wish, test_random* random,
                        tally* checked, tally* broken) {
  yw_mesher_def def = yw_default_mesher_def();
  def.max_tets = MAX_TETS;
  yw_tet_mesh mesh;
  yw_tet_fit fit;
  yw_error error;
  double volume = sampled_volume(s->shape, random);
  yw_status status = yw_mesher_fill(s->shape, NULL, &def, wish, NULL, &mesh, &fit, &error);
  if (status != YW_OK) {
    if (volume == 0) return;
    print_error("shape %d: %s\n", n, error.message);
    ++broken->shapes;
    return;
  }
  if (yw_tet_mesh_check(&mesh, &error) != YW_OK) {
    print_error("shape %d: %s\n", n, error.message);
    ++broken->shapes;
  }
  yw_tet_quality q;
  assert_int_equal(yw_tet_mesh_quality(&mesh, &q), YW_OK);
  float size = fit.size;
  ++checked->shapes;
  // Where the tets do not suffice, the report must be right.
  bool short_of_tets = wish == NULL && mesh.num_tets > 0.7 * MAX_TETS;
  if (!(fabs(fit.shape_volume / volume - 1) <= 0.01) ||
      !(fabs(fit.tet_volume / q.volume - 1) <= 1e-6)) {
    print_error("shape %d: reported volumes %.5g and %.5g instead of %.5g and %.5g\n", n,
                fit.shape_volume, fit.tet_volume, volume, q.volume);
    ++broken->volumes;
  }
  if (!(fabs(q.volume / volume - 1) <= 0.02) && !short_of_tets) {
    print_error("shape %d: volume %.5g instead of %.5g (%.2f %%), %d tets\n", n, q.volume, volume,
                100 * (q.volume / volume - 1), mesh.num_tets);
    ++broken->volumes;
  }
  if (!(q.min_dihedral >= 10)) {
    print_error("shape %d: smallest angle %.2f degrees\n", n, (double)q.min_dihedral);
    ++broken->angles;
  }
  solid_topology expected, found = topology_of_tets(&mesh);
  if (topology_of_shape(s->shape, GRID, size, &expected)) {
    ++checked->topologies;
    if (found.parts != expected.parts || found.euler != expected.euler) {
      print_error("shape %d: %d parts, Euler characteristic %d instead of %d, %d (%d tets)\n", n,
                  found.parts, found.euler, expected.parts, expected.euler, mesh.num_tets);
      ++broken->topologies;
    }
  }
  boundary surface;
  make_boundary(&mesh, &surface);
  // Points of its own, so that all shapes stay as they are.
  test_random points = {(uint64_t)n};
  int lost = count_lost(s->shape, &surface, size, &points, &checked->features);
  if (lost > 0) {
    print_error("shape %d: %d points where a ball of one cell fits are in no tet\n", n, lost);
    ++broken->features;
  }
  double edge = worst_edge(s, &surface, size, &checked->edges);
  if (!(edge <= 0.1)) {
    print_error("shape %d: an edge of a box is %.2f of a cell off (%d tets, size %g)\n", n, edge,
                mesh.num_tets, (double)size);
    ++broken->edges;
  }
  double corner = worst_corner(s, &surface, size, &checked->corners);
  if (!(corner <= 0.1)) {
    print_error("shape %d: a corner of a box is %.2f of a cell off (%d tets, size %g)\n", n, corner,
                mesh.num_tets, (double)size);
    ++broken->corners;
  }
  free_boundary(&surface);
  yw_tet_mesh_free(&mesh);
}

static void check_shapes(int num_shapes, const char* sizes, const yw_size_wish* wish) {
  test_random random = {2024};
  tally checked = {0}, broken = {0};
  for (int n = 0; n < num_shapes; ++n) {
    random_shape s = make_random_shape(&random, n);
    check_shape(&s, n, wish, &random, &checked, &broken);
    yw_shape_release(s.shape);
  }
  print_message(
      "%s: %d shapes, %d with a clear topology, %d points a cell deep, %d on edges and %d at "
      "corners of boxes; broken: %d meshes, %d volumes, %d angles, %d topologies, %d features, %d "
      "edges, %d corners\n",
      sizes, checked.shapes, checked.topologies, checked.features, checked.edges, checked.corners,
      broken.shapes, broken.volumes, broken.angles, broken.topologies, broken.features,
      broken.edges, broken.corners);
  assert_int_equal(broken.shapes + broken.volumes + broken.angles, 0);
  assert_int_equal(broken.topologies + broken.features, 0);
  // Of all shapes, one whose box has a thin part beside it (docs/design/meshing.md).
  int known = wish == yw_scene_match.tet_size && num_shapes == NUM_SHAPES;
  assert_at_most(broken.corners, known);
  assert_at_most(broken.edges, known);
}

static void random_shapes_are_kept(void** state) {
  (void)state;
  // All of them take two minutes.
  int num_shapes = getenv("YW_TEST_FULL") ? NUM_SHAPES : NUM_SHAPES / 8;
  if (getenv("YW_TEST_FAST")) num_shapes = NUM_SHAPES / 16;
  check_shapes(num_shapes, "usual sizes", NULL);
}

static void so_they_are_with_the_sizes_of_methods(void** state) {
  (void)state;
  int num_shapes = getenv("YW_TEST_FULL") ? NUM_SHAPES : NUM_SHAPES / 16;
  check_shapes(num_shapes, "match, frames", yw_scene_match.tet_size);
  check_shapes(num_shapes, "fem", yw_scene_fem.tet_size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_shapes_are_kept),
      cmocka_unit_test(so_they_are_with_the_sizes_of_methods),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
