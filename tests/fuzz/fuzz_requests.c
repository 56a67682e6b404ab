// SPDX-License-Identifier: MIT
// libFuzzer program for what strangers send to yawara view: messages of the page, and the paths and
// headers of requests. The first byte picks which. (libwebsockets takes HTTP and WebSocket frames
// apart; it is not tested here.)
#include <strings.h>

#include "server/request.h"
#include "support/fuzzing.h"
#include "support/viewer_messages.h"

enum { MESSAGE, NAME, HEADERS, NUM_KINDS };

static void prepare(void) {}

static void write_seeds(void) {
  for (int i = 0; i < NUM_MESSAGES; ++i) add_seed(MESSAGE, messages[i], strlen(messages[i]));
  static const char* const names[] = {"index.html", "a/b-c_d.js", "../secret", "core.wasm",
                                      "x.png"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    add_seed(NAME, names[i], strlen(names[i]));
  }
  static const char* const headers[] = {"127.0.0.1:8000\nhttp://127.0.0.1:8000",
                                        "localhost:8000\nhttp://localhost:8000",
                                        "[::1]:8000\nhttps://[::1]:8000", "evil.com:8000\nnull"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; ++i) {
    add_seed(HEADERS, headers[i], strlen(headers[i]));
  }
}

static void try_message(const char* text, size_t size) {
  viewer_command command;
  yw_error error = {0};
  if (viewer_command_parse(text, size, &command, &error) >= 0) {
    check_bounds(&command);
  } else {
    require(error.message[0] != '\0', "an error has a message");
  }
}

static void try_name(char* name) {
  static const char token[] = "0123456789abcdef0123456789abcdef";
  request_media_type(name);
  require(!request_part(name, token) || strstr(name, token), "only the token opens the door");
  if (!request_is_safe_file(name)) return;
  require(name[0] != '/' && name[0] != '\0', "a safe name is relative");
  require(!strpbrk(name, "%\\ :~"), "a safe name has no odd characters");
  for (char* part = strtok(name, "/"); part; part = strtok(NULL, "/")) {
    require(*part != '.', "no part of a safe name begins with a dot");
  }
}

// The first line is the Host header, the rest the Origin header.
static void try_headers(char* host) {
  char* origin = strchr(host, '\n');
  if (!origin) return;
  *origin++ = '\0';
  for (int loopback = 0; loopback < 2; ++loopback) {
    if (request_is_own_host(host, 8000, loopback)) require(strstr(host, ":8000"), "own port");
  }
  // Case does not matter in names of hosts.
  if (request_is_own_origin(origin, host)) require(!strcasecmp(origin + 7, host), "own origin");
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] % NUM_KINDS == MESSAGE) {
    try_message((const char*)data + 1, size - 1);
    return 0;
  }
  char* text = malloc(size);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (data[0] % NUM_KINDS == NAME) {
    try_name(text);
  } else {
    try_headers(text);
  }
  free(text);
  return 0;
}
