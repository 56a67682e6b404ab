// SPDX-License-Identifier: MIT
// manifest.json of a wedge.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/wedge.h"
#include "playback/json_text.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"

// Version of the format.
#define FORMAT 1

static void path_of(const char* dir, char out[RUN_MAX_PATH]) {
  snprintf(out, RUN_MAX_PATH, "%s/manifest.json", dir);
}

bool wedge_exists(const char* dir) {
  char path[RUN_MAX_PATH];
  path_of(dir, path);
  return strlen(dir) < WEDGE_MAX_PATH && access(path, F_OK) == 0;
}

// Numbers of runs have as many digits as the last one, so that folders sort.
static int digits_of(int32_t num_runs) { return num_runs > 9999 ? 6 : 4; }

void wedge_run_folder(const wedge* w, int32_t run, char out[RUN_MAX_PATH]) {
  snprintf(out, RUN_MAX_PATH, "%s/runs/%0*d", w->dir, digits_of(w->num_runs), run + 1);
}

void wedge_messages_path(const wedge* w, int32_t run, char out[RUN_MAX_PATH]) {
  snprintf(out, RUN_MAX_PATH, "%s/messages/%0*d.txt", w->dir, digits_of(w->num_runs), run + 1);
}

// Writing -----------------------------------------------------------------------------------------

static void write_list(yw_file_writer* writer, const char* key, const option_list* list) {
  yw_file_printf(writer, "  \"%s\": [", key);
  for (int32_t i = 0; i < list->count; ++i) {
    if (i > 0) yw_file_printf(writer, ", ");
    json_write_string(writer, list->items[i]);
  }
  yw_file_printf(writer, "],\n");
}

static void write_def(yw_file_writer* writer, const wedge_def* def) {
  yw_file_printf(writer, "{\n  \"yawara_wedge\": %d,\n  \"scene\": ", FORMAT);
  json_write_string(writer, def->scene);
  yw_file_printf(writer, ",\n  \"files_hash\": \"%016llx\",\n  \"memory_bytes\": %.0f,\n",
                 (unsigned long long)def->files_hash, def->memory_bytes);
  yw_file_printf(writer,
                 "  \"frames\": %d,\n  \"snapshot_every\": %d,\n  \"on_fault\": ", def->frames,
                 def->snapshot_every);
  json_write_string(writer, def->on_fault);
  yw_file_printf(writer, ",\n  \"latin\": %d,\n  \"seed\": %d,\n", def->latin, def->seed);
  write_list(writer, "set", &def->set);
  write_list(writer, "sweep", &def->sweep);
}

yw_status wedge_write(const char* dir, const wedge_def* def, const wedge_sweeps* sweeps,
                      yw_error* error) {
  char path[RUN_MAX_PATH], text[2 * WEDGE_TEXT];
  path_of(dir, path);
  yw_file_writer writer;
  yw_status status = yw_file_writer_open(&writer, path, NULL, error);
  if (status < 0) return status;
  write_def(&writer, def);
  yw_file_printf(&writer, "  \"runs\": [");
  for (int32_t i = 0; i < sweeps->num_runs; ++i) {
    int32_t chosen[WEDGE_MAX_SWEEPS];
    wedge_sweeps_choose(sweeps, i, chosen);
    yw_file_printf(&writer, "%s\n    {\"run\": %d, \"folder\": \"runs/%0*d\", \"set\": [",
                   i > 0 ? "," : "", i + 1, digits_of(sweeps->num_runs), i + 1);
    for (int32_t k = 0; k < sweeps->count; ++k) {
      const wedge_sweep* sweep = &sweeps->items[k];
      snprintf(text, sizeof text, "%s=%s", sweep->path, sweep->values[chosen[k]]);
      if (k > 0) yw_file_printf(&writer, ", ");
      json_write_string(&writer, text);
    }
    yw_file_printf(&writer, "]}");
  }
  yw_file_printf(&writer, "\n  ]\n}\n");
  if (ftello(writer.stream) > (off_t)YW_JSON_MAX_BYTES) {
    yw_file_writer_abort(&writer);
    return yw_fail(error, YW_ERR_LIMIT, "%s would be larger than %zu MB; make fewer runs", path,
                   YW_JSON_MAX_BYTES >> 20);
  }
  return yw_file_writer_commit(&writer, error);
}

// Reading -----------------------------------------------------------------------------------------

static double number_of(const yw_json* root, const char* key, double low, double high, bool* bad) {
  const yw_json* node = yw_json_get(root, key);
  if (node && node->type == YW_JSON_NUMBER && node->number >= low && node->number <= high) {
    return node->number;
  }
  *bad = true;
  return low;
}

static const char* text_of(const yw_json* node, size_t room, bool* bad) {
  if (node && node->type == YW_JSON_STRING && (size_t)node->count < room) return node->string;
  *bad = true;
  return "";
}

static void read_list(const yw_json* node, option_list* out, bool* bad) {
  if (!node || node->type != YW_JSON_ARRAY || node->count > OPTION_LIST_MAX) {
    *bad = true;
    return;
  }
  for (int32_t i = 0; i < node->count; ++i) {
    out->items[out->count++] = text_of(node->items[i], YW_JSON_MAX_BYTES, bad);
  }
}

// Every run has a value for each sweep, in the folder of its number.
static void check_runs(const wedge* w, bool* bad) {
  char expected[32];
  for (int32_t i = 0; i < w->num_runs && !*bad; ++i) {
    const yw_json* run = w->runs->items[i];
    const yw_json* set = yw_json_get(run, "set");
    snprintf(expected, sizeof expected, "runs/%0*d", digits_of(w->num_runs), i + 1);
    const char* folder = text_of(yw_json_get(run, "folder"), sizeof expected, bad);
    if (number_of(run, "run", 1, WEDGE_MAX_RUNS, bad) != i + 1 || strcmp(folder, expected) != 0 ||
        !set || set->type != YW_JSON_ARRAY || set->count != w->def.sweep.count) {
      *bad = true;
      return;
    }
    for (int32_t k = 0; k < set->count; ++k) {
      if (!strchr(text_of(set->items[k], WEDGE_TEXT, bad), '=')) *bad = true;
    }
  }
}

static bool read_tree(const yw_json* root, wedge* w) {
  bool bad = false;
  if (number_of(root, "yawara_wedge", 1, 1e9, &bad) != FORMAT) return false;
  wedge_def* def = &w->def;
  const char* scene = text_of(yw_json_get(root, "scene"), sizeof def->scene, &bad);
  snprintf(def->scene, sizeof def->scene, "%s", scene);
  def->files_hash = strtoull(text_of(yw_json_get(root, "files_hash"), 17, &bad), NULL, 16);
  def->memory_bytes = number_of(root, "memory_bytes", 0, 1e15, &bad);
  def->frames = (int32_t)number_of(root, "frames", -1, 1e7, &bad);
  def->snapshot_every = (int32_t)number_of(root, "snapshot_every", 0, 1e9, &bad);
  def->on_fault = text_of(yw_json_get(root, "on_fault"), 16, &bad);
  def->latin = (int32_t)number_of(root, "latin", 0, WEDGE_MAX_RUNS, &bad);
  def->seed = (int32_t)number_of(root, "seed", 0, INT32_MAX, &bad);
  read_list(yw_json_get(root, "set"), &def->set, &bad);
  read_list(yw_json_get(root, "sweep"), &def->sweep, &bad);
  w->runs = yw_json_get(root, "runs");
  if (bad || scene[0] != '/' || def->set.count + def->sweep.count > OPTION_LIST_MAX || !w->runs ||
      w->runs->type != YW_JSON_ARRAY || w->runs->count < 1 || w->runs->count > WEDGE_MAX_RUNS) {
    return false;
  }
  w->num_runs = w->runs->count;
  check_runs(w, &bad);
  return !bad;
}

yw_status wedge_open(const char* dir, wedge* out, yw_error* error) {
  *out = (wedge){0};
  char path[RUN_MAX_PATH];
  char* real = strlen(dir) < WEDGE_MAX_PATH ? realpath(dir, NULL) : NULL;
  bool fits = real && strlen(real) < sizeof out->dir;
  snprintf(out->dir, sizeof out->dir, "%s", fits ? real : "");
  free(real);
  if (!fits) {
    return yw_fail(error, YW_ERR_IO, "%s is not a folder, or has too long a path",
                   yw_file_short_name(dir));
  }
  path_of(out->dir, path);
  yw_file_data data = {0};
  yw_status status = yw_file_read_all(path, YW_JSON_MAX_BYTES, NULL, &data, error);
  if (status >= 0) status = yw_json_parse(NULL, path, data.bytes, data.size, &out->doc, error);
  yw_file_data_free(&data);
  if (status >= 0 && !read_tree(yw_json_root(out->doc), out)) {
    status = yw_fail(error, YW_ERR_FORMAT,
                     "%s: is not the manifest of a wedge, or is damaged: a value is missing or out "
                     "of range",
                     path);
  }
  return status;
}

void wedge_close(wedge* w) {
  yw_json_free(w->doc);
  *w = (wedge){0};
}

static bool same_list(const option_list* a, const option_list* b) {
  bool same = a->count == b->count;
  for (int32_t i = 0; same && i < a->count; ++i) same = strcmp(a->items[i], b->items[i]) == 0;
  return same;
}

const char* wedge_difference(const wedge* w, const wedge_def* def) {
  const wedge_def* own = &w->def;
  if (strcmp(own->scene, def->scene) != 0) return "another scene";
  if (!same_list(&own->sweep, &def->sweep) || own->latin != def->latin || own->seed != def->seed) {
    return "other sweeps";
  }
  if (!same_list(&own->set, &def->set)) return "other --set values";
  if (own->frames != def->frames) return "another number of frames";
  bool same =
      own->snapshot_every == def->snapshot_every && strcmp(own->on_fault, def->on_fault) == 0;
  return same ? NULL : "another --on-fault or --snapshot-every";
}

int32_t wedge_overrides(const wedge* w, int32_t run, const char* out[OPTION_LIST_MAX]) {
  int32_t count = 0;
  const yw_json* set = yw_json_get(w->runs->items[run], "set");
  for (int32_t i = 0; i < w->def.set.count; ++i) out[count++] = w->def.set.items[i];
  for (int32_t i = 0; i < set->count; ++i) out[count++] = set->items[i]->string;
  return count;
}
