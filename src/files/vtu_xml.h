// SPDX-License-Identifier: MIT
// The subset of XML that VTK files use: a sequence of tags with attributes, no recursion.
#ifndef YW_FILES_VTU_XML_H
#define YW_FILES_VTU_XML_H

#include "files/text_scan.h"

typedef struct yw_xml_tag {
  yw_span name;
  yw_span attributes;
  bool closing;       ///< </name>
  bool empty;         ///< <name/>
  const char* place;  ///< of the <
} yw_xml_tag;

/// The next tag; comments, declarations and text are skipped. False at the end of the file (no
/// error) and for an unterminated tag (error).
bool yw_xml_next(yw_scan* scan, yw_xml_tag* tag);
/// Value of an attribute; false if the tag has none of this name.
bool yw_xml_attribute(const yw_xml_tag* tag, const char* name, yw_span* value);
/// Text from here to the next tag, which is not consumed.
yw_span yw_xml_text(const yw_scan* scan);

#endif
