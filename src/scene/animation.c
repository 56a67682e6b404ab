// SPDX-License-Identifier: MIT
// Animated meshes: point caches and series of mesh files.
#include "scene/animation.h"

#include <stdio.h>
#include <string.h>

#include "scene/loader.h"
#include "yawara/extend/file.h"
#include "yawara/extend/point_cache.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

#define MAX_FRAMES 1000000
#define MAX_BYTES ((uint64_t)4 << 30)

// A larger list of frames; the document owns both.
static bool grow(yw_loader* l, yw_animation_spec* a, int32_t* capacity) {
  if (a->num_frames < *capacity) return true;
  int32_t wanted = *capacity > 0 ? 2 * *capacity : 16;
  size_t row = (size_t)a->num_points * sizeof *a->points;
  yw_vec3* larger = NULL;
  if (wanted <= MAX_FRAMES && (uint64_t)wanted * row <= MAX_BYTES) {
    larger = yw_json_alloc(l->r.doc, (size_t)wanted * row);
  }
  if (!larger) return yw_memory_fail(&l->r);
  if (a->num_frames > 0) memcpy(larger, a->points, (size_t)a->num_frames * row);
  a->points = larger;
  *capacity = wanted;
  return true;
}

static bool read_cache(yw_loader* l, yw_animation_spec* a, const char* path) {
  yw_error deep = {0};
  // As a whole first: scenes know their files by their contents.
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, MAX_BYTES, &l->scene->mem, &data, &deep);
  yw_file_data_free(&data);
  yw_point_cache_reader cache = {0};
  if (status >= 0) {
    status = yw_point_cache_reader_open(&cache, path, &l->scene->mem, &deep);
  }
  if (status < 0) return yw_deep_fail(&l->r, yw_json_get(a->node, "file"), &deep);
  a->num_points = cache.num_points;
  if (cache.fps > 0 && !yw_json_get(a->node, "fps")) a->fps = (float)cache.fps;
  size_t size = (size_t)cache.num_frames * (size_t)cache.num_points * sizeof *a->points;
  a->points = size <= MAX_BYTES ? yw_json_alloc(l->r.doc, size) : NULL;
  bool done = a->points != NULL;
  if (!done) yw_memory_fail(&l->r);
  for (int32_t i = 0; i < cache.num_frames && done; ++i) {
    yw_vec3* row = a->points + (size_t)i * (size_t)a->num_points;
    done = yw_point_cache_read_frame(&cache, i, row, &deep) >= 0;
    if (!done) yw_deep_fail(&l->r, yw_json_get(a->node, "file"), &deep);
  }
  a->num_frames = cache.num_frames;
  yw_point_cache_reader_close(&cache);
  return done;
}

// The name of file `number` of a series.
static char* name_of(yw_loader* l, const char* pattern, int32_t number) {
  const char* begin = strchr(pattern, '#');
  int32_t digits = (int32_t)strspn(begin, "#");
  size_t room = strlen(pattern) + 16;
  char* name = yw_json_alloc(l->r.doc, room);
  if (name) {
    snprintf(name, room, "%.*s%0*d%s", (int)(begin - pattern), pattern, (int)digits, (int)number,
             begin + digits);
  }
  return name;
}

static bool add_frame(yw_loader* l, yw_animation_spec* a, const char* name, const yw_vec3* points,
                      int32_t count, int32_t* capacity) {
  if (a->num_frames == 0) a->num_points = count;
  if (count != a->num_points) {
    return yw_value_fail(&l->r, yw_json_get(a->node, "file"),
                         "has %d points in its first file, but %d in %.200s", (int)a->num_points,
                         (int)count, name);
  }
  if (!grow(l, a, capacity)) return false;
  memcpy(a->points + (size_t)a->num_frames++ * (size_t)count, points,
         (size_t)count * sizeof *points);
  return true;
}

// Files from the first number on, until one is missing.
static bool read_series(yw_loader* l, yw_animation_spec* a, const char* pattern) {
  int32_t capacity = 0;
  for (int32_t number = a->first;; ++number) {
    yw_error deep = {0};
    yw_vec3* points = NULL;
    int32_t count = 0;
    char* name = name_of(l, pattern, number);
    if (!name) return yw_memory_fail(&l->r);
    FILE* there = number > a->first ? fopen(name, "rb") : NULL;
    if (number > a->first && !there) return true;
    if (there) fclose(there);
    if (yw_positions_read(name, &l->scene->mem, &points, &count, &deep) < 0) {
      return yw_deep_fail(&l->r, yw_json_get(a->node, "file"), &deep);
    }
    bool added = add_frame(l, a, name, points, count, &capacity);
    yw_mem_free(&l->scene->mem, points);
    if (!added) return false;
  }
}

bool yw_read_animation(yw_loader* l, yw_animation_spec* a) {
  char* path = yw_loader_file(l, a->file);
  if (!path) return yw_memory_fail(&l->r);
  if (a->fps == 0) a->fps = l->scene->info.fps;
  return strchr(a->file, '#') ? read_series(l, a, path) : read_cache(l, a, path);
}

yw_mesh_animation yw_animation_of(const yw_animation_spec* a) {
  return (yw_mesh_animation){.points = a->points,
                             .num_points = a->num_points,
                             .num_frames = a->num_frames,
                             .fps = (double)a->fps,
                             .start = (double)a->start,
                             .loop = a->loop,
                             .smooth = a->smooth};
}

char* yw_animation_first_file(yw_loader* l, const yw_animation_spec* a) {
  char* path = yw_loader_file(l, a->file);
  return path ? name_of(l, path, a->first) : NULL;
}
