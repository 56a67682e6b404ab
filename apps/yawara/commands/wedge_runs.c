// SPDX-License-Identifier: MIT
// The runs of a wedge as processes: which are done, and several at once for the others.
// For CPU_COUNT, flock and prctl, which are not part of POSIX.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/wedge.h"
#include "console/batch.h"
#include "console/progress.h"
#include "playback/disk.h"
#include "playback/run_folder.h"
#include "yawara/extend/file.h"
#include "yawara/extend/timer.h"

#define MAX_JOBS 256
#define MAX_ARGUMENTS (2 * OPTION_LIST_MAX + 24)
// Beginning of the last line of the messages of a run that failed.
#define FAILED "failed: "
#define MAX_MESSAGES ((uint64_t)16 << 20)
// Seconds that another process may hold a run: to look at its state, and to end.
#define LOOK_SECONDS 0.1
#define END_SECONDS 10.0
// Runs that end within so many seconds leave it to the wedge to wait for the disk.
#define SHORT_RUN 10.0

// Command lines -----------------------------------------------------------------------------------

typedef struct arguments {
  int32_t count;
  const char* items[MAX_ARGUMENTS];
  const char* set[OPTION_LIST_MAX];
  char folder[RUN_MAX_PATH], frames[16], snapshot_every[16];
} arguments;

static void add(arguments* a, const char* name, const char* value) {
  if (name) a->items[a->count++] = name;
  if (value) a->items[a->count++] = value;
}

static void make_arguments(const wedge* w, int32_t run, const char* program, arguments* out) {
  const wedge_def* def = &w->def;
  out->count = 0;
  wedge_run_folder(w, run, out->folder);
  snprintf(out->frames, sizeof out->frames, "%d", def->frames);
  snprintf(out->snapshot_every, sizeof out->snapshot_every, "%d", def->snapshot_every);
  add(out, program, "run");
  add(out, NULL, def->scene);
  int32_t count = wedge_overrides(w, run, out->set);
  for (int32_t i = 0; i < count; ++i) add(out, "--set", out->set[i]);
  if (def->frames >= 0) add(out, "--frames", out->frames);
  if (def->snapshot_every > 0) add(out, "--snapshot-every", out->snapshot_every);
  if (strcmp(def->on_fault, "stop") != 0) add(out, "--on-fault", def->on_fault);
  add(out, "-o", out->folder);
  add(out, "--pack", NULL);
  add(out, "--quiet", NULL);
  add(out, "--threads", "1");
}

void wedge_list(const wedge* w, task_share share) {
  char program[RUN_MAX_PATH];
  find_program(program, sizeof program);
  for (int32_t run = share.first; run < w->num_runs; run += share.every) {
    if (wedge_look(w, run).state == WEDGE_DONE) continue;
    arguments a;
    make_arguments(w, run, program, &a);
    add(&a, "--resume", NULL);
    for (int32_t i = 0; i < a.count; ++i) {
      if (i > 0) putchar(' ');
      print_quoted(a.items[i]);
    }
    putchar('\n');
  }
}

// States ------------------------------------------------------------------------------------------

const char* wedge_state_name(wedge_state state) {
  static const char* const names[WEDGE_NUM_STATES] = {"waiting", "running", "done", "failed"};
  return names[state];
}

// True if the folder holds this run and not one with other values or another length.
static bool is_run(const wedge* w, int32_t run, const run_info* info) {
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(w, run, set);
  bool same = info->num_overrides == count && strcmp(info->scene, w->def.scene) == 0 &&
              (w->def.frames < 0 || info->frames == w->def.frames);
  for (int32_t i = 0; same && i < count; ++i) same = strcmp(info->overrides[i], set[i]) == 0;
  return same;
}

static void read_progress(const wedge* w, int32_t run, wedge_status* out) {
  char folder[RUN_MAX_PATH];
  run_info info = {0};
  wedge_run_folder(w, run, folder);
  if (run_folder_exists(folder) && run_info_read(folder, &info, NULL) >= 0 &&
      is_run(w, run, &info)) {
    out->begun = true;
    out->frames_done = info.frames_done;
    out->frames = info.frames;
    out->seconds = info.seconds;
    out->state_hash = info.state_hash;
    if (info.frames_done >= info.frames) out->state = WEDGE_DONE;
  }
  run_info_free(&info);
}

// The last line of the messages, if it says that the run failed.
static void read_failure(const char* path, wedge_status* out) {
  yw_file_data data = {0};
  if (yw_file_read_all(path, MAX_MESSAGES, NULL, &data, NULL) < 0) return;
  char* text = data.bytes;
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') text[--length] = '\0';
  const char* line = strrchr(text, '\n');
  line = line ? line + 1 : text;
  if (strncmp(line, FAILED, strlen(FAILED)) == 0) {
    out->state = WEDGE_FAILED;
    snprintf(out->reason, sizeof out->reason, "%s", line + strlen(FAILED));
  }
  yw_file_data_free(&data);
}

wedge_status wedge_look(const wedge* w, int32_t run) {
  wedge_status status = {.state = WEDGE_WAITING};
  char path[RUN_MAX_PATH];
  wedge_messages_path(w, run, path);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool busy = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (file >= 0) close(file);
  read_progress(w, run, &status);
  if (busy && status.state != WEDGE_DONE) status.state = WEDGE_RUNNING;
  if (status.state == WEDGE_WAITING) read_failure(path, &status);
  return status;
}

// Processes ---------------------------------------------------------------------------------------

// What the processes of a wedge share.
typedef struct common {
  atomic_int next;  ///< run that the next free process looks at
  atomic_int started, done;
  atomic_bool busy;                       ///< another program was at a run
  atomic_int unwritable, unwritable_run;  ///< errno of messages that could not be opened; 0: none
  atomic_int at_work[MAX_JOBS];           ///< run that each process makes; -1: none
} common;

typedef struct pool {
  const wedge* w;
  common* common;
  task_share share;
  bool retry;
  double patience, deadline;  ///< s, for other programs to leave a run; of all together, 0: none
  sigset_t watched;           ///< signals, held back until a child is known to their handler
  int32_t limit, running, done_before;
  progress line;
} pool;

// Of the pool, for the signal handler; 0: free.
static volatile pid_t children[MAX_JOBS];
static volatile sig_atomic_t interrupted;

// Runs let their frame finish when they get SIGTERM.
static void on_interrupt(int number) {
  (void)number;
  int before = errno;
  interrupted = 1;
  for (int i = 0; i < MAX_JOBS; ++i) {
    if (children[i] > 0) kill(children[i], SIGTERM);
  }
  errno = before;
}

static void watch_interrupts(sigset_t* watched) {
  struct sigaction action = {.sa_handler = on_interrupt};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigemptyset(watched);
  sigaddset(watched, SIGINT);
  sigaddset(watched, SIGTERM);
  // Ends of runs wait until they are asked for.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ends, NULL);
}

// The messages of a run, locked so that no other process runs it; -1 if another one still does at
// the deadline, -2 if the file cannot be opened. The lock lasts as long as this process has the
// file open.
static int claim(const char* path, double deadline) {
  int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return -2;
  const struct timespec pause = {.tv_nsec = 5000000};
  while (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (interrupted || yw_seconds() > deadline) {
      close(file);
      return -1;
    }
    nanosleep(&pause, NULL);
  }
  return file;
}

// Short runs do not wait for the disk: one whose run.json has a name but no bytes lost them with
// the power, and begins again.
static void forget_lost(const char* folder) {
  char path[RUN_MAX_PATH + 16];
  struct stat info;
  snprintf(path, sizeof path, "%s/run.json", folder);
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) {
    run_folder_clear(folder);
  }
}

// Lines that do not tell why a run failed: warnings, and that it began from the beginning.
static bool is_noise(const char* line) {
  return strncmp(line, "warning: ", 9) == 0 || strstr(line, "; starting from");
}

// The first line of the messages that tells why, without the name of the program.
static void find_reason(const char* path, char* out, size_t capacity) {
  yw_file_data data = {0};
  if (yw_file_read_all(path, MAX_MESSAGES, NULL, &data, NULL) < 0) return;
  char* rest = NULL;
  char* line = strtok_r(data.bytes, "\n", &rest);
  while (line && is_noise(line)) line = strtok_r(NULL, "\n", &rest);
  if (line) {
    snprintf(out, capacity, "%s", strncmp(line, "yawara: ", 8) == 0 ? line + 8 : line);
  }
  yw_file_data_free(&data);
}

// status: of waitpid.
static void note_failure(const pool* p, int32_t run, int messages, int status) {
  char path[RUN_MAX_PATH], reason[256] = "it did not say why";
  wedge_messages_path(p->w, run, path);
  find_reason(path, reason, sizeof reason);
  if (WIFSIGNALED(status)) {
    const char* advice = WTERMSIG(status) == SIGKILL ? " (memory may be short: fewer --jobs)" : "";
    dprintf(messages, "\n" FAILED "killed by signal %d%s\n", WTERMSIG(status), advice);
  } else {
    dprintf(messages, "\n" FAILED "exit code %d: %s\n", WEXITSTATUS(status), reason);
  }
}

// True if the run is done.
static bool count_if_done(const pool* p, int32_t run, int messages) {
  wedge_status status = {0};
  char path[RUN_MAX_PATH];
  read_progress(p->w, run, &status);
  if (status.state != WEDGE_DONE) return false;
  atomic_fetch_add(&p->common->done, 1);
  // Runs that said nothing leave no file.
  wedge_messages_path(p->w, run, path);
  if (lseek(messages, 0, SEEK_END) == 0) unlink(path);
  return true;
}

// Claims a run unless it is done, or another process is at it. Returns its messages, or -1.
static int take_run(const pool* p, int32_t run) {
  char path[RUN_MAX_PATH];
  wedge_status status = {0};
  read_progress(p->w, run, &status);
  if (status.state == WEDGE_DONE) return -1;
  wedge_messages_path(p->w, run, path);
  int messages = claim(path, (p->deadline > 0.0 ? p->deadline : yw_seconds()) + p->patience);
  if (messages == -1) atomic_store(&p->common->busy, true);
  if (messages == -2) {
    atomic_store(&p->common->unwritable_run, run);
    atomic_store(&p->common->unwritable, errno);
  }
  if (messages < 0) return -1;
  // Another process may have made it before the claim.
  read_progress(p->w, run, &status);
  if (status.state == WEDGE_WAITING && !p->retry) read_failure(path, &status);
  if (status.state == WEDGE_WAITING && ftruncate(messages, 0) == 0) return messages;
  close(messages);
  return -1;
}

// Makes a run in this process. Returns its exit code.
static int make_run(const pool* p, int32_t run, int messages) {
  arguments a;
  make_arguments(p->w, run, "yawara", &a);
  // With nothing to resume, it would only be said.
  forget_lost(a.folder);
  if (run_folder_exists(a.folder)) add(&a, "--resume", NULL);
  atomic_fetch_add(&p->common->started, 1);
  dup2(messages, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  disk_spare_syncs(SHORT_RUN);
  // Commands do not change their arguments; these start with "yawara run".
  int code = finish_output(cmd_run(a.count - 2, (char**)(uintptr_t)(a.items + 2)));
  fflush(stderr);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  return code;
}

// The next run that nobody has looked at; -1: none.
static int32_t next_run(const pool* p) {
  if (wedge_is_stopped(p->w) || atomic_load(&p->common->unwritable) != 0) return -1;
  int32_t run = atomic_fetch_add(&p->common->next, p->share.every);
  return run < p->w->num_runs ? run : -1;
}

// A process of the pool. It makes one run after the other while they are short and end well:
// loading the program, and even a copy of the process, takes a good part of what a small run does.
static _Noreturn void work(const pool* p, int slot, pid_t parent) {
  // A killed wedge takes its runs along; they resume with it.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &p->watched, NULL);
  int code = EXIT_DONE;
  double start = yw_seconds();
  while (code == EXIT_DONE && getppid() == parent && yw_seconds() - start < SHORT_RUN) {
    int32_t run = next_run(p);
    if (run < 0) break;
    int messages = take_run(p, run);
    if (messages < 0) continue;
    start = yw_seconds();
    atomic_store(&p->common->at_work[slot], run);
    code = make_run(p, run, messages);
    // Whether somebody interrupted it or all of them is known to the parent.
    if (code == EXIT_INTERRUPTED) break;
    if (!count_if_done(p, run, messages)) note_failure(p, run, messages, code << 8);
    atomic_store(&p->common->at_work[slot], -1);
    close(messages);
  }
  _exit(code);
}

// Returns -1 to continue, or the exit code.
static int start_process(pool* p) {
  // Otherwise the new process would print it again.
  fflush(stdout);
  int slot = 0;
  while (children[slot] > 0) ++slot;
  atomic_store(&p->common->at_work[slot], -1);
  sigprocmask(SIG_BLOCK, &p->watched, NULL);
  pid_t parent = getpid(), child = fork();
  if (child == 0) work(p, slot, parent);
  if (child > 0) {
    children[slot] = child;
    ++p->running;
  }
  sigprocmask(SIG_UNBLOCK, &p->watched, NULL);
  // A signal from before the child was known has not reached it.
  if (child > 0 && interrupted) kill(child, SIGTERM);
  return child > 0 ? -1 : bad_input("no process can be started: %s", strerror(errno));
}

// A process that ended in the middle of a run left it as it was.
static void end_process(pool* p, int slot, int status) {
  children[slot] = 0;
  --p->running;
  int32_t run = atomic_load(&p->common->at_work[slot]);
  if (run < 0) return;
  char path[RUN_MAX_PATH];
  wedge_messages_path(p->w, run, path);
  int messages = claim(path, yw_seconds());
  if (messages < 0) return;
  if (!count_if_done(p, run, messages) && !interrupted) note_failure(p, run, messages, status);
  close(messages);
}

// Waits for a process to end. Looks now and then how far they are, and whether the wedge was told
// to stop.
static void wait_for_one(pool* p) {
  const struct timespec now_and_then = {.tv_nsec = 250000000};
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(-1, &status, WNOHANG)) == 0) {
    if (!interrupted && wedge_is_stopped(p->w)) on_interrupt(SIGTERM);
    progress_show(&p->line, p->done_before + atomic_load(&p->common->done), NULL);
    sigtimedwait(&ends, NULL, &now_and_then);
  }
  for (int slot = 0; ended > 0 && slot < MAX_JOBS; ++slot) {
    if (children[slot] == ended) end_process(p, slot, status);
  }
  progress_show(&p->line, p->done_before + atomic_load(&p->common->done), NULL);
}

static bool has_more(const pool* p) {
  return atomic_load(&p->common->next) < p->w->num_runs && !interrupted &&
         !wedge_is_stopped(p->w) && atomic_load(&p->common->unwritable) == 0;
}

// patience: how long to wait for other processes to leave a run, in s; of all runs together if
// `overall`. Returns -1 to continue, or the exit code.
static int visit_all(pool* p, double patience, bool overall) {
  int code = -1;
  p->patience = patience;
  p->deadline = overall ? yw_seconds() : 0.0;
  atomic_store(&p->common->next, p->share.first);
  do {
    while (code < 0 && p->running < p->limit && has_more(p)) code = start_process(p);
    if (p->running > 0) wait_for_one(p);
  } while (p->running > 0 || (code < 0 && has_more(p)));
  int reason = atomic_load(&p->common->unwritable);
  if (code >= 0 || reason == 0) return code;
  char path[RUN_MAX_PATH];
  wedge_messages_path(p->w, atomic_load(&p->common->unwritable_run), path);
  return bad_input("%s: cannot be written: %s", path, strerror(reason));
}

// Resources ---------------------------------------------------------------------------------------

// Bytes that can be used without swapping; 0: not known.
static double available_memory(void) {
  FILE* file = fopen("/proc/meminfo", "r");
  char line[128];
  double kilobytes = 0.0;
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "MemAvailable:", 13) == 0) kilobytes = strtod(line + 13, NULL);
  }
  if (file) fclose(file);
  return 1024.0 * kilobytes;
}

// Cores that this process may use: batch systems give it some of the machine's.
static int32_t count_cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (int32_t)count : 1;
}

static int32_t job_limit(const wedge* w, int32_t asked) {
  double limit = asked > 0 ? asked : count_cores();
  double memory = available_memory();
  if (asked == 0 && memory > 0.0 && w->def.memory_bytes > 0.0 &&
      limit > memory / w->def.memory_bytes) {
    limit = memory / w->def.memory_bytes;
  }
  return limit > MAX_JOBS ? MAX_JOBS : limit < 1 ? 1 : (int32_t)limit;
}

static int32_t count_done(const wedge* w, task_share share, int32_t* total) {
  int32_t done = 0;
  *total = 0;
  for (int32_t run = share.first; run < w->num_runs; run += share.every) {
    wedge_status status = {0};
    read_progress(w, run, &status);
    done += status.state == WEDGE_DONE;
    ++*total;
  }
  return done;
}

static int run_all(pool* p) {
  yw_error error = {0};
  int code = visit_all(p, LOOK_SECONDS, false);
  // Runs of a wedge that was killed just before need a moment to end. What failed now stays so.
  p->retry = false;
  if (code < 0 && atomic_load(&p->common->busy) && !interrupted && !wedge_is_stopped(p->w)) {
    code = visit_all(p, END_SECONDS, true);
  }
  progress_end(&p->line);
  bool any = atomic_load(&p->common->started) > 0;
  if (any && disk_sync(p->w->dir, &error) < 0) return bad_input("%s", error.message);
  return code;
}

int wedge_run(const wedge* w, const wedge_work* work) {
  static pool p;
  p = (pool){.w = w, .share = work->share, .retry = work->retry, .limit = job_limit(w, work->jobs)};
  char folder[RUN_MAX_PATH];
  yw_error error = {0};
  snprintf(folder, sizeof folder, "%s/messages", w->dir);
  if (yw_make_folders(folder, &error) < 0) return bad_input("%s", error.message);
  // Zeroed.
  void* room =
      mmap(NULL, sizeof(common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return bad_input("not enough memory");
  p.common = room;
  int32_t total;
  p.done_before = count_done(w, work->share, &total);
  p.line = progress_start("run", p.done_before, total, work->quiet);
  watch_interrupts(&p.watched);
  int code = run_all(&p);
  munmap(room, sizeof(common));
  if (code >= 0 || (!interrupted && !wedge_is_stopped(w))) return code;
  fprintf(stderr, "stopped; go on with: yawara wedge %s\n", w->dir);
  return EXIT_INTERRUPTED;
}
