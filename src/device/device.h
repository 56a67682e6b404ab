// SPDX-License-Identifier: MIT
// Devices that bodies can live on. A device is a shared library of its own (libyawara_cuda.so, from
// src/device/cuda), opened at run time: the library needs nothing of it to build, to link or to
// run. A method asks a device for its table of functions by name; what is in that table is between
// the two of them.
#ifndef YW_DEVICE_DEVICE_H
#define YW_DEVICE_DEVICE_H

#include "yawara/extend/method.h"
#include "yawara/world.h"

/// Changes with every table below or of a method: both sides must be of one build.
#define YW_DEVICE_INTERFACE 5

typedef struct yw_device_info {
  char name[128];
  uint64_t memory, free_memory;  ///< bytes
  int32_t driver, needed;        ///< versions of CUDA: of the driver, of the library
} yw_device_info;

struct yw_device {
  int32_t interface;
  /// YW_ERR_DEVICE, with a message that says what is missing, when the device cannot be used.
  yw_status (*open)(yw_device_info* out, yw_error* error);
  /// The functions of a method; NULL: its bodies stay on the processor.
  const void* (*method)(const char* name);
  /// Bytes per second that a large copy within the device reads and writes, for benchmarks.
  double (*copy_rate)(void);
};

/// What a device's library exports under the name "yw_device_table".
typedef const yw_device* (*yw_device_table_fn)(void);

/// The device of this kind, opened once per process; NULL with YW_OK for the processor. On failure
/// the message says what to install.
yw_status yw_device_find(yw_device_kind kind, const yw_device** out, yw_error* error);
/// Uses this device as the one of a kind, for tests; NULL: looks for it again.
void yw_device_use(yw_device_kind kind, const yw_device* device);

#endif
