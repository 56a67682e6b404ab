// SPDX-License-Identifier: MIT
#include "methods/kit/moduli.h"

#include <math.h>
#include <stdio.h>

#include "yawara/extend/error.h"

// A name for messages: "rod: youngs_modulus" or "rod: youngs_modulus_field[3]".
typedef struct label {
  char text[80];
} label;

static label label_of(const char* what, const char* name, int32_t v) {
  label out;
  if (v < 0) {
    snprintf(out.text, sizeof out.text, "%s%s", what, name);
  } else {
    snprintf(out.text, sizeof out.text, "%s%s_field[%d]", what, name, v);
  }
  return out;
}

static yw_status check_positive(const char* what, const char* name, int32_t v, float value,
                                yw_error* error) {
  if (value > 0.0f && isfinite(value)) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID, "%s is %g, but must be finite and above 0",
                 label_of(what, name, v).text, (double)value);
}

static yw_status check_ratio(const char* what, const char* name, int32_t v, float value,
                             yw_error* error) {
  if (value >= 0.0f && value < 0.5f) return YW_OK;
  return yw_fail(error, YW_ERR_INVALID,
                 "%s is %g, but must be at least 0 and below 0.5 (0.49 is nearly incompressible)",
                 label_of(what, name, v).text, (double)value);
}

yw_status yw_moduli_check(const yw_moduli* m, const char* what, yw_error* error) {
  yw_status status = check_positive(what, "density", -1, m->density, error);
  if (status >= 0 && !m->youngs_field) {
    status = check_positive(what, "youngs_modulus", -1, m->youngs, error);
  }
  if (status >= 0 && !m->poisson_field) {
    status = check_ratio(what, "poissons_ratio", -1, m->poisson, error);
  }
  for (int32_t v = 0; v < m->count && m->youngs_field && status >= 0; ++v) {
    status = check_positive(what, "youngs_modulus", v, m->youngs_field[v], error);
  }
  for (int32_t v = 0; v < m->count && m->poisson_field && status >= 0; ++v) {
    status = check_ratio(what, "poissons_ratio", v, m->poisson_field[v], error);
  }
  return status;
}
