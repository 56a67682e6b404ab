// SPDX-License-Identifier: MIT
// For tests that compare with CalculiX.
#ifndef YW_TESTS_SUPPORT_NEED_CALCULIX_H
#define YW_TESTS_SUPPORT_NEED_CALCULIX_H

#include "reference/elastic/calculix.h"
#include "support/testing.h"

/// Skips the test where CalculiX is not installed.
static inline void need_calculix(void) {
  if (calculix_available()) return;
  print_message("ccx is not installed (Debian package calculix-ccx): not compared\n");
  skip();
}

#endif
