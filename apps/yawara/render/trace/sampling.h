// SPDX-License-Identifier: MIT
// Sample points: the same well-spread set in every pixel, shifted by blue noise, so that the
// remaining noise is fine-grained and does not change from frame to frame.
#ifndef YW_APP_RENDER_TRACE_SAMPLING_H
#define YW_APP_RENDER_TRACE_SAMPLING_H

#include "yawara/base.h"
#include "yawara/extend/vec.h"

#define YW_NOISE_SIDE 64
#define YW_CIRCLE_STEPS 1024

/// What a pair of sample numbers is used for.
typedef enum yw_sample_use {
  YW_SAMPLE_PIXEL,   ///< position in the pixel, not shifted
  YW_SAMPLE_SUN,     ///< point on the sun
  YW_SAMPLE_SKY,     ///< direction of the bounce
  YW_SAMPLE_BOUNCE,  ///< point on the sun, seen from the bounce
  YW_NUM_SAMPLE_USES
} yw_sample_use;

typedef struct yw_sampler {
  float noise[YW_NOISE_SIDE * YW_NOISE_SIDE];  ///< 0 to 1, each value once
  float circle[YW_CIRCLE_STEPS][2];            ///< cosine and sine
  yw_allocator mem;
  int32_t count;                      ///< samples per pixel
  float* points[YW_NUM_SAMPLE_USES];  ///< 2 * count each
} yw_sampler;

yw_status yw_sampler_init(const yw_allocator* mem, yw_sampler* out, yw_error* error);
/// Creates sets of count points.
yw_status yw_sampler_resize(yw_sampler* sampler, int32_t count, yw_error* error);
void yw_sampler_free(yw_sampler* sampler);

/// Two shifts for a pixel and a use.
static inline void yw_sampler_shift(const yw_sampler* sampler, int32_t x, int32_t y,
                                    yw_sample_use use, float shift[2]) {
  // Offsets far apart in the tile, so that the uses are uncorrelated.
  static const int32_t places[2 * YW_NUM_SAMPLE_USES][2] = {{0, 0},  {19, 43}, {48, 36}, {13, 22},
                                                            {37, 7}, {58, 50}, {27, 61}, {7, 31}};
  for (int32_t k = 0; k < 2; ++k) {
    const int32_t* place = places[2 * (int32_t)use + k];
    int32_t column = (x + place[0]) & (YW_NOISE_SIDE - 1);
    int32_t row = (y + place[1]) & (YW_NOISE_SIDE - 1);
    shift[k] = sampler->noise[row * YW_NOISE_SIDE + column];
  }
}

/// Sample i of a use: two numbers in [0, 1).
static inline void yw_sampler_point(const yw_sampler* sampler, yw_sample_use use, int32_t i,
                                    const float shift[2], float out[2]) {
  for (int32_t k = 0; k < 2; ++k) {
    float value = sampler->points[use][2 * i + k] + shift[k];
    out[k] = value >= 1.0f ? value - 1.0f : value;
  }
}

static inline const float* yw_sampler_angle(const yw_sampler* sampler, float turn) {
  return sampler->circle[(int32_t)(turn * YW_CIRCLE_STEPS) & (YW_CIRCLE_STEPS - 1)];
}

/// Uniform on the unit sphere. Added to a normal, it gives cosine-weighted directions.
static inline yw_vec3 yw_sample_sphere(const yw_sampler* sampler, const float u[2]) {
  // u is in [0, 1), so z * z cannot exceed 1.
  float z = 1.0f - 2.0f * u[0], r = sqrtf(1.0f - z * z);
  const float* turn = yw_sampler_angle(sampler, u[1]);
  return yw_v3(r * turn[0], z, r * turn[1]);
}

#endif
