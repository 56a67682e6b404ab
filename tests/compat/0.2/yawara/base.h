// SPDX-License-Identifier: MIT
// Status codes, errors, allocation and the small value types used by every other header.
//
// Versions are 0.MINOR.PATCH. Within one minor version, public structs, enums and functions do not
// change: a program built with 0.2.0 runs with every 0.2.x, and the soname is libyawara.so.0.2. A
// new minor version may append members to structs and change functions. A program that starts every
// definition from its yw_default_..._def() and sets members by name gets the defaults of the new
// members when it is recompiled. Headers in yawara/extend/ are experimental and may change at any
// time. Snapshots can only be read by the minor version that wrote them.
#ifndef YAWARA_BASE_H
#define YAWARA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define YW_API __declspec(dllexport)
#else
#define YW_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define YW_VERSION_MAJOR 0
#define YW_VERSION_MINOR 2
#define YW_VERSION_PATCH 0

/// Version of the linked library, "major.minor.patch".
YW_API const char* yw_version(void);

/// 0: success. Negative: error, nothing was changed. Positive: success with a warning.
typedef enum yw_status {
  YW_OK = 0,
  YW_ERR_INVALID = -1,    ///< caller's mistake, e.g. an argument out of range or a stale id
  YW_ERR_MEMORY = -2,     ///< the allocator returned NULL, or a size overflowed
  YW_ERR_IO = -3,         ///< a file cannot be opened, read, written or renamed
  YW_ERR_FORMAT = -4,     ///< the contents of a file do not match its format
  YW_ERR_GEOMETRY = -5,   ///< a mesh or shape cannot be simulated (inverted, empty, NaN ...)
  YW_ERR_LIMIT = -6,      ///< a documented limit was exceeded, e.g. on particles or memory
  YW_ERR_DIVERGED = -7,   ///< a solve failed, or a body's state is no longer finite
  YW_ERR_DEVICE = -8,     ///< a device is missing, has too little memory or stopped answering
  YW_WARN_NUMERICS = 1,   ///< numerical trouble in a step; see yw_step_report
  YW_WARN_REDUNDANT = 2,  ///< an input has no effect, e.g. an example equal to the rest pose
  YW_WARN_CACHE = 3       ///< a cache file was damaged or not writable; its data was recomputed
} yw_status;

/// What went wrong, as a message for the user: place, value found, value expected, remedy.
typedef struct yw_error {
  yw_status status;
  char message[1000];
} yw_error;

/// Memory allocator. Zero-initialised means malloc and free. Workers allocate too, so both
/// functions must be thread-safe.
typedef struct yw_allocator {
  /// Returns size bytes aligned to align (a power of two, at most 64), or NULL.
  void* (*alloc)(void* context, size_t size, size_t align);
  void (*release)(void* context, void* pointer);
  void* context;
} yw_allocator;

#define YW_MAX_WORKERS 256

/// The caller's own workers, e.g. a game's job system. Zero-initialised: none. Results do not
/// depend on which thread runs a task, on the order, or on how many run at the same time.
typedef struct yw_jobs {
  /// Calls task(task_context, i) once for every 0 <= i < num_tasks, on any thread, in any order,
  /// concurrently or not, and returns when all calls have returned. Tasks never wait for each other
  /// and never call run. num_tasks is at most `workers`.
  void (*run)(void* context, int32_t num_tasks, void (*task)(void* task_context, int32_t index),
              void* task_context);
  void* context;    ///< passed to run; must outlive the world
  int32_t workers;  ///< tasks that can run at the same time, 1 to YW_MAX_WORKERS
} yw_jobs;

typedef struct yw_vec3 {
  float x, y, z;
} yw_vec3;

/// Rotation; w is the real part. {0, 0, 0, 1} is the identity.
typedef struct yw_quat {
  float x, y, z, w;
} yw_quat;

/// p -> rotation * (scale * p) + position. Scale is uniform and > 0.
typedef struct yw_transform {
  yw_vec3 position;
  yw_quat rotation;
  float scale;
} yw_transform;

#ifdef __cplusplus
#define YW_TRANSFORM_IDENTITY (yw_transform{{0, 0, 0}, {0, 0, 0, 1}, 1})
#else
#define YW_TRANSFORM_IDENTITY ((yw_transform){{0, 0, 0}, {0, 0, 0, 1}, 1})
#endif

/// Axis-aligned box. Empty when lower > upper.
typedef struct yw_aabb {
  yw_vec3 lower, upper;
} yw_aabb;

/// Instruction set of the inner loops. Results are bitwise identical at all levels.
typedef enum yw_simd {
  YW_SIMD_AUTO = 0,  ///< the best this machine has
  YW_SIMD_PLAIN,     ///< the compiler's baseline (SSE2 on x86-64)
  YW_SIMD_AVX2,
  YW_SIMD_AVX512
} yw_simd;

/// The level used for a request on this machine: never AUTO, never above what it supports.
YW_API yw_simd yw_simd_resolve(yw_simd wanted);
YW_API const char* yw_simd_name(yw_simd level);

#ifdef __cplusplus
}
#endif
#endif
