// SPDX-License-Identifier: MIT
// Kernels of fem bodies (methods/fem/offload.h).
//
// A thread computes one family of a batch, in the order of the front, and writes the forces on its
// nodes into slots; then a thread per node sums its slots. Formulas are those of the processor:
// methods/fem/family_lanes.h, node_lanes.h, element.h.
#ifndef YW_DEVICE_CUDA_FEM_KERNELS_H
#define YW_DEVICE_CUDA_FEM_KERNELS_H

#include "device/cuda/runtime.h"

/// Nodes of one level that hang, or that nodes of one level hang on.
struct fem_hang {
  const int32_t* nodes;
  const int32_t* start;     ///< per node, + 1: children, for forces; NULL: parents are read
  const int32_t* children;  ///< descending
  int32_t count;
};

struct fem_args {
  // The front.
  const fem_kind* kinds;
  fem_batches batches[FEM_KINDS];
  const float (*root_matrices)[FEM_TYPES][FEM_MATRIX];
  const float (*root_means)[FEM_MATRIX];
  const float (*root_squares)[FEM_TYPES][FEM_MAX_EDGES];
  const fem_batch_ref* order;
  const int32_t *nodes, *slot_start, *slots_of;  ///< active nodes
  int32_t num_batches, num_active;
  const int32_t (*parents)[2];  ///< per node
  // Per tet of all levels: of squeezed ones.
  const int32_t* first_child;
  const double *push_stiffness, *volume6;
  int32_t push_stride;  ///< 0: one stiffness for all

  const float* inv_mass;
  yw_vec4 *pos, *vel, *force, *slots;
  int* squeezed;  ///< count

  // Pins.
  const yw_hold* holds;
  const yw_spring* springs;
  int32_t num_holds, num_springs;
  bool springs_differ;

  // The surface.
  const int32_t* surface;
  int32_t num_surface;
  yw_vec4 *surface_old, *surface_pos, *surface_vel;
  ordered_box* box;

  fem_force_orders forces;
  fem_move_orders orders;
  fem_hang hang;  ///< of this launch
};

// Forces ------------------------------------------------------------------------------------------

template <bool DAMPED>
struct families_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 128, BLOCKS_PER_PROCESSOR = 4;
  static constexpr int BATCHES = THREADS / YW_LANES;

  KERNEL_FN void gather(const yw_vec4* from, const int32_t* nodes, int count, lane_vec3* out) {
    for (int n = 0; n < count; ++n) {
      yw_float4 row = yw_float4_load(&from[nodes[n * YW_LANES]]);
      out[n].x[0] = row.x, out[n].y[0] = row.y, out[n].z[0] = row.z;
    }
  }

  // Pushes the squeezed children of a family apart.
  KERNEL_FN void push(const args& a, const fem_kind* kind, int32_t owner, bool is_single,
                      uint32_t low, const lane_vec3* x, lane_vec3* f) {
    for (int32_t c = 0; c < kind->num_children; ++c) {
      if (!(low >> c & 1)) continue;
      int32_t tet = is_single ? owner : a.first_child[owner] + c;
      yw_dvec3 corner[4], force[4] = {};
      for (int s = 0; s < 4; ++s) {
        const lane_vec3* at = &x[kind->child_node[c][s]];
        corner[s] = (yw_dvec3){(double)at->x[0], (double)at->y[0], (double)at->z[0]};
      }
      yw_fem_push(a.push_stiffness[(size_t)tet * (size_t)a.push_stride], a.volume6[tet], corner,
                  force);
      for (int s = 0; s < 4; ++s) {
        lane_vec3* to = &f[kind->child_node[c][s]];
        to->x[0] += (float)force[s].x;
        to->y[0] += (float)force[s].y;
        to->z[0] += (float)force[s].z;
      }
      ADD_TO(a.squeezed, 1);
    }
  }

  KERNEL_FN void family(const args& a, fem_batch_ref ref, int32_t lane) {
    const fem_kind* kind = &a.kinds[ref.kind];
    const fem_batches* b = &a.batches[ref.kind];
    const size_t at = (size_t)ref.batch, nn = (size_t)kind->num_nodes;
    const int32_t* nodes = b->nodes + at * nn * YW_LANES + lane;
    const fem_force_args forces = {.kind = kind,
                                   .batches = b,
                                   .root_matrices = a.root_matrices,
                                   .root_means = a.root_means,
                                   .root_squares = a.root_squares,
                                   .type = ref.kind % FEM_OWN,
                                   .pos = a.pos,
                                   .vel = a.vel,
                                   .plastic = a.forces.plastic,
                                   .lag = a.forces.lag,
                                   .slots = a.slots,
                                   .squeezed = NULL};
    lane_vec3 x[FEM_FAMILY_NODES], v[DAMPED ? FEM_FAMILY_NODES : 1], f[FEM_FAMILY_NODES];
    edge_lanes edges;
    gather(a.pos, nodes, kind->num_nodes, x);
    if (DAMPED) gather(a.vel, nodes, kind->num_nodes, v);
    find_tensions(&forces, at, lane, kind, x, DAMPED ? v : NULL, &edges);
    add_forces(kind, &edges, lane, f);
    if (a.forces.look) {
      const int32_t present = b->present[at * YW_LANES + (size_t)lane];
      const float turn = b->turn[at * YW_LANES + (size_t)lane];
      uint32_t low = 0;
      for (int32_t c = 0; c < kind->num_children; ++c) {
        low |= (squeezed_lanes(&edges, kind, c, turn) & (uint32_t)(present >> c & 1)) << c;
      }
      int32_t owner = b->owner[at * YW_LANES + (size_t)lane];
      if (low) push(a, kind, owner, ref.kind == FEM_SINGLES, low, x, f);
    }
    yw_vec4* slot = a.slots + b->first_slot[at] + lane;
    for (size_t n = 0; n < nn; ++n) {
      slot[n * YW_LANES] = (yw_vec4){f[n].x[0], f[n].y[0], f[n].z[0], 0.0f};
    }
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int i = block * BATCHES + t / YW_LANES;
      if (i < a.num_batches) family(a, a.order[i], t % YW_LANES);
    }
  }
};

struct sums_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i >= a.num_active) continue;
      yw_float4 sum = sum_slots(a.slots, a.slots_of, a.slot_start[i], a.slot_start[i + 1]);
      yw_float4_store(&a.force[a.nodes[i]], sum);
    }
  }
};

// Forces on the nodes of one level that hang go to their parents, half to each (transfer.c).
struct carry_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i >= a.hang.count) continue;
      yw_vec4 sum = a.force[a.hang.nodes[i]];
      for (int32_t c = a.hang.start[i]; c < a.hang.start[i + 1]; ++c) {
        const yw_vec4* from = &a.force[a.hang.children[c]];
        sum.x += 0.5f * from->x;
        sum.y += 0.5f * from->y;
        sum.z += 0.5f * from->z;
      }
      a.force[a.hang.nodes[i]] = sum;
    }
  }
};

// Motion ------------------------------------------------------------------------------------------

// Lowers a.box to that of the velocities.
struct velocities_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      // Whole warps look for the least values: threads beyond the end repeat the last node.
      yw_vec3 v = yw_xyz(a.vel[a.nodes[i < a.num_active ? i : a.num_active - 1]]);
      const ordered_box own = order_box((yw_aabb){v, v});
      lower_all(a.box->least, own.least);
    }
  }
};

struct nodes_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i >= a.num_active) continue;
      int32_t n = a.nodes[i];
      float inv_mass = a.inv_mass[n];
      if (inv_mass != 0.0f) {
        move_node(&a.orders.move, inv_mass, &a.force[n], &a.pos[n], &a.vel[n]);
      }
    }
  }
};

// Springs and holds, in relative coordinates. A negative particle is not free, or held by another
// one too, later in the list.
struct fem_pins_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 512, BLOCKS_PER_PROCESSOR = 1;

  KERNEL_FN void pull(const args& a, const yw_spring* s) {
    int32_t n = s->particle;
    float h = a.orders.move.h;
    if (a.inv_mass[n] == 0.0f) return;
    yw_vec3 v = yw_xyz(a.vel[n]), x = yw_mad(yw_xyz(a.pos[n]), -h, v);
    yw_vec3 goal = yw_spring_at(s, a.orders.share), u = yw_spring_velocity(s, a.orders.h);
    v = yw_spring_pull(s, goal, u, x, v, a.inv_mass[n], h);
    a.vel[n] = yw_v4(v);
    a.pos[n] = yw_v4(yw_mad(x, h, v));
  }

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)block, (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int first = a.springs_differ ? t : 0, stride = a.springs_differ ? THREADS : 1;
      for (int32_t i = first; (a.springs_differ || t == 0) && i < a.num_springs; i += stride) {
        pull(a, &a.springs[i]);
      }
    }
    SYNC();
    EACH_THREAD(t) {
      for (int32_t i = t; i < a.num_holds; i += THREADS) {
        const yw_hold* hold = &a.holds[i];
        if (hold->particle < 0) continue;
        a.pos[hold->particle] = yw_v4(yw_hold_at(hold, a.orders.share));
        a.vel[hold->particle] = yw_v4(yw_hold_velocity(hold, a.orders.h));
      }
    }
  }
};

// Hanging nodes of one level are the means of their parents.
struct follow_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i >= a.hang.count) continue;
      int32_t n = a.hang.nodes[i];
      const int32_t* p = a.parents[n];
      yw_float4 x = yw_float4_load(&a.pos[p[0]]) + yw_float4_load(&a.pos[p[1]]);
      yw_float4 v = yw_float4_load(&a.vel[p[0]]) + yw_float4_load(&a.vel[p[1]]);
      yw_float4_store(&a.pos[n], 0.5f * x);
      yw_float4_store(&a.vel[n], 0.5f * v);
    }
  }
};

// The surface -------------------------------------------------------------------------------------

// Where it is before a step; the box starts anew.
struct surface_begin_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i < 6) a.box->least[i] = 0x7fffffff;
      if (i < a.num_surface) a.surface_old[i] = a.pos[a.surface[i]];
    }
  }
};

// Packed after a step, with the box of both places.
struct surface_end_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      // Whole warps look for the least values: threads beyond the end repeat the last node.
      int32_t k = i < a.num_surface ? i : a.num_surface - 1;
      int32_t n = a.surface[k];
      yw_aabb box = yw_aabb_grow(yw_aabb_empty(), yw_xyz(a.surface_old[k]));
      box = yw_aabb_grow(box, yw_xyz(a.pos[n]));
      const ordered_box own = order_box(box);
      lower_all(a.box->least, own.least);
      if (i < a.num_surface) {
        a.surface_pos[i] = a.pos[n];
        a.surface_vel[i] = a.vel[n];
      }
    }
  }
};

struct surface_back_kernel {
  typedef fem_args args;
  static constexpr int THREADS = 256, BLOCKS_PER_PROCESSOR = 4;

  KERNEL_FN void run(const args& a, int block, int num_blocks, char* memory) {
    (void)num_blocks, (void)memory;
    EACH_THREAD(t) {
      int32_t i = block * THREADS + t;
      if (i >= a.num_surface) continue;
      a.pos[a.surface[i]] = a.surface_pos[i];
      a.vel[a.surface[i]] = a.surface_vel[i];
    }
  }
};

#endif
