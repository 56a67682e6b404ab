// SPDX-License-Identifier: MIT
#include "playback/shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "playback/obj_source.h"
#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"
#include "yawara/extend/vec.h"

// Larger OBJ files, bytes, are not kept with the run.
#define MAX_SOURCE ((size_t)256 << 20)
// Default look of bodies: rubber; edges that turn by more than this at rest stay sharp, degrees.
#define BODY_CREASE 40.0f
#define BODY_GLOSS 0.5f
// Bodies of worlds without a scene are grey.
#define PLAIN 0.7f
// Obstacles are duller than bodies, so that bodies stand out.
#define OBSTACLE_CREASE 40.0f
#define OBSTACLE_GLOSS 0.1f
// Sides of checker squares over the size of the bodies.
#define OBSTACLE_CHECKER 0.25f
#define PLANE_CHECKER 0.5f
// Stripes on bodies darker than this are lighter than the body, otherwise darker.
#define DARK_BRIGHTNESS 0.1f

// Models ------------------------------------------------------------------------------------------

static void* copy_of(const void* from, size_t count, size_t size) {
  void* copy = yw_mem_alloc(NULL, count, size);
  if (copy && count > 0) memcpy(copy, from, count * size);
  return copy;
}

static bool copy_surface(const yw_tri_mesh* from, yw_tri_mesh* to) {
  size_t vertices = (size_t)from->num_vertices;
  *to = (yw_tri_mesh){.num_vertices = from->num_vertices, .num_triangles = from->num_triangles};
  to->positions = copy_of(from->positions, vertices, sizeof *to->positions);
  to->triangles = copy_of(from->triangles, 3 * (size_t)from->num_triangles, sizeof(int32_t));
  if (from->colors) to->colors = copy_of(from->colors, vertices, sizeof *to->colors);
  return to->positions && to->triangles && (to->colors || !from->colors);
}

static bool copy_tets(const yw_tet_mesh* from, yw_tet_mesh* to) {
  *to = (yw_tet_mesh){.num_vertices = from->num_vertices, .num_tets = from->num_tets};
  to->positions = copy_of(from->positions, (size_t)from->num_vertices, sizeof *to->positions);
  to->tets = copy_of(from->tets, 4 * (size_t)from->num_tets, sizeof(int32_t));
  return to->positions && to->tets;
}

static bool take_model(const yw_model* model, shown_model* out) {
  const yw_tri_mesh* surface = yw_model_surface(model);
  size_t vertices = (size_t)surface->num_vertices;
  yw_surface_map map = yw_model_surface_map(model);
  *out = (shown_model){.kind = SHOWN_OWN};
  snprintf(out->method, sizeof out->method, "%s", yw_model_method(model));
  if (!copy_tets(yw_model_tets(model), &out->tets)) return false;
  if (!copy_surface(surface, &out->surface)) return false;
  const int32_t* elements = yw_model_elements(model, &out->corners, &out->num_elements);
  size_t corners = (size_t)out->corners * (size_t)out->num_elements;
  if (elements && !(out->elements = copy_of(elements, corners, sizeof *elements))) return false;
  if (surface->num_triangles == 0) {
    out->kind = SHOWN_PARTICLES;
    return true;
  }
  if (yw_model_surface_has_state(model)) return true;
  out->kind = map.vertices ? SHOWN_BOUNDARY : SHOWN_EMBEDDED;
  if (map.vertices) out->vertices = copy_of(map.vertices, vertices, sizeof *out->vertices);
  if (map.vertices) return out->vertices != NULL;
  yw_surface_rig rig = yw_model_surface_rig(model);
  if (rig.tets != yw_model_tets(model)) {
    out->num_carriers = rig.tets->num_tets;
    out->carriers = copy_of(rig.tets->tets, 4 * (size_t)out->num_carriers, sizeof(int32_t));
    if (!out->carriers) return false;
  }
  out->first = copy_of(rig.first, vertices + 1, sizeof *out->first);
  out->links = copy_of(rig.links, (size_t)rig.first[vertices], sizeof *out->links);
  return out->first && out->links;
}

// Values of the vertices of a PLY file under these names; false if it lacks one.
static bool take_ply_values(const char* path, const yw_tri_mesh* surface, int count,
                            const char* const* names, float** out) {
  bool found = true;
  for (int c = 0; c < count && found; ++c) {
    yw_tri_mesh mesh = {0};
    yw_error ignored = {0};
    found = yw_painted_mesh_read(path, names[c], NULL, &mesh, &out[c], &ignored) >= 0 &&
            mesh.num_vertices == surface->num_vertices;
    yw_tri_mesh_free(&mesh);
  }
  for (int c = 0; c < count && !found; ++c) {
    yw_mem_free(NULL, out[c]);
    out[c] = NULL;
  }
  return found;
}

static char* take_look_source(const char* path, const yw_tri_mesh* surface) {
  yw_tri_mesh mesh = {0};
  yw_mesh_look look = {0};
  yw_error ignored = {0};
  bool same = yw_mesh_look_read(path, NULL, &mesh, &look, &ignored) >= 0 &&
              mesh.num_vertices == surface->num_vertices &&
              mesh.num_triangles == surface->num_triangles;
  // Corners are those of the file: triangles of the surface may have been turned over.
  char* source = same ? obj_source_of_look(&mesh, &look) : NULL;
  yw_tri_mesh_free(&mesh);
  yw_mesh_look_free(&look);
  return source;
}

// Texture coordinates of the vertices of a PLY file, under one of the names that programs use, and
// their normals; or the texture coordinates of its faces.
static char* take_ply_source(const char* path, const yw_tri_mesh* surface) {
  static const char* const normal_names[3] = {"nx", "ny", "nz"};
  static const char* const names[][2] = {{"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}};
  float *uv[2] = {NULL, NULL}, *normals[3] = {NULL, NULL, NULL};
  bool has_uv = false, has_normals = take_ply_values(path, surface, 3, normal_names, normals);
  for (size_t k = 0; k < sizeof names / sizeof names[0] && !has_uv; ++k) {
    has_uv = take_ply_values(path, surface, 2, names[k], uv);
  }
  char* source = has_uv ? NULL : take_look_source(path, surface);
  if (!source) source = obj_source_make(surface, has_uv ? uv : NULL, has_normals ? normals : NULL);
  for (int c = 0; c < 2; ++c) yw_mem_free(NULL, uv[c]);
  for (int c = 0; c < 3; ++c) yw_mem_free(NULL, normals[c]);
  return source;
}

int32_t shown_sheet_particles(const shown_model* model) {
  const yw_tri_mesh* surface = &model->surface;
  if (model->kind != SHOWN_OWN || model->corners != 3 || model->num_elements == 0) return 0;
  if (surface->num_triangles / 2 < model->num_elements) return 0;
  // Below each triangle of the first side is one of the other, turned over.
  int32_t count = surface->triangles[3] - model->elements[2];
  if (count < 1 || surface->num_vertices / 2 < count) return 0;
  for (int32_t t = 0; t < model->num_elements; ++t) {
    const int32_t *v = model->elements + 3 * (size_t)t, *side = surface->triangles + 6 * (size_t)t;
    for (int k = 0; k < 3; ++k) {
      bool fits = v[k] >= 0 && v[k] < count && side[k] == v[k] && side[5 - k] == count + v[k];
      if (!fits) return 0;
    }
  }
  return count;
}

static char* source_of(const char* path, const yw_tri_mesh* mesh) {
  yw_file_data data = {0};
  yw_error ignored = {0};
  if (yw_ends_with(path, ".ply")) return take_ply_source(path, mesh);
  if (yw_ends_with(path, ".gltf") || yw_ends_with(path, ".glb")) {
    return take_look_source(path, mesh);
  }
  if (!yw_ends_with(path, ".obj")) return NULL;
  if (yw_file_read_all(path, MAX_SOURCE, NULL, &data, &ignored) < 0) return NULL;
  char* source = obj_source_take(data.bytes, data.size, mesh->num_vertices);
  yw_file_data_free(&data);
  return source;
}

// What exports need of the file that the surface is from. Without it they have plain triangles.
static void take_source(const char* path, shown_model* out) {
  if ((out->kind != SHOWN_EMBEDDED && out->kind != SHOWN_OWN) || !path) return;
  int32_t particles = shown_sheet_particles(out);
  if (particles == 0) {
    out->source = source_of(path, &out->surface);
    return;
  }
  const yw_tri_mesh middle = {.num_vertices = particles,
                              .num_triangles = out->num_elements,
                              .positions = out->surface.positions,
                              .triangles = out->elements};
  out->sheet_source = source_of(path, &middle);
  if (!out->sheet_source) out->sheet_source = obj_source_plain(&middle);
}

yw_surface_rig shown_model_rig(const shown_model* model, yw_tet_mesh* tets) {
  *tets = model->tets;
  if (model->num_carriers > 0) {
    tets->num_tets = model->num_carriers;
    tets->tets = model->carriers;
  }
  return (yw_surface_rig){tets, &model->surface, model->first, model->links};
}

// Numbers models in the order in which bodies first use them.
static bool take_models(const yw_scene* scene, const yw_world* world, shown_scene* out) {
  const yw_model** known = YW_NEW_ARRAY(NULL, const yw_model*, out->num_bodies);
  bool good = known && (out->models = YW_NEW_ARRAY(NULL, shown_model, out->num_bodies));
  for (int32_t i = 0; i < out->num_bodies && good; ++i) {
    const yw_model* model = yw_body_model(world, yw_world_body(world, i));
    // Copies of a body are consecutive: the newest model is the most likely one.
    int32_t at = out->num_models - 1;
    while (at >= 0 && known[at] != model) --at;
    if (at < 0) {
      at = out->num_models++;
      known[at] = model;
      good = take_model(model, &out->models[at]);
      if (good && scene) take_source(yw_scene_body_surface_file(scene, i), &out->models[at]);
    }
    out->bodies[i].model = at;
  }
  yw_mem_free(NULL, known);
  return good;
}

static bool find_walls(shown_model* model) {
  yw_tri_mesh boundary = {0};
  int32_t* vertices = NULL;
  if (yw_tet_mesh_surface(&model->tets, NULL, &boundary, &vertices) < 0) return false;
  model->num_walls = boundary.num_triangles;
  model->walls = YW_NEW_ARRAY(NULL, int32_t, 3 * (size_t)model->num_walls);
  for (size_t n = 0; model->walls && n < 3 * (size_t)model->num_walls; ++n) {
    model->walls[n] = vertices[boundary.triangles[n]];
  }
  yw_tri_mesh_free(&boundary);
  yw_mem_free(NULL, vertices);
  return model->walls != NULL;
}

bool shown_find_walls(shown_scene* shown) {
  for (int32_t i = 0; i < shown->num_models; ++i) {
    shown_model* model = &shown->models[i];
    if (model->kind == SHOWN_EMBEDDED && !find_walls(model)) return false;
  }
  return true;
}

// Bodies ------------------------------------------------------------------------------------------

// A darker tone of the colour, or a lighter one if that would not be visible.
static yw_vec3 tint_of(yw_vec3 color, yw_vec3 tint) {
  bool is_dark = 0.2f * color.x + 0.7f * color.y + 0.1f * color.z < DARK_BRIGHTNESS;
  yw_vec3 dark = yw_v3(color.x * tint.x, color.y * tint.y, color.z * tint.z);
  yw_vec3 light = yw_v3(1.0f - tint.x * (1.0f - color.x), 1.0f - tint.y * (1.0f - color.y),
                        1.0f - tint.z * (1.0f - color.z));
  return is_dark ? light : dark;
}

// Applies the scene's paint to the colour of the body. The stripe of a rod, which shows twist,
// becomes a tone of it.
static bool paint_surface(const yw_scene* scene, int32_t index, const shown_model* model,
                          shown_body* out) {
  const yw_tri_mesh* surface = &model->surface;
  yw_vec3 color = out->look.color;
  bool tinted = model->corners == 2 && surface->colors;
  bool painted = scene && yw_scene_body_paint(scene, index, yw_v3(0, 0, 0), &color);
  if (!painted && !tinted) return true;
  out->colors = YW_NEW_ARRAY(NULL, yw_vec3, surface->num_vertices);
  if (!out->colors) return false;
  out->num_colors = surface->num_vertices;
  for (int32_t i = 0; i < surface->num_vertices; ++i) {
    color = out->look.color;
    out->colors[i] = tinted ? tint_of(color, surface->colors[i]) : color;
    if (painted) yw_scene_body_paint(scene, index, surface->positions[i], &out->colors[i]);
  }
  return true;
}

static bool color_particles(const yw_scene* scene, int32_t index, shown_body* out) {
  int32_t count = scene ? yw_scene_num_particle_colors(scene, index) : 0;
  if (count == 0) return true;
  out->colors = YW_NEW_ARRAY(NULL, yw_vec3, count);
  if (!out->colors) return false;
  out->num_colors = count;
  for (int32_t i = 0; i < count; ++i) {
    out->colors[i] = out->look.color;
    yw_scene_particle_color(scene, index, i, &out->colors[i]);
  }
  return true;
}

// Vertices of a surface take the colour of the particle that they follow: bodies that merge keep
// theirs.
static bool color_vertices(const yw_scene* scene, int32_t index, const yw_model* model,
                           shown_body* out) {
  int32_t count = yw_model_surface(model)->num_vertices;
  out->colors = YW_NEW_ARRAY(NULL, yw_vec3, count);
  if (!out->colors) return false;
  out->num_colors = count;
  for (int32_t i = 0; i < count; ++i) {
    out->colors[i] = out->look.color;
    yw_scene_particle_color(scene, index, yw_model_surface_particle(model, i), &out->colors[i]);
  }
  return true;
}

static bool take_body(const yw_scene* scene, const yw_world* world, int32_t index,
                      const shown_model* model, shown_body* out) {
  yw_body_id id = yw_world_body(world, index);
  yw_look look = {.color = {PLAIN, PLAIN, PLAIN}, .visible = true};
  yw_body_sums sums = {0};
  if (scene) look = yw_scene_body_look(scene, index);
  out->touches = yw_body_has_contact(world, id);
  if (yw_body_sums_of(world, id, &sums) >= 0) out->mass = sums.mass;
  snprintf(out->name, sizeof out->name, "%s", yw_body_name(world, id));
  out->look = (shown_look){.color = look.color,
                           .color2 = look.color,
                           .gloss = BODY_GLOSS,
                           .crease = BODY_CREASE,
                           .visible = look.visible};
  const yw_model* made_of = yw_body_model(world, id);
  yw_vec3 color = look.color;
  bool painted = scene && yw_scene_body_paint(scene, index, yw_v3(0, 0, 0), &color);
  bool merged = scene && !painted && yw_model_surface_parts(made_of) &&
                yw_scene_num_particle_colors(scene, index) > 0;
  if (merged) return color_vertices(scene, index, made_of, out);
  return model->kind == SHOWN_PARTICLES ? color_particles(scene, index, out)
                                        : paint_surface(scene, index, model, out);
}

// Obstacles ---------------------------------------------------------------------------------------

static int compare_floats(const void* a, const void* b) {
  float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

// The longest side of a body at rest, m.
static float size_of_body(const yw_world* world, int32_t index) {
  const yw_model* model = yw_body_model(world, yw_world_body(world, index));
  int32_t count = 0;
  const yw_vec3* points = yw_model_points(model, &count);
  yw_aabb box = yw_aabb_empty();
  for (int32_t i = 0; i < count; ++i) box = yw_aabb_grow(box, points[i]);
  if (count == 0) return 0.0f;
  yw_vec3 size = yw_sub(box.upper, box.lower);
  return fmaxf(size.x, fmaxf(size.y, size.z));
}

// Median size of the bodies, rounded to 1, 2 or 5 times a power of ten; 1 m if there are none.
static float typical_size(const yw_world* world, int32_t num_bodies) {
  float* sizes = YW_NEW_ARRAY(NULL, float, num_bodies);
  int32_t count = 0;
  for (int32_t i = 0; sizes && i < num_bodies; ++i) {
    float size = size_of_body(world, i);
    if (size > 0.0f && isfinite(size)) sizes[count++] = size;
  }
  if (count > 1) qsort(sizes, (size_t)count, sizeof *sizes, compare_floats);
  float median = count > 0 ? sizes[count / 2] : 1.0f;
  yw_mem_free(NULL, sizes);
  float power = powf(10.0f, floorf(log10f(median)));
  float lead = median / power;
  return power * (lead < 1.4f ? 1.0f : lead < 3.2f ? 2.0f : lead < 7.1f ? 5.0f : 10.0f);
}

static shown_look obstacle_look(yw_look look, bool plane, float size) {
  shown_look out = {.color = look.color,
                    .color2 = look.color,
                    .gloss = OBSTACLE_GLOSS,
                    .crease = OBSTACLE_CREASE,
                    .checker = look.checker ? OBSTACLE_CHECKER * size : 0.0f,
                    .visible = look.visible};
  if (!plane) return out;
  yw_render_plane floor = yw_default_render_floor(0.0f, look.checker ? PLANE_CHECKER * size : 0.0f);
  out.gloss = floor.gloss;
  out.checker = floor.checker;
  out.color2 = floor.color2;
  if (look.checker) out.color = floor.color;
  return out;
}

static yw_status take_obstacles(const yw_scene* scene, const yw_world* world, shown_scene* out,
                                yw_error* error) {
  float size = typical_size(world, out->num_bodies);
  for (int32_t i = 0; i < out->num_obstacles; ++i) {
    shown_obstacle* obstacle = &out->obstacles[i];
    const char* name = yw_obstacle_name(world, yw_scene_obstacle_id(scene, i));
    yw_mesh_animation animation;
    const int32_t* triangles;
    int32_t count = yw_obstacle_mesh(world, yw_scene_obstacle_id(scene, i), &animation, &triangles);
    yw_status status =
        count > 0 ? shown_obstacle_mesh(&animation, count, triangles, obstacle, error)
                  : shown_obstacle_shape(yw_scene_obstacle_shape(scene, i), obstacle, error);
    if (status < 0) return status;
    snprintf(obstacle->name, sizeof obstacle->name, "%s", name ? name : "");
    obstacle->look = obstacle_look(yw_scene_obstacle_look(scene, i), obstacle->plane, size);
  }
  return YW_OK;
}

// All ---------------------------------------------------------------------------------------------

yw_status shown_create(const yw_scene* scene, const yw_world* world, shown_scene** out,
                       yw_error* error) {
  *out = NULL;
  shown_scene* shown = YW_NEW(NULL, shown_scene);
  if (!shown) return yw_fail_memory(error, "what is shown");
  yw_picture studio = yw_default_picture();
  shown->sun = studio.sun;
  shown->sky = studio.sky;
  shown->exposure = studio.exposure;
  if (scene) {
    yw_scene_info info = yw_scene_info_of(scene);
    shown->has_camera = info.has_camera;
    shown->camera = info.camera;
    shown->num_obstacles = yw_scene_num_obstacles(scene);
  }
  shown->num_bodies = yw_world_num_bodies(world);
  shown->bodies = YW_NEW_ARRAY(NULL, shown_body, shown->num_bodies);
  shown->obstacles = YW_NEW_ARRAY(NULL, shown_obstacle, shown->num_obstacles);
  bool good = shown->bodies && shown->obstacles && take_models(scene, world, shown);
  for (int32_t i = 0; i < shown->num_bodies && good; ++i) {
    good = take_body(scene, world, i, shown_model_of(shown, i), &shown->bodies[i]);
  }
  yw_status status = good ? YW_OK : yw_fail_memory(error, "what is shown");
  if (status >= 0) status = take_obstacles(scene, world, shown, error);
  if (status >= 0 && !shown_find_walls(shown)) status = yw_fail_memory(error, "what is shown");
  if (status < 0) {
    shown_destroy(shown);
    return status;
  }
  *out = shown;
  return YW_OK;
}

void shown_destroy(shown_scene* shown) {
  if (!shown) return;
  for (int32_t i = 0; shown->models && i < shown->num_models; ++i) {
    shown_model* model = &shown->models[i];
    yw_tet_mesh_free(&model->tets);
    yw_tri_mesh_free(&model->surface);
    yw_mem_free(NULL, model->vertices);
    yw_mem_free(NULL, model->source);
    yw_mem_free(NULL, model->sheet_source);
    yw_mem_free(NULL, model->carriers);
    yw_mem_free(NULL, model->first);
    yw_mem_free(NULL, model->links);
    yw_mem_free(NULL, model->walls);
    yw_mem_free(NULL, model->elements);
  }
  for (int32_t i = 0; shown->bodies && i < shown->num_bodies; ++i) {
    yw_mem_free(NULL, shown->bodies[i].colors);
  }
  for (int32_t i = 0; shown->obstacles && i < shown->num_obstacles; ++i) {
    yw_tri_mesh_free(&shown->obstacles[i].surface);
    yw_mem_free(NULL, (yw_vec3*)shown->obstacles[i].animation.points);
  }
  yw_mem_free(NULL, shown->models);
  yw_mem_free(NULL, shown->bodies);
  yw_mem_free(NULL, shown->obstacles);
  yw_mem_free(NULL, shown);
}
