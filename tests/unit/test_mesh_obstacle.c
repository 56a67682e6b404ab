// SPDX-License-Identifier: MIT
// Obstacles that deform: what lies on them is carried and dragged, nothing passes them, holes stay
// holes, snapshots go on, and broken files are refused.
#include "yawara/mesh_obstacle.h"

#include "support/method_world.h"
#include "support/scene_text.h"
#include "support/temporary_folder.h"
#include "yawara/extend/point_cache.h"
#include "yawara/extend/vec.h"
#include "yawara/yawara.h"

#define SIDE 13  // points of a side of the sheet
#define POINTS (SIDE * SIDE)
#define TRIANGLES (2 * (SIDE - 1) * (SIDE - 1))
#define SPACING 0.25f
#define FRAMES 31
#define MOST_PARTICLES 4000

// A sheet of triangles in x and z.
typedef struct sheet {
  int32_t triangles[3 * TRIANGLES];
  int32_t num_triangles;
  yw_vec3 points[FRAMES * POINTS];
} sheet;

/// Height of the sheet at a place of frame `frame`, and how far it has moved sideways.
typedef yw_vec3 (*sheet_motion)(int frame, float x, float z);

static sheet* make_sheet(sheet_motion motion) {
  sheet* s = calloc(1, sizeof *s);
  for (int i = 0; i < SIDE - 1; ++i) {
    for (int k = 0; k < SIDE - 1; ++k) {
      int a = i * SIDE + k, b = a + 1, c = a + SIDE, d = c + 1;
      const int32_t two[6] = {a, b, d, a, d, c};
      memcpy(s->triangles + 3 * s->num_triangles, two, sizeof two);
      s->num_triangles += 2;
    }
  }
  for (int frame = 0; frame < FRAMES; ++frame) {
    for (int i = 0; i < POINTS; ++i) {
      float x = ((float)(i / SIDE) - 6.0f) * SPACING, z = ((float)(i % SIDE) - 6.0f) * SPACING;
      s->points[frame * POINTS + i] = yw_add(yw_v3(x, 0, z), motion(frame, x, z));
    }
  }
  return s;
}

static yw_mesh_obstacle_def def_of(const sheet* s, float friction) {
  yw_mesh_obstacle_def def = yw_default_mesh_obstacle_def();
  def.obstacle.friction = friction;
  def.triangles = s->triangles;
  def.num_triangles = s->num_triangles;
  def.animation.points = s->points;
  def.animation.num_points = POINTS;
  def.animation.num_frames = FRAMES;
  def.animation.fps = 20;
  def.thickness = 0.02f;
  return def;
}

static yw_obstacle_id add_sheet(yw_world* world, const yw_mesh_obstacle_def* def) {
  yw_obstacle_id id;
  yw_error error = {0};
  if (yw_mesh_obstacle_create(world, def, &id, &error) != YW_OK) fail_msg("%s", error.message);
  return id;
}

static yw_vec3 stands(int frame, float x, float z) {
  (void)frame, (void)x, (void)z;
  return yw_v3(0, 0, 0);
}
static yw_vec3 rises(int frame, float x, float z) {
  (void)x, (void)z;
  return yw_v3(0, 0.05f * (float)frame, 0);
}
static yw_vec3 travels(int frame, float x, float z) {
  (void)x, (void)z;
  return yw_v3(0.05f * (float)frame, 0, 0);
}
static yw_vec3 stretches(int frame, float x, float z) {
  return yw_v3(0.01f * (float)frame * x, 0, 0.01f * (float)frame * z);
}
// A wave that runs through the sheet at 4 m/s, 1 m high.
static yw_vec3 waves(int frame, float x, float z) {
  float phase = 4.0f * (x - 0.2f * (float)frame) + z;
  return yw_v3(0, 0.5f * sinf(phase), 0);
}

// Bodies ------------------------------------------------------------------------------------------

typedef struct candidate {
  const char *name, *keys;
  float bottom;  // m, below its position
} candidate;

#define CELLS "\"mesh\": {\"lattice\": {\"size\": 0.5, \"cells\": 3}}"
static const candidate candidates[] = {
    {"match", "\"match\": {}, " CELLS, 0.25f},
    {"frames", "\"frames\": {\"youngs_modulus\": 2e5}, " CELLS, 0.25f},
    {"fem", "\"fem\": {\"max_level\": 0, \"youngs_modulus\": 2e5}, " CELLS, 0.25f},
    {"plastic",
     "\"plastic\": {\"spacing\": 0.1, \"youngs_modulus\": 1e5, \"yield_stress\": 1e9}, "
     "\"shape\": {\"box\": {\"size\": 0.5}}",
     0.25f},
    {"rigid", "\"density\": 500, \"rigid\": {}, \"shape\": {\"box\": {\"size\": 0.5}}", 0.25f},
    {"rod",
     "\"slender\": {}, \"rod\": {\"line\": {\"from\": [-0.4, 0, 0], \"to\": [0.4, 0, 0.1], "
     "\"count\": 9}, \"radius\": 0.05}",
     0.05f}};
#define NUM_CANDIDATES ((int)(sizeof candidates / sizeof *candidates))

// A world with one body `above` the origin that moves.
static yw_world* world_with(const candidate* c, bool surfaces, float above, yw_vec3 velocity,
                            float friction) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"contact\": \"%s\", \"bodies\": [{%s, \"position\": [0, %g, 0], \"friction\": %g, "
           "\"velocity\": [%g, %g, %g]}]}",
           surfaces ? "surfaces" : "points", c->keys, (double)(above + c->bottom), (double)friction,
           (double)velocity.x, (double)velocity.y, (double)velocity.z);
  yw_scene* scene = scene_of(text);
  yw_world* world = world_of(scene);
  yw_scene_destroy(scene);
  return world;
}

static void step(yw_world* world, int steps) {
  for (int i = 0; i < steps; ++i) assert_true(yw_world_step(world, 1 / 60.0f, 4, NULL) >= 0);
}

static yw_body_sums sums_of(yw_world* world) {
  yw_body_sums sums;
  yw_body_sums_of(world, yw_world_body(world, 0), &sums);
  return sums;
}

// What the height of the sheet is below p; false: beside it.
static bool height_below(const sheet* s, const yw_vec3* x, yw_vec3 p, double* height) {
  for (int32_t i = 0; i < s->num_triangles; ++i) {
    const int32_t* t = s->triangles + 3 * (size_t)i;
    yw_vec3 a = x[t[0]], u = yw_sub(x[t[1]], a), v = yw_sub(x[t[2]], a);
    double det = (double)u.x * (double)v.z - (double)u.z * (double)v.x;
    double dx = (double)p.x - (double)a.x, dz = (double)p.z - (double)a.z;
    double m = (dx * (double)v.z - dz * (double)v.x) / det;
    double n = ((double)u.x * dz - (double)u.z * dx) / det;
    if (m < 0 || n < 0 || m + n > 1) continue;
    *height = (double)a.y + m * (double)u.y + n * (double)v.y;
    return true;
  }
  return false;
}

// Least height of a body's vertices over the sheet, m.
static double least_height(yw_world* world, yw_obstacle_id id, const sheet* s) {
  yw_vec3 now[POINTS];
  assert_int_equal(yw_obstacle_points(world, id, yw_world_time(world), now), YW_OK);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
  double least = 1e9, height;
  for (int32_t i = 0; i < count; ++i) {
    if (!height_below(s, now, x[i], &height)) continue;
    least = fmin(least, (double)x[i].y - height);
  }
  return least;
}

// Laws --------------------------------------------------------------------------------------------

// Adds the same motion as a box of the same thickness on a path.
static void add_box(yw_world* world, float friction, yw_vec3 way) {
  const yw_key keys[2] = {{.time = 0, .rotation = {0, 0, 0, 1}},
                          {.time = 1.5, .offset = way, .rotation = {0, 0, 0, 1}}};
  yw_obstacle_def def = yw_default_obstacle_def();
  def.friction = friction;
  def.path.keys = keys;
  def.path.num_keys = 2;
  assert_int_equal(yw_shape_box(NULL, yw_v3(1.5f, 0.01f, 1.5f), &def.shape), YW_OK);
  yw_obstacle_id id;
  assert_int_equal(yw_obstacle_create(world, &def, &id, NULL), YW_OK);
  yw_shape_release(def.shape);
}

// Bodies on a mesh that moves as a whole do the same, between its frames too, as on a rigid
// obstacle: they are carried up, go along, or are dragged by friction.
static void bodies_move_as_on_a_rigid_obstacle(void** state) {
  (void)state;
  const sheet_motion motions[3] = {rises, travels, travels};
  const float frictions[3] = {0.5f, 1.0f, 0.1f};
  for (int k = 0; k < 3; ++k) {
    sheet* s = make_sheet(motions[k]);
    yw_vec3 way = k == 0 ? yw_v3(0, 1.5f, 0) : yw_v3(1.5f, 0, 0);
    yw_vec3 velocity = k == 2 ? yw_v3(0, 0, 0) : yw_scale(way, 1 / 1.5f);
    yw_mesh_obstacle_def def = def_of(s, frictions[k]);
    for (int m = 0; m < NUM_CANDIDATES; ++m) {
      double moved[2];
      for (int box = 0; box < 2; ++box) {
        yw_world* world = world_with(&candidates[m], false, 0.0101f, velocity, frictions[k]);
        if (box) add_box(world, frictions[k], way);
        if (!box) add_sheet(world, &def);
        double before = sums_of(world).center[k == 0];
        step(world, 40);
        moved[box] = sums_of(world).center[k == 0] - before;
        yw_world_destroy(world);
      }
      double most = k == 2 ? 0.02 * fabs(moved[1]) : 2e-3;
      if (fabs(moved[0] - moved[1]) > most) {
        fail_msg("%s moves by %g m, on a box by %g m", candidates[m].name, moved[0], moved[1]);
      }
      // Plastic matter settles.
      if (k < 2 && m != 3 && fabs(moved[0] - 40 / 60.0) > 0.02) {
        fail_msg("%s moves by %g m", candidates[m].name, moved[0]);
      }
    }
    free(s);
  }
}

// Every part of a body that sticks goes with the material below it.
// Only particles that touch a mesh are counted: those of the lower side of a cube, and none of one
// that flies above.
static void touching_particles_are_counted(void** state) {
  (void)state;
  sheet* s = make_sheet(stands);
  yw_mesh_obstacle_def def = def_of(s, 0.5f);
  for (int flies = 0; flies < 2; ++flies) {
    float above = flies ? 2.0f : 0.02f;
    yw_world* world =
        world_with(&candidates[0], false, above, yw_v3(0, flies ? 0 : -0.5f, 0), 0.5f);
    add_sheet(world, &def);
    yw_step_report report = {0};
    int32_t most = 0;
    for (int i = 0; i < 10; ++i) {
      assert_true(yw_world_step(world, 1 / 60.0f, 4, &report) >= 0);
      if (report.obstacle_contacts > most) most = report.obstacle_contacts;
    }
    assert_true(flies ? most == 0 : most > 0 && most <= 16);
    yw_world_destroy(world);
  }
  free(s);
}

static void parts_go_with_the_material(void** state) {
  (void)state;
  sheet* s = make_sheet(stretches);
  yw_mesh_obstacle_def def = def_of(s, 1.0f);
  def.obstacle.sticky = true;
  yw_world* world = world_with(&candidates[5], false, 0.0101f, yw_v3(0, 0, 0), 1.0f);
  add_sheet(world, &def);
  int32_t count;
  const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
  step(world, 2);
  double first = (double)x[0].x, last = (double)x[count - 1].x;
  step(world, 43);  // 15 frames: 15 % longer
  x = yw_body_positions(world, yw_world_body(world, 0), &count);
  double stretch = ((double)x[count - 1].x - (double)x[0].x) / (last - first);
  assert_near(stretch, 1.15 / (1 + 0.01 * 40 / 60), 0.01);
  yw_world_destroy(world);
  free(s);
}

// True for vertices of the lattice that are not on its surface: they may be pushed through it.
static bool is_within(int m, int32_t i) {
  int32_t x = i % 4, y = i / 4 % 4, z = i / 16;
  return m < 3 && x % 3 && y % 3 && z % 3;
}

// A thorn in the middle of a sheet that stands, and one whose rim flies up at 20 m/s meanwhile.
static yw_vec3 thorn(int frame, float x, float z) {
  (void)frame;
  return yw_v3(0, x * x + z * z < 1e-4f ? 0.3f : 0, 0);
}
static yw_vec3 thorn_and_rim(int frame, float x, float z) {
  yw_vec3 p = thorn(frame, x, z);
  return x > 1.1f ? yw_add(p, yw_v3(0, (float)frame, 0)) : p;
}

// A body that hits the thorn with a face bounces off it, whatever the rest of the sheet does.
static void bodies_bounce_off_the_part_that_they_hit(void** state) {
  (void)state;
  const candidate cube = {"match", "\"match\": {}, \"restitution\": 0.8, " CELLS, 0.25f};
  double speeds[2];
  for (int k = 0; k < 2; ++k) {
    sheet* s = make_sheet(k ? thorn_and_rim : thorn);
    yw_mesh_obstacle_def def = def_of(s, 0.3f);
    yw_world* world = world_with(&cube, true, 0.45f, yw_v3(0, -4, 0), 0.3f);
    add_sheet(world, &def);
    step(world, 6);
    speeds[k] = sums_of(world).momentum[1] / sums_of(world).mass;
    yw_world_destroy(world);
    free(s);
  }
  assert_at_least(speeds[0], 0.5);
  assert_near(speeds[1] / speeds[0], 1.0, 1e-3);
}

// Bodies that are thrown at a wave with 40 m/s, and hit by it, stay on their side. A vertex that
// was beyond the rim may have come back on the other.
static void nothing_passes(void** state) {
  (void)state;
  sheet* s = make_sheet(waves);
  for (int m = 0; m < NUM_CANDIDATES; ++m) {
    for (int side = 0; side < 2; ++side) {
      bool below = side == 1;
      yw_mesh_obstacle_def def = def_of(s, 0.3f);
      if (below) def.obstacle.transform.position.y = 2.0f;
      yw_world* world = world_with(&candidates[m], m % 2 == side, below ? 0.3f : 0.7f,
                                   yw_v3(0.5f, below ? 40 : -40, 0.2f), 0.3f);
      yw_world_set_gravity(world, yw_v3(0, below ? 9.81f : -9.81f, 0));
      yw_obstacle_id id = add_sheet(world, &def);
      bool left[MOST_PARTICLES] = {false};
      for (int k = 0; k < 40; ++k) {
        step(world, 1);
        yw_vec3 now[POINTS];
        yw_obstacle_points(world, id, yw_world_time(world), now);
        int32_t count;
        const yw_vec3* x = yw_body_positions(world, yw_world_body(world, 0), &count);
        double height;
        assert_at_most(count, MOST_PARTICLES);
        for (int32_t i = 0; i < count; ++i) {
          if (left[i] || is_within(m, i)) continue;
          left[i] = !height_below(s, now, x[i], &height);
          if (left[i]) continue;
          bool passed = below ? (double)x[i].y > height : (double)x[i].y < height;
          if (passed) fail_msg("%s: vertex %d passed in frame %d", candidates[m].name, (int)i, k);
        }
      }
      yw_world_destroy(world);
    }
  }
  free(s);
}

// A ball falls through a hole and lies on the rim where the hole is too small; triangles that cross
// each other, or have no area, do no harm.
static void holes_and_crossings_are_accepted(void** state) {
  (void)state;
  sheet* s = make_sheet(stands);
  yw_mesh_obstacle_def def = def_of(s, 0.3f);
  // Without the triangles in the middle.
  int32_t kept = 0;
  for (int32_t i = 0; i < s->num_triangles; ++i) {
    yw_vec3 p = s->points[s->triangles[3 * i]], q = s->points[s->triangles[3 * i + 1]];
    bool middle = fabsf(p.x + q.x) < 1.2f && fabsf(p.z + q.z) < 1.2f;
    if (middle) continue;
    memmove(s->triangles + 3 * (size_t)kept++, s->triangles + 3 * (size_t)i, 3 * sizeof(int32_t));
  }
  assert_in_range(kept, s->num_triangles / 2, s->num_triangles - 8);
  def.num_triangles = kept;
  yw_world* world = world_with(&candidates[0], false, 0.3f, yw_v3(0, 0, 0), 0.3f);
  add_sheet(world, &def);
  step(world, 40);
  assert_at_most(sums_of(world).center[1], -0.5);
  yw_world_destroy(world);

  // Points in random places: everything crosses everything.
  uint32_t seed = 7;
  for (int i = 0; i < FRAMES * POINTS; ++i) {
    float* at = &s->points[i].x;
    for (int k = 0; k < 3; ++k) {
      seed = seed * 1664525u + 1013904223u;
      at[k] = (float)(seed >> 8) / 16777216.0f * 2.0f - 1.0f;
    }
  }
  s->triangles[3] = s->triangles[4] = s->triangles[5];
  def.animation.fps = 2;
  for (int m = 0; m < NUM_CANDIDATES; ++m) {
    world = world_with(&candidates[m], false, 0.0f, yw_v3(0, 0, 0), 0.3f);
    add_sheet(world, &def);
    yw_step_report report = {0};
    for (int k = 0; k < 12; ++k) {
      assert_true(yw_world_step(world, 1 / 60.0f, 4, &report) >= 0);
      if (report.diverged_bodies > 0) fail_msg("%s diverged in step %d", candidates[m].name, k);
    }
    yw_world_destroy(world);
  }
  free(s);
}

// Rays and nearest points see the mesh where it is.
static void queries_see_the_mesh(void** state) {
  (void)state;
  sheet* s = make_sheet(rises);
  yw_mesh_obstacle_def def = def_of(s, 0.3f);
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_obstacle_id id = add_sheet(world, &def);
  step(world, 30);
  yw_hit hit;
  assert_int_equal(yw_world_nearest(world, yw_v3(0.3f, 1.0f, 0.2f), 10, NULL, &hit), 1);
  assert_int_equal(hit.obstacle.index1, id.index1);
  assert_near(hit.distance, 0.49, 1e-4);
  assert_near(hit.normal.y, 1, 1e-5);
  assert_int_equal(yw_world_cast_ray(world, yw_v3(0.3f, -1.0f, 0.2f), yw_v3(0, 3, 0), NULL, &hit),
                   1);
  assert_near(hit.point.y, 0.49, 1e-4);
  yw_world_destroy(world);
  free(s);
}

// State -------------------------------------------------------------------------------------------

static sheet* shared_sheet;

static void fill_world(yw_world* world, int solver) {
  (void)solver;
  yw_model* model = make_box_model(2, 2, 2, 0);
  add_body(world, model, yw_v3(0.1f, 1.1f, 0), (yw_quat){0, 0, 0, 1});
  yw_model_release(model);
  yw_mesh_obstacle_def def = def_of(shared_sheet, 0.3f);
  def.animation.loop = true;
  def.animation.smooth = true;
  add_sheet(world, &def);
}

static void snapshots_go_on_and_steps_do_not_allocate(void** state) {
  (void)state;
  shared_sheet = make_sheet(waves);
  check_snapshot(fill_world, 0, 30, 15);
  check_no_heap(fill_world, 0, 40);
  uint64_t hash = hash_after(fill_world, 0, 40, 1, YW_SIMD_AUTO);
  assert_true(hash == hash_after(fill_world, 0, 40, 3, YW_SIMD_PLAIN));
  free(shared_sheet);
}

// A mesh that was destroyed comes back; without rollback its absence is said.
static void rollback_brings_meshes_back(void** state) {
  (void)state;
  shared_sheet = make_sheet(waves);
  for (int i = 0; i < 2; ++i) {
    yw_world_def def = yw_default_world_def();
    def.threads = 1;
    def.rollback = i == 0;
    yw_world* world = NULL;
    assert_int_equal(yw_world_create(&def, &world), YW_OK);
    fill_world(world, 0);
    step(world, 20);
    size_t size = yw_world_snapshot_size(world);
    void* saved = malloc(size);
    assert_int_equal(yw_world_save(world, saved, size, NULL), YW_OK);
    step(world, 15);
    uint64_t later = yw_world_hash(world);
    assert_int_equal(yw_obstacle_destroy(world, (yw_obstacle_id){1, 1}), YW_OK);
    step(world, 2);
    yw_error error = {0};
    yw_status status = yw_world_restore(world, saved, size, &error);
    assert_int_equal(status, i == 0 ? YW_OK : YW_ERR_INVALID);
    if (i == 0) {
      step(world, 15);
      assert_true(yw_world_hash(world) == later);
    } else {
      assert_non_null(strstr(error.message, "rollback"));
    }
    free(saved);
    yw_world_destroy(world);
  }
  free(shared_sheet);
}

// Mistakes ----------------------------------------------------------------------------------------

static void refuse(const yw_mesh_obstacle_def* def, const char* words) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_error error = {0};
  yw_obstacle_id id;
  assert_int_equal(yw_mesh_obstacle_create(world, def, &id, &error), YW_ERR_INVALID);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  yw_world_destroy(world);
}

static void mistakes_are_refused(void** state) {
  (void)state;
  sheet* s = make_sheet(stands);
  yw_mesh_obstacle_def def = def_of(s, 0.3f), bad = def;
  bad.num_triangles = 0;
  refuse(&bad, "no triangles");
  bad = def;
  bad.animation.num_frames = 0;
  refuse(&bad, "no points");
  bad = def;
  bad.animation.fps = NAN;
  refuse(&bad, "fps");
  bad = def;
  bad.thickness = -1;
  refuse(&bad, "thickness is -1");
  bad = def;
  bad.obstacle.friction = -1;
  refuse(&bad, "friction is -1");
  s->points[POINTS + 3].z = INFINITY;
  refuse(&def, "point 3 of frame 1");
  s->triangles[4] = POINTS;
  refuse(&def, "triangle 1 has point 169");
  free(s);
}

// Files -------------------------------------------------------------------------------------------

static void write_files(const sheet* s, int num_points) {
  char path[300];
  yw_point_cache_writer cache;
  yw_point_cache_def def = {.num_points = num_points, .fps = 20};
  snprintf(path, sizeof path, "%s/sheet.mdd", folder);
  assert_int_equal(yw_point_cache_open(&cache, path, &def, NULL, NULL), YW_OK);
  for (int i = 0; i < FRAMES; ++i) {
    assert_int_equal(yw_point_cache_append(&cache, s->points + POINTS * i, NULL), YW_OK);
  }
  assert_int_equal(yw_point_cache_close(&cache, NULL), YW_OK);
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof path, "%s/sheet_%02d.obj", folder, i);
    FILE* file = fopen(path, "w");
    for (int k = 0; k < POINTS; ++k) {
      yw_vec3 p = s->points[POINTS * i + k];
      fprintf(file, "v %.9g %.9g %.9g\n", (double)p.x, (double)p.y, (double)p.z);
    }
    for (int k = 0; k < s->num_triangles; ++k) {
      const int32_t* t = s->triangles + 3 * (size_t)k;
      fprintf(file, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    fclose(file);
  }
}

static yw_status read_obstacle(const char* animation, yw_scene** out, yw_error* error) {
  char text[700], path[300];
  snprintf(path, sizeof path, "%s/scene.json", folder);
  snprintf(text, sizeof text,
           "{\"obstacles\": [{\"name\": \"belt\", %s, \"friction\": 1}], \"bodies\": [{%s, "
           "\"position\": [0, 0.27, 0], \"friction\": 1}]}",
           animation, candidates[0].keys);
  return read_scene_text(text, path, out, NULL, error);
}

// Caches and series give the same motion as arrays do.
static void scenes_read_files(void** state) {
  (void)state;
  sheet* s = make_sheet(rises);
  write_files(s, POINTS);
  static const char* const animations[] = {
      "\"animation\": {\"file\": \"sheet.mdd\", \"mesh\": \"sheet_00.obj\", \"thickness\": 0.02}",
      "\"animation\": {\"file\": \"sheet_##.obj\", \"fps\": 20}"};
  for (int i = 0; i < 2; ++i) {
    yw_scene* scene = NULL;
    yw_error error = {0};
    if (read_obstacle(animations[i], &scene, &error) < 0) fail_msg("%s", error.message);
    yw_world* world = world_of(scene);
    step(world, 6);  // 2 frames
    yw_vec3 now[POINTS];
    yw_obstacle_id id = yw_scene_obstacle_id(scene, 0);
    assert_int_equal(yw_obstacle_points(world, id, 0.1, now), YW_OK);
    for (int k = 0; k < POINTS; ++k) assert_near(now[k].y, 0.1, 1e-5);
    assert_near(least_height(world, id, s), 0.02, 0.02);
    yw_world_destroy(world);
    yw_scene_destroy(scene);
  }
  free(s);
}

static void refuse_scene(const char* animation, const char* words) {
  yw_scene* scene = NULL;
  yw_error error = {0};
  assert_true(read_obstacle(animation, &scene, &error) < 0);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void mistakes_in_scenes_are_refused(void** state) {
  (void)state;
  sheet* s = make_sheet(rises);
  write_files(s, POINTS - 1);
  refuse_scene("\"animation\": {\"mesh\": \"sheet_00.obj\"}", "file");
  refuse_scene("\"animation\": {\"file\": \"sheet.mdd\"}", "needs \"mesh\"");
  refuse_scene("\"animation\": {\"file\": \"none.pc2\", \"mesh\": \"sheet_00.obj\"}", "none.pc2");
  refuse_scene("\"animation\": {\"file\": \"none_##.obj\"}", "none_00.obj");
  refuse_scene("\"animation\": {\"file\": \"sheet.mdd\", \"mesh\": \"sheet_00.obj\"}",
               "has 169 vertices, but the animation has 168 points");
  refuse_scene("\"animation\": {\"file\": \"sheet_##.obj\", \"thickness\": -1}", "thickness");
  refuse_scene("\"animation\": {\"file\": \"sheet_##.obj\"}, \"shape\": {\"sphere\": {}}",
               "animation");
  // A cache that ends too early.
  char path[300];
  snprintf(path, sizeof path, "%s/short.pc2", folder);
  FILE* file = fopen(path, "w");
  fwrite("POINTCACHE2\0\1\0\0\0\251\0\0\0\0\0\0\0\0\0\200?\377\0\0\0", 1, 32, file);
  fclose(file);
  refuse_scene("\"animation\": {\"file\": \"short.pc2\", \"mesh\": \"sheet_00.obj\"}", "short.pc2");
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_move_as_on_a_rigid_obstacle),
      cmocka_unit_test(touching_particles_are_counted),
      cmocka_unit_test(parts_go_with_the_material),
      cmocka_unit_test(bodies_bounce_off_the_part_that_they_hit),
      cmocka_unit_test(nothing_passes),
      cmocka_unit_test(holes_and_crossings_are_accepted),
      cmocka_unit_test(queries_see_the_mesh),
      cmocka_unit_test(snapshots_go_on_and_steps_do_not_allocate),
      cmocka_unit_test(rollback_brings_meshes_back),
      cmocka_unit_test(mistakes_are_refused),
      cmocka_unit_test(scenes_read_files),
      cmocka_unit_test(mistakes_in_scenes_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
