// SPDX-License-Identifier: MIT
// Memory and launches: of CUDA, or of the processor (thread.h). Functions return false on failure;
// device_fault then says why.
#ifndef YW_DEVICE_CUDA_RUNTIME_H
#define YW_DEVICE_CUDA_RUNTIME_H

#include "device/cuda/thread.h"

#ifdef __CUDACC__
#include <atomic>
#include <mutex>

static const char* device_fault = "";

static bool succeeded(cudaError_t code) {
  if (code == cudaSuccess) return true;
  device_fault = cudaGetErrorString(code);
  return false;
}

typedef cudaStream_t device_stream;

static bool device_stream_open(device_stream* stream) {
  return succeeded(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}
static void device_stream_close(device_stream stream) { cudaStreamDestroy(stream); }
static bool device_wait(device_stream stream) { return succeeded(cudaStreamSynchronize(stream)); }

/// NULL: failed.
static void* device_alloc(size_t bytes) {
  void* memory = NULL;
  return succeeded(cudaMalloc(&memory, bytes > 0 ? bytes : 1)) ? memory : NULL;
}
static void device_release(void* memory) { cudaFree(memory); }
static bool device_zero(device_stream stream, void* to, size_t bytes) {
  return bytes == 0 || succeeded(cudaMemsetAsync(to, 0, bytes, stream));
}
/// The source may change after the call.
static bool device_put(device_stream stream, void* to, const void* from, size_t bytes) {
  return bytes == 0 || succeeded(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}
/// Complete after device_wait.
static bool device_get(device_stream stream, void* to, const void* from, size_t bytes) {
  return bytes == 0 || succeeded(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::THREADS, Kernel::BLOCKS_PER_PROCESSOR)
    run_kernel(const __grid_constant__ typename Kernel::args a) {
  extern __shared__ char4 shared[];
#if __CUDA_ARCH__ >= 900
  // The next kernel is made ready while this one runs, and waits here for its end.
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  Kernel::run(a, (int)blockIdx.x, (int)gridDim.x, (char*)shared);
}

// Bodies are advanced on several threads: none may take back what another one was allowed.
template <class Args>
static bool allow_shared(void (*kernel)(Args), size_t bytes, std::atomic<size_t>* allowed) {
  static std::mutex lock;
  std::lock_guard<std::mutex> held(lock);
  if (bytes <= *allowed) return true;
  if (!succeeded(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes))) {
    return false;
  }
  *allowed = bytes;
  return true;
}

template <class Kernel>
static bool device_run(device_stream stream, const typename Kernel::args& a, int num_blocks,
                       size_t shared_bytes) {
  static std::atomic<size_t> allowed{0};
  if (shared_bytes > allowed && !allow_shared(run_kernel<Kernel>, shared_bytes, &allowed)) {
    return false;
  }
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)num_blocks);
  config.blockDim = dim3(Kernel::THREADS);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return succeeded(cudaLaunchKernelEx(&config, run_kernel<Kernel>, a));
}

/// Launches that are recorded, to be made again all at once.
struct device_recording {
  cudaGraphExec_t graph;
};
static bool device_records(void) { return true; }
static bool device_is_recorded(const device_recording* r) { return r->graph != nullptr; }
static bool device_record(device_stream stream) {
  return succeeded(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}
static bool device_end_recording(device_stream stream, device_recording* out) {
  cudaGraph_t graph = nullptr;
  if (!succeeded(cudaStreamEndCapture(stream, &graph))) return false;
  bool ok = succeeded(cudaGraphInstantiate(&out->graph, graph, 0));
  cudaGraphDestroy(graph);
  return ok;
}
static bool device_play(device_stream stream, const device_recording* r) {
  return succeeded(cudaGraphLaunch(r->graph, stream));
}
static void device_recording_free(device_recording* r) {
  if (r->graph) cudaGraphExecDestroy(r->graph);
  r->graph = nullptr;
}

#else

static const char* device_fault = "";
/// For tests: the device is lost after this many launches; below 0: never.
static int launches_left = -1;

typedef int device_stream;
static bool device_stream_open(device_stream* stream) { return *stream = 0, true; }
static void device_stream_close(device_stream stream) { (void)stream; }
static bool device_wait(device_stream stream) { return (void)stream, launches_left != 0; }

static void* device_alloc(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }
static void device_release(void* memory) { free(memory); }
static bool device_zero(device_stream stream, void* to, size_t bytes) {
  return (void)stream, memset(to, 0, bytes), true;
}
static bool device_put(device_stream stream, void* to, const void* from, size_t bytes) {
  (void)stream;
  if (bytes > 0) memcpy(to, from, bytes);
  return true;
}
static bool device_get(device_stream stream, void* to, const void* from, size_t bytes) {
  return device_put(stream, to, from, bytes);
}

template <class Kernel>
static bool device_run(device_stream stream, const typename Kernel::args& a, int num_blocks,
                       size_t shared_bytes) {
  (void)stream;
  if (launches_left == 0) {
    device_fault = "lost by a test";
    return false;
  }
  if (launches_left > 0) --launches_left;
  char* shared = (char*)aligned_alloc(64, (shared_bytes + 63) / 64 * 64);
  if (!shared) return false;
  for (int block = 0; block < num_blocks; ++block) Kernel::run(a, block, num_blocks, shared);
  free(shared);
  return true;
}

// Nothing is recorded.
struct device_recording {};
static bool device_records(void) { return false; }
static bool device_is_recorded(const device_recording* r) { return (void)r, false; }
static bool device_record(device_stream stream) { return (void)stream, false; }
static bool device_end_recording(device_stream stream, device_recording* out) {
  return (void)stream, (void)out, false;
}
static bool device_play(device_stream stream, const device_recording* r) {
  return (void)stream, (void)r, false;
}
static void device_recording_free(device_recording* r) { (void)r; }

#endif

static yw_status fail_device(yw_error* error, const char* what) {
  if (error) {
    error->status = YW_ERR_DEVICE;
    snprintf(error->message, sizeof error->message, "device cuda: %s (%s)", what, device_fault);
  }
  return YW_ERR_DEVICE;
}

static uint64_t device_free_bytes(void);

#endif
