// SPDX-License-Identifier: MIT
#include <locale.h>

#include "render/draw/plot.h"
#include "render/draw/table.h"
#include "support/temporary_folder.h"
#include "yawara/extend/file.h"

static const double NOT = (double)NAN;

static yw_plot plot_of(int32_t count, const yw_series* series) {
  yw_plot plot = yw_default_plot();
  plot.num_series = count;
  plot.series = series;
  return plot;
}

static yw_svg draw(const yw_plot* plot) {
  yw_svg svg;
  yw_error error = {0};
  if (yw_plot_draw(plot, &svg, &error) < 0) fail_msg("%s", error.message);
  return svg;
}

static int count_of(const char* text, const char* word) {
  int count = 0;
  for (; (text = strstr(text, word)); text += strlen(word)) ++count;
  return count;
}

// Tags match, attributes are quoted, and every & starts an entity.
static void assert_well_formed(const char* text) {
  char open[16][24];
  int depth = 0;
  for (const char* s = text; *s; ++s) {
    if (*s == '&') {
      assert_true(strncmp(s, "&amp;", 5) == 0 || strncmp(s, "&lt;", 4) == 0 ||
                  strncmp(s, "&gt;", 4) == 0 || strncmp(s, "&quot;", 6) == 0);
    }
    assert_true((unsigned char)*s >= 32 || *s == '\n');
    assert_true(depth > 0 || *s == '<' || *s == '\n');
    if (*s != '<') continue;
    const char* end = strchr(s, '>');
    assert_non_null(end);
    int quotes = 0;
    for (const char* c = s + 1; c < end; ++c) quotes += *c == '"', assert_true(*c != '<');
    assert_int_equal(quotes % 2, 0);
    char name[24];
    sscanf(s[1] == '/' ? s + 2 : s + 1, "%23[a-zA-Z]", name);
    if (s[1] == '/') {
      assert_true(depth-- > 0);
      assert_string_equal(name, open[depth]);
    } else if (end[-1] != '/') {
      assert_true(depth < 16);
      strcpy(open[depth++], name);
    }
    s = end;
  }
  assert_int_equal(depth, 0);
}

// SVG ---------------------------------------------------------------------------------------------

static void svg_files_are_well_formed_whatever_the_names(void** state) {
  (void)state;
  double x[3] = {1, 10, 100}, y[3] = {3, 2, 5};
  const yw_series series[] = {
      {"a < b & \"c\"", 3, x, y, YW_SERIES_LINE_POINTS, -1, false},
      {"bad \xff\xc0\x80\xed\xa0\x80 \x01", 3, y, x, YW_SERIES_DASHED, -1, false}};
  yw_plot plot = plot_of(2, series);
  plot.title = "<title> & 'more'";
  plot.x = (yw_axis){"time", "s", true, NOT, NOT};
  plot.y = (yw_axis){"\xce\xb2", "\xc2\xb5s", false, NOT, NOT};
  yw_svg svg = draw(&plot);
  assert_well_formed(svg.text);
  assert_non_null(strstr(svg.text, ">a &lt; b &amp; &quot;c&quot;</text>"));
  assert_non_null(strstr(svg.text, ">&lt;title&gt; &amp; 'more'</text>"));
  assert_non_null(strstr(svg.text, ">bad ?????? ?</text>"));
  assert_non_null(strstr(svg.text, ">time (s)</text>"));
  assert_non_null(strstr(svg.text, ">\xce\xb2 (\xc2\xb5s)</text>"));
  assert_int_equal(count_of(svg.text, "viewBox=\"0 0 800 500\""), 1);
  assert_int_equal(count_of(svg.text, "<rect width=\"800\" height=\"500\" fill=\"#fff\"/>"), 1);
  assert_int_equal(count_of(svg.text, "stroke-dasharray"), 2);  // the line and its mark
  // Checked by xmllint too, if installed.
  yw_error error = {0};
  assert_int_equal(yw_svg_write(in_folder("names.svg"), &svg, &error), YW_OK);
  yw_svg_free(&svg);
  char command[400];
  if (system("command -v xmllint >/dev/null") != 0) {
    print_message("no xmllint (Debian package libxml2-utils): only the checks above\n");
  } else {
    snprintf(command, sizeof command, "xmllint --noout %s", in_folder("names.svg"));
    assert_int_equal(system(command), 0);
  }
}

// A diagonal runs from corner to corner of the plot area.
static void a_line_is_where_its_data_is(void** state) {
  (void)state;
  double x[3] = {0, 5, 10}, y[3] = {0, 2.5, 5};
  const yw_series series = {NULL, 3, x, y, YW_SERIES_LINE, 0, false};
  yw_plot plot = plot_of(1, &series);
  plot.y.low = 0, plot.y.high = 5;
  yw_svg svg = draw(&plot);
  double left, top, bottom, right, p[6];
  const char* axes = strstr(svg.text, "stroke-width=\"1.4\" d=\"");
  assert_non_null(axes);
  assert_int_equal(
      sscanf(axes, "stroke-width=\"1.4\" d=\"M%lf %lfV%lfH%lf", &left, &top, &bottom, &right), 4);
  const char* line = strstr(svg.text, "stroke-linejoin=\"round\" d=\"");
  assert_non_null(line);
  assert_int_equal(sscanf(line, "stroke-linejoin=\"round\" d=\"M%lf %lfL%lf %lfL%lf %lf", &p[0],
                          &p[1], &p[2], &p[3], &p[4], &p[5]),
                   6);
  const double expected[6] = {left, bottom, 0.5 * (left + right), 0.5 * (top + bottom), right, top};
  for (int i = 0; i < 6; ++i) assert_near(p[i], expected[i], 0.006);
  assert_at_least(right - left, 600);
  assert_at_least(bottom - top, 350);
  yw_svg_free(&svg);
}

// NaN interrupts a line; so do values <= 0 on a logarithmic axis.
static void gaps_in_the_data_are_gaps_in_the_line(void** state) {
  (void)state;
  double x[6] = {1, 2, 3, 4, 5, 6}, values[4][6] = {{1, 2, 1, 2, 1, 2},
                                                    {1, 2, NOT, 2, 1, 2},
                                                    {1, 2, -1, 2, 0, 2},
                                                    {1, 2, (double)INFINITY, 2, 1, 2}};
  const int pieces[4] = {1, 2, 3, 2};
  for (int i = 0; i < 4; ++i) {
    const yw_series series = {NULL, 6, x, values[i], YW_SERIES_LINE, 0, false};
    yw_plot plot = plot_of(1, &series);
    plot.y.log = true;
    yw_svg svg = draw(&plot);
    const char* line = strstr(svg.text, "stroke-linejoin=\"round\" d=\"");
    int found = 0;
    for (line = strchr(line, 'd'); *line != '/'; ++line) found += *line == 'M';
    assert_int_equal(found, pieces[i]);
    yw_svg_free(&svg);
  }
}

// Constant, tiny, huge, missing and single values are drawn, every one, with labels on both axes.
static void odd_data_gives_a_drawing(void** state) {
  (void)state;
  const double data[][3] = {{7, 7, 7},
                            {0, 0, 0},
                            {-3, -3, -3},
                            {1e-300, 2e-300, 3e-300},
                            {1e300, 2e300, 3e300},
                            {-1e-12, 0, 1e-12},
                            {NOT, NOT, NOT},
                            {1, 1 + 2e-16, 1},
                            {1e15, 1e15 + 1, 1e15 + 2},
                            {1e-300, 1, 1e300}};
  double x[3] = {1, 2, 3};
  for (size_t i = 0; i < sizeof data / sizeof *data; ++i) {
    for (int32_t k = 0; k < 8; ++k) {
      int32_t count = k % 4;
      const yw_series series = {"y", count, x, data[i], YW_SERIES_LINE_POINTS, -1, false};
      yw_plot plot = plot_of(1, &series);
      plot.y.log = k / 4 && !(data[i][0] <= 0);
      yw_svg svg = draw(&plot);
      assert_well_formed(svg.text);
      assert_int_equal(count_of(svg.text, "nan") + count_of(svg.text, "inf"), 0);
      // One circle is the mark in the legend.
      int32_t points = isnan(data[i][0]) ? 0 : count;
      assert_int_equal(count_of(svg.text, "<circle"), points + 1);
      assert_at_least(count_of(svg.text, "<text"), 1 + 2 + 2);  // legend, two labels per axis
      yw_svg_free(&svg);
    }
  }
}

// A legend that would cover data is placed beside the plot area.
static void legends_hide_no_data(void** state) {
  (void)state;
  enum { N = 200 };
  double x[N], y[N], right[2];
  for (int32_t i = 0; i < N; ++i) x[i] = i, y[i] = (i * 37) % 100;
  for (int k = 0; k < 2; ++k) {
    const yw_series series = {
        "noise that fills everything", k ? N : 2, x, y, YW_SERIES_LINE, 0, false};
    yw_plot plot = plot_of(1, &series);
    yw_svg svg = draw(&plot);
    const char* axes = strstr(svg.text, "stroke-width=\"1.4\" d=\"");
    double legend;
    assert_int_equal(sscanf(axes, "stroke-width=\"1.4\" d=\"M%*f %*fV%*fH%lf", &right[k]), 1);
    const char* box = strstr(axes, "<rect x=\"");
    assert_int_equal(sscanf(box, "<rect x=\"%lf", &legend), 1);
    assert_true(k == 0 ? legend < right[0] : legend > right[1]);
    yw_svg_free(&svg);
  }
  assert_true(right[1] < right[0] - 100);
}

// An integer axis has no ticks between its numbers.
static void counts_have_whole_ticks(void** state) {
  (void)state;
  double x[3] = {1, 2, 3}, half[3] = {1, 1.5, 2};
  for (int k = 0; k < 2; ++k) {
    const yw_series series = {NULL, 3, k ? half : x, x, YW_SERIES_LINE, 0, false};
    yw_plot plot = plot_of(1, &series);
    yw_svg svg = draw(&plot);
    char* end = strstr(svg.text, "</g>");  // of the labels below
    *end = '\0';
    assert_int_equal(count_of(svg.text, "<text"), k ? 11 : 3);
    yw_svg_free(&svg);
  }
}

// Ticks -------------------------------------------------------------------------------------------

static double step_of(const yw_ticks* t) { return t->values[1] - t->values[0]; }

static void linear_ticks_are_round_numbers_inside_the_range(void** state) {
  (void)state;
  const double ranges[][2] = {{0, 1},           {-3.7, 12.2},   {1e-9, 3e-9},   {1e6, 1.0001e6},
                              {0, 97},          {-5e-7, -1e-7}, {-2e30, 7e30},  {-0.05, 0.05},
                              {1e-300, 1e-299}, {99.5, 100.5},  {-1e300, 1e300}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
    for (int32_t wanted = 4; wanted <= 12; ++wanted) {
      double low = ranges[i][0], high = ranges[i][1], slack = 1e-8 * (high - low);
      yw_ticks t;
      yw_plot_ticks(low, high, false, wanted, &t);
      assert_in_range(t.count, wanted / 2.5, wanted + 1);
      double step = step_of(&t), lead = step / pow(10, floor(log10(step) + 1e-9));
      assert_true(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6);
      assert_near(fmod(fabs(t.values[0]) + 0.5 * step, step), 0.5 * step, 1e-3 * step);
      assert_at_least(t.values[0], low - slack);
      assert_at_most(t.values[t.count - 1], high + slack);
      // No tick is missing at either end.
      assert_true(t.values[0] - step < low && t.values[t.count - 1] + step > high);
      for (int32_t k = 1; k < t.count; ++k) {
        assert_near(t.values[k] - t.values[k - 1], step, 1e-6 * step);
        assert_string_not_equal(t.labels[k], t.labels[k - 1]);
      }
    }
  }
}

static void assert_labels(double low, double high, bool log, int32_t wanted, const char* expected) {
  char text[1000] = "";
  yw_ticks t;
  yw_plot_ticks(low, high, log, wanted, &t);
  for (int32_t i = 0; i < t.count; ++i) {
    if (t.labels[i][0]) strcat(strcat(text, text[0] ? " " : ""), t.labels[i]);
  }
  assert_string_equal(text, expected);
}

static void labels_are_short_and_exact(void** state) {
  (void)state;
  assert_labels(0, 1, false, 5, "0 0.2 0.4 0.6 0.8 1.0");
  assert_labels(-0.1, 0.1, false, 4, "−0.10 −0.05 0 0.05 0.10");
  assert_labels(0, 97, false, 5, "0 20 40 60 80");
  assert_labels(1e6, 1000090, false, 5, "1000000 1000020 1000040 1000060 1000080");
  assert_labels(0, 2e6, false, 4, "0 500000 1000000 1500000 2000000");
  assert_labels(0, 4e7, false, 4, "0 1×10⁷ 2×10⁷ 3×10⁷ 4×10⁷");
  assert_labels(1e-9, 3e-9, false, 4, "1.0×10⁻⁹ 1.5×10⁻⁹ 2.0×10⁻⁹ 2.5×10⁻⁹ 3.0×10⁻⁹");
  assert_labels(-2e30, 2e30, false, 4, "−2×10³⁰ −1×10³⁰ 0 1×10³⁰ 2×10³⁰");
  assert_labels(1, 1, false, 6, "");
  assert_labels(NOT, 1, false, 6, "");
  assert_labels(1, (double)INFINITY, false, 6, "");
}

static void logarithmic_ticks_are_powers(void** state) {
  (void)state;
  assert_labels(1, 1e3, true, 6, "1 10 100 1000");
  assert_labels(1, 1e6, true, 7, "10⁰ 10¹ 10² 10³ 10⁴ 10⁵ 10⁶");
  assert_labels(1, 1e6, true, 4, "10⁰ 10² 10⁴ 10⁶");
  assert_labels(30, 480, true, 8, "50 100 200");
  assert_labels(2e-7, 3e-6, true, 8, "2×10⁻⁷ 5×10⁻⁷ 10⁻⁶ 2×10⁻⁶");
  assert_labels(1e-300, 1e300, true, 6, "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 10⁰ 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰");
  // Less than a decade without two round numbers: like a linear axis.
  assert_labels(11, 19, true, 5, "12 14 16 18");
  assert_labels(-1, 10, true, 5, "");
  yw_ticks t;
  yw_plot_ticks(1, 100, true, 6, &t);
  assert_int_equal(t.count, 19);  // with minor ticks
}

// Numbers -----------------------------------------------------------------------------------------

// Every number of the plot is in the file, bit for bit, even in locales with a decimal comma.
static void csv_files_hold_every_number_exactly(void** state) {
  (void)state;
  test_random random = {3};
  enum { N = 50 };
  double x[N], y[2][N], other[3] = {0.1, 1.0 / 3.0, NOT};
  for (int32_t i = 0; i < N; ++i) {
    x[i] = i / 7.0;
    for (int k = 0; k < 2; ++k) y[k][i] = ldexp(test_random_u32(&random), i * 40 - 1000) / 3.0;
  }
  const yw_series series[] = {{"a, \"b\"", N, x, y[0], YW_SERIES_LINE, -1, false},
                              {"c", 3, other, other, YW_SERIES_POINTS, -1, false},
                              {NULL, N, x, y[1], YW_SERIES_LINE, -1, false}};
  yw_plot plot = plot_of(3, series);
  plot.x = (yw_axis){"time", "s", false, NOT, NOT};
  plot.y = (yw_axis){"height", "m", false, NOT, NOT};
  setlocale(LC_ALL, "de_DE.UTF-8");
  yw_error error = {0};
  assert_int_equal(yw_plot_write_csv(in_folder("a.csv"), &plot, &error), YW_OK);
  setlocale(LC_ALL, "C");
  FILE* file = fopen(in_folder("a.csv"), "rb");
  char line[1000];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(
      line, "\"time of a, \"\"b\"\" (s)\",\"a, \"\"b\"\" (m)\",height (m),time of c (s),c (m)\n");
  for (int32_t i = 0; i < N; ++i) {
    assert_non_null(fgets(line, sizeof line, file));
    char* s = line;
    const double expected[3] = {x[i], y[0][i], y[1][i]};
    for (int k = 0; k < 3; ++k, ++s) {
      double value = strtod(s, &s);
      assert_memory_equal(&value, &expected[k], sizeof value);
    }
    const char* const rest[] = {"0.1,0.1\n", NULL, "nan,nan\n", ",\n"};
    if (i != 1) assert_string_equal(s, rest[i < 3 ? i : 3]);
    if (i == 1) assert_true(strtod(s, NULL) == other[1]);
  }
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
}

static void columns_of_a_file_become_a_plot(void** state) {
  (void)state;
  store_text("log.csv",
             "# a comment\r\ntime (s),kinetic energy (J),\"elastic \"\"E\"\", all (J)\",count\r\n"
             "0,1.5,,7\r\n\r\n0.5, 2.5 ,nan,many\r\n1,-1e-3,\"4\",9");
  yw_table table;
  yw_error error = {0};
  assert_int_equal(yw_table_read(in_folder("log.csv"), NULL, &table, &error), YW_OK);
  assert_int_equal(table.num_columns, 4);
  assert_int_equal(table.num_rows, 3);
  assert_string_equal(table.columns[2].name, "elastic \"E\", all");
  assert_string_equal(table.columns[2].unit, "J");
  assert_string_equal(table.columns[3].unit, "");
  assert_true(table.columns[1].values[1] == 2.5 && table.columns[1].values[2] == -1e-3);
  assert_true(isnan(table.columns[2].values[0]) && isnan(table.columns[2].values[1]));
  assert_true(table.columns[2].values[2] == 4 && isnan(table.columns[3].values[1]));

  const char* const names[] = {"kinetic energy", "elastic \"E\", all"};
  yw_table some;
  assert_int_equal(yw_table_read_columns(in_folder("log.csv"), 1, names + 1, &some, &error), YW_OK);
  assert_int_equal(some.num_columns, 4);
  assert_int_equal(some.num_rows, 3);
  assert_true(some.columns[2].values[2] == 4 && isnan(some.columns[2].values[1]));
  assert_null(some.columns[1].values);
  assert_string_equal(some.columns[3].name, "count");
  yw_table_free(&some);
  yw_series series[2];
  yw_plot plot = yw_default_plot();
  assert_int_equal(yw_table_plot(&table, NULL, 2, names, series, &plot, &error), YW_OK);
  yw_svg svg = draw(&plot);
  assert_non_null(strstr(svg.text, ">time (s)</text>"));
  assert_non_null(strstr(svg.text, ">J</text>"));
  assert_non_null(strstr(svg.text, ">elastic &quot;E&quot;, all</text>"));
  yw_svg_free(&svg);
  assert_int_equal(yw_table_plot(&table, "count", 1, names, series, &plot, &error), YW_OK);
  svg = draw(&plot);
  assert_non_null(strstr(svg.text, ">kinetic energy (J)</text>"));
  yw_svg_free(&svg);
  // Errors: a missing column, two units on one axis.
  const char *misspelt = "kinetc energy", *const mixed[] = {"kinetic energy", "count"};
  assert_int_equal(yw_table_plot(&table, NULL, 1, &misspelt, series, &plot, &error),
                   YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "did you mean \"kinetic energy\""));
  assert_int_equal(yw_table_plot(&table, "tme", 1, names, series, &plot, &error), YW_ERR_INVALID);
  assert_int_equal(yw_table_plot(&table, NULL, 2, mixed, series, &plot, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "different units"));
  yw_table_free(&table);
}

static void damaged_tables_are_refused(void** state) {
  (void)state;
  yw_table table;
  yw_error error = {0};
  assert_int_equal(yw_table_read(in_folder("none.csv"), NULL, &table, &error), YW_ERR_IO);
  store_text("bad.csv", "\n# only this\n");
  assert_int_equal(yw_table_read(in_folder("bad.csv"), NULL, &table, &error), YW_ERR_FORMAT);
  const char* const texts[] = {"a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n"};
  for (int i = 0; i < 2; ++i) {
    store_text("bad.csv", texts[i]);
    assert_int_equal(yw_table_read(in_folder("bad.csv"), NULL, &table, &error), YW_ERR_FORMAT);
    assert_non_null(strstr(error.message, "bad.csv:3: "));
    assert_null(table.columns);
  }
  // A quote that is never closed swallows the rest, but nothing beyond the file.
  store_text("bad.csv", "a,b\n1,\"2\n");
  assert_int_equal(yw_table_read(in_folder("bad.csv"), NULL, &table, &error), YW_OK);
  yw_table_free(&table);
}

// Files -------------------------------------------------------------------------------------------

static void a_picture_has_its_size_and_shows_the_line(void** state) {
  (void)state;
  yw_error error = {0};
  double x[2] = {0, 10}, y[2] = {5, 5};
  const yw_series series = {NULL, 2, x, y, YW_SERIES_LINE, 0, false};
  yw_plot plot = plot_of(1, &series);
  plot.width = 300, plot.height = 200;
  if (yw_svg_paint_available(&error) < 0 || yw_png_available(&error) < 0) {
    print_message("%s\n", error.message);
    skip();
  }
  assert_int_equal(yw_plot_write(in_folder("p.png"), &plot, &error), YW_OK);
  yw_image image;
  assert_int_equal(yw_image_read_png(in_folder("p.png"), NULL, &image, &error), YW_OK);
  assert_int_equal(image.width, 600);
  assert_int_equal(image.height, 400);
  int32_t blue = 0, dark = 0, white = 0;
  for (int32_t i = 0; i < image.width * image.height; ++i) {
    const uint8_t* p = &image.pixels[3 * i];
    blue += p[0] == 0x00 && p[1] == 0x72 && p[2] == 0xb2;
    dark += p[0] < 80 && p[1] < 80 && p[2] < 80;
    white += p[0] == 255 && p[1] == 255 && p[2] == 255;
  }
  assert_in_range(blue, 4 * 400, 4 * 560);  // a line of 4 pixels across the plot area
  assert_in_range(dark, 1500, 8000);        // axes and text
  assert_at_least(white, 200000);
  yw_image_free(&image);
  assert_int_equal(access(in_folder("p.svg"), R_OK), 0);
  assert_int_equal(access(in_folder("p.csv"), R_OK), 0);
}

static void plots_that_cannot_be_drawn_say_why(void** state) {
  (void)state;
  yw_error error = {0};
  yw_svg svg;
  yw_plot plot = yw_default_plot();
  plot.y.log = true;
  plot.y.low = 0;
  assert_int_equal(yw_plot_draw(&plot, &svg, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "logarithmic"));
  assert_null(svg.text);
  plot = yw_default_plot();
  assert_int_equal(yw_plot_write("plot.jpg", &plot, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, ".svg"));
  assert_int_equal(yw_plot_write("/nowhere/plot.svg", &plot, &error), YW_ERR_IO);
  plot.width = 10;
  assert_int_equal(yw_plot_draw(&plot, &svg, &error), YW_ERR_INVALID);
  double huge[2] = {-1.5e308, 1.5e308};
  const yw_series series = {NULL, 2, huge, huge, YW_SERIES_LINE, 0, false};
  plot = plot_of(1, &series);
  assert_int_equal(yw_plot_draw(&plot, &svg, &error), YW_ERR_INVALID);
  const yw_series empty = {NULL, 2, NULL, NULL, YW_SERIES_LINE, 0, false};
  plot = plot_of(1, &empty);
  assert_int_equal(yw_plot_draw(&plot, &svg, &error), YW_ERR_INVALID);
  // No data at all gives an empty plot, not an error.
  plot = yw_default_plot();
  svg = draw(&plot);
  assert_well_formed(svg.text);
  yw_svg_free(&svg);
  assert_int_equal(yw_plot_write(in_folder("empty.svg"), &plot, &error), YW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(svg_files_are_well_formed_whatever_the_names),
      cmocka_unit_test(a_line_is_where_its_data_is),
      cmocka_unit_test(gaps_in_the_data_are_gaps_in_the_line),
      cmocka_unit_test(odd_data_gives_a_drawing),
      cmocka_unit_test(legends_hide_no_data),
      cmocka_unit_test(counts_have_whole_ticks),
      cmocka_unit_test(linear_ticks_are_round_numbers_inside_the_range),
      cmocka_unit_test(labels_are_short_and_exact),
      cmocka_unit_test(logarithmic_ticks_are_powers),
      cmocka_unit_test(csv_files_hold_every_number_exactly),
      cmocka_unit_test(columns_of_a_file_become_a_plot),
      cmocka_unit_test(damaged_tables_are_refused),
      cmocka_unit_test(a_picture_has_its_size_and_shows_the_line),
      cmocka_unit_test(plots_that_cannot_be_drawn_say_why),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
