// SPDX-License-Identifier: MIT
#define _GNU_SOURCE  // dlopen
#include "ranks/ranks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "console/options.h"
#include "plugins/plugin.h"
#include "yawara/extend/file.h"
#include "yawara/extend/hash.h"
#include "yawara/yawara.h"

#define LIBRARY "libyawara_mpi.so"

static const app_ranks_library* library;
static FILE* unsaid;  // what a silent rank would have said
static int spoken = -1;

int32_t app_ranks_launched(void) {
  // Open MPI, MPICH (and most others), Slurm with PMIx.
  static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "YAWARA_RANKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    const char* text = getenv(names[i]);
    if (text && atoi(text) > 1) return atoi(text);
  }
  return 1;
}

static int open_library(int32_t launched) {
  const char* named = getenv("YAWARA_MPI_LIBRARY");
  // Parts of Open MPI that it loads later look for its symbols.
  void* found = named ? dlopen(named, RTLD_NOW | RTLD_GLOBAL) : plugin_open(LIBRARY, true);
  if (!found) {
    return bad_input(
        "%d ranks were started, but %s cannot be opened (%s). It is built where MPI is found "
        "(Debian packages libopenmpi-dev and openmpi-bin): build again with it, or set "
        "YAWARA_MPI_LIBRARY",
        launched, named ? named : LIBRARY, dlerror());
  }
  app_ranks_table_fn table = NULL;
  void* symbol = dlsym(found, "app_ranks_table");
  memcpy(&table, &symbol, sizeof table);
  library = table ? table() : NULL;
  if (library && library->interface == YW_RANKS_INTERFACE) return -1;
  return bad_input("%s is of another version of yawara; build both together",
                   named ? named : LIBRARY);
}

// Hash of this program's file.
static uint64_t program_hash(void) {
  yw_file_data file = {0};
  uint64_t hash = YW_HASH_SEED;
  if (yw_file_read_all("/proc/self/exe", 0, NULL, &file, NULL) >= 0) {
    hash = yw_hash_bytes(hash, file.bytes, file.size);
  }
  yw_file_data_free(&file);
  return hash;
}

static bool same_everywhere(const yw_ranks* ranks, uint64_t value) {
  uint64_t first = value;
  yw_ranks_broadcast(ranks, 0, &first, sizeof first);
  int64_t others = first != value;
  yw_ranks_sum(ranks, &others, 1);
  return others == 0;
}

int app_ranks_join(const yw_ranks** out, int32_t* here) {
  int32_t launched = app_ranks_launched();
  *out = NULL;
  *here = 1;
  if (launched <= 1) return -1;
  char error[256] = "";
  int code = open_library(launched);
  if (code >= 0) return code;
  const yw_ranks* ranks = library->open(here, error, sizeof error);
  if (!ranks) return bad_input("%d ranks were started, but %s", launched, error);
  if (!same_everywhere(ranks, program_hash())) {
    if (ranks->rank == 0) bad_input("the ranks are different programs: start the same one on all");
    library->close();
    return EXIT_BAD_INPUT;
  }
  if (ranks->count > 1) *out = ranks;
  return -1;
}

void app_ranks_silence(const yw_ranks* ranks) {
  if (!ranks || ranks->rank == 0) return;
  unsaid = tmpfile();
  fflush(stderr);
  spoken = dup(STDERR_FILENO);
  if (unsaid) dup2(fileno(unsaid), STDERR_FILENO);
}

// Prints what was kept, if only this rank has failed.
static void speak(const yw_ranks* ranks, bool wanted) {
  if (!unsaid || spoken < 0) return;
  fflush(stderr);
  dup2(spoken, STDERR_FILENO);
  char line[1024];
  rewind(unsaid);
  while (wanted && fgets(line, sizeof line, unsaid))
    fprintf(stderr, "rank %d: %s", ranks->rank, line);
  fclose(unsaid);
  unsaid = NULL;
}

// *first: the code of rank 0. Returns the largest.
static int largest_code(const yw_ranks* ranks, int code, int64_t* first) {
  double most = (double)code;
  *first = code;
  yw_ranks_broadcast(ranks, 0, first, sizeof *first);
  yw_ranks_most(ranks, &most, 1);
  return (int)most;
}

int app_ranks_agree(const yw_ranks* ranks, int code) {
  if (!ranks) return code;
  int64_t first;
  int worst = largest_code(ranks, code, &first);
  if (worst >= 0) speak(ranks, first < 0 && code >= 0);
  return worst;
}

void app_ranks_report(const yw_ranks* ranks, bool quiet) {
  if (!ranks || !ranks->traffic) return;
  struct rusage usage = {0};
  const yw_ranks_traffic* t = ranks->traffic;
  getrusage(RUSAGE_SELF, &usage);
  double most[2] = {1024e-6 * (double)usage.ru_maxrss, 1e-6 * (double)t->bytes};
  yw_ranks_most(ranks, most, 2);
  if (ranks->rank != 0 || quiet) return;
  fprintf(stderr,
          "%d ranks: at most %.0f MB of memory each, %.1f MB sent to neighbours; rank 0: %llu "
          "messages, %.1f MB to all, %llu sums; %llu chunks of masters moved\n",
          ranks->count, most[0], most[1], (unsigned long long)t->messages,
          1e-6 * (double)t->gathered, (unsigned long long)t->sums, (unsigned long long)t->moved);
}

int app_ranks_leave(const yw_ranks* ranks, int code) {
  if (!ranks) return code;
  int64_t first;
  int worst = largest_code(ranks, code, &first);
  speak(ranks, first == EXIT_DONE && code > 0);
  library->close();
  return first > 0 ? (int)first : worst;
}
