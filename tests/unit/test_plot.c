// SPDX-License-Identifier: MIT
#include "render/draw/plot.h"
#include "support/testing.h"

static const double NOT = (double)NAN;

static bool has_color_near(const yw_image* image, int32_t x, int32_t y, const int color[3]) {
  for (int32_t dy = -2; dy <= 2; ++dy) {
    for (int32_t dx = -2; dx <= 2; ++dx) {
      const uint8_t* p = &image->pixels[3 * ((y + dy) * image->width + x + dx)];
      if (abs(p[0] - color[0]) + abs(p[1] - color[1]) + abs(p[2] - color[2]) < 30) return true;
    }
  }
  return false;
}

// A diagonal runs from corner to corner of the frame in its colour, and leaves the rest alone.
static void a_line_is_where_its_data_is(void** state) {
  (void)state;
  double x[2] = {0, 10}, y[2] = {0, 5};
  yw_series series = {NULL, 2, x, y, YW_SERIES_LINE, 0};
  yw_plot plot = yw_default_plot();
  plot.series = &series;
  plot.num_series = 1;
  plot.no_grid = true;
  plot.y.low = 0;
  plot.y.high = 5;
  yw_image image;
  assert_int_equal(yw_plot_draw(&plot, NULL, &image, NULL), YW_OK);
  const int blue[3] = {0x2e, 0x6f, 0xb5}, white[3] = {255, 255, 255}, ink[3] = {0x22, 0x28, 0x31};
  // The frame: ink at its left and lower border.
  int32_t left = 0, bottom = plot.height - 1;
  while (!has_color_near(&image, left + 2, 250, ink)) ++left;
  left += 4;
  while (!has_color_near(&image, 700, bottom - 2, ink) || bottom > plot.height - 30) --bottom;
  bottom -= 4;
  int32_t right = plot.width - 24, top = 16;
  for (int i = 1; i < 10; ++i) {
    int32_t px = left + (right - left) * i / 10, py = bottom + (top - bottom) * i / 10;
    assert_true(has_color_near(&image, px, py, blue));
    assert_false(has_color_near(&image, px, py + 25 < bottom ? py + 25 : py - 25, blue));
  }
  assert_true(has_color_near(&image, left + 60, top + 60, white));
  yw_image_free(&image);
}

static int32_t count_color(const yw_image* image, const int color[3]) {
  int32_t count = 0;
  for (int32_t i = 0; i < image->width * image->height; ++i) {
    const uint8_t* p = &image->pixels[3 * i];
    count += abs(p[0] - color[0]) + abs(p[1] - color[1]) + abs(p[2] - color[2]) < 30;
  }
  return count;
}

// NaN interrupts a line; values <= 0 cannot be on a logarithmic axis and do so too.
static void gaps_in_the_data_are_gaps_in_the_line(void** state) {
  (void)state;
  double x[5] = {1, 2, 3, 4, 5}, y[5] = {1, 1, NOT, 1, 1}, z[5] = {1, 1, -1, 1, 1},
         whole[5] = {1, 1, 1, 1, 1};
  const int blue[3] = {0x2e, 0x6f, 0xb5};
  const double* data[3] = {whole, y, z};
  int32_t counts[3];
  for (int i = 0; i < 3; ++i) {
    yw_series series = {NULL, 5, x, data[i], YW_SERIES_LINE, 0};
    yw_plot plot = yw_default_plot();
    plot.series = &series;
    plot.num_series = 1;
    plot.y.log = true;
    yw_image image;
    assert_int_equal(yw_plot_draw(&plot, NULL, &image, NULL), YW_OK);
    counts[i] = count_color(&image, blue);
    yw_image_free(&image);
  }
  assert_at_least(counts[0], 700);
  assert_near((double)counts[1] / counts[0], 0.5, 0.02);
  assert_int_equal(counts[1], counts[2]);
}

static void ticks_are_round_numbers_inside_the_range(void** state) {
  (void)state;
  const double ranges[][2] = {{0, 1}, {-3.7, 12.2}, {1e-9, 3e-9}, {1e6, 1.0001e6}, {0, 97}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
    yw_ticks ticks;
    yw_plot_ticks(ranges[i][0], ranges[i][1], false, 6, &ticks);
    assert_at_least(ticks.count, 3);
    assert_at_most(ticks.count, 13);
    for (int32_t k = 0; k < ticks.count; ++k) {
      double slack = 1e-9 * (ranges[i][1] - ranges[i][0]);
      assert_at_least(ticks.values[k], ranges[i][0] - slack);
      assert_at_most(ticks.values[k], ranges[i][1] + slack);
    }
  }
  yw_ticks ticks;
  yw_plot_ticks(1, 1e6, true, 7, &ticks);
  assert_int_equal(ticks.count, 7);
  assert_string_equal(ticks.labels[3], "1000");
  yw_plot_ticks(2, 30, true, 6, &ticks);
  assert_string_equal(ticks.labels[0], "2");
  yw_plot_ticks(1, 1, false, 6, &ticks);
  assert_int_equal(ticks.count, 0);
}

// Opening and closing tags match, and nothing in the text breaks them.
static void svg_files_are_well_formed(void** state) {
  (void)state;
  double x[3] = {1, 10, 100}, y[3] = {3, 2, 5};
  yw_series series[2] = {{"a < b & \"c\"", 3, x, y, YW_SERIES_LINE_POINTS, -1},
                         {"dashed", 3, y, x, YW_SERIES_DASHED, -1}};
  yw_plot plot = yw_default_plot();
  plot.title = "<title> & 'more'";
  plot.x.label = "time (s)";
  plot.y.label = "\xc2\xb5s";
  plot.x.log = true;
  plot.series = series;
  plot.num_series = 2;
  char folder[] = "/tmp/yawara_plot_XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/plot.svg", folder);
  yw_error error = {0};
  assert_int_equal(yw_plot_write(path, &plot, NULL, &error), YW_OK);
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 200000);
  assert_in_range(fread(text, 1, 199999, file), 1000, 199998);
  fclose(file);
  unlink(path);
  assert_int_equal(rmdir(folder), 0);

  int depth = 0, elements = 0;
  for (const char* s = text; *s; ++s) {
    if (*s == '&') assert_non_null(memchr(s, ';', 7));
    if (*s != '<') continue;
    const char* end = strchr(s, '>');
    assert_non_null(end);
    assert_null(memchr(s + 1, '<', (size_t)(end - s - 1)));
    ++elements;
    if (s[1] == '/') {
      --depth;
    } else if (s[1] != '?' && end[-1] != '/') {
      ++depth;
    }
    assert_true(depth >= 0);
    s = end;
  }
  assert_int_equal(depth, 0);
  assert_at_least(elements, 20);
  assert_non_null(strstr(text, "a &lt; b &amp; &quot;c&quot;"));
  assert_non_null(strstr(text, "stroke-dasharray"));
  free(text);
}

static void plots_that_cannot_be_drawn_say_why(void** state) {
  (void)state;
  yw_error error = {0};
  yw_image image;
  yw_plot plot = yw_default_plot();
  plot.y.log = true;
  plot.y.low = 0;
  assert_int_equal(yw_plot_draw(&plot, NULL, &image, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "logarithmic"));
  assert_null(image.pixels);
  plot = yw_default_plot();
  assert_int_equal(yw_plot_write("plot.jpg", &plot, NULL, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, ".svg"));
  assert_int_equal(yw_plot_write("/nowhere/plot.svg", &plot, NULL, &error), YW_ERR_IO);
  plot.width = 10;
  assert_int_equal(yw_plot_draw(&plot, NULL, &image, &error), YW_ERR_INVALID);
  // No data at all is an empty frame, not an error.
  plot = yw_default_plot();
  assert_int_equal(yw_plot_draw(&plot, NULL, &image, &error), YW_OK);
  yw_image_free(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_is_where_its_data_is),
      cmocka_unit_test(gaps_in_the_data_are_gaps_in_the_line),
      cmocka_unit_test(ticks_are_round_numbers_inside_the_range),
      cmocka_unit_test(svg_files_are_well_formed),
      cmocka_unit_test(plots_that_cannot_be_drawn_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
