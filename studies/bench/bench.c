// SPDX-License-Identifier: MIT
// yawara bench: one row per measurement.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "console/options.h"
#include "studies.h"
#include "yawara/extend/text.h"

typedef struct bench_entry {
  const char* name;
  int (*measure)(const bench_run* run);
  const char* summary;
} bench_entry;

static const bench_entry entries[] = {
    {"match", bench_match, "a step of example-based shape matching, 225 to 200,000 particles"},
    {"frames", bench_frames, "a step of frames volumes, 400 to 217,000 particles"},
    {"rods", bench_rods, "a step of rods and sheets, 225 to 4,200 particles"},
    {"fem", bench_fem, "forces of finite elements, adaptive bodies against the finest mesh"},
    {"plastic", bench_plastic, "a step of master and slave particles, 4,096 to a million masters"},
    {"polar", bench_polar, "polar and singular value decomposition of 3x3 matrices"},
    {"mesh", bench_mesh, "tets from shapes and triangle meshes, embedded points"},
    {"contact", bench_contact, "bodies in a bin, a stack, balls, cloth: points, surfaces"},
    {"render", bench_render, "a picture of 640 x 360 pixels with 20,000 triangles"},
    {"io", bench_io, "mesh files written and read"},
    {"rollouts", bench_rollouts, "variants of a small scene, on 1 and 2 threads"},
    {"cuda", bench_cuda,
     "match, plastic and fem bodies on a GPU, up to ten million particles or tets, same bits"},
    {"threads", bench_threads, "bodies of every method on 1, 2, 4 ... threads"},
    {"serial", bench_serial, "what of a step no threads share, and what 16 cores reach at best"},
    {"ranks", bench_ranks, "a plastic body of a million masters on 1 to 8 ranks, same bits"},
};
enum { NUM_ENTRIES = sizeof entries / sizeof entries[0] };

// Rows --------------------------------------------------------------------------------------------

static const char* verdict(const bench_row* row, char* text, size_t size) {
  if (row->bar == BAR_NONE) return "";
  double is = row->bar == BAR_RATIO_AT_LEAST ? row->ratio : row->value;
  bool good = row->bar == BAR_AT_MOST ? is <= row->bar_value : is >= row->bar_value;
  snprintf(text, size, "%s (%s %g%s)", good ? "PASS" : "MISS",
           row->bar == BAR_AT_MOST ? "<=" : ">=", row->bar_value,
           row->bar == BAR_RATIO_AT_LEAST ? "x" : "");
  return text;
}

static void print_json(const bench_run* run, const bench_row* row) {
  printf(
      "{\"bench\": \"%s\", \"case\": \"%s\", \"threads\": %d, \"value\": %.6g, \"unit\": \"%s\", ",
      run->bench, row->name, row->threads, row->value, row->unit);
  if (row->against) {
    printf("\"against\": \"%s\", \"ratio\": %.4g}\n", row->against, row->ratio);
  } else {
    printf("\"against\": null, \"ratio\": null}\n");
  }
}

static void print_line(const bench_row* row) {
  char ratio[32] = "", bar[48];
  if (row->against) snprintf(ratio, sizeof ratio, "%.2fx", row->ratio);
  printf("%-40s %2d %11.4g %-8s %8s %-18s %s\n", row->name, row->threads, row->value, row->unit,
         ratio, row->against ? row->against : "", verdict(row, bar, sizeof bar));
}

void bench_print(const bench_run* run, const bench_row* row) {
  if (run->json) {
    print_json(run, row);
  } else {
    print_line(row);
  }
  fflush(stdout);
}

void bench_note(const bench_run* run, const char* format, ...) {
  if (run->json) return;
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

int32_t bench_repetitions(const bench_run* run, int32_t usual, int32_t quick) {
  if (run->repetitions > 0) return run->repetitions;
  return run->quick ? quick : usual;
}

// The command -------------------------------------------------------------------------------------

static int measure(bench_run* run, const bench_entry* entry) {
  run->bench = entry->name;
  bench_note(run, "%s: %s (%s)\n%-40s %2s %11s %-8s %8s %s", entry->name, entry->summary,
             yw_simd_name(run->simd), "case", "t", "value", "", "ratio", "against");
  int code = entry->measure(run);
  bench_note(run, "%s", "");
  return code;
}

static int list_entries(void) {
  for (int i = 0; i < NUM_ENTRIES; ++i) printf("  %-9s %s\n", entries[i].name, entries[i].summary);
  return EXIT_DONE;
}

static bool find_simd(const char* name, yw_simd* out) {
  const yw_simd levels[] = {YW_SIMD_AUTO, YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; ++i) {
    *out = levels[i];
    if (strcmp(name, yw_simd_name(levels[i])) == 0) return true;
  }
  return false;
}

static int run_named(bench_run* run, const char* name) {
  const char* names[NUM_ENTRIES];
  for (int i = 0; i < NUM_ENTRIES; ++i) {
    names[i] = entries[i].name;
    if (strcmp(name, names[i]) == 0) return measure(run, &entries[i]);
  }
  yw_hint hint = yw_suggest(name, NUM_ENTRIES, names);
  return bad_input("there is no benchmark \"%s\"%s; see: yawara bench --list", name, hint.text);
}

int study_bench(int argc, char** argv) {
  bench_run run = {0};
  const char* simd = "auto";
  bool list = false;
  const option options[] = {
      {"json", 0, OPTION_FLAG, &run.json, NULL, "one JSON object per row instead of a table", 0, 0},
      {"threads", 't', OPTION_INT, &run.threads, "N",
       "of the rows with many threads (default: one per core)", 1, 256},
      {"simd", 0, OPTION_TEXT, &simd, "LEVEL", "plain, avx2, avx512 (default: the best)", 0, 0},
      {"quick", 0, OPTION_FLAG, &run.quick, NULL, "fewer repetitions and sizes", 0, 0},
      {"repetitions", 'r', OPTION_INT, &run.repetitions, "N",
       "how often everything is measured; the fastest counts", 1, 1e6},
      {"list", 'l', OPTION_FLAG, &list, NULL, "what there is to measure", 0, 0},
  };
  const command self = {
      .name = "bench",
      .summary =
          "measurements: match, frames, rods, fem, plastic, polar, mesh, contact, render, io",
      .usage = "bench [NAME] [--json] [--threads N] [--simd LEVEL] [--quick]",
      .examples =
          "  yawara bench                    everything, about two minutes\n"
          "  yawara bench match              speed of shape matching\n"
          "  yawara bench match --json       the same for a program\n",
      .options = options,
      .num_options = sizeof options / sizeof options[0],
      .max_arguments = 1};
  const char* name = NULL;
  int32_t count;
  int code = parse_options(&self, argc, argv, &name, &count);
  if (code >= 0) return code;
  if (list) return list_entries();
  if (!find_simd(simd, &run.simd)) {
    return bad_input("--simd is \"%s\", but must be plain, avx2 or avx512", simd);
  }
  run.simd = yw_simd_resolve(run.simd);
  if (run.threads == 0) run.threads = yw_cpu_count();
  if (count > 0) return run_named(&run, name);
  for (int i = 0; i < NUM_ENTRIES; ++i) {
    code = measure(&run, &entries[i]);
    if (code != EXIT_DONE) return code;
  }
  return EXIT_DONE;
}
