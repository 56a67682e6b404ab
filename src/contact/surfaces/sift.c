// SPDX-License-Identifier: MIT
#include "contact/surfaces/sift.h"

extern const yw_sift_fns yw_sift_table_plain;
#ifdef YW_HAVE_X86_KERNELS
extern const yw_sift_fns yw_sift_table_avx2, yw_sift_table_avx512;
#endif

const yw_sift_fns* yw_sift_fns_of(yw_simd level) { return YW_KERNEL_PICK(yw_sift_table, level); }

// With registers that are no wider than so many lanes need.
static const yw_sift_fns* narrow(const yw_sift_fns* fns, int32_t count) {
#ifdef YW_HAVE_X86_KERNELS
  if (fns == &yw_sift_table_avx512 && count <= 8) fns = &yw_sift_table_avx2;
  if (fns == &yw_sift_table_avx2 && count <= 4) fns = &yw_sift_table_plain;
#endif
  (void)count;
  return fns;
}

void yw_sift_begin(yw_sift* s, const yw_contact_work* const works[2], yw_pair_kind kind,
                   float fall) {
  const yw_contact_work *a = works[0], *b = works[1];
  s->skin = yw_touch_skin(a, b);
  s->band = yw_contact_band(s->skin, fall);
  s->is_volume = kind == YW_VERTEX_TRIANGLE && b->complex->is_volume;
  s->thick = a->body->geometry.radius || b->body->geometry.radius;
  s->rest = a == b ? a->complex->rest : NULL;
  s->complex = a->complex;
  for (int side = 0; side < 2; ++side) {
    s->found_by[side] = works[1 - side]->complex->num_triangles > 0;
  }
}

// Corners opposite to the edges of a pair.
static void fill_thirds(yw_sift* s, const yw_contact_work* const works[2], const int32_t pair[2],
                        int32_t lane) {
  for (int k = 0; k < 4; ++k) {
    const yw_contact_work* work = works[k / 2];
    int32_t third = work->complex->edge_thirds[pair[k / 2]][k % 2];
    s->thirds[k][lane] = third < 0 ? 0 : third;
    s->has_third[k][lane] = third < 0 ? 0.0f : 1.0f;
  }
}

void yw_sift_lanes(yw_sift* s, const yw_contact_work* const works[2], const int32_t (*pairs)[2],
                   const yw_near_lanes* lanes, uint32_t near, const yw_sift_fns* fns) {
  int split = yw_pair_split(lanes->kind);
  for (int32_t i = 0; i < yw_near_width(lanes->count); ++i) {
    // Lanes beyond the last are like the first.
    int32_t at = i < lanes->count ? i : 0;
    if (lanes->kind == YW_EDGE_EDGE) fill_thirds(s, works, pairs[at], i);
    for (int k = 0; k < 4 && s->thick; ++k) {
      s->radii[k][i] = yw_touch_radius(works[k < split ? 0 : 1], lanes->corners[k][at]);
    }
  }
  narrow(fns, lanes->count)->sift(lanes, near, s);
}

void yw_sift_append_contact(const yw_sift* s, const int32_t body[2], const yw_near_lanes* lanes,
                            int32_t lane, yw_contact_list* list) {
  int32_t at = list->num_contacts++;
  if (at >= list->contact_capacity) return;
  int split = yw_pair_split(lanes->kind);
  yw_contact* contact = &list->contacts[at];
  *contact =
      (yw_contact){.body = {body[0], body[1]},
                   .count = {split, 4 - split},
                   .normal = yw_v3(s->normal[0][lane], s->normal[1][lane], s->normal[2][lane]),
                   .distance = s->distance[lane],
                   .gap_before = s->gap_before[lane],
                   .slop = YW_TOUCH_SLOP * s->skin};
  for (int k = 0; k < 4; ++k) {
    int side = k < split ? 0 : 1, slot = side ? k - split : k;
    contact->particles[side][slot] = lanes->corners[k][lane];
    contact->weights[side][slot] = s->weights[k][lane];
  }
}

void yw_sift_append_spare(const yw_sift* s, const yw_near_lanes* lanes, int32_t lane,
                          yw_contact_list* list) {
  int32_t at = list->num_spares++;
  if (at >= list->spare_capacity) return;
  yw_contact_spare* spare = &list->spares[at];
  *spare = (yw_contact_spare){
      .shares = {s->weights[1][lane], s->weights[3][lane]},
      .normal = yw_v3(s->normal[0][lane], s->normal[1][lane], s->normal[2][lane]),
      .distance = s->distance[lane],
      .gap_before = s->gap_before[lane]};
  for (int k = 0; k < 4; ++k) spare->corners[k] = lanes->corners[k][lane];
}
