// SPDX-License-Identifier: MIT
// What a body is made of while it is posed: its own method and mesh, of a stiffness with which
// bodies of all sizes settle within a second.
#include <string.h>

#include "poser.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"

// Decay rate, 1/s.
#define DAMPING 30.0f
// Radius of rods and thickness of sheets, over the size: they hardly stretch.
#define THINNESS 0.01f
// Lowest angular frequency of rods and sheets that bend, 1/s, about.
#define BEND_RATE 30.0f

// Corners of the elements of rods (2) and sheets (3); 0: neither.
static int32_t corners_of(const yw_model* model, const int32_t** elements, int32_t* count) {
  int32_t corners = 0;
  *count = 0;
  *elements = yw_model_elements(model, &corners, count);
  bool slender = strcmp(yw_model_method(model), "slender") == 0;
  return slender && *elements && *count > 0 && (corners == 2 || corners == 3) ? corners : 0;
}

bool poser_can_hold(const yw_model* model) {
  const int32_t* elements;
  int32_t count;
  return yw_model_points(model, NULL) &&
         (yw_model_tets(model)->num_tets > 0 || corners_of(model, &elements, &count) > 0);
}

// A bar of this thickness and size swings with (thickness / size^2) sqrt(E / density).
static float slender_modulus(const poser* p) {
  float rate = BEND_RATE * p->size / THINNESS;
  return POSER_DENSITY * rate * rate;
}

static yw_slender_params slender_params(yw_slender_params params) {
  params.damping = DAMPING;
  return params;
}

static yw_status create_rod(poser* p, int32_t num_pairs, yw_error* error) {
  yw_rod_def def = yw_default_rod_def();
  def.points = p->shape;
  def.num_points = p->count;
  def.closed = num_pairs == p->count;
  def.radius = THINNESS * p->size;
  def.density = POSER_DENSITY;
  def.youngs_modulus = slender_modulus(p);
  def.params = slender_params(def.params);
  return yw_model_create_rod(NULL, &def, &p->model, error);
}

static yw_status create_sheet(poser* p, const int32_t* triangles, int32_t count, yw_error* error) {
  yw_tri_mesh mesh = {0};
  yw_status status = yw_tri_mesh_create(NULL, p->count, count, &mesh);
  if (status < 0) return yw_fail_memory(error, "a pose");
  memcpy(mesh.positions, p->shape, (size_t)p->count * sizeof *p->shape);
  memcpy(mesh.triangles, triangles, 3 * (size_t)count * sizeof *triangles);
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = &mesh;
  def.thickness = THINNESS * p->size;
  def.density = POSER_DENSITY;
  def.youngs_modulus = slender_modulus(p);
  def.params = slender_params(def.params);
  status = yw_model_create_sheet(NULL, &def, &p->model, error);
  yw_tri_mesh_free(&mesh);
  return status;
}

yw_status poser_create_model(poser* p, yw_error* error) {
  const int32_t* elements;
  int32_t count;
  int32_t corners = corners_of(p->source, &elements, &count);
  if (corners == 2) return create_rod(p, count, error);
  if (corners == 3) return create_sheet(p, elements, count, error);
  if (strcmp(yw_model_method(p->source), "frames") == 0) {
    yw_frames_def def = yw_default_frames_def();
    def.mesh = &p->tets;
    def.density = POSER_DENSITY;
    def.youngs_modulus = POSER_STIFFNESS * POSER_DENSITY * POSER_GRAVITY * p->size;
    def.params.damping = DAMPING;
    return yw_model_create_frames(NULL, &def, &p->model, error);
  }
  yw_match_def def = yw_default_match_def();
  def.mesh = &p->tets;
  def.density = POSER_DENSITY;
  def.params.stiffness = POSER_STIFFNESS;
  def.params.damping = DAMPING;
  return yw_model_create_match(NULL, &def, &p->model, error);
}
