// SPDX-License-Identifier: MIT
// The tree of a JSON text: memory, lookup, comparison and changes. json_parse.c reads the text.
#include "yawara/extend/json.h"

#include <stdio.h>
#include <string.h>

#include "files/json_doc.h"
#include "yawara/extend/hash.h"
#include "yawara/extend/memory.h"

#define CHUNK_BYTES ((size_t)64 << 10)

struct yw_json_chunk {
  yw_json_chunk* next;
  size_t size, used;
};

// Memory ------------------------------------------------------------------------------------------

void* yw_json_alloc(yw_json_doc* doc, size_t size) {
  size = (size + 15) & ~(size_t)15;
  yw_json_chunk* chunk = doc->chunks;
  if (!chunk || chunk->size - chunk->used < size) {
    size_t header = (sizeof *chunk + 15) & ~(size_t)15;
    size_t bytes = header + (size > CHUNK_BYTES ? size : CHUNK_BYTES);
    chunk = yw_mem_alloc(&doc->mem, bytes, 1);
    if (!chunk) return NULL;
    *chunk = (yw_json_chunk){doc->chunks, bytes, header};
    doc->chunks = chunk;
  }
  void* pointer = (char*)chunk + chunk->used;
  chunk->used += size;
  return pointer;
}

char* yw_json_copy_text(yw_json_doc* doc, const char* text, size_t size) {
  char* copy = yw_json_alloc(doc, size + 1);
  if (copy) memcpy(copy, text, size);
  return copy;
}

void yw_json_free(yw_json_doc* doc) {
  if (!doc) return;
  yw_allocator mem = doc->mem;
  for (yw_json_chunk* chunk = doc->chunks; chunk;) {
    yw_json_chunk* next = chunk->next;
    yw_mem_free(&mem, chunk);
    chunk = next;
  }
  yw_mem_free(&mem, doc);
}

yw_json* yw_json_root(yw_json_doc* doc) { return doc->root; }

// Lookups -----------------------------------------------------------------------------------------

// Position of the first key that is not less than `key`.
static int32_t lower_bound(const yw_json* object, const char* key) {
  int32_t low = 0, high = object->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(object->sorted[middle]->key, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

yw_json* yw_json_get(const yw_json* object, const char* key) {
  if (!object || object->type != YW_JSON_OBJECT) return NULL;
  int32_t at = lower_bound(object, key);
  if (at == object->count || strcmp(object->sorted[at]->key, key) != 0) return NULL;
  return object->sorted[at];
}

bool yw_json_equal(const yw_json* a, const yw_json* b) {
  if (a == b) return true;
  if (!a || !b || a->type != b->type) return false;
  switch (a->type) {
    case YW_JSON_NULL:
      return true;
    case YW_JSON_BOOL:
      return a->boolean == b->boolean;
    case YW_JSON_NUMBER:
      return a->number == b->number;
    case YW_JSON_STRING:
      return strcmp(a->string, b->string) == 0;
    case YW_JSON_ARRAY:
    case YW_JSON_OBJECT:
      break;
  }
  if (a->count != b->count) return false;
  bool keyed = a->type == YW_JSON_OBJECT;
  for (int32_t i = 0; i < a->count; i++) {
    const yw_json* x = keyed ? a->sorted[i] : a->items[i];
    const yw_json* y = keyed ? b->sorted[i] : b->items[i];
    if (keyed && strcmp(x->key, y->key) != 0) return false;
    if (!yw_json_equal(x, y)) return false;
  }
  return true;
}

uint64_t yw_json_hash(const yw_json* node) {
  if (!node) return 0;
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)node->type);
  if (node->type == YW_JSON_BOOL) hash = yw_hash_u64(hash, node->boolean);
  if (node->type == YW_JSON_NUMBER) {
    double number = node->number + 0.0;  // -0 equals 0
    hash = yw_hash_bytes(hash, &number, sizeof number);
  }
  if (node->type == YW_JSON_STRING) hash = yw_hash_bytes(hash, node->string, strlen(node->string));
  if (node->type == YW_JSON_ARRAY || node->type == YW_JSON_OBJECT) {
    bool keyed = node->type == YW_JSON_OBJECT;
    for (int32_t i = 0; i < node->count; i++) {
      const yw_json* item = keyed ? node->sorted[i] : node->items[i];
      if (keyed) hash = yw_hash_bytes(hash, item->key, strlen(item->key));
      hash = yw_hash_u64(hash, yw_json_hash(item));
    }
  }
  return hash;
}

const char* yw_json_type_name(yw_json_type type) {
  static const char* const names[] = {"null",     "true or false", "a number",
                                      "a string", "a list",        "an object"};
  return names[type];
}

// Paths -------------------------------------------------------------------------------------------

static bool is_plain_key(const char* key) {
  if (!*key) return false;
  for (; *key; key++) {
    if (*key == '.' || *key == '[' || *key == ']' || *key == '"' || *key == ' ') return false;
  }
  return true;
}

void yw_json_path(const yw_json* node, char* out, size_t capacity) {
  const yw_json* chain[YW_JSON_MAX_DEPTH + 2];
  int32_t length = 0;
  for (; node && node->parent && length < YW_JSON_MAX_DEPTH + 2; node = node->parent) {
    chain[length++] = node;
  }
  if (length == 0) {
    snprintf(out, capacity, "the scene");
    return;
  }
  size_t used = 0;
  for (int32_t i = length - 1; i >= 0 && used < capacity; i--) {
    const yw_json* step = chain[i];
    int wrote;
    if (!step->key) {
      wrote = snprintf(out + used, capacity - used, "[%d]", (int)step->index);
    } else if (is_plain_key(step->key)) {
      wrote = snprintf(out + used, capacity - used, "%s%s", used ? "." : "", step->key);
    } else {
      wrote = snprintf(out + used, capacity - used, "[\"%s\"]", step->key);
    }
    if (wrote < 0) return;
    used += (size_t)wrote;
  }
}

// Changes -----------------------------------------------------------------------------------------

yw_json* yw_json_new(yw_json_doc* doc, yw_json_type type, const char* text, int32_t source) {
  yw_json* node = yw_json_alloc(doc, sizeof *node);
  if (!node) return NULL;
  node->type = type;
  node->line = node->column = node->key_line = node->key_column = 1;
  node->source = source;
  if (type == YW_JSON_STRING) {
    size_t length = strlen(text);
    node->string = yw_json_copy_text(doc, text, length);
    node->count = (int32_t)length;
    if (!node->string) return NULL;
  }
  return node;
}

// Puts `value` in the place of `old` in the tree.
static void replace(yw_json* parent, yw_json* old, yw_json* value) {
  value->parent = parent;
  value->index = old->index;
  value->key = old->key;
  value->key_line = old->key_line;
  value->key_column = old->key_column;
  parent->items[old->index] = value;
}

void yw_json_put_item(yw_json* array, int32_t index, yw_json* value) {
  replace(array, array->items[index], value);
}

bool yw_json_put(yw_json_doc* doc, yw_json* object, const char* key, yw_json* value) {
  int32_t at = lower_bound(object, key), count = object->count;
  if (at < count && strcmp(object->sorted[at]->key, key) == 0) {
    replace(object, object->sorted[at], value);
    object->sorted[at] = value;
    return true;
  }
  size_t bytes = (size_t)(count + 1) * sizeof(yw_json*);
  yw_json** items = yw_json_alloc(doc, bytes);
  yw_json** sorted = yw_json_alloc(doc, bytes);
  char* copy = yw_json_copy_text(doc, key, strlen(key));
  if (!items || !sorted || !copy) return false;
  for (int32_t i = 0; i < count; i++) items[i] = object->items[i];
  for (int32_t i = 0; i < at; i++) sorted[i] = object->sorted[i];
  for (int32_t i = at; i < count; i++) sorted[i + 1] = object->sorted[i];
  items[count] = sorted[at] = value;
  object->items = items;
  object->sorted = sorted;
  object->count = count + 1;
  value->parent = object;
  value->index = count;
  value->key = copy;
  return true;
}
