// SPDX-License-Identifier: MIT
// "slender", "rod" and "sheet" in scene files: points along a line, a helix or as given; a
// rectangle of triangles or a mesh file; and the model.
#include <math.h>
#include <string.h>

#include "math/small/trig.h"
#include "scene/method.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/slender.h"

#define MOST_POINTS 1000000
#define TWO_PI 6.2831853f
// Triangles of a file are not divided into more for display.
#define MOST_SHOWN 100000
#define FINE_SHELL 0.25f  // of the triangles of a sheet, to find the surface of a solid
#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999

// Tables ------------------------------------------------------------------------------------------

static const char* const solvers[] = {"implicit", "bdf2", "extended", "classic", NULL};

typedef struct rod_keys {
  const yw_json *line, *helix, *points;
  bool closed;
  int32_t section;
  float radius, width, thickness, contact_radius;
  yw_vec3 width_direction;
  int32_t num_points;
  yw_vec3* list;  // in the document
} rod_keys;

typedef struct sheet_keys {
  const yw_json *rectangle, *shape;
  const char* file;
  float thickness, contact_radius;
  float size;             // m, edge of the triangles of a shape; 0: chosen
  yw_shape* solid;        // of shape; not owned
  bool from_file;         // the shape is that of a mesh file
  float width, depth;     // m, of the rectangle
  int32_t across, along;  // number of its cells
} sheet_keys;

typedef struct slender_settings {
  // Properties of the model
  const char* material;
  float youngs_modulus, poissons_ratio;
  const yw_json* fields;
  yw_slender_params params;  // bodies may change these

  const yw_json* groups;

  yw_groups_spec parts;  // of groups
  int32_t num_fields;
  yw_stiffness_spec* field_list;
  bool is_rod;
  rod_keys rod;
  sheet_keys sheet;
} slender_settings;
static const slender_settings slender_defaults = {.youngs_modulus = 1e5f,
                                                  .poissons_ratio = 0.3f,
                                                  .params = {.tolerance = 1e-3f,
                                                             .substeps = 10,
                                                             .sweeps = 1,
                                                             .stiffness = 0.5f,
                                                             .beta = 0.95f,
                                                             .stiffness_scale = 1.0f}};
static const yw_key_row slender_rows[] = {
    YW_MODEL_FIELD(slender_settings, material, TEXT, 0, 0, "",
                   "Name of a material (docs/materials.md), for Young's modulus, Poisson's ratio "
                   "and density; keys given beside it take precedence."),
    YW_MODEL_FIELD_ABOVE(slender_settings, youngs_modulus, NUMBER, 0, MOST_YOUNGS, "Pa",
                         "Young's modulus."),
    YW_MODEL_FIELD(slender_settings, poissons_ratio, NUMBER, 0, MOST_POISSON, "",
                   "Poisson's ratio, from 0 (cork) to below 0.5 (rubber)."),
    YW_MODEL_NODE(
        slender_settings, fields, "[stiffness]",
        "Layers of different stiffness in parts of the body; later layers cover earlier ones."),
    YW_MODEL_NODE(slender_settings, groups, "'global|'per_region|[integer]|[selector]|vertex_paint",
                  "Parts that choose their example together: the whole body (\"global\", the "
                  "default), every pair of points or triangle on its own (\"per_region\"), a label "
                  "per point, paint, or shapes with labels, in the model's rest pose: a point "
                  "takes the label of the first one that contains it, else 0."),
    YW_PARAM(slender_settings, beta, NUMBER, 0, 1, "",
             "Attraction of the examples, from 0 (none) to 1 (the body may rest in one)."),
    YW_PARAM_CHOICE(slender_settings, solver, solvers,
                    "Solver: \"implicit\" is accurate and damps fast vibrations; \"bdf2\" damps "
                    "them far less; \"extended\" is position-based in physical units; \"classic\" "
                    "is position-based with \"stiffness\", for comparison."),
    YW_PARAM(slender_settings, damping, NUMBER, 0, 1e6, "1/s",
             "Decay rate of non-rigid velocities; amplitudes decay at half this rate."),
    YW_PARAM(slender_settings, tolerance, NUMBER, 1e-6, 0.5, "",
             "Relative tolerance of the implicit solvers."),
    YW_PARAM(slender_settings, substeps, INTEGER, 1, 1000, "",
             "Position-based solvers: steps per substep of the scene."),
    YW_PARAM(slender_settings, sweeps, INTEGER, 1, 1000, "",
             "Position-based solvers: sweeps per step."),
    YW_PARAM(slender_settings, stiffness, NUMBER, 0, 1, "",
             "With solver \"classic\": fraction of the way to the goal covered per sweep."),
    YW_PARAM(slender_settings, stiffness_scale, NUMBER, 1e-6, 1e6, "",
             "Multiplies Young's modulus; a track may change it over time.")};
static const yw_record slender_record =
    YW_RECORD("slender", slender_rows, slender_defaults,
              "Rods and sheets: stiffness in pascals, and solver.", "");

static const char* const sections[] = {"round", "ellipse", "rectangle", NULL};
static const rod_keys rod_defaults = {
    .section = YW_SECTION_ROUND, .radius = 0.01f, .width = 0.02f, .thickness = 0.002f};
static const yw_key_row rod_rows[] = {
    YW_NODE(rod_keys, line, "line", "Particles along a straight line."),
    YW_NODE(rod_keys, helix, "helix", "Particles along a helix."),
    YW_NODE(rod_keys, points, "[vec3]",
            "Positions of the particles, m; the rest shape may bend and coil."),
    YW_KEY(rod_keys, closed, BOOL, 0, 0, "", "Whether the last particle is joined to the first."),
    YW_CHOICE(rod_keys, section, sections,
              "Cross-section: \"round\" has a \"radius\", the others \"width\" and \"thickness\"."),
    YW_KEY_ABOVE(rod_keys, radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius of a round rod."),
    YW_KEY_ABOVE(rod_keys, width, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Width of an ellipse or rectangle."),
    YW_KEY_ABOVE(rod_keys, thickness, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Thickness of an ellipse or rectangle."),
    YW_KEY(rod_keys, width_direction, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "",
           "Direction of the width at the first particle; zero: any."),
    YW_KEY(rod_keys, contact_radius, NUMBER, 0, YW_SCENE_REACH, "m",
           "Radius of the particles in contacts; 0: the radius, or half the shorter side.")};
static const yw_record rod_record =
    YW_RECORD("rod", rod_rows, rod_defaults,
              "A rod that stretches, bends and twists: a rope, ruler, spring, cord or ring.",
              "one line helix points");

typedef struct line_keys {
  yw_vec3 from, to;
  int32_t count;
} line_keys;
static const line_keys line_defaults = {.count = 0};
static const yw_key_row line_rows[] = {
    YW_KEY(line_keys, from, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Position of the first particle."),
    YW_KEY(line_keys, to, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Position of the last particle."),
    YW_KEY(line_keys, count, INTEGER, 2, MOST_POINTS, "", "Number of particles.")};
static const yw_record line_record =
    YW_RECORD("line", line_rows, line_defaults, "Evenly spaced particles along a straight line.",
              "needs from to count");

typedef struct helix_keys {
  float radius, turns, length;
  yw_vec3 axis, center;
  int32_t count;
} helix_keys;
static const helix_keys helix_defaults = {.axis = {0, 1, 0}};
static const yw_key_row helix_rows[] = {
    YW_KEY_ABOVE(helix_keys, radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius of the helix."),
    YW_KEY_ABOVE(helix_keys, turns, NUMBER, 0, 10000, "", "Number of turns."),
    YW_KEY(helix_keys, length, NUMBER, 0, YW_SCENE_REACH, "m", "Length along the axis."),
    YW_KEY(helix_keys, count, INTEGER, 2, MOST_POINTS, "", "Number of particles."),
    YW_KEY(helix_keys, axis, AXIS, 0, 0, "", "Direction of the axis."),
    YW_KEY(helix_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
static const yw_record helix_record =
    YW_RECORD("helix", helix_rows, helix_defaults, "Particles along a right-handed helix.",
              "needs radius turns length count");

static const sheet_keys sheet_defaults = {.thickness = 0.002f};
static const yw_key_row sheet_rows[] = {
    YW_NODE(sheet_keys, rectangle, "rectangle", "Flat rectangle in x and z."),
    YW_KEY(sheet_keys, file, TEXT, 0, 0, "", "File with a triangle mesh of the mid-surface, m."),
    YW_NODE(sheet_keys, shape, "any_shape",
            "Shape whose surface is the sheet: a hollow shell. That of a mesh file has the file's "
            "triangles in another size and shows the file."),
    YW_KEY_ABOVE(sheet_keys, size, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Edge length of the triangles of a shape. Default: 1/16 of its longest side."),
    YW_KEY_ABOVE(sheet_keys, thickness, NUMBER, 0, YW_SCENE_REACH, "m", "Thickness of the sheet."),
    YW_KEY(sheet_keys, contact_radius, NUMBER, 0, YW_SCENE_REACH, "m",
           "Radius of the particles in contacts; 0: half the thickness.")};
static const yw_record sheet_record =
    YW_RECORD("sheet", sheet_rows, sheet_defaults, "A thin sheet that stretches, shears and bends.",
              "one rectangle file shape");

typedef struct rectangle_keys {
  float width, depth;
  int32_t across, along;
} rectangle_keys;
static const rectangle_keys rectangle_defaults = {.width = 0};
static const yw_key_row rectangle_rows[] = {
    YW_KEY_ABOVE(rectangle_keys, width, NUMBER, 0, YW_SCENE_REACH, "m", "Size along x."),
    YW_KEY_ABOVE(rectangle_keys, depth, NUMBER, 0, YW_SCENE_REACH, "m", "Size along z."),
    YW_KEY(rectangle_keys, across, INTEGER, 1, 2000, "", "Number of cells along x."),
    YW_KEY(rectangle_keys, along, INTEGER, 1, 2000, "", "Number of cells along z.")};
static const yw_record rectangle_record =
    YW_RECORD("rectangle", rectangle_rows, rectangle_defaults,
              "A rectangle of equal cells with two triangles each, centred at the origin.",
              "needs width depth across along");

static const yw_record* const records[] = {&rod_record,   &line_record,      &helix_record,
                                           &sheet_record, &rectangle_record, NULL};
static const char* const sources[] = {"rod", "sheet", NULL};

// Points of rods ----------------------------------------------------------------------------------

static bool need_all(yw_loader* l, const yw_json* node, int32_t count, const char* const* keys) {
  for (int32_t i = 0; i < count; i++) {
    if (!yw_needs(&l->r, node, keys[i])) return false;
  }
  return true;
}

static bool make_points(yw_loader* l, rod_keys* rod, int32_t count) {
  rod->num_points = count;
  rod->list = yw_json_alloc(l->r.doc, (size_t)count * sizeof *rod->list);
  return rod->list || yw_memory_fail(&l->r);
}

static bool load_line(yw_loader* l, const yw_json* node, rod_keys* rod) {
  static const char* const needed[] = {"from", "to", "count"};
  line_keys k;
  if (!yw_read_record(&l->r, node, &line_record, &k) || !need_all(l, node, 3, needed)) {
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

// Right-handed turns about the axis, centred at the middle.
static bool load_helix(yw_loader* l, const yw_json* node, rod_keys* rod) {
  static const char* const needed[] = {"radius", "turns", "length", "count"};
  helix_keys k;
  if (!yw_read_record(&l->r, node, &helix_record, &k) || !need_all(l, node, 4, needed) ||
      !make_points(l, rod, k.count)) {
    return false;
  }
  yw_vec3 axis = yw_normalize_or(k.axis, yw_v3(0, 1, 0));
  yw_vec3 side = fabsf(axis.y) > 0.9f ? yw_v3(1, 0, 0) : yw_v3(0, 1, 0);
  side = yw_normalize_or(yw_mad(side, -yw_dot(side, axis), axis), yw_v3(0, 0, 1));
  yw_vec3 other = yw_cross(axis, side);
  for (int32_t i = 0; i < k.count; i++) {
    float t = (float)i / (float)(k.count - 1);
    // Whole turns are subtracted first, so that long coils keep their precision.
    float turn = k.turns * t;
    float angle = TWO_PI * (turn - floorf(turn));
    yw_vec3 p = yw_mad(k.center, k.length * (t - 0.5f), axis);
    p = yw_mad(p, k.radius * yw_cosf(angle), side);
    rod->list[i] = yw_mad(p, k.radius * yw_sinf(angle), other);
  }
  return true;
}

static bool load_points(yw_loader* l, const yw_json* node, rod_keys* rod) {
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count < 1 || node->count > MOST_POINTS) {
    return yw_value_fail(&l->r, node, "has %d points, but must have 1 to %d", (int)node->count,
                         MOST_POINTS);
  }
  if (!make_points(l, rod, node->count)) return false;
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_read_vec3(&l->r, node->items[i], -YW_SCENE_REACH, YW_SCENE_REACH, &rod->list[i]))
      return false;
  }
  return true;
}

static bool load_rod(yw_loader* l, const yw_json* node, rod_keys* rod) {
  static const char* const kinds[] = {"line", "helix", "points"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &rod_record, rod) ||
      !yw_exactly_one(&l->r, node, 3, kinds, &which)) {
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

// A shape that is a mesh file shows that file, as it is and moved by the sheet.
static bool load_shell(yw_loader* l, yw_model_spec* model, sheet_keys* sheet) {
  yw_aabb box;
  l->hollow = yw_json_get(sheet->shape, "mesh") != NULL;
  bool loaded = yw_load_shape(l, sheet->shape, &sheet->solid);
  l->hollow = false;
  if (!loaded) return false;
  if (!yw_shape_bounds(sheet->solid, &box)) {
    return yw_value_fail(&l->r, sheet->shape, "has no end (a plane?), but a sheet must have one");
  }
  yw_vec3 size = yw_sub(box.upper, box.lower);
  if (!(sheet->size > 0)) sheet->size = fmaxf(size.x, fmaxf(size.y, size.z)) / 16.0f;
  const yw_shape_file* source = yw_find_shape_file(l, sheet->solid);
  if (!source) return true;
  sheet->from_file = model->has_surface = true;
  model->surface.file = source->file;
  model->surface_part = source->part;
  model->surface_place = source->place;
  return true;
}

static bool load_sheet(yw_loader* l, yw_model_spec* model, sheet_keys* sheet) {
  const yw_json* node = model->source_node;
  static const char* const kinds[] = {"rectangle", "file", "shape"};
  static const char* const needed[] = {"width", "depth", "across", "along"};
  int32_t which;
  rectangle_keys k;
  if (!yw_read_record(&l->r, node, &sheet_record, sheet) ||
      !yw_exactly_one(&l->r, node, 3, kinds, &which)) {
    return false;
  }
  if (yw_json_get(node, "size") && !sheet->shape) {
    return yw_value_fail(&l->r, yw_json_get(node, "size"), "is only for sheets with a \"shape\"");
  }
  if (sheet->shape) return load_shell(l, model, sheet);
  if (sheet->file) return true;
  if (!yw_read_record(&l->r, sheet->rectangle, &rectangle_record, &k) ||
      !need_all(l, sheet->rectangle, 4, needed)) {
    return false;
  }
  sheet->width = k.width;
  sheet->depth = k.depth;
  sheet->across = k.across;
  sheet->along = k.along;
  return true;
}

// Flat in x and z, centred at the origin; diagonals alternate, so that no direction is favoured.
static bool build_rectangle(yw_loader* l, const sheet_keys* s, yw_tri_mesh* out) {
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

/// A sheet as it is simulated and as it is shown.
typedef struct sheet_meshes {
  yw_tri_mesh mesh;
  yw_tri_mesh surface;  // empty: the mesh
  int32_t* home;        // see yw_sheet_def
} sheet_meshes;

static void free_meshes(const yw_allocator* mem, sheet_meshes* m) {
  yw_tri_mesh_free(&m->mesh);
  yw_tri_mesh_free(&m->surface);
  yw_mem_free(mem, m->home);
}

// Several parts that pass through each other would come apart as sheets.
static bool is_one_sheet(const yw_tri_mesh* surface, const yw_allocator* mem) {
  yw_surface_report report;
  yw_error ignored = {0};
  if (yw_surface_report_of(surface, mem, &report, &ignored) < 0) return false;
  return report.num_parts == 1 || report.crossing_triangles == 0;
}

static double mean_edge(const yw_tri_mesh* mesh) {
  double sum = 0;
  int64_t count = 3 * (int64_t)mesh->num_triangles;
  for (int64_t i = 0; i < count; i++) {
    int64_t next = i % 3 == 2 ? i - 2 : i + 1;
    sum += (double)yw_distance(mesh->positions[mesh->triangles[i]],
                               mesh->positions[mesh->triangles[next]]);
  }
  return count > 0 ? sum / (double)count : 0;
}

// What is shown. Triangles that are larger than those of the sheet are divided, as they could not
// bend with it.
static bool build_shown(yw_loader* l, yw_model_spec* model, float size, yw_tri_mesh* out) {
  if (!yw_build_surface(l, model, out)) return false;
  double edge = mean_edge(out);
  int64_t triangles = out->num_triangles;
  for (; edge > (double)size && triangles < MOST_SHOWN / 4; triangles *= 4, edge *= 0.5) {
    model->surface.subdivide++;
  }
  if (model->surface.subdivide == 0) return true;
  yw_tri_mesh_free(out);
  yw_tri_mesh_free(&model->surface_mesh);
  model->surface_path = NULL;
  return yw_build_surface(l, model, out);
}

// The surface of a solid. Handles and legs thinner than a triangle are found by smaller ones, and
// stay when these are joined to larger ones.
static yw_status build_shell(yw_loader* l, const sheet_keys* s, yw_tri_mesh* out, yw_error* deep) {
  const yw_allocator* mem = &l->scene->mem;
  yw_tri_mesh fine = {0};
  int32_t* home = NULL;
  yw_status status = yw_shape_surface(s->solid, mem, FINE_SHELL * s->size, &fine, deep);
  if (status >= 0) status = yw_tri_mesh_remesh(&fine, mem, s->size, out, &home, deep);
  yw_tri_mesh_free(&fine);
  yw_mem_free(mem, home);
  if (status >= 0 || status == YW_ERR_MEMORY) return status;
  return yw_shape_surface(s->solid, mem, s->size, out, deep);
}

// The triangles of the file in another size; or, where these do not form a sheet, the surface of
// what they enclose.
static bool build_from_file(yw_loader* l, yw_model_spec* model, sheet_meshes* out) {
  const sheet_keys* s = &((const slender_settings*)model->settings)->sheet;
  const yw_allocator* mem = &l->scene->mem;
  yw_error deep = {0};
  int32_t num_turned;
  if (!build_shown(l, model, s->size, &out->surface)) return false;
  if (yw_tri_mesh_orient(&out->surface, &num_turned) == YW_ERR_MEMORY) {
    return yw_memory_fail(&l->r);
  }
  yw_status status = YW_ERR_GEOMETRY;
  if (is_one_sheet(&out->surface, mem)) {
    status = yw_tri_mesh_remesh(&out->surface, mem, s->size, &out->mesh, &out->home, &deep);
  } else {
    yw_fail(&deep, status, "its parts pass through each other");
  }
  if (status == YW_ERR_GEOMETRY) {
    yw_value_warn(&l->r, s->shape, ": %s: the sheet is the surface of the solid that it encloses",
                  deep.message);
    status = build_shell(l, s, &out->mesh, &deep);
  }
  return status >= 0 || yw_deep_fail(&l->r, s->shape, &deep);
}

static bool build_sheet_meshes(yw_loader* l, yw_model_spec* model, sheet_meshes* out) {
  const sheet_keys* s = &((const slender_settings*)model->settings)->sheet;
  yw_error deep = {0};
  if (s->from_file) return build_from_file(l, model, out);
  if (s->solid) {
    return yw_shape_surface(s->solid, &l->scene->mem, s->size, &out->mesh, &deep) >= 0 ||
           yw_deep_fail(&l->r, s->shape, &deep);
  }
  if (!s->file) return build_rectangle(l, s, &out->mesh);
  char* file = yw_loader_file(l, s->file);
  if (!file) return yw_memory_fail(&l->r);
  model->surface_path = file;
  return yw_tri_mesh_read(file, &l->scene->mem, &out->mesh, &deep) >= 0 ||
         yw_deep_fail(&l->r, yw_json_get(model->source_node, "file"), &deep);
}

// Models ------------------------------------------------------------------------------------------

// Rods and sheets have no inside. "kind" comes from the old name, "frames".
static bool screen(yw_loader* l, const yw_model_spec* model) {
  if (model->source != YW_SOURCE_OWN) {
    return yw_value_fail(&l->r, model->settings_node,
                         "is for rods and sheets, but this is a volume: use \"frames\"");
  }
  const yw_json* wrong = yw_json_get(model->node, "surface");
  if (!wrong) wrong = yw_json_get(model->keys.settings, "kind");
  return !wrong ||
         yw_value_fail(&l->r, wrong, "is for volumes, but this is a %s", model->source_node->key);
}

static bool load(yw_loader* l, yw_model_spec* model) {
  const yw_json* node = model->keys.settings;
  slender_settings* slender = model->settings;
  slender->is_rod = strcmp(model->source_node->key, "rod") == 0;
  bool read = slender->is_rod ? load_rod(l, model->source_node, &slender->rod)
                              : load_sheet(l, model, &slender->sheet);
  return read && yw_load_groups(l, slender->groups, &slender->parts) &&
         yw_take_material(l, node, &slender->youngs_modulus, &slender->poissons_ratio) &&
         yw_load_stiffness_list(l, slender->fields, yw_scene_slender.layer_keys,
                                &slender->num_fields, &slender->field_list);
}

static yw_slender_examples examples_of(const yw_model_spec* model, yw_quat* const* turns) {
  const slender_settings* slender = model->settings;
  return (yw_slender_examples){.count = model->num_poses,
                               .poses = (const yw_vec3* const*)model->examples,
                               .turns = (const yw_quat* const*)turns,
                               .strengths = model->strengths,
                               .grouping = slender->parts.grouping,
                               .vertex_labels = model->labels};
}

// moduli: Young's moduli of all points, then their Poisson's ratios; or NULL.
static yw_status create_rod(yw_loader* l, yw_model_spec* model, const float* moduli,
                            yw_quat* const* turns, yw_error* error) {
  const slender_settings* slender = model->settings;
  const rod_keys* rod = &slender->rod;
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
  def.examples = examples_of(model, turns);
  return yw_model_create_rod(&l->scene->mem, &def, &model->model, error);
}

static yw_status create_sheet(yw_loader* l, yw_model_spec* model, const sheet_meshes* sheet,
                              const float* moduli, yw_quat* const* turns, yw_error* error) {
  const slender_settings* slender = model->settings;
  const yw_tri_mesh* mesh = &sheet->mesh;
  yw_sheet_def def = yw_default_sheet_def();
  def.mesh = mesh;
  def.thickness = slender->sheet.thickness;
  def.contact_radius = slender->sheet.contact_radius;
  def.density = model->keys.density;
  def.youngs_modulus = slender->youngs_modulus;
  def.poissons_ratio = slender->poissons_ratio;
  def.youngs_modulus_field = moduli;
  def.poissons_ratio_field = moduli ? moduli + mesh->num_vertices : NULL;
  def.params = slender->params;
  def.examples = examples_of(model, turns);
  if (sheet->surface.num_triangles > 0) def.surface = &sheet->surface;
  def.surface_home = sheet->home;
  return yw_model_create_sheet(&l->scene->mem, &def, &model->model, error);
}

static bool create(yw_loader* l, yw_model_spec* model, const sheet_meshes* sheet,
                   const float* moduli, yw_quat* const* turns) {
  yw_error deep = {0};
  yw_status status = sheet ? create_sheet(l, model, sheet, moduli, turns, &deep)
                           : create_rod(l, model, moduli, turns, &deep);
  const yw_json* node =
      status == YW_ERR_INVALID && moduli ? model->settings_node : model->source_node;
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (status == YW_WARN_REDUNDANT) yw_value_warn(&l->r, model->keys.examples, ": %s", deep.message);
  model->points = yw_model_points(model->model, &model->num_points);
  return true;
}

static bool build_points(yw_loader* l, yw_model_spec* model, int32_t count, const yw_vec3* points,
                         const sheet_meshes* sheet) {
  float* moduli = NULL;
  yw_quat* turns[YW_MAX_EXAMPLES] = {0};
  const slender_settings* slender = model->settings;
  bool done =
      yw_make_moduli(l, NULL, slender->fields, slender->num_fields, slender->field_list,
                     slender->youngs_modulus, slender->poissons_ratio, points, count, &moduli) &&
      yw_build_labels(l, &slender->parts, NULL, points, count, &model->labels) &&
      yw_build_point_poses(l, model, points, count, turns) &&
      create(l, model, sheet, moduli, turns);
  for (int32_t k = 0; k < model->num_poses; k++) yw_mem_free(&l->scene->mem, turns[k]);
  yw_mem_free(&l->scene->mem, moduli);
  return done;
}

static bool build(yw_loader* l, yw_model_spec* model) {
  const slender_settings* slender = model->settings;
  sheet_meshes sheet = {0};
  if (slender->is_rod) {
    return build_points(l, model, slender->rod.num_points, slender->rod.list, NULL);
  }
  bool done = build_sheet_meshes(l, model, &sheet) &&
              build_points(l, model, sheet.mesh.num_vertices, sheet.mesh.positions, &sheet);
  free_meshes(&l->scene->mem, &sheet);
  return done;
}

static yw_status apply(yw_world* world, yw_body_id id, const void* settings) {
  return yw_body_set_slender_params(world, id, &((const slender_settings*)settings)->params);
}

const yw_scene_method yw_scene_slender = {.name = "slender",
                                          .old_name = "frames",
                                          .record = &slender_record,
                                          .records = records,
                                          .sources = sources,
                                          .material_name = yw_material_name,
                                          .layer_keys = YW_LAYER_POISSON | YW_LAYER_MATERIAL,
                                          .screen = screen,
                                          .load = load,
                                          .density = yw_material_density,
                                          .build = build,
                                          .apply = apply};
