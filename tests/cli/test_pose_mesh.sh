#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Poses given as meshes with other vertices than the body's.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
scenes=$root/scenes/papers/koyama2013
cp "$scenes/poses/bent_box.obj" .

# scene "KEYS OF THE MESH": a box with that example.
scene() {
  cat >scene.json <<END
{ "frames": 2,
  "bodies": [{ "mesh": { "lattice": { "size": [1, 2, 1], "cells": [4, 8, 4] } }, "position": [0, 1, 0],
               "match": { "alpha": 0.1 }, "examples": [{ "name": "bent", "mesh": { $1 } }] }] }
END
}
run() { rm -rf out; "$yawara" run scene.json -o out >log.txt 2>&1; }

check "the scene with a pose from a file" "$yawara" run "$scenes/pose_file.json" --frames 2 -o shipped
scene '"file": "bent_box.obj"'
check "a mesh of another topology" run
same "fits without a word" "$(grep -c 'is fitted to' log.txt)" 0

# The same mesh known at rest, here the pose itself: nothing moves.
scene '"file": "bent_box.obj", "rest": "bent_box.obj"'
check "a mesh with its rest pose" run

# Half of the mesh is missing: said, with numbers.
awk '/^f/ { if (n++ % 648 < 324) print; next } { print }' bent_box.obj >half.obj
scene '"file": "half.obj", "align": "none"'
check "a mesh that does not fit" run
check "says how far it is off" grep -qE 'is fitted to [0-9.e-]+ m at worst' log.txt

scene '"file": "nowhere.obj"'
refuses "a file that is not there" "nowhere.obj" "$yawara" inspect scene.json
scene '"file": "bent_box.obj", "landmarks": [{ "rest": [0, 1, 0] }]'
refuses "a landmark without its other point" "pose" "$yawara" inspect scene.json
scene '"align": "rigid"'
refuses "a mesh without a file" "file" "$yawara" inspect scene.json
head -40 bent_box.obj >few.obj
printf 'f 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n' >>few.obj
scene '"file": "bent_box.obj", "rest": "few.obj"'
refuses "another mesh at rest" "must be the same" "$yawara" inspect scene.json

finish
