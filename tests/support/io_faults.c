// SPDX-License-Identifier: MIT
// Preloaded into the program (LD_PRELOAD), makes its I/O fail at a given call. Counted are calls
// that create, write, flush, sync, link or rename files.
//   YW_IO_FAULT=count:FILE   writes the number of calls to FILE
//   YW_IO_FAULT=kill:N       the process is killed in call N; a write gets half of its bytes out
//   YW_IO_FAULT=killed:N     the process is killed right after call N
//   YW_IO_FAULT=full:N       from call N on, all fail with ENOSPC
//   YW_IO_FAULT=broken:N     from call N on, all fail with EIO
//   YW_IO_FAULT=interrupt:N  call N and every seventh after it fails once with EINTR
//   YW_IO_FAULT=clock:N      from call N on, the clock is a day behind; no call fails
//   YW_IO_FAULT=remove:N     right before call N, everything in the folder YW_IO_REMOVE is deleted
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum fault { PASS, FAIL, KILL_INSIDE, KILL_AFTER } fault;

static long calls;

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

__attribute__((destructor)) static void write_count(void) {
  const char* plan = getenv("YW_IO_FAULT");
  if (!plan || strncmp(plan, "count:", 6) != 0) return;
  int file = REAL(int, "open", const char*, int, ...)(plan + 6, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dprintf(file, "%ld\n", calls);
  close(file);
}

static void remove_folder(void) {
  char command[1000];
  const char* folder = getenv("YW_IO_REMOVE");
  unsetenv("LD_PRELOAD");
  if (!folder || snprintf(command, sizeof command, "rm -rf '%s'", folder) >= (int)sizeof command) {
    abort();
  }
  if (system(command) != 0) abort();
}

// What happens to the next call. Sets errno for FAIL.
static fault next_fault(bool interruptible) {
  const char* plan = getenv("YW_IO_FAULT");
  const char* colon = plan ? strchr(plan, ':') : NULL;
  if (!colon) return PASS;
  size_t length = (size_t)(colon - plan);
  long at = atol(colon + 1), call = calls++;
  if (strncmp(plan, "kill", length) == 0 && length == 4) return call == at ? KILL_INSIDE : PASS;
  if (strncmp(plan, "killed", length) == 0) return call == at ? KILL_AFTER : PASS;
  if (strncmp(plan, "remove", length) == 0 && call == at) remove_folder();
  if (call < at) return PASS;
  if (strncmp(plan, "full", length) == 0) return errno = ENOSPC, FAIL;
  if (strncmp(plan, "broken", length) == 0) return errno = EIO, FAIL;
  bool now = strncmp(plan, "interrupt", length) == 0 && interruptible && (call - at) % 7 == 0;
  return now ? (errno = EINTR, FAIL) : PASS;
}

static void die(void) { kill(getpid(), SIGKILL); }

// Runs a call that either happens or not.
#define WHOLE_CALL(type, call)   \
  do {                           \
    fault f = next_fault(false); \
    if (f == FAIL) return -1;    \
    if (f == KILL_INSIDE) die(); \
    type result = call;          \
    if (f == KILL_AFTER) die();  \
    return result;               \
  } while (0)

int clock_gettime(clockid_t clock, struct timespec* now) {
  const char* plan = getenv("YW_IO_FAULT");
  int result = REAL(int, "clock_gettime", clockid_t, struct timespec*)(clock, now);
  bool late = plan && strncmp(plan, "clock:", 6) == 0 && calls > atol(plan + 6);
  if (result == 0 && clock == CLOCK_REALTIME && late) now->tv_sec -= 24 * 3600;
  return result;
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  int (*real)(const char*, int, ...) = REAL(int, "open", const char*, int, ...);
  if (!(flags & O_CREAT)) return real(path, flags);
  WHOLE_CALL(int, real(path, flags, mode));
}

int rename(const char* from, const char* to) {
  WHOLE_CALL(int, REAL(int, "rename", const char*, const char*)(from, to));
}

int link(const char* from, const char* to) {
  WHOLE_CALL(int, REAL(int, "link", const char*, const char*)(from, to));
}

int fsync(int file) {
  fault f = next_fault(true);
  if (f == FAIL) return -1;
  if (f == KILL_INSIDE) die();
  int result = REAL(int, "fsync", int)(file);
  if (f == KILL_AFTER) die();
  return result;
}

int syncfs(int file) {
  fault f = next_fault(true);
  if (f == FAIL) return -1;
  if (f == KILL_INSIDE) die();
  if (f == KILL_AFTER) die();
  // The real call takes long on a busy machine, and survives no kill that a file would not.
  (void)file;
  return 0;
}

int fflush(FILE* stream) {
  int (*real)(FILE*) = REAL(int, "fflush", FILE*);
  if (!stream || fileno(stream) <= 2) return real(stream);
  fault f = next_fault(true);
  if (f == FAIL) return EOF;
  if (f == KILL_INSIDE) die();
  int result = real(stream);
  if (f == KILL_AFTER) die();
  return result;
}

size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  size_t (*real)(const void*, size_t, size_t, FILE*) =
      REAL(size_t, "fwrite", const void*, size_t, size_t, FILE*);
  if (fileno(stream) <= 2) return real(bytes, size, count, stream);
  fault f = next_fault(true);
  if (f == PASS) return real(bytes, size, count, stream);
  int reason = errno;
  size_t written = real(bytes, size, f == KILL_AFTER ? count : count / 2, stream);
  if (f != FAIL) REAL(int, "fflush", FILE*)(stream);
  if (f != FAIL) die();
  errno = reason;
  return written;
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  ssize_t (*real)(int, const void*, size_t, off_t) =
      REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  fault f = next_fault(true);
  if (f == FAIL) return -1;
  ssize_t written = real(file, bytes, f == KILL_INSIDE ? size / 2 : size, offset);
  if (f != PASS) die();
  return written;
}
