// SPDX-License-Identifier: MIT
// Surfaces that rays hit: planes, points of meshes, the sky. No rays are cast here.
#ifndef YW_APP_RENDER_TRACE_SURFACE_H
#define YW_APP_RENDER_TRACE_SURFACE_H

#include "render/trace/camera.h"
#include "render/trace/render.h"
#include "yawara/extend/vec.h"

typedef struct yw_trace_plane {
  yw_vec3 normal;  ///< unit
  float offset;
  yw_vec3 across, along;  ///< unit axes of the pattern
  yw_render_plane look;
} yw_trace_plane;

typedef struct yw_trace_mesh {
  yw_render_mesh look;
  const yw_vec3* normals;  ///< 3 per triangle
} yw_trace_mesh;

/// A picture prepared for tracing.
typedef struct yw_stage {
  int32_t num_meshes;
  yw_trace_mesh* meshes;
  int32_t num_planes;
  yw_trace_plane planes[YW_RENDER_MAX_PLANES];
  yw_render_sky sky;
  yw_vec3 sun, sun_across, sun_along;  ///< unit axes, the first towards the sun
  yw_vec3 sun_color;
  float sun_spread;  ///< tangent of its radius
  yw_view view;
  float pixel_angle;  ///< rad
  yw_vec3 focus;
  float fade_near;  ///< m from the focus up to which planes are fully visible
  float fade_rate;  ///< 1 / width of the zone where they fade, 1/m; 0: no fading
  float skin;       ///< offset of ray origins from surfaces, m
} yw_stage;

#define YW_SURFACE_NONE (-1)
#define YW_SURFACE_PLANE 0x40000000  ///< ids from here on are planes

/// A point where a ray ended.
typedef struct yw_surface {
  int32_t id;      ///< mesh, YW_SURFACE_PLANE + plane, or YW_SURFACE_NONE
  yw_vec3 origin;  ///< where secondary rays start
  yw_vec3 normal;  ///< for shading
  yw_vec3 face;    ///< geometric normal, facing the ray
  yw_vec3 albedo;
  float gloss;
  float fade;  ///< 0: fully visible, to 1: lost in the backdrop
} yw_surface;

/// How patterns are seen: in detail by the camera, as their mean by diffuse bounces.
typedef enum yw_detail { YW_DETAIL_MEAN, YW_DETAIL_PATTERN, YW_DETAIL_FULL } yw_detail;

// fmaxf, fminf and floorf are calls into libm on the baseline instruction set; these are not.
static inline float yw_maxf(float a, float b) { return a > b ? a : b; }
static inline float yw_minf(float a, float b) { return a < b ? a : b; }
static inline float yw_floorf(float x) {
  // Beyond 2^30 floats have no fraction.
  if (!(x > -1073741824.0f && x < 1073741824.0f)) return x;
  float cut = (float)(int32_t)x;
  return cut > x ? cut - 1.0f : cut;
}

/// Light from a direction in which nothing is hit.
static inline yw_vec3 yw_sky_light(const yw_render_sky* sky, yw_vec3 d) {
  if (d.y < 0.0f) return yw_lerp(sky->horizon, sky->ground, yw_minf(1.0f, -4.0f * d.y));
  return yw_lerp(sky->horizon, sky->zenith, sqrtf(yw_minf(1.0f, d.y)));
}

/// What the camera sees there: a gradient from the lower to the upper edge of the picture.
static inline yw_vec3 yw_stage_backdrop(const yw_stage* stage, yw_vec3 d) {
  const yw_view* view = &stage->view;
  float height = yw_dot(d, view->up) / (yw_dot(d, view->forward) * view->tan_y);
  float t = yw_clampf(0.5f + 0.5f * height, 0.0f, 1.0f);
  return yw_lerp(stage->sky.backdrop_low, stage->sky.backdrop_high, t * t);
}

/// The nearest plane closer than `far` (updated), or -1.
static inline int32_t yw_stage_plane(const yw_stage* stage, yw_vec3 o, yw_vec3 d, float* far) {
  int32_t nearest = -1;
  for (int32_t i = 0; i < stage->num_planes; ++i) {
    const yw_trace_plane* plane = &stage->planes[i];
    float speed = yw_dot(plane->normal, d), height = yw_dot(plane->normal, o) - plane->offset;
    if (speed < 0.0f && height > 0.0f && height < -speed * *far) {
      *far = height / -speed;
      nearest = i;
    }
  }
  return nearest;
}

void yw_surface_on_plane(const yw_stage* stage, int32_t plane, yw_vec3 o, yw_vec3 d, float t,
                         yw_detail detail, yw_surface* out);
/// u and v are the weights of the triangle's second and third corner; face its normal, any length.
void yw_surface_on_mesh(const yw_stage* stage, int32_t mesh, int32_t triangle, float u, float v,
                        yw_vec3 face, yw_vec3 d, float t, yw_detail detail, yw_surface* out);

/// A ball of a cloud; face is the vector from its centre, any length.
void yw_surface_on_ball(const yw_stage* stage, int32_t mesh, int32_t ball, yw_vec3 face, yw_vec3 d,
                        yw_surface* out);

/// Sunlight reflected towards the eye (-d), for irradiance 1.
float yw_surface_highlight(const yw_stage* stage, const yw_surface* surface, yw_vec3 d);
/// Fraction of light that is reflected (Schlick), seen along d.
static inline float yw_surface_fresnel(const yw_surface* surface, yw_vec3 d) {
  if (surface->gloss <= 0.0f) return 0.0f;
  float cosine = yw_clampf(-yw_dot(surface->normal, d), 0.0f, 1.0f);
  float m = 1.0f - cosine, m2 = m * m;
  // Rough surfaces reflect less at grazing angles.
  float grazing = 0.1f + 0.6f * surface->gloss;
  return surface->gloss * (0.045f + (grazing - 0.045f) * m2 * m2 * m);
}

#endif
