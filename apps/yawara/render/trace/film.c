// SPDX-License-Identifier: MIT
#include "render/trace/film.h"

#include <string.h>

#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

#define ROWS 8  // of a task
#define TONE_STEPS 4096
#define TONE_MAX 8.0f  // anything brighter is white

yw_status yw_film_resize(yw_film* film, int32_t width, int32_t height, yw_error* error) {
  if (film->width == width && film->height == height) return YW_OK;
  yw_film_pixel* pixels = YW_NEW_ARRAY(&film->mem, yw_film_pixel, (size_t)width * (size_t)height);
  if (!pixels) return yw_fail_memory(error, "the film of a picture");
  yw_mem_free(&film->mem, film->pixels);
  film->pixels = pixels;
  film->width = width;
  film->height = height;
  return YW_OK;
}

void yw_film_free(yw_film* film) {
  yw_mem_free(&film->mem, film->pixels);
  film->pixels = NULL;
  film->width = film->height = 0;
}

typedef struct develop_job {
  const yw_film* film;
  const yw_develop_def* def;
  const yw_sampler* sampler;
  yw_image* out;
  float tone[TONE_STEPS + 1];  // 0 to 255, over sqrt of the value
} develop_job;

// Light of the pixel alone, or averaged with neighbours on the same smooth piece of surface.
typedef struct pixel_light {
  yw_vec3 sky, mirror;
  float sun;
} pixel_light;

static float pixel_weight(const yw_film_pixel* centre, const yw_film_pixel* other,
                          float inv_tolerance) {
  if (other->id != centre->id) return 0.0f;
  float facing = yw_dot(centre->normal, other->normal);
  if (facing < 0.8f) return 0.0f;
  // Distance from the tangent plane, in pixels: steps of the surface do not mix.
  float off = yw_dot(yw_sub(other->position, centre->position), centre->normal) * inv_tolerance;
  float turned = (1.0f - facing) * 30.0f;
  return 1.0f / (1.0f + off * off + turned * turned);
}

static pixel_light filtered_light(const develop_job* job, int32_t x, int32_t y) {
  const yw_film* film = job->film;
  const yw_film_pixel* centre = &film->pixels[(size_t)y * (size_t)film->width + (size_t)x];
  float pixel = job->def->pixel_angle * yw_distance(centre->position, job->def->eye);
  float inv_tolerance = 1.0f / fmaxf(1.5f * pixel, 1e-20f);
  // Soft light uses the whole window; sun and reflections only its middle, to keep them crisp.
  static const float wide[4] = {1.0f, 0.85f, 0.55f, 0.25f};
  static const float tight[4] = {1.0f, 0.35f, 0.05f, 0.0f};
  pixel_light sum = {{0, 0, 0}, {0, 0, 0}, 0};
  float wide_sum = 0.0f, tight_sum = 0.0f;
  for (int32_t dy = -3; dy <= 3; ++dy) {
    if (y + dy < 0 || y + dy >= film->height) continue;
    for (int32_t dx = -3; dx <= 3; ++dx) {
      if (x + dx < 0 || x + dx >= film->width) continue;
      const yw_film_pixel* other = centre + dy * film->width + dx;
      float weight = pixel_weight(centre, other, inv_tolerance);
      if (weight <= 0.0f) continue;
      int32_t ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy;
      float w = weight * wide[ax] * wide[ay], c = weight * tight[ax] * tight[ay];
      sum.sky = yw_mad(sum.sky, w, other->sky);
      sum.mirror = yw_mad(sum.mirror, c, other->mirror);
      sum.sun += c * other->sun;
      wide_sum += w;
      tight_sum += c;
    }
  }
  sum.sky = yw_scale(sum.sky, 1.0f / wide_sum);
  sum.mirror = yw_scale(sum.mirror, 1.0f / tight_sum);
  sum.sun /= tight_sum;
  return sum;
}

// Film-like: colours are unchanged up to KNEE, then roll off softly without clipping.
#define KNEE 0.45f

static float tone_shoulder(float x) {
  return x < KNEE ? x : KNEE + (1.0f - KNEE) * (1.0f - expf(-(x - KNEE) / (1.0f - KNEE)));
}

float yw_tone_inverse(float y) {
  if (y < KNEE) return y;
  return KNEE - (1.0f - KNEE) * logf(1.0f - (fminf(y, 0.999f) - KNEE) / (1.0f - KNEE));
}

static float tone_curve(float x) {
  float y = tone_shoulder(x);
  return y <= 0.0031308f ? 12.92f * y : 1.055f * powf(y, 1.0f / 2.4f) - 0.055f;
}

static uint8_t tone_byte(const develop_job* job, float value, float dither) {
  if (!(value > 0.0f)) value = 0.0f;
  float place = sqrtf((value < TONE_MAX ? value : TONE_MAX) / TONE_MAX) * TONE_STEPS;
  int32_t i = (int32_t)place;
  if (i >= TONE_STEPS) i = TONE_STEPS - 1;
  float byte = job->tone[i] + (place - (float)i) * (job->tone[i + 1] - job->tone[i]);
  return (uint8_t)yw_clampf(byte + dither, 0.0f, 255.0f);
}

static void develop_rows(void* context, int32_t block, int32_t worker) {
  const develop_job* job = context;
  const yw_film* film = job->film;
  (void)worker;
  int32_t end = (block + 1) * ROWS < film->height ? (block + 1) * ROWS : film->height;
  for (int32_t y = block * ROWS; y < end; ++y) {
    for (int32_t x = 0; x < film->width; ++x) {
      size_t i = (size_t)y * (size_t)film->width + (size_t)x;
      const yw_film_pixel* pixel = &film->pixels[i];
      pixel_light light = {pixel->sky, pixel->mirror, pixel->sun};
      if (pixel->id >= 0 && job->def->filter) light = filtered_light(job, x, y);
      yw_vec3 arriving = yw_mad(light.sky, light.sun, job->def->sun_color);
      float e = job->def->exposure;
      yw_vec3 color = yw_v3(pixel->albedo.x * arriving.x, pixel->albedo.y * arriving.y,
                            pixel->albedo.z * arriving.z);
      color = yw_scale(yw_add(yw_add(color, light.mirror), pixel->direct), e);
      float dither[2];
      yw_sampler_shift(job->sampler, x, y, YW_SAMPLE_PIXEL, dither);
      job->out->pixels[3 * i] = tone_byte(job, color.x, dither[0]);
      job->out->pixels[3 * i + 1] = tone_byte(job, color.y, dither[0]);
      job->out->pixels[3 * i + 2] = tone_byte(job, color.z, dither[0]);
    }
  }
}

void yw_film_develop(const yw_film* film, const yw_develop_def* def, const yw_sampler* sampler,
                     yw_tasks* tasks, yw_image* out) {
  develop_job job = {film, def, sampler, out, {0}};
  for (int32_t i = 0; i <= TONE_STEPS; ++i) {
    float root = (float)i / TONE_STEPS;
    job.tone[i] = 255.0f * tone_curve(root * root * TONE_MAX);
  }
  yw_tasks_run(tasks, (film->height + ROWS - 1) / ROWS, develop_rows, &job);
}
