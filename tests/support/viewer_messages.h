// SPDX-License-Identifier: MIT
// Messages that the page sends to yawara view, to be damaged.
#ifndef YW_TESTS_SUPPORT_VIEWER_MESSAGES_H
#define YW_TESTS_SUPPORT_VIEWER_MESSAGES_H

#include "server/viewer_command.h"
#include "support/testing.h"

static const char* const messages[] = {
    "{\"do\":\"play\",\"on\":true}",
    "{\"do\":\"step\"}",
    "{\"do\":\"speed\",\"factor\":0.25}",
    "{\"do\":\"grab\",\"body\":1,\"at\":[0.5,-1e-3,2]}",
    "{\"do\":\"drag\",\"to\":[0.5,-1e-3,2]}",
    "{\"do\":\"pin\",\"body\":0,\"at\":[1,2,3]}",
    "{\"do\":\"field\",\"name\":\"speed\"}",
    "{\"do\":\"set\",\"body\":2,\"key\":\"beta\",\"value\":\"0.5\"}",
    "{\"do\":\"settings\",\"body\":0}",
    ("{\"do\":\"open\",\"until\":-1,\"changes\":[{\"path\":\"bodies[0].fem.material\",\"value\":"
     "\"\\\"stvk\\\"\"}]}"),
    "{\"do\":\"frame\",\"number\":37}",
    "{\"do\":\"drawn\"}",
    ("{\"do\":\"inside\",\"contacts\":true,\"axes\":false,\"cut\":true,\"skins\":true,"
     "\"slaves\":false,\"normal\":[1,0,0],\"offset\":-0.5}"),
    "{\"do\":\"examples\",\"body\":0}",
    "{\"do\":\"pose-begin\",\"body\":0,\"example\":-1}",
    ("{\"do\":\"pose-hold\",\"grip\":{\"at\":[0,1,2],\"radius\":0.1,\"brush\":false,\"strength\":0."
     "7,"
     "\"falloff\":1.5,\"mirror\":true}}"),
    ("{\"do\":\"pose-move\",\"id\":3,\"motion\":{\"offset\":[0,1,0],\"turn\":[0,0,0,1],"
     "\"scale\":1.5}}"),
    "{\"do\":\"pose-act\",\"what\":\"bake\",\"id\":0}",
    "{\"do\":\"pose-deform\",\"amounts\":[0,0,0,0,0,0.5,0,0],\"axis\":[0,1,0]}",
    "{\"do\":\"paint-begin\",\"body\":0,\"whole\":true}",
    "{\"do\":\"paint-dab\",\"at\":[0,0,0],\"radius\":1e9,\"value\":127.5,\"softness\":0}",
    "{\"do\":\"paint-line\",\"from\":[0,0,0],\"to\":[1,0,0],\"first\":0,\"second\":255}",
    "{\"do\":\"paint-take\"}",
};
enum { NUM_MESSAGES = sizeof messages / sizeof messages[0] };

/// What the engines rely on.
static inline void check_bounds(const viewer_command* c) {
  assert_in_range(c->kind, COMMAND_PLAY, COMMAND_PAINT_END);
  assert_true(c->body >= 0 && c->body <= 1000000000);
  assert_true(c->frame >= -1 && c->frame <= 1000000000);
  assert_true(c->factor >= 0.0f && c->factor <= 10.0f);
  assert_true(fabsf(c->at.x) <= 1e9f && fabsf(c->at.y) <= 1e9f && fabsf(c->at.z) <= 1e9f);
  assert_true(fabsf(c->normal.x) <= 1e9f && fabsf(c->offset) <= 1e9f);
  assert_true(c->example >= -1 && c->id >= 0 && c->action >= 0 && c->action <= 3);
  assert_true(fabsf(c->grip.at.x) <= 1e9f && c->grip.strength >= 0.0f && c->grip.strength <= 1.0f);
  assert_true(fabsf(c->motion.offset.x) <= 1e9f && c->motion.scale <= 1e3f);
  assert_true(c->radius >= 0.0f && c->first >= 0.0f && c->first <= 255.0f);
  assert_non_null(memchr(c->key, 0, sizeof c->key));
  assert_non_null(memchr(c->value, 0, sizeof c->value));
  assert_non_null(memchr(c->changes, 0, sizeof c->changes));
  // No value can name a file.
  assert_null(strpbrk(c->value, "/\\"));
  for (const char* line = c->changes; *line; line = strchr(line, '\n') + 1) {
    const char* tab = strchr(line, '\t');
    assert_non_null(strchr(line, '\n'));
    assert_true(tab && tab < strchr(line, '\n'));
    for (const char* at = tab; at < strchr(line, '\n'); ++at) assert_true(*at != '/');
  }
}

#endif
