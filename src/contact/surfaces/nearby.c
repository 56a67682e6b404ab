// SPDX-License-Identifier: MIT
#include "contact/surfaces/nearby.h"

#include <string.h>

#include "yawara/extend/memory.h"

// Adds a particle that is not marked with the number; returns the new count.
static int32_t list_particle(yw_nearby* n, int32_t* marks, int32_t number, int32_t particle,
                             int32_t count) {
  if (particle < 0 || marks[particle] == number) return count;
  marks[particle] = number;
  n->particles[count] = particle;
  return count + 1;
}

static void list_particles(yw_nearby* n, const yw_complex* c, int32_t* marks) {
  int32_t count = 0;
  for (int32_t leaf = 0; leaf < c->num_leaves; ++leaf) {
    int32_t first = c->leaves[leaf].triangle, end = c->leaves[leaf + 1].triangle;
    n->starts[2 * leaf] = count;
    for (int32_t i = first; i < end; ++i) {
      for (int k = 0; k < 3; ++k) {
        count = list_particle(n, marks, leaf + 1, c->triangles[i][k], count);
      }
    }
    n->starts[2 * leaf + 1] = count;
    for (int32_t i = first; i < end; ++i) {
      for (int k = 0; k < 3; ++k) {
        const int32_t* thirds = c->edge_thirds[c->triangle_edges[i][k]];
        count = list_particle(n, marks, leaf + 1, thirds[0], count);
        count = list_particle(n, marks, leaf + 1, thirds[1], count);
      }
    }
  }
  n->starts[2 * c->num_leaves] = count;
}

yw_nearby* yw_nearby_create(const yw_allocator* mem, const yw_complex* c) {
  yw_nearby* n = YW_NEW(mem, yw_nearby);
  if (!n) return NULL;
  yw_aabb* nodes = YW_NEW_ARRAY(mem, yw_aabb, yw_box_tree_nodes(c->num_leaves));
  int32_t* marks = YW_NEW_ARRAY(mem, int32_t, c->num_particles);
  n->reach = yw_box_tree_of(nodes, c->num_leaves);
  n->starts = YW_NEW_ARRAY(mem, int32_t, 2 * (size_t)c->num_leaves + 1);
  n->particles = YW_NEW_ARRAY(mem, int32_t, 9 * (size_t)c->num_triangles);
  n->own_boxes = YW_NEW_ARRAY(mem, yw_aabb, c->num_particles);
  n->placed = YW_NEW_ARRAY(mem, uint8_t, c->num_particles);
  n->placed_leaves = YW_NEW_ARRAY(mem, uint8_t, c->num_leaves);
  n->leaves = YW_NEW_ARRAY(mem, int32_t, c->num_leaves);
  n->boxes = YW_NEW_ARRAY(mem, yw_nearby_leaf, c->num_leaves);
  bool made = nodes && marks && n->starts && n->particles && n->own_boxes && n->placed &&
              n->placed_leaves && n->leaves && n->boxes;
  if (made) list_particles(n, c, marks);
  yw_mem_free(mem, marks);
  if (made) return n;
  yw_nearby_destroy(mem, n);
  return NULL;
}

void yw_nearby_destroy(const yw_allocator* mem, yw_nearby* n) {
  if (!n) return;
  void* arrays[] = {n->reach.nodes, n->starts,        n->particles, n->own_boxes,
                    n->placed,      n->placed_leaves, n->leaves,    n->boxes};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(mem, arrays[i]);
  yw_mem_free(mem, n);
}

void yw_nearby_begin(const yw_contact_work* work) {
  yw_nearby* n = work->nearby;
  uint64_t places = work->body->source->places;
  if (n->fitted && n->places == places) return;
  n->places = places;
  memset(n->placed_leaves, 0, (size_t)work->complex->num_leaves);
  memset(n->placed, 0, (size_t)work->complex->num_particles);
}

static void fit_reach(const yw_contact_work* work) {
  const yw_contact_source* source = work->body->source;
  yw_nearby* n = work->nearby;
  if (n->fitted && n->version == source->version) return;
  for (int32_t leaf = 0; leaf < n->reach.num_leaves; ++leaf) {
    yw_aabb box = yw_aabb_empty();
    for (int32_t i = n->starts[2 * leaf]; i < n->starts[2 * leaf + 1]; ++i) {
      box = yw_aabb_join(box, source->reach(source->context, n->particles[i]));
    }
    n->reach.nodes[n->reach.first_leaf + leaf] = box;
  }
  yw_box_tree_refit(&n->reach);
  n->version = source->version;
  n->fitted = true;
}

// A box of the world as the obstacle sees it while it moves, arcs included.
static yw_aabb as_seen(const yw_contact_source* source, yw_aabb box) {
  yw_aabb seen = yw_aabb_empty();
  float farthest = 0.0f;
  for (int corner = 0; corner < 8; ++corner) {
    yw_vec3 p =
        yw_v3(corner & 1 ? box.upper.x : box.lower.x, corner & 2 ? box.upper.y : box.lower.y,
              corner & 4 ? box.upper.z : box.lower.z);
    yw_vec3 first = yw_transform_point_inv(source->begin, p);
    yw_vec3 last = yw_transform_point_inv(source->end, p);
    seen = yw_aabb_grow(yw_aabb_grow(seen, first), last);
    farthest = fmaxf(farthest, fmaxf(yw_length(first), yw_length(last)));
  }
  // Paths are chords: between the poses, places turn away from them by r (1 - cos(angle / 2)).
  yw_quat p = source->begin.rotation, q = source->end.rotation;
  float cosine = fabsf(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
  float bulge = cosine < 1.0f ? farthest * (1.0f - cosine) : 0.0f;
  return yw_aabb_pad(seen, 2.0f * bulge + 1e-6f * farthest);
}

static void place(const yw_contact_work* work, int32_t particle) {
  const yw_contact_source* source = work->body->source;
  yw_nearby* n = work->nearby;
  if (n->placed[particle]) return;
  n->placed[particle] = 1;
  n->own_boxes[particle] = source->place(source->context, particle);
  work->predicted[particle] = work->body->particles->pos[particle];
  yw_touch_fit_path(work, particle);
}

static void place_leaf(const yw_contact_work* work, int32_t leaf) {
  yw_nearby* n = work->nearby;
  if (n->placed_leaves[leaf]) return;
  n->placed_leaves[leaf] = 1;
  for (int32_t i = n->starts[2 * leaf]; i < n->starts[2 * leaf + 2]; ++i) {
    place(work, n->particles[i]);
  }
  yw_nearby_leaf l = {yw_aabb_empty(), yw_aabb_empty(), 0.0f};
  for (int32_t i = n->starts[2 * leaf]; i < n->starts[2 * leaf + 1]; ++i) {
    int32_t v = n->particles[i];
    const yw_path_box* path = &work->path_boxes[v];
    l.own = yw_aabb_join(l.own, n->own_boxes[v]);
    l.path = yw_aabb_join(l.path, (yw_aabb){yw_xyz(path->lower), yw_xyz(path->upper)});
    yw_vec3 way = yw_sub(yw_touch_path_end(work, v), yw_touch_begin(work, v));
    l.longest2 = fmaxf(l.longest2, yw_length2(way));
  }
  n->boxes[leaf] = l;
}

static void put_in_tree(yw_contact_work* work, int32_t leaf) {
  yw_nearby* n = work->nearby;
  n->leaves[n->num_leaves++] = leaf;
  work->longest = fmaxf(work->longest, sqrtf(n->boxes[leaf].longest2));
  yw_aabb* nodes = work->leaves.nodes;
  for (int32_t at = work->leaves.first_leaf + leaf; at >= 1; at /= 2) {
    nodes[at] = yw_aabb_join(nodes[at], n->boxes[leaf].path);
  }
}

static void clear_tree(const yw_contact_work* work) {
  yw_nearby* n = work->nearby;
  const yw_box_tree* tree = &work->leaves;
  for (int32_t i = 0; i < 2 * tree->first_leaf && !n->fitted; ++i) {
    tree->nodes[i] = yw_aabb_empty();
  }
  for (int32_t i = 0; i < n->num_leaves; ++i) {
    for (int32_t at = tree->first_leaf + n->leaves[i]; at >= 1; at /= 2) {
      tree->nodes[at] = yw_aabb_empty();
    }
  }
  n->num_leaves = 0;
}

// Adds the leaves near another body.
static void look_around(yw_contact_work* work, const yw_contact_work* other,
                        const yw_touch_step* step) {
  const yw_contact_source* source = work->body->source;
  float room = yw_touch_most_room(work, step) + yw_touch_most_room(other, step);
  yw_aabb seen = as_seen(source, yw_aabb_pad(other->box, room + source->radius));
  yw_box_walk walk = yw_box_walk_begin(&work->nearby->reach, seen);
  for (int32_t leaf; (leaf = yw_box_walk_next(&walk)) >= 0;) {
    if (yw_nearby_has(work, leaf)) continue;
    place_leaf(work, leaf);
    const yw_nearby_leaf* l = &work->nearby->boxes[leaf];
    if (!yw_aabb_overlap(l->own, seen)) continue;
    yw_box_walk others = yw_box_walk_begin(&other->leaves, yw_aabb_pad(l->path, room));
    if (yw_box_walk_next(&others) >= 0) put_in_tree(work, leaf);
  }
}

void yw_nearby_fit(yw_contact_work* work, const yw_contact_work* works, int32_t num_works,
                   const yw_touch_step* step) {
  clear_tree(work);
  fit_reach(work);
  work->longest = 0.0f;
  work->max_radius = work->body->source->radius;
  for (int32_t i = 0; i < num_works; ++i) {
    const yw_contact_work* other = &works[i];
    bool meets = other->body->body_contact && other->complex->num_leaves > 0;
    if (meets && yw_contact_may_meet(work->body, other->body)) look_around(work, other, step);
  }
  yw_touch_set_leeway(work);
  work->box = work->leaves.nodes[1];
}
