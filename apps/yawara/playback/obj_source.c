// SPDX-License-Identifier: MIT
#include "playback/obj_source.h"

#include <stdio.h>
#include <string.h>

#include "playback/obj_lines.h"
#include "playback/surface_turn.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

typedef YW_LIST(char) text_list;

static bool append(text_list* out, const char* text, size_t length) {
  if (length > INT32_MAX / 2 || !YW_LIST_RESERVE(NULL, out, (int32_t)length + 1)) return false;
  memcpy(out->items + out->count, text, length);
  out->count += (int32_t)length;
  out->items[out->count] = '\0';
  return true;
}

// Taking ------------------------------------------------------------------------------------------

// A face with indices counted from the beginning; counts: of vertices, texture coordinates,
// normals.
static bool take_face(const obj_line* l, const long counts[3], text_list* out) {
  const char* at = l->text + 1;
  obj_corner c;
  bool done = append(out, "f", 1);
  while (done && obj_read_corner(&at, &c)) {
    char piece[80];
    for (int k = 0; k < 3; ++k) {
      if (c.index[k] < 0) c.index[k] += counts[k] + 1;
      if (c.index[k] < 0 || c.index[k] > counts[k]) return false;
    }
    int length = obj_print_corner(piece, sizeof piece, &c);
    done = append(out, piece, (size_t)length);
  }
  return done && *(at + strspn(at, " \t")) == '\0' && append(out, "\n", 1);
}

static bool take_line(const obj_line* l, long counts[3], text_list* out) {
  static const char* const kept[] = {"mtllib", "usemtl", "g", "o", "s"};
  if (obj_begins(l, "v")) ++counts[0];
  if (obj_begins(l, "f")) return take_face(l, counts, out);
  bool texture = obj_begins(l, "vt"), normal = obj_begins(l, "vn"), keep = texture || normal;
  if (texture) ++counts[1];
  if (normal) ++counts[2];
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i) keep |= obj_begins(l, kept[i]);
  return !keep || (append(out, l->text, l->length) && append(out, "\n", 1));
}

char* obj_source_take(const char* text, size_t size, int32_t num_vertices) {
  text_list out = {0};
  obj_line* l = YW_NEW(NULL, obj_line);
  const char *at = text, *end = text + size;
  long counts[3] = {0, 0, 0};
  bool good = l != NULL, fits;
  while (good && obj_next_line(&at, end, l, &fits)) good = fits && take_line(l, counts, &out);
  yw_mem_free(NULL, l);
  if (good && counts[0] == num_vertices && out.count > 0) return out.items;
  YW_LIST_FREE(NULL, &out);
  return NULL;
}

char* obj_source_make(const yw_tri_mesh* surface, float* const uv[2], float* const normals[3]) {
  text_list out = {0};
  char piece[120];
  bool good = uv || normals;
  for (int32_t i = 0; good && uv && i < surface->num_vertices; ++i) {
    int length =
        snprintf(piece, sizeof piece, "vt %.9g %.9g\n", (double)uv[0][i], (double)uv[1][i]);
    good = append(&out, piece, (size_t)length);
  }
  for (int32_t i = 0; good && normals && i < surface->num_vertices; ++i) {
    int length = snprintf(piece, sizeof piece, "vn %.9g %.9g %.9g\n", (double)normals[0][i],
                          (double)normals[1][i], (double)normals[2][i]);
    good = append(&out, piece, (size_t)length);
  }
  for (int32_t t = 0; good && t < surface->num_triangles; ++t) {
    const int32_t* v = surface->triangles + 3 * (size_t)t;
    good = append(&out, "f", 1);
    for (int k = 0; good && k < 3; ++k) {
      obj_corner c = {.index = {v[k] + 1, uv ? v[k] + 1 : 0, normals ? v[k] + 1 : 0}};
      good = append(&out, piece, (size_t)obj_print_corner(piece, sizeof piece, &c));
    }
    good = good && append(&out, "\n", 1);
  }
  if (good) return out.items;
  YW_LIST_FREE(NULL, &out);
  return NULL;
}

// Line ends would end the name.
static bool append_material(text_list* out, const char* name) {
  bool good = append(out, "usemtl ", 7);
  for (const char* c = name; good && *c; ++c) {
    good = append(out, (unsigned char)*c < 0x20 ? " " : c, 1);
  }
  return good && append(out, "\n", 1);
}

static bool append_triangle(text_list* out, const int32_t* vertices, const int32_t* uvs,
                            const int32_t* normals) {
  bool good = append(out, "f", 1);
  for (int k = 0; good && k < 3; ++k) {
    obj_corner c = {.index = {vertices[k] + 1, uvs ? uvs[k] + 1 : 0, normals ? normals[k] + 1 : 0}};
    char piece[80];
    good = append(out, piece, (size_t)obj_print_corner(piece, sizeof piece, &c));
  }
  return good && append(out, "\n", 1);
}

static bool append_numbers(text_list* out, const char* word, int32_t count, int32_t components,
                           const float* numbers) {
  bool good = true;
  for (size_t i = 0; good && i < (size_t)count; ++i) {
    char piece[80];
    const float* n = numbers + i * (size_t)components;
    int length = snprintf(piece, sizeof piece, "%s %.9g %.9g", word, (double)n[0], (double)n[1]);
    good = append(out, piece, (size_t)length);
    length = components > 2 ? snprintf(piece, sizeof piece, " %.9g\n", (double)n[2])
                            : snprintf(piece, sizeof piece, "\n");
    good = good && append(out, piece, (size_t)length);
  }
  return good;
}

char* obj_source_of_look(const yw_tri_mesh* surface, const yw_mesh_look* look) {
  text_list out = {0};
  int32_t last = -1;
  bool good = (look->corners || look->materials || look->normal_corners) &&
              append_numbers(&out, "vt", look->num_uvs, 2, look->uvs) &&
              append_numbers(&out, "vn", look->num_normals, 3, (const float*)look->normals);
  for (int32_t t = 0; good && t < surface->num_triangles; ++t) {
    int32_t material = look->materials ? look->materials[t] : -1;
    if (material != last) {
      good = append_material(&out, material >= 0 ? look->names[material] : "default");
    }
    last = material;
    const int32_t* uvs = look->corners ? look->corners + 3 * (size_t)t : NULL;
    const int32_t* normals = look->normal_corners ? look->normal_corners + 3 * (size_t)t : NULL;
    good = good && append_triangle(&out, surface->triangles + 3 * (size_t)t, uvs, normals);
  }
  if (good) return out.items;
  YW_LIST_FREE(NULL, &out);
  return NULL;
}

char* obj_source_plain(const yw_tri_mesh* surface) {
  text_list out = {0};
  bool good = true;
  for (int32_t t = 0; good && t < surface->num_triangles; ++t) {
    good = append_triangle(&out, surface->triangles + 3 * (size_t)t, NULL, NULL);
  }
  if (good) return out.items;
  YW_LIST_FREE(NULL, &out);
  return NULL;
}

// Writing -----------------------------------------------------------------------------------------

typedef struct obj_output {
  yw_file_writer file;
  surface_turn turn;
  YW_LIST(yw_vec3) normals;  ///< of the source, at rest
  long written;              ///< normals in the output
} obj_output;

static void write_vertices(yw_file_writer* file, const yw_tri_mesh* mesh) {
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    const yw_vec3 p = mesh->positions[i];
    const float values[6] = {p.x,
                             p.y,
                             p.z,
                             mesh->colors ? mesh->colors[i].x : 0,
                             mesh->colors ? mesh->colors[i].y : 0,
                             mesh->colors ? mesh->colors[i].z : 0};
    yw_file_write(file, "v", 1);
    for (int k = 0; k < (mesh->colors ? 6 : 3); ++k) {
      yw_file_write(file, " ", 1);
      yw_file_write_float(file, values[k]);
    }
    yw_file_write(file, "\n", 1);
  }
}

// A face, after the normals of its corners as they are now.
static bool write_face(obj_output* o, const obj_line* l) {
  const char* at = l->text + 1;
  obj_line* face = YW_NEW(NULL, obj_line);
  obj_corner c;
  if (!face) return false;
  bool good = true;
  while (good && obj_read_corner(&at, &c)) {
    good = c.index[0] >= 1 && c.index[0] <= o->turn.rest->num_vertices && c.index[1] >= 0 &&
           c.index[2] >= 0 && c.index[2] <= o->normals.count;
    if (good && c.index[2] > 0) {
      yw_vec3 n =
          surface_turn_normal(&o->turn, (int32_t)c.index[0] - 1, o->normals.items[c.index[2] - 1]);
      yw_file_printf(&o->file, "vn %.6g %.6g %.6g\n", (double)n.x, (double)n.y, (double)n.z);
      c.index[2] = ++o->written;
    }
    size_t room = OBJ_MAX_LINE - face->length;
    int length = good ? obj_print_corner(face->text + face->length, room, &c) : 0;
    good = good && (size_t)length < room;
    if (good) face->length += (size_t)length;
  }
  yw_file_write(&o->file, "f", 1);
  yw_file_write(&o->file, face->text, face->length);
  yw_file_write(&o->file, "\n", 1);
  yw_mem_free(NULL, face);
  return good;
}

static bool write_line(obj_output* o, const obj_line* l) {
  if (obj_begins(l, "f")) return write_face(o, l);
  if (obj_begins(l, "vn")) {
    yw_vec3 n;
    if (sscanf(l->text + 2, "%f %f %f", &n.x, &n.y, &n.z) != 3) return false;
    if (!YW_LIST_RESERVE(NULL, &o->normals, 1)) return false;
    o->normals.items[o->normals.count++] = n;
    return true;
  }
  yw_file_write(&o->file, l->text, l->length);
  yw_file_write(&o->file, "\n", 1);
  return true;
}

yw_status obj_source_write(const char* path, const char* source, const yw_tri_mesh* rest,
                           const yw_tri_mesh* posed, yw_error* error) {
  obj_output o = {0};
  obj_line* l = YW_NEW(NULL, obj_line);
  const char *at = source, *end = source + strlen(source);
  bool good = l && surface_turn_open(rest, posed, &o.turn), fits;
  yw_status status =
      good ? yw_file_writer_open(&o.file, path, NULL, error) : yw_fail_memory(error, "an OBJ file");
  if (status >= 0) {
    write_vertices(&o.file, posed);
    while (good && obj_next_line(&at, end, l, &fits)) good = fits && write_line(&o, l);
    if (good) {
      status = yw_file_writer_commit(&o.file, error);
    } else {
      yw_file_writer_abort(&o.file);
      status =
          yw_fail(error, YW_ERR_FORMAT, "%s: what the run keeps of its OBJ file is damaged", path);
    }
  }
  surface_turn_close(&o.turn);
  YW_LIST_FREE(NULL, &o.normals);
  yw_mem_free(NULL, l);
  return status;
}
