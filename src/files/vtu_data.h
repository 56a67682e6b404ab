// SPDX-License-Identifier: MIT
// The arrays of a VTU file: where their values are stored (text or base64 inside the tag, appended
// raw or base64) and a scan over them.
#ifndef YW_FILES_VTU_DATA_H
#define YW_FILES_VTU_DATA_H

#include "files/vtu_xml.h"
#include "yawara/extend/decompress.h"
#include "yawara/extend/memory.h"

typedef enum yw_vtu_format { YW_VTU_ASCII, YW_VTU_BASE64, YW_VTU_APPENDED } yw_vtu_format;

/// One DataArray tag. Zeroed: not in the file.
typedef struct yw_vtu_array {
  const char* place;  ///< of the tag; NULL: no such array
  yw_span name;
  yw_scalar type;
  yw_vtu_format format;
  int64_t components;
  int64_t offset;  ///< into the appended data
  yw_span text;    ///< inside the tag
} yw_vtu_array;

/// Properties common to all arrays of a file.
typedef struct yw_vtu_storage {
  yw_encoding byte_order;
  yw_scalar header_type;  ///< of the length before binary values
  bool compressed;
  yw_compression compression;
  yw_span appended;  ///< after the underscore, to the end of the file
  bool appended_base64;
} yw_vtu_storage;

/// Values of an array: a scan, and the memory of decoded values if any.
typedef struct yw_vtu_values {
  yw_scan scan;
  void* decoded;
} yw_vtu_values;

/// Reads byte order, type of headers and compression of all arrays from the tag VTKFile.
bool yw_vtu_parse_storage(yw_scan* scan, const yw_xml_tag* root, yw_vtu_storage* out);
/// Finds the appended data after its tag, which the scan just passed.
bool yw_vtu_find_appended(yw_scan* scan, const yw_xml_tag* tag, yw_vtu_storage* out);
/// Reads the attributes of the DataArray tag that the scan just passed, and finds its text.
bool yw_vtu_parse_array(yw_scan* scan, const yw_xml_tag* tag, yw_vtu_array* out);
/// Opens an array that must hold at least count values; otherwise an error at its tag in scan.
bool yw_vtu_open(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                 int64_t count, const yw_allocator* mem, yw_vtu_values* out);
/// Frees the values; passes an error on to the scan of the file, whose mark must still be the
/// array's tag.
bool yw_vtu_close(yw_scan* scan, yw_vtu_values* values, const yw_allocator* mem);

/// The values of a compressed array, stored as `data`: base64 or plain bytes. They must be exactly
/// `needed` bytes; otherwise an error at the scan's mark. out->decoded may be set in either case.
bool yw_vtu_open_blocks(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                        yw_span data, bool base64, uint64_t needed, const yw_allocator* mem,
                        yw_vtu_values* out);
/// A number of a header, in the file's byte order.
uint64_t yw_vtu_header_word(const yw_vtu_storage* storage, const unsigned char* bytes);
/// Error for an array that is too short.
bool yw_vtu_fail_short(yw_scan* scan, const yw_vtu_array* array, uint64_t found, uint64_t needed);

/// Decodes base64 until max_size bytes are written, the text ends, or a character is not in the
/// alphabet. White space is skipped; padding may occur between separately encoded parts.
size_t yw_base64_decode(yw_span text, size_t max_size, unsigned char* out);

#endif
