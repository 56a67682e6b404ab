// SPDX-License-Identifier: MIT
// What is shown of one moment, packed into one array, so that it crosses to the page with one copy
// and goes from there to the graphics card without another. In words of 4 bytes, integers (i) or
// floats (f):
//
//   header     i bodies, i obstacles, i pins, i grabs (0 or 1), i frame, f time (s),
//              f low, f high (ends of the field's range), i offset and i count of contacts, i
//              offset and i count of axes, i offset and i count of slaves
//   bodies     i offset of its data, i count, i parts (PART_...), i triangles of the skin, i offset
//              and i triangles of the cut, i 0, i 0
//   obstacles  f position, f rotation (x y z w), f scale, i offset and i count of vertices (0: its
//              shape does not change)
//   pins       f position
//   grab       f where the body is held, f where the pointer is
//   data       surfaces: 3 f positions and 3 f normals per vertex; particles: 3 f positions and 1 f
//              radius each; skins: as surfaces, then 1 i nearest particle per vertex,
//              and 3 i vertices per triangle; then, with a field,
//              1 f value each. All of one kind, then all of the next. Cuts: 3 f position and 1 f
//              value of three corners per triangle. Obstacles that deform: 3 f positions and 3 f
//              normals per vertex, before their pose. Contacts: 3 f position, 3 f normal. Axes: 3 f
//              position, 4 f rotation. Slaves of plastic bodies: 3 f position
#include <math.h>
#include <string.h>

#include "core.h"
#include "frame_layout.h"
#include "playback/frame_values.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

static bool reserve(core* c, size_t words) {
  if (words <= c->capacity) return true;
  size_t capacity = words + words / 4;
  float* grown = YW_NEW_ARRAY(NULL, float, capacity);
  if (!grown) return false;
  if (c->num_words > 0) memcpy(grown, c->words, c->num_words * sizeof *grown);
  yw_mem_free(NULL, c->words);
  c->words = grown;
  c->capacity = capacity;
  return true;
}

float* core_add_words(core* c, size_t count) {
  if (!reserve(c, c->num_words + count)) return NULL;
  float* at = c->words + c->num_words;
  c->num_words += count;
  return at;
}

static void put_int(float* at, int32_t value) { memcpy(at, &value, sizeof value); }

static void put_vec3(float* at, yw_vec3 v) {
  at[0] = v.x;
  at[1] = v.y;
  at[2] = v.z;
}

// Where the held particles are on average.
static yw_vec3 middle_of(const core* c, const core_hold* hold) {
  int32_t count = 0;
  const yw_vec3* positions = yw_body_positions(c->world, c->bodies[hold->body].id, &count);
  yw_vec3 sum = {0, 0, 0};
  for (int32_t i = 0; i < hold->num_vertices; ++i) {
    if (hold->vertices[i] < count) sum = yw_add(sum, positions[hold->vertices[i]]);
  }
  return yw_scale(sum, 1.0f / (float)hold->num_vertices);
}

static double time_of(const core* c) { return c->run ? c->moment.time : yw_world_time(c->world); }

static void put_obstacle_pose(const core* c, int32_t index, float* at) {
  yw_transform t = YW_TRANSFORM_IDENTITY;
  if (c->run) {
    t = c->moment.obstacles[index];
  } else {
    yw_obstacle_pose(c->world, yw_scene_obstacle_id(c->scene, index), time_of(c), &t);
  }
  put_vec3(at, t.position);
  memcpy(at + 3, &t.rotation, sizeof t.rotation);
  at[7] = t.scale;
}

// Adds the vertices of an obstacle that deforms; *count: how many.
static bool add_obstacle(core* c, int32_t index, int32_t* count) {
  const shown_obstacle* obstacle = &c->shown->obstacles[index];
  *count = 0;
  if (obstacle->animation.num_frames == 0 || !obstacle->look.visible) return true;
  const display_mesh* mesh = &c->obstacle_meshes[index];
  float* at = core_add_words(c, 6 * (size_t)mesh->num_vertices);
  if (!at) return false;
  for (int32_t i = 0; i < obstacle->surface.num_vertices; ++i) {
    c->surface[i] = yw_mesh_animation_point(&obstacle->animation, i, time_of(c));
  }
  yw_vec3* positions = (yw_vec3*)(void*)at;
  display_mesh_move(mesh, c->surface, positions, positions + mesh->num_vertices);
  *count = mesh->num_vertices;
  return true;
}

static bool add_obstacles(core* c, size_t table) {
  for (int32_t i = 0; i < c->shown->num_obstacles; ++i, table += OBSTACLE_WORDS) {
    int32_t offset = (int32_t)c->num_words, count;
    if (!add_obstacle(c, i, &count)) return false;
    put_obstacle_pose(c, i, c->words + table);
    put_int(c->words + table + 8, offset);
    put_int(c->words + table + 9, count);
  }
  return true;
}

static void put_holds(const core* c, float* at) {
  for (int32_t i = 0; i < c->num_pins; ++i, at += 3) put_vec3(at, c->pins[i].goal);
  if (c->grab.num_vertices == 0) return;
  put_vec3(at, middle_of(c, &c->grab));
  put_vec3(at + 3, c->grab.goal);
}

// The vertices of a body's surface, from the world or from the run; NULL: there are none.
static const yw_vec3* surface_of(core* c, int32_t index) {
  if (c->run) return c->surfaces[index];
  int32_t count = shown_model_of(c->shown, index)->surface.num_vertices;
  yw_body_id id = c->bodies[index].id;
  return yw_body_surface_positions(c->world, id, c->surface, count) < 0 ? NULL : c->surface;
}

// The particles of a body and their radii, num_radii of them.
static const yw_vec3* particles_of(const core* c, int32_t index, int32_t* count,
                                   const float** radii, int32_t* num_radii) {
  if (c->run) {
    const frame_body* body = &c->moment.bodies[index];
    *count = body->num_particles;
    *radii = body->radii;
    *num_radii = body->radii ? body->num_particles : 0;
    return body->positions;
  }
  *radii = yw_body_radii(c->world, c->bodies[index].id, num_radii);
  return yw_body_positions(c->world, c->bodies[index].id, count);
}

static bool has_skins(const core* c) { return c->inside & CORE_SKINS && c->field[0] == '\0'; }

// Adds a surface around the body's particles.
static bool add_skin(core* c, int32_t index, int32_t* count, int32_t* triangles) {
  wrap* around = &c->bodies[index].skin;
  int32_t num_balls = 0, num_radii = 0;
  const float* radii = NULL;
  const yw_vec3* positions = particles_of(c, index, &num_balls, &radii, &num_radii);
  if (!wrap_make(around, num_balls < num_radii ? num_balls : num_radii, positions, radii)) {
    return false;
  }
  size_t vertices = (size_t)around->num_vertices, words = 3 * (size_t)around->num_triangles;
  float* at = core_add_words(c, 7 * vertices + words);
  if (!at) return false;
  if (vertices > 0) {
    memcpy(at, around->positions, vertices * sizeof *around->positions);
    memcpy(at + 3 * vertices, around->normals, vertices * sizeof *around->normals);
    memcpy(at + 6 * vertices, around->owners, vertices * sizeof *around->owners);
    memcpy(at + 7 * vertices, around->triangles, words * sizeof *around->triangles);
  }
  *count = around->num_vertices;
  *triangles = around->num_triangles;
  return true;
}

static bool add_surface(core* c, int32_t index, int32_t* count) {
  const display_mesh* mesh = &c->meshes[c->shown->bodies[index].model];
  const yw_vec3* surface = surface_of(c, index);
  float* at = core_add_words(c, 6 * (size_t)mesh->num_vertices);
  if (!surface || !at) return false;
  yw_vec3* positions = (yw_vec3*)(void*)at;
  display_mesh_move(mesh, surface, positions, positions + mesh->num_vertices);
  *count = mesh->num_vertices;
  return true;
}

static bool add_particles(core* c, int32_t index, int32_t* count) {
  int32_t num_radii = 0;
  const float* radii = NULL;
  const yw_vec3* positions = particles_of(c, index, count, &radii, &num_radii);
  float* at = core_add_words(c, 4 * (size_t)*count);
  if (!at) return false;
  memcpy(at, positions, (size_t)*count * sizeof *positions);
  for (int32_t i = 0; i < *count; ++i) at[3 * *count + i] = i < num_radii ? radii[i] : 0.0f;
  return true;
}

// Adds the body's surface or particles; *count and *parts say what.
static bool add_body(core* c, int32_t index, int32_t* count, int32_t* parts, int32_t* triangles) {
  bool active =
      c->run ? c->moment.bodies[index].active : yw_body_is_active(c->world, c->bodies[index].id);
  *count = *parts = *triangles = 0;
  if (!active || !c->shown->bodies[index].look.visible) return true;
  bool clad = core_is_clad(c, index);
  bool is_surface = shown_model_of(c->shown, index)->kind != SHOWN_PARTICLES && !clad;
  if (!is_surface && has_skins(c)) {
    *parts = PART_SKIN;
    const yw_vec3* surface = core_surface_holds(c, index) ? surface_of(c, index) : NULL;
    return surface ? core_add_clad(c, index, surface, count, triangles)
                   : add_skin(c, index, count, triangles);
  }
  *parts = is_surface ? PART_SURFACE : PART_PARTICLES;
  return is_surface ? add_surface(c, index, count) : add_particles(c, index, count);
}

// Adds the values of the chosen field, if the body has it.
static bool add_values(core* c, const frame_data* frame, int32_t index, int32_t count,
                       int32_t* parts) {
  const frame_body* body = &frame->bodies[index];
  const frame_field* field = *parts ? frame_find_field(body, c->field) : NULL;
  if (!field) return true;
  const shown_model* model = shown_model_of(c->shown, index);
  bool is_surface = *parts & PART_SURFACE;
  int32_t num_shown = is_surface ? model->surface.num_vertices : count;
  if (core_is_clad(c, index)) {
    float* own = core_add_words(c, (size_t)count);
    if (own) memcpy(own, field->values, (size_t)count * sizeof *own);
    *parts |= PART_VALUES;
    return own != NULL;
  }
  float* values = YW_NEW_ARRAY(NULL, float, (size_t)num_shown + 1);
  float* at = values ? core_add_words(c, (size_t)count) : NULL;
  bool good = at && frame_shown_values(body, model, field, &c->bodies[index].carriers, values) >= 0;
  const display_mesh* mesh = &c->meshes[c->shown->bodies[index].model];
  for (int32_t i = 0; i < count && good; ++i) at[i] = values[is_surface ? mesh->source[i] : i];
  yw_mem_free(NULL, values);
  *parts |= PART_VALUES;
  return good;
}

// Adds the paint of the body that is painted.
static bool add_paint(core* c, int32_t index, int32_t count, int32_t* parts) {
  if (!c->paint || c->painted != index || !(*parts & PART_SURFACE)) return true;
  const display_mesh* mesh = &c->meshes[c->shown->bodies[index].model];
  yw_surface_map map = yw_model_surface_map(yw_body_model(c->world, c->bodies[index].id));
  float* at = core_add_words(c, (size_t)count);
  if (!at) return false;
  for (int32_t i = 0; i < count; ++i) at[i] = core_paint_of(c, &map, mesh->source[i]);
  *parts |= PART_VALUES;
  return true;
}

static bool add_bodies(core* c, const frame_data* frame, size_t table) {
  for (int32_t i = 0; i < c->shown->num_bodies; ++i, table += BODY_WORDS) {
    size_t offset = c->num_words;
    int32_t count, parts, triangles;
    if (!add_body(c, i, &count, &parts, &triangles)) return false;
    if (c->paint ? !add_paint(c, i, count, &parts)
                 : frame && !add_values(c, frame, i, count, &parts)) {
      return false;
    }
    size_t cut = c->num_words;
    const int32_t numbers[BODY_WORDS] = {(int32_t)offset, count,
                                         parts,           triangles,
                                         (int32_t)cut,    parts ? core_add_cut(c, i, frame) : 0};
    for (int k = 0; k < BODY_WORDS; ++k) put_int(c->words + table + k, numbers[k]);
  }
  return true;
}

// Adds contacts, axes and slaves, and says where they are.
static void add_inside(core* c) {
  int32_t contacts = (int32_t)c->num_words, num_contacts = core_add_contacts(c);
  int32_t axes = (int32_t)c->num_words, num_axes = core_add_axes(c);
  int32_t slaves = (int32_t)c->num_words, num_slaves = core_add_slaves(c);
  put_int(c->words + 8, contacts);
  put_int(c->words + 9, num_contacts);
  put_int(c->words + 10, axes);
  put_int(c->words + 11, num_axes);
  put_int(c->words + 12, slaves);
  put_int(c->words + 13, num_slaves);
}

static void put_header(core* c, const frame_data* frame) {
  double low = 0.0, high = 0.0;
  if (frame) frame_field_range(frame, c->field, &low, &high);
  if (c->paint) low = 0.0, high = 255.0;
  put_int(c->words, c->shown->num_bodies);
  put_int(c->words + 1, c->shown->num_obstacles);
  put_int(c->words + 2, c->num_pins);
  put_int(c->words + 3, c->grab.num_vertices > 0);
  put_int(c->words + 4, c->frame);
  c->words[5] = (float)time_of(c);
  c->words[6] = (float)low;
  c->words[7] = (float)high;
}

yw_status core_take_frame(core* c) {
  if (!c->shown || (c->run && !c->moment.bodies))
    return yw_fail(&c->message, YW_ERR_INVALID, "no scene is open");
  frame_data taken = {0};
  bool with_field = c->field[0] != '\0';
  const frame_data* frame = !with_field ? NULL : c->run ? &c->moment : &taken;
  yw_status status = YW_OK;
  if (frame == &taken) {
    frame_def def = {.world = c->world, .scene = c->scene, .number = c->frame, .fields = c->field};
    status = frame_take(&def, &taken, &c->message);
  }
  const shown_scene* shown = c->shown;
  size_t bodies = HEADER_WORDS, obstacles = bodies + BODY_WORDS * (size_t)shown->num_bodies;
  size_t holds = obstacles + OBSTACLE_WORDS * (size_t)shown->num_obstacles;
  size_t data = holds + 3 * (size_t)c->num_pins + (c->grab.num_vertices > 0 ? 6 : 0);
  c->num_words = 0;
  if (status >= 0 &&
      (!core_add_words(c, data) || !add_bodies(c, frame, bodies) || !add_obstacles(c, obstacles))) {
    status = yw_fail_memory(&c->message, "a frame");
  }
  if (status >= 0) {
    put_header(c, frame);
    put_holds(c, c->words + holds);
    add_inside(c);
  }
  frame_free(&taken);
  return status;
}
