// SPDX-License-Identifier: MIT
// yawara render: pictures or a movie of a run, or of a scene while it is simulated.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "console/options.h"
#include "console/progress.h"
#include "console/scene_options.h"
#include "playback/look.h"
#include "playback/moments.h"
#include "playback/run_folder.h"
#include "playback/stage.h"
#include "render/draw/colormap.h"
#include "render/draw/svg.h"
#include "render/output/movie.h"
#include "render/skin/skin.h"
#include "yawara/extend/error.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"

typedef struct render_options {
  const char* input;
  const char* output;
  const char* size;
  int32_t width, height;
  int32_t samples;
  int32_t from, to, every;
  float wireframe, fps;
  const char* color_by;
  const char* color_range;
  const char* look;
  bool particles;
  bool quiet;
  scene_options scene;
} render_options;

// Colours by field: the ends of the legend.
typedef struct coloring {
  const char* field;  // NULL: none
  bool given;         // the range was given
  double low, high;
  char title[80];
} coloring;

// Source of the frames: a run on disk, which needs nothing else, or a world that is simulated.
typedef struct source {
  bool is_run;
  run_folder run;
  yw_scene* scene;  // this and the next three: for a world
  yw_world* world;
  shown_scene* own_shown;
  int32_t frame;  // current frame of the world
  shown_scene* shown;
  yw_framing framing;  // of an automatic camera
  stage* stage;
  float fps;
  int32_t frames;
  coloring color;
} source;

typedef struct output {
  bool movie, numbered;
  char pattern[1024];
  yw_movie* stream;
} output;

static int parse_size(render_options* o) {
  char* end = NULL;
  long width = strtol(o->size, &end, 10);
  long height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
  if (*end || width < 16 || height < 16 || width > 8192 || height > 8192) {
    return bad_input("--size is \"%s\", but must be WIDTHxHEIGHT, e.g. 1280x720", o->size);
  }
  o->width = (int32_t)width;
  o->height = (int32_t)height;
  return -1;
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

static int parse(int argc, char** argv, render_options* o) {
  char about[2048];
  snprintf(about, sizeof about,
           "Of a run (a folder) all that is drawn is in the folder, and any frame can be drawn at\n"
           "once. A scene or model (a file) is simulated while it is drawn, and nothing is kept:\n"
           "run it first to draw it more than once. Without a camera in the scene, one is chosen\n"
           "that has the whole motion in view. A run can be looked at anew, with --set KEY=VALUE\n"
           "or keys in a file, --look: { \"camera\": { \"azimuth\": 60 }, \"gloss\": 1 }\n%s",
           look_help());
  *o = (render_options){.size = "640x360", .samples = 16, .to = -1, .every = 1};
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &o->output, "FILE",
       "movie (.mp4, .gif, .webp) or pictures (.png) (default: INPUT.mp4)", 0, 0},
      {"size", 0, OPTION_TEXT, &o->size, "WxH", "size in pixels (default: 640x360)", 0, 0},
      {"samples", 0, OPTION_INT, &o->samples, "N", "per pixel; more is smoother (default: 16)", 1,
       4096},
      {"from", 0, OPTION_INT, &o->from, "N", "first frame (default: 0)", 0, 1e9},
      {"to", 0, OPTION_INT, &o->to, "N", "last frame (default: the last there is)", 0, 1e9},
      {"every", 0, OPTION_INT, &o->every, "N", "only every N-th frame (default: 1)", 1, 1e9},
      {"fps", 0, OPTION_FLOAT, &o->fps, "N",
       "frames per second of the movie: less is slow motion (default: as simulated)", 0.1, 1000},
      {"wireframe", 0, OPTION_FLOAT, &o->wireframe, "PIXELS", "draw the edges of bodies", 0, 20},
      {"color-by", 0, OPTION_TEXT, &o->color_by, "FIELD",
       "colours by a field, e.g. speed (of a run: one kept with run --fields)", 0, 0},
      {"color-range", 0, OPTION_TEXT, &o->color_range, "LOW:HIGH",
       "ends of the colour scale (default: from the frames)", 0, 0},
      {"look", 0, OPTION_TEXT, &o->look, "FILE.json", "camera, colours, lights, floor: see above",
       0, 0},
      {"particles", 0, OPTION_FLAG, &o->particles, NULL,
       "bodies of particles as balls, not with a skin or surface", 0, 0},
      {"quiet", 'q', OPTION_FLAG, &o->quiet, NULL, "no progress", 0, 0},
      STARTER_OPTIONS(&o->scene.model),
      SCENE_OPTIONS(&o->scene),
  };
  const command self = {
      .name = "render",
      .summary = "ray-traced pictures or a movie of a run or a scene",
      .usage = "render DIR|SCENE|MODEL [-o FILE.mp4|FILE.png] [--size WxH] [--set KEY=VALUE]",
      .about = about,
      .examples =
          "  yawara render out/teddy -o teddy.mp4 --size 1280x720\n"
          "  yawara render out/teddy -o last.png --from 120 --to 120\n"
          "  yawara render out/teddy --set camera.azimuth=-40 --set camera.zoom=1.5\n"
          "  yawara render out/teddy --set color=#f2b134 --set floor.tiles=0\n"
          "  yawara render scenes/gallery/twist.json -o twist.gif --every 2\n"
          "  yawara render scenes/gallery/twist.json --color-by speed\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, &o->input, &count);
  return code >= 0 ? code : parse_size(o);
}

// Source ------------------------------------------------------------------------------------------

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

static void close_source(source* s) {
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

// Of a run, --set changes the look; of a scene it has changed the scene.
static int change_look(const render_options* o, source* s) {
  yw_error error = {0};
  look l = {.shown = s->shown};
  s->framing = yw_default_framing();
  yw_status status = o->look ? look_read(&l, o->look, &error) : YW_OK;
  for (int32_t i = 0; s->is_run && i < o->scene.set.count && status >= 0; ++i) {
    status = look_set(&l, o->scene.set.items[i], &error);
  }
  if (status >= 0) status = look_apply(&l, s->shown, &s->framing, &error);
  return status < 0 ? bad_input("%s", error.message) : -1;
}

static int open_source(const render_options* o, source* s) {
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

// Shows frame number `frame`.
static yw_status show_frame(source* s, int32_t frame, yw_error* error) {
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

// Finds the name and unit of the field; fails if no body has it.
static yw_status find_field(source* s, int32_t first, yw_error* error) {
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

// Chooses a camera that does not move: it must know all frames of the run in advance, whichever are
// drawn. Of a scene only the first is known, and where its bodies would fall.
static yw_status choose_camera(source* s, const render_options* o, yw_camera* camera,
                               yw_aabb* focus, yw_error* error) {
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

// Finds the ends of the colour scale in some of the frames to be drawn.
static yw_status find_range(source* s, const render_options* o, int32_t last, yw_error* error) {
  if (!s->is_run || !s->color.field || s->color.given) return YW_OK;
  int32_t stride = (last - o->from) / 16 + 1;
  yw_status status = YW_OK;
  for (int32_t frame = o->from; frame <= last && status >= 0; frame += stride) {
    status = show_frame(s, frame, error);
  }
  return status;
}

// Output ------------------------------------------------------------------------------------------

// A single PNG gets the given name, several are numbered: name_0042.png.
static yw_status open_output(const render_options* o, float fps, int32_t pictures, output* out,
                             yw_error* error) {
  char name[1000];
  if (o->output) {
    snprintf(name, sizeof name, "%s", o->output);
  } else {
    size_t length = strlen(o->input);
    while (length > 1 && o->input[length - 1] == '/') --length;
    if (yw_ends_with(o->input, ".json")) length -= 5;
    bool can_film = yw_movie_available(error) >= 0;
    if (!can_film) fprintf(stderr, "yawara: %s; writing pictures\n", error->message);
    snprintf(name, sizeof name, "%.*s.%s", (int)length, o->input, can_film ? "mp4" : "png");
  }
  out->movie = !yw_ends_with(name, ".png");
  out->numbered = !out->movie && pictures > 1;
  snprintf(out->pattern, sizeof out->pattern, "%s", name);
  if (!out->movie) return yw_png_available(error);
  yw_movie_def def = yw_default_movie_def();
  def.path = out->pattern;
  def.width = o->width;
  def.height = o->height;
  def.fps = o->fps > 0.0f ? o->fps : fps / (float)o->every;
  return yw_movie_open(&def, NULL, &out->stream, error);
}

static yw_status write_picture(output* out, int32_t frame, const yw_image* image, yw_error* error) {
  if (out->movie) return yw_movie_add(out->stream, image, error);
  if (!out->numbered) return yw_image_write_png(out->pattern, image, error);
  char path[1100];
  int stem = (int)strlen(out->pattern) - 4;
  snprintf(path, sizeof path, "%.*s_%04d.png", stem, out->pattern, frame);
  return yw_image_write_png(path, image, error);
}

static yw_status close_output(output* out, yw_status status, yw_error* error) {
  if (!out->stream) return status;
  if (status < 0) {
    yw_movie_discard(out->stream);
    return status;
  }
  return yw_movie_close(out->stream, error);
}

static yw_status draw_all(source* s, const render_options* o, int32_t last, yw_error* error) {
  yw_renderer* renderer = NULL;
  yw_image image = {0};
  output out = {0};
  yw_aabb focus;
  yw_camera camera;
  int32_t pictures = (last - o->from) / o->every + 1, drawn = 0;
  yw_status status = yw_renderer_create(NULL, o->scene.threads, &renderer, error);
  // First the camera: it looks at frame 0, and a world cannot go back.
  if (status >= 0) status = choose_camera(s, o, &camera, &focus, error);
  if (status >= 0) status = find_field(s, o->from, error);
  if (status >= 0) status = find_range(s, o, last, error);
  if (status >= 0) status = open_output(o, s->fps, pictures, &out, error);
  yw_error missing = {0};
  if (s->color.field && yw_svg_paint_available(&missing) < 0) {
    fprintf(stderr, "yawara: no colour bar: %s\n", missing.message);
  }
  progress p = progress_start("picture", 0, pictures, o->quiet);
  for (int32_t frame = o->from; frame <= last && status >= 0; frame += o->every) {
    status = show_frame(s, frame, error);
    if (status < 0) break;
    yw_picture picture = stage_picture(s->stage, focus, o->width, o->height);
    picture.camera = camera;
    picture.samples = o->samples;
    status = yw_renderer_draw(renderer, &picture, &image, error);
    if (status >= 0 && s->color.field) {
      status = yw_draw_colorbar(&image, s->color.title, s->color.low, s->color.high, error);
    }
    if (status >= 0) status = write_picture(&out, frame, &image, error);
    progress_show(&p, ++drawn, NULL);
  }
  progress_end(&p);
  status = close_output(&out, status, error);
  yw_image_free(&image);
  yw_renderer_destroy(renderer);
  if (status >= 0 && !o->quiet) {
    printf("wrote %s (%d picture%s)\n", out.pattern, pictures, pictures == 1 ? "" : "s");
  }
  return status;
}

int cmd_render(int argc, char** argv) {
  render_options o;
  int code = parse(argc, argv, &o);
  if (code >= 0) return code;
  yw_error error = {0};
  if (yw_renderer_available(&error) < 0) return bad_input("%s", error.message);
  source s = {0};
  code = open_source(&o, &s);
  if (code < 0) {
    int32_t last = o.to < 0 ? s.frames : o.to;
    if (last > s.frames && s.is_run) {
      code = bad_input("--to is %d, but the last frame of %s is %d", last, o.input, s.frames);
    } else if (o.from > last) {
      code = bad_input("--from is %d, but the last frame is %d", o.from, last);
    } else {
      code = draw_all(&s, &o, last, &error) < 0 ? bad_input("%s", error.message) : EXIT_DONE;
    }
  }
  close_source(&s);
  return code;
}
