// SPDX-License-Identifier: MIT
// What the rays collect per pixel, and how it becomes an image.
#ifndef YW_APP_RENDER_TRACE_FILM_H
#define YW_APP_RENDER_TRACE_FILM_H

#include "render/output/image.h"
#include "render/trace/sampling.h"
#include "yawara/extend/tasks.h"
#include "yawara/extend/vec.h"

/// Light is stored apart from colour, so that the filter smooths light and leaves patterns sharp:
/// pixel = direct + albedo * (sky + sun * sun_color) + mirror.
typedef struct yw_film_pixel {
  yw_vec3 direct;  ///< final colour: backdrop, and pixels that see more than one surface
  yw_vec3 albedo;
  yw_vec3 sky;     ///< light from sky and bounces
  float sun;       ///< fraction of the sun's light
  yw_vec3 mirror;  ///< reflections
  // Guides for the filter.
  int32_t id;  ///< surface that fills the pixel, or -1: not filtered
  yw_vec3 normal, position;
} yw_film_pixel;

typedef struct yw_film {
  yw_allocator mem;
  int32_t width, height;
  yw_film_pixel* pixels;
} yw_film;

yw_status yw_film_resize(yw_film* film, int32_t width, int32_t height, yw_error* error);
void yw_film_free(yw_film* film);

/// The light that maps to a given fraction of white, both linear.
float yw_tone_inverse(float y);

typedef struct yw_develop_def {
  yw_vec3 sun_color;
  float exposure;
  float pixel_angle;  ///< rad
  yw_vec3 eye;
  bool filter;
} yw_develop_def;

/// Filters, tone-maps and rounds to 8 bits (with the blue noise as dither) into an image of the
/// same size.
void yw_film_develop(const yw_film* film, const yw_develop_def* def, const yw_sampler* sampler,
                     yw_tasks* tasks, yw_image* out);

#endif
