# SPDX-License-Identifier: MIT
# Sourced by the tests of the program. Prints "ok NAME" or "not ok NAME" with the reason.
set -u
yawara=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
failures=0
# Tests use a cache of their own.
export XDG_CACHE_HOME=$work/.cache

pass() { echo "ok $1"; }
flunk() {
  echo "not ok $1: $2"
  failures=$((failures + 1))
}

# check NAME COMMAND...: the command succeeds.
check() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then pass "$name"; else flunk "$name" "exit code $?: $said"; fi
}

# refuses NAME "PATTERN" COMMAND...: exit code 2, a message that matches, and no crash.
refuses() {
  local name=$1 pattern=$2 said code
  shift 2
  said=$("$@" 2>&1)
  code=$?
  if [ $code -ne 2 ]; then
    flunk "$name" "exit code $code, expected 2: $said"
  elif ! grep -qE -- "$pattern" <<<"$said"; then
    flunk "$name" "the message lacks /$pattern/: $said"
  else
    pass "$name"
  fi
}

# same NAME A B: two strings are equal and not empty.
same() { if [ -n "$2" ] && [ "$2" = "$3" ]; then pass "$1"; else flunk "$1" "\"$2\" is not \"$3\""; fi; }

# holds NAME FILE AWK-PROGRAM: the program, given the file, prints "true".
holds() {
  local said
  said=$(awk "$3" "$2")
  if [ "$said" = true ]; then pass "$1"; else flunk "$1" "$said in: $(cat "$2")"; fi
}

state_of() { sed -n 's/.*"state_hash": "\(.*\)".*/\1/p' "$1/run.json"; }

finish() { [ $failures -eq 0 ]; }
