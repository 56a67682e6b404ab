// SPDX-License-Identifier: MIT
// Figures of papers: each is a scene file, a few numbers that show the effect, and pictures.
#ifndef YW_STUDIES_PAPERS_PAPER_H
#define YW_STUDIES_PAPERS_PAPER_H

#include "papers/measure.h"
#include "render/draw/plot.h"
#include "yawara/yawara.h"

/// Options of the command.
typedef struct paper_options {
  const char* scenes;  ///< folder that holds papers/; never NULL
  const char* output;  ///< folder for the files of this figure
  const char* model;   ///< mesh file in place of the figure's bunny, car, ...; NULL: its own shape
  bool quick;          ///< coarse bodies, small pictures, no movie, few repetitions
  bool full;           ///< the paper's sizes, numbers and plots alone
  bool no_pictures;    ///< no contact sheet, no movie
  bool no_plots;       ///< no plots or their CSV files either
  int32_t threads;     ///< for simulations; default 1, as in the papers
  int32_t frames;      ///< of each scene, at most; 0: all
} paper_options;

/// `frames`, or fewer where the command asks for that.
static inline int32_t paper_at_most(const paper_options* options, int32_t frames) {
  return options->frames > 0 && options->frames < frames ? options->frames : frames;
}

/// One figure or table: prints its numbers and writes its files.
typedef struct paper_figure {
  const char* name;
  const char* summary;
  yw_status (*make)(const paper_options* options, yw_error* error);
  bool only_plots;   ///< needs no scenes and no ray-traced pictures (but may draw some)
  bool takes_model;  ///< --model replaces one of its shapes
} paper_figure;

#define PAPER_MAX_SERIES 12

extern const paper_figure paper_figures[];
extern const int32_t paper_num_figures;

yw_status paper_fig1(const paper_options* options, yw_error* error);
yw_status paper_fig5(const paper_options* options, yw_error* error);
yw_status paper_fig6(const paper_options* options, yw_error* error);
yw_status paper_fig7(const paper_options* options, yw_error* error);
yw_status paper_fig8(const paper_options* options, yw_error* error);
yw_status paper_fig9(const paper_options* options, yw_error* error);
yw_status paper_fig10(const paper_options* options, yw_error* error);
yw_status paper_fig11(const paper_options* options, yw_error* error);
yw_status paper_fig12(const paper_options* options, yw_error* error);
yw_status paper_projection(const paper_options* options, yw_error* error);
yw_status paper_table1(const paper_options* options, yw_error* error);
yw_status paper_saida_fig1(const paper_options* options, yw_error* error);
yw_status paper_saida_fig7(const paper_options* options, yw_error* error);
yw_status paper_saida_fig8(const paper_options* options, yw_error* error);
yw_status paper_saida_fig9(const paper_options* options, yw_error* error);
yw_status paper_saida_fig10(const paper_options* options, yw_error* error);
yw_status paper_saida_fig11(const paper_options* options, yw_error* error);
yw_status paper_saida_fig12(const paper_options* options, yw_error* error);
yw_status paper_saida_fig13(const paper_options* options, yw_error* error);
yw_status paper_saida_fig14(const paper_options* options, yw_error* error);
yw_status paper_saida_fig16(const paper_options* options, yw_error* error);
yw_status paper_saida_mpm(const paper_options* options, yw_error* error);
yw_status paper_saida_buckling(const paper_options* options, yw_error* error);
yw_status paper_saida_slaves(const paper_options* options, yw_error* error);
yw_status paper_saida_table2(const paper_options* options, yw_error* error);
yw_status paper_hino_theorem(const paper_options* options, yw_error* error);
yw_status paper_hino_frequency(const paper_options* options, yw_error* error);
yw_status paper_hino_oriented(const paper_options* options, yw_error* error);
yw_status paper_hino_resolution(const paper_options* options, yw_error* error);
yw_status paper_hino_volume(const paper_options* options, yw_error* error);
yw_status paper_hino_cost(const paper_options* options, yw_error* error);
yw_status paper_hino_picture(const paper_options* options, yw_error* error);
yw_status paper_hino_limit(const paper_options* options, yw_error* error);
yw_status paper_imai_fig3(const paper_options* options, yw_error* error);
yw_status paper_imai_sampling(const paper_options* options, yw_error* error);
yw_status paper_imai_classes(const paper_options* options, yw_error* error);
yw_status paper_imai_fig6(const paper_options* options, yw_error* error);
yw_status paper_imai_fig7(const paper_options* options, yw_error* error);
yw_status paper_imai_fig8(const paper_options* options, yw_error* error);
yw_status paper_imai_fig9(const paper_options* options, yw_error* error);
yw_status paper_imai_variants(const paper_options* options, yw_error* error);
yw_status paper_imai_load(const paper_options* options, yw_error* error);
yw_status paper_imai_poke(const paper_options* options, yw_error* error);

// A scene that is played --------------------------------------------------------------------------

typedef struct paper_take paper_take;

/// Called after every frame (and before the first) with a row for its numbers.
typedef void (*paper_measure)(const paper_take* take, double* row);

/// Points to mark with a dot, e.g. handles; returns how many (at most PAPER_MAX_MARKS).
#define PAPER_MAX_MARKS 8
typedef int32_t (*paper_marks)(const paper_take* take, yw_vec3* out);

/// How a scene is played, measured and pictured.
typedef struct paper_script {
  const char* scene;          ///< file under papers/
  const char* title;          ///< of the contact sheet
  int32_t num_columns;        ///< numbers per frame
  paper_measure measure;      ///< may be NULL with no columns
  int32_t num_moments;        ///< pictures on the contact sheet
  const double* moments;      ///< s
  int32_t sheet_columns;      ///< pictures per row
  int32_t width, height;      ///< of a picture and of the movie, pixels
  const char* const* labels;  ///< one per body, drawn under it; NULL: none
  paper_marks marks;          ///< may be NULL
  int32_t film_every;         ///< frames per picture of the movie; 0: no movie
  /// Changes to the scene; may be NULL with none.
  const yw_scene_override* settings;
  int32_t num_settings;
  const char* name;      ///< NAME.png (contact sheet) and NAME.mp4; NULL: sheet.png, movie.mp4
  bool may_diverge;      ///< a body that diverges ends the take, but not the figure
  const char* field;     ///< colours bodies; NULL: their own colours
  float field_high;      ///< upper end of the colour range; the lower is 0
  int32_t quick_frames;  ///< length with --quick; 0: the whole scene
  /// Moves the bodies by a frame in place of the world's steps; false: diverged. NULL: the world.
  bool (*advance)(paper_take* take, void* user);
  void* user;
} paper_script;

struct paper_take {
  const paper_options* options;
  const paper_script* script;
  yw_scene* scene;
  yw_scene_info info;
  yw_world* world;
  int32_t frame;      ///< simulated so far
  double* rows;       ///< (info.frames + 1) x num_columns
  double* times;      ///< of the rows, s
  double seconds;     ///< spent in steps; of one thread its CPU time
  double cpu;         ///< the same as CPU time of all threads, s
  double worst_step;  ///< longest frame, s, measured likewise
  bool diverged;      ///< and ended early; later rows repeat the last frame
  void* pictures;     ///< renderer, stage, contact sheet and movie; NULL without pictures
};

/// Plays the whole scene; writes sheet.png and movie.mp4.
yw_status paper_play(const paper_options* options, const paper_script* script, paper_take* out,
                     yw_error* error);
void paper_take_free(paper_take* take);

/// Value `column` of a frame, and its maximum.
double paper_value(const paper_take* take, int32_t frame, int32_t column);
double paper_peak(const paper_take* take, int32_t column, double* time);
/// The final value of `column`.
double paper_last(const paper_take* take, int32_t column);

yw_body_id paper_body(const paper_take* take, int32_t body);
/// Number of particles of a body.
int32_t paper_particles(const paper_take* take, int32_t body);

/// Plots columns over time to NAME.svg etc., as below. unit may be NULL.
yw_status paper_plot(const paper_take* take, const char* name, const char* title, const char* label,
                     const char* unit, int32_t count, const int32_t* columns,
                     const char* const* names, yw_error* error);
/// A plot over time, s; the caller labels the other axis and writes it.
yw_plot paper_time_plot(const char* title, int32_t count, const yw_series* series);
/// Writes a plot as NAME.svg, NAME.csv and, with librsvg, NAME.png in the output folder.
yw_status paper_write_plot(const paper_options* options, const char* name, const yw_plot* plot,
                           yw_error* error);

#define PAPER_MAX_SETTINGS 24
/// Opens a scene under papers/ with changes (at most PAPER_MAX_SETTINGS) and creates its world.
yw_status paper_open_with(const paper_options* options, const char* scene, int32_t num_settings,
                          const yw_scene_override* settings, yw_scene** out_scene,
                          yw_world** out_world, yw_error* error);
/// The same without changes.
yw_status paper_open(const paper_options* options, const char* scene, yw_scene** out_scene,
                     yw_world** out_world, yw_error* error);

// Meshes of the user's (model.c) ------------------------------------------------------------------

#define PAPER_MODEL_CHANGES 12
#define PAPER_MODEL_VALUE 1200

typedef struct paper_model_changes {
  int32_t count;
  yw_scene_override settings[PAPER_MODEL_CHANGES];
  char keys[PAPER_MODEL_CHANGES][60], values[PAPER_MODEL_CHANGES][PAPER_MODEL_VALUE];
} paper_model_changes;

/// What makes the scene use the model of the options; none if there is none, or if the scene has no
/// shape that it could replace.
yw_status paper_model_find(const paper_options* options, const char* scene,
                           paper_model_changes* out, yw_error* error);

// Pictures of a take (pictures.c) -----------------------------------------------------------------

yw_status paper_pictures_open(paper_take* take, yw_error* error);
/// Adds the frame to the movie and the contact sheet if it is due.
yw_status paper_pictures_add(paper_take* take, yw_error* error);
/// Writes what was collected, or discards it after a failure.
yw_status paper_pictures_close(paper_take* take, yw_status status, yw_error* error);

#endif
