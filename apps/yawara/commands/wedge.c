// SPDX-License-Identifier: MIT
// yawara wedge: many runs of a scene with different values. Options, and what is checked before
// anything runs.
#include "commands/wedge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/foresight.h"
#include "console/scene_options.h"
#include "playback/run_folder.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"

static const char about[] =
    "Every --sweep is a list of values (path=v1,v2) or a range (path=a..b:n, n values from a to\n"
    "b, with :log in equal ratios); the runs are all combinations. --latin N takes N samples of\n"
    "all ranges (path=a..b) together instead, one in each N-th part of every range. --sweeps FILE\n"
    "has one sweep a line; # begins a remark.\n\n"
    "Every run is a folder as yawara run makes it, DIR/runs/0001 and so on, made by a process of\n"
    "its own. Ctrl-C or a kill loses nothing: yawara wedge DIR goes on, ends in the same states,\n"
    "and does not repeat what is done. At the end DIR/table.csv has values and measures, and\n"
    "DIR/plots charts of the measures over the values.\n"
    "docs/wedge.md has more, also about GNU parallel and Slurm.\n";
static const char examples[] =
    "  yawara wedge scenes/gallery/first.json --sweep bodies[0].match.alpha=0.1..0.9:5 \\\n"
    "      --sweep floor.friction=0,0.4,0.8 -o out/soft\n"
    "  yawara wedge status out/soft\n"
    "  yawara wedge out/soft --retry\n"
    "  yawara wedge scenes/gallery/first.json --latin 50 --seed 7 -o out/many \\\n"
    "      --sweep bodies[0].match.alpha=0.1..0.9 --sweep floor.friction=0..1\n"
    "  yawara wedge out/many --list | parallel\n"
    "  yawara wedge out/many --task 3/8\n"
    "  yawara wedge out/many --slurm 8 | sbatch\n"
    "  yawara wedge stop out/many\n";

#define MAX_SWEEPS_FILE ((uint64_t)1 << 20)

typedef struct wedge_options {
  const char* input;  ///< a scene, or the folder of a wedge
  const char* output;
  const char* columns;
  const char* task;
  const char* sweeps;  ///< file
  int32_t slurm;       ///< tasks
  wedge_def def;
  wedge_work work;
  bool list, status, stop, pictures;
  bool made;  ///< the manifest, by this process
} wedge_options;

// Options -----------------------------------------------------------------------------------------

static int parse(int argc, char** argv, wedge_options* o) {
  const option options[] = {
      {"sweep", 'w', OPTION_LIST, &o->def.sweep, "PATH=VALUES", "a..b:n, a..b:n:log or v1,v2", 0,
       0},
      {"sweeps", 0, OPTION_TEXT, &o->sweeps, "FILE", "more sweeps, one a line", 0, 0},
      {"latin", 0, OPTION_INT, &o->def.latin, "N", "samples of all ranges together", 1,
       WEDGE_MAX_RUNS},
      {"seed", 0, OPTION_INT, &o->def.seed, "S", "of --latin (default: 1)", 0, INT32_MAX},
      {"output", 'o', OPTION_TEXT, &o->output, "DIR", "folder of the wedge", 0, 0},
      {"set", 's', OPTION_LIST, &o->def.set, "PATH=VALUE", "change a value of all runs", 0, 0},
      {"frames", 'n', OPTION_INT, &o->def.frames, "N", "frames of each run", 0, 1e7},
      {"on-fault", 0, OPTION_TEXT, &o->def.on_fault, "WHAT", "see yawara run", 0, 0},
      {"snapshot-every", 0, OPTION_INT, &o->def.snapshot_every, "N", "see yawara run", 1, 1e9},
      {"jobs", 'j', OPTION_INT, &o->work.jobs, "N",
       "runs at once (default: as many as cores and memory allow)", 1, 256},
      {"task", 0, OPTION_TEXT, &o->task, "K/N", "only the K-th of N shares of the runs", 0, 0},
      {"retry", 0, OPTION_FLAG, &o->work.retry, NULL, "also run what failed before", 0, 0},
      {"list", 'l', OPTION_FLAG, &o->list, NULL,
       "run nothing; print the command line of every run that is not done", 0, 0},
      {"slurm", 0, OPTION_INT, &o->slurm, "N",
       "run nothing; print a script for sbatch that shares the runs over N tasks", 1,
       WEDGE_MAX_RUNS},
      {"status", 0, OPTION_FLAG, &o->status, NULL, "run nothing; print the state of every run", 0,
       0},
      {"columns", 'c', OPTION_TEXT, &o->columns, "LIST",
       "of log.csv, for table.csv (default: all kinetic energy,all elastic energy)", 0, 0},
      {"pictures", 0, OPTION_FLAG, &o->pictures, NULL,
       "also draw the last frame of every run, and all on one sheet", 0, 0},
      {"quiet", 'q', OPTION_FLAG, &o->work.quiet, NULL, "no progress", 0, 0},
  };
  const command self = {
      .name = "wedge",
      .summary = "many runs of a scene with different values, and a table of them",
      .usage =
          "wedge SCENE --sweep path=a..b:n [--sweep path=v1,v2] -o DIR\n"
          "       yawara wedge [status|stop] DIR [--retry] [--list] [--task K/N] [--slurm N]",
      .about = about,
      .examples = examples,
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 2};
  const char* arguments[2];
  int32_t count;
  int code = parse_options(&self, argc, argv, arguments, &count);
  if (code >= 0) return code;
  o->input = arguments[count - 1];
  if (count == 2) {
    o->stop = strcmp(arguments[0], "stop") == 0;
    if (!o->stop && strcmp(arguments[0], "status") != 0) {
      return bad_input("unexpected argument \"%s\"; usage: yawara %s", arguments[1], self.usage);
    }
    o->status = !o->stop;
  }
  return -1;
}

// Adds the lines of the file to the sweeps. The text stays in memory for as long as they are used.
static int read_sweeps(const char* path, option_list* out) {
  if (!path) return -1;
  yw_error error = {0};
  static yw_file_data data;
  if (yw_file_read_all(path, MAX_SWEEPS_FILE, NULL, &data, &error) < 0) {
    return bad_input("%s", error.message);
  }
  char* rest = NULL;
  for (char* line = strtok_r(data.bytes, "\r\n", &rest); line;
       line = strtok_r(NULL, "\r\n", &rest)) {
    line += strspn(line, " \t");
    size_t length = strcspn(line, "#");
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) --length;
    line[length] = '\0';
    if (length == 0) continue;
    if (out->count == OPTION_LIST_MAX) {
      return bad_input("%s: has more than %d sweeps", path, WEDGE_MAX_SWEEPS);
    }
    out->items[out->count++] = line;
  }
  return -1;
}

static int check_values(wedge_options* o) {
  const char* word = o->def.on_fault;
  if (strcmp(word, "stop") != 0 && strcmp(word, "continue") != 0 && strcmp(word, "retry") != 0) {
    return bad_input("--on-fault is \"%s\", but must be stop, continue or retry", word);
  }
  int code = read_sweeps(o->sweeps, &o->def.sweep);
  if (code >= 0) return code;
  for (int32_t i = 0; i < o->def.set.count; ++i) {
    if (strlen(o->def.set.items[i]) < WEDGE_TEXT) continue;
    return bad_input("--set %s is longer than %zu characters", o->def.set.items[i], WEDGE_TEXT - 1);
  }
  if (o->def.set.count + o->def.sweep.count > OPTION_LIST_MAX) {
    return bad_input("--set and --sweep are given more than %d times together", OPTION_LIST_MAX);
  }
  return task_share_read(o->task, &o->work.share);
}

// Scenes ------------------------------------------------------------------------------------------

static uint64_t hash_of_files(const yw_scene* scene) {
  uint64_t hash = YW_HASH_SEED;
  for (int32_t i = 0; i < yw_scene_num_files(scene); ++i) {
    hash = yw_hash_u64(hash, yw_scene_file_at(scene, i).hash);
  }
  return hash;
}

// Reads the scene with values. found (may be NULL) gets its hash and what it takes. Returns -1 to
// continue, or the exit code.
static int try_scene(const char* path, const option_list* set, wedge_def* found) {
  yw_error error = {0};
  scene_options options = {.set = *set};
  yw_scene* scene = NULL;
  yw_world* world = NULL;
  int code = scene_options_read(&options, path, &scene, NULL, NULL, &error);
  if (code < 0 && found) {
    found->files_hash = hash_of_files(scene);
    if (yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, &error) < 0) {
      code = bad_input("%s", error.message);
    } else {
      found->memory_bytes = run_cost_of(world).memory_bytes;
    }
  }
  yw_world_destroy(world);
  yw_scene_destroy(scene);
  return code;
}

static int try_choice(wedge_def* def, const wedge_sweeps* sweeps, const int32_t* chosen,
                      wedge_def* found) {
  static char texts[WEDGE_MAX_SWEEPS][2 * WEDGE_TEXT];
  option_list set = def->set;
  for (int32_t i = 0; i < sweeps->count; ++i) {
    const wedge_sweep* sweep = &sweeps->items[i];
    snprintf(texts[i], sizeof texts[i], "%s=%s", sweep->path, sweep->values[chosen[i]]);
    set.items[set.count++] = texts[i];
  }
  return try_scene(def->scene, &set, found);
}

// Every value of a list and both ends of a range are tried once, in the first run: mistakes are
// found before anything runs, for less work than the runs take to read their scenes.
static int try_values(wedge_def* def, const wedge_sweeps* sweeps) {
  int32_t chosen[WEDGE_MAX_SWEEPS];
  wedge_sweeps_choose(sweeps, 0, chosen);
  int code = try_choice(def, sweeps, chosen, def);
  for (int32_t i = 0; i < sweeps->count; ++i) {
    const wedge_sweep* sweep = &sweeps->items[i];
    int32_t first = chosen[i];
    for (int32_t k = 0; k < sweep->count && code < 0; ++k) {
      if (k == first || (sweep->is_range && k != sweep->lowest && k != sweep->highest)) continue;
      chosen[i] = k;
      code = try_choice(def, sweeps, chosen, NULL);
    }
    chosen[i] = first;
  }
  return code;
}

// Folders -----------------------------------------------------------------------------------------

static int write_manifest(wedge_def* def, const wedge_sweeps* sweeps, const char* dir) {
  yw_error error = {0};
  if (run_folder_exists(dir)) {
    return bad_input("%s is the folder of a single run; choose another folder with -o", dir);
  }
  int code = try_values(def, sweeps);
  if (code < 0 && (yw_make_folders(dir, &error) < 0 || wedge_write(dir, def, sweeps, &error) < 0)) {
    code = bad_input("%s", error.message);
  }
  return code;
}

// A folder that has this wedge already goes on with it.
static int check_same(const wedge_def* def, const char* dir) {
  wedge old;
  yw_error error = {0};
  int code = -1;
  const char* difference = NULL;
  if (wedge_open(dir, &old, &error) < 0) {
    code = bad_input("%s", error.message);
  } else if ((difference = wedge_difference(&old, def)) != NULL) {
    code = bad_input(
        "%s holds a wedge with %s. Choose another folder with -o, or go on with that one: yawara "
        "wedge %s",
        dir, difference, dir);
  }
  wedge_close(&old);
  return code;
}

static int make_wedge(wedge_options* o) {
  if (o->def.sweep.count == 0) {
    return bad_input(
        "%s is not the folder of a wedge, and to make one of a scene --sweep is missing, e.g. "
        "--sweep substeps=2,4,8 -o out/steps",
        o->input);
  }
  if (!o->output) return bad_input("-o DIR is missing: the folder for the runs");
  if (strlen(o->output) >= WEDGE_MAX_PATH) {
    return bad_input("--output is longer than %d characters", WEDGE_MAX_PATH - 1);
  }
  char* real = realpath(o->input, NULL);
  bool fits = real && strlen(real) < sizeof o->def.scene;
  snprintf(o->def.scene, sizeof o->def.scene, "%s", fits ? real : "");
  free(real);
  if (!fits) return bad_input("%s: there is no such scene or wedge", o->input);
  wedge_sweeps sweeps;
  int code = wedge_sweeps_read(&o->def.sweep, o->def.latin, o->def.seed, &sweeps);
  o->made = !wedge_exists(o->output);
  if (code < 0) {
    code = o->made ? write_manifest(&o->def, &sweeps, o->output) : check_same(&o->def, o->output);
  }
  wedge_sweeps_free(&sweeps);
  return code;
}

// Says whether the scene is still the one that the wedge was made of. Returns -1 if so, or the exit
// code.
static int check_scene(const wedge* w) {
  option_list set = {0};
  set.count = wedge_overrides(w, 0, set.items);
  wedge_def now = {0};
  int code = try_scene(w->def.scene, &set, &now);
  if (code < 0 && now.files_hash != w->def.files_hash) {
    code = bad_input(
        "%s, or a file that it refers to, has changed since the wedge was made: further runs would "
        "not belong to those that are done. Put it back, or make a wedge in another folder",
        w->def.scene);
  }
  return code;
}

// The command -------------------------------------------------------------------------------------

// Returns -1 to continue, or the exit code.
static int write_results(const wedge* w, const wedge_options* o) {
  yw_error error = {0};
  int code = wedge_write_table(w, o->columns);
  if (code >= 0) return code;
  printf("%s/table.csv\n", w->dir);
  if (wedge_write_plots(w, &error) < 0) return bad_input("%s", error.message);
  return o->pictures ? wedge_write_sheet(w) : -1;
}

static int work_on(const wedge* w, const wedge_options* o) {
  int32_t counts[WEDGE_NUM_STATES];
  // Tasks that start after a stop have nothing to do; whoever goes on takes it back.
  if (!o->task) wedge_take_back_stop(w);
  int code = o->made ? -1 : check_scene(w);
  if (code < 0) code = wedge_run(w, &o->work);
  if (code >= 0) return code;
  wedge_print_status(w, o->work.share, true, counts);
  code = counts[WEDGE_FAILED] > 0 ? EXIT_FAILED : EXIT_DONE;
  // With tasks, the last one writes the table.
  bool rest = false;
  for (int32_t run = 0; o->task && run < w->num_runs && !rest; ++run) {
    wedge_state state = wedge_look(w, run).state;
    rest = state == WEDGE_WAITING || state == WEDGE_RUNNING;
  }
  int written = rest ? -1 : write_results(w, o);
  return written >= 0 ? written : code;
}

static int use_wedge(const wedge* w, const wedge_options* o) {
  int32_t counts[WEDGE_NUM_STATES];
  if (o->stop) {
    return wedge_stop(w);
  } else if (o->slurm > 0) {
    return wedge_print_slurm(w, o->slurm);
  } else if (o->list) {
    wedge_list(w, o->work.share);
  } else if (o->status) {
    wedge_print_status(w, o->work.share, false, counts);
  } else {
    return work_on(w, o);
  }
  return EXIT_DONE;
}

static bool describes_runs(const wedge_options* o) {
  const wedge_def* d = &o->def;
  return d->sweep.count > 0 || o->sweeps || d->set.count > 0 || d->latin > 0 || d->frames >= 0 ||
         d->snapshot_every > 0 || strcmp(d->on_fault, "stop") != 0 || o->output;
}

int cmd_wedge(int argc, char** argv) {
  wedge_options o = {.columns = "all kinetic energy,all elastic energy",
                     .def = {.frames = -1, .seed = 1, .on_fault = "stop"}};
  int code = parse(argc, argv, &o);
  if (code < 0) code = check_values(&o);
  if (code >= 0) return code;
  bool old = wedge_exists(o.input);
  if (old && describes_runs(&o)) {
    return bad_input(
        "%s is a wedge already: its runs are fixed. Make another one of the scene to change them",
        o.input);
  }
  if (!old && o.stop) code = bad_input("%s: there is no wedge to stop", o.input);
  bool shows = o.status && o.def.sweep.count == 0;
  if (!old && shows) code = bad_input("%s is not the folder of a wedge", o.input);
  if (!old && !o.stop && !shows) code = make_wedge(&o);
  if (code >= 0) return code;
  wedge w;
  yw_error error = {0};
  code = wedge_open(old ? o.input : o.output, &w, &error) < 0 ? bad_input("%s", error.message)
                                                              : use_wedge(&w, &o);
  wedge_close(&w);
  return code;
}
