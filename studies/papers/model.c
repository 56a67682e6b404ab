// SPDX-License-Identifier: MIT
// Meshes of the user's (--model) in place of the bunnies, cars and teddies of figures. A mesh is
// made as long as the shape it replaces and put where that stands; y is up, cars drive along +x.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers/paper.h"
#include "yawara/extend/error.h"
#include "yawara/extend/vec.h"

typedef struct stand_in {
  const char* scene;      // file under papers/
  const char* shapes[2];  // names of the shapes that it replaces
  int axis;               // 0: x, 1: y
  double length;          // m, along that axis
  double lowest;          // m, of y
  int32_t num_painted;    // bodies whose paint would be in the wrong places
} stand_in;

static const stand_in stand_ins[] = {
    {"koyama2013/fig6.json", {"teddy", "skin"}, 0, 1.79, -0.545, 2},
    {"koyama2013/fig10.json", {"cage", "car"}, 0, 2.0, -0.44, 4},
    {"saida2017/fig7.json", {"bunny"}, 1, 1.2, 0, 0},
    {"saida2017/fig11.json", {"creature"}, 1, 1.5, 0, 0},
    {"saida2017/fig13.json", {"bunny"}, 1, 1.2, 0, 0},
    {"saida2017/fig14.json", {"bunny"}, 1, 1.2, 0, 0},
    {"saida2017/fig15.json", {"bunny"}, 1, 1.2, 0, 0},
    {"imai/bunny.json", {"bunny"}, 1, 0.12, 0, 0},
};

// The mesh, measured ------------------------------------------------------------------------------

typedef struct model_size {
  yw_aabb box;
  yw_vec3 right;   // the vertex with the largest x
  yw_vec3 middle;  // mean of the vertices
} model_size;

// Reads tets or triangles.
static yw_status measure_model(const char* file, model_size* out, yw_error* error) {
  yw_tet_mesh tets = {0};
  yw_tri_mesh triangles = {0};
  yw_status status = yw_tri_mesh_read(file, NULL, &triangles, NULL);
  const yw_vec3* x = triangles.positions;
  int32_t count = triangles.num_vertices;
  if (status < 0) {
    status = yw_tet_mesh_read(file, NULL, &tets, error);
    x = tets.positions;
    count = tets.num_vertices;
  }
  *out = (model_size){.box = yw_aabb_empty()};
  for (int32_t i = 0; i < count && status >= 0; ++i) {
    out->box = yw_aabb_grow(out->box, x[i]);
    out->middle = yw_mad(out->middle, 1.0f / (float)count, x[i]);
    if (i == 0 || x[i].x > out->right.x) out->right = x[i];
  }
  yw_tet_mesh_free(&tets);
  yw_tri_mesh_free(&triangles);
  return status;
}

// Changes of the scene ----------------------------------------------------------------------------

static void change(paper_model_changes* c, const char* key, const char* value) {
  int32_t i = c->count++;
  snprintf(c->keys[i], sizeof c->keys[i], "%s", key);
  snprintf(c->values[i], sizeof c->values[i], "%s", value);
  c->settings[i] = (yw_scene_override){c->keys[i], c->values[i]};
}

// The teddies are held at the middle and pulled at what reaches farthest along x.
static void hold_teddies(paper_model_changes* c, double scale, yw_vec3 move, const model_size* m) {
  static const double bodies[2][3] = {{-1.45, 0.75, 0}, {1.45, 0.75, 0}};
  const yw_vec3 points[2] = {yw_mad(move, (float)scale, m->middle),
                             yw_mad(move, (float)scale, m->right)};
  for (int b = 0; b < 2; ++b) {
    for (int k = 0; k < 2; ++k) {
      char key[60], value[160];
      // A little inside of the hand.
      double inwards = k == 1 ? 0.08 : 0.0;
      snprintf(key, sizeof key, "bodies[%d].pins[%d].select", b, k);
      snprintf(value, sizeof value,
               "{ \"sphere\": { \"radius\": %g, \"center\": [%.9g, %.9g, %.9g] } }",
               k == 1 ? 0.2 : 0.3, bodies[b][0] + (double)points[k].x - inwards,
               bodies[b][1] + (double)points[k].y, bodies[b][2] + (double)points[k].z);
      change(c, key, value);
    }
  }
}

static void replace(paper_model_changes* c, const stand_in* s, const char* path,
                    const model_size* m) {
  char key[60], value[PAPER_MODEL_VALUE];
  double extent = s->axis == 0 ? (double)(m->box.upper.x - m->box.lower.x)
                               : (double)(m->box.upper.y - m->box.lower.y);
  double scale = s->length / extent;
  yw_vec3 move = {(float)(-0.5 * scale * (double)(m->box.lower.x + m->box.upper.x)),
                  (float)(s->lowest - scale * (double)m->box.lower.y),
                  (float)(-0.5 * scale * (double)(m->box.lower.z + m->box.upper.z))};
  snprintf(value, sizeof value,
           "{ \"mesh\": { \"file\": \"%s\" }, \"scale\": %.9g, \"move\": [%.9g, %.9g, %.9g] }",
           path, scale, (double)move.x, (double)move.y, (double)move.z);
  for (int k = 0; k < 2 && s->shapes[k]; ++k) {
    snprintf(key, sizeof key, "shapes.%s", s->shapes[k]);
    change(c, key, value);
  }
  for (int32_t i = 0; i < s->num_painted; ++i) {
    snprintf(key, sizeof key, "bodies[%d].paint", i);
    change(c, key, "[]");
  }
  if (strcmp(s->scene, "koyama2013/fig6.json") == 0) hold_teddies(c, scale, move, m);
}

yw_status paper_model_find(const paper_options* options, const char* scene,
                           paper_model_changes* out, yw_error* error) {
  out->count = 0;
  const stand_in* found = NULL;
  for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; ++i) {
    if (strcmp(stand_ins[i].scene, scene) == 0) found = &stand_ins[i];
  }
  if (!options->model || !found) return YW_OK;
  char* path = realpath(options->model, NULL);
  if (!path) return yw_fail(error, YW_ERR_IO, "%s: there is no such file", options->model);
  model_size size;
  yw_status status = measure_model(path, &size, error);
  float extent =
      found->axis == 0 ? size.box.upper.x - size.box.lower.x : size.box.upper.y - size.box.lower.y;
  if (status >= 0 && (!(extent > 0.0f) || strlen(path) > 900 || strpbrk(path, "\"\\"))) {
    status = yw_fail(error, YW_ERR_INVALID, "%s is flat, or its path is too long", options->model);
  }
  if (status >= 0) replace(out, found, path, &size);
  free(path);
  return status;
}
