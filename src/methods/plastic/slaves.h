// SPDX-License-Identifier: MIT
// Rules for new slaves (slaves.c), for one rank and for several (ranks_slaves.c).
#ifndef YW_METHODS_PLASTIC_SLAVES_H
#define YW_METHODS_PLASTIC_SLAVES_H

#include "methods/plastic/body.h"

/// True if masters that were adjacent have parted.
bool yw_plastic_have_parted(const plastic_body* body, yw_vec4 a, yw_vec4 b);
yw_vec4 yw_plastic_middle(yw_vec4 a, yw_vec4 b);
/// The slave of master m that is nearest to p; w: its distance, squared; infinite: there is none.
yw_vec4 yw_plastic_nearest(const plastic_body* body, int32_t m, yw_vec4 p);
/// Of the slaves nearest to the middle on both sides, the one between the two masters.
yw_vec4 yw_plastic_nearer(yw_vec4 at_a, yw_vec4 at_b, yw_vec4 middle);
/// True if a slave is to be added on a side (0: a) of the slave between two masters.
bool yw_plastic_is_due(const plastic_body* body, yw_vec4 a, yw_vec4 b, yw_vec4 from, int side);
/// Offers a slave on the way to a master that parted (23), unless there are enough. False: out of
/// memory.
bool yw_plastic_offer_beside(plastic_body* body, const yw_particles* particles, int32_t m,
                             yw_vec4 from, int64_t key);
/// Adds a slave that was offered, unless it is for repair and another new one is near. False: out
/// of memory.
bool yw_plastic_consider(plastic_body* body, int64_t key, yw_vec4 p, bool* added);

#endif
