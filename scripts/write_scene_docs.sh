#!/usr/bin/env bash
# Generates docs/scene.schema.json and the key reference in docs/scenes.md from the tables that the
# scene reader uses. With --check: only tells whether they are up to date.
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
# Replaces the text between the two markers.
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
