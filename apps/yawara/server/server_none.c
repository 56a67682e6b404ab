// SPDX-License-Identifier: MIT
// Without libwebsockets.
#include "console/options.h"
#include "server/server.h"

bool server_is_built(void) { return false; }

int server_run(const server_def* def) {
  (void)def;
  return bad_input(
      "this program was built without libwebsockets, so it cannot serve the page. Install it "
      "(Debian: libwebsockets-dev) and build again, or make a movie with -o FILE.mp4");
}
