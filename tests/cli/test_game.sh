#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/game.c plays scripts of keys: the same keys give the same world, and going back brings
# back what was shot. The C code of docs/game.md compiles and runs.
. "$(dirname "$0")/lib.sh"
library=$(dirname "$yawara")/libyawara.a
build() { cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$root/include" "$1" "$library" -lm -lpthread -o "$2"; }

check "the game compiles" build "$root/examples/game.c" "$work/game"
line() { "$work/game" "$1" | tail -n 2; }
shot=$(line "dddddddde.")
same "the same keys give the same world" "$(line "dddddddde.")" "$shot"
grep -q "score 1,.*blocks 5," <<<"$shot" && pass "a shot removes a block" || flunk "a shot removes a block" "$shot"
back=$(line "dddddddde.r")
grep -q "blocks 6," <<<"$back" && pass "going back brings it back" || flunk "going back brings it back" "$back"
# It went back to the start: the world is the one in which nothing happened.
same "the world is as it was" "$(tail -n 1 <<<"$back")" "$(line "." | tail -n 1)"
"$work/game" "ddw" | grep -q "@@" && pass "the picture shows the player" || flunk "the picture shows the player" "$("$work/game" ddw)"

# Blocks of the page, one after another, in one program.
{
  echo '#include <math.h>'
  echo '#include <stdio.h>'
  echo '#include <stdlib.h>'
  echo '#include <yawara/yawara.h>'
  echo 'int main(void) {'
  awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/game.md"
  echo 'return 0; }'
} >"$work/page.c"
check "the code of docs/game.md compiles" build "$work/page.c" "$work/page"
said=$("$work/page")
grep -q "hit" <<<"$said" && pass "and runs" || flunk "and runs" "$said"
finish
