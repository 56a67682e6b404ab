// SPDX-License-Identifier: MIT
// Preloaded into the program (LD_PRELOAD), records what it does to names of files and what it asks
// to be safe on the disk, and kills it at a given operation: tests/soak/power.py makes of it what
// may be left on a disk whose power fails then.
//   YW_POWER_RECORD  a folder: `ops` has a line per operation, kind and names between tabs; what a
//                    file held when it was synced is in `file_NUMBER`, all files in `disk_NUMBER`
//   YW_POWER_FOLDER  the folder that the program writes to
//   YW_POWER_AT      number of the operation before which the program is killed; -1: none
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM 4096
#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static long operations;

static int real_open(const char* path, int flags) {
  return REAL(int, "open", const char*, int, ...)(path, flags, 0666);
}

// Written at once, so that the record is whole when the program is killed.
static void note(const char* kind, const char* first, const char* second) {
  char path[ROOM], line[3 * ROOM];
  const char* folder = getenv("YW_POWER_RECORD");
  if (!folder) return;
  snprintf(path, sizeof path, "%s/ops", folder);
  int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", kind, first, second);
  int file = real_open(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file < 0 || length >= (int)sizeof line || write(file, line, (size_t)length) != length)
    abort();
  close(file);
  ++operations;
}

static void maybe_die(void) {
  const char* at = getenv("YW_POWER_AT");
  if (at && atol(at) == operations) kill(getpid(), SIGKILL);
}

static void name_of(int file, char out[ROOM]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, out, ROOM - 1);
  out[length > 0 ? length : 0] = '\0';
}

static void copy(const char* from, const char* kind) {
  char command[3 * ROOM], preload[ROOM];
  const char* folder = getenv("YW_POWER_RECORD");
  if (!folder) return;
  snprintf(preload, sizeof preload, "%s", getenv("LD_PRELOAD"));
  unsetenv("LD_PRELOAD");
  snprintf(command, sizeof command, "cp -a '%s' '%s/%s_%ld'", from, folder, kind, operations);
  if (system(command) != 0) abort();
  setenv("LD_PRELOAD", preload, 1);
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  int (*real)(const char*, int, ...) = REAL(int, "open", const char*, int, ...);
  if (!(flags & O_CREAT)) return real(path, flags);
  maybe_die();
  int file = real(path, flags, mode);
  if (file >= 0) note("make", path, "");
  return file;
}

FILE* fopen(const char* path, const char* mode) {
  FILE* (*real)(const char*, const char*) = REAL(FILE*, "fopen", const char*, const char*);
  if (mode[0] == 'r') return real(path, mode);
  maybe_die();
  FILE* file = real(path, mode);
  if (file) note(mode[0] == 'w' ? "make" : "append", path, "");
  return file;
}

#define WITH_NAMES(name, real_call, first, second) \
  do {                                             \
    maybe_die();                                   \
    int result = real_call;                        \
    if (result == 0) note(name, first, second);    \
    return result;                                 \
  } while (0)

int rename(const char* from, const char* to) {
  WITH_NAMES("rename", REAL(int, "rename", const char*, const char*)(from, to), from, to);
}

int link(const char* from, const char* to) {
  WITH_NAMES("link", REAL(int, "link", const char*, const char*)(from, to), from, to);
}

int unlink(const char* path) {
  WITH_NAMES("unlink", REAL(int, "unlink", const char*)(path), path, "");
}

int unlinkat(int folder, const char* name, int flags) {
  char path[2 * ROOM];
  name_of(folder, path);
  size_t length = strlen(path);
  snprintf(path + length, sizeof path - length, "/%s", name);
  WITH_NAMES("unlink", REAL(int, "unlinkat", int, const char*, int)(folder, name, flags), path, "");
}

int mkdir(const char* path, mode_t mode) {
  WITH_NAMES("mkdir", REAL(int, "mkdir", const char*, mode_t)(path, mode), path, "");
}

int truncate(const char* path, off_t length) {
  WITH_NAMES("append", REAL(int, "truncate", const char*, off_t)(path, length), path, "");
}

int fsync(int file) {
  char path[ROOM];
  maybe_die();
  name_of(file, path);
  copy(path, "file");
  note("fsync", path, "");
  return 0;
}

int syncfs(int file) {
  (void)file;
  maybe_die();
  copy(getenv("YW_POWER_FOLDER"), "disk");
  note("syncfs", "", "");
  return 0;
}

// Where a file grows.
ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  char path[ROOM];
  maybe_die();
  name_of(file, path);
  ssize_t written =
      REAL(ssize_t, "pwrite", int, const void*, size_t, off_t)(file, bytes, size, offset);
  if (written > 0) note("append", path, "");
  return written;
}
