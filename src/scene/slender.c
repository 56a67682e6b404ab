// SPDX-License-Identifier: MIT
// Reads "slender", "rod" and "sheet" of models and makes them: points along a line, a helix or as
// given; a rectangle of triangles or a mesh file.
#include <string.h>

#include "math/small/trig.h"
#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/slender.h"

#define FAR 1e6
#define MOST_POINTS 1000000
#define TWO_PI 6.2831853f
#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999

// Tables ------------------------------------------------------------------------------------------

static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic", NULL};
static const yw_slender_spec slender_defaults = {
    .youngs_modulus = 1e5f,
    .poissons_ratio = 0.3f,
    .params = {.tolerance = 1e-3f, .substeps = 10, .sweeps = 1, .stiffness = 0.5f}};
#define PARAM(name, kind, low, high) \
  { #name, YW_FIELD_##kind, offsetof(yw_slender_spec, params.name), (low), (high), false, NULL }
static const yw_field slender_fields[] = {
    YW_FIELD(yw_slender_spec, material, TEXT, 0, 0),
    YW_FIELD_ABOVE(yw_slender_spec, youngs_modulus, NUMBER, 0, MOST_YOUNGS),
    YW_FIELD(yw_slender_spec, poissons_ratio, NUMBER, 0, MOST_POISSON),
    YW_FIELD(yw_slender_spec, fields, NODE, 0, 0),
    {"solver", YW_FIELD_CHOICE, offsetof(yw_slender_spec, params.solver), 0, 0, false, solvers},
    PARAM(damping, NUMBER, 0, 1e6),
    PARAM(tolerance, NUMBER, 1e-6, 0.5),
    PARAM(substeps, INTEGER, 1, 1000),
    PARAM(sweeps, INTEGER, 1, 1000),
    PARAM(stiffness, NUMBER, 0, 1)};
const yw_record yw_record_slender = YW_RECORD("slender", slender_fields, slender_defaults);

const char* const yw_slender_model_keys[] = {"material", "youngs_modulus", "poissons_ratio",
                                             "fields", NULL};

static const char* const sections[] = {"round", "ellipse", "rectangle", NULL};
static const yw_rod_spec rod_defaults = {
    .section = YW_SECTION_ROUND, .radius = 0.01f, .width = 0.02f, .thickness = 0.002f};
static const yw_field rod_fields[] = {
    YW_FIELD(yw_rod_spec, line, NODE, 0, 0),
    YW_FIELD(yw_rod_spec, helix, NODE, 0, 0),
    YW_FIELD(yw_rod_spec, points, NODE, 0, 0),
    YW_FIELD(yw_rod_spec, closed, BOOL, 0, 0),
    {"section", YW_FIELD_CHOICE, offsetof(yw_rod_spec, section), 0, 0, false, sections},
    YW_FIELD_ABOVE(yw_rod_spec, radius, NUMBER, 0, FAR),
    YW_FIELD_ABOVE(yw_rod_spec, width, NUMBER, 0, FAR),
    YW_FIELD_ABOVE(yw_rod_spec, thickness, NUMBER, 0, FAR),
    YW_FIELD(yw_rod_spec, width_direction, VEC3, -FAR, FAR),
    YW_FIELD(yw_rod_spec, contact_radius, NUMBER, 0, FAR)};
const yw_record yw_record_rod = YW_RECORD("rod", rod_fields, rod_defaults);

typedef struct line_keys {
  yw_vec3 from, to;
  int32_t count;
} line_keys;
static const line_keys line_defaults = {.count = 0};
static const yw_field line_fields[] = {YW_FIELD(line_keys, from, VEC3, -FAR, FAR),
                                       YW_FIELD(line_keys, to, VEC3, -FAR, FAR),
                                       YW_FIELD(line_keys, count, INTEGER, 2, MOST_POINTS)};
const yw_record yw_record_line = YW_RECORD("line", line_fields, line_defaults);

typedef struct helix_keys {
  float radius, turns, length;
  yw_vec3 axis, center;
  int32_t count;
} helix_keys;
static const helix_keys helix_defaults = {.axis = {0, 1, 0}};
static const yw_field helix_fields[] = {YW_FIELD_ABOVE(helix_keys, radius, NUMBER, 0, FAR),
                                        YW_FIELD_ABOVE(helix_keys, turns, NUMBER, 0, 10000),
                                        YW_FIELD(helix_keys, length, NUMBER, 0, FAR),
                                        YW_FIELD(helix_keys, count, INTEGER, 2, MOST_POINTS),
                                        YW_FIELD(helix_keys, axis, AXIS, 0, 0),
                                        YW_FIELD(helix_keys, center, VEC3, -FAR, FAR)};
const yw_record yw_record_helix = YW_RECORD("helix", helix_fields, helix_defaults);

static const yw_sheet_spec sheet_defaults = {.thickness = 0.002f};
static const yw_field sheet_fields[] = {YW_FIELD(yw_sheet_spec, rectangle, NODE, 0, 0),
                                        YW_FIELD(yw_sheet_spec, file, TEXT, 0, 0),
                                        YW_FIELD_ABOVE(yw_sheet_spec, thickness, NUMBER, 0, FAR),
                                        YW_FIELD(yw_sheet_spec, contact_radius, NUMBER, 0, FAR)};
const yw_record yw_record_sheet = YW_RECORD("sheet", sheet_fields, sheet_defaults);

typedef struct rectangle_keys {
  float width, depth;
  int32_t across, along;
} rectangle_keys;
static const rectangle_keys rectangle_defaults = {.width = 0};
static const yw_field rectangle_fields[] = {YW_FIELD_ABOVE(rectangle_keys, width, NUMBER, 0, FAR),
                                            YW_FIELD_ABOVE(rectangle_keys, depth, NUMBER, 0, FAR),
                                            YW_FIELD(rectangle_keys, across, INTEGER, 1, 2000),
                                            YW_FIELD(rectangle_keys, along, INTEGER, 1, 2000)};
const yw_record yw_record_rectangle = YW_RECORD("rectangle", rectangle_fields, rectangle_defaults);

// Points of rods ----------------------------------------------------------------------------------

static bool need_all(yw_loader* l, const yw_json* node, int32_t count, const char* const* keys) {
  for (int32_t i = 0; i < count; i++) {
    if (!yw_needs(&l->r, node, keys[i])) return false;
  }
  return true;
}

static bool make_points(yw_loader* l, yw_rod_spec* rod, int32_t count) {
  rod->num_points = count;
  rod->list = yw_json_alloc(l->r.doc, (size_t)count * sizeof *rod->list);
  return rod->list || yw_memory_fail(&l->r);
}

static bool load_line(yw_loader* l, const yw_json* node, yw_rod_spec* rod) {
  static const char* const needed[] = {"from", "to", "count"};
  line_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_line, &k) || !need_all(l, node, 3, needed)) {
    return false;
  }
  if (!(yw_distance(k.from, k.to) > 0)) {
    return yw_value_fail(&l->r, node, "goes from a point to the same point");
  }
  if (!make_points(l, rod, k.count)) return false;
  for (int32_t i = 0; i < k.count; i++) {
    rod->list[i] = yw_lerp(k.from, k.to, (float)i / (float)(k.count - 1));
  }
  return true;
}

// Turns with the right hand about the axis; its middle is at the centre.
static bool load_helix(yw_loader* l, const yw_json* node, yw_rod_spec* rod) {
  static const char* const needed[] = {"radius", "turns", "length", "count"};
  helix_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_helix, &k) || !need_all(l, node, 4, needed) ||
      !make_points(l, rod, k.count)) {
    return false;
  }
  yw_vec3 axis = yw_normalize_or(k.axis, yw_v3(0, 1, 0));
  yw_vec3 side = fabsf(axis.y) > 0.9f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0);
  side = yw_normalize_or(yw_mad(side, -yw_dot(side, axis), axis), yw_v3(0, 0, 1));
  yw_vec3 other = yw_cross(axis, side);
  for (int32_t i = 0; i < k.count; i++) {
    float t = (float)i / (float)(k.count - 1);
    // Whole turns are taken off first, so that long coils lose no digits.
    float turn = k.turns * t;
    float angle = TWO_PI * (turn - floorf(turn));
    yw_vec3 p = yw_mad(k.center, k.length * (t - 0.5f), axis);
    p = yw_mad(p, k.radius * yw_cosf(angle), side);
    rod->list[i] = yw_mad(p, k.radius * yw_sinf(angle), other);
  }
  return true;
}

static bool load_points(yw_loader* l, const yw_json* node, yw_rod_spec* rod) {
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count < 1 || node->count > MOST_POINTS) {
    return yw_value_fail(&l->r, node, "has %d points, but must have 1 to %d", (int)node->count,
                         MOST_POINTS);
  }
  if (!make_points(l, rod, node->count)) return false;
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_read_vec3(&l->r, node->items[i], -FAR, FAR, &rod->list[i])) return false;
  }
  return true;
}

static bool load_rod(yw_loader* l, const yw_json* node, yw_rod_spec* rod) {
  static const char* const sources[] = {"line", "helix", "points"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_rod, rod) ||
      !yw_exactly_one(&l->r, node, 3, sources, &which)) {
    return false;
  }
  bool round = rod->section == YW_SECTION_ROUND;
  const yw_json* wrong = yw_json_get(node, round ? "width" : "radius");
  if (!wrong && round) wrong = yw_json_get(node, "thickness");
  if (wrong) {
    return yw_value_fail(&l->r, wrong, "is not for a section that is \"%s\"",
                         sections[rod->section]);
  }
  if (rod->line) return load_line(l, rod->line, rod);
  return rod->helix ? load_helix(l, rod->helix, rod) : load_points(l, rod->points, rod);
}

// Sheets ------------------------------------------------------------------------------------------

static bool load_sheet(yw_loader* l, const yw_json* node, yw_sheet_spec* sheet) {
  static const char* const sources[] = {"rectangle", "file"};
  static const char* const needed[] = {"width", "depth", "across", "along"};
  int32_t which;
  rectangle_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_sheet, sheet) ||
      !yw_exactly_one(&l->r, node, 2, sources, &which)) {
    return false;
  }
  if (sheet->file) return true;
  if (!yw_read_record(&l->r, sheet->rectangle, &yw_record_rectangle, &k) ||
      !need_all(l, sheet->rectangle, 4, needed)) {
    return false;
  }
  sheet->width = k.width;
  sheet->depth = k.depth;
  sheet->across = k.across;
  sheet->along = k.along;
  return true;
}

// Flat in x and z, its middle at the origin; diagonals alternate, so that no direction is favoured.
static bool build_rectangle(yw_loader* l, const yw_sheet_spec* s, yw_tri_mesh* out) {
  int32_t row = s->across + 1, vertices = row * (s->along + 1), n = 0;
  if (yw_tri_mesh_create(&l->scene->mem, vertices, 2 * s->across * s->along, out) < 0) {
    return yw_memory_fail(&l->r);
  }
  for (int32_t i = 0; i < vertices; i++) {
    out->positions[i] = yw_v3(s->width * ((float)(i % row) / (float)s->across - 0.5f), 0.0f,
                              s->depth * ((float)(i / row) / (float)s->along - 0.5f));
  }
  for (int32_t z = 0; z < s->along; z++) {
    for (int32_t x = 0; x < s->across; x++) {
      int32_t a = z * row + x, b = a + 1, c = a + row, d = c + 1;
      bool turned = (x + z) & 1;
      const int32_t corners[6] = {a, turned ? d : c, b, turned ? a : b, c, d};
      memcpy(out->triangles + n, corners, sizeof corners);
      n += 6;
    }
  }
  return true;
}

static bool build_sheet_mesh(yw_loader* l, const yw_model_spec* model, yw_tri_mesh* out) {
  const yw_sheet_spec* s = &model->sheet;
  yw_error deep = {0};
  if (!s->file) return build_rectangle(l, s, out);
  char* file = yw_loader_file(l, s->file);
  if (!file) return yw_memory_fail(&l->r);
  return yw_tri_mesh_read(file, &l->scene->mem, out, &deep) >= 0 ||
         yw_deep_fail(&l->r, yw_json_get(model->keys.sheet, "file"), &deep);
}

// Models ------------------------------------------------------------------------------------------

// Rods and sheets have no inside.
static bool check_keys(yw_loader* l, const yw_json* node, const yw_model_spec* model) {
  static const char* const outer[] = {"examples", "surface"};
  static const char* const inner[] = {"kind", "beta"};
  const yw_json* wrong = NULL;
  for (int32_t i = 0; i < 2 && !wrong; i++) wrong = yw_json_get(node, outer[i]);
  for (int32_t i = 0; i < 2 && !wrong; i++) wrong = yw_json_get(model->keys.slender, inner[i]);
  return !wrong || yw_value_fail(&l->r, wrong, "is for volumes, but this is a %s",
                                 model->keys.rod ? "rod" : "sheet");
}

bool yw_load_slender_source(yw_loader* l, const yw_json* node, yw_model_spec* out) {
  const yw_json *rod = out->keys.rod, *sheet = out->keys.sheet;
  out->source = rod ? YW_SOURCE_ROD : YW_SOURCE_SHEET;
  out->source_node = rod ? rod : sheet;
  if (out->keys.match) {
    return yw_value_fail(&l->r, out->keys.match, "is for volumes, but this is a %s",
                         rod ? "rod" : "sheet");
  }
  if (!out->keys.slender) return yw_needs(&l->r, node, "slender");
  if (!check_keys(l, node, out)) return false;
  return rod ? load_rod(l, rod, &out->rod) : load_sheet(l, sheet, &out->sheet);
}

bool yw_load_slender(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.slender;
  yw_slender_spec* slender = &model->settings.slender;
  if (!yw_source_is_slender(model->source)) {
    return yw_value_fail(&l->r, node,
                         "is for rods and sheets, but this is a volume: use \"frames\"");
  }
  if (!yw_read_record(&l->r, node, &yw_record_slender, slender)) return false;
  if (slender->material) {
    const yw_material* material = yw_find_scene_material(l, yw_json_get(node, "material"));
    if (!material) return false;
    if (!yw_json_get(node, "youngs_modulus")) slender->youngs_modulus = material->youngs_modulus;
    if (!yw_json_get(node, "poissons_ratio")) slender->poissons_ratio = material->poissons_ratio;
  }
  return yw_load_stiffness_list(l, slender->fields, YW_LAYERS_OF_FRAMES, &slender->num_fields,
                                &slender->field_list);
}

// What the keys of a body say lies over the settings of its model.
bool yw_load_body_slender(yw_loader* l, const yw_json* node, yw_slender_spec* slender) {
  if (!node) return true;
  yw_slender_spec own;
  if (!yw_read_record(&l->r, node, &yw_record_slender, &own)) return false;
  yw_slender_params* params = &slender->params;
  if (yw_json_get(node, "solver")) params->solver = own.params.solver;
  if (yw_json_get(node, "damping")) params->damping = own.params.damping;
  if (yw_json_get(node, "tolerance")) params->tolerance = own.params.tolerance;
  if (yw_json_get(node, "substeps")) params->substeps = own.params.substeps;
  if (yw_json_get(node, "sweeps")) params->sweeps = own.params.sweeps;
  if (yw_json_get(node, "stiffness")) params->stiffness = own.params.stiffness;
  return true;
}

// moduli: of the points, Young's and then Poisson's, or NULL.
static yw_status create_rod(yw_loader* l, yw_model_spec* model, const float* moduli,
                            yw_error* error) {
  const yw_rod_spec* rod = &model->rod;
  const yw_slender_spec* slender = &model->settings.slender;
  yw_rod_def def = yw_default_rod_def();
  def.points = rod->list;
  def.num_points = rod->num_points;
  def.closed = rod->closed;
  def.section = (yw_section)rod->section;
  def.radius = rod->radius;
  def.width = rod->width;
  def.thickness = rod->thickness;
  def.width_direction = rod->width_direction;
  def.contact_radius = rod->contact_radius;
  def.density = model->keys.density;
  def.youngs_modulus = slender->youngs_modulus;
  def.poissons_ratio = slender->poissons_ratio;
  def.youngs_modulus_field = moduli;
  def.poissons_ratio_field = moduli ? moduli + rod->num_points : NULL;
  def.params = slender->params;
  return yw_model_create_rod(&l->scene->mem, &def, &model->model, error);
}

static yw_status create_sheet(yw_loader* l, yw_model_spec* model, const yw_tri_mesh* mesh,
                              const float* moduli, yw_error* error) {
  const yw_slender_spec* slender = &model->settings.slender;
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = mesh;
  def.thickness = model->sheet.thickness;
  def.contact_radius = model->sheet.contact_radius;
  def.density = model->keys.density;
  def.youngs_modulus = slender->youngs_modulus;
  def.poissons_ratio = slender->poissons_ratio;
  def.youngs_modulus_field = moduli;
  def.poissons_ratio_field = moduli ? moduli + mesh->num_vertices : NULL;
  def.params = slender->params;
  return yw_model_create_sheet(&l->scene->mem, &def, &model->model, error);
}

// What pins and messages look at: the particles as a mesh without tets.
static bool keep_points(yw_loader* l, yw_model_spec* model, int32_t count, const yw_vec3* points) {
  if (yw_tet_mesh_create(&l->scene->mem, count, 0, &model->tets) < 0) return yw_memory_fail(&l->r);
  memcpy(model->tets.positions, points, (size_t)count * sizeof *points);
  return true;
}

static bool build_points(yw_loader* l, yw_model_spec* model, int32_t count, const yw_vec3* points,
                         const yw_tri_mesh* mesh) {
  yw_error deep = {0};
  float* moduli = NULL;
  const yw_slender_spec* slender = &model->settings.slender;
  bool done =
      yw_make_moduli(l, slender->fields, slender->num_fields, slender->field_list,
                     slender->youngs_modulus, slender->poissons_ratio, points, count, &moduli);
  if (done) {
    yw_status status =
        mesh ? create_sheet(l, model, mesh, moduli, &deep) : create_rod(l, model, moduli, &deep);
    const yw_json* node =
        status == YW_ERR_INVALID && moduli ? model->keys.slender : model->source_node;
    done = status >= 0 || yw_deep_fail(&l->r, node, &deep);
  }
  yw_mem_free(&l->scene->mem, moduli);
  return done && keep_points(l, model, count, points);
}

bool yw_build_slender(yw_loader* l, yw_model_spec* model) {
  yw_tri_mesh mesh = {0};
  if (model->source == YW_SOURCE_ROD) {
    return build_points(l, model, model->rod.num_points, model->rod.list, NULL);
  }
  if (!build_sheet_mesh(l, model, &mesh)) return false;
  bool done = build_points(l, model, mesh.num_vertices, mesh.positions, &mesh);
  yw_tri_mesh_free(&mesh);
  return done;
}
