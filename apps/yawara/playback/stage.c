// SPDX-License-Identifier: MIT
#include "playback/stage.h"

#include <string.h>

#include "playback/stage_body.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

// Edges of obstacles that turn by more stay sharp, degrees.
// Colours of bodies below this brightness have lighter stripes.
#define DARK 0.1f
#define OBSTACLE_CREASE 40.0f
// Surfaces of obstacles are cut this finely: longest side / OBSTACLE_CELLS.
#define OBSTACLE_CELLS 128.0f
// Unbounded obstacles that are not planes are shown as far as this from the origin, m.
#define FAR_AWAY 20.0f

typedef struct stage_obstacle {
  bool plane;
  yw_vec3 normal;  // of a plane, before the obstacle's pose
  float offset;
  yw_tri_mesh surface;  // of anything else, before the pose
  yw_vec3* posed;
} stage_obstacle;

struct stage {
  const yw_scene* scene;
  const yw_world* world;
  int32_t num_bodies;
  int32_t num_obstacles;
  stage_body* bodies;
  yw_render_mesh* meshes;
  yw_render_plane planes[YW_RENDER_MAX_PLANES];
  int32_t num_meshes, num_planes;
  stage_obstacle* obstacles;
  double time;
  float wireframe;
  stage_field field;
  bool skin;
};

// Obstacles
// -------------------------------------------------------------------------------------------

// A half space has the same gradient everywhere and a distance that is linear.
static bool is_plane(const yw_shape* shape, yw_vec3* normal, float* offset) {
  yw_aabb box;
  if (yw_shape_bounds(shape, &box)) return false;
  float at_origin = yw_shape_distance_normal(shape, yw_v3(0, 0, 0), normal);
  *offset = -at_origin;
  for (int corner = 0; corner < 8; ++corner) {
    yw_vec3 p =
        yw_v3(corner & 1 ? 7.0f : -5.0f, corner & 2 ? 6.0f : -8.0f, corner & 4 ? 9.0f : -4.0f);
    float expected = yw_dot(*normal, p) - *offset;
    if (fabsf(yw_shape_distance(shape, p) - expected) > 1e-3f) return false;
  }
  return true;
}

// The part of an unbounded shape near the origin.
static yw_status surface_of_unbounded(const yw_shape* shape, yw_tri_mesh* out, yw_error* error) {
  yw_shape* parts[2] = {yw_shape_retain((yw_shape*)shape), NULL};
  yw_shape* cut = NULL;
  yw_status status = yw_shape_box(NULL, yw_v3(FAR_AWAY, FAR_AWAY, FAR_AWAY), &parts[1]);
  if (status >= 0) status = yw_shape_intersection(NULL, 2, parts, 0.0f, &cut);
  if (status >= 0) {
    status = yw_shape_surface(cut, NULL, 2.0f * FAR_AWAY / OBSTACLE_CELLS, out, error);
  }
  yw_shape_release(cut);
  yw_shape_release(parts[0]);
  yw_shape_release(parts[1]);
  return status;
}

static yw_status prepare_obstacle(const yw_shape* shape, stage_obstacle* out, yw_error* error) {
  out->plane = is_plane(shape, &out->normal, &out->offset);
  if (out->plane) return YW_OK;
  yw_aabb box;
  yw_status status;
  if (yw_shape_bounds(shape, &box)) {
    yw_vec3 side = yw_sub(box.upper, box.lower);
    float longest = fmaxf(side.x, fmaxf(side.y, side.z));
    float shortest = fminf(side.x, fminf(side.y, side.z));
    // Thin plates need cells that do not miss them.
    float size = fmaxf(fminf(longest / OBSTACLE_CELLS, shortest / 2.0f), longest / 256.0f);
    status = yw_shape_surface(shape, NULL, size, &out->surface, error);
  } else {
    status = surface_of_unbounded(shape, &out->surface, error);
  }
  if (status < 0) return status;
  out->posed = YW_NEW_ARRAY(NULL, yw_vec3, out->surface.num_vertices);
  return out->posed ? YW_OK : yw_fail_memory(error, "an obstacle");
}

static void show_obstacle(stage* s, int32_t index) {
  stage_obstacle* obstacle = &s->obstacles[index];
  yw_look look = yw_scene_obstacle_look(s->scene, index);
  yw_transform pose = YW_TRANSFORM_IDENTITY;
  yw_obstacle_pose(s->world, yw_scene_obstacle_id(s->scene, index), s->time, &pose);
  if (!look.visible) return;
  if (obstacle->plane) {
    if (s->num_planes == YW_RENDER_MAX_PLANES) return;
    yw_render_plane* plane = &s->planes[s->num_planes++];
    *plane = yw_default_render_floor(0.0f, 0.5f);
    plane->normal = yw_rotate(pose.rotation, obstacle->normal);
    plane->offset = pose.scale * obstacle->offset + yw_dot(plane->normal, pose.position);
    if (!look.checker) {
      plane->checker = 0.0f;
      plane->color = look.color;
    }
    return;
  }
  for (int32_t i = 0; i < obstacle->surface.num_vertices; ++i) {
    obstacle->posed[i] = yw_transform_point(pose, obstacle->surface.positions[i]);
  }
  yw_render_mesh* mesh = &s->meshes[s->num_meshes++];
  *mesh = yw_default_render_mesh();
  mesh->num_vertices = obstacle->surface.num_vertices;
  mesh->num_triangles = obstacle->surface.num_triangles;
  mesh->positions = obstacle->posed;
  mesh->rest = obstacle->surface.positions;
  mesh->triangles = obstacle->surface.triangles;
  mesh->color = look.color;
  mesh->checker = look.checker ? 0.25f : 0.0f;
  mesh->crease = OBSTACLE_CREASE;
  mesh->gloss = 0.1f;
}

// Bodies
// ----------------------------------------------------------------------------------------------

static bool particle_color(const void* context, int32_t body, int32_t particle, yw_vec3* color) {
  return yw_scene_particle_color(context, body, particle, color);
}

// A darker tone of the colour, or a lighter one where that would not be seen.
static yw_vec3 tint_of(yw_vec3 color, yw_vec3 tint) {
  bool is_dark = 0.2f * color.x + 0.7f * color.y + 0.1f * color.z < DARK;
  yw_vec3 dark = yw_v3(color.x * tint.x, color.y * tint.y, color.z * tint.z);
  yw_vec3 light = yw_v3(1.0f - tint.x * (1.0f - color.x), 1.0f - tint.y * (1.0f - color.y),
                        1.0f - tint.z * (1.0f - color.z));
  return is_dark ? light : dark;
}

// The scene's paint over the colour of the body. What a rod or a sheet shows by itself, such as the
// stripe that tells its twist, is seen through that colour.
static yw_status paint_body(stage* s, int32_t index) {
  stage_body* body = &s->bodies[index];
  const yw_tri_mesh* surface = yw_model_surface(body->model);
  yw_vec3 color = body->color;
  if (stage_body_is_loose(body)) {
    body->particle_color = particle_color;
    body->color_context = s->scene;
    body->number = index;
    return YW_OK;
  }
  bool tinted = yw_model_tets(body->model)->num_tets == 0 && surface->colors;
  if (!yw_scene_body_paint(s->scene, index, yw_v3(0, 0, 0), &color) && !tinted) return YW_OK;
  if (!body->paint) body->paint = YW_NEW_ARRAY(NULL, yw_vec3, surface->num_vertices);
  if (!body->paint) return YW_ERR_MEMORY;
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    body->paint[i] = tinted ? tint_of(body->color, surface->colors[i]) : body->color;
    yw_scene_body_paint(s->scene, index, surface->positions[i], &body->paint[i]);
  }
  return YW_OK;
}

yw_status stage_show(stage* s, const frame_data* frame, yw_error* error) {
  s->time = frame->time;
  s->num_meshes = s->num_planes = 0;
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    yw_status status = stage_body_show(&s->bodies[i], &frame->bodies[i], &s->field, s->skin, error);
    if (status < 0) return status;
    bool visible = s->bodies[i].active && yw_scene_body_look(s->scene, i).visible;
    if (visible) s->meshes[s->num_meshes++] = stage_body_mesh(&s->bodies[i], s->wireframe);
  }
  for (int32_t i = 0; i < s->num_obstacles; ++i) show_obstacle(s, i);
  return YW_OK;
}

yw_status stage_show_world(stage* s, yw_error* error) {
  frame_data frame;
  yw_status status = frame_of_world(s->world, 0, s->field.name, &frame, error);
  if (status < 0) return status;
  status = stage_show(s, &frame, error);
  frame_free(&frame);
  return status;
}

// The stage
// -------------------------------------------------------------------------------------------

yw_status stage_create(const yw_scene* scene, const yw_world* world, stage** out, yw_error* error) {
  *out = NULL;
  stage* s = YW_NEW(NULL, stage);
  if (!s) return yw_fail_memory(error, "a picture");
  s->scene = scene;
  s->world = world;
  s->num_bodies = yw_world_num_bodies(world);
  s->num_obstacles = yw_scene_num_obstacles(scene);
  s->bodies = YW_NEW_ARRAY(NULL, stage_body, s->num_bodies);
  s->obstacles = YW_NEW_ARRAY(NULL, stage_obstacle, s->num_obstacles);
  s->meshes = YW_NEW_ARRAY(NULL, yw_render_mesh, s->num_bodies + s->num_obstacles);
  yw_status status = s->bodies && s->obstacles && s->meshes ? YW_OK : YW_ERR_MEMORY;
  for (int32_t i = 0; i < s->num_bodies && status >= 0; ++i) {
    status = stage_body_create(yw_body_model(world, yw_world_body(world, i)), &s->bodies[i]);
    s->bodies[i].color = yw_scene_body_look(scene, i).color;
    if (status >= 0) status = paint_body(s, i);
  }
  if (status < 0) yw_fail_memory(error, "a picture");
  for (int32_t i = 0; i < s->num_obstacles && status >= 0; ++i) {
    status = prepare_obstacle(yw_scene_obstacle_shape(scene, i), &s->obstacles[i], error);
  }
  if (status >= 0) status = stage_show_world(s, error);
  if (status < 0) {
    stage_destroy(s);
    return status;
  }
  *out = s;
  return YW_OK;
}

void stage_destroy(stage* s) {
  if (!s) return;
  for (int32_t i = 0; s->bodies && i < s->num_bodies; ++i) stage_body_free(&s->bodies[i]);
  for (int32_t i = 0; s->obstacles && i < s->num_obstacles; ++i) {
    yw_tri_mesh_free(&s->obstacles[i].surface);
    yw_mem_free(NULL, s->obstacles[i].posed);
  }
  yw_mem_free(NULL, s->bodies);
  yw_mem_free(NULL, s->obstacles);
  yw_mem_free(NULL, s->meshes);
  yw_mem_free(NULL, s);
}

yw_aabb stage_bodies_box(const stage* s) {
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    box = yw_aabb_join(box, stage_body_box(&s->bodies[i]));
  }
  return box;
}

yw_aabb stage_box(const stage* s) {
  yw_aabb box = stage_bodies_box(s);
  for (int32_t i = 0; i < s->num_obstacles; ++i) {
    const stage_obstacle* obstacle = &s->obstacles[i];
    yw_aabb bounds;
    if (obstacle->plane || !yw_shape_bounds(yw_scene_obstacle_shape(s->scene, i), &bounds))
      continue;
    if (!yw_scene_obstacle_look(s->scene, i).visible) continue;
    for (int32_t k = 0; k < obstacle->surface.num_vertices; ++k) {
      box = yw_aabb_grow(box, obstacle->posed[k]);
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
  picture.focus = focus;
  picture.width = width;
  picture.height = height;
  yw_scene_info info = yw_scene_info_of(s->scene);
  if (info.has_camera) {
    picture.camera = info.camera;
  } else {
    yw_framing framing = yw_default_framing();
    picture.camera = yw_camera_frame(&framing, (float)width / (float)height, 1, &focus);
  }
  return picture;
}

void stage_set_wireframe(stage* s, float width) { s->wireframe = width; }

void stage_set_color(stage* s, int32_t body, yw_vec3 color) {
  s->bodies[body].color = color;
  paint_body(s, body);
}

void stage_set_field(stage* s, const char* field, float low, float high) {
  s->field = (stage_field){field, low, high};
}

void stage_set_skin(stage* s, bool skin) { s->skin = skin; }

bool stage_has_particles(const stage* s) {
  for (int32_t i = 0; i < s->num_bodies; ++i) {
    if (stage_body_is_loose(&s->bodies[i])) return true;
  }
  return false;
}
