// SPDX-License-Identifier: MIT
// A scene that the program simulates, in real time if it can.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/audience.h"
#include "server/engine.h"
#include "server/scene_guard.h"
#include "server/workbench.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/timer.h"

// How often numbers are sent, s.
#define REPORT_EVERY 0.1
// The most that is caught up after a pause of the machine, s.
#define MAX_LAG 0.1
// Without anything to do.
#define LONG_WAIT 1.0

typedef struct live {
  const engine_def* def;
  core* core;
  audience audience;
  char* text;  // of the scene, as a viewer has edited it; NULL: as the program was started with it
  text own;    // name, text and changes of the scene, as JSON
  text schema;
  workbench bench;
  bool playing;
  float speed;
  int32_t until;  // runs to this frame without waiting; -1: none
  double owed;    // frames, at last_time
  double last_time, last_report;
  uint32_t holder;  // the viewer that holds something; 0: nobody
} live;

// Opening -----------------------------------------------------------------------------------------

static const char* text_of(const live* l) { return l->text ? l->text : l->def->text; }

static void describe_own(live* l, const char* changes) {
  text* t = &l->own;
  text_clear(t);
  text_add(t, "{\"name\":");
  text_add_string(t, l->def->name);
  text_add(t, ",\"text\":");
  text_add_string(t, text_of(l));
  text_add(t, ",\"changes\":[");
  for (const char *line = changes, *end; *line; line = end + 1) {
    char path[256], value[256];
    const char* tab = strchr(line, '\t');
    end = strchr(line, '\n');
    if (!tab || !end || tab > end) break;
    snprintf(path, sizeof path, "%.*s", (int)(tab - line), line);
    snprintf(value, sizeof value, "%.*s", (int)(end - tab - 1), tab + 1);
    text_add(t, "%s{\"path\":", line == changes ? "" : ",");
    text_add_string(t, path);
    text_add(t, ",\"value\":");
    text_add_string(t, value);
    text_add(t, "}");
  }
  text_add(t, "]}");
}

static void tell_progress(void* context, const char* what, double share) {
  live* l = context;
  text* t = &l->audience.bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"progress\",\"what\":");
  text_add_string(t, what);
  text_add(t, ",\"share\":%.3f}", share);
  double now = yw_seconds();
  if (now - l->last_report < REPORT_EVERY || t->failed) return;
  l->last_report = now;
  mailbox_say(l->audience.mail, 0, 0, t->data);
}

static void set_playing(live* l, bool on) {
  l->playing = on;
  l->owed = 0.0;
  l->last_time = yw_seconds();
  audience_say_flag(&l->audience, 0, "paused", !on);
}

static void tell_report(live* l, uint32_t viewer) {
  audience_report(&l->audience, viewer, core_report_json(l->core));
}

static void show_opened(live* l, onlooker* to) {
  audience_open(&l->audience, to->viewer, l->own.data);
  audience_say_flag(&l->audience, to->viewer, "paused", !l->playing);
  tell_report(l, to->viewer);
  to->stale = true;
}

// Builds the scene again with other values, or as a viewer has edited it.
static void open_scene(live* l, viewer_command* by) {
  yw_error error = {0};
  if (by->load && scene_guard_check(l->def->text, by->load, &error) < 0) {
    audience_say_failed(&l->audience, by->viewer, error.message);
    return;
  }
  if (core_open(l->core, l->def->path, by->load ? by->load : text_of(l), by->changes) < 0) {
    audience_say_failed(&l->audience, by->viewer, l->core->message.message);
    return;
  }
  if (by->load) {
    yw_mem_free(NULL, l->text);
    l->text = by->load;
    by->load = NULL;
  }
  l->bench = (workbench){0};
  l->holder = 0;
  l->until = by->frame;
  describe_own(l, by->changes);
  set_playing(l, l->until < 0);
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    onlooker* to = &l->audience.people[i];
    if (to->viewer) show_opened(l, to);
  }
}

// Commands ----------------------------------------------------------------------------------------

static void join(live* l, uint32_t viewer) {
  onlooker* to = audience_add(&l->audience, viewer);
  if (!to) return;
  text* t = &l->audience.bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"started\",\"threads\":%d,\"schema\":", yw_tasks_workers(l->core->tasks));
  text_add_string(t, l->schema.data ? l->schema.data : "");
  text_add(t, "}");
  if (!t->failed) mailbox_say(l->audience.mail, viewer, 0, t->data);
  show_opened(l, to);
  if (audience_count(&l->audience) == 1) l->last_time = yw_seconds();
}

static void leave(live* l, uint32_t viewer) {
  onlooker* who = audience_find(&l->audience, viewer);
  if (who) *who = (onlooker){0};
  if (l->holder == viewer) {
    core_release(l->core);
    l->holder = 0;
  }
  if (l->bench.viewer == viewer) {
    workbench_clear(&l->bench, &l->audience);
    audience_mark_stale(&l->audience);
  }
}

// Something else than time has changed what is seen.
static void touch(live* l) {
  audience_mark_stale(&l->audience);
  if (!l->playing) tell_report(l, 0);
}

static void hold(live* l, const viewer_command* c) {
  if (c->kind == COMMAND_PIN) {
    core_pin(l->core, c->body, c->at);
  } else if (c->kind == COMMAND_GRAB && (l->holder == 0 || l->holder == c->viewer)) {
    l->holder = core_grab(l->core, c->body, c->at) >= 0 ? c->viewer : 0;
  } else if (l->holder == c->viewer && c->kind == COMMAND_DRAG) {
    core_drag(l->core, c->at);
  } else if (l->holder == c->viewer && c->kind == COMMAND_RELEASE) {
    core_release(l->core);
    l->holder = 0;
  }
  touch(l);
}

static void tell_settings(live* l, int32_t body, uint32_t viewer, uint32_t but) {
  if (body >= l->core->shown->num_bodies) return;
  text* t = &l->audience.bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"settings\",\"body\":%d,\"rows\":%s}", body,
           core_settings_json(l->core, body));
  if (!t->failed) mailbox_say(l->audience.mail, viewer, but, t->data);
}

static void change_setting(live* l, const viewer_command* c) {
  if (core_set(l->core, c->body, c->key, c->value) < 0) {
    audience_say_failed(&l->audience, c->viewer, l->core->message.message);
    return;
  }
  // The others see it too; whoever moves a slider keeps it.
  tell_settings(l, c->body, 0, c->viewer);
  touch(l);
}

static void restart(live* l) {
  if (core_restart(l->core) < 0) {
    audience_say_failed(&l->audience, 0, l->core->message.message);
  }
  l->bench = (workbench){0};
  l->holder = 0;
  l->owed = 0.0;
  tell_report(l, 0);
  touch(l);
}

static void use_tool(live* l, const viewer_command* c) {
  workbench_obey(&l->bench, &l->audience, c);
  if (l->bench.viewer == c->viewer) {
    if (c->kind == COMMAND_POSE_BEGIN) set_playing(l, true);
    if (c->kind == COMMAND_PAINT_BEGIN) set_playing(l, false);
  }
  touch(l);
}

// While somebody makes a pose or paints, others can look at it from all sides, and that is all.
static bool must_wait(const live* l, const viewer_command* c) {
  bool is_looking = c->kind == COMMAND_FIELD || c->kind == COMMAND_INSIDE ||
                    c->kind == COMMAND_EXAMPLES || c->kind == COMMAND_SETTINGS ||
                    c->kind == COMMAND_DRAG || c->kind == COMMAND_RELEASE;
  return l->bench.viewer != 0 && l->bench.viewer != c->viewer && !is_looking;
}

static void steer(live* l, const viewer_command* c, onlooker* who) {
  switch (c->kind) {
    case COMMAND_PLAY:
      l->until = -1;
      set_playing(l, c->on);
      break;
    case COMMAND_STEP:
      set_playing(l, false);
      core_step(l->core);
      touch(l);
      break;
    case COMMAND_RESTART:
      restart(l);
      break;
    case COMMAND_SPEED:
      l->speed = c->factor;
      break;
    case COMMAND_FIELD:
    case COMMAND_INSIDE:
      onlooker_wish(who, c);
      break;
    case COMMAND_EXAMPLES:
      audience_send_examples(&l->audience, c->viewer, c->body);
      break;
    case COMMAND_SET:
      change_setting(l, c);
      break;
    case COMMAND_SETTINGS:
      tell_settings(l, c->body, c->viewer, 0);
      break;
    case COMMAND_GRAB:
    case COMMAND_DRAG:
    case COMMAND_RELEASE:
    case COMMAND_PIN:
      hold(l, c);
      break;
    default:
      break;
  }
}

static void obey(live* l, viewer_command* c) {
  if (c->kind == COMMAND_JOIN) {
    join(l, c->viewer);
    return;
  }
  onlooker* who = audience_find(&l->audience, c->viewer);
  if (!who) return;
  if (c->kind == COMMAND_LEAVE) {
    leave(l, c->viewer);
  } else if (c->kind == COMMAND_DRAWN) {
    who->ready = true;
  } else if (must_wait(l, c)) {
    audience_say_failed(&l->audience, c->viewer,
                        "somebody else is making a pose or paints; wait for them");
  } else if (c->kind == COMMAND_OPEN) {
    open_scene(l, c);
  } else if (workbench_is_tool(c->kind)) {
    use_tool(l, c);
  } else {
    steer(l, c, who);
  }
}

// Time --------------------------------------------------------------------------------------------

static bool is_running(const live* l) {
  return (l->playing || l->until >= 0) && audience_count(&l->audience) > 0;
}

static double frame_rate(const live* l) { return (double)(l->core->info.fps * l->speed); }

// Seconds until the next frame is due.
static double time_left(const live* l) {
  if (!is_running(l)) return LONG_WAIT;
  if (l->until >= 0) return 0.0;
  double owed = l->owed + fmin(yw_seconds() - l->last_time, MAX_LAG) * frame_rate(l);
  if (owed >= 1.0) return 0.0;
  return frame_rate(l) > 0.0 ? fmin((1.0 - owed) / frame_rate(l), LONG_WAIT) : LONG_WAIT;
}

static void run_until(live* l) {
  if (l->core->frame < l->until) core_step(l->core);
  audience_mark_stale(&l->audience);
  if (l->core->frame < l->until) return;
  l->until = -1;
  set_playing(l, false);
  tell_report(l, 0);
}

// Steps if a frame is due. A scene too heavy for real time runs as fast as it can, without debts.
static void advance(live* l) {
  if (!is_running(l)) return;
  if (l->until >= 0) {
    run_until(l);
    return;
  }
  double now = yw_seconds();
  l->owed += fmin(now - l->last_time, MAX_LAG) * frame_rate(l);
  l->last_time = now;
  if (l->owed < 1.0) return;
  core_step(l->core);
  l->owed = fmin(l->owed - 1.0, 1.0);
  audience_mark_stale(&l->audience);
  now = yw_seconds();
  if (now - l->last_report < REPORT_EVERY) return;
  l->last_report = now;
  tell_report(l, 0);
}

static void show(live* l) {
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    onlooker* to = &l->audience.people[i];
    if (to->viewer && to->ready && to->stale) audience_show(&l->audience, to);
  }
}

static void add_text(void* context, const char* piece) { text_add(context, "%s", piece); }

void engine_simulate(const engine_def* def) {
  live l = {.def = def, .core = def->core, .speed = 1.0f, .until = -1, .playing = true};
  l.core->progress = tell_progress;
  l.core->progress_context = &l;
  l.audience = (audience){.mail = def->mail, .core = l.core};
  yw_scene_write_schema(add_text, &l.schema);
  describe_own(&l, def->changes);
  while (!mailbox_is_stopped(def->mail)) {
    viewer_command c;
    double wait = time_left(&l);
    while (mailbox_next(def->mail, wait, &c)) {
      obey(&l, &c);
      viewer_command_free(&c);
      wait = 0.0;
    }
    advance(&l);
    show(&l);
  }
  l.core->progress = NULL;
  audience_free(&l.audience);
  text_free(&l.own);
  text_free(&l.schema);
  yw_mem_free(NULL, l.text);
}
