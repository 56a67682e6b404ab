// SPDX-License-Identifier: MIT
#include "render/draw/colormap.h"
#include "render/draw/svg.h"

#include "support/testing.h"
#include "yawara/extend/vec.h"

// Linear RGB to Oklab: the inverse of what the map does.
static void oklab_of(yw_vec3 c, double out[3]) {
  double l = cbrt(0.4122214708 * c.x + 0.5363325363 * c.y + 0.0514459929 * c.z);
  double m = cbrt(0.2119034982 * c.x + 0.6806995451 * c.y + 0.1073969566 * c.z);
  double s = cbrt(0.0883024619 * c.x + 0.2817188376 * c.y + 0.6299787005 * c.z);
  out[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
  out[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
  out[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

static void equal_steps_look_equally_far_apart(void** state) {
  (void)state;
  enum { STEPS = 50 };
  double before[3], now[3], least = 1e9, most = 0;
  oklab_of(yw_colormap(0), before);
  for (int i = 1; i <= STEPS; ++i) {
    oklab_of(yw_colormap((float)i / STEPS), now);
    assert_true(now[0] > before[0]);  // larger values are lighter
    double way = sqrt((now[0] - before[0]) * (now[0] - before[0]) +
                      (now[1] - before[1]) * (now[1] - before[1]) +
                      (now[2] - before[2]) * (now[2] - before[2]));
    least = fmin(least, way);
    most = fmax(most, way);
    memcpy(before, now, sizeof now);
  }
  assert_at_most(most / least, 1.12);  // corners of the polyline, and the gamut boundary
}

static void the_ends_stay_and_nan_is_grey(void** state) {
  (void)state;
  yw_vec3 low = yw_colormap(0), high = yw_colormap(1), below = yw_colormap(-5),
          above = yw_colormap(INFINITY), none = yw_colormap(NAN);
  assert_memory_equal(&low, &below, sizeof low);
  assert_memory_equal(&high, &above, sizeof high);
  assert_near(none.x, none.y, 0);
  assert_near(none.y, none.z, 0);
}

static void the_bar_has_the_colours(void** state) {
  (void)state;
  yw_image image = {0};
  yw_error error = {0};
  if (yw_svg_paint_available(&error) < 0) {
    print_message("%s\n", error.message);
    skip();
  }
  assert_int_equal(yw_image_create(NULL, 320, 180, &image, &error), YW_OK);
  yw_image_fill(&image, YW_RGB(0xffffff));
  assert_int_equal(yw_draw_colorbar(&image, "speed (m/s)", 0, 2.5, &error), YW_OK);
  // Down the middle of the bar from the top: yellow gets darker and bluer.
  int32_t x = 320 - 180 / 22 - 8;
  while (x < 320 && image.pixels[3 * (90 * 320 + x)] > 200) ++x;
  assert_in_range(x, 250, 310);
  const uint8_t *top = &image.pixels[3 * (57 * 320 + x)], *low = &image.pixels[3 * (122 * 320 + x)];
  assert_true(top[0] > 180 && top[1] > 180 && top[2] < 120);
  assert_true(low[0] < 100 && low[1] < 80 && low[2] > low[1]);
  yw_image_free(&image);
  // Any size works.
  assert_int_equal(yw_image_create(NULL, 16, 16, &image, &error), YW_OK);
  const char* title = "a title that is much too long for the picture";
  assert_int_equal(yw_draw_colorbar(&image, title, -1e30, 1e30, &error), YW_OK);
  yw_image_free(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_steps_look_equally_far_apart),
      cmocka_unit_test(the_ends_stay_and_nan_is_grey),
      cmocka_unit_test(the_bar_has_the_colours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
