#!/usr/bin/env bash
# Writes docs/scene.schema.json and the reference of keys in docs/scenes.md from the tables that the
# reader of scenes uses. With --check: only says whether they are as the tables say.
# usage: scripts/write_scene_docs.sh [--check] [PROGRAM]
set -euo pipefail
check=0
if [ "${1:-}" = --check ]; then check=1; shift; fi
program=$(realpath "${1:-$(dirname "$0")/../build/yawara}")
cd "$(dirname "$0")/.."
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

"$program" schema >"$new/schema"
"$program" schema --keys >"$new/keys"
# What stands between the two marks is replaced.
awk -v keys="$new/keys" '
  /<!-- keys: end -->/ { inside = 0 }
  !inside { print }
  /<!-- keys: begin/ { inside = 1; while ((getline line < keys) > 0) print line }
' docs/scenes.md >"$new/scenes"

if [ $check = 1 ]; then
  cmp "$new/schema" docs/scene.schema.json && cmp "$new/scenes" docs/scenes.md ||
    { echo "run scripts/write_scene_docs.sh"; exit 1; }
else
  cp "$new/schema" docs/scene.schema.json
  cp "$new/scenes" docs/scenes.md
fi
