// SPDX-License-Identifier: MIT
// Barill, Dickson, Schmidt, Levin, Jacobson 2018, "Fast winding numbers for soups and clouds":
// distant groups of triangles count as one dipole, near triangles are exact (van Oosterom and
// Strackee 1983). The gradient of a triangle's solid angle is the Biot-Savart integral around its
// edges.
//
// Half the solid angle of a triangle is the argument of a complex number. These numbers are
// multiplied instead of adding their arguments, so a query needs one arc tangent in all instead of
// one per triangle.
#include "geometry/winding.h"

#include "math/small/trig.h"
#include "yawara/extend/memory.h"

#define INV_4PI 0.0795774715459476679f
#define INV_2PI 0.1591549430918953358f

// Building

static yw_vec3 area_vector(const yw_tree_triangle* t) {
  return yw_scale(yw_cross(yw_sub(t->b, t->a), yw_sub(t->c, t->a)), 0.5f);
}

// Children come after their parent, so one backward pass sums them up. area holds the summed areas;
// centers are weighted until the end.
static void sum_dipoles(const yw_triangle_tree* tree, yw_dipole* dipoles, float* area) {
  for (int32_t n = tree->num_nodes - 1; n >= 0; --n) {
    const yw_tree_node* node = &tree->nodes[n];
    yw_dipole sum = {{0, 0, 0}, 0, {0, 0, 0}};
    float total = 0.0f;
    for (int32_t i = node->first; i < node->first + node->count; ++i) {
      const yw_tree_triangle* t = &tree->triangles[i];
      yw_vec3 normal = area_vector(t);
      float weight = yw_length(normal);
      sum.normal = yw_add(sum.normal, normal);
      sum.center = yw_mad(sum.center, weight / 3.0f, yw_add(t->a, yw_add(t->b, t->c)));
      total += weight;
    }
    if (node->count == 0) {
      const yw_dipole *left = &dipoles[node->first], *right = left + 1;
      sum.normal = yw_add(left->normal, right->normal);
      sum.center = yw_add(left->center, right->center);
      total = area[node->first] + area[node->first + 1];
    }
    dipoles[n] = sum;
    area[n] = total;
  }
}

static float farthest_corner2(const yw_tree_node* node, yw_vec3 p) {
  float x = fmaxf(p.x - node->lower.x, node->upper.x - p.x);
  float y = fmaxf(p.y - node->lower.y, node->upper.y - p.y);
  float z = fmaxf(p.z - node->lower.z, node->upper.z - p.z);
  return x * x + y * y + z * z;
}

yw_status yw_winding_create(const yw_triangle_tree* tree, float beta, yw_winding* out) {
  *out = (yw_winding){tree, YW_NEW_ARRAY(&tree->mem, yw_dipole, tree->num_nodes)};
  float* area = YW_NEW_ARRAY(&tree->mem, float, tree->num_nodes);
  if (!out->dipoles || !area) {
    yw_mem_free(&tree->mem, area);
    yw_winding_free(out);
    return YW_ERR_MEMORY;
  }
  sum_dipoles(tree, out->dipoles, area);
  for (int32_t n = 0; n < tree->num_nodes; ++n) {
    const yw_tree_node* node = &tree->nodes[n];
    yw_dipole* dipole = &out->dipoles[n];
    dipole->center = area[n] > 0.0f ? yw_scale(dipole->center, 1.0f / area[n])
                                    : yw_scale(yw_add(node->lower, node->upper), 0.5f);
    dipole->reach2 = beta * beta * farthest_corner2(node, dipole->center);
  }
  yw_mem_free(&tree->mem, area);
  return YW_OK;
}

void yw_winding_free(yw_winding* winding) {
  if (winding->tree) yw_mem_free(&winding->tree->mem, winding->dipoles);
  *winding = (yw_winding){0};
}

// Queries

/// An angle as a unit complex number and full turns: turns * 2 pi + argument.
typedef struct angle {
  float re, im;
  int32_t turns;
} angle;

// Adds the argument of (re, im), which is within [-pi, pi]. The sum can leave that range only if
// both arguments have the same sign; the sign of the product then shows that it did.
static inline angle add_argument(angle sum, float re, float im) {
  float size = fabsf(re) > fabsf(im) ? fabsf(re) : fabsf(im);
  if (!(size > 0.0f)) return sum;
  float inv = 1.0f / size;
  re *= inv, im *= inv;
  angle out = {sum.re * re - sum.im * im, sum.re * im + sum.im * re, sum.turns};
  if (sum.im >= 0.0f && im >= 0.0f) {
    bool both_back = sum.re < 0.0f && re < 0.0f;
    out.turns += out.im < 0.0f || (out.im == 0.0f && both_back);
  } else if (sum.im < 0.0f && im < 0.0f) {
    out.turns -= out.im >= 0.0f;
  }
  // Lengths are between 1 and sqrt 2 after each factor: rescale the product to about 1.
  float length = fabsf(out.re) + fabsf(out.im);
  inv = 1.0f / length;
  out.re *= inv, out.im *= inv;
  return out;
}

static inline angle add_triangle(angle sum, const yw_tree_triangle* t, yw_vec3 p) {
  yw_vec3 a = yw_sub(t->a, p), b = yw_sub(t->b, p), c = yw_sub(t->c, p);
  float la = yw_length(a), lb = yw_length(b), lc = yw_length(c);
  float im = yw_dot(a, yw_cross(b, c));
  float re = la * lb * lc + yw_dot(a, b) * lc + yw_dot(b, c) * la + yw_dot(c, a) * lb;
  return add_argument(sum, re, im);
}

// Gradient of the solid angle along one edge, as seen from the origin.
static inline yw_vec3 edge_gradient(yw_vec3 a, yw_vec3 b) {
  float la = yw_length(a), lb = yw_length(b), product = la * lb;
  float bottom = product * (product + yw_dot(a, b));
  if (!(bottom > 1e-30f)) return yw_v3(0, 0, 0);
  return yw_scale(yw_cross(a, b), (la + lb) / bottom);
}

static yw_vec3 triangle_gradient(const yw_tree_triangle* t, yw_vec3 p) {
  yw_vec3 a = yw_sub(t->a, p), b = yw_sub(t->b, p), c = yw_sub(t->c, p);
  return yw_add(edge_gradient(a, b), yw_add(edge_gradient(b, c), edge_gradient(c, a)));
}

static float winding_of(angle sum) {
  return (float)sum.turns + INV_2PI * yw_atan2f(sum.im, sum.re);
}

float yw_winding_number(const yw_winding* winding, yw_vec3 p, yw_vec3* gradient) {
  const yw_triangle_tree* tree = winding->tree;
  int32_t stack[YW_TREE_MAX_DEPTH + 2] = {0}, top = 1;
  angle near = {1.0f, 0.0f, 0};
  float far = 0.0f;
  yw_vec3 slope = {0, 0, 0};
  while (top > 0) {
    int32_t n = stack[--top];
    const yw_dipole* dipole = &winding->dipoles[n];
    const yw_tree_node* node = &tree->nodes[n];
    yw_vec3 d = yw_sub(dipole->center, p);
    float length2 = yw_length2(d);
    if (length2 > dipole->reach2) {
      float inv2 = 1.0f / length2, inv3 = inv2 / sqrtf(length2);
      float facing = yw_dot(dipole->normal, d);
      far += facing * inv3;
      if (gradient)
        slope = yw_add(slope, yw_scale(yw_mad(dipole->normal, -3.0f * facing * inv2, d), -inv3));
    } else if (node->count == 0) {
      stack[top++] = node->first + 1;
      stack[top++] = node->first;
    } else {
      for (int32_t i = node->first; i < node->first + node->count; ++i) {
        near = add_triangle(near, &tree->triangles[i], p);
        if (gradient) slope = yw_add(slope, triangle_gradient(&tree->triangles[i], p));
      }
    }
  }
  if (gradient) *gradient = yw_scale(slope, INV_4PI);
  return winding_of(near) + INV_4PI * far;
}

float yw_winding_number_exact(const yw_winding* winding, yw_vec3 p) {
  angle sum = {1.0f, 0.0f, 0};
  for (int32_t i = 0; i < winding->tree->num_triangles; ++i)
    sum = add_triangle(sum, &winding->tree->triangles[i], p);
  return winding_of(sum);
}
