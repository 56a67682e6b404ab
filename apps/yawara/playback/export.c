// SPDX-License-Identifier: MIT
#include "playback/export.h"

#include <stdio.h>
#include <string.h>

#include "console/progress.h"
#include "playback/body_skin.h"
#include "playback/export_surfaces.h"
#include "playback/frame_values.h"
#include "playback/gltf_export.h"
#include "playback/obj_source.h"
#include "playback/run_folder.h"
#include "playback/usd_export.h"
#include "render/skin/skin.h"
#include "yawara/extend/bgeo_write.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/ply_write.h"
#include "yawara/extend/point_cache.h"
#include "yawara/extend/vtu_write.h"

static const char* const formats_known[] = {"ply", "obj",  "vtu",  "pc2",
                                            "mdd", "bgeo", "gltf", "usd"};
enum { PLY, OBJ, VTU, PC2, MDD, BGEO, GLTF, USD, NUM_FORMATS };
#define MAX_PATH 1600
#define MAX_NAME 80

typedef struct exporter {
  char folders[NUM_FORMATS][MAX_PATH];
  bool wanted[NUM_FORMATS];
  bool skin, thick;
  run_folder run;
  int32_t first;  // frame; the last one is run.info.frames_done
  int32_t num_bodies;
  char (*names)[MAX_NAME];                    // of each body, valid as file names and unique
  yw_point_cache_writer* caches[2];           // PC2 and MDD, one per body
  yw_point_cache_writer* velocity_caches[2];  // the same, of velocities
  yw_pvd_entry* series;                       // of the VTU files
  char (*series_files)[MAX_NAME + 16];
  int32_t num_series;
  bool cell_fields_lost;     // BGEO has particles only
  bool* left_out[2];         // of PC2 and MDD, per body: it cannot be held
  bool velocities;           // of what is shown are wanted
  bool* velocity_lost;       // of each body: it shows particles whose velocities were not kept
  int32_t* parted;           // of each body: the first frame in which its surface parts, plus 1
  export_surfaces surfaces;  // what each body shows in the frame
  export_scene scene;        // what is exported of what is shown
  int32_t** carriers;        // of each body, see frame_shown_values
  gltf_export* gltf;
  usd_export* usd;
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

// Names of letters, digits, - and _; a number is appended to make them unique.
static void name_bodies(exporter* e) {
  for (int32_t i = 0; i < e->num_bodies; ++i) {
    const char* name = e->run.shown->bodies[i].name;
    char clean[64];
    size_t n = 0;
    for (; n < sizeof clean - 1 && name[n]; ++n) {
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

static const shown_model* model_of(const exporter* e, int32_t body) {
  return export_model_of(&e->scene, body);
}

static yw_status make_folders(exporter* e, const char* out_dir, yw_error* error) {
  for (int i = 0; i < NUM_FORMATS; ++i) {
    if (!e->wanted[i]) continue;
    snprintf(e->folders[i], MAX_PATH, "%s/%s", out_dir, formats_known[i]);
    yw_status status = yw_make_folders(e->folders[i], error);
    if (status < 0) return status;
  }
  return YW_OK;
}

// Faces, texture coordinates and materials are those of the OBJ file that the surface is from. A
// skin has none.
static yw_status write_obj(const char* path, const shown_model* model, const yw_tri_mesh* posed,
                           bool skinned, yw_error* error) {
  return model->source && !skinned
             ? obj_source_write(path, model->source, &model->surface, posed, error)
             : yw_tri_mesh_write(path, posed, error);
}

static yw_status open_point_cache(const exporter* e, int format, int32_t body, const char* kind,
                                  yw_point_cache_writer* out, yw_error* error) {
  char path[MAX_PATH + MAX_NAME + 24];
  snprintf(path, sizeof path, "%s/%s%s.%s", e->folders[format], e->names[body], kind,
           formats_known[format]);
  yw_point_cache_def def = {.num_points = model_of(e, body)->surface.num_vertices,
                            .fps = (double)e->run.info.fps,
                            .start_frame = e->first,
                            .expected_frames = e->run.info.frames_done + 1 - e->first};
  return yw_point_cache_open(out, path, &def, NULL, error);
}

// A point cache needs the surface that it animates. Bodies of loose particles are left out.
static yw_status open_point_caches(exporter* e, int format, yw_error* error) {
  const int k = format - PC2;
  e->caches[k] = YW_NEW_ARRAY(NULL, yw_point_cache_writer, e->num_bodies);
  e->velocity_caches[k] = YW_NEW_ARRAY(NULL, yw_point_cache_writer, e->num_bodies);
  e->left_out[k] = YW_NEW_ARRAY(NULL, bool, e->num_bodies);
  if (!e->caches[k] || !e->velocity_caches[k] || !e->left_out[k]) {
    return yw_fail_memory(error, "point caches");
  }
  yw_status status = YW_OK;
  for (int32_t i = 0; i < e->num_bodies && status >= 0; ++i) {
    const yw_tri_mesh* surface = &model_of(e, i)->surface;
    e->left_out[k][i] = surface->num_triangles == 0;
    if (e->left_out[k][i]) continue;
    char path[MAX_PATH + MAX_NAME + 8];
    snprintf(path, sizeof path, "%s/%s.obj", e->folders[format], e->names[i]);
    status = write_obj(path, model_of(e, i), surface, false, error);
    if (status >= 0) status = open_point_cache(e, format, i, "", &e->caches[k][i], error);
    if (status >= 0 && e->velocities) {
      status = open_point_cache(e, format, i, ".velocity", &e->velocity_caches[k][i], error);
    }
  }
  return status;
}

// The frames to export. Those of a run that is still going are ahead of run.json.
static yw_status choose_frames(exporter* e, const export_def* def, yw_error* error) {
  // Do not allocate memory for frames that exist only in run.json.
  if (def->first < 0) return run_folder_check_frames(&e->run, error);
  e->first = def->first;
  e->run.info.frames_done = run_folder_last_frame(&e->run, -1);
  if (e->first <= e->run.info.frames_done) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID, "%s: there is no frame %d yet: the last one is %d",
                 def->run_dir, e->first, e->run.info.frames_done);
}

static yw_status make_room(exporter* e, yw_error* error) {
  e->num_bodies = e->run.shown->num_bodies;
  size_t files = (size_t)e->num_bodies * ((size_t)e->run.info.frames_done + 1);
  e->velocity_lost = YW_NEW_ARRAY(NULL, bool, e->num_bodies);
  e->parted = YW_NEW_ARRAY(NULL, int32_t, e->num_bodies);
  e->names = yw_mem_alloc(NULL, (size_t)e->num_bodies, sizeof *e->names);
  e->carriers = YW_NEW_ARRAY(NULL, int32_t*, e->num_bodies);
  e->series = YW_NEW_ARRAY(NULL, yw_pvd_entry, e->wanted[VTU] ? files : 1);
  e->series_files = yw_mem_alloc(NULL, e->wanted[VTU] ? files : 1, sizeof *e->series_files);
  bool made =
      e->velocity_lost && e->parted && e->names && e->carriers && e->series && e->series_files;
  if (!made) return yw_fail_memory(error, "an export");
  bool looks = e->wanted[PLY] || e->wanted[GLTF] || e->wanted[USD];
  yw_status status = export_scene_open(e->run.shown, e->thick, looks, &e->scene, error);
  if (status < 0) return status;
  return export_surfaces_open(e->run.shown, &e->scene, e->velocities, &e->surfaces, error);
}

static yw_status open_exporter(exporter* e, const export_def* def, yw_error* error) {
  yw_status status = run_folder_open(def->run_dir, &e->run, error);
  if (status >= 0) status = choose_frames(e, def, error);
  if (status >= 0) status = make_folders(e, def->out_dir, error);
  if (status >= 0) status = make_room(e, error);
  if (status < 0) return status;
  name_bodies(e);
  for (int format = PC2; format <= MDD && status >= 0; ++format) {
    if (e->wanted[format]) status = open_point_caches(e, format, error);
  }
  if (status >= 0 && e->wanted[GLTF]) {
    status = gltf_export_open(e->folders[GLTF], &e->run, &e->scene, e->first,
                              e->run.info.frames_done, &e->gltf, error);
  }
  if (status >= 0 && e->wanted[USD]) {
    status = usd_export_open(e->folders[USD], &e->run, &e->scene, e->first, e->run.info.frames_done,
                             e->velocities, &e->usd, error);
  }
  return status;
}

static bool has_fields(const frame_data* frame) {
  for (int32_t i = 0; i < frame->num_bodies; ++i) {
    if (frame->bodies[i].num_fields > 0 || frame->bodies[i].radii) return true;
  }
  return false;
}

// What a field is, in files that have no place for it: FIELD, UNIT, MEANING.
static yw_status write_field_list(exporter* e, const frame_data* frame, int format,
                                  yw_error* error) {
  char path[MAX_PATH + 16];
  yw_file_writer file;
  snprintf(path, sizeof path, "%s/fields.csv", e->folders[format]);
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_printf(&file, "body,field,unit,meaning\n%s", format == BGEO ? ",P,m,position\n" : "");
  for (int32_t b = 0; b < e->num_bodies; ++b) {
    const frame_body* body = &frame->bodies[b];
    for (int32_t i = 0; i < body->num_fields; ++i) {
      const frame_field* field = &body->fields[i];
      yw_file_printf(&file, "%s,%s,%s,\"%s\"\n", e->names[b], field->name, field->unit,
                     field->meaning);
    }
    if (!body->radii) continue;
    yw_file_printf(&file, "%s,%s,m,radius of a particle\n", e->names[b],
                   format == BGEO ? "pscale" : "radius");
  }
  return yw_file_writer_commit(&file, error);
}

static bool is_velocity(const frame_field* field) {
  for (int k = 0; k < 3; ++k) {
    if (strcmp(field->name, frame_velocity_names[k]) == 0) return true;
  }
  return false;
}

// Velocities of the particles as vectors, for formats that have these. *out is NULL if the frame
// has none.
static yw_status gather_velocity(const frame_body* body, float** out, yw_error* error) {
  const float* from[3];
  *out = NULL;
  if (!frame_velocity(body, from)) return YW_OK;
  *out = YW_NEW_ARRAY(NULL, float, 3 * (size_t)body->num_particles);
  if (!*out) return yw_fail_memory(error, "an export");
  for (size_t i = 0; i < (size_t)body->num_particles; ++i) {
    for (size_t k = 0; k < 3; ++k) (*out)[3 * i + k] = from[k][i];
  }
  return YW_OK;
}

// Tets, lines of rods, triangles of sheets, or single particles, with point and cell fields.
static yw_status write_vtu(exporter* e, const frame_data* frame, int32_t index, yw_error* error) {
  const frame_body* body = &frame->bodies[index];
  const shown_model* model = model_of(e, index);
  float* velocity;
  yw_status status = gather_velocity(body, &velocity, error);
  if (status < 0) return status;
  yw_vtu_field* fields = YW_NEW_ARRAY(NULL, yw_vtu_field, body->num_fields + 2);
  if (!fields) {
    yw_mem_free(NULL, velocity);
    return yw_fail_memory(error, "an export");
  }
  int32_t count = 0;
  for (int32_t i = 0; i < body->num_fields; ++i) {
    const frame_field* field = &body->fields[i];
    if ((field->per_cell && body->num_cells == 0) || (velocity && is_velocity(field))) continue;
    fields[count++] =
        (yw_vtu_field){field->name, 1, field->values, field->per_cell, field->unit, field->meaning};
  }
  if (velocity) fields[count++] = (yw_vtu_field){"velocity", 3, velocity, false, "m/s", NULL};
  if (body->radii) fields[count++] = (yw_vtu_field){"radius", 1, body->radii, false, "m", NULL};
  int32_t entry = e->num_series++;
  char* file = e->series_files[entry];
  snprintf(file, sizeof e->series_files[entry], "%s_%06d.vtu", e->names[index], frame->number);
  e->series[entry] = (yw_pvd_entry){frame->time, index, file};
  char path[MAX_PATH + MAX_NAME + 24];
  snprintf(path, sizeof path, "%s/%s", e->folders[VTU], file);
  yw_vtu_grid grid = {.num_points = body->num_particles,
                      .positions = body->positions,
                      .num_cells = body->num_particles,
                      .corners_per_cell = 1,
                      .fields = fields,
                      .num_fields = count};
  if (body->num_cells > 0) {
    grid.cells = frame_tets(body, model);
    grid.num_cells = body->num_cells;
    grid.corners_per_cell = 4;
  } else if (model->elements) {
    grid.cells = model->elements;
    grid.num_cells = model->num_elements;
    grid.corners_per_cell = model->corners;
  }
  status = yw_vtu_write(path, &grid, NULL, error);
  yw_mem_free(NULL, fields);
  yw_mem_free(NULL, velocity);
  return status;
}

// Particles of any body, with radii and velocities under the names that Houdini uses.
static yw_status write_bgeo(exporter* e, const frame_data* frame, int32_t index, yw_error* error) {
  const frame_body* body = &frame->bodies[index];
  float* velocity;
  yw_status status = gather_velocity(body, &velocity, error);
  if (status < 0) return status;
  yw_bgeo_field* fields = YW_NEW_ARRAY(NULL, yw_bgeo_field, body->num_fields + 2);
  if (!fields) {
    yw_mem_free(NULL, velocity);
    return yw_fail_memory(error, "an export");
  }
  int32_t count = 0;
  for (int32_t i = 0; i < body->num_fields; ++i) {
    const frame_field* field = &body->fields[i];
    if (field->per_cell) e->cell_fields_lost = true;
    if (field->per_cell || (velocity && is_velocity(field))) continue;
    fields[count++] = (yw_bgeo_field){field->name, field->values, false};
  }
  if (body->radii) fields[count++] = (yw_bgeo_field){"pscale", body->radii, false};
  if (velocity) fields[count++] = (yw_bgeo_field){"v", velocity, true};
  char path[MAX_PATH + MAX_NAME + 24];
  snprintf(path, sizeof path, "%s/%s_%06d.bgeo", e->folders[BGEO], e->names[index], frame->number);
  status = yw_bgeo_write(path, body->num_particles, body->positions, fields, count, error);
  yw_mem_free(NULL, fields);
  yw_mem_free(NULL, velocity);
  return status;
}

// Adds the velocities of what is shown, unless the frame has those of the particles.
static void add_velocities(exporter* e, const frame_body* body, int32_t index, int32_t vertices,
                           float* values, yw_ply_field* out, int32_t* count) {
  const float* kept[3];
  if (!e->velocities || frame_velocity(body, kept)) return;
  const yw_vec3* v = e->surfaces.velocities[index];
  if (!v) {
    e->velocity_lost[index] = true;
    return;
  }
  for (int k = 0; k < 3; ++k) {
    float* at = values + (size_t)vertices * (size_t)k;
    for (int32_t i = 0; i < vertices; ++i) at[i] = k == 0 ? v[i].x : k == 1 ? v[i].y : v[i].z;
    out[(*count)++] = (yw_ply_field){frame_velocity_names[k], at, "m/s", NULL};
  }
}

// Values of all fields on what is shown, one after another; and the radii of particles.
static yw_status gather_fields(exporter* e, const frame_body* body, int32_t index,
                               const yw_tri_mesh* posed, bool skinned, yw_ply_field** out,
                               int32_t* count, float** values) {
  int32_t vertices = posed->num_vertices;
  *out = YW_NEW_ARRAY(NULL, yw_ply_field, body->num_fields + 4);
  *values = YW_NEW_ARRAY(NULL, float, (size_t)vertices*((size_t)body->num_fields + 3));
  *count = 0;
  if (!*out || !*values) return YW_ERR_MEMORY;
  for (int32_t i = 0; i < body->num_fields; ++i) {
    float* at = *values + (size_t)vertices * (size_t)i;
    const frame_field* field = &body->fields[i];
    const shown_model* model = model_of(e, index);
    yw_status status = skinned ? frame_values_at(body, model, field, vertices, posed->positions, at)
                               : frame_shown_values(body, model, field, &e->carriers[index], at);
    if (status < 0) return status;
    (*out)[(*count)++] = (yw_ply_field){field->name, at, field->unit, field->meaning};
  }
  if (body->radii && !skinned && !body_is_clad(body))
    (*out)[(*count)++] = (yw_ply_field){"radius", body->radii, "m", NULL};
  add_velocities(e, body, index, vertices, *values + (size_t)vertices * (size_t)body->num_fields,
                 *out, count);
  return YW_OK;
}

static yw_status write_ply(exporter* e, const char* path, const yw_tri_mesh* posed, bool skinned,
                           const frame_body* body, int32_t index, yw_error* error) {
  yw_ply_field* fields = NULL;
  float* values = NULL;
  int32_t count;
  yw_status status = gather_fields(e, body, index, posed, skinned, &fields, &count, &values);
  yw_ply_look look = {0};
  if (!skinned) look = export_look_ply(&e->scene.looks[e->run.shown->bodies[index].model]);
  status = status < 0 ? yw_fail_memory(error, "an export")
                      : yw_ply_write_look(path, posed, &look, fields, count, error);
  yw_mem_free(NULL, fields);
  yw_mem_free(NULL, values);
  return status;
}

// What is exported of a body without a surface: its particles, or a skin around them. A surface
// that parts gets a skin there, if skins can be made.
static yw_status take_particles(const exporter* e, const frame_body* body, const shown_model* model,
                                yw_tri_mesh* posed, yw_tri_mesh* skin, yw_error* error) {
  if (model->kind == SHOWN_PARTICLES) {
    posed->num_vertices = body->num_particles;
    posed->positions = (yw_vec3*)(uintptr_t)body->positions;
    if (!e->skin || !body->radii) return YW_OK;
  } else if (!body->parted || skin_available(NULL) < 0) {
    return YW_OK;
  }
  yw_status status = body_skin_make(body, model, body->positions, body->radii, skin, error);
  if (status >= 0) *posed = *skin;
  return status;
}

// Where the surface has parted, the skin has the colours of what is nearest on it.
static yw_status color_skin(const exporter* e, const frame_body* body, int32_t index,
                            yw_tri_mesh* skin, yw_error* error) {
  const yw_vec3* colors = model_of(e, index)->surface.colors;
  if (!colors || !body_is_clad(body) || skin->num_vertices == 0) return YW_OK;
  skin->colors = YW_NEW_ARRAY(&skin->mem, yw_vec3, skin->num_vertices);
  bool made = skin->colors &&
              body_skin_colors(body, colors, skin->num_vertices, skin->positions, skin->colors) &&
              body_skin_mix_colors(body, skin, skin->colors);
  return made ? YW_OK : yw_fail_memory(error, "an export");
}

static yw_status write_surface(exporter* e, const frame_data* frame, int32_t index, int format,
                               yw_error* error) {
  frame_body plain = frame->bodies[index];
  // The vertices of a sheet without its thickness are its particles.
  if (export_is_flat(&e->scene, index)) plain.surface = NULL;
  const frame_body* body = &plain;
  yw_tri_mesh posed = model_of(e, index)->surface, skin = {0};
  posed.positions = e->surfaces.now.surfaces[index];
  yw_status status = YW_OK;
  if (posed.num_triangles == 0 || body->parted) {
    status = take_particles(e, body, model_of(e, index), &posed, &skin, error);
  }
  if (status >= 0) status = color_skin(e, body, index, &skin, error);
  if (status >= 0 && skin.colors) posed.colors = skin.colors;
  if (status < 0) {
    yw_tri_mesh_free(&skin);
    return status;
  }
  bool skinned = skin.num_triangles > 0;
  char path[MAX_PATH + MAX_NAME + 24];
  snprintf(path, sizeof path, "%s/%s_%06d.%s", e->folders[format], e->names[index], frame->number,
           formats_known[format]);
  const shown_model* model = model_of(e, index);
  if (format == PLY) {
    status = write_ply(e, path, &posed, skinned, body, index, error);
  } else {
    status = write_obj(path, model, &posed, skinned, error);
  }
  yw_tri_mesh_free(&skin);
  return status;
}

static yw_status append_to_caches(exporter* e, int which, int32_t body, yw_error* error) {
  const export_surfaces* shown = &e->surfaces;
  yw_status status =
      yw_point_cache_append(&e->caches[which][body], shown->now.surfaces[body], error);
  if (status < 0 || !e->velocities) return status;
  return yw_point_cache_append(&e->velocity_caches[which][body], shown->velocities[body], error);
}

static yw_status write_body(exporter* e, const frame_data* frame, int32_t index, yw_error* error) {
  const frame_body* body = &frame->bodies[index];
  yw_status status = YW_OK;
  if (body->parted && e->parted[index] == 0) e->parted[index] = frame->number + 1;
  for (int format = PLY; format <= OBJ && status >= 0 && body->active; ++format) {
    if (e->wanted[format]) status = write_surface(e, frame, index, format, error);
  }
  if (status >= 0 && e->wanted[VTU] && body->active) status = write_vtu(e, frame, index, error);
  if (status >= 0 && e->wanted[BGEO] && body->active) status = write_bgeo(e, frame, index, error);
  for (int format = PC2; format <= MDD && status >= 0; ++format) {
    if (!e->wanted[format] || e->left_out[format - PC2][index]) continue;
    status = append_to_caches(e, format - PC2, index, error);
  }
  return status;
}

static yw_status write_frame(exporter* e, int32_t number, yw_error* error) {
  frame_data frame;
  yw_status status = YW_OK;
  if (e->velocities) {
    status = export_surfaces_go(&e->surfaces, &e->run, number, e->run.info.frames_done, error);
  }
  if (status >= 0) status = run_folder_read_frame(&e->run, number, &frame, error);
  if (status < 0) return status;
  if (!e->velocities) status = export_surfaces_show(&e->surfaces, e->run.shown, &frame, error);
  for (int format = PLY; format < NUM_FORMATS && status >= 0 && number == e->first; ++format) {
    bool holds = format == PLY || format == VTU || format == BGEO;
    if (e->wanted[format] && holds && has_fields(&frame))
      status = write_field_list(e, &frame, format, error);
  }
  for (int32_t i = 0; i < e->num_bodies && status >= 0; ++i) {
    status = write_body(e, &frame, i, error);
  }
  if (status >= 0 && e->gltf)
    status = gltf_export_frame(e->gltf, &frame, e->surfaces.now.surfaces, error);
  if (status >= 0 && e->usd) status = usd_export_frame(e->usd, &frame, &e->surfaces, error);
  for (int32_t i = 0; status >= 0 && e->usd && e->velocities && i < e->num_bodies; ++i) {
    const float* kept[3];
    bool lost = !e->surfaces.velocities[i] && !frame_velocity(&frame.bodies[i], kept);
    e->velocity_lost[i] = e->velocity_lost[i] || lost;
  }
  frame_free(&frame);
  return status;
}

static yw_status finish_series(exporter* e, yw_error* error) {
  for (int format = PC2; format <= MDD; ++format) {
    for (int32_t i = 0; e->wanted[format] && i < e->num_bodies; ++i) {
      if (e->left_out[format - PC2][i]) continue;
      yw_status status = yw_point_cache_close(&e->caches[format - PC2][i], error);
      if (status >= 0 && e->velocities) {
        status = yw_point_cache_close(&e->velocity_caches[format - PC2][i], error);
      }
      if (status < 0) return status;
    }
  }
  yw_status status = e->gltf ? gltf_export_close(e->gltf, error) : YW_OK;
  if (status >= 0 && e->usd) status = usd_export_close(e->usd, error);
  if (status < 0 || !e->wanted[VTU]) return status;
  char path[MAX_PATH + 16];
  snprintf(path, sizeof path, "%s/series.pvd", e->folders[VTU]);
  return yw_pvd_write(path, e->series, e->num_series, NULL, error);
}

static void close_exporter(exporter* e) {
  for (int k = 0; k < 2; ++k) {
    for (int32_t i = 0; e->caches[k] && i < e->num_bodies; ++i) {
      yw_point_cache_abort(&e->caches[k][i]);
    }
    for (int32_t i = 0; e->velocity_caches[k] && i < e->num_bodies; ++i) {
      yw_point_cache_abort(&e->velocity_caches[k][i]);
    }
    yw_mem_free(NULL, e->caches[k]);
    yw_mem_free(NULL, e->velocity_caches[k]);
    yw_mem_free(NULL, e->left_out[k]);
  }
  for (int32_t i = 0; e->carriers && i < e->num_bodies; ++i) yw_mem_free(NULL, e->carriers[i]);
  yw_mem_free(NULL, e->carriers);
  export_surfaces_close(&e->surfaces);
  export_scene_close(&e->scene);
  yw_mem_free(NULL, e->velocity_lost);
  yw_mem_free(NULL, e->parted);
  yw_mem_free(NULL, e->names);
  yw_mem_free(NULL, e->series);
  yw_mem_free(NULL, e->series_files);
  gltf_export_free(e->gltf);
  usd_export_free(e->usd);
  run_folder_close(&e->run);
  yw_mem_free(NULL, e);
}

// Says where a format shows a surface that matter has left.
static void report_parted(const exporter* e) {
  static const int fixed[] = {PC2, MDD, GLTF, USD};
  for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; ++k) {
    for (int32_t i = 0; e->wanted[fixed[k]] && i < e->num_bodies; ++i) {
      if (e->parted[i] == 0) continue;
      fprintf(
          stderr,
          "%s: the surface of \"%s\" flows or tears from frame %d on, but its triangles stay as "
          "they are; ply and obj hold a skin from there on\n",
          formats_known[fixed[k]], e->run.shown->bodies[i].name, e->parted[i] - 1);
    }
  }
}

// Says what a format could not hold: bodies, and fields of tets where only particles are written.
static void report_left_out(const exporter* e, bool quiet) {
  for (int format = PC2; format <= MDD; ++format) {
    for (int32_t i = 0; e->wanted[format] && i < e->num_bodies; ++i) {
      if (!e->left_out[format - PC2][i]) continue;
      fprintf(
          stderr,
          "%s: body \"%s\" is left out: it is made of loose particles, which only ply, obj, vtu, "
          "bgeo, gltf and usd hold\n",
          formats_known[format], e->run.shown->bodies[i].name);
    }
  }
  if (e->cell_fields_lost) {
    fprintf(stderr, "bgeo: fields of tets are left out: ply and vtu hold them\n");
  }
  for (int32_t i = 0; i < e->num_bodies; ++i) {
    if (!e->velocity_lost[i]) continue;
    fprintf(stderr,
            "velocities of \"%s\" are left out: its particles come and go; keep them with yawara "
            "run --fields velocity\n",
            e->run.shown->bodies[i].name);
  }
  if (e->velocities && !e->wanted[PLY] && !e->wanted[PC2] && !e->wanted[MDD] && !e->wanted[USD]) {
    fprintf(stderr, "velocities are left out: ply, pc2, mdd and usd hold them\n");
  }
  bool fields = e->run.info.fields[0] != '\0';
  bool holds = e->wanted[PLY] || e->wanted[VTU] || e->wanted[BGEO];
  if (fields && !holds && !quiet) {
    fprintf(stderr, "fields are left out: ply, vtu and bgeo hold them\n");
  }
}

yw_status export_check_skin(const char* formats, yw_error* error) {
  bool wanted[NUM_FORMATS] = {0};
  if (!formats || !each_format(formats, wanted) || (!wanted[PLY] && !wanted[OBJ])) {
    return yw_fail(error, YW_ERR_INVALID, "--skin needs --format ply or obj");
  }
  return skin_available(error);
}

yw_status export_run(const export_def* def, yw_error* error) {
  exporter* e = YW_NEW(NULL, exporter);
  if (!e) return yw_fail_memory(error, "an export");
  e->skin = def->skin;
  e->thick = def->thick;
  e->velocities = def->velocities;
  yw_status status = YW_OK;
  if (!each_format(def->formats, e->wanted)) {
    status = yw_fail(error, YW_ERR_INVALID,
                     "format is \"%s\", but must be a list of ply, obj, vtu, pc2, mdd, bgeo, gltf, "
                     "usd",
                     def->formats);
  }
  if (status >= 0 && e->skin) status = export_check_skin(def->formats, error);
  if (status >= 0) status = open_exporter(e, def, error);
  if (status >= 0) {
    int32_t last = e->run.info.frames_done;
    progress p = progress_start("exported frame", e->first, last, def->quiet);
    for (int32_t frame = e->first; frame <= last && status >= 0; ++frame) {
      status = write_frame(e, frame, error);
      progress_show(&p, frame, NULL);
    }
    progress_end(&p);
  }
  if (status >= 0) status = finish_series(e, error);
  if (status >= 0) report_left_out(e, def->quiet);
  if (status >= 0) report_parted(e);
  close_exporter(e);
  return status;
}
