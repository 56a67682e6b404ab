// SPDX-License-Identifier: MIT
// The shown surface of bodies that may break. Pictures, exports and the page know surfaces whose
// triangles stay the same, so it has all triangles that may ever be seen: those outside, and both
// sides of every face between two tets. The three vertices of a side are at one point, and the
// triangle has no extent, until the face opens.
#include "geometry/mesh_faces.h"
#include "methods/fem/cracks.h"

// Slots of the corners of a half face, counter-clockwise from outside of its tet.
static void corners_of(const fem_hierarchy* h, int32_t half, int slots[3]) {
  bool positive = yw_fem_is_positive(h, h->level_start[h->max_level] + half / 4);
  const unsigned char* face = yw_tet_faces[half & 3];
  slots[0] = face[0], slots[1] = face[positive ? 1 : 2], slots[2] = face[positive ? 2 : 1];
}

yw_status yw_fem_crack_surface(const fem_hierarchy* h, const fem_fragile* f,
                               const yw_allocator* mem, yw_tri_mesh* out) {
  int32_t halves = 4 * f->num_tets;
  yw_status status = yw_tri_mesh_create(mem, 3 * halves, halves, out);
  if (status < 0) return status;
  for (int32_t half = 0; half < halves; ++half) {
    const int32_t* nodes = h->nodes[h->level_start[h->max_level] + half / 4];
    int slots[3];
    corners_of(h, half, slots);
    for (int k = 0; k < 3; ++k) {
      size_t at = 3 * (size_t)half + (size_t)k;
      out->triangles[at] = (int32_t)at;
      out->positions[at] = yw_f3(h->rest[nodes[slots[k]]]);
    }
  }
  return YW_OK;
}

void yw_fem_crack_positions(const fem_hierarchy* h, const fem_cracks* c, const yw_vec4* pos,
                            yw_vec3* out) {
  for (int32_t half = 0; half < 4 * c->fragile->num_tets; ++half) {
    bool shown = c->fragile->partner[half] < 0 || (c->open[half / 4] >> (half & 3) & 1);
    int slots[3];
    corners_of(h, half, slots);
    for (int k = 0; k < 3; ++k) {
      out[3 * (size_t)half + (size_t)k] = yw_xyz(pos[c->corners[half / 4][slots[shown ? k : 0]]]);
    }
  }
}
