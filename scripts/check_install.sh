#!/usr/bin/env bash
# `make install` provides working headers, libraries, pkg-config file and CMake package.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD
place=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$place"' EXIT
cmake --install build --prefix "$place/usr" >/dev/null
lib=$(dirname "$(find "$place/usr" -name libyawara.so | head -n 1)")

cp examples/hello.c "$place/hello.c"
PKG_CONFIG_PATH=$lib/pkgconfig cc -std=c17 "$place/hello.c" -o "$place/hello" \
  $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs yawara)
LD_LIBRARY_PATH=$lib "$place/hello" >"$place/pkg_config.txt"

# A user-defined method, using only installed files.
cp examples/own_method.c "$place/own_method.c"
cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$place/own_method.c" -o "$place/own_method" \
  $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs yawara) -lm
LD_LIBRARY_PATH=$lib "$place/own_method" >/dev/null

# A game, with queries, events, forces and rollback: the same keys give the same world, and going
# back brings back what was shot.
cc -std=c17 -Wall -Wextra -Wpedantic -Werror examples/game.c -o "$place/game" \
  $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs yawara) -lm
LD_LIBRARY_PATH=$lib "$place/game" "dddddddde." >"$place/shot.txt"
LD_LIBRARY_PATH=$lib "$place/game" "dddddddde.r" >"$place/back.txt"
LD_LIBRARY_PATH=$lib "$place/game" "dddddddde." | cmp - "$place/shot.txt"
grep -q "blocks 5," "$place/shot.txt" && grep -q "blocks 6," "$place/back.txt"

# Every header for extensions compiles alone.
for header in "$place"/usr/include/yawara/extend/*.h; do
  echo "#include <yawara/extend/$(basename "$header")>" |
    cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$place/usr/include" -x c -
done

# The headers also compile as C++, without warnings.
cat >"$place/hello.cpp" <<'END'
#include <yawara/yawara.h>
int main() {
  yw_transform place = YW_TRANSFORM_IDENTITY;
  yw_body_def def = yw_default_body_def();
  def.transform = YW_TRANSFORM_IDENTITY;
  return place.scale == def.transform.scale ? 0 : 1;
}
END
if command -v c++ >/dev/null; then
  c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror "$place/hello.cpp" -o "$place/hello_cpp" \
    $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs yawara)
  LD_LIBRARY_PATH=$lib "$place/hello_cpp"
fi

mkdir "$place/project"
cp examples/hello.c "$place/project/"
cat >"$place/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(hello C)
find_package(yawara REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello yawara::yawara_static)
END
cmake -S "$place/project" -B "$place/project/build" -DCMAKE_PREFIX_PATH="$place/usr" >/dev/null
cmake --build "$place/project/build" >/dev/null
"$place/project/build/hello" >"$place/cmake.txt"
cmp "$place/pkg_config.txt" "$place/cmake.txt"
"$place/usr/bin/yawara" --version >/dev/null

# The page is installed beside the program, where `yawara view` finds it.
view=$place/view.txt
if [ -f out/web/index.html ] && grep -q YW_WEBSOCKETS_LIBRARY:FILEPATH=/ build/CMakeCache.txt; then
  "$place/usr/bin/yawara" view --no-open >"$view" &
  server=$!
  for _ in $(seq 100); do
    grep -q http "$view" && break
    sleep 0.1
  done
  python3 - "$(grep -o 'http:[^ ]*' "$view")" <<'END'
import sys, urllib.request
page = urllib.request.urlopen(sys.argv[1]).read()
assert b"Yawara" in page, page[:200]
urllib.request.urlopen(sys.argv[1] + "core/core_single.wasm")
END
  kill -INT "$server"
  wait "$server"
  server=
fi
# Without libwebsockets it says what to install.
cat >"$place/none.c" <<'END'
#include <stdio.h>
#include "console/options.h"
#include "server/server.h"
int bad_input(const char* format, ...) { return puts(format) < 0 ? 1 : 2; }
int main(void) { return !server_is_built() && server_run(NULL) == 2 ? 0 : 1; }
END
cc -std=c17 -Wall -Wextra -Wpedantic -Werror -D_POSIX_C_SOURCE=200809L -Iapps/yawara -Iweb/core \
  -Iinclude "$place/none.c" apps/yawara/server/server_none.c -o "$place/none"
"$place/none" | grep -q libwebsockets-dev
