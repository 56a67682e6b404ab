// SPDX-License-Identifier: MIT
// The end of a step of a match body: contact with obstacles, as contact/obstacles.c has it, and
// positions return to the world (kit/near.h). A block of threads does it for the particles that it
// has pulled (match_pull.h), or, where pins move some in between, for those of a chunk.
#ifndef YW_DEVICE_CUDA_MATCH_MEET_H
#define YW_DEVICE_CUDA_MATCH_MEET_H

#include "device/cuda/match_body.h"
#include "device/cuda/meet.h"

/// As in world/step.c: a body with a larger speed or coordinate has diverged.
#define MOST_COORDINATE 1e9f

/// Contact and return of up to 1,024 particles, `first` and following, by a block of threads.
template <int THREADS>
struct meeting {
  static constexpr int MOST = YW_COLLIDE_CHUNK;
  static constexpr int MOST_AIMED = 4;  // obstacles that are looked at in advance

  /// In the world.
  struct places {
    yw_vec4 *pos, *old_pos, *vel;
  };
  static size_t bytes_of_places(int count) { return 3 * (size_t)count * sizeof(yw_vec4); }
  KERNEL_FN places places_in(void* memory, int count) {
    yw_vec4* first = (yw_vec4*)memory;
    return (places){first, first + count, first + 2 * count};
  }

  struct shared {
    uint8_t touched[MOST];
    ordered_box path;  // before and after the step
    yw_obstacle_motion motion, aimed[MOST_AIMED];
    bool is_met, is_aimed[MOST_AIMED];  // may touch the particles
    int contacts, corners;
    ordered_box after;
    int bad;
  };

  // The obstacle as it moves in this inner step; is_met: it may touch the particles.
  KERNEL_FN void aim_at(const match_args& a, shared* s, int32_t k, bool settles) {
    const yw_obstacle* o = &a.obstacles[k];
    const yw_aabb box = box_of_ordered(&s->path);
    s->is_met = yw_aabb_overlap(o->bounds, box);
    if (!s->is_met) return;
    s->motion = yw_obstacle_motion_of(&a.terms, o);
    const yw_obstacle_motion* m = &s->motion;
    s->is_met = settles || !yw_obstacle_box_is_clear(o, m->first, m->last, m->moves, box);
  }

  /// An obstacle that is known to be near the particles or not.
  KERNEL_FN void aim(const match_args& a, shared* s, int32_t k, bool is_near) {
    s->is_aimed[k] = is_near;
    if (is_near) s->aimed[k] = yw_obstacle_motion_of(&a.terms, &a.obstacles[k]);
  }

  KERNEL_FN void meet_one(const match_args& a, shared* s, const yw_obstacle_motion* motion,
                          places at, int32_t first, int32_t count) {
    EACH_THREAD(t) {
      for (int32_t i = t; i < count; i += THREADS) {
        if (a.inv_mass[first + i] == 0.0f) continue;
        bool hit = meet_obstacle(motion, 0.0f, at.old_pos[i], &at.pos[i], &at.vel[i]);
        if (hit && s->touched[i] < UINT8_MAX) ++s->touched[i];
        if (s->touched[i] == 2) ADD_TO(&s->corners, 1);
      }
    }
  }

  // The first num_aimed obstacles have been aimed at.
  KERNEL_FN void meet_all(const match_args& a, shared* s, places at, int32_t first, int32_t count,
                          int32_t num_aimed) {
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      if (k >= num_aimed) {
        EACH_THREAD(t) {
          if (t == 0) aim_at(a, s, k, false);
        }
        SYNC();
        if (s->is_met) meet_one(a, s, &s->motion, at, first, count);
        SYNC();
      } else if (s->is_aimed[k]) {
        meet_one(a, s, &s->aimed[k], at, first, count);
      }
    }
    SYNC();
  }

  // Particles that met two obstacles meet all of them once more.
  KERNEL_FN void settle_in_corners(const match_args& a, shared* s, places at, int32_t first,
                                   int32_t count) {
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      EACH_THREAD(t) {
        if (t == 0) aim_at(a, s, k, true);
      }
      SYNC();
      if (s->is_met) {
        EACH_THREAD(t) {
          for (int32_t i = t; i < count; i += THREADS) {
            if (s->touched[i] < 2 || a.inv_mass[first + i] == 0.0f) continue;
            meet_obstacle(&s->motion, 0.0f, at.old_pos[i], &at.pos[i], &at.vel[i]);
          }
        }
      }
      SYNC();
    }
  }

  // True also where both are not a number: the body has diverged then.
  KERNEL_FN bool is_same(float x, float y) {
    return (x == y && !signbit(x) == !signbit(y)) || (x != x && y != y);
  }
  KERNEL_FN bool have_same_bits(yw_vec4 x, yw_vec4 y) {
    return is_same(x.x, y.x) && is_same(x.y, y.y) && is_same(x.z, y.z);
  }

  KERNEL_FN yw_vec4 shift(yw_vec4 x, yw_vec3 by) {
    return (yw_vec4){x.x + by.x, x.y + by.y, x.z + by.z, x.w + 0.0f};
  }

  KERNEL_FN bool is_sane(float x, float y, float z) {
    return fabsf(x) < MOST_COORDINATE && fabsf(y) < MOST_COORDINATE && fabsf(z) < MOST_COORDINATE;
  }

  KERNEL_FN bool is_zero(yw_vec3 v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }

  // Positions in the world, before and after.
  KERNEL_FN void take_places(const match_args& a, const match_step& from, shared* s, places at,
                             int32_t first, int32_t count, int t) {
    const match_step step = own_step(a, from);
    yw_vec3 origin = step.origin;
    bool in_place = is_zero(origin);
    // Whole warps, also where there is no particle.
    for (int32_t i = t; i < (count + 31) / 32 * 32; i += THREADS) {
      bool live = i < count;
      int32_t p = first + (live ? i : 0);
      yw_vec4 now = a.new_pos[p], old = match_relative(&step, p);
      now = in_place ? now : shift(now, origin);
      old = in_place ? old : shift(old, origin);
      yw_aabb box = yw_aabb_grow(yw_aabb_grow(yw_aabb_empty(), yw_xyz(now)), yw_xyz(old));
      lower_all(s->path.least, order_box(box).least);
      if (!live) continue;
      at.pos[i] = now;
      at.old_pos[i] = old;
      at.vel[i] = a.vel[p];
      s->touched[i] = 0;
    }
  }

  KERNEL_FN void keep_places(const match_args& a, yw_vec3 origin, shared* s, places at,
                             int32_t first, int32_t count, int t) {
    int contacts = 0;
    for (int32_t i = t; i < count; i += THREADS) {
      if (s->touched[i] == 0) continue;
      ++contacts;
      yw_vec4 now = a.new_pos[first + i], after = at.pos[i];
      a.vel[first + i] = at.vel[i];
      if (is_zero(origin)) {
        a.new_pos[first + i] = after;
      } else if (!have_same_bits(shift(now, origin), after)) {
        a.new_pos[first + i] =
            (yw_vec4){after.x - origin.x, after.y - origin.y, after.z - origin.z, 0.0f};
      }
    }
    if (contacts > 0) ADD_TO(&s->contacts, contacts);
  }

  /// Meets all obstacles.
  KERNEL_FN void collide(const match_args& a, const match_step& step, shared* s, places at,
                         int32_t first, int32_t count, int32_t num_aimed) {
    EACH_THREAD(t) {
      if (t < 6) s->path.least[t] = INT32_MAX;
      if (t == 6) s->contacts = s->corners = 0;
    }
    SYNC();
    EACH_THREAD(t) { take_places(a, step, s, at, first, count, t); }
    SYNC();
    meet_all(a, s, at, first, count, num_aimed);
    if (s->corners > 0) settle_in_corners(a, s, at, first, count);
    EACH_THREAD(t) { keep_places(a, step.origin, s, at, first, count, t); }
    SYNC();
    EACH_THREAD(t) {
      if (t == 0 && s->contacts > 0) ADD_TO(&a.scalars->contacts, s->contacts);
    }
  }

  /// Positions return to the world; what its floats cannot hold is kept.
  KERNEL_FN void leave(const match_args& a, const match_step& step, shared* s, int32_t first,
                       int32_t count) {
    const yw_vec3 origin = step.origin;
    const bool keeps = step.has_cut || !is_zero(origin);
    EACH_THREAD(t) {
      if (t < 6) s->after.least[t] = INT32_MAX;
      if (t == 0) s->bad = 0;
    }
    SYNC();
    EACH_THREAD(t) {
      // Whole warps, also where there is no particle.
      for (int32_t i = t; i < (count + 31) / 32 * 32; i += THREADS) {
        bool live = i < count;
        int32_t p = first + (live ? i : 0);
        yw_vec4 exact = a.new_pos[p], there = shift(exact, origin), v = a.vel[p];
        if (live && keeps) {
          a.cut[p] = (yw_vec4){exact.x - (there.x - origin.x), exact.y - (there.y - origin.y),
                               exact.z - (there.z - origin.z), 0.0f};
        }
        if (live && (keeps || !have_same_bits(exact, there))) a.new_pos[p] = there;
        ordered_box own = order_box((yw_aabb){yw_xyz(there), yw_xyz(there)});
        for (int k = 0; k < 6; ++k) own.least[k] = live ? own.least[k] : INT32_MAX;
        lower_all(s->after.least, own.least);
        bool is_good = is_sane(there.x, there.y, there.z) && is_sane(v.x, v.y, v.z);
        if (live && !is_good) s->bad = 1;
      }
    }
    SYNC();
  }

  /// For the next substep: where the particles are.
  KERNEL_FN void finish_leaving(const match_args& a, const int least[6], int bad, int t) {
    if (t < 6) lower_one(&a.scalars->placed.least[t], least[t]);
    if (t == 6 && bad) ADD_TO(&a.scalars->bad, 1);
  }
};

/// Where pins have moved particles after they were pulled.
struct meet_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 2;
  typedef meeting<THREADS> meets;

  struct alignas(16) shared {
    meets::shared meeting;
    match_step step;
  };

  static size_t shared_bytes() { return sizeof(shared) + meets::bytes_of_places(meets::MOST); }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks;
    shared* s = (shared*)memory;
    int32_t first = block * meets::MOST, left = a.model.num_particles - first;
    int32_t count = left < meets::MOST ? left : meets::MOST;
    if (a.scalars->diverged) return;
    EACH_THREAD(t) { copy_step(a.scalars->step, &s->step, t); }
    SYNC();
    const meets::places at = meets::places_in(memory + sizeof(shared), meets::MOST);
    if (a.num_obstacles > 0) meets::collide(a, s->step, &s->meeting, at, first, count, 0);
    if (!a.leaves) return;
    meets::leave(a, s->step, &s->meeting, first, count);
    EACH_THREAD(t) { meets::finish_leaving(a, s->meeting.after.least, s->meeting.bad, t); }
  }
};

#endif
