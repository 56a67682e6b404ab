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

yw_framing yw_default_framing(void) { return (yw_framing){28.0f, 18.0f, 32.0f, 0.08f, 0.6f, 1.0f}; }

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

// Framing -----------------------------------------------------------------------------------------

static void range_clear(yw_frame_range* range) {
  range->highest = -INFINITY;
  range->lowest = INFINITY;
}

static void range_add(yw_frame_range* range, float across, float depth) {
  range->highest = fmaxf(range->highest, across - range->tangent * depth);
  range->lowest = fminf(range->lowest, across + range->tangent * depth);
}

// Depth of an eye that just has the range in view.
static float range_depth(const yw_frame_range* range) {
  return (range->lowest - range->highest) / (2.0f * range->tangent);
}

yw_framer yw_framer_start(const yw_framing* framing, float aspect) {
  float azimuth = framing->azimuth * DEGREE, elevation = framing->elevation * DEGREE;
  yw_vec3 towards_eye =
      yw_v3(cosf(elevation) * sinf(azimuth), sinf(elevation), cosf(elevation) * cosf(azimuth));
  yw_camera camera = {towards_eye, {0, 0, 0}, framing->fov};
  yw_view view = yw_view_of(&camera, aspect);
  yw_framer framer = {*framing, view.right, view.up, view.forward, .nearest = INFINITY};
  framer.farthest = -INFINITY;
  framer.depth = INFINITY;
  float inside = 1.0f - 2.0f * yw_clampf(framing->margin, 0.0f, 0.45f);
  float part = fminf(inside, yw_clampf(framing->fill, 0.05f, 1.0f));
  float tangents[2] = {view.tan_x, view.tan_y};
  for (int k = 0; k < 2; ++k) {
    framer.all[k].tangent = tangents[k] * inside;
    framer.moment[k].tangent = tangents[k] * part;
    range_clear(&framer.all[k]);
    range_clear(&framer.moment[k]);
  }
  return framer;
}

void yw_framer_add(yw_framer* framer, yw_vec3 point) {
  if (!yw_is_finite3(point)) return;
  float depth = yw_dot(point, framer->forward);
  float across[2] = {yw_dot(point, framer->right), yw_dot(point, framer->up)};
  for (int k = 0; k < 2; ++k) {
    range_add(&framer->all[k], across[k], depth);
    range_add(&framer->moment[k], across[k], depth);
  }
  framer->nearest = fminf(framer->nearest, depth);
  framer->farthest = fmaxf(framer->farthest, depth);
  framer->any = true;
}

void yw_framer_end_moment(yw_framer* framer) {
  for (int k = 0; k < 2; ++k) {
    if (framer->moment[k].highest > -INFINITY) {
      framer->depth = fminf(framer->depth, range_depth(&framer->moment[k]));
    }
    range_clear(&framer->moment[k]);
  }
}

yw_camera yw_framer_camera(const yw_framer* framer) {
  yw_framer f = *framer;
  float size = fmaxf(f.farthest - f.nearest, 0.0f);
  for (int k = 0; k < 2 && f.any; ++k) {
    size = fmaxf(size,
                 f.all[k].highest - f.all[k].lowest + f.all[k].tangent * (f.farthest + f.nearest));
  }
  // Nothing, or a point: as if a metre were to be seen.
  if (!f.any || !(size > 1e-6f)) {
    yw_vec3 at = yw_v3(0, 0.5f, 0);
    if (f.any) {
      float middle[2];
      for (int k = 0; k < 2; ++k) middle[k] = 0.5f * (f.all[k].highest + f.all[k].lowest);
      at = yw_add(yw_scale(f.forward, f.nearest),
                  yw_add(yw_scale(f.right, middle[0]), yw_scale(f.up, middle[1])));
    }
    for (int corner = 0; corner < 8; ++corner) {
      yw_vec3 d =
          yw_v3(corner & 1 ? 0.5f : -0.5f, corner & 2 ? 0.5f : -0.5f, corner & 4 ? 0.5f : -0.5f);
      yw_framer_add(&f, yw_add(at, d));
    }
  }
  float depth = fminf(fminf(range_depth(&f.all[0]), range_depth(&f.all[1])), f.depth);
  depth = fminf(depth, f.nearest - 0.02f * (f.farthest - f.nearest));
  float middle = 0.5f * (f.nearest + f.farthest);
  depth = middle - (middle - depth) / fmaxf(f.framing.zoom, 1e-3f);
  yw_vec3 eye = yw_add(yw_scale(f.right, 0.5f * (f.all[0].lowest + f.all[0].highest)),
                       yw_scale(f.up, 0.5f * (f.all[1].lowest + f.all[1].highest)));
  yw_camera camera = {.eye = yw_mad(eye, depth, f.forward), .fov = f.framing.fov};
  camera.target = yw_mad(camera.eye, middle - depth, f.forward);
  return camera;
}

yw_camera yw_camera_frame(const yw_framing* framing, float aspect, int32_t num_boxes,
                          const yw_aabb* boxes) {
  yw_framer framer = yw_framer_start(framing, aspect);
  for (int32_t i = 0; i < num_boxes; ++i) {
    const yw_aabb* box = &boxes[i];
    if (!yw_is_finite3(box->lower) || !yw_is_finite3(box->upper)) continue;
    for (int32_t corner = 0; corner < 8 && box->lower.x <= box->upper.x; ++corner) {
      yw_framer_add(&framer, yw_v3(corner & 1 ? box->upper.x : box->lower.x,
                                   corner & 2 ? box->upper.y : box->lower.y,
                                   corner & 4 ? box->upper.z : box->lower.z));
    }
  }
  return yw_framer_camera(&framer);
}
