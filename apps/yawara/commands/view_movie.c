// SPDX-License-Identifier: MIT
#include "commands/view_movie.h"

#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "console/options.h"

#define MAX_PATH 1024
#define MAX_ARGUMENTS (2 * OPTION_LIST_MAX + 32)

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

static int run_input(const movie_options* o, const char* folder) {
  arguments run = {0};
  char threads[16], fit[32];
  snprintf(fit, sizeof fit, "%.9g", (double)o->scene.model.fit);
  snprintf(threads, sizeof threads, "%d", o->scene.threads);
  add(&run, NULL, o->input);
  add(&run, "--output", folder);
  for (int32_t i = 0; i < o->scene.set.count; ++i) add(&run, "--set", o->scene.set.items[i]);
  add(&run, "--threads", threads);
  add(&run, "--simd", o->scene.simd);
  add(&run, "--as", o->scene.model.as);
  add(&run, "--method", o->scene.model.method);
  add(&run, "--fit", o->scene.model.fit > 0.0f ? fit : NULL);
  add(&run, "--unit", o->scene.model.file.unit);
  add(&run, "--up", o->scene.model.file.up);
  add(&run, NULL, o->scene.model.parts ? "--parts" : NULL);
  add(&run, NULL, o->quiet ? "--quiet" : NULL);
  return cmd_run(run.count, run.items);
}

int view_movie(const movie_options* o) {
  char folder[MAX_PATH];
  const char* given = o->is_run ? o->input : o->folder;
  if (given && strlen(given) >= sizeof folder) {
    return bad_input("the name of the run folder is longer than %d characters", MAX_PATH - 1);
  }
  default_folder(o->input, folder);
  if (given) snprintf(folder, sizeof folder, "%s", given);
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') folder[--length] = '\0';

  int code = o->is_run ? EXIT_DONE : run_input(o, folder);
  if (code != EXIT_DONE) return code;
  arguments draw = {0};
  add(&draw, NULL, folder);
  add(&draw, "--output", o->output);
  add(&draw, "--size", o->size ? o->size : "640x360");
  add(&draw, "--every", "2");
  add(&draw, NULL, o->quiet ? "--quiet" : NULL);
  return cmd_render(draw.count, draw.items);
}
