// SPDX-License-Identifier: MIT
// The file shown.ywr, see docs/runs.md.
#include <math.h>

#include "playback/bytes.h"
#include "playback/shown.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// In the place of the flag that says whether a surface is the part near the origin.
#define MOVING_SURFACE 2u
// In the place of SHOWN_OWN, if the source of the surface follows.
#define OWN_OF_FILE 5u

// Writing -----------------------------------------------------------------------------------------

static void write_flag(yw_writer* writer, bool flag) { yw_write_u32(writer, flag ? 1u : 0u); }

static void write_float(yw_writer* writer, float value) { yw_write_f32(writer, &value, 1); }

static void write_lights(const shown_scene* shown, yw_writer* writer) {
  write_flag(writer, shown->has_camera);
  write_vectors(writer, &shown->camera.eye, 1);
  write_vectors(writer, &shown->camera.target, 1);
  write_float(writer, shown->camera.fov);
  write_vectors(writer, &shown->sun.direction, 1);
  write_vectors(writer, &shown->sun.color, 1);
  write_float(writer, shown->sun.radius);
  const yw_render_sky* sky = &shown->sky;
  const yw_vec3 colors[5] = {sky->zenith, sky->horizon, sky->ground, sky->backdrop_high,
                             sky->backdrop_low};
  write_vectors(writer, colors, 5);
  write_float(writer, shown->exposure);
}

static void write_surface(const yw_tri_mesh* surface, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)surface->num_vertices);
  write_vectors(writer, surface->positions, surface->num_vertices);
  yw_write_u32(writer, (uint32_t)surface->num_triangles);
  write_indices(writer, surface->triangles, 3 * (size_t)surface->num_triangles);
  write_flag(writer, surface->colors != NULL);
  if (surface->colors) write_vectors(writer, surface->colors, surface->num_vertices);
}

// The tets to follow; per vertex the number of its links; all links.
static void write_links(const shown_model* model, yw_writer* writer) {
  int32_t vertices = model->surface.num_vertices;
  yw_write_u32(writer, (uint32_t)model->num_carriers);
  write_indices(writer, model->carriers, 4 * (size_t)model->num_carriers);
  yw_write_u32(writer, (uint32_t)model->first[vertices]);
  for (int32_t i = 0; i < vertices; ++i) {
    yw_write_u32(writer, (uint32_t)(model->first[i + 1] - model->first[i]));
  }
  for (int32_t n = 0; n < model->first[vertices]; ++n) {
    write_indices(writer, &model->links[n].vertex, 1);
    yw_write_f32(writer, &model->links[n].weight, 1);
  }
  write_text(writer, model->source ? model->source : "");
}

static bool is_own_of_file(const shown_model* model) {
  return model->kind == SHOWN_OWN && (model->source || model->sheet_source);
}

static void write_model(const shown_model* model, yw_writer* writer) {
  write_text(writer, model->method);
  yw_write_u32(writer, (uint32_t)model->tets.num_vertices);
  write_vectors(writer, model->tets.positions, model->tets.num_vertices);
  yw_write_u32(writer, (uint32_t)model->tets.num_tets);
  write_indices(writer, model->tets.tets, 4 * (size_t)model->tets.num_tets);
  yw_write_u32(writer, (uint32_t)model->corners);
  yw_write_u32(writer, (uint32_t)model->num_elements);
  write_indices(writer, model->elements, (size_t)model->corners * (size_t)model->num_elements);
  yw_write_u32(writer, is_own_of_file(model) ? OWN_OF_FILE : (uint32_t)model->kind);
  write_surface(&model->surface, writer);
  size_t vertices = (size_t)model->surface.num_vertices;
  if (model->kind == SHOWN_BOUNDARY) write_indices(writer, model->vertices, vertices);
  if (model->kind == SHOWN_EMBEDDED) write_links(model, writer);
  if (is_own_of_file(model)) {
    write_text(writer, model->source ? model->source : model->sheet_source);
  }
}

static void write_look(const shown_look* look, yw_writer* writer) {
  write_flag(writer, look->visible);
  write_vectors(writer, &look->color, 1);
  write_vectors(writer, &look->color2, 1);
  const float numbers[3] = {look->gloss, look->crease, look->checker};
  yw_write_f32(writer, numbers, 3);
}

static void write_animation(const yw_mesh_animation* a, yw_writer* writer) {
  yw_write_u32(writer, (uint32_t)a->num_frames);
  yw_write_f64(writer, a->fps);
  yw_write_f64(writer, a->start);
  write_flag(writer, a->loop);
  write_flag(writer, a->smooth);
  for (int32_t i = 0; i < a->num_frames; ++i) {
    write_vectors(writer, a->points + (size_t)i * (size_t)a->num_points, a->num_points);
  }
}

static void write_obstacle(const shown_obstacle* obstacle, yw_writer* writer) {
  write_text(writer, obstacle->name);
  write_look(&obstacle->look, writer);
  write_flag(writer, obstacle->plane);
  if (obstacle->plane) {
    write_vectors(writer, &obstacle->normal, 1);
    write_float(writer, obstacle->offset);
  } else {
    bool moves = obstacle->animation.num_frames > 0;
    yw_write_u32(writer, moves ? MOVING_SURFACE : obstacle->unbounded);
    write_surface(&obstacle->surface, writer);
    if (moves) write_animation(&obstacle->animation, writer);
  }
}

void shown_write(const shown_scene* shown, yw_writer* writer) {
  write_lights(shown, writer);
  yw_write_u32(writer, (uint32_t)shown->num_models);
  for (int32_t i = 0; i < shown->num_models; ++i) write_model(&shown->models[i], writer);
  yw_write_u32(writer, (uint32_t)shown->num_bodies);
  for (int32_t i = 0; i < shown->num_bodies; ++i) {
    const shown_body* body = &shown->bodies[i];
    write_text(writer, body->name);
    yw_write_u32(writer, (uint32_t)body->model);
    yw_write_f64(writer, body->mass);
    write_look(&body->look, writer);
    write_flag(writer, body->touches);
    yw_write_u32(writer, (uint32_t)body->num_colors);
    write_vectors(writer, body->colors, body->num_colors);
  }
  yw_write_u32(writer, (uint32_t)shown->num_obstacles);
  for (int32_t i = 0; i < shown->num_obstacles; ++i) write_obstacle(&shown->obstacles[i], writer);
}

// Reading -----------------------------------------------------------------------------------------

// Minimum sizes of a model, a body and an obstacle in the file, bytes.
enum { MIN_MODEL = 36, MIN_BODY = 64, MIN_OBSTACLE = 64 };

static bool read_flag(yw_reader* reader, bool* out) {
  uint32_t value = yw_read_u32(reader);
  *out = value == 1;
  return value <= 1;
}

static float read_float(yw_reader* reader) {
  float value;
  yw_read_f32(reader, &value, 1);
  return value;
}

static yw_vec3 read_vector(yw_reader* reader) {
  yw_vec3 value;
  yw_read_f32(reader, &value.x, 1);
  yw_read_f32(reader, &value.y, 1);
  yw_read_f32(reader, &value.z, 1);
  return value;
}

// NULL: the file is too short for this count, or out of memory.
static yw_vec3* read_vectors(yw_reader* reader, int32_t count) {
  if (!has_room(reader, (size_t)count, sizeof(yw_vec3))) return NULL;
  yw_vec3* values = YW_NEW_ARRAY(NULL, yw_vec3, count);
  for (int32_t i = 0; values && i < count; ++i) values[i] = read_vector(reader);
  return values;
}

// Groups of `size` indices below `limit`.
static int32_t* read_groups(yw_reader* reader, int32_t count, size_t size, int32_t limit) {
  if (!has_room(reader, (size_t)count, 4 * size)) return NULL;
  int32_t* indices = YW_NEW_ARRAY(NULL, int32_t, size * (size_t)count);
  if (indices && read_indices(reader, size * (size_t)count, limit, indices)) return indices;
  yw_mem_free(NULL, indices);
  return NULL;
}

static bool read_lights(yw_reader* reader, shown_scene* out) {
  bool good = read_flag(reader, &out->has_camera);
  out->camera.eye = read_vector(reader);
  out->camera.target = read_vector(reader);
  out->camera.fov = read_float(reader);
  out->sun.direction = read_vector(reader);
  out->sun.color = read_vector(reader);
  out->sun.radius = read_float(reader);
  yw_render_sky* sky = &out->sky;
  yw_vec3* colors[5] = {&sky->zenith, &sky->horizon, &sky->ground, &sky->backdrop_high,
                        &sky->backdrop_low};
  for (int i = 0; i < 5; ++i) *colors[i] = read_vector(reader);
  out->exposure = read_float(reader);
  return good;
}

static bool read_surface(yw_reader* reader, yw_tri_mesh* out) {
  bool colors;
  if (!read_count(reader, sizeof(yw_vec3), &out->num_vertices)) return false;
  out->positions = read_vectors(reader, out->num_vertices);
  if (!out->positions || !read_count(reader, 12, &out->num_triangles)) return false;
  out->triangles = read_groups(reader, out->num_triangles, 3, out->num_vertices);
  if (!out->triangles || !read_flag(reader, &colors)) return false;
  return !colors || (out->colors = read_vectors(reader, out->num_vertices)) != NULL;
}

static bool read_source(yw_reader* reader, shown_model* out) {
  int32_t length;
  if (!read_count(reader, 1, &length)) return false;
  if (length == 0) return true;
  out->source = YW_NEW_ARRAY(NULL, char, (size_t)length + 1);
  if (!out->source) return false;
  yw_read_bytes(reader, out->source, (size_t)length);
  return !reader->failed;
}

// That of a sheet is about the middle between its sides.
static bool read_own_source(yw_reader* reader, shown_model* out) {
  if (!read_source(reader, out)) return false;
  if (shown_sheet_particles(out) == 0) return true;
  out->sheet_source = out->source;
  out->source = NULL;
  return true;
}

static bool read_links(yw_reader* reader, int32_t limit, shown_model* out) {
  int32_t vertices = out->surface.num_vertices, total;
  if (!read_count(reader, 16, &out->num_carriers)) return false;
  out->carriers = read_groups(reader, out->num_carriers, 4, limit);
  if (!out->carriers || !read_count(reader, 8, &total) || !has_room(reader, (size_t)vertices, 4))
    return false;
  out->first = YW_NEW_ARRAY(NULL, int32_t, (size_t)vertices + 1);
  for (int32_t i = 0; out->first && i < vertices; ++i) {
    uint32_t count = yw_read_u32(reader);
    if (count > (uint32_t)(total - out->first[i])) return false;
    out->first[i + 1] = out->first[i] + (int32_t)count;
  }
  if (!out->first || out->first[vertices] != total) return false;
  if (!has_room(reader, (size_t)total, 8)) return false;
  out->links = YW_NEW_ARRAY(NULL, yw_surface_link, total);
  for (int32_t n = 0; out->links && n < total; ++n) {
    if (!read_indices(reader, 1, limit, &out->links[n].vertex)) return false;
    yw_read_f32(reader, &out->links[n].weight, 1);
  }
  return out->links && read_source(reader, out);
}

// Frames say how many particles there are: see frame_fits.
static bool read_elements(yw_reader* reader, shown_model* out) {
  uint32_t corners = yw_read_u32(reader);
  if (corners > 3 || corners == 1) return false;
  out->corners = (int32_t)corners;
  if (!read_count(reader, 4, &out->num_elements)) return false;
  if (corners == 0) return out->num_elements == 0;
  out->elements = read_groups(reader, out->num_elements, corners, INT32_MAX);
  return out->elements != NULL;
}

static bool read_model(yw_reader* reader, shown_model* out) {
  yw_tet_mesh* tets = &out->tets;
  if (!read_text(reader, out->method, sizeof out->method)) return false;
  if (!read_count(reader, sizeof(yw_vec3), &tets->num_vertices)) return false;
  tets->positions = read_vectors(reader, tets->num_vertices);
  if (!tets->positions || !read_count(reader, 16, &tets->num_tets)) return false;
  tets->tets = read_groups(reader, tets->num_tets, 4, tets->num_vertices);
  if (!tets->tets || !read_elements(reader, out)) return false;
  uint32_t kind = yw_read_u32(reader);
  if (kind > OWN_OF_FILE || kind == 2 || !read_surface(reader, &out->surface)) return false;
  out->kind = kind == OWN_OF_FILE ? SHOWN_OWN : (shown_surface)kind;
  if ((out->surface.num_triangles > 0) != (kind != SHOWN_PARTICLES)) return false;
  if (kind == SHOWN_EMBEDDED) return read_links(reader, tets->num_vertices, out);
  if (kind == OWN_OF_FILE) return read_own_source(reader, out);
  if (kind != SHOWN_BOUNDARY) return true;
  out->vertices = read_groups(reader, out->surface.num_vertices, 1, tets->num_vertices);
  return out->vertices != NULL;
}

static bool read_look(yw_reader* reader, shown_look* out) {
  bool good = read_flag(reader, &out->visible);
  out->color = read_vector(reader);
  out->color2 = read_vector(reader);
  out->gloss = read_float(reader);
  out->crease = read_float(reader);
  out->checker = read_float(reader);
  return good;
}

static bool read_body(yw_reader* reader, const shown_scene* shown, shown_body* out) {
  if (!read_text(reader, out->name, sizeof out->name)) return false;
  if (!read_indices(reader, 1, shown->num_models, &out->model)) return false;
  out->mass = yw_read_f64(reader);
  if (!read_look(reader, &out->look) || !read_flag(reader, &out->touches)) return false;
  if (!read_count(reader, sizeof(yw_vec3), &out->num_colors)) return false;
  const shown_model* model = &shown->models[out->model];
  bool counted = model->kind == SHOWN_PARTICLES || out->num_colors == 0 ||
                 out->num_colors == model->surface.num_vertices;
  if (!counted) return false;
  if (out->num_colors == 0) return true;
  out->colors = read_vectors(reader, out->num_colors);
  return out->colors != NULL;
}

static bool read_animation(yw_reader* reader, const yw_tri_mesh* surface, yw_mesh_animation* out) {
  size_t row = (size_t)surface->num_vertices;
  if (row == 0 || !read_count(reader, row * sizeof(yw_vec3), &out->num_frames)) return false;
  out->num_points = surface->num_vertices;
  out->fps = yw_read_f64(reader);
  out->start = yw_read_f64(reader);
  if (!read_flag(reader, &out->loop) || !read_flag(reader, &out->smooth)) return false;
  size_t count = row * (size_t)out->num_frames;
  if (out->num_frames < 1 || count > INT32_MAX) return false;
  out->points = read_vectors(reader, (int32_t)count);
  return out->points && out->fps > 0.0 && isfinite(out->fps) && isfinite(out->start);
}

static bool read_obstacle(yw_reader* reader, shown_obstacle* out) {
  if (!read_text(reader, out->name, sizeof out->name) || !read_look(reader, &out->look) ||
      !read_flag(reader, &out->plane)) {
    return false;
  }
  if (!out->plane) {
    uint32_t kind = yw_read_u32(reader);
    out->unbounded = kind == 1;
    if (kind > MOVING_SURFACE || !read_surface(reader, &out->surface)) return false;
    return kind != MOVING_SURFACE || read_animation(reader, &out->surface, &out->animation);
  }
  out->normal = read_vector(reader);
  out->offset = read_float(reader);
  return true;
}

static bool read_all(yw_reader* reader, shown_scene* out) {
  bool good = read_lights(reader, out) && read_count(reader, MIN_MODEL, &out->num_models);
  good = good && (out->models = YW_NEW_ARRAY(NULL, shown_model, out->num_models));
  for (int32_t i = 0; good && i < out->num_models; ++i) {
    good = read_model(reader, &out->models[i]);
  }
  good = good && read_count(reader, MIN_BODY, &out->num_bodies);
  good = good && (out->bodies = YW_NEW_ARRAY(NULL, shown_body, out->num_bodies));
  for (int32_t i = 0; good && i < out->num_bodies; ++i) {
    good = read_body(reader, out, &out->bodies[i]);
  }
  good = good && read_count(reader, MIN_OBSTACLE, &out->num_obstacles);
  good = good && (out->obstacles = YW_NEW_ARRAY(NULL, shown_obstacle, out->num_obstacles));
  for (int32_t i = 0; good && i < out->num_obstacles; ++i) {
    good = read_obstacle(reader, &out->obstacles[i]);
  }
  return good && !reader->failed && reader->offset == reader->size;
}

yw_status shown_read(yw_reader* reader, shown_scene** out) {
  *out = YW_NEW(NULL, shown_scene);
  if (!*out) return YW_ERR_MEMORY;
  if (read_all(reader, *out) && shown_find_walls(*out)) return YW_OK;
  shown_destroy(*out);
  *out = NULL;
  return YW_ERR_FORMAT;
}
