// SPDX-License-Identifier: MIT
// run.bin holds, one after another: triangles and colours of the bodies; in every frame positions
// and normals
// of each body, the first as they are, the others as differences from it; times; and the weights,
// a row per frame with a single 1.
#include "playback/gltf_export.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "playback/json_text.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_PATH 1700
// The weights are as many as the square of the number of frames.
#define MAX_FRAMES 20000
// Numbers that glTF gives to kinds of data.
enum { GLTF_FLOAT = 5126, GLTF_UINT = 5125, GLTF_POINTS = 0, GLTF_TRIANGLES = 4 };

/// One mesh: a body.
typedef struct part {
  int32_t num_vertices, num_triangles;
  const int32_t* triangles;
  const yw_vec3* colors;  // NULL: that of the look
  yw_vec3 *first, *first_normals, *now, *normals;
  uint64_t triangles_at, colors_at;
} part;

/// Positions of a part in a frame.
typedef struct block {
  uint64_t at;  // in run.bin; normals follow if the part has triangles
  yw_vec3 low, high;
} block;

struct gltf_export {
  run_folder* run;
  char path[MAX_PATH];
  yw_file_writer bin;
  uint64_t size;
  int32_t num_parts, num_frames, written;
  part* parts;
  block* blocks;  // num_frames x num_parts
  double start;   // s, of the first frame
  float* times;   // s after it
  uint64_t times_at, weights_at;
};

// Bytes -------------------------------------------------------------------------------------------

static void put_u32(gltf_export* g, uint32_t value) {
  const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  yw_file_write(&g->bin, bytes, sizeof bytes);
  g->size += sizeof bytes;
}

static void put_float(gltf_export* g, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_u32(g, bits);
}

static void put_vec3(gltf_export* g, yw_vec3 v) {
  put_float(g, v.x);
  put_float(g, v.y);
  put_float(g, v.z);
}

// Parts -------------------------------------------------------------------------------------------

// Particles may come later: the largest number in any frame.
static yw_status count_particles(gltf_export* g, int32_t first, int32_t last, yw_error* error) {
  bool any = false;
  for (int32_t i = 0; i < g->num_parts; ++i) any |= g->parts[i].num_triangles == 0;
  yw_status status = YW_OK;
  for (int32_t n = first; n <= last && any && status >= 0; ++n) {
    frame_data frame;
    status = run_folder_read_frame(g->run, n, &frame, error);
    if (status < 0) break;
    for (int32_t i = 0; i < g->num_parts; ++i) {
      part* p = &g->parts[i];
      int32_t count = frame.bodies[i].num_particles;
      if (p->num_triangles == 0 && count > p->num_vertices) p->num_vertices = count;
    }
    frame_free(&frame);
  }
  return status;
}

static yw_status make_parts(gltf_export* g, int32_t first, int32_t last, yw_error* error) {
  const shown_scene* shown = g->run->shown;
  if (g->num_frames > MAX_FRAMES) {
    return yw_fail(error, YW_ERR_LIMIT, "gltf: %d frames are more than %d; use --from or pc2",
                   g->num_frames, MAX_FRAMES);
  }
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const yw_tri_mesh* surface = &shown_model_of(shown, i)->surface;
    g->parts[i] = (part){.num_vertices = surface->num_vertices,
                         .num_triangles = surface->num_triangles,
                         .triangles = surface->triangles};
  }
  yw_status status = count_particles(g, first, last, error);
  for (int32_t i = 0; i < g->num_parts && status >= 0; ++i) {
    part* p = &g->parts[i];
    const shown_body* body = &shown->bodies[i];
    const yw_vec3* own = shown_model_of(shown, i)->surface.colors;
    if (body->num_colors >= p->num_vertices) p->colors = body->colors;
    if (body->num_colors == 0 && p->num_triangles > 0) p->colors = own;
    yw_vec3** arrays[] = {&p->first, &p->first_normals, &p->now, &p->normals};
    for (int k = 0; k < 4; ++k) {
      *arrays[k] = YW_NEW_ARRAY(NULL, yw_vec3, p->num_vertices);
      if (!*arrays[k]) status = yw_fail_memory(error, "an export");
    }
  }
  return status;
}

static void write_topology(gltf_export* g) {
  for (int32_t i = 0; i < g->num_parts; ++i) {
    part* p = &g->parts[i];
    p->triangles_at = g->size;
    for (int32_t k = 0; k < 3 * p->num_triangles; ++k) put_u32(g, (uint32_t)p->triangles[k]);
    p->colors_at = g->size;
    for (int32_t k = 0; p->colors && k < p->num_vertices; ++k) put_vec3(g, p->colors[k]);
  }
}

yw_status gltf_export_open(const char* folder, run_folder* run, int32_t first, int32_t last,
                           gltf_export** out, yw_error* error) {
  gltf_export* g = *out = YW_NEW(NULL, gltf_export);
  if (!g) return yw_fail_memory(error, "an export");
  g->run = run;
  g->num_parts = run->shown->num_bodies;
  g->num_frames = last - first + 1;
  snprintf(g->path, sizeof g->path, "%s/run", folder);
  g->parts = YW_NEW_ARRAY(NULL, part, g->num_parts);
  g->times = YW_NEW_ARRAY(NULL, float, g->num_frames);
  g->blocks = yw_mem_alloc(NULL, (size_t)g->num_frames * (size_t)g->num_parts, sizeof *g->blocks);
  if (!g->parts || !g->times || !g->blocks) return yw_fail_memory(error, "an export");
  yw_status status = make_parts(g, first, last, error);
  char path[MAX_PATH + 8];
  snprintf(path, sizeof path, "%s.bin", g->path);
  if (status >= 0) status = yw_file_writer_open(&g->bin, path, NULL, error);
  if (status >= 0) write_topology(g);
  return status;
}

// Frames ------------------------------------------------------------------------------------------

// Sums of the normals of the triangles around a vertex, weighted by their areas.
static void find_normals(const part* p, yw_vec3* out) {
  memset(out, 0, (size_t)p->num_vertices * sizeof *out);
  for (int32_t t = 0; t < p->num_triangles; ++t) {
    const int32_t* v = p->triangles + 3 * (size_t)t;
    yw_vec3 a = p->now[v[0]];
    yw_vec3 normal = yw_cross(yw_sub(p->now[v[1]], a), yw_sub(p->now[v[2]], a));
    for (int k = 0; k < 3; ++k) out[v[k]] = yw_add(out[v[k]], normal);
  }
  for (int32_t i = 0; i < p->num_vertices; ++i) out[i] = yw_normalize_or(out[i], yw_v3(0, 1, 0));
}

static void take_positions(part* p, const frame_body* body, const yw_vec3* surface) {
  const yw_vec3* from = surface ? surface : body->positions;
  int32_t count = surface ? p->num_vertices : body->num_particles;
  for (int32_t i = 0; i < p->num_vertices; ++i) {
    // Particles that have not come yet wait at the first one.
    p->now[i] = i < count ? from[i] : count > 0 ? from[0] : yw_v3(0, 0, 0);
  }
  if (p->num_triangles > 0) find_normals(p, p->normals);
}

static void write_part(gltf_export* g, part* p, block* b) {
  bool first = g->written == 0;
  if (first) {
    memcpy(p->first, p->now, (size_t)p->num_vertices * sizeof *p->now);
    memcpy(p->first_normals, p->normals, (size_t)p->num_vertices * sizeof *p->normals);
  }
  b->at = g->size;
  b->low = yw_v3(FLT_MAX, FLT_MAX, FLT_MAX);
  b->high = yw_v3(-FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (int32_t i = 0; i < p->num_vertices; ++i) {
    yw_vec3 v = first ? p->now[i] : yw_sub(p->now[i], p->first[i]);
    b->low = yw_v3(fminf(b->low.x, v.x), fminf(b->low.y, v.y), fminf(b->low.z, v.z));
    b->high = yw_v3(fmaxf(b->high.x, v.x), fmaxf(b->high.y, v.y), fmaxf(b->high.z, v.z));
    put_vec3(g, v);
  }
  for (int32_t i = 0; i < p->num_vertices && p->num_triangles > 0; ++i) {
    put_vec3(g, first ? p->normals[i] : yw_sub(p->normals[i], p->first_normals[i]));
  }
}

yw_status gltf_export_frame(gltf_export* g, const frame_data* frame, yw_vec3* const* surfaces,
                            yw_error* error) {
  if (g->written >= g->num_frames) return yw_fail(error, YW_ERR_INVALID, "too many frames");
  for (int32_t i = 0; i < g->num_parts; ++i) {
    take_positions(&g->parts[i], &frame->bodies[i], surfaces[i]);
    write_part(g, &g->parts[i], &g->blocks[(size_t)g->written * (size_t)g->num_parts + (size_t)i]);
  }
  if (g->written == 0) g->start = frame->time;
  g->times[g->written++] = (float)(frame->time - g->start);
  return YW_OK;
}

static void write_weights(gltf_export* g) {
  g->times_at = g->size;
  for (int32_t i = 0; i < g->num_frames; ++i) put_float(g, g->times[i]);
  g->weights_at = g->size;
  for (int32_t i = 0; i < g->num_frames; ++i) {
    for (int32_t k = 1; k < g->num_frames; ++k) put_float(g, i == k ? 1.0f : 0.0f);
  }
}

// run.gltf ----------------------------------------------------------------------------------------

/// A list of accessors under way.
typedef struct listing {
  yw_file_writer file;
  int32_t accessors;
} listing;

static void write_limits(yw_file_writer* f, const char* name, yw_vec3 v) {
  const float values[3] = {v.x, v.y, v.z};
  yw_file_printf(f, ", \"%s\": [", name);
  for (int k = 0; k < 3; ++k) {
    if (k > 0) yw_file_write(f, ", ", 2);
    yw_file_write_float(f, values[k]);
  }
  yw_file_write(f, "]", 1);
}

static void write_accessor(listing* l, int kind, const char* shape, uint64_t at, int64_t count,
                           const block* limits) {
  yw_file_printf(&l->file,
                 "%s\n    {\"bufferView\": 0, \"byteOffset\": %llu, \"componentType\": %d, "
                 "\"count\": %lld, \"type\": \"%s\"",
                 l->accessors > 0 ? "," : "", (unsigned long long)at, kind, (long long)count,
                 shape);
  if (limits) {
    write_limits(&l->file, "min", limits->low);
    write_limits(&l->file, "max", limits->high);
  }
  yw_file_write(&l->file, "}", 1);
  ++l->accessors;
}

// Accessors in a fixed order, so that meshes can count them: of each part its triangles and colours
// if it has any, then positions and normals of all frames; at the end times and weights.
static void write_accessors(const gltf_export* g, listing* l) {
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const part* p = &g->parts[i];
    if (p->num_vertices == 0) continue;
    if (p->num_triangles > 0) {
      write_accessor(l, GLTF_UINT, "SCALAR", p->triangles_at, 3 * (int64_t)p->num_triangles, NULL);
    }
    if (p->colors) write_accessor(l, GLTF_FLOAT, "VEC3", p->colors_at, p->num_vertices, NULL);
    for (int32_t f = 0; f < g->num_frames; ++f) {
      const block* b = &g->blocks[(size_t)f * (size_t)g->num_parts + (size_t)i];
      write_accessor(l, GLTF_FLOAT, "VEC3", b->at, p->num_vertices, b);
      if (p->num_triangles == 0) continue;
      write_accessor(l, GLTF_FLOAT, "VEC3", b->at + 12 * (uint64_t)p->num_vertices, p->num_vertices,
                     NULL);
    }
  }
  const float last = g->times[g->num_frames - 1];
  yw_file_printf(&l->file,
                 ",\n    {\"bufferView\": 0, \"byteOffset\": %llu, \"componentType\": %d, "
                 "\"count\": %d, \"type\": \"SCALAR\", \"min\": [0], \"max\": [",
                 (unsigned long long)g->times_at, GLTF_FLOAT, g->num_frames);
  yw_file_write_float(&l->file, last);
  yw_file_write(&l->file, "]}", 2);
  ++l->accessors;
  if (g->num_frames > 1) {
    write_accessor(l, GLTF_FLOAT, "SCALAR", g->weights_at,
                   (int64_t)g->num_frames * (g->num_frames - 1), NULL);
  }
}

// The attributes of one frame: the next accessors.
static void write_attributes(yw_file_writer* f, const part* p, int32_t* next) {
  yw_file_printf(f, "{\"POSITION\": %d", (*next)++);
  if (p->num_triangles > 0) yw_file_printf(f, ", \"NORMAL\": %d", (*next)++);
}

static void write_meshes(const gltf_export* g, yw_file_writer* f) {
  int32_t next = 0, count = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const part* p = &g->parts[i];
    if (p->num_vertices == 0) continue;
    int32_t triangles = p->num_triangles > 0 ? next++ : -1, colors = p->colors ? next++ : -1;
    yw_file_printf(f, "%s\n    {\"name\": ", count > 0 ? "," : "");
    json_write_string(f, g->run->shown->bodies[i].name);
    yw_file_printf(f, ", \"primitives\": [{\"mode\": %d, \"material\": %d",
                   triangles >= 0 ? GLTF_TRIANGLES : GLTF_POINTS, count++);
    if (triangles >= 0) yw_file_printf(f, ", \"indices\": %d", triangles);
    yw_file_printf(f, ", \"attributes\": ");
    write_attributes(f, p, &next);
    if (colors >= 0) yw_file_printf(f, ", \"COLOR_0\": %d", colors);
    yw_file_printf(f, "}");
    for (int32_t k = 1; k < g->num_frames; ++k) {
      yw_file_printf(f, k == 1 ? ", \"targets\": [" : ", ");
      write_attributes(f, p, &next);
      yw_file_printf(f, k == g->num_frames - 1 ? "}]" : "}");
    }
    yw_file_printf(f, "}]}");
  }
}

static void write_materials(const gltf_export* g, yw_file_writer* f) {
  int32_t count = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    const shown_look* look = &g->run->shown->bodies[i].look;
    if (g->parts[i].num_vertices == 0) continue;
    yw_vec3 c = g->parts[i].colors ? yw_v3(1, 1, 1) : look->color;
    yw_file_printf(f, "%s\n    {\"name\": ", count++ > 0 ? "," : "");
    json_write_string(f, g->run->shown->bodies[i].name);
    yw_file_printf(f, ", \"pbrMetallicRoughness\": {\"metallicFactor\": 0, \"roughnessFactor\": ");
    yw_file_write_float(f, fminf(fmaxf(1.0f - 0.8f * look->gloss, 0.0f), 1.0f));
    yw_file_printf(f, ", \"baseColorFactor\": [");
    const float values[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; ++k) {
      yw_file_write_float(f, fminf(fmaxf(values[k], 0.0f), 1.0f));
      yw_file_printf(f, ", ");
    }
    yw_file_printf(f, "1]}}");
  }
}

static int32_t count_shown(const gltf_export* g) {
  int32_t count = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) count += g->parts[i].num_vertices > 0;
  return count;
}

static void write_nodes(const gltf_export* g, yw_file_writer* f) {
  int32_t count = 0;
  for (int32_t i = 0; i < g->num_parts; ++i) {
    if (g->parts[i].num_vertices == 0) continue;
    yw_file_printf(f, "%s\n    {\"name\": ", count > 0 ? "," : "");
    json_write_string(f, g->run->shown->bodies[i].name);
    yw_file_printf(f, ", \"mesh\": %d}", count++);
  }
}

static void write_animation(yw_file_writer* f, int32_t shown, int32_t accessors) {
  yw_file_printf(f,
                 ",\n  \"animations\": [{\"name\": \"run\", \"samplers\": [{\"input\": %d, "
                 "\"output\": %d, \"interpolation\": \"LINEAR\"}], \"channels\": [",
                 accessors - 2, accessors - 1);
  for (int32_t i = 0; i < shown; ++i) {
    yw_file_printf(f, "%s\n    {\"sampler\": 0, \"target\": {\"node\": %d, \"path\": \"weights\"}}",
                   i > 0 ? "," : "", i);
  }
  yw_file_printf(f, "]}]");
}

static yw_status write_description(const gltf_export* g, yw_error* error) {
  char path[MAX_PATH + 8];
  snprintf(path, sizeof path, "%s.gltf", g->path);
  listing l = {.accessors = 0};
  yw_status status = yw_file_writer_open(&l.file, path, NULL, error);
  if (status < 0) return status;
  yw_file_writer* f = &l.file;
  int32_t shown = count_shown(g);
  yw_file_printf(f,
                 "{\n  \"asset\": {\"version\": \"2.0\", \"generator\": \"yawara %s\"},\n"
                 "  \"scene\": 0, \"scenes\": [{\"nodes\": [",
                 yw_version());
  for (int32_t i = 0; i < shown; ++i) yw_file_printf(f, "%s%d", i > 0 ? ", " : "", i);
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
  if (g->num_frames > 1) write_animation(f, shown, l.accessors);
  yw_file_printf(f, "\n}\n");
  return yw_file_writer_commit(f, error);
}

yw_status gltf_export_close(gltf_export* g, yw_error* error) {
  if (g->written != g->num_frames || count_shown(g) == 0) {
    return yw_fail(error, YW_ERR_INVALID, "gltf: there is nothing to write");
  }
  write_weights(g);
  yw_status status = yw_file_writer_commit(&g->bin, error);
  return status < 0 ? status : write_description(g, error);
}

void gltf_export_free(gltf_export* g) {
  if (!g) return;
  yw_file_writer_abort(&g->bin);
  for (int32_t i = 0; g->parts && i < g->num_parts; ++i) {
    part* p = &g->parts[i];
    yw_vec3* arrays[] = {p->first, p->first_normals, p->now, p->normals};
    for (int k = 0; k < 4; ++k) yw_mem_free(NULL, arrays[k]);
  }
  yw_mem_free(NULL, g->parts);
  yw_mem_free(NULL, g->times);
  yw_mem_free(NULL, g->blocks);
  yw_mem_free(NULL, g);
}
