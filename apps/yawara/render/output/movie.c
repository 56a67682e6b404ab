// SPDX-License-Identifier: MIT
// Frames are piped to ffmpeg, started without a shell. It runs in its own process group: Ctrl-C in
// the terminal reaches only yawara, which finishes the movie properly.
#include "render/output/movie.h"
#include "yawara/extend/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"

extern char** environ;

#define MAX_ARGUMENTS 48
#define MAX_PATH_LENGTH 4096

struct yw_movie {
  yw_allocator mem;
  yw_file_writer file;
  int32_t width, height;
  int64_t frames;
  pid_t process;
  int pipe;   // write end
  FILE* log;  // output of ffmpeg
};

yw_movie_def yw_default_movie_def(void) { return (yw_movie_def){.fps = 30.0f, .quality = 8}; }

yw_status yw_movie_available(yw_error* error) {
  const char* path = getenv("PATH");
  for (const char* s = path ? path : "/usr/bin:/bin"; *s;) {
    size_t length = strcspn(s, ":");
    char name[MAX_PATH_LENGTH];
    int written = snprintf(name, sizeof name, "%.*s/ffmpeg", (int)length, s);
    if (written > 0 && (size_t)written < sizeof name && access(name, X_OK) == 0) {
      yw_error_clear(error);
      return YW_OK;
    }
    s += length + (s[length] == ':');
  }
  return yw_fail(error, YW_ERR_IO,
                 "ffmpeg was not found, so no movie can be written; PNG frames still can. Install "
                 "it (Debian: apt-get install ffmpeg)");
}

// The command line, with buffers for the numbers in it.
typedef struct command {
  const char* items[MAX_ARGUMENTS];
  int32_t count;
  char size[32], rate[32], quality[32];
  char output[MAX_PATH_LENGTH + 8];
} command;

static void add(command* line, const char* item) {
  if (line->count + 1 < MAX_ARGUMENTS) line->items[line->count++] = item;
}

static void add_all(command* line, const char* const* items) {
  for (; *items; ++items) add(line, *items);
}

// Encoder options by the suffix of the name; false if it is unknown.
static bool add_encoder(command* line, const yw_movie_def* def) {
  int32_t quality = def->quality < 1 ? 1 : def->quality > 10 ? 10 : def->quality;
  if (yw_ends_with(def->path, ".mp4")) {
    snprintf(line->quality, sizeof line->quality, "%d", 38 - 2 * quality);
    // Players require even sides and 4:2:0; sRGB pictures are tagged as BT.709.
    add_all(line, (const char*[]){"-vf",
                                  "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:"
                                  "out_range=tv",
                                  "-c:v",
                                  "libx264",
                                  "-preset",
                                  "medium",
                                  "-pix_fmt",
                                  "yuv420p",
                                  "-colorspace",
                                  "bt709",
                                  "-color_primaries",
                                  "bt709",
                                  "-color_trc",
                                  "bt709",
                                  "-movflags",
                                  "+faststart",
                                  "-crf",
                                  line->quality,
                                  "-f",
                                  "mp4",
                                  NULL});
  } else if (yw_ends_with(def->path, ".gif")) {
    add_all(line, (const char*[]){"-filter_complex",
                                  "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse="
                                  "dither=bayer:bayer_scale=4:diff_mode=rectangle",
                                  "-loop", "0", "-f", "gif", NULL});
  } else if (yw_ends_with(def->path, ".webp")) {
    snprintf(line->quality, sizeof line->quality, "%d", 30 + 6 * quality);
    add_all(line, (const char*[]){"-c:v", "libwebp_anim", "-quality", line->quality, "-loop", "0",
                                  "-f", "webp", NULL});
  } else if (yw_ends_with(def->path, ".png") || yw_ends_with(def->path, ".apng")) {
    add_all(line, (const char*[]){"-plays", "0", "-f", "apng", NULL});
  } else {
    return false;
  }
  return true;
}

static yw_status make_command(const yw_movie_def* def, const yw_file_writer* file, command* line,
                              yw_error* error) {
  if (def->width < 1 || def->height < 1 || def->width > YW_IMAGE_MAX_SIDE ||
      def->height > YW_IMAGE_MAX_SIDE || !(def->fps > 0.0f) || !isfinite(def->fps)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: a movie of %d x %d pixels at %g frames per second cannot be made",
                   def->path, def->width, def->height, (double)def->fps);
  }
  snprintf(line->size, sizeof line->size, "%dx%d", def->width, def->height);
  snprintf(line->rate, sizeof line->rate, "%.6g", (double)def->fps);
  add_all(line, (const char*[]){"ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y",
                                "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", line->size, "-r",
                                line->rate, "-i", "pipe:0", "-an", NULL});
  if (!add_encoder(line, def)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: the name of a movie must end in .mp4, .gif, .webp, .png or .apng",
                   def->path);
  }
  // "file:" prevents names like "http:x" or "-x" from being misinterpreted.
  int length = snprintf(line->output, sizeof line->output, "file:%s", file->temporary);
  if (length < 0 || (size_t)length >= sizeof line->output) {
    return yw_fail(error, YW_ERR_IO, "the name of the output file is too long");
  }
  add(line, line->output);
  line->items[line->count] = NULL;
  return YW_OK;
}

// Starts ffmpeg with the read end of a pipe as its input and the log as its output.
static int spawn(yw_movie* movie, const command* line) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(movie->log), STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  int failure = posix_spawnp(&movie->process, "ffmpeg", &actions, &attributes,
                             (char* const*)(uintptr_t)line->items, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[0]);
  if (failure) {
    close(ends[1]);
  } else {
    movie->pipe = ends[1];
  }
  return failure;
}

static void free_movie(yw_movie* movie) {
  if (movie->log) fclose(movie->log);
  yw_allocator mem = movie->mem;
  yw_mem_free(&mem, movie);
}

yw_status yw_movie_open(const yw_movie_def* def, const yw_allocator* mem, yw_movie** out,
                        yw_error* error) {
  *out = NULL;
  yw_status status = yw_movie_available(error);
  if (status < 0) return status;
  yw_movie* movie = YW_NEW(mem, yw_movie);
  if (!movie) return yw_fail_memory(error, "a movie");
  movie->mem = yw_mem_or_default(mem);
  movie->width = def->width;
  movie->height = def->height;
  movie->pipe = -1;

  // Opening the file here gives a clear message for folders that are not writable.
  status = yw_file_writer_open(&movie->file, def->path, NULL, error);
  command line = {.count = 0};
  if (status >= 0) status = yw_file_writer_finish(&movie->file, error);
  if (status >= 0) {
    status = make_command(def, &movie->file, &line, error);
    movie->log = tmpfile();
    if (status >= 0 && !movie->log) {
      status = yw_fail(error, YW_ERR_IO, "no temporary file can be made: %s", strerror(errno));
    }
    int failure = status >= 0 ? spawn(movie, &line) : 0;
    if (failure) {
      status = yw_fail(error, YW_ERR_IO, "ffmpeg cannot be started: %s", strerror(failure));
    }
    if (status < 0) yw_file_writer_abort(&movie->file);
  }
  if (status < 0) {
    free_movie(movie);
    return status;
  }
  *out = movie;
  return YW_OK;
}

// Writes everything, or returns errno. If ffmpeg closes the pipe, this process must not be killed,
// so SIGPIPE is blocked in this thread and discarded.
static int write_all(int to, const uint8_t* bytes, size_t size) {
  sigset_t only, before, pending;
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &only, &before);
  int failure = 0;
  while (size > 0 && !failure) {
    ssize_t written = write(to, bytes, size);
    if (written >= 0) {
      bytes += written;
      size -= (size_t)written;
    } else if (errno != EINTR) {
      failure = errno;
    }
  }
  if (failure == EPIPE && !sigismember(&pending, SIGPIPE)) {
    sigtimedwait(&only, NULL, &(struct timespec){0, 0});
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

// Closes the pipe and waits; returns the exit status as from waitpid.
static int finish(yw_movie* movie) {
  if (movie->pipe >= 0) close(movie->pipe);
  movie->pipe = -1;
  int result = 0;
  while (movie->process > 0 && waitpid(movie->process, &result, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  movie->process = 0;
  return result;
}

// The end of ffmpeg's output, on one line.
static void last_words(const yw_movie* movie, char* out, size_t size) {
  char text[400];
  out[0] = '\0';
  if (fseek(movie->log, 0, SEEK_END) != 0) return;
  long length = ftell(movie->log);
  long start = length > (long)sizeof text - 1 ? length - (long)sizeof text + 1 : 0;
  if (length <= 0 || fseek(movie->log, start, SEEK_SET) != 0) return;
  size_t got = fread(text, 1, sizeof text - 1, movie->log);
  while (got > 0 && text[got - 1] == '\n') --got;
  text[got] = '\0';
  for (size_t i = 0; i < got; ++i) {
    if (text[i] == '\n') text[i] = ';';
  }
  snprintf(out, size, ": %s", text);
}

yw_status yw_movie_add(yw_movie* movie, const yw_image* frame, yw_error* error) {
  if (frame->width != movie->width || frame->height != movie->height) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s: frame %lld is %d x %d pixels, but the movie is %d x %d", movie->file.path,
                   (long long)movie->frames, frame->width, frame->height, movie->width,
                   movie->height);
  }
  size_t size = 3 * (size_t)frame->width * (size_t)frame->height;
  int failure = write_all(movie->pipe, frame->pixels, size);
  if (failure) {
    finish(movie);
    char words[420];
    last_words(movie, words, sizeof words);
    return yw_fail(error, YW_ERR_IO, "%s: ffmpeg stopped at frame %lld (%s)%s", movie->file.path,
                   (long long)movie->frames, strerror(failure), words);
  }
  ++movie->frames;
  return YW_OK;
}

yw_status yw_movie_close(yw_movie* movie, yw_error* error) {
  int result = finish(movie);
  yw_status status = YW_OK;
  if (movie->frames == 0) {
    status =
        yw_fail(error, YW_ERR_INVALID, "%s: a movie needs at least one frame", movie->file.path);
  } else if (result != 0) {
    char words[420];
    last_words(movie, words, sizeof words);
    int code = result > 0 && WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    status = yw_fail(error, YW_ERR_IO, "%s: ffmpeg failed with exit status %d%s", movie->file.path,
                     code, words);
  }
  if (status < 0) {
    yw_file_writer_abort(&movie->file);
  } else {
    status = yw_file_writer_commit(&movie->file, error);
  }
  free_movie(movie);
  return status;
}

void yw_movie_discard(yw_movie* movie) {
  if (!movie) return;
  if (movie->process > 0) kill(movie->process, SIGKILL);
  finish(movie);
  yw_file_writer_abort(&movie->file);
  free_movie(movie);
}
