// SPDX-License-Identifier: MIT
// yawara bench render: seconds per picture.
#include <math.h>
#include <stdio.h>

#include "bench/bench.h"
#include "console/options.h"
#include "render/trace/render.h"
#include "yawara/extend/timer.h"
#include "yawara/extend/vec.h"

// A ring of about 20,000 triangles that stands on a checker floor.
static yw_status make_ring(yw_tri_mesh* out, yw_error* error) {
  yw_shape *flat = NULL, *ring = NULL;
  // A quarter turn about x, up on the floor.
  yw_transform stand = {{0, 1.35f, 0}, {0.70710678f, 0, 0, 0.70710678f}, 1};
  yw_status status = yw_shape_torus(NULL, 1.0f, 0.35f, &flat);
  if (status >= 0) status = yw_shape_transform(NULL, flat, stand, &ring);
  if (status >= 0) status = yw_shape_surface(ring, NULL, 0.042f, out, error);
  yw_shape_release(flat);
  yw_shape_release(ring);
  return status;
}

static yw_picture make_picture(const yw_render_mesh* mesh, const yw_render_plane* floor) {
  yw_picture picture = yw_default_picture();
  yw_framing framing = yw_default_framing();
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < mesh->num_vertices; ++i) box = yw_aabb_grow(box, mesh->positions[i]);
  picture.meshes = mesh;
  picture.num_meshes = 1;
  picture.planes = floor;
  picture.num_planes = 1;
  picture.focus = box;
  picture.camera = yw_camera_frame(&framing, (float)picture.width / (float)picture.height, 1, &box);
  return picture;
}

// Seconds per picture with one thread and with many, in turn.
static yw_status measure(const bench_run* run, const yw_picture* picture, double best[2],
                         yw_error* error) {
  const int32_t threads[2] = {1, run->threads};
  yw_renderer* renderers[2] = {0};
  yw_image image = {0};
  yw_status status = YW_OK;
  for (int k = 0; k < 2 && status >= 0; ++k) {
    best[k] = INFINITY;
    status = yw_renderer_create(NULL, threads[k], &renderers[k], error);
  }
  for (int32_t r = 0; r < bench_repetitions(run, 4, 1) && status >= 0; ++r) {
    for (int k = 0; k < 2 && status >= 0; ++k) {
      double start = yw_seconds();
      status = yw_renderer_draw(renderers[k], picture, &image, error);
      best[k] = fmin(best[k], yw_seconds() - start);
    }
  }
  yw_image_free(&image);
  for (int k = 0; k < 2; ++k) {
    if (renderers[k]) yw_renderer_destroy(renderers[k]);
  }
  return status;
}

static void print(const bench_run* run, const yw_picture* picture, const double best[2]) {
  char name[64];
  snprintf(name, sizeof name, "%d x %d, %d triangles", picture->width, picture->height,
           picture->meshes[0].num_triangles);
  bench_row row = {.name = name, .threads = 1, .value = best[0], .unit = "s/frame"};
  bench_print(run, &row);
  if (run->threads == 1) return;
  row.threads = run->threads;
  row.value = best[1];
  row.against = "1 thread";
  row.ratio = best[0] / best[1];
  row.bar = BAR_AT_MOST;
  row.bar_value = 1.0;
  bench_print(run, &row);
}

int bench_render(const bench_run* run) {
  yw_error error = {0};
  if (yw_renderer_available(&error) < 0) {
    bench_note(run, "not measured: %s", error.message);
    return EXIT_DONE;
  }
  yw_tri_mesh ring = {0};
  double best[2];
  yw_status status = make_ring(&ring, &error);
  if (status >= 0) {
    yw_render_mesh mesh = yw_default_render_mesh();
    yw_render_plane floor = yw_default_render_floor(0.0f, 0.5f);
    mesh.num_vertices = ring.num_vertices;
    mesh.num_triangles = ring.num_triangles;
    mesh.positions = ring.positions;
    mesh.triangles = ring.triangles;
    mesh.color = yw_render_palette(0);
    yw_picture picture = make_picture(&mesh, &floor);
    status = measure(run, &picture, best, &error);
    if (status >= 0) print(run, &picture, best);
  }
  yw_tri_mesh_free(&ring);
  if (status >= 0) return EXIT_DONE;
  fprintf(stderr, "yawara: %s\n", error.message);
  return EXIT_FAILED;
}
