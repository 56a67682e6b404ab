// SPDX-License-Identifier: MIT
// Nodes of glTF files: matrices, or translations, rotations and scales, of parents and children,
// mirrored too. Positions and normals end up where a reference puts them.
#include "support/mesh_samples.h"
#include "support/temporary_folder.h"
#include "yawara/extend/vec.h"
#include "yawara/files.h"

typedef struct affine {
  double m[3][3], t[3];
} affine;

static affine after(affine a, affine b) {
  affine out;
  for (int i = 0; i < 3; ++i) {
    out.t[i] = a.t[i];
    for (int k = 0; k < 3; ++k) {
      out.t[i] += a.m[i][k] * b.t[k];
      out.m[i][k] = 0;
      for (int j = 0; j < 3; ++j) out.m[i][k] += a.m[i][j] * b.m[j][k];
    }
  }
  return out;
}

static void apply(const affine* a, const double p[3], double out[3]) {
  for (int i = 0; i < 3; ++i) {
    out[i] = a->t[i] + a->m[i][0] * p[0] + a->m[i][1] * p[1] + a->m[i][2] * p[2];
  }
}

// A rotation by the quaternion (0.1, 0.3, 0.5, sqrt(0.65)), times scales.
static affine turned(const double scale[3]) {
  const double q[4] = {0.1, 0.3, 0.5, sqrt(0.65)};
  affine out = {.t = {0.25, -1, 2}};
  for (int c = 0; c < 3; ++c) {
    double e[3] = {c == 0, c == 1, c == 2}, u[3], v[3];
    // e + 2 q x (q x e + w e)
    for (int i = 0; i < 3; ++i) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      u[i] = q[j] * e[k] - q[k] * e[j] + q[3] * e[i];
    }
    for (int i = 0; i < 3; ++i) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      v[i] = e[i] + 2 * (q[j] * u[k] - q[k] * u[j]);
      out.m[i][c] = v[i] * scale[c];
    }
  }
  return out;
}

// One triangle and its normals in a node with a matrix, below a node with a rotation and scales.
static void put_file(sample* s, const affine* inner, const double scale[3]) {
  char text[2000];
  int n = snprintf(
      text, sizeof text,
      "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1],"
      "\"translation\":[0.25,-1,2],\"rotation\":[0.1,0.3,0.5,%.17g],\"scale\":[%g,%g,%g]},"
      "{\"mesh\":0,\"matrix\":[",
      sqrt(0.65), scale[0], scale[1], scale[2]);
  for (int c = 0; c < 4; ++c) {
    for (int r = 0; r < 4; ++r) {
      double v = r == 3 ? c == 3 : c == 3 ? inner->t[r] : inner->m[r][c];
      n += snprintf(text + n, sizeof text - (size_t)n, "%s%g", c || r ? "," : "", v);
    }
  }
  snprintf(text + n, sizeof text - (size_t)n,
           "]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1}}]}],"
           "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
           "{\"bufferView\":0,\"byteOffset\":36,\"componentType\":5126,\"count\":3,\"type\":"
           "\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":72}],\"buffers\":["
           "{\"byteLength\":72,\"uri\":\"data:application/octet-stream;base64,");
  put_text(s, text);
}

static const double corners[3][3] = {{0, 0, 0}, {1, 0.5, 0}, {0.25, 0, 2}};

static void check_nodes(const double scale[3]) {
  const affine inner = {{{1, 0.5, 0}, {0, 2, -0.25}, {0.125, 0, 1}}, {3, 4, 5}};
  const affine all = after(turned(scale), inner);
  unsigned char bytes[72], file[4000];
  sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
  sample s = {.bytes = file, .capacity = sizeof file};
  double e[2][3], n[3], length;
  for (int k = 0; k < 3; ++k) {
    e[0][k] = corners[1][k] - corners[0][k], e[1][k] = corners[2][k] - corners[0][k];
  }
  for (int k = 0; k < 3; ++k) {
    n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
  }
  length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int i = 0; i < 9; ++i) put_f32(&buffer, (float)corners[i / 3][i % 3], false);
  for (int i = 0; i < 9; ++i) put_f32(&buffer, (float)(n[i % 3] / length), false);
  put_file(&s, &inner, scale);
  put_base64(&s, bytes, sizeof bytes);
  put_text(&s, "\"}]}\n");
  yw_tri_mesh mesh;
  yw_mesh_look look;
  yw_error error = {0};
  const char* path = store("n.gltf", s.bytes, s.size);
  if (yw_mesh_look_read(path, NULL, &mesh, &look, &error) < 0) fail_msg("%s", error.message);
  assert_int_equal(mesh.num_triangles, 1);
  assert_int_equal(look.num_normals, 3);
  for (int i = 0; i < 3; ++i) {
    double at[3];
    apply(&all, corners[i], at);
    assert_near(mesh.positions[i].x, at[0], 1e-5);
    assert_near(mesh.positions[i].y, at[1], 1e-5);
    assert_near(mesh.positions[i].z, at[2], 1e-5);
  }
  // Normals stay normal to the triangle, of unit length, on its front side, mirrored or not.
  const int32_t* v = mesh.triangles;
  yw_vec3 a = yw_sub(mesh.positions[v[1]], mesh.positions[v[0]]);
  yw_vec3 b = yw_sub(mesh.positions[v[2]], mesh.positions[v[0]]), up = yw_cross(a, b);
  for (int i = 0; i < 3; ++i) {
    assert_near(yw_length(look.normals[i]), 1, 1e-6);
    assert_near(yw_dot(look.normals[i], up) / yw_length(up), 1, 1e-5);
  }
  yw_mesh_look_free(&look);
  yw_tri_mesh_free(&mesh);
}

static void vertices_and_normals_follow_their_nodes(void** state) {
  (void)state;
  check_nodes((const double[3]){1, 1, 1});
  check_nodes((const double[3]){0.5, 2, 3});
  check_nodes((const double[3]){-0.5, 2, 3});
}

// A normal without a direction counts as none: the file has no normals.
static void nothing_is_made_of_normals_without_direction(void** state) {
  (void)state;
  unsigned char bytes[72], file[4000];
  const affine inner = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
  for (int kind = 0; kind < 2; ++kind) {
    sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
    sample s = {.bytes = file, .capacity = sizeof file};
    for (int i = 0; i < 9; ++i) put_f32(&buffer, (float)corners[i / 3][i % 3], false);
    for (int i = 0; i < 9; ++i) put_f32(&buffer, i < 3 ? (kind ? INFINITY : 0.0f) : 1.0f, false);
    put_file(&s, &inner, (const double[3]){1, 1, 1});
    put_base64(&s, bytes, sizeof bytes);
    put_text(&s, "\"}]}\n");
    yw_tri_mesh mesh;
    yw_mesh_look look;
    assert_true(yw_mesh_look_read(store("n.gltf", s.bytes, s.size), NULL, &mesh, &look, NULL) >= 0);
    assert_int_equal(look.num_normals, 0);
    assert_int_equal(mesh.num_triangles, 1);
    yw_mesh_look_free(&look);
    yw_tri_mesh_free(&mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vertices_and_normals_follow_their_nodes),
      cmocka_unit_test(nothing_is_made_of_normals_without_direction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
