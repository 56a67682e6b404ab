// SPDX-License-Identifier: MIT
#include "render/trace/surface.h"

static const float PI = 3.14159265358979f;

// Integral of a square wave of period 2 with values 1 and -1: a triangle wave.
static float wave_integral(float x) {
  float m = x - 2.0f * yw_floorf(0.5f * x);
  return m < 1.0f ? m : 2.0f - m;
}

// Mean of the square wave over a window.
static float wave_mean(float x, float width) {
  return (wave_integral(x + 0.5f * width) - wave_integral(x - 0.5f * width)) / width;
}

static bool is_odd(float whole) { return whole - 2.0f * yw_floorf(0.5f * whole) > 0.5f; }

// Fraction of the first colour in a pixel's window: checkers blend into grey before they flicker.
static float checker_share(const yw_stage* stage, const yw_trace_plane* plane, yw_vec3 p, yw_vec3 d,
                           float t) {
  float inv = 1.0f / plane->look.checker;
  float x = yw_dot(p, plane->across) * inv, y = yw_dot(p, plane->along) * inv;
  float width = yw_maxf(stage->pixel_angle * t * inv, 1e-4f);
  float slant = width / yw_maxf(-yw_dot(d, plane->normal), 1e-3f);
  // Close up, the samples of the pixel filter enough.
  if (slant < 0.12f) return is_odd(yw_floorf(x) + yw_floorf(y)) ? 0.0f : 1.0f;
  float wx = width + slant * fabsf(yw_dot(d, plane->across));
  float wy = width + slant * fabsf(yw_dot(d, plane->along));
  return 0.5f + 0.5f * wave_mean(x, wx) * wave_mean(y, wy);
}

void yw_surface_on_plane(const yw_stage* stage, int32_t index, yw_vec3 o, yw_vec3 d, float t,
                         yw_detail detail, yw_surface* out) {
  const yw_trace_plane* plane = &stage->planes[index];
  yw_vec3 p = yw_mad(o, t, d);
  out->id = YW_SURFACE_PLANE + index;
  out->normal = out->face = plane->normal;
  out->origin = yw_mad(p, stage->skin, plane->normal);
  out->gloss = plane->look.gloss;
  out->albedo = plane->look.color;
  if (plane->look.checker > 0.0f) {
    float share = detail == YW_DETAIL_MEAN ? 0.5f : checker_share(stage, plane, p, d, t);
    out->albedo = yw_lerp(plane->look.color2, plane->look.color, share);
  }
  float far = (yw_distance(p, stage->focus) - stage->fade_near) * stage->fade_rate;
  far = yw_clampf(far, 0.0f, 1.0f);
  out->fade = far * far * (3.0f - 2.0f * far);
}

// Dark lines along the edges, a fixed number of pixels wide.
static float wire_shade(const yw_stage* stage, const yw_render_mesh* look, const yw_vec3* corners,
                        const float* weights, float t, yw_vec3 face, yw_vec3 d) {
  yw_vec3 ab = yw_sub(corners[1], corners[0]), ac = yw_sub(corners[2], corners[0]);
  float doubled = yw_length(yw_cross(ab, ac));
  float pixel = stage->pixel_angle * t;
  float nearest = INFINITY;
  for (int32_t k = 0; k < 3; ++k) {
    float edge = yw_distance(corners[(k + 1) % 3], corners[(k + 2) % 3]);
    nearest = yw_minf(nearest, weights[k] * doubled / yw_maxf(edge, 1e-20f));
  }
  // Lines seen at a grazing angle keep some of their width.
  float slant = yw_maxf(0.35f, fabsf(yw_dot(face, d)));
  float outside = nearest * slant / (0.5f * look->wireframe * pixel);
  float line = 1.0f - yw_clampf((outside - 0.6f) / 0.8f, 0.0f, 1.0f);
  return 1.0f - 0.62f * line;
}

// Checkers on flat sides ignore the axis across the side, or rounding would speckle it.
static yw_vec3 checker_place(const yw_render_mesh* look, const int32_t* corners,
                             const float* weights) {
  const yw_vec3* rest = look->rest ? look->rest : look->positions;
  yw_vec3 a = rest[corners[0]], b = rest[corners[1]], c = rest[corners[2]];
  yw_vec3 p =
      yw_add(yw_scale(a, weights[0]), yw_add(yw_scale(b, weights[1]), yw_scale(c, weights[2])));
  yw_vec3 n = yw_cross(yw_sub(b, a), yw_sub(c, a));
  float flat = 0.99f * yw_length(n);
  if (fabsf(n.x) > flat) p.x = 0.0f;
  if (fabsf(n.y) > flat) p.y = 0.0f;
  if (fabsf(n.z) > flat) p.z = 0.0f;
  return p;
}

static yw_vec3 mesh_albedo(const yw_render_mesh* look, const int32_t* corners, const float* weights,
                           yw_detail detail) {
  yw_vec3 albedo = look->color;
  if (look->colors) {
    albedo = yw_scale(look->colors[corners[0]], weights[0]);
    albedo = yw_mad(albedo, weights[1], look->colors[corners[1]]);
    albedo = yw_mad(albedo, weights[2], look->colors[corners[2]]);
  }
  if (look->checker <= 0.0f) return albedo;
  if (detail == YW_DETAIL_MEAN) return yw_scale(albedo, 0.5f + 0.5f * look->checker_tone);
  yw_vec3 p = yw_scale(checker_place(look, corners, weights), 1.0f / look->checker);
  bool odd = is_odd(yw_floorf(p.x) + yw_floorf(p.y) + yw_floorf(p.z));
  return odd ? yw_scale(albedo, look->checker_tone) : albedo;
}

void yw_surface_on_mesh(const yw_stage* stage, int32_t index, int32_t triangle, float u, float v,
                        yw_vec3 face, yw_vec3 d, float t, yw_detail detail, yw_surface* out) {
  const yw_trace_mesh* mesh = &stage->meshes[index];
  const yw_render_mesh* look = &mesh->look;
  const int32_t* corners = &look->triangles[3 * triangle];
  const float weights[3] = {1.0f - u - v, u, v};
  const yw_vec3* normals = &mesh->normals[3 * triangle];
  yw_vec3 places[3], p = {0, 0, 0}, n = {0, 0, 0};
  for (int32_t k = 0; k < 3; ++k) {
    places[k] = look->positions[corners[k]];
    p = yw_mad(p, weights[k], places[k]);
    n = yw_mad(n, weights[k], normals[k]);
  }
  face = yw_normalize_or(face, yw_neg(d));
  n = yw_normalize_or(n, face);

  // Seen from inside (open or inverted meshes): flip the normals.
  float side = yw_dot(face, d) > 0.0f ? -1.0f : 1.0f;
  face = yw_scale(face, side);
  n = yw_scale(n, side);
  if (yw_dot(n, face) < 0.0f) n = face;

  // Rays start on the curved surface that the normals suggest (Hanika, Hacking the shadow
  // terminator, 2021); otherwise coarse meshes show their facets at the edge of their own shadow.
  yw_vec3 lift = {0, 0, 0};
  for (int32_t k = 0; k < 3; ++k) {
    yw_vec3 normal = yw_scale(normals[k], side);
    float height = yw_dot(yw_sub(p, places[k]), normal);
    if (height < 0.0f) lift = yw_mad(lift, -height * weights[k], normal);
  }
  out->id = index;
  out->origin = yw_mad(yw_add(p, lift), stage->skin, face);
  out->normal = n;
  out->face = face;
  out->gloss = look->gloss;
  out->fade = 0.0f;
  out->albedo = mesh_albedo(look, corners, weights, detail);
  if (detail == YW_DETAIL_FULL && look->wireframe > 0.0f) {
    out->albedo = yw_scale(out->albedo, wire_shade(stage, look, places, weights, t, face, d));
  }
}

void yw_surface_on_ball(const yw_stage* stage, int32_t index, int32_t ball, yw_vec3 face, yw_vec3 d,
                        yw_surface* out) {
  const yw_render_mesh* look = &stage->meshes[index].look;
  yw_vec3 n = yw_normalize_or(face, yw_neg(d));
  yw_vec3 p = yw_mad(look->positions[ball], look->radii[ball], n);
  if (yw_dot(n, d) > 0.0f) n = yw_neg(n);
  out->id = index;
  out->origin = yw_mad(p, stage->skin, n);
  out->normal = out->face = n;
  out->gloss = look->gloss;
  out->fade = 0.0f;
  out->albedo = look->colors ? look->colors[ball] : look->color;
}

float yw_surface_highlight(const yw_stage* stage, const yw_surface* surface, yw_vec3 d) {
  float to_sun = yw_dot(surface->normal, stage->sun);
  if (surface->gloss <= 0.0f || to_sun <= 0.0f) return 0.0f;
  yw_vec3 half = yw_normalize_or(yw_sub(stage->sun, d), surface->normal);
  float to_eye = yw_maxf(-yw_dot(surface->normal, d), 0.05f);
  float to_half = yw_clampf(yw_dot(surface->normal, half), 0.0f, 1.0f);

  // GGX; the sun's disc widens the lobe.
  float matte = 1.0f - surface->gloss;
  float a = 0.05f + 0.45f * matte * matte + 0.5f * stage->sun_spread, a2 = a * a;
  float m = to_half * to_half * (a2 - 1.0f) + 1.0f;
  float lobe = a2 / (PI * m * m);
  float k = 0.5f * a;
  float hidden = 1.0f / ((to_sun * (1.0f - k) + k) * (to_eye * (1.0f - k) + k) * 4.0f);
  float c = 1.0f - yw_clampf(-yw_dot(half, d), 0.0f, 1.0f), c2 = c * c;
  float mirrored = 0.045f + 0.955f * c2 * c2 * c;
  // Colours of the sun are irradiance / pi.
  return surface->gloss * mirrored * lobe * hidden * to_sun * PI;
}
