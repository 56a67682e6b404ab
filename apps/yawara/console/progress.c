// SPDX-License-Identifier: MIT
#include "console/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "yawara/extend/timer.h"

// s between two updates.
#define TERMINAL_INTERVAL 0.1
#define LOG_INTERVAL 5.0

progress progress_start(const char* what, int32_t first, int32_t total, bool quiet) {
  double now = yw_seconds();
  return (progress){.what = what,
                    .first = first,
                    .total = total,
                    .quiet = quiet,
                    .terminal = isatty(STDERR_FILENO) == 1,
                    .started = now,
                    .last_shown = now};
}

double progress_seconds(const progress* p) { return yw_seconds() - p->started; }

void format_duration(double seconds, char* out, int32_t capacity) {
  size_t room = (size_t)capacity;
  if (seconds < 60) {
    snprintf(out, room, "%.*f s", seconds < 10 ? 1 : 0, seconds);
  } else if (seconds < 3600) {
    snprintf(out, room, "%d min %d s", (int)seconds / 60, (int)seconds % 60);
  } else {
    snprintf(out, room, "%d h %d min", (int)(seconds / 3600), (int)(seconds / 60) % 60);
  }
}

void progress_show(progress* p, int32_t done, const char* detail) {
  double now = yw_seconds();
  double interval = p->terminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
  if (p->quiet || (now - p->last_shown < interval && done < p->total)) return;
  p->last_shown = now;

  char left[32] = "";
  int32_t made = done - p->first;
  if (made > 0 && done < p->total) {
    format_duration((now - p->started) / made * (p->total - done), left, sizeof left);
  }
  char line[256];
  int width = snprintf(line, sizeof line, "%s %d/%d%s%s%s%s", p->what, done, p->total,
                       detail ? "  " : "", detail ? detail : "", left[0] ? "  left: " : "", left);
  if (width >= (int)sizeof line) width = (int)sizeof line - 1;
  if (p->terminal) {
    int32_t blank = p->last_width > width ? p->last_width - width : 0;
    fprintf(stderr, "\r%s%*s", line, blank, "");
    p->last_width = width;
  } else {
    fprintf(stderr, "%s\n", line);
  }
  fflush(stderr);
}

void progress_end(progress* p) {
  if (!p->quiet && p->terminal && p->last_width > 0) fputc('\n', stderr);
}
