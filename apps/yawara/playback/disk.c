// SPDX-License-Identifier: MIT
// For flock and syncfs, which are not part of POSIX.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier)
#include "playback/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/timer.h"

static int open_folder(const char* dir, yw_error* error) {
  int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    yw_fail(error, YW_ERR_IO, "%s: cannot be opened: %s", yw_file_short_name(dir), strerror(errno));
  }
  return folder;
}

int disk_lock(const char* dir, yw_error* error) {
  int folder = open_folder(dir, error);
  if (folder < 0) return YW_ERR_IO;
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  int reason = errno;
  // Some network file systems have no locks. A run there is better than none.
  if (reason != EWOULDBLOCK) return folder;
  close(folder);
  return yw_fail(error, YW_ERR_IO,
                 "%s: another run is writing to this folder; wait for it to end or choose another "
                 "folder with -o",
                 yw_file_short_name(dir));
}

void disk_unlock(int lock) {
  if (lock >= 0) close(lock);
}

static int sync_folder(int folder) {
#ifdef __EMSCRIPTEN__
  // The files of a page are in its memory.
  (void)folder;
  return 0;
#else
  return syncfs(folder);
#endif
}

static double spared_until = -INFINITY;  // s, of yw_seconds

void disk_spare_syncs(double seconds) { spared_until = yw_seconds() + seconds; }

bool disk_is_spared(void) { return yw_seconds() < spared_until; }

yw_status disk_sync(const char* dir, yw_error* error) {
  if (disk_is_spared()) return YW_OK;
  int folder = open_folder(dir, error);
  if (folder < 0) return YW_ERR_IO;
  int code;
  do {
    code = sync_folder(folder);
  } while (code != 0 && errno == EINTR);
  int reason = errno;
  close(folder);
  if (code == 0) return YW_OK;
  return yw_fail(error, YW_ERR_IO, "%s: what was written is not safe on the disk: %s",
                 yw_file_short_name(dir), strerror(reason));
}

// name.tmp-XXXXXXXX
static bool is_leftover(const char* name) {
  static const char mark[] = ".tmp-";
  size_t length = strlen(name), tail = sizeof mark - 1 + 8;
  return length > tail && strncmp(name + length - tail, mark, sizeof mark - 1) == 0 &&
         strspn(name + length - 8, "0123456789abcdef") == 8;
}

void disk_remove_leftovers(const char* dir) {
  DIR* folder = opendir(dir);
  if (!folder) return;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    if (is_leftover(entry->d_name)) unlinkat(dirfd(folder), entry->d_name, 0);
  }
  closedir(folder);
}

int64_t disk_bytes(const char* dir) {
  DIR* folder = opendir(dir);
  if (!folder) return 0;
  int64_t bytes = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    struct stat info;
    if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode)) {
      bytes += (int64_t)info.st_size;
    }
  }
  closedir(folder);
  return bytes;
}
