// SPDX-License-Identifier: MIT
// What is shown of bodies that ranks share, written to a file by all of them: each makes and writes
// a share of every list, so that none holds all of it.
#include <string.h>

#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/ranks.h"
#include "yawara/extend/shared_body.h"

// Values made at a time, where nothing is gained by making more.
#define BATCH 1024
// Places of one call.
#define MOST_PLACES 16

// Items of this rank among so many.
typedef struct share {
  int32_t first, count;
} share;

static share share_of(const yw_world* world, int32_t count) {
  int64_t ranks = world->ranks->count, rank = world->ranks->rank;
  int32_t first = (int32_t)(count * rank / ranks);
  return (share){first, (int32_t)(count * (rank + 1) / ranks) - first};
}

static yw_writer writer_at(yw_file_part* part, uint64_t offset, int32_t first, size_t size) {
  return (yw_writer){
      .put = yw_file_part_put, .context = part, .size = (size_t)offset + (size_t)first * size};
}

static void write_positions(const yw_body* body, share s, yw_writer* writer) {
  yw_vec3 some[BATCH];
  for (int32_t i = 0; i < s.count; i += BATCH) {
    int32_t count = s.count - i < BATCH ? s.count - i : BATCH;
    for (int32_t k = 0; k < count; ++k) some[k] = yw_xyz(body->particles.pos[s.first + i + k]);
    yw_write_f32(writer, &some[0].x, 3 * (size_t)count);
  }
}

static yw_status write_surface(const yw_world* world, const yw_body* body, yw_body_id id, share s,
                               yw_writer* writer) {
  const yw_model* model = body->model;
  bool in_parts = model->own_surface && model->method->surface_range;
  int32_t made = in_parts ? s.count : model->surface.num_vertices;
  yw_vec3* vertices = YW_NEW_ARRAY(&world->mem, yw_vec3, made);
  if (!vertices) return YW_ERR_MEMORY;
  yw_status status = YW_OK;
  if (in_parts) {
    yw_body_surface_range(world, body, s.first, s.count, vertices);
  } else {
    status = yw_body_surface_positions(world, id, vertices, made);
  }
  if (s.count > 0) yw_write_f32(writer, &vertices[in_parts ? 0 : s.first].x, 3 * (size_t)s.count);
  yw_mem_free(&world->mem, vertices);
  return status;
}

// All ranks learn how many particles have parted, before any of them writes.
static yw_status write_parted(const yw_world* world, const yw_body* body, yw_body_id id, share s,
                              yw_writer* writer, int32_t* parted) {
  const yw_method* method = body->model->method;
  bool in_parts = method->parted_range && method->surface_parted;
  int32_t made = in_parts ? s.count : body->particles.count;
  float* values = YW_NEW_ARRAY(&world->mem, float, made);
  int64_t count = 0;
  if (values && !in_parts) {
    count = yw_body_parted(world, id, values, made);
    // Every rank has counted all.
    if (world->ranks->rank != 0) count = 0;
  } else if (values && body->active && body->model->own_surface) {
    count = method->parted_range(body->state, &body->particles, s.first, s.count, values);
  }
  yw_ranks_sum(world->ranks, &count, 1);
  *parted = (int32_t)count;
  if (!values) return YW_ERR_MEMORY;
  if (count > 0) yw_write_f32(writer, values + (in_parts ? 0 : s.first), (size_t)s.count);
  yw_mem_free(&world->mem, values);
  return YW_OK;
}

static yw_status write_list(const yw_world* world, const yw_body* body, yw_body_id id,
                            const yw_shown_place* place, yw_file_part* part, int32_t* parted) {
  bool surface = place->values == YW_SHOWN_SURFACE;
  share s = share_of(world, surface ? body->model->surface.num_vertices : body->particles.count);
  bool vectors = surface || place->values == YW_SHOWN_POSITIONS;
  yw_writer writer = writer_at(part, place->offset, s.first, vectors ? 12 : 4);
  // Whoever cannot write takes part all the same.
  writer.silent = !part;
  switch (place->values) {
    case YW_SHOWN_POSITIONS:
      write_positions(body, s, &writer);
      return YW_OK;
    case YW_SHOWN_SURFACE:
      return write_surface(world, body, id, s, &writer);
    case YW_SHOWN_RADII: {
      const float* radii = yw_body_radii(world, id, NULL);
      if (radii) yw_write_f32(&writer, radii + s.first, (size_t)s.count);
      return YW_OK;
    }
    case YW_SHOWN_PARTED:
      return write_parted(world, body, id, s, &writer, parted);
  }
  return YW_ERR_INVALID;
}

static yw_status write_lists(const yw_world* world, yw_body_id id, int32_t num_places,
                             const yw_shown_place* places, const char* path, int32_t* parted,
                             yw_error* error) {
  const yw_body* body = yw_world_find_body(world, id);
  yw_file_part* part = NULL;
  yw_status status = yw_file_part_open(path, &world->mem, &part, error);
  for (int32_t i = 0; i < num_places; ++i) {
    yw_status wrote = write_list(world, body, id, &places[i], part, parted);
    if (wrote < 0 && status >= 0) status = yw_fail_memory(error, "what is shown of a body");
  }
  yw_status closed = yw_file_part_close(part, path, world->ranks->rank != 0, error);
  if (status >= 0) status = closed;
  double failed = status < 0;
  yw_ranks_most(world->ranks, &failed, 1);
  if (failed == 0.0 || status < 0) return status;
  return yw_fail(error, YW_ERR_IO, "%s: a rank cannot write its part: all must reach this folder",
                 yw_file_short_name(path));
}

void yw_shown_follow(const yw_world* world, const yw_order* order, const char* data) {
  yw_shown_place places[MOST_PLACES];
  size_t bytes = (size_t)order->number * sizeof *places;
  int32_t parted = 0;
  memcpy(places, data, bytes);
  write_lists(world, order->body, order->number, places, data + bytes, &parted, NULL);
}

int32_t yw_body_shared_particles(const yw_world* world, yw_body_id id) {
  const yw_body* body = yw_world_find_body(world, id);
  return body && body->is_shared ? body->particles.count : 0;
}

yw_status yw_body_write_shown(const yw_world* world, yw_body_id id, int32_t num_places,
                              const yw_shown_place* places, const char* path, int32_t* parted,
                              yw_error* error) {
  yw_error_clear(error);
  int32_t count = 0;
  if (!path || !places || num_places < 0 || num_places > MOST_PLACES ||
      yw_body_shared_particles(world, id) == 0) {
    return yw_fail(error, YW_ERR_INVALID, "no body that ranks share, or no file");
  }
  size_t bytes = (size_t)num_places * sizeof *places, length = strlen(path) + 1;
  char* data = yw_mem_alloc(&world->mem, bytes + length, 1);
  if (!data) return yw_fail_memory(error, "what is shown of a body");
  memcpy(data, places, bytes);
  memcpy(data + bytes, path, length);
  yw_order_give(world, (yw_order){.kind = YW_ORDER_SHOW,
                                  .number = num_places,
                                  .body = id,
                                  .size = bytes + length,
                                  .data = data});
  yw_status status = write_lists(world, id, num_places, places, path, &count, error);
  yw_order_done(world);
  yw_mem_free(&world->mem, data);
  if (parted) *parted = count;
  return status;
}
