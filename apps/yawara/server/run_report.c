// SPDX-License-Identifier: MIT
#include "server/run_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double number_at(const yw_table* log, const char* name, int32_t row) {
  for (int32_t i = 0; i < log->num_columns; ++i) {
    if (strcmp(log->columns[i].name, name) == 0) return log->columns[i].values[row];
  }
  return NAN;
}

// The row of a frame; -1: the log has none.
static int32_t find_row(const yw_table* log, int32_t frame) {
  for (int32_t row = log->num_rows - 1; row >= 0; --row) {
    if (number_at(log, "frame", row) == (double)frame) return row;
  }
  return -1;
}

static void add_numbers(text* t, const yw_table* log, int32_t row) {
  static const char* const names[][2] = {
      {"particles", "particles"},
      {"recovered", "recovered"},
      {"stalled", "stalled"},
      {"diverged", "diverged bodies"},
      {"seconds", "step"},
      {"kinetic", "all kinetic energy"},
      {"elastic", "all elastic energy"},
      {"gravitational", "all gravitational energy"},
  };
  double contacts =
      row < 0 ? NAN
              : number_at(log, "obstacle contacts", row) + number_at(log, "body contacts", row);
  text_add(t, ",\"contacts\":");
  text_add_number(t, contacts);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    text_add(t, ",\"%s\":", names[i][0]);
    text_add_number(t, row < 0 ? NAN : number_at(log, names[i][1], row));
  }
}

static void add_center(text* t, const frame_body* body) {
  double sum[3] = {0.0, 0.0, 0.0}, count = body->num_particles > 0 ? body->num_particles : 1;
  for (int32_t i = 0; i < body->num_particles; ++i) {
    sum[0] += (double)body->positions[i].x;
    sum[1] += (double)body->positions[i].y;
    sum[2] += (double)body->positions[i].z;
  }
  text_add(t, "{\"statistics\":[],\"center\":[");
  for (int k = 0; k < 3; ++k) {
    text_add(t, k > 0 ? "," : "");
    text_add_number(t, sum[k] / count);
  }
  text_add(t, "]}");
}

void run_report_add(text* t, const core* c, const yw_table* log) {
  const run_info* info = &c->run->info;
  text_add(t, "{\"frame\":%d,\"time\":", c->frame);
  text_add_number(t, c->moment.time);
  if (c->frame == info->frames_done) {
    text_add(t, ",\"hash\":\"%016" PRIx64 "\"", info->state_hash);
  } else {
    text_add(t, ",\"hash\":\"\"");
  }
  add_numbers(t, log, find_row(log, c->frame));
  text_add(t, ",\"bodies\":[");
  for (int32_t i = 0; i < c->moment.num_bodies; ++i) {
    text_add(t, i > 0 ? "," : "");
    add_center(t, &c->moment.bodies[i]);
  }
  text_add(t, "]}");
}
