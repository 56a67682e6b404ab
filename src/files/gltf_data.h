// SPDX-License-Identifier: MIT
// Buffers and accessors of glTF 2.0 files: where the numbers of a mesh are, with every offset and
// size checked.
#ifndef YW_FILES_GLTF_DATA_H
#define YW_FILES_GLTF_DATA_H

#include "files/mesh_build.h"
#include "yawara/extend/json.h"

/// The bytes of a buffer: in the file, decoded, or another file.
typedef struct yw_gltf_buffer {
  const unsigned char* bytes;
  uint64_t size;
  void* owned;  ///< freed with the allocator; may be NULL
} yw_gltf_buffer;

typedef struct yw_gltf {
  yw_scan* scan;
  yw_mesh_build* build;
  yw_json_doc* doc;
  const yw_json* root;
  yw_span binary;  ///< the binary chunk of a .glb file; empty: none
  YW_LIST(yw_gltf_buffer) buffers;
  uint64_t total;  ///< bytes of all buffers
} yw_gltf;

/// Numbers of a mesh.
typedef struct yw_gltf_accessor {
  const unsigned char* at;
  uint64_t stride;
  int64_t count;
  yw_scalar type;
  int32_t components;
  bool normalized;
} yw_gltf_accessor;

/// An item of a list of the root, e.g. "meshes"; NULL after an error.
const yw_json* yw_gltf_item(yw_gltf* g, const char* list, int64_t index);
/// A whole number that is not negative; `missing` if there is no such key. False after an error.
bool yw_gltf_int(yw_gltf* g, const yw_json* object, const char* key, int64_t missing, int64_t* out);
/// Numbers of an array of exactly `count`; unchanged if there is no such key.
bool yw_gltf_numbers(yw_gltf* g, const yw_json* object, const char* key, int32_t count,
                     double* out);

/// Opens all buffers: the binary chunk, base64 inside the file, or files beside it.
bool yw_gltf_open_buffers(yw_gltf* g);
void yw_gltf_close_buffers(yw_gltf* g);
/// Finds the numbers of an accessor, all of which are inside their buffer.
bool yw_gltf_open(yw_gltf* g, int64_t index, yw_gltf_accessor* out);
double yw_gltf_value(const yw_gltf_accessor* accessor, int64_t item, int32_t component);

#endif
