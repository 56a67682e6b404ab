// SPDX-License-Identifier: MIT
#include "yawara/pose.h"

#include <string.h>

#include "math/small/trig.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"

static const char* const names[YW_DEFORM_COUNT] = {"twist", "bend",   "s_bend",  "shear",
                                                   "taper", "squash", "stretch", "scale"};

const char* yw_deform_name(yw_deform_kind kind) {
  return (unsigned)kind < YW_DEFORM_COUNT ? names[kind] : "unknown";
}

int32_t yw_deform_from_name(const char* name) {
  for (int32_t k = 0; k < YW_DEFORM_COUNT; ++k) {
    if (strcmp(name, names[k]) == 0) return k;
  }
  return -1;
}

yw_deform yw_default_deform(yw_deform_kind kind) {
  return (yw_deform){.kind = kind, .axis = {0, 1, 0}, .toward = {1, 0, 0}};
}

// A point in the axes of the deformation: s along axis, u along toward, w along axis x toward.
typedef struct local_point {
  float s, u, w;
} local_point;

typedef struct local_frame {
  yw_vec3 origin, axis, toward, side;
} local_frame;

static local_frame frame_of(const yw_deform* deform) {
  yw_vec3 axis = yw_normalize_or(deform->axis, yw_v3(0, 1, 0));
  yw_vec3 across = yw_mad(deform->toward, -yw_dot(deform->toward, axis), axis);
  // If no usable direction is given: perpendicular to the axis, from the coordinate axis farthest
  // from it.
  if (!(yw_length(across) > 1e-6f * yw_length(deform->toward))) {
    float x = fabsf(axis.x), y = fabsf(axis.y), z = fabsf(axis.z);
    yw_vec3 e = x <= y && x <= z ? yw_v3(1, 0, 0) : y <= z ? yw_v3(0, 1, 0) : yw_v3(0, 0, 1);
    across = yw_mad(e, -yw_dot(e, axis), axis);
  }
  yw_vec3 toward = yw_normalize_or(across, yw_v3(1, 0, 0));
  return (local_frame){deform->origin, axis, toward, yw_cross(axis, toward)};
}

static local_point to_local(const local_frame* frame, yw_vec3 p) {
  yw_vec3 d = yw_sub(p, frame->origin);
  return (local_point){yw_dot(d, frame->axis), yw_dot(d, frame->toward), yw_dot(d, frame->side)};
}

static yw_vec3 to_world(const local_frame* frame, local_point p) {
  yw_vec3 d = yw_mad(yw_scale(frame->axis, p.s), p.u, frame->toward);
  return yw_add(frame->origin, yw_mad(d, p.w, frame->side));
}

// An arc of this curvature (rad/m): with the angle t = s * curvature, the point (s, u) goes to
//   s' = s sin(t)/t - u sin(t),   u' = s (1 - cos(t))/t + u cos(t).
static local_point bend_point(local_point p, float curvature) {
  float t = p.s * curvature, t2 = t * t;
  float sine = yw_sinf(t), half_sine = yw_sinf(0.5f * t);
  float along = 1.0f - t2 / 6.0f, across = 0.5f * t * (1.0f - t2 / 12.0f);
  if (fabsf(t) > 0.02f) {
    along = sine / t;
    across = 2.0f * half_sine * half_sine / t;
  }
  return (local_point){p.s * along - p.u * sine, p.s * across + p.u * yw_cosf(t), p.w};
}

static local_point deform_point(const yw_deform* deform, float length, local_point p) {
  float amount = deform->amount;
  switch (deform->kind) {
    case YW_DEFORM_TWIST: {
      float angle = amount * p.s / length, c = yw_cosf(angle), s = yw_sinf(angle);
      return (local_point){p.s, c * p.u - s * p.w, s * p.u + c * p.w};
    }
    case YW_DEFORM_BEND:
      return bend_point(p, amount / length);
    case YW_DEFORM_S_BEND: {
      // The lower half mirrors the upper half.
      float sign = p.s < 0.0f ? -1.0f : 1.0f;
      local_point half = {sign * p.s, sign * p.u, p.w};
      half = bend_point(half, 2.0f * amount / length);
      return (local_point){sign * half.s, sign * half.u, p.w};
    }
    case YW_DEFORM_SHEAR:
      return (local_point){p.s, p.u + amount * p.s, p.w};
    case YW_DEFORM_TAPER: {
      float scale = 1.0f + amount * p.s / length;
      return (local_point){p.s, scale * p.u, scale * p.w};
    }
    case YW_DEFORM_SQUASH: {
      float across = 1.0f / sqrtf(1.0f - amount);
      return (local_point){p.s * (1.0f - amount), p.u * across, p.w * across};
    }
    case YW_DEFORM_STRETCH:
      return (local_point){p.s * (1.0f + amount), p.u, p.w};
    case YW_DEFORM_SCALE: {
      float scale = 1.0f + amount;
      return (local_point){p.s * scale, p.u * scale, p.w * scale};
    }
    case YW_DEFORM_COUNT:
      break;
  }
  return p;
}

static yw_status check_amount(const yw_deform* deform, float length, float low, float high,
                              yw_error* error) {
  const char* name = yw_deform_name(deform->kind);
  double amount = (double)deform->amount;
  bool uses_length = deform->kind <= YW_DEFORM_S_BEND || deform->kind == YW_DEFORM_TAPER;
  if (uses_length && !(length > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "%s needs a length along the axis, but the points lie in one plane across it; "
                   "give a length in metres",
                   name);
  }
  if (deform->kind == YW_DEFORM_SQUASH && !(deform->amount < 1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "amount of squash is %g, but must be below 1", amount);
  }
  bool grows = deform->kind == YW_DEFORM_STRETCH || deform->kind == YW_DEFORM_SCALE;
  if (grows && !(deform->amount > -1.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "amount of %s is %g, but must be above -1", name, amount);
  }
  if (deform->kind == YW_DEFORM_TAPER) {
    double end = fmin(1.0 + amount * (double)low / (double)length,
                      1.0 + amount * (double)high / (double)length);
    if (!(end > 0.0)) {
      return yw_fail(error, YW_ERR_INVALID,
                     "amount of taper is %g, which scales one end by %g; the scale must stay "
                     "above 0",
                     amount, end);
    }
  }
  return YW_OK;
}

static yw_status check_numbers(const yw_deform* deform, int32_t count, const yw_vec3* in,
                               yw_error* error) {
  if ((unsigned)deform->kind >= YW_DEFORM_COUNT) {
    return yw_fail(error, YW_ERR_INVALID, "deformation number %d does not exist", deform->kind);
  }
  if (!yw_is_finite3(deform->axis) || !yw_is_finite3(deform->toward) ||
      !yw_is_finite3(deform->origin) || !isfinite(deform->amount)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "axis, toward, origin and amount of a %s must be finite numbers",
                   yw_deform_name(deform->kind));
  }
  if (!(yw_length(deform->axis) > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "axis of a %s is (0, 0, 0), but must have a direction",
                   yw_deform_name(deform->kind));
  }
  if (!(deform->length >= 0.0f) || !isfinite(deform->length)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "length of a %s is %g m, but must be above 0, or 0 for that of the body",
                   yw_deform_name(deform->kind), (double)deform->length);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (yw_is_finite3(in[i])) continue;
    return yw_fail(error, YW_ERR_GEOMETRY, "vertex %d to be deformed is not finite", i);
  }
  return YW_OK;
}

yw_status yw_deform_apply(const yw_deform* deform, int32_t count, const yw_vec3* in, yw_vec3* out,
                          yw_error* error) {
  yw_error_clear(error);
  if (deform == NULL || count < 0 || (count > 0 && (in == NULL || out == NULL))) {
    return yw_fail(error, YW_ERR_INVALID, "a deformation needs points to move");
  }
  yw_status status = check_numbers(deform, count, in, error);
  if (status != YW_OK) return status;

  local_frame frame = frame_of(deform);
  float low = INFINITY, high = -INFINITY;
  for (int32_t i = 0; i < count; ++i) {
    float s = to_local(&frame, in[i]).s;
    low = fminf(low, s);
    high = fmaxf(high, s);
  }
  bool nothing = count == 0 || deform->amount == 0.0f;
  float length = deform->length > 0.0f ? deform->length : high - low;
  if (!nothing) status = check_amount(deform, length, low, high, error);
  if (status != YW_OK) return status;

  for (int32_t i = 0; i < count; ++i) {
    out[i] =
        nothing ? in[i] : to_world(&frame, deform_point(deform, length, to_local(&frame, in[i])));
  }
  return YW_OK;
}
