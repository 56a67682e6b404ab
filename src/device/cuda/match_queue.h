// SPDX-License-Identifier: MIT
// Steps of a match body that wait until there are several: a launch takes longer on the host than a
// small kernel on the device. Where steps repeat, but for the two buffers of positions, they are
// recorded once and then launched together. Who copies something to or from the device plays what
// waits before it.
#ifndef YW_DEVICE_CUDA_MATCH_QUEUE_H
#define YW_DEVICE_CUDA_MATCH_QUEUE_H

#include "device/cuda/match_launch.h"

enum {
  LONG_RUN = 8,  // steps that are launched together, or
  SHORT_RUN = 2,
  STEADY = 16,  // steps that have to repeat before they are recorded
};

struct match_queue {
  match_args steps[2];                // the last ones, from either buffer of positions
  int next;                           // buffer of the next step
  int32_t waiting;                    // steps before it
  int32_t repeated;                   // steps that were like those before them
  device_recording recordings[2][2];  // by buffer of the first step; long ones, short ones
};

static void queue_forget(match_queue* q) {
  for (int i = 0; i < 4; ++i) device_recording_free(&q->recordings[i / 2][i % 2]);
  q->repeated = 0;
}

static bool run_steps(device_stream stream, const match_queue* q, int first, int32_t count) {
  bool ok = true;
  for (int32_t i = 0; i < count && ok; ++i) ok = run_step(stream, q->steps[(first + i) % 2]);
  return ok;
}

static bool play_run(device_stream stream, match_queue* q, int first, bool is_long) {
  int32_t count = is_long ? LONG_RUN : SHORT_RUN;
  device_recording* recording = &q->recordings[first][is_long ? 0 : 1];
  if (!device_records() || q->repeated < STEADY) return run_steps(stream, q, first, count);
  if (!device_is_recorded(recording)) {
    bool ok = device_record(stream) && run_steps(stream, q, first, count);
    if (!device_end_recording(stream, recording) || !ok) return false;
  }
  return device_play(stream, recording);
}

/// Launches all steps that wait.
static bool queue_play(device_stream stream, match_queue* q) {
  bool ok = true;
  while (q->waiting > 0 && ok) {
    int first = (q->next + q->waiting) % 2;
    int32_t count = q->waiting >= LONG_RUN ? LONG_RUN : q->waiting >= SHORT_RUN ? SHORT_RUN : 1;
    ok =
        count == 1 ? run_steps(stream, q, first, 1) : play_run(stream, q, first, count == LONG_RUN);
    q->waiting -= count;
  }
  return ok;
}

/// The next step, from the other buffer than the last one.
static bool queue_step(device_stream stream, match_queue* q, const match_args& args) {
  match_args* known = &q->steps[q->next];
  bool ok = true;
  if (memcmp((const void*)known, (const void*)&args, sizeof args) == 0) {
    ++q->waiting;
    if (q->repeated < STEADY) ++q->repeated;
  } else {
    ok = queue_play(stream, q) && run_step(stream, args);
    queue_forget(q);
    memcpy((void*)known, (const void*)&args, sizeof args);
  }
  q->next = 1 - q->next;
  return ok && (q->waiting < LONG_RUN || queue_play(stream, q));
}

#endif
