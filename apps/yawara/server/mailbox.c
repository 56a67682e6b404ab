// SPDX-License-Identifier: MIT
#include "server/mailbox.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "yawara/extend/memory.h"

#define MAX_COMMANDS 256
// Messages besides frames and reports are few: one per command at most.
#define MAX_MESSAGES 64
// Most that waiting commands may carry, bytes.
#define MAX_LOAD (2 * (size_t)COMMAND_MAX_LOAD)

typedef struct box {
  uint32_t viewer;  // 0: free
  message waiting[MAX_MESSAGES];
  int32_t num_waiting;
  message report, frame;
  bool overdue;
} box;

struct mailbox {
  pthread_mutex_t lock;
  pthread_cond_t came;
  viewer_command commands[MAX_COMMANDS];  // a ring
  int32_t first, num_commands;
  box boxes[MAILBOX_MAX_VIEWERS];
  uint32_t last_viewer;
  bool stopped;
  void (*wake)(void* context);
  void* context;
};

// Messages ----------------------------------------------------------------------------------------

message message_create(bool binary, const void* head, size_t head_size, const void* tail,
                       size_t tail_size) {
  message m = {.size = head_size + tail_size, .binary = binary};
  m.memory = YW_NEW_ARRAY(NULL, unsigned char, MAILBOX_ROOM + m.size);
  if (!m.memory) return (message){0};
  if (head_size > 0) memcpy(m.memory + MAILBOX_ROOM, head, head_size);
  if (tail_size > 0) memcpy(m.memory + MAILBOX_ROOM + head_size, tail, tail_size);
  return m;
}

void message_free(message* m) {
  yw_mem_free(NULL, m->memory);
  *m = (message){0};
}

static message text_message(const char* json) {
  return message_create(false, json, strlen(json), NULL, 0);
}

// Boxes -------------------------------------------------------------------------------------------

static void empty_box(box* b) {
  for (int32_t i = 0; i < b->num_waiting; ++i) message_free(&b->waiting[i]);
  message_free(&b->report);
  message_free(&b->frame);
  *b = (box){0};
}

// The box of a viewer, or a free one for 0; NULL: there is none.
static box* find_box(mailbox* m, uint32_t viewer) {
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    if (m->boxes[i].viewer == viewer) return &m->boxes[i];
  }
  return NULL;
}

static void put_waiting(box* b, message* one) {
  if (b->num_waiting == MAX_MESSAGES) {
    b->overdue = true;
    message_free(one);
  } else if (one->memory) {
    b->waiting[b->num_waiting++] = *one;
  }
  *one = (message){0};
}

static void replace(message* slot, message* one) {
  message_free(slot);
  *slot = *one;
  *one = (message){0};
}

// The i-th command that waits.
static viewer_command* command_at(mailbox* m, int32_t i) {
  return &m->commands[(m->first + i) % MAX_COMMANDS];
}

mailbox* mailbox_create(void (*wake)(void* context), void* context) {
  mailbox* m = YW_NEW(NULL, mailbox);
  if (!m) return NULL;
  pthread_condattr_t settings;
  pthread_condattr_init(&settings);
  pthread_condattr_setclock(&settings, CLOCK_MONOTONIC);
  pthread_mutex_init(&m->lock, NULL);
  pthread_cond_init(&m->came, &settings);
  pthread_condattr_destroy(&settings);
  m->wake = wake;
  m->context = context;
  return m;
}

void mailbox_destroy(mailbox* m) {
  if (!m) return;
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) empty_box(&m->boxes[i]);
  for (int32_t i = 0; i < m->num_commands; ++i) viewer_command_free(command_at(m, i));
  pthread_cond_destroy(&m->came);
  pthread_mutex_destroy(&m->lock);
  yw_mem_free(NULL, m);
}

// The side of the viewers -------------------------------------------------------------------------

// True if the command makes the last one of the same viewer pointless.
static bool replaces(const viewer_command* last, const viewer_command* next) {
  if (last->viewer != next->viewer || last->kind != next->kind) return false;
  if (next->kind == COMMAND_SET) {
    return last->body == next->body && strcmp(last->key, next->key) == 0;
  }
  if (next->kind == COMMAND_POSE_MOVE) return last->id == next->id;
  return next->kind == COMMAND_DRAG || next->kind == COMMAND_FRAME ||
         next->kind == COMMAND_INSIDE || next->kind == COMMAND_POSE_DEFORM;
}

static bool put_command(mailbox* m, const viewer_command* c) {
  viewer_command* last = command_at(m, m->num_commands + MAX_COMMANDS - 1);
  if (m->num_commands > 0 && replaces(last, c)) {
    *last = *c;
    return true;
  }
  if (m->num_commands == MAX_COMMANDS) return false;
  *command_at(m, m->num_commands++) = *c;
  pthread_cond_signal(&m->came);
  return true;
}

uint32_t mailbox_join(mailbox* m) {
  pthread_mutex_lock(&m->lock);
  box* b = find_box(m, 0);
  viewer_command join = {.kind = COMMAND_JOIN, .viewer = m->last_viewer + 1};
  uint32_t viewer = b && put_command(m, &join) ? ++m->last_viewer : 0;
  if (viewer) b->viewer = viewer;
  pthread_mutex_unlock(&m->lock);
  return viewer;
}

// Commands of a viewer that has gone do not matter, except that it let go of what it held.
static void forget_commands(mailbox* m, uint32_t viewer) {
  int32_t kept = 0;
  for (int32_t i = 0; i < m->num_commands; ++i) {
    viewer_command* one = command_at(m, i);
    if (one->viewer == viewer && one->kind != COMMAND_JOIN) {
      viewer_command_free(one);
    } else {
      *command_at(m, kept++) = *one;
    }
  }
  m->num_commands = kept;
}

void mailbox_leave(mailbox* m, uint32_t viewer) {
  pthread_mutex_lock(&m->lock);
  box* b = find_box(m, viewer);
  if (b) empty_box(b);
  forget_commands(m, viewer);
  viewer_command leave = {.kind = COMMAND_LEAVE, .viewer = viewer};
  // Should it be full of others' commands, the oldest of them makes room.
  if (!put_command(m, &leave)) {
    viewer_command_free(command_at(m, 0));
    m->first = (m->first + 1) % MAX_COMMANDS;
    --m->num_commands;
    put_command(m, &leave);
  }
  pthread_mutex_unlock(&m->lock);
}

bool mailbox_send_command(mailbox* m, viewer_command* c) {
  pthread_mutex_lock(&m->lock);
  size_t load = c->load_size;
  for (int32_t i = 0; i < m->num_commands; ++i) load += command_at(m, i)->load_size;
  // The last places are for those who come and go.
  bool good = m->num_commands < MAX_COMMANDS - 2 * MAILBOX_MAX_VIEWERS && load <= MAX_LOAD &&
              put_command(m, c);
  pthread_mutex_unlock(&m->lock);
  if (!good) viewer_command_free(c);
  return good;
}

message mailbox_take(mailbox* m, uint32_t viewer) {
  message out = {0};
  pthread_mutex_lock(&m->lock);
  box* b = find_box(m, viewer);
  if (b && b->num_waiting > 0) {
    out = b->waiting[0];
    --b->num_waiting;
    memmove(b->waiting, b->waiting + 1, sizeof(message) * (size_t)b->num_waiting);
  } else if (b) {
    message* slot = b->report.memory ? &b->report : &b->frame;
    out = *slot;
    *slot = (message){0};
  }
  pthread_mutex_unlock(&m->lock);
  return out;
}

bool mailbox_is_overdue(mailbox* m, uint32_t viewer) {
  pthread_mutex_lock(&m->lock);
  box* b = find_box(m, viewer);
  bool overdue = b && b->overdue;
  pthread_mutex_unlock(&m->lock);
  return overdue;
}

void mailbox_stop(mailbox* m) {
  pthread_mutex_lock(&m->lock);
  m->stopped = true;
  pthread_cond_signal(&m->came);
  pthread_mutex_unlock(&m->lock);
}

// The side of the simulation ----------------------------------------------------------------------

bool mailbox_is_stopped(mailbox* m) {
  pthread_mutex_lock(&m->lock);
  bool stopped = m->stopped;
  pthread_mutex_unlock(&m->lock);
  return stopped;
}

static struct timespec time_in(double seconds) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  double whole = floor(seconds);
  t.tv_sec += (time_t)whole;
  t.tv_nsec += (long)((seconds - whole) * 1e9);
  if (t.tv_nsec >= 1000000000L) {
    t.tv_nsec -= 1000000000L;
    ++t.tv_sec;
  }
  return t;
}

bool mailbox_next(mailbox* m, double seconds, viewer_command* out) {
  struct timespec end = time_in(seconds);
  pthread_mutex_lock(&m->lock);
  int code = 0;
  while (m->num_commands == 0 && !m->stopped && seconds > 0.0 && code != ETIMEDOUT) {
    code = pthread_cond_timedwait(&m->came, &m->lock, &end);
  }
  bool found = m->num_commands > 0 && !m->stopped;
  if (found) {
    *out = *command_at(m, 0);
    m->first = (m->first + 1) % MAX_COMMANDS;
    --m->num_commands;
  }
  pthread_mutex_unlock(&m->lock);
  return found;
}

void mailbox_say(mailbox* m, uint32_t viewer, uint32_t but, const char* json) {
  pthread_mutex_lock(&m->lock);
  for (int32_t i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    box* b = &m->boxes[i];
    if (b->viewer == 0 || b->viewer == but || (viewer && b->viewer != viewer)) continue;
    message one = text_message(json);
    put_waiting(b, &one);
  }
  pthread_mutex_unlock(&m->lock);
  m->wake(m->context);
}

// What is to be done with the box of a viewer, under the lock; frees `one` if it has gone.
static void put(mailbox* m, uint32_t viewer, message* one, void (*act)(box* b, message* one)) {
  pthread_mutex_lock(&m->lock);
  box* b = viewer ? find_box(m, viewer) : NULL;
  if (b) act(b, one);
  pthread_mutex_unlock(&m->lock);
  message_free(one);
  m->wake(m->context);
}

static void put_opened(box* b, message* one) {
  message_free(&b->frame);
  message_free(&b->report);
  put_waiting(b, one);
}
static void put_report(box* b, message* one) { replace(&b->report, one); }
static void put_frame(box* b, message* one) { replace(&b->frame, one); }

void mailbox_send(mailbox* m, uint32_t viewer, message* one) { put(m, viewer, one, put_waiting); }

void mailbox_open(mailbox* m, uint32_t viewer, message* opened) {
  put(m, viewer, opened, put_opened);
}

void mailbox_report(mailbox* m, uint32_t viewer, const char* json) {
  message one = text_message(json);
  put(m, viewer, &one, put_report);
}

void mailbox_show(mailbox* m, uint32_t viewer, message* frame) { put(m, viewer, frame, put_frame); }
