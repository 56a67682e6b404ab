// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "yawara/yawara.h"

int main(void) {
  printf("yawara %s\n", yw_version());
  return 0;
}
