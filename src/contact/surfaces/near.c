// SPDX-License-Identifier: MIT
#include "contact/surfaces/near.h"

extern const yw_near_fns yw_near_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_near_fns yw_near_table_avx2, yw_near_table_avx512;
#endif

const yw_near_fns* yw_near_fns_of(yw_simd level) { return YW_KERNEL_PICK(yw_near_table, level); }

const yw_near_fns* yw_near_narrow(const yw_near_fns* fns, int32_t count) {
#ifdef YW_HAVE_X86_KERNELS
  if (fns == &yw_near_table_avx512 && count <= 8) fns = &yw_near_table_avx2;
  if (fns == &yw_near_table_avx2 && count <= 4) fns = &yw_near_table_plain;
#endif
  (void)count;
  return fns;
}
