// SPDX-License-Identifier: MIT
// Colour map, and the bar that explains it.
#ifndef YW_APP_RENDER_DRAW_COLORMAP_H
#define YW_APP_RENDER_DRAW_COLORMAP_H

#include "render/output/image.h"
#include "yawara/mesh.h"

/// Linear RGB for t in 0 to 1 (clamped; NaN: grey): violet, blue, green, yellow. Perceptually
/// uniform, and lighter always means more.
yw_vec3 yw_colormap(float t);
/// Draws a vertical bar with the colours, numbers at its ends and middle, and the title above, at
/// the right of the picture. Omitted without librsvg.
yw_status yw_draw_colorbar(yw_image* image, const char* title, double low, double high,
                           yw_error* error);

#endif
