// SPDX-License-Identifier: MIT
#include "reference/elastic/beam.h"

#include <math.h>

#define PI 3.14159265358979323846

double beam_area(const beam* b) { return b->depth * b->width; }

double beam_shear_modulus(const beam* b) {
  return b->youngs_modulus / (2.0 * (1.0 + b->poissons_ratio));
}

static double second_moment(const beam* b) { return b->width * pow(b->depth, 3) / 12.0; }

double beam_bending(const beam* b) { return b->youngs_modulus * second_moment(b); }

double beam_torsion(const beam* b) {
  double a = fmax(b->depth, b->width), t = fmin(b->depth, b->width), sum = 0.0;
  for (int n = 1; n < 40; n += 2) sum += tanh(n * PI * a / (2.0 * t)) / pow(n, 5);
  double j = a * pow(t, 3) * (1.0 / 3 - 64.0 / pow(PI, 5) * t / a * sum);
  return beam_shear_modulus(b) * j;
}

double beam_cantilever(const beam* b) {
  return pow(b->length, 3) / (3.0 * beam_bending(b)) +
         1.2 * b->length / (beam_shear_modulus(b) * beam_area(b));
}

double beam_droop(const beam* b) {
  double line = b->density * beam_area(b);
  return line * (pow(b->length, 4) / (8.0 * beam_bending(b)) +
                 0.6 * pow(b->length, 2) / (beam_shear_modulus(b) * beam_area(b)));
}

beam beam_turned(const beam* b) {
  beam turned = *b;
  turned.depth = b->width;
  turned.width = b->depth;
  return turned;
}

// Frequencies -------------------------------------------------------------------------------------

// s = (deflection, angle, moment, shear force) along the beam at frequency w:
//   y' = a + Q / kGA,  a' = M / EI,  M' = -Q - rho I w^2 a,  Q' = -rho A w^2 y
static void slope(const beam* b, double w2, const double s[4], double out[4]) {
  double nu = b->poissons_ratio, shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  double area = beam_area(b);
  out[0] = s[1] + s[3] / (shear * beam_shear_modulus(b) * area);
  out[1] = s[2] / beam_bending(b);
  out[2] = -s[3] - b->density * second_moment(b) * w2 * s[1];
  out[3] = -b->density * area * w2 * s[0];
}

static void integrate(const beam* b, double w2, double s[4]) {
  enum { STEPS = 200 };
  double h = b->length / STEPS;
  for (int i = 0; i < STEPS; ++i) {
    double k[4][4], at[4];
    slope(b, w2, s, k[0]);
    for (int stage = 1; stage < 4; ++stage) {
      double reach = stage == 3 ? h : 0.5 * h;
      for (int c = 0; c < 4; ++c) at[c] = s[c] + reach * k[stage - 1][c];
      slope(b, w2, at, k[stage]);
    }
    for (int c = 0; c < 4; ++c) s[c] += h / 6.0 * (k[0][c] + 2.0 * (k[1][c] + k[2][c]) + k[3][c]);
  }
}

// Zero at a natural frequency: moment and force vanish at the far end.
static double determinant(const beam* b, double w, bool clamped) {
  double first[4] = {0}, second[4] = {0}, scale = beam_bending(b) / b->length;
  if (clamped) {
    first[2] = scale, second[3] = scale / b->length;
  } else {
    first[0] = b->length, second[1] = 1.0;
  }
  integrate(b, w * w, first);
  integrate(b, w * w, second);
  return first[2] * second[3] - first[3] * second[2];
}

double beam_bending_frequency(const beam* b, int mode, bool clamped) {
  double base = sqrt(beam_bending(b) / (b->density * beam_area(b))) / (b->length * b->length);
  double step = 0.05 * base, low = step, before = determinant(b, low, clamped);
  for (int i = 0; i < 200000; ++i) {
    double high = low + step, now = determinant(b, high, clamped);
    if (before * now <= 0.0 && --mode == 0) {
      for (int k = 0; k < 60; ++k) {
        double middle = 0.5 * (low + high), value = determinant(b, middle, clamped);
        *(before * value > 0.0 ? &low : &high) = middle;
      }
      return 0.5 * (low + high);
    }
    low = high, before = now;
    step = fmin(1.02 * step, 0.5 * base);
  }
  return (double)NAN;
}

static double wave_number(const beam* b, int mode, bool clamped) {
  return PI * (clamped ? mode - 0.5 : mode) / b->length;
}

double beam_torsion_frequency(const beam* b, int mode, bool clamped) {
  double polar = second_moment(b) + b->depth * pow(b->width, 3) / 12.0;
  return wave_number(b, mode, clamped) * sqrt(beam_torsion(b) / (b->density * polar));
}

double beam_axial_frequency(const beam* b, int mode, bool clamped) {
  return wave_number(b, mode, clamped) * sqrt(b->youngs_modulus / b->density);
}
