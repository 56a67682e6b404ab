// SPDX-License-Identifier: MIT
#include "world/path.h"

#include <string.h>

#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

yw_status yw_path_check(const yw_path* path, const char* what, yw_error* error) {
  if (path->num_keys < 0 || (path->num_keys > 0 && !path->keys)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: path has %d keys", what, path->num_keys);
  }
  if (!yw_is_finite3(path->pivot)) {
    return yw_fail(error, YW_ERR_INVALID, "%s: the pivot of the path is not finite", what);
  }
  for (int32_t i = 0; i < path->num_keys; ++i) {
    const yw_key* key = &path->keys[i];
    yw_quat q = key->rotation;
    float norm = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!isfinite(key->time) || !yw_is_finite3(key->offset) || !(norm > 1e-12f) ||
        !isfinite(norm)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "%s: key %d of the path has a time, offset or rotation that is not finite (a "
                     "rotation needs a length above 0)",
                     what, i);
    }
    if (i > 0 && !(key->time > path->keys[i - 1].time)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "%s: key %d of the path is at %g s, but must be later than key %d at %g s",
                     what, i, key->time, i - 1, path->keys[i - 1].time);
    }
  }
  return YW_OK;
}

bool yw_path_copy(const yw_allocator* mem, const yw_path* path, yw_path* out) {
  *out = *path;
  out->keys = NULL;
  if (path->num_keys == 0) return true;
  yw_key* keys = YW_NEW_ARRAY(mem, yw_key, path->num_keys);
  if (!keys) return false;
  for (int32_t i = 0; i < path->num_keys; ++i) {
    keys[i] = path->keys[i];
    keys[i].rotation = yw_quat_normalize(keys[i].rotation);
  }
  out->keys = keys;
  return true;
}

void yw_path_free(const yw_allocator* mem, yw_path* path) {
  yw_mem_free(mem, (void*)path->keys);
  path->keys = NULL;
  path->num_keys = 0;
}

yw_motion yw_motion_between(yw_motion a, yw_motion b, float t) {
  return (yw_motion){yw_lerp(a.offset, b.offset, t), yw_quat_slerp(a.rotation, b.rotation, t)};
}

// Catmull-Rom with tangents for uneven key times.
static yw_vec3 smooth_offset(const yw_path* path, int32_t i, float t) {
  const yw_key* keys = path->keys;
  int32_t before = i > 0 ? i - 1 : i, after = i + 2 < path->num_keys ? i + 2 : i + 1;
  float span = (float)(keys[i + 1].time - keys[i].time);
  float left = (float)(keys[i + 1].time - keys[before].time);
  float right = (float)(keys[after].time - keys[i].time);
  yw_vec3 a = keys[i].offset, b = keys[i + 1].offset;
  yw_vec3 tangent_a = yw_scale(yw_sub(b, keys[before].offset), span / left);
  yw_vec3 tangent_b = yw_scale(yw_sub(keys[after].offset, a), span / right);
  float t2 = t * t, t3 = t2 * t;
  yw_vec3 result = yw_scale(a, 2 * t3 - 3 * t2 + 1);
  result = yw_mad(result, t3 - 2 * t2 + t, tangent_a);
  result = yw_mad(result, -2 * t3 + 3 * t2, b);
  return yw_mad(result, t3 - t2, tangent_b);
}

yw_motion yw_path_at(const yw_path* path, double time) {
  if (path->num_keys == 0) return YW_MOTION_NONE;
  const yw_key* keys = path->keys;
  int32_t last = path->num_keys - 1;
  double first_time = keys[0].time, last_time = keys[last].time;
  if (path->loop && last > 0 && time > last_time) {
    double period = last_time - first_time;
    time = first_time + fmod(time - first_time, period);
  }
  if (time <= first_time) return (yw_motion){keys[0].offset, keys[0].rotation};
  if (time >= last_time) return (yw_motion){keys[last].offset, keys[last].rotation};

  // keys[low].time <= time < keys[high].time
  int32_t low = 0, high = last;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (keys[middle].time <= time) {
      low = middle;
    } else {
      high = middle;
    }
  }
  float t = (float)((time - keys[low].time) / (keys[high].time - keys[low].time));
  yw_motion a = {keys[low].offset, keys[low].rotation},
            b = {keys[high].offset, keys[high].rotation};
  yw_motion motion = yw_motion_between(a, b, t);
  if (path->smooth) motion.offset = smooth_offset(path, low, t);
  return motion;
}
