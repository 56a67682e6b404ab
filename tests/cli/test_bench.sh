#!/usr/bin/env bash
# yawara bench: every benchmark prints rows that a program can read; mistakes are explained.
set -uo pipefail
yawara=$1
failed=0

check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok $name"
  else
    echo "not ok $name"
    failed=1
  fi
}

# Every line is an object with exactly the documented keys and types.
rows_are_sound() {
  local number='[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?' text='"[^"\\]+"' lines
  local against="(\"against\": null, \"ratio\": null|\"against\": $text, \"ratio\": $number)"
  local row="^\{\"bench\": \"$1\", \"case\": $text, \"threads\": [1-9][0-9]*, \"value\": $number, \"unit\": $text, $against\}$"
  lines=$("$yawara" bench "$1" --quick --json) || return 1
  [ -n "$lines" ] || { echo "bench $1 printed nothing"; return 1; }
  if grep -Evn "$row" <<<"$lines"; then
    echo "bench $1: the lines above are not rows"
    return 1
  fi
  # Only pairs of bodies that cross are better none.
  if grep -En '"value": 0(\.0*)?,' <<<"$lines" | grep -v '"unit": "pairs"'; then
    echo "bench $1: the values above are not positive"
    return 1
  fi
}

# The renderer may be missing; it then prints no rows, and the table says so.
renderer_is_missing() {
  local said
  said=$("$yawara" render nothing 2>&1)
  grep -q libembree-dev <<<"$said" && "$yawara" bench render --quick | grep -q 'not measured'
}

# Every bench of the list is run; the renderer and a GPU may be missing.
names=$("$yawara" bench --list | sed -nE 's/^  ([a-z]+) .*/\1/p')
for bench in $names; do
  case $bench in render | cuda) continue ;; esac
  check "rows of bench $bench" rows_are_sound "$bench"
done
if renderer_is_missing; then
  echo "ok bench render says what is missing"
else
  check "rows of bench render" rows_are_sound render
fi

check "benches that are listed" test "$(wc -w <<<"$names")" -eq 15
cuda_runs_or_is_missing() { "$yawara" bench cuda --quick | grep -qE 'skipped: device cuda|particle'; }
check "bench cuda, or what it misses" cuda_runs_or_is_missing

# refuses WORDS ARGUMENTS...: exit code 2 and a message with the words.
refuses() {
  local words=$1 message code
  shift
  message=$("$yawara" bench "$@" 2>&1 >/dev/null)
  code=$?
  [ "$code" -eq 2 ] && grep -q -- "$words" <<<"$message" && return 0
  echo "exit code $code, message: $message"
  return 1
}
check "an unknown name is refused" refuses 'did you mean "match"' mach
check "an unknown level is refused" refuses 'must be plain, avx2 or avx512' polar --simd sse9
check "zero repetitions are refused" refuses 'must be between 1' polar --repetitions 0

table_has_bars() {
  local table
  table=$("$yawara" bench match --quick) && grep -Eq '(PASS|MISS) \(>= 10x\)' <<<"$table"
}
check "the table says whether bars are met" table_has_bars

exit $failed
