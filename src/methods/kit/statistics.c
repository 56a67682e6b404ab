// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "yawara/extend/method.h"

void yw_statistics_add(yw_statistics* out, const char* name, const char* unit, double value) {
  if (out->count >= YW_MAX_STATISTICS) return;
  yw_statistic* item = &out->items[out->count++];
  snprintf(item->name, sizeof item->name, "%s", name);
  item->unit = unit;
  item->value = value;
}

void yw_statistics_add_weights(yw_statistics* out, int32_t group, int32_t num_groups,
                               const float* weights, int32_t num_examples) {
  char of_group[16] = "", name[32];
  if (num_groups > 1) snprintf(of_group, sizeof of_group, " of group %d", (int)group);
  for (int32_t k = 0; k <= num_examples; ++k) {
    if (k == 0) {
      snprintf(name, sizeof name, "rest weight%s", of_group);
    } else {
      snprintf(name, sizeof name, "weight %d%s", (int)k, of_group);
    }
    yw_statistics_add(out, name, "", (double)weights[k]);
  }
}
