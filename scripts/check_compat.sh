#!/usr/bin/env bash
# Public structs, enums and functions do not change within a minor version (include/yawara/base.h).
# tests/compat/MAJOR.MINOR has the first headers of that version and a program written for them.
# usage: scripts/check_compat.sh           compare, and run the old program with build/libyawara.so
#        scripts/check_compat.sh keep      record the current headers: only for a new minor version
set -euo pipefail
cd "$(dirname "$0")/.."
number() { sed -n "s/^#define YW_VERSION_$1 //p" include/yawara/base.h; }
version=$(number MAJOR).$(number MINOR)
kept=tests/compat/$version

if [ "${1:-}" = keep ]; then
  rm -rf "$kept/yawara"
  mkdir -p "$kept/yawara"
  cp include/yawara/*.h "$kept/yawara/"
  exit 0
fi
[ -d "$kept/yawara" ] || { echo "there is no $kept/yawara: run scripts/check_compat.sh keep"; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# layout NAME INCLUDE: what the headers in INCLUDE/yawara promise, line by line.
layout() {
  cat "$2"/yawara/*.h | awk -f scripts/public_layout.awk >"$place/$1.c"
  cc -std=c17 -I"$2" "$place/$1.c" -o "$place/$1"
  "$place/$1" | LC_ALL=C sort >"$place/$1.txt"
}
layout kept "$kept"
layout current include
# The library exports what its headers declare, and nothing else.
cat include/yawara/*.h include/yawara/extend/*.h | tr '\n' ' ' | grep -oE 'YW_API [^;({]*\(' |
  grep -oE 'yw_[a-z0-9_]+\($' | tr -d '(' | LC_ALL=C sort -u >"$place/declared.txt"
nm -D --defined-only build/libyawara.so | awk '{ print $3 }' | LC_ALL=C sort >"$place/exported.txt"
if ! diff "$place/declared.txt" "$place/exported.txt" >"$place/symbols.txt"; then
  echo "declared (<) and exported (>) functions differ:"
  cat "$place/symbols.txt"
  exit 1
fi

# Additions are fine; everything recorded must still be there.
LC_ALL=C comm -23 "$place/kept.txt" "$place/current.txt" >"$place/lost.txt"
if [ -s "$place/lost.txt" ]; then
  echo "the interface of $version changed (a new minor version may do that, this one may not):"
  cat "$place/lost.txt"
  exit 1
fi

cc -std=c17 -I"$kept" "$kept/program.c" -o "$place/program" -Lbuild -lyawara
LD_LIBRARY_PATH=build "$place/program"
readelf -d "$place/program" | grep -qF "[libyawara.so.$version]" ||
  { echo "the soname is not libyawara.so.$version"; exit 1; }
