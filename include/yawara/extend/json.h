// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// JSON (RFC 8259) with // and /* */ comments, as a tree whose nodes know their line and column.
// Input is not trusted: size, depth and number of values are limited, time is linear, UTF-8 is
// checked and duplicate keys are refused. The document owns everything.
#ifndef YAWARA_EXTEND_JSON_H
#define YAWARA_EXTEND_JSON_H

#include "../base.h"

#define YW_JSON_MAX_BYTES ((size_t)64 << 20)
#define YW_JSON_MAX_DEPTH 64
#define YW_JSON_MAX_VALUES 2000000

typedef enum yw_json_type {
  YW_JSON_NULL,
  YW_JSON_BOOL,
  YW_JSON_NUMBER,
  YW_JSON_STRING,
  YW_JSON_ARRAY,
  YW_JSON_OBJECT
} yw_json_type;

typedef struct yw_json yw_json;
struct yw_json {
  yw_json_type type;
  int32_t line, column;          ///< of the value, from 1; columns count characters
  int32_t key_line, key_column;  ///< of the key, in objects
  int32_t source;                ///< 0: the first text; else as passed to yw_json_parse_into
  const char* key;               ///< in objects; NULL elsewhere
  yw_json* parent;               ///< NULL at the root
  int32_t index;                 ///< in the parent, in the order of the text
  int32_t count;                 ///< number of items, or bytes of a string
  union {
    struct {
      yw_json** items;   ///< of arrays and objects, in the order of the text
      yw_json** sorted;  ///< of objects: the same items, ordered by key
    };
    const char* string;  ///< of strings; no zero byte before the end
    double number;       ///< of numbers, finite
    bool boolean;
  };
};

typedef struct yw_json_doc yw_json_doc;

/// name, e.g. the file's path, starts every error message. The text is not kept.
YW_API yw_status yw_json_parse(const yw_allocator* mem, const char* name, const char* text,
                               size_t size, yw_json_doc** out, yw_error* error);
YW_API void yw_json_free(yw_json_doc* doc);
YW_API yw_json* yw_json_root(yw_json_doc* doc);

/// Zeroed memory that lives as long as the document; NULL if out of memory.
YW_API void* yw_json_alloc(yw_json_doc* doc, size_t size);

/// The value of a key, or NULL; object may be of any type.
YW_API yw_json* yw_json_get(const yw_json* object, const char* key);
/// Compares values; the order of keys is ignored. NULL equals only NULL.
YW_API bool yw_json_equal(const yw_json* a, const yw_json* b);
/// Equal values have equal hashes.
YW_API uint64_t yw_json_hash(const yw_json* node);
/// "a string", "an object", ...
YW_API const char* yw_json_type_name(yw_json_type type);
/// Writes the path of a node, e.g. bodies[0].match.beta; "the scene" for the root.
YW_API void yw_json_path(const yw_json* node, char* out, size_t capacity);

// Changing a document. Nodes passed to these functions must belong to it.

/// Parses another text into the document; `source` is stored in its nodes.
YW_API yw_status yw_json_parse_into(yw_json_doc* doc, const char* name, const char* text,
                                    size_t size, int32_t source, yw_json** out, yw_error* error);
/// A new node that is not yet in the tree; NULL if out of memory. text is for strings.
YW_API yw_json* yw_json_new(yw_json_doc* doc, yw_json_type type, const char* text, int32_t source);
/// Adds a key to an object or replaces its value; false if out of memory.
YW_API bool yw_json_put(yw_json_doc* doc, yw_json* object, const char* key, yw_json* value);
/// Replaces item `index` of an array, 0 <= index < count.
YW_API void yw_json_put_item(yw_json* array, int32_t index, yw_json* value);

#endif
