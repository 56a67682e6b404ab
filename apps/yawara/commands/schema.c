// SPDX-License-Identifier: MIT
// yawara schema: the schema of scene files, from the tables that their reader uses.
#include <stdio.h>

#include "commands/commands.h"
#include "console/options.h"
#include "yawara/scene.h"

static void print_text(void* context, const char* text) {
  (void)context;
  fputs(text, stdout);
}

int cmd_schema(int argc, char** argv) {
  bool keys = false;
  const option options[] = {
      {"keys", 0, OPTION_FLAG, &keys, NULL, "the reference of keys as Markdown instead", 0, 0}};
  const command self = {.name = "schema",
                        .summary = "the JSON schema of scene files, for editors",
                        .usage = "schema [--keys]",
                        .examples = "  yawara schema > scene.schema.json\n",
                        .options = options,
                        .num_options = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, NULL, &count);
  if (code >= 0) return code;
  if (keys) {
    yw_scene_write_keys(print_text, NULL);
  } else {
    yw_scene_write_schema(print_text, NULL);
  }
  return EXIT_DONE;
}
