// SPDX-License-Identifier: MIT
// Connectivity and memory of bodies, kept from step to step; no moving state.
#include "contact/surfaces/data.h"

yw_surfaces* yw_surfaces_create(const yw_allocator* mem, yw_simd simd) {
  yw_surfaces* contacts = YW_NEW(mem, yw_surfaces);
  if (!contacts) return NULL;
  contacts->mem = yw_mem_or_default(mem);
  contacts->simd = simd;
  return contacts;
}

void yw_surfaces_set_log(yw_surfaces* c, yw_contact_log* log) { c->log = log; }

// Caches ----------------------------------------------------------------------------------------

static void release_complex(yw_surfaces* c, yw_complex* complex) {
  if (!complex || --complex->users > 0) return;
  for (int32_t i = 0; i < c->complexes.count; ++i) {
    if (c->complexes.items[i] == complex) {
      c->complexes.items[i] = c->complexes.items[--c->complexes.count];
      break;
    }
  }
  yw_complex_destroy(complex);
}

static void cache_clear(yw_surfaces* c, yw_surface_cache* cache) {
  release_complex(c, cache->complex);
  yw_nearby_destroy(&c->mem, cache->nearby);
  void* arrays[] = {cache->leaf_nodes,   cache->path_boxes,    cache->boxes,
                    cache->order,        cache->scratch,       cache->sorted_vertices,
                    cache->sorted_edges, cache->sorted_places, cache->predicted,
                    cache->moved,        cache->unsettled,     cache->needed,
                    cache->free,         cache->base,          cache->impulses,
                    cache->change,       cache->heading,       cache->poses,
                    cache->anchor,       cache->flat_edges};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&c->mem, arrays[i]);
  *cache = (yw_surface_cache){.key = cache->key};
}

void yw_surfaces_destroy(yw_surfaces* c) {
  if (!c) return;
  yw_allocator mem = c->mem;
  for (int32_t i = 0; i < c->caches.count; ++i) cache_clear(c, &c->caches.items[i]);
  for (int32_t i = 0; i < c->found.count; ++i) {
    yw_mem_free(&mem, c->found.items[i].contacts);
    yw_mem_free(&mem, c->found.items[i].spares);
    yw_mem_free(&mem, c->found.items[i].pairs);
    yw_mem_free(&mem, c->found.items[i].kept);
  }
  YW_LIST_FREE(&mem, &c->caches);
  YW_LIST_FREE(&mem, &c->complexes);
  YW_LIST_FREE(&mem, &c->works);
  YW_LIST_FREE(&mem, &c->order);
  YW_LIST_FREE(&mem, &c->scratch);
  YW_LIST_FREE(&mem, &c->body_nodes);
  YW_LIST_FREE(&mem, &c->jobs);
  YW_LIST_FREE(&mem, &c->block_start);
  YW_LIST_FREE(&mem, &c->found);
  YW_LIST_FREE(&mem, &c->batches);
  YW_LIST_FREE(&mem, &c->colored);
  YW_LIST_FREE(&mem, &c->first_chunk);
  YW_LIST_FREE(&mem, &c->used_colors);
  YW_LIST_FREE(&mem, &c->batch_chunks);
  YW_LIST_FREE(&mem, &c->batch_color);
  YW_LIST_FREE(&mem, &c->found_order);
  YW_LIST_FREE(&mem, &c->pair_angular);
  YW_LIST_FREE(&mem, &c->answers);
  YW_LIST_FREE(&mem, &c->yields);
  YW_LIST_FREE(&mem, &c->islands);
  YW_LIST_FREE(&mem, &c->island_of);
  YW_LIST_FREE(&mem, &c->lane_order);
  for (int k = 0; k < YW_SURFACES_SERIES; ++k) yw_warm_free(&mem, &c->warm[k]);
  YW_LIST_FREE(&mem, &c->rows);
  YW_LIST_FREE(&mem, &c->searches);
  YW_LIST_FREE(&mem, &c->whole_rows);
  YW_LIST_FREE(&mem, &c->whole_states);
  YW_LIST_FREE(&mem, &c->balances);
  YW_LIST_FREE(&mem, &c->rides);
  yw_mem_free(&mem, c);
}

// The complex of a geometry, shared among bodies with equal connectivity.
static yw_complex* find_complex(yw_surfaces* c, const yw_contact_body* body) {
  int32_t num_particles = body->particles->count;
  uint64_t hash = yw_complex_hash(&body->geometry, num_particles);
  for (int32_t i = 0; i < c->complexes.count; ++i) {
    yw_complex* complex = c->complexes.items[i];
    if (complex->hash == hash && complex->num_particles == num_particles) {
      ++complex->users;
      return complex;
    }
  }
  if (!YW_LIST_RESERVE(&c->mem, &c->complexes, 1)) return NULL;
  yw_complex* complex = yw_complex_create(&c->mem, &body->geometry, num_particles);
  if (!complex) return NULL;
  complex->hash = hash;
  complex->users = 1;
  c->complexes.items[c->complexes.count++] = complex;
  return complex;
}

// What a thin body that touches itself needs to know about its rest shape.
static bool add_patches(yw_surfaces* c, yw_surface_cache* cache, const yw_contact_body* body) {
  yw_complex* complex = cache->complex;
  const yw_vec3* rest = body->geometry.rest;
  if (!complex->patches) {
    complex->patches = yw_patches_create(&c->mem, complex, rest, yw_near_fns_of(c->simd));
  }
  cache->poses = YW_NEW_ARRAY(&c->mem, yw_patch_pose, complex->num_leaves);
  return complex->patches && cache->poses;
}

static bool add_sorting(yw_surfaces* c, yw_surface_cache* cache) {
  int32_t count = cache->complex->num_vertices;
  cache->order = YW_NEW_ARRAY(&c->mem, yw_sort_item, count);
  cache->scratch = YW_NEW_ARRAY(&c->mem, yw_sort_item, count);
  cache->sorted_vertices = YW_NEW_ARRAY(&c->mem, int32_t, count);
  cache->sorted_places = YW_NEW_ARRAY(&c->mem, int32_t, count);
  cache->sorted_edges = yw_mem_alloc(&c->mem, (size_t)count, sizeof *cache->sorted_edges);
  return cache->order && cache->scratch && cache->sorted_vertices && cache->sorted_places &&
         cache->sorted_edges;
}

static bool add_answering(yw_surfaces* c, yw_surface_cache* cache, int32_t count) {
  cache->free = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->impulses = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->change = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  cache->heading = YW_NEW_ARRAY(&c->mem, yw_vec4, count);
  return cache->free && cache->impulses && cache->change && cache->heading;
}

static bool cache_fill(yw_surfaces* c, yw_surface_cache* cache, const yw_contact_body* body) {
  cache_clear(c, cache);
  cache->complex = find_complex(c, body);
  if (!cache->complex) return false;
  const yw_complex* complex = cache->complex;
  int32_t particles = body->particles->capacity;
  cache->leaf_nodes = YW_NEW_ARRAY(&c->mem, yw_aabb, yw_box_tree_nodes(complex->num_leaves));
  cache->path_boxes = YW_NEW_ARRAY(&c->mem, yw_path_box, particles);
  int32_t blocks = complex->leaves[complex->num_leaves].block;
  cache->boxes = YW_NEW_ARRAY(&c->mem, yw_box_block, blocks);
  cache->predicted = YW_NEW_ARRAY(&c->mem, yw_vec4, particles);
  cache->anchor = YW_NEW_ARRAY(&c->mem, yw_vec4, particles);
  cache->base = YW_NEW_ARRAY(&c->mem, yw_vec4, particles);
  cache->moved = YW_NEW_ARRAY(&c->mem, uint8_t, particles);
  cache->unsettled = YW_NEW_ARRAY(&c->mem, uint8_t, complex->num_leaves);
  cache->needed = YW_NEW_ARRAY(&c->mem, uint8_t, complex->num_leaves);
  bool ok = cache->leaf_nodes && cache->path_boxes && cache->boxes && cache->predicted &&
            cache->anchor && cache->base && cache->moved && cache->unsettled && cache->needed;
  if (body->source) {
    cache->nearby = yw_nearby_create(&c->mem, complex);
    ok = ok && cache->nearby;
  }
  if (complex->is_loose) ok = ok && add_sorting(c, cache);
  if (complex->rest && body->self_contact) ok = ok && add_patches(c, cache, body);
  if (complex->num_triangles > 0 && yw_geometry_is_thin(&body->geometry) && !body->is_obstacle) {
    cache->flat_edges = YW_NEW_ARRAY(&c->mem, uint64_t, complex->num_leaves);
    ok = ok && cache->flat_edges;
  }
  if (body->respond) ok = ok && add_answering(c, cache, particles);
  if (!ok) {
    cache_clear(c, cache);
    return false;
  }
  cache->version = body->topology_version;
  return true;
}

// Moves the cache of the body with this key to index i, or creates one.
static bool cache_to_place(yw_surfaces* c, uint64_t key, int32_t i) {
  int32_t at = i;
  while (at < c->caches.count && c->caches.items[at].key != key) ++at;
  if (at == c->caches.count) {
    if (!YW_LIST_RESERVE(&c->mem, &c->caches, 1)) return false;
    c->caches.items[c->caches.count++] = (yw_surface_cache){.key = key};
  }
  yw_surface_cache found = c->caches.items[at];
  c->caches.items[at] = c->caches.items[i];
  c->caches.items[i] = found;
  return true;
}

static yw_contact_work work_of(const yw_contact_body* body, const yw_surface_cache* cache) {
  const yw_complex* complex = cache->complex;
  bool loose = complex->is_loose;
  return (yw_contact_work){
      .body = body,
      .complex = complex,
      .vertices = loose ? cache->sorted_vertices : complex->vertices,
      .edges = (const int32_t(*)[2])(loose ? cache->sorted_edges : complex->edges),
      .places = loose ? cache->sorted_places : complex->place_of_vertex,
      .order = cache->order,
      .scratch = cache->scratch,
      .sorted_vertices = cache->sorted_vertices,
      .sorted_places = cache->sorted_places,
      .sorted_edges = cache->sorted_edges,
      .leaves = yw_box_tree_of(cache->leaf_nodes, complex->num_leaves),
      .path_boxes = cache->path_boxes,
      .boxes = cache->boxes,
      .flat_edges = cache->flat_edges,
      .poses = body->self_contact ? cache->poses : NULL,
      .predicted = cache->predicted,
      .anchor = cache->anchor,
      .moved = cache->moved,
      .unsettled = cache->unsettled,
      .needed = cache->needed,
      .nearby = cache->nearby};
}

bool yw_surfaces_update(yw_surfaces* c, const yw_contact_body* bodies, int32_t num_bodies) {
  c->works.count = 0;
  c->lasts = false;
  c->seeks_apart = true;
  if (!YW_LIST_RESERVE(&c->mem, &c->works, num_bodies)) return false;
  for (int32_t i = 0; i < num_bodies; ++i) {
    if (!cache_to_place(c, bodies[i].key, i)) return false;
    yw_surface_cache* cache = &c->caches.items[i];
    bool fresh = cache->complex && cache->version == bodies[i].topology_version;
    if (!fresh && !cache_fill(c, cache, &bodies[i])) return false;
    yw_contact_work* work = &c->works.items[c->works.count++];
    *work = work_of(&bodies[i], cache);
    if (work->nearby) yw_nearby_begin(work);
    c->seeks_apart = c->seeks_apart && !work->nearby;
  }
  while (c->caches.count > num_bodies) cache_clear(c, &c->caches.items[--c->caches.count]);
  return true;
}

// Forces of the last substep ----------------------------------------------------------------------

void yw_surfaces_continue(yw_surfaces* c, int32_t series, int32_t part, int32_t num_parts) {
  c->series = series;
  c->part = part;
  c->num_parts = num_parts;
}

void yw_surfaces_forget(yw_surfaces* c, int32_t series) { c->warm[series].entries.count = 0; }

void yw_surfaces_save(const yw_surfaces* c, yw_writer* writer) {
  bool any = false;
  for (int k = 0; k < YW_SURFACES_SERIES; ++k) any = any || c->warm[k].entries.count > 0;
  // Worlds in which nothing presses have the same hash whatever contact sees.
  if (writer->hashing && !any) return;
  for (int k = 0; k < YW_SURFACES_SERIES; ++k) yw_warm_write(&c->warm[k], writer);
}

yw_status yw_surfaces_load(yw_surfaces* c, yw_reader* reader) {
  yw_status status = YW_OK;
  for (int k = 0; k < YW_SURFACES_SERIES && status >= 0; ++k) {
    status = yw_warm_read(&c->mem, &c->warm[k], reader);
  }
  return status;
}
