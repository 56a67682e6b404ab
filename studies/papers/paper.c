// SPDX-License-Identifier: MIT
// yawara paper: a figure or table of a paper, as numbers, a contact sheet, plots and a movie.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/options.h"
#include "papers/paper.h"
#include "render/trace/render.h"
#include "studies.h"
#include "yawara/extend/file.h"
#include "yawara/extend/text.h"

const paper_figure paper_figures[] = {
    {"koyama2013-fig1", "a cuboid dropped, plain and with a twisted example", paper_fig1, false,
     false},
    {"koyama2013-fig5", "the cuboid at rest, for eight values of beta", paper_fig5, false, false},
    {"koyama2013-fig6", "a teddy pulled at one arm, in one group and in two", paper_fig6, false,
     true},
    {"koyama2013-fig7", "one group for the whole cuboid, one per region", paper_fig7, false, false},
    {"koyama2013-fig8", "ten cuboids of two kinds on a slope", paper_fig8, false, false},
    {"koyama2013-fig9", "four cylinders with very different examples", paper_fig9, false, false},
    {"koyama2013-fig10", "four cars into a wall", paper_fig10, false, true},
    {"koyama2013-fig11", "the tets of the bodies", paper_fig11, false, false},
    {"koyama2013-fig12", "beside the finite elements of Martin et al. and Schumacher et al.",
     paper_fig12, true, false},
    {"koyama2013-projection", "two and three examples: nearest point of the hull, paper's rule",
     paper_projection, false, false},
    {"koyama2013-table1", "time per step of five bodies, beside the paper's", paper_table1, false,
     true},
    {"saida2017-fig1", "a zero-energy mode, without and with slaves", paper_saida_fig1, true,
     false},
    {"saida2017-fig7",
     "a bunny dropped, with slaves and with the printed formulas on masters alone",
     paper_saida_fig7, false, true},
    {"saida2017-fig8", "the same with steps of 0.5 and 0.7 ms", paper_saida_fig8, false, true},
    {"saida2017-fig9", "a stiff and a soft elastic cube", paper_saida_fig9, false, false},
    {"saida2017-fig10", "a moderately and a highly plastic cube", paper_saida_fig10, false, false},
    {"saida2017-fig11", "a creature with limbs, elastic and elastoplastic", paper_saida_fig11,
     false, true},
    {"saida2017-fig12", "a sheet of one layer on a cross", paper_saida_fig12, false, false},
    {"saida2017-fig13", "a bunny on rods, of two materials", paper_saida_fig13, false, true},
    {"saida2017-fig14", "bunnies that merge, one after another", paper_saida_fig14, false, true},
    {"saida2017-fig16", "figures 15-16: time per step against particles and against extent",
     paper_saida_fig16, false, true},
    {"saida2017-table2", "tables 1-2: time per step of every scene, beside the paper's",
     paper_saida_table2, false, true},
    {"saida2017-buckling", "a thin sheet falls on its edge, which the paper leaves open",
     paper_saida_buckling, false, false},
    {"saida2017-slaves", "rules for slaves that come and go: what they are worth",
     paper_saida_slaves, false, true},
    {"saida2017-mpm", "a material point method on a grid, in the same scenes", paper_saida_mpm,
     false, false},
    {"hino-picture", "figures 2-4: a frame, its springs and particles in equilibrium",
     paper_hino_picture, true, false},
    {"hino-theorem",
     "the matched pose is the equilibrium of a frame on springs, the only stable one",
     paper_hino_theorem, true, false},
    {"hino-frequency", "frequency against time step, position-based and springs",
     paper_hino_frequency, true, false},
    {"hino-oriented", "position-based orientations and spins beside ellipsoids on springs",
     paper_hino_oriented, true, false},
    {"hino-volume", "bodies of oriented particles, and how fast they are", paper_hino_volume, false,
     false},
    {"hino-resolution", "error against resolution: rings, cells, linear tets, CalculiX",
     paper_hino_resolution, true, false},
    {"hino-limit", "what one spring constant fitted to finite elements leaves", paper_hino_limit,
     true, false},
    {"hino-cost", "time against finite elements at equal accuracy", paper_hino_cost, true, false},
    {"imai-fig3", "stress against strain of a coarse tet, the line fitted to it, its range",
     paper_imai_fig3, true, false},
    {"imai-sampling", "how stiff coarse levels are: sampled as in the paper, and as here",
     paper_imai_sampling, true, false},
    {"imai-classes", "figures 10-13: the five classes of tets, counted and drawn",
     paper_imai_classes, true, false},
    {"imai-fig6", "a bar that sags, adaptive beside the finest mesh: front and error",
     paper_imai_fig6, false, false},
    {"imai-fig7", "the bar: tets in use and updates per second over time", paper_imai_fig7, false,
     false},
    {"imai-fig8", "a fine surface carried by coarse tets", paper_imai_fig8, false, true},
    {"imai-fig9", "a jelly bunny of one stiffness, and one with soft ears", paper_imai_fig9, false,
     true},
    {"imai-variants", "the paper's hanging nodes, sampling and refinement beside these",
     paper_imai_variants, false, false},
    {"imai-load", "the bar under 0.1 to 9.81 m/s^2: what adaptivity gains", paper_imai_load, false,
     false},
    {"imai-poke", "a poke into a block: what adaptivity gains", paper_imai_poke, false, false},
};
const int32_t paper_num_figures = sizeof paper_figures / sizeof paper_figures[0];
// A paper's name stands for all its figures, whose names start with it.
static const char* const papers[] = {"koyama2013", "saida2017", "hino", "imai"};
enum { NUM_PAPERS = sizeof papers / sizeof papers[0] };

// Finding scenes ----------------------------------------------------------------------------------

static bool holds_scenes(const char* folder) {
  char path[1100];
  snprintf(path, sizeof path, "%s/papers/koyama2013/fig1.json", folder);
  return access(path, R_OK) == 0;
}

// The folder of the program, without a trailing slash.
static bool program_folder(char* out, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", out, capacity - 1);
  if (length <= 0) return false;
  out[length] = '\0';
  char* slash = strrchr(out, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

// As given, from the environment, here, or next to the program (build tree, installed).
static bool find_scenes(const char* named, char* out, size_t capacity) {
  if (!named) named = getenv("YAWARA_SCENES");
  if (named) {
    snprintf(out, capacity, "%s", named);
    return holds_scenes(out);
  }
  snprintf(out, capacity, "scenes");
  if (holds_scenes(out)) return true;
  static const char* const beside[] = {"../scenes", "../share/yawara/scenes"};
  char program[512];
  if (!program_folder(program, sizeof program)) return false;
  for (size_t i = 0; i < sizeof beside / sizeof *beside; ++i) {
    snprintf(out, capacity, "%s/%s", program, beside[i]);
    if (holds_scenes(out)) return true;
  }
  return false;
}

// The command -------------------------------------------------------------------------------------

static void list_figures(void) {
  printf("yawara paper NAME reproduces:\n\n");
  for (int32_t i = 0; i < paper_num_figures; ++i) {
    printf("  %-18s %s\n", paper_figures[i].name, paper_figures[i].summary);
  }
  for (int i = 0; i < NUM_PAPERS; ++i) printf("  %-18s all of that paper\n", papers[i]);
  printf(
      "\nkoyama2013: Koyama, Takayama, Umetani, Igarashi: Real-Time Example-Based Elastic "
      "Deformation.\n"
      "saida2017:  Saida, Fujisawa, Mikawa: elastoplastic bodies of master and slave particles.\n"
      "hino:       Hino, Ding, Mitake, Hasegawa: a physical model that explains Oriented "
      "Particles.\n"
      "imai:       Imai, Yue, Chen, Nishita: Adaptive Deformation Simulation of Inhomogeneous "
      "Elastic Objects.\n");
}

static const paper_figure* find_figure(const char* name) {
  for (int32_t i = 0; i < paper_num_figures; ++i) {
    if (strcmp(name, paper_figures[i].name) == 0) return &paper_figures[i];
  }
  return NULL;
}

static bool belongs_to(const paper_figure* figure, const char* paper) {
  size_t length = strlen(paper);
  return strncmp(figure->name, paper, length) == 0 && figure->name[length] == '-';
}

// Finds scenes and checks what pictures need; -1 to continue, or the exit code.
static int prepare(const paper_figure* figure, paper_options* options, char* scenes, size_t size) {
  yw_error error = {0};
  if (!figure->only_plots) {
    if (!find_scenes(options->scenes, scenes, size)) {
      return bad_input("%s holds no papers/koyama2013; name the folder with --scenes", scenes);
    }
    options->scenes = scenes;
  }
  bool good = options->no_pictures || yw_png_available(&error) >= 0;
  if (good && !options->no_pictures && !figure->only_plots) {
    good = yw_renderer_available(&error) >= 0;
  }
  if (!good) {
    fprintf(stderr, "yawara: %s; numbers and plots only\n", error.message);
    options->no_pictures = true;
  }
  return -1;
}

static int make_figure(const paper_figure* figure, const char* folder, paper_options options) {
  yw_error error = {0};
  char output[1024], scenes[1024];
  if (!figure->takes_model) options.model = NULL;
  int code = prepare(figure, &options, scenes, sizeof scenes);
  if (code >= 0) return code;
  snprintf(output, sizeof output, "%s/%s", folder, figure->name);
  options.output = output;
  if (!options.no_plots && yw_make_folders(output, &error) < 0) {
    return bad_input("%s", error.message);
  }
  printf("%s: %s\n", figure->name, figure->summary);
  fflush(stdout);
  yw_status status = figure->make(&options, &error);
  if (status >= 0) return EXIT_DONE;
  code = bad_input("%s: %s", figure->name, error.message);
  return status == YW_ERR_DIVERGED ? EXIT_FAILED : code;
}

static int make_all(const char* paper, const char* folder, const paper_options* options) {
  int code = EXIT_DONE;
  bool first = true;
  for (int32_t i = 0; i < paper_num_figures && code == EXIT_DONE; ++i) {
    if (!belongs_to(&paper_figures[i], paper)) continue;
    if (!first) printf("\n");
    first = false;
    code = make_figure(&paper_figures[i], folder, *options);
  }
  return code;
}

static int parse(int argc, char** argv, paper_options* out, const char** folder,
                 const char** name) {
  const option options[] = {
      {"output", 'o', OPTION_TEXT, folder, "DIR",
       "files go to DIR/NAME (default: out/paper); plots as .svg, .csv and .png", 0, 0},
      {"quick", 'q', OPTION_FLAG, &out->quick, NULL,
       "coarse bodies, small pictures, no movie, short timings", 0, 0},
      {"full", 0, OPTION_FLAG, &out->full, NULL,
       "bodies of the paper's sizes; numbers and plots, but no contact sheet and no movie", 0, 0},
      {"no-pictures", 0, OPTION_FLAG, &out->no_pictures, NULL,
       "numbers only: no contact sheet, no movie, no plots", 0, 0},
      {"scenes", 0, OPTION_TEXT, &out->scenes, "DIR",
       "folder with papers/ (default: $YAWARA_SCENES, ./scenes, beside the program)", 0, 0},
      {"model", 0, OPTION_TEXT, &out->model, "FILE",
       "a mesh (.obj, .node, ...) in place of the figure's bunny, car, teddy or creature", 0, 0},
      {"frames", 0, OPTION_INT, &out->frames, "N",
       "at most N frames of each scene, for a trial: the numbers are not those of the figure", 1,
       100000},
      {"threads", 't', OPTION_INT, &out->threads, "N",
       "threads of simulations (default: 1, as in the papers)", 1, 256},
  };
  const command self = {
      .name = "paper",
      .summary = "reproduce a figure or table of a paper; lists them without a name",
      .usage = "paper [NAME] [-o DIR] [--quick | --full] [--no-pictures]",
      .examples =
          "  yawara paper\n"
          "  yawara paper koyama2013-fig1\n"
          "  yawara paper koyama2013 --quick -o out/quick\n"
          "  yawara paper saida2017 --full\n"
          "  yawara paper hino\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .min_arguments = 0,
      .max_arguments = 1};
  int32_t count;
  int code = parse_options(&self, argc, argv, name, &count);
  if (code < 0 && count == 0) *name = NULL;
  return code;
}

static int unknown_figure(const char* name) {
  const char* names[64];
  for (int32_t i = 0; i < paper_num_figures; ++i) names[i] = paper_figures[i].name;
  yw_hint hint = yw_suggest(name, paper_num_figures, names);
  return bad_input("there is no figure \"%s\"%s; see: yawara paper", name, hint.text);
}

int study_paper(int argc, char** argv) {
  paper_options options = {.threads = 1};
  const char *folder = "out/paper", *name = NULL;
  int code = parse(argc, argv, &options, &folder, &name);
  if (code >= 0) return code;
  if (!name) {
    list_figures();
    return EXIT_DONE;
  }
  yw_error missing = {0};
  options.no_plots = options.no_pictures;
  if (options.quick && options.full) return bad_input("choose one of --quick and --full");
  options.no_pictures |= options.full;
  if (!options.no_plots && yw_svg_paint_available(&missing) < 0) {
    fprintf(stderr, "yawara: %s\n", missing.message);
  }
  const paper_figure* figure = find_figure(name);
  if (figure && options.model && !figure->takes_model) {
    return bad_input("%s has no bunny, car or teddy that --model could replace", name);
  }
  if (figure) return make_figure(figure, folder, options);
  for (int i = 0; i < NUM_PAPERS; ++i) {
    if (strcmp(name, papers[i]) == 0) return make_all(name, folder, &options);
  }
  return unknown_figure(name);
}
