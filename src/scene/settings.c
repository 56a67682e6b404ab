// SPDX-License-Identifier: MIT
// Settings of methods as tools see them: listed with their values, and changed while a world runs.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/method.h"

// Listing -----------------------------------------------------------------------------------------

typedef struct list_out {
  yw_text_sink sink;
  void* context;
} list_out;

static void put(const list_out* out, const char* format, ...) YW_PRINTF(2, 3);
static void put(const list_out* out, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  out->sink(out->context, text);
}

static void put_string(const list_out* out, const char* text) {
  put(out, "\"");
  for (; *text; text++) put(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  put(out, "\"");
}

static const char* kind_name(const yw_key_row* row) {
  switch (row->kind) {
    case YW_KEY_NUMBER:
      return "number";
    case YW_KEY_INTEGER:
      return "integer";
    case YW_KEY_BOOL:
      return "boolean";
    case YW_KEY_CHOICE:
      return "choice";
    default:
      return NULL;
  }
}

static void put_value(const list_out* out, const yw_key_row* row, const void* settings) {
  const char* at = (const char*)settings + row->offset;
  float number;
  int32_t integer;
  bool flag;
  switch (row->kind) {
    case YW_KEY_NUMBER:
      memcpy(&number, at, sizeof number);
      put(out, "%.9g", (double)number);
      break;
    case YW_KEY_BOOL:
      memcpy(&flag, at, sizeof flag);
      put(out, flag ? "true" : "false");
      break;
    case YW_KEY_CHOICE:
      memcpy(&integer, at, sizeof integer);
      put_string(out, row->choices[integer]);
      break;
    default:
      memcpy(&integer, at, sizeof integer);
      put(out, "%" PRId32, integer);
  }
}

static void put_row(const list_out* out, const yw_key_row* row, const void* settings,
                    const void* defaults) {
  put(out, "{\"key\":");
  put_string(out, row->name);
  put(out, ",\"kind\":\"%s\",\"value\":", kind_name(row));
  put_value(out, row, settings);
  put(out, ",\"default\":");
  put_value(out, row, defaults);
  if (row->kind == YW_KEY_NUMBER || row->kind == YW_KEY_INTEGER) {
    put(out, ",\"low\":%.15g,\"high\":%.15g,\"above\":%s", row->low, row->high,
        row->open ? "true" : "false");
  }
  put(out, ",\"model\":%s,\"unit\":", row->of_model ? "true" : "false");
  put_string(out, row->unit);
  put(out, ",\"about\":");
  put_string(out, row->about);
  if (row->kind == YW_KEY_CHOICE) {
    put(out, ",\"choices\":[");
    for (int32_t i = 0; row->choices[i]; i++) {
      put(out, "%s", i > 0 ? "," : "");
      put_string(out, row->choices[i]);
    }
    put(out, "]");
  }
  put(out, "}");
}

void yw_scene_write_settings(const yw_scene* scene, int32_t body, yw_text_sink sink,
                             void* context) {
  list_out out = {sink, context};
  int32_t entry = yw_scene_body_entry(scene, body);
  put(&out, "[");
  if (entry >= 0) {
    const yw_body_spec* spec = &scene->bodies.items[entry];
    const yw_model_spec* model = yw_model_of_body(scene, spec);
    const yw_record* record = model->method->record;
    bool any = false;
    for (int32_t i = 0; i < record->num_keys; i++) {
      const yw_key_row* row = &record->keys[i];
      if (!kind_name(row)) continue;
      if (any) put(&out, ",");
      put_row(&out, row, row->of_model ? model->settings : spec->settings, record->defaults);
      any = true;
    }
  }
  put(&out, "]");
}

// Changing ----------------------------------------------------------------------------------------

static yw_status find_row(const yw_record* record, const char* key, yw_error* error) {
  for (int32_t i = 0; i < record->num_keys; i++) {
    const yw_key_row* row = &record->keys[i];
    if (strcmp(row->name, key) != 0) continue;
    if (!row->of_model && kind_name(row)) return YW_OK;
    return yw_fail(error, YW_ERR_INVALID,
                   "%s.%s defines the model: change it in the scene and build the scene again",
                   record->name, key);
  }
  return yw_fail(error, YW_ERR_INVALID, "%s has no setting \"%.60s\"", record->name, key);
}

// Parses {"key": value}; a value that is no JSON is taken as a word.
static yw_status parse_change(const yw_scene* scene, const char* name, const char* key,
                              const char* value, yw_json_doc** out, yw_error* error) {
  char text[300];
  yw_error ignored = {0};
  if (strlen(value) > 100 || strlen(key) > 100) {
    return yw_fail(error, YW_ERR_INVALID, "%s.%.60s: the value is too long", name, key);
  }
  int length = snprintf(text, sizeof text, "{\"%s\": %s}", key, value);
  if (yw_json_parse(&scene->mem, name, text, (size_t)length, out, &ignored) >= 0) return YW_OK;
  length = snprintf(text, sizeof text, "{\"%s\": \"%s\"}", key, value);
  return yw_json_parse(&scene->mem, name, text, (size_t)length, out, error);
}

static yw_status read_change(yw_scene* scene, const yw_body_spec* spec, yw_json_doc* doc,
                             void* settings, yw_error* error) {
  const yw_model_spec* model = yw_model_of_body(scene, spec);
  const yw_scene_method* method = model->method;
  yw_loader loader = {.r = {.mem = &scene->mem, .file = method->name, .doc = doc, .error = error},
                      .scene = scene};
  const yw_json* root = yw_json_root(doc);
  if (!yw_overlay_record(&loader.r, root, method->record, settings)) return error->status;
  if (method->check && !method->check(&loader, root, model, settings)) return error->status;
  return YW_OK;
}

// The bodies of the world that one entry made: its copies, or the group that it began.
static yw_status apply_change(const yw_scene* scene, yw_world* world, const yw_body_spec* spec,
                              const void* settings, yw_error* error) {
  int32_t count = spec->group < 0 ? yw_body_num_copies(spec) : 1;
  for (int32_t i = 0; i < count; i++) {
    yw_body_id id = yw_world_body(world, spec->first_body + i);
    yw_status status = yw_model_of_body(scene, spec)->method->apply(world, id, settings);
    if (status < 0) return yw_fail(error, status, "the body refuses the setting");
  }
  return YW_OK;
}

yw_status yw_scene_set(yw_scene* scene, yw_world* world, int32_t body, const char* key,
                       const char* value, yw_error* error) {
  yw_error own = {0};
  if (!error) error = &own;
  int32_t entry = yw_scene_body_entry(scene, body);
  if (entry < 0 || !world || !key || !value) {
    return yw_fail(error, YW_ERR_INVALID, "yw_scene_set needs a scene, its world, a body and text");
  }
  yw_body_spec* spec = &scene->bodies.items[entry];
  const yw_record* record = yw_model_of_body(scene, spec)->method->record;
  yw_json_doc* doc = NULL;
  yw_status status = find_row(record, key, error);
  if (status >= 0) status = parse_change(scene, record->name, key, value, &doc, error);
  if (status < 0) return status;
  void* changed = yw_mem_alloc(&scene->mem, 1, record->size);
  if (changed) {
    memcpy(changed, spec->settings, record->size);
    status = read_change(scene, spec, doc, changed, error);
    if (status >= 0) status = apply_change(scene, world, spec, changed, error);
    if (status >= 0) memcpy(spec->settings, changed, record->size);
  } else {
    status = yw_fail_memory(error, "a setting");
  }
  yw_mem_free(&scene->mem, changed);
  yw_json_free(doc);
  return status;
}
