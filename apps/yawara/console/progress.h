// SPDX-License-Identifier: MIT
// Progress of long work: one line, rewritten, on a terminal; occasional plain lines in a log.
#ifndef YW_APP_CONSOLE_PROGRESS_H
#define YW_APP_CONSOLE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char* what;  ///< "frame", "picture" ...
  int32_t first, total;
  bool quiet, terminal;
  double started, last_shown;
  int32_t last_width;
} progress;

/// Work goes from item `first` (already done) to item `total`.
progress progress_start(const char* what, int32_t first, int32_t total, bool quiet);
/// `done` items are finished; detail (may be NULL) follows the count.
void progress_show(progress* p, int32_t done, const char* detail);
/// Ends the line.
void progress_end(progress* p);
double progress_seconds(const progress* p);
/// "12 s", "3 min 20 s", "2 h 5 min"
void format_duration(double seconds, char* out, int32_t capacity);

#endif
