// SPDX-License-Identifier: MIT
// Lines of masters in sheets and threads of one layer.
#include "methods/plastic/phases.h"
#include "yawara/extend/memory.h"

// Of opposite directions: cosine of the angle between them at most.
#define OPPOSITE (-0.9f)
// Determinant of sum X X^T over links, in units of d^6, below which masters are in a sheet: there
// it is 0, at a corner of a solid 1.
#define MOST_SPAN 0.3f

// Links of one master.
typedef struct link_star {
  int32_t count;
  int32_t links[26], others[26];
} link_star;

static void add_link(link_star* star, int32_t link, int32_t other) {
  if (star->count == 26) return;
  star->links[star->count] = link;
  star->others[star->count++] = other;
}

static yw_vec3 way_to(const plastic_model* model, int32_t m, int32_t other) {
  return yw_sub(model->masters[other], model->masters[m]);
}

static bool is_flat(const plastic_model* model, int32_t m, const link_star* star) {
  yw_mat3 sum = {0};
  float inv = 1.0f / model->spacing;
  for (int32_t i = 0; i < star->count; ++i) {
    yw_vec3 x = yw_scale(way_to(model, m, star->others[i]), inv);
    yw_mat3 one = {yw_scale(x, x.x), yw_scale(x, x.y), yw_scale(x, x.z)};
    sum = yw_mat3_add(sum, one);
  }
  return yw_mat3_det(sum) < MOST_SPAN;
}

// Appends the triples around master m, or counts them.
static int32_t triples_at(const plastic_model* model, int32_t m, const link_star* star,
                          plastic_triple* out) {
  int32_t count = 0;
  for (int32_t i = 0; i < star->count; ++i) {
    for (int32_t j = i + 1; j < star->count; ++j) {
      int32_t a = star->others[i], b = star->others[j];
      yw_vec3 x = way_to(model, m, a), y = way_to(model, m, b);
      if (yw_dot(x, y) > OPPOSITE * yw_length(x) * yw_length(y)) continue;
      if (out) out[count] = (plastic_triple){m, a, b, {star->links[i], star->links[j]}};
      ++count;
    }
  }
  return count;
}

static link_star* list_stars(const plastic_model* model, const yw_allocator* mem) {
  link_star* stars = YW_NEW_ARRAY(mem, link_star, model->num_masters);
  for (int32_t b = 0, link = 0; stars && b < model->num_masters; ++b) {
    const int32_t* way;
    int32_t links = yw_plastic_links_of(model, b, &way);
    for (int32_t i = 0; i < links; ++i, ++link) {
      add_link(&stars[b + way[i]], link, b);
      add_link(&stars[b], link, b + way[i]);
    }
  }
  return stars;
}

bool yw_plastic_list_triples(const plastic_model* model, const yw_allocator* mem,
                             plastic_which_fn is_wanted, plastic_triple** out, int32_t* count) {
  *out = NULL;
  *count = 0;
  int32_t wanted = 0;
  for (int32_t m = 0; m < model->num_masters; ++m) wanted += is_wanted(model, m);
  if (model->paper || model->without_slaves || wanted == 0) return true;
  link_star* stars = list_stars(model, mem);
  if (!stars) return false;
  for (int32_t m = 0; m < model->num_masters; ++m) {
    if (!is_wanted(model, m) || !is_flat(model, m, &stars[m])) stars[m].count = 0;
    *count += triples_at(model, m, &stars[m], NULL);
  }
  if (*count > 0) *out = YW_NEW_ARRAY(mem, plastic_triple, *count);
  for (int32_t m = 0, at = 0; *out && m < model->num_masters; ++m) {
    at += triples_at(model, m, &stars[m], *out + at);
  }
  yw_mem_free(mem, stars);
  return *count == 0 || *out;
}
