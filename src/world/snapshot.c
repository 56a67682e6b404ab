// SPDX-License-Identifier: MIT
// Snapshots hold what moves: a world built in the same way goes on from one bit for bit. The layout
// of the world (models, pins, obstacles) is not stored, only a fingerprint of it.
#include <string.h>

#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"

static const char magic[8] = {'Y', 'W', 'S', 'N', 'A', 'P', '0', '2'};

static uint64_t fingerprint(const yw_world* world) {
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)world->body_order.count);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    hash = yw_hash_u64(hash, body->model->hash);
    hash = yw_hash_bytes(hash, &body->start, sizeof body->start);
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (pin->generation & 1) hash = yw_hash_u64(hash, (uint64_t)pin->num_particles);
  }
  for (int32_t i = 0; i < world->obstacles.count; ++i) {
    hash = yw_hash_u64(hash, world->obstacles.items[i].generation & 1);
  }
  return hash;
}

uint64_t yw_world_hash(const yw_world* world) {
  if (!world) return 0;
  uint64_t hash = yw_hash_u64(YW_HASH_SEED, (uint64_t)world->body_order.count);
  hash = yw_hash_bytes(hash, &world->time, sizeof world->time);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    int32_t count;
    yw_body_id id = yw_world_body(world, i);
    const yw_vec3* x = yw_body_positions(world, id, &count);
    const yw_vec3* v = yw_body_velocities(world, id, &count);
    hash = yw_hash_bytes(hash, x, sizeof *x * (size_t)count);
    hash = yw_hash_bytes(hash, v, sizeof *v * (size_t)count);
  }
  return hash;
}

static void write_motion(yw_writer* writer, yw_motion motion) {
  yw_write_f32(writer, &motion.offset.x, 3);
  yw_write_f32(writer, &motion.rotation.x, 4);
}

static yw_motion read_motion(yw_reader* reader) {
  yw_motion motion;
  yw_read_f32(reader, &motion.offset.x, 3);
  yw_read_f32(reader, &motion.rotation.x, 4);
  yw_quat q = motion.rotation;
  float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!yw_is_finite3(motion.offset) || !(fabsf(norm - 1.0f) < 1e-3f)) reader->failed = true;
  return motion;
}

// Positions or velocities; what is not finite, or not three numbers and a zero, is not one.
static void read_vectors(yw_reader* reader, yw_vec4* out, int32_t count) {
  yw_read_f32(reader, &out[0].x, 4 * (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_is_finite3(yw_xyz(out[i])) || out[i].w != 0.0f) reader->failed = true;
  }
}

static void write_state(const yw_world* world, yw_writer* writer) {
  yw_write_f64(writer, world->time);
  yw_write_u64(writer, world->step_count);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    const yw_body* body = &world->bodies.items[world->body_order.items[i]];
    const yw_particles* p = &body->particles;
    yw_write_u32(writer, (uint32_t)p->count);
    yw_write_u32(writer, body->diverged);
    yw_write_u32(writer, body->active);
    yw_write_f32(writer, &p->pos[0].x, 4 * (size_t)p->count);
    yw_write_f32(writer, &p->vel[0].x, 4 * (size_t)p->count);
    if (body->model->method->settle) yw_write_f32(writer, p->mass, (size_t)p->count);
    body->model->method->save(body->state, writer);
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    yw_write_u32(writer, pin->by_hand);
    write_motion(writer, pin->hand_begin);
    write_motion(writer, pin->hand_end);
  }
}

static void write_snapshot(const yw_world* world, yw_writer* writer) {
  yw_write_bytes(writer, magic, sizeof magic);
  yw_write_u64(writer, fingerprint(world));
  write_state(world, writer);
}

size_t yw_world_snapshot_size(const yw_world* world) {
  if (!world) return 0;
  yw_writer counter = {0};
  write_snapshot(world, &counter);
  return counter.size + sizeof(uint64_t);
}

yw_status yw_world_save(const yw_world* world, void* buffer, size_t capacity, size_t* size) {
  if (!world || !buffer) return YW_ERR_INVALID;
  yw_writer writer = {.data = buffer, .capacity = capacity};
  write_snapshot(world, &writer);
  if (!writer.overflow) {
    yw_write_u64(&writer, yw_hash_bytes(YW_HASH_SEED, writer.data, writer.size));
  }
  if (writer.overflow) return YW_ERR_LIMIT;
  if (size) *size = writer.size;
  return YW_OK;
}

// Of methods that add and remove particles: how many there are, and their masses.
static void read_masses(yw_reader* reader, yw_particles* p) {
  yw_read_f32(reader, p->mass, (size_t)p->count);
  for (int32_t i = 0; i < p->count; ++i) {
    if (!(p->mass[i] > 0.0f) || !isfinite(p->mass[i])) reader->failed = true;
  }
  size_t rest = (size_t)(p->capacity - p->count);
  memset(p->pos + p->count, 0, rest * sizeof *p->pos);
  memset(p->vel + p->count, 0, rest * sizeof *p->vel);
  memset(p->mass + p->count, 0, rest * sizeof *p->mass);
  memset(p->inv_mass + p->count, 0, rest * sizeof *p->inv_mass);
}

static bool read_body(yw_world* world, uint32_t slot, yw_reader* reader) {
  yw_body* body = &world->bodies.items[slot];
  const yw_method* method = body->model->method;
  yw_particles* p = &body->particles;
  uint32_t count = yw_read_u32(reader);
  bool fits = method->settle ? count <= (uint32_t)p->capacity : count == (uint32_t)p->count;
  if (reader->failed || !fits) return false;
  bool diverged = yw_read_u32(reader) != 0;
  bool active = yw_read_u32(reader) != 0;
  p->count = (int32_t)count;
  read_vectors(reader, p->pos, p->count);
  read_vectors(reader, p->vel, p->count);
  if (method->settle) read_masses(reader, p);
  if (reader->failed) return false;
  if (method->settle) yw_world_restore_masses(world, slot);
  method->invalidate(body->state, p);
  method->load(body->state, reader);
  body->diverged = diverged;
  body->active = active;
  // Contact may have cached another topology under the same version.
  body->key = ++world->next_key;
  return !reader->failed;
}

static bool read_state(yw_world* world, yw_reader* reader) {
  world->time = yw_read_f64(reader);
  if (!isfinite(world->time)) return false;
  world->step_count = yw_read_u64(reader);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (!read_body(world, world->body_order.items[i], reader)) return false;
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    pin->by_hand = yw_read_u32(reader) != 0;
    pin->hand_begin = read_motion(reader);
    pin->hand_end = read_motion(reader);
  }
  yw_world_show(world);
  return !reader->failed && reader->offset == reader->size;
}

yw_status yw_world_load(yw_world* world, const void* buffer, size_t size, yw_error* error) {
  yw_error_clear(error);
  if (!world || !buffer) return yw_fail(error, YW_ERR_INVALID, "world or buffer is NULL");
  size_t least = sizeof magic + 2 * sizeof(uint64_t);
  if (size < least || memcmp(buffer, magic, sizeof magic) != 0) {
    return yw_fail(error, YW_ERR_FORMAT, "not a snapshot of this version of yawara (%zu bytes)",
                   size);
  }
  size_t body_size = size - sizeof(uint64_t);
  yw_reader tail = {.data = (const unsigned char*)buffer + body_size, .size = sizeof(uint64_t)};
  if (yw_read_u64(&tail) != yw_hash_bytes(YW_HASH_SEED, buffer, body_size)) {
    return yw_fail(error, YW_ERR_FORMAT, "the snapshot is damaged (its checksum does not match)");
  }
  yw_reader reader = {.data = buffer, .size = body_size, .offset = sizeof magic};
  if (yw_read_u64(&reader) != fingerprint(world)) {
    return yw_fail(error, YW_ERR_FORMAT,
                   "the snapshot belongs to another scene (bodies, pins or obstacles differ)");
  }

  // The way back, should the rest turn out to be wrong.
  size_t kept_size = yw_world_snapshot_size(world);
  void* kept = yw_mem_alloc(&world->mem, kept_size, 1);
  if (!kept) return yw_fail_memory(error, "loading a snapshot");
  yw_status status = yw_world_save(world, kept, kept_size, NULL);
  if (status >= 0 && !read_state(world, &reader)) {
    yw_reader back = {.data = kept,
                      .size = kept_size - sizeof(uint64_t),
                      .offset = sizeof magic + sizeof(uint64_t)};
    read_state(world, &back);
    status = yw_fail(error, YW_ERR_FORMAT, "the snapshot does not fit this scene");
  }
  yw_mem_free(&world->mem, kept);
  return status;
}
