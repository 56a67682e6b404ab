// SPDX-License-Identifier: MIT
// What other bodies touch as long as the matter holds together: the squares of four masters on the
// outside of the lattice, as two triangles each that are as thick as a master. Where matter has
// parted nobody knows what is outside, and the masters of the body are balls again.
#include <math.h>
#include <string.h>

#include "methods/plastic/phases.h"
#include "methods/plastic/plastic.h"
#include "yawara/extend/memory.h"

// Links that are not along the axes of a lattice, by this share of d, have no squares.
#define LATTICE_SLACK 0.05f

// Lengths of links, in units of d, between which the skin holds. Rubber that is stretched farther
// loses it, too; a body at 50 m/s whose skin was kept until links parted (at 2) let balls of its
// inside into others.
#define LEAST_LINK 0.6f
#define MOST_LINK 1.5f

// Neighbours of a master along -x, x, -y, y, -z, z of its lattice; -1: none.
typedef int32_t near_masters[6];

typedef struct skin_maker {
  plastic_model* model;
  near_masters* near;
  int32_t *triangles, num_triangles;  // triangles NULL: only counted
} skin_maker;

// Index into near_masters; -1: not along an axis, -2: not of a lattice.
static int axis_of(yw_vec3 way, float d) {
  const float w[3] = {way.x / d, way.y / d, way.z / d};
  int axis = -1, ones = 0;
  for (int k = 0; k < 3; ++k) {
    float steps = roundf(w[k]);
    if (fabsf(w[k] - steps) > LATTICE_SLACK || fabsf(steps) > 1.0f) return -2;
    if (steps == 0.0f) continue;
    axis = 2 * k + (steps > 0.0f);
    ++ones;
  }
  return ones == 1 ? axis : ones == 0 ? -2 : -1;
}

static bool find_near(skin_maker* s, const yw_quat* rotations) {
  plastic_model* model = s->model;
  memset(s->near, 0xff, (size_t)model->num_masters * sizeof *s->near);
  for (int32_t p = 0; p < model->num_parts; ++p) {
    const plastic_part* part = &model->parts[p];
    yw_quat back = yw_quat_conjugate(rotations[part->number]);
    for (int32_t b = part->first; b < part->first + part->count; ++b) {
      const int32_t* way;
      int32_t links = yw_plastic_links_of(model, b, &way);
      for (int32_t k = 0; k < links; ++k) {
        int32_t a = b + way[k];
        yw_vec3 arm = yw_rotate(back, yw_sub(model->masters[a], model->masters[b]));
        int axis = axis_of(arm, model->spacing);
        if (axis == -2) return false;
        if (axis < 0) continue;
        s->near[b][axis] = a;
        s->near[a][axis ^ 1] = b;
      }
    }
  }
  return true;
}

static void add_triangle(skin_maker* s, int32_t a, int32_t b, int32_t c) {
  if (s->triangles) {
    int32_t* v = s->triangles + 3 * (size_t)s->num_triangles;
    v[0] = a, v[1] = b, v[2] = c;
  }
  ++s->num_triangles;
}

// Corners of the square from m along two axes, in order around it; false: one is missing.
static bool find_square(const skin_maker* s, int32_t m, int u, int v, int32_t out[4]) {
  int32_t a = s->near[m][u], b = s->near[m][v];
  if (a < 0 || b < 0) return false;
  int32_t c = s->near[a][v];
  if (c < 0 || s->near[b][u] != c) return false;
  out[0] = m, out[1] = a, out[2] = c, out[3] = b;
  return true;
}

// True if the cube on this side of a square is full.
static bool is_covered(const skin_maker* s, const int32_t square[4], int side) {
  for (int k = 0; k < 4; ++k) {
    if (s->near[square[k]][side] < 0) return false;
  }
  return true;
}

static bool is_in_square(const skin_maker* s, int32_t m, int axis) {
  int32_t square[4];
  for (int v = 0; v < 6; ++v) {
    if (v / 2 != axis / 2 && find_square(s, m, axis, v, square)) return true;
  }
  return false;
}

// A master on one that is beside others, as on the poles of a ball: fins to two of these.
static bool add_fins(skin_maker* s, int32_t m, int32_t other, int axis) {
  int found = 0;
  for (int end = 0; end < 2 && found == 0; ++end) {
    for (int v = 0; v < 6 && found < 2; ++v) {
      int32_t beside = s->near[end ? m : other][v];
      if (v / 2 == axis / 2 || beside < 0) continue;
      add_triangle(s, m, other, beside);
      ++found;
    }
  }
  return found > 0;
}

// False for threads: their masters span no triangles.
static bool list_triangles(skin_maker* s, plastic_part* part) {
  for (int32_t m = part->first; m < part->first + part->count; ++m) {
    bool alone = true;
    for (int axis = 0; axis < 6; ++axis) alone = alone && s->near[m][axis] < 0;
    if (alone) return false;
    for (int u = 1; u < 6; u += 2) {
      int32_t other = s->near[m][u], square[4];
      if (other >= 0 && !is_in_square(s, m, u) && !add_fins(s, m, other, u)) return false;
      for (int v = u + 2; v < 6; v += 2) {
        int side = 2 * (3 - u / 2 - v / 2);
        if (!find_square(s, m, u, v, square)) continue;
        if (is_covered(s, square, side) && is_covered(s, square, side + 1)) continue;
        add_triangle(s, square[0], square[1], square[2]);
        add_triangle(s, square[0], square[2], square[3]);
      }
    }
  }
  part->skin_end = s->num_triangles;
  return true;
}

static bool list_all(skin_maker* s) {
  s->num_triangles = 0;
  for (int32_t p = 0; p < s->model->num_parts; ++p) {
    if (!list_triangles(s, &s->model->parts[p])) return false;
  }
  return true;
}

bool yw_plastic_make_skin(plastic_model* model, const yw_quat* rotations) {
  skin_maker s = {.model = model};
  if (model->paper || model->without_slaves) return true;
  s.near = yw_mem_alloc(&model->mem, (size_t)model->num_masters, sizeof *s.near);
  bool good = s.near != NULL;
  if (good && find_near(&s, rotations) && list_all(&s) && s.num_triangles > 0) {
    s.triangles = YW_NEW_ARRAY(&model->mem, int32_t, 3 * (size_t)s.num_triangles);
    good = s.triangles != NULL;
    if (good) list_all(&s);
    model->skin = s.triangles;
  }
  yw_mem_free(&model->mem, s.near);
  return good;
}

void yw_plastic_show_skin(plastic_body* body) {
  body->has_skin = body->model->skin && !body->lost_skin && body->num_started > 0 &&
                   !memchr(body->is_linked, 0, (size_t)body->model->num_links);
}

// True where the masters inside may come out between those of the skin, or matter has parted.
static bool is_torn(const plastic_body* body, const yw_vec4* pos) {
  float d = body->model->spacing, least2 = LEAST_LINK * LEAST_LINK * d * d,
        most2 = MOST_LINK * MOST_LINK * d * d;
  for (int32_t m = 0; m < body->num_all; ++m) {
    const int32_t* way;
    int32_t links = yw_plastic_links_of(body->model, m, &way);
    for (int32_t k = 0; k < links; ++k) {
      float length2 = yw_length2(yw_sub(yw_xyz(pos[m + way[k]]), yw_xyz(pos[m])));
      if (!(length2 > least2 && length2 < most2)) return true;
    }
  }
  return false;
}

void yw_plastic_look_at_skin(plastic_body* body, const yw_particles* particles) {
  // Bodies on a device are here when others pushed them, and otherwise may be not.
  bool torn = body->has_skin && body->is_pushed && is_torn(body, particles->pos);
  body->lost_skin = body->lost_skin || torn;
  yw_plastic_show_skin(body);
}

bool yw_plastic_contact_skin(const void* state, yw_contact_geometry* out) {
  const plastic_body* body = state;
  if (!body->has_skin) return false;
  out->triangles = body->model->skin;
  out->num_triangles = body->model->parts[body->num_started - 1].skin_end;
  out->rest = body->model->masters;
  out->has_balls = true;
  return true;
}
