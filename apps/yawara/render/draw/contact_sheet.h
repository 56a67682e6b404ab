// SPDX-License-Identifier: MIT
// Contact sheets: several pictures in one.
#ifndef YW_APP_RENDER_DRAW_CONTACT_SHEET_H
#define YW_APP_RENDER_DRAW_CONTACT_SHEET_H

#include "render/output/image.h"

/// Pictures row by row, each with a caption below it (captions, or single ones, may be NULL). Cells
/// are as large as the largest picture.
typedef struct yw_contact_sheet {
  int32_t num_images;
  const yw_image* const* images;
  const char* const* captions;
  const char* title;  ///< above everything, or NULL
  int32_t columns;    ///< 0: nearly square
  int32_t gap;        ///< pixels between pictures
  float text_size;    ///< font size of captions, pixels
} yw_contact_sheet;
yw_contact_sheet yw_default_sheet(void);
/// Without librsvg, text is omitted.
yw_status yw_contact_sheet_draw(const yw_contact_sheet* sheet, const yw_allocator* mem,
                                yw_image* out, yw_error* error);

#endif
