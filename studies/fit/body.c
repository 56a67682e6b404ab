// SPDX-License-Identifier: MIT
// The body that yawara fit measures on: a box, a tet mesh, or a body of a scene.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "methods/frames/frames.h"
#include "methods/frames/model.h"
#include "model/model.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text.h"

// Fraction of the body's length that is held, or loaded, at its ends if it is not a box.
#define END_SHARE 0.05

const yw_tet_mesh* fit_mesh(const fit_body* body) {
  return body->is_bar ? &body->bar.mesh : &body->mesh;
}
const elastic_grid* fit_grid(const fit_body* body) {
  return body->is_bar ? &body->bar.grid : &body->grid;
}
double fit_length(const fit_body* body) {
  const elastic_grid* grid = fit_grid(body);
  return grid->high[body->axis] - grid->low[body->axis];
}

// Scenes ------------------------------------------------------------------------------------------

// The model of the scene's body, retained.
static yw_status open_scene(const fit_options* options, yw_model** out, yw_error* error) {
  yw_scene* scene;
  yw_world* world;
  *out = NULL;
  yw_scene_def def = yw_default_scene_def();
  def.path = options->file;
  yw_status status = yw_scene_read(&def, &scene, NULL, error);
  if (status < 0) return status;
  status = yw_scene_build(scene, 1, YW_SIMD_AUTO, &world, error);
  yw_scene_destroy(scene);
  if (status < 0) return status;
  int32_t count = yw_world_num_bodies(world);
  if (options->body >= count) {
    status = yw_fail(error, YW_ERR_INVALID, "--body is %d, but %s has %d bodies, counted from 0",
                     options->body, options->file, count);
  } else {
    yw_body_id body = yw_world_body(world, options->body);
    *out = yw_model_retain((yw_model*)yw_body_model(world, body));
  }
  yw_world_destroy(world);
  return status;
}

static bool is_scene(const char* path) { return path && yw_ends_with(path, ".json"); }

// Mean moduli of a frames body; false for others.
static bool scene_material(const yw_model* model, fit_material* out) {
  if (model->method != &yw_frames_method) return false;
  const frames_model* frames = model->data;
  yw_tet_quality quality;
  if (yw_tet_mesh_quality(yw_model_tets(model), &quality) < 0) return false;
  double mu = 0.0, lambda = 0.0;
  for (int32_t r = 0; r < frames->num_regions; ++r) {
    const frames_region_block* block = &frames->blocks[r / YW_LANES];
    mu += 0.5 * (double)block->mu2[r % YW_LANES] / quality.volume;
    lambda += (double)block->lambda[r % YW_LANES] / quality.volume;
  }
  out->youngs_modulus = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
  out->poissons_ratio = lambda / (2.0 * (lambda + mu));
  out->density = frames->total_mass / quality.volume;
  return true;
}

// Bodies ------------------------------------------------------------------------------------------

// Parses three positive numbers separated by x; false on anything else.
static bool parse_triple(const char* text, double largest, double out[3]) {
  const char* at = text;
  for (int k = 0; k < 3; ++k) {
    char* end;
    out[k] = strtod(at, &end);
    if (end == at || !isfinite(out[k]) || !(out[k] > 0.0) || out[k] > largest) return false;
    if (k < 2 ? *end != 'x' : *end != '\0') return false;
    at = end + 1;
  }
  return true;
}

static yw_status parse_box(const char* text, double size[3], yw_error* error) {
  if (!parse_triple(text, 1e6, size)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "--box is \"%s\", but must be length x depth x width in metres, e.g. "
                   "0.3x0.002x0.03",
                   text);
  }
  if (size[0] < fmax(size[1], size[2])) {
    return yw_fail(error, YW_ERR_INVALID,
                   "--box is \"%s\", but the first length must be the longest: it is the axis of "
                   "the bar",
                   text);
  }
  return YW_OK;
}

// "8" across, with roughly cubic cells, or "40x8x8". Even numbers across.
static yw_status parse_cells(const char* text, const double size[3], double refine,
                             int32_t cells[3], yw_error* error) {
  double counts[3];
  char* end;
  double across = strtod(text, &end);
  if (end != text && *end == '\0' && across >= 2.0 && across <= 1000.0) {
    for (int k = 0; k < 3; ++k) counts[k] = across * size[k] / fmin(size[1], size[2]);
  } else if (!parse_triple(text, 1e5, counts)) {
    return yw_fail(error, YW_ERR_INVALID,
                   "--cells is \"%s\", but must be a number of cells across, at least 2, or three "
                   "numbers, e.g. 40x8x8",
                   text);
  }
  double nodes = 1.0;
  for (int k = 0; k < 3; ++k) nodes *= refine * counts[k] + 1.0;
  if (nodes > ELASTIC_MAX_NODES) {
    return yw_fail(error, YW_ERR_LIMIT,
                   "--cells %s makes %.3g particles of a box of %g x %g x %g m, but at most %d can "
                   "be measured; try fewer, or longer cells, e.g. --cells 60x4x8",
                   text, nodes, size[0], size[1], size[2], ELASTIC_MAX_NODES);
  }
  for (int k = 0; k < 3; ++k) {
    cells[k] = 2 * (int32_t)lround(0.5 * refine * counts[k]);
    if (cells[k] < 2) cells[k] = 2;
  }
  return YW_OK;
}

static yw_status create_bar(const fit_options* options, double refine, fit_body* out,
                            yw_error* error) {
  double size[3];
  int32_t cells[3];
  yw_status status = parse_box(options->box ? options->box : "5x1x1", size, error);
  if (status >= 0) status = parse_cells(options->cells, size, refine, cells, error);
  if (status < 0) return status;
  out->is_bar = true;
  out->axis = 0, out->across = 1;
  out->volume = size[0] * size[1] * size[2];
  snprintf(out->name, sizeof out->name, "bar of %g x %g x %g m, %d x %d x %d cells", size[0],
           size[1], size[2], cells[0], cells[1], cells[2]);
  return elastic_bar_create(size, cells, 1, &out->bar, error);
}

static yw_status load_mesh(const fit_options* options, yw_tet_mesh* out, yw_error* error) {
  if (!is_scene(options->file)) return yw_tet_mesh_read(options->file, NULL, out, error);
  yw_model* model;
  yw_status status = open_scene(options, &model, error);
  if (status < 0) return status;
  const yw_tet_mesh* tets = yw_model_tets(model);
  if (tets->num_tets == 0) {
    status =
        yw_fail(error, YW_ERR_INVALID, "body %d of %s has no tets: yawara fit measures volumes",
                options->body, options->file);
  } else if (yw_tet_mesh_copy(tets, NULL, out) < 0) {
    status = yw_fail_memory(error, "a mesh");
  }
  yw_model_release(model);
  return status;
}

yw_status fit_body_create(const fit_options* options, double refine, fit_body* out,
                          yw_error* error) {
  *out = (fit_body){0};
  out->model = strcmp(options->kind, "cells") == 0 ? ELASTIC_CELLS : ELASTIC_RINGS;
  if (!options->file) return create_bar(options, refine, out, error);
  if (out->model == ELASTIC_CELLS) {
    return yw_fail(
        error, YW_ERR_INVALID,
        "--kind is \"cells\", but only a --box is made of cells; leave it out for rings");
  }
  yw_status status = load_mesh(options, &out->mesh, error);
  if (status >= 0) status = yw_tet_mesh_check(&out->mesh, error);
  yw_tet_quality quality;
  if (status >= 0) yw_tet_mesh_quality(&out->mesh, &quality);
  if (status >= 0 && quality.num_parts > 1) {
    status = yw_fail(error, YW_ERR_GEOMETRY,
                     "%s has %d parts that hang together nowhere; measure them one by one",
                     options->file, quality.num_parts);
  }
  if (status >= 0) status = elastic_grid_create(&out->mesh, 1, &out->grid, error);
  if (status < 0) {
    fit_body_free(out);
    return status;
  }
  out->volume = quality.volume;
  double side[3];
  for (int k = 0; k < 3; ++k) side[k] = out->grid.high[k] - out->grid.low[k];
  for (int k = 1; k < 3; ++k) {
    if (side[k] > side[out->axis]) out->axis = k;
  }
  out->across = out->axis == 0 ? 1 : 0;
  for (int k = 0; k < 3; ++k) {
    if (k != out->axis && side[k] < side[out->across]) out->across = k;
  }
  snprintf(out->name, sizeof out->name, "%s, %d particles", options->file, out->mesh.num_vertices);
  return YW_OK;
}

void fit_body_free(fit_body* body) {
  if (body->is_bar) elastic_bar_free(&body->bar);
  yw_tet_mesh_free(&body->mesh);
  elastic_grid_free(&body->grid);
  *body = (fit_body){0};
}

// Materials ---------------------------------------------------------------------------------------

static yw_status use_preset(const char* name, fit_material* out, yw_error* error) {
  const yw_material* preset = yw_material_by_name(name);
  if (preset) {
    *out = (fit_material){(double)preset->youngs_modulus, (double)preset->poissons_ratio,
                          (double)preset->density, true};
    return YW_OK;
  }
  const char* names[64];
  int32_t count = yw_num_materials() < 64 ? yw_num_materials() : 64;
  for (int32_t i = 0; i < count; ++i) names[i] = yw_material_at(i)->name;
  yw_hint hint = yw_suggest(name, count, names);
  return yw_fail(error, YW_ERR_INVALID,
                 "there is no material \"%s\"%s; docs/materials.md has a list", name, hint.text);
}

yw_status fit_find_material(const fit_options* options, fit_material* out, yw_error* error) {
  *out = (fit_material){1e5, 0.3, 1000, false};
  if (is_scene(options->file)) {
    yw_model* model;
    yw_status status = open_scene(options, &model, error);
    if (status < 0) return status;
    out->has_youngs = scene_material(model, out);
    yw_model_release(model);
  }
  if (options->material) {
    yw_status status = use_preset(options->material, out, error);
    if (status < 0) return status;
  }
  if (!isnan(options->youngs_modulus)) {
    out->youngs_modulus = (double)options->youngs_modulus;
    out->has_youngs = true;
  }
  if (!isnan(options->poissons_ratio)) out->poissons_ratio = (double)options->poissons_ratio;
  if (!isnan(options->density)) out->density = (double)options->density;
  return YW_OK;
}

yw_status fit_system(const fit_body* body, elastic_model model, const fit_material* material,
                     double kappa, bool sequential, elastic_system* out, yw_error* error) {
  elastic_def def = {.model = model,
                     .mesh = fit_mesh(body),
                     .cells = body->bar.cell_nodes,
                     .num_cells = body->bar.num_cells,
                     .youngs_modulus = material->youngs_modulus,
                     .poissons_ratio = material->poissons_ratio,
                     .density = material->density,
                     .kappa = kappa,
                     .sequential = sequential};
  return elastic_create(&def, out, error);
}

// Cantilevers -------------------------------------------------------------------------------------

typedef struct even_pull {
  int direction;
  double traction;
} even_pull;

static void pull_evenly(const void* context, const double place[3], double t[3]) {
  (void)place;
  const even_pull* pull = context;
  t[pull->direction] += pull->traction;
}

yw_status fit_cantilever(const fit_body* body, const elastic_system* system, bool weight,
                         bar_setup* out, yw_error* error) {
  const elastic_grid* grid = fit_grid(body);
  int axis = body->axis;
  yw_status status = bar_setup_create(grid->num_nodes, out, error);
  if (status < 0) return status;
  double slack = fit_length(body) * (body->is_bar ? 1e-6 : END_SHARE);
  for (int32_t i = 0; i < 3 * grid->num_nodes; ++i) {
    out->fixed[i] = grid->nodes[i / 3][axis] <= grid->low[axis] + slack;
    if (weight && i % 3 == body->across) out->forces[i] = system->mass[i / 3];
  }
  if (weight) return YW_OK;
  even_pull pull = {body->across, 1.0};
  double area =
      elastic_load_face(grid, axis, grid->high[axis], slack, pull_evenly, &pull, out->forces);
  if (!(area > 0.0)) {
    bar_setup_free(out);
    return yw_fail(error, YW_ERR_GEOMETRY,
                   "no face of the body lies within %g of its far end: there is nothing to load",
                   slack);
  }
  for (int32_t i = 0; i < out->size; ++i) out->forces[i] /= area;
  return YW_OK;
}

// Boxes: deflection of the axis. Other bodies: the mean over the far end.
double fit_tip(const fit_body* body, const bar_setup* setup) {
  const elastic_grid* grid = fit_grid(body);
  if (body->is_bar) {
    return setup->displacements[3 * elastic_node_at(grid, grid->high[0], 0, 0) + 1];
  }
  double sum = 0.0, slack = END_SHARE * fit_length(body);
  int32_t count = 0;
  for (int32_t i = 0; i < grid->num_nodes; ++i) {
    if (grid->nodes[i][body->axis] < grid->high[body->axis] - slack) continue;
    sum += setup->displacements[3 * i + body->across];
    ++count;
  }
  return sum / count;
}
