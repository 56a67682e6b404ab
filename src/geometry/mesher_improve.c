// SPDX-License-Identifier: MIT
// Stuffing leaves a few tets near its bound of 10 degrees. Their vertices are moved in small steps,
// each kept only if it improves the worst dihedral angle around the vertex.
#include "geometry/mesher.h"

#define POOR_COSINE 0.9397  // 20 degrees (or 160)
#define MAX_PASSES 4

// Other tets are unchanged lattice tets (60 and 90 degrees) or were moved with care.
static bool touches_surface(const yw_tet_edit* edit, int32_t tet) {
  const int32_t* v = edit->tets.items[tet].v;
  const unsigned char* holds = edit->holds.items;
  return holds[v[0]] || holds[v[1]] || holds[v[2]] || holds[v[3]];
}

void yw_mesher_improve(yw_tet_edit* edit) {
  bool moved = true;
  for (int pass = 0; moved && pass < MAX_PASSES; ++pass) {
    moved = false;
    for (int32_t t = 0; t < edit->tets.count; ++t) {
      if (!touches_surface(edit, t) || yw_edit_badness(edit, t) <= POOR_COSINE) continue;
      for (int k = 0; k < 4; ++k) {
        if (yw_edit_improve_vertex(edit, edit->tets.items[t].v[k], POOR_COSINE)) moved = true;
      }
    }
  }
}
