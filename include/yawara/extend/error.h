// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Fill a yw_error and return its status in one expression.
#ifndef YAWARA_EXTEND_ERROR_H
#define YAWARA_EXTEND_ERROR_H

#include "../base.h"

#if defined(__GNUC__)
#define YW_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define YW_PRINTF(text, first)
#endif

/// Fills *error (may be NULL) and returns status.
YW_API yw_status yw_fail(yw_error* error, yw_status status, const char* format, ...)
    YW_PRINTF(3, 4);
/// YW_ERR_MEMORY, with the message that memory ran out while creating `what`.
YW_API yw_status yw_fail_memory(yw_error* error, const char* what);
YW_API void yw_error_clear(yw_error* error);

#endif
