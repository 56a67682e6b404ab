// SPDX-License-Identifier: MIT
// Between the thread that serves viewers and the one that simulates or reads frames. Commands go
// one way in order; messages go the other, to one viewer or to all. Nothing queues up: of a
// viewer's frames and reports only the newest waits to be sent.
#ifndef YW_APP_SERVER_MAILBOX_H
#define YW_APP_SERVER_MAILBOX_H

#include "server/viewer_command.h"

#define MAILBOX_MAX_VIEWERS 16
/// In front of a message's bytes, for whoever sends it.
#define MAILBOX_ROOM 32

/// Bytes to send: MAILBOX_ROOM free ones, then `size`. Freed with message_free.
typedef struct message {
  unsigned char* memory;  ///< NULL: there is none
  size_t size;
  bool binary;
} message;
/// A copy of two parts; memory NULL: not enough memory.
message message_create(bool binary, const void* head, size_t head_size, const void* tail,
                       size_t tail_size);
void message_free(message* m);

typedef struct mailbox mailbox;

/// wake is called, from any thread, when there is something to send.
mailbox* mailbox_create(void (*wake)(void* context), void* context);
void mailbox_destroy(mailbox* m);  ///< NULL is allowed

// The side of the viewers -------------------------------------------------------------------------

/// A number that no other viewer has or had; 0: there are as many viewers as can be.
uint32_t mailbox_join(mailbox* m);
void mailbox_leave(mailbox* m, uint32_t viewer);
/// Takes over what the command carries. False if commands have piled up: the viewer sends too many.
bool mailbox_send_command(mailbox* m, viewer_command* c);
/// The next message for a viewer; memory NULL: none.
message mailbox_take(mailbox* m, uint32_t viewer);
/// True if the viewer did not take its messages for so long that it should be let go.
bool mailbox_is_overdue(mailbox* m, uint32_t viewer);
/// The other side ends soon.
void mailbox_stop(mailbox* m);

// The side of the simulation ----------------------------------------------------------------------

bool mailbox_is_stopped(mailbox* m);
/// Waits for a command at most so many seconds; false: there is none. Whoever takes one frees it.
bool mailbox_next(mailbox* m, double seconds, viewer_command* out);
/// Viewer 0: to all, except to `but` (0: nobody). The messages of a viewer keep their order.
void mailbox_say(mailbox* m, uint32_t viewer, uint32_t but, const char* json);
/// As mailbox_say, in binary form and to one viewer.
void mailbox_send(mailbox* m, uint32_t viewer, message* one);
/// As mailbox_send, and drops the frame that is still to be sent: it is of something else.
void mailbox_open(mailbox* m, uint32_t viewer, message* opened);
/// These two replace the last one if it is still to be sent. They are sent after everything else.
void mailbox_report(mailbox* m, uint32_t viewer, const char* json);
void mailbox_show(mailbox* m, uint32_t viewer, message* frame);

#endif
