// SPDX-License-Identifier: MIT
// The end of a step of a match body: contact with obstacles, as contact/obstacles.c has it, one
// block of threads per chunk of particles; and positions return to the world (kit/near.h).
#ifndef YW_DEVICE_CUDA_MATCH_MEET_H
#define YW_DEVICE_CUDA_MATCH_MEET_H

#include "device/cuda/match_kernels.h"

/// As in world/step.c: a body with a larger speed or coordinate has diverged.
#define MOST_COORDINATE 1e9f

KERNEL_FN yw_vec3 see_point(yw_transform pose, yw_vec4 point) {
  yw_mat3 turn = yw_mat3_transpose(yw_mat3_from_quat(pose.rotation));
  float shrink = 1.0f / pose.scale;
  return yw_scale(yw_mul(turn, yw_sub(yw_xyz(point), pose.position)), shrink);
}

/// collide_group for one particle.
KERNEL_FN bool meet_obstacle(const yw_obstacle_motion* motion, yw_vec4 old_pos, yw_vec4* pos,
                             yw_vec4* vel) {
  yw_vec3 now = motion->in_place ? yw_xyz(*pos) : see_point(motion->last, *pos);
  float end_distance = yw_shape_value(motion->shape, now), gap = end_distance * motion->last.scale;
  yw_vec3 path = yw_sub(yw_xyz(*pos), yw_xyz(old_pos));
  if (gap > 0.0f && !motion->moves && gap * gap > yw_length2(path)) return false;
  yw_sighting s;
  s.from = motion->in_place ? yw_xyz(old_pos) : see_point(motion->first, old_pos);
  s.to = now;
  s.radius = 0.0f;
  s.pressing = nullptr;
  s.start_gap = yw_shape_value_normal(motion->shape, s.from, &s.normal);
  s.end_gap = end_distance;
  if (yw_rests_in_place(motion, &s, vel)) {
    *pos = old_pos;
    *vel = yw_v4(yw_v3(0, 0, 0));
    return true;
  }
  return yw_collide_particle(motion, &s, old_pos, pos, vel);
}

struct meet_kernel {
  typedef match_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;
  static constexpr int CHUNK = YW_COLLIDE_CHUNK, GROUP = YW_COLLIDE_GROUP;
  static constexpr int GROUPS = CHUNK / GROUP, PARTS = THREADS / GROUPS;

  struct alignas(16) shared {
    yw_vec4 pos[CHUNK], old_pos[CHUNK], vel[CHUNK];  // in the world
    uint8_t touched[CHUNK];
    yw_aabb boxes[THREADS];  // of parts of groups, then of groups
    yw_aabb halves[GROUPS];  // of halves of the chunk, ..., of the chunk
    yw_obstacle_motion motion;
    bool is_met, group_is_met[GROUPS];
    int contacts, corners, bad, flag;
  };

  static size_t shared_bytes() { return sizeof(shared); }

  // Boxes of the paths: of parts of groups, of groups, of the chunk.
  KERNEL_FN void box_paths(shared* s, int32_t count) {
    EACH_THREAD(t) {
      yw_aabb box = yw_aabb_empty();
      int32_t first = t / PARTS * GROUP + t % PARTS;
      for (int32_t i = first; i < (t / PARTS + 1) * GROUP && i < count; i += PARTS) {
        box = yw_aabb_grow(yw_aabb_grow(box, yw_xyz(s->pos[i])), yw_xyz(s->old_pos[i]));
      }
      s->boxes[t] = box;
    }
    for (int half = PARTS / 2; half > 0; half /= 2) {
      SYNC();
      EACH_THREAD(t) {
        if (t % PARTS < half) s->boxes[t] = yw_aabb_join(s->boxes[t], s->boxes[t + half]);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      if (t < GROUPS) s->halves[t] = s->boxes[t * PARTS];
    }
    for (int half = GROUPS / 2; half > 0; half /= 2) {
      SYNC();
      EACH_THREAD(t) {
        if (t < half) s->halves[t] = yw_aabb_join(s->halves[t], s->halves[t + half]);
      }
    }
    SYNC();
  }

  // The obstacle as it moves in this inner step; is_met: it may touch the chunk.
  KERNEL_FN void aim_at(const args& a, shared* s, int32_t k, bool settles) {
    const yw_obstacle* o = &a.obstacles[k];
    s->is_met = yw_aabb_overlap(o->bounds, s->halves[0]);
    if (!s->is_met) return;
    s->motion = yw_obstacle_motion_of(&a.terms, o);
    const yw_obstacle_motion* m = &s->motion;
    s->is_met = settles || !yw_obstacle_box_is_clear(o, m->first, m->last, m->moves, s->halves[0]);
  }

  KERNEL_FN void meet_all(const args& a, shared* s, int32_t first, int32_t count) {
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      EACH_THREAD(t) {
        if (t == 0) aim_at(a, s, k, false);
      }
      SYNC();
      if (s->is_met) {
        const yw_obstacle_motion* m = &s->motion;
        EACH_THREAD(t) {
          if (t % PARTS == 0) {
            s->group_is_met[t / PARTS] = !yw_obstacle_box_is_clear(&a.obstacles[k], m->first,
                                                                   m->last, m->moves, s->boxes[t]);
          }
        }
        SYNC();
        EACH_THREAD(t) {
          for (int32_t i = t; i < count; i += THREADS) {
            if (!s->group_is_met[i / GROUP] || a.inv_mass[first + i] == 0.0f) continue;
            bool hit = meet_obstacle(m, s->old_pos[i], &s->pos[i], &s->vel[i]);
            if (hit && s->touched[i] < UINT8_MAX) ++s->touched[i];
            if (s->touched[i] == 2) ADD_TO(&s->corners, 1);
          }
        }
      }
      SYNC();
    }
  }

  // Particles that met two obstacles meet all of them once more.
  KERNEL_FN void settle_in_corners(const args& a, shared* s, int32_t first, int32_t count) {
    for (int32_t k = 0; k < a.num_obstacles; ++k) {
      EACH_THREAD(t) {
        if (t == 0) aim_at(a, s, k, true);
      }
      SYNC();
      if (s->is_met) {
        EACH_THREAD(t) {
          for (int32_t i = t; i < count; i += THREADS) {
            if (s->touched[i] < 2 || a.inv_mass[first + i] == 0.0f) continue;
            meet_obstacle(&s->motion, s->old_pos[i], &s->pos[i], &s->vel[i]);
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

  KERNEL_FN bool is_sane(yw_vec4 v) {
    return fabsf(v.x) < MOST_COORDINATE && fabsf(v.y) < MOST_COORDINATE &&
           fabsf(v.z) < MOST_COORDINATE;
  }

  // Fills the positions in the world, and meets obstacles.
  KERNEL_FN void collide(const args& a, shared* s, int32_t first, int32_t count) {
    yw_vec3 origin = a.scalars->origin;
    EACH_THREAD(t) {
      const match_step step = own_step(a, a.scalars->step);
      bool in_place = origin.x == 0.0f && origin.y == 0.0f && origin.z == 0.0f;
      for (int32_t i = t; i < count; i += THREADS) {
        yw_vec4 now = a.new_pos[first + i], old = match_relative(&step, first + i);
        s->pos[i] = in_place ? now : shift(now, origin);
        s->old_pos[i] = in_place ? old : shift(old, origin);
        s->vel[i] = a.vel[first + i];
        s->touched[i] = 0;
      }
    }
    SYNC();
    box_paths(s, count);
    meet_all(a, s, first, count);
    if (s->corners > 0) settle_in_corners(a, s, first, count);
    EACH_THREAD(t) {
      bool in_place = origin.x == 0.0f && origin.y == 0.0f && origin.z == 0.0f;
      int contacts = 0;
      for (int32_t i = t; i < count; i += THREADS) {
        if (s->touched[i] == 0) continue;
        ++contacts;
        yw_vec4 now = a.new_pos[first + i], after = s->pos[i];
        a.vel[first + i] = s->vel[i];
        if (in_place) {
          a.new_pos[first + i] = after;
        } else if (!have_same_bits(shift(now, origin), after)) {
          a.new_pos[first + i] =
              (yw_vec4){after.x - origin.x, after.y - origin.y, after.z - origin.z, 0.0f};
        }
      }
      if (contacts > 0) ADD_TO(&s->contacts, contacts);
    }
    SYNC();
  }

  // The box of a block becomes that of its first thread.
  KERNEL_FN void join_in_block(shared* s) {
    for (int half = THREADS / 2; half > 0; half /= 2) {
      SYNC();
      EACH_THREAD(t) {
        if (t < half) s->boxes[t] = yw_aabb_join(s->boxes[t], s->boxes[t + half]);
      }
    }
    SYNC();
  }

  // Positions return to the world; what its floats cannot hold is kept.
  KERNEL_FN void leave(const args& a, shared* s, int32_t first, int32_t count) {
    yw_vec3 origin = a.scalars->origin;
    EACH_THREAD(t) {
      yw_aabb box = yw_aabb_empty();
      bool moved = origin.x != 0.0f || origin.y != 0.0f || origin.z != 0.0f;
      bool keeps = moved || a.scalars->has_cut != 0;
      bool at_hand = !moved && a.scalars->is_near;  // in shared memory
      for (int32_t i = t; i < count; i += THREADS) {
        int32_t p = first + i;
        yw_vec4 exact = at_hand ? s->pos[i] : a.new_pos[p], there = shift(exact, origin);
        yw_vec4 v = at_hand ? s->vel[i] : a.vel[p];
        if (keeps) {
          a.cut[p] = (yw_vec4){exact.x - (there.x - origin.x), exact.y - (there.y - origin.y),
                               exact.z - (there.z - origin.z), 0.0f};
        }
        if (keeps || !have_same_bits(exact, there)) a.new_pos[p] = there;
        box = yw_aabb_grow(box, yw_xyz(there));
        if (!is_sane(there) || !is_sane(v)) ADD_TO(&s->bad, 1);
      }
      s->boxes[t] = box;
    }
    join_in_block(s);
  }

  KERNEL_FN void join_boxes(const args& a, shared* s, int num_blocks) {
    EACH_THREAD(t) {
      yw_aabb box = yw_aabb_empty();
      for (int c = t; c < num_blocks; c += THREADS) box = yw_aabb_join(box, a.boxes[c]);
      s->boxes[t] = box;
    }
    join_in_block(s);
  }

  KERNEL_FN void finish(const args& a, const shared* s) {
    match_scalars* out = a.scalars;
    if (a.enters) out->most_contacts = 0;
    if (out->contacts > out->most_contacts) out->most_contacts = out->contacts;
    out->contacts = 0;
    if (out->bad > 0) out->diverged = 1;
    if (!a.leaves) return;
    out->placed = s->boxes[0];
    out->has_cut = out->origin.x != 0.0f || out->origin.y != 0.0f || out->origin.z != 0.0f;
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    shared* s = (shared*)memory;
    int32_t first = block * CHUNK, left = a.model.num_particles - first;
    int32_t count = left < CHUNK ? left : CHUNK;
    if (a.scalars->diverged) return;
    EACH_THREAD(t) {
      if (t == 0) s->contacts = s->corners = s->bad = 0;
    }
    SYNC();
    if (a.scalars->is_near) collide(a, s, first, count);
    if (a.leaves) leave(a, s, first, count);
    EACH_THREAD(t) {
      if (t == 0) {
        if (a.leaves) a.boxes[block] = s->boxes[0];
        if (s->contacts > 0) ADD_TO(&a.scalars->contacts, s->contacts);
        if (s->bad > 0) ADD_TO(&a.scalars->bad, s->bad);
      }
    }
    if (!IS_LAST_BLOCK(&a.scalars->ended[2], &s->flag, 0)) return;
    if (a.leaves) join_boxes(a, s, num_blocks);
    EACH_THREAD(t) {
      if (t == 0) finish(a, s);
    }
  }
};

#endif
