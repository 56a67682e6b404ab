// SPDX-License-Identifier: MIT
// Opening scenes and stepping.
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_CHANGES 256

// Threads -----------------------------------------------------------------------------------------

// Worlds borrow the core's threads, because starting threads is slow in a browser.
typedef struct shared_job {
  void (*task)(void* context, int32_t index);
  void* context;
} shared_job;

static void run_block(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const shared_job* job = context;
  job->task(job->context, block);
}

static void run_jobs(void* context, int32_t num_tasks, void (*task)(void*, int32_t),
                     void* task_context) {
  shared_job job = {task, task_context};
  yw_tasks_run(context, num_tasks, run_block, &job);
}

core* core_create(int32_t threads) {
  core* c = YW_NEW(NULL, core);
  if (c && threads > 1) c->tasks = yw_tasks_create(NULL, threads);
  return c;
}

// Opening -----------------------------------------------------------------------------------------

/// A scene with everything made from it, before it takes the place of the old one.
typedef struct opened {
  yw_scene* scene;
  yw_world* world;
  run_folder* run;
  shown_scene* shown;
  display_mesh *meshes, *obstacle_meshes;
  core_body* bodies;
  yw_vec3* surface;
} opened;

static void opened_free(opened* o) {
  for (int32_t i = 0; o->meshes && i < o->shown->num_models; ++i) display_mesh_free(&o->meshes[i]);
  for (int32_t i = 0; o->obstacle_meshes && i < o->shown->num_obstacles; ++i) {
    display_mesh_free(&o->obstacle_meshes[i]);
  }
  for (int32_t i = 0; o->bodies && i < o->shown->num_bodies; ++i) {
    yw_mem_free(NULL, o->bodies[i].carriers);
    yw_mem_free(NULL, o->bodies[i].colors);
    wrap_free(&o->bodies[i].skin);
  }
  yw_mem_free(NULL, o->meshes);
  yw_mem_free(NULL, o->obstacle_meshes);
  yw_mem_free(NULL, o->bodies);
  yw_mem_free(NULL, o->surface);
  if (o->run) {
    run_folder_close(o->run);
    yw_mem_free(NULL, o->run);
  } else {
    shown_destroy(o->shown);
  }
  yw_world_destroy(o->world);
  yw_scene_destroy(o->scene);
  *o = (opened){0};
}

static opened take_opened(core* c) {
  opened o = {c->scene,  c->world,           c->run,    c->shown,
              c->meshes, c->obstacle_meshes, c->bodies, c->surface};
  return o;
}

static void free_moment(core* c) {
  for (int32_t i = 0; c->surfaces && i < c->shown->num_bodies; ++i) {
    yw_mem_free(NULL, c->surfaces[i]);
  }
  yw_mem_free(NULL, c->surfaces);
  c->surfaces = NULL;
  frame_free(&c->moment);
}

// What was opened takes the place of what was open before.
static void take_place(core* c, const opened* next) {
  opened old = take_opened(c);
  core_keep_stop(c);
  core_pose_end(c);
  core_paint_end(c);
  core_forget_holds(c);
  free_moment(c);
  opened_free(&old);
  c->scene = next->scene;
  c->world = next->world;
  c->run = next->run;
  c->shown = next->shown;
  c->meshes = next->meshes;
  c->obstacle_meshes = next->obstacle_meshes;
  c->bodies = next->bodies;
  c->surface = next->surface;
  c->frame = 0;
  c->report = (yw_step_report){0};
  if (c->world) yw_world_record_contacts(c->world, c->records_contacts);
}

// Splits "path<TAB>value" lines in place.
static int32_t split_changes(char* lines, yw_scene_override out[MAX_CHANGES]) {
  int32_t count = 0;
  for (char *line = lines, *next; line && *line && count < MAX_CHANGES; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    char* tab = strchr(line, '\t');
    if (!tab) continue;
    *tab = '\0';
    out[count++] = (yw_scene_override){line, tab + 1};
  }
  return count;
}

static yw_status read_scene(core* c, const char* path, const char* scene, char* changes,
                            yw_error* warning, opened* out, yw_error* error) {
  yw_scene_override overrides[MAX_CHANGES];
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.text = scene;
  def.size = strlen(scene);
  def.overrides = overrides;
  def.num_overrides = split_changes(changes, overrides);
  def.threads = 1;
  def.cache_folder = c->cache_folder;
  def.progress = c->progress;
  def.progress_context = c->progress_context;
  if (c->tasks) def.jobs = (yw_jobs){run_jobs, c->tasks, yw_tasks_workers(c->tasks)};
  yw_status status = yw_scene_read(&def, &out->scene, warning, error);
  if (status >= 0) status = yw_scene_build(out->scene, 1, YW_SIMD_AUTO, &out->world, error);
  if (status >= 0) status = shown_create(out->scene, out->world, &out->shown, error);
  return status;
}

static float longest_side(const yw_vec3* points, int32_t count) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, points[i]);
  if (count == 0) return 0.0f;
  yw_vec3 side = yw_sub(box.upper, box.lower);
  return fmaxf(side.x, fmaxf(side.y, side.z));
}

static void name_bodies(opened* o) {
  for (int32_t i = 0; i < o->shown->num_bodies; ++i) {
    core_body* body = &o->bodies[i];
    body->id = yw_world_body(o->world, i);
    int32_t count = 0;
    const yw_vec3* points = yw_body_positions(o->world, body->id, &count);
    body->size = longest_side(points, count);
  }
}

static yw_status build_display(opened* o, yw_error* error) {
  const shown_scene* shown = o->shown;
  o->meshes = YW_NEW_ARRAY(NULL, display_mesh, shown->num_models);
  o->obstacle_meshes = YW_NEW_ARRAY(NULL, display_mesh, shown->num_obstacles);
  o->bodies = YW_NEW_ARRAY(NULL, core_body, shown->num_bodies);
  bool good = o->meshes && o->obstacle_meshes && o->bodies;
  int32_t largest = 0;
  for (int32_t i = 0; i < shown->num_models && good; ++i) {
    const yw_tri_mesh* surface = &shown->models[i].surface;
    if (surface->num_vertices > largest) largest = surface->num_vertices;
    // Bodies of one model share its creases, which are the same for all bodies.
    good = display_mesh_create(surface, shown->bodies[0].look.crease, &o->meshes[i]);
  }
  for (int32_t i = 0; i < shown->num_obstacles && good; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    if (obstacle->surface.num_vertices > largest) largest = obstacle->surface.num_vertices;
    good = display_mesh_create(&obstacle->surface, obstacle->look.crease, &o->obstacle_meshes[i]);
  }
  o->surface = good ? YW_NEW_ARRAY(NULL, yw_vec3, largest + 1) : NULL;
  if (!o->surface) return yw_fail_memory(error, "what is shown");
  if (o->world) name_bodies(o);
  return YW_OK;
}

yw_status core_open(core* c, const char* path, const char* scene, const char* changes) {
  yw_error error = {0}, warning = {0};
  opened next = {0};
  char* lines = strdup(changes ? changes : "");
  yw_status status = lines ? read_scene(c, path, scene, lines, &warning, &next, &error)
                           : yw_fail_memory(&error, "the changes of the scene");
  free(lines);
  if (status >= 0) status = build_display(&next, &error);
  if (status < 0) {
    opened_free(&next);
    c->message = error;
    return status;
  }
  take_place(c, &next);
  c->info = yw_scene_info_of(c->scene);
  c->message = warning;
  return YW_OK;
}

// Runs on disk ------------------------------------------------------------------------------------

yw_status core_open_run(core* c, const char* dir) {
  yw_error error = {0};
  opened next = {.run = YW_NEW(NULL, run_folder)};
  yw_status status =
      next.run ? run_folder_open(dir, next.run, &error) : yw_fail_memory(&error, "a run");
  if (status >= 0) {
    next.shown = next.run->shown;
    status = build_display(&next, &error);
  }
  if (status < 0) {
    opened_free(&next);
    c->message = error;
    return status;
  }
  take_place(c, &next);
  c->frame = -1;
  const run_info* run = &c->run->info;
  const char* slash = strrchr(c->run->dir, '/');
  c->info = (yw_scene_info){.name = slash && slash[1] ? slash + 1 : c->run->dir,
                            .description = "",
                            .fps = run->fps,
                            .frames = run->frames,
                            .substeps = run->substeps,
                            .has_camera = c->shown->has_camera,
                            .camera = c->shown->camera};
  c->message = (yw_error){0};
  status = core_show_frame(c, 0);
  for (int32_t i = 0; i < c->shown->num_bodies && status >= 0; ++i) {
    const frame_body* body = &c->moment.bodies[i];
    c->bodies[i].size = longest_side(body->positions, body->num_particles);
  }
  return status;
}

// The surfaces of a frame, kept out of each other as in pictures.
static yw_status move_surfaces(const core* c, const frame_data* frame, yw_vec3** surfaces) {
  yw_status status = YW_OK;
  for (int32_t i = 0; i < frame->num_bodies && status >= 0; ++i) {
    const shown_model* model = shown_model_of(c->shown, i);
    if (model->kind == SHOWN_PARTICLES) continue;
    surfaces[i] = YW_NEW_ARRAY(NULL, yw_vec3, (size_t)model->surface.num_vertices + 1);
    status = surfaces[i] ? frame_surface(&frame->bodies[i], model, surfaces[i]) : YW_ERR_MEMORY;
  }
  return status < 0 ? status : frame_keep_apart(frame, c->shown, surfaces);
}

static yw_status read_moment(core* c, int32_t number) {
  // The frame before refers to cells that reading another one may free.
  free_moment(c);
  yw_status status = run_folder_read_frame(c->run, number, &c->moment, &c->message);
  if (status < 0) return status;
  c->surfaces = YW_NEW_ARRAY(NULL, yw_vec3*, (size_t)c->moment.num_bodies + 1);
  status = c->surfaces ? move_surfaces(c, &c->moment, c->surfaces) : YW_ERR_MEMORY;
  if (status >= 0) return YW_OK;
  free_moment(c);
  return yw_fail_memory(&c->message, "a frame");
}

yw_status core_show_frame(core* c, int32_t number) {
  if (!c->run) return yw_fail(&c->message, YW_ERR_INVALID, "no run is open");
  yw_status status = read_moment(c, number);
  if (status >= 0) {
    c->frame = number;
    return status;
  }
  yw_error error = c->message;
  read_moment(c, c->frame);
  c->message = error;
  return status;
}

// Time --------------------------------------------------------------------------------------------

yw_status core_restart(core* c) {
  yw_world* world = NULL;
  if (!c->scene) return yw_fail(&c->message, YW_ERR_INVALID, "no scene is open");
  yw_status status = yw_scene_build(c->scene, 1, YW_SIMD_AUTO, &world, &c->message);
  if (status < 0) return status;
  core_pose_end(c);
  core_paint_end(c);
  core_forget_holds(c);
  yw_world_destroy(c->world);
  c->world = world;
  yw_world_record_contacts(world, c->records_contacts);
  c->frame = 0;
  c->report = (yw_step_report){0};
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) c->bodies[i].id = yw_world_body(world, i);
  return YW_OK;
}

yw_status core_step(core* c) {
  if (!c->world) return yw_fail(&c->message, YW_ERR_INVALID, "no scene is open");
  if (c->poser) {
    core_pose_step(c);
    ++c->frame;
    return YW_OK;
  }
  yw_status status = yw_world_step(c->world, 1.0f / c->info.fps, c->info.substeps, &c->report);
  if (status >= 0) ++c->frame;
  return status;
}

yw_status core_set(core* c, int32_t body, const char* key, const char* value) {
  if (!c->world) return yw_fail(&c->message, YW_ERR_INVALID, "no scene is open");
  return yw_scene_set(c->scene, c->world, body, key, value, &c->message);
}

void core_destroy(core* c) {
  if (!c) return;
  take_place(c, &(opened){0});
  yw_tasks_destroy(c->tasks);
  yw_mem_free(NULL, c->words);
  yw_mem_free(NULL, c->pose);
  text_free(&c->json);
  text_free(&c->arrays);
  yw_mem_free(NULL, c);
}
