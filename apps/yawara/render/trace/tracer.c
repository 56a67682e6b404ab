// SPDX-License-Identifier: MIT
// Sixteen samples of a pixel travel together, one per lane of Embree's ray packets:
//   camera -> surface -> sun (is it hidden?)
//                     -> one bounce off the surface, diffuse or mirrored -> sky, or another surface
//                                                                        -> sun from there
// If one surface fills the pixel, four of the lanes sample reflections and twelve soft light, and
// the filter of the film makes up for the few samples. Pixels on an edge are not filtered: there
// all lanes do both.
#include "render/trace/tracer.h"

#ifdef YW_HAVE_EMBREE

#include <string.h>

#define LANES 16

typedef struct packet {
  _Alignas(64) int32_t valid[LANES];  // -1: in use (Embree's convention)
  yw_vec3 origin[LANES], direction[LANES];
} packet;

// Lanes that sample reflections: one in each row and column of the pixel's 4 x 4 cells.
static bool is_mirror_lane(int32_t lane) {
  return lane == 2 || lane == 7 || lane == 8 || lane == 13;
}

static bool any_valid(const int32_t* valid) {
  int32_t any = 0;
  for (int32_t i = 0; i < LANES; ++i) any |= valid[i];
  return any != 0;
}

static void fill_ray(struct RTCRay16* ray, const packet* rays) {
  for (int32_t i = 0; i < LANES; ++i) {
    ray->org_x[i] = rays->origin[i].x;
    ray->org_y[i] = rays->origin[i].y;
    ray->org_z[i] = rays->origin[i].z;
    ray->dir_x[i] = rays->direction[i].x;
    ray->dir_y[i] = rays->direction[i].y;
    ray->dir_z[i] = rays->direction[i].z;
    ray->tnear[i] = 0.0f;
    ray->tfar[i] = INFINITY;
    ray->time[i] = 0.0f;
    ray->mask[i] = 0xffffffffu;
    ray->id[i] = 0;
    ray->flags[i] = 0;
  }
}

// Closest surface along each ray.
static void find_surfaces(const yw_tracer* tracer, const packet* rays, bool coherent,
                          yw_detail detail, yw_surface* out) {
  struct RTCRayHit16 hit;
  int32_t planes[LANES];
  fill_ray(&hit.ray, rays);
  for (int32_t i = 0; i < LANES; ++i) {
    hit.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
    hit.hit.instID[0][i] = RTC_INVALID_GEOMETRY_ID;
    planes[i] = -1;
    out[i].id = YW_SURFACE_NONE;
    if (rays->valid[i]) {
      planes[i] =
          yw_stage_plane(tracer->stage, rays->origin[i], rays->direction[i], &hit.ray.tfar[i]);
    }
  }
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  if (coherent) context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcIntersect16(rays->valid, tracer->scene, &context, &hit);

  for (int32_t i = 0; i < LANES; ++i) {
    if (!rays->valid[i]) continue;
    float t = hit.ray.tfar[i];
    if (hit.hit.geomID[i] != RTC_INVALID_GEOMETRY_ID) {
      yw_vec3 face = yw_v3(hit.hit.Ng_x[i], hit.hit.Ng_y[i], hit.hit.Ng_z[i]);
      int32_t mesh = (int32_t)hit.hit.geomID[i], part = (int32_t)hit.hit.primID[i];
      if (tracer->stage->meshes[mesh].look.radii) {
        yw_surface_on_ball(tracer->stage, mesh, part, face, rays->direction[i], &out[i]);
      } else {
        yw_surface_on_mesh(tracer->stage, mesh, part, hit.hit.u[i], hit.hit.v[i], face,
                           rays->direction[i], t, detail, &out[i]);
      }
    } else if (planes[i] >= 0) {
      yw_surface_on_plane(tracer->stage, planes[i], rays->origin[i], rays->direction[i], t, detail,
                          &out[i]);
    }
  }
}

// Fraction of the sun's light that each surface receives: cosine, 0 if it is in shadow.
static void find_sun(const yw_tracer* tracer, const yw_surface* surfaces, yw_sample_use use,
                     int32_t first, const float shift[2], float* out) {
  const yw_stage* stage = tracer->stage;
  packet rays;
  for (int32_t i = 0; i < LANES; ++i) {
    out[i] = 0.0f;
    rays.valid[i] = 0;
    rays.origin[i] = rays.direction[i] = stage->sun;
    if (surfaces[i].id == YW_SURFACE_NONE) continue;
    float u[2];
    yw_sampler_point(tracer->sampler, use, first + i, shift, u);
    const float* turn = yw_sampler_angle(tracer->sampler, u[1]);
    float r = stage->sun_spread * sqrtf(u[0]);
    yw_vec3 d = yw_mad(stage->sun, r * turn[0], stage->sun_across);
    d = yw_mad(d, r * turn[1], stage->sun_along);
    float cosine = yw_dot(surfaces[i].normal, d) / sqrtf(1.0f + r * r);
    if (cosine <= 0.0f || yw_dot(surfaces[i].face, d) <= 0.0f) continue;
    out[i] = cosine;
    rays.valid[i] = -1;
    rays.origin[i] = surfaces[i].origin;
    rays.direction[i] = d;
  }
  if (!any_valid(rays.valid)) return;

  struct RTCRay16 ray;
  fill_ray(&ray, &rays);
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcOccluded16(rays.valid, tracer->scene, &context, &ray);
  for (int32_t i = 0; i < LANES; ++i) {
    if (rays.valid[i] && ray.tfar[i] < 0.0f) out[i] = 0.0f;
  }
}

typedef struct pixel_shifts {
  float sun[2], sky[2], bounce[2];
} pixel_shifts;

// Light that returns along the rays: from the sky, or from the surfaces they hit.
static void gather_light(const yw_tracer* tracer, const packet* rays, const bool* mirrored,
                         int32_t first, const pixel_shifts* shifts, yw_vec3* out) {
  const yw_stage* stage = tracer->stage;
  yw_surface met[LANES];
  float sun[LANES];
  find_surfaces(tracer, rays, false, YW_DETAIL_PATTERN, met);
  find_sun(tracer, met, YW_SAMPLE_BOUNCE, first, shifts->bounce, sun);
  for (int32_t i = 0; i < LANES; ++i) {
    if (!rays->valid[i]) continue;
    yw_vec3 sky = yw_sky_light(&stage->sky, rays->direction[i]);
    if (met[i].id == YW_SURFACE_NONE) {
      out[i] = sky;
      continue;
    }
    // About half of the sky is hidden there: the ray itself started at another surface.
    yw_vec3 light = yw_scale(yw_sky_light(&stage->sky, met[i].normal), mirrored[i] ? 0.6f : 0.5f);
    light = yw_mad(light, sun[i], stage->sun_color);
    light = yw_v3(light.x * met[i].albedo.x, light.y * met[i].albedo.y, light.z * met[i].albedo.z);
    out[i] = yw_lerp(light, sky, met[i].fade);
  }
}

// A direction off the surface: cosine-weighted, or the reflection blurred by roughness.
static yw_vec3 bounce_direction(const yw_tracer* tracer, const yw_surface* surface, yw_vec3 d,
                                bool mirrored, const float u[2]) {
  yw_vec3 ball = yw_sample_sphere(tracer->sampler, u);
  yw_vec3 out;
  if (mirrored) {
    float matte = 1.0f - surface->gloss;
    out = yw_mad(d, -2.0f * yw_dot(d, surface->normal), surface->normal);
    out = yw_mad(out, 0.02f + 0.45f * matte * matte, ball);
  } else {
    out = yw_mad(surface->normal, 0.999f, ball);
  }
  float below = yw_dot(out, surface->face);
  if (below < 0.0f) out = yw_mad(out, -2.0f * below, surface->face);
  return yw_normalize_or(out, surface->face);
}

static void bounce(const yw_tracer* tracer, const yw_surface* surfaces, const packet* view,
                   const bool* wanted, const bool* mirrored, int32_t first,
                   const pixel_shifts* shifts, yw_vec3* out) {
  packet rays;
  for (int32_t i = 0; i < LANES; ++i) {
    out[i] = yw_v3(0, 0, 0);
    rays.valid[i] = 0;
    rays.origin[i] = rays.direction[i] = tracer->stage->sun;
    if (!wanted[i]) continue;
    float u[2];
    yw_sampler_point(tracer->sampler, YW_SAMPLE_SKY, first + i, shifts->sky, u);
    rays.valid[i] = -1;
    rays.origin[i] = surfaces[i].origin;
    rays.direction[i] = bounce_direction(tracer, &surfaces[i], view->direction[i], mirrored[i], u);
  }
  if (any_valid(rays.valid)) gather_light(tracer, &rays, mirrored, first, shifts, out);
}

// Reflections and highlights towards the eye.
static yw_vec3 mirror_light(const yw_surface* surface, yw_vec3 d, yw_vec3 image) {
  return yw_scale(image, yw_surface_fresnel(surface, d) * (1.0f - surface->fade));
}

static float highlight(const yw_stage* stage, const yw_surface* surface, yw_vec3 d) {
  return yw_surface_highlight(stage, surface, d) * (1.0f - surface->fade);
}

// Sums over the samples of a pixel.
typedef struct pixel_sums {
  yw_vec3 direct, albedo, sky, mirror, highlight, normal, position;
  float sun;
  int32_t whole;           // samples in passes where one surface filled the pixel
  int32_t skies, mirrors;  // of these, samples of soft light and of reflections
  int32_t id;
} pixel_sums;

// One surface fills the pixel: its light is summed separately from its colour.
static void add_whole(const yw_tracer* tracer, const packet* view, const yw_surface* surfaces,
                      const float* sun, int32_t first, const pixel_shifts* shifts,
                      pixel_sums* sums) {
  const yw_stage* stage = tracer->stage;
  bool wanted[LANES], mirrored[LANES];
  yw_vec3 light[LANES];
  for (int32_t i = 0; i < LANES; ++i) {
    wanted[i] = true;
    mirrored[i] = surfaces[i].gloss > 0.0f && is_mirror_lane(i);
  }
  bounce(tracer, surfaces, view, wanted, mirrored, first, shifts, light);
  float shine = 0.0f;
  int32_t lit = 0, mirrors = 0;
  for (int32_t i = 0; i < LANES; ++i) {
    const yw_surface* s = &surfaces[i];
    yw_vec3 d = view->direction[i];
    float kept = (1.0f - yw_surface_fresnel(s, d)) * (1.0f - s->fade);
    sums->albedo = yw_mad(sums->albedo, kept, s->albedo);
    sums->sun += sun[i];
    if (sun[i] > 0.0f) ++lit;
    if (s->fade > 0.0f) {
      sums->direct = yw_mad(sums->direct, s->fade, yw_stage_backdrop(stage, d));
    }
    sums->normal = yw_add(sums->normal, s->normal);
    sums->position = yw_add(sums->position, s->origin);
    if (mirrored[i]) {
      sums->mirror = yw_add(sums->mirror, mirror_light(s, d, light[i]));
      shine += highlight(stage, s, d);
      ++mirrors;
    } else {
      sums->sky = yw_add(sums->sky, light[i]);
      ++sums->skies;
    }
  }
  if (mirrors > 0) {
    sums->highlight =
        yw_mad(sums->highlight, shine * (float)lit / (float)mirrors, stage->sun_color);
  }
  sums->mirrors += mirrors;
  sums->whole += LANES;
  sums->id = surfaces[0].id;
}

// Several surfaces, or some backdrop: the colour of every sample is computed separately.
static void add_mixed(const yw_tracer* tracer, const packet* view, const yw_surface* surfaces,
                      const float* sun, int32_t first, const pixel_shifts* shifts,
                      pixel_sums* sums) {
  const yw_stage* stage = tracer->stage;
  bool any[LANES], glossy[LANES], soft[LANES];
  yw_vec3 sky[LANES], image[LANES];
  for (int32_t i = 0; i < LANES; ++i) {
    any[i] = surfaces[i].id != YW_SURFACE_NONE;
    glossy[i] = any[i] && surfaces[i].gloss > 0.0f;
    soft[i] = false;
  }
  bounce(tracer, surfaces, view, any, soft, first, shifts, sky);
  bounce(tracer, surfaces, view, glossy, glossy, first, shifts, image);
  for (int32_t i = 0; i < LANES; ++i) {
    const yw_surface* s = &surfaces[i];
    yw_vec3 d = view->direction[i];
    if (!any[i]) {
      sums->direct = yw_add(sums->direct, yw_stage_backdrop(stage, d));
      continue;
    }
    float kept = (1.0f - yw_surface_fresnel(s, d)) * (1.0f - s->fade);
    yw_vec3 light = yw_scale(yw_mad(sky[i], sun[i], stage->sun_color), kept);
    yw_vec3 color = yw_v3(light.x * s->albedo.x, light.y * s->albedo.y, light.z * s->albedo.z);
    color = yw_add(color, mirror_light(s, d, image[i]));
    if (sun[i] > 0.0f) color = yw_mad(color, highlight(stage, s, d), stage->sun_color);
    color = yw_mad(color, s->fade, yw_stage_backdrop(stage, d));
    sums->direct = yw_add(sums->direct, color);
  }
}

// Camera rays of sixteen samples.
static void aim(const yw_tracer* tracer, int32_t x, int32_t y, int32_t first, packet* out) {
  static const float none[2] = {0.0f, 0.0f};
  for (int32_t i = 0; i < LANES; ++i) {
    float u[2];
    yw_sampler_point(tracer->sampler, YW_SAMPLE_PIXEL, first + i, none, u);
    out->valid[i] = -1;
    out->origin[i] = tracer->stage->view.eye;
    out->direction[i] = yw_view_ray(&tracer->stage->view, ((float)x + u[0]) / (float)tracer->width,
                                    ((float)y + u[1]) / (float)tracer->height);
  }
}

static bool is_whole(const yw_surface* surfaces) {
  for (int32_t i = 1; i < LANES; ++i) {
    if (surfaces[i].id != surfaces[0].id) return false;
    if (yw_dot(surfaces[i].normal, surfaces[0].normal) < 0.85f) return false;
  }
  return true;
}

static void expose_pixel(const pixel_sums* sums, int32_t samples, yw_film_pixel* out) {
  memset(out, 0, sizeof *out);
  float share = 1.0f / (float)samples;
  out->direct = yw_scale(sums->direct, share);
  out->albedo = yw_scale(sums->albedo, share);
  out->id = sums->whole == samples ? sums->id : -1;
  if (sums->whole == 0) return;
  float whole = 1.0f / (float)sums->whole, part = (float)sums->whole * share;
  out->sun = sums->sun * whole;
  if (sums->skies > 0) out->sky = yw_scale(sums->sky, 1.0f / (float)sums->skies);
  out->mirror = yw_scale(sums->highlight, share);
  if (sums->mirrors > 0) {
    out->mirror = yw_mad(out->mirror, part / (float)sums->mirrors, sums->mirror);
  }
  out->normal = yw_normalize_or(sums->normal, yw_v3(0, 1, 0));
  out->position = yw_scale(sums->position, whole);
}

void yw_tracer_pixel(const yw_tracer* tracer, int32_t x, int32_t y, yw_film_pixel* out) {
  pixel_sums sums;
  memset(&sums, 0, sizeof sums);
  sums.id = YW_SURFACE_NONE;
  pixel_shifts shifts;
  yw_sampler_shift(tracer->sampler, x, y, YW_SAMPLE_SUN, shifts.sun);
  yw_sampler_shift(tracer->sampler, x, y, YW_SAMPLE_SKY, shifts.sky);
  yw_sampler_shift(tracer->sampler, x, y, YW_SAMPLE_BOUNCE, shifts.bounce);

  for (int32_t first = 0; first < tracer->samples; first += LANES) {
    packet view;
    yw_surface surfaces[LANES];
    float sun[LANES];
    aim(tracer, x, y, first, &view);
    find_surfaces(tracer, &view, true, YW_DETAIL_FULL, surfaces);
    find_sun(tracer, surfaces, YW_SAMPLE_SUN, first, shifts.sun, sun);
    if (surfaces[0].id != YW_SURFACE_NONE && is_whole(surfaces)) {
      add_whole(tracer, &view, surfaces, sun, first, &shifts, &sums);
    } else {
      add_mixed(tracer, &view, surfaces, sun, first, &shifts, &sums);
    }
  }
  expose_pixel(&sums, tracer->samples, out);
}

#endif
