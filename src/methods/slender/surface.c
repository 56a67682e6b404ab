// SPDX-License-Identifier: MIT
// Display surfaces of rods and sheets: tubes along a smooth curve, with a stripe that makes twist
// visible, and sheets with two sides and a rim.
#include <stdlib.h>
#include <string.h>

#include "math/small/trig.h"
#include "methods/slender/slender.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define SIDES 16
// Sides that form the darker half, which makes twist visible.
#define DARK_SIDES 7
#define RINGS_PER_PAIR 4
#define CAP_RINGS 4
// Tints of the body's colour.
static const yw_vec3 plain_color = {1.0f, 1.0f, 1.0f}, stripe_color = {0.3f, 0.3f, 0.3f};

// Skin --------------------------------------------------------------------------------------------

static bool allocate(slender_model* model, int32_t vertices, int32_t triangles) {
  model->skin = YW_NEW_ARRAY(&model->mem, slender_skin, vertices);
  return model->skin && yw_tri_mesh_create(&model->mem, vertices, triangles, &model->surface) >= 0;
}

static yw_vec3 skin_position(const slender_skin* skin, const yw_quat q[2], const yw_vec3 x[2]) {
  yw_vec3 p = {0, 0, 0}, side = {0, 0, 0};
  for (int j = 0; j < 2; ++j) {
    p = yw_add(yw_mad(p, skin->weights[j], x[j]), yw_rotate(q[j], skin->lever[j]));
    side = yw_add(side, yw_rotate(q[j], skin->side[j]));
  }
  return yw_mad(p, skin->length, yw_normalize_or(side, yw_v3(0, 0, 0)));
}

static void place_at_rest(slender_model* model) {
  const yw_quat none[2] = {{0, 0, 0, 1}, {0, 0, 0, 1}};
  for (int32_t v = 0; v < model->surface.num_vertices; ++v) {
    const slender_skin* skin = &model->skin[v];
    const yw_vec3 x[2] = {model->rest[skin->particles[0]], model->rest[skin->particles[1]]};
    model->surface.positions[v] = skin_position(skin, none, x);
  }
}

void yw_slender_surface_positions(const void* state, const yw_particles* particles, yw_vec3* out) {
  const slender_body* body = state;
  if (body->model->rides) {
    yw_sheet_ride_positions(body, particles, out);
    return;
  }
  for (int32_t v = 0; v < body->model->surface.num_vertices; ++v) {
    const slender_skin* skin = &body->model->skin[v];
    yw_quat q[2];
    yw_vec3 x[2];
    for (int j = 0; j < 2; ++j) {
      q[j] = yw_turn_to_quat(body->turn[skin->particles[j]]);
      x[j] = yw_xyz(particles->pos[skin->particles[j]]);
    }
    out[v] = skin_position(skin, q, x);
  }
}

// Rods --------------------------------------------------------------------------------------------

typedef struct tube {
  slender_model* model;
  const yw_rod_def* def;
  int32_t sides;  // vertices per ring
  int32_t vertices, triangles;
} tube;

// Corner k of the section, in x and y of the orientation. Rectangles have each corner twice, so
// that their edges are sharp.
static yw_vec3 corner_of(const tube* t, int32_t p, int32_t k) {
  float half_width = 0.5f * t->def->width, half_thickness = 0.5f * t->def->thickness;
  if (t->def->section == YW_SECTION_RECTANGLE) {
    static const float sx[8] = {1, 1, 1, -1, -1, -1, -1, 1}, sy[8] = {-1, 1, 1, 1, 1, -1, -1, -1};
    return yw_v3(sx[k] * half_width, sy[k] * half_thickness, 0.0f);
  }
  if (t->def->section == YW_SECTION_ROUND) {
    half_width = half_thickness = t->def->radii ? t->def->radii[p] : t->def->radius;
  }
  float angle = 6.2831853f * (float)k / (float)t->sides;
  return yw_v3(half_width * yw_cosf(angle), half_thickness * yw_sinf(angle), 0.0f);
}

static bool is_striped(const tube* t, int32_t k) {
  return t->def->section == YW_SECTION_RECTANGLE ? k == 1 || k == 2 : k < DARK_SIDES;
}

static void add_triangle(tube* t, int32_t a, int32_t b, int32_t c) {
  int32_t* out = t->model->surface.triangles + 3 * (size_t)t->triangles++;
  out[0] = a, out[1] = b, out[2] = c;
}

static void add_vertex(tube* t, slender_skin skin, bool striped) {
  t->model->surface.colors[t->vertices] = striped ? stripe_color : plain_color;
  t->model->skin[t->vertices++] = skin;
}

// Vertices of a ring at fraction s of the way from particle a to b, on the cubic curve whose
// tangents are the third axes of the particles.
static void add_ring(tube* t, int32_t a, int32_t b, float s) {
  const slender_model* model = t->model;
  float l = yw_distance(model->rest[a], model->rest[b]);
  float ha = s * (1 - s) * (1 - s) * l, hb = -s * s * (1 - s) * l, wb = s * s * (3 - 2 * s);
  yw_vec3 za = yw_rotate(model->orientations[a], yw_v3(0, 0, 1));
  yw_vec3 zb = yw_rotate(model->orientations[b], yw_v3(0, 0, 1));
  for (int32_t k = 0; k < t->sides; ++k) {
    yw_vec3 ca = corner_of(t, a, k), cb = corner_of(t, b, k);
    slender_skin skin = {.particles = {a, b},
                         .weights = {1.0f - wb, wb},
                         .lever = {yw_scale(za, ha), yw_scale(zb, hb)},
                         .length = (1.0f - s) * yw_length(ca) + s * yw_length(cb)};
    skin.side[0] = yw_scale(yw_rotate(model->orientations[a], ca), 1.0f - s);
    skin.side[1] = yw_scale(yw_rotate(model->orientations[b], cb), s);
    add_vertex(t, skin, is_striped(t, k));
  }
}

static void join_rings(tube* t, int32_t first, int32_t second) {
  for (int32_t k = 0; k < t->sides; ++k) {
    int32_t next = (k + 1) % t->sides;
    add_triangle(t, first + k, first + next, second + next);
    add_triangle(t, first + k, second + next, second + k);
  }
}

// A round (flat for rectangles) end at particle p; sign: the direction of its third axis.
static void add_cap(tube* t, int32_t p, int32_t ring, float sign) {
  const slender_model* model = t->model;
  yw_quat frame = model->orientations[p];
  bool is_flat = t->def->section == YW_SECTION_RECTANGLE;
  int32_t rings = is_flat ? 1 : CAP_RINGS, last = ring;
  float depth =
      is_flat ? 0.0f
              : fminf(yw_length(corner_of(t, p, 0)), yw_length(corner_of(t, p, t->sides / 4)));
  for (int32_t i = is_flat ? 0 : 1; i < rings; ++i) {
    float angle = 1.5707963f * (float)i / (float)rings;
    float wide = yw_cosf(angle), deep = sign * depth * yw_sinf(angle);
    int32_t first = t->vertices;
    for (int32_t k = 0; k < t->sides; ++k) {
      yw_vec3 c = yw_scale(corner_of(t, p, k), wide);
      slender_skin skin = {.particles = {p, p}, .weights = {1, 0}};
      c.z = deep;
      skin.lever[0] = yw_rotate(frame, c);
      add_vertex(t, skin, is_striped(t, k));
    }
    if (!is_flat) {
      if (sign > 0.0f) join_rings(t, last, first);
      if (sign < 0.0f) join_rings(t, first, last);
    }
    last = first;
  }
  slender_skin pole = {.particles = {p, p}, .weights = {1, 0}};
  pole.lever[0] = yw_rotate(frame, yw_v3(0, 0, sign * depth));
  int32_t tip = t->vertices;
  add_vertex(t, pole, false);
  for (int32_t k = 0; k < t->sides; ++k) {
    int32_t next = (k + 1) % t->sides;
    if (sign > 0.0f) add_triangle(t, last + k, last + next, tip);
    if (sign < 0.0f) add_triangle(t, last + next, last + k, tip);
  }
}

yw_status yw_rod_surface(slender_model* model, const yw_rod_def* def, yw_error* error) {
  bool is_rectangle = def->section == YW_SECTION_RECTANGLE;
  tube t = {.model = model, .def = def, .sides = is_rectangle ? 8 : SIDES};
  int64_t pairs = model->num_elements, rings = pairs * RINGS_PER_PAIR + (def->closed ? 0 : 1);
  int64_t cap_rings = is_rectangle ? 1 : CAP_RINGS - 1;
  int64_t joins = def->closed ? rings : rings - 1 + (is_rectangle ? 0 : 2 * cap_rings);
  int64_t ends = def->closed ? 0 : 2;
  int64_t vertices = (rings + ends * cap_rings) * t.sides + ends;
  int64_t triangles = 2 * joins * t.sides + ends * t.sides;
  if (triangles > INT32_MAX / 3) {
    return yw_fail(error, YW_ERR_LIMIT, "rod: %d points are too many to show",
                   model->num_particles);
  }
  if (!allocate(model, (int32_t)vertices, (int32_t)triangles)) {
    return yw_fail_memory(error, "the surface of a rod");
  }
  model->surface.colors = YW_NEW_ARRAY(&model->mem, yw_vec3, vertices);
  if (!model->surface.colors) return yw_fail_memory(error, "the surface of a rod");
  for (int32_t k = 0; k < model->num_elements; ++k) {
    for (int32_t i = 0; i < RINGS_PER_PAIR; ++i) {
      add_ring(&t, k, (k + 1) % model->num_particles, (float)i / (float)RINGS_PER_PAIR);
    }
  }
  int32_t last = model->num_particles - 1;
  if (!def->closed) add_ring(&t, last, last, 0.0f);
  for (int32_t r = 0; r + 1 < rings; ++r) join_rings(&t, r * t.sides, (r + 1) * t.sides);
  if (def->closed) {
    join_rings(&t, (int32_t)(rings - 1) * t.sides, 0);
  } else {
    add_cap(&t, 0, 0, -1.0f);
    add_cap(&t, last, (int32_t)(rings - 1) * t.sides, 1.0f);
  }
  place_at_rest(model);
  return YW_OK;
}

// Sheets ------------------------------------------------------------------------------------------

typedef struct border {
  int32_t from, to;  // in the triangle's order
} border;

static int compare_borders(const void* a, const void* b) {
  const border *x = a, *y = b;
  int32_t xl = x->from < x->to ? x->from : x->to, yl = y->from < y->to ? y->from : y->to;
  int32_t xh = x->from < x->to ? x->to : x->from, yh = y->from < y->to ? y->to : y->from;
  if (xl != yl) return xl < yl ? -1 : 1;
  if (xh != yh) return xh < yh ? -1 : 1;
  return x->from < y->from ? -1 : x->from > y->from;
}

// Edges with only one triangle. The caller owns the list.
static border* find_borders(const slender_model* model, int32_t* count) {
  size_t all = 3 * (size_t)model->num_elements;
  border* edges = YW_NEW_ARRAY(&model->mem, border, all);
  *count = 0;
  if (!edges) return NULL;
  for (size_t i = 0; i < all; ++i) {
    const int32_t* v = model->elements + i / 3 * 3;
    edges[i] = (border){v[i % 3], v[(i + 1) % 3]};
  }
  qsort(edges, all, sizeof *edges, compare_borders);
  int32_t kept = 0;
  for (size_t i = 0; i < all; ++i) {
    bool paired =
        i + 1 < all && edges[i].from == edges[i + 1].to && edges[i].to == edges[i + 1].from;
    if (paired) {
      ++i;
      continue;
    }
    edges[kept++] = edges[i];
  }
  *count = kept;
  return edges;
}

static slender_skin side_of_sheet(const slender_model* model, int32_t p, const yw_vec3* normals,
                                  float side) {
  (void)model;
  return (slender_skin){.particles = {p, p},
                        .weights = {1.0f, 0.0f},
                        .lever = {yw_scale(normals[p], side), {0, 0, 0}}};
}

static void fill_sheet(slender_model* model, const border* borders, int32_t num_borders,
                       const yw_vec3* normals, float half) {
  int32_t n = model->num_particles, *out = model->surface.triangles;
  for (int32_t p = 0; p < n; ++p) {
    model->skin[p] = side_of_sheet(model, p, normals, half);
    model->skin[n + p] = side_of_sheet(model, p, normals, -half);
  }
  for (int32_t t = 0; t < model->num_elements; ++t) {
    const int32_t* v = model->elements + 3 * (size_t)t;
    for (int k = 0; k < 3; ++k) *out++ = v[k];
    for (int k = 2; k >= 0; --k) *out++ = n + v[k];
  }
  for (int32_t i = 0; i < num_borders; ++i) {
    int32_t at = 2 * n + 4 * i;
    model->skin[at] = side_of_sheet(model, borders[i].from, normals, half);
    model->skin[at + 1] = side_of_sheet(model, borders[i].to, normals, half);
    model->skin[at + 2] = side_of_sheet(model, borders[i].from, normals, -half);
    model->skin[at + 3] = side_of_sheet(model, borders[i].to, normals, -half);
    const int32_t corners[6] = {at, at + 2, at + 3, at, at + 3, at + 1};
    for (int k = 0; k < 6; ++k) *out++ = corners[k];
  }
}

// Both sides and the rim have the colours of the mesh.
static bool color_sheet(slender_model* model, const yw_vec3* colors) {
  yw_tri_mesh* surface = &model->surface;
  if (!colors) return true;
  surface->colors = YW_NEW_ARRAY(&model->mem, yw_vec3, surface->num_vertices);
  for (int32_t v = 0; surface->colors && v < surface->num_vertices; ++v) {
    surface->colors[v] = colors[model->skin[v].particles[0]];
  }
  return surface->colors != NULL;
}

yw_status yw_sheet_surface(slender_model* model, const yw_sheet_def* def, yw_error* error) {
  int32_t num_borders, n = model->num_particles;
  border* borders = find_borders(model, &num_borders);
  yw_vec3* normals = YW_NEW_ARRAY(&model->mem, yw_vec3, n);
  yw_status status = YW_OK;
  int64_t vertices = 2 * (int64_t)n + 4 * (int64_t)num_borders;
  int64_t triangles = 2 * (int64_t)model->num_elements + 2 * (int64_t)num_borders;
  if (!borders || !normals || !allocate(model, (int32_t)vertices, (int32_t)triangles)) {
    status = yw_fail_memory(error, "the surface of a sheet");
  } else {
    for (int32_t t = 0; t < model->num_elements; ++t) {
      for (int j = 0; j < 3; ++j) {
        const double* d = model->triangles[t].normal[j];
        normals[model->triangles[t].particles[j]] = yw_v3((float)d[0], (float)d[1], (float)d[2]);
      }
    }
    fill_sheet(model, borders, num_borders, normals, 0.5f * def->thickness);
    place_at_rest(model);
    if (!color_sheet(model, def->mesh->colors))
      status = yw_fail_memory(error, "the surface of a sheet");
  }
  yw_mem_free(&model->mem, borders);
  yw_mem_free(&model->mem, normals);
  return status;
}
