// SPDX-License-Identifier: MIT
// The library of kernels for a device: what is said where there is none, or a wrong one.
#include <stdlib.h>

#include "device/device.h"
#include "support/world_fixture.h"

static void expect(const char* library, const char* first, const char* second) {
  setenv("YAWARA_CUDA_LIBRARY", library, 1);
  yw_error error = {0};
  assert_int_equal(yw_device_check(YW_DEVICE_CUDA, &error), YW_ERR_DEVICE);
  if (!strstr(error.message, first) || !strstr(error.message, second)) {
    fail_msg("%s: \"%s\" lacks \"%s\" or \"%s\"", library, error.message, first, second);
  }
  // Worlds are not made on it either.
  yw_world_def def = yw_default_world_def();
  def.device = YW_DEVICE_CUDA;
  yw_world* world = NULL;
  assert_int_equal(yw_world_create(&def, &world), YW_ERR_DEVICE);
  assert_null(world);
}

static void libraries_that_are_none_are_named(void** state) {
  (void)state;
  expect("missing.so", "missing.so cannot be opened", "set YAWARA_CUDA_LIBRARY");
  // A library without the table of kernels.
  expect("libm.so.6", "libm.so.6 is of another version", "build both together");
}

static void only_known_devices_are_looked_for(void** state) {
  (void)state;
  yw_error error = {0};
  assert_int_equal(yw_device_check(YW_DEVICE_CPU, &error), YW_OK);
  assert_int_equal(yw_device_check((yw_device_kind)7, &error), YW_ERR_INVALID);
  assert_non_null(strstr(error.message, "no such device"));
}

#ifdef YW_LOOPS_LIBRARY
// The one that was opened stays in use.
static void a_library_is_opened_once(void** state) {
  (void)state;
  const yw_device *first = NULL, *second = NULL;
  setenv("YAWARA_CUDA_LIBRARY", YW_LOOPS_LIBRARY, 1);
  assert_int_equal(yw_device_find(YW_DEVICE_CUDA, &first, NULL), YW_OK);
  assert_int_equal(first->interface, YW_DEVICE_INTERFACE);
  setenv("YAWARA_CUDA_LIBRARY", "missing.so", 1);
  assert_int_equal(yw_device_find(YW_DEVICE_CUDA, &second, NULL), YW_OK);
  assert_ptr_equal(first, second);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(libraries_that_are_none_are_named),
      cmocka_unit_test(only_known_devices_are_looked_for),
#ifdef YW_LOOPS_LIBRARY
      cmocka_unit_test(a_library_is_opened_once),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
