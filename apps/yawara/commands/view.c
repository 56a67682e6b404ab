// SPDX-License-Identifier: MIT
// yawara view: runs a model or a scene, then films the run; a finished run is only filmed.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "console/options.h"
#include "console/starter.h"

#define MAX_PATH 1024
#define MAX_ARGUMENTS 32

typedef struct view_options {
  const char* input;
  const char *output, *folder, *size, *fit;
  starter_options model;
  bool quiet;
} view_options;

static int parse(int argc, char** argv, view_options* out) {
  *out = (view_options){.size = "640x360"};
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &out->output, "FILE",
       "movie (.mp4, .gif, .webp) or pictures (.png) (default: out/NAME.mp4)", 0, 0},
      {"run", 0, OPTION_TEXT, &out->folder, "DIR", "run folder (default: out/NAME)", 0, 0},
      {"size", 0, OPTION_TEXT, &out->size, "WxH", "size in pixels (default: 640x360)", 0, 0},
      {"as", 0, OPTION_TEXT, &out->model.as, "WORD",
       "of a model: jelly, rubber (default), foam, toy, clay, cloth or steel", 0, 0},
      {"method", 0, OPTION_TEXT, &out->model.method, "NAME",
       "of a model: match, frames, fem, plastic or slender (default: the word's own)", 0, 0},
      {"fit", 0, OPTION_TEXT, &out->fit, "M", "of a model: longest side, m (default: 1)", 0, 0},
      {"unit", 0, OPTION_TEXT, &out->model.file.unit, "UNIT",
       "of a model: keep its own size, in mm, cm, m, inch or ft", 0, 0},
      {"up", 0, OPTION_TEXT, &out->model.file.up, "AXIS",
       "of a model: axis that points up, y (default) or z", 0, 0},
      {"parts", 0, OPTION_FLAG, &out->model.parts, NULL,
       "of a model: a body for each connected part (default: one body)", 0, 0},
      {"quiet", 'q', OPTION_FLAG, &out->quiet, NULL, "no progress", 0, 0},
  };
  const command self = {
      .name = "view",
      .summary = "a movie of a model that falls on a floor; also of a scene or a run",
      .usage = "view MODEL|SCENE|DIR [--as WORD] [-o FILE.mp4|FILE.png]",
      .about =
          "The same as yawara run, then yawara render, which have more options: the run stays\n"
          "in its folder, to be drawn again with another camera or exported.\n",
      .examples =
          "  yawara view cow.obj --as jelly\n"
          "  yawara view cow.obj --as clay -o cow.gif\n"
          "  yawara view scenes/gallery/teddy.json\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  int32_t count;
  return parse_options(&self, argc, argv, &out->input, &count);
}

/// Arguments of another command. Commands do not change them.
typedef struct arguments {
  int count;
  char* items[MAX_ARGUMENTS];
} arguments;

static void add(arguments* to, const char* name, const char* value) {
  if (!value) return;
  if (name) to->items[to->count++] = (char*)(uintptr_t)name;
  to->items[to->count++] = (char*)(uintptr_t)value;
}

// "out/NAME", where NAME is the file without folder and ending.
static void default_folder(const char* input, char out[MAX_PATH]) {
  const char* slash = strrchr(input, '/');
  const char* name = slash ? slash + 1 : input;
  const char* dot = strrchr(name, '.');
  int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
  snprintf(out, MAX_PATH, "out/%.*s", length > 900 ? 900 : length, name);
}

static int run_model(const view_options* o, const char* folder) {
  arguments run = {0};
  add(&run, NULL, o->input);
  add(&run, "--output", folder);
  add(&run, "--as", o->model.as);
  add(&run, "--method", o->model.method);
  add(&run, "--fit", o->fit);
  add(&run, "--unit", o->model.file.unit);
  add(&run, "--up", o->model.file.up);
  add(&run, NULL, o->model.parts ? "--parts" : NULL);
  add(&run, NULL, o->quiet ? "--quiet" : NULL);
  return cmd_run(run.count, run.items);
}

int cmd_view(int argc, char** argv) {
  view_options o;
  int code = parse(argc, argv, &o);
  if (code >= 0) return code;
  struct stat what;
  if (stat(o.input, &what) != 0) return bad_input("%s: there is no such file or folder", o.input);
  char folder[MAX_PATH], movie[MAX_PATH + 8];
  bool is_run = S_ISDIR(what.st_mode);
  if (is_run && (starter_is_asked(&o.model) || o.fit || o.folder)) {
    return bad_input(
        "--as, --method, --fit, --unit, --up, --parts and --run are for models, but %s is a run",
        o.input);
  }
  if (strlen(is_run ? o.input : o.folder ? o.folder : "") >= sizeof folder) {
    return bad_input("the name of the run folder is longer than %d characters", MAX_PATH - 1);
  }
  default_folder(o.input, folder);
  if (is_run || o.folder) snprintf(folder, sizeof folder, "%s", is_run ? o.input : o.folder);
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') folder[--length] = '\0';
  snprintf(movie, sizeof movie, "%s.mp4", folder);

  code = is_run ? EXIT_DONE : run_model(&o, folder);
  if (code != EXIT_DONE) return code;
  arguments draw = {0};
  add(&draw, NULL, folder);
  add(&draw, "--output", o.output ? o.output : movie);
  add(&draw, "--size", o.size);
  add(&draw, "--every", "2");
  add(&draw, NULL, o.quiet ? "--quiet" : NULL);
  return cmd_render(draw.count, draw.items);
}
