// SPDX-License-Identifier: MIT
#include "scene/tet_sizes.h"

#include <math.h>

#include "scene/method.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

// Tables ------------------------------------------------------------------------------------------

static const yw_tet_size_spec size_defaults = {.growth = 0.5f};
enum { SIZE_ROW };
static const yw_key_row size_rows[] = {
    [SIZE_ROW] = {.name = "size",
                  .kind = YW_KEY_NODE,
                  .offset = offsetof(yw_tet_size_spec, size_node),
                  .low = 0,
                  .high = YW_SCENE_REACH,
                  .open = true,
                  .unit = "m",
                  .what = "layer_value",
                  .about = "Edge length of the tets: one number; two, for \"from\" and \"to\" or "
                           "the \"range\" of a file; or \"file\", for the number in the file."},
    YW_NODE_AS("points", yw_tet_size_spec, points_node, "[sized_point]",
               "Places, each with the edge length there."),
    YW_KEY(yw_tet_size_spec, growth, NUMBER, 0, 1e3, "",
           "How much larger tets may be for each metre away from a point of \"points\", m."),
    YW_NODE_AS("shape", yw_tet_size_spec, layer.shape, "any_shape",
               "Region of the layer, in rest-pose coordinates. Default: everywhere."),
    YW_KEY_AS("blend", yw_tet_size_spec, layer.blend, NUMBER, 0, YW_SCENE_REACH, "m",
              "Width of the border, across which tets become larger."),
    YW_KEY_AS("from", yw_tet_size_spec, layer.from, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
              "Point up to which the first of two sizes applies."),
    YW_KEY_AS("to", yw_tet_size_spec, layer.to, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
              "Point from which the second size applies."),
    YW_KEY_AS("smooth", yw_tet_size_spec, layer.smooth, BOOL, 0, 0, "",
              "Whether the transition has no kink at \"from\" and \"to\"."),
    YW_NODE_AS("grid", yw_tet_size_spec, layer.grid, "grid",
               "Grid of numbers that the size follows."),
    YW_NODE_AS("painted", yw_tet_size_spec, layer.painted, "painted",
               "Painted surface that the size follows; a file.")};
const yw_record yw_record_tet_size =
    YW_RECORD("tet_size", size_rows, size_defaults,
              "Where tets are smaller: in a shape or everywhere, between two points, with a grid, "
              "with paint, or around points. Where several apply, the smallest size counts.",
              "one size points");

static const yw_sized_point point_defaults = {.size = 0};
static const yw_key_row point_rows[] = {
    YW_KEY(yw_sized_point, at, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Place, in rest-pose coordinates."),
    YW_KEY_ABOVE(yw_sized_point, size, NUMBER, 0, YW_SCENE_REACH, "m", "Edge length of the tets.")};
const yw_record yw_record_sized_point = YW_RECORD("sized_point", point_rows, point_defaults,
                                                  "A place with small tets.", "needs at size");

// Reading -----------------------------------------------------------------------------------------

static bool load_points(yw_loader* l, yw_tet_size_spec* out) {
  const yw_json* node = out->points_node;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  out->num_points = node->count;
  out->points = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *out->points);
  if (!out->points) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    const yw_json* item = node->items[i];
    if (!yw_read_record(&l->r, item, &yw_record_sized_point, &out->points[i]) ||
        !yw_needs(&l->r, item, "at") || !yw_needs(&l->r, item, "size")) {
      return false;
    }
  }
  return true;
}

static bool load_size(yw_loader* l, const yw_json* node, yw_tet_size_spec* out) {
  static const char* const either[] = {"size", "points"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_tet_size, out) ||
      !yw_exactly_one(&l->r, node, 2, either, &which) ||
      !yw_load_layer_place(l, node, &out->layer)) {
    return false;
  }
  if (out->layer.paint_text) {
    return yw_value_fail(&l->r, out->layer.paint_text,
                         "is painted on tets, which are yet to be "
                         "made; give a \"file\"");
  }
  if (out->points_node) return load_points(l, out);
  return yw_load_layer_value(l, &size_rows[SIZE_ROW], out->size_node, &out->layer, &out->size);
}

bool yw_load_tet_sizes(yw_loader* l, const yw_json* node, yw_tet_sizes* out) {
  *out = (yw_tet_sizes){0};
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  out->count = node->count;
  out->items = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *out->items);
  if (!out->items) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!load_size(l, node->items[i], &out->items[i])) return false;
  }
  return true;
}

bool yw_open_tet_sizes(yw_loader* l, yw_tet_sizes* sizes) {
  for (int32_t i = 0; i < sizes->count; i++) {
    if (!yw_open_stiffness(l, NULL, 1, &sizes->items[i].layer)) return false;
  }
  return true;
}

void yw_close_tet_sizes(yw_tet_sizes* sizes) {
  for (int32_t i = 0; i < sizes->count; i++) yw_close_stiffness(1, &sizes->items[i].layer);
}

// Values ------------------------------------------------------------------------------------------

static float size_around_points(const yw_tet_size_spec* s, yw_vec3 p) {
  float least = INFINITY;
  for (int32_t i = 0; i < s->num_points; i++) {
    float distance = yw_length(yw_sub(p, s->points[i].at));
    least = fminf(least, s->points[i].size + s->growth * distance);
  }
  return least;
}

float yw_tet_size_at(void* sizes, yw_vec3 p) {
  const yw_tet_sizes* all = sizes;
  float least = INFINITY;
  for (int32_t i = 0; i < all->count; i++) {
    const yw_tet_size_spec* s = &all->items[i];
    float weight = yw_shape_weight(s->layer.where, s->layer.blend, p);
    if (!(weight > 0.0f)) continue;
    float size = s->points ? size_around_points(s, p) : yw_layer_length_at(&s->layer, &s->size, p);
    // Towards the end of the border the size grows without limit, that is, to the one around.
    if (size > 0.0f) least = fminf(least, size / weight);
  }
  return least;
}
