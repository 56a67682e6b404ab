// SPDX-License-Identifier: MIT
// Damaged mesh files: truncated at every byte, mutated at random, deliberately hostile. A reader
// may reject or accept them, but must not crash, hang, leak, or allocate much more than the file's
// size.
#include <time.h>

#include "support/counted_memory.h"
#include "support/guarded.h"
#include "support/mesh_samples.h"

// Tracks memory in use and its peak; sizes are stored in front of the blocks.
typedef struct meter {
  size_t used, peak;
} meter;

static void* meter_alloc(void* context, size_t size, size_t align) {
  meter* m = context;
  unsigned char* block = aligned_alloc(align, (size + align + align - 1) / align * align);
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  m->used += size;
  if (m->used > m->peak) m->peak = m->used;
  return block + align;
}

static void meter_release(void* context, void* pointer) {
  meter* m = context;
  size_t size;
  unsigned char* block = (unsigned char*)pointer - 64;
  memcpy(&size, block, sizeof size);
  m->used -= size;
  free(block);
}

static void assert_indices(const int32_t* indices, int64_t count, int32_t num_vertices) {
  for (int64_t i = 0; i < count; ++i) assert_in_range(indices[i], 0, num_vertices - 1);
}

// How the bytes are read: as tets, a surface or positions.
typedef enum taken { TAKE_TETS, TAKE_SURFACE, TAKE_POSITIONS } taken;

static yw_status read_bytes(const sample* s, const unsigned char* bytes, size_t size, taken as,
                            yw_error* error) {
  meter m = {0};
  yw_allocator mem = {meter_alloc, meter_release, &m};
  char* exact = copy_at_the_end(bytes, size);
  yw_scan scan;
  yw_mesh_build build;
  yw_scan_init(&scan, s->name, exact, size, error);
  yw_mesh_build_init(&build, &mem);
  build.with_look = true;
  yw_status status = s->read(&scan, &build) ? YW_OK : scan.status;
  if (status == YW_OK && as == TAKE_TETS) {
    yw_tet_mesh mesh;
    status = yw_build_take_tets(&build, s->name, &mesh, error);
    if (status >= 0) {
      assert_indices(mesh.tets, 4 * (int64_t)mesh.num_tets, mesh.num_vertices);
      for (int32_t i = 0; i < mesh.num_vertices; ++i)
        assert_true(isfinite(mesh.positions[i].x + mesh.positions[i].y + mesh.positions[i].z) ||
                    fabsf(mesh.positions[i].x) > 1e37f || fabsf(mesh.positions[i].y) > 1e37f ||
                    fabsf(mesh.positions[i].z) > 1e37f);
      yw_tet_mesh_free(&mesh);
    }
  } else if (status == YW_OK && as == TAKE_SURFACE) {
    yw_tri_mesh mesh;
    status = yw_build_take_triangles(&build, s->name, &mesh, error);
    if (status >= 0) {
      assert_indices(mesh.triangles, 3 * (int64_t)mesh.num_triangles, mesh.num_vertices);
      yw_tri_mesh_free(&mesh);
    }
  } else if (status == YW_OK) {
    yw_vec3* positions;
    int32_t count;
    status = yw_build_take_positions(&build, s->name, &positions, &count, error);
    if (status >= 0) yw_mem_free(&mem, positions);
  }
  yw_mesh_build_free(&build);
  if (m.used != 0) fail_msg("%s (%s): %zu bytes leaked", s->name, s->detail, m.used);
  // Lists grow by half and start with room for 16; JSON takes 64 KiB at once; nothing else may be
  // large.
  if (m.peak > 64 * size + 2 * 65536)
    fail_msg("%s (%s): %zu bytes of memory for a file of %zu", s->name, s->detail, m.peak, size);
  if (status != YW_OK && error->message[0] == '\0')
    fail_msg("%s (%s): status %d without a message", s->name, s->detail, status);
  return status < 0 ? status : YW_OK;
}

static void files_cut_at_any_byte_are_errors(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    // Without trailing white space the file is complete.
    size_t needed = s->size;
    while (needed > 0 && strchr(" \n\r", s->bytes[needed - 1])) --needed;
    for (size_t size = 0; size < needed; ++size) {
      yw_error error = {0};
      for (int32_t as = 0; as < 3; ++as) {
        yw_status status = read_bytes(s, s->bytes, size, (taken)as, &error);
        if (status == YW_OK && !s->open_ended)
          fail_msg("%s (%s): was read although cut at byte %zu of %zu", s->name, s->detail, size,
                   needed);
      }
    }
  }
  free_samples(set);
}

// One change: a flipped bit, a random byte, an inserted digit or word, a removed or doubled range.
static size_t mutate(unsigned char* bytes, size_t size, size_t capacity, test_random* random) {
  static const char* const words[] = {"999999999999999999999",
                                      "-1",
                                      "nan",
                                      "4294967295",
                                      "2147483647",
                                      "1e999",
                                      "0",
                                      "\n",
                                      "#",
                                      "<",
                                      "\"",
                                      "$",
                                      "-9223372036854775808",
                                      " ",
                                      "\\\n",
                                      "/"};
  size_t at = test_random_u32(random) % size;
  switch (test_random_u32(random) % 6) {
    case 0:
      bytes[at] ^= (unsigned char)(1u << test_random_u32(random) % 8);
      return size;
    case 1:
      bytes[at] = (unsigned char)test_random_u32(random);
      return size;
    case 2: {
      const char* word = words[test_random_u32(random) % (sizeof words / sizeof *words)];
      size_t length = strlen(word);
      if (size + length > capacity) return size;
      memmove(bytes + at + length, bytes + at, size - at);
      memcpy(bytes + at, word, length);
      return size + length;
    }
    case 3: {
      size_t length = 1 + test_random_u32(random) % 16;
      if (at + length >= size) return size;
      memmove(bytes + at, bytes + at + length, size - at - length);
      return size - length;
    }
    case 4: {
      size_t length = 1 + test_random_u32(random) % 40;
      if (at + length > size || size + length > capacity) return size;
      memmove(bytes + at + length, bytes + at, size - at);
      return size + length;
    }
    default: {
      // Bytes of all ones or zeros: the largest and smallest counts of binary files.
      size_t length = 1 + test_random_u32(random) % 8;
      if (at + length > size) return size;
      memset(bytes + at, test_random_u32(random) % 2 ? 0xff : 0, length);
      return size;
    }
  }
}

static void mutated_files_are_read_or_refused(void** state) {
  (void)state;
  const int32_t mutations = getenv("YW_TEST_FAST") ? 3000 : 20000;
  sample_set* set = make_samples();
  static unsigned char bytes[2 * MAX_SAMPLE_BYTES];
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    test_random random = {(uint64_t)i * 977 + 5};
    int32_t accepted = 0;
    for (int32_t round = 0; round < mutations; ++round) {
      memcpy(bytes, s->bytes, s->size);
      size_t size = s->size;
      int32_t changes = 1 + (int32_t)(test_random_u32(&random) % 4);
      for (int32_t k = 0; k < changes; ++k) size = mutate(bytes, size, sizeof bytes, &random);
      yw_error error = {0};
      accepted += read_bytes(s, bytes, size, (taken)(round % 3), &error) == YW_OK;
    }
    // Some changes touch comments and coordinates: a reader that refuses all of them tests nothing.
    if (accepted < mutations / 100)
      fail_msg("%s (%s): only %d of %d mutations were read", s->name, s->detail, accepted,
               mutations);
  }
  free_samples(set);
}

// Large inputs that would take hours if any part of a reader were quadratic.
static void repeat(sample* s, size_t size, const char* head, const char* part, const char* tail) {
  s->capacity = size;
  s->size = 0;
  s->bytes = malloc(size);
  put_text(s, head);
  size_t length = strlen(part), end = strlen(tail);
  while (s->size + length + end <= size) put_bytes(s, part, length);
  put_text(s, tail);
}

static void hostile_files_take_time_in_proportion(void** state) {
  (void)state;
  const size_t size = 1 << 20;
  static const struct {
    sample sample;
    const char *head, *part, *tail;
  } cases[] = {
      {{.name = "a.obj", .read = yw_read_obj},
       "v 0 0 0\nv 1 0 0\nv 0.1 0.1 0\nv 0 1 0\nf",
       " 1 2 3 4",
       "\n"},
      {{.name = "a.obj", .read = yw_read_obj}, "v 0 0 0\nf", "\\\n", " 1 1 1"},
      {{.name = "a.obj", .read = yw_read_obj}, "v ", "1", " 0 0"},
      {{.name = "a.ply", .read = yw_read_ply},
       "ply\nformat ascii 1.0\n",
       "element e 1\nproperty char c\n",
       "end_header\n"},
      {{.name = "a.ply", .read = yw_read_ply},
       "ply\nformat ascii 1.0\nelement vertex 1\n",
       "property float q\n",
       "end_header\n"},
      {{.name = "a.stl", .read = yw_read_stl},
       "solid\n",
       "facet normal 0 0 0 outer loop vertex 0 0 0 vertex "
       "0 0 0 vertex 0 0 0 endloop endfacet\n",
       "endsolid"},
      {{.name = "a.msh", .read = yw_read_gmsh},
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
       "$A\n$EndA\n",
       ""},
      {{.name = "a.msh", .read = yw_read_gmsh},
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
       "$A\n",
       ""},
      {{.name = "a.vtk", .read = yw_read_vtk},
       "# vtk DataFile Version 5.1\nx\nASCII\nDATASET POLYDATA\n",
       "METADATA\n\n",
       ""},
      {{.name = "a.vtu", .read = yw_read_vtu},
       "<VTKFile type=\"UnstructuredGrid\">",
       "<Piece NumberOfPoints=\"0\" NumberOfCells=\"0\">",
       "</VTKFile>"},
      {{.name = "a.vtu", .read = yw_read_vtu}, "<VTKFile type=\"UnstructuredGrid\">", "<", ""},
      {{.name = "a.vtu", .read = yw_read_vtu}, "<VTKFile type=\"UnstructuredGrid\">", "<!--", ""},
      {{.name = "a.vtu", .read = yw_read_vtu},
       "<VTKFile ",
       "a=\"\" ",
       "type=\"UnstructuredGrid\"></VTKFile>"},
      {{.name = "a.mesh", .read = yw_read_medit},
       "MeshVersionFormatted 1 Dimension 3\n",
       "Vertices 0\n",
       "End"},
      {{.name = "a.inp", .read = yw_read_abaqus}, "*NODE\n", "1,\n", ""},
      {{.name = "a.inp", .read = yw_read_abaqus},
       "*ELEMENT, TYPE=C3D4, ELSET=a\n1, 1, 1, 1, 1\n*ELSET, ELSET=b, GENERATE\n1, 9\n*NODE\n1\n",
       "*ELSET, ELSET=a\nb, a\n*ELSET, ELSET=b\na, a, b\n",
       ""},
      {{.name = "a.inp", .read = yw_read_abaqus},
       "*ELSET, ELSET=a, GENERATE\n",
       "1, 9000000000000000, 1\n",
       "*ELSET, ELSET=b\n2\n*NODE\n1\n*ELEMENT, TYPE=C3D4\n1, 1, 1, 1, 1\n2, 1, 1, 1, 1\n"},
      {{.name = "a.inp", .read = yw_read_abaqus}, "*NODE\n1\n", "*ELSET, ELSET=a,\n", ""},
      {{.name = "a.gltf", .read = yw_read_gltf}, "{\"asset\":", "[", ""},
      {{.name = "a.gltf", .read = yw_read_gltf},
       "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1]}"
       ","
       "{\"children\":[0]}",
       ",{\"children\":[0,1]}",
       "]}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    sample s = cases[i].sample;
    s.detail = cases[i].part;
    repeat(&s, size, cases[i].head, cases[i].part, cases[i].tail);
    clock_t start = clock();
    yw_error error = {0};
    read_bytes(&s, s.bytes, s.size, TAKE_SURFACE, &error);
    free(s.bytes);
    // Milliseconds each; the limit leaves room for sanitizers.
    assert_at_most((double)(clock() - start) / CLOCKS_PER_SEC, 20.0);
  }
}

// Memory gives out at the n-th request: every reader must clean up.
static void memory_that_runs_out_is_an_error(void** state) {
  (void)state;
  sample_set* set = make_samples();
  for (int32_t i = 0; i < set->count; ++i) {
    const sample* s = &set->items[i];
    yw_status status = YW_ERR_MEMORY;
    for (int32_t allowed = 0; status != YW_OK; ++allowed) {
      assert_in_range(allowed, 0, 1000);
      counted_memory memory = {.left = allowed};
      yw_allocator mem = counted_allocator(&memory);
      yw_error error = {0};
      yw_scan scan;
      yw_mesh_build build;
      yw_scan_init(&scan, s->name, (const char*)s->bytes, s->size, &error);
      yw_mesh_build_init(&build, &mem);
      build.with_look = true;
      status = s->read(&scan, &build) ? YW_OK : scan.status;
      if (status == YW_OK && strcmp(s->name, "a.node") != 0) {
        yw_tri_mesh mesh;
        status = yw_build_take_triangles(&build, s->name, &mesh, &error);
        if (status >= 0) yw_tri_mesh_free(&mesh);
      }
      yw_mesh_build_free(&build);
      assert_int_equal(memory.alive, 0);
      // The vertices of the .ele sample are read without an error struct.
      if (status != YW_OK && strcmp(s->name, "a.ele") != 0) assert_int_equal(status, YW_ERR_MEMORY);
    }
  }
  free_samples(set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_cut_at_any_byte_are_errors),
      cmocka_unit_test(mutated_files_are_read_or_refused),
      cmocka_unit_test(hostile_files_take_time_in_proportion),
      cmocka_unit_test(memory_that_runs_out_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
