// SPDX-License-Identifier: MIT
// Inside of a JSON document, shared by json.c and json_parse.c only.
#ifndef YW_FILES_JSON_DOC_H
#define YW_FILES_JSON_DOC_H

#include "yawara/extend/json.h"

typedef struct yw_json_chunk yw_json_chunk;

struct yw_json_doc {
  yw_allocator mem;
  yw_json_chunk* chunks;  ///< newest first
  yw_json* root;
  int32_t num_values;  ///< parsed so far, all texts together
};

/// A copy with a zero byte at the end.
char* yw_json_copy_text(yw_json_doc* doc, const char* text, size_t size);

#endif
