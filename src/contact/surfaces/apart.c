// SPDX-License-Identifier: MIT
// Many bodies of a world fly or lie about by themselves. To fit boxes to their paths, leaf by leaf,
// takes as long as their step; a box around all of a body is read off in one pass.
#include "contact/surfaces/apart.h"

#include "math/small/float4.h"

void yw_apart_fit(yw_contact_work* work) {
  const yw_particles* p = work->body->particles;
  const float* radius = work->body->geometry.radius;
  yw_float4 lower = yw_float4_load(&p->pos[0]), upper = lower;
  for (int32_t i = 0; i < p->count; ++i) {
    yw_float4 begin = yw_float4_load(&work->body->begin[i]), end = yw_float4_load(&p->pos[i]);
    lower = yw_vf_min(lower, yw_vf_min(begin, end));
    upper = yw_vf_max(upper, yw_vf_max(begin, end));
  }
  float most = 0.0f;
  for (int32_t i = 0; radius && i < p->count; ++i) most = radius[i] > most ? radius[i] : most;
  yw_aabb box = {yw_v3(lower[0], lower[1], lower[2]), yw_v3(upper[0], upper[1], upper[2])};
  work->box = yw_aabb_pad(box, most);
  work->max_radius = most;
  work->apart = true;
  work->strayed = work->outdated = false;
}

void yw_apart_find(yw_contact_work* works, int32_t count, const yw_sort_item* order, yw_aabb* nodes,
                   const yw_touch_step* step) {
  yw_box_tree tree = yw_box_tree_of(nodes, count);
  for (int32_t k = 0; k < count; ++k) {
    const yw_contact_work* work = &works[order[k].value];
    bool meets = work->body->body_contact && work->complex->num_leaves > 0;
    tree.nodes[tree.first_leaf + k] =
        meets ? yw_aabb_pad(work->box, yw_touch_most_room(work, step)) : yw_aabb_empty();
  }
  yw_box_tree_refit(&tree);
  for (int32_t k = 0; k < count; ++k) {
    yw_contact_work* a = &works[order[k].value];
    yw_box_walk walk = yw_box_walk_begin(&tree, tree.nodes[tree.first_leaf + k]);
    // Each pair once: from this body on.
    walk.node = tree.first_leaf + k;
    for (int32_t other; (other = yw_box_walk_next(&walk)) >= 0;) {
      yw_contact_work* b = &works[order[other].value];
      if (other == k || !(a->apart || b->apart) || !yw_contact_may_meet(a->body, b->body)) continue;
      a->apart = b->apart = false;
    }
  }
}
