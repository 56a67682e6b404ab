// SPDX-License-Identifier: MIT
// Checks a picture, builds the scene for Embree and runs the tracer over tiles.
#include <string.h>

#include "render/trace/film.h"
#include "render/trace/normals.h"
#include "render/trace/tracer.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/tasks.h"

#ifndef YW_HAVE_EMBREE

yw_status yw_renderer_available(yw_error* error) {
  return yw_fail(
      error, YW_ERR_INVALID,
      "this build of yawara cannot draw pictures: it was built without Embree 3. Install "
      "it (Debian: apt-get install libembree-dev) and build again");
}

yw_status yw_renderer_create(const yw_allocator* mem, int32_t threads, yw_renderer** out,
                             yw_error* error) {
  (void)mem, (void)threads;
  *out = NULL;
  return yw_renderer_available(error);
}

void yw_renderer_destroy(yw_renderer* renderer) { (void)renderer; }

yw_status yw_renderer_draw(yw_renderer* renderer, const yw_picture* picture, yw_image* out,
                           yw_error* error) {
  (void)renderer, (void)picture, (void)out;
  return yw_renderer_available(error);
}

yw_status yw_renderer_pick(yw_renderer* renderer, const yw_picture* picture, float x, float y,
                           yw_render_hit* out, yw_error* error) {
  (void)renderer, (void)picture, (void)x, (void)y, (void)out;
  return yw_renderer_available(error);
}

#else

#define TILE 16
#define MAX_PIXELS (1 << 26)  // 5 GB of film

struct yw_renderer {
  yw_allocator mem;
  yw_tasks* tasks;
  RTCDevice device;
  yw_sampler sampler;
  yw_film film;
};

yw_status yw_renderer_available(yw_error* error) {
  yw_error_clear(error);
  return YW_OK;
}

yw_status yw_renderer_create(const yw_allocator* mem, int32_t threads, yw_renderer** out,
                             yw_error* error) {
  *out = NULL;
  yw_renderer* renderer = YW_NEW(mem, yw_renderer);
  if (!renderer) return yw_fail_memory(error, "a renderer");
  renderer->mem = renderer->film.mem = yw_mem_or_default(mem);

  // Embree gets a single thread: which of two surfaces at the same distance is hit must not depend
  // on how the tree construction was parallelised.
  renderer->device = rtcNewDevice("threads=1,set_affinity=0");
  renderer->tasks = yw_tasks_create(mem, threads);
  yw_status status = YW_OK;
  if (!renderer->device) {
    status = yw_fail(error, YW_ERR_MEMORY, "Embree cannot start (error %d)",
                     (int)rtcGetDeviceError(NULL));
  } else if (!renderer->tasks) {
    status = yw_fail_memory(error, "the threads of the renderer");
  } else {
    status = yw_sampler_init(mem, &renderer->sampler, error);
  }
  if (status < 0) {
    yw_renderer_destroy(renderer);
    return status;
  }
  *out = renderer;
  return YW_OK;
}

void yw_renderer_destroy(yw_renderer* renderer) {
  if (!renderer) return;
  if (renderer->device) rtcReleaseDevice(renderer->device);
  yw_tasks_destroy(renderer->tasks);
  yw_sampler_free(&renderer->sampler);
  yw_film_free(&renderer->film);
  yw_allocator mem = renderer->mem;
  yw_mem_free(&mem, renderer);
}

static yw_status check_mesh(const yw_render_mesh* mesh, int32_t index, yw_error* error) {
  if (mesh->num_vertices < 0 || mesh->num_triangles < 0 || (mesh->radii && !mesh->positions) ||
      (mesh->num_triangles > 0 && (!mesh->positions || !mesh->triangles))) {
    return yw_fail(error, YW_ERR_INVALID, "mesh %d of the picture has no positions or triangles",
                   index);
  }
  for (int32_t i = 0; i < mesh->num_vertices; ++i) {
    if (!yw_is_finite3(mesh->positions[i])) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "mesh %d of the picture: position of vertex %d is (%g, %g, %g), but must be "
                     "finite",
                     index, i, (double)mesh->positions[i].x, (double)mesh->positions[i].y,
                     (double)mesh->positions[i].z);
    }
  }
  for (int32_t i = 0; mesh->radii && i < mesh->num_vertices; ++i) {
    if (!(mesh->radii[i] >= 0.0f) || !isfinite(mesh->radii[i])) {
      return yw_fail(error, YW_ERR_GEOMETRY,
                     "mesh %d of the picture: radius of ball %d is %g, but must be 0 or more",
                     index, i, (double)mesh->radii[i]);
    }
  }
  for (int32_t i = 0; !mesh->radii && i < 3 * mesh->num_triangles; ++i) {
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->num_vertices) {
      return yw_fail(error, YW_ERR_INVALID,
                     "mesh %d of the picture: triangle %d has vertex %d, but there are %d", index,
                     i / 3, mesh->triangles[i], mesh->num_vertices);
    }
  }
  return YW_OK;
}

static yw_status check_picture(const yw_picture* picture, yw_error* error) {
  if (picture->width < 1 || picture->height < 1 || picture->width > YW_IMAGE_MAX_SIDE ||
      picture->height > YW_IMAGE_MAX_SIDE) {
    return yw_fail(error, YW_ERR_INVALID,
                   "size of the picture is %d x %d, but each side must be between 1 and %d",
                   picture->width, picture->height, YW_IMAGE_MAX_SIDE);
  }
  if ((int64_t)picture->width * picture->height > MAX_PIXELS) {
    return yw_fail(error, YW_ERR_LIMIT,
                   "the picture has %d x %d pixels, but at most %d can be drawn", picture->width,
                   picture->height, MAX_PIXELS);
  }
  if (picture->samples < 1 || picture->samples > 65536) {
    return yw_fail(error, YW_ERR_INVALID,
                   "samples per pixel are %d, but must be between 1 and 65536", picture->samples);
  }
  if (picture->num_planes < 0 || picture->num_planes > YW_RENDER_MAX_PLANES) {
    return yw_fail(error, YW_ERR_LIMIT, "the picture has %d planes, but at most %d can be drawn",
                   picture->num_planes, YW_RENDER_MAX_PLANES);
  }
  const yw_camera* camera = &picture->camera;
  if (!yw_is_finite3(camera->eye) || !yw_is_finite3(camera->target) ||
      !(yw_distance(camera->eye, camera->target) > 0.0f)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the camera's eye and target must be finite and different points");
  }
  if (!(camera->fov > 0.0f) || !(camera->fov < 180.0f)) {
    return yw_fail(error, YW_ERR_INVALID, "the camera's fov is %g, but must be between 0 and 180",
                   (double)camera->fov);
  }
  if (!(yw_length2(picture->sun.direction) > 0.0f) || !yw_is_finite3(picture->sun.direction)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "the direction of the sun must be a finite vector, not 0");
  }
  for (int32_t i = 0; i < picture->num_meshes; ++i) {
    yw_status status = check_mesh(&picture->meshes[i], i, error);
    if (status < 0) return status;
  }
  return YW_OK;
}

// Two unit vectors that form a right-handed basis with n; for a floor they are x and -z.
static void make_axes(yw_vec3 n, yw_vec3* across, yw_vec3* along) {
  yw_vec3 helper = fabsf(n.x) < 0.9f ? yw_v3(1, 0, 0) : yw_v3(0, 0, 1);
  *across = yw_normalize_or(yw_mad(helper, -yw_dot(helper, n), n), helper);
  *along = yw_cross(n, *across);
}

static yw_aabb meshes_box(const yw_picture* picture) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < picture->num_meshes; ++i) {
    const yw_render_mesh* mesh = &picture->meshes[i];
    for (int32_t k = 0; k < mesh->num_vertices; ++k) box = yw_aabb_grow(box, mesh->positions[k]);
  }
  return box;
}

// The backdrop is given as displayed: undo exposure and tone curve.
static yw_vec3 backdrop_light(yw_vec3 look, float exposure) {
  yw_vec3 light = {yw_tone_inverse(look.x), yw_tone_inverse(look.y), yw_tone_inverse(look.z)};
  return yw_scale(light, 1.0f / fmaxf(exposure, 1e-6f));
}

static void set_stage(const yw_picture* picture, yw_stage* stage) {
  float aspect = (float)picture->width / (float)picture->height;
  stage->view = yw_view_of(&picture->camera, aspect);
  stage->pixel_angle = 2.0f * stage->view.tan_y / (float)picture->height;
  stage->sky = picture->sky;
  stage->sky.backdrop_high = backdrop_light(picture->sky.backdrop_high, picture->exposure);
  stage->sky.backdrop_low = backdrop_light(picture->sky.backdrop_low, picture->exposure);
  stage->sun = yw_normalize_or(picture->sun.direction, yw_v3(0, 1, 0));
  make_axes(stage->sun, &stage->sun_across, &stage->sun_along);
  stage->sun_color = picture->sun.color;
  stage->sun_spread = tanf(yw_clampf(picture->sun.radius, 0.0f, 60.0f) * 0.017453292519943295f);

  for (int32_t i = 0; i < picture->num_planes; ++i) {
    yw_trace_plane* plane = &stage->planes[stage->num_planes];
    plane->look = picture->planes[i];
    float length = yw_length(plane->look.normal);
    if (!(length > 0.0f) || !isfinite(length) || !isfinite(plane->look.offset)) continue;
    plane->normal = yw_scale(plane->look.normal, 1.0f / length);
    plane->offset = plane->look.offset / length;
    make_axes(plane->normal, &plane->across, &plane->along);
    ++stage->num_planes;
  }

  yw_aabb focus = picture->focus;
  if (focus.lower.x <= focus.upper.x && yw_is_finite3(focus.lower) && yw_is_finite3(focus.upper)) {
    float radius = fmaxf(0.5f * yw_distance(focus.lower, focus.upper), 1e-6f);
    stage->focus = yw_lerp(focus.lower, focus.upper, 0.5f);
    stage->fade_near = 1.3f * radius;
    stage->fade_rate = 1.0f / (5.5f * radius);
  }

  // Rounding errors grow with the coordinates, so the offset that hides them does too.
  yw_aabb box = meshes_box(picture);
  float reach = yw_length(yw_sub(stage->view.eye, stage->focus));
  if (box.lower.x <= box.upper.x) {
    reach =
        fmaxf(yw_distance(box.lower, box.upper), fmaxf(yw_length(box.lower), yw_length(box.upper)));
  }
  stage->skin = fmaxf(2e-5f * reach, 1e-12f);
}

static yw_status add_balls(yw_renderer* renderer, RTCScene scene, const yw_render_mesh* mesh,
                           int32_t index, yw_error* error) {
  if (mesh->num_vertices == 0) return YW_OK;
  RTCGeometry geometry = rtcNewGeometry(renderer->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
  float* balls = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4,
                                         4 * sizeof(float), (size_t)mesh->num_vertices);
  if (balls) {
    for (int32_t i = 0; i < mesh->num_vertices; ++i) {
      memcpy(balls + 4 * i, &mesh->positions[i], sizeof(yw_vec3));
      balls[4 * i + 3] = mesh->radii[i];
    }
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene, geometry, (unsigned)index);
  }
  rtcReleaseGeometry(geometry);
  return balls ? YW_OK : yw_fail_memory(error, "the balls of a picture");
}

static yw_status add_mesh(yw_renderer* renderer, RTCScene scene, const yw_render_mesh* mesh,
                          int32_t index, yw_trace_mesh* out, yw_error* error) {
  out->look = *mesh;
  if (mesh->radii) return add_balls(renderer, scene, mesh, index, error);
  yw_vec3* normals = YW_NEW_ARRAY(&renderer->mem, yw_vec3, 3 * (size_t)mesh->num_triangles);
  if (!normals) return yw_fail_memory(error, "the normals of a picture");
  out->normals = normals;
  if (mesh->num_triangles == 0) return YW_OK;
  if (yw_corner_normals(mesh, &renderer->mem, normals) < 0) {
    return yw_fail_memory(error, "the normals of a picture");
  }
  RTCGeometry geometry = rtcNewGeometry(renderer->device, RTC_GEOMETRY_TYPE_TRIANGLE);
  void* positions = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                            sizeof(yw_vec3), (size_t)mesh->num_vertices);
  void* triangles = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                            3 * sizeof(uint32_t), (size_t)mesh->num_triangles);
  if (positions && triangles) {
    memcpy(positions, mesh->positions, (size_t)mesh->num_vertices * sizeof(yw_vec3));
    memcpy(triangles, mesh->triangles, 3 * (size_t)mesh->num_triangles * sizeof(int32_t));
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene, geometry, (unsigned)index);
  }
  rtcReleaseGeometry(geometry);
  return positions && triangles ? YW_OK : yw_fail_memory(error, "the meshes of a picture");
}

static void close_stage(yw_renderer* renderer, yw_stage* stage, RTCScene scene) {
  if (scene) rtcReleaseScene(scene);
  for (int32_t i = 0; i < stage->num_meshes; ++i) {
    yw_mem_free(&renderer->mem, (void*)(uintptr_t)stage->meshes[i].normals);
  }
  yw_mem_free(&renderer->mem, stage->meshes);
}

static yw_status open_stage(yw_renderer* renderer, const yw_picture* picture, yw_stage* stage,
                            RTCScene* out_scene, yw_error* error) {
  memset(stage, 0, sizeof *stage);
  *out_scene = NULL;
  yw_status status = check_picture(picture, error);
  if (status < 0) return status;
  set_stage(picture, stage);
  stage->meshes = YW_NEW_ARRAY(&renderer->mem, yw_trace_mesh, picture->num_meshes);
  if (!stage->meshes) return yw_fail_memory(error, "the meshes of a picture");
  stage->num_meshes = picture->num_meshes;

  RTCScene scene = rtcNewScene(renderer->device);
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  for (int32_t i = 0; i < picture->num_meshes && status >= 0; ++i) {
    status = add_mesh(renderer, scene, &picture->meshes[i], i, &stage->meshes[i], error);
  }
  if (status >= 0) {
    rtcCommitScene(scene);
    enum RTCError failure = rtcGetDeviceError(renderer->device);
    if (failure != RTC_ERROR_NONE) {
      status =
          yw_fail(error, YW_ERR_MEMORY, "Embree cannot build the picture (error %d)", (int)failure);
    }
  }
  *out_scene = scene;
  if (status < 0) close_stage(renderer, stage, scene);
  return status;
}

typedef struct draw_job {
  yw_tracer tracer;
  yw_film* film;
  int32_t columns;  // of tiles
} draw_job;

static void draw_tile(void* context, int32_t block, int32_t worker) {
  const draw_job* job = context;
  (void)worker;
  int32_t left = block % job->columns * TILE, top = block / job->columns * TILE;
  for (int32_t y = top; y < top + TILE && y < job->film->height; ++y) {
    for (int32_t x = left; x < left + TILE && x < job->film->width; ++x) {
      size_t i = (size_t)y * (size_t)job->film->width + (size_t)x;
      yw_tracer_pixel(&job->tracer, x, y, &job->film->pixels[i]);
    }
  }
}

static yw_status draw_stage(yw_renderer* renderer, const yw_picture* picture, const yw_stage* stage,
                            RTCScene scene, yw_image* out, yw_error* error) {
  int32_t width = picture->width, height = picture->height;
  int32_t samples = (picture->samples + 15) / 16 * 16;
  yw_status status = yw_sampler_resize(&renderer->sampler, samples, error);
  if (status >= 0) status = yw_film_resize(&renderer->film, width, height, error);
  if (status >= 0 && (!out->pixels || out->width != width || out->height != height)) {
    yw_image fresh;
    status = yw_image_create(&renderer->mem, width, height, &fresh, error);
    if (status >= 0) {
      yw_image_free(out);
      *out = fresh;
    }
  }
  if (status < 0) return status;

  draw_job job = {.tracer = {stage, &renderer->sampler, scene, width, height, samples},
                  .film = &renderer->film,
                  .columns = (width + TILE - 1) / TILE};
  yw_tasks_run(renderer->tasks, job.columns * ((height + TILE - 1) / TILE), draw_tile, &job);
  yw_develop_def def = {.sun_color = stage->sun_color,
                        .exposure = picture->exposure,
                        .pixel_angle = stage->pixel_angle,
                        .eye = stage->view.eye,
                        .filter = !picture->no_filter};
  yw_film_develop(&renderer->film, &def, &renderer->sampler, renderer->tasks, out);
  return YW_OK;
}

yw_status yw_renderer_draw(yw_renderer* renderer, const yw_picture* picture, yw_image* out,
                           yw_error* error) {
  yw_stage stage;
  RTCScene scene;
  yw_status status = open_stage(renderer, picture, &stage, &scene, error);
  if (status < 0) return status;
  status = draw_stage(renderer, picture, &stage, scene, out, error);
  close_stage(renderer, &stage, scene);
  return status;
}

yw_status yw_renderer_pick(yw_renderer* renderer, const yw_picture* picture, float x, float y,
                           yw_render_hit* out, yw_error* error) {
  yw_stage stage;
  RTCScene scene;
  yw_status status = open_stage(renderer, picture, &stage, &scene, error);
  if (status < 0) return status;
  yw_vec3 eye = stage.view.eye;
  yw_vec3 d = yw_view_ray(&stage.view, x / (float)picture->width, y / (float)picture->height);
  *out = (yw_render_hit){.mesh = -1, .triangle = -1, .plane = -1, .distance = INFINITY};
  out->plane = yw_stage_plane(&stage, eye, d, &out->distance);
  if (out->plane >= 0) out->normal = stage.planes[out->plane].normal;

  struct RTCRayHit hit = {.ray = {.org_x = eye.x,
                                  .org_y = eye.y,
                                  .org_z = eye.z,
                                  .dir_x = d.x,
                                  .dir_y = d.y,
                                  .dir_z = d.z,
                                  .tfar = out->distance,
                                  .mask = 0xffffffffu},
                          .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};
  struct RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(scene, &context, &hit);
  if (hit.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
    out->plane = -1;
    out->mesh = (int32_t)hit.hit.geomID;
    out->triangle = (int32_t)hit.hit.primID;
    out->distance = hit.ray.tfar;
    out->normal = yw_normalize_or(yw_v3(hit.hit.Ng_x, hit.hit.Ng_y, hit.hit.Ng_z), yw_neg(d));
  }
  if (isfinite(out->distance)) out->position = yw_mad(eye, out->distance, d);
  close_stage(renderer, &stage, scene);
  return YW_OK;
}

#endif
