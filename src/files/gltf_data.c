// SPDX-License-Identifier: MIT
#include "files/gltf_data.h"

#include <inttypes.h>
#include <string.h>

#include "files/vtu_data.h"
#include "yawara/extend/file.h"

// JSON --------------------------------------------------------------------------------------------

static bool fail_at(yw_gltf* g, const yw_json* node, const char* problem) {
  char path[200];
  yw_json_path(node, path, sizeof path);
  return yw_scan_fail(g->scan, "%s %s", path, problem);
}

const yw_json* yw_gltf_item(yw_gltf* g, const char* list, int64_t index) {
  const yw_json* items = yw_json_get(g->root, list);
  int32_t count = items && items->type == YW_JSON_ARRAY ? items->count : 0;
  if (index >= 0 && index < count && items->items[index]->type == YW_JSON_OBJECT)
    return items->items[index];
  yw_scan_fail(g->scan, "the file refers to number %" PRId64 " of its %d %s", index, count, list);
  return NULL;
}

bool yw_gltf_int(yw_gltf* g, const yw_json* object, const char* key, int64_t missing,
                 int64_t* out) {
  const yw_json* node = yw_json_get(object, key);
  *out = missing;
  if (!node) return true;
  if (node->type != YW_JSON_NUMBER || !(node->number >= 0.0 && node->number <= 9e15) ||
      (double)(int64_t)node->number != node->number)
    return fail_at(g, node, "must be a whole number, not negative");
  *out = (int64_t)node->number;
  return true;
}

bool yw_gltf_numbers(yw_gltf* g, const yw_json* object, const char* key, int32_t count,
                     double* out) {
  const yw_json* node = yw_json_get(object, key);
  if (!node) return true;
  if (node->type != YW_JSON_ARRAY || node->count != count)
    return fail_at(g, node, "does not have the right number of numbers");
  for (int32_t i = 0; i < count; ++i) {
    if (node->items[i]->type != YW_JSON_NUMBER) return fail_at(g, node->items[i], "is no number");
    out[i] = node->items[i]->number;
  }
  return true;
}

// Buffers -----------------------------------------------------------------------------------------

static int32_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 32);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// A name relative to the folder of the file, with %20 and the like decoded. Nothing outside of that
// folder is opened.
static bool decode_uri(const char* uri, char* out) {
  size_t n = 0;
  if (*uri == '/' || strchr(uri, ':') || strchr(uri, '\\')) return false;
  for (; *uri; ++uri) {
    char c = *uri;
    if (c == '%') {
      int32_t high = hex_digit(uri[1]), low = high < 0 ? -1 : hex_digit(uri[2]);
      if (low < 0 || high + low == 0) return false;
      c = (char)(16 * high + low);
      uri += 2;
    }
    out[n++] = c;
  }
  out[n] = '\0';
  return n > 0 && out[0] != '/' && !strstr(out, "..");
}

static bool open_file(yw_gltf* g, const char* uri, yw_gltf_buffer* out) {
  const yw_allocator* mem = &g->build->mem;
  const char* base = g->build->path;
  const char* slash = base ? strrchr(base, '/') : NULL;
  size_t folder = slash ? (size_t)(slash - base) + 1 : 0;
  char* path = YW_NEW_ARRAY(mem, char, folder + strlen(uri) + 1);
  if (!path) return yw_scan_fail_memory(g->scan);
  if (folder) memcpy(path, base, folder);
  bool good = base && decode_uri(uri, path + folder);
  if (!good)
    yw_scan_fail(g->scan, "a buffer is in \"%.80s\", but must be in a file beside this one", uri);
  yw_file_data data = {0};
  yw_status status = good ? yw_file_read_all(path, 0, mem, &data, g->scan->error) : YW_OK;
  if (status != YW_OK) g->scan->status = status;
  *out = (yw_gltf_buffer){(const unsigned char*)data.bytes, data.size, data.bytes};
  yw_mem_free(mem, path);
  return good && status == YW_OK;
}

static bool open_inline(yw_gltf* g, const yw_json* uri, yw_gltf_buffer* out) {
  const char* comma = strchr(uri->string, ',');
  const char* tag = ";base64";
  size_t length = strlen(tag);
  if (!comma || (size_t)(comma - uri->string) < length || memcmp(comma - length, tag, length) != 0)
    return fail_at(g, uri, "is not base64");
  yw_span text = {comma + 1, uri->string + uri->count};
  size_t most = yw_span_size(text) / 4 * 3 + 3;
  unsigned char* bytes = YW_NEW_ARRAY(&g->build->mem, unsigned char, most);
  if (!bytes) return yw_scan_fail_memory(g->scan);
  *out = (yw_gltf_buffer){bytes, yw_base64_decode(text, most, bytes), bytes};
  return true;
}

static bool open_buffer(yw_gltf* g, const yw_json* node, int32_t index, yw_gltf_buffer* out) {
  const yw_json* uri = yw_json_get(node, "uri");
  int64_t length;
  if (!yw_gltf_int(g, node, "byteLength", 0, &length)) return false;
  bool good = true;
  if (uri && uri->type != YW_JSON_STRING)
    good = fail_at(g, uri, "is no text");
  else if (uri && strncmp(uri->string, "data:", 5) == 0)
    good = open_inline(g, uri, out);
  else if (uri)
    good = open_file(g, uri->string, out);
  else if (index == 0 && g->binary.begin)
    *out = (yw_gltf_buffer){(const unsigned char*)g->binary.begin, yw_span_size(g->binary), NULL};
  else
    good = fail_at(g, node, "has no uri");
  if (!good) return false;
  if (out->size < (uint64_t)length)
    return yw_scan_fail(g->scan, "buffer %d has %" PRIu64 " bytes, but must have %" PRId64, index,
                        out->size, length);
  g->total += out->size;
  return true;
}

bool yw_gltf_open_buffers(yw_gltf* g) {
  const yw_json* list = yw_json_get(g->root, "buffers");
  int32_t count = list && list->type == YW_JSON_ARRAY ? list->count : 0;
  for (int32_t i = 0; i < count; ++i) {
    yw_gltf_buffer empty = {0};
    if (!YW_PUSH(&g->build->mem, g->scan, &g->buffers, empty)) return false;
    if (!open_buffer(g, list->items[i], i, &g->buffers.items[i])) return false;
  }
  return true;
}

void yw_gltf_close_buffers(yw_gltf* g) {
  for (int32_t i = 0; i < g->buffers.count; ++i)
    yw_mem_free(&g->build->mem, g->buffers.items[i].owned);
  YW_LIST_FREE(&g->build->mem, &g->buffers);
}

// Accessors ---------------------------------------------------------------------------------------

static bool parse_layout(yw_gltf* g, const yw_json* node, yw_gltf_accessor* out) {
  static const yw_scalar scalars[7] = {YW_INT8,        YW_UINT8,  YW_INT16,  YW_UINT16,
                                       YW_NUM_SCALARS, YW_UINT32, YW_FLOAT32};
  static const struct {
    const char* name;
    int32_t components;
  } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}};
  int64_t component;
  if (!yw_gltf_int(g, node, "componentType", 0, &component)) return false;
  if (component < 5120 || component > 5126 || scalars[component - 5120] == YW_NUM_SCALARS)
    return fail_at(g, node, "has an unknown componentType");
  out->type = scalars[component - 5120];
  const yw_json* type = yw_json_get(node, "type");
  for (size_t i = 0; type && type->type == YW_JSON_STRING && i < 4; ++i)
    if (strcmp(type->string, types[i].name) == 0) out->components = types[i].components;
  if (out->components == 0) return fail_at(g, node, "must be of type SCALAR, VEC2, VEC3 or VEC4");
  const yw_json* normalized = yw_json_get(node, "normalized");
  out->normalized = normalized && normalized->type == YW_JSON_BOOL && normalized->boolean;
  return yw_gltf_int(g, node, "count", 0, &out->count);
}

bool yw_gltf_open(yw_gltf* g, int64_t index, yw_gltf_accessor* out) {
  *out = (yw_gltf_accessor){0};
  int64_t view_index, offset, view_offset, length, stride, buffer;
  const yw_json* node = yw_gltf_item(g, "accessors", index);
  if (!node || !parse_layout(g, node, out)) return false;
  if (yw_json_get(node, "sparse") || !yw_json_get(node, "bufferView"))
    return fail_at(g, node, "is sparse, which cannot be read");
  if (!yw_gltf_int(g, node, "bufferView", 0, &view_index) ||
      !yw_gltf_int(g, node, "byteOffset", 0, &offset))
    return false;
  const yw_json* view = yw_gltf_item(g, "bufferViews", view_index);
  if (!view || !yw_gltf_int(g, view, "buffer", 0, &buffer) ||
      !yw_gltf_int(g, view, "byteOffset", 0, &view_offset) ||
      !yw_gltf_int(g, view, "byteLength", 0, &length) ||
      !yw_gltf_int(g, view, "byteStride", 0, &stride))
    return false;
  if (buffer >= g->buffers.count) return fail_at(g, view, "is in a buffer that does not exist");
  uint64_t size = g->buffers.items[buffer].size;
  uint64_t item = yw_scalar_size(out->type) * (uint64_t)out->components;
  out->stride = stride > 0 ? (uint64_t)stride : item;
  // All numbers are below 2^53, so that sums and this product cannot overflow.
  bool inside =
      (uint64_t)view_offset + (uint64_t)length <= size && out->stride < 65536 &&
      (uint64_t)out->count <= size &&
      (out->count == 0 ||
       (uint64_t)offset + out->stride * (uint64_t)(out->count - 1) + item <= (uint64_t)length);
  if (!inside) return fail_at(g, node, "reaches beyond its buffer");
  out->at = g->buffers.items[buffer].bytes;
  if (out->at) out->at += view_offset + offset;
  return true;
}

double yw_gltf_value(const yw_gltf_accessor* a, int64_t item, int32_t component) {
  size_t size = yw_scalar_size(a->type);
  const unsigned char* at = a->at + (uint64_t)item * a->stride + (size_t)component * size;
  yw_scan scan = {.at = (const char*)at, .end = (const char*)at + size};
  scan.encoding = YW_LITTLE_ENDIAN;
  double value = 0.0;
  yw_scan_real(&scan, a->type, "a number", &value);
  if (!a->normalized || yw_scalar_is_real(a->type)) return value;
  // The largest integer of the type is 1; the smallest one of a signed type is below -1.
  static const double largest[] = {127, 255, 32767, 65535, 2147483647, 4294967295};
  value /= largest[a->type];
  return value < -1.0 ? -1.0 : value;
}
