// SPDX-License-Identifier: MIT
// Drives in snapshots.
#include "world/world.h"
#include "yawara/extend/hash.h"

void yw_drive_write_setup(const yw_drive* drive, yw_writer* w) {
  const float numbers[7] = {drive->from,    drive->to,      drive->smooth, drive->delay,
                            drive->point.x, drive->point.y, drive->point.z};
  yw_write_u32(w, (uint32_t)drive->by << 8 | (uint32_t)drive->aim);
  yw_write_u32(w, drive->body);
  yw_write_u32(w, drive->other);
  yw_write_f32(w, numbers, 7);
  yw_write_u32(w, (uint32_t)drive->num_particles);
  for (int32_t i = 0; i < drive->num_particles; ++i) yw_write_u32(w, (uint32_t)drive->particles[i]);
}

// Everything that the drive looks at is there.
static bool fits(const yw_world* world, const yw_drive* d) {
#define ALIVE(list, slot) ((slot) < (uint32_t)(list).count && ((list).items[slot].generation & 1))
  bool fit = ALIVE(world->bodies, d->body) && isfinite(d->from) && isfinite(d->to) &&
             d->from != d->to && d->smooth >= 0.0f && isfinite(d->smooth) && d->delay >= 0.0f &&
             isfinite(d->delay) && yw_is_finite3(d->point);
  if (d->by == YW_DRIVE_HANDLE) return fit && ALIVE(world->pins, d->other);
  if (d->by != YW_DRIVE_DISTANCE || d->aim == YW_DRIVE_TO_POINT) return fit;
  return fit && (d->aim == YW_DRIVE_TO_BODY ? ALIVE(world->bodies, d->other)
                                            : ALIVE(world->obstacles, d->other));
#undef ALIVE
}

static bool read_particles(yw_world* world, yw_reader* r, yw_drive* drive) {
  uint32_t count = yw_read_u32(r);
  if (r->failed || count > (r->size - r->offset) / sizeof(uint32_t)) return false;
  if (count == 0) return true;
  drive->particles = YW_NEW_ARRAY(&world->mem, int32_t, count);
  if (!drive->particles) return false;
  drive->num_particles = (int32_t)count;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t particle = yw_read_u32(r);
    if (particle > INT32_MAX) return false;
    drive->particles[i] = (int32_t)particle;
  }
  return true;
}

yw_drive* yw_drive_read_setup(yw_world* world, yw_reader* r) {
  yw_drive* drive = YW_NEW(&world->mem, yw_drive);
  if (!drive) return NULL;
  float n[7];
  uint32_t kinds = yw_read_u32(r);
  drive->body = yw_read_u32(r);
  drive->other = yw_read_u32(r);
  yw_read_f32(r, n, 7);
  bool known = kinds >> 8 <= YW_DRIVE_ENERGY && (kinds & 255) <= YW_DRIVE_TO_OBSTACLE;
  if (known) {
    drive->by = (yw_drive_measure)(kinds >> 8);
    drive->aim = (yw_drive_aim)(kinds & 255);
  }
  drive->from = n[0];
  drive->to = n[1];
  drive->smooth = n[2];
  drive->delay = n[3];
  drive->point = (yw_vec3){n[4], n[5], n[6]};
  if (known && !r->failed && read_particles(world, r, drive) && fits(world, drive)) return drive;
  yw_drive_free(world, drive);
  return NULL;
}

void yw_drive_write_state(const yw_drive* drive, yw_writer* w) {
  const float numbers[2] = {drive->level, drive->force};
  yw_write_f32(w, numbers, 2);
  yw_write_u32(w, (uint32_t)drive->num_samples);
  // Oldest first.
  for (int32_t k = drive->num_samples - 1; k >= 0; --k) {
    int32_t i = (drive->newest - k + YW_DRIVE_SAMPLES) % YW_DRIVE_SAMPLES;
    yw_write_f64(w, drive->times[i]);
    yw_write_f32(w, &drive->samples[i], 1);
  }
}

void yw_drive_read_state(yw_drive* drive, yw_reader* r) {
  float numbers[2];
  yw_read_f32(r, numbers, 2);
  uint32_t count = yw_read_u32(r);
  bool good = numbers[0] >= 0.0f && numbers[0] <= 1.0f && numbers[1] >= 0.0f &&
              isfinite(numbers[1]) && count <= YW_DRIVE_SAMPLES;
  if (r->failed || !good) {
    r->failed = true;
    return;
  }
  drive->level = numbers[0];
  drive->force = numbers[1];
  drive->num_samples = (int32_t)count;
  drive->newest = count > 0 ? (int32_t)count - 1 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    drive->times[i] = yw_read_f64(r);
    yw_read_f32(r, &drive->samples[i], 1);
    if (!isfinite(drive->times[i]) || !(drive->samples[i] >= 0.0f && drive->samples[i] <= 1.0f)) {
      r->failed = true;
    }
  }
}

uint64_t yw_drive_hash(const yw_drive* drive, uint64_t hash, uint64_t body, uint64_t other) {
  const float numbers[7] = {drive->from,    drive->to,      drive->smooth, drive->delay,
                            drive->point.x, drive->point.y, drive->point.z};
  hash = yw_hash_u64(hash, (uint64_t)drive->by << 8 | (uint64_t)drive->aim);
  hash = yw_hash_u64(yw_hash_u64(hash, body), other);
  hash = yw_hash_bytes(hash, numbers, sizeof numbers);
  if (!drive->particles) return hash;
  return yw_hash_bytes(hash, drive->particles,
                       (size_t)drive->num_particles * sizeof *drive->particles);
}
