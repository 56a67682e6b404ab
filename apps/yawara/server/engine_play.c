// SPDX-License-Identifier: MIT
// A run on disk, finished or still growing. Every viewer has its own place in it.
#include <stdio.h>
#include <string.h>

#include "server/audience.h"
#include "server/engine.h"
#include "server/run_report.h"
#include "yawara/extend/timer.h"

// How often a run is looked at for new frames, s.
#define LOOK_EVERY 0.5

typedef struct player {
  const engine_def* def;
  core* core;
  audience audience;
  int32_t available;  // number of the last frame on disk
  double last_look;
  yw_table log;  // empty where it cannot be read
  text report;
} player;

static void read_log(player* p) {
  char path[RUN_MAX_PATH + 32];
  yw_error ignored = {0};
  yw_table_free(&p->log);
  p->log = (yw_table){0};
  snprintf(path, sizeof path, "%s/log.csv", p->def->path);
  if (yw_table_read(path, NULL, &p->log, &ignored) < 0) p->log = (yw_table){0};
}

// Frame 0 is there, or the run could not have been opened.
static int32_t count_frames(const player* p, int32_t known) {
  int32_t last = run_folder_last_frame(p->core->run, known);
  return last > 0 ? last : 0;
}

static void tell_frames(player* p, uint32_t viewer) {
  char json[96];
  snprintf(json, sizeof json, "{\"say\":\"frames\",\"available\":%d,\"asked\":%d}", p->available,
           p->core->run->info.frames);
  mailbox_say(p->audience.mail, viewer, 0, json);
}

static void show_opened(player* p, onlooker* to) {
  audience_open(&p->audience, to->viewer, "{\"name\":\"\",\"text\":\"\",\"changes\":[]}");
  tell_frames(p, to->viewer);
  to->wanted = 0;
}

// Another run was started in the folder.
static void open_again(player* p) {
  if (core_open_run(p->core, p->def->path) < 0) return;
  p->available = count_frames(p, -1);
  read_log(p);
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    if (p->audience.people[i].viewer) show_opened(p, &p->audience.people[i]);
  }
}

// Looks for new frames, and for a new run.
static void look(player* p) {
  double now = yw_seconds();
  if (now - p->last_look < LOOK_EVERY || audience_count(&p->audience) == 0) return;
  p->last_look = now;
  run_info info;
  yw_error ignored = {0};
  bool known = run_info_read(p->def->path, &info, &ignored) >= 0;
  bool other = known && info.shown_hash != p->core->run->info.shown_hash;
  if (known && !other) {
    p->core->run->info.packed = info.packed;
    p->core->run->info.frames = info.frames;
    p->core->run->info.frames_done = info.frames_done;
    p->core->run->info.state_hash = info.state_hash;
  }
  run_info_free(&info);
  if (other) {
    open_again(p);
    return;
  }
  int32_t available = count_frames(p, p->available);
  if (available == p->available) return;
  p->available = available;
  read_log(p);
  tell_frames(p, 0);
}

static void join(player* p, uint32_t viewer) {
  onlooker* to = audience_add(&p->audience, viewer);
  if (!to) return;
  mailbox_say(p->audience.mail, viewer, 0, "{\"say\":\"started\",\"threads\":1,\"schema\":\"\"}");
  show_opened(p, to);
}

static void obey(player* p, const viewer_command* c) {
  if (c->kind == COMMAND_JOIN) {
    join(p, c->viewer);
    return;
  }
  onlooker* who = audience_find(&p->audience, c->viewer);
  if (!who) return;
  if (c->kind == COMMAND_LEAVE) *who = (onlooker){0};
  if (c->kind == COMMAND_FRAME) who->wanted = c->frame;
  if (c->kind == COMMAND_FIELD || c->kind == COMMAND_INSIDE) onlooker_wish(who, c);
}

// Sends a viewer the frame that it asked for last.
static void answer(player* p, onlooker* to) {
  int32_t wanted = to->wanted > p->available ? p->available : to->wanted;
  to->wanted = -1;
  if (p->core->frame != wanted && core_show_frame(p->core, wanted) < 0) {
    audience_say_failed(&p->audience, to->viewer, p->core->message.message);
    return;
  }
  text_clear(&p->report);
  run_report_add(&p->report, p->core, &p->log);
  if (!p->report.failed) audience_report(&p->audience, to->viewer, p->report.data);
  audience_show(&p->audience, to);
}

void engine_play(const engine_def* def) {
  player p = {.def = def, .core = def->core};
  p.audience = (audience){.mail = def->mail, .core = p.core};
  p.available = count_frames(&p, -1);
  read_log(&p);
  while (!mailbox_is_stopped(def->mail)) {
    viewer_command c;
    double wait = LOOK_EVERY;
    while (mailbox_next(def->mail, wait, &c)) {
      obey(&p, &c);
      viewer_command_free(&c);
      wait = 0.0;
    }
    for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
      onlooker* to = &p.audience.people[i];
      if (to->viewer && to->wanted >= 0) answer(&p, to);
    }
    look(&p);
  }
  yw_table_free(&p.log);
  text_free(&p.report);
  audience_free(&p.audience);
}
