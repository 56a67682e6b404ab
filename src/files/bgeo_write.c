// SPDX-License-Identifier: MIT
// Houdini's classic .bgeo, version 5, all big-endian:
//   "Bgeo" 'V' version; then eight 32-bit counts: points, primitives, point groups, primitive
//   groups, and attributes of points, vertices, primitives and the whole;
//   per point attribute: 16-bit length and characters of the name, 16-bit size, 32-bit type (0:
//   float, 5: vector), default;
//   per point: x y z w and the attributes, 32-bit floats;
//   an empty list of extras: 0x00 0xff.
#include "yawara/extend/bgeo_write.h"

#include <string.h>

#include "files/mesh_formats.h"
#include "yawara/extend/file.h"

enum { VERSION = 5, TYPE_FLOAT = 0, TYPE_VECTOR = 5, MOST_NAME = 255 };

static void put_u32(yw_file_writer* file, uint32_t value) {
  unsigned char bytes[4];
  yw_put_u32_be(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

static void put_u16(yw_file_writer* file, uint32_t value) {
  const unsigned char bytes[2] = {(unsigned char)(value >> 8), (unsigned char)value};
  yw_file_write(file, bytes, sizeof bytes);
}

static void put_float(yw_file_writer* file, float value) {
  unsigned char bytes[4];
  yw_put_float_be(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

static int32_t components_of(const yw_bgeo_field* field) { return field->vector ? 3 : 1; }

static void put_attribute(yw_file_writer* file, const yw_bgeo_field* field) {
  const char* name = field->name;
  size_t length = strlen(name);
  if (length > MOST_NAME) length = MOST_NAME;
  put_u16(file, (uint32_t)length);
  for (size_t i = 0; i < length; ++i) {
    char c = name[i];
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    yw_file_write(file, fine ? &c : "_", 1);
  }
  put_u16(file, (uint32_t)components_of(field));
  put_u32(file, field->vector ? TYPE_VECTOR : TYPE_FLOAT);
  for (int32_t c = 0; c < components_of(field); ++c) put_float(file, 0.0f);
}

static void put_values(yw_file_writer* file, const yw_bgeo_field* field, int32_t point) {
  const int32_t count = components_of(field);
  for (int32_t c = 0; c < count; ++c) {
    put_float(file, field->values[(size_t)count * (size_t)point + (size_t)c]);
  }
}

yw_status yw_bgeo_write(const char* path, int32_t num_points, const yw_vec3* positions,
                        const yw_bgeo_field* fields, int32_t num_fields, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_write(&file, "BgeoV", 5);
  const uint32_t counts[9] = {VERSION, (uint32_t)num_points, 0, 0, 0, (uint32_t)num_fields, 0, 0,
                              0};
  for (int i = 0; i < 9; ++i) put_u32(&file, counts[i]);
  for (int32_t k = 0; k < num_fields; ++k) put_attribute(&file, &fields[k]);
  for (int32_t i = 0; i < num_points; ++i) {
    put_float(&file, positions[i].x);
    put_float(&file, positions[i].y);
    put_float(&file, positions[i].z);
    put_float(&file, 1.0f);
    for (int32_t k = 0; k < num_fields; ++k) put_values(&file, &fields[k], i);
  }
  yw_file_write(&file, "\x00\xff", 2);
  return yw_file_writer_commit(&file, error);
}
