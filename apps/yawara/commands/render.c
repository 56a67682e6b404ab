// SPDX-License-Identifier: MIT
// yawara render: pictures or a movie of a run, or of a scene while it is simulated.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "commands/render_share.h"
#include "commands/render_source.h"
#include "console/options.h"
#include "console/progress.h"
#include "playback/look.h"
#include "render/draw/colormap.h"
#include "render/draw/svg.h"
#include "render/output/movie.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"

// Pictures are kept in a folder, and drawn by several tasks.
static bool is_shared(const render_options* o) { return o->task || o->wedge > 0; }

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

static void write_about(char* out, size_t capacity) {
  snprintf(
      out, capacity,
      "Of a run (a folder) all that is drawn is in the folder, and any frame can be drawn at\n"
      "once. A scene or model (a file) is simulated while it is drawn, and nothing is kept:\n"
      "run it first to draw it more than once. Without a camera in the scene, one is chosen\n"
      "that has the whole motion in view. A run can be looked at anew, with --set KEY=VALUE\n"
      "or keys in a file, --look: { \"camera\": { \"azimuth\": 60 }, \"gloss\": 1 }\n%s"
      "\n--wedge N shares the pictures of a run over N tasks: processes here, those of GNU\n"
      "parallel (--list) or of Slurm (--slurm). Pictures stay in FILE_pictures; what is there\n"
      "is not drawn again, and the task that finds all of them makes the movie.\n",
      look_help());
}

static int parse(int argc, char** argv, render_options* o) {
  char about[2048];
  write_about(about, sizeof about);
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
      {"wedge", 0, OPTION_INT, &o->wedge, "N", "share the pictures of a run over N tasks", 1, 256},
      {"list", 0, OPTION_FLAG, &o->list, NULL,
       "with --wedge: draw nothing; print the command lines of the tasks", 0, 0},
      {"slurm", 0, OPTION_FLAG, &o->slurm, NULL,
       "with --wedge: draw nothing; print a script for sbatch", 0, 0},
      {"task", 0, OPTION_TEXT, &o->task, "K/N", "only the K-th of N shares of the pictures", 0, 0},
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
          "  yawara render scenes/gallery/twist.json --color-by speed\n"
          "  yawara render out/teddy -o teddy.mp4 --samples 256 --wedge 16 --slurm | sbatch\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, &o->input, &count);
  if (code < 0) code = parse_size(o);
  if (code < 0 && (o->list || o->slurm) && o->wedge == 0) {
    code = bad_input("--list and --slurm need --wedge N: over how many tasks?");
  }
  if (code < 0 && o->wedge > 0 && o->task) {
    code = bad_input("--task is one of the tasks of --wedge: give one of them");
  }
  return code >= 0 ? code : task_share_read(o->task, &o->share);
}

// Output ------------------------------------------------------------------------------------------

// The name of the output, without -o that of the input with another ending.
static void name_output(const render_options* o, output* out) {
  yw_error error = {0};
  if (o->output) {
    snprintf(out->pattern, sizeof out->pattern, "%s", o->output);
  } else {
    size_t length = strlen(o->input);
    while (length > 1 && o->input[length - 1] == '/') --length;
    if (yw_ends_with(o->input, ".json")) length -= 5;
    bool can_film = yw_movie_available(&error) >= 0;
    if (!can_film) fprintf(stderr, "yawara: %s; writing pictures\n", error.message);
    snprintf(out->pattern, sizeof out->pattern, "%.*s.%s", (int)length, o->input,
             can_film ? "mp4" : "png");
  }
  out->movie = !yw_ends_with(out->pattern, ".png");
}

static yw_movie_def movie_def_of(const render_options* o, float fps, const output* out) {
  yw_movie_def def = yw_default_movie_def();
  def.path = out->pattern;
  def.width = o->width;
  def.height = o->height;
  def.fps = o->fps > 0.0f ? o->fps : fps / (float)o->every;
  return def;
}

// A single PNG gets the given name, several are numbered: name_0042.png.
static yw_status open_output(const render_options* o, float fps, int32_t pictures, output* out,
                             yw_error* error) {
  name_output(o, out);
  out->numbered = !out->movie && pictures > 1;
  if (!out->movie) return yw_png_available(error);
  yw_movie_def def = movie_def_of(o, fps, out);
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

// Drawing -----------------------------------------------------------------------------------------

typedef struct drawing {
  yw_renderer* renderer;
  yw_image image;
  yw_aabb focus;
  yw_camera camera;
} drawing;

// What is the same in all pictures. End it in any case.
static yw_status start_drawing(source* s, const render_options* o, int32_t last, drawing* d,
                               yw_error* error) {
  *d = (drawing){0};
  yw_status status = yw_renderer_create(NULL, o->scene.threads, &d->renderer, error);
  // First the camera: it looks at frame 0, and a world cannot go back.
  if (status >= 0) status = choose_camera(s, o, &d->camera, &d->focus, error);
  if (status >= 0) status = find_field(s, o->from, error);
  if (status >= 0) status = find_range(s, o, last, error);
  yw_error missing = {0};
  if (s->color.field && yw_svg_paint_available(&missing) < 0) {
    fprintf(stderr, "yawara: no colour bar: %s\n", missing.message);
  }
  return status;
}

static void end_drawing(drawing* d) {
  yw_image_free(&d->image);
  yw_renderer_destroy(d->renderer);
}

static yw_status draw_picture(source* s, const render_options* o, drawing* d, int32_t frame,
                              yw_error* error) {
  yw_status status = show_frame(s, frame, error);
  if (status < 0) return status;
  yw_picture picture = stage_picture(s->stage, d->focus, o->width, o->height);
  picture.camera = d->camera;
  picture.samples = o->samples;
  status = yw_renderer_draw(d->renderer, &picture, &d->image, error);
  if (status < 0 || !s->color.field) return status;
  return yw_draw_colorbar(&d->image, s->color.title, s->color.low, s->color.high, error);
}

static yw_status draw_all(source* s, const render_options* o, int32_t last, yw_error* error) {
  drawing d;
  output out = {0};
  int32_t pictures = (last - o->from) / o->every + 1, drawn = 0;
  yw_status status = start_drawing(s, o, last, &d, error);
  if (status >= 0) status = open_output(o, s->fps, pictures, &out, error);
  progress p = progress_start("picture", 0, pictures, o->quiet);
  for (int32_t frame = o->from; frame <= last && status >= 0; frame += o->every) {
    status = draw_picture(s, o, &d, frame, error);
    if (status >= 0) status = write_picture(&out, frame, &d.image, error);
    if (status >= 0) progress_show(&p, ++drawn, NULL);
  }
  progress_end(&p);
  status = close_output(&out, status, error);
  end_drawing(&d);
  if (status >= 0 && !o->quiet) {
    printf("wrote %s (%d picture%s)\n", out.pattern, pictures, pictures == 1 ? "" : "s");
  }
  return status;
}

// Shares ------------------------------------------------------------------------------------------

typedef struct text_lines {
  char text[32768];
  size_t length;
  bool full;
} text_lines;

static void add_line(text_lines* t, const char* name, const char* value) {
  int written = snprintf(t->text + t->length, sizeof t->text - t->length, "%s %s\n", name, value);
  t->full = t->full || written < 0 || t->length + (size_t)written >= sizeof t->text;
  if (!t->full) t->length += (size_t)written;
}

// Everything that pictures depend on, so that no movie is made of pictures that do not fit.
static yw_status describe(const source* s, const render_options* o, int32_t last, text_lines* out,
                          yw_error* error) {
  char line[256];
  *out = (text_lines){0};
  snprintf(line, sizeof line, "of %d frames, state %016llx", s->run.info.frames_done,
           (unsigned long long)s->run.info.state_hash);
  add_line(out, "run", line);
  snprintf(line, sizeof line, "%d to %d, every %d", o->from, last, o->every);
  add_line(out, "frames", line);
  snprintf(line, sizeof line, "%dx%d, %d samples, wireframe %g%s", o->width, o->height, o->samples,
           (double)o->wireframe, o->particles ? ", particles" : "");
  add_line(out, "size", line);
  if (o->color_by) add_line(out, "color-by", o->color_by);
  if (o->color_range) add_line(out, "color-range", o->color_range);
  for (int32_t i = 0; i < o->scene.set.count; ++i) add_line(out, "set", o->scene.set.items[i]);
  if (out->full) return yw_fail(error, YW_ERR_INVALID, "--set: too many, or too long, for tasks");
  if (!o->look) return YW_OK;
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(o->look, 0, NULL, &data, error);
  if (status < 0) return status;
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, data.bytes, data.size);
  snprintf(line, sizeof line, "%016llx", (unsigned long long)hash);
  add_line(out, "look", line);
  yw_file_data_free(&data);
  return YW_OK;
}

// Finds out at once whether a movie can be made at the end.
static yw_status try_movie(const yw_movie_def* def, yw_error* error) {
  yw_movie* movie = NULL;
  yw_status status = yw_movie_open(def, NULL, &movie, error);
  if (status >= 0) yw_movie_discard(movie);
  return status;
}

// Draws what is missing of this task's share.
static yw_status draw_missing(source* s, const render_options* o, const shared_pictures* shared,
                              yw_error* error) {
  int32_t pictures = (shared->last - o->from) / o->every + 1, drawn = 0;
  int32_t share = (pictures - o->share.first + o->share.every - 1) / o->share.every;
  bool speaks = o->task || o->share.first == 0;
  drawing d;
  yw_status status = start_drawing(s, o, shared->last, &d, error);
  progress p = progress_start("picture", 0, share, o->quiet || !speaks);
  for (int32_t i = o->share.first; i < pictures && status >= 0; i += o->share.every) {
    int32_t frame = o->from + i * o->every;
    progress_show(&p, drawn++, NULL);
    if (shared_picture_exists(shared, frame)) continue;
    char path[SHARED_PATH];
    shared_picture_path(shared, frame, path);
    status = draw_picture(s, o, &d, frame, error);
    if (status >= 0) status = yw_image_write_png(path, &d.image, error);
  }
  progress_end(&p);
  end_drawing(&d);
  return status;
}

static yw_status draw_share(source* s, const render_options* o, int32_t last, yw_error* error) {
  output out = {0};
  text_lines text;
  bool joined = false;
  shared_pictures shared = {.from = o->from, .last = last, .every = o->every};
  name_output(o, &out);
  shared_pictures_name(&shared, out.pattern);
  yw_movie_def def = movie_def_of(o, s->fps, &out);
  yw_status status = out.movie ? try_movie(&def, error) : yw_png_available(error);
  if (status >= 0) status = describe(s, o, last, &text, error);
  if (status >= 0) status = shared_pictures_open(&shared, text.text, error);
  if (status >= 0) status = draw_missing(s, o, &shared, error);
  if (status >= 0 && out.movie) status = shared_pictures_join(&shared, &def, &joined, error);
  if (status >= 0 && joined && !o->quiet) {
    printf("wrote %s from %s\n", out.pattern, shared.folder);
  }
  return status;
}

// Draws all pictures or a share of them. Returns the exit code.
static int draw(const render_options* o) {
  source s = {0};
  yw_error error = {0};
  int code = open_source(o, &s);
  if (code < 0) {
    int32_t last = o->to < 0 ? s.frames : o->to;
    if (last > s.frames && s.is_run) {
      code = bad_input("--to is %d, but the last frame of %s is %d", last, o->input, s.frames);
    } else if (o->from > last) {
      code = bad_input("--from is %d, but the last frame is %d", o->from, last);
    } else {
      yw_status status = (is_shared(o) ? draw_share : draw_all)(&s, o, last, &error);
      code = status < 0 ? bad_input("%s", error.message) : EXIT_DONE;
    }
  }
  close_source(&s);
  return code;
}

static int draw_as_task(void* context, task_share share) {
  render_options o = *(const render_options*)context;
  o.share = share;
  if (o.scene.threads == 0) o.scene.threads = 1;
  return draw(&o);
}

static int print_slurm(const render_options* o, int argc, char** argv) {
  output out = {0};
  shared_pictures shared = {0};
  yw_error error = {0};
  name_output(o, &out);
  shared_pictures_name(&shared, out.pattern);
  // Slurm writes what tasks say there, and does not make the folder.
  if (yw_make_folders(shared.folder, &error) < 0) return bad_input("%s", error.message);
  share_slurm(o->wedge, shared.folder, argc, argv);
  return EXIT_DONE;
}

static int share_pictures(render_options* o, int argc, char** argv) {
  struct stat what;
  if (stat(o->input, &what) == 0 && !S_ISDIR(what.st_mode)) {
    return bad_input(
        "pictures of a run (a folder) can be shared over tasks, but %s is a file: run it first",
        o->input);
  }
  if (o->slurm) return print_slurm(o, argc, argv);
  if (!o->list) return o->task ? draw(o) : share_over_processes(o->wedge, draw_as_task, o);
  share_list(o->wedge, argc, argv);
  return EXIT_DONE;
}

int cmd_render(int argc, char** argv) {
  render_options o;
  yw_error error = {0};
  int code = parse(argc, argv, &o);
  if (code >= 0) return code;
  if (yw_renderer_available(&error) < 0) return bad_input("%s", error.message);
  return is_shared(&o) ? share_pictures(&o, argc, argv) : draw(&o);
}
