// SPDX-License-Identifier: MIT
// Defaults, colours and the camera: everything about a picture that needs no rays.
#include "render/trace/camera.h"

#include <string.h>

static const float DEGREE = 0.017453292519943295f;

yw_vec3 yw_render_rgb(uint32_t srgb) {
  float channel[3];
  for (int32_t k = 0; k < 3; ++k) {
    float value = (float)((srgb >> (16 - 8 * k)) & 255) / 255.0f;
    channel[k] = value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
  }
  return yw_v3(channel[0], channel[1], channel[2]);
}

yw_vec3 yw_render_palette(int32_t index) {
  static const uint32_t colors[] = {0xe4572e, 0x2e86ab, 0xf2b134, 0x3fa66b,
                                    0x9a5fb4, 0x17a6a0, 0xd9487d, 0x7a8b99};
  const int32_t count = (int32_t)(sizeof colors / sizeof colors[0]);
  return yw_render_rgb(colors[(index % count + count) % count]);
}

yw_render_mesh yw_default_render_mesh(void) {
  yw_render_mesh mesh;
  memset(&mesh, 0, sizeof mesh);
  mesh.color = yw_render_palette(0);
  mesh.checker_tone = 0.6f;
  mesh.crease = 40.0f;
  mesh.gloss = 0.5f;
  return mesh;
}

yw_render_plane yw_default_render_floor(float height, float checker) {
  return (yw_render_plane){.normal = {0, 1, 0},
                           .offset = height,
                           .color = yw_render_rgb(0xc9ced6),
                           .color2 = yw_render_rgb(0xb2b9c4),
                           .checker = checker,
                           .gloss = 0.25f};
}

yw_picture yw_default_picture(void) {
  yw_picture picture;
  memset(&picture, 0, sizeof picture);
  picture.sky = (yw_render_sky){.zenith = {0.40f, 0.47f, 0.58f},
                                .horizon = {0.50f, 0.51f, 0.53f},
                                .ground = {0.26f, 0.24f, 0.22f},
                                .backdrop_high = yw_render_rgb(0xc6d4e4),
                                .backdrop_low = yw_render_rgb(0xf7f8fa)};
  picture.sun = (yw_render_sun){
      .direction = {-0.55f, 0.74f, 0.38f}, .color = {1.45f, 1.33f, 1.15f}, .radius = 4.0f};
  picture.camera = (yw_camera){{2.0f, 1.5f, 4.0f}, {0, 0.5f, 0}, 32.0f};
  picture.focus = yw_aabb_empty();
  picture.width = 640;
  picture.height = 360;
  picture.samples = 16;
  picture.exposure = 1.0f;
  return picture;
}

yw_framing yw_default_framing(void) { return (yw_framing){28.0f, 18.0f, 32.0f, 0.08f}; }

yw_view yw_view_of(const yw_camera* camera, float aspect) {
  yw_view view;
  view.eye = camera->eye;
  view.forward = yw_normalize_or(yw_sub(camera->target, camera->eye), yw_v3(0, 0, -1));
  // When looking straight up or down, -z is up in the picture.
  yw_vec3 up = fabsf(view.forward.y) > 0.9999f ? yw_v3(0, 0, -1) : yw_v3(0, 1, 0);
  view.right = yw_normalize_or(yw_cross(view.forward, up), yw_v3(1, 0, 0));
  view.up = yw_cross(view.right, view.forward);
  view.tan_y = tanf(0.5f * yw_clampf(camera->fov, 1.0f, 170.0f) * DEGREE);
  view.tan_x = view.tan_y * aspect;
  return view;
}

bool yw_camera_project(const yw_camera* camera, int32_t width, int32_t height, yw_vec3 p, float* x,
                       float* y) {
  yw_view view = yw_view_of(camera, (float)width / (float)height);
  yw_vec3 offset = yw_sub(p, view.eye);
  float depth = yw_dot(offset, view.forward);
  if (!(depth > 0.0f)) return false;
  *x = (0.5f + 0.5f * yw_dot(offset, view.right) / (depth * view.tan_x)) * (float)width;
  *y = (0.5f - 0.5f * yw_dot(offset, view.up) / (depth * view.tan_y)) * (float)height;
  return true;
}

// The ranges of a + tan z and a - tan z over the corners determine where the eye may be: a is the
// coordinate across the picture and z the depth.
typedef struct frame_range {
  float tangent;
  float highest, lowest;  // of a - tan z, and of a + tan z
} frame_range;

static void range_add(frame_range* range, float across, float depth) {
  range->highest = fmaxf(range->highest, across - range->tangent * depth);
  range->lowest = fminf(range->lowest, across + range->tangent * depth);
}

yw_camera yw_camera_frame(const yw_framing* framing, float aspect, int32_t num_boxes,
                          const yw_aabb* boxes) {
  yw_aabb all = yw_aabb_empty();
  for (int32_t i = 0; i < num_boxes; ++i) {
    if (yw_is_finite3(boxes[i].lower) && yw_is_finite3(boxes[i].upper)) {
      all = yw_aabb_join(all, boxes[i]);
    }
  }
  if (!(all.lower.x <= all.upper.x)) all = (yw_aabb){{-1, 0, -1}, {1, 1, 1}};
  float size = yw_distance(all.lower, all.upper);
  if (!(size > 1e-6f)) all = yw_aabb_pad(all, 0.5f);

  // Rotate first, then move back just far enough: both borders of a direction touch the corners.
  float azimuth = framing->azimuth * DEGREE, elevation = framing->elevation * DEGREE;
  yw_vec3 towards_eye =
      yw_v3(cosf(elevation) * sinf(azimuth), sinf(elevation), cosf(elevation) * cosf(azimuth));
  yw_camera camera = {towards_eye, {0, 0, 0}, framing->fov};
  yw_view view = yw_view_of(&camera, aspect);
  float inside = 1.0f - 2.0f * yw_clampf(framing->margin, 0.0f, 0.45f);
  frame_range across = {view.tan_x * inside, -INFINITY, INFINITY};
  frame_range upright = {view.tan_y * inside, -INFINITY, INFINITY};
  float nearest = INFINITY, farthest = -INFINITY;
  for (int32_t corner = 0; corner < 8; ++corner) {
    yw_vec3 p =
        yw_v3(corner & 1 ? all.upper.x : all.lower.x, corner & 2 ? all.upper.y : all.lower.y,
              corner & 4 ? all.upper.z : all.lower.z);
    float depth = yw_dot(p, view.forward);
    range_add(&across, yw_dot(p, view.right), depth);
    range_add(&upright, yw_dot(p, view.up), depth);
    nearest = fminf(nearest, depth);
    farthest = fmaxf(farthest, depth);
  }
  float depth_x = (across.lowest - across.highest) / (2.0f * across.tangent);
  float depth_y = (upright.lowest - upright.highest) / (2.0f * upright.tangent);
  float depth = fminf(fminf(depth_x, depth_y), nearest - 0.02f * (farthest - nearest));
  camera.eye = yw_add(yw_scale(view.forward, depth),
                      yw_add(yw_scale(view.right, 0.5f * (across.lowest + across.highest)),
                             yw_scale(view.up, 0.5f * (upright.lowest + upright.highest))));
  camera.target = yw_mad(camera.eye, 0.5f * (nearest + farthest) - depth, view.forward);
  return camera;
}
