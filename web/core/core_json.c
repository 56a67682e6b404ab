// SPDX-License-Identifier: MIT
// What the page shows in words and numbers, as JSON.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "yawara/extend/memory.h"

// Pieces ------------------------------------------------------------------------------------------

static void add_key(text* t, const char* key) {
  text_add_comma(t);
  text_add_string(t, key);
  text_add(t, ":");
}

static void add_text(text* t, const char* key, const char* value) {
  add_key(t, key);
  text_add_string(t, value);
}

static void add_number(text* t, const char* key, double value) {
  add_key(t, key);
  text_add_number(t, value);
}

static void add_flag(text* t, const char* key, bool value) {
  add_key(t, key);
  text_add(t, value ? "true" : "false");
}

static void add_vec3(text* t, const char* key, yw_vec3 v) {
  add_key(t, key);
  text_add(t, "[");
  text_add_number(t, (double)v.x);
  text_add(t, ",");
  text_add_number(t, (double)v.y);
  text_add(t, ",");
  text_add_number(t, (double)v.z);
  text_add(t, "]");
}

// An array of numbers of 4 bytes.
static void add_array(core* c, const char* key, const void* items, int64_t count) {
  uintptr_t at = c->keeps_arrays ? c->arrays.size : (uintptr_t)items;
  if (c->keeps_arrays) text_add_bytes(&c->arrays, items, 4 * (size_t)count);
  add_key(&c->json, key);
  text_add(&c->json, "{\"at\":%" PRIuPTR ",\"count\":%" PRId64 "}", at, count);
}

// The scene ---------------------------------------------------------------------------------------

static void add_info(text* t, const core* c) {
  const yw_scene_info* info = &c->info;
  add_text(t, "name", info->name);
  add_text(t, "description", info->description);
  add_number(t, "fps", (double)info->fps);
  add_number(t, "frames", info->frames);
  add_number(t, "substeps", info->substeps);
  if (info->has_camera) {
    add_key(t, "camera");
    text_add(t, "{");
    add_vec3(t, "eye", info->camera.eye);
    add_vec3(t, "target", info->camera.target);
    add_number(t, "fov", (double)info->camera.fov);
    text_add(t, "}");
  }
}

static void add_models(text* t, core* c) {
  add_key(t, "models");
  text_add(t, "[");
  for (int32_t i = 0; i < c->shown->num_models; ++i) {
    const shown_model* model = &c->shown->models[i];
    const display_mesh* mesh = &c->meshes[i];
    text_add_comma(t);
    text_add(t, "{");
    add_text(t, "method", model->method);
    add_number(t, "tets", model->tets.num_tets);
    add_flag(t, "particles", model->kind == SHOWN_PARTICLES || core_model_is_clad(c, i));
    add_number(t, "vertices", mesh->num_vertices);
    add_array(c, "triangles", mesh->triangles, 3 * (int64_t)mesh->num_triangles);
    add_array(c, "source", mesh->source, mesh->num_vertices);
    text_add(t, "}");
  }
  text_add(t, "]");
}

static void add_field(text* t, const char* name, const char* unit, const char* meaning) {
  text_add_comma(t);
  text_add(t, "{");
  add_text(t, "name", name);
  add_text(t, "unit", unit);
  add_text(t, "meaning", meaning);
  text_add(t, "}");
}

static void add_fields(text* t, const core* c, int32_t index) {
  add_key(t, "fields");
  text_add(t, "[");
  const frame_body* kept = c->moment.bodies ? &c->moment.bodies[index] : NULL;
  for (int32_t i = 0; kept && i < kept->num_fields; ++i) {
    add_field(t, kept->fields[i].name, kept->fields[i].unit, kept->fields[i].meaning);
  }
  yw_body_id id = c->bodies[index].id;
  int32_t count = c->run ? 0 : yw_body_num_fields(c->world, id);
  for (int32_t i = 0; i < count; ++i) {
    yw_field_info info = yw_body_field_info(c->world, id, i);
    add_field(t, info.name, info.unit, yw_body_field_meaning(c->world, id, i));
  }
  text_add(t, "]");
}

// Colours of the particles of a clad body, if they differ.
static void add_particle_colors(core* c, int32_t index) {
  int32_t count = 0;
  yw_mem_free(NULL, c->bodies[index].colors);
  c->bodies[index].colors = core_clad_colors(c, index, &count);
  if (count > 0) add_array(c, "colors", c->bodies[index].colors, 3 * (int64_t)count);
}

static void add_bodies(text* t, core* c) {
  add_key(t, "bodies");
  text_add(t, "[");
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) {
    const shown_body* body = &c->shown->bodies[i];
    const yw_tri_mesh* surface = &c->shown->models[body->model].surface;
    const yw_vec3* colors = body->num_colors > 0 ? body->colors : surface->colors;
    int32_t num_colors = body->num_colors > 0 ? body->num_colors : surface->num_vertices;
    // Of vertices, but the page has only particles of these.
    bool clad = core_is_clad(c, i);
    if (clad) colors = NULL;
    text_add_comma(t);
    text_add(t, "{");
    add_text(t, "name", body->name);
    add_number(t, "model", body->model);
    add_number(t, "entry", c->run ? i : yw_scene_body_entry(c->scene, i));
    add_number(t, "mass", body->mass);
    add_number(t, "size", (double)c->bodies[i].size);
    add_number(t, "gloss", (double)body->look.gloss);
    add_vec3(t, "color", body->look.color);
    if (colors) add_array(c, "colors", colors, 3 * (int64_t)num_colors);
    if (clad) add_particle_colors(c, i);
    add_fields(t, c, i);
    text_add(t, "}");
  }
  text_add(t, "]");
}

static void add_obstacles(text* t, core* c) {
  add_key(t, "obstacles");
  text_add(t, "[");
  for (int32_t i = 0; i < c->shown->num_obstacles; ++i) {
    const shown_obstacle* obstacle = &c->shown->obstacles[i];
    const display_mesh* mesh = &c->obstacle_meshes[i];
    text_add_comma(t);
    text_add(t, "{");
    add_text(t, "name", obstacle->name);
    add_flag(t, "visible", obstacle->look.visible);
    add_vec3(t, "color", obstacle->look.color);
    add_number(t, "checker", (double)obstacle->look.checker);
    if (obstacle->plane) {
      add_vec3(t, "normal", obstacle->normal);
      add_number(t, "offset", (double)obstacle->offset);
    } else {
      add_array(c, "positions", obstacle->surface.positions,
                3 * (int64_t)obstacle->surface.num_vertices);
      add_array(c, "triangles", mesh->triangles, 3 * (int64_t)mesh->num_triangles);
      add_array(c, "source", mesh->source, mesh->num_vertices);
    }
    text_add(t, "}");
  }
  text_add(t, "]");
}

const char* core_scene_json(core* c) {
  text* t = &c->json;
  text_clear(t);
  text_clear(&c->arrays);
  text_add(t, "{");
  if (c->shown) {
    add_info(t, c);
    add_models(t, c);
    add_bodies(t, c);
    add_obstacles(t, c);
  }
  text_add(t, "}");
  return t->failed || c->arrays.failed ? "{}" : t->data;
}

// The report --------------------------------------------------------------------------------------

static void add_energy(text* t, const core* c) {
  yw_body_energy sum = {0};
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) {
    yw_body_energy own = {0};
    if (yw_body_energy_of(c->world, c->bodies[i].id, &own) < 0) continue;
    sum.kinetic += own.kinetic;
    sum.elastic += own.elastic;
    sum.gravitational += own.gravitational;
  }
  add_number(t, "kinetic", sum.kinetic);
  add_number(t, "elastic", sum.elastic);
  add_number(t, "gravitational", sum.gravitational);
}

// Weights of the examples, averaged over the groups; only bodies of match have them.
static void add_weights(text* t, const core* c, yw_body_id id) {
  yw_match_statistics statistics;
  if (yw_body_match_statistics(c->world, id, &statistics) < 0) return;
  int32_t row = 1 + statistics.num_examples, groups = statistics.num_groups;
  float* weights = YW_NEW_ARRAY(NULL, float, (size_t)row*(size_t)groups);
  if (!weights) return;
  yw_body_match_weights(c->world, id, weights, row * groups);
  add_key(t, "weights");
  text_add(t, "[");
  for (int32_t k = 0; k < row; ++k) {
    double sum = 0.0;
    for (int32_t g = 0; g < groups; ++g) sum += (double)weights[g * row + k];
    text_add_comma(t);
    text_add_number(t, sum / (double)groups);
  }
  text_add(t, "]");
  yw_mem_free(NULL, weights);
}

static void add_sums(text* t, const core* c, yw_body_id id) {
  yw_body_sums sums = {0};
  yw_body_sums_of(c->world, id, &sums);
  add_vec3(t, "center",
           (yw_vec3){(float)sums.center[0], (float)sums.center[1], (float)sums.center[2]});
}

static void add_statistics(text* t, const core* c) {
  add_key(t, "bodies");
  text_add(t, "[");
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) {
    yw_statistics statistics = {0};
    yw_body_id id = c->bodies[i].id;
    text_add_comma(t);
    text_add(t, "{");
    add_sums(t, c, id);
    add_weights(t, c, id);
    yw_body_statistics_of(c->world, id, &statistics);
    add_key(t, "statistics");
    text_add(t, "[");
    for (int32_t k = 0; k < statistics.count; ++k) {
      text_add_comma(t);
      text_add(t, "{");
      add_text(t, "name", statistics.items[k].name);
      add_text(t, "unit", statistics.items[k].unit);
      add_number(t, "value", statistics.items[k].value);
      text_add(t, "}");
    }
    text_add(t, "]}");
  }
  text_add(t, "]");
}

const char* core_report_json(core* c) {
  text* t = &c->json;
  text_clear(t);
  text_add(t, "{");
  if (c->world) {
    const yw_step_report* report = &c->report;
    add_number(t, "frame", c->frame);
    add_number(t, "time", yw_world_time(c->world));
    add_text(t, "hash", core_hash(c));
    add_number(t, "particles", report->num_particles);
    add_number(t, "contacts", report->obstacle_contacts + report->body_contacts);
    add_number(t, "recovered", report->recovered_regions);
    add_number(t, "stalled", report->stalled_solves);
    add_number(t, "diverged", report->diverged_bodies);
    add_number(t, "seconds", report->seconds_total);
    add_energy(t, c);
    add_statistics(t, c);
  }
  text_add(t, "}");
  return t->failed ? "{}" : t->data;
}

static void add_piece(void* context, const char* piece) { text_add(context, "%s", piece); }

const char* core_settings_json(core* c, int32_t body) {
  text_clear(&c->json);
  yw_scene_write_settings(c->scene, body, add_piece, &c->json);
  return c->json.failed ? "[]" : c->json.data;
}

const char* core_hash(core* c) {
  static char digits[24];
  uint64_t hash = c->world ? yw_world_hash(c->world) : 0;
  snprintf(digits, sizeof digits, "%016" PRIx64, hash);
  return digits;
}

void core_show_field(core* c, const char* name) {
  snprintf(c->field, sizeof c->field, "%s", name ? name : "");
}
