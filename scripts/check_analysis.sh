#!/usr/bin/env bash
# Static analysis beyond clang-tidy (scripts/check_tidy.sh): cppcheck and gcc -fanalyzer over the library and the program.
# usage: scripts/check_analysis.sh [FILE...]      default: all of src and apps but kernels; takes minutes
# Findings that were looked at and are no faults stand in scripts/analysis_answers.txt, with the reason. Exits 1 if there are others.
set -uo pipefail
cd "$(dirname "$0")/.."
build=build
[ -f $build/compile_commands.json ] || scripts/configure.sh $build || exit 1
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find src apps -name '*.c' ! -name '*_kernels.c' ! -name '*_none.c' | sort)
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Addresses without the line: they stay the same when other lines change. FILE: message [rule]
if command -v cppcheck >/dev/null 2>&1; then
  cppcheck -q -j "$(nproc)" --std=c11 --enable=warning,performance,portability --inline-suppr --suppress=missingInclude \
    --suppress=unknownMacro --suppress=internalAstError --suppress=syntaxError -Iinclude -Isrc -Iapps/yawara \
    --template='{file}: {message} [{id}]' "${files[@]}" 2>>"$found" >/dev/null
else
  echo "cppcheck is not installed: left out" >&2
fi

analyze() {
  gcc -std=c17 -O1 -fanalyzer -c -o /dev/null -Wall -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 -DYW_SIMD_SUFFIX=plain \
    -Iinclude -Isrc -Iapps/yawara -Iweb "$1" 2>&1 | sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: warning: (.*) \[(CWE-[0-9]+)?\]? ?\[-(Wanalyzer[^]]*)\]$/\1: \2 [\4]/p'
}
export -f analyze
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'analyze {}' | grep Wanalyzer >>"$found"

sort -u -o "$found" "$found"
# The answers: a pattern of a finding per line, and above it a comment with the reason.
open=$(grep -vE -f <(grep -vE '^(#|$)' scripts/analysis_answers.txt) "$found" | grep -v '^$' || true)
count=$([ -n "$open" ] && wc -l <<<"$open" || echo 0)
[ -n "$open" ] && echo "$open"
echo "${#files[@]} files, $count findings, $(($(grep -c . "$found") - count)) answered"
[ "$count" -eq 0 ]
