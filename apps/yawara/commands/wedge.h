// SPDX-License-Identifier: MIT
// A wedge: many runs of one scene with different values, in one folder. See docs/wedge.md.
//   manifest.json       what is run: the scene and the values of each run
//   runs/0001           the folder of run 1
//   messages/0001.txt   what run 1 says; locked while it runs, last line "failed: ..." if it failed
//   stop                is there after yawara wedge stop, until somebody goes on
//   table.csv           values and measures of all runs
//   plots               charts of the measures over the values
//   pictures/0001.png   last frame of run 1, with --pictures; sheet.png has all
#ifndef YW_APP_COMMANDS_WEDGE_H
#define YW_APP_COMMANDS_WEDGE_H

#include "console/batch.h"
#include "console/options.h"
#include "playback/run_info.h"
#include "yawara/extend/json.h"

#define WEDGE_MAX_RUNS BATCH_MAX_TASKS
/// With these, 100,000 runs stay within YW_JSON_MAX_VALUES.
#define WEDGE_MAX_SWEEPS 12
/// Room for "path=value", as in run.json.
#define WEDGE_TEXT sizeof(((run_info*)0)->overrides[0])
/// Folders of wedges leave room in RUN_MAX_PATH for those of their runs.
#define WEDGE_MAX_PATH (RUN_MAX_PATH - 64)

// Sweeps ------------------------------------------------------------------------------------------

typedef struct wedge_sweep {
  char path[WEDGE_TEXT];
  int32_t count;
  char (*values)[WEDGE_TEXT];
  bool is_range;
  int32_t lowest, highest;  ///< of ranges: indices of the extreme values
} wedge_sweep;

typedef struct wedge_sweeps {
  int32_t count;
  wedge_sweep items[WEDGE_MAX_SWEEPS];
  bool latin;  ///< ranges advance together
  int32_t num_runs;
} wedge_sweeps;

/// Reads "path=a..b:n", "path=a..b:n:log" and "path=v1,v2". latin > 0: that many samples of all
/// ranges (without n) instead. Returns -1 to continue, or the exit code; free it in both cases.
int wedge_sweeps_read(const option_list* texts, int32_t latin, int32_t seed, wedge_sweeps* out);
void wedge_sweeps_free(wedge_sweeps* sweeps);
/// Index of each sweep's value in a run, 0 <= run < num_runs. The last sweep varies fastest.
void wedge_sweeps_choose(const wedge_sweeps* sweeps, int32_t run, int32_t out[WEDGE_MAX_SWEEPS]);

// The manifest ------------------------------------------------------------------------------------

/// What is the same in all runs of a wedge.
typedef struct wedge_def {
  char scene[RUN_MAX_PATH];  ///< absolute path
  uint64_t files_hash;       ///< of the files that the scene of the first run was read from
  double memory_bytes;       ///< of the first run
  int32_t frames;            ///< -1: as many as the scene says
  int32_t snapshot_every;    ///< frames; 0: as yawara run does
  const char* on_fault;
  int32_t latin, seed;
  option_list set, sweep;  ///< as on the command line
} wedge_def;

typedef struct wedge {
  char dir[WEDGE_MAX_PATH];  ///< absolute path
  wedge_def def;             ///< its texts belong to doc
  yw_json_doc* doc;
  int32_t num_runs;
  const yw_json* runs;
} wedge;

bool wedge_exists(const char* dir);
yw_status wedge_write(const char* dir, const wedge_def* def, const wedge_sweeps* sweeps,
                      yw_error* error);
/// Close it also after an error.
yw_status wedge_open(const char* dir, wedge* out, yw_error* error);
void wedge_close(wedge* w);
/// NULL if the wedge was made for `def`; otherwise what differs. Files are not compared.
const char* wedge_difference(const wedge* w, const wedge_def* def);
/// Values of a run: first those common to all, then the swept ones. Returns how many.
int32_t wedge_overrides(const wedge* w, int32_t run, const char* out[OPTION_LIST_MAX]);
void wedge_run_folder(const wedge* w, int32_t run, char out[RUN_MAX_PATH]);
void wedge_messages_path(const wedge* w, int32_t run, char out[RUN_MAX_PATH]);

// Runs --------------------------------------------------------------------------------------------

typedef enum wedge_state {
  WEDGE_WAITING,
  WEDGE_RUNNING,
  WEDGE_DONE,
  WEDGE_FAILED,
  WEDGE_NUM_STATES
} wedge_state;

typedef struct wedge_status {
  wedge_state state;
  bool begun;  ///< there is a run.json of this run; otherwise the next four are 0
  int32_t frames_done, frames;
  double seconds;
  uint64_t state_hash;
  char reason[400];  ///< why it failed
} wedge_status;
wedge_status wedge_look(const wedge* w, int32_t run);
const char* wedge_state_name(wedge_state state);

typedef struct wedge_work {
  task_share share;
  int32_t jobs;  ///< processes at once; 0: as many as cores and memory allow
  bool retry;    ///< also runs that failed
  bool quiet;
} wedge_work;
/// Runs what is not done. Returns -1 to continue (runs may have failed), or the exit code.
int wedge_run(const wedge* w, const wedge_work* work);
/// Prints the command lines of the runs that are not done.
void wedge_list(const wedge* w, task_share share);
/// Prints a script for sbatch. Returns the exit code.
int wedge_print_slurm(const wedge* w, int32_t tasks);
/// Makes the processes of this wedge, on whatever machine, stop as on Ctrl-C. Returns the exit
/// code.
int wedge_stop(const wedge* w);
bool wedge_is_stopped(const wedge* w);
void wedge_take_back_stop(const wedge* w);

// Results -----------------------------------------------------------------------------------------

/// Prints the state of the runs and counts them; only the counts if quiet.
void wedge_print_status(const wedge* w, task_share share, bool quiet,
                        int32_t counts[WEDGE_NUM_STATES]);
/// Writes table.csv. columns: of log.csv, separated by commas. Returns -1 to continue, or the exit
/// code.
int wedge_write_table(const wedge* w, const char* columns);
/// Draws charts of the measures in table.csv over the swept values, in plots.
yw_status wedge_write_plots(const wedge* w, yw_error* error);
/// Draws the last frame of every run that is done, in pictures, and all of them in sheet.png.
/// Returns -1 to continue, or the exit code.
int wedge_write_sheet(const wedge* w);

#endif
