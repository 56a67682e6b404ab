// SPDX-License-Identifier: MIT
#include "support/counted_memory.h"
#include "support/mesh_samples.h"
#include "support/temporary_folder.h"
#include "yawara/files.h"

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

// Texture coordinates of the corners of triangles; equal ones have one number.
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
      cmocka_unit_test(elements_of_gmsh_have_their_nodes),
      cmocka_unit_test(one_volume_of_gmsh_needs_no_label),
      cmocka_unit_test(commas_of_abaqus_end_keywords),
      cmocka_unit_test(convex_polygons_become_fans),
      cmocka_unit_test(empty_cells_of_vtk_are_left_out),
      cmocka_unit_test(shared_models_are_read),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
