// SPDX-License-Identifier: MIT
// match_bench [repeats]: a table of match_bench() over sizes, examples, instruction sets, threads.
#include <stdio.h>
#include <stdlib.h>

#include "match_bench.h"

static void row(const char* name, const match_bench_def* def) {
  match_bench_result r;
  if (!match_bench(def, &r)) {
    printf("%s: out of memory\n", name);
    return;
  }
  printf("%-22s %7d %-7s %d  %9.2f %8.2f %8.2f  %6.1f", name, r.num_particles,
         yw_simd_name(def->simd), def->threads, r.step, r.project, r.contact,
         (double)r.num_particles / r.step);
  if (r.reference > 0.0) printf("  %9.1f %6.2fx", r.reference, r.reference / r.step);
  printf("\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  static const int32_t cells[4][3] = {{4, 8, 4}, {8, 24, 8}, {19, 49, 19}, {49, 79, 49}};
  static const char* const names[4] = {"box 225", "box 2,025", "box 20k", "box 200k"};
  int repeats = argc > 1 ? atoi(argv[1]) : 200;
  int only = argc > 2 ? atoi(argv[2]) : -1;
  printf("%-22s %7s %-7s %s  %9s %8s %8s  %6s  %9s\n", "case", "n", "simd", "t", "us/step",
         "project", "contact", "M/s", "reference");
  for (int size = 0; size < 4; ++size) {
    if (only >= 0 && only != size) continue;
    match_bench_def def = {.num_examples = 2,
                           .threads = 1,
                           .repeats = size < 3 ? repeats : repeats / 10 + 4,
                           .reference = true};
    for (int k = 0; k < 3; ++k) def.cells[k] = cells[size][k];
    for (yw_simd simd = YW_SIMD_AVX512; simd >= YW_SIMD_PLAIN; --simd) {
      def.simd = simd;
      if (yw_simd_resolve(simd) == simd) row(names[size], &def);
    }
    def.simd = yw_simd_resolve(YW_SIMD_AUTO);
    def.reference = false;
    def.threads = 2;
    row(names[size], &def);
    def.threads = 1;
    def.num_examples = 0;
    row("  no examples", &def);
    def.num_examples = 4;
    row("  4 examples", &def);
    def.num_examples = 2;
    def.grouping = YW_GROUPS_PER_REGION;
    row("  per region", &def);
  }
  return 0;
}
