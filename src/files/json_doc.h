// SPDX-License-Identifier: MIT
// Internals of a JSON document, shared by json.c and json_parse.c only.
#ifndef YW_FILES_JSON_DOC_H
#define YW_FILES_JSON_DOC_H

#include "yawara/extend/json.h"

typedef struct yw_json_chunk yw_json_chunk;

struct yw_json_doc {
  yw_allocator mem;
  yw_json_chunk* chunks;  ///< newest first
  yw_json* root;
  int32_t num_values;  ///< parsed so far, over all texts
};

/// A zero-terminated copy.
char* yw_json_copy_text(yw_json_doc* doc, const char* text, size_t size);

#endif
