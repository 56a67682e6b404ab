// SPDX-License-Identifier: MIT
#include "server/server.h"

#include <libwebsockets.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "console/options.h"
#include "server/request.h"
#include "yawara/extend/memory.h"

#define MAX_PATH 4096
#define MAX_HEADER 256
// Bytes of a scene that are sent at a time.
#define PIECE 65536
_Static_assert(MAILBOX_ROOM >= LWS_PRE, "messages need room for the header of a frame");

// With the first two a page may use threads; the others keep what is served among its own pages.
static const char headers[] =
    "cross-origin-opener-policy: same-origin\r\n"
    "cross-origin-embedder-policy: require-corp\r\n"
    "cross-origin-resource-policy: same-origin\r\n"
    "referrer-policy: no-referrer\r\n"
    "x-content-type-options: nosniff\r\n"
    "cache-control: no-cache\r\n";

typedef struct server {
  const server_def* def;
  struct lws_context* context;
  mailbox* mail;
  char token[REQUEST_TOKEN_DIGITS + 1];
  char page[MAX_PATH];  // folder, as an absolute path without links
  int port;
  struct lws* sockets[MAILBOX_MAX_VIEWERS];
} server;

/// Of one connection.
typedef struct session {
  uint32_t viewer;                     // 0: not a WebSocket
  size_t sent;                         // bytes of the scene
  text incoming;                       // of a message
  enum lws_close_status close_status;  // LWS_CLOSE_STATUS_NOSTATUS: stays open
  char close_reason[120];
  bool said_goodbye;  // the close frame is sent: nothing may follow it
} session;

static volatile sig_atomic_t stopped;
static struct lws_context* running;

static void on_signal(int number) {
  (void)number;
  stopped = 1;
  if (running) lws_cancel_service(running);
}

// Files -------------------------------------------------------------------------------------------

static int refuse(struct lws* wsi, unsigned status) {
  return lws_return_http_status(wsi, status, NULL) < 0 ? -1 : lws_http_transaction_completed(wsi);
}

static int send_file(struct lws* wsi, const char* path, const char* type) {
  int code = lws_serve_http_file(wsi, path, type, headers, (int)sizeof headers - 1);
  if (code < 0) return -1;
  return code > 0 ? lws_http_transaction_completed(wsi) : 0;
}

// A file of the page. Links must not lead out of its folder.
static int send_page_file(server* s, struct lws* wsi, const char* name) {
  char path[MAX_PATH];
  const char* type = request_media_type(name);
  if (!type || !request_is_safe_file(name)) return refuse(wsi, HTTP_STATUS_FORBIDDEN);
  if ((size_t)snprintf(path, sizeof path, "%s/%s", s->page, name) >= sizeof path) {
    return refuse(wsi, HTTP_STATUS_NOT_FOUND);
  }
  char* real = realpath(path, NULL);
  struct stat about;
  int status = 0;
  if (!real || stat(real, &about) != 0 || !S_ISREG(about.st_mode)) {
    status = HTTP_STATUS_NOT_FOUND;
  } else if (strncmp(real, s->page, strlen(s->page)) != 0 || real[strlen(s->page)] != '/') {
    status = HTTP_STATUS_FORBIDDEN;
  }
  int code = status ? refuse(wsi, (unsigned)status) : send_file(wsi, real, type);
  free(real);
  return code;
}

// The scene that runs in the browser: "open/scene.json", and what it reads: "open/0", "open/1" ...
static int send_opened(server* s, struct lws* wsi, session* own, const char* name) {
  const server_def* def = s->def;
  if (!def->scene) return refuse(wsi, HTTP_STATUS_NOT_FOUND);
  if (strcmp(name, "scene.json") == 0) {
    unsigned char buffer[LWS_PRE + 1024], *start = buffer + LWS_PRE, *at = start;
    unsigned char* end = buffer + sizeof buffer - 1;
    if (lws_add_http_common_headers(wsi, HTTP_STATUS_OK, "application/json", strlen(def->scene),
                                    &at, end) ||
        lws_finalize_write_http_header(wsi, start, &at, end)) {
      return -1;
    }
    own->sent = 0;
    lws_callback_on_writable(wsi);
    return 0;
  }
  char* rest = NULL;
  long index = strtol(name, &rest, 10);
  bool known = name[0] >= '0' && name[0] <= '9' && *rest == '\0' && index < def->files->count;
  if (!known) return refuse(wsi, HTTP_STATUS_NOT_FOUND);
  return send_file(wsi, def->files->items[index].path, "application/octet-stream");
}

static int send_scene_piece(server* s, struct lws* wsi, session* own) {
  size_t left = strlen(s->def->scene) - own->sent, size = left < PIECE ? left : PIECE;
  unsigned char* piece = YW_NEW_ARRAY(NULL, unsigned char, LWS_PRE + size);
  if (!piece) return -1;
  memcpy(piece + LWS_PRE, s->def->scene + own->sent, size);
  own->sent += size;
  bool last = size == left;
  int code = lws_write(wsi, piece + LWS_PRE, size, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
  yw_mem_free(NULL, piece);
  if (code < 0) return -1;
  if (last) return lws_http_transaction_completed(wsi) ? -1 : 0;
  lws_callback_on_writable(wsi);
  return 0;
}

// Requests ----------------------------------------------------------------------------------------

static void copy_header(struct lws* wsi, enum lws_token_indexes which, char out[MAX_HEADER]) {
  if (lws_hdr_copy(wsi, out, MAX_HEADER, which) < 0) out[0] = '\0';
}

// Browsers send Host always, and Origin with everything that another page could make them send.
static bool is_own_request(const server* s, struct lws* wsi, bool socket) {
  char host[MAX_HEADER], origin[MAX_HEADER];
  copy_header(wsi, WSI_TOKEN_HOST, host);
  copy_header(wsi, WSI_TOKEN_ORIGIN, origin);
  if (!request_is_own_host(host, s->port, !s->def->host)) return false;
  if (!socket && origin[0] == '\0') return true;
  return request_is_own_origin(origin, host);
}

static int answer(server* s, struct lws* wsi, session* own, const char* path) {
  if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0) {
    return refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
  }
  const char* part = request_part(path, s->token);
  if (!part || !is_own_request(s, wsi, false)) return refuse(wsi, HTTP_STATUS_FORBIDDEN);
  if (strncmp(part, "open/", 5) == 0) return send_opened(s, wsi, own, part + 5);
  return send_page_file(s, wsi, part[0] ? part : "index.html");
}

// Whether a WebSocket may be opened: the page's own address, with the token.
static int confirm_socket(server* s, struct lws* wsi) {
  char path[MAX_HEADER];
  copy_header(wsi, WSI_TOKEN_GET_URI, path);
  const char* part = request_part(path, s->token);
  bool good = s->mail && part && strcmp(part, "socket") == 0 && is_own_request(s, wsi, true);
  if (good) return 0;
  lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
  return -1;
}

// Sockets -----------------------------------------------------------------------------------------

static void leave(server* s, struct lws* wsi, session* own) {
  for (int i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    if (s->sockets[i] == wsi) s->sockets[i] = NULL;
  }
  if (own->viewer) mailbox_leave(s->mail, own->viewer);
  own->viewer = 0;
  text_free(&own->incoming);
}

// The close frame has to wait until what was sent before has left: closing at once cuts it off.
static int close_with(server* s, struct lws* wsi, session* own, enum lws_close_status status,
                      const char* why) {
  leave(s, wsi, own);
  own->close_status = status;
  size_t length = strlen(why);
  if (length >= sizeof own->close_reason) length = sizeof own->close_reason - 1;
  memcpy(own->close_reason, why, length);
  own->close_reason[length] = '\0';
  lws_callback_on_writable(wsi);
  return 0;
}

static int say_goodbye(struct lws* wsi, session* own) {
  own->said_goodbye = true;
  lws_close_reason(wsi, own->close_status, (unsigned char*)own->close_reason,
                   strlen(own->close_reason));
  return -1;
}

static int join(server* s, struct lws* wsi, session* own) {
  *own = (session){.viewer = mailbox_join(s->mail), .close_status = LWS_CLOSE_STATUS_NOSTATUS};
  if (own->viewer == 0) {
    return close_with(s, wsi, own, LWS_CLOSE_STATUS_POLICY_VIOLATION, "there are too many viewers");
  }
  for (int i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
    if (s->sockets[i]) continue;
    s->sockets[i] = wsi;
    break;
  }
  return 0;
}

// The whole of a message.
static int obey(server* s, struct lws* wsi, session* own, bool binary) {
  viewer_command c;
  yw_error error = {0};
  yw_status status = YW_OK;
  const text* t = &own->incoming;
  if (t->failed) {
    status = yw_fail_memory(&error, "a message");
  } else if (binary) {
    status = viewer_command_parse_loaded(t->data, t->size, &c, &error);
  } else {
    status = viewer_command_parse(t->data, t->size, &c, &error);
  }
  text_free(&own->incoming);
  if (status < 0) return close_with(s, wsi, own, LWS_CLOSE_STATUS_POLICY_VIOLATION, error.message);
  c.viewer = own->viewer;
  if (mailbox_send_command(s->mail, &c)) return 0;
  return close_with(s, wsi, own, LWS_CLOSE_STATUS_POLICY_VIOLATION, "too many messages");
}

static int receive(server* s, struct lws* wsi, session* own, const void* bytes, size_t size) {
  if (own->close_status != LWS_CLOSE_STATUS_NOSTATUS) return 0;
  bool binary = lws_frame_is_binary(wsi);
  size_t most = binary ? 4 + COMMAND_MAX_BYTES + COMMAND_MAX_LOAD : COMMAND_MAX_BYTES;
  if (size > most - own->incoming.size) {
    return close_with(s, wsi, own, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "the message is too long");
  }
  text_add_bytes(&own->incoming, bytes, size);
  if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) return 0;
  return obey(s, wsi, own, binary);
}

static int send_next(server* s, struct lws* wsi, session* own) {
  if (own->said_goodbye) return 0;
  if (own->close_status != LWS_CLOSE_STATUS_NOSTATUS) return say_goodbye(wsi, own);
  if (mailbox_is_overdue(s->mail, own->viewer)) {
    return close_with(s, wsi, own, LWS_CLOSE_STATUS_POLICY_VIOLATION, "the viewer is too slow");
  }
  message m = mailbox_take(s->mail, own->viewer);
  if (!m.memory) return 0;
  int code =
      lws_write(wsi, m.memory + MAILBOX_ROOM, m.size, m.binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
  bool good = code >= (int)m.size;
  message_free(&m);
  if (good) lws_callback_on_writable(wsi);
  return good ? 0 : -1;
}

static int on_event(struct lws* wsi, enum lws_callback_reasons reason, void* user, void* in,
                    size_t size) {
  server* s = lws_context_user(lws_get_context(wsi));
  session* own = user;
  switch (reason) {
    case LWS_CALLBACK_HTTP:
      return answer(s, wsi, own, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
      return send_scene_piece(s, wsi, own);
    case LWS_CALLBACK_HTTP_FILE_COMPLETION:
      return lws_http_transaction_completed(wsi) ? -1 : 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
      return confirm_socket(s, wsi);
    case LWS_CALLBACK_ESTABLISHED:
      return join(s, wsi, own);
    case LWS_CALLBACK_CLOSED:
      leave(s, wsi, own);
      return 0;
    case LWS_CALLBACK_RECEIVE:
      return receive(s, wsi, own, in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE:
      return send_next(s, wsi, own);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
      for (int i = 0; i < MAILBOX_MAX_VIEWERS; ++i) {
        if (s->sockets[i]) lws_callback_on_writable(s->sockets[i]);
      }
      return 0;
    default:
      return 0;
  }
}

// Running -----------------------------------------------------------------------------------------

static void wake(void* context) {
  server* s = context;
  if (s->context) lws_cancel_service(s->context);
}

static bool listen_at(server* s) {
  static const struct lws_protocols protocols[] = {
      {.name = "yawara", .callback = on_event, .per_session_data_size = sizeof(session)},
      {.name = NULL},
  };
  lws_set_log_level(0, NULL);
  struct lws_context_creation_info info = {
      .port = s->def->port,
      .iface = s->def->host ? s->def->host : "127.0.0.1",
      .protocols = protocols,
      .user = s,
      .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_IPV6,
      .server_string = "yawara",
  };
  s->context = lws_create_context(&info);
  struct lws_vhost* host = s->context ? lws_create_vhost(s->context, &info) : NULL;
  s->port = host ? lws_get_vhost_listen_port(host) : 0;
  return s->port > 0;
}

static void say_address(const server* s) {
  char address[512];
  const char* host = s->def->host ? s->def->host : "127.0.0.1";
  snprintf(address, sizeof address, "http://%s:%d/%s/%s%s", host, s->port, s->token,
           s->def->query[0] ? "?" : "", s->def->query);
  printf("look at it: %s\nCtrl-C ends it\n", address);
  fflush(stdout);
  if (s->def->host) {
    fprintf(stderr, "warning: everyone who can reach %s and knows this address can watch%s\n", host,
            s->def->engine ? " and steer" : "");
  }
  bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
  if (!s->def->open || !has_display) return;
  char name[] = "xdg-open";
  char* arguments[] = {name, address, NULL};
  extern char** environ;
  pid_t child;
  // Where there is no xdg-open the printed address has to do.
  posix_spawnp(&child, name, NULL, NULL, arguments, environ);
}

static void* run_engine(void* context) {
  const server* s = context;
  engine_def settings = s->def->settings;
  settings.mail = s->mail;
  s->def->engine(&settings);
  return NULL;
}

static void serve(server* s) {
  struct sigaction action = {.sa_handler = on_signal};
  running = s->context;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  // The browser that was started is nobody's child to wait for.
  signal(SIGCHLD, SIG_IGN);
  say_address(s);
  while (!stopped && lws_service(s->context, 0) >= 0) continue;
  running = NULL;
}

bool server_is_built(void) { return true; }

int server_run(const server_def* def) {
  server s = {.def = def};
  char* page = realpath(def->page, NULL);
  bool has_page = page && strlen(page) < sizeof s.page;
  if (has_page) snprintf(s.page, sizeof s.page, "%s", page);
  free(page);
  if (!has_page) return bad_input("%s: there is no such folder", def->page);
  if (!request_make_token(s.token)) return bad_input("the system has no random numbers");
  s.mail = def->engine ? mailbox_create(wake, &s) : NULL;
  if (def->engine && !s.mail) return bad_input("not enough memory");
  int code = EXIT_DONE;
  pthread_t thread;
  bool started = false;
  if (!listen_at(&s)) {
    code = bad_input("cannot listen at %s, port %d: is it this machine's address, and free?",
                     def->host ? def->host : "127.0.0.1", def->port);
  } else if (def->engine && pthread_create(&thread, NULL, run_engine, &s) != 0) {
    code = bad_input("the system has no more threads");
  } else {
    started = def->engine != NULL;
    serve(&s);
  }
  if (s.mail) mailbox_stop(s.mail);
  if (started) pthread_join(thread, NULL);
  if (s.context) lws_context_destroy(s.context);
  mailbox_destroy(s.mail);
  return code;
}
