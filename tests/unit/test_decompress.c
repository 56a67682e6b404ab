// SPDX-License-Identifier: MIT
// Compressed files: what blocks may say about their sizes, and what happens when they lie. A stub
// takes the place of the libraries, so that every size can be chosen.
#include "support/counted_memory.h"
#include "support/temporary_folder.h"
#include "yawara/extend/decompress.h"
#include "yawara/files.h"
#ifdef YW_HAVE_CODECS
#include "codecs/codecs.h"
#endif

// "Compression" that drops nothing: the block is a byte that says how often the rest is repeated.
static bool expand_repeated(const void* bytes, size_t size, void* out, size_t out_size) {
  const unsigned char* in = bytes;
  if (size < 1 || in[0] * (size - 1) != out_size) return false;
  for (size_t i = 0; i < out_size; ++i) ((unsigned char*)out)[i] = in[1 + i % (size - 1)];
  return true;
}

static const char head[] =
    "<VTKFile type=\"ImageData\" header_type=\"UInt32\" compressor=\"vtkLZ4DataCompressor\">"
    "<ImageData WholeExtent=\"0 %d 0 0 0 0\"><Piece Extent=\"0 %d 0 0 0 0\"><PointData>"
    "<DataArray type=\"UInt8\" Name=\"E\" format=\"appended\" offset=\"0\"/></PointData></Piece>"
    "</ImageData><AppendedData encoding=\"raw\">_";

// A file with `points` values, a header of these numbers and then `data`.
static yw_status read_blocks(int points, int num_words, const uint32_t* words, size_t size,
                             const void* data, yw_grid* grid, yw_error* error) {
  unsigned char file[4000];
  size_t n = (size_t)snprintf((char*)file, sizeof file, head, points - 1, points - 1);
  for (int i = 0; i < num_words; ++i)
    for (int k = 0; k < 4; ++k) file[n++] = (unsigned char)(words[i] >> (8 * k));
  memcpy(file + n, data, size);
  *error = (yw_error){0};
  return yw_grid_read(store("b.vti", file, n + size), NULL, NULL, grid, error);
}

static void refuse(int points, int num_words, const uint32_t* words, const char* word) {
  static const unsigned char data[8] = {2, 5, 6, 1, 7};
  yw_grid grid;
  yw_error error;
  assert_int_equal(read_blocks(points, num_words, words, sizeof data, data, &grid, &error),
                   YW_ERR_FORMAT);
  if (!strstr(error.message, word)) fail_msg("%s (without \"%s\")", error.message, word);
}

static void blocks_are_joined_whatever_their_sizes(void** state) {
  (void)state;
  yw_set_decompressor(YW_COMPRESSION_LZ4, expand_repeated);
  static const unsigned char data[] = {2, 5, 6, 4, 9, 1, 7};
  yw_grid grid;
  yw_error error;
  // Two blocks of four values and a last one of a single value.
  const uint32_t words[] = {3, 4, 1, 3, 2, 2};
  if (read_blocks(9, 6, words, sizeof data, data, &grid, &error) != YW_OK)
    fail_msg("%s", error.message);
  static const float expected[9] = {5, 6, 5, 6, 9, 9, 9, 9, 7};
  assert_memory_equal(grid.values, expected, sizeof expected);
  yw_grid_free(&grid);
  // A last size of 0 means that the last block is a full one.
  const uint32_t full[] = {2, 4, 0, 3, 2};
  if (read_blocks(8, 5, full, 5, data, &grid, &error) != YW_OK) fail_msg("%s", error.message);
  assert_memory_equal(grid.values, expected, 8 * sizeof(float));
  yw_grid_free(&grid);
}

static void sizes_that_lie_are_refused(void** state) {
  (void)state;
  yw_set_decompressor(YW_COMPRESSION_LZ4, expand_repeated);
  refuse(4, 3, (uint32_t[]){0, 4, 0}, "has 0 bytes, but 4 are needed");
  refuse(4, 2, (uint32_t[]){1, 4}, "the last of");
  refuse(5, 4, (uint32_t[]){1, 4, 0, 3}, "has 4 bytes, but 5 are needed");
  // More values than the grid has.
  refuse(4, 5, (uint32_t[]){2, 4, 1, 3, 2}, "has 5 bytes, but 4 are needed");
  // More blocks, or longer ones, than the file has bytes.
  refuse(4, 4, (uint32_t[]){0xffffffff, 4, 0, 3}, "blocks");
  refuse(4, 4, (uint32_t[]){1, 4, 0, 900}, "more than the data");
  refuse(4, 4, (uint32_t[]){1, 4, 0, 0xffffffff}, "more than the data");
  refuse(4, 4, (uint32_t[]){1, 3, 4, 3}, "the last of 4");
  // Blocks that expand to something else, or not at all.
  refuse(4, 4, (uint32_t[]){1, 4, 0, 2}, "block 0 of the array is damaged");
  refuse(4, 4, (uint32_t[]){1, 4, 0, 0}, "block 0 of the array is damaged");
}

// A bomb: a few bytes that claim to hold a thousand million. Refused before memory is taken.
static void what_cannot_expand_so_far_is_not_allocated(void** state) {
  (void)state;
  yw_set_decompressor(YW_COMPRESSION_LZ4, expand_repeated);
  char file[1000] = {0};
  int n =
      snprintf(file, sizeof file,
               "<VTKFile type=\"ImageData\" compressor=\"vtkLZ4DataCompressor\"><ImageData "
               "WholeExtent=\"0 999 0 999 0 999\"><Piece Extent=\"0 999 0 999 0 999\"><PointData>"
               "<DataArray type=\"UInt8\" Name=\"E\" format=\"appended\" offset=\"0\"/>"
               "</PointData></Piece></ImageData><AppendedData encoding=\"raw\">_");
  static const unsigned char header[] = {1, 0, 0, 0, 0, 0xca, 0x9a, 0x3b, 0, 0, 0, 0, 9, 0, 0, 0};
  memcpy(file + n, header, sizeof header);
  const char* path = store("bomb.vti", file, (size_t)n + sizeof header + 9);
  counted_memory memory = {.left = 1000};
  yw_allocator mem = counted_allocator(&memory);
  yw_grid grid;
  yw_error error = {0};
  assert_int_equal(yw_grid_read(path, NULL, &mem, &grid, &error), YW_ERR_FORMAT);
  assert_non_null(strstr(error.message, "9 bytes cannot expand to 1000000000 with LZ4"));
  assert_int_equal(memory.alive, 0);
}

static void without_a_decompressor_a_word_says_what_to_do(void** state) {
  (void)state;
  yw_set_decompressor(YW_COMPRESSION_LZ4, NULL);
  refuse(4, 4, (uint32_t[]){1, 4, 0, 3},
         "compressed with LZ4, but this program was built without it: install liblz4-dev");
}

// The libraries behind the program, where it has them.
static void libraries_take_exact_sizes_only(void** state) {
  (void)state;
#ifdef YW_HAVE_CODECS
  codecs_register();
  // 12 bytes "yawarayawara" as each library packs them.
  static const unsigned char zlib[] = {0x78, 0x9c, 0xab, 0x4c, 0x2c, 0x4f, 0x2c, 0x4a,
                                       0xac, 0x04, 0x93, 0x00, 0x21, 0x28, 0x05, 0x0b};
  static const unsigned char lz4[] = {0xc0, 'y', 'a', 'w', 'a', 'r', 'a',
                                      'y',  'a', 'w', 'a', 'r', 'a'};
  static const struct {
    yw_compression kind;
    const unsigned char* bytes;
    size_t size;
  } samples[] = {{YW_COMPRESSION_ZLIB, zlib, sizeof zlib}, {YW_COMPRESSION_LZ4, lz4, sizeof lz4}};
  for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
    yw_decompress expand = yw_decompressor(samples[i].kind);
    if (!expand) continue;
    char out[14] = {0};
    assert_true(expand(samples[i].bytes, samples[i].size, out, 12));
    assert_string_equal(out, "yawarayawara");
    assert_false(expand(samples[i].bytes, samples[i].size, out, 11));
    assert_false(expand(samples[i].bytes, samples[i].size, out, 13));
    assert_false(expand(samples[i].bytes, samples[i].size - 1, out, 12));
    assert_int_equal(out[13], 0);
  }
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_joined_whatever_their_sizes),
      cmocka_unit_test(sizes_that_lie_are_refused),
      cmocka_unit_test(what_cannot_expand_so_far_is_not_allocated),
      cmocka_unit_test(without_a_decompressor_a_word_says_what_to_do),
      cmocka_unit_test(libraries_take_exact_sizes_only),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
