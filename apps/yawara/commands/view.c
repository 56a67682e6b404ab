// SPDX-License-Identifier: MIT
// yawara view: the page, in a browser, with a scene, a model, a run, or what the program simulates.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/view_movie.h"
#include "playback/run_folder.h"
#include "server/server.h"
#include "yawara/extend/file.h"
#include "yawara/extend/json.h"
#include "yawara/extend/memory.h"

#define MAX_PATH 4096

typedef struct view_options {
  movie_options movie;
  const char *page, *host;
  int32_t port;
  bool live, no_open;
} view_options;

/// What is served, and what it is made of.
typedef struct view {
  view_options options;
  char page[MAX_PATH];
  char name[256];
  char* text;    // of the scene
  text changes;  // lines, as for core_open
  text scene;    // as JSON, for scenes that run in the browser
  scene_files files;
  core* core;
} view;

// Options -----------------------------------------------------------------------------------------

static int parse(int argc, char** argv, view_options* out) {
  *out = (view_options){0};
  movie_options* movie = &out->movie;
  const option options[] = {
      {"live", 0, OPTION_FLAG, &out->live, NULL,
       "simulate here, with all cores, and send the page what it shows", 0, 0},
      {"output", 'o', OPTION_TEXT, &movie->output, "FILE",
       "no page: a movie (.mp4, .gif, .webp) or pictures (.png)", 0, 0},
      {"run", 0, OPTION_TEXT, &movie->folder, "DIR", "of a movie: run folder (default: out/NAME)",
       0, 0},
      {"size", 0, OPTION_TEXT, &movie->size, "WxH", "of a movie: pixels (default: 640x360)", 0, 0},
      SCENE_OPTIONS(&movie->scene),
      STARTER_OPTIONS(&movie->scene.model),
      {"host", 0, OPTION_TEXT, &out->host, "ADDRESS",
       "listen there, for other machines (default: only this machine)", 0, 0},
      {"port", 0, OPTION_INT, &out->port, "N", "port (default: any free one)", 0, 65535},
      {"no-open", 0, OPTION_FLAG, &out->no_open, NULL, "only print the address", 0, 0},
      {"page", 0, OPTION_TEXT, &out->page, "DIR", "folder of the page, as make web builds it", 0,
       0},
      {"quiet", 'q', OPTION_FLAG, &movie->quiet, NULL, "no progress of movies", 0, 0},
  };
  const command self = {
      .name = "view",
      .summary = "the page, in a browser: a scene, model or run to look at and touch",
      .usage = "view [SCENE|MODEL|DIR] [--live] [-o FILE.mp4]",
      .about =
          "Serves the page of docs/web.md and prints its address; a browser opens where there is\n"
          "one. A scene, or a model that falls on a floor, runs in the browser. A run, finished "
          "or\n"
          "still being made, plays from disk with a timeline. With --live the program simulates\n"
          "and the browser only shows: for scenes that are too heavy for it. Several browsers can\n"
          "look on; the address has a secret part, and other machines are let in only with "
          "--host.\n"
          "Ctrl-C ends it. With -o a movie is made instead, as by yawara run and yawara render.\n",
      .examples =
          "  yawara view                                       the gallery\n"
          "  yawara view scenes/gallery/teddy.json\n"
          "  yawara view cow.obj --as jelly\n"
          "  yawara view out/cow                               a run\n"
          "  yawara view --live scenes/gallery/bowling.json\n"
          "  yawara view cow.obj --as clay -o cow.gif          a movie\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 0,
      .max_arguments = 1};
  int32_t count = 0;
  int code = parse_options(&self, argc, argv, &movie->input, &count);
  if (count == 0) movie->input = NULL;
  return code;
}

static int check(view_options* o) {
  movie_options* movie = &o->movie;
  struct stat what;
  if (!movie->input) {
    bool bare = !o->live && !movie->output && movie->scene.set.count == 0 &&
                !starter_is_asked(&movie->scene.model);
    return bare ? -1 : bad_input("name a scene, a model or a run; see: yawara view --help");
  }
  if (stat(movie->input, &what) != 0) {
    return bad_input("%s: there is no such file or folder", movie->input);
  }
  movie->is_run = S_ISDIR(what.st_mode);
  if (movie->is_run && (starter_is_asked(&movie->scene.model) || movie->folder || o->live ||
                        movie->scene.set.count > 0)) {
    return bad_input(
        "--live, --set, --run and the options of models are for scenes and models, but "
        "%s is a run",
        movie->input);
  }
  if (!movie->output && (movie->folder || movie->size || movie->scene.simd)) {
    return bad_input("--run, --size and --simd are for movies: name one with -o FILE.mp4");
  }
  if (movie->output && (o->live || o->host || o->page)) {
    return bad_input("--live, --host and --page are for the page, but -o asks for a movie");
  }
  return -1;
}

// The page ----------------------------------------------------------------------------------------

// Beside the installed program, or in the tree that it was built in.
static int find_page(view* v) {
  static const char* const places[] = {"../share/yawara/web", "../out/web"};
  const view_options* o = &v->options;
  char program[MAX_PATH];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  char* slash = strrchr(program, '/');
  if (slash) *slash = '\0';
  char index[MAX_PATH + 16];
  int32_t count = o->page ? 1 : 2;
  for (int32_t i = 0; i < count; ++i) {
    int size = o->page ? snprintf(v->page, sizeof v->page, "%s", o->page)
                       : snprintf(v->page, sizeof v->page, "%s/%s", program, places[i]);
    snprintf(index, sizeof index, "%s/index.html", v->page);
    if (size < (int)sizeof v->page && access(index, R_OK) == 0) return -1;
  }
  if (o->page) return bad_input("%s: is not the folder of the page: it has no index.html", o->page);
  return bad_input(
      "the page is not there: make web builds it (with Emscripten and Node.js); or make a movie "
      "with -o FILE.mp4");
}

// The scene ---------------------------------------------------------------------------------------

static void name_input(view* v) {
  const char* slash = strrchr(v->options.movie.input, '/');
  const char* name = slash ? slash + 1 : v->options.movie.input;
  const char* dot = strrchr(name, '.');
  int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
  snprintf(v->name, sizeof v->name, "%.*s", length > 250 ? 250 : length, name);
}

// The text of a scene file, or of a scene made for a model.
static int read_text(view* v) {
  const movie_options* o = &v->options.movie;
  yw_error error = {0};
  if (starter_is_model(o->input)) {
    const char* slash = strrchr(o->input, '/');
    return starter_text(&o->scene.model, o->input, slash ? slash + 1 : o->input, &v->text);
  }
  if (starter_is_asked(&o->scene.model)) {
    return bad_input(
        "--as, --method, --fit, --unit, --up and --parts are for models, but %s is a "
        "scene",
        o->input);
  }
  yw_file_data data = {0};
  if (yw_file_read_all(o->input, YW_JSON_MAX_BYTES, NULL, &data, &error) < 0) {
    return bad_input("%s", error.message);
  }
  v->text = YW_NEW_ARRAY(NULL, char, data.size + 1);
  if (v->text) memcpy(v->text, data.bytes, data.size);
  yw_file_data_free(&data);
  return v->text ? -1 : bad_input("not enough memory");
}

static int read_changes(view* v) {
  const option_list* set = &v->options.movie.scene.set;
  for (int32_t i = 0; i < set->count; ++i) {
    const char* equals = strchr(set->items[i], '=');
    if (!equals || strpbrk(set->items[i], "\t\n")) {
      return bad_input("--set %s: write PATH=VALUE, e.g. bodies[0].velocity[1]=3", set->items[i]);
    }
    text_add(&v->changes, "%.*s\t%s\n", (int)(equals - set->items[i]), set->items[i], equals + 1);
  }
  text_add(&v->changes, "%s", "");
  return v->changes.failed ? bad_input("not enough memory") : -1;
}

// For the page, which runs the scene itself.
static void describe_scene(view* v) {
  const option_list* set = &v->options.movie.scene.set;
  text* t = &v->scene;
  text_add(t, "{\"name\":");
  text_add_string(t, v->name);
  text_add(t, ",\"text\":");
  text_add_string(t, v->text);
  text_add(t, ",\"changes\":[");
  for (int32_t i = 0; i < set->count; ++i) {
    char path[256];
    const char* equals = strchr(set->items[i], '=');
    snprintf(path, sizeof path, "%.*s", (int)(equals - set->items[i]), set->items[i]);
    text_add(t, "%s{\"path\":", i > 0 ? "," : "");
    text_add_string(t, path);
    text_add(t, ",\"value\":");
    text_add_string(t, equals + 1);
    text_add(t, "}");
  }
  text_add(t, "],\"files\":[");
  for (int32_t i = 0; i < v->files.count; ++i) {
    text_add(t, "%s{\"part\":\"open/%d\",\"name\":", i > 0 ? "," : "", i);
    text_add_string(t, v->files.items[i].name);
    text_add(t, "}");
  }
  text_add(t, "]}");
}

static int prepare_scene(view* v) {
  yw_error error = {0};
  int code = read_text(v);
  if (code < 0) code = read_changes(v);
  if (code >= 0) return code;
  if (scene_files_find(&v->files, v->options.movie.input, v->text, &error) < 0) {
    return bad_input("%s", error.message);
  }
  describe_scene(v);
  return v->scene.failed ? bad_input("not enough memory") : -1;
}

// What the program shows --------------------------------------------------------------------------

static void show_progress(void* context, const char* what, double share) {
  (void)context;
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%s ... %3.0f %%  ", what, 100.0 * share);
}

static int make_core(view* v, int32_t threads) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  v->core = core_create(threads > 0 ? threads : cores > 0 ? (int32_t)cores : 1);
  if (!v->core) return bad_input("not enough memory");
  v->core->keeps_arrays = true;
  return -1;
}

static int prepare_live(view* v) {
  const movie_options* o = &v->options.movie;
  static char folder[CACHE_FOLDER_MAX];
  int code = make_core(v, o->scene.threads);
  if (code < 0) code = read_text(v);
  if (code < 0) code = read_changes(v);
  if (code >= 0) return code;
  v->core->cache_folder = cache_folder(folder);
  v->core->progress = show_progress;
  yw_status status = core_open(v->core, o->input, v->text, v->changes.data);
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%78s\r", "");
  if (status < 0) return bad_input("%s", v->core->message.message);
  if (v->core->message.message[0]) fprintf(stderr, "warning: %s\n", v->core->message.message);
  return -1;
}

static int prepare_run(view* v) {
  const char* dir = v->options.movie.input;
  if (!run_folder_exists(dir)) {
    return bad_input("%s: is not a run: it has no run.json. yawara run SCENE -o %s makes one", dir,
                     dir);
  }
  int code = make_core(v, 1);
  if (code >= 0) return code;
  if (core_open_run(v->core, dir) < 0) return bad_input("%s", v->core->message.message);
  return -1;
}

static void free_view(view* v) {
  scene_files_free(&v->files);
  yw_mem_free(NULL, v->text);
  text_free(&v->changes);
  text_free(&v->scene);
  core_destroy(v->core);
}

static int serve(view* v) {
  const view_options* o = &v->options;
  const char* input = o->movie.input;
  bool runs_here = o->live || o->movie.is_run;
  server_def def = {.page = v->page, .host = o->host, .port = o->port, .open = !o->no_open};
  def.query = !input ? "" : o->live ? "view=live" : o->movie.is_run ? "view=run" : "view=scene";
  def.scene = v->scene.data;
  def.files = &v->files;
  if (runs_here) def.engine = o->live ? engine_simulate : engine_play;
  def.settings = (engine_def){.core = v->core,
                              .name = v->name,
                              .path = input,
                              .text = v->text ? v->text : "",
                              .changes = v->changes.data ? v->changes.data : ""};
  return server_run(&def);
}

int cmd_view(int argc, char** argv) {
  view v = {0};
  int code = parse(argc, argv, &v.options);
  if (code < 0) code = check(&v.options);
  if (code >= 0) return code;
  if (v.options.movie.output) return view_movie(&v.options.movie);
  if (server_is_built()) code = find_page(&v);
  if (code >= 0) return code;
  if (v.options.movie.input) {
    name_input(&v);
    code = v.options.movie.is_run ? prepare_run(&v)
           : v.options.live       ? prepare_live(&v)
                                  : prepare_scene(&v);
  }
  if (code < 0) code = serve(&v);
  free_view(&v);
  return code;
}
