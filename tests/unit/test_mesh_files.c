// SPDX-License-Identifier: MIT
#include <errno.h>
#include <locale.h>
#include <sys/stat.h>

#include "support/counted_memory.h"
#include "support/mesh_samples.h"
#include "support/temporary_folder.h"
#include "yawara/extend/vtu_write.h"
#include "yawara/files.h"

static void assert_contains(const char* text, const char* part) {
  if (strstr(text, part)) return;
  print_error("\"%s\" does not contain \"%s\"\n", text, part);
  fail();
}

static double tet_volume(const yw_tet_mesh* mesh, int32_t tet) {
  const int32_t* v = mesh->tets + 4 * tet;
  yw_vec3 a = mesh->positions[v[0]], b = mesh->positions[v[1]], c = mesh->positions[v[2]],
          d = mesh->positions[v[3]];
  double e[3][3] = {{b.x - a.x, b.y - a.y, b.z - a.z},
                    {c.x - a.x, c.y - a.y, c.z - a.z},
                    {d.x - a.x, d.y - a.y, d.z - a.z}};
  return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
          e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
          e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
         6.0;
}

// Reading -----------------------------------------------------------------------------------------

// TetGen's files come in pairs.
static const char* store_sample(const sample* s) {
  if (strcmp(s->name, "a.node") == 0) store_text("a.ele", sample_ele);
  if (strcmp(s->name, "a.ele") == 0) store_text("a.node", sample_node);
  return store(s->name, s->bytes, s->size);
}

static void every_volume_format_gives_the_same_tets(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    if (!s->volume) continue;
    yw_tet_mesh mesh;
    yw_error error = {0};
    if (yw_tet_mesh_read(store_sample(s), NULL, &mesh, &error) != YW_OK)
      fail_msg("%s (%s): %s", s->name, s->detail, error.message);
    if (mesh.num_vertices != 5 || mesh.num_tets != 2 || !mesh.labels)
      fail_msg("%s (%s): %d vertices, %d tets", s->name, s->detail, mesh.num_vertices,
               mesh.num_tets);
    assert_memory_equal(mesh.positions, sample_positions, sizeof sample_positions);
    assert_memory_equal(mesh.labels, s->labels, sizeof s->labels);
    assert_near(tet_volume(&mesh, 0), 1.0 / 6.0, 1e-7);
    assert_near(tet_volume(&mesh, 1), (1.25 + 1.5 + 1.75 - 1.0) / 6.0, 1e-6);
    assert_int_equal(yw_tet_mesh_check(&mesh, &error), YW_OK);
    yw_tet_mesh_free(&mesh);
  }
  free_samples(set);
}

static void a_tet_file_read_as_surface_gives_its_boundary(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    if (!s->volume) continue;
    yw_tri_mesh mesh;
    yw_error error = {0};
    if (yw_tri_mesh_read(store_sample(s), NULL, &mesh, &error) != YW_OK)
      fail_msg("%s (%s): %s", s->name, s->detail, error.message);
    assert_int_equal(mesh.num_vertices, 5);
    assert_int_equal(mesh.num_triangles, 6);
    yw_tri_mesh_free(&mesh);
  }
  free_samples(set);
}

static void every_surface_format_gives_the_same_triangles(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    if (s->volume) continue;
    yw_tri_mesh mesh;
    yw_error error = {0};
    if (yw_tri_mesh_read(store_sample(s), NULL, &mesh, &error) != YW_OK)
      fail_msg("%s (%s): %s", s->name, s->detail, error.message);
    if (mesh.num_vertices != 4 || mesh.num_triangles != 4)
      fail_msg("%s (%s): %d vertices, %d triangles", s->name, s->detail, mesh.num_vertices,
               mesh.num_triangles);
    for (int32_t t = 0; t < 12; ++t) {
      // Welded files number vertices by first use: compare positions. Strips may begin elsewhere.
      yw_vec3 p = mesh.positions[mesh.triangles[t]];
      const float* q = sample_positions[sample_triangles[t / 3][t % 3]];
      if (p.x != q[0] || p.y != q[1] || p.z != q[2])
        fail_msg("%s (%s): corner %d is at %g %g %g", s->name, s->detail, t, p.x, p.y, p.z);
    }
    if (strcmp(s->name, "a.obj") == 0 || strcmp(s->name, "a.ply") == 0) {
      assert_non_null(mesh.colors);
      for (int32_t v = 0; v < 4; ++v) {
        assert_near(mesh.colors[v].x, 1.0, 0);
        assert_near(mesh.colors[v].y, 0.2, 1e-7);
        assert_near(mesh.colors[v].z, 0.0, 0);
      }
    } else {
      assert_null(mesh.colors);
    }
    yw_tri_mesh_free(&mesh);
  }
  free_samples(set);
}

static void positions_come_in_the_order_of_the_file(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    yw_vec3* positions;
    int32_t count;
    yw_error error = {0};
    const char* path = store_sample(s);
    if (yw_positions_read(path, NULL, &positions, &count, &error) != YW_OK)
      fail_msg("%s (%s): %s", s->name, s->detail, error.message);
    // STL has no shared vertices, only corners of triangles.
    bool stl = strcmp(s->name, "a.stl") == 0;
    assert_int_equal(count, stl ? 12 : s->volume ? 5 : 4);
    for (int32_t v = 0; !stl && v < count; ++v) {
      assert_near(positions[v].x, sample_positions[v][0], 0);
      assert_near(positions[v].y, sample_positions[v][1], 0);
      assert_near(positions[v].z, sample_positions[v][2], 0);
    }
    free(positions);
  }
  free_samples(set);
}

static void positions_need_no_faces_and_no_ele_file(void** state) {
  (void)state;
  yw_vec3* positions;
  int32_t count;
  yw_error error;
  const char* path =
      store_text("cloud.ply",
                 "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty "
                 "float y\nproperty float z\nend_header\n1 2 3\n4 5 6\n");
  assert_int_equal(yw_positions_read(path, NULL, &positions, &count, &error), YW_OK);
  assert_int_equal(count, 2);
  assert_near(positions[1].z, 6, 0);
  free(positions);
  yw_tri_mesh surface;
  assert_int_equal(yw_tri_mesh_read(path, NULL, &surface, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "cloud.ply: has 2 vertices but no faces");

  path = store_text("pose.node", sample_node);
  assert_int_equal(yw_positions_read(path, NULL, &positions, &count, &error), YW_OK);
  assert_int_equal(count, 5);
  free(positions);
  yw_tet_mesh tets;
  assert_int_equal(yw_tet_mesh_read(path, NULL, &tets, &error), YW_ERR_IO);
  assert_contains(error.message, "pose.ele: cannot be opened: No such file");
}

// Triangles of concave polygons must not lie outside them.
static void polygons_of_any_shape_keep_their_area(void** state) {
  (void)state;
  // An arrow (concave at corner 2), a long comb, and a quad whose first diagonal lies outside.
  static const char* const files[] = {"v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\nf 1 2 3 4\n",
                                      "v 0 0 1\nv 6 0 1\nv 6 3 1\nv 5 3 1\nv 5 1 1\nv 4 1 1\nv 4 3 "
                                      "1\nv 3 3 1\nv 3 1 1\nv 2 1 1\nv 2 3 1\nv "
                                      "0 3 1\nf 1 2 3 4 5 6 7 8 9 10 11 12\n",
                                      "v 1 0 1\nv 4 0 0\nv 0 0 0\nv 0 0 4\nf -4 -3 -2 -1\n"};
  static const double areas[] = {4.0, 6.0 * 3.0 - 2.0 - 2.0, 4.0};
  for (int32_t i = 0; i < 3; ++i) {
    yw_tri_mesh mesh;
    yw_error error = {0};
    if (yw_tri_mesh_read(store_text("p.obj", files[i]), NULL, &mesh, &error) != YW_OK)
      fail_msg("%s", error.message);
    double area = 0.0;
    for (int32_t t = 0; t < mesh.num_triangles; ++t) {
      yw_vec3 a = mesh.positions[mesh.triangles[3 * t]],
              b = mesh.positions[mesh.triangles[3 * t + 1]],
              c = mesh.positions[mesh.triangles[3 * t + 2]];
      double e[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, f[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
      double n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2],
                     e[0] * f[1] - e[1] * f[0]};
      area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    assert_near(area, areas[i], 1e-9);
    yw_tri_mesh_free(&mesh);
  }
}

// Nodes on edges are left out, with a word.
static void cells_of_second_order_are_read_as_linear_ones(void** state) {
  (void)state;
  static const struct {
    const char *name, *text;
  } files[] = {
      {"c.ele", "1 10 0\n0 0 1 2 3 4 5 6 7 8 9\n"},
      {"c.mesh",
       "MeshVersionFormatted 2\nDimension 3\nVertices 10\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n5 0 "
       "0 0\n5 "
       "0 0 0\n5 0 0 0\n5 0 0 0\n5 0 0 0\n5 0 0 0\nTetrahedraP2 1\n1 2 3 4 5 6 7 8 9 10 0\nEnd\n"},
      {"c.inp",
       "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,5\n6,5\n7,5\n8,5\n9,5\n10,5\n*ELEMENT, "
       "TYPE=C3D10MH\n1,1,2,3,4,5,6,7,8,9,\n10\n"},
  };
  store_text(
      "c.node",
      "10 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 5 0 0\n5 5 0 0\n6 5 0 0\n7 5 0 0\n8 5 0 "
      "0\n9 5 0 0\n");
  for (int32_t i = 0; i < 3; ++i) {
    yw_tet_mesh mesh;
    yw_error error = {0};
    yw_status status =
        yw_tet_mesh_read(store_text(files[i].name, files[i].text), NULL, &mesh, &error);
    if (status != YW_WARN_REDUNDANT) fail_msg("%s: %d %s", files[i].name, status, error.message);
    assert_contains(error.message, "1 cells are of second or higher order and are read as linear");
    assert_int_equal(mesh.num_vertices, 4);
    assert_int_equal(mesh.num_tets, 1);
    assert_near(tet_volume(&mesh, 0), 1.0 / 6.0, 1e-7);
    yw_tet_mesh_free(&mesh);
  }
  // Faces too: a triangle with six nodes.
  yw_tri_mesh surface;
  yw_error error = {0};
  const char* path = store_text("f.inp",
                                "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,5\n5,5\n6,5\n*ELEMENT, "
                                "TYPE=STRI65\n1,1,2,3,4,5,6\n");
  assert_int_equal(yw_tri_mesh_read(path, NULL, &surface, &error), YW_WARN_REDUNDANT);
  assert_int_equal(surface.num_vertices, 3);
  assert_int_equal(surface.num_triangles, 1);
  yw_tri_mesh_free(&surface);
}

// Buffers of a .gltf file are usually in a file beside it; a mirrored node turns triangles over.
static void gltf_buffers_may_be_files(void** state) {
  (void)state;
  static const char text[] =
      "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": "
      "0, "
      "\"scale\": [-1, 1, 1]}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0, "
      "\"COLOR_0\": 1}, \"mode\": 5}]}], \"accessors\": [{\"bufferView\": 0, \"componentType\": "
      "5122, "
      "\"normalized\": true, \"count\": 4, \"type\": \"VEC3\"}, {\"bufferView\": 0, "
      "\"byteOffset\": 6, "
      "\"componentType\": 5121, \"normalized\": true, \"count\": 4, \"type\": \"VEC4\"}], "
      "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 48, \"byteStride\": 12}], \"buffers\": "
      "[{\"byteLength\": 48, \"uri\": \"my%20data.bin\"}]}";
  unsigned char bytes[48] = {0};
  sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
  for (int32_t i = 0; i < 4; ++i) {
    // A strip of two triangles: the corners of the unit square, row by row.
    put_uint(&buffer, i % 2 ? 32767 : 0, 2, false), put_uint(&buffer, i / 2 ? 32767 : 0, 2, false);
    put_uint(&buffer, 0, 2, false);
    put_i32(&buffer, 0x000033ff, false);
    put_uint(&buffer, 0, 2, false);
  }
  yw_tri_mesh mesh;
  yw_error error = {0};
  const char* path = store_text("s.gltf", text);
  assert_int_equal(yw_tri_mesh_read(path, NULL, &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "my data.bin: cannot be opened");
  store("my data.bin", bytes, sizeof bytes);
  if (yw_tri_mesh_read(path, NULL, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
  assert_int_equal(mesh.num_triangles, 2);
  assert_near(mesh.positions[1].x, -1, 0);
  assert_near(mesh.colors[3].x, 1, 0);
  assert_near(mesh.colors[3].y, 0.2, 1e-6);
  for (int32_t t = 0; t < 2; ++t) {
    const int32_t* v = mesh.triangles + 3 * t;
    yw_vec3 a = mesh.positions[v[0]], b = mesh.positions[v[1]], c = mesh.positions[v[2]];
    // The strip is wound so that z points up, mirrored or not.
    assert_near((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x), 1, 1e-6);
  }
  yw_tri_mesh_free(&mesh);
}

// Texture coordinates keep a number for each vertex of the file, v upwards; materials have names.
static void gltf_has_looks(void** state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    static unsigned char bytes[4000];
    sample s = {.bytes = bytes, .capacity = sizeof bytes};
    (kind ? make_glb : make_gltf)(&s);
    const char* path = store(kind ? "l.glb" : "l.gltf", s.bytes, s.size);
    for (int left = 0;; ++left) {
      counted_memory memory = {.left = left};
      yw_allocator mem = counted_allocator(&memory);
      yw_tri_mesh mesh;
      yw_mesh_look look;
      yw_error error = {0};
      yw_status status = yw_mesh_look_read(path, &mem, &mesh, &look, &error);
      if (status == YW_OK) {
        assert_int_equal(mesh.num_triangles, 4);
        assert_int_equal(look.num_uvs, 4);
        assert_near(look.uvs[2], (double)(2.0f * sample_positions[0][2]), 0);
        assert_near(look.uvs[3], 1.0 - (double)(2.0f * sample_positions[1][0] - 1), 1e-6);
        assert_memory_equal(look.corners, sample_triangles, sizeof sample_triangles);
        assert_int_equal(look.num_materials, 2);
        assert_string_equal(look.names[0], "red");
        assert_string_equal(look.names[1], "material 1");
        for (int t = 0; t < 4; ++t) assert_int_equal(look.materials[t], 1);
        yw_mesh_look_free(&look);
        yw_tri_mesh_free(&mesh);
      }
      if (memory.alive != 0) fail_msg("%d blocks leaked after %d", memory.alive, left);
      if (status == YW_OK) break;
      assert_int_equal(status, YW_ERR_MEMORY);
    }
  }
}

// Texture coordinates of the corners of triangles; equal ones have one number.
// Memory of which a single block cannot be had.
typedef struct missing_once {
  int until, alive;  ///< blocks until then, and in use
} missing_once;

static void* alloc_but_once(void* context, size_t size, size_t align) {
  missing_once* memory = context;
  if (memory->until-- == 0) return NULL;
  ++memory->alive;
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void release_counted(void* context, void* pointer) {
  --((missing_once*)context)->alive;
  free(pointer);
}

static void ply_has_looks(void** state) {
  (void)state;
  static unsigned char bytes[4000];
  sample s = {.bytes = bytes, .capacity = sizeof bytes};
  make_ply(&s, true);
  yw_tri_mesh mesh;
  yw_mesh_look look;
  yw_error error = {0};
  const char* path = store("l.ply", s.bytes, s.size);
  if (yw_mesh_look_read(path, NULL, &mesh, &look, &error) != YW_OK) fail_msg("%s", error.message);
  const int32_t expected[12] = {0, 1, 2, 3, 3, 3, 0, 1, 2, 0, 1, 2};
  assert_int_equal(look.num_uvs, 4);
  assert_memory_equal(look.corners, expected, sizeof expected);
  assert_near(look.uvs[2], 0.25, 0);
  assert_near(look.uvs[5], 0.625, 0);
  assert_near(look.uvs[6], 0, 0);
  assert_null(look.materials);
  yw_mesh_look_free(&look);
  yw_tri_mesh_free(&mesh);

  // Memory that is missing once, anywhere, is said, and nothing is kept.
  missing_once memory = {0};
  const yw_allocator mem = {alloc_but_once, release_counted, &memory};
  yw_status status = YW_ERR_MEMORY;
  for (int at = 0; status != YW_OK; ++at) {
    memory.until = at;
    status = yw_mesh_look_read(path, &mem, &mesh, &look, &error);
    if (status == YW_OK) break;
    assert_int_equal(status, YW_ERR_MEMORY);
    assert_int_equal(memory.alive, 0);
  }
  yw_mesh_look_free(&look);
  yw_tri_mesh_free(&mesh);
  assert_int_equal(memory.alive, 0);
}

// Text needs no decompression, and pieces are concatenated.
static void vtu_pieces_are_joined_and_text_is_never_compressed(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_error error = {0};
  if (yw_tet_mesh_read(store_text("one.vtu", sample_vtu_text), NULL, &mesh, &error) != YW_OK)
    fail_msg("%s", error.message);
  assert_int_equal(mesh.num_tets, 1);
  assert_int_equal(mesh.labels[0], 7);
  yw_tet_mesh_free(&mesh);

  const char *begin = strstr(sample_vtu_text, "<Piece"), *end = strstr(begin, "</Piece>") + 8;
  char text[2 * sizeof sample_vtu_text];
  snprintf(text, sizeof text, "%.*s%.*s", (int)(end - sample_vtu_text), sample_vtu_text,
           (int)strlen(begin), begin);
  if (yw_tet_mesh_read(store_text("two.vtu", text), NULL, &mesh, &error) != YW_OK)
    fail_msg("%s", error.message);
  assert_int_equal(mesh.num_vertices, 8);
  assert_int_equal(mesh.num_tets, 2);
  assert_int_equal(mesh.tets[4], 4);
  assert_int_equal(mesh.labels[1], 7);
  yw_tet_mesh_free(&mesh);
}

// The host program's locale may use a decimal comma.
static void results_do_not_depend_on_the_locale(void** state) {
  (void)state;
  static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; !found && i < sizeof names / sizeof *names; ++i)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) print_message("no locale with a decimal comma is installed; only C was tried\n");
  yw_tri_mesh mesh, back;
  yw_error error;
  assert_int_equal(
      yw_tri_mesh_read(store_text("l.obj", "v 0.5 0 0\nv 1.25 0 0\nv 0 2.5 0\nf 1 2 3\n"), NULL,
                       &mesh, &error),
      YW_OK);
  assert_near(mesh.positions[1].x, 1.25, 0);
  assert_int_equal(yw_tri_mesh_write(in_folder("m.obj"), &mesh, &error), YW_OK);
  assert_int_equal(yw_tri_mesh_read(in_folder("m.obj"), NULL, &back, &error), YW_OK);
  assert_memory_equal(mesh.positions, back.positions, 3 * sizeof(yw_vec3));
  setlocale(LC_ALL, "C");
  yw_tri_mesh_free(&mesh);
  yw_tri_mesh_free(&back);
}

// Errors ------------------------------------------------------------------------------------------

typedef struct bad_file {
  const char *name, *text, *message;
} bad_file;

static void assert_bad(const bad_file* file, bool volume) {
  const char* path = store_text(file->name, file->text);
  yw_tet_mesh tets;
  yw_tri_mesh surface;
  yw_error error = {0};
  yw_status status = volume ? yw_tet_mesh_read(path, NULL, &tets, &error)
                            : yw_tri_mesh_read(path, NULL, &surface, &error);
  if (status >= 0) fail_msg("%s was read, expected \"%s\"", file->name, file->message);
  assert_int_equal(error.status, status);
  // The message begins with the file.
  assert_int_equal(strncmp(error.message, path, strlen(path) - 5), 0);
  assert_contains(error.message, file->message);
}

#define GLTF(more) "{\"asset\": {\"version\": \"2.0\"}, " more "}"

static void errors_in_surfaces_name_place_and_numbers(void** state) {
  (void)state;
  static const bad_file files[] = {
      {"e.obj", "", "e.obj: the file is empty"},
      {"e.obj", "\n\n", "e.obj: has no vertices"},
      {"e.obj", "v 0 0 0\nv 1 x 0\n", "e.obj:2: expected y of a vertex, found \"x\""},
      {"e.obj", "v 0 0 0\nv 1 0\nv 0 1 0\n",
       "e.obj:2: the line ends where z of a vertex is expected"},
      {"e.obj", "v 0 0 0\nv 1 nan 0\n",
       "e.obj:2: vertex 2 has y = nan, but positions must be finite"},
      {"e.obj", "v 0 0 -inf\n", "e.obj:1: vertex 1 has z = -inf"},
      {"e.obj", "v 0 0 0\nv 1 0 0 1 nan 0\n", "e.obj:2: vertex 2 has a color of nan"},
      {"e.ply",
       "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
       "float z\nend_header\n0\n0\nnan\n",
       "e.ply:8: vertex 0 has z = nan"},
      {"e.obj", "v 0 1e39 0\n", "e.obj:1: vertex 1 has y = 1e+39"},
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\nv 1 1 1e400", "e.obj:5: vertex 4 has z = inf"},
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 9\n",
       "e.obj:5: face 1 refers to vertex 9, but the file has 3 vertices (1 to 3)"},
      {"e.obj", "v 0 0 0\nf 1 99999999999 1\n", "e.obj:2: face 1 refers to vertex 99999999999"},
      {"e.obj", "v 0 0 0\nf 1 -2 1\n",
       "e.obj:2: vertex number -2, but only 1 vertices come before it"},
      {"e.obj", "v 0 0 0\nf 0 1 1\n", "e.obj:2: vertex number 0, but the first vertex is number 1"},
      {"e.obj", "v 0 0 0\nf 1 1\n", "e.obj:2: face 1 has 2 corners, but needs at least 3"},
      {"e.obj", "v 0 0 0\nf 1 1 1a\n",
       "e.obj:2: expected a vertex number like 3 or 3/1/2, found \"1a\""},
      {"e.obj", "v 0 0 0\n", "e.obj: has 1 vertices but no faces"},
      {"e.ply", "plx\n", "e.ply:1: expected \"ply\", found \"plx\""},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 100000000\nproperty float x\n",
       "e.ply:3: the number of elements is 100000000, but the file has only 18 bytes left"},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty flat y\n",
       "e.ply:5: unknown type \"flat\""},
      {"e.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
       "vertices have no x, y and z"},
      {"e.ply",
       "ply\nformat binary_little_endian 1.0\nelement vertex 20\nproperty float x\nproperty float "
       "y\nproperty float z\nend_header\n0123456789",
       "e.ply: byte 116: the number of elements \"vertex\" is 20, but the file has only 10 bytes "
       "left"},
      {"e.ply",
       "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
       "float "
       "z\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 "
       "0\n3 0 1 "
       "-5\n",
       "e.ply:13: face 0 refers to vertex -5, but the first is 0"},
      {"e.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nendloop\n",
       "e.stl:6: expected z of a vertex, found \"endloop\""},
      {"e.stl", "hello", "e.stl: byte 0: the file has 5 bytes, but neither begins with \"solid\""},
      {"e.xyz", "{}", "e.xyz: unknown ending \".xyz\", expected .obj, .ply, .stl"},
      {"e.fbx", "{}", "e.fbx: not read: open it in Blender or MeshLab and save it as OBJ"},
      {"e.vti", "{}", "e.vti: a grid of numbers, which scenes read"},
      {"e.gltf", "{\n \"asset\": 1,}\n", "e.gltf:2:"},
      {"e.gltf", "{}", "e.gltf:1: the file is not glTF 2.0: asset.version is not \"2.0\""},
      {"e.gltf", GLTF("\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]"),
       "needs the extension KHR_draco_mesh_compression, which cannot be read; save it without"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"data:;base64,AAAA\"}]"),
       "buffer 0 has 3 bytes, but must have 4"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"%2e./e.gltf\"}]"),
       "a buffer is in \"%2e./e.gltf\", but must be in a file beside this one"},
      {"e.gltf", GLTF("\"buffers\": [{\"byteLength\": 4, \"uri\": \"file:///etc/passwd\"}]"),
       "must be in a file beside this one"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"children\": [0]}], \"meshes\": []"),
       "node 0 has several parents"},
      {"e.gltf",
       GLTF(
           "\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
           "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"accessors\": "
           "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 2, \"type\": \"VEC3\"}], "
           "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 12}], \"buffers\": [{\"byteLength\": "
           "12, \"uri\": \"data:;base64,AAAAAAAAAAAAAAAA\"}]"),
       "accessors[0] reaches beyond its buffer"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": [{}]"),
       "e.gltf: has no vertices"},
      {"e.gltf",
       GLTF("\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"mesh\": 0}], \"meshes\": "
            "[{\"primitives\": {\"mode\": 4}}]"),
       "e.gltf: has no vertices"},
      {"noending", "{}", "noending: has no ending, expected .obj"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) assert_bad(&files[i], false);
}

static void errors_in_tets_name_place_and_numbers(void** state) {
  (void)state;
  static const bad_file files[] = {
      {"e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
       "e.obj: has no tets (3 vertices, 1 faces); fill the surface with tets first"},
      {"e.msh", "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n",
       "e.msh:2: version 3 is not supported, save the mesh as 4.1 or 2.2"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n5 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 5 "
       "5 "
       "5 6\n$EndElements\n",
       "e.msh:10: an element refers to node 6, but none of the 1 nodes has this tag"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 0 0 0\n1 0 0 0\n$EndNodes\n",
       "e.msh:8: two nodes have the number 1"},
      {"e.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n2\n1 4 0 1 "
       "1 1 "
       "1\n2 5 0 1 1 1 1 1 1 1 1\n$EndElements\n",
       "e.msh: has 1 hexahedra beside 1 tets, but only tets can be used"},
      {"e.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999\n",
       "e.msh:5: the number of nodes is "
       "999999, but the file has only 1 bytes left"},
      {"e.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\n",
       "e.vtk:4: \"STRUCTURED_POINTS\" cannot be read, expected UNSTRUCTURED_GRID or POLYDATA"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "5\n4 0 0 0 1\n",
       "e.vtk:8: a cell refers to point 1, but there are 1 points (0 to 0)"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "5\n9 0 0 0 0\n",
       "e.vtk:8: cell 0 has 9 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 5\n5 0 0 0 0 0\n",
       "e.vtk:8: cell 0 has 5 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 5\n-1 0 0 0 0\n",
       "e.vtk:8: cell 0 has -1 corners, but 4 numbers are left"},
      {"e.vtk",
       "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 1 "
       "10\n9 0 0 0 0 0 0 0 0 0\nCELL_TYPES 1\n24\n",
       "a tet has 9 corners, but must have 10"},
      {"e.vtk",
       "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 2 4\nOFFSETS vtktypeint64\n0 99\nCONNECTIVITY vtktypeint64\n0 0 0 0\n",
       "e.vtk:9: offset 1 is 99, expected 0 to 4"},
      {"e.vtk",
       "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 "
       "0\nCELLS 2 4\nOFFSETS vtktypeint64\n0 -1\nCONNECTIVITY vtktypeint64\n0 0 0 0\n",
       "e.vtk:9: offset 1 is -1, expected 0 to 4"},
      {"e.vtu",
       "<VTKFile type=\"UnstructuredGrid\">\n<Piece NumberOfPoints=\"1\" "
       "NumberOfCells=\"0\">\n<Points>"
       "\n\n<DataArray type=\"Float32\" Name=\"p\" NumberOfComponents=\"3\" "
       "format=\"binary\">DAAAAAAAAAAAAAAA</DataArray></Points></Piece></VTKFile>",
       "e.vtu:5: array \"p\" has 8 bytes, but 12 are needed"},
      {"e.vtu", "<VTKFile type=\"PolyData\"/>",
       "e.vtu:1: the type of the file is not UnstructuredGrid"},
      {"e.vtu",
       "<VTKFile type=\"UnstructuredGrid\"><Piece NumberOfPoints=\"1\"\nNumberOfCells=\"-1\">",
       "e.vtu:1: NumberOfCells is -1, but must not be negative"},
      {"e.vtu", "<VTKFile type=\"UnstructuredGrid\"\ncompressor=\"vtkZstdDataCompressor\">",
       "e.vtu:1: unknown compressor \"vtkZstdDataCompressor\", expected vtkZLibDataCompressor, "},
      {"e.mesh", "MeshVersionFormatted 1\nDimension 2\nEnd\n",
       "e.mesh:2: the dimension is 2, but must be 3"},
      {"e.mesh",
       "MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 5 0\nEnd\n",
       "e.mesh:6: tet 1 refers to vertex 5, but the file has 1 vertices (1 to 1)"},
      {"e.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices 1\n0 0 0 0\n",
       "e.mesh:5: the file ends where a keyword or \"End\" is expected"},
      {"e.meshb", "hello world", "e.meshb: byte 0: expected the number 1 that tells the order of "},
      {"e.inp", "hello\n", "e.inp:1: an input file begins with a keyword like *NODE"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n1, 1, 1, 1\n\n*END STEP\n",
       "e.inp:6: element 1 has 3 of its 4 nodes"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n7, 1, 1, 1, 2\n",
       "element 7 refers to node 2, but none of the 1 nodes has this number"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n1, 0, 0, 0\n", "two nodes have the number 1"},
      {"e.inp", "*NODE\n1, 0, x, 0\n", "e.inp:2: expected y of a node, found \"x\""},
      {"e.inp", "*PART\n*PART\n", "e.inp:2: the file has several parts; write one flat input file"},
      {"e.inp", "** a\n*Include, input=b.inp\n", "e.inp:2: *INCLUDE cannot be read"},
      {"e.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D8\n1, 1, 1, 1, 1, 1, 1, 1, 1\n",
       "e.inp: has 1 hexahedra beside 0 tets, but only tets can be used"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) assert_bad(&files[i], true);
}

// All cells that are solid but no tets are named in the message.
static void other_cells_are_named(void** state) {
  (void)state;
  static const struct {
    int type, corners;
    const char* name;
  } cells[] = {{12, 8, "hexahedra"},  {11, 8, "hexahedra"}, {25, 20, "hexahedra"},
               {29, 27, "hexahedra"}, {72, 8, "hexahedra"}, {13, 6, "wedges"},
               {26, 15, "wedges"},    {73, 6, "wedges"},    {14, 5, "pyramids"},
               {27, 13, "pyramids"},  {42, 4, "polyhedra"}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; ++i) {
    char text[400], message[100];
    int n = snprintf(text, sizeof text,
                     "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 "
                     "float\n0 0 0\nCELLS 1 %d\n%d",
                     cells[i].corners + 1, cells[i].corners);
    for (int k = 0; k < cells[i].corners; ++k)
      n += snprintf(text + n, sizeof text - (size_t)n, " 0");
    snprintf(text + n, sizeof text - (size_t)n, "\nCELL_TYPES 1\n%d\n", cells[i].type);
    snprintf(message, sizeof message, "has 1 %s beside 0 tets", cells[i].name);
    const bad_file file = {"e.vtk", text, message};
    assert_bad(&file, true);
  }
}

static void so_are_those_of_gmsh(void** state) {
  (void)state;
  static const struct {
    int type, nodes;
    const char* name;
  } cells[] = {{5, 8, "hexahedra"}, {12, 27, "hexahedra"}, {17, 20, "hexahedra"},
               {6, 6, "prisms"},    {13, 18, "prisms"},    {18, 15, "prisms"},
               {7, 5, "pyramids"},  {14, 14, "pyramids"},  {19, 13, "pyramids"}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; ++i) {
    char text[400], message[100];
    int n = snprintf(text, sizeof text,
                     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n"
                     "$Elements\n1\n1 %d 0",
                     cells[i].type);
    for (int k = 0; k < cells[i].nodes; ++k) n += snprintf(text + n, sizeof text - (size_t)n, " 1");
    snprintf(text + n, sizeof text - (size_t)n, "\n$EndElements\n");
    snprintf(message, sizeof message, "has 1 %s beside 0 tets", cells[i].name);
    const bad_file file = {"e.msh", text, message};
    assert_bad(&file, true);
  }
}

// A tet is found after an element of any type: each has the number of nodes that Gmsh gives it.
static void elements_of_gmsh_have_their_nodes(void** state) {
  (void)state;
  static const struct {
    int type, nodes, tets;
  } elements[] = {{1, 2, 0},   {2, 3, 0},   {3, 4, 0},   {4, 4, 1},   {8, 3, 0},  {9, 6, 0},
                  {10, 9, 0},  {11, 10, 1}, {15, 1, 0},  {16, 8, 0},  {20, 9, 0}, {21, 10, 0},
                  {22, 12, 0}, {23, 15, 0}, {24, 15, 0}, {25, 21, 0}, {26, 4, 0}, {27, 5, 0},
                  {28, 6, 0},  {29, 20, 1}, {30, 35, 1}, {31, 56, 1}};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i) {
    char text[600];
    int n = snprintf(text, sizeof text,
                     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 "
                     "0\n4 0 0 1\n$EndNodes\n$Elements\n2\n1 %d 0",
                     elements[i].type);
    for (int k = 0; k < elements[i].nodes; ++k) {
      n += snprintf(text + n, sizeof text - (size_t)n, " %d", k % 4 + 1);
    }
    snprintf(text + n, sizeof text - (size_t)n, "\n2 4 0 1 2 3 4\n$EndElements\n");
    yw_tet_mesh mesh;
    yw_error error = {0};
    if (yw_tet_mesh_read(store_text("t.msh", text), NULL, &mesh, &error) < 0) {
      fail_msg("type %d: %s", elements[i].type, error.message);
    }
    assert_int_equal(mesh.num_tets, elements[i].tets + 1);
    assert_int_equal(mesh.num_vertices, 4);
    yw_tet_mesh_free(&mesh);
  }
}

// The volumes of Gmsh are labels only where there are several.
static void one_volume_of_gmsh_needs_no_label(void** state) {
  (void)state;
  for (int several = 0; several < 2; ++several) {
    char text[400];
    snprintf(text, sizeof text,
             "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
             "5 0 0 -1\n$EndNodes\n$Elements\n%d\n1 4 2 0 7 1 2 3 4\n%s$EndElements\n",
             1 + several, several ? "2 4 2 0 8 1 3 2 5\n" : "");
    yw_tet_mesh mesh;
    yw_error error = {0};
    if (yw_tet_mesh_read(store_text("volumes.msh", text), NULL, &mesh, &error) < YW_OK)
      fail_msg("%s", error.message);
    assert_int_equal(mesh.num_tets, 1 + several);
    assert_int_equal(mesh.labels ? mesh.labels[0] : 0, several ? 7 : 0);
    yw_tet_mesh_free(&mesh);
  }
}

// A comma at the end of a keyword's line announces more of it only if words follow.
static void commas_of_abaqus_end_keywords(void** state) {
  (void)state;
  static const char* const keywords[] = {"*ELEMENT, TYPE=C3D4", "*ELEMENT, TYPE=C3D4,",
                                         "*ELEMENT,\nTYPE=C3D4", "*ELEMENT,\ntype=C3D4,"};
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; ++i) {
    char text[300];
    snprintf(text, sizeof text,
             "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n%s\n1, 1, 2, 3, 4\n",
             keywords[i]);
    yw_tet_mesh mesh;
    yw_error error = {0};
    if (yw_tet_mesh_read(store_text("comma.inp", text), NULL, &mesh, &error) < YW_OK)
      fail_msg("%s", error.message);
    assert_int_equal(mesh.num_tets, 1);
    yw_tet_mesh_free(&mesh);
  }
}

// Convex polygons become fans around their first corner, as other programs draw them.
static void convex_polygons_become_fans(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error = {0};
  const char* text = "v 0 0 0\nv 2 0 0\nv 3 1 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5\n";
  if (yw_tri_mesh_read(store_text("fan.obj", text), NULL, &mesh, &error) < YW_OK)
    fail_msg("%s", error.message);
  assert_int_equal(mesh.num_triangles, 3);
  for (int32_t t = 0; t < 3; ++t) {
    const int32_t corners[3] = {0, t + 1, t + 2};
    for (int k = 0; k < 3; ++k) assert_int_equal(mesh.triangles[3 * t + k], corners[k]);
  }
  yw_tri_mesh_free(&mesh);
}

// VTK writes cells without corners where others were taken out.
static void empty_cells_of_vtk_are_left_out(void** state) {
  (void)state;
  const char* path =
      store_text("empty.vtk",
                 "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
                 "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 2 6\n0\n4 0 1 2 3\nCELL_TYPES 2\n0\n10\n");
  yw_tet_mesh mesh;
  yw_error error = {0};
  if (yw_tet_mesh_read(path, NULL, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
  assert_int_equal(mesh.num_tets, 1);
  yw_tet_mesh_free(&mesh);
}

static void a_wrong_tet_in_a_tetgen_pair_names_both_files(void** state) {
  (void)state;
  yw_tet_mesh mesh;
  yw_error error;
  store_text("box.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  const char* path = store_text("box.ele", "# tets\n2 4 0\n0 0 1 2 3\n1 0 1 2 900\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message,
                  "box.ele:4: tet 1 refers to vertex 900, but box.node has 4 vertices (0 to 3)");
  store_text("box.ele", "2 4 0\n0 0 1 2 3\n# cut off here");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:3: the file ends where the number of a tet is expected");
  store_text("box.ele", "1 5 0\n0 0 1 2 3 3\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:1: tets have 5 corners, but must have 4 or 10");
  store_text("box.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  store_text("box.ele", "1 4 1\n1 1 2 3 4 0.5\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.ele:2: the attribute of tet 1 is 0.5, but must be a whole");
  // The number of vertices alone is enough of a first line.
  store_text("box.node", "4\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  store_text("box.ele", "1\n0 0 1 2 3\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_OK);
  yw_tet_mesh_free(&mesh);
  store_text("box.ele", "1 4 1\n1 1 2 3 4 0.5\n");
  store_text("box.node", "4 3 0 0\n2 0 0 0\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.node:1: the number of vertices is 4, but the file has only");
  store_text("box.node", "1 3 0 0\n2 0 0 0\n");
  assert_int_equal(yw_tet_mesh_read(path, NULL, &mesh, &error), YW_ERR_FORMAT);
  assert_contains(error.message, "box.node:2: the first vertex is number 2, but must be 0 or 1");
}

static void missing_files_and_folders_are_errors(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error;
  assert_int_equal(yw_tri_mesh_read(in_folder("none.obj"), NULL, &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "none.obj: cannot be opened: No such file or directory");
  assert_int_equal(mkdir(in_folder("dir.obj"), 0777), 0);
  assert_int_equal(yw_tri_mesh_read(in_folder("dir.obj"), NULL, &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "dir.obj: is a folder, expected a file");
  assert_int_equal(yw_tri_mesh_read(in_folder("none.obj"), NULL, &mesh, NULL), YW_ERR_IO);
}

// Round trips -------------------------------------------------------------------------------------

// Difficult numbers: long, tiny, huge, negative zero.
static float odd_number(test_random* random) {
  static const float odd[] = {0.1f,        -0.0f, 1e-45f, 3.4028235e38f, -1.17549435e-38f,
                              16777217.0f, 0.3f};
  uint32_t pick = test_random_u32(random) % 24;
  return pick < 7 ? odd[pick] : (float)test_random_in(random, -10.0, 10.0);
}

static void surfaces_come_back_as_they_were_written(void** state) {
  (void)state;
  static const char* const names[] = {"r.obj", "r.ply", "r.stl", "r.vtu"};
  test_random random = {7};
  yw_tri_mesh mesh, back;
  yw_error error = {0};
  assert_int_equal(yw_tri_mesh_create(NULL, 300, 500, &mesh), YW_OK);
  mesh.colors = calloc(300, sizeof(yw_vec3));
  for (int32_t i = 0; i < 300; ++i) {
    mesh.positions[i] = (yw_vec3){odd_number(&random), odd_number(&random), (float)i};
    for (int32_t k = 0; k < 3; ++k)
      (&mesh.colors[i].x)[k] = (float)(test_random_u32(&random) % 256) / 255.0f;
  }
  for (int32_t i = 0; i < 1500; ++i)
    mesh.triangles[i] = i < 300 ? i : (int32_t)(test_random_u32(&random) % 300);
  for (size_t f = 0; f < sizeof names / sizeof *names; ++f) {
    const char* path = in_folder(names[f]);
    if (yw_tri_mesh_write(path, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
    if (yw_tri_mesh_read(path, NULL, &back, &error) != YW_OK) fail_msg("%s", error.message);
    assert_int_equal(back.num_triangles, 500);
    if (strcmp(names[f], "r.stl") == 0) {
      // Welding numbers vertices by first use, which is this order.
      assert_int_equal(back.num_vertices, 300);
    } else {
      assert_int_equal(back.num_vertices, 300);
      assert_memory_equal(mesh.positions, back.positions, 300 * sizeof(yw_vec3));
      assert_memory_equal(mesh.colors, back.colors, 300 * sizeof(yw_vec3));
    }
    for (int32_t i = 0; i < 300; ++i) {
      assert_true(mesh.positions[i].x == back.positions[i].x);
      assert_true(mesh.positions[i].y == back.positions[i].y);
    }
    assert_memory_equal(mesh.triangles, back.triangles, 1500 * sizeof(int32_t));
    yw_tri_mesh_free(&back);
  }
  yw_tri_mesh_free(&mesh);
}

static void tets_come_back_as_they_were_written(void** state) {
  (void)state;
  static const char* const names[] = {"r.node", "q.ele", "r.vtu", "r.msh", "r.mesh", "S.NODE"};
  yw_tet_mesh mesh, back;
  yw_error error = {0};
  yw_aabb box = {{-0.1f, 0.2f, 1e-3f}, {1.0f / 3.0f, 5.0f, 7.7e6f}};
  int32_t cells[3] = {4, 3, 2};
  assert_int_equal(yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &mesh), YW_OK);
  for (int32_t labelled = 0; labelled < 2; ++labelled) {
    if (labelled) mesh.labels = calloc((size_t)mesh.num_tets, sizeof(int32_t));
    for (int32_t t = 0; labelled && t < mesh.num_tets; ++t) mesh.labels[t] = (t * t / 5) % 4;
    for (size_t f = 0; f < sizeof names / sizeof *names; ++f) {
      const char* path = in_folder(names[f]);
      if (yw_tet_mesh_write(path, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
      if (yw_tet_mesh_read(path, NULL, &back, &error) != YW_OK) fail_msg("%s", error.message);
      assert_int_equal(back.num_vertices, mesh.num_vertices);
      assert_int_equal(back.num_tets, mesh.num_tets);
      assert_memory_equal(mesh.positions, back.positions,
                          (size_t)mesh.num_vertices * sizeof(yw_vec3));
      assert_memory_equal(mesh.tets, back.tets, (size_t)mesh.num_tets * 16);
      if (labelled)
        assert_memory_equal(mesh.labels, back.labels, (size_t)mesh.num_tets * 4);
      else
        assert_null(back.labels);
      yw_tet_mesh_free(&back);
    }
  }
  assert_int_equal(access(in_folder("S.ELE"), R_OK), 0);
  yw_tet_mesh_free(&mesh);
}

static void negative_labels_fit_all_formats_but_gmsh(void** state) {
  (void)state;
  yw_tet_mesh mesh, back;
  yw_error error = {0};
  int32_t cells[3] = {1, 1, 1};
  assert_int_equal(
      yw_tet_mesh_lattice(NULL, (yw_aabb){{0, 0, 0}, {1, 1, 1}}, cells, YW_LATTICE_SIX, &mesh),
      YW_OK);
  mesh.labels = calloc((size_t)mesh.num_tets, sizeof(int32_t));
  mesh.labels[3] = -2147483647 - 1;
  static const char* const names[] = {"n.node", "n.vtu", "n.mesh"};
  for (int32_t f = 0; f < 3; ++f) {
    assert_int_equal(yw_tet_mesh_write(in_folder(names[f]), &mesh, &error), YW_OK);
    if (yw_tet_mesh_read(in_folder(names[f]), NULL, &back, &error) != YW_OK)
      fail_msg("%s", error.message);
    assert_int_equal(back.labels[3], mesh.labels[3]);
    yw_tet_mesh_free(&back);
  }
  assert_int_equal(yw_tet_mesh_write(in_folder("n.msh"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "tet 3 has the label -2147483648");
  assert_int_equal(access(in_folder("n.msh"), F_OK), -1);
  yw_tet_mesh_free(&mesh);
}

static void meshes_that_cannot_be_written_leave_nothing_behind(void** state) {
  (void)state;
  yw_tri_mesh mesh;
  yw_error error;
  assert_int_equal(yw_tri_mesh_create(NULL, 3, 1, &mesh), YW_OK);
  assert_int_equal(yw_tri_mesh_write(in_folder("no/such/x.obj"), &mesh, &error), YW_ERR_IO);
  assert_contains(error.message, "no/such/x.obj: cannot be written: No such file or directory");
  assert_int_equal(yw_tri_mesh_write(in_folder("x.fbx"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "unknown ending \".fbx\", expected .obj, .ply, .stl or .vtu");
  assert_int_equal(yw_tri_mesh_write(in_folder("x.glb"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "\".glb\" is read, but not written here; expected .obj");
  mesh.triangles[2] = 3;
  assert_int_equal(yw_tri_mesh_write(in_folder("x.obj"), &mesh, &error), YW_ERR_INVALID);
  assert_contains(error.message, "the mesh refers to vertex 3, but has 3 vertices");
  assert_int_equal(access(in_folder("x.obj"), F_OK), -1);
  yw_tri_mesh_free(&mesh);
}

static void fields_and_series_are_written_for_paraview(void** state) {
  (void)state;
  yw_error error = {0};
  yw_vec3 positions[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  int32_t triangle[3] = {0, 1, 2};
  float speed[3] = {1, 2, 3};
  float level[1] = {7};
  yw_vtu_field fields[2] = {{"speed <m/s>", 1, speed, false, "m/s", "how fast"},
                            {"level", 1, level, true, NULL, NULL}};
  yw_vtu_grid grid = {.num_points = 3,
                      .positions = positions,
                      .num_cells = 1,
                      .corners_per_cell = 3,
                      .cells = triangle,
                      .fields = fields,
                      .num_fields = 2};
  assert_int_equal(yw_vtu_write(in_folder("f.vtu"), &grid, NULL, &error), YW_OK);
  yw_file_data data;
  assert_int_equal(yw_file_read_all(in_folder("f.vtu"), 0, NULL, &data, &error), YW_OK);
  assert_contains(data.bytes, "Name=\"speed &lt;m/s&gt;\"");
  const char* cell_data = strstr(data.bytes, "<CellData>");
  assert_non_null(cell_data);
  assert_contains(cell_data, "Name=\"level\"");
  // The value is where the tag says.
  long offset = strtol(strstr(strstr(cell_data, "level"), "offset=\"") + 8, NULL, 10);
  const char* values = strstr(data.bytes, "encoding=\"raw\">\n_") + strlen("encoding=\"raw\">\n_");
  float read;
  memcpy(&read, values + offset + 8, sizeof read);
  assert_near(read, 7, 0);
  yw_file_data_free(&data);

  // Points that belong to no cell become cells themselves.
  grid = (yw_vtu_grid){.num_points = 3,
                       .positions = positions,
                       .num_cells = 3,
                       .corners_per_cell = 1,
                       .fields = fields,
                       .num_fields = 1};
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_OK);
  grid.num_cells = 2;
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_ERR_INVALID);
  grid.num_cells = 3;
  grid.corners_per_cell = 4;
  assert_int_equal(yw_vtu_write(in_folder("p.vtu"), &grid, NULL, &error), YW_ERR_INVALID);
  yw_pvd_entry entries[2] = {{0.0, 0, "a&b_0.vtu"}, {1.0 / 60.0, 1, "b_1.vtu"}};
  assert_int_equal(yw_pvd_write(in_folder("s.pvd"), entries, 2, NULL, &error), YW_OK);
  assert_int_equal(yw_file_read_all(in_folder("s.pvd"), 0, NULL, &data, &error), YW_OK);
  assert_contains(data.bytes,
                  "<DataSet timestep=\"0\" group=\"\" part=\"0\" file=\"a&amp;b_0.vtu\"/>");
  assert_contains(data.bytes, "timestep=\"0.0166666666666666");
  yw_file_data_free(&data);
}

// Models ------------------------------------------------------------------------------------------

static void shared_models_are_read(void** state) {
  (void)state;
  const char* models = test_models();
  if (!models) {
    print_message("the shared models are not there; skipped\n");
    skip();
  }
  char path[600];
  yw_error error = {0};
  static const char* const surfaces[] = {"bunny_10k.obj", "cow.obj", "spot.obj", "teapot.obj"};
  for (int32_t i = 0; i < 4; ++i) {
    yw_tri_mesh mesh;
    snprintf(path, sizeof path, "%s/%s", models, surfaces[i]);
    if (yw_tri_mesh_read(path, NULL, &mesh, &error) != YW_OK) fail_msg("%s", error.message);
    assert_true(mesh.num_triangles > 1000 && mesh.num_vertices > 500);
    yw_tri_mesh_free(&mesh);
  }
  yw_tet_mesh tets;
  snprintf(path, sizeof path, "%s/armadillo_4k.node", models);
  if (yw_tet_mesh_read(path, NULL, &tets, &error) != YW_OK) fail_msg("%s", error.message);
  if (yw_tet_mesh_check(&tets, &error) != YW_OK) fail_msg("%s", error.message);
  yw_tet_mesh_free(&tets);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_volume_format_gives_the_same_tets),
      cmocka_unit_test(a_tet_file_read_as_surface_gives_its_boundary),
      cmocka_unit_test(every_surface_format_gives_the_same_triangles),
      cmocka_unit_test(positions_come_in_the_order_of_the_file),
      cmocka_unit_test(positions_need_no_faces_and_no_ele_file),
      cmocka_unit_test(polygons_of_any_shape_keep_their_area),
      cmocka_unit_test(cells_of_second_order_are_read_as_linear_ones),
      cmocka_unit_test(gltf_buffers_may_be_files),
      cmocka_unit_test(gltf_has_looks),
      cmocka_unit_test(ply_has_looks),
      cmocka_unit_test(vtu_pieces_are_joined_and_text_is_never_compressed),
      cmocka_unit_test(results_do_not_depend_on_the_locale),
      cmocka_unit_test(errors_in_surfaces_name_place_and_numbers),
      cmocka_unit_test(errors_in_tets_name_place_and_numbers),
      cmocka_unit_test(other_cells_are_named),
      cmocka_unit_test(so_are_those_of_gmsh),
      cmocka_unit_test(elements_of_gmsh_have_their_nodes),
      cmocka_unit_test(one_volume_of_gmsh_needs_no_label),
      cmocka_unit_test(commas_of_abaqus_end_keywords),
      cmocka_unit_test(convex_polygons_become_fans),
      cmocka_unit_test(empty_cells_of_vtk_are_left_out),
      cmocka_unit_test(a_wrong_tet_in_a_tetgen_pair_names_both_files),
      cmocka_unit_test(missing_files_and_folders_are_errors),
      cmocka_unit_test(surfaces_come_back_as_they_were_written),
      cmocka_unit_test(tets_come_back_as_they_were_written),
      cmocka_unit_test(negative_labels_fit_all_formats_but_gmsh),
      cmocka_unit_test(meshes_that_cannot_be_written_leave_nothing_behind),
      cmocka_unit_test(fields_and_series_are_written_for_paraview),
      cmocka_unit_test(shared_models_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
