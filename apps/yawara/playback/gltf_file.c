// SPDX-License-Identifier: MIT
// run.gltf. Accessors come in a fixed order, so that meshes can count them: of each part the
// triangles of its sections, colours and texture coordinates if it has any, then positions and
// normals of its frames; after the parts times and weights; at the end translations, rotations and
// scales of what moves as a whole.
#include "playback/gltf_file.h"

#include <math.h>

#include "playback/json_text.h"
#include "yawara/extend/vec.h"

// Numbers that glTF gives to kinds of data.
enum { GLTF_FLOAT = 5126, GLTF_UINT = 5125, GLTF_POINTS = 0, GLTF_TRIANGLES = 4 };

/// A list of accessors under way.
typedef struct listing {
  yw_file_writer file;
  int32_t accessors;
} listing;

static void write_numbers(yw_file_writer* f, const float* values, int count) {
  yw_file_write(f, "[", 1);
  for (int k = 0; k < count; ++k) {
    if (k > 0) yw_file_write(f, ", ", 2);
    yw_file_write_float(f, values[k]);
  }
  yw_file_write(f, "]", 1);
}

static void write_vec3(yw_file_writer* f, const char* name, yw_vec3 v) {
  const float values[3] = {v.x, v.y, v.z};
  yw_file_printf(f, ", \"%s\": ", name);
  write_numbers(f, values, 3);
}

static void write_accessor(listing* l, int kind, const char* shape, uint64_t at, int64_t count,
                           const gltf_block* limits) {
  yw_file_printf(&l->file,
                 "%s\n    {\"bufferView\": 0, \"byteOffset\": %llu, \"componentType\": %d, "
                 "\"count\": %lld, \"type\": \"%s\"",
                 l->accessors > 0 ? "," : "", (unsigned long long)at, kind, (long long)count,
                 shape);
  if (limits) {
    write_vec3(&l->file, "min", limits->low);
    write_vec3(&l->file, "max", limits->high);
  }
  yw_file_write(&l->file, "}", 1);
  ++l->accessors;
}

static int32_t frames_of(const gltf_file* g, const export_part* p) {
  return p->morphs ? g->num_frames : 1;
}

static void write_part_accessors(const gltf_file* g, int32_t part, listing* l) {
  const export_part* p = &g->parts[part];
  const gltf_place* place = &g->places[part];
  for (int32_t s = 0; s < p->num_sections; ++s) {
    write_accessor(l, GLTF_UINT, "SCALAR", place->triangles + 12 * (uint64_t)p->sections[s].first,
                   3 * (int64_t)p->sections[s].count, NULL);
  }
  if (p->colors) write_accessor(l, GLTF_FLOAT, "VEC3", place->colors, p->num_points, NULL);
  if (p->uvs) write_accessor(l, GLTF_FLOAT, "VEC2", place->uvs, p->num_points, NULL);
  for (int32_t f = 0; f < frames_of(g, p); ++f) {
    const gltf_block* b = &g->blocks[(size_t)f * (size_t)g->num_parts + (size_t)part];
    write_accessor(l, GLTF_FLOAT, "VEC3", b->at, p->num_points, b);
    if (p->num_triangles == 0) continue;
    write_accessor(l, GLTF_FLOAT, "VEC3", b->at + 12 * (uint64_t)p->num_points, p->num_points,
                   NULL);
  }
}

static void write_accessors(const gltf_file* g, listing* l) {
  for (int32_t i = 0; i < g->num_parts; ++i) {
    if (export_part_is_shown(&g->parts[i])) write_part_accessors(g, i, l);
  }
  if (g->num_frames < 2) return;
  yw_file_printf(&l->file,
                 ",\n    {\"bufferView\": 0, \"byteOffset\": %llu, \"componentType\": %d, "
                 "\"count\": %d, \"type\": \"SCALAR\", \"min\": [0], \"max\": ",
                 (unsigned long long)g->times_at, GLTF_FLOAT, g->num_frames);
  write_numbers(&l->file, &g->times[g->num_frames - 1], 1);
  yw_file_write(&l->file, "}", 1);
  ++l->accessors;
  write_accessor(l, GLTF_FLOAT, "SCALAR", g->weights_at,
                 (int64_t)g->num_frames * (g->num_frames - 1), NULL);
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const gltf_place* place = &g->places[i];
    if (!place->moves) continue;
    write_accessor(l, GLTF_FLOAT, "VEC3", place->positions, g->num_frames, NULL);
    write_accessor(l, GLTF_FLOAT, "VEC4", place->rotations, g->num_frames, NULL);
    write_accessor(l, GLTF_FLOAT, "VEC3", place->scales, g->num_frames, NULL);
  }
}

// Accessors of positions and normals of one frame, from `at` on.
static int32_t write_attributes(yw_file_writer* f, const export_part* p, int32_t at) {
  yw_file_printf(f, "{\"POSITION\": %d", at++);
  if (p->num_triangles > 0) yw_file_printf(f, ", \"NORMAL\": %d", at++);
  return at;
}

// Triangles of one material, or points. at: the first accessor after those of the triangles.
static int32_t write_primitive(const gltf_file* g, const export_part* p, int32_t triangles,
                               int32_t material, int32_t at, yw_file_writer* f) {
  int32_t colors = p->colors ? at++ : -1, uvs = p->uvs ? at++ : -1;
  yw_file_printf(f, "{\"mode\": %d, \"material\": %d",
                 triangles >= 0 ? GLTF_TRIANGLES : GLTF_POINTS, material);
  if (triangles >= 0) yw_file_printf(f, ", \"indices\": %d", triangles);
  yw_file_printf(f, ", \"attributes\": ");
  at = write_attributes(f, p, at);
  if (colors >= 0) yw_file_printf(f, ", \"COLOR_0\": %d", colors);
  if (uvs >= 0) yw_file_printf(f, ", \"TEXCOORD_0\": %d", uvs);
  yw_file_printf(f, "}");
  for (int32_t k = 1; k < g->num_frames && gltf_file_fades(g, p); ++k) {
    yw_file_printf(f, k == 1 ? ", \"targets\": [" : ", ");
    at = write_attributes(f, p, at);
    yw_file_printf(f, k == g->num_frames - 1 ? "}]" : "}");
  }
  yw_file_printf(f, "}");
  return at;
}

static void write_meshes(const gltf_file* g, yw_file_writer* f) {
  int32_t next = 0, material = 0;
  bool any = false;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const export_part* p = &g->parts[i];
    if (!export_part_is_shown(p)) continue;
    int32_t triangles = next, end = 0;
    yw_file_printf(f, "%s\n    {\"name\": ", any ? "," : "");
    json_write_string(f, p->name);
    yw_file_printf(f, ", \"primitives\": [");
    for (int32_t s = 0; s < p->num_sections || (s == 0 && p->num_sections == 0); ++s) {
      if (s > 0) yw_file_printf(f, ",\n      ");
      end = write_primitive(g, p, p->num_sections > 0 ? triangles + s : -1, material++,
                            triangles + p->num_sections, f);
    }
    yw_file_printf(f, "]}");
    next = end;
    any = true;
  }
}

static void write_material(const export_part* p, const char* name, bool first, yw_file_writer* f) {
  yw_vec3 c = p->colors ? yw_v3(1, 1, 1) : p->look->color;
  const float color[4] = {fminf(fmaxf(c.x, 0.0f), 1.0f), fminf(fmaxf(c.y, 0.0f), 1.0f),
                          fminf(fmaxf(c.z, 0.0f), 1.0f), 1.0f};
  yw_file_printf(f, "%s\n    {\"name\": ", first ? "" : ",");
  json_write_string(f, name);
  yw_file_printf(f, ", \"pbrMetallicRoughness\": {\"metallicFactor\": 0, \"roughnessFactor\": ");
  yw_file_write_float(f, fminf(fmaxf(1.0f - 0.8f * p->look->gloss, 0.0f), 1.0f));
  yw_file_printf(f, ", \"baseColorFactor\": ");
  write_numbers(f, color, 4);
  yw_file_printf(f, "}%s}", p->two_sided ? ", \"doubleSided\": true" : "");
}

// One for each section of each part, in their order.
static void write_materials(const gltf_file* g, yw_file_writer* f) {
  bool first = true;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const export_part* p = &g->parts[i];
    if (!export_part_is_shown(p)) continue;
    for (int32_t s = 0; s < p->num_sections || (s == 0 && p->num_sections == 0); ++s) {
      write_material(p, p->num_sections > 0 ? p->sections[s].material : p->name, first, f);
      first = false;
    }
  }
}

static void write_nodes(const gltf_file* g, yw_file_writer* f) {
  int32_t count = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const export_part* p = &g->parts[i];
    if (!export_part_is_shown(p)) continue;
    yw_file_printf(f, "%s\n    {\"name\": ", count > 0 ? "," : "");
    json_write_string(f, p->name);
    yw_file_printf(f, ", \"mesh\": %d", count++);
    if (p->obstacle && !p->morphs) {
      const yw_transform* pose = &g->poses[i];
      const yw_quat q = yw_quat_normalize(pose->rotation);
      const float rotation[4] = {q.x, q.y, q.z, q.w};
      write_vec3(f, "translation", pose->position);
      yw_file_printf(f, ", \"rotation\": ");
      write_numbers(f, rotation, 4);
      write_vec3(f, "scale", yw_v3(pose->scale, pose->scale, pose->scale));
    }
    yw_file_write(f, "}", 1);
  }
}

// Samplers of parts that move as a whole. Accessors: times, weights, then three of each mover.
static void write_samplers(const gltf_file* g, int32_t times, yw_file_writer* f) {
  static const char* const linear = "\"interpolation\": \"LINEAR\"";
  int32_t output = times + 1;
  yw_file_printf(f, "{\"input\": %d, \"output\": %d, %s}", times, output++, linear);
  for (int32_t i = 0; i < g->num_parts; ++i) {
    for (int k = 0; k < 3 && g->places[i].moves; ++k) {
      yw_file_printf(f, ", {\"input\": %d, \"output\": %d, %s}", times, output++, linear);
    }
  }
}

static void write_channel(int32_t sampler, int32_t node, const char* path, bool* any,
                          yw_file_writer* f) {
  yw_file_printf(f, "%s\n    {\"sampler\": %d, \"target\": {\"node\": %d, \"path\": \"%s\"}}",
                 *any ? "," : "", sampler, node, path);
  *any = true;
}

static void write_animation(const gltf_file* g, int32_t times, yw_file_writer* f) {
  static const char* const paths[3] = {"translation", "rotation", "scale"};
  int32_t node = 0, sampler = 1;
  bool any = false;
  yw_file_printf(f, ",\n  \"animations\": [{\"name\": \"run\", \"samplers\": [");
  write_samplers(g, times, f);
  yw_file_printf(f, "], \"channels\": [");
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const export_part* p = &g->parts[i];
    if (!export_part_is_shown(p)) continue;
    if (gltf_file_fades(g, p)) write_channel(0, node, "weights", &any, f);
    for (int k = 0; k < 3 && g->places[i].moves; ++k) {
      write_channel(sampler++, node, paths[k], &any, f);
    }
    ++node;
  }
  yw_file_printf(f, "]}]");
}

yw_status gltf_file_describe(const gltf_file* g, const char* path, yw_error* error) {
  listing l = {.accessors = 0};
  yw_status status = yw_file_writer_open(&l.file, path, NULL, error);
  if (status < 0) return status;
  yw_file_writer* f = &l.file;
  yw_file_printf(f,
                 "{\n  \"asset\": {\"version\": \"2.0\", \"generator\": \"yawara %s\"},\n"
                 "  \"scene\": 0, \"scenes\": [{\"nodes\": [",
                 yw_version());
  int32_t shown = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    if (!export_part_is_shown(&g->parts[i])) continue;
    yw_file_printf(f, "%s%d", shown > 0 ? ", " : "", shown);
    ++shown;
  }
  yw_file_printf(f,
                 "]}],\n  \"buffers\": [{\"uri\": \"run.bin\", \"byteLength\": %llu}],\n"
                 "  \"bufferViews\": [{\"buffer\": 0, \"byteLength\": %llu}],\n  \"nodes\": [",
                 (unsigned long long)g->size, (unsigned long long)g->size);
  write_nodes(g, f);
  yw_file_printf(f, "],\n  \"materials\": [");
  write_materials(g, f);
  yw_file_printf(f, "],\n  \"meshes\": [");
  write_meshes(g, f);
  yw_file_printf(f, "],\n  \"accessors\": [");
  write_accessors(g, &l);
  yw_file_printf(f, "]");
  int32_t movers = 0, faders = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    movers += g->places[i].moves;
    faders += export_part_is_shown(&g->parts[i]) && gltf_file_fades(g, &g->parts[i]);
  }
  if (movers + faders > 0) write_animation(g, l.accessors - 2 - 3 * movers, f);
  yw_file_printf(f, "\n}\n");
  return yw_file_writer_commit(f, error);
}
