// SPDX-License-Identifier: MIT
#include "server/request.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool request_make_token(char out[REQUEST_TOKEN_DIGITS + 1]) {
  unsigned char bytes[REQUEST_TOKEN_DIGITS / 2];
  FILE* source = fopen("/dev/urandom", "rb");
  bool good = source && fread(bytes, 1, sizeof bytes, source) == sizeof bytes;
  if (source) fclose(source);
  for (size_t i = 0; good && i < sizeof bytes; ++i) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return good;
}

const char* request_part(const char* path, const char* token) {
  size_t length = strlen(token);
  if (path[0] != '/' || strlen(path) < length + 2) return NULL;
  // Looks at every digit, so that the time does not tell how many are right.
  unsigned char differ = (unsigned char)(path[length + 1] ^ '/');
  for (size_t i = 0; i < length; ++i) differ |= (unsigned char)(path[1 + i] ^ token[i]);
  return differ == 0 ? path + length + 2 : NULL;
}

bool request_is_safe_file(const char* name) {
  char before = '/';
  for (const char* c = name; *c; before = *c++) {
    if (!isalnum((unsigned char)*c) && !strchr("._-/", *c)) return false;
    if (before == '/' && (*c == '.' || *c == '/')) return false;
  }
  return before != '/';
}

const char* request_media_type(const char* name) {
  static const char* const types[][2] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".wasm", "application/wasm"},
      {".svg", "image/svg+xml"},
      {".webp", "image/webp"},
      {".txt", "text/plain; charset=utf-8"},
  };
  const char* dot = strrchr(name, '.');
  for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; ++i) {
    if (strcmp(dot, types[i][0]) == 0) return types[i][1];
  }
  return NULL;
}

bool request_is_own_host(const char* host, int port, bool loopback) {
  static const char* const names[] = {"127.0.0.1", "localhost", "[::1]"};
  char ending[16];
  int length = snprintf(ending, sizeof ending, ":%d", port);
  const char* colon = strrchr(host, ':');
  if (!colon || colon == host || strcmp(colon, ending) != 0 || length < 2) return false;
  if (!loopback) return true;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    size_t size = strlen(names[i]);
    if ((size_t)(colon - host) == size && strncasecmp(host, names[i], size) == 0) return true;
  }
  return false;
}

bool request_is_own_origin(const char* origin, const char* host) {
  static const char scheme[] = "http://";
  size_t length = sizeof scheme - 1;
  return strncmp(origin, scheme, length) == 0 && strcasecmp(origin + length, host) == 0;
}
