// SPDX-License-Identifier: MIT
// The viewers as the simulating side knows them, and what it tells them.
#ifndef YW_APP_SERVER_AUDIENCE_H
#define YW_APP_SERVER_AUDIENCE_H

#include "core.h"
#include "server/mailbox.h"

typedef struct onlooker {
  uint32_t viewer;  ///< 0: none
  bool ready;       ///< has drawn the last frame
  bool stale;       ///< has not been sent what there is now
  int32_t wanted;   ///< frame of a run; -1: none
  char field[COMMAND_MAX_WORD];
  uint32_t inside;  ///< core_inside
  yw_vec3 cut_normal;
  float cut_offset;
} onlooker;

typedef struct audience {
  mailbox* mail;
  core* core;
  onlooker people[MAILBOX_MAX_VIEWERS];
  text bytes;  ///< scratch
} audience;

int32_t audience_count(const audience* a);
/// NULL: the viewer is not known.
onlooker* audience_find(audience* a, uint32_t viewer);
onlooker* audience_add(audience* a, uint32_t viewer);
void audience_free(audience* a);

/// Everyone must be sent a new frame.
void audience_mark_stale(audience* a);
/// What does not change from frame to frame. own: the scene's name, text and changes as JSON.
void audience_open(audience* a, uint32_t viewer, const char* own);
/// The surfaces of a body's examples.
void audience_send_examples(audience* a, uint32_t viewer, int32_t body);
/// The numbers of the last step as JSON; viewer 0: to all.
void audience_report(audience* a, uint32_t viewer, const char* report);
/// Takes in what a viewer wants to see, with COMMAND_FIELD or COMMAND_INSIDE.
void onlooker_wish(onlooker* who, const viewer_command* c);
/// Sends the present frame as the viewer wants to see it. Empty if there is not enough memory.
void audience_show(audience* a, onlooker* to);
// To one viewer, or with 0 to all.
void audience_say_flag(audience* a, uint32_t viewer, const char* what, bool on);
void audience_say_failed(audience* a, uint32_t viewer, const char* why);

#endif
