// SPDX-License-Identifier: MIT
// Sizes in the packed frames of core_frame.c, which says what they hold, in words of 4 bytes.
#ifndef YW_WEB_FRAME_LAYOUT_H
#define YW_WEB_FRAME_LAYOUT_H

#define HEADER_WORDS 14
#define BODY_WORDS 8
#define OBSTACLE_WORDS 10

// What the data of a body has. 0: it is not there yet.
#define PART_SURFACE 1
#define PART_PARTICLES 2
#define PART_VALUES 4
#define PART_SKIN 8

#endif
