// SPDX-License-Identifier: MIT
// Frames of a run: what they store of bodies of every kind, and reading it back.
#include "playback/frame.h"
#include "playback/moments.h"

#include "playback/frame_values.h"
#include "support/grains.h"
#include "support/world_fixture.h"

static const yw_quat upright = {0, 0, 0, 1};
static const yw_vec3 four[4] = {{0, 1, 0}, {0.5f, 1, 0}, {1, 1, 0}, {1.5f, 1, 0}};

// A box of tets, loose spheres that increase in number, and a ribbon with its own surface.
static yw_world* make_zoo(void) {
  yw_world* world = make_world(1, YW_SIMD_AUTO, false);
  yw_model* models[3] = {make_box_model(1, 2, 1, 0),
                         make_grains(&grain_method, 4, 20, four, 0.05f, 2.0f, 3),
                         make_grains(&ribbon_method, 4, 4, four, 0.05f, 2.0f, 0)};
  for (int i = 0; i < 3; ++i) {
    add_body(world, models[i], (yw_vec3){3.0f * (float)i, 0, 0},
             i == 2 ? (yw_quat){0, 0.70710678f, 0, 0.70710678f} : upright);
    yw_model_release(models[i]);
  }
  yw_error error = {0};
  yw_body_def def = yw_default_body_def();
  def.model = make_grains(&grain_method, 4, 4, four, 0.05f, 2.0f, 0);
  def.start = 100;
  yw_body_id id;
  assert_int_equal(yw_body_create(world, &def, &id, &error), YW_OK);
  yw_model_release(def.model);
  for (int i = 0; i < 5; ++i) assert_int_equal(yw_world_step(world, 1 / 60.0f, 4, NULL), YW_OK);
  return world;
}

static frame_data take(const yw_world* world, const char* fields, frame_cells* known_cells) {
  yw_error error = {0};
  frame_data frame;
  const frame_def def = {.world = world, .number = 5, .fields = fields, .known_cells = known_cells};
  assert_int_equal(frame_take(&def, &frame, &error), YW_OK);
  return frame;
}

static shown_scene* show(const yw_world* world) {
  yw_error error = {0};
  shown_scene* shown;
  assert_int_equal(shown_create(NULL, world, &shown, &error), YW_OK);
  return shown;
}

// Bytes of a frame, to be freed.
static unsigned char* bytes_of(const frame_data* frame, size_t* size) {
  yw_writer counter = {0};
  frame_write(frame, &counter);
  yw_writer writer = {.data = malloc(counter.size), .capacity = counter.size};
  frame_write(frame, &writer);
  assert_int_equal(writer.size, counter.size);
  *size = counter.size;
  return writer.data;
}

static void frames_come_back_as_they_were(void** state) {
  (void)state;
  yw_world* world = make_zoo();
  shown_scene* shown_zoo = show(world);
  frame_data frame = take(world, "height,speed", NULL), back;
  size_t size;
  unsigned char* bytes = bytes_of(&frame, &size);
  yw_reader reader = {.data = bytes, .size = size};
  assert_int_equal(frame_read(&reader, &back), YW_OK);
  assert_true(frame_fits(&back, shown_zoo));
  assert_int_equal(back.number, 5);
  assert_near(back.time, yw_world_time(world), 0);
  for (int i = 0; i < 4; ++i) {
    const frame_body *a = &frame.bodies[i], *b = &back.bodies[i];
    assert_int_equal(a->num_particles, b->num_particles);
    assert_memory_equal(a->positions, b->positions, sizeof(yw_vec3) * (size_t)a->num_particles);
    assert_int_equal(a->num_fields, b->num_fields);
    for (int k = 0; k < a->num_fields; ++k) {
      assert_string_equal(a->fields[k].name, b->fields[k].name);
      assert_string_equal(a->fields[k].unit, b->fields[k].unit);
      assert_memory_equal(a->fields[k].values, b->fields[k].values,
                          sizeof(float) * (size_t)a->fields[k].count);
    }
  }
  // The box: only positions and its one field. The spheres: radii, including the new ones.
  assert_null(back.bodies[0].surface);
  assert_null(back.bodies[0].radii);
  assert_null(back.bodies[0].cells);
  assert_int_equal(back.bodies[0].num_fields, 1);
  assert_int_equal(back.bodies[1].num_particles, 10);
  assert_near(back.bodies[1].radii[9], 0.05f, 0);
  assert_int_equal(back.bodies[1].num_fields, 2);
  assert_non_null(frame_find_field(&back.bodies[1], "height"));
  assert_null(frame_find_field(&back.bodies[1], "number"));
  // The ribbon: its surface is there without the method's state.
  yw_vec3 shown[8], expected[8];
  frame_surface(&back.bodies[2], shown_model_of(shown_zoo, 2), shown);
  assert_int_equal(yw_body_surface_positions(world, yw_world_body(world, 2), expected, 8), YW_OK);
  assert_memory_equal(shown, expected, sizeof shown);
  assert_true(back.bodies[2].active);
  assert_false(back.bodies[3].active);
  frame_free(&frame);
  frame_free(&back);
  free(bytes);
  shown_destroy(shown_zoo);
  yw_world_destroy(world);
}

// Every byte changed: either the frame is rejected, or its content is usable.
static void damaged_frames_do_no_harm(void** state) {
  (void)state;
  yw_world* world = make_zoo();
  shown_scene* zoo = show(world);
  frame_data frame = take(world, "all", NULL), back;
  size_t size;
  unsigned char* bytes = bytes_of(&frame, &size);
  yw_vec3 shown[100];
  float values[100];
  int32_t refused = 0;
  for (size_t at = 0; at < size; ++at) {
    for (int k = 0; k < 2; ++k) {
      unsigned char kept = bytes[at];
      bytes[at] = k == 0 ? (unsigned char)(kept ^ 0xff) : (unsigned char)(kept ^ 1);
      yw_reader reader = {.data = bytes, .size = size};
      bool ok = frame_read(&reader, &back) == YW_OK && frame_fits(&back, zoo);
      refused += !ok;
      for (int i = 0; ok && i < back.num_bodies; ++i) {
        const frame_body* body = &back.bodies[i];
        const shown_model* model = shown_model_of(zoo, i);
        int32_t* carriers = NULL;
        frame_surface(body, model, shown);
        for (int f = 0; f < body->num_fields && body->num_particles <= 100; ++f) {
          frame_shown_values(body, model, &body->fields[f], &carriers, values);
        }
        yw_mem_free(NULL, carriers);
      }
      frame_free(&back);
      bytes[at] = kept;
    }
  }
  assert_true(refused > 100);
  for (size_t cut = 0; cut < size; ++cut) {
    yw_reader reader = {.data = bytes, .size = cut};
    assert_int_equal(frame_read(&reader, &back), YW_ERR_FORMAT);
    frame_free(&back);
  }
  free(bytes);
  frame_free(&frame);
  shown_destroy(zoo);
  yw_world_destroy(world);
}

static void fields_reach_what_is_shown(void** state) {
  (void)state;
  yw_world* world = make_zoo();
  shown_scene* zoo = show(world);
  frame_data frame = take(world, "all", NULL);
  int32_t* carriers = NULL;
  float values[100];

  // The ribbon's vertices belong to the particle between them.
  const shown_model* ribbon = shown_model_of(zoo, 2);
  const frame_field* number = frame_find_field(&frame.bodies[2], "number");
  assert_int_equal(frame_shown_values(&frame.bodies[2], ribbon, number, &carriers, values), YW_OK);
  for (int i = 0; i < 8; ++i) assert_near(values[i], i / 2, 0);
  yw_mem_free(NULL, carriers);

  // A field of cells on a box: the mean of the tets around each vertex.
  frame_body box = frame.bodies[0];
  const shown_model* model = shown_model_of(zoo, 0);
  const yw_tet_mesh* tets = &model->tets;
  const yw_tri_mesh* surface = &model->surface;
  float numbers[100];
  for (int i = 0; i < tets->num_tets; ++i) numbers[i] = (float)i;
  frame_field level = {
      .name = "level", .per_cell = true, .count = tets->num_tets, .values = numbers};
  carriers = NULL;
  assert_int_equal(frame_shown_values(&box, model, &level, &carriers, values), YW_OK);
  for (int i = 0; i < surface->num_vertices; ++i) {
    double sum = 0, count = 0;
    for (int k = 0; k < 4 * tets->num_tets; ++k) {
      yw_vec3 corner = tets->positions[tets->tets[k]];
      if (memcmp(&corner, &surface->positions[i], sizeof corner) != 0) continue;
      sum += k / 4;
      count += 1;
    }
    assert_near(values[i], sum / count, 1e-5);
  }

  // A single cell, coarser than the mesh: everything inside takes its value.
  float one = 3.0f;
  int32_t cell[4];
  memcpy(cell, tets->tets, sizeof cell);
  box.cells = cell;
  box.num_cells = 1;
  level.values = &one;
  level.count = 1;
  assert_int_equal(frame_shown_values(&box, model, &level, &carriers, values), YW_OK);
  for (int i = 0; i < surface->num_vertices; ++i) assert_near(values[i], 3.0, 1e-5);
  frame_free(&frame);
  shown_destroy(zoo);
  yw_world_destroy(world);
}

// Cells of a body whose method changes them: copied once, then referred to until they change.
static void cells_are_copied_only_when_they_changed(void** state) {
  (void)state;
  yw_world* world = make_world(1, YW_SIMD_AUTO, true);
  yw_tet_mesh mesh = {0};
  const yw_aabb box = {{-0.5f, 0.0f, -0.5f}, {0.5f, 0.4f, 0.5f}};
  const int32_t cells[3] = {2, 1, 2};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  yw_fem_def def = yw_default_fem_def();
  def.mesh = &mesh;
  def.max_level = 1;
  yw_error error = {0};
  yw_model* model;
  assert_int_equal(yw_model_create_fem(NULL, &def, &model, &error), YW_OK);
  add_body(world, model, (yw_vec3){0, 0.02f, 0}, upright);
  yw_body_id id = yw_world_body(world, 0);

  frame_cells known = {0};
  frame_data first = take(world, NULL, &known);
  assert_non_null(first.bodies[0].cells);
  assert_int_equal(first.bodies[0].cells_frame, 5);
  known.frame = 4;  // as if that frame had been the fourth
  frame_data second = take(world, NULL, &known);
  assert_null(second.bodies[0].cells);
  assert_int_equal(second.bodies[0].cells_frame, 4);
  assert_int_equal(second.bodies[0].num_cells, first.bodies[0].num_cells);

  // It falls and is refined: other cells, another version.
  uint64_t before = yw_body_cells_version(world, id);
  assert_true(before > 0);
  assert_true(yw_body_cells_version(world, (yw_body_id){7, 1}) == 0);
  for (int i = 0; i < 60 && yw_body_cells_version(world, id) == before; ++i) {
    assert_int_equal(yw_world_step(world, 1 / 60.0f, 1, NULL), YW_OK);
  }
  assert_true(yw_body_cells_version(world, id) != before);
  frame_data third = take(world, NULL, &known);
  assert_non_null(third.bodies[0].cells);
  assert_int_equal(known.frame, 5);

  frame_free(&first);
  frame_free(&second);
  frame_free(&third);
  yw_model_release(model);
  yw_tet_mesh_free(&mesh);
  yw_world_destroy(world);
}

static void ranges_leave_out_a_few_wild_values(void** state) {
  (void)state;
  float values[1000];
  for (int i = 0; i < 1000; ++i) values[i] = (float)((i * 7) % 1000);
  values[3] = 1e9f;
  values[500] = NAN;
  frame_field field = {.name = "stress", .count = 1000, .values = values};
  frame_body bodies[2] = {
      {.active = true, .num_particles = 1000, .fields = &field, .num_fields = 1},
      {.active = false}};
  frame_data frame = {.num_bodies = 2, .bodies = bodies};
  double low, high;
  assert_true(frame_field_range(&frame, "stress", &low, &high));
  assert_near(low, 9, 1);
  assert_near(high, 990, 2);
  assert_true(frame_field_range(&frame, "nothing", &low, &high));
  assert_near(low, 0, 0);
  assert_near(high, 0, 0);
}

static void unknown_fields_are_named(void** state) {
  (void)state;
  yw_world* world = make_zoo();
  yw_error error = {0};
  assert_int_equal(frame_check_fields(world, NULL, &error), YW_OK);
  assert_int_equal(frame_check_fields(world, "all", &error), YW_OK);
  assert_int_equal(frame_check_fields(world, "speed,height", &error), YW_OK);
  assert_int_equal(frame_check_fields(world, "speed,heigh", &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "no body has a field \"heigh\""));
  assert_non_null(strstr(error.message, "speed,vx,vy,vz,number,height"));
  assert_int_equal(frame_check_fields(world, "", &error), YW_ERR_INVALID);
  yw_world_destroy(world);
}

// A body of 27 points with a head of three more, high in the direction of an azimuth (degrees).
static float azimuth_for_head(float degrees, float reach, int32_t num_bodies) {
  yw_vec3 points[30];
  for (int i = 0; i < 27; ++i) {
    points[i] = yw_v3((float)(i % 3 - 1), (float)(i / 3 % 3), (float)(i / 9 - 1));
  }
  float x = reach * sinf(degrees / 57.29578f), z = reach * cosf(degrees / 57.29578f);
  for (int i = 27; i < 30; ++i) points[i] = yw_v3(x, 2.0f, z);
  frame_body bodies[2] = {{.active = true, .num_particles = 30, .positions = points},
                          {.active = true, .num_particles = 30, .positions = points}};
  shown_body looks[2] = {{.look.visible = true}, {.look.visible = true}};
  const shown_scene shown = {.num_bodies = num_bodies, .bodies = looks};
  const frame_data frame = {.num_bodies = num_bodies, .bodies = bodies};
  return moments_azimuth(&shown, &frame, 28.0f);
}

// The camera goes no farther round than to see the face from the side.
static void cameras_see_faces(void** state) {
  (void)state;
  assert_near(azimuth_for_head(0, 1.0f, 1), 28, 1e-4);
  assert_near(azimuth_for_head(90, 1.0f, 1), 28, 1e-4);
  assert_near(azimuth_for_head(180, 1.0f, 1), 90, 1e-4);
  assert_near(azimuth_for_head(-90, 1.0f, 1), 0, 1e-4);
  // Nothing tells the front, or others are there.
  assert_near(azimuth_for_head(180, 0.0f, 1), 28, 1e-4);
  assert_near(azimuth_for_head(180, 1.0f, 2), 28, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_come_back_as_they_were),
      cmocka_unit_test(damaged_frames_do_no_harm),
      cmocka_unit_test(fields_reach_what_is_shown),
      cmocka_unit_test(cells_are_copied_only_when_they_changed),
      cmocka_unit_test(ranges_leave_out_a_few_wild_values),
      cmocka_unit_test(unknown_fields_are_named),
      cmocka_unit_test(cameras_see_faces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
