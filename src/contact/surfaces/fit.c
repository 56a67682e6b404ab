// SPDX-License-Identifier: MIT
// Boxes of the paths of vertices, edges and triangles, and the tree of their leaves.
#include <stdint.h>
#include <string.h>

#include "contact/surfaces/aside.h"
#include "contact/surfaces/leaf_boxes.h"
#include "contact/surfaces/patches.h"
#include "contact/surfaces/sheets.h"
#include "contact/surfaces/touch.h"
#include "math/small/float4.h"

// Contact seldom moves a particle farther off its path than the longest path of the body is, and
// this much, in mean edges.
#define LEAST_LEEWAY 0.0025f
#define LEAVES_PER_BLOCK 128

typedef struct path_box {
  yw_float4 lower, upper;
} path_box;

void yw_touch_fit_path(const yw_contact_work* work, int32_t particle) {
  yw_float4 begin = yw_float4_load(&work->body->begin[particle]);
  yw_float4 end = yw_float4_load(&work->predicted[particle]);
  float radius = yw_touch_radius(work, particle);
  yw_path_box* box = &work->path_boxes[particle];
  yw_float4_store(&box->lower, yw_vf_min(begin, end) - radius);
  yw_float4_store(&box->upper, yw_vf_max(begin, end) + radius);
}

static path_box box_of(const yw_contact_work* work, int32_t particle) {
  const yw_path_box* box = &work->path_boxes[particle];
  return (path_box){yw_float4_load(&box->lower), yw_float4_load(&box->upper)};
}

static path_box join(path_box a, path_box b) {
  return (path_box){yw_vf_min(a.lower, b.lower), yw_vf_max(a.upper, b.upper)};
}

// Loose points mix: leaves of neighbours are found anew in every step.
static void sort_points(yw_contact_work* work) {
  int32_t count = work->complex->num_vertices;
  const yw_vec4* pos = work->predicted;
  yw_aabb all = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) all = yw_aabb_grow(all, yw_xyz(pos[i]));
  for (int32_t i = 0; i < count; ++i) {
    work->order[i] = (yw_sort_item){yw_morton_code(all, yw_xyz(pos[i])), i};
  }
  yw_sort_items(work->order, work->scratch, count);
  for (int32_t i = 0; i < count; ++i) {
    int32_t particle = work->order[i].value;
    work->sorted_vertices[i] = particle;
    work->sorted_places[particle] = i;
    work->sorted_edges[i][0] = work->sorted_edges[i][1] = particle;
  }
}

static yw_aabb leaf_box(const yw_contact_work* work, int32_t leaf) {
  const yw_complex* c = work->complex;
  const yw_complex_leaf *first = &c->leaves[leaf], *end = first + 1;
  path_box all = {yw_vf_splat(INFINITY), yw_vf_splat(-INFINITY)};
  // Vertices and edges of a leaf are corners and sides of its triangles, if it has any.
  for (int32_t i = first->triangle; i < end->triangle; ++i) {
    const int32_t* v = c->triangles[i];
    all = join(all, join(box_of(work, v[0]), join(box_of(work, v[1]), box_of(work, v[2]))));
  }
  bool edges = first->triangle == end->triangle;
  for (int32_t i = first->edge; i < end->edge && edges; ++i) {
    all = join(all, join(box_of(work, work->edges[i][0]), box_of(work, work->edges[i][1])));
  }
  return (yw_aabb){yw_v3(all.lower[0], all.lower[1], all.lower[2]),
                   yw_v3(all.upper[0], all.upper[1], all.upper[2])};
}

// Boxes of primitives ---------------------------------------------------------------------------

YW_LANE_FN path_box vertex_box(const yw_contact_work* work, int32_t i) {
  return box_of(work, work->vertices[i]);
}
YW_LANE_FN path_box edge_box(const yw_contact_work* work, int32_t i) {
  const int32_t* v = work->edges[i];
  return join(box_of(work, v[0]), box_of(work, v[1]));
}
YW_LANE_FN path_box triangle_box(const yw_contact_work* work, int32_t i) {
  const int32_t* v = work->complex->triangles[i];
  return join(box_of(work, v[0]), join(box_of(work, v[1]), box_of(work, v[2])));
}

// Fits the boxes of the primitives first .. end - 1 of a leaf, four at a time. What lies in a block
// beyond the last one means nothing.
YW_LANE_FN void fit_boxes(const yw_contact_work* work, int32_t first, int32_t end,
                          yw_box_block* blocks,
                          path_box (*fit)(const yw_contact_work* work, int32_t i)) {
  for (int32_t at = 0; at < end - first; at += 4) {
    yw_float4 lower[4], upper[4];
    for (int32_t k = 0; k < 4; ++k) {
      path_box box = fit(work, first + at + k < end ? first + at + k : end - 1);
      lower[k] = box.lower;
      upper[k] = box.upper;
    }
    yw_float4_transpose(lower);
    yw_float4_transpose(upper);
    float(*sides)[YW_BOX_BLOCK] = blocks[at / YW_BOX_BLOCK].sides;
    for (int d = 0; d < 3; ++d) {
      yw_float4_store(sides[d] + at % YW_BOX_BLOCK, lower[d]);
      yw_float4_store(sides[3 + d] + at % YW_BOX_BLOCK, upper[d]);
    }
  }
}

static void fit_leaf_primitives(const yw_contact_work* work, int32_t leaf) {
  const yw_complex_leaf* l = &work->complex->leaves[leaf];
  yw_box_block* all = work->boxes;
  fit_boxes(work, l->vertex, l[1].vertex, all + yw_leaf_vertex_block(l), vertex_box);
  fit_boxes(work, l->triangle, l[1].triangle, all + yw_leaf_triangle_block(l), triangle_box);
  fit_boxes(work, l->edge, l[1].edge, all + yw_leaf_edge_block(l), edge_box);
}

void yw_touch_predict(yw_contact_work* work) {
  const yw_particles* p = work->body->particles;
  memcpy(work->predicted, p->pos, (size_t)p->count * sizeof *p->pos);
  work->outdated = true;
}

// Vertices are gone through in blocks, which depend on their number alone.
#define MOST_BLOCKS 64
#define LEAST_BLOCK 1024

typedef struct vertices_job {
  yw_contact_work* work;
  int32_t per_block;
  float longest2[MOST_BLOCKS], sum2[MOST_BLOCKS], max_radius[MOST_BLOCKS];
  bool strayed[MOST_BLOCKS];
} vertices_job;

// Returns the number of blocks.
static int32_t cut_vertices(yw_contact_work* work, vertices_job* job) {
  int32_t count = work->complex->num_vertices;
  job->work = work;
  job->per_block = (count + MOST_BLOCKS - 1) / MOST_BLOCKS;
  if (job->per_block < LEAST_BLOCK) job->per_block = LEAST_BLOCK;
  return (count + job->per_block - 1) / job->per_block;
}

static int32_t end_of_block(const vertices_job* job, int32_t block) {
  int32_t end = (block + 1) * job->per_block, count = job->work->complex->num_vertices;
  return end < count ? end : count;
}

static void follow_vertices(void* context, int32_t block, int32_t worker) {
  (void)worker;
  vertices_job* job = context;
  const yw_contact_work* work = job->work;
  float limit = work->leeway * work->leeway;
  bool strayed = false;
  for (int32_t i = block * job->per_block; i < end_of_block(job, block); ++i) {
    int32_t particle = work->vertices[i];
    yw_vec3 begin = yw_touch_begin(work, particle), to = yw_touch_end(work, particle);
    yw_vec3 way = yw_sub(yw_touch_path_end(work, particle), begin);
    float length2 = yw_length2(way), along = yw_dot(yw_sub(to, begin), way);
    float t = length2 > 0.0f ? yw_clampf(along / length2, 0.0f, 1.0f) : 0.0f;
    strayed = strayed || !(yw_length2(yw_sub(to, yw_mad(begin, t, way))) <= limit);
  }
  job->strayed[block] = strayed;
}

void yw_touch_follow(yw_contact_work* work, yw_tasks* tasks) {
  vertices_job job;
  int32_t blocks = cut_vertices(work, &job);
  yw_tasks_run(tasks, blocks, follow_vertices, &job);
  work->strayed = false;
  for (int32_t i = 0; i < blocks; ++i) work->strayed = work->strayed || job.strayed[i];
}

static int32_t num_blocks(const yw_contact_work* work) {
  return (work->complex->num_leaves + LEAVES_PER_BLOCK - 1) / LEAVES_PER_BLOCK;
}

static void fit_leaves(void* context, int32_t block, int32_t worker) {
  (void)worker;
  yw_contact_work* work = context;
  const yw_complex* c = work->complex;
  int32_t end = (block + 1) * LEAVES_PER_BLOCK;
  for (int32_t leaf = block * LEAVES_PER_BLOCK; leaf < end && leaf < c->num_leaves; ++leaf) {
    work->leaves.nodes[work->leaves.first_leaf + leaf] = leaf_box(work, leaf);
    if (!work->poses) continue;
    work->poses[leaf] = yw_patch_pose_of(c->patches, leaf, work->body->begin, work->predicted);
  }
}

typedef struct primitives_job {
  const yw_contact_work* work;
  const yw_near_fns* near;
} primitives_job;

static void fit_primitives(void* context, int32_t block, int32_t worker) {
  (void)worker;
  const primitives_job* job = context;
  const yw_contact_work* work = job->work;
  int32_t end = (block + 1) * LEAVES_PER_BLOCK, count = work->complex->num_leaves;
  for (int32_t leaf = block * LEAVES_PER_BLOCK; leaf < end && leaf < count; ++leaf) {
    if (!work->needed[leaf]) continue;
    fit_leaf_primitives(work, leaf);
    if (work->flat_edges && job->near) yw_sheet_find_flat(work, leaf, job->near);
  }
}

void yw_touch_fit_primitives(const yw_contact_work* work, const yw_near_fns* near,
                             yw_tasks* tasks) {
  primitives_job job = {work, near};
  yw_tasks_run(tasks, num_blocks(work), fit_primitives, &job);
}

void yw_touch_set_leeway(yw_contact_work* work) {
  work->leeway = work->longest + LEAST_LEEWAY * work->complex->size;
  work->calm = work->leeway < YW_MOST_LEEWAY * work->complex->size;
}

float yw_touch_room(const yw_contact_work* work, const yw_touch_step* step, float leeway) {
  float guarded = work->margin + 0.001f * work->complex->size;
  if (step->mode != YW_TOUCH_CONTACTS) return guarded;
  float contact = 0.01f * work->complex->size + step->fall;
  if (step->lasting) return contact + leeway;
  guarded += leeway;
  return contact > guarded ? contact : guarded;
}

float yw_touch_most_room(const yw_contact_work* work, const yw_touch_step* step) {
  // Pairs are kept only where the leeway is less than this.
  float most = step->lasting ? YW_LASTING_LEEWAY : YW_MOST_LEEWAY;
  return yw_touch_room(work, step, most * work->complex->size);
}

static void fit_paths(void* context, int32_t block, int32_t worker) {
  (void)worker;
  vertices_job* job = context;
  const yw_contact_work* work = job->work;
  float longest2 = 0.0f, sum2 = 0.0f, most = 0.0f;
  for (int32_t i = block * job->per_block; i < end_of_block(job, block); ++i) {
    int32_t particle = work->vertices[i];
    float radius = yw_touch_radius(work, particle);
    most = radius > most ? radius : most;
    float way2 =
        yw_length2(yw_sub(yw_touch_path_end(work, particle), yw_touch_begin(work, particle)));
    longest2 = way2 > longest2 ? way2 : longest2;
    sum2 += way2;
    yw_touch_fit_path(work, particle);
  }
  job->longest2[block] = longest2;
  job->sum2[block] = sum2;
  job->max_radius[block] = most;
}

void yw_touch_fit(yw_contact_work* work, bool sort, yw_tasks* tasks) {
  const yw_complex* c = work->complex;
  yw_touch_predict(work);
  work->outdated = false;
  sort = sort || !work->fitted;
  work->fitted = true;
  if (c->is_loose && sort) sort_points(work);
  vertices_job job;
  int32_t blocks = cut_vertices(work, &job);
  yw_tasks_run(tasks, blocks, fit_paths, &job);
  float longest2 = 0.0f, sum2 = 0.0f;
  work->max_radius = 0.0f;
  for (int32_t i = 0; i < blocks; ++i) {
    longest2 = job.longest2[i] > longest2 ? job.longest2[i] : longest2;
    work->max_radius = job.max_radius[i] > work->max_radius ? job.max_radius[i] : work->max_radius;
    sum2 += job.sum2[i];
  }
  work->longest = sqrtf(longest2);
  work->usual = c->num_vertices > 0 ? sqrtf(sum2 / (float)c->num_vertices) : 0.0f;
  if (sort && c->is_volume) yw_aside_measure(work);
  yw_touch_set_leeway(work);
  yw_tasks_run(tasks, num_blocks(work), fit_leaves, work);
  yw_box_tree_refit(&work->leaves);
  work->box = c->num_leaves > 0 ? work->leaves.nodes[1] : yw_aabb_empty();
}
