#!/usr/bin/env bash
# Every C file is formatted, starts with the licence line, and has no leftovers.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0
mapfile -t files < <(find include src apps studies tests examples web/core -name '*.[ch]' -o -name '*.cpp' | sort)
clang-format --dry-run -Werror "${files[@]}" || bad=1
for file in "${files[@]}"; do
  case $(head -n 1 "$file") in
    "// SPDX-License-Identifier: MIT"*) ;;
    *) echo "$file: the first line is not the licence line"; bad=1 ;;
  esac
done
if grep -nE '^#if 0|\b(XXX|FIXME|TODO)\b' "${files[@]}"; then
  echo "left-overs (above)"
  bad=1
fi
exit $bad
