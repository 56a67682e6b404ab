// SPDX-License-Identifier: MIT
#include "playback/usd_file.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

typedef struct usd_text {
  const usd_file* u;
  yw_file_writer f;
  float* values;  // room for the largest stream
  bool failed;    // the numbers could not be read
} usd_text;

size_t usd_stream_size(const usd_file* u, int32_t part, usd_stream stream) {
  const usd_part* own = &u->own[part];
  size_t points = (size_t)own->num_points;
  if (stream == USD_NORMALS) return 3 * (size_t)u->parts->items[part].num_points;
  return stream == USD_WIDTHS ? points : 3 * points;
}

// Values ------------------------------------------------------------------------------------------

static void write_tuples(yw_file_writer* f, const float* values, size_t count, size_t width) {
  yw_file_write(f, "[", 1);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) yw_file_write(f, ", ", 2);
    if (width > 1) yw_file_write(f, "(", 1);
    for (size_t k = 0; k < width; ++k) {
      if (k > 0) yw_file_write(f, ", ", 2);
      yw_file_write_float(f, values[width * i + k]);
    }
    if (width > 1) yw_file_write(f, ")", 1);
  }
  yw_file_write(f, "]", 1);
}

static void write_integers(yw_file_writer* f, const char* name, const int32_t* values,
                           size_t count) {
  yw_file_printf(f, "        int[] %s = [", name);
  for (size_t i = 0; i < count; ++i) yw_file_printf(f, i > 0 ? ", %d" : "%d", values[i]);
  yw_file_printf(f, "]\n");
}

// Quotes, backslashes and control characters are escaped; the rest is UTF-8 as it is.
static void write_string(yw_file_writer* f, const char* text) {
  yw_file_write(f, "\"", 1);
  for (const char* c = text; *c; ++c) {
    if (*c == '"' || *c == '\\') yw_file_write(f, "\\", 1);
    if ((unsigned char)*c < 0x20) {
      yw_file_printf(f, "\\x%02x", (unsigned)*c);
    } else {
      yw_file_write(f, c, 1);
    }
  }
  yw_file_write(f, "\"", 1);
}

// Reads a stream of a frame into text->values. A part that does not morph has one frame only.
static void read_stream(usd_text* t, int32_t part, usd_stream stream, int32_t frame) {
  const usd_file* u = t->u;
  size_t size = usd_stream_size(u, part, stream);
  uint64_t at = (uint64_t)frame * u->frame_size + u->own[part].at[stream];
  bool found = fseeko(u->numbers, (off_t)(at * sizeof(float)), SEEK_SET) == 0;
  if (!found || fread(t->values, sizeof(float), size, u->numbers) != size) t->failed = true;
}

static int32_t frames_of(const usd_file* u, int32_t part) {
  return u->parts->items[part].morphs ? u->num_frames : 1;
}

static void write_sample(usd_text* t, int32_t part, usd_stream stream, int32_t frame) {
  size_t width = stream == USD_WIDTHS ? 1 : 3;
  read_stream(t, part, stream, frame);
  write_tuples(&t->f, t->values, usd_stream_size(t->u, part, stream) / width, width);
}

// "TYPE NAME = [...]", the first frame, for programs without a time; then all samples.
static void write_stream(usd_text* t, int32_t part, usd_stream stream, const char* declaration,
                         const char* metadata) {
  yw_file_writer* f = &t->f;
  int32_t frames = frames_of(t->u, part);
  if (!t->u->own[part].has[stream]) return;
  yw_file_printf(f, "        %s = ", declaration);
  write_sample(t, part, stream, 0);
  yw_file_printf(f, "%s\n", metadata);
  if (frames == 1) return;
  yw_file_printf(f, "        %s.timeSamples = {\n", declaration);
  for (int32_t i = 0; i < frames; ++i) {
    yw_file_printf(f, "            %d: ", t->u->first + i);
    write_sample(t, part, stream, i);
    yw_file_printf(f, ",\n");
  }
  yw_file_printf(f, "        }\n");
}

// Boxes of the points, with their widths.
static void write_extent(usd_text* t, int32_t part) {
  yw_file_writer* f = &t->f;
  int32_t frames = frames_of(t->u, part), points = t->u->own[part].num_points;
  yw_file_printf(f, "        float3[] extent%s", frames > 1 ? ".timeSamples = {\n" : " = ");
  for (int32_t i = 0; i < frames; ++i) {
    float box[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX}, wide = 0.0f;
    if (t->u->own[part].has[USD_WIDTHS]) {
      read_stream(t, part, USD_WIDTHS, i);
      for (int32_t k = 0; k < points; ++k) wide = fmaxf(wide, t->values[k]);
    }
    read_stream(t, part, USD_POINTS, i);
    for (int32_t k = 0; k < 3 * points; ++k) {
      box[k % 3] = fminf(box[k % 3], t->values[k] - 0.5f * wide);
      box[3 + k % 3] = fmaxf(box[3 + k % 3], t->values[k] + 0.5f * wide);
    }
    if (frames > 1) yw_file_printf(f, "            %d: ", t->u->first + i);
    write_tuples(f, box, 2, 3);
    yw_file_printf(f, frames > 1 ? ",\n" : "\n");
  }
  if (frames > 1) yw_file_printf(f, "        }\n");
}

// Motion ------------------------------------------------------------------------------------------

static void write_visibility(usd_text* t, int32_t part) {
  const usd_file* u = t->u;
  const uint8_t* active = u->active + part;
  size_t step = (size_t)u->parts->count;
  bool always = true;
  for (size_t i = 0; i < (size_t)u->num_frames; ++i) always = always && active[i * step];
  if (always) return;
  yw_file_printf(&t->f, "        token visibility.timeSamples = {\n");
  for (int32_t i = 0; i < u->num_frames; ++i) {
    bool same = i > 0 && active[(size_t)i * step] == active[(size_t)(i - 1) * step];
    if (same) continue;
    yw_file_printf(&t->f, "            %d: \"%s\",\n", u->first + i,
                   active[(size_t)i * step] ? "inherited" : "invisible");
  }
  yw_file_printf(&t->f, "        }\n");
}

typedef void (*write_pose)(yw_file_writer* f, const yw_transform* pose);

static void write_position(yw_file_writer* f, const yw_transform* pose) {
  const float p[3] = {pose->position.x, pose->position.y, pose->position.z};
  for (int k = 0; k < 3; ++k) {
    yw_file_printf(f, k == 0 ? "(" : ", ");
    yw_file_write_float(f, p[k]);
  }
  yw_file_printf(f, ")");
}

static void write_rotation(yw_file_writer* f, const yw_transform* pose) {
  yw_quat q = yw_quat_normalize(pose->rotation);
  const float p[4] = {q.w, q.x, q.y, q.z};
  for (int k = 0; k < 4; ++k) {
    yw_file_printf(f, k == 0 ? "(" : ", ");
    yw_file_write_float(f, p[k]);
  }
  yw_file_printf(f, ")");
}

static void write_scale(yw_file_writer* f, const yw_transform* pose) {
  const yw_transform as_place = {.position = {pose->scale, pose->scale, pose->scale}};
  write_position(f, &as_place);
}

static void write_operation(usd_text* t, int32_t part, int32_t frames, const char* declaration,
                            write_pose write) {
  yw_file_writer* f = &t->f;
  size_t step = (size_t)t->u->parts->count;
  yw_file_printf(f, "        %s%s", declaration, frames > 1 ? ".timeSamples = {\n" : " = ");
  for (int32_t i = 0; i < frames; ++i) {
    if (frames > 1) yw_file_printf(f, "            %d: ", t->u->first + i);
    write(f, &t->u->poses[(size_t)i * step + (size_t)part]);
    yw_file_printf(f, frames > 1 ? ",\n" : "\n");
  }
  if (frames > 1) yw_file_printf(f, "        }\n");
}

// Of obstacles that move as a whole, or stand elsewhere than at the origin.
static void write_transform(usd_text* t, int32_t part) {
  const usd_file* u = t->u;
  const export_part* p = &u->parts->items[part];
  const yw_transform* poses = u->poses + part;
  size_t step = (size_t)u->parts->count;
  if (!p->obstacle || p->morphs) return;
  bool moves = false;
  for (size_t i = 1; i < (size_t)u->num_frames; ++i) {
    moves |= memcmp(&poses[i * step], poses, sizeof *poses) != 0;
  }
  int32_t frames = moves ? u->num_frames : 1;
  write_operation(t, part, frames, "double3 xformOp:translate", write_position);
  write_operation(t, part, frames, "quatf xformOp:orient", write_rotation);
  write_operation(t, part, frames, "float3 xformOp:scale", write_scale);
  yw_file_printf(&t->f,
                 "        uniform token[] xformOpOrder = [\"xformOp:translate\", "
                 "\"xformOp:orient\", \"xformOp:scale\"]\n");
}

// Looks -------------------------------------------------------------------------------------------

static const int32_t square[6] = {0, 1, 2, 0, 2, 3};

static void write_topology(usd_text* t, int32_t part) {
  const export_part* p = &t->u->parts->items[part];
  const int32_t* triangles = p->surface ? p->surface->triangles : square;
  yw_file_printf(&t->f, "        int[] faceVertexCounts = [");
  for (int32_t i = 0; i < p->num_triangles; ++i) yw_file_printf(&t->f, i > 0 ? ", 3" : "3");
  yw_file_printf(&t->f, "]\n");
  write_integers(&t->f, "faceVertexIndices", triangles, 3 * (size_t)p->num_triangles);
  yw_file_printf(&t->f,
                 "        uniform token subdivisionScheme = \"none\"\n"
                 "        uniform bool doubleSided = 1\n");
}

// Texture coordinates, with an index for every corner.
static void write_uvs(usd_text* t, int32_t part) {
  const usd_part* own = &t->u->own[part];
  if (!own->look || !own->look->corners.uvs) return;
  const obj_corners* c = &own->look->corners;
  yw_file_printf(&t->f, "        texCoord2f[] primvars:st = ");
  write_tuples(&t->f, c->uvs, (size_t)c->num_points, 2);
  yw_file_printf(&t->f, " (\n            interpolation = \"faceVarying\"\n        )\n");
  write_integers(&t->f, "primvars:st:indices", c->triangles,
                 3 * (size_t)t->u->parts->items[part].num_triangles);
}

static void write_colors(usd_text* t, int32_t part) {
  const export_part* p = &t->u->parts->items[part];
  const yw_vec3* colors = p->colors ? p->colors : &p->look->color;
  size_t count = p->colors ? (size_t)t->u->own[part].num_points : 1;
  yw_file_printf(&t->f, "        color3f[] primvars:displayColor = ");
  write_tuples(&t->f, &colors->x, count, 3);
  yw_file_printf(&t->f, " (\n            interpolation = \"%s\"\n        )\n",
                 p->colors ? "vertex" : "constant");
}

// A letter, digits and underscores, as names of prims must be. Returns the length.
static size_t write_name(char* out, size_t room, const char* text) {
  size_t n = 0;
  if (*text >= '0' && *text <= '9') out[n++] = '_';
  for (; *text && n + 1 < room; ++text) {
    char c = *text;
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out[n++] = fine ? c : '_';
  }
  if (n == 0) out[n++] = '_';
  out[n] = '\0';
  return n;
}

// Faces of each material of the file; the others have the part's own.
static void write_subsets(usd_text* t, int32_t part) {
  const usd_part* own = &t->u->own[part];
  const obj_corners* c = own->look ? &own->look->corners : NULL;
  yw_file_writer* f = &t->f;
  if (!c || c->num_materials == 0) return;
  yw_file_printf(f,
                 "        uniform token subsetFamily:materialBind:familyType = "
                 "\"nonOverlapping\"\n");
  for (int32_t m = 0; m < c->num_materials; ++m) {
    yw_file_printf(f,
                   "\n        def GeomSubset \"material_%d\" (\n"
                   "            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n"
                   "        {\n            uniform token elementType = \"face\"\n"
                   "            uniform token familyName = \"materialBind\"\n"
                   "            int[] indices = [",
                   m);
    bool any = false;
    for (int32_t i = 0; i < t->u->parts->items[part].num_triangles; ++i) {
      if (c->materials[i] != m) continue;
      yw_file_printf(f, any ? ", %d" : "%d", i);
      any = true;
    }
    yw_file_printf(f, "]\n            rel material:binding = </run/Materials/%s_%d>\n        }\n",
                   own->name, m);
  }
}

static void write_material(usd_text* t, int32_t part, const char* name, const char* shown) {
  const export_part* p = &t->u->parts->items[part];
  yw_file_writer* f = &t->f;
  yw_file_printf(f, "\n        def Material \"%s\" (\n            displayName = ", name);
  write_string(f, shown);
  yw_file_printf(f,
                 "\n        )\n        {\n            token outputs:surface.connect = "
                 "</run/Materials/%s/Surface.outputs:surface>\n\n"
                 "            def Shader \"Surface\"\n            {\n"
                 "                uniform token info:id = \"UsdPreviewSurface\"\n"
                 "                color3f inputs:diffuseColor",
                 name);
  if (p->colors) {
    yw_file_printf(f, ".connect = </run/Materials/%s/Color.outputs:result>\n", name);
  } else {
    yw_file_printf(f, " = ");
    const yw_transform as_place = {.position = p->look->color};
    write_position(f, &as_place);
    yw_file_printf(f, "\n");
  }
  yw_file_printf(f, "                float inputs:roughness = ");
  yw_file_write_float(f, fminf(fmaxf(1.0f - 0.8f * p->look->gloss, 0.0f), 1.0f));
  yw_file_printf(f, "\n                token outputs:surface\n            }\n");
  if (p->colors) {
    yw_file_printf(f,
                   "\n            def Shader \"Color\"\n            {\n"
                   "                uniform token info:id = \"UsdPrimvarReader_float3\"\n"
                   "                string inputs:varname = \"displayColor\"\n"
                   "                float3 outputs:result\n            }\n");
  }
  yw_file_printf(f, "        }\n");
}

static void write_materials(usd_text* t) {
  const usd_file* u = t->u;
  yw_file_printf(&t->f, "\n    def Scope \"Materials\"\n    {");
  for (int32_t i = 0; i < u->parts->count; ++i) {
    if (!export_part_is_shown(&u->parts->items[i])) continue;
    const usd_part* own = &u->own[i];
    write_material(t, i, own->name, u->parts->items[i].name);
    int32_t count = own->look ? own->look->corners.num_materials : 0;
    for (int32_t m = 0; m < count; ++m) {
      char name[USD_MAX_NAME + 16];
      snprintf(name, sizeof name, "%s_%d", own->name, m);
      write_material(t, i, name, own->look->corners.names[m]);
    }
  }
  yw_file_printf(&t->f, "    }\n");
}

// Prims -------------------------------------------------------------------------------------------

static void write_part(usd_text* t, int32_t part) {
  const usd_file* u = t->u;
  const export_part* p = &u->parts->items[part];
  const usd_part* own = &u->own[part];
  bool mesh = p->num_triangles > 0;
  yw_file_printf(&t->f,
                 "\n    def %s \"%s\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n"
                 "        displayName = ",
                 mesh ? "Mesh" : "Points", own->name);
  write_string(&t->f, p->name);
  yw_file_printf(&t->f, "\n    )\n    {\n");
  if (mesh) write_topology(t, part);
  write_extent(t, part);
  write_stream(t, part, USD_POINTS, "point3f[] points", "");
  bool corners = own->look && own->look->corners.num_points != own->num_points;
  const char* where = corners ? " (\n            interpolation = \"faceVarying\"\n        )"
                              : " (\n            interpolation = \"vertex\"\n        )";
  write_stream(t, part, USD_NORMALS, corners ? "normal3f[] primvars:normals" : "normal3f[] normals",
               where);
  if (mesh && corners) {
    write_integers(&t->f, "primvars:normals:indices", own->look->corners.triangles,
                   3 * (size_t)p->num_triangles);
  }
  write_stream(t, part, USD_WIDTHS, "float[] widths", where);
  write_stream(t, part, USD_VELOCITIES, "vector3f[] velocities", "");
  write_uvs(t, part);
  write_colors(t, part);
  write_visibility(t, part);
  write_transform(t, part);
  yw_file_printf(&t->f, "        rel material:binding = </run/Materials/%s>\n", own->name);
  write_subsets(t, part);
  yw_file_printf(&t->f, "    }\n");
}

// Names of prims: what they are called, with a number where that was there before.
static void name_parts(const usd_file* u) {
  for (int32_t i = 0; i < u->parts->count; ++i) {
    char* name = u->own[i].name;
    size_t length = write_name(name, USD_MAX_NAME - 16, u->parts->items[i].name);
    bool repeated = strcmp(name, "Materials") == 0;
    for (int32_t k = 0; k < i && !repeated; ++k) repeated = strcmp(name, u->own[k].name) == 0;
    // Names of materials end in numbers, too.
    if (repeated) snprintf(name + length, 16, "_part%d", i);
  }
}

static void write_header(usd_text* t) {
  const usd_file* u = t->u;
  yw_file_printf(&t->f,
                 "#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = \"A run of Yawara\"\n"
                 "    metersPerUnit = 1\n    upAxis = \"Y\"\n    startTimeCode = %d\n"
                 "    endTimeCode = %d\n    timeCodesPerSecond = ",
                 u->first, u->first + u->num_frames - 1);
  yw_file_write_double(&t->f, u->fps);
  yw_file_printf(&t->f, "\n    framesPerSecond = ");
  yw_file_write_double(&t->f, u->fps);
  yw_file_printf(&t->f, "\n)\n\ndef Xform \"run\"\n{");
}

yw_status usd_file_write(const usd_file* u, const char* path, yw_error* error) {
  usd_text t = {.u = u};
  size_t most = 0;
  for (int32_t i = 0; i < u->parts->count; ++i) {
    for (int s = 0; s < USD_NUM_STREAMS; ++s) {
      size_t size = usd_stream_size(u, i, (usd_stream)s);
      if (size > most) most = size;
    }
  }
  t.values = YW_NEW_ARRAY(NULL, float, most);
  if (!t.values) return yw_fail_memory(error, "an export");
  yw_status status = yw_file_writer_open(&t.f, path, NULL, error);
  if (status >= 0) {
    name_parts(u);
    write_header(&t);
    for (int32_t i = 0; i < u->parts->count; ++i) {
      if (export_part_is_shown(&u->parts->items[i])) write_part(&t, i);
    }
    write_materials(&t);
    yw_file_printf(&t.f, "}\n");
    if (t.failed) {
      yw_file_writer_abort(&t.f);
      status = yw_fail(error, YW_ERR_IO, "%s: the frames that were kept cannot be read back", path);
    } else {
      status = yw_file_writer_commit(&t.f, error);
    }
  }
  yw_mem_free(NULL, t.values);
  return status;
}
