// SPDX-License-Identifier: MIT
// Scene files: text -> tree -> overrides -> checked specs -> meshes and models.
#include "yawara/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/file.h"
#include "yawara/extend/vec.h"

#define MAX_FRAMES 100000000

// The whole ---------------------------------------------------------------------------------------

typedef struct scene_keys {
  const char *schema, *name, *description;
  yw_vec3 gravity;
  float fps, duration;
  int32_t frames, substeps, contact_iterations, contact;
  float sleep_speed;
  const yw_json* wind;
  const yw_json *camera, *shapes, *models, *bodies, *obstacles, *joints, *tracks, *floor;
} scene_keys;
static const char* const contact_words[] = {"points", "surfaces", NULL};
static const scene_keys scene_defaults = {.name = NULL,
                                          .description = "",
                                          .gravity = {0, -9.81f, 0},
                                          .fps = 60,
                                          .duration = 4,
                                          .substeps = 4,
                                          .contact_iterations = 4,
                                          .contact = YW_CONTACT_SURFACES,
                                          .sleep_speed = YW_DEFAULT_SLEEP_SPEED};
static const yw_key_row scene_rows[] = {
    YW_KEY_AS("$schema", scene_keys, schema, TEXT, 0, 0, "",
              "Path of the JSON schema, for editors."),
    YW_KEY(scene_keys, name, TEXT, 0, 0, "", "Short name. Default: the file name."),
    YW_KEY(scene_keys, description, TEXT, 0, 0, "", "What the scene shows."),
    YW_KEY(scene_keys, gravity, VEC3, -1e5, 1e5, "m/s^2", "Gravitational acceleration."),
    YW_NODE(scene_keys, wind, "wind", "Moving air. Default: none."),
    YW_KEY_ABOVE(scene_keys, fps, NUMBER, 0, 100000, "1/s", "Output frames per second."),
    YW_KEY_ABOVE(scene_keys, duration, NUMBER, 0, 1e6, "s", "Simulated time."),
    YW_KEY(scene_keys, frames, INTEGER, 0, MAX_FRAMES, "",
           "Number of frames after the first, instead of \"duration\"."),
    YW_KEY(scene_keys, substeps, INTEGER, 1, 10000, "", "Simulation steps per frame."),
    YW_CHOICE(
        scene_keys, contact, contact_words,
        "How bodies touch: with \"surfaces\" nothing that is apart at the start ever crosses; "
        "\"points\" is faster in crowds, but bodies may overlap or pass each other."),
    YW_KEY(scene_keys, contact_iterations, INTEGER, 1, 64, "",
           "Solver sweeps over the contacts between bodies, per substep."),
    YW_KEY(
        scene_keys, sleep_speed, NUMBER, 0, 1e3, "m/s",
        "Bodies that touch or are joined fall asleep when all of them have been slower than this "
        "for half a second; 0: never. What sleeps stands still until something moves it."),
    YW_NODE(scene_keys, camera, "camera",
            "Camera for pictures. Default: one that sees everything."),
    YW_NODE(scene_keys, shapes, "{any_shape}", "Named shapes."),
    YW_NODE(scene_keys, models, "{model}", "Named models."),
    YW_NODE(scene_keys, bodies, "[body]", "Soft and rigid bodies."),
    YW_NODE(scene_keys, obstacles, "[obstacle]", "Obstacles."),
    YW_NODE(scene_keys, joints, "[joint]", "Joints between bodies."),
    YW_NODE(scene_keys, tracks, "[track]", "Gravity and wind that change over time."),
    YW_NODE(scene_keys, floor, "boolean|floor",
            "Horizontal floor: true for one at y = 0, or its settings.")};
const yw_record yw_record_scene =
    YW_RECORD("scene", scene_rows, scene_defaults,
              "A Yawara scene. SI units, y is up. Comments (// and /* */) are allowed.",
              "needs bodies; not duration frames");

static const yw_wind_def wind_defaults = {.density = 1.2f, .drag = 1, .size = 1};
static const yw_key_row wind_rows[] = {
    YW_KEY(yw_wind_def, velocity, VEC3, -1e4, 1e4, "m/s", "Velocity of the air."),
    YW_KEY(yw_wind_def, density, NUMBER, 0, 1e5, "kg/m^3", "Density of the air."),
    YW_KEY(yw_wind_def, drag, NUMBER, 0, 1e3, "",
           "Drag coefficient of surfaces, times the area that they turn to the air."),
    YW_KEY(yw_wind_def, turbulence, NUMBER, 0, 1e4, "m/s",
           "Root mean square of what gusts add to each component of the velocity."),
    YW_KEY_ABOVE(yw_wind_def, size, NUMBER, 0, YW_SCENE_REACH, "m", "Size of gusts."),
    YW_KEY(yw_wind_def, seed, INTEGER, 0, 2147483647, "", "Random seed of gusts.")};
const yw_record yw_record_wind =
    YW_RECORD("wind", wind_rows, wind_defaults,
              "Air, which drags surfaces along by their speed against it. It acts on volumes, "
              "sheets, rods and balls.",
              "");

static bool load_wind(yw_loader* l, const yw_json* node) {
  l->scene->wind = (yw_wind_def){.density = 0};
  return !node || yw_read_record(&l->r, node, &yw_record_wind, &l->scene->wind);
}

static const yw_camera camera_defaults = {.fov = 40};
static const yw_key_row camera_rows[] = {
    YW_KEY(yw_camera, eye, VEC3, -1e6, 1e6, "m", "Position of the camera."),
    YW_KEY(yw_camera, target, VEC3, -1e6, 1e6, "m", "Point that the camera looks at."),
    YW_KEY(yw_camera, fov, NUMBER, 1, 170, "degrees", "Vertical field of view.")};
const yw_record yw_record_camera =
    YW_RECORD("camera", camera_rows, camera_defaults, "Camera for pictures.", "needs eye target");

static bool load_camera(yw_loader* l, const yw_json* node) {
  yw_scene_info* info = &l->scene->info;
  info->camera = camera_defaults;
  if (!node) return true;
  info->has_camera = true;
  if (!yw_read_record(&l->r, node, &yw_record_camera, &info->camera) ||
      !yw_needs(&l->r, node, "eye") || !yw_needs(&l->r, node, "target")) {
    return false;
  }
  if (yw_distance(info->camera.eye, info->camera.target) > 0) return true;
  return yw_value_fail(&l->r, node, "looks from \"eye\" to the same point, \"target\"");
}

static bool load_time(yw_loader* l, const yw_json* root, const scene_keys* k) {
  yw_scene_info* info = &l->scene->info;
  const yw_json *frames = yw_json_get(root, "frames"), *duration = yw_json_get(root, "duration");
  if (!yw_not_both(&l->r, root, "duration", "frames")) return false;
  double count = frames ? k->frames : floor((double)k->duration * (double)k->fps + 0.5);
  if (count > MAX_FRAMES) {
    return yw_value_fail(&l->r, duration, "makes %.0f frames, but at most %d are allowed", count,
                         MAX_FRAMES);
  }
  info->fps = k->fps;
  info->frames = count < 1 && !frames ? 1 : (int32_t)count;
  info->substeps = k->substeps;
  return true;
}

// File name without folder and extension.
static const char* stem_of(yw_loader* l, const char* path) {
  const char* slash = strrchr(path, '/');
  const char* begin = slash ? slash + 1 : path;
  const char* dot = strrchr(begin, '.');
  size_t length = dot && dot > begin ? (size_t)(dot - begin) : strlen(begin);
  char* stem = yw_json_alloc(l->r.doc, length + 1);
  if (stem) memcpy(stem, begin, length);
  return stem;
}

static bool load_scene(yw_loader* l) {
  const yw_json* root = yw_json_root(l->r.doc);
  yw_scene* scene = l->scene;
  scene_keys k;
  if (!yw_read_record(&l->r, root, &yw_record_scene, &k) || !yw_needs(&l->r, root, "bodies")) {
    return false;
  }
  scene->gravity = k.gravity;
  scene->contact_iterations = k.contact_iterations;
  scene->sleep_speed = k.sleep_speed;
  scene->contact = (yw_contact_kind)k.contact;
  scene->info.name = k.name ? k.name : stem_of(l, l->r.file);
  scene->info.description = k.description;
  if (!scene->info.name) return yw_memory_fail(&l->r);

  // First all checks of the text, then the expensive work.
  bool read = load_time(l, root, &k) && load_wind(l, k.wind) && load_camera(l, k.camera) &&
              yw_load_named_shapes(l, k.shapes) && yw_load_named_models(l, k.models) &&
              yw_load_floor(l, k.floor) && yw_load_obstacles(l, k.obstacles) &&
              yw_load_bodies(l, k.bodies) && yw_check_filters(l) && yw_load_joints(l, k.joints) &&
              yw_load_tracks(l, k.tracks, true, &scene->tracks, &scene->num_tracks);
  if (!read) return false;
  yw_warn_unused_shapes(l);
  return yw_build_models(l);
}

// Files -------------------------------------------------------------------------------------------

char* yw_loader_file(yw_loader* l, const char* file) {
  size_t folder = file[0] == '/' ? 0 : strlen(l->folder), length = strlen(file);
  char* path = yw_json_alloc(l->r.doc, folder + length + 1);
  if (!path) return NULL;
  memcpy(path, l->folder, folder);
  memcpy(path + folder, file, length);
  return path;
}

static bool set_folder(yw_loader* l, const char* path) {
  const char* slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0, whole = strlen(path);
  l->folder = yw_json_alloc(l->r.doc, length + 1);
  char* file = yw_json_alloc(l->r.doc, whole + 1);
  if (!l->folder || !file) return yw_memory_fail(&l->r);
  memcpy(l->folder, path, length);
  memcpy(file, path, whole);
  l->scene->file = file;
  return true;
}

// Public ------------------------------------------------------------------------------------------

yw_scene_def yw_default_scene_def(void) { return (yw_scene_def){0}; }

static yw_status check_def(const yw_scene_def* def, yw_error* error) {
  if (!def || !def->path) return yw_fail(error, YW_ERR_INVALID, "yw_scene_read needs a path");
  if (!def->text && def->size > 0) {
    return yw_fail(error, YW_ERR_INVALID, "%s: a text of %zu bytes is NULL", def->path, def->size);
  }
  if (def->num_overrides < 0 || (def->num_overrides > 0 && !def->overrides)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: there are %d overrides, but their list is NULL",
                   def->path, (int)def->num_overrides);
  }
  return YW_OK;
}

static yw_status read_text(const yw_scene_def* def, const char* text, size_t size, yw_scene** out,
                           yw_error* warning, yw_error* error) {
  yw_error own = {0};
  yw_scene* scene = YW_NEW(&def->mem, yw_scene);
  if (!scene) return yw_fail_memory(error, def->path);
  scene->mem = yw_mem_or_default(&def->mem);
  scene->jobs = def->jobs;
  yw_status status = yw_json_parse(&scene->mem, def->path, text, size, &scene->doc, error);
  if (status < 0) {
    yw_scene_destroy(scene);
    return status;
  }
  yw_loader l = {.scene = scene, .def = def};
  l.r = (yw_reader_ctx){&scene->mem, def->path, scene->doc, def->overrides, &own, warning};
  scene->files.mem = scene->mem;
  yw_file_list* before = yw_file_list_use(&scene->files);
  bool done = (yw_file_list_add(&scene->files, def->path, text, size) || yw_memory_fail(&l.r)) &&
              set_folder(&l, def->path) &&
              yw_apply_overrides(&l, def->num_overrides, def->overrides) && load_scene(&l);
  yw_file_list_use(before);
  YW_LIST_FREE(&scene->mem, &l.shape_files);
  if (!done) {
    yw_error_clear(warning);
    yw_scene_destroy(scene);
    return yw_fail(error, own.status, "%s", own.message);
  }
  *out = scene;
  return YW_OK;
}

yw_status yw_scene_read(const yw_scene_def* def, yw_scene** out, yw_error* warning,
                        yw_error* error) {
  yw_error_clear(warning);
  if (!out) return yw_fail(error, YW_ERR_INVALID, "yw_scene_read needs a place for the scene");
  *out = NULL;
  yw_status status = check_def(def, error);
  if (status < 0) return status;
  if (def->text) return read_text(def, def->text, def->size, out, warning, error);
  yw_file_data data = {0};
  status = yw_file_read_all(def->path, YW_JSON_MAX_BYTES, &def->mem, &data, error);
  if (status < 0) return status;
  status = read_text(def, data.bytes, data.size, out, warning, error);
  yw_file_data_free(&data);
  return status;
}

void yw_scene_destroy(yw_scene* scene) {
  if (!scene) return;
  yw_allocator mem = scene->mem;
  for (int32_t i = 0; i < scene->models.count; i++)
    yw_model_spec_free(&mem, &scene->models.items[i]);
  for (int32_t i = 0; i < scene->groups.count; i++) yw_model_release(scene->groups.items[i].model);
  for (int32_t i = 0; i < scene->shapes.count; i++) yw_shape_release(scene->shapes.items[i]);
  YW_LIST_FREE(&mem, &scene->shapes);
  YW_LIST_FREE(&mem, &scene->models);
  YW_LIST_FREE(&mem, &scene->bodies);
  YW_LIST_FREE(&mem, &scene->groups);
  YW_LIST_FREE(&mem, &scene->obstacles);
  YW_LIST_FREE(&mem, &scene->joints);
  yw_file_list_free(&scene->files);
  yw_json_free(scene->doc);
  yw_mem_free(&mem, scene);
}

yw_scene_info yw_scene_info_of(const yw_scene* scene) { return scene->info; }

int32_t yw_scene_num_files(const yw_scene* scene) { return scene->files.count; }

yw_scene_file yw_scene_file_at(const yw_scene* scene, int32_t i) {
  if (i < 0 || i >= scene->files.count) return (yw_scene_file){.path = ""};
  const yw_file_record* file = &scene->files.items[i];
  return (yw_scene_file){file->path, file->size, file->hash};
}
