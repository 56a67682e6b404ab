// SPDX-License-Identifier: MIT
// For flock and prctl, which are not part of POSIX.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include "commands/render_share.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/options.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"

#define MAX_TEXT 65536

// The folder --------------------------------------------------------------------------------------

void shared_pictures_name(shared_pictures* p, const char* output) {
  const char* slash = strrchr(output, '/');
  const char* dot = strrchr(slash ? slash : output, '.');
  int length = dot ? (int)(dot - output) : (int)strlen(output);
  snprintf(p->folder, sizeof p->folder, "%.*s_pictures", length, output);
}

static void path_in(const shared_pictures* p, const char* name, char out[SHARED_PATH]) {
  snprintf(out, SHARED_PATH, "%s/%s", p->folder, name);
}

// The first line in which two texts differ, shortened.
static void line_that_differs(const char* a, const char* b, char* in_a, char* in_b, int capacity) {
  const char *line_a = a, *line_b = b;
  for (; *a && *a == *b; ++a, ++b) {
    if (*a == '\n') line_a = a + 1, line_b = b + 1;
  }
  snprintf(in_a, (size_t)capacity, "%.*s", (int)strcspn(line_a, "\n"), line_a);
  snprintf(in_b, (size_t)capacity, "%.*s", (int)strcspn(line_b, "\n"), line_b);
}

static yw_status compare_text(const char* path, const char* folder, const char* text,
                              yw_error* error) {
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, MAX_TEXT, NULL, &data, error);
  if (status >= 0 && strcmp(data.bytes, text) != 0) {
    char theirs[160], ours[160];
    line_that_differs(data.bytes, text, theirs, ours, sizeof theirs);
    status = yw_fail(error, YW_ERR_INVALID,
                     "%s holds other pictures: \"%s\" instead of \"%s\". Delete it, or choose "
                     "another name with -o",
                     yw_file_short_name(folder), theirs, ours);
  }
  yw_file_data_free(&data);
  return status;
}

static yw_status write_text(const char* path, const char* text, yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_write(&file, text, strlen(text));
  return yw_file_writer_commit(&file, error);
}

yw_status shared_pictures_open(const shared_pictures* p, const char* text, yw_error* error) {
  char path[SHARED_PATH];
  path_in(p, "pictures.txt", path);
  yw_status status = yw_make_folders(p->folder, error);
  if (status >= 0 && access(path, F_OK) != 0) status = write_text(path, text, error);
  // Also what was just written: another task may have come first.
  return status < 0 ? status : compare_text(path, p->folder, text, error);
}

void shared_picture_path(const shared_pictures* p, int32_t frame, char out[SHARED_PATH]) {
  char name[24];
  snprintf(name, sizeof name, "%04d.png", frame);
  path_in(p, name, out);
}

bool shared_picture_exists(const shared_pictures* p, int32_t frame) {
  char path[SHARED_PATH];
  shared_picture_path(p, frame, path);
  return access(path, F_OK) == 0;
}

int32_t shared_pictures_missing(const shared_pictures* p) {
  int32_t missing = 0;
  for (int32_t frame = p->from; frame <= p->last; frame += p->every) {
    missing += !shared_picture_exists(p, frame);
  }
  return missing;
}

// The movie ---------------------------------------------------------------------------------------

static yw_status add_picture(yw_movie* movie, const char* path, yw_error* error) {
  yw_image image = {0};
  yw_status status = yw_image_read_png(path, NULL, &image, error);
  if (status >= 0) status = yw_movie_add(movie, &image, error);
  yw_image_free(&image);
  return status;
}

static yw_status make_movie(const shared_pictures* p, const yw_movie_def* def, yw_error* error) {
  yw_movie* movie = NULL;
  yw_status status = yw_movie_open(def, NULL, &movie, error);
  for (int32_t frame = p->from; frame <= p->last && status >= 0; frame += p->every) {
    char path[SHARED_PATH];
    shared_picture_path(p, frame, path);
    status = add_picture(movie, path, error);
  }
  if (status >= 0) return yw_movie_close(movie, error);
  yw_movie_discard(movie);
  return status;
}

// What the mark of a movie says: another rate of frames needs another movie.
static void describe_movie(const yw_movie_def* def, char out[SHARED_PATH]) {
  snprintf(out, SHARED_PATH, "%s, %g frames per second\n", def->path, (double)def->fps);
}

static bool is_made(const char* mark, const yw_movie_def* def) {
  char text[SHARED_PATH];
  yw_file_data data = {0};
  describe_movie(def, text);
  bool same = access(def->path, F_OK) == 0 &&
              yw_file_read_all(mark, MAX_TEXT, NULL, &data, NULL) >= 0 &&
              strcmp(data.bytes, text) == 0;
  yw_file_data_free(&data);
  return same;
}

yw_status shared_pictures_join(const shared_pictures* p, const yw_movie_def* def, bool* joined,
                               yw_error* error) {
  *joined = false;
  if (shared_pictures_missing(p) > 0) return YW_OK;
  char path[SHARED_PATH], mark[SHARED_PATH];
  path_in(p, "pictures.txt", path);
  path_in(p, "joined", mark);
  // Two tasks may end at the same time: one makes the movie, the other waits and finds it made.
  int lock = open(path, O_RDONLY | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    int cause = errno;
    if (lock >= 0) close(lock);
    return yw_fail(error, YW_ERR_IO, "%s: cannot be locked: %s", path, strerror(cause));
  }
  yw_status status = YW_OK;
  if (!is_made(mark, def)) {
    char text[SHARED_PATH];
    describe_movie(def, text);
    status = make_movie(p, def, error);
    if (status >= 0) status = write_text(mark, text, error);
    *joined = status >= 0;
  }
  close(lock);
  return status;
}

// Tasks -------------------------------------------------------------------------------------------

// Waits for all processes; the exit code is that of the first one that failed.
static int wait_for_all(int32_t count) {
  int code = EXIT_DONE;
  for (int32_t ended = 0; ended < count;) {
    int how;
    if (wait(&how) < 0) {
      if (errno == EINTR) continue;
      return bad_input("a task is lost: %s", strerror(errno));
    }
    ++ended;
    if (how == 0 || code != EXIT_DONE) continue;
    code = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_FAILED;
    if (WIFSIGNALED(how)) {
      fprintf(stderr,
              "yawara: a task was killed by signal %d; the same command draws what is missing\n",
              WTERMSIG(how));
    }
  }
  return code;
}

int share_over_processes(int32_t tasks, int (*work)(void* context, task_share share),
                         void* context) {
  pid_t parent = getpid();
  fflush(stdout);
  int32_t started = 0;
  for (; started < tasks; ++started) {
    pid_t child = fork();
    if (child < 0) break;
    if (child > 0) continue;
    // Tasks end with the process that started them.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(EXIT_INTERRUPTED);
    int code = finish_output(work(context, (task_share){started, tasks}));
    fflush(stderr);
    // Not exit: libraries would wait there for threads that only the parent has.
    _exit(code);
  }
  int cause = errno, code = wait_for_all(started);
  if (started == tasks || code != EXIT_DONE) return code;
  return bad_input("only %d of %d tasks could be started: %s; the same command goes on", started,
                   tasks, strerror(cause));
}

// The command without what shares it over tasks.
static void print_command(int argc, char** argv) {
  char program[SHARED_PATH];
  find_program(program, sizeof program);
  print_quoted(program);
  printf(" render");
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "--wedge") == 0)
      ++i;
    else if (strncmp(argv[i], "--wedge=", 8) != 0 && strcmp(argv[i], "--list") != 0 &&
             strcmp(argv[i], "--slurm") != 0) {
      putchar(' ');
      print_quoted(argv[i]);
    }
  }
}

void share_list(int32_t tasks, int argc, char** argv) {
  for (int32_t i = 1; i <= tasks; ++i) {
    print_command(argc, argv);
    printf(" --task %d/%d --threads 1 --quiet\n", i, tasks);
  }
}

void share_slurm(int32_t tasks, const char* folder, int argc, char** argv) {
  print_slurm_head("render", tasks, folder);
  printf("exec ");
  print_command(argc, argv);
  printf(" --task \"$SLURM_ARRAY_TASK_ID/%d\" --threads \"${SLURM_CPUS_PER_TASK:-1}\" --quiet\n",
         tasks);
}
