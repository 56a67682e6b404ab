// SPDX-License-Identifier: MIT
#include "playback/obj_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Longer lines (polygons with very many corners) are not understood.
#define MAX_LINE 8192
// Share of corners whose given normals must face outwards.
#define MOST_AGREE 0.95

typedef YW_LIST(char) text_list;

static bool append(text_list* out, const char* text, size_t length) {
  if (length > INT32_MAX / 2 || !YW_LIST_RESERVE(NULL, out, (int32_t)length + 1)) return false;
  memcpy(out->items + out->count, text, length);
  out->count += (int32_t)length;
  out->items[out->count] = '\0';
  return true;
}

// Lines -------------------------------------------------------------------------------------------

/// One line of a text, without its end.
typedef struct line {
  char text[MAX_LINE];
  size_t length;
} line;

// The next line; false at the end. *fits is false if the line is too long or continues.
static bool next_line(const char** at, const char* end, line* out, bool* fits) {
  if (*at >= end) return false;
  const char* stop = memchr(*at, '\n', (size_t)(end - *at));
  size_t length = (size_t)((stop ? stop : end) - *at);
  *fits = length < MAX_LINE && !(length > 0 && (*at)[length - 1] == '\\');
  out->length = *fits ? length : 0;
  memcpy(out->text, *at, out->length);
  while (out->length > 0 && out->text[out->length - 1] == '\r') --out->length;
  out->text[out->length] = '\0';
  *at = stop ? stop + 1 : end;
  return true;
}

static bool begins(const line* l, const char* word) {
  size_t length = strlen(word);
  return strncmp(l->text, word, length) == 0 && (l->text[length] == ' ' || l->text[length] == '\t');
}

/// A corner of a face: vertex, texture coordinate, normal; 0 if not given.
typedef struct corner {
  long index[3];
} corner;

// Reads "7/2/3", "7//3", "7/2" or "7" and moves on; false at the end of the line or an error.
static bool read_corner(const char** at, corner* out) {
  *at += strspn(*at, " \t");
  *out = (corner){{0, 0, 0}};
  for (int k = 0; k < 3; ++k) {
    char* end;
    out->index[k] = strtol(*at, &end, 10);
    if (k == 0 && (end == *at || out->index[0] == 0)) return false;
    *at = end;
    if (**at != '/') break;
    ++*at;
  }
  return **at == '\0' || **at == ' ' || **at == '\t';
}

static int print_corner(char* out, size_t room, const corner* c) {
  const long* i = c->index;
  if (i[1] != 0 && i[2] != 0) return snprintf(out, room, " %ld/%ld/%ld", i[0], i[1], i[2]);
  if (i[2] != 0) return snprintf(out, room, " %ld//%ld", i[0], i[2]);
  return i[1] != 0 ? snprintf(out, room, " %ld/%ld", i[0], i[1])
                   : snprintf(out, room, " %ld", i[0]);
}

// Taking ------------------------------------------------------------------------------------------

// A face with indices counted from the beginning; counts: of vertices, texture coordinates,
// normals.
static bool take_face(const line* l, const long counts[3], text_list* out) {
  const char* at = l->text + 1;
  corner c;
  bool done = append(out, "f", 1);
  while (done && read_corner(&at, &c)) {
    char piece[80];
    for (int k = 0; k < 3; ++k) {
      if (c.index[k] < 0) c.index[k] += counts[k] + 1;
      if (c.index[k] < 0 || c.index[k] > counts[k]) return false;
    }
    int length = print_corner(piece, sizeof piece, &c);
    done = append(out, piece, (size_t)length);
  }
  return done && *(at + strspn(at, " \t")) == '\0' && append(out, "\n", 1);
}

static bool take_line(const line* l, long counts[3], text_list* out) {
  static const char* const kept[] = {"mtllib", "usemtl", "g", "o", "s"};
  if (begins(l, "v")) ++counts[0];
  if (begins(l, "f")) return take_face(l, counts, out);
  bool texture = begins(l, "vt"), normal = begins(l, "vn"), keep = texture || normal;
  if (texture) ++counts[1];
  if (normal) ++counts[2];
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i) keep |= begins(l, kept[i]);
  return !keep || (append(out, l->text, l->length) && append(out, "\n", 1));
}

char* obj_source_take(const char* text, size_t size, int32_t num_vertices) {
  text_list out = {0};
  line* l = YW_NEW(NULL, line);
  const char *at = text, *end = text + size;
  long counts[3] = {0, 0, 0};
  bool good = l != NULL, fits;
  while (good && next_line(&at, end, l, &fits)) good = fits && take_line(l, counts, &out);
  yw_mem_free(NULL, l);
  if (good && counts[0] == num_vertices && out.count > 0) return out.items;
  YW_LIST_FREE(NULL, &out);
  return NULL;
}

// Normals -----------------------------------------------------------------------------------------

/// Axes at a vertex: the normal, and a tangent along one edge.
typedef struct axes {
  yw_vec3 normal, along, across;
} axes;

static axes axes_of(const yw_vec3* x, yw_vec3 normal, int32_t vertex, int32_t neighbour) {
  axes a = {.normal = yw_normalize_or(normal, yw_v3(0, 1, 0))};
  yw_vec3 edge = yw_sub(x[neighbour], x[vertex]);
  edge = yw_mad(edge, -yw_dot(edge, a.normal), a.normal);
  a.along =
      yw_normalize_or(edge, yw_normalize_or(yw_cross(a.normal, yw_v3(1, 0, 0)), yw_v3(0, 0, 1)));
  a.across = yw_cross(a.normal, a.along);
  return a;
}

/// Turns the normals of a file as the surface around their vertices turned.
typedef struct turner {
  const yw_tri_mesh *rest, *posed;
  yw_vec3 *rest_normals, *normals;  ///< of vertices
  int32_t* neighbours;              ///< of vertices, along an edge
} turner;

static void sum_normals(const yw_tri_mesh* mesh, const int32_t* triangles, int32_t count,
                        yw_vec3* out) {
  for (int32_t t = 0; t < count; ++t) {
    const int32_t* v = triangles + 3 * (size_t)t;
    yw_vec3 a = mesh->positions[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(mesh->positions[v[1]], a), yw_sub(mesh->positions[v[2]], a));
    for (int k = 0; k < 3; ++k) out[v[k]] = yw_add(out[v[k]], normal);
  }
}

static void turner_close(turner* t) {
  yw_mem_free(NULL, t->rest_normals);
  yw_mem_free(NULL, t->normals);
  yw_mem_free(NULL, t->neighbours);
}

static bool turner_open(const yw_tri_mesh* rest, const yw_tri_mesh* posed, turner* out) {
  *out = (turner){.rest = rest, .posed = posed};
  out->rest_normals = YW_NEW_ARRAY(NULL, yw_vec3, rest->num_vertices);
  out->normals = YW_NEW_ARRAY(NULL, yw_vec3, rest->num_vertices);
  out->neighbours = YW_NEW_ARRAY(NULL, int32_t, rest->num_vertices);
  if (!out->rest_normals || !out->normals || !out->neighbours) return false;
  sum_normals(rest, rest->triangles, rest->num_triangles, out->rest_normals);
  sum_normals(posed, rest->triangles, rest->num_triangles, out->normals);
  for (int32_t i = 0; i < 3 * rest->num_triangles; ++i) {
    out->neighbours[rest->triangles[i]] = rest->triangles[i % 3 == 2 ? i - 2 : i + 1];
  }
  return true;
}

static yw_vec3 turn_normal(const turner* t, int32_t v, yw_vec3 n) {
  axes from = axes_of(t->rest->positions, t->rest_normals[v], v, t->neighbours[v]);
  axes to = axes_of(t->posed->positions, t->normals[v], v, t->neighbours[v]);
  yw_vec3 out = yw_scale(to.normal, yw_dot(n, from.normal));
  out = yw_mad(out, yw_dot(n, from.along), to.along);
  return yw_mad(out, yw_dot(n, from.across), to.across);
}

// Reading normals ---------------------------------------------------------------------------------

typedef struct normal_reader {
  const yw_tri_mesh* surface;
  YW_LIST(yw_vec3) given;   ///< normals of the file
  YW_LIST(corner) polygon;  ///< of the face that is read
  int32_t triangle;         ///< the next without normals
  int32_t agree;            ///< corners whose normal and triangle face the same way
  yw_vec3* out;
} normal_reader;

// The polygon's corner at a vertex; NULL: none.
static const corner* corner_at(const normal_reader* r, int32_t vertex) {
  for (int32_t k = 0; k < r->polygon.count; ++k) {
    if (r->polygon.items[k].index[0] == vertex + 1) return &r->polygon.items[k];
  }
  return NULL;
}

static bool read_triangle(normal_reader* r) {
  const yw_vec3* x = r->surface->positions;
  if (r->triangle >= r->surface->num_triangles) return false;
  const int32_t* v = r->surface->triangles + 3 * (size_t)r->triangle;
  yw_vec3 face = yw_cross(yw_sub(x[v[1]], x[v[0]]), yw_sub(x[v[2]], x[v[0]]));
  for (int k = 0; k < 3; ++k) {
    const corner* c = corner_at(r, v[k]);
    if (!c || c->index[2] < 1 || c->index[2] > r->given.count) return false;
    yw_vec3 n = yw_normalize_or(r->given.items[c->index[2] - 1], yw_v3(0, 0, 0));
    r->out[3 * (size_t)r->triangle + (size_t)k] = n;
    r->agree += yw_dot(n, face) > 0.0f;
  }
  ++r->triangle;
  return true;
}

// A polygon of n corners was read as n - 2 triangles.
static bool read_polygon(normal_reader* r, const line* l) {
  const char* at = l->text + 1;
  corner c;
  r->polygon.count = 0;
  while (read_corner(&at, &c)) {
    if (!YW_LIST_RESERVE(NULL, &r->polygon, 1)) return false;
    r->polygon.items[r->polygon.count++] = c;
  }
  for (int32_t k = 2; k < r->polygon.count; ++k) {
    if (!read_triangle(r)) return false;
  }
  return true;
}

static bool read_normal(normal_reader* r, const line* l) {
  yw_vec3 n;
  if (sscanf(l->text + 2, "%f %f %f", &n.x, &n.y, &n.z) != 3) return false;
  if (!YW_LIST_RESERVE(NULL, &r->given, 1)) return false;
  r->given.items[r->given.count++] = n;
  return true;
}

yw_vec3* obj_source_normals(const char* source, const yw_tri_mesh* surface) {
  size_t corners = 3 * (size_t)surface->num_triangles;
  normal_reader r = {.surface = surface};
  const char *at = source, *end = source + strlen(source);
  line* l = YW_NEW(NULL, line);
  r.out = YW_NEW_ARRAY(NULL, yw_vec3, corners);
  bool good = l && r.out, fits;
  while (good && next_line(&at, end, l, &fits)) {
    good = fits && (!begins(l, "vn") || read_normal(&r, l)) &&
           (!begins(l, "f") || read_polygon(&r, l));
  }
  // Normals of a model that was turned or mirrored on the way would be wrong.
  good = good && r.triangle == surface->num_triangles &&
         (double)r.agree > MOST_AGREE * (double)corners;
  yw_mem_free(NULL, l);
  YW_LIST_FREE(NULL, &r.given);
  YW_LIST_FREE(NULL, &r.polygon);
  if (good) return r.out;
  yw_mem_free(NULL, r.out);
  return NULL;
}

// Writing -----------------------------------------------------------------------------------------

typedef struct obj_output {
  yw_file_writer file;
  turner turner;
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
static bool write_face(obj_output* o, const line* l) {
  const char* at = l->text + 1;
  line* face = YW_NEW(NULL, line);
  corner c;
  if (!face) return false;
  bool good = true;
  while (good && read_corner(&at, &c)) {
    good = c.index[0] >= 1 && c.index[0] <= o->turner.rest->num_vertices && c.index[1] >= 0 &&
           c.index[2] >= 0 && c.index[2] <= o->normals.count;
    if (good && c.index[2] > 0) {
      yw_vec3 n =
          turn_normal(&o->turner, (int32_t)c.index[0] - 1, o->normals.items[c.index[2] - 1]);
      yw_file_printf(&o->file, "vn %.6g %.6g %.6g\n", (double)n.x, (double)n.y, (double)n.z);
      c.index[2] = ++o->written;
    }
    size_t room = MAX_LINE - face->length;
    int length = good ? print_corner(face->text + face->length, room, &c) : 0;
    good = good && (size_t)length < room;
    if (good) face->length += (size_t)length;
  }
  yw_file_write(&o->file, "f", 1);
  yw_file_write(&o->file, face->text, face->length);
  yw_file_write(&o->file, "\n", 1);
  yw_mem_free(NULL, face);
  return good;
}

static bool write_line(obj_output* o, const line* l) {
  if (begins(l, "f")) return write_face(o, l);
  if (begins(l, "vn")) {
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
  line* l = YW_NEW(NULL, line);
  const char *at = source, *end = source + strlen(source);
  bool good = l && turner_open(rest, posed, &o.turner), fits;
  yw_status status =
      good ? yw_file_writer_open(&o.file, path, NULL, error) : yw_fail_memory(error, "an OBJ file");
  if (status >= 0) {
    write_vertices(&o.file, posed);
    while (good && next_line(&at, end, l, &fits)) good = fits && write_line(&o, l);
    if (good) {
      status = yw_file_writer_commit(&o.file, error);
    } else {
      yw_file_writer_abort(&o.file);
      status =
          yw_fail(error, YW_ERR_FORMAT, "%s: what the run keeps of its OBJ file is damaged", path);
    }
  }
  turner_close(&o.turner);
  YW_LIST_FREE(NULL, &o.normals);
  yw_mem_free(NULL, l);
  return status;
}
