// SPDX-License-Identifier: MIT
#include "export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "cache.h"
#include "io/point_cache.h"
#include "io/vtu_write.h"
#include "progress.h"

static const char* const formats_known[] = {"ply", "obj", "vtu", "pc2", "mdd"};
enum { PLY, OBJ, VTU, PC2, MDD, NUM_FORMATS };
#define MAX_PATH 1600
#define MAX_NAME 80

typedef struct exporter {
  const char* dir;  // of the cache
  char folders[NUM_FORMATS][MAX_PATH];
  bool wanted[NUM_FORMATS];
  cache_index index;
  yw_scene* scene;
  yw_world* world;
  int32_t num_bodies;
  char (*names)[MAX_NAME];           // of each body, usable as file names, all different
  yw_point_cache_writer* caches[2];  // PC2 and MDD, one per body
  yw_pvd_entry* series;              // of the VTU files
  char (*series_files)[MAX_NAME + 16];
  yw_vec3* surface;  // scratch
} exporter;

static int format_of(const char* text, size_t length) {
  for (int i = 0; i < NUM_FORMATS; ++i) {
    if (strlen(formats_known[i]) == length && strncmp(text, formats_known[i], length) == 0)
      return i;
  }
  return -1;
}

// Calls `use` for every format in the list; false at the first unknown one.
static bool each_format(const char* formats, bool wanted[NUM_FORMATS]) {
  for (const char* at = formats;;) {
    size_t length = strcspn(at, ",");
    int format = format_of(at, length);
    if (format < 0) return false;
    if (wanted) wanted[format] = true;
    if (at[length] == '\0') return true;
    at += length + 1;
  }
}

bool export_formats_known(const char* formats) { return each_format(formats, NULL); }

// Names: letters, digits, - and _; a number is put behind so that they differ.
static void name_bodies(exporter* e) {
  for (int32_t i = 0; i < e->num_bodies; ++i) {
    const char* name = yw_body_name(e->world, yw_world_body(e->world, i));
    char clean[64];
    size_t n = 0;
    for (; name[n] && n < sizeof clean - 1; ++n) {
      char c = name[n];
      bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
      clean[n] = fine ? c : '_';
    }
    clean[n] = '\0';
    if (e->num_bodies == 1) {
      snprintf(e->names[i], MAX_NAME, "%s", clean);
    } else {
      snprintf(e->names[i], MAX_NAME, "%s_%03d", clean, i);
    }
  }
}

static const yw_model* model_of(const exporter* e, int32_t body) {
  return yw_body_model(e->world, yw_world_body(e->world, body));
}

static yw_status make_folders(exporter* e, const char* out_dir, yw_error* error) {
  for (int i = 0; i < NUM_FORMATS; ++i) {
    if (!e->wanted[i]) continue;
    snprintf(e->folders[i], MAX_PATH, "%s/%s", out_dir, formats_known[i]);
    if (mkdir(e->folders[i], 0777) != 0 && errno != EEXIST) {
      return yw_fail(error, YW_ERR_IO, "%s: cannot make this folder: %s", e->folders[i],
                     strerror(errno));
    }
  }
  return YW_OK;
}

// A point cache needs the surface that it moves.
static yw_status open_point_caches(exporter* e, int format, yw_error* error) {
  yw_point_cache_writer* caches = YW_NEW_ARRAY(NULL, yw_point_cache_writer, e->num_bodies);
  e->caches[format - PC2] = caches;
  if (!caches) return yw_fail_memory(error, "point caches");
  for (int32_t i = 0; i < e->num_bodies; ++i) {
    const yw_tri_mesh* surface = yw_model_surface(model_of(e, i));
    char path[MAX_PATH + MAX_NAME + 8];
    snprintf(path, sizeof path, "%s/%s.obj", e->folders[format], e->names[i]);
    yw_status status = yw_tri_mesh_write(path, surface, error);
    if (status < 0) return status;
    snprintf(path, sizeof path, "%s/%s.%s", e->folders[format], e->names[i], formats_known[format]);
    yw_point_cache_def def = {.num_points = surface->num_vertices,
                              .fps = (double)e->index.fps,
                              .expected_frames = e->index.frames_done + 1};
    status = yw_point_cache_open(&caches[i], path, &def, NULL, error);
    if (status < 0) return status;
  }
  return YW_OK;
}

// Frames that run.json only claims to have would be paid for in memory.
static yw_status check_frames(const exporter* e, yw_error* error) {
  for (int32_t frame = 0; frame <= e->index.frames_done; ++frame) {
    if (cache_has_frame(e->dir, frame)) continue;
    return yw_fail(error, YW_ERR_FORMAT,
                   "%s: run.json speaks of %d frames, but frame %d is missing", e->dir,
                   e->index.frames_done, frame);
  }
  return YW_OK;
}

static yw_status open_exporter(exporter* e, const char* out_dir, yw_error* error) {
  yw_status status = cache_read_index(e->dir, &e->index, error);
  if (status >= 0) status = check_frames(e, error);
  if (status >= 0) status = cache_read_scene(e->dir, &e->index, &e->scene, error);
  if (status >= 0) status = yw_scene_build(e->scene, 1, YW_SIMD_AUTO, &e->world, error);
  if (status >= 0) status = make_folders(e, out_dir, error);
  if (status < 0) return status;
  e->num_bodies = yw_world_num_bodies(e->world);
  int32_t largest = 0;
  for (int32_t i = 0; i < e->num_bodies; ++i) {
    int32_t count = yw_model_surface(model_of(e, i))->num_vertices;
    largest = count > largest ? count : largest;
  }
  size_t files = (size_t)e->num_bodies * ((size_t)e->index.frames_done + 1);
  e->surface = YW_NEW_ARRAY(NULL, yw_vec3, largest);
  e->names = yw_mem_alloc(NULL, (size_t)e->num_bodies, sizeof *e->names);
  e->series = YW_NEW_ARRAY(NULL, yw_pvd_entry, e->wanted[VTU] ? files : 1);
  e->series_files = yw_mem_alloc(NULL, e->wanted[VTU] ? files : 1, sizeof *e->series_files);
  if (!e->surface || !e->names || !e->series || !e->series_files) {
    return yw_fail_memory(error, "an export");
  }
  name_bodies(e);
  for (int format = PC2; format <= MDD && status >= 0; ++format) {
    if (e->wanted[format]) status = open_point_caches(e, format, error);
  }
  return status;
}

static yw_status write_tets(exporter* e, int32_t frame, double time, int32_t body,
                            const yw_vec3* positions, yw_error* error) {
  const yw_tet_mesh* tets = yw_model_tets(model_of(e, body));
  size_t entry = (size_t)frame * (size_t)e->num_bodies + (size_t)body;
  snprintf(e->series_files[entry], sizeof e->series_files[entry], "%s_%06d.vtu", e->names[body],
           frame);
  e->series[entry] = (yw_pvd_entry){time, body, e->series_files[entry]};
  char path[MAX_PATH + MAX_NAME + 24];
  snprintf(path, sizeof path, "%s/%s", e->folders[VTU], e->series_files[entry]);
  yw_vtu_grid grid = {.num_points = tets->num_vertices,
                      .positions = positions,
                      .num_cells = tets->num_tets,
                      .corners_per_cell = 4,
                      .cells = tets->tets};
  return yw_vtu_write(path, &grid, NULL, error);
}

static yw_status write_body(exporter* e, int32_t frame, double time, int32_t body,
                            const yw_vec3* positions, yw_error* error) {
  const yw_model* model = model_of(e, body);
  cache_surface_positions(model, positions, e->surface);
  yw_tri_mesh posed = *yw_model_surface(model);
  posed.positions = e->surface;
  yw_status status = YW_OK;
  for (int format = PLY; format <= OBJ && status >= 0; ++format) {
    if (!e->wanted[format]) continue;
    char path[MAX_PATH + MAX_NAME + 24];
    snprintf(path, sizeof path, "%s/%s_%06d.%s", e->folders[format], e->names[body], frame,
             formats_known[format]);
    status = yw_tri_mesh_write(path, &posed, error);
  }
  if (status >= 0 && e->wanted[VTU]) {
    status = write_tets(e, frame, time, body, positions, error);
  }
  for (int format = PC2; format <= MDD && status >= 0; ++format) {
    if (!e->wanted[format]) continue;
    status = yw_point_cache_append(&e->caches[format - PC2][body], e->surface, error);
  }
  return status;
}

static yw_status write_frame(exporter* e, int32_t frame, yw_error* error) {
  cache_frame loaded;
  yw_status status = cache_read_frame(e->dir, frame, &loaded, error);
  if (status < 0) return status;
  bool fits = loaded.num_bodies == e->num_bodies;
  for (int32_t i = 0; fits && i < e->num_bodies; ++i) {
    fits = loaded.counts[i] == cache_num_points(model_of(e, i));
  }
  if (!fits)
    status = yw_fail(error, YW_ERR_FORMAT, "%s: frame %d does not fit the scene", e->dir, frame);
  const yw_vec3* positions = loaded.positions;
  for (int32_t i = 0; i < e->num_bodies && status >= 0; ++i) {
    status = write_body(e, frame, loaded.time, i, positions, error);
    positions += loaded.counts[i];
  }
  cache_frame_free(&loaded);
  return status;
}

static yw_status finish_series(exporter* e, yw_error* error) {
  for (int format = PC2; format <= MDD; ++format) {
    for (int32_t i = 0; e->wanted[format] && i < e->num_bodies; ++i) {
      yw_status status = yw_point_cache_close(&e->caches[format - PC2][i], error);
      if (status < 0) return status;
    }
  }
  if (!e->wanted[VTU]) return YW_OK;
  char path[MAX_PATH + 16];
  snprintf(path, sizeof path, "%s/series.pvd", e->folders[VTU]);
  return yw_pvd_write(path, e->series, e->num_bodies * (e->index.frames_done + 1), NULL, error);
}

static void close_exporter(exporter* e) {
  for (int k = 0; k < 2; ++k) {
    for (int32_t i = 0; e->caches[k] && i < e->num_bodies; ++i) {
      yw_point_cache_abort(&e->caches[k][i]);
    }
    yw_mem_free(NULL, e->caches[k]);
  }
  yw_mem_free(NULL, e->surface);
  yw_mem_free(NULL, e->names);
  yw_mem_free(NULL, e->series);
  yw_mem_free(NULL, e->series_files);
  yw_world_destroy(e->world);
  yw_scene_destroy(e->scene);
  yw_mem_free(NULL, e);
}

yw_status export_cache(const char* cache_dir, const char* formats, const char* out_dir, bool quiet,
                       yw_error* error) {
  exporter* e = YW_NEW(NULL, exporter);
  if (!e) return yw_fail_memory(error, "an export");
  e->dir = cache_dir;
  yw_status status =
      each_format(formats, e->wanted)
          ? open_exporter(e, out_dir, error)
          : yw_fail(error, YW_ERR_INVALID,
                    "format is \"%s\", but must be a list of ply, obj, vtu, pc2, mdd", formats);
  if (status >= 0) {
    int32_t last = e->index.frames_done;
    progress p = progress_start("exported frame", 0, last, quiet);
    for (int32_t frame = 0; frame <= last && status >= 0; ++frame) {
      status = write_frame(e, frame, error);
      progress_show(&p, frame, NULL);
    }
    progress_end(&p);
  }
  if (status >= 0) status = finish_series(e, error);
  close_exporter(e);
  return status;
}
