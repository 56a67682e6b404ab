// SPDX-License-Identifier: MIT
// Numbers painted on the vertices of a mesh, as compact text inside the scene: a byte each, in
// base64.
#include <string.h>

#include "files/vtu_data.h"
#include "scene/loader.h"
#include "scene/records.h"

typedef struct paint_keys {
  const char* painted;
} paint_keys;
static const paint_keys paint_defaults = {NULL};
static const yw_key_row paint_rows[] = {
    YW_KEY(paint_keys, painted, TEXT, 0, 0, "",
           "A byte per vertex of the mesh, as tools paint them, in base64.")};
const yw_record yw_record_vertex_paint =
    YW_RECORD("vertex_paint", paint_rows, paint_defaults,
              "A number from 0 to 255 at each vertex of the mesh.", "needs painted");

bool yw_load_vertex_paint(yw_loader* l, const yw_json* node, const yw_json** text) {
  paint_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_vertex_paint, &k) ||
      !yw_needs(&l->r, node, "painted")) {
    return false;
  }
  *text = yw_json_get(node, "painted");
  return true;
}

bool yw_read_vertex_paint(yw_loader* l, const yw_json* text, int32_t count, unsigned char** out) {
  yw_span span = {text->string, text->string + text->count};
  // One byte more than needed, so that a longer text is noticed.
  size_t needed = (size_t)count;
  *out = YW_NEW_ARRAY(&l->scene->mem, unsigned char, needed + 1);
  if (!*out) return yw_memory_fail(&l->r);
  size_t found = yw_base64_decode(span, needed + 1, *out);
  if (found == needed) return true;
  yw_mem_free(&l->scene->mem, *out);
  *out = NULL;
  return yw_value_fail(
      &l->r, text,
      "has %s than a byte for each of the mesh's %d vertices: paint it again after "
      "changing the mesh",
      found < needed ? "less" : "more", (int)count);
}
