// SPDX-License-Identifier: MIT
// yawara run: simulates a scene into a run on disk. Ctrl-C stops cleanly; --resume continues.
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/run_options.h"
#include "commands/run_warnings.h"
#include "console/progress.h"
#include "playback/disk.h"
#include "playback/export.h"
#include "playback/run_folder.h"
#include "playback/run_log.h"
#include "ranks/ranks.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/tasks.h"
#include "yawara/extend/timer.h"

// Without --snapshot-every a snapshot is due after this time: seconds of work may be lost, and
// little time is spent on them.
#define SNAPSHOT_SECONDS 10.0
// --on-fault retry: the most steps that a frame is cut into, times those of the scene.
#define RETRY_STEPS 64
// Packed frames and their rows in the log are held back for so long, and up to so many bytes: a
// small write takes as long as the steps of a small frame.
#define HELD_SECONDS 0.25
#define HELD_BYTES ((size_t)1 << 16)

typedef struct run {
  run_options options;
  char dir[RUN_MAX_PATH];
  int lock;  // see disk_lock; negative: none
  yw_scene* scene;
  char* scene_text;  // of a scene made from a model; otherwise NULL
  yw_scene_info scene_info;
  const yw_ranks* ranks;  // NULL: one
  int32_t ranks_here;     // on this machine
  yw_world* world;
  shown_scene* shown;
  run_info info;
  frame_pack pack;  // closed unless the run is packed
  run_log log;
  double last_flush;         // yw_seconds
  double begun;              // yw_seconds
  bool has_info;             // run.json is there, or about to be written
  bool is_empty;             // the folder was made just now
  frame_cells* known_cells;  // of each body, see frame_def
  double seconds_before;
  double last_snapshot;   // yw_seconds
  int64_t frame_bytes;    // of the last frame, in a pack
  int64_t folder_bytes;   // of frames, with --max-disk
  void* last_good;        // snapshot of the frame before, with --on-fault retry
  size_t last_good_room;  // bytes
  size_t last_good_size;  // bytes in use
  int32_t frame;
  bool told_slow;  // that a body moves in slow motion
} run;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  static const char text[] =
      "\nstopping after this frame; press Ctrl-C again to stop immediately\n";
  interrupted = 1;
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

// Seconds that a frame has to finish after SIGTERM: whoever sends it does not press keys again.
#define GRACE 1

static void on_terminate(int number) {
  (void)number;
  interrupted = 1;
  alarm(GRACE);
}

// The frame takes too long: ends the program as an uncaught SIGTERM does.
static void on_grace_over(int number) {
  (void)number;
  static const char text[] =
      "\nstopped in the middle of a frame; --resume goes on from the last "
      "snapshot\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
  signal(SIGTERM, SIG_DFL);
  raise(SIGTERM);
}

// The first Ctrl-C lets the frame finish, the second is not caught; SIGTERM lets it finish if it
// can at once. Files stay intact in all cases.
static void watch_interrupts(void) {
  struct sigaction action = {.sa_handler = on_interrupt,
                             .sa_flags = (int)SA_RESETHAND | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  action.sa_handler = on_terminate;
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = on_grace_over;
  sigaction(SIGALRM, &action, NULL);
}

// Set-up ------------------------------------------------------------------------------------------

// out/NAME, where NAME is the scene file without folder and suffix.
static void default_folder(const char* scene_path, char* out, size_t capacity) {
  const char* name = strrchr(scene_path, '/');
  name = name ? name + 1 : scene_path;
  const char* dot = strrchr(name, '.');
  int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
  snprintf(out, capacity, "out/%.*s", length, name);
}

// Rank 0 of several, or the only one.
static bool leads(const run* r) { return !r->ranks || r->ranks->rank == 0; }

static int load_scene(run* r) {
  yw_error error = {0}, warning = {0};
  const run_options* o = &r->options;
  int code =
      scene_options_read(&o->scene, o->scene_path, &r->scene, &r->scene_text, &warning, &error);
  if (code < 0 && r->ranks && o->pack) {
    code = bad_input("--pack is for runs of one process: several write a file for each frame");
  }
  code = app_ranks_agree(r->ranks, code);
  if (code >= 0) return code;
  if (warning.message[0]) fprintf(stderr, "warning: %s\n", warning.message);
  r->scene_info = yw_scene_info_of(r->scene);
  yw_scene_set_ranks(r->scene, r->ranks);
  if (yw_scene_build(r->scene, o->scene.threads, scene_options_simd(&o->scene), &r->world, &error) <
          0 ||
      frame_check_fields(r->world, o->fields, &error) < 0) {
    return bad_input("%s", error.message);
  }
  if (!leads(r)) return -1;
  if (shown_create(r->scene, r->world, &r->shown, &error) < 0) {
    return bad_input("%s", error.message);
  }
  r->known_cells = YW_NEW_ARRAY(NULL, frame_cells, yw_world_num_bodies(r->world));
  if (!r->known_cells) return bad_input("not enough memory");
  return -1;
}

static int fill_info(run* r) {
  const run_options* o = &r->options;
  yw_error error = {0};
  run_info* info = &r->info;
  *info = (run_info){.fps = r->scene_info.fps, .substeps = r->scene_info.substeps};
  info->frames = o->frames >= 0 ? o->frames : r->scene_info.frames;
  snprintf(info->made_by, sizeof info->made_by, "%s", yw_version());
  char* real = realpath(o->scene_path, NULL);
  if (!real || strlen(real) >= sizeof info->scene) {
    free(real);
    return bad_input("%s: the path of the scene is too long", o->scene_path);
  }
  snprintf(info->scene, sizeof info->scene, "%s", real);
  free(real);
  for (int32_t i = 0; i < o->scene.set.count; ++i) {
    if (strlen(o->scene.set.items[i]) >= sizeof info->overrides[i]) {
      return bad_input("--set %s is longer than %zu characters", o->scene.set.items[i],
                       sizeof info->overrides[i] - 1);
    }
    snprintf(info->overrides[i], sizeof info->overrides[i], "%s", o->scene.set.items[i]);
  }
  info->num_overrides = o->scene.set.count;
  if (o->fields && strlen(o->fields) >= sizeof info->fields) {
    return bad_input("--fields is longer than %zu characters", sizeof info->fields - 1);
  }
  snprintf(info->fields, sizeof info->fields, "%s", o->fields ? o->fields : "");
  if (run_info_take_files(r->scene, info, &error) < 0) return bad_input("%s", error.message);
  return -1;
}

// Writes what was held back. Without run.json, which comes last, a run is none.
static yw_status flush(run* r, yw_error* error) {
  yw_status status = r->info.packed ? frame_pack_flush(&r->pack, error) : YW_OK;
  if (status >= 0) status = run_log_flush(&r->log, error);
  r->last_flush = yw_seconds();
  bool is_due = !r->info.packed || r->last_flush - r->begun >= HELD_SECONDS;
  if (status < 0 || r->has_info || !is_due) return status;
  r->has_info = true;
  return run_info_write(r->dir, &r->info, error);
}

// A frame and its row of the log. report: of its steps; NULL: there were none.
static yw_status add_frame(run* r, int32_t number, const yw_step_report* report, yw_error* error) {
  const frame_def def = {.world = r->world,
                         .scene = r->scene,
                         .number = number,
                         .fields = r->info.fields[0] ? r->info.fields : NULL,
                         .known_cells = r->known_cells,
                         .leave_shared = r->ranks != NULL};
  frame_data frame;
  yw_status status = frame_take(&def, &frame, error);
  if (status < 0) return status;
  frame_pack* pack = r->info.packed ? &r->pack : NULL;
  size_t before = r->pack.file.used;
  status = r->ranks ? run_folder_write_shared_frame(r->dir, &r->info, &frame, r->world, error)
                    : run_folder_write_frame(r->dir, &r->info, pack, &frame, error);
  frame_free(&frame);
  if (status < 0) return status;
  if (pack) r->frame_bytes = (int64_t)(pack->file.used - before);
  run_log_append(&r->log, number, r->world, report);
  bool hold = pack && pack->file.used < HELD_BYTES && yw_seconds() - r->last_flush < HELD_SECONDS;
  return hold ? YW_OK : flush(r, error);
}

static int start_run(run* r) {
  yw_error error = {0};
  run_warn_of_sizes(r->world);
  run_warn_of_parts(r->world);
  int code = run_check_overlaps(r->world, r->options.scene_path, r->options.strict);
  if (code >= 0) return code;
  if (!r->is_empty) run_folder_clear(r->dir);
  r->info.packed = r->options.pack;
  r->begun = r->last_flush = yw_seconds();
  if (run_folder_write_shown(r->dir, r->scene, r->scene_text, r->shown, &r->info, &error) < 0 ||
      (r->info.packed && run_folder_open_pack(r->dir, 0, &r->pack, &error) < 0) ||
      run_log_start(r->dir, r->world, &r->log, &error) < 0 || add_frame(r, 0, NULL, &error) < 0) {
    return bad_input("%s", error.message);
  }
  if (!r->options.quiet) run_say_cost(r->world, r->info.frames);
  return -1;
}

// The cells of the world are those of the frame that it stopped at; later frames refer to them.
static yw_status find_known_cells(run* r, yw_error* error) {
  run_folder folder;
  frame_data frame;
  yw_status status = run_folder_open(r->dir, &folder, error);
  if (status < 0) return status;
  status = run_folder_read_frame(&folder, r->frame, &frame, error);
  for (int32_t i = 0; status >= 0 && i < frame.num_bodies; ++i) {
    r->known_cells[i].frame = frame.bodies[i].cells_frame;
    r->known_cells[i].version = yw_body_cells_version(r->world, yw_world_body(r->world, i));
  }
  if (status >= 0) frame_free(&frame);
  run_folder_close(&folder);
  return status;
}

static int check_same_run(run* r, const run_info* old) {
  yw_error error = {0};
  if (run_info_compare(r->dir, old, &r->info, &error) < 0 ||
      run_folder_shown_hash(r->shown, &r->info.shown_hash, &error) < 0) {
    return bad_input("%s", error.message);
  }
  if (r->info.shown_hash != old->shown_hash) {
    return bad_input(
        "%s: was made by yawara %s, which makes other bodies of this scene; start again without "
        "--resume",
        r->dir, old->made_by);
  }
  if (strcmp(old->made_by, r->info.made_by) != 0) {
    fprintf(stderr, "warning: %s was begun by yawara %s and goes on with %s: bits may differ\n",
            r->dir, old->made_by, r->info.made_by);
  }
  return -1;
}

// Continues where the run in the folder stopped, if it is one of this scene.
static int resume_run(run* r, const run_info* old) {
  yw_error error = {0}, damage = {0};
  bool found = false;
  int code = check_same_run(r, old);
  if (code >= 0) return code;
  if (run_folder_read_snapshot(r->dir, r->world, &r->frame, &found, &damage, &error) < 0) {
    return bad_input("%s", error.message);
  }
  if (!found) {
    fprintf(stderr, "%s: stopped before its first snapshot; starting from the beginning\n", r->dir);
    return start_run(r);
  }
  if (damage.message[0]) {
    fprintf(stderr, "warning: %s; going on from the snapshot before it, of frame %d\n",
            damage.message, r->frame);
  }
  r->seconds_before = old->seconds;
  for (int32_t i = 0; i < old->num_faults && old->faults[i].frame <= r->frame; ++i) {
    r->info.faults[r->info.num_faults++] = old->faults[i];
  }
  if (!r->options.fields) memcpy(r->info.fields, old->fields, sizeof old->fields);
  r->info.frames_done = r->frame;
  r->info.seconds = old->seconds;
  r->info.packed = old->packed;
  r->has_info = true;
  r->info.state_hash = yw_world_hash(r->world);
  // run.json first: it must never speak of frames that are gone.
  if (find_known_cells(r, &error) < 0 || run_info_write(r->dir, &r->info, &error) < 0 ||
      (r->info.packed && run_folder_open_pack(r->dir, r->frame + 1, &r->pack, &error) < 0) ||
      run_log_resume(r->dir, r->frame, r->world, &r->log, &error) < 0) {
    return bad_input("%s", error.message);
  }
  run_folder_remove_later(r->dir, r->frame + 1);
  return -1;
}

static int open_run(run* r) {
  yw_error error = {0};
  r->is_empty = access(r->dir, F_OK) != 0;
  if (run_folder_make(r->dir, r->options.pack, &error) < 0) return bad_input("%s", error.message);
  r->lock = disk_lock(r->dir, &error);
  if (r->lock < 0) return bad_input("%s", error.message);
  if (!run_folder_exists(r->dir)) {
    if (r->options.resume) fprintf(stderr, "%s: no run to resume; starting one\n", r->dir);
    return start_run(r);
  }
  run_info old;
  int code;
  if (run_info_read(r->dir, &old, &error) < 0) {
    code = bad_input("%s", error.message);
  } else if (r->options.resume) {
    code = resume_run(r, &old);
  } else if (strcmp(old.scene, r->info.scene) != 0) {
    code = bad_input("%s holds a run of another scene (%s); choose another folder with -o", r->dir,
                     old.scene);
  } else {
    code = start_run(r);
  }
  run_info_free(&old);
  return code;
}

// Frames ------------------------------------------------------------------------------------------

static int save_progress(run* r, double seconds, bool with_snapshot) {
  yw_error error = {0};
  r->info.frames_done = r->frame;
  r->info.seconds = r->seconds_before + seconds;
  r->info.state_hash = yw_world_hash(r->world);
  r->has_info = true;
  if (flush(r, &error) < 0 || run_info_write(r->dir, &r->info, &error) < 0 ||
      (with_snapshot &&
       run_folder_write_snapshot(r->dir, r->frame, r->world, r->ranks != NULL, &error) < 0)) {
    return bad_input("%s", error.message);
  }
  r->last_snapshot = yw_seconds();
  return -1;
}

static bool snapshot_is_due(const run* r) {
  int32_t every = r->options.snapshot_every;
  if (every > 0) return r->frame % every == 0;
  return yw_seconds() - r->last_snapshot > SNAPSHOT_SECONDS;
}

static void print_fault(const run* r, const run_fault* fault) {
  char more[48] = "";
  if (fault->bodies > 1) snprintf(more, sizeof more, " and %d more", fault->bodies - 1);
  fprintf(stderr, "%s: frame %d (t = %.3f s): body \"%s\"%s diverged", r->dir, fault->frame,
          fault->time, fault->body, more);
  if (fault->substeps > 0) {
    fprintf(stderr, "; the frame was made in %d steps instead of %d.\n", fault->substeps,
            r->scene_info.substeps);
  } else {
    fprintf(stderr, " and was frozen where it last was finite.\n");
  }
}

// Says which body diverged and keeps it in run.json. substeps: with which it no longer did; 0: it
// still does.
static void note_fault(run* r, const yw_step_report* report, double time, int32_t substeps) {
  const char* name = yw_body_name(r->world, report->first_diverged);
  run_fault fault = {
      .frame = r->frame + 1, .time = time, .bodies = report->diverged_bodies, .substeps = substeps};
  snprintf(fault.body, sizeof fault.body, "%.63s", name ? name : "?");
  if (r->info.num_faults < RUN_MAX_FAULTS) r->info.faults[r->info.num_faults++] = fault;
  print_fault(r, &fault);
}

// Returns -1 to continue.
static int handle_fault(run* r, const yw_step_report* report) {
  note_fault(r, report, yw_world_time(r->world), 0);
  if (r->options.on_fault == FAULT_CONTINUE) return -1;
  if (r->options.on_fault == FAULT_RETRY) {
    fprintf(stderr, "%d times as many steps did not help. Try lower speeds or softer material.\n",
            RETRY_STEPS);
  } else {
    fprintf(stderr,
            "Try more substeps (--set substeps=%d), lower speeds or softer material, --on-fault "
            "retry or --on-fault continue.\n",
            2 * r->scene_info.substeps);
  }
  return EXIT_FAILED;
}

static void describe_speed(const run* r, double seconds, int32_t made, char* out, size_t capacity) {
  double simulated = made / (double)r->scene_info.fps;
  double steps = (double)made * r->scene_info.substeps / (seconds > 1e-9 ? seconds : 1e-9);
  snprintf(out, capacity, "%.0f steps/s  %.2f s simulated in %.1f s (%.1fx real time)", steps,
           simulated, seconds, simulated / (seconds > 1e-9 ? seconds : 1e-9));
}

static yw_status keep_last_good(run* r) {
  size_t size = yw_world_snapshot_size(r->world);
  if (size > r->last_good_room) {
    yw_mem_free(NULL, r->last_good);
    r->last_good = yw_mem_alloc(NULL, size, 1);
    r->last_good_room = r->last_good ? size : 0;
    if (!r->last_good) return YW_ERR_MEMORY;
  }
  return yw_world_save(r->world, r->last_good, size, &r->last_good_size);
}

static yw_status step(run* r, int32_t times, yw_step_report* report) {
  return yw_world_step(r->world, 1.0f / r->scene_info.fps, times * r->scene_info.substeps, report);
}

// Goes back to the frame before and takes ever smaller steps, until no body diverges.
static yw_status retry(run* r, yw_step_report* report) {
  const yw_step_report first = *report;
  double time = yw_world_time(r->world);
  yw_status status = YW_OK;
  for (int32_t times = 2; times <= RETRY_STEPS && report->diverged_bodies > 0; times *= 2) {
    status = yw_world_load(r->world, r->last_good, r->last_good_size, NULL);
    if (status >= 0) status = step(r, times, report);
    if (status < 0) return status;
    if (report->diverged_bodies == 0) note_fault(r, &first, time, times * r->scene_info.substeps);
  }
  return status;
}

// One frame: step, write. Returns -1 to continue.
static int make_frame(run* r) {
  yw_error error = {0};
  yw_step_report report;
  bool retries = r->options.on_fault == FAULT_RETRY;
  yw_status status = retries ? keep_last_good(r) : YW_OK;
  if (status >= 0) status = step(r, 1, &report);
  if (status >= 0 && retries && report.diverged_bodies > 0) status = retry(r, &report);
  if (status < 0) {
    fprintf(stderr, "%s: frame %d: the step failed (status %d: %s)\n", r->dir, r->frame + 1, status,
            status == YW_ERR_MEMORY   ? "not enough memory"
            : status == YW_ERR_DEVICE ? "the GPU stopped answering; go on from the last snapshot "
                                        "with --resume, here or without --device"
                                      : "invalid settings");
    return EXIT_FAILED;
  }
  int code = report.diverged_bodies > 0 ? handle_fault(r, &report) : -1;
  if (code >= 0) return code;
  if (add_frame(r, r->frame + 1, &report, &error) < 0) return bad_input("%s", error.message);
  ++r->frame;
  r->told_slow = r->told_slow || run_warn_of_slow_motion(r->world, r->dir, r->frame);
  return -1;
}

// Stops before a limit is passed. Returns -1 to continue.
static int check_limits(run* r) {
  const run_options* o = &r->options;
  struct rusage usage;
  if (o->max_memory && getrusage(RUSAGE_SELF, &usage) == 0 &&
      1024 * (int64_t)usage.ru_maxrss > o->max_memory_bytes) {
    fprintf(stderr,
            "%s: stopped after frame %d: it takes %.0f MB of memory, and --max-memory is %s\n",
            r->dir, r->frame, 1024e-6 * (double)usage.ru_maxrss, o->max_memory);
    return EXIT_FAILED;
  }
  if (!o->max_disk) return -1;
  // Room for a snapshot more than there is, and for the next frame.
  bool packed = r->info.packed;
  int64_t frame = packed ? r->frame_bytes : run_folder_frame_bytes(r->dir, r->frame);
  // What is written of a pack counts as a file of the folder itself.
  r->folder_bytes = packed ? (int64_t)r->pack.file.used : r->folder_bytes + frame;
  int64_t rest = disk_bytes(r->dir) + (int64_t)yw_world_snapshot_size(r->world);
  if (r->folder_bytes + rest + frame <= o->max_disk_bytes) return -1;
  fprintf(stderr, "%s: stopped after frame %d: it has %.3g MB on disk, and --max-disk is %s\n",
          r->dir, r->frame, 1e-6 * (double)(r->folder_bytes + rest), o->max_disk);
  return EXIT_FAILED;
}

static int make_frames(run* r) {
  watch_interrupts();
  int32_t first = r->frame;
  progress p = progress_start("frame", first, r->info.frames, r->options.quiet);
  r->last_snapshot = yw_seconds();
  r->folder_bytes = run_folder_frames_bytes(r->dir);
  int code = -1, limit = -1;
  while (code < 0 && limit < 0 && r->frame < r->info.frames && !interrupted) {
    code = make_frame(r);
    if (code < 0) limit = check_limits(r);
    if (code < 0 && snapshot_is_due(r)) code = save_progress(r, progress_seconds(&p), true);
    if (r->options.quiet) continue;
    char detail[128];
    describe_speed(r, progress_seconds(&p), r->frame - first, detail, sizeof detail);
    progress_show(&p, r->frame, detail);
  }
  alarm(0);
  progress_end(&p);
  // After a fault the last snapshot is kept: it is the last one known to be good.
  int saved = save_progress(r, progress_seconds(&p), code < 0);
  if (code < 0) code = saved;
  bool done = r->frame >= r->info.frames;
  if (code < 0 && !done && (interrupted || limit >= 0)) {
    fprintf(stderr, "stopped after frame %d; go on with: yawara run %s -o %s --resume\n", r->frame,
            r->options.scene_path, r->dir);
    return interrupted ? EXIT_INTERRUPTED : limit;
  }
  return code;
}

static int finish(run* r) {
  yw_error error = {0};
  export_def def = {.run_dir = r->dir,
                    .formats = r->options.formats,
                    .out_dir = r->dir,
                    .first = -1,
                    .skin = r->options.skin,
                    .quiet = r->options.quiet};
  if (r->options.formats && export_run(&def, &error) < 0) {
    return bad_input("%s", error.message);
  }
  if (!r->options.quiet) {
    printf("%s: %d frames, state %016llx\nlook at it: yawara render %s -o %s.mp4\n", r->dir,
           r->frame, (unsigned long long)r->info.state_hash, r->dir, r->dir);
  }
  bool frozen = false;
  for (int32_t i = 0; i < r->info.num_faults; ++i) frozen |= r->info.faults[i].substeps == 0;
  if (!frozen) return EXIT_DONE;
  fprintf(stderr, "%s: complete, but not all of it moved:\n", r->dir);
  for (int32_t i = 0; i < r->info.num_faults; ++i) print_fault(r, &r->info.faults[i]);
  return EXIT_FAULTS;
}

// Ranks that share a machine share its cores.
static int join_ranks(run* r) {
  int code = app_ranks_join(&r->ranks, &r->ranks_here);
  if (code >= 0 || !r->ranks) return code;
  app_ranks_silence(r->ranks);
  int32_t* threads = &r->options.scene.threads;
  if (*threads == 0) *threads = yw_cpu_count() / r->ranks_here;
  if (*threads < 1) *threads = 1;
  return -1;
}

static int lead_run(run* r) {
  int code = fill_info(r);
  if (code < 0) code = open_run(r);
  if (code < 0) code = make_frames(r);
  run_log_close(&r->log);
  frame_pack_close(&r->pack);
  return code < 0 ? finish(r) : code;
}

static void free_run(run* r) {
  disk_unlock(r->lock);
  run_info_free(&r->info);
  yw_mem_free(NULL, r->last_good);
  yw_mem_free(NULL, r->known_cells);
  yw_mem_free(NULL, r->scene_text);
  shown_destroy(r->shown);
  yw_world_destroy(r->world);
  yw_scene_destroy(r->scene);
}

int cmd_run(int argc, char** argv) {
  run r = {.lock = -1};
  int code = run_options_parse(argc, argv, &r.options);
  if (code >= 0) return code;
  if (r.options.output && strlen(r.options.output) >= sizeof r.dir) {
    return bad_input("--output is longer than %zu characters", sizeof r.dir - 1);
  }
  if (r.options.output) {
    snprintf(r.dir, sizeof r.dir, "%s", r.options.output);
  } else {
    default_folder(r.options.scene_path, r.dir, sizeof r.dir);
  }
  code = join_ranks(&r);
  if (code >= 0) return code;
  code = load_scene(&r);
  bool built = code < 0;
  if (built && leads(&r)) {
    code = lead_run(&r);
  } else if (built) {
    watch_interrupts();
    code = yw_world_follow(r.world) < 0 ? EXIT_FAILED : EXIT_DONE;
  }
  free_run(&r);
  if (built) app_ranks_report(r.ranks, r.options.quiet);
  return app_ranks_leave(r.ranks, code);
}
