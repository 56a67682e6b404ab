// SPDX-License-Identifier: MIT
#include "commands/mesh_doctor.h"

#include <math.h>
#include <stdio.h>

// A surface thinner than this, relative to its longest side, is flat.
#define FLAT_SHARE 1e-3f
// Loss of volume that is worth a word.
#define LOSS 0.02
// Meshes that are tried to find a better size.
#define MOST_TRIES 4
#define MOST_TRIED_VERTICES 300000

static yw_vec3 size_of(yw_aabb box) {
  return (yw_vec3){box.upper.x - box.lower.x, box.upper.y - box.lower.y, box.upper.z - box.lower.z};
}

static float longest_of(yw_vec3 size) { return fmaxf(size.x, fmaxf(size.y, size.z)); }

bool doctor_is_flat(const yw_surface_report* r) {
  yw_vec3 size = size_of(r->box);
  float thinnest = fminf(size.x, fminf(size.y, size.z));
  return thinnest <= FLAT_SHARE * longest_of(size);
}

// The opening of a bowl is half as large as the bowl itself.
bool doctor_is_sheet(const yw_surface_report* r) {
  return doctor_is_flat(r) || r->hole_area > 0.3 * r->area;
}

static void print_place(yw_vec3 p) {
  printf(", the first at (%.4g, %.4g, %.4g)\n", (double)p.x, (double)p.y, (double)p.z);
}

static void print_openings(const yw_surface_report* r) {
  if (r->open_edges == 0) {
    printf("  open edges      none\n");
    return;
  }
  printf("  open edges      %d around %d hole%s", r->open_edges, r->holes,
         r->holes == 1 ? "" : "s");
  print_place(r->open_place);
  if (!doctor_is_sheet(r))
    printf("                  tets close holes smoothly; close them yourself to decide how\n");
}

static void print_winding(const yw_surface_report* r) {
  if (r->turned_edges > 0) {
    printf("  winding         mixed: %d edges between triangles that face opposite sides",
           r->turned_edges);
    print_place(r->turned_place);
    printf("                  --repair turns triangles over\n");
  } else if (r->open_edges == 0 && r->volume < 0.0) {
    printf("  winding         inside out as a whole (no harm: it is turned over)\n");
  } else {
    printf("  winding         alike\n");
  }
}

static void print_crossings(const yw_surface_report* r) {
  if (r->crossing_triangles == 0) {
    printf("  crossings       %s\n", r->crossings_complete
                                         ? "none"
                                         : "none found, but not all pairs of triangles were tried");
  } else {
    printf("  crossings       %d triangles pass through others", r->crossing_triangles);
    print_place(r->crossing_place);
    printf("                  (no harm for tets: overlaps are filled once)\n");
  }
}

void doctor_print_surface(const yw_tri_mesh* surface, const yw_surface_report* r,
                          const char* path) {
  yw_vec3 size = size_of(r->box);
  printf("%s\n  surface         %d triangles, %d vertices%s\n", path, surface->num_triangles,
         surface->num_vertices, surface->colors ? " with colours" : "");
  printf("  size            %.4g x %.4g x %.4g m\n", (double)size.x, (double)size.y,
         (double)size.z);
  printf("  parts           %d%s\n", r->num_parts,
         r->num_parts > 1 ? " (--split writes a file for each)" : "");
  print_openings(r);
  print_winding(r);
  print_crossings(r);
  if (r->crowded_edges > 0) {
    printf("  crowded edges   %d edges of more than two triangles", r->crowded_edges);
    print_place(r->crowded_place);
  }
  if (r->flat_triangles > 0) printf("  flat triangles  %d without area\n", r->flat_triangles);
  if (!(r->area > 0.0)) {
    printf("  Nothing can be made of it: it has no area.\n");
  } else if (doctor_is_sheet(r)) {
    printf(
        "  This is a sheet rather than a solid. Simulate the surface itself:\n"
        "    \"sheet\": { \"file\": \"%s\", \"thickness\": %.2g }, \"slender\": {}\n",
        path, 0.01 * (double)longest_of(size));
  }
}

// Loss --------------------------------------------------------------------------------------------

// Clean surfaces enclose their volume exactly; of others the mesher has sampled the solid.
static double solid_volume(const yw_surface_report* r, const yw_tet_fit* fit) {
  bool clean = r->open_edges == 0 && r->turned_edges == 0 && r->crowded_edges == 0 &&
               r->crossing_triangles == 0 && r->num_parts == 1;
  return clean ? fabs(r->volume) : fit->shape_volume;
}

static double loss_of(const yw_tet_mesh* tets, double volume, int32_t* num_parts) {
  yw_tet_quality q;
  if (yw_tet_mesh_quality(tets, &q) < 0) return 1.0;
  *num_parts = q.num_parts;
  return 1.0 - q.volume / volume;
}

// Halves the size until little is lost. Returns 0 if no size that is tried is good enough.
static float better_size(const yw_shape* shape, double volume, float size, double* loss) {
  for (int32_t i = 0; i < MOST_TRIES; ++i) {
    size *= 0.5f;
    yw_mesher_def def = yw_default_mesher_def();
    def.size = size;
    def.max_vertices = MOST_TRIED_VERTICES;
    yw_tet_mesh tets = {0};
    yw_tet_fit fit = {0};
    int32_t parts;
    if (yw_shape_fill(shape, NULL, &def, &tets, &fit, NULL) < 0) return 0.0f;
    *loss = loss_of(&tets, volume, &parts);
    yw_tet_mesh_free(&tets);
    if (fabs(*loss) <= LOSS && fit.num_lost == 0) return size;
  }
  return 0.0f;
}

void doctor_print_loss(const yw_shape* shape, const yw_surface_report* r, const yw_tet_mesh* tets,
                       const yw_tet_fit* fit) {
  double volume = solid_volume(r, fit), later = 0.0;
  if (!(volume > 0.0)) return;
  int32_t parts = 0;
  double loss = loss_of(tets, volume, &parts);
  printf("  of the surface  %.4g m^3, %.1f %% %s\n", volume, 100.0 * fabs(loss),
         loss >= 0.0 ? "lost" : "more in the tets");
  if (parts < r->num_parts && r->open_edges == 0)
    printf("                  tets have %d part%s, the surface %d: parts that overlap are one\n",
           parts, parts == 1 ? "" : "s", r->num_parts);
  if (parts > r->num_parts)
    printf("                  tets have %d parts, the surface %d: thin places broke\n", parts,
           r->num_parts);
  if (fabs(loss) <= LOSS && parts <= r->num_parts && fit->num_lost == 0) return;
  float better = better_size(shape, volume, fit->size, &later);
  if (better > 0.0f)
    printf("  suggested size  --size %.3g: %.1f %% %s\n", (double)better, 100.0 * fabs(later),
           later >= 0.0 ? "lost" : "more");
  else
    printf(
        "  suggested size  none up to %d vertices keeps every part and the volume to %g %%: make "
        "what is very thin thicker, or a body of its own\n",
        MOST_TRIED_VERTICES, 100.0 * LOSS);
}
