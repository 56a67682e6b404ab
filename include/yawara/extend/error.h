// SPDX-License-Identifier: MIT
// Experimental: may change in any release.
//
// Filling a yw_error and returning its status in one expression.
#ifndef YAWARA_EXTEND_ERROR_H
#define YAWARA_EXTEND_ERROR_H

#include "../base.h"

#if defined(__GNUC__)
#define YW_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define YW_PRINTF(text, first)
#endif

/// Writes the message (error may be NULL) and returns status.
YW_API yw_status yw_fail(yw_error* error, yw_status status, const char* format, ...)
    YW_PRINTF(3, 4);
/// The message for memory that ran out while making `what`.
YW_API yw_status yw_fail_memory(yw_error* error, const char* what);
YW_API void yw_error_clear(yw_error* error);

#endif
