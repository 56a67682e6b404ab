// SPDX-License-Identifier: MIT
// What a viewer asks for: messages of the page as JSON, see web/src/protocol.ts. Messages come from
// strangers and are checked completely here.
#ifndef YW_APP_SERVER_VIEWER_COMMAND_H
#define YW_APP_SERVER_VIEWER_COMMAND_H

#include "yawara/yawara.h"

/// Longest message of a viewer, in bytes.
#define COMMAND_MAX_BYTES 16384
#define COMMAND_MAX_WORD 64
#define COMMAND_MAX_CHANGES 4096

typedef enum command_kind {
  COMMAND_JOIN,   ///< a viewer has come; the server says so, not the page
  COMMAND_LEAVE,  ///< it has gone
  COMMAND_PLAY,
  COMMAND_STEP,
  COMMAND_RESTART,
  COMMAND_SPEED,
  COMMAND_GRAB,
  COMMAND_DRAG,
  COMMAND_RELEASE,
  COMMAND_PIN,
  COMMAND_FIELD,
  COMMAND_INSIDE,  ///< what frames carry besides bodies
  COMMAND_EXAMPLES,
  COMMAND_SET,
  COMMAND_SETTINGS,
  COMMAND_OPEN,   ///< builds the scene again, with changed values
  COMMAND_FRAME,  ///< asks for a frame of a run
  COMMAND_DRAWN,  ///< can take the next frame
} command_kind;

typedef struct viewer_command {
  command_kind kind;
  uint32_t viewer;                    ///< who, see mailbox.h
  bool on;                            ///< of PLAY
  int32_t body;                       ///< of GRAB, PIN, SET, SETTINGS, EXAMPLES
  int32_t frame;                      ///< of FRAME; of OPEN: run to this frame and pause, -1: play
  float factor;                       ///< of SPEED, 0 to 10
  yw_vec3 at;                         ///< of GRAB, DRAG, PIN, m
  bool contacts, axes, cut;           ///< of INSIDE
  bool skins, slaves;                 ///< of INSIDE
  yw_vec3 normal;                     ///< of INSIDE: of the cut
  float offset;                       ///< of INSIDE: of the cut, m
  char key[COMMAND_MAX_WORD];         ///< of SET; of FIELD the field's name
  char value[COMMAND_MAX_WORD];       ///< of SET, as JSON
  char changes[COMMAND_MAX_CHANGES];  ///< of OPEN, lines "path<TAB>value"
} viewer_command;

/// YW_ERR_FORMAT if the message is none of these; the error says why.
yw_status viewer_command_parse(const char* text, size_t size, viewer_command* out, yw_error* error);

#endif
