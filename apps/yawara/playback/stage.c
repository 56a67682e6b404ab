// SPDX-License-Identifier: MIT
#include "playback/stage.h"

#include "playback/stage_body.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

struct stage {
  const shown_scene* shown;
  stage_body* bodies;
  yw_vec3** surfaces;  // of the bodies, for frame_keep_apart
  yw_vec3** posed;     // vertices of each obstacle's surface in its pose; NULL: a plane
  bool has_frame;
  yw_render_mesh* meshes;
  yw_render_plane planes[YW_RENDER_MAX_PLANES];
  int32_t num_meshes, num_planes;
  float wireframe;
  stage_field field;
  stage_coat coat;
};

// Obstacles ---------------------------------------------------------------------------------------

static void show_plane(stage* s, const shown_obstacle* obstacle, yw_transform pose) {
  if (s->num_planes == YW_RENDER_MAX_PLANES) return;
  yw_vec3 normal = yw_rotate(pose.rotation, obstacle->normal);
  s->planes[s->num_planes++] =
      (yw_render_plane){.normal = normal,
                        .offset = pose.scale * obstacle->offset + yw_dot(normal, pose.position),
                        .color = obstacle->look.color,
                        .color2 = obstacle->look.color2,
                        .checker = obstacle->look.checker,
                        .gloss = obstacle->look.gloss};
}

static void show_obstacle(stage* s, int32_t index, double time, yw_transform pose) {
  const shown_obstacle* obstacle = &s->shown->obstacles[index];
  const yw_tri_mesh* surface = &obstacle->surface;
  if (!obstacle->look.visible) return;
  if (obstacle->plane) {
    show_plane(s, obstacle, pose);
    return;
  }
  yw_vec3* posed = s->posed[index];
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    posed[i] = shown_obstacle_vertex(obstacle, i, time, pose);
  }
  yw_render_mesh* mesh = &s->meshes[s->num_meshes++];
  *mesh = yw_default_render_mesh();
  mesh->num_vertices = surface->num_vertices;
  mesh->num_triangles = surface->num_triangles;
  mesh->positions = posed;
  mesh->rest = surface->positions;
  mesh->triangles = surface->triangles;
  mesh->color = obstacle->look.color;
  mesh->checker = obstacle->look.checker;
  mesh->crease = obstacle->look.crease;
  mesh->gloss = obstacle->look.gloss;
}

// The stage ---------------------------------------------------------------------------------------

yw_status stage_show(stage* s, const frame_data* frame, yw_error* error) {
  s->num_meshes = s->num_planes = 0;
  s->has_frame = true;
  for (int32_t i = 0; i < s->shown->num_bodies; ++i) {
    stage_body* body = &s->bodies[i];
    yw_status status = stage_body_show(body, &frame->bodies[i], &s->field, s->coat, error);
    if (status < 0) return status;
    s->surfaces[i] = stage_body_is_loose(body) ? NULL : body->points;
  }
  if (frame_keep_apart(frame, s->shown, s->surfaces) < 0) return yw_fail_memory(error, "a picture");
  for (int32_t i = 0; i < s->shown->num_bodies; ++i) {
    const stage_body* body = &s->bodies[i];
    bool visible = body->active && s->shown->bodies[i].look.visible;
    if (visible) s->meshes[s->num_meshes++] = stage_body_mesh(body, s->wireframe);
  }
  for (int32_t i = 0; i < s->shown->num_obstacles; ++i) {
    show_obstacle(s, i, frame->time, frame->obstacles[i]);
  }
  return YW_OK;
}

static bool make_room(stage* s) {
  const shown_scene* shown = s->shown;
  s->bodies = YW_NEW_ARRAY(NULL, stage_body, shown->num_bodies);
  s->posed = YW_NEW_ARRAY(NULL, yw_vec3*, shown->num_obstacles);
  s->meshes =
      YW_NEW_ARRAY(NULL, yw_render_mesh, (size_t)shown->num_bodies + (size_t)shown->num_obstacles);
  s->surfaces = YW_NEW_ARRAY(NULL, yw_vec3*, shown->num_bodies);
  if (!s->bodies || !s->surfaces || !s->posed || !s->meshes) return false;
  for (int32_t i = 0; i < shown->num_bodies; ++i) {
    if (stage_body_create(shown, i, &s->bodies[i]) < 0) return false;
  }
  for (int32_t i = 0; i < shown->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &shown->obstacles[i];
    if (obstacle->plane) continue;
    s->posed[i] = YW_NEW_ARRAY(NULL, yw_vec3, obstacle->surface.num_vertices);
    if (!s->posed[i]) return false;
  }
  return true;
}

yw_status stage_create(const shown_scene* shown, stage** out, yw_error* error) {
  *out = NULL;
  stage* s = YW_NEW(NULL, stage);
  if (!s) return yw_fail_memory(error, "a picture");
  s->shown = shown;
  if (!make_room(s)) {
    stage_destroy(s);
    return yw_fail_memory(error, "a picture");
  }
  *out = s;
  return YW_OK;
}

void stage_destroy(stage* s) {
  if (!s) return;
  for (int32_t i = 0; s->bodies && i < s->shown->num_bodies; ++i) stage_body_free(&s->bodies[i]);
  for (int32_t i = 0; s->posed && i < s->shown->num_obstacles; ++i) {
    yw_mem_free(NULL, s->posed[i]);
  }
  yw_mem_free(NULL, s->bodies);
  yw_mem_free(NULL, s->surfaces);
  yw_mem_free(NULL, s->posed);
  yw_mem_free(NULL, s->meshes);
  yw_mem_free(NULL, s);
}

yw_aabb stage_box(const stage* s) {
  yw_aabb box = yw_aabb_empty();
  if (!s->has_frame) return box;
  for (int32_t i = 0; i < s->shown->num_bodies; ++i) {
    box = yw_aabb_join(box, stage_body_box(&s->bodies[i]));
  }
  for (int32_t i = 0; i < s->shown->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &s->shown->obstacles[i];
    if (obstacle->plane || obstacle->unbounded || !obstacle->look.visible) continue;
    for (int32_t k = 0; k < obstacle->surface.num_vertices; ++k) {
      box = yw_aabb_grow(box, s->posed[i][k]);
    }
  }
  return box;
}

yw_picture stage_picture(stage* s, yw_aabb focus, int32_t width, int32_t height) {
  yw_picture picture = yw_default_picture();
  picture.num_meshes = s->num_meshes;
  picture.meshes = s->meshes;
  picture.num_planes = s->num_planes;
  picture.planes = s->planes;
  picture.sun = s->shown->sun;
  picture.sky = s->shown->sky;
  picture.exposure = s->shown->exposure;
  picture.focus = focus;
  picture.width = width;
  picture.height = height;
  picture.camera = s->shown->camera;
  if (!s->shown->has_camera) {
    yw_framing framing = yw_default_framing();
    picture.camera = yw_camera_frame(&framing, (float)width / (float)height, 1, &focus);
  }
  return picture;
}

void stage_set_wireframe(stage* s, float width) { s->wireframe = width; }

void stage_set_field(stage* s, const char* field, float low, float high) {
  s->field = (stage_field){field, low, high};
}

void stage_set_skin(stage* s, bool skin) { s->coat = skin ? STAGE_SKIN : STAGE_PLAIN; }

void stage_set_balls(stage* s) { s->coat = STAGE_BALLS; }

bool stage_has_particles(const stage* s) {
  for (int32_t i = 0; i < s->shown->num_bodies; ++i) {
    if (stage_body_is_loose(&s->bodies[i]) || s->bodies[i].has_particles) return true;
  }
  return false;
}
