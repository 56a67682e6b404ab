// SPDX-License-Identifier: MIT
#include "methods/kit/groups.h"

#include <stdlib.h>
#include <string.h>

int32_t yw_most_common(int32_t count, const int32_t* labels) {
  int32_t best = labels[0], most = 0;
  for (int32_t i = 0; i < count; ++i) {
    int32_t same = 0;
    for (int32_t k = 0; k < count; ++k) same += labels[k] == labels[i];
    if (same < most || (same == most && labels[i] >= best)) continue;
    most = same;
    best = labels[i];
  }
  return best;
}

static int compare(const void* a, const void* b) {
  int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
  return (x > y) - (x < y);
}

// Index of a label among ascending ones.
static int32_t find(const int32_t* sorted, int32_t count, int32_t label) {
  int32_t low = 0, high = count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (sorted[middle] <= label) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

int32_t yw_number_groups(const yw_allocator* mem, int32_t count, int32_t* labels) {
  int32_t groups = 0, *sorted = YW_NEW_ARRAY(mem, int32_t, count);
  if (!sorted) return -1;
  memcpy(sorted, labels, (size_t)count * sizeof *labels);
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  for (int32_t i = 0; i < count; ++i) {
    if (groups == 0 || sorted[i] != sorted[groups - 1]) sorted[groups++] = sorted[i];
  }
  for (int32_t i = 0; i < count; ++i) labels[i] = find(sorted, groups, labels[i]);
  yw_mem_free(mem, sorted);
  return groups;
}
