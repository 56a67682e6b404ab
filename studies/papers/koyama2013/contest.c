// SPDX-License-Identifier: MIT
#include "papers/koyama2013/contest.h"

#include <math.h>
#include <string.h>

#include "papers/measure.h"
#include "reference/examples/example_fem.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/pose.h"

#define GRAVITY 9.81
#define SLICES 9
#define PI 3.14159265358979323846

static const char* const names[CONTEST_COUNT] = {"match",
                                                 "frames",
                                                 "Schumacher 2012",
                                                 "Schumacher 2012, weights per tet",
                                                 "Martin 2011, projected once per step",
                                                 "Martin 2011"};
static const char* const short_names[CONTEST_COUNT] = {"match",        "frames",      "Schumacher",
                                                       "Sch. per tet", "Martin once", "Martin"};

const char* contest_name(contest_method method) { return names[method]; }
const char* contest_short_name(contest_method method) { return short_names[method]; }

// Bodies ------------------------------------------------------------------------------------------

static yw_status twist_and_squash(contest_body* body, double degrees, double squash,
                                  yw_error* error) {
  int32_t n = body->mesh.num_vertices;
  body->example = YW_NEW_ARRAY(NULL, yw_vec3, n);
  if (!body->example) return yw_fail_memory(error, "an example");
  yw_deform turn = yw_default_deform(YW_DEFORM_TWIST), press = yw_default_deform(YW_DEFORM_SQUASH);
  turn.amount = (float)(degrees * PI / 180.0);
  press.amount = (float)squash;
  yw_status status = yw_deform_apply(&turn, n, body->mesh.positions, body->example, error);
  if (status >= 0) status = yw_deform_apply(&press, n, body->example, body->example, error);
  return status;
}

yw_status contest_cuboid(contest_body* out, yw_error* error) {
  const int32_t cells[3] = {4, 8, 4};
  yw_aabb box = {{-0.5f, -1.0f, -0.5f}, {0.5f, 1.0f, 0.5f}};
  *out = (contest_body){.name = "cuboid",
                        .density = 1000,
                        .beta = 0.95,
                        .damping = 8,
                        .stiffness = {3, 13, 11.5, 17, 14, 14.5}};
  yw_status status = yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &out->mesh);
  if (status < 0) return yw_fail_memory(error, "a cuboid");
  return twist_and_squash(out, 150, 0.35, error);
}

yw_status contest_cylinder(contest_body* out, yw_error* error) {
  *out = (contest_body){.name = "cylinder",
                        .density = 300,
                        .beta = 0.95,
                        .damping = 8,
                        .stiffness = {20, 28, 28, 32, 28, 28}};
  yw_shape* shape;
  yw_status status = yw_shape_cylinder(NULL, 0.5f, 1.2f, &shape);
  if (status < 0) return yw_fail_memory(error, "a cylinder");
  yw_mesher_def mesher = yw_default_mesher_def();
  mesher.size = 0.134f;
  status = yw_shape_tets(shape, NULL, &mesher, &out->mesh, error);
  yw_shape_release(shape);
  return status < 0 ? status : twist_and_squash(out, 150, 0.3, error);
}

void contest_body_free(contest_body* body) {
  yw_tet_mesh_free(&body->mesh);
  yw_mem_free(NULL, body->example);
  *body = (contest_body){0};
}

// Runs --------------------------------------------------------------------------------------------

struct contest_run {
  const contest_body* body;
  double floor;     // the body stands on it in its rest pose
  yw_world* world;  // match, frames
  yw_body_id id;
  example_fem* fem;    // the others
  yw_vec3* positions;  // of fem, for measuring
};

static double lowest(const yw_tet_mesh* mesh) {
  double y = INFINITY;
  for (int32_t i = 0; i < mesh->num_vertices; ++i) y = fmin(y, (double)mesh->positions[i].y);
  return y;
}

// Diagonal of the box with the body's moments of inertia, in which match measures stiffness.
static double size_of(const yw_tet_mesh* mesh) {
  double volume = 0, squares = 0;
  for (int32_t t = 0; t < mesh->num_tets; ++t) {
    yw_vec3 p[4], sum = yw_v3(0, 0, 0);
    double corners = 0;
    for (int a = 0; a < 4; ++a) {
      p[a] = mesh->positions[mesh->tets[4 * t + a]];
      sum = yw_add(sum, p[a]);
      corners += (double)yw_length2(p[a]);
    }
    double v = (double)yw_dot(yw_cross(yw_sub(p[1], p[0]), yw_sub(p[2], p[0])), yw_sub(p[3], p[0]));
    volume += v;
    // The mean of |x|^2 over a tet.
    squares += v * (corners + (double)yw_length2(sum)) / 20.0;
  }
  return sqrt(12.0 * squares / volume);
}

static double youngs_modulus(const contest_body* body, contest_method method) {
  return body->stiffness[method] * body->density * GRAVITY * size_of(&body->mesh);
}

static yw_status make_model(contest_method method, const contest_body* body, yw_model** out,
                            yw_error* error) {
  const yw_vec3* const examples[1] = {body->example};
  if (method == CONTEST_MATCH) {
    yw_match_def def = yw_default_match_def();
    def.mesh = &body->mesh;
    def.density = (float)body->density;
    def.num_examples = 1;
    def.examples = examples;
    def.params.beta = (float)body->beta;
    def.params.damping = (float)body->damping;
    def.params.viscosity = 0;
    def.params.stiffness = (float)body->stiffness[method];
    return yw_model_create_match(NULL, &def, out, error);
  }
  yw_frames_def def = yw_default_frames_def();
  def.mesh = &body->mesh;
  def.density = (float)body->density;
  def.num_examples = 1;
  def.examples = examples;
  def.params.beta = (float)body->beta;
  def.params.damping = (float)body->damping;
  def.youngs_modulus = (float)youngs_modulus(body, method);
  def.poissons_ratio = 0;
  return yw_model_create_frames(NULL, &def, out, error);
}

static yw_status make_world(contest_run* run, contest_method method, yw_error* error) {
  yw_world_def def = yw_default_world_def();
  def.threads = 1;
  if (yw_world_create(&def, &run->world) < 0) return yw_fail_memory(error, "a world");
  yw_obstacle_def floor = yw_default_obstacle_def();
  floor.friction = 0;
  if (yw_shape_plane(NULL, yw_v3(0, 1, 0), (float)run->floor, &floor.shape) < 0) {
    return yw_fail_memory(error, "a floor");
  }
  yw_obstacle_id obstacle;
  yw_status status = yw_obstacle_create(run->world, &floor, &obstacle, error);
  yw_shape_release(floor.shape);
  yw_body_def body = yw_default_body_def();
  body.friction = 0;
  if (status >= 0) status = make_model(method, run->body, &body.model, error);
  if (status >= 0) status = yw_body_create(run->world, &body, &run->id, error);
  yw_model_release(body.model);
  return status;
}

static yw_status make_fem(contest_run* run, contest_method method, yw_error* error) {
  const contest_body* body = run->body;
  const yw_vec3* const examples[1] = {body->example};
  example_fem_def def = example_fem_default_def();
  def.mesh = &body->mesh;
  def.num_examples = 1;
  def.examples = examples;
  def.kind = method >= CONTEST_MARTIN_ONCE ? EXAMPLE_FEM_MARTIN : EXAMPLE_FEM_SCHUMACHER;
  def.per_tet = method == CONTEST_SCHUMACHER_PER_TET;
  def.project_once = method == CONTEST_MARTIN_ONCE;
  def.density = body->density;
  def.youngs_modulus = youngs_modulus(body, method);
  // Enough to keep tets from turning inside out; the other methods have no such term.
  def.volume_modulus = 0.05 * def.youngs_modulus;
  def.beta = body->beta;
  def.damping = body->damping;
  run->positions = YW_NEW_ARRAY(NULL, yw_vec3, body->mesh.num_vertices);
  if (!run->positions) return yw_fail_memory(error, "a run");
  return example_fem_create(&def, &run->fem, error);
}

yw_status contest_open(contest_method method, const contest_body* body, contest_run** out,
                       yw_error* error) {
  *out = NULL;
  contest_run* run = YW_NEW(NULL, contest_run);
  if (!run) return yw_fail_memory(error, "a run");
  run->body = body;
  run->floor = lowest(&body->mesh);
  bool in_world = method == CONTEST_MATCH || method == CONTEST_FRAMES;
  yw_status status = in_world ? make_world(run, method, error) : make_fem(run, method, error);
  if (status < 0) {
    contest_close(run);
    return status;
  }
  *out = run;
  return YW_OK;
}

void contest_close(contest_run* run) {
  if (!run) return;
  yw_world_destroy(run->world);
  example_fem_destroy(run->fem);
  yw_mem_free(NULL, run->positions);
  yw_mem_free(NULL, run);
}

yw_status contest_step(contest_run* run, double h, yw_error* error) {
  if (run->fem) {
    const example_fem_step_def def = {.h = h, .gravity = GRAVITY, .floor = run->floor};
    return example_fem_step(run->fem, &def, error);
  }
  yw_status status = yw_world_step(run->world, (float)h, 1, NULL);
  if (status < 0 || yw_body_is_diverged(run->world, run->id)) {
    return yw_fail(error, YW_ERR_DIVERGED, "a body diverged");
  }
  return YW_OK;
}

double contest_twist(contest_run* run) {
  int32_t n = run->body->mesh.num_vertices;
  const yw_vec3* now = run->positions;
  if (run->fem) {
    const double* x = example_fem_positions(run->fem);
    for (int32_t i = 0; i < n; ++i) {
      run->positions[i] = yw_v3((float)x[3 * i], (float)x[3 * i + 1], (float)x[3 * i + 2]);
    }
  } else {
    now = yw_body_positions(run->world, run->id, &n);
  }
  paper_slices slices;
  paper_slice_points(n, run->body->mesh.positions, now, SLICES, &slices);
  return slices.total_twist;
}

void contest_factors(const contest_run* run, double* per_step, double* seconds) {
  *per_step = *seconds = 0;
  if (!run->fem) return;
  example_fem_statistics s = example_fem_get_statistics(run->fem);
  *per_step = s.steps > 0 ? (double)s.factorisations / (double)s.steps : 0;
  *seconds = s.factor_seconds;
}
