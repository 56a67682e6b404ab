// SPDX-License-Identifier: MIT
// The pose of a body, without where it is and how it is turned.
#include <math.h>

#include "core.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define ITERATIONS 60

static yw_vec3 mean_of(const yw_vec3* points, int32_t count) {
  double sum[3] = {0, 0, 0};
  for (int32_t i = 0; i < count; ++i) {
    sum[0] += (double)points[i].x;
    sum[1] += (double)points[i].y;
    sum[2] += (double)points[i].z;
  }
  double n = count;
  return yw_v3((float)(sum[0] / n), (float)(sum[1] / n), (float)(sum[2] / n));
}

static yw_quat small_turn(yw_vec3 turn) {
  float angle = yw_length(turn);
  if (!(angle > 1e-9f)) return (yw_quat){0, 0, 0, 1};
  float s = sinf(0.5f * angle) / angle;
  return (yw_quat){s * turn.x, s * turn.y, s * turn.z, cosf(0.5f * angle)};
}

// The rotation that best turns rest into pose. Mueller et al. 2016, "A robust method to extract the
// rotational part of deformations": turns towards the columns of the moment matrix until they
// agree.
static yw_quat best_turn(const yw_vec3* rest, yw_vec3 rest_mean, const yw_vec3* pose,
                         yw_vec3 pose_mean, int32_t count) {
  yw_vec3 a[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i < count; ++i) {
    yw_vec3 p = yw_sub(pose[i], pose_mean), q = yw_sub(rest[i], rest_mean);
    a[0] = yw_mad(a[0], q.x, p);
    a[1] = yw_mad(a[1], q.y, p);
    a[2] = yw_mad(a[2], q.z, p);
  }
  yw_quat turn = {0, 0, 0, 1};
  for (int32_t k = 0; k < ITERATIONS; ++k) {
    const yw_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    yw_vec3 sum = {0, 0, 0};
    float scale = 1e-12f;
    for (int i = 0; i < 3; ++i) {
      yw_vec3 column = yw_rotate(turn, axes[i]);
      sum = yw_add(sum, yw_cross(column, a[i]));
      scale += fabsf(yw_dot(column, a[i]));
    }
    turn = yw_quat_normalize(yw_quat_mul(small_turn(yw_scale(sum, 1.0f / scale)), turn));
  }
  return turn;
}

const yw_vec3* core_pose(core* c, int32_t body, int32_t* count) {
  *count = 0;
  if (!c->world || body < 0 || body >= c->shown->num_bodies) return NULL;
  int32_t num_rest = 0, num_now = 0;
  const yw_model* model = yw_body_model(c->world, c->bodies[body].id);
  const yw_vec3* rest = yw_model_points(model, &num_rest);
  const yw_vec3* now = yw_body_positions(c->world, c->bodies[body].id, &num_now);
  if (yw_model_tets(model)->num_tets == 0 || !rest || num_rest != num_now) return NULL;
  yw_mem_free(NULL, c->pose);
  c->pose = YW_NEW_ARRAY(NULL, yw_vec3, num_now);
  if (!c->pose) return NULL;
  yw_vec3 rest_mean = mean_of(rest, num_rest), now_mean = mean_of(now, num_now);
  yw_quat back = yw_quat_conjugate(best_turn(rest, rest_mean, now, now_mean, num_now));
  for (int32_t i = 0; i < num_now; ++i) {
    c->pose[i] = yw_add(rest_mean, yw_rotate(back, yw_sub(now[i], now_mean)));
  }
  *count = num_now;
  return c->pose;
}
