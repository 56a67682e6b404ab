// SPDX-License-Identifier: MIT
// Inner loops of the solves for cholesky_kernels.c: instances of the template
// cholesky_solve_loops.h in float and double. Lanes are the 8 rows of a row block.
#ifndef YW_MATH_SPARSE_CHOLESKY_SOLVE_LANES_H
#define YW_MATH_SPARSE_CHOLESKY_SOLVE_LANES_H

#include <string.h>

#include "math/sparse/cholesky_kernels.h"

#define SOLVE_JOIN2(a, b) a##_##b
#define SOLVE_JOIN(a, b) SOLVE_JOIN2(a, b)
#define SOLVE(name) SOLVE_JOIN(name, SOLVE_SUFFIX)

#define SOLVE_SUFFIX f64
#define SOLVE_REAL double
#if defined(__AVX512F__)
#define SOLVE_LANES 8
#elif defined(__AVX2__)
#define SOLVE_LANES 4
#else
#define SOLVE_LANES 2
#endif
#include "math/sparse/cholesky_solve_loops.h"
#undef SOLVE_SUFFIX
#undef SOLVE_REAL
#undef SOLVE_LANES

#define SOLVE_SUFFIX f32
#define SOLVE_REAL float
#if defined(__AVX2__)
#define SOLVE_LANES 8
#else
#define SOLVE_LANES 4
#endif
#include "math/sparse/cholesky_solve_loops.h"
#undef SOLVE_SUFFIX
#undef SOLVE_REAL
#undef SOLVE_LANES

#endif
