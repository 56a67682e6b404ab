// SPDX-License-Identifier: MIT
#include "commands/run_options.h"

#include <stdlib.h>
#include <string.h>

#include "playback/export.h"

static const char about[] =
    "A model (.obj, .ply, .stl or tets) needs no scene: it is scaled to 1 m and falls on a\n"
    "floor. --as says of what it is made; the words mean the same in all methods:\n"
    "  jelly   wobbles for long, sags         rubber  bends visibly and bounces\n"
    "  foam    light, comes to rest at once   toy     keeps its shape, gives a little\n"
    "  clay    dents for good                 cloth   the surface alone, as a sheet\n"
    "  steel   as good as rigid\n"
    "--unit mm keeps the size of the file, --up z turns it upright, --parts makes a body of\n"
    "each connected part.\n"
    "yawara new writes the same as a scene file with comments, to go on from.\n\n"
    "A run is a folder: what the bodies look like, where they are in every frame, a copy of\n"
    "the scene. It needs neither the scene nor its meshes to be drawn (yawara render DIR),\n"
    "exported (yawara export DIR) or described (yawara inspect DIR). docs/runs.md has the\n"
    "format. Ctrl-C stops after the frame; --resume goes on from there, bit for bit, unless\n"
    "the scene or one of its files has changed.\n\n"
    "mpirun -n 4 yawara run SCENE shares plastic bodies between four processes, with the\n"
    "same bits (docs/design/distributed.md).\n";
static const char examples[] =
    "  yawara run cow.obj --as jelly\n"
    "  yawara run cow.obj --as clay --fit 0.2 -o out/small\n"
    "  yawara run scenes/gallery/first.json\n"
    "  yawara run scenes/gallery/twist.json -o out/soft --set bodies[1].match.beta=0.5\n"
    "  yawara run scenes/gallery/teddy.json --format ply,pc2 --frames 240\n"
    "  yawara run scenes/gallery/teddy.json --fields speed --format vtu\n"
    "  yawara run scenes/gallery/teddy.json --frames 480 --resume\n";

// "500M" and the like in bytes; -1 if it is none.
static int64_t bytes_of(const char* text) {
  if (!text) return INT64_MAX;
  char* end;
  double value = strtod(text, &end);
  static const char units[] = "kMGT";
  const char* unit = *end ? strchr(units, *end) : NULL;
  if (unit) ++end;
  for (const char* u = units; unit && u <= unit; ++u) value *= 1000;
  if (*end == 'B') ++end;
  return end != text && *end == 0 && value >= 1 && value < 9e18 ? (int64_t)value : -1;
}

static int check_values(run_options* o, const char* on_fault) {
  static const char* const plans[] = {"stop", "continue", "retry"};
  int plan = 0;
  while (plan < 3 && strcmp(on_fault, plans[plan]) != 0) ++plan;
  if (plan == 3) {
    return bad_input("--on-fault is \"%s\", but must be stop, continue or retry", on_fault);
  }
  o->on_fault = (fault_plan)plan;
  o->max_memory_bytes = bytes_of(o->max_memory);
  o->max_disk_bytes = bytes_of(o->max_disk);
  if (o->max_memory_bytes < 0 || o->max_disk_bytes < 0) {
    return bad_input("--max-%s is \"%s\", but must be a size such as 500M or 4G",
                     o->max_memory_bytes < 0 ? "memory" : "disk",
                     o->max_memory_bytes < 0 ? o->max_memory : o->max_disk);
  }
  yw_error error = {0};
  if (o->skin && export_check_skin(o->formats, &error) < 0) return bad_input("%s", error.message);
  if (o->formats && !export_formats_known(o->formats)) {
    return bad_input(
        "--format is \"%s\", but must be a list of ply, obj, vtu, pc2, mdd, bgeo, gltf, usd",
        o->formats);
  }
  return -1;
}

int run_options_parse(int argc, char** argv, run_options* out) {
  *out = (run_options){.frames = -1};
  const char* on_fault = "stop";
  const option options[] = {
      {"output", 'o', OPTION_TEXT, &out->output, "DIR", "run folder (default: out/NAME)", 0, 0},
      {"frames", 'n', OPTION_INT, &out->frames, "N", "frames to run (default: from the scene)", 0,
       1e7},
      {"format", 'f', OPTION_TEXT, &out->formats, "LIST",
       "then export ply, obj, vtu, pc2, mdd, bgeo, gltf, usd (comma separated)", 0, 0},
      {"fields", 0, OPTION_TEXT, &out->fields, "LIST",
       "also keep these fields in the frames, e.g. speed,velocity, or all", 0, 0},
      {"skin", 0, OPTION_FLAG, &out->skin, NULL,
       "ply and obj: a skin around the particles of bodies without a surface", 0, 0},
      {"resume", 'r', OPTION_FLAG, &out->resume, NULL,
       "go on with the run in the folder from its last snapshot", 0, 0},
      {"pack", 0, OPTION_FLAG, &out->pack, NULL,
       "all frames in one file, which is faster for runs of many small frames", 0, 0},
      {"snapshot-every", 0, OPTION_INT, &out->snapshot_every, "N",
       "frames between snapshots (default: one about every 10 s)", 1, 1e9},
      {"on-fault", 0, OPTION_TEXT, &on_fault, "WHAT",
       "when a body diverges: stop (default), retry the frame in smaller steps, or continue "
       "without the body (exit code 3)",
       0, 0},
      {"max-memory", 0, OPTION_TEXT, &out->max_memory, "SIZE",
       "stop with a snapshot before using more, e.g. 4G", 0, 0},
      {"max-disk", 0, OPTION_TEXT, &out->max_disk, "SIZE",
       "stop with a snapshot before the folder has more, e.g. 500M", 0, 0},
      {"strict", 0, OPTION_FLAG, &out->strict, NULL, "refuse scenes whose bodies overlap at first",
       0, 0},
      {"quiet", 'q', OPTION_FLAG, &out->quiet, NULL, "no progress", 0, 0},
      STARTER_OPTIONS(&out->scene.model),
      SCENE_OPTIONS(&out->scene),
  };
  const command self = {
      .name = "run",
      .summary = "simulate a model or a scene and keep its frames: a run",
      .usage = "run MODEL|SCENE [--as WORD] [-o DIR] [--frames N] [--set path=value] [--resume]",
      .about = about,
      .examples = examples,
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  const char* arguments[1];
  int32_t count;
  int code = parse_options(&self, argc, argv, arguments, &count);
  if (code >= 0) return code;
  out->scene_path = arguments[0];
  return check_values(out, on_fault);
}
