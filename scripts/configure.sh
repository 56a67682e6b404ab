#!/usr/bin/env bash
# Configures and builds one variant. usage: scripts/configure.sh FOLDER [cmake options...]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
shift
generator=()
[ -f "$folder/CMakeCache.txt" ] || { command -v ninja >/dev/null 2>&1 && generator=(-G Ninja); }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake -S . -B "$folder" "${generator[@]}" "$@" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
if ! cmake --build "$folder" --parallel "$(nproc)" >"$log" 2>&1; then
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" >&2
  exit 1
fi
