// SPDX-License-Identifier: MIT
#include "files/vtu_data.h"

#include <inttypes.h>
#include <string.h>

#include "yawara/extend/text_number.h"

// Tags --------------------------------------------------------------------------------------------

static bool parse_type(yw_scan* scan, yw_span word, yw_scalar* type) {
  static const char* const names[YW_NUM_SCALARS] = {"Int8",    "UInt8",  "Int16", "UInt16",
                                                    "Int32",   "UInt32", "Int64", "UInt64",
                                                    "Float32", "Float64"};
  for (int32_t i = 0; i < YW_NUM_SCALARS; ++i) {
    if (!yw_span_is(word, names[i])) continue;
    *type = (yw_scalar)i;
    return true;
  }
  return yw_scan_fail(scan, "unknown type \"%.*s\" of an array", yw_span_shown(word), word.begin);
}

static bool parse_compressor(yw_scan* scan, yw_span name, yw_vtu_storage* out) {
  static const char* const names[YW_NUM_COMPRESSIONS] = {
      "vtkZLibDataCompressor", "vtkLZ4DataCompressor", "vtkLZMADataCompressor"};
  if (yw_span_size(name) == 0) return true;
  out->compressed = true;
  for (int32_t i = 0; i < YW_NUM_COMPRESSIONS; ++i) {
    if (!yw_span_is(name, names[i])) continue;
    out->compression = (yw_compression)i;
    return true;
  }
  return yw_scan_fail(scan, "unknown compressor \"%.*s\", expected %s, %s or %s",
                      yw_span_shown(name), name.begin, names[0], names[1], names[2]);
}

bool yw_vtu_parse_storage(yw_scan* scan, const yw_xml_tag* root, yw_vtu_storage* out) {
  yw_span value = {0};
  *out = (yw_vtu_storage){.byte_order = YW_LITTLE_ENDIAN, .header_type = YW_UINT32};
  if (yw_xml_attribute(root, "byte_order", &value) && yw_span_is(value, "BigEndian"))
    out->byte_order = YW_BIG_ENDIAN;
  if (yw_xml_attribute(root, "header_type", &value) && yw_span_is(value, "UInt64"))
    out->header_type = YW_UINT64;
  value = (yw_span){0};
  yw_xml_attribute(root, "compressor", &value);
  return parse_compressor(scan, value, out);
}

bool yw_vtu_find_appended(yw_scan* scan, const yw_xml_tag* tag, yw_vtu_storage* out) {
  yw_span value, word;
  out->appended_base64 = !yw_xml_attribute(tag, "encoding", &value) || !yw_span_is(value, "raw");
  if (!yw_scan_word(scan, &word) || *word.begin != '_')
    return yw_scan_fail(scan, "appended data must begin with an underscore");
  out->appended = (yw_span){word.begin + 1, scan->end};
  return true;
}

static bool parse_integer(yw_scan* scan, const yw_xml_tag* tag, const char* name, int64_t missing,
                          int64_t* out) {
  yw_span value;
  *out = missing;
  if (!yw_xml_attribute(tag, name, &value)) return true;
  const char* next = yw_parse_int(value.begin, value.end, out);
  if (next && next == value.end && *out >= 0) return true;
  return yw_scan_fail(scan, "%s is \"%.*s\", expected a number", name, yw_span_shown(value),
                      value.begin);
}

bool yw_vtu_parse_array(yw_scan* scan, const yw_xml_tag* tag, yw_vtu_array* out) {
  *out = (yw_vtu_array){.place = tag->place};
  yw_span word;
  if (!yw_xml_attribute(tag, "type", &word)) return yw_scan_fail(scan, "an array without a type");
  if (!parse_type(scan, word, &out->type)) return false;
  yw_xml_attribute(tag, "Name", &out->name);
  if (!parse_integer(scan, tag, "NumberOfComponents", 1, &out->components)) return false;
  if (!parse_integer(scan, tag, "offset", 0, &out->offset)) return false;
  if (yw_xml_attribute(tag, "format", &word)) {
    if (yw_span_is(word, "binary"))
      out->format = YW_VTU_BASE64;
    else if (yw_span_is(word, "appended"))
      out->format = YW_VTU_APPENDED;
    else if (!yw_span_is(word, "ascii"))
      return yw_scan_fail(scan,
                          "unknown format \"%.*s\" of an array, expected ascii, binary or "
                          "appended",
                          yw_span_shown(word), word.begin);
  }
  out->text = tag->empty ? (yw_span){scan->at, scan->at} : yw_xml_text(scan);
  return true;
}

// Base64 ------------------------------------------------------------------------------------------

static int32_t base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t yw_base64_decode(yw_span text, size_t max_size, unsigned char* out) {
  size_t size = 0;
  uint32_t bits = 0;
  int32_t num_bits = 0;
  for (const char* p = text.begin; p < text.end && size < max_size; ++p) {
    if (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') continue;
    if (*p == '=') {  // the remaining bits are padding; a new part starts after it
      bits = 0;
      num_bits = 0;
      continue;
    }
    int32_t digit = base64_digit(*p);
    if (digit < 0) break;
    bits = bits << 6 | (uint32_t)digit;
    num_bits += 6;
    if (num_bits >= 8) {
      num_bits -= 8;
      out[size++] = (unsigned char)(bits >> num_bits);
      bits &= (1u << num_bits) - 1;
    }
  }
  return size;
}

// Values ------------------------------------------------------------------------------------------

uint64_t yw_vtu_header_word(const yw_vtu_storage* storage, const unsigned char* bytes) {
  size_t size = yw_scalar_size(storage->header_type);
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i)
    word = word << 8 | bytes[storage->byte_order == YW_BIG_ENDIAN ? i : size - 1 - i];
  return word;
}

bool yw_vtu_fail_short(yw_scan* scan, const yw_vtu_array* array, uint64_t found, uint64_t needed) {
  return yw_scan_fail(scan, "array \"%.*s\" has %" PRIu64 " bytes, but %" PRIu64 " are needed",
                      yw_span_shown(array->name), array->name.begin ? array->name.begin : "", found,
                      needed);
}

static bool check_length(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                         const unsigned char* header, uint64_t needed) {
  uint64_t length = yw_vtu_header_word(storage, header);
  return length >= needed || yw_vtu_fail_short(scan, array, length, needed);
}

static bool open_base64(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                        yw_span text, uint64_t needed, const yw_allocator* mem,
                        yw_vtu_values* out) {
  size_t header = yw_scalar_size(storage->header_type);
  // The values cannot be longer than the text, so check before allocating.
  if (needed > yw_span_size(text))
    return yw_vtu_fail_short(scan, array, yw_span_size(text), needed);
  size_t wanted = header + (size_t)needed;
  unsigned char* bytes = YW_NEW_ARRAY(mem, unsigned char, wanted);
  if (!bytes) return yw_scan_fail_memory(scan);
  out->decoded = bytes;
  size_t size = yw_base64_decode(text, wanted, bytes);
  if (size < wanted)
    return yw_vtu_fail_short(scan, array, size > header ? size - header : 0, needed);
  if (!check_length(scan, storage, array, bytes, needed)) return false;
  // Offsets into decoded bytes mean nothing to a user: yw_vtu_close reports the tag instead.
  out->scan.error = NULL;
  out->scan.begin = (const char*)bytes;
  out->scan.at = (const char*)bytes + header;
  out->scan.end = (const char*)bytes + wanted;
  return true;
}

static bool open_raw(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                     uint64_t needed, yw_vtu_values* out) {
  size_t header = yw_scalar_size(storage->header_type);
  uint64_t left = yw_span_size(storage->appended) - (uint64_t)array->offset;
  if (left < header || left - header < needed)
    return yw_vtu_fail_short(scan, array, left > header ? left - header : 0, needed);
  const char* start = storage->appended.begin + array->offset;
  if (!check_length(scan, storage, array, (const unsigned char*)start, needed)) return false;
  out->scan.at = start + header;
  out->scan.end = start + header + needed;
  return true;
}

static bool open_binary(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                        uint64_t needed, const yw_allocator* mem, yw_vtu_values* out) {
  out->scan.encoding = storage->byte_order;
  bool base64 = array->format == YW_VTU_BASE64;
  if (base64 && storage->compressed)
    return yw_vtu_open_blocks(scan, storage, array, array->text, true, needed, mem, out);
  if (base64) return open_base64(scan, storage, array, array->text, needed, mem, out);
  if (!storage->appended.begin)
    return yw_scan_fail(scan, "an array with appended values, but the file has no AppendedData");
  uint64_t size = yw_span_size(storage->appended);
  if ((uint64_t)array->offset > size)
    return yw_scan_fail(scan,
                        "the offset is %" PRId64 ", but the appended data has %" PRIu64 " bytes",
                        array->offset, size);
  yw_span data = {storage->appended.begin + array->offset, storage->appended.end};
  base64 = storage->appended_base64;
  if (storage->compressed)
    return yw_vtu_open_blocks(scan, storage, array, data, base64, needed, mem, out);
  if (base64) return open_base64(scan, storage, array, data, needed, mem, out);
  return open_raw(scan, storage, array, needed, out);
}

bool yw_vtu_open(yw_scan* scan, const yw_vtu_storage* storage, const yw_vtu_array* array,
                 int64_t count, const yw_allocator* mem, yw_vtu_values* out) {
  *out = (yw_vtu_values){.scan = *scan};
  scan->mark = array->place;
  uint64_t size = yw_scalar_size(array->type);
  if (count < 0 || (uint64_t)count > (UINT64_MAX / 4) / size)
    return yw_scan_fail(scan, "%" PRId64 " values are too many", count);
  if (array->format != YW_VTU_ASCII) {
    if (open_binary(scan, storage, array, (uint64_t)count * size, mem, out)) return true;
    yw_mem_free(mem, out->decoded);
    out->decoded = NULL;
    return false;
  }
  out->scan.at = array->text.begin;
  out->scan.end = array->text.end;
  out->scan.mark = array->place;
  // Each number takes a character and a separator, except the last.
  if ((uint64_t)count > ((uint64_t)yw_span_size(array->text) + 1) / 2)
    return yw_scan_fail(scan, "array \"%.*s\" has %zu characters, too few for %" PRId64 " values",
                        yw_span_shown(array->name), array->name.begin ? array->name.begin : "",
                        yw_span_size(array->text), count);
  return true;
}

bool yw_vtu_close(yw_scan* scan, yw_vtu_values* values, const yw_allocator* mem) {
  bool decoded = values->decoded != NULL;
  yw_mem_free(mem, values->decoded);
  if (values->scan.status != YW_OK && decoded)
    return yw_scan_fail(scan, "a value of this array is not a whole number");
  if (scan->status == YW_OK) scan->status = values->scan.status;
  return scan->status == YW_OK;
}
