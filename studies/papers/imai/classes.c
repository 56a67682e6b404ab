// SPDX-License-Identifier: MIT
// Imai, Yue, Chen, Nishita, appendix A (figures 10-13): every descendant of a tet is similar to one
// of five. Counts, measures and draws them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/fem/hierarchy.h"
#include "papers/paper.h"
#include "render/draw/contact_sheet.h"
#include "render/trace/render.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define COUNT_LEVELS 5
// Pictures: the root, a child of each class T, and the root divided twice.
#define NUM_PICTURES 6
#define SHRINK 0.86f
#define APART 0.55f

static yw_status divide(int32_t levels, fem_hierarchy* out, yw_error* error) {
  // Any tet works; this one has no two edges of equal length.
  static const yw_vec3 corners[4] = {
      {0.0f, 0.0f, 0.0f}, {1.1f, 0.0f, 0.1f}, {0.3f, 0.1f, 0.95f}, {0.45f, 0.9f, 0.3f}};
  yw_tet_mesh mesh;
  yw_status status = yw_tet_mesh_create(NULL, 4, 1, &mesh);
  if (status < 0) return yw_fail_memory(error, "a tet");
  memcpy(mesh.positions, corners, sizeof corners);
  for (int k = 0; k < 4; ++k) mesh.tets[k] = k;
  yw_dvec3 x[4];
  yw_tet_corners(&mesh, 0, x);
  if (yw_tet_volume6(x) < 0) mesh.tets[2] = 3, mesh.tets[3] = 2;
  status = yw_fem_hierarchy_create(NULL, &mesh, levels, 0.0, out, error);
  yw_tet_mesh_free(&mesh);
  return status;
}

// Counting ----------------------------------------------------------------------------------------

// Lengths of the six edges, by slots, in units of the level.
static void lengths_of(const fem_hierarchy* h, int32_t tet, double out[6]) {
  for (int e = 0; e < 6; ++e) {
    yw_dvec3 a = h->rest[h->nodes[tet][yw_fem_edges[e][0]]];
    yw_dvec3 b = h->rest[h->nodes[tet][yw_fem_edges[e][1]]];
    out[e] = yw_dlength(yw_dsub(a, b)) * (double)(1 << h->level[tet]);
  }
}

// Smallest and largest angle between two faces of a tet, degrees.
static void angles_of(const fem_hierarchy* h, int32_t tet, double* least, double* most) {
  yw_dvec3 p[4], normal[4];
  for (int k = 0; k < 4; ++k) p[k] = h->rest[h->nodes[tet][k]];
  for (int k = 0; k < 4; ++k) {
    yw_dvec3 a = p[(k + 1) % 4], b = p[(k + 2) % 4], c = p[(k + 3) % 4];
    normal[k] = yw_dcross(yw_dsub(b, a), yw_dsub(c, a));
    // Outwards: away from the corner that the face does not have.
    double side = yw_ddot(normal[k], yw_dsub(p[k], a)) > 0.0 ? -1.0 : 1.0;
    normal[k] = yw_dscale(normal[k], side / yw_dlength(normal[k]));
  }
  *least = 180.0, *most = 0.0;
  for (int pair = 0; pair < 16; ++pair) {
    if (pair / 4 >= pair % 4) continue;
    double cosine = -yw_ddot(normal[pair / 4], normal[pair % 4]);
    double angle = 57.29577951308232 * acos(fmin(1.0, fmax(-1.0, cosine)));
    *least = fmin(*least, angle);
    *most = fmax(*most, angle);
  }
}

static void print_angles(const fem_hierarchy* h) {
  static const int types[FEM_TYPES] = {FEM_A, FEM_T2, FEM_T3, FEM_T1, FEM_T0};
  double least[FEM_TYPES] = {0}, most[FEM_TYPES] = {0};
  for (int32_t t = 0; t < h->level_start[h->max_level + 1]; ++t) {
    angles_of(h, t, &least[h->type[t]], &most[h->type[t]]);
  }
  printf("  angles between faces, degrees:");
  for (int k = 0; k < FEM_TYPES; ++k) {
    printf(" %c %.1f to %.1f%s", "abcde"[k], least[types[k]], most[types[k]],
           k + 1 < FEM_TYPES ? "," : "\n");
  }
}

static void print_counts(const fem_hierarchy* h) {
  double shape[FEM_TYPES][6], worst = 0.0, volume[FEM_TYPES] = {0};
  bool seen[FEM_TYPES] = {false};
  printf("  level      all        a        b        c        d        e\n");
  for (int32_t l = 0; l <= h->max_level; ++l) {
    int32_t count[FEM_TYPES] = {0};
    for (int32_t t = h->level_start[l]; t < h->level_start[l + 1]; ++t) {
      int type = h->type[t];
      double lengths[6];
      lengths_of(h, t, lengths);
      if (!seen[type]) memcpy(shape[type], lengths, sizeof lengths), seen[type] = true;
      for (int e = 0; e < 6; ++e) {
        worst = fmax(worst, fabs(lengths[e] / shape[type][e] - 1.0));
      }
      volume[type] = yw_fem_volume(h, t) * pow(8.0, l);
      ++count[type];
    }
    printf("  %5d %8d %8d %8d %8d %8d %8d\n", l, h->level_start[l + 1] - h->level_start[l],
           count[FEM_A], count[FEM_T2], count[FEM_T3], count[FEM_T1], count[FEM_T0]);
  }
  printf("  edges of one class differ by at most %.1e of their length, from level to level\n",
         worst);
  printf("  volumes over that of a: b %.6f, c %.6f, d %.6f, e %.6f\n",
         volume[FEM_T2] / volume[FEM_A], volume[FEM_T3] / volume[FEM_A],
         volume[FEM_T1] / volume[FEM_A], volume[FEM_T0] / volume[FEM_A]);
  print_angles(h);
}

// Drawing -----------------------------------------------------------------------------------------

typedef struct exploded {
  yw_vec3* positions;
  int32_t* triangles;
  yw_vec3* colors;
  int32_t num_vertices, num_triangles;
  yw_aabb box;
} exploded;

static yw_dvec3 centre_of(const fem_hierarchy* h, int32_t tet) {
  yw_dvec3 sum = {0, 0, 0};
  for (int k = 0; k < 4; ++k) sum = yw_dmad(sum, 0.25, h->rest[h->nodes[tet][k]]);
  return sum;
}

static void grow(yw_aabb* box, yw_vec3 p) {
  box->lower =
      (yw_vec3){fminf(box->lower.x, p.x), fminf(box->lower.y, p.y), fminf(box->lower.z, p.z)};
  box->upper =
      (yw_vec3){fmaxf(box->upper.x, p.x), fmaxf(box->upper.y, p.y), fmaxf(box->upper.z, p.z)};
}

// A tet, shrunk and moved away from the middle of its parent; with separate corners, so that faces
// stay flat.
static void add_tet(const fem_hierarchy* h, int32_t tet, yw_dvec3 middle, double apart,
                    exploded* out) {
  yw_dvec3 centre = centre_of(h, tet);
  yw_dvec3 shift = yw_dscale(yw_dsub(centre, middle), apart);
  for (int f = 0; f < 4; ++f) {
    for (int k = 0; k < 3; ++k) {
      int slot = yw_tet_faces[f][k];
      if (!yw_fem_is_positive(h, tet)) slot = yw_tet_faces[f][2 - k];
      yw_dvec3 p = yw_dsub(h->rest[h->nodes[tet][slot]], centre);
      p = yw_dadd(yw_dmad(centre, (double)SHRINK, p), shift);
      out->positions[out->num_vertices] = yw_f3(p);
      out->colors[out->num_vertices] = yw_render_palette(h->type[tet]);
      grow(&out->box, yw_f3(p));
      out->triangles[3 * out->num_triangles + k] = out->num_vertices++;
    }
    ++out->num_triangles;
  }
}

static yw_status draw(yw_renderer* renderer, const exploded* e, int32_t size, yw_image* out,
                      yw_error* error) {
  yw_render_mesh mesh = yw_default_render_mesh();
  mesh.num_vertices = e->num_vertices;
  mesh.num_triangles = e->num_triangles;
  mesh.positions = e->positions;
  mesh.triangles = e->triangles;
  mesh.colors = e->colors;
  mesh.crease = 0;
  mesh.gloss = 0.2f;
  yw_picture picture = yw_default_picture();
  yw_framing framing = yw_default_framing();
  picture.num_meshes = 1;
  picture.meshes = &mesh;
  picture.width = size;
  picture.height = size;
  picture.camera = yw_camera_frame(&framing, 1.0f, 1, &e->box);
  picture.focus = e->box;
  return yw_renderer_draw(renderer, &picture, out, error);
}

// The descendants of a tet `depth` levels below.
static yw_status draw_parts(yw_renderer* renderer, const fem_hierarchy* h, int32_t tet,
                            int32_t depth, int32_t size, yw_image* out, yw_error* error) {
  int32_t begin = tet, end = tet + 1;
  for (int32_t d = 0; d < depth; ++d) {
    int32_t last = end - 1;
    begin = h->first_child[begin];
    end = h->first_child[last] + yw_fem_num_children(h->type[last]);
  }
  size_t corners = 12 * (size_t)(end - begin);
  exploded e = {YW_NEW_ARRAY(NULL, yw_vec3, corners),
                YW_NEW_ARRAY(NULL, int32_t, corners),
                YW_NEW_ARRAY(NULL, yw_vec3, corners),
                0,
                0,
                {{1e9f, 1e9f, 1e9f}, {-1e9f, -1e9f, -1e9f}}};
  yw_status status = YW_OK;
  if (!e.positions || !e.triangles || !e.colors) status = yw_fail_memory(error, "a picture");
  for (int32_t t = begin; t < end && status >= 0; ++t) {
    add_tet(h, t, centre_of(h, tet), (double)APART, &e);
  }
  if (status >= 0) status = draw(renderer, &e, size, out, error);
  yw_mem_free(NULL, e.positions);
  yw_mem_free(NULL, e.triangles);
  yw_mem_free(NULL, e.colors);
  return status;
}

static yw_status draw_all(const paper_options* options, const fem_hierarchy* h,
                          yw_renderer* renderer, yw_image images[NUM_PICTURES], yw_error* error) {
  int32_t size = options->quick ? 200 : 420;
  yw_status status = draw_parts(renderer, h, 0, 1, size, &images[0], error);
  // The paper's order: b, c, d, e.
  static const int types[4] = {FEM_T2, FEM_T3, FEM_T1, FEM_T0};
  for (int i = 0; i < 4 && status >= 0; ++i) {
    int32_t tet = 1;
    while (h->type[tet] != types[i]) ++tet;
    status = draw_parts(renderer, h, tet, 1, size, &images[1 + i], error);
  }
  return status < 0 ? status : draw_parts(renderer, h, 0, 2, size, &images[5], error);
}

static yw_status write_sheet(const paper_options* options, const yw_image images[NUM_PICTURES],
                             yw_error* error) {
  static const char* const captions[NUM_PICTURES] = {
      "a: 4 a, 2 each of b c d e", "b: 3 b, 1 each of a c d e", "c: 3 c, 1 each of a b d e",
      "d: 3 d, 1 each of a b c e", "e: 3 e, 1 each of a b c d", "a, twice: 104"};
  const yw_image* list[NUM_PICTURES];
  for (int i = 0; i < NUM_PICTURES; ++i) list[i] = &images[i];
  yw_contact_sheet sheet = yw_default_sheet();
  sheet.num_images = NUM_PICTURES;
  sheet.images = list;
  sheet.captions = captions;
  sheet.columns = 3;
  sheet.title = "The five classes of tets";
  yw_image page = {0};
  yw_status status = yw_contact_sheet_draw(&sheet, NULL, &page, error);
  char path[1100];
  snprintf(path, sizeof path, "%s/classes.png", options->output);
  if (status >= 0) status = yw_image_write_png(path, &page, error);
  if (status >= 0) printf("  %s\n", path);
  yw_image_free(&page);
  return status;
}

yw_status paper_imai_classes(const paper_options* options, yw_error* error) {
  fem_hierarchy h;
  yw_status status = divide(COUNT_LEVELS, &h, error);
  if (status < 0) return status;
  print_counts(&h);
  yw_error missing = {0};
  if (!options->no_pictures && yw_renderer_available(&missing) < 0) {
    printf("  no picture: %s\n", missing.message);
  } else if (!options->no_pictures) {
    yw_image images[NUM_PICTURES] = {{.width = 0}};
    yw_renderer* renderer = NULL;
    status = yw_renderer_create(NULL, options->threads, &renderer, error);
    if (status >= 0) status = draw_all(options, &h, renderer, images, error);
    if (status >= 0) status = write_sheet(options, images, error);
    yw_renderer_destroy(renderer);
    for (int i = 0; i < NUM_PICTURES; ++i) yw_image_free(&images[i]);
  }
  yw_fem_hierarchy_free(&h);
  return status;
}
