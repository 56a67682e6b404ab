// SPDX-License-Identifier: MIT
// yawara new: a scene file with comments, to start from.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "console/options.h"
#include "console/starter.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"

#define MAX_PATH 1024

typedef struct new_options {
  const char* name;
  const char* from;
  starter_options model;
} new_options;

static int parse(int argc, char** argv, new_options* out) {
  *out = (new_options){0};
  const option options[] = {
      {"from", 0, OPTION_TEXT, &out->from, "MODEL",
       "surface (.obj, .ply, .stl) or tets of the body (default: a ball)", 0, 0},
      STARTER_OPTIONS(&out->model),
  };
  const command self = {
      .name = "new",
      .summary = "write a scene file with comments, to start from",
      .usage = "new NAME [--from MODEL] [--as WORD] [--method NAME]",
      .about =
          "The scene is what yawara run MODEL makes by itself: the body falls on a floor.\n"
          "An existing file is not overwritten.\n",
      .examples =
          "  yawara new bounce\n"
          "  yawara new wobbly_cow --from cow.obj --as jelly --method fem\n"
          "  yawara run wobbly_cow.json\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  int32_t count;
  return parse_options(&self, argc, argv, &out->name, &count);
}

// The model as the scene names it: relative names start from the folder of the scene.
static int name_model(const char* scene, const char* model, char out[MAX_PATH]) {
  char* real = realpath(model, NULL);
  if (!real) return bad_input("%s: there is no such file", model);
  bool here = !strchr(scene, '/');
  int length = snprintf(out, MAX_PATH, "%s", here ? model : real);
  free(real);
  return length < MAX_PATH ? -1 : bad_input("the path of %s is too long", model);
}

static int write_scene(const char* path, const char* text) {
  yw_error error = {0};
  yw_file_writer writer;
  if (yw_file_writer_open(&writer, path, NULL, &error) < 0) return bad_input("%s", error.message);
  yw_file_write(&writer, text, strlen(text));
  if (yw_file_writer_commit(&writer, &error) < 0) return bad_input("%s", error.message);
  printf("wrote %s; run it: yawara run %s\n", path, path);
  return EXIT_DONE;
}

int cmd_new(int argc, char** argv) {
  new_options o;
  int code = parse(argc, argv, &o);
  if (code >= 0) return code;
  char path[MAX_PATH], file[MAX_PATH];
  const char* ending = yw_ends_with(o.name, ".json") ? "" : ".json";
  if (snprintf(path, sizeof path, "%s%s", o.name, ending) >= MAX_PATH) {
    return bad_input("the name of the scene is longer than %d characters", MAX_PATH - 1);
  }
  if (access(path, F_OK) == 0) return bad_input("%s exists already; choose another name", path);
  if (o.from && !starter_is_model(o.from)) {
    return bad_input("--from is \"%s\", but must be a model: .obj, .ply, .stl or tets", o.from);
  }
  if (o.from) code = name_model(path, o.from, file);
  char* text = NULL;
  if (code < 0) code = starter_text(&o.model, o.from, o.from ? file : NULL, &text);
  if (code < 0) code = write_scene(path, text);
  yw_mem_free(NULL, text);
  return code;
}
