// SPDX-License-Identifier: MIT
#include "playback/run_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yawara/extend/file.h"
#include "yawara/extend/text_number.h"

#define NAME_ROOM 48
#define MAX_PATH (RUN_MAX_PATH + 16)
// Of numbers: more than any measurement has, and quick to write.
#define DIGITS 12

// Cells -------------------------------------------------------------------------------------------

static void put(run_log* log, const char* text) {
  growing_file_put(&log->file, text, strlen(text));
}

// Preceded by a comma: the first cell of a row is written elsewhere.
static void put_number(run_log* log, double value) {
  char text[1 + YW_NUMBER_TEXT] = ",";
  size_t length = isfinite(value) ? yw_format_digits(value, DIGITS, text + 1) : 0;
  growing_file_put(&log->file, text, 1 + length);
}

static void put_vector(run_log* log, const double value[3]) {
  for (int k = 0; k < 3; ++k) put_number(log, value[k]);
}

// Writes a name from the scene as part of a cell: doubles quotes, replaces line ends by spaces.
static void put_quoted(run_log* log, const char* text) {
  for (const char* s = text; *s; ++s) {
    char one[3] = {*s == '\n' || *s == '\r' ? ' ' : *s, *s == '"' ? '"' : 0, 0};
    put(log, one);
  }
}

// "owner name (unit)"
static void put_title(run_log* log, const char* owner, const char* name, const char* unit) {
  put(log, ",\"");
  put_quoted(log, owner);
  if (owner[0]) put(log, " ");
  put_quoted(log, name);
  if (unit[0]) {
    put(log, " (");
    put_quoted(log, unit);
    put(log, ")");
  }
  put(log, "\"");
}

static void put_titles3(run_log* log, const char* owner, const char* name, const char* unit) {
  static const char axes[3] = {'x', 'y', 'z'};
  for (int k = 0; k < 3; ++k) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s%c", name, name[0] ? " " : "", axes[k]);
    put_title(log, owner, whole, unit);
  }
}

// The header --------------------------------------------------------------------------------------

typedef struct column_name {
  const char *name, *unit;
} column_name;

static const column_name step_columns[] = {
    {"step", "s"},     {"advance", "s"}, {"contact", "s"},        {"settle", "s"},
    {"particles", ""}, {"sleeping", ""}, {"body contacts", ""},   {"obstacle contacts", ""},
    {"recovered", ""}, {"stalled", ""},  {"diverged bodies", ""},
};
enum { NUM_STEP_COLUMNS = sizeof step_columns / sizeof step_columns[0] };

static void put_sum_titles(run_log* log, const char* owner) {
  put_title(log, owner, "mass", "kg");
  put_titles3(log, owner, "momentum", "kg m/s");
  put_title(log, owner, "kinetic energy", "J");
  put_title(log, owner, "elastic energy", "J");
  put_title(log, owner, "gravitational energy", "J");
  put_titles3(log, owner, "pin force", "N");
  put_titles3(log, owner, "obstacle force", "N");
}

static void put_body_titles(run_log* log, const yw_world* world, yw_body_id id, const char* owner) {
  put_sum_titles(log, owner);
  put_titles3(log, owner, "support force", "N");
  put_titles3(log, owner, "contact force", "N");
  put_titles3(log, owner, "", "m");
  put_titles3(log, owner, "angular momentum", "kg m^2/s");
  yw_statistics statistics;
  yw_body_statistics_of(world, id, &statistics);
  for (int32_t i = 0; i < statistics.count; ++i) {
    put_title(log, owner, statistics.items[i].name, statistics.items[i].unit);
  }
}

// The name of a body, with its index if another body has the same name.
static void unique_name(const yw_world* world, int32_t body, char out[NAME_ROOM]) {
  const char* name = yw_body_name(world, yw_world_body(world, body));
  bool shared = false;
  for (int32_t i = 0; i < yw_world_num_bodies(world) && !shared; ++i) {
    shared = i != body && strcmp(name, yw_body_name(world, yw_world_body(world, i))) == 0;
  }
  if (shared) {
    snprintf(out, NAME_ROOM, "%.*s %d", NAME_ROOM - 16, name, (int)body);
  } else {
    snprintf(out, NAME_ROOM, "%.*s", NAME_ROOM - 1, name);
  }
}

static void put_header(run_log* log, const yw_world* world) {
  put(log, "frame,time (s)");
  for (int i = 0; i < NUM_STEP_COLUMNS; ++i) {
    put_title(log, "", step_columns[i].name, step_columns[i].unit);
  }
  put_sum_titles(log, "all");
  for (int32_t i = 0; i < log->num_bodies; ++i) {
    char name[NAME_ROOM];
    unique_name(world, i, name);
    put_body_titles(log, world, yw_world_body(world, i), name);
  }
  put(log, "\n");
}

// Rows --------------------------------------------------------------------------------------------

typedef struct body_numbers {
  yw_body_sums sums;
  yw_body_energy energy;
  yw_body_forces forces;
} body_numbers;

static void measure(const yw_world* world, yw_body_id id, body_numbers* out) {
  yw_body_sums_and_energy_of(world, id, &out->sums, &out->energy);
  if (yw_body_forces_of(world, id, &out->forces) >= 0) return;
  double* values[4] = {out->forces.support, out->forces.pins, out->forces.obstacles,
                       out->forces.contact};
  for (int k = 0; k < 12; ++k) values[k / 3][k % 3] = NAN;
}

// In the order of put_sum_titles.
enum { NUM_SUMS = 13 };

static void list_sums(const body_numbers* n, double out[NUM_SUMS]) {
  const double *m = n->sums.momentum, *pins = n->forces.pins, *o = n->forces.obstacles;
  const yw_body_energy* e = &n->energy;
  const double listed[NUM_SUMS] = {
      n->sums.mass, m[0],    m[1],    m[2], e->kinetic, e->elastic, e->gravitational,
      pins[0],      pins[1], pins[2], o[0], o[1],       o[2]};
  memcpy(out, listed, sizeof listed);
}

// What was written last: with one body it comes twice.
typedef struct sums_text {
  double values[NUM_SUMS];
  size_t begin, end;  // in what is held; the same: nothing yet
} sums_text;

static void put_sums(run_log* log, const body_numbers* n, sums_text* last) {
  double values[NUM_SUMS];
  growing_file* file = &log->file;
  list_sums(n, values);
  size_t length = last->end - last->begin;
  bool again = length > 0 && memcmp(values, last->values, sizeof values) == 0;
  unsigned char* room = again ? growing_file_room(file, length) : NULL;
  if (room) {
    memcpy(room, file->held + last->begin, length);
    file->used += length;
    return;
  }
  last->begin = file->used;
  for (int k = 0; k < NUM_SUMS; ++k) put_number(log, values[k]);
  last->end = file->used;
  memcpy(last->values, values, sizeof values);
}

static void put_body(run_log* log, const yw_world* world, yw_body_id id, const body_numbers* n,
                     sums_text* last) {
  put_sums(log, n, last);
  put_vector(log, n->forces.support);
  put_vector(log, n->forces.contact);
  put_vector(log, n->sums.center);
  put_vector(log, n->sums.angular_momentum);
  yw_statistics statistics;
  yw_body_statistics_of(world, id, &statistics);
  for (int32_t i = 0; i < statistics.count; ++i) put_number(log, statistics.items[i].value);
}

// A sum is unknown (NAN) if any of its parts is.
static void add_body(body_numbers* all, const body_numbers* n) {
  all->sums.mass += n->sums.mass;
  all->energy.kinetic += n->energy.kinetic;
  all->energy.elastic += n->energy.elastic;
  all->energy.gravitational += n->energy.gravitational;
  for (int k = 0; k < 3; ++k) {
    all->sums.momentum[k] += n->sums.momentum[k];
    all->forces.pins[k] += n->forces.pins[k];
    all->forces.obstacles[k] += n->forces.obstacles[k];
  }
}

static void put_step(run_log* log, const yw_step_report* r) {
  if (!r) {
    for (int i = 0; i < NUM_STEP_COLUMNS; ++i) put_number(log, NAN);
    return;
  }
  const double values[NUM_STEP_COLUMNS] = {
      r->seconds_total,     r->seconds_advance,    r->seconds_contact, r->seconds_settle,
      r->num_particles,     r->sleeping_particles, r->body_contacts,   r->obstacle_contacts,
      r->recovered_regions, r->stalled_solves,     r->diverged_bodies};
  for (int i = 0; i < NUM_STEP_COLUMNS; ++i) put_number(log, values[i]);
}

void run_log_append(run_log* log, int32_t frame, const yw_world* world,
                    const yw_step_report* report) {
  char text[YW_NUMBER_TEXT];
  growing_file_put(&log->file, text, yw_format_digits(frame, DIGITS, text));
  put_number(log, yw_world_time(world));
  put_step(log, report);
  int32_t count = yw_world_num_bodies(world);
  body_numbers all = {0}, one;
  for (int32_t i = 0; i < count; ++i) {
    measure(world, yw_world_body(world, i), &one);
    add_body(&all, &one);
  }
  sums_text last = {.end = 0};
  put_sums(log, &all, &last);
  for (int32_t i = 0; i < log->num_bodies; ++i) {
    yw_body_id id = yw_world_body(world, i);
    // A single body has just been measured.
    if (count > 1) measure(world, id, &one);
    put_body(log, world, id, &one, &last);
  }
  put(log, "\n");
}

yw_status run_log_flush(run_log* log, yw_error* error) {
  return growing_file_flush(&log->file, error);
}

// The file ----------------------------------------------------------------------------------------

static yw_status open_log(const char* path, size_t kept, yw_world* world, run_log* out,
                          yw_error* error) {
  *out = (run_log){0};
  int32_t count = yw_world_num_bodies(world);
  out->num_bodies = count < RUN_LOG_MAX_BODIES ? count : RUN_LOG_MAX_BODIES;
  yw_world_measure_forces(world, true);
  return growing_file_open(path, kept, &out->file, error);
}

yw_status run_log_start(const char* dir, yw_world* world, run_log* out, yw_error* error) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/log.csv", dir);
  yw_status status = open_log(path, 0, world, out, error);
  if (status >= 0) put_header(out, world);
  return status;
}

// Bytes of the header and of the rows up to `frame`; 0 if there is no header.
static size_t kept_bytes(const char* text, size_t size, int32_t frame) {
  size_t kept = 0;
  for (bool header = true; kept < size; header = false) {
    const char* end = memchr(text + kept, '\n', size - kept);
    if (!end || (!header && strtol(text + kept, NULL, 10) > frame)) break;
    kept = (size_t)(end - text) + 1;
  }
  return kept;
}

yw_status run_log_resume(const char* dir, int32_t frame, yw_world* world, run_log* out,
                         yw_error* error) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/log.csv", dir);
  yw_file_data old = {0};
  size_t kept = 0;
  if (yw_file_read_all(path, 0, NULL, &old, NULL) >= 0) {
    kept = kept_bytes(old.bytes, old.size, frame);
  }
  yw_file_data_free(&old);
  if (kept == 0) return run_log_start(dir, world, out, error);
  return open_log(path, kept, world, out, error);
}

void run_log_close(run_log* log) { growing_file_close(&log->file); }
