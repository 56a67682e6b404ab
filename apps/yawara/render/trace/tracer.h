// SPDX-License-Identifier: MIT
// The path of light through one pixel; Embree finds the hits.
#ifndef YW_APP_RENDER_TRACE_TRACER_H
#define YW_APP_RENDER_TRACE_TRACER_H

#include "render/trace/film.h"
#include "render/trace/sampling.h"
#include "render/trace/surface.h"

#ifdef YW_HAVE_EMBREE
#include <embree3/rtcore.h>

typedef struct yw_tracer {
  const yw_stage* stage;
  const yw_sampler* sampler;
  RTCScene scene;
  int32_t width, height;
  int32_t samples;  ///< a multiple of 16
} yw_tracer;

void yw_tracer_pixel(const yw_tracer* tracer, int32_t x, int32_t y, yw_film_pixel* out);
#endif

#endif
