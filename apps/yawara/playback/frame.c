// SPDX-License-Identifier: MIT
#include "playback/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/shared_body.h"
#include "yawara/extend/vec.h"

void frame_free(frame_data* frame) {
  for (int32_t i = 0; frame->bodies && i < frame->num_bodies; ++i) {
    yw_mem_free(NULL, frame->bodies[i].fields);
  }
  yw_mem_free(NULL, frame->bodies);
  yw_mem_free(NULL, frame->obstacles);
  yw_mem_free(NULL, frame->values);
  *frame = (frame_data){0};
}

const char* const frame_velocity_names[3] = {"vx", "vy", "vz"};

// Fields by name --------------------------------------------------------------------------------

static bool is_word(const char* text, size_t length, const char* word) {
  return strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool is_velocity(const char* name) {
  for (int k = 0; k < 3; ++k) {
    if (strcmp(name, frame_velocity_names[k]) == 0) return true;
  }
  return false;
}

// True if the list is "all" or contains the name; "velocity" stands for its components.
static bool lists(const char* fields, const char* name) {
  if (!fields) return false;
  if (strcmp(fields, "all") == 0) return true;
  for (const char* at = fields;; ++at) {
    size_t part = strcspn(at, ",");
    if (is_word(at, part, name) || (is_word(at, part, "velocity") && is_velocity(name))) {
      return true;
    }
    at += part;
    if (*at == '\0') return false;
  }
}

static bool some_body_has(const yw_world* world, const char* name) {
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    if (yw_body_find_field(world, yw_world_body(world, i), name) >= 0) return true;
  }
  return false;
}

// The names of all fields of all bodies, each once.
static void name_fields(const yw_world* world, char* out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (int32_t i = 0; i < yw_world_num_bodies(world); ++i) {
    yw_body_id id = yw_world_body(world, i);
    for (int32_t k = 0; k < yw_body_num_fields(world, id); ++k) {
      const char* name = yw_body_field_info(world, id, k).name;
      size_t length = strlen(name);
      if ((used > 0 && lists(out, name)) || used + length + 2 > capacity) continue;
      if (used > 0) out[used++] = ',';
      memcpy(out + used, name, length + 1);
      used += length;
    }
  }
}

yw_status frame_check_fields(const yw_world* world, const char* fields, yw_error* error) {
  if (!fields || strcmp(fields, "all") == 0) return YW_OK;
  char known[400];
  name_fields(world, known, sizeof known);
  for (const char* at = fields;; ++at) {
    char name[64];
    size_t length = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    if (!some_body_has(world, is_word(at, length, "velocity") ? frame_velocity_names[0] : name)) {
      return yw_fail(error, YW_ERR_INVALID, "no body has a field \"%s\"; there are: %s", name,
                     known);
    }
    at += length;
    if (*at == '\0') return YW_OK;
  }
}

const frame_field* frame_find_field(const frame_body* body, const char* name) {
  for (int32_t i = 0; i < body->num_fields; ++i) {
    if (strcmp(body->fields[i].name, name) == 0) return &body->fields[i];
  }
  return NULL;
}

bool frame_velocity(const frame_body* body, const float* out[3]) {
  for (int k = 0; k < 3; ++k) {
    const frame_field* field = frame_find_field(body, frame_velocity_names[k]);
    if (!field || field->per_cell) return false;
    out[k] = field->values;
  }
  return true;
}

static int compare_floats(const void* a, const void* b) {
  float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

bool frame_field_range(const frame_data* frame, const char* name, double* low, double* high) {
  *low = *high = 0.0;
  size_t total = 0, count = 0;
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    const frame_field* field = frame_find_field(&frame->bodies[i], name);
    if (field && frame->bodies[i].active) total += (size_t)field->count;
  }
  float* values = YW_NEW_ARRAY(NULL, float, total);
  if (!values) return false;
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    const frame_field* field = frame_find_field(&frame->bodies[i], name);
    if (!field || !frame->bodies[i].active) continue;
    for (int32_t k = 0; k < field->count; ++k) {
      if (isfinite(field->values[k])) values[count++] = field->values[k];
    }
  }
  if (count > 0) {
    qsort(values, count, sizeof *values, compare_floats);
    *low = (double)values[count / 100];
    *high = (double)values[count - 1 - count / 100];
  }
  yw_mem_free(NULL, values);
  return true;
}

// From a world ----------------------------------------------------------------------------------

// Hands out parts of a single block of values; with NULL it only counts.
typedef struct value_room {
  uint32_t* values;
  size_t used;
} value_room;

static void* take_values(value_room* room, size_t count) {
  void* part = room->values ? room->values + room->used : NULL;
  room->used += count;
  return part;
}

// Copies the current tets, unless they are those of the model or of an earlier frame.
static bool take_cells(const frame_def* def, int32_t body, value_room* room, frame_body* out) {
  yw_body_id id = yw_world_body(def->world, body);
  uint64_t version = yw_body_cells_version(def->world, id);
  frame_cells* known = def->known_cells ? &def->known_cells[body] : NULL;
  out->num_cells = yw_body_cells(def->world, id, NULL, 0);
  out->cells_frame = version == 0 ? -1 : def->number;
  if (version == 0) return true;
  if (known && known->version == version && known->frame != def->number) {
    out->cells_frame = known->frame;
    return true;
  }
  if (known) *known = (frame_cells){version, def->number};
  int32_t* cells = take_values(room, 4 * (size_t)out->num_cells);
  out->cells = cells;
  return !cells || yw_body_cells(def->world, id, cells, out->num_cells) >= 0;
}

static bool take_fields(const yw_world* world, yw_body_id id, const char* wanted, value_room* room,
                        frame_body* out) {
  int32_t count = yw_body_num_fields(world, id), particles = out->num_particles;
  if (!wanted) return true;
  if (!out->fields) out->fields = YW_NEW_ARRAY(NULL, frame_field, count);
  if (!out->fields) return false;
  out->num_fields = 0;
  for (int32_t i = 0; i < count; ++i) {
    yw_field_info info = yw_body_field_info(world, id, i);
    if (!lists(wanted, info.name)) continue;
    int32_t size = info.per_cell ? yw_body_cells(world, id, NULL, 0) : particles;
    float* values = take_values(room, (size_t)size);
    frame_field* field = &out->fields[out->num_fields++];
    *field = (frame_field){.per_cell = info.per_cell, .count = size, .values = values};
    snprintf(field->name, sizeof field->name, "%s", info.name);
    snprintf(field->unit, sizeof field->unit, "%s", info.unit);
    snprintf(field->meaning, sizeof field->meaning, "%s", yw_body_field_meaning(world, id, i));
    if (values && yw_body_field_values(world, id, i, values, size) < 0) return false;
  }
  return true;
}

// Which lists ranks will write.
static bool note_shared(const frame_def* def, int32_t body, value_room* room, frame_body* out) {
  const yw_world* world = def->world;
  yw_body_id id = yw_world_body(world, body);
  const yw_model* model = yw_body_model(world, id);
  const yw_tri_mesh* surface = yw_model_surface(model);
  out->is_shared = true;
  out->num_particles = yw_body_shared_particles(world, id);
  out->has_surface = yw_model_surface_has_state(model);
  out->num_surface = out->has_surface ? surface->num_vertices : 0;
  out->may_part = yw_model_surface_parts(model);
  out->has_radii = (surface->num_triangles == 0 || out->may_part) && yw_body_radii(world, id, NULL);
  return take_cells(def, body, room, out) && take_fields(world, id, def->fields, room, out);
}

static bool take_body(const frame_def* def, int32_t body, value_room* room, frame_body* out) {
  const yw_world* world = def->world;
  yw_body_id id = yw_world_body(world, body);
  const yw_model* model = yw_body_model(world, id);
  const yw_tri_mesh* surface = yw_model_surface(model);
  out->active = yw_body_is_active(world, id);
  if (def->leave_shared && yw_body_shared_particles(world, id) > 0)
    return note_shared(def, body, room, out);
  const yw_vec3* x = yw_body_positions(world, id, &out->num_particles);
  size_t count = (size_t)out->num_particles;
  yw_vec3* positions = take_values(room, 3 * count);
  if (positions && count > 0) memcpy(positions, x, sizeof *x * count);
  out->positions = positions;
  if (yw_model_surface_has_state(model)) {
    out->num_surface = surface->num_vertices;
    yw_vec3* shown = take_values(room, 3 * (size_t)surface->num_vertices);
    if (shown && yw_body_surface_positions(world, id, shown, out->num_surface) < 0) return false;
    out->surface = shown;
  }
  bool parts = yw_model_surface_parts(model), loose = surface->num_triangles == 0;
  const float* r = loose || parts ? yw_body_radii(world, id, NULL) : NULL;
  if (r) {
    float* radii = take_values(room, count);
    if (radii) memcpy(radii, r, sizeof *r * count);
    out->radii = radii;
  }
  if (parts) {
    float* parted = take_values(room, count);
    bool some = parted && yw_body_parted(world, id, parted, out->num_particles) > 0;
    out->parted = some ? parted : NULL;
  }
  return take_cells(def, body, room, out) && take_fields(world, id, def->fields, room, out);
}

static bool take_poses(const frame_def* def, frame_data* out) {
  out->num_obstacles = def->scene ? yw_scene_num_obstacles(def->scene) : 0;
  out->obstacles = YW_NEW_ARRAY(NULL, yw_transform, out->num_obstacles);
  for (int32_t i = 0; out->obstacles && i < out->num_obstacles; ++i) {
    out->obstacles[i] = YW_TRANSFORM_IDENTITY;
    yw_obstacle_id id = yw_scene_obstacle_id(def->scene, i);
    yw_obstacle_pose(def->world, id, out->time, &out->obstacles[i]);
  }
  return out->obstacles != NULL;
}

yw_status frame_take(const frame_def* def, frame_data* out, yw_error* error) {
  int32_t bodies = yw_world_num_bodies(def->world);
  *out =
      (frame_data){.number = def->number, .time = yw_world_time(def->world), .num_bodies = bodies};
  out->bodies = YW_NEW_ARRAY(NULL, frame_body, bodies);
  bool ok = out->bodies && take_poses(def, out);
  // First pass counts, second pass fills.
  value_room room = {0};
  for (int pass = 0; pass < 2 && ok; ++pass) {
    room.used = 0;
    for (int32_t i = 0; i < bodies && ok; ++i) ok = take_body(def, i, &room, &out->bodies[i]);
    if (pass == 0 && ok) ok = (out->values = YW_NEW_ARRAY(NULL, uint32_t, room.used)) != NULL;
    room.values = out->values;
  }
  if (ok) return YW_OK;
  frame_free(out);
  return yw_fail_memory(error, "a frame");
}

// Use -------------------------------------------------------------------------------------------

static bool body_fits(const frame_body* body, const shown_model* model) {
  bool own = model->kind == SHOWN_OWN;
  if (own != (body->surface != NULL)) return false;
  if (own && body->num_surface != model->surface.num_vertices) return false;
  if (body->num_particles < model->tets.num_vertices) return false;
  for (int32_t i = 0; i < model->corners * model->num_elements; ++i) {
    if (model->elements[i] >= body->num_particles) return false;
  }
  return body->cells_frame >= 0 || body->num_cells == model->tets.num_tets;
}

bool frame_fits(const frame_data* frame, const shown_scene* shown) {
  if (frame->num_bodies != shown->num_bodies) return false;
  if (frame->num_obstacles != shown->num_obstacles) return false;
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    if (!body_fits(&frame->bodies[i], shown_model_of(shown, i))) return false;
  }
  return true;
}

const int32_t* frame_tets(const frame_body* body, const shown_model* model) {
  return body->cells ? body->cells : model->tets.tets;
}

yw_status frame_surface(const frame_body* body, const shown_model* model, yw_vec3* out) {
  int32_t count = model->surface.num_vertices;
  if (model->kind == SHOWN_OWN && count > 0)
    memcpy(out, body->surface, sizeof *out * (size_t)count);
  for (int32_t i = 0; model->kind == SHOWN_BOUNDARY && i < count; ++i) {
    out[i] = body->positions[model->vertices[i]];
  }
  if (model->kind != SHOWN_EMBEDDED) return YW_OK;
  yw_tet_mesh tets;
  yw_surface_rig rig = shown_model_rig(model, &tets);
  return yw_surface_rig_move(&rig, body->positions, out);
}
