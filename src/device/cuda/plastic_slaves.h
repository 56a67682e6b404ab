// SPDX-License-Identifier: MIT
// Kernels over the slaves of a plastic body: a block of threads per block of slaves, or one thread
// per slave. Formulas are those of the processor: methods/plastic/slave_steps.h.
#ifndef YW_DEVICE_CUDA_PLASTIC_SLAVES_H
#define YW_DEVICE_CUDA_PLASTIC_SLAVES_H

#include "device/cuda/plastic_args.h"

/// A kernel that does something with every slave and adds up what it measures.
///   Work::COLUMNS                        number of sums
///   Work::is_over(a)                     nothing to do
///   Work::each(a, s, i, values)          slave i; values[k * stride] are what is added
///   Work::join(sums, k)                  sum k of a block from those of its columns
///   Work::settle(a, sums)                by one thread in the end, with NUM_SUMS sums
template <class Work>
struct summing_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 128, BLOCKS_PER_PROCESSOR = 8;
  typedef column_sums<typename Work::value, Work::COLUMNS, THREADS> columns;

  struct shared {
    columns sums;
    int is_last;
  };
  static size_t shared_bytes() { return sizeof(shared); }

  KERNEL_FN void sum_block(const args& a, shared* s, int32_t block) {
    EACH_THREAD(t) { columns::clear(&s->sums, t); }
    SYNC();
    const int32_t end = a.body.slave_block[block + 1];
    for (int32_t first = a.body.slave_block[block]; first < end; first += THREADS) {
      const int32_t count = end - first < THREADS ? end - first : THREADS;
      EACH_THREAD(t) {
        if (t < count) Work::each(a, first + t, &s->sums.value[0][t], THREADS + 1);
      }
      SYNC();
      EACH_THREAD(t) { columns::add(&s->sums, t, count); }
      SYNC();
    }
    EACH_THREAD(t) {
      if (t < Work::NUM_SUMS) add_exactly(&a.scalars->sums[t], Work::join(s->sums.sum, t));
    }
    SYNC();
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    if (Work::is_over(a)) return;
    for (int32_t b = block; b < a.body.num_slave_blocks; b += num_blocks) sum_block(a, s, b);
    if (!IS_LAST_BLOCK(&a.scalars->ended, &s->is_last, Work::NUM_SUMS - 1)) return;
    EACH_THREAD(t) {
      if (t != 0) continue;
      double sums[Work::NUM_SUMS];
      for (int k = 0; k < Work::NUM_SUMS; ++k) sums[k] = take_sum(&a.scalars->sums[k]);
      Work::settle(a, sums);
    }
  }
};

/// One column per sum.
template <int N>
struct plain_sums {
  typedef double value;
  static constexpr int COLUMNS = N, NUM_SUMS = N;
  KERNEL_FN double join(const double* sums, int k) { return sums[k]; }
};

KERNEL_FN yw_vec4 vec_of(yw_float4 v) { return (yw_vec4){v.x, v.y, v.z, v.w}; }

// Transfer ----------------------------------------------------------------------------------------

/// Velocities and masses of slaves, and the mean velocity.
struct momentum_work : plain_sums<4> {
  KERNEL_FN bool is_over(const plastic_args& a) { return (void)a, false; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    yw_vec4 v = plastic_velocity_of(vec_of(sum_of_parts(a, a.body.parts, i)));
    a.body.slave_vel[i] = v;
    double m = (double)v.w;
    values[0] = m * (double)v.x;
    values[stride] = m * (double)v.y;
    values[2 * stride] = m * (double)v.z;
    values[3 * stride] = m;
  }
  KERNEL_FN void settle(const plastic_args& a, const double* p) {
    a.scalars->mass = p[3];
    a.scalars->mean = yw_v3(0, 0, 0);
    if (p[3] > 0.0) {
      a.scalars->mean = yw_v3((float)(p[0] / p[3]), (float)(p[1] / p[3]), (float)(p[2] / p[3]));
    }
  }
};
typedef summing_kernel<momentum_work> to_slaves_kernel;

/// Forces; where obstacles are asked for, predicted positions and their box.
struct forces_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      // Whole warps look for the box.
      int32_t s = i < a.body.num_slaves ? i : a.body.num_slaves - 1;
      if (i < a.body.num_slaves) {
        yw_float4 sum = sum_of_parts(a, a.body.parts, s);
        a.body.force[s] = (yw_vec4){sum.x, sum.y, sum.z, 0.0f};
      }
      if (a.num_obstacles == 0) continue;
      yw_aabb box = yw_aabb_grow(yw_aabb_empty(), yw_xyz(a.body.slave_pos[s]));
      if (i < a.body.num_slaves) {
        yw_vec3 next = plastic_predict(&a.body, a.gravity, s);
        a.body.solved[s] = yw_v4(next);
        box = yw_aabb_grow(box, next);
      }
      lower_all(a.scalars->box.least, order_box(box).least);
    }
  }
};

// Contact -----------------------------------------------------------------------------------------

struct contacts_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 3;

  // contact/obstacles.c, probe_group, for one point.
  KERNEL_FN void probe(const args& a, yw_vec4 point, yw_vec4* normal, yw_vec4* velocity) {
    const float h = a.obstacle_h, at = a.begin + a.body.dt, inv_h = h > 0.0f ? 1.0f / h : 0.0f;
    *normal = *velocity = (yw_vec4){0, 0, 0, 0};
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      const yw_obstacle* o = &a.obstacles[k];
      const bool moves = !yw_same_pose(o->begin, o->end);
      const yw_transform pose = moves ? yw_pose_between(o->begin, o->end, at * inv_h) : o->begin;
      const yw_vec3 seen = see_point(pose, point);
      float distance = yw_shape_value(o->shape, seen);
      if (!(distance * pose.scale < -normal->w)) continue;
      yw_vec3 n;
      distance = yw_shape_value_normal(o->shape, seen, &n);
      *normal = yw_v4(yw_rotate(pose.rotation, n));
      normal->w = -distance * pose.scale;
      yw_vec3 way = yw_sub(yw_transform_point(o->end, seen), yw_transform_point(o->begin, seen));
      yw_vec3 v = moves && h > 0.0f ? yw_scale(way, 1.0f / h) : yw_v3(0, 0, 0);
      *velocity = yw_v4(v);
      velocity->w = o->sticky ? INFINITY : sqrtf(a.terms.friction * o->friction);
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t s = block * THREADS + t;
      if (s >= a.body.num_slaves) continue;
      if (a.is_clear) {
        a.body.normal[s].w = 0.0f;
        continue;
      }
      yw_vec4 ahead = a.body.solved[s], normal, velocity;
      probe(a, a.body.slave_pos[s], &a.body.normal[s], &a.body.surface_vel[s]);
      probe(a, ahead, &normal, &velocity);
      plastic_look_ahead(&a.body, s, ahead, normal, velocity);
      if (plastic_choose_contact(&a.body, a.gravity, s)) ADD_TO(&a.scalars->touching, 1);
    }
  }
};

/// Normal impulses on all slaves, and what they do to the memory of the body.
struct grip_work : plain_sums<1> {
  KERNEL_FN bool is_over(const plastic_args& a) { return (void)a, false; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    (void)stride;
    values[0] = plastic_is_far(&a.body) ? 0.0 : (double)plastic_press(&a.body, i);
  }
  KERNEL_FN void settle(const plastic_args& a, const double* sums) {
    a.scalars->grip = plastic_next_grip(&a.body, sums[0]);
  }
};
typedef summing_kernel<grip_work> grip_kernel;

// The solve ---------------------------------------------------------------------------------------

/// Preconditioner, first guess, and the norm that the residual is compared with.
struct begin_work : plain_sums<1> {
  KERNEL_FN bool is_over(const plastic_args& a) { return (void)a, false; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    (void)stride;
    if (!plastic_is_far(&a.body)) plastic_grip_slave(&a.body, a.scalars->grip, i);
    yw_float4 own = sum_of_parts(a, a.body.parts, i);
    yw_float4 mixed = sum_of_parts(a, a.body.parts + a.body.num_slots, i);
    plastic_invert_block(a.body.slave_vel[i].w + plastic_drag(&a.body, i), vec_of(own),
                         vec_of(mixed), a.body.inverse[i]);
    plastic_begin_slave(&a.body, a.gravity, a.scalars->mean, i);
    values[0] = plastic_measure(&a.body, a.scalars->mean, i);
  }
  KERNEL_FN void settle(const plastic_args& a, const double* sums) {
    plastic_scalars* s = a.scalars;
    double goal = (double)a.tolerance * (double)a.tolerance * sums[0];
    s->goal = a.fixed ? 0.0 : goal;
    // The first direction is taken as it is.
    s->alpha = 0.0f;
    s->beta = 1.0f;
    s->done = s->advances = s->failed = s->shifts = 0;
  }
};
typedef summing_kernel<begin_work> begin_kernel;

struct first_residual_work : plain_sums<1> {
  KERNEL_FN bool is_over(const plastic_args& a) { return (void)a, false; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    (void)stride;
    values[0] = plastic_first_residual(&a.body, a.scalars->mean, i);
  }
  KERNEL_FN void settle(const plastic_args& a, const double* sums) {
    plastic_scalars* s = a.scalars;
    s->rz = sums[0];
    s->alpha = s->beta = 0.0f;
    s->iterations = 0;
    s->done = !(s->rz > s->goal && a.most > 0);
  }
};
typedef summing_kernel<first_residual_work> first_residual_kernel;

/// An iteration: the pending step, the next direction, its product, and the next step.
struct multiply_work {
  typedef float value;
  static constexpr int COLUMNS = 12, NUM_SUMS = 4;
  KERNEL_FN double join(const double* sums, int k) {
    return (sums[3 * k] + sums[3 * k + 1]) + sums[3 * k + 2];
  }
  KERNEL_FN bool is_over(const plastic_args& a) { return is_solved(a); }

  KERNEL_FN void put(float* values, int stride, int k, yw_vec4 p, yw_vec4 q) {
    values[(3 * k) * stride] = p.x * q.x;
    values[(3 * k + 1) * stride] = p.y * q.y;
    values[(3 * k + 2) * stride] = p.z * q.z;
  }

  KERNEL_FN void each(const plastic_args& a, int32_t i, float* values, int stride) {
    const plastic_body& body = a.body;
    const float alpha = a.scalars->alpha, beta = a.scalars->beta;
    yw_vec4 *steep = plastic_steep(&body, i), *image = plastic_image(&body, i),
            *direction = plastic_direction(&body, i);
    yw_float4 p = yw_float4_load(direction);
    yw_float4 x = yw_float4_load(&body.solved[i]) + alpha * p;
    yw_float4 r = yw_float4_load(&body.residual[i]) - alpha * yw_float4_load(&body.product[i]);
    yw_float4 z = yw_float4_load(steep) - alpha * yw_float4_load(image);
    p = z + beta * p;
    yw_float4 sum = plastic_place(&body, i)->w * p + sum_of_parts(a, body.parts, i);
    sum.w = 0.0f;
    yw_vec4 q = vec_of(sum);
    if (body.touches[i]) q = plastic_free(&body.normal[i], q);
    const float* b = body.inverse[i];
    yw_vec4 u = {b[0] * q.x + b[3] * q.y + b[4] * q.z, b[3] * q.x + b[1] * q.y + b[5] * q.z,
                 b[4] * q.x + b[5] * q.y + b[2] * q.z, 0.0f};
    if (body.touches[i]) u = plastic_free(&body.normal[i], u);
    yw_float4_store(&body.solved[i], x);
    yw_float4_store(&body.residual[i], r);
    body.product[i] = q;
    yw_float4_store(steep, z);
    yw_float4_store(direction, p);
    *image = u;
    put(values, stride, 0, vec_of(p), q);
    put(values, stride, 1, vec_of(r), vec_of(z));
    put(values, stride, 2, vec_of(z), q);
    put(values, stride, 3, q, u);
  }

  // As `iterate` in solve.c.
  KERNEL_FN void settle(const plastic_args& a, const double* sums) {
    plastic_scalars* s = a.scalars;
    const double pq = sums[0], rz = sums[1], zq = sums[2], qu = sums[3];
    if (a.is_first) return;
    if (!(pq > 0.0) || !isfinite(pq) || !isfinite(rz)) {
      s->failed = s->done = 1;
      return;
    }
    double before = rz > 0.0 ? rz : 0.0, alpha = before / pq;
    s->rz = before - 2.0 * alpha * zq + alpha * alpha * qu;
    s->alpha = (float)alpha;
    s->before = before;
    ++s->iterations;
    s->advances = !(s->rz > s->goal) || s->iterations == a.most;
    s->beta = before > 0.0 ? (float)(s->rz / before) : 0.0f;
  }
};
typedef summing_kernel<multiply_work> multiply_kernel;

/// Applies the last step, where iterations end.
struct advance_work : plain_sums<1> {
  KERNEL_FN bool is_over(const plastic_args& a) { return !a.scalars->advances; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    (void)stride;
    values[0] = plastic_advance_slave(&a.body, a.scalars->alpha, i);
  }
  KERNEL_FN void settle(const plastic_args& a, const double* sums) {
    plastic_scalars* s = a.scalars;
    s->rz = sums[0];
    s->alpha = 0.0f;
    s->beta = s->before > 0.0 ? (float)(s->rz / s->before) : 0.0f;
    s->advances = 0;
    s->done = !(s->rz > s->goal && s->iterations < a.most);
  }
};
typedef summing_kernel<advance_work> advance_kernel;

/// Momentum that the solve has not distributed.
struct residue_work : plain_sums<3> {
  KERNEL_FN bool is_over(const plastic_args& a) { return a.scalars->failed; }
  KERNEL_FN void each(const plastic_args& a, int32_t i, double* values, int stride) {
    yw_vec4 r = a.body.residual[i];
    values[0] = a.body.normal[i].w != 0.0f ? (double)INFINITY : (double)r.x;
    values[stride] = (double)r.y;
    values[2 * stride] = (double)r.z;
  }
  KERNEL_FN void settle(const plastic_args& a, const double* p) {
    plastic_scalars* s = a.scalars;
    if (!isfinite(p[0] + p[1] + p[2]) || !(s->mass > 0.0)) return;
    s->mean = yw_v3((float)(p[0] / s->mass), (float)(p[1] / s->mass), (float)(p[2] / s->mass));
    s->shifts = 1;
  }
};
typedef summing_kernel<residue_work> residue_kernel;

// After the solve ---------------------------------------------------------------------------------

struct meet_again_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t s = block * THREADS + t;
      if (s >= a.body.num_slaves) continue;
      yw_vec4 v = a.body.solved[s];
      if (a.scalars->shifts) v = yw_v4(yw_add(yw_xyz(v), a.scalars->mean));
      plastic_meet(&a.body, s, &v);
      v.w = 1.0f;
      a.body.solved[s] = v;
    }
  }
};

/// Slaves move along; their largest speed relative to the first master.
struct follow_slaves_kernel {
  typedef plastic_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    if (a.scalars->lost) return;
    EACH_THREAD(t) {
      int32_t s = block * THREADS + t;
      float v2 = 0.0f;
      if (s < a.body.num_slaves) {
        yw_vec4 v = plastic_velocity_of(vec_of(sum_of_parts(a, a.body.parts, s)));
        a.body.slave_vel[s] = v;
        plastic_move_slave(&a.body, s);
        v2 = v.w > 0.0f ? plastic_distance2(v, a.particles.vel[0]) : 0.0f;
      }
      const int least[1] = {~order_of(v2 > 0.0f ? v2 : 0.0f)};
      lower_all(&a.scalars->speed2, least);
    }
  }
};

#endif
