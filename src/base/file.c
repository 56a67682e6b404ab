// SPDX-License-Identifier: MIT
#include "yawara/extend/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text_number.h"

// Reading -----------------------------------------------------------------------------------------

// A longer path would leave no room for the message itself.
#define SHORT_NAME 300

const char* yw_file_short_name(const char* path) {
  size_t length = strlen(path);
  return length > SHORT_NAME ? path + (length - SHORT_NAME) : path;
}

static yw_status check_readable(const char* path, int file, uint64_t max_bytes, uint64_t* size,
                                yw_error* error) {
  const char* name = yw_file_short_name(path);
  struct stat info;
  if (fstat(file, &info) != 0)
    return yw_fail(error, YW_ERR_IO, "%s: cannot be read: %s", name, strerror(errno));
  if (S_ISDIR(info.st_mode))
    return yw_fail(error, YW_ERR_IO, "%s: is a folder, expected a file", name);
  // Pipes and devices have no size to check in advance and may never end.
  if (!S_ISREG(info.st_mode))
    return yw_fail(error, YW_ERR_IO, "%s: is a pipe or device, expected a file", name);
  *size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
  if (*size > max_bytes)
    return yw_fail(error, YW_ERR_LIMIT,
                   "%s: has %" PRIu64 " bytes, more than the limit of %" PRIu64, name, *size,
                   max_bytes);
  return YW_OK;
}

static yw_status read_bytes(const char* path, int file, yw_file_data* data, yw_error* error) {
  size_t done = 0;
  while (done < data->size) {
    ssize_t got = read(file, data->bytes + done, data->size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return yw_fail(error, YW_ERR_IO, "%s: cannot be read: %s", yw_file_short_name(path),
                     strerror(errno));
    // The file shrank while it was being read: keep what was read.
    if (got == 0) break;
    done += (size_t)got;
  }
  data->size = done;
  data->bytes[done] = '\0';
  return YW_OK;
}

static _Thread_local yw_file_list* list_in_use;

yw_file_list* yw_file_list_use(yw_file_list* list) {
  yw_file_list* before = list_in_use;
  list_in_use = list;
  return before;
}

yw_status yw_file_read_all(const char* path, uint64_t max_bytes, const yw_allocator* mem,
                           yw_file_data* out, yw_error* error) {
  *out = (yw_file_data){.mem = yw_mem_or_default(mem)};
  if (max_bytes == 0 || max_bytes > YW_FILE_MAX_BYTES) max_bytes = YW_FILE_MAX_BYTES;
  // Without O_NONBLOCK, opening a pipe without a writer would block forever.
  int file = open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0)
    return yw_fail(error, YW_ERR_IO, "%s: cannot be opened: %s", yw_file_short_name(path),
                   strerror(errno));
  uint64_t size = 0;
  yw_status status = check_readable(path, file, max_bytes, &size, error);
  if (status == YW_OK && size >= SIZE_MAX) status = yw_fail_memory(error, path);
  if (status == YW_OK) {
    out->size = (size_t)size;
    out->bytes = YW_NEW_ARRAY(&out->mem, char, out->size + 1);
    status = out->bytes ? read_bytes(path, file, out, error)
                        : yw_fail_memory(error, yw_file_short_name(path));
  }
  close(file);
  if (status == YW_OK && list_in_use &&
      !yw_file_list_add(list_in_use, path, out->bytes, out->size)) {
    status = yw_fail_memory(error, yw_file_short_name(path));
  }
  if (status != YW_OK) yw_file_data_free(out);
  return status;
}

void yw_file_data_free(yw_file_data* data) {
  yw_mem_free(&data->mem, data->bytes);
  *data = (yw_file_data){0};
}

// Lists of what was read --------------------------------------------------------------------------

static char* copy_text(const yw_allocator* mem, const char* text, const char* tail) {
  size_t length = strlen(text), tail_length = strlen(tail);
  char* copy = YW_NEW_ARRAY(mem, char, length + tail_length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  memcpy(copy + length, tail, tail_length);
  return copy;
}

bool yw_file_list_add(yw_file_list* list, const char* path, const void* bytes, size_t size) {
  for (int32_t i = 0; i < list->count; ++i) {
    if (strcmp(list->items[i].path, path) == 0) return true;
  }
  char* copy = copy_text(&list->mem, path, "");
  if (!copy || !YW_LIST_RESERVE(&list->mem, list, 1)) {
    yw_mem_free(&list->mem, copy);
    return false;
  }
  uint64_t hash = yw_hash_bytes(YW_HASH_SEED, bytes, size);
  list->items[list->count++] = (yw_file_record){copy, (uint64_t)size, hash};
  return true;
}

void yw_file_list_free(yw_file_list* list) {
  for (int32_t i = 0; i < list->count; ++i) yw_mem_free(&list->mem, list->items[i].path);
  YW_LIST_FREE(&list->mem, list);
}

// Writing -----------------------------------------------------------------------------------------

// Renaming onto a device or folder would destroy it or fail late.
static yw_status check_target(const char* path, yw_error* error) {
  const char* name = yw_file_short_name(path);
  struct stat info;
  if (path[0] == '\0') return yw_fail(error, YW_ERR_INVALID, "the file name is empty");
  if (stat(path, &info) != 0) return YW_OK;
  if (S_ISDIR(info.st_mode))
    return yw_fail(error, YW_ERR_IO, "%s: cannot be written: it is a folder", name);
  if (!S_ISREG(info.st_mode))
    return yw_fail(error, YW_ERR_IO, "%s: cannot be written: it is not a plain file", name);
  return YW_OK;
}

// Differs between processes, threads and calls; O_EXCL handles collisions.
static uint32_t temporary_number(uint32_t attempt) {
  static atomic_uint calls;
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t mixed = yw_hash_u64(YW_HASH_SEED, (uint64_t)getpid() << 32 | attempt);
  mixed = yw_hash_u64(mixed, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
  return (uint32_t)yw_hash_u64(mixed, atomic_fetch_add(&calls, 1u));
}

// Opens path.tmp-XXXXXXXX, which must not exist yet.
static int open_temporary(yw_file_writer* writer, const char* path) {
  for (uint32_t attempt = 0; attempt < 100; ++attempt) {
    char tail[16];
    snprintf(tail, sizeof tail, ".tmp-%08" PRIx32, temporary_number(attempt));
    yw_mem_free(&writer->mem, writer->temporary);
    writer->temporary = copy_text(&writer->mem, path, tail);
    if (!writer->temporary) {
      errno = ENOMEM;
      return -1;
    }
    int file = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

static void forget(yw_file_writer* writer) {
  yw_mem_free(&writer->mem, writer->path);
  yw_mem_free(&writer->mem, writer->temporary);
  *writer = (yw_file_writer){0};
}

yw_status yw_file_writer_open_with(yw_file_writer* writer, const char* path, const char* temporary,
                                   const yw_allocator* mem, yw_error* error) {
  *writer = (yw_file_writer){.mem = yw_mem_or_default(mem)};
  yw_status status = check_target(path, error);
  if (status != YW_OK) return status;
  writer->path = copy_text(&writer->mem, path, "");
  if (!writer->path) return yw_fail_memory(error, "a file name");
  int file;
  if (temporary) {
    writer->temporary = copy_text(&writer->mem, temporary, "");
    file = writer->temporary ? open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  } else {
    file = open_temporary(writer, path);
  }
  writer->stream = file >= 0 ? fdopen(file, "wb") : NULL;
  if (writer->stream) return YW_OK;

  status = yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s", yw_file_short_name(path),
                   strerror(errno));
  if (file >= 0) {
    close(file);
    unlink(writer->temporary);
  }
  forget(writer);
  return status;
}

yw_status yw_file_writer_open(yw_file_writer* writer, const char* path, const yw_allocator* mem,
                              yw_error* error) {
  return yw_file_writer_open_with(writer, path, NULL, mem, error);
}

static void note_failure(yw_file_writer* writer) {
  if (writer->system_error == 0) writer->system_error = errno ? errno : EIO;
}

void yw_file_write(yw_file_writer* writer, const void* bytes, size_t size) {
  const char* next = bytes;
  while (size > 0 && !writer->system_error) {
    errno = 0;
    size_t written = fwrite(next, 1, size, writer->stream);
    next += written;
    size -= written;
    // A signal may cut a write short.
    if (size > 0 && errno != EINTR) note_failure(writer);
    if (size > 0) clearerr(writer->stream);
  }
}

void yw_file_printf(yw_file_writer* writer, const char* format, ...) {
  if (writer->system_error) return;
  va_list arguments;
  va_start(arguments, format);
  errno = 0;
  if (vfprintf(writer->stream, format, arguments) < 0) note_failure(writer);
  va_end(arguments);
}

void yw_file_write_float(yw_file_writer* writer, float value) {
  char text[YW_NUMBER_TEXT];
  yw_file_write(writer, text, yw_format_float(value, text));
}

void yw_file_write_vec3(yw_file_writer* writer, yw_vec3 value) {
  yw_file_write_float(writer, value.x);
  yw_file_write(writer, " ", 1);
  yw_file_write_float(writer, value.y);
  yw_file_write(writer, " ", 1);
  yw_file_write_float(writer, value.z);
}

void yw_file_write_double(yw_file_writer* writer, double value) {
  char text[YW_NUMBER_TEXT];
  yw_file_write(writer, text, yw_format_double(value, text));
}

void yw_file_write_at(yw_file_writer* writer, uint64_t offset, const void* bytes, size_t size) {
  if (writer->system_error) return;
  errno = 0;
  if (fseeko(writer->stream, (off_t)offset, SEEK_SET) != 0) {
    note_failure(writer);
    return;
  }
  yw_file_write(writer, bytes, size);
  if (!writer->system_error && fseeko(writer->stream, 0, SEEK_END) != 0) note_failure(writer);
}

static int retry_interrupted(int (*call)(FILE*), FILE* stream) {
  int code;
  do {
    errno = 0;
    code = call(stream);
  } while (code != 0 && errno == EINTR);
  return code;
}

static int sync_stream(FILE* stream) { return fsync(fileno(stream)); }

yw_status yw_file_writer_finish(yw_file_writer* writer, yw_error* error) {
  if (!writer->path) return yw_fail(error, YW_ERR_INVALID, "the file writer is not open");
  if (!writer->stream) return YW_OK;
  if (retry_interrupted(fflush, writer->stream) != 0) note_failure(writer);
  if (writer->durable && retry_interrupted(sync_stream, writer->stream) != 0) note_failure(writer);
  if (fclose(writer->stream) != 0) note_failure(writer);
  writer->stream = NULL;
  if (!writer->system_error) return YW_OK;
  yw_status status = yw_fail(error, YW_ERR_IO, "%s: cannot be written: %s",
                             yw_file_short_name(writer->path), strerror(writer->system_error));
  yw_file_writer_abort(writer);
  return status;
}

yw_status yw_file_writer_commit(yw_file_writer* writer, yw_error* error) {
  yw_status status = yw_file_writer_finish(writer, error);
  if (status != YW_OK) return status;
  if (rename(writer->temporary, writer->path) != 0) {
    status = yw_fail(error, YW_ERR_IO, "%s: cannot be renamed from its temporary name: %s",
                     yw_file_short_name(writer->path), strerror(errno));
    yw_file_writer_abort(writer);
    return status;
  }
  forget(writer);
  return YW_OK;
}

void yw_file_writer_abort(yw_file_writer* writer) {
  if (!writer->path) return;
  if (writer->stream) fclose(writer->stream);
  unlink(writer->temporary);
  forget(writer);
}

// Folders -----------------------------------------------------------------------------------------

yw_status yw_make_folders(const char* path, yw_error* error) {
  // Mostly all but the last are there.
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return YW_OK;
  char* partial = copy_text(NULL, path, "");
  if (!partial) return yw_fail_memory(error, "the name of a folder");
  yw_status status = YW_OK;
  size_t length = strlen(path);
  for (size_t i = 1; i <= length && status == YW_OK; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    partial[i] = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
      status = yw_fail(error, YW_ERR_IO, "%s: cannot make this folder: %s",
                       yw_file_short_name(partial), strerror(errno));
    }
    partial[i] = path[i];
  }
  yw_mem_free(NULL, partial);
  return status;
}
