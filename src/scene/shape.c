// SPDX-License-Identifier: MIT
// Shapes of a scene file. Named shapes are created once and shared. Nested combinations can be
// short to write and extremely slow to evaluate, so the number of primitives is limited.
#include <math.h>

#include "geometry/surface_edges.h"
#include "geometry/surface_parts.h"
#include "scene/loader.h"
#include "scene/records.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

#define MAX_PRIMITIVES 20000
#define MAX_DEPTH 64

// Tables ------------------------------------------------------------------------------------------

typedef struct shape_keys {
  const yw_json *sphere, *box, *capsule, *cylinder, *cone, *torus, *plane;
  const yw_json *union_, *intersection, *difference, *offset, *mesh, *use;
  yw_vec3 move;
  yw_quat rotate;
  float scale;
} shape_keys;
static const shape_keys shape_defaults = {.rotate = {0, 0, 0, 1}, .scale = 1};
static const yw_key_row shape_rows[] = {
    YW_NODE(shape_keys, sphere, "sphere", "A ball."),
    YW_NODE(shape_keys, box, "box", "A box, with sharp or rounded edges."),
    YW_NODE(shape_keys, capsule, "capsule", "A cylinder with hemispherical ends."),
    YW_NODE(shape_keys, cylinder, "cylinder", "A cylinder."),
    YW_NODE(shape_keys, cone, "cone", "A cone or truncated cone."),
    YW_NODE(shape_keys, torus, "torus", "A ring."),
    YW_NODE(shape_keys, plane, "plane", "The half-space below a plane."),
    YW_NODE_AS("union", shape_keys, union_, "combination", "The union of the shapes."),
    YW_NODE(shape_keys, intersection, "combination", "The intersection of the shapes."),
    YW_NODE(shape_keys, difference, "combination", "The first shape minus the others."),
    YW_NODE(shape_keys, offset, "offset", "A shape grown or shrunk by a distance."),
    YW_NODE(shape_keys, mesh, "mesh_shape", "The solid enclosed by a triangle mesh."),
    YW_NODE(shape_keys, use, "string", "Name of a shape in \"shapes\"."),
    YW_KEY(shape_keys, move, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Translation."),
    YW_KEY(shape_keys, rotate, ROTATION, 0, 0, "", "Rotation about the origin."),
    YW_KEY_ABOVE(shape_keys, scale, NUMBER, 0, YW_SCENE_REACH, "", "Scale factor.")};
const yw_record yw_record_shape =
    YW_RECORD("shape", shape_rows, shape_defaults,
              "A solid of exactly one kind, then scaled, rotated and moved, in this order.",
              "one sphere box capsule cylinder cone torus plane union intersection difference "
              "offset mesh use");

typedef struct round_keys {  // shapes with radii, a height, an axis
  float radius, height, bottom_radius, top_radius, ring_radius, tube_radius;
  yw_vec3 axis, center, from, to;
} round_keys;
static const round_keys round_defaults = {.axis = {0, 1, 0}};
static const yw_key_row sphere_rows[] = {
    YW_KEY_ABOVE(round_keys, radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius."),
    YW_KEY(round_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
static const yw_key_row capsule_rows[] = {
    YW_KEY(round_keys, from, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "One end of the axis."),
    YW_KEY(round_keys, to, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Other end of the axis."),
    YW_KEY_ABOVE(round_keys, radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius.")};
static const yw_key_row cylinder_rows[] = {
    YW_KEY_ABOVE(round_keys, radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius."),
    YW_KEY_ABOVE(round_keys, height, NUMBER, 0, YW_SCENE_REACH, "m", "Length along the axis."),
    YW_KEY(round_keys, axis, AXIS, 0, 0, "", "Direction of the axis."),
    YW_KEY(round_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
static const yw_key_row cone_rows[] = {
    YW_KEY(round_keys, bottom_radius, NUMBER, 0, YW_SCENE_REACH, "m",
           "Radius at the lower end of the axis."),
    YW_KEY(round_keys, top_radius, NUMBER, 0, YW_SCENE_REACH, "m",
           "Radius at the upper end of the axis."),
    YW_KEY_ABOVE(round_keys, height, NUMBER, 0, YW_SCENE_REACH, "m", "Length along the axis."),
    YW_KEY(round_keys, axis, AXIS, 0, 0, "", "Direction of the axis."),
    YW_KEY(round_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
static const yw_key_row torus_rows[] = {
    YW_KEY_ABOVE(round_keys, ring_radius, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Radius of the ring, from the axis to the middle of the tube."),
    YW_KEY_ABOVE(round_keys, tube_radius, NUMBER, 0, YW_SCENE_REACH, "m", "Radius of the tube."),
    YW_KEY(round_keys, axis, AXIS, 0, 0, "", "Direction of the axis."),
    YW_KEY(round_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre.")};
const yw_record yw_record_sphere =
    YW_RECORD("sphere", sphere_rows, round_defaults, "A ball.", "needs radius");
const yw_record yw_record_capsule =
    YW_RECORD("capsule", capsule_rows, round_defaults, "A cylinder with hemispherical ends.",
              "needs from to radius");
const yw_record yw_record_cylinder =
    YW_RECORD("cylinder", cylinder_rows, round_defaults, "A cylinder.", "needs radius height");
const yw_record yw_record_cone =
    YW_RECORD("cone", cone_rows, round_defaults, "A cone or truncated cone.", "needs height");
const yw_record yw_record_torus = YW_RECORD(
    "torus", torus_rows, round_defaults, "A ring around an axis.", "needs ring_radius tube_radius");

typedef struct box_keys {
  yw_vec3 size, half_size, center;
  float rounding;
} box_keys;
static const box_keys box_defaults = {.rounding = 0};
static const yw_key_row box_rows[] = {
    YW_KEY_ABOVE(box_keys, size, SIZE, 0, YW_SCENE_REACH, "m", "Side lengths."),
    YW_KEY_ABOVE(box_keys, half_size, SIZE, 0, YW_SCENE_REACH, "m", "Half of the side lengths."),
    YW_KEY(box_keys, center, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m", "Centre."),
    YW_KEY(box_keys, rounding, NUMBER, 0, YW_SCENE_REACH, "m",
           "Radius of rounded edges; at most half the shortest side.")};
const yw_record yw_record_box =
    YW_RECORD("box", box_rows, box_defaults, "A box.", "one size half_size");

typedef struct plane_keys {
  yw_vec3 normal, point;
  float offset;
} plane_keys;
static const plane_keys plane_defaults = {.normal = {0, 1, 0}};
static const yw_key_row plane_rows[] = {
    YW_KEY(plane_keys, normal, AXIS, 0, 0, "", "Direction that points out of the solid."),
    YW_KEY(plane_keys, offset, NUMBER, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Distance of the plane from the origin along the normal."),
    YW_KEY(plane_keys, point, VEC3, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Point on the plane, instead of \"offset\".")};
const yw_record yw_record_plane = YW_RECORD(
    "plane", plane_rows, plane_defaults,
    "The half-space below a plane: all points p with normal . p <= offset.", "not offset point");

typedef struct combination_keys {
  const yw_json* of;
  float smooth, distance;
} combination_keys;
static const combination_keys combination_defaults = {.smooth = 0};
static const yw_key_row combination_rows[] = {
    YW_NODE(combination_keys, of, "[any_shape]", "The shapes."),
    YW_KEY(combination_keys, smooth, NUMBER, 0, YW_SCENE_REACH, "m",
           "Width of the blend where the shapes meet; 0: sharp.")};
static const yw_key_row offset_rows[] = {
    YW_NODE(combination_keys, of, "any_shape", "The shape."),
    YW_KEY(combination_keys, distance, NUMBER, -YW_SCENE_REACH, YW_SCENE_REACH, "m",
           "Distance; negative values shrink the shape.")};
const yw_record yw_record_combination = YW_RECORD(
    "combination", combination_rows, combination_defaults, "A combination of shapes.", "needs of");
const yw_record yw_record_offset =
    YW_RECORD("offset", offset_rows, combination_defaults, "A shape grown or shrunk by a distance.",
              "needs of distance");

typedef struct mesh_keys {
  const char* file;
  int32_t part;
  float fit, sampled;
} mesh_keys;
static const mesh_keys mesh_defaults = {.file = NULL};
static const yw_key_row mesh_rows[] = {
    YW_KEY(mesh_keys, file, TEXT, 0, 0, "",
           "Triangle mesh (.obj, .ply, .stl, .gltf, .glb), or a tet mesh, whose boundary is used; "
           "relative to "
           "the scene file."),
    YW_KEY(mesh_keys, part, INTEGER, 0, 1e6, "",
           "Only this connected part, in the order of the file, from 1; 0: all of it. "
           "yawara run --parts makes a body of each."),
    YW_KEY_ABOVE(
        mesh_keys, fit, NUMBER, 0, YW_SCENE_REACH, "m",
        "Length of the longest side: centres the mesh at the origin and scales it to fit."),
    YW_KEY_ABOVE(mesh_keys, sampled, NUMBER, 0, YW_SCENE_REACH, "m",
                 "Grid spacing at which the distance is sampled: faster for obstacles.")};
const yw_record yw_record_mesh_shape = YW_RECORD(
    "mesh_shape", mesh_rows, mesh_defaults,
    "The solid enclosed by a triangle mesh; holes and self-intersections are fine.", "needs file");

// Ownership ---------------------------------------------------------------------------------------

// Hands a new shape to the scene, or reports the failure to create it.
static bool keep(yw_loader* l, const yw_json* node, yw_status status, yw_shape* shape,
                 yw_shape** out) {
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  if (status < 0) return yw_value_fail(&l->r, node, "is not a shape that can be made");
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->scene->shapes, 1)) {
    yw_shape_release(shape);
    return yw_memory_fail(&l->r);
  }
  l->scene->shapes.items[l->scene->shapes.count++] = shape;
  *out = shape;
  return true;
}

// Rotation from the y axis to a unit vector.
static yw_quat turn_from_y(yw_vec3 axis) {
  if (axis.y < -0.99999f) return (yw_quat){1, 0, 0, 0};
  return yw_quat_normalize((yw_quat){axis.z, 0, -axis.x, 1.0f + axis.y});
}

// Moves a new shape at the origin along y to its centre and axis.
static bool place(yw_loader* l, const yw_json* node, yw_status status, yw_shape* shape,
                  yw_vec3 center, yw_vec3 axis, yw_shape** out) {
  if (!keep(l, node, status, shape, out)) return false;
  yw_transform t = {center, turn_from_y(axis), 1};
  bool moved = yw_length2(center) > 0 || axis.y < 1.0f;
  if (!moved) return true;
  status = yw_shape_transform(&l->scene->mem, *out, t, &shape);
  return keep(l, node, status, shape, out);
}

// Primitives --------------------------------------------------------------------------------------

static bool load_sphere(yw_loader* l, const yw_json* node, yw_shape** out) {
  round_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_sphere, &k) || !yw_needs(&l->r, node, "radius")) {
    return false;
  }
  yw_status status = yw_shape_sphere(&l->scene->mem, k.radius, &shape);
  return place(l, node, status, shape, k.center, yw_v3(0, 1, 0), out);
}

static bool load_box(yw_loader* l, const yw_json* node, yw_shape** out) {
  static const char* const sizes[] = {"size", "half_size"};
  box_keys k;
  yw_shape* shape = NULL;
  int32_t which;
  if (!yw_read_record(&l->r, node, &yw_record_box, &k) ||
      !yw_exactly_one(&l->r, node, 2, sizes, &which)) {
    return false;
  }
  yw_vec3 half = which == 0 ? yw_scale(k.size, 0.5f) : k.half_size;
  float most = fminf(half.x, fminf(half.y, half.z));
  if (k.rounding > most) {
    return yw_value_fail(&l->r, yw_json_get(node, "rounding"),
                         "is %g, but must be at most half the smallest side, %g",
                         (double)k.rounding, (double)most);
  }
  yw_status status = k.rounding > 0 ? yw_shape_rounded_box(&l->scene->mem, half, k.rounding, &shape)
                                    : yw_shape_box(&l->scene->mem, half, &shape);
  return place(l, node, status, shape, k.center, yw_v3(0, 1, 0), out);
}

static bool load_capsule(yw_loader* l, const yw_json* node, yw_shape** out) {
  round_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_capsule, &k) || !yw_needs(&l->r, node, "from") ||
      !yw_needs(&l->r, node, "to") || !yw_needs(&l->r, node, "radius")) {
    return false;
  }
  if (!(yw_distance(k.from, k.to) > 0)) {
    return yw_value_fail(&l->r, node, "begins and ends at the same point: use a sphere");
  }
  yw_status status = yw_shape_capsule(&l->scene->mem, k.from, k.to, k.radius, &shape);
  return keep(l, node, status, shape, out);
}

static bool load_cylinder(yw_loader* l, const yw_json* node, yw_shape** out) {
  round_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_cylinder, &k) || !yw_needs(&l->r, node, "radius") ||
      !yw_needs(&l->r, node, "height")) {
    return false;
  }
  yw_status status = yw_shape_cylinder(&l->scene->mem, k.radius, k.height * 0.5f, &shape);
  return place(l, node, status, shape, k.center, k.axis, out);
}

static bool load_cone(yw_loader* l, const yw_json* node, yw_shape** out) {
  round_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_cone, &k) || !yw_needs(&l->r, node, "height")) {
    return false;
  }
  if (!(k.bottom_radius + k.top_radius > 0)) {
    return yw_value_fail(&l->r, node, "needs \"bottom_radius\" or \"top_radius\" above 0");
  }
  yw_status status =
      yw_shape_cone(&l->scene->mem, k.bottom_radius, k.top_radius, k.height * 0.5f, &shape);
  return place(l, node, status, shape, k.center, k.axis, out);
}

static bool load_torus(yw_loader* l, const yw_json* node, yw_shape** out) {
  round_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_torus, &k) || !yw_needs(&l->r, node, "ring_radius") ||
      !yw_needs(&l->r, node, "tube_radius")) {
    return false;
  }
  yw_status status = yw_shape_torus(&l->scene->mem, k.ring_radius, k.tube_radius, &shape);
  return place(l, node, status, shape, k.center, k.axis, out);
}

static bool load_plane(yw_loader* l, const yw_json* node, yw_shape** out) {
  plane_keys k;
  yw_shape* shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_plane, &k)) return false;
  if (!yw_not_both(&l->r, node, "offset", "point")) return false;
  if (yw_json_get(node, "point")) k.offset = yw_dot(k.normal, k.point);
  yw_status status = yw_shape_plane(&l->scene->mem, k.normal, k.offset, &shape);
  return keep(l, node, status, shape, out);
}

// Meshes ------------------------------------------------------------------------------------------

// Centres the mesh's box at the origin and scales its longest side to `length` metres; *place is
// what was done. Files may have points that belong to no triangle: these do not count.
static void fit_mesh(yw_tri_mesh* mesh, float length, yw_transform* place) {
  yw_aabb box = yw_aabb_empty();
  for (size_t n = 0; n < 3 * (size_t)mesh->num_triangles; n++) {
    box = yw_aabb_grow(box, mesh->positions[mesh->triangles[n]]);
  }
  yw_vec3 size = yw_sub(box.upper, box.lower);
  yw_vec3 center = yw_mad(box.lower, 0.5f, size);
  float longest = fmaxf(size.x, fmaxf(size.y, size.z));
  if (!(longest > 0) || !isfinite(longest)) return;
  for (int32_t i = 0; i < mesh->num_vertices; i++) {
    mesh->positions[i] = yw_scale(yw_sub(mesh->positions[i], center), length / longest);
  }
  place->scale = length / longest;
  place->position = yw_scale(center, -place->scale);
}

const yw_shape_file* yw_find_shape_file(const yw_loader* l, const yw_shape* shape) {
  for (int32_t i = 0; i < l->shape_files.count; i++) {
    if (l->shape_files.items[i].shape == shape) return &l->shape_files.items[i];
  }
  return NULL;
}

bool yw_pick_part(yw_loader* l, const yw_json* node, int32_t part, yw_tri_mesh* mesh) {
  if (part == 0) return true;
  yw_tri_mesh* parts = NULL;
  int32_t count = 0;
  yw_status status = yw_tri_mesh_split(mesh, &l->scene->mem, &parts, &count);
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  if (status >= 0 && part <= count) {
    yw_tri_mesh_free(mesh);
    *mesh = parts[part - 1];
    parts[part - 1] = (yw_tri_mesh){0};
  }
  for (int32_t i = 0; i < count; i++) yw_tri_mesh_free(&parts[i]);
  yw_mem_free(&l->scene->mem, parts);
  if (status >= 0 && part <= count) return true;
  yw_tri_mesh_free(mesh);
  return yw_value_fail(&l->r, node, "asks for part %d, but the file has %d", part, count);
}

bool yw_mend_surface(yw_loader* l, const yw_json* node, yw_tri_mesh* mesh) {
  int32_t turned = 0;
  if (yw_tri_mesh_mend(mesh, &turned) == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  if (turned > 0 && node) {
    yw_value_warn(&l->r, node, ": %d of %d triangles face the wrong way and are turned over",
                  turned, mesh->num_triangles);
  }
  return true;
}

// Of the area: smaller holes are mended without a word.
#define LEAST_OPENING 0.02

// A shape is solid: what is open is closed and filled, which may not be what was meant.
static bool warn_of_openings(yw_loader* l, const yw_json* node, const yw_tri_mesh* mesh) {
  yw_surface_report r;
  yw_status status = yw_surface_openings(mesh, &l->scene->mem, &r);
  if (status == YW_ERR_MEMORY) return yw_memory_fail(&l->r);
  if (status < 0) return true;
  if (r.turned_edges > 0) {
    yw_value_warn(&l->r, node,
                  ": the surface has one side only, as a Klein bottle: at %d edges triangles face "
                  "opposite sides, the first at (%.4g, %.4g, %.4g). What is inside is a guess",
                  r.turned_edges, (double)r.turned_place.x, (double)r.turned_place.y,
                  (double)r.turned_place.z);
  }
  if (r.hole_area < LEAST_OPENING * r.area) return true;
  double share = 100.0 * r.hole_area / r.area;
  yw_value_warn(&l->r, node,
                ": the surface is open: %d hole%s, %.0f %% as large as the surface, %s closed, and "
                "what is behind is filled. A bowl or a bag is a sheet: \"sheet\" with this file in "
                "a scene, --as cloth without one",
                r.holes, r.holes == 1 ? "" : "s", share, r.holes == 1 ? "is" : "are");
  return true;
}

static bool keep_file(yw_loader* l, const yw_shape* shape, const char* file, int32_t part,
                      yw_transform place) {
  if (!YW_LIST_RESERVE(&l->scene->mem, &l->shape_files, 1)) return yw_memory_fail(&l->r);
  l->shape_files.items[l->shape_files.count++] = (yw_shape_file){shape, file, part, place};
  return true;
}

static bool load_mesh(yw_loader* l, const yw_json* node, yw_shape** out) {
  mesh_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_mesh_shape, &k) || !yw_needs(&l->r, node, "file")) {
    return false;
  }
  yw_error deep = {0};
  yw_tri_mesh mesh = {0};
  yw_shape* shape = NULL;
  yw_transform fitted = {{0, 0, 0}, {0, 0, 0, 1}, 1};
  char* file = yw_loader_file(l, k.file);
  if (!file) return yw_memory_fail(&l->r);
  if (yw_tri_mesh_read(file, &l->scene->mem, &mesh, &deep) < 0) {
    return yw_deep_fail(&l->r, yw_json_get(node, "file"), &deep);
  }
  const yw_json* part = yw_json_get(node, "part");
  if (!yw_pick_part(l, part ? part : node, k.part, &mesh)) return false;
  if (!yw_mend_surface(l, node, &mesh) || (!l->hollow && !warn_of_openings(l, node, &mesh))) {
    yw_tri_mesh_free(&mesh);
    return false;
  }
  if (k.fit > 0) fit_mesh(&mesh, k.fit, &fitted);
  yw_status status = yw_shape_mesh(&l->scene->mem, &mesh, &shape, &deep);
  yw_tri_mesh_free(&mesh);
  if (status < 0) return yw_deep_fail(&l->r, node, &deep);
  if (!keep(l, node, status, shape, out) || !keep_file(l, *out, k.file, k.part, fitted))
    return false;
  if (!(k.sampled > 0)) return true;
  status = yw_shape_sampled(&l->scene->mem, *out, k.sampled, &shape, &deep);
  if (status < 0) return yw_deep_fail(&l->r, yw_json_get(node, "sampled"), &deep);
  return keep(l, node, status, shape, out) && keep_file(l, *out, k.file, k.part, fitted);
}

// Combinations ------------------------------------------------------------------------------------

static bool load_costed(yw_loader* l, const yw_json* node, yw_shape** out, int64_t* cost);

typedef yw_status (*combine)(const yw_allocator*, int32_t, yw_shape* const*, float, yw_shape**);

static bool load_combination(yw_loader* l, const yw_json* node, combine make, yw_shape** out,
                             int64_t* cost) {
  combination_keys k;
  if (!yw_read_record(&l->r, node, &yw_record_combination, &k) || !yw_needs(&l->r, node, "of") ||
      !yw_is_type(&l->r, k.of, YW_JSON_ARRAY)) {
    return false;
  }
  if (k.of->count == 0) return yw_value_fail(&l->r, k.of, "is empty, but must have a shape");
  *cost = 0;
  yw_shape** children = yw_json_alloc(l->r.doc, (size_t)k.of->count * sizeof *children);
  if (!children) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < k.of->count; i++) {
    int64_t child_cost;
    if (!load_costed(l, k.of->items[i], &children[i], &child_cost)) return false;
    *cost += child_cost;
  }
  yw_shape* shape = NULL;
  yw_status status = make(&l->scene->mem, k.of->count, children, k.smooth, &shape);
  return keep(l, node, status, shape, out);
}

static bool load_offset(yw_loader* l, const yw_json* node, yw_shape** out, int64_t* cost) {
  combination_keys k;
  yw_shape *child, *shape = NULL;
  if (!yw_read_record(&l->r, node, &yw_record_offset, &k) || !yw_needs(&l->r, node, "of") ||
      !yw_needs(&l->r, node, "distance") || !load_costed(l, k.of, &child, cost)) {
    return false;
  }
  yw_status status = yw_shape_offset(&l->scene->mem, child, k.distance, &shape);
  return keep(l, node, status, shape, out);
}

// Names -------------------------------------------------------------------------------------------

static bool load_use(yw_loader* l, const yw_json* node, yw_shape** out, int64_t* cost) {
  if (!yw_is_type(&l->r, node, YW_JSON_STRING)) return false;
  const yw_json* definition = yw_json_get(l->shapes, node->string);
  if (!definition) {
    int32_t count = l->shapes ? l->shapes->count : 0;
    const char** names = yw_json_alloc(l->r.doc, (size_t)(count + 1) * sizeof *names);
    if (!names) return yw_memory_fail(&l->r);
    for (int32_t i = 0; i < count; i++) names[i] = l->shapes->items[i]->key;
    yw_hint hint = yw_suggest(node->string, count, names);
    return yw_value_fail(&l->r, node, "is \"%.60s\", but \"shapes\" has no shape of that name%s",
                         node->string, hint.text);
  }
  yw_named_shape* named = &l->named_shapes[definition->index];
  named->used = true;
  if (named->reading) {
    return yw_value_fail(&l->r, node, "is \"%.60s\", but that shape is made of this one",
                         node->string);
  }
  if (!named->shape) {
    named->reading = true;
    if (!load_costed(l, definition, &named->shape, &named->cost)) return false;
    named->reading = false;
  }
  *out = named->shape;
  *cost = named->cost;
  return true;
}

// Any shape ---------------------------------------------------------------------------------------

static bool load_kind(yw_loader* l, const shape_keys* k, const yw_json* node, yw_shape** out,
                      int64_t* cost) {
  static const char* const kinds[] = {"sphere", "box",   "capsule", "cylinder",     "cone",
                                      "torus",  "plane", "union",   "intersection", "difference",
                                      "offset", "mesh",  "use"};
  int32_t which;
  if (!yw_exactly_one(&l->r, node, 13, kinds, &which)) return false;
  *cost = 1;
  if (k->sphere) return load_sphere(l, k->sphere, out);
  if (k->box) return load_box(l, k->box, out);
  if (k->capsule) return load_capsule(l, k->capsule, out);
  if (k->cylinder) return load_cylinder(l, k->cylinder, out);
  if (k->cone) return load_cone(l, k->cone, out);
  if (k->torus) return load_torus(l, k->torus, out);
  if (k->plane) return load_plane(l, k->plane, out);
  if (k->mesh) return load_mesh(l, k->mesh, out);
  if (k->union_) return load_combination(l, k->union_, yw_shape_union, out, cost);
  if (k->intersection) {
    return load_combination(l, k->intersection, yw_shape_intersection, out, cost);
  }
  if (k->difference) return load_combination(l, k->difference, yw_shape_difference, out, cost);
  if (k->offset) return load_offset(l, k->offset, out, cost);
  return load_use(l, k->use, out, cost);
}

static bool load_object(yw_loader* l, const yw_json* node, yw_shape** out, int64_t* cost) {
  shape_keys k;
  if (node->type == YW_JSON_STRING) return load_use(l, node, out, cost);
  if (node->type != YW_JSON_OBJECT) {
    return yw_type_fail(&l->r, node, "a shape or the name of one");
  }
  if (!yw_read_record(&l->r, node, &yw_record_shape, &k) || !load_kind(l, &k, node, out, cost)) {
    return false;
  }
  if (*cost > MAX_PRIMITIVES) {
    return yw_value_fail(&l->r, node, "is made of more than %d shapes", MAX_PRIMITIVES);
  }
  bool moved =
      yw_json_get(node, "move") || yw_json_get(node, "rotate") || yw_json_get(node, "scale");
  if (!moved) return true;
  yw_shape* shape = NULL;
  yw_transform t = {k.move, k.rotate, k.scale};
  const yw_shape_file* source = yw_find_shape_file(l, *out);
  yw_status status = yw_shape_transform(&l->scene->mem, *out, t, &shape);
  if (!keep(l, node, status, shape, out)) return false;
  return !source ||
         keep_file(l, *out, source->file, source->part, yw_transform_mul(t, source->place));
}

static bool load_costed(yw_loader* l, const yw_json* node, yw_shape** out, int64_t* cost) {
  if (l->shape_depth >= MAX_DEPTH) {
    return yw_value_fail(&l->r, node, "is nested deeper than %d shapes", MAX_DEPTH);
  }
  l->shape_depth++;
  bool done = load_object(l, node, out, cost);
  l->shape_depth--;
  return done;
}

bool yw_load_shape(yw_loader* l, const yw_json* node, yw_shape** out) {
  int64_t cost;
  return load_costed(l, node, out, &cost);
}

bool yw_load_named_shapes(yw_loader* l, const yw_json* node) {
  if (!node) return true;
  if (!yw_is_type(&l->r, node, YW_JSON_OBJECT)) return false;
  l->shapes = node;
  l->named_shapes = yw_json_alloc(l->r.doc, (size_t)(node->count + 1) * sizeof *l->named_shapes);
  if (!l->named_shapes) return yw_memory_fail(&l->r);
  for (int32_t i = 0; i < node->count; i++) {
    yw_named_shape* named = &l->named_shapes[i];
    if (named->shape) continue;
    named->reading = true;
    if (!load_costed(l, node->items[i], &named->shape, &named->cost)) return false;
    named->reading = false;
  }
  return true;
}

void yw_warn_unused_shapes(yw_loader* l) {
  for (int32_t i = 0; l->shapes && i < l->shapes->count; i++) {
    if (!l->named_shapes[i].used) yw_value_warn(&l->r, l->shapes->items[i], " is not used");
  }
}
