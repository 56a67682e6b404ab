// SPDX-License-Identifier: MIT
// A picture of the last frame of every run of a wedge, and all of them on one sheet.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "commands/wedge.h"
#include "render/draw/contact_sheet.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"

#define PICTURE_SIZE "240x180"
/// More do not fit in a picture that anybody can look at.
#define MAX_PICTURES 400
#define CAPTION 160

typedef struct sheet {
  int32_t count;
  yw_image images[MAX_PICTURES];
  const yw_image* pointers[MAX_PICTURES];
  char captions[MAX_PICTURES][CAPTION];
  const char* texts[MAX_PICTURES];
} sheet;

static void picture_path(const wedge* w, int32_t run, char out[RUN_MAX_PATH]) {
  snprintf(out, RUN_MAX_PATH, "%s/pictures/%04d.png", w->dir, run + 1);
}

static int draw_picture(const wedge* w, int32_t run, int32_t frame, const char* path) {
  char folder[RUN_MAX_PATH], number[16];
  wedge_run_folder(w, run, folder);
  snprintf(number, sizeof number, "%d", frame);
  const char* arguments[] = {folder, "-o",   path, "--from", number,
                             "--to", number, "-q", "--size", PICTURE_SIZE};
  // Commands do not change their arguments.
  return cmd_render(sizeof arguments / sizeof arguments[0], (char**)(uintptr_t)arguments);
}

// "3: alpha=0.5 friction=0": paths without what comes before their last key.
static void write_caption(const wedge* w, int32_t run, char out[CAPTION]) {
  const char* set[OPTION_LIST_MAX];
  int32_t count = wedge_overrides(w, run, set);
  int length = snprintf(out, CAPTION, "%d:", run + 1);
  for (int32_t i = w->def.set.count; i < count && length < CAPTION; ++i) {
    const char* text = set[i];
    for (const char* at = text; *at != '='; ++at) {
      if (*at == '.') text = at + 1;
    }
    length += snprintf(out + length, CAPTION - (size_t)length, " %s", text);
  }
}

// Pictures that are there are kept: runs that are done do not change.
static int add_picture(const wedge* w, int32_t run, sheet* s) {
  wedge_status status = wedge_look(w, run);
  if (status.state != WEDGE_DONE || s->count == MAX_PICTURES) return -1;
  char path[RUN_MAX_PATH];
  yw_error error = {0};
  picture_path(w, run, path);
  int code = access(path, F_OK) == 0 ? EXIT_DONE : draw_picture(w, run, status.frames, path);
  if (code != EXIT_DONE) return code;
  yw_image* image = &s->images[s->count];
  if (yw_image_read_png(path, NULL, image, &error) < 0) return bad_input("%s", error.message);
  write_caption(w, run, s->captions[s->count]);
  s->texts[s->count] = s->captions[s->count];
  s->pointers[s->count++] = image;
  return -1;
}

static int write_sheet(const wedge* w, const sheet* s) {
  char path[RUN_MAX_PATH];
  yw_error error = {0};
  yw_contact_sheet def = yw_default_sheet();
  def.num_images = s->count;
  def.images = s->pointers;
  def.captions = s->texts;
  yw_image page = {0};
  int code = -1;
  snprintf(path, sizeof path, "%s/sheet.png", w->dir);
  if (yw_contact_sheet_draw(&def, NULL, &page, &error) < 0 ||
      yw_image_write_png(path, &page, &error) < 0) {
    code = bad_input("%s", error.message);
  } else {
    printf("%s\n", path);
  }
  yw_image_free(&page);
  return code;
}

int wedge_write_sheet(const wedge* w) {
  char folder[RUN_MAX_PATH];
  yw_error error = {0};
  snprintf(folder, sizeof folder, "%s/pictures", w->dir);
  if (yw_png_available(&error) < 0 || yw_make_folders(folder, &error) < 0) {
    return bad_input("%s", error.message);
  }
  sheet* s = YW_NEW(NULL, sheet);
  if (!s) return bad_input("not enough memory");
  int code = -1;
  for (int32_t run = 0; run < w->num_runs && code < 0; ++run) code = add_picture(w, run, s);
  if (code < 0 && w->num_runs > MAX_PICTURES) {
    fprintf(stderr, "%s: the sheet has the first %d runs only\n", w->dir, MAX_PICTURES);
  }
  if (code < 0 && s->count > 0) code = write_sheet(w, s);
  for (int32_t i = 0; i < s->count; ++i) yw_image_free(&s->images[i]);
  yw_mem_free(NULL, s);
  return code;
}
