// SPDX-License-Identifier: MIT
#include "yawara/extend/ply_write.h"

#include "files/mesh_formats.h"

static unsigned char color_byte(float value) {
  return (unsigned char)(value > 0.0f ? value < 1.0f ? value * 255.0f + 0.5f : 255.0f : 0.0f);
}

static void put_property_name(yw_file_writer* file, const char* name) {
  for (; *name; ++name) {
    char c = *name;
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    yw_file_write(file, fine ? &c : "_", 1);
  }
}

// comment NAME: UNIT, MEANING
static void put_comment(yw_file_writer* file, const yw_ply_field* field) {
  bool unit = field->unit && *field->unit, meaning = field->meaning && *field->meaning;
  if (!unit && !meaning) return;
  yw_file_printf(file, "comment ");
  put_property_name(file, field->name);
  yw_file_printf(file, ": %s%s%s\n", unit ? field->unit : "", unit && meaning ? ", " : "",
                 meaning ? field->meaning : "");
}

static void put_header(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                       int32_t num_fields) {
  yw_file_printf(file,
                 "ply\nformat binary_little_endian 1.0\ncomment Yawara %s\n"
                 "comment positions: m\n",
                 yw_version());
  for (int32_t i = 0; i < num_fields; ++i) put_comment(file, &fields[i]);
  yw_file_printf(file, "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n",
                 mesh->num_vertices);
  if (mesh->colors) {
    yw_file_printf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
  }
  for (int32_t i = 0; i < num_fields; ++i) {
    yw_file_printf(file, "property float ");
    put_property_name(file, fields[i].name);
    yw_file_printf(file, "\n");
  }
  if (mesh->num_triangles > 0) {
    yw_file_printf(file, "element face %d\nproperty list uchar int vertex_indices\n",
                   mesh->num_triangles);
  }
  yw_file_printf(file, "end_header\n");
}

static void put_float(yw_file_writer* file, float value) {
  unsigned char bytes[4];
  yw_put_float_le(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

void yw_ply_put(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                int32_t num_fields) {
  put_header(file, mesh, fields, num_fields);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    put_float(file, mesh->positions[i].x);
    put_float(file, mesh->positions[i].y);
    put_float(file, mesh->positions[i].z);
    if (mesh->colors) {
      unsigned char color[3] = {color_byte(mesh->colors[i].x), color_byte(mesh->colors[i].y),
                                color_byte(mesh->colors[i].z)};
      yw_file_write(file, color, sizeof color);
    }
    for (int32_t k = 0; k < num_fields; ++k) put_float(file, fields[k].values[i]);
  }
  for (int32_t i = 0; i < mesh->num_triangles; ++i) {
    unsigned char bytes[13] = {3};
    for (size_t k = 0; k < 3; ++k) {
      yw_put_u32_le(bytes + 1 + 4 * k, (uint32_t)mesh->triangles[3 * (size_t)i + k]);
    }
    yw_file_write(file, bytes, sizeof bytes);
  }
}

yw_status yw_ply_write(const char* path, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                       int32_t num_fields, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, &mesh->mem, error);
  if (status < 0) return status;
  yw_ply_put(&file, mesh, fields, num_fields);
  return yw_file_writer_commit(&file, error);
}
