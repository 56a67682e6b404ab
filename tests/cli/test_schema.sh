#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/scene.schema.json and the key reference in docs/scenes.md agree with the program's output.
. "$(dirname "$0")/lib.sh"
check "schema and reference are those of the program" "$root/scripts/write_scene_docs.sh" --check "$yawara"
refuses "an argument that it does not take" "schema" "$yawara" schema scene.json
finish
