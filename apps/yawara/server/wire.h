// SPDX-License-Identifier: MIT
// What goes to viewers in binary form, little-endian. web/src/wire.ts reads it.
#ifndef YW_APP_SERVER_WIRE_H
#define YW_APP_SERVER_WIRE_H

#include "text.h"
#include "yawara/base.h"

// The first number of a binary message says what it is.
#define WIRE_OPENED 1  // u32 length of a JSON text, the text, zeros up to 4 bytes, its arrays
#define WIRE_FRAME 2   // see wire_make_frame
// i32 body, i32 examples; for each i32 words, then 3 f positions and 3 f normals per vertex
#define WIRE_EXAMPLES 3
// i32 body, i32 length of a JSON text (the checks), the text, zeros up to 4 bytes, 3 f per vertex
#define WIRE_POSE 4
#define WIRE_POSE_STATE 5  // numbers, see poser_save
#define WIRE_PAINTED 6     // a byte per vertex

/// Makes `out` a frame as packed by core_take_frame, in fewer bytes: everything in front of the
/// bodies' data as it is, except counts of balls, then for each body, starting at a multiple of 4
/// bytes,
///   positions  3 f low corner, 3 f step; 3 u16 each: position = low + step * number
///   normals    of surfaces and skins: 2 i8 each, the unit octahedron unfolded into a square
///   radii      of particles: f low, f step; u16 each
///   owners     of skins: i bytes of a number, 2 or 4; a number each
///   triangles  of skins: as owners, 3 numbers each
///   values     with a field: f low, f step; u16 each, 65535: not a number
///   cut        positions and values of its corners
/// then positions and normals of obstacles that deform, contacts and axes as they are, and
/// positions of slaves. Each part ends at a multiple of 4 bytes. Positions are exact to 1/131068 of
/// the body's box. Of bodies with many balls those that others hide are left out, unless `whole`
/// (one per body) is set.
void wire_make_frame(text* out, const float* words, size_t num_words, const bool* whole);

#endif
