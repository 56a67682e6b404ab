// SPDX-License-Identifier: MIT
// The functions that JavaScript calls. A page has one core.
#include <emscripten/emscripten.h>
#include <math.h>
#include <string.h>

#include "console/presets.h"
#include "console/starter.h"
#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define EXPORT EMSCRIPTEN_KEEPALIVE

// clang-format off
// Tells the worker how far the building of models is.
EM_JS(void, tell_progress, (const char* what, double share), {
  if (Module.onProgress) Module.onProgress(UTF8ToString(what), share);
})
// clang-format on

static core* page;

static void on_progress(void* context, const char* what, double share) {
  (void)context;
  tell_progress(what, share);
}

EXPORT int page_start(int threads) {
  page = core_create(threads);
  if (page) page->progress = on_progress;
  return page ? yw_tasks_workers(page->tasks) : 0;
}

EXPORT int page_open(const char* path, const char* scene, const char* changes) {
  return core_open(page, path, scene, changes);
}
EXPORT int page_restart(void) { return core_restart(page); }
EXPORT int page_step(void) { return core_step(page); }
EXPORT int page_frame_number(void) { return page->frame; }
EXPORT double page_frames_per_second(void) { return (double)page->info.fps; }

EXPORT const char* page_message(void) { return page->message.message; }
EXPORT const char* page_scene(void) { return core_scene_json(page); }
EXPORT const char* page_report(void) { return core_report_json(page); }
EXPORT const char* page_hash(void) { return core_hash(page); }
EXPORT const float* page_take_frame(void) { return core_take_frame(page) < 0 ? NULL : page->words; }
EXPORT int page_frame_words(void) { return (int)page->num_words; }
EXPORT void page_show_field(const char* name) { core_show_field(page, name); }

EXPORT void page_look_inside(int inside, float x, float y, float z, float offset) {
  core_look_inside(page, (uint32_t)inside, (yw_vec3){x, y, z}, offset);
}

EXPORT int page_set(int body, const char* key, const char* value) {
  return core_set(page, body, key, value);
}
EXPORT const char* page_settings(int body) { return core_settings_json(page, body); }

EXPORT int page_keep_start(const char* dir, const char* text, const char* changes) {
  return core_keep_start(page, dir, text, changes);
}
EXPORT int page_keep_frame(void) { return core_keep_frame(page); }
EXPORT int page_keep_end(void) { return core_keep_end(page); }

static int32_t num_surface;
EXPORT const float* page_example_surface(int body, int k) {
  return core_example_surface(page, body, k, &num_surface);
}
EXPORT int page_example_vertices(void) { return num_surface; }

// example: number of the pose to start from; -1: the rest pose.
EXPORT int page_pose_begin(int body, int example) {
  int32_t count = 0;
  const yw_vec3* base = yw_scene_example(page->scene, body, example, &count, NULL);
  return core_pose_begin(page, body, base, count);
}
EXPORT void page_pose_end(void) {
  core_pose_end(page);
  core_restart(page);
}
EXPORT int page_pose_hold(float x, float y, float z, float radius, int brush, float strength,
                          float falloff, int mirror) {
  poser_grip grip = {{x, y, z}, radius, strength, falloff, brush != 0, mirror != 0};
  int32_t id = 0;
  return core_pose_hold(page, &grip, &id) < 0 ? -1 : id;
}
EXPORT int page_pose_move(int id, float x, float y, float z, float qx, float qy, float qz, float qw,
                          float scale) {
  return core_pose_move(page, id, (yw_vec3){x, y, z}, (yw_quat){qx, qy, qz, qw}, scale);
}
EXPORT int page_pose_act(int action, int id) {
  return core_pose_act(page, (core_pose_action)action, id);
}
EXPORT int page_pose_deform(const float* amounts, float x, float y, float z) {
  return core_pose_deform(page, amounts, (yw_vec3){x, y, z});
}
EXPORT const float* page_pose_save(void) {
  return page->poser && poser_save(page->poser) ? page->poser->words : NULL;
}
EXPORT int page_pose_words(void) { return page->poser ? page->poser->num_words : 0; }
EXPORT int page_pose_load(const float* words, int count) {
  return core_pose_load(page, words, count);
}
EXPORT const char* page_handles(void) { return core_handles_json(page); }
EXPORT const char* page_pose_check(int body, int with_pose) {
  return core_pose_check_json(page, body, with_pose != 0);
}

EXPORT int page_paint_begin(int body, int whole, const unsigned char* bytes, int count) {
  return core_paint_begin(page, body, whole != 0, bytes, count);
}
EXPORT void page_paint_end(void) { core_paint_end(page); }
EXPORT void page_paint_dab(float x, float y, float z, float radius, float value, float softness) {
  core_paint_dab(page, (yw_vec3){x, y, z}, radius, value, softness);
}
EXPORT void page_paint_line(float x, float y, float z, float u, float v, float w, float first,
                            float second) {
  core_paint_line(page, (yw_vec3){x, y, z}, (yw_vec3){u, v, w}, first, second);
}
EXPORT const unsigned char* page_paint(void) { return page->paint; }
EXPORT int page_paint_count(void) { return page->num_paint; }

static int32_t num_positions;
EXPORT const yw_vec3* page_pose(int body) { return core_pose(page, body, &num_positions); }
EXPORT int page_pose_count(void) { return num_positions; }

// Longest side of a model's box as its file says; 0 if it cannot be read.
EXPORT float page_model_size(const char* path) {
  yw_vec3* positions = NULL;
  int32_t count = 0;
  yw_error ignored = {0};
  yw_aabb box = yw_aabb_empty();
  if (yw_positions_read(path, NULL, &positions, &count, &ignored) < 0) return 0.0f;
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, positions[i]);
  yw_mem_free(NULL, positions);
  yw_vec3 side = yw_sub(box.upper, box.lower);
  return count > 0 ? fmaxf(side.x, fmaxf(side.y, side.z)) : 0.0f;
}

// The words for materials, each with the methods that have it, the default first, as a JSON object.
EXPORT const char* page_presets(void) {
  text* t = &page->json;
  const preset* p;
  text_clear(t);
  text_add(t, "{");
  for (int32_t i = 0; (p = preset_at(i)); ++i) {
    text_add_comma(t);
    text_add(t, "\"%s\":\"%s\"", p->word, p->methods);
  }
  text_add(t, "}");
  return t->data;
}

// The text of a scene in which a model falls on a floor; NULL: standard error says why not.
EXPORT const char* page_starter(const char* path, const char* as, const char* method) {
  static char* scene;
  starter_options options = {.as = as, .method = method[0] ? method : NULL};
  yw_mem_free(NULL, scene);
  scene = NULL;
  return starter_text(&options, path, path, &scene) < 0 ? scene : NULL;
}

EXPORT int page_grab(int body, float x, float y, float z) {
  return core_grab(page, body, (yw_vec3){x, y, z});
}
EXPORT int page_drag(float x, float y, float z) { return core_drag(page, (yw_vec3){x, y, z}); }
EXPORT void page_release(void) { core_release(page); }
EXPORT int page_pin(int body, float x, float y, float z) {
  return core_pin(page, body, (yw_vec3){x, y, z});
}

static void add_text(void* context, const char* piece) { text_add(context, "%s", piece); }

EXPORT const char* page_schema(void) {
  text_clear(&page->json);
  yw_scene_write_schema(add_text, &page->json);
  return page->json.data;
}
