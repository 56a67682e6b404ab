// SPDX-License-Identifier: MIT
#include "console/scene_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// Width of the progress line for models, in columns, and s before it appears.
#define LINE_COLUMNS 48
#define SECONDS_BEFORE_LINE 0.3

static const yw_simd levels[] = {YW_SIMD_AUTO, YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};

yw_simd scene_options_simd(const scene_options* options) {
  for (size_t i = 0; options->simd && i < sizeof levels / sizeof levels[0]; ++i) {
    if (strcmp(options->simd, yw_simd_name(levels[i])) == 0) return levels[i];
  }
  return YW_SIMD_AUTO;
}

const char* cache_folder(char out[CACHE_FOLDER_MAX]) {
  const char* base = getenv("XDG_CACHE_HOME");
  const char* middle = "";
  // The XDG specification says to ignore paths that are not absolute.
  if (!base || base[0] != '/') base = getenv("HOME"), middle = "/.cache";
  if (!base || base[0] != '/') return NULL;
  int length = snprintf(out, CACHE_FOLDER_MAX, "%s%s/yawara", base, middle);
  return length > 0 && length < CACHE_FOLDER_MAX ? out : NULL;
}

// One line on a terminal if building takes long; nothing in a log.
typedef struct making_line {
  double started;
  bool shown;
} making_line;

static void show_making(void* context, const char* what, double share) {
  making_line* line = context;
  if (isatty(STDERR_FILENO) != 1 || yw_seconds() - line->started < SECONDS_BEFORE_LINE) return;
  fprintf(stderr, "\rmaking models: %-20.20s %3.0f %%", what, 100.0 * share);
  fflush(stderr);
  line->shown = true;
}

// Splits "path=value". Returns -1 to continue, or the exit code.
static int read_overrides(const option_list* set, char paths[OPTION_LIST_MAX][256],
                          yw_scene_override* out) {
  for (int32_t i = 0; i < set->count; ++i) {
    const char* text = set->items[i];
    const char* equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= 256) {
      return bad_input("--set is \"%s\", but must be path=value, e.g. substeps=8", text);
    }
    memcpy(paths[i], text, length);
    paths[i][length] = '\0';
    out[i] = (yw_scene_override){paths[i], equals + 1};
  }
  return -1;
}

// A file that does not begin as a scene does, and is no model that can be read: the readers of
// models say what its ending stands for.
static int refuse_stranger(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* dot = strrchr(slash ? slash : path, '.');
  struct stat about;
  if (!dot || strcasecmp(dot, ".json") == 0 || stat(path, &about) != 0) return -1;
  FILE* file = S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
  if (!file) return -1;
  int first = fgetc(file);
  while (first != EOF && isspace(first)) first = fgetc(file);
  fclose(file);
  // 0xef begins the mark of an encoding.
  if (first == '{' || first == '/' || first == 0xef) return -1;
  yw_error error = {0};
  yw_tri_mesh mesh = {0};
  yw_status status = yw_tri_mesh_read(path, NULL, &mesh, &error);
  yw_tri_mesh_free(&mesh);
  return status < 0 ? bad_input("%s", error.message) : -1;
}

// The text of the scene if `path` is a model; otherwise NULL.
static int make_text(const scene_options* options, const char* path, char** text) {
  *text = NULL;
  if (!starter_is_model(path)) {
    int code = refuse_stranger(path);
    if (code >= 0) return code;
    return starter_is_asked(&options->model)
               ? bad_input(
                     "--as, --method, --fit, --unit, --up and --parts are for models (.obj, .ply, "
                     ".stl ...), but %s is a scene",
                     path)
               : -1;
  }
  const char* slash = strrchr(path, '/');
  return starter_text(&options->model, path, slash ? slash + 1 : path, text);
}

// Models that nothing fits into are sheets.
static const char* advice_on(const yw_error* error, bool is_model) {
  bool thin = strstr(error->message, "it is thinner than the size") ||
              strstr(error->message, "the shape is empty");
  return is_model && thin
             ? ". The model is flat, or as good as flat: --as cloth makes a sheet of it"
             : "";
}

int scene_options_read(const scene_options* options, const char* path, yw_scene** out, char** text,
                       yw_error* warning, yw_error* error) {
  if (text) *text = NULL;
  if (options->simd && strcmp(options->simd, "auto") != 0 &&
      scene_options_simd(options) == YW_SIMD_AUTO) {
    return bad_input("--simd is \"%s\", but must be plain, avx2 or avx512", options->simd);
  }
  bool on_cuda = options->device && strcmp(options->device, "cuda") == 0;
  if (options->device && !on_cuda && strcmp(options->device, "cpu") != 0) {
    return bad_input("--device is \"%s\", but must be cpu or cuda", options->device);
  }
  static char paths[OPTION_LIST_MAX][256];
  yw_scene_override overrides[OPTION_LIST_MAX];
  char* made = NULL;
  int code = read_overrides(&options->set, paths, overrides);
  if (code < 0) code = make_text(options, path, &made);
  if (code >= 0) return code;
  char folder[CACHE_FOLDER_MAX];
  making_line line = {.started = yw_seconds()};
  yw_scene_def def = yw_default_scene_def();
  def.path = path;
  def.text = made;
  def.size = made ? strlen(made) : 0;
  def.overrides = overrides;
  def.num_overrides = options->set.count;
  def.cache_folder = cache_folder(folder);
  def.threads = options->threads;
  def.progress = show_making;
  def.progress_context = &line;
  yw_status status = yw_scene_read(&def, out, warning, error);
  if (line.shown) fprintf(stderr, "\r%*s\r", LINE_COLUMNS, "");
  if (status >= 0 && on_cuda) yw_scene_set_device(*out, YW_DEVICE_CUDA);
  const char* advice = status < 0 ? advice_on(error, made != NULL) : "";
  if (text && status >= 0) {
    *text = made;
  } else {
    yw_mem_free(NULL, made);
  }
  return status < 0 ? bad_input("%s%s", error->message, advice) : -1;
}
