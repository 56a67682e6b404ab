// SPDX-License-Identifier: MIT
// Obstacles as a device sees them: copies of the list and of the nodes of their shapes, in one
// block of memory that is sent again only where it has changed.
#ifndef YW_DEVICE_CUDA_OBSTACLES_H
#define YW_DEVICE_CUDA_OBSTACLES_H

#include "device/cuda/runtime.h"

/// Deeper shapes stay on the processor: evaluation recurses, and threads have little stack.
#define MOST_SHAPE_DEPTH 6
#define STACK_BYTES 4096

struct device_obstacles {
  char *sent, *built;  // on the host
  size_t used, capacity, sent_bytes;
  char* memory;  // on the device
};

static bool shape_is_known(const yw_shape* shape) {
  if (shape->depth > MOST_SHAPE_DEPTH) return false;
  switch (shape->kind) {
    case YW_SHAPE_MESH:
    case YW_SHAPE_SAMPLED:
      return false;
    case YW_SHAPE_TRANSFORM:
      return shape_is_known(shape->as.placed.child);
    case YW_SHAPE_OFFSET:
      return shape_is_known(shape->as.grown.child);
    case YW_SHAPE_UNION:
    case YW_SHAPE_INTERSECTION:
    case YW_SHAPE_DIFFERENCE:
      for (int32_t i = 0; i < shape->as.group.count; ++i) {
        if (!shape_is_known(shape->as.group.children[i])) return false;
      }
      return true;
    default:
      return true;
  }
}

static bool obstacles_are_known(const yw_obstacle_set* set) {
  for (int32_t i = 0; set && i < set->count; ++i) {
    if (set->items[i].mesh || !shape_is_known(set->items[i].shape)) return false;
  }
  return true;
}

static size_t shape_bytes(const yw_shape* shape) {
  size_t bytes = (sizeof(yw_shape) + 15) / 16 * 16;
  if (shape->kind == YW_SHAPE_TRANSFORM) return bytes + shape_bytes(shape->as.placed.child);
  if (shape->kind == YW_SHAPE_OFFSET) return bytes + shape_bytes(shape->as.grown.child);
  bool is_group = shape->kind >= YW_SHAPE_UNION && shape->kind <= YW_SHAPE_DIFFERENCE;
  if (!is_group) return bytes;
  bytes += ((size_t)shape->as.group.count * sizeof(void*) + 15) / 16 * 16;
  for (int32_t i = 0; i < shape->as.group.count; ++i) {
    bytes += shape_bytes(shape->as.group.children[i]);
  }
  return bytes;
}

static size_t take(device_obstacles* o, size_t bytes) {
  size_t at = o->used;
  o->used += (bytes + 15) / 16 * 16;
  return at;
}

// Copies a shape and what is below it; returns its address on the device.
static yw_shape* copy_shape(device_obstacles* o, const yw_shape* shape) {
  size_t at = take(o, sizeof(yw_shape));
  yw_shape copy;
  memset((void*)&copy, 0, sizeof copy);
  copy.kind = shape->kind;
  copy.as = shape->as;
  copy.bounds = shape->bounds;
  copy.depth = shape->depth;
  if (shape->kind == YW_SHAPE_TRANSFORM) {
    copy.as.placed.child = copy_shape(o, shape->as.placed.child);
  } else if (shape->kind == YW_SHAPE_OFFSET) {
    copy.as.grown.child = copy_shape(o, shape->as.grown.child);
  } else if (shape->kind >= YW_SHAPE_UNION && shape->kind <= YW_SHAPE_DIFFERENCE) {
    size_t list = take(o, (size_t)shape->as.group.count * sizeof(void*));
    for (int32_t i = 0; i < shape->as.group.count; ++i) {
      yw_shape* child = copy_shape(o, shape->as.group.children[i]);
      memcpy(o->built + list + (size_t)i * sizeof child, &child, sizeof child);
    }
    copy.as.group.children = (yw_shape**)(o->memory + list);
  }
  memcpy(o->built + at, (const void*)&copy, sizeof copy);
  return (yw_shape*)(o->memory + at);
}

static void obstacles_free(device_obstacles* o) {
  device_release(o->memory);
  free(o->sent);
  free(o->built);
  memset((void*)o, 0, sizeof *o);
}

static bool obstacles_reserve(device_stream stream, device_obstacles* o, size_t bytes) {
  if (bytes <= o->capacity) return true;
  if (!device_wait(stream)) return false;  // substeps under way read the old ones
  obstacles_free(o);
  bytes += bytes / 2 + 4096;
  o->sent = (char*)malloc(bytes);
  o->built = (char*)malloc(bytes);
  o->memory = (char*)device_alloc(bytes);
  o->capacity = bytes;
  return o->sent && o->built && o->memory;
}

static size_t obstacle_bytes(const yw_obstacle_set* set) {
  size_t list = (size_t)set->count * sizeof(yw_obstacle), bytes = (list + 15) / 16 * 16;
  for (int32_t i = 0; i < set->count; ++i) bytes += shape_bytes(set->items[i].shape);
  return bytes;
}

// Makes the copy; there is room for it. True: it is not the one that was sent.
static bool build_obstacles(device_obstacles* o, const yw_obstacle_set* set) {
  o->used = 0;
  take(o, (size_t)set->count * sizeof(yw_obstacle));
  for (int32_t i = 0; i < set->count; ++i) {
    yw_obstacle item;
    memset((void*)&item, 0, sizeof item);
    item.begin = set->items[i].begin;
    item.end = set->items[i].end;
    item.bounds = set->items[i].bounds;
    item.friction = set->items[i].friction;
    item.restitution = set->items[i].restitution;
    item.sticky = set->items[i].sticky;
    item.shape = copy_shape(o, set->items[i].shape);
    memcpy(o->built + (size_t)i * sizeof item, (const void*)&item, sizeof item);
  }
  return o->sent_bytes != o->used || memcmp(o->sent, o->built, o->used) != 0;
}

/// The device has these obstacles.
static bool obstacles_are_sent(device_obstacles* o, const yw_obstacle_set* set) {
  return obstacle_bytes(set) <= o->capacity && !build_obstacles(o, set);
}

/// The list on the device, the same until the next call.
static bool obstacles_send(device_stream stream, device_obstacles* o, const yw_obstacle_set* set,
                           const yw_obstacle** out) {
  if (!obstacles_reserve(stream, o, obstacle_bytes(set))) return false;
  *out = (const yw_obstacle*)o->memory;
  if (!build_obstacles(o, set)) return true;
  memcpy(o->sent, o->built, o->used);
  o->sent_bytes = o->used;
  return device_put(stream, o->memory, o->sent, o->used);
}

#endif
