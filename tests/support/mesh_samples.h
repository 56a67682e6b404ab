// SPDX-License-Identifier: MIT
// A small mesh in every supported format, written byte by byte, so that readers are tested against
// the formats and not against our own writers.
#ifndef YW_TESTS_SUPPORT_MESH_SAMPLES_H
#define YW_TESTS_SUPPORT_MESH_SAMPLES_H

#include "files/mesh_formats.h"
#include "support/testing.h"
#ifdef YW_HAVE_CODECS
#include "codecs/codecs.h"
#endif

typedef struct sample {
  const char* name;    ///< file name; its extension selects the reader
  const char* detail;  ///< which variant
  bool (*read)(yw_scan* scan, yw_mesh_build* build);
  bool volume;  ///< two tets with labels; else a tetrahedron's surface of 4 triangles
  int32_t labels[2];
  bool open_ended;  ///< a shorter file may be a valid, shorter mesh
  unsigned char* bytes;
  size_t size, capacity;
} sample;

#define MAX_SAMPLES 64
#define MAX_SAMPLE_BYTES 8192

// The mesh: tet 1 is written with the wrong orientation in every file.
static const float sample_positions[5][3] = {
    {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1.25f, 1.5f, 1.75f}};
static const int32_t sample_tets[2][4] = {{0, 1, 2, 3}, {1, 2, 4, 3}};
static const int32_t sample_labels[2] = {7, 9};
static const int32_t sample_triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

static void put_bytes(sample* s, const void* bytes, size_t size) {
  assert_true(s->size + size <= s->capacity);
  memcpy(s->bytes + s->size, bytes, size);
  s->size += size;
}
static void put_text(sample* s, const char* text) { put_bytes(s, text, strlen(text)); }
static void put_uint(sample* s, uint64_t value, int32_t size, bool big) {
  for (int32_t i = 0; i < size; ++i) {
    unsigned char byte = (unsigned char)(value >> (8 * (big ? size - 1 - i : i)));
    put_bytes(s, &byte, 1);
  }
}
static void put_i32(sample* s, int32_t value, bool big) { put_uint(s, (uint32_t)value, 4, big); }
static void put_f32(sample* s, float value, bool big) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  put_uint(s, bits, 4, big);
}
static void put_f64(sample* s, double value, bool big) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  put_uint(s, bits, 8, big);
}
static void put_positions(sample* s, int32_t count, bool big, bool doubles) {
  for (int32_t i = 0; i < count; ++i)
    for (int32_t k = 0; k < 3; ++k)
      if (doubles)
        put_f64(s, sample_positions[i][k], big);
      else
        put_f32(s, sample_positions[i][k], big);
}

static void put_base64(sample* s, const unsigned char* bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    uint32_t bits = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) |
                    (i + 2 < size ? bytes[i + 2] : 0);
    char out[4];
    for (size_t k = 0; k < 4; ++k) out[k] = k <= size - i ? digits[bits >> (18 - 6 * k) & 63] : '=';
    put_bytes(s, out, 4);
  }
}

// Surfaces ----------------------------------------------------------------------------------------

static void make_ply(sample* s, bool big) {
  put_text(s, "ply\r\nformat ");
  put_text(s, big ? "binary_big_endian" : "binary_little_endian");
  put_text(s,
           " 1.0\r\ncomment odd order, odd types\r\nelement marker 2\r\nproperty list uchar short "
           "junk\r\nelement vertex 4\r\nproperty uchar red\r\nproperty double z\r\nproperty uchar "
           "green\r\nproperty float x\r\nproperty list uint8 float more\r\nproperty uchar blue\r\n"
           "property float y\r\nelement face 4\r\nproperty short flag\r\nproperty list ushort uint "
           "vertex_index\r\nproperty list uchar float texcoord\r\nend_header\r\n");
  put_uint(s, 2, 1, big), put_uint(s, 5, 2, big), put_uint(s, 6, 2, big), put_uint(s, 0, 1, big);
  for (int32_t i = 0; i < 4; ++i) {
    put_uint(s, 255, 1, big);
    put_f64(s, sample_positions[i][2], big);
    put_uint(s, 51, 1, big);
    put_f32(s, sample_positions[i][0], big);
    put_uint(s, 1, 1, big), put_f32(s, 3.5f, big);
    put_uint(s, 0, 1, big);
    put_f32(s, sample_positions[i][1], big);
  }
  for (int32_t t = 0; t < 4; ++t) {
    put_uint(s, 9, 2, big), put_uint(s, 3, 2, big);
    for (int32_t k = 0; k < 3; ++k) put_i32(s, sample_triangles[t][k], big);
    // Two numbers per corner; none, and too many, are forgiven.
    static const int32_t lengths[4] = {6, 0, 8, 6};
    put_uint(s, (uint64_t)lengths[t], 1, big);
    for (int32_t k = 0; k < lengths[t]; ++k) put_f32(s, 0.125f * (float)k, big);
  }
}

static void make_stl_binary(sample* s, const char* header) {
  unsigned char title[80] = {0};
  memcpy(title, header, strlen(header));
  put_bytes(s, title, 80);
  put_i32(s, 4, false);
  for (int32_t t = 0; t < 4; ++t) {
    for (int32_t k = 0; k < 3; ++k) put_f32(s, NAN, false);
    for (int32_t k = 0; k < 3; ++k)
      for (int32_t j = 0; j < 3; ++j)
        put_f32(s, sample_positions[sample_triangles[t][k]][j], false);
    put_uint(s, 0, 2, false);
  }
}

static void make_stl_text(sample* s) {
  put_text(s, "solid a name with spaces\n");
  for (int32_t t = 0; t < 4; ++t) {
    put_text(s, " facet normal nan 0 1e-3\n  outer loop\n");
    for (int32_t k = 0; k < 3; ++k) {
      const float* p = sample_positions[sample_triangles[t][k]];
      char line[80];
      // -0 and 0 are the same position.
      snprintf(line, sizeof line, "   vertex %g %s%g %g\n", p[0], p[1] == 0 && t % 2 ? "-" : "",
               p[1], p[2]);
      put_text(s, line);
    }
    put_text(s, "  endloop\n endfacet\n");
  }
  put_text(s, "endsolid\n");
}

// Gmsh --------------------------------------------------------------------------------------------

// Tags with gaps, an unused point, and points, lines and triangles next to the tets.
static const int32_t gmsh_tags[6] = {10, 20, 5, 1000000, 7, 6};

static void make_gmsh_2_binary(sample* s, bool big) {
  put_text(s, "$MeshFormat\n2.2 1 8\n");
  put_i32(s, 1, big);
  put_text(s, "\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"belly\"\n$EndPhysicalNames\n$Nodes\n6\n");
  for (int32_t i = 0; i < 6; ++i) {
    put_i32(s, gmsh_tags[i], big);
    for (int32_t k = 0; k < 3; ++k) put_f64(s, i < 5 ? sample_positions[i][k] : 99.0, big);
  }
  put_text(s, "\n$EndNodes\n$Elements\n4\n");
  int32_t point[] = {15, 1, 2, 1, 0, 1, gmsh_tags[0]};
  int32_t triangle[] = {2, 1, 2, 2, 3, 1, gmsh_tags[0], gmsh_tags[2], gmsh_tags[1]};
  for (size_t i = 0; i < 7; ++i) put_i32(s, point[i], big);
  for (size_t i = 0; i < 9; ++i) put_i32(s, triangle[i], big);
  put_i32(s, 4, big), put_i32(s, 2, big), put_i32(s, 2, big);
  for (int32_t t = 0; t < 2; ++t) {
    put_i32(s, 3 + t, big), put_i32(s, sample_labels[t], big), put_i32(s, 1 + t, big);
    for (int32_t k = 0; k < 4; ++k) put_i32(s, gmsh_tags[sample_tets[t][k]], big);
  }
  put_text(s, "\n$EndElements\n");
}

static void make_gmsh_4_binary(sample* s, bool big) {
  put_text(s, "$MeshFormat\n4.1 1 8\n");
  put_i32(s, 1, big);
  put_text(s, "\n$EndMeshFormat\n$Entities\n");
  uint64_t counts[4] = {1, 0, 0, 2};
  for (int32_t i = 0; i < 4; ++i) put_uint(s, counts[i], 8, big);
  put_i32(s, 1, big);
  for (int32_t k = 0; k < 3; ++k) put_f64(s, 0.5, big);
  put_uint(s, 0, 8, big);
  for (int32_t v = 0; v < 2; ++v) {  // volumes 20 and 10, not in order
    put_i32(s, v == 0 ? 20 : 10, big);
    for (int32_t k = 0; k < 6; ++k) put_f64(s, k, big);
    put_uint(s, 1, 8, big), put_i32(s, sample_labels[v], big);
    put_uint(s, 2, 8, big), put_i32(s, 3, big), put_i32(s, -4, big);
  }
  put_text(s, "\n$EndEntities\n$Nodes\n");
  uint64_t nodes[4] = {2, 6, 5, 1000000};
  for (int32_t i = 0; i < 4; ++i) put_uint(s, nodes[i], 8, big);
  for (int32_t block = 0; block < 2; ++block) {  // the second with parameters
    put_i32(s, block == 0 ? 3 : 2, big), put_i32(s, 1, big), put_i32(s, block, big);
    put_uint(s, 3, 8, big);
    for (int32_t i = 3 * block; i < 3 * block + 3; ++i) put_uint(s, (uint64_t)gmsh_tags[i], 8, big);
    for (int32_t i = 3 * block; i < 3 * block + 3; ++i) {
      for (int32_t k = 0; k < 3; ++k) put_f64(s, i < 5 ? sample_positions[i][k] : 99.0, big);
      for (int32_t k = 0; k < 2 * block; ++k) put_f64(s, 0.25, big);
    }
  }
  put_text(s, "\n$EndNodes\n$Elements\n");
  uint64_t elements[4] = {3, 3, 1, 3};
  for (int32_t i = 0; i < 4; ++i) put_uint(s, elements[i], 8, big);
  put_i32(s, 0, big), put_i32(s, 1, big), put_i32(s, 15, big), put_uint(s, 1, 8, big);
  put_uint(s, 1, 8, big), put_uint(s, 10, 8, big);
  for (int32_t t = 0; t < 2; ++t) {
    put_i32(s, 3, big), put_i32(s, t == 0 ? 20 : 10, big), put_i32(s, 4, big);
    put_uint(s, 1, 8, big), put_uint(s, 2 + (uint64_t)t, 8, big);
    for (int32_t k = 0; k < 4; ++k) put_uint(s, (uint64_t)gmsh_tags[sample_tets[t][k]], 8, big);
  }
  put_text(s, "\n$EndElements\n");
}

// VTK ---------------------------------------------------------------------------------------------

static void make_vtk_binary(sample* s, bool five) {
  put_text(s, five ? "# vtk DataFile Version 5.1\nbox\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                   : "# vtk DataFile Version 3.0\nbox\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
  put_text(s, "POINTS 5 double\n");
  put_positions(s, 5, true, true);
  if (five) {
    put_text(s, "\nMETADATA\nINFORMATION 0\n\nCELLS 4 11\nOFFSETS vtktypeint64\n");
    uint64_t offsets[4] = {0, 4, 7, 11};
    for (int32_t i = 0; i < 4; ++i) put_uint(s, offsets[i], 8, true);
    put_text(s, "\nCONNECTIVITY vtktypeint64\n");
  } else {
    put_text(s, "\nCELLS 3 14\n");
  }
  for (int32_t c = 0; c < 3; ++c) {  // tet, triangle, tet
    int32_t count = c == 1 ? 3 : 4;
    if (!five) put_i32(s, count, true);
    for (int32_t k = 0; k < count; ++k)
      put_uint(s, (uint32_t)(c == 1 ? sample_triangles[0][k] : sample_tets[c / 2][k]), five ? 8 : 4,
               true);
  }
  put_text(s, "\nCELL_TYPES 3\n");
  put_i32(s, 10, true), put_i32(s, 5, true), put_i32(s, 10, true);
  put_text(s, "\nPOINT_DATA 5\nVECTORS v float\n");
  put_positions(s, 5, true, false);
  put_text(s, "\nCELL_DATA 3\nFIELD FieldData 2\nother 2 3 short\n");
  for (int32_t i = 0; i < 6; ++i) put_uint(s, 77, 2, true);
  put_text(s, "\nlabel 1 3 int\n");
  put_i32(s, 7, true), put_i32(s, 3, true), put_i32(s, 9, true);
  put_text(s, "\n");
}

// One array of a VTU file: its length, then its bytes.
static void put_vtu_bytes(sample* s, int32_t which, bool big, bool wide) {
  size_t start = s->size;
  put_uint(s, 0, wide ? 8 : 4, big);
  size_t data = s->size;
  for (int32_t i = 0; i < 2; ++i) {
    if (which == 1)
      for (int32_t k = 0; k < 4; ++k) put_uint(s, (uint32_t)sample_tets[i][k], 8, big);
    if (which == 2) put_uint(s, (uint64_t)(4 * i + 4), 2, big);
    if (which == 3) put_uint(s, 10, 1, big);
    if (which == 4) put_f32(s, (float)sample_labels[i], big);
  }
  if (which == 0) put_positions(s, 5, big, true);
  size_t end = s->size;
  s->size = start;
  put_uint(s, end - data, wide ? 8 : 4, big);
  s->size = end;
}

// mode 0: base64 in the tags, 1: appended raw, 2: appended base64
static void make_vtu(sample* s, int32_t mode, bool big, bool wide) {
  static const char* const tags[5] = {
      "</CellData><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\"",
      "</Points><Cells><DataArray type=\"Int64\" Name=\"connectivity\"",
      "<DataArray type=\"UInt16\" Name=\"offsets\"", "<DataArray Name='types' type='UInt8'",
      "</Cells><CellData><DataArray type=\"Float32\" Name=\"label\""};
  static unsigned char scratch[MAX_SAMPLE_BYTES], appended[MAX_SAMPLE_BYTES];
  sample data = {.bytes = appended, .capacity = sizeof appended};
  put_text(s,
           "<?xml version=\"1.0\"?>\n<!-- a > in a comment -->\n<VTKFile type=\"UnstructuredGrid\" "
           "version=\"1.0\" byte_order=\"");
  put_text(s, big ? "BigEndian\"" : "LittleEndian\"");
  if (wide) put_text(s, " header_type=\"UInt64\"");
  put_text(s,
           ">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<CellData>");
  for (int32_t i = 0; i < 5; ++i) {
    sample array = {.bytes = scratch, .capacity = sizeof scratch};
    put_vtu_bytes(&array, i, big, wide);
    put_text(s, tags[i]);
    if (mode == 0) {
      put_text(s, " format=\"binary\">\n  ");
      put_base64(s, array.bytes, array.size);
      put_text(s, "\n</DataArray>\n");
      continue;
    }
    char offset[60];
    snprintf(offset, sizeof offset, " format=\"appended\" offset=\"%zu\"/>\n", data.size);
    put_text(s, offset);
    if (mode == 1)
      put_bytes(&data, array.bytes, array.size);
    else
      put_base64(&data, array.bytes, array.size);
  }
  put_text(s, "</CellData></Piece></UnstructuredGrid>");
  if (mode > 0) {
    put_text(s, mode == 1 ? "<AppendedData encoding=\"raw\">\n_"
                          : "<AppendedData encoding=\"base64\">_");
    put_bytes(s, data.bytes, data.size);
    put_text(s, "\n</AppendedData>");
  }
  put_text(s, "\n</VTKFile>\n");
}

// Medit -------------------------------------------------------------------------------------------

// A keyword of a .meshb file: its number and the position of the next one, which is filled in once
// the records are written.
static size_t begin_meshb(sample* s, int32_t code, int32_t version, bool big) {
  put_i32(s, code, big);
  put_uint(s, 0, version < 3 ? 4 : 8, big);
  return s->size;
}
static void end_meshb(sample* s, size_t records, int32_t version, bool big) {
  int32_t width = version < 3 ? 4 : 8;
  size_t end = s->size;
  s->size = records - (size_t)width;
  put_uint(s, end, width, big);
  s->size = end;
}

// Version 1 has floats, 3 long positions, 4 long integers.
static void make_meshb(sample* s, int32_t version, bool big) {
  int32_t width = version < 4 ? 4 : 8;
  put_i32(s, 1, big), put_i32(s, version, big);
  size_t at = begin_meshb(s, 3, version, big);
  put_i32(s, 3, big);
  end_meshb(s, at, version, big);
  at = begin_meshb(s, 4, version, big);
  put_uint(s, 5, width, big);
  for (int32_t i = 0; i < 5; ++i) {
    for (int32_t k = 0; k < 3; ++k)
      if (version == 1)
        put_f32(s, sample_positions[i][k], big);
      else
        put_f64(s, sample_positions[i][k], big);
    put_uint(s, 1, width, big);
  }
  end_meshb(s, at, version, big);
  at = begin_meshb(s, 13, version, big);  // corners, which are skipped
  put_uint(s, 1, width, big), put_uint(s, 2, width, big);
  end_meshb(s, at, version, big);
  at = begin_meshb(s, 8, version, big);
  put_uint(s, 2, width, big);
  for (int32_t t = 0; t < 2; ++t) {
    for (int32_t k = 0; k < 4; ++k) put_uint(s, (uint64_t)sample_tets[t][k] + 1, width, big);
    put_uint(s, (uint64_t)sample_labels[t], width, big);
  }
  end_meshb(s, at, version, big);
  put_i32(s, 54, big);
}

// glTF --------------------------------------------------------------------------------------------

// Positions doubled and shifted, which the node undoes; byte-sized indices after them.
static void put_gltf_buffer(sample* s) {
  for (int32_t i = 0; i < 4; ++i)
    for (int32_t k = 0; k < 3; ++k) put_f32(s, 2.0f * sample_positions[i][k] - (k == 0), false);
  for (int32_t t = 0; t < 4; ++t)
    for (int32_t k = 0; k < 3; ++k) put_uint(s, (uint64_t)sample_triangles[t][k], 1, false);
}

static void put_gltf_json(sample* s, const char* buffer) {
  put_text(s,
           "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[1]}],\"nodes\":["
           "{\"mesh\":0,\"translation\":[1,0,0]},{\"children\":[0],\"scale\":[0.5,0.5,0.5]}],"
           "\"materials\":[{\"name\":\"red\"},{}],"
           "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":2},"
           "\"indices\":1,\"material\":1},"
           "{\"attributes\":{\"POSITION\":0},\"mode\":1}]}],\"accessors\":[{\"bufferView\":0,"
           "\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},{\"bufferView\":1,"
           "\"componentType\":5121,\"count\":12,\"type\":\"SCALAR\"},{\"bufferView\":0,"
           "\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"}],\"bufferViews\":["
           "{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":12}],"
           "\"buffers\":[{\"byteLength\":60");
  put_text(s, buffer);
}

static void make_gltf(sample* s) {
  unsigned char bytes[60];
  sample buffer = {.bytes = bytes, .capacity = sizeof bytes};
  put_gltf_buffer(&buffer);
  put_gltf_json(s, ",\"uri\":\"data:application/octet-stream;base64,");
  put_base64(s, bytes, sizeof bytes);
  put_text(s, "\"}]}\n");
}

static void make_glb(sample* s) {
  put_text(s, "glTF");
  put_i32(s, 2, false), put_i32(s, 0, false), put_i32(s, 0, false), put_text(s, "JSON");
  put_gltf_json(s, "}]}");
  while (s->size % 4) put_text(s, " ");
  size_t json = s->size - 20;
  put_i32(s, 60, false), put_bytes(s, "BIN", 4);
  put_gltf_buffer(s);
  size_t size = s->size;
  s->size = 8;
  put_i32(s, (int32_t)size, false), put_i32(s, (int32_t)json, false);
  s->size = size;
}

// Texts -------------------------------------------------------------------------------------------

static const char sample_obj[] =
    "# a tetrahedron\nmtllib x.mtl\no thing\nv 0 0 0 1 0.2 0\nv 1.0 0 0 1 .2 0\nvt 0 0\nvn 0 0 1\n"
    "v +0.0e0 1 \\\n  -0 1 0.2 0\nusemtl red\ns off\nf 1 3/1 2/1/1\nf -3//1 -2//1 4\r\nv 0 0 10E-1 "
    "1 "
    "0.2 0\nf 2\\\n 3 4\nl 1 2\nf -4 -1 -2\n";
static const char sample_ply_ascii[] =
    "ply\nformat ascii 1.0\ncomment made by hand\nobj_info x\nelement face 3\nproperty list uchar "
    "int "
    "vertex_indices\nelement tristrips 1\nproperty list int int vertex_indices\nelement vertex "
    "4\nproperty float x\nproperty float y\nproperty float z\nproperty float red\nproperty float "
    "green\nproperty float blue\nend_header\n3 0 2 1\n3 0 1 3\n3 1 2 3\n4 -1 0 3 2\n0 0 0 1 0.2 "
    "0\n1 0 0 "
    "1 0.2 0\n0 1 0 1 0.2 0\n0 0 1 1 0.2 0\n";
static const char sample_node[] =
    "# five vertices\n5  3  1  1\n\n 1  0 0 0  0.5 1\n 2  1 0 0  0.5 1 # here\n 3  0 1 0  0.5 0\n "
    "4  0 0 "
    "1.0 0.5 0\n#\n 5 1.25 1.5 1.75 0.5 -1\n# end";
static const char sample_ele[] = "2 4 1\n1  1 2 3 4  7\n# next\n2  2 3 5 4  9.0\n";
static const char sample_gmsh_2[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nwhat $Nodes\n$EndComments\n$Nodes\n6\n10 0 0 "
    "0\n20 1 "
    "0 0\n5 0 1 0\n1000000 0 0 1\n7 1.25 1.5 1.75\n6 9 9 9\n$EndNodes\n$Elements\n5\n1 15 2 0 1 "
    "10\n2 1 2 "
    "0 1 10 20\n3 2 2 0 1 10 5 20\n4 4 3 7 1 0 10 20 5 1000000\n5 4 2 9 2 20 5 7 "
    "1000000\n$EndElements\n";
static const char sample_gmsh_4[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n1 0 1 2\n1 0 0 0 0\n5 0 0 0 1 1 1 1 3 2 1 "
    "-2\n10 0 0 "
    "0 1 1 1 1 9 0\n3 0 0 0 1 1 1 2 7 8 1 5\n$EndEntities\n$Nodes\n2 6 5 1000000\n3 10 0 "
    "4\n10\n20\n5\n1000000\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 4 1 2\n7\n6\n1.25 1.5 1.75 0.5\n9 9 9 "
    "0.25\n$EndNodes\n$Elements\n3 3 1 3\n3 3 4 1\n1 10 20 5 1000000\n2 5 2 1\n2 10 5 20\n3 10 4 "
    "1\n3 20 5 "
    "7 1000000\n$EndElements\n$Periodic\n0\n$EndPeriodic\n";
static const char sample_gmsh_40[] =
    "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n1 0 0 2\n1 0 0 0 0 0 0 0\n2 0 0 0 1 1 1 1 9 "
    "0\n1 0 "
    "0 0 1 1 1 1 7 0\n$EndEntities\n$PartitionedEntities\n2\n1\n8 1\n0 0 0 2\n5 3 1 1 1 0 0 0 1 1 "
    "1 0 "
    "0\n6 3 2 1 2 0 0 0 1 1 1 1 9 0\n$EndPartitionedEntities\n$Nodes\n2 6\n5 3 0 4\n10 0 0 0\n20 1 "
    "0 "
    "0\n5 0 1 0\n1000000 0 0 1\n1 1 1 2\n7 1.25 1.5 1.75 0.5\n6 9 9 9 "
    "0.25\n$EndNodes\n$Elements\n3 3\n5 3 4 1\n1 10 20 5 1000000\n2 2 2 1\n2 10 5 20\n6 3 4 1\n3 "
    "20 5 7 "
    "1000000\n$EndElements\n";
static const char sample_inp[] =
    "** made by hand\n*Heading\nwhat *Node\n*Element, type=C3D4\n 4, 10, 20, 5,\n "
    "1000000\n9,20,5,7,"
    "1000000\n*ELEMENT,TYPE=T3D2,\nELSET=wires\n1, 10, 20\n*NODE, NSET=all\r\n10\r\n20, 1.0,\r\n5, "
    ", 1."
    "\n1000000, 0, 0, 1.0E0, 0, 0\n7, 1.25, 1.5, 1.75\n6, 9, 9, 9\n*NODE PRINT\nU\n*Elset, "
    "elset=belly, "
    "generate\n4, 8, 2\n*ELSET,ELSET=inner\n9\n*ELSET,ELSET=back\ninner,\n*SOLID SECTION, "
    "ELSET=Belly, MATERIAL=m\n*SOLID SECTION, ELSET=back, MATERIAL=n\n";
static const char sample_vtk[] =
    "# vtk DataFile Version 2.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 "
    "1 0 0 0 1 "
    "0\n0 0 1 1.25 1.5 1.75\n\nCELLS 3 13\n4 0 1 2 3\n2 0 1\n4 1 2 4 3\nCELL_TYPES "
    "3\n10\n3\n10\nCELL_DATA "
    "3\nSCALARS material int 1\nLOOKUP_TABLE default\n7 0 9\nPOINT_DATA 5\nSCALARS t "
    "float\nLOOKUP_TABLE "
    "default\n1 2 3 4 5\n";
static const char sample_vtk_5[] =
    "# vtk DataFile Version 5.1\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 "
    "1 0 0 0 "
    "1 0\n0 0 1 1.25 1.5 1.75\nMETADATA\nINFORMATION 0\n\nCELLS 3 8\nOFFSETS vtktypeint64\n0 4 "
    "8\nCONNECTIVITY vtktypeint64\n0 1 2 3\n1 2 4 3\nCELL_TYPES 2\n10\n10\n\nCELL_DATA 2\nFIELD "
    "FieldData "
    "1\nregion 1 2 int\n7 9\nMETADATA\nINFORMATION 0\n\n";
static const char sample_vtk_poly[] =
    "# vtk DataFile Version 4.0\na title\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 "
    "0 0 0 "
    "1\nLINES 1 3\n2 0 1\nPOLYGONS 3 12\n3 0 2 1\n3 0 1 3\n3 1 2 3\nTRIANGLE_STRIPS 1 4\n3 0 3 2\n";
static const char sample_vtu_text[] =
    "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" compressor=\"vtkZLibDataCompressor\">\n"
    "<UnstructuredGrid><FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" "
    "format=\"ascii\">0</DataArray></FieldData>\n<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n"
    "<Points>\n<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">\n0 0 0 1 0 0 "
    "0 1 0 0 "
    "0 1</DataArray>\n</Points>\n<Cells><DataArray type=\"Int32\" Name=\"connectivity\" "
    "format=\"ascii\">0 1 2 3</DataArray>\n<DataArray type=\"Int32\" Name=\"offsets\" "
    "format=\"ascii\">4</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" "
    "format=\"ascii\">10</DataArray></Cells>\n<CellData Scalars=\"label\"><DataArray "
    "type=\"Int32\" "
    "Name=\"label\" "
    "format=\"ascii\">7</DataArray></CellData></Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
static const char sample_vtu_ascii[] =
    "<?xml version=\"1.0\"?><VTKFile type=\"UnstructuredGrid\" "
    "version=\"0.1\">\n<UnstructuredGrid>\n"
    "<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\"><Points><DataArray type=\"Float32\" "
    "Name=\"Points\" "
    "NumberOfComponents=\"3\" format=\"ascii\">0 0 0\n1 0 0\n0 1 0\n0 0 1\n1.25 1.5 "
    "1.75\n</DataArray>"
    "</Points>\n<Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 1 "
    "2 4 3"
    "</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4 "
    "8</DataArray><DataArray "
    "type=\"UInt8\" Name=\"types\" format=\"ascii\">10 "
    "10</DataArray></Cells>\n<CellData><DataArray "
    "type=\"Int32\" Name=\"label\" format=\"ascii\">7 "
    "9</DataArray></CellData></Piece></UnstructuredGrid>"
    "</VTKFile>\n";
static const char sample_medit[] =
    "MeshVersionFormatted 2\n# comment\nDimension\n3\nVertices 5\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 "
    "1\n1.25 "
    "1.5 1.75 2\nCorners\n2\n1 2\nTriangles\n1\n1 3 2 4\nTetrahedra\n2\n1 2 3 4 7\n2 3 5 4 "
    "9\nNormals\n1\n0 "
    "0 -1\nEnd\n";

typedef struct sample_set {
  sample items[MAX_SAMPLES];
  int32_t count;
} sample_set;

static sample* add_sample(sample_set* set, const char* name, const char* detail,
                          bool (*read)(yw_scan*, yw_mesh_build*), bool volume, const char* text) {
  assert_true(set->count < MAX_SAMPLES);
  sample* s = &set->items[set->count++];
  *s = (sample){
      .name = name, .detail = detail, .read = read, .volume = volume, .capacity = MAX_SAMPLE_BYTES};
  memcpy(s->labels, sample_labels, sizeof sample_labels);
  s->bytes = malloc(s->capacity);
  if (text) put_text(s, text);
  return s;
}

// Adds the vertices that a .ele file needs.
static bool read_sample_ele(yw_scan* scan, yw_mesh_build* build) {
  yw_scan nodes;
  yw_scan_init(&nodes, "box.node", sample_node, sizeof sample_node - 1, NULL);
  if (!yw_read_tetgen_nodes(&nodes, build)) return false;
  build->vertex_file = "box.node";
  return yw_read_tetgen_tets(scan, build) && yw_build_finish(build, scan);
}
static bool read_sample_node(yw_scan* scan, yw_mesh_build* build) {
  return yw_read_tetgen_nodes(scan, build) && yw_build_finish(build, scan);
}

// A file that another program wrote, see tests/data/make_files.py.
static sample* add_file(sample_set* set, const char* name, const char* file,
                        bool (*read)(yw_scan*, yw_mesh_build*)) {
  sample* s = add_sample(set, name, file, read, true, NULL);
  char path[600];
  snprintf(path, sizeof path, "%s/tests/data/files/%s", YW_SOURCE_DIR, file);
  FILE* stream = fopen(path, "rb");
  if (!stream) fail_msg("%s cannot be opened", path);
  s->size = fread(s->bytes, 1, s->capacity, stream);
  assert_int_equal(fclose(stream), 0);
  return s;
}

static void add_files(sample_set* set) {
  add_file(set, "a.msh", "gmsh_40.msh", yw_read_gmsh);
  add_file(set, "a.msh", "gmsh_41_binary.msh", yw_read_gmsh);
  add_file(set, "a.meshb", "meshio.meshb", yw_read_medit_binary);
  sample* inp = add_file(set, "a.inp", "meshio.inp", yw_read_abaqus);
  inp->open_ended = true;
  inp->labels[0] = 1, inp->labels[1] = 2;
#ifdef YW_HAVE_CODECS
  codecs_register();
#endif
#ifdef YW_HAVE_ZLIB
  add_file(set, "a.vtu", "vtk_zlib_appended.vtu", yw_read_vtu)->open_ended = true;
  add_file(set, "a.vtu", "vtk_zlib_binary_blocks.vtu", yw_read_vtu);
  add_file(set, "a.vtu", "meshio_zlib.vtu", yw_read_vtu);
#endif
#ifdef YW_HAVE_LZ4
  add_file(set, "a.vtu", "vtk_lz4_appended_base64.vtu", yw_read_vtu)->open_ended = true;
#endif
#ifdef YW_HAVE_LZMA
  add_file(set, "a.vtu", "vtk_lzma_appended.vtu", yw_read_vtu)->open_ended = true;
  add_file(set, "a.vtu", "meshio_lzma.vtu", yw_read_vtu);
#endif
}

static inline sample_set* make_samples(void) {
  sample_set* set = calloc(1, sizeof *set);
  add_sample(set, "a.obj", "text", yw_read_obj, false, sample_obj)->open_ended = true;
  add_sample(set, "a.ply", "text", yw_read_ply, false, sample_ply_ascii)->open_ended = true;
  make_ply(add_sample(set, "a.ply", "little endian", yw_read_ply, false, NULL), false);
  make_ply(add_sample(set, "a.ply", "big endian", yw_read_ply, false, NULL), true);
  make_stl_text(add_sample(set, "a.stl", "text", yw_read_stl, false, NULL));
  make_stl_binary(add_sample(set, "a.stl", "binary", yw_read_stl, false, NULL), "made by hand");
  make_stl_binary(add_sample(set, "a.stl", "binary named solid", yw_read_stl, false, NULL),
                  "solid x");
  add_sample(set, "a.vtk", "poly data", yw_read_vtk, false, sample_vtk_poly)->open_ended = true;
  add_sample(set, "a.node", "text", read_sample_node, true, sample_node)->open_ended = true;
  add_sample(set, "a.ele", "text", read_sample_ele, true, sample_ele)->open_ended = true;
  add_sample(set, "a.msh", "2.2 text", yw_read_gmsh, true, sample_gmsh_2);
  make_gmsh_2_binary(add_sample(set, "a.msh", "2.2 little endian", yw_read_gmsh, true, NULL),
                     false);
  make_gmsh_2_binary(add_sample(set, "a.msh", "2.2 big endian", yw_read_gmsh, true, NULL), true);
  add_sample(set, "a.msh", "4.1 text", yw_read_gmsh, true, sample_gmsh_4)->open_ended = true;
  make_gmsh_4_binary(add_sample(set, "a.msh", "4.1 little endian", yw_read_gmsh, true, NULL),
                     false);
  make_gmsh_4_binary(add_sample(set, "a.msh", "4.1 big endian", yw_read_gmsh, true, NULL), true);
  add_sample(set, "a.vtk", "2.0 text", yw_read_vtk, true, sample_vtk)->open_ended = true;
  make_vtk_binary(add_sample(set, "a.vtk", "3.0 binary", yw_read_vtk, true, NULL), false);
  set->items[set->count - 1].open_ended = true;
  add_sample(set, "a.vtk", "5.1 text", yw_read_vtk, true, sample_vtk_5)->open_ended = true;
  make_vtk_binary(add_sample(set, "a.vtk", "5.1 binary", yw_read_vtk, true, NULL), true);
  set->items[set->count - 1].open_ended = true;
  add_sample(set, "a.vtu", "text", yw_read_vtu, true, sample_vtu_ascii);
  make_vtu(add_sample(set, "a.vtu", "base64", yw_read_vtu, true, NULL), 0, false, false);
  make_vtu(add_sample(set, "a.vtu", "base64 big endian", yw_read_vtu, true, NULL), 0, true, true);
  make_vtu(add_sample(set, "a.vtu", "appended raw", yw_read_vtu, true, NULL), 1, false, true);
  set->items[set->count - 1].open_ended = true;
  make_vtu(add_sample(set, "a.vtu", "appended raw big endian", yw_read_vtu, true, NULL), 1, true,
           false);
  set->items[set->count - 1].open_ended = true;
  make_vtu(add_sample(set, "a.vtu", "appended base64", yw_read_vtu, true, NULL), 2, false, false);
  set->items[set->count - 1].open_ended = true;
  add_sample(set, "a.mesh", "text", yw_read_medit, true, sample_medit);
  make_meshb(add_sample(set, "a.meshb", "1", yw_read_medit_binary, true, NULL), 1, false);
  make_meshb(add_sample(set, "a.meshb", "2 big endian", yw_read_medit_binary, true, NULL), 2, true);
  make_meshb(add_sample(set, "a.meshb", "4", yw_read_medit_binary, true, NULL), 4, false);
  add_sample(set, "a.msh", "4.0 text", yw_read_gmsh, true, sample_gmsh_40);
  sample* inp = add_sample(set, "a.inp", "text", yw_read_abaqus, true, sample_inp);
  inp->open_ended = true;
  inp->labels[0] = 1, inp->labels[1] = 2;
  make_gltf(add_sample(set, "a.gltf", "base64", yw_read_gltf, false, NULL));
  make_glb(add_sample(set, "a.glb", "binary", yw_read_gltf, false, NULL));
  add_files(set);
  return set;
}

static inline void free_samples(sample_set* set) {
  for (int32_t i = 0; i < set->count; ++i) free(set->items[i].bytes);
  free(set);
}

#endif
