// SPDX-License-Identifier: MIT
// Poses of a model's vertices: deformed from the rest pose, read from files, or in the scene
// itself.
#include <math.h>
#include <string.h>

#include "files/vtu_data.h"
#include "math/small/trig.h"
#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/stream.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"
#include "yawara/pose.h"

#define RAD_PER_DEGREE 0.017453292519943295f

// Tables ------------------------------------------------------------------------------------------

typedef struct deform_keys {
  const yw_json *twist, *bend, *s_bend, *shear, *taper, *squash, *stretch, *scale, *turn, *move;
  const yw_json* where;
  float blend;
} deform_keys;
static const deform_keys deform_defaults = {.blend = 0.05f};
static const yw_key_row deform_rows[] = {
    YW_NODE(deform_keys, twist, "twist", "Rotates cross-sections about the axis."),
    YW_NODE(deform_keys, bend, "bend", "Bends the axis into an arc."),
    YW_NODE(deform_keys, s_bend, "bend", "Bends the two halves in opposite directions."),
    YW_NODE(deform_keys, shear, "shear", "Shifts cross-sections sideways."),
    YW_NODE(deform_keys, taper, "taper",
            "Scales cross-sections by a factor that varies along the axis."),
    YW_NODE(deform_keys, squash, "stretch",
            "Shortens along the axis and widens across it; keeps the volume."),
    YW_NODE(deform_keys, stretch, "stretch", "Lengthens along the axis; keeps the width."),
    YW_NODE(deform_keys, scale, "enlarge", "Scales uniformly."),
    YW_NODE(deform_keys, turn, "turn", "Rotates about an axis."),
    YW_NODE(deform_keys, move, "vec3", "Translates by this vector, m."),
    YW_NODE(deform_keys, where, "any_shape",
            "Shape to which the deformation is limited, in the rest pose. Default: everywhere."),
    YW_KEY(deform_keys, blend, NUMBER, 0, YW_SCENE_REACH, "m",
           "Width of the border of \"where\", over which the deformation fades.")};
const yw_record yw_record_deform =
    YW_RECORD("deform", deform_rows, deform_defaults,
              "A deformation of the rest pose, everywhere or inside a shape.",
              "one twist bend s_bend shear taper squash stretch scale turn move");

typedef struct deformer_keys {
  yw_vec3 axis, toward, origin;
  float degrees, amount, length;
} deformer_keys;
static const deformer_keys deformer_defaults = {.axis = {0, 1, 0}, .toward = {1, 0, 0}};
#define AXIS_KEY YW_KEY(deformer_keys, axis, AXIS, 0, 0, "", "Direction of the axis.")
#define TOWARD_KEY                              \
  YW_KEY(deformer_keys, toward, AXIS, 0, 0, "", \
         "Direction of the bend or shear, across the axis; y by default if the axis is x.")
#define ORIGIN(about) \
  YW_KEY(deformer_keys, origin, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", about)
#define ORIGIN_KEY ORIGIN("Point on the axis that stays in place.")
#define LENGTH_KEY                                                                             \
  YW_KEY_ABOVE(deformer_keys, length, NUMBER, 0, YW_SCENE_REACH, "m",                          \
               "Length over which the full deformation builds up. Default: the length of the " \
               "body along the axis.")
#define DEGREES_KEY(about) YW_KEY(deformer_keys, degrees, NUMBER, -3600, 3600, "degrees", about)
static const yw_key_row twist_rows[] = {DEGREES_KEY("Angle between the two ends, right-handed."),
                                        AXIS_KEY, ORIGIN_KEY, LENGTH_KEY};
static const yw_key_row bend_rows[] = {
    DEGREES_KEY("Angle between the two ends; with s_bend, between the middle and either end."),
    AXIS_KEY, TOWARD_KEY, ORIGIN_KEY, LENGTH_KEY};
static const yw_key_row shear_rows[] = {YW_KEY(deformer_keys, amount, NUMBER, -100, 100, "",
                                               "Slope: metres sideways per metre along the axis."),
                                        AXIS_KEY, TOWARD_KEY, ORIGIN_KEY};
static const yw_key_row taper_rows[] = {YW_KEY(deformer_keys, amount, NUMBER, -100, 100, "",
                                               "Change in the scale factor over the length."),
                                        AXIS_KEY, ORIGIN_KEY, LENGTH_KEY};
static const yw_key_row stretch_rows[] = {
    YW_KEY(
        deformer_keys, amount, NUMBER, -0.99, 100, "",
        "Relative change in length: longer for stretch, shorter for squash. Below 1 for squash."),
    AXIS_KEY, ORIGIN_KEY};
static const yw_key_row enlarge_rows[] = {
    YW_KEY(deformer_keys, amount, NUMBER, -0.99, 100, "", "Relative change in size."),
    ORIGIN("Point that stays in place.")};
static const yw_key_row turn_rows[] = {DEGREES_KEY("Angle, right-handed."), AXIS_KEY, ORIGIN_KEY};
const yw_record yw_record_twist =
    YW_RECORD("twist", twist_rows, deformer_defaults, "Rotates cross-sections about the axis.",
              "needs degrees");
const yw_record yw_record_bend =
    YW_RECORD("bend", bend_rows, deformer_defaults,
              "Bends the axis into an arc, or into two (s_bend).", "needs degrees");
const yw_record yw_record_shear = YW_RECORD("shear", shear_rows, deformer_defaults,
                                            "Shifts cross-sections sideways.", "needs amount");
const yw_record yw_record_taper =
    YW_RECORD("taper", taper_rows, deformer_defaults,
              "Scales cross-sections by a factor that varies along the axis.", "needs amount");
const yw_record yw_record_stretch =
    YW_RECORD("stretch", stretch_rows, deformer_defaults,
              "Lengthens (stretch) or shortens (squash) along the axis.", "needs amount");
const yw_record yw_record_enlarge =
    YW_RECORD("enlarge", enlarge_rows, deformer_defaults, "Scales uniformly.", "needs amount");
const yw_record yw_record_turn =
    YW_RECORD("turn", turn_rows, deformer_defaults, "Rotates about an axis.", "needs degrees");

static const yw_pose_spec pose_defaults = {.strength = 1};
static const yw_key_row pose_rows[] = {
    YW_KEY(yw_pose_spec, name, TEXT, 0, 0, "", "Name, for \"start_pose\" and messages."),
    YW_NODE(yw_pose_spec, deform, "deform|[deform]",
            "One deformation, or several applied in order."),
    YW_KEY(yw_pose_spec, file, TEXT, 0, 0, "",
           "File with the positions of the tet vertices: TetGen .node, .obj, ..."),
    YW_KEY(yw_pose_spec, surface_file, TEXT, 0, 0, "",
           "File with the positions of the surface vertices; the tets follow."),
    YW_KEY(yw_pose_spec, positions, TEXT, 0, 0, "",
           "The positions of the tet vertices themselves, as tools write them: x, y and z of each, "
           "m, as little-endian 32-bit floats in base64."),
    YW_NODE(yw_pose_spec, mesh, "pose_mesh",
            "A mesh with other vertices, to which the tets are fitted."),
    YW_KEY(yw_pose_spec, strength, NUMBER, 0, 1, "",
           "As an example: how strongly it attracts, from 0 (not at all) to 1; \"beta\" of the "
           "method multiplies it.")};
const yw_record yw_record_pose =
    YW_RECORD("pose", pose_rows, pose_defaults,
              "A pose of the body: the deformed rest pose, or positions of the same vertices.",
              "one deform file surface_file positions mesh");

// Kinds of deformation: name, record of keys, and required key.
typedef struct deform_kind {
  const char* name;
  const yw_record* record;
  const char* amount;
} deform_kind;
static const deform_kind kinds[] = {
    {"twist", &yw_record_twist, "degrees"},    {"bend", &yw_record_bend, "degrees"},
    {"s_bend", &yw_record_bend, "degrees"},    {"shear", &yw_record_shear, "amount"},
    {"taper", &yw_record_taper, "amount"},     {"squash", &yw_record_stretch, "amount"},
    {"stretch", &yw_record_stretch, "amount"}, {"scale", &yw_record_enlarge, "amount"},
    {"turn", &yw_record_turn, "degrees"},      {"move", NULL, NULL}};
#define NUM_KINDS ((int32_t)(sizeof kinds / sizeof *kinds))

// Reading -----------------------------------------------------------------------------------------

static bool load_deformer(yw_loader* l, const yw_json* node, const deform_kind* kind,
                          yw_deform_spec* out) {
  if (strcmp(kind->name, "move") == 0) {
    out->move = true;
    return yw_read_vec3(&l->r, node, -YW_SCENE_REACH, YW_SCENE_REACH, &out->shift);
  }
  deformer_keys k;
  if (!yw_read_record(&l->r, node, kind->record, &k) || !yw_needs(&l->r, node, kind->amount)) {
    return false;
  }
  int32_t known = yw_deform_from_name(kind->name);
  yw_deform_kind number = known < 0 ? YW_DEFORM_TWIST : (yw_deform_kind)known;
  out->turn = known < 0;
  out->deform = yw_default_deform(number);
  out->deform.axis = k.axis;
  out->deform.origin = k.origin;
  out->deform.length = k.length;
  out->deform.toward = k.toward;
  bool angle = kind->amount[0] == 'd';
  out->deform.amount = angle ? k.degrees * RAD_PER_DEGREE : k.amount;

  // "toward" must not be along the axis; if it is not given, any other direction will do.
  bool given = yw_json_get(node, "toward") != NULL;
  bool along = fabsf(yw_dot(k.axis, k.toward)) > 0.9999f;
  if (given && along) {
    return yw_value_fail(&l->r, yw_json_get(node, "toward"),
                         "points along the axis, but must point to the side");
  }
  if (along) out->deform.toward = yw_v3(0, 1, 0);
  if (number == YW_DEFORM_SQUASH && k.amount >= 1) {
    return yw_value_fail(&l->r, yw_json_get(node, "amount"), "is %.9g, but must be below 1",
                         (double)k.amount);
  }
  return true;
}

static bool load_deform(yw_loader* l, const yw_json* node, yw_deform_spec* out) {
  const char* names[NUM_KINDS];
  deform_keys k;
  int32_t which;
  for (int32_t i = 0; i < NUM_KINDS; i++) names[i] = kinds[i].name;
  if (!yw_read_record(&l->r, node, &yw_record_deform, &k) ||
      !yw_exactly_one(&l->r, node, NUM_KINDS, names, &which)) {
    return false;
  }
  out->node = node;
  out->blend = k.blend;
  if (k.where && !yw_load_shape(l, k.where, &out->where)) return false;
  return load_deformer(l, yw_json_get(node, kinds[which].name), &kinds[which], out);
}

static bool load_deforms(yw_loader* l, yw_pose_spec* pose) {
  const yw_json* node = pose->deform;
  bool list = node->type == YW_JSON_ARRAY;
  int32_t count = list ? node->count : 1;
  if (count == 0) return yw_value_fail(&l->r, node, "is empty, but must have a deformation");
  pose->deforms = yw_json_alloc(l->r.doc, (size_t)count * sizeof *pose->deforms);
  if (!pose->deforms) return yw_memory_fail(&l->r);
  pose->num_deforms = count;
  for (int32_t i = 0; i < count; i++) {
    if (!load_deform(l, list ? node->items[i] : node, &pose->deforms[i])) return false;
  }
  return true;
}

bool yw_load_pose(yw_loader* l, const yw_json* node, yw_pose_spec* out) {
  static const char* const sources[] = {"deform", "file", "surface_file", "positions", "mesh"};
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_pose, out) ||
      !yw_exactly_one(&l->r, node, 5, sources, &which)) {
    return false;
  }
  out->node = node;
  return !out->deform || load_deforms(l, out);
}

// Building ----------------------------------------------------------------------------------------

float yw_shape_weight(const yw_shape* shape, float blend, yw_vec3 p) {
  if (!shape) return 1.0f;
  float d = yw_shape_distance(shape, p);
  if (!(blend > 0)) return d <= 0 ? 1.0f : 0.0f;
  return yw_clampf(0.5f - d / blend, 0.0f, 1.0f);
}

// `where` refers to rest; changes positions.
static bool apply_deform(yw_loader* l, const yw_deform_spec* spec, const yw_vec3* rest,
                         int32_t count, yw_vec3* scratch, yw_vec3* positions) {
  yw_error deep = {0};
  if (!spec->turn && !spec->move &&
      yw_deform_apply(&spec->deform, count, positions, scratch, &deep) < 0) {
    return yw_deep_fail(&l->r, spec->node, &deep);
  }
  for (int32_t i = 0; i < count; i++) {
    float w = yw_shape_weight(spec->where, spec->blend, rest[i]);
    yw_vec3 p = positions[i], origin = spec->deform.origin;
    if (spec->turn) {
      yw_quat q = yw_quat_axis_angle(spec->deform.axis, w * spec->deform.amount);
      p = yw_add(origin, yw_rotate(q, yw_sub(p, origin)));
    } else if (spec->move) {
      p = yw_mad(p, w, spec->shift);
    } else {
      p = w >= 1.0f ? scratch[i] : yw_lerp(p, scratch[i], w);
    }
    positions[i] = p;
  }
  return true;
}

static bool read_positions(yw_loader* l, const yw_json* node, const char* name, int32_t count,
                           const char* what, yw_transform place, yw_vec3** out) {
  yw_error deep = {0};
  int32_t found = 0;
  char* file = yw_loader_file(l, name);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_positions_read(file, &l->scene->mem, out, &found, &deep) < 0) {
    return yw_deep_fail(&l->r, node, &deep);
  }
  if (found != count) {
    yw_mem_free(&l->scene->mem, *out);
    *out = NULL;
    return yw_value_fail(&l->r, node, "is \"%.200s\" with %d vertices, but %s has %d", name,
                         (int)found, what, (int)count);
  }
  for (int32_t i = 0; i < count; i++) (*out)[i] = yw_transform_point(place, (*out)[i]);
  return true;
}

static bool pose_from_file(yw_loader* l, const yw_pose_spec* pose, int32_t count, float scale,
                           yw_vec3* out) {
  yw_vec3* positions = NULL;
  yw_transform place = {{0, 0, 0}, {0, 0, 0, 1}, scale};
  if (!read_positions(l, yw_json_get(pose->node, "file"), pose->file, count, "the mesh", place,
                      &positions)) {
    return false;
  }
  memcpy(out, positions, (size_t)count * sizeof *out);
  yw_mem_free(&l->scene->mem, positions);
  return true;
}

static bool pose_from_surface(yw_loader* l, const yw_model_spec* model, const yw_pose_spec* pose,
                              yw_vec3* out) {
  const yw_json* node = yw_json_get(pose->node, "surface_file");
  if (!model->has_surface || !model->surface.file) {
    return yw_value_fail(&l->r, node,
                         "is a pose of the surface, but the model has no \"surface\" with a file");
  }
  yw_vec3* positions = NULL;
  if (!read_positions(l, node, pose->surface_file, model->surface_mesh.num_vertices,
                      "the file of the surface", model->surface_place, &positions)) {
    return false;
  }
  yw_error deep = {0};
  yw_status status =
      yw_tets_from_surface_pose(&model->tets, &model->surface_mesh, positions, out, &deep);
  yw_mem_free(&l->scene->mem, positions);
  return status >= 0 || yw_deep_fail(&l->r, node, &deep);
}

static bool pose_from_text(yw_loader* l, const yw_pose_spec* pose, int32_t count, yw_vec3* out) {
  const yw_json* node = yw_json_get(pose->node, "positions");
  yw_span text = {node->string, node->string + node->count};
  // One byte more than needed, so that a longer text is noticed.
  size_t needed = (size_t)count * sizeof *out;
  unsigned char* bytes = YW_NEW_ARRAY(&l->scene->mem, unsigned char, needed + 1);
  if (!bytes) return yw_memory_fail(&l->r);
  size_t found = yw_base64_decode(text, needed + 1, bytes);
  yw_reader reader = {.data = bytes, .size = needed};
  if (found == needed) yw_read_f32(&reader, &out->x, 3 * (size_t)count);
  yw_mem_free(&l->scene->mem, bytes);
  if (found != needed) {
    return yw_value_fail(&l->r, node, "has %s than the %d positions of the mesh, 12 bytes each",
                         found < needed ? "less" : "more", (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    if (!yw_is_finite3(out[i]))
      return yw_value_fail(&l->r, node, "has a number that is not finite");
  }
  return true;
}

bool yw_build_point_pose(yw_loader* l, const yw_pose_spec* pose, const yw_vec3* points,
                         int32_t count, float scale, yw_vec3* out) {
  if (pose->file) return pose_from_file(l, pose, count, scale, out);
  if (pose->positions) return pose_from_text(l, pose, count, out);
  memcpy(out, points, (size_t)count * sizeof *out);
  yw_vec3* scratch = YW_NEW_ARRAY(&l->scene->mem, yw_vec3, count);
  if (!scratch) return yw_memory_fail(&l->r);
  bool done = true;
  for (int32_t i = 0; i < pose->num_deforms && done; i++) {
    done = apply_deform(l, &pose->deforms[i], points, count, scratch, out);
  }
  yw_mem_free(&l->scene->mem, scratch);
  for (int32_t i = 0; i < count && done; i++) {
    if (!yw_is_finite3(out[i])) done = yw_value_fail(&l->r, pose->node, "is not finite");
  }
  return done;
}

bool yw_build_pose(yw_loader* l, const yw_model_spec* model, const yw_pose_spec* pose,
                   yw_vec3* out) {
  if (pose->surface_file) return pose_from_surface(l, model, pose, out);
  if (pose->mesh) return yw_build_pose_mesh(l, model, pose->mesh, out);
  return yw_build_point_pose(l, pose, model->tets.positions, model->tets.num_vertices, model->scale,
                             out);
}
