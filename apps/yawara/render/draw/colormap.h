// SPDX-License-Identifier: MIT
// Colours for numbers, and the bar that explains them.
#ifndef YW_APP_RENDER_DRAW_COLORMAP_H
#define YW_APP_RENDER_DRAW_COLORMAP_H

#include "render/output/image.h"
#include "yawara/mesh.h"

/// Linear RGB of t in 0 to 1 (beyond: the ends; NaN: grey): violet, blue, green, yellow. Equal
/// steps of t look equally far apart, and lighter is always more.
yw_vec3 yw_colormap(float t);
/// A vertical bar with the colours, the numbers at its ends and middle, and the title above, at the
/// right of the picture. Without librsvg it is left out.
yw_status yw_draw_colorbar(yw_image* image, const char* title, double low, double high,
                           yw_error* error);

#endif
