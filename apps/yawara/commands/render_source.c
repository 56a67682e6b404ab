// SPDX-License-Identifier: MIT
#include "commands/render_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "console/options.h"
#include "playback/look.h"
#include "playback/moments.h"
#include "render/skin/skin.h"
#include "yawara/extend/error.h"

static int open_run(const render_options* o, source* s) {
  yw_error error = {0};
  if (starter_is_asked(&o->scene.model)) {
    return bad_input(
        "--as, --method and --fit are for models, but %s is a run; run the model again", o->input);
  }
  if (run_folder_open(o->input, &s->run, &error) < 0) return bad_input("%s", error.message);
  s->is_run = true;
  s->shown = s->run.shown;
  s->fps = s->run.info.fps;
  s->frames = s->run.info.frames_done;
  return -1;
}

static int open_scene(const render_options* o, source* s) {
  yw_error error = {0}, warning = {0};
  int code = scene_options_read(&o->scene, o->input, &s->scene, NULL, &warning, &error);
  if (code >= 0) return code;
  if (yw_scene_build(s->scene, o->scene.threads, scene_options_simd(&o->scene), &s->world, &error) <
          0 ||
      shown_create(s->scene, s->world, &s->own_shown, &error) < 0) {
    return bad_input("%s", error.message);
  }
  yw_scene_info info = yw_scene_info_of(s->scene);
  s->shown = s->own_shown;
  s->fps = info.fps;
  s->frames = info.frames;
  return -1;
}

void close_source(source* s) {
  stage_destroy(s->stage);
  run_folder_close(&s->run);
  shown_destroy(s->own_shown);
  yw_world_destroy(s->world);
  yw_scene_destroy(s->scene);
}

// Reads or simulates frame number `frame`.
static yw_status get_frame(source* s, int32_t frame, frame_data* out, yw_error* error) {
  if (s->is_run) return run_folder_read_frame(&s->run, frame, out, error);
  yw_scene_info info = yw_scene_info_of(s->scene);
  for (; s->frame < frame; ++s->frame) {
    yw_status status = yw_world_step(s->world, 1.0f / info.fps, info.substeps, NULL);
    if (status < 0) return yw_fail(error, status, "frame %d: the step failed", s->frame + 1);
  }
  const frame_def def = {
      .world = s->world, .scene = s->scene, .number = frame, .fields = s->color.field};
  return frame_take(&def, out, error);
}

// Shows frame number `frame` without colours by field.
static yw_status show_plainly(source* s, int32_t frame, yw_error* error) {
  frame_data data;
  yw_status status = get_frame(s, frame, &data, error);
  if (status < 0) return status;
  status = stage_show(s->stage, &data, error);
  frame_free(&data);
  return status;
}

// The sun stays where it is seen from the camera that is usual, so that faces are never in shadow
// because a camera went around to see them. What the scene or a look says about either stays.
static void turn_sun(const source* s, float usual, float chosen) {
  yw_vec3 standard = yw_default_picture().sun.direction, *sun = &s->shown->sun.direction;
  if (s->shown->has_camera || s->framing.azimuth != chosen || yw_distance(*sun, standard) > 0) {
    return;
  }
  float angle = (chosen - usual) * 0.017453292519943295f, c = cosf(angle), n = sinf(angle);
  *sun = yw_v3(c * sun->x + n * sun->z, sun->y, c * sun->z - n * sun->x);
}

// Of a run, --set changes the look; of a scene it has changed the scene.
static int change_look(const render_options* o, source* s) {
  yw_error error = {0};
  look l = {.shown = s->shown};
  frame_data first;
  s->framing = yw_default_framing();
  float usual = s->framing.azimuth, chosen = usual;
  yw_status status = get_frame(s, 0, &first, &error);
  if (status >= 0) {
    chosen = s->framing.azimuth = moments_azimuth(s->shown, &first, usual);
    frame_free(&first);
  }
  if (status >= 0 && o->look) status = look_read(&l, o->look, &error);
  for (int32_t i = 0; s->is_run && i < o->scene.set.count && status >= 0; ++i) {
    status = look_set(&l, o->scene.set.items[i], &error);
  }
  if (status >= 0) status = look_apply(&l, s->shown, &s->framing, &error);
  if (status >= 0) turn_sun(s, usual, chosen);
  return status < 0 ? bad_input("%s", error.message) : -1;
}

static int parse_range(const render_options* o, coloring* out) {
  *out = (coloring){.field = o->color_by, .low = INFINITY, .high = -INFINITY};
  if (!o->color_range) return -1;
  if (!o->color_by) return bad_input("--color-range needs --color-by FIELD");
  char* end = NULL;
  out->low = strtod(o->color_range, &end);
  bool colon = end != o->color_range && *end == ':';
  const char* second = colon ? end + 1 : "";
  out->high = strtod(second, &end);
  if (!colon || end == second || *end || !(out->low < out->high) || !isfinite(out->low) ||
      !isfinite(out->high)) {
    return bad_input("--color-range is \"%s\", but must be LOW:HIGH, e.g. 0:2.5", o->color_range);
  }
  out->given = true;
  return -1;
}

int open_source(const render_options* o, source* s) {
  yw_error error = {0};
  struct stat what;
  if (stat(o->input, &what) != 0) return bad_input("%s: there is no such file or folder", o->input);
  int code = S_ISDIR(what.st_mode) ? open_run(o, s) : open_scene(o, s);
  if (code < 0) code = change_look(o, s);
  if (code >= 0) return code;
  // The first frame is always in view, even if only later ones are drawn.
  if (stage_create(s->shown, &s->stage, &error) < 0 || show_plainly(s, 0, &error) < 0) {
    return bad_input("%s", error.message);
  }
  stage_set_wireframe(s->stage, o->wireframe);
  if (!o->particles && stage_has_particles(s->stage)) {
    bool skin = skin_available(&error) >= 0;
    if (!skin) fprintf(stderr, "yawara: %s; drawing balls\n", error.message);
    stage_set_skin(s->stage, skin);
  }
  if (o->particles) stage_set_balls(s->stage);
  return parse_range(o, &s->color);
}

// Extends the colour range to the values of a frame.
static yw_status widen_range(source* s, const frame_data* frame, yw_error* error) {
  coloring* c = &s->color;
  if (!c->field || c->given) return YW_OK;
  double low, high;
  if (!frame_field_range(frame, c->field, &low, &high)) {
    return yw_fail_memory(error, "the range of a field");
  }
  c->low = low < c->low ? low : c->low;
  c->high = high > c->high ? high : c->high;
  return YW_OK;
}

yw_status show_frame(source* s, int32_t frame, yw_error* error) {
  frame_data data;
  yw_status status = get_frame(s, frame, &data, error);
  if (status < 0) return status;
  status = widen_range(s, &data, error);
  if (s->color.field) {
    stage_set_field(s->stage, s->color.field, (float)s->color.low, (float)s->color.high);
  }
  if (status >= 0) status = stage_show(s->stage, &data, error);
  frame_free(&data);
  return status;
}

yw_status find_field(source* s, int32_t first, yw_error* error) {
  coloring* c = &s->color;
  if (!c->field) return YW_OK;
  yw_status status = s->is_run ? YW_OK : frame_check_fields(s->world, c->field, error);
  frame_data data;
  if (status >= 0) status = get_frame(s, first, &data, error);
  if (status < 0) return status;
  const frame_field* field = NULL;
  for (int32_t i = 0; i < data.num_bodies && !field; ++i) {
    field = frame_find_field(&data.bodies[i], c->field);
  }
  if (field) {
    const char* unit = field->unit;
    snprintf(c->title, sizeof c->title, unit[0] ? "%s (%s)" : "%s%s", field->name, unit);
  } else {
    status = yw_fail(error, YW_ERR_INVALID,
                     "%s: the run has no field \"%s\"; run the scene again with --fields %s",
                     s->run.dir, c->field, c->field);
  }
  frame_free(&data);
  return status;
}

yw_status choose_camera(source* s, const render_options* o, yw_camera* camera, yw_aabb* focus,
                        yw_error* error) {
  moments m = moments_start(&s->framing, (float)o->width / (float)o->height);
  yw_status status = YW_OK;
  bool given = s->shown->has_camera;
  int32_t last = s->is_run && !given ? s->frames : 0;
  for (int32_t frame = 0; frame <= last && status >= 0; ++frame) {
    frame_data data;
    status = get_frame(s, frame, &data, error);
    if (status < 0) break;
    moments_add(&m, s->shown, &data);
    if (!s->is_run && !given) moments_add_fall(&m, s->shown, &data);
    frame_free(&data);
  }
  *focus = m.box;
  *camera = given ? s->shown->camera : yw_framer_camera(&m.framer);
  return status;
}

yw_status find_range(source* s, const render_options* o, int32_t last, yw_error* error) {
  if (!s->is_run || !s->color.field || s->color.given) return YW_OK;
  yw_status status = YW_OK;
  for (int32_t frame = o->from; frame <= last && status >= 0; frame += o->every) {
    frame_data data;
    status = get_frame(s, frame, &data, error);
    if (status < 0) break;
    status = widen_range(s, &data, error);
    frame_free(&data);
  }
  return status;
}
