#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bad input gets exit code 2, a message that says where and what, and leaves no files.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

run() { "$yawara" run "$1" -o out -q --frames 2; }
body='"bodies": [ { "model": "m" } ]'
# scene "MODEL" ["MORE"]: a scene with one model.
scene() { printf '{ "models": { "m": { %s } }, %s %s }' "$1" "$body" "${2:-}" >s.json; }
lattice='"mesh": { "lattice": { "size": 1, "cells": [2, 2, 2] } }'

refuses "a missing file" "there.json: cannot be opened: No such file" run there.json
: >s.json
refuses "an empty file" "s.json:1:1" run s.json
mkdir folder.json
refuses "a folder" "folder.json" run folder.json
mkfifo pipe.json
refuses "a pipe" "pipe.json: is a pipe" timeout 20 "$yawara" run pipe.json -o out

# Truncated: each prefix is rejected, none crashes. (At every byte: test_scene_fuzz.)
scene "$lattice, \"density\": 500, \"examples\": [ { \"deform\": { \"twist\": { \"degrees\": 9 } } } ]"
cp s.json whole.json
check "the whole small scene runs" run whole.json
rm -rf out
bad=""
for n in $(seq 0 7 $(($(wc -c <whole.json) - 1))); do
  head -c "$n" whole.json >cut.json
  "$yawara" inspect cut.json >said 2>&1
  code=$?
  if [ $code -ne 2 ] || ! grep -q "cut.json:[0-9]*:[0-9]*:" said; then bad="$bad $n:$code"; fi
done
same "truncated at every seventh byte" "none$bad" "none"

for value in -1 0 1e300 '"much"' null; do
  scene "$lattice, \"density\": $value"
  refuses "density $value" "s.json:1:[0-9]+: .*density" run s.json
done
for value in -0.1 1.5 '"high"'; do
  scene "$lattice, \"match\": { \"beta\": $value }"
  refuses "beta $value" "s.json:1:[0-9]+: .*beta" run s.json
done
scene "$lattice" ', "fps": -60'
refuses "a negative frame rate" "fps" run s.json
scene "$lattice" ', "fps": 0'
refuses "a frame rate of zero" "fps" run s.json
scene "$lattice" ', "substeps": 0'
refuses "no substeps" "substeps" run s.json
scene "$lattice, \"densty\": 3"
refuses "an unknown key" 'densty.*did you mean "density"' run s.json
refuses "a bad override" "beta" "$yawara" run whole.json -o out --set models.m.match.beta=7
refuses "an override without a value" "path=value" "$yawara" run whole.json -o out --set fps
refuses "threads that are not a number" "threads" "$yawara" run whole.json -o out --threads some
refuses "an unknown instruction set" "simd" "$yawara" run whole.json -o out --simd mmx
refuses "an unknown device" "must be cpu or cuda" "$yawara" run whole.json -o out --device tpu
refuses "a device without its library" "nvidia-cuda-toolkit" env YAWARA_CUDA_LIBRARY=none.so "$yawara" run whole.json -o out --device cuda

# Mesh files: a unit tet with various errors.
node() { printf '%s\n' "$@" >t.node; }
ele() { printf '%s\n' "$@" >t.ele; }
scene '"mesh": { "file": "t.ele" }'
good_nodes=("4 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" "3 0 0 1")
node "${good_nodes[@]}"; ele "1 4 0" "0 0 1 2 3"
check "a single tet" run s.json
rm -rf out
ele "1 4 0" "0 0 1 2 9"
refuses "a wrong index" "t.ele:2: .*9" run s.json
ele "1 4 0" "0 0 1 2 -1"
refuses "a negative index" "t.ele:2: .*-1" run s.json
ele "1000000000 4 0" "0 0 1 2 3"
refuses "an absurd count" "t.ele" run s.json
node "4 3 0 0" "0 0 0 0" "1 nan 0 0" "2 0 1 0" "3 0 0 1"; ele "1 4 0" "0 0 1 2 3"
refuses "NaN in a position" "t.node:3: .*nan" run s.json
node "4 3 0 0" "0 0 0 0" "1 inf 0 0" "2 0 1 0" "3 0 0 1"
refuses "infinity in a position" "t.node:3: .*inf" run s.json
node "4 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" "3 1 1 0"
refuses "a tet without volume" "tet 0" run s.json
node "${good_nodes[@]}"; ele "1 4 0" "0 1 0 2 3"
check "an inverted tet is turned" run s.json
rm -rf out
ele "2 4 0" "0 0 1 2 3" "1 0 1 2 3"
refuses "a doubled tet" "tet" run s.json
node "5 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" "3 0 0 1" "4 5 5 5"; ele "1 4 0" "0 0 1 2 3"
refuses "a vertex that no tet uses" "vertex 4" run s.json
node "8 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" "3 0 0 1" "4 5 0 0" "5 6 0 0" "6 5 1 0" "7 5 0 1"
ele "2 4 0" "0 0 1 2 3" "1 4 5 6 7"
check "two separate parts" run s.json
rm -rf out
node "5 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" "3 0 0 1" "4 0 0 0"; ele "2 4 0" "0 0 1 2 3" "1 1 2 4 3"
check "duplicate vertices" run s.json
rm -rf out
rm t.node
refuses "half of a pair of files" "t.node" run s.json
: >t.node
refuses "an empty mesh file" "t.node" run s.json

# Examples.
node "${good_nodes[@]}"; ele "1 4 0" "0 0 1 2 3"
printf '%s\n' "3 3 0 0" "0 0 0 0" "1 1 0 0" "2 0 1 0" >pose.node
scene '"mesh": { "file": "t.ele" }, "examples": [ { "file": "pose.node" } ]'
refuses "an example with another vertex count" "pose.node.*3.*4|4.*3" run s.json
twist='{ "deform": { "twist": { "degrees": 30 } } }'
scene "$lattice, \"examples\": [ { \"deform\": { \"twist\": { \"degrees\": 0 } } } ]"
check "an example equal to the rest pose goes on" run s.json
rm -rf out
if "$yawara" inspect s.json | grep -q "warning:.*example"; then
  pass "and is named in a warning"
else
  flunk "and is named in a warning" "$("$yawara" inspect s.json)"
fi
scene "$lattice, \"examples\": [ $twist, $twist ]"
check "two equal examples go on" run s.json
rm -rf out
if "$yawara" inspect s.json | grep -q "warning:.*example"; then
  pass "and are named in a warning"
else
  flunk "and are named in a warning" "$("$yawara" inspect s.json)"
fi

scene '"mesh": { "lattice": { "size": [0.1, 1.2, 0.1], "cells": [2, 24, 2] } }, "examples": [ { "deform": { "bend": { "degrees": 400 } } } ]'
if "$yawara" inspect s.json | grep -q "warning:.*examples\[0\] passes through itself"; then
  pass "an example that passes through itself is named"
else
  flunk "an example that passes through itself is named" "$("$yawara" inspect s.json)"
fi

# Surfaces and shapes.
echo "v 0 0 0" >empty.obj
refuses "a surface without triangles" "empty.obj" "$yawara" mesh empty.obj
refuses "a mesh of absurd size" "vertices|size" "$yawara" mesh "$work/empty.obj" --size 0
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n' >bad.obj
refuses "a face with a wrong index" "bad.obj:4: .*7" "$yawara" mesh bad.obj
refuses "an unknown kind of file" "file.xyz" "$yawara" inspect "$(touch file.xyz; echo file.xyz)"
printf '{ "bodies": [ { "shape": { "sphere": { "radius": 1 } }, "size": 1e-7 } ] }' >s.json
refuses "a mesh that does not fit" "size|particles|vertices" run s.json
printf '{ "bodies": [ { "shape": { "plane": { "normal": [0, 1, 0] } } } ] }' >s.json
refuses "a body without end" "has no end" run s.json
same "nothing is left behind" "$(ls -d out 2>/dev/null | wc -l)" 0
finish
