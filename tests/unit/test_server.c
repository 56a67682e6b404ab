// SPDX-License-Identifier: MIT
// yawara view: what waits for viewers, frames in few bytes, and which requests are answered.
#include "frame_layout.h"
#include "server/mailbox.h"
#include "server/request.h"
#include "server/thin.h"
#include "server/wire.h"
#include "support/testing.h"

// Mailboxes ---------------------------------------------------------------------------------------

static int num_wakes;
static void count_wake(void* context) {
  (void)context;
  ++num_wakes;
}

static void show_number(mailbox* m, uint32_t viewer, const char* number) {
  message frame = message_create(true, number, strlen(number), NULL, 0);
  mailbox_show(m, viewer, &frame);
  assert_null(frame.memory);
}

static void assert_next(mailbox* m, uint32_t viewer, const char* wanted) {
  message next = mailbox_take(m, viewer);
  if (!wanted) {
    assert_null(next.memory);
    return;
  }
  assert_non_null(next.memory);
  assert_int_equal(next.size, strlen(wanted));
  assert_memory_equal(next.memory + MAILBOX_ROOM, wanted, next.size);
  message_free(&next);
}

// However many frames are made, the newest is sent, after what was said.
static void frames_do_not_queue_up(void** state) {
  (void)state;
  mailbox* m = mailbox_create(count_wake, NULL);
  uint32_t viewer = mailbox_join(m);
  show_number(m, viewer, "1");
  mailbox_say(m, 0, 0, "first");
  show_number(m, viewer, "2");
  mailbox_report(m, viewer, "old");
  mailbox_report(m, viewer, "new");
  mailbox_say(m, viewer, 0, "second");
  show_number(m, viewer, "3");
  assert_int_equal(num_wakes, 7);
  assert_next(m, viewer, "first");
  assert_next(m, viewer, "second");
  assert_next(m, viewer, "new");
  assert_next(m, viewer, "3");
  assert_next(m, viewer, NULL);
  mailbox_destroy(m);
}

// A frame of the scene before is never sent after the next scene has opened.
static void opening_drops_the_frame(void** state) {
  (void)state;
  mailbox* m = mailbox_create(count_wake, NULL);
  uint32_t viewer = mailbox_join(m);
  show_number(m, viewer, "old frame");
  message opened = message_create(true, "ope", 3, "ned", 3);
  mailbox_open(m, viewer, &opened);
  assert_next(m, viewer, "opened");
  assert_next(m, viewer, NULL);
  mailbox_destroy(m);
}

static void viewers_have_their_own_messages(void** state) {
  (void)state;
  mailbox* m = mailbox_create(count_wake, NULL);
  uint32_t one = mailbox_join(m), other = mailbox_join(m);
  assert_int_not_equal(one, other);
  mailbox_say(m, 0, one, "for the others");
  mailbox_say(m, one, 0, "for one");
  assert_next(m, one, "for one");
  assert_next(m, other, "for the others");
  mailbox_leave(m, one);
  show_number(m, one, "for nobody");
  assert_next(m, one, NULL);
  for (int i = 1; i < MAILBOX_MAX_VIEWERS; ++i) assert_int_not_equal(mailbox_join(m), 0);
  assert_int_equal(mailbox_join(m), 0);
  mailbox_destroy(m);
}

// A viewer that takes nothing is let go; one that sends without end is not listened to.
static void nothing_grows_without_end(void** state) {
  (void)state;
  mailbox* m = mailbox_create(count_wake, NULL);
  uint32_t viewer = mailbox_join(m);
  for (int i = 0; i < 1000; ++i) mailbox_say(m, viewer, 0, "again");
  assert_true(mailbox_is_overdue(m, viewer));
  viewer_command play = {.kind = COMMAND_PLAY, .viewer = viewer};
  int taken = 0;
  while (taken < 100000 && mailbox_send_command(m, &play)) ++taken;
  assert_in_range(taken, 16, 1000);
  // Its going is still heard of.
  mailbox_leave(m, viewer);
  viewer_command last = {0};
  for (viewer_command next; mailbox_next(m, 0.0, &next);) last = next;
  assert_int_equal(last.kind, COMMAND_LEAVE);
  assert_int_equal(last.viewer, viewer);
  mailbox_destroy(m);
}

// A hand moves faster than a heavy scene steps: of its places only the last counts.
static void drags_replace_each_other(void** state) {
  (void)state;
  mailbox* m = mailbox_create(count_wake, NULL);
  uint32_t viewer = mailbox_join(m);
  viewer_command c = {.kind = COMMAND_GRAB, .viewer = viewer}, next;
  mailbox_send_command(m, &c);
  for (int i = 1; i <= 1000; ++i) {
    c = (viewer_command){.kind = COMMAND_DRAG, .viewer = viewer, .at = {(float)i, 0, 0}};
    assert_true(mailbox_send_command(m, &c));
  }
  assert_true(mailbox_next(m, 0.0, &next) && next.kind == COMMAND_JOIN);
  assert_true(mailbox_next(m, 0.0, &next) && next.kind == COMMAND_GRAB);
  assert_true(mailbox_next(m, 0.0, &next) && next.kind == COMMAND_DRAG);
  assert_float_equal(next.at.x, 1000.0f, 0.0f);
  assert_false(mailbox_next(m, 0.0, &next));
  mailbox_destroy(m);
}

// Frames ------------------------------------------------------------------------------------------

enum { COUNT = 500, FRONT = HEADER_WORDS + BODY_WORDS, WORDS = FRONT + 7 * COUNT };

// Of frame 7, with one body.
static void put_front(float* words, int32_t count, int32_t parts) {
  int32_t head[FRONT] = {1, 0, 0, 0, 7};
  head[HEADER_WORDS] = FRONT;
  head[HEADER_WORDS + 1] = count;
  head[HEADER_WORDS + 2] = parts;
  memcpy(words, head, sizeof head);
}

// A body with a surface and a field.
static void make_words(float words[WORDS]) {
  put_front(words, COUNT, PART_SURFACE | PART_VALUES);
  uint32_t seed = 1;
  for (int i = FRONT; i < WORDS; ++i) {
    seed = seed * 1664525u + 1013904223u;
    words[i] = 3.0f * (float)(seed >> 8) / 16777216.0f - 1.0f;
  }
  for (int i = 0; i < COUNT; ++i) {
    float* n = words + FRONT + 3 * COUNT + 3 * i;
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; ++k) n[k] /= length;
  }
  words[FRONT + 6 * COUNT] = NAN;
}

static const unsigned char* check_positions(const unsigned char* at, const float* positions) {
  float scale[6];
  memcpy(scale, at, sizeof scale);
  at += sizeof scale;
  for (int i = 0; i < 3 * COUNT; ++i, at += 2) {
    uint16_t number;
    memcpy(&number, at, sizeof number);
    float found = scale[i % 3] + scale[3 + i % 3] * (float)number;
    // Half a step, and the rounding of numbers below 2.
    assert_float_equal(found, positions[i], 0.5 * 3.0 / 65534.0 + 2.4e-7);
  }
  return at;
}

static void check_normals(const int8_t* pairs, const float* normals) {
  for (int i = 0; i < COUNT; ++i) {
    float x = (float)pairs[2 * i] / 127.0f, y = (float)pairs[2 * i + 1] / 127.0f;
    float z = 1.0f - fabsf(x) - fabsf(y);
    if (z < 0.0f) {
      float folded = copysignf(1.0f - fabsf(y), x);
      y = copysignf(1.0f - fabsf(x), y);
      x = folded;
    }
    const float* n = normals + 3 * i;
    float length = sqrtf(x * x + y * y + z * z);
    // Neighbours in the square are at most 1/127 apart, which the octahedron stretches by less than
    // 2.5: 1.2 degrees.
    assert_true((x * n[0] + y * n[1] + z * n[2]) / length > cosf(0.021f));
  }
}

// Positions to half a step of 1/65534 of the box, normals to 1.2 degrees, values to half a step;
// what is not a number stays none.
static void frames_keep_what_is_seen(void** state) {
  (void)state;
  static float words[WORDS];
  make_words(words);
  text out = {0};
  wire_make_frame(&out, words, WORDS, &(bool){false});
  assert_false(out.failed);
  size_t data = 4 + 4 * FRONT;
  assert_int_equal(out.size, data + 24 + 6 * COUNT + 2 * COUNT + 8 + 2 * COUNT);
  const unsigned char* at = (const unsigned char*)out.data + data;
  at = check_positions(at, words + FRONT);
  check_normals((const int8_t*)at, words + FRONT + 3 * COUNT);
  float scale[2];
  memcpy(scale, at + 2 * COUNT, sizeof scale);
  for (int i = 0; i < COUNT; ++i) {
    uint16_t number;
    memcpy(&number, at + 2 * COUNT + 8 + 2 * i, sizeof number);
    float value = words[FRONT + 6 * COUNT + i];
    if (i == 0) {
      assert_int_equal(number, UINT16_MAX);
    } else {
      assert_float_equal(scale[0] + scale[1] * (float)number, value, 0.5 * 3.0 / 65534.0 + 2.4e-7);
    }
  }
  text_free(&out);
}

// Balls of a lattice, moved at random by up to 0.4 radii, as matter that has flowed is.
enum { SIDE = 40, BALLS = SIDE * SIDE * SIDE };
static float balls[4 * BALLS];

static void make_balls(void) {
  test_random random = {3};
  for (int i = 0; i < BALLS; ++i) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    for (int k = 0; k < 3; ++k) {
      balls[3 * i + k] = (float)at[k] + (float)test_random_in(&random, -0.2, 0.2);
    }
    balls[3 * BALLS + i] = 0.5f;
  }
}

// The outer layer is kept, and less than three layers in all.
static void hidden_balls_are_left_out(void** state) {
  (void)state;
  static int32_t kept[BALLS];
  static bool is_kept[BALLS];
  make_balls();
  int32_t count = thin_balls(balls, balls + 3 * BALLS, BALLS, kept), missing = 0;
  for (int32_t i = 0; i < count; ++i) is_kept[kept[i]] = true;
  for (int i = 0; i < BALLS; ++i) {
    const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
    bool outer = false;
    for (int k = 0; k < 3; ++k) outer |= at[k] < 1 || at[k] >= SIDE - 1;
    missing += outer && !is_kept[i];
  }
  assert_int_equal(missing, 0);
  // Three layers would be 40^3 - 34^3.
  assert_at_most(count, SIDE * SIDE * SIDE - (SIDE - 6) * (SIDE - 6) * (SIDE - 6));
  // Far apart, none hides another.
  for (int i = 0; i < 3 * BALLS; ++i) balls[i] *= 10.0f;
  assert_int_equal(thin_balls(balls, balls + 3 * BALLS, BALLS, kept), BALLS);
}

// The frame says how many balls it has, and positions are those of the kept ones.
static void heavy_frames_are_thinned(void** state) {
  (void)state;
  enum { DATA = FRONT + 4 * BALLS };
  static float words[DATA];
  make_balls();
  put_front(words, BALLS, PART_PARTICLES);
  memcpy(words + FRONT, balls, sizeof balls);
  text thin = {0}, whole = {0};
  wire_make_frame(&thin, words, DATA, &(bool){false});
  wire_make_frame(&whole, words, DATA, &(bool){true});
  int32_t count;
  memcpy(&count, thin.data + 4 + 4 * (HEADER_WORDS + 1), sizeof count);
  assert_in_range(count, 1, BALLS - 1);
  size_t positions = 24 + ((size_t)6 * count + 3) / 4 * 4,
         radii = 8 + ((size_t)2 * count + 3) / 4 * 4;
  assert_int_equal(thin.size, 4 + 4 * FRONT + positions + radii);
  assert_int_equal(whole.size, 4 + 4 * FRONT + 24 + 6 * BALLS + 8 + 2 * BALLS);
  // The first ball is at a corner: the same numbers in both.
  assert_memory_equal(thin.data + 4 + 4 * FRONT, whole.data + 4 + 4 * FRONT, 30);
  text_free(&thin);
  text_free(&whole);
}

// Requests ----------------------------------------------------------------------------------------

static void tokens_differ_and_are_needed(void** state) {
  (void)state;
  char one[REQUEST_TOKEN_DIGITS + 1], other[REQUEST_TOKEN_DIGITS + 1], path[64];
  assert_true(request_make_token(one) && request_make_token(other));
  assert_int_equal(strlen(one), REQUEST_TOKEN_DIGITS);
  assert_string_not_equal(one, other);
  snprintf(path, sizeof path, "/%s/page.js", one);
  assert_string_equal(request_part(path, one), "page.js");
  assert_null(request_part(path, other));
  for (size_t i = 0; i <= REQUEST_TOKEN_DIGITS + 1; ++i) {
    char cut[64];
    snprintf(cut, sizeof cut, "%.*s", (int)i, path);
    assert_null(request_part(cut, one));
  }
  path[REQUEST_TOKEN_DIGITS] ^= 1;
  assert_null(request_part(path, one));
}

static void names_stay_in_the_folder(void** state) {
  (void)state;
  static const char* const good[] = {"index.html", "core/core_threads.js", "a-b_c.1.css"};
  static const char* const bad[] = {"",     "/",    "/etc/passwd", "..",   "a/../b",
                                    "a//b", "a/",   ".git/c",      "a/.b", "a\\b",
                                    "a b",  "a%2e", "a?b",         "a:b",  "\xc3\xa4"};
  for (size_t i = 0; i < 3; ++i) assert_true(request_is_safe_file(good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    if (request_is_safe_file(bad[i])) fail_msg("\"%s\" is called safe", bad[i]);
  }
}

static void only_own_pages_ask(void** state) {
  (void)state;
  assert_true(request_is_own_host("127.0.0.1:80", 80, true));
  assert_true(request_is_own_host("LocalHost:8000", 8000, true));
  assert_true(request_is_own_host("[::1]:8000", 8000, true));
  static const char* const others[] = {"",
                                       ":80",
                                       "example.com:80",
                                       "127.0.0.1",
                                       "127.0.0.1:8",
                                       "127.0.0.1:800",
                                       "127.0.0.1.example.com:80",
                                       "localhost:80:80"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    assert_false(request_is_own_host(others[i], 80, true));
  }
  assert_true(request_is_own_host("example.com:80", 80, false));
  assert_false(request_is_own_host("example.com:81", 80, false));
  assert_true(request_is_own_origin("http://127.0.0.1:80", "127.0.0.1:80"));
  assert_false(request_is_own_origin("https://127.0.0.1:80", "127.0.0.1:80"));
  assert_false(request_is_own_origin("http://127.0.0.1:80.example.com", "127.0.0.1:80"));
  assert_false(request_is_own_origin("null", "127.0.0.1:80"));
  assert_false(request_is_own_origin("", ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_do_not_queue_up),
      cmocka_unit_test(opening_drops_the_frame),
      cmocka_unit_test(viewers_have_their_own_messages),
      cmocka_unit_test(nothing_grows_without_end),
      cmocka_unit_test(drags_replace_each_other),
      cmocka_unit_test(frames_keep_what_is_seen),
      cmocka_unit_test(hidden_balls_are_left_out),
      cmocka_unit_test(heavy_frames_are_thinned),
      cmocka_unit_test(tokens_differ_and_are_needed),
      cmocka_unit_test(names_stay_in_the_folder),
      cmocka_unit_test(only_own_pages_ask),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
