// SPDX-License-Identifier: MIT
#include "server/audience.h"

#include <stdio.h>
#include <string.h>

#include "server/wire.h"
#include "yawara/extend/memory.h"

int32_t audience_count(const audience* a) {
  int32_t count = 0;
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) count += a->people[i].viewer != 0;
  return count;
}

onlooker* audience_find(audience* a, uint32_t viewer) {
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    if (a->people[i].viewer == viewer) return &a->people[i];
  }
  return NULL;
}

onlooker* audience_add(audience* a, uint32_t viewer) {
  onlooker* free_place = audience_find(a, 0);
  if (free_place)
    *free_place = (onlooker){.viewer = viewer, .ready = true, .stale = true, .wanted = -1};
  return free_place;
}

void audience_free(audience* a) { text_free(&a->bytes); }

void audience_mark_stale(audience* a) {
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) a->people[i].stale = true;
}

void audience_open(audience* a, uint32_t viewer, const char* own) {
  core* c = a->core;
  text* t = &a->bytes;
  text_clear(t);
  const char* scene = core_scene_json(c);
  text_add(t, "{\"say\":\"opened\",\"scene\":%s,\"own\":%s,\"warning\":", scene, own);
  text_add_string(t, c->message.message);
  text_add(t, "}");
  uint32_t head[2] = {WIRE_OPENED, (uint32_t)t->size};
  while (t->size % 4 != 0) text_add_bytes(t, "", 1);
  text_add_bytes(t, c->arrays.data, c->arrays.size);
  if (t->failed) return;
  message opened = message_create(true, head, sizeof head, t->data, t->size);
  mailbox_open(a->mail, viewer, &opened);
}

void audience_report(audience* a, uint32_t viewer, const char* report) {
  text* t = &a->bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"report\",\"memory\":0,\"report\":%s}", report);
  if (t->failed) return;
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    uint32_t one = a->people[i].viewer;
    if (one && (viewer == 0 || viewer == one)) mailbox_report(a->mail, one, t->data);
  }
}

void audience_send_examples(audience* a, uint32_t viewer, int32_t body) {
  if (body >= a->core->shown->num_bodies) return;
  text* t = &a->bytes;
  text_clear(t);
  int32_t count = 0, num_vertices = 0;
  const float* surface;
  while ((surface = core_example_surface(a->core, body, count, &num_vertices))) {
    int32_t words = 6 * num_vertices;
    text_add_bytes(t, &words, sizeof words);
    text_add_bytes(t, surface, sizeof *surface * (size_t)words);
    ++count;
  }
  int32_t head[3] = {WIRE_EXAMPLES, body, count};
  message examples = message_create(true, head, sizeof head, t->data, t->size);
  if (!t->failed) mailbox_send(a->mail, viewer, &examples);
  message_free(&examples);
}

void onlooker_wish(onlooker* who, const viewer_command* c) {
  if (c->kind == COMMAND_FIELD) memcpy(who->field, c->key, sizeof who->field);
  if (c->kind == COMMAND_INSIDE) {
    who->inside = (c->contacts ? CORE_CONTACTS : 0u) | (c->axes ? CORE_AXES : 0u) |
                  (c->cut ? CORE_CUT : 0u) | (c->skins ? CORE_SKINS : 0u) |
                  (c->slaves ? CORE_SLAVES : 0u);
    who->cut_normal = c->normal;
    who->cut_offset = c->offset;
  }
  who->stale = true;
}

void audience_show(audience* a, onlooker* to) {
  core* c = a->core;
  core_show_field(c, to->field);
  core_look_inside(c, to->inside, to->cut_normal, to->cut_offset);
  to->ready = to->stale = false;
  if (core_take_frame(c) < 0) {
    audience_say_failed(a, to->viewer, c->message.message);
    return;
  }
  bool* whole = YW_NEW_ARRAY(NULL, bool, c->shown->num_bodies);
  if (!whole) return;
  // Colours belong to balls by their number, so none may be missing.
  for (int32_t i = 0; i < c->shown->num_bodies; ++i) whole[i] = c->shown->bodies[i].num_colors > 0;
  wire_make_frame(&a->bytes, c->words, c->num_words, whole);
  yw_mem_free(NULL, whole);
  message frame = message_create(true, a->bytes.data, a->bytes.size, NULL, 0);
  if (!a->bytes.failed) mailbox_show(a->mail, to->viewer, &frame);
  message_free(&frame);
}

void audience_say_flag(audience* a, uint32_t viewer, const char* what, bool on) {
  char json[64];
  snprintf(json, sizeof json, "{\"say\":\"%s\",\"on\":%s}", what, on ? "true" : "false");
  mailbox_say(a->mail, viewer, 0, json);
}

void audience_say_failed(audience* a, uint32_t viewer, const char* why) {
  text* t = &a->bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"failed\",\"message\":");
  text_add_string(t, why);
  text_add(t, "}");
  if (!t->failed) mailbox_say(a->mail, viewer, 0, t->data);
}
