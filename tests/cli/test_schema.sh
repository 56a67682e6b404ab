#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/scene.schema.json and the reference of keys in docs/scenes.md are what the program prints.
. "$(dirname "$0")/lib.sh"
check "schema and reference are those of the program" "$root/scripts/write_scene_docs.sh" --check "$yawara"
refuses "an argument that it does not take" "schema" "$yawara" schema scene.json
finish
