// SPDX-License-Identifier: MIT
// "groups" of methods with examples: which parts choose their example together.
#include <string.h>

#include "scene/loader.h"
#include "scene/records.h"

// Paint of at least this much of its range selects a vertex.
#define MOSTLY 0.5f

typedef struct selector_keys {
  const yw_json *shape, *painted;
  int32_t label;
} selector_keys;
static const selector_keys selector_defaults = {.label = 0};
static const yw_key_row selector_rows[] = {
    YW_NODE(selector_keys, shape, "any_shape", "Shape, in rest-pose coordinates."),
    YW_NODE(selector_keys, painted, "painted",
            "Or a painted surface: selects vertices where the paint is nearer to the second number "
            "of its range than to the first."),
    YW_KEY(selector_keys, label, INTEGER, -1e9, 1e9, "",
           "Group of the vertices. If not given: 1 for the first selector, 2 for the second, ...")};
const yw_record yw_record_selector =
    YW_RECORD("selector", selector_rows, selector_defaults,
              "The vertices inside a shape, or under paint.", "one shape painted");
// Reading -----------------------------------------------------------------------------------------

static bool load_selector(yw_loader* l, const yw_json* node, int32_t number, yw_groups_spec* out) {
  selector_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_selector, &k) ||
      !yw_not_both(&l->r, node, "shape", "painted")) {
    return false;
  }
  bool done =
      k.painted ? yw_load_painted(l, node, &out->paints[number])
                : yw_needs(&l->r, node, "shape") && yw_load_shape(l, k.shape, &out->shapes[number]);
  if (!done) return false;
  out->labels[number] = yw_json_get(node, "label") ? k.label : number + 1;
  return true;
}

static bool load_labels(yw_loader* l, const yw_json* node, yw_groups_spec* out) {
  int32_t count = node->count;
  if (count == 0) return yw_value_fail(&l->r, node, "is empty, but must have labels or shapes");
  bool shapes = node->items[0]->type == YW_JSON_OBJECT;
  out->grouping = YW_GROUPS_LABELS;
  out->node = node;
  out->num_labels = count;
  out->labels = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->labels);
  if (!out->labels) return yw_memory_fail(&l->r);
  if (shapes) {
    out->shapes = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->shapes);
    out->paints = yw_json_alloc(l->r.doc, (size_t)count * sizeof *out->paints);
    if (!out->shapes || !out->paints) return yw_memory_fail(&l->r);
    memset(out->shapes, 0, (size_t)count * sizeof *out->shapes);
    memset(out->paints, 0, (size_t)count * sizeof *out->paints);
  }
  for (int32_t i = 0; i < count; i++) {
    const yw_json* item = node->items[i];
    bool done = shapes ? load_selector(l, item, i, out)
                       : yw_read_integer(&l->r, item, -1e9, 1e9, &out->labels[i]);
    if (!done) return false;
  }
  return true;
}

bool yw_load_groups(yw_loader* l, const yw_json* node, yw_groups_spec* out) {
  static const char* const words[] = {"global", "per_region"};
  out->grouping = YW_GROUPS_GLOBAL;
  if (!node) return true;
  if (node->type == YW_JSON_ARRAY) return load_labels(l, node, out);
  if (node->type == YW_JSON_OBJECT) {
    out->grouping = YW_GROUPS_LABELS;
    return yw_load_vertex_paint(l, node, &out->painted);
  }
  if (node->type != YW_JSON_STRING) {
    return yw_type_fail(&l->r, node,
                        "\"global\", \"per_region\", a list of labels, a list of "
                        "{\"shape\": ..., \"label\": ...}, or {\"painted\": ...}");
  }
  if (strcmp(node->string, "global") == 0) return true;
  out->grouping = YW_GROUPS_PER_REGION;
  if (strcmp(node->string, "per_region") == 0) return true;
  yw_hint hint = yw_suggest(node->string, 2, words);
  return yw_value_fail(&l->r, node, "is \"%.60s\", but must be \"global\" or \"per_region\"%s",
                       node->string, hint.text);
}

// Building ----------------------------------------------------------------------------------------

static bool selects(const yw_groups_spec* s, int32_t k, yw_vec3 p) {
  return s->shapes[k] ? yw_shape_distance(s->shapes[k], p) <= 0
                      : yw_painted_share(&s->paints[k], p) >= MOSTLY;
}

// Labels per vertex: given, or those of the first shape that contains it (0 outside all).
static bool find_labels(yw_loader* l, const yw_groups_spec* s, const yw_vec3* points, int32_t count,
                        int32_t* out) {
  if (s->painted) {
    unsigned char* bytes = NULL;
    if (!yw_read_vertex_paint(l, s->painted, count, &bytes)) return false;
    for (int32_t i = 0; i < count; i++) out[i] = bytes[i];
    yw_mem_free(&l->scene->mem, bytes);
    return true;
  }
  if (!s->shapes) {
    if (s->num_labels != count) {
      return yw_value_fail(&l->r, s->node, "has %d labels, but the mesh has %d vertices",
                           (int)s->num_labels, (int)count);
    }
    memcpy(out, s->labels, (size_t)count * sizeof *out);
    return true;
  }
  for (int32_t k = 0; k < s->num_labels; k++) {
    bool any = false;
    for (int32_t i = 0; i < count && !any; i++) {
      any = selects(s, k, points[i]);
    }
    if (!any) {
      return yw_value_fail(&l->r, s->node->items[k], "selects none of the %d vertices", (int)count);
    }
  }
  for (int32_t i = 0; i < count; i++) {
    out[i] = 0;
    for (int32_t k = s->num_labels - 1; k >= 0; k--) {
      if (selects(s, k, points[i])) out[i] = s->labels[k];
    }
  }
  return true;
}

bool yw_build_labels(yw_loader* l, const yw_groups_spec* s, const yw_tet_mesh* tets,
                     const yw_vec3* points, int32_t count, int32_t** out) {
  if (s->grouping != YW_GROUPS_LABELS) return true;
  *out = YW_NEW_ARRAY(&l->scene->mem, int32_t, count);
  if (!*out) return yw_memory_fail(&l->r);
  int32_t paints = s->paints ? s->num_labels : 0;
  bool done =
      yw_open_stiffness(l, tets, paints, s->paints) && find_labels(l, s, points, count, *out);
  yw_close_stiffness(paints, s->paints);
  return done;
}
