// SPDX-License-Identifier: MIT
// Preconditioned conjugate gradients (Hestenes, Stiefel 1952) for A x = b, where A is symmetric
// positive definite and known only by what it does to a vector. Vectors are plain floats (yw_vec4
// arrays too: padding must be 0 and stay 0); sums are double, over fixed blocks, so that results do
// not depend on the number of threads.
#ifndef YW_MATH_SPARSE_CONJUGATE_H
#define YW_MATH_SPARSE_CONJUGATE_H

#include "yawara/base.h"
#include "yawara/extend/tasks.h"

typedef struct yw_conjugate yw_conjugate;

/// out = operator(in); in and out do not overlap, 64-byte aligned.
typedef void (*yw_conjugate_apply)(void* context, yw_tasks* tasks, const float* in, float* out);

typedef struct yw_conjugate_system {
  yw_conjugate_apply multiply;      ///< A
  yw_conjugate_apply precondition;  ///< near A^-1, symmetric positive definite; NULL: none
  void* context;
} yw_conjugate_system;

typedef struct yw_conjugate_limits {
  double tolerance;        ///< of |b - A x| / |b|; default 1e-4
  int32_t max_iterations;  ///< default 200
  int32_t patience;        ///< iterations without a smaller residual before giving up; default 30
} yw_conjugate_limits;
/// Defaults as above.
yw_conjugate_limits yw_conjugate_default_limits(void);

typedef enum yw_conjugate_end {
  YW_CONJUGATE_CONVERGED,
  YW_CONJUGATE_LIMIT,       ///< max_iterations reached
  YW_CONJUGATE_STALLED,     ///< the residual does not fall any more
  YW_CONJUGATE_INDEFINITE,  ///< p^T A p <= 0: A, or the preconditioner, is not positive definite
  YW_CONJUGATE_NOT_FINITE   ///< a NaN or infinity came up
} yw_conjugate_end;

/// Whatever the end, x is the best iterate found; never worse than the start, never NaN.
typedef struct yw_conjugate_report {
  yw_conjugate_end end;
  int32_t iterations;     ///< products with A after the first residual
  double residual;        ///< |b - A x| / |b| of x as CG carries it along
  double start_residual;  ///< the same of the start
} yw_conjugate_report;

/// Room for vectors of count floats. NULL when memory is out.
yw_conjugate* yw_conjugate_create(const yw_allocator* mem, int32_t count);
void yw_conjugate_destroy(yw_conjugate* solver);

/// x holds the start and receives the result. Makes no heap call. b = 0 gives x = 0.
yw_conjugate_report yw_conjugate_solve(yw_conjugate* solver, yw_tasks* tasks,
                                       const yw_conjugate_system* system,
                                       const yw_conjugate_limits* limits, const float* b, float* x);

/// Sum of a_i b_i in double, in blocks of fixed size: the same for any number of threads. partial
/// has yw_block_dot_partials(count) entries.
double yw_block_dot(yw_tasks* tasks, int32_t count, const float* a, const float* b,
                    double* partial);
int32_t yw_block_dot_partials(int32_t count);

#endif
