// SPDX-License-Identifier: MIT
// Ray-traced pictures of triangle meshes and balls: soft sun, sky light with one bounce, checker
// floors. A picture depends only on its description, not on the number of threads, and a part of it
// that does not move has the same pixels in every frame.
#ifndef YW_APP_RENDER_TRACE_RENDER_H
#define YW_APP_RENDER_TRACE_RENDER_H

#include "render/output/image.h"
#include "yawara/base.h"
#include "yawara/scene.h"

/// One surface. Arrays belong to the caller and are read during the draw only.
typedef struct yw_render_mesh {
  int32_t num_vertices;
  int32_t num_triangles;
  const yw_vec3* positions;  ///< num_vertices, m
  const int32_t* triangles;  ///< 3 * num_triangles, counter-clockwise from outside
  const float* radii;        ///< num_vertices, m, or NULL. With radii it is a cloud of balls around
                             ///< the positions; triangles, creases and checkers are ignored
  const yw_vec3* rest;       ///< undeformed positions, or NULL: positions. Used for creases and
                             ///< checkers, so that they stick to the body and do not flicker
  const yw_vec3* rest_normals;  ///< 3 per triangle at rest, or NULL: from creases. They turn with
                                ///< the surface
  const yw_vec3* colors;        ///< num_vertices, linear RGB, or NULL: color
  yw_vec3 color;                ///< linear RGB, 0 to 1
  float checker;                ///< side of the checker squares, m; 0: none
  float checker_tone;           ///< brightness of every other square; default 0.6
  float crease;     ///< edges that turn by more stay sharp, degrees; 0: flat faces, 180: all smooth
  float wireframe;  ///< width of the lines along edges, pixels; 0: none
  float gloss;      ///< 0 chalk, 0.5 rubber, 1 wet jelly
} yw_render_mesh;

/// A half space with normal . p <= offset, seen from outside only. Planes cast no shadow.
typedef struct yw_render_plane {
  yw_vec3 normal;  ///< need not have length 1
  float offset;
  yw_vec3 color, color2;  ///< linear RGB; color2 is that of the other squares
  float checker;          ///< side of the squares, m; 0: none
  float gloss;            ///< 0 to 1
} yw_render_plane;

/// Light from all directions; gradients follow the height of the direction.
typedef struct yw_render_sky {
  yw_vec3 zenith, horizon, ground;      ///< incoming light, linear RGB
  yw_vec3 backdrop_high, backdrop_low;  ///< colours behind everything, as displayed
} yw_render_sky;

typedef struct yw_render_sun {
  yw_vec3 direction;  ///< towards the sun, any length
  yw_vec3 color;      ///< irradiance, linear RGB
  float radius;       ///< of its disc, degrees; larger is softer
} yw_render_sun;

typedef struct yw_picture {
  int32_t num_meshes;
  const yw_render_mesh* meshes;
  int32_t num_planes;  ///< at most YW_RENDER_MAX_PLANES
  const yw_render_plane* planes;
  yw_render_sky sky;
  yw_render_sun sun;
  yw_camera camera;
  yw_aabb focus;  ///< planes fade into the backdrop around this box; empty: no fading
  int32_t width, height;
  int32_t samples;  ///< per pixel, rounded up to a multiple of 16; default 16
  float exposure;   ///< brightness, default 1
  bool no_filter;   ///< keep the sampling noise
} yw_picture;

#define YW_RENDER_MAX_PLANES 8

yw_render_mesh yw_default_render_mesh(void);
/// A floor y = height with squares of the given side.
yw_render_plane yw_default_render_floor(float height, float checker);
/// 640 x 360, a studio with a light backdrop.
yw_picture yw_default_picture(void);
/// Matching colours for bodies without one of their own; index wraps around.
yw_vec3 yw_render_palette(int32_t index);
/// Linear RGB of a colour given as 0xRRGGBB.
yw_vec3 yw_render_rgb(uint32_t srgb);

/// How an automatic camera looks: from `azimuth` degrees to the right of the front (+z) and
/// `elevation` degrees above, as close as a margin (fraction of the picture) allows.
typedef struct yw_framing {
  float azimuth, elevation;  ///< degrees; default 28 and 18
  float fov;                 ///< vertical, degrees; default 32
  float margin;              ///< 0 to 0.45; default 0.08
  float fill;  ///< most of the picture's height and width that one moment may fill; default 0.6
  float zoom;  ///< 2 shows everything twice as large; default 1
} yw_framing;
yw_framing yw_default_framing(void);

/// Where the eye may be, as bounds: both borders of a direction touch the outermost points.
typedef struct yw_frame_range {
  float tangent;
  float highest, lowest;  ///< of a - tangent z, and of a + tangent z; a: across, z: depth
} yw_frame_range;

/// Collects points that a camera must see, moment by moment of a movie, without keeping them.
typedef struct yw_framer {
  yw_framing framing;
  yw_vec3 right, up, forward;
  yw_frame_range all[2], moment[2];  ///< across and upright
  float nearest, farthest;
  float depth;  ///< of the eye, far enough for every moment so far
  bool any;
} yw_framer;
yw_framer yw_framer_start(const yw_framing* framing, float aspect);
void yw_framer_add(yw_framer* framer, yw_vec3 point);
/// The points added since the last call are one moment, which fills only a part of the picture.
void yw_framer_end_moment(yw_framer* framer);
/// The nearest camera that has all points in view.
yw_camera yw_framer_camera(const yw_framer* framer);
/// Camera that has all boxes in view.
yw_camera yw_camera_frame(const yw_framing* framing, float aspect, int32_t num_boxes,
                          const yw_aabb* boxes);
/// Where a point appears, in pixels from the top left; false if it is behind the camera.
bool yw_camera_project(const yw_camera* camera, int32_t width, int32_t height, yw_vec3 p, float* x,
                       float* y);

typedef struct yw_renderer yw_renderer;

/// Checks that the program was built with the ray tracer; if not, error says what to install.
yw_status yw_renderer_available(yw_error* error);
/// Keep one for all frames of a movie. threads 0: one per core.
yw_status yw_renderer_create(const yw_allocator* mem, int32_t threads, yw_renderer** out,
                             yw_error* error);
void yw_renderer_destroy(yw_renderer* renderer);
/// Draws into out, which is created, or reused if it has the right size. On error out is unchanged.
yw_status yw_renderer_draw(yw_renderer* renderer, const yw_picture* picture, yw_image* out,
                           yw_error* error);

/// What is visible at a point of the picture.
typedef struct yw_render_hit {
  int32_t mesh;      ///< -1: none
  int32_t triangle;  ///< of the mesh; or index of a ball
  int32_t plane;     ///< -1: none
  yw_vec3 position, normal;
  float distance;  ///< from the eye, m; infinite for the backdrop
} yw_render_hit;
/// x and y in pixels from the top left; the centre of the first pixel is (0.5, 0.5).
yw_status yw_renderer_pick(yw_renderer* renderer, const yw_picture* picture, float x, float y,
                           yw_render_hit* out, yw_error* error);

#endif
