// SPDX-License-Identifier: MIT
#define _GNU_SOURCE  // dladdr
#include "device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/error.h"

#if defined(__EMSCRIPTEN__) || defined(_WIN32)

static const yw_device* open_library(yw_error* error) {
  yw_fail(error, YW_ERR_DEVICE, "device cuda: there is none on this platform");
  return NULL;
}

#else
#include <dlfcn.h>

#define LIBRARY "libyawara_cuda.so"

// Beside the program or the library that this code is in, as both are built and installed.
static void* load_beside(void) {
  Dl_info here;
  char path[4096];
  if (!dladdr((const void*)(uintptr_t)&yw_device_find, &here) || !here.dli_fname) return NULL;
  const char *name = here.dli_fname, *end = name;
  for (const char* c = name; *c; ++c) {
    if (*c == '/') end = c + 1;
  }
  int length = (int)(end - name);
  const char* const folders[] = {"", "../lib/", "../"};
  void* library = NULL;
  for (int i = 0; i < 3 && !library; ++i) {
    int written = snprintf(path, sizeof path, "%.*s%s%s", length, name, folders[i], LIBRARY);
    if (written > 0 && (size_t)written < sizeof path) library = dlopen(path, RTLD_NOW);
  }
  return library;
}

static const yw_device* open_library(yw_error* error) {
  const char* named = getenv("YAWARA_CUDA_LIBRARY");
  void* library = named ? dlopen(named, RTLD_NOW) : load_beside();
  if (!library && !named) library = dlopen(LIBRARY, RTLD_NOW);
  if (!library) {
    yw_fail(error, YW_ERR_DEVICE,
            "device cuda: %s cannot be opened (%s). It is built where nvcc of the CUDA toolkit 12 "
            "or later is found (Debian package nvidia-cuda-toolkit, or NVIDIA's own cuda-nvcc); "
            "build again with it, or set YAWARA_CUDA_LIBRARY",
            named ? named : LIBRARY, dlerror());
    return NULL;
  }
  yw_device_table_fn table = NULL;
  void* symbol = dlsym(library, "yw_device_table");
  memcpy(&table, &symbol, sizeof table);
  const yw_device* device = table ? table() : NULL;
  if (!device || device->interface != YW_DEVICE_INTERFACE) {
    yw_fail(error, YW_ERR_DEVICE,
            "device cuda: %s is of another version of yawara; build both together",
            named ? named : LIBRARY);
    return NULL;
  }
  return device;
}
#endif

// Worlds may be made on several threads at the same time.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const yw_device *chosen, *opened;

void yw_device_use(yw_device_kind kind, const yw_device* device) {
  (void)kind;
  pthread_mutex_lock(&lock);
  chosen = device;
  pthread_mutex_unlock(&lock);
}

static yw_status find_cuda(const yw_device** out, yw_error* error) {
  yw_device_info info;
  const yw_device* device = chosen;
  if (!device && !opened) opened = open_library(error);
  if (!device) device = opened;
  if (!device) return YW_ERR_DEVICE;
  yw_status status = device->open(&info, error);
  if (status >= 0) *out = device;
  return status;
}

yw_status yw_device_find(yw_device_kind kind, const yw_device** out, yw_error* error) {
  *out = NULL;
  if (kind == YW_DEVICE_CPU) return YW_OK;
  if (kind != YW_DEVICE_CUDA) return yw_fail(error, YW_ERR_INVALID, "there is no such device");
  pthread_mutex_lock(&lock);
  yw_status status = find_cuda(out, error);
  pthread_mutex_unlock(&lock);
  return status;
}

yw_status yw_device_check(yw_device_kind device, yw_error* error) {
  const yw_device* found;
  yw_error_clear(error);
  return yw_device_find(device, &found, error);
}
