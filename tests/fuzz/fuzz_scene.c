// SPDX-License-Identifier: MIT
// libFuzzer program for scene files. The first line is an override, "path=value", or empty; the
// rest is the scene.
// Scenes that are read are built as well.
#define ROUNDS_ALONE 10
#include "support/fuzzing.h"
#include "support/method_models.h"
#include "support/varied_scene.h"

// Scenes may ask for meshes of any size; here they get this much memory in one piece and in all.
enum { MOST_BYTES = 1 << 21, MOST_IN_ALL = 1 << 25 };
static size_t had;

static void* limited_alloc(void* context, size_t size, size_t align) {
  (void)context;
  had += size;
  if (size > MOST_BYTES || had > MOST_IN_ALL) return NULL;
  return aligned_alloc(align, (size + align - 1) / align * align);
}
static void limited_release(void* context, void* pointer) {
  (void)context;
  free(pointer);
}

static void add_scene(const char* change, const char* scene) {
  char text[8000];
  snprintf(text, sizeof text, "%s\n%s", change, scene);
  add_seed(-1, text, strlen(text));
}

static void prepare(void) {}

static void write_seeds(void) {
  for (int i = 0; i < NUM_METHOD_BODIES; ++i) {
    char text[1000];
    snprintf(text, sizeof text, "{\"bodies\": [{%s}], \"floor\": true}", method_bodies[i]);
    add_scene("", text);
    add_scene("bodies[0].density=900", text);
  }
  add_scene("", varied_scene);
  add_scene("models.m.match.alpha=0.25", varied_scene);
  add_scene("bodies[0].frames.solver=extended", varied_methods);
  static const char* const golden[] = {"fem",     "frames", "match", "material", "merge", "mixed",
                                       "plastic", "rigid",  "ring",  "rod",      "sheet"};
  for (size_t i = 0; i < sizeof golden / sizeof *golden; ++i) {
    char path[600];
    snprintf(path, sizeof path, "%s/tests/golden/scenes/%s.json", YW_SOURCE_DIR, golden[i]);
    size_t size;
    char* text = (char*)get_file(path, &size);
    text[size] = '\0';
    add_scene("substeps=1", text);
    free(text);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* newline = size ? memchr(data, '\n', size) : NULL;
  char line[200] = "";
  size_t length = newline ? (size_t)(newline - data) : 0;
  if (!newline || length >= sizeof line) return 0;
  memcpy(line, data, length);
  char* equals = strchr(line, '=');
  if (equals) *equals = '\0';
  yw_scene_override change = {line, equals ? equals + 1 : ""};
  yw_scene_def def = yw_default_scene_def();
  def.path = "f.json";
  def.text = (const char*)newline + 1;
  def.size = size - length - 1;
  def.overrides = &change;
  def.num_overrides = equals ? 1 : 0;
  def.threads = 1;
  def.mem = (yw_allocator){limited_alloc, limited_release, NULL};
  had = 0;
  yw_scene* scene = NULL;
  yw_error error = {0};
  if (yw_scene_read(&def, &scene, NULL, &error) < 0) {
    require(!scene && error.message[0] != '\0', "an error has a message and no scene");
  }
  yw_scene_destroy(scene);
  return 0;
}
