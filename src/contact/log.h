// SPDX-License-Identifier: MIT
// What contact did in one call of resolve, for readers.
#ifndef YW_CONTACT_LOG_H
#define YW_CONTACT_LOG_H

#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

/// One contact point that carried an impulse.
typedef struct yw_contact_record {
  int32_t bodies[2];    ///< as passed to resolve; the second is -1 for an obstacle
  int32_t vertices[2];  ///< the particle, where a side is a single one; otherwise -1
  yw_vec3 point;        ///< m
  yw_vec3 normal;       ///< from the second body to the first
  float impulse;        ///< N s, along the normal
  yw_vec3 friction;     ///< N s, on the first body
  float approach;       ///< m/s, closing speed before the impulse
} yw_contact_record;

typedef struct yw_contact_log {
  yw_allocator mem;
  YW_LIST(yw_contact_record) items;
  bool failed;  ///< out of memory: records are missing
} yw_contact_log;

static inline void yw_contact_log_add(yw_contact_log* log, const yw_contact_record* record) {
  if (!YW_LIST_RESERVE(&log->mem, &log->items, 1)) {
    log->failed = true;
    return;
  }
  log->items.items[log->items.count++] = *record;
}

#endif
