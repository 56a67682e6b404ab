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

// comment material NUMBER NAME
static void put_materials(yw_file_writer* file, const yw_ply_look* look) {
  for (int32_t i = 0; i < look->num_materials; ++i) {
    yw_file_printf(file, "comment material %d ", i);
    for (const char* at = look->names[i]; *at; ++at) {
      yw_file_write(file, *at == '\n' || *at == '\r' ? "_" : at, 1);
    }
    yw_file_printf(file, "\n");
  }
}

static void put_header(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_look* look,
                       const yw_ply_field* fields, int32_t num_fields) {
  yw_file_printf(file,
                 "ply\nformat binary_little_endian 1.0\ncomment Yawara %s\n"
                 "comment positions: m\n",
                 yw_version());
  put_materials(file, look);
  for (int32_t i = 0; i < num_fields; ++i) put_comment(file, &fields[i]);
  yw_file_printf(file, "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n",
                 mesh->num_vertices);
  if (look->vertex_uvs) yw_file_printf(file, "property float s\nproperty float t\n");
  if (mesh->colors) {
    yw_file_printf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
  }
  for (int32_t i = 0; i < num_fields; ++i) {
    yw_file_printf(file, "property float ");
    put_property_name(file, fields[i].name);
    yw_file_printf(file, "\n");
  }
  if (mesh->num_triangles > 0) {
    yw_file_printf(file, "element face %d\nproperty list uchar int vertex_indices\n%s%s",
                   mesh->num_triangles,
                   look->corner_uvs ? "property list uchar float texcoord\n" : "",
                   look->materials ? "property int material_index\n" : "");
  }
  yw_file_printf(file, "end_header\n");
}

static void put_float(yw_file_writer* file, float value) {
  unsigned char bytes[4];
  yw_put_float_le(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

static void put_u32(yw_file_writer* file, uint32_t value) {
  unsigned char bytes[4];
  yw_put_u32_le(bytes, value);
  yw_file_write(file, bytes, sizeof bytes);
}

static void put_triangle(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_look* look,
                         size_t t) {
  yw_file_write(file, "\x03", 1);
  for (size_t k = 0; k < 3; ++k) put_u32(file, (uint32_t)mesh->triangles[3 * t + k]);
  if (look->corner_uvs) {
    yw_file_write(file, "\x06", 1);
    for (size_t k = 0; k < 6; ++k) put_float(file, look->corner_uvs[6 * t + k]);
  }
  if (look->materials) put_u32(file, (uint32_t)look->materials[t]);
}

static void put_mesh(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_look* look,
                     const yw_ply_field* fields, int32_t num_fields) {
  put_header(file, mesh, look, fields, num_fields);
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    put_float(file, mesh->positions[i].x);
    put_float(file, mesh->positions[i].y);
    put_float(file, mesh->positions[i].z);
    for (size_t k = 0; look->vertex_uvs && k < 2; ++k) {
      put_float(file, look->vertex_uvs[2 * (size_t)i + k]);
    }
    if (mesh->colors) {
      unsigned char color[3] = {color_byte(mesh->colors[i].x), color_byte(mesh->colors[i].y),
                                color_byte(mesh->colors[i].z)};
      yw_file_write(file, color, sizeof color);
    }
    for (int32_t k = 0; k < num_fields; ++k) put_float(file, fields[k].values[i]);
  }
  for (int32_t t = 0; t < mesh->num_triangles; ++t) put_triangle(file, mesh, look, (size_t)t);
}

void yw_ply_put(yw_file_writer* file, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                int32_t num_fields) {
  put_mesh(file, mesh, &(yw_ply_look){0}, fields, num_fields);
}

yw_status yw_ply_write_look(const char* path, const yw_tri_mesh* mesh, const yw_ply_look* look,
                            const yw_ply_field* fields, int32_t num_fields, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, &mesh->mem, error);
  if (status < 0) return status;
  put_mesh(&file, mesh, look, fields, num_fields);
  return yw_file_writer_commit(&file, error);
}

yw_status yw_ply_write(const char* path, const yw_tri_mesh* mesh, const yw_ply_field* fields,
                       int32_t num_fields, yw_error* error) {
  return yw_ply_write_look(path, mesh, &(yw_ply_look){0}, fields, num_fields, error);
}
