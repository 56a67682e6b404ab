// SPDX-License-Identifier: MIT
// Open faces and separated nodes of a body, and what follows from them.
#include "methods/fem/cracks.h"

#include <math.h>
#include <string.h>

#include "yawara/extend/memory.h"

// Stress may have risen past the strength of a face before it opens: up to this factor counts.
#define MOST_EXCESS 1.5

// Memory ------------------------------------------------------------------------------------------

// As the body is without cracks.
static void make_whole(fem_cracks* c, const fem_hierarchy* h) {
  size_t tets = (size_t)c->fragile->num_tets;
  memcpy(c->corners, h->nodes + h->level_start[h->max_level], tets * sizeof *c->corners);
  memcpy(c->on_surface, c->outside, (size_t)h->num_nodes * sizeof *c->on_surface);
  memset(c->open, 0, tets);
  memset(c->loose, 0, tets);
  memset(c->parted, 0, tets);
  memset(c->fine, 0, (size_t)h->num_parents);
  c->num_faces = 0;
  c->num_pieces = 1;
  c->num_crumbs = 0;
  c->area = 0.0;
  c->rate = 0.0f;
  memset(c->is_lip, 0, (size_t)h->max_nodes * sizeof *c->is_lip);
  memset(c->front, 0, (size_t)h->max_nodes * sizeof *c->front);
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    if (c->fragile->is_tip[n]) c->front[n] = FEM_NOTCH_TIP;
  }
  memset(c->is_held, 0, (size_t)h->max_nodes * sizeof *c->is_held);
}

bool yw_fem_cracks_create(const yw_allocator* mem, const fem_hierarchy* h,
                          const fem_fragile* fragile, const double* fine_mass, const yw_vec3* rest,
                          const bool* outside, fem_cracks* out) {
  fem_cracks* c = out;
  *c = (fem_cracks){.mem = yw_mem_or_default(mem), .fragile = fragile, .outside = outside};
  size_t tets = (size_t)fragile->num_tets, nodes = (size_t)h->num_nodes;
  size_t longest = (size_t)fragile->longest_fan, most = (size_t)h->max_nodes;
  c->corners = yw_mem_alloc(mem, tets, sizeof *c->corners);
  c->copy_of = YW_NEW_ARRAY(mem, int32_t, most - nodes);
  c->open = YW_NEW_ARRAY(mem, uint8_t, tets);
  c->loose = YW_NEW_ARRAY(mem, uint8_t, tets);
  c->parted = YW_NEW_ARRAY(mem, uint8_t, tets);
  c->faces = YW_NEW_ARRAY(mem, fem_crack, fragile->num_faces);
  c->fine = YW_NEW_ARRAY(mem, bool, h->num_parents);
  c->fine_mass = YW_NEW_ARRAY(mem, double, most);
  c->rest = YW_NEW_ARRAY(mem, yw_vec3, most);
  c->on_surface = YW_NEW_ARRAY(mem, bool, most);
  c->scratch = YW_NEW_ARRAY(mem, int32_t, longest > tets ? longest : tets);
  c->grip = YW_NEW_ARRAY(mem, double, most);
  c->is_lip = YW_NEW_ARRAY(mem, bool, most);
  c->front = YW_NEW_ARRAY(mem, uint8_t, most);
  c->is_held = YW_NEW_ARRAY(mem, bool, most);
  c->crumb_start = YW_NEW_ARRAY(mem, int32_t, tets + 1);
  c->crumb_nodes = YW_NEW_ARRAY(mem, int32_t, 4 * tets);
  c->piece_size = YW_NEW_ARRAY(mem, int32_t, tets);
  c->next_tet = YW_NEW_ARRAY(mem, int32_t, tets);
  c->dirty = YW_NEW_ARRAY(mem, int32_t, nodes);
  c->is_dirty = YW_NEW_ARRAY(mem, bool, nodes);
  if (!c->corners || !c->copy_of || !c->open || !c->loose || !c->parted || !c->faces || !c->fine ||
      !c->fine_mass || !c->rest || !c->on_surface || !c->scratch || !c->grip || !c->is_lip ||
      !c->front || !c->is_held || !c->crumb_start || !c->crumb_nodes || !c->piece_size ||
      !c->next_tet || !c->dirty || !c->is_dirty) {
    yw_fem_cracks_free(c);
    return false;
  }
  memcpy(c->fine_mass, fine_mass, nodes * sizeof *c->fine_mass);
  memcpy(c->rest, rest, nodes * sizeof *c->rest);
  make_whole(c, h);
  return true;
}

void yw_fem_cracks_free(fem_cracks* c) {
  void* const arrays[] = {c->crumb_start, c->crumb_nodes, c->piece_size, c->next_tet,   c->corners,
                          c->parted,      c->copy_of,     c->open,       c->loose,      c->faces,
                          c->fine,        c->fine_mass,   c->rest,       c->on_surface, c->scratch,
                          c->grip,        c->is_lip,      c->front,      c->is_held,    c->dirty,
                          c->is_dirty};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) yw_mem_free(&c->mem, arrays[i]);
  *c = (fem_cracks){0};
}

// Opening -----------------------------------------------------------------------------------------

void yw_fem_crack_mark(const fem_cracks* c, int32_t half, uint8_t* bits) {
  int32_t other = c->fragile->partner[half];
  bits[half / 4] |= (uint8_t)(1 << (half & 3));
  bits[other / 4] |= (uint8_t)(1 << (other & 3));
}

static void set_corners(fem_crack* crack, const fem_face* face, int32_t half) {
  crack->half = half;
  for (int i = 0; i < 3; ++i) {
    crack->slot[0][i] = face->slot[i];
    crack->slot[1][i] = face->partner[i];
  }
}

void yw_fem_crack_open(fem_cracks* c, const fem_face* face, int32_t half, const yw_dvec3 axes[3],
                       yw_dvec3 pull, double share) {
  fem_crack* crack = &c->faces[c->num_faces++];
  double size = sqrt(yw_ddot(pull, pull)),
         stress = fmin(size, MOST_EXCESS * face->strength[FEM_NO_FRONT]);
  *crack = (fem_crack){
      .strength = (float)(share * stress),
      .span = (float)(2.0 * (double)c->fragile->toughness / stress),
      .slack = (float)(share * stress / face->stiffness),
      .stiffness = (float)face->stiffness,
      .area = (float)face->area,
      .size = (float)face->size,
  };
  set_corners(crack, face, half);
  for (int k = 0; k < 3; ++k) {
    crack->pull[k] = (float)(yw_ddot(pull, axes[k]) / size);
    crack->traction[k] = yw_f3(yw_dscale(pull, share * stress / size));
    if (c->is_dirty[face->node[k]]) continue;
    c->is_dirty[face->node[k]] = true;
    c->dirty[c->num_dirty++] = face->node[k];
  }
  yw_fem_crack_mark(c, half, c->open);
}

// Separation --------------------------------------------------------------------------------------

// Index in the fan of the corner of this tet.
static int32_t find_in_fan(const int32_t* fan, int32_t length, int32_t tet) {
  int32_t low = 0, high = length;
  while (high - low > 1) {
    int32_t middle = (low + high) / 2;
    *(fan[middle] / 4 <= tet ? &low : &high) = middle;
  }
  return low;
}

// Labels the corners of a fan: equal if their tets are connected around the node through closed
// faces. A label is the lowest index of its corners.
static void label_fan(const fem_cracks* c, const int32_t* fan, int32_t length, int32_t* label) {
  for (int32_t i = 0; i < length; ++i) label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t i = 0; i < length; ++i) {
      int32_t tet = fan[i] / 4;
      for (int k = 0; k < 4; ++k) {
        int32_t other = c->fragile->partner[4 * tet + k];
        if (k == (fan[i] & 3) || other < 0 || (c->open[tet] >> k & 1)) continue;
        int32_t j = find_in_fan(fan, length, other / 4);
        if (label[j] == label[i]) continue;
        label[j] = label[i] = label[j] < label[i] ? label[j] : label[i];
        changed = true;
      }
    }
  }
}

// Sums the masses of the nodes of a fan again.
static void share_mass(fem_cracks* c, const int32_t* fan, int32_t length) {
  for (int32_t i = 0; i < length; ++i) c->fine_mass[c->corners[fan[i] / 4][fan[i] & 3]] = 0.0;
  for (int32_t i = 0; i < length; ++i) {
    int32_t tet = fan[i] / 4;
    c->fine_mass[c->corners[tet][fan[i] & 3]] += c->fragile->corner_mass[tet];
  }
}

// Gives parts of a fan nodes of their own. Returns how many copies there are then.
static int32_t separate_fan(fem_cracks* c, const fem_hierarchy* h, int32_t vertex,
                            const bool* is_held, int32_t num_copies) {
  const int32_t* fan = c->fragile->fan + c->fragile->fan_start[vertex];
  int32_t length = c->fragile->fan_start[vertex + 1] - c->fragile->fan_start[vertex];
  int32_t *label = c->scratch, before = num_copies;
  label_fan(c, fan, length, label);
  for (int32_t i = 0; i < length; ++i) {
    int32_t node = c->corners[fan[i] / 4][fan[i] & 3], keeper = 0;
    while (c->corners[fan[keeper] / 4][fan[keeper] & 3] != node) ++keeper;
    if (label[i] != i || label[keeper] == i || is_held[node]) continue;
    int32_t copy = h->num_nodes + num_copies;
    for (int32_t j = i; j < length; ++j) {
      if (label[j] == i) c->corners[fan[j] / 4][fan[j] & 3] = copy;
    }
    c->copy_of[num_copies++] = node;
    c->rest[copy] = c->rest[node];
  }
  if (num_copies > before) share_mass(c, fan, length);
  return num_copies;
}

int32_t yw_fem_cracks_separate(fem_cracks* c, const fem_hierarchy* h, const bool* is_held,
                               int32_t num_copies) {
  int32_t before = num_copies;
  for (int32_t i = 0; i < c->num_dirty; ++i) {
    num_copies = separate_fan(c, h, c->dirty[i], is_held, num_copies);
    c->is_dirty[c->dirty[i]] = false;
  }
  c->num_dirty = 0;
  return num_copies - before;
}

// What follows ------------------------------------------------------------------------------------

// A node is held back by at most the sum of the stiffnesses of its faces, twice since the other
// sides move too (Gershgorin).
void yw_fem_cracks_refresh(fem_cracks* c, const double* mass) {
  double most = 0.0;
  for (int32_t i = 0; i < c->num_faces; ++i) {
    fem_crack* crack = &c->faces[i];
    int32_t tets[2] = {crack->half / 4, c->fragile->partner[crack->half] / 4};
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < 3; ++k) {
        crack->node[side][k] = c->corners[tets[side]][crack->slot[side][k]];
      }
    }
    for (int k = 0; k < 6; ++k) {
      c->grip[crack->node[k / 3][k % 3]] = 0.0;
      c->is_lip[crack->node[k / 3][k % 3]] = false;
      c->front[crack->node[k / 3][k % 3]] = FEM_NO_FRONT;
      c->is_held[crack->node[k / 3][k % 3]] = false;
    }
  }
  for (int32_t i = 0; i < c->num_faces; ++i) {
    const fem_crack* crack = &c->faces[i];
    double grip = (double)crack->stiffness * (double)crack->area / 3.0;
    for (int k = 0; k < 6 && !crack->parted; ++k) {
      int32_t own = crack->node[k / 3][k % 3], other = crack->node[1 - k / 3][k % 3];
      bool holds = crack->reach[k % 3] < crack->span;
      c->is_lip[own] = true;
      if (own == other) c->front[own] = FEM_CRACK_FRONT;
      if (own == other) continue;
      if (holds) c->is_held[own] = true;
      c->grip[own] += grip;
      most = fmax(most, 2.0 * c->grip[own] / mass[own]);
    }
  }
  c->rate = (float)most;
}

static int32_t piece_of(int32_t* parent, int32_t tet) {
  while (parent[tet] != tet) tet = parent[tet] = parent[parent[tet]];
  return tet;
}

void yw_fem_cracks_count(fem_cracks* c, const fem_hierarchy* h, int32_t num_copies) {
  const fem_fragile* f = c->fragile;
  int32_t* parent = c->scratch;
  c->area = 0.0;
  memcpy(c->on_surface, c->outside, (size_t)h->num_nodes * sizeof *c->on_surface);
  for (int32_t i = 0; i < num_copies; ++i) {
    c->on_surface[h->num_nodes + i] = c->outside[c->copy_of[i]];
  }
  for (int32_t i = 0; i < c->num_faces; ++i) {
    const fem_crack* crack = &c->faces[i];
    if (!crack->loose) continue;
    c->area += (double)crack->area;
    for (int k = 0; k < 6 && crack->parted; ++k) c->on_surface[crack->node[k / 3][k % 3]] = true;
  }
  c->num_pieces = f->num_tets;
  for (int32_t t = 0; t < f->num_tets; ++t) parent[t] = t;
  for (int32_t half = 0; half < 4 * f->num_tets; ++half) {
    if (f->partner[half] < half || (c->loose[half / 4] >> (half & 3) & 1)) continue;
    int32_t a = piece_of(parent, half / 4), b = piece_of(parent, f->partner[half] / 4);
    if (a == b) continue;
    parent[a < b ? b : a] = a < b ? a : b;
    --c->num_pieces;
  }
  for (int32_t t = 0; t < f->num_tets; ++t) parent[t] = piece_of(parent, t);
  yw_fem_crumbs_list(c, parent);
}

// Snapshots ---------------------------------------------------------------------------------------

#define NUMBERS 11

void yw_fem_cracks_save(const fem_cracks* c, const fem_hierarchy* h, yw_writer* writer) {
  size_t tets = (size_t)c->fragile->num_tets;
  yw_write_bytes(writer, c->corners, tets * sizeof *c->corners);
  yw_write_bytes(writer, c->fine, (size_t)h->num_parents);
  yw_write_u32(writer, (uint32_t)c->num_faces);
  for (int32_t i = 0; i < c->num_faces; ++i) {
    const fem_crack* crack = &c->faces[i];
    const float numbers[NUMBERS] = {crack->pull[0],  crack->pull[1],  crack->pull[2],
                                    crack->strength, crack->span,     crack->slack,
                                    crack->reach[0], crack->reach[1], crack->reach[2],
                                    crack->area,     crack->stiffness};
    yw_write_u32(writer, (uint32_t)crack->half);
    yw_write_u32(writer, (uint32_t)crack->loose | (uint32_t)crack->parted << 1);
    yw_write_f32(writer, numbers, NUMBERS);
    yw_write_f32(writer, &crack->gap[0].x, 9);
    yw_write_f32(writer, &crack->traction[0].x, 9);
    yw_write_f64(writer, crack->work);
  }
}

// Copies must be of the node that the tet has there. Returns their number, or -1.
static int32_t check_corners(fem_cracks* c, const fem_hierarchy* h) {
  const int32_t(*nodes)[4] = (const int32_t(*)[4])h->nodes + h->level_start[h->max_level];
  int32_t num_copies = 0;
  for (int32_t i = 0; i < 4 * c->fragile->num_tets; ++i) {
    int32_t node = c->corners[i / 4][i % 4], copy = node - h->num_nodes;
    if (node == nodes[i / 4][i % 4]) continue;
    if (copy < 0 || node >= h->max_nodes) return -1;
    if (copy >= num_copies) num_copies = copy + 1;
  }
  for (int32_t n = h->num_nodes; n < h->num_nodes + num_copies; ++n) c->fine_mass[n] = 0.0;
  for (int32_t n = 0; n < h->num_nodes; ++n) {
    const int32_t* fan = c->fragile->fan + c->fragile->fan_start[n];
    int32_t length = c->fragile->fan_start[n + 1] - c->fragile->fan_start[n];
    // A copy that already has mass belongs to another node.
    for (int32_t i = 0; i < length; ++i) {
      int32_t node = c->corners[fan[i] / 4][fan[i] & 3];
      if (node != n && c->fine_mass[node] > 0.0) return -1;
      if (node == n) continue;
      c->copy_of[node - h->num_nodes] = n;
      c->rest[node] = c->rest[n];
    }
    share_mass(c, fan, length);
  }
  for (int32_t n = h->num_nodes; n < h->num_nodes + num_copies; ++n) {
    if (!(c->fine_mass[n] > 0.0)) return -1;
  }
  return num_copies;
}

static bool load_face(fem_cracks* c, const fem_hierarchy* h, const fem_materials* materials,
                      yw_reader* reader) {
  const fem_fragile* f = c->fragile;
  float n[NUMBERS];
  uint32_t half = yw_read_u32(reader), state = yw_read_u32(reader);
  yw_read_f32(reader, n, NUMBERS);
  if (reader->failed || half >= 4 * (uint32_t)f->num_tets || f->partner[half] < 0 || state > 3 ||
      state == 2 || (c->open[half / 4] >> (half & 3) & 1)) {
    return false;
  }
  for (int i = 0; i < NUMBERS; ++i) {
    if (!isfinite(n[i]) || (i > 2 && !(n[i] >= 0.0f))) return false;
  }
  if (!(n[5] > 0.0f)) return false;
  fem_face face = yw_fem_face_of(h, materials, f, (int32_t)half);
  fem_crack* crack = &c->faces[c->num_faces++];
  *crack = (fem_crack){.pull = {n[0], n[1], n[2]},
                       .strength = n[3],
                       .span = n[4],
                       .slack = n[5],
                       .reach = {n[6], n[7], n[8]},
                       .area = n[9],
                       .stiffness = n[10],
                       .size = (float)face.size,
                       .loose = state & 1,
                       .parted = state >> 1};
  yw_read_f32(reader, &crack->gap[0].x, 9);
  yw_read_f32(reader, &crack->traction[0].x, 9);
  crack->work = yw_read_f64(reader);
  set_corners(crack, &face, (int32_t)half);
  yw_fem_crack_mark(c, (int32_t)half, c->open);
  if (crack->loose) yw_fem_crack_mark(c, (int32_t)half, c->loose);
  if (crack->parted) yw_fem_crack_mark(c, (int32_t)half, c->parted);
  for (int k = 0; k < 3; ++k) {
    if (!yw_is_finite3(crack->gap[k]) || !yw_is_finite3(crack->traction[k])) return false;
  }
  return !reader->failed && isfinite(crack->work);
}

static int32_t load_all(fem_cracks* c, const fem_hierarchy* h, const fem_materials* materials,
                        yw_reader* reader) {
  size_t tets = (size_t)c->fragile->num_tets;
  make_whole(c, h);
  yw_read_bytes(reader, c->corners, tets * sizeof *c->corners);
  yw_read_bytes(reader, c->fine, (size_t)h->num_parents);
  uint32_t count = yw_read_u32(reader);
  if (reader->failed || count > (uint32_t)c->fragile->num_faces) return -1;
  const uint8_t* fine = (const uint8_t*)c->fine;
  for (int32_t t = 0; t < h->num_parents; ++t) {
    if (fine[t] > 1) return -1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!load_face(c, h, materials, reader)) return -1;
  }
  return check_corners(c, h);
}

int32_t yw_fem_cracks_load(fem_cracks* c, const fem_hierarchy* h, const fem_materials* materials,
                           yw_reader* reader) {
  int32_t num_copies = load_all(c, h, materials, reader);
  if (num_copies < 0) make_whole(c, h);
  return num_copies;
}
