#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/scene.schema.json and the key reference in docs/scenes.md agree with the program's output.
. "$(dirname "$0")/lib.sh"
check "schema and reference are those of the program" "$root/scripts/write_scene_docs.sh" --check "$yawara"
refuses "an argument that it does not take" "schema" "$yawara" schema scene.json

# Every key and named value is said somewhere. Materials are run by test_golden, from the library's table of them.
cd "$work" || exit 1
cat >cube.obj <<'END'
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 3 4 8 7
f 2 3 7 6
f 1 5 8 4
END
cat >rare.json <<'END'
{"frames": 2, "obstacles": [{"shape": {"mesh": {"file": "cube.obj", "sampled": 0.2}}, "position": [0, -2, 0]}], "bodies": [
  {"rod": {"line": {"from": [2, 0, 0], "to": [2.4, 0, 0], "count": 5}, "section": "ellipse", "width": 0.04, "thickness": 0.02}},
  {"shape": {"box": {"size": 0.2}}, "plastic": {"spacing": 0.1, "variant": "consistent"}, "position": [4, 0, 0]},
  {"mesh": {"tets": {"shape": {"box": {"size": 0.4}}, "size": 0.2,
      "sizes": [{"points": [{"at": [0.2, 0.2, 0.2], "size": 0.1}], "growth": 1}]}}, "match": {}, "position": [6, 0, 0],
    "examples": [{"mesh": {"file": "cube.obj", "align": "similarity"}}]}]}
END
check "a scene of rare words runs" "$yawara" run rare.json -o rare -q
"$yawara" schema >schema.json
check "every word of the schema is tested" python3 "$root/tests/support/every_word.py" schema.json "$root" '$schema' \
  aluminium chewing_gum fat nylon soft_tissue wood
finish
