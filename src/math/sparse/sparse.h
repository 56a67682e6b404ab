// SPDX-License-Identifier: MIT
// Sparse symmetric matrices in compressed rows. Both triangles are stored, so that a product only
// gathers and rows can be divided among threads.
#ifndef YW_MATH_SPARSE_SPARSE_H
#define YW_MATH_SPARSE_SPARSE_H

#include "yawara/base.h"
#include "yawara/extend/tasks.h"

/// Entries of row i are start[i] .. start[i + 1] - 1; columns ascend within a row.
typedef struct yw_sparse {
  yw_allocator mem;
  int32_t size;
  int32_t* start;    ///< size + 1
  int32_t* columns;  ///< start[size]
  double* values;    ///< start[size]
} yw_sparse;

/// What triplets describe.
typedef enum yw_triplets {
  YW_TRIPLETS_BOTH,  ///< both triangles; must be symmetric to 1e-10 of the diagonal
  YW_TRIPLETS_HALF   ///< (i, j) also stands for (j, i); either triangle
} yw_triplets;

/// Sums entries at equal positions in the given order. Refuses positions outside the matrix,
/// non-finite values and asymmetry. On failure out is zeroed.
yw_status yw_sparse_from_triplets(const yw_allocator* mem, int32_t size, int32_t count,
                                  const int32_t* rows, const int32_t* columns, const double* values,
                                  yw_triplets kind, yw_sparse* out, yw_error* error);

/// Checks for rows in range and ascending, a symmetric pattern, and finite, symmetric values (to
/// 1e-10 of the diagonal). The error names the first bad entry. mem is for scratch.
yw_status yw_sparse_check(const yw_allocator* mem, const yw_sparse* matrix, yw_error* error);
/// Frees the arrays and zeroes the struct; safe on a zeroed struct.
void yw_sparse_free(yw_sparse* matrix);

/// y = A x for `columns` vectors at once: component c of entry i is x[i * stride + c]. tasks may be
/// NULL. x and y must not overlap.
void yw_sparse_multiply(const yw_sparse* matrix, yw_tasks* tasks, int32_t columns, int32_t stride,
                        const double* x, double* y);

/// Assembly plan for element matrices: `corners` nodes per element, `block` unknowns per node
/// (unknown k of node i is row i * block + k). Values are gathered row by row in ascending element
/// order, so threads never write to the same entry and the bits never change.
typedef struct yw_assembly {
  yw_allocator mem;
  int32_t num_nodes, num_elements, corners, block;
  int32_t* around_start;  ///< num_nodes + 1
  int32_t* around;        ///< corners * num_elements: corners * element + corner, ascending by node
  int32_t* slots;         ///< corners^2 * num_elements: position of a node pair in its node's row
} yw_assembly;

/// Creates the pattern (values zero) and the plan for yw_assembly_sum. nodes has corners *
/// num_elements entries. A node of no element gets an empty row. Refuses nodes out of range or
/// repeated within an element. On failure both are zeroed.
yw_status yw_assembly_create(const yw_allocator* mem, int32_t num_nodes, int32_t block,
                             int32_t num_elements, int32_t corners, const int32_t* nodes,
                             yw_assembly* out, yw_sparse* out_matrix, yw_error* error);
void yw_assembly_free(yw_assembly* assembly);
/// matrix = sum of element matrices: (corners * block)^2 doubles each, row-major.
void yw_assembly_sum(const yw_assembly* assembly, yw_tasks* tasks, const double* elements,
                     yw_sparse* matrix);

#endif
