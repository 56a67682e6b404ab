// SPDX-License-Identifier: MIT
// yawara bench io: speed of writing and reading mesh files, MB/s.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "console/options.h"
#include "reference/clock.h"

typedef struct io_case {
  const char* ending;
  bool tets;
} io_case;

static const io_case cases[] = {{"obj", false}, {"ply", false}, {"stl", false},
                                {"vtu", true},  {"msh", true},  {"mesh", true}};
enum { NUM_CASES = sizeof cases / sizeof cases[0] };

typedef struct io_bench {
  yw_tet_mesh tets;
  yw_tri_mesh surface;
  char folder[64];
} io_bench;

static yw_status time_file(const io_bench* b, const io_case* c, const char* path, double* write,
                           double* read, yw_error* error) {
  yw_tri_mesh surface = {0};
  yw_tet_mesh tets = {0};
  double start = bench_seconds(true);
  yw_status status = c->tets ? yw_tet_mesh_write(path, &b->tets, error)
                             : yw_tri_mesh_write(path, &b->surface, error);
  *write = fmin(*write, bench_seconds(true) - start);
  if (status < 0) return status;
  start = bench_seconds(true);
  status = c->tets ? yw_tet_mesh_read(path, NULL, &tets, error)
                   : yw_tri_mesh_read(path, NULL, &surface, error);
  *read = fmin(*read, bench_seconds(true) - start);
  yw_tri_mesh_free(&surface);
  yw_tet_mesh_free(&tets);
  return status;
}

static yw_status measure(const bench_run* run, const io_bench* b, const io_case* c,
                         yw_error* error) {
  char path[96], name[64];
  double write = INFINITY, read = INFINITY;
  snprintf(path, sizeof path, "%s/bench.%s", b->folder, c->ending);
  yw_status status = YW_OK;
  for (int32_t r = 0; r < bench_repetitions(run, 8, 2) && status >= 0; ++r) {
    status = time_file(b, c, path, &write, &read, error);
  }
  struct stat file;
  if (status >= 0 && stat(path, &file) == 0) {
    double megabytes = 1e-6 * (double)file.st_size;
    const double seconds[2] = {write, read};
    for (int k = 0; k < 2; ++k) {
      snprintf(name, sizeof name, "%s .%s, %.1f MB", k == 0 ? "write" : "read", c->ending,
               megabytes);
      bench_row row = {.name = name, .threads = 1, .value = megabytes / seconds[k], .unit = "MB/s"};
      bench_print(run, &row);
    }
  }
  unlink(path);
  return status;
}

int bench_io(const bench_run* run) {
  io_bench b = {0};
  yw_error error = {0};
  const yw_aabb box = {{0, 0, 0}, {1, 1, 1}};
  int32_t n = run->quick ? 16 : 40;
  const int32_t cells[3] = {n, n, n};
  const char* parent = getenv("TMPDIR");
  int length =
      snprintf(b.folder, sizeof b.folder, "%s/yawara-bench-XXXXXX", parent ? parent : "/tmp");
  if (length >= (int)sizeof b.folder || !mkdtemp(b.folder)) {
    return bad_input("%s: cannot make a folder there for the files (set TMPDIR)", b.folder);
  }
  yw_status status = yw_tet_mesh_lattice(NULL, box, cells, YW_LATTICE_FIVE, &b.tets);
  if (status >= 0) status = yw_tet_mesh_surface(&b.tets, NULL, &b.surface, NULL);
  for (int i = 0; i < NUM_CASES && status >= 0; ++i) status = measure(run, &b, &cases[i], &error);
  rmdir(b.folder);
  yw_tet_mesh_free(&b.tets);
  yw_tri_mesh_free(&b.surface);
  if (status >= 0) return EXIT_DONE;
  fprintf(stderr, "yawara: %s\n", error.message[0] ? error.message : "out of memory");
  return EXIT_FAILED;
}
