// SPDX-License-Identifier: MIT
#include "yawara/extend/error.h"

#include <stdarg.h>
#include <stdio.h>

yw_status yw_fail(yw_error* error, yw_status status, const char* format, ...) {
  if (!error) return status;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

yw_status yw_fail_memory(yw_error* error, const char* what) {
  return yw_fail(error, YW_ERR_MEMORY, "not enough memory for %s", what);
}

void yw_error_clear(yw_error* error) {
  if (!error) return;
  error->status = YW_OK;
  error->message[0] = '\0';
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char* yw_version(void) {
  return TEXT(YW_VERSION_MAJOR) "." TEXT(YW_VERSION_MINOR) "." TEXT(YW_VERSION_PATCH);
}
