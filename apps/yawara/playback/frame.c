// SPDX-License-Identifier: MIT
#include "playback/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

enum { ACTIVE = 1, SURFACE = 2, RADII = 4, CELLS = 8 };

static const yw_model* model_of(const yw_world* world, int32_t body) {
  return yw_body_model(world, yw_world_body(world, body));
}

void frame_free(frame_data* frame) {
  for (int32_t i = 0; frame->bodies && i < frame->num_bodies; ++i) {
    yw_mem_free(NULL, frame->bodies[i].fields);
  }
  yw_mem_free(NULL, frame->bodies);
  yw_mem_free(NULL, frame->values);
  *frame = (frame_data){0};
}

// Fields by name --------------------------------------------------------------------------------

// True when the list is "all" or has the name among its commas.
static bool lists(const char* fields, const char* name) {
  if (!fields) return false;
  if (strcmp(fields, "all") == 0) return true;
  size_t length = strlen(name);
  for (const char* at = fields;; ++at) {
    size_t part = strcspn(at, ",");
    if (part == length && strncmp(at, name, part) == 0) return true;
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
    if (!some_body_has(world, name)) {
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

// Hands out parts of the one block of values; with NULL it only counts.
typedef struct value_room {
  uint32_t* values;
  size_t used;
} value_room;

static void* take_values(value_room* room, size_t count) {
  void* part = room->values ? room->values + room->used : NULL;
  room->used += count;
  return part;
}

static bool cells_are_the_models(const yw_world* world, int32_t body, int32_t count) {
  const yw_tet_mesh* tets = yw_model_tets(model_of(world, body));
  if (count != tets->num_tets) return false;
  if (count == 0) return true;
  int32_t* cells = YW_NEW_ARRAY(NULL, int32_t, 4 * (size_t)count);
  bool same = cells && yw_body_cells(world, yw_world_body(world, body), cells, count) == count &&
              memcmp(cells, tets->tets, sizeof(int32_t) * 4 * (size_t)count) == 0;
  yw_mem_free(NULL, cells);
  return same;
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
    if (values && yw_body_field_values(world, id, i, values, size) < 0) return false;
  }
  return true;
}

static bool take_body(const yw_world* world, int32_t body, const char* fields, value_room* room,
                      frame_body* out) {
  yw_body_id id = yw_world_body(world, body);
  const yw_model* model = yw_body_model(world, id);
  const yw_tri_mesh* surface = yw_model_surface(model);
  out->active = yw_body_is_active(world, id);
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
  const float* r = surface->num_triangles == 0 ? yw_body_radii(world, id, NULL) : NULL;
  if (r) {
    float* radii = take_values(room, count);
    if (radii) memcpy(radii, r, sizeof *r * count);
    out->radii = radii;
  }
  out->num_cells = yw_body_cells(world, id, NULL, 0);
  if (!cells_are_the_models(world, body, out->num_cells)) {
    int32_t* cells = take_values(room, 4 * (size_t)out->num_cells);
    if (cells && yw_body_cells(world, id, cells, out->num_cells) < 0) return false;
    out->cells = cells;
  }
  return take_fields(world, id, fields, room, out);
}

yw_status frame_of_world(const yw_world* world, int32_t number, const char* fields, frame_data* out,
                         yw_error* error) {
  int32_t bodies = yw_world_num_bodies(world);
  *out = (frame_data){.number = number, .time = yw_world_time(world), .num_bodies = bodies};
  out->bodies = YW_NEW_ARRAY(NULL, frame_body, bodies);
  bool ok = out->bodies != NULL;
  // Once to count, once to fill.
  value_room room = {0};
  for (int pass = 0; pass < 2 && ok; ++pass) {
    room.used = 0;
    for (int32_t i = 0; i < bodies && ok; ++i) {
      ok = take_body(world, i, fields, &room, &out->bodies[i]);
    }
    if (pass == 0 && ok) ok = (out->values = YW_NEW_ARRAY(NULL, uint32_t, room.used)) != NULL;
    room.values = out->values;
  }
  if (ok) return YW_OK;
  frame_free(out);
  return yw_fail_memory(error, "a frame");
}

// Use -------------------------------------------------------------------------------------------

static bool body_fits(const frame_body* body, const yw_model* model) {
  const yw_tet_mesh* tets = yw_model_tets(model);
  bool has_state = yw_model_surface_has_state(model);
  if (has_state != (body->surface != NULL)) return false;
  if (has_state && body->num_surface != yw_model_surface(model)->num_vertices) return false;
  if (body->num_particles < tets->num_vertices) return false;
  return body->cells || body->num_cells == tets->num_tets;
}

bool frame_fits(const frame_data* frame, const yw_world* world) {
  if (frame->num_bodies != yw_world_num_bodies(world)) return false;
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    if (!body_fits(&frame->bodies[i], model_of(world, i))) return false;
  }
  return true;
}

void frame_surface(const frame_body* body, const yw_model* model, yw_vec3* out) {
  size_t count = (size_t)yw_model_surface(model)->num_vertices;
  if (body->surface) {
    if (count > 0) memcpy(out, body->surface, sizeof *out * count);
  } else {
    yw_model_surface_positions(model, body->positions, out);
  }
}

// Bytes -----------------------------------------------------------------------------------------

static void write_text(yw_writer* writer, const char* text) {
  size_t length = strlen(text);
  yw_write_u32(writer, (uint32_t)length);
  yw_write_bytes(writer, text, length);
}

static void write_body(const frame_body* body, yw_writer* writer) {
  size_t count = (size_t)body->num_particles;
  uint32_t flags = (body->active ? ACTIVE : 0u) | (body->surface ? SURFACE : 0u) |
                   (body->radii ? RADII : 0u) | (body->cells ? CELLS : 0u);
  yw_write_u32(writer, flags);
  yw_write_u32(writer, (uint32_t)count);
  yw_write_f32(writer, (const float*)body->positions, 3 * count);
  if (body->surface) {
    yw_write_u32(writer, (uint32_t)body->num_surface);
    yw_write_f32(writer, (const float*)body->surface, 3 * (size_t)body->num_surface);
  }
  if (body->radii) yw_write_f32(writer, body->radii, count);
  yw_write_u32(writer, (uint32_t)body->num_cells);
  for (size_t i = 0; body->cells && i < 4 * (size_t)body->num_cells; ++i) {
    yw_write_u32(writer, (uint32_t)body->cells[i]);
  }
  yw_write_u32(writer, (uint32_t)body->num_fields);
  for (int32_t i = 0; i < body->num_fields; ++i) {
    const frame_field* field = &body->fields[i];
    write_text(writer, field->name);
    write_text(writer, field->unit);
    yw_write_u32(writer, field->per_cell);
    yw_write_f32(writer, field->values, (size_t)field->count);
  }
}

void frame_write(const frame_data* frame, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)frame->number);
  yw_write_f64(writer, frame->time);
  yw_write_u32(writer, (uint32_t)frame->num_bodies);
  for (int32_t i = 0; i < frame->num_bodies; ++i) write_body(&frame->bodies[i], writer);
}

// A count of things of `size` bytes each that are still to come.
static bool read_count(yw_reader* reader, size_t size, int32_t* out) {
  uint32_t count = yw_read_u32(reader);
  if (reader->failed || count > (reader->size - reader->offset) / size) return false;
  *out = (int32_t)count;
  return true;
}

static const float* read_floats(yw_reader* reader, value_room* room, size_t count) {
  float* values = NULL;
  if (count <= (reader->size - reader->offset) / sizeof(float)) values = take_values(room, count);
  if (values) yw_read_f32(reader, values, count);
  return values;
}

static bool read_text(yw_reader* reader, char* out, size_t capacity) {
  int32_t length;
  if (!read_count(reader, 1, &length) || (size_t)length >= capacity) return false;
  yw_read_bytes(reader, out, (size_t)length);
  out[length] = '\0';
  return strlen(out) == (size_t)length;
}

static bool read_cells(yw_reader* reader, value_room* room, frame_body* out) {
  size_t corners = 4 * (size_t)out->num_cells;
  if (corners > (reader->size - reader->offset) / 4) return false;
  int32_t* cells = take_values(room, corners);
  for (size_t i = 0; i < corners; ++i) {
    uint32_t corner = yw_read_u32(reader);
    if (corner >= (uint32_t)out->num_particles) return false;
    cells[i] = (int32_t)corner;
  }
  out->cells = cells;
  return true;
}

static bool read_fields(yw_reader* reader, value_room* room, frame_body* out) {
  int32_t count;
  // Each has two lengths and a flag at least.
  if (!read_count(reader, 12, &count)) return false;
  out->fields = YW_NEW_ARRAY(NULL, frame_field, count);
  if (!out->fields) return false;
  for (int32_t i = 0; i < count; ++i) {
    frame_field* field = &out->fields[out->num_fields++];
    if (!read_text(reader, field->name, sizeof field->name) ||
        !read_text(reader, field->unit, sizeof field->unit)) {
      return false;
    }
    field->per_cell = yw_read_u32(reader) != 0;
    field->count = field->per_cell ? out->num_cells : out->num_particles;
    field->values = read_floats(reader, room, (size_t)field->count);
    if (!field->values) return false;
  }
  return true;
}

static bool read_body(yw_reader* reader, value_room* room, frame_body* out) {
  uint32_t flags = yw_read_u32(reader);
  if (flags > 15 || !read_count(reader, sizeof(yw_vec3), &out->num_particles)) return false;
  size_t count = (size_t)out->num_particles;
  out->active = (flags & ACTIVE) != 0;
  out->positions = (const yw_vec3*)read_floats(reader, room, 3 * count);
  if (flags & SURFACE) {
    if (!read_count(reader, sizeof(yw_vec3), &out->num_surface)) return false;
    out->surface = (const yw_vec3*)read_floats(reader, room, 3 * (size_t)out->num_surface);
  }
  if (flags & RADII) out->radii = read_floats(reader, room, count);
  if ((flags & RADII) && !out->radii) return false;
  out->num_cells = (int32_t)yw_read_u32(reader);
  if (reader->failed || out->num_cells < 0) return false;
  if ((flags & CELLS) && !read_cells(reader, room, out)) return false;
  return read_fields(reader, room, out);
}

bool frame_read(yw_reader* reader, frame_data* out) {
  *out = (frame_data){.number = (int32_t)yw_read_u32(reader), .time = yw_read_f64(reader)};
  int32_t bodies;
  // Every body has four numbers at least; all arrays together are no longer than what is left.
  if (!read_count(reader, 16, &bodies)) return false;
  out->bodies = YW_NEW_ARRAY(NULL, frame_body, bodies);
  out->values = YW_NEW_ARRAY(NULL, uint32_t, (reader->size - reader->offset) / 4 + 1);
  if (!out->bodies || !out->values) return false;
  out->num_bodies = bodies;
  value_room room = {.values = out->values};
  for (int32_t i = 0; i < bodies; ++i) {
    if (!read_body(reader, &room, &out->bodies[i])) return false;
  }
  return !reader->failed && reader->offset == reader->size;
}
