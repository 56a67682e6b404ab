// SPDX-License-Identifier: MIT
// yawara export: a run in the formats of other programs.
#include <stdio.h>

#include "commands/commands.h"
#include "console/options.h"
#include "playback/export.h"

int cmd_export(int argc, char** argv) {
  const char* formats = "ply";
  const char* output = NULL;
  bool quiet = false, skin = false, thick = false, velocities = false;
  int32_t first = -1;
  const option options[] = {
      {"format", 'f', OPTION_TEXT, &formats, "LIST",
       "ply, obj, vtu, pc2, mdd, bgeo, gltf, usd, comma separated (default: ply)", 0, 0},
      {"from", 0, OPTION_INT, &first, "N",
       "only frames from N on, also of a run that is still going (default: all)", 0, 1e9},
      {"skin", 0, OPTION_FLAG, &skin, NULL,
       "ply and obj: a skin around the particles of bodies without a surface", 0, 0},
      {"thick", 0, OPTION_FLAG, &thick, NULL,
       "sheets of mesh files with two sides and a rim, as pictures show them, instead of the "
       "triangles, numbers and texture coordinates of their file",
       0, 0},
      {"velocities", 0, OPTION_FLAG, &velocities, NULL,
       "ply: vx, vy, vz; usd: velocities; pc2, mdd: a second file of them; m/s, for motion blur", 0,
       0},
      {"output", 'o', OPTION_TEXT, &output, "DIR",
       "folder to write to, made if it does not exist (default: the run)", 0, 0},
      {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "no progress", 0, 0},
  };
  const command self = {
      .name = "export",
      .summary = "a run as PLY, OBJ, VTU, PC2, MDD, BGEO, glTF or USD",
      .usage = "export DIR [--format LIST] [-o DIR]",
      .about =
          "Needs the folder of the run and nothing else. Files go to DIR/FORMAT/:\n"
          "ply, obj   surfaces (particles where there are none), a file per frame\n"
          "vtu        tets, lines of rods, triangles of sheets or particles, with fields; open\n"
          "           series.pvd in ParaView\n"
          "pc2, mdd   all frames of a body with a surface in one file, beside its OBJ\n"
          "bgeo       particles, for Houdini\n"
          "gltf       all bodies and frames as one animation of morph targets, for browsers, game\n"
          "           engines and 3D programs; about 24 bytes per vertex and frame\n"
          "usd        all bodies and frames as time samples in one text file, run.usda, for Maya,\n"
          "           Houdini, Unreal and others; about 60 bytes per vertex and frame\n"
          "ply, vtu and bgeo carry the fields kept with yawara run --fields; fields.csv beside\n"
          "them has their units. What a format cannot hold is left out and named.\n",
      .examples =
          "  yawara export out/teddy --format ply\n"
          "  yawara export out/teddy --format pc2   # for Blender's Mesh "
          "Cache: import the OBJ beside it\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 1,
      .max_arguments = 1};
  const char* dir;
  int32_t count;
  int code = parse_options(&self, argc, argv, &dir, &count);
  if (code >= 0) return code;
  yw_error error = {0};
  export_def def = {dir, formats, output ? output : dir, first, skin, thick, velocities, quiet};
  if (export_run(&def, &error) < 0) {
    return bad_input("%s", error.message);
  }
  return EXIT_DONE;
}
