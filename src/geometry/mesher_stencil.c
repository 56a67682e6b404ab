// SPDX-License-Identifier: MIT
#include "geometry/mesher_stencil.h"

#include "geometry/tet_math.h"
#include "yawara/extend/vec.h"

// Vertices ----------------------------------------------------------------------------------------

int32_t yw_stencil_vertex(yw_stencil* f, yw_dvec3 p, bool on_surface) {
  if (f->status != YW_OK) return 0;
  if (f->positions.count >= f->max_vertices) {
    f->status = YW_ERR_LIMIT;
    return 0;
  }
  if (!YW_LIST_RESERVE(&f->mem, &f->positions, 1) || !YW_LIST_RESERVE(&f->mem, &f->on_surface, 1)) {
    f->status = YW_ERR_MEMORY;
    return 0;
  }
  f->positions.items[f->positions.count++] = yw_f3(p);
  f->on_surface.items[f->on_surface.count++] = on_surface;
  return f->positions.count - 1;
}

static int32_t node_vertex(yw_stencil* f, int k) { return f->node_vertex(f, k); }
static int32_t cut_vertex(yw_stencil* f, int a, int b) { return f->cut_vertex(f, a, b); }

// Pieces ------------------------------------------------------------------------------------------

static void emit(yw_stencil* f, int32_t a, int32_t b, int32_t c, int32_t d) {
  if (f->status != YW_OK) return;
  int on_surface = f->on_surface.items[a] + f->on_surface.items[b] + f->on_surface.items[c] +
                   f->on_surface.items[d];
  if (f->part == YW_STUFF_SKIN && on_surface < 3) return;
  if (!YW_LIST_RESERVE(&f->mem, &f->tets, 1)) {
    f->status = YW_ERR_MEMORY;
    return;
  }
  const yw_vec3* x = f->positions.items;
  yw_dvec3 p[4] = {yw_d3(x[a]), yw_d3(x[b]), yw_d3(x[c]), yw_d3(x[d])};
  bool positive = yw_tet_volume6(p) > 0.0;
  f->tets.items[f->tets.count++] = (yw_stencil_tet){{a, b, positive ? c : d, positive ? d : c}};
}

// A prism with bottom x[0..2] and top x[3..5]. up[q]: the diagonal of the side from q to q + 1 runs
// from bottom q to top q + 1, else from bottom q + 1 to top q. The three must not all be equal.
static void emit_prism(yw_stencil* f, const int32_t x[6], const bool up[3]) {
  for (int q = 0; q < 3; ++q) {
    int next = (q + 1) % 3, last = (q + 2) % 3;
    if (!up[q] || up[last]) continue;
    // Two diagonals start at bottom q: the tet over the top, then the opposite side as a pyramid.
    emit(f, x[q], x[3 + q], x[3 + next], x[3 + last]);
    if (up[next]) {
      emit(f, x[q], x[next], x[last], x[3 + last]);
      emit(f, x[q], x[next], x[3 + last], x[3 + next]);
    } else {
      emit(f, x[q], x[next], x[last], x[3 + next]);
      emit(f, x[q], x[last], x[3 + last], x[3 + next]);
    }
    return;
  }
}

// One node inside: a tet of it and, for each other node, the node itself or the cut towards it.
static void stuff_one_inside(yw_stencil* f, int a) {
  int32_t v[3];
  for (int n = 0; n < 3; ++n) {
    int k = (a + 1 + n) & 3;
    v[n] = f->side[k] == 0 ? node_vertex(f, k) : cut_vertex(f, a, k);
  }
  emit(f, node_vertex(f, a), v[0], v[1], v[2]);
}

// a, b inside, z on the surface, o outside: a pyramid with apex z.
static void stuff_pyramid(yw_stencil* f, int a, int b, int z, int o) {
  int32_t va = node_vertex(f, a), vb = node_vertex(f, b), vz = node_vertex(f, z);
  int32_t ca = cut_vertex(f, a, o), cb = cut_vertex(f, b, o);
  if (f->diagonal_from_first(f, a, b, o)) {
    emit(f, vz, va, vb, cb);
    emit(f, vz, va, cb, ca);
  } else {
    emit(f, vz, va, vb, ca);
    emit(f, vz, vb, cb, ca);
  }
}

// a, b inside, o, p outside: a prism between the triangles cut off at a and b.
static void stuff_wedge(yw_stencil* f, int a, int b, int o, int p) {
  int32_t x[6];
  x[0] = node_vertex(f, a), x[1] = cut_vertex(f, a, o), x[2] = cut_vertex(f, a, p);
  x[3] = node_vertex(f, b), x[4] = cut_vertex(f, b, o), x[5] = cut_vertex(f, b, p);
  // The sides a-o and p-a are shared with other tets; the side on the surface is free and takes the
  // diagonal that the other two allow.
  bool first = f->diagonal_from_first(f, a, b, o), second = !f->diagonal_from_first(f, a, b, p);
  emit_prism(f, x, (bool[]){first, !first, second});
}

// All but o inside: a prism between the inner face and the cuts.
static void stuff_three_inside(yw_stencil* f, int o) {
  int a = (o + 1) & 3, b = (o + 2) & 3, c = (o + 3) & 3;
  int32_t x[6];
  x[0] = node_vertex(f, a), x[1] = node_vertex(f, b), x[2] = node_vertex(f, c);
  x[3] = cut_vertex(f, a, o), x[4] = cut_vertex(f, b, o), x[5] = cut_vertex(f, c, o);
  emit_prism(f, x,
             (bool[]){f->diagonal_from_first(f, a, b, o), f->diagonal_from_first(f, b, c, o),
                      f->diagonal_from_first(f, c, a, o)});
}

void yw_stencil_apply(yw_stencil* f) {
  int inside[4], outside[4], zero[4], num_inside = 0, num_outside = 0, num_zero = 0;
  for (int k = 0; k < 4; ++k) {
    signed char side = f->side[k];
    if (side < 0) inside[num_inside++] = k;
    if (side > 0) outside[num_outside++] = k;
    if (side == 0) zero[num_zero++] = k;
  }
  if (num_inside == 0) return;
  if (num_outside == 0) {
    if (f->part == YW_STUFF_SKIN && num_zero < 3) return;
    // One after another: vertices are numbered as they appear, and compilers order arguments
    // freely.
    int32_t d = node_vertex(f, 3), c = node_vertex(f, 2), b = node_vertex(f, 1);
    int32_t a = node_vertex(f, 0);
    emit(f, a, b, c, d);
  } else if (num_inside == 1) {
    stuff_one_inside(f, inside[0]);
  } else if (num_inside == 3) {
    stuff_three_inside(f, outside[0]);
  } else if (num_zero == 1) {
    stuff_pyramid(f, inside[0], inside[1], zero[0], outside[0]);
  } else {
    stuff_wedge(f, inside[0], inside[1], outside[0], outside[1]);
  }
}

// The mesh ----------------------------------------------------------------------------------------

yw_status yw_stencil_finish(yw_stencil* f, yw_tet_mesh* out, unsigned char** on_surface) {
  *out = (yw_tet_mesh){0};
  if (f->status == YW_OK) {
    f->status = yw_tet_mesh_create(&f->mem, f->positions.count, f->tets.count, out);
  }
  if (f->status == YW_OK) {
    for (int32_t i = 0; i < out->num_vertices; ++i) out->positions[i] = f->positions.items[i];
    for (int32_t t = 0; t < out->num_tets; ++t) {
      for (int k = 0; k < 4; ++k) out->tets[4 * (size_t)t + (size_t)k] = f->tets.items[t].v[k];
    }
  }
  YW_LIST_FREE(&f->mem, &f->positions);
  YW_LIST_FREE(&f->mem, &f->tets);
  if (f->status == YW_OK && on_surface != NULL) {
    *on_surface = f->on_surface.items;
  } else {
    YW_LIST_FREE(&f->mem, &f->on_surface);
  }
  return f->status;
}
