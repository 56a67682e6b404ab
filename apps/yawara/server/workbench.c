// SPDX-License-Identifier: MIT
#include "server/workbench.h"

#include <string.h>

#include "server/wire.h"
#include "yawara/extend/memory.h"

bool workbench_is_tool(command_kind kind) {
  return kind >= COMMAND_POSE && kind <= COMMAND_PAINT_END;
}

// Answers -----------------------------------------------------------------------------------------

static void send_binary(audience* a, uint32_t viewer, const void* head, size_t head_size,
                        const void* bytes, size_t size) {
  message one = message_create(true, head, head_size, bytes, size);
  mailbox_send(a->mail, viewer, &one);
}

static void send_handles(audience* a, uint32_t viewer, int32_t held) {
  text* t = &a->bytes;
  text_clear(t);
  text_add(t, "{\"say\":\"posed\",\"handles\":%s,\"held\":%d}", core_handles_json(a->core), held);
  if (!t->failed) mailbox_say(a->mail, viewer, 0, t->data);
}

static void send_pose(audience* a, uint32_t viewer, int32_t body) {
  int32_t count = 0;
  text* t = &a->bytes;
  text_clear(t);
  text_add(t, "%s", core_pose_check_json(a->core, body, true));
  const int32_t head[3] = {WIRE_POSE, body, (int32_t)t->size};
  while (t->size % 4 != 0) text_add_bytes(t, "", 1);
  const yw_vec3* pose = core_pose(a->core, body, &count);
  text_add_bytes(t, pose, sizeof *pose * (size_t)count);
  if (!t->failed) send_binary(a, viewer, head, sizeof head, t->data, t->size);
}

static void send_state(audience* a, uint32_t viewer) {
  poser* p = a->core->poser;
  const uint32_t kind = WIRE_POSE_STATE;
  bool good = p && poser_save(p);
  send_binary(a, viewer, &kind, sizeof kind, good ? p->words : NULL,
              good ? sizeof *p->words * (size_t)p->num_words : 0);
}

static void send_paint(audience* a, uint32_t viewer) {
  const uint32_t kind = WIRE_PAINTED;
  send_binary(a, viewer, &kind, sizeof kind, a->core->paint, (size_t)a->core->num_paint);
}

// Poses -------------------------------------------------------------------------------------------

static yw_status begin_pose(core* c, int32_t body, int32_t example) {
  int32_t count = 0;
  const yw_vec3* base = yw_scene_example(c->scene, body, example, &count, NULL);
  return core_pose_begin(c, body, base, count);
}

static yw_status load_pose(core* c, const viewer_command* by) {
  // Bytes of a message need not lie where numbers may.
  int32_t count = (int32_t)(by->load_size / sizeof(float));
  float* words = YW_NEW_ARRAY(NULL, float, (size_t)count + 1);
  if (!words) return yw_fail_memory(&c->message, "a pose");
  if (count > 0) memcpy(words, by->load, sizeof *words * (size_t)count);
  yw_status status = core_pose_load(c, words, count);
  yw_mem_free(NULL, words);
  return status;
}

// Changes the pose; *held is the handle that the viewer has in hand then.
static yw_status shape(workbench* w, core* on, const viewer_command* c, int32_t* held) {
  int32_t id = c->id ? c->id : w->last_handle;
  yw_status status;
  switch (c->kind) {
    case COMMAND_POSE_BEGIN:
      return begin_pose(on, c->body, c->example);
    case COMMAND_POSE_HOLD:
      status = core_pose_hold(on, &c->grip, held);
      w->last_handle = *held;
      return status;
    case COMMAND_POSE_MOVE:
      *held = id;
      return core_pose_move(on, id, c->motion.offset, c->motion.turn, c->motion.scale);
    case COMMAND_POSE_ACT:
      return core_pose_act(on, (core_pose_action)c->action, c->id);
    case COMMAND_POSE_DEFORM:
      return core_pose_deform(on, c->amounts, c->axis);
    default:
      return load_pose(on, c);
  }
}

static bool is_shaping(command_kind kind) {
  return kind != COMMAND_POSE && kind != COMMAND_POSE_END && kind != COMMAND_POSE_SAVE &&
         kind <= COMMAND_POSE_LOAD;
}

// Paint -------------------------------------------------------------------------------------------

static yw_status paint(core* on, const viewer_command* c) {
  if (c->kind == COMMAND_PAINT_DAB) core_paint_dab(on, c->at, c->radius, c->first, c->softness);
  if (c->kind == COMMAND_PAINT_LINE) core_paint_line(on, c->from, c->to, c->first, c->second);
  if (c->kind != COMMAND_PAINT_BEGIN) return YW_OK;
  return core_paint_begin(on, c->body, c->whole, (const unsigned char*)c->load,
                          (int32_t)c->load_size);
}

// Everything --------------------------------------------------------------------------------------

void workbench_clear(workbench* w, audience* a) {
  if (a->core->poser || a->core->paint) core_restart(a->core);
  *w = (workbench){0};
}

void workbench_obey(workbench* w, audience* a, const viewer_command* c) {
  yw_status status = YW_OK;
  int32_t held = 0;
  if (c->kind == COMMAND_POSE) {
    send_pose(a, c->viewer, c->body);
  } else if (c->kind == COMMAND_POSE_SAVE) {
    send_state(a, c->viewer);
  } else if (c->kind == COMMAND_PAINT_TAKE) {
    send_paint(a, c->viewer);
  } else if (c->kind == COMMAND_POSE_END || c->kind == COMMAND_PAINT_END) {
    workbench_clear(w, a);
  } else if (is_shaping(c->kind)) {
    w->viewer = c->viewer;
    status = shape(w, a->core, c, &held);
    send_handles(a, c->viewer, status < 0 ? 0 : held);
  } else {
    w->viewer = c->viewer;
    status = paint(a->core, c);
  }
  if (status < 0) audience_say_failed(a, c->viewer, a->core->message.message);
  // What could not begin, or is asked for without a beginning, holds up nobody.
  if (!a->core->poser && !a->core->paint) w->viewer = 0;
}
