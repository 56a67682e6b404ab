// SPDX-License-Identifier: MIT
// Snapshots hold the moving state: a world built in the same way continues from one bit for bit.
// The hash of a world is the hash of these bytes and of a fingerprint of its setup (models, pins,
// obstacles, gravity). The setup itself follows (setup.h), for worlds that go back:
//   magic, fingerprint, state, setup, size of the setup, checksum
#include <string.h>

#include "world/fingerprint.h"
#include "world/setup.h"
#include "world/world.h"
#include "yawara/extend/error.h"
#include "yawara/extend/hash.h"

static const char magic[8] = {'Y', 'W', 'S', 'N', 'A', 'P', '0', '7'};
// Starts what is hashed: hashes stay when the format of snapshots changes but not what they hold.
static const char hash_magic[8] = {'Y', 'W', 'S', 'N', 'A', 'P', '0', '3'};

// Masses of particles are part of the state where methods move mass from one to another.
static bool keeps_masses(const yw_method* method) { return method->settle || method->fold; }

// Offset of the state: after the magic bytes and the fingerprint.
#define STATE_BEGIN (sizeof magic + YW_FINGERPRINT_PARTS * sizeof(uint64_t))

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

static double read_finite(yw_reader* reader) {
  double value = yw_read_f64(reader);
  if (!isfinite(value)) reader->failed = true;
  return value;
}

// Reads positions or velocities; fails unless all are finite with w = 0.
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
    bool rests = body->rest_time > 0.0f || body->island != 0;
    bool placed = body->is_placed && world->surfaces;
    yw_write_u32(writer, (uint32_t)body->is_pressed << 5 | (uint32_t)placed << 4 |
                             (uint32_t)rests << 3 | (uint32_t)body->asleep << 2 |
                             (uint32_t)body->is_pushed << 1 | body->diverged);
    yw_write_u32(writer, body->active);
    if (rests) yw_write_f32(writer, &body->rest_time, 1);
    if (rests) yw_write_u32(writer, body->island);
    yw_write_f32(writer, &p->pos[0].x, 4 * (size_t)p->count);
    yw_write_f32(writer, &p->vel[0].x, 4 * (size_t)p->count);
    if (keeps_masses(body->model->method)) {
      yw_write_f32(writer, p->mass, (size_t)p->count);
    }
    if (body->is_pushed) yw_write_f32(writer, &body->pushes[0].x, 4 * (size_t)p->count);
    body->model->method->save(body->state, writer);
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    const yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    yw_write_u32(writer, pin->by_hand);
    write_motion(writer, pin->hand_begin);
    write_motion(writer, pin->hand_end);
  }
  for (int32_t i = 0; i < world->joints.count; ++i) {
    const yw_joint* joint = &world->joints.items[i];
    if (!(joint->generation & 1)) continue;
    yw_write_f64(writer, joint->motor_speed);
    yw_write_f64(writer, joint->motor_force);
    for (int k = 0; k < 6; ++k) yw_write_f64(writer, joint->turn_warm[k / 3][k % 3]);
    for (int32_t n = 0; n < 6 * joint->num_points; ++n) {
      yw_write_f64(writer, joint->points[n / 6].warm[n % 6 / 3][n % 3]);
    }
  }
  yw_tracks_write_state(world, writer);
  if (world->surfaces) yw_surfaces_save(world->surfaces, writer);
  for (int32_t i = 0; i < world->parting.count; ++i) yw_write_u64(writer, world->parting.items[i]);
}

void yw_world_write_snapshot(const yw_world* world, yw_writer* writer) {
  yw_fingerprint print = yw_world_fingerprint(world);
  yw_write_bytes(writer, writer->hashing ? hash_magic : magic, sizeof magic);
  for (int32_t i = 0; i < YW_FINGERPRINT_PARTS; ++i) yw_write_u64(writer, print.parts[i]);
  write_state(world, writer);
  if (writer->hashing) return;
  size_t begin = writer->size;
  yw_setup_write(world, writer);
  yw_write_u64(writer, writer->size - begin);
}

uint64_t yw_world_hash(const yw_world* world) {
  if (!world) return 0;
  yw_writer writer = {.hashing = true, .hash = YW_HASH_SEED};
  yw_order_give(world, (yw_order){.kind = YW_ORDER_HASH});
  yw_world_write_snapshot(world, &writer);
  yw_order_done(world);
  return writer.hash;
}

size_t yw_world_snapshot_size(const yw_world* world) {
  if (!world) return 0;
  yw_writer counter = {0};
  yw_order_give(world, (yw_order){.kind = YW_ORDER_SIZE});
  yw_world_write_snapshot(world, &counter);
  yw_order_done(world);
  return counter.size + sizeof(uint64_t);
}

yw_status yw_world_save(const yw_world* world, void* buffer, size_t capacity, size_t* size) {
  if (!world || !buffer) return YW_ERR_INVALID;
  yw_writer writer = {.data = buffer, .capacity = capacity};
  yw_order_give(world, (yw_order){.kind = YW_ORDER_SAVE});
  yw_world_write_snapshot(world, &writer);
  yw_order_done(world);
  if (!writer.overflow) {
    yw_write_u64(&writer, yw_hash_bytes(YW_HASH_SEED, writer.data, writer.size));
  }
  if (writer.overflow) return YW_ERR_LIMIT;
  if (size) *size = writer.size;
  return YW_OK;
}

// For methods that add and remove particles: reads their number and masses.
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

static bool read_pushes(yw_world* world, yw_body* body, yw_reader* reader) {
  int32_t capacity = body->particles.capacity;
  if (!body->pushes) body->pushes = YW_NEW_ARRAY(&world->mem, yw_vec4, capacity);
  if (!body->impulses) body->impulses = YW_NEW_ARRAY(&world->mem, yw_vec4, capacity);
  if (!body->pushes || !body->impulses) return false;
  read_vectors(reader, body->pushes, body->particles.count);
  return true;
}

static bool read_rest(yw_body* body, bool rests, yw_reader* reader) {
  body->rest_time = 0.0f;
  body->island = 0;
  if (!rests) return true;
  yw_read_f32(reader, &body->rest_time, 1);
  body->island = yw_read_u32(reader);
  return !reader->failed && body->rest_time >= 0.0f && isfinite(body->rest_time);
}

static bool read_body(yw_world* world, uint32_t slot, yw_reader* reader) {
  yw_body* body = &world->bodies.items[slot];
  const yw_method* method = body->model->method;
  yw_particles* p = &body->particles;
  uint32_t count = yw_read_u32(reader);
  bool fits = method->settle ? count <= (uint32_t)p->capacity : count == (uint32_t)p->count;
  if (reader->failed || !fits) return false;
  uint32_t flags = yw_read_u32(reader);
  bool diverged = flags & 1, is_pushed = flags & 2;
  bool active = yw_read_u32(reader) != 0;
  if (!read_rest(body, flags & 8, reader)) return false;
  p->count = (int32_t)count;
  read_vectors(reader, p->pos, p->count);
  read_vectors(reader, p->vel, p->count);
  if (keeps_masses(method)) read_masses(reader, p);
  if (is_pushed && !read_pushes(world, body, reader)) return false;
  body->is_pushed = is_pushed;
  body->asleep = flags & 4;
  body->is_placed = flags & 16;
  body->is_pressed = flags & 32;
  if (reader->failed) return false;
  if (keeps_masses(method)) yw_world_restore_masses(world, slot);
  method->invalidate(body->state, p);
  method->load(body->state, reader);
  body->diverged = diverged;
  body->status = YW_OK;
  body->active = active;
  if (body->asleep) yw_body_lie_down(world, body);
  // Contact may have cached a different topology under the same version.
  body->key = ++world->next_key;
  return !reader->failed;
}

// The rest of the state.
static yw_status read_parting(yw_world* world, yw_reader* reader) {
  uint64_t slots = (uint64_t)world->bodies.count;
  size_t count = (reader->size - reader->offset) / sizeof(uint64_t);
  world->parting.count = 0;
  if (count == 0) return YW_OK;
  if (count > slots * slots) return YW_ERR_FORMAT;
  if (!YW_LIST_RESERVE(&world->mem, &world->parting, (int32_t)count)) return YW_ERR_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    uint64_t pair = yw_read_u64(reader);
    if (pair >> 32 >= slots || (uint32_t)pair >= slots) return YW_ERR_FORMAT;
    world->parting.items[world->parting.count++] = pair;
  }
  return YW_OK;
}

static yw_status read_state(yw_world* world, yw_reader* reader) {
  world->time = yw_read_f64(reader);
  if (!isfinite(world->time)) return YW_ERR_FORMAT;
  world->step_count = yw_read_u64(reader);
  for (int32_t i = 0; i < world->body_order.count; ++i) {
    if (!read_body(world, world->body_order.items[i], reader)) return YW_ERR_FORMAT;
  }
  for (int32_t i = 0; i < world->pins.count; ++i) {
    yw_pin* pin = &world->pins.items[i];
    if (!(pin->generation & 1)) continue;
    pin->by_hand = yw_read_u32(reader) != 0;
    pin->hand_begin = read_motion(reader);
    pin->hand_end = read_motion(reader);
  }
  for (int32_t i = 0; i < world->joints.count; ++i) {
    yw_joint* joint = &world->joints.items[i];
    if (!(joint->generation & 1)) continue;
    joint->motor_speed = yw_read_f64(reader);
    joint->motor_force = yw_read_f64(reader);
    bool good = isfinite(joint->motor_speed) && joint->motor_force >= 0.0;
    if (!good || !isfinite(joint->motor_force)) reader->failed = true;
    for (int k = 0; k < 6; ++k) joint->turn_warm[k / 3][k % 3] = read_finite(reader);
    for (int32_t n = 0; n < 6 * joint->num_points; ++n) {
      joint->points[n / 6].warm[n % 6 / 3][n % 3] = read_finite(reader);
    }
  }
  yw_tracks_read_state(world, reader);
  yw_status status = reader->failed ? YW_ERR_FORMAT : YW_OK;
  if (status >= 0 && world->surfaces) status = yw_surfaces_load(world->surfaces, reader);
  if (status >= 0) status = read_parting(world, reader);
  if (status < 0) return status;
  yw_world_fit_meshes(world);
  yw_world_show(world, true);
  return !reader->failed && reader->offset == reader->size ? YW_OK : YW_ERR_FORMAT;
}

// Checks magic bytes and checksum, and positions the reader after the magic bytes.
static yw_status open_snapshot(const void* buffer, size_t size, yw_reader* reader,
                               yw_error* error) {
  if (!buffer) return yw_fail(error, YW_ERR_INVALID, "the snapshot is NULL");
  if (size < STATE_BEGIN + 2 * sizeof(uint64_t) || memcmp(buffer, magic, sizeof magic) != 0) {
    return yw_fail(error, YW_ERR_FORMAT, "not a snapshot of this version of yawara (%zu bytes)",
                   size);
  }
  size_t body_size = size - sizeof(uint64_t);
  yw_reader tail = {.data = (const unsigned char*)buffer + body_size, .size = sizeof(uint64_t)};
  if (yw_read_u64(&tail) != yw_hash_bytes(YW_HASH_SEED, buffer, body_size)) {
    return yw_fail(error, YW_ERR_FORMAT, "the snapshot is damaged (its checksum does not match)");
  }
  yw_reader setup = {.data = buffer, .size = body_size, .offset = body_size - sizeof(uint64_t)};
  uint64_t setup_size = yw_read_u64(&setup);
  size_t state_end = body_size - sizeof(uint64_t);
  if (setup_size > state_end - STATE_BEGIN) {
    return yw_fail(error, YW_ERR_FORMAT, "the snapshot is damaged (its parts have wrong sizes)");
  }
  *reader =
      (yw_reader){.data = buffer, .size = state_end - (size_t)setup_size, .offset = sizeof magic};
  return YW_OK;
}

yw_status yw_snapshot_info_of(const void* buffer, size_t size, yw_snapshot_info* out,
                              yw_error* error) {
  yw_error_clear(error);
  if (!out) return yw_fail(error, YW_ERR_INVALID, "yw_snapshot_info_of needs a place for the info");
  yw_reader reader = {0};
  yw_status status = open_snapshot(buffer, size, &reader, error);
  if (status < 0) return status;
  reader.offset = STATE_BEGIN;
  *out = (yw_snapshot_info){.time = yw_read_f64(&reader), .steps = yw_read_u64(&reader)};
  if (!reader.failed) return YW_OK;
  return yw_fail(error, YW_ERR_FORMAT, "the snapshot ends too early");
}

static yw_status check_fingerprint(const yw_world* world, yw_reader* reader, yw_error* error) {
  yw_fingerprint own = yw_world_fingerprint(world);
  for (int32_t i = 0; i < YW_FINGERPRINT_PARTS; ++i) {
    if (yw_read_u64(reader) == own.parts[i]) continue;
    return yw_fail(
        error, YW_ERR_FORMAT,
        "the snapshot belongs to another scene: %s differ (yw_world_restore goes back to "
        "it with all that was made or destroyed since)",
        yw_fingerprint_part_name(i));
  }
  return YW_OK;
}

static yw_status load_checked(yw_world* world, yw_reader* reader, yw_error* error) {
  // A copy to go back to if the rest is invalid.
  size_t kept_size = yw_world_snapshot_size(world);
  void* kept = yw_mem_alloc(&world->mem, kept_size, 1);
  if (!kept) return yw_fail_memory(error, "loading a snapshot");
  yw_status status = yw_world_save(world, kept, kept_size, NULL);
  if (status >= 0) status = read_state(world, reader);
  if (status < 0) {
    yw_reader back;
    if (open_snapshot(kept, kept_size, &back, NULL) >= 0) {
      back.offset = STATE_BEGIN;
      read_state(world, &back);
    }
    status = status == YW_ERR_MEMORY
                 ? yw_fail_memory(error, "loading a snapshot")
                 : yw_fail(error, YW_ERR_FORMAT, "the snapshot does not fit this scene");
  }
  yw_mem_free(&world->mem, kept);
  yw_tracks_restore(world);
  return status;
}

yw_status yw_world_load(yw_world* world, const void* buffer, size_t size, yw_error* error) {
  yw_error_clear(error);
  if (!world) return yw_fail(error, YW_ERR_INVALID, "the world is NULL");
  yw_reader reader = {0};
  yw_status status = open_snapshot(buffer, size, &reader, error);
  if (status >= 0) status = check_fingerprint(world, &reader, error);
  if (status < 0) return status;
  yw_order_give(world, (yw_order){.kind = YW_ORDER_LOAD, .size = size, .data = buffer});
  status = load_checked(world, &reader, error);
  yw_order_done(world);
  return status;
}

// Setup first, then the state of what it made.
static bool restore(yw_world* world, const void* buffer, size_t size, yw_error* error) {
  yw_reader state;
  if (open_snapshot(buffer, size, &state, error) < 0) return false;
  yw_reader setup = {.data = buffer, .size = size - 2 * sizeof(uint64_t), .offset = state.size};
  if (!yw_setup_read(world, &setup, error)) return false;
  if (setup.offset != setup.size || check_fingerprint(world, &state, NULL) < 0) return false;
  yw_status status = read_state(world, &state);
  if (status == YW_ERR_MEMORY) yw_fail_memory(error, "going back to a snapshot");
  return status >= 0;
}

yw_status yw_world_restore(yw_world* world, const void* buffer, size_t size, yw_error* error) {
  yw_error_clear(error);
  if (!world) return yw_fail(error, YW_ERR_INVALID, "the world is NULL");
  yw_error local = {0}, *told = error ? error : &local;
  yw_reader reader;
  yw_status status = open_snapshot(buffer, size, &reader, told);
  if (status < 0) return status;
  size_t kept_size = yw_world_snapshot_size(world);
  void* kept = yw_mem_alloc(&world->mem, kept_size, 1);
  if (!kept) return yw_fail_memory(error, "going back to a snapshot");
  // Until this is over, nothing that may have to be made again is let go.
  bool keeps = world->rollback;
  world->rollback = true;
  status = yw_world_save(world, kept, kept_size, NULL);
  if (status >= 0 && !restore(world, buffer, size, told)) {
    // Everything that was there is still at hand, or kept for this.
    bool back = restore(world, kept, kept_size, NULL);
    status = told->status < 0
                 ? told->status
                 : yw_fail(told, YW_ERR_FORMAT, "the snapshot does not fit this world");
    if (!back) status = yw_fail_memory(error, "going back to a snapshot");
  }
  yw_tracks_restore(world);
  world->rollback = keeps;
  if (!keeps) yw_setup_release(world);
  yw_mem_free(&world->mem, kept);
  return status;
}
