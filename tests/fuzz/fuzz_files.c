// SPDX-License-Identifier: MIT
// libFuzzer program for files that are read by name: point caches and grids of values. The first
// byte picks the ending; the rest is the file.
#include "support/fuzzing.h"
#include "yawara/extend/point_cache.h"
#ifdef YW_HAVE_CODECS
#include "codecs/codecs.h"
#endif

static const char* const names[] = {"a.pc2", "a.mdd", "a.vti", "a.mha", "a.mhd"};
enum { NUM_CACHES = 2, NUM_NAMES = sizeof names / sizeof *names };

static const char vti_text[] =
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\" "
    "byte_order=\"BigEndian\">\n<ImageData WholeExtent=\"2 4 0 1 0 0\" Origin=\"1 2 3\" "
    "Spacing=\"0.5 1 2\" Direction=\"1 0 0 0 1 0 0 0 1\">\n<Piece Extent=\"2 4 0 1 0 0\">\n"
    "<PointData><DataArray type=\"Float32\" NumberOfComponents=\"3\" Name=\"v\" "
    "format=\"ascii\">0 0 0</DataArray></PointData>\n<CellData><DataArray type=\"Float64\" "
    "Name=\"a\" format=\"ascii\">5 6</DataArray></CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n";
static const char mha_text[] =
    "ObjectType = Image\nNDims = 3\nDimSize = 2 1 2\nElementSpacing = 1 2 0.5\nOffset = 0 0 1\n"
    "TransformMatrix = 1 0 0 0 1 0 0 0 1\nElementByteOrderMSB = True\nElementNumberOfChannels = 1\n"
    "ElementType = MET_USHORT\nHeaderSize = 0\nElementDataFile = LOCAL\n12345678";
static const char mhd_text[] =
    "NDims = 3\nDimSize = 2 1 2\nHeaderSize = 4\nElementType = MET_INT\nElementDataFile = a.raw\n";

static void add_cache(int kind) {
  const yw_point_cache_def def = {.num_points = 3, .fps = 25, .start_frame = 2};
  const yw_vec3 points[3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
  yw_point_cache_writer cache;
  yw_error error = {0};
  bool good = yw_point_cache_open(&cache, names[kind], &def, NULL, &error) >= 0;
  for (int i = 0; i < 3; ++i) good = good && yw_point_cache_append(&cache, points, &error) >= 0;
  good = good && yw_point_cache_close(&cache, &error) >= 0;
  require(good, error.message);
  size_t size;
  unsigned char* bytes = get_file(names[kind], &size);
  add_seed(kind, bytes, size);
  free(bytes);
}

static void prepare(void) {
#ifdef YW_HAVE_CODECS
  codecs_register();
#endif
  // What headers can refer to.
  put_file("a.raw", -1, "0123456789abcdef0123", 20);
}

static void write_seeds(void) {
  for (int kind = 0; kind < NUM_CACHES; ++kind) add_cache(kind);
  add_seed(2, vti_text, strlen(vti_text));
  add_seed(3, mha_text, strlen(mha_text));
  add_seed(4, mhd_text, strlen(mhd_text));
  // Written by VTK.
  for (int kind = NUM_CACHES; kind < NUM_NAMES; ++kind) {
    char path[600];
    snprintf(path, sizeof path, "%s/tests/data/files/vtk_zlib%s", YW_SOURCE_DIR, names[kind] + 1);
    size_t size;
    unsigned char* bytes = get_file(path, &size);
    add_seed(kind, bytes, size);
    free(bytes);
  }
}

static void read_cache(const char* name) {
  yw_point_cache_reader cache;
  yw_error error = {0};
  if (yw_point_cache_reader_open(&cache, name, NULL, &error) < 0) {
    require(error.message[0] != '\0', "an error has a message");
    return;
  }
  yw_vec3* points = calloc((size_t)cache.num_points, sizeof *points);
  yw_point_cache_read_frame(&cache, 0, points, &error);
  require(yw_point_cache_read_frame(&cache, cache.num_frames, points, &error) < 0,
          "there is no frame after the last");
  yw_point_cache_read_frame(&cache, cache.num_frames - 1, points, &error);
  free(points);
  yw_point_cache_reader_close(&cache);
}

static void read_grid(const char* name) {
  yw_grid grid;
  yw_error error = {0};
  if (yw_grid_read(name, NULL, NULL, &grid, &error) < 0) {
    require(error.message[0] != '\0' && !grid.values, "an error has a message and no values");
    return;
  }
  yw_grid_value(&grid, grid.origin);
  yw_grid_value(&grid, (yw_vec3){1e30f, 1.5f, -1e30f});
  yw_grid_free(&grid);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  int kind = data[0] % NUM_NAMES;
  if (kind < NUM_CACHES) {
    put_file(names[kind], -1, data + 1, size - 1);
    read_cache(names[kind]);
  } else {
    given.path = names[kind];
    given.bytes = data + 1;
    given.size = size - 1;
    read_grid(names[kind]);
  }
  return 0;
}
