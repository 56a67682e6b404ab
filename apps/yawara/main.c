// SPDX-License-Identifier: MIT
// The program: finds the subcommand and runs it.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codecs/codecs.h"
#include "commands/commands.h"
#include "console/manual.h"
#include "console/options.h"
#include "yawara/extend/text.h"
#include "yawara/yawara.h"

typedef struct entry {
  const char* name;
  int (*run)(int argc, char** argv);  // NULL: a study
  const char* summary;
} entry;

static const entry entries[] = {
    {"view", cmd_view, "the page, in a browser: a scene, model or run to look at and touch"},
    {"run", cmd_run, "simulate a model or a scene and keep its frames: a run"},
    {"wedge", cmd_wedge, "many runs of a scene with different values, and a table of them"},
    {"new", cmd_new, "write a scene file with comments, to start from"},
    {"render", cmd_render, "ray-traced pictures or a movie of a run or a scene"},
    {"plot", cmd_plot, "charts of the numbers of a run: energies, forces, weights, times"},
    {"export", cmd_export, "a run as PLY, OBJ, VTU, PC2, MDD, BGEO or glTF"},
    {"mesh", cmd_mesh, "what is wrong with a model; tets from a surface; other formats"},
    {"inspect", cmd_inspect, "what is in a mesh, scene, run or snapshot"},
    {"schema", cmd_schema, "what scene files may say, for editors and readers"},
    {"fit", NULL, "materials and measurements against what a frames body does"},
    {"bench", NULL, "measurements, as a table or as JSON"},
    {"paper", NULL, "a figure or table of a paper, reproduced"},
};
enum { NUM_ENTRIES = sizeof entries / sizeof entries[0] };

// Other commands belong to yawara-studies, an executable in the same folder.
static int run_study(char** argv) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  char* name = strrchr(path, '/');
  size_t room = sizeof path - (name ? (size_t)(name - path) : 0);
  if (name) snprintf(name, room, "/yawara-studies");
  fflush(stdout);
  execv(path, argv);
  return bad_input("\"%s\" needs the program yawara-studies beside this one, but %s", argv[1],
                   strerror(errno));
}

static void print_help(void) {
  printf(
      "yawara %s: soft things\n\n"
      "usage: yawara COMMAND [arguments]      yawara COMMAND --help shows an example\n\n",
      yw_version());
  for (int i = 0; i < NUM_ENTRIES; ++i) printf("  %-9s %s\n", entries[i].name, entries[i].summary);
  printf(
      "\nfirst steps:\n"
      "  yawara run cow.obj --as jelly            any OBJ, PLY or STL; no scene is needed\n"
      "  yawara render out/cow -o cow.mp4         or look at it: yawara view out/cow\n"
      "  yawara new my_scene --from cow.obj       then edit my_scene.json and run it\n\n"
      "exit codes: 0 done, 1 the simulation failed, 2 bad input, 3 done but a body diverged,\n"
      "130 interrupted (resume with --resume)\n");
}

static int print_manual(void) {
  manual_entry commands[NUM_ENTRIES];
  for (int i = 0; i < NUM_ENTRIES; ++i)
    commands[i] = (manual_entry){entries[i].name, entries[i].summary};
  manual_print_program(NUM_ENTRIES, commands);
  return EXIT_DONE;
}

// For completion in shells: a line per command, "name<TAB>summary".
static int print_commands(void) {
  for (int i = 0; i < NUM_ENTRIES; ++i) printf("%s\t%s\n", entries[i].name, entries[i].summary);
  return EXIT_DONE;
}

static int run_command(int argc, char** argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
      strcmp(argv[1], "help") == 0) {
    print_help();
    return argc < 2 ? EXIT_BAD_INPUT : EXIT_DONE;
  }
  if (strcmp(argv[1], "--help=man") == 0) return print_manual();
  if (strcmp(argv[1], "--help=commands") == 0) return print_commands();
  if (strcmp(argv[1], "--version") == 0) {
    printf("yawara %s\n", yw_version());
    return EXIT_DONE;
  }
  codecs_register();
  const char* names[NUM_ENTRIES];
  for (int i = 0; i < NUM_ENTRIES; ++i) {
    names[i] = entries[i].name;
    if (strcmp(argv[1], names[i]) != 0) continue;
    return entries[i].run ? entries[i].run(argc - 2, argv + 2) : run_study(argv);
  }
  yw_hint hint = yw_suggest(argv[1], NUM_ENTRIES, names);
  return bad_input("there is no command \"%s\"%s; see: yawara --help", argv[1], hint.text);
}

int main(int argc, char** argv) { return finish_output(run_command(argc, argv)); }
