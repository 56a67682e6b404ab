// SPDX-License-Identifier: MIT
#include "scene_options.h"

#include <string.h>

static const yw_simd levels[] = {YW_SIMD_AUTO, YW_SIMD_PLAIN, YW_SIMD_AVX2, YW_SIMD_AVX512};

yw_simd scene_options_simd(const scene_options* options) {
  for (size_t i = 0; options->simd && i < sizeof levels / sizeof levels[0]; ++i) {
    if (strcmp(options->simd, yw_simd_name(levels[i])) == 0) return levels[i];
  }
  return YW_SIMD_AUTO;
}

int scene_options_read(const scene_options* options, const char* path, yw_scene** out,
                       yw_error* warning, yw_error* error) {
  if (options->simd && strcmp(options->simd, "auto") != 0 &&
      scene_options_simd(options) == YW_SIMD_AUTO) {
    return bad_input("--simd is \"%s\", but must be plain, avx2 or avx512", options->simd);
  }
  static char paths[OPTION_LIST_MAX][256];
  yw_scene_override overrides[OPTION_LIST_MAX];
  for (int32_t i = 0; i < options->set.count; ++i) {
    const char* text = options->set.items[i];
    const char* equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof paths[0]) {
      return bad_input("--set is \"%s\", but must be path=value, e.g. substeps=8", text);
    }
    memcpy(paths[i], text, length);
    paths[i][length] = '\0';
    overrides[i] = (yw_scene_override){paths[i], equals + 1};
  }
  if (yw_scene_read(path, NULL, options->set.count, overrides, out, warning, error) < 0) {
    return bad_input("%s", error->message);
  }
  return -1;
}
