// SPDX-License-Identifier: MIT
// The contact sheet and the movie of a figure.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "papers/paper.h"
#include "playback/stage.h"
#include "render/draw/contact_sheet.h"
#include "render/draw/svg.h"
#include "render/output/movie.h"
#include "render/skin/skin.h"
#include "yawara/extend/error.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/vec.h"

#define MAX_MOMENTS 16
#define CAPTION 48
// Size of quick pictures, relative.
#define QUICK 0.5f

typedef struct pictures {
  shown_scene* shown;
  stage* stage;
  yw_renderer* renderer;
  yw_image frame;
  yw_image moments[MAX_MOMENTS];
  char captions[MAX_MOMENTS][CAPTION];
  int32_t num_moments;
  int32_t width, height;
  yw_movie* movie;
  char movie_path[1100];
} pictures;

static bool films(const paper_take* take) {
  return take->script->film_every > 0 && !take->options->quick && yw_movie_available(NULL) >= 0;
}

static yw_status open_movie(const paper_take* take, pictures* p, yw_error* error) {
  yw_movie_def def = yw_default_movie_def();
  const char* name = take->script->name ? take->script->name : "movie";
  snprintf(p->movie_path, sizeof p->movie_path, "%s/%s.mp4", take->options->output, name);
  def.path = p->movie_path;
  def.width = p->width;
  def.height = p->height;
  def.fps = take->info.fps / (float)take->script->film_every;
  return yw_movie_open(&def, NULL, &p->movie, error);
}

yw_status paper_pictures_open(paper_take* take, yw_error* error) {
  pictures* p = YW_NEW(NULL, pictures);
  if (!p) return yw_fail_memory(error, "pictures");
  take->pictures = p;
  float scale = take->options->quick ? QUICK : 1.0f;
  // Movies need even sides.
  p->width = 2 * (int32_t)(0.5f * scale * (float)take->script->width);
  p->height = 2 * (int32_t)(0.5f * scale * (float)take->script->height);
  yw_status status = shown_create(take->scene, take->world, &p->shown, error);
  if (status >= 0) status = stage_create(p->shown, &p->stage, error);
  if (status >= 0 && stage_has_particles(p->stage)) {
    // A body that flies apart has no meaningful skin.
    stage_set_skin(p->stage, !take->script->may_diverge && skin_available(NULL) >= 0);
  }
  if (status >= 0) stage_set_field(p->stage, take->script->field, 0.0f, take->script->field_high);
  if (status >= 0) status = yw_renderer_create(NULL, 0, &p->renderer, error);
  if (status >= 0 && films(take)) status = open_movie(take, p, error);
  return status;
}

// A name under every body, where the camera sees its lowest point.
static void draw_labels(const paper_take* take, pictures* p, const yw_camera* camera, yw_svg* svg) {
  double font = 0.036 * p->height + 3.0;
  yw_svg_add(svg,
             "<g font-size='%g' text-anchor='middle' paint-order='stroke' stroke='#fff' "
             "stroke-opacity='0.85' stroke-width='%g' stroke-linejoin='round'>\n",
             font, 0.4 * font);
  for (int32_t i = 0; i < yw_world_num_bodies(take->world); ++i) {
    int32_t count;
    const yw_vec3* x = yw_body_positions(take->world, paper_body(take, i), &count);
    float left = INFINITY, right = -INFINITY, low = -INFINITY, px, py;
    for (int32_t k = 0; k < count; ++k) {
      if (!yw_camera_project(camera, p->width, p->height, x[k], &px, &py)) continue;
      left = fminf(left, px);
      right = fmaxf(right, px);
      low = fmaxf(low, py);
    }
    if (!(left <= right)) continue;
    yw_svg_add(svg, "<text x='%g' y='%g'>%s</text>\n", 0.5 * (double)(left + right),
               (double)low + 1.6 * font, take->script->labels[i]);
  }
  yw_svg_add(svg, "</g>\n");
}

static void draw_marks(const paper_take* take, pictures* p, const yw_camera* camera, yw_svg* svg) {
  yw_vec3 points[PAPER_MAX_MARKS];
  int32_t count = take->script->marks(take, points);
  double radius = 0.014 * p->height;
  float x, y;
  for (int32_t i = 0; i < count; ++i) {
    if (!yw_camera_project(camera, p->width, p->height, points[i], &x, &y)) continue;
    yw_svg_add(svg, "<circle cx='%g' cy='%g' r='%g' fill='#c0392b' stroke='#fff'", (double)x,
               (double)y, 1.2 * radius);
    yw_svg_add(svg, " stroke-width='%g'/>\n", 0.4 * radius);
  }
}

static yw_status annotate(const paper_take* take, pictures* p, const yw_camera* camera,
                          yw_error* error) {
  yw_svg svg;
  if (!take->script->labels && !take->script->marks) return YW_OK;
  yw_status status = yw_svg_open(&svg, p->width, p->height, error);
  if (status < 0) return status;
  if (take->script->labels) draw_labels(take, p, camera, &svg);
  if (take->script->marks) draw_marks(take, p, camera, &svg);
  return yw_svg_overlay(&svg, &p->frame, error);
}

static yw_status draw(const paper_take* take, pictures* p, yw_error* error) {
  const frame_def def = {.world = take->world, .scene = take->scene, .fields = take->script->field};
  frame_data shown;
  yw_status status = frame_take(&def, &shown, error);
  if (status < 0) return status;
  status = stage_show(p->stage, &shown, error);
  frame_free(&shown);
  if (status < 0) return status;
  yw_picture picture = stage_picture(p->stage, stage_box(p->stage), p->width, p->height);
  status = yw_renderer_draw(p->renderer, &picture, &p->frame, error);
  return status < 0 ? status : annotate(take, p, &picture.camera, error);
}

// The moment closest to this frame, or -1.
static int32_t moment_of(const paper_take* take) {
  for (int32_t i = 0; i < take->script->num_moments && i < MAX_MOMENTS; ++i) {
    if (lrint(take->script->moments[i] * (double)take->info.fps) == take->frame) return i;
  }
  return -1;
}

yw_status paper_pictures_add(paper_take* take, yw_error* error) {
  pictures* p = take->pictures;
  bool film = p->movie && take->frame % take->script->film_every == 0;
  int32_t moment = moment_of(take);
  if (!film && moment < 0) return YW_OK;
  yw_status status = draw(take, p, error);
  if (status >= 0 && film) status = yw_movie_add(p->movie, &p->frame, error);
  if (status < 0 || moment < 0) return status;
  int32_t at = p->num_moments++;
  snprintf(p->captions[at], CAPTION, "t = %.2f s", take->script->moments[moment]);
  status = yw_image_create(NULL, p->width, p->height, &p->moments[at], error);
  if (status >= 0) yw_image_copy(&p->moments[at], 0, 0, &p->frame);
  return status;
}

static yw_status write_sheet(const paper_take* take, pictures* p, yw_error* error) {
  const yw_image* images[MAX_MOMENTS];
  const char* captions[MAX_MOMENTS];
  for (int32_t i = 0; i < p->num_moments; ++i) {
    images[i] = &p->moments[i];
    captions[i] = p->captions[i];
  }
  yw_contact_sheet sheet = yw_default_sheet();
  sheet.num_images = p->num_moments;
  sheet.images = images;
  sheet.captions = captions;
  sheet.title = take->script->title;
  sheet.columns = take->script->sheet_columns;
  yw_image image = {0};
  char path[1100];
  const char* name = take->script->name ? take->script->name : "sheet";
  snprintf(path, sizeof path, "%s/%s.png", take->options->output, name);
  yw_status status = yw_contact_sheet_draw(&sheet, NULL, &image, error);
  if (status >= 0) status = yw_image_write_png(path, &image, error);
  yw_image_free(&image);
  if (status >= 0) printf("wrote %s\n", path);
  return status;
}

yw_status paper_pictures_close(paper_take* take, yw_status status, yw_error* error) {
  pictures* p = take->pictures;
  if (!p) return status;
  if (status >= 0 && p->num_moments > 0) status = write_sheet(take, p, error);
  if (p->movie && status >= 0) {
    status = yw_movie_close(p->movie, error);
    if (status >= 0) printf("wrote %s\n", p->movie_path);
  } else {
    yw_movie_discard(p->movie);
  }
  for (int32_t i = 0; i < MAX_MOMENTS; ++i) yw_image_free(&p->moments[i]);
  yw_image_free(&p->frame);
  yw_renderer_destroy(p->renderer);
  stage_destroy(p->stage);
  shown_destroy(p->shown);
  yw_mem_free(NULL, p);
  take->pictures = NULL;
  return status;
}
