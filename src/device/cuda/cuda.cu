// SPDX-License-Identifier: MIT
// The library libyawara_cuda.so (device/device.h). Compiled as C++ it is the same device as loops
// on the processor, for tests.
#include "device/cuda/fem.h"
#include "device/cuda/match.h"
#include "device/cuda/plastic.h"

#ifdef __CUDACC__

static uint64_t device_free_bytes(void) {
  size_t left = 0, all = 0;
  return succeeded(cudaMemGetInfo(&left, &all)) ? left : 0;
}

static yw_status open_device(yw_device_info* out, yw_error* error) {
  int count = 0, driver = 0;
  memset((void*)out, 0, sizeof *out);
  cudaError_t found = cudaGetDeviceCount(&count);
  cudaDriverGetVersion(&driver);
  out->driver = driver;
  out->needed = CUDART_VERSION;
  char what[200];
  if (driver > 0 && driver / 1000 < CUDART_VERSION / 1000) {
    snprintf(what, sizeof what,
             "the driver knows CUDA %d.%d, but %d.%d is needed; install a newer NVIDIA driver",
             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return device_fault = "too old", fail_device(error, what);
  }
  if (found != cudaSuccess || count == 0) {
    succeeded(found);
    return fail_device(error,
                       "no NVIDIA GPU is found; install its driver, or run without --device");
  }
  cudaDeviceProp properties;
  size_t left = 0, all = 0;
  if (!succeeded(cudaGetDeviceProperties(&properties, 0)) ||
      !succeeded(cudaDeviceSetLimit(cudaLimitStackSize, STACK_BYTES)) ||
      !succeeded(cudaMemGetInfo(&left, &all))) {
    return fail_device(error, "the GPU does not answer");
  }
  snprintf(out->name, sizeof out->name, "%s", properties.name);
  out->memory = all;
  out->free_memory = left;
  cudaFuncAttributes attributes;
  if (!succeeded(cudaFuncGetAttributes(&attributes, run_kernel<meet_kernel>))) {
    snprintf(what, sizeof what, "%.100s is of a kind that the kernels were not built for (sm_90)",
             properties.name);
    return fail_device(error, what);
  }
  return YW_OK;
}

static double copy_rate(void) {
  const size_t bytes = (size_t)1 << 30;
  char *from = (char*)device_alloc(bytes), *to = (char*)device_alloc(bytes);
  cudaEvent_t start, end;
  float best = INFINITY;
  bool ok = from && to && succeeded(cudaEventCreate(&start)) && succeeded(cudaEventCreate(&end));
  for (int i = 0; ok && i < 5; ++i) {
    float ms = INFINITY;
    ok = succeeded(cudaEventRecord(start)) &&
         succeeded(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)) &&
         succeeded(cudaEventRecord(end)) && succeeded(cudaEventSynchronize(end)) &&
         succeeded(cudaEventElapsedTime(&ms, start, end));
    best = fminf(best, ms);
  }
  device_release(from);
  device_release(to);
  return ok ? 2e3 * (double)bytes / (double)best : 0.0;
}

#else

static double copy_rate(void) { return 1e10; }

static uint64_t device_free_bytes(void) {
  const char* limit = getenv("YAWARA_LOOPS_MEMORY");
  return limit ? strtoull(limit, NULL, 10) : UINT64_MAX;
}

static yw_status open_device(yw_device_info* out, yw_error* error) {
  (void)error;
  memset((void*)out, 0, sizeof *out);
  const char* lost = getenv("YAWARA_LOOPS_LOST");
  launches_left = lost ? atoi(lost) : -1;
  snprintf(out->name, sizeof out->name, "loops on the processor");
  return YW_OK;
}

#endif

static const void* functions_of(const char* name) {
  if (strcmp(name, "match") == 0) return &match_functions;
  if (strcmp(name, "plastic") == 0) return &plastic_functions;
  return strcmp(name, "fem") == 0 ? &fem_functions : NULL;
}

static const yw_device device = {YW_DEVICE_INTERFACE, open_device, functions_of, copy_rate};

extern "C" YW_API const yw_device* yw_device_table(void) { return &device; }
