// SPDX-License-Identifier: MIT
// "animation" of obstacles: a mesh whose vertices follow a point cache or a series of files.
#include <string.h>

#include "scene/animation.h"
#include "scene/records.h"
#include "yawara/files.h"

static const yw_mesh_obstacle_spec animation_defaults = {0};
static const yw_key_row animation_rows[] = {
    YW_KEY(yw_mesh_obstacle_spec, mesh, TEXT, 0, 0, "",
           "Mesh file with the faces (.obj, .ply); its vertices are those of the animation, in the "
           "same order. Default: the first file of a series."),
    YW_ANIMATION_KEYS(yw_mesh_obstacle_spec, animation, "in the coordinates of the obstacle"),
    YW_KEY(yw_mesh_obstacle_spec, thickness, NUMBER, 0, YW_SCENE_REACH, "m",
           "Thickness of the surface, which is solid from both sides. 0: 5 % of the mean edge.")};
const yw_record yw_record_animation =
    YW_RECORD("animation", animation_rows, animation_defaults,
              "An animated mesh as an obstacle: a character, a hand, a conveyor belt. It may have "
              "holes and may pass through itself.",
              "needs file");

// Takes the triangles of a mesh file.
static bool read_triangles(yw_loader* l, const char* path, yw_mesh_obstacle_spec* out) {
  const yw_json* node = yw_json_get(out->animation.node, out->mesh ? "mesh" : "file");
  yw_error deep = {0};
  yw_tri_mesh mesh = {0};
  if (yw_tri_mesh_read(path, &l->scene->mem, &mesh, &deep) < 0) {
    return yw_deep_fail(&l->r, node, &deep);
  }
  bool fits = mesh.num_vertices == out->animation.num_points;
  size_t size = 3 * (size_t)mesh.num_triangles * sizeof *out->triangles;
  out->triangles = yw_json_alloc(l->r.doc, size);
  out->num_triangles = mesh.num_triangles;
  if (out->triangles) memcpy(out->triangles, mesh.triangles, size);
  int vertices = (int)mesh.num_vertices;
  yw_tri_mesh_free(&mesh);
  if (!out->triangles) return yw_memory_fail(&l->r);
  if (fits) return true;
  return yw_value_fail(&l->r, node,
                       "has %d vertices, but the animation has %d points: export both from the "
                       "same mesh, and use .obj or .ply",
                       vertices, (int)out->animation.num_points);
}

bool yw_load_mesh_obstacle(yw_loader* l, const yw_json* node, yw_mesh_obstacle_spec** out) {
  yw_mesh_obstacle_spec* spec = yw_json_alloc(l->r.doc, sizeof *spec);
  if (!spec) return yw_memory_fail(&l->r);
  if (!yw_read_record(&l->r, node, &yw_record_animation, spec) || !yw_needs(&l->r, node, "file")) {
    return false;
  }
  spec->animation.node = node;
  bool series = strchr(spec->animation.file, '#') != NULL;
  if (!series && !spec->mesh) {
    return yw_value_fail(
        &l->r, node, "needs \"mesh\": a point cache has no faces, so a mesh file must have them");
  }
  if (!yw_read_animation(l, &spec->animation)) return false;
  char* path =
      spec->mesh ? yw_loader_file(l, spec->mesh) : yw_animation_first_file(l, &spec->animation);
  if (!path) return yw_memory_fail(&l->r);
  *out = spec;
  return read_triangles(l, path, spec);
}
