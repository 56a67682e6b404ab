// SPDX-License-Identifier: MIT
#include "geometry/tri_edit.h"

#include "geometry/surface_edges.h"
#include "yawara/extend/error.h"

// More triangles at one vertex are refused, as searching them would take forever.
#define MAX_AROUND 4096

// Creation ----------------------------------------------------------------------------------------

// One vertex per place that a triangle with three places has.
static bool add_vertices(const yw_tri_mesh* mesh, const int32_t* place, yw_tri_edit* out) {
  if (!YW_LIST_RESERVE(&out->mem, &out->vertices, mesh->num_vertices) ||
      !YW_LIST_RESERVE(&out->mem, &out->halves, 3 * mesh->num_triangles)) {
    return false;
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) out->start[v] = -1;
  for (int32_t t = 0; t < mesh->num_triangles; ++t) {
    const int32_t* corner = mesh->triangles + 3 * (size_t)t;
    const int32_t v[3] = {place[corner[0]], place[corner[1]], place[corner[2]]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
    for (int k = 0; k < 3; ++k) {
      if (out->start[v[k]] < 0) {
        out->start[v[k]] = out->vertices.count;
        out->vertices.items[out->vertices.count++] =
            (yw_tri_edit_vertex){.position = mesh->positions[v[k]], .out = -1, .home = -1};
      }
      out->halves.items[out->halves.count++] = (yw_tri_edit_half){out->start[v[k]], -1};
    }
  }
  for (int32_t v = 0; v < mesh->num_vertices; ++v) out->start[v] = out->start[place[v]];
  return true;
}

// Half-edges that leave each vertex, as lists: first per vertex, then next per half-edge.
typedef struct leaving {
  int32_t *first, *next, *count;
} leaving;

static yw_status join_edge(yw_tri_edit* e, const leaving* list, int32_t h, yw_error* error) {
  int32_t from = yw_half_from(e, h), to = yw_half_to(e, h), found = -1, count = 0, same = 0;
  for (int32_t other = list->first[to]; other >= 0; other = list->next[other]) {
    if (yw_half_to(e, other) == from) found = other, ++count;
  }
  for (int32_t other = list->first[from]; other >= 0; other = list->next[other]) {
    same += yw_half_to(e, other) == to;
  }
  if (count > 1 || same > 1) {
    yw_vec3 at = yw_lerp(yw_tri_edit_at(e, from), yw_tri_edit_at(e, to), 0.5f);
    return yw_fail(
        error, YW_ERR_GEOMETRY,
        "the edge at (%g, %g, %g) has more than two triangles, or two that face opposite "
        "sides",
        (double)at.x, (double)at.y, (double)at.z);
  }
  e->halves.items[h].twin = found;
  return YW_OK;
}

static yw_status join_edges(yw_tri_edit* e, yw_error* error) {
  leaving list = {YW_NEW_ARRAY(&e->mem, int32_t, e->vertices.count),
                  YW_NEW_ARRAY(&e->mem, int32_t, e->halves.count),
                  YW_NEW_ARRAY(&e->mem, int32_t, e->vertices.count)};
  bool made = list.first && list.next && list.count;
  yw_status status = made ? YW_OK : yw_fail_memory(error, "a surface");
  for (int32_t v = 0; v < e->vertices.count && made; ++v) list.first[v] = -1;
  for (int32_t h = e->halves.count - 1; h >= 0 && status >= 0; --h) {
    int32_t v = yw_half_from(e, h);
    list.next[h] = list.first[v];
    list.first[v] = h;
    if (++list.count[v] > MAX_AROUND) {
      yw_vec3 at = yw_tri_edit_at(e, v);
      status = yw_fail(error, YW_ERR_GEOMETRY, "more than %d triangles meet at (%g, %g, %g)",
                       MAX_AROUND, (double)at.x, (double)at.y, (double)at.z);
    }
  }
  for (int32_t h = 0; h < e->halves.count && status >= 0; ++h) {
    status = join_edge(e, &list, h, error);
  }
  yw_mem_free(&e->mem, list.first);
  yw_mem_free(&e->mem, list.next);
  yw_mem_free(&e->mem, list.count);
  return status;
}

// The open edge that follows an open edge around its hole.
static int32_t next_open(const yw_tri_edit* e, int32_t h) {
  int32_t at = yw_half_next(h);
  while (yw_half_twin(e, at) >= 0) at = yw_half_next(yw_half_twin(e, at));
  return at;
}

// Triangles from the hole's edges to a new ghost. Each is (to, from, ghost) of its edge.
static bool close_hole(yw_tri_edit* e, int32_t first) {
  int32_t count = 0, h = first;
  do {
    ++count;
    h = next_open(e, h);
  } while (h != first);
  if (!YW_LIST_RESERVE(&e->mem, &e->vertices, 1)) return false;
  if (!YW_LIST_RESERVE(&e->mem, &e->halves, 3 * count)) return false;
  int32_t ghost = e->vertices.count++, base = e->halves.count;
  e->vertices.items[ghost] = (yw_tri_edit_vertex){.out = base + 2, .home = -1, .ghost = true};
  for (int32_t k = 0; k < count; ++k) {
    int32_t at = base + 3 * k, before = base + 3 * ((k + count - 1) % count);
    int32_t after = base + 3 * ((k + 1) % count), following = next_open(e, h);
    yw_tri_edit_half* out = e->halves.items + at;
    out[0] = (yw_tri_edit_half){yw_half_to(e, h), -1 - h};
    out[1] = (yw_tri_edit_half){yw_half_from(e, h), before + 2};
    out[2] = (yw_tri_edit_half){ghost, after + 1};
    h = following;
  }
  e->halves.count += 3 * count;
  // Twins of the hole's edges only now, so that the way around it was still to be seen.
  for (int32_t at = base; at < e->halves.count; at += 3) {
    int32_t edge = -1 - e->halves.items[at].twin;
    e->halves.items[at].twin = edge;
    e->halves.items[edge].twin = at;
  }
  return true;
}

// A fan of triangles that comes to a vertex which another has already gets a copy of it.
static bool part_fans(yw_tri_edit* e) {
  bool* seen = YW_NEW_ARRAY(&e->mem, bool, e->halves.count);
  bool done = seen != NULL;
  for (int32_t h = 0; h < e->halves.count && done; ++h) {
    if (seen[h]) continue;
    int32_t v = yw_half_from(e, h), at = h;
    if (!e->vertices.items[v].ghost && e->vertices.items[v].out >= 0) {
      done = YW_LIST_RESERVE(&e->mem, &e->vertices, 1);
      if (!done) break;
      e->vertices.items[e->vertices.count] = e->vertices.items[v];
      v = e->vertices.count++;
    }
    e->vertices.items[v].out = h;
    do {
      seen[at] = true;
      e->halves.items[at].vertex = v;
      at = yw_half_around(e, at);
    } while (at != h);
  }
  yw_mem_free(&e->mem, seen);
  return done;
}

static yw_status fill(const yw_tri_mesh* mesh, yw_tri_edit* out, yw_error* error) {
  yw_surface_edges edges = {0};
  yw_status status = yw_surface_edges_create(mesh, &out->mem, &edges);
  if (status == YW_ERR_GEOMETRY) {
    return yw_fail(error, status, "a triangle has a vertex that does not exist");
  }
  bool added = status >= 0 && add_vertices(mesh, edges.place, out);
  yw_surface_edges_free(&edges);
  if (!added) return yw_fail_memory(error, "a surface");
  if (out->halves.count == 0) return yw_fail(error, YW_ERR_GEOMETRY, "the surface has no area");
  status = join_edges(out, error);
  int32_t count = out->halves.count;
  for (int32_t h = 0; h < count && status >= 0; ++h) {
    if (yw_half_twin(out, h) < 0 && !close_hole(out, h)) {
      status = yw_fail_memory(error, "a surface");
    }
  }
  if (status >= 0 && !part_fans(out)) status = yw_fail_memory(error, "a surface");
  return status;
}

yw_status yw_tri_edit_create(const yw_tri_mesh* mesh, const yw_allocator* mem, yw_tri_edit* out,
                             yw_error* error) {
  *out = (yw_tri_edit){.mem = yw_mem_or_default(mem)};
  out->start = YW_NEW_ARRAY(&out->mem, int32_t, mesh->num_vertices);
  yw_status status = out->start ? fill(mesh, out, error) : yw_fail_memory(error, "a surface");
  if (status < 0) yw_tri_edit_free(out);
  return status;
}

void yw_tri_edit_free(yw_tri_edit* edit) {
  YW_LIST_FREE(&edit->mem, &edit->vertices);
  YW_LIST_FREE(&edit->mem, &edit->halves);
  yw_mem_free(&edit->mem, edit->start);
  edit->start = NULL;
}

// Questions ---------------------------------------------------------------------------------------

yw_vec3 yw_half_normal(const yw_tri_edit* e, int32_t h) {
  yw_vec3 a = yw_tri_edit_at(e, yw_half_from(e, h));
  return yw_cross(yw_sub(yw_tri_edit_at(e, yw_half_to(e, h)), a),
                  yw_sub(yw_tri_edit_at(e, yw_half_tip(e, h)), a));
}

bool yw_tri_edit_on_border(const yw_tri_edit* e, int32_t v) {
  int32_t first = e->vertices.items[v].out, h = first;
  do {
    if (yw_is_ghost(e, yw_half_to(e, h))) return true;
    h = yw_half_around(e, h);
  } while (h != first);
  return false;
}

static bool are_joined(const yw_tri_edit* e, int32_t a, int32_t b) {
  int32_t first = e->vertices.items[a].out, h = first;
  do {
    if (yw_half_to(e, h) == b) return true;
    h = yw_half_around(e, h);
  } while (h != first);
  return false;
}

static int32_t count_around(const yw_tri_edit* e, int32_t v) {
  int32_t first = e->vertices.items[v].out, h = first, count = 0;
  do {
    ++count;
    h = yw_half_around(e, h);
  } while (h != first);
  return count;
}

bool yw_tri_edit_can_flip(const yw_tri_edit* e, int32_t h) {
  int32_t twin = yw_half_twin(e, h), c = yw_half_tip(e, h), d = yw_half_tip(e, twin);
  if (yw_half_is_outside(e, h) || yw_half_is_outside(e, twin) || c == d) return false;
  return count_around(e, yw_half_from(e, h)) > 3 && count_around(e, yw_half_to(e, h)) > 3 &&
         !are_joined(e, c, d);
}

bool yw_tri_edit_can_collapse(const yw_tri_edit* e, int32_t h) {
  int32_t a = yw_half_from(e, h), b = yw_half_to(e, h), twin = yw_half_twin(e, h);
  int32_t c = yw_half_tip(e, h), d = yw_half_tip(e, twin);
  if (yw_is_ghost(e, a) || yw_is_ghost(e, b) || c == d) return false;
  // Two borders, or two places of one, must not meet.
  bool border = yw_is_ghost(e, c) || yw_is_ghost(e, d);
  if (!border && yw_tri_edit_on_border(e, a) && yw_tri_edit_on_border(e, b)) return false;
  if (count_around(e, c) <= 3 || count_around(e, d) <= 3) return false;
  int32_t first = e->vertices.items[a].out, at = first, common = 0;
  do {
    common += are_joined(e, yw_half_to(e, at), b);
    at = yw_half_around(e, at);
  } while (at != first && common <= 2);
  return common == 2;
}

// Edits -------------------------------------------------------------------------------------------

static void set_half(yw_tri_edit* e, int32_t h, int32_t vertex, int32_t twin) {
  e->halves.items[h] = (yw_tri_edit_half){vertex, twin};
  e->halves.items[twin].twin = h;
  e->vertices.items[vertex].out = h;
}

void yw_tri_edit_flip(yw_tri_edit* e, int32_t h) {
  int32_t t = yw_half_twin(e, h), hn = yw_half_next(h), hp = yw_half_prev(h);
  int32_t tn = yw_half_next(t), tp = yw_half_prev(t);
  int32_t a = yw_half_from(e, h), b = yw_half_from(e, t);
  int32_t c = yw_half_tip(e, h), d = yw_half_tip(e, t);
  int32_t beyond_hn = yw_half_twin(e, hn), beyond_hp = yw_half_twin(e, hp);
  int32_t beyond_tn = yw_half_twin(e, tn), beyond_tp = yw_half_twin(e, tp);
  // (d, c, a) and (c, d, b)
  set_half(e, h, d, t);
  set_half(e, t, c, h);
  set_half(e, hn, c, beyond_hp);
  set_half(e, hp, a, beyond_tn);
  set_half(e, tn, d, beyond_tp);
  set_half(e, tp, b, beyond_hn);
}

bool yw_tri_edit_split(yw_tri_edit* e, int32_t h) {
  if (!YW_LIST_RESERVE(&e->mem, &e->vertices, 1) || !YW_LIST_RESERVE(&e->mem, &e->halves, 6)) {
    return false;
  }
  int32_t t = yw_half_twin(e, h), hn = yw_half_next(h), tp = yw_half_prev(t);
  int32_t a = yw_half_from(e, h), b = yw_half_from(e, t);
  int32_t c = yw_half_tip(e, h), d = yw_half_tip(e, t);
  int32_t beyond_hn = yw_half_twin(e, hn), beyond_tp = yw_half_twin(e, tp);
  int32_t m = e->vertices.count++, n = e->halves.count, q = n + 3;
  e->halves.count += 6;
  e->vertices.items[m] = (yw_tri_edit_vertex){
      .position = yw_lerp(yw_tri_edit_at(e, a), yw_tri_edit_at(e, b), 0.5f), .home = -1};
  // (a, m, c) and (m, a, d) stay in place; (m, b, c) and (b, m, d) are new.
  e->halves.items[t].vertex = m;
  set_half(e, n + 1, b, beyond_hn);
  set_half(e, n + 2, c, hn);
  e->halves.items[hn].vertex = m;
  set_half(e, q + 2, d, beyond_tp);
  set_half(e, q + 1, m, tp);
  set_half(e, q, b, n);
  set_half(e, n, m, q);
  e->vertices.items[a].out = h;
  return true;
}

void yw_tri_edit_collapse(yw_tri_edit* e, int32_t h, yw_vec3 place) {
  int32_t t = yw_half_twin(e, h), a = yw_half_from(e, h), b = yw_half_from(e, t);
  int32_t c = yw_half_tip(e, h), d = yw_half_tip(e, t);
  int32_t from_c = yw_half_twin(e, yw_half_next(h)), to_c = yw_half_twin(e, yw_half_prev(h));
  int32_t to_d = yw_half_twin(e, yw_half_prev(t)), from_d = yw_half_twin(e, yw_half_next(t));
  int32_t at = t;
  do {
    e->halves.items[at].vertex = a;
    at = yw_half_around(e, at);
  } while (at != t);
  for (int k = 0; k < 3; ++k) {
    e->halves.items[h / 3 * 3 + k].vertex = -1;
    e->halves.items[t / 3 * 3 + k].vertex = -1;
  }
  set_half(e, from_c, c, to_c);
  set_half(e, from_d, d, to_d);
  yw_tri_edit_vertex* kept = &e->vertices.items[a];
  kept->out = to_c;
  kept->position = place;
  for (int k = 0; k < 10; ++k) kept->planes[k] += e->vertices.items[b].planes[k];
  e->vertices.items[b].out = -1;
  e->vertices.items[b].home = a;
}
