// SPDX-License-Identifier: MIT
// The frame files of a run, see docs/runs.md.
#include "playback/bytes.h"
#include "playback/frame.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/shared_body.h"

enum { ACTIVE = 1, SURFACE = 2, RADII = 4, CELLS = 8, CELLS_OF_FRAME = 16, PARTED = 32 };
enum { ALL_FLAGS = 63 };

// Writing -----------------------------------------------------------------------------------------

static void write_cells(const frame_body* body, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)body->num_cells);
  if (body->cells) {
    write_indices(writer, body->cells, 4 * (size_t)body->num_cells);
  } else if (body->cells_frame >= 0) {
    yw_write_u32(writer, (uint32_t)body->cells_frame);
  }
}

static void write_start(const frame_body* body, bool surface, bool radii, bool parted,
                        yw_writer* writer) {
  uint32_t flags = (body->active ? ACTIVE : 0u) | (surface ? SURFACE : 0u) | (radii ? RADII : 0u) |
                   (body->cells ? CELLS : 0u) |
                   (!body->cells && body->cells_frame >= 0 ? CELLS_OF_FRAME : 0u) |
                   (parted ? PARTED : 0u);
  yw_write_u32(writer, flags);
  yw_write_u32(writer, (uint32_t)body->num_particles);
}

static void write_lists(const frame_body* body, yw_writer* writer) {
  size_t count = (size_t)body->num_particles;
  write_start(body, body->surface, body->radii, body->parted, writer);
  write_vectors(writer, body->positions, body->num_particles);
  if (body->surface) {
    yw_write_u32(writer, (uint32_t)body->num_surface);
    write_vectors(writer, body->surface, body->num_surface);
  }
  if (body->radii) yw_write_f32(writer, body->radii, count);
  if (body->parted) yw_write_f32(writer, body->parted, count);
}

// Cells and fields.
static void write_rest(const frame_body* body, yw_writer* writer) {
  write_cells(body, writer);
  yw_write_u32(writer, (uint32_t)body->num_fields);
  for (int32_t i = 0; i < body->num_fields; ++i) {
    const frame_field* field = &body->fields[i];
    write_text(writer, field->name);
    write_text(writer, field->unit);
    write_text(writer, field->meaning);
    yw_write_u32(writer, field->per_cell);
    yw_write_f32(writer, field->values, (size_t)field->count);
  }
}

static void write_head(const frame_data* frame, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)frame->number);
  yw_write_f64(writer, frame->time);
  yw_write_u32(writer, (uint32_t)frame->num_obstacles);
  for (int32_t i = 0; i < frame->num_obstacles; ++i) {
    const yw_transform* t = &frame->obstacles[i];
    const float pose[8] = {t->position.x, t->position.y, t->position.z, t->rotation.x,
                           t->rotation.y, t->rotation.z, t->rotation.w, t->scale};
    yw_write_f32(writer, pose, 8);
  }
  yw_write_u32(writer, (uint32_t)frame->num_bodies);
}

void frame_write(const frame_data* frame, yw_writer* writer) {
  write_head(frame, writer);
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    write_lists(&frame->bodies[i], writer);
    write_rest(&frame->bodies[i], writer);
  }
}

// Writing by ranks --------------------------------------------------------------------------------

// The next list of a body, with so many numbers.
static void leave_room(yw_shown_place* places, int32_t* count, yw_shown_values values,
                       size_t numbers, yw_writer* writer) {
  places[(*count)++] = (yw_shown_place){values, writer->size};
  writer->size += 4 * numbers;
}

// Whether a body has parted is known, and written, after its lists.
static yw_status write_shared_lists(const frame_body* body, const yw_world* world, yw_body_id id,
                                    const char* path, yw_writer* writer, yw_error* error) {
  yw_shown_place places[4];
  int32_t num_places = 0, parted = 0;
  size_t count = (size_t)body->num_particles;
  yw_writer start = *writer;
  write_start(body, body->has_surface, body->has_radii, false, writer);
  leave_room(places, &num_places, YW_SHOWN_POSITIONS, 3 * count, writer);
  if (body->has_surface) {
    yw_write_u32(writer, (uint32_t)body->num_surface);
    leave_room(places, &num_places, YW_SHOWN_SURFACE, 3 * (size_t)body->num_surface, writer);
  }
  if (body->has_radii) leave_room(places, &num_places, YW_SHOWN_RADII, count, writer);
  size_t end = writer->size;
  if (body->may_part) leave_room(places, &num_places, YW_SHOWN_PARTED, count, writer);
  yw_status status = yw_body_write_shown(world, id, num_places, places, path, &parted, error);
  if (parted > 0) {
    write_start(body, body->has_surface, body->has_radii, true, &start);
  } else {
    writer->size = end;
  }
  return status;
}

yw_status frame_write_shared(const frame_data* frame, const yw_world* world, const char* path,
                             uint64_t offset, uint64_t* size, yw_error* error) {
  yw_file_part* part = NULL;
  yw_status status = yw_file_part_open(path, NULL, &part, error);
  if (status < 0) return status;
  yw_writer writer = {.put = yw_file_part_put, .context = part, .size = (size_t)offset};
  write_head(frame, &writer);
  for (int32_t i = 0; i < frame->num_bodies && status >= 0; ++i) {
    const frame_body* body = &frame->bodies[i];
    if (body->is_shared) {
      status = write_shared_lists(body, world, yw_world_body(world, i), path, &writer, error);
    } else {
      write_lists(body, &writer);
    }
    write_rest(body, &writer);
  }
  *size = writer.size - offset;
  yw_status closed = yw_file_part_close(part, path, false, status < 0 ? NULL : error);
  return status < 0 ? status : closed;
}

// Reading -----------------------------------------------------------------------------------------

// Hands out parts of one block that is as large as all the numbers in the file.
typedef struct number_room {
  uint32_t* next;
} number_room;

static void* take_numbers(number_room* room, size_t count) {
  void* part = room->next;
  room->next += count;
  return part;
}

static const float* read_floats(yw_reader* reader, number_room* room, size_t count) {
  if (!has_room(reader, count, sizeof(float))) return NULL;
  float* values = take_numbers(room, count);
  yw_read_f32(reader, values, count);
  return values;
}

static bool read_cells(yw_reader* reader, number_room* room, uint32_t flags, int32_t number,
                       frame_body* out) {
  uint32_t count = yw_read_u32(reader);
  if (reader->failed || count > INT32_MAX) return false;
  out->num_cells = (int32_t)count;
  out->cells_frame = flags & CELLS ? number : -1;
  if (flags & CELLS_OF_FRAME) {
    // Cells are only referred to after the frame that stores them.
    return !(flags & CELLS) && read_indices(reader, 1, number, &out->cells_frame);
  }
  if (!(flags & CELLS)) return true;
  if (!has_room(reader, count, 16)) return false;
  int32_t* cells = take_numbers(room, 4 * (size_t)count);
  out->cells = cells;
  return read_indices(reader, 4 * (size_t)count, out->num_particles, cells);
}

static bool read_fields(yw_reader* reader, number_room* room, frame_body* out) {
  int32_t count;
  // Each has at least three lengths and a flag.
  if (!read_count(reader, 16, &count)) return false;
  out->fields = YW_NEW_ARRAY(NULL, frame_field, count);
  if (!out->fields) return false;
  for (int32_t i = 0; i < count; ++i) {
    frame_field* field = &out->fields[out->num_fields++];
    if (!read_text(reader, field->name, sizeof field->name) ||
        !read_text(reader, field->unit, sizeof field->unit) ||
        !read_text(reader, field->meaning, sizeof field->meaning)) {
      return false;
    }
    field->per_cell = yw_read_u32(reader) != 0;
    field->count = field->per_cell ? out->num_cells : out->num_particles;
    field->values = read_floats(reader, room, (size_t)field->count);
    if (!field->values) return false;
  }
  return true;
}

static bool read_body(yw_reader* reader, number_room* room, int32_t number, frame_body* out) {
  uint32_t flags = yw_read_u32(reader);
  if (flags > ALL_FLAGS || !read_count(reader, sizeof(yw_vec3), &out->num_particles)) return false;
  size_t count = (size_t)out->num_particles;
  out->active = (flags & ACTIVE) != 0;
  out->positions = (const yw_vec3*)read_floats(reader, room, 3 * count);
  if (flags & SURFACE) {
    if (!read_count(reader, sizeof(yw_vec3), &out->num_surface)) return false;
    out->surface = (const yw_vec3*)read_floats(reader, room, 3 * (size_t)out->num_surface);
  }
  if (flags & RADII) out->radii = read_floats(reader, room, count);
  if ((flags & RADII) && !out->radii) return false;
  if (flags & PARTED) out->parted = read_floats(reader, room, count);
  if ((flags & PARTED) && !(out->parted && out->radii && out->surface)) return false;
  return read_cells(reader, room, flags, number, out) && read_fields(reader, room, out);
}

static bool read_poses(yw_reader* reader, frame_data* out) {
  int32_t count;
  if (!read_count(reader, 32, &count)) return false;
  out->obstacles = YW_NEW_ARRAY(NULL, yw_transform, count);
  if (!out->obstacles) return false;
  out->num_obstacles = count;
  for (int32_t i = 0; i < count; ++i) {
    float p[8];
    yw_read_f32(reader, p, 8);
    out->obstacles[i] = (yw_transform){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}, p[7]};
  }
  return true;
}

static bool read_bodies(yw_reader* reader, frame_data* out) {
  int32_t bodies;
  // Every body has at least four numbers; all arrays together fit in the remaining bytes.
  if (!read_count(reader, 16, &bodies)) return false;
  out->bodies = YW_NEW_ARRAY(NULL, frame_body, bodies);
  out->values = YW_NEW_ARRAY(NULL, uint32_t, (reader->size - reader->offset) / 4 + 1);
  if (!out->bodies || !out->values) return false;
  out->num_bodies = bodies;
  number_room room = {out->values};
  for (int32_t i = 0; i < bodies; ++i) {
    if (!read_body(reader, &room, out->number, &out->bodies[i])) return false;
  }
  return !reader->failed && reader->offset == reader->size;
}

yw_status frame_read(yw_reader* reader, frame_data* out) {
  uint32_t number = yw_read_u32(reader);
  *out = (frame_data){.number = (int32_t)number, .time = yw_read_f64(reader)};
  if (number > INT32_MAX) return YW_ERR_FORMAT;
  return read_poses(reader, out) && read_bodies(reader, out) ? YW_OK : YW_ERR_FORMAT;
}
