// SPDX-License-Identifier: MIT
#include "scene/stiffness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/small/exponent.h"
#include "scene/method.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"

#define MOST_YOUNGS 1e13
#define MOST_POISSON 0.4999
#define MOST_DENSITY 1e6
#define MOST_DAMPING 1e3
#define MOST_YIELD 1e12

// Tables ------------------------------------------------------------------------------------------

static const yw_stiffness_spec stiffness_defaults = {.blend = 0};
// Values that may vary in space; read by load_value.
#define LAYER(member, from, to, above, of, text)                                         \
  {                                                                                      \
    .name = #member, .kind = YW_KEY_NODE, .offset = offsetof(yw_stiffness_spec, member), \
    .low = (from), .high = (to), .open = (above), .unit = (of), .what = "layer_value",   \
    .about = (text)                                                                      \
  }
static const yw_key_row stiffness_rows[] = {
    YW_NODE(yw_stiffness_spec, shape, "any_shape",
            "Region of the layer, in rest-pose coordinates. Default: everywhere."),
    YW_KEY(yw_stiffness_spec, blend, NUMBER, 0, YW_SCENE_REACH, "m",
           "Width of the border, across which Young's modulus changes geometrically and other "
           "values linearly."),
    YW_NODE(yw_stiffness_spec, labels, "[integer]",
            "Labels of the tets of the mesh to which the layer is limited."),
    YW_KEY(yw_stiffness_spec, from, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point up to which the first of two values applies."),
    YW_KEY(yw_stiffness_spec, to, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point from which the second value applies. Between the planes through both points, "
           "Young's modulus changes geometrically and other values linearly."),
    YW_KEY(yw_stiffness_spec, smooth, BOOL, 0, 0, "",
           "Whether the transition has no kink at \"from\" and \"to\"."),
    YW_NODE(yw_stiffness_spec, grid, "grid", "Grid of numbers that the values follow."),
    YW_NODE(yw_stiffness_spec, painted, "painted", "Painted surface that the values follow."),
    YW_KEY(yw_stiffness_spec, material, TEXT, 0, 0, "",
           "Name of a material, for Young's modulus, Poisson's ratio and, where layers can have "
           "one, density; keys given beside it take precedence."),
    LAYER(youngs_modulus, 0, MOST_YOUNGS, true, "Pa",
          "Young's modulus: one number; two, for \"from\" and \"to\" or the \"range\" of a file; "
          "or \"file\", for the number in the file."),
    LAYER(poissons_ratio, 0, MOST_POISSON, false, "", "Poisson's ratio, in the same forms."),
    LAYER(density, 0, MOST_DENSITY, true, "kg/m^3", "Density, in the same forms."),
    LAYER(stiffness_damping, 0, MOST_DAMPING, false, "s",
          "Viscous stress per strain rate, divided by the stiffness; in the same forms."),
    YW_NODE(yw_stiffness_spec, elasticity, "[number]21",
            "Upper triangle of the 6 x 6 elasticity matrix (stress per strain), Pa, row by row; "
            "components 11 22 33 23 13 12, engineering shear."),
    LAYER(yield_stress, 0, MOST_YIELD, false, "Pa",
          "With flow \"von_mises\": stress above which the material flows in shear; in the same "
          "forms.")};
const yw_record yw_record_stiffness = YW_RECORD(
    "stiffness", stiffness_rows, stiffness_defaults,
    "A layer of material, inside a shape or everywhere; uniform, or varying between two points, "
    "with a grid, or with paint.",
    "any material youngs_modulus poissons_ratio density stiffness_damping elasticity yield_stress");

typedef struct file_keys {
  const char *file, *array, *attribute, *values;
  const yw_json* range;
} file_keys;
static const file_keys file_defaults = {.file = NULL};
static const yw_key_row grid_rows[] = {
    YW_KEY(file_keys, file, TEXT, 0, 0, "",
           "Grid file: .vti (VTK image data), .mhd or .mha (MetaImage)."),
    YW_KEY(file_keys, array, TEXT, 0, 0, "",
           "Name of the array in a .vti file. Default: the first."),
    YW_NODE(file_keys, range, "[number]2",
            "Numbers in the file that map to the first and the second value. Default: [0, 1].")};
const yw_record yw_record_grid =
    YW_RECORD("grid", grid_rows, file_defaults,
              "Numbers at the points of a regular grid, in rest-pose coordinates.", "needs file");
static const yw_key_row painted_rows[] = {
    YW_KEY(file_keys, file, TEXT, 0, 0, "", "Surface file (.ply), in rest-pose coordinates."),
    YW_KEY(file_keys, attribute, TEXT, 0, 0, "",
           "Vertex property, e.g. \"red\" (0 to 1) or \"quality\"."),
    YW_KEY(file_keys, values, TEXT, 0, 0, "",
           "Instead of a file, for bodies of tets, as tools paint them: a byte per vertex of the "
           "mesh, 0 to 1 in steps of 1/255, in base64."),
    YW_NODE(file_keys, range, "[number]2",
            "Numbers in the file that map to the first and the second value. Default: [0, 1].")};
const yw_record yw_record_painted = YW_RECORD("painted", painted_rows, file_defaults,
                                              "Numbers at the vertices of a surface; other points "
                                              "take the number of the nearest surface point.",
                                              "one file values");

// Materials ---------------------------------------------------------------------------------------

const char* yw_material_name(int32_t i) {
  const yw_material* material = yw_material_at(i);
  return material ? material->name : NULL;
}

bool yw_no_material(yw_loader* l, const yw_json* node, const char* (*name_at)(int32_t i)) {
  const char* names[64];
  char known[500] = " (known: ";
  int32_t count = 0;
  while (count < 64 && (names[count] = name_at(count))) count++;
  for (int32_t i = 0; i < count; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", names[i], i + 1 == count ? ")" : ", ");
  }
  yw_hint hint = yw_suggest(node->string, count, names);
  return yw_value_fail(&l->r, node, "is \"%.60s\", which is no material%s", node->string,
                       hint.text[0] ? hint.text : known);
}

const yw_material* yw_find_scene_material(yw_loader* l, const yw_json* node) {
  const yw_material* material = yw_material_by_name(node->string);
  if (!material) yw_no_material(l, node, yw_material_name);
  return material;
}

bool yw_take_material(yw_loader* l, const yw_json* settings, float* youngs_modulus,
                      float* poissons_ratio) {
  const yw_json* name = yw_json_get(settings, "material");
  if (!name) return true;
  const yw_material* material = yw_find_scene_material(l, name);
  if (!material) return false;
  if (!yw_json_get(settings, "youngs_modulus")) *youngs_modulus = material->youngs_modulus;
  if (!yw_json_get(settings, "poissons_ratio")) *poissons_ratio = material->poissons_ratio;
  return true;
}

bool yw_material_density(yw_loader* l, const yw_json* name, float* out) {
  const yw_material* material = yw_find_scene_material(l, name);
  if (material) *out = material->density;
  return material != NULL;
}

// Reading -----------------------------------------------------------------------------------------

bool yw_load_layer_value(yw_loader* l, const yw_key_row* f, const yw_json* node,
                         const yw_stiffness_spec* spec, yw_layer_value* out) {
  if (!node) return true;
  double low = f->low, high = f->high;
  bool open = f->open;
  out->given = true;
  if (node->type == YW_JSON_STRING) {
    out->from_file = strcmp(node->string, "file") == 0;
    if (out->from_file && spec->mapped) return true;
    return yw_value_fail(&l->r, node,
                         spec->mapped ? "is \"%.40s\", but must be a number, two, or \"file\""
                                      : "is \"%.40s\", which needs a \"grid\" or \"painted\" "
                                        "beside it",
                         node->string);
  }
  if (node->type != YW_JSON_ARRAY) {
    bool done = yw_read_number(&l->r, node, low, high, open, &out->at[0]);
    out->at[1] = out->at[0];
    return done;
  }
  if (node->count != 2) {
    return yw_value_fail(&l->r, node, "has %d numbers, but must have 2", (int)node->count);
  }
  if (!spec->graded && !spec->mapped) {
    return yw_value_fail(&l->r, node, "has 2 numbers, which needs \"from\" and \"to\" beside it");
  }
  return yw_read_number(&l->r, node->items[0], low, high, open, &out->at[0]) &&
         yw_read_number(&l->r, node->items[1], low, high, open, &out->at[1]);
}

static bool load_value(yw_loader* l, const char* key, const yw_json* node,
                       const yw_stiffness_spec* spec, yw_layer_value* out) {
  const yw_key_row* f = stiffness_rows;
  while (strcmp(f->name, key) != 0) f++;
  return yw_load_layer_value(l, f, node, spec, out);
}

static bool load_line(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  bool from = yw_json_get(node, "from") != NULL, to = yw_json_get(node, "to") != NULL;
  out->graded = from && to;
  if (from != to) return yw_needs(&l->r, node, from ? "to" : "from");
  if (out->graded && !(yw_length2(yw_sub(out->to, out->from)) > 0)) {
    return yw_value_fail(&l->r, node, "goes from a point to the same point");
  }
  if (out->smooth && !out->graded) return yw_needs(&l->r, node, "from");
  return true;
}

// A grid has a file, paint a file with a property, or text.
static bool check_source(yw_loader* l, yw_stiffness_spec* out, const yw_json* item,
                         const file_keys* k) {
  static const char* const sources[] = {"file", "values"};
  int32_t which;
  if (out->grid) return yw_needs(&l->r, item, "file");
  if (!yw_exactly_one(&l->r, item, 2, sources, &which)) return false;
  if (k->values) out->paint_text = yw_json_get(item, "values");
  return k->values ? yw_not_both(&l->r, item, "values", "attribute")
                   : yw_needs(&l->r, item, "attribute");
}

static bool load_file(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  const yw_json* item = out->grid ? out->grid : out->painted;
  if (!item) return true;
  file_keys k;
  if (!yw_not_both(&l->r, node, "grid", "painted") || !yw_not_both(&l->r, node, "grid", "from") ||
      !yw_not_both(&l->r, node, "painted", "from") ||
      !yw_read_record(&l->r, item, out->grid ? &yw_record_grid : &yw_record_painted, &k) ||
      !check_source(l, out, item, &k)) {
    return false;
  }
  out->mapped = true;
  out->file = k.file;
  out->array = out->grid ? k.array : k.attribute;
  out->range[0] = 0, out->range[1] = 1;
  if (!k.range) return true;
  if (k.range->type != YW_JSON_ARRAY || k.range->count != 2) {
    return yw_type_fail(&l->r, k.range, "a list of 2 numbers");
  }
  for (int i = 0; i < 2; i++) {
    if (!yw_read_number(&l->r, k.range->items[i], -1e30, 1e30, false, &out->range[i])) return false;
  }
  return out->range[0] != out->range[1] || yw_value_fail(&l->r, k.range, "has two equal numbers");
}

bool yw_load_painted(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  *out = (yw_stiffness_spec){.painted = yw_json_get(node, "painted")};
  return load_file(l, node, out) && yw_needs(&l->r, out->painted, "file");
}

static bool load_labels(yw_loader* l, yw_stiffness_spec* out) {
  const yw_json* node = out->labels;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  out->num_labels = node->count;
  out->label_list = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *out->label_list);
  if (!out->label_list) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!yw_read_integer(&l->r, node->items[i], -1e9, 1e9, &out->label_list[i])) return false;
  }
  return true;
}

static bool load_matrix(yw_loader* l, yw_stiffness_spec* out) {
  const yw_json* node = out->elasticity;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  if (node->count != 21) {
    return yw_value_fail(&l->r, node,
                         "has %d numbers, but must have 21: the upper half of a 6 x 6 matrix, row "
                         "after row",
                         (int)node->count);
  }
  out->matrix = yw_json_alloc(l->r.doc, 21 * sizeof *out->matrix);
  if (!out->matrix) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < 21; i++) {
    double most = MOST_YOUNGS;
    if (!yw_read_number(&l->r, node->items[i], -most, most, false, &out->matrix[i])) return false;
  }
  return true;
}

static bool knows_key(const yw_scene_method* method, int32_t key) {
  return method->layer_keys & (unsigned)key;
}

static bool check_keys(yw_loader* l, const yw_json* node, unsigned layer_keys) {
  static const struct {
    const char* name;
    yw_layer_key key;
  } rules[] = {{"labels", YW_LAYER_LABELS},
               {"density", YW_LAYER_DENSITY},
               {"stiffness_damping", YW_LAYER_DAMPING},
               {"elasticity", YW_LAYER_ELASTIC},
               {"yield_stress", YW_LAYER_YIELD},
               {"poissons_ratio", YW_LAYER_POISSON},
               {"material", YW_LAYER_MATERIAL}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const yw_json* item = yw_json_get(node, rules[i].name);
    if (!item || layer_keys & (unsigned)rules[i].key) continue;
    char methods[200];
    yw_list_methods(knows_key, (int32_t)rules[i].key, methods, sizeof methods);
    return yw_value_fail(&l->r, item, "is only for bodies of %s", methods);
  }
  return true;
}

bool yw_load_layer_place(yw_loader* l, const yw_json* node, yw_stiffness_spec* out) {
  return load_line(l, node, out) && load_file(l, node, out) &&
         (!out->shape || yw_load_shape(l, out->shape, &out->where));
}

static bool load_layer(yw_loader* l, const yw_json* node, unsigned layer_keys,
                       yw_stiffness_spec* out) {
  if (!yw_read_record(&l->r, node, &yw_record_stiffness, out) || !check_keys(l, node, layer_keys) ||
      !yw_load_layer_place(l, node, out) || !load_labels(l, out) || !load_matrix(l, out)) {
    return false;
  }
  if (!out->material && !out->youngs_modulus && !out->poissons_ratio && !out->density &&
      !out->stiffness_damping && !out->elasticity && !out->yield_stress) {
    return yw_value_fail(&l->r, node,
                         layer_keys & YW_LAYER_YIELD
                             ? "needs \"youngs_modulus\", \"yield_stress\" or \"density\""
                             : "needs \"youngs_modulus\", \"poissons_ratio\" or \"material\"");
  }
  if (out->material) {
    const yw_material* m = yw_find_scene_material(l, yw_json_get(node, "material"));
    if (!m) return false;
    out->youngs = (yw_layer_value){true, false, {m->youngs_modulus, m->youngs_modulus}};
    out->poisson = (yw_layer_value){true, false, {m->poissons_ratio, m->poissons_ratio}};
    if (layer_keys & YW_LAYER_DENSITY)
      out->rho = (yw_layer_value){true, false, {m->density, m->density}};
  }
  return load_value(l, "youngs_modulus", out->youngs_modulus, out, &out->youngs) &&
         load_value(l, "poissons_ratio", out->poissons_ratio, out, &out->poisson) &&
         load_value(l, "density", out->density, out, &out->rho) &&
         load_value(l, "stiffness_damping", out->stiffness_damping, out, &out->damping) &&
         load_value(l, "yield_stress", out->yield_stress, out, &out->yield);
}

bool yw_load_stiffness_list(yw_loader* l, const yw_json* node, unsigned layer_keys, int32_t* count,
                            yw_stiffness_spec** out) {
  *count = 0;
  *out = NULL;
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_ARRAY)) return false;
  *count = node->count;
  *out = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof **out);
  if (!*out) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    if (!load_layer(l, node->items[i], layer_keys, &(*out)[i])) return false;
  }
  return true;
}

// Files -------------------------------------------------------------------------------------------

static bool open_painted(yw_loader* l, const char* path, yw_stiffness_spec* layer) {
  const yw_allocator* mem = &l->scene->mem;
  yw_error deep = {0};
  yw_tri_mesh mesh;
  float* values;
  if (yw_painted_mesh_read(path, layer->array, mem, &mesh, &values, &deep) < 0) {
    return yw_deep_fail(&l->r, layer->painted, &deep);
  }
  yw_status status = yw_painted_create(mem, &mesh, values, &layer->paint_data);
  yw_tri_mesh_free(&mesh);
  yw_mem_free(mem, values);
  return status >= 0 || yw_memory_fail(&l->r);
}

// Text is painted on the boundary of the tets.
static bool open_text(yw_loader* l, const yw_tet_mesh* tets, yw_stiffness_spec* layer) {
  const yw_allocator* mem = &l->scene->mem;
  unsigned char* bytes = NULL;
  yw_tri_mesh mesh = {0};
  int32_t* vertices = NULL;
  if (!tets || tets->num_tets == 0) {
    return yw_value_fail(&l->r, layer->paint_text, "is for bodies of tets only");
  }
  if (!yw_read_vertex_paint(l, layer->paint_text, tets->num_vertices, &bytes)) return false;
  yw_status status = yw_tet_mesh_surface(tets, mem, &mesh, &vertices);
  float* values = status >= 0 ? YW_NEW_ARRAY(mem, float, mesh.num_vertices) : NULL;
  for (int32_t i = 0; values && i < mesh.num_vertices; i++) {
    values[i] = (float)bytes[vertices[i]] / 255.0f;
  }
  if (values) status = yw_painted_create(mem, &mesh, values, &layer->paint_data);
  bool done = values && status >= 0;
  yw_mem_free(mem, values);
  yw_mem_free(mem, vertices);
  yw_mem_free(mem, bytes);
  yw_tri_mesh_free(&mesh);
  return done || yw_memory_fail(&l->r);
}

bool yw_open_stiffness(yw_loader* l, const yw_tet_mesh* tets, int32_t count,
                       yw_stiffness_spec* layers) {
  for (int32_t i = 0; i < count; i++) {
    yw_stiffness_spec* layer = &layers[i];
    if (layer->paint_text && !open_text(l, tets, layer)) return false;
    if (!layer->file) continue;
    yw_error deep = {0};
    char* path = yw_loader_file(l, layer->file);
    if (!path) return yw_memory_fail(&l->r);
    if (layer->painted) {
      if (!open_painted(l, path, layer)) return false;
    } else if (yw_grid_read(path, layer->array, &l->scene->mem, &layer->grid_data, &deep) < 0) {
      return yw_deep_fail(&l->r, layer->grid, &deep);
    }
  }
  return true;
}

void yw_close_stiffness(int32_t count, yw_stiffness_spec* layers) {
  for (int32_t i = 0; i < count; i++) {
    yw_grid_free(&layers[i].grid_data);
    yw_painted_free(&layers[i].paint_data);
  }
}

// Values ------------------------------------------------------------------------------------------

// Interpolation parameter from the first value to the second, clamped at the ends.
static float place_of(const yw_stiffness_spec* f, yw_vec3 p, float number) {
  float t = 0.0f;
  if (f->mapped) t = (number - f->range[0]) / (f->range[1] - f->range[0]);
  if (f->graded) {
    yw_vec3 line = yw_sub(f->to, f->from);
    t = yw_dot(yw_sub(p, f->from), line) / yw_length2(line);
  }
  t = yw_clampf(t, 0.0f, 1.0f);
  return f->smooth ? t * t * (3.0f - 2.0f * t) : t;
}

// Moduli are interpolated by their logarithms: half-way between 1 kPa and 1 MPa is 30 kPa.
static float mix_moduli(float a, float b, float t) {
  if (t <= 0.0f || a == b) return a;
  // Invalid values are passed on; creating the model reports them.
  if (t >= 1.0f || !(a > 0.0f) || !(b > 0.0f)) return b;
  return a * yw_powf(b / a, t);
}

static float mix_even(float a, float b, float t) { return t >= 1.0f ? b : a + t * (b - a); }

static void lay_over(const yw_layer_value* value, float number, float t, float weight,
                     float (*mix)(float, float, float), float* to) {
  if (!value->given) return;
  float own = value->from_file ? number : mix(value->at[0], value->at[1], t);
  *to = mix(*to, own, weight);
}

static bool has_label(const yw_stiffness_spec* layer, int32_t label) {
  for (int32_t i = 0; i < layer->num_labels; i++) {
    if (layer->label_list[i] == label) return true;
  }
  return !layer->labels;
}

static float number_at(const yw_stiffness_spec* layer, yw_vec3 p) {
  return layer->grid_data.values    ? yw_grid_value(&layer->grid_data, p)
         : layer->paint_data.values ? yw_painted_value(&layer->paint_data, p)
                                    : 0.0f;
}

float yw_painted_share(const yw_stiffness_spec* paint, yw_vec3 p) {
  return (number_at(paint, p) - paint->range[0]) / (paint->range[1] - paint->range[0]);
}

float yw_layer_length_at(const yw_stiffness_spec* layer, const yw_layer_value* value, yw_vec3 p) {
  float number = number_at(layer, p);
  if (value->from_file) return number;
  return mix_even(value->at[0], value->at[1], place_of(layer, p, number));
}

bool yw_stiffness_at(const yw_stiffness_spec* layer, yw_vec3 p, int32_t label,
                     yw_point_material* material) {
  float weight = yw_shape_weight(layer->where, layer->blend, p);
  if (!(weight > 0.0f) || !has_label(layer, label)) return false;
  float number = number_at(layer, p);
  float t = place_of(layer, p, number);
  if (layer->youngs.given || layer->poisson.given) material->elasticity = NULL;
  lay_over(&layer->youngs, number, t, weight, mix_moduli, &material->youngs_modulus);
  lay_over(&layer->poisson, number, t, weight, mix_even, &material->poissons_ratio);
  lay_over(&layer->rho, number, t, weight, mix_even, &material->density);
  lay_over(&layer->damping, number, t, weight, mix_even, &material->damping_time);
  lay_over(&layer->yield, number, t, weight, mix_even, &material->yield_stress);
  if (layer->matrix) material->elasticity = layer->matrix;
  return true;
}

// Moduli of points --------------------------------------------------------------------------------

static bool lay_moduli(yw_loader* l, const yw_json* node, int32_t num_layers,
                       const yw_stiffness_spec* layers, const yw_vec3* points, int32_t count,
                       float* youngs, float* poisson) {
  for (int32_t k = 0; k < num_layers; k++) {
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
      yw_point_material m = {.youngs_modulus = youngs[i], .poissons_ratio = poisson[i]};
      any = yw_stiffness_at(&layers[k], points[i], 0, &m) || any;
      youngs[i] = m.youngs_modulus;
      poisson[i] = m.poissons_ratio;
    }
    if (!any) {
      return yw_value_fail(&l->r, node->items[k], "selects none of the body's %d points",
                           (int)count);
    }
  }
  return true;
}

bool yw_make_moduli(yw_loader* l, const yw_tet_mesh* tets, const yw_json* node, int32_t num_layers,
                    yw_stiffness_spec* layers, float youngs_modulus, float poissons_ratio,
                    const yw_vec3* points, int32_t count, float** out) {
  *out = NULL;
  if (num_layers == 0) return true;
  float* moduli = *out = YW_NEW_ARRAY(&l->scene->mem, float, 2 * (size_t)count);
  if (!moduli) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < count; i++) {
    moduli[i] = youngs_modulus;
    moduli[count + i] = poissons_ratio;
  }
  bool done = yw_open_stiffness(l, tets, num_layers, layers) &&
              lay_moduli(l, node, num_layers, layers, points, count, moduli, moduli + count);
  yw_close_stiffness(num_layers, layers);
  return done;
}
