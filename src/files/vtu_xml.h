// SPDX-License-Identifier: MIT
// The part of XML that VTK files use: tags with attributes, one after another, no recursion.
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

/// The next tag; comments, declarations and text are passed over. False at the end of the file (no
/// error) and for a tag that does not end (error).
bool yw_xml_next(yw_scan* scan, yw_xml_tag* tag);
/// Value of an attribute; false when the tag has none of this name.
bool yw_xml_attribute(const yw_xml_tag* tag, const char* name, yw_span* value);
/// Text from here to the next tag, which is not read.
yw_span yw_xml_text(const yw_scan* scan);

#endif
