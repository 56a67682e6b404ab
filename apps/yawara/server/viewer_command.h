// SPDX-License-Identifier: MIT
// What a viewer asks for: messages of the page, see web/src/protocol.ts. Most are JSON; those that
// carry much are binary: a little-endian u32 length, JSON of that length, and the bytes that it
// carries. Messages come from strangers and are checked completely here.
#ifndef YW_APP_SERVER_VIEWER_COMMAND_H
#define YW_APP_SERVER_VIEWER_COMMAND_H

#include "poser.h"
#include "yawara/yawara.h"

/// Longest JSON of a message, in bytes.
#define COMMAND_MAX_BYTES 16384
/// Longest load of a binary message, in bytes.
#define COMMAND_MAX_LOAD (32 << 20)
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
  COMMAND_OPEN,   ///< builds the scene again, with changed values or another text
  COMMAND_FRAME,  ///< asks for a frame of a run
  COMMAND_DRAWN,  ///< can take the next frame
  // Tools: poses and paint, see workbench.h.
  COMMAND_POSE,  ///< asks for the pose that is shown
  COMMAND_POSE_BEGIN,
  COMMAND_POSE_END,
  COMMAND_POSE_HOLD,
  COMMAND_POSE_MOVE,
  COMMAND_POSE_ACT,
  COMMAND_POSE_DEFORM,
  COMMAND_POSE_SAVE,  ///< asks for the state of the pose
  COMMAND_POSE_LOAD,
  COMMAND_PAINT_BEGIN,
  COMMAND_PAINT_DAB,
  COMMAND_PAINT_LINE,
  COMMAND_PAINT_TAKE,  ///< asks for the paint
  COMMAND_PAINT_END,
} command_kind;

typedef struct command_motion {
  yw_vec3 offset;
  yw_quat turn;
  float scale;
} command_motion;

typedef struct viewer_command {
  command_kind kind;
  uint32_t viewer;                    ///< who, see mailbox.h
  bool on;                            ///< of PLAY
  int32_t body;                       ///< of GRAB, PIN, SET, SETTINGS, EXAMPLES, POSE and _BEGIN
  int32_t frame;                      ///< of FRAME; of OPEN: run to this frame and pause, -1: play
  float factor;                       ///< of SPEED, 0 to 10
  yw_vec3 at;                         ///< of GRAB, DRAG, PIN, PAINT_DAB, m
  bool contacts, axes, cut;           ///< of INSIDE
  bool skins, slaves;                 ///< of INSIDE
  yw_vec3 normal;                     ///< of INSIDE: of the cut
  float offset;                       ///< of INSIDE: of the cut, m
  char key[COMMAND_MAX_WORD];         ///< of SET; of FIELD the field's name
  char value[COMMAND_MAX_WORD];       ///< of SET, as JSON
  char changes[COMMAND_MAX_CHANGES];  ///< of OPEN, lines "path<TAB>value"
  int32_t example;                    ///< of POSE_BEGIN; -1: the rest pose
  int32_t id;                         ///< of POSE_MOVE and POSE_ACT; 0: the handle made last
  int32_t action;                     ///< of POSE_ACT: core_pose_action
  poser_grip grip;                    ///< of POSE_HOLD
  command_motion motion;              ///< of POSE_MOVE
  float amounts[YW_DEFORM_COUNT];     ///< of POSE_DEFORM
  yw_vec3 axis;                       ///< of POSE_DEFORM
  bool whole;                         ///< of PAINT_BEGIN
  float radius, softness;             ///< of PAINT_DAB
  float first, second;                ///< paint: of PAINT_LINE at its ends, of PAINT_DAB the first
  yw_vec3 from, to;                   ///< of PAINT_LINE
  /// The text of OPEN (NULL: as it was), numbers of POSE_LOAD, bytes of PAINT_BEGIN; ends with a
  /// zero that is not counted. Freed with viewer_command_free.
  char* load;
  size_t load_size;
} viewer_command;

/// YW_ERR_FORMAT if the message is none of these; the error says why.
yw_status viewer_command_parse(const char* json, size_t size, viewer_command* out, yw_error* error);
/// The same for binary messages.
yw_status viewer_command_parse_loaded(const char* bytes, size_t size, viewer_command* out,
                                      yw_error* error);
void viewer_command_free(viewer_command* c);

#endif
