// SPDX-License-Identifier: MIT
// yawara fit: the behaviour of a body for a material; the modulus behind a measurement; classic
// position-based settings in pascals.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "console/options.h"
#include "fit/fit.h"
#include "studies.h"
#include "yawara/extend/error.h"

static const char examples[] =
    "  yawara fit -E 1e6 -n 0.3                      what a bar of 5 x 1 x 1 m delivers\n"
    "  yawara fit --box 0.3x0.002x0.03 -m steel --kind cells --cells 60x4x8\n"
    "                                                the pitch of a steel ruler\n"
    "  yawara fit body.vtu -m rubber --plot fit.svg  any tets, or a scene's body\n"
    "  yawara fit --box 0.2x0.02x0.02 -n 0.49 --deflection 0.004 --force 0.05\n"
    "                                                the modulus behind a measured tip\n"
    "  yawara fit --box 0.2x0.02x0.02 -d 1100 --frequency 3.2\n"
    "                                                ... behind a measured frequency\n"
    "  yawara fit --alpha 0.5 --dt 0.0041667         shape matching in pascals\n"
    "  yawara fit --stiffness 0.3 --sweeps 4 --dt 0.0167\n"
    "  yawara fit -E 1e5 --dt 0.0041667              and the other way round\n";

static int parse(int argc, char** argv, fit_options* o) {
  const option options[] = {
      {"box", 'b', OPTION_TEXT, &o->box, "LxDxW",
       "a bar of that length, depth and width, m (default: 5x1x1); it bends along its depth", 0, 0},
      {"cells", 'c', OPTION_TEXT, &o->cells, "N",
       "cells across a box, or along each side, e.g. 60x4x8 (default: 8)", 0, 0},
      {"kind", 'k', OPTION_TEXT, &o->kind, "KIND", "regions: rings or cells (default: rings)", 0,
       0},
      {"body", 0, OPTION_INT, &o->body, "N", "which body of a scene (default: 0)", 0, 1e6},
      {"material", 'm', OPTION_TEXT, &o->material, "NAME",
       "rubber, gelatin, steel, ... (docs/materials.md)", 0, 0},
      {"youngs-modulus", 'E', OPTION_FLOAT, &o->youngs_modulus, "PA", "Young's modulus, Pa", 1e-3,
       1e15},
      {"poissons-ratio", 'n', OPTION_FLOAT, &o->poissons_ratio, "NU",
       "Poisson's ratio, 0 to 0.4999 (default: 0.3)", 0, 0.4999},
      {"density", 'd', OPTION_FLOAT, &o->density, "RHO", "kg/m^3 (default: 1000)", 1e-6, 1e9},
      {"deflection", 0, OPTION_FLOAT, &o->deflection, "M",
       "measured: how far the tip of a cantilever gives way, m", 1e-12, 1e6},
      {"force", 0, OPTION_FLOAT, &o->force, "N",
       "  under this force at the tip (default: its own weight)", 1e-12, 1e12},
      {"gravity", 0, OPTION_FLOAT, &o->gravity, "G", "  m/s^2 of its weight (default: 9.80665)",
       1e-6, 1e6},
      {"frequency", 0, OPTION_FLOAT, &o->frequency, "HZ", "measured: first frequency", 1e-9, 1e9},
      {"hold", 0, OPTION_TEXT, &o->hold, "HOW", "end (clamped at one end, default) or none", 0, 0},
      {"alpha", 0, OPTION_FLOAT, &o->alpha, "A", "classic: shape matching, share of the way", 1e-9,
       1},
      {"stiffness", 0, OPTION_FLOAT, &o->stiffness, "S",
       "classic: position-based, share of the way per sweep", 1e-9, 0.999999},
      {"sweeps", 0, OPTION_INT, &o->sweeps, "K", "  sweeps per step (default: 1)", 1, 1000},
      {"dt", 0, OPTION_FLOAT, &o->dt, "S", "  time step, s", 1e-9, 1e3},
      {"averaged", 0, OPTION_FLAG, &o->averaged, NULL,
       "  sweeps average the goals of all regions instead of taking them in turn", 0, 0},
      {"calculix", 0, OPTION_FLAG, &o->calculix, NULL,
       "compare with quadratic tets of CalculiX (Debian package calculix-ccx)", 0, 0},
      {"plot", 'p', OPTION_TEXT, &o->plot, "FILE",
       "draw to a .svg or .png file; the numbers go to a .csv file beside it", 0, 0},
      {"json", 0, OPTION_FLAG, &o->json, NULL, "JSON instead of a table", 0, 0},
  };
  const command self = {
      .name = "fit",
      .summary = "materials and measurements against what a frames body does",
      .usage = "fit [FILE] [--box LxDxW] [material] [measurement | classic settings]",
      .examples = examples,
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .max_arguments = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, &o->file, &count);
  if (code < 0 && count == 0) o->file = NULL;
  return code;
}

static int check(const fit_options* o) {
  if (o->file && o->box) return bad_input("give a file or --box, not both");
  if (strcmp(o->kind, "rings") != 0 && strcmp(o->kind, "cells") != 0) {
    return bad_input("--kind is \"%s\", but must be rings or cells", o->kind);
  }
  if (strcmp(o->hold, "end") != 0 && strcmp(o->hold, "none") != 0) {
    return bad_input("--hold is \"%s\", but must be end or none", o->hold);
  }
  bool measured = !isnan(o->deflection) || !isnan(o->frequency);
  bool classic = !isnan(o->alpha) || !isnan(o->stiffness) || !isnan(o->dt);
  if (measured && classic) {
    return bad_input("give a measurement or classic settings, not both");
  }
  if (!isnan(o->force) && isnan(o->deflection)) {
    return bad_input("--force needs what it did: give --deflection too");
  }
  return -1;
}

int study_fit(int argc, char** argv) {
  const float none = (float)NAN;
  fit_options o = {.kind = "rings",
                   .hold = "end",
                   .cells = "8",
                   .sweeps = 1,
                   .youngs_modulus = none,
                   .poissons_ratio = none,
                   .density = none,
                   .deflection = none,
                   .force = none,
                   .gravity = none,
                   .frequency = none,
                   .alpha = none,
                   .stiffness = none,
                   .dt = none};
  int code = parse(argc, argv, &o);
  if (code < 0) code = check(&o);
  if (code >= 0) return code;
  yw_error error = {0};
  yw_status status;
  if (!isnan(o.deflection) || !isnan(o.frequency)) {
    status = fit_measure(&o, &error);
  } else if (!isnan(o.alpha) || !isnan(o.stiffness) || !isnan(o.dt)) {
    status = fit_classic(&o, &error);
  } else {
    status = fit_report(&o, &error);
  }
  if (status >= 0) return EXIT_DONE;
  code = bad_input("%s", error.message);
  return status == YW_ERR_DIVERGED ? EXIT_FAILED : code;
}
